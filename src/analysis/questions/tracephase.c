#include "analysis/questions/tracephase.h"

#include <string.h>

static bool is_capture_phase(enum tts_tracephase phase)
{
    return phase == TTS_TRACEPHASE_CAPTURE_START || phase == TTS_TRACEPHASE_CAPTURE_DATA ||
           phase == TTS_TRACEPHASE_CAPTURE_KERNELS;
}

static bool is_sample_empty(const struct tts_tracesample *sample)
{
    return sample->trace_bytes == 0 && sample->data_bytes == 0 && sample->code_bytes == 0 &&
           sample->other_bytes == 0;
}

static bool is_same_sample(const struct tts_tracesample *a, const struct tts_tracesample *b)
{
    return a->depth == b->depth && a->traces == b->traces && a->trace_bytes == b->trace_bytes &&
           a->data_bytes == b->data_bytes && a->code_bytes == b->code_bytes &&
           a->other_bytes == b->other_bytes && a->changes == b->changes;
}

/* Returns the phase of a sample in a capture that began in an earlier sample. */
static enum tts_tracephase capture_phase(const struct tts_tracesample *last,
                                         const struct tts_tracesample *sample,
                                         enum tts_tracephase before)
{
    if (sample->data_bytes > last->data_bytes)
        return sample->large_known && last->large_known &&
                       sample->large_buffers <= last->large_buffers
                   ? TTS_TRACEPHASE_CAPTURE_KERNELS
                   : TTS_TRACEPHASE_CAPTURE_DATA;
    if (sample->code_bytes > last->code_bytes)
        return TTS_TRACEPHASE_CAPTURE_KERNELS;
    return before;
}

enum tts_tracephase tts_tracephase_after(enum tts_tracephase before,
                                         const struct tts_tracesample *last,
                                         const struct tts_tracesample *sample)
{
    bool is_still = last && is_same_sample(last, sample);
    if (sample->depth > 0)
        return last && is_capture_phase(before) ? capture_phase(last, sample, before)
                                                : TTS_TRACEPHASE_CAPTURE_START;
    if (last && (is_capture_phase(before) || sample->traces > last->traces))
        return sample->traces > last->traces && sample->changes == last->changes &&
                       sample->trace_bytes == last->trace_bytes && is_capture_phase(before) &&
                       !sample->is_event
                   ? TTS_TRACEPHASE_EXECUTION
                   : TTS_TRACEPHASE_CAPTURE_END;
    if (last && sample->traces > 0 && sample->trace_bytes > last->trace_bytes)
        return TTS_TRACEPHASE_CAPTURE_END; /* the runtime places the buffer after the capture */
    if (is_sample_empty(sample) && before != TTS_TRACEPHASE_UNKNOWN &&
        before != TTS_TRACEPHASE_INIT)
        return TTS_TRACEPHASE_IDLE;
    if (sample->traces == 0)
        return TTS_TRACEPHASE_INIT;
    return before == TTS_TRACEPHASE_CAPTURE_END && !is_still ? before
                                                             : TTS_TRACEPHASE_EXECUTION;
}

static enum tts_tracephase phase_by_counters(const struct tts_tracephases *phases,
                                             const struct tts_tracesample *sample)
{
    if (!phases->has_sample)
        return is_sample_empty(sample) ? TTS_TRACEPHASE_IDLE : TTS_TRACEPHASE_UNKNOWN;
    if (sample->trace_bytes > phases->last.trace_bytes)
        return TTS_TRACEPHASE_CAPTURE_START;
    if (is_sample_empty(sample))
        return TTS_TRACEPHASE_IDLE;
    /* The frame in which TRACE was found larger is the only one that is known. */
    return TTS_TRACEPHASE_UNKNOWN;
}

/* Adds a row. If the rows are full, the second row is left out: the first is the begin. */
static void add_trace_row(struct tts_livephases *answer, enum tts_tracephase phase,
                          uint64_t time_ns)
{
    if (answer->row_count == TTS_LIVEPHASE_ROWS) {
        memmove(&answer->rows[1], &answer->rows[2],
                (TTS_LIVEPHASE_ROWS - 2) * sizeof answer->rows[0]);
        answer->row_count--;
        answer->rows_left_out++;
    }
    answer->rows[answer->row_count++] =
        (struct tts_tracerow){.phase = phase, .begin_ns = time_ns};
}

/* Sets the numbers of the present row, and the change to the end of the row before. */
static void set_trace_row(struct tts_livephases *answer, const struct tts_tracesample *sample)
{
    struct tts_tracerow *row = &answer->rows[answer->row_count - 1];
    row->code_known = sample->code_known;
    row->trace_bytes = sample->trace_bytes;
    row->data_bytes = sample->data_bytes;
    row->code_bytes = sample->code_known ? sample->code_bytes : 0;
    row->change_known = answer->row_count > 1 && row[-1].code_known == row->code_known;
    if (!row->change_known)
        return;
    uint64_t now = tts_tracerow_total(row), before = tts_tracerow_total(&row[-1]);
    uint64_t distance = now > before ? now - before : before - now;
    row->change_known = distance <= INT64_MAX;
    if (row->change_known)
        row->change_bytes = now > before ? (int64_t)distance : -(int64_t)distance;
}

bool tts_tracephases_feed(struct tts_tracephases *phases, const struct tts_tracesample *sample)
{
    struct tts_livephases *answer = &phases->answer;
    enum tts_tracephase phase =
        sample->trace_known
            ? tts_tracephase_after(tts_livephases_now(answer),
                                   phases->has_sample ? &phases->last : NULL, sample)
            : phase_by_counters(phases, sample);
    answer->before_known = answer->row_count > 0;
    if (answer->before_known)
        answer->before = answer->rows[answer->row_count - 1];
    answer->is_new = answer->row_count == 0 || phase != tts_livephases_now(answer);
    if (answer->is_new)
        add_trace_row(answer, phase, sample->time_ns);
    set_trace_row(answer, sample);
    if (!phases->has_sample || !is_same_sample(&phases->last, sample) ||
        sample->time_ns < phases->changed_ns)
        phases->changed_ns = sample->time_ns;
    answer->steady_ns = sample->time_ns - phases->changed_ns;
    answer->is_replay_seen = sample->trace_bytes > 0 || (sample->trace_known && sample->traces);
    phases->last = *sample;
    phases->has_sample = true;
    return answer->is_new;
}
