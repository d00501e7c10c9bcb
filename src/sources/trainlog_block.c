#include "sources/trainlog_inside.h"

#include "base/heap.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    LINES_MORE = 16,   /* read one by one behind a line of a block */
    PHASES_REUSED = 32 /* room for more is given back with the run */
};

/* ---- notes ---- */

/* Cut off at the end of a character. */
static void end_whole(char *text, size_t len)
{
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    text[len] = '\0';
}

void tts_trainlog_note(struct tts_run *run, uint64_t line, const char *format, ...)
{
    run->notes_in_all++;
    if (run->note_count == TTS_RUN_NOTES_MAX)
        return;
    struct tts_run_note *note = &run->notes[run->note_count++];
    char text[2 * TTS_RUN_NOTE_BYTES];
    note->line = line;
    va_list values;
    va_start(values, format);
    int len = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (len >= TTS_RUN_NOTE_BYTES)
        end_whole(text, TTS_RUN_NOTE_BYTES - 1);
    memcpy(note->text, text, strlen(text) + 1);
}

void tts_trainlog_excerpt(char out[TTS_TRAINLOG_EXCERPT], struct tts_span text)
{
    text = tts_span_trim(text);
    size_t len = text.len < TTS_TRAINLOG_EXCERPT ? text.len : TTS_TRAINLOG_EXCERPT - 1;
    for (size_t i = 0; i < len; i++)
        out[i] = text.at[i] >= ' ' && text.at[i] <= '~' ? text.at[i] : '?';
    out[len] = '\0';
}

/* ---- ranks ---- */

struct tts_trainlog_rank *tts_trainlog_find_rank(const struct tts_trainlog *log, uint64_t hash)
{
    for (size_t i = 0; i < log->rank_count; i++)
        if (log->ranks[i]->hash == hash)
            return log->ranks[i];
    return NULL;
}

/* The one that was not touched for the longest time, of those without an open block first. */
static struct tts_trainlog_rank *stalest(const struct tts_trainlog *log)
{
    struct tts_trainlog_rank *found = log->ranks[0];
    for (size_t i = 1; i < log->rank_count; i++) {
        struct tts_trainlog_rank *rank = log->ranks[i];
        if (rank->is_open != found->is_open ? !rank->is_open : rank->touched < found->touched)
            found = rank;
    }
    return found;
}

static struct tts_trainlog_rank *new_rank(struct tts_trainlog *log, bool may_close)
{
    struct tts_trainlog_rank *rank;
    if (log->rank_count == TTS_TRAINLOG_RANKS) {
        rank = stalest(log);
        if (rank->is_open && !may_close)
            return NULL;
        if (rank->is_open)
            tts_trainlog_end(log, rank, true);
        struct tts_run_phase *phases = rank->phases;
        size_t capacity = rank->capacity;
        *rank = (struct tts_trainlog_rank){.phases = phases, .capacity = capacity};
        return rank;
    }
    rank = log->alloc->alloc(log->alloc->ctx, sizeof *rank);
    if (!rank) {
        log->status = TTS_E_NOMEM;
        return NULL;
    }
    *rank = (struct tts_trainlog_rank){0};
    log->ranks[log->rank_count++] = rank;
    return rank;
}

static void name_rank(struct tts_trainlog_rank *rank, const struct tts_logkey *key)
{
    rank->hash = key->hash;
    rank->folded = key->folded;
    tts_logkey_show(key, false, rank->name, sizeof rank->name);
    tts_logkey_show(key, true, rank->folded_name, sizeof rank->folded_name);
}

struct tts_trainlog_rank *tts_trainlog_rank_of(struct tts_trainlog *log,
                                               const struct tts_logkey *key, bool may_close)
{
    struct tts_trainlog_rank *rank = tts_trainlog_find_rank(log, key->hash);
    if (!rank) {
        rank = new_rank(log, may_close);
        if (!rank)
            return NULL;
        name_rank(rank, key);
    }
    rank->touched = ++log->clock;
    return rank;
}

/* A prefix may have numbers that are different in each line: counters, threads. Then all its
 * lines are so: the block that is open with the same prefix but for the numbers, if it is the
 * only one and no line has come with the very prefix of its heading. */
static struct tts_trainlog_rank *find_folded(const struct tts_trainlog *log,
                                             const struct tts_logkey *key)
{
    struct tts_trainlog_rank *found = NULL;
    for (size_t i = 0; i < log->rank_count; i++) {
        struct tts_trainlog_rank *rank = log->ranks[i];
        if (!rank->is_open || rank->folded != key->folded)
            continue;
        if (found)
            return NULL;
        found = rank;
    }
    return found && (found->run.phase_count == 0 || found->is_folded) ? found : NULL;
}

/* A logger that is given the whole summary puts its prefix before the heading only: lines
 * without one are of the block opened last, if none has come with the prefix. */
struct tts_trainlog_rank *tts_trainlog_open_rank(struct tts_trainlog *log,
                                                 const struct tts_logkey *key)
{
    struct tts_trainlog_rank *rank = tts_trainlog_find_rank(log, key->hash),
                             *last = log->last_opened;
    if (rank && rank->is_open) {
        rank->touched = ++log->clock;
        return rank;
    }
    if (key->len > 0) {
        last = find_folded(log, key);
        if (last)
            last->is_folded = true;
    } else if (last && (last->run.phase_count == 0 || last->is_bare)) {
        last->is_bare = true;
    } else {
        last = NULL;
    }
    if (last)
        last->touched = ++log->clock;
    return last;
}

/* ---- a block ---- */

/* Of the rank whose prefix changes from line to line, if it has an open block. */
static struct tts_trainlog_rank *heading_rank(struct tts_trainlog *log)
{
    struct tts_trainlog_rank *rank = NULL;
    if (log->key.len > 0 && !tts_trainlog_find_rank(log, log->key.hash))
        rank = find_folded(log, &log->key);
    if (!rank || !rank->is_folded)
        return tts_trainlog_rank_of(log, &log->key, true);
    tts_trainlog_end(log, rank, true);
    name_rank(rank, &log->key);
    rank->touched = ++log->clock;
    return rank;
}

void tts_trainlog_heading(struct tts_trainlog *log, struct tts_span line, uint64_t number)
{
    struct tts_trainlog_rank *rank = heading_rank(log);
    if (!rank)
        return;
    if (rank->is_open)
        tts_trainlog_end(log, rank, true);
    rank->run = (struct tts_run){.line = number, .end_line = number};
    memcpy(rank->run.rank, rank->name, sizeof rank->run.rank);
    tts_trainlog_title(log, line, rank->run.title);
    tts_trainlog_apply(log, rank);
    rank->is_open = true;
    rank->is_bare = rank->is_folded = rank->is_full = rank->is_mixed = false;
    rank->is_warned = tts_trainlog_is_warned(log, line);
    rank->is_change_lost = false;
    log->open_count++;
    log->last_opened = rank;
    log->lines_more = LINES_MORE;
}

/* ---- phases ---- */

/* The names that training programs give begin with capitals and '_': "FORWARD_PASS_micro_0". */
static bool is_usual(struct tts_span name)
{
    size_t capitals = 0;
    while (capitals < name.len && name.at[capitals] >= 'A' && name.at[capitals] <= 'Z')
        capitals++;
    return capitals > 0 && capitals < name.len && name.at[capitals] == '_';
}

/* The last phase, if no figures have come for it yet; NULL: there is none. */
static struct tts_run_phase *waiting(struct tts_trainlog_rank *rank)
{
    bool is_there = rank->run.phase_count > 0 && rank->seen == 0;
    return is_there ? &rank->phases[rank->run.phase_count - 1] : NULL;
}

static bool is_usual_phase(const struct tts_run_phase *phase)
{
    return is_usual((struct tts_span){phase->name, strlen(phase->name)});
}

static void name_phase(struct tts_run_phase *phase, struct tts_span name, uint64_t number)
{
    *phase = (struct tts_run_phase){.line = number};
    tts_span_copy(phase->name, sizeof phase->name, name);
}

/* Others print "--- NAME ---" too. Of labels without figures between them, a usual one is of a
 * phase; else the last is. False: that was all there is to do. */
static bool is_new_phase(struct tts_trainlog_rank *rank, struct tts_span name, uint64_t number)
{
    struct tts_run_phase *phase = waiting(rank);
    if (!phase || rank->is_full)
        return true;
    if (is_usual_phase(phase))
        return is_usual(name);
    name_phase(phase, name, number);
    return false;
}

/* The figures are printed in two lines. The last phase of a block that is cut off is excused.
 */
static void end_phase(struct tts_trainlog_rank *rank)
{
    const unsigned both = 1u << TTS_LOGLINE_SEGMENT | 1u << TTS_LOGLINE_CUMULATIVE;
    if (rank->run.phase_count == 0 || rank->is_full || (rank->seen & both) == both)
        return;
    const struct tts_run_phase *phase = &rank->phases[rank->run.phase_count - 1];
    tts_trainlog_note(&rank->run, phase->line, "%s of %s %s missing",
                      rank->seen & 1u << TTS_LOGLINE_SEGMENT      ? "'Cumulative Peak'"
                      : rank->seen & 1u << TTS_LOGLINE_CUMULATIVE ? "'Segment Peak'"
                                                                  : "the figures",
                      phase->name, rank->seen & both ? "is" : "are");
}

static void add_phase(struct tts_trainlog *log, struct tts_trainlog_rank *rank,
                      struct tts_span name, uint64_t number)
{
    size_t count = rank->run.phase_count;
    if (!is_new_phase(rank, name, number))
        return;
    tts_trainlog_derive(rank);
    end_phase(rank);
    if (rank->is_full)
        return;
    if (count == TTS_TRAINLOG_PHASES || log->phase_count == TTS_TRAINLOG_PHASES_IN_ALL) {
        rank->is_full = true;
        tts_trainlog_note(&rank->run, number,
                          "too many phases: those from here on are left out");
        return;
    }
    struct tts_run_phase *phases =
        tts_alloc_grow(log->alloc, rank->phases, &rank->capacity, count + 1, sizeof *phases);
    if (!phases) {
        log->status = TTS_E_NOMEM;
        return;
    }
    rank->phases = phases;
    name_phase(&phases[count], name, number);
    rank->run.phase_count++;
    rank->seen = 0;
    log->phase_count++;
}

void tts_trainlog_end(struct tts_trainlog *log, struct tts_trainlog_rank *rank, bool is_cut)
{
    assert(rank->is_open && !log->has_run);
    assert(log->open_count > 0 && log->phase_count >= rank->run.phase_count);
    struct tts_run_phase *last = waiting(rank);
    if (last && !is_usual_phase(last)) {
        rank->run.phase_count--;
        log->phase_count--;
    } else {
        tts_trainlog_derive(rank);
        if (!is_cut)
            end_phase(rank);
    }
    tts_trainlog_check(rank, !is_cut && !rank->is_full);
    tts_trainlog_find_overwritten(rank);
    if (rank->is_folded)
        memcpy(rank->run.rank, rank->folded_name, sizeof rank->run.rank);
    if (log->capacity > PHASES_REUSED) {
        log->alloc->free(log->alloc->ctx, log->phases, log->capacity * sizeof *log->phases);
        log->phases = NULL;
        log->capacity = 0;
    }
    struct tts_run_phase *phases = log->phases;
    size_t capacity = log->capacity;
    log->run = rank->run;
    log->phases = rank->phases;
    log->capacity = rank->capacity;
    log->run.phases = log->phases;
    log->run.is_cut = is_cut || rank->is_full;
    log->has_run = true;
    log->open_count--;
    log->phase_count -= rank->run.phase_count;
    rank->phases = phases;
    rank->capacity = capacity;
    rank->is_open = false;
    rank->ended = ++log->clock;
    if (log->last_opened == rank)
        log->last_opened = NULL;
    log->lines_more = log->open_count > 0 ? LINES_MORE : 0;
}

static void add_stray(struct tts_trainlog *log, enum tts_logline_kind kind, uint64_t number)
{
    if (kind != TTS_LOGLINE_SEGMENT && kind != TTS_LOGLINE_CUMULATIVE &&
        kind != TTS_LOGLINE_OVERALL)
        return;
    if (log->stray_lines++ == 0)
        log->stray_line = number;
}

void tts_trainlog_in_block(struct tts_trainlog *log, const struct tts_logline *line,
                           uint64_t number)
{
    bool is_figure = line->kind == TTS_LOGLINE_SEGMENT ||
                     line->kind == TTS_LOGLINE_CUMULATIVE || line->kind == TTS_LOGLINE_L1;
    tts_logkey_make(&log->key, line->prefix);
    struct tts_trainlog_rank *rank = tts_trainlog_open_rank(log, &log->key);
    if (!rank || (is_figure && rank->run.phase_count == 0)) {
        add_stray(log, line->kind, number);
        return;
    }
    log->lines_more = LINES_MORE;
    if (line->kind != TTS_LOGLINE_LABEL || is_usual(line->name))
        rank->run.end_line = number;
    if (line->kind == TTS_LOGLINE_LABEL)
        add_phase(log, rank, line->name, number);
    else if (line->kind != TTS_LOGLINE_TOTALS &&
             (line->kind == TTS_LOGLINE_OVERALL || !rank->is_full))
        tts_trainlog_figures(rank, line, number);
    if (line->kind == TTS_LOGLINE_OVERALL)
        tts_trainlog_end(log, rank, false);
}
