#include "sources/trainfile.h"

#include "base/error.h"
#include "base/heap.h"
#include "sources/textfile.h"
#include "sources/trainfile_inside.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum tts_status tts_trainfile_parse(const char *text, size_t len, unsigned file,
                                    struct tts_trainfile *out, struct tts_error *err)
{
    const struct tts_trainfile_part part = {.file = file};
    struct tts_trainfile read = *out;
    struct tts_trainfile_seen seen;
    enum tts_status status = tts_trainfile_read(text, len, &part, &read, &seen, err);
    if (status == TTS_OK)
        *out = read;
    return status;
}

/* ---- files ---- */

struct load {
    struct tts_trainfile out;
    struct tts_trainfile_seen seen;
    const struct tts_textfile *text; /* of the file that was asked for */
    struct tts_textfile training, model;
    unsigned file; /* that is being read */
};

static enum tts_status keep_path(struct load *load, const char *path, struct tts_error *err)
{
    size_t len = strlen(path);
    if (len >= TTS_TRAINFILE_TEXT_MAX)
        return tts_error_set_errno(err, TTS_E_IO, ENAMETOOLONG, "cannot read '%s'", path);
    memcpy(load->out.paths[load->file], path, len + 1);
    return TTS_OK;
}

/* What was read as a training file is a model file, and it was a model file all along. */
static void make_model(struct load *load)
{
    struct tts_trainfile *out = &load->out;
    for (size_t i = 0; i < tts_train_known_count; i++) {
        struct tts_trainfile_value *value = tts_train_field(out, &tts_train_known[i]);
        if (value && value->is_set)
            value->file = TTS_TRAINFILE_MODEL;
    }
    out->lora_file = out->pipeline_file = out->moe_file = out->grpo_file = TTS_TRAINFILE_MODEL;
    out->mlp_file = TTS_TRAINFILE_MODEL;
    out->unknown_file = TTS_TRAINFILE_MODEL;
    memcpy(out->paths[TTS_TRAINFILE_MODEL], out->paths[TTS_TRAINFILE_TRAINING],
           TTS_TRAINFILE_TEXT_MAX);
    out->paths[TTS_TRAINFILE_TRAINING][0] = '\0';
}

static enum tts_status read_again_without_model(struct load *load, struct tts_error *err)
{
    const struct tts_trainfile_part part = {.without_model = true};
    struct tts_trainfile read = {0};
    memcpy(read.paths, load->out.paths, sizeof read.paths);
    enum tts_status status =
        tts_trainfile_read(load->text->text, load->text->len, &part, &read, &load->seen, err);
    load->out = read;
    return status;
}

static enum tts_status load_model(struct load *load, struct tts_error *err)
{
    const struct tts_trainfile_value *named = &load->out.model_config;
    const struct tts_trainfile_part part = {.file = TTS_TRAINFILE_MODEL, .only_model = true};
    char *path = load->out.paths[TTS_TRAINFILE_MODEL];
    enum tts_status status =
        tts_train_find(named->text, load->out.paths[TTS_TRAINFILE_TRAINING], path,
                       load->out.missing_model, err);
    if (status != TTS_OK)
        return tts_yaml_at_line(err, named->line, status);
    load->file = TTS_TRAINFILE_MODEL;
    status = tts_textfile_read(path, TTS_TRAINFILE_MAX_BYTES, NULL, &load->model, err);
    if (status != TTS_OK)
        return status;
    return tts_trainfile_read(load->model.text, load->model.len, &part, &load->out, &load->seen,
                              err);
}

/* Then it is refused, whatever its model. */
static bool is_not_modelled(const struct tts_trainfile *file)
{
    return file->lora_line != 0 || file->pipeline_line != 0 || file->moe_line != 0 ||
           file->grpo_line != 0 || file->enable_cp.number != 0 || file->enable_fsdp.number != 0;
}

static enum tts_status run(struct load *load, const char *path, struct tts_error *err)
{
    const struct tts_trainfile_part part = {.file = TTS_TRAINFILE_TRAINING};
    enum tts_status status = keep_path(load, path, err);
    if (status == TTS_OK && !load->text) {
        status = tts_textfile_read(path, TTS_TRAINFILE_MAX_BYTES, NULL, &load->training, err);
        load->text = &load->training;
    }
    if (status == TTS_OK)
        status = tts_trainfile_read(load->text->text, load->text->len, &part, &load->out,
                                    &load->seen, err);
    if (status != TTS_OK)
        return status;
    bool has_model = load->seen.model_line != 0;
    if (load->seen.training_line == 0) {
        assert(has_model);
        make_model(load);
        return TTS_OK;
    }
    if (!load->out.model_config.is_set) {
        if (has_model) {
            memcpy(load->out.paths[TTS_TRAINFILE_MODEL], load->out.paths[0],
                   TTS_TRAINFILE_TEXT_MAX);
            return TTS_OK;
        }
        if (is_not_modelled(&load->out))
            return TTS_OK;
        tts_error_set(err, TTS_E_NOT_FOUND,
                      "no model: 'training_config' needs 'model_config', "
                      "the path of a model file");
        return tts_yaml_at_line(err, load->seen.training_line, TTS_E_NOT_FOUND);
    }
    if (has_model)
        status = read_again_without_model(load, err);
    return status == TTS_OK ? load_model(load, err) : status;
}

enum tts_status tts_trainfile_load(const char *path, const struct tts_textfile *text,
                                   struct tts_trainfile *out, unsigned *bad_file,
                                   struct tts_error *err)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    struct load *load = alloc->alloc(alloc->ctx, sizeof *load);
    if (!load) {
        *bad_file = TTS_TRAINFILE_TRAINING;
        return tts_error_set_errno(err, TTS_E_NOMEM, ENOMEM, "cannot read '%s'", path);
    }
    *load = (struct load){.text = text};
    enum tts_status status = run(load, path, err);
    if (status == TTS_OK)
        *out = load->out;
    else {
        *bad_file = load->file;
        memcpy(out->paths, load->out.paths, sizeof out->paths);
        memcpy(out->missing_model, load->out.missing_model, sizeof out->missing_model);
    }
    tts_textfile_release(&load->training);
    tts_textfile_release(&load->model);
    alloc->free(alloc->ctx, load, sizeof *load);
    return status;
}
