/* Compares the peak of a core with a model that keeps all parts and scans every core. */
#include "harness/core_rig.h"

#include <stdlib.h>

enum { MODEL_IDS = 60, MODEL_PARTS = 4000 };

struct model_part {
    enum tts_event_kind kind;
    uint64_t id, bytes, seq;
    struct tts_core_range range; /* a lockstep buffer has the whole grid */
    bool live;
};

static bool is_on(const struct model_part *p, uint32_t core)
{
    uint32_t x = core % 64, y = core / 64;
    return p->live && x >= p->range.x0 && x <= p->range.x1 && y >= p->range.y0 &&
           y <= p->range.y1;
}

/* Returns the fullest of the first 8 x 8 cores and copies its parts. */
static uint64_t model_peak(const struct model_part *parts, size_t count, uint32_t *core)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < 512; i++) {
        if (i % 64 >= 8)
            continue;
        uint64_t sum = 0;
        for (size_t k = 0; k < count; k++)
            sum += is_on(&parts[k], i) ? parts[k].bytes : 0;
        if (sum > most) {
            most = sum;
            *core = i;
        }
    }
    return most;
}

static int by_size(const void *a, const void *b)
{
    const struct model_part *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->seq < y->seq ? -1 : 1;
}

static struct tts_core_range some_range(uint64_t random)
{
    uint16_t x0 = (uint16_t)(random % 8), y0 = (uint16_t)(random / 8 % 8);
    uint16_t x1 = (uint16_t)(x0 + random / 64 % (8U - x0));
    uint16_t y1 = (uint16_t)(y0 + random / 512 % (8U - y0));
    return (struct tts_core_range){x0, y0, x1, y1};
}

struct model {
    struct model_part parts[MODEL_PARTS], at_peak[MODEL_PARTS];
    size_t count, peak_count;
    uint64_t peak, peak_seq;
    uint32_t core;
};

static void model_note(struct model *model, uint64_t seq)
{
    uint32_t core = 0;
    uint64_t now = model_peak(model->parts, model->count, &core);
    if (now <= model->peak)
        return;
    model->peak = now;
    model->peak_seq = seq;
    model->core = core;
    model->peak_count = 0;
    for (size_t i = 0; i < model->count; i++)
        if (is_on(&model->parts[i], core))
            model->at_peak[model->peak_count++] = model->parts[i];
    qsort(model->at_peak, model->peak_count, sizeof model->at_peak[0], by_size);
}

static void model_check(const struct model *model, const struct tts_core_peak *core)
{
    T_EQ(core->bytes, model->peak);
    T_EQ(core->known, model->peak > 0);
    T_EQ(core->seq, model->peak_seq);
    if (!core->known)
        return;
    check_core(core, model->peak, (uint16_t)(model->core % 64), (uint16_t)(model->core / 64));
    T_EQ(core->part_count + core->unlisted, model->peak_count);
    for (size_t i = 0; i < core->part_count; i++)
        check_part(core, i, model->at_peak[i].kind, model->at_peak[i].id,
                   model->at_peak[i].bytes);
}

static void model_add(struct model *model, struct model_part added)
{
    for (size_t i = 0; i < model->count; i++)
        if (!model->parts[i].live)
            model->parts[i--] = model->parts[--model->count];
    T_TRUE(model->count < MODEL_PARTS);
    model->parts[model->count++] = added;
}

/* Makes one random event in the fold and in the model. Returns false if the event frees
 * memory. */
static bool model_step(struct rig *rig, struct model *model, uint64_t random, uint64_t seq)
{
    uint64_t id = random % MODEL_IDS, bytes = random / 64 % 50 + 1;
    struct tts_core_range range = some_range(random >> 20), all = {0, 0, 63, 63};
    unsigned choice = random >> 40 & 15;
    if (choice < 8) {
        for (size_t i = 0; i < model->count; i++) {
            if (model->parts[i].kind == TTS_EVENT_ALLOC && model->parts[i].id == id &&
                model->parts[i].live) {
                drop(rig, 0, id);
                model->parts[i].live = false;
                return false;
            }
        }
        if (choice < 6)
            l1(rig, 0, id, bytes);
        else
            percore(rig, id, &range, 1, bytes);
        range = choice < 6 ? all : range;
        model_add(model, (struct model_part){TTS_EVENT_ALLOC, id, bytes, seq, range, true});
    } else if (choice < 15) {
        enum tts_event_kind kind = (enum tts_event_kind)(TTS_EVENT_CB + random % 3);
        part(rig, 0, kind, range, bytes);
        model_add(model, (struct model_part){kind, 0, bytes, seq, range, true});
    } else {
        program(rig, 0);
        for (size_t i = 0; i < model->count; i++)
            model->parts[i].live &= model->parts[i].kind == TTS_EVENT_ALLOC;
        return false;
    }
    return true;
}

T_TEST(the_peak_is_that_of_a_model_that_keeps_everything)
{
    static struct model model;
    struct rig rig = rig_new();
    struct cut phase;
    uint64_t rng = 5, seq = 0;
    for (int round = 0; round < 60; round++) {
        model.peak = 0;
        model_note(&model, seq);
        model.peak_seq = seq;
        int events = (int)(t_random(&rng) % 40);
        for (int i = 0; i < events; i++)
            if (model_step(&rig, &model, t_random(&rng), ++seq))
                model_note(&model, seq);
        model_check(&model, peak(&rig, &phase));
    }
    rig_done(&rig);
}
