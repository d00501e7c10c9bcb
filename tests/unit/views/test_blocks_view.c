#include "harness/liveview_rig.h"

#include <regex.h>

T_TEST(the_published_numbers_give_the_published_block)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    live_add_published(&frame);
    struct tts_liveview view = live_view(&frame);
    char *text = strdup(live_written(&view, 'b'));
    /* The document has the number of the architecture only. */
    char *name = strstr(text, "Architecture: 2 (wormhole)");
    T_TRUE(name != NULL);
    memmove(name + 15, name + 26, strlen(name + 26) + 1);
    live_check_published(text, TTS_GOLDEN_DIR "/live/published_block.txt");
    free(text);
    tts_liveframe_release(&frame);
}

T_TEST(the_bar_has_the_whole_cells_of_the_share)
{
    struct tts_liveframe frame;
    char bar[512];
    live_init(&frame, LIVE_BLOCK_NS);
    live_add_published(&frame);
    struct tts_liveview view = live_view(&frame);
    view.is_utf8 = false;
    const char *text = live_written(&view, 'b');
    static const int cells[TTS_POOLS] = {25, 27, 28, 0};
    for (size_t i = 0; i < TTS_POOLS; i++) {
        text = strstr(text, "Usage: [") + 8;
        snprintf(bar, sizeof bar, "%.*s%.*s]", cells[i],
                 "########################################", 40 - cells[i],
                 "........................................");
        T_TRUE(strncmp(text, bar, 41) == 0);
    }
    tts_liveframe_release(&frame);
}

T_TEST(every_number_that_is_not_known_is_the_word_unknown)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    live_add_unknown(&frame);
    struct tts_liveview view = live_view(&frame);
    const char *text = live_written(&view, 'b');
    T_TRUE(live_has(text, "\nDevice 0 (ID: unknown)\n"));
    T_TRUE(live_has(text, "    Architecture: unknown\n"));
    T_TRUE(live_has(text, "    Hardware CQs: unknown\n"));
    T_TRUE(live_has(text, "    DRAM Channels: unknown\n"));
    T_TRUE(live_has(text, "    Compute Grid: unknown\n"));
    T_TRUE(live_has(text, "  TRACE Memory:\n"
                          "    Banks: unknown\n"
                          "    Total:               unknown\n"
                          "    Allocated:           unknown\n"
                          "    Free:                unknown\n"
                          "    Largest Block:       unknown\n"
                          "    Usage: unknown\n"));
    T_TRUE(live_has(text, "\n  L1_SMALL Allocated: unknown\n"));
    T_TRUE(live_has(text, "\n  Circular Buffers: unknown\n"));
    T_TRUE(live_has(text, "\n  Id: unknown\n"));
    T_TRUE(strstr(text, "0.00 B") == NULL && strstr(text, "0.0%") == NULL);
    tts_liveframe_release(&frame);
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; (text = strchr(text, '\n')); text++)
        lines++;
    return lines;
}

T_TEST(a_short_frame_has_the_most_important_caveats_that_fit)
{
    static const char over[] = "   - Device 0: more bytes are allocated than";
    static const char left[] =
        "   - Device 0: the total contains bytes of processes that have ended";
    static const char nominal[] = "   - Device 0: capacities are those of the board";
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    device->caveats =
        TTS_CAVEAT_NOMINAL | TTS_CAVEAT_OVER_NOMINAL | TTS_CAVEAT_LEFT_OVER | TTS_CAVEAT_CLOCK;
    struct tts_liveview view = live_view(&frame);
    view.whole_lines = 70;
    const char *text = live_written(&view, 'b');
    T_TRUE(!strstr(text, over) && !strstr(text, "Notes:"));
    size_t lines = count_lines(text);
    size_t shown = 0;
    for (view.spare_lines = 1; view.spare_lines < 20; view.spare_lines++) {
        text = live_written(&view, 'b');
        T_TRUE(count_lines(text) <= lines + view.spare_lines);
        const char *const notes[] = {strstr(text, over), strstr(text, left),
                                     strstr(text, nominal)};
        for (size_t i = 0; i < 2; i++)
            T_TRUE(!notes[i + 1] || (notes[i] && notes[i] < notes[i + 1]));
        shown += notes[0] && !notes[1];
    }
    T_TRUE(shown > 0); /* one size has room for one only */
    T_TRUE(live_has(text, nominal) && live_has(text, "stores no time of day"));
    T_TRUE(live_has(text, "\nNotes:\n   - Device 0: more bytes"));
    tts_liveframe_release(&frame);
}

T_TEST(numbers_of_the_board_are_marked_and_free_is_an_upper_bound)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    device->is_shape_nominal = device->channels_known = device->grid_known = true;
    device->dram_channels = 12;
    device->grid_columns = 8;
    device->grid_rows = 9;
    device->cb_known = true;
    device->cb_bytes = LIVE_MB(1.5);
    struct tts_liveview view = live_view(&frame);
    const char *text = live_written(&view, 'b');
    T_TRUE(live_has(text, "    Total:               76.00 MB (nominal)\n"
                          "    Allocated:           64.31 MB (84.6%)\n"
                          "    Free:                at most 11.69 MB\n"
                          "    Largest Block:       unknown\n"));
    T_TRUE(live_has(text, "    DRAM Channels: 12 (nominal)\n"
                          "    Compute Grid: 8x9 (72 cores, nominal)\n"));
    T_TRUE(live_has(text, "\n  L1 Allocated: 64.31 MB (84.6%) 84% (nominal)\n"));
    T_TRUE(live_has(text, "\n  DRAM Allocated: 0.00 B (unknown)\n"));
    T_TRUE(live_has(text, "\n  Circular Buffers: 1.50 MB\n  State: live\n"
                          "  Id: 7\n  Source: memory region of the runtime (v3)\n"));
    T_TRUE(live_has(text, "\n  Note: only the thread that opened the device is counted"));
    T_TRUE(live_has(text, "\n  Note: capacities are those of the board"));
    tts_liveframe_release(&frame);
}

T_TEST(both_shares_of_a_line_agree)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livepool *l1 = &live_add_counted(&frame, 7, 0)->pools[TTS_POOL_L1];
    struct tts_liveview view = live_view(&frame);
    l1->total_source = TTS_LIVETOTAL_REPORTED;
    /* 128 MB of a pool that has a little more than 160 MB. */
    l1->allocated_bytes = LIVE_MB(128);
    l1->total_bytes = LIVE_MB(160) + 65536;
    T_TRUE(live_has(live_written(&view, 'b'), "\n  L1 Allocated: 128.00 MB (80.0%) 80%\n"));
    l1->total_bytes = LIVE_MB(160) + 131072;
    T_TRUE(live_has(live_written(&view, 'b'), "\n  L1 Allocated: 128.00 MB (79.9%) 79%\n"));
    tts_liveframe_release(&frame);
}

static bool matches_line(const char *text, const char *pattern)
{
    regex_t regex;
    T_EQ(regcomp(&regex, pattern, REG_NOSUB | REG_NEWLINE), 0);
    bool found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

T_TEST(the_published_filters_find_a_pool_from_80_percent)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    struct tts_livepool *l1 = &device->pools[TTS_POOL_L1];
    struct tts_liveview view = live_view(&frame);
    view.has_color = true;
    static const struct {
        unsigned percent;
        bool is_found;
    } cases[] = {{0, false}, {8, false}, {79, false}, {80, true}, {84, true}, {99, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        l1->allocated_bytes = l1->total_bytes / 100 * cases[i].percent + 600;
        const char *text = live_written(&view, 'b');
        T_EQ(matches_line(text, "Allocated.*[89][0-9]%"), cases[i].is_found);
        T_EQ(matches_line(text, "L1.*[89][0-9]\\.[0-9]%"), cases[i].is_found);
    }
    tts_liveframe_release(&frame);
}

T_TEST(the_bar_is_green_below_75_yellow_below_90_and_red_from_90_percent)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    struct tts_livepool *l1 = &device->pools[TTS_POOL_L1];
    struct tts_liveview view = live_view(&frame);
    l1->total_bytes = 1000;
    T_TRUE(strstr(live_written(&view, 'b'), "\033") == NULL);
    view.has_color = true;
    static const struct {
        uint64_t bytes;
        const char *usage;
    } cases[] = {{749, "Usage: \033[32m["},
                 {750, "Usage: \033[33m["},
                 {899, "Usage: \033[33m["},
                 {900, "Usage: \033[31m["}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        l1->allocated_bytes = cases[i].bytes;
        T_TRUE(live_has(live_written(&view, 'b'), cases[i].usage));
    }
    tts_liveframe_release(&frame);
}

T_TEST(more_bytes_than_the_board_has_fill_the_bar_and_no_more)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    device->pools[TTS_POOL_L1].allocated_bytes = LIVE_MB(152);
    struct tts_liveview view = live_view(&frame);
    view.is_utf8 = false;
    T_TRUE(live_has(live_written(&view, 'b'),
                    "[########################################] 200.0%\n"));
    tts_liveframe_release(&frame);
}

T_TEST(a_device_that_cannot_be_read_says_why_and_controls_no_terminal)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_unknown(&frame);
    device->state = TTS_LIVE_UNREADABLE;
    device->source = TTS_LIVESOURCE_REGION;
    strcpy(device->reason, "the file belongs to bob\033[2J (uid 1001)");
    struct tts_liveview view = live_view(&frame);
    const char *text = live_written(&view, 'b');
    T_TRUE(live_has(text, "    Initialized: unknown\n"));
    T_TRUE(live_has(text, "\n  State: unreadable: the file belongs to bob?[2J (uid 1001)\n"));
    tts_liveframe_release(&frame);
}

T_TEST(lines_fit_80_columns_with_long_names_and_many_processes)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_published(&frame);
    for (uint32_t i = 0; i < 20; i++) {
        struct tts_liveprocess *process = live_add_process(&frame, device, 4194304 - i);
        process->container_pid_known = true;
        process->container_pid = 4194304;
        process->state = i % 3;
        process->reason = TTS_LIVEREASON_NAMESPACE;
        memset(process->name, 'n', sizeof process->name - 1);
        memset(process->user, 'u', sizeof process->user - 1);
        process->counters.known = (1u << TTS_COUNTERS) - 1;
        for (size_t j = 0; j < TTS_COUNTERS; j++)
            process->counters.bytes[j] = UINT64_MAX;
    }
    device->caveats = (1u << TTS_CAVEATS) - 1;
    memset(device->reason, 'r', 60);
    struct tts_liveview view = live_view(&frame);
    const char *text = live_written(&view, 'b');
    T_TRUE(live_width(text) <= 80);
    T_TRUE(live_has(text, "\n  and 12 more processes: --view processes lists them\n"));
    T_TRUE(
        live_has(text, "\n  Process 4194304 (4194304 in its container) nnnnnnnnnnnnnnnnnnnnn"));
    tts_liveframe_release(&frame);
}

T_TEST(zeros_are_explained_only_if_all_known_numbers_are_zero)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    struct tts_liveview view = live_view(&frame);
    T_TRUE(!strstr(live_written(&view, 'b'), "All memory shows 0% used"));
    device->pools[TTS_POOL_L1].allocated_bytes = 0;
    T_TRUE(live_has(live_written(&view, 'b'), "- All memory shows 0% used. This is normal"));
    view.has_tips = false;
    T_TRUE(!strstr(live_written(&view, 'b'), "All memory shows 0% used"));
    tts_liveframe_release(&frame);
}
