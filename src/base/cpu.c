#include "base/cpu.h"

#ifdef __x86_64__
#include <cpuid.h>

/* Reads LZCNT from the processor, because not every compiler knows "lzcnt" in
 * __builtin_cpu_supports(). */
static bool has_lzcnt(void)
{
    unsigned int a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
}
#endif

bool tts_cpu_has_avx2(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && has_lzcnt();
#else
    return false;
#endif
}
