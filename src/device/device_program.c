/* device_program.c: the circular buffers of programs, and the L1 buffers above them. */
#include "base/error.h"
#include "device/device_inside.h"
#include "device/devicepools.h"

const struct tts_cbs *tts_device_cbs(const struct tts_device *d)
{
    return d->cbs;
}

void tts_device_program(struct tts_device *d, uint64_t program_id)
{
    if (d->cbs)
        tts_cbs_reset(d->cbs, program_id);
    if (tts_device_watched(d))
        tts_device_tell(d, &(struct tts_device_event){.kind = TTS_DEVICE_PROGRAM,
                                                      .program_id = program_id});
}

static enum tts_status no_cbs(const struct tts_device *d, struct tts_error *err)
{
    return tts_error_set(err, TTS_E_NOT_FOUND,
                         "the grid or the L1 of '%s' is unknown: set 'grid'", d->chip.name);
}

enum tts_status tts_device_add_cb(struct tts_device *d, const struct tts_cb *cb,
                                  uint64_t *address, struct tts_error *err)
{
    if (!d->cbs)
        return no_cbs(d, err);
    enum tts_status status = tts_cbs_add(d->cbs, cb, address, err);
    if (status != TTS_OK || !tts_device_watched(d))
        return status;
    const struct tts_cb_placed *placed = tts_cbs_at(d->cbs, tts_cbs_count(d->cbs) - 1);
    tts_device_tell(d, &(struct tts_device_event){.kind = TTS_DEVICE_CB,
                                                  .cb = placed,
                                                  .ranges = cb->ranges,
                                                  .range_count = cb->range_count,
                                                  .program_id = tts_cbs_program(d->cbs)});
    return TTS_OK;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

struct tts_cbs_floor tts_device_floor(struct tts_device *d)
{
    struct tts_cbs_floor floor = {0};
    const struct tts_banks *banks = d->pools[TTS_POOL_L1].banks;
    if (!banks)
        return floor;
    floor.known = tts_banks_lowest(banks, 0, &floor.address);
    if (!d->floor || !d->map)
        return floor;
    uint32_t cores = d->map->columns * d->map->rows;
    uint64_t lockstep = floor.known ? floor.address : UINT64_MAX, lowest = lockstep;
    for (uint32_t core = 0; core < cores; core++) {
        uint64_t own = UINT64_MAX;
        tts_banks_lowest(banks, 1 + (uint32_t)d->map->bank_of_core[core], &own);
        d->floor[core] = lower(own, lockstep);
        lowest = lower(lowest, own);
    }
    floor.known = lowest < UINT64_MAX;
    floor.address = floor.known ? lowest : 0;
    floor.by_core = d->floor;
    return floor;
}

enum tts_status tts_device_run_program(struct tts_device *d, struct tts_error *err)
{
    if (!d->cbs)
        return no_cbs(d, err);
    if (!tts_device_is_placing(d))
        return TTS_OK;
    struct tts_cbs_floor floor = tts_device_floor(d);
    struct tts_failure failure;
    if (tts_cbs_check(d->cbs, &floor, &failure) == TTS_OK)
        return TTS_OK;
    tts_device_refuse(d, &failure);
    return d->config.mode == TTS_MODE_PLACE ? TTS_E_FULL : TTS_OK;
}
