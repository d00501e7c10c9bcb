#include "harness/analysis_rig.h"
#include "torture/heap.h"

static const struct tts_op_row *row_of(const struct rig *rig, enum tts_pool pool,
                                       const char *op)
{
    const struct tts_ops *ops = rig->ops[pool];
    for (size_t i = 0; i < tts_ops_count(ops); i++)
        if (tts_ops_at(ops, i)->op == op)
            return tts_ops_at(ops, i);
    return NULL;
}

static enum tts_status add_moment(void *ctx, const struct tts_live *live)
{
    return tts_ops_moment(ctx, live);
}

/* Computes the row of an operation from all events of the model. */
static struct tts_op_row model_row(const struct model *m, enum tts_pool pool, const char *op)
{
    struct tts_op_row row = {.op = op};
    for (size_t i = 0; i < m->count; i++) {
        const struct model_buffer *b = &m->buffers[i];
        const char *name = b->is_unlisted ? tts_ops_unlisted : b->op;
        if (b->pool != pool || name != op)
            continue;
        row.allocations++;
        row.allocated_bytes += b->bytes;
        if (b->died == 0 && !b->is_unlisted) {
            row.live_buffers++;
            row.live_bytes += b->bytes;
        }
        for (size_t k = 0; k < m->peaks[pool].count; k++)
            if (m->peaks[pool].born[k] == b->born) {
                row.moment_buffers++;
                row.moment_bytes += b->bytes;
            }
    }
    return row;
}

static void check_rows(const struct rig *rig, const struct model *m, enum tts_pool pool)
{
    uint64_t live = 0, moment = 0;
    for (size_t i = 0; i < tts_ops_count(rig->ops[pool]); i++) {
        const struct tts_op_row *row = tts_ops_at(rig->ops[pool], i);
        struct tts_op_row want = model_row(m, pool, row->op);
        T_EQ(row->allocations, want.allocations);
        T_EQ(row->allocated_bytes, want.allocated_bytes);
        T_EQ(row->live_bytes, want.live_bytes);
        T_EQ(row->live_buffers, want.live_buffers);
        T_EQ(row->moment_bytes, want.moment_bytes);
        T_EQ(row->moment_buffers, want.moment_buffers);
        live += row->live_bytes;
        moment += row->moment_bytes;
    }
    struct tts_peak_info info = tts_peak_info(rig->peaks[pool]);
    T_EQ((int64_t)moment + info.level.loose_bytes, info.level.bytes);
    T_EQ(live, rig->levels.total[pool].listed_bytes);
    T_TRUE(tts_ops_at(rig->ops[pool], tts_ops_count(rig->ops[pool])) == NULL);
}

static void run_history(uint64_t seed, uint32_t live_max)
{
    struct model *m = calloc(1, sizeof *m);
    struct rig *rig = rig_new(live_max, NULL);
    m->live_max = live_max;
    for (int i = 0; i < 1500; i++)
        both_step(rig, m, &seed, true);
    for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++) {
        T_EQ(tts_peak_each(rig->peaks[pool], rig->follow, add_moment, rig->ops[pool]), TTS_OK);
        check_rows(rig, m, pool);
    }
    rig_free(rig);
    free(m);
}

T_TEST(agrees_with_a_model_that_keeps_everything)
{
    for (uint64_t seed = 1; seed <= 8; seed++)
        run_history(seed, 256);
}

T_TEST(agrees_also_where_the_ledger_is_full)
{
    for (uint64_t seed = 50; seed <= 56; seed++)
        run_history(seed, 24);
}

T_TEST(operations_without_a_name_of_their_own_are_one)
{
    char name[] = "op_a";
    struct rig *rig = rig_new(256, NULL);
    for (uint64_t i = 0; i < RIG_OPS + 5; i++) {
        name[3] = (char)('a' + i);
        rig_op(rig, name);
        rig_take(rig, 0, TTS_POOL_DRAM, i, 10);
        rig_op_end(rig);
    }
    rig_take(rig, 0, TTS_POOL_DRAM, 99, 7);
    const struct tts_ops *ops = rig->ops[TTS_POOL_DRAM];
    T_EQ(tts_ops_count(ops), RIG_OPS + 2);
    const struct tts_op_row *other = tts_ops_at(ops, RIG_OPS);
    T_STR_EQ(other->op, "(other)");
    T_EQ(other->allocated_bytes, 50);
    T_EQ(other->allocations, 5);
    T_EQ(row_of(rig, TTS_POOL_DRAM, NULL)->live_bytes, 7);
    rig_free(rig);
}

T_TEST(what_was_there_before_lives_but_was_not_allocated)
{
    struct rig *rig = rig_new(16, NULL);
    struct tts_change change = {.has_come = true, .is_restored = true};
    change.came = (struct tts_live){.size_bytes = 30};
    T_EQ(tts_ops_change(rig->ops[TTS_POOL_DRAM], &change), TTS_OK);
    const struct tts_op_row *row = row_of(rig, TTS_POOL_DRAM, NULL);
    T_TRUE(row->allocations == 0 && row->allocated_bytes == 0);
    T_TRUE(row->live_bytes == 30 && row->live_buffers == 1);
    rig_free(rig);
}

T_TEST(many_operations_are_all_found_again)
{
    struct tts_ops *ops = NULL;
    static char names[3000][8];
    T_EQ(tts_ops_new(TTS_POOL_DRAM, NULL, &ops), TTS_OK);
    for (int round = 0; round < 3; round++)
        for (uint64_t i = 0; i < 3000; i++) {
            struct tts_change change = {.has_come = true};
            change.came = (struct tts_live){.size_bytes = i + 1, .op = names[i]};
            T_EQ(tts_ops_change(ops, &change), TTS_OK);
        }
    T_EQ(tts_ops_count(ops), 3000);
    for (uint64_t i = 0; i < 3000; i++) {
        T_TRUE(tts_ops_at(ops, i)->op == names[i]);
        T_EQ(tts_ops_at(ops, i)->allocations, 3);
        T_EQ(tts_ops_at(ops, i)->allocated_bytes, 3 * (i + 1));
    }
    tts_ops_free(ops);
}

T_TEST(out_of_memory_leaves_the_rows_as_they_were)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_ops *ops = NULL;
    static char names[500][2];
    T_EQ(tts_ops_new(TTS_POOL_DRAM, &heap.alloc, &ops), TTS_OK);
    uint64_t refused = 0;
    for (uint64_t i = 0; i < 500;) {
        struct tts_change change = {.has_come = true};
        change.came = (struct tts_live){.size_bytes = 5, .op = names[i]};
        heap.fail_at = refused % 2 ? 0 : heap.calls + 1;
        enum tts_status status = tts_ops_change(ops, &change);
        T_EQ(tts_ops_count(ops), status == TTS_OK ? i + 1 : i);
        refused += status == TTS_E_NOMEM || heap.fail_at == 0;
        i += status == TTS_OK;
    }
    T_TRUE(refused > 10);
    for (uint64_t i = 0; i < 500; i++)
        T_EQ(tts_ops_at(ops, i)->allocated_bytes, 5);
    tts_ops_free(ops);
    T_TRUE(heap_is_settled(&heap));
}
