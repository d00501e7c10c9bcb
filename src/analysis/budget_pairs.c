#include "analysis/budgetcheck.h"
#include "analysis/phasepairs.h"
#include "base/error.h"

#include <assert.h>

static_assert(TTS_BUDGET_NO_PAIR == TTS_PHASEPAIR_NONE, "pairs are passed on as they are");

enum tts_status tts_budget_pairs_new(const struct tts_run *run, const struct tts_run *baseline,
                                     const struct tts_alloc *alloc, uint32_t **out,
                                     struct tts_error *err)
{
    if (tts_phasepairs_new(run, baseline, alloc, out) == TTS_OK)
        return TTS_OK;
    return tts_error_set(err, TTS_E_NOMEM, "out of memory for the phases of a run");
}

void tts_budget_pairs_free(uint32_t *pairs, const struct tts_run *run,
                           const struct tts_alloc *alloc)
{
    tts_phasepairs_free(pairs, run, alloc);
}
