/* peek.h: looks at the first bytes of a pipe. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Copies up to `size` of the bytes that wait in a pipe, which keeps them. Waits for the first
 * of them. The caller owns `fd` and `out`. Cost: one pipe and five system calls.
 *
 * Returns the number of bytes; 0 or less if there are none or `fd` is no pipe. */
ssize_t tts_peek_pipe(int fd, void *out, size_t size);
