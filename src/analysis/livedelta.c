#include "analysis/livedelta.h"

bool tts_livedevice_sum(const struct tts_livedevice *device, uint64_t *out)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TTS_POOLS; i++) {
        const struct tts_livepool *pool = &device->pools[i];
        if (!pool->allocated_known || pool->allocated_bytes > UINT64_MAX - sum)
            return false;
        sum += pool->allocated_bytes;
    }
    *out = sum;
    return true;
}

bool tts_livedevice_buffers(const struct tts_livedevice *device, uint64_t *out)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TTS_POOLS; i++) {
        const struct tts_livepool *pool = &device->pools[i];
        if (!pool->buffers_known || pool->buffers > UINT64_MAX - sum)
            return false;
        sum += pool->buffers;
    }
    *out = sum;
    return true;
}

static bool is_same_device(const struct tts_livedevice *a, const struct tts_livedevice *b)
{
    if (a->unique_id_known && b->unique_id_known)
        return a->unique_id == b->unique_id;
    return a->logical_id_known && b->logical_id_known && a->logical_id == b->logical_id &&
           a->source == b->source;
}

const struct tts_livedevice *tts_livedelta_match(const struct tts_liveframe *before,
                                                 const struct tts_livedevice *device)
{
    const struct tts_livedevice *found = NULL;
    for (size_t i = 0; i < before->device_count; i++) {
        if (!is_same_device(&before->devices[i], device))
            continue;
        if (found)
            return NULL;
        found = &before->devices[i];
    }
    return found;
}

/* Subtracts numbers that other programs wrote. Returns false if the difference has no place in
 * 64 bits with a sign. */
static bool subtract_foreign(uint64_t now, uint64_t before, int64_t *out)
{
    uint64_t distance = now > before ? now - before : before - now;
    if (distance > INT64_MAX)
        return false;
    *out = now > before ? (int64_t)distance : -(int64_t)distance;
    return true;
}

void tts_livedelta_of(const struct tts_liveframe *before, const struct tts_livedevice *device,
                      struct tts_livedelta *out)
{
    const struct tts_livedevice *old = before ? tts_livedelta_match(before, device) : NULL;
    uint64_t now_sum, old_sum;
    *out = (struct tts_livedelta){0};
    if (!old)
        return;
    for (size_t i = 0; i < TTS_POOLS; i++) {
        const struct tts_livepool *a = &device->pools[i], *b = &old->pools[i];
        out->allocated_known[i] =
            a->allocated_known && b->allocated_known &&
            subtract_foreign(a->allocated_bytes, b->allocated_bytes, &out->allocated_bytes[i]);
    }
    out->sum_known = tts_livedevice_sum(device, &now_sum) &&
                     tts_livedevice_sum(old, &old_sum) &&
                     subtract_foreign(now_sum, old_sum, &out->sum_bytes);
    out->buffers_known = tts_livedevice_buffers(device, &now_sum) &&
                         tts_livedevice_buffers(old, &old_sum) &&
                         subtract_foreign(now_sum, old_sum, &out->buffers);
}
