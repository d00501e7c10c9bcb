/* phasepairs.h: pairs the phases of two runs. The n-th phase with some name in one run and the
 * n-th phase with the same name in the other run are a pair, even if the runs have their phases
 * in different orders. */
#pragma once

#include "model/run.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#define TTS_PHASEPAIR_NONE UINT32_MAX

/* Creates an array with one entry for each phase of `run`: the index of the paired phase of
 * `other`, or TTS_PHASEPAIR_NONE. The array has room for at least one entry. Free the array
 * with tts_phasepairs_free(). If `alloc` is NULL, the C library allocates. Returns TTS_OK or
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_phasepairs_new(const struct tts_run *run,
                                                 const struct tts_run *other,
                                                 const struct tts_alloc *alloc, uint32_t **out);
/* Returns for each phase its number among the phases of the same name, from 0. The caller frees
 * the array with tts_phasepairs_free(). Returns TTS_E_NOMEM if memory runs out. */
TTS_NODISCARD enum tts_status tts_phase_ordinals_new(const struct tts_run *run,
                                                     const struct tts_alloc *alloc,
                                                     uint32_t **out);
/* Frees an array of one of the two functions above. Pass the same `run` and `alloc` as to that
 * function. `pairs` may be NULL. */
void tts_phasepairs_free(uint32_t *pairs, const struct tts_run *run,
                         const struct tts_alloc *alloc);
