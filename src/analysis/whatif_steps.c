/* whatif_steps.c: what happened to DRAM, L1_SMALL and traces, kept small, to be run again with
 * banks or a region of another size. */
#include "analysis/whatif_inside.h"
#include "base/alloc.h"
#include "base/error.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What whatif.h says of their size. */
_Static_assert(sizeof(struct tts_whatif_step) == 24, "a step grew");
_Static_assert(TTS_WHATIF_DEVICES_MAX <= 256, "a model has one byte");

static void drop_steps(struct tts_whatif *whatif)
{
    struct tts_whatif_steps *steps = &whatif->steps;
    if (steps->items)
        whatif->alloc->free(whatif->alloc->ctx, steps->items,
                            steps->capacity * sizeof *steps->items);
    *steps = (struct tts_whatif_steps){0};
}

void tts_whatif_keep(struct tts_whatif *whatif, const struct tts_whatif_step *step)
{
    struct tts_whatif_steps *steps = &whatif->steps;
    if (!steps->is_kept)
        return;
    void *grown = steps->count == TTS_WHATIF_STEPS_MAX
                      ? NULL
                      : tts_alloc_grow(whatif->alloc, steps->items, &steps->capacity,
                                       steps->count + 1, sizeof *steps->items);
    if (!grown) {
        drop_steps(whatif); /* the file is there to be read again */
        return;
    }
    steps->items = grown;
    steps->items[steps->count++] = *step;
}

bool tts_whatif_has_steps(const struct tts_whatif *whatif)
{
    return whatif->steps.is_kept;
}

enum tts_status tts_whatif_resize(const struct tts_chip *chip, uint64_t bank_bytes,
                                  struct tts_chip *out, struct tts_error *err)
{
    struct tts_pool_layout now;
    struct tts_chip other = *chip;
    char text[32];
    uint64_t size;
    enum tts_status status = tts_chip_pool(chip, TTS_POOL_DRAM, &now, err);
    if (status != TTS_OK)
        return status;
    if (__builtin_add_overflow(now.nominal_bytes - now.bank_bytes, bank_bytes, &size))
        return tts_error_set(err, TTS_E_RANGE, "a bank past 64 bits");
    snprintf(text, sizeof text, "%" PRIu64, size);
    status = tts_chip_set(&other, tts_fact_name(TTS_FACT_DRAM_BANK_SIZE), text, err);
    if (status == TTS_OK)
        status = tts_chip_pool(&other, TTS_POOL_DRAM, &now, err);
    if (status != TTS_OK)
        return status;
    if (now.bank_bytes != bank_bytes)
        return tts_error_set(err, TTS_E_INVALID, "the base of DRAM depends on its size");
    *out = other;
    return TTS_OK;
}

/* --- one run ---------------------------------------------------------------------------- */

struct trial {
    const struct tts_whatif *whatif;
    enum tts_pool pool; /* only steps of this pool are run */
    struct tts_device *devices[TTS_WHATIF_DEVICES_MAX];
    struct tts_buffer *buffers; /* by place */
    size_t buffer_count;
};

static void end_trial(struct trial *trial)
{
    const struct tts_alloc *alloc = trial->whatif->alloc;
    for (size_t i = 0; i < trial->whatif->model_count; i++)
        tts_device_free(trial->devices[i]);
    if (trial->buffers)
        alloc->free(alloc->ctx, trial->buffers, trial->buffer_count * sizeof *trial->buffers);
}

static enum tts_status begin_trial(struct trial *trial, const struct tts_chip *chip,
                                   struct tts_error *err)
{
    const struct tts_whatif *whatif = trial->whatif;
    const struct tts_alloc *alloc = whatif->alloc;
    enum tts_status status = TTS_OK;
    trial->buffer_count = whatif->table.count;
    if (trial->buffer_count > 0) {
        trial->buffers = alloc->alloc(alloc->ctx, trial->buffer_count * sizeof *trial->buffers);
        if (!trial->buffers)
            return tts_error_set(err, TTS_E_NOMEM, "out of memory");
        memset(trial->buffers, 0, trial->buffer_count * sizeof *trial->buffers);
    }
    for (size_t i = 0; i < whatif->model_count && status == TTS_OK; i++)
        status = tts_whatif_new_device(whatif, chip, TTS_MODE_PLACE, &trial->devices[i], err);
    return status;
}

static enum tts_status take(struct tts_device *device, const struct tts_whatif_step *step,
                            struct tts_buffer *out)
{
    struct tts_core_range range = {.x1 = (uint16_t)(step->cores - (step->cores > 0))};
    struct tts_shard shard = {.shard_height = 1,
                              .shard_width = 1,
                              .page_height = 1,
                              .page_width = 1,
                              .cores = {.ranges = &range, .count = 1}};
    struct tts_request request = {
        .pool = step->kind == TTS_WHATIF_STEP_SMALL ? TTS_POOL_L1_SMALL : TTS_POOL_DRAM,
        .size_bytes = step->size_bytes,
        .page_bytes = step->page_bytes,
        .shard = step->cores > 0 ? &shard : NULL,
        .placement = (enum tts_placement)step->placement};
    return tts_device_alloc(device, &request, out, NULL);
}

/* Returns true if the step takes something of the pool that is tried. */
static bool is_tried(const struct trial *trial, const struct tts_whatif_step *step,
                     const struct tts_device *device)
{
    if (step->kind == TTS_WHATIF_STEP_SMALL)
        return trial->pool == TTS_POOL_L1_SMALL;
    if (step->kind == TTS_WHATIF_STEP_TRACE && tts_device_pool(device, TTS_POOL_TRACE))
        return trial->pool == TTS_POOL_TRACE;
    return trial->pool == TTS_POOL_DRAM;
}

static enum tts_status run_step(struct trial *trial, const struct tts_whatif_step *step)
{
    struct tts_device *device = trial->devices[step->model];
    assert(step->model < trial->whatif->model_count);
    if (step->kind == TTS_WHATIF_STEP_CAPTURE) {
        tts_device_trace_begin(device);
        return TTS_OK;
    }
    assert(step->place < trial->buffer_count);
    struct tts_buffer *buffer = &trial->buffers[step->place];
    if (step->kind == TTS_WHATIF_STEP_GIVE) {
        if (buffer->id == 0)
            return TTS_OK; /* of another pool */
        enum tts_status status = tts_device_release(device, buffer);
        *buffer = (struct tts_buffer){0};
        return status;
    }
    if (!is_tried(trial, step, device))
        return TTS_OK;
    if (step->kind == TTS_WHATIF_STEP_TRACE)
        return tts_device_alloc_trace(device, step->size_bytes, buffer, NULL);
    return take(device, step, buffer);
}

/* Runs the steps of a pool on devices of `chip` until one fails. */
static enum tts_status try_chip(const struct tts_whatif *whatif, enum tts_pool pool,
                                const struct tts_chip *chip, bool *passes,
                                struct tts_error *err)
{
    struct trial trial = {.whatif = whatif, .pool = pool};
    assert(whatif->steps.is_kept);
    enum tts_status status = begin_trial(&trial, chip, err);
    for (size_t i = 0; i < whatif->steps.count && status == TTS_OK; i++) {
        status = run_step(&trial, &whatif->steps.items[i]);
        if (status == TTS_E_NOMEM)
            tts_error_set(err, status, "out of memory");
    }
    end_trial(&trial);
    if (status == TTS_E_NOMEM)
        return status;
    assert(status == TTS_OK || status == TTS_E_FULL); /* each was taken before, or could be */
    *passes = status == TTS_OK;
    return TTS_OK;
}

enum tts_status tts_whatif_try(const struct tts_whatif *whatif, uint64_t bank_bytes,
                               bool *passes, struct tts_error *err)
{
    struct tts_chip chip;
    enum tts_status status = tts_whatif_resize(&whatif->chip, bank_bytes, &chip, err);
    return status == TTS_OK ? try_chip(whatif, TTS_POOL_DRAM, &chip, passes, err) : status;
}

enum tts_status tts_whatif_try_region(const struct tts_whatif *whatif, enum tts_pool pool,
                                      uint64_t bytes, bool *passes, struct tts_error *err)
{
    struct tts_chip chip = whatif->chip;
    char text[32];
    assert(pool == TTS_POOL_L1_SMALL || pool == TTS_POOL_TRACE);
    enum tts_fact_key key = pool == TTS_POOL_TRACE ? TTS_FACT_TRACE_REGION : TTS_FACT_L1_SMALL;
    snprintf(text, sizeof text, "%" PRIu64, bytes);
    if (tts_chip_set(&chip, tts_fact_name(key), text, NULL) != TTS_OK ||
        tts_chip_check(&chip, NULL) != TTS_OK) {
        *passes = false;
        return TTS_OK;
    }
    return try_chip(whatif, pool, &chip, passes, err);
}
