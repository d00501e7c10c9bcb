#include "analysis/opsummary.h"

#include "base/heap.h"
#include "base/seed.h"

#include <assert.h>
#include <string.h>

void tts_opsummary_init(struct tts_opsummary *sum, size_t top, const struct tts_alloc *alloc)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    *sum = (struct tts_opsummary){.alloc = alloc,
                                  .top = top < TTS_OPSUMMARY_TOP ? top : TTS_OPSUMMARY_TOP,
                                  .kind_names = {.table = {.alloc = alloc}},
                                  .program_names = {.table = {.alloc = alloc}}};
}

void tts_opsummary_release(struct tts_opsummary *sum)
{
    if (!sum->alloc)
        return;
    tts_hashtable_release(&sum->kind_names.table);
    tts_hashtable_release(&sum->program_names.table);
    if (sum->kinds)
        sum->alloc->free(sum->alloc->ctx, sum->kinds,
                         sum->kind_names.capacity * sizeof *sum->kinds);
    if (sum->programs)
        sum->alloc->free(sum->alloc->ctx, sum->programs,
                         sum->program_names.capacity * sizeof *sum->programs);
    *sum = (struct tts_opsummary){0};
}

/* ---- names ---- */

static uint32_t hash_op_name(const char *name, bool is_function)
{
    uint64_t hash = 0;
    for (const char *p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return tts_hashtable_mix(tts_seed(), hash, is_function);
}

static bool is_same_kind(const void *ctx, uint32_t place, const void *key)
{
    const struct tts_opsummary *sum = ctx;
    return strcmp(sum->kinds[place].name, key) == 0;
}

static enum tts_status count_kind(struct tts_opsummary *sum, const char *name)
{
    struct tts_opnames *names = &sum->kind_names;
    uint32_t hash = hash_op_name(name, false);
    uint32_t place = tts_hashtable_find(&names->table, hash, is_same_kind, sum, name);
    if (place != TTS_HASHTABLE_NONE) {
        sum->kinds[place].count++;
        return TTS_OK;
    }
    if (names->count == TTS_OPSUMMARY_KINDS) {
        sum->kinds_left_out++;
        return TTS_OK;
    }
    if (names->count == names->capacity) {
        struct tts_opkind *kinds = tts_alloc_grow(sum->alloc, sum->kinds, &names->capacity,
                                                  names->count + 1, sizeof *kinds);
        if (!kinds)
            return TTS_E_NOMEM;
        sum->kinds = kinds;
    }
    struct tts_opkind *kind = &sum->kinds[names->count];
    *kind = (struct tts_opkind){.count = 1};
    tts_span_copy(kind->name, sizeof kind->name, (struct tts_span){name, strlen(name)});
    if (tts_hashtable_add(&names->table, hash, (uint32_t)names->count) != TTS_OK)
        return TTS_E_NOMEM;
    names->count++;
    return TTS_OK;
}

struct program_key {
    const char *name;
    bool is_function;
};

static bool is_same_program(const void *ctx, uint32_t place, const void *key)
{
    const struct tts_opsummary *sum = ctx;
    const struct program_key *wanted = key;
    const struct tts_opprogram *program = &sum->programs[place];
    return program->is_function == wanted->is_function &&
           strcmp(program->name, wanted->name) == 0;
}

/* Finds a program, or adds it. Sets *out to NULL if there are too many. */
static enum tts_status find_program(struct tts_opsummary *sum, const struct program_key *key,
                                    struct tts_opprogram **out)
{
    struct tts_opnames *names = &sum->program_names;
    uint32_t hash = hash_op_name(key->name, key->is_function);
    uint32_t place = tts_hashtable_find(&names->table, hash, is_same_program, sum, key);
    *out = NULL;
    if (place == TTS_HASHTABLE_NONE && names->count == TTS_OPSUMMARY_PROGRAMS)
        return TTS_OK;
    if (place == TTS_HASHTABLE_NONE) {
        if (names->count == names->capacity) {
            struct tts_opprogram *programs =
                tts_alloc_grow(sum->alloc, sum->programs, &names->capacity, names->count + 1,
                               sizeof *programs);
            if (!programs)
                return TTS_E_NOMEM;
            sum->programs = programs;
        }
        place = (uint32_t)names->count;
        struct tts_opprogram *program = &sum->programs[place];
        *program = (struct tts_opprogram){.is_function = key->is_function};
        tts_span_copy(program->name, sizeof program->name,
                      (struct tts_span){key->name, strlen(key->name)});
        if (tts_hashtable_add(&names->table, hash, place) != TTS_OK)
            return TTS_E_NOMEM;
        names->count++;
    }
    *out = &sum->programs[place];
    return TTS_OK;
}

static enum tts_status count_program(struct tts_opsummary *sum, const struct tts_opstep *step)
{
    bool is_function = step->function[0] != '\0';
    struct program_key key = {is_function ? step->function : step->program_name, is_function};
    bool is_new = !sum->has_last_program || sum->last_program != step->program ||
                  strcmp(sum->last_function, step->function) != 0;
    bool returns = !is_function && sum->has_last_program && sum->last_program == step->program;
    struct tts_opprogram *program;
    if (key.name[0] == '\0')
        return TTS_OK;
    enum tts_status status = find_program(sum, &key, &program);
    if (status != TTS_OK)
        return status;
    sum->has_last_program = true;
    sum->last_program = step->program;
    if (is_new)
        tts_span_copy(sum->last_function, sizeof sum->last_function,
                      (struct tts_span){step->function, strlen(step->function)});
    if (!program) {
        sum->programs_left_out++;
        return TTS_OK;
    }
    if (program->ops == 0)
        program->first_index = step->index;
    program->ops++;
    program->runs += is_new && !returns;
    program->last_index = step->index;
    return TTS_OK;
}

/* ---- places ---- */

static struct tts_opplace_in_log place_of_step(const struct tts_opstep *step)
{
    struct tts_opplace_in_log place = {.index = step->index,
                                       .block_known = step->has_block,
                                       .block = step->block,
                                       .line = step->has_block ? step->block_line : step->line,
                                       .is_submit = step->is_submit,
                                       .is_after = step->is_after};
    tts_span_copy(place.op, sizeof place.op, step->has_op ? step->op.name : step->type);
    memcpy(place.loc, step->loc, sizeof place.loc);
    return place;
}

/* ---- pools ---- */

/* Returns the bytes before a step, in each bank. Figures of the replay lack bytes that become
 * known later: finish_use() adds them. */
static uint64_t bytes_before(const struct tts_opstep *step, int pool)
{
    if (!step->has_replay)
        return step->before.pools[pool].allocated_bytes;
    int64_t bytes = (int64_t)step->replay[pool].used_bytes - step->replay[pool].late_bytes;
    return (uint64_t)bytes; /* may wrap; adding the late bytes wraps back */
}

static void take_use(struct tts_oppoolsum *pool, const struct tts_opstep *step, int number)
{
    const struct tts_opview *view = &step->before.pools[number];
    bool has_view = step->before.known >> number & 1;
    uint64_t bytes = bytes_before(step, number);
    bool is_peak = !pool->is_known || (int64_t)(bytes - pool->peak.bytes) > 0;
    bool is_least =
        has_view && (!pool->has_views || view->largest_bytes < pool->least_largest.bytes);
    if (!pool->is_known)
        pool->first = (struct tts_opuse){bytes, place_of_step(step)};
    pool->last.bytes = bytes;
    pool->last.place.index = step->index;
    if (is_peak || is_least) {
        struct tts_opplace_in_log place = place_of_step(step);
        if (is_peak)
            pool->peak = (struct tts_opuse){bytes, place};
        if (is_least)
            pool->least_largest = (struct tts_opuse){view->largest_bytes, place};
    }
    if (is_peak && has_view) {
        pool->peak_free_bytes = view->free_bytes;
        pool->peak_largest_bytes = view->largest_bytes;
    }
    if (has_view) {
        pool->banks = view->banks;
        pool->capacity_bytes = view->total_bytes;
        pool->has_views = true;
    }
    pool->is_known = true;
}

static bool is_less_add(const struct tts_opadd *a, const struct tts_opadd *b)
{
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes;
    return a->rank_order > b->rank_order; /* the first one of equals is kept */
}

/* Adds to the list of the largest, which is sorted, the largest first. */
static void add_to_top(const struct tts_opsummary *sum, struct tts_oppoolsum *pool,
                       struct tts_opadd add)
{
    size_t at = pool->top_count;
    if (sum->top == 0)
        return;
    if (at == sum->top) {
        if (!is_less_add(&pool->top[at - 1], &add))
            return;
        at--;
    } else {
        pool->top_count++;
    }
    for (; at > 0 && is_less_add(&pool->top[at - 1], &add); at--)
        pool->top[at] = pool->top[at - 1];
    pool->top[at] = add;
}

/* Returns the bytes that a step added, as the next block or the replay tells. */
static uint64_t bytes_added(const struct tts_opstep *step, int pool)
{
    uint64_t before, after;
    if (step->has_replay) {
        before = step->replay[pool].used_bytes;
        after = step->replay_after_bytes[pool] + step->unnamed_bytes[pool];
    } else {
        if (!(step->before.known & step->after.known & 1u << pool))
            return 0;
        before = step->before.pools[pool].allocated_bytes;
        after = step->after.pools[pool].allocated_bytes;
    }
    return after > before ? after - before : 0;
}

static void take_adds(struct tts_opsummary *sum, const struct tts_opstep *step, int number)
{
    struct tts_oppoolsum *pool = &sum->pools[number];
    uint64_t added = bytes_added(step, number), upload = step->upload_bytes[number];
    uint64_t least = pool->top_count < sum->top || pool->top_count == 0
                         ? 0
                         : pool->top[pool->top_count - 1].bytes;
    pool->upload_bytes += upload;
    pool->unnamed_bytes += step->unnamed_bytes[number];
    if (added > least || upload > least) {
        struct tts_opadd add = {.place = place_of_step(step), .rank_order = sum->ops};
        tts_span_copy(add.function, sizeof add.function,
                      (struct tts_span){step->function, strlen(step->function)});
        add.bytes = added;
        add.may_be_upload = !step->has_replay;
        if (added > least)
            add_to_top(sum, pool, add);
        add.bytes = upload;
        add.is_upload = true;
        if (upload > least)
            add_to_top(sum, pool, add);
    }
}

enum tts_status tts_opsummary_add(struct tts_opsummary *sum, const struct tts_opstep *step)
{
    enum tts_status status = TTS_OK;
    char name[TTS_OPNAME_MAX];
    for (int i = 0; i < TTS_POOLS; i++) {
        bool is_stated = step->before.known >> i & 1;
        bool is_used = step->has_replay &&
                       (step->replay[i].used_bytes > 0 || step->replay_after_bytes[i] > 0);
        bool is_computed = step->has_replay && !step->has_block && i <= TTS_POOL_L1;
        if (is_stated || is_used || is_computed || (step->has_replay && sum->pools[i].is_known))
            take_use(&sum->pools[i], step, i);
        sum->has_memory = sum->has_memory || is_stated || is_used;
        take_adds(sum, step, i);
    }
    sum->blocks += step->has_block;
    sum->has_blocks = sum->has_blocks || step->has_block;
    if (step->is_submit) {
        sum->submits++;
        return TTS_OK;
    }
    sum->ops++;
    sum->op_lines += step->has_op;
    sum->has_ops = sum->has_ops || step->has_op;
    bool is_deallocation = step->has_op ? tts_span_is(step->op.name, "ttnn.deallocate")
                                        : tts_span_is(step->type, "DeallocateOp");
    sum->deallocations += is_deallocation;
    sum->const_eval_ops += step->function[0] != '\0' && !is_deallocation;
    tts_span_copy(name, sizeof name, step->type.len > 0 ? step->type : step->op.name);
    status = count_kind(sum, name);
    return status == TTS_OK ? count_program(sum, step) : status;
}

void tts_opsummary_finish(struct tts_opsummary *sum, const struct tts_opfinal finals[TTS_POOLS])
{
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_oppoolsum *pool = &sum->pools[i];
        pool->final = finals[i];
        if (!pool->is_known || !sum->has_ops)
            continue;
        pool->first.bytes += (uint64_t)finals[i].late_bytes;
        pool->last.bytes += (uint64_t)finals[i].late_bytes;
        pool->peak.bytes += (uint64_t)finals[i].late_bytes;
    }
}
