/* phasepairs.c: sorts the phases of both runs by name, then compares the two sorted lists from
 * the start. */
#include "analysis/run/phasepairs.h"

#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct named {
    const char *name;
    uint32_t idx;
};

/* Orders by name, then by index. */
static int compare_named(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->idx > right->idx) - (left->idx < right->idx);
}

static void list_names(const struct tts_run *run, struct named *out)
{
    assert(run->phase_count < TTS_PHASEPAIR_NONE);
    for (size_t i = 0; i < run->phase_count; i++)
        out[i] = (struct named){run->phases[i].name, (uint32_t)i};
    if (run->phase_count > 1)
        qsort(out, run->phase_count, sizeof *out, compare_named);
}

/* Pairs the n-th phases of equal names. In both lists, phases with equal names are adjacent and
 * in the order of the run. */
static void pair_names(const struct named *a, size_t a_count, const struct named *b,
                       size_t b_count, uint32_t *pairs)
{
    size_t i = 0, j = 0;
    while (i < a_count && j < b_count) {
        int order = strcmp(a[i].name, b[j].name);
        if (order == 0)
            pairs[a[i++].idx] = b[j++].idx;
        else if (order < 0)
            i++;
        else
            j++;
    }
}

static size_t bytes_of_pairs(const struct tts_run *run)
{
    return (run->phase_count + (run->phase_count == 0)) * sizeof(uint32_t);
}

enum tts_status tts_phasepairs_new(const struct tts_run *run, const struct tts_run *other,
                                   const struct tts_alloc *alloc, uint32_t **out)
{
    if (!alloc)
        alloc = tts_alloc_libc();
    size_t names_bytes = (run->phase_count + other->phase_count + 1) * sizeof(struct named);
    struct named *names = alloc->alloc(alloc->ctx, names_bytes);
    uint32_t *pairs = names ? alloc->alloc(alloc->ctx, bytes_of_pairs(run)) : NULL;
    if (pairs) {
        memset(pairs, 0xff, bytes_of_pairs(run));
        list_names(run, names);
        list_names(other, names + run->phase_count);
        pair_names(names, run->phase_count, names + run->phase_count, other->phase_count,
                   pairs);
        *out = pairs;
    }
    if (names)
        alloc->free(alloc->ctx, names, names_bytes);
    return pairs ? TTS_OK : TTS_E_NOMEM;
}

enum tts_status tts_phase_ordinals_new(const struct tts_run *run, const struct tts_alloc *alloc,
                                       uint32_t **out)
{
    if (!alloc)
        alloc = tts_alloc_libc();
    size_t names_bytes = (run->phase_count + 1) * sizeof(struct named);
    struct named *names = alloc->alloc(alloc->ctx, names_bytes);
    uint32_t *ordinals = names ? alloc->alloc(alloc->ctx, bytes_of_pairs(run)) : NULL;
    if (ordinals) {
        list_names(run, names);
        for (size_t i = 0; i < run->phase_count; i++) {
            bool is_next = i > 0 && strcmp(names[i].name, names[i - 1].name) == 0;
            ordinals[names[i].idx] = is_next ? ordinals[names[i - 1].idx] + 1 : 0;
        }
        *out = ordinals;
    }
    if (names)
        alloc->free(alloc->ctx, names, names_bytes);
    return ordinals ? TTS_OK : TTS_E_NOMEM;
}

void tts_phasepairs_free(uint32_t *pairs, const struct tts_run *run,
                         const struct tts_alloc *alloc)
{
    if (!alloc)
        alloc = tts_alloc_libc();
    if (pairs)
        alloc->free(alloc->ctx, pairs, bytes_of_pairs(run));
}
