#include "harness/analysis_rig.h"

static struct tts_level level_of(const struct rig *rig, enum tts_pool pool)
{
    return tts_levels_of(&rig->levels, pool);
}

T_TEST(dram_is_the_sum_in_which_a_mesh_counts_once)
{
    struct rig *rig = rig_new(16, NULL);
    rig_chip(rig, 0, 5);
    rig_chip(rig, 1, 5);
    rig_take(rig, 5, TTS_POOL_DRAM, 1, 100);
    rig_take(rig, 0, TTS_POOL_DRAM, 2, 30);
    rig_take(rig, 3, TTS_POOL_DRAM, 3, 7);
    struct tts_level level = level_of(rig, TTS_POOL_DRAM);
    T_EQ(level.bytes, 137);
    T_EQ(level.buffers, 3);
    T_TRUE(!level.has_device && !level.has_mesh);
    T_EQ(level_of(rig, TTS_POOL_TRACE).bytes, 0);
    rig_free(rig);
}

T_TEST(l1_is_that_of_the_device_with_the_most_and_of_equals_the_least_id)
{
    struct rig *rig = rig_new(16, NULL);
    rig_take(rig, 3, TTS_POOL_L1, 1, 50);
    rig_take(rig, 1, TTS_POOL_L1, 2, 50);
    T_EQ(level_of(rig, TTS_POOL_L1).device, 1);
    T_EQ(level_of(rig, TTS_POOL_L1).bytes, 50);
    rig_take(rig, 3, TTS_POOL_L1, 3, 1);
    T_EQ(level_of(rig, TTS_POOL_L1).device, 3);
    T_EQ(level_of(rig, TTS_POOL_L1).buffers, 2);
    rig_free(rig);
}

T_TEST(what_is_freed_unseen_is_loose_and_may_be_all_there_is)
{
    struct rig *rig = rig_new(16, NULL);
    rig_give_unseen(rig, 2, TTS_POOL_L1, 1, 40);
    T_EQ(level_of(rig, TTS_POOL_L1).bytes, -40);
    T_EQ(level_of(rig, TTS_POOL_L1).device, 2);
    rig_take(rig, 2, TTS_POOL_L1, 2, 100);
    struct tts_level level = level_of(rig, TTS_POOL_L1);
    T_EQ(level.bytes, 60);
    T_EQ(level.loose_bytes, -40);
    T_EQ(tts_level_listed(level).bytes, 100);
    T_EQ(tts_level_listed(level).loose_bytes, 0);
    rig_free(rig);
}

T_TEST(a_device_alone_has_what_its_mesh_has)
{
    struct rig *rig = rig_new(16, NULL);
    rig_chip(rig, 0, 5);
    rig_take(rig, 5, TTS_POOL_DRAM, 1, 100);
    rig_take(rig, 0, TTS_POOL_DRAM, 2, 30);
    rig_take(rig, 3, TTS_POOL_DRAM, 3, 7);
    T_EQ(tts_levels_of_device(&rig->levels, 0, TTS_POOL_DRAM).bytes, 130);
    T_EQ(tts_levels_of_device(&rig->levels, 5, TTS_POOL_DRAM).bytes, 100);
    struct tts_level none = tts_levels_of_device(&rig->levels, 4, TTS_POOL_DRAM);
    T_TRUE(none.bytes == 0 && none.has_device && none.device == 4);
    rig_chip(rig, 0, 3); /* the chip moves to another mesh */
    T_EQ(tts_levels_of_device(&rig->levels, 0, TTS_POOL_DRAM).bytes, 37);
    rig_free(rig);
}

T_TEST(a_buffer_is_part_of_the_level_of_its_device_and_mesh)
{
    struct tts_live live = {.device = 5};
    T_TRUE(tts_level_has(&(struct tts_level){0}, &live));
    T_TRUE(tts_level_has(&(struct tts_level){.has_device = true, .device = 5}, &live));
    T_TRUE(!tts_level_has(&(struct tts_level){.has_device = true, .mesh = 5}, &live));
    T_TRUE(tts_level_has(&(struct tts_level){.has_device = true, .has_mesh = true, .mesh = 5},
                         &live));
}
