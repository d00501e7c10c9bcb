/* pages.c: converts between a page of a buffer and its bank, core and address. */
#include "device/pages.h"
#include "base/error.h"
#include "device/shards.h"
#include "ttscope/buffer.h"

#include <assert.h>

enum tts_status tts_banks_map_init(struct tts_banks_map *map, const struct tts_chip *chip,
                                   struct tts_error *err)
{
    static const enum tts_fact_key needed[] = {TTS_FACT_GRID, TTS_FACT_DRAM_BANKS,
                                               TTS_FACT_DRAM_CHANNEL_BANKS,
                                               TTS_FACT_DRAM_BANK_SIZE};
    enum tts_status status = tts_chip_check(chip, err);
    if (status != TTS_OK)
        return status;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (chip->fact[needed[i]].origin == TTS_ORIGIN_UNKNOWN)
            return tts_error_set(err, TTS_E_NOT_FOUND,
                                 "'%s' of device '%.31s' is unknown: set this property",
                                 tts_fact_name(needed[i]), chip->name);
    uint64_t grid = chip->fact[TTS_FACT_GRID].value;
    map->columns = TTS_GRID_COLUMNS(grid);
    map->rows = TTS_GRID_ROWS(grid);
    map->dram_banks = (uint32_t)chip->fact[TTS_FACT_DRAM_BANKS].value;
    map->dram_channel_banks = (uint32_t)chip->fact[TTS_FACT_DRAM_CHANNEL_BANKS].value;
    map->dram_bank_size = chip->fact[TTS_FACT_DRAM_BANK_SIZE].value;
    uint32_t cores = map->columns * map->rows;
    tts_bank_permutation(cores, map->bank_of_core);
    for (uint32_t core = 0; core < cores; core++)
        map->core_of_bank[map->bank_of_core[core]] = (uint16_t)core;
    return TTS_OK;
}

static bool in_dram(const struct tts_request *request)
{
    return request->pool == TTS_POOL_DRAM || request->pool == TTS_POOL_TRACE;
}

static uint64_t bank_offset(const struct tts_banks_map *map, uint32_t bank)
{
    return bank % map->dram_channel_banks * map->dram_bank_size;
}

/* --- cores in the order of a sharding --------------------------------------------------- */

struct tts_core tts_shard_core(const struct tts_shard_cores *cores, uint32_t idx)
{
    const struct tts_core_range *range = cores->ranges;
    for (;; range++) {
        uint32_t columns = (uint32_t)(range->x1 - range->x0 + 1);
        uint32_t rows = (uint32_t)(range->y1 - range->y0 + 1);
        if (idx >= columns * rows) {
            idx -= columns * rows;
            continue;
        }
        uint32_t x = cores->column_major ? idx / rows : idx % columns;
        uint32_t y = cores->column_major ? idx % rows : idx / columns;
        return (struct tts_core){(uint16_t)(range->x0 + x), (uint16_t)(range->y0 + y)};
    }
}

static bool index_of_core(const struct tts_shard_cores *cores, struct tts_core core,
                          uint32_t *idx)
{
    uint32_t before = 0;
    for (size_t i = 0; i < cores->count; i++) {
        const struct tts_core_range *range = &cores->ranges[i];
        uint32_t columns = (uint32_t)(range->x1 - range->x0 + 1);
        uint32_t rows = (uint32_t)(range->y1 - range->y0 + 1);
        if (core.x >= range->x0 && core.x <= range->x1 && core.y >= range->y0 &&
            core.y <= range->y1) {
            uint32_t x = (uint32_t)(core.x - range->x0), y = (uint32_t)(core.y - range->y0);
            *idx = before + (cores->column_major ? x * rows + y : y * columns + x);
            return true;
        }
        before += columns * rows;
    }
    return false;
}

/* Converts a shard (row, column) of a two-dimensional grid to the index of its core. */
static uint32_t core_of_cell(const struct tts_shards *shards, uint64_t row, uint64_t column)
{
    const struct tts_core_range *range = &shards->cores->ranges[0];
    /* A row of shards lies along x, so in column-major order it is a column of cores. */
    if (shards->cores->column_major)
        return (uint32_t)(row * (uint64_t)(range->y1 - range->y0 + 1) + column);
    return (uint32_t)(row * (uint64_t)(range->x1 - range->x0 + 1) + column);
}

static void cell_of_core(const struct tts_shards *shards, uint32_t idx, uint64_t cell[2])
{
    const struct tts_core_range *range = &shards->cores->ranges[0];
    uint32_t side = shards->cores->column_major ? (uint32_t)(range->y1 - range->y0 + 1)
                                                : (uint32_t)(range->x1 - range->x0 + 1);
    cell[0] = idx / side;
    cell[1] = idx % side;
}

/* --- sharded pages ---------------------------------------------------------------------- */

/* Finds the place of a page of the tensor: *core becomes the index of the core in the sharding,
 * *local the number of the page on that core. */
static void deal(const struct tts_shards *shards, uint64_t page, uint32_t *core,
                 uint64_t *local)
{
    uint64_t shard_id = 0, inside = 0, shard_stride = 1, inside_stride = 1;
    uint64_t cell[TTS_RANK_MAX];
    for (uint32_t i = shards->rank; i-- > 0;) {
        uint64_t at = page % shards->tensor[i];
        page /= shards->tensor[i];
        cell[i] = at / shards->shard[i];
        shard_id += cell[i] * shard_stride;
        inside += at % shards->shard[i] * inside_stride;
        shard_stride *= shards->across[i];
        inside_stride *= shards->shard[i];
    }
    if (shards->grid) {
        *core = core_of_cell(shards, cell[0], cell[1]);
        *local = inside;
    } else {
        *core = (uint32_t)(shard_id % shards->core_count);
        *local = shard_id / shards->core_count * shards->volume + inside;
    }
}

/* Finds the page of the tensor at place `local` of a core. Returns false if the place is
 * padding. */
static bool collect(const struct tts_shards *shards, uint32_t core, uint64_t local,
                    uint64_t *page)
{
    uint64_t cell[TTS_RANK_MAX], inside = local % shards->volume, result = 0, stride = 1;
    if (shards->grid) {
        cell_of_core(shards, core, cell);
        if (local >= shards->volume)
            return false;
    } else {
        uint64_t shard_id = local / shards->volume * shards->core_count + core;
        for (uint32_t i = shards->rank; i-- > 0;) {
            cell[i] = shard_id % shards->across[i];
            shard_id /= shards->across[i];
        }
        if (shard_id > 0)
            return false; /* the place is after the last shard */
    }
    for (uint32_t i = shards->rank; i-- > 0;) {
        uint64_t at = cell[i] * shards->shard[i] + inside % shards->shard[i];
        inside /= shards->shard[i];
        if (at >= shards->tensor[i])
            return false;
        result += at * stride;
        stride *= shards->tensor[i];
    }
    *page = result;
    return true;
}

static bool tensor_is_known(const struct tts_shards *shards)
{
    return shards->tensor[0] > 0;
}

/* --- pages ------------------------------------------------------------------------------ */

static void set_core(const struct tts_banks_map *map, struct tts_page *page, uint32_t core)
{
    page->has_core = true;
    page->core =
        (struct tts_core){(uint16_t)(core % map->columns), (uint16_t)(core / map->columns)};
}

enum tts_status tts_request_page(const struct tts_request *request, const struct tts_need *need,
                                 const struct tts_banks_map *map, uint64_t address,
                                 uint64_t page, struct tts_page *out)
{
    if (request->size_bytes == 0 || page >= request->size_bytes / request->page_bytes)
        return TTS_E_RANGE;
    struct tts_page place = {0};
    uint64_t local = page / need->banks;
    if (request->shard || request->distribution) {
        struct tts_shards shards;
        uint32_t idx;
        tts_shards_again(&shards, request);
        if (!tensor_is_known(&shards))
            return TTS_E_NOT_FOUND;
        deal(&shards, page, &idx, &local);
        struct tts_core core = tts_shard_core(shards.cores, idx);
        place.bank =
            in_dram(request) ? core.x : map->bank_of_core[core.y * map->columns + core.x];
    } else {
        place.bank = (uint32_t)(page % need->banks);
    }
    place.address = address + local * need->page_bytes;
    if (in_dram(request))
        place.address += bank_offset(map, place.bank);
    else
        set_core(map, &place, map->core_of_bank[place.bank]);
    *out = place;
    return TTS_OK;
}

static bool page_of_local(const struct tts_request *request, const struct tts_need *need,
                          const struct tts_banks_map *map, uint32_t bank, uint64_t local,
                          uint64_t *page)
{
    if (!request->shard && !request->distribution) {
        *page = local * need->banks + bank;
        return bank < need->banks && *page < need->pages;
    }
    struct tts_shards shards;
    struct tts_core core = {(uint16_t)bank, 0};
    uint32_t idx;
    tts_shards_again(&shards, request);
    if (!in_dram(request)) {
        core.x = (uint16_t)(map->core_of_bank[bank] % map->columns);
        core.y = (uint16_t)(map->core_of_bank[bank] / map->columns);
    }
    return tensor_is_known(&shards) && index_of_core(shards.cores, core, &idx) &&
           collect(&shards, idx, local, page);
}

enum tts_status tts_request_page_at(const struct tts_request *request,
                                    const struct tts_need *need,
                                    const struct tts_banks_map *map, uint64_t address,
                                    uint32_t bank, uint64_t at, uint64_t *page)
{
    uint32_t banks = in_dram(request) ? map->dram_banks : map->columns * map->rows;
    if (bank >= banks || need->page_bytes == 0)
        return TTS_E_NOT_FOUND;
    uint64_t start = address + (in_dram(request) ? bank_offset(map, bank) : 0), found;
    if (at < start || at - start >= need->bytes_per_bank || (at - start) % need->page_bytes)
        return TTS_E_NOT_FOUND;
    if (!page_of_local(request, need, map, bank, (at - start) / need->page_bytes, &found))
        return TTS_E_NOT_FOUND;
    *page = found;
    return TTS_OK;
}
