/* cmd_clean.c: the command `clean`, which removes the entries of dead processes from the memory
 * regions of the runtime, and the regions of programs that have ended, after asking. */
#include "analysis/live/cleanplan.h"
#include "analysis/live/cleanresult.h"
#include "analysis/live/liveowners.h"
#include "base/error.h"
#include "cli/clean/cleanchild.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/livehost_arg.h"
#include "cli/message.h"
#include "sources/live/clientclean.h"
#include "sources/live/livehost.h"
#include "views/live/clean_view.h"
#include "views/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct clean_options {
    bool yes, dry_run, json;
};

static const struct tts_option clean_table[] = {
    {"yes", 'y', TTS_OPTION_FLAG, offsetof(struct clean_options, yes), .help = "do not ask",
     .excludes = "dry-run"},
    {"dry-run", 'n', TTS_OPTION_FLAG, offsetof(struct clean_options, dry_run),
     .help = "only list the entries"},
    {"json", 'j', TTS_OPTION_FLAG, offsetof(struct clean_options, json), .help = "write JSON"},
    {0},
};

/* The host at one moment, and what may be removed. */
struct clean_sight {
    struct tts_hostview view;
    struct tts_liveframe frame;
    struct tts_cleanplan plan;
};

struct clean_work {
    struct tts_job *job;
    const struct clean_options *options;
    const char *root;
    struct tts_livehost *host;
    struct clean_sight first, second;
    /* The plan is of `first`, or of `second` after the entries were removed. */
    struct tts_cleanresult result;
    struct tts_cleandone *done; /* of `result` */
    size_t done_count;
    struct tts_cleangone *gone; /* of `result`, for the programs */
    size_t gone_count;
};

/* --- reading ---------------------------------------------------------------------------- */

static void init_sight(struct clean_sight *sight)
{
    tts_hostview_init(&sight->view, NULL);
    tts_liveframe_init(&sight->frame, NULL);
    tts_cleanplan_init(&sight->plan, NULL);
}

static void release_sight(struct clean_sight *sight)
{
    tts_cleanplan_release(&sight->plan);
    tts_liveframe_release(&sight->frame);
    tts_hostview_release(&sight->view);
}

static enum tts_status read_sight(struct clean_work *work, struct clean_sight *sight,
                                  struct tts_error *err)
{
    enum tts_status status = tts_livehost_read(work->host, &sight->view, err);
    if (status == TTS_OK)
        status = tts_liveowners_judge(&sight->view, &sight->frame, err);
    if (status == TTS_OK)
        status = tts_cleanplan_make(&sight->plan, &sight->view, &sight->frame, err);
    return status;
}

/* --- answers ---------------------------------------------------------------------------- */

/* Prints one line for each region or entry that was not cleaned. */
static void print_clean_problems(const struct clean_work *work)
{
    const char *command = work->job->command;
    for (size_t r = 0; r < work->result.plan->count; r++) {
        const struct tts_cleanregion *at = &work->result.plan->regions[r];
        char why[TTS_CLEANWHY_TEXT_MAX];
        tts_cleanwhy_text(at, why);
        if (at->why != TTS_CLEANWHY_NONE)
            tts_message(command, "the memory region of device %" PRIu64 " is not cleaned: %s",
                        at->region->id, why);
        else if (tts_cleanresult_state(&work->result, r) == TTS_CLEANSTATE_FAILED)
            tts_message(command, "%s", work->done[r].err.text);
    }
    for (size_t p = 0; p < work->result.plan->program_count; p++) {
        const struct tts_cleanprogram *at = &work->result.plan->programs[p];
        char why[TTS_CLEANWHY_TEXT_MAX];
        tts_cleanwhy_program_text(at, why);
        if (at->why != TTS_CLEANWHY_NONE)
            tts_message(command, "'%s' is not removed: %s", at->client->file, why);
        else if (tts_cleanresult_program(&work->result, p) == TTS_CLEANSTATE_FAILED)
            tts_message(command, "%s", work->gone[p].err.text);
    }
}

/* Writes the document. Returns false if standard output cannot be written. */
static bool put_clean_document(const struct clean_work *work)
{
    struct tts_json json;
    FILE *out = tts_job_open(work->job, "-");
    if (!out)
        return false;
    tts_json_init(&json, out);
    tts_json_object(&json, NULL);
    tts_json_object(&json, "schema");
    tts_json_text(&json, "name", "ttscope.clean");
    tts_json_number(&json, "version", 1);
    tts_json_object_end(&json);
    tts_json_bool(&json, "dry_run", work->options->dry_run);
    tts_cleanview_json(&work->result, &json);
    tts_json_object_end(&json);
    return true;
}

/* --- removing --------------------------------------------------------------------------- */

static bool ask_to_clean(void)
{
    char answer[16] = "";
    fflush(stdout);
    fputs("remove them? [y/N] ", stderr);
    fflush(stderr);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static enum tts_status clean_one(struct clean_work *work, size_t r, struct tts_error *err)
{
    const struct tts_cleanregion *at = &work->result.plan->regions[r];
    struct tts_cleandone *done = &work->done[r];
    struct tts_regionclean clean = {
        .region = at->region, .is_unheld = at->is_unheld, .entry_count = at->slot_count};
    for (size_t i = 0; i < at->slot_count; i++)
        clean.entries[i].slot = at->slots[i];
    enum tts_status status = tts_cleanchild_run(&clean, work->root, &done->err);
    done->was_tried = true;
    done->is_reset = clean.is_reset;
    done->reset = clean.reset;
    for (size_t i = 0; i < at->slot_count; i++) {
        done->is_removed[i] = clean.entries[i].is_removed;
        done->before[i] = clean.entries[i].before;
    }
    if (status == TTS_E_NOMEM)
        *err = done->err;
    return status == TTS_E_NOMEM ? status : TTS_OK;
}

static enum tts_status clean_program(struct clean_work *work, size_t p, struct tts_error *err)
{
    struct tts_cleangone *gone = &work->gone[p];
    enum tts_status status = tts_clientclean_run(work->result.plan->programs[p].client,
                                                 work->root, NULL, &gone->err);
    gone->was_tried = true;
    if (status == TTS_E_NOMEM)
        *err = gone->err;
    return status == TTS_E_NOMEM ? status : TTS_OK;
}

/* Allocates zeroed memory for the result of each region. */
static enum tts_status make_result_room(struct clean_work *work, struct tts_error *err)
{
    const struct tts_alloc *alloc = work->second.plan.alloc;
    work->done_count = work->second.plan.count;
    work->gone_count = work->second.plan.program_count;
    /* One more, because a size of 0 has no meaning. */
    work->done = alloc->alloc(alloc->ctx, (work->done_count + 1) * sizeof *work->done);
    work->gone = alloc->alloc(alloc->ctx, (work->gone_count + 1) * sizeof *work->gone);
    if (!work->done || !work->gone)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    memset(work->done, 0, (work->done_count + 1) * sizeof *work->done);
    memset(work->gone, 0, (work->gone_count + 1) * sizeof *work->gone);
    return TTS_OK;
}

static void free_result_room(struct clean_work *work)
{
    const struct tts_alloc *alloc = work->second.plan.alloc;
    if (work->done)
        alloc->free(alloc->ctx, work->done, (work->done_count + 1) * sizeof *work->done);
    if (work->gone)
        alloc->free(alloc->ctx, work->gone, (work->gone_count + 1) * sizeof *work->gone);
}

/* Reads the host again and removes the entries that were dead in both reads. */
static enum tts_status clean_all(struct clean_work *work, struct tts_error *err)
{
    enum tts_status status = read_sight(work, &work->second, err);
    if (status != TTS_OK)
        return status;
    tts_cleanplan_restrict(&work->second.plan, &work->first.plan);
    status = make_result_room(work, err);
    if (status != TTS_OK)
        return status;
    work->result = (struct tts_cleanresult){
        .plan = &work->second.plan, .done = work->done, .gone = work->gone};
    for (size_t r = 0; status == TTS_OK && r < work->done_count; r++)
        if (work->result.plan->regions[r].why == TTS_CLEANWHY_NONE)
            status = clean_one(work, r, err);
    for (size_t p = 0; status == TTS_OK && p < work->gone_count; p++)
        if (work->result.plan->programs[p].why == TTS_CLEANWHY_NONE)
            status = clean_program(work, p, err);
    return status;
}

/* Writes the document or the last lines, and returns the exit code. */
static int end_clean(struct clean_work *work)
{
    struct tts_cleansum sum = tts_cleanresult_sum(&work->result);
    if (work->options->json && !put_clean_document(work))
        return TTS_EXIT_INPUT;
    print_clean_problems(work);
    bool is_denied = sum.refused > 0 || sum.is_denied;
    int code = is_denied ? TTS_EXIT_DEVICE : sum.failed > 0 ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
    return tts_job_commit(work->job, code);
}

static int fail_clean_work(const struct clean_work *work, const struct tts_error *err)
{
    return tts_job_fail(work->job, NULL, err);
}

static void say_nothing_to_clean(size_t regions)
{
    if (regions == 0)
        puts("nothing to clean: this host has no memory region");
    else
        printf("nothing to clean: no dead process left anything in %zu region%s\n", regions,
               tts_say_plural(regions));
}

static int do_clean(struct clean_work *work)
{
    const struct clean_options *options = work->options;
    struct tts_error err = {0};
    bool is_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    if (read_sight(work, &work->first, &err) != TTS_OK)
        return fail_clean_work(work, &err);
    struct tts_cleansum sum = tts_cleanresult_sum(&work->result);
    if (sum.rows == 0) {
        if (!options->json && sum.refused == 0)
            say_nothing_to_clean(work->first.view.region_count + work->first.view.client_count);
        return end_clean(work);
    }
    if (!options->json && tts_cleanview_plan(&work->result, stdout) != TTS_OK)
        return fail_clean_work(work, &(struct tts_error){.text = TTS_TEXT_NOMEM});
    if (options->dry_run) {
        if (!options->json)
            puts("nothing was changed (--dry-run)");
        return end_clean(work);
    }
    if (!options->yes && !is_terminal)
        return tts_job_usage(
            work->job, "cannot ask before removing, because standard input is not a terminal: "
                       "use '--yes' to remove the entries, or '--dry-run' to list them");
    if (!options->yes && !ask_to_clean()) {
        if (!options->json)
            puts("nothing was removed");
        return end_clean(work);
    }
    if (clean_all(work, &err) != TTS_OK)
        return fail_clean_work(work, &err);
    if (!options->json)
        tts_cleanview_end(&work->result, stdout);
    return end_clean(work);
}

static int run_clean(struct tts_job *job, void *values)
{
    struct clean_work work = {.job = job, .options = values, .root = tts_livehost_root()};
    work.result.plan = &work.first.plan;
    int code = tts_livehost_arg_open(job->command, &work.host);
    if (code != TTS_EXIT_DONE)
        return code;
    tts_livehost_defer_users(work.host);
    if (work.options->json && !work.options->yes && !work.options->dry_run) {
        tts_livehost_close(work.host);
        return tts_job_usage(
            job, "cannot ask before removing with '--json': give '--yes' or '--dry-run' too");
    }
    init_sight(&work.first);
    init_sight(&work.second);
    code = do_clean(&work);
    free_result_room(&work);
    release_sight(&work.second);
    release_sight(&work.first);
    tts_livehost_close(work.host);
    return code;
}

const struct tts_command tts_clean_command = {
    .name = "clean",
    .operands = "",
    .summary = "remove what dead processes left in shared memory",
    .work = run_clean,
    .options = clean_table,
    .values_bytes = sizeof(struct clean_options),
};
