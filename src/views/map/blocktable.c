#include "views/map/blocktable.h"

#include "base/heap.h"
#include "device/sizeclass.h"
#include "device/space.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMN_MIN = 12, ID_TEXT_MAX = 12 };

static void write_class(const struct tts_space *space, unsigned class_idx, unsigned classes,
                        FILE *out)
{
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    uint64_t least = UINT64_C(1024) << class_idx;
    if (class_idx == 0)
        fprintf(out, "  class %2u, %12s %9" PRIu64 ":", class_idx, "below", 2 * least);
    else if (class_idx + 1 < classes)
        fprintf(out, "  class %2u, %9" PRIu64 " to %9" PRIu64 ":", class_idx, least,
                2 * least - 1);
    else
        fprintf(out, "  class %2u, %9" PRIu64 " and above:", class_idx, least);
    while (tts_space_next(space, &cursor, &block))
        if (!block.taken && tts_sizeclass_of(block.size_bytes, classes) == class_idx)
            fprintf(out, " %" PRIu32, block.id);
    fputc('\n', out);
}

static void write_unused(uint32_t first, uint32_t end, FILE *out)
{
    if (first + 1 == end)
        fprintf(out, " %" PRIu32, first);
    else if (first < end)
        fprintf(out, " %" PRIu32 "-%" PRIu32, first, end - 1);
}

/* Writes the ids below the limit that no block has, with ranges as "first-last". */
static void write_unused_ids(const struct tts_block *blocks, size_t count, uint32_t limit,
                             FILE *out)
{
    uint32_t next = 0;
    fputs("  unused ids:", out);
    for (size_t i = 0; i < count; i++) {
        write_unused(next, blocks[i].id, out);
        next = blocks[i].id + 1;
    }
    write_unused(next, limit, out);
    fputc('\n', out);
}

static const char *block_id_text(char out[ID_TEXT_MAX], uint32_t id)
{
    if (id == TTS_BLOCK_NONE)
        return "none";
    snprintf(out, ID_TEXT_MAX, "%" PRIu32, id);
    return out;
}

/* Returns the width of a column for the largest number and one space before it. */
static int block_column_width(uint64_t largest)
{
    int width = 2;
    while (largest >= 10) {
        largest /= 10;
        width++;
    }
    return width > COLUMN_MIN ? width : COLUMN_MIN;
}

static void write_block_rows(const struct tts_space_config *config,
                             const struct tts_block *blocks, size_t count, FILE *out)
{
    int width = block_column_width(config->size_bytes);
    fprintf(out, "%*s%*s%*s%*s%*s%*s\n", width, "Block", width, "Address", width, "Size", width,
            "PrevID", width, "NextID", width, "Allocated");
    for (size_t i = 0; i < count; i++) {
        char prev[ID_TEXT_MAX], next[ID_TEXT_MAX];
        fprintf(out, "%*" PRIu32 "%*" PRIu64 "%*" PRIu64 "%*s%*s%*s\n", width, blocks[i].id,
                width, blocks[i].address - config->offset_bytes, width, blocks[i].size_bytes,
                width, block_id_text(prev, blocks[i].prev_id), width,
                block_id_text(next, blocks[i].next_id), width, blocks[i].taken ? "yes" : "no");
    }
}

enum tts_status tts_blocktable_write(const struct tts_space *space,
                                     const struct tts_alloc *alloc, FILE *out)
{
    if (!alloc)
        alloc = tts_alloc_libc();
    struct tts_space_config config;
    tts_space_get_config(space, &config);
    uint32_t limit = tts_space_id_limit(space);
    size_t bytes = (limit + (size_t)1) * sizeof(struct tts_block), count = 0;
    struct tts_block *blocks = alloc->alloc(alloc->ctx, bytes);
    if (!blocks)
        return TTS_E_NOMEM;
    enum tts_status status = tts_space_blocks(space, blocks, limit, &count);
    if (status == TTS_OK) {
        unsigned classes = tts_sizeclass_count(config.size_bytes);
        fprintf(out,
                "blocks, by id; Address is relative, add the pool offset %" PRIu64
                " for absolute\n"
                "  ids of the free blocks of each size class, by address:\n",
                config.offset_bytes);
        for (unsigned i = 0; i < classes; i++)
            write_class(space, i, classes, out);
        write_unused_ids(blocks, count, limit, out);
        write_block_rows(&config, blocks, count, out);
    }
    alloc->free(alloc->ctx, blocks, bytes);
    return status;
}
