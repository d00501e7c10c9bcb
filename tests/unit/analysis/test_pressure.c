#include "analysis/questions/pressure.h"
#include "harness/live_rig.h"

/* A device whose L1 has 95 % and whose DRAM has 45 % in use, as in the published example. */
static struct tts_livedevice *add_full_l1(struct tts_liveframe *frame)
{
    struct tts_livedevice *device = live_add_published(frame);
    device->pools[TTS_POOL_DRAM] =
        live_pool(6, LIVE_MB(2000), LIVE_MB(900), LIVE_MB(1100), LIVE_MB(512));
    device->pools[TTS_POOL_L1] = live_pool(64, LIVE_MB(100), LIVE_MB(95), LIVE_MB(5), 1024);
    return device;
}

struct listed {
    const struct tts_pressurebuffer *buffers;
    size_t count;
    bool is_known;
};

static bool each_listed(void *ctx, const struct tts_liveprocess *process,
                        tts_pressure_visit_fn visit, void *visit_ctx)
{
    const struct listed *listed = ctx;
    for (size_t i = 0; i < listed->count && process->pid == 7; i++)
        visit(visit_ctx, &listed->buffers[i]);
    return listed->is_known && process->pid == 7;
}

T_TEST(a_full_l1_names_what_could_move_to_dram)
{
    static const struct tts_pressurebuffer buffers[] = {
        {.pool = TTS_POOL_L1, .address = 1, .size_bytes = 100},
        {.pool = TTS_POOL_L1, .address = 2, .size_bytes = 900, .is_sharded = true},
        {.pool = TTS_POOL_L1, .address = 3, .size_bytes = 800, .has_cb = true},
        {.pool = TTS_POOL_L1, .address = 4, .size_bytes = 300},
        {.pool = TTS_POOL_DRAM, .address = 5, .size_bytes = 5000},
        {.pool = TTS_POOL_L1, .address = 6, .size_bytes = 200},
        {.pool = TTS_POOL_L1, .address = 7, .size_bytes = 10},
        {.pool = TTS_POOL_L1, .address = 8, .size_bytes = 11},
        {.pool = TTS_POOL_L1, .address = 9, .size_bytes = 400},
        {.pool = TTS_POOL_L1, .address = 10, .size_bytes = 12},
    };
    struct listed listed = {buffers, sizeof buffers / sizeof buffers[0], true};
    struct tts_pressuretable table = {each_listed, &listed};
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = add_full_l1(&frame);
    live_add_process(&frame, device, 7)->counters.bytes[TTS_COUNTER_L1] = LIVE_MB(20);
    live_add_process(&frame, device, 8)->counters.bytes[TTS_COUNTER_L1] = LIVE_MB(70);
    live_add_process(&frame, device, 9)->counters.bytes[TTS_COUNTER_L1] = LIVE_MB(1);
    live_add_process(&frame, device, 10)->counters.bytes[TTS_COUNTER_L1] = LIVE_MB(4);
    struct tts_liveprocess *dead = live_add_process(&frame, device, 11);
    dead->counters.bytes[TTS_COUNTER_L1] = LIVE_MB(90);
    dead->state = TTS_LIVEPROCESS_DEAD;
    tts_pressure_judge(device, &table);
    T_EQ(device->answers.pressure_count, 1);
    const struct tts_livepressure *pressure = &device->answers.pressure[0];
    T_EQ(pressure->pool, TTS_POOL_L1);
    T_EQ(pressure->millionths, 950000);
    T_EQ(pressure->owner_count, TTS_LIVEPRESSURE_OWNERS);
    T_EQ(pressure->owners[0].owner.pid, 8);
    T_EQ(pressure->owners[1].owner.pid, 7);
    T_EQ(pressure->owners[2].owner.pid, 10);
    T_STR_EQ(pressure->owners[0].owner.name, "python3");
    T_TRUE(pressure->dram_has_room && pressure->moves_known);
    static const uint64_t addresses[TTS_LIVEPRESSURE_MOVES] = {9, 4, 6, 1, 10};
    T_EQ(pressure->move_count, TTS_LIVEPRESSURE_MOVES);
    for (size_t i = 0; i < TTS_LIVEPRESSURE_MOVES; i++)
        T_EQ(pressure->moves[i].address, addresses[i]);
    T_EQ(pressure->moves[0].owner.pid, 7);
    T_EQ(pressure->moves_unlisted, 2);
    T_EQ(pressure->moves_bytes, 100 + 300 + 200 + 10 + 11 + 400 + 12);
    tts_liveframe_release(&frame);
}

T_TEST(a_full_dram_takes_nothing_over)
{
    struct listed listed = {.is_known = true};
    struct tts_pressuretable table = {each_listed, &listed};
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = add_full_l1(&frame);
    live_add_process(&frame, device, 7);
    device->pools[TTS_POOL_DRAM].allocated_bytes = LIVE_MB(1500);
    tts_pressure_judge(device, &table);
    T_EQ(device->answers.pressure_count, 1);
    T_TRUE(!device->answers.pressure[0].dram_has_room);
    T_TRUE(!device->answers.pressure[0].moves_known);
    device->pools[TTS_POOL_DRAM].allocated_bytes = LIVE_MB(1900);
    tts_pressure_judge(device, &table);
    T_EQ(device->answers.pressure_count, 2);
    T_EQ(device->answers.pressure[0].pool, TTS_POOL_DRAM);
    device->pools[TTS_POOL_DRAM].allocated_known = false;
    tts_pressure_judge(device, &table);
    T_EQ(device->answers.pressure_count, 1);
    T_TRUE(!device->answers.pressure[0].dram_has_room);
    tts_liveframe_release(&frame);
}

T_TEST(critical_begins_at_nine_tenths)
{
    T_TRUE(!tts_pressure_is_critical(899999, 1000000));
    T_TRUE(tts_pressure_is_critical(900000, 1000000));
    T_TRUE(!tts_pressure_is_critical(0, 0));
    T_TRUE(!tts_pressure_is_critical(0, 1));
    T_TRUE(tts_pressure_is_critical(UINT64_MAX, UINT64_MAX));
    T_TRUE(!tts_pressure_is_critical(UINT64_MAX / 2, UINT64_MAX));
}

T_TEST(bytes_of_dead_processes_are_no_pressure)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = add_full_l1(&frame);
    device->pools[TTS_POOL_L1].left_over_bytes = LIVE_MB(10);
    tts_pressure_judge(device, NULL);
    T_EQ(device->answers.pressure_count, 0);
    device->pools[TTS_POOL_L1].left_over_bytes = LIVE_MB(5);
    tts_pressure_judge(device, NULL);
    T_EQ(device->answers.pressure_count, 1);
    T_EQ(device->answers.pressure[0].millionths, 900000);
    T_TRUE(!device->answers.pressure[0].moves_known);
    tts_liveframe_release(&frame);
}
