#include "base/number.h"
#include "cli/diff_parts.h"

#include <assert.h>
#include <string.h>

/* ---- all ---- */

static void add_pair(struct tts_diff_job *job, size_t a, size_t b, enum tts_runpair_by by)
{
    struct tts_diff_pair *pair = &job->pairs[job->pair_count++];
    assert(job->pair_count <= TTS_RUNS_MAX);
    pair->runs[TTS_DIFF_A] = a;
    pair->runs[TTS_DIFF_B] = b;
    pair->by = by;
    job->inputs[TTS_DIFF_A].is_paired[a] = true;
    job->inputs[TTS_DIFF_B].is_paired[b] = true;
}

void tts_diff_pair_all(struct tts_diff_job *job)
{
    const struct tts_runs *a = &job->inputs[TTS_DIFF_A].runs,
                          *b = &job->inputs[TTS_DIFF_B].runs;
    struct tts_runpair pairs[TTS_RUNS_MAX];
    tts_runpairs(a->runs, a->count, b->runs, b->count, pairs);
    for (size_t i = 0; i < a->count; i++)
        if (pairs[i].by != TTS_RUNPAIR_NONE)
            add_pair(job, i, pairs[i].b, pairs[i].by);
}

/* ---- those that were asked for ---- */

/* By its title first, as one may be a number. */
static size_t choose(const struct tts_runs *runs, const char *word, size_t *count)
{
    uint64_t number;
    size_t found = 0;
    *count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        if (strcmp(runs->runs[i].title, word) != 0)
            continue;
        found = i;
        ++*count;
    }
    if (*count == 0 && tts_number_parse(word, strlen(word), &number) == TTS_OK && number > 0 &&
        number <= runs->count) {
        found = (size_t)number - 1;
        *count = 1;
    }
    return found;
}

bool tts_diff_pair_chosen(struct tts_diff_job *job, int *missing, size_t *count)
{
    size_t chosen[TTS_DIFF_SIDES];
    for (int side = 0; side < TTS_DIFF_SIDES; side++) {
        const char *word = job->options.run[side] ? job->options.run[side] : "1";
        chosen[side] = choose(&job->inputs[side].runs, word, count);
        *missing = side;
        if (*count != 1)
            return false;
    }
    add_pair(job, chosen[TTS_DIFF_A], chosen[TTS_DIFF_B], TTS_RUNPAIR_NONE);
    return true;
}

/* ---- of a pair ---- */

const char *tts_diff_phase_name(const struct tts_diff_job *job,
                                const struct tts_diff_pair *pair, size_t phase)
{
    assert(phase < pair->diff.phase_count);
    const struct tts_rundiff_phase *at = &pair->diff.phases[phase];
    int side = at->where == TTS_ONLY_B ? TTS_DIFF_B : TTS_DIFF_A;
    return tts_diff_run(job, pair, side)->phases[side == TTS_DIFF_B ? at->b : at->a].name;
}

bool tts_diff_differs(const struct tts_diff_job *job)
{
    for (size_t i = 0; i < job->pair_count; i++)
        if (job->pairs[i].diff.differs)
            return true;
    return false;
}
