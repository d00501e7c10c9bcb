#include "base/cpu.h"

#ifdef __x86_64__
#include <cpuid.h>

/* Returns whether the operating system saves the AVX registers of a thread. */
static bool saves_avx(void)
{
    enum { SSE_AND_AVX = 6 }; /* bits of the register that XGETBV reads */
    unsigned int low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & SSE_AND_AVX) == SSE_AND_AVX;
}
#endif

/* Asks the processor itself. __builtin_cpu_supports() would add 4.5 KB to the library, because
 * it knows every processor. */
bool tts_cpu_has_avx2(void)
{
#ifdef __x86_64__
    const unsigned int avx = bit_OSXSAVE | bit_AVX, avx2 = bit_AVX2 | bit_BMI | bit_BMI2;
    unsigned int a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & avx) != avx || !saves_avx())
        return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & avx2) != avx2)
        return false;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
#else
    return false;
#endif
}
