#include "cli/fit_line.h"

#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { COLUMNS = 80, SENTENCE_MAX = 1024 };

/* The glue in it is seen as a blank. */
static void put_word(FILE *out, const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        fputc(word[i] == TTS_FIT_GLUE[0] ? ' ' : word[i], out);
}

void tts_fit_say(FILE *out, unsigned indent, const char *format, ...)
{
    char text[SENTENCE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t column = indent;
    bool is_first = true;
    fprintf(out, "%*s", (int)indent, "");
    for (const char *word = text; *word;) {
        size_t len = strcspn(word, " ");
        if (!is_first && column + 1 + len > COLUMNS) {
            fprintf(out, "\n%*s", (int)indent + 2, "");
            column = indent + 2;
        } else if (!is_first) {
            fputc(' ', out);
            column++;
        }
        put_word(out, word, len);
        column += len;
        is_first = false;
        word += len + (word[len] == ' ');
    }
    fputc('\n', out);
}

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
    tts_fit_say(out, 2, "in whole pages of %" PRIu32 " banks it takes %s MB, %s MB too much",
                banks->count, tts_number_format_mb(all, takes, false),
                tts_number_format_mb(
                    missing, of_all(banks, banks->peak_bank_bytes - banks->bank_bytes), false));
}

void tts_fit_say_chips(FILE *out, uint64_t needed, const struct tts_chip *chip)
{
    uint64_t chips = chip->fact[TTS_FACT_CHIPS].value;
    if (needed > chips)
        tts_fit_say(out, 2,
                    "it needs %" PRIu64 " chips, and %s has %" PRIu64
                    ": the figures are of each of them",
                    needed, chip->name, chips);
}
