/* json_pull.h: reads JSON token by token from a file or from memory, through a window (a
 * buffer) of fixed size.
 *
 * The text of a string token is the text in the file, without quotes; tts_jsonpull_text()
 * resolves its escapes. A string longer than TTS_JSONPULL_TEXT_MAX bytes is cut at that length.
 * A string may have any bytes. In skipped values only strings and brackets are checked. The
 * depth of nesting is limited; each level needs one bit. One thread at a time. */
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
    TTS_JSONPULL_END, /* the end, after the only value of the input */
    TTS_JSONPULL_OBJECT,
    TTS_JSONPULL_OBJECT_END,
    TTS_JSONPULL_ARRAY,
    TTS_JSONPULL_ARRAY_END,
    TTS_JSONPULL_KEY, /* a key of an object; the colon after it is read too */
    TTS_JSONPULL_STRING,
    TTS_JSONPULL_NUMBER,
    TTS_JSONPULL_TRUE,
    TTS_JSONPULL_FALSE,
    TTS_JSONPULL_NULL,
};

struct tts_jsonpull_token {
    enum tts_jsonpull_kind kind;
    const char *text; /* text of a KEY, STRING or NUMBER; valid until the next call */
    size_t len;
    /* KEY, STRING: the string is longer than `len`, and `text` holds only its beginning */
    bool is_cut;
    bool is_whole;  /* NUMBER: consists of digits only and fits into `value` */
    uint64_t value; /* only if is_whole */
};

/* Reads at least one and at most `room` bytes into `out`. Sets *got to 0 at the end of the
 * input. */
typedef enum tts_status (*tts_jsonpull_read_fn)(void *ctx, void *out, size_t room, size_t *got,
                                                struct tts_error *err);

struct tts_jsonpull_source {
    /* The first bytes of the input. Borrowed until all of them are in the window. */
    const unsigned char *before;
    size_t before_len;
    uint64_t before_off; /* offset of before[0] in the input */
    int fd; /* read after `before`; -1 if there is no file. The JSON reader does not close it */
    tts_jsonpull_read_fn read; /* used instead of `fd` if not NULL */
    void *ctx;                 /* passed to `read` */
    size_t window_bytes; /* at least TTS_JSONPULL_WINDOW_MIN; 0 means TTS_JSONPULL_WINDOW */
    size_t piece_bytes;  /* maximum number of bytes of one read; 0 means no maximum */
};

/* Reads the bytes after `before`, like a tts_jsonpull_read_fn. Returns TTS_E_IO or a status of
 * `read`. */
TTS_NODISCARD enum tts_status tts_jsonpull_read(const struct tts_jsonpull_source *source,
                                                void *out, size_t room, size_t *got,
                                                struct tts_error *err);

struct tts_jsonpull;

/* Creates a reader, which the caller frees. Returns TTS_E_NOMEM if there is no memory. */
TTS_NODISCARD enum tts_status tts_jsonpull_new(const struct tts_jsonpull_source *source,
                                               const struct tts_alloc *alloc,
                                               struct tts_jsonpull **out,
                                               struct tts_error *err);
void tts_jsonpull_free(struct tts_jsonpull *json); /* NULL is allowed */

/* tts_jsonpull_watch() sets a function that is called after each later read with the number of
 * bytes read so far. */
typedef void (*tts_jsonpull_fn)(void *ctx, uint64_t bytes);
void tts_jsonpull_watch(struct tts_jsonpull *json, tts_jsonpull_fn fn, void *ctx);

/* Reads the next token. Returns TTS_E_SYNTAX if the input is not JSON (err holds the reason,
 * the line and the offset), TTS_E_RANGE if it is nested too deeply, and TTS_E_IO. After a
 * failure only the functions that return or report a place may be called. */
TTS_NODISCARD enum tts_status tts_jsonpull_next(struct tts_jsonpull *json,
                                                struct tts_jsonpull_token *out,
                                                struct tts_error *err);
/* Reads the next key of an object, or OBJECT_END. Like tts_jsonpull_next(), but faster. */
TTS_NODISCARD enum tts_status tts_jsonpull_key(struct tts_jsonpull *json,
                                               struct tts_jsonpull_token *out,
                                               struct tts_error *err);
/* Skips the next value: the value after a key, an element of an array, or the whole
 * document. */
TTS_NODISCARD enum tts_status tts_jsonpull_skip(struct tts_jsonpull *json,
                                                struct tts_error *err);
/* Skips the rest of the innermost open object or array, including its closing bracket. */
TTS_NODISCARD enum tts_status tts_jsonpull_leave(struct tts_jsonpull *json,
                                                 struct tts_error *err);
/* If `token` begins an object or array, skips the rest of it. Otherwise does nothing. */
TTS_NODISCARD static inline enum tts_status
tts_jsonpull_finish(struct tts_jsonpull *json, const struct tts_jsonpull_token *token,
                    struct tts_error *err)
{
    bool is_open = token->kind == TTS_JSONPULL_OBJECT || token->kind == TTS_JSONPULL_ARRAY;
    return is_open ? tts_jsonpull_leave(json, err) : TTS_OK;
}

/* Copies the text of a KEY or STRING with its escapes resolved, at most `capacity` bytes.
 * Returns the number of bytes. An invalid escape is copied as it is; half a surrogate pair
 * becomes U+FFFD. */
size_t tts_jsonpull_text(const struct tts_jsonpull_token *token, char *out, size_t capacity);

/* Returns the offset of the first byte that is not in a returned token. */
uint64_t tts_jsonpull_offset(const struct tts_jsonpull *json);
/* Remembers the place of the last returned token. The functions below return the line and the
 * offset of this place until the next call of tts_jsonpull_mark(). */
void tts_jsonpull_mark(struct tts_jsonpull *json);
uint64_t tts_jsonpull_marked_line(struct tts_jsonpull *json);
uint64_t tts_jsonpull_marked_offset(const struct tts_jsonpull *json);
/* Sets the line and the offset of an error to those of the last returned token. Returns
 * `status`. */
enum tts_status tts_jsonpull_at(struct tts_jsonpull *json, struct tts_error *err,
                                enum tts_status status);
