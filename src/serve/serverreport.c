#include "serve/serverreport.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_GROUP = 10 }; /* the published report lists the buffers of such groups */

struct tts_serverreport {
    const struct tts_alloc *alloc;
    const struct tts_serverregistry *registry;
    const struct tts_serverhost *host;
    struct tts_serverdevice devices[TTS_FRAME_DEVICES_MAX];
    struct tts_serverbuffer buffers[TTS_SERVERREPORT_LIST_MAX];
    size_t count; /* of `buffers` */
};

enum tts_status tts_serverreport_new(const struct tts_serverregistry *registry,
                                     const struct tts_serverhost *host,
                                     const struct tts_alloc *alloc,
                                     struct tts_serverreport **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_serverreport *report = alloc->alloc(alloc->ctx, sizeof *report);
    if (!report)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for reports");
    report->alloc = alloc;
    report->registry = registry;
    report->host = host;
    report->count = 0;
    *out = report;
    return TTS_OK;
}

void tts_serverreport_free(struct tts_serverreport *report)
{
    if (report)
        report->alloc->free(report->alloc->ctx, report, sizeof *report);
}

/* --- the state -------------------------------------------------------------------------- */

static bool has_device(const struct tts_serverreport *report, uint32_t device)
{
    return tts_serverregistry_is_used(report->registry, device) ||
           tts_serverhost_has(report->host, device);
}

/* Writes the sums of all processes on a device, and its capacities. */
static void join_device(const struct tts_serverreport *report, uint32_t device,
                        struct tts_serverdevice *out)
{
    const struct tts_serverdevice *frames = tts_serverregistry_device(report->registry, device);
    *out = *tts_serverhost_device(report->host, device);
    out->device = device;
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        out->bytes[pool] += frames->bytes[pool];
        out->buffers[pool] += frames->buffers[pool];
    }
    out->cb_bytes += frames->cb_bytes;
    out->kernel_bytes += frames->kernel_bytes;
}

static bool list_buffer(void *ctx, const struct tts_serverbuffer *buffer)
{
    struct tts_serverreport *report = ctx;
    if (report->count == TTS_SERVERREPORT_LIST_MAX)
        return false;
    report->buffers[report->count++] = *buffer;
    return true;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_listed(const void *left, const void *right)
{
    const struct tts_serverbuffer *a = left, *b = right;
    if (a->device != b->device)
        return compare_numbers(a->device, b->device);
    if (a->pool != b->pool)
        return compare_numbers(a->pool, b->pool);
    return a->id != b->id ? compare_numbers(a->id, b->id)
                          : compare_numbers(a->process->instance, b->process->instance);
}

/* Lists the groups of a device that are small, or those that are not. */
static void list_groups(struct tts_serverreport *report, uint32_t device, bool is_small)
{
    const struct tts_serverdevice *sums = tts_serverregistry_device(report->registry, device);
    for (uint32_t pool = 0; pool < TTS_POOLS; pool++)
        if (sums->buffers[pool] > 0 && (sums->buffers[pool] <= SMALL_GROUP) == is_small)
            tts_serverregistry_list(report->registry, device, pool, list_buffer, report);
}

static void fill_list(struct tts_serverreport *report, enum tts_serverreport_list list)
{
    report->count = 0;
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < TTS_FRAME_DEVICES_MAX; i++) {
            bool is_used = tts_serverregistry_is_used(report->registry, i);
            if (is_used && list == TTS_SERVERREPORT_BUFFERS)
                list_groups(report, i, turn == 0);
            else if (is_used && turn == 0)
                tts_serverregistry_list(report->registry, i, TTS_SERVERREGISTRY_KERNELS,
                                        list_buffer, report);
        }
    qsort(report->buffers, report->count, sizeof *report->buffers, compare_listed);
}

void tts_serverreport_fill(struct tts_serverreport *report, enum tts_serverreport_list list,
                           struct tts_serverstate *out)
{
    const struct tts_servercounts *counts = tts_serverregistry_counts(report->registry);
    out->devices = report->devices;
    out->device_count = 0;
    out->buffer_count = 0;
    out->kernel_count = 0;
    out->buffers = report->buffers;
    out->kernels = report->buffers;
    out->live_buffers = 0;
    for (uint32_t i = 0; i < TTS_FRAME_DEVICES_MAX; i++) {
        if (!has_device(report, i))
            continue;
        struct tts_serverdevice *device = &report->devices[out->device_count++];
        join_device(report, i, device);
        for (int pool = 0; pool < TTS_POOLS; pool++)
            out->live_buffers += device->buffers[pool];
    }
    if (list != TTS_SERVERREPORT_SUMS)
        fill_list(report, list);
    if (list == TTS_SERVERREPORT_BUFFERS)
        out->buffer_count = report->count;
    else if (list == TTS_SERVERREPORT_KERNELS)
        out->kernel_count = report->count;
    out->processes = counts->live_processes;
    out->events = counts->events;
    out->lost_events = counts->lost_events;
    out->unknown_frees = counts->unknown_frees;
}

/* --- replies ---------------------------------------------------------------------------- */

static uint32_t fit_u32(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static void fill_sums(const struct tts_serverdevice *device, struct tts_frame *reply)
{
    reply->dram_bytes = device->bytes[TTS_POOL_DRAM];
    reply->l1_bytes = device->bytes[TTS_POOL_L1];
    reply->l1_small_bytes = device->bytes[TTS_POOL_L1_SMALL];
    reply->trace_bytes = device->bytes[TTS_POOL_TRACE];
    reply->cb_bytes = device->cb_bytes;
    reply->kernel_bytes = device->kernel_bytes;
}

/* The runtime numbers architectures from 1, in the same order. */
static void fill_capacities(const struct tts_serverreport *report,
                            const struct tts_serverdevice *device, struct tts_frame *reply)
{
    const struct tts_serverchip *chip = tts_serverhost_chip(report->host, device->device);
    reply->dram_total_bytes = device->dram_total_bytes;
    reply->l1_total_bytes = device->l1_total_bytes;
    reply->arch = device->arch_known ? (uint32_t)device->arch + 1 : 0;
    reply->dram_channels = chip->dram_channels;
    reply->dram_channel_bytes = fit_u32(chip->dram_channel_bytes);
    reply->l1_core_bytes = fit_u32(chip->l1_core_bytes);
    reply->is_available = has_device(report, device->device);
}

static uint32_t count_devices(const struct tts_serverreport *report)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < TTS_FRAME_DEVICES_MAX; i++)
        count += has_device(report, i);
    return count;
}

static void reply_about_device(struct tts_serverreport *report, struct tts_serverclient *client,
                               const struct tts_frame *request)
{
    bool is_query = request->type == TTS_FRAMETYPE_QUERY;
    unsigned char bytes[TTS_FRAME_BYTES_MAX];
    struct tts_serverdevice device;
    struct tts_frame reply = {.kind = request->kind,
                              .type = is_query ? TTS_FRAMETYPE_RESPONSE
                                               : TTS_FRAMETYPE_INFO_RESPONSE,
                              .device = request->device};
    if (request->device >= 0 && request->device < TTS_FRAME_DEVICES_MAX) {
        join_device(report, (uint32_t)request->device, &device);
        fill_sums(&device, &reply);
        if (!is_query)
            fill_capacities(report, &device, &reply);
    }
    if (!is_query)
        reply.device_count = count_devices(report);
    if (!is_query && request->device < 0)
        reply.is_available = reply.device_count > 0;
    tts_serverclient_reply(client, bytes, tts_frame_encode(&reply, bytes));
}

/* Sends a record for each device, and then the end, which the published script waits for. */
static void reply_stats(struct tts_serverreport *report, struct tts_serverclient *client)
{
    unsigned char bytes[TTS_FRAME_STATS_BYTES];
    struct tts_serverdevice device;
    for (uint32_t i = 0; i < TTS_FRAME_DEVICES_MAX; i++) {
        uint64_t buffers = 0;
        if (!has_device(report, i))
            continue;
        join_device(report, i, &device);
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            buffers += device.buffers[pool];
            tts_put64(bytes + 16 + 8 * pool, device.bytes[pool]);
        }
        tts_put64(bytes, i);
        tts_put64(bytes + 8, buffers);
        tts_serverclient_reply(client, bytes, sizeof bytes);
    }
    tts_serverclient_end_replies(client);
}

bool tts_serverreport_reply(struct tts_serverreport *report, struct tts_serverclient *client,
                            const struct tts_frame *request)
{
    if (request->kind == TTS_FRAMEKIND_STATS)
        reply_stats(report, client);
    else if (request->type == TTS_FRAMETYPE_QUERY || request->type == TTS_FRAMETYPE_INFO_QUERY)
        reply_about_device(report, client, request);
    else
        return false;
    return true;
}
