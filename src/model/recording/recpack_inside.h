/* recpack_inside.h: what the files of the packer know of each other. */
#pragma once

#include "model/follow.h"
#include "model/recording/recenc.h"
#include "model/recording/recindex.h"
#include "model/recording/recpack.h"

#include <zstd.h>

enum {
    TTS_RECPACK_PAYLOAD = 1 << 20,       /* of a block, before it is compressed */
    TTS_RECPACK_EVENTS = 1 << 16,        /* of a block, at most */
    TTS_RECPACK_KEYFRAME_EVENTS = 65536, /* between two keyframes, at least */
    TTS_RECPACK_KEYFRAME_SHARE = 7,      /* bytes of events for each byte of a keyframe */
    TTS_RECPACK_LIVE_BYTES = 2,          /* of a buffer in the first keyframe, about */
    TTS_RECPACK_LEVEL = 1,
};

/* A buffer of a keyframe, with its ranges elsewhere. */
struct tts_recpack_live {
    struct tts_live live;
    struct tts_item_op op;
    size_t first_range, range_count;
};

struct tts_recpack {
    const struct tts_alloc *alloc;
    FILE *out;
    struct tts_rec_header header;
    struct tts_follow *follow;
    uint64_t seq, time_ns;                  /* of the last item */
    uint64_t keyframe_seq;                  /* of the last keyframe, or where it begins */
    uint64_t event_bytes;                   /* of all events, before compression */
    uint64_t keyframe_bytes, keyframe_live; /* of the last keyframe that was made; 0: none */
    uint64_t keyframe_end;                  /* where it ends in the file */
    bool is_telling;                        /* a keyframe, at this moment */
    bool has_items;                         /* one was taken */
    bool in_keyframe, is_passed;            /* of the source; it is passed over */
    uint32_t active[TTS_FOLLOW_CAPTURES_MAX];
    size_t active_count;
    struct tts_error *err; /* while a keyframe is told */
    struct tts_recpack_live *live;
    size_t live_count, live_capacity;
    struct tts_core_range *ranges;
    size_t range_count, range_capacity;

    bool is_open;               /* the block: */
    struct tts_rec_block block; /* all but its size */
    uint64_t block_events, commit;
    uint64_t off; /* where it will be */
    struct tts_recindex_entry *entries;
    size_t entry_count, entry_capacity;
    unsigned char *payload, *packed; /* [TTS_RECPACK_PAYLOAD], [packed_bytes] */
    size_t packed_bytes;
    ZSTD_CCtx *zstd;
    struct tts_recenc enc;
};

/* An item, for which there is room: recpack.c. */
void tts_recpack_put(struct tts_recpack *pack, const struct tts_item *item);
bool tts_recpack_has_room(const struct tts_recpack *pack);

/* ---- keyframes: recpack_keyframe.c ---- */

/* Whether the next block should begin with one. */
bool tts_recpack_is_due(const struct tts_recpack *pack);
/* Begins a block with what there is now. */
TTS_NODISCARD enum tts_status tts_recpack_keyframe(struct tts_recpack *pack,
                                                   struct tts_error *err);
void tts_recpack_free_keyframe(struct tts_recpack *pack); /* the memory for it */

/* ---- blocks and the index: recpack_block.c ---- */

/* Where time is counted from in every block: the units that passed since an instant. */
uint64_t tts_recpack_units(const struct tts_recpack *pack, uint64_t from_ns, uint64_t to_ns);

/* Begins a block at pack->time_ns; one that is open is written first. */
TTS_NODISCARD enum tts_status tts_recpack_begin(struct tts_recpack *pack, bool has_keyframe,
                                                bool in_keyframe, struct tts_error *err);
/* Writes the block, if one is open and has something in it. */
TTS_NODISCARD enum tts_status tts_recpack_flush(struct tts_recpack *pack,
                                                struct tts_error *err);
TTS_NODISCARD enum tts_status tts_recpack_index(struct tts_recpack *pack, uint64_t *index_off,
                                                struct tts_error *err);
TTS_NODISCARD enum tts_status tts_recpack_write(struct tts_recpack *pack, const void *bytes,
                                                size_t len, struct tts_error *err);
