/* serverevent.h: one event that the allocation server knows, whatever its source: a frame of a
 * client, the ring of a program that publishes, or a change of counters that have no events.
 * The printed lines, the recordings and the statistics are made from these events.
 *
 * Plain data. Numbers and names are foreign. The room is `model`, because views write events
 * and the server makes them. */
#pragma once

#include "model/live/liveanswer.h"

enum tts_serversource {
    TTS_SERVERSOURCE_FRAMES,   /* a client of the socket */
    TTS_SERVERSOURCE_RING,     /* the region of a program that publishes */
    TTS_SERVERSOURCE_COUNTERS, /* counters of the runtime, read from time to time: the sizes of
                                  single buffers are unknown */
};

enum tts_serverevent_kind {
    TTS_SERVEREVENT_ALLOC,
    TTS_SERVEREVENT_FREE,
    TTS_SERVEREVENT_UNKNOWN_FREE, /* of a buffer that was allocated before it could be seen */
    TTS_SERVEREVENT_CB_ALLOC,
    TTS_SERVEREVENT_CB_FREE,
    TTS_SERVEREVENT_KERNEL_LOAD,
    TTS_SERVEREVENT_KERNEL_UNLOAD,
    TTS_SERVEREVENT_TRACE_BEGIN,
    TTS_SERVEREVENT_TRACE_END,
    TTS_SERVEREVENT_REFUSED, /* a request of size_bytes failed */
    TTS_SERVEREVENT_BEGIN,   /* a process is seen for the first time */
    TTS_SERVEREVENT_DEATH,   /* the process ended with `buffers` live buffers of size_bytes */
    TTS_SERVEREVENT_LOST,    /* `buffers` events of the process were not seen */
    TTS_SERVEREVENT_PHASE,   /* a phase of a trace begins */
    TTS_SERVEREVENTS
};

/* A process in the life of the server. A process number that is used again is another one. */
struct tts_serverprocess {
    uint64_t instance;   /* unique while the server runs, from 1 */
    uint32_t pid;        /* as the server numbers it; 0: it cannot be seen from here */
    uint32_t pid_inside; /* as the process numbers itself */
    uint64_t start_ticks;
    char name[TTS_HOSTVIEW_NAME_MAX];
};

struct tts_serverevent {
    enum tts_serverevent_kind kind;
    enum tts_serversource source;
    const struct tts_serverprocess *process; /* valid during the call; NULL: unknown */
    uint32_t device;                         /* logical id */
    enum tts_pool pool;                      /* of ALLOC, FREE, REFUSED */
    uint8_t kernel_type; /* of KERNEL_*: 0 application, 1 fabric, 2 dispatch */
    bool id_known;       /* false for COUNTERS */
    uint64_t id; /* number or address of the buffer, circular buffer or kernel; of a program
                    that publishes, always the number */
    uint64_t size_bytes;
    uint64_t time_ns;    /* since 1970 */
    uint32_t references; /* of the buffer after the event; 1 for a new one, 0: it is gone */
    /* CB_*, KERNEL_*: bytes of all circular buffers, or of all kernels, of the device after the
     * event */
    uint64_t live_bytes;
    uint64_t buffers; /* see DEATH and LOST */
    /* PHASE: the phase, and the bytes in TRACE and L1 at its begin. */
    enum tts_tracephase phase;
    uint64_t trace_bytes, l1_bytes;
};

/* Receives each event, in the order in which the server sees them. The function must not block
 * and must not call the server. */
struct tts_serversink {
    void (*event)(void *ctx, const struct tts_serverevent *event);
    void *ctx;
};
