#include "cli/top/selection.h"
#include "harness/live_rig.h"

static void make_frame(struct tts_liveframe *frame)
{
    live_init(frame, LIVE_BLOCK_NS);
    for (uint32_t i = 0; i < 3; i++) {
        struct tts_livedevice *device = live_add_counted(frame, 100 + i, 0);
        live_add_process(frame, device, 10 + i);
        live_add_process(frame, device, 20);
    }
    live_add_process(frame, NULL, 30);
}

T_TEST(without_a_selection_everything_stays)
{
    struct tts_liveframe frame;
    struct tts_selection selection = {0};
    make_frame(&frame);
    tts_selection_apply(&selection, &frame);
    T_EQ(frame.device_count, 3);
    T_EQ(frame.devices[2].process_count, 2);
    T_EQ(frame.stray_count, 1);
    tts_liveframe_release(&frame);
}

T_TEST(devices_are_selected_by_number_or_unique_id_and_keep_their_numbers)
{
    struct tts_liveframe frame;
    struct tts_selection selection = {0};
    make_frame(&frame);
    T_EQ(tts_selection_take_device(&selection, "2", NULL), TTS_OK);
    T_EQ(tts_selection_take_device(&selection, "0x65", NULL), TTS_OK);
    for (int i = 0; i < 3; i++) { /* a frame that is used again loses no memory */
        tts_selection_apply(&selection, &frame);
        T_EQ(frame.device_count, 2);
        T_EQ(frame.devices[0].index, 1);
        T_EQ(frame.devices[1].index, 2);
        T_EQ(frame.devices[1].processes[0].pid, 12);
        T_EQ(frame.stray_count, 0);
        tts_liveframe_release(&frame);
        make_frame(&frame);
    }
    tts_selection_apply(&selection, &frame);
    tts_liveframe_reset(&frame);
    T_TRUE(live_add_counted(&frame, 1, 0)->process_count == 0);
    live_add_process(&frame, &frame.devices[0], 5);
    tts_liveframe_release(&frame);
}

T_TEST(a_process_is_selected_by_either_number_with_the_devices_that_it_uses)
{
    struct tts_liveframe frame;
    struct tts_selection selection = {0};
    make_frame(&frame);
    frame.devices[2].processes[1].container_pid_known = true;
    frame.devices[2].processes[1].container_pid = 11;
    T_EQ(tts_selection_take_pid(&selection, "11", NULL), TTS_OK);
    tts_selection_apply(&selection, &frame);
    T_EQ(frame.device_count, 2);
    T_EQ(frame.devices[0].index, 1);
    T_EQ(frame.devices[0].process_count, 1);
    T_EQ(frame.devices[1].processes[0].pid, 20);
    T_EQ(frame.stray_count, 0);
    tts_liveframe_release(&frame);
}

T_TEST(numbers_are_checked)
{
    struct tts_selection selection = {0};
    static const char *const bad[] = {"", "-1", "x", "0x", "1.5", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        T_EQ(tts_selection_take_device(&selection, bad[i], NULL), TTS_E_SYNTAX);
        T_EQ(tts_selection_take_pid(&selection, bad[i], NULL), TTS_E_SYNTAX);
    }
    T_EQ(tts_selection_take_pid(&selection, "0", NULL), TTS_E_SYNTAX);
    T_EQ(tts_selection_take_pid(&selection, "2147483648", NULL), TTS_E_SYNTAX);
    for (int i = 0; i < TTS_SELECTION_MAX; i++)
        T_EQ(tts_selection_take_device(&selection, "141176416515936", NULL), TTS_OK);
    T_TRUE(selection.devices[0].is_unique_id);
    T_EQ(tts_selection_take_device(&selection, "1", NULL), TTS_E_RANGE);
}
