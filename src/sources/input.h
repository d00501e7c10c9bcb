/* input.h: the one way in which every reader gets foreign bytes. An input is a path, or "-" for
 * standard input. It is a regular file, a pipe or a FIFO, and it is plain or compressed with
 * gzip or zstd. The kind of an input is found by its content, never by its name.
 *
 * Ownership: the caller owns the input and closes it. Paths are borrowed until then. Memory
 * comes from `alloc` (NULL: the C library), except the memory of zstd.
 * Threads: one thread for each input.
 * Cost: tts_input_open() reads nothing. tts_input_kind() reads the first TTS_INPUT_HEAD bytes
 * of content and keeps them for tts_input_read(). Memory does not grow with the input: each
 * input takes TTS_INPUT_HEAD bytes. A compressed input takes 128 KiB and the window of its
 * format (at most 8 MiB) in addition. Only tts_input_spool() writes to the disk.
 * Returns TTS_OK, TTS_E_IO or TTS_E_NOMEM. Returns TTS_E_SYNTAX if compressed bytes are
 * damaged, cut off, or need too much memory. Bytes that were returned before an error are good.
 * After an error, every further read returns the same error. */
#pragma once

#include "sources/json_pull.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_INPUT_HEAD = 1 << 16 }; /* number of bytes of content that decide the kind */

/* The kind of the content, after decompression. */
enum tts_input_kind {
    TTS_INPUT_EMPTY,
    TTS_INPUT_RECORDING, /* a file of events (.tts) */
    TTS_INPUT_JSON,    /* one JSON value and nothing after it: a graph trace, a saved result */
    TTS_INPUT_TEXT,    /* any other text: logs, allocation sequences, lines of JSON */
    TTS_INPUT_UNKNOWN, /* bytes that are not text, or that cannot be decompressed */
};

struct tts_input; /* opaque; heap */

/* Opens an input. Returns TTS_E_IO (missing file, a directory, no permission) or TTS_E_NOMEM;
 * err names the path. */
TTS_NODISCARD enum tts_status tts_input_open(const char *path, const struct tts_alloc *alloc,
                                             struct tts_input **out, struct tts_error *err);
void tts_input_close(struct tts_input *in); /* NULL is allowed */

/* Finds the kind of the content. Waits until the head of a pipe has arrived. Call it before the
 * first tts_input_read(). Returns TTS_E_IO if the read fails; err names the path. */
TTS_NODISCARD enum tts_status tts_input_kind(struct tts_input *in, enum tts_input_kind *out,
                                             struct tts_error *err);
/* Returns whether the input is compressed with gzip or zstd. Call it after tts_input_kind() or
 * a read. */
bool tts_input_is_compressed(const struct tts_input *in);
/* Returns whether the content begins like a JSON array or object, whatever follows. The first
 * line of some logs begins like this too. Call it after tts_input_kind(). */
bool tts_input_begins_as_json(const struct tts_input *in);

/* Returns the first bytes of the content, which decided the kind. The pointer is borrowed until
 * tts_input_rewind() or tts_input_spool(). */
const unsigned char *tts_input_head(const struct tts_input *in, size_t *len);

/* Reads at least one and at most `capacity` bytes of content. Sets *got to 0 at the end. */
TTS_NODISCARD enum tts_status tts_input_read(struct tts_input *in, void *out, size_t capacity,
                                             size_t *got, struct tts_error *err);

/* Fills *out so that a JSON reader gets the content from its beginning. *out is borrowed from
 * the input. Call it after tts_input_kind() or tts_input_rewind(). */
TTS_NODISCARD enum tts_status
tts_input_json(struct tts_input *in, struct tts_jsonpull_source *out, struct tts_error *err);

/* Makes the input readable more than once: copies the decompressed content of a pipe to a
 * temporary file without a name. Does nothing for a regular file. Call it before the first
 * tts_input_read(). `tick`, if not NULL, is called from time to time with the number of bytes
 * copied. `what` ("the recording") is the subject of the error text, which says that the copy
 * cannot be kept. */
TTS_NODISCARD enum tts_status tts_input_spool(struct tts_input *in, const char *what,
                                              void (*tick)(void *ctx, uint64_t bytes),
                                              void *ctx, struct tts_error *err);
/* Goes back to the beginning of the content. After a read, this works only for a regular file
 * or if tts_input_spool() was called before the read. */
TTS_NODISCARD enum tts_status tts_input_rewind(struct tts_input *in, struct tts_error *err);

/* Lets the next read look again after the end, for a file that grows. Returns false if the
 * content is compressed: such a file is not followed. */
bool tts_input_resume(struct tts_input *in);

/* Returns a path that another reader can open. "-" is standard input at its current position.
 * The path is borrowed from the input. */
const char *tts_input_path(const struct tts_input *in);
/* Returns a path that opens the regular file of this input once more, for readers that seek.
 * The path is borrowed from the input. */
const char *tts_input_fd_path(struct tts_input *in);

/* For progress displays: tts_input_taken() returns the number of bytes of the file (before
 * decompression) that were read so far. tts_input_total() returns the size of the file, or 0 if
 * the size is unknown. */
uint64_t tts_input_taken(const struct tts_input *in);
uint64_t tts_input_total(const struct tts_input *in);

/* Returns whether the file at *path begins like a recording, JSON or compressed data. Takes no
 * bytes from a pipe, but waits for its first bytes. A named pipe can be opened only once.
 * Therefore the function opens a named pipe as standard input and sets *path to "-". If
 * standard input is not free for this, it returns false. Also returns false if the file cannot
 * be read. */
bool tts_input_may_have_events(const char **path, bool stdin_is_free);
