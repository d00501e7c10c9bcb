/* cmd_clean.c: the command `clean`, which removes the entries of dead processes from the memory
 * regions of the runtime, after asking. */
#include "analysis/cleanplan.h"
#include "analysis/liveowners.h"
#include "base/error.h"
#include "base/number.h"
#include "cli/clean/cleanchild.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/livehost_arg.h"
#include "cli/message.h"
#include "sources/live/livehost.h"
#include "views/say.h"
#include "views/table.h"

#include <assert.h>
#include <errno.h>
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

/* The result for one region of a plan. */
struct clean_outcome {
    bool was_tried;
    struct tts_error err; /* why nothing was removed; TTS_OK: removed */
    struct tts_regionclean clean;
};

enum clean_result { RESULT_WOULD_REMOVE, RESULT_REMOVED, RESULT_REFUSED, RESULT_FAILED };

static const char *const result_words[] = {"would_remove", "removed", "refused", "failed"};

struct clean_work {
    struct tts_job *job;
    const struct clean_options *options;
    const char *root;
    struct tts_livehost *host;
    struct clean_sight first, second;
    const struct tts_cleanplan *plan; /* of `first`, or of `second` after the entries were
                                         removed */
    struct clean_outcome *outcomes;   /* for each region of the plan; NULL: nothing was tried */
    size_t outcome_count;
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

/* --- words ------------------------------------------------------------------------------ */

enum { REASON_BYTES = 240, LEFT_BYTES = 240 };

static void say_unreadable(const struct tts_seenregion *region, char out[REASON_BYTES])
{
    if (region->state == TTS_SEENREGION_NO_ACCESS)
        snprintf(out, REASON_BYTES,
                 "the region belongs to user %" PRIu32 ": run ttscope as this user or as root",
                 region->owner_uid);
    else if (region->state == TTS_SEENREGION_UNKNOWN_VERSION)
        snprintf(out, REASON_BYTES,
                 "no known runtime writes a region of version %" PRIu32 " with %" PRIu64
                 " bytes",
                 region->version, region->file_bytes);
    else if (region->state == TTS_SEENREGION_CORRUPT)
        snprintf(
            out, REASON_BYTES,
            "the memory region is damaged: its counters exceed the memory of any device; if no "
            "process uses the device, remove the file");
    else if (region->state == TTS_SEENREGION_CHANGING)
        snprintf(out, REASON_BYTES,
                 "cannot read the region: the region changed during each attempt");
    else
        snprintf(out, REASON_BYTES, "cannot read the region: %s", strerror(region->sys_errno));
}

/* Says why nothing in a region may be removed. */
static void say_why(const struct tts_cleanregion *at, char out[REASON_BYTES])
{
    switch (at->why) {
    case TTS_CLEANWHY_NONE:
        out[0] = '\0';
        return;
    case TTS_CLEANWHY_UNREADABLE:
        say_unreadable(at->region, out);
        return;
    case TTS_CLEANWHY_PRIVATE:
        snprintf(out, REASON_BYTES,
                 "the region is in the private /dev/shm of process %" PRIu32
                 ": run ttscope in its container",
                 at->pid);
        return;
    case TTS_CLEANWHY_NO_BOARD:
        snprintf(out, REASON_BYTES,
                 "the region belongs to no board of this host, so the processes that use the "
                 "region are unknown");
        return;
    case TTS_CLEANWHY_NO_LIST:
        snprintf(out, REASON_BYTES,
                 "the driver does not list the processes that use the device: install tt-kmd "
                 "2.5 or later");
        return;
    case TTS_CLEANWHY_HIDDEN:
        snprintf(out, REASON_BYTES,
                 "a process that ttscope cannot see uses the device: run ttscope on the host, "
                 "outside of containers");
        return;
    case TTS_CLEANWHY_NAMESPACE:
        snprintf(out, REASON_BYTES,
                 "process %" PRIu32
                 " uses the device and has another pid namespace, so the owners of the entries "
                 "are unknown: stop this process first",
                 at->pid);
        return;
    case TTS_CLEANWHY_HOLDER:
        snprintf(out, REASON_BYTES, "cannot examine process %" PRIu32 ", which uses the device",
                 at->pid);
        return;
    case TTS_CLEANWHY_OWNER:
        snprintf(
            out, REASON_BYTES,
            "process %" PRIu32
            " may be the owner of an entry: stop this process first, or run ttscope as root",
            at->pid);
        return;
    }
    assert(!"every reason has a text");
}

static const struct clean_outcome *outcome_of(const struct clean_work *work, size_t region)
{
    return work->outcomes && work->outcomes[region].was_tried ? &work->outcomes[region] : NULL;
}

static enum clean_result result_of(const struct clean_work *work, size_t region)
{
    const struct clean_outcome *outcome = outcome_of(work, region);
    if (work->plan->regions[region].why != TTS_CLEANWHY_NONE)
        return RESULT_REFUSED;
    if (!outcome)
        return RESULT_WOULD_REMOVE;
    return outcome->err.status == TTS_OK ? RESULT_REMOVED : RESULT_FAILED;
}

/* Writes counters as "1.50 GiB DRAM, 64 KiB L1". */
static void say_counters(const struct tts_counters *counters, char out[LEFT_BYTES])
{
    size_t len = 0;
    out[0] = '\0';
    for (int i = 0; i < TTS_COUNTERS; i++) {
        char size[TTS_NUMBER_BYTES_MAX];
        if (!(counters->known >> i & 1) || counters->bytes[i] == 0)
            continue;
        int put = snprintf(out + len, LEFT_BYTES - len, "%s%s %s", len > 0 ? ", " : "",
                           tts_number_format_bytes(size, counters->bytes[i]),
                           tts_counter_name((enum tts_counter)i));
        len += put > 0 ? (size_t)put : 0;
    }
    if (len == 0)
        snprintf(out, LEFT_BYTES, "no bytes");
}

/* --- the rows of an answer --------------------------------------------------------------- */

/* An entry of a dead process, or the bytes of a region that belong to no entry. */
struct clean_row {
    const struct tts_seenregion *region;
    const struct tts_seenslot *slot; /* NULL: the bytes of no entry */
    struct tts_counters bytes;
    bool is_removed;
};

/* Returns what remains in the totals if all entries are removed. */
static struct tts_counters rest_of(const struct tts_cleanregion *at)
{
    struct tts_counters rest = at->region->total;
    for (size_t i = 0; i < at->slot_count; i++) {
        const struct tts_counters *bytes = &at->region->slots[at->slots[i]].counters;
        for (int k = 0; k < TTS_COUNTERS; k++)
            rest.bytes[k] -= rest.bytes[k] < bytes->bytes[k] ? rest.bytes[k] : bytes->bytes[k];
    }
    return rest;
}

static size_t rows_of(const struct tts_cleanregion *at)
{
    return at->slot_count + (at->needs_reset ? 1 : 0);
}

/* Returns row `i` of a region. */
static struct clean_row row_of(const struct clean_work *work, size_t region, size_t i)
{
    const struct tts_cleanregion *at = &work->plan->regions[region];
    const struct clean_outcome *outcome = outcome_of(work, region);
    bool is_done = outcome && outcome->err.status == TTS_OK;
    struct clean_row row = {.region = at->region};
    if (i < at->slot_count) {
        row.slot = &at->region->slots[at->slots[i]];
        row.is_removed = is_done && outcome->clean.entries[i].is_removed;
        row.bytes = row.is_removed ? outcome->clean.entries[i].before : row.slot->counters;
        return row;
    }
    row.is_removed = is_done && outcome->clean.is_reset;
    row.bytes = row.is_removed ? outcome->clean.reset : rest_of(at);
    return row;
}

/* What an answer adds up to. */
struct clean_sum {
    size_t regions, rows, removed, refused, failed;
    uint64_t bytes, removed_bytes;
    bool is_denied; /* a failure is a missing permission */
};

static uint64_t sum_of_row(const struct clean_row *row)
{
    uint64_t sum = 0;
    for (int i = 0; i < TTS_COUNTERS; i++)
        sum += row->bytes.known >> i & 1 ? row->bytes.bytes[i] : 0;
    return sum; /* 6 * 2^50 at most: tts_regions_read() refuses larger counters */
}

static struct clean_sum sum_work(const struct clean_work *work)
{
    struct clean_sum sum = {0};
    for (size_t r = 0; r < work->plan->count; r++) {
        enum clean_result result = result_of(work, r);
        sum.refused += result == RESULT_REFUSED;
        if (result == RESULT_REFUSED)
            continue;
        sum.regions++;
        for (size_t i = 0; i < rows_of(&work->plan->regions[r]); i++) {
            struct clean_row row = row_of(work, r, i);
            sum.rows++;
            sum.removed += row.is_removed;
            sum.bytes += sum_of_row(&row);
            sum.removed_bytes += row.is_removed ? sum_of_row(&row) : 0;
        }
        if (result == RESULT_FAILED) {
            int reason = work->outcomes[r].err.sys_errno;
            sum.failed++;
            sum.is_denied |= reason == EACCES || reason == EPERM;
        }
    }
    return sum;
}

/* --- text ------------------------------------------------------------------------------- */

enum { CLEAN_REGION, CLEAN_PID, CLEAN_NAME, CLEAN_LEFT, CLEAN_COLUMNS };

static const struct tts_column clean_columns[CLEAN_COLUMNS] = {
    [CLEAN_REGION] = {.title = "region", .type = TTS_COLUMN_NUMBER},
    [CLEAN_PID] = {.title = "pid", .type = TTS_COLUMN_NUMBER, .unknown = "none"},
    [CLEAN_NAME] = {.title = "process", .unknown = "-"},
    [CLEAN_LEFT] = {.title = "left behind", .goes_below = true},
};

static enum tts_status add_clean_row(struct tts_table *table, const struct clean_row *row)
{
    char left[LEFT_BYTES];
    uint32_t references = row->region->reference_count;
    say_counters(&row->bytes, left);
    if (!row->slot && references > 0) {
        bool has_bytes = sum_of_row(row) > 0;
        size_t len = has_bytes ? strlen(left) : 0;
        snprintf(left + len, sizeof left - len, "%s%" PRIu32 " reference%s",
                 has_bytes ? ", " : "", references, tts_say_plural(references));
    }
    return tts_table_add(table,
                         (struct tts_cell[CLEAN_COLUMNS]){
                             [CLEAN_REGION] = tts_cell_number(row->region->id),
                             [CLEAN_PID] = row->slot ? tts_cell_number((uint32_t)row->slot->pid)
                                                     : tts_cell_unknown(),
                             [CLEAN_NAME] = tts_cell_text(row->slot ? row->slot->name : NULL),
                             [CLEAN_LEFT] = tts_cell_text(left),
                         });
}

static enum tts_status print_clean_rows(const struct clean_work *work)
{
    struct tts_table table;
    enum tts_status status = TTS_OK;
    tts_table_init(&table, clean_columns, CLEAN_COLUMNS, NULL);
    table.indent = 2;
    for (size_t r = 0; r < work->plan->count; r++) {
        if (result_of(work, r) == RESULT_REFUSED)
            continue;
        for (size_t i = 0; i < rows_of(&work->plan->regions[r]) && status == TTS_OK; i++) {
            struct clean_row row = row_of(work, r, i);
            status = add_clean_row(&table, &row);
        }
    }
    if (status == TTS_OK)
        tts_table_text(&table, tts_say_columns(), stdout);
    tts_table_release(&table);
    return status;
}

/* Prints the entries that would be removed. */
static enum tts_status print_clean_plan(const struct clean_work *work)
{
    char bytes[TTS_NUMBER_BYTES_MAX];
    struct clean_sum sum = sum_work(work);
    printf("%zu left-over%s of dead processes in %zu region%s, %s:\n", sum.rows,
           tts_say_plural(sum.rows), sum.regions, tts_say_plural(sum.regions),
           tts_number_format_bytes(bytes, sum.bytes));
    return print_clean_rows(work);
}

/* Prints one line for each region or entry that was not cleaned. */
static void print_clean_problems(const struct clean_work *work)
{
    const char *command = work->job->command;
    for (size_t r = 0; r < work->plan->count; r++) {
        const struct tts_cleanregion *at = &work->plan->regions[r];
        char why[REASON_BYTES];
        say_why(at, why);
        if (at->why != TTS_CLEANWHY_NONE)
            tts_message(command, "region %" PRIu64 " is not cleaned: %s", at->region->id, why);
        else if (result_of(work, r) == RESULT_FAILED)
            tts_message(command, "%s", work->outcomes[r].err.text);
    }
}

static void print_clean_end(const struct clean_work *work)
{
    char bytes[TTS_NUMBER_BYTES_MAX];
    struct clean_sum sum = sum_work(work);
    printf("removed %zu left-over%s, %s\n", sum.removed, tts_say_plural(sum.removed),
           tts_number_format_bytes(bytes, sum.removed_bytes));
    for (size_t r = 0; r < work->plan->count; r++) {
        for (size_t i = 0; i < rows_of(&work->plan->regions[r]); i++) {
            struct clean_row row = row_of(work, r, i);
            if (row.is_removed || result_of(work, r) != RESULT_REMOVED)
                continue;
            if (row.slot)
                printf("kept the entry of process %" PRId32 " in region %" PRIu64
                       ": the entry is in use again\n",
                       row.slot->pid, row.region->id);
            else
                printf("kept the totals of region %" PRIu64 ": the region is in use again\n",
                       row.region->id);
        }
    }
}

/* --- JSON ------------------------------------------------------------------------------- */

static void put_clean_counters(struct tts_json *json, const struct tts_counters *counters)
{
    tts_json_object(json, "pools");
    for (int i = 0; i < TTS_COUNTERS; i++)
        tts_json_number_or_null(json, tts_counter_name((enum tts_counter)i),
                                counters->known >> i & 1, counters->bytes[i]);
    tts_json_object_end(json);
}

static void put_clean_row(struct tts_json *json, const struct clean_row *row)
{
    tts_json_object(json, NULL);
    tts_json_number_or_null(json, "pid", row->slot != NULL,
                            row->slot ? (uint32_t)row->slot->pid : 0);
    tts_json_text_or_null(json, "name", row->slot ? row->slot->name : NULL);
    tts_json_number(json, "bytes", sum_of_row(row));
    put_clean_counters(json, &row->bytes);
    tts_json_bool(json, "removed", row->is_removed);
    tts_json_object_end(json);
}

static void put_clean_region(struct tts_json *json, const struct clean_work *work, size_t r)
{
    const struct tts_cleanregion *at = &work->plan->regions[r];
    enum clean_result result = result_of(work, r);
    char why[REASON_BYTES];
    say_why(at, why);
    tts_json_object(json, NULL);
    tts_json_number(json, "unique_id", at->region->id);
    tts_json_text_or_null(json, "layout", at->region->layout);
    tts_json_text(json, "result", result_words[result]);
    tts_json_text_or_null(json, "reason",
                          result == RESULT_FAILED ? work->outcomes[r].err.text : why);
    tts_json_array(json, "entries");
    for (size_t i = 0; result != RESULT_REFUSED && i < rows_of(at); i++) {
        struct clean_row row = row_of(work, r, i);
        put_clean_row(json, &row);
    }
    tts_json_array_end(json);
    tts_json_object_end(json);
}

/* Writes the document. Returns false if standard output cannot be written. */
static bool put_clean_document(const struct clean_work *work)
{
    struct tts_json json;
    struct clean_sum sum = sum_work(work);
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
    tts_json_array(&json, "regions");
    for (size_t r = 0; r < work->plan->count; r++)
        put_clean_region(&json, work, r);
    tts_json_array_end(&json);
    tts_json_number(&json, "entries", sum.rows);
    tts_json_number(&json, "bytes", sum.bytes);
    tts_json_number(&json, "removed_entries", sum.removed);
    tts_json_number(&json, "removed_bytes", sum.removed_bytes);
    tts_json_number(&json, "refused_regions", sum.refused);
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
    const struct tts_cleanregion *at = &work->plan->regions[r];
    struct clean_outcome *outcome = &work->outcomes[r];
    outcome->was_tried = true;
    outcome->clean.region = at->region;
    outcome->clean.is_unheld = at->is_unheld;
    outcome->clean.entry_count = at->slot_count;
    for (size_t i = 0; i < at->slot_count; i++)
        outcome->clean.entries[i].slot = at->slots[i];
    enum tts_status status = tts_cleanchild_run(&outcome->clean, work->root, &outcome->err);
    if (status == TTS_E_NOMEM)
        *err = outcome->err;
    return status == TTS_E_NOMEM ? status : TTS_OK;
}

/* Reads the host again and removes the entries that were dead in both reads. */
static enum tts_status clean_all(struct clean_work *work, struct tts_error *err)
{
    enum tts_status status = read_sight(work, &work->second, err);
    if (status != TTS_OK)
        return status;
    tts_cleanplan_restrict(&work->second.plan, &work->first.plan);
    work->plan = &work->second.plan;
    work->outcome_count = work->plan->count;
    if (work->outcome_count > 0) {
        const struct tts_alloc *alloc = work->plan->alloc;
        work->outcomes = alloc->alloc(alloc->ctx, work->outcome_count * sizeof *work->outcomes);
        if (!work->outcomes)
            return tts_error_set(err, TTS_E_NOMEM, "out of memory");
        memset(work->outcomes, 0, work->outcome_count * sizeof *work->outcomes);
    }
    for (size_t r = 0; status == TTS_OK && r < work->plan->count; r++)
        if (work->plan->regions[r].why == TTS_CLEANWHY_NONE)
            status = clean_one(work, r, err);
    return status;
}

/* Writes the document or the last lines, and returns the exit code. */
static int end_clean(struct clean_work *work)
{
    struct clean_sum sum = sum_work(work);
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
    struct clean_sum sum = sum_work(work);
    if (sum.rows == 0) {
        if (!options->json && sum.refused == 0)
            say_nothing_to_clean(work->first.view.region_count);
        return end_clean(work);
    }
    if (!options->json && print_clean_plan(work) != TTS_OK)
        return fail_clean_work(work, &(struct tts_error){.text = "out of memory"});
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
        print_clean_end(work);
    return end_clean(work);
}

static int run_clean(struct tts_job *job, void *values)
{
    struct clean_work work = {.job = job, .options = values, .root = tts_livehost_root()};
    work.plan = &work.first.plan;
    int code = tts_livehost_arg_open(job->command, &work.host);
    if (code != TTS_EXIT_DONE)
        return code;
    if (work.options->json && !work.options->yes && !work.options->dry_run) {
        tts_livehost_close(work.host);
        return tts_job_usage(
            job, "cannot ask before removing with '--json': give '--yes' or '--dry-run' too");
    }
    init_sight(&work.first);
    init_sight(&work.second);
    code = do_clean(&work);
    if (work.outcomes) {
        const struct tts_alloc *alloc = work.first.plan.alloc;
        alloc->free(alloc->ctx, work.outcomes, work.outcome_count * sizeof *work.outcomes);
    }
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
