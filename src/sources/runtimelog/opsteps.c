#include "sources/runtimelog/opsteps.h"

#include "base/error.h"
#include "base/heap.h"

#include <assert.h>
#include <string.h>

/* ---- data ---- */

/* A step that is not complete yet, with its own copy of the text of its operation. */
struct step_slot {
    struct tts_opstep step;
    struct tts_opsig spare;
    char *text;
    size_t capacity;
    char type[64], function[TTS_OPNAME_MAX], program[TTS_OPNAME_MAX];
    struct tts_span *operands;
    size_t operand_capacity;
    bool has_ended; /* the memory after the operation is noted */
};

/* The three steps of a rank, those that one record completes, and one that the caller has. */
enum { READY = 3, SLOTS = 3 + READY + 1 };

struct step_rank {
    struct tts_optensors *tensors;
    bool has_blocks, has_ops;
    struct step_slot slots[SLOTS];
    /* The operation whose line came last and that has not begun; the operation in progress; the
     * one before, which waits for the next block. NULL: none. */
    struct step_slot *waiting, *current, *previous;
    struct step_slot *ready[READY]; /* complete, and not returned yet */
    size_t ready_count;
    const struct step_slot *given; /* the step that the caller has */
    uint64_t ops, blocks;
    uint32_t programs;
    char program[TTS_OPNAME_MAX]; /* the outermost program */
    char missed[TTS_OPNAME_MAX];  /* the function whose cache was missed last */
};

struct tts_opsteps {
    struct tts_opsteps_config config;
    const struct tts_alloc *alloc;
    struct tts_oplog *log;
    struct tts_opsigs sigs;
    struct step_rank *ranks[TTS_OPLOG_RANKS];
    uint32_t rank_count;
    uint32_t telling;          /* the rank whose tensors change */
    struct step_rank *reading; /* the rank of the last record */
    bool is_at_end;
    uint32_t end_rank;
    enum tts_status end_status; /* the end of the log, or its damage */
    struct tts_error end_err;
};

enum tts_status tts_opsteps_open(struct tts_input *in, const struct tts_opsteps_config *config,
                                 struct tts_opsteps **out, struct tts_error *err)
{
    const struct tts_alloc *alloc = config->alloc ? config->alloc : tts_alloc_libc();
    struct tts_opsteps *steps = alloc->alloc(alloc->ctx, sizeof *steps);
    if (!steps)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    memset(steps, 0, sizeof *steps);
    steps->config = *config;
    steps->alloc = alloc;
    tts_opsigs_init(&steps->sigs, alloc);
    enum tts_status status = tts_oplog_open(in, alloc, &steps->log, err);
    if (status != TTS_OK) {
        tts_opsteps_close(steps);
        return status;
    }
    *out = steps;
    return TTS_OK;
}

static void free_step_rank(struct tts_opsteps *steps, struct step_rank *rank)
{
    const struct tts_alloc *alloc = steps->alloc;
    for (int i = 0; i < SLOTS; i++) {
        struct step_slot *slot = &rank->slots[i];
        tts_opsig_release(&slot->spare, alloc);
        if (slot->text)
            alloc->free(alloc->ctx, slot->text, slot->capacity);
        if (slot->operands)
            alloc->free(alloc->ctx, slot->operands,
                        slot->operand_capacity * sizeof *slot->operands);
    }
    tts_optensors_free(rank->tensors);
    alloc->free(alloc->ctx, rank, sizeof *rank);
}

void tts_opsteps_close(struct tts_opsteps *steps)
{
    if (!steps)
        return;
    for (uint32_t i = 0; i < steps->rank_count; i++)
        free_step_rank(steps, steps->ranks[i]);
    tts_opsigs_release(&steps->sigs);
    tts_oplog_close(steps->log);
    steps->alloc->free(steps->alloc->ctx, steps, sizeof *steps);
}

/* ---- ranks ---- */

/* Counts what a block shows and no line explains for the step before the block. */
static enum tts_status take_change(void *ctx, const struct tts_opchange *change)
{
    struct tts_opsteps *steps = ctx;
    struct step_rank *rank = steps->ranks[steps->telling];
    const struct tts_optensor *tensor = change->tensor;
    if (rank->previous && !change->is_free) {
        struct tts_opstep *step = &rank->previous->step;
        if (change->cause == TTS_OPCHANGE_UPLOAD)
            step->upload_bytes[tensor->pool] += tensor->bank_bytes;
        if (change->cause == TTS_OPCHANGE_UNNAMED)
            step->unnamed_bytes[tensor->pool] += tensor->bank_bytes;
    }
    return TTS_OK;
}

/* Makes the ranks up to `number`. */
static enum tts_status find_step_rank(struct tts_opsteps *steps, uint32_t number,
                                      struct step_rank **out)
{
    struct tts_optensors_config config = {
        .alloc = steps->alloc, .on_change = take_change, .ctx = steps};
    memcpy(config.banks, steps->config.banks, sizeof config.banks);
    while (steps->rank_count <= number) {
        struct step_rank *rank = steps->alloc->alloc(steps->alloc->ctx, sizeof *rank);
        if (!rank)
            return TTS_E_NOMEM;
        memset(rank, 0, sizeof *rank);
        steps->ranks[steps->rank_count++] = rank;
        if (tts_optensors_new(&config, &rank->tensors) != TTS_OK)
            return TTS_E_NOMEM;
    }
    steps->telling = number;
    *out = steps->ranks[number];
    return TTS_OK;
}

static bool is_slot_in_use(const struct step_rank *rank, const struct step_slot *slot)
{
    bool is_ready = false;
    for (size_t i = 0; i < rank->ready_count; i++)
        is_ready = is_ready || rank->ready[i] == slot;
    return is_ready || slot == rank->waiting || slot == rank->current ||
           slot == rank->previous || slot == rank->given;
}

static struct step_slot *free_step_slot(struct step_rank *rank)
{
    size_t place = 0;
    while (is_slot_in_use(rank, &rank->slots[place]))
        place++;
    assert(place < SLOTS);
    return &rank->slots[place];
}

/* The step of this slot is complete. NULL is allowed. */
static void finish_step(struct step_rank *rank, struct step_slot *slot)
{
    if (!slot)
        return;
    assert(rank->ready_count < READY);
    rank->ready[rank->ready_count++] = slot;
}

/* Returns the next complete step of a rank, or NULL. */
static const struct tts_opstep *take_ready_step(struct step_rank *rank)
{
    if (rank->ready_count == 0)
        return NULL;
    rank->given = rank->ready[0];
    rank->ready_count--;
    for (size_t i = 0; i < rank->ready_count; i++)
        rank->ready[i] = rank->ready[i + 1];
    return &rank->given->step;
}

/* Takes a slot for a step at this record. */
static struct step_slot *begin_step_slot(struct step_rank *rank,
                                         const struct tts_oprecord *record)
{
    struct step_slot *slot = free_step_slot(rank);
    slot->has_ended = false;
    slot->step = (struct tts_opstep){.rank = record->rank,
                                     .line = record->line,
                                     .index = rank->ops,
                                     .program = rank->programs > 0 ? rank->programs - 1 : 0};
    slot->type[0] = slot->function[0] = slot->program[0] = '\0';
    slot->step.function = slot->function;
    slot->step.program_name = slot->program;
    return slot;
}

/* ---- the parts of a step ---- */

static void note_replay(const struct step_rank *rank, struct tts_opstep *step)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_oppool *pool = tts_optensors_pool(rank->tensors, (enum tts_pool)i);
        int64_t used = (int64_t)pool->used_bytes + pool->drift_bytes;
        step->replay[i].used_bytes = used > 0 ? (uint64_t)used : 0;
        step->replay[i].late_bytes = pool->late_bytes;
    }
}

/* Notes the memory after the operation in progress, which has just ended. */
static void note_replay_after(struct step_rank *rank)
{
    if (!rank->current || rank->current->has_ended)
        return;
    struct tts_opstep *step = &rank->current->step;
    rank->current->has_ended = true;
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_oppool *pool = tts_optensors_pool(rank->tensors, (enum tts_pool)i);
        int64_t late = pool->late_bytes - step->replay[i].late_bytes;
        int64_t used = (int64_t)pool->used_bytes + pool->drift_bytes - late;
        step->replay_after_bytes[i] = used > 0 ? (uint64_t)used : 0;
        step->sums[i] = tts_optensors_sums(rank->tensors, (enum tts_pool)i);
    }
}

/* Lists the operands of the operation of a slot. Returns false if there is no memory. */
static bool keep_operands(struct tts_opsteps *steps, struct step_slot *slot)
{
    struct tts_span list = slot->step.op.operands, item;
    size_t count = 0;
    while (tts_optext_next(&list, &item)) {
        if (count == slot->operand_capacity) {
            struct tts_span *operands =
                tts_alloc_grow(steps->alloc, slot->operands, &slot->operand_capacity, count + 1,
                               sizeof *operands);
            if (!operands)
                return false;
            slot->operands = operands;
        }
        slot->operands[count++] = item;
    }
    slot->step.operands = slot->operands;
    slot->step.operand_count = count;
    return true;
}

/* Keeps the line of an operation until the next record of its rank. */
static enum tts_status keep_op_line(struct tts_opsteps *steps, struct step_rank *rank,
                                    const struct tts_oprecord *record)
{
    struct step_slot *slot = begin_step_slot(rank, record);
    if (slot->capacity < record->text.len) {
        char *text = tts_alloc_grow(steps->alloc, slot->text, &slot->capacity, record->text.len,
                                    sizeof *text);
        if (!text)
            return TTS_E_NOMEM;
        slot->text = text;
    }
    if (record->text.len > 0)
        memcpy(slot->text, record->text.at, record->text.len);
    struct tts_span text = {slot->text ? slot->text : "", record->text.len};
    rank->waiting = slot;
    rank->has_ops = true;
    slot->step.has_replay = true;
    slot->step.has_op = tts_optext_read(text, &slot->step.op);
    if (!slot->step.has_op)
        return TTS_OK;
    tts_optext_loc_name(slot->step.op.loc, slot->step.loc, sizeof slot->step.loc);
    if (!keep_operands(steps, slot))
        return TTS_E_NOMEM;
    return tts_opsigs_find(&steps->sigs, slot->step.op.signature, &slot->spare,
                           &slot->step.sig);
}

/* Moves the operation in progress to the place of the one before, and `next` to its place. The
 * step that gives up its place is complete. */
static void shift_steps(struct step_rank *rank, struct step_slot *next)
{
    note_replay_after(rank);
    finish_step(rank, rank->previous);
    rank->previous = rank->current;
    rank->current = next;
    next->step.index = rank->ops++;
    if (!rank->has_blocks) { /* no block follows that the step could wait for */
        finish_step(rank, rank->previous);
        rank->previous = NULL;
    }
}

/* Begins the operation that waits. */
static enum tts_status begin_waiting_op(struct step_rank *rank)
{
    struct step_slot *slot = rank->waiting;
    if (!slot)
        return TTS_OK;
    rank->waiting = NULL;
    struct tts_opstep *step = &slot->step;
    enum tts_status status = tts_optensors_begin_op(rank->tensors, step->has_op ? step : NULL);
    const char *function = tts_optensors_function(rank->tensors);
    memcpy(slot->function, function, strlen(function) + 1);
    memcpy(slot->program, rank->program, sizeof rank->program);
    step->is_cache_miss = function[0] != '\0' && strcmp(function, rank->missed) == 0;
    step->program = rank->programs > 0 ? rank->programs - 1 : 0;
    shift_steps(rank, slot);
    note_replay(rank, step);
    return status;
}

/* ---- records ---- */

/* Takes a memory block: the memory after the step before, and before the step in progress. */
static enum tts_status take_block(struct step_rank *rank, const struct tts_oprecord *record)
{
    bool is_submit = record->kind == TTS_OPRECORD_SUBMIT;
    bool has_own_op = rank->current && !rank->current->step.has_block && !is_submit;
    if (!has_own_op) { /* a block without the line of its operation */
        struct step_slot *slot = begin_step_slot(rank, record);
        enum tts_status status = tts_optensors_settle(rank->tensors);
        if (status != TTS_OK)
            return status;
        shift_steps(rank, slot);
        rank->ops -= is_submit;
        slot->step.is_submit = is_submit;
        slot->step.is_after = record->is_after;
    }
    struct step_slot *slot = rank->current;
    struct tts_opstep *step = &slot->step;
    enum tts_status status = TTS_OK;
    /* The memory before the first program is stated before its operations are. */
    if (rank->has_ops || is_submit)
        status = tts_optensors_compare(rank->tensors, &record->state, record->line);
    step->has_replay = rank->has_ops;
    step->has_block = true;
    step->block = rank->blocks++;
    step->block_line = record->line;
    step->block_last_line = record->last_line;
    step->before = record->state;
    tts_span_copy(slot->type, sizeof slot->type, record->text);
    step->type = (struct tts_span){slot->type, strlen(slot->type)};
    note_replay(rank, step);
    if (rank->previous)
        rank->previous->step.after = record->state;
    finish_step(rank, rank->previous);
    rank->previous = NULL;
    return status;
}

static void take_cache_miss(struct step_rank *rank, struct tts_span function)
{
    tts_span_copy(rank->missed, sizeof rank->missed, function);
}

/* The outputs of a program are freed at its end. This does not belong to its last operation. */
static enum tts_status end_program(struct step_rank *rank)
{
    enum tts_status status = tts_optensors_settle(rank->tensors);
    note_replay_after(rank);
    return status == TTS_OK ? tts_optensors_end_program(rank->tensors) : status;
}

/* Takes a record that begins or ends something. */
static enum tts_status take_mark(struct step_rank *rank, const struct tts_oprecord *record)
{
    switch (record->kind) {
    case TTS_OPRECORD_PROGRAM_BEGIN:
        if (tts_optensors_depth(rank->tensors) == 0) {
            rank->programs++;
            tts_span_copy(rank->program, sizeof rank->program, record->text);
        }
        return tts_optensors_begin_program(rank->tensors, record->text);
    case TTS_OPRECORD_PROGRAM_END:
        return end_program(rank);
    case TTS_OPRECORD_RETAINED:
        tts_optensors_retain(rank->tensors);
        if (rank->current)
            rank->current->step.is_retained = true;
        return TTS_OK;
    case TTS_OPRECORD_CACHE_LOOKUP:
        tts_optensors_lookup(rank->tensors, record->text, record->hash);
        return TTS_OK;
    case TTS_OPRECORD_CACHE_MISS:
        take_cache_miss(rank, record->text);
        return TTS_OK;
    case TTS_OPRECORD_OP:
    case TTS_OPRECORD_BLOCK:
    case TTS_OPRECORD_SUBMIT:
    case TTS_OPRECORD_CACHE_HIT:
    case TTS_OPRECORD_CACHE_DONE:
    case TTS_OPRECORD_TRACE_CAPTURE:
    case TTS_OPRECORD_TRACE_REPLAY:
    case TTS_OPRECORD_TRACE_STALE:
    case TTS_OPRECORD_GRID:
    case TTS_OPRECORD_MODULE:
    case TTS_OPRECORD_ARGUMENTS:
        return TTS_OK;
    }
    return TTS_OK;
}

/* Takes one record. Sets *out to the rank of the record. */
static enum tts_status take_step_record(struct tts_opsteps *steps,
                                        const struct tts_oprecord *record,
                                        struct step_rank **out)
{
    struct step_rank *rank;
    bool is_block = record->kind == TTS_OPRECORD_BLOCK || record->kind == TTS_OPRECORD_SUBMIT;
    enum tts_status status = find_step_rank(steps, record->rank, &rank);
    if (status != TTS_OK)
        return status;
    *out = rank;
    if (is_block && !rank->has_blocks) {
        /* The first operation waits for the next record, so it has not begun. */
        rank->has_blocks = true;
        tts_optensors_expect_blocks(rank->tensors);
    }
    status = begin_waiting_op(rank);
    if (status != TTS_OK)
        return status;
    if (record->kind == TTS_OPRECORD_OP)
        return keep_op_line(steps, rank, record);
    return is_block ? take_block(rank, record) : take_mark(rank, record);
}

/* ---- reading ---- */

/* Completes the last steps of a rank. */
static enum tts_status end_step_rank(struct step_rank *rank)
{
    enum tts_status status = begin_waiting_op(rank);
    if (status == TTS_OK)
        status = tts_optensors_settle(rank->tensors);
    note_replay_after(rank);
    if (status == TTS_OK)
        status = tts_optensors_finish(rank->tensors);
    finish_step(rank, rank->previous);
    finish_step(rank, rank->current);
    rank->previous = rank->current = NULL;
    return status;
}

/* Reads until a step is complete. Sets *out to NULL at the end. */
static enum tts_status read_next_step(struct tts_opsteps *steps, const struct tts_opstep **out)
{
    for (;;) {
        struct step_rank *rank = steps->reading;
        struct tts_oprecord record;
        *out = rank ? take_ready_step(rank) : NULL;
        if (*out)
            return TTS_OK;
        enum tts_status status = TTS_OK;
        if (!steps->is_at_end) {
            steps->end_status = tts_oplog_next(steps->log, &record, &steps->end_err);
            steps->is_at_end = steps->end_status != TTS_OK;
        }
        if (!steps->is_at_end) {
            status = take_step_record(steps, &record, &steps->reading);
        } else if (steps->end_rank < steps->rank_count) {
            steps->telling = steps->end_rank;
            steps->reading = steps->ranks[steps->end_rank++];
            status = end_step_rank(steps->reading);
        } else {
            return TTS_OK;
        }
        if (status != TTS_OK)
            return status;
    }
}

enum tts_status tts_opsteps_next(struct tts_opsteps *steps, const struct tts_opstep **out,
                                 struct tts_error *err)
{
    enum tts_status status = read_next_step(steps, out);
    if (status != TTS_OK)
        return tts_error_set(err, status, "%s", tts_error_cause(status));
    if (*out)
        return TTS_OK;
    if (err)
        *err = steps->end_err;
    return steps->end_status;
}

struct tts_oplog *tts_opsteps_log(struct tts_opsteps *steps)
{
    return steps->log;
}

const struct tts_optensors *tts_opsteps_tensors(const struct tts_opsteps *steps, uint32_t rank)
{
    return rank < steps->rank_count ? steps->ranks[rank]->tensors : NULL;
}

void tts_opsteps_finals(const struct tts_opsteps *steps, uint32_t rank,
                        struct tts_opfinal out[TTS_POOLS])
{
    const struct tts_optensors *tensors = tts_opsteps_tensors(steps, rank);
    for (int i = 0; i < TTS_POOLS; i++) {
        out[i] = (struct tts_opfinal){0};
        if (!tensors)
            continue;
        const struct tts_oppool *pool = tts_optensors_pool(tensors, (enum tts_pool)i);
        out[i] = (struct tts_opfinal){.late_bytes = pool->late_bytes,
                                      .compared = pool->compared,
                                      .differing = pool->differing,
                                      .drift_max_bytes = pool->drift_max_bytes,
                                      .drift_line = pool->drift_line,
                                      .unnamed_bytes = pool->unnamed_bytes};
    }
}
