#include "base/compiler.h"
#include "model/fold_inside.h"

#include <assert.h>

static struct tts_watch_device *seen_by(const struct tts_watch *watch,
                                        const struct tts_fold_device *device)
{
    struct tts_watch_device *seen = &watch->devices[device->idx];
    assert(seen->phase == watch->phase && seen->is_listed);
    return seen;
}

static void note_peaks(const struct tts_fold *fold, const struct tts_fold_device *device,
                       uint32_t op)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        tts_corepeak_note(&seen_by(watch, device)->peak, &device->cores, fold->seq, op);
}

/* It leaves the cores of `device`: the peaks that had it remember it. */
static void keep(const struct tts_fold *fold, const struct tts_fold_device *device,
                 uint32_t set, const struct tts_held_part *part)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next) {
        struct tts_corepeak *peak = &seen_by(watch, device)->peak;
        if (tts_corepeak_had(peak, part->seq) &&
            tts_coresets_have(fold->sets, set, peak->sum.core))
            tts_corepeak_keep(peak, part);
    }
}

/* ---- buffers ---- */

static bool have_room(const struct tts_fold *fold, const struct tts_fold_device *device,
                      bool on_all, uint64_t bytes)
{
    for (const struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at))
        if (on_all ? !tts_cores_have_room_on_all(&at->cores, bytes)
                   : !tts_cores_have_room(&at->cores, bytes))
            return false;
    return true;
}

/* The set of its cores, held for the entry; NOWHERE: it cannot be put on them. */
static uint32_t find_cores(struct tts_fold *fold, const struct tts_fold_device *device,
                           const struct tts_event *event, uint64_t bytes)
{
    bool on_all = event->range_count == 0;
    if (!have_room(fold, device, on_all, bytes))
        return TTS_CORESETS_NOWHERE;
    if (on_all)
        return TTS_CORESETS_EVERY;
    struct tts_boxes boxes;
    tts_boxes_pack(&boxes, event->ranges, event->range_count);
    return tts_coresets_hold(fold->sets, &boxes);
}

static void add(const struct tts_fold *fold, struct tts_cores *cores,
                const struct tts_l1_entry *part)
{
    enum tts_core_kind kind = tts_pool_core_kind((enum tts_pool)part->pool);
    if (part->cores == TTS_CORESETS_EVERY) {
        tts_cores_add_all(cores, kind, part->block_bytes);
        return;
    }
    size_t count;
    const struct tts_box *box = tts_coresets_boxes(fold->sets, part->cores, &count);
    tts_cores_add(cores, kind, box, count, part->block_bytes);
}

static void remove_from(const struct tts_fold *fold, struct tts_cores *cores,
                        const struct tts_l1_entry *part)
{
    enum tts_core_kind kind = tts_pool_core_kind((enum tts_pool)part->pool);
    if (part->cores == TTS_CORESETS_EVERY) {
        tts_cores_remove_all(cores, kind, part->block_bytes);
        return;
    }
    size_t count;
    const struct tts_box *box = tts_coresets_boxes(fold->sets, part->cores, &count);
    tts_cores_remove(cores, kind, box, count, part->block_bytes);
}

void tts_fold_place(struct tts_fold *fold, struct tts_fold_device *device,
                    const struct tts_event *event, struct tts_l1_entry *part, uint32_t op)
{
    assert(tts_pool_is_l1(event->pool));
    uint64_t bytes = event->block_bytes ? event->block_bytes : event->bytes_per_bank;
    assert(bytes > 0);
    uint32_t set = part ? find_cores(fold, device, event, bytes) : TTS_CORESETS_NOWHERE;
    if (part) {
        part->bytes_per_bank = event->bytes_per_bank;
        part->block_bytes = bytes;
        part->cores = set;
    }
    if (set == TTS_CORESETS_NOWHERE) {
        tts_fold_lose(fold, device);
        return;
    }
    for (struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at)) {
        add(fold, &at->cores, part);
        note_peaks(fold, at, op);
    }
}

void tts_fold_displace(struct tts_fold *fold, struct tts_fold_device *device,
                       const struct tts_l1_entry *part)
{
    assert(part->seq <= fold->seq);
    if (part->cores == TTS_CORESETS_NOWHERE)
        return;
    struct tts_held_part gone = {part->block_bytes, part->seq,       part->id,
                                 part->op,          TTS_EVENT_ALLOC, part->pool};
    for (struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at)) {
        keep(fold, at, part->cores, &gone);
        remove_from(fold, &at->cores, part);
    }
    if (part->cores != TTS_CORESETS_EVERY)
        tts_coresets_drop(fold->sets, part->cores);
}

/* ---- programs ---- */

static void end_program(struct tts_fold *fold, struct tts_fold_device *device)
{
    struct tts_cores *cores = &device->cores;
    for (uint32_t i = 0; i < cores->program_count; i++) {
        struct tts_held_part part = tts_program_part_of(&cores->grid->program[i]);
        keep(fold, device, cores->grid->program[i].set, &part);
        tts_coresets_drop(fold->sets, cores->grid->program[i].set);
    }
    tts_cores_end_program(cores);
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        tts_tally_begin_program(&seen_by(watch, device)->run);
}

void tts_fold_program(struct tts_fold *fold, struct tts_fold_device *device)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        watch->whole.programs++;
    for (struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at))
        end_program(fold, at);
}

static void add_part(struct tts_fold *fold, struct tts_fold_device *device,
                     const struct tts_boxes *boxes, const struct tts_program_part *part)
{
    struct tts_cores *cores = &device->cores;
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        tts_tally_add_program(&seen_by(watch, device)->run, part->kind, part->bytes);
    if (!tts_cores_have_room(cores, part->bytes)) {
        cores->is_lost = fold->is_lost = true;
        return;
    }
    tts_cores_add(cores, part->kind, boxes->box, boxes->count, part->bytes);
    if (tts_cores_list(cores, part))
        tts_coresets_hold_again(fold->sets, part->set);
    note_peaks(fold, device, part->op);
}

static bool takes_nothing(const struct tts_event *event)
{
    bool may_borrow = event->kind != TTS_EVENT_SCRATCHPAD;
    return (may_borrow && event->borrowed) || event->size_bytes == 0;
}

/* With its set held; `boxes` are those of the event. */
static struct tts_program_part part_of(struct tts_fold *fold, const struct tts_event *event,
                                       struct tts_boxes *boxes)
{
    tts_boxes_pack(boxes, event->ranges, event->range_count);
    return (struct tts_program_part){
        .bytes = event->size_bytes,
        .set = tts_coresets_hold(fold->sets, boxes),
        .kind = (enum tts_core_kind)(event->kind - TTS_EVENT_CB),
    };
}

static void drop_set(struct tts_fold *fold, const struct tts_program_part *part)
{
    if (part->set != TTS_CORESETS_NOWHERE)
        tts_coresets_drop(fold->sets, part->set);
}

TTS_NOINLINE void tts_fold_program_part(struct tts_fold *fold, struct tts_fold_device *device,
                                        const struct tts_event *event, uint32_t op)
{
    if (takes_nothing(event))
        return;
    struct tts_boxes boxes;
    struct tts_program_part part = part_of(fold, event, &boxes);
    part.seq = fold->seq;
    part.op = op;
    for (struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at))
        add_part(fold, at, &boxes, &part);
    drop_set(fold, &part);
}

void tts_fold_restore_part(struct tts_fold *fold, struct tts_fold_device *device,
                           const struct tts_event *event, const struct tts_program_part *from)
{
    if (takes_nothing(event))
        return;
    struct tts_boxes boxes;
    struct tts_program_part part = part_of(fold, event, &boxes);
    part.seq = from->seq;
    part.op = from->op;
    add_part(fold, device, &boxes, &part);
    drop_set(fold, &part);
}
