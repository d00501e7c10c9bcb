/* inflow.h: the bytes of a file that may be compressed: plain, gzip or zstd, told by its first
 * bytes, not by its name. Memory does not grow with the input. Memory is of
 * `alloc`, zstd's own beside it. One thread: open, read until 0 bytes come, close. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tts_inflow; /* opaque; heap */

/* "-" is standard input. `alloc` NULL is the C library's. TTS_E_IO (missing, a directory, no
 * permission), TTS_E_NOMEM: err names the path. */
TTS_NODISCARD enum tts_status tts_inflow_open(const char *path, const struct tts_alloc *alloc,
                                              struct tts_inflow **out, struct tts_error *err);

/* The same for a descriptor, which is not closed. `before`[0..len) are bytes already read from
 * it, and are copied. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_inflow_adopt(int fd, const unsigned char *before, size_t len,
                                               const struct tts_alloc *alloc,
                                               struct tts_inflow **out, struct tts_error *err);
/* Returns true if these first bytes are of gzip or zstd. */
bool tts_inflow_is_compressed(const unsigned char *bytes, size_t len);

/* Up to `capacity` bytes, at least one unless it is the end (*got 0). TTS_E_SYNTAX: compressed
 * bytes that are damaged, cut off, or need too much memory; TTS_E_IO; TTS_E_NOMEM. What was
 * given before an error is good. */
TTS_NODISCARD enum tts_status tts_inflow_read(struct tts_inflow *in, void *out, size_t capacity,
                                              size_t *got, struct tts_error *err);

/* Bytes of the file itself so far, and in all (0: not known), for a line of progress. */
uint64_t tts_inflow_taken(const struct tts_inflow *in);
uint64_t tts_inflow_total(const struct tts_inflow *in);

void tts_inflow_close(struct tts_inflow *in); /* NULL is fine */
