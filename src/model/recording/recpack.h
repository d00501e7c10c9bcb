/* recpack.h: writes a packed recording: compressed blocks of about 64 Ki events, with keyframes
 * and an index (docs/design/recording.md). The same items give the same bytes. Heap object.
 * Needs about 90 bytes per live buffer in addition to a follower. One thread. */
#pragma once

#include "model/item.h"
#include "model/recording/recformat.h"
#include "ttscope/alloc.h"

#include <stdio.h>

struct tts_recpack;

/* Creates a packer that writes to `out`, from its begin on. `out` must be able to seek.
 * `header` is the header of the source. */
TTS_NODISCARD enum tts_status tts_recpack_new(FILE *out, const struct tts_rec_header *header,
                                              const struct tts_alloc *alloc,
                                              struct tts_recpack **pack, struct tts_error *err);
void tts_recpack_free(struct tts_recpack *pack); /* `pack` may be NULL */

/* Adds an item as recfile.h reads it, with the names of operations. Keyframes of the source
 * after the first are skipped, new ones are made. TTS_E_IO, TTS_E_NOMEM: nothing more can be
 * written. An item that tts_follow_item() refuses is left out, and the packer can continue or
 * end. */
TTS_NODISCARD enum tts_status
tts_recpack_item(struct tts_recpack *pack, const struct tts_item *item, struct tts_error *err);
/* Writes the index and the header. `state` is the state of the source; its block count and
 * index are filled in. Frees the memory that grows with the live buffers. Call once. TTS_E_IO,
 * TTS_E_NOMEM: see above. TTS_E_RANGE: more than 2^21 blocks. */
TTS_NODISCARD enum tts_status tts_recpack_end(struct tts_recpack *pack,
                                              const struct tts_rec_state *state,
                                              struct tts_error *err);

/* Stores a summary of the events, for readers that do not want to read them all. The caller
 * defines the meaning of the bytes, at most TTS_RECPACK_FIGURES_MAX. Call once, after
 * tts_recpack_end(). Stores nothing and sets *is_stored to false if the file would grow by more
 * than `room` bytes or there is no memory. TTS_E_IO: the file cannot be written. */
enum { TTS_RECPACK_FIGURES_MAX = TTS_REC_PAYLOAD_MAX / 2 };
TTS_NODISCARD enum tts_status tts_recpack_figures(struct tts_recpack *pack,
                                                  const unsigned char *bytes, size_t len,
                                                  uint64_t room, bool *is_stored,
                                                  struct tts_error *err);
/* Returns the bytes that figures may take: a tenth of the file and 64 KiB, but no more than
 * compression saved, so that the file stays smaller than a live recording of the same items.
 * Depends only on the items. Call after tts_recpack_end(). */
uint64_t tts_recpack_room(const struct tts_recpack *pack);
