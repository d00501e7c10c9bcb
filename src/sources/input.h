/* input.h: one way in for every reader of foreign bytes: a path, or "-" for standard input; a
 * regular file, a pipe or a FIFO; plain, gzip or zstd. The content says what the input is,
 * never its name.
 *
 * Ownership: the caller owns the input and closes it. Paths are borrowed until then. Memory
 * comes from `alloc`, except zstd's own. Threads: one thread for each input. Cost: open reads
 * nothing. tts_input_kind() reads the first TTS_INPUT_HEAD bytes of content and keeps them for
 * tts_input_read(). Memory does not grow with the input: an input takes TTS_INPUT_HEAD bytes, a
 * compressed one 128 KiB and the window of its format (at most 8 MiB) more. Only
 * tts_input_spool() writes to the disk. Returns: TTS_OK; TTS_E_IO; TTS_E_NOMEM; TTS_E_SYNTAX
 * for compressed bytes that are damaged, cut off, or need too much memory. Bytes that were
 * given before an error are good, and the same error comes again. `alloc` NULL is the C
 * library's. */
#pragma once

#include "sources/json_pull.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_INPUT_HEAD = 1 << 16 }; /* bytes of content that decide the kind */

/* The kind of the content, after decompression. */
enum tts_input_kind {
    TTS_INPUT_EMPTY,
    TTS_INPUT_RECORDING, /* .tts */
    TTS_INPUT_JSON,    /* one JSON value and nothing after it: a graph trace, a saved result */
    TTS_INPUT_TEXT,    /* any other text: logs, allocation sequences, lines of JSON */
    TTS_INPUT_UNKNOWN, /* bytes that are no text, or that cannot be decompressed */
};

struct tts_input; /* opaque; heap */

/* TTS_E_IO (missing, a directory, no permission), TTS_E_NOMEM: err names the path. */
TTS_NODISCARD enum tts_status tts_input_open(const char *path, const struct tts_alloc *alloc,
                                             struct tts_input **out, struct tts_error *err);
void tts_input_close(struct tts_input *in); /* NULL is allowed */

/* Finds the kind of the content. Waits for the head of a pipe. Only before the first read.
 * TTS_E_IO: err names the path. */
TTS_NODISCARD enum tts_status tts_input_kind(struct tts_input *in, enum tts_input_kind *out,
                                             struct tts_error *err);
/* Returns whether the input is gzip or zstd. After tts_input_kind() or a read. */
bool tts_input_is_compressed(const struct tts_input *in);
/* Returns whether the content begins like a JSON array or object, whatever follows. After
 * tts_input_kind(). Some logs begin so. */
bool tts_input_begins_as_json(const struct tts_input *in);

/* Returns the first bytes of the content, as tts_input_kind() saw them. Borrowed until rewind
 * or spool. */
const unsigned char *tts_input_head(const struct tts_input *in, size_t *len);

/* Reads up to `capacity` bytes of content, and at least one. Sets *got to 0 at the end. */
TTS_NODISCARD enum tts_status tts_input_read(struct tts_input *in, void *out, size_t capacity,
                                             size_t *got, struct tts_error *err);

/* Fills *out so that a JSON reader gets the content from its beginning. The source is borrowed
 * from the input. After tts_input_kind() or tts_input_rewind(). */
TTS_NODISCARD enum tts_status
tts_input_json(struct tts_input *in, struct tts_jsonpull_source *out, struct tts_error *err);

/* Makes the input readable more than once: copies the content of a pipe, decompressed, to a
 * temporary file without a name. Does nothing for a regular file. Only before the first read.
 * `tick`, if not NULL, is called from time to time with the number of bytes copied. The error
 * text says that `what` ("the recording") cannot be kept. */
TTS_NODISCARD enum tts_status tts_input_spool(struct tts_input *in, const char *what,
                                              void (*tick)(void *ctx, uint64_t bytes),
                                              void *ctx, struct tts_error *err);
/* Goes back to the beginning of the content. An input that was read needs a regular file, or
 * tts_input_spool() before the read. */
TTS_NODISCARD enum tts_status tts_input_rewind(struct tts_input *in, struct tts_error *err);

/* Returns a path that another reader can open; "-" is standard input at its current position.
 * Borrowed from the input. */
const char *tts_input_path(const struct tts_input *in);
/* Returns the name by which the system can open the open regular file again, for readers that
 * seek. Borrowed from the input. */
const char *tts_input_fd_path(struct tts_input *in);

/* Return the number of bytes of the file itself that were read so far, and its size (0:
 * unknown), to show progress. */
uint64_t tts_input_taken(const struct tts_input *in);
uint64_t tts_input_total(const struct tts_input *in);

/* Returns whether the file at *path begins like a recording, JSON or compressed data. Takes
 * nothing from a pipe, but waits for its first bytes. A named pipe becomes standard input, and
 * *path "-", because a named pipe can be opened only once; if standard input is not free, the
 * answer is false. Also false for a file that cannot be read. */
bool tts_input_may_have_events(const char **path, bool stdin_is_free);
