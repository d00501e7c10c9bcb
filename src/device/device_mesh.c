/* device_mesh.c: the parts of a mesh, and the synchronization of their allocators. */
#include "base/error.h"
#include "device/banks_inside.h"
#include "device/device_inside.h"
#include "device/devicepools.h"
#include "device/space.h"
#include "device/space_state.h"

enum tts_status tts_device_submesh(const struct tts_device *d, uint32_t chips,
                                   struct tts_device **out, struct tts_error *err)
{
    struct tts_chip chip = d->chip;
    if (chips < 1 || chips > chip.fact[TTS_FACT_CHIPS].value)
        return tts_error_set(err, TTS_E_RANGE,
                             "a part of the mesh cannot have %u chips: the mesh has %u chips",
                             chips, (unsigned)chip.fact[TTS_FACT_CHIPS].value);
    chip.fact[TTS_FACT_CHIPS] = (struct tts_fact){chips, TTS_ORIGIN_SET, "part of a mesh"};
    return tts_device_new(&chip, &d->config, d->alloc, out, err);
}

/* Collects the ranges that the pools of this kind hold in all devices. */
static enum tts_status gather(const struct tts_device *const *others, size_t count,
                              enum tts_pool kind, struct tts_banks_state *all)
{
    struct tts_banks_state one = {0};
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < count && status == TTS_OK; i++) {
        const struct tts_banks *banks = others[i]->pools[kind].banks;
        if (!banks)
            status = TTS_E_INVALID;
        else if (i == 0)
            status = tts_banks_extract(banks, all);
        else if ((status = tts_banks_extract(banks, &one)) == TTS_OK)
            status = tts_banks_state_merge(all, &one);
    }
    tts_banks_state_release(&one);
    return status;
}

/* The ranges that a pool must hold after the synchronization, and its space before it. */
struct change {
    struct tts_banks_state all;
    struct tts_space *before; /* NULL if the pool has not been changed */
};

static enum tts_status change_pool(struct tts_banks *banks, struct change *change)
{
    struct tts_space *before = NULL;
    enum tts_status status = tts_space_copy(banks->first, &before);
    if (status == TTS_OK)
        status = tts_banks_override(banks, &change->all);
    if (status == TTS_OK)
        change->before = before;
    else
        tts_space_free(before);
    return status;
}

static void undo_pool(struct tts_banks *banks, struct change *change)
{
    if (change->before)
        tts_space_swap(banks->first, change->before);
}

/* Changes all pools or none. Sets *kind to the last pool that was tried. */
static enum tts_status change_all(struct tts_device *d, const struct tts_device *const *others,
                                  size_t count, struct change changes[TTS_POOLS], int *kind)
{
    enum tts_status status = TTS_OK;
    for (int i = 0; i < TTS_POOLS && status == TTS_OK; i++)
        if (d->pools[i].banks)
            status = gather(others, count, (enum tts_pool)(*kind = i), &changes[i].all);
    for (int i = 0; i < TTS_POOLS && status == TTS_OK; i++)
        if (d->pools[i].banks)
            status = change_pool(d->pools[ *kind = i].banks, &changes[i]);
    for (int i = 0; i < TTS_POOLS && status != TTS_OK; i++)
        undo_pool(d->pools[i].banks, &changes[i]);
    return status;
}

/* Returns true if L1 has buffers with a separate block in each core. The runtime can neither
 * extract nor override the state of such a pool. */
static bool has_own_buffers(const struct tts_device *d)
{
    return d->pools[TTS_POOL_L1].own_buffers > 0;
}

enum tts_status tts_device_synchronize(struct tts_device *d,
                                       const struct tts_device *const *others, size_t count,
                                       struct tts_error *err)
{
    struct change changes[TTS_POOLS] = {0};
    int kind = 0;
    if (count == 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "cannot copy a device state: no source device is given");
    bool own = has_own_buffers(d);
    for (size_t i = 0; i < count; i++)
        own = own || has_own_buffers(others[i]);
    if (own)
        return tts_error_set(err, TTS_E_INVALID,
                             "cannot copy the state of a device that has buffers with a "
                             "separate address on each core");
    enum tts_status status = change_all(d, others, count, changes, &kind);
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_device_pool *pool = &d->pools[i];
        tts_banks_state_release(&changes[i].all);
        tts_space_free(changes[i].before);
        if (!pool->banks || status != TTS_OK)
            continue;
        pool->fused = pool->uneven = true;
        tts_device_recount(pool);
    }
    if (status != TTS_OK)
        return tts_error_set(err, status, "cannot copy the %s state of the other devices: %s",
                             tts_pool_name((enum tts_pool)kind), tts_error_cause(status));
    return TTS_OK;
}
