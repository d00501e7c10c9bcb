#include "analysis/live/hostcheck.h"

#include "base/compiler.h"
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char class_dir[] = "/sys/class/tenstorrent";

static struct tts_hostcheck *add_check(struct tts_hostchecks *out, const char *id,
                                       enum tts_severity severity)
{
    assert(out->count < TTS_HOSTCHECKS_MAX);
    struct tts_hostcheck *check = &out->checks[out->count++];
    *check = (struct tts_hostcheck){.id = id, .severity = severity};
    return check;
}

TTS_PRINTF(2, 3) static void say_answer(struct tts_hostcheck *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(check->answer, sizeof check->answer, format, args);
    va_end(args);
}

TTS_PRINTF(2, 3) static void say_action(struct tts_hostcheck *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(check->action, sizeof check->action, format, args);
    va_end(args);
}

static const char *plural_of(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Says that a directory cannot be listed. The answer begins with `begin`. */
static void say_unlisted(struct tts_hostcheck *check, int sys_errno, const char *begin,
                         const char *dir)
{
    struct tts_error reason;
    tts_error_set_errno(&reason, TTS_E_IO, sys_errno, "%scannot list %s", begin, dir);
    say_answer(check, "%s", reason.text);
    say_action(check, "run ttscope as root, or check the permissions with 'ls -ld %s'", dir);
}

/* Returns whether /dev/shm exists and cannot be listed. */
static bool is_shm_unlisted(const struct tts_hostview *view)
{
    return view->regions_errno != 0 && view->regions_errno != ENOENT;
}

/* Appends a number to a list such as "0, 2, 7 and 3 more". */
enum { LIST_SHOWN = 8, LIST_MAX = 160 };

struct number_list {
    char text[LIST_MAX];
    size_t count;
};

static void list_number(struct number_list *list, uint64_t number)
{
    size_t len = strlen(list->text);
    if (list->count++ < LIST_SHOWN)
        snprintf(list->text + len, LIST_MAX - len, "%s%" PRIu64, len > 0 ? ", " : "", number);
}

static void end_list(struct number_list *list)
{
    size_t len = strlen(list->text);
    if (list->count > LIST_SHOWN)
        snprintf(list->text + len, LIST_MAX - len, " and %zu more", list->count - LIST_SHOWN);
}

/* ---- hardware ---- */

static void check_driver(const struct tts_hostview *view, struct tts_hostchecks *out)
{
    if (view->driver_loaded) {
        const char *version = view->driver_version;
        say_answer(add_check(out, "driver", TTS_SEVERITY_NONE),
                   "the driver (tt-kmd%s%s) is loaded", version[0] ? " " : "", version);
        return;
    }
    struct tts_hostcheck *check = add_check(out, "driver", TTS_SEVERITY_ERROR);
    if (view->chips_errno != 0) {
        say_unlisted(check, view->chips_errno,
                     "unknown whether the driver is loaded: ", class_dir);
        return;
    }
    say_answer(check, "the driver (tt-kmd) is not loaded");
    say_action(check, "load the driver with 'modprobe tenstorrent'; if the module is missing, "
                      "install tt-kmd");
}

static void check_chips(const struct tts_hostview *view, struct tts_hostchecks *out)
{
    struct number_list unknown = {0};
    for (size_t i = 0; i < view->chip_count; i++)
        if (!view->chips[i].preset)
            list_number(&unknown, view->chips[i].node);
    end_list(&unknown);
    if (view->chips_errno != 0) {
        say_unlisted(add_check(out, "chips", TTS_SEVERITY_ERROR), view->chips_errno, "",
                     class_dir);
        return;
    }
    if (view->chip_count == 0) {
        struct tts_hostcheck *check = add_check(out, "chips", TTS_SEVERITY_ERROR);
        say_answer(check, "the driver lists no chip");
        say_action(check, "check with 'lspci -d 1e52:' that the board is present");
        return;
    }
    struct tts_hostcheck *check =
        add_check(out, "chips", unknown.count > 0 ? TTS_SEVERITY_NOTE : TTS_SEVERITY_NONE);
    if (unknown.count > 0)
        say_answer(check,
                   "%zu chip%s; the capacity of chip%s %s is unknown, because ttscope does not "
                   "know this card",
                   view->chip_count, plural_of(view->chip_count), plural_of(unknown.count),
                   unknown.text);
    else
        say_answer(check, "%zu chip%s", view->chip_count, plural_of(view->chip_count));
}

static void check_nodes(const struct tts_hostview *view, struct tts_hostchecks *out)
{
    struct number_list closed = {0};
    for (size_t i = 0; i < view->node_count; i++)
        if (!view->nodes[i].is_usable)
            list_number(&closed, view->nodes[i].node);
    end_list(&closed);
    if (!view->nodes_listed || view->node_count == 0) {
        struct tts_hostcheck *check = add_check(out, "nodes", TTS_SEVERITY_ERROR);
        say_answer(check, view->nodes_listed ? "/dev/tenstorrent has no device node"
                                             : "there is no directory /dev/tenstorrent");
        say_action(check, "%s",
                   view->driver_loaded
                       ? "in a container, start the container with '--device /dev/tenstorrent'"
                       : "the nodes appear when the driver is loaded");
        return;
    }
    if (closed.count == 0) {
        say_answer(add_check(out, "nodes", TTS_SEVERITY_NONE),
                   "%zu device node%s, which this user may open", view->node_count,
                   plural_of(view->node_count));
        return;
    }
    struct tts_hostcheck *check = add_check(out, "nodes", TTS_SEVERITY_WARNING);
    say_answer(check, "this user may not open node%s %s", plural_of(closed.count), closed.text);
    say_action(check, "programs of this user cannot use these chips: install the udev rule of "
                      "tt-kmd, or check the permissions with 'ls -l /dev/tenstorrent'");
}

/* ---- processes ---- */

/* Appends a process to a text such as "python3 (4242), vllm (4250)". Returns false if the text
 * has no room for it. */
static bool name_holder(const struct tts_hostview *view, uint32_t pid, char *text, size_t size)
{
    const struct tts_seenprocess *process = tts_hostview_process(view, pid);
    const char *name = process && process->comm[0] ? process->comm : "process";
    size_t len = strlen(text);
    char number[16] = "hidden";
    if (pid > 0)
        snprintf(number, sizeof number, "%" PRIu32, pid);
    int need = snprintf(text + len, size - len, "%s%s (%s)", len > 0 ? ", " : "", name, number);
    if (need > 0 && (size_t)need < size - len)
        return true;
    text[len] = '\0';
    return false;
}

/* Names the processes that have a chip open, each once. */
static void name_holders(const struct tts_hostview *view, char *text, size_t size)
{
    uint32_t named[LIST_SHOWN];
    size_t count = 0;
    for (size_t i = 0; i < view->chip_count; i++) {
        const struct tts_seenchip *chip = &view->chips[i];
        for (size_t k = 0; k < chip->holder_count && k < TTS_HOSTVIEW_HOLDERS_MAX; k++) {
            bool is_named = chip->holders[k] == view->own_pid;
            for (size_t n = 0; n < count; n++)
                is_named |= named[n] == chip->holders[k];
            if (is_named || count == LIST_SHOWN)
                continue;
            if (!name_holder(view, chip->holders[k], text, size))
                return;
            named[count++] = chip->holders[k];
        }
    }
}

static void check_holders(const struct tts_hostview *view, struct tts_hostchecks *out)
{
    struct number_list busy = {0}, unlisted = {0};
    for (size_t i = 0; i < view->chip_count; i++) {
        const struct tts_seenchip *chip = &view->chips[i];
        if (!chip->holders_known)
            list_number(&unlisted, chip->node);
        else if (chip->holder_count > 0)
            list_number(&busy, chip->node);
    }
    end_list(&busy);
    end_list(&unlisted);
    if (unlisted.count > 0) {
        struct tts_hostcheck *check = add_check(out, "holders", TTS_SEVERITY_WARNING);
        say_answer(check, "the driver does not report which processes have chip%s %s open",
                   plural_of(unlisted.count), unlisted.text);
        say_action(check,
                   "install tt-kmd 2.5 or later: without this list, ttscope guesses the owner "
                   "of memory by the name of the process, and some owners stay unknown");
    } else if (busy.count > 0) {
        char names[LIST_MAX] = "";
        struct tts_hostcheck *check = add_check(out, "holders", TTS_SEVERITY_NONE);
        name_holders(view, names, sizeof names);
        say_answer(check, "chip%s %s %s in use: %s", plural_of(busy.count), busy.text,
                   busy.count == 1 ? "is" : "are", names);
    } else {
        say_answer(add_check(out, "holders", TTS_SEVERITY_NONE), "no process has a chip open");
    }
}

/* A lock whose owner is gone shows a run that crashed. The number of an owner in another pid
 * namespace says nothing here, so only hosts without such holders are judged. */
static void check_locks(const struct tts_hostview *view, struct tts_hostchecks *out)
{
    struct number_list dead = {0};
    for (size_t i = 0; i < view->chip_count; i++) {
        const struct tts_seenchip *chip = &view->chips[i];
        if (chip->lock_known && chip->lock_pid > 0 && chip->holders_known &&
            chip->holder_count == 0)
            list_number(&dead, chip->node);
    }
    end_list(&dead);
    if (dead.count == 0)
        return;
    struct tts_hostcheck *check = add_check(out, "locks", TTS_SEVERITY_NOTE);
    say_answer(check, "a lock of chip%s %s is left from a run that crashed",
               plural_of(dead.count), dead.text);
    say_action(check, "do nothing: the next program takes over the lock");
}

static void check_namespaces(const struct tts_hostview *view, struct tts_hostchecks *out)
{
    size_t hidden = 0, nested = 0;
    for (size_t i = 0; i < view->chip_count; i++)
        for (size_t j = 0; j < view->chips[i].holder_count && j < TTS_HOSTVIEW_HOLDERS_MAX; j++)
            hidden += view->chips[i].holders[j] == 0;
    for (size_t i = 0; i < view->process_count; i++)
        nested += view->processes[i].pid_levels > 1;
    if (hidden > 0) {
        struct tts_hostcheck *check = add_check(out, "namespaces", TTS_SEVERITY_WARNING);
        say_answer(check, "a process outside this container has the chip open; ttscope cannot "
                          "see this process from inside the container");
        say_action(check, "run ttscope on the host");
    } else if (nested > 0) {
        say_answer(add_check(out, "namespaces", TTS_SEVERITY_NONE),
                   "%zu process%s in containers: ttscope shows the pid on the host and the pid "
                   "in the container",
                   nested, nested == 1 ? " runs" : "es run");
    }
}

/* ---- sources ---- */

/* Returns why the first region that cannot be read is so. */
static const char *unreadable_reason(const struct tts_liveframe *frame)
{
    for (size_t i = 0; i < frame->device_count; i++)
        if (frame->devices[i].state == TTS_LIVE_UNREADABLE)
            return frame->devices[i].reason;
    return "another region of the same device is readable";
}

static void check_regions(const struct tts_hostview *view, const struct tts_liveframe *frame,
                          struct tts_hostchecks *out)
{
    size_t readable = 0, phantom = 0;
    for (size_t i = 0; i < view->region_count; i++)
        readable += view->regions[i].state == TTS_SEENREGION_READ;
    for (size_t i = 0; i < frame->device_count; i++)
        phantom += frame->devices[i].layout && frame->devices[i].caveats & TTS_CAVEAT_LEFT_OVER;
    size_t bad = view->region_count - readable;
    bool is_bad = bad > 0 || phantom > 0 || is_shm_unlisted(view);
    struct tts_hostcheck *check = add_check(out, "regions",
                                            is_bad         ? TTS_SEVERITY_WARNING
                                            : readable > 0 ? TTS_SEVERITY_NONE
                                                           : TTS_SEVERITY_NOTE);
    check->sees = "bytes of each device and process in DRAM, L1, L1_SMALL, TRACE and circular "
                  "buffers";
    check->sees_not =
        "free space, the largest free block, single buffers, padding, and (tt-metal "
        "of 2026) allocations of threads other than the first";
    if (is_shm_unlisted(view)) {
        say_unlisted(check, view->regions_errno, "", "/dev/shm");
    } else if (view->region_count == 0) {
        say_answer(check, "no memory region in /dev/shm");
        say_action(check, "start a program that uses tt-metal of April 2026 or later; "
                          "TT_METAL_SHM_TRACKING_DISABLED must not be 1");
    } else if (bad > 0) {
        say_answer(check, "%zu of %zu memory regions in /dev/shm cannot be read: %s", bad,
                   view->region_count, unreadable_reason(frame));
        say_action(check, "see each device with 'ttscope top --once'");
    } else if (phantom > 0) {
        say_answer(check,
                   "%zu memory region%s in /dev/shm; %zu of them %s bytes of processes that "
                   "have ended",
                   readable, plural_of(readable), phantom, phantom == 1 ? "has" : "have");
        say_action(check, "remove these bytes with 'ttscope clean'");
    } else {
        say_answer(check, "%zu memory region%s in /dev/shm", readable, plural_of(readable));
    }
}

static void check_logs(const struct tts_hostview *view, struct tts_hostchecks *out)
{
    struct tts_hostcheck *check = add_check(
        out, "buffer-logs", view->buffers_count > 0 ? TTS_SEVERITY_NONE : TTS_SEVERITY_NOTE);
    check->sees = "every buffer of a process: pool, size and address, on all threads";
    check->sees_not = "circular buffers, and the device if a process has several meshes";
    if (view->buffers_count > 0) {
        say_answer(check, "%zu process%s the buffer log of the runtime", view->buffers_count,
                   view->buffers_count == 1 ? " writes" : "es write");
        return;
    }
    say_answer(check, "no process writes the buffer log of the runtime");
    say_action(check, "for each buffer and exact numbers, start the program with "
                      "TT_METAL_INSPECTOR_LOG_MESH_BUFFERS=1");
}

/* The programs that publish, by what is known about them. */
struct program_count {
    size_t live, dead, hidden, unreadable;
    const struct tts_seenclient *first_unreadable;
};

static struct program_count count_programs(const struct tts_hostview *view)
{
    struct program_count count = {0};
    for (size_t i = 0; i < view->client_count; i++) {
        const struct tts_seenclient *client = &view->clients[i];
        bool is_dead = !client->is_alive && client->is_judged;
        if (is_dead) {
            count.dead++;
        } else if (client->state != TTS_SEENREGION_READ) {
            count.unreadable++;
            count.first_unreadable = count.first_unreadable ? count.first_unreadable : client;
        } else if (!client->has_ended && !client->is_orphan) {
            count.live += client->is_alive;
            count.hidden += !client->is_alive;
        }
    }
    return count;
}

static void say_unreadable_program(struct tts_hostcheck *check,
                                   const struct program_count *count)
{
    const struct tts_seenclient *first = count->first_unreadable;
    bool is_denied = first->state == TTS_SEENREGION_NO_ACCESS;
    say_answer(check, "%zu program%s; the region%s of %zu more cannot be read", count->live,
               count->live == 1 ? " publishes its memory" : "s publish their memory",
               plural_of(count->unreadable), count->unreadable);
    if (is_denied)
        say_action(check,
                   "'%s' belongs to user %" PRIu32 ": run ttscope as this user or as root",
                   first->file, first->owner_uid);
    else
        say_action(check,
                   "'%s' is damaged or of another version: use the same version of "
                   "ttscope and of its library",
                   first->file);
}

static void check_programs(const struct tts_hostview *view, struct tts_hostchecks *out)
{
    struct program_count count = count_programs(view);
    bool is_bad = count.dead > 0 || count.unreadable > 0 || is_shm_unlisted(view);
    struct tts_hostcheck *check = add_check(out, "programs",
                                            is_bad           ? TTS_SEVERITY_WARNING
                                            : count.live > 0 ? TTS_SEVERITY_NONE
                                                             : TTS_SEVERITY_NOTE);
    check->sees =
        "every buffer, each event, trace phases, circular buffers, and free space and "
        "the largest free block if the allocator reports them";
    check->sees_not = "programs that are not linked with libttscope";
    if (count.dead > 0) {
        say_answer(check, "%zu program%s; %zu region%s left of programs that were killed",
                   count.live,
                   count.live == 1 ? " publishes its memory" : "s publish their memory",
                   count.dead, count.dead == 1 ? " is" : "s are");
        say_action(check, "remove %s with 'ttscope clean'",
                   count.dead == 1 ? "this region" : "these regions");
    } else if (count.unreadable > 0) {
        say_unreadable_program(check, &count);
    } else if (count.live + count.hidden > 0) {
        say_answer(check, "%zu program%s", count.live + count.hidden,
                   count.live + count.hidden == 1 ? " publishes its memory"
                                                  : "s publish their memory");
        if (count.hidden > 0)
            say_action(
                check,
                "%zu of these programs %s in another pid namespace: run ttscope on the host",
                count.hidden, count.hidden == 1 ? "is" : "are");
    } else if (is_shm_unlisted(view)) {
        say_unlisted(check, view->regions_errno, "", "/dev/shm");
    } else {
        say_answer(check, "no program publishes its memory");
        say_action(check,
                   "start a program that is linked with libttscope, or that uses its C++ "
                   "or Python binding, with TTSCOPE=1");
    }
}

static void count_seen_devices(const struct tts_liveframe *frame, struct tts_hostchecks *out)
{
    for (size_t i = 0; i < frame->device_count; i++) {
        const struct tts_livedevice *device = &frame->devices[i];
        if (device->source == TTS_LIVESOURCE_NONE)
            continue;
        out->seen_devices++;
        out->is_used |= device->state == TTS_LIVE_LIVE;
        out->has_left_over |= (device->caveats & TTS_CAVEAT_LEFT_OVER) != 0;
    }
    out->is_used |= frame->stray_count > 0;
    out->has_source = out->seen_devices > 0 || frame->stray_count > 0;
}

void tts_hostcheck_all(const struct tts_hostview *view, const struct tts_liveframe *frame,
                       struct tts_hostchecks *out)
{
    *out = (struct tts_hostchecks){0};
    check_driver(view, out);
    check_nodes(view, out);
    if (view->driver_loaded)
        check_chips(view, out);
    if (view->chip_count > 0)
        check_holders(view, out);
    check_locks(view, out);
    check_namespaces(view, out);
    check_regions(view, frame, out);
    check_logs(view, out);
    check_programs(view, out);
    out->has_device = view->chip_count > 0 || view->node_count > 0 || view->region_count > 0;
    count_seen_devices(frame, out);
}

enum tts_severity tts_hostcheck_worst(const struct tts_hostchecks *checks)
{
    enum tts_severity worst = TTS_SEVERITY_NONE;
    for (size_t i = 0; i < checks->count; i++)
        worst = checks->checks[i].severity > worst ? checks->checks[i].severity : worst;
    return worst;
}
