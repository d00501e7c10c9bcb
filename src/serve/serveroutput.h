/* serveroutput.h: writes the text of the allocation server to a descriptor on a thread of its
 * own, so that the server never waits for a terminal, a pipe or a disk.
 *
 * The queue has a fixed size. A text that has no room is left out as a whole, and counted. The
 * thread waits until the descriptor can take bytes, so close ends in a bounded time.
 *
 * Ownership: heap object of the caller; the descriptor stays open. SIGPIPE must be ignored.
 * Threads: one thread calls these functions.
 * Cost: put copies the text and makes no system call; flush takes a lock, and wakes the thread
 * if it sleeps. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { TTS_SERVEROUTPUT_BYTES = 1 << 20 };

struct tts_serveroutput;

/* Starts the thread, which writes to `fd`. Returns TTS_E_NOMEM, or TTS_E_IO if there is no
 * thread. */
TTS_NODISCARD enum tts_status tts_serveroutput_open(int fd, const struct tts_alloc *alloc,
                                                    struct tts_serveroutput **out,
                                                    struct tts_error *err);
/* Writes the rest, for at most a second, and ends the thread. NULL is allowed. */
void tts_serveroutput_close(struct tts_serveroutput *output);

/* Returns whether a text of `len` bytes has room. */
bool tts_serveroutput_has_room(struct tts_serveroutput *output, size_t len);
/* Adds a text to the queue. Returns false if the text is left out. */
bool tts_serveroutput_put(struct tts_serveroutput *output, const char *text, size_t len);
/* Hands the texts over to the thread. Returns 0, or why the descriptor takes no bytes (an errno
 * value): then all texts are dropped. After ENOSPC and EDQUOT, later texts are tried again. */
int tts_serveroutput_flush(struct tts_serveroutput *output);
