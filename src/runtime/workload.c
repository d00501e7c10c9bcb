#include "runtime/workload.h"

#include "base/error.h"
#include "runtime/collective.h"
#include "runtime/tensor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char *tts_recipe_name(enum tts_recipe recipe)
{
    static const char *const names[TTS_RECIPES] = {"v1",       "v1-python", "head",
                                                   "head-c++", "may",       "may-c++"};
    assert((unsigned)recipe < TTS_RECIPES);
    return names[recipe];
}

bool tts_recipe_is_v1(enum tts_recipe recipe)
{
    return recipe == TTS_RECIPE_V1 || recipe == TTS_RECIPE_V1_PYTHON;
}

bool tts_recipe_is_may(enum tts_recipe recipe)
{
    return recipe == TTS_RECIPE_MAY || recipe == TTS_RECIPE_MAY_CPP;
}

bool tts_recipe_is_cpp(enum tts_recipe recipe)
{
    return recipe == TTS_RECIPE_V1 || recipe == TTS_RECIPE_HEAD_CPP ||
           recipe == TTS_RECIPE_MAY_CPP;
}

const char *tts_runner_name(enum tts_runner runner)
{
    static const char *const names[] = {"default", "memory_efficient"};
    assert((unsigned)runner <= TTS_RUNNER_MEMORY_EFFICIENT);
    return names[runner];
}

const char *tts_optimizer_name(enum tts_optimizer_kind kind)
{
    static const char *const names[TTS_OPTIMIZERS] = {
        "AdamW", "MorehAdamW", "AdamWComposite", "AdamWFullPrecision", "SGD", "NoOp"};
    assert((unsigned)kind < TTS_OPTIMIZERS);
    return names[kind];
}

const char *tts_part_name(enum tts_tensor_part part)
{
    static const char *const names[TTS_PARTS] = {"parameters",  "optimizer_state", "gradients",
                                                 "activations", "temporaries",     "inputs",
                                                 "constants",   "kernel_binaries"};
    assert((unsigned)part < TTS_PARTS);
    return names[part];
}

enum {
    TILE = TTS_TILE_SIDE,
    BLOCKS_MAX = 4096,
    STEPS_MAX = 1 << 16, /* most blocks x micro steps: a larger run would take minutes */
    MLP_STEP = 256,
};

/* --- sizes ------------------------------------------------------------------------------ */

uint64_t tts_model_mlp_width(const struct tts_model_config *model)
{
    if (model->mlp_width != 0)
        return model->mlp_width;
    if (model->family == TTS_FAMILY_GPT2)
        return 4 * model->width;
    return (4 * model->width * 2 / 3 + MLP_STEP - 1) / MLP_STEP * MLP_STEP;
}

uint64_t tts_workload_vocabulary(const struct tts_workload *workload)
{
    uint64_t step = TILE * workload->tensor_parallel;
    return (workload->model.vocabulary + step - 1) / step * step;
}

/* The numbers of elements from which the number and the bytes of the parameters are computed.
 * With tensor parallelism the head, the matrices of a block and the divided vectors are divided
 * among the chips. Vectors are padded to a row of tiles. */
struct counts {
    uint64_t embedding, head, positions; /* in matrices */
    /* In one block: in matrices, in vectors that are divided, in other vectors. */
    uint64_t matrices, divided, vectors;
    uint64_t last; /* in the vectors of the final norm */
};

static struct counts count_parameters_of(const struct tts_workload *workload)
{
    const struct tts_model_config *m = &workload->model;
    uint64_t e = m->width, f = tts_model_mlp_width(m), v = tts_workload_vocabulary(workload);
    uint64_t kv = 2 * m->groups * (e / m->heads);
    struct counts c = {.head = v * e, .embedding = m->tied ? 0 : v * e};
    if (m->family == TTS_FAMILY_LLAMA) {
        c.matrices = 2 * e * e + e * kv + 3 * e * f;
        c.vectors = 2 * e;
        c.last = e;
        return c;
    }
    c.positions = m->fixed_positions ? 0 : m->sequence * e;
    c.matrices = 4 * e * e + 2 * e * f;
    c.divided = 3 * e + f;     /* the biases of qkv and fc1 */
    c.vectors = 2 * e + 4 * e; /* the biases of the two output layers, and two norms */
    c.last = 2 * e;
    return c;
}

uint64_t tts_workload_parameters(const struct tts_workload *workload)
{
    struct counts c = count_parameters_of(workload);
    return c.embedding + c.head + c.positions + c.last +
           workload->model.blocks * (c.matrices + c.divided + c.vectors);
}

uint64_t tts_workload_parameter_bytes(const struct tts_workload *workload)
{
    struct counts c = count_parameters_of(workload);
    uint64_t chips = workload->tensor_parallel;
    uint64_t matrices = c.embedding + c.head / chips + c.positions +
                        workload->model.blocks * (c.matrices / chips);
    uint64_t vectors = c.last + workload->model.blocks * (c.divided / chips + c.vectors);
    return 2 * (matrices + TILE * vectors);
}

/* --- checks ----------------------------------------------------------------------------- */

struct check {
    enum tts_workload_field field;
    struct tts_error *err;
};

/* Returns true if `value` is from 1 to `most`. Otherwise sets the error and returns false. */
static bool is_field_in_range(struct check *check, enum tts_workload_field field,
                              uint64_t value, uint64_t most)
{
    if (value >= 1 && value <= most)
        return true;
    check->field = field;
    tts_error_set(check->err, TTS_E_INVALID, "must be from 1 to %" PRIu64 ", but is %" PRIu64,
                  most, value);
    return false;
}

/* Returns true if `value` fits in the 32-bit type that the modelled program uses. Otherwise
 * sets the error. */
static bool is_field_count(struct check *check, enum tts_workload_field field, uint64_t value)
{
    return is_field_in_range(check, field, value, UINT32_MAX);
}

static bool divides_field(struct check *check, enum tts_workload_field field, uint64_t value,
                          uint64_t whole, const char *name)
{
    if (whole % value == 0)
        return true;
    check->field = field;
    tts_error_set(check->err, TTS_E_INVALID, "must divide %s (%" PRIu64 "), but is %" PRIu64,
                  name, whole, value);
    return false;
}

static bool is_field_tiled(struct check *check, enum tts_workload_field field, uint64_t value)
{
    if (value % TILE == 0)
        return true;
    check->field = field;
    tts_error_set(check->err, TTS_E_INVALID, "must be a multiple of %d, but is %" PRIu64, TILE,
                  value);
    return false;
}

static bool TTS_PRINTF(3, 4)
    refuse_field(struct check *check, enum tts_workload_field field, const char *format, ...)
{
    char why[sizeof check->err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    check->field = field;
    tts_error_set(check->err, TTS_E_INVALID, "%s", why);
    return false;
}

static bool check_head_sizes(struct check *check, const struct tts_model_config *m)
{
    uint64_t head = m->width / m->heads;
    if (head % TILE == 0)
        return true;
    check->field = TTS_FIELD_HEADS;
    tts_error_set(check->err, TTS_E_INVALID,
                  "must give each head a width that is a multiple of %d, but %" PRIu64
                  " / %" PRIu64 " is %" PRIu64,
                  TILE, m->width, m->heads, head);
    return false;
}

static bool check_model_sizes(struct check *check, const struct tts_model_config *m)
{
    if (!is_field_in_range(check, TTS_FIELD_BLOCKS, m->blocks, BLOCKS_MAX) ||
        !is_field_count(check, TTS_FIELD_WIDTH, m->width) ||
        !is_field_tiled(check, TTS_FIELD_WIDTH, m->width) ||
        !is_field_count(check, TTS_FIELD_HEADS, m->heads) ||
        !divides_field(check, TTS_FIELD_HEADS, m->heads, m->width, "the embedding width") ||
        !check_head_sizes(check, m) || !is_field_count(check, TTS_FIELD_GROUPS, m->groups) ||
        !divides_field(check, TTS_FIELD_GROUPS, m->groups, m->heads, "the number of heads") ||
        !is_field_count(check, TTS_FIELD_SEQUENCE, m->sequence) ||
        !is_field_tiled(check, TTS_FIELD_SEQUENCE, m->sequence) ||
        !is_field_count(check, TTS_FIELD_VOCABULARY, m->vocabulary))
        return false;
    if (m->mlp_width != 0 && (!is_field_count(check, TTS_FIELD_MLP_WIDTH, m->mlp_width) ||
                              !is_field_tiled(check, TTS_FIELD_MLP_WIDTH, m->mlp_width)))
        return false;
    if (m->family == TTS_FAMILY_GPT2 && m->groups != m->heads)
        return refuse_field(check, TTS_FIELD_GROUPS,
                            "must equal the number of heads: gpt2 has no groups");
    return true;
}

static bool check_parallel_sizes(struct check *check, const struct tts_workload *w)
{
    const struct tts_model_config *m = &w->model;
    uint64_t chips = w->tensor_parallel;
    if (!is_field_in_range(check, TTS_FIELD_TENSOR_PARALLEL, chips, TTS_CHIPS_MAX) ||
        !is_field_in_range(check, TTS_FIELD_DATA_PARALLEL, w->data_parallel, TTS_CHIPS_MAX) ||
        !divides_field(check, TTS_FIELD_DATA_PARALLEL, w->data_parallel, w->batch,
                       "the batch") ||
        !divides_field(check, TTS_FIELD_TENSOR_PARALLEL, chips, m->heads,
                       "the number of heads") ||
        !divides_field(check, TTS_FIELD_TENSOR_PARALLEL, chips, m->groups,
                       "the number of groups") ||
        !divides_field(check, TTS_FIELD_TENSOR_PARALLEL, chips, tts_model_mlp_width(m) / TILE,
                       "the number of tiles in the mlp width"))
        return false;
    if (chips > 1 && m->tied)
        return refuse_field(check, TTS_FIELD_TIED,
                            "cannot be used with tensor parallel, which divides the output "
                            "head among the chips");
    if (chips > 1 && w->clip)
        return refuse_field(
            check, TTS_FIELD_CLIP,
            "cannot be used with tensor parallel: no training program supports both");
    return true;
}

/* Returns an upper bound of the bytes of a run, in floating point. If the bound is below 2^63,
 * no product of sizes can overflow. */
static double bound_run_bytes(const struct tts_workload *w, double batch, double sequence)
{
    const struct tts_model_config *m = &w->model;
    double e = (double)m->width, f = (double)tts_model_mlp_width(m);
    double v = (double)tts_workload_vocabulary(w), h = (double)m->heads;
    double parameters = 2 * v * e + sequence * e + (double)m->blocks * (4 * e + 3 * f + 64) * e;
    double rows = batch * sequence;
    double kept = rows * (32 * e + 8 * f + 256 * h) + batch * h * sequence * sequence;
    return 64 * parameters + 16 * (double)m->blocks * kept + 16 * rows * v +
           64 * sequence * sequence;
}

static bool check_run_bytes(struct check *check, const struct tts_workload *w)
{
    const double most = 9.0e18;
    double batch = (double)w->batch, sequence = (double)w->model.sequence;
    if (bound_run_bytes(w, batch, sequence) < most)
        return true;
    check->field = TTS_FIELD_WIDTH;
    if (bound_run_bytes(w, 1, sequence) < most)
        check->field = TTS_FIELD_BATCH;
    else if (bound_run_bytes(w, 1, TILE) < most)
        check->field = TTS_FIELD_SEQUENCE;
    tts_error_set(check->err, TTS_E_RANGE,
                  "is too large: the run would need more than 2^63 bytes");
    return false;
}

static bool check_recipe_fields(struct check *check, const struct tts_workload *w)
{
    const struct tts_optimizer_config *o = &w->optimizer;
    bool is_v1 = tts_recipe_is_v1(w->recipe);
    if (is_v1 && w->tensor_parallel > 1)
        return refuse_field(check, TTS_FIELD_TENSOR_PARALLEL, "is not modelled in recipe '%s'",
                            tts_recipe_name(w->recipe));
    if (tts_recipe_is_may(w->recipe) && w->tensor_parallel == 1)
        return refuse_field(check, TTS_FIELD_TENSOR_PARALLEL,
                            "must be more than 1, because recipe '%s' is for tensor parallel "
                            "runs",
                            tts_recipe_name(w->recipe));
    if (is_v1 && o->kind == TTS_OPTIMIZER_ADAMW_FULL_PRECISION)
        return refuse_field(check, TTS_FIELD_OPTIMIZER, "is not available in recipe '%s'",
                            tts_recipe_name(w->recipe));
    bool is_composite =
        o->kind == TTS_OPTIMIZER_ADAMW_COMPOSITE || (is_v1 && o->kind == TTS_OPTIMIZER_ADAMW);
    if (o->kahan && !is_composite)
        return refuse_field(check, TTS_FIELD_OPTIMIZER,
                            "has no Kahan summation; AdamWComposite has it");
    if (o->amsgrad && (is_v1 || o->kind == TTS_OPTIMIZER_MOREH_ADAMW))
        return refuse_field(check, TTS_FIELD_OPTIMIZER,
                            "has no amsgrad; AdamW of recipe head has it");
    return true;
}

enum tts_status tts_workload_check(const struct tts_workload *w, enum tts_workload_field *field,
                                   struct tts_error *err)
{
    struct tts_error here = {0};
    struct check check = {TTS_FIELD_NONE, &here};
    bool ok = check_model_sizes(&check, &w->model) &&
              is_field_count(&check, TTS_FIELD_BATCH, w->batch) &&
              is_field_in_range(&check, TTS_FIELD_ACCUMULATE, w->accumulate,
                                STEPS_MAX / w->model.blocks) &&
              check_parallel_sizes(&check, w) && check_recipe_fields(&check, w) &&
              check_run_bytes(&check, w);
    if (ok)
        return TTS_OK;
    assert(check.field != TTS_FIELD_NONE && here.status != TTS_OK);
    *field = check.field;
    if (err)
        *err = here;
    return here.status;
}
