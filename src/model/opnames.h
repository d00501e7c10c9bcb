/* opnames.h: the names of operations. Each name is stored once and identified by a hash.
 * tts_opnames_new() allocates all memory. When the memory is full, all further names become
 * TTS_OPNAMES_OTHER, with the text "(other)". Texts stay valid until tts_opnames_free(). One
 * thread at a time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/event.h"
#include "ttscope/status.h"

#include <stddef.h>
#include <stdint.h>

enum { TTS_OPNAMES_NONE = 0, TTS_OPNAMES_OTHER = 1 };

struct tts_opnames;

TTS_NODISCARD enum tts_status tts_opnames_new(uint32_t max, const struct tts_alloc *alloc,
                                              struct tts_opnames **out);
void tts_opnames_free(struct tts_opnames *names); /* `names` may be NULL */

/* Cuts a name to its last TTS_OP_NAME_MAX bytes, or slightly less, so that the rest starts with
 * a whole character. The end is kept, because long names often differ only at the end. Two
 * names that differ only in the removed part become equal. */
void tts_opnames_cut(const char **name, size_t *len);

/* Returns the hash of a name after tts_opnames_cut(). The hash is never 0. */
uint64_t tts_opnames_hash(const char *name, size_t len);

/* Writes a name in its stored form, without a terminator: the name after tts_opnames_cut(),
 * with '?' instead of each control character. Returns the length. Names with the same stored
 * form are equal and have the same hash. */
size_t tts_opnames_copy(char out[TTS_OP_NAME_MAX], const char *name, size_t len);
/* Stores a name under its hash. */
void tts_opnames_add(struct tts_opnames *names, uint64_t hash, const char *name, size_t len);
/* Returns the index of a name. Hash 0 gives TTS_OPNAMES_NONE, an unknown hash
 * TTS_OPNAMES_OTHER. */
uint32_t tts_opnames_find(struct tts_opnames *names, uint64_t hash);
/* Returns the name, or NULL for TTS_OPNAMES_NONE. */
const char *tts_opnames_text(const struct tts_opnames *names, uint32_t idx);
