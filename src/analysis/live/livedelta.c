#include "analysis/live/livedelta.h"

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

/* Returns whether two devices may be the same although a unique id is missing. */
static bool may_be_same_device(const struct tts_livedevice *a, const struct tts_livedevice *b)
{
    return !(a->unique_id_known && b->unique_id_known) && a->logical_id_known &&
           b->logical_id_known && a->logical_id == b->logical_id && a->source == b->source;
}

static bool has_common_process(const struct tts_livedevice *a, const struct tts_livedevice *b)
{
    for (size_t i = 0; i < a->process_count; i++)
        for (size_t j = 0; j < b->process_count; j++)
            if (tts_liveprocess_is_same(&a->processes[i], &b->processes[j]))
                return true;
    return false;
}

/* Returns whether a program names the device, and no board has it: then the program is a part
 * of the identity of the device. */
static bool is_program_device(const struct tts_livedevice *device)
{
    return !device->unique_id_known && device->process_count > 0 &&
           device->processes[0].instance_known;
}

static const struct tts_livedevice *find_unique_id(const struct tts_liveframe *before,
                                                   const struct tts_livedevice *device)
{
    for (size_t i = 0; device->unique_id_known && i < before->device_count; i++)
        if (before->devices[i].unique_id_known &&
            before->devices[i].unique_id == device->unique_id)
            return &before->devices[i];
    return NULL;
}

const struct tts_livedevice *tts_livedelta_match(const struct tts_liveframe *before,
                                                 const struct tts_livedevice *device)
{
    const struct tts_livedevice *only = find_unique_id(before, device), *shared = NULL;
    size_t count = 0, shared_count = 0;
    if (only)
        return only;
    for (size_t i = 0; i < before->device_count; i++) {
        const struct tts_livedevice *old = &before->devices[i];
        if (!may_be_same_device(old, device))
            continue;
        bool is_other = is_program_device(old) && is_program_device(device);
        if (!is_other) {
            only = old;
            count++;
        }
        /* Programs without ids number their devices alike: the program tells them apart. */
        if (!has_common_process(old, device))
            continue;
        shared = old;
        shared_count++;
    }
    if (shared_count == 1)
        return shared;
    return count == 1 ? only : NULL;
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
