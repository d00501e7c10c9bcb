#include "stream.h"

#include "base/hash.h"
#include "device/space.h"

#include <stdio.h>
#include <stdlib.h>

#define POW(name, best, shape, live, ops, seed, checksum)                                      \
    {                                                                                          \
        name, best, shape, live, (uint64_t)(live)*655360, 0, 32, 15, ops, seed, checksum       \
    }

const struct stream_config stream_configs[STREAM_CONFIGS] = {
    {"l1-wh-40live-td", false, STREAM_DOWN, 40, 1393472, 105664, 32, 5, 1000000, 4001,
     0xd8d5d5a691a873f7},
    {"l1-wh-100live-td", false, STREAM_DOWN, 100, 1393472, 105664, 32, 2, 1000000, 4002,
     0xd6ceb7d6f40bc26b},
    {"model-wh-dram", false, STREAM_MODEL, 1000, 1070773184, 2968640, 32, 10, 400000, 5001,
     0x1c846b5b4c14b13e},
    POW("pow-1k-first-bu", false, STREAM_UP, 1000, 1000000, 1001, 0x4b51fac162cf28b7),
    POW("pow-1k-first-td", false, STREAM_DOWN, 1000, 1000000, 1002, 0x705e153ad8b6e525),
    POW("pow-1k-first-mix", false, STREAM_MIXED, 1000, 1000000, 1003, 0x1ce1eb49f8e38c8c),
    POW("pow-1k-best-bu", true, STREAM_UP, 1000, 1000000, 1001, 0x058fc56585dbb854),
    POW("pow-1k-best-td", true, STREAM_DOWN, 1000, 1000000, 1002, 0x33badacfcc9de846),
    POW("pow-10k-first-bu", false, STREAM_UP, 10000, 400000, 2001, 0x0c8f74b77e292377),
    POW("pow-10k-first-td", false, STREAM_DOWN, 10000, 400000, 2002, 0x63a4c0139f15c90e),
    POW("pow-10k-first-mix", false, STREAM_MIXED, 10000, 400000, 2003, 0x747171d5a6f71f44),
    POW("pow-10k-best-bu", true, STREAM_UP, 10000, 400000, 2001, 0x4c0250526b1bbc41),
    POW("pow-10k-best-td", true, STREAM_DOWN, 10000, 400000, 2002, 0x0d124e271fee6ea1),
    POW("pow-100k-first-bu", false, STREAM_UP, 100000, 200000, 3001, 0x3d28b3b3d0e15869),
    POW("pow-100k-first-td", false, STREAM_DOWN, 100000, 200000, 3002, 0x3755e9ecd18d00ae),
    POW("pow-100k-first-mix", false, STREAM_MIXED, 100000, 200000, 3003, 0xfd9c939cf0da7bd0),
    POW("pow-100k-best-bu", true, STREAM_UP, 100000, 200000, 3001, 0xb620c0d798ca91d6),
    POW("pow-100k-best-td", true, STREAM_DOWN, 100000, 200000, 3002, 0xaefd479a17f64031),
    POW("pow-100k-first-bu-long", false, STREAM_UP, 100000, 1000000, 3001, 0x57182739dfb6b89e),
    POW("pow-1m-first-bu", false, STREAM_UP, 1000000, 2000000, 6001, 0),
    POW("pow-1m-first-td", false, STREAM_DOWN, 1000000, 2000000, 6002, 0),
};

uint64_t stream_random_next(struct stream_random *random)
{
    uint64_t s = random->state;
    s ^= s >> 12;
    s ^= s << 25;
    s ^= s >> 27;
    random->state = s;
    return s * UINT64_C(2685821657736338717);
}

uint64_t stream_random_below(struct stream_random *random, uint64_t n)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)stream_random_next(random) * n) >> 64);
}

uint64_t stream_random_size(struct stream_random *random, uint32_t kmax)
{
    static const uint32_t cumulative[16] = {19270, 32897, 42532, 49345, 54162, 57569,
                                            59978, 61681, 62885, 63737, 64339, 64765,
                                            65066, 65279, 65430, 65536};
    uint32_t k;
    do {
        uint64_t u = stream_random_next(random) >> 48;
        for (k = 0; u >= cumulative[k]; k++)
            ;
    } while (k > kmax);
    uint64_t tiles = UINT64_C(1) << k;
    if (k < 15)
        tiles += stream_random_below(random, tiles);
    return tiles * 2048;
}

/* The state that generating needs in addition to the stream. */
struct generator {
    const struct stream_config *config;
    struct stream *stream;
    struct tts_space *space;
    struct stream_random random;
    uint64_t *live;
    size_t live_count, live_capacity;
};

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(3);
}

static void *grow(void *memory, size_t *capacity, size_t element)
{
    *capacity = *capacity ? *capacity * 2 : 1024;
    memory = realloc(memory, *capacity * element);
    if (!memory)
        die("out of memory");
    return memory;
}

static void record(struct stream *stream, enum stream_kind kind, uint64_t value)
{
    if (stream->count == stream->capacity)
        stream->ops = grow(stream->ops, &stream->capacity, sizeof(*stream->ops));
    stream->ops[stream->count++] = (struct stream_op){.value = value, .kind = kind};
}

static bool take(struct generator *g, uint64_t bytes, bool up, uint64_t *address)
{
    record(g->stream, up ? STREAM_TAKE_UP : STREAM_TAKE_DOWN, bytes);
    enum tts_status status =
        tts_space_take(g->space, bytes, up ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN, 0, address);
    if (status != TTS_OK && status != TTS_E_FULL)
        die(tts_status_text(status));
    uint64_t result = status == TTS_OK ? *address : UINT64_MAX;
    g->stream->checksum = tts_fnv1a64_u64(g->stream->checksum, result);
    return status == TTS_OK;
}

static void give(struct generator *g, uint64_t address)
{
    record(g->stream, STREAM_GIVE, address);
    if (tts_space_give(g->space, address) != TTS_OK)
        die("the space does not know a block it placed");
}

static void keep(struct generator *g, uint64_t address)
{
    if (g->live_count == g->live_capacity)
        g->live = grow(g->live, &g->live_capacity, sizeof(*g->live));
    g->live[g->live_count++] = address;
}

static void drop_random(struct generator *g)
{
    size_t i = (size_t)stream_random_below(&g->random, g->live_count);
    uint64_t address = g->live[i];
    g->live[i] = g->live[--g->live_count];
    give(g, address);
}

static bool take_random(struct generator *g)
{
    uint64_t bytes = stream_random_size(&g->random, g->config->kmax), address;
    enum stream_shape shape = g->config->shape;
    bool up = shape == STREAM_MIXED ? stream_random_next(&g->random) >> 63 : shape == STREAM_UP;
    bool ok = take(g, bytes, up, &address);
    if (ok)
        keep(g, address);
    return ok;
}

static void generate_churn(struct generator *g)
{
    uint32_t live = g->config->live;
    while (g->live_count < live) {
        if (!take_random(g))
            drop_random(g);
    }
    g->stream->fill = g->stream->count;
    size_t low = live - live / 50, high = live + live / 50;
    while (g->stream->count - g->stream->fill < g->config->operations) {
        bool coin = stream_random_next(&g->random) >> 63;
        bool more = g->live_count <= low || (g->live_count < high && coin);
        if (more)
            take_random(g);
        else
            drop_random(g);
    }
}

static uint64_t binary_size(struct generator *g)
{
    return 2048 * (1 + stream_random_below(&g->random, 16));
}

/* Generates weights from the bottom, kernel binaries from the top, and a window of temporary
 * buffers. */
static void generate_model(struct generator *g)
{
    uint64_t window[25], address;
    size_t oldest = 0, held = 0;
    for (uint32_t i = 0; i < g->config->live; i++) {
        if (take(g, stream_random_size(&g->random, g->config->kmax), true, &address))
            keep(g, address);
        if (take(g, binary_size(g), false, &address))
            keep(g, address);
    }
    g->stream->fill = g->stream->count;
    while (g->stream->count - g->stream->fill < g->config->operations) {
        if ((stream_random_next(&g->random) & 63) == 0) {
            if (take(g, binary_size(g), false, &address))
                keep(g, address);
            give(g, g->live[--g->live_count]);
            continue;
        }
        if (take(g, stream_random_size(&g->random, g->config->kmax), true, &address))
            window[(oldest + held++) % 25] = address;
        if (held > 24) {
            give(g, window[oldest]);
            oldest = (oldest + 1) % 25;
            held--;
        }
    }
}

void stream_generate(struct stream *stream, const struct stream_config *config)
{
    *stream = (struct stream){.checksum = TTS_FNV1A64_INIT};
    struct generator g = {.config = config, .stream = stream, .random = {config->seed}};
    struct tts_space_config space = {.size_bytes = config->pool_bytes,
                                     .offset_bytes = config->offset_bytes,
                                     .min_bytes = config->alignment_bytes,
                                     .alignment_bytes = config->alignment_bytes,
                                     .policy =
                                         config->best ? TTS_POLICY_BEST : TTS_POLICY_FIRST};
    struct tts_error err;
    if (tts_space_new(&space, NULL, &g.space, &err) != TTS_OK)
        die(err.text);
    if (config->shape == STREAM_MODEL)
        generate_model(&g);
    else
        generate_churn(&g);
    tts_space_free(g.space);
    free(g.live);
}

void stream_release(struct stream *stream)
{
    free(stream->ops);
    *stream = (struct stream){0};
}
