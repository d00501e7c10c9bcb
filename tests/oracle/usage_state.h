/* usage_state.h: what the files of the usage model share. */
#pragma once

#include "oracle/usage_model.h"

enum { USAGE_WORDS = USAGE_BYTES / 64 };

/* A buffer, or a part of a program. */
struct usage_thing {
    struct tts_core_part part;
    uint32_t places;     /* a bit for each */
    uint32_t owner;      /* the device that the event named, which knows it by its id */
    uint32_t slot;       /* where its bytes are, on all its cores */
    uint64_t born, gone; /* by which event; UINT64_MAX: it is there */
};

struct usage_device {
    uint32_t id;
    int mesh; /* -1: of none */
    struct usage_thing *things;
    size_t thing_count, thing_capacity;
    bool is_taken[USAGE_THINGS];
    uint64_t bytes[USAGE_PLACES][USAGE_THINGS * USAGE_WORDS]; /* a bit for each byte */
    uint64_t trace_depth;
};

/* What an event did to a pool. */
struct usage_step {
    bool happens;
    bool is_free;
    enum tts_pool pool;
    uint64_t bytes;
};

struct usage_record {
    uint64_t seq;
    enum tts_event_kind kind;
    int device;                 /* as named, -1: none */
    struct usage_step steps[2]; /* one after the other */
    uint64_t program_bytes;     /* of a part that is not borrowed */
    uint64_t traced_bytes;
    bool is_traced[USAGE_DEVICES]; /* the device captured a trace */
    bool is_trace[USAGE_DEVICES];  /* which ended now */
    const char *op;
    uint32_t filled[USAGE_DEVICES][USAGE_PLACES]; /* bytes in use behind it */
};

struct usage_total {
    int64_t peak, current;
};

struct usage_watch {
    bool is_attached;
    uint64_t start; /* the phase began behind this event */
    int listed[USAGE_DEVICES];
    size_t listed_count;
    struct usage_total totals[USAGE_DEVICES + 1]
                             [TTS_POOLS + 2]; /* the last: of all; two: of two pools */
};

struct usage_model {
    struct tts_tracker_config limits;
    struct usage_places places;
    struct usage_device devices[USAGE_DEVICES];
    int device_count;
    struct tts_live *live; /* the oldest first */
    size_t live_count, live_capacity;
    /* The first is the one before the oldest phase, or stands for the beginning. */
    struct usage_record *records;
    size_t record_count, record_capacity;
    uint64_t seq;
    bool is_named[USAGE_OPS];
    size_t named_count;
    struct tts_tracker_health health;
    bool is_lost;
    struct usage_watch watches[USAGE_WATCHES];
};

/* The items with room for twice as many; there is always memory. */
void *usage_grown(void *items, size_t *capacity, size_t item_bytes);
/* The index of a device, entered if it is new; -1: there are devices_max already. */
int usage_enter_device(struct usage_model *model, uint32_t id);
/* Whether an event that names one device is one of device `d`, too. */
bool usage_is_of(const struct usage_model *model, int d, int named);
/* Enters a device in the list of the watch, if it is not there. */
void usage_list(struct usage_watch *watch, int d);
