/* clean_view.h: writes the answer of `clean` for people and as JSON. The caller owns everything
 * and checks the stream for errors. Threads: any. */
#pragma once

#include "analysis/live/cleanresult.h"
#include "views/json.h"

#include <stdio.h>

enum { TTS_CLEANWHY_TEXT_MAX = 240 };

/* Writes why nothing in a region may be removed; "" if something may. */
void tts_cleanwhy_text(const struct tts_cleanregion *at, char out[TTS_CLEANWHY_TEXT_MAX]);
/* Writes why the region of a program may not be removed; "" if it may. */
void tts_cleanwhy_program_text(const struct tts_cleanprogram *at,
                               char out[TTS_CLEANWHY_TEXT_MAX]);

/* Writes a line with the sum, and a table of the entries that are to be removed. Returns
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_cleanview_plan(const struct tts_cleanresult *result,
                                                 FILE *out);
/* Writes what was removed, and what was kept because it is in use again. */
void tts_cleanview_end(const struct tts_cleanresult *result, FILE *out);
/* Writes the arrays "regions" and "programs" and the sums. */
void tts_cleanview_json(const struct tts_cleanresult *result, struct tts_json *json);
