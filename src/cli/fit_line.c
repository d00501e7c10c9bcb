#include "cli/fit_line.h"
#include "cli/say.h"

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

void tts_fit_say_chips(FILE *out, uint64_t needed, const struct tts_chip *chip)
{
    uint64_t chips = chip->fact[TTS_FACT_CHIPS].value;
    if (needed > chips)
        tts_say(out, 2,
                "it needs %" PRIu64 " chips, and %s has %" PRIu64
                ": the figures are of each of them",
                needed, chip->name, chips);
}
