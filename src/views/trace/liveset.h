/* liveset.h: the set of live buffers during a pass over a file, by device and id. The caller
 * owns the struct. One thread at a time. */
#pragma once

#include "base/hashtable.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTS_LIVESET_NO_SLOT UINT32_MAX
enum { TTS_LIVESET_MAX = 1 << 26 }; /* most buffers that may be live at the same time */

struct tts_liveset_entry {
    uint64_t id;    /* key, together with `device` */
    uint64_t bytes; /* set by the caller, like all fields except key and number */
    uint64_t bytes_per_bank, block_bytes;
    uint64_t number; /* number of the buffer, in the order of allocation, from 1 */
    uint32_t device; /* index of the device */
    uint32_t op;     /* index of the name in opnames.h */
    uint32_t slot;   /* TTS_LIVESET_NO_SLOT: the buffer is not drawn */
    uint32_t pool;   /* enum tts_pool */
};

struct tts_liveset {
    const struct tts_alloc *alloc;
    struct tts_liveset_entry *entries;
    size_t count, capacity;
    struct tts_hashtable by_key;
    uint64_t seed; /* makes the hashes hard to predict */
};

/* Initializes an empty set. Allocates nothing yet. If `alloc` is NULL, the set uses the C
 * library's allocator. */
void tts_liveset_init(struct tts_liveset *set, const struct tts_alloc *alloc);
void tts_liveset_release(struct tts_liveset *set);

/* Returns a live buffer, or NULL. Valid until the next call. */
struct tts_liveset_entry *tts_liveset_find(const struct tts_liveset *set, uint32_t device,
                                           uint64_t id);
/* Adds a buffer that is not in the set; its `number` is > 0. TTS_E_RANGE: the set
 * has TTS_LIVESET_MAX buffers. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_liveset_add(struct tts_liveset *set,
                                              const struct tts_liveset_entry *entry);
/* Removes an entry that tts_liveset_find() returned. */
void tts_liveset_remove(struct tts_liveset *set, struct tts_liveset_entry *entry);

/* Returns the next entry in any order, or NULL after the last. *cursor starts at 0. */
const struct tts_liveset_entry *tts_liveset_next(const struct tts_liveset *set, size_t *cursor);
