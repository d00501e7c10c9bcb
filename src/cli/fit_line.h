/* fit_line.h: sentences and numbers that training and serving share. */
#pragma once

#include "base/compiler.h"
#include "base/number.h"
#include "ttscope/chip.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Without a sign. Returns `out`. */
const char *tts_fit_mb(char out[TTS_NUMBER_MB_MAX], uint64_t bytes);

enum { TTS_FIT_SHARE_MAX = 24 };
/* "12.3 %", "< 0.1 %". Nothing is "0.0 %", also of nothing. Returns `out`. */
const char *tts_fit_share(char out[TTS_FIT_SHARE_MAX], uint64_t part, uint64_t whole);

/* What the banks would have to give, where that is more than they have. */
struct tts_fit_banks {
    uint32_t count;
    uint64_t bank_bytes, peak_bank_bytes;
    uint64_t beside_bytes; /* a trace region */
};
void tts_fit_say_missing(FILE *out, const struct tts_fit_banks *banks);

/* Warns if less than 5 % of a bank is left. */
void tts_fit_say_headroom(FILE *out, const struct tts_fit_banks *banks);

/* A run that needs more chips than the device has, and what one of them would hold. */
struct tts_fit_too_few {
    const struct tts_chip *chip;
    uint64_t needed;
    uint64_t peak_bytes, capacity_bytes; /* of one chip */
    bool is_estimated;
    bool is_too_much; /* the peak does not fit a chip either */
};
/* Prints the headline and the lines below it. */
void tts_fit_say_too_few(FILE *out, const struct tts_fit_too_few *few);
