#include "serve/serverhost.h"

#include "base/error.h"
#include "base/heap.h"
#include "serve/hostreader.h"

#include <string.h>

enum { HOST_COUNTS_MAX = 1 << 16 };

/* The counters of a process on a device, as they were read last. */
struct hostcount {
    struct tts_serverprocess process;
    uint64_t start_ticks; /* not the time, which changes when the clock is set */
    uint32_t device;
    struct tts_counters counters;
    uint64_t reading; /* number of the last read that had it */
};

struct hostdevice {
    struct tts_serverdevice sums;
    struct tts_serverchip chip;
    uint64_t reading;
};

struct tts_serverhost {
    const struct tts_alloc *alloc;
    struct tts_serverhost_config config;
    struct tts_hostreader *reader;
    const struct tts_hostreading *last; /* NULL: none yet */
    struct hostcount *counts;
    size_t count, capacity;
    size_t next; /* where the search for a process begins: the order rarely changes */
    uint64_t reading, instances;
    struct hostdevice devices[TTS_FRAME_DEVICES_MAX];
};

enum tts_status tts_serverhost_open(const struct tts_serverhost_config *config,
                                    const struct tts_alloc *alloc, struct tts_serverhost **out,
                                    struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_serverhost *host = alloc->alloc(alloc->ctx, sizeof *host);
    if (!host)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the host");
    memset(host, 0, sizeof *host);
    host->alloc = alloc;
    host->config = *config;
    enum tts_status status = tts_hostreader_open(config->root, alloc, &host->reader, err);
    if (status == TTS_OK)
        *out = host;
    else
        alloc->free(alloc->ctx, host, sizeof *host);
    return status;
}

void tts_serverhost_close(struct tts_serverhost *host)
{
    if (!host)
        return;
    tts_hostreader_close(host->reader);
    if (host->counts)
        host->alloc->free(host->alloc->ctx, host->counts,
                          host->capacity * sizeof *host->counts);
    host->alloc->free(host->alloc->ctx, host, sizeof *host);
}

/* --- events of counters ----------------------------------------------------------------- */

static void send_host_event(struct tts_serverhost *host, const struct hostcount *count,
                            struct tts_serverevent *event)
{
    event->source = TTS_SERVERSOURCE_COUNTERS;
    event->process = &count->process;
    event->device = count->device;
    event->time_ns = host->last->frame.time_ns;
    if (host->config.sink.event)
        host->config.sink.event(host->config.sink.ctx, event);
}

static bool is_same_process(const struct hostcount *count,
                            const struct tts_liveprocess *process)
{
    return count->process.pid == (process->pid_known ? process->pid : 0) &&
           count->process.pid_inside ==
               (process->container_pid_known ? process->container_pid : process->pid) &&
           count->start_ticks == process->start_ticks;
}

/* Finds the counters of a process on a device. `*known` is any entry of the process. */
static struct hostcount *find_count(struct tts_serverhost *host,
                                    const struct tts_liveprocess *process, uint32_t device,
                                    const struct hostcount **known)
{
    *known = NULL;
    for (size_t i = 0; i < host->count; i++) {
        size_t at = (host->next + i) % host->count;
        struct hostcount *count = &host->counts[at];
        if (!is_same_process(count, process))
            continue;
        *known = count;
        if (count->device != device)
            continue;
        host->next = at + 1;
        return count;
    }
    return NULL;
}

/* Adds a process, or another device of a known process. */
static struct hostcount *add_count(struct tts_serverhost *host,
                                   const struct tts_liveprocess *process, uint32_t device,
                                   const struct hostcount *known)
{
    if (host->count == HOST_COUNTS_MAX)
        return NULL;
    struct hostcount added = {.start_ticks = process->start_ticks, .device = device};
    if (known) {
        added.process = known->process;
    } else {
        added.process = (struct tts_serverprocess){
            .instance = ++host->instances | UINT64_C(1) << 63, /* others count from 1 */
            .pid = process->pid_known ? process->pid : 0,
            .pid_inside = process->container_pid_known ? process->container_pid : process->pid};
        memcpy(added.process.name, process->name, sizeof added.process.name);
    }
    struct hostcount *counts = tts_alloc_grow(host->alloc, host->counts, &host->capacity,
                                              host->count + 1, sizeof *counts);
    if (!counts)
        return NULL;
    host->counts = counts;
    counts[host->count] = added;
    if (!known)
        send_host_event(host, &counts[host->count],
                        &(struct tts_serverevent){.kind = TTS_SERVEREVENT_BEGIN});
    return &counts[host->count++];
}

/* Sends the change of one counter. */
static void compare_counter(struct tts_serverhost *host, const struct hostcount *count,
                            enum tts_counter counter, uint64_t now_bytes)
{
    static const enum tts_serverevent_kind kinds[TTS_COUNTERS][2] = {
        [TTS_COUNTER_DRAM] = {TTS_SERVEREVENT_FREE, TTS_SERVEREVENT_ALLOC},
        [TTS_COUNTER_L1] = {TTS_SERVEREVENT_FREE, TTS_SERVEREVENT_ALLOC},
        [TTS_COUNTER_L1_SMALL] = {TTS_SERVEREVENT_FREE, TTS_SERVEREVENT_ALLOC},
        [TTS_COUNTER_TRACE] = {TTS_SERVEREVENT_FREE, TTS_SERVEREVENT_ALLOC},
        [TTS_COUNTER_CB] = {TTS_SERVEREVENT_CB_FREE, TTS_SERVEREVENT_CB_ALLOC},
        [TTS_COUNTER_KERNEL] = {TTS_SERVEREVENT_KERNEL_UNLOAD, TTS_SERVEREVENT_KERNEL_LOAD},
    };
    uint64_t before_bytes = count->counters.bytes[counter];
    bool has_risen = now_bytes > before_bytes;
    if (now_bytes == before_bytes)
        return;
    send_host_event(
        host, count,
        &(struct tts_serverevent){
            .kind = kinds[counter][has_risen],
            .pool = counter < (int)TTS_POOLS ? (enum tts_pool)counter : TTS_POOL_L1,
            .size_bytes = has_risen ? now_bytes - before_bytes : before_bytes - now_bytes,
            .references = has_risen,
            .live_bytes = now_bytes});
}

static void compare_counters(struct tts_serverhost *host, uint32_t number,
                             const struct tts_liveprocess *process)
{
    const struct hostcount *known;
    struct hostcount *count = find_count(host, process, number, &known);
    if (!count)
        count = add_count(host, process, number, known);
    /* Two devices may have the same number in different programs. */
    if (!count || count->reading == host->reading)
        return;
    for (int i = 0; i < TTS_COUNTERS; i++) {
        bool is_known = process->counters.known >> i & 1;
        if (is_known)
            compare_counter(host, count, (enum tts_counter)i, process->counters.bytes[i]);
        if (is_known)
            count->counters.bytes[i] = process->counters.bytes[i];
    }
    count->counters.known |= process->counters.known;
    count->reading = host->reading;
}

/* Returns whether another device of the same process is still there, or comes later in the
 * array. */
static bool has_other_count(const struct tts_serverhost *host, const struct hostcount *count)
{
    for (size_t i = 0; i < host->count; i++) {
        const struct hostcount *other = &host->counts[i];
        if (other != count && other->process.instance == count->process.instance)
            return true;
    }
    return false;
}

/* Forgets processes that the last read did not have. A process that sends frames now, or
 * publishes, has events of its own. */
static void end_counts(struct tts_serverhost *host)
{
    for (size_t i = host->count; i-- > 0;) {
        struct hostcount ended = host->counts[i];
        if (ended.reading == host->reading)
            continue;
        const struct tts_seenprocess *seen =
            tts_hostview_process(&host->last->view, ended.process.pid);
        bool is_dead = !has_other_count(host, &host->counts[i]) && !(seen && seen->is_alive);
        host->counts[i] = host->counts[--host->count];
        if (is_dead)
            send_host_event(
                host, &ended,
                &(struct tts_serverevent){.kind = TTS_SERVEREVENT_DEATH,
                                          .size_bytes = tts_counters_sum(&ended.counters)});
    }
}

/* --- sums ------------------------------------------------------------------------------- */

static void add_process_sums(struct hostdevice *place, const struct tts_liveprocess *process)
{
    const uint64_t *bytes = process->counters.bytes;
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        if (process->counters.known >> pool & 1)
            place->sums.bytes[pool] += bytes[pool];
        if (process->buffers_known)
            place->sums.buffers[pool] += process->pool_buffers[pool];
    }
    if (process->counters.known >> TTS_COUNTER_CB & 1)
        place->sums.cb_bytes += bytes[TTS_COUNTER_CB];
    if (process->counters.known >> TTS_COUNTER_KERNEL & 1)
        place->sums.kernel_bytes += bytes[TTS_COUNTER_KERNEL];
}

/* Looks up the board of a device in the catalogue. */
static void fill_server_chip(const struct tts_hostview *view,
                             const struct tts_livedevice *device, struct tts_serverchip *chip)
{
    struct tts_chip preset;
    for (size_t i = 0; device->node_known && i < view->chip_count; i++) {
        const struct tts_seenchip *seen = &view->chips[i];
        if (seen->node != device->node || !seen->preset ||
            tts_chip_preset(seen->preset, &preset, NULL) != TTS_OK)
            continue;
        *chip = (struct tts_serverchip){
            .is_known = true,
            .dram_channels = (uint32_t)preset.fact[TTS_FACT_DRAM_BANKS].value,
            .dram_channel_bytes = preset.fact[TTS_FACT_DRAM_BANK_SIZE].value,
            .l1_core_bytes = preset.fact[TTS_FACT_L1_SIZE].value};
        return;
    }
}

static struct hostdevice *begin_device(struct tts_serverhost *host,
                                       const struct tts_livedevice *device, uint32_t number)
{
    struct hostdevice *place = &host->devices[number];
    if (place->reading != host->reading) {
        struct tts_serverchip chip = place->chip;
        *place = (struct hostdevice){.reading = host->reading, .chip = chip};
        place->sums.device = number;
        place->sums.is_of_program = device->caveats & TTS_CAVEAT_OF_PROGRAM;
        place->sums.is_remote = !device->node_known && !place->sums.is_of_program;
    }
    const struct tts_livepool *dram = &device->pools[TTS_POOL_DRAM],
                              *l1 = &device->pools[TTS_POOL_L1];
    if (dram->total_known && l1->total_known) {
        place->sums.capacity_known = true;
        place->sums.dram_total_bytes = dram->total_bytes;
        place->sums.l1_total_bytes = l1->total_bytes;
    }
    if (device->arch_known) {
        place->sums.arch_known = true;
        place->sums.arch = device->arch;
    }
    if (!place->chip.is_known)
        fill_server_chip(&host->last->view, device, &place->chip);
    return place;
}

/* Returns whether a process counts: it is alive, and the registry does not count its frames. */
static bool counts_host_process(const struct tts_serverhost *host,
                                const struct tts_liveprocess *process)
{
    bool is_ours = process->client && process->client->by_server;
    bool is_sender = process->pid_known && host->config.is_sender &&
                     host->config.is_sender(host->config.ctx, process->pid);
    return !is_ours && !is_sender && process->state != TTS_LIVEPROCESS_DEAD;
}

/* Adds up the processes of a device, or sends the changes of their counters. */
static void take_host_device(struct tts_serverhost *host, const struct tts_livedevice *device,
                             bool is_adding)
{
    uint32_t number = device->logical_id_known ? device->logical_id : device->index;
    if (number >= TTS_FRAME_DEVICES_MAX)
        return;
    struct hostdevice *place = is_adding ? begin_device(host, device, number) : NULL;
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        bool has_events = process->source == TTS_LIVESOURCE_REGION ||
                          process->source == TTS_LIVESOURCE_INSPECTOR;
        if (!counts_host_process(host, process))
            continue;
        if (place)
            add_process_sums(place, process);
        else if (has_events)
            compare_counters(host, number, process);
    }
}

static void take_reading(struct tts_serverhost *host)
{
    const struct tts_liveframe *frame = &host->last->frame;
    host->reading++;
    /* The sums come first: an event has the sum of all processes. */
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < frame->device_count; i++)
            take_host_device(host, &frame->devices[i], turn == 0);
    end_counts(host);
}

bool tts_serverhost_begin(struct tts_serverhost *host)
{
    return tts_hostreader_begin(host->reader);
}

bool tts_serverhost_is_busy(const struct tts_serverhost *host)
{
    return tts_hostreader_is_busy(host->reader);
}

int tts_serverhost_fd(const struct tts_serverhost *host)
{
    return tts_hostreader_fd(host->reader);
}

bool tts_serverhost_take(struct tts_serverhost *host, uint64_t wait_ns)
{
    const struct tts_hostreading *reading = tts_hostreader_take(host->reader, wait_ns);
    if (!reading)
        return false;
    host->last = reading;
    take_reading(host);
    return true;
}

const struct tts_hostview *tts_serverhost_view(const struct tts_serverhost *host)
{
    return host->last ? &host->last->view : NULL;
}

bool tts_serverhost_has(const struct tts_serverhost *host, uint32_t device)
{
    return host->reading > 0 && host->devices[device].reading == host->reading;
}

const struct tts_serverdevice *tts_serverhost_device(const struct tts_serverhost *host,
                                                     uint32_t device)
{
    static const struct tts_serverdevice none;
    return tts_serverhost_has(host, device) ? &host->devices[device].sums : &none;
}

const struct tts_serverchip *tts_serverhost_chip(const struct tts_serverhost *host,
                                                 uint32_t device)
{
    return &host->devices[device].chip;
}
