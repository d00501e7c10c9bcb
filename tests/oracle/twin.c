#include "oracle/twin.h"
#include "device/space.h"

#include <inttypes.h>
#include <stdarg.h>

static const uint64_t unwritten = UINT64_C(0x5ca1ab1e5ca1ab1e);

/* Describes the first difference. Always returns false, so that a check is one statement. */
__attribute__((format(printf, 2, 3))) static bool differ(struct twin_note *note,
                                                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(note->text, sizeof note->text, format, args);
    va_end(args);
    return false;
}

static bool same_number(struct twin_note *note, const char *what, uint64_t seen,
                        uint64_t expected)
{
    if (seen == expected)
        return true;
    return differ(note, "%s is %" PRIu64 ", expected %" PRIu64, what, seen, expected);
}

/* --- one operation ---------------------------------------------------------------------- */

void twin_op_print(FILE *out, const struct twin_op *op)
{
    switch (op->kind) {
    case TWIN_TAKE:
        fprintf(out, "a %" PRIu64 " %d %" PRIu64, op->bytes, op->direction == TTS_DIRECTION_UP,
                op->limit);
        break;
    case TWIN_TAKE_AT:
        fprintf(out, "x %" PRIu64 " %" PRIu64, op->address, op->bytes);
        break;
    case TWIN_GIVE:
        fprintf(out, "d %" PRIu64, op->address);
        break;
    case TWIN_SHRINK:
        fprintf(out, "k %" PRIu64, op->bytes);
        break;
    case TWIN_UNSHRINK:
        fputs("r", out);
        break;
    case TWIN_CLEAR:
    case TWIN_OP_KINDS:
        fputs("c", out);
        break;
    }
}

struct twin_result twin_op_on_space(struct tts_space *space, const struct twin_op *op)
{
    struct twin_result result = {TTS_OK, unwritten};
    switch (op->kind) {
    case TWIN_TAKE:
        result.status =
            tts_space_take(space, op->bytes, op->direction, op->limit, &result.address);
        break;
    case TWIN_TAKE_AT:
        result.status = tts_space_take_at(space, op->address, op->bytes);
        break;
    case TWIN_GIVE:
        result.status = tts_space_give(space, op->address);
        break;
    case TWIN_SHRINK:
        result.status = tts_space_shrink(space, op->bytes);
        break;
    case TWIN_UNSHRINK:
        result.status = tts_space_unshrink(space);
        break;
    case TWIN_CLEAR:
    case TWIN_OP_KINDS:
        tts_space_clear(space);
        break;
    }
    return result;
}

struct twin_result twin_op_on_model(struct model *model, const struct twin_op *op)
{
    struct twin_result result = {TTS_OK, unwritten};
    switch (op->kind) {
    case TWIN_TAKE:
        result.status = model_take(model, op->bytes, op->direction, op->limit, &result.address);
        break;
    case TWIN_TAKE_AT:
        result.status = model_take_at(model, op->address, op->bytes);
        break;
    case TWIN_GIVE:
        result.status = model_give(model, op->address);
        break;
    case TWIN_SHRINK:
        result.status = model_shrink(model, op->bytes);
        break;
    case TWIN_UNSHRINK:
        model_unshrink(model);
        break;
    case TWIN_CLEAR:
    case TWIN_OP_KINDS:
        model_clear(model);
        break;
    }
    return result;
}

bool twin_step(struct twin *twin, const struct twin_op *op, struct twin_note *note)
{
    struct twin_result expected = twin_op_on_model(twin->model, op);
    struct twin_result seen = twin_op_on_space(twin->space, op);
    if (seen.status != expected.status)
        return differ(note, "status is '%s', expected '%s'", tts_status_text(seen.status),
                      tts_status_text(expected.status));
    return same_number(note, "address", seen.address, expected.address);
}

/* --- the whole state -------------------------------------------------------------------- */

static bool same_stats(const struct twin *twin, struct twin_note *note)
{
    struct tts_space_stats seen, expected;
    tts_space_get_stats(twin->space, &seen);
    model_stats(twin->model, &expected);
    return same_number(note, "total bytes", seen.total_bytes, expected.total_bytes) &&
           same_number(note, "taken bytes", seen.taken_bytes, expected.taken_bytes) &&
           same_number(note, "free bytes", seen.free_bytes, expected.free_bytes) &&
           same_number(note, "largest free block", seen.largest_free_bytes,
                       expected.largest_free_bytes) &&
           same_number(note, "taken blocks", seen.taken_blocks, expected.taken_blocks) &&
           same_number(note, "free blocks", seen.free_blocks, expected.free_blocks);
}

static bool same_config(const struct twin *twin, struct twin_note *note)
{
    const struct tts_space_config *expected = &twin->model->config;
    struct tts_space_config seen;
    tts_space_get_config(twin->space, &seen);
    return same_number(note, "size", seen.size_bytes, expected->size_bytes) &&
           same_number(note, "offset", seen.offset_bytes, expected->offset_bytes) &&
           same_number(note, "minimum", seen.min_bytes, expected->min_bytes) &&
           same_number(note, "alignment", seen.alignment_bytes, expected->alignment_bytes) &&
           same_number(note, "policy", seen.policy, expected->policy);
}

/* Compares the lowest addresses. If there is none, the value stays at the number that neither
 * side writes. */
static bool same_lowest(const struct twin *twin, struct twin_note *note)
{
    uint64_t seen = unwritten, expected = unwritten;
    bool seen_any = tts_space_lowest_reported(twin->space, &seen);
    bool expected_any = model_lowest_reported(twin->model, &expected);
    if (!same_number(note, "reported lowest known", seen_any, expected_any) ||
        !same_number(note, "reported lowest", seen, expected))
        return false;
    seen = expected = unwritten;
    seen_any = tts_space_lowest(twin->space, &seen);
    expected_any = model_lowest(twin->model, &expected);
    return same_number(note, "true lowest known", seen_any, expected_any) &&
           same_number(note, "true lowest", seen, expected);
}

static bool same_available(const struct twin *twin, uint64_t request,
                           struct twin_scratch *scratch, struct twin_note *note)
{
    size_t expected = model_available(twin->model, request, scratch->expected_ranges);
    size_t seen =
        tts_space_available(twin->space, request, scratch->seen_ranges, MODEL_MAX_BLOCKS);
    if (!same_number(note, "available ranges", seen, expected))
        return false;
    for (size_t i = 0; i < seen; i++) {
        if (!same_number(note, "available start", scratch->seen_ranges[i].start,
                         scratch->expected_ranges[i].start) ||
            !same_number(note, "available end", scratch->seen_ranges[i].end,
                         scratch->expected_ranges[i].end))
            return false;
    }
    return true;
}

static bool same_block(const struct tts_block *seen, const struct tts_block *expected,
                       struct twin_note *note)
{
    return same_number(note, "block id", seen->id, expected->id) &&
           same_number(note, "block address", seen->address, expected->address) &&
           same_number(note, "block size", seen->size_bytes, expected->size_bytes) &&
           same_number(note, "block taken", seen->taken, expected->taken) &&
           same_number(note, "block's previous id", seen->prev_id, expected->prev_id) &&
           same_number(note, "block's next id", seen->next_id, expected->next_id);
}

static bool same_walk(const struct twin *twin, struct twin_scratch *scratch,
                      struct twin_note *note)
{
    size_t expected = model_walk(twin->model, scratch->expected), seen = 0;
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    while (tts_space_next(twin->space, &cursor, &block)) {
        if (seen == expected)
            return differ(note, "walk goes on past %zu blocks", expected);
        if (!same_block(&block, &scratch->expected[seen++], note))
            return false;
    }
    return same_number(note, "blocks walked", seen, expected);
}

/* Checks that a taken block is found by its address and a free block is not. */
static bool same_size_at(const struct twin *twin, const struct tts_block *block,
                         struct twin_note *note)
{
    uint64_t bytes = unwritten;
    enum tts_status status = tts_space_size_at(twin->space, block->address, &bytes);
    if (status != (block->taken ? TTS_OK : TTS_E_NOT_FOUND))
        return differ(note, "size at %" PRIu64 ": '%s'", block->address,
                      tts_status_text(status));
    return same_number(note, "size at an address", bytes,
                       block->taken ? block->size_bytes : unwritten);
}

static bool same_tables(const struct twin *twin, struct twin_scratch *scratch,
                        struct twin_note *note)
{
    size_t capacity = sizeof scratch->seen / sizeof scratch->seen[0], seen, taken;
    size_t expected = model_blocks(twin->model, scratch->expected), expected_taken = 0;
    if (tts_space_id_limit(twin->space) > capacity)
        return differ(note, "id limit %" PRIu32, tts_space_id_limit(twin->space));
    if (tts_space_blocks(twin->space, scratch->seen, capacity, &seen) != TTS_OK)
        return differ(note, "the block table was refused");
    if (!same_number(note, "blocks in the table", seen, expected))
        return false;
    for (size_t i = 0; i < seen; i++) {
        if (!same_block(&scratch->seen[i], &scratch->expected[i], note) ||
            !same_size_at(twin, &scratch->expected[i], note))
            return false;
        if (scratch->expected[i].id >= tts_space_id_limit(twin->space))
            return differ(note, "id %" PRIu32 " at the id limit", scratch->expected[i].id);
        if (scratch->expected[i].taken)
            scratch->expected[expected_taken++] = scratch->expected[i];
    }
    if (tts_space_taken(twin->space, scratch->seen, capacity, &taken) != TTS_OK)
        return differ(note, "the table of taken blocks was refused");
    if (!same_number(note, "taken blocks in the table", taken, expected_taken))
        return false;
    for (size_t i = 0; i < taken; i++) {
        if (!same_block(&scratch->seen[i], &scratch->expected[i], note))
            return false;
    }
    return true;
}

bool twin_same(const struct twin *twin, uint64_t request, struct twin_scratch *scratch,
               struct twin_note *note)
{
    if (!tts_space_is_valid(twin->space))
        return differ(note, "the space is not valid");
    return same_config(twin, note) && same_stats(twin, note) && same_lowest(twin, note) &&
           same_available(twin, request, scratch, note) &&
           same_available(twin, 0, scratch, note) && same_walk(twin, scratch, note) &&
           same_tables(twin, scratch, note);
}
