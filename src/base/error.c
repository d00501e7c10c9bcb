#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *tts_error_cause(enum tts_status status)
{
    return status == TTS_E_NOMEM ? TTS_TEXT_NOMEM : tts_status_text(status);
}

static void begin_error(struct tts_error *err, enum tts_status status, int sys_errno)
{
    *err = (struct tts_error){.status = status, .sys_errno = sys_errno};
}

enum tts_status tts_error_set(struct tts_error *err, enum tts_status status, const char *format,
                              ...)
{
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    begin_error(err, status, 0);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

/* Returns the system's text for an errno, starting in lower case: "no such file". An
 * abbreviation at the start keeps its case. */
static const char *errno_text(int sys_errno, char *buffer, size_t size)
{
    const char *given = sys_errno == ENOSPC   ? "no space left on the disk"
                        : sys_errno == ENOMEM ? TTS_TEXT_NOMEM
                                              : strerror_r(sys_errno, buffer, size);
    if (given != buffer)
        snprintf(buffer, size, "%s", given);
    bool word = buffer[0] >= 'A' && buffer[0] <= 'Z' && buffer[1] >= 'a' && buffer[1] <= 'z';
    if (word)
        buffer[0] = (char)(buffer[0] - 'A' + 'a');
    return buffer;
}

enum tts_status tts_error_set_errno(struct tts_error *err, enum tts_status status,
                                    int sys_errno, const char *format, ...)
{
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    begin_error(err, status, sys_errno);
    int wanted = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);

    /* Cut a long text, never the system's reason: the reason is more important than the end of
     * a long path. */
    char reason[64];
    errno_text(sys_errno, reason, sizeof reason);
    size_t room = sizeof err->text - sizeof ": " - strlen(reason);
    size_t at = wanted < 0 ? 0 : (size_t)wanted;
    if (at > room) {
        at = room;
        memcpy(err->text + at - 3, "...", 3);
    }
    snprintf(err->text + at, sizeof err->text - at, ": %s", reason);
    return status;
}
