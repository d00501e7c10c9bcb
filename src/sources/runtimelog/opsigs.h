/* opsigs.h: the types of operations, each read once. The operations of a log repeat the same
 * types thousands of times, and a type has some 250 bytes of text.
 *
 * Ownership: the caller owns the table. A signature in the table is valid until
 * tts_opsigs_release(). A signature that does not fit into the table is read into the spare of
 * the caller, and is valid until the next call with this spare.
 * Threads: one thread at a time.
 * Cost: one comparison of the text if the signature is known; otherwise linear. The table takes
 * at most TTS_OPSIGS_BYTES.
 * Returns: see the functions. */
#pragma once

#include "base/hashtable.h"
#include "sources/runtimelog/optype.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

enum { TTS_OPSIGS_BYTES = 8 << 20, TTS_OPSIG_TYPES_MAX = 1 << 14 };

struct tts_opsigs {
    const struct tts_alloc *alloc;
    struct tts_hashtable table;
    struct tts_opsig **sigs; /* each stays at its place */
    size_t count, capacity, bytes;
};

void tts_opsigs_init(struct tts_opsigs *sigs, const struct tts_alloc *alloc);
void tts_opsigs_release(struct tts_opsigs *sigs); /* a zeroed struct is allowed */

/* Finds or reads the types of a signature (optext.h). `spare` is used if the table is full.
 * *out is borrowed from the table or from the spare. TTS_E_NOMEM: the host has too little
 * memory. */
TTS_NODISCARD enum tts_status tts_opsigs_find(struct tts_opsigs *sigs, struct tts_span text,
                                              struct tts_opsig *spare,
                                              const struct tts_opsig **out);
/* Releases a spare; a zeroed struct is allowed. */
void tts_opsig_release(struct tts_opsig *sig, const struct tts_alloc *alloc);
