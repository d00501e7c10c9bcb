/* whatif_inside.h: what the files of whatif*.c share. */
#pragma once

#include "analysis/whatif.h"
#include "base/hashtable.h"
#include "model/opnames.h"
#include "ttscope/alloc.h"

/* ---- buffers that live (whatif_live.c) ---- */

#define TTS_WHATIF_NONE UINT32_MAX

struct tts_whatif_entry {
    uint64_t id, seq;
    struct tts_buffer buffer;
    uint32_t device; /* of the recording */
    uint32_t next;   /* of a free entry */
    uint32_t op;     /* as opnames.h counts them */
    uint16_t model;
    bool is_used;
    bool is_step;  /* its allocation is among the steps */
    bool is_trace; /* in its region or in DRAM */
};

/* Entries keep their place while they live. */
struct tts_whatif_table {
    const struct tts_alloc *alloc;
    struct tts_whatif_entry *entries;
    size_t count, capacity; /* of entries ever used */
    uint32_t first_free;    /* + 1 */
    size_t used;
    struct tts_hashtable by_key; /* device and id */
    uint64_t seed;
};

void tts_whatif_table_release(struct tts_whatif_table *table);
/* TTS_WHATIF_NONE: it is not there. */
uint32_t tts_whatif_table_find(const struct tts_whatif_table *table, uint32_t device,
                               uint64_t id);
/* A place for a key that is not there, its key filled in. TTS_E_RANGE, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_whatif_table_add(struct tts_whatif_table *table,
                                                   uint32_t device, uint64_t id,
                                                   uint32_t *place, struct tts_error *err);
void tts_whatif_table_remove(struct tts_whatif_table *table, uint32_t place);

/* ---- steps of DRAM, L1_SMALL and traces (whatif_steps.c) ---- */

enum tts_whatif_step_kind {
    TTS_WHATIF_STEP_TAKE,
    TTS_WHATIF_STEP_GIVE,
    TTS_WHATIF_STEP_SMALL, /* in L1_SMALL: size and page are those of one core */
    TTS_WHATIF_STEP_TRACE, /* in its region, or in DRAM if there is none */
    TTS_WHATIF_STEP_CAPTURE,
};

struct tts_whatif_step {
    uint64_t size_bytes, page_bytes;
    uint32_t place; /* of the entry; not of a CAPTURE */
    uint16_t cores; /* of a sharding over the first banks; 0: interleaved */
    uint8_t model;
    uint8_t kind : 4;      /* enum tts_whatif_step_kind */
    uint8_t placement : 4; /* enum tts_placement, not AT */
};

enum { TTS_WHATIF_RECENT = 4096 }; /* a power of 2 */

/* Requests that were met before, each at the place of its hash. Most requests are like one of
 * them; a step then has only that place. A writer and a reader of steps each have one, and both
 * go through the same changes. */
struct tts_whatif_recent {
    struct tts_whatif_step requests[TTS_WHATIF_RECENT]; /* their `place` is 0 */
};

struct tts_whatif_steps {
    unsigned char *bytes;
    size_t used, capacity;
    struct tts_whatif_recent *recent; /* NULL until the first */
    bool is_kept;                     /* false: not asked for, or too many */
};

/* Where there is no room they are all dropped. */
void tts_whatif_keep(struct tts_whatif *whatif, const struct tts_whatif_step *step);
void tts_whatif_drop_steps(struct tts_whatif *whatif);

/* ---- devices ---- */

struct tts_whatif_model {
    struct tts_device *device;
    uint32_t id;
    bool is_pending; /* a source of it is */
    struct tts_whatif_fill {
        uint64_t bytes, peak_bytes, peak_seq; /* of blocks, placed or not */
        uint64_t failures, deficit_bytes, deficit_seq;
    } fill[TTS_POOLS];
    /* Of traces, wherever they are; failures that a larger trace region prevents. */
    uint64_t trace_bytes, trace_peak_bytes, trace_failures;
};

/* When and where something happened. */
struct tts_whatif_moment {
    uint64_t seq, time_ns;
    bool has_time;
    uint32_t device; /* of the recording */
    uint32_t op;     /* as opnames.h counts them */
};

/* A circular buffer of the program under way; its ranges are those of the source. */
struct tts_whatif_cb {
    uint64_t bytes;
    size_t first_range, range_count;
};

/* A device of the recording: a chip, a mesh or neither. */
struct tts_whatif_source {
    uint32_t id;
    uint16_t mesh;     /* its index; its own: it is no chip of one */
    uint16_t model;    /* TTS_WHATIF_DEVICES_MAX: none yet; of a chip that of its mesh counts */
    bool is_pending;   /* circular buffers were not looked at */
    bool is_unchecked; /* some cannot be laid out */
    bool is_counted, has_failed; /* its program */
    struct tts_whatif_cb *cbs;
    size_t cb_count, cb_capacity;
    struct tts_core_range *ranges;
    size_t range_count, range_capacity;
    struct tts_whatif_moment last; /* of its circular buffers */
};

/* A buffer of a keyframe. */
struct tts_whatif_before {
    struct tts_live live;
    uint32_t op;
    bool is_single; /* of single cores */
};

struct tts_whatif {
    const struct tts_alloc *alloc;
    struct tts_chip chip;
    bool dram_only;
    uint64_t stop_seq; /* a refused request after which there were only frees and ends; or 0 */
    struct tts_whatif_counts counts;
    struct tts_whatif_source sources[TTS_WHATIF_DEVICES_MAX];
    size_t source_count;
    struct tts_whatif_model models[TTS_WHATIF_DEVICES_MAX];
    size_t model_count, pending_count;
    struct tts_whatif_table table;
    struct tts_whatif_steps steps;
    struct tts_opnames *names;
    struct tts_whatif_failure first;
    bool has_failed;
    struct tts_whatif_before *before; /* of the keyframe under way */
    size_t before_count, before_capacity;
};

TTS_NODISCARD enum tts_status tts_whatif_new_device(const struct tts_whatif *whatif,
                                                    const struct tts_chip *chip,
                                                    enum tts_mode mode, struct tts_device **out,
                                                    struct tts_error *err);
/* The device of an id, known from now on. */
TTS_NODISCARD enum tts_status tts_whatif_source_of(struct tts_whatif *whatif, uint32_t id,
                                                   size_t *out, struct tts_error *err);
/* The modelled device of a source. */
TTS_NODISCARD enum tts_status tts_whatif_model_of(struct tts_whatif *whatif, size_t source,
                                                  size_t *model, struct tts_error *err);
/* The name of an item's operation, as opnames.h counts it. */
uint32_t tts_whatif_op_of(struct tts_whatif *whatif, const struct tts_item *item);
/* Not to be passed over in a run of DRAM alone? */
bool tts_whatif_matters(const struct tts_whatif *whatif, const struct tts_event *event);

/* Notes what a modelled device refused, and all that was live if it is the first failure. */
void tts_whatif_note(struct tts_whatif *whatif, const struct tts_whatif_moment *when,
                     struct tts_whatif_failure *failure, size_t model);

/* ---- buffers (whatif_buffers.c) ---- */

TTS_NODISCARD enum tts_status tts_whatif_allocate(struct tts_whatif *whatif,
                                                  const struct tts_event *event, size_t source,
                                                  const struct tts_whatif_moment *when,
                                                  struct tts_error *err);
TTS_NODISCARD enum tts_status tts_whatif_release(struct tts_whatif *whatif,
                                                 const struct tts_event *event,
                                                 struct tts_error *err);
/* A request that was refused when it was recorded: would it have been here? Nothing of it
 * stays, as nothing did then. */
TTS_NODISCARD enum tts_status tts_whatif_retry(struct tts_whatif *whatif,
                                               const struct tts_event *event, size_t source,
                                               const struct tts_whatif_moment *when,
                                               struct tts_error *err);
TTS_NODISCARD enum tts_status tts_whatif_begin_trace(struct tts_whatif *whatif, size_t source,
                                                     struct tts_error *err);

/* ---- what lived before (whatif_before.c) ---- */

TTS_NODISCARD enum tts_status tts_whatif_add_before(struct tts_whatif *whatif,
                                                    const struct tts_item *item,
                                                    struct tts_error *err);
TTS_NODISCARD enum tts_status tts_whatif_end_keyframe(struct tts_whatif *whatif,
                                                      struct tts_error *err);

/* ---- circular buffers (whatif_program.c) ---- */

/* Another program on the device, and on its chips. */
void tts_whatif_program(struct tts_whatif *whatif, size_t source);
TTS_NODISCARD enum tts_status tts_whatif_part(struct tts_whatif *whatif,
                                              const struct tts_event *event, size_t source,
                                              const struct tts_whatif_moment *when,
                                              struct tts_error *err);
/* Looks at the programs of a modelled device, before something changes there; of all. */
void tts_whatif_run_programs(struct tts_whatif *whatif, size_t model);
void tts_whatif_run_all(struct tts_whatif *whatif);
void tts_whatif_source_release(struct tts_whatif *whatif, struct tts_whatif_source *source);
