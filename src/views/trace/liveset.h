/* liveset.h: the buffers that live while a file is gone through, by device and id.
 * Caller's memory, one thread. */
#pragma once

#include "base/hashtable.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTS_LIVESET_NO_SLOT UINT32_MAX
enum { TTS_LIVESET_MAX = 1 << 26 }; /* that live at once */

struct tts_liveset_entry {
    uint64_t id;    /* key, with `device` */
    uint64_t bytes; /* the caller's, like all but key and number */
    uint64_t bytes_per_bank, block_bytes;
    uint64_t number; /* of the buffer, in the order they were met, from 1 */
    uint32_t device; /* an index */
    uint32_t op;     /* as opnames.h counts them */
    uint32_t slot;   /* TTS_LIVESET_NO_SLOT: it is not drawn */
    uint32_t pool;   /* enum tts_pool */
};

struct tts_liveset {
    const struct tts_alloc *alloc;
    struct tts_liveset_entry *entries;
    size_t count, capacity;
    struct tts_hashtable by_key;
    uint64_t seed; /* makes the hashing hard to foresee */
};

/* Allocates nothing. `alloc` NULL: the C library's. */
void tts_liveset_init(struct tts_liveset *set, const struct tts_alloc *alloc);
void tts_liveset_release(struct tts_liveset *set);

/* NULL: it is not there. Good until the next call. */
struct tts_liveset_entry *tts_liveset_find(const struct tts_liveset *set, uint32_t device,
                                           uint64_t id);
/* A buffer that is not there, `number` > 0. TTS_E_RANGE: TTS_LIVESET_MAX are. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_liveset_add(struct tts_liveset *set,
                                              const struct tts_liveset_entry *entry);
/* One that find gave. */
void tts_liveset_remove(struct tts_liveset *set, struct tts_liveset_entry *entry);

/* All of them in no order: *cursor starts at 0. NULL: no more. */
const struct tts_liveset_entry *tts_liveset_next(const struct tts_liveset *set, size_t *cursor);
