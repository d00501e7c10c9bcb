/* failview_svg.c: a failure as a picture: bars to one scale, and below each row the names of
 * its bars. A message about a bank has amounts only, so its bars show amounts. A message about
 * a core or a trace has addresses. */
#include "base/number.h"
#include "views/chart/textwidth.h"
#include "views/failure/failview.h"
#include "views/svg.h"

#include <assert.h>
#include <string.h>

#define PX(n) ((int64_t)(n)*TTS_SVG_PX)

enum {
    PAGE_W = 960,
    MARGIN = 20,
    BAR_X = 150,
    BAR_W = 770,
    BAR_H = 46,
    BAR_W_MIN = 3, /* a bar of few bytes can still be seen */
    SWATCH = 10,
    LEGEND_GAP = 22, /* between two names in a line */
    LINE_H = 18,
    ROW_GAP = 24,
    HEAD_SIZE = 15,
    HEAD_LINE_H = 22,
    TEXT_SIZE = 12,
    BARS_MAX = 6,
    ROWS_MAX = 3,
    LABEL_MAX = 96,
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
    bool is_open; /* its real end is unknown: no amount is shown */
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
        row->bars[row->count++] = (struct fail_bar){from, to, color, label, false};
}

/* Adds a bar that ends where the picture ends. */
static void add_open_bar(struct fail_row *row, const struct fail_picture *picture,
                         uint64_t from, const char *color, const char *label)
{
    size_t count = row->count;
    add_bar(row, from, picture->scale, color, label);
    if (row->count > count)
        row->bars[count].is_open = true;
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
    bool is_whole = bank > 0 && tts_failmsg_has(view->msg, TTS_FAILMSG_FREE) &&
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
    if (bank == 0)
        top->bars[top->count++] = (struct fail_bar){0, 0, COLOR_FREE, "bank", false};
    uint64_t room = view->verdict->has_deficit ? need - view->verdict->deficit_bytes : need;
    add_bar(low, 0, room, COLOR_REQUEST, room < need ? "request: has room" : "request");
    add_bar(low, room, need, COLOR_MISSING, "request: missing");
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
    bool is_dfb =
        view->msg->family == TTS_FAILMSG_DFB || view->msg->family == TTS_FAILMSG_DFBMAX;
    struct fail_row *top = &picture->rows[0], *low = &picture->rows[1];
    uint64_t border = is_clash ? address : limit;
    picture->row_count = 2;
    picture->scale = is_clash ? end + end / 8 : end;
    picture->note = "the L1 of one core by address, from 0";
    low->title = !is_clash                              ? "L1"
                 : view->msg->family == TTS_FAILMSG_SVC ? "service memory"
                                                        : "L1 buffers";
    top->title = "program";
    if (v->has_base)
        add_bar(top, 0, v->l1_base, COLOR_FREE, "reserved");
    add_bar(top, v->has_base ? v->l1_base : 0, border, COLOR_REQUEST,
            v->has_base ? "circular buffers"
            : is_dfb    ? "reserved and dataflow buffers"
                        : "reserved and circular buffers");
    add_bar(top, border, end, COLOR_MISSING, is_clash ? "overlap" : "beyond L1");
    if (is_clash)
        add_open_bar(low, picture, address, COLOR_L1,
                     view->msg->family == TTS_FAILMSG_SVC ? "service allocations"
                                                          : "L1 buffers, from the lowest on");
    else
        add_bar(low, 0, limit, COLOR_PIECE, "all of L1");
    return true;
}

/* A number that is larger than its bound. */
static bool plan_excess(const struct tts_failview *view, struct fail_picture *picture)
{
    const uint64_t *msg_values = view->msg->value;
    bool is_trace = view->msg->family == TTS_FAILMSG_TRACE;
    uint64_t bound = msg_values[TTS_FAILMSG_LIMIT];
    uint64_t value = msg_values[is_trace ? TTS_FAILMSG_REQUESTED : TTS_FAILMSG_SIZE];
    if (!view->verdict->has_deficit)
        return false;
    struct fail_row *top = &picture->rows[0], *low = &picture->rows[1];
    bool is_kernels = view->msg->family == TTS_FAILMSG_RING;
    picture->row_count = 2;
    picture->scale = value;
    picture->note = is_trace ? "amounts of the whole chip" : "amounts of one core";
    top->title = "needed";
    low->title = "available";
    add_bar(top, 0, bound, COLOR_REQUEST,
            is_trace     ? "traces: have room"
            : is_kernels ? "kernels: have room"
                         : "ring: has room");
    add_bar(top, bound, value, COLOR_MISSING, "missing");
    add_bar(low, 0, bound, COLOR_PIECE,
            is_trace     ? "trace region"
            : is_kernels ? "kernel-config ring"
                         : "L1 for dataflow buffers");
    return true;
}

/* A trace that begins below the end of DRAM in use. */
static bool plan_overlap(const struct tts_failview *view, struct fail_picture *picture)
{
    uint64_t begin = view->msg->value[TTS_FAILMSG_ADDRESS];
    if (!view->verdict->has_deficit)
        return false;
    uint64_t end = begin + view->verdict->deficit_bytes;
    struct fail_row *top = &picture->rows[0], *low = &picture->rows[1];
    picture->row_count = 2;
    picture->scale = end + view->verdict->deficit_bytes;
    picture->note = "one DRAM bank by address, from 0";
    top->title = "DRAM in use";
    low->title = "trace";
    add_bar(top, 0, begin, COLOR_TAKEN, "DRAM that was used");
    add_bar(top, begin, end, COLOR_MISSING, "overlap");
    add_open_bar(low, picture, begin, COLOR_REQUEST, "trace (its end is not in the message)");
    return true;
}

/* An L1 buffer that begins below a limit. */
static bool plan_limit(const struct tts_failview *view, struct fail_picture *picture)
{
    uint64_t begin = view->msg->value[TTS_FAILMSG_ADDRESS];
    uint64_t limit = view->msg->value[TTS_FAILMSG_LIMIT];
    if (!view->verdict->has_deficit)
        return false;
    struct fail_row *top = &picture->rows[0], *low = &picture->rows[1];
    picture->row_count = 2;
    picture->scale = limit + limit / 8;
    picture->note = "the L1 of one core by address, from 0; its end is not in the message";
    top->title = "L1 buffer";
    low->title = "L1";
    add_bar(top, begin, limit, COLOR_MISSING, "below the limit");
    add_open_bar(top, picture, limit, COLOR_REQUEST, "rest of the buffer");
    add_bar(low, 0, limit, COLOR_TAKEN, "not for interleaved buffers");
    add_open_bar(low, picture, limit, COLOR_PIECE, "for interleaved buffers");
    return true;
}

static bool plan_rows(const struct tts_failview *view, struct fail_picture *picture)
{
    if (view->msg->family <= TTS_FAILMSG_D2)
        return plan_bank(view, picture);
    if (tts_failmsg_has(view->msg, TTS_FAILMSG_END))
        return plan_core(view, picture);
    switch (view->verdict->cause) {
    case TTS_FAILCAUSE_TRACE_OVERLAP:
        return plan_overlap(view, picture);
    case TTS_FAILCAUSE_BELOW_LIMIT:
        return plan_limit(view, picture);
    case TTS_FAILCAUSE_TRACE_REGION:
    case TTS_FAILCAUSE_CONFIG_RING:
    case TTS_FAILCAUSE_BEYOND_L1:
        return plan_excess(view, picture);
    case TTS_FAILCAUSE_UNKNOWN:
    case TTS_FAILCAUSE_NEVER_FITS:
    case TTS_FAILCAUSE_CAPACITY:
    case TTS_FAILCAUSE_FRAGMENTATION:
    case TTS_FAILCAUSE_CLASH:
    case TTS_FAILCAUSE_OTHER:
        break;
    }
    return false;
}

/* Larger numbers are no bytes of a chip. The sum of two still has room on the scale. */
static bool are_numbers_small(const struct tts_failmsg *msg)
{
    for (int i = 0; i < TTS_FAILMSG_FIELDS; i++)
        if (msg->value[i] >= UINT64_C(1) << 44)
            return false;
    return true;
}

static bool plan_picture(const struct tts_failview *view, struct fail_picture *picture)
{
    *picture = (struct fail_picture){0};
    return are_numbers_small(view->msg) && plan_rows(view, picture) && picture->scale > 0;
}

/* ---- drawing ---- */

static int64_t bar_x(const struct fail_picture *picture, uint64_t bytes)
{
    return PX(BAR_X) + (int64_t)(bytes * (uint64_t)PX(BAR_W) / picture->scale);
}

static void draw_bar(FILE *out, const struct fail_picture *picture, const struct fail_bar *bar,
                     int64_t y)
{
    int64_t x = bar_x(picture, bar->from), width = bar_x(picture, bar->to) - x;
    int64_t right = PX(BAR_X + BAR_W);
    char style[48];
    snprintf(style, sizeof style, "fill=\"%s\"", bar->color);
    width = width > PX(BAR_W_MIN) ? width : PX(BAR_W_MIN);
    x = x + width > right ? right - width : x;
    tts_svg_rect(out, (struct tts_svg_box){x, y, width, PX(BAR_H)}, style);
}

/* Writes the names of the bars of a row with their colours, in as many lines as they need.
 * Returns the place below the last line. Draws nothing if `out` is NULL. */
static int64_t draw_legend(FILE *out, const struct fail_row *row, int64_t y)
{
    int64_t x = PX(BAR_X);
    y += PX(LINE_H);
    for (size_t i = 0; i < row->count; i++) {
        const struct fail_bar *bar = &row->bars[i];
        char amount[TTS_NUMBER_BYTES_MAX], label[LABEL_MAX], style[48];
        tts_number_format_bytes(amount, bar->to - bar->from);
        int len = snprintf(label, sizeof label, "%s%s%s", bar->label, bar->is_open ? "" : " ",
                           bar->is_open ? "" : amount);
        int64_t width =
            PX(SWATCH + 6) +
            tts_text_width(label, (size_t)len, (struct tts_font){PX(TEXT_SIZE), false});
        if (x > PX(BAR_X) && x + width > PX(BAR_X + BAR_W)) {
            x = PX(BAR_X);
            y += PX(LINE_H);
        }
        if (out) {
            snprintf(style, sizeof style, "fill=\"%s\"", bar->color);
            tts_svg_rect(out, (struct tts_svg_box){x, y - PX(SWATCH), PX(SWATCH), PX(SWATCH)},
                         style);
            tts_svg_text(out, (struct tts_svg_point){x + PX(SWATCH + 6), y},
                         "font-size=\"12\" fill=\"" COLOR_INK "\"", "%s", label);
        }
        x += width + PX(LEGEND_GAP);
    }
    return y;
}

/* Returns the place below the row. Draws nothing if `out` is NULL. */
static int64_t draw_row(FILE *out, const struct fail_picture *picture, size_t idx, int64_t y)
{
    const struct fail_row *row = &picture->rows[idx];
    if (out)
        tts_svg_text(out, (struct tts_svg_point){PX(MARGIN), y + PX(BAR_H / 2 + 5)},
                     "font-size=\"13\" fill=\"" COLOR_SOFT "\"", "%s", row->title);
    for (size_t i = 0; i < row->count && out; i++)
        draw_bar(out, picture, &row->bars[i], y);
    return draw_legend(out, row, y + PX(BAR_H)) + PX(ROW_GAP);
}

/* Returns the length of the first line of the text. Lines end at blanks, so that no number is
 * broken. */
static size_t find_head_line(const char *text)
{
    const struct tts_font font = {PX(HEAD_SIZE), true};
    size_t len = strcspn(text, " ");
    for (size_t next = len; text[next] != '\0';) {
        next += 1 + strcspn(text + next + 1, " ");
        if (tts_text_width(text, next, font) > PX(PAGE_W - 2 * MARGIN))
            break;
        len = next;
    }
    return len;
}

/* Writes the answer in as many lines as it needs, and the note about the scale. Returns the
 * place below. Draws nothing if `out` is NULL. */
static int64_t draw_head(FILE *out, const struct fail_picture *picture, const char *answer)
{
    char glued[TTS_FAILVIEW_LINE_MAX];
    int64_t y = PX(14);
    snprintf(glued, sizeof glued, "%s", answer);
    tts_failview_glue(glued); /* as long as the answer */
    for (size_t at = 0; glued[at] != '\0';) {
        size_t len = find_head_line(glued + at);
        y += PX(HEAD_LINE_H);
        if (out)
            tts_svg_text(out, (struct tts_svg_point){PX(MARGIN), y},
                         "font-size=\"15\" font-weight=\"bold\" fill=\"" COLOR_INK "\"", "%.*s",
                         (int)len, answer + at);
        at += len + (glued[at + len] == ' ');
    }
    y += PX(HEAD_LINE_H);
    if (out)
        tts_svg_text(out, (struct tts_svg_point){PX(MARGIN), y},
                     "font-size=\"12\" fill=\"" COLOR_SOFT "\"", "%s", picture->note);
    return y + PX(ROW_GAP);
}

/* Draws the head and the rows. Returns the height. Draws nothing if `out` is NULL. */
static int64_t draw_all(FILE *out, const struct fail_picture *picture, const char *answer)
{
    int64_t y = draw_head(out, picture, answer);
    for (size_t i = 0; i < picture->row_count; i++)
        y = draw_row(out, picture, i, y);
    return y;
}

bool tts_failview_svg(const struct tts_failview *view, FILE *out)
{
    struct fail_picture picture;
    char text[TTS_FAILVIEW_LINE_MAX];
    if (!plan_picture(view, &picture))
        return false;
    tts_failview_headline(text, view);
    int height = (int)(draw_all(NULL, &picture, text) / TTS_SVG_PX);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\" font-family=\"'DejaVu Sans',Verdana,sans-serif\">\n"
            "<title>",
            PAGE_W, height, PAGE_W, height);
    tts_svg_escape(out, text);
    fputs("</title>\n", out);
    tts_svg_rect(out, (struct tts_svg_box){0, 0, PX(PAGE_W), PX(height)}, "fill=\"#fff\"");
    draw_all(out, &picture, text);
    fputs("</svg>\n", out);
    return true;
}
