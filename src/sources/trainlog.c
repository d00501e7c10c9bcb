#include "sources/trainlog.h"

#include "base/bytes16.h"
#include "base/error.h"
#include "base/heap.h"
#include "sources/trainlog_inside.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { LINES_MORE = 16 }; /* lines to read one by one after a piece of a line */

enum tts_status tts_trainlog_new(struct tts_input *in, const struct tts_alloc *alloc,
                                 struct tts_trainlog **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_trainlog *log = alloc->alloc(alloc->ctx, sizeof *log);
    if (!log)
        return tts_error_set_errno(err, TTS_E_NOMEM, ENOMEM, "cannot read '%s'",
                                   tts_input_path(in));
    memset(log, 0, sizeof *log);
    log->alloc = alloc;
    log->in = in;
    enum tts_status status = tts_logtext_open(&log->text, in, alloc, err);
    if (status != TTS_OK) {
        alloc->free(alloc->ctx, log, sizeof *log);
        return status;
    }
    *out = log;
    return TTS_OK;
}

enum tts_status tts_trainlog_open(const char *path, const struct tts_alloc *alloc,
                                  struct tts_trainlog **out, struct tts_error *err)
{
    struct tts_input *in = NULL;
    enum tts_status status = tts_input_open(path, alloc, &in, err);
    if (status == TTS_OK)
        status = tts_trainlog_new(in, alloc, out, err);
    if (status == TTS_OK)
        (*out)->owns_in = true;
    else
        tts_input_close(in);
    return status;
}

static void free_phases(struct tts_trainlog *log, struct tts_run_phase *phases, size_t capacity)
{
    if (phases)
        log->alloc->free(log->alloc->ctx, phases, capacity * sizeof *phases);
}

void tts_trainlog_close(struct tts_trainlog *log)
{
    if (!log)
        return;
    const struct tts_alloc *alloc = log->alloc;
    for (size_t i = 0; i < log->rank_count; i++) {
        free_phases(log, log->ranks[i]->phases, log->ranks[i]->capacity);
        alloc->free(alloc->ctx, log->ranks[i], sizeof *log->ranks[i]);
    }
    free_phases(log, log->phases, log->capacity);
    tts_logtext_close(&log->text);
    if (log->owns_in)
        tts_input_close(log->in);
    alloc->free(alloc->ctx, log, sizeof *log);
}

/* ---- reading ---- */

/* A line that is told, and no piece of one. `raw` is where it stands. */
static void take_line(struct tts_trainlog *log, const struct tts_logline *line,
                      struct tts_span raw, uint64_t number)
{
    if (line->kind == TTS_LOGLINE_HEADING) {
        tts_logkey_make(&log->key, line->prefix);
        tts_trainlog_heading(log, raw, number);
    } else if (line->kind <= TTS_LOGLINE_OVERALL) {
        tts_trainlog_in_block(log, line, number);
    } else {
        tts_trainlog_say(log, line, raw, number);
    }
}

/* ---- lines that were wrapped ---- */

static void forget_wrap(struct tts_trainlog *log, size_t at)
{
    assert(at < log->wrap_count);
    log->wrap_count--;
    memmove(&log->wraps[at], &log->wraps[at + 1],
            (log->wrap_count - at) * sizeof log->wraps[at]);
}

/* Handles a line as far as it came, unless that was done, and forgets it. It may end a block,
 * so the caller does nothing else that may. */
static void give_up_wrap(struct tts_trainlog *log, size_t at)
{
    struct tts_logwrap *wrap = &log->wraps[at];
    struct tts_logline line;
    if (!wrap->is_told) {
        tts_logline_tell((struct tts_span){wrap->text, wrap->len}, &line);
        if (line.kind != TTS_LOGLINE_OTHER)
            tts_trainlog_in_block(log, &line, wrap->number);
    }
    forget_wrap(log, at);
}

/* Handles a line whose last piece is `raw`, and forgets it. */
static void end_wrap(struct tts_trainlog *log, size_t at, struct tts_span raw)
{
    struct tts_logwrap *wrap = &log->wraps[at];
    struct tts_span first = {tts_logtext_at(&log->text, wrap->offset), 0};
    struct tts_logline line;
    uint64_t end = tts_logtext_offset(&log->text, raw.at) + raw.len;
    tts_logline_tell((struct tts_span){wrap->text, wrap->len}, &line);
    /* What was said between the pieces of a heading is known to its block. */
    if (line.kind == TTS_LOGLINE_HEADING)
        wrap->number = tts_logtext_line(&log->text, raw.at);
    if (line.kind != TTS_LOGLINE_OTHER)
        take_line(log, &line, first, wrap->number);
    struct tts_trainlog_rank *rank = tts_trainlog_find_rank(log, wrap->hash);
    if (line.kind > TTS_LOGLINE_OVERALL) {
        log->joined_from = wrap->offset;
        log->joined_to = end;
    } else if (rank) {
        rank->joined_to = end;
    }
    forget_wrap(log, at);
}

/* True: the line is a piece of one that waits. */
static bool join_wrap(struct tts_trainlog *log, struct tts_span text, struct tts_span raw)
{
    uint64_t offset = tts_logtext_offset(&log->text, raw.at);
    for (size_t i = log->wrap_count; i-- > 0;) {
        struct tts_logwrap *wrap = &log->wraps[i];
        /* The text before its first piece is in the window still. */
        if (offset - wrap->offset > TTS_LOGLINE_MAX)
            continue;
        enum tts_logwrap_match match =
            tts_logwrap_join(wrap, text, wrap->last + 1 == log->lines_read, &log->line_key);
        if (match == TTS_LOGWRAP_NONE)
            continue;
        wrap->last = log->lines_read;
        log->lines_more = LINES_MORE;
        log->looked_at = offset + raw.len;
        if (match == TTS_LOGWRAP_WHOLE)
            end_wrap(log, i, raw);
        return true;
    }
    return false;
}

/* Whether a line of this key is of another block than the one that waits. */
static bool is_apart(const struct tts_trainlog *log, const struct tts_logwrap *wrap,
                     const struct tts_logkey *key)
{
    const struct tts_trainlog_rank *a = tts_trainlog_find_rank(log, wrap->hash),
                                   *b = tts_trainlog_find_rank(log, key->hash);
    if (a && b && a->is_open && b->is_open)
        return a != b;
    return wrap->has_key && key->len > 0 && wrap->folded != key->folded;
}

/* Gives up one of the lines that wait: what a rank printed before a line of a block comes
 * before it, and there is room for `waits` more. False: none had to be. */
static bool make_room(struct tts_trainlog *log, struct tts_span prefix, bool waits)
{
    tts_logkey_make(&log->key, prefix);
    size_t at = 0;
    while (at < log->wrap_count && is_apart(log, &log->wraps[at], &log->key))
        at++;
    if (at == log->wrap_count && !(waits && at == TTS_TRAINLOG_WRAPS))
        return false;
    give_up_wrap(log, at < log->wrap_count ? at : 0);
    return true;
}

/* Lets a line wait for its other pieces. */
static void add_wrap(struct tts_trainlog *log, const struct tts_logwrap *begun,
                     struct tts_span raw)
{
    assert(log->wrap_count < TTS_TRAINLOG_WRAPS);
    struct tts_logwrap *wrap = &log->wraps[log->wrap_count++];
    *wrap = *begun;
    tts_logkey_make(&log->key, (struct tts_span){wrap->text, wrap->prefix_len});
    wrap->hash = log->key.hash;
    wrap->folded = log->key.folded;
    wrap->has_key = log->key.len > 0;
    wrap->number = tts_logtext_line(&log->text, raw.at);
    wrap->offset = tts_logtext_offset(&log->text, raw.at);
    wrap->last = log->lines_read;
}

/* True: the line is done with. It may be given again. */
static bool read_wrapped(struct tts_trainlog *log, const struct tts_logline *line,
                         struct tts_span text, struct tts_span raw)
{
    struct tts_logwrap begun;
    bool is_of_block = line->kind >= TTS_LOGLINE_HEADING && line->kind <= TTS_LOGLINE_OVERALL;
    if (log->wrap_count > 0 && !is_of_block && join_wrap(log, text, raw))
        return true;
    bool waits = tts_logwrap_begin(&begun, text, line, log->open_count > 0);
    struct tts_span prefix =
        waits ? (struct tts_span){begun.text, begun.prefix_len} : line->prefix;
    if (log->wrap_count > 0 && (is_of_block || waits) && make_room(log, prefix, waits)) {
        tts_logtext_unread(&log->text, raw.at);
        log->lines_read--;
        log->lines_more++;
        return true;
    }
    if (!waits)
        return false;
    add_wrap(log, &begun, raw);
    log->lines_more = log->lines_more > LINES_MORE ? log->lines_more : LINES_MORE;
    if (begun.is_told)
        return false;
    log->looked_at = log->wraps[log->wrap_count - 1].offset + raw.len;
    return true;
}

/* ---- the words of lines of interest ---- */

/* What every line of interest has: "emory", "aram" or "DRAM"; in a block also "-- " or "L1:".
 * Of each two letters are compared, one apart, capitals or not; who asks looks at the rest. */
static TTS_FORCE_INLINE tts_bytes16 hits_at(tts_bytes16 a, tts_bytes16 c, bool is_block)
{
    const tts_bytes16 fold = {32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32};
    a |= fold;
    c |= fold;
    tts_bytes16 hits = (tts_bytes16)(a == 'r') & (tts_bytes16)(c == 'm');
    hits |= (tts_bytes16)(a == 'o') & (tts_bytes16)(c == 'y');
    if (is_block) {
        hits |= (tts_bytes16)(a == '-') & (tts_bytes16)(c == ' ');
        hits |= (tts_bytes16)(a == 'l') & (tts_bytes16)(c == ':');
    }
    return hits;
}

/* The place of a hit in 32 bytes. */
static TTS_FORCE_INLINE unsigned first_of(tts_bytes16 low, tts_bytes16 high)
{
    unsigned first = tts_bytes16_first(low);
    return first < 16 ? first : 16 + tts_bytes16_first(high);
}

/* Line ends are counted on the way: the bytes are at hand. Each of 16 counts for itself, up to
 * 255 in a round of 127 times two. */
static TTS_FORCE_INLINE const unsigned char *find_words(struct tts_logcount *count,
                                                        const unsigned char *end, bool is_block)
{
    const unsigned char *at = count->at;
    tts_bytes16 low = {0}, high = {0}, nuls = {0};
    while (end - at >= 32) {
        tts_bytes16 sums = {0};
        for (int i = 0; i < 127 && end - at >= 32; i++, at += 32) {
            tts_bytes16 a = tts_bytes16_load(at), b = tts_bytes16_load(at + 16);
            low = hits_at(a, tts_bytes16_load(at + 2), is_block);
            high = hits_at(b, tts_bytes16_load(at + 18), is_block);
            if (TTS_UNLIKELY(tts_bytes16_mask(low | high) != 0))
                break;
            sums -= (tts_bytes16)(a == '\n');
            sums -= (tts_bytes16)(b == '\n');
            nuls |= (tts_bytes16)(a == 0) | (tts_bytes16)(b == 0);
        }
        count->line_ends += tts_bytes16_sum(sums);
        if (tts_bytes16_mask(low | high) != 0)
            break;
    }
    count->at = at;
    count->has_nul = count->has_nul || tts_bytes16_mask(nuls) != 0;
    if (end - at < 32) {
        low = hits_at(tts_bytes16_load(at), tts_bytes16_load(at + 2), is_block);
        high = hits_at(tts_bytes16_load(at + 16), tts_bytes16_load(at + 18), is_block);
    }
    unsigned first = first_of(low, high);
    return first < 32 && first < end - at ? at + first : end;
}

static const unsigned char *find_word(struct tts_logcount *count, const unsigned char *end)
{
    return find_words(count, end, false);
}

static const unsigned char *find_block_word(struct tts_logcount *count,
                                            const unsigned char *end)
{
    return find_words(count, end, true);
}

/* "memory", "param", " DRAM", "--- ", " L1:": the letter that was found is the last but two. */
static bool is_word(const char word[TTS_LOGSCAN_HEAD + TTS_LOGSCAN_TAIL])
{
    switch (word[TTS_LOGSCAN_HEAD]) {
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

static const struct tts_logscan *scan_of(const struct tts_trainlog *log)
{
    static const struct tts_logscan outside = {find_word, is_word},
                                    inside = {find_block_word, is_word};
    return log->open_count > 0 ? &inside : &outside;
}

/* ---- lines ---- */

/* `is_next`: the line before it was read too. */
static void read_line(struct tts_trainlog *log, struct tts_span raw, bool is_next)
{
    struct tts_logline line;
    struct tts_span text = tts_logline_clean(raw, log->clean);
    uint64_t end = tts_logtext_offset(&log->text, raw.at) + raw.len;
    tts_logline_tell(text, &line);
    log->lines_read++;
    if (read_wrapped(log, &line, text, raw))
        return;
    if (line.kind == TTS_LOGLINE_OTHER) {
        /* A word alone says nothing; what stands before it was not read. */
        if (!is_next)
            return;
        tts_trainlog_pass(log, text);
    } else {
        take_line(log, &line, raw, tts_logtext_line(&log->text, raw.at));
    }
    log->looked_at = end;
}

static bool read_next(struct tts_trainlog *log)
{
    struct tts_span raw;
    bool is_next = log->lines_more > 0, is_there;
    if (!is_next && log->wrap_count > 0) {
        give_up_wrap(log, 0);
        return true;
    }
    log->lines_more -= is_next;
    if (!is_next)
        tts_trainlog_end_sections(log);
    is_there = is_next ? tts_logtext_raw(&log->text, &raw)
                       : tts_logtext_find(&log->text, scan_of(log), &raw);
    if (is_there)
        read_line(log, raw, is_next);
    else if (log->wrap_count > 0)
        give_up_wrap(log, 0);
    else
        return false;
    return true;
}

/* At the end of the log: the block that began first. */
static struct tts_trainlog_rank *first_open(const struct tts_trainlog *log)
{
    struct tts_trainlog_rank *first = NULL;
    for (size_t i = 0; i < log->rank_count; i++) {
        struct tts_trainlog_rank *rank = log->ranks[i];
        if (rank->is_open && (!first || rank->run.line < first->run.line))
            first = rank;
    }
    assert((first != NULL) == (log->open_count > 0));
    return first;
}

static enum tts_status finish(struct tts_trainlog *log, struct tts_error *err)
{
    enum tts_status status = log->status;
    if (status != TTS_OK) {
        tts_error_set_errno(&log->text.err, status, ENOMEM, "cannot read further");
        tts_logtext_finish(&log->text, err);
        return status;
    }
    status = tts_logtext_finish(&log->text, NULL);
    if (status == TTS_OK)
        return TTS_E_NOT_FOUND;
    return tts_logtext_finish(&log->text, err);
}

enum tts_status tts_trainlog_next(struct tts_trainlog *log, const struct tts_run **out,
                                  struct tts_error *err)
{
    log->has_run = false;
    while (!log->has_run && log->status == TTS_OK && read_next(log))
        ;
    if (!log->has_run && log->open_count > 0)
        tts_trainlog_end(log, first_open(log), true);
    if (!log->has_run)
        return finish(log, err);
    *out = &log->run;
    return TTS_OK;
}

/* ---- what was seen ---- */

void tts_trainlog_facts(const struct tts_trainlog *log, struct tts_trainlog_facts *out)
{
    struct tts_logtext_facts text = tts_logtext_facts(&log->text);
    *out = (struct tts_trainlog_facts){.lines = text.lines,
                                       .bytes = text.bytes,
                                       .has_nul = text.has_nul,
                                       .is_utf16 = text.is_utf16,
                                       .stray_lines = log->stray_lines,
                                       .stray_line = log->stray_line};
}

uint64_t tts_trainlog_taken(const struct tts_trainlog *log)
{
    return tts_input_taken(log->in);
}

uint64_t tts_trainlog_total(const struct tts_trainlog *log)
{
    return tts_input_total(log->in);
}

void tts_trainlog_on_tick(struct tts_trainlog *log, void (*tick)(void *ctx, uint64_t taken),
                          void *ctx)
{
    tts_logtext_on_tick(&log->text, tick, ctx);
}
