#include "sources/json_pull.h"

#include "base/bytes16.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* A search may read this many bytes after the end of the window. */
enum { WINDOW_PAD = 64 };

/* ---- searches, 16 bytes at a time ---- */

static TTS_FORCE_INLINE bool is_json_blank(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Returns the place of the next byte that is not a blank. */
static TTS_FORCE_INLINE const unsigned char *pass_json_blanks(const unsigned char *at)
{
    if (TTS_LIKELY(!is_json_blank(*at)))
        return at;
    for (at++;; at += 16) {
        tts_bytes16 bytes = tts_bytes16_load(at);
        tts_bytes16 blank = (tts_bytes16)(bytes == ' ') | (tts_bytes16)(bytes == '\n') |
                            (tts_bytes16)(bytes == '\r') | (tts_bytes16)(bytes == '\t');
        unsigned first = tts_bytes16_first(~blank);
        if (TTS_LIKELY(first < 16))
            return at + first;
    }
}

/* Returns the place of the next '"' or '\'. */
static TTS_FORCE_INLINE const unsigned char *find_quote(const unsigned char *at)
{
    for (;; at += 16) {
        tts_bytes16 bytes = tts_bytes16_load(at);
        tts_bytes16 hits = (tts_bytes16)(bytes == '"') | (tts_bytes16)(bytes == '\\');
        unsigned first = tts_bytes16_first(hits);
        if (TTS_LIKELY(first < 16))
            return at + first;
    }
}

/* Marks square and curly brackets, which differ in one bit. Also marks '\\' and '|', which lie
 * between the brackets in ASCII; valid JSON has these only in strings. */
static TTS_FORCE_INLINE tts_bytes16 match_brackets(tts_bytes16 bytes)
{
    return (tts_bytes16)((bytes | 0x20) - '{' <= '}' - '{');
}

/* Returns the place of the next '"', or of the next byte that match_brackets() marks. */
static TTS_FORCE_INLINE const unsigned char *find_bracket(const unsigned char *at)
{
    for (;; at += 16) {
        tts_bytes16 bytes = tts_bytes16_load(at);
        tts_bytes16 hits = (tts_bytes16)(bytes == '"') | match_brackets(bytes);
        unsigned first = tts_bytes16_first(hits);
        if (TTS_LIKELY(first < 16))
            return at + first;
    }
}

/* The bytes of a 64-byte block that matter for brackets. Bit i stands for byte i. */
struct tts_jsonpull_block {
    uint64_t quotes, escapes, brackets;
};

static TTS_FORCE_INLINE struct tts_jsonpull_block scan_block(const unsigned char *at)
{
    struct tts_jsonpull_block block = {0};
    for (unsigned i = 0; i < 64; i += 16) {
        tts_bytes16 bytes = tts_bytes16_load(at + i);
        block.quotes |= (uint64_t)tts_bytes16_mask((tts_bytes16)(bytes == '"')) << i;
        block.escapes |= (uint64_t)tts_bytes16_mask((tts_bytes16)(bytes == '\\')) << i;
        block.brackets |= (uint64_t)tts_bytes16_mask(match_brackets(bytes)) << i;
    }
    return block;
}

/* Sets bit i of the result if an odd number of the bits 0 to i are set. */
static TTS_FORCE_INLINE uint64_t prefix_parity(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

enum tts_jsonpull_expect {
    TTS_JSONPULL_VALUE,     /* a value must follow */
    TTS_JSONPULL_FIRST,     /* a value or the end of the array must follow */
    TTS_JSONPULL_FIRST_KEY, /* a key or the end of the object must follow */
    TTS_JSONPULL_NEXT_KEY,  /* a key must follow */
    /* A comma or the end of the innermost open object or array must follow. If none is open,
     * the end of the input must follow. */
    TTS_JSONPULL_COMMA,
};

/* The window holds the input from `token` to `end`. A '"' after `end` stops every search.
 * Invariant: window <= token <= at <= end. */
struct tts_jsonpull {
    /* The beginning of the current token, which stays in the window. */
    const unsigned char *token;
    const unsigned char *at; /* the first byte that is not in a returned token */
    unsigned char *end;
    enum tts_jsonpull_expect expect;
    uint32_t depth;
    /* one bit for each open level; level 0 is the outermost */
    uint64_t is_object[TTS_JSONPULL_DEPTH_MAX / 64];
    bool at_eof;
    uint64_t end_off; /* offset of `end` in the input */
    /* number of bytes of the current token that were removed from the window */
    uint64_t gap;

    unsigned char *window;
    size_t window_bytes;
    struct tts_jsonpull_source source;
    tts_jsonpull_fn on_read; /* called after each read; may be NULL */
    void *on_read_ctx;

    const unsigned char *counted; /* `line` is the line number at this place */
    uint64_t line;
    /* the marked place; NULL if marked_line already holds its line */
    const unsigned char *mark;
    uint64_t marked_line, marked_off;
    const struct tts_alloc *alloc;
};

static TTS_FORCE_INLINE bool is_json_digit(unsigned char c)
{
    return (unsigned)(c - '0') < 10;
}

/* ---- lines ---- */

/* Counts the line ends in [at, end). */
static uint64_t count_newlines(const unsigned char *at, const unsigned char *end)
{
    uint64_t lines = 0;
    while (end - at >= 16) {
        /* Each of the 16 bytes of the vector is a counter of its own, which holds at most
         * 255. */
        tts_bytes16 sums = {0};
        for (int i = 0; i < 255 && end - at >= 16; i++, at += 16)
            sums -= (tts_bytes16)(tts_bytes16_load(at) == '\n');
        for (int i = 0; i < 16; i++)
            lines += sums[i];
    }
    for (; at < end; at++)
        lines += *at == '\n';
    return lines;
}

static void count_lines_to(struct tts_jsonpull *json, const unsigned char *p)
{
    if (p <= json->counted)
        return;
    json->line += count_newlines(json->counted, p);
    json->counted = p;
}

/* Counts the lines up to `p`. Must be called before the bytes before `p` leave the window. */
static void settle_lines(struct tts_jsonpull *json, const unsigned char *p)
{
    if (json->mark && json->mark < p) {
        count_lines_to(json, json->mark);
        json->marked_line = json->line;
        json->mark = NULL;
    }
    count_lines_to(json, p);
}

static uint64_t window_offset(const struct tts_jsonpull *json, const unsigned char *p)
{
    return json->end_off - (uint64_t)(json->end - p);
}

uint64_t tts_jsonpull_offset(const struct tts_jsonpull *json)
{
    return window_offset(json, json->at);
}

void tts_jsonpull_mark(struct tts_jsonpull *json)
{
    assert(json->counted <= json->token);
    json->mark = json->token;
    json->marked_off = window_offset(json, json->token);
}

uint64_t tts_jsonpull_marked_line(struct tts_jsonpull *json)
{
    if (json->mark)
        settle_lines(json, json->mark + 1);
    return json->marked_line;
}

uint64_t tts_jsonpull_marked_offset(const struct tts_jsonpull *json)
{
    return json->marked_off;
}

/* Sets the line and the offset of an error to those of `p`. Returns `status`. */
static enum tts_status fail_at(struct tts_jsonpull *json, const unsigned char *p,
                               struct tts_error *err, enum tts_status status)
{
    if (!err)
        return status;
    settle_lines(json, p);
    err->offset = window_offset(json, p);
    err->line = json->line < UINT32_MAX ? (uint32_t)json->line : UINT32_MAX;
    return status;
}

enum tts_status tts_jsonpull_at(struct tts_jsonpull *json, struct tts_error *err,
                                enum tts_status status)
{
    fail_at(json, json->token, err, status);
    if (err)
        err->offset -= json->gap;
    return status;
}

/* ---- the window ---- */

static bool is_window_full(const struct tts_jsonpull *json)
{
    return json->token == json->window && json->end == json->window + json->window_bytes;
}

static void set_window_end(struct tts_jsonpull *json, unsigned char *end)
{
    assert(end >= json->at && end <= json->window + json->window_bytes);
    json->end = end;
    memset(end, 0, WINDOW_PAD);
    *end = '"';
}

enum tts_status tts_jsonpull_read(const struct tts_jsonpull_source *source, void *out,
                                  size_t room, size_t *got, struct tts_error *err)
{
    ssize_t count = 0;
    if (source->read)
        return source->read(source->ctx, out, room, got, err);
    do
        count = source->fd < 0 ? 0 : read(source->fd, out, room);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read the file");
    *got = (size_t)count;
    return TTS_OK;
}

/* Copies bytes from memory first (source->before), then reads the file. Sets *got to 0 at the
 * end of the input. */
static enum tts_status take_source_bytes(struct tts_jsonpull_source *source, unsigned char *out,
                                         size_t room, size_t *got, struct tts_error *err)
{
    if (source->piece_bytes > 0 && room > source->piece_bytes)
        room = source->piece_bytes;
    if (source->before_len == 0)
        return tts_jsonpull_read(source, out, room, got, err);
    *got = source->before_len < room ? source->before_len : room;
    memcpy(out, source->before, *got);
    source->before += *got;
    source->before_len -= *got;
    return TTS_OK;
}

/* Moves the current token to the front of the window, and adjusts *p. */
static void slide_window(struct tts_jsonpull *json, const unsigned char **p)
{
    settle_lines(json, json->token);
    size_t kept = (size_t)(json->end - json->token);
    size_t gone = (size_t)(json->token - json->window);
    if (gone == 0)
        return;
    memmove(json->window, json->token, kept);
    json->token -= gone;
    json->at -= gone;
    json->counted -= gone;
    json->mark = json->mark ? json->mark - gone : NULL;
    *p -= gone;
    set_window_end(json, json->end - gone);
}

/* Reads more bytes after `end`. Removes the bytes before `token` and adjusts *p, a pointer into
 * the window. Sets `at_eof` at the end of the input. The window must have room. */
static enum tts_status fill_window(struct tts_jsonpull *json, const unsigned char **p,
                                   struct tts_error *err)
{
    assert(!json->at_eof && !is_window_full(json));
    assert(*p >= json->token && *p <= json->end);
    slide_window(json, p);
    size_t got = 0, room = json->window_bytes - (size_t)(json->end - json->window);
    enum tts_status status = take_source_bytes(&json->source, json->end, room, &got, err);
    if (status != TTS_OK)
        return fail_at(json, json->end, err, status);
    json->at_eof = got == 0;
    json->end_off += (uint64_t)got;
    set_window_end(json, json->end + got);
    if (json->on_read)
        json->on_read(json->on_read_ctx, json->end_off);
    return TTS_OK;
}

/* Removes the bytes [from, to) from the window and closes the gap. Both places must be after
 * json->token. */
static void drop_bytes(struct tts_jsonpull *json, const unsigned char *from,
                       const unsigned char *to)
{
    assert(json->token < from && from <= to && to <= json->end);
    settle_lines(json, to);
    size_t from_idx = (size_t)(from - json->window), rest = (size_t)(json->end - to);
    if (json->at > from)
        json->at = from;
    memmove(json->window + from_idx, to, rest);
    json->counted = from;
    json->gap += (uint64_t)(to - from);
    set_window_end(json, json->window + from_idx + rest);
}

enum tts_status tts_jsonpull_new(const struct tts_jsonpull_source *source,
                                 const struct tts_alloc *alloc, struct tts_jsonpull **out,
                                 struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    size_t bytes = source->window_bytes ? source->window_bytes : TTS_JSONPULL_WINDOW;
    assert(bytes >= TTS_JSONPULL_WINDOW_MIN);
    struct tts_jsonpull *json = alloc->alloc(alloc->ctx, sizeof *json);
    unsigned char *window = json ? alloc->alloc(alloc->ctx, bytes + WINDOW_PAD) : NULL;
    if (!window) {
        if (json)
            alloc->free(alloc->ctx, json, sizeof *json);
        return tts_error_set(err, TTS_E_NOMEM,
                             TTS_TEXT_NOMEM " to read the JSON: %zu bytes are needed", bytes);
    }
    memset(window, 0, WINDOW_PAD);
    window[0] = '"';
    *json = (struct tts_jsonpull){.token = window,
                                  .at = window,
                                  .end = window,
                                  .expect = TTS_JSONPULL_VALUE,
                                  .window = window,
                                  .window_bytes = bytes,
                                  .source = *source,
                                  .end_off = source->before_off,
                                  .counted = window,
                                  .line = 1,
                                  .marked_line = 1,
                                  .alloc = alloc};
    const unsigned char *p = window;
    enum tts_status status = source->before_len > 0 ? fill_window(json, &p, err) : TTS_OK;
    assert(status == TTS_OK); /* the bytes come from memory, so this cannot fail */
    *out = json;
    return status;
}

void tts_jsonpull_free(struct tts_jsonpull *json)
{
    if (!json)
        return;
    const struct tts_alloc *alloc = json->alloc;
    alloc->free(alloc->ctx, json->window, json->window_bytes + WINDOW_PAD);
    alloc->free(alloc->ctx, json, sizeof *json);
}

void tts_jsonpull_watch(struct tts_jsonpull *json, tts_jsonpull_fn fn, void *ctx)
{
    json->on_read = fn;
    json->on_read_ctx = ctx;
}

/* ---- errors ---- */

static TTS_FORCE_INLINE bool is_in_object(const struct tts_jsonpull *json)
{
    assert(json->depth > 0);
    uint32_t top = json->depth - 1;
    return json->is_object[top / 64] >> top % 64 & 1;
}

/* Returns words for an error text: the tokens that the grammar allows next. */
static const char *expected_text(const struct tts_jsonpull *json)
{
    switch (json->expect) {
    case TTS_JSONPULL_VALUE:
        return "a value";
    case TTS_JSONPULL_FIRST:
        return "a value or ']'";
    case TTS_JSONPULL_FIRST_KEY:
        return "a key or '}'";
    case TTS_JSONPULL_NEXT_KEY:
        return "a key";
    case TTS_JSONPULL_COMMA:
        break;
    }
    if (json->depth == 0)
        return "the end of the file";
    return is_in_object(json) ? "',' or '}'" : "',' or ']'";
}

static TTS_COLD enum tts_status fail_unexpected(struct tts_jsonpull *json,
                                                const unsigned char *p, const char *wanted,
                                                struct tts_error *err)
{
    if (p == json->end)
        tts_error_set(err, TTS_E_SYNTAX, "the JSON ends too early: expected %s", wanted);
    else if (*p > ' ' && *p <= '~')
        tts_error_set(err, TTS_E_SYNTAX, "not JSON: expected %s, got '%c'", wanted, *p);
    else
        tts_error_set(err, TTS_E_SYNTAX, "not JSON: expected %s, got byte %02x", wanted, *p);
    return fail_at(json, p, err, TTS_E_SYNTAX);
}

/* ---- numbers and words ---- */

static const unsigned char *pass_digits(const unsigned char *p)
{
    while (is_json_digit(*p))
        p++;
    return p;
}

/* Returns the end of the number that begins at `p`, or NULL if it is not a valid number. */
static const unsigned char *number_end(const unsigned char *p)
{
    p += *p == '-';
    const unsigned char *digits = p;
    p = pass_digits(p);
    if (p == digits || (*digits == '0' && p > digits + 1))
        return NULL;
    if (*p == '.') {
        digits = ++p;
        p = pass_digits(p);
        if (p == digits)
            return NULL;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '+' || *p == '-';
        digits = p;
        p = pass_digits(p);
        if (p == digits)
            return NULL;
    }
    return p;
}

static const unsigned char *pass_number_chars(const unsigned char *p)
{
    while (is_json_digit(*p) || *p == '-' || *p == '+' || *p == '.' || *p == 'e' || *p == 'E')
        p++;
    return p;
}

/* Reads the number at json->token, in any notation. */
static enum tts_status read_any_number(struct tts_jsonpull *json,
                                       struct tts_jsonpull_token *out, struct tts_error *err)
{
    const unsigned char *p = pass_number_chars(json->token);
    while (p == json->end && !json->at_eof && p - json->token <= TTS_JSONPULL_TEXT_MAX) {
        enum tts_status status = fill_window(json, &p, err);
        if (status != TTS_OK)
            return status;
        p = pass_number_chars(p);
    }
    const unsigned char *end = number_end(json->token);
    if (!end || p - json->token > TTS_JSONPULL_TEXT_MAX) {
        tts_error_set(err, TTS_E_SYNTAX, "not JSON: invalid number");
        return fail_at(json, json->token, err, TTS_E_SYNTAX);
    }
    out->text = (const char *)json->token;
    out->len = (size_t)(end - json->token);
    out->is_whole = tts_number_parse(out->text, out->len, &out->value) == TTS_OK;
    json->at = end;
    return TTS_OK;
}

/* Reads true, false or null at json->token. */
static enum tts_status read_json_word(struct tts_jsonpull *json, struct tts_jsonpull_token *out,
                                      struct tts_error *err)
{
    static const struct {
        const char *text;
        enum tts_jsonpull_kind kind;
    } words[] = {{"true", TTS_JSONPULL_TRUE},
                 {"false", TTS_JSONPULL_FALSE},
                 {"null", TTS_JSONPULL_NULL}};
    const unsigned char *p = json->token;
    while (json->end - json->token < 5 && !json->at_eof) {
        enum tts_status status = fill_window(json, &p, err);
        if (status != TTS_OK)
            return status;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i].text);
        size_t there = (size_t)(json->end - json->token);
        if (there >= len && memcmp(json->token, words[i].text, len) == 0) {
            out->kind = words[i].kind;
            json->at = json->token + len;
            json->expect = TTS_JSONPULL_COMMA;
            return TTS_OK;
        }
        if (there > 0 && there < len && memcmp(json->token, words[i].text, there) == 0)
            return fail_unexpected(json, json->end, expected_text(json), err);
    }
    return fail_unexpected(json, json->token, expected_text(json), err);
}

/* ---- escapes ---- */

enum { REPLACEMENT = 0xfffd, UNIT_BYTES = 6 }; /* U+FFFD; the length of "\uXXXX" */

/* Reads the four hex digits of "\uXXXX" at `at`. Returns false if there is no such escape. */
static bool read_unit(const char *at, const char *end, uint32_t *out)
{
    uint64_t value;
    if (end - at < UNIT_BYTES || at[0] != '\\' || at[1] != 'u' ||
        tts_number_parse_hex(at + 2, UNIT_BYTES - 2, &value) != TTS_OK)
        return false;
    *out = (uint32_t)value;
    return true;
}

static size_t write_utf8(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static uint32_t join_surrogates(uint32_t high, uint32_t low)
{
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* Writes the character of the escape at *at, which points to a backslash, as UTF-8. Moves *at
 * past the escape. Returns the number of bytes written. */
static size_t read_escape(const char **at, const char *end, char out[4])
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    uint32_t unit, low;
    if (read_unit(*at, end, &unit)) {
        *at += UNIT_BYTES;
        bool is_high = unit >= 0xd800 && unit < 0xdc00;
        if (is_high && read_unit(*at, end, &low) && low >= 0xdc00 && low < 0xe000) {
            *at += UNIT_BYTES;
            return write_utf8(join_surrogates(unit, low), out);
        }
        return write_utf8(unit >= 0xd800 && unit < 0xe000 ? REPLACEMENT : unit, out);
    }
    const char *letter =
        end - *at > 1 && (*at)[1] ? memchr(letters, (*at)[1], sizeof letters - 1) : NULL;
    out[0] = letter ? means[letter - letters] : '\\';
    *at += letter ? 2 : 1;
    return 1;
}

size_t tts_jsonpull_text(const struct tts_jsonpull_token *token, char *out, size_t capacity)
{
    assert(token->kind == TTS_JSONPULL_KEY || token->kind == TTS_JSONPULL_STRING);
    const char *at = token->text, *end = at + token->len;
    size_t len = 0;
    while (at < end && len < capacity) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((escape ? escape : end) - at);
        size_t taken = plain < capacity - len ? plain : capacity - len;
        memcpy(out + len, at, taken);
        len += taken;
        at += plain;
        if (at == end || len == capacity)
            break;
        char bytes[4];
        size_t count = read_escape(&at, end, bytes);
        for (size_t i = 0; i < count && len < capacity; i++)
            out[len++] = bytes[i];
    }
    return len;
}

/* ---- between tokens ---- */

/* Moves json->at to the next token: to the next byte that is not a blank, or to the end of the
 * input. */
static TTS_FORCE_INLINE enum tts_status find_token(struct tts_jsonpull *json,
                                                   struct tts_error *err)
{
    const unsigned char *p = json->at;
    json->gap = 0;
    for (;;) {
        p = pass_json_blanks(p);
        json->token = json->at = p;
        if (TTS_LIKELY(p < json->end) || json->at_eof)
            return TTS_OK;
        enum tts_status status = fill_window(json, &p, err);
        if (status != TTS_OK)
            return status;
    }
}

/* Returns true if the byte at json->at is `c`. The '"' that was put after the end of the window
 * does not count. */
static TTS_FORCE_INLINE bool is_at_char(const struct tts_jsonpull *json, unsigned char c)
{
    return *json->at == c && (c != '"' || json->at < json->end);
}

/* Moves past a comma to the next key, value or closing bracket. */
static TTS_FORCE_INLINE enum tts_status step_to_token(struct tts_jsonpull *json,
                                                      struct tts_error *err)
{
    enum tts_status status = find_token(json, err);
    if (status != TTS_OK || json->expect != TTS_JSONPULL_COMMA || json->depth == 0 ||
        !is_at_char(json, ','))
        return status;
    json->at++;
    json->expect = is_in_object(json) ? TTS_JSONPULL_NEXT_KEY : TTS_JSONPULL_VALUE;
    return find_token(json, err);
}

static enum tts_status enter_level(struct tts_jsonpull *json, bool is_object,
                                   struct tts_error *err)
{
    if (json->depth == TTS_JSONPULL_DEPTH_MAX) {
        tts_error_set(err, TTS_E_RANGE, "the JSON is nested deeper than %d levels",
                      TTS_JSONPULL_DEPTH_MAX);
        return fail_at(json, json->at, err, TTS_E_RANGE);
    }
    uint64_t bit = UINT64_C(1) << json->depth % 64, *word = &json->is_object[json->depth / 64];
    *word = is_object ? *word | bit : *word & ~bit;
    json->depth++;
    json->expect = is_object ? TTS_JSONPULL_FIRST_KEY : TTS_JSONPULL_FIRST;
    json->at++;
    return TTS_OK;
}

static void leave_level(struct tts_jsonpull *json)
{
    assert(json->depth > 0);
    json->depth--;
    json->expect = TTS_JSONPULL_COMMA;
    json->at++;
}

/* ---- strings ---- */

/* Reads more bytes for a string that does not end before *p. Removes the bytes of the string
 * before *p. If `keeps` is true, the first TTS_JSONPULL_TEXT_MAX bytes of the string stay. */
static enum tts_status read_string_on(struct tts_jsonpull *json, bool keeps,
                                      const unsigned char **p, struct tts_error *err)
{
    if (json->at_eof) {
        tts_error_set(err, TTS_E_SYNTAX, "the JSON ends in the middle of a string");
        return fail_at(json, json->end, err, TTS_E_SYNTAX);
    }
    if (!keeps) {
        json->token = json->at = *p;
    } else if (is_window_full(json)) {
        const unsigned char *from = json->token + 1 + TTS_JSONPULL_TEXT_MAX;
        assert(from < *p);
        drop_bytes(json, from, *p);
        *p = from;
    }
    return fill_window(json, p, err);
}

/* Moves *p from the first byte of the string to its closing quote. */
static TTS_FORCE_INLINE enum tts_status find_string_end(struct tts_jsonpull *json, bool keeps,
                                                        const unsigned char **p,
                                                        struct tts_error *err)
{
    for (;;) {
        *p = find_quote(*p);
        if (TTS_LIKELY(**p == '"' && *p < json->end))
            return TTS_OK;
        if (**p == '\\' && *p + 1 < json->end) {
            *p += 2;
            continue;
        }
        enum tts_status status = read_string_on(json, keeps, p, err);
        if (status != TTS_OK)
            return status;
    }
}

static TTS_FORCE_INLINE enum tts_status
read_string(struct tts_jsonpull *json, struct tts_jsonpull_token *out, struct tts_error *err)
{
    assert(json->at == json->token);
    const unsigned char *p = json->token + 1;
    enum tts_status status = find_string_end(json, true, &p, err);
    if (status != TTS_OK)
        return status;
    uint64_t len = (uint64_t)(p - json->token - 1) + json->gap;
    out->is_cut = len > TTS_JSONPULL_TEXT_MAX;
    out->len = out->is_cut ? TTS_JSONPULL_TEXT_MAX : (size_t)len;
    json->at = p + 1;
    return TTS_OK;
}

static enum tts_status skip_string(struct tts_jsonpull *json, struct tts_error *err)
{
    const unsigned char *p = json->at + 1;
    enum tts_status status = find_string_end(json, false, &p, err);
    if (status == TTS_OK)
        json->at = p + 1;
    return status;
}

/* Reads the blanks and the colon after a key. Removes the blanks from the window, so that the
 * key stays in the window however many blanks follow. */
static enum tts_status read_colon(struct tts_jsonpull *json, struct tts_error *err)
{
    const unsigned char *p = json->at;
    for (;;) {
        p = pass_json_blanks(p);
        if (*p == ':') {
            json->at = p + 1;
            return TTS_OK;
        }
        if (p < json->end || json->at_eof)
            return fail_unexpected(json, p, "':' after a key", err);
        uint64_t gap = json->gap;
        p = json->at;
        drop_bytes(json, p, json->end);
        json->gap = gap;
        /* Only the beginning of a long key is kept. */
        const unsigned char *text_end = json->token + 1 + TTS_JSONPULL_TEXT_MAX;
        if (p > text_end) {
            drop_bytes(json, text_end, p);
            p = text_end;
            json->at = p;
        }
        enum tts_status status = fill_window(json, &p, err);
        if (status != TTS_OK)
            return status;
    }
}

static TTS_FORCE_INLINE enum tts_status
read_key(struct tts_jsonpull *json, struct tts_jsonpull_token *out, struct tts_error *err)
{
    out->kind = TTS_JSONPULL_KEY;
    enum tts_status status = read_string(json, out, err);
    if (status == TTS_OK && TTS_LIKELY(*json->at == ':'))
        json->at++;
    else if (status == TTS_OK)
        status = read_colon(json, err);
    out->text = (const char *)json->token + 1;
    json->expect = TTS_JSONPULL_VALUE;
    return status;
}

/* Reads a number. Most numbers are whole and so short that they certainly fit into 64 bits. All
 * others go to read_any_number(). */
static TTS_FORCE_INLINE enum tts_status read_short_number(struct tts_jsonpull *json,
                                                          struct tts_jsonpull_token *out,
                                                          struct tts_error *err)
{
    enum { SURE_DIGITS = 19 };
    const unsigned char *p = json->token;
    uint64_t value = 0;
    out->kind = TTS_JSONPULL_NUMBER;
    json->expect = TTS_JSONPULL_COMMA;
    for (; is_json_digit(*p) && p - json->token < SURE_DIGITS; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    bool is_sure = p < json->end && !is_json_digit(*p) && *p != '.' && *p != 'e' && *p != 'E' &&
                   p > json->token && (*json->token != '0' || p == json->token + 1);
    if (TTS_UNLIKELY(!is_sure))
        return read_any_number(json, out, err);
    out->text = (const char *)json->token;
    out->len = (size_t)(p - json->token);
    out->is_whole = true;
    out->value = value;
    json->at = p;
    return TTS_OK;
}

/* ---- values ---- */

static TTS_FORCE_INLINE enum tts_status read_token_value(struct tts_jsonpull *json,
                                                         struct tts_jsonpull_token *out,
                                                         struct tts_error *err)
{
    unsigned char c = *json->at;
    enum tts_status status;
    if (is_at_char(json, '"')) {
        out->kind = TTS_JSONPULL_STRING;
        status = read_string(json, out, err);
        out->text = (const char *)json->token + 1;
        json->expect = TTS_JSONPULL_COMMA;
        return status;
    }
    if (is_json_digit(c) || c == '-')
        return read_short_number(json, out, err);
    if (c == '{' || c == '[') {
        out->kind = c == '{' ? TTS_JSONPULL_OBJECT : TTS_JSONPULL_ARRAY;
        return enter_level(json, c == '{', err);
    }
    if (c == ']' && json->expect == TTS_JSONPULL_FIRST) {
        out->kind = TTS_JSONPULL_ARRAY_END;
        leave_level(json);
        return TTS_OK;
    }
    return read_json_word(json, out, err);
}

static enum tts_status read_level_end(struct tts_jsonpull *json, struct tts_jsonpull_token *out,
                                      struct tts_error *err)
{
    if (json->depth == 0 && json->at == json->end) {
        out->kind = TTS_JSONPULL_END;
        return TTS_OK;
    }
    if (json->depth == 0 || !is_at_char(json, is_in_object(json) ? '}' : ']'))
        return fail_unexpected(json, json->at, expected_text(json), err);
    out->kind = is_in_object(json) ? TTS_JSONPULL_OBJECT_END : TTS_JSONPULL_ARRAY_END;
    leave_level(json);
    return TTS_OK;
}

enum tts_status tts_jsonpull_next(struct tts_jsonpull *json, struct tts_jsonpull_token *out,
                                  struct tts_error *err)
{
    enum tts_status status = step_to_token(json, err);
    if (status != TTS_OK)
        return status;
    switch (json->expect) {
    case TTS_JSONPULL_FIRST_KEY:
        if (is_at_char(json, '}')) {
            out->kind = TTS_JSONPULL_OBJECT_END;
            leave_level(json);
            return TTS_OK;
        }
        __attribute__((fallthrough));
    case TTS_JSONPULL_NEXT_KEY:
        if (!is_at_char(json, '"'))
            return fail_unexpected(json, json->at, expected_text(json), err);
        return read_key(json, out, err);
    case TTS_JSONPULL_VALUE:
    case TTS_JSONPULL_FIRST:
        return read_token_value(json, out, err);
    case TTS_JSONPULL_COMMA:
        break;
    }
    return read_level_end(json, out, err);
}

/* Handles the usual form: a comma, some blanks, and a key without escapes directly followed by
 * the colon. All other forms go to tts_jsonpull_next(). */
enum tts_status tts_jsonpull_key(struct tts_jsonpull *json, struct tts_jsonpull_token *out,
                                 struct tts_error *err)
{
    assert(is_in_object(json));
    const unsigned char *p = json->at;
    bool is_first = json->expect == TTS_JSONPULL_FIRST_KEY;
    if (TTS_UNLIKELY(!is_first && *p != ','))
        return tts_jsonpull_next(json, out, err);
    p = pass_json_blanks(p + !is_first);
    if (TTS_UNLIKELY(*p != '"' || p >= json->end))
        return tts_jsonpull_next(json, out, err);
    const unsigned char *end = find_quote(p + 1);
    if (TTS_UNLIKELY(end >= json->end || end[0] != '"' || end[1] != ':' ||
                     end - p > TTS_JSONPULL_TEXT_MAX))
        return tts_jsonpull_next(json, out, err);
    json->token = p;
    json->gap = 0;
    json->at = end + 2;
    json->expect = TTS_JSONPULL_VALUE;
    out->kind = TTS_JSONPULL_KEY;
    out->text = (const char *)p + 1;
    out->len = (size_t)(end - p - 1);
    out->is_cut = false;
    return TTS_OK;
}

/* ---- skipping ---- */

/* Enters or leaves a level at the bracket at json->at. Fails if the byte there is not allowed
 * outside strings. */
static TTS_FORCE_INLINE enum tts_status pass_bracket(struct tts_jsonpull *json,
                                                     struct tts_error *err)
{
    unsigned char c = *json->at;
    if (c == '{' || c == '[')
        return enter_level(json, c == '{', err);
    if (c != (is_in_object(json) ? '}' : ']'))
        return fail_unexpected(json, json->at, is_in_object(json) ? "'}'" : "']'", err);
    leave_level(json);
    return TTS_OK;
}

/* Returns the quotes of a block that are not escaped. On entry *carries says whether the first
 * byte of the block is escaped. On return it says whether the first byte after the block is
 * escaped. */
static TTS_FORCE_INLINE uint64_t real_quotes(struct tts_jsonpull_block block, bool *carries)
{
    if (TTS_LIKELY(block.escapes == 0 && !*carries))
        return block.quotes;
    uint64_t quotes = block.quotes, escapes = block.escapes;
    if (*carries) {
        quotes &= ~UINT64_C(1);
        escapes &= ~UINT64_C(1);
    }
    *carries = false;
    while (escapes) {
        uint64_t next = (escapes & -escapes) << 1; /* the byte after the first escape */
        *carries = next == 0;
        quotes &= ~next;
        escapes &= (escapes - 1) & ~next;
    }
    return quotes;
}

/* Passes the brackets in `hits` until the depth is `outside`. Bit i of `hits` stands for the
 * byte p[i]. */
static enum tts_status pass_brackets(struct tts_jsonpull *json, const unsigned char *p,
                                     uint64_t hits, uint32_t outside, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    for (; hits && json->depth > outside && status == TTS_OK; hits &= hits - 1) {
        json->token = json->at = p + __builtin_ctzll(hits);
        status = pass_bracket(json, err);
    }
    return status;
}

/* Passes 64 bytes at a time, beginning at the opening quote of a string. Stops at the end of
 * the level, or if fewer than 64 bytes are left in the window. */
static enum tts_status leave_blocks(struct tts_jsonpull *json, uint32_t outside,
                                    struct tts_error *err)
{
    const unsigned char *p = json->at;
    uint64_t in_string = 0; /* all bits are set if the next block begins inside a string */
    bool carries = false;
    for (; json->end - p >= 64; p += 64) {
        struct tts_jsonpull_block block = scan_block(p);
        uint64_t inside = prefix_parity(real_quotes(block, &carries)) ^ in_string;
        uint64_t hits = block.brackets & ~inside;
        in_string = (uint64_t)0 - (inside >> 63);
        if (TTS_LIKELY(hits == 0))
            continue;
        enum tts_status status = pass_brackets(json, p, hits, outside, err);
        if (status != TTS_OK || json->depth == outside)
            return status;
    }
    json->token = json->at = p;
    if (!in_string)
        return TTS_OK;
    p -= carries;
    enum tts_status status = find_string_end(json, false, &p, err);
    json->at = p + (status == TTS_OK);
    return status;
}

enum tts_status tts_jsonpull_leave(struct tts_jsonpull *json, struct tts_error *err)
{
    assert(json->depth > 0);
    uint32_t outside = json->depth - 1;
    enum tts_status status = TTS_OK;
    json->gap = 0;
    while (status == TTS_OK && json->depth > outside) {
        const unsigned char *p = find_bracket(json->at);
        json->token = json->at = p;
        if (TTS_LIKELY(*p != '"'))
            status = pass_bracket(json, err);
        else if (TTS_LIKELY(json->end - p >= 64))
            status = leave_blocks(json, outside, err);
        else if (p < json->end)
            status = skip_string(json, err);
        else if (json->at_eof)
            status = fail_unexpected(json, p, is_in_object(json) ? "'}'" : "']'", err);
        else
            status = fill_window(json, &p, err);
    }
    return status;
}

/* Skips an empty array or a number, if all of it is in the window. Most skipped values are of
 * these two kinds. Returns false if nothing was skipped. */
static TTS_FORCE_INLINE bool skip_short_value(struct tts_jsonpull *json)
{
    const unsigned char *p = pass_json_blanks(json->at);
    if (p[0] == '[' && p[1] == ']') {
        p += 2;
    } else {
        const unsigned char *digits = p;
        while (is_json_digit(*p))
            p++;
        if (p == digits || (*digits == '0' && p > digits + 1) || (*p != ',' && *p != '}'))
            return false;
    }
    json->token = json->at = p;
    json->expect = TTS_JSONPULL_COMMA;
    return true;
}

enum tts_status tts_jsonpull_skip(struct tts_jsonpull *json, struct tts_error *err)
{
    if (TTS_LIKELY(json->expect == TTS_JSONPULL_VALUE) && skip_short_value(json))
        return TTS_OK;
    enum tts_status status = step_to_token(json, err);
    if (status != TTS_OK)
        return status;
    if (json->expect != TTS_JSONPULL_VALUE && json->expect != TTS_JSONPULL_FIRST)
        return fail_unexpected(json, json->at, "a value", err);
    if (is_at_char(json, '"')) {
        json->expect = TTS_JSONPULL_COMMA;
        return skip_string(json, err);
    }
    struct tts_jsonpull_token token;
    status = read_token_value(json, &token, err);
    if (status != TTS_OK)
        return status;
    if (token.kind == TTS_JSONPULL_ARRAY_END)
        return fail_unexpected(json, json->token, "a value", err);
    bool is_open = token.kind == TTS_JSONPULL_OBJECT || token.kind == TTS_JSONPULL_ARRAY;
    return is_open ? tts_jsonpull_leave(json, err) : TTS_OK;
}
