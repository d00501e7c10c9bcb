#include "base/number.h"
#include "views/failure/failview.h"
#include "views/runtimelog/runlog_view.h"
#include "views/safe_text.h"
#include "views/say.h"
#include "views/table.h"

#include <inttypes.h>
#include <string.h>

static const char *format_mib(char out[TTS_NUMBER_MB_MAX], uint64_t bytes)
{
    return tts_number_format_mb(out, (int64_t)bytes, false);
}

static const struct tts_opsummary *shown_sum(const struct tts_runlog_facts *facts)
{
    return facts->ranks[facts->shown].sum;
}

/* Writes where a figure holds: "before operation 252 of 302 (ttnn.add, line 9648)". */
static void format_place(char *out, size_t capacity, const struct tts_opsummary *sum,
                         const struct tts_opplace_in_log *place)
{
    char op[TTS_OPNAME_MAX * 3];
    tts_safe_text(op, sizeof op, place->op, TTS_OPNAME_MAX);
    if (place->is_submit)
        snprintf(out, capacity, "%s a program (line %" PRIu64 ")",
                 place->is_after ? "after" : "before", place->line);
    else
        snprintf(out, capacity,
                 "before operation %" PRIu64 " of %" PRIu64 "%s%s, line %" PRIu64, place->index,
                 sum->ops, op[0] ? ", " : "", op, place->line);
}

/* ---- the first line ---- */

static void print_headline(const struct tts_runlog_facts *facts, FILE *out)
{
    const struct tts_opsummary *sum = shown_sum(facts);
    const struct tts_oppoolsum *pool = &sum->pools[facts->pool];
    char each[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX], place[TTS_OPNAME_MAX * 4];
    if (!pool->is_known) {
        tts_say(out, 0, "peak of %s: unknown (the log does not state this pool)",
                tts_pool_name(facts->pool));
        return;
    }
    format_place(place, sizeof place, sum, &pool->peak.place);
    format_mib(each, pool->peak.bytes);
    if (!sum->has_blocks) {
        tts_say(out, 0,
                "peak of %s, computed from the types: %s" TTS_SAY_GLUE "MB in each bank, %s",
                tts_pool_name(facts->pool), each, place);
        return;
    }
    format_mib(all, pool->peak.bytes * pool->banks);
    uint64_t permille =
        pool->capacity_bytes > 0
            ? (pool->peak.bytes * 1000 + pool->capacity_bytes / 2) / pool->capacity_bytes
            : 0;
    tts_say(out, 0,
            "peak of %s: %s" TTS_SAY_GLUE "MB of %" PRIu64 " banks, %s" TTS_SAY_GLUE
            "MB in each (%" PRIu64 ".%" PRIu64 TTS_SAY_GLUE "%%), %s",
            tts_pool_name(facts->pool), all, pool->banks, each, permille / 10, permille % 10,
            place);
}

/* ---- tables ---- */

static void print_pools(const struct tts_opsummary *sum, FILE *out)
{
    static const struct tts_column columns[] = {
        {.key = "pool", .title = "pool"},
        {.key = "banks", .title = "banks", .type = TTS_COLUMN_NUMBER},
        {.key = "capacity", .title = "capacity", .type = TTS_COLUMN_BYTES, .shift = 20},
        {.key = "first", .title = "first", .type = TTS_COLUMN_BYTES, .shift = 20},
        {.key = "peak", .title = "peak", .type = TTS_COLUMN_BYTES, .shift = 20},
        {.key = "last", .title = "last", .type = TTS_COLUMN_BYTES, .shift = 20},
        {.key = "block", .title = "peak at block", .type = TTS_COLUMN_NUMBER},
        {.key = "least", .title = "largest free, least", .type = TTS_COLUMN_BYTES, .shift = 20},
    };
    struct tts_table table;
    tts_table_init(&table, columns, sizeof columns / sizeof columns[0], NULL);
    table.indent = 2;
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_oppoolsum *pool = &sum->pools[i];
        bool has_size = pool->has_views;
        struct tts_cell cells[] = {
            tts_cell_text(tts_pool_name((enum tts_pool)i)),
            has_size ? tts_cell_number(pool->banks) : tts_cell_unknown(),
            has_size ? tts_cell_number(pool->capacity_bytes) : tts_cell_unknown(),
            tts_cell_number(pool->first.bytes),
            tts_cell_number(pool->peak.bytes),
            tts_cell_number(pool->last.bytes),
            pool->peak.place.block_known ? tts_cell_number(pool->peak.place.block)
                                         : tts_cell_unknown(),
            has_size ? tts_cell_number(pool->least_largest.bytes) : tts_cell_unknown(),
        };
        if (pool->is_known && tts_table_add(&table, cells) != TTS_OK)
            break;
    }
    tts_say(out, 0, "memory, MB in each bank");
    tts_table_text(&table, tts_say_columns(), out);
    tts_table_release(&table);
}

static const char *add_note(const struct tts_opadd *add)
{
    if (add->is_upload)
        return "inputs uploaded after it";
    return add->function[0] ? add->function : "";
}

static void print_top(const struct tts_runlog_facts *facts, FILE *out)
{
    static const struct tts_column columns[] = {
        {.key = "added", .title = "added", .type = TTS_COLUMN_BYTES, .shift = 20},
        {.key = "index", .title = "op", .type = TTS_COLUMN_NUMBER},
        {.key = "line", .title = "line", .type = TTS_COLUMN_NUMBER},
        {.key = "op", .title = "operation"},
        {.key = "note", .title = "function, or cause"},
        {.key = "loc", .title = "location", .is_flexible = true},
    };
    const struct tts_oppoolsum *pool = &shown_sum(facts)->pools[facts->pool];
    struct tts_table table;
    tts_table_init(&table, columns, sizeof columns / sizeof columns[0], NULL);
    table.indent = 2;
    for (size_t i = 0; i < pool->top_count && i < facts->top; i++) {
        const struct tts_opadd *add = &pool->top[i];
        struct tts_cell cells[] = {
            tts_cell_number(add->bytes),      tts_cell_number(add->place.index),
            tts_cell_number(add->place.line), tts_cell_text(add->place.op),
            tts_cell_text(add_note(add)),     tts_cell_text(add->place.loc),
        };
        if (add->bytes > 0 && tts_table_add(&table, cells) != TTS_OK)
            break;
    }
    if (table.row_count > 0) {
        tts_say(out, 0, "\noperations that add most to %s, MB in each bank",
                tts_pool_name(facts->pool));
        tts_table_text(&table, tts_say_columns(), out);
    }
    tts_table_release(&table);
}

static void print_programs(const struct tts_runlog_facts *facts, FILE *out)
{
    static const struct tts_column columns[] = {
        {.key = "name", .title = "program", .is_flexible = true},
        {.key = "runs", .title = "runs", .type = TTS_COLUMN_NUMBER},
        {.key = "ops", .title = "operations", .type = TTS_COLUMN_NUMBER},
        {.key = "first", .title = "first op", .type = TTS_COLUMN_NUMBER},
        {.key = "last", .title = "last op", .type = TTS_COLUMN_NUMBER},
    };
    const struct tts_opsummary *sum = shown_sum(facts);
    struct tts_table table;
    tts_table_init(&table, columns, sizeof columns / sizeof columns[0], NULL);
    table.indent = 2;
    size_t count = sum->program_names.count, listed = count < facts->top ? count : facts->top;
    for (size_t i = 0; i < listed; i++) {
        const struct tts_opprogram *program = &sum->programs[i];
        struct tts_cell cells[] = {tts_cell_text(program->name), tts_cell_number(program->runs),
                                   tts_cell_number(program->ops),
                                   tts_cell_number(program->first_index),
                                   tts_cell_number(program->last_index)};
        if (tts_table_add(&table, cells) != TTS_OK)
            break;
    }
    if (listed > 0) {
        tts_say(out, 0, "\nprograms and const-eval functions, in the order of the log");
        tts_table_text(&table, tts_say_columns(), out);
    }
    if (listed < count)
        tts_say(out, 2, "%zu more: use '--top 0'", count - listed);
    tts_table_release(&table);
}

/* ---- notes ---- */

static void print_source(const struct tts_runlog_facts *facts, FILE *out)
{
    const struct tts_opsummary *sum = shown_sum(facts);
    char name[TTS_OPNAME_MAX * 3];
    tts_safe_text(name, sizeof name, facts->ranks[facts->shown].name, 64);
    tts_say(out, 0,
            "runtime log: %" PRIu64 " operations (%" PRIu64 " of them deallocations), %" PRIu64
            " memory blocks%s%s",
            sum->ops, sum->deallocations, sum->blocks, name[0] ? ", of rank " : "", name);
    if (facts->rank_count > 1)
        tts_say(out, 2, "the log has %zu ranks: use '--rank NAME' for another one",
                facts->rank_count);
}

static void print_drift(const struct tts_opsummary *sum, FILE *out)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_oppoolsum *pool = &sum->pools[i];
        char max[TTS_NUMBER_MB_MAX], unnamed[TTS_NUMBER_MB_MAX];
        if (!sum->has_ops || pool->final.differing == 0)
            continue;
        tts_say(out, 2,
                "%s: %" PRIu64 " of %" PRIu64 " blocks differ from the replay of the "
                "operations, by up to %s" TTS_SAY_GLUE "MB in each bank; the first is at line "
                "%" PRIu64,
                tts_pool_name((enum tts_pool)i), pool->final.differing, pool->final.compared,
                format_mib(max, pool->final.drift_max_bytes), pool->final.drift_line);
        if (pool->final.unnamed_bytes > 0)
            tts_say(out, 2,
                    "%s: no line explains %s" TTS_SAY_GLUE "MB in each bank, for example "
                    "kernel binaries",
                    tts_pool_name((enum tts_pool)i),
                    format_mib(unnamed, pool->final.unnamed_bytes));
    }
}

static void print_notes(const struct tts_runlog_facts *facts, FILE *out)
{
    const struct tts_opsummary *sum = shown_sum(facts);
    tts_say(out, 0, "\nnotes");
    if (sum->has_blocks)
        tts_say(out, 2,
                "the log has three decimals of a MB%s; a block is the memory before its "
                "operation, and scratch memory inside an operation is not visible",
                sum->has_ops ? ", exact figures are from the types of the operations" : "");
    else
        tts_say(out, 2,
                "the log has no memory blocks: the figures are computed from the types of the "
                "operations for %s%s; inputs count from the beginning",
                facts->device, facts->is_device_assumed ? ", which is assumed" : "");
    tts_say(out, 2, "circular buffers are not in L1 here");
    if (!sum->has_ops)
        tts_say(out, 2,
                "the log has no operation lines: a change may also be an upload of inputs "
                "(set TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG)");
    print_drift(sum, out);
    if (facts->part_blocks > 0)
        tts_say(out, 2, "%" PRIu64 " memory block%s lack%s a pool", facts->part_blocks,
                tts_say_plural(facts->part_blocks), facts->part_blocks == 1 ? "s" : "");
    if (facts->bad_views > 0)
        tts_say(out, 2, "%" PRIu64 " line%s of memory blocks cannot be read", facts->bad_views,
                tts_say_plural(facts->bad_views));
    if (facts->cut_lines > 0)
        tts_say(out, 2, "%" PRIu64 " operation%s longer than 1 MiB", facts->cut_lines,
                facts->cut_lines == 1 ? " is" : "s are");
}

void tts_runlog_text(const struct tts_runlog_facts *facts, FILE *out)
{
    struct tts_failending ending;
    if (facts->failures && tts_faillog_ending(facts->failures, 0, &ending))
        tts_failview_ending(&ending, facts->path, out);
    print_headline(facts, out);
    print_source(facts, out);
    fputc('\n', out);
    print_pools(shown_sum(facts), out);
    print_top(facts, out);
    print_programs(facts, out);
    print_notes(facts, out);
}
