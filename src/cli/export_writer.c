#include "cli/export_writer.h"

#include "views/eventcsv.h"
#include "views/eventjson.h"

#include <assert.h>
#include <stdio.h>

const char *const tts_export_format_names[] = {[TTS_EXPORT_PERFETTO] = "perfetto",
                                               [TTS_EXPORT_CHROME] = "chrome",
                                               [TTS_EXPORT_CSV] = "csv",
                                               [TTS_EXPORT_JSON] = "json"};

static bool draws(const struct tts_export_writer *writer)
{
    return writer->format == TTS_EXPORT_PERFETTO || writer->format == TTS_EXPORT_CHROME;
}

static enum tts_status begin_timeline(struct tts_export_writer *writer, uint32_t slots_max,
                                      struct tts_error *err)
{
    bool is_chrome = writer->format == TTS_EXPORT_CHROME;
    struct tts_timeline_config config = {
        .slots_max = slots_max,
        .closes_at_end = is_chrome,
        .put = is_chrome ? tts_chrometrace_put : tts_perfetto_put,
        .ctx = is_chrome ? (void *)&writer->chrome : (void *)&writer->perfetto};
    return tts_timeline_new(&config, NULL, &writer->timeline, err);
}

enum tts_status tts_export_begin(struct tts_export_writer *writer,
                                 const struct tts_tracefile *file, uint32_t slots_max,
                                 FILE *out, struct tts_error *err)
{
    writer->gate = (struct tts_itemgate){0};
    writer->timeline = NULL;
    tts_eventrows_init(&writer->rows, NULL);
    if (draws(writer)) {
        enum tts_status status = begin_timeline(writer, slots_max, err);
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
    bool takes;
    enum tts_status status = tts_itemgate_pass(&writer->gate, item, &takes, err);
    if (status != TTS_OK || !takes)
        return status;
    if (draws(writer))
        return tts_timeline_item(writer->timeline, item, err);
    status = tts_eventrows_item(&writer->rows, item, err);
    if (status == TTS_OK)
        put_row(writer);
    return status;
}

static void end_timeline(struct tts_export_writer *writer, const char *problem)
{
    tts_timeline_end(writer->timeline);
    if (writer->format == TTS_EXPORT_CHROME) {
        tts_chrometrace_end(&writer->chrome, problem);
        return;
    }
    char text[320];
    snprintf(text, sizeof text, "the file could not be read further: %s",
             problem ? problem : "");
    if (problem)
        tts_timeline_note(writer->timeline, text);
    tts_perfetto_end(&writer->perfetto);
}

void tts_export_end(struct tts_export_writer *writer, const char *problem)
{
    if (draws(writer)) {
        end_timeline(writer, problem);
        return;
    }
    if (problem) {
        tts_eventrow_damage(&writer->rows.row, problem);
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
