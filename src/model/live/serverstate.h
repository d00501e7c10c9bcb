/* serverstate.h: what the allocation server knows at one moment, as plain rows: the sums of
 * each device, the live buffers, the live kernels. The server fills the rows, and views write
 * them as statistics and reports.
 *
 * Ownership: the rows belong to the server and are valid during the call that gets them.
 * Numbers and names are foreign. */
#pragma once

#include "model/live/serverevent.h"

/* The sums of one device, of all live processes. Bytes are requested bytes on one chip. */
struct tts_serverdevice {
    uint32_t device; /* logical id */
    uint64_t bytes[TTS_POOLS], buffers[TTS_POOLS];
    uint64_t cb_bytes, kernel_bytes;
    bool capacity_known; /* the next fields */
    bool arch_known;
    enum tts_arch arch;
    uint64_t dram_total_bytes, l1_total_bytes;
    bool is_remote;     /* the chip has no node of its own on this host */
    bool is_of_program; /* no board has the device: for example, it is modelled */
};

/* A live buffer, or a live kernel. */
struct tts_serverbuffer {
    const struct tts_serverprocess *process;
    uint32_t device;
    enum tts_pool pool;  /* of a buffer */
    uint8_t kernel_type; /* of a kernel */
    uint32_t references;
    uint64_t id, size_bytes;
    uint64_t time_ns; /* of the first event, since 1970 */
};

struct tts_serverstate {
    const struct tts_serverdevice *devices; /* by number, those that were ever used */
    size_t device_count;
    /* Filled for reports only. The rows are by device, then pool, then id. */
    const struct tts_serverbuffer *buffers, *kernels;
    size_t buffer_count, kernel_count;
    uint64_t live_buffers; /* of all devices; never left out */
    /* Counts since the server began. */
    uint64_t clients, processes; /* connected now; live now */
    uint64_t events, lost_events, unknown_frees, skipped_bytes;
    uint64_t lines_left_out;    /* event lines that the output was too slow for */
    uint64_t begin_ns, time_ns; /* since 1970 */
};
