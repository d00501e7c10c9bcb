/* cmd_check.c: holds runs against a budget. */
#include "base/heap.h"
#include "base/number.h"
#include "cli/check_parts.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"

#include <string.h>

static const char command[] = TTS_CHECK_COMMAND;

/* ---- outputs ---- */

/* What cannot be written is said before any work. */
static enum tts_status open_outputs(struct tts_check_job *job, struct tts_error *err)
{
    const struct tts_check_options *options = &job->options;
    enum tts_status status = tts_outfile_open(&job->out, "-", err);
    if (status == TTS_OK && options->github)
        status = tts_outfile_open(&job->github, "-", err);
    if (status == TTS_OK && options->junit_path)
        status = tts_outfile_open(&job->junit_file, options->junit_path, err);
    if (status == TTS_OK && options->sarif_path)
        status = tts_outfile_open(&job->sarif_file, options->sarif_path, err);
    if (status == TTS_OK && options->junit_path)
        status = tts_junit_begin(&job->junit, job->junit_file.stream, "ttscope check", err);
    return status;
}

static void begin_outputs(struct tts_check_job *job)
{
    if (job->options.sarif_path)
        tts_check_sarif_begin(&job->sarif, job->sarif_file.stream);
    tts_json_init(&job->json, job->out.stream);
    if (job->options.json)
        tts_check_json_begin(&job->json, &job->plan, job->options.budget_path);
}

static void abandon_outputs(struct tts_check_job *job)
{
    tts_outfile_abandon(&job->out);
    tts_outfile_abandon(&job->github);
    tts_junit_release(&job->junit);
    tts_outfile_abandon(&job->junit_file);
    tts_outfile_abandon(&job->sarif_file);
}

static void commit(struct tts_check_job *job, struct tts_outfile *file)
{
    struct tts_error err = {0};
    if (!file->stream || tts_outfile_commit(file, &err) == TTS_OK)
        return;
    tts_message(command, "%s", err.text);
    job->is_failed = true;
}

static void end_outputs(struct tts_check_job *job)
{
    const struct tts_check_options *options = &job->options;
    struct tts_error err = {0};
    if (options->junit_path && tts_check_junit_end(&job->junit, job, &err) != TTS_OK) {
        tts_message(command, "%s", err.text);
        job->is_failed = true;
        tts_outfile_abandon(&job->junit_file);
    }
    if (options->sarif_path)
        tts_check_sarif_end(&job->sarif, job);
    if (options->json)
        tts_check_json_end(&job->json, job);
    else if (!options->quiet)
        tts_check_text_end(job->out.stream, job);
    if (options->github)
        tts_check_github_end(job->github.stream, job);
    commit(job, &job->junit_file);
    commit(job, &job->sarif_file);
    commit(job, &job->out);
    commit(job, &job->github);
}

/* ---- a limit ---- */

static void on_finding(void *ctx, const struct tts_budget_finding *finding)
{
    struct tts_check_job *job = ctx;
    const struct tts_check_options *options = &job->options;
    if (options->json)
        tts_check_json_finding(&job->json, job->run, finding);
    else if (!options->quiet)
        tts_check_text_finding(job->out.stream, job->run, finding);
    if (options->github)
        tts_check_github_finding(job->github.stream, job->run, finding, options->budget_path);
    if (options->sarif_path)
        tts_check_sarif_finding(&job->sarif, job->run, finding);
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
        tts_check_text_run(job->out.stream, run);
    if (is_partial && job->options.junit_path)
        tts_check_junit_run(&job->junit, run);
    if (is_partial && job->options.github)
        tts_check_github_run(job->github.stream, run);
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
    if (job->is_failed || job->counts.runs == 0)
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

/* Without a run, or a baseline that is needed, there is nothing to judge, but reports: those of
 * the day before would be taken for this one's. */
static int run(struct tts_check_job *job)
{
    struct tts_error err = {0};
    enum tts_status status = open_outputs(job, &err);
    if (status == TTS_OK)
        status = tts_check_load(job, &err);
    if (status == TTS_OK) {
        begin_outputs(job);
        if (!job->plan.needs_baseline || job->baseline.runs.count > 0)
            status = judge_all(job, &err);
    }
    if (status != TTS_OK) {
        tts_message(command, "%s", err.text);
        return TTS_EXIT_INPUT;
    }
    end_outputs(job);
    return exit_code_of(job);
}

/* A budget that is no budget: only the reports have something to say. */
static void report_budget(struct tts_check_job *job)
{
    struct tts_error err = {0};
    job->options.json = job->options.github = false;
    job->options.quiet = true;
    job->budget.path = job->options.budget_path;
    snprintf(job->budget.problem, sizeof job->budget.problem,
             "the budget cannot be used: nothing was checked");
    job->counts.is_partial = true;
    job->options.path_count = 0; /* none was looked at */
    if (open_outputs(job, &err) != TTS_OK)
        return;
    begin_outputs(job);
    end_outputs(job);
}

static int run_options(struct tts_check_job *job, char **argv)
{
    int exit_code;
    if (tts_check_options_read(&job->options, argv, &exit_code) != TTS_OPTIONS_END)
        return exit_code;
    exit_code = tts_check_plan_make(&job->options, &job->plan);
    if (exit_code == TTS_EXIT_DONE)
        return run(job);
    if (exit_code == TTS_EXIT_INPUT)
        report_budget(job);
    return exit_code;
}

struct room {
    struct tts_check_job job;
    /* behind: the files, their names */
    struct tts_check_file files[];
};

int tts_cmd_check(int argc, char **argv)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t count = (size_t)argc + 1;
    size_t names_at = sizeof(struct room) + count * sizeof(struct tts_check_file);
    size_t bytes = names_at + count * sizeof(char *);
    struct room *room = alloc->alloc(alloc->ctx, bytes);
    if (!room) {
        tts_message(command, "out of memory");
        return TTS_EXIT_INPUT;
    }
    memset(room, 0, bytes);
    room->job.files = room->files;
    void *names = (char *)room + names_at;
    room->job.options.paths = names;
    int exit_code = run_options(&room->job, argv);
    abandon_outputs(&room->job);
    tts_check_release(&room->job);
    alloc->free(alloc->ctx, room, bytes);
    return exit_code;
}
