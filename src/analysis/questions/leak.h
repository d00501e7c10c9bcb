/* leak.h: whether buffers of the same kinds grow in number, again and again, while a program
 * repeats its work. docs/design/live-questions.md has the rule and its limits.
 *
 * A history covers the whole working time of one process on one device in at most
 * TTS_LEAK_WINDOWS windows of equal length. When all windows are full, each two become one, so
 * the windows grow with the history and are longer than the period of any repeated work at
 * last. A key stands for the buffers of one kind: a pool and a size class, or an operation and
 * a size. For each key, a window has the lowest and the highest number of live buffers.
 *
 * The caller feeds a history only while buffers are freed: loading weights, or waiting, adds no
 * window. No clock is read. The caller owns the struct. One thread at a time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_LEAK_WINDOWS = 16, TTS_LEAK_FOUND_MAX = 8 };

struct tts_leakkey {
    uint32_t count; /* live buffers */
    uint32_t at;    /* the last window that has numbers */
    uint32_t low[TTS_LEAK_WINDOWS], high[TTS_LEAK_WINDOWS];
    uint32_t freed[TTS_LEAK_WINDOWS]; /* buffers that were freed */
};

/* The begin of a window; counts since the history began. */
struct tts_leakwindow {
    uint64_t time_ns, allocs, frees;
};

struct tts_leak {
    struct tts_leakkey *keys;
    size_t key_count, key_capacity;
    struct tts_leakwindow windows[TTS_LEAK_WINDOWS + 1];
    uint32_t window_count; /* full windows; the window after them is being filled */
    uint64_t span;         /* ticks of a full window */
    uint64_t ticks;        /* in the window that is being filled */
    struct tts_leakwindow now;
    bool has_begun;
    const struct tts_alloc *alloc;
};

/* Begins an empty history and reserves memory for `key_capacity` keys. Returns TTS_OK or
 * TTS_E_NOMEM; *leak must be released in both cases. If `alloc` is NULL, the C library
 * allocates. */
TTS_NODISCARD enum tts_status tts_leak_init(struct tts_leak *leak, size_t key_capacity,
                                            const struct tts_alloc *alloc);
void tts_leak_release(struct tts_leak *leak); /* a struct of zeros is allowed */
/* Forgets everything except the memory. */
void tts_leak_reset(struct tts_leak *leak);

/* Adds a key with `count` live buffers and sets *key to its number. If the history is young,
 * these buffers are its base. Returns TTS_E_FULL if key_capacity keys exist. Constant time. */
TTS_NODISCARD enum tts_status tts_leak_add(struct tts_leak *leak, uint32_t count,
                                           uint32_t *key);
/* Sets the number of live buffers of a key. `freed` buffers of the key were freed since the
 * last call. Constant time. */
void tts_leak_set(struct tts_leak *leak, uint32_t key, uint32_t count, uint32_t freed);
/* Ends a tick: a sample of a live program, or the moment after frees in a recording. `allocs`
 * and `frees` are the numbers of the device so far; neither decreases. */
void tts_leak_tick(struct tts_leak *leak, uint64_t time_ns, uint64_t allocs, uint64_t frees);

/* A key that leaks. */
struct tts_leakgrowth {
    uint32_t key;
    uint32_t gained; /* buffers, from the first window of the growth to the last */
};

struct tts_leakfound {
    struct tts_leakgrowth growths[TTS_LEAK_FOUND_MAX]; /* the largest first */
    size_t growth_count, unlisted;
    uint32_t windows; /* in a row, each with more buffers than the window before */
    /* Repetitions of the work in these windows: how often the rarest kind of buffers that is
     * freed in each window was freed. 0: unknown. */
    uint64_t periods;
    uint64_t since_ns, until_ns; /* begin of the first window, end of the last */
    bool is_after_steady;        /* before the growth, the same work did not grow */
};

/* Decides whether there is a leak now, and describes the leak. If `has_ended`, the program has
 * ended: windows at the end of the history in which the program cleans up are left out. Returns
 * false if there is no leak; *out is unchanged then. Cost: linear in the number of keys. */
bool tts_leak_judge(struct tts_leak *leak, bool has_ended, struct tts_leakfound *out);
