/* Tests the reader of regions of programs, with the real publisher and with damaged files. */
#include "harness/client_rig.h"
#include "harness/publish_rig.h"
#include "sources/live/clientregions.h"
#include "torture/heap.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct tts_clientstore *store;
static struct tts_hostview view;
static struct tts_clientwriter writer;

static void begin_store(const char *name)
{
    struct tts_error err = {0};
    host_new(name);
    client_directory();
    T_EQ(tts_clientstore_open(host_root, NULL, &store, &err), TTS_OK);
    tts_hostview_init(&view, NULL);
}

static void end_store(void)
{
    tts_clientstore_close(store);
    tts_hostview_release(&view);
}

static void look(void)
{
    struct tts_error err = {0};
    tts_hostview_reset(&view);
    T_EQ(tts_clientstore_read(store, &view, &err), TTS_OK);
}

static const struct tts_seenclient *only_client(void)
{
    look();
    T_EQ(view.client_count, 1);
    return &view.clients[0];
}

static enum tts_seenregion_state only_state(void)
{
    return only_client()->state;
}

struct listed {
    size_t count;
    uint64_t bytes;
    struct tts_seenlive last;
};

static void take_listed(void *ctx, const struct tts_seenlive *live)
{
    struct listed *listed = ctx;
    listed->count++;
    listed->bytes += live->size_bytes;
    listed->last = *live;
}

static struct listed listed_of(uint32_t client)
{
    struct listed listed = {0};
    T_EQ(tts_clientstore_buffers(store, client, take_listed, &listed, NULL), TTS_OK);
    return listed;
}

/* --- programs that publish -------------------------------------------------------------- */

T_TEST(counters_views_and_buffers_of_a_tracker_are_read)
{
    begin_store("tracker");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_publish_config config = {
        .directory = client_directory(), .buffers_max = 16, .events_max = 16};
    T_EQ(tts_publish_begin(tracker, &config, NULL), TTS_OK);
    alloc_dram(tracker, 1, 4096);
    alloc_dram(tracker, 2, 5000);
    alloc_l1(tracker, 3, 32);
    free_dram(tracker, 1);
    free_dram(tracker, 99);
    struct tts_publish_report report = {.banks = 12,
                                        .total_bytes = 12000,
                                        .allocated_bytes = 6000,
                                        .free_bytes = 6000,
                                        .largest_free_bytes = 3000};
    struct tts_publish_facts facts = {.unique_id_known = true,
                                      .unique_id = 0xabc,
                                      .arch_known = true,
                                      .arch = TTS_ARCH_BLACKHOLE,
                                      .hardware_queues = 2,
                                      .dram_channels = 8,
                                      .grid_columns = 13,
                                      .grid_rows = 10};
    T_EQ(tts_publish_pool(tracker, 0, TTS_POOL_DRAM, &report, 7, NULL), TTS_OK);
    T_EQ(tts_publish_device(tracker, 0, &facts, NULL), TTS_OK);
    const struct tts_seenclient *client = only_client();
    T_EQ(client->state, TTS_SEENREGION_READ);
    T_TRUE(client->pid_inside == (uint32_t)getpid() && client->events == 5);
    T_TRUE(client->unknown_frees == 1 && client->dropped == 0 && client->unlisted == 0);
    T_TRUE(client->has_table && !client->by_server && !client->is_sampled);
    T_TRUE(client->owner_uid == getuid() && client->update_ns > 0 && !client->has_ended);
    T_TRUE(client->first_view == 0 && client->view_count == 1 && client->views_left_out == 0);
    const struct tts_seenview *seen = &view.views[0];
    T_TRUE(seen->client_1 == 1 && seen->counted_known && seen->logical_id == 0);
    T_TRUE(seen->counted_bytes[TTS_POOL_DRAM] == 5000 && seen->counted_buffers[0] == 1);
    T_TRUE(seen->counted_bytes[TTS_POOL_L1] == 64 * 32 && seen->peak_bytes[0] == 9096);
    T_TRUE(seen->allocs[0] == 2 && seen->frees[0] == 1);
    T_TRUE(seen->unique_id_known && seen->unique_id == 0xabc && seen->period_ns == 7);
    T_TRUE(seen->arch_known && seen->arch == TTS_ARCH_BLACKHOLE && seen->hardware_queues == 2);
    T_TRUE(seen->dram_channels == 8 && seen->grid_columns == 13 && seen->grid_rows == 10);
    const struct tts_seenpool *pool = &seen->pools[TTS_POOL_DRAM];
    T_TRUE(pool->is_known && pool->banks == 12 && pool->total_bytes == 12000);
    T_TRUE(pool->allocated_bytes == 6000 && pool->largest_free_bytes == 3000);
    T_TRUE(!seen->pools[TTS_POOL_L1].is_known && !seen->kernel_known && !seen->cb_known);
    T_TRUE(seen->classes_known && seen->class_buffers[0][12] == 1);
    T_TRUE(seen->class_buffers[0][11] == 0 && seen->class_buffers[TTS_POOL_L1][11] == 1);
    struct listed listed = listed_of(0);
    T_TRUE(listed.count == 2 && listed.bytes == 5000 + 64 * 32);
    T_EQ(tts_clientstore_buffers(store, 1, take_listed, &listed, NULL), TTS_E_NOT_FOUND);
    tts_publish_end(tracker);
    look();
    T_EQ(view.client_count, 0);
    T_EQ(tts_clientstore_buffers(store, 0, take_listed, &listed, NULL), TTS_E_NOT_FOUND);
    tts_tracker_free(tracker);
    end_store();
}

/* Returns what this process has read so far: "rchar: " bytes, "syscr: " calls. */
static uint64_t read_so_far(const char *key)
{
    char text[512] = "";
    int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    T_TRUE(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    return strtoull(strstr(text, key) + 7, NULL, 10);
}

T_TEST(a_change_without_an_event_is_seen_and_an_unchanged_table_is_not_read)
{
    begin_store("unchanged");
    struct tts_clientwriter_config config = client_config(CLIENT_PID);
    config.buffer_slots = 4096;
    client_open(&writer, &config);
    client_alloc(&writer, 0, 0, 4095, 64);
    uint64_t at = read_so_far("rchar: ");
    T_EQ(only_client()->view_count, 1);
    uint64_t first = read_so_far("rchar: ") - at;
    T_TRUE(first > 4096 * 64);
    at = read_so_far("rchar: ");
    look();
    T_TRUE(read_so_far("rchar: ") - at < 10000);
    T_TRUE(view.views[0].class_buffers[0][6] == 1 && view.views[0].counted_bytes[0] == 64);
    at = read_so_far("syscr: ");
    look();
    T_EQ(read_so_far("syscr: ") - at, 2); /* one of them reads the number */
    /* A pool is reported: no event, and the header stays. */
    writer.devices[0].pools[0].total_bytes = writer.devices[0].pools[0].free_bytes = 500;
    writer.devices[0].pools[0].view_ns = 1;
    writer.devices[0].lock += 2;
    at = read_so_far("rchar: ");
    look();
    T_TRUE(read_so_far("rchar: ") - at < 10000);
    T_TRUE(view.views[0].pools[0].is_known && view.views[0].pools[0].free_bytes == 500);
    client_alloc(&writer, 7, 1, 5, 1 << 20);
    look();
    T_EQ(view.view_count, 2);
    T_TRUE(view.views[1].logical_id == 7 && view.views[1].class_buffers[1][20] == 1);
    T_EQ(view.views[0].class_buffers[0][6], 1);
    tts_clientwriter_drop_buffer(&writer, 5);
    tts_clientwriter_put_event(&writer, &(struct tts_clientregion_event){.kind = 2});
    look();
    T_EQ(view.views[1].class_buffers[1][20], 0);
    tts_clientwriter_close(&writer, true, false);
    end_store();
}

T_TEST(buffers_of_a_mesh_count_on_each_of_its_chips)
{
    begin_store("mesh");
    client_make(&writer, CLIENT_PID);
    client_alloc(&writer, 0, 0, 0, 100);
    client_alloc(&writer, 1, 1, 1, 3000);
    client_alloc(&writer, 9, 0, 2, 5000); /* the mesh */
    client_alloc(&writer, 9, 1, 3, 6000);
    for (int i = 0; i < 2; i++) {
        writer.devices[i].known |= TTS_CLIENTDEVICE_MESH;
        writer.devices[i].mesh = 9;
    }
    writer.devices[2].trace_depth = 1;
    writer.devices[2].traces = 4;
    writer.devices[2].cb_bytes = 50;
    writer.devices[2].kernel_bytes = 60;
    writer.devices[2].known |= TTS_CLIENTDEVICE_CB | TTS_CLIENTDEVICE_KERNEL;
    T_EQ(only_client()->view_count, 3);
    T_TRUE(view.views[0].counted_bytes[0] == 5100 && view.views[0].counted_bytes[1] == 6000);
    T_TRUE(view.views[1].counted_bytes[0] == 5000 && view.views[1].counted_bytes[1] == 9000);
    T_TRUE(view.views[2].counted_bytes[0] == 5000 && view.views[2].counted_bytes[1] == 6000);
    T_TRUE(view.views[0].counted_buffers[0] == 2 && view.views[0].allocs[1] == 1);
    T_TRUE(view.views[1].class_buffers[1][12] == 1 && view.views[1].class_buffers[1][11] == 1);
    T_TRUE(view.views[1].trace_depth == 1 && view.views[1].traces == 4);
    T_TRUE(view.views[0].cb_known && view.views[0].cb_bytes == 50);
    T_TRUE(view.views[0].kernel_known && view.views[0].kernel_bytes == 60);
    /* A mesh of itself, and a circle, add nothing. */
    writer.devices[2].known |= TTS_CLIENTDEVICE_MESH;
    writer.devices[2].mesh = 9;
    look();
    T_TRUE(view.views[0].counted_bytes[0] == 100 && view.views[2].counted_bytes[0] == 5000);
    tts_clientwriter_close(&writer, true, false);
    end_store();
}

T_TEST(a_sampler_has_no_counts_of_its_own)
{
    begin_store("sampler");
    client_make(&writer, CLIENT_PID);
    struct tts_clientregion_device *device = tts_clientwriter_device(&writer, 3);
    device->period_ns = 1000;
    device->pools[1].view_ns = 5;
    device->pools[1].total_bytes = device->pools[1].free_bytes = 10;
    T_EQ(only_client()->view_count, 1);
    T_TRUE(!view.views[0].counted_known && !view.views[0].trace_known);
    T_TRUE(view.views[0].pools[1].is_known && view.views[0].period_known);
    client_alloc(&writer, 3, 0, 0, 64);
    look();
    T_TRUE(view.views[0].counted_known && view.views[0].counted_bytes[0] == 64);
    tts_clientwriter_close(&writer, true, false);
    end_store();
}

/* --- files that change ------------------------------------------------------------------ */

T_TEST(a_region_can_go_and_come_back_under_its_name)
{
    begin_store("again");
    client_make(&writer, CLIENT_PID);
    client_alloc(&writer, 0, 0, 0, 100);
    T_EQ(only_state(), TTS_SEENREGION_READ);
    T_EQ(view.views[0].counted_bytes[0], 100);
    struct tts_clientwriter next;
    client_make(&next, CLIENT_PID); /* replaces the file */
    client_alloc(&next, 0, 0, 0, 7);
    T_EQ(only_state(), TTS_SEENREGION_READ);
    T_EQ(view.views[0].counted_bytes[0], 7);
    client_kill(&writer);
    tts_clientwriter_close(&next, true, false);
    look();
    T_EQ(view.client_count, 0);
    client_make(&writer, CLIENT_PID);
    T_EQ(only_client()->view_count, 0);
    T_EQ(truncate(writer.path, 5000), 0);
    T_EQ(only_state(), TTS_SEENREGION_CORRUPT);
    T_EQ(only_client()->view_count, 0);
    T_EQ(truncate(writer.path, 0), 0);
    T_EQ(only_state(), TTS_SEENREGION_EMPTY);
    client_kill(&writer);
    end_store();
}

T_TEST(a_file_that_took_the_name_of_another_is_read)
{
    char path[300];
    begin_store("renamed");
    client_make(&writer, CLIENT_PID);
    client_alloc(&writer, 0, 0, 0, 100);
    T_EQ(only_client()->view_count, 1);
    snprintf(path, sizeof path, "%s/aside", client_directory());
    T_EQ(rename(writer.path, path), 0);
    struct tts_clientwriter next;
    client_make(&next, CLIENT_PID);
    T_EQ(only_client()->view_count, 0);
    tts_clientwriter_close(&next, true, false);
    client_kill(&writer);
    end_store();
}

T_TEST(a_program_that_was_killed_in_the_middle_of_a_change_is_read_if_its_counts_agree)
{
    begin_store("odd");
    client_make(&writer, CLIENT_PID);
    client_alloc(&writer, 0, 0, 0, 100);
    client_alloc(&writer, 1, 0, 1, 200);
    for (int i = 0; i < 2; i++) {
        T_EQ(only_client()->view_count, 2);
        tts_clientdevice_lock(&writer.devices[0]);
        look();
        T_TRUE(view.view_count == 2 && view.views[0].counted_bytes[0] == 100);
        writer.devices[0].pools[0].buffers++;
        T_TRUE(only_client()->view_count == 1 && view.clients[0].views_left_out == 1);
        T_TRUE(view.views[0].logical_id == 1 && view.views[0].class_buffers[0][7] == 1);
        writer.devices[0].pools[0].buffers--;
        tts_clientdevice_unlock(&writer.devices[0]);
    }
    tts_clientwriter_close(&writer, true, false);
    end_store();
}

T_TEST(a_damaged_region_has_no_views)
{
    static const struct {
        size_t off;
        uint32_t value;
        enum tts_seenregion_state state;
    } bad[] = {
        {CLIENT_OFF(version), 2, TTS_SEENREGION_UNKNOWN_VERSION},
        {CLIENT_OFF(state), TTS_CLIENTREGION_MAKING, TTS_SEENREGION_INITIALISING},
        {CLIENT_OFF(magic), 1, TTS_SEENREGION_CORRUPT},
        {CLIENT_OFF(pid), CLIENT_PID + 1, TTS_SEENREGION_CORRUPT},
        {CLIENT_OFF(start_ticks), 1, TTS_SEENREGION_CORRUPT},
        {CLIENT_OFF(pid_namespace), 1, TTS_SEENREGION_CORRUPT},
        {CLIENT_OFF(device_count), 200, TTS_SEENREGION_CORRUPT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        begin_store("damaged");
        client_make(&writer, CLIENT_PID);
        client_alloc(&writer, 0, 0, 0, 100);
        client_poke32(writer.path, bad[i].off, bad[i].value);
        T_EQ(only_state(), bad[i].state);
        T_TRUE(view.view_count == 0 && view.clients[0].pid_inside == CLIENT_PID);
        client_kill(&writer);
        end_store();
    }
}

T_TEST(values_that_no_device_holds_are_unknown)
{
    begin_store("values");
    client_make(&writer, CLIENT_PID);
    client_alloc(&writer, 0, 0, 0, 100);
    struct tts_clientregion_device *device = &writer.devices[0];
    device->cb_bytes = device->kernel_bytes = UINT64_MAX;
    device->known = UINT32_MAX;
    device->arch = 99;
    device->pools[0].view_ns = 1;
    device->pools[0].total_bytes = 10;
    device->pools[0].taken_bytes = 11;
    look();
    T_TRUE(!view.views[0].cb_known && !view.views[0].kernel_known && !view.views[0].arch_known);
    T_TRUE(!view.views[0].pools[0].is_known && view.views[0].counted_known);
    device->pools[0].allocs++;
    look();
    T_TRUE(!view.views[0].counted_known && view.views[0].counted_bytes[0] == 0);
    device->pools[0].buffers++;
    device->pools[0].allocated_bytes = device->pools[0].peak_bytes = UINT64_MAX;
    look();
    T_TRUE(!view.views[0].counted_known);
    writer.buffers[0].pool = 4;
    T_EQ(listed_of(0).count, 0);
    writer.buffers[0].pool = 3;
    T_EQ(listed_of(0).count, 1);
    writer.buffers[0].device = 5;
    T_EQ(listed_of(0).count, 0);
    writer.buffers[0].device = 0;
    writer.buffers[0].size_bytes = UINT64_MAX;
    T_EQ(listed_of(0).count, 0);
    tts_clientwriter_close(&writer, true, false);
    end_store();
}

T_TEST(other_files_are_no_regions)
{
    static const char *const names[] = {
        "ttscope_1_2",
        "ttscope_1_2_3_4",
        "ttscope_01_2_3",
        "ttscope_0_2_3",
        "ttscope__2_3",
        "ttscope_1_2_3x",
        "ttscope_2147483648_2_3",
        "ttscope_-1_2_3",
        "ttscope_1_2_99999999999999999999",
        "tt_device_1_memory",
        "ttscope_x_2_3",
    };
    char path[300];
    begin_store("others");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "dev/shm/%s", names[i]);
        host_put(path, "text");
    }
    host_dir("dev/shm/ttscope_1_2_3");
    T_EQ(mkfifo(host_path("dev/shm/ttscope_2_2_3"), 0600), 0);
    T_EQ(symlink("tt_device_1_memory", host_path("dev/shm/ttscope_3_2_3")), 0);
    look();
    T_EQ(view.client_count, 0);
    host_put("dev/shm/ttscope_4_2_3", "text");
    T_EQ(only_state(), TTS_SEENREGION_CORRUPT);
    if (geteuid() != 0) {
        T_EQ(chmod(host_path("dev/shm/ttscope_4_2_3"), 0), 0);
        T_EQ(only_state(), TTS_SEENREGION_NO_ACCESS);
    }
    end_store();
}

T_TEST(random_bytes_never_break_the_reader)
{
    uint64_t seed = 11;
    begin_store("random");
    for (int i = 0; i < 120; i++) {
        client_make(&writer, CLIENT_PID);
        for (uint32_t k = 0; k < 6; k++)
            client_alloc(&writer, k % 3, (uint8_t)(k % 4), k, 1u << k);
        const uint64_t size = writer.header->file_bytes;
        for (uint64_t k = t_random(&seed) % 20; k > 0; k--) {
            uint64_t off = t_random(&seed) % (k % 2 ? 320 : size - 8);
            client_poke64(writer.path, off, t_random(&seed) >> t_random(&seed) % 64);
        }
        const struct tts_seenclient *client = only_client();
        T_TRUE(client->view_count <= 4 && client->view_count == view.view_count);
        struct listed listed = {0};
        enum tts_status status = tts_clientstore_buffers(store, 0, take_listed, &listed, NULL);
        T_TRUE(status == (client->state == TTS_SEENREGION_READ ? TTS_OK : TTS_E_NOT_FOUND));
        T_TRUE(listed.count <= 16);
        client_kill(&writer);
        if (i % 2)
            unlink(host_path("dev/shm/ttscope_4711_5000_77"));
    }
    end_store();
}

T_TEST(a_region_of_an_older_boot_and_its_writer_are_known)
{
    begin_store("boot");
    struct tts_clientwriter_config config = client_config(CLIENT_PID);
    config.writer = TTS_CLIENTREGION_BY_SERVER;
    config.writer_pid = 17;
    config.writer_start_ticks = 18;
    config.buffer_slots = config.event_slots = 0;
    client_open(&writer, &config);
    T_TRUE(!only_client()->is_boot_old); /* the boot of the host is not known */
    end_store();
    tts_hostview_init(&view, NULL);
    host_dir("proc/sys/kernel/random");
    host_put("proc/sys/kernel/random/boot_id", "00000000-1111-2222-3333-444444444444\n");
    T_EQ(tts_clientstore_open(host_root, NULL, &store, NULL), TTS_OK);
    const struct tts_seenclient *client = only_client();
    T_TRUE(client->is_boot_old && client->by_server && !client->has_table);
    T_TRUE(client->writer_pid_inside == 17 && client->writer_start_ticks == 18);
    T_STR_EQ(client->comm, "python3");
    T_STR_EQ(client->file, "ttscope_4711_5000_77");
    T_TRUE(client->namespace_id == CLIENT_SPACE && client->start_ticks == CLIENT_START);
    T_EQ(listed_of(0).count, 0);
    client_poke32(writer.path, CLIENT_OFF(state), TTS_CLIENTREGION_ENDED);
    T_TRUE(only_client()->has_ended);
    tts_clientwriter_close(&writer, true, false);
    end_store();
}

/* --- a busy writer ---------------------------------------------------------------------- */

struct busy {
    struct tts_clientwriter writer;
    _Atomic bool stops;
};

/* Allocates and frees buffers without a pause. The id of a buffer gives its size. */
T_TEST(regions_of_servers_can_be_left_out)
{
    struct tts_clientwriter served;
    begin_store("served");
    client_make(&writer, CLIENT_PID);
    struct tts_clientwriter_config config = client_config(CLIENT_PID + 1);
    config.writer = TTS_CLIENTREGION_BY_SERVER;
    client_open(&served, &config);
    look();
    T_EQ(view.client_count, 2);
    tts_clientstore_leave_out_served(store);
    look();
    T_TRUE(view.client_count == 1 && view.clients[0].pid_inside == CLIENT_PID);
    tts_clientwriter_close(&served, true, false);
    tts_clientwriter_close(&writer, true, false);
    end_store();
}

static void *write_busily(void *ctx)
{
    struct busy *busy = ctx;
    struct tts_clientwriter *w = &busy->writer;
    struct tts_clientregion_device *device = &w->devices[0];
    for (uint64_t i = 1; !busy->stops; i++) {
        struct tts_clientregion_buffer buffer = {
            .stamp = w->event_count + 1, .id = i, .size_bytes = 64 + i % 1000};
        tts_clientdevice_lock(device);
        tts_clientwriter_drop_buffer(w, i % 16);
        tts_clientwriter_put_buffer(w, i % 16, &buffer);
        device->pools[0].allocs++;
        device->pools[0].buffers++;
        device->pools[0].allocated_bytes += 100;
        device->pools[0].peak_bytes += 100;
        device->pools[0].allocs++;
        device->pools[0].buffers++;
        device->pools[0].allocated_bytes -= 50;
        tts_clientdevice_unlock(device);
        tts_clientwriter_put_event(w, &(struct tts_clientregion_event){.kind = 1});
        if (device->pools[0].allocated_bytes > UINT64_C(1) << 40)
            break;
    }
    return NULL;
}

static void check_busy_slot(void *ctx, const struct tts_seenlive *live)
{
    size_t *count = ctx;
    T_EQ(live->size_bytes, 64 + live->id % 1000);
    ++*count;
}

T_TEST(a_writer_that_never_rests_is_read_with_counts_that_agree)
{
    static struct busy busy;
    struct tts_clientwriter_config config;
    pthread_t thread;
    size_t shown = 0, slots = 0;
    begin_store("busy");
    config = client_config(CLIENT_PID);
    client_open(&busy.writer, &config);
    T_TRUE(tts_clientwriter_device(&busy.writer, 0) != NULL);
    T_EQ(pthread_create(&thread, NULL, write_busily, &busy), 0);
    for (int i = 0; i < 300; i++) {
        T_EQ(only_client()->state, TTS_SEENREGION_READ);
        for (size_t k = 0; k < view.view_count; k++) {
            const struct tts_seenview *seen = &view.views[k];
            T_TRUE(seen->counted_known);
            T_EQ(seen->allocs[0] - seen->frees[0], seen->counted_buffers[0]);
            shown++;
        }
        T_EQ(view.clients[0].views_left_out + view.view_count, 1);
        T_EQ(tts_clientstore_buffers(store, 0, check_busy_slot, &slots, NULL), TTS_OK);
    }
    busy.stops = true;
    T_EQ(pthread_join(thread, NULL), 0);
    T_TRUE(shown > 0 && slots > 0);
    tts_clientwriter_close(&busy.writer, true, false);
    end_store();
}

/* --- limits ----------------------------------------------------------------------------- */

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    T_TRUE(dir != NULL);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* Makes good regions of the first processes, and empty files for the others. */
static void make_regions(uint32_t good, uint32_t count)
{
    char path[100];
    for (uint32_t i = 0; i < count; i++) {
        struct tts_clientwriter_config config = client_config(1000 + i);
        config.device_slots = 1;
        config.op_slots = config.event_slots = 1;
        config.buffer_slots = 2;
        snprintf(path, sizeof path, "dev/shm/ttscope_%u_1_2", 1000 + (unsigned)i);
        if (i >= good) {
            host_put(path, "");
            continue;
        }
        client_open(&writer, &config);
        client_alloc(&writer, 0, 0, 0, 1 + i);
        client_kill(&writer);
    }
}

T_TEST(many_regions_are_read_in_order_with_few_open_files)
{
    enum { GOOD = 140, COUNT = 200 };
    begin_store("many");
    make_regions(GOOD, COUNT);
    size_t before = open_descriptors();
    for (int i = 0; i < 2; i++) {
        look();
        T_TRUE(view.client_count == COUNT && view.clients_left_out == 0);
        T_TRUE(open_descriptors() <= before + 128);
        for (uint32_t k = 0; k < COUNT; k++) {
            T_EQ(view.clients[k].pid_inside, 1000 + k);
            T_EQ(view.clients[k].view_count, k < GOOD);
            if (k < GOOD)
                T_EQ(view.views[view.clients[k].first_view].counted_bytes[0], k + 1);
        }
    }
    T_EQ(listed_of(GOOD - 1).bytes, GOOD);
    T_EQ(listed_of(0).bytes, 1);
    tts_clientstore_close(store);
    T_EQ(open_descriptors(), before);
    tts_hostview_release(&view);
}

T_TEST(regions_beyond_the_limit_are_counted)
{
    begin_store("limit");
    make_regions(0, TTS_CLIENTREGIONS_MAX + 3);
    look();
    T_TRUE(view.client_count == TTS_CLIENTREGIONS_MAX && view.clients_left_out == 3);
    for (uint32_t k = 1; k < view.client_count; k++)
        T_TRUE(view.clients[k - 1].pid_inside < view.clients[k].pid_inside);
    end_store();
}

T_TEST(regions_come_and_go_between_two_that_stay)
{
    begin_store("between");
    struct tts_clientwriter writers[9];
    uint64_t seed = 5;
    bool is_there[9] = {false};
    for (int round = 0; round < 200; round++) {
        uint32_t i = (uint32_t)(t_random(&seed) % 9);
        if (is_there[i]) {
            tts_clientwriter_close(&writers[i], true, false);
        } else {
            client_make(&writers[i], 10 + i);
            client_alloc(&writers[i], 0, 0, 0, 10 + i);
        }
        is_there[i] = !is_there[i];
        look();
        size_t at = 0;
        for (uint32_t k = 0; k < 9; k++) {
            if (!is_there[k])
                continue;
            T_TRUE(at < view.client_count && view.clients[at].pid_inside == 10 + k);
            T_EQ(view.views[at].counted_bytes[0], 10 + k);
            T_EQ(listed_of((uint32_t)at).bytes, 10 + k);
            at++;
        }
        T_EQ(at, view.client_count);
    }
    for (uint32_t i = 0; i < 9; i++)
        if (is_there[i])
            tts_clientwriter_close(&writers[i], true, false);
    end_store();
}

T_TEST(each_allocation_can_fail)
{
    struct heap heap;
    uint64_t calls = 1;
    host_new("torture");
    client_make(&writer, CLIENT_PID);
    client_alloc(&writer, 0, 0, 0, 100);
    client_alloc(&writer, 1, 1, 1, 100);
    size_t before = open_descriptors();
    for (uint64_t fail_at = 0; fail_at <= calls; fail_at++) {
        struct listed listed = {0};
        heap_init(&heap);
        heap.fail_at = fail_at;
        tts_hostview_init(&view, &heap.alloc);
        enum tts_status status = tts_clientstore_open(host_root, &heap.alloc, &store, NULL);
        if (status == TTS_OK) {
            status = tts_clientstore_read(store, &view, NULL);
            T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
            /* The next read has all the memory that it needs. */
            heap.fail_at = 0;
            tts_hostview_reset(&view);
            T_EQ(tts_clientstore_read(store, &view, NULL), TTS_OK);
            T_TRUE(view.client_count == 1 && view.view_count == 2);
            T_EQ(view.views[1].class_buffers[1][6], 1);
            T_EQ(tts_clientstore_buffers(store, 0, take_listed, &listed, NULL), TTS_OK);
            T_EQ(listed.count, 2);
            tts_clientstore_close(store);
        }
        calls = fail_at ? calls : heap.calls;
        tts_hostview_release(&view);
        T_TRUE(heap_is_settled(&heap));
        T_EQ(open_descriptors(), before);
    }
    T_TRUE(calls > 6);
    tts_clientwriter_close(&writer, true, false);
}
