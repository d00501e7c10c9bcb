/* beside.h: a new file under a name of its own, in the directory of the one it will replace. */
#pragma once

enum { TTS_PATH_MAX = 4096 }; /* with the terminator */

/* Opens it with `access` (O_WRONLY, O_RDWR); the system applies the umask. Returns errno, 0
 * when done; *fd is closed on exec. */
int tts_beside_create(const char *final, int access, char temporary[TTS_PATH_MAX], int *fd);
