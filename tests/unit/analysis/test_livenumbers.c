#include "analysis/live/livenumbers.h"
#include "harness/live_rig.h"

/* Adds a device that only a program names, as its device `logical_id`. */
static void add_numbered_program(struct tts_liveframe *frame, uint32_t pid, bool is_dead,
                                 uint32_t logical_id)
{
    struct tts_livedevice *device = live_add_unknown(frame);
    device->logical_id_known = true;
    device->logical_id = logical_id;
    struct tts_liveprocess *process = tts_livedevice_add_process(frame, device);
    T_TRUE(process != NULL);
    process->instance_known = true;
    process->instance = (struct tts_liveinstance){pid, 77, 1};
    process->pid_known = !is_dead;
    process->pid = pid;
}

static void assign_numbers(struct tts_livenumbers *numbers, struct tts_liveframe *frame)
{
    T_EQ(tts_livenumbers_assign(numbers, frame), TTS_OK);
}

T_TEST(a_device_keeps_its_number_when_a_program_before_it_ends_and_the_number_is_not_used_again)
{
    struct tts_livenumbers numbers;
    struct tts_liveframe frame;
    tts_livenumbers_init(&numbers, NULL);
    live_init(&frame, LIVE_TABLE_NS);
    live_add_counted(&frame, 7, 0);
    add_numbered_program(&frame, 100, false, 0);
    add_numbered_program(&frame, 200, false, 0);
    add_numbered_program(&frame, 200, false, 1);
    assign_numbers(&numbers, &frame);
    for (uint32_t i = 0; i < 4; i++)
        T_EQ(frame.devices[i].index, i);
    tts_liveframe_reset(&frame); /* the first program ends */
    live_add_counted(&frame, 7, 0);
    add_numbered_program(&frame, 200, false, 0);
    add_numbered_program(&frame, 200, false, 1);
    assign_numbers(&numbers, &frame);
    T_EQ(frame.devices[0].index, 0);
    T_EQ(frame.devices[1].index, 2);
    T_EQ(frame.devices[2].index, 3);
    tts_liveframe_reset(&frame); /* another program begins, and is before the others */
    live_add_counted(&frame, 7, 0);
    add_numbered_program(&frame, 150, false, 0);
    add_numbered_program(&frame, 200, false, 0);
    add_numbered_program(&frame, 200, false, 1);
    assign_numbers(&numbers, &frame);
    T_EQ(frame.devices[1].index, 2);
    T_EQ(frame.devices[3].index, 4);
    T_EQ(frame.devices[3].processes[0].pid, 150);
    tts_livenumbers_release(&numbers);
    tts_liveframe_release(&frame);
}

T_TEST(a_killed_program_keeps_the_numbers_of_its_devices)
{
    struct tts_livenumbers numbers;
    struct tts_liveframe frame;
    tts_livenumbers_init(&numbers, NULL);
    live_init(&frame, LIVE_TABLE_NS);
    add_numbered_program(&frame, 100, false, 0);
    add_numbered_program(&frame, 200, false, 0);
    assign_numbers(&numbers, &frame);
    tts_liveframe_reset(&frame);
    add_numbered_program(&frame, 200, false, 0);
    add_numbered_program(&frame, 100, true, 0);
    assign_numbers(&numbers, &frame);
    T_EQ(frame.devices[0].index, 0);
    T_EQ(frame.devices[0].processes[0].instance.pid, 100);
    T_EQ(frame.devices[1].index, 1);
    tts_livenumbers_release(&numbers);
    tts_liveframe_release(&frame);
}

T_TEST(a_board_keeps_its_number_when_its_id_changes_and_its_region_takes_another_place)
{
    struct tts_livenumbers numbers;
    struct tts_liveframe frame;
    tts_livenumbers_init(&numbers, NULL);
    live_init(&frame, LIVE_TABLE_NS);
    for (uint32_t i = 0; i < 2; i++) {
        struct tts_livedevice *device = live_add_counted(&frame, 7 + i, i);
        device->node_known = true;
        device->node = i;
    }
    assign_numbers(&numbers, &frame);
    tts_liveframe_reset(&frame);
    live_add_counted(&frame, 5, 0); /* a remote chip */
    struct tts_livedevice *board = live_add_counted(&frame, 99, 1);
    board->node_known = true;
    board->node = 1;
    live_add_counted(&frame, 7, 0);
    assign_numbers(&numbers, &frame);
    T_EQ(frame.devices[0].unique_id, 7);
    T_EQ(frame.devices[0].index, 0);
    T_EQ(frame.devices[1].unique_id, 99);
    T_EQ(frame.devices[1].index, 1);
    T_EQ(frame.devices[2].unique_id, 5);
    T_EQ(frame.devices[2].index, 2);
    tts_livenumbers_release(&numbers);
    tts_liveframe_release(&frame);
}

T_TEST(numbers_of_many_devices_that_come_and_go_take_bounded_memory)
{
    struct tts_livenumbers numbers;
    struct tts_liveframe frame;
    tts_livenumbers_init(&numbers, NULL);
    live_init(&frame, LIVE_TABLE_NS);
    for (uint32_t i = 0; i < 10000; i++) {
        tts_liveframe_reset(&frame);
        live_add_counted(&frame, UINT64_MAX, 0);
        add_numbered_program(&frame, 1 + i, false, 0);
        assign_numbers(&numbers, &frame);
        T_EQ(frame.devices[0].index, 0);
        T_EQ(frame.devices[1].index, 1 + i);
    }
    T_TRUE(numbers.count < 5000);
    tts_livenumbers_release(&numbers);
    tts_liveframe_release(&frame);
}
