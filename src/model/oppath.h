/* oppath.h: the operations around an operation, as "ttnn::add > ttnn::prim::binary".
 *
 * Tracks the open operations of each thread. Each path gets its own entry among the names of a
 * fold, with the name of its innermost operation. So the text of an operation that the fold
 * returns also identifies its path. Helpers (ophelper.h) are left out of paths. Heap object.
 * One thread. */
#pragma once

#include "model/fold.h"
#include "model/item.h"

enum {
    TTS_OPPATH_DEPTH = 64,    /* maximum depth of nested operations */
    TTS_OPPATH_THREADS = 256, /* maximum number of threads */
};

struct tts_oppath;

TTS_NODISCARD enum tts_status tts_oppath_new(const struct tts_alloc *alloc,
                                             struct tts_oppath **out);
void tts_oppath_free(struct tts_oppath *paths); /* `paths` may be NULL */

/* Forgets the open operations, because their ends may be among missing events. */
void tts_oppath_forget(struct tts_oppath *paths);

/* Takes an EVENT item before the fold does. Returns the hash for the fold: the hash of the path
 * of its operation if the path is known, else item->op.hash. */
uint64_t tts_oppath_event(struct tts_oppath *paths, struct tts_fold *fold,
                          const struct tts_item *item);

/* Returns the hash of the path of an operation, if it is the innermost operation of a thread
 * now, else `op_hash`. */
uint64_t tts_oppath_find(const struct tts_oppath *paths, uint64_t op_hash);

/* Writes the path of an operation to `out`, terminated. `op` is a text that the fold returned.
 * If the path is longer than size - 1 bytes, writes its last bytes. Returns the number of bytes
 * without the terminator. An operation without a path has only its name. */
size_t tts_oppath_text(const struct tts_oppath *paths, const char *op, char *out, size_t size);
