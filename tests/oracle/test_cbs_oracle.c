/* Compares random programs on small grids with two slow and obvious models: the runtime's rule
 * applied to the whole program at once, with all ranges known beforehand, and a map of every
 * byte of each core.
 *
 *   test_cbs_oracle [--seed N] [--histories N]
 *
 * History i depends only on seed N + i. The whole visible state is compared after every
 * circular buffer, so that the program printed on a difference ends with the buffer that shows
 * it. */
#include "base/number.h"
#include "device/cbs.h"
#include "device/cbs_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    SIDE = 6,
    CORES = SIDE * SIDE,
    BYTES = 4096, /* modelled bytes of a core; no buffer goes beyond */
    CBS = 24,
    OWN = 3, /* maximum number of ranges of one circular buffer */
    POOL = 8,
    INDICES = 40,
};

struct cb {
    struct tts_core_range ranges[OWN];
    struct tts_cb_index indices[3];
    size_t range_count, index_count;
    uint64_t total_bytes;
    bool global;
};

/* --- the runtime's rule, on the whole program ------------------------------------------- */

struct batch {
    struct tts_core_range ranges[CBS * OWN]; /* without duplicates */
    uint64_t ends[CBS * OWN];
    bool placed[CBS * OWN];
    size_t count;
    uint64_t starts[CBS];
};

static bool equal(struct tts_core_range a, struct tts_core_range b)
{
    return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}

static bool intersect(struct tts_core_range a, struct tts_core_range b)
{
    return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

static size_t batch_find(const struct batch *b, struct tts_core_range range)
{
    size_t i = 0;
    while (i < b->count && !equal(b->ranges[i], range))
        i++;
    return i;
}

static uint64_t batch_start(const struct batch *b, const struct cb *cb, uint64_t base,
                            uint64_t alignment)
{
    uint64_t start = base;
    for (size_t i = 0; i < cb->range_count; i++) {
        size_t own = batch_find(b, cb->ranges[i]);
        if (b->placed[own] && b->ends[own] > start)
            start = b->ends[own];
    }
    while (start % alignment != 0)
        start++;
    return start;
}

static void batch_place(struct batch *b, const struct cb *cb, uint64_t start)
{
    for (size_t i = 0; i < cb->range_count; i++) {
        for (size_t q = 0; q < b->count; q++) {
            if (!intersect(b->ranges[q], cb->ranges[i]))
                continue;
            bool own = equal(b->ranges[q], cb->ranges[i]);
            if (!own && b->placed[q] && start < b->ends[q])
                continue;
            b->ends[q] = start + cb->total_bytes;
            b->placed[q] = true;
        }
    }
}

static void batch_run(struct batch *b, const struct cb *cbs, size_t count,
                      const struct tts_cbs_config *config)
{
    *b = (struct batch){0};
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < cbs[c].range_count; i++) {
            if (batch_find(b, cbs[c].ranges[i]) == b->count)
                b->ranges[b->count++] = cbs[c].ranges[i];
        }
    }
    for (size_t c = 0; c < count; c++) {
        if (cbs[c].global)
            continue;
        b->starts[c] = batch_start(b, &cbs[c], config->base, config->alignment_bytes);
        batch_place(b, &cbs[c], b->starts[c]);
    }
}

/* --- the map of bytes ------------------------------------------------------------------- */

struct bytes {
    uint32_t on[CORES][BYTES]; /* one bit for each circular buffer that uses the byte */
    uint64_t indices[CORES];
    uint64_t top; /* all bytes from here on are free */
};

static bool covers(const struct cb *cb, uint32_t x, uint32_t y)
{
    struct tts_core_range core = {(uint16_t)x, (uint16_t)y, (uint16_t)x, (uint16_t)y};
    for (size_t i = 0; i < cb->range_count; i++) {
        if (intersect(cb->ranges[i], core))
            return true;
    }
    return false;
}

static void bytes_place(struct bytes *b, const struct cb *cb, uint64_t start, size_t idx)
{
    for (uint32_t core = 0; core < CORES; core++) {
        if (!covers(cb, core % SIDE, core / SIDE))
            continue;
        for (size_t i = 0; i < cb->index_count; i++)
            b->indices[core] |= UINT64_C(1) << cb->indices[i].index;
        for (uint64_t at = start; !cb->global && at < start + cb->total_bytes; at++)
            b->on[core][at] |= UINT32_C(1) << idx;
    }
    if (!cb->global && start + cb->total_bytes > b->top)
        b->top = start + cb->total_bytes;
}

/* Returns the earlier circular buffers that share a byte with circular buffer `idx`, as
 * bits. */
static uint32_t bytes_shared(const struct bytes *b, size_t idx)
{
    uint32_t shared = 0;
    for (uint32_t core = 0; core < CORES; core++) {
        for (uint64_t at = 0; at < b->top; at++) {
            if (b->on[core][at] >> idx & 1)
                shared |= b->on[core][at] & ~(UINT32_C(1) << idx);
        }
    }
    return shared;
}

/* --- random programs -------------------------------------------------------------------- */

struct rig {
    uint64_t random;
    struct tts_cbs_config config;
    int style; /* style of the ranges: 0 disjoint, 1 often nested, else any */
    struct tts_core_range pool[POOL];
    size_t pool_count;
    struct cb cbs[CBS];
    size_t count;
    struct batch batch;
    struct bytes bytes;
    uint64_t floors[CORES];
    struct tts_cbs_floor floor;
    const char *difference;
    uint64_t overlaps; /* total, to verify that the test sees some */
};

/* Returns a number below `bound`. splitmix64 accepts any seed. */
static uint32_t below(struct rig *rig, uint32_t bound)
{
    uint64_t z = rig->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) % bound);
}

/* Chooses a part of [from, to], often a short one, because long parts nearly always
 * intersect. */
static void stretch_in(struct rig *rig, uint16_t *from, uint16_t *to)
{
    uint32_t side = *to - *from + 1u,
             width = 1 + below(rig, below(rig, 4) && side > 2 ? 2 : side);
    *from = (uint16_t)(*from + below(rig, side - width + 1));
    *to = (uint16_t)(*from + width - 1);
}

static struct tts_core_range range_in(struct rig *rig, struct tts_core_range within)
{
    stretch_in(rig, &within.x0, &within.x1);
    stretch_in(rig, &within.y0, &within.y1);
    return within;
}

static void new_pool(struct rig *rig)
{
    struct tts_core_range whole = {0, 0, (uint16_t)(rig->config.columns - 1),
                                   (uint16_t)(rig->config.rows - 1)};
    size_t wanted = below(rig, 2) ? POOL : 1 + below(rig, POOL);
    rig->pool_count = 0;
    for (int tries = 0; tries < 40 && rig->pool_count < wanted; tries++) {
        size_t n = rig->pool_count;
        bool inside = rig->style == 1 && n > 0 && below(rig, 3) != 0;
        struct tts_core_range range =
            range_in(rig, inside ? rig->pool[below(rig, (uint32_t)n)] : whole);
        bool taken = false;
        for (size_t i = 0; i < n; i++)
            taken = taken || (rig->style == 0 && intersect(range, rig->pool[i]));
        if (!taken)
            rig->pool[rig->pool_count++] = range;
    }
}

static void new_history(struct rig *rig, uint64_t seed)
{
    rig->random = seed;
    uint32_t base = below(rig, 100);
    rig->config =
        (struct tts_cbs_config){.base = base,
                                .l1_bytes = base + 40 + below(rig, 1000),
                                .l1_small_bytes = below(rig, 40),
                                .alignment_bytes = UINT64_C(1) << below(rig, 7),
                                .columns = below(rig, 2) ? SIDE : 1 + below(rig, SIDE),
                                .rows = below(rig, 2) ? SIDE : 1 + below(rig, SIDE),
                                .max_indices = 1 + below(rig, INDICES)};
}

static void new_program(struct rig *rig)
{
    rig->style = (int)below(rig, 5);
    new_pool(rig);
    rig->count = 0;
    memset(&rig->bytes, 0, sizeof rig->bytes);
}

/* Returns a circular buffer that is nearly always valid: separate ranges, pages that divide the
 * size. */
static struct cb next_cb(struct rig *rig)
{
    struct cb cb = {.total_bytes = below(rig, 10) ? below(rig, 10) * below(rig, 12) : 0,
                    .global = below(rig, 6) == 0};
    size_t wanted = below(rig, 4) ? 1 : 1 + below(rig, OWN);
    for (int tries = 0; tries < 10 && cb.range_count < wanted; tries++) {
        struct tts_core_range range = rig->pool[below(rig, (uint32_t)rig->pool_count)];
        bool apart = true;
        for (size_t i = 0; i < cb.range_count; i++)
            apart = apart && !intersect(range, cb.ranges[i]);
        if (apart || below(rig, 200) == 0)
            cb.ranges[cb.range_count++] = range;
    }
    for (uint32_t i = below(rig, 4) ? 0 : 1 + below(rig, 3); i > 0; i--) {
        uint64_t page = 1 + below(rig, 4);
        if (cb.total_bytes % page != 0 && below(rig, 20))
            page = 0;
        cb.indices[cb.index_count++] =
            (struct tts_cb_index){below(rig, rig->config.max_indices + 1), page};
    }
    return cb;
}

static bool may_be_added(const struct rig *rig, const struct cb *cb)
{
    uint64_t indices = 0;
    for (size_t i = 0; i < cb->index_count; i++) {
        const struct tts_cb_index *index = &cb->indices[i];
        if (index->index >= rig->config.max_indices || indices >> index->index & 1)
            return false;
        if (index->page_bytes != 0 && cb->total_bytes % index->page_bytes != 0)
            return false;
        indices |= UINT64_C(1) << index->index;
    }
    for (size_t i = 0; i < cb->range_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (intersect(cb->ranges[i], cb->ranges[j]))
                return false;
        }
    }
    for (uint32_t core = 0; core < CORES; core++) {
        if (covers(cb, core % SIDE, core / SIDE) && rig->bytes.indices[core] & indices)
            return false;
    }
    return true;
}

static void new_floor(struct rig *rig)
{
    uint64_t base = rig->config.base;
    uint32_t span = (uint32_t)(rig->config.l1_bytes - base) + 100;
    bool by_core = below(rig, 2);
    for (size_t i = 0; i < CORES; i++)
        rig->floors[i] = below(rig, 4) ? base + below(rig, span) : UINT64_MAX;
    rig->floor = (struct tts_cbs_floor){.known = below(rig, 4) != 0,
                                        .address = base + below(rig, span),
                                        .by_core = by_core ? rig->floors : NULL};
}

/* --- comparing -------------------------------------------------------------------------- */

static bool differ(struct rig *rig, const char *what)
{
    rig->difference = what;
    return false;
}

static uint64_t floor_at(const struct rig *rig, uint32_t x, uint32_t y)
{
    if (!rig->floor.known)
        return UINT64_MAX;
    return rig->floor.by_core ? rig->floors[y * rig->config.columns + x] : rig->floor.address;
}

static bool same_placed(struct rig *rig, const struct tts_cbs *cbs)
{
    size_t first_range = 0;
    for (size_t i = 0; i < rig->count; i++) {
        const struct cb *cb = &rig->cbs[i];
        const struct tts_cb_placed *placed = tts_cbs_at(cbs, i);
        uint64_t start = cb->global ? 7 : rig->batch.starts[i], indices = 0;
        for (size_t k = 0; k < cb->index_count; k++)
            indices |= UINT64_C(1) << cb->indices[k].index;
        if (placed == NULL || placed->address != start)
            return differ(rig, "address");
        if (placed->total_bytes != cb->total_bytes || placed->global != cb->global ||
            placed->indices != indices || placed->first_range != first_range ||
            placed->range_count != cb->range_count)
            return differ(rig, "what is placed");
        for (size_t k = 0; k < cb->range_count; k++) {
            if (!equal(tts_cbs_range(cbs, first_range + k), cb->ranges[k]))
                return differ(rig, "ranges");
        }
        first_range += cb->range_count;
    }
    return tts_cbs_at(cbs, rig->count) == NULL || differ(rig, "one too many");
}

/* Compares the overlaps of the last buffer. Earlier buffers were compared when they were the
 * last. */
static bool same_overlaps(struct rig *rig, const struct tts_cbs *cbs)
{
    uint32_t shared = bytes_shared(&rig->bytes, rig->count - 1);
    if (tts_cbs_at(cbs, rig->count - 1)->overlaps != (size_t)__builtin_popcount(shared))
        return differ(rig, "overlaps");
    rig->overlaps += shared != 0;
    /* If ranges are equal or disjoint, the runtime's rule about ranges is exact for cores. */
    return rig->style != 0 || shared == 0 || differ(rig, "a byte is taken twice");
}

static struct tts_core_room true_room(const struct rig *rig, uint32_t x, uint32_t y)
{
    const struct tts_cbs_config *c = &rig->config;
    struct tts_core_room room = {.region_end = c->base,
                                 .ceiling = c->l1_bytes - c->l1_small_bytes};
    for (uint64_t at = 0; at < rig->bytes.top; at++) {
        if (rig->bytes.on[y * SIDE + x][at] != 0) {
            room.cb_bytes++;
            room.region_end = at + 1;
        }
    }
    uint64_t floor = floor_at(rig, x, y);
    if (floor < room.ceiling)
        room.ceiling = floor;
    if (room.ceiling >= room.region_end)
        room.free_bytes = room.ceiling - room.region_end;
    else
        room.excess_bytes = room.region_end - room.ceiling;
    return room;
}

static bool same_rooms(struct rig *rig, const struct tts_cbs *cbs)
{
    struct tts_core tightest = {0, 0};
    struct tts_core_room least = {0}, room, told;
    int64_t least_left = INT64_MAX;
    for (uint16_t y = 0; y < rig->config.rows; y++) {
        for (uint16_t x = 0; x < rig->config.columns; x++) {
            room = true_room(rig, x, y);
            if (tts_cbs_core(cbs, &rig->floor, (struct tts_core){x, y}, &told) != TTS_OK ||
                memcmp(&room, &told, sizeof room) != 0)
                return differ(rig, "room of a core");
            int64_t left = (int64_t)room.ceiling - (int64_t)room.region_end;
            if (left < least_left) {
                least_left = left;
                least = room;
                tightest = (struct tts_core){x, y};
            }
        }
    }
    struct tts_core core = tts_cbs_tightest(cbs, &rig->floor, &told);
    return (core.x == tightest.x && core.y == tightest.y &&
            memcmp(&least, &told, sizeof told) == 0) ||
           differ(rig, "tightest core");
}

static uint64_t range_floor(const struct rig *rig, struct tts_core_range r)
{
    uint64_t lowest = UINT64_MAX;
    for (uint32_t y = r.y0; y <= r.y1; y++) {
        for (uint32_t x = r.x0; x <= r.x1; x++)
            lowest = floor_at(rig, x, y) < lowest ? floor_at(rig, x, y) : lowest;
    }
    return lowest;
}

static bool same_check(struct rig *rig, const struct tts_cbs *cbs)
{
    const struct batch *b = &rig->batch;
    struct tts_failure told = {0};
    enum tts_status status = tts_cbs_check(cbs, &rig->floor, &told);
    for (size_t i = 0; i < b->count; i++) {
        if (!b->placed[i])
            continue;
        bool beyond = b->ends[i] > rig->config.l1_bytes;
        uint64_t lowest = range_floor(rig, b->ranges[i]);
        if (!beyond && lowest >= b->ends[i])
            continue;
        bool same = status == TTS_E_FULL && equal(told.range, b->ranges[i]) &&
                    told.region_end == b->ends[i] &&
                    told.kind == (beyond ? TTS_FAILURE_CB_BEYOND : TTS_FAILURE_CB_CLASH) &&
                    told.l1_bytes == (beyond ? rig->config.l1_bytes : 0) &&
                    told.l1_address == (beyond ? 0 : lowest);
        return same || differ(rig, "failure");
    }
    return status == TTS_OK || differ(rig, "a failure that is none");
}

/* --- the run ---------------------------------------------------------------------------- */

static bool step(struct rig *rig, struct tts_cbs *cbs)
{
    struct cb *cb = &rig->cbs[rig->count];
    *cb = next_cb(rig);
    struct tts_cb given = {
        cb->ranges, cb->range_count, cb->total_bytes, cb->indices, cb->index_count, cb->global,
        7};
    uint64_t address = UINT64_MAX;
    enum tts_status status = tts_cbs_add(cbs, &given, &address, NULL);
    bool expected = may_be_added(rig, cb);
    if (expected != (status == TTS_OK))
        return differ(rig, "refusal");
    if (expected)
        rig->count++;
    batch_run(&rig->batch, rig->cbs, rig->count, &rig->config);
    new_floor(rig);
    if (expected) {
        if (address != (cb->global ? 7 : rig->batch.starts[rig->count - 1]))
            return differ(rig, "address given back");
        if (!cb->global && address + cb->total_bytes > BYTES)
            return differ(rig, "past the bytes that are watched");
        bytes_place(&rig->bytes, cb, address, rig->count - 1);
        if (!same_overlaps(rig, cbs))
            return false;
    }
    if (!tts_cbs_is_valid(cbs))
        return differ(rig, "not valid");
    return same_placed(rig, cbs) && same_rooms(rig, cbs) && same_check(rig, cbs);
}

static void print_program(const struct rig *rig)
{
    const struct tts_cbs_config *c = &rig->config;
    fprintf(stderr, "%ux%u, base %" PRIu64 ", L1 %" PRIu64 ", alignment %" PRIu64 "\n",
            c->columns, c->rows, c->base, c->l1_bytes, c->alignment_bytes);
    for (size_t i = 0; i <= rig->count && i < CBS; i++) {
        const struct cb *cb = &rig->cbs[i];
        fprintf(stderr, "%s%" PRIu64 " bytes", i == rig->count ? "(not added) " : "",
                cb->total_bytes);
        for (size_t k = 0; k < cb->range_count; k++)
            fprintf(stderr, " [%u-%u - %u-%u]", cb->ranges[k].x0, cb->ranges[k].y0,
                    cb->ranges[k].x1, cb->ranges[k].y1);
        fprintf(stderr, "%s\n", cb->global ? " global" : "");
    }
}

static bool run_program(struct rig *rig, struct tts_cbs *cbs)
{
    new_program(rig);
    tts_cbs_reset(cbs, rig->random);
    uint32_t steps = 1 + below(rig, CBS + 8);
    for (uint32_t i = 0; i < steps && rig->count < CBS; i++) {
        if (!step(rig, cbs))
            return false;
    }
    return true;
}

/* Runs a few programs after each other on the same cores. */
static bool run_history(struct rig *rig, uint64_t seed)
{
    struct tts_cbs *cbs = NULL;
    new_history(rig, seed);
    if (tts_cbs_new(&rig->config, NULL, &cbs, NULL) != TTS_OK)
        return differ(rig, "the configuration is refused, or there is no memory");
    bool same = true;
    for (uint32_t i = 1 + below(rig, 4); same && i > 0; i--)
        same = run_program(rig, cbs);
    tts_cbs_free(cbs);
    return same;
}

static bool parse_options(int argc, char **argv, uint64_t *seed, uint64_t *histories)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t *out = strcmp(argv[i], "--seed") == 0        ? seed
                        : strcmp(argv[i], "--histories") == 0 ? histories
                                                              : NULL;
        if (out == NULL || tts_number_parse(argv[i + 1], strlen(argv[i + 1]), out) != TTS_OK)
            return false;
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv)
{
    static struct rig rig;
    uint64_t seed = 1, histories = 1000;
    if (!parse_options(argc, argv, &seed, &histories)) {
        fputs("usage: test_cbs_oracle [--seed N] [--histories N]\n", stderr);
        return 3;
    }
    for (uint64_t i = 0; i < histories; i++) {
        if (run_history(&rig, seed + i))
            continue;
        fprintf(stderr, "difference: %s\nrepeat with: --seed %" PRIu64 " --histories 1\n",
                rig.difference, seed + i);
        print_program(&rig);
        return 1;
    }
    printf("%" PRIu64 " histories, %" PRIu64 " overlaps, no difference; last seed %" PRIu64
           "\n",
           histories, rig.overlaps, seed + histories - 1);
    return 0;
}
