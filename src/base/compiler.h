/* compiler.h: the few things we ask of the compiler, and graded assertions. */
#pragma once

#include <assert.h>

#define TTS_LIKELY(x) __builtin_expect(!!(x), 1)
#define TTS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TTS_COLD __attribute__((cold, noinline))
#define TTS_PRINTF(format_idx, first_idx) __attribute__((format(printf, format_idx, first_idx)))

/* Walks: on where TTS_EXPENSIVE_CHECKS is defined (the fuzz preset), else nothing. */
#ifdef TTS_EXPENSIVE_CHECKS
#define tts_assert_expensive(x) assert(x)
#else
#define tts_assert_expensive(x) ((void)0)
#endif
