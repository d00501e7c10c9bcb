/* seed.h: a number that who writes a file cannot foresee, for tables that are found by hashing:
 * keys of a file cannot be chosen to meet in them. */
#pragma once

#include <stdint.h>

/* The same for the life of a process. */
uint64_t tts_seed(void);
