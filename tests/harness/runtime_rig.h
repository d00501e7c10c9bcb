/* runtime_rig.h: a runtime on a device that only counts. The rig keeps the row of the sizes
 * that were allocated (+) and freed (-), so that a test can state the whole effect of an
 * operation on memory. */
#pragma once

#include "harness/device_rig.h"
#include "runtime/autograd.h"

#include <inttypes.h>

/* Small numbers, chosen so that no two of the sizes below are equal. */
enum {
    BATCH = 3,
    SEQUENCE = 224,
    HEADS = 8,
    GROUPS = 2,
    HEAD = 160,
    WIDTH = HEADS * HEAD,
    MLP = 352,
    VOCABULARY = 250,
    VOCABULARY_32 = 256,
    ROWS = BATCH * SEQUENCE,
};

/* The sizes in the order of the published rules: X(name, bytes). */
#define RIG_SIZES(X)                                                                           \
    X(U, 2 * ROWS * WIDTH)                        /* activations */                            \
    X(N, 64 * ROWS)                               /* one column of activations */              \
    X(A, 2 * BATCH * HEADS * SEQUENCE * SEQUENCE) /* attention weights */                      \
    X(M, 2 * SEQUENCE * SEQUENCE)                 /* mask */                                   \
    X(KV, 2 * ROWS * 2 * GROUPS * HEAD)           /* k and v together */                       \
    X(KV_2, KV / 2)                               /* k or v alone */                           \
    X(F, 2 * ROWS * MLP)                          /* activations inside the MLP */             \
    X(LG, 2 * ROWS * VOCABULARY_32)               /* logits */                                 \
    X(ID, 4 * ROWS)                               /* token ids, or targets */                  \
    X(LSE, 4 * BATCH * HEADS * SEQUENCE * 32)     /* a column of fp32 tiles for attention */   \
    X(T, 2048)                                    /* one tile */                               \
    X(T_B, BATCH *T)                              /* one tile for each sample */               \
    X(G, 64 * WIDTH)                 /* gamma, beta, or a bias as wide as the model */         \
    X(B_F, 64 * MLP)                 /* a bias as wide as the MLP */                           \
    X(SE, 2 * SEQUENCE * WIDTH)      /* the table of positions; sums over the batch */         \
    X(SE_WIDE, 4 * SEQUENCE * WIDTH) /* SE in fp32 */                                          \
    X(U_WIDE, 2 * U)                                                                           \
    X(U_3, 3 * U)                                                                              \
    X(W_E, 2 * WIDTH * WIDTH) /* a square matrix of weights */                                 \
    X(W_F, 2 * WIDTH * MLP)                                                                    \
    X(W_KV, 2 * WIDTH * 2 * GROUPS * HEAD)                                                     \
    X(W_V, 2 * VOCABULARY_32 * WIDTH)

#define RIG_ENUM(name, bytes) name = bytes,
enum { RIG_SIZES(RIG_ENUM) };
#undef RIG_ENUM

static inline const char *size_name(int64_t bytes)
{
#define RIG_NAME(name, value) {#name, value},
    static const struct {
        const char *name;
        int64_t bytes;
    } sizes[] = {RIG_SIZES(RIG_NAME)};
#undef RIG_NAME
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].bytes == (bytes < 0 ? -bytes : bytes))
            return sizes[i].name;
    return "?";
}

/* --- rows ------------------------------------------------------------------------------- */

struct row {
    const int64_t *sizes;
    size_t count;
};

#define ROW_OF(...)                                                                            \
    {                                                                                          \
        (const int64_t[]){__VA_ARGS__},                                                        \
            sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)                           \
    }

enum { RIG_ROW_MAX = 1024 };

struct rig {
    struct tts_device *device;
    struct tts_autograd ag;
    int64_t row[RIG_ROW_MAX]; /* the sizes since the last call of rig_look() */
    size_t count;
    /* `peak` is the largest number of live bytes since the last call of rig_look(), minus the
     * live bytes at that call. */
    int64_t live, peak;
    int64_t base;
};

static inline void rig_event(void *ctx, const struct tts_device_event *event)
{
    struct rig *rig = ctx;
    if (event->kind != TTS_DEVICE_ALLOC && event->kind != TTS_DEVICE_FREE)
        return;
    int64_t bytes = (int64_t)event->buffer->size_bytes;
    if (event->kind == TTS_DEVICE_FREE)
        bytes = -bytes;
    rig->live += bytes;
    if (rig->live - rig->base > rig->peak)
        rig->peak = rig->live - rig->base;
    if (rig->count < RIG_ROW_MAX)
        rig->row[rig->count] = bytes;
    rig->count++;
}

/* Clears the row, so that the next row begins here. */
static inline void rig_look(struct rig *rig)
{
    rig->count = 0;
    rig->peak = 0;
    rig->base = rig->live;
}

static inline void rig_open_with(struct rig *rig, const struct tts_workload_watch *watch,
                                 const struct tts_alloc *alloc)
{
    memset(rig, 0, sizeof *rig);
    struct tts_device_config config = {.mode = TTS_MODE_NO_DISPATCH,
                                       .observer = {rig_event, rig}};
    rig->device = device_on(chip_of("n150"), config, NULL);
    tts_autograd_init(&rig->ag, rig->device, watch, alloc);
}

static inline void rig_open(struct rig *rig)
{
    rig_open_with(rig, NULL, NULL);
}

/* Releases the rig. Checks that no call has failed and that no memory is left. */
static inline void rig_close(struct rig *rig)
{
    T_EQ(rig->ag.rt.status, TTS_OK);
    tts_autograd_reset(&rig->ag);
    T_EQ(rig->live, 0);
    tts_autograd_release(&rig->ag);
    tts_device_free(rig->device);
}

static inline void print_row(const char *what, const int64_t *sizes, size_t count)
{
    print_error("%s:", what);
    for (size_t i = 0; i < count && i < RIG_ROW_MAX; i++)
        print_error(" %c%s(%" PRId64 ")", sizes[i] < 0 ? '-' : '+', size_name(sizes[i]),
                    sizes[i] < 0 ? -sizes[i] : sizes[i]);
    print_error("\n");
}

/* Checks that the row is `expected`, then clears it. */
static inline void row_is(struct rig *rig, const char *what, struct row expected)
{
    bool same = rig->count == expected.count;
    for (size_t i = 0; same && i < expected.count; i++)
        same = rig->row[i] == expected.sizes[i];
    if (!same) {
        print_row("expected", expected.sizes, expected.count);
        print_row("     got", rig->row, rig->count);
        fail_msg("%s", what);
    }
    rig_look(rig);
}

#define T_ROW(rig, ...) row_is(rig, "row in " __FILE__, (struct row)ROW_OF(__VA_ARGS__))
#define T_QUIET(rig) T_EQ((rig)->count, 0)

/* --- values ----------------------------------------------------------------------------- */

static inline struct tts_value *tiled_value(struct rig *rig, struct tts_shape shape)
{
    return tts_value_new(&rig->ag, tts_tensor_tiled(&rig->ag.rt, shape));
}

static inline struct tts_value *ids_value(struct rig *rig, struct tts_shape shape)
{
    struct tts_value *ids = tts_value_new(
        &rig->ag, tts_tensor_new(&rig->ag.rt, shape, TTS_DTYPE_UINT32, TTS_LAYOUT_ROW_MAJOR));
    ids->needs_gradient = false;
    return ids;
}

#define SHAPE_U                                                                                \
    {                                                                                          \
        {                                                                                      \
            BATCH, 1, SEQUENCE, WIDTH                                                          \
        }                                                                                      \
    }
#define SHAPE_F                                                                                \
    {                                                                                          \
        {                                                                                      \
            BATCH, 1, SEQUENCE, MLP                                                            \
        }                                                                                      \
    }
#define SHAPE_OF(a, b, c, d)                                                                   \
    {                                                                                          \
        {                                                                                      \
            a, b, c, d                                                                         \
        }                                                                                      \
    }
