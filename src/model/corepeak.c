#include "model/corepeak.h"

#include "model/opnames.h"

#include <assert.h>
#include <string.h>

/* Returns whether `a` is listed after `b`. No two parts are equal in this order, because no two
 * parts of a core have the same seq. */
static bool is_lesser_part(const struct tts_held_part *a, const struct tts_held_part *b)
{
    return a->bytes < b->bytes || (a->bytes == b->bytes && a->seq > b->seq);
}

/* Moves the part at the top of a heap of `count` parts down to its place. */
static void sink_part(struct tts_held_part *heap, uint32_t count)
{
    struct tts_held_part part = heap[0];
    uint32_t at = 0;
    for (uint32_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_lesser_part(&heap[child + 1], &heap[child]))
            child++;
        if (!is_lesser_part(&heap[child], &part))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = part;
}

static void swim_part(struct tts_held_part *heap, uint32_t at)
{
    struct tts_held_part part = heap[at];
    while (at > 0 && is_lesser_part(&part, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = part;
}

void tts_corepeak_start(struct tts_corepeak *peak, const struct tts_cores *cores, uint64_t seq)
{
    tts_cores_sum(cores, &peak->sum);
    peak->seq = seq;
    peak->op = TTS_OPNAMES_NONE;
    peak->count = 0;
}

void tts_corepeak_raise(struct tts_corepeak *peak, const struct tts_cores *cores, uint64_t seq,
                        uint32_t op)
{
    assert(tts_cores_bytes(cores) > peak->sum.bytes);
    assert(seq >= peak->seq);
    tts_corepeak_start(peak, cores, seq);
    peak->op = op;
    assert(peak->sum.parts > 0);
}

void tts_corepeak_keep(struct tts_corepeak *peak, const struct tts_held_part *part)
{
    assert(tts_corepeak_had(peak, part->seq));
    assert(part->bytes > 0 && part->bytes <= peak->sum.bytes);
    assert(peak->count <= TTS_CORE_PARTS_MAX && peak->count <= peak->sum.parts);
    if (peak->count < TTS_CORE_PARTS_MAX) {
        peak->part[peak->count] = *part;
        swim_part(peak->part, peak->count++);
    } else if (is_lesser_part(&peak->part[0], part)) {
        peak->part[0] = *part;
        sink_part(peak->part, peak->count);
    }
}

void tts_corepeak_sort(struct tts_corepeak *peak)
{
    /* Heap sort: moves the smallest part to the end of the heap, again and again. */
    for (uint32_t count = peak->count; count > 1; count--) {
        struct tts_held_part least = peak->part[0];
        peak->part[0] = peak->part[count - 1];
        peak->part[count - 1] = least;
        sink_part(peak->part, count - 1);
    }
}

void tts_corepeak_copy(struct tts_corepeak *to, const struct tts_corepeak *from)
{
    assert(to->part != from->part);
    struct tts_held_part *part = to->part;
    memcpy(part, from->part, from->count * sizeof *part);
    *to = *from;
    to->part = part;
}
