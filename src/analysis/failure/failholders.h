/* failholders.h: the buffers that held the memory when a request failed, and the effect of
 * freeing each of them. The buffers come from a recording or a graph trace of the same run.
 *
 * The items of the file are read once. The moment of the failure is the refused request that
 * has the numbers of the message. Without such a request it is the last moment with the
 * allocated bytes of the message, and otherwise the last allocation of the pool. Buffers that
 * are freed after the moment are kept until there is a later moment.
 *
 * Ownership: the caller frees the object; lists and names live as long as the object. Memory:
 * one entry for each buffer that is live, or was live at the moment. One thread at a time. */
#pragma once

#include "analysis/best.h"
#include "base/hashtable.h"
#include "model/failmsg.h"
#include "model/follow.h"

enum tts_failmoment {
    TTS_FAILMOMENT_NONE,       /* the file allocates nothing in the pool */
    TTS_FAILMOMENT_REFUSAL,    /* the refused request has the numbers of the message */
    TTS_FAILMOMENT_SAME_BYTES, /* a bank has the allocated bytes of the message */
    TTS_FAILMOMENT_LAST,       /* the last allocation in the pool */
};

/* A buffer of the pool. */
struct tts_failholder {
    uint64_t id, seq;     /* seq: event that allocated the buffer */
    const char *op;       /* operation that allocated the buffer; NULL: none or unknown */
    uint64_t bytes;       /* as `ttscope show` counts: tts_live_bytes() */
    uint64_t block_bytes; /* bytes in each bank */
    uint64_t address;
    /* Bytes of the free piece that would exist without this buffer. For a clash: the lowest
     * address of an L1 buffer without this buffer and all lower ones. */
    uint64_t room_bytes;
    uint32_t device;
    bool is_estimate; /* block_bytes is `bytes` divided by the number of banks */
    bool has_address, has_room;
    bool is_enough; /* then the request fits, or the clash is gone */
};

/* The buffers of one operation. */
struct tts_failholder_op {
    const char *op; /* NULL: none or unknown */
    uint64_t buffers, bytes, block_bytes;
    bool has_room;
    uint64_t room_bytes; /* largest free piece without all of these buffers */
    bool is_enough;
};

enum { TTS_FAILHOLDERS_TOP = 10 }; /* entries of each list */

struct tts_failholders {
    enum tts_pool pool;
    bool is_clash;
    enum tts_failmoment moment;
    uint64_t seq;    /* event of the moment */
    uint32_t device; /* device of the moment; buffers of its mesh are listed too
                      */
    /* Refused requests with other numbers: how many, and the event of the first. */
    uint64_t other_refusals, other_refusal_seq;

    /* The fields up to `below_count` are valid after tts_failholders_finish(). */
    bool is_same_run; /* the numbers of the message are in the file */
    /* The buffers explain the allocated bytes of the message, or for a clash the lowest L1
     * address, as far as the message has them. Otherwise buffers are missing, and a free piece
     * may be smaller than computed. */
    bool is_complete;
    struct tts_failholder *items; /* by address; buffers without an address last */
    size_t count, without_address;
    uint64_t bytes, block_bytes; /* sums */
    bool has_estimate;
    struct tts_best ops; /* struct tts_failholder_op, the largest block_bytes first */
    size_t op_count;
    bool has_need; /* is_enough can be answered */
    uint64_t need_bytes;
    /* The largest free piece, if all addresses are known, and the items at its ends. An index
     * of `count` is an end of the bank. */
    bool has_hole;
    uint64_t hole_bytes, hole_address;
    size_t hole_below, hole_above;
    /* Not a clash: the number of items with is_enough, and the index of the smallest. */
    uint64_t enough_count;
    size_t enough;
    size_t below_count; /* clash: items below the end of the circular buffers, the first ones */

    struct tts_failmsg msg; /* the message; a refusal adds the numbers that the message lacks */
    bool has_added;

    /* The following fields belong to the scan. */
    const struct tts_alloc *alloc;
    struct tts_follow *follow;
    struct tts_hashtable by_id;
    struct tts_failholder *gone; /* buffers that were freed after the moment */
    size_t capacity, gone_count, gone_capacity;
    struct tts_failholder_device {
        uint32_t device, mesh; /* mesh: `device` itself if the device is not a chip of a mesh */
        uint64_t block_bytes;
    } devices[TTS_LEDGER_DEVICES];
    size_t device_count;
    uint32_t banks; /* 0: unknown */
    uint64_t alignment_bytes;
    bool has_bank; /* the addresses of a bank are known */
    uint64_t bank_start, bank_end;
};

/* Returns whether the message is about a pool whose buffers can be listed. */
bool tts_failholders_fits(const struct tts_failmsg *msg);
/* Begins the search. *msg is copied. Returns TTS_E_NOT_FOUND if the message is not about memory
 * in which buffers could be listed, TTS_E_NOMEM if there is no memory. */
TTS_NODISCARD enum tts_status tts_failholders_new(const struct tts_failmsg *msg,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_failholders **out,
                                                  struct tts_error *err);
void tts_failholders_free(struct tts_failholders *holders); /* NULL is allowed */

/* Takes the next item. No further items are needed if moment is TTS_FAILMOMENT_REFUSAL. Fails
 * like tts_follow_item(). */
TTS_NODISCARD enum tts_status tts_failholders_item(struct tts_failholders *holders,
                                                   const struct tts_item *item,
                                                   struct tts_error *err);
/* Completes the answer after the last item. Call once. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_failholders_finish(struct tts_failholders *holders,
                                                     struct tts_error *err);
