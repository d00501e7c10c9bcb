#include "analysis/run/runpairs.h"

#include <assert.h>
#include <string.h>

/* One of the two lists. Lists are short, so runs without a partner are found by search. */
struct list {
    const struct tts_run *runs;
    size_t count;
};

struct pairing {
    struct list a, b;
    struct tts_runpair *out;
};

/* Returns true if two runs may be paired in this step. */
typedef bool alike_fn(const struct tts_run *a, const struct tts_run *b);

static bool is_same_log(const struct tts_run *a, const struct tts_run *b)
{
    return a->name[0] != '\0' && strcmp(a->name, b->name) == 0 &&
           strcmp(a->title, b->title) == 0 && strcmp(a->rank, b->rank) == 0;
}

static bool is_same_title(const struct tts_run *a, const struct tts_run *b)
{
    return strcmp(a->title, b->title) == 0 && strcmp(a->rank, b->rank) == 0;
}

static bool is_same_rank(const struct tts_run *a, const struct tts_run *b)
{
    return a->rank[0] != '\0' && strcmp(a->rank, b->rank) == 0;
}

static bool contradicts_name(const char *a, const char *b)
{
    return a[0] != '\0' && b[0] != '\0' && strcmp(a, b) != 0;
}

bool tts_runpair_is_named(const struct tts_run *a, const struct tts_run *b)
{
    return !contradicts_name(a->rank, b->rank) && !contradicts_name(a->title, b->title);
}

const char *tts_runpair_by_name(enum tts_runpair_by by, const struct tts_run *a,
                                const struct tts_run *b)
{
    if (by == TTS_RUNPAIR_ORDER)
        return "order";
    if (by == TTS_RUNPAIR_TITLE && a->title[0] != '\0')
        return "title";
    /* A pair without titles was found by its rank or by the name of its log. */
    if (a->rank[0] != '\0')
        return "rank";
    return a->name[0] != '\0' && strcmp(a->name, b->name) == 0 ? "file" : "order";
}

static bool is_free_run(const struct pairing *pairing, const struct list *list, size_t run)
{
    if (list == &pairing->a)
        return pairing->out[run].by == TTS_RUNPAIR_NONE;
    for (size_t i = 0; i < pairing->a.count; i++)
        if (pairing->out[i].by != TTS_RUNPAIR_NONE && pairing->out[i].b == run)
            return false;
    return true;
}

static void join_runs(struct pairing *pairing, size_t a, size_t b, enum tts_runpair_by by)
{
    assert(is_free_run(pairing, &pairing->a, a) && is_free_run(pairing, &pairing->b, b));
    pairing->out[a] = (struct tts_runpair){by, b};
}

/* Returns the index of the only run in the list that is like `run`. Returns list->count if the
 * list has none or several. With `only_free`, runs that have a partner do not count. */
static size_t find_only_alike(const struct pairing *pairing, const struct list *list,
                              const struct tts_run *run, alike_fn *is_alike, bool only_free)
{
    size_t found = list->count;
    for (size_t i = 0; i < list->count; i++) {
        if (!is_alike(&list->runs[i], run) || (only_free && !is_free_run(pairing, list, i)))
            continue;
        if (found < list->count)
            return list->count;
        found = i;
    }
    return found;
}

/* Pairs runs that are alike and unique in both lists. A new pair makes no other run unique,
 * because runs that are like the same run are like each other. */
static void join_unique(struct pairing *pairing, alike_fn *is_alike, bool only_free,
                        enum tts_runpair_by by)
{
    for (size_t i = 0; i < pairing->a.count; i++) {
        if (!is_free_run(pairing, &pairing->a, i))
            continue;
        const struct tts_run *run = &pairing->a.runs[i];
        size_t other = find_only_alike(pairing, &pairing->b, run, is_alike, only_free);
        if (other < pairing->b.count && is_free_run(pairing, &pairing->b, other) &&
            find_only_alike(pairing, &pairing->a, &pairing->b.runs[other], is_alike,
                            only_free) == i)
            join_runs(pairing, i, other, by);
    }
}

/* Pairs the runs without a partner in their order. With `only_named`, runs whose names
 * contradict each other are not paired. */
static void join_in_order(struct pairing *pairing, bool only_named)
{
    for (size_t i = 0; i < pairing->a.count; i++) {
        if (!is_free_run(pairing, &pairing->a, i))
            continue;
        const struct tts_run *a = &pairing->a.runs[i];
        for (size_t j = 0; j < pairing->b.count; j++) {
            if (!is_free_run(pairing, &pairing->b, j) ||
                (only_named && !tts_runpair_is_named(a, &pairing->b.runs[j])))
                continue;
            join_runs(pairing, i, j, TTS_RUNPAIR_ORDER);
            break;
        }
    }
}

void tts_runpairs(const struct tts_run *a, size_t a_count, const struct tts_run *b,
                  size_t b_count, struct tts_runpair *out)
{
    struct pairing pairing = {{a, a_count}, {b, b_count}, out};
    for (size_t i = 0; i < a_count; i++)
        out[i] = (struct tts_runpair){0};
    join_unique(&pairing, is_same_log, false, TTS_RUNPAIR_TITLE);
    join_unique(&pairing, is_same_title, false, TTS_RUNPAIR_TITLE);
    join_unique(&pairing, is_same_rank, true, TTS_RUNPAIR_RANK);
    join_in_order(&pairing, true);
    if (a_count == b_count)
        join_in_order(&pairing, false);
}
