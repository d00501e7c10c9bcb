/* publish.h: publishes the memory use of a program, so that `ttscope top` and `ttscope serve`
 * show it live. The program writes counters, live buffers and its last events into a file in
 * /dev/shm; other programs of the same user, and root, read the file.
 *
 * While a tracker publishes, it is on, even if no capture is active. Publishing starts by
 * itself with the first call of tts_tracker_process() if the environment has TTSCOPE=1 or
 * TT_ALLOC_TRACKING_ENABLED=1. If the file cannot be made (/dev/shm is full), the program runs
 * on without publishing.
 *
 * Cost: an event takes no lock, allocates nothing and makes no system call.
 * Threads: any thread may post events, as capture.h says. The functions below: any thread, but
 * not in a signal handler.
 * Times are up to some milliseconds old, because an exact clock would take most of the cost.
 * Fork: the child has stopped publishing; the file stays with the parent. If publishing was
 * started by the environment, the child makes a file of its own at its first event, with the
 * facts of the devices and without the buffers of the parent. Only this event makes system
 * calls.
 * Exec: the new program replaces the file if it publishes, too. Otherwise the file stays, and
 * is shown as live until the process ends: call tts_publish_end() before exec.
 * Exit: a normal exit removes the file of the tracker of the process.
 * Kill: the file stays until `ttscope clean` removes it. Readers see from the process number
 * and the start time that the process has ended.
 *
 * Example:
 *     struct tts_tracker *tracker = tts_tracker_process();
 *     struct tts_error err;
 *     if (tts_publish_begin(tracker, NULL, &err) != TTS_OK)
 *         fprintf(stderr, "%s\n", err.text); // the program is not shown live
 *     tts_track_alloc(tracker, 0, TTS_POOL_DRAM, 1, 8192, 0, NULL);
 *     tts_publish_end(tracker); */
#pragma once

#include "ttscope/capture.h"

struct tts_publish_config {
    const char *directory; /* where to make the file; NULL: /dev/shm */
    /* Number of live buffers that the file lists: default 65536, at most 2^24. Further buffers
     * are counted, but not listed. The file takes 64 bytes for each. */
    uint32_t buffers_max;
    /* Number of last events that the file keeps: default 16384, at most 2^24, rounded up to a
     * power of two. The file takes 64 bytes for each. */
    uint32_t events_max;
    uint64_t reserved[6]; /* 0, for later versions; else TTS_E_INVALID */
};

/* Makes the file and starts to publish the events of `tracker`, with the buffers that are live
 * now if the tracker is on. `config` may be NULL. A process has one file in a directory: if
 * another tracker of the process begins to publish there, its file replaces this one.
 *
 * Returns TTS_E_BUSY if the tracker publishes already. Returns TTS_E_IO if the file cannot be
 * made or has no room; `err` names the file. Returns TTS_E_RANGE or TTS_E_INVALID for a bad
 * configuration or a NULL tracker. Returns TTS_E_NOMEM if there is no memory. */
TTS_API TTS_NODISCARD enum tts_status tts_publish_begin(struct tts_tracker *tracker,
                                                        const struct tts_publish_config *config,
                                                        struct tts_error *err);
/* Stops and removes the file. Does nothing if the tracker does not publish, or is NULL. */
TTS_API void tts_publish_end(struct tts_tracker *tracker);
/* Returns whether the tracker publishes. NULL is allowed. */
TTS_API bool tts_publish_is_on(struct tts_tracker *tracker);

/* One pool of a device, as its allocator reports the pool: bytes of all banks. */
struct tts_publish_report {
    uint32_t banks;
    uint32_t padding; /* 0 */
    uint64_t total_bytes, allocated_bytes, free_bytes, largest_free_bytes;
};
/* Publishes the state of a pool. Devices that are attached to the tracker (capture.h) do this
 * by themselves after each event. `period_ns` is the time between two calls, or 0 if the
 * program calls after each change. Does nothing while the tracker does not publish.
 *
 * Returns TTS_E_INVALID if an argument is NULL or the pool does not exist, TTS_E_RANGE if the
 * tracker already knows devices_max devices. */
TTS_API enum tts_status tts_publish_pool(struct tts_tracker *tracker, uint32_t device,
                                         enum tts_pool pool,
                                         const struct tts_publish_report *report,
                                         uint64_t period_ns, struct tts_error *err);

/* Facts about a device. 0 means unknown, except for unique_id and arch. */
struct tts_publish_facts {
    bool unique_id_known, arch_known;
    uint64_t unique_id; /* of the chip, as the runtime names its shared-memory region */
    enum tts_arch arch;
    uint32_t hardware_queues, dram_channels, grid_columns, grid_rows;
    uint64_t reserved[4]; /* 0 */
};
/* Publishes facts about a device. Errors are those of tts_publish_pool(). */
TTS_API enum tts_status tts_publish_device(struct tts_tracker *tracker, uint32_t device,
                                           const struct tts_publish_facts *facts,
                                           struct tts_error *err);

struct tts_publish_state {
    char path[256];    /* of the file; "" if the tracker does not publish */
    uint64_t events;   /* number of events published */
    uint64_t unlisted; /* live buffers that are counted but not listed */
    uint64_t reserved[6];
};
/* Copies the state to *out. */
TTS_API void tts_publish_get_state(struct tts_tracker *tracker, struct tts_publish_state *out);
