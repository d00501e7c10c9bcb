#include "analysis/questions/pressure.h"

#include <assert.h>
#include <string.h>

/* Compares by division, because the numbers are foreign and their product can wrap. */
static bool is_share_at_least(uint64_t used, uint64_t total, uint64_t percent)
{
    return used >= total / 100 * percent + total % 100 * percent / 100;
}

bool tts_pressure_is_critical(uint64_t used, uint64_t total)
{
    return total > 0 && used > 0 && is_share_at_least(used, total, TTS_PRESSURE_PERCENT);
}

void tts_liveowner_set(struct tts_liveowner *owner, const struct tts_liveprocess *process)
{
    *owner = (struct tts_liveowner){.pid_known = process->pid_known};
    if (process->pid_known)
        owner->pid = process->pid;
    else if (process->container_pid_known)
        owner->pid = process->container_pid;
    memccpy(owner->name, process->name, '\0', sizeof owner->name - 1);
}

/* Adds a process to the owners if it is among the largest. */
static void add_pressure_owner(struct tts_livepressure *pressure,
                               const struct tts_liveprocess *process, uint64_t bytes)
{
    size_t at = pressure->owner_count;
    if (at == TTS_LIVEPRESSURE_OWNERS && pressure->owners[at - 1].bytes >= bytes)
        return;
    if (at == TTS_LIVEPRESSURE_OWNERS)
        at--;
    else
        pressure->owner_count++;
    for (; at > 0 && pressure->owners[at - 1].bytes < bytes; at--)
        pressure->owners[at] = pressure->owners[at - 1];
    pressure->owners[at].bytes = bytes;
    tts_liveowner_set(&pressure->owners[at].owner, process);
}

static void find_pressure_owners(struct tts_livepressure *pressure,
                                 const struct tts_livedevice *device)
{
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        uint64_t bytes = process->counters.bytes[pressure->pool];
        if (process->counters.known >> pressure->pool & 1 && bytes > 0 &&
            process->state != TTS_LIVEPROCESS_DEAD)
            add_pressure_owner(pressure, process, bytes);
    }
}

/* ---- buffers that could move ---- */

struct move_search {
    struct tts_livepressure *pressure;
    const struct tts_liveprocess *process;
    size_t all;
};

static void visit_move(void *ctx, const struct tts_pressurebuffer *buffer)
{
    struct move_search *search = ctx;
    struct tts_livepressure *pressure = search->pressure;
    size_t at = pressure->move_count;
    if (buffer->pool != TTS_POOL_L1 || buffer->is_sharded || buffer->has_cb ||
        buffer->size_bytes == 0)
        return;
    search->all++;
    if (__builtin_add_overflow(pressure->moves_bytes, buffer->size_bytes,
                               &pressure->moves_bytes))
        pressure->moves_bytes = UINT64_MAX;
    if (at == TTS_LIVEPRESSURE_MOVES &&
        pressure->moves[at - 1].size_bytes >= buffer->size_bytes)
        return;
    if (at == TTS_LIVEPRESSURE_MOVES)
        at--;
    else
        pressure->move_count++;
    for (; at > 0 && pressure->moves[at - 1].size_bytes < buffer->size_bytes; at--)
        pressure->moves[at] = pressure->moves[at - 1];
    struct tts_livemove *move = &pressure->moves[at];
    move->address_known = buffer->address_known;
    move->id = buffer->id;
    move->address = buffer->address;
    move->size_bytes = buffer->size_bytes;
    tts_liveowner_set(&move->owner, search->process);
}

static void find_moves(struct tts_livepressure *pressure, const struct tts_livedevice *device,
                       const struct tts_pressuretable *table)
{
    struct move_search search = {.pressure = pressure};
    for (size_t i = 0; i < device->process_count; i++) {
        search.process = &device->processes[i];
        if (search.process->state != TTS_LIVEPROCESS_DEAD)
            pressure->moves_known |=
                table->each(table->ctx, search.process, visit_move, &search);
    }
    pressure->moves_unlisted = search.all - pressure->move_count;
}

/* ---- a device ---- */

/* Returns the bytes that live processes hold. Returns false if they are unknown. */
static bool pressure_used(const struct tts_livepool *pool, uint64_t *used)
{
    if (!pool->allocated_known || !pool->total_known)
        return false;
    *used = pool->allocated_bytes > pool->left_over_bytes
                ? pool->allocated_bytes - pool->left_over_bytes
                : 0;
    return true;
}

static bool dram_has_room(const struct tts_livedevice *device)
{
    const struct tts_livepool *dram = &device->pools[TTS_POOL_DRAM];
    uint64_t used;
    return pressure_used(dram, &used) && dram->total_bytes > 0 &&
           !is_share_at_least(used, dram->total_bytes, TTS_PRESSURE_DRAM_PERCENT);
}

void tts_pressure_judge(struct tts_livedevice *device, const struct tts_pressuretable *table)
{
    struct tts_liveanswers *answers = &device->answers;
    answers->pressure_count = 0;
    for (size_t i = 0; i < TTS_POOLS; i++) {
        struct tts_livepool pool = device->pools[i];
        uint64_t used;
        if (!pressure_used(&pool, &used))
            continue;
        answers->pressure_known = true;
        if (!tts_pressure_is_critical(used, pool.total_bytes))
            continue;
        struct tts_livepressure *pressure = &answers->pressure[answers->pressure_count++];
        *pressure = (struct tts_livepressure){.pool = (enum tts_pool)i};
        pool.allocated_bytes = used;
        (void)!tts_livepool_share(&pool, &pressure->millionths);
        find_pressure_owners(pressure, device);
        pressure->dram_has_room = i == TTS_POOL_L1 && dram_has_room(device);
        if (pressure->dram_has_room && table)
            find_moves(pressure, device, table);
    }
}
