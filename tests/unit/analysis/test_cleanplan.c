#include "analysis/live/cleanplan.h"
#include "analysis/live/liveowners.h"
#include "harness/t.h"
#include "torture/heap.h"

#include <string.h>

/* A host with one chip, whose region has the processes 4001 and 4002. Times are seconds. */
enum { OUR_PID = 50, ASIC = 7, SECOND = 1000000000, DEAD = 4001, LIVE = 4002 };

static struct tts_hostview view;
static struct tts_liveframe frame;
static struct tts_cleanplan plan;

static struct tts_seenprocess *add_process(uint32_t pid, bool is_alive)
{
    struct tts_seenprocess *process = tts_hostview_add_process(&view);
    process->pid = process->pid_inside = pid;
    process->is_alive = is_alive;
    process->pid_levels = is_alive ? 1 : 0;
    process->start_known = is_alive;
    process->start_ns = 10 * (uint64_t)SECOND;
    strcpy(process->comm, "python3");
    return process;
}

static struct tts_seenprocess *find_process(uint32_t pid)
{
    for (size_t i = 0; i < view.process_count; i++)
        if (view.processes[i].pid == pid)
            return &view.processes[i];
    return NULL;
}

static void add_slot(struct tts_seenregion *region, int32_t pid)
{
    struct tts_seenslot *slot = &region->slots[region->slot_count];
    slot->index = (uint32_t)region->slot_count++;
    slot->pid = pid;
    slot->last_update_ns = 100 * (uint64_t)SECOND;
    slot->counters = (struct tts_counters){.bytes = {1000}, .known = 0x1f};
    strcpy(slot->name, "python3");
}

static struct tts_seenregion *add_region(uint64_t id)
{
    struct tts_seenregion *region = tts_hostview_add_region(&view);
    region->id = id;
    region->inode = id + 1;
    region->layout = "v3";
    region->version = 3;
    region->is_unix_time = true;
    region->reference_count = 2;
    region->total = (struct tts_counters){.bytes = {2000}, .known = 0x1f};
    return region;
}

/* Makes the host: LIVE holds the chip, DEAD does not exist. */
static void make_host(void)
{
    tts_hostview_release(&view);
    tts_hostview_init(&view, NULL);
    view.own_pid = OUR_PID;
    struct tts_seenchip *chip = tts_hostview_add_chip(&view);
    chip->asic_id_known = chip->holders_known = true;
    chip->asic_id = ASIC;
    chip->holders[chip->holder_count++] = LIVE;
    add_process(DEAD, false);
    add_process(LIVE, true);
    struct tts_seenregion *region = add_region(ASIC);
    add_slot(region, DEAD);
    add_slot(region, LIVE);
}

static void make_plan(void)
{
    tts_liveframe_release(&frame);
    tts_liveframe_init(&frame, NULL);
    if (!plan.alloc)
        tts_cleanplan_init(&plan, NULL);
    T_EQ(tts_liveowners_judge(&view, &frame, NULL), TTS_OK);
    T_EQ(tts_cleanplan_make(&plan, &view, &frame, NULL), TTS_OK);
}

static void release_all(void)
{
    tts_cleanplan_release(&plan);
    tts_liveframe_release(&frame);
    tts_hostview_release(&view);
}

static enum tts_cleanwhy why_of_only(void)
{
    make_plan();
    T_EQ(plan.count, 1);
    return plan.regions[0].why;
}

T_TEST(only_the_dead_process_beside_a_live_one_is_planned)
{
    make_host();
    T_EQ(why_of_only(), TTS_CLEANWHY_NONE);
    T_EQ(plan.regions[0].slot_count, 1);
    T_EQ(plan.regions[0].region->slots[plan.regions[0].slots[0]].pid, DEAD);
    T_TRUE(!plan.regions[0].is_unheld && !plan.regions[0].needs_reset);
    release_all();
}

T_TEST(a_region_with_live_processes_only_is_not_planned)
{
    make_host();
    view.regions[0].slots[0] = view.regions[0].slots[1];
    view.regions[0].slot_count = 1;
    make_plan();
    T_EQ(plan.count, 0);
    release_all();
}

T_TEST(a_region_that_no_process_holds_is_reset)
{
    make_host();
    view.chips[0].holder_count = 0;
    find_process(LIVE)->is_alive = false;
    T_EQ(why_of_only(), TTS_CLEANWHY_NONE);
    T_EQ(plan.regions[0].slot_count, 2);
    T_TRUE(plan.regions[0].is_unheld && plan.regions[0].needs_reset);
    view.regions[0].slot_count = 0; /* references and bytes only */
    T_EQ(why_of_only(), TTS_CLEANWHY_NONE);
    T_TRUE(plan.regions[0].needs_reset);
    view.regions[0].reference_count = 0;
    T_EQ(why_of_only(), TTS_CLEANWHY_NONE);
    memset(&view.regions[0].total, 0, sizeof view.regions[0].total);
    make_plan();
    T_EQ(plan.count, 0);
    release_all();
}

T_TEST(a_process_that_holds_the_chip_without_an_entry_keeps_the_references)
{
    make_host();
    view.regions[0].slot_count = 0;
    make_plan();
    T_EQ(plan.count, 0);
    release_all();
}

T_TEST(every_holder_must_be_visible_and_of_our_pid_namespace)
{
    make_host();
    view.chips[0].holders_known = false;
    T_EQ(why_of_only(), TTS_CLEANWHY_NO_LIST);
    make_host();
    view.chips[0].holders[view.chips[0].holder_count++] = 0;
    T_EQ(why_of_only(), TTS_CLEANWHY_HIDDEN);
    make_host();
    view.chips[0].holders[view.chips[0].holder_count++] = 999; /* was not read */
    T_EQ(why_of_only(), TTS_CLEANWHY_HIDDEN);
    make_host();
    view.chips[0].holder_count = TTS_HOSTVIEW_HOLDERS_MAX + 1;
    for (size_t i = 0; i < TTS_HOSTVIEW_HOLDERS_MAX; i++)
        view.chips[0].holders[i] = LIVE;
    T_EQ(why_of_only(), TTS_CLEANWHY_HIDDEN);
    make_host();
    find_process(LIVE)->pid_levels = 2;
    T_EQ(why_of_only(), TTS_CLEANWHY_NAMESPACE);
    T_EQ(plan.regions[0].pid, LIVE);
    make_host();
    find_process(LIVE)->namespace_known = view.own_namespace_known = true;
    find_process(LIVE)->namespace_id = 8;
    T_EQ(why_of_only(), TTS_CLEANWHY_NAMESPACE);
    make_host();
    find_process(LIVE)->pid_levels = 0;
    T_EQ(why_of_only(), TTS_CLEANWHY_HOLDER);
    release_all();
}

T_TEST(a_holder_that_ended_may_have_a_child_that_keeps_the_device)
{
    make_host();
    find_process(LIVE)->is_alive = false;
    T_EQ(why_of_only(), TTS_CLEANWHY_HOLDER);
    T_EQ(plan.regions[0].pid, LIVE);
    release_all();
}

T_TEST(our_own_process_is_no_holder)
{
    make_host();
    view.chips[0].holders[view.chips[0].holder_count++] = OUR_PID;
    T_EQ(why_of_only(), TTS_CLEANWHY_NONE);
    release_all();
}

T_TEST(a_running_process_with_the_number_of_an_entry_may_be_its_owner)
{
    make_host();
    struct tts_seenprocess *process = find_process(DEAD);
    process->is_alive = true;
    process->pid_levels = 1;
    T_EQ(why_of_only(), TTS_CLEANWHY_OWNER);
    T_EQ(plan.regions[0].pid, DEAD);
    process->nodes_known = true;
    process->nodes = 1;
    T_EQ(why_of_only(), TTS_CLEANWHY_OWNER);
    process->nodes = 0; /* has no device open */
    T_EQ(why_of_only(), TTS_CLEANWHY_NONE);
    process->nodes_known = false;
    process->start_known = true;
    process->start_ns = 103 * (uint64_t)SECOND; /* started after the last update */
    T_EQ(why_of_only(), TTS_CLEANWHY_NONE);
    view.regions[0].is_unix_time = false;
    T_EQ(why_of_only(), TTS_CLEANWHY_OWNER);
    make_host();
    find_process(DEAD)->pid = 1; /* the process was not examined */
    T_EQ(why_of_only(), TTS_CLEANWHY_OWNER);
    release_all();
}

T_TEST(a_region_without_a_board_is_judged_by_all_holders)
{
    make_host();
    view.regions[0].id = 99; /* a remote chip */
    T_EQ(why_of_only(), TTS_CLEANWHY_NONE);
    T_EQ(plan.regions[0].slot_count, 1);
    find_process(DEAD)->is_alive = true; /* a process without a device, for example */
    find_process(DEAD)->pid_levels = 1;
    T_EQ(why_of_only(), TTS_CLEANWHY_OWNER);
    find_process(DEAD)->nodes_known = true;
    T_EQ(why_of_only(), TTS_CLEANWHY_NONE);
    make_host();
    /* The clock was set after the last update: LIVE seems to have started later. */
    view.regions[0].id = 99;
    find_process(LIVE)->start_ns = 4000 * (uint64_t)SECOND;
    T_EQ(why_of_only(), TTS_CLEANWHY_OWNER);
    T_EQ(plan.regions[0].pid, LIVE);
    make_host();
    view.regions[0].id = UINT64_C(0x5aa5000000000003); /* simulated */
    T_EQ(why_of_only(), TTS_CLEANWHY_NO_BOARD);
    make_host();
    view.chip_count = 0;
    T_EQ(why_of_only(), TTS_CLEANWHY_NO_BOARD);
    release_all();
}

T_TEST(regions_that_are_private_or_cannot_be_read_are_refused)
{
    make_host();
    view.regions[0].private_of = LIVE;
    T_EQ(why_of_only(), TTS_CLEANWHY_PRIVATE);
    T_EQ(plan.regions[0].pid, LIVE);
    make_host();
    for (int is = TTS_SEENREGION_NO_ACCESS; is <= TTS_SEENREGION_FAILED; is++) {
        view.regions[0].state = (enum tts_seenregion_state)is;
        make_plan();
        bool is_new = is == TTS_SEENREGION_EMPTY || is == TTS_SEENREGION_INITIALISING;
        T_EQ(plan.count, is_new ? 0 : 1);
        T_TRUE(is_new || plan.regions[0].why == TTS_CLEANWHY_UNREADABLE);
    }
    release_all();
}

T_TEST(entries_that_changed_between_two_plans_are_dropped)
{
    struct tts_hostview first;
    struct tts_cleanplan earlier;
    make_host();
    make_plan();
    first = view;
    earlier = plan;
    tts_cleanplan_init(&plan, NULL);
    tts_hostview_init(&view, NULL);
    make_host();
    make_plan();
    tts_cleanplan_restrict(&plan, &earlier);
    T_EQ(plan.count, 1);
    T_EQ(plan.regions[0].slot_count, 1);
    view.regions[0].slots[0].last_update_ns++;
    make_plan();
    tts_cleanplan_restrict(&plan, &earlier);
    T_EQ(plan.count, 0);
    view.regions[0].slots[0].last_update_ns--;
    view.regions[0].inode++;
    make_plan();
    tts_cleanplan_restrict(&plan, &earlier);
    T_EQ(plan.count, 0);
    tts_cleanplan_release(&earlier);
    tts_hostview_release(&first);
    release_all();
}

/* A program that was killed, with 4096 bytes of DRAM. */
static struct tts_seenclient *add_dead_program(uint32_t pid)
{
    struct tts_seenclient *client = tts_hostview_add_client(&view);
    client->pid_inside = pid;
    client->is_judged = true;
    client->namespace_id = 7;
    client->owner_uid = view.own_uid;
    client->inode = 5;
    strcpy(client->file, "ttscope_4001_1_7");
    client->first_view = view.view_count;
    client->view_count = 1;
    struct tts_seenview *seen = tts_hostview_add_view(&view);
    seen->client_1 = view.client_count;
    seen->counted_known = true;
    seen->counted_bytes[TTS_POOL_DRAM] = 4096;
    return client;
}

T_TEST(the_region_of_a_dead_program_of_our_namespace_goes)
{
    make_host();
    view.own_namespace_known = true;
    view.own_namespace_id = 7;
    view.own_uid = 1000;
    struct tts_seenclient *client = add_dead_program(DEAD);
    make_plan();
    T_EQ(plan.program_count, 1);
    T_TRUE(plan.programs[0].client == client && plan.programs[0].why == TTS_CLEANWHY_NONE);
    T_EQ(plan.programs[0].bytes.bytes[TTS_COUNTER_DRAM], 4096);
    client->owner_uid = 0;
    make_plan();
    T_EQ(plan.programs[0].why, TTS_CLEANWHY_PROGRAM_OWNER);
    view.own_uid = 0;
    client->owner_uid = 1000;
    make_plan();
    T_EQ(plan.programs[0].why, TTS_CLEANWHY_NONE);
    client->namespace_id = 8;
    make_plan();
    T_EQ(plan.programs[0].why, TTS_CLEANWHY_PROGRAM_NAMESPACE);
    client->is_boot_old = true;
    make_plan();
    T_EQ(plan.programs[0].why, TTS_CLEANWHY_NONE);
    client->private_of = 300;
    make_plan();
    T_EQ(plan.programs[0].why, TTS_CLEANWHY_PROGRAM_PRIVATE);
    client->private_of = 0;
    client->is_boot_old = false;
    client->namespace_id = 7;
    view.own_namespace_known = false;
    make_plan();
    T_EQ(plan.programs[0].why, TTS_CLEANWHY_PROGRAM_NAMESPACE);
    client->is_judged = false;
    make_plan();
    T_EQ(plan.program_count, 0);
    client->is_alive = client->is_judged = true;
    make_plan();
    T_EQ(plan.program_count, 0);
    release_all();
}

T_TEST(a_program_that_was_replaced_between_two_plans_is_dropped)
{
    make_host();
    view.own_namespace_known = true;
    view.own_namespace_id = 7;
    struct tts_seenclient *client = add_dead_program(DEAD);
    struct tts_seenclient other = *client;
    struct tts_cleanprogram program = {.client = &other};
    struct tts_cleanplan earlier = {.programs = &program, .program_count = 1};
    make_plan();
    tts_cleanplan_restrict(&plan, &earlier);
    T_EQ(plan.program_count, 1);
    other.inode = 6;
    tts_cleanplan_restrict(&plan, &earlier);
    T_EQ(plan.program_count, 0);
    release_all();
}

T_TEST(a_missing_allocation_is_told)
{
    struct heap heap;
    struct tts_error err;
    make_host();
    make_plan();
    tts_cleanplan_release(&plan);
    heap_init(&heap);
    heap.fail_at = 1;
    tts_cleanplan_init(&plan, &heap.alloc);
    T_EQ(tts_cleanplan_make(&plan, &view, &frame, &err), TTS_E_NOMEM);
    T_EQ(plan.count, 0);
    T_EQ(tts_cleanplan_make(&plan, &view, &frame, &err), TTS_OK);
    T_EQ(plan.count, 1);
    tts_cleanplan_release(&plan);
    T_EQ(heap.live_blocks, 0);
    T_TRUE(heap_is_settled(&heap));
    plan.alloc = NULL;
    release_all();
}
