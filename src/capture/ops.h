/* ops.h: the operation under way on the calling thread.
 * Each thread has a stack of its own; a frame belongs to a session of a tracker, and frames of
 * a session that is over do not count. Of more than TTS_OPS_DEPTH the outermost are forgotten.
 */
#pragma once

#include <stdint.h>

enum { TTS_OPS_DEPTH = 64 };

void tts_ops_push(uint64_t session, uint64_t hash);
void tts_ops_pop(uint64_t session);     /* the innermost of the session, if there is one */
uint64_t tts_ops_top(uint64_t session); /* 0: none */
