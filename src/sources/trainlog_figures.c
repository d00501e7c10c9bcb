#include "sources/trainlog_inside.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define TOLERANCE_BYTES INT64_C(31457) /* 0.03 MB: three figures, each rounded to 0.01 */

struct field {
    const char *name;
    enum tts_run_figure figure;
};

static const struct field segment_fields[] = {
    {"Segment Peak", TTS_RUN_SEGMENT_PEAK},
    {"Allocations", TTS_RUN_ALLOCATIONS},
    {"Deallocations", TTS_RUN_DEALLOCATIONS},
    {"Segment Change", TTS_RUN_CHANGE},
};
static const struct field cumulative_fields[] = {
    {"Cumulative Peak", TTS_RUN_CUMULATIVE_PEAK},
    {"Cumulative Current", TTS_RUN_CUMULATIVE_CURRENT},
};
static const struct field l1_fields[] = {
    {"Peak CB", TTS_RUN_L1_CB},
    {"Peak Buffer", TTS_RUN_L1_BUFFER},
    {"Peak Total", TTS_RUN_L1_TOTAL},
};

/* ---- one figure ---- */

/* Where the value of `name` begins in `text`; `at` is where the name should be. */
static bool find_value(struct tts_span text, size_t at, const char *name, size_t *out)
{
    while (at < text.len && (tts_is_blank(text.at[at]) || text.at[at] == ','))
        at++;
    if (!tts_span_begins((struct tts_span){text.at + at, text.len - at}, name)) {
        const char *found = tts_span_find(text, name);
        if (!found)
            return false;
        at = (size_t)(found - text.at);
    }
    at += strlen(name);
    *out = at + (at < text.len && text.at[at] == ':');
    return true;
}

/* Up to the comma before a blank: commas may stand in the number. */
static struct tts_span value_at(struct tts_span text, size_t at)
{
    size_t end = at;
    while (end < text.len &&
           !(text.at[end] == ',' && (end + 1 == text.len || tts_is_blank(text.at[end + 1]))))
        end++;
    return (struct tts_span){text.at + at, end - at};
}

/* Where a note is put, and about what. */
struct place {
    struct tts_run *run;
    uint64_t line;
    const char *of, *phase; /* " of ", and its name; both "": the block's own */
};

static struct tts_amount read_slowly(const struct place *place, const char *name,
                                     struct tts_span value)
{
    int64_t bytes;
    if (tts_logvalue_mb(value, &bytes))
        return tts_amount_of(bytes);
    char excerpt[TTS_TRAINLOG_EXCERPT];
    tts_trainlog_excerpt(excerpt, value);
    tts_trainlog_note(place->run, place->line, "cannot read '%s'%s%s: '%s'", name, place->of,
                      place->phase, excerpt);
    return (struct tts_amount){0};
}

/* The value of `name`; `*at` is where it should be, and then where the next should. */
static struct tts_amount read_value(const struct place *place, struct tts_span text, size_t *at,
                                    const char *name)
{
    int64_t bytes;
    size_t begin;
    if (!find_value(text, *at, name, &begin)) {
        tts_trainlog_note(place->run, place->line, "'%s'%s%s is missing", name, place->of,
                          place->phase);
        return (struct tts_amount){0};
    }
    *at = begin;
    if (tts_logvalue_quick_mb(text, at, &bytes))
        return tts_amount_of(bytes);
    struct tts_span value = value_at(text, begin);
    *at = begin + value.len;
    return read_slowly(place, name, value);
}

/* A peak is counted from 0 on. */
static struct tts_amount not_negative(const struct place *place, const char *name,
                                      struct tts_amount peak)
{
    if (peak.bytes >= 0)
        return peak;
    tts_trainlog_note(place->run, place->line, "'%s'%s%s is negative", name, place->of,
                      place->phase);
    return (struct tts_amount){0};
}

/* Whether the line ends before the value of its last field does: what is there and cannot be
 * read is another matter. */
static bool is_cut_short(struct tts_span text, const char *last)
{
    return !tts_span_find(text, last) || !tts_span_ends(text, "MB");
}

static void read_fields(struct tts_trainlog_rank *rank, struct tts_span text,
                        const struct field *fields, size_t count, uint64_t number)
{
    struct tts_run_phase *phase = &rank->phases[rank->run.phase_count - 1];
    struct place place = {&rank->run, number, " of ", phase->name};
    size_t at = 0;
    if (tts_span_find(text, "DRAM:")) {
        tts_trainlog_note(&rank->run, number,
                          "two lines are in one: the figures of %s cannot be read",
                          phase->name);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct tts_amount value = read_value(&place, text, &at, fields[i].name);
        bool is_peak = fields[i].figure == TTS_RUN_SEGMENT_PEAK ||
                       fields[i].figure == TTS_RUN_CUMULATIVE_PEAK;
        if (fields[i].figure == TTS_RUN_CHANGE && !value.is_known)
            rank->is_change_lost = is_cut_short(text, fields[i].name);
        phase->figures[fields[i].figure] =
            is_peak ? not_negative(&place, fields[i].name, value) : value;
    }
}

/* ---- a line of them ---- */

static void read_overall(struct tts_trainlog_rank *rank, struct tts_span text, uint64_t number)
{
    struct place place = {&rank->run, number, "", ""};
    struct tts_span value = value_at(text, 0);
    size_t at = value.len;
    rank->run.overall_peak = not_negative(&place, "Overall DRAM Peak",
                                          read_slowly(&place, "Overall DRAM Peak", value));
    rank->run.final = read_value(&place, text, &at, "Final DRAM Usage");
}

void tts_trainlog_figures(struct tts_trainlog_rank *rank, const struct tts_logline *line,
                          uint64_t number)
{
    unsigned bit = 1u << line->kind;
    if (line->kind == TTS_LOGLINE_OVERALL) {
        read_overall(rank, line->value, number);
        return;
    }
    assert(rank->run.phase_count > 0);
    if (rank->seen & bit) {
        if (!rank->is_mixed)
            tts_trainlog_note(&rank->run, number,
                              "figures of %s come twice; lines of several programs may be "
                              "mixed",
                              rank->phases[rank->run.phase_count - 1].name);
        rank->is_mixed = true;
        return;
    }
    rank->seen |= bit;
    if (line->kind == TTS_LOGLINE_SEGMENT)
        read_fields(rank, line->value, segment_fields, 4, number);
    else if (line->kind == TTS_LOGLINE_CUMULATIVE)
        read_fields(rank, line->value, cumulative_fields, 2, number);
    else
        read_fields(rank, line->value, l1_fields, 3, number);
}

/* Says it in the place of the note that it is missing, if that was kept. */
static void note_derived(struct tts_run *run, const struct tts_run_phase *phase)
{
    char what[TTS_RUN_NOTE_BYTES], text[TTS_RUN_NOTE_BYTES];
    snprintf(what, sizeof what, "'Segment Change' of %s", phase->name);
    snprintf(text, sizeof text, "%.90s is derived from 'Cumulative Current'", what);
    for (size_t i = run->note_count; i-- > 0 && run->notes[i].line >= phase->line;) {
        if (!strstr(run->notes[i].text, what))
            continue;
        memcpy(run->notes[i].text, text, strlen(text) + 1);
        return;
    }
    tts_trainlog_note(run, phase->line, "%s", text);
}

/* Both figures are right to half a step, so their difference is right to 0.01 MB. */
void tts_trainlog_derive(struct tts_trainlog_rank *rank)
{
    size_t count = rank->run.phase_count;
    bool is_lost = rank->is_change_lost || !(rank->seen & 1u << TTS_LOGLINE_SEGMENT);
    rank->is_change_lost = false;
    if (count == 0 || !is_lost || rank->is_mixed || rank->is_full)
        return;
    struct tts_run_phase *phase = &rank->phases[count - 1];
    struct tts_amount before =
        count > 1 ? phase[-1].figures[TTS_RUN_CUMULATIVE_CURRENT] : tts_amount_of(0);
    struct tts_amount change =
        tts_amount_subtract(phase->figures[TTS_RUN_CUMULATIVE_CURRENT], before);
    if (!change.is_known)
        return;
    assert(!phase->figures[TTS_RUN_CHANGE].is_known);
    phase->figures[TTS_RUN_CHANGE] = change;
    note_derived(&rank->run, phase);
}

/* ---- do they follow? ---- */

/* Whether a is about b, or more, if that is fine too. So it is if one of them is not known. */
static bool is_about(struct tts_amount a, struct tts_amount b, bool may_be_more)
{
    if (!a.is_known || !b.is_known)
        return true;
    struct tts_amount more = tts_amount_subtract(a, b);
    return more.is_known && more.bytes >= -TOLERANCE_BYTES &&
           (may_be_more || more.bytes <= TOLERANCE_BYTES);
}

/* Sums of what is known that are not of 64 bits cannot be right. */
static bool is_about_sum(struct tts_amount a, struct tts_amount b, struct tts_amount more)
{
    struct tts_amount sum = tts_amount_add(b, more);
    bool is_known = a.is_known && b.is_known && more.is_known;
    return !is_known || (sum.is_known && is_about(a, sum, false));
}

/* A phase, and the one before it; zeros before the first. */
struct step {
    const struct tts_amount *a, *b;
};

static bool follows(const struct step *step)
{
    return is_about_sum(step->b[TTS_RUN_CUMULATIVE_CURRENT],
                        step->a[TTS_RUN_CUMULATIVE_CURRENT], step->b[TTS_RUN_CHANGE]) &&
           is_about(step->b[TTS_RUN_CUMULATIVE_PEAK], step->a[TTS_RUN_CUMULATIVE_PEAK], true);
}

static bool is_change_right(const struct step *step)
{
    return is_about_sum(step->b[TTS_RUN_ALLOCATIONS], step->b[TTS_RUN_DEALLOCATIONS],
                        step->b[TTS_RUN_CHANGE]);
}

/* The higher of the peak before, and of what was there before with the phase's own peak. */
static bool is_peak_right(const struct step *step)
{
    struct tts_amount own =
        tts_amount_add(step->a[TTS_RUN_CUMULATIVE_CURRENT], step->b[TTS_RUN_SEGMENT_PEAK]);
    struct tts_amount before = step->a[TTS_RUN_CUMULATIVE_PEAK];
    if (!own.is_known || !before.is_known)
        return true;
    return is_about(step->b[TTS_RUN_CUMULATIVE_PEAK],
                    tts_amount_of(own.bytes > before.bytes ? own.bytes : before.bytes), false);
}

enum { DOES_NOT_FOLLOW = 1, CHANGE_IS_WRONG = 2, PEAK_IS_WRONG = 4 };

static unsigned what_is_wrong(const struct step *step)
{
    unsigned wrong = is_change_right(step) ? 0 : CHANGE_IS_WRONG;
    if (!follows(step))
        return wrong | DOES_NOT_FOLLOW;
    return is_peak_right(step) ? wrong : wrong | PEAK_IS_WRONG;
}

static void note_wrong(struct tts_trainlog_rank *rank, size_t i, unsigned wrong)
{
    const struct tts_run_phase *phase = &rank->phases[i];
    if (wrong & DOES_NOT_FOLLOW)
        tts_trainlog_note(&rank->run, phase->line,
                          i == 0 ? "the figures of the first phase do not begin at 0; lines of "
                                   "several programs may be mixed"
                                 : "the figures do not follow from the phase before; lines of "
                                   "several programs may be mixed");
    if (wrong & CHANGE_IS_WRONG)
        tts_trainlog_note(&rank->run, phase->line,
                          "'Segment Change' is not allocations less deallocations in %s",
                          phase->name);
    if (wrong & PEAK_IS_WRONG)
        tts_trainlog_note(&rank->run, phase->line,
                          "'Cumulative Peak' does not follow from 'Segment Peak' in %s",
                          phase->name);
}

static void check_totals(struct tts_trainlog_rank *rank)
{
    struct tts_run *run = &rank->run;
    if (run->phase_count == 0)
        return;
    const struct tts_amount *last = rank->phases[run->phase_count - 1].figures;
    if (!is_about(run->overall_peak, last[TTS_RUN_CUMULATIVE_PEAK], false) ||
        !is_about(run->final, last[TTS_RUN_CUMULATIVE_CURRENT], false))
        tts_trainlog_note(run, run->end_line,
                          "the final totals are not those of the last phase; lines of several "
                          "programs may be mixed");
}

/* Each kind is noted once, at its first place. */
void tts_trainlog_check(struct tts_trainlog_rank *rank, bool is_whole)
{
    struct tts_amount zeros[TTS_RUN_FIGURES] = {[TTS_RUN_CUMULATIVE_PEAK] = tts_amount_of(0),
                                                [TTS_RUN_CUMULATIVE_CURRENT] =
                                                    tts_amount_of(0)};
    unsigned noted = 0;
    if (rank->is_mixed)
        return;
    for (size_t i = 0; i < rank->run.phase_count; i++) {
        struct step step = {i == 0 ? zeros : rank->phases[i - 1].figures,
                            rank->phases[i].figures};
        unsigned wrong = what_is_wrong(&step) & ~noted;
        note_wrong(rank, i, wrong);
        noted |= wrong;
    }
    if (is_whole)
        check_totals(rank);
}
