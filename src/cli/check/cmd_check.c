/* cmd_check.c: the command `check`, which checks runs against a budget. */
#include "analysis/run/phasepairs.h"
#include "base/bytesize.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "base/share.h"
#include "cli/commands.h"
#include "cli/device_arg.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/same_file.h"
#include "sources/config/budgetfile.h"
#include "sources/runs/runs.h"
#include "views/check/check_view.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

static const char command[] = "check";

/* The values of the options. Strings are borrowed from argv. */
struct check_options {
    const char *budget_path;
    const char *baseline_path, *junit_path, *sarif_path; /* NULL if not given */
    char **paths;                                        /* the operands */
    size_t path_count;
    struct tts_device_arg device;    /* name is NULL if not given */
    struct tts_amount device_memory; /* unknown if not given */
    bool json, github, quiet;
};

struct check_job {
    struct check_options options;
    struct tts_check_answer answer;
    struct tts_run *runs;      /* runs of all files, in order */
    struct tts_runpair *pairs; /* one for each run */
    size_t run_count;
    size_t memory_bytes; /* size of the block that holds these arrays and answer.is_paired */
    FILE *out;           /* owned by the tts_job, like the streams of the reports */
    struct tts_json json;
    struct tts_check_reports reports;
    const struct tts_check_run *run; /* the run that is being judged */
    /* The findings of the limit that is being judged; only for JSON, which writes the verdict
     * before the findings. */
    struct tts_budget_finding *findings;
    size_t finding_count, finding_capacity;
    bool lacks_memory; /* a finding could not be stored */
    struct tts_budget_counts run_counts;
};

static enum tts_status take_memory(void *target, const char *text, struct tts_error *err)
{
    uint64_t bytes = 0;
    if (tts_bytesize_parse(text, &bytes) != TTS_OK || bytes == 0)
        return tts_error_set(err, TTS_E_SYNTAX,
                             "expected a number of bytes such as 12884901888, 1.2e9 or 12GiB");
    *(struct tts_amount *)target = tts_amount_of((int64_t)bytes);
    return TTS_OK;
}

/* Stores the path of an output. A path that leads to standard output, such as /dev/stdout,
 * becomes "-". */
static enum tts_status take_check_output(void *target, const char *text, struct tts_error *err)
{
    (void)err;
    *(const char **)target = tts_stdout_path(text);
    return TTS_OK;
}

#define AT(member) offsetof(struct check_job, options.member)

static const struct tts_option check_options_table[] = {
    {"budget", 'b', TTS_OPTION_TEXT, AT(budget_path), "FILE", "file with the limits",
     .is_once = true},
    {"baseline", 0, TTS_OPTION_TEXT, AT(baseline_path), "FILE", "run to compare with",
     .is_once = true},
    {"device", 'd', TTS_OPTION_TEXT, AT(device.name), "NAME", "device of the run",
     .is_once = true},
    {"set", 0, TTS_OPTION_OTHER, AT(device), "KEY=VALUE", "change a property of the device",
     .take = tts_device_arg_take_set},
    {"device-memory", 0, TTS_OPTION_OTHER, AT(device_memory), "BYTES", "memory of the device",
     .excludes = "device", .take = take_memory},
    {"json", 'j', TTS_OPTION_FLAG, AT(json), .help = "write JSON"},
    {"junit", 0, TTS_OPTION_OTHER, AT(junit_path), "FILE", "also write a JUnit report",
     .is_once = true, .take = take_check_output},
    {"sarif", 0, TTS_OPTION_OTHER, AT(sarif_path), "FILE", "also write findings as SARIF",
     .is_once = true, .take = take_check_output},
    {"github", 0, TTS_OPTION_FLAG, AT(github), .help = "also write GitHub annotations",
     .excludes = "json"},
    {"quiet", 'q', TTS_OPTION_FLAG, AT(quiet), .help = "print nothing, only set the exit code",
     .excludes = "json"},
    {0},
};

#undef AT

/* ---- checks of inputs and outputs ---- */

static bool is_standard(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static bool inputs_are_good(const struct check_options *options)
{
    int standard = is_standard(options->budget_path) + is_standard(options->baseline_path) +
                   is_standard(options->device.name);
    for (size_t i = 0; i < options->path_count; i++)
        standard += is_standard(options->paths[i]);
    if (!options->budget_path)
        tts_message(command, "no budget: give '--budget FILE' (see 'ttscope help check')");
    else if (options->path_count == 0)
        tts_message(
            command,
            "no run to check: give a log, a recording or a result saved with '--json' ('-' is "
            "standard input)");
    else if (standard > 1)
        tts_message(command, "standard input can be read only once");
    else
        return true;
    return false;
}

/* Returns true if no output would replace the input `path`. Returns false after printing a
 * message. */
static bool check_is_apart(const struct check_options *options, const char *path)
{
    const char *const outputs[] = {options->junit_path, options->sarif_path};
    for (size_t i = 0; path && i < sizeof outputs / sizeof outputs[0]; i++) {
        if (!outputs[i] || !tts_same_file(path, outputs[i]))
            continue;
        tts_message(command, "'%s' is an input: write the output to another file", outputs[i]);
        return false;
    }
    return true;
}

static bool outputs_are_good(const struct check_options *options)
{
    const char *junit = options->junit_path, *sarif = options->sarif_path;
    if (is_standard(junit) || is_standard(sarif)) {
        tts_message(command, "standard output is used for the report: '%s' needs a file",
                    is_standard(junit) ? "--junit" : "--sarif");
        return false;
    }
    if (junit && sarif && (strcmp(junit, sarif) == 0 || tts_same_output(junit, sarif))) {
        tts_message(command, "'%s' is given for both '--junit' and '--sarif': choose two files",
                    junit);
        return false;
    }
    for (size_t i = 0; i < options->path_count; i++)
        if (!check_is_apart(options, options->paths[i]))
            return false;
    return check_is_apart(options, options->budget_path) &&
           check_is_apart(options, options->baseline_path) &&
           (!options->device.name || !tts_device_arg_is_file(&options->device) ||
            check_is_apart(options, options->device.name));
}

/* Returns true if the inputs are complete and no output would replace an input or another
 * output. Returns false after printing a message. */
static bool check_options_are_good(const struct check_options *options)
{
    return inputs_are_good(options) && outputs_are_good(options);
}

/* Resolves a path that the budget names. A relative path starts at the budget's directory.
 * Returns false after printing a message if the path is too long. */
static bool beside_budget(const struct check_options *options, const char *name,
                          char out[TTS_PATH_MAX])
{
    const char *slash = strrchr(options->budget_path, '/');
    size_t dir = slash && name[0] != '/' ? (size_t)(slash - options->budget_path) + 1 : 0;
    int need = snprintf(out, TTS_PATH_MAX, "%.*s%s", (int)dir, options->budget_path, name);
    if (need > 0 && need < TTS_PATH_MAX)
        return true;
    tts_message(command, "%s: the path of '%.40s' is too long",
                tts_message_path(options->budget_path), name);
    return false;
}

static int refuse_budget(const struct check_options *options, uint32_t line, const char *text)
{
    tts_message_at(command, options->budget_path, line, text);
    return TTS_EXIT_INPUT;
}

/* ---- the baseline ---- */

static int plan_baseline(const struct check_options *options, struct tts_check_plan *plan)
{
    const struct tts_budget *budget = &plan->budget;
    size_t first = tts_budget_first_growth(budget);
    plan->needs_baseline = first < budget->limit_count;
    if (options->baseline_path) {
        plan->baseline = options->baseline_path;
        if (!plan->needs_baseline)
            tts_message(command, "note: no limit of '%s' uses a baseline; '%s' is not read",
                        tts_message_path(options->budget_path), plan->baseline);
        return TTS_EXIT_DONE;
    }
    if (budget->baseline[0] == '\0')
        return plan->needs_baseline
                   ? refuse_budget(options, budget->limits[first].line,
                                   "a growth limit needs a baseline: give 'baseline: FILE' in "
                                   "the budget, or '--baseline FILE'")
                   : TTS_EXIT_DONE;
    if (!beside_budget(options, budget->baseline, plan->baseline_path))
        return TTS_EXIT_INPUT;
    plan->baseline = plan->baseline_path;
    return check_is_apart(options, plan->baseline) ? TTS_EXIT_DONE : TTS_EXIT_USAGE;
}

/* ---- the device ---- */

/* Chooses the device that the option names, or else the device that the budget names. Returns
 * an exit code. */
static int name_device(struct check_options *options, struct tts_check_plan *plan)
{
    struct tts_device_arg *arg = &options->device;
    struct tts_error err = {0};
    struct tts_chip chip;
    if (arg->name || plan->budget.device[0] == '\0') {
        if (arg->name || arg->set_count == 0)
            return TTS_EXIT_DONE;
        tts_message(command, "'--set' needs '--device NAME'");
        return TTS_EXIT_USAGE;
    }
    plan->is_budget_device = true;
    arg->name = plan->budget.device;
    if (!tts_device_arg_is_file(arg)) {
        if (tts_chip_preset(arg->name, &chip, &err) == TTS_OK)
            return TTS_EXIT_DONE;
        return refuse_budget(options, plan->budget.device_line, err.text);
    }
    if (!beside_budget(options, plan->budget.device, plan->device_path))
        return TTS_EXIT_INPUT;
    arg->name = plan->device_path;
    return check_is_apart(options, arg->name) ? TTS_EXIT_DONE : TTS_EXIT_USAGE;
}

/* Returns the size of a bank of a pool, or with `of_all` the size of all its banks. The size is
 * unknown if the chip does not state it. */
static struct tts_amount pool_bytes(const struct tts_chip *chip, enum tts_pool pool,
                                    bool of_all)
{
    struct tts_pool_layout layout;
    uint64_t bytes;
    if (tts_chip_pool(chip, pool, &layout, NULL) != TTS_OK ||
        __builtin_mul_overflow(of_all ? layout.banks : 1, layout.bank_bytes, &bytes) ||
        bytes == 0 || bytes > TTS_BYTESIZE_MAX)
        return (struct tts_amount){0};
    return tts_amount_of((int64_t)bytes);
}

/* Takes the L1 size of a core from the chip, and the DRAM size if no option gives it. Returns
 * an exit code. */
static int take_chip(struct check_options *options, struct tts_check_plan *plan)
{
    struct tts_chip chip;
    int code = tts_device_arg_resolve(&options->device, command, &chip);
    if (code != TTS_EXIT_DONE)
        return code;
    plan->device = options->device.name;
    plan->core_bytes = pool_bytes(&chip, TTS_POOL_L1, false);
    if (options->device_memory.is_known)
        return TTS_EXIT_DONE;
    plan->mem.device_memory = pool_bytes(&chip, TTS_POOL_DRAM, true);
    plan->mem.device_memory_source = TTS_TRAIN_FROM_DEVICE;
    snprintf(plan->mem.device, sizeof plan->mem.device, "%s", chip.name);
    if (plan->mem.device_memory.is_known)
        return TTS_EXIT_DONE;
    tts_message(command,
                "the DRAM size of device '%s' is unknown: give '--device_memory BYTES'",
                plan->device);
    return plan->is_budget_device ? TTS_EXIT_INPUT : TTS_EXIT_USAGE;
}

static int plan_device(struct check_options *options, struct tts_check_plan *plan)
{
    int code = name_device(options, plan);
    if (code != TTS_EXIT_DONE)
        return code;
    if (options->device_memory.is_known) {
        plan->mem.device_memory = options->device_memory;
        plan->mem.device_memory_source = TTS_TRAIN_FROM_OPTION;
    }
    if (options->device.name) {
        code = take_chip(options, plan);
    } else if (!options->device_memory.is_known && plan->budget.device_memory.is_known) {
        plan->mem.device_memory = plan->budget.device_memory;
        plan->mem.device_memory_source = TTS_TRAIN_FROM_OPTION;
        plan->is_budget_device = true;
    }
    if (options->device_memory.is_known)
        plan->is_budget_device = false;
    return code;
}

/* ---- limits that are easily misunderstood ---- */

/* Returns true if the limit is a share that is so small that growth was probably meant. */
static bool is_share_for_growth(const struct tts_budget_limit *limit)
{
    enum { SMALL = 5 * 100 };
    return limit->unit == TTS_BUDGET_SHARE && limit->rule != TTS_BUDGET_DRAM_HEADROOM &&
           limit->amount > 0 && limit->amount < SMALL;
}

/* Returns true if the limit has no unit and is so small that a unit was probably forgotten. */
static bool is_few_bytes(const struct tts_budget_limit *limit)
{
    enum { SMALL = 1 << 20 };
    return limit->is_bare && !tts_budget_is_l1(limit->rule) && limit->amount > 0 &&
           limit->amount < SMALL;
}

static void note_limits(const struct check_options *options, const struct tts_check_plan *plan)
{
    const char *path = tts_message_path(options->budget_path);
    for (size_t i = 0; i < plan->budget.limit_count; i++) {
        const struct tts_budget_limit *limit = &plan->budget.limits[i];
        char share[TTS_CHECK_NUMBER_MAX];
        if (plan->baseline && is_share_for_growth(limit))
            tts_message(command,
                        "note: %s:%" PRIu32 ": the limit %s%% is a share of the device memory; "
                        "for growth against the baseline, write +%s%%",
                        path, limit->line, tts_share_format(share, limit->amount), share);
        else if (is_few_bytes(limit))
            tts_message(
                command,
                "note: %s:%" PRIu32 ": the limit %s%" PRIu64 " has no unit and means bytes",
                path, limit->line, limit->unit == TTS_BUDGET_BYTES ? "" : "+", limit->amount);
    }
}

/* Reads the budget and finds the device and the baseline. Returns TTS_EXIT_DONE, or another
 * exit code after printing a message. */
static int check_plan_make(struct check_options *options, struct tts_check_plan *out)
{
    struct tts_error err = {0};
    if (tts_budgetfile_load(options->budget_path, NULL, &out->budget, &err) != TTS_OK) {
        if (err.status == TTS_E_IO)
            tts_message(command, "budget: %s", err.text);
        else
            tts_message_error(command, options->budget_path, &err);
        return TTS_EXIT_INPUT;
    }
    int code = plan_baseline(options, out);
    if (code == TTS_EXIT_DONE)
        note_limits(options, out);
    return code == TTS_EXIT_DONE ? plan_device(options, out) : code;
}

enum {
    NOTES_SAID_MAX = 20, /* maximum number of notes printed per file */
};

/* ---- names of runs ---- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0)
        return "stdin";
    return slash && slash[1] ? slash + 1 : path;
}

/* Returns true if a run of a file would get the same name as `run`. A run without a title is
 * named after its file. */
static bool is_namesake(const struct tts_named_run *run, const struct tts_check_file *file,
                        const struct tts_run *other)
{
    return strcmp(run->run->title, other->title) == 0 &&
           strcmp(run->run->rank, other->rank) == 0 &&
           (other->title[0] || strcmp(run->path, file->path) == 0);
}

/* Fills in the names of run `idx` of all runs. The run is in file `file_idx`. */
static void name_run(const struct check_job *job, size_t idx, size_t file_idx,
                     struct tts_check_run *out)
{
    const struct tts_run *run = out->input.run.run;
    const char *label = tts_run_label((const char *const *)job->options.paths,
                                      job->answer.file_count, file_idx);
    uint64_t number = 0, in_file = 0, all = 0;
    char again[32] = "";
    for (size_t i = 0, at = 0; i < job->answer.file_count; i++) {
        const struct tts_check_file *file = &job->answer.files[i];
        for (size_t j = 0; j < file->runs.count; j++, at++) {
            bool is = is_namesake(&out->input.run, file, &job->runs[at]);
            all += is;
            number += is && at <= idx;
            in_file += is && at <= idx && i == file_idx;
        }
    }
    out->input.run.name = tts_run_name(out->name, run, label, number);
    /* The name contains the file, because the order of the files can change from build to
     * build. */
    if (all > 1 && run->title[0]) {
        char plain[TTS_RUN_LABEL_MAX];
        if (in_file > 1)
            snprintf(again, sizeof again, ", %" PRIu64, in_file);
        snprintf(out->class_name, sizeof out->class_name, "%s (%s%s)",
                 tts_run_name(plain, run, label, 1), label, again);
    } else {
        memcpy(out->class_name, out->name, sizeof out->name);
    }
}

/* ---- notes ---- */

static void say_check_notes(struct check_job *job, const struct tts_check_file *file)
{
    uint64_t said = 0, all = 0;
    for (size_t i = 0; i < file->runs.count; i++) {
        const struct tts_run *run = &file->runs.runs[i];
        size_t count = tts_check_notes(run);
        all += run->notes_in_all > count ? run->notes_in_all : count;
        for (size_t n = 0; n < count && said < NOTES_SAID_MAX; n++, said++) {
            struct tts_run_note note = tts_check_note(run, n);
            tts_message_at(command, file->path, note.line, note.text);
        }
        job->answer.counts.is_partial |= tts_check_is_partial(run);
    }
    if (all > said)
        tts_message(command, "%s: %" PRIu64 " more note%s not shown",
                    tts_message_path(file->path), all - said,
                    all - said == 1 ? " is" : "s are");
}

/* ---- files ---- */

/* Gives the name of the file to runs that do not state the name of their log. */
static void name_origin(struct tts_check_file *file)
{
    for (size_t i = 0; i < file->runs.count; i++) {
        struct tts_run *run = &file->runs.runs[i];
        if (run->name[0] == '\0')
            snprintf(run->name, sizeof run->name, "%.*s", TTS_RUN_NAME_MAX - 1,
                     base_of(file->path));
    }
}

/* Reads the runs of a file. Returns false if the file cannot be read. *err then holds the
 * reason, and the caller prints it. */
static bool load(struct check_job *job, struct tts_check_file *file, struct tts_error *err)
{
    if (tts_runs_load(file->path, NULL, &file->runs, err) != TTS_OK) {
        snprintf(file->problem, sizeof file->problem, "%s", err->text);
        file->problem_line = err->line;
        job->answer.counts.is_partial = true;
        return false;
    }
    name_origin(file);
    say_check_notes(job, file);
    if (file->runs.unlisted == 0)
        return true;
    snprintf(file->problem, sizeof file->problem,
             "the file has too many runs or phases: %" PRIu64 " of them are not checked",
             file->runs.unlisted);
    tts_message_at(command, file->path, 0, file->problem);
    job->answer.counts.is_partial = true;
    return true;
}

static void load_baseline(struct check_job *job)
{
    const struct tts_check_plan *plan = &job->answer.plan;
    struct tts_error err = {0};
    char who[TTS_PATH_MAX + 48] = "baseline", where[TTS_PATH_MAX + 16] = "";
    job->answer.baseline.path = plan->baseline;
    if (load(job, &job->answer.baseline, &err))
        return;
    if (plan->baseline == plan->baseline_path)
        snprintf(who, sizeof who, "baseline of %s:%" PRIu32,
                 tts_message_path(job->options.budget_path), plan->budget.baseline_line);
    if (err.status != TTS_E_IO && err.line > 0)
        snprintf(where, sizeof where, "%s:%" PRIu32 ": ", tts_message_path(plan->baseline),
                 err.line);
    else if (err.status != TTS_E_IO)
        snprintf(where, sizeof where, "%s: ", tts_message_path(plan->baseline));
    tts_message(command, "%s: %s%s", who, where, err.text);
}

/* ---- matching runs with the baseline ---- */

/* Allocates one block for three arrays: a copy of the runs of all files, the match of each run,
 * and whether each run of the baseline has a match. */
static bool make_run_room(struct check_job *job)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t count = job->run_count;
    size_t pairs_at = count * sizeof *job->runs;
    size_t paired_at = pairs_at + count * sizeof *job->pairs;
    job->memory_bytes = paired_at + job->answer.baseline.runs.count + 1;
    job->runs = alloc->alloc(alloc->ctx, job->memory_bytes);
    if (!job->runs)
        return false;
    memset(job->runs, 0, job->memory_bytes);
    void *pairs = (char *)job->runs + pairs_at, *is_paired = (char *)job->runs + paired_at;
    job->pairs = pairs;
    job->answer.is_paired = is_paired;
    return true;
}

static void pair_check_runs(struct check_job *job)
{
    const struct tts_runs *bases = &job->answer.baseline.runs;
    tts_runpairs(job->runs, job->run_count, bases->runs, bases->count, job->pairs);
    for (size_t i = 0; i < job->run_count; i++)
        if (job->pairs[i].by != TTS_RUNPAIR_NONE)
            job->answer.is_paired[job->pairs[i].b] = true;
    for (size_t i = 0; i < bases->count && job->run_count > 0; i++) {
        char text[TTS_CHECK_TEXT_MAX + 64];
        if (job->answer.is_paired[i])
            continue;
        job->answer.counts.is_partial = true;
        tts_message(command, "note: %s", tts_check_unpaired(text, &job->answer.baseline, i));
    }
}

/* Reads the baseline and all files. Prints a problem and stores it in its file. Returns TTS_OK
 * or TTS_E_NOMEM. */
static enum tts_status check_load(struct check_job *job, struct tts_error *err)
{
    if (job->answer.plan.needs_baseline)
        load_baseline(job);
    for (size_t i = 0; i < job->answer.file_count; i++) {
        struct tts_error problem = {0};
        job->answer.files[i].path = job->options.paths[i];
        if (!load(job, &job->answer.files[i], &problem))
            tts_message_error(command, job->answer.files[i].path, &problem);
        job->run_count += job->answer.files[i].runs.count;
    }
    if (!make_run_room(job))
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    for (size_t i = 0, at = 0; i < job->answer.file_count; i++) {
        const struct tts_runs *runs = &job->answer.files[i].runs;
        if (runs->count > 0)
            memcpy(job->runs + at, runs->runs, runs->count * sizeof *runs->runs);
        at += runs->count;
    }
    pair_check_runs(job);
    return TTS_OK;
}

static void check_release(struct check_job *job)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    for (size_t i = 0; i < job->answer.file_count; i++)
        tts_runs_release(&job->answer.files[i].runs);
    tts_runs_release(&job->answer.baseline.runs);
    if (job->runs)
        alloc->free(alloc->ctx, job->runs, job->memory_bytes);
    if (job->findings)
        alloc->free(alloc->ctx, job->findings, job->finding_capacity * sizeof *job->findings);
}

/* Describes run `idx` of all runs, without the pairs and the ordinals of its phases. */
static void check_run_at(const struct check_job *job, size_t idx, struct tts_check_run *out)
{
    const struct tts_check_answer *answer = &job->answer;
    size_t file = 0, first = 0;
    assert(idx < job->run_count);
    while (idx - first >= answer->files[file].runs.count)
        first += answer->files[file++].runs.count;
    *out = (struct tts_check_run){
        .answer = answer,
        .input = {.budget = &answer->plan.budget,
                  .run = {.path = answer->files[file].path,
                          .run = &job->runs[idx],
                          .mem = &out->mem},
                  .core_bytes = answer->plan.core_bytes},
        .pair = job->pairs[idx],
        .number = idx - first + 1,
    };
    tts_trainmem_of(out->input.run.run, &answer->plan.mem, &out->mem);
    name_run(job, idx, file, out);
    if (out->pair.by == TTS_RUNPAIR_NONE)
        return;
    out->input.baseline =
        (struct tts_named_run){.path = answer->baseline.path,
                               .run = &answer->baseline.runs.runs[out->pair.b],
                               .mem = &out->baseline_mem};
    tts_trainmem_of(out->input.baseline.run, &answer->plan.mem, &out->baseline_mem);
    /* There is no rounding error if both runs are exact or both are rounded the same way. */
    out->input.rounding_bytes =
        out->input.run.run->is_exact == out->input.baseline.run->is_exact
            ? 0
            : TTS_RUN_HALF_STEP_BYTES;
}

/* ---- outputs ---- */

/* Opens all outputs before any work is done. Returns false after printing a message. */
static bool open_check_outputs(struct tts_job *frame, struct check_job *job)
{
    const struct check_options *options = &job->options;
    struct tts_error err = {0};
    FILE *junit = NULL, *sarif = NULL, *github = NULL;
    if (options->junit_path && !(junit = tts_job_open(frame, options->junit_path)))
        return false;
    if (options->sarif_path && !(sarif = tts_job_open(frame, options->sarif_path)))
        return false;
    job->out = tts_job_open(frame, "-");
    if (!job->out || (options->github && !(github = tts_job_open(frame, "-"))))
        return false;
    if (tts_check_report_begin(&job->reports, junit, sarif, github, &err) == TTS_OK)
        return true;
    tts_message(command, "%s", err.text);
    return false;
}

/* Completes all outputs. Returns false after printing a message. */
static bool end_check_outputs(struct check_job *job)
{
    struct tts_error err = {0};
    if (job->options.json)
        tts_check_json_end(&job->json, &job->answer);
    else if (!job->options.quiet)
        tts_check_text_end(job->out, &job->answer);
    if (tts_check_report_end(&job->reports, &job->answer, &err) == TTS_OK)
        return true;
    tts_message(command, "%s", err.text);
    return false;
}

/* ---- a limit ---- */

static void keep_finding(struct check_job *job, const struct tts_budget_finding *finding)
{
    void *grown = tts_alloc_grow(tts_alloc_libc(), job->findings, &job->finding_capacity,
                                 job->finding_count + 1, sizeof *job->findings);
    if (!grown) {
        job->lacks_memory = true;
        return;
    }
    job->findings = grown;
    job->findings[job->finding_count++] = *finding;
}

static void on_finding(void *ctx, const struct tts_budget_finding *finding)
{
    struct check_job *job = ctx;
    if (job->options.json)
        keep_finding(job, finding);
    else if (!job->options.quiet)
        tts_check_text_finding(job->out, job->run, finding);
    tts_check_report_finding(&job->reports, job->run, finding);
}

static enum tts_status judge_limit(struct check_job *job, size_t limit_idx)
{
    struct tts_budget_verdict verdict;
    job->finding_count = 0;
    tts_budget_judge(&job->run->input, limit_idx, on_finding, job, &verdict);
    if (job->lacks_memory)
        return TTS_E_NOMEM;
    if (job->options.json)
        tts_check_json_limit(&job->json, job->run, &verdict, job->findings, job->finding_count);
    tts_check_report_limit(&job->reports, job->run, limit_idx, &verdict);
    job->run_counts.over += verdict.status == TTS_BUDGET_OVER;
    job->run_counts.unknown += verdict.status == TTS_BUDGET_UNKNOWN;
    job->run_counts.passed += verdict.status == TTS_BUDGET_PASS;
    return TTS_OK;
}

/* ---- a run ---- */

/* Prints once that the memory size is assumed: a share of an assumed size is easily mistaken
 * for a share of the real device. */
static void note_assumed(struct check_job *job, const struct tts_trainmem *mem)
{
    char mb[TTS_NUMBER_MB_MAX];
    if (mem->device_memory_source != TTS_TRAIN_ASSUMED || job->answer.assumed.is_known ||
        !tts_budget_needs_device(&job->answer.plan.budget))
        return;
    job->answer.assumed = mem->device_memory;
    tts_message(command,
                "note: %s MB of device memory is assumed, because nothing states the size; "
                "name a device in the budget",
                tts_number_format_mb(mb, mem->device_memory.bytes, false));
}

static void begin_run(struct check_job *job, const struct tts_check_run *run)
{
    const struct tts_run *baseline = run->input.baseline.run;
    bool is_partial = tts_check_is_partial(run->input.run.run);
    job->run = run;
    job->run_counts = (struct tts_budget_counts){.runs = 1};
    job->run_counts.is_partial = is_partial || (baseline && tts_check_is_partial(baseline));
    note_assumed(job, &run->mem);
    if (job->options.json)
        tts_check_json_run(&job->json, run);
    else if (!job->options.quiet)
        tts_check_text_run(job->out, run);
    if (is_partial)
        tts_check_report_partial(&job->reports, run);
}

static void end_run(struct check_job *job)
{
    if (job->options.json)
        tts_check_json_run_end(&job->json, &job->run_counts);
    job->answer.counts.over += job->run_counts.over;
    job->answer.counts.unknown += job->run_counts.unknown;
    job->answer.counts.passed += job->run_counts.passed;
    job->answer.counts.runs++;
}

static enum tts_status judge_run(struct check_job *job, struct tts_check_run *run,
                                 struct tts_error *err)
{
    const struct tts_run *it = run->input.run.run, *baseline = run->input.baseline.run;
    uint32_t *pairs = NULL, *ordinals = NULL;
    enum tts_status status = baseline ? tts_phasepairs_new(it, baseline, NULL, &pairs) : TTS_OK;
    if (status == TTS_OK && job->reports.has_sarif)
        status = tts_phase_ordinals_new(it, NULL, &ordinals);
    if (status == TTS_OK) {
        run->input.pairs = pairs;
        run->ordinals = ordinals;
        begin_run(job, run);
        for (size_t i = 0; i < run->input.budget->limit_count && status == TTS_OK; i++)
            status = judge_limit(job, i);
        end_run(job);
    }
    if (status != TTS_OK)
        tts_error_set(err, status, TTS_TEXT_NOMEM " for the phases of a run");
    tts_phasepairs_free(ordinals, it, NULL);
    tts_phasepairs_free(pairs, it, NULL);
    return status;
}

static enum tts_status judge_all(struct check_job *job, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < job->run_count && status == TTS_OK; i++) {
        struct tts_check_run run;
        check_run_at(job, i, &run);
        status = judge_run(job, &run, err);
    }
    return status;
}

/* ---- the command ---- */

static int check_exit_code(const struct check_job *job)
{
    if (job->answer.counts.runs == 0)
        return TTS_EXIT_INPUT;
    switch (tts_budget_status_of(&job->answer.counts)) {
    case TTS_BUDGET_OVER:
        return TTS_EXIT_BAD_NEWS;
    case TTS_BUDGET_UNKNOWN:
        return TTS_EXIT_PARTIAL;
    case TTS_BUDGET_PASS:
        break;
    }
    return TTS_EXIT_DONE;
}

/* Reads and judges all runs. Without any run, or without a baseline that a limit needs, no
 * judgement is possible. The reports are written anyway, because reports of an earlier check
 * would be mistaken for new ones. */
static int check_runs(struct tts_job *frame, struct check_job *job)
{
    struct tts_error err = {0};
    if (!open_check_outputs(frame, job))
        return TTS_EXIT_INPUT;
    enum tts_status status = check_load(job, &err);
    tts_json_init(&job->json, job->out);
    if (status == TTS_OK && job->options.json)
        tts_check_json_begin(&job->json, &job->answer);
    if (status == TTS_OK &&
        (!job->answer.plan.needs_baseline || job->answer.baseline.runs.count > 0))
        status = judge_all(job, &err);
    if (status != TTS_OK)
        return tts_job_fail(frame, NULL, &err);
    return end_check_outputs(job) ? tts_job_commit(frame, check_exit_code(job))
                                  : TTS_EXIT_INPUT;
}

/* Writes only the reports, because the budget is invalid and nothing can be checked. */
static void report_budget(struct tts_job *frame, struct check_job *job)
{
    job->options.json = job->options.github = false;
    job->options.quiet = true;
    snprintf(job->answer.budget.problem, sizeof job->answer.budget.problem,
             "the budget cannot be used: nothing was checked");
    job->answer.counts.is_partial = true;
    job->answer.file_count = 0; /* no file was read */
    if (open_check_outputs(frame, job) && end_check_outputs(job))
        tts_job_commit(frame, TTS_EXIT_INPUT);
}

static int run_with_files(struct tts_job *frame, struct check_job *job)
{
    int code = check_plan_make(&job->options, &job->answer.plan);
    if (code == TTS_EXIT_DONE)
        code = check_runs(frame, job);
    else if (code == TTS_EXIT_INPUT)
        report_budget(frame, job);
    tts_junit_release(&job->reports.junit);
    check_release(job);
    return code;
}

static int run_check(struct tts_job *frame, void *values)
{
    struct check_job *job = values;
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t bytes = (size_t)(frame->operand_count + 1) * sizeof *job->answer.files;
    job->options.paths = frame->operands;
    job->options.path_count = job->answer.file_count = (size_t)frame->operand_count;
    job->answer.budget.path = job->options.budget_path;
    if (!check_options_are_good(&job->options))
        return TTS_EXIT_USAGE;
    job->answer.files = alloc->alloc(alloc->ctx, bytes);
    if (!job->answer.files) {
        tts_message(command, TTS_TEXT_NOMEM);
        return TTS_EXIT_INPUT;
    }
    memset(job->answer.files, 0, bytes);
    int code = run_with_files(frame, job);
    alloc->free(alloc->ctx, job->answer.files, bytes);
    return code;
}

const struct tts_command tts_check_command = {
    .name = "check",
    .operands = "RUN",
    .summary = "check runs against a memory budget",
    .work = run_check,
    .options = check_options_table,
    .values_bytes = sizeof(struct check_job),
    .operands_max = INT_MAX,
};
