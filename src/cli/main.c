/* main.c: runs the command that argv names, and returns its exit code. */
#include "cli/command.h"
#include "cli/external.h"
#include "cli/help.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/program.h"

#include <stdio.h>
#include <string.h>

/* Runs a command and returns its exit code. Sets *name to its name if a command is run. */
static int run(int argc, char **argv, const char **name)
{
    char help[] = "help", version[] = "version";
    if (argc < 1) {
        tts_help_list(stderr);
        return TTS_EXIT_USAGE;
    }
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)
        argv[0] = help;
    else if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0)
        argv[0] = version;
    else if (argv[0][0] == '-') {
        tts_message(NULL, "unknown option '%s' before the command (see 'ttscope help')",
                    argv[0]);
        return TTS_EXIT_USAGE;
    }
    const struct tts_command *command = tts_command_find(argv[0]);
    if (command && command->work) {
        *name = command->name;
        return tts_job_main(command, argv);
    }
    int code = tts_external_exec(argv);
    if (code >= 0)
        return code;
    if (command)
        tts_message(NULL,
                    "cannot run '%s': the program libexec/ttscope/ttscope-%s is not installed",
                    argv[0], argv[0]);
    else
        tts_help_unknown(argv[0]);
    return command ? TTS_EXIT_INPUT : TTS_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    tts_program_begin();
    const char *name = NULL;
    int code = run(argc - 1, argv + 1, &name);
    return tts_program_end(code, name);
}
