/* summary.c: writes the summary exactly as tt-train prints it. Scripts read the summary, so
 * every byte must be the same. */
#include "capture/summary.h"

#include "base/number.h"

#include <string.h>

/* --- text ------------------------------------------------------------------------------- */

static void put_char(struct tts_text *text, char c)
{
    if (text->out && text->len + 1 < text->capacity)
        text->out[text->len] = c;
    text->len++;
}

void tts_text_put(struct tts_text *text, const char *words)
{
    for (; *words; words++)
        put_char(text, *words);
}

void tts_text_put_name(struct tts_text *text, const char *name)
{
    for (; *name; name++)
        put_char(text, (unsigned char)*name < ' ' || *name == 127 ? '?' : *name);
}

void tts_text_number(struct tts_text *text, uint64_t number, int width)
{
    char digits[TTS_NUMBER_MAX];
    size_t len = tts_number_format(digits, number);
    for (int i = (int)len; i < width; i++)
        put_char(text, ' ');
    for (size_t i = 0; i < len; i++)
        put_char(text, digits[i]);
}

size_t tts_text_end(struct tts_text *text)
{
    if (text->out && text->capacity > 0)
        text->out[text->len < text->capacity ? text->len : text->capacity - 1] = '\0';
    return text->len;
}

/* --- the summary ------------------------------------------------------------------------ */

static void put_mb(struct tts_text *text, const char *label, int64_t bytes)
{
    char number[TTS_NUMBER_MB_MAX];
    tts_text_put(text, label);
    tts_text_put(text, tts_number_format_mb(number, bytes, false));
    tts_text_put(text, " MB");
}

/* Returns the bytes allocated minus the bytes freed. The difference is computed with unsigned
 * numbers, because the sums may be above 2^63. */
static int64_t change_of(const struct tts_pool_usage *usage)
{
    return (int64_t)((uint64_t)usage->allocated_bytes - (uint64_t)usage->freed_bytes);
}

static void put_phase(struct tts_text *text, const struct tts_phase *phase)
{
    const struct tts_pool_usage *dram = &phase->usage.dram_with_trace;
    char change[TTS_NUMBER_MB_MAX];
    tts_text_put(text, "--- ");
    tts_text_put_name(text, phase->name);
    put_mb(text, " ---\n  DRAM: Segment Peak ", dram->peak_bytes);
    put_mb(text, ", Allocations ", dram->allocated_bytes);
    put_mb(text, ", Deallocations ", dram->freed_bytes);
    tts_text_put(text, ", Segment Change ");
    tts_text_put(text, tts_number_format_mb(change, change_of(dram), true));
    put_mb(text, " MB\n  DRAM: Cumulative Peak ", dram->cumulative_peak_bytes);
    put_mb(text, ", Cumulative Current ", dram->cumulative_current_bytes);
    put_mb(text, "\n  L1: Peak CB ", phase->usage.peak_cb_bytes);
    put_mb(text, ", Peak Buffer ", phase->usage.l1_with_small.peak_bytes);
    put_mb(text, ", Peak Total ", phase->usage.peak_total_bytes);
    tts_text_put(text, "\n");
}

size_t tts_capture_text(const struct tts_capture *capture, char *out, size_t capacity)
{
    struct tts_text text = {.out = out, .capacity = capacity};
    size_t count = tts_capture_count(capture);
    if (count == 0) {
        tts_text_put(&text, "WARNING: No traces captured\n");
        return tts_text_end(&text);
    }
    tts_text_put(&text, "=== Memory Usage Summary ===\n\n");
    for (size_t i = 0; i < count; i++)
        put_phase(&text, tts_capture_at(capture, i));
    const struct tts_pool_usage *last =
        &tts_capture_at(capture, count - 1)->usage.dram_with_trace;
    tts_text_put(&text, "\n=== Final Totals ===\n");
    put_mb(&text, "Overall DRAM Peak: ", last->cumulative_peak_bytes);
    put_mb(&text, ", Final DRAM Usage: ", last->cumulative_current_bytes);
    tts_text_put(&text, "\n\n");
    return tts_text_end(&text);
}
