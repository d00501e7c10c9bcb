#include "story.h"
#include "device/space.h"

#include "churn.h"
#include "model/opnames.h"
#include "ttscope/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAYERS = 64,
    PARAMETERS = 12, /* number of parameters per layer */
    SAVED_MAX = 32,  /* activations of a layer that the backward pass needs */
    RANDOM_STREAM = 3,
};

uint32_t story_gap_ns(struct stream_random *random)
{
    double u = (double)(stream_random_next(random) >> 11) / (double)(UINT64_C(1) << 53);
    return (uint32_t)(1000 * pow(30, u));
}

static void add(struct story *story, struct stream_random *random,
                const struct tts_event *event, const char *op)
{
    if (story->count == story->capacity) {
        story->capacity = story->capacity ? story->capacity * 2 : 1 << 16;
        story->told = realloc(story->told, story->capacity * sizeof *story->told);
        if (!story->told)
            churn_die("out of memory");
    }
    story->told[story->count++] = (struct told){
        *event, op, op ? tts_opnames_hash(op, strlen(op)) : 0, story_gap_ns(random)};
    bool is_l1 = event->pool == TTS_POOL_L1;
    struct figures *figures = is_l1 ? &story->l1 : &story->dram;
    uint64_t bytes = is_l1 ? event->bytes_per_bank : event->size_bytes;
    if (event->kind == TTS_EVENT_ALLOC) {
        figures_alloc(figures, bytes);
        story->live++;
        story->live_most = story->live > story->live_most ? story->live : story->live_most;
    } else if (event->kind == TTS_EVENT_FREE) {
        figures_free(figures, bytes);
        story->live--;
    }
    story->ops += event->kind == TTS_EVENT_OP_BEGIN;
    story->programs += event->kind == TTS_EVENT_PROGRAM;
}

void story_release(struct story *story)
{
    free(story->told);
    *story = (struct story){0};
}

/* --- random ----------------------------------------------------------------------------- */

/* Makes the random stream. Runs the stream on a space to find the addresses, which are
 * multiples of a tile. */
void story_random(struct story *story)
{
    const struct stream_config *config = &stream_configs[RANDOM_STREAM];
    struct stream stream = {0};
    struct stream_random random = {.state = 77};
    struct tts_space_config pool = {.size_bytes = config->pool_bytes,
                                    .alignment_bytes = config->alignment_bytes,
                                    .min_bytes = config->alignment_bytes};
    struct tts_space *space;
    stream_generate(&stream, config);
    struct tts_event *at = calloc(config->pool_bytes / 2048 + 1, sizeof *at);
    if (!at || tts_space_new(&pool, NULL, &space, NULL) != TTS_OK)
        churn_die("out of memory");
    *story = (struct story){.name = "random"};
    uint64_t next_id = 1;
    for (size_t i = 0; i < stream.count; i++) {
        const struct stream_op *op = &stream.ops[i];
        struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, 0);
        if (op->kind == STREAM_GIVE) {
            event = at[op->value / 2048];
            event.kind = TTS_EVENT_FREE;
            if (tts_space_give(space, op->value) != TTS_OK)
                churn_die("the stream cannot be run again");
            add(story, &random, &event, NULL);
            continue;
        }
        event.has_address = true;
        event.size_bytes = op->value;
        event.page_bytes = 2048;
        if (tts_space_take(space, op->value, TTS_DIRECTION_UP, 0, &event.address) != TTS_OK)
            continue; /* the take was refused: no memory was taken */
        event.id = next_id++;
        at[event.address / 2048] = event;
        add(story, &random, &event, NULL);
    }
    tts_space_free(space);
    free(at);
    stream_release(&stream);
}

/* --- a training loop -------------------------------------------------------------------- */

struct tensor {
    struct tts_event event; /* the event that allocated the buffer */
    struct tts_buffer buffer;
};

struct trainer {
    struct story *story;
    struct tts_device *device;
    struct stream_random random;
    const char *op;
    uint64_t next_id;
    /* True in the first step, in which programs are compiled and report circular buffers. */
    bool is_first;
    struct tensor parameters[LAYERS][PARAMETERS], gradients[LAYERS][PARAMETERS];
    struct tensor moments[LAYERS][PARAMETERS][2];
    struct tensor saved[LAYERS][SAVED_MAX];
    size_t saved_count[LAYERS];
};

/* Sizes in bytes: 2048 tokens in 4 sequences, 1024 wide, 16 heads; bfloat16. */
enum {
    WIDE = 2048 * 1024 * 2,
    QKV = 3 * WIDE,
    HIDDEN = 4 * WIDE,
    SCORES = 4 * 16 * 512 * 512 * 2,
    STATISTICS = 64 * 2048,
};

static const uint64_t parameter_bytes[PARAMETERS] = {
    1024 * 3072 * 2, 96 * 2048, 1024 * 1024 * 2, 32 * 2048,  32 * 2048,       32 * 2048,
    32 * 2048,       32 * 2048, 1024 * 4096 * 2, 128 * 2048, 4096 * 1024 * 2, 32 * 2048};

static struct tensor take(struct trainer *t, enum tts_pool pool, uint64_t bytes, uint64_t page)
{
    struct tensor tensor;
    struct tts_request request = {.pool = pool, .size_bytes = bytes, .page_bytes = page};
    if (tts_device_alloc(t->device, &request, &tensor.buffer, NULL) != TTS_OK)
        churn_die("the training loop does not fit its device");
    tensor.event = tts_event_of(TTS_EVENT_ALLOC, 0);
    tensor.event.pool = pool;
    tensor.event.id = ++t->next_id;
    tensor.event.size_bytes = bytes;
    tensor.event.page_bytes = page;
    tensor.event.has_address = true;
    tensor.event.address = tensor.buffer.address;
    if (pool == TTS_POOL_L1) {
        tensor.event.bytes_per_bank = tensor.buffer.bytes_per_bank;
        tensor.event.block_bytes = tensor.buffer.block_bytes;
    }
    add(t->story, &t->random, &tensor.event, t->op);
    return tensor;
}

static struct tensor in_dram(struct trainer *t, uint64_t bytes)
{
    return take(t, TTS_POOL_DRAM, bytes, 2048);
}

static void give(struct trainer *t, struct tensor *tensor)
{
    struct tts_event event = tensor->event;
    event.kind = TTS_EVENT_FREE;
    event.has_address = false;
    event.page_bytes = 0;
    if (tts_device_release(t->device, &tensor->buffer) != TTS_OK)
        churn_die("the device does not know a buffer that it gave");
    add(t->story, &t->random, &event, t->op);
}

static void begin(struct trainer *t, const char *name)
{
    static const struct tts_core_range grid = {.x1 = 10, .y1 = 9};
    static const uint64_t cbs[] = {8192, 8192, 4096};
    struct tts_event event = tts_event_of(TTS_EVENT_OP_BEGIN, 0);
    event.name = name;
    event.name_len = strlen(name);
    t->op = name;
    add(t->story, &t->random, &event, t->op);
    event = tts_event_of(TTS_EVENT_PROGRAM, 0);
    add(t->story, &t->random, &event, t->op);
    for (size_t i = 0; t->is_first && i < sizeof cbs / sizeof *cbs; i++) {
        event = tts_event_of(TTS_EVENT_CB, 0);
        event.size_bytes = cbs[i];
        event.ranges = &grid;
        event.range_count = 1;
        add(t->story, &t->random, &event, t->op);
    }
}

static void end(struct trainer *t)
{
    struct tts_event event = tts_event_of(TTS_EVENT_OP_END, 0);
    add(t->story, &t->random, &event, t->op);
    t->op = NULL;
}

static void save(struct trainer *t, int layer, struct tensor tensor)
{
    t->saved[layer][t->saved_count[layer]++] = tensor;
}

/* Runs an operation that keeps its result and may use an L1 buffer temporarily. */
static void keep(struct trainer *t, int layer, const char *name, uint64_t bytes, bool uses_l1)
{
    struct tensor scratch;
    begin(t, name);
    if (uses_l1)
        scratch = take(t, TTS_POOL_L1, 110 * 4096, 2048);
    save(t, layer, in_dram(t, bytes));
    if (uses_l1)
        give(t, &scratch);
    end(t);
}

/* Runs an operation whose result is freed by the next operation. */
static void pass(struct trainer *t, int layer, const char *name, uint64_t bytes,
                 const char *next, uint64_t next_bytes)
{
    begin(t, name);
    struct tensor between = in_dram(t, bytes);
    end(t);
    begin(t, next);
    save(t, layer, in_dram(t, next_bytes));
    give(t, &between);
    end(t);
}

static void forward(struct trainer *t, int layer)
{
    keep(t, layer, "ttnn::layer_norm", WIDE, true);
    save(t, layer, in_dram(t, STATISTICS));
    pass(t, layer, "ttnn::linear", QKV, "ttnn::split_query_key_value", WIDE);
    save(t, layer, in_dram(t, WIDE));
    save(t, layer, in_dram(t, WIDE));
    pass(t, layer, "ttnn::matmul", SCORES, "ttnn::softmax", SCORES);
    pass(t, layer, "ttnn::matmul", WIDE, "ttnn::concatenate_heads", WIDE);
    pass(t, layer, "ttnn::linear", WIDE, "ttnn::add", WIDE);
    keep(t, layer, "ttnn::layer_norm", WIDE, true);
    save(t, layer, in_dram(t, STATISTICS));
    keep(t, layer, "ttnn::linear", HIDDEN, false);
    keep(t, layer, "ttnn::gelu", HIDDEN, true);
    pass(t, layer, "ttnn::linear", WIDE, "ttnn::add", WIDE);
}

static void backward(struct trainer *t, int layer, struct tensor *gradient)
{
    static const char *const names[] = {"ttnn::add_bw", "ttnn::linear_bw", "ttnn::gelu_bw",
                                        "ttnn::layer_norm_bw", "ttnn::matmul_bw"};
    size_t parameter = PARAMETERS;
    for (size_t i = t->saved_count[layer]; i-- > 0;) {
        struct tensor *saved = &t->saved[layer][i];
        begin(t, names[i % 5]);
        struct tensor next = in_dram(t, saved->event.size_bytes);
        if (parameter > 0) {
            parameter--;
            t->gradients[layer][parameter] = in_dram(t, parameter_bytes[parameter]);
        }
        give(t, saved);
        give(t, gradient);
        *gradient = next;
        end(t);
    }
    t->saved_count[layer] = 0;
    if (parameter > 0)
        churn_die("a parameter without a gradient");
}

static void update(struct trainer *t, int layer)
{
    for (size_t i = 0; i < PARAMETERS; i++) {
        begin(t, "ttnn::adamw");
        struct tensor first = take(t, TTS_POOL_DRAM, 2 * parameter_bytes[i], 4096);
        struct tensor second = take(t, TTS_POOL_DRAM, 2 * parameter_bytes[i], 4096);
        give(t, &first);
        give(t, &second);
        give(t, &t->gradients[layer][i]);
        end(t);
    }
}

static void step(struct trainer *t)
{
    for (int layer = 0; layer < LAYERS; layer++)
        forward(t, layer);
    begin(t, "ttnn::cross_entropy");
    struct tensor gradient = in_dram(t, WIDE);
    end(t);
    for (int layer = LAYERS; layer-- > 0;)
        backward(t, layer, &gradient);
    give(t, &gradient);
    for (int layer = 0; layer < LAYERS; layer++)
        update(t, layer);
}

void story_loop(struct story *story, size_t events)
{
    static struct trainer trainer;
    struct trainer *t = &trainer;
    struct tts_chip chip;
    *story = (struct story){.name = "loop"};
    *t = (struct trainer){.story = story, .random = {.state = 99}, .is_first = true};
    if (tts_chip_preset("p150", &chip, NULL) != TTS_OK ||
        tts_device_new(&chip, NULL, NULL, &t->device, NULL) != TTS_OK)
        churn_die("cannot make a device");
    for (int layer = 0; layer < LAYERS; layer++)
        for (size_t i = 0; i < PARAMETERS; i++) {
            t->parameters[layer][i] = in_dram(t, parameter_bytes[i]);
            for (int k = 0; k < 2; k++)
                t->moments[layer][i][k] = take(t, TTS_POOL_DRAM, 2 * parameter_bytes[i], 4096);
        }
    while (story->count < events) {
        step(t);
        t->is_first = false;
    }
    tts_device_free(t->device);
}
