/* idstack.h: the ids of the blocks of a space, assigned as in the runtime's allocator. A new
 * block gets the id that was retired last. If no id is retired, it gets the next integer. The
 * caller owns the struct. One thread at a time. */
#pragma once

#include "base/compiler.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

struct tts_idstack {
    uint32_t *retired; /* array of `capacity` ids; the first `count` are in use */
    uint32_t count;
    uint32_t next; /* the smallest id that was never used */
    size_t capacity;
    const struct tts_alloc *alloc;
};

TTS_NODISCARD enum tts_status tts_idstack_init(struct tts_idstack *ids,
                                               const struct tts_alloc *alloc);
void tts_idstack_release(struct tts_idstack *ids);
void tts_idstack_clear(struct tts_idstack *ids);

/* Called by tts_idstack_reserve() if the memory must grow. */
enum tts_status tts_idstack_reserve_more(struct tts_idstack *ids, size_t capacity);

/* Reserves the memory for two ids to be retired. Returns TTS_OK or TTS_E_NOMEM. */
static inline enum tts_status tts_idstack_reserve(struct tts_idstack *ids)
{
    size_t needed = ids->count + (size_t)2;
    return TTS_LIKELY(needed <= ids->capacity) ? TTS_OK : tts_idstack_reserve_more(ids, needed);
}

/* Retires an id if `when` is 1; does nothing if it is 0. Has no branch. The room must have been
 * reserved. */
static inline void tts_idstack_push_if(struct tts_idstack *ids, uint32_t id, uint32_t when)
{
    ids->retired[ids->count] = id;
    ids->count += when;
}

/* Returns the id for a new block. If `when` is 0, the id stays available. Has no branch on
 * `when`. */
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
