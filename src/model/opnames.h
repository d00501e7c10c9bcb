/* opnames.h: the names of operations, each kept once and told apart by a hash.
 * All memory is taken at birth. When it is full, further ones are all TTS_OPNAMES_OTHER, which
 * reads "(other)". One thread at a time; the texts stay until it is freed. */
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
void tts_opnames_free(struct tts_opnames *names); /* NULL is fine */

/* Cuts a name to the last TTS_OP_NAME_MAX bytes or a little less, so that it begins with a
 * whole character: names begin alike and differ at their ends. Two names that differ only
 * before that are one. */
void tts_opnames_cut(const char **name, size_t *len);

/* Never 0; of a name as it is kept: its last bytes, see tts_opnames_cut(). */
uint64_t tts_opnames_hash(const char *name, size_t len);

/* Writes a name as it is kept, without a terminator: its last TTS_OP_NAME_MAX bytes, control
 * characters as '?'. Returns its length. Names that are kept alike are one, and have one
 * hash. */
size_t tts_opnames_copy(char out[TTS_OP_NAME_MAX], const char *name, size_t len);
/* Keeps a name under its hash. */
void tts_opnames_add(struct tts_opnames *names, uint64_t hash, const char *name, size_t len);
/* Hash 0 is TTS_OPNAMES_NONE, one that is not there TTS_OPNAMES_OTHER. */
uint32_t tts_opnames_find(struct tts_opnames *names, uint64_t hash);
/* NULL for TTS_OPNAMES_NONE. */
const char *tts_opnames_text(const struct tts_opnames *names, uint32_t idx);
