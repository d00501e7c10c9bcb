/* Interprets bytes as a pool and a history. A space and the slow model execute it side by side,
 * and any difference aborts. Every input is valid. */
#include "device/space.h"
#include "device/blocks.h"
#include "oracle/twin.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum {
    /* Number of operations per input. Most inputs are short, so that thousands run per second.
     * One bit of the input selects a history long enough for an index of several levels. */
    SHORT_OPS = 64,
    LONG_OPS = 400,
    CHECK_EVERY_OPS = 200,
    MAX_COPIES = 3, /* limited, because each copy visits all blocks */
};

struct reader {
    const uint8_t *at, *end;
};

struct rig {
    struct twin twin;
    struct twin_scratch scratch;
    struct model model;
    struct reader in;
    unsigned ops_left;
    unsigned since_check;
};

/* Returns the next byte, or 0 after the end. */
static uint8_t next_byte(struct reader *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static uint64_t next_u16(struct reader *in)
{
    uint64_t high = next_byte(in);
    return high << 8 | next_byte(in);
}

static void stop(const char *what)
{
    fprintf(stderr, "difference: %s\n", what);
    abort();
}

/* --- meaning of the bytes --------------------------------------------------------------- */

static struct tts_space_config read_config(struct reader *in)
{
    static const uint64_t alignments[] = {1, 3, 16, 32, 48, 64, 1024, 4096};
    uint8_t first = next_byte(in), second = next_byte(in), shift = second % 40;
    tts_blocks_set_portable(second / 40 % 2);
    struct tts_space_config config = {
        .policy = first & 1 ? TTS_POLICY_BEST : TTS_POLICY_FIRST,
        .alignment_bytes = alignments[first >> 1 & 7],
    };
    config.size_bytes = 1 + next_byte(in) + (next_u16(in) << shift);
    config.size_bytes = twin_countable(config.size_bytes, config.alignment_bytes);
    config.min_bytes = first & 16 ? next_byte(in) : config.alignment_bytes;
    config.offset_bytes = first & 32 ? next_u16(in) : 0;
    if (first & 64)
        config.offset_bytes = UINT64_MAX - config.size_bytes - config.offset_bytes;
    return config;
}

static const struct model_block *pick_block(const struct model *model, uint64_t selector)
{
    return model->count > 0 ? &model->blocks[selector % model->count] : NULL;
}

/* Returns a size. Two bits of the code choose the kind of number, six bits the number. */
static uint64_t read_size(const struct model *model, uint8_t code)
{
    uint64_t value = code & 63;
    const struct model_block *block = pick_block(model, value);
    switch (code >> 6) {
    case 0:
        return value * model->config.alignment_bytes;
    case 1:
        return block != NULL ? block->size_bytes : 0;
    case 2:
        return (UINT64_C(1) << value) - 1;
    default:
        return value < 32 ? UINT64_MAX - value : model->config.size_bytes / (value - 31) + 1;
    }
}

/* Returns an address in or near a block: its start, its middle, before it, or such that a
 * request of `bytes` ends with the block. */
static uint64_t read_address(const struct model *model, uint64_t selector, uint8_t where,
                             uint64_t bytes)
{
    const struct model_block *block = pick_block(model, selector);
    uint64_t start = model->config.offset_bytes + (block != NULL ? block->start : 0);
    uint64_t size_bytes = block != NULL ? block->size_bytes : 0, need = 0;
    switch (where & 7) {
    case 0:
    case 1:
        return start;
    case 2:
        return start + size_bytes / 2;
    case 3:
        return start +
               size_bytes / 2 / model->config.alignment_bytes * model->config.alignment_bytes;
    case 4:
    case 5:
        return model_need(model, bytes, &need) ? start + size_bytes - need : start;
    case 6:
        return start - 1;
    default:
        return start + (where >> 3);
    }
}

/* Decodes an operation. `turn` counts the repetitions of one operation, which go from block to
 * block. */
static struct twin_op make_op(const struct model *model, const uint8_t code[3], unsigned turn)
{
    uint64_t selector = code[1] + (uint64_t)turn * (1 + (code[0] >> 6));
    struct twin_op op = {.kind = TWIN_TAKE};
    switch (code[0] & 7) {
    case 0:
    case 1:
        op.direction = code[0] & 1 ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN;
        op.bytes = read_size(model, code[1]) + (code[2] & 3);
        op.limit = code[2] >= 240 ? read_address(model, code[2], 0, 0) : 0;
        break;
    case 2:
        op.kind = TWIN_TAKE_AT;
        op.bytes = code[2] & 8 ? UINT64_C(1) + code[2] : read_size(model, code[2] >> 2);
        op.address = read_address(model, selector, code[2], op.bytes);
        break;
    case 3:
    case 4:
        op.kind = TWIN_GIVE;
        op.address = read_address(model, selector, code[2] < 250 ? 0 : code[2], 0);
        break;
    case 5:
        op.kind = TWIN_SHRINK;
        op.bytes = read_size(model, code[1]) / (1 + (code[2] & 3));
        break;
    case 6:
        op.kind = code[2] == 255 ? TWIN_CLEAR : TWIN_UNSHRINK;
        break;
    default: /* takes from the lower and the upper end in turn */
        op.direction = turn & 1 ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN;
        op.bytes = read_size(model, (uint8_t)(code[1] + turn % 5));
        break;
    }
    return op;
}

/* --- the run ---------------------------------------------------------------------------- */

static void check(struct rig *rig, uint64_t request)
{
    struct twin_note note;
    rig->since_check = 0;
    if (!twin_same(&rig->twin, request, &rig->scratch, &note))
        stop(note.text);
}

/* Continues the history with a copy of the space. */
static void go_on_as_copy(struct rig *rig)
{
    struct tts_space *copy = NULL;
    if (tts_space_copy(rig->twin.space, &copy) != TTS_OK)
        stop("the copy was refused");
    if (!tts_space_equal(rig->twin.space, copy))
        stop("the copy is not equal");
    tts_space_free(rig->twin.space);
    rig->twin.space = copy;
}

/* Runs the operations. Each has three bytes, and a fourth if it is repeated. */
static void run_ops(struct rig *rig)
{
    struct reader *in = &rig->in;
    unsigned copies = 0;
    while (in->at < in->end && rig->ops_left > 0) {
        uint8_t code[3] = {next_byte(in), next_byte(in), next_byte(in)};
        unsigned turns = code[0] & 8 ? 2 + (unsigned)(next_byte(in) & 127) : 1;
        for (unsigned turn = 0; turn < turns && rig->ops_left > 0; turn++) {
            struct twin_note note;
            struct twin_op op = make_op(&rig->model, code, turn);
            if (!twin_step(&rig->twin, &op, &note))
                stop(note.text);
            rig->ops_left--;
            if (++rig->since_check >= CHECK_EVERY_OPS + rig->model.count)
                check(rig, op.bytes);
        }
        if ((code[0] & 0x30) == 0x30 && copies < MAX_COPIES) {
            go_on_as_copy(rig);
            copies++;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    /* Static because it has megabytes and needs no clearing: no run reads data of an earlier
     * run. */
    static struct rig rig;
    rig.in = (struct reader){bytes, bytes + len};
    rig.ops_left = len > 0 && bytes[0] & 128 ? LONG_OPS : SHORT_OPS;
    rig.since_check = 0;
    struct tts_space_config config = read_config(&rig.in);
    rig.twin = (struct twin){.model = &rig.model};
    model_init(&rig.model, &config);
    struct tts_error err;
    if (tts_space_new(&config, NULL, &rig.twin.space, &err) != TTS_OK)
        stop(err.text);
    run_ops(&rig);
    check(&rig, 0);
    tts_space_free(rig.twin.space);
    return 0;
}
