#include "analysis/questions/levels.h"

#include <assert.h>

static uint32_t index_of_device(struct tts_levels *levels, uint32_t id)
{
    uint32_t idx = levels->last;
    if (idx < levels->device_count && levels->devices[idx].id == id)
        return idx;
    for (idx = 0; idx < levels->device_count; idx++)
        if (levels->devices[idx].id == id)
            break;
    if (idx == levels->device_count) {
        assert(idx < TTS_FOLD_DEVICES_MAX);
        levels->devices[levels->device_count++] = (struct tts_device_level){.id = id};
    }
    levels->last = idx;
    return idx;
}

/* count_level_come() counts a buffer that comes, count_level_left() a buffer that leaves, in
 * one level. Both are called for the device and for the total. */
static void count_level_come(struct tts_pool_level *level, const struct tts_change *change)
{
    uint64_t bytes = tts_live_bytes(&change->came);
    if (change->is_unlisted) {
        level->loose_bytes += bytes;
    } else {
        level->listed_bytes += bytes;
        level->buffers++;
    }
}

static void count_level_left(struct tts_pool_level *level, const struct tts_change *change)
{
    uint64_t bytes = tts_live_bytes(&change->left);
    if (change->has_unseen) {
        level->loose_bytes -= bytes;
    } else {
        assert(level->buffers > 0);
        level->listed_bytes -= bytes;
        level->buffers--;
    }
}

static struct tts_pool_level *level_of_live(struct tts_levels *levels,
                                            const struct tts_live *live)
{
    assert((unsigned)live->pool < TTS_POOLS);
    return &levels->devices[index_of_device(levels, live->device)].pools[live->pool];
}

void tts_levels_change(struct tts_levels *levels, const struct tts_change *change)
{
    if (change->has_chip) {
        uint32_t mesh = index_of_device(levels, change->mesh);
        levels->devices[index_of_device(levels, change->chip)].mesh = (uint16_t)(mesh + 1);
    }
    if (change->has_left || change->has_unseen) {
        count_level_left(level_of_live(levels, &change->left), change);
        count_level_left(&levels->total[change->left.pool], change);
    }
    if (change->has_come) {
        count_level_come(level_of_live(levels, &change->came), change);
        count_level_come(&levels->total[change->came.pool], change);
    }
}

static void add_pool_level(struct tts_level *level, const struct tts_pool_level *pool)
{
    level->bytes = (int64_t)((uint64_t)level->bytes + pool->listed_bytes + pool->loose_bytes);
    level->loose_bytes = (int64_t)((uint64_t)level->loose_bytes + pool->loose_bytes);
    level->buffers += pool->buffers;
}

static struct tts_level level_of_device(const struct tts_levels *levels, uint32_t idx,
                                        enum tts_pool pool)
{
    const struct tts_device_level *device = &levels->devices[idx];
    struct tts_level level = {.has_device = true, .device = device->id};
    add_pool_level(&level, &device->pools[pool]);
    if (device->mesh > 0) {
        const struct tts_device_level *mesh = &levels->devices[device->mesh - 1];
        level.has_mesh = true;
        level.mesh = mesh->id;
        add_pool_level(&level, &mesh->pools[pool]);
    }
    return level;
}

struct tts_level tts_levels_of(const struct tts_levels *levels, enum tts_pool pool)
{
    struct tts_level most = {0};
    if (!tts_pool_is_l1(pool)) {
        add_pool_level(&most, &levels->total[pool]);
        return most;
    }
    for (uint32_t i = 0; i < levels->device_count; i++) {
        struct tts_level level = level_of_device(levels, i, pool);
        bool is_before =
            level.has_mesh != most.has_mesh ? !level.has_mesh : level.device < most.device;
        if (i == 0 || level.bytes > most.bytes || (level.bytes == most.bytes && is_before))
            most = level;
    }
    return most;
}

struct tts_level tts_levels_of_device(const struct tts_levels *levels, uint32_t device,
                                      enum tts_pool pool)
{
    for (uint32_t i = 0; i < levels->device_count; i++)
        if (levels->devices[i].id == device)
            return level_of_device(levels, i, pool);
    return (struct tts_level){.has_device = true, .device = device};
}

struct tts_level tts_level_listed(struct tts_level level)
{
    level.bytes = (int64_t)((uint64_t)level.bytes - (uint64_t)level.loose_bytes);
    level.loose_bytes = 0;
    return level;
}

bool tts_level_has(const struct tts_level *level, const struct tts_live *live)
{
    return !level->has_device || live->device == level->device ||
           (level->has_mesh && live->device == level->mesh);
}
