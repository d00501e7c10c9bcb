#include "harness/analysis_rig.h"
#include "torture/heap.h"

static struct tts_peak_info peak_of(const struct rig *rig, enum tts_pool pool)
{
    return tts_peak_info(rig->peaks[pool]);
}

/* Compares the peak with the model: its time, its size, and every buffer that was live then. */
static void check_peak(const struct rig *rig, const struct model *m, enum tts_pool pool)
{
    static struct rig_set set;
    struct tts_peak_info info = peak_of(rig, pool);
    const struct model_peak *peak = &m->peaks[pool];
    T_EQ(info.level.bytes, peak->bytes);
    T_EQ(info.level.loose_bytes, peak->loose);
    T_EQ(info.seq, peak->seq);
    rig_peak_set(rig, pool, &set);
    T_EQ(set.count, peak->count);
    for (size_t i = 0; i < set.count; i++)
        T_EQ(set.live[i].seq, peak->born[i]);
    T_EQ((int64_t)set.bytes + info.level.loose_bytes, info.level.bytes);
}

static void check_buffers(const struct rig *rig, const struct model *m, enum tts_pool pool)
{
    static struct rig_set set;
    rig_peak_set(rig, pool, &set);
    for (size_t i = 0; i < set.count; i++) {
        const struct model_buffer *b = m->buffers;
        while (b->born != set.live[i].seq)
            b++;
        T_EQ(set.live[i].id, b->id);
        T_EQ(set.live[i].device, b->device);
        T_EQ(set.live[i].pool, pool);
        T_EQ(tts_live_bytes(&set.live[i]), b->bytes);
        T_TRUE(set.live[i].op == b->op);
    }
}

/* Checks that the peak of each pool is the peak in the phase of the whole file. */
static void check_whole(struct rig *rig)
{
    const struct tts_phase *whole;
    T_EQ(tts_follow_end(rig->follow, &whole, NULL), TTS_OK);
    for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++)
        T_EQ(peak_of(rig, pool).level.bytes, whole->usage.pools[pool].peak_bytes);
}

static void run_history(uint64_t seed, uint32_t live_max, bool with_mesh, bool wild)
{
    struct model *m = calloc(1, sizeof *m);
    struct rig *rig = rig_new(live_max, NULL);
    m->live_max = live_max;
    if (with_mesh) {
        rig_chip(rig, 0, 2);
        rig_chip(rig, 1, 2);
        m->mesh_of[0] = m->mesh_of[1] = 2 + 1;
    }
    for (int i = 0; i < 1500; i++) {
        both_step(rig, m, &seed, wild);
        if (i % 250 == 0)
            for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++)
                check_peak(rig, m, pool);
    }
    for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++) {
        check_peak(rig, m, pool);
        check_buffers(rig, m, pool);
    }
    check_whole(rig);
    rig_free(rig);
    free(m);
}

T_TEST(agrees_with_a_model_that_keeps_everything)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        run_history(seed, 256, false, false);
        run_history(seed, 256, true, false);
    }
}

T_TEST(agrees_also_where_ids_repeat_and_strangers_are_freed)
{
    for (uint64_t seed = 100; seed <= 108; seed++)
        run_history(seed, 256, seed % 2, true);
}

T_TEST(agrees_also_where_the_ledger_is_full)
{
    for (uint64_t seed = 200; seed <= 208; seed++)
        run_history(seed, 24, seed % 2, true);
}

T_TEST(of_equal_peaks_the_first_stays_with_what_lived_then)
{
    static struct rig_set set;
    struct rig *rig = rig_new(16, NULL);
    rig_op(rig, "first");                     /* event 1 */
    rig_take(rig, 0, TTS_POOL_DRAM, 7, 100);  /* event 2 */
    rig_take(rig, 0, TTS_POOL_TRACE, 8, 900); /* event 3, in another pool */
    rig_give(rig, 0, 7);                      /* event 4 */
    rig_op(rig, "second");                    /* event 5 */
    rig_take(rig, 0, TTS_POOL_DRAM, 9, 100);  /* event 6 */
    struct tts_peak_info info = peak_of(rig, TTS_POOL_DRAM);
    T_EQ(info.level.bytes, 100);
    T_EQ(info.seq, 2);
    T_TRUE(info.has_time && info.time_ns == 2000 && !info.is_start);
    T_STR_EQ(info.op, "first");
    rig_peak_set(rig, TTS_POOL_DRAM, &set);
    T_EQ(set.count, 1);
    T_EQ(set.live[0].id, 7);
    rig_take(rig, 0, TTS_POOL_DRAM, 10, 1);
    rig_peak_set(rig, TTS_POOL_DRAM, &set);
    T_EQ(set.count, 2);
    T_EQ(set.live[0].id, 9);
    rig_free(rig);
}

T_TEST(without_buffers_the_peak_is_nothing_at_the_start)
{
    static struct rig_set set;
    struct rig *rig = rig_new(16, NULL);
    rig_give_unseen(rig, 0, TTS_POOL_DRAM, 1, 500);
    rig_take(rig, 0, TTS_POOL_DRAM, 2, 400);
    T_EQ(peak_of(rig, TTS_POOL_DRAM).level.bytes, 0);
    T_EQ(peak_of(rig, TTS_POOL_DRAM).seq, 0);
    rig_peak_set(rig, TTS_POOL_DRAM, &set);
    T_EQ(set.count, 0);
    rig_take(rig, 0, TTS_POOL_DRAM, 3, 200);
    T_EQ(peak_of(rig, TTS_POOL_DRAM).level.bytes, 100);
    T_EQ(peak_of(rig, TTS_POOL_DRAM).level.loose_bytes, -500);
    rig_peak_set(rig, TTS_POOL_DRAM, &set);
    T_EQ(set.bytes, 600);
    rig_free(rig);
}

T_TEST(a_free_of_unknown_size_counts_nowhere)
{
    struct rig *rig = rig_new(16, NULL);
    struct tts_event event = rig_buffer(TTS_EVENT_FREE, 0, TTS_POOL_L1, 5, 100);
    event.size_bytes = 0;
    T_EQ(rig_event(rig, event), TTS_OK);
    rig_take(rig, 0, TTS_POOL_L1, 6, 70);
    T_EQ(peak_of(rig, TTS_POOL_L1).level.bytes, 70);
    T_EQ(peak_of(rig, TTS_POOL_L1).level.loose_bytes, 0);
    rig_free(rig);
}

T_TEST(l1_is_that_of_the_fullest_device_with_what_its_mesh_has)
{
    static struct rig_set set;
    struct rig *rig = rig_new(16, NULL);
    rig_chip(rig, 0, 5);
    rig_chip(rig, 1, 5);
    rig_take(rig, 0, TTS_POOL_L1, 1, 100);
    rig_take(rig, 1, TTS_POOL_L1, 2, 150);
    rig_take(rig, 5, TTS_POOL_L1, 3, 1000);
    struct tts_peak_info info = peak_of(rig, TTS_POOL_L1);
    T_EQ(info.level.bytes, 1150);
    T_TRUE(info.level.has_device && info.level.device == 1);
    T_TRUE(info.level.has_mesh && info.level.mesh == 5);
    rig_give(rig, 5, 3);
    rig_give(rig, 0, 1);
    rig_peak_set(rig, TTS_POOL_L1, &set);
    T_EQ(set.count, 2);
    T_EQ(set.live[0].id, 2);
    T_EQ(set.live[1].id, 3);
    T_EQ(set.bytes, 1150);
    rig_free(rig);
}

/* ---- files that begin in the middle ---- */

static bool pass_on(void *ctx, const struct tts_item *item)
{
    struct tts_item timed = *item;
    timed.has_time = true;
    timed.time_ns = 77;
    return rig_item(ctx, timed) == TTS_OK;
}

T_TEST(what_lived_before_the_file_is_in_the_peak)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t rng = seed;
        struct model *m = calloc(1, sizeof *m);
        struct rig *before = rig_new(256, NULL), *rig = rig_new(256, NULL);
        m->live_max = 256;
        for (uint32_t chip = 0; chip < 2 && seed % 2; chip++) {
            rig_chip(before, chip, 2);
            m->mesh_of[chip] = 2 + 1;
        }
        for (int i = 0; i < 300; i++)
            both_step(before, m, &rng, true);
        memset(m->loose, 0, sizeof m->loose);
        memset(m->peaks, 0, sizeof m->peaks);
        T_TRUE(tts_fold_tell(tts_follow_fold(before->follow), pass_on, rig));
        model_tick(m);
        rig->seq = before->seq;
        for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++) {
            check_peak(rig, m, pool);
            T_TRUE(peak_of(rig, pool).is_start && !peak_of(rig, pool).has_time);
            T_TRUE(peak_of(rig, pool).level.bytes > 0 && !peak_of(rig, pool).op);
        }
        for (int i = 0; i < 700; i++)
            both_step(rig, m, &rng, true);
        for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++)
            check_peak(rig, m, pool);
        rig_free(before);
        rig_free(rig);
        free(m);
    }
}

T_TEST(a_keyframe_in_the_middle_changes_nothing)
{
    uint64_t rng = 9;
    struct model *m = calloc(1, sizeof *m);
    struct rig *rig = rig_new(256, NULL), *other = rig_new(256, NULL);
    m->live_max = 256;
    rig_chip(other, 0, 1);
    rig_take(other, 0, TTS_POOL_DRAM, 1, 1 << 20);
    for (int i = 0; i < 100; i++)
        both_step(rig, m, &rng, false);
    T_TRUE(tts_fold_tell(tts_follow_fold(other->follow), pass_on, rig));
    for (int i = 0; i < 100; i++)
        both_step(rig, m, &rng, false);
    for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++)
        check_peak(rig, m, pool);
    rig_free(rig);
    rig_free(other);
    free(m);
}

/* ---- memory ---- */

T_TEST(what_is_kept_is_no_more_than_lived_at_the_peak)
{
    struct heap heap;
    heap_init(&heap);
    struct rig *rig = rig_new(4096, &heap.alloc);
    for (uint64_t i = 0; i < 100; i++)
        rig_take(rig, 0, TTS_POOL_DRAM, i, 100);
    for (uint64_t i = 0; i < 20000; i++) {
        rig_give(rig, 0, i);
        rig_take(rig, 0, TTS_POOL_DRAM, i + 100, 100);
    }
    /* 100 entries of 40 bytes, half as much again for growth, and at most 4096 bytes for the
     * objects. */
    T_TRUE(heap.live_bytes < 100 * 40 * 3 / 2 + 4096);
    rig_free(rig);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(out_of_memory_is_said_whenever_it_comes)
{
    uint64_t failed = 0;
    for (uint64_t fail_at = 1; fail_at < 40; fail_at++) {
        struct heap heap;
        heap_init(&heap);
        heap.fail_at = fail_at;
        struct rig *rig = rig_new(256, &heap.alloc);
        enum tts_status status = TTS_OK;
        for (uint64_t i = 0; rig && status == TTS_OK && i < 80; i++)
            status = rig_event(rig, rig_buffer(TTS_EVENT_ALLOC, 0, TTS_POOL_DRAM, i, 100));
        for (uint64_t i = 0; rig && status == TTS_OK && i < 80; i++)
            status = rig_event(rig, rig_buffer(TTS_EVENT_FREE, 0, TTS_POOL_DRAM, i, 0));
        T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
        T_EQ(heap.failed > 0, !rig || status == TTS_E_NOMEM);
        failed += heap.failed;
        if (rig)
            rig_free(rig);
        T_TRUE(heap_is_settled(&heap));
    }
    T_TRUE(failed > 8);
}
