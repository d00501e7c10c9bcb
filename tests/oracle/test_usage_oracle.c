/* Compares a fold with the slow model over long random histories of events: every figure of
 * every phase, with several watches on one fold that begin, cut and end at random; the change
 * of each event; the current live buffers, pools and cores; health.
 *
 *   test_usage_oracle [--seed N] [--ops N] [--length N]
 *
 * History i depends only on seed N + i, so that a failed history can be repeated alone with its
 * own seed. --length is the maximum number of steps of a history. */
#include "base/number.h"
#include "model/fold.h"
#include "model/opnames.h"
#include "oracle/usage_draw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 64, LINE = 200, RECORDS = 3000, LIVE = 1024 };

struct rig {
    struct usage_draw draw;
    struct usage_model *model;
    struct tts_fold *fold;
    struct tts_watch *watches[USAGE_WATCHES];
    bool is_attached[USAGE_WATCHES], is_used[USAGE_WATCHES];
    uint64_t events, phases, crowded;
    const char *what; /* description of the difference */
    char lines[LINES][LINE];
    size_t line_count;
};

static uint64_t below(struct rig *rig, uint64_t n)
{
    return usage_below(&rig->draw, n);
}

static bool chance(struct rig *rig, uint64_t one_in)
{
    return usage_chance(&rig->draw, one_in);
}

__attribute__((format(printf, 2, 3))) static void note(struct rig *rig, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(rig->lines[rig->line_count++ % LINES], LINE, format, args);
    va_end(args);
}

static bool differ(struct rig *rig, const char *what)
{
    rig->what = what;
    return false;
}

static bool rig_init(struct rig *rig, uint64_t seed)
{
    *rig = (struct rig){0};
    usage_draw_init(&rig->draw, seed);
    const struct tts_tracker_config *limits = &rig->draw.limits;
    rig->model = usage_model_new(limits, &rig->draw.places);
    bool ok = tts_fold_new(limits, NULL, &rig->fold) == TTS_OK;
    for (int w = 0; w < USAGE_WATCHES && ok; w++)
        ok = tts_watch_new(rig->fold, NULL, &rig->watches[w]) == TTS_OK;
    note(rig, "live_max %u, devices_max %u, ops_max %u", limits->live_max, limits->devices_max,
         limits->ops_max);
    return ok || differ(rig, "there is no memory");
}

static void rig_done(struct rig *rig)
{
    for (int w = 0; w < USAGE_WATCHES; w++) {
        if (rig->is_attached[w])
            tts_watch_detach(rig->fold, rig->watches[w]);
        tts_watch_free(rig->watches[w]);
    }
    tts_fold_free(rig->fold);
    usage_model_free(rig->model);
}

/* ---- comparing ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_live(const struct tts_live *a, const struct tts_live *b)
{
    return a->id == b->id && a->device == b->device && a->pool == b->pool && a->seq == b->seq &&
           a->size_bytes == b->size_bytes && a->bytes_per_bank == b->bytes_per_bank &&
           a->block_bytes == b->block_bytes && same_text(a->op, b->op);
}

static bool same_parts(struct rig *rig, const struct tts_core_peak *is,
                       const struct tts_core_peak *should)
{
    if (is->part_count != should->part_count || is->unlisted != should->unlisted ||
        is->unlisted_bytes != should->unlisted_bytes)
        return differ(rig, "core peak: how many parts");
    for (size_t i = 0; i < is->part_count; i++) {
        const struct tts_core_part *a = &is->parts[i], *b = &should->parts[i];
        if (a->kind != b->kind || a->bytes != b->bytes)
            return differ(rig, "core peak: a part");
        if (a->kind == TTS_EVENT_ALLOC && (a->pool != b->pool || a->id != b->id))
            return differ(rig, "core peak: the buffer of a part");
        if (!same_text(a->op, b->op))
            return differ(rig, "core peak: the operation of a part");
    }
    return true;
}

static bool same_peak(struct rig *rig, const struct tts_core_peak *is,
                      const struct tts_core_peak *should)
{
    if (is->known != should->known || is->bytes != should->bytes)
        return differ(rig, "core peak: bytes");
    if (is->at_least != should->at_least)
        return differ(rig, "core peak: at least");
    if (!is->known)
        return is->part_count == 0 || differ(rig, "core peak: parts of nothing");
    if (is->device != should->device)
        return differ(rig, "core peak: device");
    if (is->core.x != should->core.x || is->core.y != should->core.y)
        return differ(rig, "core peak: core");
    if (is->seq != should->seq || !same_text(is->op, should->op))
        return differ(rig, "core peak: event or operation");
    if (is->cb_bytes != should->cb_bytes || is->dfb_bytes != should->dfb_bytes ||
        is->scratchpad_bytes != should->scratchpad_bytes || is->l1_bytes != should->l1_bytes ||
        is->l1_small_bytes != should->l1_small_bytes)
        return differ(rig, "core peak: bytes by kind");
    rig->crowded += is->unlisted > 0;
    return same_parts(rig, is, should);
}

static bool same_pool(struct rig *rig, const struct tts_pool_usage *a,
                      const struct tts_pool_usage *b)
{
    if (a->peak_bytes != b->peak_bytes || a->allocated_bytes != b->allocated_bytes ||
        a->freed_bytes != b->freed_bytes)
        return differ(rig, "pool: bytes");
    if (a->allocations != b->allocations || a->frees != b->frees)
        return differ(rig, "pool: counts");
    if (a->cumulative_peak_bytes != b->cumulative_peak_bytes ||
        a->cumulative_current_bytes != b->cumulative_current_bytes)
        return differ(rig, "pool: cumulative figures");
    return true;
}

static bool same_usage(struct rig *rig, const struct tts_usage *is,
                       const struct tts_usage *should)
{
    for (int pool = 0; pool < TTS_POOLS; pool++)
        if (!same_pool(rig, &is->pools[pool], &should->pools[pool]))
            return false;
    if (!same_pool(rig, &is->dram_with_trace, &should->dram_with_trace) ||
        !same_pool(rig, &is->l1_with_small, &should->l1_with_small))
        return false;
    if (is->peak_cb_bytes != should->peak_cb_bytes ||
        is->peak_dfb_bytes != should->peak_dfb_bytes ||
        is->peak_scratchpad_bytes != should->peak_scratchpad_bytes ||
        is->peak_total_bytes != should->peak_total_bytes)
        return differ(rig, "L1 as printed");
    if (is->programs != should->programs || is->ops != should->ops)
        return differ(rig, "programs or operations");
    if (is->traces != should->traces || is->traced_bytes != should->traced_bytes)
        return differ(rig, "traces");
    return same_peak(rig, &is->core, &should->core);
}

static bool same_phase(struct rig *rig, const struct tts_phase *is,
                       const struct tts_phase *should)
{
    rig->phases++;
    if (is->events != should->events)
        return differ(rig, "events of the phase");
    if (is->device_count != should->device_count)
        return differ(rig, "how many devices");
    for (size_t i = 0; i < is->device_count; i++) {
        if (is->devices[i].device != should->devices[i].device)
            return differ(rig, "order of devices");
        if (!same_usage(rig, &is->devices[i].usage, &should->devices[i].usage)) {
            note(rig, "    (device %u)", is->devices[i].device);
            return false;
        }
    }
    if (same_usage(rig, &is->usage, &should->usage))
        return true;
    note(rig, "    (all devices)");
    return false;
}

static bool cut(struct rig *rig, int w)
{
    static struct usage_phase should;
    note(rig, "cut watch %d", w);
    struct tts_watch_size size = tts_watch_measure(rig->fold, rig->watches[w]);
    struct tts_device_usage *devices = calloc(size.devices + 1, sizeof *devices);
    struct tts_core_part *parts = calloc(size.parts + 1, sizeof *parts);
    struct tts_phase is = {.events = UINT64_MAX};
    tts_watch_cut(rig->fold, rig->watches[w], &is, devices, parts);
    usage_model_cut(rig->model, w, &should);
    bool same = same_phase(rig, &is, &should.phase);
    free(parts);
    free(devices);
    return same;
}

/* ---- the current state ---- */

static bool same_pools(struct rig *rig, int d)
{
    struct tts_pool_now is[TTS_POOLS];
    uint64_t buffers[TTS_POOLS], bytes[TTS_POOLS];
    usage_model_pools(rig->model, d, buffers, bytes);
    if (d < 0)
        tts_fold_pools(rig->fold, is);
    else
        tts_fold_pools_of(rig->fold, usage_model_device(rig->model, d), is);
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        if (is[pool].bytes != bytes[pool])
            return differ(rig, "now: bytes of a pool");
        if (is[pool].buffers != buffers[pool])
            return differ(rig, "now: buffers of a pool");
    }
    return true;
}

static bool same_core(struct rig *rig, int d, uint32_t place)
{
    struct tts_core_part parts[TTS_CORE_PARTS_MAX], should_parts[TTS_CORE_PARTS_MAX];
    struct tts_core_peak is, should;
    usage_model_core(rig->model, d, place, &should, should_parts);
    if (d < 0)
        tts_fold_fullest_core(rig->fold, &is, parts);
    else
        tts_fold_core(rig->fold, should.device, should.core, &is, parts);
    return same_peak(rig, &is, &should) && (is.parts == parts || differ(rig, "now: parts"));
}

static bool same_now(struct rig *rig, const struct tts_live *live, size_t count)
{
    struct tts_live one;
    uint32_t cursor = 0;
    size_t told = 0;
    for (; tts_fold_next_live(rig->fold, &cursor, &one); told++) {
        size_t i = 0;
        while (i < count && !same_live(&one, &live[i]))
            i++;
        if (i == count)
            return differ(rig, "now: a live buffer");
    }
    if (told != count)
        return differ(rig, "now: how many live");
    for (int d = -1; d < (int)usage_model_device_count(rig->model); d++) {
        if (!same_pools(rig, d))
            return false;
        for (uint32_t place = 0; place < (d < 0 ? 1 : USAGE_PLACES); place++) {
            if (!same_core(rig, d, place))
                return false;
        }
    }
    return true;
}

static bool same_state(struct rig *rig)
{
    struct tts_tracker_health is, should;
    if (!tts_fold_is_valid(rig->fold))
        return differ(rig, "not valid");
    tts_fold_health(rig->fold, &is);
    usage_model_health(rig->model, &should);
    if (memcmp(&is, &should, sizeof is) != 0)
        return differ(rig, "health");
    static struct tts_live live[LIVE], told[LIVE];
    size_t count = usage_model_live(rig->model, live, LIVE), capacity = below(rig, LIVE);
    if (tts_fold_collect(rig->fold, NULL, 0) != count ||
        tts_fold_collect(rig->fold, told, capacity) != count)
        return differ(rig, "how many live");
    tts_fold_sort(told, count < capacity ? count : capacity);
    for (size_t i = 0; i < count && i < capacity; i++) {
        if (!same_live(&told[i], &live[i]))
            return differ(rig, "a live buffer");
    }
    return same_now(rig, live, count);
}

/* ---- events ---- */

static void note_event(struct rig *rig, const struct tts_event *e, int op)
{
    char text[LINE];
    int len = snprintf(text, sizeof text, "%s", tts_event_kind_name(e->kind));
    size_t at = (size_t)len;
    if (e->kind != TTS_EVENT_OP_BEGIN && e->kind != TTS_EVENT_OP_END)
        at += (size_t)snprintf(text + at, sizeof text - at, " device %u", e->device);
    if (e->kind <= TTS_EVENT_FREE)
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            " %s id %" PRIu64 " size %" PRIu64 " bank %" PRIu64 " block %" PRIu64,
            tts_pool_name(e->pool), e->id, e->size_bytes, e->bytes_per_bank, e->block_bytes);
    if (e->kind >= TTS_EVENT_CB && e->kind <= TTS_EVENT_SCRATCHPAD)
        at += (size_t)snprintf(text + at, sizeof text - at, " size %" PRIu64 "%s",
                               e->size_bytes, e->borrowed ? " borrowed" : "");
    for (size_t i = 0; i < e->range_count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " [%u-%u - %u-%u]", e->ranges[i].x0,
                               e->ranges[i].y0, e->ranges[i].x1, e->ranges[i].y1);
    if (op >= 0)
        snprintf(text + at, sizeof text - at, " (op %c)", 'a' + op);
    note(rig, "%s", text);
}

/* ---- changes ---- */

/* Returns the buffer that was live before and is not live now, or NULL if there is none. Both
 * lists are in order of age. */
static const struct tts_live *gone_of(const struct tts_live *before, size_t before_count,
                                      const struct tts_live *after, size_t after_count)
{
    size_t same = 0;
    while (same < before_count && same < after_count && before[same].seq == after[same].seq)
        same++;
    return same < before_count ? &before[same] : NULL;
}

/* Folds the event. Compares the change that the fold reports with the live buffers before and
 * after. */
static bool post_change(struct rig *rig, const struct tts_event *event, uint64_t hash, int op)
{
    static struct tts_live before[LIVE], after[LIVE];
    struct tts_tracker_health old, new;
    struct tts_change change;
    size_t before_count = usage_model_live(rig->model, before, LIVE);
    usage_model_health(rig->model, &old);
    memset(&change, 0xff, sizeof change);
    tts_fold_change(rig->fold, event, hash, &change);
    usage_model_event(rig->model, event, op);
    usage_model_health(rig->model, &new);
    size_t after_count = usage_model_live(rig->model, after, LIVE);
    const struct tts_live *gone = gone_of(before, before_count, after, after_count);
    bool comes = after_count + (gone != NULL) > before_count;
    if (change.seq != new.events || change.has_chip || change.is_restored || change.is_unlisted)
        return differ(rig, "change: event");
    if (change.has_left != (gone != NULL) || (gone && !same_live(&change.left, gone)))
        return differ(rig, "change: what left");
    if (change.has_come != comes ||
        (comes && !same_live(&change.came, &after[after_count - 1])))
        return differ(rig, "change: what came");
    if (change.has_unseen != (new.unseen_frees > old.unseen_frees))
        return differ(rig, "change: what was freed unseen");
    if (change.has_unseen &&
        (change.left.id != event->id || change.left.pool != event->pool ||
         change.left.device != event->device || change.left.size_bytes != event->size_bytes ||
         change.left.bytes_per_bank != event->bytes_per_bank))
        return differ(rig, "change: the buffer that was freed unseen");
    return true;
}

static bool post(struct rig *rig)
{
    struct tts_core_range ranges[USAGE_RANGES];
    struct tts_event event;
    int op = usage_draw_event(&rig->draw, rig->model, &event, ranges);
    note_event(rig, &event, op);
    if (tts_event_check(&event, NULL) != TTS_OK)
        return differ(rig, "the event is refused");
    uint64_t hash = op < 0 ? 0 : tts_opnames_hash(event.name, event.name_len);
    bool same = true;
    if (rig->events % 2) {
        same = post_change(rig, &event, hash, op);
    } else {
        tts_fold_event(rig->fold, &event, hash);
        usage_model_event(rig->model, &event, op);
    }
    rig->draw.depth -= event.kind == TTS_EVENT_OP_END;
    rig->events++;
    return same;
}

/* ---- meshes and watches ---- */

static bool has_chips(const struct usage_draw *draw, size_t mesh)
{
    for (size_t d = 0; d < draw->device_count; d++) {
        if (draw->is_told[d] && draw->meshes[d] == mesh)
            return true;
    }
    return false;
}

/* Returns whether all used watches are attached. A detached watch with phases would not learn
 * of a new chip. */
static bool all_listen(const struct rig *rig)
{
    for (int w = 0; w < USAGE_WATCHES; w++) {
        if (rig->is_used[w] && !rig->is_attached[w])
            return false;
    }
    return true;
}

/* Tells the fold of a chip that had no event yet, or of an impossible chip. */
static bool tell(struct rig *rig)
{
    struct usage_draw *draw = &rig->draw;
    size_t d = below(rig, draw->device_count), other = below(rig, draw->device_count);
    uint32_t chip = draw->ids[d], mesh = draw->ids[other];
    bool is_new = draw->roles[d] == USAGE_CHIP && !draw->is_told[d];
    if (is_new && chance(rig, 4) && draw->is_told[other])
        is_new = false; /* invalid: the mesh is itself a chip */
    else if (is_new)
        mesh = draw->ids[draw->meshes[d]];
    else if (!draw->is_told[d] && !has_chips(draw, d) && chip != mesh)
        return true;
    if (is_new && !all_listen(rig))
        return true;
    if (draw->is_told[d] && chip != mesh && mesh != draw->ids[draw->meshes[d]])
        return true; /* skip: the chip would move to another mesh */
    note(rig, "chip %u of mesh %u", chip, mesh);
    bool is_told = tts_fold_chip(rig->fold, chip, mesh, NULL) == TTS_OK;
    if (is_told != usage_model_chip(rig->model, chip, mesh))
        return differ(rig, "telling of a chip");
    draw->is_told[d] = draw->is_told[d] || is_told;
    return true;
}

static bool switch_watch(struct rig *rig, int w)
{
    if (rig->is_attached[w]) {
        bool last = !chance(rig, 3);
        if (last && !cut(rig, w))
            return false;
        note(rig, "detach watch %d", w);
        tts_watch_detach(rig->fold, rig->watches[w]);
        usage_model_detach(rig->model, w);
    } else {
        if (chance(rig, 2)) {
            note(rig, "reset watch %d", w);
            tts_watch_reset(rig->watches[w]);
            usage_model_forget(rig->model, w);
        }
        note(rig, "attach watch %d", w);
        tts_watch_attach(rig->fold, rig->watches[w]);
        usage_model_attach(rig->model, w);
        rig->is_used[w] = true;
    }
    rig->is_attached[w] = !rig->is_attached[w];
    return true;
}

static void reset(struct rig *rig)
{
    for (int w = 0; w < USAGE_WATCHES; w++) {
        if (rig->is_attached[w])
            return;
    }
    note(rig, "reset");
    tts_fold_reset(rig->fold);
    usage_model_reset(rig->model);
}

static bool step(struct rig *rig)
{
    int w = (int)below(rig, USAGE_WATCHES);
    switch (below(rig, 60)) {
    case 0:
    case 1:
    case 6:
        return !rig->is_attached[w] || cut(rig, w);
    case 2:
    case 7:
        return switch_watch(rig, w);
    case 3:
        return tell(rig);
    case 4:
        return same_state(rig);
    case 5:
        if (chance(rig, 3))
            reset(rig);
        return true;
    default:
        return post(rig);
    }
}

/* ---- the run ---- */

static bool run(struct rig *rig, uint64_t seed, uint64_t length)
{
    bool same = rig_init(rig, seed);
    uint64_t steps = 1 + below(rig, chance(rig, 2) ? 60 : 3000);
    steps = steps < length ? steps : length;
    if (same && !chance(rig, 4)) /* otherwise no watch is attached at first */
        same = switch_watch(rig, 0);
    for (uint64_t i = 0; same && i < steps; i++) {
        same = step(rig);
        for (int w = 0; w < USAGE_WATCHES; w++) {
            if (same && rig->is_attached[w] && usage_model_records(rig->model) > RECORDS)
                same = cut(rig, w);
        }
    }
    for (int w = 0; w < USAGE_WATCHES; w++)
        same = same && (!rig->is_attached[w] || cut(rig, w));
    same = same && same_state(rig);
    rig_done(rig);
    return same;
}

static bool parse_options(int argc, char **argv, uint64_t *seed, uint64_t *ops,
                          uint64_t *length)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t *out = strcmp(argv[i], "--seed") == 0     ? seed
                        : strcmp(argv[i], "--ops") == 0    ? ops
                        : strcmp(argv[i], "--length") == 0 ? length
                                                           : NULL;
        if (out == NULL || tts_number_parse(argv[i + 1], strlen(argv[i + 1]), out) != TTS_OK)
            return false;
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv)
{
    static struct rig rig;
    uint64_t seed = 1, ops = 20000, length = UINT64_MAX, done = 0, phases = 0, crowded = 0;
    if (!parse_options(argc, argv, &seed, &ops, &length)) {
        fputs("usage: test_usage_oracle [--seed N] [--ops N] [--length N]\n", stderr);
        return 3;
    }
    for (; done < ops; seed++) {
        bool same = run(&rig, seed, length);
        done += rig.events + 1;
        phases += rig.phases;
        crowded += rig.crowded;
        if (same)
            continue;
        size_t shown = rig.line_count < LINES ? rig.line_count : LINES;
        for (size_t i = rig.line_count - shown; i < rig.line_count; i++)
            fprintf(stderr, "%s\n", rig.lines[i % LINES]);
        fprintf(stderr, "difference: %s\nrepeat with: --seed %" PRIu64 " --ops 1", rig.what,
                seed);
        fprintf(stderr, length == UINT64_MAX ? "\n" : " --length %" PRIu64 "\n", length);
        return 1;
    }
    printf("%" PRIu64 " events, %" PRIu64 " phases, %" PRIu64
           " crowded cores, no difference; last seed %" PRIu64 "\n",
           done, phases, crowded, seed - 1);
    return 0;
}
