#include "analysis/questions/leak.h"

#include "base/heap.h"

#include <assert.h>
#include <string.h>

/* The numbers of the rule (docs/design/live-questions.md). */
enum {
    GROUPS_AFTER_STEADY = 4,
    STEADY_GROUPS = 3,
    GROUPS_FROM_BEGIN = 6,
    KEPT_SHARE = 2,       /* at most one of so many buffers is kept */
    KEPT_SHARE_SURE = 5,  /* at most one of so many: a leak, whatever the base is */
    GROWING_KEYS_MAX = 2, /* more kinds that grow are a model that is being loaded */
    BASE_BUFFERS = 4,
    STEADY_SHARE = 4, /* steady: changes by less than this share of the growth */
    RATE_MAX = 4,
    STRIDE_MAX = 2,
};

/* ---- the history ---- */

enum tts_status tts_leak_init(struct tts_leak *leak, size_t key_capacity,
                              const struct tts_alloc *alloc)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    *leak = (struct tts_leak){.span = 1, .alloc = alloc};
    leak->keys = alloc->alloc(alloc->ctx, key_capacity * sizeof *leak->keys);
    if (!leak->keys)
        return TTS_E_NOMEM;
    leak->key_capacity = key_capacity;
    return TTS_OK;
}

void tts_leak_release(struct tts_leak *leak)
{
    if (leak->keys)
        leak->alloc->free(leak->alloc->ctx, leak->keys,
                          leak->key_capacity * sizeof *leak->keys);
    *leak = (struct tts_leak){0};
}

void tts_leak_reset(struct tts_leak *leak)
{
    *leak = (struct tts_leak){.span = 1,
                              .keys = leak->keys,
                              .key_capacity = leak->key_capacity,
                              .alloc = leak->alloc};
}

/* Fills the windows of a key up to `window`, in which the number of buffers did not change. */
static void reach_leak_window(struct tts_leakkey *key, uint32_t window)
{
    while (key->at < window) {
        key->at++;
        key->low[key->at] = key->high[key->at] = key->count;
        key->freed[key->at] = 0;
    }
}

enum tts_status tts_leak_add(struct tts_leak *leak, uint32_t count, uint32_t *key)
{
    if (leak->key_count == leak->key_capacity)
        return TTS_E_FULL;
    struct tts_leakkey *added = &leak->keys[leak->key_count];
    memset(added, 0, sizeof *added);
    *key = (uint32_t)leak->key_count++;
    tts_leak_set(leak, *key, count, 0);
    return TTS_OK;
}

void tts_leak_set(struct tts_leak *leak, uint32_t key, uint32_t count, uint32_t freed)
{
    uint32_t window = leak->window_count;
    assert(key < leak->key_count && window < TTS_LEAK_WINDOWS);
    struct tts_leakkey *at = &leak->keys[key];
    reach_leak_window(at, window);
    at->count = count;
    if (!leak->has_begun)
        at->low[0] = at->high[0] = count; /* buffers from before the history */
    if (count < at->low[window])
        at->low[window] = count;
    if (count > at->high[window])
        at->high[window] = count;
    at->freed[window] += freed;
}

/* Makes one window of each two. */
static void merge_key_windows(struct tts_leakkey *key)
{
    for (uint32_t i = 0; i < TTS_LEAK_WINDOWS / 2; i++) {
        uint32_t a = 2 * i, b = a + 1;
        key->low[i] = key->low[a] < key->low[b] ? key->low[a] : key->low[b];
        key->high[i] = key->high[a] > key->high[b] ? key->high[a] : key->high[b];
        key->freed[i] = key->freed[a] + key->freed[b];
    }
    key->at = TTS_LEAK_WINDOWS / 2 - 1;
}

static void merge_leak_windows(struct tts_leak *leak)
{
    for (size_t i = 0; i < leak->key_count; i++) {
        reach_leak_window(&leak->keys[i], TTS_LEAK_WINDOWS - 1);
        merge_key_windows(&leak->keys[i]);
    }
    for (uint32_t i = 0; i < TTS_LEAK_WINDOWS / 2; i++)
        leak->windows[i] = leak->windows[2 * i];
    leak->window_count = TTS_LEAK_WINDOWS / 2;
    leak->span *= 2;
}

void tts_leak_tick(struct tts_leak *leak, uint64_t time_ns, uint64_t allocs, uint64_t frees)
{
    struct tts_leakwindow now = {time_ns, allocs, frees};
    if (!leak->has_begun)
        leak->windows[0] = now;
    leak->has_begun = true;
    leak->now = now;
    if (++leak->ticks < leak->span)
        return;
    leak->ticks = 0;
    leak->window_count++;
    if (leak->window_count == TTS_LEAK_WINDOWS)
        merge_leak_windows(leak);
    leak->windows[leak->window_count] = now;
}

/* ---- the judgement ---- */

/* The windows in groups of `stride`, so that slow periods are seen too. */
struct leak_view {
    const struct tts_leak *leak;
    uint32_t end; /* windows that count */
    uint32_t stride, groups;
};

/* The growth of one key at the end of the history: groups `first` .. groups - 1. */
struct leak_run {
    uint32_t first, groups;
    uint32_t steady; /* groups before the first group with about as many buffers */
    uint32_t gained;
};

static uint32_t group_window(const struct leak_view *view, uint32_t group)
{
    return view->end - (view->groups - group) * view->stride;
}

static uint32_t group_low(const struct leak_view *view, const struct tts_leakkey *key,
                          uint32_t group)
{
    uint32_t at = group_window(view, group), low = key->low[at];
    for (uint32_t i = 1; i < view->stride; i++)
        low = key->low[at + i] < low ? key->low[at + i] : low;
    return low;
}

static uint32_t group_high(const struct leak_view *view, const struct tts_leakkey *key,
                           uint32_t group)
{
    uint32_t at = group_window(view, group), high = key->high[at];
    for (uint32_t i = 1; i < view->stride; i++)
        high = key->high[at + i] > high ? key->high[at + i] : high;
    return high;
}

static uint32_t group_freed(const struct leak_view *view, const struct tts_leakkey *key,
                            uint32_t group)
{
    uint32_t at = group_window(view, group), freed = 0;
    for (uint32_t i = 0; i < view->stride; i++)
        freed += key->freed[at + i];
    return freed;
}

/* Finds the growth of a key: the lowest number of each group is above that of the group before,
 * and the last is above everything in the first. Returns false if the key does not grow. */
static bool find_leak_run(const struct leak_view *view, const struct tts_leakkey *key,
                          struct leak_run *out)
{
    uint32_t last = view->groups - 1, first = last;
    while (first > 0 && group_low(view, key, first - 1) < group_low(view, key, first))
        first--;
    uint32_t low = group_low(view, key, first), swing = group_high(view, key, first) - low;
    *out = (struct leak_run){.first = first,
                             .groups = view->groups - first,
                             .gained = group_low(view, key, last) - low};
    if (out->groups < GROUPS_AFTER_STEADY || out->gained <= swing)
        return false;
    if (swing > out->gained / STEADY_SHARE)
        swing = out->gained / STEADY_SHARE;
    for (uint32_t i = first; i > 0; i--) {
        uint32_t before = group_low(view, key, i - 1);
        if ((before > low ? before - low : low - before) > swing)
            break;
        out->steady++;
    }
    return true;
}

/* Returns the lowest numbers of all keys in a group, added up. */
static uint64_t sum_group_low(const struct leak_view *view, uint32_t group)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < view->leak->key_count; i++)
        sum += group_low(view, &view->leak->keys[i], group);
    return sum;
}

static const struct tts_leakwindow *leak_group_begin(const struct leak_view *view,
                                                     uint32_t group)
{
    uint32_t window = group_window(view, group);
    return window == view->leak->window_count + 1 ? &view->leak->now
                                                  : &view->leak->windows[window];
}

/* Returns whether at most one of `share` buffers that were allocated in the run is kept. An
 * eighth is tolerated, because a run begins and ends anywhere in a period. */
static bool keeps_few(const struct leak_view *view, const struct leak_run *run, uint64_t share)
{
    const struct tts_leakwindow *from = leak_group_begin(view, run->first),
                                *to = leak_group_begin(view, view->groups);
    uint64_t allocs = to->allocs - from->allocs, frees = to->frees - from->frees;
    uint64_t kept = allocs > frees ? allocs - frees : 0;
    return kept <= allocs / share + allocs / share / 4;
}

/* Returns whether the program frees about as many buffers in a group as before the run. For
 * programs that are looked at too rarely to see their buffers come and go. Groups are equal in
 * working time; waiting does not count. */
static bool has_same_rate(const struct leak_view *view, const struct leak_run *run)
{
    const struct tts_leakwindow *from = leak_group_begin(view, run->first - run->steady),
                                *mid = leak_group_begin(view, run->first),
                                *to = leak_group_begin(view, view->groups);
    uint64_t before = (mid->frees - from->frees) / run->steady;
    uint64_t after = (to->frees - mid->frees) / run->groups;
    return before / RATE_MAX <= after && after / RATE_MAX <= before;
}

/* Returns whether the work of the steady groups goes on in the run: at least half of the kinds
 * of buffers that came and went do so still. */
static bool has_same_work(const struct leak_view *view, const struct leak_run *run)
{
    uint32_t before = 0, still = 0, last = view->groups - 1;
    for (size_t i = 0; i < view->leak->key_count; i++) {
        const struct tts_leakkey *key = &view->leak->keys[i];
        bool was = false;
        for (uint32_t j = run->first - run->steady; j < run->first; j++)
            was |= group_freed(view, key, j) > 0;
        before += was;
        still += was && group_freed(view, key, last) + group_freed(view, key, last - 1) > 0;
    }
    return before > 0 ? 2 * still >= before : has_same_rate(view, run);
}

/* Looks for kinds of buffers that come and go in each group of the run. Sets *periods to how
 * often the rarest of them was freed, at most once in a tick; 0 if there is none. Returns false
 * if buffers are seen to come and go, but no kind in each group. Nothing is seen if the program
 * is looked at too rarely. */
static bool has_repeated_work(const struct leak_view *view, const struct leak_run *run,
                              uint64_t *periods)
{
    bool has_any = false;
    *periods = 0;
    for (size_t i = 0; i < view->leak->key_count; i++) {
        uint32_t groups = 0;
        uint64_t freed = 0;
        for (uint32_t j = run->first; j < view->groups; j++) {
            uint32_t more = group_freed(view, &view->leak->keys[i], j);
            groups += more > 0;
            freed += more;
        }
        if (groups == run->groups && (*periods == 0 || freed < *periods))
            *periods = freed;
        has_any |= groups > 0;
    }
    /* A tick is at most one repetition: after frees, the work goes on. */
    uint64_t ticks = view->leak->span * view->stride * run->groups;
    if (view->end > view->leak->window_count)
        ticks -= view->leak->span - view->leak->ticks; /* the last window is not full */
    *periods = *periods > ticks ? ticks : *periods;
    return *periods > 0 || !has_any;
}

/* Returns whether the program had other buffers when the run began, and at most a few kinds of
 * buffers grow: a model that is being loaded has only buffers that grow, of many kinds. */
static bool has_base(const struct leak_view *view, const struct leak_run *run)
{
    uint32_t growing = 0;
    uint64_t base = 0;
    for (size_t i = 0; i < view->leak->key_count; i++) {
        const struct tts_leakkey *key = &view->leak->keys[i];
        uint32_t from = group_low(view, key, run->first);
        if (group_low(view, key, view->groups - 1) >= from + run->groups / 2)
            growing++;
        else
            base += from;
    }
    return growing <= GROWING_KEYS_MAX && base >= BASE_BUFFERS;
}

static bool is_leak_run(const struct leak_view *view, const struct leak_run *run)
{
    uint64_t first = sum_group_low(view, run->first);
    uint64_t last = sum_group_low(view, view->groups - 1), periods;
    if (last < first + run->gained / 2)
        return false;
    if (!keeps_few(view, run, KEPT_SHARE_SURE) &&
        !(keeps_few(view, run, KEPT_SHARE) && has_base(view, run)))
        return false;
    if (run->steady >= STEADY_GROUPS)
        return has_same_work(view, run);
    return run->groups >= GROUPS_FROM_BEGIN && 2 * run->groups >= view->groups &&
           has_repeated_work(view, run, &periods);
}

/* Adds a key to the finding, which is sorted by gained buffers. */
static void add_leak_growth(struct tts_leakfound *found, uint32_t key, uint32_t gained)
{
    size_t at = found->growth_count;
    if (at == TTS_LEAK_FOUND_MAX) {
        found->unlisted++;
        if (found->growths[--at].gained >= gained)
            return;
    } else {
        found->growth_count++;
    }
    for (; at > 0 && found->growths[at - 1].gained < gained; at--)
        found->growths[at] = found->growths[at - 1];
    found->growths[at] = (struct tts_leakgrowth){key, gained};
}

/* Returns how many buffers a key gained. If no buffer of the key was freed, also those of the
 * last group count that came after its lowest number. */
static uint32_t count_gained(const struct leak_view *view, const struct leak_run *run,
                             const struct tts_leakkey *key)
{
    for (uint32_t i = run->first; i < view->groups; i++)
        if (group_freed(view, key, i) > 0)
            return run->gained;
    return group_high(view, key, view->groups - 1) - group_low(view, key, run->first);
}

static void add_leak_run(const struct leak_view *view, const struct leak_run *run, uint32_t key,
                         struct tts_leakfound *found)
{
    uint64_t since = leak_group_begin(view, run->first)->time_ns;
    if (found->growth_count == 0 || since < found->since_ns)
        found->since_ns = since;
    if (run->groups > found->windows) {
        found->windows = run->groups;
        (void)has_repeated_work(view, run, &found->periods);
    }
    found->until_ns = leak_group_begin(view, view->groups)->time_ns;
    found->is_after_steady |= run->steady >= STEADY_GROUPS;
    add_leak_growth(found, key, count_gained(view, run, &view->leak->keys[key]));
}

static bool judge_leak_view(const struct leak_view *view, struct tts_leakfound *out)
{
    const struct tts_leak *leak = view->leak;
    struct tts_leakfound found = {0};
    struct leak_run run;
    for (size_t i = 0; i < leak->key_count; i++)
        if (find_leak_run(view, &leak->keys[i], &run) && is_leak_run(view, &run))
            add_leak_run(view, &run, (uint32_t)i, &found);
    if (found.growth_count == 0)
        return false;
    *out = found;
    return true;
}

/* Returns the number of windows before the program cleans up: before the last windows that have
 * less than half of the buffers of the fullest window. */
static uint32_t leak_clean_end(const struct tts_leak *leak, uint32_t end)
{
    struct leak_view view = {.leak = leak, .end = end, .stride = 1, .groups = end};
    uint64_t most = 0;
    for (uint32_t i = 0; i < end; i++) {
        uint64_t sum = sum_group_low(&view, i);
        most = sum > most ? sum : most;
    }
    while (end > 0 && sum_group_low(&view, end - 1) < most / 2)
        end--;
    return end;
}

bool tts_leak_judge(struct tts_leak *leak, bool has_ended, struct tts_leakfound *out)
{
    uint32_t end = leak->window_count;
    for (size_t i = 0; i < leak->key_count; i++)
        reach_leak_window(&leak->keys[i], end);
    if (has_ended && leak->ticks > leak->span / 2)
        end++;
    if (has_ended)
        end = leak_clean_end(leak, end);
    for (uint32_t stride = 1; stride <= STRIDE_MAX; stride++) {
        struct leak_view view = {
            .leak = leak, .end = end, .stride = stride, .groups = end / stride};
        if (view.groups >= GROUPS_AFTER_STEADY && judge_leak_view(&view, out))
            return true;
    }
    return false;
}
