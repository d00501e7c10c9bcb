#include "views/map/l1map.h"

#include "base/number.h"
#include "views/percent.h"
#include "views/svg.h"

#include <assert.h>
#include <inttypes.h>

#define PX(n) ((int64_t)(n)*TTS_SVG_PX)

enum {
    PAGE_W = 1060,
    PAGE_H = 730,
    PLOT_Y = 132,
    PLOT_H = 560,
    MAIN_X = 285, /* the whole L1 */
    MAIN_W = 150,
    DETAIL_X = 555, /* the lowest parts of L1, enlarged */
    DETAIL_W = 90,
    TINY_H = 18,    /* lower parts have no space for a label */
    LABEL_H = 34,   /* height of a label on the left, which has two lines */
    ENTRY_H = 21,   /* height of a label on the right, which has one line */
    ARROWS_H = 130, /* lower parts have no space for the words about growth */
};

#define COLOR_INK "#1b2733"
#define COLOR_SOFT "#5a6673"
#define COLOR_FRAME "#c3ccd6"
#define COLOR_LEADER "#8d99a6"
#define COLOR_FREE "#edf1f5"
#define COLOR_RING "#3c80bd"
#define COLOR_SMALL "#8e5bb5"
#define COLOR_UP "#58a182"
#define COLOR_DOWN "#e08a00"

/* A stack of parts to scale, drawn from the bottom of the plot upwards. */
struct stack {
    const struct tts_l1_part *parts;
    size_t count;
    uint64_t bytes;
    int64_t x, width;
};

static int64_t l1_height(const struct stack *stack, uint64_t bytes)
{
    assert(bytes <= stack->bytes && stack->bytes <= UINT64_C(1) << 46);
    return (int64_t)(bytes * (uint64_t)PX(PLOT_H) / stack->bytes);
}

static int64_t l1_y(const struct stack *stack, uint64_t address)
{
    return PX(PLOT_Y + PLOT_H) - l1_height(stack, address);
}

enum { SIZE_MAX_BYTES = TTS_NUMBER_BYTES_MAX };

/* Writes "512 B", "69 KiB" or "13.11 KiB". A core has too little memory for larger units. */
static const char *format_kib(char out[SIZE_MAX_BYTES], uint64_t bytes)
{
    uint64_t hundredths = (bytes * 100 + 512) / 1024, part = hundredths % 100;
    if (bytes < 1024 || bytes >= UINT64_C(1) << 30)
        return tts_number_format_bytes(out, bytes);
    if (part == 0)
        snprintf(out, SIZE_MAX_BYTES, "%" PRIu64 " KiB", hundredths / 100);
    else
        snprintf(out, SIZE_MAX_BYTES, "%" PRIu64 ".%02" PRIu64 " KiB", hundredths / 100, part);
    return out;
}

/* ---- labels that make room for each other ---- */

struct label {
    int64_t target, y; /* y of the part, and y of the label */
};

/* Moves labels apart, from the lowest to the highest, each as near to its target as
 * possible. */
static void spread_l1_labels(struct label *labels, size_t count, int64_t apart)
{
    int64_t top = PX(PLOT_Y) + apart / 2, bottom = PX(PLOT_Y + PLOT_H) - apart / 2;
    for (size_t i = 0; i < count; i++) {
        int64_t limit = i == 0 ? bottom : labels[i - 1].y - apart;
        labels[i].y = labels[i].target < limit ? labels[i].target : limit;
    }
    for (size_t i = count; i-- > 0;) {
        int64_t limit = i + 1 == count ? top : labels[i + 1].y + apart;
        labels[i].y = labels[i].y > limit ? labels[i].y : limit;
    }
}

/* Draws a line from a part to its label: level, slanted, level. */
static void draw_l1_leader(FILE *out, int64_t x, int64_t dx, const struct label *label)
{
    const int64_t points[4][2] = {{x, label->target},
                                  {x + dx / 4, label->target},
                                  {x + dx * 3 / 4, label->y},
                                  {x + dx, label->y}};
    fputs("<polyline fill=\"none\" stroke=\"" COLOR_LEADER "\" stroke-width=\"0.8\" points=\"",
          out);
    for (size_t i = 0; i < 4; i++) {
        tts_svg_length(out, points[i][0]);
        fputc(',', out);
        tts_svg_length(out, points[i][1]);
        fputs(i < 3 ? " " : "\"/>\n", out);
    }
}

/* ---- the two stacks ---- */

/* Draws a part at least half a pixel high, so that it can be seen. */
static void draw_l1_part(FILE *out, const struct stack *stack, const struct tts_l1_part *part,
                         const char *color)
{
    char style[64];
    int64_t y = l1_y(stack, part->end), height = l1_y(stack, part->start) - y;
    snprintf(style, sizeof style, "fill=\"%s\"%s", color,
             height >= PX(3) ? " stroke=\"#fff\" stroke-width=\"0.8\"" : "");
    struct tts_svg_box box = {stack->x, y, stack->width, height > 50 ? height : 50};
    tts_svg_rect(out, box, style);
}

static void draw_l1_frame(FILE *out, const struct stack *stack)
{
    struct tts_svg_box box = {stack->x, PX(PLOT_Y), stack->width, PX(PLOT_H)};
    tts_svg_rect(out, box, "fill=\"none\" stroke=\"" COLOR_LEADER "\"");
}

/* Returns the index of the part that circular buffers and L1 buffers share, or `count`. */
static size_t shared_l1_part(const struct stack *whole)
{
    size_t idx = 0;
    while (idx < whole->count && !whole->parts[idx].grows)
        idx++;
    return idx;
}

/* Returns the colour of a low part. The ring below the buffers has a colour of its own, the
 * others are shades. */
static const char *low_part_color(const struct stack *whole, size_t idx)
{
    static const char *const colors[] = {"#5a6673", "#8d99a6", "#b4bec9"};
    if (idx > 0 && idx + 1 == shared_l1_part(whole))
        return COLOR_RING;
    return colors[idx % (sizeof colors / sizeof colors[0])];
}

/* Returns how many parts at the bottom are enlarged: all up to the last part that is too
 * small. */
static size_t count_detail(const struct stack *whole)
{
    size_t shared = shared_l1_part(whole), count = 0;
    for (size_t i = 0; i < shared; i++) {
        const struct tts_l1_part *part = &whole->parts[i];
        if (l1_height(whole, part->end - part->start) < PX(TINY_H))
            count = i + 1;
    }
    return count > 1 ? count : 0;
}

static void draw_l1_whole(FILE *out, const struct stack *whole)
{
    size_t shared = shared_l1_part(whole);
    for (size_t i = 0; i < whole->count; i++) {
        const char *color = i < shared    ? low_part_color(whole, i)
                            : i == shared ? COLOR_FREE
                                          : COLOR_SMALL;
        draw_l1_part(out, whole, &whole->parts[i], color);
    }
    draw_l1_frame(out, whole);
}

/* ---- the part that grows ---- */

static void draw_growth_arrow(FILE *out, int64_t from, int64_t to, const char *color)
{
    int64_t x = PX(MAIN_X + MAIN_W / 2), head = to < from ? PX(10) : -PX(10);
    fputs("<path fill=\"none\" stroke-width=\"3\" stroke=\"", out);
    fprintf(out, "%s\" d=\"M", color);
    tts_svg_length(out, x);
    fputc(' ', out);
    tts_svg_length(out, from);
    fputc('V', out);
    tts_svg_length(out, to);
    fputs("m-8 ", out);
    tts_svg_length(out, head);
    fputs("L", out);
    tts_svg_length(out, x);
    fputc(' ', out);
    tts_svg_length(out, to);
    fputs("l8 ", out);
    tts_svg_length(out, head);
    fputs("\"/>\n", out);
}

static void draw_l1_growth(FILE *out, const struct stack *whole)
{
    size_t shared = shared_l1_part(whole);
    if (shared == whole->count)
        return;
    int64_t bottom = l1_y(whole, whole->parts[shared].start);
    int64_t top = l1_y(whole, whole->parts[shared].end), x = PX(MAIN_X + MAIN_W / 2);
    if (bottom - top < PX(ARROWS_H))
        return;
    const char *style = "text-anchor=\"middle\" font-size=\"12\"";
    tts_svg_text(out, (struct tts_svg_point){x, bottom - PX(10)}, style, "circular buffers");
    draw_growth_arrow(out, bottom - PX(26), bottom - PX(54), COLOR_UP);
    tts_svg_text(out, (struct tts_svg_point){x, top + PX(19)}, style, "L1 buffers");
    draw_growth_arrow(out, top + PX(26), top + PX(54), COLOR_DOWN);
}

/* ---- words ---- */

static void draw_l1_label(FILE *out, const struct label *label, const struct tts_l1_part *part)
{
    char size[SIZE_MAX_BYTES];
    int64_t x = PX(MAIN_X - 36);
    draw_l1_leader(out, PX(MAIN_X), -PX(30), label);
    tts_svg_text(out, (struct tts_svg_point){x, label->y - PX(2)},
                 "text-anchor=\"end\" font-weight=\"600\"", "%s", part->name);
    tts_svg_text(out, (struct tts_svg_point){x, label->y + PX(13)},
                 "text-anchor=\"end\" font-size=\"11.5\" fill=\"" COLOR_SOFT "\"",
                 "%s, %" PRIu64 " to %" PRIu64, format_kib(size, part->end - part->start),
                 part->start, part->end);
}

/* Draws the labels on the left. The enlarged parts share one label. */
static void draw_l1_labels(FILE *out, const struct stack *whole, size_t detailed)
{
    struct tts_l1_part named[TTS_L1_PARTS_MAX + 1];
    struct label labels[TTS_L1_PARTS_MAX + 1];
    size_t count = 0;
    if (detailed > 0)
        named[count++] =
            (struct tts_l1_part){"lowest parts", 0, whole->parts[detailed - 1].end, false};
    for (size_t i = detailed; i < whole->count; i++) {
        named[count] = whole->parts[i];
        if (named[count].grows)
            named[count].name = "shared by buffers";
        count++;
    }
    for (size_t i = 0; i < count; i++)
        labels[i].target = (l1_y(whole, named[i].start) + l1_y(whole, named[i].end)) / 2;
    spread_l1_labels(labels, count, PX(LABEL_H));
    for (size_t i = 0; i < count; i++)
        draw_l1_label(out, &labels[i], &named[i]);
}

static void draw_l1_entry(FILE *out, const struct label *label, const struct tts_l1_part *part)
{
    char size[SIZE_MAX_BYTES];
    int64_t x = PX(DETAIL_X + DETAIL_W + 46), y = label->y + PX(4);
    tts_svg_text(out, (struct tts_svg_point){x, y}, "", "%s", part->name);
    tts_svg_text(out, (struct tts_svg_point){x + PX(212), y},
                 "text-anchor=\"end\" font-weight=\"600\"", "%s",
                 format_kib(size, part->end - part->start));
    tts_svg_text(out, (struct tts_svg_point){x + PX(345), y},
                 "text-anchor=\"end\" font-size=\"11.5\" fill=\"" COLOR_SOFT "\"",
                 "%" PRIu64 " to %" PRIu64, part->start, part->end);
}

/* Draws the lines from the low parts to their enlargement. */
static void draw_l1_wedge(FILE *out, const struct stack *whole, const struct stack *detail)
{
    int64_t left = whole->x + whole->width;
    fputs("<path fill=\"#f6f8fa\" stroke=\"" COLOR_FRAME "\" stroke-dasharray=\"4 3\" d=\"M",
          out);
    tts_svg_length(out, left);
    fputc(' ', out);
    tts_svg_length(out, l1_y(whole, detail->bytes));
    fputc('L', out);
    tts_svg_length(out, detail->x);
    fprintf(out, " %dV%dH", PLOT_Y, PLOT_Y + PLOT_H);
    tts_svg_length(out, left);
    fputs("z\"/>\n", out);
}

static void draw_l1_detail(FILE *out, const struct stack *whole, size_t detailed)
{
    struct label labels[TTS_L1_PARTS_MAX];
    char size[SIZE_MAX_BYTES];
    struct stack detail = {whole->parts, detailed, whole->parts[detailed - 1].end, PX(DETAIL_X),
                           PX(DETAIL_W)};
    draw_l1_wedge(out, whole, &detail);
    for (size_t i = 0; i < detailed; i++) {
        const struct tts_l1_part *part = &detail.parts[i];
        draw_l1_part(out, &detail, part, low_part_color(whole, i));
        labels[i].target = (l1_y(&detail, part->start) + l1_y(&detail, part->end)) / 2;
    }
    draw_l1_frame(out, &detail);
    spread_l1_labels(labels, detailed, PX(ENTRY_H));
    for (size_t i = 0; i < detailed; i++) {
        draw_l1_leader(out, detail.x + detail.width, PX(40), &labels[i]);
        draw_l1_entry(out, &labels[i], &detail.parts[i]);
    }
    tts_svg_text(out, (struct tts_svg_point){detail.x, PX(PLOT_Y - 10)},
                 "font-size=\"11.5\" fill=\"" COLOR_SOFT "\"", "the lowest %s, enlarged",
                 format_kib(size, detail.bytes));
}

static void draw_l1_title(FILE *out, const struct tts_chip *chip, const struct stack *whole)
{
    char size[SIZE_MAX_BYTES], room[SIZE_MAX_BYTES], share[TTS_PERCENT_MAX];
    size_t idx = shared_l1_part(whole);
    tts_svg_text(out, (struct tts_svg_point){PX(24), PX(40)},
                 "font-size=\"21\" font-weight=\"600\"", "L1 of a core of %.*s",
                 TTS_CHIP_NAME_MAX, chip->name);
    tts_svg_text(out, (struct tts_svg_point){PX(24), PX(63)}, "fill=\"" COLOR_SOFT "\"",
                 "%s  ·  %s (%" PRIu64 " bytes)  ·  addresses go up, to scale",
                 tts_arch_name(chip->arch), format_kib(size, whole->bytes), whole->bytes);
    if (idx == whole->count)
        return;
    uint64_t bytes = whole->parts[idx].end - whole->parts[idx].start;
    tts_svg_text(out, (struct tts_svg_point){PX(24), PX(92)},
                 "font-size=\"15\" font-weight=\"600\"",
                 "%s (%s) is shared: circular buffers grow up, L1 buffers grow down.",
                 format_kib(room, bytes), tts_percent_format(share, bytes, whole->bytes));
}

static void open_l1_page(FILE *out, const struct tts_chip *chip)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" style=\"max-width:100%%;height:auto\" role=\"img\" "
            "font-size=\"12.5\" fill=\"" COLOR_INK "\" "
            "font-family=\"system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu "
            "Sans',sans-serif\">\n<title>L1 of a core of ",
            PAGE_W, PAGE_H, PAGE_W, PAGE_H);
    tts_svg_escape(out, chip->name);
    fputs("</title>\n", out);
    struct tts_svg_box card = {PX(1) / 2, PX(1) / 2, PX(PAGE_W - 1), PX(PAGE_H - 1)};
    tts_svg_rect(out, card, "rx=\"10\" fill=\"#fff\" stroke=\"" COLOR_FRAME "\"");
}

void tts_l1map_write(const struct tts_chip *chip, const struct tts_l1_part *parts, size_t count,
                     FILE *out)
{
    assert(count > 0 && count <= TTS_L1_PARTS_MAX && parts[0].start == 0);
    struct stack whole = {parts, count, parts[count - 1].end, PX(MAIN_X), PX(MAIN_W)};
    size_t detailed = count_detail(&whole);
    open_l1_page(out, chip);
    draw_l1_title(out, chip, &whole);
    if (detailed > 0)
        draw_l1_detail(out, &whole, detailed);
    draw_l1_whole(out, &whole);
    draw_l1_growth(out, &whole);
    draw_l1_labels(out, &whole, detailed);
    fputs("</svg>\n", out);
}
