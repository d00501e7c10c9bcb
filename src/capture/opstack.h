/* opstack.h: a stack of the operations in progress on the calling thread. Each thread has its
 * own stack. A session is the time during which a tracker has listeners. Each frame of the
 * stack belongs to a session; frames of a session that has ended are ignored. If there are more
 * than TTS_OPS_DEPTH frames, the outermost frames are dropped. */
#pragma once

#include "ttscope/event.h"

#include <stdint.h>

enum { TTS_OPS_DEPTH = 64 };

/* Begins an operation. If `is_helper` is true, its events belong to the operation around it
 * (model/ophelper.h). */
void tts_ops_push(uint64_t session, uint64_t hash, bool is_helper);
/* Ends the innermost operation of the session and returns its hash. Returns 0 if there is
 * none. */
uint64_t tts_ops_pop(uint64_t session);
/* Returns the hash of the operation that an event belongs to: the innermost operation that is
 * not a helper, or the outermost operation if all are helpers. Returns 0 if there is no
 * operation. */
uint64_t tts_ops_top(uint64_t session);

/* Returns the number of the calling thread. Each thread gets its own number at its first call,
 * counting from 1. */
uint32_t tts_ops_thread(void);
/* Returns the number of the calling thread if the event is an OP_BEGIN or OP_END, otherwise
 * 0. */
static inline uint32_t tts_ops_thread_of(const struct tts_event *event)
{
    bool is_op = event->kind == TTS_EVENT_OP_BEGIN || event->kind == TTS_EVENT_OP_END;
    return is_op ? tts_ops_thread() : 0;
}
