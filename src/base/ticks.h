/* ticks.h: a clock that is quick to read, and how long its ticks are.
 * The processor's own counter where it is steady, else the monotonic clock in nanoseconds. */
#pragma once

#include <stdint.h>

/* Never falls on one thread; between threads as good as the processor's counters agree. */
uint64_t tts_ticks_now(void);

/* Nanoseconds of the monotonic clock. */
uint64_t tts_clock_ns(void);
uint64_t tts_clock_realtime_ns(void);

/* The length of 2^32 ticks in nanoseconds. Measured once in a process, which takes some
 * milliseconds; then kept. */
uint64_t tts_ticks_scale(void);
