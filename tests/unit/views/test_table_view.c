#include "harness/liveview_rig.h"

/* The frame of the published table, and the frame before. */
struct published {
    struct tts_liveframe now, before;
};

static struct tts_livedevice *add_row(struct tts_liveframe *frame, uint64_t buffers,
                                      double l1_mb)
{
    struct tts_livedevice *device = live_add_counted(frame, 7, 0);
    device->caveats = 0;
    device->pools[TTS_POOL_L1].allocated_bytes = LIVE_MB(l1_mb);
    device->pools[TTS_POOL_L1_SMALL].allocated_bytes = LIVE_MB(0.5);
    device->pools[TTS_POOL_TRACE].allocated_bytes = LIVE_MB(128);
    for (size_t i = 0; i < TTS_POOLS; i++)
        device->pools[i].buffers_known = true;
    device->pools[TTS_POOL_L1].buffers = buffers;
    return device;
}

static void init_published(struct published *published)
{
    live_init(&published->now, LIVE_TABLE_NS);
    live_init(&published->before, LIVE_TABLE_NS);
    add_row(&published->now, 346, 11.03);
    add_row(&published->before, 334, 8.68);
}

static void release_published(struct published *published)
{
    tts_liveframe_release(&published->now);
    tts_liveframe_release(&published->before);
}

static struct tts_liveview published_view(const struct published *published)
{
    struct tts_liveview view = live_view(&published->now);
    view.before = &published->before;
    view.update = 23;
    return view;
}

T_TEST(the_published_numbers_give_the_published_table)
{
    struct published published;
    init_published(&published);
    struct tts_liveview view = published_view(&published);
    live_check_published(live_written(&view, 't'), TTS_GOLDEN_DIR "/live/published_table.txt");
    release_published(&published);
}

T_TEST(the_columns_begin_where_the_document_says)
{
    struct published published;
    init_published(&published);
    struct tts_liveview view = published_view(&published);
    const char *text = live_written(&view, 't');
    T_TRUE(live_has(text,
                    "\nDevice   Buffers    DRAM            L1              L1_SMALL        "
                    "TRACE           Total\n"));
    T_TRUE(live_has(text,
                    "\n0        346          0.00 MB        11.03 MB         0.50 MB       "
                    "128.00 MB       139.53 MB\n"));
    release_published(&published);
}

T_TEST(a_narrow_terminal_gets_a_table_of_80_columns)
{
    struct published published;
    init_published(&published);
    struct tts_liveview view = published_view(&published);
    view.columns = 80;
    view.is_utf8 = false;
    published.now.devices[0].pools[TTS_POOL_DRAM].allocated_bytes = LIVE_MB(32640);
    const char *text = live_written(&view, 't');
    T_TRUE(live_width(text) <= 80);
    T_TRUE(live_has(text,
                    "\nDevice Buffers  DRAM         L1           L1_SMALL     TRACE        "
                    "Total\n"));
    T_TRUE(live_has(text, "\n(d)    +12      +32640.00 MB"));
    T_TRUE(strstr(text, "\xf0\x9f") == NULL && strstr(text, "\u0394") == NULL);
    release_published(&published);
}

T_TEST(growth_shrinkage_and_no_change_have_different_colours_and_always_a_sign)
{
    struct published published;
    init_published(&published);
    struct tts_liveview view = published_view(&published);
    struct tts_livedevice *now = &published.now.devices[0];
    now->pools[TTS_POOL_TRACE].allocated_bytes = 0;
    view.has_color = true;
    const char *text = live_written(&view, 't');
    T_TRUE(live_has(text, "\033[33m+12 "));
    T_TRUE(live_has(text, "\033[90m +0.00 MB"));
    T_TRUE(live_has(text, "\033[33m +2.35 MB"));
    T_TRUE(live_has(text, "\033[32m-128.00 MB"));
    T_TRUE(live_has(text, "\033[32m-125.65 MB\033[0m\n"));
    view.has_color = false;
    T_TRUE(strstr(live_written(&view, 't'), "\033") == NULL);
    release_published(&published);
}

T_TEST(there_is_no_row_of_changes_without_a_frame_before_or_if_it_is_not_wanted)
{
    struct published published;
    init_published(&published);
    struct tts_liveview view = published_view(&published);
    view.has_tips = false;
    view.has_delta = false;
    T_TRUE(strstr(live_written(&view, 't'), "(\u0394)") == NULL);
    view.has_delta = true;
    view.before = NULL;
    T_TRUE(strstr(live_written(&view, 't'), "(\u0394)") == NULL);
    T_TRUE(strstr(live_written(&view, 't'), "Tips:") == NULL);
    release_published(&published);
}

T_TEST(unknown_numbers_and_changes_are_words)
{
    struct published published;
    init_published(&published);
    struct tts_livedevice *device = live_add_unknown(&published.now);
    device->state = TTS_LIVE_UNREADABLE;
    strcpy(device->reason, "the file belongs to uid 1001");
    published.now.devices[0].caveats = TTS_CAVEAT_ONE_THREAD;
    device->caveats = TTS_CAVEAT_ONE_THREAD | TTS_CAVEAT_NO_BOARD;
    struct tts_liveview view = published_view(&published);
    const char *text = live_written(&view, 't');
    T_TRUE(live_has(text,
                    "\n1        unknown    unknown         unknown         unknown         "
                    "unknown         unknown\n"
                    "(\u0394)      unknown    unknown"));
    T_TRUE(live_has(text,
                    "\n\nNotes:\n   - Device 1: unreadable: the file belongs to uid 1001\n"));
    T_TRUE(live_has(text, "\n   - Devices 0-1: only the thread that opened"));
    T_TRUE(live_has(text, "\n   - Device 1: the memory region matches no board"));
    view.has_tips = false;
    text = live_written(&view, 't');
    T_TRUE(live_has(text, "Device 1: unreadable") && !strstr(text, "Devices 0-1"));
    release_published(&published);
}

T_TEST(numbers_of_any_size_stay_in_their_columns)
{
    static const uint64_t sizes[] = {UINT64_C(123456) << 20, UINT64_C(12345678) << 20,
                                     UINT64_C(1) << 50, UINT64_MAX};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        for (int narrow = 0; narrow < 2; narrow++) {
            struct published published;
            init_published(&published);
            for (size_t i = 0; i < TTS_POOLS; i++)
                published.now.devices[0].pools[i].allocated_bytes = sizes[n] / TTS_POOLS;
            published.now.devices[0].pools[TTS_POOL_DRAM].allocated_bytes = sizes[n] / 2;
            published.now.devices[0].pools[TTS_POOL_L1].buffers = sizes[n];
            struct tts_liveview view = published_view(&published);
            view.columns = narrow ? 80 : 100;
            view.has_tips = false;
            const char *text = live_written(&view, 't');
            const char *head = strstr(text, "\nDevice"), *dram = strstr(head, "DRAM");
            const char *total = strstr(head, "Total");
            const char *row = strstr(text, narrow ? "\n0      " : "\n0        ");
            for (int k = 0; k < 2; k++, row = strchr(row + 1, '\n')) {
                /* The Greek letter has two bytes. */
                const long shift = k;
                T_TRUE(row[dram - head + shift] != ' ' || row[dram - head + shift + 1] != ' ');
                T_EQ(row[dram - head + shift - 1], ' ');
                T_EQ(row[total - head + shift - 1], ' ');
                T_TRUE(strcspn(row + 1, "\n") <= view.columns + (size_t)shift);
            }
            release_published(&published);
        }
    struct published published;
    init_published(&published);
    published.now.devices[0].pools[TTS_POOL_DRAM].allocated_bytes = UINT64_C(1) << 50;
    published.before.devices[0].pools[TTS_POOL_L1].allocated_bytes = UINT64_C(3) << 50;
    published.now.devices[0].pools[TTS_POOL_L1].buffers = UINT64_C(123456789012);
    struct tts_liveview view = published_view(&published);
    view.columns = 80;
    const char *text = live_written(&view, 't');
    T_TRUE(live_has(text, "\n0      123456M  1024.00 TB "));
    T_TRUE(live_has(text, " -3072.00 TB "));
    release_published(&published);
}

T_TEST(a_process_without_a_device_and_devices_left_out_are_noted)
{
    struct published published;
    init_published(&published);
    live_add_process(&published.now, NULL, 4711);
    published.now.left_out = 2;
    struct tts_liveview view = published_view(&published);
    const char *text = live_written(&view, 't');
    T_TRUE(live_has(text, "- Device unknown: process 4711 python3, alice: DRAM 1.50 GB, L1 "
                          "52.31 MB\n"));
    T_TRUE(live_has(text, "- 2 more devices are not shown\n"));
    release_published(&published);
}
