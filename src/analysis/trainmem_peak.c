/* What was there when the peak was reached: what the phases before had left, and what the phase
 * of the peak put on top. */
#include "analysis/trainmem_inside.h"

#include <assert.h>
#include <string.h>

static struct tts_amount figure(const struct tts_run_phase *phase, enum tts_run_figure which)
{
    return phase->figures[which];
}

/* Takes the peak of all iterations, if the run states one that agrees with its phases. */
static void take_whole(const struct tts_run *run, struct tts_trainmem *mem)
{
    struct tts_amount whole = run->whole.peak;
    if (!whole.is_known || whole.bytes < 0 ||
        (mem->peak.is_known && whole.bytes < mem->peak.bytes))
        return;
    mem->peak_is_later = mem->peak.is_known && whole.bytes > mem->peak.bytes;
    mem->peak_is_whole = true;
    mem->peak = whole;
}

/* As printed at the end, and never below what a phase reached; less than nothing is no peak. */
static void find_peak(const struct tts_run *run, struct tts_trainmem *mem)
{
    struct tts_amount most = {0};
    bool misses_last = run->phase_count == 0;
    for (size_t i = 0; i < run->phase_count; i++) {
        struct tts_amount peak = figure(&run->phases[i], TTS_RUN_CUMULATIVE_PEAK);
        misses_last = !peak.is_known;
        if (peak.is_known && (!most.is_known || peak.bytes > most.bytes))
            most = peak;
    }
    mem->peak = run->overall_peak;
    mem->peak_at_least =
        run->is_cut || run->is_at_least || (!mem->peak.is_known && misses_last);
    if (most.is_known && (!mem->peak.is_known || most.bytes > mem->peak.bytes))
        mem->peak = most;
    if (mem->peak.bytes < 0)
        mem->peak = (struct tts_amount){0};
    take_whole(run, mem);
}

static void find_final(const struct tts_run *run, struct tts_trainmem *mem)
{
    mem->final = run->final;
    if (!mem->final.is_known && !run->is_cut && run->phase_count > 0)
        mem->final = figure(&run->phases[run->phase_count - 1], TTS_RUN_CUMULATIVE_CURRENT);
}

/* The first whose cumulative peak is the peak; none if one before could have been it. */
static bool find_phase(const struct tts_run *run, int64_t peak_bytes, size_t *out)
{
    for (size_t i = 0; i < run->phase_count; i++) {
        struct tts_amount peak = figure(&run->phases[i], TTS_RUN_CUMULATIVE_PEAK);
        if (!peak.is_known)
            return false;
        if (peak.bytes < peak_bytes)
            continue;
        *out = i;
        return true;
    }
    return false;
}

/* A phase of another name that freed more than such phases had left freed what others had:
 * gradients, as a step of the optimizer does, then activations. */
static void give_back(struct tts_amount *parts)
{
    static const enum tts_run_part order[] = {TTS_RUN_PART_GRADIENTS, TTS_RUN_PART_ACTIVATIONS};
    struct tts_amount *other = &parts[TTS_RUN_PART_OTHER];
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        struct tts_amount *part = &parts[order[i]];
        if (!part->is_known || part->bytes <= 0 || other->bytes >= 0)
            continue;
        /* Both fit: one is above 0, the other below. */
        int64_t rest = part->bytes + other->bytes;
        part->bytes = rest > 0 ? rest : 0;
        other->bytes = rest < 0 ? rest : 0;
    }
    if (other->bytes < 0)
        other->bytes = 0;
}

/* What the phases before left, by part. False: not known. */
static bool add_up(const struct tts_run *run, size_t end, struct tts_amount *parts)
{
    for (int part = 0; part < TTS_RUN_PARTS; part++)
        parts[part] = tts_amount_of(0);
    for (size_t i = 0; i < end; i++) {
        enum tts_run_part part = tts_train_part_of(run->phases[i].name);
        parts[part] = tts_amount_add(parts[part], figure(&run->phases[i], TTS_RUN_CHANGE));
        if (part == TTS_RUN_PART_OTHER)
            give_back(parts);
        if (part != TTS_RUN_PART_GRADIENTS)
            continue;
        /* What the forward pass kept is gone; what is left of it are gradients. */
        parts[part] = tts_amount_add(parts[part], parts[TTS_RUN_PART_ACTIVATIONS]);
        parts[TTS_RUN_PART_ACTIVATIONS] = tts_amount_of(0);
    }
    for (int part = 0; part < TTS_RUN_PARTS; part++)
        if (!parts[part].is_known)
            return false;
    return true;
}

static bool has_phase_before(const struct tts_run *run, size_t end, enum tts_run_part part)
{
    for (size_t i = 0; i < end; i++)
        if (tts_train_part_of(run->phases[i].name) == part)
            return true;
    return false;
}

/* The sizes expected instead of those measured, or why not. */
static enum tts_train_force put_expected(const struct tts_run *run,
                                         const struct tts_trainmem *mem,
                                         struct tts_amount *parts)
{
    static const enum tts_run_part which[] = {TTS_RUN_PART_MODEL, TTS_RUN_PART_OPTIMIZER};
    const struct tts_train_size *const sizes[] = {&mem->model, &mem->optimizer};
    enum tts_run_part of_peak = tts_train_part_of(run->phases[mem->peak_phase].name);
    for (size_t i = 0; i < 2; i++) {
        if (of_peak == which[i])
            return TTS_TRAIN_FORCE_MAKING;
        if (!has_phase_before(run, mem->peak_phase, which[i]))
            continue;
        if (!sizes[i]->expected.is_known)
            return TTS_TRAIN_FORCE_UNKNOWN;
        parts[which[i]] = sizes[i]->expected;
    }
    return TTS_TRAIN_FORCE_NONE;
}

/* Everything is printed to 0.005 MB. */
static int64_t rounding(const struct tts_trainmem *mem)
{
    return (int64_t)(mem->peak_phase + 4) * TTS_RUN_HALF_STEP_BYTES;
}

/* Makes them add up to the peak: what is in no part is other; what is below nothing is nothing;
 * what is too much is taken from the phase of the peak first. Returns how much that was. */
static int64_t settle(const struct tts_trainmem *mem, enum tts_run_part of_peak,
                      const struct tts_amount *parts, int64_t *out)
{
    int64_t room = mem->peak.bytes, over = 0;
    for (int part = 0; part < TTS_RUN_PARTS; part++)
        out[part] = part == TTS_RUN_PART_OTHER || parts[part].bytes < 0 ? 0 : parts[part].bytes;
    for (int i = TTS_RUN_PARTS; i >= 0; i--) {
        /* The part of the peak comes last, and gets what is left. */
        int part = i == 0 ? (int)of_peak : i - 1;
        if ((i > 0 && part == (int)of_peak) || part == TTS_RUN_PART_OTHER)
            continue;
        if (out[part] > room) {
            if (__builtin_add_overflow(over, out[part] - room, &over))
                over = INT64_MAX;
            out[part] = room;
        }
        room -= out[part];
    }
    out[TTS_RUN_PART_OTHER] = room;
    return over;
}

static void split(const struct tts_run *run, bool use_actual, struct tts_trainmem *mem)
{
    struct tts_amount actual[TTS_RUN_PARTS], expected[TTS_RUN_PARTS];
    const struct tts_run_phase *phase = &run->phases[mem->peak_phase];
    enum tts_run_part of_peak = tts_train_part_of(phase->name);
    if (!add_up(run, mem->peak_phase, actual))
        return;
    actual[of_peak] = tts_amount_add(actual[of_peak], figure(phase, TTS_RUN_SEGMENT_PEAK));
    if (!actual[of_peak].is_known)
        return;
    memcpy(expected, actual, sizeof expected);
    enum tts_train_force force = TTS_TRAIN_FORCE_NONE;
    if (!use_actual)
        force = put_expected(run, mem, expected);
    if (!use_actual && !force && settle(mem, of_peak, expected, mem->parts) > rounding(mem))
        force = TTS_TRAIN_FORCE_TOO_MUCH;
    if (use_actual || force)
        settle(mem, of_peak, actual, mem->parts);
    mem->has_parts = true;
    mem->parts_are_actual = use_actual || force;
    mem->parts_forced = force;
}

/* Takes the parts that the run states, if they add up to the peak but for their rounding. */
static bool take_parts(const struct tts_run *run, struct tts_trainmem *mem)
{
    const int64_t most_off = (TTS_RUN_PARTS + 4) * TTS_RUN_HALF_STEP_BYTES;
    int64_t room = mem->peak.bytes;
    if (!mem->peak_is_whole || !run->whole.has_parts)
        return false;
    for (int part = 0; part < TTS_RUN_PARTS; part++) {
        int64_t bytes = run->whole.parts[part];
        if (bytes < 0 || bytes - most_off > room)
            return false;
        mem->parts[part] = bytes < room ? bytes : room;
        room -= mem->parts[part];
    }
    if (room > most_off)
        return false;
    mem->parts[TTS_RUN_PART_OTHER] += room;
    mem->has_parts = mem->parts_are_stated = mem->parts_are_actual = true;
    return true;
}

void tts_trainmem_peak(const struct tts_run *run, const struct tts_trainmem_options *options,
                       struct tts_trainmem *mem)
{
    find_peak(run, mem);
    find_final(run, mem);
    if (!mem->peak.is_known)
        return;
    mem->has_peak_phase = find_phase(run, mem->peak.bytes, &mem->peak_phase);
    if (!take_parts(run, mem) && mem->has_peak_phase)
        split(run, options->use_actual_sizes, mem);
}
