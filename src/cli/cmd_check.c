/* cmd_check.c: holds runs against a budget. */
#include "base/heap.h"
#include "base/number.h"
#include "cli/check_parts.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/message.h"

#include <limits.h>
#include <string.h>

static const char command[] = TTS_CHECK_COMMAND;

/* ---- outputs ---- */

/* Opens all outputs before any work is done. Returns false after the problem was printed. */
static bool open_outputs(struct tts_job *frame, struct tts_check_job *job)
{
    const struct tts_check_options *options = &job->options;
    struct tts_error err = {0};
    FILE *junit = NULL, *sarif = NULL;
    if (options->junit_path && !(junit = tts_job_open(frame, options->junit_path)))
        return false;
    if (options->sarif_path && !(sarif = tts_job_open(frame, options->sarif_path)))
        return false;
    job->out = tts_job_open(frame, "-");
    if (!job->out || (options->github && !(job->github = tts_job_open(frame, "-"))))
        return false;
    if (junit && tts_junit_begin(&job->junit, junit, "ttscope check", &err) != TTS_OK) {
        tts_message(command, "%s", err.text);
        return false;
    }
    if (sarif)
        tts_check_sarif_begin(&job->sarif, sarif);
    return true;
}

/* Completes all outputs. Returns false after the problem was printed. */
static bool end_outputs(struct tts_check_job *job)
{
    const struct tts_check_options *options = &job->options;
    struct tts_error err = {0};
    if (options->junit_path && tts_check_junit_end(&job->junit, job, &err) != TTS_OK) {
        tts_message(command, "%s", err.text);
        return false;
    }
    if (options->sarif_path)
        tts_check_sarif_end(&job->sarif, job);
    if (options->json)
        tts_check_json_end(&job->json, job);
    else if (!options->quiet)
        tts_check_text_end(job->out, job);
    if (options->github)
        tts_check_github_end(job->github, job);
    return true;
}

/* ---- a limit ---- */

static void on_finding(void *ctx, const struct tts_budget_finding *finding)
{
    struct tts_check_job *job = ctx;
    const struct tts_check_options *options = &job->options;
    if (options->json)
        tts_check_json_finding(&job->json, job->run, finding);
    else if (!options->quiet)
        tts_check_text_finding(job->out, job->run, finding);
    if (options->github || options->sarif_path)
        tts_check_report_finding(job, finding);
}

static void judge_limit(struct tts_check_job *job, const struct tts_budget_input *input,
                        size_t limit_idx)
{
    struct tts_budget_verdict verdict;
    /* JSON says what became of a limit before it lists its phases. */
    if (job->options.json) {
        tts_budget_judge(input, limit_idx, NULL, NULL, &verdict);
        tts_check_json_limit(&job->json, job->run, limit_idx, &verdict);
    }
    tts_budget_judge(input, limit_idx, on_finding, job, &verdict);
    if (job->options.json)
        tts_check_json_limit_end(&job->json);
    if (job->options.junit_path)
        tts_check_junit_limit(&job->junit, job->run, limit_idx, &verdict);
    job->run_counts.over += verdict.status == TTS_BUDGET_OVER;
    job->run_counts.unknown += verdict.status == TTS_BUDGET_UNKNOWN;
    job->run_counts.passed += verdict.status == TTS_BUDGET_PASS;
}

/* ---- a run ---- */

/* Two logs round alike, and bytes are bytes. */
static int64_t rounding_of(const struct tts_check_run *run)
{
    return run->run->is_exact == run->baseline->is_exact ? 0 : TTS_RUN_HALF_STEP_BYTES;
}

/* Said once; a share of what nobody named is easily taken for one of the device. */
static void note_assumed(struct tts_check_job *job, const struct tts_trainmem *mem)
{
    char mb[TTS_NUMBER_MB_MAX];
    if (mem->device_memory_source != TTS_TRAIN_ASSUMED || job->assumed.is_known ||
        !tts_check_needs_device(&job->plan.budget))
        return;
    job->assumed = mem->device_memory;
    tts_message(command,
                "note: %s MB of device memory are assumed, name a device in the budget",
                tts_number_format_mb(mb, mem->device_memory.bytes, false));
}

static void begin_run(struct tts_check_job *job, const struct tts_check_run *run)
{
    bool is_partial = tts_check_is_partial(run->run);
    job->run = run;
    job->run_counts = (struct tts_check_counts){.runs = 1};
    job->run_counts.is_partial =
        is_partial || (run->baseline && tts_check_is_partial(run->baseline));
    note_assumed(job, &run->mem);
    if (job->options.json)
        tts_check_json_run(&job->json, run);
    else if (!job->options.quiet)
        tts_check_text_run(job->out, run);
    if (is_partial)
        tts_check_report_run(job, run);
}

static void end_run(struct tts_check_job *job)
{
    if (job->options.json)
        tts_check_json_run_end(&job->json, &job->run_counts);
    job->counts.over += job->run_counts.over;
    job->counts.unknown += job->run_counts.unknown;
    job->counts.passed += job->run_counts.passed;
    job->counts.runs++;
}

static enum tts_status judge_run(struct tts_check_job *job, struct tts_check_run *run,
                                 struct tts_error *err)
{
    struct tts_trainmem base_mem;
    uint32_t *pairs = NULL, *ordinals = NULL;
    enum tts_status status = TTS_OK;
    tts_trainmem_of(run->run, &job->plan.mem, &run->mem);
    struct tts_budget_input input = {.budget = &job->plan.budget,
                                     .run = run->run,
                                     .mem = &run->mem,
                                     .core_bytes = job->plan.core_bytes};
    if (run->baseline) {
        status = tts_budget_pairs_new(run->run, run->baseline, NULL, &pairs, err);
        tts_trainmem_of(run->baseline, &job->plan.mem, &base_mem);
        input.baseline = run->baseline;
        input.baseline_mem = &base_mem;
        input.pairs = pairs;
        input.rounding_bytes = rounding_of(run);
    }
    if (status == TTS_OK && job->options.sarif_path)
        status = tts_check_ordinals_new(run->run, &ordinals, err);
    if (status == TTS_OK) {
        run->ordinals = ordinals;
        begin_run(job, run);
        for (size_t i = 0; i < job->plan.budget.limit_count; i++)
            judge_limit(job, &input, i);
        end_run(job);
    }
    tts_check_ordinals_free(ordinals, run->run);
    tts_budget_pairs_free(pairs, run->run, NULL);
    return status;
}

static enum tts_status judge_all(struct tts_check_job *job, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < job->run_count && status == TTS_OK; i++) {
        struct tts_check_run run;
        tts_check_run_at(job, i, &run);
        status = judge_run(job, &run, err);
    }
    return status;
}

/* ---- all of it ---- */

static int exit_code_of(const struct tts_check_job *job)
{
    if (job->counts.runs == 0)
        return TTS_EXIT_INPUT;
    switch (tts_check_status_of(&job->counts)) {
    case TTS_BUDGET_OVER:
        return TTS_EXIT_BAD_NEWS;
    case TTS_BUDGET_UNKNOWN:
        return TTS_EXIT_PARTIAL;
    case TTS_BUDGET_PASS:
        break;
    }
    return TTS_EXIT_DONE;
}

/* Without a run, or a baseline that is needed, nothing can be judged. The reports are written
 * all the same: those of the day before would be taken for the reports of this run. */
static int check_runs(struct tts_job *frame, struct tts_check_job *job)
{
    struct tts_error err = {0};
    if (!open_outputs(frame, job))
        return TTS_EXIT_INPUT;
    enum tts_status status = tts_check_load(job, &err);
    tts_json_init(&job->json, job->out);
    if (status == TTS_OK && job->options.json)
        tts_check_json_begin(&job->json, &job->plan, job->options.budget_path);
    if (status == TTS_OK && (!job->plan.needs_baseline || job->baseline.runs.count > 0))
        status = judge_all(job, &err);
    if (status != TTS_OK)
        return tts_job_fail(frame, NULL, &err);
    return end_outputs(job) ? tts_job_commit(frame, exit_code_of(job)) : TTS_EXIT_INPUT;
}

/* A budget that is no budget: only the reports have something to say. */
static void report_budget(struct tts_job *frame, struct tts_check_job *job)
{
    job->options.json = job->options.github = false;
    job->options.quiet = true;
    job->budget.path = job->options.budget_path;
    snprintf(job->budget.problem, sizeof job->budget.problem,
             "the budget cannot be used: nothing was checked");
    job->counts.is_partial = true;
    job->options.path_count = 0; /* none was looked at */
    if (open_outputs(frame, job) && end_outputs(job))
        tts_job_commit(frame, TTS_EXIT_INPUT);
}

static int run_with_files(struct tts_job *frame, struct tts_check_job *job)
{
    int code = tts_check_plan_make(&job->options, &job->plan);
    if (code == TTS_EXIT_DONE)
        code = check_runs(frame, job);
    else if (code == TTS_EXIT_INPUT)
        report_budget(frame, job);
    tts_junit_release(&job->junit);
    tts_check_release(job);
    return code;
}

static int run_check(struct tts_job *frame, void *values)
{
    struct tts_check_job *job = values;
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t bytes = (size_t)(frame->operand_count + 1) * sizeof *job->files;
    job->options.paths = frame->operands;
    job->options.path_count = (size_t)frame->operand_count;
    if (!tts_check_options_are_good(&job->options))
        return TTS_EXIT_USAGE;
    job->files = alloc->alloc(alloc->ctx, bytes);
    if (!job->files) {
        tts_message(command, "out of memory");
        return TTS_EXIT_INPUT;
    }
    memset(job->files, 0, bytes);
    int code = run_with_files(frame, job);
    alloc->free(alloc->ctx, job->files, bytes);
    return code;
}

const struct tts_command tts_check_command = {
    .name = TTS_CHECK_COMMAND,
    .operands = "RUN",
    .summary = "does a run stay within a memory budget",
    .work = run_check,
    .options = tts_check_options_table,
    .values_bytes = sizeof(struct tts_check_job),
    .operands_max = INT_MAX,
};
