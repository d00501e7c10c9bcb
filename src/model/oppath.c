#include "model/oppath.h"

#include "base/compiler.h"
#include "base/heap.h"
#include "model/ophelper.h"

#include <assert.h>
#include <string.h>

struct oppath_frame {
    uint64_t own;   /* hash of the operation */
    uint64_t owner; /* hash of the innermost operation that is not a helper */
    uint64_t path;  /* hash of the path of `owner` */
    bool is_helper; /* this operation and all operations around it are helpers */
};

struct oppath_thread {
    uint32_t thread;
    /* Number of operations in progress; may exceed the number of stored frames. */
    uint64_t depth;
    struct oppath_frame frames[TTS_OPPATH_DEPTH];
};

/* A path: the operation `op` inside the path `parent`. Both are texts of the fold and are
 * compared by address. */
struct oppath_node {
    const char *op, *parent;
};

struct tts_oppath {
    struct oppath_thread *threads;
    size_t thread_count, thread_capacity, last;
    /* Hash table by `op`, at most half full; `op` is NULL in an empty slot. */
    struct oppath_node *table;
    size_t width, count; /* width is 0 or a power of 2 */
    const struct tts_alloc *alloc;
};

static const char separator[] = " > ";
enum { WIDTH_MIN = 256 };

enum tts_status tts_oppath_new(const struct tts_alloc *alloc, struct tts_oppath **out)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_oppath *paths = alloc->alloc(alloc->ctx, sizeof *paths);
    if (!paths)
        return TTS_E_NOMEM;
    *paths = (struct tts_oppath){.alloc = alloc};
    *out = paths;
    return TTS_OK;
}

static void free_path_nodes(struct tts_oppath *paths)
{
    if (paths->table)
        paths->alloc->free(paths->alloc->ctx, paths->table,
                           paths->width * sizeof *paths->table);
}

void tts_oppath_free(struct tts_oppath *paths)
{
    if (!paths)
        return;
    const struct tts_alloc *alloc = paths->alloc;
    free_path_nodes(paths);
    if (paths->threads)
        alloc->free(alloc->ctx, paths->threads,
                    paths->thread_capacity * sizeof *paths->threads);
    alloc->free(alloc->ctx, paths, sizeof *paths);
}

/* ---- nodes ---- */

static struct oppath_node *find_path_node(const struct tts_oppath *paths, const char *op)
{
    assert(paths->count < paths->width); /* otherwise the loop would not end */
    uint64_t hash = (uint64_t)(uintptr_t)op * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (paths->width - 1);
    while (paths->table[at].op && paths->table[at].op != op)
        at = (at + 1) & (paths->width - 1);
    return &paths->table[at];
}

static bool grow_path_nodes(struct tts_oppath *paths)
{
    if (2 * (paths->count + 1) <= paths->width)
        return true;
    struct tts_oppath old = *paths;
    size_t width = old.width > 0 ? 2 * old.width : WIDTH_MIN;
    struct oppath_node *table = old.alloc->alloc(old.alloc->ctx, width * sizeof *table);
    if (!table)
        return false;
    memset(table, 0, width * sizeof *table);
    paths->table = table;
    paths->width = width;
    for (size_t i = 0; i < old.width; i++)
        if (old.table[i].op)
            *find_path_node(paths, old.table[i].op) = old.table[i];
    free_path_nodes(&old);
    return true;
}

static uint64_t join_op_hashes(uint64_t path, uint64_t op)
{
    uint64_t hash = (path ^ op >> 31 ^ op << 33) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
    return hash ? hash : 1;
}

/* Returns the hash of the path of `op` inside `parent`, or the hash of `op` if there is no room
 * for the path. */
static uint64_t enter_path(struct tts_oppath *paths, struct tts_fold *fold, uint64_t parent,
                           const struct tts_item_op *op)
{
    const char *outer = tts_fold_op_text(fold, parent), *none = tts_fold_op_other();
    uint64_t hash = join_op_hashes(parent, op->hash);
    if (tts_fold_op_text(fold, hash) != none)
        return hash;
    if (outer == none || !grow_path_nodes(paths))
        return op->hash;
    tts_fold_name(fold, hash, op->name, op->name_len);
    const char *text = tts_fold_op_text(fold, hash);
    if (text == none)
        return op->hash;
    struct oppath_node *node = find_path_node(paths, text);
    assert(!node->op);
    *node = (struct oppath_node){text, outer};
    paths->count++;
    return hash;
}

/* ---- threads ---- */

/* Returns the stack of a thread. Creates the stack if needed. Returns NULL if there are
 * TTS_OPPATH_THREADS threads already or there is no memory. */
static struct oppath_thread *find_thread(struct tts_oppath *paths, uint32_t thread)
{
    for (size_t i = 0; i < paths->thread_count; i++)
        if (paths->threads[i].thread == thread) {
            paths->last = i;
            return &paths->threads[i];
        }
    if (paths->thread_count == TTS_OPPATH_THREADS)
        return NULL;
    struct oppath_thread *threads =
        tts_alloc_grow(paths->alloc, paths->threads, &paths->thread_capacity,
                       paths->thread_count + 1, sizeof *threads);
    if (!threads)
        return NULL;
    paths->threads = threads;
    paths->last = paths->thread_count;
    threads[paths->thread_count].thread = thread;
    threads[paths->thread_count].depth = 0;
    return &threads[paths->thread_count++];
}

static void begin_path_op(struct tts_oppath *paths, struct tts_fold *fold,
                          const struct tts_item *item)
{
    const struct tts_item_op *op = &item->op;
    struct oppath_thread *thread = find_thread(paths, item->thread);
    if (!thread || op->hash == 0)
        return;
    uint64_t depth = thread->depth++;
    if (depth >= TTS_OPPATH_DEPTH)
        return;
    const struct oppath_frame *outer = depth > 0 ? &thread->frames[depth - 1] : NULL;
    struct oppath_frame *frame = &thread->frames[depth];
    bool is_helper = tts_op_is_helper(op->name, op->name_len);
    if (is_helper && outer)
        *frame = *outer;
    else if (!outer || outer->is_helper)
        *frame =
            (struct oppath_frame){.owner = op->hash, .path = op->hash, .is_helper = is_helper};
    else
        *frame = (struct oppath_frame){.owner = op->hash,
                                       .path = enter_path(paths, fold, outer->path, op)};
    frame->own = op->hash;
}

static void end_path_op(struct tts_oppath *paths, uint32_t number)
{
    struct oppath_thread *thread = find_thread(paths, number);
    if (thread && thread->depth > 0)
        thread->depth--;
}

/* Returns the innermost operation of a thread if the operation has this hash, otherwise
 * NULL. */
static const struct oppath_frame *find_frame(const struct oppath_thread *thread, uint64_t hash)
{
    if (thread->depth == 0 || thread->depth > TTS_OPPATH_DEPTH)
        return NULL;
    const struct oppath_frame *frame = &thread->frames[thread->depth - 1];
    return frame->owner == hash || frame->own == hash ? frame : NULL;
}

void tts_oppath_forget(struct tts_oppath *paths)
{
    for (size_t i = 0; i < paths->thread_count; i++)
        paths->threads[i].depth = 0;
}

uint64_t tts_oppath_find(const struct tts_oppath *paths, uint64_t op_hash)
{
    if (op_hash == 0 || paths->thread_count == 0)
        return op_hash;
    /* An event does not name its thread. Look first at the thread of the last OP_BEGIN or
     * OP_END, which is most often the right one. */
    const struct oppath_frame *frame = find_frame(&paths->threads[paths->last], op_hash);
    for (size_t i = 0; !frame && i < paths->thread_count; i++)
        frame = find_frame(&paths->threads[i], op_hash);
    return frame ? frame->path : op_hash;
}

uint64_t tts_oppath_event(struct tts_oppath *paths, struct tts_fold *fold,
                          const struct tts_item *item)
{
    if (item->event.kind == TTS_EVENT_OP_BEGIN)
        begin_path_op(paths, fold, item);
    else if (item->event.kind == TTS_EVENT_OP_END)
        end_path_op(paths, item->thread);
    else
        return tts_oppath_find(paths, item->op.hash);
    return item->op.hash;
}

/* ---- texts ---- */

/* Writes `text` into `out` so that it ends before *at, and moves *at to its start. If there is
 * not enough room, writes only the end of `text`. */
static void put_before(char *out, size_t *at, const char *text)
{
    size_t len = strlen(text), room = *at;
    size_t kept = len < room ? len : room;
    memcpy(out + room - kept, text + len - kept, kept);
    *at = room - kept;
}

size_t tts_oppath_text(const struct tts_oppath *paths, const char *op, char *out, size_t size)
{
    assert(size > 0);
    size_t at = size - 1;
    put_before(out, &at, op);
    while (paths->width > 0 && at > 0) {
        const struct oppath_node *node = find_path_node(paths, op);
        if (!node->op)
            break;
        put_before(out, &at, separator);
        put_before(out, &at, node->parent);
        op = node->parent;
    }
    size_t len = size - 1 - at;
    memmove(out, out + at, len);
    out[len] = '\0';
    return len;
}
