/* seed.h: a number that the author of a file cannot predict, for hash tables: the keys in a
 * file cannot be chosen to collide. */
#pragma once

#include <stdint.h>

/* Returns the seed. It is constant for the life of a process. */
uint64_t tts_seed(void);
