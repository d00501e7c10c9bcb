/* collective.h: operations over the chips of a mesh, as one chip sees them: they allocate the
 * same buffers in the same order. docs/design/runtime.md lists the buffers. Inputs are
 * borrowed. The caller owns the result. One thread at a time. */
#pragma once

#include "runtime/tensor.h"

enum { TTS_CHIPS_MAX = 1024 }; /* largest number of chips on one axis of a mesh */

/* Returns the sum of the tensors of `chips` chips (from 1 to TTS_CHIPS_MAX). The sum has the
 * dtype and layout of `tensor`. Up to 2 * chips temporary buffers are allocated and freed. */
struct tts_tensor tts_collective_all_reduce(struct tts_runtime *rt, struct tts_tensor tensor,
                                            uint64_t chips);

/* Returns the columns of all chips side by side: `chips` tensors [B,1,S,1] become one tensor
 * [B,1,S,chips]. */
struct tts_tensor tts_collective_gather_columns(struct tts_runtime *rt,
                                                struct tts_tensor column, uint64_t chips);
