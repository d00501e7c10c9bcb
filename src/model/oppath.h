/* oppath.h: the operations around an operation, as "ttnn::add > ttnn::prim::binary".
 *
 * Follows which operations are open on each thread. Each path gets an entry of its own among
 * the names of a fold, with the name of its innermost operation, so that the text of an
 * operation, as the fold gives it, also stands for its path. Helpers (ophelper.h) are left out
 * of paths. Heap object. One thread. */
#pragma once

#include "model/fold.h"
#include "model/item.h"

enum {
    TTS_OPPATH_DEPTH = 64,    /* operations inside each other that are told apart */
    TTS_OPPATH_THREADS = 256, /* likewise threads */
};

struct tts_oppath;

TTS_NODISCARD enum tts_status tts_oppath_new(const struct tts_alloc *alloc,
                                             struct tts_oppath **out);
void tts_oppath_free(struct tts_oppath *paths); /* NULL is fine */

/* Forgets which operations are under way: their ends may be among events that are missing. */
void tts_oppath_forget(struct tts_oppath *paths);

/* Takes an EVENT item before the fold does. Returns the hash under which the fold is to count
 * it: that of the path of its operation if that is known, else item->op.hash. */
uint64_t tts_oppath_event(struct tts_oppath *paths, struct tts_fold *fold,
                          const struct tts_item *item);

/* Returns the hash of the path of an operation that is the innermost one of a thread now, else
 * `op_hash` itself. */
uint64_t tts_oppath_find(const struct tts_oppath *paths, uint64_t op_hash);

/* Writes the path of an operation to `out`, terminated. `op` is a text that the fold gave. If
 * the path has more than size - 1 bytes its last ones are written. Returns the bytes written,
 * without the end. An operation without a path has its name alone. */
size_t tts_oppath_text(const struct tts_oppath *paths, const char *op, char *out, size_t size);
