#include "analysis/run/worst_runs.h"

#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A copy of a run and of all data that the run points to, except the path. One allocation. */
struct tts_kept_run {
    struct tts_named_run view; /* the run, which points to the fields below */
    bool is_bad, has_usage;
    double usage;    /* peak / device memory; 0 if unknown */
    uint64_t number; /* number of the run, in the order in which runs were added */
    struct tts_run run;
    struct tts_trainmem mem;
    size_t bytes;                  /* size of this allocation */
    struct tts_run_phase phases[]; /* phases of the run; the name follows them */
};

static void rank_run(const struct tts_named_run *run, uint64_t number, struct tts_kept_run *out)
{
    const struct tts_trainmem *mem = run->mem;
    *out = (struct tts_kept_run){.is_bad = tts_named_run_judge(run, 0) == TTS_VERDICT_BAD,
                                 .has_usage = tts_named_run_has_usage(run),
                                 .number = number};
    if (out->has_usage)
        out->usage = (double)mem->peak.bytes / (double)mem->device_memory.bytes;
}

static bool is_worse_run(const struct tts_kept_run *a, const struct tts_kept_run *b)
{
    if (a->is_bad != b->is_bad)
        return a->is_bad;
    if (a->has_usage != b->has_usage)
        return a->has_usage;
    if (a->usage != b->usage)
        return a->usage > b->usage;
    return a->number < b->number;
}

static void free_kept_run(struct tts_kept_run *kept)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    alloc->free(alloc->ctx, kept, kept->bytes);
}

/* Copies a run. Takes is_bad, usage and number from `ranked`. Returns NULL if there is no
 * memory. */
static struct tts_kept_run *copy_run(const struct tts_named_run *run,
                                     const struct tts_kept_run *ranked)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t bytes, phase_bytes, name_bytes = strlen(run->name) + 1;
    if (__builtin_mul_overflow(run->run->phase_count, sizeof(struct tts_run_phase),
                               &phase_bytes) ||
        __builtin_add_overflow(phase_bytes, sizeof *ranked + name_bytes, &bytes))
        return NULL;
    struct tts_kept_run *kept = alloc->alloc(alloc->ctx, bytes);
    if (!kept)
        return NULL;
    *kept = *ranked;
    kept->bytes = bytes;
    kept->run = *run->run;
    kept->run.phases = kept->phases;
    kept->mem = *run->mem;
    if (phase_bytes > 0)
        memcpy(kept->phases, run->run->phases, phase_bytes);
    char *name = (char *)kept->phases + phase_bytes;
    memcpy(name, run->name, name_bytes);
    kept->view = (struct tts_named_run){name, run->path, &kept->run, &kept->mem};
    return kept;
}

/* Returns the place for one more run: the next free place, or the place of the least bad
 * run. */
static struct tts_kept_run **find_place(struct tts_worst_runs *worst)
{
    if (worst->count < TTS_WORST_RUNS_MAX)
        return &worst->kept[worst->count];
    struct tts_kept_run **best = &worst->kept[0];
    for (size_t i = 1; i < worst->count; i++)
        if (is_worse_run(*best, worst->kept[i]))
            best = &worst->kept[i];
    return best;
}

enum tts_status tts_worst_runs_add(struct tts_worst_runs *worst,
                                   const struct tts_named_run *run)
{
    struct tts_kept_run ranked, **place = find_place(worst);
    rank_run(run, worst->all.runs, &ranked);
    worst->all.runs++;
    worst->all.by_verdict[tts_named_run_judge(run, 0)]++;
    if (*place && !is_worse_run(&ranked, *place))
        return TTS_OK;
    struct tts_kept_run *kept = copy_run(run, &ranked);
    if (!kept)
        return TTS_E_NOMEM;
    if (*place)
        free_kept_run(*place);
    else
        worst->count++;
    *place = kept;
    return TTS_OK;
}

static int compare_kept_runs(const void *a, const void *b)
{
    const struct tts_kept_run *const *one = a, *const *other = b;
    return is_worse_run(*one, *other) ? -1 : 1;
}

size_t tts_worst_runs_choose(const struct tts_worst_runs *worst, size_t max,
                             struct tts_named_run out[TTS_WORST_RUNS_MAX],
                             struct tts_run_tally *rest)
{
    const struct tts_kept_run *order[TTS_WORST_RUNS_MAX];
    size_t count = worst->count < max ? worst->count : max;
    assert(max <= TTS_WORST_RUNS_MAX);
    for (size_t i = 0; i < worst->count; i++)
        order[i] = worst->kept[i];
    if (worst->all.runs > max)
        qsort(order, worst->count, sizeof order[0], compare_kept_runs);
    *rest = worst->all;
    rest->runs -= count;
    for (size_t i = 0; i < count; i++) {
        out[i] = order[i]->view;
        rest->by_verdict[tts_named_run_judge(&out[i], 0)]--;
    }
    return count;
}

void tts_worst_runs_release(struct tts_worst_runs *worst)
{
    for (size_t i = 0; i < worst->count; i++)
        free_kept_run(worst->kept[i]);
    *worst = (struct tts_worst_runs){0};
}
