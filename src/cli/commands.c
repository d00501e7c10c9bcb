#include "cli/commands.h"

#include "cli/command.h"

#include <string.h>

static const struct tts_command fit = {
    "fit", "CONFIG", "will a training run, or a model to be served, fit a device",
    .run = tts_cmd_fit};
static const struct tts_command analyze = {
    "analyze", "LOG", "what a training log says about memory, with pictures",
    .run = tts_cmd_analyze};
static const struct tts_command show = {
    "show", "FILE", "what is in a recording or a graph trace", .run = tts_cmd_show};
static const struct tts_command export = {.name = "export",
                                          .operands = "FILE",
                                          .summary =
                                              "turn a recording into a trace or a table"};
static const struct tts_command pack = {
    "pack", "RECORDING", "make a recording small, and quick to seek", .run = tts_cmd_pack};

const struct tts_command *const tts_commands[] = {
    &tts_devices_command,
    &fit,
    &analyze,
    &tts_diff_command,
    &tts_check_command,
    &show,
    &export,
    &pack,
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
