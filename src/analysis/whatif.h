/* whatif.h: the allocations of a recording on another device: what fails first and what lived
 * then, how many fail after it, how full every pool gets, and how little DRAM would do.
 *
 * Every device of the recording has a modelled one of its own, in which what does not fit is
 * counted and not placed, so that the story is told to its end; up to the first failure that is
 * what the device would do. The chips of a mesh share the one of their mesh. The rules are in
 * docs/design/whatif.md. Heap object, one thread. */
#pragma once

#include "model/item.h"
#include "ttscope/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_WHATIF_DEVICES_MAX = 256,       /* of a recording, chips and meshes */
    TTS_WHATIF_LIVE_MAX = 1 << 26,      /* buffers at once */
    TTS_WHATIF_STEPS_BYTES = 256 << 20, /* of steps that are kept, some 4 bytes each */
    TTS_WHATIF_TOP = 10,
};

/* ---- from events to requests ---- */

/* How an allocation of a recording is asked for on another chip. */
struct tts_whatif_request {
    struct tts_request request; /* its sharding is below */
    struct tts_shard shard;
    struct tts_core_range ranges[2];
    bool page_is_unknown; /* a page was chosen */
    bool is_padded;       /* the page does not divide the size: the last one is whole */
};

/* TTS_E_RANGE: it needs more cores, or banks of DRAM, than there are. TTS_E_NOT_FOUND: the grid
 * is not known. TTS_E_INVALID: past 64 bits. `event` is an ALLOC of some bytes, in lockstep.
 * *out points into itself: it is not to be copied. */
TTS_NODISCARD enum tts_status tts_whatif_map(const struct tts_event *event,
                                             const struct tts_chip *chip,
                                             struct tts_whatif_request *out,
                                             struct tts_error *err);

/* ---- running ---- */

struct tts_whatif_config {
    const struct tts_chip *chip; /* copied */
    bool keeps_steps;            /* for tts_whatif_try(), at most TTS_WHATIF_STEPS_BYTES */
    bool dram_only;              /* all else is passed over */
};

struct tts_whatif;

/* `alloc` NULL is the C library's. What tts_device_new() says of the chip, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_whatif_new(const struct tts_whatif_config *config,
                                             const struct tts_alloc *alloc,
                                             struct tts_whatif **out, struct tts_error *err);
void tts_whatif_free(struct tts_whatif *whatif); /* NULL is fine */

/* Items in their order. TTS_E_INVALID, TTS_E_RANGE: an event that cannot be, one device or
 * buffer too many. TTS_E_NOMEM. It can only be freed then. */
TTS_NODISCARD enum tts_status
tts_whatif_item(struct tts_whatif *whatif, const struct tts_item *item, struct tts_error *err);
/* Behind the last item: the program under way is looked at. */
void tts_whatif_end(struct tts_whatif *whatif);

/* ---- what came out ---- */

struct tts_whatif_counts {
    uint64_t events, allocations, frees;
    uint64_t failed_buffers;  /* refused by the device */
    uint64_t failed_cores;    /* need more cores or banks than it has; nowhere counted */
    uint64_t failed_requests; /* that it does not take at all; nowhere counted */
    uint64_t failed_programs; /* circular buffers: beyond L1, or into L1 buffers */
    uint64_t fragmented;      /* of failed_buffers: enough was free, in pieces */
    uint64_t unknown_pages;   /* buffers whose page was chosen */
    uint64_t padded;          /* buffers with a last page that is not full */
    uint64_t unknown_frees;   /* of buffers that are not there */
    uint64_t no_pool;         /* buffers not run: the pool of the device is not known */
    uint64_t single_core;     /* buffers not run: of single cores */
    uint64_t programs;        /* with circular buffers; those of a mesh once */
    uint64_t unchecked;       /* of these: their cores are not all in the grid, or the like */
    uint64_t other_parts;     /* dataflow buffers and scratchpads: not checked */
    uint64_t refused;         /* requests that were refused when it was recorded */
    uint64_t retried;         /* of these: of DRAM, tried and given back at once */
    uint64_t earlier;         /* buffers that lived before its first event */
    uint64_t missed;          /* events that the recording lost */
};
void tts_whatif_get_counts(const struct tts_whatif *whatif, struct tts_whatif_counts *out);
/* All that failed. */
uint64_t tts_whatif_failures(const struct tts_whatif *whatif);
/* All that was neither run nor checked: where nothing failed, this may. */
uint64_t tts_whatif_left_out(const struct tts_whatif *whatif);
/* Returns the event of the refused request at which the program stopped: only frees and ends
 * follow. Returns 0 if there is none, or if the program caught the failure and went on: then it
 * allocates, begins or cuts something afterwards. */
uint64_t tts_whatif_stop(const struct tts_whatif *whatif);

enum tts_whatif_kind {
    TTS_WHATIF_REFUSED, /* `failure` has the circumstances */
    TTS_WHATIF_CORES,   /* `text`: more cores or banks than the device has */
    TTS_WHATIF_REQUEST, /* `text`: no such request can be */
    TTS_WHATIF_PROGRAM, /* `failure`: circular buffers */
};

/* A buffer that lived. */
struct tts_whatif_live {
    uint64_t id, seq, size_bytes, block_bytes;
    const char *op; /* NULL: none */
    bool is_placed;
};

#define TTS_WHATIF_NO_ID UINT64_MAX

/* Texts are borrowed for life. */
struct tts_whatif_failure {
    enum tts_whatif_kind kind;
    uint64_t seq;
    bool has_time;
    uint64_t time_ns; /* as its item has it */
    uint32_t device;  /* of the recording */
    enum tts_pool pool;
    const char *op;             /* NULL: none */
    uint64_t id, size_bytes;    /* the buffer, TTS_WHATIF_NO_ID if it was refused when it was
                                 * recorded too; not of a program */
    struct tts_failure failure; /* REFUSED, PROGRAM */
    char text[160];             /* CORES, REQUEST */
    uint64_t live, live_bytes;  /* buffers of the pool then, and of what they take of a bank */
    struct tts_whatif_live top[TTS_WHATIF_TOP]; /* the largest, then the oldest */
    size_t top_count;
};

/* The first of all; NULL: nothing failed. Borrowed for life. */
const struct tts_whatif_failure *tts_whatif_first(const struct tts_whatif *whatif);
/* The runtime's own sentence, where it has one. Returns `out`. */
const char *tts_whatif_failure_text(const struct tts_whatif_failure *failure,
                                    char out[TTS_FAILURE_TEXT_MAX]);

/* One pool of one modelled device. */
struct tts_whatif_pool {
    struct tts_pool_layout layout;
    struct tts_pool_stats stats; /* at the end; peak_bytes: placed and counted together */
    uint64_t peak_seq;           /* that first reached the peak; 0: nothing was taken */
    /* Refused buffers, and in L1 programs; the most that any of them lacked: */
    uint64_t failures, deficit_bytes, deficit_seq;
};

/* Modelled devices by their first event; `id` is that of the mesh or device. */
size_t tts_whatif_devices(const struct tts_whatif *whatif);
uint32_t tts_whatif_device_id(const struct tts_whatif *whatif, size_t idx);
/* False: it has no such pool. */
bool tts_whatif_get_pool(const struct tts_whatif *whatif, size_t idx, enum tts_pool pool,
                         struct tts_whatif_pool *out);
/* The same of all devices: the fullest of them, and what all of them refused. */
bool tts_whatif_get_worst(const struct tts_whatif *whatif, enum tts_pool pool,
                          struct tts_whatif_pool *out);
/* For questions; NULL: there is no such device. Borrowed for life. */
const struct tts_device *tts_whatif_device(const struct tts_whatif *whatif, size_t idx);
/* Where the buffer of an id lies now. False: it does not live, or was not run. */
bool tts_whatif_find(const struct tts_whatif *whatif, uint32_t device, uint64_t id,
                     struct tts_buffer *out);

/* ---- how little DRAM would do ---- */

/* A chip whose DRAM banks have `bank_bytes` to allocate. TTS_E_NOT_FOUND, TTS_E_INVALID,
 * TTS_E_RANGE. */
TTS_NODISCARD enum tts_status tts_whatif_resize(const struct tts_chip *chip,
                                                uint64_t bank_bytes, struct tts_chip *out,
                                                struct tts_error *err);

/* Are all steps there? Else they have to be read again. */
bool tts_whatif_has_steps(const struct tts_whatif *whatif);
/* Runs the kept steps on another size of the banks until one fails. TTS_E_NOMEM and what
 * tts_whatif_resize() says. */
TTS_NODISCARD enum tts_status tts_whatif_try(const struct tts_whatif *whatif,
                                             uint64_t bank_bytes, bool *passes,
                                             struct tts_error *err);

/* A region that the device has only if it is asked for: L1_SMALL, or that of traces. */
struct tts_whatif_region {
    enum tts_fact_key key; /* sets its size: `l1_small` of a core, `trace_region` of a chip */
    uint64_t failures;     /* requests that a larger region would serve */
    uint64_t low_bytes;    /* the most that lived at once: a smaller region cannot pass */
    uint64_t step_bytes;   /* sizes are multiples of it */
};
/* Returns false if no request failed because the region is too small or not there. Traces that
 * failed in DRAM, because the device has no region for them, count. `pool` is L1_SMALL or
 * TRACE. */
bool tts_whatif_get_region(const struct tts_whatif *whatif, enum tts_pool pool,
                           struct tts_whatif_region *out);
/* Like tts_whatif_try(), but runs the steps of that region with another size of it. A size that
 * the chip cannot have does not pass. */
TTS_NODISCARD enum tts_status tts_whatif_try_region(const struct tts_whatif *whatif,
                                                    enum tts_pool pool, uint64_t bytes,
                                                    bool *passes, struct tts_error *err);
