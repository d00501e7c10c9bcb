/* spool.h: what comes through a pipe, as a file that can be read at any place. */
#pragma once

#include "sources/eventfile.h"

#include <stddef.h>
#include <sys/types.h>

/* Reads until `len` bytes are there or no more come. Negative: errno says why. */
ssize_t tts_spool_read(int fd, unsigned char *out, size_t len);

/* `head` and the rest of the pipe behind it, in a file without a name; it stands behind its
 * last byte. `watch` is told now and then. -1: errno says why. The caller closes both. */
int tts_spool(int fd, const unsigned char *head, size_t len,
              const struct tts_eventfile_watch *watch);
