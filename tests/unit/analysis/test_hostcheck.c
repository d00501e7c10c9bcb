#include "analysis/live/hostcheck.h"
#include "analysis/live/liveowners.h"
#include "harness/t.h"

#include <errno.h>
#include <string.h>

static struct tts_hostview view;
static struct tts_liveframe frame;
static struct tts_hostchecks checks;

static void begin_host(void)
{
    tts_hostview_init(&view, NULL);
    tts_liveframe_init(&frame, NULL);
}

static void end_host(void)
{
    tts_liveframe_release(&frame);
    tts_hostview_release(&view);
}

static void run_checks(void)
{
    T_EQ(tts_liveowners_judge(&view, &frame, NULL), TTS_OK);
    tts_hostcheck_all(&view, &frame, &checks);
}

static const struct tts_hostcheck *find_check(const char *id)
{
    for (size_t i = 0; i < checks.count; i++)
        if (strcmp(checks.checks[i].id, id) == 0)
            return &checks.checks[i];
    return NULL;
}

static enum tts_severity severity_of(const char *id)
{
    T_TRUE(find_check(id) != NULL);
    return find_check(id)->severity;
}

/* A host on which everything is in order: one chip in use, its region and a buffer log. */
static void add_good_host(void)
{
    view.driver_loaded = view.nodes_listed = true;
    strcpy(view.driver_version, "2.10.0");
    struct tts_seennode *node = tts_hostview_add_node(&view);
    node->is_usable = true;
    struct tts_seenchip *chip = tts_hostview_add_chip(&view);
    chip->holders_known = chip->asic_id_known = true;
    chip->asic_id = 5;
    chip->preset = "n150";
    chip->holders[chip->holder_count++] = 200;
    struct tts_seenprocess *process = tts_hostview_add_process(&view);
    process->pid = process->pid_inside = 200;
    process->pid_levels = 1;
    process->is_alive = true;
    strcpy(process->comm, "python3");
    struct tts_seenregion *region = tts_hostview_add_region(&view);
    region->id = 5;
    region->layout = "v3";
    region->reference_count = 1;
    region->slots[0].pid = 200;
    region->slot_count = 1;
    tts_hostview_add_buffers(&view)->pid = 200;
    struct tts_seenclient *client = tts_hostview_add_client(&view);
    client->pid = client->pid_inside = 200;
    client->is_alive = client->is_judged = true;
}

T_TEST(a_host_in_order_has_no_remark)
{
    begin_host();
    add_good_host();
    run_checks();
    T_EQ(tts_hostcheck_worst(&checks), TTS_SEVERITY_NONE);
    T_TRUE(checks.has_device && checks.has_source);
    T_STR_EQ(find_check("driver")->answer, "the driver (tt-kmd 2.10.0) is loaded");
    T_STR_EQ(find_check("holders")->answer, "chip 0 is in use: python3 (200)");
    T_TRUE(find_check("locks") == NULL && find_check("namespaces") == NULL);
    end_host();
}

T_TEST(a_host_without_anything_has_neither_device_nor_source)
{
    begin_host();
    run_checks();
    T_TRUE(!checks.has_device && !checks.has_source);
    T_EQ(severity_of("driver"), TTS_SEVERITY_ERROR);
    T_EQ(severity_of("nodes"), TTS_SEVERITY_ERROR);
    T_EQ(severity_of("regions"), TTS_SEVERITY_NOTE);
    for (size_t i = 0; i < checks.count; i++)
        T_TRUE(checks.checks[i].answer[0] && checks.checks[i].action[0]);
    end_host();
}

T_TEST(each_deviation_changes_the_check_that_is_about_it)
{
    begin_host();
    add_good_host();
    view.nodes[0].is_usable = false;
    view.chips[0].preset = NULL;
    view.regions[0].state = TTS_SEENREGION_NO_ACCESS;
    view.buffers_count = 0;
    view.processes[0].pid_levels = 2;
    run_checks();
    T_EQ(severity_of("nodes"), TTS_SEVERITY_WARNING);
    T_EQ(severity_of("chips"), TTS_SEVERITY_NOTE);
    T_EQ(severity_of("regions"), TTS_SEVERITY_WARNING);
    T_TRUE(strstr(find_check("regions")->answer, "belongs to user 0") != NULL);
    T_EQ(severity_of("buffer-logs"), TTS_SEVERITY_NOTE);
    T_EQ(severity_of("namespaces"), TTS_SEVERITY_NONE);
    T_TRUE(!checks.has_source && checks.has_device);
    view.chips[0].holders[0] = 0;
    run_checks();
    T_EQ(severity_of("namespaces"), TTS_SEVERITY_WARNING);
    view.chips[0].holders_known = false;
    run_checks();
    T_EQ(severity_of("holders"), TTS_SEVERITY_WARNING);
    end_host();
}

T_TEST(left_over_bytes_and_locks_are_reported)
{
    begin_host();
    add_good_host();
    view.chips[0].holder_count = 0;
    view.chips[0].lock_known = true;
    view.chips[0].lock_pid = 200;
    view.buffers_count = 0;
    view.regions[0].slots[0].counters.known = view.regions[0].total.known = 1;
    view.regions[0].slots[0].counters.bytes[TTS_COUNTER_DRAM] = 77;
    view.regions[0].total.bytes[TTS_COUNTER_DRAM] = 77;
    run_checks();
    T_EQ(severity_of("locks"), TTS_SEVERITY_NOTE);
    T_EQ(severity_of("regions"), TTS_SEVERITY_WARNING);
    T_TRUE(strstr(find_check("regions")->action, "ttscope clean") != NULL);
    T_STR_EQ(find_check("holders")->answer, "no process has a chip open");
    end_host();
}

T_TEST(programs_that_publish_are_counted_by_what_is_known_about_them)
{
    begin_host();
    add_good_host();
    struct tts_seenclient *client = tts_hostview_add_client(&view);
    client->pid = 201;
    client->is_alive = client->is_judged = true;
    run_checks();
    T_STR_EQ(find_check("programs")->answer, "2 programs publish their memory");
    T_EQ(severity_of("programs"), TTS_SEVERITY_NONE);
    client->is_alive = client->is_judged = false;
    run_checks();
    T_STR_EQ(find_check("programs")->answer, "2 programs publish their memory");
    T_TRUE(strstr(find_check("programs")->action, "another pid namespace") != NULL);
    client->has_ended = true;
    run_checks();
    T_STR_EQ(find_check("programs")->answer, "1 program publishes its memory");
    client->has_ended = false;
    client->state = TTS_SEENREGION_NO_ACCESS;
    client->owner_uid = 77;
    strcpy(client->file, "ttscope_1_2_3");
    run_checks();
    T_EQ(severity_of("programs"), TTS_SEVERITY_WARNING);
    T_TRUE(strstr(find_check("programs")->action, "'ttscope_1_2_3' belongs to user 77"));
    client->state = TTS_SEENREGION_CORRUPT;
    run_checks();
    T_TRUE(strstr(find_check("programs")->action, "is damaged") != NULL);
    client->is_judged = true;
    client->state = TTS_SEENREGION_READ;
    client->view_count = 1;
    struct tts_seenview *seen = tts_hostview_add_view(&view);
    seen->client_1 = 2;
    seen->counted_known = true;
    seen->counted_bytes[TTS_POOL_DRAM] = 77;
    run_checks();
    T_TRUE(checks.has_left_over);
    T_EQ(severity_of("programs"), TTS_SEVERITY_WARNING);
    T_STR_EQ(find_check("programs")->answer,
             "1 program publishes its memory; 1 region is left of programs that were killed");
    T_EQ(severity_of("regions"), TTS_SEVERITY_NONE);
    view.client_count = 0;
    run_checks();
    T_EQ(severity_of("programs"), TTS_SEVERITY_NOTE);
    end_host();
}

T_TEST(a_directory_that_cannot_be_listed_is_not_empty)
{
    begin_host();
    add_good_host();
    view.region_count = view.client_count = 0;
    view.regions_errno = EACCES;
    run_checks();
    T_EQ(severity_of("regions"), TTS_SEVERITY_WARNING);
    T_STR_EQ(find_check("regions")->answer, "cannot list /dev/shm: permission denied");
    T_STR_EQ(find_check("regions")->action,
             "run ttscope as root, or check the permissions with 'ls -ld /dev/shm'");
    T_EQ(severity_of("programs"), TTS_SEVERITY_WARNING);
    T_STR_EQ(find_check("programs")->answer, "cannot list /dev/shm: permission denied");
    view.regions_errno = ENOENT; /* nothing is hidden */
    run_checks();
    T_EQ(severity_of("regions"), TTS_SEVERITY_NOTE);
    view.chip_count = 0;
    view.chips_errno = EACCES;
    run_checks();
    T_EQ(severity_of("driver"), TTS_SEVERITY_NONE);
    T_EQ(severity_of("chips"), TTS_SEVERITY_ERROR);
    T_STR_EQ(find_check("chips")->answer,
             "cannot list /sys/class/tenstorrent: permission denied");
    view.driver_loaded = false;
    run_checks();
    T_EQ(severity_of("driver"), TTS_SEVERITY_ERROR);
    T_STR_EQ(find_check("driver")->answer,
             "unknown whether the driver is loaded: cannot list /sys/class/tenstorrent: "
             "permission denied");
    T_TRUE(strstr(find_check("driver")->action, "modprobe") == NULL);
    end_host();
}

T_TEST(long_lists_are_cut)
{
    begin_host();
    view.driver_loaded = view.nodes_listed = true;
    for (uint32_t i = 0; i < TTS_HOSTVIEW_CHIPS_MAX; i++) {
        tts_hostview_add_node(&view)->node = i;
        tts_hostview_add_chip(&view)->node = i;
    }
    run_checks();
    T_STR_EQ(find_check("nodes")->answer,
             "this user may not open nodes 0, 1, 2, 3, 4, 5, 6, 7 and 248 more");
    end_host();
}
