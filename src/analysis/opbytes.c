#include "analysis/opbytes.h"

#include "base/heap.h"

#include <assert.h>
#include <string.h>

const char tts_ops_unlisted[] = "(not listed)";

/* The table has indices of rows plus 1, 0 where there is none; it is half empty at least. */
struct tts_ops {
    enum tts_pool pool;
    struct tts_op_row *rows;
    size_t count, capacity;
    uint32_t *table;
    size_t width; /* a power of 2, or 0 */
    size_t last;  /* the row asked for last */
    const struct tts_alloc *alloc;
};

enum { WIDTH_MIN = 64 };

enum tts_status tts_ops_new(enum tts_pool pool, const struct tts_alloc *alloc,
                            struct tts_ops **out)
{
    assert((unsigned)pool < TTS_POOLS);
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_ops *ops = alloc->alloc(alloc->ctx, sizeof *ops);
    if (!ops)
        return TTS_E_NOMEM;
    *ops = (struct tts_ops){.pool = pool, .alloc = alloc};
    *out = ops;
    return TTS_OK;
}

static void free_table(struct tts_ops *ops)
{
    if (ops->table)
        ops->alloc->free(ops->alloc->ctx, ops->table, ops->width * sizeof *ops->table);
}

void tts_ops_free(struct tts_ops *ops)
{
    if (!ops)
        return;
    const struct tts_alloc *alloc = ops->alloc;
    free_table(ops);
    if (ops->rows)
        alloc->free(alloc->ctx, ops->rows, ops->capacity * sizeof *ops->rows);
    alloc->free(alloc->ctx, ops, sizeof *ops);
}

/* ---- rows ---- */

static uint32_t *slot_of(const struct tts_ops *ops, const char *op)
{
    assert(ops->count < ops->width); /* or it would not end */
    uint64_t hash = (uint64_t)(uintptr_t)op * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (ops->width - 1);
    while (ops->table[at] && ops->rows[ops->table[at] - 1].op != op)
        at = (at + 1) & (ops->width - 1);
    return &ops->table[at];
}

/* Room for one row more, in the table too. */
static bool make_room(struct tts_ops *ops)
{
    struct tts_op_row *rows =
        tts_alloc_grow(ops->alloc, ops->rows, &ops->capacity, ops->count + 1, sizeof *rows);
    if (!rows)
        return false;
    ops->rows = rows;
    if (ops->count + 1 <= ops->width / 2)
        return true;
    size_t width = ops->width ? ops->width * 2 : WIDTH_MIN;
    uint32_t *table = ops->alloc->alloc(ops->alloc->ctx, width * sizeof *table);
    if (!table)
        return false;
    memset(table, 0, width * sizeof *table);
    free_table(ops);
    ops->table = table;
    ops->width = width;
    for (size_t i = 0; i < ops->count; i++)
        *slot_of(ops, rows[i].op) = (uint32_t)i + 1;
    return true;
}

/* NULL: out of memory. */
static struct tts_op_row *row_of(struct tts_ops *ops, const char *op)
{
    if (ops->last < ops->count && ops->rows[ops->last].op == op)
        return &ops->rows[ops->last];
    if (!make_room(ops))
        return NULL;
    uint32_t *slot = slot_of(ops, op);
    if (*slot == 0) {
        ops->rows[ops->count] = (struct tts_op_row){.op = op};
        *slot = (uint32_t)++ops->count;
    }
    ops->last = *slot - 1;
    return &ops->rows[ops->last];
}

/* ---- counting ---- */

static enum tts_status count_left(struct tts_ops *ops, const struct tts_live *live)
{
    struct tts_op_row *row = row_of(ops, live->op);
    if (!row)
        return TTS_E_NOMEM;
    assert(row->live_buffers > 0);
    row->live_bytes -= tts_live_bytes(live);
    row->live_buffers--;
    return TTS_OK;
}

static enum tts_status count_come(struct tts_ops *ops, const struct tts_change *change)
{
    uint64_t bytes = tts_live_bytes(&change->came);
    struct tts_op_row *row =
        row_of(ops, change->is_unlisted ? tts_ops_unlisted : change->came.op);
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
        status = count_left(ops, &change->left);
    if (status == TTS_OK && change->has_come && change->came.pool == ops->pool)
        status = count_come(ops, change);
    return status;
}

enum tts_status tts_ops_moment(struct tts_ops *ops, const struct tts_live *live)
{
    assert(live->pool == ops->pool);
    struct tts_op_row *row = row_of(ops, live->op);
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

static int compare_paths(const struct tts_follow *follow, const char *a, const char *b)
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
    int order = a->op == b->op ? 0 : compare_paths(follow, a->op, b->op);
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
