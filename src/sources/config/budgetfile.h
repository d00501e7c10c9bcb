/* budgetfile.h: reads a file of memory limits, which is a YAML text (docs/design/budget.md):
 *
 *   device: n150
 *   overall:
 *     dram_peak: [95%, +2%]
 *   phases:
 *     FORWARD_PASS*:
 *       segment_peak: 8GiB
 */
#pragma once

#include "model/budget.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stddef.h>

enum { TTS_BUDGETFILE_MAX_BYTES = 64 * 1024 };

/* Loads a budget. The path "-" means standard input. `alloc` may be NULL; then the C library
 * allocates. After a failure *out is unchanged.
 * The following errors set err->line, and their text does not name the path. TTS_E_SYNTAX: not
 * YAML, not a budget, a key twice, no limit, or too large. TTS_E_NOT_FOUND: an unknown key; err
 * names the nearest known key, or all known keys. TTS_E_INVALID: values that contradict each
 * other. TTS_E_RANGE: a value above a limit.
 * The following errors have no line. TTS_E_IO: the file cannot be read; the text names the
 * path. TTS_E_NOMEM: memory ran out. */
TTS_NODISCARD enum tts_status tts_budgetfile_load(const char *path,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_budget *out,
                                                  struct tts_error *err);

/* Like tts_budgetfile_load(), but reads a text in memory. */
TTS_NODISCARD enum tts_status tts_budgetfile_parse(const char *text, size_t len,
                                                   struct tts_budget *out,
                                                   struct tts_error *err);

/* Parses the value of a limit: "11GiB", "95%", "+2%", "+50MiB". Fills only the fields unit,
 * amount and is_bare of *out. TTS_E_SYNTAX: not a limit. TTS_E_INVALID: below 0. TTS_E_RANGE:
 * too large. */
TTS_NODISCARD enum tts_status tts_budget_limit_parse(const char *text,
                                                     struct tts_budget_limit *out);
