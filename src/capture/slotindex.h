/* slotindex.h: the buffers in a table with a fixed number of slots, by device and id. The index
 * chooses the slot of a new buffer and finds the slot of a buffer that leaves. It keeps the
 * size and the pool of each buffer.
 *
 * The index is a hash table of chains: heads[] has the first slot of each chain, and a node has
 * the next slot. So nothing moves when a buffer leaves, and no branch depends on neighbours.
 * Consecutive ids have neighbouring heads. All memory is allocated by tts_slotindex_init(); the
 * part of heads[] that is used grows with the number of buffers. One thread at a time. */
#pragma once

#include "base/compiler.h"
#include "ttscope/alloc.h"
#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTS_SLOTINDEX_NONE UINT32_MAX

struct tts_slotnode {
    uint64_t id;
    uint64_t size_bytes;
    uint32_t next; /* next slot of the chain, or of the list of free slots */
    uint16_t device;
    uint8_t pool; /* enum tts_pool */
    bool is_used;
};

struct tts_slotindex {
    uint32_t *heads;
    struct tts_slotnode *nodes; /* [slots] */
    uint32_t mask, shift;       /* number of heads in use - 1, and shift from a hash */
    uint32_t count, slots;
    uint32_t first_free, used_slots; /* slots at or above used_slots were never used */
    uint32_t most_heads;
    const struct tts_alloc *alloc;
};

/* Makes an empty index for `slots` slots. `alloc` is borrowed until the release. Returns
 * TTS_E_NOMEM if there is no memory; then nothing is left to release. */
TTS_NODISCARD enum tts_status tts_slotindex_init(struct tts_slotindex *index, uint32_t slots,
                                                 const struct tts_alloc *alloc);
void tts_slotindex_release(struct tts_slotindex *index); /* a struct of zeros is allowed */
void tts_slotindex_reset(struct tts_slotindex *index);
/* Doubles the number of heads in use. Moves all chains, at about 5 ns for each buffer. */
void tts_slotindex_widen(struct tts_slotindex *index);

static TTS_FORCE_INLINE uint32_t *tts_slotindex_head(const struct tts_slotindex *index,
                                                     uint16_t device, uint64_t id)
{
    enum { RUN = 4 }; /* consecutive ids with neighbouring heads */
    uint64_t hash =
        (id / RUN + device * UINT64_C(0xd1342543de82ef95)) * UINT64_C(0x9e3779b97f4a7c15);
    return &index->heads[((uint32_t)(hash >> index->shift) ^ (uint32_t)(id % RUN)) &
                         index->mask];
}

/* Returns the link to the slot of a buffer. The link contains TTS_SLOTINDEX_NONE if the buffer
 * is not in the index. The link is valid until the next change. */
static TTS_FORCE_INLINE uint32_t *tts_slotindex_find(const struct tts_slotindex *index,
                                                     uint16_t device, uint64_t id)
{
    uint32_t *link = tts_slotindex_head(index, device, id);
    while (*link != TTS_SLOTINDEX_NONE) {
        struct tts_slotnode *node = &index->nodes[*link];
        if (TTS_LIKELY(node->id == id && node->device == device))
            break;
        link = &node->next;
    }
    return link;
}

/* Adds a buffer that is not in the index. Returns its slot, the one that was freed last,
 * because it is in the cache, or TTS_SLOTINDEX_NONE if there is no free slot. */
static TTS_FORCE_INLINE uint32_t tts_slotindex_add(struct tts_slotindex *index, uint16_t device,
                                                   enum tts_pool pool, uint64_t id,
                                                   uint64_t size_bytes)
{
    uint32_t slot = index->first_free;
    if (TTS_LIKELY(slot != TTS_SLOTINDEX_NONE))
        index->first_free = index->nodes[slot].next;
    else if (index->used_slots < index->slots)
        slot = index->used_slots++;
    else
        return TTS_SLOTINDEX_NONE;
    if (TTS_UNLIKELY(index->count > index->mask / 4 && index->mask + 1 < index->most_heads))
        tts_slotindex_widen(index);
    index->count++;
    uint32_t *head = tts_slotindex_head(index, device, id);
    index->nodes[slot] =
        (struct tts_slotnode){id, size_bytes, *head, device, (uint8_t)pool, true};
    *head = slot;
    return slot;
}

/* Removes the buffer that a link of tts_slotindex_find() points to. */
static TTS_FORCE_INLINE void tts_slotindex_remove(struct tts_slotindex *index, uint32_t *link)
{
    uint32_t slot = *link;
    struct tts_slotnode *node = &index->nodes[slot];
    assert(slot < index->used_slots && node->is_used && index->count > 0);
    *link = node->next;
    node->is_used = false;
    node->next = index->first_free;
    index->first_free = slot;
    index->count--;
}
