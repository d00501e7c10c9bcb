/* fit_workload.c: a workload out of the files and the options. */
#include "cli/command.h"
#include "cli/fit_parts.h"
#include "cli/message.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char command[] = TTS_FIT_COMMAND;

static void fill(struct tts_fit_setup *setup)
{
    const struct tts_fit_value *values = setup->values;
    struct tts_workload *workload = &setup->workload;
    uint64_t heads = values[TTS_FIT_HEADS].number;
    *workload = (struct tts_workload){
        .model = {.family = (enum tts_family)values[TTS_FIT_FAMILY].number,
                  .blocks = values[TTS_FIT_BLOCKS].number,
                  .width = values[TTS_FIT_WIDTH].number,
                  .heads = heads,
                  .groups = tts_fit_is_llama(setup) ? values[TTS_FIT_GROUPS].number : heads,
                  .mlp_width = values[TTS_FIT_MLP].number,
                  .sequence = values[TTS_FIT_SEQUENCE].number,
                  .vocabulary = values[TTS_FIT_VOCABULARY].number,
                  .tied = values[TTS_FIT_TIED].number != 0,
                  .dropout = values[TTS_FIT_DROPOUT].number != 0,
                  .fixed_positions = values[TTS_FIT_POSITIONS].number != 0},
        .recipe = setup->options->recipe,
        .runner = (enum tts_runner)values[TTS_FIT_RUNNER].number,
        .optimizer = {.kind = (enum tts_optimizer_kind)values[TTS_FIT_OPTIMIZER].number,
                      .momentum = values[TTS_FIT_MOMENTUM].number != 0,
                      .amsgrad = values[TTS_FIT_AMSGRAD].number != 0,
                      .kahan = values[TTS_FIT_KAHAN].number != 0},
        .batch = values[TTS_FIT_BATCH].number,
        .accumulate = values[TTS_FIT_ACCUMULATE].number,
        .clip = values[TTS_FIT_CLIP].number != 0,
        .tensor_parallel = values[TTS_FIT_TENSOR_PARALLEL].number,
        .data_parallel = values[TTS_FIT_DATA_PARALLEL].number,
        .kernel_binaries = setup->options->kernel_binaries,
    };
}

/* The shape of the mesh is two numbers: says which, and what it is for. */
static int say_wrong_mesh(const struct tts_fit_setup *setup, enum tts_fit_setting setting,
                          const struct tts_error *err)
{
    const struct tts_fit_value *value = &setup->values[setting];
    const char *is = strstr(err->text, ", and is ");
    int len = (int)(is ? (size_t)(is - err->text) : strlen(err->text));
    tts_message(command,
                "%s:%" PRIu32 ": the %" PRIu64 " chips of %s parallel (mesh_shape) %.*s",
                tts_fit_path(setup, value->file), value->line, value->number,
                setting == TTS_FIT_DATA_PARALLEL ? "data" : "tensor", len, err->text);
    return TTS_EXIT_INPUT;
}

/* Says which value it is, and where it is from. */
static int say_wrong(const struct tts_fit_setup *setup, enum tts_workload_field field,
                     const struct tts_error *err)
{
    enum tts_fit_setting setting = tts_fit_setting_of(field);
    const struct tts_fit_setting_info *info = tts_fit_setting(setting);
    const struct tts_fit_value *value = &setup->values[setting];
    if (value->origin == TTS_FIT_OPTION) {
        tts_message(command, "option '%s' %s", info->option, err->text);
        return TTS_EXIT_USAGE;
    }
    if (value->origin == TTS_FIT_FILE &&
        (setting == TTS_FIT_DATA_PARALLEL || setting == TTS_FIT_TENSOR_PARALLEL))
        return say_wrong_mesh(setup, setting, err);
    const char *name =
        value->why && value->origin == TTS_FIT_FILE && setting != TTS_FIT_VOCABULARY
            ? value->why
            : info->name;
    const char *path =
        tts_fit_path(setup, value->origin == TTS_FIT_FILE ? value->file : TTS_TRAINFILE_MODEL);
    if (value->line > 0)
        tts_message(command, "%s:%" PRIu32 ": '%s' %s", path, value->line, name, err->text);
    else
        tts_message(command, "%s: '%s'%s %s", path, name,
                    value->origin == TTS_FIT_DEFAULT ? ", a default," : "", err->text);
    return TTS_EXIT_INPUT;
}

static int check(struct tts_fit_setup *setup)
{
    enum tts_workload_field field = TTS_FIELD_NONE;
    struct tts_error err = {0};
    if (tts_workload_check(&setup->workload, &field, &err) != TTS_OK)
        return say_wrong(setup, field, &err);
    setup->values[TTS_FIT_MLP].number = tts_model_mlp_width(&setup->workload.model);
    return TTS_EXIT_DONE;
}

static int load(struct tts_fit_setup *setup, const struct tts_fit_options *options,
                const struct tts_textfile *text)
{
    struct tts_error err = {0};
    unsigned bad_file = TTS_TRAINFILE_FILES;
    memset(setup, 0, sizeof *setup);
    setup->options = options;
    if (tts_trainfile_load(options->path, text, &setup->file, &bad_file, &err) == TTS_OK)
        return TTS_EXIT_DONE;
    bool is_read = err.status != TTS_E_IO && err.status != TTS_E_NOMEM;
    if (is_read && !text && tts_fit_ends_in(options->path, ".json"))
        tts_message(command,
                    "%s: this is JSON: the config.json of a model goes with '--inference'",
                    tts_message_path(options->path));
    else if (setup->file.missing_model[0] != '\0')
        tts_fit_say_no_model(setup->file.paths[TTS_TRAINFILE_TRAINING], err.line,
                             setup->file.missing_model);
    else if (err.sys_errno == ENOENT)
        tts_fit_say_no_file(tts_fit_path(setup, bad_file));
    else
        tts_message_error(command, tts_fit_path(setup, bad_file), &err);
    return TTS_EXIT_INPUT;
}

int tts_fit_setup_load(struct tts_fit_setup *setup, const struct tts_fit_options *options)
{
    static int (*const steps[])(struct tts_fit_setup *) = {tts_fit_refuse, tts_fit_model,
                                                           tts_fit_loop, tts_fit_mesh};
    int code = load(setup, options, NULL);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == TTS_EXIT_DONE; i++)
        code = steps[i](setup);
    if (code != TTS_EXIT_DONE)
        return code;
    tts_fit_stops(setup);
    fill(setup);
    tts_fit_notes(setup);
    return check(setup);
}

int tts_fit_setup_model(struct tts_fit_setup *setup, const struct tts_fit_options *options,
                        const struct tts_textfile *text)
{
    int code = load(setup, options, text);
    bool has_model = setup->file.paths[TTS_TRAINFILE_MODEL][0] != '\0';
    if (code == TTS_EXIT_DONE) /* a file without a model is of a run that is refused */
        code = has_model ? tts_fit_refuse_model(setup) : tts_fit_refuse(setup);
    assert(code != TTS_EXIT_DONE || has_model);
    if (code == TTS_EXIT_DONE)
        code = tts_fit_model(setup);
    if (code != TTS_EXIT_DONE)
        return code;
    fill(setup);
    tts_fit_note_unknown(setup);
    return TTS_EXIT_DONE;
}
