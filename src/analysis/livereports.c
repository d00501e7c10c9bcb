#include "analysis/livereports.h"

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
    set_log_counters(process, log);
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

/* Takes the numbers of buffer logs for a device if every live process on it that has memory has
 * a log. */
static void use_logs(struct tts_livedevice *device)
{
    if (device->caveats & TTS_CAVEAT_PART_LOG)
        return;
    struct tts_counters sum = {0};
    uint64_t buffers[TTS_POOLS] = {0};
    size_t logs = 0;
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        if (process->source == TTS_LIVESOURCE_INSPECTOR) {
            logs++;
            for (int pool = 0; pool < TTS_POOLS; pool++)
                buffers[pool] += process->pool_buffers[pool];
            tts_counters_add(&sum, &process->counters);
        } else if (tts_counters_sum(&process->counters) > 0) {
            return;
        }
    }
    if (logs == 0)
        return;
    bool has_cb = device->cb_known;
    uint64_t cb_bytes = device->cb_bytes;
    tts_livedevice_set_allocated(device, &sum, &(struct tts_counters){0});
    device->cb_known = has_cb;
    device->cb_bytes = cb_bytes;
    device->source = TTS_LIVESOURCE_INSPECTOR;
    device->state = TTS_LIVE_LIVE;
    device->reason[0] = '\0';
    device->caveats &=
        ~(uint32_t)(TTS_CAVEAT_ONE_THREAD | TTS_CAVEAT_SUM_DIFFERS | TTS_CAVEAT_NOT_TRACKED);
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        device->pools[pool].buffers_known = true;
        device->pools[pool].buffers = buffers[pool];
    }
}

/* Returns the device that a process reports, or NULL if the process is the first to name it. */
static struct tts_livedevice *find_view_device(struct tts_liveframe *frame,
                                               const struct tts_seenview *report)
{
    for (size_t i = 0; report->unique_id_known && i < frame->device_count; i++)
        if (frame->devices[i].unique_id_known &&
            frame->devices[i].unique_id == report->unique_id)
            return &frame->devices[i];
    struct tts_livedevice *device =
        find_device_of_process(frame, report->pid, report->logical_id);
    return device ? device : find_only_device(frame, report->pid);
}

static void set_view_shape(struct tts_livedevice *device, const struct tts_seenview *report)
{
    device->logical_id_known = true;
    device->logical_id = report->logical_id;
    if (report->unique_id_known) {
        device->unique_id_known = true;
        device->unique_id = report->unique_id;
    }
    if (report->arch_known) {
        device->arch_known = true;
        device->arch = report->arch;
    }
    if (report->queues_known) {
        device->queues_known = true;
        device->hardware_queues = report->hardware_queues;
    }
    if (report->channels_known) {
        device->channels_known = true;
        device->dram_channels = report->dram_channels;
    }
    if (report->grid_known) {
        device->grid_known = true;
        device->is_shape_nominal = false;
        device->grid_columns = report->grid_columns;
        device->grid_rows = report->grid_rows;
    }
}

static void set_view_pools(struct tts_livedevice *device, struct tts_liveprocess *process,
                           const struct tts_seenview *report)
{
    bool is_whole = true;
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_seenpool *seen = &report->pools[i];
        struct tts_livepool *pool = &device->pools[i];
        is_whole &= seen->is_known;
        if (!seen->is_known)
            continue;
        *pool = (struct tts_livepool){.banks_known = true,
                                      .total_known = true,
                                      .allocated_known = true,
                                      .free_known = true,
                                      .largest_known = true,
                                      .buffers_known = seen->buffers_known,
                                      .total_source = TTS_LIVETOTAL_REPORTED,
                                      .banks = seen->banks,
                                      .total_bytes = seen->total_bytes,
                                      .allocated_bytes = seen->allocated_bytes,
                                      .free_bytes = seen->free_bytes,
                                      .largest_free_bytes = seen->largest_free_bytes,
                                      .buffers = seen->buffers};
        if (process->state == TTS_LIVEPROCESS_DEAD)
            pool->left_over_bytes = pool->allocated_bytes;
        process->counters.known |= 1u << i;
        process->counters.bytes[i] = seen->allocated_bytes;
    }
    if (report->cb_known) {
        device->cb_known = true;
        device->cb_bytes = report->cb_bytes;
    }
    device->caveats = report->period_known ? TTS_CAVEAT_SAMPLED : 0;
    device->period_ns = report->period_ns;
    if (!is_whole)
        device->caveats |= TTS_CAVEAT_NOMINAL;
}

/* Takes the report of a process about its own allocator. The numbers of the report are exact,
 * so they replace the numbers of a region. */
static enum tts_status add_view(const struct tts_hostview *view,
                                const struct tts_seenview *report, struct tts_liveframe *frame)
{
    struct tts_livedevice *device = find_view_device(frame, report);
    device = device ? device : tts_liveframe_add_device(frame);
    if (!device)
        return TTS_E_NOMEM;
    struct tts_liveprocess *process = need_device_process(view, frame, device, report->pid);
    if (!process)
        return TTS_E_NOMEM;
    process->source = device->source = TTS_LIVESOURCE_CLIENT;
    device->state = process->state == TTS_LIVEPROCESS_DEAD ? TTS_LIVE_PHANTOM : TTS_LIVE_LIVE;
    device->reason[0] = '\0';
    set_view_shape(device, report);
    set_view_pools(device, process, report);
    return TTS_OK;
}

enum tts_status tts_livereports_add(const struct tts_hostview *view,
                                    struct tts_liveframe *frame)
{
    for (size_t i = 0; i < view->buffers_count; i++)
        if (add_log(view, &view->buffers[i], frame) != TTS_OK)
            return TTS_E_NOMEM;
    for (size_t i = 0; i < frame->device_count; i++)
        use_logs(&frame->devices[i]);
    for (size_t i = 0; i < view->view_count; i++)
        if (add_view(view, &view->views[i], frame) != TTS_OK)
            return TTS_E_NOMEM;
    return TTS_OK;
}
