/* recpack.h: writes a packed recording: compressed blocks of about 64 Ki events, with keyframes
 * and an index (docs/design/recording.md). The same items give the same bytes. A packer needs
 * about 90 bytes for each live buffer, and contains a follower (follow.h). One thread at a
 * time. */
#pragma once

#include "model/item.h"
#include "model/recording/recformat.h"
#include "ttscope/alloc.h"

#include <stdio.h>

struct tts_recpack;

/* Creates a packer that writes to `out`, from the beginning of the file. `out` must be able to
 * seek. `header` is the header of the source. */
TTS_NODISCARD enum tts_status tts_recpack_new(FILE *out, const struct tts_rec_header *header,
                                              const struct tts_alloc *alloc,
                                              struct tts_recpack **pack, struct tts_error *err);
void tts_recpack_free(struct tts_recpack *pack); /* `pack` may be NULL */

/* Adds an item as recfile.h reads it, with the names of operations. Skips the keyframes of the
 * source after the first, and makes new keyframes. Returns TTS_E_IO or TTS_E_NOMEM if nothing
 * more can be written. If tts_follow_item() refuses the item, returns that error and leaves the
 * item out; the packer can continue or end. */
TTS_NODISCARD enum tts_status
tts_recpack_item(struct tts_recpack *pack, const struct tts_item *item, struct tts_error *err);
/* Writes the index and the header. `state` is the state of the source; the packer fills in the
 * number of blocks and the offset of the index. Frees the memory that grows with the live
 * buffers. Call once. Returns TTS_E_IO or TTS_E_NOMEM as above, TTS_E_RANGE if there are more
 * than 2^21 blocks. */
TTS_NODISCARD enum tts_status tts_recpack_end(struct tts_recpack *pack,
                                              const struct tts_rec_state *state,
                                              struct tts_error *err);

/* Stores a summary of the events (the figures), so that readers do not have to read all events.
 * The caller defines the meaning of the bytes. There are at most TTS_RECPACK_FIGURES_MAX bytes.
 * Call once, after tts_recpack_end(). Stores nothing and sets *is_stored to false if the file
 * would grow by more than `room` bytes or there is no memory. Returns TTS_E_IO if the file
 * cannot be written. */
enum { TTS_RECPACK_FIGURES_MAX = TTS_REC_PAYLOAD_MAX / 2 };
TTS_NODISCARD enum tts_status tts_recpack_figures(struct tts_recpack *pack,
                                                  const unsigned char *bytes, size_t len,
                                                  uint64_t room, bool *is_stored,
                                                  struct tts_error *err);
/* Returns the number of bytes that the figures may take: a tenth of the file and 64 KiB, but no
 * more than compression saved, so that the file stays smaller than a live recording of the same
 * items. Depends only on the items. Call after tts_recpack_end(). */
uint64_t tts_recpack_room(const struct tts_recpack *pack);
