#include "sources/seq/opseq_run.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/heap.h"
#include "device/space.h"

#include <assert.h>

void tts_opseq_run_init(struct tts_opseq_run *run, const struct tts_alloc *alloc)
{
    *run = (struct tts_opseq_run){.alloc = alloc ? alloc : tts_alloc_libc()};
}

void tts_opseq_run_release(struct tts_opseq_run *run)
{
    tts_space_free(run->space);
    if (run->scratch)
        run->alloc->free(run->alloc->ctx, run->scratch, run->scratch_bytes);
    *run = (struct tts_opseq_run){0};
}

/* Returns memory for `count` elements, without their old content; NULL if there is no memory.
 * The memory grows by at least half: the number of blocks grows slowly, and not every query
 * shall allocate. */
static void *reserve_scratch(struct tts_opseq_run *run, size_t count, size_t element_bytes)
{
    const struct tts_alloc *alloc = run->alloc;
    size_t bytes = count * element_bytes; /* cannot overflow: there are at most 2^32 blocks */
    if (bytes <= run->scratch_bytes && run->scratch)
        return run->scratch;
    size_t grown = run->scratch_bytes + run->scratch_bytes / 2;
    bytes = bytes > grown ? bytes : grown;
    if (run->scratch)
        alloc->free(alloc->ctx, run->scratch, run->scratch_bytes);
    run->scratch_bytes = bytes > 0 ? bytes : element_bytes;
    run->scratch = alloc->alloc(alloc->ctx, run->scratch_bytes);
    return run->scratch;
}

/* Returns the size of the block that a request for `bytes` needs: at least min_bytes, rounded
 * up to the alignment. */
static uint64_t needed_bytes(const struct tts_space_config *pool, uint64_t bytes)
{
    uint64_t wanted = bytes > pool->min_bytes ? bytes : pool->min_bytes;
    uint64_t over = wanted % pool->alignment_bytes;
    uint64_t missing = over ? pool->alignment_bytes - over : 0;
    return missing > UINT64_MAX - wanted ? UINT64_MAX : wanted + missing;
}

/* --- operations ------------------------------------------------------------------------- */

/* Each run_... function below runs one kind of line: it sets step->line.result and the block,
 * updates the counts, and returns TTS_OK or a status that ends the run. */

static enum tts_status run_take(struct tts_opseq_run *run, struct tts_opseq_step *step)
{
    const struct tts_opseq_line *line = &step->line;
    struct tts_opseq_result *result = &step->line.result;
    enum tts_status status =
        tts_space_take(run->space, line->bytes, line->direction, line->limit, &step->address);
    if (status == TTS_E_FULL) {
        result->outcome = TTS_OPSEQ_FAILED;
        step->bytes = needed_bytes(&run->pool, line->bytes);
        run->counts.takes_failed++;
        run->counts.takes_fragmented += step->bytes > 0 && step->bytes <= run->stats.free_bytes;
        return TTS_OK;
    }
    if (status == TTS_E_BELOW_LIMIT) {
        result->outcome = TTS_OPSEQ_BELOW_LIMIT;
        run->counts.takes_below_limit++;
        status = TTS_OK;
    } else if (status == TTS_OK) {
        run->counts.takes++;
    }
    result->value[0] = step->address;
    return status;
}

static enum tts_status run_take_at(struct tts_opseq_run *run, struct tts_opseq_step *step)
{
    const struct tts_opseq_line *line = &step->line;
    struct tts_opseq_result *result = &step->line.result;
    step->address = line->address;
    enum tts_status status = tts_space_take_at(run->space, line->address, line->bytes);
    if (status == TTS_E_FULL) {
        result->outcome = TTS_OPSEQ_FAILED;
        step->bytes = needed_bytes(&run->pool, line->bytes);
        run->counts.takes_at_failed++;
        return TTS_OK;
    }
    if (status == TTS_OK)
        run->counts.takes_at++;
    result->value[0] = line->address;
    return status;
}

static enum tts_status run_give(struct tts_opseq_run *run, struct tts_opseq_step *step)
{
    step->address = step->line.address;
    enum tts_status status = tts_space_give(run->space, step->address);
    if (status == TTS_E_NOT_FOUND) {
        run->counts.gives_ignored++;
        return TTS_OK;
    }
    if (status == TTS_OK)
        run->counts.gives++;
    return status;
}

static enum tts_status run_shrink(struct tts_opseq_run *run, struct tts_opseq_step *step)
{
    enum tts_status status = tts_space_shrink(run->space, step->line.bytes);
    if (status == TTS_E_BUSY || status == TTS_E_RANGE) {
        step->line.result.outcome = TTS_OPSEQ_FAILED;
        run->counts.shrinks_refused++;
        return TTS_OK;
    }
    if (status == TTS_OK)
        run->counts.shrinks++;
    return status;
}

/* --- queries ---------------------------------------------------------------------------- */

static void run_space_stats(struct tts_opseq_run *run, struct tts_opseq_step *step)
{
    uint64_t *value = step->line.result.value;
    value[0] = run->stats.total_bytes;
    value[1] = run->stats.taken_bytes;
    value[2] = run->stats.free_bytes;
    value[3] = run->stats.largest_free_bytes;
}

static void run_space_lowest(struct tts_opseq_run *run, struct tts_opseq_step *step)
{
    struct tts_opseq_result *result = &step->line.result;
    result->none[0] = !tts_space_lowest_reported(run->space, &result->value[0]);
    result->none[1] = !tts_space_lowest(run->space, &result->value[1]);
    bool agree = result->none[0] == result->none[1] && result->value[0] == result->value[1];
    step->line.kind = agree ? TTS_OPSEQ_LOWEST : TTS_OPSEQ_STALE;
}

static enum tts_status run_space_available(struct tts_opseq_run *run,
                                           struct tts_opseq_step *step)
{
    size_t capacity = (size_t)run->stats.free_blocks;
    struct tts_range *ranges = reserve_scratch(run, capacity, sizeof *ranges);
    if (!ranges)
        return TTS_E_NOMEM;
    size_t count = tts_space_available(run->space, step->line.bytes, ranges, capacity);
    assert(count <= capacity); /* each range is one free block */
    uint64_t hash = TTS_FNV1A64_INIT;
    for (size_t i = 0; i < count; i++) {
        hash = tts_fnv1a64_u64(hash, ranges[i].start);
        hash = tts_fnv1a64_u64(hash, ranges[i].end);
    }
    step->line.result.value[0] = count;
    step->line.result.value[1] = hash;
    return TTS_OK;
}

static void run_space_map(struct tts_opseq_run *run, struct tts_opseq_step *step)
{
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    uint64_t count = 0, hash = TTS_FNV1A64_INIT;
    while (tts_space_next(run->space, &cursor, &block)) {
        hash = tts_fnv1a64_u64(hash, block.address);
        hash = tts_fnv1a64_u64(hash, block.size_bytes);
        hash = tts_fnv1a64_u64(hash, block.taken);
        count++;
    }
    step->line.result.value[0] = count;
    step->line.result.value[1] = hash;
}

static uint64_t neighbour_id(uint32_t id)
{
    return id == TTS_BLOCK_NONE ? UINT64_MAX : id;
}

static enum tts_status run_space_table(struct tts_opseq_run *run, struct tts_opseq_step *step)
{
    size_t capacity = tts_space_id_limit(run->space), count;
    struct tts_block *blocks = reserve_scratch(run, capacity, sizeof *blocks);
    if (!blocks)
        return TTS_E_NOMEM;
    enum tts_status status = tts_space_blocks(run->space, blocks, capacity, &count);
    if (status != TTS_OK)
        return status;
    uint64_t hash = TTS_FNV1A64_INIT;
    for (size_t i = 0; i < count; i++) {
        hash = tts_fnv1a64_u64(hash, blocks[i].id);
        hash = tts_fnv1a64_u64(hash, blocks[i].address - run->pool.offset_bytes);
        hash = tts_fnv1a64_u64(hash, blocks[i].size_bytes);
        hash = tts_fnv1a64_u64(hash, neighbour_id(blocks[i].prev_id));
        hash = tts_fnv1a64_u64(hash, neighbour_id(blocks[i].next_id));
        hash = tts_fnv1a64_u64(hash, blocks[i].taken);
    }
    step->line.result.value[0] = count;
    step->line.result.value[1] = hash;
    return TTS_OK;
}

static enum tts_status run_space_query(struct tts_opseq_run *run, struct tts_opseq_step *step)
{
    enum tts_opseq_kind kind = step->line.kind;
    run->counts.queries++;
    if (kind == TTS_OPSEQ_AVAILABLE)
        return run_space_available(run, step);
    if (kind == TTS_OPSEQ_TABLE)
        return run_space_table(run, step);
    if (kind == TTS_OPSEQ_STATS)
        run_space_stats(run, step);
    else if (kind == TTS_OPSEQ_MAP)
        run_space_map(run, step);
    else
        run_space_lowest(run, step);
    return TTS_OK;
}

/* --- lines ------------------------------------------------------------------------------ */

static enum tts_status run_pool(struct tts_opseq_run *run, const struct tts_opseq_line *line,
                                struct tts_error *err)
{
    if (run->space)
        return tts_error_set(err, TTS_E_SYNTAX,
                             "a second 'P' line: a sequence has only one pool");
    enum tts_status status = tts_space_new(&line->pool, run->alloc, &run->space, err);
    if (status != TTS_OK)
        return status;
    run->pool = line->pool;
    tts_space_get_stats(run->space, &run->stats);
    return TTS_OK;
}

static enum tts_status run_operation(struct tts_opseq_run *run, struct tts_opseq_step *step)
{
    switch (step->line.kind) {
    case TTS_OPSEQ_TAKE:
        return run_take(run, step);
    case TTS_OPSEQ_TAKE_AT:
        return run_take_at(run, step);
    case TTS_OPSEQ_GIVE:
        return run_give(run, step);
    case TTS_OPSEQ_SHRINK:
        return run_shrink(run, step);
    case TTS_OPSEQ_UNSHRINK:
        run->counts.unshrinks++;
        return tts_space_unshrink(run->space);
    case TTS_OPSEQ_CLEAR:
        run->counts.clears++;
        tts_space_clear(run->space);
        return TTS_OK;
    case TTS_OPSEQ_STATS:
    case TTS_OPSEQ_LOWEST:
    case TTS_OPSEQ_STALE:
    case TTS_OPSEQ_AVAILABLE:
    case TTS_OPSEQ_MAP:
    case TTS_OPSEQ_TABLE:
        return run_space_query(run, step);
    case TTS_OPSEQ_BLANK:
    case TTS_OPSEQ_POOL:
    case TTS_OPSEQ_KINDS:
        break;
    }
    assert(false); /* tts_opseq_run_line() handles the other kinds */
    return TTS_E_INVALID;
}

/* Updates the statistics after a line. Sets step->bytes to the change of the bytes in use. */
static void count_outcome(struct tts_opseq_run *run, uint64_t line_no,
                          struct tts_opseq_step *step)
{
    uint64_t before = run->stats.taken_bytes;
    tts_space_get_stats(run->space, &run->stats);
    uint64_t after = run->stats.taken_bytes;
    enum tts_opseq_kind kind = step->line.kind;
    if (kind == TTS_OPSEQ_GIVE)
        step->bytes = before - after;
    else if (kind <= TTS_OPSEQ_TAKE_AT && step->line.result.outcome != TTS_OPSEQ_FAILED)
        step->bytes = after - before;
    if (after > run->counts.peak_taken_bytes) {
        run->counts.peak_taken_bytes = after;
        run->counts.peak_line = line_no;
    }
}

enum tts_status tts_opseq_run_line(struct tts_opseq_run *run, const struct tts_opseq_line *line,
                                   uint64_t line_no, struct tts_opseq_step *out,
                                   struct tts_error *err)
{
    out->line = *line;
    out->is_operation = false;
    out->address = out->bytes = 0;
    if (line->kind == TTS_OPSEQ_BLANK)
        return TTS_OK;
    if (line->kind == TTS_OPSEQ_POOL)
        return run_pool(run, line, err);
    if (!run->space)
        return tts_error_set(err, TTS_E_SYNTAX,
                             "expected the pool first, 'P size=N ...', got '%c'",
                             tts_opseq_letter(line->kind));
    out->is_operation = true;
    out->line.result = (struct tts_opseq_result){.outcome = TTS_OPSEQ_DONE};
    out->line.has_result = tts_opseq_kind_has_result(line->kind);
    enum tts_status status = run_operation(run, out);
    if (status != TTS_OK)
        return tts_error_set(err, status, "cannot run '%c': %s", tts_opseq_letter(line->kind),
                             tts_error_cause(status));
    run->counts.operations++;
    if (line->kind <= TTS_OPSEQ_CLEAR)
        count_outcome(run, line_no, out);
    return TTS_OK;
}

enum tts_status tts_opseq_run_finish(const struct tts_opseq_run *run, struct tts_error *err)
{
    if (run->space)
        return TTS_OK;
    return tts_error_set(err, TTS_E_SYNTAX,
                         "no pool: expected a line 'P size=N offset=N min_allocation_size=N "
                         "alignment=N policy=FIRST|BEST'");
}
