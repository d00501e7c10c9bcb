#include "cli/top/poollimit.h"
#include "cli/top/selection.h"
#include "harness/live_rig.h"

static struct tts_poollimits limits_of(const char *text)
{
    struct tts_poollimits limits = {0};
    T_EQ(tts_poollimits_take(&limits, text, NULL), TTS_OK);
    return limits;
}

T_TEST(a_limit_is_a_pool_and_a_share)
{
    struct tts_poollimits limits = {0};
    static const struct {
        const char *text;
        enum tts_pool pool;
        uint32_t millionths;
    } good[] = {{"L1=80%", TTS_POOL_L1, 800000},
                {"dram=80%", TTS_POOL_DRAM, 800000},
                {"l1_small=0.5%", TTS_POOL_L1_SMALL, 5000},
                {"TRACE=0%", TTS_POOL_TRACE, 0},
                {"L1=99.95%", TTS_POOL_L1, 999500}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        T_EQ(tts_poollimits_take(&limits, good[i].text, NULL), TTS_OK);
        T_EQ(limits.count, i + 1);
        T_EQ(limits.limits[i].pool, good[i].pool);
        T_EQ(limits.limits[i].millionths, good[i].millionths);
    }
    static const char *const bad[] = {"",       "L1",      "L1=",    "L1=%",    "L1=x%",
                                      "L2=80%", "=80%",    "L1=-1%", "L1=80%%", "L1=100.1%",
                                      "CB=5%",  "L1=0.95", "L1=80"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        T_EQ(tts_poollimits_take(&limits, bad[i], NULL), TTS_E_SYNTAX);
    while (limits.count < TTS_POOLLIMITS_MAX)
        T_EQ(tts_poollimits_take(&limits, "L1=1%", NULL), TTS_OK);
    T_EQ(tts_poollimits_take(&limits, "L1=1%", NULL), TTS_E_RANGE);
}

T_TEST(a_pool_above_its_limit_is_named_with_its_device_and_main_process)
{
    struct tts_liveframe frame;
    char text[TTS_POOLLIMIT_TEXT_MAX] = "";
    live_init(&frame, LIVE_BLOCK_NS);
    live_add_published(&frame);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 1);
    live_add_process(&frame, device, 11)->counters.bytes[TTS_COUNTER_L1] = 4096;
    live_add_process(&frame, device, 12);
    struct tts_poollimits limits = limits_of("L1=80%");
    T_TRUE(tts_poollimits_passed(&limits, &frame, text));
    T_STR_EQ(text, "L1 of device 1 is at 84.6% (64.31 MB of nominally 76.00 MB), above the "
                   "limit of 80.0%: process 12 python3, alice holds 52.31 MB");
    device->process_count = 0;
    T_TRUE(tts_poollimits_passed(&limits, &frame, text));
    T_TRUE(strstr(text, "the process that holds the memory is unknown") != NULL);
    limits = limits_of("L1=85%");
    T_TRUE(!tts_poollimits_passed(&limits, &frame, text));
    tts_liveframe_release(&frame);
}

T_TEST(the_main_process_is_named_although_another_process_is_selected)
{
    struct tts_liveframe frame;
    struct tts_selection selection = {0};
    struct tts_poollimits limits = {0};
    char text[TTS_POOLLIMIT_TEXT_MAX];
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 100, 0);
    live_add_process(&frame, device, 10);
    live_add_process(&frame, device, 20)->counters.bytes[TTS_COUNTER_L1] = 5;
    T_EQ(tts_selection_take_pid(&selection, "20", NULL), TTS_OK);
    T_EQ(tts_poollimits_take(&limits, "L1=80%", NULL), TTS_OK);
    tts_selection_apply(&selection, &frame);
    T_EQ(frame.devices[0].process_count, 1);
    T_EQ(frame.devices[0].processes[0].pid, 20);
    T_TRUE(tts_poollimits_passed(&limits, &frame, text));
    T_TRUE(strstr(text, "process 10 python3, alice holds 52.31 MB") != NULL);
    tts_liveframe_release(&frame);
}

T_TEST(a_pool_exactly_at_its_limit_is_not_above)
{
    struct tts_liveframe frame;
    char text[TTS_POOLLIMIT_TEXT_MAX] = "";
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livepool *pool = &live_add_published(&frame)->pools[TTS_POOL_L1];
    struct tts_poollimits limits = limits_of("L1=80%");
    pool->total_bytes = 100000000;
    pool->allocated_bytes = 80000000;
    T_TRUE(!tts_poollimits_passed(&limits, &frame, text));
    pool->allocated_bytes++;
    T_TRUE(tts_poollimits_passed(&limits, &frame, text));
    pool->left_over_bytes = 1;
    T_TRUE(!tts_poollimits_passed(&limits, &frame, text));
    tts_liveframe_release(&frame);
}

/* Looks at a frame and returns what is said, lines joined. */
static const char *told(struct tts_limitwatch *watch, const struct tts_poollimits *limits,
                        const struct tts_liveframe *frame)
{
    static char all[2048];
    char text[TTS_POOLLIMIT_TEXT_MAX];
    size_t len = 0;
    all[0] = '\0';
    tts_limitwatch_look(watch, limits, frame);
    while (tts_limitwatch_tell(watch, frame, text))
        len += (size_t)snprintf(all + len, sizeof all - len, "%s\n", text);
    return all;
}

T_TEST(a_pool_that_cannot_be_judged_is_named_once_for_each_device)
{
    struct tts_liveframe frame;
    struct tts_limitwatch watch = {0};
    char text[TTS_POOLLIMIT_TEXT_MAX] = "";
    live_init(&frame, LIVE_BLOCK_NS);
    live_add_counted(&frame, 7, 0);
    live_add_counted(&frame, 8, 1);
    struct tts_poollimits limits = limits_of("L1_SMALL=80%");
    T_EQ(tts_poollimits_take(&limits, "L1_SMALL=90%", NULL), TTS_OK);
    T_TRUE(!tts_poollimits_passed(&limits, &frame, text));
    T_STR_EQ(
        told(&watch, &limits, &frame),
        "cannot check the limit of L1_SMALL of device 0: the size of this pool is unknown\n"
        "cannot check the limit of L1_SMALL of device 1: the size of this pool is "
        "unknown\n");
    T_TRUE(tts_limitwatch_is_open(&watch));
    T_STR_EQ(told(&watch, &limits, &frame), "");
    tts_limitwatch_forget(&watch);
    frame.devices[1].pools[TTS_POOL_L1_SMALL].allocated_known = false;
    T_TRUE(strstr(told(&watch, &limits, &frame),
                  "of device 1: the use of this pool is unknown\n") != NULL);
    tts_liveframe_release(&frame);
}

T_TEST(a_pool_that_can_be_judged_later_does_not_count)
{
    struct tts_liveframe frame;
    struct tts_limitwatch watch = {0};
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_published(&frame);
    struct tts_poollimits limits = limits_of("L1=80%");
    device->pools[TTS_POOL_L1].allocated_known = false;
    T_STR_EQ(told(&watch, &limits, &frame),
             "cannot check the limit of L1 of device 0: the use of this pool is unknown\n");
    /* A device that no process uses says nothing about the time before. */
    device->state = TTS_LIVE_IDLE;
    T_STR_EQ(told(&watch, &limits, &frame), "");
    T_TRUE(tts_limitwatch_is_open(&watch));
    device->state = TTS_LIVE_LIVE;
    device->pools[TTS_POOL_L1].allocated_known = true;
    T_STR_EQ(told(&watch, &limits, &frame), "");
    T_TRUE(!tts_limitwatch_is_open(&watch));
    device->index = 5000; /* more devices than are watched one by one */
    device->pools[TTS_POOL_L1].allocated_known = false;
    T_TRUE(strstr(told(&watch, &limits, &frame), "of device 5000: ") != NULL);
    T_TRUE(tts_limitwatch_is_open(&watch));
    tts_liveframe_release(&frame);
}

T_TEST(a_device_that_no_process_uses_needs_no_judgement)
{
    struct tts_liveframe frame;
    struct tts_limitwatch watch = {0};
    live_init(&frame, LIVE_BLOCK_NS);
    live_add_counted(&frame, 7, 0)->state = TTS_LIVE_IDLE;
    struct tts_poollimits limits = limits_of("L1_SMALL=80%");
    T_STR_EQ(told(&watch, &limits, &frame), "");
    T_TRUE(!tts_limitwatch_is_open(&watch));
    tts_liveframe_release(&frame);
}
