#include "cli/program.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* Replaces a closed descriptor by /dev/null, opened in the wrong direction so that using it
 * still fails. */
void tts_program_begin(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
}

int tts_program_end(int code, const char *name)
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
