#include "analysis/live/livereports.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static struct tts_liveprocess *find_device_process(struct tts_livedevice *device, uint32_t pid)
{
    for (size_t i = 0; i < device->process_count; i++)
        if (device->processes[i].pid_known && device->processes[i].pid == pid)
            return &device->processes[i];
    return NULL;
}

/* Returns the entry of a process on a device. Adds the entry if there is none. */
static struct tts_liveprocess *need_device_process(const struct tts_hostview *view,
                                                   struct tts_liveframe *frame,
                                                   struct tts_livedevice *device, uint32_t pid)
{
    struct tts_liveprocess *process = find_device_process(device, pid);
    const struct tts_seenprocess *seen = tts_hostview_process(view, pid);
    if (process)
        return process;
    process = tts_livedevice_add_process(frame, device);
    if (!process)
        return NULL;
    process->pid_known = true;
    process->pid = pid;
    process->state = seen && !seen->is_alive ? TTS_LIVEPROCESS_DEAD : TTS_LIVEPROCESS_LIVE;
    if (seen && seen->is_alive)
        tts_liveprocess_set_facts(process, seen);
    return process;
}

/* Returns whether another live process is registered on the device. Then the logical id of the
 * device may be that of the other process. */
static bool has_other_process(const struct tts_livedevice *device, uint32_t pid)
{
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        if (process->state != TTS_LIVEPROCESS_DEAD && process->counters.known != 0 &&
            !(process->pid_known && process->pid == pid))
            return true;
    }
    return false;
}

/* Returns the device with the logical id on which the process is registered, and no other
 * process. Logical ids differ from process to process, so the id alone names no device. */
static struct tts_livedevice *find_device_of_process(struct tts_liveframe *frame, uint32_t pid,
                                                     uint32_t logical_id)
{
    for (size_t i = 0; i < frame->device_count; i++) {
        struct tts_livedevice *device = &frame->devices[i];
        if (device->logical_id_known && device->logical_id == logical_id &&
            find_device_process(device, pid) && !has_other_process(device, pid))
            return device;
    }
    return NULL;
}

/* Returns whether the process is registered on the device; if it is registered nowhere, whether
 * it has the device open. */
static bool is_device_of_process(struct tts_livedevice *device, uint32_t pid,
                                 bool is_registered)
{
    const struct tts_liveprocess *process = find_device_process(device, pid);
    return process && (!is_registered || process->counters.known != 0);
}

/* Counts the devices of a process. *is_registered is the argument of is_device_of_process(). */
static size_t count_devices_of_process(struct tts_liveframe *frame, uint32_t pid,
                                       bool *is_registered)
{
    size_t open = 0, registered = 0;
    for (size_t i = 0; i < frame->device_count; i++) {
        open += is_device_of_process(&frame->devices[i], pid, false);
        registered += is_device_of_process(&frame->devices[i], pid, true);
    }
    *is_registered = registered > 0;
    return registered > 0 ? registered : open;
}

/* Returns the only device of the process, or NULL. */
static struct tts_livedevice *find_only_device(struct tts_liveframe *frame, uint32_t pid)
{
    bool is_registered;
    if (count_devices_of_process(frame, pid, &is_registered) != 1)
        return NULL;
    for (size_t i = 0; i < frame->device_count; i++)
        if (is_device_of_process(&frame->devices[i], pid, is_registered))
            return &frame->devices[i];
    return NULL;
}

static void set_log_counters(struct tts_liveprocess *process, const struct tts_seenbuffers *log)
{
    process->source = TTS_LIVESOURCE_INSPECTOR;
    process->buffers_known = true;
    process->buffers = 0;
    for (int i = 0; i < TTS_POOLS; i++) {
        process->counters.bytes[i] = log->bytes[i];
        process->counters.known |= 1u << i;
        process->pool_buffers[i] = log->buffers[i];
        process->buffers += log->buffers[i];
    }
}

/* Adds a process with a log whose devices are not known. */
static enum tts_status add_log_stray(const struct tts_hostview *view,
                                     const struct tts_seenbuffers *log,
                                     struct tts_liveframe *frame)
{
    const struct tts_seenprocess *seen = tts_hostview_process(view, log->pid);
    struct tts_liveprocess *process = tts_liveframe_add_stray(frame);
    if (!process)
        return TTS_E_NOMEM;
    process->pid_known = true;
    process->pid = log->pid;
    if (seen && seen->is_alive)
        tts_liveprocess_set_facts(process, seen);
    else if (seen)
        process->state = TTS_LIVEPROCESS_DEAD;
    if (log->is_complete)
        set_log_counters(process, log);
    else
        process->caveats = TTS_CAVEAT_PART_LOG;
    return TTS_OK;
}

/* Takes a log for one of its devices. Its numbers replace those of the region, which count only
 * one thread, unless the log was read only in part. */
static void place_log(const struct tts_seenbuffers *log, struct tts_livedevice *device)
{
    if (!log->is_complete) {
        device->caveats |= TTS_CAVEAT_PART_LOG;
        return;
    }
    set_log_counters(find_device_process(device, log->pid), log);
    if (log->update_known && (!device->update_known || device->update_ns < log->update_ns)) {
        device->update_known = true;
        device->update_ns = log->update_ns;
    }
}

/* Returns whether a live process other than `pid` is known on the device. */
static bool is_device_shared(const struct tts_livedevice *device, uint32_t pid)
{
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        if (process->state != TTS_LIVEPROCESS_DEAD &&
            !(process->pid_known && process->pid == pid))
            return true;
    }
    return false;
}

/* Returns whether a region contradicts a log: the process is registered alone on a device whose
 * logical id the log does not have. Its entry may be a left-over of an earlier mesh. */
static bool is_log_contradicted(struct tts_liveframe *frame, const struct tts_seenbuffers *log)
{
    for (size_t i = 0; i < frame->device_count; i++) {
        struct tts_livedevice *device = &frame->devices[i];
        size_t k = 0;
        if (!device->logical_id_known || is_device_shared(device, log->pid) ||
            !is_device_of_process(device, log->pid, true))
            continue;
        while (k < log->device_count && log->devices[k] != device->logical_id)
            k++;
        if (k == log->device_count) {
            device->caveats |= TTS_CAVEAT_UNSURE_LOG;
            return true;
        }
    }
    return false;
}

/* Takes the buffer log of one process. If the process uses as many devices as the log has,
 * these are the devices; each has the same numbers. Otherwise, or if the ids contradict, a
 * device is found by its logical id. */
static enum tts_status add_log(const struct tts_hostview *view,
                               const struct tts_seenbuffers *log, struct tts_liveframe *frame)
{
    bool is_registered, is_placed = false;
    if (!log->devices_known)
        return add_log_stray(view, log, frame);
    size_t count = count_devices_of_process(frame, log->pid, &is_registered);
    bool is_by_count =
        count == log->device_count && !(is_registered && is_log_contradicted(frame, log));
    for (size_t i = 0; is_by_count && i < frame->device_count; i++) {
        struct tts_livedevice *device = &frame->devices[i];
        if (!is_device_of_process(device, log->pid, is_registered))
            continue;
        if (count == 1 && !device->logical_id_known) {
            device->logical_id_known = true;
            device->logical_id = log->devices[0];
        }
        place_log(log, device);
        is_placed = true;
    }
    for (size_t i = 0; !is_by_count && i < log->device_count; i++) {
        struct tts_livedevice *device =
            find_device_of_process(frame, log->pid, log->devices[i]);
        if (device)
            place_log(log, device);
        is_placed |= device != NULL;
    }
    return is_placed ? TTS_OK : add_log_stray(view, log, frame);
}

/* The processes of a device, added up, and those with a buffer log. */
struct log_sum {
    struct tts_counters counters;
    uint64_t buffers[TTS_POOLS]; /* of the logs */
    size_t logs;
    bool has_other; /* a process without a log has bytes */
};

static struct log_sum sum_logs(const struct tts_livedevice *device)
{
    struct log_sum sum = {0};
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        bool has_log = process->source == TTS_LIVESOURCE_INSPECTOR;
        tts_counters_add(&sum.counters, &process->counters);
        sum.logs += has_log;
        sum.has_other |= !has_log && tts_counters_sum(&process->counters) > 0;
        for (int pool = 0; has_log && pool < TTS_POOLS; pool++)
            sum.buffers[pool] += process->pool_buffers[pool];
    }
    return sum;
}

/* Notes whether the bytes of the processes differ from the total. The total is from the region,
 * but a process with a log has the numbers of its log. */
static void note_log_difference(struct tts_livedevice *device,
                                const struct tts_counters *counters)
{
    for (int i = 0; i < TTS_POOLS; i++)
        if (device->pools[i].allocated_known &&
            device->pools[i].allocated_bytes !=
                (counters->known >> i & 1 ? counters->bytes[i] : 0))
            device->caveats |= TTS_CAVEAT_SUM_DIFFERS;
}

/* Takes the numbers of buffer logs for a device if every live process on it that has memory has
 * a log. */
static void use_logs(struct tts_livedevice *device)
{
    struct log_sum sum = sum_logs(device);
    if (sum.logs == 0)
        return;
    if (sum.has_other || device->caveats & TTS_CAVEAT_PART_LOG) {
        note_log_difference(device, &sum.counters);
        return;
    }
    bool has_cb = device->cb_known;
    uint64_t cb_bytes = device->cb_bytes;
    tts_livedevice_set_allocated(device, &sum.counters, &(struct tts_counters){0});
    device->cb_known = has_cb;
    device->cb_bytes = cb_bytes;
    device->source = TTS_LIVESOURCE_INSPECTOR;
    device->state = TTS_LIVE_LIVE;
    device->reason[0] = '\0';
    device->caveats &=
        ~(uint32_t)(TTS_CAVEAT_ONE_THREAD | TTS_CAVEAT_SUM_DIFFERS | TTS_CAVEAT_NOT_TRACKED);
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        device->pools[pool].buffers_known = true;
        device->pools[pool].buffers = sum.buffers[pool];
    }
}

/* ---- programs that publish ---- */

/* A device as a program reports it. `client` is NULL if the report comes from no region. */
struct client_report {
    const struct tts_hostview *host;
    const struct tts_seenclient *client;
    const struct tts_seenview *view;
};

/* Returns all devices of the program. */
static const struct tts_seenview *views_of_client(const struct client_report *report,
                                                  size_t *count)
{
    *count = report->client ? report->client->view_count : 1;
    return report->client ? report->host->views + report->client->first_view : report->view;
}

/* Returns whether the view is a mesh. Its buffers are counted on its chips. */
static bool is_view_mesh(const struct tts_seenview *views, size_t count,
                         const struct tts_seenview *view)
{
    for (size_t i = 0; i < count && !view->mesh_known; i++)
        if (views[i].mesh_known && views[i].mesh == view->logical_id)
            return true;
    return false;
}

/* Counts the devices that the program reports, without meshes. *place is the place of the
 * report among them, by logical id. */
static size_t count_client_devices(const struct client_report *report, size_t *place)
{
    size_t count, devices = 0;
    const struct tts_seenview *views = views_of_client(report, &count);
    *place = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_view_mesh(views, count, &views[i]))
            continue;
        devices++;
        *place += views[i].logical_id < report->view->logical_id;
    }
    return devices;
}

/* Returns a device of the process by its place among the devices that the process uses: the
 * program reports as many devices as the process uses. */
static struct tts_livedevice *find_device_by_place(struct tts_liveframe *frame,
                                                   const struct client_report *report)
{
    bool is_registered;
    size_t place;
    uint32_t pid = report->view->pid;
    if (pid == 0 || count_client_devices(report, &place) !=
                        count_devices_of_process(frame, pid, &is_registered))
        return NULL;
    for (size_t i = 0; i < frame->device_count; i++) {
        struct tts_livedevice *device = &frame->devices[i];
        if (is_device_of_process(device, pid, is_registered) && place-- == 0)
            return device;
    }
    return NULL;
}

static struct tts_livedevice *find_device_by_id(struct tts_liveframe *frame,
                                                const struct tts_seenview *view)
{
    for (size_t i = 0; view->unique_id_known && i < frame->device_count; i++)
        if (frame->devices[i].unique_id_known && frame->devices[i].unique_id == view->unique_id)
            return &frame->devices[i];
    return NULL;
}

/* Returns the device that a program reports, or NULL if the program is the first to name it.
 * The devices of all reports of a program are found before one of them is added, because a
 * report that was added makes the process known on its device. */
static struct tts_livedevice *find_report_device(struct tts_liveframe *frame,
                                                 const struct client_report *report)
{
    const struct tts_seenview *view = report->view;
    struct tts_livedevice *device = find_device_by_id(frame, view);
    if (device || view->pid == 0)
        return device;
    device = find_device_of_process(frame, view->pid, view->logical_id);
    if (device)
        return device;
    size_t place, devices = count_client_devices(report, &place);
    device =
        devices == 1 ? find_only_device(frame, view->pid) : find_device_by_place(frame, report);
    if (device && devices > 1)
        device->caveats |= TTS_CAVEAT_BY_OWNER;
    return device;
}

/* Adds a device that a program is the first to name. */
static struct tts_livedevice *need_new_device(struct tts_liveframe *frame,
                                              const struct tts_seenview *view)
{
    struct tts_livedevice *device = find_device_by_id(frame, view);
    if (device)
        return device;
    device = tts_liveframe_add_device(frame);
    if (device)
        device->caveats = TTS_CAVEAT_OF_PROGRAM;
    return device;
}

static enum tts_liveprocess_state state_of_client(const struct tts_seenclient *client)
{
    if (client->is_alive)
        return TTS_LIVEPROCESS_LIVE;
    return client->is_judged ? TTS_LIVEPROCESS_DEAD : TTS_LIVEPROCESS_NOT_VISIBLE;
}

/* Returns the entry that a region of the runtime has for a program whose number here is not
 * known. A dead entry stays dead and a live one stays live, because `clean` relies on it. */
static struct tts_liveprocess *find_inside_process(struct tts_livedevice *device,
                                                   const struct tts_seenclient *client)
{
    enum tts_liveprocess_state state = state_of_client(client);
    for (size_t i = 0; i < device->process_count; i++) {
        struct tts_liveprocess *process = &device->processes[i];
        bool is_fitting = process->state == state ||
                          (process->state == TTS_LIVEPROCESS_NOT_VISIBLE && client->is_alive);
        if (!process->pid_known && process->container_pid_known && is_fitting &&
            process->container_pid == client->pid_inside && !process->view)
            return process;
    }
    return NULL;
}

/* Returns the entry of a program on a device. Adds the entry if there is none. */
static struct tts_liveprocess *need_client_process(struct tts_liveframe *frame,
                                                   struct tts_livedevice *device,
                                                   const struct client_report *report)
{
    const struct tts_seenclient *client = report->client;
    if (!client)
        return need_device_process(report->host, frame, device, report->view->pid);
    struct tts_liveprocess *process =
        client->pid ? find_device_process(device, client->pid) : NULL;
    const struct tts_seenprocess *seen =
        client->pid ? tts_hostview_process(report->host, client->pid) : NULL;
    if (!process)
        process = find_inside_process(device, client);
    if (!process) {
        process = tts_livedevice_add_process(frame, device);
        if (!process)
            return NULL;
        memccpy(process->name, client->comm, '\0', sizeof process->name);
    }
    process->state = state_of_client(client);
    process->reason = TTS_LIVEREASON_NONE;
    if (seen && seen->is_alive) {
        tts_liveprocess_set_facts(process, seen);
    } else {
        process->container_pid_known = true;
        process->container_pid = client->pid_inside;
        if (process->state == TTS_LIVEPROCESS_NOT_VISIBLE)
            process->reason = TTS_LIVEREASON_NAMESPACE;
    }
    return process;
}

static void set_view_shape(struct tts_livedevice *device, const struct tts_seenview *view)
{
    if (!device->logical_id_known) {
        device->logical_id_known = true;
        device->logical_id = view->logical_id;
    }
    if (view->unique_id_known && !device->unique_id_known) {
        device->unique_id_known = true;
        device->unique_id = view->unique_id;
    }
    if (view->arch_known && !device->arch_known) {
        device->arch_known = true;
        device->arch = view->arch;
    }
    if (view->queues_known) {
        device->queues_known = true;
        device->hardware_queues = view->hardware_queues;
    }
    if (view->channels_known) {
        device->channels_known = true;
        device->dram_channels = view->dram_channels;
    }
    if (view->grid_known) {
        device->grid_known = true;
        device->is_shape_nominal = false;
        device->grid_columns = view->grid_columns;
        device->grid_rows = view->grid_rows;
    }
}

/* Returns whether the report of a pool is older than the count of the program: a sampled pool
 * cannot hold less than the program has requested. */
static bool is_report_old(const struct tts_seenview *view, int pool)
{
    return view->period_known && view->counted_known &&
           view->counted_bytes[pool] > view->pools[pool].allocated_bytes;
}

/* Returns whether the report of the allocator gives the bytes of the pool; else the program has
 * counted them, or they are unknown. */
static bool has_pool_report(const struct tts_seenview *view, int pool)
{
    return view->pools[pool].is_known && !is_report_old(view, pool);
}

static void set_counter(struct tts_counters *counters, enum tts_counter counter, uint64_t bytes)
{
    counters->known |= 1u << counter;
    counters->bytes[counter] = bytes;
}

/* Takes the numbers of a program. A number that the program does not have stays as it is. */
static void set_client_counters(struct tts_liveprocess *process,
                                const struct client_report *report)
{
    const struct tts_seenview *view = report->view;
    process->source = TTS_LIVESOURCE_CLIENT;
    process->client = report->client;
    process->view = view;
    if (report->client) {
        process->instance_known = true;
        process->instance =
            (struct tts_liveinstance){report->client->pid_inside, report->client->start_ticks,
                                      report->client->namespace_id};
    }
    process->buffers_known = view->counted_known;
    process->buffers = 0;
    for (int i = 0; i < TTS_POOLS; i++) {
        if (has_pool_report(view, i))
            set_counter(&process->counters, (enum tts_counter)i,
                        view->pools[i].allocated_bytes);
        else if (view->counted_known)
            set_counter(&process->counters, (enum tts_counter)i, view->counted_bytes[i]);
        process->pool_buffers[i] = view->counted_buffers[i];
        process->buffers += view->counted_buffers[i];
    }
    if (view->cb_known)
        set_counter(&process->counters, TTS_COUNTER_CB, view->cb_bytes);
    if (view->kernel_known)
        set_counter(&process->counters, TTS_COUNTER_KERNEL, view->kernel_bytes);
}

static void set_client_update(struct tts_livedevice *device,
                              const struct tts_seenclient *client)
{
    if (!client || client->update_ns == 0 ||
        (device->update_known && device->update_ns >= client->update_ns))
        return;
    device->update_known = true;
    device->update_ns = client->update_ns;
}

/* The place of a device in the frame; NO_PLACE: the program is the first to name the device. */
#define NO_PLACE UINT32_MAX

static uint32_t find_report_place(struct tts_liveframe *frame,
                                  const struct client_report *report)
{
    struct tts_livedevice *device = find_report_device(frame, report);
    return device ? (uint32_t)(device - frame->devices) : NO_PLACE;
}

/* Adds one device of a program at a place of the frame. If the process has a report of the
 * device already, the first report stays. */
static enum tts_status add_report(const struct client_report *report, uint32_t place,
                                  struct tts_liveframe *frame)
{
    struct tts_livedevice *device =
        place == NO_PLACE ? need_new_device(frame, report->view) : &frame->devices[place];
    struct tts_liveprocess *process =
        device ? need_client_process(frame, device, report) : NULL;
    if (!process)
        return TTS_E_NOMEM;
    if (process->view)
        return TTS_OK;
    set_client_counters(process, report);
    set_view_shape(device, report->view);
    set_client_update(device, report->client);
    return TTS_OK;
}

/* Returns whether the numbers of a region count: another region of the process is better, or
 * the region is not in use any more. */
static bool is_client_used(const struct tts_hostview *host, const struct tts_seenclient *client)
{
    if (client->state != TTS_SEENREGION_READ || client->is_orphan ||
        (client->has_ended && (client->is_alive || !client->is_judged)))
        return false;
    for (size_t i = 0; client->by_server && client->pid != 0 && i < host->client_count; i++) {
        const struct tts_seenclient *other = &host->clients[i];
        if (other->pid == client->pid && !other->by_server && !other->has_ended &&
            other->state == TTS_SEENREGION_READ)
            return false;
    }
    return true;
}

/* Puts the devices of a program, without meshes, into the order of the numbers that the program
 * gives them: `order` has their places in `views`. Returns their number. */
static size_t order_client_views(const struct tts_seenview *views, size_t count,
                                 uint32_t order[TTS_HOSTVIEW_MESH_DEVICES_MAX])
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_view_mesh(views, count, &views[i]))
            continue;
        size_t at = used++;
        for (; at > 0 && views[order[at - 1]].logical_id > views[i].logical_id; at--)
            order[at] = order[at - 1];
        order[at] = (uint32_t)i;
    }
    return used;
}

static enum tts_status add_client_reports(const struct tts_hostview *host,
                                          const struct tts_seenclient *client,
                                          struct tts_liveframe *frame)
{
    const struct tts_seenview *views = host->views + client->first_view;
    uint32_t places[TTS_HOSTVIEW_MESH_DEVICES_MAX], order[TTS_HOSTVIEW_MESH_DEVICES_MAX];
    enum tts_status status = TTS_OK;
    if (!is_client_used(host, client))
        return TTS_OK;
    assert(client->view_count <= TTS_HOSTVIEW_MESH_DEVICES_MAX);
    size_t count = order_client_views(views, client->view_count, order);
    for (size_t i = 0; i < count; i++)
        places[i] =
            find_report_place(frame, &(struct client_report){host, client, &views[order[i]]});
    for (size_t i = 0; status == TTS_OK && i < count; i++)
        status = add_report(&(struct client_report){host, client, &views[order[i]]}, places[i],
                            frame);
    return status;
}

static enum tts_status add_all_reports(const struct tts_hostview *host,
                                       struct tts_liveframe *frame)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; status == TTS_OK && i < host->client_count; i++)
        status = add_client_reports(host, &host->clients[i], frame);
    for (size_t i = 0; status == TTS_OK && i < host->view_count; i++) {
        struct client_report report = {host, NULL, &host->views[i]};
        if (host->views[i].client_1 == 0)
            status = add_report(&report, find_report_place(frame, &report), frame);
    }
    return status;
}

/* ---- devices with programs that publish ---- */

/* The processes of a device, added up. */
struct client_sum {
    struct tts_counters all, left; /* `left`: of dead processes */
    size_t clients, live_clients;  /* processes that publish */
    size_t others;                 /* other processes with bytes */
    bool has_untracked, has_live, has_not_visible;
    bool buffers_known[TTS_POOLS];
    uint64_t buffers[TTS_POOLS];
};

static struct client_sum sum_device(const struct tts_livedevice *device)
{
    struct client_sum sum = {.buffers_known = {true, true, true, true}};
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        bool is_dead = process->state == TTS_LIVEPROCESS_DEAD;
        tts_counters_add(&sum.all, &process->counters);
        if (is_dead)
            tts_counters_add(&sum.left, &process->counters);
        sum.clients += process->view != NULL;
        sum.live_clients += process->view && !is_dead;
        sum.others += !process->view && tts_counters_sum(&process->counters) > 0;
        sum.has_untracked |= process->counters.known == 0 && !is_dead;
        sum.has_live |= process->state == TTS_LIVEPROCESS_LIVE;
        sum.has_not_visible |= process->state == TTS_LIVEPROCESS_NOT_VISIBLE;
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            if (process->buffers_known)
                sum.buffers[pool] += process->pool_buffers[pool];
            else if (process->counters.known >> pool & 1 && process->counters.bytes[pool] > 0)
                sum.buffers_known[pool] = false;
        }
    }
    return sum;
}

/* Finds the report of a pool. Several live processes with bytes in the pool have one total if
 * they report the same one. Returns false if no report gives the total; *is_only is true if the
 * pool has one live process, which reports the pool. */
static bool find_pool_total(const struct tts_livedevice *device, int pool,
                            struct tts_seenpool *out, bool *is_only)
{
    bool is_found = false, is_same = true;
    *is_only = true;
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        const struct tts_seenpool *seen = process->view ? &process->view->pools[pool] : NULL;
        if (process->state == TTS_LIVEPROCESS_DEAD)
            continue;
        if (!seen || !seen->is_known) {
            if (process->counters.known >> pool & 1 && process->counters.bytes[pool] > 0)
                *is_only = false;
            continue;
        }
        *is_only = *is_only && !is_found && has_pool_report(process->view, pool);
        is_same =
            is_same &&
            (!is_found || (out->total_bytes == seen->total_bytes && out->banks == seen->banks));
        *out = *seen;
        is_found = true;
    }
    return is_found && is_same;
}

/* Takes what the reports say about the capacity of a pool. The bytes are set already. */
static void set_pool_total(struct tts_livedevice *device, int index)
{
    struct tts_livepool *pool = &device->pools[index];
    struct tts_seenpool seen = {0};
    bool is_only;
    if (!find_pool_total(device, index, &seen, &is_only))
        return;
    uint64_t taken = pool->allocated_bytes - pool->left_over_bytes;
    pool->banks_known = pool->total_known = true;
    pool->total_source = TTS_LIVETOTAL_REPORTED;
    pool->banks = seen.banks;
    pool->total_bytes = seen.total_bytes;
    pool->largest_known = is_only;
    pool->largest_free_bytes = is_only ? seen.largest_free_bytes : 0;
    pool->free_known = is_only || taken <= seen.total_bytes;
    pool->free_is_limit = pool->free_known && !is_only;
    pool->free_bytes = is_only            ? seen.free_bytes
                       : pool->free_known ? seen.total_bytes - taken
                                          : 0;
}

/* Sets what a reader must know about numbers that programs have counted. */
static void set_client_caveats(struct tts_livedevice *device, const struct client_sum *sum)
{
    const uint32_t of_region = TTS_CAVEAT_ONE_THREAD | TTS_CAVEAT_LOGICAL |
                               TTS_CAVEAT_CB_CACHED | TTS_CAVEAT_CLOCK | TTS_CAVEAT_PART_LOG |
                               TTS_CAVEAT_UNSURE_LOG | TTS_CAVEAT_PART_REGION;
    if (sum->others == 0)
        device->caveats &= ~of_region;
    device->caveats &= ~(uint32_t)(TTS_CAVEAT_NOMINAL | TTS_CAVEAT_SUM_DIFFERS |
                                   TTS_CAVEAT_NOT_TRACKED | TTS_CAVEAT_LEFT_OVER);
    for (int i = 0; i < TTS_POOLS; i++)
        if (device->pools[i].total_known &&
            device->pools[i].total_source == TTS_LIVETOTAL_NOMINAL)
            device->caveats |= TTS_CAVEAT_NOMINAL;
    if (sum->has_untracked)
        device->caveats |= TTS_CAVEAT_NOT_TRACKED;
    if (tts_counters_sum(&sum->left) > 0)
        device->caveats |= TTS_CAVEAT_LEFT_OVER;
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_seenview *view = device->processes[i].view;
        const struct tts_seenclient *client = device->processes[i].client;
        if (view && view->period_known) {
            device->caveats |= TTS_CAVEAT_SAMPLED;
            device->period_ns =
                device->period_ns > view->period_ns ? device->period_ns : view->period_ns;
        }
        for (int pool = 0; view && pool < TTS_POOLS; pool++)
            if (!has_pool_report(view, pool) && view->counted_bytes[pool] > 0)
                device->caveats |= TTS_CAVEAT_LOGICAL;
        if (client && client->private_of != 0)
            device->caveats |= TTS_CAVEAT_PRIVATE;
        if (client && client->dropped > 0)
            device->caveats |= TTS_CAVEAT_DROPPED;
        if (client && client->unlisted > 0)
            device->caveats |= TTS_CAVEAT_UNLISTED;
        if (client && client->unknown_frees > 0)
            device->caveats |= TTS_CAVEAT_UNKNOWN_FREES;
    }
}

static void set_client_state(struct tts_livedevice *device, const struct client_sum *sum)
{
    if (sum->live_clients > 0 || sum->has_live || sum->has_not_visible) {
        device->state = TTS_LIVE_LIVE;
        device->reason[0] = '\0';
        return;
    }
    device->state = TTS_LIVE_PHANTOM;
    snprintf(device->reason, sizeof device->reason,
             "the bytes are left over from programs that were killed, and 'ttscope clean' "
             "removes them");
}

/* Adds up the processes of a device on which a program publishes. Each process counts with its
 * best source, so nothing is counted twice. */
static void use_clients(struct tts_livedevice *device)
{
    struct client_sum sum = sum_device(device);
    if (sum.clients == 0)
        return;
    device->caveats &= ~(uint32_t)TTS_CAVEAT_OVER_NOMINAL;
    tts_livedevice_set_allocated(device, &sum.all, &sum.left);
    for (int i = 0; i < TTS_POOLS; i++) {
        set_pool_total(device, i);
        device->pools[i].buffers_known =
            device->pools[i].allocated_known && sum.buffers_known[i];
        device->pools[i].buffers = sum.buffers_known[i] ? sum.buffers[i] : 0;
    }
    if (sum.others == 0)
        device->source = TTS_LIVESOURCE_CLIENT;
    set_client_caveats(device, &sum);
    set_client_state(device, &sum);
}

enum tts_status tts_livereports_add(const struct tts_hostview *view,
                                    struct tts_liveframe *frame)
{
    for (size_t i = 0; i < view->buffers_count; i++)
        if (add_log(view, &view->buffers[i], frame) != TTS_OK)
            return TTS_E_NOMEM;
    for (size_t i = 0; i < frame->device_count; i++)
        use_logs(&frame->devices[i]);
    if (add_all_reports(view, frame) != TTS_OK)
        return TTS_E_NOMEM;
    for (size_t i = 0; view->view_count > 0 && i < frame->device_count; i++)
        use_clients(&frame->devices[i]);
    return TTS_OK;
}
