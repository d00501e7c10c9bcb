/* recpack_inside.h: the state that the files of the packer share. */
#pragma once

#include "model/follow.h"
#include "model/recording/recenc.h"
#include "model/recording/recindex.h"
#include "model/recording/recpack.h"

#include <zstd.h>

enum {
    TTS_RECPACK_PAYLOAD = 1 << 20,       /* maximum size of a block before compression */
    TTS_RECPACK_EVENTS = 1 << 16,        /* largest number of events in a block */
    TTS_RECPACK_KEYFRAME_EVENTS = 65536, /* smallest number of events between two keyframes */
    /* The events take at least this many times the bytes of the keyframes. */
    TTS_RECPACK_KEYFRAME_SHARE = 7,
    TTS_RECPACK_LIVE_BYTES = 2, /* approximate bytes of a buffer in the first keyframe */
    TTS_RECPACK_LEVEL = 1,
};

/* A buffer of a keyframe. The core ranges of all buffers are in one array. */
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
    uint64_t seq, time_ns; /* number and time of the last item */
    /* Number of the last event before the last keyframe, or before the file. */
    uint64_t keyframe_seq;
    uint64_t event_bytes; /* bytes of all events before compression */
    /* Size and number of buffers of the last keyframe. Both are 0 if there is none. */
    uint64_t keyframe_bytes, keyframe_live;
    uint64_t keyframe_end; /* offset in the file after that keyframe */
    bool is_telling;       /* a keyframe is being written */
    bool has_items;        /* an item was added */
    /* Inside a keyframe of the source, and whether that keyframe is skipped. */
    bool in_keyframe, is_passed;
    uint32_t active[TTS_FOLLOW_CAPTURES_MAX];
    size_t active_count;
    struct tts_error *err; /* valid while a keyframe is written */
    struct tts_recpack_live *live;
    size_t live_count, live_capacity;
    struct tts_core_range *ranges;
    size_t range_count, range_capacity;

    bool is_open;               /* a block has begun; the fields below describe it */
    struct tts_rec_block block; /* header of the block, without its size */
    uint64_t block_events, commit;
    uint64_t off; /* offset of the block in the file */
    struct tts_recindex_entry *entries;
    size_t entry_count, entry_capacity;
    unsigned char *payload, *packed; /* TTS_RECPACK_PAYLOAD bytes, and packed_bytes bytes */
    size_t packed_bytes;
    ZSTD_CCtx *zstd;
    struct tts_recenc enc;
};

/* Writes an item. The caller has checked that there is room. Defined in recpack.c. */
void tts_recpack_put(struct tts_recpack *pack, const struct tts_item *item);
bool tts_recpack_has_room(const struct tts_recpack *pack);

/* ---- keyframes: recpack_keyframe.c ---- */

/* Returns whether the next block should begin with a keyframe. */
bool tts_recpack_is_due(const struct tts_recpack *pack);
/* Begins a block with a keyframe of the current state. */
TTS_NODISCARD enum tts_status tts_recpack_keyframe(struct tts_recpack *pack,
                                                   struct tts_error *err);
void tts_recpack_free_keyframe(struct tts_recpack *pack); /* frees the memory for keyframes */

/* ---- blocks and the index: recpack_block.c ---- */

/* Returns the number of time units between two instants. Each block counts time from its own
 * beginning. */
uint64_t tts_recpack_units(const struct tts_recpack *pack, uint64_t from_ns, uint64_t to_ns);

/* Begins a block at pack->time_ns. Writes an open block first. */
TTS_NODISCARD enum tts_status tts_recpack_begin(struct tts_recpack *pack, bool has_keyframe,
                                                bool in_keyframe, struct tts_error *err);
/* Writes the open block, if there is one and it is not empty. */
TTS_NODISCARD enum tts_status tts_recpack_flush(struct tts_recpack *pack,
                                                struct tts_error *err);
TTS_NODISCARD enum tts_status tts_recpack_index(struct tts_recpack *pack, uint64_t *index_off,
                                                struct tts_error *err);
TTS_NODISCARD enum tts_status tts_recpack_write(struct tts_recpack *pack, const void *bytes,
                                                size_t len, struct tts_error *err);
