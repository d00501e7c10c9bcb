#include "capture/slotindex.h"

#include <string.h>

enum { FIRST_HEADS = 1024 };

static size_t heads_bytes(const struct tts_slotindex *index)
{
    return index->most_heads * sizeof *index->heads;
}

static size_t nodes_bytes(const struct tts_slotindex *index)
{
    return index->slots * sizeof *index->nodes;
}

/* Empties the first `heads` heads, and uses only them. */
static void use_heads(struct tts_slotindex *index, uint32_t heads)
{
    index->mask = heads - 1;
    index->shift = 32 + (uint32_t)__builtin_clz(heads - 1);
    memset(index->heads, 0xff, heads * sizeof *index->heads);
}

enum tts_status tts_slotindex_init(struct tts_slotindex *index, uint32_t slots,
                                   const struct tts_alloc *alloc)
{
    struct tts_slotindex made = {.slots = slots, .most_heads = FIRST_HEADS, .alloc = alloc};
    while (made.most_heads < 4 * slots)
        made.most_heads *= 2;
    made.heads = alloc->alloc(alloc->ctx, heads_bytes(&made));
    made.nodes = alloc->alloc(alloc->ctx, nodes_bytes(&made));
    if (!made.heads || !made.nodes) {
        tts_slotindex_release(&made);
        return TTS_E_NOMEM;
    }
    *index = made;
    tts_slotindex_reset(index);
    return TTS_OK;
}

void tts_slotindex_release(struct tts_slotindex *index)
{
    if (index->heads)
        index->alloc->free(index->alloc->ctx, index->heads, heads_bytes(index));
    if (index->nodes)
        index->alloc->free(index->alloc->ctx, index->nodes, nodes_bytes(index));
    *index = (struct tts_slotindex){0};
}

void tts_slotindex_reset(struct tts_slotindex *index)
{
    use_heads(index, FIRST_HEADS);
    index->count = index->used_slots = 0;
    index->first_free = TTS_SLOTINDEX_NONE;
}

TTS_COLD void tts_slotindex_widen(struct tts_slotindex *index)
{
    use_heads(index, 2 * (index->mask + 1));
    for (uint32_t slot = 0; slot < index->used_slots; slot++) {
        struct tts_slotnode *node = &index->nodes[slot];
        if (!node->is_used)
            continue;
        uint32_t *head = tts_slotindex_head(index, node->device, node->id);
        node->next = *head;
        *head = slot;
    }
}
