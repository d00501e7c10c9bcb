#include "device/idstack.h"

#include "base/compiler.h"

void tts_idstack_init(struct tts_idstack *ids, const struct tts_alloc *alloc)
{
    *ids = (struct tts_idstack){0};
    tts_chunks_init(&ids->chunks, alloc, TTS_IDSTACK_CHUNK * sizeof(uint32_t));
}

void tts_idstack_release(struct tts_idstack *ids)
{
    tts_chunks_release(&ids->chunks);
}

void tts_idstack_clear(struct tts_idstack *ids)
{
    ids->count = ids->next = 0;
}

static enum tts_status reserve_to(struct tts_idstack *ids, uint64_t capacity)
{
    while (ids->chunks.count * TTS_IDSTACK_CHUNK < capacity) {
        if (!tts_chunks_add(&ids->chunks))
            return TTS_E_NOMEM;
    }
    return TTS_OK;
}

enum tts_status tts_idstack_reserve(struct tts_idstack *ids)
{
    if (TTS_LIKELY(ids->count + UINT64_C(2) <= ids->chunks.count * TTS_IDSTACK_CHUNK))
        return TTS_OK;
    return reserve_to(ids, ids->count + UINT64_C(2));
}

enum tts_status tts_idstack_copy(struct tts_idstack *to, const struct tts_idstack *from)
{
    enum tts_status status = reserve_to(to, from->count);
    if (status != TTS_OK)
        return status;
    to->count = from->count;
    to->next = from->next;
    for (uint32_t i = 0; i < from->count; i++)
        *tts_idstack_slot(to, i) = *tts_idstack_slot(from, i);
    return TTS_OK;
}

bool tts_idstack_equal(const struct tts_idstack *a, const struct tts_idstack *b)
{
    if (a->count != b->count || a->next != b->next)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (*tts_idstack_slot(a, i) != *tts_idstack_slot(b, i))
            return false;
    }
    return true;
}

size_t tts_idstack_memory(const struct tts_idstack *ids)
{
    return tts_chunks_memory(&ids->chunks);
}

bool tts_idstack_is_valid(const struct tts_idstack *ids)
{
    if (ids->count > ids->next || ids->count > ids->chunks.count * TTS_IDSTACK_CHUNK)
        return false;
    for (uint32_t i = 0; i < ids->count; i++) {
        if (*tts_idstack_slot(ids, i) >= ids->next)
            return false;
    }
    return true;
}
