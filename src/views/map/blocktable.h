/* blocktable.h: writes the blocks of a space as text, in the form of the runtime's dump: the
 * free blocks of each size class by address, the unused ids, then all blocks by id. Addresses
 * are relative to the start of the space, as in the runtime; the heading says so. */
#pragma once

#include "device/space.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdio.h>

/* Writes the blocks. Uses `alloc` for a table during the call; NULL is the C library's
 * allocator. TTS_E_NOMEM: out of memory. The caller checks the stream for errors. */
TTS_NODISCARD enum tts_status tts_blocktable_write(const struct tts_space *space,
                                                   const struct tts_alloc *alloc, FILE *out);
