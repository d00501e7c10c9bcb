/* server_json.h: writes the events and the statistics of the allocation server as JSON, one
 * document in each line. docs/design/serve-json.md describes the documents.
 *
 * Threads: any. */
#pragma once

#include "model/live/serverstate.h"

#include <stdio.h>

enum { TTS_SERVERJSON_MAX = 1024 };

/* Writes one event with its line end and a terminator. Returns the number of bytes without the
 * terminator. Allocates nothing. */
size_t tts_serverjson_event(char out[TTS_SERVERJSON_MAX], const struct tts_serverevent *event);

enum tts_serverjson_kind {
    TTS_SERVERJSON_START,      /* the first line; has the path of the socket */
    TTS_SERVERJSON_STATISTICS, /* without buffers and kernels */
    TTS_SERVERJSON_BUFFERS,    /* the statistics and the live buffers */
    TTS_SERVERJSON_KERNELS,    /* the statistics and the live kernels */
};
/* Writes one line about the state. `socket_path` is used by START only. The caller checks the
 * stream for errors. */
void tts_serverjson_state(const struct tts_serverstate *state, enum tts_serverjson_kind kind,
                          const char *socket_path, FILE *out);
