/* opstack.h: the operation under way on the calling thread.
 * Each thread has a stack of its own; a frame belongs to a session of a tracker, and frames of
 * a session that is over do not count. Of more than TTS_OPS_DEPTH the outermost are forgotten.
 */
#pragma once

#include "ttscope/event.h"

#include <stdint.h>

enum { TTS_OPS_DEPTH = 64 };

/* `is_helper`: what happens in it belongs to the operation around it (model/ophelper.h). */
void tts_ops_push(uint64_t session, uint64_t hash, bool is_helper);
/* Removes the innermost of the session and returns it; 0: there is none. */
uint64_t tts_ops_pop(uint64_t session);
/* The operation that an event belongs to: the innermost that is no helper, else the outermost.
 * 0: none. */
uint64_t tts_ops_top(uint64_t session);

/* The number of the calling thread: given at the first call, from 1, to each its own. */
uint32_t tts_ops_thread(void);
/* The same for an event of an operation; 0 for any other. */
static inline uint32_t tts_ops_thread_of(const struct tts_event *event)
{
    bool is_op = event->kind == TTS_EVENT_OP_BEGIN || event->kind == TTS_EVENT_OP_END;
    return is_op ? tts_ops_thread() : 0;
}
