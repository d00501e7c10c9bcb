/* show_runtimelog.c: shows the memory in the log of a compiler's runtime. */
#include "analysis/failure/faillog.h"
#include "analysis/opsummary.h"
#include "base/error.h"
#include "cli/message.h"
#include "cli/show/show.h"
#include "sources/failure/failscan.h"
#include "sources/runtimelog/opsteps.h"
#include "views/runtimelog/runlog_view.h"

#include <string.h>

static const char command[] = "show";

/* The device whose banks are assumed if a log has no memory blocks. */
static const char assumed_device[] = "n150";

struct runtimelog {
    struct tts_show *show;
    struct tts_opsteps *steps;
    struct tts_failscan *scan;
    struct tts_faillog failures;
    bool lacks_failures; /* there was no memory for all of them */
    struct tts_opsummary *sums[TTS_OPLOG_RANKS];
    struct tts_runlog_rank ranks[TTS_OPLOG_RANKS];
    size_t rank_count;
    bool has_memory;
};

static void take_failures(void *ctx, const struct tts_logpiece *piece)
{
    struct runtimelog *log = ctx;
    struct tts_failmsg msg;
    tts_failscan_feed(log->scan, piece);
    while (tts_failscan_next(log->scan, &msg, NULL) == TTS_OK)
        log->lacks_failures |= tts_faillog_add(&log->failures, &msg, NULL) != TTS_OK;
}

static void tick_runtimelog(void *ctx, uint64_t taken)
{
    struct tts_show *show = ctx;
    tts_progress_show(&show->progress, taken);
}

/* Returns the summary of a rank, and makes it at its first step. NULL: no memory. */
static struct tts_opsummary *find_sum(struct runtimelog *log, uint32_t rank)
{
    const struct tts_alloc *alloc = log->show->alloc;
    size_t top = log->show->options.top;
    while (log->rank_count <= rank) {
        struct tts_opsummary *sum = alloc->alloc(alloc->ctx, sizeof *sum);
        if (!sum)
            return NULL;
        tts_opsummary_init(sum, top > 0 ? top : TTS_OPSUMMARY_TOP, alloc);
        log->sums[log->rank_count++] = sum;
    }
    return log->sums[rank];
}

static enum tts_status read_steps(struct runtimelog *log, struct tts_error *err)
{
    const struct tts_opstep *step;
    enum tts_status status;
    while ((status = tts_opsteps_next(log->steps, &step, err)) == TTS_OK) {
        struct tts_opsummary *sum = find_sum(log, step->rank);
        if (!sum || tts_opsummary_add(sum, step) != TTS_OK)
            return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    }
    for (size_t i = 0; i < log->rank_count; i++) {
        struct tts_opfinal finals[TTS_POOLS];
        tts_opsteps_finals(log->steps, (uint32_t)i, finals);
        tts_opsummary_finish(log->sums[i], finals);
        log->has_memory = log->has_memory || log->sums[i]->has_memory;
    }
    return status == TTS_E_NOT_FOUND ? TTS_OK : status;
}

/* Sets the banks of the device for which the figures of a log without memory blocks are
 * computed. Returns an exit code. */
static int set_banks(const struct tts_show *show, struct tts_opsteps_config *config)
{
    struct tts_device_arg arg = show->options.device;
    struct tts_chip chip;
    arg.name = arg.name ? arg.name : assumed_device;
    int code = tts_device_arg_resolve(&arg, command, &chip);
    for (int i = 0; code == TTS_EXIT_DONE && i < TTS_POOLS; i++) {
        struct tts_pool_layout pool;
        struct tts_error err;
        if (tts_chip_pool(&chip, (enum tts_pool)i, &pool, &err) == TTS_OK && pool.banks > 0)
            config->banks[i] =
                (struct tts_opbanks){.banks = pool.banks,
                                     .page_alignment = pool.page_alignment_bytes,
                                     .block_alignment = pool.block_alignment_bytes};
    }
    return code;
}

/* ---- the answer ---- */

/* Finds the rank of --rank: its name, or its number in the order of the log. */
static int find_shown_rank(const struct runtimelog *log, size_t *out)
{
    const char *wanted = log->show->options.rank;
    for (size_t i = 0; i < log->rank_count; i++)
        if (!wanted || strcmp(log->ranks[i].name, wanted) == 0) {
            *out = i;
            return TTS_EXIT_DONE;
        }
    if (log->rank_count == 1 && log->ranks[0].name[0] == '\0')
        tts_message(command, "there is no rank '%s' in '%s': the log has no ranks", wanted,
                    tts_message_path(log->show->options.path));
    else
        tts_message(command,
                    "there is no rank '%s' in '%s': the log has %zu ranks, the first is '%s'",
                    wanted, tts_message_path(log->show->options.path), log->rank_count,
                    log->ranks[0].name);
    return TTS_EXIT_USAGE;
}

static int print_runtimelog(struct tts_job *job, struct runtimelog *log, bool is_damaged)
{
    const struct tts_show *show = log->show;
    struct tts_oplog_facts text = tts_oplog_facts(tts_opsteps_log(log->steps));
    struct tts_runlog_facts facts = {
        .path = show->options.path,
        .ranks = log->ranks,
        .rank_count = log->rank_count,
        .pool = show->options.pool,
        .top = show->options.top > 0 ? show->options.top : SIZE_MAX,
        .failures = &log->failures,
        .is_damaged = is_damaged,
        .device = show->options.device.name ? show->options.device.name : assumed_device,
        .is_device_assumed = !show->options.device.name,
        .lines = text.text.lines,
        .bytes = text.text.bytes,
        .cut_lines = text.cut_lines,
        .part_blocks = text.part_blocks,
        .bad_views = text.bad_views,
        .left_out = text.left_out};
    for (size_t i = 0; i < log->rank_count; i++)
        log->ranks[i] = (struct tts_runlog_rank){
            tts_oplog_rank_name(tts_opsteps_log(log->steps), (uint32_t)i), log->sums[i]};
    int code = find_shown_rank(log, &facts.shown);
    FILE *out = code == TTS_EXIT_DONE ? tts_job_open(job, "-") : NULL;
    if (!out)
        return code == TTS_EXIT_DONE ? TTS_EXIT_INPUT : code;
    if (show->options.json) {
        struct tts_json json;
        tts_json_init(&json, out);
        tts_runlog_json(&facts, &json);
    } else {
        tts_runlog_text(&facts, out);
    }
    bool is_partial =
        is_damaged || text.cut_lines > 0 || text.part_blocks > 0 || text.bad_views > 0;
    return is_partial ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
}

static int show_runtimelog(struct tts_job *job, struct runtimelog *log, bool *is_one)
{
    struct tts_show *show = log->show;
    struct tts_opsteps_config config = {.alloc = show->alloc};
    struct tts_error err = {0};
    int code = set_banks(show, &config);
    if (code != TTS_EXIT_DONE)
        return code;
    enum tts_status status = tts_opsteps_open(show->log, &config, &log->steps, &err);
    if (status == TTS_OK)
        status = tts_failscan_new_fed(show->options.path, show->alloc, &log->scan, &err);
    if (status == TTS_OK) {
        tts_oplog_on_read(tts_opsteps_log(log->steps), take_failures, log);
        tts_oplog_on_tick(tts_opsteps_log(log->steps), tick_runtimelog, show);
        status = read_steps(log, &err);
    }
    if (log->lacks_failures)
        status = tts_error_set(&err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    *is_one = log->has_memory || status == TTS_E_NOMEM;
    if (!*is_one)
        return TTS_EXIT_DONE;
    tts_progress_end(&show->progress);
    if (status != TTS_OK)
        tts_message_error(command, show->options.path, &err);
    return status == TTS_E_NOMEM ? TTS_EXIT_INPUT
                                 : print_runtimelog(job, log, status != TTS_OK);
}

int tts_show_runtimelog(struct tts_job *job, struct tts_show *show, bool *is_one)
{
    struct runtimelog *log = show->alloc->alloc(show->alloc->ctx, sizeof *log);
    *is_one = true;
    if (!log) {
        tts_message(command, TTS_TEXT_NOMEM);
        return TTS_EXIT_INPUT;
    }
    memset(log, 0, sizeof *log);
    log->show = show;
    tts_faillog_init(&log->failures, show->alloc);
    int code = show_runtimelog(job, log, is_one);
    for (size_t i = 0; i < log->rank_count; i++) {
        tts_opsummary_release(log->sums[i]);
        show->alloc->free(show->alloc->ctx, log->sums[i], sizeof *log->sums[i]);
    }
    tts_opsteps_close(log->steps);
    tts_failscan_free(log->scan);
    tts_faillog_release(&log->failures);
    show->alloc->free(show->alloc->ctx, log, sizeof *log);
    return code;
}
