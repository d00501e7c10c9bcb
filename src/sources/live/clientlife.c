#include "sources/live/clientlife.h"

#include "base/error.h"
#include "base/heap.h"

#include <assert.h>
#include <string.h>

/* The inode of the first pid namespace, in which every process of the host is visible. */
#define FIRST_NAMESPACE UINT64_C(0xeffffffc)
#define SEARCH_PERIOD_NS (UINT64_C(10) * 1000 * 1000 * 1000)

static void free_insides(const struct tts_alloc *alloc, struct tts_insideproc *list,
                         size_t capacity)
{
    if (list)
        alloc->free(alloc->ctx, list, capacity * sizeof *list);
}

void tts_clientlife_release(struct tts_clientlife *life)
{
    free_insides(life->alloc, life->inside, life->capacity);
    free_insides(life->alloc, life->old, life->old_capacity);
    *life = (struct tts_clientlife){0};
}

/* --- programs of our pid namespace ------------------------------------------------------- */

/* The numbers of a program mean something here if the program has our namespace. */
static bool is_own_namespace(const struct tts_hostview *view,
                             const struct tts_seenclient *client)
{
    return view->own_namespace_known && client->namespace_id == view->own_namespace_id;
}

/* Returns whether process `pid` is the one that started at `ticks`. *is_sure is false if nobody
 * here can say. */
static bool is_process_of(const struct tts_hostview *view, uint32_t pid, uint64_t ticks,
                          bool *is_sure)
{
    const struct tts_seenprocess *process = tts_hostview_process(view, pid);
    *is_sure = process && (!process->is_alive || process->ticks_known);
    return process && process->is_alive && process->ticks_known &&
           process->start_ticks == ticks;
}

/* --- programs of other pid namespaces ---------------------------------------------------- */

static bool is_inside_client(const struct tts_hostview *view,
                             const struct tts_seenclient *client)
{
    return !client->is_boot_old && view->own_namespace_known && client->namespace_id != 0 &&
           client->namespace_id != view->own_namespace_id;
}

static bool is_same_inside(const struct tts_insideproc *a, const struct tts_insideproc *b)
{
    return a->pid_inside == b->pid_inside && a->start_ticks == b->start_ticks &&
           a->namespace_id == b->namespace_id;
}

/* Lists the programs, with their places in the last call. Both lists have one order, except
 * that programs come and go. */
static enum tts_status list_insides(struct tts_clientlife *life,
                                    const struct tts_hostview *view, bool *has_new)
{
    size_t at = 0;
    *has_new = false;
    for (size_t i = 0; i < view->client_count; i++) {
        const struct tts_seenclient *client = &view->clients[i];
        if (!is_inside_client(view, client))
            continue;
        struct tts_insideproc *list = tts_alloc_grow(life->alloc, life->inside, &life->capacity,
                                                     life->count + 1, sizeof *list);
        if (!list)
            return TTS_E_NOMEM;
        life->inside = list;
        struct tts_insideproc *inside = &list[life->count++];
        *inside = (struct tts_insideproc){.pid_inside = client->pid_inside,
                                          .start_ticks = client->start_ticks,
                                          .namespace_id = client->namespace_id};
        size_t found = 0;
        while (found < life->old_count &&
               !is_same_inside(&life->old[(at + found) % life->old_count], inside))
            found++;
        if (found == life->old_count) {
            *has_new = true;
            continue;
        }
        at = (at + found) % life->old_count;
        inside->pid = life->old[at++].pid;
    }
    return TTS_OK;
}

/* Adds the process of a program, and forgets its place if the process is another one. */
static enum tts_status add_inside(struct tts_liveprocs *procs, struct tts_hostview *view,
                                  struct tts_insideproc *inside, bool *has_left,
                                  struct tts_error *err)
{
    if (inside->pid == 0)
        return TTS_OK;
    enum tts_status status = tts_liveprocs_add(procs, inside->pid, view, err);
    if (status != TTS_OK)
        return status;
    const struct tts_seenprocess *process = tts_hostview_process(view, inside->pid);
    if (process && process->is_alive && tts_insideproc_is(inside, process))
        return TTS_OK;
    inside->pid = 0;
    *has_left = true;
    return TTS_OK;
}

static enum tts_status add_insides(struct tts_clientlife *life, struct tts_liveprocs *procs,
                                   struct tts_hostview *view, bool *has_left,
                                   struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; status == TTS_OK && i < life->count; i++)
        status = add_inside(procs, view, &life->inside[i], has_left, err);
    return status;
}

static size_t count_unfound(const struct tts_clientlife *life)
{
    size_t count = 0;
    for (size_t i = 0; i < life->count; i++)
        count += life->inside[i].pid == 0;
    return count;
}

/* Finds the processes of the programs of other namespaces. */
static enum tts_status find_insides(struct tts_clientlife *life, struct tts_liveprocs *procs,
                                    struct tts_hostview *view, struct tts_error *err)
{
    bool has_new, has_left = false;
    struct tts_clientlife last = *life;
    life->old = last.inside;
    life->old_count = last.count;
    life->old_capacity = last.capacity;
    life->inside = last.old;
    life->capacity = last.old_capacity;
    life->count = 0;
    enum tts_status status = list_insides(life, view, &has_new);
    if (status != TTS_OK)
        return tts_error_set(err, status, "out of memory for the programs of other namespaces");
    status = add_insides(life, procs, view, &has_left, err);
    if (status != TTS_OK || count_unfound(life) == 0)
        return status;
    if (!has_new && !has_left && life->search_ns != 0 &&
        view->time_ns - life->search_ns < SEARCH_PERIOD_NS)
        return TTS_OK;
    life->search_ns = view->time_ns;
    life->is_search_whole = tts_liveprocs_search(procs, life->inside, life->count);
    return add_insides(life, procs, view, &has_left, err);
}

/* --- all programs ----------------------------------------------------------------------- */

enum tts_status tts_clientlife_add(struct tts_clientlife *life, const struct tts_alloc *alloc,
                                   struct tts_liveprocs *procs, struct tts_hostview *view,
                                   struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    life->alloc = alloc ? alloc : tts_alloc_libc();
    for (size_t i = 0; status == TTS_OK && i < view->client_count; i++) {
        const struct tts_seenclient *client = &view->clients[i];
        if (client->is_boot_old || is_inside_client(view, client))
            continue;
        status = tts_liveprocs_add(procs, client->pid_inside, view, err);
        if (status == TTS_OK && client->by_server)
            status = tts_liveprocs_add(procs, client->writer_pid_inside, view, err);
    }
    return status == TTS_OK ? find_insides(life, procs, view, err) : status;
}

/* Judges a program that has our namespace or an unknown one. */
static void judge_near(struct tts_hostview *view, struct tts_seenclient *client)
{
    bool is_sure;
    client->is_alive = is_process_of(view, client->pid_inside, client->start_ticks, &is_sure);
    client->is_judged = client->is_alive || (is_sure && is_own_namespace(view, client));
    client->pid = client->is_alive ? client->pid_inside : 0;
    if (client->by_server &&
        !is_process_of(view, client->writer_pid_inside, client->writer_start_ticks, &is_sure))
        client->is_orphan = is_sure && is_own_namespace(view, client);
}

static void judge_inside(const struct tts_clientlife *life, const struct tts_hostview *view,
                         const struct tts_insideproc *inside, struct tts_seenclient *client)
{
    client->pid = inside->pid;
    client->is_alive = inside->pid != 0;
    client->is_judged = client->is_alive ||
                        (life->is_search_whole && view->own_namespace_id == FIRST_NAMESPACE);
}

/* Returns whether the owner of the file may write about the program: the user of the program or
 * of its server, root, or ourselves. */
static bool is_owner_trusted(const struct tts_hostview *view,
                             const struct tts_seenclient *client)
{
    uint32_t pid = client->by_server ? client->writer_pid_inside : client->pid;
    const struct tts_seenprocess *process = client->by_server && !is_own_namespace(view, client)
                                                ? NULL
                                                : tts_hostview_process(view, pid);
    return client->owner_uid == 0 || client->owner_uid == view->own_uid || !process ||
           !process->is_alive || !process->uid_known || process->uid == client->owner_uid;
}

void tts_clientlife_judge(const struct tts_clientlife *life, struct tts_hostview *view)
{
    size_t at = 0;
    for (size_t i = 0; i < view->client_count; i++) {
        struct tts_seenclient *client = &view->clients[i];
        if (client->is_boot_old)
            client->is_judged = true;
        else if (is_inside_client(view, client))
            judge_inside(life, view, &life->inside[at++], client);
        else
            judge_near(view, client);
        if (client->state == TTS_SEENREGION_READ && !is_owner_trusted(view, client)) {
            client->state = TTS_SEENREGION_CORRUPT;
            client->view_count = 0;
        }
        for (size_t k = 0; k < client->view_count; k++)
            view->views[client->first_view + k].pid = client->pid;
    }
    assert(at == life->count);
}
