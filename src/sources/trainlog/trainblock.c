#include "sources/trainlog/trainblock.h"

#include "base/heap.h"
#include "base/number.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PHASES_MAX = 16384 }; /* most phases that are kept of one block */

/* ---- notes ---- */

/* Cuts the text at `len`, or a little before if `len` is inside a UTF-8 character. */
static void end_at_character(char *text, size_t len)
{
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    text[len] = '\0';
}

void tts_trainblock_note(struct tts_run *run, uint64_t line, const char *format, ...)
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
        end_at_character(text, TTS_RUN_NOTE_BYTES - 1);
    memcpy(note->text, text, strlen(text) + 1);
}

/* Allowed difference of a sum: 0.03 MB, because each of its three figures is rounded to 0.01
 * MB. */
#define TOLERANCE_BYTES INT64_C(31457)

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

/* Finds the value of the figure `name` in `text` and sets *out to its beginning. First looks
 * for the name at `at`, then anywhere in the text. Returns false if the name is missing. */
static bool find_figure(struct tts_span text, size_t at, const char *name, size_t *out)
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

/* Returns the text from `at` up to the next comma that a blank follows. A comma without a blank
 * belongs to a number. */
static struct tts_span figure_text(struct tts_span text, size_t at)
{
    size_t end = at;
    while (end < text.len &&
           !(text.at[end] == ',' && (end + 1 == text.len || tts_is_blank(text.at[end + 1]))))
        end++;
    return (struct tts_span){text.at + at, end - at};
}

/* The run, the line and the phase that a note is about. */
struct place {
    struct tts_run *run;
    uint64_t line;
    /* The words " of " and the name of the phase. Both are "" for a figure of the whole
     * block. */
    const char *of, *phase;
};

static struct tts_amount read_figure_text(const struct place *place, const char *name,
                                          struct tts_span value)
{
    int64_t bytes;
    if (tts_trainline_mb(value, &bytes))
        return tts_amount_of(bytes);
    char excerpt[TTS_TRAINLINE_EXCERPT];
    tts_trainline_excerpt(excerpt, value);
    tts_trainblock_note(place->run, place->line, "cannot read '%s'%s%s: '%s'", name, place->of,
                        place->phase, excerpt);
    return (struct tts_amount){0};
}

/* Reads the value of the figure `name`, expected at *at, and moves *at past the value. If the
 * value is missing or unreadable, adds a note and returns an unknown amount. */
static struct tts_amount read_figure(const struct place *place, struct tts_span text,
                                     size_t *at, const char *name)
{
    int64_t bytes;
    size_t begin;
    if (!find_figure(text, *at, name, &begin)) {
        tts_trainblock_note(place->run, place->line, "'%s'%s%s is missing", name, place->of,
                            place->phase);
        return (struct tts_amount){0};
    }
    *at = begin;
    if (tts_trainline_quick_mb(text, at, &bytes))
        return tts_amount_of(bytes);
    struct tts_span value = figure_text(text, begin);
    *at = begin + value.len;
    return read_figure_text(place, name, value);
}

/* Returns the peak. If it is negative, adds a note and returns an unknown amount. */
static struct tts_amount refuse_negative(const struct place *place, const char *name,
                                         struct tts_amount peak)
{
    if (peak.bytes >= 0)
        return peak;
    tts_trainblock_note(place->run, place->line, "'%s'%s%s is negative", name, place->of,
                        place->phase);
    return (struct tts_amount){0};
}

/* Returns true if the line is cut off before the value of its last field. Returns false if the
 * value is complete but unreadable. */
static bool is_line_cut(struct tts_span text, const char *last)
{
    return !tts_span_find(text, last) || !tts_span_ends(text, "MB");
}

static void read_figure_fields(struct tts_trainblock *block, struct tts_span text,
                               const struct field *fields, size_t count, uint64_t number)
{
    struct tts_run_phase *phase = &block->phases[block->run.phase_count - 1];
    struct place place = {&block->run, number, " of ", phase->name};
    size_t at = 0;
    if (tts_span_find(text, "DRAM:")) {
        tts_trainblock_note(&block->run, number,
                            "two lines are merged into one: the figures of %s cannot be read",
                            phase->name);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct tts_amount value = read_figure(&place, text, &at, fields[i].name);
        bool is_peak = fields[i].figure == TTS_RUN_SEGMENT_PEAK ||
                       fields[i].figure == TTS_RUN_CUMULATIVE_PEAK;
        if (fields[i].figure == TTS_RUN_CHANGE && !value.is_known)
            block->is_change_lost = is_line_cut(text, fields[i].name);
        phase->figures[fields[i].figure] =
            is_peak ? refuse_negative(&place, fields[i].name, value) : value;
    }
}

/* ---- a line of figures ---- */

static void read_overall_line(struct tts_trainblock *block, struct tts_span text,
                              uint64_t number)
{
    struct place place = {&block->run, number, "", ""};
    struct tts_span value = figure_text(text, 0);
    size_t at = value.len;
    block->run.overall_peak = refuse_negative(
        &place, "Overall DRAM Peak", read_figure_text(&place, "Overall DRAM Peak", value));
    block->run.final = read_figure(&place, text, &at, "Final DRAM Usage");
}

static void read_figure_line(struct tts_trainblock *block, const struct tts_trainline *line,
                             uint64_t number)
{
    unsigned bit = 1u << line->kind;
    assert(block->run.phase_count > 0);
    if (block->seen & bit) {
        if (!block->is_mixed)
            tts_trainblock_note(
                &block->run, number,
                "figures of %s appear twice; the log may mix lines of several programs",
                block->phases[block->run.phase_count - 1].name);
        block->is_mixed = true;
        return;
    }
    block->seen |= bit;
    if (line->kind == TTS_TRAINLINE_SEGMENT)
        read_figure_fields(block, line->value, segment_fields, 4, number);
    else if (line->kind == TTS_TRAINLINE_CUMULATIVE)
        read_figure_fields(block, line->value, cumulative_fields, 2, number);
    else
        read_figure_fields(block, line->value, l1_fields, 3, number);
}

/* Notes that the 'Segment Change' of a phase was derived. If a note says that the value is
 * missing, replaces this note. */
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
    tts_trainblock_note(run, phase->line, "%s", text);
}

/* Derives a lost 'Segment Change' of the last phase as the difference of two cumulative
 * figures. Each of them is rounded to 0.01 MB, so the difference is exact to 0.01 MB. */
static void derive_change(struct tts_trainblock *block)
{
    size_t count = block->run.phase_count;
    bool is_lost = block->is_change_lost || !(block->seen & 1u << TTS_TRAINLINE_SEGMENT);
    block->is_change_lost = false;
    if (count == 0 || !is_lost || block->is_mixed || block->is_full)
        return;
    struct tts_run_phase *phase = &block->phases[count - 1];
    struct tts_amount before =
        count > 1 ? phase[-1].figures[TTS_RUN_CUMULATIVE_CURRENT] : tts_amount_of(0);
    struct tts_amount change =
        tts_amount_subtract(phase->figures[TTS_RUN_CUMULATIVE_CURRENT], before);
    if (!change.is_known)
        return;
    assert(!phase->figures[TTS_RUN_CHANGE].is_known);
    phase->figures[TTS_RUN_CHANGE] = change;
    note_derived(&block->run, phase);
}

/* ---- checks ---- */

/* Returns true if `a` and `b` differ by at most the rounding, or one of them is unknown. If
 * `may_be_more` is set, `a` may also be larger than `b`. */
static bool is_about(struct tts_amount a, struct tts_amount b, bool may_be_more)
{
    if (!a.is_known || !b.is_known)
        return true;
    struct tts_amount more = tts_amount_subtract(a, b);
    return more.is_known && more.bytes >= -TOLERANCE_BYTES &&
           (may_be_more || more.bytes <= TOLERANCE_BYTES);
}

/* Returns true if `a` and `b` + `more` differ by at most the rounding, or one of them is
 * unknown. Returns false if the sum does not fit in 64 bits. */
static bool is_about_sum(struct tts_amount a, struct tts_amount b, struct tts_amount more)
{
    struct tts_amount sum = tts_amount_add(b, more);
    bool is_known = a.is_known && b.is_known && more.is_known;
    return !is_known || (sum.is_known && is_about(a, sum, false));
}

/* The figures of a phase (b) and of the previous phase (a). For the first phase, the cumulative
 * figures of a are 0. */
struct step {
    const struct tts_amount *a, *b;
};

static bool is_step_right(const struct step *step)
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

/* Checks the cumulative peak. It must be the cumulative peak of the previous phase, or the
 * usage before this phase plus the peak of this phase, whichever is higher. */
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

static unsigned check_step(const struct step *step)
{
    unsigned wrong = is_change_right(step) ? 0 : CHANGE_IS_WRONG;
    if (!is_step_right(step))
        return wrong | DOES_NOT_FOLLOW;
    return is_peak_right(step) ? wrong : wrong | PEAK_IS_WRONG;
}

static void note_wrong_step(struct tts_trainblock *block, size_t i, unsigned wrong)
{
    const struct tts_run_phase *phase = &block->phases[i];
    if (wrong & DOES_NOT_FOLLOW)
        tts_trainblock_note(&block->run, phase->line,
                            i == 0 ? "the figures of the first phase do not start at 0; the "
                                     "log may mix lines of several programs"
                                   : "the figures do not follow from the previous phase; the "
                                     "log may mix lines of several programs");
    if (wrong & CHANGE_IS_WRONG)
        tts_trainblock_note(&block->run, phase->line,
                            "'Segment Change' of %s is not allocations minus deallocations",
                            phase->name);
    if (wrong & PEAK_IS_WRONG)
        tts_trainblock_note(&block->run, phase->line,
                            "'Cumulative Peak' of %s does not follow from 'Segment Peak'",
                            phase->name);
}

static void check_totals(struct tts_trainblock *block)
{
    struct tts_run *run = &block->run;
    if (run->phase_count == 0)
        return;
    const struct tts_amount *last = block->phases[run->phase_count - 1].figures;
    if (!is_about(run->overall_peak, last[TTS_RUN_CUMULATIVE_PEAK], false) ||
        !is_about(run->final, last[TTS_RUN_CUMULATIVE_CURRENT], false))
        tts_trainblock_note(run, run->end_line,
                            "the final totals differ from the last phase; the log may mix "
                            "lines of several programs");
}

/* Checks the figures of all phases, and the totals if `is_whole` is set. Each kind of error is
 * noted only at its first place. */
static void check_figures(struct tts_trainblock *block, bool is_whole)
{
    struct tts_amount zeros[TTS_RUN_FIGURES] = {[TTS_RUN_CUMULATIVE_PEAK] = tts_amount_of(0),
                                                [TTS_RUN_CUMULATIVE_CURRENT] =
                                                    tts_amount_of(0)};
    unsigned noted = 0;
    if (block->is_mixed)
        return;
    for (size_t i = 0; i < block->run.phase_count; i++) {
        struct step step = {i == 0 ? zeros : block->phases[i - 1].figures,
                            block->phases[i].figures};
        unsigned wrong = check_step(&step) & ~noted;
        note_wrong_step(block, i, wrong);
        noted |= wrong;
    }
    if (is_whole)
        check_totals(block);
}

/* ---- overwritten phases ---- */

/* Training programs from January to August 2026 kept only one phase for each name. With
 * gradient accumulation they print the figures of the last micro-step for every micro-step. In
 * these figures, the backward pass frees exactly the memory that its forward pass kept. So the
 * gradients, which the first micro-step allocated, are in no phase. */

/* Allowed difference of a sum: 0.02 MB, because each of its two figures is rounded to 0.01
 * MB. */
#define SUM_TOLERANCE_BYTES INT64_C(20972)

/* All phases with one name: their number, the first one, and whether all have equal figures. */
struct repeated {
    size_t count;
    const struct tts_run_phase *first;
    bool is_same;
};

static bool has_same_figures(const struct tts_run_phase *a, const struct tts_run_phase *b)
{
    for (int i = TTS_RUN_SEGMENT_PEAK; i <= TTS_RUN_CHANGE; i++)
        if (!a->figures[i].is_known || !b->figures[i].is_known ||
            a->figures[i].bytes != b->figures[i].bytes)
            return false;
    return true;
}

static struct repeated find_repeated(const struct tts_trainblock *block, const char *name)
{
    struct repeated found = {.is_same = true};
    for (size_t i = 0; i < block->run.phase_count; i++) {
        const struct tts_run_phase *phase = &block->phases[i];
        if (strcmp(phase->name, name) != 0)
            continue;
        if (found.count++ == 0)
            found.first = phase;
        found.is_same &= has_same_figures(found.first, phase);
    }
    return found;
}

static bool cancels_forward(const struct repeated *forward, const struct repeated *backward)
{
    struct tts_amount kept = forward->first->figures[TTS_RUN_CHANGE];
    struct tts_amount left = tts_amount_add(kept, backward->first->figures[TTS_RUN_CHANGE]);
    return kept.bytes > 0 && left.is_known && left.bytes <= SUM_TOLERANCE_BYTES &&
           left.bytes >= -SUM_TOLERANCE_BYTES;
}

/* Returns the size of the gradients that are missing. They are as large as the model: the
 * memory that the phase MODEL_CREATION added, or 2 bytes for each parameter if that is less.
 * (The number of parameters may be too high, because a log counts those on other chips too.)
 * Unknown with LoRA, where only a few parameters have gradients. */
static struct tts_amount missing_gradients(const struct tts_trainblock *block)
{
    const struct repeated model = find_repeated(block, "MODEL_CREATION");
    for (size_t i = 0; i < block->run.phase_count; i++)
        if (strstr(block->phases[i].name, "LORA"))
            return (struct tts_amount){0};
    if (model.count != 1 || model.first->figures[TTS_RUN_CHANGE].bytes <= 0)
        return (struct tts_amount){0};
    int64_t bytes = model.first->figures[TTS_RUN_CHANGE].bytes;
    if (block->run.has_parameters && block->run.parameters > 0 &&
        block->run.parameters < (uint64_t)bytes / 2)
        bytes = (int64_t)block->run.parameters * 2;
    return tts_amount_of(bytes);
}

static void note_overwritten(struct tts_run *run, uint64_t line)
{
    char mb[TTS_NUMBER_MB_MAX];
    if (run->missing.is_known)
        tts_trainblock_note(run, line,
                            "the program overwrote phases of earlier micro-steps: the figures "
                            "are at least %s MB too low (one set of gradients)",
                            tts_number_format_mb(mb, run->missing.bytes, false));
    else
        tts_trainblock_note(run, line,
                            "the program overwrote phases of earlier micro-steps: the figures "
                            "do not include the gradients of these micro-steps");
}

/* Marks a block whose phases were overwritten. In a complete log the first backward pass
 * allocates the gradients, so its figures differ from those of later backward passes. */
static void find_overwritten(struct tts_trainblock *block)
{
    const struct repeated forward = find_repeated(block, "FORWARD_PASS"),
                          backward = find_repeated(block, "BACKWARD_PASS");
    if (forward.count < 2 || backward.count < 2 || !forward.is_same || !backward.is_same)
        return;
    if (!block->is_warned && (find_repeated(block, "MODEL_CREATION").count == 0 ||
                              !cancels_forward(&forward, &backward)))
        return;
    struct tts_run *run = &block->run;
    run->is_overwritten = run->is_at_least = true;
    run->missing = missing_gradients(block);
    note_overwritten(run, forward.first->line);
}

/* ---- phases ---- */

/* Returns true if a name looks like the name of a phase in a training program: it begins with
 * capitals and '_', like "FORWARD_PASS_micro_0". */
static bool is_usual_name(struct tts_span name)
{
    size_t capitals = 0;
    while (capitals < name.len && name.at[capitals] >= 'A' && name.at[capitals] <= 'Z')
        capitals++;
    return capitals > 0 && capitals < name.len && name.at[capitals] == '_';
}

/* Returns the last phase if none of its figures has been read, else NULL. */
static struct tts_run_phase *phase_without_figures(struct tts_trainblock *block)
{
    bool is_there = block->run.phase_count > 0 && block->seen == 0;
    return is_there ? &block->phases[block->run.phase_count - 1] : NULL;
}

static bool is_usual_phase(const struct tts_run_phase *phase)
{
    return is_usual_name((struct tts_span){phase->name, strlen(phase->name)});
}

static void begin_block_phase(struct tts_run_phase *phase, struct tts_span name,
                              uint64_t number)
{
    *phase = (struct tts_run_phase){.line = number};
    tts_span_copy(phase->name, sizeof phase->name, name);
}

/* Decides whether a label begins a new phase, because other programs print "--- NAME ---" too.
 * If there are no figures between two labels and one of the names is not usual, only the other
 * label counts. If neither is usual, only the last one counts. Returns false if the label is
 * ignored or only renamed the last phase. */
static bool is_new_block_phase(struct tts_trainblock *block, struct tts_span name,
                               uint64_t number)
{
    struct tts_run_phase *phase = phase_without_figures(block);
    if (!phase || block->is_full)
        return true;
    if (is_usual_phase(phase))
        return is_usual_name(name);
    begin_block_phase(phase, name, number);
    return false;
}

/* Notes that figures of the last phase are missing. The figures of a phase are printed in two
 * lines. Not called for the last phase of a block that is cut off. */
static void end_block_phase(struct tts_trainblock *block)
{
    const unsigned both = 1u << TTS_TRAINLINE_SEGMENT | 1u << TTS_TRAINLINE_CUMULATIVE;
    if (block->run.phase_count == 0 || block->is_full || (block->seen & both) == both)
        return;
    const struct tts_run_phase *phase = &block->phases[block->run.phase_count - 1];
    tts_trainblock_note(&block->run, phase->line, "%s of %s %s missing",
                        block->seen & 1u << TTS_TRAINLINE_SEGMENT      ? "'Cumulative Peak'"
                        : block->seen & 1u << TTS_TRAINLINE_CUMULATIVE ? "'Segment Peak'"
                                                                       : "the figures",
                        phase->name, block->seen & both ? "is" : "are");
}

static enum tts_status add_block_phase(struct tts_trainblock *block, struct tts_span name,
                                       uint64_t number, bool has_room,
                                       const struct tts_alloc *alloc)
{
    size_t count = block->run.phase_count;
    if (!is_new_block_phase(block, name, number))
        return TTS_OK;
    derive_change(block);
    end_block_phase(block);
    if (block->is_full)
        return TTS_OK;
    if (count == PHASES_MAX || !has_room) {
        block->is_full = true;
        tts_trainblock_note(&block->run, number,
                            "too many phases: only the first %zu phases of the run are read",
                            count);
        return TTS_OK;
    }
    struct tts_run_phase *phases =
        tts_alloc_grow(alloc, block->phases, &block->capacity, count + 1, sizeof *phases);
    if (!phases)
        return TTS_E_NOMEM;
    block->phases = phases;
    begin_block_phase(&phases[count], name, number);
    block->run.phase_count++;
    block->seen = 0;
    return TTS_OK;
}

void tts_trainblock_begin(struct tts_trainblock *block, uint64_t number, bool is_warned)
{
    *block = (struct tts_trainblock){.run = {.line = number, .end_line = number},
                                     .phases = block->phases,
                                     .capacity = block->capacity,
                                     .is_warned = is_warned};
}

enum tts_status tts_trainblock_take(struct tts_trainblock *block,
                                    const struct tts_trainline *line, uint64_t number,
                                    bool has_room, const struct tts_alloc *alloc)
{
    if (line->kind != TTS_TRAINLINE_LABEL || is_usual_name(line->name))
        block->run.end_line = number;
    if (line->kind == TTS_TRAINLINE_LABEL)
        return add_block_phase(block, line->name, number, has_room, alloc);
    if (line->kind == TTS_TRAINLINE_OVERALL)
        read_overall_line(block, line->value, number);
    else if (line->kind != TTS_TRAINLINE_TOTALS && !block->is_full)
        read_figure_line(block, line, number);
    return TTS_OK;
}

void tts_trainblock_end(struct tts_trainblock *block, bool is_cut)
{
    struct tts_run_phase *last = phase_without_figures(block);
    if (last && !is_usual_phase(last)) {
        block->run.phase_count--;
    } else {
        derive_change(block);
        if (!is_cut)
            end_block_phase(block);
    }
    check_figures(block, !is_cut && !block->is_full);
    find_overwritten(block);
}
