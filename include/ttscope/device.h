/* device.h: a chip (or a mesh of like chips in lockstep) with its pools and circular buffers:
 * every buffer gets the address that the runtime would give it, or fails as it would.
 *
 * All sizes are those of one chip; a mesh behaves as one. A device keeps no list of buffers:
 * the caller releases the value that alloc returned. The rules are in docs/design/device.md.
 *
 * Threads: one thread at a time for each device, except tts_device_hold(), which any thread may
 * call at any time. Two threads may use two devices at the same time.
 * Signals: no function but tts_device_hold() may be called in a signal handler.
 * Fork: the child has its own copy of every device and may use and free the copy.
 *
 * Example:
 *     struct tts_request request = {.size_bytes = 8192, .page_bytes = 2048}; // DRAM
 *     struct tts_chip chip;
 *     struct tts_device *device;
 *     struct tts_buffer buffer;
 *     struct tts_error err;
 *     if (tts_chip_preset("n150", &chip, &err) != TTS_OK ||
 *         tts_device_new(&chip, NULL, NULL, &device, &err) != TTS_OK)
 *         return 1; // err.text says why
 *     if (tts_device_alloc(device, &request, &buffer, &err) == TTS_OK)
 *         printf("at %llu of every bank\n", (unsigned long long)buffer.address);
 *     tts_device_free(device); */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/buffer.h"
#include "ttscope/cb.h"
#include "ttscope/chip.h"
#include "ttscope/failure.h"
#include "ttscope/status.h"

enum tts_mode {
    TTS_MODE_PLACE,       /* every buffer gets its address or fails */
    TTS_MODE_NO_DISPATCH, /* nothing is placed and nothing fails; all is counted */
    TTS_MODE_OVERCOMMIT,  /* placed while it fits; what does not is counted, not placed */
};

/* A buffer on a device. A plain value; release it once. */
struct tts_buffer {
    uint64_t id; /* counts the buffers of the device, from 1; those it got, of any size */
    enum tts_pool pool;
    bool placed;         /* it holds [address, address + block_bytes) of every bank; of single
                          * cores: a block in each, wherever it is */
    uint32_t banks;      /* it is divided among */
    uint64_t address;    /* 0 when there is none */
    uint64_t size_bytes; /* as asked for: logical */
    uint64_t bytes_per_bank; /* before rounding */
    uint64_t block_bytes;    /* that every bank gives up; 0: it takes none (size 0, or AT) */
};

/* ---- watching ---- */

enum tts_device_event_kind {
    TTS_DEVICE_ALLOC,
    TTS_DEVICE_FREE,
    TTS_DEVICE_PROGRAM, /* the circular buffers before are gone */
    TTS_DEVICE_CB,
    TTS_DEVICE_FAILURE,
    TTS_DEVICE_TRACE_BEGIN, /* a capture; one begun inside another ends that first */
    TTS_DEVICE_TRACE_END,   /* of one that began: behind the ALLOC or FAILURE of its trace */
};

/* Borrowed for the call; pointers that the kind does not name are NULL. */
struct tts_device_event {
    enum tts_device_event_kind kind;
    const struct tts_buffer *buffer; /* ALLOC, FREE */
    const struct tts_cb_placed *cb;  /* CB */
    /* CB: its cores. ALLOC, FREE of a buffer of single cores: theirs; of others none. */
    const struct tts_core_range *ranges;
    size_t range_count;
    const struct tts_failure *failure; /* FAILURE */
    uint64_t program_id;               /* PROGRAM, CB */
    const struct tts_request *request; /* ALLOC: what was asked for */
};

/* Is called after the fact and must not call the device. */
struct tts_observer {
    void (*event)(void *ctx, const struct tts_device_event *event); /* NULL: nobody watches */
    void *ctx;
};

/* ---- life ---- */

struct tts_device_config {
    enum tts_mode mode;
    bool hybrid; /* L1 also has an allocator for each core: experimental in the runtime */
    struct tts_observer observer;
    uint64_t mesh_id; /* for messages */
};

struct tts_device;

/* `config` NULL is all zero, `alloc` NULL the C library's. A pool whose facts are unknown does
 * not exist; at least one must. TTS_E_INVALID, TTS_E_NOT_FOUND, TTS_E_RANGE, TTS_E_NOMEM. */
TTS_API TTS_NODISCARD enum tts_status
tts_device_new(const struct tts_chip *chip, const struct tts_device_config *config,
               const struct tts_alloc *alloc, struct tts_device **out, struct tts_error *err);
TTS_API void tts_device_free(struct tts_device *device); /* NULL is fine */

/* Puts a watcher in the place of the one there is; NULL: nobody. Between calls only. Parts of
 * the mesh that are made later have none then. */
TTS_API void tts_device_observe(struct tts_device *device, const struct tts_observer *observer);
TTS_API bool tts_device_is_observed(const struct tts_device *device);

/* While held, a device does as in TTS_MODE_NO_DISPATCH, whatever its mode: nothing more is
 * placed, checked or refused, and what was placed can be released. From any thread; goes for
 * requests that begin later. */
TTS_API void tts_device_hold(struct tts_device *device, bool held);

TTS_API const struct tts_chip *tts_device_chip(const struct tts_device *device);
/* NULL: the device has no such pool, or it has no bytes. Borrowed for life. */
TTS_API const struct tts_pool_layout *tts_device_layout(const struct tts_device *device,
                                                        enum tts_pool pool);

/* ---- buffers ---- */

/* TTS_E_FULL, TTS_E_BELOW_LIMIT: refused; tts_device_failure() has the circumstances.
 * TTS_E_INVALID, TTS_E_RANGE: not a request the runtime would take; err says why.
 * TTS_E_NOT_FOUND: no such pool (in L1_SMALL of no bytes nothing fits, and that is
 * TTS_E_FULL). TTS_E_NOMEM. *out is written on success only; err not for TTS_E_FULL. */
TTS_API TTS_NODISCARD enum tts_status tts_device_alloc(struct tts_device *device,
                                                       const struct tts_request *request,
                                                       struct tts_buffer *out,
                                                       struct tts_error *err);

/* TTS_E_NOT_FOUND, harmless: nothing is there (any more). TTS_E_NOMEM: it still is. */
TTS_API TTS_NODISCARD enum tts_status tts_device_release(struct tts_device *device,
                                                         const struct tts_buffer *buffer);

/* A kernel binary, as the runtime keeps it: DRAM, pages of 2048, from the top. */
TTS_API TTS_NODISCARD enum tts_status tts_device_alloc_kernel(struct tts_device *device,
                                                              uint64_t bytes,
                                                              struct tts_buffer *out,
                                                              struct tts_error *err);

/* From here on what DRAM buffers reach up to is noted, for the trace that comes next. */
TTS_API void tts_device_trace_begin(struct tts_device *device);

/* The end of a capture: a trace of `bytes`. With a trace region: in TRACE, and all of them must
 * fit its budget. Without: DRAM, from the top, above what was in use while this or a live trace
 * was captured. TTS_E_FULL: TTS_FAILURE_TRACE, TTS_FAILURE_TRACE_OVERLAP or TTS_FAILURE_SPACE;
 * nothing is taken then, and nothing counted (the runtime does not survive the second, and
 * counts a trace that the first refused). After another failure the capture goes on. */
TTS_API TTS_NODISCARD enum tts_status tts_device_alloc_trace(struct tts_device *device,
                                                             uint64_t bytes,
                                                             struct tts_buffer *out,
                                                             struct tts_error *err);
/* The page that the runtime chooses for a trace of `bytes` on `banks` banks. */
TTS_API uint64_t tts_trace_page(uint64_t bytes, uint32_t banks);

/* HYBRID: one block in each core of a classic sharding of L1, in their order; addresses[i] is
 * that of the i-th core, 0 when it is only counted. TTS_E_FULL leaves nothing taken (the
 * runtime keeps what the cores before had got). TTS_E_INVALID, TTS_E_RANGE (too few addresses,
 * or past 64 bits), TTS_E_NOMEM: err says why. */
TTS_API TTS_NODISCARD enum tts_status
tts_device_alloc_per_core(struct tts_device *device, const struct tts_request *request,
                          uint64_t *addresses, size_t capacity, struct tts_buffer *out,
                          struct tts_error *err);
TTS_API TTS_NODISCARD enum tts_status
tts_device_release_per_core(struct tts_device *device, const struct tts_request *request,
                            const uint64_t *addresses, const struct tts_buffer *buffer);

/* ---- circular buffers ---- */

TTS_API void tts_device_program(struct tts_device *device, uint64_t program_id);
TTS_API TTS_NODISCARD enum tts_status tts_device_add_cb(struct tts_device *device,
                                                        const struct tts_cb *cb,
                                                        uint64_t *address,
                                                        struct tts_error *err);
/* What the runtime checks at every enqueue. TTS_E_FULL: they clash, or grow beyond L1. */
TTS_API TTS_NODISCARD enum tts_status tts_device_run_program(struct tts_device *device,
                                                             struct tts_error *err);

/* ---- what there is ---- */

/* The blocks of one bank. */
struct tts_space_stats {
    uint64_t total_bytes; /* what can be taken: the size less what shrink cut off */
    uint64_t taken_bytes; /* rounded sizes */
    uint64_t free_bytes;
    uint64_t largest_free_bytes;
    uint64_t taken_blocks, free_blocks;
};

/* Of one bank, but for the counts. */
struct tts_pool_stats {
    struct tts_space_stats space; /* what is placed in lockstep; not blocks of single cores */
    uint64_t unplaced_bytes;      /* counted, not placed; blocks rounded */
    uint64_t buffers, unplaced_buffers;
    uint64_t peak_bytes; /* of placed and counted together, in the fullest bank */
    uint64_t failures;
};
/* False: there is no such pool. */
TTS_API bool tts_device_stats(const struct tts_device *device, enum tts_pool pool,
                              struct tts_pool_stats *out);

/* How many requests and programs were refused; the last and the first of them, NULL: none. */
TTS_API uint64_t tts_device_failures(const struct tts_device *device);
TTS_API const struct tts_failure *tts_device_failure(const struct tts_device *device);
TTS_API const struct tts_failure *tts_device_first_failure(const struct tts_device *device);

/* ---- meshes ---- */

/* A part of a mesh: the same chip and configuration, and nothing in it, whatever the parent or
 * its other parts hold. */
TTS_API TTS_NODISCARD enum tts_status tts_device_submesh(const struct tts_device *device,
                                                         uint32_t chips,
                                                         struct tts_device **out,
                                                         struct tts_error *err);

/* Makes every pool of `device` hold what the others hold together, and nothing else; what is
 * only counted, and the list of traces, stay, and the observer is not told. All or none.
 * TTS_E_INVALID: other chips, or one has buffers of single cores. TTS_E_FULL, TTS_E_NOMEM. */
TTS_API TTS_NODISCARD enum tts_status
tts_device_synchronize(struct tts_device *device, const struct tts_device *const *others,
                       size_t count, struct tts_error *err);
