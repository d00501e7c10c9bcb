/* fit_words.h: sentences and numbers that the texts of training (fit_view.h) and of serving
 * (inference_view.h) share.
 *
 * The functions keep nothing and may run at the same time for different streams. */
#pragma once

#include "base/number.h"
#include "ttscope/chip.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Formats bytes as megabytes with two decimals, without a sign and a unit. Returns `out`. */
static inline const char *tts_fit_mb(char out[TTS_NUMBER_MB_MAX], uint64_t bytes)
{
    return tts_number_format_mb(out, (int64_t)bytes, false);
}

enum { TTS_FIT_SHARE_MAX = 24 };
/* Formats a share of a whole: "12.3 %", or "< 0.1 %". Only a part of 0 is "0.0 %", also if the
 * whole is 0. part <= whole. Returns `out`. */
const char *tts_fit_share(char out[TTS_FIT_SHARE_MAX], uint64_t part, uint64_t whole);

enum { TTS_FIT_VERDICT_MAX = 256 }; /* bytes of the longest verdict, with its terminator */

/* The memory of the banks of a chip, and the memory that the run needs there. */
struct tts_fit_banks {
    uint32_t count;
    uint64_t bank_bytes, peak_bank_bytes; /* bytes of one bank: available, needed */
    uint64_t beside_bytes;                /* bytes of the trace region in all banks together */
};
/* Says how much memory is missing. banks->peak_bank_bytes > banks->bank_bytes. */
void tts_fit_say_missing(FILE *out, const struct tts_fit_banks *banks);

/* Says how much of each bank the run needs. */
void tts_fit_say_each_bank(FILE *out, const struct tts_fit_banks *banks);

/* The answer in one line. */
struct tts_fit_headline {
    const char *verdict;
    struct tts_fit_banks banks;          /* all 0 if the size of the banks does not matter */
    uint64_t peak_bytes, capacity_bytes; /* the two sizes of the verdict */
    const char *remedy;                  /* options that would make the run fit, or NULL */
    const char *limit;                   /* what the verdict does not cover, or NULL */
};
/* Writes the verdict, its remedy and its limit as one line, and an empty line after it. */
void tts_fit_say_headline(FILE *out, const struct tts_fit_headline *line);

/* Warns if less than 5 % of a bank is left. banks->peak_bank_bytes <= banks->bank_bytes. */
void tts_fit_say_headroom(FILE *out, const struct tts_fit_banks *banks);

/* A run that needs more chips than the device has, and the memory of one chip. */
struct tts_fit_too_few {
    const struct tts_chip *chip;
    uint64_t needed;                     /* number of chips that the run needs */
    uint64_t peak_bytes, capacity_bytes; /* bytes of one chip: needed, available */
    bool is_estimated;
    bool is_too_much; /* the peak does not fit one chip either */
};
/* Formats that the device has too few chips. Returns `out`. */
const char *tts_fit_too_few_text(char out[TTS_FIT_VERDICT_MAX],
                                 const struct tts_fit_too_few *few);
/* Says that the device has too few chips, how much one chip would hold, and which presets have
 * enough chips. */
void tts_fit_say_too_few(FILE *out, const struct tts_fit_too_few *few);
