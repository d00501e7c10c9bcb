#include "capture/opstack.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

struct frame {
    uint64_t session;
    uint64_t owner; /* hash of the operation that the events of this frame belong to */
};

static _Thread_local struct {
    uint32_t depth;
    struct frame frames[TTS_OPS_DEPTH];
    /* Hashes of the operations themselves, in an array of their own, because events do not need
     * them. */
    uint64_t hashes[TTS_OPS_DEPTH];
} ops;

/* Returns the number of frames up to the innermost frame of the session. Returns 0 if the
 * session has no frame. */
static uint32_t depth_of(uint64_t session)
{
    uint32_t depth = ops.depth;
    while (depth > 0 && ops.frames[depth - 1].session != session)
        depth--;
    return depth;
}

static void remove_frame(uint32_t idx)
{
    assert(idx < ops.depth);
    if (idx == --ops.depth)
        return;
    memmove(&ops.frames[idx], &ops.frames[idx + 1], (ops.depth - idx) * sizeof ops.frames[0]);
    memmove(&ops.hashes[idx], &ops.hashes[idx + 1], (ops.depth - idx) * sizeof ops.hashes[0]);
}

void tts_ops_push(uint64_t session, uint64_t hash, bool is_helper)
{
    uint64_t owner = is_helper ? tts_ops_top(session) : hash;
    if (ops.depth == TTS_OPS_DEPTH)
        remove_frame(0);
    ops.hashes[ops.depth] = hash;
    ops.frames[ops.depth++] = (struct frame){.session = session, .owner = owner ? owner : hash};
}

uint64_t tts_ops_pop(uint64_t session)
{
    uint32_t depth = depth_of(session);
    if (depth == 0)
        return 0;
    uint64_t hash = ops.hashes[depth - 1];
    remove_frame(depth - 1);
    return hash;
}

uint64_t tts_ops_top(uint64_t session)
{
    uint32_t depth = depth_of(session);
    return depth > 0 ? ops.frames[depth - 1].owner : 0;
}

uint32_t tts_ops_thread(void)
{
    static _Atomic uint32_t given;
    static _Thread_local uint32_t number;
    if (number == 0)
        number = 1 + atomic_fetch_add_explicit(&given, 1, memory_order_relaxed);
    return number;
}
