/* opstack.h: the current operations of the calling thread.
 * Each thread has its own stack. A frame belongs to a session of a tracker; frames of a session
 * that has ended do not count. If there are more than TTS_OPS_DEPTH frames, the outermost are
 * dropped. */
#pragma once

#include "ttscope/event.h"

#include <stdint.h>

enum { TTS_OPS_DEPTH = 64 };

/* Begins an operation. `is_helper`: its events belong to the operation around it
 * (model/ophelper.h). */
void tts_ops_push(uint64_t session, uint64_t hash, bool is_helper);
/* Ends the innermost operation of the session and returns its hash, 0 if there is none. */
uint64_t tts_ops_pop(uint64_t session);
/* Returns the operation that an event belongs to: the innermost that is not a helper, otherwise
 * the outermost. 0: there is none. */
uint64_t tts_ops_top(uint64_t session);

/* Returns the number of the calling thread. Each thread gets its own number at its first call,
 * counting from 1. */
uint32_t tts_ops_thread(void);
/* Returns the number of the calling thread for an event of an operation, 0 for any other
 * event. */
static inline uint32_t tts_ops_thread_of(const struct tts_event *event)
{
    bool is_op = event->kind == TTS_EVENT_OP_BEGIN || event->kind == TTS_EVENT_OP_END;
    return is_op ? tts_ops_thread() : 0;
}
