#include "base/compiler.h"
#include "base/number.h"
#include "device/space.h"
#include "views/percent.h"
#include "views/svgmap_plot.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { NAME_MAX_BYTES = 80, SENTENCE_MAX = 250 };

const char *tts_svgmap_format_count(char out[TTS_COUNT_MAX], uint64_t count)
{
    char digits[TTS_COUNT_MAX];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *at = out;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return out;
}

const char *tts_svgmap_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static struct tts_svg_point px(int x, int y)
{
    return (struct tts_svg_point){x * TTS_SVG_PX, y * TTS_SVG_PX};
}

static void draw_title(const struct tts_addrmap *map, const char *name, FILE *out)
{
    char size[TTS_NUMBER_BYTES_MAX], block[TTS_NUMBER_BYTES_MAX], count[TTS_COUNT_MAX];
    const struct tts_space_config *config = &map->config;
    const char *policy = config->policy == TTS_POLICY_FIRST
                             ? "FIRST (first fit by address)"
                             : "BEST (lowest size class that fits)";
    tts_svg_text(out, px(24, 40), "font-size=\"21\" font-weight=\"600\"", "Memory map of %.*s",
                 NAME_MAX_BYTES, tts_svgmap_name(name));
    tts_svg_text(
        out, px(24, 63), "fill=\"" TTS_COLOR_SOFT "\"",
        "%s per bank (%" PRIu64 " bytes from address %" PRIu64
        ")  ·  policy %s  ·  sizes rounded to %s  ·  %s operation%s",
        tts_number_format_bytes(size, config->size_bytes), config->size_bytes,
        config->offset_bytes, policy, tts_number_format_bytes(block, config->alignment_bytes),
        tts_svgmap_format_count(count, map->operations), map->operations == 1 ? "" : "s");
}

/* A sentence that grows; what does not fit is cut off. */
struct sentence {
    char text[SENTENCE_MAX];
    size_t len;
};

static void say(struct sentence *sentence, const char *format, ...) TTS_PRINTF(2, 3);

static void say(struct sentence *sentence, const char *format, ...)
{
    size_t room = sizeof sentence->text - sentence->len;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(sentence->text + sentence->len, room, format, args);
    va_end(args);
    if (len > 0)
        sentence->len += (size_t)len < room ? (size_t)len : room - 1;
}

static void say_count(struct sentence *sentence, uint64_t count, const char *what)
{
    char text[TTS_COUNT_MAX];
    say(sentence, "%s%s", tts_svgmap_format_count(text, count), what);
}

static uint64_t failed_requests(const struct tts_addrmap_counts *counts)
{
    return counts->fragmented + counts->exhausted + counts->refused;
}

/* Why requests failed: in a few words when there is one reason, else by their numbers. */
static void say_reasons(struct sentence *sentence, const struct tts_addrmap_counts *counts)
{
    int kinds = (counts->fragmented > 0) + (counts->exhausted > 0) + (counts->refused > 0);
    /* The legend explains fragmentation too: where there is much to say it is left to that. */
    const char *why =
        kinds + (counts->leaked > 0) > 2 ? "" : " (enough was free, but in pieces)";
    if (kinds == 1) {
        say(sentence, "%s",
            counts->fragmented  ? " by fragmentation: enough was free, but in pieces"
            : counts->exhausted ? ": too little was free"
                                : ": the exact range was not free");
        return;
    }
    const char *between = ": ";
    if (counts->fragmented > 0) {
        say(sentence, "%s", between);
        say_count(sentence, counts->fragmented, " by fragmentation");
        say(sentence, "%s", why);
        between = ", ";
    }
    if (counts->exhausted > 0) {
        say(sentence, "%s", between);
        say_count(sentence, counts->exhausted, " too little free");
        between = ", ";
    }
    if (counts->refused > 0) {
        say(sentence, "%s", between);
        say_count(sentence, counts->refused, " range not free");
    }
}

static void draw_verdict(const struct tts_addrmap *map, FILE *out)
{
    const struct tts_addrmap_counts *counts = &map->counts;
    uint64_t failed = failed_requests(counts), all = counts->taken + failed;
    struct sentence sentence = {0};
    if (failed == 0) {
        say(&sentence, "No request failed (");
        say_count(&sentence, all, all == 1 ? " request)" : " requests)");
    } else {
        say_count(&sentence, failed, " of ");
        say_count(&sentence, all, " requests failed");
        say_reasons(&sentence, counts);
    }
    if (counts->leaked > 0) {
        say(&sentence, "%s", failed > 0 ? "; " : ", but ");
        say_count(&sentence, counts->leaked,
                  failed > 0            ? " taken below the limit"
                  : counts->leaked == 1 ? " was taken below the limit"
                                        : " were taken below the limit");
    }
    tts_svg_text(out, px(24, 92),
                 failed + counts->leaked > 0
                     ? "font-size=\"15\" font-weight=\"600\" fill=\"" TTS_COLOR_FRAGMENTED "\""
                     : "font-size=\"15\" font-weight=\"600\"",
                 "%s.", sentence.text);
}

/* The plainest case of fragmentation in numbers; returns the line for what follows. */
static int draw_worst(const struct tts_addrmap *map, int y, FILE *out)
{
    char seq[TTS_COUNT_MAX], need[TTS_NUMBER_BYTES_MAX], free_text[TTS_NUMBER_BYTES_MAX];
    char largest[TTS_NUMBER_BYTES_MAX];
    if (map->worst.seq == 0)
        return y;
    tts_svg_text(out, px(24, y), "",
                 "At worst, operation %s, line %" PRIu64
                 ", asked for %s while %s were free, the largest piece being %s.",
                 tts_svgmap_format_count(seq, map->worst.seq), map->worst.line,
                 tts_number_format_bytes(need, map->worst.need_bytes),
                 tts_number_format_bytes(free_text, map->worst.free_bytes),
                 tts_number_format_bytes(largest, map->worst.largest_bytes));
    return y + 20;
}

static void draw_ending(const struct tts_addrmap *map, int y, FILE *out)
{
    char share[TTS_PERCENT_MAX], lost[TTS_PERCENT_MAX];
    char free_text[TTS_NUMBER_BYTES_MAX], largest[TTS_NUMBER_BYTES_MAX];
    const struct tts_space_stats *last = &map->last;
    struct tts_svg_point at = px(24, y);
    if (last->free_bytes == 0) {
        tts_svg_text(out, at, "", "At the end nothing is free.");
        return;
    }
    tts_percent_format(share, last->free_bytes, last->total_bytes);
    tts_number_format_bytes(free_text, last->free_bytes);
    if (last->largest_free_bytes == last->free_bytes) {
        tts_svg_text(out, at, "", "At the end %s is free (%s), all of it in one piece.", share,
                     free_text);
        return;
    }
    tts_svg_text(
        out, at, "",
        "At the end %s is free (%s); its largest piece is %s, so %s of the free memory is "
        "beyond reach of a single request.",
        share, free_text, tts_number_format_bytes(largest, last->largest_free_bytes),
        tts_percent_format(lost, last->free_bytes - last->largest_free_bytes,
                           last->free_bytes));
}

void tts_svgmap_draw_words(const struct tts_addrmap *map, const char *name, FILE *out)
{
    draw_title(map, name, out);
    draw_verdict(map, out);
    draw_ending(map, draw_worst(map, 114, out), out);
}
