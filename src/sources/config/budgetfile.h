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

/* Loads a budget. "-" is standard input; `alloc` may be NULL for the C library's. The following
 * errors have a line in err, and their text does not name the path: TTS_E_SYNTAX (not YAML, not
 * a budget, a key twice, no limit at all, too large), TTS_E_NOT_FOUND (an unknown key: err
 * names the nearest key, or all), TTS_E_INVALID (values that contradict each other),
 * TTS_E_RANGE. The following have no line: TTS_E_IO (the text names the path), TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_budgetfile_load(const char *path,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_budget *out,
                                                  struct tts_error *err);

/* Like tts_budgetfile_load(), but from memory. */
TTS_NODISCARD enum tts_status tts_budgetfile_parse(const char *text, size_t len,
                                                   struct tts_budget *out,
                                                   struct tts_error *err);

/* Parses the value of a limit: "11GiB", "95%", "+2%", "+50MiB". Fills unit, amount and is_bare.
 * TTS_E_SYNTAX: not a limit. TTS_E_INVALID: below 0. TTS_E_RANGE: too large. */
TTS_NODISCARD enum tts_status tts_budget_limit_parse(const char *text,
                                                     struct tts_budget_limit *out);
