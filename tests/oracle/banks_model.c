#include "oracle/banks_model.h"
#include "device/space.h"

#include <string.h>

static uint64_t size_of(const struct banks_model *m)
{
    return m->config.size_bytes;
}

static uint64_t rounded(const struct banks_model *m, uint64_t bytes)
{
    uint64_t need = m->config.block_alignment_bytes;
    while (need < bytes)
        need += m->config.block_alignment_bytes;
    return need;
}

uint64_t banks_model_next(const struct banks_model *m, uint32_t allocator, uint64_t from)
{
    while (from < size_of(m) && m->maps[allocator].block[from] == 0)
        from++;
    return from;
}

uint64_t banks_model_end(const struct banks_model *m, uint32_t allocator, uint64_t at)
{
    uint64_t end = at;
    while (end < size_of(m) && m->maps[allocator].block[end] == m->maps[allocator].block[at])
        end++;
    return end;
}

static bool is_free(const struct banks_model *m, uint32_t allocator, uint64_t start,
                    uint64_t bytes)
{
    if (start < m->shrunk_bytes || start > size_of(m) || bytes > size_of(m) - start)
        return false;
    for (uint64_t i = start; i < start + bytes; i++) {
        if (m->maps[allocator].block[i] != 0)
            return false;
    }
    return true;
}

static void mark(struct banks_model *m, uint32_t allocator, uint64_t start, uint64_t bytes,
                 bool left)
{
    struct banks_map *map = &m->maps[allocator];
    map->next = map->next == UINT16_MAX ? 1 : (uint16_t)(map->next + 1);
    for (uint64_t i = start; i < start + bytes; i++) {
        map->block[i] = map->next;
        map->left[i] = left;
    }
    if (!left && (!map->has_lowest || start < map->lowest)) {
        map->has_lowest = true;
        map->lowest = start;
    }
}

static void note_taken(struct banks_model *m, uint64_t end)
{
    if (m->is_watched && end > m->water.taken_end)
        m->water.taken_end = end;
}

static bool is_alone(const struct banks_model *m, uint32_t allocator)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->is_linked[allocator][i])
            return false;
    }
    return true;
}

/* Takes the lowest or highest place where the rounded bytes are free. */
static enum tts_status take_alone(struct banks_model *m, const struct tts_banks_wish *take,
                                  uint64_t *address)
{
    uint64_t need = rounded(m, take->bytes), found = UINT64_MAX;
    for (uint64_t at = 0; at < size_of(m); at++) {
        if (is_free(m, take->allocator, at, need) &&
            (take->direction == TTS_DIRECTION_DOWN || found == UINT64_MAX))
            found = at;
    }
    if (found == UINT64_MAX)
        return TTS_E_FULL;
    *address = m->config.offset_bytes + found;
    bool below = *address < take->limit;
    mark(m, take->allocator, found, need, below);
    return below ? TTS_E_BELOW_LIMIT : TTS_OK;
}

/* Sets allowed[i] for each byte that the take may use. */
static void allow(const struct banks_model *m, const struct tts_banks_wish *take, bool *allowed)
{
    const uint32_t own = take->allocator;
    for (uint64_t i = 0; i < size_of(m); i++) {
        uint64_t start = i, address = m->config.offset_bytes + i;
        allowed[i] = m->maps[own].block[i] == 0 && address >= take->limit;
        if (!allowed[i])
            continue;
        while (start > 0 && m->maps[own].block[start - 1] == 0)
            start--;
        if (banks_model_end(m, own, i) - start < rounded(m, take->bytes))
            allowed[i] = false;
        for (uint32_t k = 0; k < m->count; k++) {
            if (m->is_linked[own][k] && m->maps[k].block[i] != 0)
                allowed[i] = false;
        }
        for (size_t k = 0; k < take->taken_count; k++) {
            if (address >= take->taken[k].start && address < take->taken[k].end)
                allowed[i] = false;
        }
    }
}

/* Takes the lowest or highest place in any run of allowed bytes. */
static enum tts_status take_between(struct banks_model *m, const struct tts_banks_wish *take,
                                    uint64_t *address)
{
    bool allowed[BANKS_MODEL_BYTES + 1] = {false};
    allow(m, take, allowed);
    uint64_t found = UINT64_MAX;
    for (uint64_t start = 0, end; start < size_of(m); start = end + 1) {
        for (end = start; allowed[end];)
            end++;
        if (end == start || end - start < take->bytes)
            continue;
        if (take->direction == TTS_DIRECTION_DOWN)
            found = end - take->bytes;
        else if (found == UINT64_MAX)
            found = start;
    }
    if (found == UINT64_MAX)
        return TTS_E_FULL;
    uint64_t absolute = m->config.offset_bytes + found, need = rounded(m, take->bytes);
    if (absolute % m->config.page_alignment_bytes != 0 ||
        !is_free(m, take->allocator, found, need))
        return TTS_E_INVALID;
    mark(m, take->allocator, found, need, false);
    *address = absolute;
    return TTS_OK;
}

enum tts_status banks_model_take(struct banks_model *m, const struct tts_banks_wish *take,
                                 uint64_t *address)
{
    if (take->allocator >= m->count)
        return TTS_E_INVALID;
    if (take->bytes > size_of(m))
        return TTS_E_FULL;
    enum tts_status status = is_alone(m, take->allocator) ? take_alone(m, take, address)
                                                          : take_between(m, take, address);
    if (status == TTS_OK)
        note_taken(m, *address + take->bytes);
    return status;
}

static enum tts_status take_at(struct banks_model *m, uint32_t allocator, uint64_t address,
                               uint64_t bytes)
{
    uint64_t offset = m->config.offset_bytes;
    if (address < offset || bytes > size_of(m) ||
        !is_free(m, allocator, address - offset, rounded(m, bytes)))
        return TTS_E_FULL;
    mark(m, allocator, address - offset, rounded(m, bytes), false);
    return TTS_OK;
}

enum tts_status banks_model_take_at(struct banks_model *m, uint32_t allocator, uint64_t address,
                                    uint64_t bytes)
{
    if (allocator >= m->count)
        return TTS_E_INVALID;
    enum tts_status status = take_at(m, allocator, address, bytes);
    if (status == TTS_OK)
        note_taken(m, address + bytes);
    return status;
}

/* Frees the block at a relative address without updating the water marks. */
static void drop(struct banks_model *m, uint32_t allocator, uint64_t at)
{
    struct banks_map *map = &m->maps[allocator];
    for (uint64_t i = at, end = banks_model_end(m, allocator, at); i < end; i++) {
        map->block[i] = 0;
        map->left[i] = false;
    }
    if (map->has_lowest && at <= map->lowest) {
        map->lowest = banks_model_next(m, allocator, at);
        map->has_lowest = map->lowest < size_of(m);
    }
}

static bool is_start(const struct banks_model *m, uint32_t allocator, uint64_t at)
{
    const uint16_t *block = m->maps[allocator].block;
    return at < size_of(m) && block[at] != 0 && (at == 0 || block[at - 1] != block[at]);
}

enum tts_status banks_model_give(struct banks_model *m, uint32_t allocator, uint64_t address)
{
    if (allocator >= m->count)
        return TTS_E_INVALID;
    uint64_t at = address - m->config.offset_bytes;
    if (address < m->config.offset_bytes || !is_start(m, allocator, at))
        return TTS_E_NOT_FOUND;
    uint64_t end = m->config.offset_bytes + banks_model_end(m, allocator, at);
    if (m->is_watched && end > m->water.given_end)
        m->water.given_end = end;
    drop(m, allocator, at);
    return TTS_OK;
}

static void give_known(struct banks_model *m, uint32_t allocator)
{
    for (uint64_t at = 0; at < size_of(m); at++) {
        if (is_start(m, allocator, at) && !m->maps[allocator].left[at])
            drop(m, allocator, at);
    }
}

void banks_model_give_all(struct banks_model *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        give_known(m, i);
}

void banks_model_clear(struct banks_model *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        memset(m->maps[i].block, 0, sizeof m->maps[i].block);
        memset(m->maps[i].left, 0, sizeof m->maps[i].left);
    }
    m->shrunk_bytes = 0;
}

enum tts_status banks_model_shrink(struct banks_model *m, uint64_t bytes)
{
    if (m->count > 1)
        return TTS_E_INVALID;
    if (bytes > size_of(m) - m->shrunk_bytes)
        return TTS_E_RANGE;
    if (!is_free(m, 0, m->shrunk_bytes, bytes))
        return TTS_E_BUSY;
    m->shrunk_bytes += bytes;
    return TTS_OK;
}

enum tts_status banks_model_unshrink(struct banks_model *m)
{
    if (m->count > 1)
        return TTS_E_INVALID;
    m->shrunk_bytes = 0;
    return TTS_OK;
}

enum tts_status banks_model_override(struct banks_model *m, const struct tts_range *ranges,
                                     size_t count)
{
    const struct banks_map before = m->maps[0];
    give_known(m, 0);
    for (size_t i = 0; i < count; i++) {
        if (take_at(m, 0, ranges[i].start, ranges[i].end - ranges[i].start) != TTS_OK) {
            m->maps[0] = before;
            return TTS_E_FULL;
        }
    }
    return TTS_OK;
}
