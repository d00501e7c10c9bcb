#include "device/idstack.h"

#include <string.h>

enum { FIRST_CAPACITY = 64 };

enum tts_status tts_idstack_init(struct tts_idstack *ids, const struct tts_alloc *alloc)
{
    *ids = (struct tts_idstack){.alloc = alloc};
    ids->retired = alloc->alloc(alloc->ctx, FIRST_CAPACITY * sizeof(*ids->retired));
    if (!ids->retired)
        return TTS_E_NOMEM;
    ids->capacity = FIRST_CAPACITY;
    return TTS_OK;
}

void tts_idstack_release(struct tts_idstack *ids)
{
    if (ids->retired)
        ids->alloc->free(ids->alloc->ctx, ids->retired, ids->capacity * sizeof(*ids->retired));
}

void tts_idstack_clear(struct tts_idstack *ids)
{
    ids->count = ids->next = 0;
}

enum tts_status tts_idstack_reserve_more(struct tts_idstack *ids, size_t capacity)
{
    size_t grown = ids->capacity + ids->capacity / 2;
    grown = grown < capacity ? capacity : grown;
    uint32_t *retired =
        ids->alloc->resize(ids->alloc->ctx, ids->retired, ids->capacity * sizeof(*ids->retired),
                           grown * sizeof(*ids->retired));
    if (!retired)
        return TTS_E_NOMEM;
    ids->retired = retired;
    ids->capacity = grown;
    return TTS_OK;
}

enum tts_status tts_idstack_copy(struct tts_idstack *to, const struct tts_idstack *from)
{
    if (to->capacity < from->count && tts_idstack_reserve_more(to, from->count) != TTS_OK)
        return TTS_E_NOMEM;
    to->count = from->count;
    to->next = from->next;
    memcpy(to->retired, from->retired, from->count * sizeof(*to->retired));
    return TTS_OK;
}

bool tts_idstack_equal(const struct tts_idstack *a, const struct tts_idstack *b)
{
    return a->count == b->count && a->next == b->next &&
           memcmp(a->retired, b->retired, a->count * sizeof(*a->retired)) == 0;
}

size_t tts_idstack_memory(const struct tts_idstack *ids)
{
    return ids->capacity * sizeof(*ids->retired);
}

bool tts_idstack_is_valid(const struct tts_idstack *ids)
{
    if (ids->count > ids->next || ids->count > ids->capacity)
        return false;
    for (uint32_t i = 0; i < ids->count; i++) {
        if (ids->retired[i] >= ids->next)
            return false;
    }
    return true;
}
