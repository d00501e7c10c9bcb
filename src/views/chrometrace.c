#include "views/chrometrace.h"

#include "model/devicename.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static void put_text(struct tts_chrometrace *t, const char *text)
{
    tts_rowout_text(&t->rows, text);
}

static void put_string(struct tts_chrometrace *t, const char *text)
{
    tts_rowout_json(&t->rows, text, strlen(text));
}

static void put_number(struct tts_chrometrace *t, const char *before, uint64_t value)
{
    put_text(t, before);
    tts_rowout_number(&t->rows, value);
}

/* Every device is a process of its own, so that viewers group its tracks. */
static uint64_t pid_of(const struct tts_chrometrace *t, const struct tts_track *track)
{
    enum { DEVICE_PIDS = 1 << 30 };
    uint32_t group = track->kind == TTS_TRACK_DEVICE ? track->number : track->group;
    return group > 0 ? (uint64_t)DEVICE_PIDS + group : tts_tracefile_pid(&t->file);
}

/* {"ph": ..., "pid": ..., "tid": ..., "ts": ... and no end yet. A counter is one of its
 * process. */
static void begin_event(struct tts_chrometrace *t, const char *phase,
                        const struct tts_track *track, uint64_t time_ns)
{
    bool is_counter = track->kind == TTS_TRACK_POOL || track->kind == TTS_TRACK_CAPACITY ||
                      track->kind == TTS_TRACK_CORES;
    put_text(t, t->has_event ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    t->has_event = true;
    put_text(t, phase);
    put_number(t, "\",\"pid\":", pid_of(t, track));
    put_number(t, ",\"tid\":", is_counter ? track->group : track->number);
    put_text(t, ",\"ts\":");
    tts_rowout_micros(&t->rows, time_ns);
}

static void put_category(struct tts_chrometrace *t, enum tts_track_kind kind)
{
    static const char *const names[] = {
        [TTS_TRACK_PROCESS] = ",\"cat\":\"file\"", [TTS_TRACK_THREAD] = ",\"cat\":\"op\"",
        [TTS_TRACK_SLOT] = ",\"cat\":\"buffer\"",  [TTS_TRACK_TRACES] = ",\"cat\":\"trace\"",
        [TTS_TRACK_FAILURES] = ",\"cat\":\"oom\"", [TTS_TRACK_CAPTURE] = ",\"cat\":\"phase\"",
        [TTS_TRACK_DEVICE] = ",\"cat\":\"peak\"",
    };
    assert(names[kind]);
    put_text(t, names[kind]);
}

/* ---- arguments ---- */

static void put_arg(struct tts_chrometrace *t, bool *has_one, const char *key)
{
    put_text(t, *has_one ? ",\"" : ",\"args\":{\"");
    put_text(t, key);
    put_text(t, "\":");
    *has_one = true;
}

static void put_arg_number(struct tts_chrometrace *t, bool *has_one, const char *key,
                           uint64_t value)
{
    put_arg(t, has_one, key);
    tts_rowout_number(&t->rows, value);
}

static void put_buffer_args(struct tts_chrometrace *t, bool *has_one,
                            const struct tts_event *buffer)
{
    put_arg_number(t, has_one, "id", buffer->id);
    put_arg_number(t, has_one, "bytes", buffer->size_bytes);
    if (buffer->bytes_per_bank > 0)
        put_arg_number(t, has_one, "bytes_per_bank", buffer->bytes_per_bank);
    if (buffer->block_bytes > 0)
        put_arg_number(t, has_one, "block_bytes", buffer->block_bytes);
    if (buffer->has_address)
        put_arg_number(t, has_one, "address", buffer->address);
}

static void put_args(struct tts_chrometrace *t, const struct tts_mark_args *args)
{
    bool has_one = false;
    if (args->buffer)
        put_buffer_args(t, &has_one, args->buffer);
    if (args->failure) {
        put_arg(t, &has_one, "pool");
        put_string(t, tts_pool_name(args->failure->pool));
    }
    if (args->failure && tts_failure_deficit_is_known(args->failure))
        put_arg_number(t, &has_one, "missing_bytes", tts_failure_deficit(args->failure));
    if (args->bytes)
        put_arg_number(t, &has_one, "bytes", args->bytes);
    if (args->op) {
        put_arg(t, &has_one, "op");
        put_string(t, args->op);
    }
    if (args->seq)
        put_arg_number(t, &has_one, "seq", args->seq);
    put_text(t, has_one ? "}}" : "}");
}

/* ---- marks ---- */

static void put_name_event(struct tts_chrometrace *t, const char *what,
                           const struct tts_track *track, const char *name)
{
    begin_event(t, "M", track, t->last_ns);
    put_text(t, ",\"name\":\"");
    put_text(t, what);
    put_text(t, "\",\"args\":{\"name\":");
    put_string(t, name);
    put_text(t, "}}");
}

/* A counter is an event of the process, and the parent of slots has none. */
static void put_track(struct tts_chrometrace *t, const struct tts_track *track)
{
    char name[TTS_TRACK_NAME_MAX + 16];
    if (track->kind == TTS_TRACK_PROCESS) {
        put_name_event(t, "process_name", track, tts_tracefile_program(&t->file));
        put_name_event(t, "thread_name", track, "memory");
    }
    tts_track_name(track, name);
    if (track->kind == TTS_TRACK_DEVICE) {
        put_name_event(t, "process_name", track, name);
        put_name_event(t, "thread_name", track, "peaks");
    }
    if (track->kind <= TTS_TRACK_CORES || track->kind == TTS_TRACK_BUFFERS)
        return;
    if (track->kind == TTS_TRACK_SLOT)
        snprintf(name + strlen(name), 16, " %" PRIu32, track->index);
    put_name_event(t, "thread_name", track, name);
}

/* Some readers name a plot by event and key, one by the key alone and shows it as bytes only
 * when it ends in "_bytes". */
static void put_counter(struct tts_chrometrace *t, const struct tts_mark *mark)
{
    char name[TTS_TRACK_NAME_MAX];
    bool is_pool = mark->track.kind != TTS_TRACK_CORES;
    begin_event(t, "C", &mark->track, mark->time_ns);
    put_text(t, ",\"name\":\"");
    put_text(t, tts_track_name(&mark->track, name));
    put_text(t,
             tts_mesh_is_one(mark->track.device) ? "\",\"args\":{\"mesh" : "\",\"args\":{\"d");
    put_number(t, "", tts_device_number(mark->track.device));
    put_text(t, "_");
    put_text(t, is_pool ? tts_pool_name(mark->track.pool) : "CB");
    bool is_capacity = mark->track.kind == TTS_TRACK_CAPACITY;
    put_number(t, is_capacity ? "_capacity_bytes\":" : "_bytes\":", mark->value);
    put_text(t, "}}");
}

/* Of an operation or a trace, which nest; or of a buffer, which is told by its number. */
static void put_slice(struct tts_chrometrace *t, const struct tts_mark *mark, bool begins)
{
    bool is_buffer = mark->track.kind == TTS_TRACK_SLOT;
    const char *phase = is_buffer ? (begins ? "b" : "e") : (begins ? "B" : "E");
    begin_event(t, phase, &mark->track, mark->time_ns);
    put_category(t, mark->track.kind);
    if (is_buffer) {
        put_text(t, ",\"id\":\"");
        tts_rowout_hex(&t->rows, mark->buffer_no);
        put_text(t, "\"");
    }
    if (begins || is_buffer) {
        put_text(t, ",\"name\":");
        put_string(t, mark->name);
    }
    if (is_buffer && !begins)
        put_text(t, "}");
    else
        put_args(t, &mark->args);
}

static void put_instant(struct tts_chrometrace *t, const struct tts_mark *mark)
{
    begin_event(t, "i", &mark->track, mark->time_ns);
    put_category(t, mark->track.kind);
    put_text(t, ",\"s\":\"p\",\"name\":");
    put_string(t, mark->name);
    put_args(t, &mark->args);
}

static void put_span(struct tts_chrometrace *t, const struct tts_mark *mark)
{
    begin_event(t, "X", &mark->track, mark->time_ns);
    put_text(t, ",\"dur\":");
    tts_rowout_micros(&t->rows, mark->end_ns - mark->time_ns);
    put_category(t, mark->track.kind);
    put_text(t, ",\"name\":");
    put_string(t, mark->name);
    put_args(t, &mark->args);
}

void tts_chrometrace_begin(struct tts_chrometrace *t, const struct tts_tracefile *file,
                           FILE *out)
{
    tts_rowout_init(&t->rows, out);
    t->file = *file;
    t->last_ns = 0;
    t->has_event = false;
    put_text(t, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void tts_chrometrace_put(void *ctx, const struct tts_mark *mark)
{
    struct tts_chrometrace *t = ctx;
    bool is_peak = mark->kind == TTS_MARK_INSTANT && mark->track.kind == TTS_TRACK_DEVICE;
    if (mark->kind != TTS_MARK_SPAN && !is_peak)
        t->last_ns = mark->time_ns;
    switch (mark->kind) {
    case TTS_MARK_TRACK:
        put_track(t, &mark->track);
        break;
    case TTS_MARK_BEGIN:
        put_slice(t, mark, true);
        break;
    case TTS_MARK_END:
        put_slice(t, mark, false);
        break;
    case TTS_MARK_INSTANT:
        put_instant(t, mark);
        break;
    case TTS_MARK_COUNTER:
        put_counter(t, mark);
        break;
    case TTS_MARK_SPAN:
        put_span(t, mark);
        break;
    }
}

void tts_chrometrace_end(struct tts_chrometrace *t, const char *const *missing, size_t count)
{
    put_text(t, "\n],\"otherData\":{\"file\":");
    put_string(t, t->file.path);
    put_text(t, ",\"times\":");
    put_string(t, tts_tracefile_times(&t->file));
    put_text(t, ",\"complete\":");
    put_text(t, count > 0 ? "false,\"missing\":[" : "true");
    for (size_t i = 0; i < count; i++) {
        put_text(t, i > 0 ? "," : "");
        put_string(t, missing[i]);
    }
    put_text(t, count > 0 ? "]}}\n" : "}}\n");
    tts_rowout_flush(&t->rows);
}
