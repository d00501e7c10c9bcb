#include "harness/t.h"
#include "torture/heap.h"
#include "views/chart/drawing.h"
#include "views/chart/drawing_svg.h"

#include <stdlib.h>
#include <string.h>

static const struct tts_text_at here = {
    .x = 1050, .y = 2000, .font = {1200, true}, .paint = {0x123456, 255}};

static void fill(struct tts_drawing *d)
{
    const char *text = "wrapped and cut";
    struct tts_text_line line = {.len = 7, .is_cut = true, .width = 9000};
    struct tts_drawn box = {.kind = TTS_SHAPE_BOX,
                            .box = {100, 200, 300, 450},
                            .fill = {0xabcdef, 128},
                            .stroke = {0xff0000, 255},
                            .stroke_width = 150,
                            .dash = 400,
                            .radius = 200,
                            .name = "part"};
    struct tts_drawn steps = {.kind = TTS_SHAPE_STEPS,
                              .point_count = 3,
                              .name = "lines",
                              .stroke = {0x00ff00, 255},
                              .stroke_width = 100};
    d->width = 10000;
    d->height = 5050;
    d->title = tts_drawing_keep(d, "a <title>", 9);
    d->description = tts_drawing_keep_format(d, "%d & more", 12);
    tts_drawing_extend_format(d, ", and %s", "more");
    box.hint = tts_drawing_keep(d, "hint \"1\"", 8);
    tts_drawing_add(d, &box);
    for (int i = 0; i < 3; i++)
        tts_drawing_point(d, 100 * i, 250 * i);
    tts_drawing_add(d, &steps);
    tts_drawing_add(d, &(struct tts_drawn){.kind = TTS_SHAPE_LINE,
                                           .box = {50, 60, 0, 0},
                                           .to = {70, -80},
                                           .stroke = {0, 255},
                                           .stroke_width = 100});
    tts_drawing_put_line(d, &here, text, &line);
    tts_drawing_put_format(
        d,
        &(struct tts_text_at){
            .rotate = -90, .anchor = TTS_ANCHOR_END, .font = {900, false}, .paint = {0, 255}},
        "%s\x1b[1m\xff\n", "raw");
}

static char *svg_of(const struct tts_drawing *d)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    T_TRUE(out != NULL);
    tts_drawing_write_svg(d, out);
    T_EQ(fclose(out), 0);
    return text;
}

T_TEST(texts_are_kept_showable)
{
    struct tts_drawing d;
    tts_drawing_init(&d, NULL);
    T_STR_EQ(tts_drawing_text(&d, 0), "");
    T_EQ(tts_drawing_keep(&d, "", 0), 0);
    size_t first = tts_drawing_keep(&d, "a\tb\x01\xff\xc3\xa9", 7);
    T_STR_EQ(tts_drawing_text(&d, first), "a b\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9");
    size_t second = tts_drawing_keep(&d, "x", 1);
    tts_drawing_extend(&d, "yz\n", 3);
    T_STR_EQ(tts_drawing_text(&d, second), "xyz ");
    T_STR_EQ(tts_drawing_text(&d, first), "a b\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9");
    tts_drawing_put(&d, &here, "");
    T_EQ(d.shape_count, 0);
    tts_drawing_release(&d);
    tts_drawing_release(&d);
}

T_TEST(svg_says_what_the_drawing_is)
{
    struct tts_drawing d;
    tts_drawing_init(&d, NULL);
    fill(&d);
    char *svg = svg_of(&d), *again = svg_of(&d);
    T_STR_EQ(svg, again);
    T_TRUE(strncmp(svg,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50.5\"",
                   65) == 0);
    static const char *const expected[] = {
        "viewBox=\"0 0 100 50.5\"",
        "role=\"img\"",
        "'DejaVu Sans',Verdana,sans-serif",
        "<title id=\"title\">a &lt;title&gt;</title>",
        "<desc id=\"description\">12 &amp; more, and more</desc>",
        "<rect x=\"0\" y=\"0\" width=\"100\" height=\"50.5\" fill=\"#ffffff\"/>",
        "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4.5\" rx=\"2\" fill=\"#abcdef\" "
        "fill-opacity=\"0.5\" stroke=\"#ff0000\" stroke-width=\"1.5\" stroke-dasharray=\"4\" "
        "class=\"part\"><title>hint &quot;1&quot;</title></rect>",
        "<polyline class=\"lines\" fill=\"none\" stroke=\"#00ff00\" stroke-width=\"1\" "
        "points=\"0,0 1,2.5 2,5\"/>",
        "<line x1=\"0.5\" y1=\"0.6\" x2=\"0.7\" y2=\"-0.8\" stroke=\"#000000\" "
        "stroke-width=\"1\"/>",
        "<text x=\"10.5\" y=\"20\" font-size=\"12\" font-weight=\"bold\" "
        "fill=\"#123456\">wrapped...</text>",
        "<text transform=\"translate(0 0) rotate(-90)\" font-size=\"9\" text-anchor=\"end\" "
        "fill=\"#000000\">raw\xef\xbf\xbd[1m\xef\xbf\xbd </text>\n</svg>\n"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strstr(svg, expected[i]))
            fail_msg("missing: %s\nin: %s", expected[i], svg);
    free(svg);
    free(again);
    tts_drawing_release(&d);
}

T_TEST(a_text_knows_its_width)
{
    struct tts_drawing d;
    tts_drawing_init(&d, NULL);
    tts_drawing_put(&d, &here, "123");
    T_EQ(d.shapes[0].box.width, tts_text_width("123", 3, here.font));
    tts_drawing_release(&d);
}

T_TEST(out_of_memory_is_remembered_and_nothing_breaks)
{
    for (uint64_t fail_at = 1;; fail_at++) {
        struct heap heap;
        heap_init(&heap);
        heap.fail_at = fail_at;
        struct tts_drawing d;
        tts_drawing_init(&d, &heap.alloc);
        fill(&d);
        bool failed = heap.failed > 0;
        T_EQ(d.is_short, failed);
        tts_drawing_release(&d);
        T_TRUE(heap_is_settled(&heap));
        if (!failed)
            break;
        T_TRUE(fail_at < 100);
    }
}
