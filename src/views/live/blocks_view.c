#include "views/live/answers_view.h"
#include "views/live/live_view.h"
#include "views/live/live_words.h"
#include "views/say.h"
#include "views/textroom.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    RULE_COLUMNS = 80,
    TITLE_COLUMNS = 77, /* between the bars of the title line */
    BAR_CELLS = 40,
    BAR_CELL_BYTES = 3,
    LABEL_COLUMNS = 21, /* the values begin in column 25 */
    VALUE_MAX = TTS_LIVETEXT_SIZE_MAX + 32,
};
#define WARN_MILLIONTHS 750000
#define RED_MILLIONTHS 900000

static void put_rule(FILE *out, char mark)
{
    char rule[RULE_COLUMNS + 1];
    memset(rule, mark, RULE_COLUMNS);
    rule[RULE_COLUMNS] = '\n';
    fwrite(rule, 1, sizeof rule, out);
}

static void put_block_header(const struct tts_liveview *view, FILE *out)
{
    static const char title[] = "TT Device Memory Utilization Monitor";
    char time[TTS_LIVETEXT_TIME_MAX];
    int blanks = TITLE_COLUMNS - (int)strlen(title), left = blanks / 2;
    put_rule(out, '=');
    fprintf(out, "|%*s%s%*s|\n", left, "", title, blanks - left, "");
    put_rule(out, '=');
    fprintf(out,
            "Press Ctrl+C to exit\n\nSystem Info:\n  Time: %s\n  Refresh: %" PRIu64
            "ms\n  Devices: %zu\n",
            tts_livetime_text(time, view->frame->time_ns), view->period_ms,
            view->frame->device_count);
}

/* ---- a pool ---- */

static void put_count_row(FILE *out, const char *label, bool is_known, uint32_t count,
                          const char *after)
{
    char line[VALUE_MAX + 64];
    struct tts_textroom room = tts_textroom_of(line, sizeof line);
    tts_textroom_put(&room, "    ");
    tts_textroom_put(&room, label);
    tts_textroom_put(&room, ": ");
    if (is_known)
        tts_textroom_number(&room, count);
    else
        tts_textroom_put(&room, "unknown");
    tts_textroom_put(&room, is_known ? after : "");
    tts_textroom_put(&room, "\n");
    fwrite(line, 1, (size_t)(room.at - line), out);
}

/* `label` has LABEL_COLUMNS columns. */
static void put_value_row(FILE *out, const char *label, const char *value)
{
    assert(strlen(label) == LABEL_COLUMNS);
    fputs("    ", out);
    fputs(label, out);
    fputs(value, out);
    fputc('\n', out);
}

/* Writes a size as "%5.2f MB" does, between `before` and `after`, or "unknown". */
static const char *format_value(char out[VALUE_MAX], bool is_known, uint64_t bytes,
                                const char *before, const char *after)
{
    char size[TTS_LIVETEXT_SIZE_MAX];
    if (!is_known)
        return "unknown";
    tts_livesize_text(size, bytes);
    struct tts_textroom room = tts_textroom_of(out, VALUE_MAX);
    tts_textroom_put(&room, before);
    tts_textroom_put(&room, !before[0] && strchrnul(size, ' ') - size < 5 ? " " : "");
    tts_textroom_put(&room, size);
    tts_textroom_put(&room, after);
    return out;
}

/* Writes the share in parentheses after a blank. Returns "" if allocated is unknown too. */
static const char *format_share(char out[32], const struct tts_livepool *pool)
{
    char percent[TTS_LIVETEXT_PERCENT_MAX];
    uint32_t share;
    if (!pool->allocated_known)
        return "";
    bool is_known = tts_livepool_share(pool, &share);
    struct tts_textroom room = tts_textroom_of(out, 32);
    tts_textroom_put(&room, " (");
    tts_textroom_put(&room, is_known ? tts_livepercent_text(percent, share) : "unknown");
    tts_textroom_put(&room, ")");
    return out;
}

static const char *share_color(uint32_t share)
{
    return share >= RED_MILLIONTHS    ? "\033[31m"
           : share >= WARN_MILLIONTHS ? "\033[33m"
                                      : "\033[32m";
}

static void put_usage(const struct tts_liveview *view, const struct tts_livepool *pool,
                      FILE *out)
{
    char percent[TTS_LIVETEXT_PERCENT_MAX];
    uint32_t share;
    if (!tts_livepool_share(pool, &share)) {
        fputs("    Usage: unknown\n", out);
        return;
    }
    uint64_t cells = (uint64_t)share * BAR_CELLS / 1000000;
    char bar[BAR_CELLS * BAR_CELL_BYTES + 64];
    struct tts_textroom room = tts_textroom_of(bar, sizeof bar);
    tts_textroom_put(&room, "    Usage: ");
    tts_textroom_put(&room, view->has_color ? share_color(share) : "");
    tts_textroom_put(&room, "[");
    for (uint64_t i = 0; i < BAR_CELLS; i++)
        tts_textroom_put(&room, i < cells ? (view->is_utf8 ? "\u2588" : "#")
                                          : (view->is_utf8 ? "\u2591" : "."));
    tts_textroom_put(&room, view->has_color ? "]\033[0m " : "] ");
    tts_textroom_put(&room, tts_livepercent_text(percent, share));
    tts_textroom_put(&room, "\n");
    fwrite(bar, 1, (size_t)(room.at - bar), out);
}

static void put_pool(const struct tts_liveview *view, const struct tts_livedevice *device,
                     enum tts_pool kind, FILE *out)
{
    const struct tts_livepool *pool = &device->pools[kind];
    const char *origin = pool->total_source == TTS_LIVETOTAL_NOMINAL ? " (nominal)" : "";
    char value[VALUE_MAX], share[32];
    fputs("\n  ", out);
    fputs(tts_pool_name(kind), out);
    fputs(" Memory:\n", out);
    put_count_row(out, "Banks", pool->banks_known, pool->banks, origin);
    put_value_row(out, "Total:               ",
                  format_value(value, pool->total_known, pool->total_bytes, "", origin));
    put_value_row(out, "Allocated:           ",
                  format_value(value, pool->allocated_known, pool->allocated_bytes, "",
                               format_share(share, pool)));
    put_value_row(out, "Free:                ",
                  format_value(value, pool->free_known, pool->free_bytes,
                               pool->free_is_limit ? "at most " : "", ""));
    put_value_row(out, "Largest Block:       ",
                  format_value(value, pool->largest_known, pool->largest_free_bytes, "", ""));
    put_usage(view, pool, out);
}

/* ---- a device ---- */

/* Says whether the device is in use by a program, as far as that is known. */
static const char *initialized_text(const struct tts_livedevice *device)
{
    if (device->state == TTS_LIVE_UNREADABLE)
        return "unknown";
    if (device->state != TTS_LIVE_LIVE)
        return "No";
    return device->source == TTS_LIVESOURCE_NONE ? "unknown" : "Yes";
}

static void put_information(const struct tts_livedevice *device, FILE *out)
{
    const char *origin = device->is_shape_nominal ? " (nominal)" : "";
    fputs("  Device Information:\n", out);
    /* The runtime numbers the architectures from 1. */
    if (device->arch_known)
        fprintf(out, "    Architecture: %d (%s)\n", (int)device->arch + 1,
                tts_arch_name(device->arch));
    else
        fputs("    Architecture: unknown\n", out);
    fprintf(out, "    Initialized: %s\n", initialized_text(device));
    put_count_row(out, "Hardware CQs", device->queues_known, device->hardware_queues, "");
    put_count_row(out, "DRAM Channels", device->channels_known, device->dram_channels, origin);
    if (device->grid_known)
        fprintf(out, "    Compute Grid: %" PRIu32 "x%" PRIu32 " (%" PRIu64 " cores%s)\n",
                device->grid_columns, device->grid_rows,
                (uint64_t)device->grid_columns * device->grid_rows,
                device->is_shape_nominal ? ", nominal" : "");
    else
        fputs("    Compute Grid: unknown\n", out);
}

/* Writes a line for the published filters: one filter looks for a share with a decimal after
 * the name of the pool, the other filter for a share in whole percent after "Allocated". */
static void put_filter_row(const struct tts_livedevice *device, enum tts_pool kind, FILE *out)
{
    const struct tts_livepool *pool = &device->pools[kind];
    char size[TTS_LIVETEXT_SIZE_MAX], share[32];
    uint32_t millionths;
    char line[VALUE_MAX + 64];
    struct tts_textroom room = tts_textroom_of(line, sizeof line);
    tts_textroom_put(&room, "  ");
    tts_textroom_put(&room, tts_pool_name(kind));
    tts_textroom_put(&room, " Allocated: ");
    tts_textroom_put(&room, pool->allocated_known
                                ? tts_livesize_text(size, pool->allocated_bytes)
                                : "unknown");
    tts_textroom_put(&room, format_share(share, pool));
    if (tts_livepool_share(pool, &millionths)) {
        tts_textroom_put(&room, " ");
        tts_textroom_number(&room, tts_livepercent_whole(millionths));
        tts_textroom_put(&room,
                         pool->total_source == TTS_LIVETOTAL_NOMINAL ? "% (nominal)" : "%");
    }
    tts_textroom_put(&room, "\n");
    fwrite(line, 1, (size_t)(room.at - line), out);
}

static void put_source(const struct tts_livedevice *device, FILE *out)
{
    char time[TTS_LIVETEXT_TIME_MAX];
    bool is_closed =
        device->source == TTS_LIVESOURCE_NONE && device->state == TTS_LIVE_UNREADABLE;
    fprintf(out, "  Source: %s",
            is_closed ? "none (the memory region cannot be read)"
                      : tts_livesource_text(device->source));
    if (device->layout)
        fprintf(out, " (%s)", device->layout);
    fputc('\n', out);
    if (device->update_known)
        fprintf(out, "  Last Change: %s\n", tts_livetime_text(time, device->update_ns));
}

static void put_block_process(const struct tts_liveprocess *process, FILE *out)
{
    char name[TTS_LIVENAME_MAX], bytes[TTS_LIVEBYTES_MAX];
    char line[TTS_LIVENAME_MAX + TTS_LIVEBYTES_MAX + 256];
    const char *reason = tts_livereason_text(process->reason);
    struct tts_textroom room = tts_textroom_of(line, sizeof line);
    tts_textroom_put(&room, "Process ");
    tts_textroom_put(&room, tts_liveprocess_name(name, process));
    tts_textroom_put(&room, ", ");
    tts_textroom_put(&room, process->state == TTS_LIVEPROCESS_NOT_VISIBLE
                                ? "live but not visible"
                                : tts_liveprocess_word(process->state));
    tts_textroom_put(&room, reason[0] ? ", because " : "");
    tts_textroom_put(&room, reason);
    tts_textroom_put(&room, ": ");
    tts_textroom_put(&room, tts_liveprocess_bytes(bytes, process));
    tts_say_text(out, 2, line);
}

static void put_device_answers(const struct tts_livedevice *device, FILE *out)
{
    char text[TTS_LIVEANSWER_MAX];
    for (size_t i = 0; tts_liveanswers_text(text, device, i); i++)
        tts_say_text(out, 2, text);
}

/* Writes the lines that also a small terminal has. */
static void put_device_facts(const struct tts_livedevice *device, FILE *out)
{
    char text[TTS_LIVETEXT_MAX], size[TTS_LIVETEXT_SIZE_MAX];
    for (size_t i = 0; i < TTS_POOLS; i++)
        put_filter_row(device, (enum tts_pool)i, out);
    put_device_answers(device, out);
    fprintf(out, "  Circular Buffers: %s\n",
            device->cb_known ? tts_livesize_text(size, device->cb_bytes) : "unknown");
    tts_say(out, 2, "State: %s", tts_livedevice_text(text, device));
    if (device->unique_id_known)
        fprintf(out, "  Id: %" PRIu64 "\n", device->unique_id);
    else
        fputs("  Id: unknown\n", out);
    put_source(device, out);
    for (size_t i = 0; i < device->process_count && i < TTS_LIVEVIEW_BLOCK_PROCESSES; i++)
        put_block_process(&device->processes[i], out);
    if (device->process_count > TTS_LIVEVIEW_BLOCK_PROCESSES)
        fprintf(out, "  and %zu more processes: --view processes lists them\n",
                device->process_count - TTS_LIVEVIEW_BLOCK_PROCESSES);
}

static void put_note(const char *text, FILE *out)
{
    char line[TTS_LIVETEXT_MAX];
    struct tts_textroom room = tts_textroom_of(line, sizeof line);
    tts_textroom_put(&room, "Note: ");
    tts_textroom_put(&room, text);
    tts_say_text(out, 2, line);
}

static void put_device_caveats(const struct tts_livedevice *device, FILE *out)
{
    for (uint32_t bit = 0; bit < TTS_CAVEATS; bit++)
        if (device->caveats >> bit & 1)
            put_note(tts_livecaveat_text((enum tts_livecaveat)(1u << bit)), out);
}

static void put_device_title(const struct tts_livedevice *device, FILE *out)
{
    if (device->logical_id_known)
        fprintf(out, "\nDevice %" PRIu32 " (ID: %" PRIu32 ")\n", device->index,
                device->logical_id);
    else
        fprintf(out, "\nDevice %" PRIu32 " (ID: unknown)\n", device->index);
}

static void put_device(const struct tts_liveview *view, const struct tts_livedevice *device,
                       FILE *out)
{
    put_device_title(device, out);
    put_rule(out, '-');
    put_information(device, out);
    fputs("\n  Real-Time Memory Utilization:\n", out);
    for (size_t i = 0; i < TTS_POOLS; i++)
        put_pool(view, device, (enum tts_pool)i, out);
    fputc('\n', out);
    put_device_facts(device, out);
    put_device_caveats(device, out);
}

/* Writes the frame for a terminal that has too few rows for the published blocks. */
static void put_short_blocks(const struct tts_liveview *view, FILE *out)
{
    const struct tts_liveframe *frame = view->frame;
    char time[TTS_LIVETEXT_TIME_MAX];
    tts_say(out, 0, "%s  %zu device%s, every %" PRIu64 "ms  (all lines need %zu rows)",
            tts_livetime_text(time, frame->time_ns), frame->device_count,
            tts_say_plural(frame->device_count), view->period_ms, view->whole_lines);
    for (size_t i = 0; i < frame->device_count; i++) {
        put_device_title(&frame->devices[i], out);
        put_device_facts(&frame->devices[i], out);
    }
}

void tts_liveview_blocks(const struct tts_liveview *view, FILE *out)
{
    bool is_short = view->whole_lines > 0;
    if (is_short) {
        put_short_blocks(view, out);
    } else {
        put_block_header(view, out);
        for (size_t i = 0; i < view->frame->device_count; i++)
            put_device(view, &view->frame->devices[i], out);
    }
    tts_livenotes_put(view, TTS_LIVENOTES_STRAYS | (is_short ? TTS_LIVENOTES_FIRST : 0), out);
}
