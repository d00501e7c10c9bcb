/* phasepairs.h: which phases of two runs are the same: those of the same name, the n-th of it
 * with the n-th, wherever they stand. */
#pragma once

#include "model/run.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#define TTS_PHASEPAIR_NONE UINT32_MAX

/* For each phase of `run` its number in `other`, or TTS_PHASEPAIR_NONE: run->phase_count of
 * them, at least one; heap. `alloc` NULL is the C library's. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_phasepairs_new(const struct tts_run *run,
                                                 const struct tts_run *other,
                                                 const struct tts_alloc *alloc, uint32_t **out);
/* Of the same run; NULL is fine. */
void tts_phasepairs_free(uint32_t *pairs, const struct tts_run *run,
                         const struct tts_alloc *alloc);
