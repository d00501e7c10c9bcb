/* budgetfile.h: a file of memory limits: YAML (docs/design/budget.md).
 *
 *     device: n150
 *     overall:
 *       dram_peak: [95%, +2%]
 *     phases:
 *       FORWARD_PASS*:
 *         segment_peak: 8GiB
 */
#pragma once

#include "model/budget.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stddef.h>

enum { TTS_BUDGETFILE_MAX_BYTES = 64 * 1024 };

/* "-" is standard input; `alloc` NULL is the C library's. TTS_E_SYNTAX (not YAML, not of this
 * form, a key twice, no limit at all, too large), TTS_E_NOT_FOUND (an unknown key: err names
 * the nearest, or all), TTS_E_INVALID (what does not go together), TTS_E_RANGE: err->line is
 * where, and the text does not name the path. TTS_E_IO (the text names the path), TTS_E_NOMEM:
 * there is no line. */
TTS_NODISCARD enum tts_status tts_budgetfile_load(const char *path,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_budget *out,
                                                  struct tts_error *err);

/* The same from memory. */
TTS_NODISCARD enum tts_status tts_budgetfile_parse(const char *text, size_t len,
                                                   struct tts_budget *out,
                                                   struct tts_error *err);

/* A limit's value: "11GiB", "95%", "+2%", "+50MiB". Fills unit, amount and is_bare.
 * TTS_E_SYNTAX: it is none; TTS_E_INVALID: it is below 0; TTS_E_RANGE: it is too large. */
TTS_NODISCARD enum tts_status tts_budget_limit_parse(const char *text,
                                                     struct tts_budget_limit *out);
