#include "analysis/live/livedelta.h"
#include "harness/live_rig.h"

T_TEST(a_device_is_matched_by_its_unique_id_even_if_its_place_and_number_change)
{
    struct tts_liveframe before, now;
    struct tts_livedelta delta;
    live_init(&before, LIVE_TABLE_NS);
    live_init(&now, LIVE_TABLE_NS);
    live_add_counted(&before, 7, 0);
    live_add_counted(&before, 8, 1)->pools[TTS_POOL_DRAM].allocated_bytes = 100;
    struct tts_livedevice *device = live_add_counted(&now, 8, 0);
    device->pools[TTS_POOL_DRAM].allocated_bytes = 60;
    T_TRUE(tts_livedelta_match(&before, device) == &before.devices[1]);
    tts_livedelta_of(&before, device, &delta);
    T_TRUE(delta.allocated_known[TTS_POOL_DRAM] && delta.sum_known && !delta.buffers_known);
    T_EQ(delta.allocated_bytes[TTS_POOL_DRAM], -40);
    T_EQ(delta.allocated_bytes[TTS_POOL_L1], 0);
    T_EQ(delta.sum_bytes, -40);
    tts_liveframe_release(&before);
    tts_liveframe_release(&now);
}

T_TEST(without_a_unique_id_the_logical_id_and_the_source_must_agree)
{
    struct tts_liveframe before, now;
    live_init(&before, LIVE_TABLE_NS);
    live_init(&now, LIVE_TABLE_NS);
    live_add_counted(&before, 7, 3);
    struct tts_livedevice *device = live_add_counted(&now, 7, 3);
    device->unique_id_known = false;
    T_TRUE(tts_livedelta_match(&before, device) == &before.devices[0]);
    device->source = TTS_LIVESOURCE_CLIENT;
    T_TRUE(tts_livedelta_match(&before, device) == NULL);
    device->source = TTS_LIVESOURCE_REGION;
    live_add_counted(&before, 9, 3);
    T_TRUE(tts_livedelta_match(&before, device) == NULL); /* which of the two? */
    device->unique_id_known = true;
    T_TRUE(tts_livedelta_match(&before, device) == &before.devices[0]);
    tts_liveframe_release(&before);
    tts_liveframe_release(&now);
}

T_TEST(a_difference_is_known_only_if_both_numbers_are_known)
{
    struct tts_liveframe before, now;
    struct tts_livedelta delta;
    live_init(&before, LIVE_TABLE_NS);
    live_init(&now, LIVE_TABLE_NS);
    struct tts_livedevice *old = live_add_counted(&before, 7, 0);
    struct tts_livedevice *device = live_add_counted(&now, 7, 0);
    for (size_t i = 0; i < TTS_POOLS; i++) {
        old->pools[i].buffers_known = device->pools[i].buffers_known = true;
        device->pools[i].buffers = 3;
    }
    old->pools[TTS_POOL_TRACE].allocated_known = false;
    tts_livedelta_of(&before, device, &delta);
    T_TRUE(delta.allocated_known[TTS_POOL_L1] && !delta.allocated_known[TTS_POOL_TRACE]);
    T_TRUE(!delta.sum_known && delta.buffers_known);
    T_EQ(delta.buffers, 12);
    device->pools[TTS_POOL_DRAM].buffers_known = false;
    tts_livedelta_of(&before, device, &delta);
    T_TRUE(!delta.buffers_known);
    tts_livedelta_of(NULL, device, &delta);
    T_TRUE(!delta.allocated_known[TTS_POOL_L1]);
    tts_liveframe_release(&before);
    tts_liveframe_release(&now);
}

T_TEST(numbers_that_no_device_has_give_no_difference)
{
    struct tts_liveframe before, now;
    struct tts_livedelta delta;
    uint64_t sum = 5;
    live_init(&before, LIVE_TABLE_NS);
    live_init(&now, LIVE_TABLE_NS);
    live_add_counted(&before, 7, 0);
    struct tts_livedevice *device = live_add_counted(&now, 7, 0);
    device->pools[TTS_POOL_DRAM].allocated_bytes = UINT64_MAX;
    tts_livedelta_of(&before, device, &delta);
    T_TRUE(!delta.allocated_known[TTS_POOL_DRAM] && !delta.sum_known);
    T_TRUE(!tts_livedevice_sum(device, &sum) && sum == 5);
    tts_liveframe_release(&before);
    tts_liveframe_release(&now);
}

T_TEST(programs_that_number_their_devices_alike_are_told_apart)
{
    struct tts_liveframe before, now;
    struct tts_livedelta delta;
    live_init(&before, LIVE_TABLE_NS);
    live_init(&now, LIVE_TABLE_NS);
    /* Two programs without unique ids, and a third device that has an id. */
    for (uint32_t i = 0; i < 3; i++) {
        struct tts_livedevice *old = live_add_counted(&before, 7, 0);
        old->unique_id_known = i == 2;
        old->pools[TTS_POOL_DRAM].allocated_bytes = 10 * i;
        struct tts_liveprocess *process = tts_livedevice_add_process(&before, old);
        process->pid_known = true;
        process->pid = 100 + i;
    }
    struct tts_livedevice *device = live_add_counted(&now, 7, 0);
    T_TRUE(tts_livedelta_match(&before, device) == &before.devices[2]);
    device->unique_id_known = false;
    T_TRUE(tts_livedelta_match(&before, device) == NULL);
    struct tts_liveprocess *process = tts_livedevice_add_process(&now, device);
    process->pid_known = true;
    process->pid = 101;
    device->pools[TTS_POOL_DRAM].allocated_bytes = 17;
    tts_livedelta_of(&before, device, &delta);
    T_EQ(delta.allocated_bytes[TTS_POOL_DRAM], 7);
    T_TRUE(delta.allocated_known[TTS_POOL_DRAM]);
    tts_liveframe_release(&before);
    tts_liveframe_release(&now);
}

/* Adds a device of a program that is its device 0, and returns the process. */
static struct tts_liveprocess *add_program_device(struct tts_liveframe *frame, uint32_t pid,
                                                  bool is_dead, uint64_t dram_bytes)
{
    struct tts_livedevice *device = live_add_counted(frame, 0, 0);
    device->unique_id_known = false;
    device->source = TTS_LIVESOURCE_CLIENT;
    device->pools[TTS_POOL_DRAM].allocated_bytes = dram_bytes;
    struct tts_liveprocess *process = tts_livedevice_add_process(frame, device);
    process->instance_known = true;
    process->instance = (struct tts_liveinstance){pid, 77, 1};
    process->pid_known = !is_dead;
    process->container_pid_known = is_dead;
    process->pid = is_dead ? 0 : pid;
    process->container_pid = pid;
    process->state = is_dead ? TTS_LIVEPROCESS_DEAD : TTS_LIVEPROCESS_LIVE;
    return process;
}

T_TEST(the_device_of_a_killed_program_is_told_apart_from_that_of_another_program)
{
    struct tts_liveframe before, now, later;
    struct tts_livedelta delta;
    live_init(&before, LIVE_TABLE_NS);
    live_init(&now, LIVE_TABLE_NS);
    live_init(&later, LIVE_TABLE_NS);
    add_program_device(&before, 100, false, 10);
    add_program_device(&before, 200, false, 20);
    add_program_device(&now, 100, true, 10);
    add_program_device(&now, 200, false, 25);
    add_program_device(&later, 100, true, 10);
    add_program_device(&later, 200, false, 25);
    tts_livedelta_of(&before, &now.devices[0], &delta); /* the program has just been killed */
    T_TRUE(delta.allocated_known[TTS_POOL_DRAM]);
    T_EQ(delta.allocated_bytes[TTS_POOL_DRAM], 0);
    tts_livedelta_of(&before, &now.devices[1], &delta);
    T_EQ(delta.allocated_bytes[TTS_POOL_DRAM], 5);
    tts_livedelta_of(&now, &later.devices[0], &delta);
    T_TRUE(delta.allocated_known[TTS_POOL_DRAM]);
    T_EQ(delta.allocated_bytes[TTS_POOL_DRAM], 0);
    tts_liveframe_release(&before);
    tts_liveframe_release(&now);
    tts_liveframe_release(&later);
}

T_TEST(a_program_that_starts_again_is_another_program)
{
    struct tts_liveframe before, now;
    struct tts_livedelta delta;
    live_init(&before, LIVE_TABLE_NS);
    live_init(&now, LIVE_TABLE_NS);
    add_program_device(&before, 100, false, 10);
    struct tts_liveprocess *process = add_program_device(&now, 100, false, 30);
    process->instance.start_ticks++;
    T_TRUE(tts_livedelta_match(&before, &now.devices[0]) == NULL);
    tts_livedelta_of(&before, &now.devices[0], &delta);
    T_TRUE(!delta.allocated_known[TTS_POOL_DRAM]);
    process->instance.start_ticks--;
    T_TRUE(tts_livedelta_match(&before, &now.devices[0]) == &before.devices[0]);
    tts_liveframe_release(&before);
    tts_liveframe_release(&now);
}
