#include "sources/seq/devseq_run.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/nearest.h"
#include "device/devicepools.h"
#include "device/space.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <sys/auxv.h>

void tts_devseq_run_init(struct tts_devseq_run *run, struct tts_device *device,
                         const struct tts_alloc *alloc)
{
    *run = (struct tts_devseq_run){.device = device,
                                   .names.alloc = alloc ? alloc : tts_alloc_libc()};
    /* The kernel gives each process 16 random bytes. */
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random)
        memcpy(&run->names.seed, random, sizeof run->names.seed);
}

void tts_devseq_run_release(struct tts_devseq_run *run)
{
    tts_devseq_names_release(&run->names);
}

/* --- names ------------------------------------------------------------------------------ */

static bool is_named(const struct tts_devseq_line *line)
{
    return line->name.text[0] != '\0';
}

/* Checks that no live buffer has the name of the line. A line without a name passes. */
static enum tts_status check_name_free(struct tts_devseq_run *run,
                                       const struct tts_devseq_line *line,
                                       struct tts_error *err)
{
    struct tts_devseq_held *held =
        is_named(line) ? tts_devseq_names_find(&run->names, &line->name) : NULL;
    if (!held || !held->live)
        return TTS_OK;
    return tts_error_set(err, TTS_E_SYNTAX,
                         "the name '%s' belongs to a live buffer: free that buffer first",
                         line->name.text);
}

static enum tts_status find_named_buffer(struct tts_devseq_run *run,
                                         const struct tts_devseq_line *line,
                                         struct tts_devseq_held **out, struct tts_error *err)
{
    *out = tts_devseq_names_find(&run->names, &line->name);
    if (*out)
        return TTS_OK;
    struct tts_nearest nearest = {.word = line->name.text};
    for (size_t i = 0; i < run->names.count; i++)
        tts_nearest_offer(&nearest, run->names.held[i].name.text);
    return tts_error_set(err, TTS_E_NOT_FOUND, "no buffer is named '%s'%s%s%s", line->name.text,
                         nearest.best ? ", did you mean '" : "",
                         nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

/* Adds the entry for the name of a line. This happens before the buffer is allocated, because
 * no memory may be missing afterwards. */
static enum tts_status reserve_name(struct tts_devseq_run *run,
                                    const struct tts_devseq_line *line, struct tts_error *err)
{
    const struct tts_alloc *alloc = run->names.alloc;
    if (!is_named(line))
        return TTS_OK;
    struct tts_devseq_held *held = tts_devseq_names_find(&run->names, &line->name);
    if (!held)
        held = tts_devseq_names_add(&run->names, &line->name);
    if (!held && run->names.count == TTS_DEVSEQ_NAMES_MAX)
        return tts_error_set(err, TTS_E_RANGE,
                             "more than %d buffers have names at the same time",
                             TTS_DEVSEQ_NAMES_MAX);
    if (!held)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for names");
    if (line->kind != TTS_DEVSEQ_SHARD) {
        if (held->sharding)
            alloc->free(alloc->ctx, held->sharding, sizeof *held->sharding);
        held->sharding = NULL;
        return TTS_OK;
    }
    if (!held->sharding)
        held->sharding = alloc->alloc(alloc->ctx, sizeof *held->sharding);
    if (!held->sharding)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for names");
    *held->sharding = *line;
    return TTS_OK;
}

static void bind_buffer_name(struct tts_devseq_run *run, const struct tts_devseq_step *step)
{
    if (!is_named(&step->line))
        return;
    struct tts_devseq_held *held = tts_devseq_names_find(&run->names, &step->line.name);
    held->page_bytes = step->line.page_bytes;
    held->has_address = step->line.result.outcome == TTS_DEVSEQ_DONE;
    if (step->has_buffer)
        tts_devseq_names_bind(&run->names, held, &step->buffer);
}

/* --- buffers ---------------------------------------------------------------------------- */

static void note_alloc_failure(struct tts_devseq_run *run, struct tts_devseq_step *step,
                               uint64_t line_no)
{
    step->failed = true;
    step->failure = *tts_device_failure(run->device);
    if (run->counts.first_failure_line == 0)
        run->counts.first_failure_line = line_no;
}

static void note_alloc_refusal(struct tts_devseq_run *run, struct tts_devseq_step *step,
                               enum tts_status status)
{
    struct tts_devseq_result *result = &step->line.result;
    const struct tts_failure *failure = &step->failure;
    if (status == TTS_E_BELOW_LIMIT) {
        result->outcome = TTS_DEVSEQ_BELOW_LIMIT;
        result->value[0] = failure->address;
        run->counts.buffers_below_limit++;
        return;
    }
    result->outcome = TTS_DEVSEQ_FAILED;
    run->counts.buffers_failed++;
    run->counts.fragmented +=
        failure->kind == TTS_FAILURE_SPACE && failure->block_bytes <= failure->free_bytes;
}

static void note_buffer_address(struct tts_devseq_run *run, struct tts_devseq_step *step,
                                uint64_t line_no)
{
    struct tts_pool_stats stats;
    struct tts_devseq_result *result = &step->line.result;
    enum tts_pool pool = step->buffer.pool;
    step->has_buffer = true;
    bool somewhere = step->buffer.placed || step->line.placement == TTS_PLACE_AT;
    result->outcome = somewhere ? TTS_DEVSEQ_DONE : TTS_DEVSEQ_NOT_PLACED;
    result->value[0] = step->buffer.address;
    run->counts.buffers_ok += somewhere;
    run->counts.buffers_not_placed += !somewhere;
    if (!tts_device_stats(run->device, pool, &stats))
        return;
    if (stats.peak_bytes > run->counts.peak_bytes[pool]) {
        run->counts.peak_bytes[pool] = stats.peak_bytes;
        run->counts.peak_line[pool] = line_no;
    }
}

static enum tts_status allocate_named(struct tts_devseq_run *run,
                                      const struct tts_devseq_line *line,
                                      struct tts_buffer *buffer, struct tts_error *err)
{
    struct tts_shard shard;
    struct tts_distribution distribution;
    if (line->kind == TTS_DEVSEQ_KERNEL)
        return tts_device_alloc_kernel(run->device, line->bytes, buffer, err);
    if (line->kind == TTS_DEVSEQ_TRACE)
        return tts_device_alloc_trace(run->device, line->bytes, buffer, err);
    struct tts_request request = tts_devseq_request(line, &shard, &distribution);
    return tts_device_alloc(run->device, &request, buffer, err);
}

static enum tts_status run_buffer(struct tts_devseq_run *run, struct tts_devseq_step *step,
                                  uint64_t line_no, struct tts_error *err)
{
    enum tts_status status = check_name_free(run, &step->line, err);
    if (status == TTS_OK)
        status = reserve_name(run, &step->line, err);
    if (status != TTS_OK)
        return status;
    uint64_t failures = tts_device_failures(run->device);
    status = allocate_named(run, &step->line, &step->buffer, err);
    if (tts_device_failures(run->device) > failures)
        note_alloc_failure(run, step, line_no);
    if (step->failed && (status == TTS_E_FULL || status == TTS_E_BELOW_LIMIT))
        note_alloc_refusal(run, step, status);
    else if (status == TTS_OK)
        note_buffer_address(run, step, line_no);
    else
        return status;
    bind_buffer_name(run, step);
    return TTS_OK;
}

static enum tts_status fail_no_pool(const struct tts_devseq_run *run, enum tts_pool pool,
                                    struct tts_error *err)
{
    return tts_error_set(err, TTS_E_NOT_FOUND, "'%s' has no %s",
                         tts_device_chip(run->device)->name, tts_pool_name(pool));
}

/* Finds the block at the address of a line. The block belongs to a buffer without a name. */
static enum tts_status find_block(const struct tts_devseq_run *run,
                                  const struct tts_devseq_line *line, struct tts_buffer *out)
{
    const struct tts_banks *banks = tts_device_pool(run->device, line->pool);
    *out = (struct tts_buffer){.pool = line->pool, .placed = true, .address = line->address};
    return tts_space_size_at(tts_banks_space(banks, 0), line->address, &out->block_bytes);
}

/* Finds the buffer that a line frees. Sets *found to false if there is no such buffer. Removes
 * its name in any case. */
static enum tts_status take_buffer(struct tts_devseq_run *run,
                                   const struct tts_devseq_line *line, struct tts_buffer *out,
                                   bool *found, struct tts_error *err)
{
    struct tts_devseq_held *held;
    *found = false;
    if (line->has_address && !tts_device_pool(run->device, line->pool))
        return fail_no_pool(run, line->pool, err);
    if (line->has_address) {
        held = tts_devseq_names_at(&run->names, line->pool, line->address);
        if (!held) {
            *found = find_block(run, line, out) == TTS_OK;
            return TTS_OK;
        }
    } else {
        enum tts_status status = find_named_buffer(run, line, &held, err);
        if (status != TTS_OK)
            return status;
    }
    *found = held->live;
    *out = held->buffer;
    tts_devseq_names_remove(&run->names, held);
    return TTS_OK;
}

static enum tts_status run_free(struct tts_devseq_run *run, struct tts_devseq_step *step,
                                struct tts_error *err)
{
    struct tts_buffer buffer;
    bool found;
    enum tts_status status = take_buffer(run, &step->line, &buffer, &found, err);
    if (status != TTS_OK)
        return status;
    if (!found) {
        run->counts.frees_ignored++;
        return TTS_OK;
    }
    status = tts_device_release(run->device, &buffer);
    assert(status != TTS_E_NOT_FOUND); /* a named buffer always has a block */
    if (status != TTS_OK)
        return tts_error_set(err, status, "cannot free: %s", tts_error_cause(status));
    run->counts.frees_ok++;
    step->has_buffer = true;
    step->buffer = buffer;
    return TTS_OK;
}

/* --- circular buffers ------------------------------------------------------------------- */

static enum tts_status global_address(struct tts_devseq_run *run,
                                      const struct tts_devseq_line *line, uint64_t *address,
                                      struct tts_error *err)
{
    struct tts_devseq_held *held;
    enum tts_status status = find_named_buffer(run, line, &held, err);
    if (status != TTS_OK)
        return status;
    if (!held->live || held->buffer.pool != TTS_POOL_L1)
        return tts_error_set(
            err, TTS_E_INVALID,
            "'%s' is not an allocated L1 buffer, so a circular buffer cannot use its memory",
            line->name.text);
    if (line->number > held->buffer.bytes_per_bank ||
        line->bytes > held->buffer.bytes_per_bank - line->number)
        return tts_error_set(err, TTS_E_INVALID,
                             "the circular buffer is larger than the part of '%s' in a bank",
                             line->name.text);
    if (__builtin_add_overflow(held->buffer.address, line->number, address))
        return tts_error_set(err, TTS_E_RANGE,
                             "the end of the circular buffer does not fit in 64 bits");
    return TTS_OK;
}

static enum tts_status run_cb(struct tts_devseq_run *run, struct tts_devseq_step *step,
                              struct tts_error *err)
{
    const struct tts_devseq_line *line = &step->line;
    struct tts_cb_index indices[TTS_CB_INDICES_MAX];
    struct tts_cb cb = {.ranges = line->ranges,
                        .range_count = line->range_count,
                        .total_bytes = line->bytes,
                        .indices = indices,
                        .index_count = line->index_count,
                        .global = is_named(line)};
    for (size_t i = 0; i < line->index_count; i++)
        indices[i] = (struct tts_cb_index){line->indices[i], line->page_bytes};
    if (line->number > 0 && !cb.global)
        return tts_error_set(err, TTS_E_SYNTAX, "'offset=' needs 'on='");
    enum tts_status status =
        cb.global ? global_address(run, line, &cb.global_address, err) : TTS_OK;
    if (status == TTS_OK)
        status = tts_device_add_cb(run->device, &cb, &step->line.result.value[0], err);
    if (status != TTS_OK)
        return status;
    const struct tts_cbs *cbs = tts_device_cbs(run->device);
    step->overlaps = tts_cbs_at(cbs, tts_cbs_count(cbs) - 1)->overlaps;
    run->counts.cbs++;
    return status;
}

/* Returns a measure of the room on a core: its free bytes minus the bytes above its limit. May
 * be negative. */
static int64_t spare_bytes(const struct tts_core_room *room)
{
    return (int64_t)room->free_bytes - (int64_t)room->excess_bytes;
}

static void note_program_room(struct tts_devseq_run *run, uint64_t line_no)
{
    struct tts_core_room room;
    const struct tts_cbs *cbs = tts_device_cbs(run->device);
    struct tts_cbs_floor floor = tts_device_floor(run->device);
    struct tts_core core = tts_cbs_tightest(cbs, &floor, &room);
    if (run->tight.line > 0 && spare_bytes(&room) >= spare_bytes(&run->tight.room))
        return;
    run->tight = (struct tts_devseq_tight){line_no, tts_cbs_program(cbs), core, room};
}

static enum tts_status run_program(struct tts_devseq_run *run, struct tts_devseq_step *step,
                                   uint64_t line_no, struct tts_error *err)
{
    uint64_t failures = tts_device_failures(run->device);
    enum tts_status status = tts_device_run_program(run->device, err);
    if (status == TTS_OK || status == TTS_E_FULL)
        note_program_room(run, line_no);
    if (tts_device_failures(run->device) > failures) {
        note_alloc_failure(run, step, line_no);
        step->line.result.outcome = TTS_DEVSEQ_FAILED;
        run->counts.runs_failed++;
        return TTS_OK;
    }
    run->counts.runs_ok += status == TTS_OK;
    return status;
}

/* --- queries ---------------------------------------------------------------------------- */

static enum tts_status run_pool_stats(struct tts_devseq_run *run, struct tts_devseq_step *step,
                                      struct tts_error *err)
{
    struct tts_pool_stats stats;
    uint64_t *value = step->line.result.value;
    if (!tts_device_stats(run->device, step->line.pool, &stats))
        return fail_no_pool(run, step->line.pool, err);
    value[0] = stats.space.total_bytes;
    value[1] = stats.space.taken_bytes;
    value[2] = stats.space.free_bytes;
    value[3] = stats.space.largest_free_bytes;
    return TTS_OK;
}

static enum tts_status fail_no_grid(const struct tts_devseq_run *run, struct tts_error *err)
{
    return tts_error_set(err, TTS_E_NOT_FOUND, "the grid of '%s' is unknown: set 'grid'",
                         tts_device_chip(run->device)->name);
}

static enum tts_status run_core_room(struct tts_devseq_run *run, struct tts_devseq_step *step,
                                     struct tts_error *err)
{
    const struct tts_cbs *cbs = tts_device_cbs(run->device);
    struct tts_cbs_floor floor = tts_device_floor(run->device);
    struct tts_core_room room;
    if (!cbs)
        return fail_no_grid(run, err);
    if (tts_cbs_core(cbs, &floor, step->line.core, &room) != TTS_OK)
        return tts_error_set(err, TTS_E_INVALID, "core %u-%u is outside the grid of '%s'",
                             step->line.core.x, step->line.core.y,
                             tts_device_chip(run->device)->name);
    step->line.result.value[0] = room.region_end;
    step->line.result.value[1] = room.ceiling;
    step->line.result.value[2] = room.free_bytes;
    return TTS_OK;
}

static enum tts_status find_buffer_page(struct tts_devseq_run *run,
                                        const struct tts_devseq_held *held, uint64_t idx,
                                        struct tts_page *out)
{
    const struct tts_pool_layout *layout = tts_device_layout(run->device, held->buffer.pool);
    const struct tts_banks_map *map = tts_device_map(run->device);
    struct tts_devseq_line plain = {.kind = TTS_DEVSEQ_BUFFER,
                                    .pool = held->buffer.pool,
                                    .bytes = held->buffer.size_bytes,
                                    .page_bytes = held->page_bytes};
    struct tts_shard shard;
    struct tts_distribution distribution;
    struct tts_need need;
    struct tts_request request =
        tts_devseq_request(held->sharding ? held->sharding : &plain, &shard, &distribution);
    assert(map && layout);
    uint64_t grid = TTS_GRID(map->columns, map->rows);
    enum tts_status status = tts_request_need(&request, layout, grid, &need, NULL);
    if (status == TTS_OK)
        status = tts_request_page(&request, &need, map, held->buffer.address, idx, out);
    return status;
}

static enum tts_status run_buffer_page(struct tts_devseq_run *run, struct tts_devseq_step *step,
                                       struct tts_error *err)
{
    struct tts_devseq_held *held;
    struct tts_page page;
    enum tts_status status = find_named_buffer(run, &step->line, &held, err);
    if (status != TTS_OK)
        return status;
    if (held->page_bytes == 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "'%s' has no page size, so its pages have no addresses",
                             step->line.name.text);
    if (!tts_device_map(run->device))
        return fail_no_grid(run, err);
    if (!held->has_address) {
        step->line.result.outcome = TTS_DEVSEQ_NOT_PLACED;
        return TTS_OK;
    }
    status = find_buffer_page(run, held, step->line.number, &page);
    if (status == TTS_E_RANGE)
        return tts_error_set(err, status,
                             "'%s' has %" PRIu64 " pages: there is no page %" PRIu64,
                             step->line.name.text, held->buffer.size_bytes / held->page_bytes,
                             step->line.number);
    if (status != TTS_OK)
        return tts_error_set(err, status,
                             "the pages of buffer '%s' are unknown: give 'tensor='",
                             step->line.name.text);
    step->line.result = (struct tts_devseq_result){
        .value = {page.bank, page.address}, .has_core = page.has_core, .core = page.core};
    return TTS_OK;
}

/* --- lines ------------------------------------------------------------------------------ */

static enum tts_status run_device_query(struct tts_devseq_run *run,
                                        struct tts_devseq_step *step, struct tts_error *err)
{
    run->counts.queries++;
    if (step->line.kind == TTS_DEVSEQ_STATS)
        return run_pool_stats(run, step, err);
    if (step->line.kind == TTS_DEVSEQ_ROOM)
        return run_core_room(run, step, err);
    return run_buffer_page(run, step, err);
}

enum tts_status tts_devseq_run_line(struct tts_devseq_run *run,
                                    const struct tts_devseq_line *line, uint64_t line_no,
                                    struct tts_devseq_step *out, struct tts_error *err)
{
    *out = (struct tts_devseq_step){.line = *line};
    out->line.result = (struct tts_devseq_result){0};
    out->line.has_result = tts_devseq_kind_has_result(line->kind);
    run->counts.operations++;
    switch (line->kind) {
    case TTS_DEVSEQ_BUFFER:
    case TTS_DEVSEQ_SHARD:
    case TTS_DEVSEQ_KERNEL:
    case TTS_DEVSEQ_TRACE:
        return run_buffer(run, out, line_no, err);
    case TTS_DEVSEQ_CB:
        return run_cb(run, out, err);
    case TTS_DEVSEQ_FREE:
        return run_free(run, out, err);
    case TTS_DEVSEQ_PROGRAM:
        run->counts.programs++;
        tts_device_program(run->device, line->number);
        return TTS_OK;
    case TTS_DEVSEQ_RUN:
        return run_program(run, out, line_no, err);
    case TTS_DEVSEQ_CAPTURE:
        run->counts.captures++;
        tts_device_trace_begin(run->device);
        return TTS_OK;
    case TTS_DEVSEQ_IDLE:
        run->counts.idles++;
        return TTS_OK;
    case TTS_DEVSEQ_STATS:
    case TTS_DEVSEQ_ROOM:
    case TTS_DEVSEQ_PAGE:
        return run_device_query(run, out, err);
    case TTS_DEVSEQ_BLANK:
    case TTS_DEVSEQ_KINDS:
        break;
    }
    assert(false); /* tts_devseq_run_line() handles the other kinds */
    return TTS_E_INVALID;
}

enum tts_status tts_devseq_run_finish(const struct tts_devseq_run *run, struct tts_error *err)
{
    if (run->counts.operations > 0)
        return TTS_OK;
    return tts_error_set(
        err, TTS_E_SYNTAX,
        "no statement: expected lines like 'buffer dram interleaved SIZE PAGE'");
}
