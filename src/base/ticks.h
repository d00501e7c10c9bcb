/* ticks.h: a clock that is fast to read, and the length of its ticks. Uses the counter of the
 * processor if it is steady, else the monotonic clock in nanoseconds. */
#pragma once

#include <stdint.h>

/* Returns the current tick. Never decreases on one thread. Between threads it is as consistent
 * as the counters of the processors. */
uint64_t tts_ticks_now(void);

/* Returns nanoseconds of the monotonic clock. */
uint64_t tts_clock_ns(void);
uint64_t tts_clock_realtime_ns(void);

/* Returns the length of 2^32 ticks in nanoseconds. The first call of a process measures it,
 * which takes some milliseconds. */
uint64_t tts_ticks_scale(void);
