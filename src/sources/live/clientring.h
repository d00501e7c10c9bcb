/* clientring.h: follows the events of one program that publishes, in the ring of its region
 * (wire/clientregion.h). The rules of clientregions.h hold: the reader copies and checks.
 *
 * Ownership: the caller closes the object. Threads: one thread at a time.
 * Cost: two system calls per 16,384 events (one copy of at most 1 MiB), and one system call if
 * there is no new event. The first events after a pause cost one more, and so does an event
 * that the program is about to overwrite. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"
#include "wire/clientregion.h"

#include <stdbool.h>

struct tts_clientring; /* opaque; heap */

/* Opens the region at `path` and checks it. The ring is followed from the next event on.
 * Returns TTS_E_NOT_FOUND if there is no such region, TTS_E_BUSY while the header is being
 * made, TTS_E_SYNTAX if the file is no region or has no ring, TTS_E_IO and TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_clientring_open(const char *path,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_clientring **out,
                                                  struct tts_error *err);
void tts_clientring_close(struct tts_clientring *ring); /* NULL is allowed */

/* Goes back to the first event of the program. Events that it has overwritten count as lost. */
void tts_clientring_rewind(struct tts_clientring *ring);

/* The header as it was when the ring was opened, copied and checked. Valid until close. */
const struct tts_clientregion_header *tts_clientring_header(const struct tts_clientring *ring);

/* Returns the number of events before the next one: those that were read, lost or left out. */
uint64_t tts_clientring_passed(const struct tts_clientring *ring);

/* Copies the next events, in order, to events[0..max), and their number to *count. Adds the
 * events that the program overwrote before they were read to *lost, and events of an unknown
 * kind or pool. A count of 0 means that there is no new event now. Returns TTS_E_NOT_FOUND if
 * the program no longer publishes its memory and all events are read, TTS_E_SYNTAX if the file
 * no longer is the region that was opened (it was truncated or holds impossible values),
 * TTS_E_IO. */
TTS_NODISCARD enum tts_status tts_clientring_next(struct tts_clientring *ring,
                                                  struct tts_clientregion_event *events,
                                                  size_t max, size_t *count, uint64_t *lost,
                                                  struct tts_error *err);

/* Copies the name of an operation: `op` is that of an event or a buffer, and "" is copied for
 * 0 and for an unknown index. */
void tts_clientring_op(struct tts_clientring *ring, uint16_t op,
                       char name[TTS_CLIENTREGION_NAME_BYTES]);
