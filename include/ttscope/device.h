/* device.h: a model of one chip, or of a mesh of equal chips in lockstep, with its pools and
 * circular buffers. Every buffer gets the address that the runtime would give it, or fails like
 * in the runtime.
 *
 * All sizes are sizes on one chip; a mesh behaves like one chip. A device keeps no list of
 * buffers: the caller releases the tts_buffer that tts_device_alloc() returned. The rules are
 * in docs/design/device.md.
 *
 * Ownership: the caller frees each device with tts_device_free(). Requests, buffers and
 * circular buffers are borrowed for the call.
 * Threads: one thread at a time for each device, except tts_device_hold(), which any thread may
 * call at any time. Two threads may use two devices at the same time.
 * Signals: only tts_device_hold() may be called in a signal handler.
 * Fork: the child has its own copy of every device and may use and free the copy.
 * Cost: tts_device_alloc() and tts_device_release() take time that grows with the logarithm of
 * the number of free blocks; in HYBRID L1 it grows with the number of blocks. They allocate
 * memory only when the number of blocks grows, and take no lock.
 * Errors: after a failure the outputs are unchanged. `err` may be NULL.
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
    TTS_MODE_PLACE,       /* each buffer gets its address, or the request fails */
    TTS_MODE_NO_DISPATCH, /* nothing is placed and nothing fails; everything is counted */
    TTS_MODE_OVERCOMMIT,  /* a buffer that does not fit is counted instead of placed */
};

/* A buffer on a device. A plain value. Release each buffer once. */
struct tts_buffer {
    /* Number of the allocation among the successful allocations of the device, of any size,
     * from 1. */
    uint64_t id;
    enum tts_pool pool;
    /* Whether the buffer has a place in memory. Such a buffer takes [address, address +
     * block_bytes) of every bank. A buffer on single cores takes a block on each of its cores,
     * at a different address on each core. */
    bool placed;
    uint32_t banks;          /* number of banks that share the buffer */
    uint64_t address;        /* 0 if the buffer has no address */
    uint64_t size_bytes;     /* requested (logical) size */
    uint64_t bytes_per_bank; /* bytes in the fullest bank, before rounding */
    /* Bytes that the buffer takes in every bank. 0 if the size is 0 or the placement is
     * TTS_PLACE_AT. */
    uint64_t block_bytes;
};

/* ---- observers ---- */

enum tts_device_event_kind {
    TTS_DEVICE_ALLOC,
    TTS_DEVICE_FREE,
    /* A program begins; the circular buffers of the last program are gone. */
    TTS_DEVICE_PROGRAM,
    TTS_DEVICE_CB,
    TTS_DEVICE_FAILURE,
    TTS_DEVICE_TRACE_BEGIN, /* a trace capture begins; a capture in progress ends first */
    /* A trace capture ends; comes after the ALLOC or FAILURE of its trace. */
    TTS_DEVICE_TRACE_END,
};

/* An event for the observer. Borrowed for the call. Each comment names the kinds that set the
 * pointer; for other kinds it is NULL. */
struct tts_device_event {
    enum tts_device_event_kind kind;
    const struct tts_buffer *buffer; /* set for ALLOC and FREE */
    const struct tts_cb_placed *cb;  /* set for CB */
    /* For CB, the cores of the circular buffer. For ALLOC and FREE of a buffer on single cores,
     * its cores. Otherwise there are none. */
    const struct tts_core_range *ranges;
    size_t range_count;
    const struct tts_failure *failure; /* set for FAILURE */
    uint64_t program_id;               /* set for PROGRAM and CB */
    const struct tts_request *request; /* set for ALLOC */
};

/* A function that the device calls after each event. The function must not call the device. */
struct tts_observer {
    /* NULL if there is no observer. */
    void (*event)(void *ctx, const struct tts_device_event *event);
    void *ctx;
};

/* ---- creation ---- */

struct tts_device_config {
    enum tts_mode mode;
    bool hybrid; /* L1 also has an allocator for each core; experimental in the runtime */
    struct tts_observer observer;
    uint64_t mesh_id; /* used in messages */
};

struct tts_device;

/* Makes a device. `chip` is copied. If `config` is NULL, all its fields are 0. If `alloc` is
 * NULL, the device uses the allocator of the C library. A pool with unknown facts does not
 * exist.
 *
 * Returns TTS_E_INVALID if tts_chip_check() rejects the chip, or the mode does not exist.
 * Returns TTS_E_NOT_FOUND if the facts of every pool are unknown; `err` names a missing fact.
 * Returns TTS_E_RANGE if a pool is too large. Returns TTS_E_NOMEM if there is no memory. */
TTS_API TTS_NODISCARD enum tts_status
tts_device_new(const struct tts_chip *chip, const struct tts_device_config *config,
               const struct tts_alloc *alloc, struct tts_device **out, struct tts_error *err);
TTS_API void tts_device_free(struct tts_device *device); /* NULL is allowed */

/* Replaces the observer of the device; NULL removes the observer. *observer is copied. The
 * observer must not call this function. A submesh that is made later has no observer. */
TTS_API void tts_device_observe(struct tts_device *device, const struct tts_observer *observer);
/* Returns whether the device has an observer. */
TTS_API bool tts_device_is_observed(const struct tts_device *device);

/* Holds the device, or ends the hold. While a device is held, it works as in
 * TTS_MODE_NO_DISPATCH, whatever its mode is: nothing is placed, checked or refused. Buffers
 * that were placed before can be released. The hold applies to requests that begin after this
 * call. Any thread. */
TTS_API void tts_device_hold(struct tts_device *device, bool held);

/* Returns the chip of the device. Valid until the device is freed. */
TTS_API const struct tts_chip *tts_device_chip(const struct tts_device *device);
/* Returns the layout of a pool, or NULL if the device has no such pool or the pool has no
 * bytes. Valid until the device is freed. */
TTS_API const struct tts_pool_layout *tts_device_layout(const struct tts_device *device,
                                                        enum tts_pool pool);

/* ---- buffers ---- */

/* Allocates a buffer and writes it to *out.
 *
 * Returns TTS_E_FULL or TTS_E_BELOW_LIMIT if the request was refused; tts_device_failure() has
 * the details. *err is unchanged after TTS_E_FULL. Returns TTS_E_INVALID or TTS_E_RANGE if the
 * runtime would not accept such a request; `err` says why. Returns TTS_E_NOT_FOUND if the
 * device has no such pool. (If L1_SMALL has no bytes, nothing fits and the result is
 * TTS_E_FULL.) Returns TTS_E_NOMEM if there is no memory. */
TTS_API TTS_NODISCARD enum tts_status tts_device_alloc(struct tts_device *device,
                                                       const struct tts_request *request,
                                                       struct tts_buffer *out,
                                                       struct tts_error *err);

/* Frees a buffer. Returns TTS_E_NOT_FOUND if the buffer is not on the device, or no longer;
 * this is harmless. Returns TTS_E_NOMEM if there is no memory; the buffer is still
 * allocated. */
TTS_API TTS_NODISCARD enum tts_status tts_device_release(struct tts_device *device,
                                                         const struct tts_buffer *buffer);

/* Allocates a kernel binary like the runtime does: in DRAM, in pages of 2048 bytes, from the
 * top. Returns like tts_device_alloc(). */
TTS_API TTS_NODISCARD enum tts_status tts_device_alloc_kernel(struct tts_device *device,
                                                              uint64_t bytes,
                                                              struct tts_buffer *out,
                                                              struct tts_error *err);

/* Begins the capture of a trace. Until its end, the device notes the highest DRAM address in
 * use. */
TTS_API void tts_device_trace_begin(struct tts_device *device);

/* Ends the capture and allocates its trace of `bytes` bytes. If the chip has a trace region,
 * the trace lies in TRACE, and all traces together must fit the region. Otherwise the trace
 * lies in DRAM, from the top, above every address that was in use while this trace or another
 * live trace was captured.
 *
 * Returns TTS_E_FULL if the failure is TTS_FAILURE_TRACE, TTS_FAILURE_TRACE_OVERLAP or
 * TTS_FAILURE_SPACE. Nothing is allocated or counted. (The runtime counts a trace that it
 * refuses with TTS_FAILURE_TRACE, and does not survive TTS_FAILURE_TRACE_OVERLAP.) Returns any
 * other status as tts_device_alloc() does; then the capture continues. */
TTS_API TTS_NODISCARD enum tts_status tts_device_alloc_trace(struct tts_device *device,
                                                             uint64_t bytes,
                                                             struct tts_buffer *out,
                                                             struct tts_error *err);
/* Returns the page size that the runtime chooses for a trace of `bytes` on `banks` banks. */
TTS_API uint64_t tts_trace_page(uint64_t bytes, uint32_t banks);

/* For HYBRID mode. tts_device_alloc_per_core() allocates one block on each core of a sharding
 * (struct tts_shard) of L1. addresses[i] is the address on core i in the order of the sharding,
 * or 0 if the buffer is only counted. tts_device_release_per_core() frees the blocks.
 *
 * Returns TTS_E_FULL if a core has no room; nothing is allocated. (The runtime keeps the blocks
 * of the cores before.) Returns TTS_E_INVALID if the request is not possible. Returns
 * TTS_E_RANGE if `capacity` is too small, or a size exceeds 64 bits. Returns TTS_E_NOMEM if
 * there is no memory. `err` says why. */
TTS_API TTS_NODISCARD enum tts_status
tts_device_alloc_per_core(struct tts_device *device, const struct tts_request *request,
                          uint64_t *addresses, size_t capacity, struct tts_buffer *out,
                          struct tts_error *err);
TTS_API TTS_NODISCARD enum tts_status
tts_device_release_per_core(struct tts_device *device, const struct tts_request *request,
                            const uint64_t *addresses, const struct tts_buffer *buffer);

/* ---- circular buffers ---- */

/* Begins a program. The circular buffers of the last program are gone. */
TTS_API void tts_device_program(struct tts_device *device, uint64_t program_id);
/* Adds a circular buffer to the program and writes its address to *address.
 *
 * Returns TTS_E_INVALID if the runtime would refuse it; `err` says why. Returns TTS_E_RANGE if
 * an address exceeds 64 bits, or the program has too many circular buffers. Returns
 * TTS_E_NOT_FOUND if the grid or the L1 of the chip is unknown. Returns TTS_E_NOMEM if there is
 * no memory. */
TTS_API TTS_NODISCARD enum tts_status tts_device_add_cb(struct tts_device *device,
                                                        const struct tts_cb *cb,
                                                        uint64_t *address,
                                                        struct tts_error *err);
/* Checks the circular buffers like the runtime does at every enqueue. Returns TTS_E_FULL if
 * they grow into L1 buffers or past the end of L1. Returns TTS_E_NOT_FOUND if the grid or the
 * L1 of the chip is unknown. */
TTS_API TTS_NODISCARD enum tts_status tts_device_run_program(struct tts_device *device,
                                                             struct tts_error *err);

/* ---- statistics ---- */

/* The blocks of one bank. */
struct tts_space_stats {
    /* Bytes that can be allocated: the size of the bank, minus the part that was cut off by
     * shrinking. */
    uint64_t total_bytes;
    uint64_t taken_bytes; /* sum of the rounded sizes of all blocks */
    uint64_t free_bytes;
    uint64_t largest_free_bytes;
    uint64_t taken_blocks, free_blocks;
};

/* Statistics of a pool. Sizes are sizes of one bank. */
struct tts_pool_stats {
    /* Buffers that take the same block in every bank, without blocks on single cores. */
    struct tts_space_stats space;
    /* Rounded blocks of buffers that are counted but not placed. */
    uint64_t unplaced_bytes;
    uint64_t buffers, unplaced_buffers;
    uint64_t peak_bytes; /* highest sum of placed and unplaced bytes in the fullest bank */
    uint64_t failures;
};
/* Copies the statistics of a pool to *out. Returns false if there is no such pool. */
TTS_API bool tts_device_stats(const struct tts_device *device, enum tts_pool pool,
                              struct tts_pool_stats *out);

/* tts_device_failures() returns the number of refused requests and programs.
 * tts_device_failure() returns the last refusal and tts_device_first_failure() the first, or
 * NULL if there is none. The pointers are valid until the device is freed; the next refusal
 * overwrites the last one. */
TTS_API uint64_t tts_device_failures(const struct tts_device *device);
TTS_API const struct tts_failure *tts_device_failure(const struct tts_device *device);
TTS_API const struct tts_failure *tts_device_first_failure(const struct tts_device *device);

/* ---- meshes ---- */

/* Makes a device for a part of a mesh: the same chip and configuration with `chips` chips. The
 * new device is empty, whatever the parent or its other parts hold. The caller frees it.
 * Returns TTS_E_RANGE if the mesh does not have so many chips. Otherwise returns like
 * tts_device_new(). */
TTS_API TTS_NODISCARD enum tts_status tts_device_submesh(const struct tts_device *device,
                                                         uint32_t chips,
                                                         struct tts_device **out,
                                                         struct tts_error *err);

/* Makes every pool of `device` hold exactly the ranges that the pools of the other devices hold
 * together. Buffers that are only counted stay, and so does the list of traces. The observer is
 * not called. Changes all pools or none.
 *
 * Returns TTS_E_INVALID if `count` is 0, the chips differ, or a device has buffers of single
 * cores. Returns TTS_E_FULL if a range cannot be placed. Returns TTS_E_NOMEM if there is no
 * memory. */
TTS_API TTS_NODISCARD enum tts_status
tts_device_synchronize(struct tts_device *device, const struct tts_device *const *others,
                       size_t count, struct tts_error *err);
