#include "cli/commands.h"

#include "cli/command.h"

#include <string.h>

const struct tts_command tts_commands[] = {
    {"devices", "[NAME]", "the chips we know, and those of this host", tts_cmd_devices},
    {"fit", "CONFIG", "will a training run, or a model to be served, fit a device",
     tts_cmd_fit},
    {"analyze", "LOG", "what a training log says about memory, with pictures", tts_cmd_analyze},
    {"diff", "A B", "what changed between two runs, and which phase explains it", tts_cmd_diff},
    {"check", "RUN", "does a run stay within a memory budget", tts_cmd_check},
    {"show", "FILE", "what is in a recording or a graph trace", tts_cmd_show},
    {"export", "FILE", "turn a recording into a trace or a table", NULL},
    {"pack", "RECORDING", "make a recording small, and quick to seek", tts_cmd_pack},
    {"replay", "FILE", "run a sequence or a recording on the device model", tts_cmd_replay},
    {"help", "[COMMAND]", "this list, or the page of a command or topic", tts_cmd_help},
    {"version", "", "the release", tts_cmd_version},
    {0},
};

const struct tts_command *tts_command_find(const char *name)
{
    for (const struct tts_command *command = tts_commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
