/* liveanswer.h: the answers to the questions about a device that a live frame has: which pools
 * grow, which buffers leak, which pools are nearly full, and in which phase of a trace a
 * program is. The files growth.h, leak.h, pressure.h and tracephase.h of `analysis` decide.
 *
 * Plain data. Names are foreign bytes; views escape them. */
#pragma once

#include "model/live/hostview.h"

enum {
    TTS_LIVEGROWING_MAX = 8,
    TTS_LIVELEAKS_MAX = 8,
    TTS_LIVEPRESSURE_OWNERS = 3,
    TTS_LIVEPRESSURE_MOVES = 5,
    TTS_LIVEPHASE_ROWS = 16,
};

/* The process that an answer is about. */
struct tts_liveowner {
    bool pid_known; /* false: `pid` is the number inside a container, if it is not 0 */
    uint32_t pid;
    char name[TTS_HOSTVIEW_NAME_MAX];
};

/* A pool that grows for a process. */
struct tts_livegrowing {
    enum tts_pool pool;
    struct tts_liveowner owner;
    uint64_t since_ns;    /* since 1970 */
    uint64_t grown_bytes; /* since then */
    uint64_t bytes_per_second;
    bool full_known; /* the free bytes of the pool are known */
    uint64_t full_seconds;
};

/* Buffers of some sizes in a pool that leak. Size class c has sizes from 2^c to 2^(c + 1) - 1.
 */
struct tts_liveleak {
    enum tts_pool pool;
    struct tts_liveowner owner;
    uint64_t since_ns;       /* since 1970 */
    uint64_t classes;        /* bit c: size class c */
    uint64_t buffers;        /* more than at the begin */
    uint64_t bytes_at_least; /* of these buffers, by the smallest size of each class */
    uint64_t period_ns;      /* the growth is seen in each period */
    uint32_t periods;
    bool is_after_steady; /* the same work did not grow before */
};

/* A buffer in L1 that could be in DRAM. */
struct tts_livemove {
    struct tts_liveowner owner;
    bool address_known;
    uint64_t id, address, size_bytes; /* `id` as the program numbers the buffer */
};

/* A pool that is nearly full. */
struct tts_livepressure {
    enum tts_pool pool;
    uint32_t millionths;
    struct {
        struct tts_liveowner owner;
        uint64_t bytes;
    } owners[TTS_LIVEPRESSURE_OWNERS]; /* the largest first */
    size_t owner_count;
    bool dram_has_room; /* L1 is nearly full, and DRAM has room for its buffers */
    bool moves_known;   /* the live buffers are known, at least in part */
    struct tts_livemove moves[TTS_LIVEPRESSURE_MOVES]; /* the largest first */
    size_t move_count, moves_unlisted;
    uint64_t moves_bytes; /* of all buffers that could move */
};

/* The phases of a trace. */
enum tts_tracephase {
    TTS_TRACEPHASE_UNKNOWN,
    TTS_TRACEPHASE_INIT,
    TTS_TRACEPHASE_CAPTURE_START,
    TTS_TRACEPHASE_CAPTURE_DATA,
    TTS_TRACEPHASE_CAPTURE_KERNELS,
    TTS_TRACEPHASE_CAPTURE_END,
    TTS_TRACEPHASE_EXECUTION,
    TTS_TRACEPHASE_IDLE,
    TTS_TRACEPHASES
};

/* Return the word for programs, "capture_data", or NULL for UNKNOWN; and the published name,
 * "Capture (Data)", or "unknown". Constants. */
const char *tts_tracephase_word(enum tts_tracephase phase);
const char *tts_tracephase_name(enum tts_tracephase phase);

/* The memory at the end of a phase, or now for the last phase. The total is the sum of the
 * three. */
struct tts_tracerow {
    enum tts_tracephase phase;
    uint64_t begin_ns; /* since 1970 */
    bool code_known;   /* else the total is without code */
    uint64_t trace_bytes, data_bytes, code_bytes;
    bool change_known; /* false for the first row */
    int64_t change_bytes;
};

/* Returns the total. A sum that does not fit is the largest number. */
uint64_t tts_tracerow_total(const struct tts_tracerow *row);

/* The phases of a process or a device so far. */
struct tts_livephases {
    struct tts_tracerow
        rows[TTS_LIVEPHASE_ROWS]; /* the oldest first; the last is the present */
    size_t row_count;
    uint64_t rows_left_out; /* between the first row and the second */
    bool is_new;            /* the present phase began with the last sample */
    bool before_known;      /* `before` is the present row as the sample before left it */
    struct tts_tracerow before;
    uint64_t steady_ns;  /* time without any change; 0: there was one now */
    bool is_replay_seen; /* a trace exists, so that a replay changes nothing */
};

/* Returns the present phase. */
static inline enum tts_tracephase tts_livephases_now(const struct tts_livephases *phases)
{
    return phases->row_count > 0 ? phases->rows[phases->row_count - 1].phase
                                 : TTS_TRACEPHASE_UNKNOWN;
}

struct tts_liveanswers {
    bool is_asked; /* false: no question was asked */
    /* Whether the lists below are answers: without numbers there is none. */
    bool growing_known, leaks_known, pressure_known;
    uint64_t time_ns; /* of the frame */
    struct tts_livegrowing growing[TTS_LIVEGROWING_MAX];
    struct tts_liveleak leaks[TTS_LIVELEAKS_MAX];
    struct tts_livepressure pressure[TTS_POOLS];
    size_t growing_count, leak_count, pressure_count;
    size_t growing_unlisted, leaks_unlisted;
    struct tts_livephases phases;
};
