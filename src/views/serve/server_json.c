#include "views/serve/server_json.h"

#include "views/json.h"
#include "views/rowout.h"

#include <assert.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

/* ---- words ---- */

static const char *const event_names[TTS_SERVEREVENTS] = {
    [TTS_SERVEREVENT_ALLOC] = "alloc",
    [TTS_SERVEREVENT_FREE] = "free",
    [TTS_SERVEREVENT_UNKNOWN_FREE] = "unknown_free",
    [TTS_SERVEREVENT_CB_ALLOC] = "cb_alloc",
    [TTS_SERVEREVENT_CB_FREE] = "cb_free",
    [TTS_SERVEREVENT_KERNEL_LOAD] = "kernel_load",
    [TTS_SERVEREVENT_KERNEL_UNLOAD] = "kernel_unload",
    [TTS_SERVEREVENT_TRACE_BEGIN] = "trace_begin",
    [TTS_SERVEREVENT_TRACE_END] = "trace_end",
    [TTS_SERVEREVENT_REFUSED] = "refused",
    [TTS_SERVEREVENT_BEGIN] = "process_begin",
    [TTS_SERVEREVENT_DEATH] = "process_end",
    [TTS_SERVEREVENT_LOST] = "lost",
    [TTS_SERVEREVENT_PHASE] = "phase",
};

static const char *server_source_word(enum tts_serversource source)
{
    static const char *const names[] = {[TTS_SERVERSOURCE_FRAMES] = "client",
                                        [TTS_SERVERSOURCE_RING] = "region",
                                        [TTS_SERVERSOURCE_COUNTERS] = "counters"};
    return names[source];
}

static const char *server_kernel_word(uint8_t type)
{
    static const char *const names[] = {"application", "fabric", "dispatch"};
    return type < sizeof names / sizeof names[0] ? names[type] : "unknown";
}

/* ---- events ---- */

/* Fields that a kind of event has besides time, process and source. */
enum {
    HAS_POOL = 1,
    HAS_ID = 2,
    HAS_SIZE = 4,
    HAS_REFERENCES = 8,
    HAS_KERNEL = 16,
    HAS_LIVE = 32,
    HAS_BUFFERS = 64,
    HAS_EVENTS = 128,
    HAS_DEVICE = 256,
    HAS_PHASE = 512,
};

static unsigned event_fields(enum tts_serverevent_kind kind)
{
    static const uint16_t fields[TTS_SERVEREVENTS] = {
        [TTS_SERVEREVENT_ALLOC] = HAS_DEVICE | HAS_POOL | HAS_ID | HAS_SIZE | HAS_REFERENCES,
        [TTS_SERVEREVENT_FREE] = HAS_DEVICE | HAS_POOL | HAS_ID | HAS_SIZE | HAS_REFERENCES,
        [TTS_SERVEREVENT_UNKNOWN_FREE] = HAS_DEVICE | HAS_ID,
        [TTS_SERVEREVENT_CB_ALLOC] = HAS_DEVICE | HAS_ID | HAS_SIZE | HAS_LIVE,
        [TTS_SERVEREVENT_CB_FREE] = HAS_DEVICE | HAS_ID | HAS_SIZE | HAS_LIVE,
        [TTS_SERVEREVENT_KERNEL_LOAD] = HAS_DEVICE | HAS_ID | HAS_SIZE | HAS_LIVE | HAS_KERNEL,
        [TTS_SERVEREVENT_KERNEL_UNLOAD] =
            HAS_DEVICE | HAS_ID | HAS_SIZE | HAS_LIVE | HAS_KERNEL,
        [TTS_SERVEREVENT_TRACE_BEGIN] = HAS_DEVICE,
        [TTS_SERVEREVENT_TRACE_END] = HAS_DEVICE,
        [TTS_SERVEREVENT_REFUSED] = HAS_DEVICE | HAS_POOL | HAS_SIZE,
        [TTS_SERVEREVENT_BEGIN] = 0,
        [TTS_SERVEREVENT_DEATH] = HAS_SIZE | HAS_BUFFERS,
        [TTS_SERVEREVENT_LOST] = HAS_EVENTS,
        [TTS_SERVEREVENT_PHASE] = HAS_DEVICE | HAS_PHASE,
    };
    return fields[kind];
}

static void put_server_number(struct tts_rowout *rows, const char *before, bool is_known,
                              uint64_t value)
{
    tts_rowout_text(rows, before);
    if (is_known)
        tts_rowout_number(rows, value);
    else
        tts_rowout_text(rows, "null");
}

/* Writes nanoseconds since 1970 as seconds with six decimals. */
static void put_server_time(struct tts_rowout *rows, uint64_t time_ns)
{
    char digits[TTS_JSON_RATIO_MAX];
    uint64_t micros = time_ns % SECOND_NS / 1000;
    put_server_number(rows, ",\"time\":", true, time_ns / SECOND_NS);
    digits[0] = '.';
    for (int i = 6; i > 0; i--, micros /= 10)
        digits[i] = (char)('0' + micros % 10);
    tts_rowout_put(rows, digits, 7);
}

static void put_server_owner(struct tts_rowout *rows, const struct tts_serverprocess *process)
{
    if (!process) {
        tts_rowout_text(rows, ",\"process\":null");
        return;
    }
    put_server_number(rows, ",\"process\":{\"instance\":", true, process->instance);
    put_server_number(rows, ",\"pid\":", process->pid != 0, process->pid);
    put_server_number(rows, ",\"container_pid\":",
                      process->pid_inside != 0 && process->pid_inside != process->pid,
                      process->pid_inside);
    tts_rowout_text(rows, ",\"name\":");
    if (process->name[0])
        tts_rowout_json(rows, process->name, strnlen(process->name, TTS_HOSTVIEW_NAME_MAX));
    else
        tts_rowout_text(rows, "null");
    tts_rowout_text(rows, "}");
}

static void put_server_hex(struct tts_rowout *rows, bool is_known, uint64_t id)
{
    tts_rowout_text(rows, ",\"id\":");
    if (!is_known) {
        tts_rowout_text(rows, "null");
        return;
    }
    tts_rowout_text(rows, "\"");
    tts_rowout_hex(rows, id);
    tts_rowout_text(rows, "\"");
}

static void put_server_phase(struct tts_rowout *rows, const struct tts_serverevent *event)
{
    const char *word = tts_tracephase_word(event->phase);
    tts_rowout_text(rows, ",\"phase\":\"");
    tts_rowout_text(rows, word ? word : "unknown");
    tts_rowout_text(rows, "\"");
    put_server_number(rows, ",\"trace_bytes\":", true, event->trace_bytes);
    put_server_number(rows, ",\"l1_bytes\":", true, event->l1_bytes);
}

static void put_server_fields(struct tts_rowout *rows, const struct tts_serverevent *event)
{
    unsigned fields = event_fields(event->kind);
    if (fields & HAS_DEVICE)
        put_server_number(rows, ",\"device\":", true, event->device);
    if (fields & HAS_POOL) {
        tts_rowout_text(rows, ",\"pool\":\"");
        tts_rowout_text(rows, tts_pool_name(event->pool));
        tts_rowout_text(rows, "\"");
    }
    if (fields & HAS_KERNEL) {
        tts_rowout_text(rows, ",\"kernel_type\":\"");
        tts_rowout_text(rows, server_kernel_word(event->kernel_type));
        tts_rowout_text(rows, "\"");
    }
    if (fields & HAS_ID)
        put_server_hex(rows, event->id_known, event->id);
    if (fields & HAS_SIZE)
        put_server_number(rows, ",\"size_bytes\":", true, event->size_bytes);
    if (fields & HAS_REFERENCES)
        put_server_number(rows, ",\"references\":", event->id_known, event->references);
    if (fields & HAS_LIVE)
        put_server_number(rows, ",\"live_bytes\":", true, event->live_bytes);
    if (fields & HAS_BUFFERS)
        put_server_number(rows, ",\"buffers\":", true, event->buffers);
    if (fields & HAS_EVENTS)
        put_server_number(rows, ",\"events\":", true, event->buffers);
    if (fields & HAS_PHASE)
        put_server_phase(rows, event);
}

size_t tts_serverjson_event(char out[TTS_SERVERJSON_MAX], const struct tts_serverevent *event)
{
    struct tts_rowout rows;
    tts_rowout_init(&rows, NULL); /* one event never fills the buffer */
    tts_rowout_text(&rows, "{\"schema\":{\"name\":\"ttscope.serve\",\"version\":1},\"kind\":"
                           "\"event\",\"event\":\"");
    tts_rowout_text(&rows, event_names[event->kind]);
    tts_rowout_text(&rows, "\"");
    put_server_time(&rows, event->time_ns);
    tts_rowout_text(&rows, ",\"source\":\"");
    tts_rowout_text(&rows, server_source_word(event->source));
    tts_rowout_text(&rows, "\"");
    put_server_owner(&rows, event->process);
    put_server_fields(&rows, event);
    tts_rowout_text(&rows, "}\n");
    assert(rows.used < TTS_SERVERJSON_MAX);
    memcpy(out, rows.buffer, rows.used);
    out[rows.used] = '\0';
    return rows.used;
}

/* ---- the state ---- */

static void put_state_device(struct tts_json *json, const struct tts_serverdevice *device)
{
    tts_json_object(json, NULL);
    tts_json_number(json, "device", device->device);
    tts_json_text_or_null(json, "arch",
                          device->arch_known ? tts_arch_name(device->arch) : NULL);
    tts_json_number_or_null(json, "dram_total_bytes", device->capacity_known,
                            device->dram_total_bytes);
    tts_json_number_or_null(json, "l1_total_bytes", device->capacity_known,
                            device->l1_total_bytes);
    tts_json_bool(json, "is_remote", device->is_remote);
    tts_json_array(json, "pools");
    for (size_t i = 0; i < TTS_POOLS; i++) {
        tts_json_object(json, NULL);
        tts_json_text(json, "pool", tts_pool_name((enum tts_pool)i));
        tts_json_number(json, "allocated_bytes", device->bytes[i]);
        tts_json_number(json, "buffers", device->buffers[i]);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_number(json, "cb_bytes", device->cb_bytes);
    tts_json_number(json, "kernel_bytes", device->kernel_bytes);
    tts_json_object_end(json);
}

static void put_state_row(struct tts_json *json, const struct tts_serverbuffer *row,
                          bool is_kernel)
{
    char id[2 + 16 + 1];
    bool has_process = row->process != NULL;
    snprintf(id, sizeof id, "0x%llx", (unsigned long long)row->id);
    tts_json_object(json, NULL);
    tts_json_number_or_null(json, "instance", has_process,
                            has_process ? row->process->instance : 0);
    tts_json_number_or_null(json, "pid", has_process && row->process->pid != 0,
                            has_process ? row->process->pid : 0);
    tts_json_number(json, "device", row->device);
    if (is_kernel)
        tts_json_text(json, "kernel_type", server_kernel_word(row->kernel_type));
    else
        tts_json_text(json, "pool", tts_pool_name(row->pool));
    tts_json_text(json, "id", id);
    tts_json_number(json, "size_bytes", row->size_bytes);
    if (!is_kernel)
        tts_json_number(json, "references", row->references);
    tts_json_ratio(json, "time", row->time_ns, SECOND_NS);
    tts_json_object_end(json);
}

static void put_state_counts(struct tts_json *json, const struct tts_serverstate *state)
{
    tts_json_number(json, "live_buffers", state->live_buffers);
    tts_json_number(json, "clients", state->clients);
    tts_json_number(json, "processes", state->processes);
    tts_json_number(json, "events", state->events);
    tts_json_number(json, "lost_events", state->lost_events);
    tts_json_number(json, "unknown_frees", state->unknown_frees);
    tts_json_number(json, "skipped_bytes", state->skipped_bytes);
    tts_json_number(json, "lines_left_out", state->lines_left_out);
    tts_json_ratio(json, "started", state->begin_ns, SECOND_NS);
}

static void put_state_rows(struct tts_json *json, const struct tts_serverstate *state,
                           bool is_kernel)
{
    const struct tts_serverbuffer *rows = is_kernel ? state->kernels : state->buffers;
    size_t count = is_kernel ? state->kernel_count : state->buffer_count;
    tts_json_array(json, is_kernel ? "kernels" : "buffers");
    for (size_t i = 0; i < count; i++)
        put_state_row(json, &rows[i], is_kernel);
    tts_json_array_end(json);
}

void tts_serverjson_state(const struct tts_serverstate *state, enum tts_serverjson_kind kind,
                          const char *socket_path, FILE *out)
{
    static const char *const kinds[] = {[TTS_SERVERJSON_START] = "start",
                                        [TTS_SERVERJSON_STATISTICS] = "statistics",
                                        [TTS_SERVERJSON_BUFFERS] = "buffers",
                                        [TTS_SERVERJSON_KERNELS] = "kernels"};
    struct tts_json json;
    tts_json_init(&json, out);
    json.is_one_line = true;
    tts_json_object(&json, NULL);
    tts_json_object(&json, "schema");
    tts_json_text(&json, "name", "ttscope.serve");
    tts_json_number(&json, "version", 1);
    tts_json_object_end(&json);
    tts_json_text(&json, "kind", kinds[kind]);
    tts_json_ratio(&json, "time", state->time_ns, SECOND_NS);
    if (kind == TTS_SERVERJSON_START)
        tts_json_text(&json, "socket", socket_path);
    tts_json_array(&json, "devices");
    for (size_t i = 0; i < state->device_count; i++)
        put_state_device(&json, &state->devices[i]);
    tts_json_array_end(&json);
    put_state_counts(&json, state);
    if (kind == TTS_SERVERJSON_BUFFERS || kind == TTS_SERVERJSON_KERNELS)
        put_state_rows(&json, state, kind == TTS_SERVERJSON_KERNELS);
    tts_json_object_end(&json);
}
