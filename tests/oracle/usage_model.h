/* usage_model.h: the figures of phases by their definitions, for short histories. A slow,
 * obvious model of model/fold.h. It keeps every event that a phase may still need, the use of
 * every core after it, and everything that ever existed with the events that created and
 * removed it. Cores hold sets of bytes. Sizes must be small: an object has at most USAGE_BYTES
 * bytes on a core, and there are few places and few devices. */
#pragma once

#include "ttscope/capture.h"
#include "ttscope/event.h"
#include "ttscope/usage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    USAGE_COLUMNS = 5,
    USAGE_ROWS = 4,
    USAGE_PLACES = USAGE_COLUMNS * USAGE_ROWS,
    USAGE_DEVICES = 8,
    USAGE_WATCHES = 4,
    USAGE_OPS = 16,     /* names, one letter each */
    USAGE_THINGS = 256, /* maximum on a device at a time */
    USAGE_BYTES = 256,
};

/* Cores are represented by places: place column i stands for core column columns[i]. Both
 * arrays start with 0 and increase. A core between two places holds the same as the place
 * before it or less, so that it is never the first fullest core. */
struct usage_places {
    uint16_t columns[USAGE_COLUMNS], rows[USAGE_ROWS];
};

struct usage_phase {
    struct tts_phase phase; /* points into the other members */
    struct tts_device_usage devices[USAGE_DEVICES];
    struct tts_core_part parts[USAGE_DEVICES][TTS_CORE_PARTS_MAX];
};

struct usage_model;

/* Returns NULL if memory runs out. All other functions end the program in this case. */
struct usage_model *usage_model_new(const struct tts_tracker_config *limits,
                                    const struct usage_places *places);
void usage_model_free(struct usage_model *model);
void usage_model_reset(struct usage_model *model);

/* Applies an event. `op` is the number of the current operation or -1. For OP_BEGIN it is the
 * operation that begins. */
void usage_model_event(struct usage_model *model, const struct tts_event *event, int op);
/* Makes `chip` a chip of the mesh. The chip had no event. Returns false if the contract of the
 * fold refuses it. */
bool usage_model_chip(struct usage_model *model, uint32_t chip, uint32_t mesh);

void usage_model_health(const struct usage_model *model, struct tts_tracker_health *out);
size_t usage_model_live(const struct usage_model *model, struct tts_live *out, size_t capacity);
/* Return the results of tts_fold_pools_of() and tts_fold_core() for device `d`, in the order of
 * the first events. -1 gives the results of tts_fold_pools() and tts_fold_fullest_core(). */
size_t usage_model_device_count(const struct usage_model *model);
uint32_t usage_model_device(const struct usage_model *model, int d);
void usage_model_pools(const struct usage_model *model, int d, uint64_t buffers[TTS_POOLS],
                       uint64_t bytes[TTS_POOLS]);
void usage_model_core(const struct usage_model *model, int d, uint32_t place,
                      struct tts_core_peak *out,
                      struct tts_core_part parts[TTS_CORE_PARTS_MAX]);
/* Returns the number of objects on the fullest device, to stay within USAGE_THINGS. */
size_t usage_model_things(const struct usage_model *model);
/* Returns the number of stored events. */
size_t usage_model_records(const struct usage_model *model);

void usage_model_attach(struct usage_model *model, int watch);
void usage_model_detach(struct usage_model *model, int watch);
void usage_model_forget(struct usage_model *model, int watch); /* like tts_watch_reset() */
void usage_model_cut(struct usage_model *model, int watch, struct usage_phase *out);
