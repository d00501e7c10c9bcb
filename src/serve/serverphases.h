/* serverphases.h: in which phase of a trace the devices of one program are, by the events of
 * its ring (analysis/questions/tracephase.h). Each phase that begins is told once; a capture
 * tells each of its phases once, so that a program without pauses does not fill the output.
 *
 * Samples are taken at the begin and the end of a capture, when the program pauses for
 * TTS_TRACEPHASE_PAUSE_NS during a capture, or at least every second, and after a second
 * without events.
 *
 * Ownership: the caller owns the struct, which begins as zeros, and releases it. Threads: one
 * thread at a time. Cost: constant for each event, and a search among the devices. */
#pragma once

#include "analysis/questions/tracephase.h"
#include "model/live/serverevent.h"
#include "wire/clientregion.h"

enum { TTS_SERVERPHASES_DEVICES = TTS_CLIENTREGION_DEVICES_MAX };

struct tts_serverphase {
    uint32_t device;
    enum tts_tracephase phase;
    uint32_t told;               /* bit 1 << phase: told since the capture began */
    bool has_sample, is_changed; /* is_changed: since the last sample */
    bool is_settled;             /* a sample was taken after a second without events */
    struct tts_tracesample last, now;
    uint64_t other_bytes[TTS_POOLS];
    uint64_t sample_ns, news_ns; /* of the last sample and the last event; monotonic */
};

struct tts_serverphases {
    struct tts_serverphase *list;
    size_t count, capacity;
    const struct tts_alloc *alloc; /* set by the caller */
};

/* Receives the begin of a phase: an event with its kind, device, phase and bytes. */
typedef void (*tts_serverphases_fn)(void *ctx, struct tts_serverevent *event);

void tts_serverphases_release(struct tts_serverphases *phases);

/* Takes an event of the ring. Devices beyond the limit, or without memory, are left out. */
void tts_serverphases_event(struct tts_serverphases *phases,
                            const struct tts_clientregion_event *event, uint64_t now_ns,
                            tts_serverphases_fn fn, void *ctx);
/* Takes what a program says about a device: for a program that is older than the server, and
 * after events were lost. */
void tts_serverphases_see(struct tts_serverphases *phases, const struct tts_seenview *view,
                          uint64_t now_ns);
/* Takes the samples that are due. Call this after the news of the ring were read. */
void tts_serverphases_settle(struct tts_serverphases *phases, uint64_t now_ns,
                             tts_serverphases_fn fn, void *ctx);
