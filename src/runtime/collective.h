/* collective.h: operations over the chips of a mesh, as one chip sees them: the buffers that
 * they allocate, in order. docs/design/runtime.md lists them. Inputs are borrowed. The caller
 * owns the output. One thread. */
#pragma once

#include "runtime/tensor.h"

enum { TTS_CHIPS_MAX = 1024 }; /* largest number of chips on one axis of a mesh */

/* Returns the sum of the tensors of `chips` chips (1 .. TTS_CHIPS_MAX), in the dtype and layout
 * of `tensor`. Allocates up to 2 * chips temporary buffers and frees them. */
struct tts_tensor tts_collective_all_reduce(struct tts_runtime *rt, struct tts_tensor tensor,
                                            uint64_t chips);

/* Returns the columns [B,1,S,1] of `chips` chips side by side: [B,1,S,chips]. */
struct tts_tensor tts_collective_gather_columns(struct tts_runtime *rt,
                                                struct tts_tensor column, uint64_t chips);
