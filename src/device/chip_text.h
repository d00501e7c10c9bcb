/* chip_text.h: parses the values of facts from text. */
#pragma once

#include "ttscope/chip.h"

/* Parses a value of a fact. TTS_E_SYNTAX: `text` is not a value of this fact. TTS_E_RANGE: the
 * value is too large. `err` says what is expected, and *out is unchanged. */
TTS_NODISCARD enum tts_status tts_fact_parse(enum tts_fact_key key, const char *text,
                                             uint64_t *out, struct tts_error *err);
