/* make_serverrecord.c: a program that lets the allocation server record some processes.
 *     make_serverrecord DIR [kill]
 * With `kill` it kills itself when everything is recorded, before any recording is ended by it.
 * It writes to DIR: trainer-4242-777.tts (buffers, circular buffers, a trace, a refused
 * request), counted-4243-778.tts (counters only), lossy-4244-779.tts (one buffer and lost
 * events). */
#include "base/ticks.h"
#include "serve/serverrecord.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB UINT64_C(1048576)
enum { EVENTS = 17 }; /* without the begin and the end of processes */

static const struct tts_serverprocess trainer = {
    .instance = 1, .pid = 4242, .pid_inside = 4242, .start_ticks = 777, .name = "trainer"};
static const struct tts_serverprocess counted = {
    .instance = 2, .pid = 4243, .pid_inside = 4243, .start_ticks = 778, .name = "counted"};
static const struct tts_serverprocess lossy = {
    .instance = 3, .pid = 4244, .pid_inside = 4244, .start_ticks = 779, .name = "lossy"};

static struct tts_serversink sink;

static void send_event(const struct tts_serverprocess *process, enum tts_serverevent_kind kind,
                       enum tts_pool pool, uint64_t id, uint64_t size_bytes)
{
    struct tts_serverevent event = {.kind = kind,
                                    .source = process == &counted ? TTS_SERVERSOURCE_COUNTERS
                                                                  : TTS_SERVERSOURCE_FRAMES,
                                    .process = process,
                                    .pool = pool,
                                    .id_known = process != &counted,
                                    .id = id,
                                    .size_bytes = size_bytes,
                                    .buffers = size_bytes,
                                    .time_ns = tts_clock_realtime_ns(),
                                    .references = kind == TTS_SERVEREVENT_ALLOC};
    sink.event(sink.ctx, &event);
}

static void send_trainer(void)
{
    send_event(&trainer, TTS_SERVEREVENT_BEGIN, TTS_POOL_DRAM, 0, 0);
    send_event(&trainer, TTS_SERVEREVENT_ALLOC, TTS_POOL_DRAM, 0x400, 64 * MIB);
    send_event(&trainer, TTS_SERVEREVENT_TRACE_BEGIN, TTS_POOL_DRAM, 0, 0);
    send_event(&trainer, TTS_SERVEREVENT_ALLOC, TTS_POOL_TRACE, 0x4000400, 16 * MIB);
    send_event(&trainer, TTS_SERVEREVENT_ALLOC, TTS_POOL_L1, 0x18b00, 8 * MIB);
    send_event(&trainer, TTS_SERVEREVENT_ALLOC, TTS_POOL_L1, 0x28b00, 24576);
    send_event(&trainer, TTS_SERVEREVENT_CB_ALLOC, TTS_POOL_L1, 0x1000, 262144);
    send_event(&trainer, TTS_SERVEREVENT_TRACE_END, TTS_POOL_DRAM, 0, 0);
    send_event(&trainer, TTS_SERVEREVENT_REFUSED, TTS_POOL_DRAM, 0, 4096 * MIB);
    send_event(&trainer, TTS_SERVEREVENT_ALLOC, TTS_POOL_DRAM, 0x5000400, 32 * MIB);
    send_event(&trainer, TTS_SERVEREVENT_FREE, TTS_POOL_DRAM, 0x5000400, 32 * MIB);
    send_event(&trainer, TTS_SERVEREVENT_DEATH, TTS_POOL_DRAM, 0, 0);
}

static void send_counted(void)
{
    send_event(&counted, TTS_SERVEREVENT_ALLOC, TTS_POOL_DRAM, 0, 100 * MIB);
    send_event(&counted, TTS_SERVEREVENT_ALLOC, TTS_POOL_L1, 0, 5 * MIB);
    send_event(&counted, TTS_SERVEREVENT_ALLOC, TTS_POOL_DRAM, 0, 20 * MIB);
    send_event(&counted, TTS_SERVEREVENT_FREE, TTS_POOL_DRAM, 0, 50 * MIB);
    send_event(&counted, TTS_SERVEREVENT_KERNEL_LOAD, TTS_POOL_DRAM, 0, 24576);
}

/* Waits until all events are recorded. */
static void wait_for_events(struct tts_serverrecord *record, uint64_t events)
{
    struct tts_serverrecord_counts counts = {0};
    for (int i = 0; i < 10000 && counts.events < events; i++) {
        usleep(1000);
        tts_serverrecord_counts(record, &counts);
    }
}

int main(int argc, char **argv)
{
    struct tts_serverrecord *record;
    struct tts_serverrecord_config config = {.dir = argv[1],
                                             .counter_period_ns = UINT64_C(500000000)};
    struct tts_error err;
    bool is_killed = argc == 3 && strcmp(argv[2], "kill") == 0;
    if (argc != 2 && !is_killed)
        return 2;
    if (tts_serverrecord_open(&config, NULL, &record, &err) != TTS_OK) {
        fprintf(stderr, "make_serverrecord: %s\n", err.text);
        return 3;
    }
    sink = tts_serverrecord_sink(record);
    send_trainer();
    send_counted();
    send_event(&lossy, TTS_SERVEREVENT_ALLOC, TTS_POOL_DRAM, 64, MIB);
    send_event(&lossy, TTS_SERVEREVENT_LOST, TTS_POOL_DRAM, 0, 7);
    if (is_killed) {
        wait_for_events(record, EVENTS);
        raise(SIGKILL);
    }
    tts_serverrecord_close(record);
    return 0;
}
