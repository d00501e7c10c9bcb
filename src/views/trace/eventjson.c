#include "views/trace/eventjson.h"

#include <assert.h>
#include <string.h>

static void put_jsonl_number(struct tts_rowout *rows, const char *before, uint64_t value)
{
    tts_rowout_text(rows, before);
    tts_rowout_number(rows, value);
}

static void put_jsonl_text(struct tts_rowout *rows, const char *before, const char *text)
{
    tts_rowout_text(rows, before);
    tts_rowout_json(rows, text, strlen(text));
}

void tts_eventjson_begin(struct tts_rowout *rows, const struct tts_tracefile *file)
{
    put_jsonl_number(
        rows, "{\"schema\":{\"name\":\"ttscope.events\",\"version\":", TTS_EVENTJSON_VERSION);
    put_jsonl_text(rows, "},\"file\":", file->path);
    put_jsonl_text(rows, ",\"source\":", file->is_recording ? "recording" : "graph");
    if (file->program)
        put_jsonl_text(rows, ",\"program\":", file->program);
    if (file->pid)
        put_jsonl_number(rows, ",\"pid\":", file->pid);
    if (file->is_recording) {
        put_jsonl_number(rows, ",\"start_ns\":", file->start_ns);
        put_jsonl_number(rows, ",\"start_realtime_ns\":", file->start_realtime_ns);
    }
    tts_rowout_text(rows, ",\"has_times\":");
    tts_rowout_text(rows, file->has_times ? "true}\n" : "false}\n");
}

/* Writes ranges as [[x0,y0,x1,y1],...]. */
static void put_jsonl_ranges(struct tts_rowout *rows, const struct tts_eventrow *row)
{
    for (size_t i = 0; i < row->range_count; i++) {
        struct tts_core_range range = row->ranges[i];
        put_jsonl_number(rows, i > 0 ? ",[" : "[[", range.x0);
        put_jsonl_number(rows, ",", range.y0);
        put_jsonl_number(rows, ",", range.x1);
        put_jsonl_number(rows, ",", range.y1);
        tts_rowout_put(rows, "]", 1);
    }
    tts_rowout_put(rows, "]", 1);
}

static void put_jsonl_field(struct tts_rowout *rows, const struct tts_eventrow *row,
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
    case TTS_ROW_IS_TEXT:
        tts_rowout_json(rows, row->texts[field], row->text_lens[field]);
        break;
    case TTS_ROW_IS_RANGES:
        put_jsonl_ranges(rows, row);
        break;
    }
}

void tts_eventjson_row(struct tts_rowout *rows, const struct tts_eventrow *row)
{
    assert(row->known != 0);
    bool is_first = true;
    for (unsigned i = 0; i < TTS_ROW_FIELDS; i++) {
        enum tts_eventrow_field field = (enum tts_eventrow_field)i;
        if (!tts_eventrow_has(row, field))
            continue;
        tts_rowout_text(rows, is_first ? "{\"" : ",\"");
        tts_rowout_text(rows, tts_eventrow_names[field]);
        tts_rowout_text(rows, "\":");
        put_jsonl_field(rows, row, field);
        is_first = false;
    }
    tts_rowout_put(rows, "}\n", 2);
}
