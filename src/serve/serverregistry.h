/* serverregistry.h: what the clients of the allocation server hold: processes, their live
 * buffers, and the sums of each device.
 *
 * A buffer is identified by process, device and address, so neither a process number nor an
 * address that is used again confuses two buffers. The rules for repeated allocations, unknown
 * frees, circular buffers and kernels are those of the published server
 * (docs/design/serve.md), except that no sum ever wraps.
 *
 * Pure: no system call. Every frame is foreign. All memory has a maximum; an event beyond a
 * maximum changes nothing and counts as lost.
 *
 * Ownership: heap object of the caller. Threads: one thread at a time.
 * Cost: constant for each event. The end of a process takes time for each of its devices; its
 * buffers are removed by tts_serverregistry_sweep(), a few at a time. */
#pragma once

#include "model/live/serverstate.h"
#include "wire/frame.h"

struct tts_serverregistry;

enum {
    TTS_SERVERREGISTRY_PROCESSES_MAX = 1 << 16,
    TTS_SERVERREGISTRY_ROWS_MAX = 1 << 18, /* pairs of a process and a device */
    TTS_SERVERREGISTRY_BUFFERS_MAX = 1 << 22,
    TTS_SERVERREGISTRY_KERNELS = TTS_POOLS, /* the list of kernels in a row */
    TTS_SERVERREGISTRY_LISTS,
};
#define TTS_SERVERREGISTRY_NONE UINT32_MAX
/* The bytes of a device never exceed this. */
#define TTS_SERVERREGISTRY_BYTES_MAX (UINT64_C(1) << 60)

/* What one process holds on one device. */
struct tts_serverrow {
    uint32_t device, process;
    uint32_t next;  /* the next row of the process */
    uint32_t dirty; /* the next row that was changed; see tts_serverregistry_changed() */
    bool is_dirty;
    uint32_t heads[TTS_SERVERREGISTRY_LISTS]; /* first entry of each pool, then of kernels */
    uint64_t bytes[TTS_POOLS], buffers[TTS_POOLS], peak_bytes[TTS_POOLS];
    uint64_t allocs[TTS_POOLS], frees[TTS_POOLS];
    uint64_t cb_bytes, kernel_bytes;
};

/* Counts since the registry was made. */
struct tts_servercounts {
    uint64_t events;
    uint64_t lost_events; /* beyond a maximum, or there was no memory */
    uint64_t unknown_frees;
    uint64_t size_changes; /* repeated allocations with another size; the first size stays */
    uint64_t live_buffers, live_processes; /* now */
};

struct tts_serverregistry_config {
    struct tts_serversink sink; /* receives each event; its function may be NULL */
    size_t processes_max, rows_max, buffers_max; /* 0: the maximum */
};

TTS_NODISCARD enum tts_status
tts_serverregistry_new(const struct tts_serverregistry_config *config,
                       const struct tts_alloc *alloc, struct tts_serverregistry **out,
                       struct tts_error *err);
void tts_serverregistry_free(struct tts_serverregistry *registry); /* NULL is allowed */

/* Adds a process. facts->instance is set here. Returns TTS_E_FULL or TTS_E_NOMEM, or TTS_OK and
 * the place of the process, which is valid until the process ends. */
TTS_NODISCARD enum tts_status tts_serverregistry_begin(struct tts_serverregistry *registry,
                                                       const struct tts_serverprocess *facts,
                                                       uint64_t now_ns, uint32_t *place);
/* Ends a process: the sums are without it at once. */
void tts_serverregistry_end(struct tts_serverregistry *registry, uint32_t place,
                            uint64_t now_ns);
/* Removes entries of ended processes, at most `max` of them. Returns whether there are more. */
bool tts_serverregistry_sweep(struct tts_serverregistry *registry, size_t max);

/* Takes one event of a live process: ALLOC, FREE, CB_* or KERNEL_*. Requests are ignored. */
void tts_serverregistry_take(struct tts_serverregistry *registry, uint32_t process,
                             const struct tts_frame *frame, uint64_t now_ns);

/* Counts an event that was lost before it had a process. */
void tts_serverregistry_lose(struct tts_serverregistry *registry);

const struct tts_serverprocess *
tts_serverregistry_process(const struct tts_serverregistry *registry, uint32_t place);
const struct tts_servercounts *
tts_serverregistry_counts(const struct tts_serverregistry *registry);
/* Returns the sums of a device below TTS_FRAME_DEVICES_MAX. The capacities are unknown. */
const struct tts_serverdevice *
tts_serverregistry_device(const struct tts_serverregistry *registry, uint32_t device);
/* Returns whether the device was ever used. */
bool tts_serverregistry_is_used(const struct tts_serverregistry *registry, uint32_t device);

/* Returns the first row of a process, or the row after `row`; NULL: none. */
const struct tts_serverrow *tts_serverregistry_row(const struct tts_serverregistry *registry,
                                                   uint32_t process,
                                                   const struct tts_serverrow *after);
/* Takes a row of a live process that has changed since this function returned it; NULL: none.
 */
const struct tts_serverrow *tts_serverregistry_changed(struct tts_serverregistry *registry);

/* Calls `visit` for the entries of a list (a pool, or TTS_SERVERREGISTRY_KERNELS) of all live
 * processes on a device, in no order, until `visit` returns false. Cost: constant for each
 * process and each entry. */
void tts_serverregistry_list(const struct tts_serverregistry *registry, uint32_t device,
                             uint32_t list,
                             bool (*visit)(void *ctx, const struct tts_serverbuffer *buffer),
                             void *ctx);
/* Walks everything and compares the sums. For assertions and tests. */
bool tts_serverregistry_is_valid(const struct tts_serverregistry *registry);
