#include "views/live/phases_view.h"

#include "views/live/live_view.h"
#include "views/live/live_words.h"
#include "views/say.h"
#include "views/table.h"
#include "views/textroom.h"

#include <inttypes.h>

enum { CELL_BYTES = 64 };
enum { BEGIN, PHASE, TRACE, DATA, CODE, TOTAL, CHANGES, PHASE_COLUMNS };
#define SECOND_NS UINT64_C(1000000000)

static const struct tts_column phase_columns[PHASE_COLUMNS] = {
    [BEGIN] = {.title = "Begin", .type = TTS_COLUMN_NUMBER},
    [PHASE] = {.title = "Phase"},
    [TRACE] = {.title = "TRACE", .type = TTS_COLUMN_NUMBER},
    [DATA] = {.title = "L1 (Data)", .type = TTS_COLUMN_NUMBER},
    [CODE] = {.title = "L1 (Code)", .type = TTS_COLUMN_NUMBER},
    [TOTAL] = {.title = "Total", .type = TTS_COLUMN_NUMBER},
    [CHANGES] = {.title = "Changes"},
};

static struct tts_cell cell_of_mb(char out[CELL_BYTES], const char *sign, uint64_t bytes)
{
    char size[TTS_LIVETEXT_SIZE_MAX];
    struct tts_textroom room = tts_textroom_of(out, CELL_BYTES);
    tts_textroom_put(&room, sign);
    tts_textroom_put(&room, tts_livemb_text(size, bytes));
    return tts_cell_text(out);
}

static struct tts_cell cell_of_change(char out[CELL_BYTES], const struct tts_tracerow *row,
                                      bool is_utf8)
{
    int64_t change = row->change_bytes;
    if (!row->change_known)
        return tts_cell_unknown();
    if (change == 0 && row->phase == TTS_TRACEPHASE_EXECUTION)
        return tts_cell_text(is_utf8 ? "0 MB \u2190 Static!" : "0 MB <- Static!");
    return cell_of_mb(out,
                      change > 0   ? "+"
                      : change < 0 ? "-"
                                   : "",
                      change < 0 ? -(uint64_t)change : (uint64_t)change);
}

static enum tts_status add_phase_line(struct tts_table *table,
                                      const struct tts_phasestable *options,
                                      const struct tts_tracerow *row)
{
    char texts[PHASE_COLUMNS][CELL_BYTES];
    uint64_t ns = row->begin_ns > options->start_ns ? row->begin_ns - options->start_ns : 0;
    snprintf(texts[BEGIN], CELL_BYTES, "%" PRIu64 ".%03" PRIu64 " s", ns / SECOND_NS,
             ns / 1000000 % 1000);
    struct tts_cell cells[PHASE_COLUMNS] = {
        [BEGIN] = tts_cell_text(texts[BEGIN]),
        [PHASE] = tts_cell_text(tts_tracephase_name(row->phase)),
        [TRACE] = cell_of_mb(texts[TRACE], "", row->trace_bytes),
        [DATA] = cell_of_mb(texts[DATA], "", row->data_bytes),
        [TOTAL] = cell_of_mb(texts[TOTAL], "", tts_tracerow_total(row)),
        [CHANGES] = cell_of_change(texts[CHANGES], row, options->is_utf8),
    };
    if (row->code_known)
        cells[CODE] = cell_of_mb(texts[CODE], "", row->code_bytes);
    return tts_table_add(table, options->has_times ? cells : cells + PHASE);
}

enum tts_status tts_phasestable_put(const struct tts_phasestable *options, FILE *out)
{
    const struct tts_livephases *phases = options->phases;
    unsigned first = options->has_times ? BEGIN : PHASE;
    struct tts_table table;
    enum tts_status status = TTS_OK;
    bool has_code = true;
    tts_table_init(&table, phase_columns + first, PHASE_COLUMNS - first, options->alloc);
    for (size_t i = 0; i < phases->row_count && status == TTS_OK; i++) {
        status = add_phase_line(&table, options, &phases->rows[i]);
        has_code &= phases->rows[i].code_known;
    }
    if (status == TTS_OK)
        tts_table_text(&table, options->columns, out);
    tts_table_release(&table);
    if (status == TTS_OK && phases->rows_left_out > 0)
        tts_say(out, 0, "%" PRIu64 " phase%s after the first phase %s not shown",
                phases->rows_left_out, tts_say_plural(phases->rows_left_out),
                phases->rows_left_out == 1 ? "is" : "are");
    if (status == TTS_OK && !has_code)
        tts_say(out, 0, "-: the code in L1 is unknown and is not in the total");
    return status;
}

void tts_phases_json(const struct tts_livephases *phases, const char *time_key,
                     uint64_t start_ns, struct tts_json *json)
{
    for (size_t i = 0; i < phases->row_count; i++) {
        const struct tts_tracerow *row = &phases->rows[i];
        tts_json_object(json, NULL);
        tts_json_text_or_null(json, "phase", tts_tracephase_word(row->phase));
        tts_json_ratio(json, time_key, row->begin_ns > start_ns ? row->begin_ns - start_ns : 0,
                       SECOND_NS);
        tts_json_number(json, "trace_bytes", row->trace_bytes);
        tts_json_number(json, "l1_data_bytes", row->data_bytes);
        tts_json_number_or_null(json, "l1_code_bytes", row->code_known, row->code_bytes);
        if (row->change_known)
            tts_json_signed(json, "change_bytes", row->change_bytes);
        else
            tts_json_null(json, "change_bytes");
        tts_json_object_end(json);
    }
}

enum tts_status tts_liveview_phases(const struct tts_liveview *view, FILE *out)
{
    char time[TTS_LIVETEXT_TIME_MAX];
    fprintf(out, "Phases of Traces (Update #%" PRIu64 ")\n   Timestamp: %s\n", view->update,
            tts_livetime_text(time, view->frame->time_ns));
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < view->frame->device_count && status == TTS_OK; i++) {
        const struct tts_livedevice *device = &view->frame->devices[i];
        struct tts_phasestable table = {.phases = &device->answers.phases,
                                        .alloc = view->frame->alloc,
                                        .columns = view->columns,
                                        .is_utf8 = view->is_utf8};
        fprintf(out, "\nDevice %" PRIu32 "\n", device->index);
        if (device->answers.phases.row_count > 0)
            status = tts_phasestable_put(&table, out);
        else
            fputs("unknown: nothing reports the memory of this device\n", out);
    }
    if (status == TTS_OK)
        tts_livenotes_put(view, TTS_LIVENOTES_DEVICES | TTS_LIVENOTES_ANSWERS, out);
    return status;
}
