/* idstack.h: block ids of a space, as the reference hands them out.
 * The id retired last is used first; when none is retired, the next integer. Caller's memory;
 * one thread. */
#pragma once

#include "base/chunks.h"
#include "base/compiler.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { TTS_IDSTACK_CHUNK = 256 };

struct tts_idstack {
    struct tts_chunks chunks; /* of TTS_IDSTACK_CHUNK ids each */
    uint32_t count;           /* retired ids */
    uint32_t next;            /* never used yet: every id in use is below it */
};

void tts_idstack_init(struct tts_idstack *ids, const struct tts_alloc *alloc);
void tts_idstack_release(struct tts_idstack *ids);
void tts_idstack_clear(struct tts_idstack *ids);

/* Makes sure that the next two pushes have the memory they need. */
TTS_NODISCARD enum tts_status tts_idstack_reserve(struct tts_idstack *ids);

static inline uint32_t *tts_idstack_slot(const struct tts_idstack *ids, uint32_t idx)
{
    unsigned char *chunk = ids->chunks.chunk[idx / TTS_IDSTACK_CHUNK];
    return (uint32_t *)(void *)chunk + idx % TTS_IDSTACK_CHUNK;
}

/* After a reserve. */
static inline void tts_idstack_push(struct tts_idstack *ids, uint32_t id)
{
    *tts_idstack_slot(ids, ids->count++) = id;
}

static inline uint32_t tts_idstack_pop(struct tts_idstack *ids)
{
    return ids->count ? *tts_idstack_slot(ids, --ids->count) : ids->next++;
}

/* `to` is an initialised stack; on TTS_E_NOMEM it is as it was. */
TTS_NODISCARD enum tts_status tts_idstack_copy(struct tts_idstack *to,
                                               const struct tts_idstack *from);
bool tts_idstack_equal(const struct tts_idstack *a, const struct tts_idstack *b);
size_t tts_idstack_memory(const struct tts_idstack *ids);
bool tts_idstack_is_valid(const struct tts_idstack *ids);
