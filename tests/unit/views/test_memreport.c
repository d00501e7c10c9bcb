#include "views/map/memreport.h"

#include "harness/chip_tools.h"
#include "torture/heap.h"

#include <stdlib.h>

/* Makes an n150, which has 12 DRAM banks of 1070773184 B and 64 cores with 1393472 B of L1. */
static struct tts_device *device_of(const struct tts_chip *chip)
{
    struct tts_device *device;
    struct tts_error err;
    T_EQ(tts_device_new(chip, NULL, NULL, &device, &err), TTS_OK);
    return device;
}

static uint64_t take(struct tts_device *device, enum tts_pool pool, uint64_t bank_bytes)
{
    static const struct tts_core_range core = {0, 0, 0, 0};
    struct tts_buffer buffer;
    struct tts_error err;
    struct tts_shard shard = {.shard_height = 1,
                              .shard_width = 1,
                              .page_height = 1,
                              .page_width = 1,
                              .cores = {&core, 1, false}};
    struct tts_request request = {
        .pool = pool, .size_bytes = bank_bytes, .page_bytes = bank_bytes, .shard = &shard};
    T_EQ(tts_device_alloc(device, &request, &buffer, &err), TTS_OK);
    return buffer.address;
}

static void give(struct tts_device *device, enum tts_pool pool, uint64_t address,
                 uint64_t bytes)
{
    struct tts_buffer buffer = {
        .pool = pool, .placed = true, .address = address, .block_bytes = bytes};
    T_EQ(tts_device_release(device, &buffer), TTS_OK);
}

enum report { SUMMARY, L1, DETAIL };

static enum tts_status write_to(FILE *out, const struct tts_device *device, enum report report,
                                const struct tts_alloc *alloc)
{
    if (report == SUMMARY)
        tts_memreport_summary(device, out);
    else if (report == L1)
        tts_memreport_l1(device, out);
    else
        return tts_memreport_detail(device, alloc, out);
    return TTS_OK;
}

static void expect(const struct tts_device *device, enum report report, const char *wanted)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    T_TRUE(out != NULL);
    T_EQ(write_to(out, device, report, NULL), TTS_OK);
    T_EQ(fclose(out), 0);
    T_STR_EQ(text, wanted);
    free(text);
}

/* Makes a device with all memory regions and some buffers in each pool. */
static struct tts_device *used_device(void)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "l1_small", "32768");
    set(&chip, "trace_region", "1048576");
    struct tts_device *device = device_of(&chip);
    uint64_t dram[3], l1[5];
    for (int i = 0; i < 3; i++)
        dram[i] = take(device, TTS_POOL_DRAM, 1024u << i);
    give(device, TTS_POOL_DRAM, dram[1], 2048);
    for (int i = 0; i < 5; i++)
        l1[i] = take(device, TTS_POOL_L1, 4096);
    give(device, TTS_POOL_L1, l1[3], 4096);
    give(device, TTS_POOL_L1, l1[0], 4096);
    give(device, TTS_POOL_L1, l1[1], 4096);
    give(device, TTS_POOL_L1, l1[4], 4096);
    take(device, TTS_POOL_L1_SMALL, 100);
    take(device, TTS_POOL_TRACE, 4096);
    return device;
}
/* A taken block has the id of the free block that it was cut from, and the rest gets a new id.
 * If two free blocks merge, the lower one keeps its id. The table is in the order of the ids.
 * Retired ids are listed in the order in which they were retired. */
T_TEST(the_detail_has_totals_of_all_banks_and_the_blocks_of_one)
{
    struct tts_device *device = used_device();
    expect(device, DETAIL,
           ",DRAM\n"
           ",Total allocatable (B):,12848196864\n"
           ",Total allocated (B):,61440\n"
           ",Total free (B):,12848135424\n"
           "FreeListOpt allocator info:\n"
           "segregated free blocks by size:\n"
           "  Size class 0: (1024 - 2048) blocks: \n"
           "  Size class 1: (2048 - 4096) blocks: 1 \n"
           "  Size class 2: (4096 - 8192) blocks: \n"
           "  Size class 3: (8192 - 16384) blocks: \n"
           "  Size class 4: (16384 - 32768) blocks: \n"
           "  Size class 5: (32768 - 65536) blocks: \n"
           "  Size class 6: (65536 - 131072) blocks: \n"
           "  Size class 7: (131072 - 262144) blocks: \n"
           "  Size class 8: (262144 - 524288) blocks: \n"
           "  Size class 9: (524288 - 1048576) blocks: \n"
           "  Size class 10: (1048576 - 2097152) blocks: \n"
           "  Size class 11: (2097152 - 4194304) blocks: \n"
           "  Size class 12: (4194304 - 8388608) blocks: \n"
           "  Size class 13: (8388608 - 16777216) blocks: \n"
           "  Size class 14: (16777216 - 33554432) blocks: \n"
           "  Size class 15: (33554432 - 67108864) blocks: \n"
           "  Size class 16: (67108864 - 134217728) blocks: \n"
           "  Size class 17: (134217728 - inf) blocks: 3 \n"
           "Free slots in block table: \n"
           "Block table:\n"
           "       Block      Address         Size       PrevID       NextID    Allocated \n"
           "           0            0         1024         none            1          yes\n"
           "           1         1024         2048            0            2           no\n"
           "           2         3072         4096            1            3          yes\n"
           "           3         7168   1070675904            2         none           no\n"
           ",L1\n"
           ",Total allocatable (B):,87085056\n"
           ",Total allocated (B):,262144\n"
           ",Total free (B):,86822912\n"
           "FreeListOpt allocator info:\n"
           "segregated free blocks by size:\n"
           "  Size class 0: (1024 - 2048) blocks: \n"
           "  Size class 1: (2048 - 4096) blocks: \n"
           "  Size class 2: (4096 - 8192) blocks: \n"
           "  Size class 3: (8192 - 16384) blocks: 1 \n"
           "  Size class 4: (16384 - 32768) blocks: \n"
           "  Size class 5: (32768 - 65536) blocks: \n"
           "  Size class 6: (65536 - 131072) blocks: \n"
           "  Size class 7: (131072 - 262144) blocks: \n"
           "  Size class 8: (262144 - 524288) blocks: \n"
           "  Size class 9: (524288 - 1048576) blocks: \n"
           "  Size class 10: (1048576 - inf) blocks: 5 \n"
           "Free slots in block table: 0 4 3 \n"
           "Block table:\n"
           "       Block      Address         Size       PrevID       NextID    Allocated \n"
           "           1      1352512         8192            2         none           no\n"
           "           2      1348416         4096            5            1          yes\n"
           "           5            0      1348416         none            2           no\n"
           ",L1_SMALL\n"
           ",Total allocatable (B):,2097152\n"
           ",Total allocated (B):,8192\n"
           ",Total free (B):,2088960\n"
           "FreeListOpt allocator info:\n"
           "segregated free blocks by size:\n"
           "  Size class 0: (1024 - 2048) blocks: \n"
           "  Size class 1: (2048 - 4096) blocks: \n"
           "  Size class 2: (4096 - 8192) blocks: \n"
           "  Size class 3: (8192 - 16384) blocks: \n"
           "  Size class 4: (16384 - 32768) blocks: 1 \n"
           "  Size class 5: (32768 - inf) blocks: \n"
           "Free slots in block table: \n"
           "Block table:\n"
           "       Block      Address         Size       PrevID       NextID    Allocated \n"
           "           0        32640          128            1         none          yes\n"
           "           1            0        32640         none            0           no\n");
    tts_device_free(device);
}

T_TEST(the_summary_is_per_bank)
{
    struct tts_device *device = used_device();
    expect(device, SUMMARY,
           ", Total Allocatable Size (B), Total Allocated (B), Total Free (B), Largest Free "
           "Block (B)\n"
           ",1070683072,5120,1070677952,1070675904\n"
           ",1360704,4096,1356608,1348416\n"
           ",32768,128,32640,32640\n");
    tts_device_free(device);
}

T_TEST(the_l1_report_multiplies_the_largest_block)
{
    struct tts_device *device = used_device();
    expect(device, L1,
           "This report indicates available space for interleaving L1 buffers\n"
           ", Largest Contiguous Free Block (B), Total Free L1 Space (B)\n"
           ",1348416,86298624\n");
    tts_device_free(device);
}

T_TEST(a_pool_that_is_not_there_is_all_zero)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_device *device = device_of(&chip);
    expect(device, SUMMARY,
           ", Total Allocatable Size (B), Total Allocated (B), Total Free (B), Largest Free "
           "Block (B)\n"
           ",1070773184,0,1070773184,1070773184\n"
           ",1393472,0,1393472,1393472\n"
           ",0,0,0,0\n");
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    T_EQ(tts_memreport_detail(device, NULL, out), TTS_OK);
    T_EQ(fclose(out), 0);
    static const char tail[] =
        "           0            0      1393472         none         none           no\n"
        ",L1_SMALL\n"
        ",Total allocatable (B):,0\n"
        ",Total allocated (B):,0\n"
        ",Total free (B):,0\n";
    T_TRUE(len >= sizeof tail);
    T_STR_EQ(text + len - (sizeof tail - 1), tail);
    free(text);
    tts_device_free(device);
}

T_TEST(without_memory_the_detail_says_so)
{
    struct tts_device *device = used_device();
    struct heap heap;
    heap_init(&heap);
    FILE *out = fopen("/dev/null", "w");
    T_TRUE(out != NULL);
    T_EQ(tts_memreport_detail(device, &heap.alloc, out), TTS_OK);
    T_TRUE(heap_is_settled(&heap));
    uint64_t calls = heap.calls;
    T_EQ(calls, 6); /* the blocks and the ids of three pools */
    for (uint64_t n = 1; n <= calls; n++) {
        heap_init(&heap);
        heap.fail_at = n;
        T_EQ(tts_memreport_detail(device, &heap.alloc, out), TTS_E_NOMEM);
        T_TRUE(heap_is_settled(&heap));
    }
    fclose(out);
    tts_device_free(device);
}
