/* rundiff_inside.h: what the files of rundiff share. */
#pragma once

#include "analysis/rundiff.h"

/* Phases of both side by side; the figures are not filled in. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_rundiff_match(const struct tts_run *a,
                                                const struct tts_run *b,
                                                const struct tts_alloc *alloc,
                                                struct tts_rundiff *out);

/* Fills in the cause and the contributions; phases and peak are there. */
void tts_rundiff_explain(const struct tts_rundiff_side *a, const struct tts_rundiff_side *b,
                         struct tts_rundiff *diff);
