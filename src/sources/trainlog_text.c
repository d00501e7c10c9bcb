#include "sources/trainlog_inside.h"

#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    PAD = 64,             /* behind the window, for what is compared 16 bytes at once */
    ROOM_MIN = 64 * 1024, /* less than this is not worth a read: the window moves first */
    WINDOW_BYTES = TTS_LOGTEXT_BACK + TTS_LOGLINE_MAX + TTS_LOGTEXT_CHUNK,
    /* Of a word, before the letter that is looked for, and from it on. */
    WORD_HEAD = 3,
    WORD_TAIL = 3,
};

static_assert(TTS_LOGTEXT_BACK >= TTS_LOGLINE_MAX + TTS_TRAINLOG_LOOK_BACK,
              "the lines before one of interest are in the window");
static_assert((int)TTS_LOGTEXT_CHUNK >= (int)ROOM_MIN, "there is room after a move");

enum tts_status tts_logtext_open(struct tts_logtext *text, const char *path,
                                 const struct tts_alloc *alloc, struct tts_error *err)
{
    struct tts_inflow *in = NULL;
    enum tts_status status = tts_inflow_open(path, alloc, &in, err);
    if (status != TTS_OK)
        return status;
    unsigned char *bytes = alloc->alloc(alloc->ctx, WINDOW_BYTES + PAD);
    if (!bytes) {
        tts_inflow_close(in);
        return tts_error_set_errno(err, TTS_E_NOMEM, ENOMEM, "cannot read '%s'", path);
    }
    memset(bytes, 0, WINDOW_BYTES + PAD);
    *text =
        (struct tts_logtext){.alloc = alloc, .in = in, .bytes = bytes, .count = {.at = bytes}};
    return TTS_OK;
}

void tts_logtext_close(struct tts_logtext *text)
{
    tts_inflow_close(text->in);
    text->alloc->free(text->alloc->ctx, text->bytes, WINDOW_BYTES + PAD);
    *text = (struct tts_logtext){0};
}

/* ---- the window ---- */

static void count_to(struct tts_logtext *text, size_t at)
{
    assert(at <= text->end);
    if (text->count.at < text->bytes + at)
        tts_logscan_count(&text->count, text->bytes + at);
}

/* Drops what is far behind. */
static void move(struct tts_logtext *text)
{
    size_t gone = text->at > TTS_LOGTEXT_BACK ? text->at - TTS_LOGTEXT_BACK : 0;
    count_to(text, gone);
    memmove(text->bytes, text->bytes + gone, text->end - gone);
    text->gone += gone;
    text->at -= gone;
    text->end -= gone;
    text->count.at -= gone;
    text->no_line_for = text->no_line_for > gone ? text->no_line_for - gone : 0;
}

static void begin(struct tts_logtext *text)
{
    const unsigned char *bytes = text->bytes;
    text->is_utf16 = text->end >= 2 && ((bytes[0] == 0xff && bytes[1] == 0xfe) ||
                                        (bytes[0] == 0xfe && bytes[1] == 0xff));
}

/* Reads once. False: there is no more. */
static bool fill(struct tts_logtext *text)
{
    if (text->is_end)
        return false;
    bool is_first = text->gone == 0 && text->end == 0;
    if (WINDOW_BYTES - text->end < ROOM_MIN)
        move(text);
    assert(WINDOW_BYTES - text->end >= ROOM_MIN);
    size_t got = 0;
    text->status = tts_inflow_read(text->in, text->bytes + text->end, WINDOW_BYTES - text->end,
                                   &got, &text->err);
    text->is_end = text->status != TTS_OK || got == 0;
    text->end += got;
    memset(text->bytes + text->end, 0, PAD);
    if (is_first)
        begin(text);
    if (text->tick)
        text->tick(text->tick_ctx, tts_inflow_taken(text->in));
    return !text->is_end;
}

/* ---- lines ---- */

/* The end before is "\r\n" if a "\n" follows. */
static void pass_line_feed(struct tts_logtext *text)
{
    if (!text->is_behind_cr)
        return;
    text->is_behind_cr = false;
    if (text->at < text->end || fill(text))
        text->at += text->bytes[text->at] == '\n';
}

/* Of the line from `at`, of which `searched` bytes are known to be of it. False: none. */
static bool take(struct tts_logtext *text, struct tts_span *out)
{
    size_t searched = 0;
    for (;;) {
        const unsigned char *line = text->bytes + text->at;
        size_t have = text->end - text->at;
        size_t len = (size_t)(tts_logscan_line_end(line + searched, line + have) - line);
        text->skips_rest = len > TTS_LOGLINE_MAX;
        if (len < have || text->skips_rest || (text->is_end && have > 0)) {
            *out = (struct tts_span){(const char *)line, len};
            if (text->skips_rest)
                out->len = TTS_LOGLINE_MAX;
            text->is_behind_cr = len < have && !text->skips_rest && line[len] == '\r';
            text->at += len < have && !text->skips_rest ? len + 1 : out->len;
            return true;
        }
        searched = have;
        if (!fill(text) && have == 0)
            return false;
    }
}

static void skip_rest(struct tts_logtext *text)
{
    while (text->skips_rest) {
        size_t at =
            (size_t)(tts_logscan_line_end(text->bytes + text->at, text->bytes + text->end) -
                     text->bytes);
        text->skips_rest = at == text->end;
        text->is_behind_cr = at < text->end && text->bytes[at] == '\r';
        text->at = at == text->end ? at : at + 1;
        if (text->skips_rest && !fill(text))
            text->skips_rest = false;
    }
}

bool tts_logtext_next(struct tts_logtext *text, struct tts_span *out)
{
    skip_rest(text);
    pass_line_feed(text);
    return take(text, out);
}

/* ---- lines of interest ---- */

/* By the letter that was found, which is the last but two of its word. */
static bool is_word(const struct tts_logtext *text, size_t at)
{
    char word[WORD_HEAD + WORD_TAIL] = {0}; /* "memory", "param", " DRAM", "--- ", " L1:" */
    size_t head = at < WORD_HEAD ? at : WORD_HEAD;
    memcpy(word + WORD_HEAD - head, text->bytes + at - head, head + WORD_TAIL);
    switch (word[WORD_HEAD]) {
    case 'o':
        return memcmp(word + 1, "emory", 5) == 0;
    case 'r':
        return memcmp(word + 2, "aram", 4) == 0;
    case 'R':
        return memcmp(word + 2, "DRAM", 4) == 0;
    case '-':
        return memcmp(word + 2, "--- ", 4) == 0;
    case 'L':
        return memcmp(word + 3, "L1:", 3) == 0;
    default:
        return false;
    }
}

/* Where the line begins that has a word at `at`. False: too far before it. */
static bool find_begin(struct tts_logtext *text, size_t at, size_t *out)
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

/* The last bytes of the window wait for what comes behind them. */
static size_t end_of_words(const struct tts_logtext *text)
{
    if (text->is_end)
        return text->end;
    return text->end > WORD_TAIL ? text->end - WORD_TAIL : 0;
}

bool tts_logtext_find(struct tts_logtext *text, bool is_block, struct tts_span *out)
{
    skip_rest(text);
    text->is_behind_cr = false; /* where the line begins is looked for */
    for (;;) {
        size_t end = end_of_words(text), line;
        if (text->at >= end) {
            if (!fill(text) && text->at >= text->end)
                return false;
            continue;
        }
        count_to(text, text->at);
        assert(text->count.at == text->bytes + text->at);
        const unsigned char *hit = tts_logscan_words(&text->count, text->bytes + end, is_block);
        text->at = (size_t)(hit - text->bytes);
        if (text->at == end)
            continue;
        if (is_word(text, text->at) && find_begin(text, text->at, &line)) {
            text->at = line;
            return take(text, out);
        }
        text->at++;
    }
}

/* Where its word was found behind its beginning, it is counted further; but no line ends
 * between the two. */
uint64_t tts_logtext_line(struct tts_logtext *text, const char *line)
{
    count_to(text, (size_t)((const unsigned char *)line - text->bytes));
    return text->count.line_ends + 1;
}

uint64_t tts_logtext_offset(const struct tts_logtext *text, const char *line)
{
    return text->gone + (uint64_t)((const unsigned char *)line - text->bytes);
}

const char *tts_logtext_at(const struct tts_logtext *text, uint64_t offset)
{
    assert(offset >= text->gone && offset - text->gone <= text->end);
    return (const char *)text->bytes + (offset - text->gone);
}

void tts_logtext_unread(struct tts_logtext *text, const char *line)
{
    text->at = (size_t)((const unsigned char *)line - text->bytes);
    text->skips_rest = text->is_behind_cr = false;
}

void tts_logtext_finish(struct tts_logtext *text)
{
    count_to(text, text->end);
}

/* ---- what stands before ---- */

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
