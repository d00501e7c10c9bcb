/* serverhost.h: what the allocation server knows about devices and about processes that send
 * no frames: the chips of the host, and the memory of each process from the regions of the
 * runtime and of programs that publish (sources/live, analysis/live/liveowners.h). No device is
 * opened.
 *
 * If the counters of the runtime change between two reads, the sink gets events with the source
 * COUNTERS. Programs that publish have events of their own (serverrings.h).
 *
 * The host is read on a thread of its own (hostreader.h).
 *
 * Ownership: heap object of the caller. Threads: one thread at a time; the allocator is used by
 * two. */
#pragma once

#include "model/live/serverstate.h"
#include "wire/frame.h"

struct tts_serverhost;

/* What a reply about a device says. */
struct tts_serverchip {
    bool is_known;
    uint32_t dram_channels;
    uint64_t dram_channel_bytes, l1_core_bytes;
};

struct tts_serverhost_config {
    const char *root; /* see tts_livehost_open() */
    struct tts_serversink sink;
    /* Returns whether the process sends frames: then the server counts the process itself. */
    bool (*is_sender)(void *ctx, uint32_t pid);
    void *ctx;
};

TTS_NODISCARD enum tts_status tts_serverhost_open(const struct tts_serverhost_config *config,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_serverhost **out,
                                                  struct tts_error *err);
void tts_serverhost_close(struct tts_serverhost *host); /* NULL is allowed */

/* Begins to read the host. Returns false if a read is under way. */
bool tts_serverhost_begin(struct tts_serverhost *host);
/* Returns whether a read is under way. */
bool tts_serverhost_is_busy(const struct tts_serverhost *host);
/* Returns a descriptor that is readable if a read has ended. */
int tts_serverhost_fd(const struct tts_serverhost *host);
/* Takes what a read found that has ended, or that ends in the next `wait_ns`. Returns false if
 * there is no such read, or if the read had no memory; then everything is as before. */
bool tts_serverhost_take(struct tts_serverhost *host, uint64_t wait_ns);
/* What was taken last, for tts_serverrings; NULL: nothing yet. Valid until the next take. */
const struct tts_hostview *tts_serverhost_view(const struct tts_serverhost *host);

/* Returns the sums of all processes that send no frames, and the capacities. `device` is below
 * TTS_FRAME_DEVICES_MAX. */
const struct tts_serverdevice *tts_serverhost_device(const struct tts_serverhost *host,
                                                     uint32_t device);
const struct tts_serverchip *tts_serverhost_chip(const struct tts_serverhost *host,
                                                 uint32_t device);
/* Returns whether the host has the device, or a process uses the device. */
bool tts_serverhost_has(const struct tts_serverhost *host, uint32_t device);
