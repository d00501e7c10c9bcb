/* changes.h: the items of a file as what they do to the buffers that live. Folds each item
 * (model/follow.h) and tells those who ask questions what came and what left.
 * Caller's memory; starts as {.follow = ..., .fn = ..., .ctx = ...}. One thread. */
#pragma once

#include "model/follow.h"

enum tts_change_kind {
    TTS_CHANGE_CAME,   /* live */
    TTS_CHANGE_LEFT,   /* live: freed, or its id was given again */
    TTS_CHANGE_UNSEEN, /* live: device, pool and sizes of a buffer that was freed but never seen
                        */
    TTS_CHANGE_CHIP,   /* device is a chip of mesh */
};

/* A plain value; what it points to is borrowed for the call, names of operations for the life
 * of the follower. */
struct tts_change {
    enum tts_change_kind kind;
    bool is_restored; /* CAME: it was there before the first event */
    bool is_unlisted; /* CAME: no memory for it; it will leave as one that was not seen */
    uint32_t device, mesh;
    struct tts_live live;
    uint64_t seq;                /* of the event; the events before it, where it is of none */
    const struct tts_item *item; /* that did it */
};

/* TTS_OK, or TTS_E_NOMEM. */
typedef enum tts_status (*tts_change_fn)(void *ctx, const struct tts_change *change);

struct tts_changes {
    struct tts_follow *follow;
    tts_change_fn fn;
    void *ctx;
    /* How far it is: */
    bool in_keyframe, has_begun;
    const struct tts_item *item;
    enum tts_status status;
};

/* What tts_follow_item() says, and nothing is told then; or what `fn` said. */
TTS_NODISCARD enum tts_status tts_changes_item(struct tts_changes *changes,
                                               const struct tts_item *item,
                                               struct tts_error *err);

/* How a pool counts a buffer: what its fullest bank holds in L1 and L1_SMALL, else its size. */
uint64_t tts_live_bytes(const struct tts_live *live);
