#include "cli/export_writer.h"

#include "views/trace/eventcsv.h"
#include "views/trace/eventjson.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const tts_export_format_names[] = {[TTS_EXPORT_PERFETTO] = "perfetto",
                                               [TTS_EXPORT_CHROME] = "chrome",
                                               [TTS_EXPORT_CSV] = "csv",
                                               [TTS_EXPORT_JSON] = "json"};

static bool draws(const struct tts_export_writer *writer)
{
    return writer->format == TTS_EXPORT_PERFETTO || writer->format == TTS_EXPORT_CHROME;
}

static enum tts_status begin_timeline(struct tts_export_writer *writer,
                                      const struct tts_export_limits *limits,
                                      struct tts_error *err)
{
    bool is_chrome = writer->format == TTS_EXPORT_CHROME;
    struct tts_timeline_config config = {
        .slots_max = limits->slots_max,
        .closes_at_end = is_chrome,
        .put = is_chrome ? tts_chrometrace_put : tts_perfetto_put,
        .ctx = is_chrome ? (void *)&writer->chrome : (void *)&writer->perfetto};
    memcpy(config.capacity_bytes, limits->capacity_bytes, sizeof config.capacity_bytes);
    return tts_timeline_new(&config, NULL, &writer->timeline, err);
}

enum tts_status tts_export_begin(struct tts_export_writer *writer,
                                 const struct tts_tracefile *file,
                                 const struct tts_export_limits *limits, FILE *out,
                                 struct tts_error *err)
{
    writer->check = (struct tts_itemcheck){0};
    writer->timeline = NULL;
    tts_eventrows_init(&writer->rows, NULL);
    if (draws(writer)) {
        enum tts_status status = begin_timeline(writer, limits, err);
        if (status != TTS_OK)
            return status;
    } else {
        tts_rowout_init(&writer->lines, out);
    }
    if (writer->format == TTS_EXPORT_PERFETTO)
        tts_perfetto_begin(&writer->perfetto, file, out);
    else if (writer->format == TTS_EXPORT_CHROME)
        tts_chrometrace_begin(&writer->chrome, file, out);
    else if (writer->format == TTS_EXPORT_CSV)
        tts_eventcsv_begin(&writer->lines);
    else
        tts_eventjson_begin(&writer->lines, file);
    return TTS_OK;
}

static void put_row(struct tts_export_writer *writer)
{
    assert(!draws(writer));
    if (writer->format == TTS_EXPORT_CSV)
        tts_eventcsv_row(&writer->lines, &writer->rows.row);
    else
        tts_eventjson_row(&writer->lines, &writer->rows.row);
}

enum tts_status tts_export_item(struct tts_export_writer *writer, const struct tts_item *item,
                                struct tts_error *err)
{
    enum tts_status status = tts_itemcheck_pass(&writer->check, item, err);
    if (status != TTS_OK || item->kind == TTS_ITEM_NAME) /* every item has its own */
        return status;
    if (draws(writer))
        return tts_timeline_item(writer->timeline, item, err);
    status = tts_eventrows_item(&writer->rows, item, err);
    if (status == TTS_OK)
        put_row(writer);
    return status;
}

/* "line 12: " before it, as there is no file name to put the line behind. */
static const char *text_of(const struct tts_partial_note *note, char out[TTS_EXPORT_TEXT_MAX])
{
    if (note->line == 0)
        return note->text;
    snprintf(out, TTS_EXPORT_TEXT_MAX, "line %" PRIu64 ": %s", note->line, note->text);
    return out;
}

static void end_chrome(struct tts_export_writer *writer,
                       const struct tts_partial_notes *missing)
{
    static_assert(TTS_PARTIAL_NOTES_MAX <= 16, "they are on the stack");
    char texts[TTS_PARTIAL_NOTES_MAX][TTS_EXPORT_TEXT_MAX];
    const char *all[TTS_PARTIAL_NOTES_MAX];
    for (size_t i = 0; i < missing->count; i++)
        all[i] = text_of(&missing->note[i], texts[i]);
    tts_chrometrace_end(&writer->chrome, all, missing->count);
}

const char *tts_export_unnamed(uint64_t count, char out[TTS_EXPORT_TEXT_MAX])
{
    snprintf(out, TTS_EXPORT_TEXT_MAX,
             "%" PRIu64 " operations and buffers are named \"(other)\": there is room for "
             "%d names of operations",
             count, TTS_TIMELINE_NAMES_MAX);
    return out;
}

static void end_timeline(struct tts_export_writer *writer,
                         const struct tts_partial_notes *missing)
{
    char text[TTS_EXPORT_TEXT_MAX];
    uint64_t unnamed = tts_timeline_counts(writer->timeline).unnamed;
    tts_timeline_end(writer->timeline);
    if (unnamed > 0)
        tts_timeline_note(writer->timeline, tts_export_unnamed(unnamed, text));
    if (writer->format == TTS_EXPORT_CHROME) {
        end_chrome(writer, missing);
        return;
    }
    for (size_t i = 0; i < missing->count; i++)
        tts_timeline_note(writer->timeline, text_of(&missing->note[i], text));
    tts_perfetto_end(&writer->perfetto);
}

void tts_export_end(struct tts_export_writer *writer, const struct tts_partial_notes *missing)
{
    char text[TTS_EXPORT_TEXT_MAX];
    if (draws(writer)) {
        end_timeline(writer, missing);
        return;
    }
    for (size_t i = 0; i < missing->count; i++) {
        const struct tts_partial_note *note = &missing->note[i];
        bool is_damage = strcmp(note->kind, "damage") == 0;
        tts_eventrow_note(&writer->rows.row, is_damage ? "damage" : "partial",
                          text_of(note, text));
        put_row(writer);
    }
    tts_rowout_flush(&writer->lines);
}

void tts_export_release(struct tts_export_writer *writer)
{
    tts_timeline_free(writer->timeline);
    writer->timeline = NULL;
    tts_eventrows_release(&writer->rows);
}
