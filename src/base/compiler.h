/* compiler.h: macros for compiler attributes and builtins, and an assertion for slow checks. */
#pragma once

#include <assert.h>

#define TTS_LIKELY(x) __builtin_expect(!!(x), 1)
#define TTS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TTS_FORCE_INLINE inline __attribute__((always_inline))
#define TTS_COLD __attribute__((cold, noinline))
#define TTS_NOINLINE __attribute__((noinline))
/* Hides from the compiler how `x` was computed. Without this, the compiler may replace the
 * computation by branches. */
#define TTS_HIDE(x) __asm__("" : "+r"(x))
#define TTS_PRINTF(format_idx, first_idx) __attribute__((format(printf, format_idx, first_idx)))

/* Puts the stores before the fence before the stores after it, for readers in other processes.
 * ThreadSanitizer knows no fences, and sees only threads of its own process. */
#ifdef __SANITIZE_THREAD__
#define TTS_STORE_FENCE() __atomic_signal_fence(__ATOMIC_RELEASE)
#else
#define TTS_STORE_FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* Tells the processor that this thread is waiting. */
#if defined(__x86_64__) || defined(__i386__)
#define TTS_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define TTS_PAUSE() __asm__ volatile("yield" ::: "memory")
#else
#define TTS_PAUSE() __asm__ volatile("" ::: "memory")
#endif

/* Returns the upper 64 bits of the 128-bit product. */
static inline unsigned long long tts_mul_high(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)(__extension__(unsigned __int128) a * b >> 64);
}

/* Like assert(), for slow checks. Does nothing unless TTS_EXPENSIVE_CHECKS is defined (preset
 * fuzz). */
#ifdef TTS_EXPENSIVE_CHECKS
#define tts_assert_expensive(x) assert(x)
#else
#define tts_assert_expensive(x) ((void)0)
#endif
