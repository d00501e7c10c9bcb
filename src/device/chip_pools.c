#include "ttscope/chip.h"

#include "base/error.h"
#include "device/chip_regions.h"

const char *tts_pool_name(enum tts_pool pool)
{
    static const char *const names[] = {[TTS_POOL_DRAM] = "DRAM",
                                        [TTS_POOL_L1] = "L1",
                                        [TTS_POOL_L1_SMALL] = "L1_SMALL",
                                        [TTS_POOL_TRACE] = "TRACE"};
    return (size_t)pool < TTS_POOLS ? names[pool] : "unknown";
}

/* ---- required facts ---- */

enum { NEEDS_MAX = 6 };

struct needs {
    enum tts_fact_key keys[NEEDS_MAX];
    size_t count;
};

static enum tts_status check_needs(const struct tts_chip *chip, const struct needs *needs,
                                   const char *what, struct tts_error *err)
{
    assert(needs->count <= NEEDS_MAX);
    for (size_t i = 0; i < needs->count; i++) {
        if (!tts_chip_knows(chip, needs->keys[i]))
            return tts_error_set(err, TTS_E_NOT_FOUND,
                                 "%s of '%.31s' needs '%s': set this property", what,
                                 chip->name, tts_fact_name(needs->keys[i]));
    }
    return TTS_OK;
}

/* ---- pools ---- */

static uint32_t compute_cores(const struct tts_chip *chip)
{
    uint64_t grid = tts_chip_value(chip, TTS_FACT_GRID);
    return TTS_GRID_COLUMNS(grid) * TTS_GRID_ROWS(grid);
}

static void dram_layout(const struct tts_chip *chip, struct tts_pool_layout *out)
{
    uint64_t size = tts_chip_value(chip, TTS_FACT_DRAM_BANK_SIZE);
    uint64_t base = tts_chip_value(chip, TTS_FACT_DRAM_BASE);
    out->banks = (uint32_t)tts_chip_value(chip, TTS_FACT_DRAM_BANKS);
    out->offset_bytes = base;
    out->bank_bytes = size - base - tts_chip_trace_of_bank(chip);
    out->nominal_bytes = size;
    out->direction = TTS_DIRECTION_UP;
}

static void trace_layout(const struct tts_chip *chip, struct tts_pool_layout *out)
{
    uint64_t bytes = tts_chip_trace_of_bank(chip);
    out->banks = bytes > 0 ? (uint32_t)tts_chip_value(chip, TTS_FACT_DRAM_BANKS) : 0;
    out->offset_bytes = tts_chip_value(chip, TTS_FACT_DRAM_BANK_SIZE) - bytes;
    out->bank_bytes = out->nominal_bytes = bytes;
    out->direction = TTS_DIRECTION_UP;
}

static void l1_layout(const struct tts_chip *chip, struct tts_pool_layout *out)
{
    uint64_t size = tts_chip_value(chip, TTS_FACT_L1_SIZE);
    uint64_t base = tts_chip_value(chip, TTS_FACT_L1_BASE);
    out->banks = compute_cores(chip);
    out->offset_bytes = out->limit = base;
    out->bank_bytes = size - base - tts_chip_l1_small(chip);
    out->nominal_bytes = size;
    out->page_alignment_bytes = tts_chip_value(chip, TTS_FACT_L1_ALIGNMENT);
    out->direction = TTS_DIRECTION_DOWN;
}

static void l1_small_layout(const struct tts_chip *chip, struct tts_pool_layout *out)
{
    uint64_t bytes = tts_chip_l1_small(chip);
    out->banks = bytes > 0 ? compute_cores(chip) : 0;
    out->offset_bytes = tts_chip_value(chip, TTS_FACT_L1_SIZE) - bytes;
    out->bank_bytes = out->nominal_bytes = bytes;
    out->page_alignment_bytes = tts_chip_value(chip, TTS_FACT_L1_ALIGNMENT);
    out->direction = TTS_DIRECTION_DOWN;
}

static const struct {
    struct needs needs;
    void (*layout)(const struct tts_chip *chip, struct tts_pool_layout *out);
} pools[] = {
    [TTS_POOL_DRAM] = {{{TTS_FACT_DRAM_BANKS, TTS_FACT_DRAM_BANK_SIZE, TTS_FACT_DRAM_BASE,
                         TTS_FACT_DRAM_ALIGNMENT, TTS_FACT_TRACE_REGION},
                        5},
                       dram_layout},
    [TTS_POOL_L1] = {{{TTS_FACT_GRID, TTS_FACT_L1_SIZE, TTS_FACT_L1_BASE, TTS_FACT_L1_SMALL,
                       TTS_FACT_L1_ALIGNMENT, TTS_FACT_DRAM_ALIGNMENT},
                      6},
                     l1_layout},
    [TTS_POOL_L1_SMALL] = {{{TTS_FACT_L1_SIZE, TTS_FACT_L1_BASE, TTS_FACT_L1_SMALL,
                             TTS_FACT_L1_ALIGNMENT, TTS_FACT_DRAM_ALIGNMENT},
                            5},
                           l1_small_layout},
    [TTS_POOL_TRACE] = {{{TTS_FACT_DRAM_BANKS, TTS_FACT_DRAM_BANK_SIZE, TTS_FACT_DRAM_BASE,
                          TTS_FACT_DRAM_ALIGNMENT, TTS_FACT_TRACE_REGION},
                         5},
                        trace_layout},
};

static const struct needs grid_needed = {{TTS_FACT_GRID}, 1};

enum tts_status tts_chip_pool(const struct tts_chip *chip, enum tts_pool pool,
                              struct tts_pool_layout *out, struct tts_error *err)
{
    assert((size_t)pool < TTS_POOLS);
    enum tts_status status = tts_chip_check(chip, err);
    if (status == TTS_OK)
        status = check_needs(chip, &pools[pool].needs, tts_pool_name(pool), err);
    /* An L1_SMALL without bytes is not placed, so it does not need the grid. */
    if (status == TTS_OK && pool == TTS_POOL_L1_SMALL && tts_chip_l1_small(chip) > 0)
        status = check_needs(chip, &grid_needed, tts_pool_name(pool), err);
    if (status != TTS_OK)
        return status;
    uint64_t alignment = tts_chip_value(chip, TTS_FACT_DRAM_ALIGNMENT);
    struct tts_pool_layout layout = {.page_alignment_bytes = alignment,
                                     .block_alignment_bytes = alignment};
    pools[pool].layout(chip, &layout);
    layout.bank_page_alignment_bytes = layout.page_alignment_bytes;
    assert((layout.banks == 0) == (layout.bank_bytes == 0));
    assert(layout.bank_bytes <= layout.nominal_bytes);
    *out = layout;
    return TTS_OK;
}

/* ---- the L1 of a core ---- */

/* The reserved regions of L1, by ascending address. A region without a size (TTS_FACTS) ends
 * where the next one begins. */
static const struct {
    const char *name;
    enum tts_fact_key base, size;
} pieces[] = {
    {"mailboxes", TTS_FACT_MAILBOX_BASE, TTS_FACT_MAILBOX_SIZE},
    {"zeros", TTS_FACT_ZEROS_BASE, TTS_FACT_ZEROS_SIZE},
    {"LLK debug", TTS_FACT_LLK_DEBUG_BASE, TTS_FACT_LLK_DEBUG_SIZE},
    {"firmware", TTS_FACT_FIRMWARE_BASE, TTS_FACTS},
    {"NoC counters", TTS_FACT_NOC_COUNTERS_BASE, TTS_FACTS},
    {"fabric routing table", TTS_FACT_FABRIC_TABLE_BASE, TTS_FACTS},
    {"packet headers", TTS_FACT_PACKET_POOL_BASE, TTS_FACT_PACKET_POOL_SIZE},
};

enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };

struct parts {
    struct tts_l1_part *out;
    size_t count;
    uint64_t end; /* end of the last region */
};

static void add_part(struct parts *parts, const char *name, uint64_t end, bool grows)
{
    assert(end >= parts->end);
    if (end == parts->end)
        return;
    assert(parts->count < TTS_L1_PARTS_MAX);
    parts->out[parts->count++] = (struct tts_l1_part){name, parts->end, end, grows};
    parts->end = end;
}

/* Returns true if a region is known, and overlaps neither the region below nor the end of the
 * map. Other regions are shown as "reserved". */
static bool piece_fits(const struct tts_chip *chip, size_t idx, uint64_t from, uint64_t map_end)
{
    enum tts_fact_key base_key = pieces[idx].base, size_key = pieces[idx].size;
    if (!tts_chip_knows(chip, base_key))
        return false;
    uint64_t base = tts_chip_value(chip, base_key);
    if (base < from || base >= map_end)
        return false;
    if (size_key == TTS_FACTS)
        return true;
    return tts_chip_knows(chip, size_key) && tts_chip_value(chip, size_key) <= map_end - base;
}

static void add_reserved(const struct tts_chip *chip, struct parts *parts, uint64_t map_end)
{
    const char *below = "boot"; /* name of the bytes up to the next region */
    for (size_t i = 0; i < PIECES; i++) {
        if (!piece_fits(chip, i, parts->end, map_end)) {
            if (i == 0)
                below = "reserved";
            continue;
        }
        add_part(parts, below, tts_chip_value(chip, pieces[i].base), false);
        below = pieces[i].name;
        if (pieces[i].size == TTS_FACTS)
            continue;
        add_part(parts, below, parts->end + tts_chip_value(chip, pieces[i].size), false);
        below = "reserved";
    }
    add_part(parts, below, map_end, false);
}

size_t tts_chip_l1_parts(const struct tts_chip *chip, struct tts_l1_part out[TTS_L1_PARTS_MAX],
                         struct tts_error *err)
{
    static const struct needs needs = {{TTS_FACT_L1_SIZE, TTS_FACT_L1_MAP_END, TTS_FACT_L1_BASE,
                                        TTS_FACT_L1_SMALL, TTS_FACT_DRAM_ALIGNMENT},
                                       5};
    if (tts_chip_check(chip, err) != TTS_OK || check_needs(chip, &needs, "L1", err) != TTS_OK)
        return 0;
    uint64_t size = tts_chip_value(chip, TTS_FACT_L1_SIZE);
    struct parts parts = {.out = out};
    add_reserved(chip, &parts, tts_chip_value(chip, TTS_FACT_L1_MAP_END));
    add_part(&parts, "kernel-config ring", tts_chip_value(chip, TTS_FACT_L1_BASE), false);
    add_part(&parts, "circular buffers up, L1 buffers down", size - tts_chip_l1_small(chip),
             true);
    add_part(&parts, "L1_SMALL", size, false);
    assert(parts.end == size);
    return parts.count;
}
