#include "base/seed.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t tts_seed(void)
{
    uint64_t seed = 0;
    const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes from the kernel */
    if (random)
        memcpy(&seed, random, sizeof seed);
    return seed;
}
