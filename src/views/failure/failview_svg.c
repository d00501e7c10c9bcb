/* failview_svg.c: a failure as a picture: bars to one scale. A message about a bank has amounts
 * only, so its bars show amounts. A message about a core has addresses. */
#include "base/number.h"
#include "views/failure/failview.h"
#include "views/svg.h"

#include <assert.h>
#include <inttypes.h>

#define PX(n) ((int64_t)(n)*TTS_SVG_PX)

enum {
    PAGE_W = 960,
    BAR_X = 150,
    BAR_W = 770,
    BAR_H = 46,
    ROW_H = 88,
    FIRST_Y = 96,
    BARS_MAX = 6,
    ROWS_MAX = 3,
};

#define COLOR_INK "#1b2733"
#define COLOR_SOFT "#5a6673"
#define COLOR_TAKEN "#8d99a6"
#define COLOR_FREE "#dfe6ed"
#define COLOR_PIECE "#58a182"
#define COLOR_REQUEST "#3c80bd"
#define COLOR_MISSING "#c8372d"
#define COLOR_L1 "#e08a00"

/* A part of a row: [from, to) on the scale. */
struct fail_bar {
    uint64_t from, to;
    const char *color, *label;
};

struct fail_row {
    const char *title;
    struct fail_bar bars[BARS_MAX];
    size_t count;
};

struct fail_picture {
    struct fail_row rows[ROWS_MAX];
    size_t row_count;
    uint64_t scale; /* the bytes of the whole width */
    const char *note;
};

static void add_bar(struct fail_row *row, uint64_t from, uint64_t to, const char *color,
                    const char *label)
{
    assert(row->count < BARS_MAX);
    if (to > from)
        row->bars[row->count++] = (struct fail_bar){from, to, color, label};
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- what is drawn ---- */

static bool plan_bank(const struct tts_failview *view, struct fail_picture *picture)
{
    const uint64_t *value = view->msg->value;
    uint64_t need = value[TTS_FAILMSG_NEED], bank = value[TTS_FAILMSG_BANK];
    uint64_t allocated = value[TTS_FAILMSG_ALLOCATED], largest = value[TTS_FAILMSG_LARGEST];
    bool is_whole = tts_failmsg_has(view->msg, TTS_FAILMSG_FREE) &&
                    tts_failmsg_has(view->msg, TTS_FAILMSG_LARGEST);
    if (!tts_failmsg_has(view->msg, TTS_FAILMSG_NEED) ||
        !tts_failmsg_has(view->msg, TTS_FAILMSG_BANK) || view->verdict->is_contradictory)
        return false;
    struct fail_row *top = &picture->rows[0], *low = &picture->rows[1];
    picture->row_count = 2;
    picture->scale = later(bank, need);
    picture->note = "one bank; the bars show amounts, not addresses";
    top->title = "bank";
    low->title = "request";
    if (is_whole) {
        uint64_t rest = bank - largest;
        add_bar(top, 0, allocated, COLOR_TAKEN, "allocated");
        add_bar(top, allocated, rest, COLOR_FREE, "free, in smaller pieces");
        add_bar(top, rest, bank, COLOR_PIECE, "largest free piece");
    } else {
        add_bar(top, 0, bank, COLOR_FREE, "bank (its use is not in the message)");
    }
    uint64_t room = view->verdict->has_deficit ? need - view->verdict->deficit_bytes : need;
    add_bar(low, 0, room, COLOR_REQUEST, "request");
    add_bar(low, room, need, COLOR_MISSING, "missing");
    return true;
}

static bool plan_core(const struct tts_failview *view, struct fail_picture *picture)
{
    const struct tts_failverdict *v = view->verdict;
    const uint64_t *value = view->msg->value;
    uint64_t end = value[TTS_FAILMSG_END], address = value[TTS_FAILMSG_ADDRESS];
    uint64_t limit = value[TTS_FAILMSG_LIMIT];
    if (!v->has_deficit || !tts_failmsg_has(view->msg, TTS_FAILMSG_END))
        return false;
    bool is_clash = v->cause == TTS_FAILCAUSE_CLASH;
    struct fail_row *top = &picture->rows[0], *low = &picture->rows[1];
    uint64_t border = is_clash ? address : limit;
    picture->row_count = 2;
    picture->scale = is_clash ? end + end / 8 : end;
    picture->note = "the L1 of one core by address, from 0";
    low->title = is_clash ? "L1 buffers" : "L1";
    top->title = "buffers of the program";
    if (v->has_base)
        add_bar(top, 0, v->l1_base, COLOR_FREE, "reserved");
    add_bar(top, v->has_base ? v->l1_base : 0, border, COLOR_REQUEST,
            v->has_base ? "circular buffers" : "reserved and circular buffers");
    add_bar(top, border, end, COLOR_MISSING, is_clash ? "overlap" : "beyond L1");
    if (is_clash)
        add_bar(low, address, picture->scale, COLOR_L1, "L1 buffers, from the lowest on");
    else
        add_bar(low, 0, limit, COLOR_PIECE, "all of L1");
    return true;
}

static bool plan_picture(const struct tts_failview *view, struct fail_picture *picture)
{
    *picture = (struct fail_picture){0};
    bool is_bank = view->msg->family <= TTS_FAILMSG_D2;
    bool is_drawn = is_bank ? plan_bank(view, picture) : plan_core(view, picture);
    return is_drawn && picture->scale > 0 && picture->scale < UINT64_C(1) << 46;
}

/* ---- drawing ---- */

static int64_t bar_x(const struct fail_picture *picture, uint64_t bytes)
{
    return PX(BAR_X) + (int64_t)(bytes * (uint64_t)PX(BAR_W) / picture->scale);
}

/* Writes the label of a bar below it. Labels of narrow bars move right to their own line. */
static void draw_bar_label(FILE *out, const struct fail_bar *bar, int64_t x, int64_t y,
                           size_t line)
{
    char amount[TTS_NUMBER_BYTES_MAX];
    struct tts_svg_point at = {x, y + PX(BAR_H + 13 + (int64_t)(line % 2) * 14)};
    tts_svg_text(out, at, "font-size=\"12\" fill=\"" COLOR_INK "\"", "%s %s", bar->label,
                 tts_number_format_bytes(amount, bar->to - bar->from));
}

static void draw_row(FILE *out, const struct fail_picture *picture, size_t idx)
{
    const struct fail_row *row = &picture->rows[idx];
    int64_t y = PX(FIRST_Y + (int64_t)idx * ROW_H);
    tts_svg_text(out, (struct tts_svg_point){PX(20), y + PX(BAR_H / 2 + 5)},
                 "font-size=\"13\" fill=\"" COLOR_SOFT "\"", "%s", row->title);
    for (size_t i = 0; i < row->count; i++) {
        const struct fail_bar *bar = &row->bars[i];
        int64_t x = bar_x(picture, bar->from), width = bar_x(picture, bar->to) - x;
        char style[48];
        snprintf(style, sizeof style, "fill=\"%s\"", bar->color);
        tts_svg_rect(out, (struct tts_svg_box){x, y, width > 100 ? width : 100, PX(BAR_H)},
                     style);
        int64_t text_x = x > PX(PAGE_W - 260) ? PX(PAGE_W - 260) : x;
        draw_bar_label(out, bar, text_x, y, i);
    }
}

bool tts_failview_svg(const struct tts_failview *view, FILE *out)
{
    struct fail_picture picture;
    char text[TTS_FAILVIEW_LINE_MAX];
    if (!plan_picture(view, &picture))
        return false;
    int height = FIRST_Y + (int)picture.row_count * ROW_H + 20;
    tts_failview_headline(text, view);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\" font-family=\"'DejaVu Sans',Verdana,sans-serif\">\n"
            "<title>",
            PAGE_W, height, PAGE_W, height);
    tts_svg_escape(out, text);
    fputs("</title>\n", out);
    tts_svg_rect(out, (struct tts_svg_box){0, 0, PX(PAGE_W), PX(height)}, "fill=\"#fff\"");
    tts_svg_text(out, (struct tts_svg_point){PX(20), PX(36)},
                 "font-size=\"15\" font-weight=\"bold\" fill=\"" COLOR_INK "\"", "%s", text);
    tts_svg_text(out, (struct tts_svg_point){PX(20), PX(60)},
                 "font-size=\"12\" fill=\"" COLOR_SOFT "\"", "%s", picture.note);
    for (size_t i = 0; i < picture.row_count; i++)
        draw_row(out, &picture, i);
    fputs("</svg>\n", out);
    return true;
}
