#include "live_regions.h"

#include "analysis/live/liveowners.h"
#include "churn.h"
#include "sources/live/clientregions.h"
#include "sources/live/clientring.h"
#include "wire/clientwriter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RING = 16384, /* the default of a program */
    RING_ROUNDS = 200,
    PROGRAMS = 64,
    DEVICES = 32,
    BUFFERS = 512, /* of each program */
    READS = 300,
    PATH_BYTES = 200,
};
#define RING_AIM 10e6

static char root[PATH_BYTES], shm[PATH_BYTES + 16];

static void print_region_value(const char *name, double value, const char *unit)
{
    printf("%s\t%.2f\t%s\n", name, value, unit);
}

static int compare_regions_ns(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median_ns(double *times, size_t count)
{
    qsort(times, count, sizeof times[0], compare_regions_ns);
    return times[count / 2];
}

/* Makes an empty root in memory, as /dev/shm is. */
static void make_regions_root(void)
{
    char dev[PATH_BYTES + 8];
    snprintf(root, sizeof root, "/dev/shm/bench_regions-XXXXXX");
    if (!mkdtemp(root))
        churn_die("cannot make a directory in /dev/shm");
    snprintf(dev, sizeof dev, "%s/dev", root);
    snprintf(shm, sizeof shm, "%s/dev/shm", root);
    if (mkdir(dev, 0700) != 0 || mkdir(shm, 0700) != 0)
        churn_die("cannot make a directory in /dev/shm");
}

static void remove_regions_root(void)
{
    char dev[PATH_BYTES + 8];
    snprintf(dev, sizeof dev, "%s/dev", root);
    rmdir(shm);
    rmdir(dev);
    rmdir(root);
}

static void open_program(struct tts_clientwriter *writer, uint32_t pid, uint32_t buffers)
{
    struct tts_error err;
    struct tts_clientwriter_config config = {.directory = shm,
                                             .process = {.pid = pid, .start_ticks = 1},
                                             .writer = TTS_CLIENTREGION_BY_PROCESS,
                                             .device_slots = DEVICES,
                                             .op_slots = 16,
                                             .buffer_slots = buffers,
                                             .event_slots = RING};
    if (tts_clientwriter_open(&config, writer, &err) != TTS_OK)
        churn_die(err.text);
}

/* --- rings ------------------------------------------------------------------------------ */

static void put_ring_events(struct tts_clientwriter *writer)
{
    for (uint64_t i = 0; i < RING; i++)
        tts_clientwriter_put_event(
            writer, &(struct tts_clientregion_event){.id = writer->event_count,
                                                     .size_bytes = 2048,
                                                     .kind = TTS_CLIENTEVENT_ALLOC});
}

/* Reads one ring full of events, and looks at each of them. Returns the time. */
static double follow_ring(struct tts_clientring *ring, struct tts_clientregion_event *events)
{
    uint64_t lost = 0, bytes = 0;
    size_t seen = 0, count = 1;
    double start = churn_now_ns();
    while (count > 0) {
        if (tts_clientring_next(ring, events, RING, &count, &lost, NULL) != TTS_OK)
            churn_die("the ring cannot be read");
        for (size_t i = 0; i < count; i++)
            bytes += events[i].size_bytes;
        seen += count;
    }
    double ns = churn_now_ns() - start;
    if (seen != RING || lost != 0 || bytes != (uint64_t)RING * 2048)
        churn_die("events of the ring are missing");
    return ns;
}

/* Copies the same bytes out of the mapped ring, and looks at each event. */
static double copy_ring(const struct tts_clientwriter *writer,
                        struct tts_clientregion_event *events)
{
    uint64_t bytes = 0;
    double start = churn_now_ns();
    memcpy(events, writer->events, RING * sizeof *events);
    for (size_t i = 0; i < RING; i++)
        bytes += events[i].size_bytes;
    double ns = churn_now_ns() - start;
    if (bytes != (uint64_t)RING * 2048)
        churn_die("the copy is wrong");
    return ns;
}

static void measure_rings(void)
{
    static struct tts_clientregion_event events[RING];
    static double reads[RING_ROUNDS], copies[RING_ROUNDS];
    struct tts_clientwriter writer;
    struct tts_clientring *ring;
    open_program(&writer, 1, 16);
    if (tts_clientring_open(writer.path, NULL, &ring, NULL) != TTS_OK)
        churn_die("the ring cannot be opened");
    for (int i = -1; i < RING_ROUNDS; i++) {
        put_ring_events(&writer);
        double read_ns = follow_ring(ring, events), copy_ns = copy_ring(&writer, events);
        if (i >= 0) {
            reads[i] = read_ns;
            copies[i] = copy_ns;
        }
    }
    double read_rate = RING / median_ns(reads, RING_ROUNDS) * 1e9;
    double copy_rate = RING / median_ns(copies, RING_ROUNDS) * 1e9;
    print_region_value("regions_ring", read_rate / 1e6, "Mevents/s");
    print_region_value("regions_memcpy", copy_rate / 1e6, "Mevents/s");
    print_region_value("regions_ring_share", read_rate / copy_rate, "of memcpy");
    print_region_value("regions_ring_aim", read_rate / RING_AIM, "of 10 Mevents/s");
    tts_clientring_close(ring);
    tts_clientwriter_close(&writer, true, false);
}

/* --- a host ----------------------------------------------------------------------------- */

/* Counts a buffer of a program on one of its devices. */
static void put_program_buffer(struct tts_clientwriter *writer, uint32_t slot)
{
    struct tts_clientregion_device *device = tts_clientwriter_device(writer, slot % DEVICES);
    struct tts_clientregion_pool *pool = &device->pools[slot % 2];
    struct tts_clientregion_buffer buffer = {.stamp = writer->event_count + 1,
                                             .id = slot,
                                             .size_bytes = 4096,
                                             .device = slot % DEVICES,
                                             .pool = (uint8_t)(slot % 2)};
    tts_clientdevice_lock(device);
    device->known |= TTS_CLIENTDEVICE_UNIQUE_ID;
    device->unique_id = 100 + slot % DEVICES;
    pool->allocs++;
    pool->buffers++;
    pool->allocated_bytes += buffer.size_bytes;
    pool->peak_bytes = pool->allocated_bytes;
    tts_clientwriter_put_buffer(writer, slot, &buffer);
    tts_clientdevice_unlock(device);
    tts_clientwriter_put_event(writer, &(struct tts_clientregion_event){.kind = 1});
}

/* Reads all regions once. Marks the programs as live, because they have no processes. */
static double read_programs(struct tts_clientstore *store, struct tts_hostview *view)
{
    double start = churn_now_ns();
    tts_hostview_reset(view);
    if (tts_clientstore_read(store, view, NULL) != TTS_OK)
        churn_die("out of memory");
    double ns = churn_now_ns() - start;
    if (view->client_count != PROGRAMS || view->view_count != PROGRAMS * DEVICES)
        churn_die("programs are missing");
    for (size_t i = 0; i < view->client_count; i++) {
        struct tts_seenclient *client = &view->clients[i];
        client->is_alive = client->is_judged = true;
        client->pid = client->pid_inside;
        for (size_t k = 0; k < client->view_count; k++)
            view->views[client->first_view + k].pid = client->pid;
    }
    return ns;
}

static double judge_programs(const struct tts_hostview *view, struct tts_liveframe *frame)
{
    double start = churn_now_ns();
    if (tts_liveowners_judge(view, frame, NULL) != TTS_OK)
        churn_die("out of memory");
    double ns = churn_now_ns() - start;
    if (frame->device_count != DEVICES || frame->devices[0].process_count != PROGRAMS)
        churn_die("devices are missing");
    return ns;
}

static double own_memory_mib(void)
{
    char line[200];
    double kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %lf", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib / 1024;
}

static void measure_programs(void)
{
    static struct tts_clientwriter writers[PROGRAMS];
    static double same[READS], changed[READS], judged[READS];
    struct tts_clientstore *store;
    struct tts_hostview view;
    struct tts_liveframe frame;
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        open_program(&writers[i], 1000 + i, BUFFERS);
        for (uint32_t slot = 0; slot < BUFFERS - 1; slot++)
            put_program_buffer(&writers[i], slot);
    }
    tts_hostview_init(&view, NULL);
    tts_liveframe_init(&frame, NULL);
    double memory = own_memory_mib();
    if (tts_clientstore_open(root, NULL, &store, NULL) != TTS_OK)
        churn_die("out of memory");
    double first = read_programs(store, &view);
    judge_programs(&view, &frame);
    memory = own_memory_mib() - memory;
    for (int r = 0; r < READS; r++) {
        same[r] = read_programs(store, &view);
        judged[r] = judge_programs(&view, &frame);
        for (uint32_t i = 0; i < PROGRAMS; i++)
            put_program_buffer(&writers[i], BUFFERS - 1);
        changed[r] = read_programs(store, &view);
    }
    print_region_value("regions_first_read", first / 1e3, "us");
    print_region_value("regions_same_read", median_ns(same, READS) / 1e3, "us");
    print_region_value("regions_changed_read", median_ns(changed, READS) / 1e3, "us");
    print_region_value("regions_judge", median_ns(judged, READS) / 1e3, "us");
    print_region_value("regions_memory", memory, "MiB");
    tts_clientstore_close(store);
    tts_liveframe_release(&frame);
    tts_hostview_release(&view);
    for (uint32_t i = 0; i < PROGRAMS; i++)
        tts_clientwriter_close(&writers[i], true, false);
}

void measure_live_regions(void)
{
    make_regions_root();
    measure_rings();
    measure_programs();
    remove_regions_root();
}
