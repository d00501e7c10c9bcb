#include "base/ticks.h"

#include "base/compiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

enum source { NOT_ASKED, COUNTER, CLOCK };

enum {
    SPAN_NS = 2 * 1000 * 1000, /* time over which the counter is compared with the clock */
    SPANS = 3,
    TRIES = 16,
};

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t tts_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t tts_clock_realtime_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t tts_clock_coarse_ns(void)
{
    return read_clock(CLOCK_REALTIME_COARSE);
}

/* Returns whether the counter has a constant rate, at any frequency and in any sleep state. */
static bool has_steady_counter(void)
{
#ifdef __x86_64__
    static const unsigned int power_leaf = 0x80000007, invariant = 1 << 8;
    unsigned int a, b, c, d;
    return __get_cpuid(power_leaf, &a, &b, &c, &d) && (d & invariant);
#else
    return false;
#endif
}

static uint64_t read_counter(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return tts_clock_ns();
#endif
}

/* Stores the answer of the first call for all later calls, because the answer of the processor
 * never changes. */
static TTS_COLD enum source ask_processor(_Atomic int *kept)
{
    enum source source = has_steady_counter() ? COUNTER : CLOCK;
    atomic_store_explicit(kept, source, memory_order_relaxed);
    return source;
}

static TTS_FORCE_INLINE enum source tick_source(void)
{
    static _Atomic int kept;
    int known = atomic_load_explicit(&kept, memory_order_relaxed);
    return TTS_LIKELY(known != NOT_ASKED) ? (enum source)known : ask_processor(&kept);
}

uint64_t tts_ticks_now(void)
{
    return TTS_LIKELY(tick_source() == COUNTER) ? read_counter() : tts_clock_ns();
}

/* ---- length of a tick ---- */

/* One instant, measured with both clocks, and the uncertainty of the measurement. */
struct instant {
    uint64_t ns, ticks, doubt_ns;
};

/* Reads the counter between two reads of the clock. Takes the try with the least time between
 * the two reads: in the other tries this thread was interrupted. */
static struct instant look_at_clocks(void)
{
    struct instant best = {.doubt_ns = UINT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = tts_clock_ns(), ticks = read_counter(), after = tts_clock_ns();
        if (after - before < best.doubt_ns)
            best = (struct instant){before + (after - before) / 2, ticks, after - before};
    }
    return best;
}

static uint64_t scale_between(const struct instant *from, const struct instant *to)
{
    uint64_t ticks = to->ticks - from->ticks, ns = to->ns - from->ns;
    return ticks > 0 && ns < UINT32_MAX ? (ns << 32) / ticks : 0;
}

/* Measures the length of a tick. Returns the most certain of several measurements. */
static TTS_COLD uint64_t measure_rate(void)
{
    uint64_t scale = 0, least = UINT64_MAX;
    struct instant from = look_at_clocks();
    for (int i = 0; i < SPANS || (scale == 0 && i < TRIES); i++) {
        while (tts_clock_ns() - from.ns < SPAN_NS)
            nanosleep(&(struct timespec){.tv_nsec = SPAN_NS / 4}, NULL);
        struct instant to = look_at_clocks();
        uint64_t found = scale_between(&from, &to), doubt = from.doubt_ns + to.doubt_ns;
        if (found > 0 && doubt < least) {
            scale = found;
            least = doubt;
        }
        from = to;
    }
    return scale > 0 ? scale : UINT64_C(1) << 32;
}

uint64_t tts_ticks_scale(void)
{
    static _Atomic uint64_t kept;
    if (tick_source() == CLOCK)
        return UINT64_C(1) << 32;
    uint64_t scale = atomic_load_explicit(&kept, memory_order_relaxed);
    if (scale > 0)
        return scale;
    uint64_t measured = measure_rate();
    /* If another thread stored its value first, use that value: a process has only one. */
    if (atomic_compare_exchange_strong_explicit(&kept, &scale, measured, memory_order_relaxed,
                                                memory_order_relaxed))
        return measured;
    return scale;
}
