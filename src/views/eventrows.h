/* eventrows.h: the rows of a file, one after the other, each free with what it frees.
 * A recording says of a buffer that it is freed, not again what it was; so those that live are
 * kept. Caller's memory, one thread. */
#pragma once

#include "views/eventrow.h"
#include "views/liveset.h"

struct tts_eventrows {
    struct tts_liveset live;
    uint64_t buffers; /* seen so far */
    struct tts_eventrow row;
};

/* Allocates nothing. `alloc` NULL: the C library's. */
void tts_eventrows_init(struct tts_eventrows *rows, const struct tts_alloc *alloc);
void tts_eventrows_release(struct tts_eventrows *rows);

/* An item that tts_itemcheck_pass() let through becomes rows->row. TTS_E_RANGE: more lives at
 * once than can be kept. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_eventrows_item(struct tts_eventrows *rows,
                                                 const struct tts_item *item,
                                                 struct tts_error *err);
