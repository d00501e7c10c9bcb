/* recindex.h: the last block of a packed recording (docs/design/recording.md). */
#pragma once

#include "model/recording/recformat.h"

/* The index entry of a block. */
struct tts_recindex_entry {
    uint64_t off;     /* offset in the file */
    uint64_t seq;     /* number of events before the block */
    uint64_t time_ns; /* time of the first item of the block */
    uint64_t flags;
};

enum {
    TTS_RECINDEX_HAS_KEYFRAME = 1, /* flag: the block begins with a keyframe */
    TTS_RECINDEX_ENTRY_BYTES = 32,
    TTS_RECINDEX_MAX = TTS_REC_PAYLOAD_MAX / TTS_RECINDEX_ENTRY_BYTES,
};
