/* ticks.h: a clock that is fast to read, and the length of its ticks. The clock is the counter
 * of the processor if this counter has a constant rate, otherwise the monotonic clock in
 * nanoseconds. */
#pragma once

#include <stdint.h>

/* Returns the current tick. The tick never decreases on one thread. Ticks of two threads can be
 * compared as far as the counters of their processors agree. */
uint64_t tts_ticks_now(void);

/* tts_clock_ns() returns nanoseconds of the monotonic clock. tts_clock_realtime_ns() returns
 * nanoseconds since 1970. */
uint64_t tts_clock_ns(void);
uint64_t tts_clock_realtime_ns(void);
/* Like tts_clock_realtime_ns(), but up to some milliseconds old, and about eight times as fast.
 * Makes no system call, whatever the clock of the machine is. */
uint64_t tts_clock_coarse_ns(void);

/* Returns the length of 2^32 ticks in nanoseconds. The first call in a process measures this
 * length, which takes some milliseconds. */
uint64_t tts_ticks_scale(void);
