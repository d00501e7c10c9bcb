#include "base/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_TRIED = 100 };

int tts_beside_create(const char *final, int access, char temporary[TTS_PATH_MAX], int *fd)
{
    const char *slash = strrchr(final, '/');
    int directory_len = slash ? (int)(slash - final) + 1 : 0;
    for (int i = 0; i < NAMES_TRIED; i++) {
        int len = snprintf(temporary, TTS_PATH_MAX, "%.*s.ttscope-%ld-%d", directory_len, final,
                           (long)getpid(), i);
        if (len < 0 || len >= TTS_PATH_MAX)
            return ENAMETOOLONG;
        *fd = open(temporary, access | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0)
            return 0;
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}
