#include "base/number.h"
#include "views/failure/failview.h"
#include "views/safe_text.h"
#include "views/say.h"
#include "views/table.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_COLUMNS = 40, NAME_MAX_BYTES = TTS_SAFE_COLUMN_BYTES * NAME_COLUMNS + 1 };

/* ---- text ---- */

/* Returns a cell that shows bytes for people. The text is copied when the row is added. */
static struct tts_cell amount_cell(char text[TTS_NUMBER_BYTES_MAX], bool is_known,
                                   uint64_t bytes)
{
    if (!is_known)
        return tts_cell_unknown();
    return (struct tts_cell){true, bytes, tts_number_format_bytes(text, bytes)};
}

static struct tts_cell yes_cell(bool is_known, bool value)
{
    return (struct tts_cell){.is_known = is_known, .number = value};
}

static struct tts_cell op_cell(const char *op)
{
    return tts_cell_text(op ? op : "(outside any)");
}

static void print_holder_table(struct tts_table *table, enum tts_status status, FILE *out)
{
    table->indent = 2;
    if (status == TTS_OK && table->row_count > 0)
        tts_table_text(table, tts_say_columns(), out);
    tts_table_release(table);
}

/* Returns whether the free pieces are known. */
static bool has_pieces(const struct tts_failholders *holders)
{
    return holders->is_complete && holders->without_address == 0 && !holders->is_clash;
}

static void print_holder_ops(const struct tts_failholders *holders, FILE *out)
{
    static const struct tts_column columns[] = {
        {.title = "operation", .is_flexible = true},
        {.title = "buffers", .type = TTS_COLUMN_NUMBER},
        {.title = "of each bank", .type = TTS_COLUMN_BYTES},
        {.title = "then free", .type = TTS_COLUMN_BYTES},
        {.title = "enough", .type = TTS_COLUMN_BOOL},
    };
    const struct tts_failholder_op *rows = holders->ops.items;
    char a[TTS_NUMBER_BYTES_MAX], b[TTS_NUMBER_BYTES_MAX];
    enum tts_status status = TTS_OK;
    struct tts_table table;
    tts_table_init(&table, columns, has_pieces(holders) ? 4 + holders->has_need : 3, NULL);
    for (size_t i = 0; i < holders->ops.count && status == TTS_OK; i++)
        status = tts_table_add(
            &table, (struct tts_cell[]){op_cell(rows[i].op), tts_cell_number(rows[i].buffers),
                                        amount_cell(a, true, rows[i].block_bytes),
                                        amount_cell(b, rows[i].has_room, rows[i].room_bytes),
                                        yes_cell(holders->has_need, rows[i].is_enough)});
    print_holder_table(&table, status, out);
    if (holders->op_count > holders->ops.count)
        fprintf(out, "  (%zu more)\n", holders->op_count - holders->ops.count);
}

static const struct tts_column holder_columns[] = {
    {.title = "", .type = TTS_COLUMN_TEXT},
    {.title = "buffer", .type = TTS_COLUMN_NUMBER},
    {.title = "event", .type = TTS_COLUMN_NUMBER},
    {.title = "operation", .is_flexible = true},
    {.title = "address", .type = TTS_COLUMN_NUMBER},
    {.title = "of bank", .type = TTS_COLUMN_BYTES},
    {.title = "then free", .type = TTS_COLUMN_BYTES},
};
static const struct tts_column clash_columns[] = {
    {.title = "buffer", .type = TTS_COLUMN_NUMBER},
    {.title = "event", .type = TTS_COLUMN_NUMBER},
    {.title = "operation", .is_flexible = true},
    {.title = "address", .type = TTS_COLUMN_NUMBER},
    {.title = "of bank", .type = TTS_COLUMN_BYTES},
    {.title = "L1 then from", .type = TTS_COLUMN_NUMBER},
    {.title = "enough", .type = TTS_COLUMN_BOOL},
};

/* Adds a row of holder_columns, or of clash_columns: they begin with the second cell. */
static enum tts_status add_holder_row(struct tts_table *table, const char *place,
                                      const struct tts_failholders *holders, size_t idx)
{
    char a[TTS_NUMBER_BYTES_MAX], b[TTS_NUMBER_BYTES_MAX];
    const struct tts_failholder *item = &holders->items[idx];
    if (idx == holders->count)
        return TTS_OK;
    struct tts_cell room = amount_cell(b, item->has_room, item->room_bytes);
    room.text = holders->is_clash ? NULL : room.text;
    const struct tts_cell cells[] = {tts_cell_text(place),
                                     tts_cell_number(item->id),
                                     tts_cell_number(item->seq),
                                     op_cell(item->op),
                                     tts_cell_number(item->address),
                                     amount_cell(a, true, item->block_bytes),
                                     room,
                                     yes_cell(holders->has_need, item->is_enough)};
    return tts_table_add(table, cells + holders->is_clash);
}

/* Prints the largest free piece, the buffers at its ends, and the smallest buffer that is
 * enough. */
static void print_hole(const struct tts_failholders *holders, FILE *out)
{
    char piece[TTS_NUMBER_BYTES_MAX];
    struct tts_table table;
    enum tts_status status = TTS_OK;
    tts_table_init(&table, holder_columns, sizeof holder_columns / sizeof holder_columns[0],
                   NULL);
    if (holders->has_hole) {
        tts_say(out, 0, "the largest free piece%s is %s, at address %" PRIu64 ":",
                holders->has_bank ? "" : " between two buffers",
                tts_number_format_bytes(piece, holders->hole_bytes), holders->hole_address);
        status = add_holder_row(&table, "below it", holders, holders->hole_below);
        if (status == TTS_OK)
            status = add_holder_row(&table, "above it", holders, holders->hole_above);
    }
    if (status == TTS_OK && holders->enough_count > 0)
        status = add_holder_row(&table, "enough", holders, holders->enough);
    print_holder_table(&table, status, out);
    if (holders->enough_count > 1)
        tts_say(out, 0,
                "freeing any one of %" PRIu64 " buffers is enough; the last row is the "
                "smallest of them",
                holders->enough_count);
    else if (holders->enough_count == 0 && holders->has_need)
        tts_say(out, 0, "freeing a single buffer is not enough");
}

static void print_clash_holders(const struct tts_failholders *holders, FILE *out)
{
    struct tts_table table;
    enum tts_status status = TTS_OK;
    tts_table_init(&table, clash_columns, sizeof clash_columns / sizeof clash_columns[0], NULL);
    tts_say(out, 0,
            "%zu L1 buffer%s below address %" PRIu64
            ", where the %s buffers end. 'L1 then from' is the lowest L1 address after the "
            "buffer of the row and all rows above are freed; 'enough' says whether this makes "
            "room:",
            holders->below_count, holders->below_count == 1 ? " begins" : "s begin",
            holders->msg.value[TTS_FAILMSG_END],
            holders->msg.family == TTS_FAILMSG_DFB ? "dataflow" : "circular");
    for (size_t i = 0; i < holders->below_count && i < TTS_FAILHOLDERS_TOP && status == TTS_OK;
         i++)
        status = add_holder_row(&table, NULL, holders, i);
    print_holder_table(&table, status, out);
}

/* Says how far the file agrees with the message. */
static void say_agreement(const struct tts_failholders *holders, FILE *out)
{
    const uint64_t *value = holders->msg.value;
    if (holders->has_added)
        tts_say(out, 0, "The numbers that the message lacks are from event %" PRIu64 ".",
                holders->seq);
    if (!holders->is_same_run)
        tts_say(out, 0,
                "The file has no refused request with the numbers of the message, so the file "
                "may belong to another run.");
    if (!holders->is_same_run && holders->other_refusals > 0)
        tts_say(out, 0,
                "The file has %" PRIu64
                " refused request%s with other numbers, the first at event %" PRIu64 ".",
                holders->other_refusals, tts_say_plural(holders->other_refusals),
                holders->other_refusal_seq);
    if (!holders->is_complete && !holders->is_clash)
        tts_say(out, 0,
                "The message says that %" PRIu64 TTS_SAY_GLUE "B of each bank are allocated, "
                "but these buffers take %" PRIu64 TTS_SAY_GLUE "B.",
                value[TTS_FAILMSG_ALLOCATED], holders->block_bytes);
    else if (!holders->is_complete && holders->without_address == 0 && holders->count > 0)
        tts_say(out, 0,
                "The lowest L1 buffer of the message is at address %" PRIu64
                ", the lowest of these buffers is at address %" PRIu64 ".",
                value[TTS_FAILMSG_ADDRESS], holders->items[0].address);
}

void tts_failview_holders_text(const struct tts_failview *view, FILE *out)
{
    static const char *const moments[] = {
        [TTS_FAILMOMENT_REFUSAL] = "when this request was refused",
        [TTS_FAILMOMENT_SAME_BYTES] = "when a bank had the allocated bytes of the message",
        [TTS_FAILMOMENT_LAST] = "after the last allocation",
    };
    const struct tts_failholders *holders = view->holders;
    char sum[TTS_NUMBER_BYTES_MAX], name[NAME_MAX_BYTES];
    if (!holders || holders->moment == TTS_FAILMOMENT_NONE)
        return;
    tts_safe_text_end(name, sizeof name, tts_shown_path(view->with_path), NAME_COLUMNS);
    fputc('\n', out);
    tts_say(out, 0, "%s %s, event %" PRIu64 " of %s: %zu buffer%s with %s%s of each bank",
            tts_pool_name(holders->pool), moments[holders->moment], holders->seq, name,
            holders->count, tts_say_plural(holders->count),
            holders->has_estimate ? "about " : "",
            tts_number_format_bytes(sum, holders->block_bytes));
    if (has_pieces(holders))
        tts_say(out, 2, "'then free' is the largest free piece after the buffers are freed");
    print_holder_ops(holders, out);
    if (holders->without_address > 0)
        tts_say(out, 0,
                "%zu of these buffers have no address in the file, so the free pieces are "
                "unknown",
                holders->without_address);
    else if (holders->has_need && holders->is_clash)
        print_clash_holders(holders, out);
    else if (has_pieces(holders))
        print_hole(holders, out);
    say_agreement(holders, out);
}

/* ---- JSON ---- */

static void put_enough(struct tts_json *json, const struct tts_failholders *holders, bool value)
{
    if (holders->has_need)
        tts_json_bool(json, "is_enough", value);
    else
        tts_json_null(json, "is_enough");
}

static void put_holder(struct tts_json *json, const char *key,
                       const struct tts_failholders *holders, size_t idx)
{
    const struct tts_failholder *item = &holders->items[idx];
    if (idx >= holders->count) {
        tts_json_null(json, key);
        return;
    }
    tts_json_object(json, key);
    tts_json_number(json, "id", item->id);
    tts_json_number(json, "device", item->device);
    tts_json_number(json, "event", item->seq);
    tts_json_text_or_null(json, "op", item->op);
    tts_json_number(json, "bytes", item->bytes);
    tts_json_number(json, "bytes_per_bank", item->block_bytes);
    tts_json_number_or_null(json, "address", item->has_address, item->address);
    tts_json_number_or_null(json, holders->is_clash ? "l1_begins_at" : "piece_bytes",
                            item->has_room, item->room_bytes);
    put_enough(json, holders, item->is_enough);
    tts_json_object_end(json);
}

static void put_holder_ops(struct tts_json *json, const struct tts_failholders *holders)
{
    const struct tts_failholder_op *rows = holders->ops.items;
    tts_json_array(json, "ops");
    for (size_t i = 0; i < holders->ops.count; i++) {
        tts_json_object(json, NULL);
        tts_json_text_or_null(json, "op", rows[i].op);
        tts_json_number(json, "buffers", rows[i].buffers);
        tts_json_number(json, "bytes", rows[i].bytes);
        tts_json_number(json, "bytes_per_bank", rows[i].block_bytes);
        tts_json_number_or_null(json, "piece_bytes", rows[i].has_room, rows[i].room_bytes);
        if (rows[i].has_room)
            put_enough(json, holders, rows[i].is_enough);
        else
            tts_json_null(json, "is_enough");
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_number(json, "ops_not_listed", holders->op_count - holders->ops.count);
}

static void put_hole(struct tts_json *json, const struct tts_failholders *holders)
{
    if (!holders->has_hole) {
        tts_json_null(json, "largest_piece");
        return;
    }
    tts_json_object(json, "largest_piece");
    tts_json_number(json, "address", holders->hole_address);
    tts_json_number(json, "bytes", holders->hole_bytes);
    put_holder(json, "below", holders, holders->hole_below);
    put_holder(json, "above", holders, holders->hole_above);
    tts_json_object_end(json);
}

void tts_failview_holders_json(const struct tts_failview *view, struct tts_json *json)
{
    static const char *const moments[] = {[TTS_FAILMOMENT_REFUSAL] = "refusal",
                                          [TTS_FAILMOMENT_SAME_BYTES] = "same_bytes",
                                          [TTS_FAILMOMENT_LAST] = "last_allocation"};
    const struct tts_failholders *holders = view->holders;
    if (!holders || holders->moment == TTS_FAILMOMENT_NONE) {
        tts_json_null(json, "holders");
        return;
    }
    tts_json_object(json, "holders");
    tts_json_text(json, "file", view->with_path);
    tts_json_text(json, "moment", moments[holders->moment]);
    tts_json_number(json, "event", holders->seq);
    tts_json_number(json, "device", holders->device);
    tts_json_bool(json, "is_same_run", holders->is_same_run);
    tts_json_bool(json, "is_complete", holders->is_complete);
    tts_json_bool(json, "adds_numbers", holders->has_added);
    tts_json_number(json, "other_refusals", holders->other_refusals);
    tts_json_text(json, "pool", tts_pool_name(holders->pool));
    tts_json_number(json, "buffers", holders->count);
    tts_json_number(json, "buffers_without_address", holders->without_address);
    tts_json_number(json, "bytes", holders->bytes);
    tts_json_number(json, "bytes_per_bank", holders->block_bytes);
    tts_json_bool(json, "is_estimate", holders->has_estimate);
    put_holder_ops(json, holders);
    put_hole(json, holders);
    tts_json_number_or_null(json, "enough_buffers", holders->has_need && !holders->is_clash,
                            holders->enough_count);
    put_holder(json, "smallest_enough", holders,
               holders->enough_count > 0 ? holders->enough : holders->count);
    tts_json_array(json, "in_the_way");
    for (size_t i = 0; i < holders->below_count && i < TTS_FAILHOLDERS_TOP; i++)
        put_holder(json, NULL, holders, i);
    tts_json_array_end(json);
    tts_json_number_or_null(json, "in_the_way_buffers", holders->is_clash && holders->has_need,
                            holders->below_count);
    tts_json_object_end(json);
}
