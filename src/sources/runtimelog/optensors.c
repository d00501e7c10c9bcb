#include "sources/runtimelog/optensors.h"

#include "base/heap.h"
#include "base/seed.h"
#include "device/space.h"
#include "sources/runtimelog/optype.h"

#include <assert.h>
#include <string.h>

enum {
    ROUNDING = 600,       /* bytes that three decimals of a MiB can hide, with some room */
    UNNAMED_GRAIN = 2048, /* bytes without a line are whole pages of kernel binaries */
    TRACE_GRAIN = 1024,   /* the smallest page of a trace buffer */
    NO_TENSOR = -1,
};

/* ---- data ---- */

/* A tensor and its bookkeeping. */
struct optensor_slot {
    struct tts_optensor tensor;
    bool is_live;
    bool is_part; /* an argument: its bytes are part of an upload */
    uint32_t refs;
    int32_t next_free;
};

/* A tensor that a name or a list refers to. The id tells whether the slot was used again. */
struct optensor_ref {
    int32_t slot; /* NO_TENSOR: no device memory */
    uint64_t id;
};

struct ref_list {
    struct optensor_ref *refs;
    size_t count, capacity;
};

/* Names and the tensors that they stand for. The last names are dropped first. */
struct opvalue {
    uint64_t key; /* hash of scope and name */
    struct optensor_ref ref;
};
struct opvalues {
    const struct tts_alloc *alloc;
    struct tts_hashtable table;
    struct opvalue *values;
    size_t count, capacity;
};

struct opcache {
    char function[TTS_OPNAME_MAX];
    uint64_t hash; /* of the text of the hash in the log; 0: none */
    struct ref_list results;
};

/* The operation that called a program. */
struct opcall {
    bool is_set, is_done;
    bool is_cached, is_trace;
    char function[TTS_OPNAME_MAX], result[32];
    uint32_t results;
    struct ref_list passed; /* device values, in order */
    uint32_t host_values;   /* values on the host that come before them in a trace */
    const struct tts_opsig *sig;
};

struct opscope {
    char name[TTS_OPNAME_MAX];
    uint64_t serial;
    bool is_const_eval, is_slots, is_trace, is_outermost;
    size_t values; /* number of values before this scope */
    struct ref_list made;
    struct opcall call;
};

/* The operation in progress. */
struct oppending {
    bool is_set, is_deallocate, is_retained, is_done, ends_trace;
    const struct tts_opsig *sig;
    struct ref_list operands;
    struct opcall call;
};

/* The operation that ended last. */
struct opended {
    bool ends_trace;
    struct ref_list outputs;     /* the tensors that it made */
    struct optensor_ref operand; /* its first operand */
};

struct tts_optensors {
    struct tts_optensors_config config;
    const struct tts_alloc *alloc;
    struct tts_oppool pools[TTS_POOLS];
    bool pool_known[TTS_POOLS];
    struct optensor_slot *slots;
    size_t slot_count, slot_capacity;
    int32_t free_slot;
    uint64_t last_id, live;
    struct tts_opsums sums[TTS_POOLS];
    uint64_t owned[TTS_POOLS][TTS_OPOWNERS];
    struct opvalues values;    /* of the open programs */
    struct opvalues arguments; /* of the outermost programs */
    struct opscope scopes[TTS_OPSCOPES_MAX];
    uint32_t depth, lost_depth; /* open programs; those beyond the maximum */
    uint64_t last_serial;
    struct oppending op;
    struct opended ended;
    uint64_t dram_alignment;
    struct ref_list leaving; /* outputs of the outermost program that ended last */
    struct ref_list trace_slots;
    struct opcache *caches;
    size_t cache_count, cache_capacity;
    struct optensor_ref uploads[TTS_POOLS]; /* inputs that no argument names yet */
    uint64_t overdrawn[TTS_POOLS]; /* bytes of arguments that the last upload had no room for */
    char lookup_function[TTS_OPNAME_MAX];
    uint64_t lookup_hash;
    bool has_blocks; /* the log has memory blocks */
    bool has_compared;
    bool is_boundary; /* no operation ended since the last block, or only one of the program
                         before */
};

/* ---- lists ---- */

static bool add_ref(struct tts_optensors *tensors, struct ref_list *list,
                    struct optensor_ref ref)
{
    if (list->count == list->capacity) {
        struct optensor_ref *refs = tts_alloc_grow(tensors->alloc, list->refs, &list->capacity,
                                                   list->count + 1, sizeof *refs);
        if (!refs)
            return false;
        list->refs = refs;
    }
    list->refs[list->count++] = ref;
    return true;
}

static bool copy_refs(struct tts_optensors *tensors, struct ref_list *to,
                      const struct ref_list *from)
{
    to->count = 0;
    for (size_t i = 0; i < from->count; i++)
        if (!add_ref(tensors, to, from->refs[i]))
            return false;
    return true;
}

static void release_refs(struct tts_optensors *tensors, struct ref_list *list)
{
    if (list->refs)
        tensors->alloc->free(tensors->alloc->ctx, list->refs,
                             list->capacity * sizeof *list->refs);
    *list = (struct ref_list){0};
}

static struct optensor_slot *ref_slot(struct tts_optensors *tensors, struct optensor_ref ref)
{
    if (ref.slot == NO_TENSOR)
        return NULL;
    struct optensor_slot *slot = &tensors->slots[ref.slot];
    return slot->is_live && slot->tensor.id == ref.id ? slot : NULL;
}

static const struct optensor_ref no_ref = {.slot = NO_TENSOR};

static void copy_opname(char out[TTS_OPNAME_MAX], struct tts_span name)
{
    tts_span_copy(out, TTS_OPNAME_MAX, name);
}

/* ---- names ---- */

static uint64_t name_key(uint64_t serial, struct tts_span name)
{
    uint64_t hash = tts_seed() ^ serial * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.at[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 31;
}

static bool is_same_value(const void *ctx, uint32_t place, const void *key)
{
    const struct opvalues *values = ctx;
    return values->values[place].key == *(const uint64_t *)key;
}

static bool set_value(struct opvalues *values, uint64_t serial, struct tts_span name,
                      struct optensor_ref ref)
{
    uint64_t key = name_key(serial, name);
    uint32_t hash = (uint32_t)key;
    uint32_t place = tts_hashtable_find(&values->table, hash, is_same_value, values, &key);
    if (place != TTS_HASHTABLE_NONE) {
        values->values[place].ref = ref;
        return true;
    }
    if (values->count == values->capacity) {
        struct opvalue *grown = tts_alloc_grow(values->alloc, values->values, &values->capacity,
                                               values->count + 1, sizeof *grown);
        if (!grown)
            return false;
        values->values = grown;
    }
    if (tts_hashtable_add(&values->table, hash, (uint32_t)values->count) != TTS_OK)
        return false;
    values->values[values->count++] = (struct opvalue){key, ref};
    return true;
}

static bool find_value(const struct opvalues *values, uint64_t serial, struct tts_span name,
                       struct optensor_ref *out)
{
    uint64_t key = name_key(serial, name);
    uint32_t place =
        tts_hashtable_find(&values->table, (uint32_t)key, is_same_value, values, &key);
    if (place == TTS_HASHTABLE_NONE)
        return false;
    *out = values->values[place].ref;
    return true;
}

static void drop_values(struct opvalues *values, size_t count)
{
    while (values->count > count) {
        size_t last = --values->count;
        tts_hashtable_remove(&values->table, (uint32_t)values->values[last].key,
                             (uint32_t)last);
    }
}

static void release_values(struct opvalues *values)
{
    tts_hashtable_release(&values->table);
    if (values->values)
        values->alloc->free(values->alloc->ctx, values->values,
                            values->capacity * sizeof *values->values);
}

/* ---- tensors ---- */

/* Buffers of L1 grow down, all others up. */
static enum tts_direction pool_direction(enum tts_pool pool)
{
    return pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL ? TTS_DIRECTION_DOWN
                                                            : TTS_DIRECTION_UP;
}

static enum tts_status tell_change(struct tts_optensors *tensors, bool is_free,
                                   enum tts_opchange_cause cause,
                                   const struct tts_optensor *tensor)
{
    struct tts_opchange change = {is_free, cause, tensor};
    return tensors->config.on_change ? tensors->config.on_change(tensors->config.ctx, &change)
                                     : TTS_OK;
}

/* Returns a slot that is not in use, or NO_TENSOR if there is no room for one. */
static int32_t take_slot(struct tts_optensors *tensors)
{
    int32_t place = tensors->free_slot;
    if (place != NO_TENSOR) {
        tensors->free_slot = tensors->slots[place].next_free;
        return place;
    }
    if (tensors->slot_count == TTS_OPTENSORS_MAX)
        return NO_TENSOR;
    if (tensors->slot_count == tensors->slot_capacity) {
        struct optensor_slot *slots =
            tts_alloc_grow(tensors->alloc, tensors->slots, &tensors->slot_capacity,
                           tensors->slot_count + 1, sizeof *slots);
        if (!slots)
            return NO_TENSOR;
        tensors->slots = slots;
    }
    return (int32_t)tensors->slot_count++;
}

static void count_tensor(struct tts_optensors *tensors, const struct tts_optensor *tensor,
                         bool is_live)
{
    struct tts_opsums *sums = &tensors->sums[tensor->pool];
    uint64_t *owned = &tensors->owned[tensor->pool][tensor->owner];
    uint64_t *used = &tensors->pools[tensor->pool].used_bytes;
    *owned = is_live ? *owned + tensor->bank_bytes : *owned - tensor->bank_bytes;
    *used = is_live ? *used + tensor->bank_bytes : *used - tensor->bank_bytes;
    if (tensor->padded_bytes == 0)
        return;
    sums->count = is_live ? sums->count + 1 : sums->count - 1;
    sums->logical_bytes = is_live ? sums->logical_bytes + tensor->logical_bytes
                                  : sums->logical_bytes - tensor->logical_bytes;
    sums->padded_bytes = is_live ? sums->padded_bytes + tensor->padded_bytes
                                 : sums->padded_bytes - tensor->padded_bytes;
}

/* Adds a live tensor. */
static enum tts_status add_tensor(struct tts_optensors *tensors, struct tts_optensor tensor,
                                  enum tts_opchange_cause cause, struct optensor_ref *out)
{
    int32_t place = take_slot(tensors);
    *out = no_ref;
    if (place == NO_TENSOR)
        return TTS_E_NOMEM;
    tensor.id = ++tensors->last_id;
    tensors->slots[place] =
        (struct optensor_slot){.tensor = tensor, .is_live = true, .refs = 1};
    *out = (struct optensor_ref){place, tensor.id};
    count_tensor(tensors, &tensor, true);
    return tell_change(tensors, false, cause, &tensors->slots[place].tensor);
}

/* Places a tensor where the runtime's allocator would, and adds it. */
static enum tts_status place_tensor(struct tts_optensors *tensors, struct tts_optensor tensor,
                                    enum tts_direction direction, enum tts_opchange_cause cause,
                                    struct optensor_ref *out)
{
    struct tts_space *space = tensors->pools[tensor.pool].space;
    enum tts_status status =
        space ? tts_space_take(space, tensor.bank_bytes, direction, 0, &tensor.address)
              : TTS_E_FULL;
    tensor.is_placed = status == TTS_OK;
    return status == TTS_E_NOMEM ? status : add_tensor(tensors, tensor, cause, out);
}

/* Frees a tensor, unless other names still stand for it. */
static enum tts_status free_tensor(struct tts_optensors *tensors, struct optensor_ref ref,
                                   enum tts_opchange_cause cause)
{
    struct optensor_slot *slot = ref_slot(tensors, ref);
    if (!slot || --slot->refs > 0)
        return TTS_OK;
    struct tts_oppool *pool = &tensors->pools[slot->tensor.pool];
    if (slot->tensor.is_placed &&
        tts_space_give(pool->space, slot->tensor.address) == TTS_E_NOMEM)
        return TTS_E_NOMEM;
    count_tensor(tensors, &slot->tensor, false);
    slot->is_live = false;
    slot->next_free = tensors->free_slot;
    tensors->free_slot = ref.slot;
    return tell_change(tensors, true, cause, &slot->tensor);
}

/* Fills *out with a tensor of this type. Returns false if it takes no device memory, or its
 * size is unknown. */
static bool describe_tensor(const struct tts_optensors *tensors, const struct tts_optype *type,
                            struct tts_optensor *out)
{
    uint64_t bytes;
    if (!type->is_tensor || type->place >= TTS_OPPLACE_SYSTEM ||
        !tts_optype_bytes_per_bank(type, &tensors->pools[type->place].banks, &bytes) ||
        bytes > UINT64_C(1) << 46)
        return false;
    *out = (struct tts_optensor){.pool = (enum tts_pool)type->place,
                                 .bank_bytes = bytes,
                                 .padded_bytes = type->padded_bytes,
                                 .logical_bytes = type->logical_known ? type->logical_bytes : 0,
                                 .page_bytes = type->page_bytes,
                                 .cores = type->is_sharded ? type->cores : 0};
    return true;
}

static void set_owner(struct tts_optensors *tensors, struct optensor_ref ref,
                      enum tts_opowner owner)
{
    struct optensor_slot *slot = ref_slot(tensors, ref);
    if (!slot)
        return;
    count_tensor(tensors, &slot->tensor, false);
    slot->tensor.owner = owner;
    count_tensor(tensors, &slot->tensor, true);
}

/* ---- inputs ---- */

/* Takes the bytes of an argument from the front of the inputs that were uploaded together. The
 * size of these inputs is known only to three decimals of a MiB. */
static enum tts_status take_from_upload(struct tts_optensors *tensors,
                                        struct tts_optensor tensor, struct optensor_ref *out)
{
    struct tts_oppool *pool = &tensors->pools[tensor.pool];
    struct optensor_ref upload = tensors->uploads[tensor.pool];
    struct optensor_slot *slot = ref_slot(tensors, upload);
    uint64_t *overdrawn = &tensors->overdrawn[tensor.pool];
    struct tts_optensor rest = slot ? slot->tensor : (struct tts_optensor){.pool = tensor.pool};
    *out = no_ref;
    if (upload.slot == NO_TENSOR ||
        tensor.bank_bytes + *overdrawn > rest.bank_bytes + 2 * ROUNDING)
        return TTS_OK;
    enum tts_status status = free_tensor(tensors, upload, TTS_OPCHANGE_SPLIT);
    uint64_t room = tensor.bank_bytes < rest.bank_bytes ? tensor.bank_bytes : rest.bank_bytes;
    pool->late_bytes += (int64_t)(tensor.bank_bytes - room);
    *overdrawn += tensor.bank_bytes - room;
    rest.bank_bytes -= room;
    tensor.is_placed =
        rest.is_placed && tts_space_take_at(pool->space, rest.address, room) == TTS_OK;
    tensor.address = rest.address;
    if (status == TTS_OK)
        status = add_tensor(tensors, tensor, TTS_OPCHANGE_SPLIT, out);
    rest.address += room;
    rest.is_placed = rest.is_placed && rest.bank_bytes > 0 &&
                     tts_space_take_at(pool->space, rest.address, rest.bank_bytes) == TTS_OK;
    if (status == TTS_OK && rest.bank_bytes > 0)
        status = add_tensor(tensors, rest, TTS_OPCHANGE_SPLIT, &tensors->uploads[tensor.pool]);
    return status;
}

/* Finds the tensor of an argument of an outermost program, and makes it at its first use. */
static enum tts_status find_argument(struct tts_optensors *tensors, struct tts_span name,
                                     const struct tts_optype *type, struct optensor_ref *out)
{
    struct tts_optensor tensor;
    enum tts_status status = TTS_OK;
    bool is_known = find_value(&tensors->arguments, 0, name, out);
    const struct optensor_slot *slot = is_known ? ref_slot(tensors, *out) : NULL;
    if (!type || !describe_tensor(tensors, type, &tensor)) {
        *out = slot ? *out : no_ref;
        return TTS_OK;
    }
    if (slot && slot->tensor.pool == tensor.pool &&
        slot->tensor.bank_bytes == tensor.bank_bytes)
        return TTS_OK;
    tensor.owner = TTS_OPOWNER_INPUT;
    tensor.padded_bytes = 0; /* the sums have results of operations only */
    if (tensors->has_blocks) {
        status = take_from_upload(tensors, tensor, out);
    } else {
        status = place_tensor(tensors, tensor, pool_direction(tensor.pool), TTS_OPCHANGE_UPLOAD,
                              out);
        tensors->pools[tensor.pool].late_bytes += (int64_t)tensor.bank_bytes;
    }
    if (status == TTS_OK && out->slot != NO_TENSOR &&
        !set_value(&tensors->arguments, 0, name, *out))
        status = TTS_E_NOMEM;
    return status;
}

/* ---- functions whose results are kept ---- */

static struct opcache *find_cache(struct tts_optensors *tensors, const char *function,
                                  uint64_t hash)
{
    for (size_t i = 0; i < tensors->cache_count; i++)
        if (strcmp(tensors->caches[i].function, function) == 0)
            return &tensors->caches[i];
    for (size_t i = 0; hash != 0 && i < tensors->cache_count; i++)
        if (tensors->caches[i].hash == hash)
            return &tensors->caches[i];
    return NULL;
}

static struct opcache *make_cache(struct tts_optensors *tensors, const char *function)
{
    struct opcache *cache = find_cache(tensors, function, 0);
    if (cache)
        return cache;
    if (tensors->cache_count == tensors->cache_capacity) {
        struct opcache *caches =
            tts_alloc_grow(tensors->alloc, tensors->caches, &tensors->cache_capacity,
                           tensors->cache_count + 1, sizeof *caches);
        if (!caches)
            return NULL;
        tensors->caches = caches;
    }
    cache = &tensors->caches[tensors->cache_count++];
    *cache = (struct opcache){0};
    memcpy(cache->function, function, strlen(function) + 1);
    return cache;
}

void tts_optensors_lookup(struct tts_optensors *tensors, struct tts_span function,
                          struct tts_span hash)
{
    uint64_t value = hash.len > 0 ? name_key(0, hash) | 1 : 0;
    copy_opname(tensors->lookup_function, function);
    tensors->lookup_hash = value;
}

static uint64_t looked_up_hash(const struct tts_optensors *tensors, const char *function)
{
    return strcmp(tensors->lookup_function, function) == 0 ? tensors->lookup_hash : 0;
}

/* ---- results ---- */

/* Binds result `k` of an operation to a tensor: "%2", or "%2#k" if there are several. */
static bool bind_result(struct tts_optensors *tensors, const struct opcall *call, uint32_t k,
                        struct optensor_ref ref)
{
    char name[sizeof call->result + 16];
    struct opscope *scope = tensors->depth > 0 ? &tensors->scopes[tensors->depth - 1] : NULL;
    size_t len = strlen(call->result);
    if (len == 0)
        return true;
    memcpy(name, call->result, len);
    if (call->results > 1) {
        char digits[12];
        size_t count = 0;
        name[len++] = '#';
        do
            digits[count++] = (char)('0' + k % 10);
        while ((k /= 10) > 0);
        while (count > 0)
            name[len++] = digits[--count];
    }
    return set_value(&tensors->values, scope ? scope->serial : 1, (struct tts_span){name, len},
                     ref);
}

/* Binds the results of a call to tensors of the same sizes, the last ones first. */
static bool bind_call_results(struct tts_optensors *tensors, const struct opcall *call,
                              const struct ref_list *results)
{
    size_t left = results->count;
    for (uint32_t k = call->results; k-- > 0;) {
        struct tts_optensor wanted;
        struct optensor_ref ref = no_ref;
        uint32_t at = call->sig ? call->sig->inputs + k : 0;
        bool has_type = call->sig && k < call->sig->outputs &&
                        describe_tensor(tensors, &call->sig->types[at], &wanted);
        for (size_t i = left; has_type && i-- > 0;) {
            const struct optensor_slot *slot = ref_slot(tensors, results->refs[i]);
            if (!slot || slot->tensor.bank_bytes != wanted.bank_bytes ||
                slot->tensor.pool != wanted.pool)
                continue;
            ref = results->refs[i];
            left = i;
            break;
        }
        if (ref.slot != NO_TENSOR && !bind_result(tensors, call, k, ref))
            return false;
    }
    return true;
}

/* Makes the results of an operation. */
static enum tts_status make_results(struct tts_optensors *tensors)
{
    struct oppending *op = &tensors->op;
    struct opscope *scope = tensors->depth > 0 ? &tensors->scopes[tensors->depth - 1] : NULL;
    enum tts_opowner owner = scope && scope->is_const_eval ? TTS_OPOWNER_CONST_EVAL
                             : scope && scope->is_slots    ? TTS_OPOWNER_TRACE
                                                           : TTS_OPOWNER_ACTIVATION;
    for (uint32_t k = 0; k < op->call.results && k < op->sig->outputs; k++) {
        struct tts_optensor tensor;
        struct optensor_ref ref;
        if (!describe_tensor(tensors, &op->sig->types[op->sig->inputs + k], &tensor))
            continue;
        tensor.owner = owner;
        enum tts_status status =
            place_tensor(tensors, tensor, pool_direction(tensor.pool), TTS_OPCHANGE_OP, &ref);
        if (status != TTS_OK)
            return status;
        if (!bind_result(tensors, &op->call, k, ref) ||
            !add_ref(tensors, &tensors->ended.outputs, ref) ||
            (scope && !add_ref(tensors, &scope->made, ref)))
            return TTS_E_NOMEM;
    }
    return TTS_OK;
}

/* ---- operations ---- */

static bool is_op_named(const struct tts_optext *op, const char *name)
{
    struct tts_span rest = op->name;
    const char *dot = memchr(rest.at, '.', rest.len);
    if (dot)
        rest = (struct tts_span){dot + 1, rest.len - (size_t)(dot + 1 - rest.at)};
    return tts_span_is(rest, name);
}

/* Finds the tensor of an operand. */
static enum tts_status find_operand(struct tts_optensors *tensors, struct tts_span name,
                                    const struct tts_optype *type, struct optensor_ref *out)
{
    const struct opscope *scope =
        tensors->depth > 0 ? &tensors->scopes[tensors->depth - 1] : NULL;
    *out = no_ref;
    if (find_value(&tensors->values, scope ? scope->serial : 1, name, out))
        return TTS_OK;
    bool may_be_input = !scope || scope->is_outermost || scope->is_const_eval;
    if (!may_be_input || !tts_span_begins(name, "%arg"))
        return TTS_OK;
    return find_argument(tensors, name, type, out);
}

static enum tts_status find_operands(struct tts_optensors *tensors,
                                     const struct tts_opstep *step)
{
    struct ref_list *operands = &tensors->op.operands;
    operands->count = 0;
    for (size_t i = 0; i < step->operand_count; i++) {
        const struct tts_optype *type = i < step->sig->inputs ? &step->sig->types[i] : NULL;
        struct optensor_ref ref;
        enum tts_status status = find_operand(tensors, step->operands[i], type, &ref);
        if (status != TTS_OK)
            return status;
        if (!add_ref(tensors, operands, ref))
            return TTS_E_NOMEM;
    }
    return TTS_OK;
}

static void describe_call(struct oppending *pending, const struct tts_optext *op)
{
    struct opcall *call = &pending->call;
    call->is_set = true;
    call->is_done = false;
    call->is_cached = is_op_named(op, "load_cached");
    call->is_trace = is_op_named(op, "capture_or_execute_trace");
    copy_opname(call->function, op->callee);
    call->result[0] = '\0';
    if (op->result.len > 0 && op->result.len < sizeof call->result) {
        memcpy(call->result, op->result.at, op->result.len);
        call->result[op->result.len] = '\0';
    }
    call->results = op->results;
    call->sig = pending->sig;
}

enum tts_status tts_optensors_begin_op(struct tts_optensors *tensors,
                                       const struct tts_opstep *step)
{
    struct oppending *pending = &tensors->op;
    enum tts_status status = tts_optensors_settle(tensors);
    if (status != TTS_OK || !step)
        return status;
    const struct tts_optext *op = &step->op;
    pending->is_set = true;
    pending->is_retained = false;
    pending->is_deallocate = is_op_named(op, "deallocate");
    pending->ends_trace = is_op_named(op, "end_trace_capture");
    pending->sig = step->sig;
    describe_call(pending, op);
    status = find_operands(tensors, step);
    if (status == TTS_OK && pending->operands.count > 0 &&
        (is_op_named(op, "update_cache") || is_op_named(op, "paged_update_cache") ||
         is_op_named(op, "fill_cache") || is_op_named(op, "paged_fill_cache")))
        set_owner(tensors, pending->operands.refs[0], TTS_OPOWNER_KV_CACHE);
    return status;
}

void tts_optensors_retain(struct tts_optensors *tensors)
{
    tensors->op.is_retained = true;
}

enum tts_status tts_optensors_settle(struct tts_optensors *tensors)
{
    struct oppending *op = &tensors->op;
    if (!op->is_set)
        return TTS_OK;
    op->is_set = false;
    tensors->is_boundary = false;
    tensors->ended.ends_trace = op->ends_trace;
    tensors->ended.operand = op->operands.count > 0 ? op->operands.refs[0] : no_ref;
    tensors->ended.outputs.count = 0;
    if (op->call.is_done || !op->sig)
        return TTS_OK;
    if (op->is_deallocate)
        return op->is_retained || op->operands.count == 0
                   ? TTS_OK
                   : free_tensor(tensors, op->operands.refs[0], TTS_OPCHANGE_OP);
    if (op->call.is_cached) {
        const struct opcache *cache =
            find_cache(tensors, op->call.function, looked_up_hash(tensors, op->call.function));
        bool is_bound = !cache || bind_call_results(tensors, &op->call, &cache->results);
        return is_bound ? TTS_OK : TTS_E_NOMEM;
    }
    return make_results(tensors);
}

/* ---- programs ---- */

/* Binds "%argN" of a program that an operation calls. */
static bool bind_parameter(struct tts_optensors *tensors, uint64_t serial, uint32_t number,
                           struct optensor_ref ref)
{
    char name[24] = "%arg", digits[12];
    size_t len = 4, count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        name[len++] = digits[--count];
    return set_value(&tensors->values, serial, (struct tts_span){name, len}, ref);
}

/* The program that captures a trace gets the values on the host, the tensors on the device, and
 * the slots of the trace. */
static bool bind_capture_parameters(struct tts_optensors *tensors, uint64_t serial,
                                    const struct opcall *call)
{
    uint32_t number = 0;
    for (uint32_t i = 0; call->sig && i < call->sig->inputs; i++)
        number +=
            call->sig->types[i].is_tensor && call->sig->types[i].place >= TTS_OPPLACE_SYSTEM;
    for (uint32_t i = 0; call->sig && i < call->sig->inputs && i < call->passed.count; i++)
        if (call->sig->types[i].is_tensor && call->sig->types[i].place < TTS_OPPLACE_SYSTEM &&
            !bind_parameter(tensors, serial, number++, call->passed.refs[i]))
            return false;
    for (size_t i = 0; i < tensors->trace_slots.count; i++)
        if (!bind_parameter(tensors, serial, number++, tensors->trace_slots.refs[i]))
            return false;
    return true;
}

static bool bind_parameters(struct tts_optensors *tensors, const struct opscope *scope)
{
    struct tts_span name = {scope->name, strlen(scope->name)};
    const struct opcall *call = &scope->call;
    if (tts_span_begins(name, "run_and_capture"))
        return bind_capture_parameters(tensors, scope->serial, call);
    if (tts_span_begins(name, "execute_trace") || scope->is_slots)
        return true;
    for (size_t i = 0; i < call->passed.count; i++)
        if (call->passed.refs[i].slot != NO_TENSOR &&
            !bind_parameter(tensors, scope->serial, (uint32_t)i, call->passed.refs[i]))
            return false;
    return true;
}

enum tts_status tts_optensors_begin_program(struct tts_optensors *tensors, struct tts_span name)
{
    if (tensors->depth == TTS_OPSCOPES_MAX) {
        tensors->lost_depth++;
        return TTS_OK;
    }
    struct opscope *scope = &tensors->scopes[tensors->depth];
    struct ref_list made = scope->made, passed = scope->call.passed;
    bool is_called = tensors->op.is_set;
    *scope = (struct opscope){.serial = ++tensors->last_serial,
                              .is_outermost = tensors->depth == 0 || !is_called,
                              .values = tensors->values.count,
                              .made = made};
    scope->made.count = 0;
    copy_opname(scope->name, name);
    scope->is_const_eval = tts_span_find(name, "const_eval") != NULL;
    scope->is_slots = tts_span_begins(name, "allocate_slots");
    scope->is_trace = tts_span_begins(name, "trace_");
    if (is_called)
        scope->call = tensors->op.call;
    scope->call.passed = passed;
    scope->call.passed.count = 0;
    if (is_called && !copy_refs(tensors, &scope->call.passed, &tensors->op.operands))
        return TTS_E_NOMEM;
    tensors->op.is_set = false;
    tensors->depth++;
    tensors->is_boundary = tensors->is_boundary || scope->is_outermost;
    return bind_parameters(tensors, scope) ? TTS_OK : TTS_E_NOMEM;
}

/* Keeps the tensors of a scope that are live: they are its results. */
static void keep_live_refs(struct tts_optensors *tensors, struct ref_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (ref_slot(tensors, list->refs[i]))
            list->refs[kept++] = list->refs[i];
    list->count = kept;
}

static enum tts_status free_refs(struct tts_optensors *tensors, struct ref_list *list,
                                 size_t kept, enum tts_opchange_cause cause)
{
    for (size_t i = 0; i < list->count; i++) {
        enum tts_status status =
            i == kept ? TTS_OK : free_tensor(tensors, list->refs[i], cause);
        if (status != TTS_OK)
            return status;
    }
    list->count = 0;
    return TTS_OK;
}

/* Gives the results of a program that ended to the operation that called it. */
static enum tts_status give_results(struct tts_optensors *tensors, struct opscope *scope)
{
    struct opcall *call = &scope->call;
    if (call->is_set && call->is_cached) {
        struct opcache *cache = make_cache(tensors, call->function);
        if (!cache || !copy_refs(tensors, &cache->results, &scope->made))
            return TTS_E_NOMEM;
        cache->hash = looked_up_hash(tensors, call->function);
        return bind_call_results(tensors, call, &scope->made) ? TTS_OK : TTS_E_NOMEM;
    }
    if (scope->is_slots)
        return copy_refs(tensors, &tensors->trace_slots, &scope->made) ? TTS_OK : TTS_E_NOMEM;
    if (scope->is_trace)
        return free_refs(tensors, &scope->made, SIZE_MAX, TTS_OPCHANGE_SILENT);
    if (scope->is_outermost && tensors->depth == 0)
        return copy_refs(tensors, &tensors->leaving, &scope->made) ? TTS_OK : TTS_E_NOMEM;
    bool is_bound = !call->is_set || bind_call_results(tensors, call, &scope->made);
    if (tensors->depth > 0)
        for (size_t i = 0; is_bound && i < scope->made.count; i++)
            is_bound = add_ref(tensors, &tensors->scopes[tensors->depth - 1].made,
                               scope->made.refs[i]);
    return is_bound ? TTS_OK : TTS_E_NOMEM;
}

/* The operation that captures or replays a trace calls several programs in turn. */
static enum tts_status continue_trace(struct tts_optensors *tensors, struct opscope *scope)
{
    struct tts_span name = {scope->name, strlen(scope->name)};
    if (!scope->call.is_set || !scope->call.is_trace)
        return TTS_OK;
    if (!bind_call_results(tensors, &scope->call, &tensors->trace_slots))
        return TTS_E_NOMEM;
    if (tts_span_begins(name, "execute_trace"))
        return TTS_OK;
    struct oppending *op = &tensors->op;
    op->call = scope->call;
    op->call.passed = (struct ref_list){0};
    op->call.is_done = true;
    op->is_set = true;
    op->is_deallocate = op->ends_trace = false;
    op->sig = scope->call.sig;
    return copy_refs(tensors, &op->operands, &scope->call.passed) ? TTS_OK : TTS_E_NOMEM;
}

enum tts_status tts_optensors_end_program(struct tts_optensors *tensors)
{
    enum tts_status status = tts_optensors_settle(tensors);
    if (status != TTS_OK || tensors->depth == 0)
        return status;
    if (tensors->lost_depth > 0) {
        tensors->lost_depth--;
        return TTS_OK;
    }
    struct opscope *scope = &tensors->scopes[--tensors->depth];
    keep_live_refs(tensors, &scope->made);
    drop_values(&tensors->values, scope->values);
    status = give_results(tensors, scope);
    if (status == TTS_OK)
        status = continue_trace(tensors, scope);
    if (status == TTS_OK && tensors->depth == 0 && !tensors->has_blocks)
        status = free_refs(tensors, &tensors->leaving, SIZE_MAX, TTS_OPCHANGE_SILENT);
    return status;
}

/* ---- memory blocks ---- */

/* Learns the size of a pool from the first block that states it. */
static enum tts_status learn_pool(struct tts_optensors *tensors, enum tts_pool number,
                                  const struct tts_opview *view)
{
    struct tts_oppool *pool = &tensors->pools[number];
    bool is_l1 = number == TTS_POOL_L1 || number == TTS_POOL_L1_SMALL;
    uint64_t alignment = tensors->dram_alignment;
    if (number == TTS_POOL_DRAM)
        alignment = view->banks % 12 == 0 ? 32 : 64; /* Wormhole, Blackhole */
    tensors->dram_alignment = alignment;
    pool->banks = (struct tts_opbanks){.banks = view->banks,
                                       .page_alignment = is_l1 ? 16 : alignment,
                                       .block_alignment = alignment};
    tensors->pool_known[number] = true;
    pool->size_bytes = (view->total_bytes + alignment / 2) / alignment * alignment;
    struct tts_space_config config = {.size_bytes = pool->size_bytes,
                                      .min_bytes = alignment,
                                      .alignment_bytes = alignment,
                                      .policy = TTS_POLICY_FIRST};
    if (pool->size_bytes == 0 || pool->size_bytes / alignment > TTS_SPACE_MAX_UNITS)
        return TTS_OK;
    struct tts_error err;
    return tts_space_new(&config, tensors->alloc, &pool->space, &err) == TTS_E_NOMEM
               ? TTS_E_NOMEM
               : TTS_OK;
}

/* Adds bytes that only the block shows. */
static enum tts_status add_unnamed(struct tts_optensors *tensors, enum tts_pool pool,
                                   uint64_t extra)
{
    struct tts_optensor tensor = {.pool = pool, .owner = TTS_OPOWNER_UNATTRIBUTED};
    struct optensor_ref ref;
    enum tts_direction direction =
        pool == TTS_POOL_DRAM ? TTS_DIRECTION_DOWN : pool_direction(pool);
    uint64_t grain = UNNAMED_GRAIN;
    enum tts_opchange_cause cause = TTS_OPCHANGE_UNNAMED;
    if (tensors->is_boundary || !tensors->has_compared) {
        grain = tensors->dram_alignment;
        direction = pool_direction(pool);
        tensor.owner = TTS_OPOWNER_INPUT;
        cause = TTS_OPCHANGE_UPLOAD;
    } else if (tensors->ended.ends_trace) {
        grain = TRACE_GRAIN;
        tensor.owner = TTS_OPOWNER_TRACE;
    } else {
        tensors->pools[pool].unnamed_bytes += extra;
    }
    tensor.bank_bytes = (extra + grain / 2) / grain * grain;
    if (tensor.bank_bytes == 0)
        return TTS_OK;
    enum tts_status status = place_tensor(tensors, tensor, direction, cause, &ref);
    if (cause == TTS_OPCHANGE_UPLOAD) {
        tensors->uploads[pool] = ref;
        tensors->overdrawn[pool] = 0;
    }
    return status;
}

static uint64_t sum_refs(struct tts_optensors *tensors, const struct ref_list *list,
                         enum tts_pool pool)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct optensor_slot *slot = ref_slot(tensors, list->refs[i]);
        if (slot && slot->tensor.pool == pool)
            sum += slot->tensor.bank_bytes;
    }
    return sum;
}

static bool is_near(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) <= 2 * ROUNDING;
}

/* The block has `less` bytes less than the replay. Frees the outputs of the last program, or
 * all of them but one, if that explains it. */
static enum tts_status free_outputs(struct tts_optensors *tensors, enum tts_pool pool,
                                    uint64_t less, bool *is_explained)
{
    struct ref_list *leaving = &tensors->leaving;
    uint64_t all = sum_refs(tensors, leaving, pool);
    size_t kept = SIZE_MAX;
    *is_explained = leaving->count > 0 && is_near(all, less);
    for (size_t i = 0; !*is_explained && i < leaving->count; i++) {
        const struct optensor_slot *slot = ref_slot(tensors, leaving->refs[i]);
        if (!slot || slot->tensor.pool != pool || !is_near(all - slot->tensor.bank_bytes, less))
            continue;
        kept = i;
        *is_explained = true;
    }
    return *is_explained ? free_refs(tensors, leaving, kept, TTS_OPCHANGE_SILENT) : TTS_OK;
}

/* The block has `less` bytes less than the replay. If the last operation made this many bytes,
 * it returned its first operand instead of a new tensor. */
static enum tts_status share_operand(struct tts_optensors *tensors, enum tts_pool pool,
                                     uint64_t less, bool *is_explained)
{
    struct opended *ended = &tensors->ended;
    struct opvalues *values = &tensors->values;
    *is_explained =
        ended->outputs.count == 1 && is_near(sum_refs(tensors, &ended->outputs, pool), less);
    if (!*is_explained)
        return TTS_OK;
    struct optensor_ref made = ended->outputs.refs[0];
    enum tts_status status = free_tensor(tensors, made, TTS_OPCHANGE_UNNAMED);
    struct optensor_slot *shared = ref_slot(tensors, ended->operand);
    ended->outputs.count = 0;
    if (status != TTS_OK || !shared)
        return status;
    shared->refs++;
    for (size_t i = values->count; i-- > 0;)
        if (values->values[i].ref.slot == made.slot && values->values[i].ref.id == made.id) {
            values->values[i].ref = ended->operand;
            break;
        }
    return TTS_OK;
}

static enum tts_status explain_less(struct tts_optensors *tensors, enum tts_pool pool,
                                    uint64_t less, bool *is_explained)
{
    enum tts_status status = free_outputs(tensors, pool, less, is_explained);
    if (status == TTS_OK && !*is_explained)
        status = share_operand(tensors, pool, less, is_explained);
    if (status == TTS_OK && !*is_explained)
        tensors->pools[pool].drift_bytes -= (int64_t)less;
    return status;
}

static void note_drift(struct tts_oppool *pool, uint64_t bytes, uint64_t line)
{
    pool->differing++;
    if (bytes > pool->drift_max_bytes)
        pool->drift_max_bytes = bytes;
    if (pool->drift_line == 0)
        pool->drift_line = line;
}

/* Returns the bytes that the inputs have too many because the log rounds them: if no more are
 * left without a name, all inputs have one. */
static int64_t upload_rounding(struct tts_optensors *tensors, enum tts_pool pool)
{
    const struct optensor_slot *rest = ref_slot(tensors, tensors->uploads[pool]);
    return rest && rest->tensor.bank_bytes <= 2 * ROUNDING ? (int64_t)rest->tensor.bank_bytes
                                                           : 0;
}

static enum tts_status compare_pool(struct tts_optensors *tensors, enum tts_pool number,
                                    const struct tts_opview *view, uint64_t line)
{
    struct tts_oppool *pool = &tensors->pools[number];
    enum tts_status status = TTS_OK;
    if (!tensors->pool_known[number])
        status = learn_pool(tensors, number, view);
    if (status != TTS_OK)
        return status;
    int64_t extra = (int64_t)view->allocated_bytes - (int64_t)pool->used_bytes -
                    pool->drift_bytes + upload_rounding(tensors, number);
    uint64_t size = extra < 0 ? (uint64_t)-extra : (uint64_t)extra;
    uint64_t unnamed = pool->unnamed_bytes;
    bool is_explained = true;
    pool->compared++;
    if (size > 2 * ROUNDING)
        status = extra > 0 ? add_unnamed(tensors, number, size)
                           : explain_less(tensors, number, size, &is_explained);
    if (!is_explained || pool->unnamed_bytes != unnamed) {
        note_drift(pool, size, line);
        return status;
    }
    if (!pool->space || pool->drift_bytes != 0 || pool->unnamed_bytes != 0)
        return status;
    struct tts_space_stats stats;
    tts_space_get_stats(pool->space, &stats);
    uint64_t largest = stats.largest_free_bytes;
    size = largest > view->largest_bytes ? largest - view->largest_bytes
                                         : view->largest_bytes - largest;
    if (size > 4 * ROUNDING)
        note_drift(pool, size, line);
    return status;
}

enum tts_status tts_optensors_compare(struct tts_optensors *tensors,
                                      const struct tts_opstate *state, uint64_t line)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        if (!(state->known >> i & 1))
            continue;
        enum tts_status status =
            compare_pool(tensors, (enum tts_pool)i, &state->pools[i], line);
        if (status != TTS_OK)
            return status;
    }
    tensors->leaving.count = 0;
    tensors->has_compared = true;
    tensors->is_boundary = true;
    return TTS_OK;
}

/* ---- life ---- */

enum tts_status tts_optensors_new(const struct tts_optensors_config *config,
                                  struct tts_optensors **out)
{
    const struct tts_alloc *alloc = config->alloc ? config->alloc : tts_alloc_libc();
    struct tts_optensors *tensors = alloc->alloc(alloc->ctx, sizeof *tensors);
    if (!tensors)
        return TTS_E_NOMEM;
    memset(tensors, 0, sizeof *tensors);
    tensors->config = *config;
    tensors->alloc = alloc;
    tensors->free_slot = NO_TENSOR;
    tensors->ended.operand = no_ref;
    tensors->values = (struct opvalues){.alloc = alloc, .table = {.alloc = alloc}};
    tensors->arguments = (struct opvalues){.alloc = alloc, .table = {.alloc = alloc}};
    tensors->dram_alignment = 32;
    for (int i = 0; i < TTS_POOLS; i++) {
        tensors->uploads[i] = no_ref;
        tensors->pools[i].banks = config->banks[i];
    }
    *out = tensors;
    return TTS_OK;
}

void tts_optensors_free(struct tts_optensors *tensors)
{
    if (!tensors)
        return;
    const struct tts_alloc *alloc = tensors->alloc;
    for (int i = 0; i < TTS_POOLS; i++)
        tts_space_free(tensors->pools[i].space);
    for (int i = 0; i < TTS_OPSCOPES_MAX; i++) {
        release_refs(tensors, &tensors->scopes[i].made);
        release_refs(tensors, &tensors->scopes[i].call.passed);
    }
    for (size_t i = 0; i < tensors->cache_count; i++)
        release_refs(tensors, &tensors->caches[i].results);
    release_refs(tensors, &tensors->op.operands);
    release_refs(tensors, &tensors->ended.outputs);
    release_refs(tensors, &tensors->leaving);
    release_refs(tensors, &tensors->trace_slots);
    release_values(&tensors->values);
    release_values(&tensors->arguments);
    if (tensors->slots)
        alloc->free(alloc->ctx, tensors->slots,
                    tensors->slot_capacity * sizeof *tensors->slots);
    if (tensors->caches)
        alloc->free(alloc->ctx, tensors->caches,
                    tensors->cache_capacity * sizeof *tensors->caches);
    alloc->free(alloc->ctx, tensors, sizeof *tensors);
}

enum tts_status tts_optensors_finish(struct tts_optensors *tensors)
{
    enum tts_status status = tts_optensors_settle(tensors);
    for (int i = 0; status == TTS_OK && i < TTS_POOLS; i++) {
        int64_t rounding = upload_rounding(tensors, (enum tts_pool)i);
        if (rounding == 0)
            continue;
        tensors->pools[i].late_bytes -= rounding;
        status = free_tensor(tensors, tensors->uploads[i], TTS_OPCHANGE_SPLIT);
    }
    return status;
}

void tts_optensors_expect_blocks(struct tts_optensors *tensors)
{
    tensors->has_blocks = true;
}

/* ---- queries ---- */

const struct tts_oppool *tts_optensors_pool(const struct tts_optensors *tensors,
                                            enum tts_pool pool)
{
    return &tensors->pools[pool];
}

struct tts_opsums tts_optensors_sums(const struct tts_optensors *tensors, enum tts_pool pool)
{
    return tensors->sums[pool];
}

uint64_t tts_optensors_owned(const struct tts_optensors *tensors, enum tts_pool pool,
                             enum tts_opowner owner)
{
    return tensors->owned[pool][owner];
}

const char *tts_optensors_function(const struct tts_optensors *tensors)
{
    for (uint32_t i = tensors->depth; i-- > 0;)
        if (tensors->scopes[i].is_const_eval)
            return tensors->scopes[i].name;
    return "";
}

uint32_t tts_optensors_depth(const struct tts_optensors *tensors)
{
    return tensors->depth;
}
