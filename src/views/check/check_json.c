/* check_json.c: writes the answer of `check` as JSON (docs/design/check-json.md). */
#include "views/check/check_view.h"
#include "views/phase_json.h"

enum { ALL = 100 * 100 };

/* Writes a line number, or null if the line is unknown. */
static void put_line(struct tts_json *json, const char *key, uint64_t line)
{
    tts_json_number_or_null(json, key, line > 0, line);
}

void tts_check_json_begin(struct tts_json *json, const struct tts_check_answer *answer)
{
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.check");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "budget", answer->budget.path);
    tts_json_text_or_null(json, "baseline", answer->baseline.path);
    tts_json_text_or_null(json, "device", answer->plan.device);
    tts_json_array(json, "runs");
}

/* Returns the word for the origin of the device memory. The budget is an origin of its own. */
static const char *device_source_name(const struct tts_check_run *run)
{
    enum tts_train_source source = run->input.run.mem->device_memory_source;
    if (run->answer->plan.is_budget_device && source == TTS_TRAIN_FROM_OPTION)
        return "budget";
    if (run->answer->plan.is_budget_device && source == TTS_TRAIN_FROM_DEVICE)
        return "budget_device";
    return tts_train_source_name(source);
}

static void put_check_notes(struct tts_json *json, const struct tts_run *run)
{
    tts_json_number(json, "notes_in_all", run->notes_in_all);
    tts_json_array(json, "notes");
    for (size_t i = 0; i < tts_check_notes(run); i++) {
        struct tts_run_note note = tts_check_note(run, i);
        tts_json_object(json, NULL);
        put_line(json, "line", note.line);
        tts_json_text(json, "text", note.text);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

/* Writes the fields that identify a run of the baseline. */
static void put_base(struct tts_json *json, const struct tts_run *run, size_t idx)
{
    tts_json_number(json, "number", idx + 1);
    tts_json_text_or_null(json, "title", run->title);
    tts_json_text_or_null(json, "rank", run->rank);
    put_line(json, "line", run->line);
}

void tts_check_json_run(struct tts_json *json, const struct tts_check_run *run)
{
    tts_json_object(json, NULL);
    tts_json_text(json, "name", run->input.run.name);
    tts_json_text_or_null(json, "title", run->input.run.run->title);
    tts_json_text_or_null(json, "rank", run->input.run.run->rank);
    tts_json_text(json, "file", run->input.run.path);
    put_line(json, "line", run->input.run.run->line);
    tts_json_bool(json, "cut", run->input.run.run->is_cut);
    tts_json_bool(json, "at_least", run->input.run.run->is_at_least);
    put_check_notes(json, run->input.run.run);
    tts_json_amount(json, "device_memory_bytes", run->input.run.mem->device_memory);
    tts_json_text_or_null(json, "device_memory_source", device_source_name(run));
    tts_json_amount(json, "core_l1_bytes", run->input.core_bytes);
    if (run->input.baseline.run) {
        tts_json_object(json, "baseline");
        put_base(json, run->input.baseline.run, run->pair.b);
        tts_json_text(
            json, "by",
            tts_runpair_by_name(run->pair.by, run->input.run.run, run->input.baseline.run));
        put_check_notes(json, run->input.baseline.run);
        tts_json_object_end(json);
    } else {
        tts_json_null(json, "baseline");
    }
    tts_json_array(json, "checks");
}

static void put_limit(struct tts_json *json, const struct tts_budget_limit *limit)
{
    static const char *const units[] = {[TTS_BUDGET_BYTES] = "bytes",
                                        [TTS_BUDGET_SHARE] = "share",
                                        [TTS_BUDGET_GROWTH_BYTES] = "growth_bytes",
                                        [TTS_BUDGET_GROWTH_SHARE] = "growth_share"};
    tts_json_object(json, "limit");
    tts_json_text(json, "unit", units[limit->unit]);
    if (limit->unit == TTS_BUDGET_BYTES || limit->unit == TTS_BUDGET_GROWTH_BYTES) {
        tts_json_number(json, "bytes", limit->amount);
        tts_json_null(json, "ratio");
    } else {
        tts_json_null(json, "bytes");
        tts_json_ratio(json, "ratio", limit->amount, ALL);
    }
    tts_json_object_end(json);
}

static const char *check_status_name(enum tts_budget_status status)
{
    static const char *const names[] = {[TTS_BUDGET_PASS] = "pass",
                                        [TTS_BUDGET_UNKNOWN] = "unknown",
                                        [TTS_BUDGET_OVER] = "over"};
    return names[status];
}

static void put_check_finding(struct tts_json *json, const struct tts_check_run *run,
                              const struct tts_budget_finding *finding)
{
    static const char *const figures[] = {[TTS_BUDGET_OF_DRAM] = "dram",
                                          [TTS_BUDGET_OF_CORE] = "true_core_peak",
                                          [TTS_BUDGET_OF_TOTAL] = "peak_total",
                                          [TTS_BUDGET_OF_CB] = "peak_cb"};
    char text[TTS_CHECK_TEXT_MAX];
    tts_json_object(json, NULL);
    tts_json_text(json, "status", check_status_name(finding->status));
    tts_json_text_or_null(json, "reason", tts_budget_reason_text(finding->reason));
    tts_json_text_or_null(json, "phase",
                          finding->has_phase ? run->input.run.run->phases[finding->phase].name
                                             : NULL);
    put_line(json, "line", tts_check_line(run, finding));
    tts_json_number(json, "phases", finding->phases);
    tts_json_text_or_null(json, "figure",
                          finding->measured.is_known ? figures[finding->figure] : NULL);
    tts_json_amount(json, "measured_bytes", finding->measured);
    tts_json_bool(json, "at_least", finding->at_least);
    tts_json_amount(json, "limit_bytes", finding->limit);
    tts_json_amount(json, "baseline_bytes", finding->baseline);
    tts_json_signed(json, "excess_bytes", finding->excess);
    tts_json_text(json, "text", tts_check_text(text, run, finding));
    tts_json_object_end(json);
}

void tts_check_json_limit(struct tts_json *json, const struct tts_check_run *run,
                          const struct tts_budget_verdict *verdict,
                          const struct tts_budget_finding *findings, size_t count)
{
    const struct tts_budget *budget = &run->answer->plan.budget;
    const struct tts_budget_limit *limit = &budget->limits[verdict->worst.limit_idx];
    bool is_phase = tts_budget_rule_place(limit->rule) == TTS_BUDGET_PHASE;
    tts_json_object(json, NULL);
    tts_json_text(json, "rule", tts_budget_rule_id(limit->rule));
    tts_json_text(json, "key", tts_budget_rule_key(limit->rule));
    tts_json_text_or_null(json, "pattern",
                          is_phase ? budget->patterns[limit->pattern].text : NULL);
    tts_json_number(json, "budget_line", limit->line);
    put_limit(json, limit);
    tts_json_text(json, "status", check_status_name(verdict->status));
    tts_json_number(json, "over", verdict->over);
    tts_json_number(json, "unknown", verdict->unknown);
    tts_json_number(json, "passed", verdict->passed);
    tts_json_array(json, "findings");
    for (size_t i = 0; i < count; i++)
        put_check_finding(json, run, &findings[i]);
    tts_json_array_end(json);
    tts_json_object_end(json);
}

static void put_check_counts(struct tts_json *json, const struct tts_budget_counts *counts)
{
    tts_json_number(json, "over", counts->over);
    tts_json_number(json, "unknown", counts->unknown);
    tts_json_number(json, "passed", counts->passed);
    tts_json_bool(json, "partial", counts->is_partial);
    tts_json_text(json, "status", check_status_name(tts_budget_status_of(counts)));
}

void tts_check_json_run_end(struct tts_json *json, const struct tts_budget_counts *counts)
{
    tts_json_array_end(json);
    put_check_counts(json, counts);
    tts_json_object_end(json);
}

static void put_unpaired(struct tts_json *json, const struct tts_check_answer *answer)
{
    const struct tts_runs *bases = &answer->baseline.runs;
    tts_json_array(json, "unpaired");
    for (size_t i = 0; i < bases->count; i++) {
        if (answer->is_paired[i])
            continue;
        tts_json_object(json, NULL);
        put_base(json, &bases->runs[i], i);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

void tts_check_json_end(struct tts_json *json, const struct tts_check_answer *answer)
{
    tts_json_array_end(json);
    put_unpaired(json, answer);
    tts_json_text_or_null(json, "baseline_problem", answer->baseline.problem);
    tts_json_array(json, "files");
    for (size_t i = 0; i < answer->file_count; i++) {
        const struct tts_check_file *file = &answer->files[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "path", file->path);
        tts_json_number(json, "runs", file->runs.count);
        tts_json_number(json, "unlisted", file->runs.unlisted);
        tts_json_text_or_null(json, "problem", file->problem);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    put_check_counts(json, &answer->counts);
    tts_json_object_end(json);
}
