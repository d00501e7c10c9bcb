#include "sources/log/logtext.h"

#include "base/bytes16.h"
#include "base/error.h"
#include "sources/log/logkey.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    PAD = 64, /* zeroed bytes after the window, so that loads of 16 bytes and searches may read
                 there */
    CHUNK = 256 * 1024,
    ROOM_MIN = 64 * 1024, /* if less room is free, the content moves before a read */
};

static_assert((int)CHUNK >= (int)ROOM_MIN, "there is room after a move");
static_assert((int)CHUNK - (int)ROOM_MIN >= (int)TTS_LOGSEARCH_AHEAD, "also after a search");
static_assert((int)PAD >= (int)TTS_LOGSEARCH_MAX, "a search may read the bytes after the end");

static enum tts_status open_text_window(struct tts_logtext *text, const char *path, size_t back,
                                        size_t line_max, const struct tts_alloc *alloc,
                                        struct tts_error *err)
{
    size_t capacity = back + line_max + CHUNK;
    unsigned char *bytes = alloc->alloc(alloc->ctx, capacity + PAD);
    if (!bytes)
        return tts_error_set_errno(err, TTS_E_NOMEM, ENOMEM, "cannot read '%s'", path);
    memset(bytes, 0, PAD); /* after each read, the bytes after its end are zeroed again */
    *text = (struct tts_logtext){.alloc = alloc,
                                 .bytes = bytes,
                                 .line_max = line_max,
                                 .back = back,
                                 .capacity = capacity,
                                 .count = {.at = bytes}};
    return TTS_OK;
}

enum tts_status tts_logtext_open_fed(struct tts_logtext *text, const char *path, size_t back,
                                     const struct tts_alloc *alloc, struct tts_error *err)
{
    return open_text_window(text, path, back, TTS_LOGLINE_MAX, alloc, err);
}

enum tts_status tts_logtext_open_long(struct tts_logtext *text, struct tts_input *in,
                                      size_t line_max, const struct tts_alloc *alloc,
                                      struct tts_error *err)
{
    enum tts_status status =
        open_text_window(text, tts_input_path(in), TTS_LOGTEXT_BACK, line_max, alloc, err);
    if (status == TTS_OK)
        text->in = in;
    return status;
}

enum tts_status tts_logtext_open_back(struct tts_logtext *text, struct tts_input *in,
                                      size_t back, const struct tts_alloc *alloc,
                                      struct tts_error *err)
{
    enum tts_status status = tts_logtext_open_fed(text, tts_input_path(in), back, alloc, err);
    if (status == TTS_OK)
        text->in = in;
    return status;
}

enum tts_status tts_logtext_open(struct tts_logtext *text, struct tts_input *in,
                                 const struct tts_alloc *alloc, struct tts_error *err)
{
    return tts_logtext_open_back(text, in, TTS_LOGTEXT_BACK, alloc, err);
}

void tts_logtext_close(struct tts_logtext *text)
{
    if (text->bytes)
        text->alloc->free(text->alloc->ctx, text->bytes, text->capacity + PAD);
    *text = (struct tts_logtext){0};
}

/* ---- line ends ---- */

static const unsigned char *find_line_end(const unsigned char *at, const unsigned char *end)
{
    for (; at < end; at += 16) {
        tts_bytes16 bytes = tts_bytes16_load(at);
        unsigned first =
            tts_bytes16_first((tts_bytes16)(bytes == '\n') | (tts_bytes16)(bytes == '\r'));
        if (first < 16)
            return at + first < end ? at + first : end;
    }
    return end;
}

static void count_line_ends(struct tts_logcount *count, const unsigned char *end)
{
    const unsigned char *at = count->at;
    tts_bytes16 nuls = {0};
    while (end - at >= 16) {
        tts_bytes16 sums = {0};
        for (int i = 0; i < 255 && end - at >= 16; i++, at += 16) {
            tts_bytes16 bytes = tts_bytes16_load(at);
            sums -= (tts_bytes16)(bytes == '\n');
            nuls |= (tts_bytes16)(bytes == 0);
        }
        count->line_ends += tts_bytes16_sum(sums);
    }
    bool has_nul = tts_bytes16_mask(nuls) != 0;
    for (; at < end; at++) {
        count->line_ends += *at == '\n';
        has_nul = has_nul || *at == 0;
    }
    count->has_nul = count->has_nul || has_nul;
    count->at = at;
}

/* ---- the window ---- */

static void count_text_to(struct tts_logtext *text, size_t at)
{
    assert(at <= text->end);
    if (text->count.at < text->bytes + at)
        count_line_ends(&text->count, text->bytes + at);
}

/* Drops the bytes before the current line, except the last `back` bytes, and moves the rest to
 * the beginning of the window. */
static void move_text_window(struct tts_logtext *text)
{
    size_t gone = text->at > text->back ? text->at - text->back : 0;
    count_text_to(text, gone);
    memmove(text->bytes, text->bytes + gone, text->end - gone);
    text->gone += gone;
    text->at -= gone;
    text->end -= gone;
    text->count.at -= gone;
    text->no_line_for = text->no_line_for > gone ? text->no_line_for - gone : 0;
}

static void look_for_utf16(struct tts_logtext *text)
{
    const unsigned char *bytes = text->bytes;
    text->is_utf16 = text->end >= 2 && ((bytes[0] == 0xff && bytes[1] == 0xfe) ||
                                        (bytes[0] == 0xfe && bytes[1] == 0xff));
}

static size_t read_text_input(struct tts_logtext *text)
{
    size_t got = 0;
    text->status = tts_input_read(text->in, text->bytes + text->end, text->capacity - text->end,
                                  &got, &text->err);
    text->is_end = text->status != TTS_OK || got == 0;
    if (text->tap) {
        struct tts_logcount count = text->count;
        count_line_ends(&count, text->bytes + text->end);
        struct tts_logpiece piece = {text->bytes + text->end, got, count.line_ends};
        text->tap(text->tap_ctx, &piece);
    }
    return got;
}

static size_t take_fed_bytes(struct tts_logtext *text)
{
    size_t room = text->capacity - text->end, got = text->fed.len < room ? text->fed.len : room;
    memcpy(text->bytes + text->end, text->fed.at, got);
    text->fed = (struct tts_span){text->fed.at + got, text->fed.len - got};
    return got;
}

/* Reads once. Returns false at the end of the input, and if fed bytes are used up. */
static bool fill_text_window(struct tts_logtext *text)
{
    if (text->is_end)
        return false;
    if (!text->in && text->fed.len == 0) {
        text->is_end = text->is_fed_whole;
        return false;
    }
    bool is_first = text->gone == 0 && text->end == 0;
    if (text->capacity - text->end < ROOM_MIN)
        move_text_window(text);
    assert(text->capacity - text->end >= ROOM_MIN);
    text->end += text->in ? read_text_input(text) : take_fed_bytes(text);
    memset(text->bytes + text->end, 0, PAD);
    if (is_first)
        look_for_utf16(text);
    if (text->tick)
        text->tick(text->tick_ctx, tts_input_taken(text->in));
    return !text->is_end;
}

void tts_logtext_feed(struct tts_logtext *text, const struct tts_logpiece *piece)
{
    assert(!text->in && text->fed.len == 0);
    text->fed = (struct tts_span){piece->bytes, piece->len};
    text->is_fed_whole = text->is_fed_whole || piece->len == 0;
    text->count.at = text->bytes + text->end; /* the lines before are counted already */
    text->count.line_ends = piece->line_ends;
}

/* ---- lines ---- */

/* Returns the length of the line end at `at`: "\n" and "\r" have one byte, "\r\n" has two. */
static size_t text_line_end_len(const struct tts_logtext *text, size_t at)
{
    bool is_two = text->bytes[at] == '\r' && at + 1 < text->end && text->bytes[at + 1] == '\n';
    return is_two ? 2 : 1;
}

/* Returns true if the whole line end at `at` is in the window. After a "\r" the next byte must
 * be known, because it may be "\n". */
static bool has_text_line_end(const struct tts_logtext *text, size_t at)
{
    return at < text->end && (text->bytes[at] != '\r' || at + 1 < text->end || text->is_end);
}

static bool take_text_line(struct tts_logtext *text, struct tts_span *out)
{
    size_t searched = 0;
    for (;;) {
        const unsigned char *line = text->bytes + text->at;
        size_t have = text->end - text->at;
        size_t len = (size_t)(find_line_end(line + searched, line + have) - line);
        bool is_ended = has_text_line_end(text, text->at + len);
        text->skips_rest = len > text->line_max;
        if (is_ended || text->skips_rest || (text->is_end && have > 0)) {
            if (text->skips_rest)
                len = text->line_max;
            *out = (struct tts_span){(const char *)line, len};
            text->at += len;
            if (is_ended && !text->skips_rest)
                text->at += text_line_end_len(text, text->at);
            return true;
        }
        searched = len;
        if (!fill_text_window(text) && have == 0)
            return false;
    }
}

static void skip_line_rest(struct tts_logtext *text)
{
    while (text->skips_rest) {
        text->at = (size_t)(find_line_end(text->bytes + text->at, text->bytes + text->end) -
                            text->bytes);
        if (has_text_line_end(text, text->at)) {
            text->at += text_line_end_len(text, text->at);
            text->skips_rest = false;
        } else if (!fill_text_window(text) && text->at == text->end) {
            text->skips_rest = false;
        }
    }
}

bool tts_logtext_raw(struct tts_logtext *text, struct tts_span *out)
{
    skip_line_rest(text);
    return take_text_line(text, out);
}

bool tts_logtext_is_cut(const struct tts_logtext *text)
{
    return text->skips_rest;
}

/* Returns true if a lone "\r" ends the line: a terminal then writes the next line over this
 * one. */
static bool is_line_overwritten(const struct tts_logtext *text, struct tts_span raw)
{
    const char *end = raw.at + raw.len, *window_end = (const char *)text->bytes + text->end;
    return end + 1 < window_end && end[0] == '\r' && end[1] != '\r' && end[1] != '\n';
}

bool tts_logtext_next(struct tts_logtext *text, struct tts_logtext_line *out)
{
    struct tts_span raw;
    if (!tts_logtext_raw(text, &raw))
        return false;
    *out = (struct tts_logtext_line){.number = tts_logtext_line(text, raw.at),
                                     .offset = tts_logtext_offset(text, raw.at),
                                     .raw = raw,
                                     .is_cut = text->skips_rest,
                                     .is_overwritten = is_line_overwritten(text, raw)};
    out->text = tts_logline_clean(raw, text->clean);
    tts_logkey_split(out->text, &out->prefix, &out->rank, &out->text);
    return true;
}

/* ---- lines of interest ---- */

static bool is_text_word(const struct tts_logtext *text, const struct tts_logscan *scan,
                         size_t at)
{
    char word[TTS_LOGSCAN_HEAD + TTS_LOGSCAN_TAIL] = {0};
    size_t head = at < TTS_LOGSCAN_HEAD ? at : TTS_LOGSCAN_HEAD;
    memcpy(word + TTS_LOGSCAN_HEAD - head, text->bytes + at - head, head + TTS_LOGSCAN_TAIL);
    return scan->is_word(word);
}

/* Finds the beginning of the line that contains `at`. Returns false if the line begins more
 * than TTS_LOGLINE_MAX bytes before `at`. */
static bool find_line_begin(struct tts_logtext *text, size_t at, size_t *out)
{
    size_t least = at > TTS_LOGLINE_MAX ? at - TTS_LOGLINE_MAX : 0;
    least = least < text->no_line_for ? text->no_line_for : least;
    for (size_t begin = at; begin > least; begin--) {
        unsigned char before = text->bytes[begin - 1];
        if (before == '\n' || before == '\r') {
            *out = begin;
            return true;
        }
    }
    *out = 0;
    if (text->gone == 0 && least == 0)
        return true;
    text->no_line_for = at;
    return false;
}

/* Returns the end of the bytes that can be searched now. A word near the end of the window can
 * be compared only when the bytes after it have been read. */
static size_t find_words_end(const struct tts_logtext *text)
{
    if (text->is_end)
        return text->end;
    return text->end > TTS_LOGSCAN_TAIL ? text->end - TTS_LOGSCAN_TAIL : 0;
}

bool tts_logtext_find(struct tts_logtext *text, const struct tts_logscan *scan,
                      struct tts_span *out)
{
    skip_line_rest(text);
    for (;;) {
        size_t end = find_words_end(text), line;
        if (text->at >= end) {
            if (!fill_text_window(text) && text->at >= text->end)
                return false;
            continue;
        }
        count_text_to(text, text->at);
        assert(text->count.at == text->bytes + text->at);
        const unsigned char *hit = scan->find(&text->count, text->bytes + end);
        text->at = (size_t)(hit - text->bytes);
        if (text->at == end)
            continue;
        if (is_text_word(text, scan, text->at) && find_line_begin(text, text->at, &line)) {
            text->at = line;
            return take_text_line(text, out);
        }
        text->at++;
    }
}

bool tts_logtext_search(struct tts_logtext *text, tts_logsearch *find, const void *ctx,
                        size_t ahead, struct tts_span *out)
{
    assert(ahead <= TTS_LOGSEARCH_AHEAD);
    for (;;) {
        size_t tail = text->is_end ? 0 : TTS_LOGSEARCH_MAX;
        size_t end = text->end > tail ? text->end - tail : 0;
        if (text->at < end)
            text->at =
                (size_t)(find(ctx, text->bytes + text->at, text->bytes + end) - text->bytes);
        if (text->at < end)
            break;
        if (!fill_text_window(text) && (text->at >= text->end || !text->is_end))
            return false;
    }
    while (text->end - text->at < ahead && fill_text_window(text)) {
    }
    if (text->end - text->at < ahead && !text->is_end)
        return false;
    *out = (struct tts_span){(const char *)text->bytes + text->at, text->end - text->at};
    return true;
}

bool tts_logtext_resume(struct tts_logtext *text)
{
    if (text->status != TTS_OK || !tts_input_resume(text->in))
        return false;
    text->is_end = false;
    fill_text_window(text);
    return true;
}

/* The count may already be past the place: the word of the line comes later, or the end of the
 * text was counted before the text grew. */
uint64_t tts_logtext_line(struct tts_logtext *text, const char *line)
{
    const unsigned char *at = (const unsigned char *)line, *end = text->count.at;
    uint64_t passed = 0;
    count_text_to(text, (size_t)(at - text->bytes));
    for (; at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        passed++;
    return text->count.line_ends - passed + 1;
}

uint64_t tts_logtext_offset(const struct tts_logtext *text, const char *line)
{
    return text->gone + (uint64_t)((const unsigned char *)line - text->bytes);
}

uint64_t tts_logtext_tell(const struct tts_logtext *text)
{
    return text->gone + text->at;
}

const char *tts_logtext_at(const struct tts_logtext *text, uint64_t offset)
{
    assert(offset >= text->gone && offset - text->gone <= text->end);
    return (const char *)text->bytes + (offset - text->gone);
}

void tts_logtext_unread(struct tts_logtext *text, const char *line)
{
    text->at = (size_t)((const unsigned char *)line - text->bytes);
    text->skips_rest = false;
}

enum tts_status tts_logtext_finish(struct tts_logtext *text, struct tts_error *err)
{
    count_text_to(text, text->end);
    if (err) {
        uint64_t line = text->count.line_ends + 1;
        *err = text->err;
        err->line = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
        err->offset = text->gone + text->end;
    }
    return text->status;
}

struct tts_logtext_facts tts_logtext_facts(const struct tts_logtext *text)
{
    bool is_open = text->end > 0 && text->bytes[text->end - 1] != '\n';
    return (struct tts_logtext_facts){.lines = text->count.line_ends + is_open,
                                      .bytes = text->gone + text->end,
                                      .has_nul = text->count.has_nul,
                                      .is_utf16 = text->is_utf16};
}

void tts_logtext_on_read(struct tts_logtext *text,
                         void (*tap)(void *ctx, const struct tts_logpiece *piece), void *ctx)
{
    text->tap = tap;
    text->tap_ctx = ctx;
}

void tts_logtext_on_tick(struct tts_logtext *text, void (*tick)(void *ctx, uint64_t taken),
                         void *ctx)
{
    text->tick = tick;
    text->tick_ctx = ctx;
}

/* ---- text before a line ---- */

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

struct tts_span tts_logtext_before(const struct tts_logtext *text, const char *line,
                                   size_t bytes)
{
    const char *low = (const char *)text->bytes;
    size_t have = (size_t)(line - low);
    const char *from = have > bytes ? line - bytes : low;
    bool is_whole = from > low ? is_line_end(from[-1]) : text->gone == 0;
    while (!is_whole && from < line)
        is_whole = is_line_end(*from++);
    return (struct tts_span){from, (size_t)(line - from)};
}

bool tts_logtext_last(struct tts_span *all, struct tts_span *line)
{
    if (all->len == 0)
        return false;
    size_t end = is_line_end(all->at[all->len - 1]) ? all->len - 1 : all->len;
    if (end > 0 && end < all->len && all->at[end] == '\n' && all->at[end - 1] == '\r')
        end--;
    size_t begin = end;
    while (begin > 0 && !is_line_end(all->at[begin - 1]))
        begin--;
    *line = (struct tts_span){all->at + begin, end - begin};
    all->len = begin;
    return true;
}

struct tts_span tts_logtext_first(struct tts_span *all)
{
    const unsigned char *at = (const unsigned char *)all->at;
    size_t len = (size_t)(find_line_end(at, at + all->len) - at);
    struct tts_span line = {all->at, len}, rest = {all->at + len, all->len - len};
    size_t line_end = tts_span_begins(rest, "\r\n") ? 2 : rest.len > 0;
    *all = (struct tts_span){rest.at + line_end, rest.len - line_end};
    return line;
}

/* ---- escape sequences ---- */

static bool is_byte_between(char c, int low, int high)
{
    unsigned char byte = (unsigned char)c;
    return byte >= low && byte <= high;
}

static size_t skip_byte_range(struct tts_span line, size_t at, int low, int high)
{
    while (at < line.len && is_byte_between(line.at[at], low, high))
        at++;
    return at;
}

/* Returns the end of a title or a link, which BEL or ESC '\' terminates. Returns `begin` if the
 * terminator is missing. */
static size_t skip_escape_command(struct tts_span line, size_t begin)
{
    for (size_t at = begin; at < line.len; at++) {
        if (line.at[at] == '\a')
            return at + 1;
        if (line.at[at] == 0x1b)
            return at + 1 < line.len && line.at[at + 1] == '\\' ? at + 2 : begin;
    }
    return begin;
}

/* Returns the end of the escape sequence whose ESC is at `at` - 1. */
static size_t skip_escape_sequence(struct tts_span line, size_t at)
{
    if (at < line.len && line.at[at] == ']')
        return skip_escape_command(line, at + 1);
    bool is_control = at < line.len && line.at[at] == '[';
    if (is_control)
        at = skip_byte_range(line, at + 1, 0x30, 0x3f);
    at = skip_byte_range(line, at, is_control ? 0x20 : 0x21, 0x2f);
    return at < line.len && is_byte_between(line.at[at], 0x30, 0x7e) ? at + 1 : at;
}

size_t tts_logline_escape_len(struct tts_span text)
{
    return skip_escape_sequence(text, 1);
}

struct tts_span tts_logline_clean(struct tts_span line, char out[TTS_LOGLINE_MAX])
{
    if (tts_span_begins(line, "\xef\xbb\xbf"))
        line = (struct tts_span){line.at + 3, line.len - 3};
    assert(line.len <= TTS_LOGLINE_MAX);
    if (!memchr(line.at, 0x1b, line.len))
        return line;
    size_t len = 0;
    for (size_t at = 0; at < line.len;) {
        if (line.at[at] == 0x1b)
            at = skip_escape_sequence(line, at + 1);
        else
            out[len++] = line.at[at++];
    }
    return (struct tts_span){out, len};
}
