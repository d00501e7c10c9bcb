#include "analysis/opbytes.h"

#include "base/hashtable.h"
#include "base/heap.h"

#include <assert.h>
#include <string.h>

const char tts_ops_unlisted[] = "(not listed)";

struct tts_ops {
    enum tts_pool pool;
    struct tts_op_row *rows;
    size_t count, capacity;
    struct tts_hashtable by_op;
    /* Index of the row that was found last, because the next search is often for the same
     * row. */
    size_t last;
    const struct tts_alloc *alloc;
};

enum tts_status tts_ops_new(enum tts_pool pool, const struct tts_alloc *alloc,
                            struct tts_ops **out)
{
    assert((unsigned)pool < TTS_POOLS);
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_ops *ops = alloc->alloc(alloc->ctx, sizeof *ops);
    if (!ops)
        return TTS_E_NOMEM;
    *ops = (struct tts_ops){.pool = pool, .by_op.alloc = alloc, .alloc = alloc};
    *out = ops;
    return TTS_OK;
}

void tts_ops_free(struct tts_ops *ops)
{
    if (!ops)
        return;
    const struct tts_alloc *alloc = ops->alloc;
    tts_hashtable_release(&ops->by_op);
    if (ops->rows)
        alloc->free(alloc->ctx, ops->rows, ops->capacity * sizeof *ops->rows);
    alloc->free(alloc->ctx, ops, sizeof *ops);
}

/* ---- rows ---- */

static bool is_row_of_op(const void *rows, uint32_t place, const void *op)
{
    return ((const struct tts_op_row *)rows)[place].op == op;
}

/* Returns the row of `op`, and adds the row if there is none. Returns NULL if there is no
 * memory. */
static struct tts_op_row *row_of_op(struct tts_ops *ops, const char *op)
{
    if (ops->last < ops->count && ops->rows[ops->last].op == op)
        return &ops->rows[ops->last];
    uint32_t hash = (uint32_t)((uint64_t)(uintptr_t)op * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    uint32_t place = tts_hashtable_find(&ops->by_op, hash, is_row_of_op, ops->rows, op);
    if (place == TTS_HASHTABLE_NONE) {
        struct tts_op_row *rows =
            tts_alloc_grow(ops->alloc, ops->rows, &ops->capacity, ops->count + 1, sizeof *rows);
        if (!rows)
            return NULL;
        ops->rows = rows;
        if (tts_hashtable_add(&ops->by_op, hash, (uint32_t)ops->count) != TTS_OK)
            return NULL;
        place = (uint32_t)ops->count++;
        rows[place] = (struct tts_op_row){.op = op};
    }
    ops->last = place;
    return &ops->rows[place];
}

/* ---- counting ---- */

static enum tts_status count_op_left(struct tts_ops *ops, const struct tts_live *live)
{
    struct tts_op_row *row = row_of_op(ops, live->op);
    if (!row)
        return TTS_E_NOMEM;
    assert(row->live_buffers > 0);
    row->live_bytes -= tts_live_bytes(live);
    row->live_buffers--;
    return TTS_OK;
}

static enum tts_status count_op_come(struct tts_ops *ops, const struct tts_change *change)
{
    uint64_t bytes = tts_live_bytes(&change->came);
    struct tts_op_row *row =
        row_of_op(ops, change->is_unlisted ? tts_ops_unlisted : change->came.op);
    if (!row)
        return TTS_E_NOMEM;
    if (!change->is_restored) {
        row->allocations++;
        row->allocated_bytes += bytes;
    }
    if (!change->is_unlisted) {
        row->live_bytes += bytes;
        row->live_buffers++;
    }
    return TTS_OK;
}

enum tts_status tts_ops_change(struct tts_ops *ops, const struct tts_change *change)
{
    enum tts_status status = TTS_OK;
    if (change->has_left && change->left.pool == ops->pool)
        status = count_op_left(ops, &change->left);
    if (status == TTS_OK && change->has_come && change->came.pool == ops->pool)
        status = count_op_come(ops, change);
    return status;
}

enum tts_status tts_ops_moment(struct tts_ops *ops, const struct tts_live *live)
{
    assert(live->pool == ops->pool);
    struct tts_op_row *row = row_of_op(ops, live->op);
    if (!row)
        return TTS_E_NOMEM;
    row->moment_bytes += tts_live_bytes(live);
    row->moment_buffers++;
    return TTS_OK;
}

enum tts_pool tts_ops_pool(const struct tts_ops *ops)
{
    return ops->pool;
}

size_t tts_ops_count(const struct tts_ops *ops)
{
    return ops->count;
}

const struct tts_op_row *tts_ops_at(const struct tts_ops *ops, size_t idx)
{
    return idx < ops->count ? &ops->rows[idx] : NULL;
}

/* ---- order ---- */

static int compare_op_paths(const struct tts_follow *follow, const char *a, const char *b)
{
    char x[512], y[512];
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    int order = strcmp(a, b);
    if (order != 0)
        return order;
    tts_follow_path(follow, a, x, sizeof x);
    tts_follow_path(follow, b, y, sizeof y);
    return strcmp(x, y);
}

bool tts_op_row_precedes(const struct tts_follow *follow, const struct tts_op_row *a,
                         const struct tts_op_row *b)
{
    int order = a->op == b->op ? 0 : compare_op_paths(follow, a->op, b->op);
    if (order != 0)
        return order < 0;
    const uint64_t x[] = {a->allocated_bytes, a->allocations,  a->live_bytes,
                          a->live_buffers,    a->moment_bytes, a->moment_buffers};
    const uint64_t y[] = {b->allocated_bytes, b->allocations,  b->live_bytes,
                          b->live_buffers,    b->moment_bytes, b->moment_buffers};
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++)
        if (x[i] != y[i])
            return x[i] > y[i];
    return false;
}
