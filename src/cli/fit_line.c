#include "cli/fit_line.h"
#include "views/say.h"

#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

const char *tts_fit_mb(char out[TTS_NUMBER_MB_MAX], uint64_t bytes)
{
    return tts_number_format_mb(out, (int64_t)bytes, false);
}

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

/* Of all banks, at most what can be shown. */
static int64_t of_all(const struct tts_fit_banks *banks, uint64_t bytes)
{
    uint64_t all;
    if (__builtin_mul_overflow(bytes, banks->count, &all) || all > INT64_MAX)
        return INT64_MAX;
    return (int64_t)all;
}

void tts_fit_say_missing(FILE *out, const struct tts_fit_banks *banks)
{
    char all[TTS_NUMBER_MB_MAX], missing[TTS_NUMBER_MB_MAX];
    assert(banks->peak_bank_bytes > banks->bank_bytes);
    int64_t takes = of_all(banks, banks->peak_bank_bytes);
    if (banks->beside_bytes <= (uint64_t)(INT64_MAX - takes))
        takes += (int64_t)banks->beside_bytes;
    tts_say(out, 2, "in whole pages of %" PRIu32 " banks it takes %s MB, %s MB too much",
            banks->count, tts_number_format_mb(all, takes, false),
            tts_number_format_mb(
                missing, of_all(banks, banks->peak_bank_bytes - banks->bank_bytes), false));
}

void tts_fit_say_headroom(FILE *out, const struct tts_fit_banks *banks)
{
    enum { HEADROOM_PERCENT = 5 };
    assert(banks->peak_bank_bytes <= banks->bank_bytes);
    if (banks->bank_bytes - banks->peak_bank_bytes < banks->bank_bytes / 100 * HEADROOM_PERCENT)
        tts_say(out, 2,
                "warning: less than %d %% is left; programs, traces and what else runs "
                "need some",
                HEADROOM_PERCENT);
}

/* Names the presets with enough chips. */
static void say_devices(FILE *out, uint64_t needed)
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

void tts_fit_say_too_few(FILE *out, const struct tts_fit_too_few *few)
{
    char peak[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX];
    const char *name = few->chip->name;
    tts_say(out, 0, "does not fit %s: the run needs %" PRIu64 " chips, %s has %" PRIu64, name,
            few->needed, name, few->chip->fact[TTS_FACT_CHIPS].value);
    tts_say(out, 2, "each chip would hold %s MB%s of its %s MB%s",
            tts_fit_mb(peak, few->peak_bytes), few->is_estimated ? " (estimated)" : "",
            tts_fit_mb(all, few->capacity_bytes),
            few->is_too_much ? ", which does not fit either" : "");
    say_devices(out, few->needed);
}
