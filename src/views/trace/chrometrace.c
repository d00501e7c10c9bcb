#include "views/trace/chrometrace.h"

#include "model/devicename.h"
#include "views/samplewords.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static void put_chrome_text(struct tts_chrometrace *t, const char *text)
{
    tts_rowout_text(&t->rows, text);
}

static void put_chrome_string(struct tts_chrometrace *t, const char *text)
{
    tts_rowout_json(&t->rows, text, strlen(text));
}

static void put_chrome_number(struct tts_chrometrace *t, const char *before, uint64_t value)
{
    put_chrome_text(t, before);
    tts_rowout_number(&t->rows, value);
}

/* Returns the pid of a track. Every device is a process of its own, so that viewers group its
 * tracks. */
static uint64_t chrome_pid(const struct tts_chrometrace *t, const struct tts_track *track)
{
    enum { DEVICE_PIDS = 1 << 30 };
    uint32_t group = track->kind == TTS_TRACK_DEVICE ? track->number : track->group;
    return group > 0 ? (uint64_t)DEVICE_PIDS + group : tts_tracefile_pid(&t->file);
}

/* Writes the start of an event: {"ph": ..., "pid": ..., "tid": ..., "ts": ... The tid of a
 * counter is the track of its device. */
static void begin_chrome_event(struct tts_chrometrace *t, const char *phase,
                               const struct tts_track *track, uint64_t time_ns)
{
    bool is_counter = track->kind == TTS_TRACK_POOL || track->kind == TTS_TRACK_CAPACITY ||
                      track->kind == TTS_TRACK_SAMPLE || track->kind == TTS_TRACK_CORES;
    put_chrome_text(t, t->has_event ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    t->has_event = true;
    put_chrome_text(t, phase);
    put_chrome_number(t, "\",\"pid\":", chrome_pid(t, track));
    put_chrome_number(t, ",\"tid\":", is_counter ? track->group : track->number);
    put_chrome_text(t, ",\"ts\":");
    tts_rowout_micros(&t->rows, time_ns);
}

static void put_chrome_category(struct tts_chrometrace *t, enum tts_track_kind kind)
{
    static const char *const names[] = {
        [TTS_TRACK_PROCESS] = ",\"cat\":\"file\"", [TTS_TRACK_THREAD] = ",\"cat\":\"op\"",
        [TTS_TRACK_SLOT] = ",\"cat\":\"buffer\"",  [TTS_TRACK_TRACES] = ",\"cat\":\"trace\"",
        [TTS_TRACK_FAILURES] = ",\"cat\":\"oom\"", [TTS_TRACK_CAPTURE] = ",\"cat\":\"phase\"",
        [TTS_TRACK_DEVICE] = ",\"cat\":\"peak\"",
    };
    assert(names[kind]);
    put_chrome_text(t, names[kind]);
}

/* ---- arguments ---- */

static void put_chrome_arg(struct tts_chrometrace *t, bool *has_one, const char *key)
{
    put_chrome_text(t, *has_one ? ",\"" : ",\"args\":{\"");
    put_chrome_text(t, key);
    put_chrome_text(t, "\":");
    *has_one = true;
}

static void put_chrome_arg_number(struct tts_chrometrace *t, bool *has_one, const char *key,
                                  uint64_t value)
{
    put_chrome_arg(t, has_one, key);
    tts_rowout_number(&t->rows, value);
}

static void put_chrome_buffer(struct tts_chrometrace *t, bool *has_one,
                              const struct tts_event *buffer)
{
    put_chrome_arg_number(t, has_one, "id", buffer->id);
    put_chrome_arg_number(t, has_one, "bytes", buffer->size_bytes);
    if (buffer->bytes_per_bank > 0)
        put_chrome_arg_number(t, has_one, "bytes_per_bank", buffer->bytes_per_bank);
    if (buffer->block_bytes > 0)
        put_chrome_arg_number(t, has_one, "block_bytes", buffer->block_bytes);
    if (buffer->has_address)
        put_chrome_arg_number(t, has_one, "address", buffer->address);
}

static void put_chrome_args(struct tts_chrometrace *t, const struct tts_mark_args *args)
{
    bool has_one = false;
    if (args->buffer)
        put_chrome_buffer(t, &has_one, args->buffer);
    if (args->failure) {
        put_chrome_arg(t, &has_one, "pool");
        put_chrome_string(t, tts_pool_name(args->failure->pool));
    }
    if (args->failure && tts_failure_deficit_is_known(args->failure))
        put_chrome_arg_number(t, &has_one, "missing_bytes", tts_failure_deficit(args->failure));
    if (args->bytes)
        put_chrome_arg_number(t, &has_one, "bytes", args->bytes);
    if (args->op) {
        put_chrome_arg(t, &has_one, "op");
        put_chrome_string(t, args->op);
    }
    if (args->seq)
        put_chrome_arg_number(t, &has_one, "seq", args->seq);
    put_chrome_text(t, has_one ? "}}" : "}");
}

/* ---- marks ---- */

static void put_chrome_name(struct tts_chrometrace *t, const char *what,
                            const struct tts_track *track, const char *name)
{
    begin_chrome_event(t, "M", track, t->last_ns);
    put_chrome_text(t, ",\"name\":\"");
    put_chrome_text(t, what);
    put_chrome_text(t, "\",\"args\":{\"name\":");
    put_chrome_string(t, name);
    put_chrome_text(t, "}}");
}

/* Writes the name of a track. Counters belong to their process and need no name. The parent of
 * slots has no events and needs no name. */
static void put_chrome_track(struct tts_chrometrace *t, const struct tts_track *track)
{
    char name[TTS_TRACK_NAME_MAX + 16];
    if (track->kind == TTS_TRACK_PROCESS) {
        put_chrome_name(t, "process_name", track, tts_tracefile_program(&t->file));
        put_chrome_name(t, "thread_name", track, "memory");
    }
    tts_track_name(track, name);
    if (track->kind == TTS_TRACK_DEVICE) {
        put_chrome_name(t, "process_name", track, name);
        put_chrome_name(t, "thread_name", track, "peaks");
    }
    if (track->kind <= TTS_TRACK_CORES || track->kind == TTS_TRACK_BUFFERS)
        return;
    if (track->kind == TTS_TRACK_SLOT)
        snprintf(name + strlen(name), 16, " %" PRIu32, track->index);
    put_chrome_name(t, "thread_name", track, name);
}

/* Writes the key of a counter after the device: "DRAM_bytes", "DRAM_sampled_free_bytes". */
static void put_chrome_key(struct tts_chrometrace *t, const struct tts_track *track)
{
    bool is_sample = track->kind == TTS_TRACK_SAMPLE;
    const char *pool = is_sample                        ? tts_sampleword_pool(track->index)
                       : track->kind == TTS_TRACK_CORES ? "CB"
                                                        : tts_pool_name(track->pool);
    put_chrome_text(t, pool ? pool : "");
    put_chrome_text(t, pool ? "_" : "");
    put_chrome_text(t, is_sample ? "sampled_" : "");
    put_chrome_text(t, is_sample                           ? tts_sampleword_name(track->index)
                       : track->kind == TTS_TRACK_CAPACITY ? "capacity_bytes"
                                                           : "bytes");
}

/* Writes a counter. Some viewers name a plot by event and key. One viewer names it by the key
 * alone, and shows bytes only if the key ends in "_bytes". */
static void put_chrome_counter(struct tts_chrometrace *t, const struct tts_mark *mark)
{
    char name[TTS_TRACK_NAME_MAX];
    begin_chrome_event(t, "C", &mark->track, mark->time_ns);
    put_chrome_text(t, ",\"name\":\"");
    put_chrome_text(t, tts_track_name(&mark->track, name));
    put_chrome_text(t, tts_mesh_is_one(mark->track.device) ? "\",\"args\":{\"mesh"
                                                           : "\",\"args\":{\"d");
    put_chrome_number(t, "", tts_device_number(mark->track.device));
    put_chrome_text(t, "_");
    put_chrome_key(t, &mark->track);
    put_chrome_number(t, "\":", mark->value);
    put_chrome_text(t, "}}");
}

/* Writes the begin or the end of a slice. Slices of operations and traces nest. The slice of a
 * buffer is identified by the number of the buffer. */
static void put_chrome_slice(struct tts_chrometrace *t, const struct tts_mark *mark,
                             bool begins)
{
    bool is_buffer = mark->track.kind == TTS_TRACK_SLOT;
    const char *phase = is_buffer ? (begins ? "b" : "e") : (begins ? "B" : "E");
    begin_chrome_event(t, phase, &mark->track, mark->time_ns);
    put_chrome_category(t, mark->track.kind);
    if (is_buffer) {
        put_chrome_text(t, ",\"id\":\"");
        tts_rowout_hex(&t->rows, mark->buffer_no);
        put_chrome_text(t, "\"");
    }
    if (begins || is_buffer) {
        put_chrome_text(t, ",\"name\":");
        put_chrome_string(t, mark->name);
    }
    if (is_buffer && !begins)
        put_chrome_text(t, "}");
    else
        put_chrome_args(t, &mark->args);
}

static void put_chrome_instant(struct tts_chrometrace *t, const struct tts_mark *mark)
{
    begin_chrome_event(t, "i", &mark->track, mark->time_ns);
    put_chrome_category(t, mark->track.kind);
    put_chrome_text(t, ",\"s\":\"p\",\"name\":");
    put_chrome_string(t, mark->name);
    put_chrome_args(t, &mark->args);
}

static void put_chrome_span(struct tts_chrometrace *t, const struct tts_mark *mark)
{
    begin_chrome_event(t, "X", &mark->track, mark->time_ns);
    put_chrome_text(t, ",\"dur\":");
    tts_rowout_micros(&t->rows, mark->end_ns - mark->time_ns);
    put_chrome_category(t, mark->track.kind);
    put_chrome_text(t, ",\"name\":");
    put_chrome_string(t, mark->name);
    put_chrome_args(t, &mark->args);
}

void tts_chrometrace_begin(struct tts_chrometrace *t, const struct tts_tracefile *file,
                           FILE *out)
{
    tts_rowout_init(&t->rows, out);
    t->file = *file;
    t->last_ns = 0;
    t->has_event = false;
    put_chrome_text(t, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void tts_chrometrace_put(void *ctx, const struct tts_mark *mark)
{
    struct tts_chrometrace *t = ctx;
    bool is_peak = mark->kind == TTS_MARK_INSTANT && mark->track.kind == TTS_TRACK_DEVICE;
    if (mark->kind != TTS_MARK_SPAN && !is_peak)
        t->last_ns = mark->time_ns;
    switch (mark->kind) {
    case TTS_MARK_TRACK:
        put_chrome_track(t, &mark->track);
        break;
    case TTS_MARK_BEGIN:
        put_chrome_slice(t, mark, true);
        break;
    case TTS_MARK_END:
        put_chrome_slice(t, mark, false);
        break;
    case TTS_MARK_INSTANT:
        put_chrome_instant(t, mark);
        break;
    case TTS_MARK_COUNTER:
        put_chrome_counter(t, mark);
        break;
    case TTS_MARK_SPAN:
        put_chrome_span(t, mark);
        break;
    }
}

void tts_chrometrace_end(struct tts_chrometrace *t, const char *const *missing, size_t count)
{
    put_chrome_text(t, "\n],\"otherData\":{\"file\":");
    put_chrome_string(t, t->file.path);
    put_chrome_text(t, ",\"times\":");
    put_chrome_string(t, tts_tracefile_times(&t->file));
    put_chrome_text(t, ",\"complete\":");
    put_chrome_text(t, count > 0 ? "false,\"missing\":[" : "true");
    for (size_t i = 0; i < count; i++) {
        put_chrome_text(t, i > 0 ? "," : "");
        put_chrome_string(t, missing[i]);
    }
    put_chrome_text(t, count > 0 ? "]}}\n" : "}}\n");
    tts_rowout_flush(&t->rows);
}
