/* seed.h: a secret number for hash tables. The author of a file cannot predict the number, and
 * so cannot choose keys that all have the same hash. */
#pragma once

#include <stdint.h>

/* Returns the secret number. It is the same for the life of the process. */
uint64_t tts_seed(void);
