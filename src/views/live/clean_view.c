#include "views/live/clean_view.h"

#include "base/number.h"
#include "views/say.h"
#include "views/table.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const char *const state_words[] = {"would_remove", "removed", "refused", "failed"};

enum { LEFT_BYTES = 240 };

static void say_unreadable(const struct tts_seenregion *region, char out[TTS_CLEANWHY_TEXT_MAX])
{
    if (region->state == TTS_SEENREGION_NO_ACCESS)
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "the region belongs to user %" PRIu32 ": run ttscope as this user or as root",
                 region->owner_uid);
    else if (region->state == TTS_SEENREGION_UNKNOWN_VERSION)
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "the file has an unknown layout (version %" PRIu32 ", %" PRIu64
                 " bytes): a newer ttscope may know this layout",
                 region->version, region->file_bytes);
    else if (region->state == TTS_SEENREGION_CORRUPT)
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "the memory region is damaged: the counters exceed the memory of any device; "
                 "if no process uses the device, remove the file");
    else if (region->state == TTS_SEENREGION_CHANGING)
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "cannot read the region: the region changed during each attempt");
    else
        snprintf(out, TTS_CLEANWHY_TEXT_MAX, "cannot read the region: %s",
                 strerror(region->sys_errno));
}

/* Says why nothing in a region may be removed. */
void tts_cleanwhy_text(const struct tts_cleanregion *at, char out[TTS_CLEANWHY_TEXT_MAX])
{
    switch (at->why) {
    case TTS_CLEANWHY_NONE:
        out[0] = '\0';
        return;
    case TTS_CLEANWHY_UNREADABLE:
        say_unreadable(at->region, out);
        return;
    case TTS_CLEANWHY_PRIVATE:
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "the region is in the private /dev/shm of process %" PRIu32
                 ": run ttscope in the container of this process",
                 at->pid);
        return;
    case TTS_CLEANWHY_NO_BOARD:
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "the region belongs to no board of this host, so the processes that use the "
                 "region are unknown");
        return;
    case TTS_CLEANWHY_NO_LIST:
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "the driver does not list the processes that use the device: install tt-kmd "
                 "2.5 or later");
        return;
    case TTS_CLEANWHY_HIDDEN:
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "a process that ttscope cannot see uses the device: run ttscope on the host, "
                 "outside of containers");
        return;
    case TTS_CLEANWHY_NAMESPACE:
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "process %" PRIu32
                 " uses the device and has another pid namespace, so the owners of the entries "
                 "are unknown: stop this process first",
                 at->pid);
        return;
    case TTS_CLEANWHY_HOLDER:
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "cannot examine process %" PRIu32 ", which uses the device", at->pid);
        return;
    case TTS_CLEANWHY_OWNER:
        snprintf(
            out, TTS_CLEANWHY_TEXT_MAX,
            "process %" PRIu32
            " may be the owner of an entry: stop this process first, or run ttscope as root",
            at->pid);
        return;
    case TTS_CLEANWHY_PROGRAM_NAMESPACE:
    case TTS_CLEANWHY_PROGRAM_OWNER:
    case TTS_CLEANWHY_PROGRAM_PRIVATE:
        break;
    }
    assert(!"every reason of a region has a text");
}

void tts_cleanwhy_program_text(const struct tts_cleanprogram *at,
                               char out[TTS_CLEANWHY_TEXT_MAX])
{
    out[0] = '\0';
    if (at->why == TTS_CLEANWHY_PROGRAM_NAMESPACE)
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "the program ran in another pid namespace: run ttscope there");
    else if (at->why == TTS_CLEANWHY_PROGRAM_PRIVATE)
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "the file is in the private /dev/shm of process %" PRIu32
                 ": run ttscope in its container",
                 at->client->private_of);
    else if (at->why == TTS_CLEANWHY_PROGRAM_OWNER)
        snprintf(out, TTS_CLEANWHY_TEXT_MAX,
                 "the file belongs to user %" PRIu32 ": run ttscope as this user or as root",
                 at->client->owner_uid);
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

/* --- text ------------------------------------------------------------------------------- */

enum { CLEAN_REGION, CLEAN_PID, CLEAN_NAME, CLEAN_LEFT, CLEAN_COLUMNS };

static const struct tts_column clean_columns[CLEAN_COLUMNS] = {
    [CLEAN_REGION] = {.title = "region", .type = TTS_COLUMN_NUMBER, .unknown = "its own"},
    [CLEAN_PID] = {.title = "pid", .type = TTS_COLUMN_NUMBER, .unknown = "none"},
    [CLEAN_NAME] = {.title = "process", .unknown = "-"},
    [CLEAN_LEFT] = {.title = "left behind", .goes_below = true},
};

static enum tts_status add_clean_row(struct tts_table *table, const struct tts_cleanrow *row)
{
    char left[LEFT_BYTES];
    uint32_t references = row->region->reference_count;
    say_counters(&row->bytes, left);
    if (!row->slot && references > 0) {
        bool has_bytes = tts_counters_sum(&row->bytes) > 0;
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

static enum tts_status add_program_row(struct tts_table *table,
                                       const struct tts_cleanprogram *program)
{
    char left[LEFT_BYTES];
    say_counters(&program->bytes, left);
    return tts_table_add(
        table, (struct tts_cell[CLEAN_COLUMNS]){
                   [CLEAN_REGION] = tts_cell_unknown(),
                   [CLEAN_PID] = tts_cell_number(program->client->pid_inside),
                   [CLEAN_NAME] =
                       tts_cell_text(program->client->comm[0] ? program->client->comm : NULL),
                   [CLEAN_LEFT] = tts_cell_text(left),
               });
}

static enum tts_status put_clean_rows(const struct tts_cleanresult *result, FILE *out)
{
    struct tts_table table;
    enum tts_status status = TTS_OK;
    tts_table_init(&table, clean_columns, CLEAN_COLUMNS, NULL);
    table.indent = 2;
    for (size_t r = 0; r < result->plan->count; r++) {
        if (tts_cleanresult_state(result, r) == TTS_CLEANSTATE_REFUSED)
            continue;
        for (size_t i = 0; i < tts_cleanresult_rows(result, r) && status == TTS_OK; i++) {
            struct tts_cleanrow row = tts_cleanresult_row(result, r, i);
            status = add_clean_row(&table, &row);
        }
    }
    for (size_t p = 0; p < result->plan->program_count && status == TTS_OK; p++)
        if (tts_cleanresult_program(result, p) != TTS_CLEANSTATE_REFUSED)
            status = add_program_row(&table, &result->plan->programs[p]);
    if (status == TTS_OK)
        tts_table_text(&table, tts_say_row_columns(), out);
    tts_table_release(&table);
    return status;
}

enum tts_status tts_cleanview_plan(const struct tts_cleanresult *result, FILE *out)
{
    char bytes[TTS_NUMBER_BYTES_MAX];
    struct tts_cleansum sum = tts_cleanresult_sum(result);
    fprintf(out, "%zu left-over%s of dead processes in %zu region%s, %s:\n", sum.rows,
            tts_say_plural(sum.rows), sum.regions, tts_say_plural(sum.regions),
            tts_number_format_bytes(bytes, sum.bytes));
    return put_clean_rows(result, out);
}

void tts_cleanview_end(const struct tts_cleanresult *result, FILE *out)
{
    char bytes[TTS_NUMBER_BYTES_MAX];
    struct tts_cleansum sum = tts_cleanresult_sum(result);
    fprintf(out, "removed %zu left-over%s, %s\n", sum.removed, tts_say_plural(sum.removed),
            tts_number_format_bytes(bytes, sum.removed_bytes));
    for (size_t r = 0; r < result->plan->count; r++) {
        for (size_t i = 0; i < tts_cleanresult_rows(result, r); i++) {
            struct tts_cleanrow row = tts_cleanresult_row(result, r, i);
            if (row.is_removed || tts_cleanresult_state(result, r) != TTS_CLEANSTATE_REMOVED)
                continue;
            if (row.slot)
                fprintf(out,
                        "the entry of process %" PRId32 " in region %" PRIu64
                        " was not removed: a process uses the region again\n",
                        row.slot->pid, row.region->id);
            else
                fprintf(out,
                        "the totals of region %" PRIu64
                        " were not changed: a process uses the region again\n",
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

static void put_clean_row(struct tts_json *json, const struct tts_cleanrow *row)
{
    tts_json_object(json, NULL);
    tts_json_number_or_null(json, "pid", row->slot != NULL,
                            row->slot ? (uint32_t)row->slot->pid : 0);
    tts_json_text_or_null(json, "name", row->slot ? row->slot->name : NULL);
    tts_json_number(json, "bytes", tts_counters_sum(&row->bytes));
    put_clean_counters(json, &row->bytes);
    tts_json_bool(json, "removed", row->is_removed);
    tts_json_object_end(json);
}

static void put_clean_region(struct tts_json *json, const struct tts_cleanresult *result,
                             size_t r)
{
    const struct tts_cleanregion *at = &result->plan->regions[r];
    enum tts_cleanstate state = tts_cleanresult_state(result, r);
    char why[TTS_CLEANWHY_TEXT_MAX];
    tts_cleanwhy_text(at, why);
    tts_json_object(json, NULL);
    tts_json_number(json, "unique_id", at->region->id);
    tts_json_text_or_null(json, "layout", at->region->layout);
    tts_json_text(json, "result", state_words[state]);
    tts_json_text_or_null(json, "reason",
                          state == TTS_CLEANSTATE_FAILED ? result->done[r].err.text : why);
    tts_json_array(json, "entries");
    for (size_t i = 0; state != TTS_CLEANSTATE_REFUSED && i < tts_cleanresult_rows(result, r);
         i++) {
        struct tts_cleanrow row = tts_cleanresult_row(result, r, i);
        put_clean_row(json, &row);
    }
    tts_json_array_end(json);
    tts_json_object_end(json);
}

static void put_clean_program(struct tts_json *json, const struct tts_cleanresult *result,
                              size_t p)
{
    const struct tts_cleanprogram *at = &result->plan->programs[p];
    enum tts_cleanstate state = tts_cleanresult_program(result, p);
    char why[TTS_CLEANWHY_TEXT_MAX];
    tts_cleanwhy_program_text(at, why);
    tts_json_object(json, NULL);
    tts_json_text(json, "file", at->client->file);
    tts_json_number(json, "pid", at->client->pid_inside);
    tts_json_text_or_null(json, "name", at->client->comm);
    tts_json_text(json, "result", state_words[state]);
    tts_json_text_or_null(json, "reason",
                          state == TTS_CLEANSTATE_FAILED ? result->gone[p].err.text : why);
    tts_json_number(json, "bytes", tts_counters_sum(&at->bytes));
    put_clean_counters(json, &at->bytes);
    tts_json_object_end(json);
}

void tts_cleanview_json(const struct tts_cleanresult *result, struct tts_json *json)
{
    struct tts_cleansum sum = tts_cleanresult_sum(result);
    tts_json_array(json, "regions");
    for (size_t r = 0; r < result->plan->count; r++)
        put_clean_region(json, result, r);
    tts_json_array_end(json);
    tts_json_array(json, "programs");
    for (size_t p = 0; p < result->plan->program_count; p++)
        put_clean_program(json, result, p);
    tts_json_array_end(json);
    tts_json_number(json, "entries", sum.rows);
    tts_json_number(json, "bytes", sum.bytes);
    tts_json_number(json, "removed_entries", sum.removed);
    tts_json_number(json, "removed_bytes", sum.removed_bytes);
    tts_json_number(json, "refused_regions", sum.refused);
}
