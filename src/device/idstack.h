/* idstack.h: the block ids of a space, assigned like in the reference.
 * The id that was retired last is reused first. If no id is retired, the next integer is used.
 * The caller owns the struct. One thread at a time. */
#pragma once

#include "base/compiler.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

struct tts_idstack {
    uint32_t *retired; /* [capacity] */
    uint32_t count;
    uint32_t next; /* first id that was never used; every id in use is below it */
    size_t capacity;
    const struct tts_alloc *alloc;
};

TTS_NODISCARD enum tts_status tts_idstack_init(struct tts_idstack *ids,
                                               const struct tts_alloc *alloc);
void tts_idstack_release(struct tts_idstack *ids);
void tts_idstack_clear(struct tts_idstack *ids);

/* The slow part of tts_idstack_reserve(). */
enum tts_status tts_idstack_reserve_more(struct tts_idstack *ids, size_t capacity);

/* Reserves the memory for the next two pushes. */
static inline enum tts_status tts_idstack_reserve(struct tts_idstack *ids)
{
    size_t needed = ids->count + (size_t)2;
    return TTS_LIKELY(needed <= ids->capacity) ? TTS_OK : tts_idstack_reserve_more(ids, needed);
}

/* Retires an id if `when` is 1, without a branch. The caller has reserved room. */
static inline void tts_idstack_push_if(struct tts_idstack *ids, uint32_t id, uint32_t when)
{
    ids->retired[ids->count] = id;
    ids->count += when;
}

/* Returns the id of a new block, without a branch. If `when` is 0, the id is not used up. */
static inline uint32_t tts_idstack_pop_if(struct tts_idstack *ids, uint32_t when)
{
    if (TTS_UNLIKELY(ids->count == 0)) {
        ids->next += when;
        return ids->next - when;
    }
    uint32_t id = ids->retired[ids->count - 1];
    ids->count -= when;
    return id;
}

/* Copies the ids. `to` must be initialized. TTS_E_NOMEM: `to` is unchanged. */
TTS_NODISCARD enum tts_status tts_idstack_copy(struct tts_idstack *to,
                                               const struct tts_idstack *from);
bool tts_idstack_equal(const struct tts_idstack *a, const struct tts_idstack *b);
size_t tts_idstack_memory(const struct tts_idstack *ids);
bool tts_idstack_is_valid(const struct tts_idstack *ids);
