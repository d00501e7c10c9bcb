/* main.c: from argv to a command and its exit code. */
#include "base/error.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/external.h"
#include "cli/help.h"
#include "cli/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* A file we open must never become one of the standard three. What replaces a closed one is
 * open the wrong way, so that using it still fails. */
static void fill_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
}

/* *name becomes that of the command, if one is run. */
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
        tts_message(NULL, "unknown option '%s', a command comes first (see 'ttscope help')",
                    argv[0]);
        return TTS_EXIT_USAGE;
    }
    const struct tts_command *command = tts_command_find(argv[0]);
    if (command) {
        *name = command->name;
        return command->run(argc, argv);
    }
    int code = tts_external_exec(argv);
    if (code >= 0)
        return code;
    tts_help_unknown(argv[0]);
    return TTS_EXIT_USAGE;
}

/* Output that did not arrive is a failure, whatever the command thought of itself. */
static int check_stdout(int code, const char *name)
{
    int reason = ferror(stdout) ? EIO : 0;
    if (fflush(stdout) != 0)
        reason = errno;
    if (reason == 0)
        return code;
    struct tts_error err;
    tts_error_set_errno(&err, TTS_E_IO, reason, "cannot write to standard output");
    tts_message(name, "%s", err.text);
    return TTS_EXIT_INPUT;
}

int main(int argc, char **argv)
{
    fill_standard_files();
    const char *name = NULL;
    int code = run(argc - 1, argv + 1, &name);
    return check_stdout(code, name);
}
