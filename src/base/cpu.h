/* cpu.h: features of the current processor that the build does not require. */
#pragma once

#include <stdbool.h>

/* Returns whether the processor has AVX2, BMI 1, BMI 2 and LZCNT. Code compiled with -mavx2
 * -mbmi -mbmi2 -mlzcnt needs all four. */
bool tts_cpu_has_avx2(void);
