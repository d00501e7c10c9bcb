/* chip_text.h: parses the values of facts. */
#pragma once

#include "ttscope/chip.h"

/* Parses a value of a fact. TTS_E_SYNTAX, TTS_E_RANGE: `text` is not a value of this fact;
 * `err` says what is expected. Then *out is unchanged. */
TTS_NODISCARD enum tts_status tts_fact_parse(enum tts_fact_key key, const char *text,
                                             uint64_t *out, struct tts_error *err);
