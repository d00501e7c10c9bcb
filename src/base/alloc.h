/* alloc.h: the C library's memory as a struct tts_alloc. The only door to malloc. */
#pragma once

#include "ttscope/alloc.h"

const struct tts_alloc *tts_alloc_libc(void);
