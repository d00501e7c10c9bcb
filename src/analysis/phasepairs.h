/* phasepairs.h: pairs the phases of two runs: the n-th phase of a name with the n-th phase of
 * that name, wherever they stand. Numbers the phases of the same name. */
#pragma once

#include "model/run.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#define TTS_PHASEPAIR_NONE UINT32_MAX

/* Returns for each phase of `run` its index in `other`, or TTS_PHASEPAIR_NONE. The array has
 * run->phase_count entries, at least one; free it with tts_phasepairs_free(). `alloc` NULL is
 * the C library's. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_phasepairs_new(const struct tts_run *run,
                                                 const struct tts_run *other,
                                                 const struct tts_alloc *alloc, uint32_t **out);
/* Returns for each phase its number among the phases of the same name, from 0. The array is
 * freed like one of tts_phasepairs_new(). TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_phase_ordinals_new(const struct tts_run *run,
                                                     const struct tts_alloc *alloc,
                                                     uint32_t **out);
/* Frees the array of one of the two functions. `run` and `alloc` are those of the call.
 * `pairs` may be NULL. */
void tts_phasepairs_free(uint32_t *pairs, const struct tts_run *run,
                         const struct tts_alloc *alloc);
