/* live_rig.h: live frames for tests of analyses and views, built by hand. */
#pragma once

#include "harness/t.h"
#include "model/live/liveframe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVE_MB(number) ((uint64_t)((number)*1048576.0))
/* 2025-10-06 14:30:45 and 2025-10-22 14:30:45 */
#define LIVE_BLOCK_NS UINT64_C(1759761045000000000)
#define LIVE_TABLE_NS UINT64_C(1761143445000000000)

static inline void live_init(struct tts_liveframe *frame, uint64_t time_ns)
{
    setenv("TZ", "UTC", 1);
    tzset();
    tts_liveframe_init(frame, NULL);
    frame->time_ns = time_ns;
    frame->driver_loaded = true;
}

/* A pool of a reporting allocator, with everything known except the buffers. */
static inline struct tts_livepool live_pool(uint32_t banks, uint64_t total, uint64_t allocated,
                                            uint64_t free_bytes, uint64_t largest)
{
    return (struct tts_livepool){.banks_known = true,
                                 .total_known = true,
                                 .allocated_known = true,
                                 .free_known = true,
                                 .largest_known = true,
                                 .total_source = TTS_LIVETOTAL_REPORTED,
                                 .banks = banks,
                                 .total_bytes = total,
                                 .allocated_bytes = allocated,
                                 .free_bytes = free_bytes,
                                 .largest_free_bytes = largest};
}

/* A device about which nothing is known but its number. */
static inline struct tts_livedevice *live_add_unknown(struct tts_liveframe *frame)
{
    struct tts_livedevice *device = tts_liveframe_add_device(frame);
    T_TRUE(device != NULL);
    return device;
}

/* The device of the published block. */
static inline struct tts_livedevice *live_add_published(struct tts_liveframe *frame)
{
    struct tts_livedevice *device = live_add_unknown(frame);
    device->logical_id_known = device->arch_known = device->queues_known = true;
    device->channels_known = device->grid_known = true;
    device->arch = TTS_ARCH_WORMHOLE;
    device->hardware_queues = 1;
    device->dram_channels = 6;
    device->grid_columns = device->grid_rows = 8;
    device->state = TTS_LIVE_LIVE;
    device->source = TTS_LIVESOURCE_CLIENT;
    device->pools[TTS_POOL_DRAM] =
        live_pool(6, LIVE_MB(2304), LIVE_MB(1483.8), LIVE_MB(817.89), LIVE_MB(512));
    device->pools[TTS_POOL_L1] =
        live_pool(64, LIVE_MB(76), LIVE_MB(52.31), LIVE_MB(23.69), LIVE_MB(8));
    device->pools[TTS_POOL_L1_SMALL] =
        live_pool(64, LIVE_MB(4), LIVE_MB(2.8499), LIVE_MB(1.15), 512 << 10);
    device->pools[TTS_POOL_TRACE] = live_pool(1, LIVE_MB(16), 0, LIVE_MB(16), LIVE_MB(16));
    return device;
}

/* A device of a region that counts bytes. All totals are nominal. */
static inline struct tts_livedevice *live_add_counted(struct tts_liveframe *frame,
                                                      uint64_t unique_id, uint32_t logical_id)
{
    struct tts_livedevice *device = live_add_unknown(frame);
    device->unique_id_known = device->logical_id_known = true;
    device->unique_id = unique_id;
    device->logical_id = logical_id;
    device->state = TTS_LIVE_LIVE;
    device->source = TTS_LIVESOURCE_REGION;
    device->layout = "v3";
    device->caveats = TTS_CAVEAT_ONE_THREAD | TTS_CAVEAT_NOMINAL;
    for (size_t i = 0; i < TTS_POOLS; i++)
        device->pools[i].allocated_known = true;
    struct tts_livepool *l1 = &device->pools[TTS_POOL_L1];
    l1->total_known = l1->free_known = l1->free_is_limit = true;
    l1->total_source = TTS_LIVETOTAL_NOMINAL;
    l1->total_bytes = LIVE_MB(76);
    l1->allocated_bytes = LIVE_MB(64.31);
    l1->free_bytes = l1->total_bytes - l1->allocated_bytes;
    return device;
}

/* A process with bytes in DRAM and L1. */
static inline struct tts_liveprocess *
live_add_process(struct tts_liveframe *frame, struct tts_livedevice *device, uint32_t pid)
{
    struct tts_liveprocess *process =
        device ? tts_livedevice_add_process(frame, device) : tts_liveframe_add_stray(frame);
    T_TRUE(process != NULL);
    process->pid_known = process->start_known = true;
    process->pid = pid;
    process->start_ns = frame->time_ns - UINT64_C(7380) * 1000000000;
    process->counters.bytes[TTS_COUNTER_DRAM] = LIVE_MB(1536);
    process->counters.bytes[TTS_COUNTER_L1] = LIVE_MB(52.31);
    process->counters.known = 1u << TTS_COUNTER_DRAM | 1u << TTS_COUNTER_L1;
    strcpy(process->user, "alice");
    strcpy(process->name, "python3");
    strcpy(process->command, "python3 serve.py");
    process->source = TTS_LIVESOURCE_REGION;
    return process;
}
