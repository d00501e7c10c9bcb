#include "analysis/failure/faillog.h"
#include "harness/t.h"
#include "views/chart/textwidth.h"
#include "views/failure/failview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS_MAX = 32, PAGE_W = 960, SVG_MAX = 1 << 14 };

struct svg_text {
    double x, y, width;
    char words[256];
};

static struct tts_failentry entry;
static struct tts_explained explained;
static char svg[SVG_MAX];
static struct svg_text texts[TEXTS_MAX];
static size_t text_count;

static void begin(enum tts_failmsg_family family)
{
    entry = (struct tts_failentry){.msg = {.family = family, .line = 1}, .count = 1};
}

static void set(enum tts_failmsg_field field, uint64_t value)
{
    entry.msg.value[field] = value;
    entry.msg.known |= UINT32_C(1) << field;
}

/* Draws the failure and keeps the texts of the picture. */
static bool draw(void)
{
    FILE *out = fmemopen(svg, sizeof svg, "w");
    T_TRUE(out != NULL);
    tts_explained_make(&explained, &entry, "log");
    bool is_drawn = tts_failview_svg(&explained.view, out);
    fputc('\0', out);
    T_EQ(fclose(out), 0);
    text_count = 0;
    for (const char *at = svg; is_drawn && (at = strstr(at, "<text ")) != NULL; at++) {
        struct svg_text *text = &texts[text_count++];
        T_TRUE(text_count < TEXTS_MAX);
        double size = strtod(strstr(at, "font-size=\"") + 11, NULL);
        size_t len = strcspn(strchr(at, '>') + 1, "<");
        T_TRUE(sscanf(at, "<text x=\"%lf\" y=\"%lf\"", &text->x, &text->y) == 2);
        T_TRUE(len < sizeof text->words);
        memcpy(text->words, strchr(at, '>') + 1, len);
        text->words[len] = '\0';
        struct tts_font font = {(int64_t)(size * 100), strstr(text->words, "bold") != NULL};
        text->width = (double)tts_text_width(text->words, len, font) / 100;
    }
    return is_drawn;
}

/* No text leaves the page or runs into another, and the whole answer is there. */
static void check_picture(void)
{
    char head[TTS_FAILVIEW_LINE_MAX], all[4096] = "";
    for (size_t i = 0; i < text_count; i++) {
        T_TRUE(texts[i].x >= 0 && texts[i].x + texts[i].width <= PAGE_W);
        for (size_t j = 0; j < i; j++)
            T_TRUE(texts[i].y != texts[j].y || texts[i].x >= texts[j].x + texts[j].width ||
                   texts[j].x >= texts[i].x + texts[i].width);
        strcat(strcat(all, texts[i].words), " ");
    }
    T_TRUE(strstr(all, tts_failview_headline(head, &explained.view)) != NULL);
}

static void draw_bank(uint64_t need, uint64_t bank, uint64_t free_bytes, uint64_t largest)
{
    begin(TTS_FAILMSG_V3);
    entry.msg.has_pool = true;
    entry.msg.pool = TTS_POOL_DRAM;
    set(TTS_FAILMSG_REQUESTED, need * 12);
    set(TTS_FAILMSG_BANKS, 12);
    set(TTS_FAILMSG_NEED, need);
    set(TTS_FAILMSG_BANK, bank);
    set(TTS_FAILMSG_ALLOCATED, bank - free_bytes);
    set(TTS_FAILMSG_FREE, free_bytes);
    set(TTS_FAILMSG_LARGEST, largest);
    T_TRUE(draw());
    check_picture();
}

T_TEST(names_of_narrow_bars_do_not_overlap)
{
    draw_bank(41943040, 1070773184, 76415936, 37030336);
    draw_bank(64, 1070773184, 48, 32);
    draw_bank(1024, 1070773184, 1070773184, 1000);
    draw_bank(1070773190, 1070773184, 20, 10);
    draw_bank(32, 0, 0, 0);
    T_TRUE(strstr(svg, "bank 0 B") != NULL);
}

T_TEST(random_banks_have_a_tidy_picture)
{
    uint64_t rng = 1;
    for (int i = 0; i < 300; i++) {
        uint64_t bank = 1 + t_random(&rng) % (UINT64_C(1) << (1 + t_random(&rng) % 40));
        uint64_t free_bytes = t_random(&rng) % (bank + 1),
                 largest = t_random(&rng) % (free_bytes + 1);
        draw_bank(1 + t_random(&rng) % (2 * bank), bank, free_bytes, largest);
    }
}

static void draw_two(enum tts_failmsg_family family, enum tts_failmsg_field value,
                     enum tts_failmsg_field bound, uint64_t a, uint64_t b)
{
    begin(family);
    set(value, a);
    set(bound, b);
    T_TRUE(draw());
    check_picture();
}

T_TEST(every_family_with_two_numbers_has_a_picture)
{
    draw_two(TTS_FAILMSG_CB, TTS_FAILMSG_END, TTS_FAILMSG_ADDRESS, 891680, 819200);
    T_TRUE(strstr(svg, ">circular buffers 703 KiB<") != NULL);
    T_TRUE(strstr(svg, ">L1 buffers, from the lowest on<") != NULL);
    draw_two(TTS_FAILMSG_CB, TTS_FAILMSG_END, TTS_FAILMSG_ADDRESS, 103840, 103839);
    draw_two(TTS_FAILMSG_DFB, TTS_FAILMSG_END, TTS_FAILMSG_ADDRESS, 3100000, 3000000);
    draw_two(TTS_FAILMSG_SVC, TTS_FAILMSG_END, TTS_FAILMSG_ADDRESS, 1250432, 1200000);
    draw_two(TTS_FAILMSG_CBMAX, TTS_FAILMSG_END, TTS_FAILMSG_LIMIT, 1723520, 1499136);
    draw_two(TTS_FAILMSG_DFBMAX, TTS_FAILMSG_END, TTS_FAILMSG_LIMIT, 4200000, 4194304);
    draw_two(TTS_FAILMSG_DFBRING, TTS_FAILMSG_SIZE, TTS_FAILMSG_LIMIT, 4000000, 3680000);
    draw_two(TTS_FAILMSG_RING, TTS_FAILMSG_SIZE, TTS_FAILMSG_LIMIT, 80000, 70656);
    draw_two(TTS_FAILMSG_TRACE, TTS_FAILMSG_REQUESTED, TTS_FAILMSG_LIMIT, 52428800, 33554432);
    draw_two(TTS_FAILMSG_TOVER_LIVE, TTS_FAILMSG_LIVE_END, TTS_FAILMSG_ADDRESS, 1060000000,
             1050673152);
    draw_two(TTS_FAILMSG_ADDR, TTS_FAILMSG_LIMIT, TTS_FAILMSG_ADDRESS, 7, 6);
}

T_TEST(numbers_that_are_no_bytes_of_a_chip_have_no_picture)
{
    begin(TTS_FAILMSG_CB);
    set(TTS_FAILMSG_END, UINT64_MAX);
    set(TTS_FAILMSG_ADDRESS, 5);
    T_TRUE(!draw());
    begin(TTS_FAILMSG_TRACKER);
    set(TTS_FAILMSG_COUNT, 3);
    T_TRUE(!draw());
}
