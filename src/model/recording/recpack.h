/* recpack.h: a recording made small: blocks of about 64 Ki events, compressed, with keyframes
 * and an index (docs/design/recording.md). The same items give the same bytes. Heap object; for
 * every buffer that lives it takes some 90 bytes beside what a follower takes. One thread. */
#pragma once

#include "model/item.h"
#include "model/recording/recformat.h"
#include "ttscope/alloc.h"

#include <stdio.h>

struct tts_recpack;

/* Writes to `out`, which can seek, from its begin on. `header` is that of the source. */
TTS_NODISCARD enum tts_status tts_recpack_new(FILE *out, const struct tts_rec_header *header,
                                              const struct tts_alloc *alloc,
                                              struct tts_recpack **pack, struct tts_error *err);
void tts_recpack_free(struct tts_recpack *pack); /* NULL is fine */

/* Items as recfile.h reads them, with the names of operations; keyframes of the source that are
 * not its first are passed over, new ones are made. TTS_E_IO, TTS_E_NOMEM: no more can be
 * written. What tts_follow_item() refuses is not in it, and it can go on or end. */
TTS_NODISCARD enum tts_status
tts_recpack_item(struct tts_recpack *pack, const struct tts_item *item, struct tts_error *err);
/* Index and header; `state` is that of the source, of which blocks and index are filled in.
 * Gives back the memory that grows with the live buffers. Once. TTS_E_IO, TTS_E_NOMEM,
 * TTS_E_RANGE: more than 2^21 blocks. */
TTS_NODISCARD enum tts_status tts_recpack_end(struct tts_recpack *pack,
                                              const struct tts_rec_state *state,
                                              struct tts_error *err);

/* Adds bytes that say what the events come to, for readers that do not want to read them all.
 * The caller defines the meaning of the bytes. To be called once, after tts_recpack_end(). At
 * most TTS_RECPACK_FIGURES_MAX bytes. Adds nothing, and *is_stored is false, if the file would
 * grow by more than `room` bytes or there is no memory. TTS_E_IO. */
enum { TTS_RECPACK_FIGURES_MAX = TTS_REC_PAYLOAD_MAX / 2 };
TTS_NODISCARD enum tts_status tts_recpack_figures(struct tts_recpack *pack,
                                                  const unsigned char *bytes, size_t len,
                                                  uint64_t room, bool *is_stored,
                                                  struct tts_error *err);
/* Returns the bytes that figures may take: a tenth of the file and 64 KiB, but no more than
 * compression saved, so that the file stays smaller than a live recording of the same items.
 * The items alone decide. After tts_recpack_end(). */
uint64_t tts_recpack_room(const struct tts_recpack *pack);
