#include "oracle/history.h"
#include "device/space.h"

enum phase {
    PHASE_FILL,
    PHASE_CHURN,
    PHASE_DRAIN,
    PHASE_FRAGMENT,
    PHASE_NEAR_FULL,
    PHASE_PLACE,
    PHASE_PLUG,
    PHASE_CUT,
    PHASE_ABUSE,
    PHASES, /* number of phases, including the state before the first phase */
};

enum { LARGE_BLOCKS = 1000 };

/* Frequency of each kind of operation, per 1000 operations. */
static const unsigned mix[PHASES][TWIN_OP_KINDS] = {
    [PHASE_FILL] = {[TWIN_TAKE] = 900, [TWIN_TAKE_AT] = 40, [TWIN_GIVE] = 60},
    [PHASE_CHURN] = {[TWIN_TAKE] = 480, [TWIN_TAKE_AT] = 20, [TWIN_GIVE] = 500},
    [PHASE_DRAIN] = {[TWIN_TAKE] = 80, [TWIN_TAKE_AT] = 20, [TWIN_GIVE] = 900},
    [PHASE_FRAGMENT] = {[TWIN_TAKE] = 30, [TWIN_GIVE] = 970},
    [PHASE_NEAR_FULL] = {[TWIN_TAKE] = 600, [TWIN_TAKE_AT] = 50, [TWIN_GIVE] = 350},
    [PHASE_PLACE] = {[TWIN_TAKE] = 200, [TWIN_TAKE_AT] = 480, [TWIN_GIVE] = 320},
    [PHASE_PLUG] = {[TWIN_TAKE_AT] = 850, [TWIN_GIVE] = 150},
    [PHASE_CUT] = {[TWIN_TAKE] = 180,
                   [TWIN_TAKE_AT] = 50,
                   [TWIN_GIVE] = 420,
                   [TWIN_SHRINK] = 200,
                   [TWIN_UNSHRINK] = 145,
                   [TWIN_CLEAR] = 5},
    [PHASE_ABUSE] = {[TWIN_TAKE] = 400,
                     [TWIN_TAKE_AT] = 200,
                     [TWIN_GIVE] = 330,
                     [TWIN_SHRINK] = 30,
                     [TWIN_UNSHRINK] = 30,
                     [TWIN_CLEAR] = 10},
};

/* splitmix64: one step per draw, and every seed is equally good. */
static uint64_t draw(struct history *history)
{
    uint64_t x = history->rng += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Returns a number below `n`. The modulus favours small results, but too little to matter
 * here. */
uint64_t history_below(struct history *history, uint64_t n)
{
    return draw(history) % n;
}

static bool chance(struct history *history, unsigned percent)
{
    return history_below(history, 100) < percent;
}

/* --- the pool --------------------------------------------------------------------------- */

static uint64_t draw_size(struct history *history)
{
    /* Sizes near the largest counts of 16-bit and 32-bit words. */
    static const uint64_t edges[] = {
        65533,          65534,          65535,      65536,
        UINT32_MAX - 2, UINT32_MAX - 1, UINT32_MAX, UINT64_C(1) << 32};
    switch (history_below(history, 7)) {
    case 0:
        return 1 + history_below(history, 200);
    case 1:
        return 200 + history_below(history, 64 * 1024);
    case 2:
        return 1393472 - history_below(history, 3) * 7; /* about the size of an L1 bank */
    case 3:
        return TTS_SPACE_MAX_BYTES - history_below(history, 2) * history_below(history, 4096);
    case 4:
        return edges[history_below(history, sizeof edges / sizeof edges[0])];
    default:
        return 1 + (history_below(history, TTS_SPACE_MAX_BYTES) >> history_below(history, 30));
    }
}

static uint64_t draw_offset(struct history *history, uint64_t size_bytes)
{
    switch (history_below(history, 4)) {
    case 0:
        return 0;
    case 1:
        return history_below(history, 1 << 20);
    case 2:
        return draw(history) >> (1 + history_below(history, 40));
    default:
        return UINT64_MAX - size_bytes - history_below(history, 100);
    }
}

static uint64_t draw_min(struct history *history, uint64_t alignment_bytes)
{
    switch (history_below(history, 6)) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return alignment_bytes + 1;
    case 3:
        return history_below(history, 4 * alignment_bytes);
    default:
        return alignment_bytes;
    }
}

static void draw_config(struct history *history)
{
    static const uint64_t alignments[] = {1, 3, 16, 32, 48, 64, 1024, 4096};
    struct tts_space_config *config = &history->config;
    config->size_bytes = draw_size(history);
    uint64_t count = sizeof alignments / sizeof alignments[0];
    config->alignment_bytes = alignments[history_below(history, count)];
    /* A tiny pool with a large alignment holds nothing. Most pools should hold something. */
    if (config->alignment_bytes * 4 > config->size_bytes && !chance(history, 10))
        config->alignment_bytes = alignments[history_below(history, 2)];
    config->size_bytes = twin_countable(config->size_bytes, config->alignment_bytes);
    config->offset_bytes = draw_offset(history, config->size_bytes);
    config->min_bytes = draw_min(history, config->alignment_bytes);
    config->policy = chance(history, 50) ? TTS_POLICY_FIRST : TTS_POLICY_BEST;
}

/* Starts a history. Most histories are small because the model is slow. Every 64th seed has
 * thousands of live blocks, in a pool that can hold them. */
void history_init(struct history *history, uint64_t seed)
{
    *history = (struct history){.rng = seed * UINT64_C(0xd1342543de82ef95), .phase = PHASES};
    draw_config(history);
    history->target_blocks = (size_t)(2 + history_below(history, 60));
    history->length_ops = 100 + history_below(history, 2500);
    if (seed % 64 == 5) {
        history->target_blocks = (size_t)(LARGE_BLOCKS + history_below(history, 6000));
        history->length_ops = 3 * history->target_blocks + history_below(history, 11000);
        while (history->config.size_bytes / 16 / history->config.alignment_bytes <
               history->target_blocks)
            draw_config(history);
    } else if (chance(history, 12)) {
        history->target_blocks = (size_t)(100 + history_below(history, 400));
        history->length_ops = 2000 + history_below(history, 4000);
    }
    history->typical_bytes = 1 + history->config.size_bytes / history->target_blocks;
    history->size_law = (unsigned)history_below(history, 4);
}

/* --- numbers for an operation ----------------------------------------------------------- */

static const struct model_block *any_block(struct history *history, const struct model *model)
{
    return model->count > 0 ? &model->blocks[history_below(history, model->count)] : NULL;
}

/* Returns a random block that is taken, or free, or NULL if there is none. */
static const struct model_block *block_that_is(struct history *history,
                                               const struct model *model, bool taken)
{
    size_t from = model->count > 0 ? (size_t)history_below(history, model->count) : 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct model_block *block = &model->blocks[(from + i) % model->count];
        if (block->taken == taken)
            return block;
    }
    return NULL;
}

static uint64_t extreme(struct history *history)
{
    switch (history_below(history, 6)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX - history_below(history, 2 * history->config.alignment_bytes + 2);
    case 2:
        return history->config.size_bytes + history_below(history, 3) - 1;
    case 3:
        return (UINT64_C(1) << history_below(history, 64)) - history_below(history, 2);
    case 4:
        return draw(history);
    default:
        return 1 + history_below(history, history->config.alignment_bytes);
    }
}

uint64_t history_request(struct history *history, const struct model *model)
{
    uint64_t typical = history->typical_bytes;
    /* One huge block would fill a pool that should hold thousands of blocks. */
    unsigned normally = history->target_blocks < LARGE_BLOCKS ? 1 : 0;
    if (chance(history, history->phase == PHASE_ABUSE ? 40 : normally))
        return extreme(history);
    if (chance(history, 8)) { /* exact fit, or one byte more or less */
        const struct model_block *block = block_that_is(history, model, false);
        if (block != NULL && block->size_bytes / 8 < typical)
            return block->size_bytes + history_below(history, 3) - 1;
    }
    switch (history->size_law) {
    case 0:
        return 1 + history_below(history, 2 * typical);
    case 1: /* few sizes, so that many holes fit exactly */
        return (1 + history_below(history, 4)) * (typical / 2 + 1);
    case 2:
        return 1 + history_below(history, 4 * typical) / (1 + history_below(history, 64));
    default: /* near the limits of the size classes */
        return (UINT64_C(1024) << history_below(history, 4)) * (typical / 4096 + 1) +
               history_below(history, 3) - 1;
    }
}

static uint64_t absolute(const struct model *model, uint64_t relative)
{
    return model->config.offset_bytes + relative;
}

/* Returns an address that is probably not the start of a taken block. */
static uint64_t wrong_address(struct history *history, const struct model *model)
{
    const struct model_block *block = any_block(history, model);
    switch (history_below(history, 4)) {
    case 0:
        return model->config.offset_bytes - 1 - history_below(history, 64);
    case 1:
        return draw(history) >> history_below(history, 64);
    case 2:
        return absolute(model, model->config.size_bytes + history_below(history, 64));
    default:
        if (block == NULL)
            return absolute(model, 0);
        return absolute(model, block->start + history_below(history, block->size_bytes));
    }
}

/* Returns the next block to give back in the fragmenting phase, which walks up the pool and
 * gives back every other taken block. */
static const struct model_block *next_to_sweep(struct history *history,
                                               const struct model *model)
{
    for (size_t i = history->sweep_idx + 2; i < model->count; i++) {
        if (model->blocks[i].taken) {
            history->sweep_idx = i;
            return &model->blocks[i];
        }
    }
    history->sweep_idx = 0;
    return block_that_is(history, model, true);
}

/* Returns the next free block in the plugging phase. The phase walks up the pool, fills each
 * hole exactly, and sometimes gives back a block that it has just passed. Whole groups of free
 * blocks vanish while others remain and new ones appear below. */
static const struct model_block *next_hole(struct history *history, const struct model *model)
{
    for (size_t i = history->sweep_idx; i < model->count; i++) {
        if (!model->blocks[i].taken) {
            history->sweep_idx = i;
            return &model->blocks[i];
        }
    }
    history->sweep_idx = 0;
    return NULL;
}

static const struct model_block *just_passed(struct history *history, const struct model *model)
{
    size_t back = (size_t)history_below(history, 60);
    size_t from = history->sweep_idx > back ? history->sweep_idx - back : 0;
    for (size_t i = from; i < model->count; i++) {
        if (model->blocks[i].taken)
            return &model->blocks[i];
    }
    return NULL;
}

static uint64_t address_to_give(struct history *history, const struct model *model)
{
    const struct model_block *block;
    if (history->phase == PHASE_FRAGMENT)
        block = next_to_sweep(history, model);
    else if (history->phase == PHASE_PLUG)
        block = just_passed(history, model);
    else
        block = block_that_is(history, model, true);
    if (block == NULL || chance(history, history->phase == PHASE_ABUSE ? 40 : 3))
        return wrong_address(history, model);
    return absolute(model, block->start);
}

/* Returns an address, mostly inside a free block: at its start, so that the block ends with it,
 * or anywhere. */
static uint64_t address_to_take(struct history *history, const struct model *model,
                                uint64_t bytes)
{
    const struct model_block *block = block_that_is(history, model, false);
    uint64_t need = 0;
    if (block == NULL || chance(history, history->phase == PHASE_ABUSE ? 40 : 10))
        return wrong_address(history, model);
    if (!model_need(model, bytes, &need) || need >= block->size_bytes || chance(history, 25))
        return absolute(model, block->start);
    uint64_t rest = block->size_bytes - need;
    switch (history_below(history, 4)) {
    case 0:
        return absolute(model, block->start + rest);
    case 1: /* a start from one byte too far to one byte short of ending with the free block */
        return absolute(model, block->start + rest + 1 - history_below(history, 3));
    case 2: {
        uint64_t granule = model->config.alignment_bytes;
        return absolute(model, block->start + history_below(history, rest) / granule * granule);
    }
    default:
        return absolute(model, block->start + history_below(history, rest + 1));
    }
}

static void draw_take_at(struct history *history, const struct model *model, struct twin_op *op)
{
    const struct model_block *hole = NULL;
    if (history->phase == PHASE_PLUG)
        hole = next_hole(history, model);
    if (hole != NULL) {
        op->bytes = hole->size_bytes;
        op->address = absolute(model, hole->start);
        history->sweep_idx++; /* continue after it even if it cannot be filled exactly */
    } else {
        op->bytes = history_request(history, model);
        op->address = address_to_take(history, model, op->bytes);
    }
}

static uint64_t bytes_to_cut(struct history *history, const struct model *model)
{
    uint64_t total = model->config.size_bytes - model->shrunk_bytes;
    uint64_t room =
        model->count > 0 && !model->blocks[0].taken ? model->blocks[0].size_bytes : 0;
    switch (history_below(history, 8)) {
    case 0:
        return total + history_below(history, 3) - 1;
    case 1:
        return extreme(history);
    case 2:
        return room; /* shrinks so far that the lowest block vanishes */
    case 3:
        return room + 1;
    case 4:
        return history_below(history, total + 1);
    default:
        return history_below(history, room + 1);
    }
}

/* --- operations ------------------------------------------------------------------------- */

/* Chooses the next phase of a large history. It alternates between a pool full of holes and a
 * full pool, with each hole at its own place, because that makes an index over many free blocks
 * grow and shrink. */
static unsigned next_large_phase(struct history *history)
{
    switch (history->phase) {
    case PHASE_FILL:
    case PHASE_PLUG:
        return chance(history, 70) ? PHASE_DRAIN : PHASE_FRAGMENT;
    case PHASE_DRAIN:
    case PHASE_FRAGMENT:
        return chance(history, 70) ? PHASE_PLUG : (unsigned)history_below(history, PHASES);
    default:
        return chance(history, 50) ? PHASE_FILL : (unsigned)history_below(history, PHASES);
    }
}

/* Begins the next phase. A history starts by filling the pool, because operations on an empty
 * pool test little. Phases that shrink and clear are short for the same reason. */
static void next_phase(struct history *history)
{
    size_t target = history->target_blocks;
    bool first = history->phase == PHASES, large = target >= LARGE_BLOCKS;
    if (first)
        history->phase = PHASE_FILL;
    else if (large)
        history->phase = next_large_phase(history);
    else
        history->phase = (unsigned)history_below(history, PHASES);
    uint64_t most = large ? target / 2 : 3 * target;
    history->phase_ops_left = first ? target * 5 / 4 : 1 + history_below(history, most);
    if (history->phase == PHASE_CUT || history->phase == PHASE_ABUSE)
        history->phase_ops_left = 1 + history_below(history, 100);
    history->up_percent = (unsigned)history_below(history, 5) * 25;
    history->sweep_idx = (size_t)history_below(history, target);
}

static enum twin_op_kind draw_kind(struct history *history)
{
    uint64_t at = history_below(history, 1000);
    enum twin_op_kind kind = TWIN_TAKE;
    while (at >= mix[history->phase][kind]) {
        at -= mix[history->phase][kind];
        kind++;
    }
    return kind;
}

static uint64_t draw_limit(struct history *history, const struct model *model)
{
    if (!chance(history, history->phase == PHASE_ABUSE ? 40 : 3))
        return chance(history, 50) ? 0 : model->config.offset_bytes;
    if (chance(history, 20))
        return extreme(history);
    return absolute(model, history_below(history, model->config.size_bytes));
}

void history_next(struct history *history, const struct model *model, struct twin_op *op)
{
    if (history->phase_ops_left == 0)
        next_phase(history);
    history->phase_ops_left--;
    *op = (struct twin_op){.kind = draw_kind(history)};
    if (op->kind == TWIN_CLEAR && model->count > 500 && chance(history, 90))
        op->kind = TWIN_GIVE; /* clearing so many blocks each time is too slow */
    if (op->kind == TWIN_GIVE && block_that_is(history, model, true) == NULL &&
        chance(history, 90)) {
        op->kind = TWIN_TAKE; /* no block is left: go to the next phase */
        history->phase_ops_left = 0;
    }
    if (!model_has_room(model))
        op->kind = TWIN_CLEAR;
    switch (op->kind) {
    case TWIN_TAKE:
        op->bytes = history_request(history, model);
        op->direction =
            chance(history, history->up_percent) ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN;
        op->limit = draw_limit(history, model);
        break;
    case TWIN_TAKE_AT:
        draw_take_at(history, model, op);
        break;
    case TWIN_GIVE:
        op->address = address_to_give(history, model);
        break;
    case TWIN_SHRINK:
        op->bytes = bytes_to_cut(history, model);
        break;
    case TWIN_UNSHRINK:
    case TWIN_CLEAR:
    case TWIN_OP_KINDS:
        break;
    }
}
