#include "analysis/live/liveowners.h"
#include "harness/t.h"
#include "torture/heap.h"

#include <errno.h>
#include <string.h>

/* A host with one n150 (node 0) and room for processes and regions. Times are seconds. */
enum { OUR_PID = 50, ASIC = 0x1234, SECOND = 1000000000 };
enum { OUR_NAMESPACE = 7, OTHER_NAMESPACE = 8 };

struct host {
    struct tts_hostview view;
    struct tts_liveframe frame;
};

static void init_host(struct host *host)
{
    tts_hostview_init(&host->view, NULL);
    tts_liveframe_init(&host->frame, NULL);
    host->view.time_ns = UINT64_C(1000) * SECOND;
    host->view.own_pid = OUR_PID;
    host->view.own_namespace_known = true;
    host->view.own_namespace_id = OUR_NAMESPACE;
}

static void release_host(struct host *host)
{
    tts_liveframe_release(&host->frame);
    tts_hostview_release(&host->view);
}

static struct tts_seenchip *add_chip(struct host *host, uint32_t node, uint64_t asic)
{
    struct tts_seenchip *chip = tts_hostview_add_chip(&host->view);
    chip->node = node;
    chip->asic_id_known = chip->holders_known = chip->arch_known = true;
    chip->asic_id = asic;
    chip->arch = TTS_ARCH_WORMHOLE;
    chip->preset = "n150";
    return chip;
}

static void add_holder(struct tts_seenchip *chip, uint32_t pid)
{
    chip->holders[chip->holder_count++] = pid;
}

static struct tts_seenprocess *add_process(struct host *host, uint32_t pid, uint64_t start_s)
{
    struct tts_seenprocess *process = tts_hostview_add_process(&host->view);
    process->pid = process->pid_inside = pid;
    process->pid_levels = 1;
    process->namespace_known = process->start_known = process->is_alive = true;
    process->namespace_id = OUR_NAMESPACE;
    process->start_ns = start_s * SECOND;
    strcpy(process->comm, "python3");
    return process;
}

/* A process of a container: `inside` is its number there. */
static struct tts_seenprocess *add_contained(struct host *host, uint32_t pid, uint32_t inside)
{
    struct tts_seenprocess *process = add_process(host, pid, 1);
    process->pid_inside = inside;
    process->pid_levels = 2;
    process->namespace_id = OTHER_NAMESPACE;
    return process;
}

static struct tts_seenregion *add_region(struct host *host, uint64_t id, uint32_t references)
{
    struct tts_seenregion *region = tts_hostview_add_region(&host->view);
    region->id = id;
    region->layout = "v3";
    region->version = 3;
    region->is_unix_time = region->is_id_confirmed = true;
    region->asic_id = id;
    region->reference_count = references;
    region->last_update_ns = UINT64_C(100) * SECOND;
    region->total.known = 0x1f;
    return region;
}

static void add_slot(struct tts_seenregion *region, int32_t pid, uint64_t dram_bytes)
{
    struct tts_seenslot *slot = &region->slots[region->slot_count++];
    slot->pid = pid;
    slot->counters.known = 0x1f;
    slot->counters.bytes[TTS_COUNTER_DRAM] = dram_bytes;
    slot->last_update_ns = UINT64_C(100) * SECOND;
    strcpy(slot->name, "python3");
    region->total.bytes[TTS_COUNTER_DRAM] += dram_bytes;
}

static const struct tts_livedevice *judge(struct host *host)
{
    T_EQ(tts_liveowners_judge(&host->view, &host->frame, NULL), TTS_OK);
    return host->frame.devices;
}

T_TEST(a_holder_that_started_before_the_last_change_owns_the_slot)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 90);
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(host.frame.device_count, 1);
    T_EQ(device->state, TTS_LIVE_LIVE);
    T_EQ(device->source, TTS_LIVESOURCE_REGION);
    T_EQ(device->process_count, 1);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_LIVE);
    T_TRUE(device->processes[0].pid_known && device->processes[0].pid == 200);
    T_TRUE(!device->processes[0].container_pid_known && !device->processes[0].is_name_changed);
    T_EQ(device->processes[0].counters.bytes[TTS_COUNTER_DRAM], 4096);
    T_EQ(device->caveats, TTS_CAVEAT_ONE_THREAD | TTS_CAVEAT_LOGICAL | TTS_CAVEAT_NOMINAL);
    release_host(&host);
}

T_TEST(a_nominal_total_bounds_what_is_free_and_leaves_the_rest_unknown)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    struct tts_seenregion *region = add_region(&host, ASIC, 1);
    add_slot(region, 200, 1000);
    region->total.bytes[TTS_COUNTER_DRAM] = 1000;
    const struct tts_livepool *pools = judge(&host)->pools;
    const struct tts_livepool *dram = &pools[TTS_POOL_DRAM];
    T_TRUE(dram->total_known && dram->total_source == TTS_LIVETOTAL_NOMINAL);
    T_EQ(dram->total_bytes, 12 * UINT64_C(1070773184));
    T_TRUE(dram->free_known && dram->free_is_limit);
    T_EQ(dram->free_bytes, dram->total_bytes - 1000);
    T_TRUE(!dram->largest_known && !dram->buffers_known);
    T_TRUE(!pools[TTS_POOL_L1_SMALL].total_known && !pools[TTS_POOL_TRACE].total_known);
    T_TRUE(pools[TTS_POOL_TRACE].allocated_known && !pools[TTS_POOL_TRACE].free_known);
    host.view.regions[0].total.bytes[TTS_COUNTER_DRAM] = dram->total_bytes + 1;
    const struct tts_livedevice *device = judge(&host);
    T_TRUE(device->caveats & TTS_CAVEAT_OVER_NOMINAL);
    T_TRUE(!device->pools[TTS_POOL_DRAM].free_known);
    release_host(&host);
}

T_TEST(a_region_without_references_is_idle)
{
    struct host host;
    init_host(&host);
    add_chip(&host, 0, ASIC);
    add_region(&host, ASIC, 0);
    T_EQ(judge(&host)->state, TTS_LIVE_IDLE);
    T_EQ(host.frame.devices->pools[TTS_POOL_DRAM].allocated_known, true);
    release_host(&host);
}

T_TEST(a_region_without_holders_is_a_phantom_and_its_processes_are_dead)
{
    struct host host;
    init_host(&host);
    add_chip(&host, 0, ASIC);
    add_process(&host, 200, 1); /* alive, but it does not hold the chip */
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->state, TTS_LIVE_PHANTOM);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_DEAD);
    T_TRUE(device->caveats & TTS_CAVEAT_LEFT_OVER);
    T_TRUE(!device->processes[0].pid_known && device->processes[0].container_pid == 200);
    /* The next program can use the bytes that nobody holds. */
    const struct tts_livepool *dram = &device->pools[TTS_POOL_DRAM];
    T_TRUE(dram->allocated_bytes == 4096 && dram->left_over_bytes == 4096);
    T_TRUE(dram->free_known && dram->free_is_limit && dram->free_bytes == dram->total_bytes);
    release_host(&host);
}

T_TEST(a_dead_slot_stays_dead_beside_a_live_holder)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    struct tts_seenregion *region = add_region(&host, ASIC, 2);
    add_slot(region, 199, 9000);
    add_slot(region, 200, 4096);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->state, TTS_LIVE_LIVE);
    T_EQ(device->process_count, 2);
    T_EQ(device->processes[0].container_pid, 199);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_DEAD);
    T_EQ(device->processes[1].state, TTS_LIVEPROCESS_LIVE);
    T_TRUE(device->caveats & TTS_CAVEAT_LEFT_OVER);
    const struct tts_livepool *dram = &device->pools[TTS_POOL_DRAM];
    T_TRUE(dram->allocated_bytes == 13096 && dram->left_over_bytes == 9000);
    T_EQ(dram->free_bytes, dram->total_bytes - 4096);
    release_host(&host);
}

T_TEST(a_process_that_started_after_the_last_change_reuses_the_number)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 110);
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->process_count, 2);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_DEAD);
    T_EQ(device->processes[1].state, TTS_LIVEPROCESS_LIVE);
    T_EQ(device->processes[1].counters.known, 0);
    T_TRUE(device->caveats & TTS_CAVEAT_NOT_TRACKED);
    release_host(&host);
}

T_TEST(an_entry_from_before_the_boot_shows_that_the_clock_was_set)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 0, ASIC);
    add_holder(chip, 200);
    add_process(&host, 200, 510);
    struct tts_seenregion *region = add_region(&host, ASIC, 1);
    add_slot(region, 200, 4096);
    region->is_of_this_boot = host.view.clock_known = true;
    host.view.clock_since_ns = UINT64_C(500) * SECOND;
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->process_count, 1);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_LIVE);
    T_EQ(device->processes[0].pid, 200);
    /* A child that inherited the open device. */
    chip->holders[0] = 150;
    add_process(&host, 150, 510);
    host.view.processes[0].nodes_known = true;
    host.view.processes[0].nodes = 1;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    chip->holders[0] = 200;
    /* The directory is on a disk: the entry is that of an earlier boot. */
    region->is_of_this_boot = false;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_DEAD);
    region->is_of_this_boot = true;
    /* The boot of a host that counts whole seconds. */
    host.view.clock_since_ns = UINT64_C(102) * SECOND;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_DEAD);
    host.view.clock_since_ns++;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    release_host(&host);
}

T_TEST(a_number_of_a_container_that_is_used_again_leaves_the_old_entry_dead)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 5675);
    struct tts_seenprocess *process = add_contained(&host, 5675, 4);
    process->start_ns = UINT64_C(110) * SECOND;
    struct tts_seenregion *region = add_region(&host, ASIC, 1);
    add_slot(region, 4, 4096);
    region->is_of_this_boot = host.view.clock_known = true;
    host.view.clock_since_ns = UINT64_C(50) * SECOND;
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->process_count, 2);
    T_TRUE(device->processes[0].container_pid == 4 && !device->processes[0].pid_known);
    T_TRUE(device->processes[0].state != TTS_LIVEPROCESS_LIVE);
    T_TRUE(device->processes[1].pid == 5675 && device->processes[1].counters.known == 0);
    T_TRUE(device->caveats & TTS_CAVEAT_NOT_TRACKED);
    release_host(&host);
}

T_TEST(a_process_of_a_container_is_found_by_its_number_inside)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 5675);
    add_contained(&host, 5675, 4);
    add_process(&host, 4, 1); /* a daemon of the host with the same number */
    add_slot(add_region(&host, ASIC, 1), 4, 4096);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->process_count, 1);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_LIVE);
    T_EQ(device->processes[0].pid, 5675);
    T_TRUE(device->processes[0].container_pid_known);
    T_EQ(device->processes[0].container_pid, 4);
    release_host(&host);
}

T_TEST(bytes_without_owner_beside_a_container_are_live_and_not_visible)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 5675);
    add_contained(&host, 5675, 4);
    add_slot(add_region(&host, ASIC, 1), 33, 4096);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->state, TTS_LIVE_LIVE);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    T_EQ(device->processes[0].reason, TTS_LIVEREASON_NAMESPACE);
    T_TRUE(!(device->caveats & TTS_CAVEAT_LEFT_OVER));
    release_host(&host);
}

T_TEST(a_holder_with_a_hidden_number_may_own_any_slot)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 0);
    add_slot(add_region(&host, ASIC, 1), 33, 4096);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->state, TTS_LIVE_LIVE);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    T_EQ(device->processes[0].reason, TTS_LIVEREASON_HIDDEN);
    release_host(&host);
}

/* Returns why the owner of entry 33 cannot be seen. */
static enum tts_livereason reason_of(struct host *host)
{
    const struct tts_livedevice *device = judge(host);
    size_t i = 0;
    while (i < device->process_count && device->processes[i].container_pid != 33)
        i++;
    T_TRUE(i < device->process_count);
    T_EQ(device->processes[i].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    return device->processes[i].reason;
}

T_TEST(each_reason_for_an_owner_that_cannot_be_seen_is_told_apart)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 0, ASIC);
    add_slot(add_region(&host, ASIC, 1), 33, 4096);
    add_holder(chip, 200);
    add_process(&host, 200, 1)->pid_levels = 0;
    T_EQ(reason_of(&host), TTS_LIVEREASON_UNREAD);
    host.view.processes[0].is_alive = false;
    T_EQ(reason_of(&host), TTS_LIVEREASON_ENDED);
    chip->holder_count = TTS_HOSTVIEW_HOLDERS_MAX + 1;
    for (size_t i = 0; i < TTS_HOSTVIEW_HOLDERS_MAX; i++)
        chip->holders[i] = 200;
    T_EQ(reason_of(&host), TTS_LIVEREASON_TOO_MANY);
    chip->holders[1] = 0;
    T_EQ(reason_of(&host), TTS_LIVEREASON_HIDDEN);
    chip->holder_count = 1;
    chip->holders[0] = 300; /* was not read */
    T_EQ(reason_of(&host), TTS_LIVEREASON_TOO_MANY);
    /* A process with the number of the entry, whose open files cannot be read. */
    chip->holders[0] = 200;
    host.view.processes[0].is_alive = true;
    host.view.processes[0].pid_levels = 1;
    add_process(&host, 33, 1);
    T_EQ(reason_of(&host), TTS_LIVEREASON_UNSURE);
    host.view.processes[1].is_alive = false;
    host.view.chip_count = 0;
    host.view.chips_errno = EACCES;
    T_EQ(reason_of(&host), TTS_LIVEREASON_NO_CHIPS);
    release_host(&host);
}

T_TEST(two_containers_share_the_slot_of_one_number)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 0, ASIC);
    add_holder(chip, 5675);
    add_holder(chip, 5700);
    add_contained(&host, 5675, 4);
    add_contained(&host, 5700, 4)->namespace_id = OTHER_NAMESPACE + 1;
    add_slot(add_region(&host, ASIC, 2), 4, 4096);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->processes[0].shared_by, 2);
    T_TRUE(device->caveats & TTS_CAVEAT_SHARED_SLOT);
    release_host(&host);
}

T_TEST(a_changed_name_does_not_kill_a_process)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    strcpy(add_process(&host, 200, 1)->comm, "VLLM::Worker");
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_LIVE);
    T_TRUE(device->processes[0].is_name_changed);
    T_STR_EQ(device->processes[0].name, "VLLM::Worker");
    release_host(&host);
}

T_TEST(a_holder_without_a_slot_is_live_and_not_tracked)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 0, ASIC);
    add_holder(chip, 200);
    add_holder(chip, OUR_PID); /* this process is no holder */
    add_process(&host, 200, 1);
    add_process(&host, OUR_PID, 1);
    add_region(&host, ASIC, 1)->total.bytes[TTS_COUNTER_CB] = 512;
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->state, TTS_LIVE_LIVE);
    T_TRUE(device->caveats & TTS_CAVEAT_NOT_TRACKED);
    T_TRUE(device->caveats & TTS_CAVEAT_CB_CACHED);
    T_EQ(device->process_count, 1);
    T_EQ(device->processes[0].pid, 200);
    T_EQ(device->processes[0].counters.known, 0);
    T_TRUE(device->cb_known && device->cb_bytes == 512);
    release_host(&host);
}

T_TEST(without_a_list_of_holders_only_an_agreeing_process_is_an_owner)
{
    struct host host;
    init_host(&host);
    add_chip(&host, 0, ASIC)->holders_known = false;
    struct tts_seenprocess *process = add_process(&host, 200, 1);
    struct tts_seenregion *region = add_region(&host, ASIC, 2);
    add_slot(region, 200, 4096);
    add_slot(region, 300, 1);
    process->nodes_known = true;
    process->nodes = 1;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    T_EQ(host.frame.devices->processes[1].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    T_EQ(host.frame.devices->processes[1].reason, TTS_LIVEREASON_NO_LIST);
    host.view.processes[0].nodes = 0;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    host.view.processes[0].nodes_known = false;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    strcpy(host.view.processes[0].comm, "kworker");
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    release_host(&host);
}

T_TEST(a_child_that_inherited_the_open_device_is_not_dead)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    struct tts_seenprocess *child = add_process(&host, 201, 2);
    add_slot(add_region(&host, ASIC, 1), 201, 4096);
    child->nodes_known = true;
    child->nodes = 1;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    T_EQ(host.frame.devices->processes[0].pid, 201);
    /* The files of a process of another user cannot be read. */
    host.view.processes[1].nodes_known = false;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    T_EQ(host.frame.devices->processes[0].reason, TTS_LIVEREASON_UNSURE);
    /* A process that has no node open cannot own memory. */
    host.view.processes[1].nodes_known = true;
    host.view.processes[1].nodes = 0;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_DEAD);
    /* A process that started later only has the same number. */
    host.view.processes[1].nodes = 1;
    host.view.processes[1].start_ns = UINT64_C(110) * SECOND;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_DEAD);
    release_host(&host);
}

T_TEST(an_idle_region_says_nothing_about_a_process_that_is_not_registered)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    add_region(&host, ASIC, 0);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->state, TTS_LIVE_LIVE);
    T_TRUE(device->caveats & TTS_CAVEAT_NOT_TRACKED);
    T_TRUE(!device->pools[TTS_POOL_DRAM].allocated_known);
    T_TRUE(!device->pools[TTS_POOL_DRAM].free_known && !device->cb_known);
    release_host(&host);
}

T_TEST(a_tracked_process_beside_one_without_counters_is_reported)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 0, ASIC);
    add_holder(chip, 200);
    add_holder(chip, 300);
    add_process(&host, 200, 1);
    add_process(&host, 300, 1);
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    T_TRUE(judge(&host)->caveats & TTS_CAVEAT_NOT_TRACKED);
    T_EQ(host.frame.devices->process_count, 2);
    release_host(&host);
}

T_TEST(a_holder_that_has_ended_may_have_a_child_that_owns_the_slot)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1)->is_alive = false;
    add_slot(add_region(&host, ASIC, 1), 201, 4096);
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    T_EQ(host.frame.devices->state, TTS_LIVE_LIVE);
    release_host(&host);
}

T_TEST(a_node_of_another_chip_does_not_make_an_owner)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 1, ASIC), 200);
    add_process(&host, 200, 1);
    struct tts_seenprocess *other = add_process(&host, 201, 1);
    other->nodes_known = true;
    other->nodes = 1; /* node 0 */
    add_slot(add_region(&host, ASIC, 1), 201, 4096);
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_DEAD);
    host.view.processes[1].nodes = 2;
    T_EQ(judge(&host)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    release_host(&host);
}

T_TEST(a_buffer_log_that_was_read_in_part_replaces_nothing)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    struct tts_seenbuffers *log = tts_hostview_add_buffers(&host.view);
    log->pid = 200;
    log->devices_known = true;
    log->device_count = 1;
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->source, TTS_LIVESOURCE_REGION);
    T_TRUE(device->caveats & TTS_CAVEAT_PART_LOG);
    T_EQ(device->pools[TTS_POOL_DRAM].allocated_bytes, 4096);
    release_host(&host);
}

T_TEST(a_process_on_a_simulated_chip_opens_no_node)
{
    struct host host;
    init_host(&host);
    add_chip(&host, 0, ASIC);
    struct tts_seenprocess *process = add_process(&host, 200, 1);
    process->nodes_known = true;
    add_slot(add_region(&host, UINT64_C(0x5aa5000000000001), 1), 200, 4096);
    judge(&host);
    T_EQ(host.frame.devices[1].state, TTS_LIVE_LIVE);
    T_EQ(host.frame.devices[1].processes[0].state, TTS_LIVEPROCESS_LIVE);
    strcpy(host.view.processes[0].comm, "renamed");
    judge(&host);
    T_EQ(host.frame.devices[1].processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    /* No list exists that would show that nobody uses a simulated chip. */
    host.view.processes[0].is_alive = false;
    judge(&host);
    T_EQ(host.frame.devices[1].processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    T_EQ(host.frame.devices[1].processes[0].reason, TTS_LIVEREASON_NO_BOARD);
    release_host(&host);
}

T_TEST(a_chip_without_a_region_has_unknown_memory)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 3, ASIC);
    T_EQ(judge(&host)->state, TTS_LIVE_IDLE);
    T_TRUE(!host.frame.devices->pools[TTS_POOL_DRAM].allocated_known);
    T_TRUE(host.frame.devices->pools[TTS_POOL_DRAM].total_known);
    add_holder(chip, 200);
    add_process(&host, 200, 1);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->state, TTS_LIVE_LIVE);
    T_TRUE(device->node_known && device->node == 3);
    T_EQ(device->source, TTS_LIVESOURCE_NONE);
    T_TRUE(!device->pools[TTS_POOL_DRAM].allocated_known);
    T_EQ(device->process_count, 1);
    release_host(&host);
}

T_TEST(a_chip_without_a_region_tells_that_regions_cannot_be_listed)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    host.view.regions_errno = EACCES;
    T_STR_EQ(judge(&host)->reason,
             "cannot list the memory regions in /dev/shm: permission denied");
    host.view.regions_errno = ENOENT;
    T_STR_EQ(judge(&host)->reason,
             "a process has the chip open, but no program reports the memory of the chip");
    release_host(&host);
}

T_TEST(each_unreadable_region_says_why)
{
    static const enum tts_seenregion_state states[] = {
        TTS_SEENREGION_NO_ACCESS,       TTS_SEENREGION_EMPTY,   TTS_SEENREGION_INITIALISING,
        TTS_SEENREGION_UNKNOWN_VERSION, TTS_SEENREGION_CORRUPT, TTS_SEENREGION_CHANGING,
        TTS_SEENREGION_FAILED,
    };
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        struct host host;
        init_host(&host);
        struct tts_seenregion *region = add_region(&host, 99, 1);
        region->state = states[i];
        region->owner_uid = 1234;
        region->sys_errno = 5;
        const struct tts_livedevice *device = judge(&host);
        T_EQ(device->state, TTS_LIVE_UNREADABLE);
        T_TRUE(device->reason[0] != '\0');
        T_TRUE(!device->pools[TTS_POOL_DRAM].allocated_known && !device->cb_known);
        T_EQ(strstr(device->reason, "1234") != NULL, states[i] == TTS_SEENREGION_NO_ACCESS);
        release_host(&host);
    }
}

T_TEST(private_regions_of_one_chip_add_up)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 0, ASIC);
    add_holder(chip, 5675);
    add_holder(chip, 5700);
    add_contained(&host, 5675, 4);
    add_contained(&host, 5700, 4)->namespace_id = OTHER_NAMESPACE + 1;
    struct tts_seenregion *first = add_region(&host, ASIC, 1);
    add_slot(first, 4, 1000);
    first->private_of = 5675;
    struct tts_seenregion *second = add_region(&host, ASIC, 1);
    add_slot(second, 4, 500);
    second->private_of = 5700;
    const struct tts_livedevice *device = judge(&host);
    T_EQ(host.frame.device_count, 1);
    T_EQ(device->pools[TTS_POOL_DRAM].allocated_bytes, 1500);
    T_EQ(device->process_count, 2);
    T_TRUE(device->processes[0].pid == 5675 && device->processes[1].pid == 5700);
    T_EQ(device->processes[0].shared_by, 1);
    T_TRUE(device->caveats & TTS_CAVEAT_PRIVATE);
    release_host(&host);
}

T_TEST(a_region_belongs_to_the_only_chip_that_its_id_can_name)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 0, 1);
    chip->serial_known = true;
    chip->serial = UINT64_C(0x00000403319141BB);
    add_region(&host, UINT64_C(141176416515936), 0); /* location 0 of this board */
    T_EQ(judge(&host)->node_known, true);
    T_EQ(host.frame.device_count, 1);
    T_EQ(host.frame.devices->unique_id, UINT64_C(141176416515936));
    /* A second chip of the same board could have this id, too. */
    chip = add_chip(&host, 1, 2);
    chip->serial_known = true;
    chip->serial = UINT64_C(0x00000403319141BB);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(host.frame.device_count, 3);
    T_TRUE(!device[2].node_known && device[2].caveats & TTS_CAVEAT_NO_BOARD);
    /* The id of a chip itself is unique. */
    add_region(&host, 2, 0);
    device = judge(&host);
    T_TRUE(device[1].node == 1 && device[1].source == TTS_LIVESOURCE_REGION);
    release_host(&host);
}

T_TEST(devices_are_in_the_order_of_their_nodes_then_of_their_ids)
{
    struct host host;
    init_host(&host);
    for (uint32_t node = 0; node < 3; node++)
        add_chip(&host, node, 300 - node);
    add_region(&host, 900, 0);
    add_region(&host, 298, 0);
    add_region(&host, 800, 0);
    add_region(&host, 300, 0);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(host.frame.device_count, 5);
    T_TRUE(device[0].node == 0 && device[0].unique_id == 300);
    T_TRUE(device[1].node == 1 && device[1].source == TTS_LIVESOURCE_NONE);
    T_TRUE(device[2].node == 2 && device[2].unique_id == 298);
    T_TRUE(device[3].unique_id == 800 && device[4].unique_id == 900);
    for (uint32_t i = 0; i < 5; i++)
        T_EQ(device[i].index, i);
    release_host(&host);
}

T_TEST(a_remote_chip_may_be_used_by_a_holder_of_any_chip)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 0, ASIC);
    chip->preset = "n300"; /* has a chip without a node */
    add_holder(chip, 200);
    add_process(&host, 200, 1);
    struct tts_seenregion *remote = add_region(&host, 77, 1);
    add_slot(remote, 200, 64);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(host.frame.device_count, 2);
    T_TRUE(device[1].caveats & TTS_CAVEAT_NO_BOARD);
    T_EQ(device[1].state, TTS_LIVE_LIVE);
    T_EQ(device[1].processes[0].pid, 200);
    release_host(&host);
}

T_TEST(processes_that_do_not_add_up_to_the_total_are_reported)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    struct tts_seenregion *region = add_region(&host, ASIC, 1);
    add_slot(region, 200, 4096);
    region->total.bytes[TTS_COUNTER_CB] = 7; /* each process overwrites this total */
    T_TRUE(!(judge(&host)->caveats & TTS_CAVEAT_SUM_DIFFERS));
    region->total.bytes[TTS_COUNTER_DRAM]++;
    T_TRUE(judge(&host)->caveats & TTS_CAVEAT_SUM_DIFFERS);
    release_host(&host);
}

static struct tts_seenbuffers *add_log(struct host *host, uint32_t pid)
{
    struct tts_seenbuffers *log = tts_hostview_add_buffers(&host->view);
    log->pid = pid;
    log->bytes[TTS_POOL_L1] = 2048;
    log->buffers[TTS_POOL_L1] = 3;
    log->is_complete = true;
    return log;
}

T_TEST(a_buffer_log_replaces_the_counters_of_its_process)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    struct tts_seenbuffers *log = add_log(&host, 200);
    log->devices_known = true;
    log->device_count = 1;
    const struct tts_livedevice *device = judge(&host);
    T_EQ(device->source, TTS_LIVESOURCE_INSPECTOR);
    T_EQ(device->pools[TTS_POOL_DRAM].allocated_bytes, 0);
    T_EQ(device->pools[TTS_POOL_L1].allocated_bytes, 2048);
    T_EQ(device->pools[TTS_POOL_L1].buffers, 3);
    T_EQ(device->processes[0].buffers, 3);
    T_TRUE(!(device->caveats & TTS_CAVEAT_ONE_THREAD));
    /* A process without a log: the region counts more than the log has. */
    add_slot(&host.view.regions[0], 199, 10);
    device = judge(&host);
    T_EQ(device->source, TTS_LIVESOURCE_REGION);
    T_EQ(device->pools[TTS_POOL_DRAM].allocated_bytes, 4106);
    T_TRUE(device->caveats & TTS_CAVEAT_SUM_DIFFERS); /* the rows have 10, and 2048 of L1 */
    host.view.buffers[0].bytes[TTS_POOL_L1] = 0;
    host.view.buffers[0].bytes[TTS_POOL_DRAM] = 4096;
    T_TRUE(!(judge(&host)->caveats & TTS_CAVEAT_SUM_DIFFERS));
    T_EQ(host.frame.stray_count, 0);
    release_host(&host);
}

T_TEST(a_buffer_log_without_a_device_belongs_to_no_device)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    add_log(&host, 200);
    judge(&host);
    T_EQ(host.frame.stray_count, 1);
    T_EQ(host.frame.strays[0].pid, 200);
    T_EQ(host.frame.strays[0].buffers, 3);
    T_TRUE(!host.frame.devices->pools[TTS_POOL_L1].allocated_known);
    /* With one device of the mesh and one open chip there is only one possibility. */
    host.view.buffers[0].devices_known = true;
    host.view.buffers[0].device_count = 1;
    host.view.buffers[0].devices[0] = 5;
    const struct tts_livedevice *device = judge(&host);
    T_EQ(host.frame.stray_count, 0);
    T_TRUE(device->logical_id_known && device->logical_id == 5);
    T_EQ(device->pools[TTS_POOL_L1].allocated_bytes, 2048);
    release_host(&host);
}

T_TEST(a_buffer_log_that_was_read_in_part_gives_a_process_without_a_device_no_bytes)
{
    struct host host;
    init_host(&host);
    add_process(&host, 200, 1);
    add_log(&host, 200)->is_complete = false;
    judge(&host);
    T_EQ(host.frame.stray_count, 1);
    T_EQ(host.frame.strays[0].counters.known, 0);
    T_TRUE(!host.frame.strays[0].buffers_known);
    T_EQ(host.frame.strays[0].source, TTS_LIVESOURCE_NONE);
    T_EQ(host.frame.strays[0].caveats, TTS_CAVEAT_PART_LOG);
    host.view.buffers[0].is_complete = true;
    judge(&host);
    T_EQ(host.frame.strays[0].buffers, 3);
    T_EQ(host.frame.strays[0].caveats, 0);
    release_host(&host);
}

T_TEST(a_region_belongs_to_the_only_board_whose_holder_owns_its_entries)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    add_slot(add_region(&host, 0x77, 1), 200, 4096);
    const struct tts_livedevice *device = judge(&host);
    T_EQ(host.frame.device_count, 1);
    T_TRUE(device->node_known && device->unique_id == 0x77 && device->state == TTS_LIVE_LIVE);
    T_TRUE(device->pools[TTS_POOL_L1].total_known && device->process_count == 1);
    T_TRUE((device->caveats & TTS_CAVEAT_BY_OWNER) && !(device->caveats & TTS_CAVEAT_NO_BOARD));
    /* A second chip that the process has open could be the board as well. */
    add_holder(add_chip(&host, 1, 0x88), 200);
    judge(&host);
    T_EQ(host.frame.device_count, 3);
    T_TRUE(host.frame.devices[2].caveats & TTS_CAVEAT_NO_BOARD);
    /* The entry of a process that was killed says nothing about the board. */
    host.view.chips[1].holder_count = 0;
    add_slot(&host.view.regions[0], 201, 10);
    device = judge(&host);
    T_EQ(host.frame.device_count, 2);
    T_TRUE(device->unique_id == 0x77 && device->caveats & TTS_CAVEAT_BY_OWNER);
    T_EQ(device->pools[TTS_POOL_DRAM].left_over_bytes, 10);
    /* A live process of the region that has another chip open does. */
    add_process(&host, 201, 1);
    add_holder(&host.view.chips[1], 201);
    judge(&host);
    T_EQ(host.frame.device_count, 3);
    /* Without a live process, the region belongs to no board. */
    host.view.chips[1].holder_count = 0;
    host.view.chips[0].holders[0] = 202;
    add_process(&host, 202, 1);
    host.view.processes[0].is_alive = host.view.processes[1].is_alive = false;
    host.view.chip_count = 1;
    judge(&host);
    T_EQ(host.frame.device_count, 2);
    release_host(&host);
}

T_TEST(an_older_region_of_a_chip_is_left_over_beside_the_present_one)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 0, ASIC);
    chip->serial_known = true;
    chip->serial = 0x100;
    add_holder(chip, 200);
    add_process(&host, 200, 1);
    struct tts_seenregion *old = add_region(&host, 0x100 << 8, 1);
    old->version = 1;
    old->is_unix_time = false;
    add_slot(old, 200, 999); /* a process of long ago had the same number */
    add_slot(old, 150, 1);
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    const struct tts_livedevice *devices = judge(&host);
    T_EQ(host.frame.device_count, 2);
    T_TRUE(devices[0].unique_id == ASIC && devices[1].unique_id == 0x100 << 8);
    T_TRUE(devices[0].state == TTS_LIVE_LIVE && devices[1].state == TTS_LIVE_PHANTOM);
    T_TRUE(devices[1].caveats & TTS_CAVEAT_OLDER_ID &&
           devices[1].caveats & TTS_CAVEAT_LEFT_OVER);
    T_TRUE(!(devices[0].caveats & (TTS_CAVEAT_OLDER_ID | TTS_CAVEAT_NOT_TRACKED)));
    T_EQ(devices[1].process_count, 2);
    for (size_t i = 0; i < 2; i++)
        T_EQ(devices[1].processes[i].state, TTS_LIVEPROCESS_DEAD);
    T_EQ(devices[1].pools[TTS_POOL_DRAM].left_over_bytes, 1000);
    /* Another live process that is registered only in the older region uses it. */
    add_holder(&host.view.chips[0], 150);
    add_process(&host, 150, 1);
    devices = judge(&host);
    T_TRUE(devices[1].state == TTS_LIVE_LIVE && !(devices[1].caveats & TTS_CAVEAT_OLDER_ID));
    release_host(&host);
}

/* A host whose only chip has two ids: OLD_ID and ASIC. */
enum { SERIAL = 0x100, OLD_ID = SERIAL << 5 };

static struct tts_seenchip *add_chip_of_two_ids(struct host *host)
{
    struct tts_seenchip *chip = add_chip(host, 0, ASIC);
    chip->serial_known = true;
    chip->serial = SERIAL;
    return chip;
}

static const struct tts_livedevice *find_device(const struct host *host, uint64_t id)
{
    const struct tts_livedevice *device = host->frame.devices;
    while (device->unique_id != id)
        device++;
    return device;
}

T_TEST(a_quiet_program_uses_the_present_region_although_an_older_one_changed_later)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip_of_two_ids(&host), 200);
    add_process(&host, 200, 1);
    add_slot(add_region(&host, OLD_ID, 1), 99, 4096); /* was killed */
    add_region(&host, ASIC, 1)->last_update_ns = UINT64_C(99) * SECOND;
    judge(&host);
    const struct tts_livedevice *present = find_device(&host, ASIC);
    const struct tts_livedevice *old = find_device(&host, OLD_ID);
    T_TRUE(old->state == TTS_LIVE_PHANTOM && old->process_count == 1);
    T_TRUE(old->caveats & TTS_CAVEAT_OLDER_ID && old->caveats & TTS_CAVEAT_LEFT_OVER);
    T_TRUE(present->state == TTS_LIVE_LIVE && !(present->caveats & TTS_CAVEAT_OLDER_ID));
    T_TRUE(present->process_count == 1 && present->processes[0].pid == 200);
    release_host(&host);
}

T_TEST(a_live_region_of_version_1_is_present_although_it_has_no_time)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip_of_two_ids(&host), 200);
    add_process(&host, 200, 1);
    add_slot(add_region(&host, OLD_ID, 1), 99, 4096);
    struct tts_seenregion *region = add_region(&host, ASIC, 1);
    region->version = 1;
    region->is_unix_time = false;
    add_slot(region, 200, 10);
    judge(&host);
    T_EQ(find_device(&host, ASIC)->state, TTS_LIVE_LIVE);
    T_EQ(find_device(&host, ASIC)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    T_EQ(find_device(&host, OLD_ID)->state, TTS_LIVE_PHANTOM);
    T_EQ(find_device(&host, OLD_ID)->process_count, 1);
    release_host(&host);
}

T_TEST(a_time_in_the_future_makes_no_region_the_present_one)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip_of_two_ids(&host), 200);
    add_process(&host, 200, 1);
    add_region(&host, OLD_ID, 0)->last_update_ns = UINT64_MAX;
    add_slot(add_region(&host, ASIC, 1), 200, 10);
    judge(&host);
    T_EQ(find_device(&host, OLD_ID)->state, TTS_LIVE_IDLE);
    T_TRUE(find_device(&host, OLD_ID)->caveats & TTS_CAVEAT_OLDER_ID);
    T_TRUE(!(find_device(&host, ASIC)->caveats & TTS_CAVEAT_OLDER_ID));
    /* Without a process that shows which one is present, neither is older. */
    host.view.regions[1].slot_count = 0;
    host.view.regions[0].reference_count = 1;
    judge(&host);
    for (size_t i = 0; i < 2; i++)
        T_TRUE(host.frame.devices[i].state == TTS_LIVE_LIVE &&
               !(host.frame.devices[i].caveats & TTS_CAVEAT_OLDER_ID));
    /* The last change decides if all else is equal. */
    host.view.regions[0].last_update_ns = UINT64_C(101) * SECOND;
    judge(&host);
    T_EQ(find_device(&host, OLD_ID)->state, TTS_LIVE_LIVE);
    T_EQ(find_device(&host, ASIC)->state, TTS_LIVE_PHANTOM);
    release_host(&host);
}

T_TEST(a_file_of_another_user_turns_no_live_process_into_a_dead_one)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip_of_two_ids(&host), 200);
    struct tts_seenprocess *process = add_process(&host, 200, 1);
    process->uid_known = true;
    process->uid = 1000;
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    add_slot(add_region(&host, OLD_ID, 1), 200, 0);
    host.view.regions[0].owner_uid = 1000;
    host.view.regions[1].owner_uid = 1001;
    host.view.regions[1].last_update_ns = UINT64_C(500) * SECOND;
    judge(&host);
    const struct tts_livedevice *device = find_device(&host, ASIC);
    T_TRUE(device->state == TTS_LIVE_LIVE && !(device->caveats & TTS_CAVEAT_OLDER_ID));
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_LIVE);
    T_EQ(device->pools[TTS_POOL_DRAM].left_over_bytes, 0);
    /* The forged entry belongs to nobody who can be seen. */
    device = find_device(&host, OLD_ID);
    T_EQ(device->processes[0].state, TTS_LIVEPROCESS_NOT_VISIBLE);
    T_EQ(device->processes[0].reason, TTS_LIVEREASON_OTHER_USER);
    T_EQ(device->process_count, 1);
    /* Also a region of version 1, whose entries have no times, stays live. */
    host.view.regions[0].version = 1;
    host.view.regions[0].is_unix_time = false;
    judge(&host);
    T_EQ(find_device(&host, ASIC)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    /* The same user may have two regions; a process that existed at the last change of both
     * entries owns both. */
    host.view.regions[0].is_unix_time = true;
    host.view.regions[1].owner_uid = 1000;
    judge(&host);
    T_TRUE(find_device(&host, ASIC)->state == TTS_LIVE_LIVE &&
           !(find_device(&host, ASIC)->caveats & TTS_CAVEAT_OLDER_ID));
    T_EQ(find_device(&host, ASIC)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    /* Root can open the region of each user. */
    host.view.regions[1].owner_uid = 1001;
    host.view.processes[0].uid = 0;
    judge(&host);
    T_EQ(find_device(&host, OLD_ID)->process_count, 1);
    T_EQ(find_device(&host, OLD_ID)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    /* But a file of another user proves nothing about root. */
    host.view.regions[0].owner_uid = 0;
    host.view.regions[0].version = 1;
    host.view.regions[0].is_unix_time = false;
    host.view.regions[0].slots[0].last_update_ns = 0;
    add_slot(&host.view.regions[0], 99, 1); /* so that the forged region looks newer */
    host.view.regions[0].owner_uid = 1000;
    judge(&host);
    T_EQ(find_device(&host, ASIC)->processes[0].state, TTS_LIVEPROCESS_LIVE);
    T_EQ(find_device(&host, ASIC)->processes[0].counters.bytes[TTS_COUNTER_DRAM], 4096);
    release_host(&host);
}

T_TEST(a_holder_with_an_entry_in_one_region_of_a_chip_is_not_untracked_in_another)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip_of_two_ids(&host);
    add_holder(chip, 200);
    add_holder(chip, 201);
    add_process(&host, 200, 1);
    add_process(&host, 201, 1);
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    add_region(&host, OLD_ID, 0)->state = TTS_SEENREGION_NO_ACCESS; /* nothing is compared */
    judge(&host);
    T_EQ(find_device(&host, ASIC)->process_count, 2);
    T_EQ(find_device(&host, OLD_ID)->process_count, 1);
    T_EQ(find_device(&host, OLD_ID)->processes[0].pid, 201);
    release_host(&host);
}

T_TEST(without_a_list_of_holders_the_lock_of_a_chip_is_evidence)
{
    struct host host;
    init_host(&host);
    struct tts_seenchip *chip = add_chip(&host, 0, ASIC);
    chip->holders_known = false;
    struct tts_seenprocess *process = add_process(&host, 200, 1);
    for (int with_region = 0; with_region < 2; with_region++) {
        host.view.chips[0].lock_known = false;
        const struct tts_livedevice *device = judge(&host);
        T_EQ(device->state, TTS_LIVE_IDLE);
        T_TRUE(strstr(device->reason, "unknown who has the chip open"));
        host.view.chips[0].lock_known = true;
        host.view.chips[0].lock_pid = 200;
        device = judge(&host);
        T_TRUE(device->state == TTS_LIVE_LIVE && device->process_count == 0);
        T_TRUE(device->caveats & TTS_CAVEAT_NOT_TRACKED && strstr(device->reason, "may have"));
        T_TRUE(!device->pools[TTS_POOL_DRAM].allocated_known);
        process->nodes_known = true;
        process->nodes = 1;
        device = judge(&host);
        T_TRUE(device->state == TTS_LIVE_LIVE && device->process_count == 1);
        T_TRUE(device->processes[0].pid == 200 && device->processes[0].counters.known == 0);
        /* The number is used again: the process has another chip open. */
        process->nodes = 2;
        T_EQ(judge(&host)->state, TTS_LIVE_IDLE);
        process->nodes_known = false;
        process->is_alive = false;
        T_EQ(judge(&host)->state, TTS_LIVE_IDLE);
        process->is_alive = true;
        /* A list of holders says more than a lock. */
        host.view.chips[0].holders_known = true;
        T_TRUE(judge(&host)->state == TTS_LIVE_IDLE && !host.frame.devices->reason[0]);
        host.view.chips[0].holders_known = false;
        if (!with_region)
            add_region(&host, ASIC, 0);
    }
    release_host(&host);
}

T_TEST(counters_above_every_device_are_damaged_also_on_an_unknown_board)
{
    /* The largest DRAM and L1 of the catalogue. */
    static const uint64_t most[TTS_POOLS] = {8 * UINT64_C(4272341376), 130 * UINT64_C(1461248),
                                             130 * UINT64_C(1461248), 8 * UINT64_C(4272341376)};
    for (int i = 0; i < 2 * TTS_POOLS; i++) {
        struct host host;
        init_host(&host);
        struct tts_seenchip *chip = add_chip(&host, 0, ASIC);
        if (i >= TTS_POOLS) {
            chip->preset = NULL;
            chip->arch_known = false;
        }
        add_holder(chip, 200);
        add_process(&host, 200, 1);
        struct tts_seenregion *region = add_region(&host, ASIC, 2);
        add_slot(region, 200, 0);
        add_slot(region, 99, 0); /* was killed */
        uint64_t *live = &region->slots[0].counters.bytes[i % TTS_POOLS];
        uint64_t *dead = &region->slots[1].counters.bytes[i % TTS_POOLS];
        uint64_t *total = &region->total.bytes[i % TTS_POOLS];
        *live = *total = most[i % TTS_POOLS];
        T_EQ(judge(&host)->state, TTS_LIVE_LIVE);
        /* What dead processes left adds up. */
        *dead = most[i % TTS_POOLS];
        *total = *live + *dead;
        T_EQ(judge(&host)->state, TTS_LIVE_LIVE);
        ++*total;
        const struct tts_livedevice *device = judge(&host);
        T_EQ(device->state, TTS_LIVE_UNREADABLE);
        T_TRUE(strstr(device->reason, "damaged"));
        T_TRUE(!device->pools[i % TTS_POOLS].allocated_known);
        --*total;
        ++*dead;
        device = judge(&host);
        T_EQ(device->state, TTS_LIVE_UNREADABLE);
        T_EQ(device->process_count, 2);
        for (size_t k = 0; k < 2; k++)
            T_EQ(device->processes[k].counters.known >> i % TTS_POOLS & 1,
                 device->processes[k].state == TTS_LIVEPROCESS_LIVE);
        release_host(&host);
    }
}

T_TEST(an_unreadable_region_takes_no_facts_from_a_readable_one)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    struct tts_seenregion *other = add_region(&host, ASIC, 0);
    other->state = TTS_SEENREGION_UNKNOWN_VERSION;
    other->layout = NULL;
    for (uint32_t private_of = 0; private_of < 2; private_of++) {
        other->private_of = private_of ? 200 : 0; /* after or before the region */
        host.view.regions[0].private_of = private_of ? 0 : 200;
        const struct tts_livedevice *device = judge(&host);
        T_TRUE(device->layout && strcmp(device->layout, "v3") == 0);
    }
    release_host(&host);
}

T_TEST(the_log_of_a_process_is_not_placed_by_the_logical_id_of_another_process)
{
    struct host host;
    init_host(&host);
    for (uint32_t node = 0; node < 2; node++) {
        struct tts_seenchip *chip = add_chip(&host, node, ASIC + node);
        add_holder(chip, 200);
        add_holder(chip, 201);
        struct tts_seenregion *region = add_region(&host, ASIC + node, 2);
        add_slot(region, 201, 10);
        region->logical_id = 1 - node; /* 201 attached last, and sees the chips reversed */
    }
    add_process(&host, 200, 1);
    add_process(&host, 201, 1);
    add_slot(&host.view.regions[0], 200, 4096); /* its device 0 is the chip of node 0 */
    struct tts_seenbuffers *log = add_log(&host, 200);
    log->devices_known = log->update_known = true;
    log->device_count = 1;
    log->update_ns = UINT64_C(500) * SECOND;
    const struct tts_livedevice *devices = judge(&host);
    T_EQ(host.frame.stray_count, 0);
    T_EQ(devices[0].processes[0].source, TTS_LIVESOURCE_INSPECTOR);
    T_EQ(devices[0].update_ns, UINT64_C(500) * SECOND);
    for (size_t i = 0; i < devices[1].process_count; i++)
        T_TRUE(devices[1].processes[i].source != TTS_LIVESOURCE_INSPECTOR);
    /* Registered on both, with a mesh of one: either may be meant. */
    add_slot(&host.view.regions[1], 200, 1);
    judge(&host);
    T_EQ(host.frame.stray_count, 1);
    /* With a mesh of two, both are meant. */
    host.view.buffers[0].device_count = 2;
    host.view.buffers[0].devices[1] = 1;
    devices = judge(&host);
    T_EQ(host.frame.stray_count, 0);
    for (size_t i = 0; i < 2; i++)
        T_TRUE(devices[i].processes[0].buffers_known || devices[i].processes[1].buffers_known);
    release_host(&host);
}

T_TEST(a_log_whose_device_contradicts_the_region_is_not_placed_by_number)
{
    struct host host;
    init_host(&host);
    for (uint32_t node = 0; node < 2; node++) {
        add_holder(add_chip(&host, node, ASIC + node), 200);
        add_region(&host, ASIC + node, 1)->logical_id = node;
    }
    add_process(&host, 200, 1);
    /* Device 0 was closed with buffers left; the mesh of now is device 1. */
    add_slot(&host.view.regions[0], 200, 7);
    struct tts_seenbuffers *log = add_log(&host, 200);
    log->devices_known = true;
    log->device_count = log->devices[0] = 1;
    const struct tts_livedevice *devices = judge(&host);
    T_TRUE(devices[0].source == TTS_LIVESOURCE_REGION &&
           devices[0].caveats & TTS_CAVEAT_UNSURE_LOG);
    T_EQ(devices[1].source, TTS_LIVESOURCE_INSPECTOR);
    T_EQ(host.frame.stray_count, 0);
    /* No device has the logical id. */
    log->devices[0] = 5;
    devices = judge(&host);
    T_TRUE(devices[0].source == TTS_LIVESOURCE_REGION && host.frame.stray_count == 1);
    /* If another process is registered, the id may be that of the other process. */
    add_process(&host, 201, 1);
    add_holder(&host.view.chips[0], 201);
    add_slot(&host.view.regions[0], 201, 9);
    devices = judge(&host);
    T_TRUE(devices[0].processes[1].source == TTS_LIVESOURCE_INSPECTOR ||
           devices[0].processes[0].source == TTS_LIVESOURCE_INSPECTOR);
    T_TRUE(!(devices[0].caveats & TTS_CAVEAT_UNSURE_LOG) && host.frame.stray_count == 0);
    release_host(&host);
}

T_TEST(all_that_was_not_read_is_told)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    struct tts_seenprocess *process = add_process(&host, 200, 1);
    struct tts_seenregion *region = add_region(&host, ASIC, 1);
    add_slot(region, 200, 4096);
    const uint32_t told = TTS_CAVEAT_SHM_HIDDEN | TTS_CAVEAT_ID_DIFFERS |
                          TTS_CAVEAT_UNSURE_LOG | TTS_CAVEAT_PART_REGION;
    T_EQ(judge(&host)->caveats & told, 0);
    process->shm_errno = ENOENT;
    T_EQ(judge(&host)->caveats & told, 0);
    process->shm_errno = EACCES;
    T_EQ(judge(&host)->caveats & told, TTS_CAVEAT_SHM_HIDDEN);
    process->shm_errno = 0;
    process->has_unsure_log = true;
    T_EQ(judge(&host)->caveats & told, TTS_CAVEAT_UNSURE_LOG);
    process->has_unsure_log = false;
    region->is_id_confirmed = false;
    T_EQ(judge(&host)->caveats & told, TTS_CAVEAT_ID_DIFFERS);
    region->is_id_confirmed = true;
    for (uint32_t private_of = 0; private_of < 2; private_of++) {
        struct tts_seenregion *other = add_region(&host, ASIC, 0);
        other->state = TTS_SEENREGION_NO_ACCESS;
        other->private_of = private_of ? 200 : 0; /* after or before the region */
        host.view.regions[0].private_of = private_of ? 0 : 200;
        const struct tts_livedevice *device = judge(&host);
        T_EQ(device->caveats & told, TTS_CAVEAT_PART_REGION);
        T_EQ(device->pools[TTS_POOL_DRAM].allocated_bytes, 4096);
        host.view.region_count--;
    }
    host.view.processes_left_out = 3;
    host.view.buffers_left_out = 2;
    judge(&host);
    T_TRUE(host.frame.processes_left_out == 3 && host.frame.logs_left_out == 2);
    release_host(&host);
}

T_TEST(the_report_of_an_allocator_gives_exact_pools)
{
    struct host host;
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    struct tts_seenview *report = tts_hostview_add_view(&host.view);
    report->pid = 200;
    report->grid_known = report->queues_known = true;
    report->grid_columns = report->grid_rows = 8;
    report->hardware_queues = 1;
    report->pools[TTS_POOL_L1] = (struct tts_seenpool){.is_known = true,
                                                       .banks = 64,
                                                       .total_bytes = 1000,
                                                       .allocated_bytes = 600,
                                                       .free_bytes = 400,
                                                       .largest_free_bytes = 300};
    const struct tts_livedevice *device = judge(&host);
    T_EQ(host.frame.device_count, 1);
    T_EQ(device->source, TTS_LIVESOURCE_CLIENT);
    T_EQ(device->pools[TTS_POOL_L1].total_source, TTS_LIVETOTAL_REPORTED);
    T_TRUE(device->pools[TTS_POOL_L1].largest_known &&
           !device->pools[TTS_POOL_L1].free_is_limit);
    T_EQ(device->pools[TTS_POOL_L1].largest_free_bytes, 300);
    T_EQ(device->pools[TTS_POOL_DRAM].total_source, TTS_LIVETOTAL_NOMINAL);
    T_TRUE(device->caveats & TTS_CAVEAT_NOMINAL && !device->is_shape_nominal);
    T_EQ(device->hardware_queues, 1);
    release_host(&host);
}

T_TEST(without_memory_the_frame_is_empty)
{
    struct host host;
    struct heap heap;
    heap_init(&heap);
    init_host(&host);
    add_holder(add_chip(&host, 0, ASIC), 200);
    add_process(&host, 200, 1);
    add_slot(add_region(&host, ASIC, 1), 200, 4096);
    add_log(&host, 200);
    bool has_failed = true;
    for (uint64_t n = 1; has_failed; n++) {
        struct tts_liveframe frame;
        tts_liveframe_init(&frame, &heap.alloc);
        heap.calls = 0;
        heap.fail_at = n;
        enum tts_status status = tts_liveowners_judge(&host.view, &frame, NULL);
        has_failed = heap.calls >= n;
        T_EQ(status, has_failed ? TTS_E_NOMEM : TTS_OK);
        T_EQ(frame.device_count, has_failed ? 0 : 1);
        tts_liveframe_release(&frame);
        T_TRUE(heap_is_settled(&heap));
    }
    release_host(&host);
}
