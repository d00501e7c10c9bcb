/* fit_notes.c: what the files say and the answer does not follow. */
#include "cli/fit_parts.h"
#include "cli/message.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = TTS_FIT_COMMAND;

void tts_fit_note_unknown(const struct tts_fit_setup *setup)
{
    const struct tts_trainfile *file = &setup->file;
    char names[TTS_TRAINFILE_UNKNOWN * 80] = "";
    uint64_t count = file->unknown_keys;
    if (count == 0)
        return;
    size_t len = 0;
    for (uint64_t i = 0; i < count && i < TTS_TRAINFILE_UNKNOWN; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? " and " : ", ";
        len += (size_t)snprintf(names + len, sizeof names - len, "%s'%s'", between,
                                file->unknown_names[i]);
    }
    if (count > TTS_TRAINFILE_UNKNOWN)
        snprintf(names + len, sizeof names - len, " and %" PRIu64 " more",
                 count - TTS_TRAINFILE_UNKNOWN);
    tts_message(command, "note: %s:%" PRIu32 ": %s %s %s not known, passed over",
                tts_fit_path(setup, file->unknown_file), file->unknown_line,
                count == 1 ? "key" : "keys", names, count == 1 ? "is" : "are");
}

/* Chips that no parallelism uses. */
static void note_mesh(const struct tts_fit_setup *setup)
{
    const struct tts_trainfile *file = &setup->file;
    const uint64_t *mesh = file->mesh_shape;
    bool is_used = setup->values[TTS_FIT_TENSOR_PARALLEL].origin != TTS_FIT_DEFAULT ||
                   setup->values[TTS_FIT_DATA_PARALLEL].origin != TTS_FIT_DEFAULT;
    if (is_used || (mesh[0] <= 1 && mesh[1] <= 1))
        return;
    tts_message(command,
                "note: %s:%" PRIu32 ": mesh_shape [%" PRIu64 ", %" PRIu64
                "] is without enable_ddp and enable_tp: one chip is modelled",
                tts_fit_path(setup, TTS_TRAINFILE_TRAINING), file->mesh_line, mesh[0], mesh[1]);
}

/* A file of January that meets the code of August. What has an optimizer of its own is a file
 * of August that kept a key. */
static void note_recipe(const struct tts_fit_setup *setup)
{
    static const enum tts_trainfile_key keys[] = {TTS_TRAINFILE_MOREH_ADAMW,
                                                  TTS_TRAINFILE_KAHAN, TTS_TRAINFILE_NO_OP,
                                                  TTS_TRAINFILE_TOKENIZER};
    const struct tts_trainfile_value *values = setup->file.values;
    if (setup->options->has_recipe || values[TTS_TRAINFILE_OPTIMIZER_TYPE].is_set)
        return;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct tts_trainfile_value *value = &values[keys[i]];
        if (!value->is_set)
            continue;
        tts_message(command,
                    "note: %s:%" PRIu32 ": '%s' is read by recipe v1 only, and this is head; "
                    "for v1 give '--recipe v1'",
                    tts_fit_path(setup, value->file), value->line,
                    tts_trainfile_key_name(keys[i]));
        return;
    }
}

void tts_fit_notes(const struct tts_fit_setup *setup)
{
    tts_fit_note_unknown(setup);
    note_mesh(setup);
    note_recipe(setup);
}
