/* failadvice.h: what to change after a failure, cheapest first. Every item has the numbers of
 * this failure; an item without them is left out.
 *
 * Plain data, no memory is allocated, any thread. */
#pragma once

#include "analysis/failure/failholders.h"
#include "analysis/failure/failverdict.h"
#include "model/failmsg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_failadvice_kind {
    TTS_FAILADVICE_DECIDE,      /* find the cause, as the verdict says */
    TTS_FAILADVICE_OTHERS,      /* free or move the buffers of other allocators */
    TTS_FAILADVICE_L1_SMALL,    /* open the device with `bytes` of L1_SMALL */
    TTS_FAILADVICE_TRACE_SIZE,  /* open the device with a trace region of `bytes` */
    TTS_FAILADVICE_TRACE_DRAM,  /* open the device with trace_region_size 0 */
    TTS_FAILADVICE_TRACE_ORDER, /* allocate before the capture, free after it */
    TTS_FAILADVICE_TRACE_RELEASE,
    TTS_FAILADVICE_TRACE_TRACKER, /* let the runtime name the buffers */
    TTS_FAILADVICE_TRACE_FREE,    /* free the buffers before the replay */
    TTS_FAILADVICE_HOLDER,        /* free the buffer `holder` */
    TTS_FAILADVICE_HOLDER_OP,     /* free all buffers of `holder_op` */
    TTS_FAILADVICE_HOLDER_LOWEST, /* free the `count` lowest L1 buffers */
    TTS_FAILADVICE_FREE,          /* free `bytes` of each bank */
    TTS_FAILADVICE_NEIGHBOUR,     /* free `bytes` beside the largest free block */
    TTS_FAILADVICE_EARLIER,       /* allocate this buffer before smaller ones */
    TTS_FAILADVICE_MOVE_L1,       /* free or move the L1 buffer at `address` */
    TTS_FAILADVICE_CB_TILES,      /* `count` tiles fewer, of `bytes` bytes each */
    TTS_FAILADVICE_SPLIT,         /* allocate `count` pieces */
    TTS_FAILADVICE_DTYPE,         /* store `dtype` instead of `from_dtype`, one of `count` types
                                   * that the buffer may have; the need becomes `bytes` */
    TTS_FAILADVICE_TO_DRAM,
    TTS_FAILADVICE_MORE_CORES, /* shard over at least `count` cores */
    TTS_FAILADVICE_HALF,       /* half the batch; the need becomes `bytes` */
    TTS_FAILADVICE_RING,       /* `bytes` less in the kernels, or a larger ring */
    TTS_FAILADVICE_DEVICE,     /* `preset` has room */
    TTS_FAILADVICE_CHIPS,      /* split the buffer over `count` chips */
    TTS_FAILADVICE_RULE,       /* obey the rule that the message states */
};

enum { TTS_FAILADVICE_MAX = 12 };

struct tts_failadvice_item {
    enum tts_failadvice_kind kind;
    uint64_t bytes, count; /* see the kinds */
    bool has_saves;        /* the item saves memory of each bank or core */
    uint64_t saves_bytes;
    /* The numbers of the message, or the buffers of the recording, show whether the request
     * fits with this item alone. Bytes of several free pieces do not count as one piece. */
    bool has_enough;
    bool is_enough; /* if has_enough */
    const char *dtype, *from_dtype;
    const struct tts_preset *preset;
    const struct tts_failholder *holder; /* this field and the next are borrowed */
    const struct tts_failholder_op *holder_op;
};

struct tts_failadvice {
    size_t count;
    struct tts_failadvice_item items[TTS_FAILADVICE_MAX];
};

void tts_failadvice_make(const struct tts_failmsg *msg, const struct tts_failverdict *verdict,
                         struct tts_failadvice *out);

/* Puts the advice that follows from the buffers before all other advice. It replaces the advice
 * to free some bytes. Adds nothing if buffers are missing or may be of
 * another run. */
void tts_failadvice_add_holders(struct tts_failadvice *advice,
                                const struct tts_failholders *holders);
