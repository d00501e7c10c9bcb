/* oppath.h: paths of operations. A path is an operation with the operations around it, as
 * "ttnn::add > ttnn::prim::binary".
 *
 * A struct tts_oppath tracks the operations in progress on each thread of the recorded program.
 * Each path gets its own entry among the names of a fold; the text of the entry is the name of
 * the innermost operation. So the address of an operation's text, which the fold returns, also
 * identifies the path. Helpers (ophelper.h) are left out of paths. One thread at a time. */
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

/* Forgets the operations in progress. Call if events are missing, because the ends of these
 * operations may be among them. */
void tts_oppath_forget(struct tts_oppath *paths);

/* Processes an EVENT item. Call before the fold gets the event, and pass the returned hash to
 * the fold: the hash of the path of the event's operation if the path is known, otherwise
 * item->op.hash. */
uint64_t tts_oppath_event(struct tts_oppath *paths, struct tts_fold *fold,
                          const struct tts_item *item);

/* Returns the hash of the path of an operation if the operation is the innermost operation of a
 * thread now, otherwise `op_hash`. */
uint64_t tts_oppath_find(const struct tts_oppath *paths, uint64_t op_hash);

/* Writes the path of an operation to `out`, terminated. `op` is a text that the fold returned.
 * If the path is longer than size - 1 bytes, writes the last size - 1 bytes of the path. Writes
 * the name if the operation has no path. Returns the number of bytes without the terminator. */
size_t tts_oppath_text(const struct tts_oppath *paths, const char *op, char *out, size_t size);
