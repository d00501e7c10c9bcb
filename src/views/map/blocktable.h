/* blocktable.h: the blocks of a space as text, in the form the runtime dumps them: the free
 * blocks of each size class by address, the ids out of use, then all blocks by id. Addresses
 * are relative to the first byte of the space, as the runtime has them; the heading says so. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/space.h"
#include "ttscope/status.h"

#include <stdio.h>

/* `alloc` is for the table while it is written, NULL means the C library's. TTS_E_NOMEM; errors
 * of writing are the stream's. */
TTS_NODISCARD enum tts_status tts_blocktable_write(const struct tts_space *space,
                                                   const struct tts_alloc *alloc, FILE *out);
