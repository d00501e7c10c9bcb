#include "analysis/live/livedelta.h"
#include "base/number.h"
#include "views/live/answers_view.h"
#include "views/live/live_view.h"
#include "views/live/live_words.h"
#include "views/textroom.h"

#include <inttypes.h>
#include <string.h>

enum { WIDE_COLUMNS = 100, NARROW_COLUMNS = 80, CELL_MAX = 64, COUNT_MAX = 24 };

/* Widths of the columns; one blank separates columns. Nothing is written after `total`. */
struct table_layout {
    int rule, device, buffers, bytes, total;
};

static struct table_layout choose_layout(unsigned columns)
{
    if (columns >= WIDE_COLUMNS)
        return (struct table_layout){WIDE_COLUMNS, 8, 10, 15, 16};
    return (struct table_layout){NARROW_COLUMNS, 6, 8, 12, 12};
}

static void put_table_rule(const struct table_layout *layout, FILE *out)
{
    for (int i = 0; i < layout->rule; i++)
        fputc('=', out);
    fputc('\n', out);
}

static void put_table_head(const struct tts_liveview *view, const struct table_layout *layout,
                           FILE *out)
{
    char time[TTS_LIVETEXT_TIME_MAX];
    fprintf(out, "%sMemory Usage Monitor (Update #%" PRIu64 ")\n   Timestamp: %s\n\n",
            view->is_utf8 ? "\U0001F4CA " : "", view->update,
            tts_livetime_text(time, view->frame->time_ns));
    put_table_rule(layout, out);
    fprintf(out, "%-*s %-*s ", layout->device, "Device", layout->buffers, "Buffers");
    for (size_t i = 0; i < TTS_POOLS; i++)
        fprintf(out, "%-*s ", layout->bytes, tts_pool_name((enum tts_pool)i));
    fputs("Total\n", out);
    put_table_rule(layout, out);
}

/* ---- the row of a device ---- */

/* Writes a text and blanks up to `width`. */
static void put_padded(FILE *out, const char *text, int width)
{
    int len = (int)strlen(text);
    fwrite(text, 1, (size_t)len, out);
    for (; len < width; len++)
        fputc(' ', out);
}

/* Writes a number with two decimals in at least six columns, and its unit. */
static const char *format_mb_cell(char out[CELL_MAX], const char *number)
{
    struct tts_textroom room = tts_textroom_of(out, CELL_MAX);
    size_t len = strlen(number);
    tts_textroom_bytes(&room, "      ", len < 6 ? 6 - len : 0);
    tts_textroom_bytes(&room, number, len);
    tts_textroom_put(&room, " MB");
    return out;
}

/* Writes `sign`, and bytes in the smallest unit above MB in which the cell has at most `width`
 * columns. */
static const char *format_large_cell(char out[CELL_MAX], const char *sign, uint64_t bytes,
                                     int width)
{
    static const char *const units[] = {" GB", " TB", " PB", " EB"};
    char number[TTS_NUMBER_BYTES_MAX];
    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++) {
        struct tts_textroom room = tts_textroom_of(out, CELL_MAX);
        tts_textroom_put(&room, sign);
        tts_textroom_put(&room, tts_number_format_shifted(number, bytes, 30 + 10 * i));
        tts_textroom_put(&room, units[i]);
        if (strlen(out) <= (size_t)width)
            break;
    }
    return out;
}

/* Returns "%6.2f MB", a larger unit if this is wider than the cell, or "unknown". */
static const char *format_mb(char out[CELL_MAX], bool is_known, uint64_t bytes, int width)
{
    char number[TTS_NUMBER_BYTES_MAX];
    if (!is_known)
        return "unknown";
    format_mb_cell(out, tts_number_format_shifted(number, bytes, 20));
    return strlen(out) <= (size_t)width ? out : format_large_cell(out, "", bytes, width);
}

/* Writes a number, in thousands, millions and so on if it is wider than the cell. */
static const char *format_count(char out[COUNT_MAX], uint64_t count, int width)
{
    static const char suffixes[] = "KMGTPE";
    size_t power = 0;
    snprintf(out, COUNT_MAX, "%" PRIu64, count);
    for (; strlen(out) > (size_t)width && power < sizeof suffixes - 1; power++) {
        count /= 1000;
        snprintf(out, COUNT_MAX, "%" PRIu64 "%c", count, suffixes[power]);
    }
    return out;
}

static void put_device_row(const struct tts_livedevice *device,
                           const struct table_layout *layout, FILE *out)
{
    char cell[CELL_MAX];
    struct tts_textroom room = tts_textroom_of(cell, sizeof cell);
    uint64_t sum = 0;
    tts_textroom_number(&room, device->index);
    put_padded(out, cell, layout->device + 1);
    put_padded(out,
               tts_livedevice_buffers(device, &sum) ? format_count(cell, sum, layout->buffers)
                                                    : "unknown",
               layout->buffers);
    fputc(' ', out);
    for (size_t i = 0; i < TTS_POOLS; i++) {
        put_padded(out,
                   format_mb(cell, device->pools[i].allocated_known,
                             device->pools[i].allocated_bytes, layout->bytes),
                   layout->bytes);
        fputc(' ', out);
    }
    bool is_known = tts_livedevice_sum(device, &sum);
    fputs(format_mb(cell, is_known, sum, layout->total), out);
    fputc('\n', out);
}

/* ---- the row of changes ---- */

static const char *change_color(bool is_known, int64_t change)
{
    if (!is_known || change == 0)
        return "\033[90m";
    return change > 0 ? "\033[33m" : "\033[32m";
}

/* Writes a cell and the blanks up to `width`. The colour does not count. */
static void put_change(const struct tts_liveview *view, const char *text, const char *color,
                       int width, FILE *out)
{
    if (view->has_color)
        fputs(color, out);
    put_padded(out, text, width);
    if (view->has_color)
        fputs("\033[0m", out);
}

/* Returns the change with its sign, in at most `width` columns, or "unknown". */
static const char *format_change(char out[CELL_MAX], bool is_known, int64_t change, int width)
{
    char number[TTS_NUMBER_MB_MAX];
    if (!is_known)
        return "unknown";
    format_mb_cell(out, tts_number_format_mb(number, change, true));
    if (strlen(out) <= (size_t)width)
        return out;
    uint64_t size = change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
    return format_large_cell(out, change < 0 ? "-" : "+", size, width);
}

static void put_delta_row(const struct tts_liveview *view, const struct tts_livedevice *device,
                          const struct table_layout *layout, FILE *out)
{
    struct tts_livedelta delta;
    char cell[CELL_MAX] = "unknown";
    tts_livedelta_of(view->before, device, &delta);
    /* The Greek letter has two bytes and one column. */
    fputs(view->is_utf8 ? "(\u0394)" : "(d)", out);
    put_padded(out, "", layout->device - 3 + 1);
    if (delta.buffers_known) {
        uint64_t buffers =
            delta.buffers < 0 ? 0 - (uint64_t)delta.buffers : (uint64_t)delta.buffers;
        cell[0] = delta.buffers < 0 ? '-' : '+';
        format_count(cell + 1, buffers, layout->buffers - 1);
    }
    put_change(view, cell, change_color(delta.buffers_known, delta.buffers), layout->buffers,
               out);
    fputc(' ', out);
    for (size_t i = 0; i < TTS_POOLS; i++) {
        bool is_known = delta.allocated_known[i];
        int64_t change = delta.allocated_bytes[i];
        put_change(view, format_change(cell, is_known, change, layout->bytes),
                   change_color(is_known, change), layout->bytes, out);
        fputc(' ', out);
    }
    put_change(view, format_change(cell, delta.sum_known, delta.sum_bytes, layout->total),
               change_color(delta.sum_known, delta.sum_bytes), 0, out);
    fputc('\n', out);
}

static void put_tips(const struct tts_liveview *view, FILE *out)
{
    fprintf(out, "\n%sTips:\n", view->is_utf8 ? "\U0001F4A1 " : "");
    fprintf(out, "   - %s (delta) shows changes since last update\n",
            view->is_utf8 ? "\u0394" : "(d)");
    fputs("   - Large TRACE allocations = trace capture phase\n"
          "   - Small L1 allocations = kernel/firmware loading\n"
          "   - Steady state = trace execution (no new allocations)\n",
          out);
}

void tts_liveview_table(const struct tts_liveview *view, FILE *out)
{
    const struct tts_liveframe *frame = view->frame;
    struct table_layout layout = choose_layout(view->columns);
    put_table_head(view, &layout, out);
    for (size_t i = 0; i < frame->device_count; i++) {
        put_device_row(&frame->devices[i], &layout, out);
        if (view->has_delta && view->before)
            put_delta_row(view, &frame->devices[i], &layout, out);
    }
    put_table_rule(&layout, out);
    for (size_t i = 0; i < frame->device_count; i++)
        tts_liveanswers_update(view, &frame->devices[i], out);
    if (view->has_tips)
        put_tips(view, out);
    tts_livenotes_put(
        view, TTS_LIVENOTES_DEVICES | TTS_LIVENOTES_STRAYS | TTS_LIVENOTES_ANSWERS, out);
}
