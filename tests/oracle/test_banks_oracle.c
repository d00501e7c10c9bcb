/* Compares banks with the slow model over long random histories: every result and the whole
 * state.
 *
 *   test_banks_oracle [--seed N] [--ops N] [--trace]
 *
 * History i depends only on seed N + i, so that a failed history can be repeated alone with its
 * own seed. --trace prints each operation before it runs. */
#include "base/heap.h"
#include "base/number.h"
#include "device/space.h"
#include "oracle/banks_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HISTORY_OPS = 400, MANY = BANKS_MODEL_ALLOCATORS };

struct options {
    uint64_t seed, ops;
    bool trace;
};

struct rig {
    struct banks_model model;
    struct tts_banks *banks;
    bool mentions[MANY][MANY]; /* mentions[a][b]: the list of a contains b */
    uint32_t on[MANY][MANY];
    struct tts_dependency lists[MANY];
    struct tts_range taken[BANKS_MODEL_RANGES];
    uint64_t random;
    const char *what; /* description of the difference */
    bool trace;
};

/* xorshift64*. harness/t.h has the same function, but also a main. */
static uint64_t draw(struct rig *rig)
{
    uint64_t x = rig->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    rig->random = x;
    return x * UINT64_C(2685821657736338717);
}

static uint64_t below(struct rig *rig, uint64_t n)
{
    return (draw(rig) >> 16) % n;
}

static bool differs(struct rig *rig, const char *what)
{
    rig->what = what;
    return false;
}

/* --- graphs ----------------------------------------------------------------------------- */

static void link_pair(struct rig *rig, uint32_t a, uint32_t b)
{
    if (a == b)
        return;
    uint64_t how = below(rig, 3); /* a mentions b, b mentions a, or both */
    rig->mentions[a][b] |= how != 1;
    rig->mentions[b][a] |= how != 0;
    rig->model.is_linked[a][b] = rig->model.is_linked[b][a] = true;
}

static void draw_graph(struct rig *rig)
{
    uint64_t kind = below(rig, 7);
    uint32_t count = kind == 0 ? 1 : (uint32_t)(2 + below(rig, 6));
    uint32_t hub = (uint32_t)below(rig, count);
    if (kind == 2 && below(rig, 10) == 0) {
        count = MANY;
        hub = 0;
    }
    rig->model.count = count;
    for (uint32_t i = 0; i < count && kind > 1; i++) {
        switch (kind) {
        case 2: /* a star */
            link_pair(rig, hub, i);
            break;
        case 3: /* a chain */
            if (i > 0)
                link_pair(rig, i - 1, i);
            break;
        case 4: /* a cycle */
            link_pair(rig, i, (i + 1) % count);
            break;
        default:
            link_pair(rig, (uint32_t)below(rig, count), (uint32_t)below(rig, count));
        }
    }
}

/* Writes the mentions as lists in any order. The last allocator always has a list, so that all
 * allocators exist. */
static void list_graph(struct rig *rig, struct tts_banks_config *config)
{
    const uint32_t count = rig->model.count;
    for (uint32_t of = 0; of < count; of++) {
        size_t length = 0;
        uint32_t first = (uint32_t)below(rig, count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t on = (first + i) % count;
            if (rig->mentions[of][on])
                rig->on[of][length++] = on;
        }
        if (length > 0 || of + 1 == count)
            rig->lists[config->dependency_count++] =
                (struct tts_dependency){.of = of, .on = rig->on[of], .count = length};
    }
    config->dependencies = rig->lists;
}

static void draw_config(struct rig *rig)
{
    static const uint64_t pages[] = {1, 1, 1, 2, 4, 8, 16, 3};
    static const uint64_t blocks[] = {1, 2, 4, 8, 16, 32, 3, 12};
    bool many = rig->model.count == MANY;
    uint64_t block = blocks[below(rig, 8)];
    uint64_t size = 1 + below(rig, many ? 128 : BANKS_MODEL_BYTES / 2);
    size = below(rig, 3) > 0 ? (size + block - 1) / block * block : size;
    rig->model.config =
        (struct tts_banks_config){.size_bytes = size,
                                  .offset_bytes = below(rig, 2) ? 0 : below(rig, 1000),
                                  .page_alignment_bytes = pages[below(rig, 8)],
                                  .block_alignment_bytes = block,
                                  .banks = 1 + (uint32_t)below(rig, 200),
                                  .limit = below(rig, 1000)};
}

static bool start(struct rig *rig, uint64_t seed)
{
    memset(&rig->model, 0, sizeof rig->model);
    memset(rig->mentions, 0, sizeof rig->mentions);
    rig->random = seed * 2654435761 + 1;
    for (int i = 0; i < 8; i++)
        draw(rig);
    draw_graph(rig);
    draw_config(rig);
    struct tts_banks_config config = rig->model.config;
    if (rig->model.count > 1)
        list_graph(rig, &config);
    struct tts_error err = {0};
    if (tts_banks_new(&config, NULL, &rig->banks, &err) != TTS_OK)
        return differs(rig, "new");
    return true;
}

/* --- comparing -------------------------------------------------------------------------- */

static bool same_graph(struct rig *rig)
{
    const struct banks_model *m = &rig->model;
    if (tts_banks_allocators(rig->banks) != m->count)
        return differs(rig, "the number of allocators");
    for (uint32_t i = 0; i < m->count; i++) {
        size_t count = 0, at = 0;
        const uint32_t *neighbours = tts_banks_neighbours(rig->banks, i, &count);
        for (uint32_t k = 0; k < m->count; k++) {
            if (m->is_linked[i][k] && (at == count || neighbours[at++] != k))
                return differs(rig, "neighbours");
        }
        if (at != count)
            return differs(rig, "the number of neighbours");
    }
    return true;
}

/* Compares the blocks. The walk must separate adjacent blocks exactly as the map does. */
static bool same_blocks(struct rig *rig, uint32_t allocator)
{
    const struct banks_model *m = &rig->model;
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    uint64_t at = m->shrunk_bytes;
    while (tts_space_next(tts_banks_space(rig->banks, allocator), &cursor, &block)) {
        if (at >= m->config.size_bytes || block.address != m->config.offset_bytes + at ||
            block.taken != (m->maps[allocator].block[at] != 0) ||
            at + block.size_bytes != banks_model_end(m, allocator, at))
            return differs(rig, "blocks");
        at += block.size_bytes;
    }
    uint64_t lowest = 0;
    bool has = tts_banks_lowest(rig->banks, allocator, &lowest);
    if (has != m->maps[allocator].has_lowest ||
        (has && lowest != m->config.offset_bytes + m->maps[allocator].lowest))
        return differs(rig, "the lowest address");
    return at == m->config.size_bytes || differs(rig, "the end of the blocks");
}

static bool same_state(struct rig *rig)
{
    const struct banks_model *m = &rig->model;
    struct tts_banks_state state = {0};
    bool same = tts_banks_extract(rig->banks, &state) == TTS_OK;
    uint64_t at = banks_model_next(m, 0, 0);
    for (size_t i = 0; same && i < state.count; i++) {
        uint64_t end = at;
        while (end < m->config.size_bytes && m->maps[0].block[end] != 0)
            end++;
        same = end > at && state.ranges[i].start == m->config.offset_bytes + at &&
               state.ranges[i].end == m->config.offset_bytes + end;
        at = banks_model_next(m, 0, end);
    }
    same = same && at == m->config.size_bytes &&
           state.config.size_bytes == m->config.size_bytes - m->shrunk_bytes;
    tts_banks_state_release(&state);
    return same || differs(rig, "the extracted state");
}

static bool same_all(struct rig *rig)
{
    for (uint32_t i = 0; i < rig->model.count; i++) {
        if (!same_blocks(rig, i))
            return false;
    }
    if (!tts_banks_is_valid(rig->banks))
        return differs(rig, "validity");
    return same_state(rig);
}

/* --- operations ------------------------------------------------------------------------- */

/* Returns an allocator. About one in fifty draws may return one that does not exist. */
static uint32_t draw_allocator(struct rig *rig)
{
    return (uint32_t)below(rig, below(rig, 50) ? rig->model.count : rig->model.count + 1);
}

static uint64_t draw_bytes(struct rig *rig)
{
    uint64_t size = rig->model.config.size_bytes;
    uint64_t unit = below(rig, 3) ? rig->model.config.block_alignment_bytes : 1;
    switch (below(rig, 12)) {
    case 0:
        return below(rig, size + 40);
    case 1:
        return below(rig, 30) ? 0 : UINT64_MAX - below(rig, 40);
    default:
        return unit * (1 + below(rig, 1 + size / 12 / unit));
    }
}

static uint64_t draw_address(struct rig *rig)
{
    const struct tts_banks_config *c = &rig->model.config;
    uint64_t address = c->offset_bytes + below(rig, c->size_bytes + 4);
    address -= below(rig, 2) ? address % c->block_alignment_bytes : 0;
    return below(rig, 40) ? address : draw(rig);
}

static void draw_taken(struct rig *rig, struct tts_banks_wish *take)
{
    take->taken = rig->taken;
    take->taken_count = below(rig, 4) ? 0 : below(rig, BANKS_MODEL_RANGES / 8);
    for (size_t i = 0; i < take->taken_count; i++) {
        uint64_t from = draw_address(rig);
        rig->taken[i] = (struct tts_range){from, from + below(rig, 24)};
    }
}

static bool do_take(struct rig *rig)
{
    struct tts_banks_wish take = {.allocator = draw_allocator(rig),
                                  .direction =
                                      below(rig, 2) ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN,
                                  .bytes = draw_bytes(rig),
                                  .limit = below(rig, 5) ? 0 : draw_address(rig)};
    draw_taken(rig, &take);
    if (rig->trace)
        printf("take %" PRIu32 " %s %" PRIu64 " limit %" PRIu64 " with %zu\n", take.allocator,
               take.direction == TTS_DIRECTION_UP ? "up" : "down", take.bytes, take.limit,
               take.taken_count);
    uint64_t address = 77, expected = 77;
    enum tts_status status = banks_model_take(&rig->model, &take, &expected);
    if (tts_banks_take(rig->banks, &take, &address) != status)
        return differs(rig, "the status of a take");
    return address == expected || differs(rig, "the address of a take");
}

static bool do_take_at(struct rig *rig)
{
    uint32_t allocator = draw_allocator(rig);
    uint64_t address = draw_address(rig), bytes = draw_bytes(rig);
    if (rig->trace)
        printf("take at %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", allocator, address, bytes);
    return tts_banks_take_at(rig->banks, allocator, address, bytes) ==
               banks_model_take_at(&rig->model, allocator, address, bytes) ||
           differs(rig, "the status of a take at");
}

/* Gives back, mostly a block that exists. */
static bool do_give(struct rig *rig)
{
    uint32_t allocator = draw_allocator(rig);
    uint64_t address = draw_address(rig), offset = rig->model.config.offset_bytes;
    if (allocator < rig->model.count && address >= offset && below(rig, 8)) {
        uint64_t from = address - offset;
        if (from < rig->model.config.size_bytes)
            from = banks_model_end(&rig->model, allocator, from);
        address = offset + banks_model_next(&rig->model, allocator, from);
    }
    if (rig->trace)
        printf("give %" PRIu32 " %" PRIu64 "\n", allocator, address);
    return tts_banks_give(rig->banks, allocator, address) ==
               banks_model_give(&rig->model, allocator, address) ||
           differs(rig, "the status of a give");
}

static bool do_give_all(struct rig *rig)
{
    banks_model_give_all(&rig->model);
    return tts_banks_give_all(rig->banks) == TTS_OK || differs(rig, "giving all");
}

static bool do_clear(struct rig *rig)
{
    banks_model_clear(&rig->model);
    tts_banks_clear(rig->banks);
    return true;
}

static bool do_shrink(struct rig *rig)
{
    uint64_t bytes =
        below(rig, 4) ? below(rig, rig->model.config.size_bytes / 4 + 1) : draw_bytes(rig);
    return tts_banks_shrink(rig->banks, bytes) == banks_model_shrink(&rig->model, bytes) ||
           differs(rig, "the status of a shrink");
}

static bool do_unshrink(struct rig *rig)
{
    return tts_banks_unshrink(rig->banks) == banks_model_unshrink(&rig->model) ||
           differs(rig, "the status of an unshrink");
}

static bool do_water(struct rig *rig)
{
    struct banks_model *m = &rig->model;
    if (!m->is_watched) {
        m->water = (struct tts_water){0};
        tts_banks_water_begin(rig->banks);
    } else {
        struct tts_water water = tts_banks_water_end(rig->banks);
        if (water.taken_end != m->water.taken_end || water.given_end != m->water.given_end)
            return differs(rig, "the high-water mark");
    }
    m->is_watched = !m->is_watched;
    return true;
}

/* Overrides the state with the extracted state and a few more ranges, which may overlap. */
static bool do_override(struct rig *rig)
{
    struct tts_banks_state state = {0}, more = {0};
    bool same = tts_banks_extract(rig->banks, &state) == TTS_OK;
    more.config = state.config;
    for (uint64_t i = below(rig, 6); same && i > 0; i--) {
        uint64_t from = draw_address(rig) / 2 * 2;
        struct tts_range range = {from, from + below(rig, 40)};
        same = tts_banks_state_add(below(rig, 2) ? &more : &state, range) ==
               (range.end < range.start ? TTS_E_INVALID : TTS_OK);
    }
    same = same && tts_banks_state_merge(&state, &more) == TTS_OK;
    enum tts_status status = banks_model_override(&rig->model, state.ranges, state.count);
    same = same && tts_banks_override(rig->banks, &state) == status;
    tts_banks_state_release(&state);
    tts_banks_state_release(&more);
    return same || differs(rig, "an override");
}

static bool step(struct rig *rig)
{
    static bool (*const rare[])(struct rig *) = {do_give_all, do_clear,    do_shrink, do_shrink,
                                                 do_unshrink, do_override, do_water,  do_water};
    uint64_t pick = below(rig, 100);
    if (pick < 5) {
        size_t which = below(rig, sizeof rare / sizeof rare[0]);
        if (rig->trace)
            printf("rare operation %zu\n", which);
        return rare[which](rig);
    }
    return pick < 52 ? do_take(rig) : pick < 60 ? do_take_at(rig) : do_give(rig);
}

static bool run_history(struct rig *rig, uint64_t seed)
{
    bool same = start(rig, seed) && same_graph(rig);
    uint64_t op = 0, until_check = 1;
    for (; same && op < HISTORY_OPS; op++) {
        same = step(rig);
        if (same && --until_check == 0) {
            until_check = 1 + below(rig, 2 + rig->model.count);
            same = same_all(rig);
        }
    }
    same = same && same_all(rig);
    tts_banks_free(rig->banks);
    rig->banks = NULL;
    if (!same)
        fprintf(stderr,
                "difference: %s\noperation %" PRIu64 ", repeat with: --seed %" PRIu64
                " --ops 1 --trace\n",
                rig->what, op, seed);
    return same;
}

/* --- the run ---------------------------------------------------------------------------- */

static bool parse_number(const char *text, uint64_t *out)
{
    return tts_number_parse(text, strlen(text), out) == TTS_OK;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--trace") == 0)
            options->trace = true;
        else if (strcmp(argv[i], "--seed") == 0 && more &&
                 parse_number(argv[i + 1], &options->seed))
            i++;
        else if (strcmp(argv[i], "--ops") == 0 && more &&
                 parse_number(argv[i + 1], &options->ops))
            i++;
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {.seed = 1, .ops = 40000};
    if (!parse_options(argc, argv, &options)) {
        fputs("usage: test_banks_oracle [--seed N] [--ops N] [--trace]\n", stderr);
        return 3;
    }
    const struct tts_alloc *memory = tts_alloc_libc();
    struct rig *rig = memory->alloc(memory->ctx, sizeof *rig);
    if (rig == NULL) {
        fputs("out of memory\n", stderr);
        return 1;
    }
    rig->banks = NULL;
    rig->trace = options.trace;
    uint64_t seed = options.seed, done = 0;
    bool same = true;
    for (; same && done < options.ops; done += HISTORY_OPS)
        same = run_history(rig, seed++);
    if (same)
        printf("%" PRIu64 " operations, no difference; last seed %" PRIu64 "\n", done,
               seed - 1);
    memory->free(memory->ctx, rig, sizeof *rig);
    return same ? 0 : 1;
}
