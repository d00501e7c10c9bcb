#include "capture/cbholders.h"

#include "wire/clientregion.h"

#include <assert.h>

static_assert((int)TTS_CBHOLDERS_DEVICES == (int)TTS_CLIENTREGION_DEVICES_MAX,
              "a set has each device of a region");

static size_t holder_list_bytes(const struct tts_cbholders *holders)
{
    return holders->slots * sizeof *holders->list;
}

static size_t holder_places_bytes(const struct tts_cbholders *holders)
{
    return holders->slots * sizeof *holders->places;
}

enum tts_status tts_cbholders_init(struct tts_cbholders *holders, uint32_t slots,
                                   const struct tts_alloc *alloc)
{
    struct tts_cbholders made = {.slots = slots, .alloc = alloc};
    made.list = alloc->alloc(alloc->ctx, holder_list_bytes(&made));
    made.places = alloc->alloc(alloc->ctx, holder_places_bytes(&made));
    if (!made.list || !made.places) {
        tts_cbholders_release(&made);
        return TTS_E_NOMEM;
    }
    *holders = made;
    return TTS_OK;
}

void tts_cbholders_release(struct tts_cbholders *holders)
{
    if (holders->list)
        holders->alloc->free(holders->alloc->ctx, holders->list, holder_list_bytes(holders));
    if (holders->places)
        holders->alloc->free(holders->alloc->ctx, holders->places,
                             holder_places_bytes(holders));
    *holders = (struct tts_cbholders){0};
}

void tts_cbholders_reset(struct tts_cbholders *holders)
{
    holders->count = holders->holding = 0;
}

void tts_cbholders_add(struct tts_cbholders *holders, uint32_t slot, uint32_t device,
                       uint64_t address, uint64_t bytes)
{
    uint64_t end;
    assert(slot < holders->slots && holders->count < holders->slots);
    if (address == TTS_CLIENTREGION_NO_ADDRESS ||
        __builtin_add_overflow(address, bytes > 0 ? bytes : 1, &end))
        end = address; /* no circular buffer is found in it */
    holders->places[slot] = holders->count;
    holders->list[holders->count++] =
        (struct tts_cbholder){.begin = address, .end = end, .slot = slot, .device = device};
}

void tts_cbholders_remove(struct tts_cbholders *holders, uint32_t slot)
{
    uint32_t place = holders->places[slot];
    assert(place < holders->count && holders->list[place].slot == slot);
    struct tts_cbholder *gone = &holders->list[place];
    holders->holding -= gone->is_holding;
    *gone = holders->list[--holders->count]; /* the last one, which may be this one */
    holders->places[gone->slot] = place;
}

static bool is_in_deviceset(const struct tts_deviceset *set, uint32_t device)
{
    return set->words[device / 64] >> device % 64 & 1;
}

void tts_cbholders_begin_cb(struct tts_cbholders *holders, uint32_t device,
                            const struct tts_deviceset *owners, uint64_t address,
                            tts_cbholders_fn fn, void *ctx)
{
    for (uint32_t i = 0; i < holders->count; i++) {
        struct tts_cbholder *holder = &holders->list[i];
        if (address < holder->begin || address >= holder->end ||
            !is_in_deviceset(owners, holder->device))
            continue;
        tts_deviceset_add(&holder->with_cbs, device);
        if (holder->is_holding)
            continue;
        holder->is_holding = true;
        holders->holding++;
        fn(ctx, holder->slot, true);
    }
}

void tts_cbholders_end_cbs(struct tts_cbholders *holders, const struct tts_deviceset *devices,
                           tts_cbholders_fn fn, void *ctx)
{
    for (uint32_t i = 0; holders->holding > 0 && i < holders->count; i++) {
        struct tts_cbholder *holder = &holders->list[i];
        uint64_t left = 0;
        for (int word = 0; word < TTS_CBHOLDERS_WORDS; word++) {
            holder->with_cbs.words[word] &= ~devices->words[word];
            left |= holder->with_cbs.words[word];
        }
        if (!holder->is_holding || left)
            continue;
        holder->is_holding = false;
        holders->holding--;
        fn(ctx, holder->slot, false);
    }
}
