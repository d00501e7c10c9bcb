/* inflow.h: the bytes of a file that may be compressed: plain, gzip or zstd, told by its first
 * bytes, not by its name. Memory does not grow with the input. Memory is of
 * `alloc`, zstd's own beside it. One thread: open, read until 0 bytes come, close. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stddef.h>
#include <stdint.h>

struct tts_inflow; /* opaque; heap */

/* "-" is standard input. `alloc` NULL is the C library's. TTS_E_IO (missing, a directory, no
 * permission), TTS_E_NOMEM: err names the path. */
TTS_NODISCARD enum tts_status tts_inflow_open(const char *path, const struct tts_alloc *alloc,
                                              struct tts_inflow **out, struct tts_error *err);

/* Up to `capacity` bytes, at least one unless it is the end (*got 0). TTS_E_SYNTAX: compressed
 * bytes that are damaged, cut off, or need too much memory; TTS_E_IO; TTS_E_NOMEM. What was
 * given before an error is good. */
TTS_NODISCARD enum tts_status tts_inflow_read(struct tts_inflow *in, void *out, size_t capacity,
                                              size_t *got, struct tts_error *err);

/* Bytes of the file itself so far, and in all (0: not known), for a line of progress. */
uint64_t tts_inflow_taken(const struct tts_inflow *in);
uint64_t tts_inflow_total(const struct tts_inflow *in);

void tts_inflow_close(struct tts_inflow *in); /* NULL is fine */
