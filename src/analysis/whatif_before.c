/* whatif_before.c: what lived before the first event of a recording. */
#include "analysis/whatif_inside.h"
#include "base/error.h"
#include "base/heap.h"

#include <stdlib.h>

enum tts_status tts_whatif_add_before(struct tts_whatif *whatif, const struct tts_item *item,
                                      struct tts_error *err)
{
    if (whatif->before_count == TTS_WHATIF_LIVE_MAX)
        return tts_error_set(err, TTS_E_RANGE, "more than %d buffers live at once",
                             TTS_WHATIF_LIVE_MAX);
    void *grown = tts_alloc_grow(whatif->alloc, whatif->before, &whatif->before_capacity,
                                 whatif->before_count + 1, sizeof *whatif->before);
    if (!grown)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    whatif->before = grown;
    whatif->before[whatif->before_count++] = (struct tts_whatif_before){
        item->live, tts_whatif_op_of(whatif, item), item->event.range_count > 0};
    return TTS_OK;
}

static int by_seq(const void *a, const void *b)
{
    const struct tts_whatif_before *x = a, *y = b;
    if (x->live.seq != y->live.seq)
        return x->live.seq < y->live.seq ? -1 : 1;
    return (x->live.id > y->live.id) - (x->live.id < y->live.id);
}

static enum tts_status run_before(struct tts_whatif *whatif,
                                  const struct tts_whatif_before *before, struct tts_error *err)
{
    static const struct tts_core_range nowhere;
    const struct tts_live *live = &before->live;
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, live->device);
    size_t source;
    event.pool = live->pool;
    event.id = live->id;
    event.size_bytes = live->size_bytes;
    event.bytes_per_bank = live->bytes_per_bank;
    event.ranges = &nowhere;
    event.range_count = before->is_single;
    if (!tts_whatif_matters(whatif, &event))
        return TTS_OK;
    whatif->counts.earlier++;
    struct tts_whatif_moment when = {
        .seq = live->seq, .device = live->device, .op = before->op};
    enum tts_status status = tts_whatif_source_of(whatif, live->device, &source, err);
    return status == TTS_OK ? tts_whatif_allocate(whatif, &event, source, &when, err) : status;
}

/* In the order in which they came to be. */
enum tts_status tts_whatif_end_keyframe(struct tts_whatif *whatif, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    if (whatif->before_count > 1)
        qsort(whatif->before, whatif->before_count, sizeof *whatif->before, by_seq);
    for (size_t i = 0; i < whatif->before_count && status == TTS_OK; i++)
        status = run_before(whatif, &whatif->before[i], err);
    if (whatif->before)
        whatif->alloc->free(whatif->alloc->ctx, whatif->before,
                            whatif->before_capacity * sizeof *whatif->before);
    whatif->before = NULL;
    whatif->before_count = whatif->before_capacity = 0;
    return status;
}
