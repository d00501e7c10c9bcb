#include "views/trace/eventcsv.h"

#include <assert.h>

void tts_eventcsv_begin(struct tts_rowout *rows)
{
    for (size_t i = 0; i < TTS_ROW_FIELDS; i++) {
        tts_rowout_put(rows, ",", i > 0);
        tts_rowout_text(rows, tts_eventrow_names[i]);
    }
    tts_rowout_put(rows, "\n", 1);
}

/* Writes ranges as x0-y0..x1-y1, separated by '+'. */
static void put_csv_ranges(struct tts_rowout *rows, const struct tts_eventrow *row)
{
    for (size_t i = 0; i < row->range_count; i++) {
        struct tts_core_range range = row->ranges[i];
        tts_rowout_put(rows, "+", i > 0);
        tts_rowout_number(rows, range.x0);
        tts_rowout_put(rows, "-", 1);
        tts_rowout_number(rows, range.y0);
        tts_rowout_put(rows, "..", 2);
        tts_rowout_number(rows, range.x1);
        tts_rowout_put(rows, "-", 1);
        tts_rowout_number(rows, range.y1);
    }
}

static void put_csv_field(struct tts_rowout *rows, const struct tts_eventrow *row,
                          enum tts_eventrow_field field)
{
    switch (tts_eventrow_types[field]) {
    case TTS_ROW_IS_NUMBER:
        tts_rowout_number(rows, row->numbers[field]);
        break;
    case TTS_ROW_IS_BOOL:
        tts_rowout_text(rows, row->numbers[field] ? "true" : "false");
        break;
    case TTS_ROW_IS_WORD:
        tts_rowout_put(rows, row->texts[field], row->text_lens[field]);
        break;
    case TTS_ROW_IS_TEXT:
        tts_rowout_csv(rows, row->texts[field], row->text_lens[field]);
        break;
    case TTS_ROW_IS_RANGES:
        put_csv_ranges(rows, row);
        break;
    }
}

void tts_eventcsv_row(struct tts_rowout *rows, const struct tts_eventrow *row)
{
    assert(row->known != 0);
    for (unsigned i = 0; i < TTS_ROW_FIELDS; i++) {
        tts_rowout_put(rows, ",", i > 0);
        if (tts_eventrow_has(row, (enum tts_eventrow_field)i))
            put_csv_field(rows, row, (enum tts_eventrow_field)i);
    }
    tts_rowout_put(rows, "\n", 1);
}
