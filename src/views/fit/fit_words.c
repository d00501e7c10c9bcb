#include "views/fit/fit_words.h"

#include "views/say.h"

#include <assert.h>
#include <inttypes.h>

const char *tts_fit_share(char out[TTS_FIT_SHARE_MAX], uint64_t part, uint64_t whole)
{
    assert(part <= whole);
    unsigned permille = whole > 0 ? (unsigned)((double)part / (double)whole * 1000 + 0.5) : 0;
    if (permille == 0 && part > 0)
        snprintf(out, TTS_FIT_SHARE_MAX, "< 0.1 %%");
    else
        snprintf(out, TTS_FIT_SHARE_MAX, "%u.%u %%", permille / 10, permille % 10);
    return out;
}

/* Returns `bytes` of one bank multiplied by the number of banks, at most INT64_MAX. */
static int64_t all_banks_bytes(const struct tts_fit_banks *banks, uint64_t bytes)
{
    uint64_t all;
    if (__builtin_mul_overflow(bytes, banks->count, &all) || all > INT64_MAX)
        return INT64_MAX;
    return (int64_t)all;
}

/* Formats the memory that is missing in all banks together, as megabytes. Returns `out`. */
static const char *format_missing_mb(char out[TTS_NUMBER_MB_MAX],
                                     const struct tts_fit_banks *banks)
{
    assert(banks->peak_bank_bytes > banks->bank_bytes);
    int64_t bytes = all_banks_bytes(banks, banks->peak_bank_bytes - banks->bank_bytes);
    return tts_number_format_mb(out, bytes, false);
}

void tts_fit_say_missing(FILE *out, const struct tts_fit_banks *banks)
{
    char all[TTS_NUMBER_MB_MAX], missing[TTS_NUMBER_MB_MAX];
    int64_t takes = all_banks_bytes(banks, banks->peak_bank_bytes);
    if (banks->beside_bytes <= (uint64_t)(INT64_MAX - takes))
        takes += (int64_t)banks->beside_bytes;
    tts_say(out, 2, "rounded up to whole pages on %" PRIu32 " banks: %s MB, %s MB too much",
            banks->count, tts_number_format_mb(all, takes, false),
            format_missing_mb(missing, banks));
}

void tts_fit_say_each_bank(FILE *out, const struct tts_fit_banks *banks)
{
    char peak[TTS_NUMBER_MB_MAX], bank[TTS_NUMBER_MB_MAX];
    tts_fit_mb(peak, banks->peak_bank_bytes);
    tts_fit_mb(bank, banks->bank_bytes);
    if (banks->peak_bank_bytes > banks->bank_bytes)
        tts_say(out, 2, "each of the %" PRIu32 " banks would need %s MB but has %s MB",
                banks->count, peak, bank);
    else
        tts_say(out, 2, "each of the %" PRIu32 " banks needs %s MB of its %s MB", banks->count,
                peak, bank);
}

void tts_fit_say_headline(FILE *out, const struct tts_fit_headline *line)
{
    char text[TTS_FIT_VERDICT_MAX + 512], missing[TTS_NUMBER_MB_MAX];
    int len = snprintf(text, sizeof text, "%s", line->verdict);
    uint64_t peak = tts_number_mb_hundredths(line->peak_bytes);
    uint64_t capacity = tts_number_mb_hundredths(line->capacity_bytes);
    bool is_over_bank = line->banks.peak_bank_bytes > line->banks.bank_bytes;
    /* The excess is the difference of the printed sizes, as in `analyze`. Whole pages matter in
     * this line only if the sizes alone would fit. */
    if (is_over_bank && peak > capacity)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        " (%" PRIu64 ".%02" PRIu64 " MB too much)", (peak - capacity) / 100,
                        (peak - capacity) % 100);
    else if (is_over_bank)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        " (%s MB too much, rounded up to whole pages)",
                        format_missing_mb(missing, &line->banks));
    if (line->remedy)
        len +=
            snprintf(text + len, sizeof text - (size_t)len, "; it fits with %s", line->remedy);
    if (line->limit)
        snprintf(text + len, sizeof text - (size_t)len, "; %s", line->limit);
    tts_say_sentence(out, "", text);
    fputc('\n', out);
}

void tts_fit_say_headroom(FILE *out, const struct tts_fit_banks *banks)
{
    enum { HEADROOM_PERCENT = 5 };
    assert(banks->peak_bank_bytes <= banks->bank_bytes);
    if (banks->bank_bytes - banks->peak_bank_bytes < banks->bank_bytes / 100 * HEADROOM_PERCENT)
        tts_say(out, 2, "warning: less than %d %% is left for programs, traces and other users",
                HEADROOM_PERCENT);
}

/* Names the presets that have at least `needed` chips. */
static void say_devices_with_chips(FILE *out, uint64_t needed)
{
    enum { SHOWN = 8 };
    char names[SHOWN * (TTS_CHIP_NAME_MAX + 2)] = "";
    size_t len = 0, count = 0;
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL && count < SHOWN; i++) {
        struct tts_chip chip;
        if (tts_chip_preset(preset->name, &chip, NULL) != TTS_OK ||
            chip.fact[TTS_FACT_CHIPS].value < needed)
            continue;
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s",
                                count++ > 0 ? ", " : "", preset->name);
    }
    if (count == 0)
        tts_say(out, 2, "no known device has %" PRIu64 " chips", needed);
    else
        tts_say(out, 2, "devices with %" PRIu64 " chips or more: %s", needed, names);
}

const char *tts_fit_too_few_text(char out[TTS_FIT_VERDICT_MAX],
                                 const struct tts_fit_too_few *few)
{
    snprintf(out, TTS_FIT_VERDICT_MAX,
             "does not fit %s: the run needs %" PRIu64 " chips, the device has %" PRIu64,
             few->chip->name, few->needed, few->chip->fact[TTS_FACT_CHIPS].value);
    return out;
}

void tts_fit_say_too_few(FILE *out, const struct tts_fit_too_few *few)
{
    char peak[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX], verdict[TTS_FIT_VERDICT_MAX];
    tts_say(out, 0, "%s", tts_fit_too_few_text(verdict, few));
    tts_say(out, 2, "each chip would hold %s MB%s of its %s MB%s",
            tts_fit_mb(peak, few->peak_bytes), few->is_estimated ? " (estimated)" : "",
            tts_fit_mb(all, few->capacity_bytes),
            few->is_too_much ? ", which does not fit either" : "");
    say_devices_with_chips(out, few->needed);
}
