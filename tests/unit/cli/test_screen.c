#include "cli/top/screen.h"
#include "harness/t.h"
#include "torture/heap.h"

#include <string.h>

#define BEGIN "\033[?25l\033[?7l\033[H"
#define END "\033[?7h"

static const char *drawn(unsigned columns, unsigned rows, const char *frame)
{
    static char text[4096];
    struct heap heap;
    heap_init(&heap);
    struct tts_screen screen = {.columns = columns, .rows = rows, .alloc = &heap.alloc};
    T_EQ(tts_screen_draw(&screen, frame, strlen(frame)), TTS_OK);
    T_TRUE(screen.used < sizeof text);
    memcpy(text, screen.drawn, screen.used);
    text[screen.used] = '\0';
    tts_screen_close(&screen);
    T_TRUE(heap.live_blocks == 0 && heap_is_settled(&heap));
    return text;
}

T_TEST(each_line_clears_its_rest_and_the_end_clears_the_screen_below)
{
    T_STR_EQ(drawn(10, 5, "one\ntwo\n"), BEGIN "one\033[K\ntwo\033[K\n\033[J" END);
    T_STR_EQ(drawn(10, 5, "one\n\ntwo"), BEGIN "one\033[K\n\033[K\ntwo\033[K\n\033[J" END);
}

T_TEST(a_line_in_the_last_row_does_not_scroll)
{
    T_STR_EQ(drawn(10, 2, "one\ntwo\n"), BEGIN "one\033[K\ntwo\033[K" END);
}

T_TEST(a_line_that_fills_the_columns_keeps_its_last_character)
{
    T_STR_EQ(drawn(3, 5, "abc\nde\n"), BEGIN "abc\nde\033[K\n\033[J" END);
}

T_TEST(wide_lines_are_cut_and_their_colours_end)
{
    T_STR_EQ(drawn(3, 5, "abc---\n"), BEGIN "abc\n\033[J" END);
    T_STR_EQ(drawn(3, 5, "a\033[31mbc---\033[0m\n"), BEGIN "a\033[31mbc\033[0m\n\033[J" END);
    T_STR_EQ(drawn(3, 5, "\u0394\u2588\u2591-\n"), BEGIN "\u0394\u2588\u2591\n\033[J" END);
    /* A wide character has no half. */
    T_STR_EQ(drawn(3, 5, "\u4e2d\u4e2d-\n"), BEGIN "\u4e2d\033[K\n\033[J" END);
}

T_TEST(a_line_is_cut_before_a_word)
{
    T_STR_EQ(drawn(8, 5, "one 128.00 ---\n"), BEGIN "one \033[K\n... 2 \033[K\n\033[J" END);
    T_STR_EQ(drawn(8, 2, "one \033[31m128.00\033[0m\n"),
             BEGIN "one \033[31m\033[0m\033[K\n... 2 \033[K" END);
}

T_TEST(a_wide_frame_says_how_many_columns_are_left_out)
{
    static const char wide[] = "0123456789012345678901234567890123456789 word\n===\n";
    T_STR_EQ(drawn(40, 5, wide),
             BEGIN "0123456789012345678901234567890123456789\n===\033[K\n"
                   "... 5 more columns: widen the terminal\033[K\n\033[J" END);
    T_STR_EQ(drawn(40, 3, wide), BEGIN "0123456789012345678901234567890123456789\n===\033[K\n"
                                       "... 5 more columns: widen the terminal\033[K" END);
    T_STR_EQ(drawn(40, 2, wide), BEGIN "0123456789012345678901234567890123456789\n"
                                       "... 1 more line, 5 more columns: enlarge" END);
    T_STR_EQ(drawn(45, 3, wide), BEGIN "0123456789012345678901234567890123456789 word\n"
                                       "===\033[K\n\033[J" END);
}

T_TEST(a_tall_frame_says_how_many_lines_are_left_out)
{
    const char *text = drawn(80, 3, "1\n2\n3\n4\n5\n");
    T_STR_EQ(text, BEGIN "1\033[K\n2\033[K\n... 3 more lines: enlarge the terminal, or choose "
                         "with --device and --view\033[K" END);
    T_STR_EQ(drawn(8, 2, "1\n2\n3\n"), BEGIN "1\033[K\n... 2 \033[K" END);
    T_STR_EQ(drawn(80, 3, "1\n2\n3\n"), BEGIN "1\033[K\n2\033[K\n3\033[K" END);
}

T_TEST(an_empty_frame_clears_the_screen)
{
    T_STR_EQ(drawn(80, 3, ""), BEGIN "\033[J" END);
}

T_TEST(without_memory_nothing_is_drawn)
{
    for (uint64_t at = 1;; at++) {
        struct heap heap;
        heap_init(&heap);
        heap.fail_at = at;
        struct tts_screen screen = {.columns = 80, .rows = 24, .alloc = &heap.alloc};
        enum tts_status status = tts_screen_draw(&screen, "one\ntwo\n", 8);
        tts_screen_close(&screen);
        T_TRUE(heap.live_blocks == 0 && heap_is_settled(&heap));
        if (status == TTS_OK)
            break;
        T_EQ(status, TTS_E_NOMEM);
        T_TRUE(at < 100);
    }
}
