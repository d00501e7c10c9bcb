/* hostreader.h: reads the host (sources/live/livehost.h), and decides which process owns which
 * bytes (analysis/live/liveowners.h), on a thread of its own: a read may take as long as the
 * files of other processes are, and the server must not wait for it.
 *
 * There are two readings: the caller looks at one while the thread fills the other.
 *
 * Ownership: heap object of the caller; `alloc` is used by both threads. Threads: one thread
 * calls these functions. */
#pragma once

#include "model/live/hostview.h"
#include "model/live/liveframe.h"

struct tts_hostreader;

struct tts_hostreading {
    struct tts_hostview view;
    struct tts_liveframe frame;
};

/* Starts the thread. Returns the statuses of tts_livehost_open(), and TTS_E_IO if there is no
 * thread. */
TTS_NODISCARD enum tts_status tts_hostreader_open(const char *root,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_hostreader **out,
                                                  struct tts_error *err);
/* Stops a read that is under way, and waits until it has ended. NULL is allowed. */
void tts_hostreader_close(struct tts_hostreader *reader);

/* Begins a read. Returns false if a read is under way, or was not taken. */
bool tts_hostreader_begin(struct tts_hostreader *reader);
bool tts_hostreader_is_busy(const struct tts_hostreader *reader);
/* Returns a descriptor that is readable if a read has ended and was not taken. */
int tts_hostreader_fd(const struct tts_hostreader *reader);
/* Takes the result of a read that has ended, or that ends in the next `wait_ns`. Returns NULL
 * if there is none, or if the read had no memory. The reading is valid until the next one is
 * taken. */
const struct tts_hostreading *tts_hostreader_take(struct tts_hostreader *reader,
                                                  uint64_t wait_ns);
