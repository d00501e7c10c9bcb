/* fit_mesh.c: how many chips share a model, and how many a batch. The axes of the mesh go to
 * the parallelisms as the program gives them. */
#include "cli/command.h"
#include "cli/fit_parts.h"
#include "cli/message.h"

#include <inttypes.h>

static const char command[] = TTS_FIT_COMMAND;

static bool is_on(const struct tts_fit_setup *setup, enum tts_trainfile_key key)
{
    const struct tts_trainfile_value *value = &setup->file.values[key];
    return value->is_set && value->number != 0;
}

static int complain(const struct tts_fit_setup *setup, const char *what)
{
    const struct tts_trainfile *file = &setup->file;
    const char *path = tts_fit_path(setup, TTS_TRAINFILE_TRAINING);
    if (file->mesh_line > 0)
        tts_message(command, "%s:%" PRIu32 ": mesh_shape [%" PRIu64 ", %" PRIu64 "] %s", path,
                    file->mesh_line, file->mesh_shape[0], file->mesh_shape[1], what);
    else
        tts_message(command, "%s: mesh_shape %s", path, what);
    return TTS_EXIT_INPUT;
}

/* [0]: data parallel, [1]: tensor parallel. */
static int read_mesh(const struct tts_fit_setup *setup, uint64_t chips[2])
{
    const uint64_t *mesh = setup->file.mesh_shape;
    bool is_ddp = is_on(setup, TTS_TRAINFILE_ENABLE_DDP),
         is_tp = is_on(setup, TTS_TRAINFILE_ENABLE_TP);
    uint64_t all;
    chips[0] = chips[1] = 1;
    if (!is_ddp && !is_tp)
        return TTS_EXIT_DONE;
    if (mesh[0] == 0 || mesh[1] == 0)
        return complain(setup, "is missing, enable_ddp and enable_tp need it");
    if (__builtin_mul_overflow(mesh[0], mesh[1], &all))
        return complain(setup, "has too many chips");
    bool is_line = mesh[0] == 1 || mesh[1] == 1;
    if (is_ddp && is_tp) {
        if (tts_fit_is_v1(setup))
            return complain(
                setup, "is for both: recipe v1 has enable_ddp or enable_tp, head has both");
        if (is_line && all > 1)
            return complain(setup, "is a line: enable_ddp or enable_tp, not both");
        chips[0] = mesh[0];
        chips[1] = mesh[1];
        return TTS_EXIT_DONE;
    }
    if (!is_line && !tts_fit_is_v1(setup))
        return complain(setup, "has two axes: it needs enable_ddp and enable_tp");
    chips[is_tp] = all;
    return TTS_EXIT_DONE;
}

/* The Python program of January opens one chip, whatever device_config says. */
static int refuse_mesh(const struct tts_fit_setup *setup)
{
    static const struct {
        enum tts_fit_setting setting;
        enum tts_trainfile_key key;
    } axes[] = {{TTS_FIT_DATA_PARALLEL, TTS_TRAINFILE_ENABLE_DDP},
                {TTS_FIT_TENSOR_PARALLEL, TTS_TRAINFILE_ENABLE_TP}};
    static const char what[] = "recipe v1-python runs on one chip, v1 and head on several";
    const struct tts_fit_options *options = setup->options;
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        const struct tts_trainfile_value *value = &setup->file.values[axes[i].key];
        bool is_given = options->is_given[axes[i].setting];
        if (is_given && options->given[axes[i].setting] > 1)
            tts_message(command, "option '%s': %s", tts_fit_setting(axes[i].setting)->option,
                        what);
        else if (!is_given && is_on(setup, axes[i].key))
            tts_message(command, "%s:%" PRIu32 ": '%s' is not modelled: %s",
                        tts_fit_path(setup, value->file), value->line,
                        tts_trainfile_key_name(axes[i].key), what);
        else
            continue;
        return TTS_EXIT_USAGE;
    }
    return TTS_EXIT_DONE;
}

static void put(struct tts_fit_setup *setup, enum tts_fit_setting setting, uint64_t chips)
{
    const struct tts_fit_options *options = setup->options;
    struct tts_fit_value *value = &setup->values[setting];
    *value = (struct tts_fit_value){.number = chips, .origin = TTS_FIT_DEFAULT};
    if (options->is_given[setting]) {
        value->number = options->given[setting];
        value->origin = TTS_FIT_OPTION;
    } else if (chips > 1) {
        value->origin = TTS_FIT_FILE;
        value->file = TTS_TRAINFILE_TRAINING;
        value->line = setup->file.mesh_line;
        value->why = "mesh_shape";
    }
}

int tts_fit_mesh(struct tts_fit_setup *setup)
{
    const bool *is_given = setup->options->is_given;
    uint64_t chips[2] = {1, 1};
    int code =
        setup->options->recipe == TTS_RECIPE_V1_PYTHON ? refuse_mesh(setup) : TTS_EXIT_DONE;
    if (code != TTS_EXIT_DONE)
        return code;
    if (!is_given[TTS_FIT_TENSOR_PARALLEL] || !is_given[TTS_FIT_DATA_PARALLEL]) {
        code = read_mesh(setup, chips);
        if (code != TTS_EXIT_DONE)
            return code;
    }
    put(setup, TTS_FIT_DATA_PARALLEL, chips[0]);
    put(setup, TTS_FIT_TENSOR_PARALLEL, chips[1]);
    if (tts_recipe_is_may(setup->options->recipe) &&
        setup->values[TTS_FIT_TENSOR_PARALLEL].number <= 1) {
        tts_message(command,
                    "option '--recipe %s' is for tensor parallel runs: give "
                    "'--tensor-parallel N', or another recipe",
                    tts_recipe_name(setup->options->recipe));
        return TTS_EXIT_USAGE;
    }
    return TTS_EXIT_DONE;
}
