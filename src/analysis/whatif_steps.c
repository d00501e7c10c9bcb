/* whatif_steps.c: what happened to DRAM, L1_SMALL and traces, kept small, to be run again with
 * banks or a region of another size. */
#include "analysis/whatif_inside.h"
#include "base/error.h"
#include "base/heap.h"
#include "device/devicepools.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct tts_whatif_step) == 24, "a step has padding, and is compared");
_Static_assert(TTS_WHATIF_DEVICES_MAX <= 256, "a model has one byte");

/* --- steps as bytes ---------------------------------------------------------------------
 * A step is a number of 1 to 5 bytes, seven bits each, the lowest first. Its two lowest bits
 * say what it is, the others are its value: GIVE      the place AGAIN     where the request is
 * among the recent ones; the place follows REQUEST   the same; then the request itself, and the
 * place CAPTURE   the model */

enum { CODE_GIVE, CODE_AGAIN, CODE_REQUEST, CODE_CAPTURE, CODE_BITS = 2 };
enum { NUMBER_MAX = 5, STEP_MAX = 2 * NUMBER_MAX + sizeof(struct tts_whatif_step) };

_Static_assert((uint64_t)TTS_WHATIF_LIVE_MAX << CODE_BITS <= UINT32_MAX, "a place has 30 bits");

static unsigned char *put_number(unsigned char *to, uint32_t value)
{
    for (; value > 0x7f; value >>= 7)
        *to++ = (unsigned char)(value | 0x80);
    *to++ = (unsigned char)value;
    return to;
}

/* Our own bytes: they are whole. */
static const unsigned char *get_number(const unsigned char *from, uint32_t *out)
{
    uint32_t value = 0;
    unsigned shift = 0;
    for (; *from & 0x80; shift += 7)
        value |= (uint32_t)(*from++ & 0x7f) << shift;
    *out = value | (uint32_t)*from++ << shift;
    return from;
}

static uint32_t recent_place(const struct tts_whatif_step *request)
{
    uint64_t words[3];
    memcpy(words, request, sizeof words);
    uint64_t hash = words[0] * UINT64_C(0x9e3779b97f4a7c15) ^ words[1];
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) ^ words[2];
    hash *= UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(hash >> 40) % TTS_WHATIF_RECENT;
}

static unsigned char *put_request(struct tts_whatif_recent *recent, unsigned char *to,
                                  const struct tts_whatif_step *step)
{
    struct tts_whatif_step request = *step;
    request.place = 0;
    uint32_t at = recent_place(&request);
    bool is_known = memcmp(&recent->requests[at], &request, sizeof request) == 0;
    to = put_number(to, at << CODE_BITS | (is_known ? CODE_AGAIN : CODE_REQUEST));
    if (!is_known) {
        recent->requests[at] = request;
        memcpy(to, &request, sizeof request);
        to += sizeof request;
    }
    return put_number(to, step->place);
}

static const unsigned char *get_step(struct tts_whatif_recent *recent,
                                     const unsigned char *from, struct tts_whatif_step *out)
{
    uint32_t number;
    from = get_number(from, &number);
    uint32_t code = number % (1u << CODE_BITS), value = number >> CODE_BITS;
    if (code == CODE_GIVE) {
        *out = (struct tts_whatif_step){.kind = TTS_WHATIF_STEP_GIVE, .place = value};
        return from;
    }
    if (code == CODE_CAPTURE) {
        *out =
            (struct tts_whatif_step){.kind = TTS_WHATIF_STEP_CAPTURE, .model = (uint8_t)value};
        return from;
    }
    if (code == CODE_REQUEST) {
        memcpy(&recent->requests[value], from, sizeof recent->requests[value]);
        from += sizeof recent->requests[value];
    }
    *out = recent->requests[value];
    return get_number(from, &out->place);
}

/* --- keeping ---------------------------------------------------------------------------- */

void tts_whatif_drop_steps(struct tts_whatif *whatif)
{
    struct tts_whatif_steps *steps = &whatif->steps;
    const struct tts_alloc *alloc = whatif->alloc;
    if (steps->bytes)
        alloc->free(alloc->ctx, steps->bytes, steps->capacity);
    if (steps->recent)
        alloc->free(alloc->ctx, steps->recent, sizeof *steps->recent);
    *steps = (struct tts_whatif_steps){0};
}

static struct tts_whatif_recent *new_recent(const struct tts_alloc *alloc)
{
    struct tts_whatif_recent *recent = alloc->alloc(alloc->ctx, sizeof *recent);
    if (recent)
        memset(recent, 0, sizeof *recent);
    return recent;
}

/* Room for one step more. False: there is none. */
static bool widen_steps(struct tts_whatif *whatif)
{
    struct tts_whatif_steps *steps = &whatif->steps;
    if (!steps->recent)
        steps->recent = new_recent(whatif->alloc);
    if (!steps->recent || steps->used > TTS_WHATIF_STEPS_BYTES - STEP_MAX)
        return false;
    void *grown = tts_alloc_grow(whatif->alloc, steps->bytes, &steps->capacity,
                                 steps->used + STEP_MAX, 1);
    if (grown)
        steps->bytes = grown;
    return grown != NULL;
}

void tts_whatif_keep(struct tts_whatif *whatif, const struct tts_whatif_step *step)
{
    struct tts_whatif_steps *steps = &whatif->steps;
    if (!steps->is_kept)
        return;
    if (!widen_steps(whatif)) {
        tts_whatif_drop_steps(whatif); /* the file is there to be read again */
        return;
    }
    unsigned char *to = steps->bytes + steps->used;
    if (step->kind == TTS_WHATIF_STEP_GIVE)
        to = put_number(to, step->place << CODE_BITS | CODE_GIVE);
    else if (step->kind == TTS_WHATIF_STEP_CAPTURE)
        to = put_number(to, (uint32_t)step->model << CODE_BITS | CODE_CAPTURE);
    else
        to = put_request(steps->recent, to, step);
    steps->used = (size_t)(to - steps->bytes);
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
    struct held {
        struct tts_buffer buffer; /* its id is 0 where there is none */
        uint8_t model;
    } * held; /* by place */
    size_t held_count;
    struct tts_whatif_recent *recent;
};

static void end_trial(struct trial *trial)
{
    const struct tts_alloc *alloc = trial->whatif->alloc;
    for (size_t i = 0; i < trial->whatif->model_count; i++)
        tts_device_free(trial->devices[i]);
    if (trial->held)
        alloc->free(alloc->ctx, trial->held, trial->held_count * sizeof *trial->held);
    if (trial->recent)
        alloc->free(alloc->ctx, trial->recent, sizeof *trial->recent);
}

static enum tts_status begin_trial(struct trial *trial, const struct tts_chip *chip,
                                   struct tts_error *err)
{
    const struct tts_whatif *whatif = trial->whatif;
    const struct tts_alloc *alloc = whatif->alloc;
    enum tts_status status = TTS_OK;
    trial->held_count = whatif->table.count;
    trial->recent = new_recent(alloc);
    if (trial->held_count > 0)
        trial->held = alloc->alloc(alloc->ctx, trial->held_count * sizeof *trial->held);
    if (!trial->recent || (trial->held_count > 0 && !trial->held))
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    if (trial->held)
        memset(trial->held, 0, trial->held_count * sizeof *trial->held);
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

static enum tts_status give(struct trial *trial, struct held *held)
{
    if (held->buffer.id == 0)
        return TTS_OK; /* of another pool */
    enum tts_status status = tts_device_release(trial->devices[held->model], &held->buffer);
    held->buffer.id = 0;
    return status;
}

static enum tts_status run_step(struct trial *trial, const struct tts_whatif_step *step)
{
    struct tts_device *device = trial->devices[step->model];
    if (step->kind == TTS_WHATIF_STEP_CAPTURE) {
        tts_device_trace_begin(device);
        return TTS_OK;
    }
    assert(step->place < trial->held_count);
    struct held *held = &trial->held[step->place];
    if (step->kind == TTS_WHATIF_STEP_GIVE)
        return give(trial, held);
    assert(step->model < trial->whatif->model_count);
    if (!is_tried(trial, step, device))
        return TTS_OK;
    held->model = step->model;
    if (step->kind == TTS_WHATIF_STEP_TRACE)
        return tts_device_alloc_trace(device, step->size_bytes, &held->buffer, NULL);
    return take(device, step, &held->buffer);
}

/* Runs the steps of a pool on devices of `chip` until one fails. */
static enum tts_status try_chip(const struct tts_whatif *whatif, enum tts_pool pool,
                                const struct tts_chip *chip, bool *passes,
                                struct tts_error *err)
{
    struct trial trial = {.whatif = whatif, .pool = pool};
    assert(whatif->steps.is_kept);
    enum tts_status status = begin_trial(&trial, chip, err);
    if (status != TTS_OK) {
        end_trial(&trial);
        return status;
    }
    const unsigned char *at = whatif->steps.bytes, *end = at ? at + whatif->steps.used : at;
    while (status == TTS_OK && at < end) {
        struct tts_whatif_step step;
        at = get_step(trial.recent, at, &step);
        status = run_step(&trial, &step);
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
