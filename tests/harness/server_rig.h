/* server_rig.h: events and states of an allocation server, for tests. */
#pragma once

#include "harness/t.h"
#include "model/live/serverstate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVER_TEXT_MAX = 16384 };
#define SERVER_TIME_NS UINT64_C(1761143445250000000)

static const struct tts_serverprocess server_process = {
    .instance = 7, .pid = 12345, .pid_inside = 12345, .start_ticks = 900, .name = "python3"};

/* Returns an event of the process with an id of 0x18b00 on device 0. */
static inline struct tts_serverevent server_event(enum tts_serverevent_kind kind)
{
    return (struct tts_serverevent){.kind = kind,
                                    .process = &server_process,
                                    .pool = TTS_POOL_L1,
                                    .id_known = true,
                                    .id = 0x18b00,
                                    .size_bytes = 16777216,
                                    .time_ns = SERVER_TIME_NS,
                                    .references = 1};
}

/* Two devices, of which the second was never used. */
static inline struct tts_serverstate server_state(void)
{
    static const struct tts_serverdevice devices[] = {
        {.device = 0,
         .bytes = {[TTS_POOL_DRAM] = 1048576, [TTS_POOL_L1] = 12800},
         .buffers = {[TTS_POOL_DRAM] = 1, [TTS_POOL_L1] = 2},
         .cb_bytes = 4096,
         .capacity_known = true,
         .arch_known = true,
         .arch = TTS_ARCH_WORMHOLE,
         .dram_total_bytes = UINT64_C(12) << 30,
         .l1_total_bytes = 79691776},
        {.device = 3, .is_remote = true},
    };
    static const struct tts_serverbuffer buffers[] = {
        {.process = &server_process,
         .pool = TTS_POOL_DRAM,
         .references = 1,
         .id = 0x20,
         .size_bytes = 1048576,
         .time_ns = SERVER_TIME_NS},
        {.process = &server_process,
         .pool = TTS_POOL_L1,
         .references = 2,
         .id = 0x18b00,
         .size_bytes = 512,
         .time_ns = SERVER_TIME_NS},
        {.pool = TTS_POOL_L1, .references = 1, .id = 0x18d00, .size_bytes = 12288},
    };
    static const struct tts_serverbuffer kernels[] = {
        {.process = &server_process,
         .id = 0x7f00aa,
         .size_bytes = 24576,
         .time_ns = SERVER_TIME_NS - UINT64_C(90000000000)},
    };
    return (struct tts_serverstate){.devices = devices,
                                    .device_count = 2,
                                    .buffers = buffers,
                                    .buffer_count = 3,
                                    .kernels = kernels,
                                    .kernel_count = 1,
                                    .live_buffers = 3,
                                    .clients = 1,
                                    .processes = 1,
                                    .events = 4,
                                    .begin_ns = SERVER_TIME_NS - 1000,
                                    .time_ns = SERVER_TIME_NS};
}

/* Returns the text that a function wrote to a stream. Valid until the next call. */
struct server_output {
    FILE *out;
    char *text;
    size_t len;
};

static inline FILE *server_output_begin(struct server_output *output)
{
    output->out = open_memstream(&output->text, &output->len);
    assert_non_null(output->out);
    return output->out;
}

static inline const char *server_output_end(struct server_output *output)
{
    static char text[SERVER_TEXT_MAX];
    T_EQ(fclose(output->out), 0);
    T_TRUE(output->len < sizeof text);
    memcpy(text, output->text, output->len + 1);
    free(output->text);
    return text;
}
