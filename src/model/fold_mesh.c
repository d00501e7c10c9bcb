#include "base/error.h"
#include "model/fold_inside.h"

#include <assert.h>

/* Its chips have nothing of it. */
static bool is_idle(const struct tts_fold_device *mesh)
{
    return mesh->cores.all_bytes == 0 && mesh->cores.top_bytes == 0 && mesh->trace_depth == 0;
}

static enum tts_status check(const struct tts_fold *fold, uint32_t chip, uint32_t mesh,
                             struct tts_error *err)
{
    const struct tts_fold_device *part = tts_fold_find(fold, chip),
                                 *whole = tts_fold_find(fold, mesh);
    if (chip == mesh)
        return tts_error_set(err, TTS_E_INVALID,
                             "device %u cannot be a chip of itself: give the mesh its own id",
                             chip);
    if (part && part->mesh != TTS_FOLD_NO_DEVICE && !is_idle(&fold->devices[part->mesh]))
        return tts_error_set(err, TTS_E_BUSY,
                             "chip %u is in mesh %u, which has something on its cores: free it "
                             "first",
                             chip, fold->ids[part->mesh]);
    if (part && part->first_chip != TTS_FOLD_NO_DEVICE)
        return tts_error_set(err, TTS_E_INVALID,
                             "device %u is a mesh: name its chips one by one", chip);
    if (whole && whole->mesh != TTS_FOLD_NO_DEVICE)
        return tts_error_set(err, TTS_E_INVALID,
                             "device %u is a chip of mesh %u: name that mesh instead", mesh,
                             fold->ids[whole->mesh]);
    uint32_t needed = (uint32_t)!part + (uint32_t)!whole;
    if (needed > fold->limits.devices_max - fold->device_count)
        return tts_error_set(err, TTS_E_RANGE,
                             "no room for chip %u of mesh %u: raise devices_max above %u", chip,
                             mesh, fold->limits.devices_max);
    if (part && whole &&
        (!tts_cores_have_room_on_all(&part->cores, whole->cores.all_bytes) ||
         !tts_cores_have_room(&part->cores, whole->cores.top_bytes)))
        return tts_error_set(err, TTS_E_RANGE,
                             "chip %u and mesh %u have too many bytes together: tell of the "
                             "mesh first",
                             chip, mesh);
    return TTS_OK;
}

/* ---- a mesh that had events: they were the chip's, too ---- */

static void add_pool(struct tts_pool_tally *run, const struct tts_pool_tally *other)
{
    run->allocated_bytes += other->allocated_bytes;
    run->freed_bytes += other->freed_bytes;
    run->allocations += other->allocations;
    run->frees += other->frees;
}

static int64_t more_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A peak is that of either, or of now. */
static void merge_pools(struct tts_tally *run, const struct tts_tally *other)
{
    for (int i = 0; i < TTS_PAIRS; i++) {
        enum tts_pool_pair pair = (enum tts_pool_pair)i;
        enum tts_pool first = tts_pair_first(pair), second = tts_pair_second(pair);
        tts_tally_mark_pair(run, pair);
        struct tts_pair_tally *kept = &run->pairs[pair];
        kept->peak_bytes = more_of(kept->peak_bytes, tts_tally_pair_peak(other, pair));
        kept->first_peak_bytes = more_of(kept->first_peak_bytes, tts_tally_peak(other, first));
        add_pool(&run->pools[first], &other->pools[first]);
        add_pool(&run->pools[second], &other->pools[second]);
        run->pools[first].peak_bytes = tts_pool_tally_change(&run->pools[first]);
        int64_t peak = more_of(run->pools[second].peak_bytes, other->pools[second].peak_bytes);
        run->pools[second].peak_bytes =
            more_of(peak, tts_pool_tally_change(&run->pools[second]));
    }
}

static void merge_run(struct tts_tally *run, const struct tts_tally *other)
{
    merge_pools(run, other);
    for (int kind = 0; kind < TTS_PROGRAM_KINDS; kind++) {
        run->program_bytes[kind] += other->program_bytes[kind];
        int64_t peak = more_of(run->program_peak_bytes[kind], other->program_peak_bytes[kind]);
        run->program_peak_bytes[kind] = more_of(peak, (int64_t)run->program_bytes[kind]);
    }
    run->core_bytes += other->core_bytes;
    run->total_peak_bytes = more_of(run->total_peak_bytes, other->total_peak_bytes);
    tts_tally_note_total(run);
    run->programs += other->programs;
    run->traces += other->traces;
    run->traced_bytes += other->traced_bytes;
}

static void merge_totals(struct tts_pool_total *totals, const struct tts_pool_total *other,
                         int count)
{
    for (int i = 0; i < count; i++) {
        totals[i].current_bytes += other[i].current_bytes;
        int64_t least = more_of((int64_t)totals[i].current_bytes, other[i].peak_bytes);
        totals[i].peak_bytes = more_of(totals[i].peak_bytes, least);
    }
}

static void touch(const struct tts_fold *fold, const struct tts_fold_device *chip,
                  const struct tts_fold_device *mesh)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next) {
        bool mesh_is_listed = watch->devices[mesh->idx].is_listed;
        if (mesh_is_listed)
            tts_watch_touch(watch, mesh);
        else
            tts_corepeak_start(&watch->devices[mesh->idx].peak, &mesh->cores, watch->start_seq);
        if (mesh_is_listed || watch->devices[chip->idx].is_listed)
            tts_watch_touch(watch, chip);
    }
}

static void merge_cores(struct tts_fold *fold, struct tts_cores *cores,
                        const struct tts_cores *other)
{
    tts_cores_merge(cores, other);
    for (uint32_t i = 0; i < other->program_count; i++)
        if (tts_cores_list(cores, &other->grid->program[i]))
            tts_coresets_hold_again(fold->sets, other->grid->program[i].set);
}

/* A chip that had nothing has the past of its mesh. What two pasts were together nobody knows:
 * the peak is begun anew from what is there now. */
static void merge_seen(struct tts_fold *fold, struct tts_fold_device *chip,
                       struct tts_watch_device *seen, const struct tts_watch_device *other)
{
    assert(seen->is_listed && seen->peak.part != other->peak.part);
    merge_run(&seen->run, &other->run);
    merge_totals(seen->totals, other->totals, TTS_POOLS);
    merge_totals(seen->pair_totals, other->pair_totals, TTS_PAIRS);
    if (other->peak.sum.bytes == 0)
        return;
    if (seen->peak.sum.bytes == 0) {
        tts_corepeak_copy(&seen->peak, &other->peak);
        return;
    }
    tts_corepeak_start(&seen->peak, &chip->cores, fold->seq);
    tts_fold_lose(fold, chip);
}

static void merge(struct tts_fold *fold, struct tts_fold_device *chip,
                  const struct tts_fold_device *mesh)
{
    touch(fold, chip, mesh);
    merge_cores(fold, &chip->cores, &mesh->cores);
    chip->trace_depth += mesh->trace_depth;
    fold->trace_depth += mesh->trace_depth;
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        if (watch->devices[chip->idx].is_listed)
            merge_seen(fold, chip, &watch->devices[chip->idx], &watch->devices[mesh->idx]);
}

/* Takes a chip from the mesh that it was in. */
static void part_from(struct tts_fold *fold, struct tts_fold_device *chip)
{
    struct tts_fold_device *mesh = &fold->devices[chip->mesh];
    assert(is_idle(mesh));
    uint16_t *link = &mesh->first_chip, before = TTS_FOLD_NO_DEVICE;
    while (*link != chip->idx) {
        before = *link;
        link = &fold->devices[*link].next_chip;
    }
    *link = chip->next_chip;
    if (mesh->last_chip == chip->idx)
        mesh->last_chip = before;
    chip->next_chip = chip->mesh = TTS_FOLD_NO_DEVICE;
}

static void append(struct tts_fold *fold, struct tts_fold_device *chip,
                   struct tts_fold_device *mesh)
{
    assert(chip->mesh == TTS_FOLD_NO_DEVICE && chip->next_chip == TTS_FOLD_NO_DEVICE);
    assert(chip->first_chip == TTS_FOLD_NO_DEVICE && mesh->mesh == TTS_FOLD_NO_DEVICE);
    chip->mesh = mesh->idx;
    if (mesh->last_chip == TTS_FOLD_NO_DEVICE)
        mesh->first_chip = chip->idx;
    else
        fold->devices[mesh->last_chip].next_chip = chip->idx;
    mesh->last_chip = chip->idx;
}

enum tts_status tts_fold_chip(struct tts_fold *fold, uint32_t chip, uint32_t mesh,
                              struct tts_error *err)
{
    const struct tts_fold_device *known = tts_fold_find(fold, chip);
    if (known && known->mesh != TTS_FOLD_NO_DEVICE && fold->ids[known->mesh] == mesh)
        return TTS_OK;
    enum tts_status status = check(fold, chip, mesh, err);
    if (status != TTS_OK)
        return status;
    struct tts_fold_device *whole = tts_fold_device(fold, mesh);
    struct tts_fold_device *part = tts_fold_device(fold, chip);
    assert(whole && part);
    if (part->mesh != TTS_FOLD_NO_DEVICE)
        part_from(fold, part);
    merge(fold, part, whole);
    append(fold, part, whole);
    return TTS_OK;
}
