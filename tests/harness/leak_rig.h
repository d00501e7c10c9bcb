/* leak_rig.h: programs that allocate and free buffers, for tests of the leak rule. A program is
 * a function that runs on a bench; the bench passes each change on, as a recording would, and
 * looks at the live buffers every second, as a monitor would. */
#pragma once

#include "analysis/questions/leakscan.h"
#include "harness/t.h"

#include <stdlib.h>
#include <string.h>

enum { BENCH_BUFFERS = 1 << 16, BENCH_CLASSES = 48 };
#define BENCH_SECOND UINT64_C(1000000000)

struct bench {
    uint64_t rng, now_ns, seq, allocs[TTS_POOLS], frees[TTS_POOLS], bytes[TTS_POOLS];
    struct tts_live buffers[BENCH_BUFFERS];
    uint32_t free_slots[BENCH_BUFFERS], free_count;
    uint32_t classes[TTS_POOLS][BENCH_CLASSES];
    struct tts_leakscan *scan;         /* NULL: no recording */
    void (*look)(struct bench *bench); /* called every look_ns of the program's time */
    uint64_t look_ns, next_look_ns;
    void *ctx;
    uint64_t looks, looks_with_leak;
};

static inline struct bench *bench_new(uint64_t seed)
{
    struct bench *b = calloc(1, sizeof *b);
    b->rng = seed * 2654435761u + 1;
    for (uint32_t i = 0; i < BENCH_BUFFERS; i++)
        b->free_slots[b->free_count++] = BENCH_BUFFERS - 1 - i;
    T_EQ(tts_leakscan_new(NULL, &b->scan), TTS_OK);
    return b;
}

static inline void bench_free(struct bench *b)
{
    tts_leakscan_free(b->scan);
    free(b);
}

static inline uint64_t bench_random(struct bench *b, uint64_t limit)
{
    return t_random(&b->rng) % limit;
}

/* Lets time pass. */
static inline void bench_pass(struct bench *b, uint64_t ns)
{
    uint64_t end_ns = b->now_ns + ns;
    while (b->look && b->next_look_ns <= end_ns) {
        b->now_ns = b->next_look_ns;
        b->look(b);
        b->next_look_ns += b->look_ns;
    }
    b->now_ns = end_ns;
}

static inline int bench_class(uint64_t bytes)
{
    return 63 - __builtin_clzll(bytes);
}

/* Allocates a buffer and returns its number. */
static inline uint32_t bench_alloc(struct bench *b, enum tts_pool pool, const char *op,
                                   uint64_t bytes)
{
    T_TRUE(b->free_count > 0);
    uint32_t slot = b->free_slots[--b->free_count];
    b->buffers[slot] = (struct tts_live){
        .id = slot + 1, .size_bytes = bytes, .seq = ++b->seq, .pool = pool, .op = op};
    b->allocs[pool]++;
    b->bytes[pool] += bytes;
    b->classes[pool][bench_class(bytes)]++;
    struct tts_change change = {.has_come = true, .seq = b->seq, .came = b->buffers[slot]};
    if (b->scan)
        T_EQ(tts_leakscan_change(b->scan, &change, b->now_ns), TTS_OK);
    return slot;
}

static inline void bench_give(struct bench *b, uint32_t slot)
{
    struct tts_live *live = &b->buffers[slot];
    struct tts_change change = {.has_left = true, .seq = ++b->seq, .left = *live};
    b->frees[live->pool]++;
    b->bytes[live->pool] -= live->size_bytes;
    b->classes[live->pool][bench_class(live->size_bytes)]--;
    b->free_slots[b->free_count++] = slot;
    if (b->scan)
        T_EQ(tts_leakscan_change(b->scan, &change, b->now_ns), TTS_OK);
    live->size_bytes = 0;
}

/* Frees everything, as at the end of a program. */
static inline void bench_give_all(struct bench *b)
{
    for (uint32_t i = 0; i < BENCH_BUFFERS; i++)
        if (b->buffers[i].size_bytes > 0)
            bench_give(b, i);
}

/* ---- programs ---- */

static const char bench_op_load[] = "load", bench_op_stage[] = "stage", bench_op_act[] = "act",
                  bench_op_grad[] = "grad", bench_op_cache[] = "cache",
                  bench_op_eval[] = "eval", bench_op_leak[] = "leak", bench_op_kv[] = "kv";

/* A layer has seven weights of four sizes. */
static inline void bench_load(struct bench *b, int layers, int stages, uint64_t ns)
{
    static const uint64_t sizes[7] = {1 << 22, 1 << 20, 1 << 20, 1 << 22,
                                      3 << 22, 3 << 22, 1 << 12};
    for (int i = 0; i < layers; i++)
        for (int j = 0; j < 7; j++) {
            uint32_t stage[4];
            for (int k = 0; k < stages; k++)
                stage[k] = bench_alloc(b, TTS_POOL_DRAM, bench_op_stage, sizes[j] + 64);
            bench_alloc(b, TTS_POOL_DRAM, bench_op_load, sizes[j]);
            for (int k = 0; k < stages; k++)
                bench_give(b, stage[k]);
            bench_pass(b, ns);
        }
}

/* The forward pass keeps `kept` activations of each layer until the backward pass. */
static inline void bench_step(struct bench *b, int layers, int kept, uint64_t ns)
{
    uint32_t held[512], count = 0;
    for (int i = 0; i < layers; i++) {
        for (int j = 0; j < kept; j++) {
            held[count++] =
                bench_alloc(b, TTS_POOL_DRAM, bench_op_act, (uint64_t)(j + 1) << 20);
            uint32_t tmp = bench_alloc(b, TTS_POOL_L1, bench_op_act, 1 << 16);
            bench_pass(b, ns / (uint64_t)(2 * layers * kept));
            bench_give(b, tmp);
        }
    }
    while (count > 0) {
        uint32_t tmp = bench_alloc(b, TTS_POOL_DRAM, bench_op_grad, 1 << 19);
        bench_give(b, held[--count]);
        bench_pass(b, ns / (uint64_t)(2 * layers * kept));
        bench_give(b, tmp);
    }
}
