/* Tests which numbers of a frame come from programs that publish. */
#include "analysis/live/liveowners.h"
#include "harness/t.h"
#include "torture/heap.h"

#include <stdio.h>
#include <string.h>

enum { ASIC = 0x1234, OUR_NAMESPACE = 7, GIB = 1 << 30 };
#define UPDATE_NS (UINT64_C(100) * 1000000000)

static struct tts_hostview view;
static struct tts_liveframe frame;

static void begin_host(void)
{
    tts_hostview_init(&view, NULL);
    tts_liveframe_init(&frame, NULL);
    view.own_namespace_known = true;
    view.own_namespace_id = OUR_NAMESPACE;
}

static void end_host(void)
{
    tts_liveframe_release(&frame);
    tts_hostview_release(&view);
}

static const struct tts_livedevice *judge(void)
{
    T_EQ(tts_liveowners_judge(&view, &frame, NULL), TTS_OK);
    return frame.devices;
}

static struct tts_seenchip *add_chip(uint32_t node, uint32_t holder)
{
    struct tts_seenchip *chip = tts_hostview_add_chip(&view);
    chip->node = node;
    chip->asic_id_known = chip->holders_known = chip->arch_known = true;
    chip->asic_id = ASIC + node;
    chip->arch = TTS_ARCH_WORMHOLE;
    chip->preset = "n150";
    if (holder)
        chip->holders[chip->holder_count++] = holder;
    return chip;
}

static void add_process(uint32_t pid)
{
    struct tts_seenprocess *process = tts_hostview_add_process(&view);
    process->pid = process->pid_inside = pid;
    process->pid_levels = 1;
    process->namespace_known = process->start_known = process->is_alive = true;
    process->namespace_id = OUR_NAMESPACE;
    process->start_ns = 1;
    strcpy(process->comm, "python3");
}

/* A region of the runtime with one slot. */
static struct tts_seenregion *add_region(uint32_t node, int32_t pid, uint64_t dram_bytes)
{
    struct tts_seenregion *region = tts_hostview_add_region(&view);
    region->id = region->asic_id = ASIC + node;
    region->layout = "v3";
    region->version = 3;
    region->is_unix_time = region->is_id_confirmed = true;
    region->reference_count = 1;
    region->last_update_ns = UPDATE_NS;
    region->total.known = 0x1f;
    region->total.bytes[TTS_COUNTER_DRAM] = dram_bytes;
    region->total.bytes[TTS_COUNTER_CB] = 11;
    region->slot_count = 1;
    region->slots[0].pid = pid;
    region->slots[0].counters = region->total;
    region->slots[0].last_update_ns = UPDATE_NS;
    strcpy(region->slots[0].name, "python3");
    return region;
}

static struct tts_seenclient *add_client(uint32_t pid)
{
    struct tts_seenclient *client = tts_hostview_add_client(&view);
    client->pid = client->pid_inside = pid;
    client->namespace_id = OUR_NAMESPACE;
    client->is_alive = client->is_judged = true;
    client->first_view = view.view_count;
    client->update_ns = UPDATE_NS + 5;
    snprintf(client->file, sizeof client->file, "ttscope_%u_1_7", (unsigned)pid);
    strcpy(client->comm, "publisher");
    return client;
}

/* Adds a device to the last client: so many bytes of DRAM in one buffer. */
static struct tts_seenview *add_view(uint32_t logical_id, uint64_t dram_bytes)
{
    struct tts_seenclient *client = &view.clients[view.client_count - 1];
    struct tts_seenview *seen = tts_hostview_add_view(&view);
    client->view_count++;
    seen->client_1 = view.client_count;
    seen->pid = client->pid;
    seen->logical_id = logical_id;
    seen->counted_known = true;
    seen->counted_bytes[TTS_POOL_DRAM] = dram_bytes;
    seen->counted_buffers[TTS_POOL_DRAM] = 1;
    return seen;
}

static struct tts_seenview *identify(struct tts_seenview *seen, uint32_t node)
{
    seen->unique_id_known = true;
    seen->unique_id = ASIC + node;
    return seen;
}

static void report_dram(struct tts_seenview *seen, uint64_t allocated)
{
    seen->pools[TTS_POOL_DRAM] = (struct tts_seenpool){.is_known = true,
                                                       .banks = 12,
                                                       .total_bytes = GIB,
                                                       .allocated_bytes = allocated,
                                                       .free_bytes = GIB - allocated,
                                                       .largest_free_bytes = 5000};
}

static void kill_client(struct tts_seenclient *client)
{
    client->is_alive = false;
    client->pid = 0;
    for (size_t i = 0; i < client->view_count; i++)
        view.views[client->first_view + i].pid = 0;
}

/* --- devices ---------------------------------------------------------------------------- */

T_TEST(the_devices_of_a_program_are_in_the_order_of_their_own_numbers)
{
    static const uint32_t ids[] = {3, 1, 0, 2};
    begin_host();
    add_process(200);
    add_client(200);
    for (size_t i = 0; i < 4; i++)
        add_view(ids[i], 4096);
    judge();
    T_EQ(frame.device_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        T_EQ(frame.devices[i].logical_id, i);
    end_host();
}

T_TEST(a_program_without_a_board_has_a_device_of_its_own)
{
    begin_host();
    add_process(200);
    add_client(200);
    struct tts_seenview *seen = add_view(3, 4096);
    seen->kernel_known = seen->cb_known = seen->arch_known = true;
    seen->kernel_bytes = 77;
    seen->cb_bytes = 88;
    seen->arch = TTS_ARCH_BLACKHOLE;
    const struct tts_livedevice *device = judge();
    T_EQ(frame.device_count, 1);
    T_TRUE(device->state == TTS_LIVE_LIVE && device->source == TTS_LIVESOURCE_CLIENT);
    T_TRUE(device->logical_id_known && device->logical_id == 3 && !device->node_known);
    T_TRUE(device->arch == TTS_ARCH_BLACKHOLE && device->cb_known && device->cb_bytes == 88);
    T_EQ(device->caveats, TTS_CAVEAT_OF_PROGRAM | TTS_CAVEAT_LOGICAL);
    const struct tts_livepool *pool = &device->pools[TTS_POOL_DRAM];
    T_TRUE(pool->allocated_known && pool->allocated_bytes == 4096 && pool->buffers == 1);
    T_TRUE(!pool->total_known && !pool->free_known && !pool->largest_known);
    T_TRUE(device->pools[TTS_POOL_L1].allocated_known && pool->buffers_known);
    T_EQ(device->process_count, 1);
    const struct tts_liveprocess *process = &device->processes[0];
    T_TRUE(process->pid == 200 && process->state == TTS_LIVEPROCESS_LIVE);
    T_TRUE(process->client == &view.clients[0] && process->view == &view.views[0]);
    T_TRUE(process->source == TTS_LIVESOURCE_CLIENT && process->buffers == 1);
    T_EQ(process->counters.bytes[TTS_COUNTER_KERNEL], 77);
    T_STR_EQ(process->name, "python3");
    T_TRUE(device->update_known && device->update_ns == UPDATE_NS + 5);
    end_host();
}

T_TEST(the_region_of_a_process_replaces_its_entry_in_the_region_of_the_runtime)
{
    begin_host();
    add_chip(0, 200);
    add_process(200);
    add_region(0, 200, 9999);
    add_client(200);
    identify(add_view(0, 4096), 0);
    const struct tts_livedevice *device = judge();
    T_TRUE(frame.device_count == 1 && device->process_count == 1);
    T_EQ(device->pools[TTS_POOL_DRAM].allocated_bytes, 4096);
    T_EQ(device->processes[0].counters.bytes[TTS_COUNTER_DRAM], 4096);
    T_EQ(device->source, TTS_LIVESOURCE_CLIENT);
    T_EQ(device->caveats, TTS_CAVEAT_LOGICAL | TTS_CAVEAT_NOMINAL);
    T_TRUE(device->cb_known && device->cb_bytes == 11); /* only the runtime counts them */
    const struct tts_livepool *pool = &device->pools[TTS_POOL_DRAM];
    T_TRUE(pool->total_known && pool->total_source == TTS_LIVETOTAL_NOMINAL);
    T_TRUE(pool->free_is_limit && pool->free_bytes == pool->total_bytes - 4096);
    /* The allocator reports: exact numbers, with the padding. */
    report_dram(&view.views[0], 8192);
    device = judge();
    pool = &device->pools[TTS_POOL_DRAM];
    T_TRUE(pool->total_source == TTS_LIVETOTAL_REPORTED && pool->total_bytes == GIB);
    T_TRUE(pool->allocated_bytes == 8192 && pool->free_bytes == GIB - 8192);
    T_TRUE(!pool->free_is_limit && pool->largest_known && pool->largest_free_bytes == 5000);
    T_TRUE(pool->banks_known && pool->banks == 12);
    T_EQ(device->caveats, TTS_CAVEAT_NOMINAL); /* L1 */
    /* Another process has the chip open, and nothing counts its buffers. */
    view.chips[0].holders[view.chips[0].holder_count++] = 201;
    add_process(201);
    T_EQ(judge()->caveats, TTS_CAVEAT_NOMINAL | TTS_CAVEAT_NOT_TRACKED);
    end_host();
}

T_TEST(processes_of_one_device_add_up_each_with_its_best_source)
{
    begin_host();
    struct tts_seenchip *chip = add_chip(0, 200);
    chip->holders[chip->holder_count++] = 201;
    add_process(200);
    add_process(201);
    struct tts_seenregion *region = add_region(0, 201, 500);
    region->slots[1] = region->slots[0]; /* 200 is in the region, too */
    region->slots[1].pid = 200;
    region->slots[1].counters.bytes[TTS_COUNTER_DRAM] = 7000;
    region->slot_count = 2;
    region->total.bytes[TTS_COUNTER_DRAM] = 7500;
    add_client(200);
    identify(add_view(0, 4096), 0);
    report_dram(&view.views[0], 5000);
    const struct tts_livedevice *device = judge();
    const struct tts_livepool *pool = &device->pools[TTS_POOL_DRAM];
    T_TRUE(frame.device_count == 1 && device->process_count == 2);
    T_EQ(pool->allocated_bytes, 5500);
    T_EQ(device->source, TTS_LIVESOURCE_REGION);
    T_TRUE(device->caveats & TTS_CAVEAT_ONE_THREAD);
    T_TRUE(!(device->caveats & TTS_CAVEAT_SUM_DIFFERS));
    T_TRUE(pool->free_is_limit && pool->free_bytes == GIB - 5500 && !pool->largest_known);
    T_TRUE(!pool->buffers_known);
    /* The other process publishes, too. Both say the same total. */
    add_client(201);
    identify(add_view(0, 100), 0);
    report_dram(&view.views[1], 200);
    device = judge();
    pool = &device->pools[TTS_POOL_DRAM];
    T_TRUE(device->process_count == 2 && pool->allocated_bytes == 5200);
    T_TRUE(device->source == TTS_LIVESOURCE_CLIENT && pool->total_bytes == GIB);
    T_TRUE(pool->free_is_limit && !pool->largest_known && pool->buffers == 2);
    T_TRUE(!(device->caveats & TTS_CAVEAT_ONE_THREAD));
    /* Two totals: none is the total of the device. The nominal one remains. */
    view.views[1].pools[TTS_POOL_DRAM].total_bytes = GIB / 2;
    device = judge();
    T_EQ(device->pools[TTS_POOL_DRAM].total_source, TTS_LIVETOTAL_NOMINAL);
    end_host();
}

T_TEST(the_log_of_the_runtime_gives_way_to_the_program)
{
    begin_host();
    add_chip(0, 200);
    add_process(200);
    add_region(0, 200, 9999);
    struct tts_seenbuffers *log = tts_hostview_add_buffers(&view);
    log->pid = 200;
    log->devices_known = log->is_complete = true;
    log->device_count = 1;
    log->bytes[TTS_POOL_DRAM] = 777;
    T_EQ(judge()->pools[TTS_POOL_DRAM].allocated_bytes, 777);
    add_client(200);
    identify(add_view(0, 4096), 0);
    const struct tts_livedevice *device = judge();
    T_TRUE(device->process_count == 1 && device->pools[TTS_POOL_DRAM].allocated_bytes == 4096);
    T_EQ(device->processes[0].source, TTS_LIVESOURCE_CLIENT);
    end_host();
}

T_TEST(a_region_of_a_server_is_used_only_without_one_of_the_process)
{
    begin_host();
    add_process(200);
    add_client(200)->by_server = true;
    identify(add_view(0, 111), 0);
    T_EQ(judge()->pools[TTS_POOL_DRAM].allocated_bytes, 111);
    add_client(200);
    identify(add_view(0, 4096), 0);
    for (int order = 0; order < 2; order++) {
        const struct tts_livedevice *device = judge();
        T_TRUE(frame.device_count == 1 && device->process_count == 1);
        T_EQ(device->pools[TTS_POOL_DRAM].allocated_bytes, order ? 111 : 4096);
        view.clients[0].by_server = false;
        view.clients[1].by_server = true;
    }
    /* The server has ended, or the process has ended publishing. */
    view.clients[1].state = TTS_SEENREGION_CORRUPT;
    view.clients[0].by_server = view.clients[0].is_orphan = true;
    judge();
    T_EQ(frame.device_count, 0);
    view.clients[0].is_orphan = false;
    view.clients[0].has_ended = true;
    judge();
    T_EQ(frame.device_count, 0);
    end_host();
}

T_TEST(buffers_of_a_mesh_are_those_of_its_chips)
{
    begin_host();
    add_process(200);
    add_client(200);
    for (uint32_t i = 0; i < 2; i++) {
        struct tts_seenview *chip = identify(add_view(i, 1000 + i), i);
        chip->mesh_known = true;
        chip->mesh = 9;
    }
    add_view(9, 500);
    judge();
    T_EQ(frame.device_count, 2);
    T_EQ(frame.devices[1].pools[TTS_POOL_DRAM].allocated_bytes, 1001);
    view.views[0].mesh_known = view.views[1].mesh_known = false;
    judge();
    T_EQ(frame.device_count, 3); /* nothing says that 9 is a mesh */
    end_host();
}

T_TEST(devices_without_an_id_are_found_by_the_boards_that_the_process_uses)
{
    begin_host();
    add_chip(0, 200);
    add_chip(1, 200);
    add_process(200);
    add_client(200);
    add_view(1, 1001);
    add_view(0, 1000);
    const struct tts_livedevice *devices = judge();
    T_EQ(frame.device_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        T_TRUE(devices[i].node == i && devices[i].process_count == 1);
        T_EQ(devices[i].pools[TTS_POOL_DRAM].allocated_bytes, 1000 + i);
        T_TRUE(devices[i].caveats & TTS_CAVEAT_BY_OWNER);
        T_TRUE(!(devices[i].caveats & TTS_CAVEAT_NOT_TRACKED));
    }
    /* More devices than boards: nobody can say which is which. */
    add_view(2, 1002);
    judge();
    T_EQ(frame.device_count, 5);
    T_TRUE(frame.devices[0].caveats & TTS_CAVEAT_NOT_TRACKED);
    T_TRUE(frame.devices[4].caveats & TTS_CAVEAT_OF_PROGRAM);
    end_host();
}

/* --- programs that are not alive -------------------------------------------------------- */

T_TEST(bytes_of_a_dead_program_are_left_over)
{
    begin_host();
    add_chip(0, 0);
    kill_client(add_client(300));
    identify(add_view(0, 4096), 0)->pid = 0;
    const struct tts_livedevice *device = judge();
    const struct tts_livepool *pool = &device->pools[TTS_POOL_DRAM];
    T_TRUE(device->state == TTS_LIVE_PHANTOM && device->reason[0] != '\0');
    T_TRUE(device->caveats & TTS_CAVEAT_LEFT_OVER);
    T_TRUE(pool->allocated_bytes == 4096 && pool->left_over_bytes == 4096);
    T_EQ(pool->free_bytes, pool->total_bytes);
    const struct tts_liveprocess *process = &device->processes[0];
    T_TRUE(process->state == TTS_LIVEPROCESS_DEAD && !process->pid_known);
    T_TRUE(process->container_pid_known && process->container_pid == 300);
    T_STR_EQ(process->name, "publisher");
    /* A live program beside it: its report stays exact. */
    add_process(200);
    add_client(200);
    report_dram(identify(add_view(0, 100), 0), 128);
    device = judge();
    pool = &device->pools[TTS_POOL_DRAM];
    T_TRUE(device->state == TTS_LIVE_LIVE && device->process_count == 2);
    T_TRUE(pool->allocated_bytes == 4096 + 128 && pool->left_over_bytes == 4096);
    T_TRUE(pool->free_bytes == GIB - 128 && pool->largest_known);
    end_host();
}

T_TEST(a_dead_program_and_its_dead_entry_of_the_runtime_count_once)
{
    begin_host();
    add_chip(0, 0);
    add_region(0, 300, 9999);
    kill_client(add_client(300));
    identify(add_view(0, 4096), 0)->pid = 0;
    const struct tts_livedevice *device = judge();
    T_TRUE(device->process_count == 1 && device->pools[TTS_POOL_DRAM].left_over_bytes == 4096);
    /* An entry that cannot be judged is another one: it must not become dead. */
    view.chips[0].holders[view.chips[0].holder_count++] = 0;
    device = judge();
    T_EQ(device->process_count, 2);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    T_EQ(device->processes[1].state, TTS_LIVEPROCESS_DEAD);
    end_host();
}

T_TEST(a_program_that_nobody_can_judge_is_not_visible)
{
    begin_host();
    struct tts_seenclient *client = add_client(4);
    client->is_judged = false;
    kill_client(client);
    identify(add_view(0, 4096), 0)->pid = 0;
    const struct tts_livedevice *device = judge();
    T_TRUE(device->state == TTS_LIVE_LIVE && !(device->caveats & TTS_CAVEAT_LEFT_OVER));
    T_EQ(device->pools[TTS_POOL_DRAM].left_over_bytes, 0);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    T_EQ(device->processes[0].reason, TTS_LIVEREASON_NAMESPACE);
    T_EQ(device->processes[0].container_pid, 4);
    end_host();
}

/* --- what a reader must know ------------------------------------------------------------ */

T_TEST(events_that_a_program_missed_are_told)
{
    begin_host();
    add_process(200);
    struct tts_seenclient *client = add_client(200);
    add_view(0, 0);
    T_EQ(judge()->caveats, TTS_CAVEAT_OF_PROGRAM);
    client = &view.clients[0];
    client->dropped = 1;
    T_EQ(judge()->caveats, TTS_CAVEAT_OF_PROGRAM | TTS_CAVEAT_DROPPED);
    client->dropped = 0;
    client->unlisted = 1;
    T_EQ(judge()->caveats, TTS_CAVEAT_OF_PROGRAM | TTS_CAVEAT_UNLISTED);
    client->unlisted = 0;
    client->private_of = 300;
    T_EQ(judge()->caveats, TTS_CAVEAT_OF_PROGRAM | TTS_CAVEAT_PRIVATE);
    client->private_of = 0;
    client->unknown_frees = 1;
    T_EQ(judge()->caveats, TTS_CAVEAT_OF_PROGRAM | TTS_CAVEAT_UNKNOWN_FREES);
    view.clients_left_out = 6;
    view.clients[0].views_left_out = 2;
    judge();
    T_EQ(frame.left_out, 2);
    T_EQ(frame.processes_left_out, 6);
    end_host();
}

T_TEST(a_sample_that_is_older_than_the_counts_is_not_used)
{
    begin_host();
    add_process(200);
    add_client(200);
    struct tts_seenview *seen = add_view(0, 4096);
    seen->period_known = true;
    seen->period_ns = 1000;
    report_dram(seen, 4000);
    const struct tts_livedevice *device = judge();
    const struct tts_livepool *pool = &device->pools[TTS_POOL_DRAM];
    T_TRUE(pool->allocated_bytes == 4096 && pool->total_bytes == GIB && pool->free_is_limit);
    T_TRUE(!pool->largest_known && device->caveats & TTS_CAVEAT_LOGICAL);
    T_TRUE(device->caveats & TTS_CAVEAT_SAMPLED && device->period_ns == 1000);
    seen->pools[TTS_POOL_DRAM].allocated_bytes = 4096;
    device = judge();
    pool = &device->pools[TTS_POOL_DRAM];
    T_TRUE(pool->largest_known && !(device->caveats & TTS_CAVEAT_LOGICAL));
    end_host();
}

T_TEST(a_device_that_a_program_reports_twice_counts_once)
{
    begin_host();
    add_process(200);
    add_client(200);
    identify(add_view(0, 100), 0);
    identify(add_view(1, 50), 0);
    const struct tts_livedevice *device = judge();
    T_TRUE(frame.device_count == 1 && device->process_count == 1);
    T_EQ(device->pools[TTS_POOL_DRAM].allocated_bytes, 100);
    end_host();
}

T_TEST(sixty_four_programs_on_thirty_two_devices_add_up)
{
    begin_host();
    for (uint32_t p = 0; p < 64; p++) {
        add_process(1000 + p);
        add_client(1000 + p);
        for (uint32_t d = 0; d < 32; d++)
            identify(add_view(d, 100 * p + d), d);
    }
    tts_hostview_sort_processes(&view);
    judge();
    T_EQ(frame.device_count, 32);
    for (uint32_t d = 0; d < 32; d++) {
        T_EQ(frame.devices[d].process_count, 64);
        T_EQ(frame.devices[d].pools[TTS_POOL_DRAM].allocated_bytes, 100 * 2016 + 64 * d);
        T_EQ(frame.devices[d].processes[0].pid, 1063); /* the largest */
    }
    end_host();
}

T_TEST(without_memory_the_frame_is_empty)
{
    struct heap heap;
    bool has_failed = true;
    begin_host();
    add_chip(0, 200);
    add_process(200);
    add_region(0, 200, 4096);
    add_client(200);
    identify(add_view(0, 100), 0);
    add_view(1, 50);
    heap_init(&heap);
    for (uint64_t n = 1; has_failed; n++) {
        struct tts_liveframe other;
        tts_liveframe_init(&other, &heap.alloc);
        heap.calls = 0;
        heap.fail_at = n;
        enum tts_status status = tts_liveowners_judge(&view, &other, NULL);
        has_failed = heap.calls >= n;
        T_EQ(status, has_failed ? TTS_E_NOMEM : TTS_OK);
        T_EQ(other.device_count, has_failed ? 0 : 2);
        tts_liveframe_release(&other);
        T_TRUE(heap_is_settled(&heap));
    }
    end_host();
}
