#include "model/cores.h"

#include <assert.h>
#include <string.h>

enum { SIDE = TTS_GRID_SIDE_MAX };

static bool is_program_kind(enum tts_core_kind kind)
{
    return kind < TTS_CORE_L1;
}

void tts_cores_init(struct tts_cores *cores, struct tts_core_grid *grid)
{
    *cores = (struct tts_cores){.grid = grid};
}

static void need_grid(struct tts_cores *cores)
{
    if (cores->has_grid)
        return;
    struct tts_core_grid *grid = cores->grid;
    memset(grid, 0, offsetof(struct tts_core_grid, program));
    cores->has_grid = true;
}

static void sum_core(const struct tts_cores *cores, uint16_t core, uint64_t bytes,
                     struct tts_core_sum *out)
{
    *out = (struct tts_core_sum){bytes, {0}, cores->all_parts, core};
    memcpy(out->by, cores->all, sizeof out->by);
    if (!cores->has_grid)
        return;
    for (int kind = 0; kind < TTS_CORE_KINDS; kind++)
        out->by[kind] += cores->grid->by[kind][core];
    out->parts += cores->grid->program_parts[core];
    out->parts += cores->grid->buffer_parts[core];
}

void tts_cores_sum(const struct tts_cores *cores, struct tts_core_sum *out)
{
    sum_core(cores, cores->top_core, tts_cores_bytes(cores), out);
}

void tts_cores_sum_at(const struct tts_cores *cores, uint16_t core, struct tts_core_sum *out)
{
    assert(core < TTS_CORES_MAX);
    uint64_t some_bytes = cores->has_grid ? cores->grid->sum[core] : 0;
    sum_core(cores, core, cores->all_bytes + some_bytes, out);
}

bool tts_cores_have_room_on_all(const struct tts_cores *cores, uint64_t bytes)
{
    return bytes <= TTS_CORE_BYTES_MAX - cores->all_bytes;
}

bool tts_cores_have_room(const struct tts_cores *cores, uint64_t bytes)
{
    return bytes <= TTS_CORE_BYTES_MAX - cores->top_bytes;
}

void tts_cores_add_all(struct tts_cores *cores, enum tts_core_kind kind, uint64_t bytes)
{
    assert(!is_program_kind(kind) && bytes > 0);
    assert(tts_cores_have_room_on_all(cores, bytes));
    cores->all[kind] += bytes;
    cores->all_bytes += bytes;
    cores->all_parts++;
}

void tts_cores_remove_all(struct tts_cores *cores, enum tts_core_kind kind, uint64_t bytes)
{
    assert(!is_program_kind(kind) && cores->all[kind] >= bytes && cores->all_parts > 0);
    cores->all[kind] -= bytes;
    cores->all_bytes -= bytes;
    cores->all_parts--;
}

_Static_assert(SIDE <= 64, "rows are bits of a word");

/* Marks the rows of the box as changed since the last scan. */
static void touch_grid_rows(struct tts_cores *cores, struct tts_box box)
{
    cores->stale |= (UINT64_MAX >> (63 - (box.y1 - box.y0))) << box.y0;
    if (box.x1 >= cores->columns)
        cores->columns = (uint8_t)(box.x1 + 1);
    if (box.y1 >= cores->rows)
        cores->rows = (uint8_t)(box.y1 + 1);
}

static void raise_top_core(struct tts_cores *cores, uint16_t core, uint64_t bytes)
{
    if (bytes > cores->top_bytes || (bytes == cores->top_bytes && core < cores->top_core)) {
        cores->top_bytes = bytes;
        cores->top_core = core;
    }
}

static void widen_grid(struct tts_cores *cores, struct tts_box box)
{
    struct tts_box *all = &cores->program_box;
    if (!cores->has_program)
        *all = box;
    all->x0 = box.x0 < all->x0 ? box.x0 : all->x0;
    all->y0 = box.y0 < all->y0 ? box.y0 : all->y0;
    all->x1 = box.x1 > all->x1 ? box.x1 : all->x1;
    all->y1 = box.y1 > all->y1 ? box.y1 : all->y1;
    cores->has_program = cores->program_is_stale = true;
}

static void add_grid_row(struct tts_cores *cores, enum tts_core_kind kind, uint16_t from,
                         uint32_t count, uint64_t bytes)
{
    struct tts_core_grid *grid = cores->grid;
    uint32_t *parts = is_program_kind(kind) ? grid->program_parts : grid->buffer_parts;
    uint64_t *by = &grid->by[kind][from], *sum = &grid->sum[from], most = 0;
    for (uint32_t i = 0; i < count; i++) {
        by[i] += bytes;
        sum[i] += bytes;
        parts[from + i]++;
        most = sum[i] > most ? sum[i] : most;
    }
    if (most < cores->top_bytes || (most == cores->top_bytes && from > cores->top_core))
        return;
    uint32_t best = 0;
    while (sum[best] != most)
        best++;
    raise_top_core(cores, (uint16_t)(from + best), most);
}

static void add_grid_box(struct tts_cores *cores, enum tts_core_kind kind, struct tts_box box,
                         uint64_t bytes)
{
    for (uint32_t y = box.y0; y <= box.y1; y++)
        add_grid_row(cores, kind, tts_core_idx(box.x0, y), (uint32_t)(box.x1 - box.x0 + 1),
                     bytes);
}

void tts_cores_add(struct tts_cores *cores, enum tts_core_kind kind, const struct tts_box *box,
                   size_t count, uint64_t bytes)
{
    assert(bytes > 0 && count > 0);
    assert(tts_cores_have_room(cores, bytes));
    need_grid(cores);
    for (size_t i = 0; i < count; i++) {
        if (is_program_kind(kind))
            widen_grid(cores, box[i]);
        else
            touch_grid_rows(cores, box[i]);
        add_grid_box(cores, kind, box[i], bytes);
    }
    if (!is_program_kind(kind))
        cores->some_parts++;
}

static void find_row_top(struct tts_cores *cores, uint32_t y)
{
    struct tts_core_grid *grid = cores->grid;
    const uint64_t *sum = &grid->sum[tts_core_idx(0, y)];
    uint64_t most = 0;
    uint32_t best = 0;
    for (uint32_t x = 0; x < cores->columns; x++) {
        if (sum[x] > most) {
            most = sum[x];
            best = x;
        }
    }
    grid->row_bytes[y] = most;
    grid->row_core[y] = tts_core_idx(best, y);
}

/* Scans the changed rows up to the used width of the grid, then compares the maxima of all
 * rows. */
static void find_top_core(struct tts_cores *cores)
{
    struct tts_core_grid *grid = cores->grid;
    if (cores->program_is_stale)
        touch_grid_rows(cores, cores->program_box);
    cores->program_is_stale = false;
    for (uint64_t stale = cores->stale; stale; stale &= stale - 1)
        find_row_top(cores, (uint32_t)__builtin_ctzll(stale));
    cores->stale = 0;
    cores->top_bytes = 0;
    cores->top_core = 0;
    for (uint32_t y = 0; y < cores->rows; y++) {
        if (grid->row_bytes[y] > cores->top_bytes) {
            cores->top_bytes = grid->row_bytes[y];
            cores->top_core = grid->row_core[y];
        }
    }
}

void tts_cores_remove(struct tts_cores *cores, enum tts_core_kind kind,
                      const struct tts_box *box, size_t count, uint64_t bytes)
{
    assert(!is_program_kind(kind) && cores->has_grid && cores->some_parts > 0);
    struct tts_core_grid *grid = cores->grid;
    for (size_t i = 0; i < count; i++) {
        touch_grid_rows(cores, box[i]);
        for (uint32_t y = box[i].y0; y <= box[i].y1; y++) {
            for (uint32_t x = box[i].x0; x <= box[i].x1; x++) {
                uint16_t core = tts_core_idx(x, y);
                assert(grid->by[kind][core] >= bytes && grid->buffer_parts[core] > 0);
                grid->by[kind][core] -= bytes;
                grid->sum[core] -= bytes;
                grid->buffer_parts[core]--;
            }
        }
    }
    cores->some_parts--;
    if (tts_boxes_have(box, count, cores->top_core))
        find_top_core(cores);
}

bool tts_cores_list(struct tts_cores *cores, const struct tts_program_part *part)
{
    assert(cores->has_program && is_program_kind(part->kind) && part->bytes > 0);
    if (cores->program_count == TTS_PROGRAM_PARTS_MAX || part->set == TTS_CORESETS_NOWHERE) {
        cores->has_unlisted = true;
        return false;
    }
    cores->grid->program[cores->program_count++] = *part;
    return true;
}

static void clear_grid_row(struct tts_core_grid *grid, uint16_t from, uint16_t to)
{
    for (uint16_t core = from; core <= to; core++) {
        for (int kind = 0; kind < TTS_PROGRAM_KINDS; kind++) {
            grid->sum[core] -= grid->by[kind][core];
            grid->by[kind][core] = 0;
        }
        grid->program_parts[core] = 0;
    }
}

void tts_cores_end_program(struct tts_cores *cores)
{
    if (!cores->has_program)
        return;
    assert(cores->has_grid);
    struct tts_box box = cores->program_box;
    touch_grid_rows(cores, box);
    for (uint32_t y = box.y0; y <= box.y1; y++)
        clear_grid_row(cores->grid, tts_core_idx(box.x0, y), tts_core_idx(box.x1, y));
    cores->has_program = cores->program_is_stale = cores->has_unlisted = false;
    cores->program_count = 0;
    cores->top_bytes = 0;
    cores->top_core = 0;
    if (cores->some_parts > 0)
        find_top_core(cores);
}

static void merge_grid(struct tts_core_grid *grid, const struct tts_core_grid *other)
{
    for (int core = 0; core < TTS_CORES_MAX; core++) {
        for (int kind = 0; kind < TTS_CORE_KINDS; kind++)
            grid->by[kind][core] += other->by[kind][core];
        grid->sum[core] += other->sum[core];
        grid->program_parts[core] += other->program_parts[core];
        grid->buffer_parts[core] += other->buffer_parts[core];
    }
}

void tts_cores_merge(struct tts_cores *cores, const struct tts_cores *other)
{
    assert(tts_cores_have_room_on_all(cores, other->all_bytes));
    assert(tts_cores_have_room(cores, other->top_bytes));
    for (int kind = 0; kind < TTS_CORE_KINDS; kind++)
        cores->all[kind] += other->all[kind];
    cores->all_bytes += other->all_bytes;
    cores->all_parts += other->all_parts;
    cores->some_parts += other->some_parts;
    cores->has_unlisted |= other->has_unlisted;
    cores->is_lost |= other->is_lost;
    if (!other->has_grid)
        return;
    need_grid(cores);
    if (other->has_program)
        widen_grid(cores, other->program_box);
    merge_grid(cores->grid, other->grid);
    if (other->rows > 0)
        touch_grid_rows(cores, (struct tts_box){0, 0, (uint8_t)(other->columns - 1),
                                                (uint8_t)(other->rows - 1)});
    find_top_core(cores);
}

static bool is_core_valid(const struct tts_cores *cores, uint16_t core)
{
    const struct tts_core_grid *grid = cores->grid;
    uint64_t sum = 0, program = 0;
    for (int kind = 0; kind < TTS_CORE_KINDS; kind++) {
        sum += grid->by[kind][core];
        program += kind < TTS_PROGRAM_KINDS ? grid->by[kind][core] : 0;
    }
    bool in_box = cores->has_program && tts_boxes_have(&cores->program_box, 1, core);
    return sum == grid->sum[core] && (program > 0) == (grid->program_parts[core] > 0) &&
           (sum > program) == (grid->buffer_parts[core] > 0) && (program == 0 || in_box);
}

static bool is_list_valid(const struct tts_cores *cores)
{
    if (cores->program_count > TTS_PROGRAM_PARTS_MAX)
        return false;
    for (uint32_t i = 0; i < cores->program_count; i++) {
        const struct tts_program_part *part = &cores->grid->program[i];
        if (part->bytes == 0 || !is_program_kind(part->kind) || part->set >= TTS_CORESETS_MAX)
            return false;
    }
    return cores->has_program || (cores->program_count == 0 && !cores->has_unlisted);
}

/* Checks the fullest core by a scan of all cores. */
static bool is_top_valid(const struct tts_cores *cores)
{
    struct tts_cores all = {0};
    for (uint16_t core = 0; core < TTS_CORES_MAX; core++)
        raise_top_core(&all, core, cores->grid->sum[core]);
    return all.top_bytes == cores->top_bytes && all.top_core == cores->top_core;
}

bool tts_cores_are_valid(const struct tts_cores *cores)
{
    uint64_t all = cores->all[TTS_CORE_L1] + cores->all[TTS_CORE_L1_SMALL];
    if (all != cores->all_bytes || (all > 0) != (cores->all_parts > 0))
        return false;
    if (!cores->has_grid)
        return cores->top_bytes == 0 && cores->top_core == 0 && cores->some_parts == 0 &&
               !cores->has_program && cores->program_count == 0;
    if (!is_top_valid(cores))
        return false;
    for (uint16_t core = 0; core < TTS_CORES_MAX; core++)
        if (!is_core_valid(cores, core))
            return false;
    return is_list_valid(cores);
}
