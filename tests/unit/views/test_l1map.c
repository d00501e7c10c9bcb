#include "harness/t.h"
#include "views/map/l1map.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- drawings ---- */

static struct tts_chip chip_of(const char *preset, const char *key, const char *value)
{
    struct tts_chip chip;
    struct tts_error err;
    T_EQ(tts_chip_preset(preset, &chip, &err), TTS_OK);
    if (key)
        T_EQ(tts_chip_set(&chip, key, value, &err), TTS_OK);
    return chip;
}

/* Returns the drawing of the parts, which the caller frees. */
static char *draw_parts(const struct tts_chip *chip, const struct tts_l1_part *parts,
                        size_t count)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    T_TRUE(out != NULL);
    tts_l1map_write(chip, parts, count, out);
    T_EQ(fclose(out), 0);
    T_EQ(strlen(text), len);
    T_TRUE(strncmp(text, "<svg ", 5) == 0 && strcmp(text + len - 7, "</svg>\n") == 0);
    T_TRUE(strstr(text, "<script") == NULL && strstr(text, "href") == NULL);
    return text;
}

static char *draw(const struct tts_chip *chip)
{
    struct tts_l1_part parts[TTS_L1_PARTS_MAX];
    struct tts_error err;
    size_t count = tts_chip_l1_parts(chip, parts, &err);
    T_TRUE(count > 0);
    return draw_parts(chip, parts, count);
}

/* ---- numbers from a drawing ---- */

struct text {
    double x, y;
    bool ends_there; /* the text is anchored at its end */
};

/* Returns the value of the attribute `name` in the element at `at`. */
static double attribute(const char *at, const char *name)
{
    char wanted[16];
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    const char *found = strstr(at, wanted);
    T_TRUE(found != NULL);
    return strtod(found + strlen(wanted), NULL);
}

static size_t read_texts(const char *drawing, struct text *out, size_t capacity)
{
    size_t count = 0;
    for (const char *at = drawing; (at = strstr(at, "<text ")) != NULL; at++) {
        const char *end = strchr(at, '>'), *anchor = strstr(at, "\"end\"");
        T_TRUE(count < capacity && end != NULL);
        out[count++] =
            (struct text){attribute(at, "x"), attribute(at, "y"), anchor && anchor < end};
    }
    return count;
}

/* Checks that two texts that begin or end in the same column are at least a line apart, and
 * that all labels are beside the plot. */
static void expect_apart(const char *drawing)
{
    struct text texts[128];
    size_t count = read_texts(drawing, texts, 128);
    T_TRUE(count > 8);
    for (size_t i = 0; i < count; i++) {
        bool is_label = texts[i].ends_there || texts[i].x > 600;
        T_TRUE(texts[i].y > (is_label ? 132 : 20) && texts[i].y < 700);
        for (size_t j = 0; j < i; j++) {
            double apart = texts[i].y - texts[j].y;
            bool same = texts[i].x == texts[j].x && texts[i].ends_there == texts[j].ends_there;
            T_TRUE(!same || apart >= 14.9 || apart <= -14.9);
        }
    }
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        count++;
    return count;
}

static bool has(const char *text, const char *what)
{
    return strstr(text, what) != NULL;
}

/* ---- tests ---- */

T_TEST(every_preset_is_drawn_and_no_label_lies_over_another)
{
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++) {
        struct tts_chip chip = chip_of(preset->name, "l1_small", "64");
        char *drawing = draw(&chip);
        expect_apart(drawing);
        T_TRUE(has(drawing, ">L1_SMALL<") && has(drawing, ">shared by buffers<"));
        T_TRUE(has(drawing, ">mailboxes<") && has(drawing, ">kernel-config ring<"));
        free(drawing);
    }
}

T_TEST(parts_have_their_size_and_addresses)
{
    struct tts_chip chip = chip_of("p150", "l1_small", "65536");
    char *drawing = draw(&chip);
    T_TRUE(has(drawing, ">1363 KiB (88.7 %) is shared: circular buffers grow up, "
                        "L1 buffers grow down.<"));
    T_TRUE(has(drawing, ">64 KiB, 1507328 to 1572864<"));
    T_TRUE(has(drawing, ">1363 KiB, 111616 to 1507328<"));
    T_TRUE(has(drawing, ">13.11 KiB<") && has(drawing, ">96 to 13520<"));
    T_TRUE(has(drawing, ">256 B<") && has(drawing, ">34016 to 34272<"));
    T_TRUE(has(drawing, ">the lowest 40 KiB, enlarged<"));
    free(drawing);
}

/* The plot has a height of 560 pixels and ends at 692. */
T_TEST(parts_are_to_scale)
{
    static const struct tts_l1_part parts[] = {
        {"low", 0, 250, false}, {"room", 250, 750, true}, {"high", 750, 1000, false}};
    struct tts_chip chip = chip_of("n150", NULL, NULL);
    char *drawing = draw_parts(&chip, parts, 3);
    T_TRUE(has(drawing, "y=\"552\" width=\"150\" height=\"140\""));
    T_TRUE(has(drawing, "y=\"272\" width=\"150\" height=\"280\" fill=\"#edf1f5\""));
    T_TRUE(has(drawing, "y=\"132\" width=\"150\" height=\"140\""));
    T_TRUE(!has(drawing, "enlarged"));
    T_EQ(count_of(drawing, "<polyline"), 3);
    free(drawing);
}

T_TEST(what_is_too_low_to_see_is_drawn_and_enlarged)
{
    static const struct tts_l1_part parts[] = {
        {"speck", 0, 1, false}, {"grain", 1, 3, false}, {"room", 3, 1000000, true}};
    struct tts_chip chip = chip_of("n150", NULL, NULL);
    char *drawing = draw_parts(&chip, parts, 3);
    T_TRUE(has(drawing, ">the lowest 3 B, enlarged<"));
    T_TRUE(has(drawing, ">speck<") && has(drawing, ">grain<"));
    T_TRUE(has(drawing, "y=\"132\" width=\"90\" height=\"373.34\""));
    T_TRUE(has(drawing, "width=\"150\" height=\"0.5\""));
    free(drawing);
}

T_TEST(arrows_need_room)
{
    struct tts_chip chip = chip_of("n150", NULL, NULL);
    char *drawing = draw(&chip);
    T_TRUE(has(drawing, ">circular buffers<") && has(drawing, ">L1 buffers<"));
    free(drawing);
    chip = chip_of("n150", "worker_l1", "65536");
    drawing = draw(&chip);
    T_TRUE(!has(drawing, ">circular buffers<") && !has(drawing, ">L1 buffers<"));
    T_TRUE(has(drawing, ">shared by buffers<"));
    free(drawing);
}

T_TEST(as_many_parts_as_there_can_be_and_as_large_do_not_collide)
{
    struct tts_l1_part parts[TTS_L1_PARTS_MAX];
    struct tts_chip chip = chip_of("n150", NULL, NULL);
    for (int grows = 0; grows < 2; grows++) {
        for (size_t i = 0; i < TTS_L1_PARTS_MAX; i++)
            parts[i] = (struct tts_l1_part){"part", i, i + 1, false};
        parts[TTS_L1_PARTS_MAX - 1].end = UINT64_C(1) << 46;
        parts[TTS_L1_PARTS_MAX - 1].grows = grows;
        char *drawing = draw_parts(&chip, parts, TTS_L1_PARTS_MAX);
        expect_apart(drawing);
        T_EQ(has(drawing, "is shared"), grows);
        free(drawing);
    }
}

T_TEST(labels_of_a_crowd_at_the_top_stay_beside_the_plot)
{
    struct tts_l1_part parts[TTS_L1_PARTS_MAX] = {{"low", 0, 1000, false}};
    struct tts_chip chip = chip_of("n150", NULL, NULL);
    for (size_t i = 1; i < TTS_L1_PARTS_MAX; i++)
        parts[i] = (struct tts_l1_part){"part", 999 + i, 1000 + i, false};
    parts[TTS_L1_PARTS_MAX - 1].end = 1000000;
    parts[TTS_L1_PARTS_MAX - 1].grows = true;
    char *drawing = draw_parts(&chip, parts, TTS_L1_PARTS_MAX);
    expect_apart(drawing);
    T_TRUE(has(drawing, ">low<"));
    free(drawing);
}

T_TEST(one_low_part_is_not_enlarged)
{
    static const struct tts_l1_part parts[] = {{"speck", 0, 1, false}, {"room", 1, 9999, true}};
    struct tts_chip chip = chip_of("n150", NULL, NULL);
    char *drawing = draw_parts(&chip, parts, 2);
    T_TRUE(has(drawing, ">speck<") && !has(drawing, "enlarged"));
    free(drawing);
}

T_TEST(a_foreign_name_is_escaped)
{
    struct tts_chip chip = chip_of("n150", NULL, NULL);
    snprintf(chip.name, sizeof chip.name, "%s", "<b>&\"x\x01\xff</b>");
    char *drawing = draw(&chip);
    T_TRUE(!has(drawing, "<b>") && !has(drawing, "\x01") && !has(drawing, "\xff<"));
    T_EQ(count_of(drawing, "L1 of a core of &lt;b&gt;&amp;&quot;x\xef\xbf\xbd\xef\xbf\xbd&lt;"),
         2);
    free(drawing);
}
