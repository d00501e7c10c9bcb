/* usage_model.h: the figures of phases by their definitions, for short histories.
 * A slow, obvious model of model/fold.h: it keeps every event that a phase may still ask for,
 * how full every core was behind it, and everything that was ever there, with the events that
 * brought it and took it away. Cores hold sets of bytes. Small sizes only: what is on a core
 * has at most USAGE_BYTES, and there are few places and few devices. */
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
    USAGE_OPS = 16,     /* names that are given, one letter each */
    USAGE_THINGS = 256, /* on a device at once */
    USAGE_BYTES = 256,
};

/* Cores are named by their places: column i is core column columns[i]. Both begin with 0 and
 * grow; what lies between two places is as the one before it or less, and never the first. */
struct usage_places {
    uint16_t columns[USAGE_COLUMNS], rows[USAGE_ROWS];
};

struct usage_phase {
    struct tts_phase phase; /* points into the rest */
    struct tts_device_usage devices[USAGE_DEVICES];
    struct tts_core_part parts[USAGE_DEVICES][TTS_CORE_PARTS_MAX];
};

struct usage_model;

/* NULL: out of memory, as everywhere here the program ends then. */
struct usage_model *usage_model_new(const struct tts_tracker_config *limits,
                                    const struct usage_places *places);
void usage_model_free(struct usage_model *model);
void usage_model_reset(struct usage_model *model);

/* `op` is the number of the operation under way, -1: none; for OP_BEGIN that which begins. */
void usage_model_event(struct usage_model *model, const struct tts_event *event, int op);
/* The chip had no event; may be refused, as the contract says. */
bool usage_model_chip(struct usage_model *model, uint32_t chip, uint32_t mesh);

void usage_model_health(const struct usage_model *model, struct tts_tracker_health *out);
size_t usage_model_live(const struct usage_model *model, struct tts_live *out, size_t capacity);
/* What tts_fold_pools_of() and tts_fold_core() answer, of the device of that number, in the
 * order of their first events; -1: what tts_fold_pools() and tts_fold_fullest_core() answer. */
size_t usage_model_device_count(const struct usage_model *model);
uint32_t usage_model_device(const struct usage_model *model, int d);
void usage_model_pools(const struct usage_model *model, int d, uint64_t buffers[TTS_POOLS],
                       uint64_t bytes[TTS_POOLS]);
void usage_model_core(const struct usage_model *model, int d, uint32_t place,
                      struct tts_core_peak *out,
                      struct tts_core_part parts[TTS_CORE_PARTS_MAX]);
/* How much is on the fullest device: to stay within USAGE_THINGS. */
size_t usage_model_things(const struct usage_model *model);
/* Events that are kept. */
size_t usage_model_records(const struct usage_model *model);

void usage_model_attach(struct usage_model *model, int watch);
void usage_model_detach(struct usage_model *model, int watch);
void usage_model_forget(struct usage_model *model, int watch); /* as tts_watch_reset() */
void usage_model_cut(struct usage_model *model, int watch, struct usage_phase *out);
