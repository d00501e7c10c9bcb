/* cpu.h: what the processor we run on can do beyond the one we are compiled for. */
#pragma once

#include <stdbool.h>

/* AVX2, BMI 1 and 2 and LZCNT: what files compiled with -mavx2 -mbmi -mbmi2 -mlzcnt need. */
bool tts_cpu_has_avx2(void);
