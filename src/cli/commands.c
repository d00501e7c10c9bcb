#include "cli/commands.h"

#include "cli/command.h"

#include <string.h>

static const struct tts_command export = {.name = "export",
                                          .operands = "FILE",
                                          .summary =
                                              "convert a recording to a trace or a table"};

const struct tts_command *const tts_commands[] = {
    &tts_devices_command,
    &tts_top_command,
    &tts_serve_command,
    &tts_doctor_command,
    &tts_clean_command,
    &tts_fit_command,
    &tts_analyze_command,
    &tts_diff_command,
    &tts_check_command,
    &tts_show_command,
    &tts_explain_command,
    &export,
    &tts_pack_command,
    &tts_replay_command,
    &tts_help_command,
    &tts_version_command,
    NULL,
};

const struct tts_command *tts_command_find(const char *name)
{
    for (size_t i = 0; tts_commands[i]; i++)
        if (strcmp(tts_commands[i]->name, name) == 0)
            return tts_commands[i];
    return NULL;
}
