/* json_inside.h: what the files of the JSON reader know of each other. */
#pragma once

#include "sources/json_bytes.h"
#include "sources/json_pull.h"

enum tts_jsonpull_expect {
    TTS_JSONPULL_VALUE,     /* a value */
    TTS_JSONPULL_FIRST,     /* a value or the end of the array */
    TTS_JSONPULL_FIRST_KEY, /* a key or the end of the object */
    TTS_JSONPULL_NEXT_KEY,  /* a key */
    TTS_JSONPULL_COMMA,     /* a comma or the end of what is open; of the input if nothing is */
};

/* Bytes token .. end of the input are in the window; behind them stands a '"', which ends every
 * search. Invariant: window <= token <= at <= end. */
struct tts_jsonpull {
    const unsigned char *token; /* where the token under way begins: stays in the window */
    const unsigned char *at;    /* the first byte not told yet */
    unsigned char *end;
    enum tts_jsonpull_expect expect;
    uint32_t depth;
    uint64_t is_object[TTS_JSONPULL_DEPTH_MAX / 64]; /* for each level, from 0 */
    bool at_eof;
    uint64_t end_off; /* of `end` in the input */
    uint64_t gap;     /* bytes of the token that were taken out of the window */

    unsigned char *window;
    size_t window_bytes;
    struct tts_jsonpull_source source;
    tts_jsonpull_fn on_read; /* NULL: nobody watches */
    void *on_read_ctx;

    const unsigned char *counted; /* lines up to here are in `line` */
    uint64_t line;
    const unsigned char *mark; /* NULL: marked_line is known */
    uint64_t marked_line, marked_off;
    const struct tts_alloc *alloc;
};

/* Reads on behind `end`; what is before `token` goes. *p, a place in the window, moves with it.
 * When nothing more comes `at_eof` is set. There must be room. */
TTS_NODISCARD enum tts_status tts_jsonpull_fill(struct tts_jsonpull *json,
                                                const unsigned char **p, struct tts_error *err);
bool tts_jsonpull_is_full(const struct tts_jsonpull *json);
/* Takes [from, to) out of the window; what is behind moves there. Both are past `token`. */
void tts_jsonpull_drop(struct tts_jsonpull *json, const unsigned char *from,
                       const unsigned char *to);
/* Adds where `p` is to an error; returns `status`. */
enum tts_status tts_jsonpull_fail(struct tts_jsonpull *json, const unsigned char *p,
                                  struct tts_error *err, enum tts_status status);

static TTS_FORCE_INLINE bool tts_jsonpull_is_digit(unsigned char c)
{
    return (unsigned)(c - '0') < 10;
}

/* What must come now; and the error when it is not what is at `p`. */
const char *tts_jsonpull_expected(const struct tts_jsonpull *json);
TTS_COLD enum tts_status tts_jsonpull_unexpected(struct tts_jsonpull *json,
                                                 const unsigned char *p, const char *wanted,
                                                 struct tts_error *err);
/* The token at json->token: any number; true, false or null. */
TTS_NODISCARD enum tts_status tts_jsonpull_read_number(struct tts_jsonpull *json,
                                                       struct tts_jsonpull_token *out,
                                                       struct tts_error *err);
TTS_NODISCARD enum tts_status tts_jsonpull_read_word(struct tts_jsonpull *json,
                                                     struct tts_jsonpull_token *out,
                                                     struct tts_error *err);
