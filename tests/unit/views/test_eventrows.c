#include "views/trace/eventrows.h"

#include "harness/item_rig.h"
#include "harness/t.h"
#include "torture/heap.h"

static struct item_rig rig;
static struct tts_eventrows rows;

static void put(struct tts_item item)
{
    struct tts_error err;
    T_EQ(tts_eventrows_item(&rows, &item, &err), TTS_OK);
}

static void expect(enum tts_eventrow_field field, uint64_t value)
{
    T_TRUE(tts_eventrow_has(&rows.row, field));
    T_EQ(rows.row.numbers[field], value);
}

static void expect_free(const char *pool, uint64_t size, uint64_t per_bank, uint64_t block)
{
    T_STR_EQ(rows.row.texts[TTS_ROW_KIND], "free");
    T_STR_EQ(rows.row.texts[TTS_ROW_POOL], pool);
    expect(TTS_ROW_SIZE, size);
    expect(TTS_ROW_PER_BANK, per_bank);
    expect(TTS_ROW_BLOCK, block);
}

static void begin(void)
{
    rig = (struct item_rig){.has_time = true};
    tts_eventrows_init(&rows, NULL);
}

T_TEST(a_free_has_what_was_allocated)
{
    begin();
    struct tts_item item = item_alloc(&rig, 3, TTS_POOL_L1, 7, 640);
    item.event.bytes_per_bank = 64;
    item.event.block_bytes = 96;
    put(item);
    expect(TTS_ROW_SIZE, 640);
    put(item_free(&rig, 3, TTS_POOL_DRAM, 7));
    expect_free("L1", 640, 64, 96);
    expect(TTS_ROW_DEVICE, 3);
    expect(TTS_ROW_SEQ, 2);
    tts_eventrows_release(&rows);
}

T_TEST(so_has_that_of_a_buffer_from_before_the_file)
{
    begin();
    struct tts_item item = item_live(&rig, 3, TTS_POOL_L1_SMALL, 7, 640);
    item.live.bytes_per_bank = 64;
    item.live.block_bytes = 96;
    put(item);
    put(item_free(&rig, 3, TTS_POOL_DRAM, 7));
    expect_free("L1_SMALL", 640, 64, 96);
    tts_eventrows_release(&rows);
}

T_TEST(an_id_is_that_of_the_last_who_had_it_and_of_one_device)
{
    begin();
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 7, 10));
    put(item_alloc(&rig, 0, TTS_POOL_TRACE, 7, 20));
    put(item_alloc(&rig, 1, TTS_POOL_DRAM, 7, 30));
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 8, 0));
    put(item_free(&rig, 0, TTS_POOL_DRAM, 7));
    T_STR_EQ(rows.row.texts[TTS_ROW_POOL], "TRACE");
    expect(TTS_ROW_SIZE, 20);
    put(item_free(&rig, 0, TTS_POOL_DRAM, 7));
    T_TRUE(!tts_eventrow_has(&rows.row, TTS_ROW_SIZE));
    put(item_free(&rig, 0, TTS_POOL_DRAM, 8));
    T_TRUE(!tts_eventrow_has(&rows.row, TTS_ROW_SIZE));
    put(item_free(&rig, 1, TTS_POOL_DRAM, 7));
    expect(TTS_ROW_SIZE, 30);
    tts_eventrows_release(&rows);
}

T_TEST(a_free_of_what_is_not_known_is_as_it_says)
{
    begin();
    struct tts_item item = item_free(&rig, 0, TTS_POOL_L1, 9);
    item.event.size_bytes = 100;
    item.event.bytes_per_bank = 10;
    item.event.block_bytes = 32;
    put(item);
    expect_free("L1", 100, 10, 32);
    tts_eventrows_release(&rows);
}

T_TEST(without_memory_it_says_so)
{
    struct heap heap;
    struct tts_error err;
    heap_init(&heap);
    rig = (struct item_rig){.has_time = true};
    tts_eventrows_init(&rows, &heap.alloc);
    heap.fail_at = 1;
    struct tts_item item = item_alloc(&rig, 0, TTS_POOL_DRAM, 7, 10);
    T_EQ(tts_eventrows_item(&rows, &item, &err), TTS_E_NOMEM);
    T_EQ(tts_eventrows_item(&rows, &item, &err), TTS_OK);
    tts_eventrows_release(&rows);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(each_known_value_of_a_sample_is_a_row)
{
    struct tts_sample sample = {0};
    struct tts_item item = {.kind = TTS_ITEM_SAMPLE, .seq = 4, .device = 2, .sample = &sample};
    unsigned buffers = tts_sample_number(TTS_SAMPLE_BUFFERS, TTS_POOL_TRACE);
    begin();
    tts_sample_set(&sample, buffers, 12);
    tts_sample_set(&sample, TTS_SAMPLE_KERNEL, 0);
    for (unsigned i = 0; i < TTS_SAMPLE_VALUES; i++)
        T_EQ(tts_eventrow_sample(&rows.row, &item, i), i == buffers || i == TTS_SAMPLE_KERNEL);
    T_STR_EQ(rows.row.texts[TTS_ROW_KIND], "sample");
    T_STR_EQ(rows.row.texts[TTS_ROW_NAME], "kernel_bytes");
    expect(TTS_ROW_SIZE, 0);
    expect(TTS_ROW_DEVICE, 2);
    expect(TTS_ROW_SEQ, 4);
    T_TRUE(!tts_eventrow_has(&rows.row, TTS_ROW_POOL));
    T_TRUE(tts_eventrow_sample(&rows.row, &item, buffers));
    T_STR_EQ(rows.row.texts[TTS_ROW_POOL], "TRACE");
    T_STR_EQ(rows.row.texts[TTS_ROW_NAME], "buffers");
    expect(TTS_ROW_COUNT, 12);
    T_TRUE(!tts_eventrow_has(&rows.row, TTS_ROW_SIZE));
    tts_eventrows_release(&rows);
}

T_TEST(unknown_bytes_per_bank_have_no_cell)
{
    begin();
    rows.l1_is_requested = true;
    struct tts_item item = item_alloc(&rig, 0, TTS_POOL_L1, 7, 640);
    item.event.bytes_per_bank = item.event.block_bytes = 640;
    put(item);
    T_TRUE(!tts_eventrow_has(&rows.row, TTS_ROW_PER_BANK));
    T_TRUE(!tts_eventrow_has(&rows.row, TTS_ROW_BLOCK));
    expect(TTS_ROW_SIZE, 640);
    tts_eventrows_release(&rows);
}
