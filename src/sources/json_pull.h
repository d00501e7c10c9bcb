/* json_pull.h: JSON, token by token, out of a file or memory, through a window of a fixed size.
 *
 * Strings are told as they stand, between their quotes; tts_jsonpull_text() resolves escapes.
 * One that is longer than TTS_JSONPULL_TEXT_MAX is told by its beginning. In strings any byte
 * may stand; what is skipped is only checked for its strings and brackets. Nesting is bounded
 * and costs a bit for each level. One thread. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_JSONPULL_DEPTH_MAX = 1024,
    TTS_JSONPULL_TEXT_MAX = 4096,
    TTS_JSONPULL_WINDOW_MIN = 2 * TTS_JSONPULL_TEXT_MAX,
    TTS_JSONPULL_WINDOW = 256 * 1024, /* small enough to stay in the cache */
};

enum tts_jsonpull_kind {
    TTS_JSONPULL_END, /* behind the one value there is */
    TTS_JSONPULL_OBJECT,
    TTS_JSONPULL_OBJECT_END,
    TTS_JSONPULL_ARRAY,
    TTS_JSONPULL_ARRAY_END,
    TTS_JSONPULL_KEY, /* with the colon behind it */
    TTS_JSONPULL_STRING,
    TTS_JSONPULL_NUMBER,
    TTS_JSONPULL_TRUE,
    TTS_JSONPULL_FALSE,
    TTS_JSONPULL_NULL,
};

struct tts_jsonpull_token {
    enum tts_jsonpull_kind kind;
    const char *text; /* KEY, STRING, NUMBER; borrowed until the next call */
    size_t len;
    bool is_cut;    /* KEY, STRING: there is more of it */
    bool is_whole;  /* NUMBER: digits only, and they fit */
    uint64_t value; /* of those */
};

/* Writes up to `room` bytes to `out`, at least one unless it is the end (*got 0). */
typedef enum tts_status (*tts_jsonpull_read_fn)(void *ctx, void *out, size_t room, size_t *got,
                                                struct tts_error *err);

struct tts_jsonpull_source {
    const unsigned char
        *before; /* these come first; what the window does not hold is borrowed */
    size_t before_len;
    uint64_t before_off;       /* of the first of them in the input */
    int fd;                    /* then these; -1: none. Not closed */
    tts_jsonpull_read_fn read; /* instead of fd, if it is not NULL */
    void *ctx;                 /* of `read` */
    size_t window_bytes;       /* 0: TTS_JSONPULL_WINDOW; TTS_JSONPULL_WINDOW_MIN at least */
    size_t piece_bytes; /* at most so many are taken at once; 0: as many as there is room */
};

/* Reads bytes after those of `before`, as tts_jsonpull_read_fn says. TTS_E_IO, or what `read`
 * returns. */
TTS_NODISCARD enum tts_status tts_jsonpull_read(const struct tts_jsonpull_source *source,
                                                void *out, size_t room, size_t *got,
                                                struct tts_error *err);

struct tts_jsonpull;

/* TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_jsonpull_new(const struct tts_jsonpull_source *source,
                                               const struct tts_alloc *alloc,
                                               struct tts_jsonpull **out,
                                               struct tts_error *err);
void tts_jsonpull_free(struct tts_jsonpull *json); /* NULL is fine */

/* From now on `fn` is told after every read how many bytes there were so far. */
typedef void (*tts_jsonpull_fn)(void *ctx, uint64_t bytes);
void tts_jsonpull_watch(struct tts_jsonpull *json, tts_jsonpull_fn fn, void *ctx);

/* TTS_E_SYNTAX: err has what, line and offset. TTS_E_RANGE: nested too deeply. TTS_E_IO. After
 * a failure there is nothing more to ask but where. */
TTS_NODISCARD enum tts_status tts_jsonpull_next(struct tts_jsonpull *json,
                                                struct tts_jsonpull_token *out,
                                                struct tts_error *err);
/* The same in an object, quicker: the next key, or OBJECT_END. */
TTS_NODISCARD enum tts_status tts_jsonpull_key(struct tts_jsonpull *json,
                                               struct tts_jsonpull_token *out,
                                               struct tts_error *err);
/* Passes over the value that comes next: behind a key, in an array, or the whole. */
TTS_NODISCARD enum tts_status tts_jsonpull_skip(struct tts_jsonpull *json,
                                                struct tts_error *err);
/* Passes over the rest of the innermost object or array that is open, and its end. */
TTS_NODISCARD enum tts_status tts_jsonpull_leave(struct tts_jsonpull *json,
                                                 struct tts_error *err);

/* Text of a KEY or STRING with its escapes resolved, at most `capacity` bytes of it; returns
 * how many. An escape that cannot be stands as it is, half a surrogate pair is U+FFFD. */
size_t tts_jsonpull_text(const struct tts_jsonpull_token *token, char *out, size_t capacity);

uint64_t
tts_jsonpull_offset(const struct tts_jsonpull *json); /* of the first byte not told yet */
/* Remembers the place of the token that was told last; its line can be asked for until the next
 * is remembered. */
void tts_jsonpull_mark(struct tts_jsonpull *json);
uint64_t tts_jsonpull_marked_line(struct tts_jsonpull *json);
uint64_t tts_jsonpull_marked_offset(const struct tts_jsonpull *json);
/* Adds where the token is that was told last; returns `status`. */
enum tts_status tts_jsonpull_at(struct tts_jsonpull *json, struct tts_error *err,
                                enum tts_status status);
