/* Checks that every page of random buffers lies inside its bank, overlaps no other page, and is
 * found again by its address. */
#include "device/pages.h"
#include "harness/t.h"
#include "ttscope/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { PAGES_MAX = 4096 };

static struct tts_chip chip;
static struct tts_banks_map map;

static void use(const char *preset)
{
    T_EQ(tts_chip_preset(preset, &chip, NULL), TTS_OK);
    T_EQ(tts_chip_set(&chip, "l1_small", "65536", NULL), TTS_OK);
    T_EQ(tts_chip_set(&chip, "trace_region", "50000000", NULL), TTS_OK);
    T_EQ(tts_banks_map_init(&map, &chip, NULL), TTS_OK);
}

T_TEST(interleaved_pages_go_round_the_banks)
{
    struct tts_request request = {
        .pool = TTS_POOL_DRAM, .size_bytes = UINT64_C(30) * 2048, .page_bytes = 2048};
    struct tts_pool_layout pool;
    struct tts_need need;
    struct tts_page page;
    use("n150");
    T_EQ(tts_chip_pool(&chip, TTS_POOL_DRAM, &pool, NULL), TTS_OK);
    T_EQ(tts_request_need(&request, &pool, TTS_GRID(8, 8), &need, NULL), TTS_OK);
    T_EQ(tts_request_page(&request, &need, &map, 2968640, 25, &page), TTS_OK);
    T_EQ(page.bank, 1);
    T_TRUE(!page.has_core);
    /* The addresses of odd banks begin 1 GiB higher. */
    T_EQ(page.address, 2968640 + (UINT64_C(1) << 30) + 2 * 2048);
    T_EQ(tts_request_page(&request, &need, &map, 2968640, 24, &page), TTS_OK);
    T_EQ(page.address, 2968640 + 2 * 2048);
    T_EQ(tts_request_page(&request, &need, &map, 2968640, 30, &page), TTS_E_RANGE);
}

T_TEST(l1_pages_lie_on_the_core_that_has_the_bank)
{
    struct tts_request request = {
        .pool = TTS_POOL_L1, .size_bytes = UINT64_C(64) * 2048, .page_bytes = 2048};
    struct tts_pool_layout pool;
    struct tts_need need;
    struct tts_page page;
    use("n150");
    T_EQ(tts_chip_pool(&chip, TTS_POOL_L1, &pool, NULL), TTS_OK);
    T_EQ(tts_request_need(&request, &pool, TTS_GRID(8, 8), &need, NULL), TTS_OK);
    T_EQ(tts_request_page(&request, &need, &map, 1000000, 34, &page), TTS_OK);
    /* Bank 34 belongs to the first core. */
    T_TRUE(page.has_core && page.core.x == 0 && page.core.y == 0);
    T_EQ(tts_request_page(&request, &need, &map, 1000000, 63, &page), TTS_OK);
    T_TRUE(page.core.x == 1 && page.core.y == 0);
    T_EQ(page.address, 1000000);
}

T_TEST(sharded_pages_lie_in_their_shard)
{
    struct tts_core_range range = {2, 1, 3, 2};
    struct tts_distribution spread = {.rank = 2,
                                      .tensor = {4, 4},
                                      .shard = {2, 2},
                                      .grid = true,
                                      .cores = {&range, 1, false}};
    struct tts_request request = {.pool = TTS_POOL_L1,
                                  .size_bytes = UINT64_C(16) * 1024,
                                  .page_bytes = 1024,
                                  .distribution = &spread};
    struct tts_pool_layout pool;
    struct tts_need need;
    struct tts_page page;
    use("n150");
    T_EQ(tts_chip_pool(&chip, TTS_POOL_L1, &pool, NULL), TTS_OK);
    T_EQ(tts_request_need(&request, &pool, TTS_GRID(8, 8), &need, NULL), TTS_OK);
    T_EQ(tts_request_page(&request, &need, &map, 500000, 6, &page),
         TTS_OK); /* the page is in row 1 and column 2 */
    T_TRUE(page.core.x == 3 && page.core.y == 1);
    T_EQ(page.address, 500000 + 2 * 1024);
    spread.cores.column_major = true;
    T_EQ(tts_request_page(&request, &need, &map, 500000, 6, &page), TTS_OK);
    T_TRUE(page.core.x == 2 && page.core.y == 2);
    spread.cores.column_major = false;
    spread.grid = false;
    /* The page is in the third shard. */
    T_EQ(tts_request_page(&request, &need, &map, 500000, 9, &page), TTS_OK);
    T_TRUE(page.core.x == 2 && page.core.y == 2);
    T_EQ(page.address, 500000 + 1 * 1024);
}

T_TEST(a_shard_without_its_tensor_has_no_pages)
{
    struct tts_core_range range = {0, 0, 3, 0};
    struct tts_shard shard = {.shard_height = 2,
                              .shard_width = 1,
                              .page_height = 1,
                              .page_width = 1,
                              .cores = {&range, 1, false}};
    struct tts_request request = {
        .pool = TTS_POOL_L1, .size_bytes = 8192, .page_bytes = 1024, .shard = &shard};
    struct tts_pool_layout pool;
    struct tts_need need;
    struct tts_page page;
    uint64_t found;
    use("n150");
    T_EQ(tts_chip_pool(&chip, TTS_POOL_L1, &pool, NULL), TTS_OK);
    T_EQ(tts_request_need(&request, &pool, TTS_GRID(8, 8), &need, NULL), TTS_OK);
    T_EQ(tts_request_page(&request, &need, &map, 0, 0, &page), TTS_E_NOT_FOUND);
    T_EQ(tts_request_page_at(&request, &need, &map, 0, 0, 0, &found), TTS_E_NOT_FOUND);
}

/* --- random buffers --------------------------------------------------------------------- */

static uint64_t rng = 20261116;

static uint64_t below(uint64_t count)
{
    return t_random(&rng) % count;
}

struct anything {
    struct tts_request request;
    struct tts_shard shard;
    struct tts_distribution spread;
    struct tts_core_range ranges[3];
};

/* Makes up to three ranges. Each lies in its own third of the columns, so the ranges do not
 * overlap. */
static void random_cores(struct anything *a, struct tts_shard_cores *cores, bool dram)
{
    uint32_t columns = dram ? map.dram_banks : map.columns, rows = dram ? 1 : map.rows;
    size_t count = 1 + below(3);
    uint32_t width = columns / (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct tts_core_range *range = &a->ranges[i];
        range->x0 = (uint16_t)(i * width + below(width));
        range->x1 = (uint16_t)(range->x0 + below((i + 1) * width - range->x0));
        range->y0 = (uint16_t)below(rows);
        range->y1 = (uint16_t)(range->y0 + below(rows - range->y0));
    }
    *cores = (struct tts_shard_cores){a->ranges, count, below(2)};
}

static void random_spread(struct anything *a, bool grid, bool dram)
{
    struct tts_distribution *spread = &a->spread;
    uint64_t pages = 1;
    *spread =
        (struct tts_distribution){.rank = grid ? 2 : 1 + (uint32_t)below(4), .grid = grid};
    random_cores(a, &spread->cores, dram);
    if (grid)
        spread->cores.count = 1;
    for (uint32_t i = 0; i < spread->rank; i++) {
        spread->shard[i] = 1 + below(4);
        spread->tensor[i] = 1 + below(7);
    }
    if (grid) { /* at most as many shards as the range has rows and columns */
        const struct tts_core_range *range = &a->ranges[0];
        uint64_t columns = range->x1 - range->x0 + 1u, rows = range->y1 - range->y0 + 1u;
        bool turned = spread->cores.column_major;
        spread->tensor[0] = 1 + below(spread->shard[0] * (turned ? columns : rows));
        spread->tensor[1] = 1 + below(spread->shard[1] * (turned ? rows : columns));
    }
    for (uint32_t i = 0; i < spread->rank; i++)
        pages *= spread->tensor[i];
    a->request.size_bytes = pages * a->request.page_bytes;
    a->request.distribution = spread;
}

static void random_shard(struct anything *a, bool dram)
{
    struct tts_shard *shard = &a->shard;
    uint64_t cores = 0;
    *shard = (struct tts_shard){.page_height = 1 + below(3), .page_width = 1 + below(3)};
    random_cores(a, &shard->cores, dram);
    for (size_t i = 0; i < shard->cores.count; i++)
        cores +=
            (a->ranges[i].x1 - a->ranges[i].x0 + 1u) * (a->ranges[i].y1 - a->ranges[i].y0 + 1u);
    uint64_t height = 1 + below(4), width = 1 + below(3), down = 1 + below(cores);
    shard->shard_height = height * shard->page_height + below(shard->page_height);
    shard->shard_width = width * shard->page_width + below(shard->page_width);
    shard->tensor_height_pages = (down - 1) * height + 1 + below(height);
    shard->tensor_width_pages = 1 + below(width);
    a->request.size_bytes =
        shard->tensor_height_pages * shard->tensor_width_pages * a->request.page_bytes;
    a->request.shard = shard;
}

static void random_request(struct anything *a)
{
    *a = (struct anything){
        .request = {.pool = (enum tts_pool)below(TTS_POOLS), .page_bytes = 1 + below(3000)}};
    bool dram = a->request.pool == TTS_POOL_DRAM || a->request.pool == TTS_POOL_TRACE;
    uint64_t kind = below(4);
    if (kind == 0 && a->request.pool != TTS_POOL_L1_SMALL)
        a->request.size_bytes = a->request.page_bytes * (1 + below(500));
    else if (kind == 1)
        random_shard(a, dram);
    else
        random_spread(a, kind == 2, dram);
}

struct spot {
    uint32_t bank;
    uint64_t address;
};

static int by_spot(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    if (x->bank != y->bank)
        return x->bank < y->bank ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void check_page(const struct tts_request *request, const struct tts_need *need,
                       uint64_t address, const struct tts_page *page, uint64_t idx)
{
    bool dram = request->pool == TTS_POOL_DRAM || request->pool == TTS_POOL_TRACE;
    uint64_t offset = dram ? page->bank % map.dram_channel_banks * map.dram_bank_size : 0;
    uint64_t found = UINT64_MAX;
    T_TRUE(page->bank < (dram ? map.dram_banks : map.columns * map.rows));
    T_TRUE(page->has_core == !dram);
    if (!dram)
        T_EQ(map.bank_of_core[page->core.y * map.columns + page->core.x], page->bank);
    T_TRUE(page->address >= address + offset);
    T_TRUE(page->address + need->page_bytes <= address + offset + need->bytes_per_bank);
    T_EQ(tts_request_page_at(request, need, &map, address, page->bank, page->address, &found),
         TTS_OK);
    T_EQ(found, idx);
    T_EQ(tts_request_page_at(request, need, &map, address, page->bank, page->address + 1,
                             &found),
         TTS_E_NOT_FOUND);
}

/* Counts the places in the banks where a page of the buffer begins. The other places are
 * padding. */
static uint64_t count_places(const struct tts_request *request, const struct tts_need *need,
                             uint64_t address)
{
    bool dram = request->pool == TTS_POOL_DRAM || request->pool == TTS_POOL_TRACE;
    uint32_t banks = dram ? map.dram_banks : map.columns * map.rows;
    uint64_t count = 0, page;
    for (uint32_t bank = 0; bank < banks; bank++) {
        uint64_t offset = dram ? bank % map.dram_channel_banks * map.dram_bank_size : 0;
        for (uint64_t at = 0; at < need->bytes_per_bank; at += need->page_bytes)
            count += tts_request_page_at(request, need, &map, address, bank,
                                         address + offset + at, &page) == TTS_OK;
    }
    return count;
}

static void check_request(const struct tts_request *request)
{
    static struct spot spots[PAGES_MAX];
    struct tts_pool_layout pool;
    struct tts_error err = {0};
    struct tts_need need;
    T_EQ(tts_chip_pool(&chip, request->pool, &pool, NULL), TTS_OK);
    T_EQ(tts_request_need(request, &pool, chip.fact[TTS_FACT_GRID].value, &need, &err), TTS_OK);
    uint64_t pages = request->size_bytes / request->page_bytes;
    T_TRUE(pages <= PAGES_MAX);
    T_TRUE(need.bytes_per_bank * need.banks >= request->size_bytes);
    T_TRUE(need.pages >= pages && need.block_bytes >= need.bytes_per_bank);
    T_TRUE(need.block_bytes - need.bytes_per_bank < pool.block_alignment_bytes);
    T_EQ(need.bytes_per_bank % pool.page_alignment_bytes, 0);
    uint64_t address = pool.offset_bytes + pool.block_alignment_bytes * below(100);
    for (uint64_t i = 0; i < pages; i++) {
        struct tts_page page;
        T_EQ(tts_request_page(request, &need, &map, address, i, &page), TTS_OK);
        check_page(request, &need, address, &page, i);
        spots[i] = (struct spot){page.bank, page.address};
    }
    qsort(spots, pages, sizeof spots[0], by_spot);
    for (uint64_t i = 1; i < pages; i++)
        T_TRUE(spots[i].bank != spots[i - 1].bank ||
               spots[i].address - spots[i - 1].address >= need.page_bytes);
    T_EQ(count_places(request, &need, address), pages);
}

T_TEST(pages_of_any_buffer_have_places_of_their_own_and_are_found_again)
{
    static const char *const presets[] = {"n150", "p100", "p150", "galaxy", "tg-gateway"};
    for (int i = 0; i < 5; i++) {
        use(presets[i]);
        for (int round = 0; round < 400; round++) {
            struct anything a;
            random_request(&a);
            if (a.request.size_bytes == 0)
                continue;
            check_request(&a.request);
        }
    }
}
