/* Makes every allocation of a long history fail, one per replay of the history. The call that
 * needed the memory must leave the space unchanged, and must succeed when it is tried again. */
#include "base/heap.h"
#include "device/space.h"
#include "harness/t.h"
#include "oracle/twin.h"
#include "torture/heap.h"

enum { SCRIPT_OPS = 6000 };

/* A history with its results, so that it can be replayed without the model. */
struct script {
    struct tts_space_config config;
    size_t count;
    struct twin_op ops[SCRIPT_OPS];
    struct twin_result results[SCRIPT_OPS];
};

/* How the allocator fails in one replay. */
struct sabotage {
    uint64_t fail_at;
    bool fail_after; /* continues to fail until the test has seen the failure */
};

static void *allocate(size_t bytes)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    void *memory = libc->alloc(libc->ctx, bytes);
    T_TRUE(memory != NULL);
    return memory;
}

static void release(void *memory, size_t bytes)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    libc->free(libc->ctx, memory, bytes);
}

/* --- the script ------------------------------------------------------------------------- */

static void add(struct script *script, struct model *model, struct twin_op op)
{
    T_TRUE(script->count < SCRIPT_OPS);
    script->ops[script->count] = op;
    script->results[script->count++] = twin_op_on_model(model, &op);
}

/* Takes small blocks from both ends until every structure has grown several times. */
static void script_fill(struct script *script, struct model *model)
{
    for (uint64_t i = 0; i < 2000; i++) {
        struct twin_op op = {.kind = TWIN_TAKE,
                             .bytes = 1 + i * 7919 % 8192,
                             .direction = i % 3 ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN};
        add(script, model, op);
    }
}

/* Frees the taken blocks at every `step`-th position. A step of 2 leaves as many free blocks as
 * possible, a step of 1 then retires as many ids as possible. */
static void script_drain(struct script *script, struct model *model, size_t step)
{
    for (size_t i = 0; i < model->count; i++) {
        uint64_t address = model->config.offset_bytes + model->blocks[i].start;
        if (model->blocks[i].taken && i % step == 0)
            add(script, model, (struct twin_op){.kind = TWIN_GIVE, .address = address});
    }
}

/* Takes blocks inside free blocks, which splits the free blocks. */
static void script_place(struct script *script, struct model *model)
{
    uint64_t step = model->config.size_bytes / 300 / 64 * 64;
    for (uint64_t i = 0; i < 300; i++) {
        struct twin_op op = {.kind = TWIN_TAKE_AT,
                             .address = model->config.offset_bytes + i * step,
                             .bytes = 100};
        add(script, model, op);
    }
}

static void script_cut(struct script *script, struct model *model)
{
    uint64_t bytes = model->blocks[0].taken ? 0 : model->blocks[0].size_bytes;
    add(script, model, (struct twin_op){.kind = TWIN_SHRINK, .bytes = bytes / 2});
    add(script, model, (struct twin_op){.kind = TWIN_SHRINK, .bytes = bytes - bytes / 2});
    add(script, model, (struct twin_op){.kind = TWIN_UNSHRINK});
}

/* Uses addresses and sizes that need a smaller unit while there are many blocks. */
static void script_odd(struct script *script, struct model *model)
{
    uint64_t last = model->config.offset_bytes + model->config.size_bytes - 101;
    add(script, model,
        (struct twin_op){.kind = TWIN_TAKE_AT, .address = last - 32, .bytes = 64});
    add(script, model, (struct twin_op){.kind = TWIN_SHRINK, .bytes = 16});
    add(script, model, (struct twin_op){.kind = TWIN_TAKE_AT, .address = last, .bytes = 1});
    script_place(script, model);
}

static struct script *script_new(enum tts_policy policy, uint64_t size_bytes)
{
    struct script *script = allocate(sizeof *script);
    struct model *model = allocate(sizeof *model);
    script->count = 0;
    script->config = (struct tts_space_config){.size_bytes = size_bytes,
                                               .offset_bytes = 4096,
                                               .min_bytes = 32,
                                               .alignment_bytes = 64,
                                               .policy = policy};
    model_init(model, &script->config);
    script_place(script, model);
    script_fill(script, model);
    script_drain(script, model, 2);
    script_cut(script, model);
    script_place(script, model);
    while (model->count > 1 && script->count + model->count + 100 < SCRIPT_OPS)
        script_drain(script, model, 1);
    script_cut(script, model);
    add(script, model, (struct twin_op){.kind = TWIN_CLEAR});
    script_odd(script, model);
    release(model, sizeof *model);
    return script;
}

/* --- one replay ------------------------------------------------------------------------- */

/* Returns the state after the first `count` operations, made without a failure. */
static struct tts_space *space_after(const struct script *script, size_t count)
{
    struct tts_space *space = NULL;
    T_EQ(tts_space_new(&script->config, NULL, &space, NULL), TTS_OK);
    for (size_t i = 0; i < count; i++) {
        struct twin_result result = twin_op_on_space(space, &script->ops[i]);
        T_EQ(result.status, script->results[i].status);
    }
    return space;
}

static void is_as_after(const struct tts_space *space, const struct script *script,
                        size_t count)
{
    struct tts_space *expected = space_after(script, count);
    T_TRUE(tts_space_is_valid(space));
    T_TRUE(tts_space_equal(space, expected));
    tts_space_free(expected);
}

static void same_result(struct twin_result seen, struct twin_result expected)
{
    T_EQ(seen.status, expected.status);
    T_EQ(seen.address, expected.address);
}

/* Checks that operation `i`, which ran out of memory, changed nothing, even if it fails
 * twice. */
static void check_failure(struct heap *heap, struct tts_space *space,
                          const struct script *script, size_t i)
{
    is_as_after(space, script, i);
    if (heap->fail_after) {
        T_EQ(twin_op_on_space(space, &script->ops[i]).status, TTS_E_NOMEM);
        is_as_after(space, script, i);
    }
    heap->fail_at = 0;
    same_result(twin_op_on_space(space, &script->ops[i]), script->results[i]);
}

static struct tts_space *new_space(struct heap *heap, const struct script *script)
{
    struct tts_space *space = NULL;
    struct tts_error err = {0};
    if (tts_space_new(&script->config, &heap->alloc, &space, &err) == TTS_OK)
        return space;
    T_EQ(err.status, TTS_E_NOMEM);
    T_TRUE(space == NULL && heap->failed > 0 && heap_is_settled(heap));
    heap->fail_at = 0;
    T_EQ(tts_space_new(&script->config, &heap->alloc, &space, &err), TTS_OK);
    return space;
}

/* Copies the space and frees the copy. A copy that runs out of memory must leave nothing behind
 * and must not change the original. */
static void copy_and_free(struct heap *heap, const struct tts_space *space)
{
    struct tts_space *copy = NULL;
    uint64_t bytes = heap->live_bytes, blocks = heap->live_blocks;
    if (tts_space_copy(space, &copy) != TTS_OK) {
        T_TRUE(copy == NULL && heap->failed > 0);
        T_EQ(heap->live_bytes, bytes);
        T_EQ(heap->live_blocks, blocks);
        heap->fail_at = 0;
        T_EQ(tts_space_copy(space, &copy), TTS_OK);
    }
    T_TRUE(tts_space_equal(space, copy));
    tts_space_free(copy);
    T_EQ(heap->live_bytes, bytes);
}

/* Replays the script. Returns whether a call failed. If none failed, the sweep has covered
 * every allocation. */
static bool replay(const struct script *script, struct sabotage sabotage)
{
    struct heap heap;
    heap_init(&heap);
    heap.fail_at = sabotage.fail_at;
    heap.fail_after = sabotage.fail_after;
    struct tts_space *space = new_space(&heap, script);
    for (size_t i = 0; i < script->count; i++) {
        struct twin_result result = twin_op_on_space(space, &script->ops[i]);
        if (result.status == TTS_E_NOMEM)
            check_failure(&heap, space, script, i);
        else
            same_result(result, script->results[i]);
        if (i % (SCRIPT_OPS / 4) == SCRIPT_OPS / 8)
            copy_and_free(&heap, space);
    }
    is_as_after(space, script, script->count);
    tts_space_free(space);
    T_TRUE(heap_is_settled(&heap));
    return heap.failed > 0;
}

/* --- the sweeps ------------------------------------------------------------------------- */

/* Sizes that use words of 16 and 32 bits. */
static const uint64_t narrow = UINT64_C(1) << 20, usual = UINT64_C(1) << 24;

static void sweep(enum tts_policy policy, uint64_t size_bytes, bool fail_after)
{
    struct script *script = script_new(policy, size_bytes);
    uint64_t n = 1;
    while (replay(script, (struct sabotage){n, fail_after}))
        n++;
    T_TRUE(n > 50); /* fails if the history does not make the structures grow */
    release(script, sizeof *script);
}

T_TEST(first_survives_the_failure_of_any_one_allocation)
{
    sweep(TTS_POLICY_FIRST, usual, false);
}

T_TEST(best_survives_the_failure_of_any_one_allocation)
{
    sweep(TTS_POLICY_BEST, usual, false);
}

T_TEST(narrow_words_survive_the_failure_of_any_one_allocation)
{
    sweep(TTS_POLICY_FIRST, narrow, false);
}

T_TEST(first_survives_an_allocator_that_fails_from_some_call_on)
{
    sweep(TTS_POLICY_FIRST, usual, true);
}

T_TEST(best_survives_an_allocator_that_fails_from_some_call_on)
{
    sweep(TTS_POLICY_BEST, usual, true);
}
