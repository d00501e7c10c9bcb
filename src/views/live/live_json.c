#include "analysis/live/livedelta.h"
#include "views/json.h"
#include "views/live/answers_view.h"
#include "views/live/live_view.h"
#include "views/live/live_words.h"

#define SECOND_NS UINT64_C(1000000000)

static void put_seconds(struct tts_json *json, const char *key, bool is_known, uint64_t ns)
{
    if (is_known)
        tts_json_ratio(json, key, ns, SECOND_NS);
    else
        tts_json_null(json, key);
}

static void put_caveat_words(struct tts_json *json, uint32_t caveats)
{
    tts_json_array(json, "caveats");
    for (uint32_t bit = 0; bit < TTS_CAVEATS; bit++)
        if (caveats >> bit & 1)
            tts_json_text(json, NULL, tts_livecaveat_word((enum tts_livecaveat)(1u << bit)));
    tts_json_array_end(json);
    tts_json_array(json, "caveat_texts");
    for (uint32_t bit = 0; bit < TTS_CAVEATS; bit++)
        if (caveats >> bit & 1)
            tts_json_text(json, NULL, tts_livecaveat_text((enum tts_livecaveat)(1u << bit)));
    tts_json_array_end(json);
}

static void put_live_pool(struct tts_json *json, const struct tts_livedevice *device,
                          enum tts_pool kind, const struct tts_livedelta *delta)
{
    const struct tts_livepool *pool = &device->pools[kind];
    tts_json_object(json, NULL);
    tts_json_text(json, "pool", tts_pool_name(kind));
    tts_json_number_or_null(json, "banks", pool->banks_known, pool->banks);
    tts_json_number_or_null(json, "total_bytes", pool->total_known, pool->total_bytes);
    tts_json_text_or_null(json, "total_source", tts_livetotal_word(pool->total_source));
    tts_json_number_or_null(json, "allocated_bytes", pool->allocated_known,
                            pool->allocated_bytes);
    if (delta->allocated_known[kind])
        tts_json_signed(json, "change_bytes", delta->allocated_bytes[kind]);
    else
        tts_json_null(json, "change_bytes");
    tts_json_number_or_null(json, "free_bytes", pool->free_known, pool->free_bytes);
    tts_json_bool(json, "free_is_limit", pool->free_is_limit);
    tts_json_number_or_null(json, "largest_free_bytes", pool->largest_known,
                            pool->largest_free_bytes);
    /* Circular buffers are in L1 only. */
    tts_json_number_or_null(json, "cb_bytes", kind != TTS_POOL_L1 || device->cb_known,
                            kind == TTS_POOL_L1 ? device->cb_bytes : 0);
    tts_json_number_or_null(json, "buffers", pool->buffers_known, pool->buffers);
    tts_json_object_end(json);
}

/* Writes what a program says about its own region. */
static void put_published(struct tts_json *json, const struct tts_seenclient *client)
{
    if (!client) {
        tts_json_null(json, "published");
        return;
    }
    tts_json_object(json, "published");
    tts_json_bool(json, "by_server", client->by_server);
    tts_json_number(json, "events", client->events);
    tts_json_number(json, "dropped", client->dropped);
    tts_json_number(json, "unlisted", client->unlisted);
    tts_json_number(json, "unknown_frees", client->unknown_frees);
    put_seconds(json, "changed", client->update_ns > 0, client->update_ns);
    tts_json_object_end(json);
}

/* Writes a process. A process of a device has the caveats of the device. */
static void put_live_process(struct tts_json *json, const struct tts_liveprocess *process,
                             bool has_device)
{
    tts_json_object(json, NULL);
    tts_json_number_or_null(json, "pid", process->pid_known, process->pid);
    tts_json_number_or_null(json, "container_pid", process->container_pid_known,
                            process->container_pid);
    tts_json_text_or_null(json, "name", process->name);
    tts_json_text_or_null(json, "command", process->command);
    tts_json_text_or_null(json, "user", process->user);
    tts_json_number_or_null(json, "uid", process->uid_known, process->uid);
    tts_json_text(json, "state", tts_liveprocess_word(process->state));
    tts_json_bool(json, "alive", process->state != TTS_LIVEPROCESS_DEAD);
    tts_json_text_or_null(json, "reason", tts_livereason_word(process->reason));
    put_seconds(json, "started", process->start_known, process->start_ns);
    tts_json_text_or_null(json, "phase", tts_tracephase_word(process->phase));
    tts_json_object(json, "pools");
    for (size_t i = 0; i < TTS_COUNTERS; i++)
        tts_json_number_or_null(json, tts_counter_name((enum tts_counter)i),
                                process->counters.known >> i & 1, process->counters.bytes[i]);
    tts_json_object_end(json);
    tts_json_number_or_null(json, "buffers", process->buffers_known, process->buffers);
    tts_json_text_or_null(json, "source", tts_livesource_word(process->source));
    tts_json_number(json, "shared_by", process->shared_by);
    tts_json_bool(json, "name_changed", process->is_name_changed);
    put_published(json, process->client);
    if (!has_device)
        put_caveat_words(json, process->caveats);
    tts_json_object_end(json);
}

static void put_live_processes(struct tts_json *json, const char *key,
                               const struct tts_liveprocess *processes, size_t count,
                               bool has_device)
{
    tts_json_array(json, key);
    for (size_t i = 0; i < count; i++)
        put_live_process(json, &processes[i], has_device);
    tts_json_array_end(json);
}

static void put_identity(struct tts_json *json, const struct tts_livedevice *device)
{
    tts_json_number(json, "index", device->index);
    tts_json_number_or_null(json, "id", device->logical_id_known, device->logical_id);
    tts_json_number_or_null(json, "node", device->node_known, device->node);
    tts_json_number_or_null(json, "unique_id", device->unique_id_known, device->unique_id);
    if (device->unique_id_known)
        tts_json_hex(json, "unique_id_hex", device->unique_id);
    else
        tts_json_null(json, "unique_id_hex");
    tts_json_text_or_null(json, "arch",
                          device->arch_known ? tts_arch_name(device->arch) : NULL);
    tts_json_text_or_null(json, "card_type", device->card_type);
}

static void put_shape(struct tts_json *json, const struct tts_livedevice *device)
{
    tts_json_number_or_null(json, "hardware_queues", device->queues_known,
                            device->hardware_queues);
    tts_json_number_or_null(json, "dram_channels", device->channels_known,
                            device->dram_channels);
    if (device->grid_known) {
        tts_json_object(json, "grid");
        tts_json_number(json, "columns", device->grid_columns);
        tts_json_number(json, "rows", device->grid_rows);
        tts_json_object_end(json);
    } else {
        tts_json_null(json, "grid");
    }
    tts_json_bool(json, "shape_is_nominal", device->is_shape_nominal);
}

static void put_live_device(struct tts_json *json, const struct tts_liveview *view,
                            const struct tts_livedevice *device)
{
    struct tts_livedelta delta;
    tts_livedelta_of(view->before, device, &delta);
    tts_json_object(json, NULL);
    put_identity(json, device);
    tts_json_text(json, "state", tts_livestate_word(device->state));
    tts_json_text_or_null(json, "reason", device->reason);
    tts_json_text_or_null(json, "source", tts_livesource_word(device->source));
    tts_json_text_or_null(json, "layout", device->layout);
    put_caveat_words(json, device->caveats);
    put_seconds(json, "changed", device->update_known, device->update_ns);
    put_seconds(json, "period", device->caveats & TTS_CAVEAT_SAMPLED, device->period_ns);
    put_shape(json, device);
    tts_json_array(json, "pools");
    for (size_t i = 0; i < TTS_POOLS; i++)
        put_live_pool(json, device, (enum tts_pool)i, &delta);
    tts_json_array_end(json);
    tts_json_number_or_null(json, "cb_bytes", device->cb_known, device->cb_bytes);
    put_live_processes(json, "processes", device->processes, device->process_count, true);
    tts_liveanswers_json(device, json);
    tts_json_object_end(json);
}

void tts_liveview_json(const struct tts_liveview *view, FILE *out)
{
    const struct tts_liveframe *frame = view->frame;
    struct tts_json json;
    tts_json_init(&json, out);
    json.is_one_line = true;
    tts_json_object(&json, NULL);
    tts_json_object(&json, "schema");
    tts_json_text(&json, "name", "ttscope.top");
    tts_json_number(&json, "version", 1);
    tts_json_object_end(&json);
    tts_json_number(&json, "update", view->update);
    put_seconds(&json, "time", true, frame->time_ns);
    tts_json_bool(&json, "driver_loaded", frame->driver_loaded);
    tts_json_array(&json, "devices");
    for (size_t i = 0; i < frame->device_count; i++)
        put_live_device(&json, view, &frame->devices[i]);
    tts_json_array_end(&json);
    tts_json_number(&json, "devices_left_out", frame->left_out);
    tts_json_number(&json, "processes_left_out", frame->processes_left_out);
    tts_json_number(&json, "logs_left_out", frame->logs_left_out);
    put_live_processes(&json, "processes_without_device", frame->strays, frame->stray_count,
                       false);
    tts_json_object_end(&json);
}
