/* usage_draw.h: the random events of one history. The seed determines all of them. */
#pragma once

#include "oracle/usage_model.h"

enum { USAGE_DEPTH = 6, USAGE_RANGES = 3 };

/* A chip belongs to the last mesh before it in the list. */
enum usage_role { USAGE_SINGLE, USAGE_MESH, USAGE_CHIP };

struct usage_draw {
    uint64_t random;
    struct tts_tracker_config limits;
    struct usage_places places;
    size_t device_count;
    uint32_t ids[USAGE_DEVICES];
    enum usage_role roles[USAGE_DEVICES];
    size_t meshes[USAGE_DEVICES]; /* for chips: index of the mesh */
    /* set by the caller: the fold knows that the device is a chip */
    bool is_told[USAGE_DEVICES];
    uint64_t buffer_ids; /* number of different ids */
    uint64_t weights[TTS_EVENT_KINDS], pool_weights[TTS_POOLS];
    int ops[USAGE_DEPTH]; /* the current operations */
    size_t depth;
};

void usage_draw_init(struct usage_draw *draw, uint64_t seed);
/* usage_below() returns a number below `n` > 0. usage_chance() returns true once in `one_in`
 * times. */
uint64_t usage_below(struct usage_draw *draw, uint64_t n);
bool usage_chance(struct usage_draw *draw, uint64_t one_in);

/* Draws the next event for the state of the model. Its ranges are in `ranges`. Returns the
 * current operation or -1. An OP_END still returns its operation; the caller removes it from
 * `depth`. */
int usage_draw_event(struct usage_draw *draw, const struct usage_model *model,
                     struct tts_event *event, struct tts_core_range ranges[USAGE_RANGES]);
