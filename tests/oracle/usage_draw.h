/* usage_draw.h: the ways of one history of events, all of them decided by a seed. */
#pragma once

#include "oracle/usage_model.h"

enum { USAGE_DEPTH = 6, USAGE_RANGES = 3 };

/* A chip is one of the last mesh before it in the list. */
enum usage_role { USAGE_SINGLE, USAGE_MESH, USAGE_CHIP };

struct usage_draw {
    uint64_t random;
    struct tts_tracker_config limits;
    struct usage_places places;
    size_t device_count;
    uint32_t ids[USAGE_DEVICES];
    enum usage_role roles[USAGE_DEVICES];
    size_t meshes[USAGE_DEVICES]; /* of chips */
    bool is_told[USAGE_DEVICES];  /* the caller's: that it is a chip */
    uint64_t buffer_ids;          /* how many there are */
    uint64_t weights[TTS_EVENT_KINDS], pool_weights[TTS_POOLS];
    int ops[USAGE_DEPTH]; /* under way */
    size_t depth;
};

void usage_draw_init(struct usage_draw *draw, uint64_t seed);
/* Below `n` > 0; true once in `one_in` times. */
uint64_t usage_below(struct usage_draw *draw, uint64_t n);
bool usage_chance(struct usage_draw *draw, uint64_t one_in);

/* The next event, for what lives in the model; its ranges are in `ranges`. Returns the
 * operation under way, -1: none. An OP_END still has its operation: the caller takes it from
 * `depth`. */
int usage_draw_event(struct usage_draw *draw, const struct usage_model *model,
                     struct tts_event *event, struct tts_core_range ranges[USAGE_RANGES]);
