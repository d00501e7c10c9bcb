/* analysis_rig.h: a follower with the analyses under test, and a slow model to compare them
 * with. The model keeps every buffer that ever existed, and counts all of them again at each
 * event. */
#pragma once

#include "analysis/best.h"
#include "analysis/opbytes.h"
#include "analysis/peak.h"
#include "harness/once.h"
#include "harness/t.h"
#include "model/opnames.h"

#include <stdlib.h>
#include <string.h>

enum { RIG_DEVICES = 6, RIG_OPS = 8, RIG_BUFFERS = 8192 };

/* ---- the code under test ---- */

struct rig {
    struct once memory; /* the heap of the follower */
    struct tts_follow *follow;
    struct tts_levels levels;
    struct tts_peak *peaks[TTS_POOLS];
    struct tts_ops *ops[TTS_POOLS];
    uint64_t seq, op;
};

static inline enum tts_status rig_change(struct rig *rig, const struct tts_item *item,
                                         const struct tts_change *change)
{
    enum tts_status status = TTS_OK;
    tts_levels_change(&rig->levels, change);
    for (int pool = 0; status == TTS_OK && pool < TTS_POOLS; pool++) {
        status = tts_peak_change(rig->peaks[pool], item, change, &rig->levels);
        if (status == TTS_OK)
            status = tts_ops_change(rig->ops[pool], change);
    }
    return status;
}

static inline void rig_free(struct rig *rig)
{
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        tts_peak_free(rig->peaks[pool]);
        tts_ops_free(rig->ops[pool]);
    }
    tts_follow_free(rig->follow);
    free(rig);
}

/* Makes a rig. Returns NULL if memory runs out. */
static inline struct rig *rig_new(uint32_t live_max, const struct tts_alloc *alloc)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct tts_follow_config config = {
        .limits = {.live_max = live_max, .devices_max = RIG_DEVICES, .ops_max = RIG_OPS}};
    once_init(&rig->memory);
    enum tts_status status = tts_follow_new(&config, &rig->memory.alloc, &rig->follow, NULL);
    for (enum tts_pool pool = 0; status == TTS_OK && pool < TTS_POOLS; pool++) {
        status = tts_peak_new(pool, alloc, &rig->peaks[pool]);
        if (status == TTS_OK)
            status = tts_ops_new(pool, alloc, &rig->ops[pool]);
    }
    if (status == TTS_OK)
        return rig;
    T_EQ(status, TTS_E_NOMEM);
    rig_free(rig);
    return NULL;
}

static inline enum tts_status rig_item(struct rig *rig, struct tts_item item)
{
    struct tts_error err = {0};
    if (item.kind == TTS_ITEM_EVENT)
        item.seq = rig->seq + 1;
    /* An event must not make the follower grow beyond live_max. */
    rig->memory.is_refused = item.kind == TTS_ITEM_EVENT;
    struct tts_change change;
    enum tts_status status = tts_follow_change(rig->follow, &item, &change, &err);
    rig->memory.is_refused = false;
    T_EQ(status == TTS_OK, err.text[0] == '\0');
    if (status == TTS_OK)
        status = rig_change(rig, &item, &change);
    if (status == TTS_OK && item.kind == TTS_ITEM_EVENT)
        rig->seq++;
    return status;
}

static inline enum tts_status rig_event(struct rig *rig, struct tts_event event)
{
    struct tts_item item = {.kind = TTS_ITEM_EVENT, .event = event, .op.hash = rig->op};
    item.has_time = true;
    item.time_ns = 1000 * (rig->seq + 1);
    return rig_item(rig, item);
}

static inline void rig_op(struct rig *rig, const char *name)
{
    size_t len = strlen(name);
    struct tts_event event = tts_event_of(TTS_EVENT_OP_BEGIN, 0);
    event.name = name;
    event.name_len = len;
    rig->op = tts_opnames_hash(name, len);
    T_EQ(rig_event(rig, event), TTS_OK);
}

static inline void rig_op_end(struct rig *rig)
{
    rig->op = 0;
    T_EQ(rig_event(rig, tts_event_of(TTS_EVENT_OP_END, 0)), TTS_OK);
}

static inline void rig_chip(struct rig *rig, uint32_t chip, uint32_t mesh)
{
    T_EQ(rig_item(rig, (struct tts_item){.kind = TTS_ITEM_CHIP, .device = chip, .mesh = mesh}),
         TTS_OK);
}

static inline struct tts_event rig_buffer(enum tts_event_kind kind, uint32_t device,
                                          enum tts_pool pool, uint64_t id, uint64_t bytes)
{
    struct tts_event event = tts_event_of(kind, device);
    event.pool = pool;
    event.id = id;
    event.size_bytes = bytes * (tts_pool_is_l1(pool) ? 64 : 1);
    event.bytes_per_bank = tts_pool_is_l1(pool) ? bytes : 0;
    return event;
}

static inline void rig_take(struct rig *rig, uint32_t device, enum tts_pool pool, uint64_t id,
                            uint64_t bytes)
{
    struct tts_event event = rig_buffer(TTS_EVENT_ALLOC, device, pool, id, bytes);
    T_EQ(rig_event(rig, event), TTS_OK);
}

static inline void rig_give(struct rig *rig, uint32_t device, uint64_t id)
{
    T_EQ(rig_event(rig, rig_buffer(TTS_EVENT_FREE, device, TTS_POOL_DRAM, id, 0)), TTS_OK);
}

/* Frees a buffer whose allocation the follower has not seen. */
static inline void rig_give_unseen(struct rig *rig, uint32_t device, enum tts_pool pool,
                                   uint64_t id, uint64_t bytes)
{
    T_EQ(rig_event(rig, rig_buffer(TTS_EVENT_FREE, device, pool, id, bytes)), TTS_OK);
}

/* The buffers that were live at a peak, in the order of their allocation. */
struct rig_set {
    struct tts_live live[RIG_BUFFERS];
    size_t count;
    uint64_t bytes;
};

static inline enum tts_status rig_set_add(void *ctx, const struct tts_live *live)
{
    struct rig_set *set = ctx;
    T_TRUE(set->count < RIG_BUFFERS);
    set->live[set->count++] = *live;
    set->bytes += tts_live_bytes(live);
    return TTS_OK;
}

static inline void rig_peak_set(const struct rig *rig, enum tts_pool pool, struct rig_set *out)
{
    out->count = 0;
    out->bytes = 0;
    T_EQ(tts_peak_each(rig->peaks[pool], rig->follow, rig_set_add, out), TTS_OK);
    tts_fold_sort(out->live, out->count);
}

/* ---- the slow model ---- */

struct model_buffer {
    uint32_t device;
    enum tts_pool pool;
    uint64_t id, bytes, born, died; /* `died` is 0 while the buffer is live */
    const char *op;
    bool is_restored, is_unlisted;
};

struct model_peak {
    int64_t bytes, loose;
    uint64_t seq;
    size_t count;
    uint64_t born[RIG_BUFFERS]; /* events that allocated the live buffers, ascending */
};

struct model {
    struct model_buffer buffers[RIG_BUFFERS];
    size_t count, live_max, live;
    int64_t loose[RIG_DEVICES][TTS_POOLS];
    int mesh_of[RIG_DEVICES]; /* index of the mesh plus 1; 0 if there is none */
    struct model_peak peaks[TTS_POOLS];
    uint64_t seq;
};

static inline int64_t model_bytes(const struct model *m, uint32_t device, enum tts_pool pool)
{
    int64_t bytes = m->loose[device][pool];
    for (size_t i = 0; i < m->count; i++) {
        const struct model_buffer *b = &m->buffers[i];
        if (b->died == 0 && !b->is_unlisted && b->device == device && b->pool == pool)
            bytes += (int64_t)b->bytes;
    }
    return bytes;
}

/* Returns true if the buffers of `device` count for device `whose`: for the device itself, for
 * its mesh, or for all devices together (a negative `whose`). */
static inline bool model_is_of(const struct model *m, int whose, uint32_t device)
{
    return whose < 0 || (uint32_t)whose == device || m->mesh_of[whose] == (int)device + 1;
}

static inline void model_look(struct model *m, enum tts_pool pool, int whose)
{
    struct model_peak *peak = &m->peaks[pool];
    int64_t bytes = 0, loose = 0;
    for (uint32_t d = 0; d < RIG_DEVICES; d++) {
        if (!model_is_of(m, whose, d))
            continue;
        bytes += model_bytes(m, d, pool);
        loose += m->loose[d][pool];
    }
    if (bytes <= peak->bytes)
        return;
    *peak = (struct model_peak){.bytes = bytes, .loose = loose, .seq = m->seq};
    for (size_t i = 0; i < m->count; i++) {
        const struct model_buffer *b = &m->buffers[i];
        if (b->died == 0 && !b->is_unlisted && b->pool == pool &&
            model_is_of(m, whose, b->device))
            peak->born[peak->count++] = b->born;
    }
}

/* Updates the peaks. Called at every event, even if no pool has grown. */
static inline void model_tick(struct model *m)
{
    for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++) {
        if (!tts_pool_is_l1(pool)) {
            model_look(m, pool, -1);
            continue;
        }
        for (int d = 0; d < RIG_DEVICES; d++)
            model_look(m, pool, d);
    }
}

static inline struct model_buffer *model_find(struct model *m, uint32_t device, uint64_t id)
{
    for (size_t i = 0; i < m->count; i++) {
        struct model_buffer *b = &m->buffers[i];
        if (b->died == 0 && !b->is_unlisted && b->device == device && b->id == id)
            return b;
    }
    return NULL;
}

static inline void model_kill(struct model *m, struct model_buffer *b)
{
    b->died = m->seq;
    m->live--;
}

static inline void model_take(struct model *m, struct model_buffer buffer)
{
    T_TRUE(m->count < RIG_BUFFERS);
    struct model_buffer *old = model_find(m, buffer.device, buffer.id);
    if (old)
        model_kill(m, old);
    buffer.born = m->seq;
    buffer.is_unlisted = m->live == m->live_max;
    if (buffer.is_unlisted)
        m->loose[buffer.device][buffer.pool] += (int64_t)buffer.bytes;
    else
        m->live++;
    m->buffers[m->count++] = buffer;
}

static inline void model_give(struct model *m, uint32_t device, enum tts_pool pool, uint64_t id,
                              uint64_t bytes)
{
    struct model_buffer *b = model_find(m, device, id);
    if (b)
        model_kill(m, b);
    else
        m->loose[device][pool] -= (int64_t)bytes;
}

/* ---- the rig and the model together ---- */

static const char *const rig_names[] = {"matmul", "add", "softmax", "conv"};

/* Applies one random event to the rig and to the model. If `wild` is true, the event may use an
 * id that is already live, or free a buffer that never existed. */
static inline void both_step(struct rig *rig, struct model *m, uint64_t *rng, bool wild)
{
    enum tts_pool pool = (enum tts_pool)(t_random(rng) % TTS_POOLS);
    uint32_t device = (uint32_t)(t_random(rng) % 3);
    uint64_t id = t_random(rng) % 40, bytes = 1 + t_random(rng) % 1000;
    uint64_t kind = t_random(rng) % 16;
    const char *op = rig_names[t_random(rng) % 4];
    m->seq++;
    if (kind == 0) {
        rig_op(rig, op);
    } else if (kind == 1) {
        rig_op_end(rig);
    } else if (kind < 9) {
        bool is_known = model_find(m, device, id) != NULL;
        bytes = is_known && !wild ? 0 : bytes; /* an allocation of 0 bytes has no effect */
        rig_take(rig, device, pool, id, bytes);
        const char *name =
            rig->op ? tts_fold_op_text(
                          (struct tts_fold *)(uintptr_t)tts_follow_fold(rig->follow), rig->op)
                    : NULL;
        if (bytes > 0)
            model_take(m, (struct model_buffer){device, pool, id, bytes, .op = name});
    } else {
        bytes = model_find(m, device, id) || wild ? bytes : 0;
        rig_give_unseen(rig, device, pool, id, bytes);
        model_give(m, device, pool, id, bytes);
    }
    T_EQ(m->seq, rig->seq);
    model_tick(m);
}
