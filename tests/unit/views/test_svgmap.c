#include "device/space.h"
#include "harness/t.h"
#include "views/map/svgmap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- a small checker of XML ---- */

enum { DEPTH_MAX = 32, NAME_MAX_BYTES = 32 };

static const char *skip_attributes(const char *at)
{
    while (*at && *at != '>' && *at != '/') {
        if (*at == '"') {
            at = strchr(at + 1, '"');
            T_TRUE(at != NULL);
        }
        T_TRUE(*at != '<');
        at++;
    }
    return at;
}

/* Checks that all elements are closed in the right order, that no text has bare markup, and
 * that there is one root. Returns the number of elements. */
static size_t count_elements(const char *text)
{
    char open[DEPTH_MAX][NAME_MAX_BYTES];
    size_t depth = 0, count = 0, roots = 0;
    for (const char *at = text; *at;) {
        if (*at != '<') {
            T_TRUE(*at != '>' && (*at != '&' || memchr(at, ';', 7)));
            T_TRUE(depth > 0 || isspace((unsigned char)*at));
            at++;
            continue;
        }
        bool closes = at[1] == '/';
        const char *name = at + 1 + closes;
        size_t len = strcspn(name, " />\n");
        T_TRUE(len > 0 && len < NAME_MAX_BYTES);
        at = skip_attributes(name + len);
        if (closes) {
            T_TRUE(depth-- > 0);
            T_TRUE(strlen(open[depth]) == len && memcmp(open[depth], name, len) == 0);
        } else {
            count++;
            roots += depth == 0;
            T_TRUE(depth < DEPTH_MAX);
            snprintf(open[depth], NAME_MAX_BYTES, "%.*s", (int)len, name);
            depth += *at == '>';
            at += *at == '/';
        }
        T_EQ(*at++, '>');
    }
    T_EQ(depth, 0);
    T_EQ(roots, 1);
    return count;
}

/* ---- maps ---- */

static struct tts_addrmap *new_map(uint64_t size, uint64_t offset)
{
    struct tts_space_config config = {size, offset, 32, 32, TTS_POLICY_FIRST};
    struct tts_addrmap *map;
    T_EQ(tts_addrmap_new(&config, NULL, &map), TTS_OK);
    return map;
}

static void add(struct tts_addrmap *map, enum tts_addrmap_change change, uint64_t address,
                uint64_t bytes)
{
    struct tts_space_stats after = map->last;
    if (change == TTS_ADDRMAP_TAKEN || change == TTS_ADDRMAP_LEAKED)
        after.free_bytes -= bytes;
    else if (change == TTS_ADDRMAP_GIVEN)
        after.free_bytes += bytes;
    after.taken_bytes = after.total_bytes - after.free_bytes;
    after.largest_free_bytes = after.free_bytes / 2;
    /* Operation 1 is on line 11 of the file. */
    struct tts_addrmap_event event = {change, address, bytes, map->operations + 11};
    tts_addrmap_add(map, &event, &after);
}

/* Frees the map. Returns its drawing, which the caller frees. */
static char *draw(struct tts_addrmap *map, const char *name)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    tts_addrmap_finish(map);
    tts_svgmap_write(map, name, out);
    T_EQ(fclose(out), 0);
    T_EQ(strlen(text), len);
    T_TRUE(count_elements(text) > 20);
    T_TRUE(strstr(text, "<script") == NULL && strstr(text, "href") == NULL);
    tts_addrmap_free(map);
    return text;
}

static void expect_parts(char *text, const char *const *parts)
{
    for (; *parts; parts++)
        if (!strstr(text, *parts))
            fail_msg("no '%s' in the drawing", *parts);
    free(text);
}

T_TEST(a_block_is_drawn_where_and_when_it_was)
{
    /* The plot has a size of 930 x 400 and begins at (98, 180). There are four operations. The
     * lower half is taken during the second and third one, and the top quarter from the third
     * one on. */
    struct tts_addrmap *map = new_map(1000, 5000);
    add(map, TTS_ADDRMAP_NOTHING, 0, 0);
    add(map, TTS_ADDRMAP_TAKEN, 5000, 500);
    add(map, TTS_ADDRMAP_TAKEN, 5750, 250);
    add(map, TTS_ADDRMAP_GIVEN, 5000, 500);
    expect_parts(
        draw(map, "dir/short.txt"),
        (const char *const[]){"<rect x=\"330.5\" y=\"380\" width=\"465\" height=\"200\" "
                              "stroke=\"#fff\"><title>5000: "
                              "500 B, from operation 2 (line 12) to 4 (line 14)</title></rect>",
                              "<rect x=\"563\" y=\"180\" width=\"465\" height=\"100\" "
                              "stroke=\"#fff\"><title>5750: "
                              "250 B, from operation 3 (line 13)</title></rect>",
                              ">Memory map of short.txt<", ">No request failed (2 requests).<",
                              "width=\"1120\" height=\"880\" viewBox=\"0 0 1120 880\" "
                              "style=\"max-width:100%;height:auto\"",
                              "1000 B per bank (1000 bytes from address 5000)", "policy FIRST",
                              ">5000<", ">6000<", "4 operations<", NULL});
}

T_TEST(failures_are_told_apart_in_words_and_colors)
{
    struct tts_addrmap *map = new_map(1000, 0);
    add(map, TTS_ADDRMAP_TAKEN, 0, 400);
    add(map, TTS_ADDRMAP_FAILED, 0, 600); /* as many bytes as are free */
    add(map, TTS_ADDRMAP_FAILED, 0, 320);
    add(map, TTS_ADDRMAP_FAILED, 0, 601);
    add(map, TTS_ADDRMAP_REFUSED, 100, 32);
    expect_parts(draw(map, "x"),
                 (const char *const[]){
                     ">4 of 5 requests failed: 2 by fragmentation, 1 too little free, 1 range "
                     "not free.<",
                     ">Worst failure: operation 3 (line 13) needed 320 B; 600 B were free, "
                     "and the largest piece "
                     "was 300 B.<",
                     ">At the end 60.0 % is free (600 B). The largest piece is 300 B, so a "
                     "single request "
                     "cannot use 50.0 % of the free memory.<",
                     "fill=\"#e0243c\"><title>operation 2, line 12: 600 B found no room: "
                     "enough was free, but in pieces</title>",
                     "fill=\"#7a0f3c\"><title>operation 4, line 14: 601 B found no room: too "
                     "little was free</title>",
                     ">range not free<", ">failed: too little free<",
                     ">failed: enough free, in pieces<", NULL});
    map = new_map(1000, 0);
    add(map, TTS_ADDRMAP_FAILED, 0, 1001);
    expect_parts(draw(map, "x"),
                 (const char *const[]){">1 of 1 requests failed: too little was free.<", NULL});
    map = new_map(1000, 0);
    add(map, TTS_ADDRMAP_FAILED, 0, 900);
    expect_parts(
        draw(map, "x"),
        (const char *const[]){
            ">1 of 1 requests failed by fragmentation: enough was free, but in pieces.<",
            NULL});
}

static void expect_no_part(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' is in the drawing", part);
}

T_TEST(every_request_that_fails_is_in_the_headline)
{
    struct tts_addrmap *map = new_map(1000, 0);
    add(map, TTS_ADDRMAP_TAKEN, 0, 400);
    add(map, TTS_ADDRMAP_REFUSED, 100, 32);
    add(map, TTS_ADDRMAP_NOT_CUT, 0, 0); /* a cut is not a request */
    expect_parts(
        draw(map, "x"),
        (const char *const[]){">1 of 2 requests failed: the exact range was not free.<", NULL});
    map = new_map(1000, 0);
    add(map, TTS_ADDRMAP_FAILED, 0, 900);
    add(map, TTS_ADDRMAP_REFUSED, 100, 32);
    expect_parts(draw(map, "x"),
                 (const char *const[]){">2 of 2 requests failed: 1 by fragmentation (enough "
                                       "was free, but in pieces), 1 range not free.<",
                                       NULL});
    map = new_map(1000, 0);
    add(map, TTS_ADDRMAP_LEAKED, 0, 400);
    expect_parts(draw(map, "x"),
                 (const char *const[]){">No request failed (1 request), but 1 was taken below "
                                       "the limit.<",
                                       NULL});
    map = new_map(1000, 0);
    add(map, TTS_ADDRMAP_LEAKED, 0, 400);
    add(map, TTS_ADDRMAP_FAILED, 0, 2000);
    expect_parts(draw(map, "x"),
                 (const char *const[]){">1 of 2 requests failed: too little was free; 1 taken "
                                       "below the limit.<",
                                       NULL});
}

/* The failed request is operation 2 of 4. The lane has a size of 930 x 16 and begins at (98,
 * 588). */
T_TEST(a_range_that_is_not_free_is_in_the_lane_of_failed_requests)
{
    for (int outside = 0; outside < 2; outside++) {
        struct tts_addrmap *map = new_map(1000, 0);
        add(map, TTS_ADDRMAP_TAKEN, 0, 400);
        add(map, TTS_ADDRMAP_REFUSED, outside ? 5000 : 100, 32);
        add(map, TTS_ADDRMAP_NOTHING, 0, 0);
        add(map, TTS_ADDRMAP_NOTHING, 0, 0);
        expect_parts(draw(map, "x"),
                     (const char *const[]){
                         "<path fill=\"#e08a00\" d=\"M330.5 604v-16h232.5v16z\"/>", NULL});
    }
}

T_TEST(very_many_ranges_that_are_not_free_do_not_hide_the_map)
{
    static const struct {
        int count;
        const char *opacity; /* NULL if there are no dots */
    } cases[] = {{72, "stroke-opacity=\"1\""}, {200, "stroke-opacity=\".4\""}, {201, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tts_addrmap *map = new_map(1000, 0);
        for (int n = 0; n < cases[i].count; n++)
            add(map, TTS_ADDRMAP_REFUSED, 100, 32);
        char *text = draw(map, "x");
        const char *dots = strstr(text, "stroke-linecap=\"round\"");
        T_EQ(dots != NULL, cases[i].opacity != NULL);
        T_TRUE(!dots || strstr(dots, cases[i].opacity) != NULL);
        T_EQ(strstr(text, "line 11: the range was not free</title>") != NULL, dots != NULL);
        expect_parts(text, (const char *const[]){"<path fill=\"#e08a00\"", NULL});
    }
}

T_TEST(the_legend_of_failed_requests_has_the_colors_that_occur)
{
    static const char sizes[] = ">failed requests, at the height of their size<";
    static const char red[] = "fill=\"#e0243c\"", dark[] = "fill=\"#7a0f3c\"";
    struct tts_addrmap *map = new_map(1000, 0);
    add(map, TTS_ADDRMAP_FAILED, 0, 1001);
    char *text = draw(map, "x");
    const char *legend = strstr(text, ">other free pieces<");
    T_TRUE(legend && strstr(legend, sizes) && strstr(legend, dark) < strstr(legend, sizes));
    expect_no_part(legend, red);
    free(text);
    map = new_map(1000, 0);
    add(map, TTS_ADDRMAP_REFUSED, 0, 10);
    text = draw(map, "x");
    expect_no_part(text, sizes);
    free(text);
}

/* The panel begins at y 638 and is 180 pixels high. Each of the two operations is 465 pixels
 * wide. */
T_TEST(a_request_beyond_the_scale_points_up)
{
    struct tts_addrmap *map = new_map(1000, 0);
    add(map, TTS_ADDRMAP_FAILED, 0, 1000);
    add(map, TTS_ADDRMAP_FAILED, 0, 1001);
    expect_parts(draw(map, "x"),
                 (const char *const[]){
                     "<circle cx=\"330.5\" cy=\"638\" r=\"4\"",
                     "<path d=\"M795.5 639l5 8h-10z\" fill=\"#7a0f3c\">"
                     "<title>operation 2, line 12: 1001 B found no room: too little was free<",
                     NULL});
}

T_TEST(what_is_free_in_one_piece_is_within_reach)
{
    struct tts_addrmap *map = new_map(1000, 0);
    struct tts_space_stats after = {
        .total_bytes = 1000, .free_bytes = 600, .largest_free_bytes = 600};
    struct tts_addrmap_event event = {TTS_ADDRMAP_TAKEN, 0, 400, 1};
    tts_addrmap_add(map, &event, &after);
    char *text = draw(map, "x");
    expect_no_part(text, "cannot use");
    expect_parts(text,
                 (const char *const[]){
                     ">At the end 60.0 % is free (600 B), all of it in one piece.<", NULL});
}

T_TEST(nothing_is_a_picture_too)
{
    expect_parts(draw(new_map(1, 0), ""),
                 (const char *const[]){"0 operations<", ">No request failed (0 requests).<",
                                       ">At the end 100.0 % is free (1 B)", NULL});
    struct tts_addrmap *map = new_map(1, 0);
    add(map, TTS_ADDRMAP_TAKEN, 0, 1);
    expect_parts(draw(map, "/"), (const char *const[]){">At the end nothing is free.<", NULL});
}

T_TEST(a_hostile_name_is_only_text)
{
    expect_parts(
        draw(new_map(1000, 0), "a/<b>&\"\x1b\xff"),
        (const char *const[]){
            "Memory map of &lt;b&gt;&amp;&quot;\xef\xbf\xbd\xef\xbf\xbd</text>", NULL});
    char name[5000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    char *text = draw(new_map(1000, 0), name);
    free(text);
}

T_TEST(cut_and_leaked_parts_have_their_own_look)
{
    struct tts_addrmap *map = new_map(1000, 0);
    struct tts_space_stats after = {.total_bytes = 750, .free_bytes = 750};
    add(map, TTS_ADDRMAP_LEAKED, 900, 32);
    tts_addrmap_add(map, &(struct tts_addrmap_event){0}, &after);
    expect_parts(draw(map, "x"),
                 (const char *const[]){"url(#cut)\" stroke=\"#8b95a1\"",
                                       "M98 580V580H563V480H1028V580Z", ">cut off<",
                                       "fill=\"#8e5bb5\"", ">below the limit<", NULL});
}

/* An operation is 0.7265625 pixels wide, so two operations share a column. */
T_TEST(a_long_history_is_drawn_in_cells)
{
    struct tts_addrmap *map = new_map(2000, 0);
    for (int i = 0; i < 320; i++)
        add(map, TTS_ADDRMAP_NOTHING, 0, 0);
    add(map, TTS_ADDRMAP_TAKEN, 0, 1005); /* a hundred rows, and half of the next one */
    for (int i = 0; i < 639; i++)
        add(map, TTS_ADDRMAP_NOTHING, 0, 0);
    add(map, TTS_ADDRMAP_GIVEN, 0, 1005);
    for (int i = 0; i < 119; i++)
        add(map, TTS_ADDRMAP_NOTHING, 0, 0);
    add(map, TTS_ADDRMAP_TAKEN, 0, 10); /* the first row again */
    for (int i = 0; i < 198; i++)
        add(map, TTS_ADDRMAP_NOTHING, 0, 0);
    add(map, TTS_ADDRMAP_FAILED, 0, 1999);
    expect_parts(
        draw(map, "x"),
        (const char *const[]){"scale(1.453125 -2.000000) translate(0 .5)",
                              "stroke=\"#1b5a98\" d=\"M160 0h320m60 0h100M160 1h320M160 2h320",
                              "M160 99h320\"/>", "stroke=\"#a5c8e6\" d=\"M160 100h320\"/>",
                              "stroke=\"#3c80bd\" d=\"\"/>", "taken; darker: more is taken",
                              "1,280 operations", NULL});
}

/* Makes the largest possible drawing: no two neighbours are equal, and there are failed
 * requests of all sizes. */
static struct tts_addrmap *noise(uint64_t seed)
{
    struct tts_addrmap *map = new_map(TTS_SPACE_MAX_BYTES, UINT64_C(1) << 63);
    map->operations = UINT64_C(1) << 40;
    map->span = map->operations / TTS_ADDRMAP_COLUMNS + 1;
    map->column_count = TTS_ADDRMAP_COLUMNS;
    map->has_detail = false;
    map->counts = (struct tts_addrmap_counts){1, 1, UINT64_MAX / 4, UINT64_MAX / 4, 1, 1};
    for (size_t i = 0; i < TTS_ADDRMAP_COLUMNS; i++) {
        struct tts_addrmap_column *column = &map->columns[i];
        for (size_t row = 0; row < TTS_ADDRMAP_ROWS; row++)
            column->cover[row] = (uint16_t)t_random(&seed);
        column->free_bytes = t_random(&seed) % TTS_SPACE_MAX_BYTES;
        column->largest_bytes = column->free_bytes / 2;
        column->cut_bytes = t_random(&seed) % TTS_SPACE_MAX_BYTES;
        column->fragmented = column->exhausted = map->span / 2;
        column->fragmented_sizes = UINT64_C(0x5555555555555555);
        column->exhausted_sizes = ~column->fragmented_sizes;
    }
    return map;
}

T_TEST(the_worst_drawing_has_a_bounded_size_and_is_always_the_same)
{
    char *a = draw(noise(11), "noise"), *b = draw(noise(11), "noise");
    T_STR_EQ(a, b);
    T_TRUE(strlen(a) > 500000 && strlen(a) < 2000000);
    free(a);
    free(b);
}
