#include "oracle/model.h"
#include "device/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t nowhere = SIZE_MAX; /* stands for no block */

/* --- sizes ------------------------------------------------------------------------------ */

bool model_need(const struct model *model, uint64_t bytes, uint64_t *need)
{
    uint64_t alignment = model->config.alignment_bytes;
    uint64_t wanted = bytes > model->config.min_bytes ? bytes : model->config.min_bytes;
    uint64_t past = wanted % alignment;
    uint64_t missing = past == 0 ? 0 : alignment - past;
    if (wanted > UINT64_MAX - missing)
        return false;
    *need = wanted + missing;
    return true;
}

/* Like model_need(), but returns false for 0 bytes: an empty block cannot be taken. */
static bool need_of_block(const struct model *model, uint64_t bytes, uint64_t *need)
{
    return model_need(model, bytes, need) && *need > 0;
}

/* Returns the number of size classes. It depends on the initial size; a shrink does not change
 * it. */
static unsigned class_count(const struct model *model)
{
    unsigned bits = 0;
    for (uint64_t kib = model->config.size_bytes / 1024; kib > 0; kib /= 2)
        bits++;
    if (bits < 2)
        return 2;
    return bits > 18 ? 18 : bits;
}

/* Returns the size class. Class 0 is below 2 KiB, class k is [2^k KiB, 2^(k+1) KiB), the last
 * class has no upper limit. */
static unsigned class_of(const struct model *model, uint64_t bytes)
{
    unsigned class_idx = 0;
    for (uint64_t kib = bytes / 1024; kib >= 2; kib /= 2)
        class_idx++;
    unsigned last = class_count(model) - 1;
    return class_idx < last ? class_idx : last;
}

/* --- block ids -------------------------------------------------------------------------- */

static uint32_t id_take(struct model *model)
{
    if (model->retired_count > 0)
        return model->retired[--model->retired_count];
    return model->next_id++;
}

static void id_retire(struct model *model, uint32_t id)
{
    model->retired[model->retired_count++] = id;
}

/* --- the array of blocks ---------------------------------------------------------------- */

static uint64_t end_of(const struct model_block *block)
{
    return block->start + block->size_bytes;
}

static void insert(struct model *model, size_t at, struct model_block block)
{
    if (model->count == MODEL_MAX_BLOCKS) {
        fprintf(stderr, "model: more than %d blocks\n", (int)MODEL_MAX_BLOCKS);
        abort();
    }
    for (size_t i = model->count; i > at; i--)
        model->blocks[i] = model->blocks[i - 1];
    model->blocks[at] = block;
    model->count++;
}

static void erase(struct model *model, size_t at)
{
    model->count--;
    for (size_t i = at; i < model->count; i++)
        model->blocks[i] = model->blocks[i + 1];
}

static size_t taken_at(const struct model *model, uint64_t address)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct model_block *block = &model->blocks[i];
        if (block->taken && block->start + model->config.offset_bytes == address)
            return i;
    }
    return nowhere;
}

/* Returns the index of the first taken block at or after index `from`. */
static size_t taken_from(const struct model *model, size_t from)
{
    for (size_t i = from; i < model->count; i++) {
        if (model->blocks[i].taken)
            return i;
    }
    return nowhere;
}

static bool fits(const struct model_block *block, uint64_t need)
{
    return !block->taken && block->size_bytes >= need;
}

/* --- choosing a block ------------------------------------------------------------------- */

/* Returns the lowest class with a fitting block, or class_count() if there is none. */
static unsigned best_class(const struct model *model, uint64_t need)
{
    unsigned lowest = class_count(model);
    for (size_t i = 0; i < model->count; i++) {
        const struct model_block *block = &model->blocks[i];
        if (fits(block, need) && class_of(model, block->size_bytes) < lowest)
            lowest = class_of(model, block->size_bytes);
    }
    return lowest;
}

/* Chooses a free block. Both policies take the fitting block nearest to the chosen end. BEST
 * considers only blocks of the lowest class that has a fitting block. */
static size_t choose(const struct model *model, uint64_t need, enum tts_direction direction)
{
    bool best = model->config.policy == TTS_POLICY_BEST;
    unsigned class_idx = best ? best_class(model, need) : 0;
    size_t chosen = nowhere;
    for (size_t i = 0; i < model->count; i++) {
        const struct model_block *block = &model->blocks[i];
        if (!fits(block, need) || (best && class_of(model, block->size_bytes) != class_idx))
            continue;
        if (direction == TTS_DIRECTION_DOWN || chosen == nowhere)
            chosen = i;
    }
    return chosen;
}

/* Takes [start, start + need) from the free block `at`. The taken part keeps the id. Then the
 * rest below gets an id, then the rest above. */
static void carve(struct model *model, size_t at, uint64_t start, uint64_t need)
{
    struct model_block whole = model->blocks[at];
    uint64_t left_bytes = start - whole.start;
    uint64_t right_bytes = whole.size_bytes - left_bytes - need;
    model->blocks[at] = (struct model_block){start, need, whole.id, true};
    if (left_bytes > 0) {
        insert(model, at, (struct model_block){whole.start, left_bytes, id_take(model), false});
        at++;
    }
    if (right_bytes > 0) {
        struct model_block right = {start + need, right_bytes, id_take(model), false};
        insert(model, at + 1, right);
    }
}

static void lowest_after_take(struct model *model, uint64_t start)
{
    if (!model->has_lowest || start < model->lowest)
        model->lowest = start;
    model->has_lowest = true;
}

/* --- changes ---------------------------------------------------------------------------- */

static void one_free_block(struct model *model)
{
    model->shrunk_bytes = 0;
    model->next_id = 0;
    model->retired_count = 0;
    model->count = 0;
    uint64_t size_bytes = model->config.size_bytes;
    insert(model, 0, (struct model_block){0, size_bytes, id_take(model), false});
}

void model_init(struct model *model, const struct tts_space_config *config)
{
    model->config = *config;
    model->has_lowest = false;
    model->lowest = 0;
    one_free_block(model);
}

/* Clears the space. The reported lowest address stays: quirk 3 of the reference. */
void model_clear(struct model *model)
{
    one_free_block(model);
}

enum tts_status model_take(struct model *model, uint64_t bytes, enum tts_direction direction,
                           uint64_t limit, uint64_t *address)
{
    uint64_t need;
    if (!need_of_block(model, bytes, &need))
        return TTS_E_FULL;
    size_t at = choose(model, need, direction);
    if (at == nowhere)
        return TTS_E_FULL;
    const struct model_block *block = &model->blocks[at];
    uint64_t start = direction == TTS_DIRECTION_UP ? block->start : end_of(block) - need;
    carve(model, at, start, need);
    *address = start + model->config.offset_bytes;
    /* The limit is checked only now: it does not influence the choice, and the block stays
     * taken. */
    if (*address < limit)
        return TTS_E_BELOW_LIMIT;
    lowest_after_take(model, start);
    return TTS_OK;
}

static uint64_t lowest_bit(uint64_t bits)
{
    return bits & (0 - bits);
}

/* Returns whether a space of this size has a unit that divides `bytes`. A space has at most
 * TTS_SPACE_MAX_UNITS units, and needs no other unit if its first unit divides `bytes`. */
static bool is_countable(const struct model *model, uint64_t bytes)
{
    uint64_t first = lowest_bit(model->config.size_bytes | model->config.alignment_bytes);
    uint64_t unit = lowest_bit(bytes | model->config.alignment_bytes);
    return bytes % first == 0 || model->config.size_bytes / unit <= TTS_SPACE_MAX_UNITS;
}

enum tts_status model_take_at(struct model *model, uint64_t address, uint64_t bytes)
{
    uint64_t need;
    if (!need_of_block(model, bytes, &need) || address < model->config.offset_bytes)
        return TTS_E_FULL;
    uint64_t start = address - model->config.offset_bytes;
    for (size_t i = 0; i < model->count; i++) {
        const struct model_block *block = &model->blocks[i];
        if (!fits(block, need) || start < block->start || start > end_of(block) - need)
            continue;
        if (!is_countable(model, start | need))
            return TTS_E_RANGE;
        carve(model, i, start, need);
        lowest_after_take(model, start);
        return TTS_OK;
    }
    return TTS_E_FULL;
}

/* Merges the free block `at` with the free block after it. */
static void swallow_next(struct model *model, size_t at)
{
    model->blocks[at].size_bytes += model->blocks[at + 1].size_bytes;
    id_retire(model, model->blocks[at + 1].id);
    erase(model, at + 1);
}

enum tts_status model_give(struct model *model, uint64_t address)
{
    size_t at = taken_at(model, address);
    if (at == nowhere)
        return TTS_E_NOT_FOUND;
    uint64_t start = model->blocks[at].start;
    model->blocks[at].taken = false;
    if (at > 0 && !model->blocks[at - 1].taken)
        swallow_next(model, --at);
    if (at + 1 < model->count && !model->blocks[at + 1].taken)
        swallow_next(model, at);
    if (model->has_lowest && start <= model->lowest) {
        size_t next = taken_from(model, at + 1);
        model->has_lowest = next != nowhere;
        model->lowest = next != nowhere ? model->blocks[next].start : 0;
    }
    return TTS_OK;
}

enum tts_status model_shrink(struct model *model, uint64_t bytes)
{
    if (bytes == 0)
        return TTS_OK;
    if (bytes > model->config.size_bytes - model->shrunk_bytes)
        return TTS_E_RANGE;
    uint64_t bottom = model->shrunk_bytes + bytes;
    size_t first_taken = taken_from(model, 0);
    if (first_taken != nowhere && model->blocks[first_taken].start < bottom)
        return TTS_E_BUSY;
    if (!is_countable(model, bytes))
        return TTS_E_RANGE;
    struct model_block *lowest = &model->blocks[0];
    lowest->start += bytes;
    lowest->size_bytes -= bytes;
    if (lowest->size_bytes == 0) {
        id_retire(model, lowest->id);
        erase(model, 0);
    }
    model->shrunk_bytes = bottom;
    return TTS_OK;
}

void model_unshrink(struct model *model)
{
    uint64_t back_bytes = model->shrunk_bytes;
    if (back_bytes == 0)
        return;
    model->shrunk_bytes = 0;
    if (model->count > 0 && !model->blocks[0].taken) {
        model->blocks[0].start = 0;
        model->blocks[0].size_bytes += back_bytes;
    } else {
        insert(model, 0, (struct model_block){0, back_bytes, id_take(model), false});
    }
}

/* --- questions -------------------------------------------------------------------------- */

void model_stats(const struct model *model, struct tts_space_stats *out)
{
    *out = (struct tts_space_stats){0};
    out->total_bytes = model->config.size_bytes - model->shrunk_bytes;
    for (size_t i = 0; i < model->count; i++) {
        uint64_t size_bytes = model->blocks[i].size_bytes;
        if (model->blocks[i].taken) {
            out->taken_bytes += size_bytes;
            out->taken_blocks++;
        } else {
            out->free_bytes += size_bytes;
            out->free_blocks++;
            if (size_bytes > out->largest_free_bytes)
                out->largest_free_bytes = size_bytes;
        }
    }
}

bool model_lowest_reported(const struct model *model, uint64_t *address)
{
    if (model->has_lowest)
        *address = model->lowest + model->config.offset_bytes;
    return model->has_lowest;
}

bool model_lowest(const struct model *model, uint64_t *address)
{
    size_t at = taken_from(model, 0);
    if (at != nowhere)
        *address = model->blocks[at].start + model->config.offset_bytes;
    return at != nowhere;
}

enum tts_status model_size_at(const struct model *model, uint64_t address, uint64_t *bytes)
{
    size_t at = taken_at(model, address);
    if (at == nowhere)
        return TTS_E_NOT_FOUND;
    *bytes = model->blocks[at].size_bytes;
    return TTS_OK;
}

size_t model_available(const struct model *model, uint64_t bytes, struct tts_range *out)
{
    uint64_t need;
    size_t count = 0;
    if (!model_need(model, bytes, &need))
        return 0;
    for (unsigned class_idx = 0; class_idx < class_count(model); class_idx++) {
        for (size_t i = 0; i < model->count; i++) {
            const struct model_block *block = &model->blocks[i];
            if (!fits(block, need) || class_of(model, block->size_bytes) != class_idx)
                continue;
            uint64_t start = block->start + model->config.offset_bytes;
            out[count++] = (struct tts_range){start, start + block->size_bytes};
        }
    }
    return count;
}

size_t model_walk(const struct model *model, struct tts_block *out)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct model_block *block = &model->blocks[i];
        out[i] = (struct tts_block){
            .address = block->start + model->config.offset_bytes,
            .size_bytes = block->size_bytes,
            .id = block->id,
            .prev_id = i > 0 ? block[-1].id : TTS_BLOCK_NONE,
            .next_id = i + 1 < model->count ? block[1].id : TTS_BLOCK_NONE,
            .taken = block->taken,
        };
    }
    return model->count;
}

static int by_id(const void *a, const void *b)
{
    const struct tts_block *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

size_t model_blocks(const struct model *model, struct tts_block *out)
{
    size_t count = model_walk(model, out);
    qsort(out, count, sizeof *out, by_id);
    return count;
}

/* --- whole models ----------------------------------------------------------------------- */

void model_copy(struct model *to, const struct model *from)
{
    memcpy(to, from, offsetof(struct model, blocks));
    memcpy(to->blocks, from->blocks, from->count * sizeof from->blocks[0]);
    memcpy(to->retired, from->retired, from->retired_count * sizeof from->retired[0]);
}

static bool config_equal(const struct tts_space_config *a, const struct tts_space_config *b)
{
    return a->size_bytes == b->size_bytes && a->offset_bytes == b->offset_bytes &&
           a->min_bytes == b->min_bytes && a->alignment_bytes == b->alignment_bytes &&
           a->policy == b->policy;
}

bool model_equal(const struct model *a, const struct model *b)
{
    if (!config_equal(&a->config, &b->config) || a->shrunk_bytes != b->shrunk_bytes ||
        a->has_lowest != b->has_lowest || (a->has_lowest && a->lowest != b->lowest) ||
        a->next_id != b->next_id || a->count != b->count ||
        a->retired_count != b->retired_count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct model_block *left = &a->blocks[i], *right = &b->blocks[i];
        if (left->start != right->start || left->size_bytes != right->size_bytes ||
            left->id != right->id || left->taken != right->taken)
            return false;
    }
    for (size_t i = 0; i < a->retired_count; i++) {
        if (a->retired[i] != b->retired[i])
            return false;
    }
    return true;
}

/* Returns whether one more call fits. A call adds at most two blocks and retires at most two
 * ids. The retired ids and the ids in use together never exceed the largest number of blocks so
 * far. */
bool model_has_room(const struct model *model)
{
    return model->count + 2 <= MODEL_MAX_BLOCKS;
}
