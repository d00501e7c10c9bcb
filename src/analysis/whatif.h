/* whatif.h: replays the allocations of a recording on another device. Answers: which request
 * fails first, and which buffers are live then; how many requests fail after the first; how
 * full each pool gets; how little DRAM would be enough.
 *
 * Each device of the recording is replayed on a modelled device; the chips of a mesh share the
 * modelled device of their mesh. A buffer that does not fit is counted but not placed, so that
 * the replay can continue. Up to the first failure the model is exact. The rules are in
 * docs/design/whatif.md. One thread at a time. */
#pragma once

#include "model/item.h"
#include "ttscope/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_WHATIF_DEVICES_MAX = 256, /* maximum number of chips and meshes of a recording */
    /* Maximum number of buffers that are live at the same time. */
    TTS_WHATIF_LIVE_MAX = 1 << 26,
    /* Maximum size of all kept steps; a step has about 4 bytes. */
    TTS_WHATIF_STEPS_BYTES = 256 << 20,
    TTS_WHATIF_TOP = 10,
};

/* ---- from events to requests ---- */

/* The request on another chip that corresponds to an allocation of a recording. */
struct tts_whatif_request {
    struct tts_request request; /* points to `shard` if the buffer is sharded */
    struct tts_shard shard;
    struct tts_core_range ranges[2];
    bool page_is_unknown; /* the recording has no page size, so the replay chose one */
    /* The size is not a multiple of the page, so the last page is padded. */
    bool is_padded;
};

/* Converts `event`, an ALLOC of a buffer that has the same address in every bank, with
 * size_bytes > 0. Returns TTS_E_RANGE if the buffer needs more cores or DRAM banks than the
 * chip has, TTS_E_NOT_FOUND if the grid of the chip is unknown, TTS_E_INVALID if a size exceeds
 * 64 bits. *out contains a pointer to itself and must not be copied. */
TTS_NODISCARD enum tts_status tts_whatif_map(const struct tts_event *event,
                                             const struct tts_chip *chip,
                                             struct tts_whatif_request *out,
                                             struct tts_error *err);

/* ---- the replay ---- */

struct tts_whatif_config {
    const struct tts_chip *chip; /* copied */
    /* Keep the steps of the replay in memory, for tts_whatif_try(); at most
     * TTS_WHATIF_STEPS_BYTES. */
    bool keeps_steps;
    bool dram_only; /* replay DRAM and ignore the other pools */
};

struct tts_whatif;

/* Creates a replay. If `alloc` is NULL, the C library allocates. Returns TTS_E_NOMEM if there
 * is no memory, or an error of tts_device_new() for the chip. */
TTS_NODISCARD enum tts_status tts_whatif_new(const struct tts_whatif_config *config,
                                             const struct tts_alloc *alloc,
                                             struct tts_whatif **out, struct tts_error *err);
void tts_whatif_free(struct tts_whatif *whatif); /* `whatif` may be NULL */

/* Replays the next item. Returns TTS_E_INVALID if the event is invalid, TTS_E_RANGE if there
 * are too many devices or buffers, TTS_E_NOMEM if there is no memory. After an error the replay
 * can only be freed. */
TTS_NODISCARD enum tts_status
tts_whatif_item(struct tts_whatif *whatif, const struct tts_item *item, struct tts_error *err);
/* Checks the last program. Call after the last item. */
void tts_whatif_end(struct tts_whatif *whatif);

/* ---- results ---- */

struct tts_whatif_counts {
    uint64_t events, allocations, frees;
    uint64_t failed_buffers; /* buffers that the device refused */
    /* Buffers that need more cores or banks than the device has. The figures of pools do not
     * include them. */
    uint64_t failed_cores;
    /* Impossible requests; the figures of pools do not include them. */
    uint64_t failed_requests;
    /* Programs whose circular buffers grow past the end of L1 or into L1 buffers. */
    uint64_t failed_programs;
    /* Number of failed_buffers for which enough bytes were free, but in pieces. */
    uint64_t fragmented;
    uint64_t unknown_pages; /* buffers for which the replay chose the page size */
    uint64_t padded;        /* buffers with a padded last page */
    uint64_t unknown_frees; /* frees of buffers that do not exist */
    /* Buffers that were not replayed, because the chip does not describe their pool or its
     * grid. */
    uint64_t no_pool;
    /* Buffers that were not replayed, because they are on single cores. */
    uint64_t single_core;
    /* Programs with circular buffers; a program of a mesh counts once. */
    uint64_t programs;
    /* Number of programs that could not be checked, for example because of cores outside the
     * grid. */
    uint64_t unchecked;
    uint64_t other_parts; /* dataflow buffers and scratchpads, which are not checked */
    uint64_t refused;     /* requests that failed in the original run */
    /* Number of refused DRAM requests, which are tried here and freed at once. */
    uint64_t retried;
    uint64_t earlier; /* buffers that were live before the first event */
    uint64_t missed;  /* events that the recording lost */
    uint64_t samples; /* counters, which have no single buffers and are not replayed */
};
void tts_whatif_get_counts(const struct tts_whatif *whatif, struct tts_whatif_counts *out);
/* Returns the number of all failures. */
uint64_t tts_whatif_failures(const struct tts_whatif *whatif);
/* Returns the number of requests and programs that were not replayed or checked. They could
 * fail even if no other request fails. */
uint64_t tts_whatif_left_out(const struct tts_whatif *whatif);
/* Returns the number of the refused request at which the recorded program stopped. The program
 * stopped there if only frees and ends of operations follow. Returns 0 if there is no such
 * request. */
uint64_t tts_whatif_stop(const struct tts_whatif *whatif);

enum tts_whatif_kind {
    TTS_WHATIF_REFUSED, /* the device refused the request; `failure` has the details */
    /* Needs more cores or banks than the device has; `text` has the details. */
    TTS_WHATIF_CORES,
    TTS_WHATIF_REQUEST, /* the request is impossible; `text` has the details */
    TTS_WHATIF_PROGRAM, /* circular buffers do not fit; `failure` has the details */
};

/* A buffer that was live at the first failure. */
struct tts_whatif_live {
    uint64_t id, seq, size_bytes, block_bytes;
    const char *op; /* operation; NULL if there is none */
    bool is_placed;
};

#define TTS_WHATIF_NO_ID UINT64_MAX

/* A failure. Its texts are valid as long as the replay. */
struct tts_whatif_failure {
    enum tts_whatif_kind kind;
    uint64_t seq;
    bool has_time;
    uint64_t time_ns; /* time of the event, if has_time is true */
    uint32_t device;  /* id of the device in the recording */
    enum tts_pool pool;
    const char *op; /* operation; NULL if there is none */
    /* Id and size of the buffer. `id` is TTS_WHATIF_NO_ID if the request also failed in the
     * original run. Not set for a program. */
    uint64_t id, size_bytes;
    struct tts_failure failure; /* details, for REFUSED and PROGRAM */
    char text[160];             /* details, for CORES and REQUEST */
    /* Number of live buffers of the pool at the failure, and their bytes in one bank. */
    uint64_t live, live_bytes;
    struct tts_whatif_live top[TTS_WHATIF_TOP]; /* largest first, then oldest first */
    size_t top_count;
};

/* Returns the first failure, or NULL if there is none. The failure is valid as long as the
 * replay. */
const struct tts_whatif_failure *tts_whatif_first(const struct tts_whatif *whatif);
/* Writes the message that the runtime prints for this failure. If the runtime has none, writes
 * a message of the replay. Returns `out`. */
const char *tts_whatif_failure_text(const struct tts_whatif_failure *failure,
                                    char out[TTS_FAILURE_TEXT_MAX]);

/* One pool of one modelled device. */
struct tts_whatif_pool {
    struct tts_pool_layout layout;
    /* Figures at the end; peak_bytes includes buffers that were counted but not placed. */
    struct tts_pool_stats stats;
    uint64_t peak_seq; /* event that first reached the peak; 0 if nothing was allocated */
    /* Number of refused buffers (in L1 also of programs), the largest number of bytes that one
     * of them lacked, and its event. */
    uint64_t failures, deficit_bytes, deficit_seq;
};

/* tts_whatif_devices() returns the number of modelled devices. They are in the order of their
 * first event. tts_whatif_device_id() returns the id of the mesh or device of the recording. */
size_t tts_whatif_devices(const struct tts_whatif *whatif);
uint32_t tts_whatif_device_id(const struct tts_whatif *whatif, size_t idx);
/* Copies the results of one pool of one modelled device. Returns false if the device has no
 * such pool. */
bool tts_whatif_get_pool(const struct tts_whatif *whatif, size_t idx, enum tts_pool pool,
                         struct tts_whatif_pool *out);
/* Copies the results of the fullest pool of all devices, with the sum of the failures of all
 * devices. Returns false if no device has such a pool. */
bool tts_whatif_get_worst(const struct tts_whatif *whatif, enum tts_pool pool,
                          struct tts_whatif_pool *out);
/* Returns a modelled device for queries, or NULL. The device is valid as long as the replay. */
const struct tts_device *tts_whatif_device(const struct tts_whatif *whatif, size_t idx);
/* Finds the current address of a buffer. Returns false if the buffer is not live or was not
 * replayed. */
bool tts_whatif_find(const struct tts_whatif *whatif, uint32_t device, uint64_t id,
                     struct tts_buffer *out);

/* ---- trials with other sizes ---- */

/* Copies a chip and sets the allocatable bytes of its DRAM banks. Returns TTS_E_NOT_FOUND,
 * TTS_E_INVALID or TTS_E_RANGE if the chip cannot have banks of this size. */
TTS_NODISCARD enum tts_status tts_whatif_resize(const struct tts_chip *chip,
                                                uint64_t bank_bytes, struct tts_chip *out,
                                                struct tts_error *err);

/* Returns true if all steps of the replay are in memory. Otherwise the file must be read again
 * for each trial. */
bool tts_whatif_has_steps(const struct tts_whatif *whatif);
/* Runs the kept steps with banks of another size until a step fails. Sets *passes to true if no
 * step fails. Returns TTS_OK, TTS_E_NOMEM, or an error of tts_whatif_resize(). */
TTS_NODISCARD enum tts_status tts_whatif_try(const struct tts_whatif *whatif,
                                             uint64_t bank_bytes, bool *passes,
                                             struct tts_error *err);

/* A region that the device has only on request: L1_SMALL or the trace region. */
struct tts_whatif_region {
    /* Fact of the chip that sets the size of the region: `l1_small` for each core,
     * `trace_region` for each chip. */
    enum tts_fact_key key;
    /* Number of failed requests for which a larger region would be enough. */
    uint64_t failures;
    uint64_t low_bytes;  /* most bytes in use at one time; a smaller region cannot pass */
    uint64_t step_bytes; /* the size of the region is a multiple of this number */
};
/* Fills in *out. Returns false if no request failed because of the region. Traces that failed
 * in DRAM because the device has no trace region count as failures of the trace region. `pool`
 * is L1_SMALL or TRACE. */
bool tts_whatif_get_region(const struct tts_whatif *whatif, enum tts_pool pool,
                           struct tts_whatif_region *out);
/* Like tts_whatif_try(), but changes the size of a region and runs only the steps in this
 * region. A size that the chip cannot have does not pass. */
TTS_NODISCARD enum tts_status tts_whatif_try_region(const struct tts_whatif *whatif,
                                                    enum tts_pool pool, uint64_t bytes,
                                                    bool *passes, struct tts_error *err);
