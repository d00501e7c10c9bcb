#include "views/show/show_samples.h"

#include "base/number.h"
#include "model/devicename.h"
#include "views/samplewords.h"
#include "views/say.h"

#include <inttypes.h>

#define SECOND_NS UINT64_C(1000000000)

static uint64_t since_start(uint64_t time_ns, uint64_t start_ns)
{
    return time_ns > start_ns ? time_ns - start_ns : 0;
}

static void put_sample_time(FILE *out, uint64_t ns)
{
    fprintf(out, "%" PRIu64 ".%06" PRIu64 " s", ns / SECOND_NS, ns % SECOND_NS / 1000);
}

static void put_period(FILE *out, const struct tts_samplepeaks *peaks)
{
    fprintf(out, "%" PRIu64 " sample%s", peaks->samples, tts_say_plural(peaks->samples));
    if (!peaks->period_is_known)
        return;
    fputs(", read every ", out);
    put_sample_time(out, peaks->period_ns);
}

/* ---- the headline ---- */

void tts_showsamples_headline(const struct tts_samplepeaks *peaks, enum tts_pool pool,
                              uint64_t start_ns, FILE *out)
{
    unsigned number = tts_sample_number(TTS_SAMPLE_ALLOCATED, pool);
    const struct tts_sampledevice *best = NULL;
    char mb[TTS_NUMBER_MB_MAX], name[TTS_DEVICENAME_MAX];
    for (size_t i = 0; i < peaks->device_count; i++) {
        const struct tts_sampledevice *device = &peaks->devices[i];
        if (device->values[number].is_known &&
            (!best || device->values[number].peak > best->values[number].peak))
            best = device;
    }
    if (best) {
        const struct tts_samplepeak *value = &best->values[number];
        fprintf(out, "sampled peak of %s: %" PRIu64 " B, %s MB on %s", tts_pool_name(pool),
                value->peak, tts_number_format_mb(mb, (int64_t)value->peak, false),
                tts_devicename(best->device, name));
        if (value->has_time) {
            fputs(", at ", out);
            put_sample_time(out, since_start(value->peak_ns, start_ns));
        }
    } else {
        fprintf(out, "sampled peak of %s: unknown (no sample has this pool)",
                tts_pool_name(pool));
    }
    fputs("; ", out);
    put_period(out, peaks);
}

/* ---- the table ---- */

static void print_sample_row(FILE *out, const char *device, unsigned number,
                             const struct tts_samplepeak *value, uint64_t start_ns)
{
    const char *pool = tts_sampleword_pool(number);
    char what[32];
    snprintf(what, sizeof what, "%s%s%s", pool ? pool : "", pool ? " " : "",
             tts_sampleword_text(number));
    fprintf(out, "  %-10s %-22s %15" PRIu64 " ", device, what, value->peak);
    uint64_t ns = since_start(value->peak_ns, start_ns);
    if (value->has_time)
        fprintf(out, "%8" PRIu64 ".%06" PRIu64, ns / SECOND_NS, ns % SECOND_NS / 1000);
    else
        fprintf(out, "%15s", "unknown");
    fprintf(out, " %15" PRIu64 "\n", value->last);
}

void tts_showsamples_text(const struct tts_samplepeaks *peaks, uint64_t start_ns, FILE *out)
{
    if (peaks->samples == 0)
        return;
    fputs("sampled counters: ", out);
    put_period(out, peaks);
    fputs("\n", out);
    tts_say(out, 2,
            "peaks between two samples are unknown; bytes are requested bytes of the "
            "whole device");
    fprintf(out, "  %-10s %-22s %15s %15s %15s\n", "device", "counter", "highest", "at second",
            "last");
    for (size_t i = 0; i < peaks->device_count; i++) {
        const struct tts_sampledevice *device = &peaks->devices[i];
        char name[TTS_DEVICENAME_MAX];
        tts_devicename(device->device, name);
        for (unsigned number = 0; number < TTS_SAMPLE_VALUES; number++)
            if (device->values[number].is_known)
                print_sample_row(out, name, number, &device->values[number], start_ns);
    }
    if (peaks->left_out > 0)
        fprintf(out, "  %" PRIu64 " sample%s of further devices not shown\n", peaks->left_out,
                peaks->left_out == 1 ? " is" : "s are");
    fputc('\n', out);
}

/* ---- JSON ---- */

static void put_sample_value(struct tts_json *json, unsigned number,
                             const struct tts_samplepeak *value, uint64_t start_ns)
{
    tts_json_object(json, NULL);
    tts_json_text_or_null(json, "pool", tts_sampleword_pool(number));
    tts_json_text(json, "counter", tts_sampleword_name(number));
    tts_json_number(json, "peak", value->peak);
    tts_json_number_or_null(json, "peak_ns", value->has_time,
                            since_start(value->peak_ns, start_ns));
    tts_json_number(json, "last", value->last);
    tts_json_number_or_null(json, "last_ns", value->has_time,
                            since_start(value->last_ns, start_ns));
    tts_json_object_end(json);
}

void tts_showsamples_json(const struct tts_samplepeaks *peaks, uint64_t start_ns,
                          struct tts_json *json)
{
    if (peaks->samples == 0) {
        tts_json_null(json, "samples");
        return;
    }
    tts_json_object(json, "samples");
    tts_json_number(json, "count", peaks->samples);
    tts_json_number_or_null(json, "period_ns", peaks->period_is_known, peaks->period_ns);
    tts_json_number(json, "left_out", peaks->left_out);
    tts_json_array(json, "devices");
    for (size_t i = 0; i < peaks->device_count; i++) {
        const struct tts_sampledevice *device = &peaks->devices[i];
        tts_json_object(json, NULL);
        tts_json_number(json, "device", device->device);
        tts_json_number(json, "samples", device->samples);
        tts_json_array(json, "counters");
        for (unsigned number = 0; number < TTS_SAMPLE_VALUES; number++)
            if (device->values[number].is_known)
                put_sample_value(json, number, &device->values[number], start_ns);
        tts_json_array_end(json);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_object_end(json);
}
