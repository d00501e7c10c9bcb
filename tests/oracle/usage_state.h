/* usage_state.h: the types that the files of the usage model share. */
#pragma once

#include "oracle/usage_model.h"

enum { USAGE_WORDS = USAGE_BYTES / 64 };

/* A buffer or a part of a program. */
struct usage_thing {
    struct tts_core_part part;
    uint32_t places; /* one bit for each place */
    uint32_t owner;  /* the device that the event named, which knows the id */
    uint32_t slot;   /* position of its bytes, the same on all its cores */
    /* Sequence numbers of events; `gone` is UINT64_MAX while the thing exists. */
    uint64_t born, gone;
};

struct usage_device {
    uint32_t id;
    int mesh; /* index of the device's mesh, or -1 if it has none */
    struct usage_thing *things;
    size_t thing_count, thing_capacity;
    bool is_taken[USAGE_THINGS];
    uint64_t bytes[USAGE_PLACES][USAGE_THINGS * USAGE_WORDS]; /* one bit for each byte */
    uint64_t trace_depth;
};

/* The effect of an event on a pool. */
struct usage_step {
    bool happens;
    bool is_free;
    enum tts_pool pool;
    uint64_t bytes;
};

struct usage_record {
    uint64_t seq;
    enum tts_event_kind kind;
    int device;                 /* as named by the event; -1: none */
    struct usage_step steps[2]; /* the steps of the event, in order */
    uint64_t program_bytes;     /* size of a part that is not borrowed */
    uint64_t traced_bytes;
    bool is_traced[USAGE_DEVICES]; /* the device was capturing a trace at the event */
    bool is_trace[USAGE_DEVICES];  /* the device ended a trace */
    const char *op;
    uint32_t filled[USAGE_DEVICES][USAGE_PLACES]; /* bytes in use after the event */
};

struct usage_total {
    int64_t peak, current;
};

struct usage_watch {
    bool is_attached;
    uint64_t start; /* the phase began after this event */
    int listed[USAGE_DEVICES];
    size_t listed_count;
    /* The last row is for all devices together, the last two columns are for pairs of pools. */
    struct usage_total totals[USAGE_DEVICES + 1][TTS_POOLS + 2];
};

struct usage_model {
    struct tts_tracker_config limits;
    struct usage_places places;
    struct usage_device devices[USAGE_DEVICES];
    int device_count;
    struct tts_live *live; /* the oldest first */
    size_t live_count, live_capacity;
    /* The first record precedes the oldest phase, or stands for the beginning. */
    struct usage_record *records;
    size_t record_count, record_capacity;
    uint64_t seq;
    bool is_named[USAGE_OPS];
    size_t named_count;
    struct tts_tracker_health health;
    bool is_lost;
    struct usage_watch watches[USAGE_WATCHES];
};

/* Doubles the capacity of an array. Ends the program if memory runs out. */
void *usage_grown(void *items, size_t *capacity, size_t item_bytes);
/* Returns the index of a device and adds the device if it is new. Returns -1 if there are
 * devices_max devices already. */
int usage_enter_device(struct usage_model *model, uint32_t id);
/* Returns whether an event that names one device also counts for device `d`. */
bool usage_is_of(const struct usage_model *model, int d, int named);
/* Adds a device to the list of the watch if it is not there. */
void usage_list(struct usage_watch *watch, int d);
