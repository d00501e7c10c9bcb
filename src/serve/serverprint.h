/* serverprint.h: prints what the allocation server sees: a line for each event, statistics and
 * reports, as text or as JSON (views/serve). The server never waits: lines for which the output
 * is too slow are left out and counted.
 *
 * Ownership: heap object of the caller. Threads: one thread at a time. */
#pragma once

#include "model/live/serverstate.h"

struct tts_serverprint;

struct tts_serverprint_config {
    int fd;
    bool is_json, is_utf8;
    const char *socket_path; /* borrowed */
};

enum tts_serverprint_kind {
    TTS_SERVERPRINT_START,
    TTS_SERVERPRINT_STATISTICS,
    TTS_SERVERPRINT_BUFFERS,
    TTS_SERVERPRINT_KERNELS,
};

TTS_NODISCARD enum tts_status tts_serverprint_open(const struct tts_serverprint_config *config,
                                                   const struct tts_alloc *alloc,
                                                   struct tts_serverprint **out,
                                                   struct tts_error *err);
/* Writes the rest, for at most a second. NULL is allowed. */
void tts_serverprint_close(struct tts_serverprint *print);

/* Prints the lines of events. */
struct tts_serversink tts_serverprint_sink(struct tts_serverprint *print);
/* Prints about a state. Returns TTS_E_FULL if the output is too slow: the text is left out. */
enum tts_status tts_serverprint_state(struct tts_serverprint *print,
                                      enum tts_serverprint_kind kind,
                                      const struct tts_serverstate *state);
/* Call this after each turn of the server. Returns 0, or why the output takes no bytes (an
 * errno value). */
int tts_serverprint_flush(struct tts_serverprint *print);
/* Returns the number of texts that were left out. */
uint64_t tts_serverprint_left_out(const struct tts_serverprint *print);
