#include "views/map/memreport.h"

#include "base/heap.h"
#include "device/devicepools.h"
#include "device/sizeclass.h"
#include "device/space.h"

#include <inttypes.h>

enum { COLUMN = 12 };

static const enum tts_pool reported[] = {TTS_POOL_DRAM, TTS_POOL_L1, TTS_POOL_L1_SMALL};
enum { REPORTED = sizeof reported / sizeof reported[0] };

static struct tts_space_stats pool_stats_of(const struct tts_device *device, enum tts_pool pool)
{
    struct tts_pool_stats stats = {0};
    if (!tts_device_stats(device, pool, &stats))
        return (struct tts_space_stats){0};
    return stats.space;
}

static uint64_t banks_of_pool(const struct tts_device *device, enum tts_pool pool)
{
    const struct tts_pool_layout *layout = tts_device_layout(device, pool);
    return layout ? layout->banks : 0;
}

void tts_memreport_summary(const struct tts_device *device, FILE *out)
{
    fputs(", Total Allocatable Size (B), Total Allocated (B), Total Free (B), "
          "Largest Free Block (B)\n",
          out);
    for (int i = 0; i < REPORTED; i++) {
        struct tts_space_stats stats = pool_stats_of(device, reported[i]);
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", stats.total_bytes,
                stats.taken_bytes, stats.free_bytes, stats.largest_free_bytes);
    }
}

void tts_memreport_l1(const struct tts_device *device, FILE *out)
{
    uint64_t largest = pool_stats_of(device, TTS_POOL_L1).largest_free_bytes;
    fputs("This report indicates available space for interleaving L1 buffers\n"
          ", Largest Contiguous Free Block (B), Total Free L1 Space (B)\n",
          out);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 "\n", largest,
            largest * banks_of_pool(device, TTS_POOL_L1));
}

/* ---- blocks ---- */

static void write_size_classes(const struct tts_space *space, unsigned classes, FILE *out)
{
    for (unsigned i = 0; i < classes; i++) {
        struct tts_space_cursor cursor = {0};
        struct tts_block block;
        fprintf(out, "  Size class %u: (%" PRIu64 " - ", i, UINT64_C(1024) << i);
        if (i + 1 < classes)
            fprintf(out, "%" PRIu64 ") blocks: ", UINT64_C(2048) << i);
        else
            fputs("inf) blocks: ", out);
        while (tts_space_next(space, &cursor, &block))
            if (!block.taken && tts_sizeclass_of(block.size_bytes, classes) == i)
                fprintf(out, "%" PRIu32 " ", block.id);
        fputc('\n', out);
    }
}

static void write_block_id(uint32_t id, FILE *out)
{
    if (id == TTS_BLOCK_NONE)
        fprintf(out, "%*s ", COLUMN, "none");
    else
        fprintf(out, "%*" PRIu32 " ", COLUMN, id);
}

static void write_block_table(const struct tts_block *blocks, size_t count, uint64_t offset,
                              FILE *out)
{
    static const char *const heads[] = {"Block",  "Address", "Size",
                                        "PrevID", "NextID",  "Allocated"};
    fputs("Block table:\n", out);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        fprintf(out, "%*s ", COLUMN, heads[i]);
    fputc('\n', out);
    for (size_t i = 0; i < count; i++) {
        write_block_id(blocks[i].id, out);
        fprintf(out, "%*" PRIu64 " %*" PRIu64 " ", COLUMN, blocks[i].address - offset, COLUMN,
                blocks[i].size_bytes);
        write_block_id(blocks[i].prev_id, out);
        write_block_id(blocks[i].next_id, out);
        fprintf(out, "%*s\n", COLUMN, blocks[i].taken ? "yes" : "no");
    }
}

static enum tts_status write_pool_blocks(const struct tts_space *space,
                                         const struct tts_alloc *alloc, FILE *out)
{
    struct tts_space_config config;
    size_t limit = tts_space_id_limit(space), count,
           unused = tts_space_unused_ids(space, NULL, 0);
    size_t blocks_bytes = (limit + 1) * sizeof(struct tts_block);
    size_t ids_bytes = (unused + 1) * sizeof(uint32_t);
    struct tts_block *blocks = alloc->alloc(alloc->ctx, blocks_bytes);
    uint32_t *ids = alloc->alloc(alloc->ctx, ids_bytes);
    enum tts_status status =
        blocks && ids ? tts_space_blocks(space, blocks, limit, &count) : TTS_E_NOMEM;
    if (status == TTS_OK) {
        tts_space_get_config(space, &config);
        tts_space_unused_ids(space, ids, unused);
        fputs("FreeListOpt allocator info:\nsegregated free blocks by size:\n", out);
        write_size_classes(space, tts_sizeclass_count(config.size_bytes), out);
        fputs("Free slots in block table: ", out);
        for (size_t i = 0; i < unused; i++)
            fprintf(out, "%" PRIu32 " ", ids[i]);
        fputc('\n', out);
        write_block_table(blocks, count, config.offset_bytes, out);
    }
    if (blocks)
        alloc->free(alloc->ctx, blocks, blocks_bytes);
    if (ids)
        alloc->free(alloc->ctx, ids, ids_bytes);
    return status;
}

enum tts_status tts_memreport_detail(const struct tts_device *device,
                                     const struct tts_alloc *alloc, FILE *out)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    for (int i = 0; i < REPORTED; i++) {
        struct tts_space_stats stats = pool_stats_of(device, reported[i]);
        uint64_t banks = banks_of_pool(device, reported[i]);
        const struct tts_banks *pool = tts_device_pool(device, reported[i]);
        fprintf(out,
                ",%s\n,Total allocatable (B):,%" PRIu64 "\n,Total allocated (B):,%" PRIu64
                "\n,Total free (B):,%" PRIu64 "\n",
                tts_pool_name(reported[i]), stats.total_bytes * banks,
                stats.taken_bytes * banks, stats.free_bytes * banks);
        enum tts_status status =
            pool ? write_pool_blocks(tts_banks_space(pool, 0), alloc, out) : TTS_OK;
        if (status != TTS_OK)
            return status;
    }
    return TTS_OK;
}
