/* whatif.h: replays the allocations of a recording on another device: what fails first and
 * which buffers live then, how many requests fail after it, how full every pool gets, and how
 * little DRAM would suffice.
 *
 * Every device of the recording has a modelled device. A buffer that does not fit is counted
 * but not placed, so that the replay can go on; up to the first failure the model is exact. The
 * chips of a mesh share the model of their mesh. The rules are in docs/design/whatif.md. Heap
 * object. One thread. */
#pragma once

#include "model/item.h"
#include "ttscope/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_WHATIF_DEVICES_MAX = 256,       /* chips and meshes of a recording */
    TTS_WHATIF_LIVE_MAX = 1 << 26,      /* buffers that live at the same time */
    TTS_WHATIF_STEPS_BYTES = 256 << 20, /* of kept steps, about 4 bytes each */
    TTS_WHATIF_TOP = 10,
};

/* ---- from events to requests ---- */

/* The request on another chip for an allocation of a recording. */
struct tts_whatif_request {
    struct tts_request request; /* points to `shard` if sharded */
    struct tts_shard shard;
    struct tts_core_range ranges[2];
    bool page_is_unknown; /* the recording has no page size, and one was chosen */
    bool is_padded;       /* the page does not divide the size; the last page is padded */
};

/* Converts `event`, an ALLOC in lockstep with size_bytes > 0. TTS_E_RANGE: it needs more cores,
 * or DRAM banks, than the chip has. TTS_E_NOT_FOUND: the grid is not known. TTS_E_INVALID: a
 * size exceeds 64 bits. *out points into itself and must not be copied. */
TTS_NODISCARD enum tts_status tts_whatif_map(const struct tts_event *event,
                                             const struct tts_chip *chip,
                                             struct tts_whatif_request *out,
                                             struct tts_error *err);

/* ---- running ---- */

struct tts_whatif_config {
    const struct tts_chip *chip; /* copied */
    bool keeps_steps;            /* for tts_whatif_try(); at most TTS_WHATIF_STEPS_BYTES */
    bool dram_only;              /* ignore everything else */
};

struct tts_whatif;

/* `alloc` NULL is the C library's. TTS_E_NOMEM, or an error of tts_device_new() for the
 * chip. */
TTS_NODISCARD enum tts_status tts_whatif_new(const struct tts_whatif_config *config,
                                             const struct tts_alloc *alloc,
                                             struct tts_whatif **out, struct tts_error *err);
void tts_whatif_free(struct tts_whatif *whatif); /* NULL is fine */

/* Takes the next item. TTS_E_INVALID: the event is invalid. TTS_E_RANGE: too many devices or
 * buffers. TTS_E_NOMEM. After an error the object can only be freed. */
TTS_NODISCARD enum tts_status
tts_whatif_item(struct tts_whatif *whatif, const struct tts_item *item, struct tts_error *err);
/* Checks the last program. Call it after the last item. */
void tts_whatif_end(struct tts_whatif *whatif);

/* ---- what came out ---- */

struct tts_whatif_counts {
    uint64_t events, allocations, frees;
    uint64_t failed_buffers; /* refused by the device */
    /* Need more cores or banks than the device has; no pool counts them. */
    uint64_t failed_cores;
    uint64_t failed_requests; /* impossible on any device; no pool counts them */
    uint64_t failed_programs; /* circular buffers beyond L1, or overlapping L1 buffers */
    uint64_t fragmented;      /* of failed_buffers: enough was free, but in pieces */
    uint64_t unknown_pages;   /* buffers whose page size was chosen */
    uint64_t padded;          /* buffers with a padded last page */
    uint64_t unknown_frees;   /* of buffers that do not exist */
    uint64_t no_pool;         /* buffers that did not run: the pool is not known */
    uint64_t single_core;     /* buffers that did not run: on single cores */
    uint64_t programs;        /* with circular buffers; a program of a mesh counts once */
    uint64_t unchecked;   /* of programs: could not be checked, e.g. cores outside the grid */
    uint64_t other_parts; /* dataflow buffers and scratchpads: not checked */
    uint64_t refused;     /* requests that failed in the original run */
    uint64_t retried;     /* of these: DRAM requests, tried and freed at once */
    uint64_t earlier;     /* buffers that lived before the first event */
    uint64_t missed;      /* events that the recording lost */
};
void tts_whatif_get_counts(const struct tts_whatif *whatif, struct tts_whatif_counts *out);
/* Returns the number of all failures. */
uint64_t tts_whatif_failures(const struct tts_whatif *whatif);
/* Returns the number of requests and programs that were neither run nor checked. They could
 * fail even if nothing else does. */
uint64_t tts_whatif_left_out(const struct tts_whatif *whatif);
/* Returns the event of the refused request at which the program stopped: only frees and ends
 * follow. Returns 0 if there is none, or if the program caught the failure: then it allocates,
 * begins or cuts something afterwards. */
uint64_t tts_whatif_stop(const struct tts_whatif *whatif);

enum tts_whatif_kind {
    TTS_WHATIF_REFUSED, /* `failure` has the details */
    TTS_WHATIF_CORES,   /* `text`: needs more cores or banks than the device has */
    TTS_WHATIF_REQUEST, /* `text`: the request is impossible */
    TTS_WHATIF_PROGRAM, /* `failure`: circular buffers do not fit */
};

/* A buffer that lived at the first failure. */
struct tts_whatif_live {
    uint64_t id, seq, size_bytes, block_bytes;
    const char *op; /* NULL: outside any operation */
    bool is_placed;
};

#define TTS_WHATIF_NO_ID UINT64_MAX

/* A failure. Its texts are valid as long as the whatif object. */
struct tts_whatif_failure {
    enum tts_whatif_kind kind;
    uint64_t seq;
    bool has_time;
    uint64_t time_ns; /* time of the item */
    uint32_t device;  /* id in the recording */
    enum tts_pool pool;
    const char *op;             /* NULL: outside any operation */
    uint64_t id, size_bytes;    /* of the buffer; TTS_WHATIF_NO_ID if the request also failed in
                                   the original run; not set for a program */
    struct tts_failure failure; /* REFUSED, PROGRAM */
    char text[160];             /* CORES, REQUEST */
    /* Buffers of the pool that lived then, and their bytes in a bank. */
    uint64_t live, live_bytes;
    struct tts_whatif_live top[TTS_WHATIF_TOP]; /* largest first, then oldest first */
    size_t top_count;
};

/* Returns the first failure, or NULL. Valid as long as the whatif object. */
const struct tts_whatif_failure *tts_whatif_first(const struct tts_whatif *whatif);
/* Writes the message of the runtime, if it has one for this failure. Returns `out`. */
const char *tts_whatif_failure_text(const struct tts_whatif_failure *failure,
                                    char out[TTS_FAILURE_TEXT_MAX]);

/* One pool of one modelled device. */
struct tts_whatif_pool {
    struct tts_pool_layout layout;
    struct tts_pool_stats stats; /* at the end; peak_bytes includes buffers only counted */
    uint64_t peak_seq; /* event that first reached the peak; 0: nothing was allocated */
    /* Refused buffers (in L1 also programs), and the most bytes that one of them lacked. */
    uint64_t failures, deficit_bytes, deficit_seq;
};

/* Modelled devices, in the order of their first event. `id` is the id of the mesh or device. */
size_t tts_whatif_devices(const struct tts_whatif *whatif);
uint32_t tts_whatif_device_id(const struct tts_whatif *whatif, size_t idx);
/* Returns false if the device has no such pool. */
bool tts_whatif_get_pool(const struct tts_whatif *whatif, size_t idx, enum tts_pool pool,
                         struct tts_whatif_pool *out);
/* Returns the fullest pool of all devices, with the failures of all devices. */
bool tts_whatif_get_worst(const struct tts_whatif *whatif, enum tts_pool pool,
                          struct tts_whatif_pool *out);
/* Returns a modelled device for queries, or NULL. Valid as long as the whatif object. */
const struct tts_device *tts_whatif_device(const struct tts_whatif *whatif, size_t idx);
/* Finds the current place of a buffer. Returns false if it does not live or did not run. */
bool tts_whatif_find(const struct tts_whatif *whatif, uint32_t device, uint64_t id,
                     struct tts_buffer *out);

/* ---- how little DRAM would do ---- */

/* Copies a chip and sets the allocatable bytes of its DRAM banks. TTS_E_NOT_FOUND,
 * TTS_E_INVALID, TTS_E_RANGE. */
TTS_NODISCARD enum tts_status tts_whatif_resize(const struct tts_chip *chip,
                                                uint64_t bank_bytes, struct tts_chip *out,
                                                struct tts_error *err);

/* Returns true if all steps were kept. Otherwise the file must be read again. */
bool tts_whatif_has_steps(const struct tts_whatif *whatif);
/* Runs the kept steps with banks of another size until one fails. TTS_E_NOMEM, or an error of
 * tts_whatif_resize(). */
TTS_NODISCARD enum tts_status tts_whatif_try(const struct tts_whatif *whatif,
                                             uint64_t bank_bytes, bool *passes,
                                             struct tts_error *err);

/* A region that the device has only on request: L1_SMALL or the trace region. */
struct tts_whatif_region {
    /* Fact that sets the size: `l1_small` per core, `trace_region` per chip. */
    enum tts_fact_key key;
    uint64_t failures;   /* requests that a larger region would serve */
    uint64_t low_bytes;  /* maximum in use at one time: a smaller region cannot pass */
    uint64_t step_bytes; /* sizes are multiples of this */
};
/* Fills in *out. Returns false if no request failed because of the region. Traces count that
 * failed in DRAM because the device has no trace region. `pool` is L1_SMALL or TRACE. */
bool tts_whatif_get_region(const struct tts_whatif *whatif, enum tts_pool pool,
                           struct tts_whatif_region *out);
/* Like tts_whatif_try(), but changes the size of a region and runs its steps. A size that the
 * chip cannot have does not pass. */
TTS_NODISCARD enum tts_status tts_whatif_try_region(const struct tts_whatif *whatif,
                                                    enum tts_pool pool, uint64_t bytes,
                                                    bool *passes, struct tts_error *err);
