/* serverhost.h: what the allocation server knows about devices and about processes that send
 * no frames: the chips of the host, and the memory of each process from the regions of the
 * runtime and of programs that publish (sources/live, analysis/liveowners.h). No device is
 * opened.
 *
 * If the counters of the runtime change between two reads, the sink gets events with the source
 * COUNTERS. Programs that publish have events of their own (serverrings.h).
 *
 * Ownership: heap object of the caller. Threads: one thread at a time.
 * Cost: a read takes as long as a frame of `ttscope top`. */
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

/* Reads the host again. Returns TTS_E_NOMEM; then everything is as before. */
TTS_NODISCARD enum tts_status tts_serverhost_read(struct tts_serverhost *host,
                                                  struct tts_error *err);
/* What was read last, for tts_serverrings. Valid until the next read. */
const struct tts_hostview *tts_serverhost_view(const struct tts_serverhost *host);

/* Returns the sums of all processes that send no frames, and the capacities. `device` is below
 * TTS_FRAME_DEVICES_MAX. */
const struct tts_serverdevice *tts_serverhost_device(const struct tts_serverhost *host,
                                                     uint32_t device);
const struct tts_serverchip *tts_serverhost_chip(const struct tts_serverhost *host,
                                                 uint32_t device);
/* Returns whether the host has the device, or a process uses the device. */
bool tts_serverhost_has(const struct tts_serverhost *host, uint32_t device);
