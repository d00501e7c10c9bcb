/* diff_json.c: writes the differences as JSON (docs/design/diff-json.md). */
#include "views/diff/diff_view.h"
#include "views/phase_json.h"

#include <assert.h>

/* Writes part / |whole|, or null if `whole` is 0 or too large to calculate the ratio. */
static void put_ratio(struct tts_json *json, const char *key, int64_t part, int64_t whole)
{
    uint64_t size = whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole;
    if (size > 0 && size <= UINT64_MAX / 10)
        tts_json_signed_ratio(json, key, part, size);
    else
        tts_json_null(json, key);
}

static void put_delta(struct tts_json *json, const char *key, const struct tts_delta *delta)
{
    tts_json_object(json, key);
    tts_json_amount(json, "a_bytes", delta->a);
    tts_json_amount(json, "b_bytes", delta->b);
    tts_json_amount(json, "change_bytes", delta->change);
    if (tts_delta_has_share(delta))
        put_ratio(json, "change_ratio", delta->change.bytes, delta->a.bytes);
    else
        tts_json_null(json, "change_ratio");
    tts_json_bool(json, "differs", delta->differs);
    tts_json_object_end(json);
}

/* ---- inputs ---- */

static void put_input(struct tts_json *json, const char *key,
                      const struct tts_diff_input *input)
{
    static const char *const kinds[] = {
        [TTS_RUNS_LOG] = "log", [TTS_RUNS_EVENTS] = "events", [TTS_RUNS_RESULT] = "result"};
    tts_json_object(json, key);
    tts_json_text(json, "file", input->path);
    tts_json_text(json, "kind", kinds[input->runs.kind]);
    tts_json_number(json, "runs", input->runs.count);
    tts_json_number(json, "not_listed", input->runs.unlisted);
    tts_json_object_end(json);
}

static void put_run_name(struct tts_json *json, const struct tts_run *run, size_t number)
{
    tts_json_number(json, "run", number);
    tts_json_text_or_null(json, "title", run->title);
    tts_json_text_or_null(json, "rank", run->rank);
    tts_json_number_or_null(json, "line", run->line > 0, run->line);
}

static void put_diff_run(struct tts_json *json, const char *key,
                         const struct tts_diff_pair *pair, int side)
{
    const struct tts_run *run = pair->runs[side].run;
    tts_json_object(json, key);
    put_run_name(json, run, pair->numbers[side]);
    tts_json_bool(json, "cut", run->is_cut);
    tts_json_bool(json, "at_least", run->is_at_least || run->is_cut);
    const struct tts_trainmem *mem = pair->runs[side].mem;
    tts_json_text_or_null(json, "breakdown_sizes",
                          mem->has_parts ? tts_train_sizes_name(mem) : NULL);
    tts_json_array(json, "notes");
    for (size_t i = 0; i < run->note_count; i++) {
        tts_json_object(json, NULL);
        tts_json_number(json, "line", run->notes[i].line);
        tts_json_text(json, "text", run->notes[i].text);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_object_end(json);
}

static void put_diff_unpaired(struct tts_json *json, const char *key,
                              const struct tts_diff_input *input, bool is_chosen)
{
    tts_json_array(json, key);
    for (size_t i = 0; i < input->runs.count && !is_chosen; i++) {
        if (input->is_paired[i])
            continue;
        tts_json_object(json, NULL);
        put_run_name(json, &input->runs.runs[i], i + 1);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

/* ---- phases ---- */

static const char *const figure_names[] = {
#define X(name, key) key,
    TTS_RUN_FIGURE_MAP(X)
#undef X
};

static void put_diff_phase(struct tts_json *json, const struct tts_rundiff_phase *phase)
{
    static const char *const where[] = {
        [TTS_IN_BOTH] = "both", [TTS_ONLY_A] = "a", [TTS_ONLY_B] = "b"};
    tts_json_object(json, NULL);
    tts_json_text(json, "name", phase->name);
    tts_json_text(json, "in", where[phase->where]);
    tts_json_bool(json, "differs", phase->differs);
    tts_json_bool(json, "differs_itself", phase->differs_itself);
    tts_json_object(json, "dram");
    for (int i = 0; i < TTS_RUN_L1_CB; i++)
        put_delta(json, figure_names[i], &phase->figures[i]);
    tts_json_object_end(json);
    tts_json_object(json, "l1");
    for (int i = TTS_RUN_L1_CB; i < TTS_RUN_FIGURES; i++)
        put_delta(json, figure_names[i], &phase->figures[i]);
    tts_json_object_end(json);
    tts_json_amount(json, "peak_contribution_bytes", phase->contribution);
    tts_json_object_end(json);
}

/* ---- the peak ---- */

static void put_cause(struct tts_json *json, const struct tts_rundiff *diff)
{
    static const char *const reasons[] = {
        [TTS_RUNDIFF_TOLD] = "told",
        [TTS_RUNDIFF_SAME] = "no_change",
        [TTS_RUNDIFF_NO_PEAK] = "peak_unknown",
        [TTS_RUNDIFF_LATER] = "peak_in_later_iteration",
        [TTS_RUNDIFF_CUT] = "cut_off",
        [TTS_RUNDIFF_NO_PHASE] = "phase_of_peak_unmatched",
        [TTS_RUNDIFF_UNKNOWN] = "figure_unknown",
        [TTS_RUNDIFF_CONTRADICTION] = "contradiction",
    };
    static const char *const part_names[] = {
        [TTS_RUN_PART_OTHER] = "other",
        [TTS_RUN_PART_MODEL] = "model",
        [TTS_RUN_PART_GRADIENTS] = "gradients_overhead",
        [TTS_RUN_PART_OPTIMIZER] = "optimizer",
        [TTS_RUN_PART_ACTIVATIONS] = "activations",
    };
    const struct tts_rundiff_cause *cause = &diff->cause;
    bool is_told = cause->reason == TTS_RUNDIFF_TOLD;
    bool has_peak = is_told || cause->reason == TTS_RUNDIFF_NO_PHASE;
    tts_json_object(json, "cause");
    tts_json_text(json, "reason", reasons[cause->reason]);
    tts_json_text_or_null(json, "peak_phase",
                          has_peak ? diff->phases[cause->peak_phase].name : NULL);
    tts_json_text_or_null(json, "other_peak_phase",
                          is_told && cause->has_other ? diff->phases[cause->other_phase].name
                                                      : NULL);
    tts_json_text_or_null(json, "part", cause->has_part ? part_names[cause->part] : NULL);
    tts_json_text_or_null(json, "phase", is_told ? diff->phases[cause->phase].name : NULL);
    if (is_told) {
        int64_t bytes = diff->phases[cause->phase].contribution.bytes;
        int64_t whole = diff->peak.change.bytes;
        tts_json_text(json, "figure", cause->is_peak ? "segment_peak" : "change");
        tts_json_signed(json, "contribution_bytes", bytes);
        /* Positive if the phase changed in the same direction as the peak. */
        int64_t along = bytes == INT64_MIN ? INT64_MAX : -bytes;
        put_ratio(json, "contribution_ratio", whole < 0 ? along : bytes, whole);
        tts_json_signed(json, "not_peak_bytes", cause->not_peak);
        tts_json_signed(json, "rounding_bytes", cause->rounding);
    }
    tts_json_object_end(json);
}

/* ---- pairs ---- */

static void put_diff_parts(struct tts_json *json, const char *key, const char *gradients,
                           const struct tts_delta *parts)
{
    tts_json_object(json, key);
    put_delta(json, "model", &parts[TTS_RUN_PART_MODEL]);
    put_delta(json, "optimizer", &parts[TTS_RUN_PART_OPTIMIZER]);
    put_delta(json, gradients, &parts[TTS_RUN_PART_GRADIENTS]);
    put_delta(json, "activations", &parts[TTS_RUN_PART_ACTIVATIONS]);
    put_delta(json, "other", &parts[TTS_RUN_PART_OTHER]);
    tts_json_object_end(json);
}

static void put_pair(struct tts_json *json, const struct tts_diff_pair *pair)
{
    const struct tts_rundiff *diff = &pair->diff;
    tts_json_object(json, NULL);
    put_diff_run(json, "a", pair, TTS_DIFF_A);
    put_diff_run(json, "b", pair, TTS_DIFF_B);
    tts_json_text_or_null(json, "by",
                          pair->by == TTS_RUNPAIR_NONE
                              ? NULL
                              : tts_runpair_by_name(pair->by, pair->runs[TTS_DIFF_A].run,
                                                    pair->runs[TTS_DIFF_B].run));
    tts_json_bool(json, "differs", diff->differs);
    tts_json_bool(json, "rounded", diff->is_rounded);
    tts_json_number(json, "compared_figures", diff->compared);
    put_delta(json, "peak", &diff->peak);
    put_delta(json, "final", &diff->final);
    put_cause(json, diff);
    put_diff_parts(json, "sizes", "gradients", diff->sizes);
    put_delta(json, "activations_sum", &diff->activations_sum);
    put_diff_parts(json, "breakdown", "gradients_overhead", diff->parts);
    tts_json_array(json, "phases");
    for (size_t i = 0; i < diff->phase_count; i++)
        put_diff_phase(json, &diff->phases[i]);
    tts_json_array_end(json);
    tts_json_object_end(json);
}

void tts_diff_json(const struct tts_diff_answer *answer, struct tts_json *json)
{
    bool differs = false;
    for (size_t i = 0; i < answer->pair_count; i++)
        differs |= answer->pairs[i].diff.differs;
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.diff");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    put_input(json, "a", &answer->inputs[TTS_DIFF_A]);
    put_input(json, "b", &answer->inputs[TTS_DIFF_B]);
    tts_json_bool(json, "differs", differs);
    tts_json_array(json, "pairs");
    for (size_t i = 0; i < answer->pair_count; i++)
        put_pair(json, &answer->pairs[i]);
    tts_json_array_end(json);
    put_diff_unpaired(json, "only_in_a", &answer->inputs[TTS_DIFF_A], answer->is_chosen);
    put_diff_unpaired(json, "only_in_b", &answer->inputs[TTS_DIFF_B], answer->is_chosen);
    tts_json_object_end(json);
}
