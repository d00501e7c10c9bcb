#include "harness/host.h"
#include "harness/region_image.h"
#include "harness/t.h"
#include "sources/live/regions.h"
#include "torture/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static const char *region_path(uint64_t id)
{
    static char path[64];
    snprintf(path, sizeof path, "dev/shm/tt_device_%" PRIu64 "_memory", id);
    return path;
}

static void new_host(const char *name)
{
    host_new(name);
    host_dir("dev/shm");
}

static void put_image(uint64_t id, const struct region_image *image)
{
    host_put_bytes(region_path(id), image->bytes, image->len);
}

static struct tts_hostview read_view(void)
{
    struct tts_hostview view;
    struct tts_error err = {0};
    tts_hostview_init(&view, NULL);
    T_EQ(tts_regions_read(&view, host_root, 0, NULL, &err), TTS_OK);
    T_STR_EQ(err.text, "");
    T_EQ(view.regions_errno, 0);
    for (size_t i = 1; i < view.region_count; i++)
        T_TRUE(view.regions[i - 1].id < view.regions[i].id);
    return view;
}

/* Reads a host that has one region. */
static const struct tts_seenregion *read_one(void)
{
    static struct tts_seenregion region;
    struct tts_hostview view = read_view();
    T_EQ(view.region_count, 1);
    region = view.regions[0];
    tts_hostview_release(&view);
    return &region;
}

static enum tts_seenregion_state state_of(const void *bytes, size_t len)
{
    host_put_bytes(region_path(7), bytes, len);
    return read_one()->state;
}

static enum tts_seenregion_state state_of_image(const struct region_image *image)
{
    return state_of(image->bytes, image->len);
}

/* Makes a region with one process. */
static struct region_image small_image(const char *kind)
{
    struct region_image image;
    T_TRUE(region_image_init(&image, kind, 7));
    region_image_put_slot(&image, 3,
                          &(struct region_image_slot){.pid = 4242,
                                                      .bytes = {10, 20, 30, 40, 50, 60},
                                                      .time_ns = 1234567890123,
                                                      .name = "python3"});
    region_image_put_totals(&image, (const uint64_t[]){11, 22, 33, 44, 55, 66});
    region_image_put32(&image, REGION_IMAGE_REFERENCES, 2);
    region_image_put32(&image, REGION_IMAGE_LOGICAL, 5);
    return image;
}

/* --- versions --------------------------------------------------------------------------- */

T_TEST(every_version_gives_its_numbers)
{
    static const char *const kinds[] = {"v1k", "v1", "v2", "v3", "v4"};
    new_host("versions");
    for (size_t i = 0; i < 5; i++) {
        struct region_image image = small_image(kinds[i]);
        bool is_v1 = image.version == 1;
        put_image(7, &image);
        const struct tts_seenregion *region = read_one();
        T_EQ(region->state, TTS_SEENREGION_READ);
        T_STR_EQ(region->layout, kinds[i]);
        T_EQ(region->id, 7);
        T_EQ(region->version, image.version);
        T_EQ(region->file_bytes, image.len);
        T_EQ(region->owner_uid, geteuid());
        T_EQ(region->private_of, 0);
        T_EQ(region->asic_id, 7);
        T_TRUE(region->is_id_confirmed);
        T_EQ(region->is_unix_time, !is_v1);
        T_EQ(region->logical_id, 5);
        T_EQ(region->reference_count, 2);
        T_EQ(region->last_update_ns, 1760000000000000000);
        T_EQ(region->total.known, i == 0 ? 63 : 31);
        T_EQ(region->slot_count, 1);
        const struct tts_seenslot *slot = &region->slots[0];
        T_EQ(slot->pid, 4242);
        T_EQ(slot->index, 3);
        T_EQ(slot->last_update_ns, 1234567890123);
        T_STR_EQ(slot->name, "python3");
        T_EQ(slot->counters.known, i == 0 ? 63 : 31);
        for (uint64_t k = 0; k < TTS_COUNTERS; k++) {
            bool is_known = k < 5 || i == 0;
            T_EQ(slot->counters.bytes[k], is_known ? 10 * (k + 1) : 0);
            T_EQ(region->total.bytes[k], is_known ? 11 * (k + 1) : 0);
        }
    }
}

T_TEST(the_published_vectors_of_versions_3_4_and_1_are_read)
{
    static unsigned char bytes[9280];
    new_host("vectors");
    memcpy(bytes, "\x03\0\0", 4);
    for (size_t chip = 1; chip < 16; chip++)
        memcpy(bytes + 88 + 48 * chip, "\xff\xff\xff\xff", 4);
    memcpy(bytes + 856, "\x92\x10\0", 4);
    memcpy(bytes + 864, "\0\0\x10\0", 4);
    memcpy(bytes + 912, "demo", 4);
    T_EQ(state_of(bytes, 8576), TTS_SEENREGION_READ);
    const struct tts_seenregion *region = read_one();
    T_STR_EQ(region->layout, "v3");
    T_EQ(region->slot_count, 1);
    T_EQ(region->slots[0].pid, 4242);
    T_EQ(region->slots[0].counters.bytes[TTS_COUNTER_DRAM], 1 << 20);
    T_STR_EQ(region->slots[0].name, "demo");
    T_TRUE(!region->is_id_confirmed);

    bytes[0] = 4;
    memcpy(bytes + 8536, "\x59\x44\x45\x52", 4);
    T_EQ(state_of(bytes, 8576), TTS_SEENREGION_READ);
    T_STR_EQ(read_one()->layout, "v4");

    memset(bytes, 0, sizeof bytes);
    bytes[0] = 1;
    memcpy(bytes + 992, "\x92\x10\0", 4);
    memcpy(bytes + 1000, "\0\0\x10\0", 4);
    memcpy(bytes + 1056, "demo", 4);
    T_EQ(state_of(bytes, 9280), TTS_SEENREGION_READ);
    region = read_one();
    T_STR_EQ(region->layout, "v1k");
    T_EQ(region->slot_count, 1);
    T_EQ(region->slots[0].pid, 4242);
    T_EQ(region->slots[0].counters.bytes[TTS_COUNTER_DRAM], 1 << 20);
    T_STR_EQ(region->slots[0].name, "demo");
}

T_TEST(the_id_in_the_region_is_compared_with_the_name)
{
    static const struct {
        const char *kind;
        uint64_t name, inside;
        bool same;
    } cases[] = {
        {"v3", 141176416515936, 141176416515936, true},
        {"v3", 18446744073709551615u, 18446744073709551615u, true},
        {"v3", 7, 8, false},
        {"v1", (UINT64_C(0x403319141bb) << 8) | 3, (UINT64_C(0x403319141bb) << 8) | 3, true},
        {"v1", (UINT64_C(0x403319141bb) << 8) | 3, (UINT64_C(0x403319141bb) << 8) | 4, false},
        {"v1k", 0, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct region_image image;
        new_host("ids");
        T_TRUE(region_image_init(&image, cases[i].kind, cases[i].inside));
        put_image(cases[i].name, &image);
        const struct tts_seenregion *region = read_one();
        T_EQ(region->state, TTS_SEENREGION_READ);
        T_TRUE(region->id == cases[i].name);
        T_EQ(region->is_id_confirmed, cases[i].same);
        T_EQ(unlink(host_path(region_path(cases[i].name))), 0);
    }
}

/* --- slots ------------------------------------------------------------------------------ */

T_TEST(slots_without_a_process_are_left_out_and_names_are_terminated)
{
    char name[65];
    struct region_image image;
    new_host("slots");
    memset(name, 'n', 64);
    name[64] = '\0';
    T_TRUE(region_image_init(&image, "v4", 7));
    region_image_put_slot(&image, 0, &(struct region_image_slot){.name = "left over"});
    region_image_put_slot(&image, 1, &(struct region_image_slot){.pid = -1, .name = "going"});
    region_image_put_slot(&image, 2, &(struct region_image_slot){.pid = -77});
    region_image_put_slot(&image, 63, &(struct region_image_slot){.pid = 5, .name = name});
    put_image(7, &image);
    const struct tts_seenregion *region = read_one();
    T_EQ(region->state, TTS_SEENREGION_READ);
    T_EQ(region->slot_count, 1);
    T_EQ(region->slots[0].pid, 5);
    T_EQ(region->slots[0].index, 63);
    T_EQ(strlen(region->slots[0].name), 63);
}

T_TEST(sixty_four_slots_in_each_of_thirty_two_regions_are_read)
{
    new_host("many");
    for (uint32_t id = 32; id > 0; id--) {
        struct region_image image;
        T_TRUE(region_image_init(&image, id % 2 ? "v3" : "v1k", id));
        for (uint32_t i = 0; i < REGION_IMAGE_SLOTS; i++)
            region_image_put_slot(&image, i,
                                  &(struct region_image_slot){.pid = (int32_t)(id * 100 + i),
                                                              .bytes = {id, i, 1, 2, 3, 4}});
        put_image(id, &image);
    }
    struct tts_hostview view = read_view();
    T_EQ(view.region_count, 32);
    T_EQ(view.regions_left_out, 0);
    for (uint32_t id = 1; id <= 32; id++) {
        const struct tts_seenregion *region = &view.regions[id - 1];
        T_EQ(region->id, id);
        T_EQ(region->state, TTS_SEENREGION_READ);
        T_EQ(region->slot_count, REGION_IMAGE_SLOTS);
        for (uint32_t i = 0; i < REGION_IMAGE_SLOTS; i++) {
            T_EQ(region->slots[i].pid, id * 100 + i);
            T_EQ(region->slots[i].counters.bytes[TTS_COUNTER_DRAM], id);
            T_EQ(region->slots[i].counters.bytes[TTS_COUNTER_L1], i);
        }
    }
    tts_hostview_release(&view);
}

/* --- states ----------------------------------------------------------------------------- */

T_TEST(a_file_that_is_created_but_not_initialised_is_empty)
{
    static unsigned char bytes[8576];
    new_host("empty");
    T_EQ(state_of("", 0), TTS_SEENREGION_EMPTY);
    T_TRUE(read_one()->layout == NULL);
    T_EQ(state_of(bytes, 4), TTS_SEENREGION_EMPTY);
    T_EQ(state_of(bytes, sizeof bytes), TTS_SEENREGION_EMPTY);
}

T_TEST(an_unknown_version_or_size_is_refused)
{
    static unsigned char bytes[100000];
    new_host("unknown");
    for (int version = 1; version <= 6; version++) {
        static const size_t sizes[] = {1, 3, 4, 4096, 8575, 8577, 9279, 9281, 12288, 100000};
        bytes[0] = (unsigned char)version;
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            T_EQ(state_of(bytes, sizes[i]), TTS_SEENREGION_UNKNOWN_VERSION);
            T_EQ(read_one()->version, sizes[i] < 4 ? 0 : version);
            T_EQ(read_one()->file_bytes, sizes[i]);
            T_TRUE(read_one()->layout == NULL);
        }
    }
    T_EQ(state_of(bytes, 8576), TTS_SEENREGION_UNKNOWN_VERSION);
    bytes[0] = 3;
    T_EQ(state_of(bytes, 9280), TTS_SEENREGION_UNKNOWN_VERSION);
}

T_TEST(a_region_of_version_4_is_read_only_if_it_is_ready)
{
    new_host("init");
    struct region_image image = small_image("v4");
    T_EQ(state_of_image(&image), TTS_SEENREGION_READ);
    for (uint32_t value = 0; value < 2; value++) {
        region_image_put32(&image, REGION_IMAGE_INIT_STATE, value);
        T_EQ(state_of_image(&image), TTS_SEENREGION_INITIALISING);
        T_STR_EQ(read_one()->layout, "v4");
        T_EQ(read_one()->slot_count, 0);
    }
    region_image_put32(&image, REGION_IMAGE_INIT_STATE, 2);
    T_EQ(state_of_image(&image), TTS_SEENREGION_CORRUPT);
    image = small_image("v3");
    region_image_put32(&image, REGION_IMAGE_INIT_STATE, 1);
    T_EQ(state_of_image(&image), TTS_SEENREGION_READ);
}

T_TEST(values_that_no_device_can_hold_are_corrupt)
{
    static const char *const kinds[] = {"v1k", "v1", "v2", "v3", "v4"};
    const uint64_t most = UINT64_C(1) << 50;
    new_host("corrupt");
    for (size_t k = 0; k < 5; k++) {
        struct region_image image = small_image(kinds[k]);
        size_t slot = region_image_slot_off(&image, 3);
        size_t last = image.has_kernels ? 5 : 4;
        const size_t offsets[] = {REGION_IMAGE_TOTALS, REGION_IMAGE_TOTALS + 8 * last, slot + 8,
                                  slot + 8 + 8 * last};
        for (size_t i = 0; i < 4; i++) {
            image = small_image(kinds[k]);
            region_image_put64(&image, offsets[i], most);
            T_EQ(state_of_image(&image), TTS_SEENREGION_READ);
            region_image_put64(&image, offsets[i], most + 1);
            T_EQ(state_of_image(&image), TTS_SEENREGION_CORRUPT);
            T_EQ(read_one()->slot_count, 0);
            region_image_put64(&image, offsets[i], UINT64_MAX - 4095); /* 0 - 4096 */
            T_EQ(state_of_image(&image), TTS_SEENREGION_CORRUPT);
        }
        image = small_image(kinds[k]);
        region_image_put32(&image, slot, 4194304);
        T_EQ(state_of_image(&image), TTS_SEENREGION_READ);
        region_image_put32(&image, slot, 4194305);
        T_EQ(state_of_image(&image), TTS_SEENREGION_CORRUPT);
    }
}

T_TEST(rubbish_in_a_free_slot_does_not_matter)
{
    new_host("free_slot");
    struct region_image image = small_image("v3");
    size_t slot = region_image_slot_off(&image, 9);
    memset(image.bytes + slot + 4, 0xff, 116);
    T_EQ(state_of_image(&image), TTS_SEENREGION_READ);
    T_EQ(read_one()->slot_count, 1);
}

/* --- files and directories -------------------------------------------------------------- */

T_TEST(only_regular_files_with_the_exact_name_are_regions)
{
    static const char *const names[] = {
        "tt_device__memory",         "tt_device_x_memory",
        "tt_device_07_memory",       "tt_device_00_memory",
        "tt_device_-1_memory",       "tt_device_+1_memory",
        "tt_device_1 _memory",       "tt_device_18446744073709551616_memory",
        "tt_device_1_memory2",       "xtt_device_1_memory",
        "tt_device_1_util",          "tt_device_1_memory_memory",
        "TT_device_1_memory",        "tt_device_1_memory.",
        "tt_program_registry",       "tt_device_99999999999999999999999999_memory",
        "tt_device_0x1_memory",      "tt_device_1",
        "tt_device_\xd9\xa1_memory",
    };
    new_host("names");
    struct region_image image = small_image("v3");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "dev/shm/%s", names[i]);
        host_put_bytes(path, image.bytes, image.len);
    }
    host_put_bytes("elsewhere", image.bytes, image.len);
    T_EQ(symlink(host_path("elsewhere"), host_path(region_path(1))), 0);
    T_EQ(symlink("nowhere", host_path(region_path(2))), 0);
    host_dir(region_path(3));
    T_EQ(mkfifo(host_path(region_path(4)), 0600), 0);
    struct tts_hostview view = read_view();
    T_EQ(view.region_count, 0);
    tts_hostview_release(&view);
    put_image(0, &image);
    put_image(18446744073709551615u, &image);
    view = read_view();
    T_EQ(view.region_count, 2);
    T_TRUE(view.regions[0].id == 0 && view.regions[1].id == UINT64_MAX);
    tts_hostview_release(&view);
}

T_TEST(the_file_of_another_user_is_seen_with_its_owner)
{
    new_host("other_user");
    struct region_image image = small_image("v3");
    put_image(7, &image);
    T_EQ(chmod(host_path(region_path(7)), 0), 0);
    bool is_root = geteuid() == 0;
    T_TRUE(!is_root || (chmod(t_scratch(""), 0755) == 0 && seteuid(NOBODY) == 0));
    struct tts_hostview view = read_view();
    T_TRUE(!is_root || seteuid(0) == 0);
    T_EQ(view.region_count, 1);
    T_EQ(view.regions[0].state, TTS_SEENREGION_NO_ACCESS);
    T_EQ(view.regions[0].owner_uid, getuid());
    T_EQ(view.regions[0].file_bytes, image.len);
    T_TRUE(view.regions[0].inode != 0);
    tts_hostview_release(&view);
}

T_TEST(a_file_that_cannot_be_opened_tells_why)
{
    new_host("no_fd");
    struct region_image image = small_image("v3");
    put_image(7, &image);
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0) {
        /* The directory takes the last descriptor. */
        struct tts_hostview view;
        int next = dup(0);
        struct rlimit limit = {(rlim_t)next + 1, (rlim_t)next + 1};
        tts_hostview_init(&view, NULL);
        close(next);
        bool done = setrlimit(RLIMIT_NOFILE, &limit) == 0 &&
                    tts_regions_read(&view, host_root, 0, NULL, NULL) == TTS_OK &&
                    view.region_count == 1 && view.regions[0].state == TTS_SEENREGION_FAILED &&
                    view.regions[0].sys_errno == EMFILE;
        _exit(done ? 0 : 1);
    }
    int how;
    T_EQ(waitpid(child, &how, 0), child);
    T_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

T_TEST(a_directory_that_cannot_be_listed_is_no_failure_but_noted)
{
    struct tts_hostview view;
    host_new("no_shm");
    tts_hostview_init(&view, NULL);
    T_EQ(tts_regions_read(&view, host_root, 0, NULL, NULL), TTS_OK);
    T_EQ(view.regions_errno, ENOENT);
    T_EQ(view.region_count, 0);
    host_dir("dev/shm");
    T_EQ(tts_regions_read(&view, host_root, 0, NULL, NULL), TTS_OK);
    T_EQ(view.regions_errno, 0);
    char root[5000];
    memset(root, 'r', sizeof root - 1);
    root[sizeof root - 1] = '\0';
    T_EQ(tts_regions_read(&view, root, 0, NULL, NULL), TTS_OK);
    T_EQ(view.regions_errno, ENAMETOOLONG);
    struct tts_seenprocess *process = tts_hostview_add_process(&view);
    process->pid = 12;
    T_EQ(tts_regions_read(&view, host_root, 12, NULL, NULL), TTS_OK);
    T_EQ(view.processes[0].shm_errno, ENOENT);
    T_EQ(tts_regions_read(&view, host_root, 13, NULL, NULL), TTS_OK);
    T_EQ(view.region_count, 0);
    tts_hostview_release(&view);
}

T_TEST(private_directories_add_the_regions_that_the_host_does_not_have)
{
    new_host("private");
    struct region_image image = small_image("v3");
    put_image(7, &image);
    put_image(9, &image);
    host_dir("proc/12/root/dev/shm");
    host_dir("proc/13/root/dev");
    T_EQ(symlink(host_path("dev/shm"), host_path("proc/13/root/dev/shm")), 0);
    host_put_bytes("proc/12/root/dev/shm/tt_device_7_memory", image.bytes, image.len);
    host_put_bytes("proc/12/root/dev/shm/tt_device_8_memory", image.bytes, image.len);
    struct tts_hostview view = read_view();
    tts_hostview_add_process(&view)->pid = 12;
    view.processes[0].shm_errno = EACCES;
    for (uint32_t pid = 12; pid <= 13; pid++)
        T_EQ(tts_regions_read(&view, host_root, pid, NULL, NULL), TTS_OK);
    T_EQ(view.processes[0].shm_errno, 0);
    T_EQ(view.region_count, 4);
    static const struct {
        uint64_t id;
        uint32_t private_of;
    } wanted[] = {{7, 0}, {7, 12}, {8, 12}, {9, 0}};
    for (size_t i = 0; i < 4; i++) {
        T_EQ(view.regions[i].id, wanted[i].id);
        T_EQ(view.regions[i].private_of, wanted[i].private_of);
        T_EQ(view.regions[i].state, TTS_SEENREGION_READ);
        T_EQ(view.regions[i].slots[0].pid, 4242);
    }
    tts_hostview_release(&view);
}

/* Reads the regions of the host in a new round of `store`. */
static void read_round(struct tts_regionstore *store, struct tts_hostview *view)
{
    tts_regionstore_begin(store, NULL);
    tts_hostview_reset(view);
    T_EQ(tts_regions_read(view, host_root, 0, store, NULL), TTS_OK);
}

T_TEST(a_kept_region_is_read_again_if_its_bytes_or_its_file_change)
{
    struct tts_regionstore store = {0};
    struct tts_hostview view;
    new_host("kept");
    tts_hostview_init(&view, NULL);
    struct region_image image = small_image("v4");
    put_image(7, &image);
    for (int round = 0; round < 3; round++) {
        read_round(&store, &view);
        T_TRUE(view.region_count == 1 && store.count == 1);
        T_EQ(view.regions[0].total.bytes[TTS_COUNTER_DRAM], 11);
        T_EQ(view.regions[0].slots[0].pid, 4242);
    }
    /* Only the bytes change: not the time of the last change, nor that of the file. */
    region_image_put64(&image, REGION_IMAGE_TOTALS, 12);
    put_image(7, &image);
    read_round(&store, &view);
    T_EQ(view.regions[0].total.bytes[TTS_COUNTER_DRAM], 12);
    /* Another file takes the name. */
    T_EQ(rename(host_path(region_path(7)), host_path("old")), 0);
    region_image_put64(&image, REGION_IMAGE_TOTALS, 13);
    put_image(7, &image);
    read_round(&store, &view);
    T_EQ(view.regions[0].total.bytes[TTS_COUNTER_DRAM], 13);
    /* A process begins to initialise the region, and then is done. */
    region_image_put32(&image, REGION_IMAGE_INIT_STATE, 1);
    put_image(7, &image);
    read_round(&store, &view);
    T_TRUE(view.region_count == 1 && view.regions[0].state == TTS_SEENREGION_INITIALISING);
    host_put_bytes(region_path(7), "", 0);
    read_round(&store, &view);
    T_TRUE(view.region_count == 1 && view.regions[0].state == TTS_SEENREGION_EMPTY);
    image = small_image("v1k");
    put_image(7, &image);
    read_round(&store, &view);
    T_STR_EQ(view.regions[0].layout, "v1k");
    T_EQ(unlink(host_path(region_path(7))), 0);
    read_round(&store, &view);
    T_EQ(view.region_count, 0);
    read_round(&store, &view);
    T_EQ(store.count, 0);
    tts_regionstore_release(&store);
    tts_hostview_release(&view);
}

T_TEST(a_region_with_two_names_is_two_regions_and_a_private_one_is_one)
{
    struct tts_regionstore store = {0};
    struct tts_hostview view;
    new_host("two_names");
    tts_hostview_init(&view, NULL);
    struct region_image image = small_image("v3");
    put_image(7, &image);
    T_EQ(link(host_path(region_path(7)), host_path("dev/shm/tt_device_8_memory")), 0);
    host_dir("proc/12/root/dev");
    T_EQ(symlink(host_path("dev/shm"), host_path("proc/12/root/dev/shm")), 0);
    for (int round = 0; round < 3; round++) {
        read_round(&store, &view);
        T_EQ(tts_regions_read(&view, host_root, 12, &store, NULL), TTS_OK);
        T_EQ(view.region_count, 2);
        T_TRUE(view.regions[0].id == 7 && view.regions[0].is_id_confirmed);
        T_TRUE(view.regions[1].id == 8 && !view.regions[1].is_id_confirmed);
    }
    tts_regionstore_release(&store);
    tts_hostview_release(&view);
}

T_TEST(regions_beyond_the_limit_are_counted)
{
    new_host("limit");
    for (uint64_t id = TTS_HOSTVIEW_REGIONS_MAX + 3; id > 0; id--)
        host_put_bytes(region_path(id), "", 0);
    host_dir("proc/12/root/dev/shm");
    host_put_bytes("proc/12/root/dev/shm/tt_device_1_memory", "", 0);
    struct tts_hostview view = read_view();
    T_EQ(view.region_count, TTS_HOSTVIEW_REGIONS_MAX);
    T_EQ(view.regions_left_out, 3);
    T_EQ(view.regions[TTS_HOSTVIEW_REGIONS_MAX - 1].id, TTS_HOSTVIEW_REGIONS_MAX);
    T_EQ(tts_regions_read(&view, host_root, 12, NULL, NULL), TTS_OK);
    T_EQ(view.region_count, TTS_HOSTVIEW_REGIONS_MAX);
    T_EQ(view.regions_left_out, 4);
    tts_hostview_release(&view);
}

T_TEST(a_missing_allocation_is_told)
{
    struct heap heap;
    struct tts_hostview view;
    struct tts_error err;
    new_host("nomem");
    struct region_image image = small_image("v3");
    put_image(7, &image);
    heap_init(&heap);
    heap.fail_at = 1;
    tts_hostview_init(&view, &heap.alloc);
    T_EQ(tts_regions_read(&view, host_root, 0, NULL, &err), TTS_E_NOMEM);
    T_EQ(err.status, TTS_E_NOMEM);
    T_EQ(tts_regions_read(&view, host_root, 0, NULL, &err), TTS_OK);
    T_EQ(view.region_count, 1);
    tts_hostview_release(&view);
    T_EQ(heap.live_blocks, 0);
    T_TRUE(heap_is_settled(&heap));
}

/* --- a hostile writer ------------------------------------------------------------------- */

static void fill_random(int fd, uint64_t *rng, size_t len)
{
    unsigned char bytes[9280];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)t_random(rng);
    bytes[0] = (unsigned char)(bytes[0] % 6);
    if (bytes[0] != 0 && t_random(rng) % 4 != 0)
        memset(bytes + 1, 0, 3);
    if (pwrite(fd, bytes, len, 0) < 0)
        _exit(1);
}

/* Changes the region without an end, in every way that a process can. */
static void damage_region(const char *path, const char *other)
{
    static const off_t sizes[] = {0, 1, 4, 100, 4096, 8576, 9280, 20000};
    static const char *const kinds[] = {"v1k", "v1", "v2", "v3", "v4"};
    uint64_t rng = 5;
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        if (fd < 0)
            _exit(1);
        struct region_image image = small_image(kinds[t_random(&rng) % 5]);
        uint64_t way = t_random(&rng) % 8;
        bool done = true;
        if (way < 3)
            done = pwrite(fd, image.bytes, image.len, 0) > 0 &&
                   ftruncate(fd, (off_t)image.len) == 0;
        else if (way == 3)
            done = ftruncate(fd, sizes[t_random(&rng) % 8]) == 0;
        else if (way == 4)
            fill_random(fd, &rng, t_random(&rng) % 9280);
        else if (way == 5)
            done = unlink(path) == 0;
        else if (way == 6)
            done = mkdir(other, 0700) == 0 && rmdir(other) == 0 && mkfifo(other, 0600) == 0 &&
                   rename(other, path) == 0 && unlink(path) == 0;
        else
            done = symlink("x", other) == 0 && rename(other, path) == 0 && unlink(path) == 0;
        close(fd);
        if (!done)
            _exit(1);
    }
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void check_region(const struct tts_seenregion *region)
{
    T_EQ(region->id, 7);
    T_TRUE(region->state <= TTS_SEENREGION_FAILED);
    T_TRUE(region->slot_count <= TTS_HOSTVIEW_SLOTS);
    T_TRUE(region->state == TTS_SEENREGION_READ || region->slot_count == 0);
    for (size_t i = 0; i < region->slot_count; i++) {
        T_TRUE(region->slots[i].pid > 0);
        for (size_t k = 0; k < TTS_COUNTERS; k++)
            T_TRUE(region->slots[i].counters.bytes[k] <= TTS_REGIONS_BYTES_MAX);
    }
}

T_TEST(a_region_whose_version_never_stands_still_is_changing)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        skip(); /* the writer would never run during a read */
    new_host("changing");
    struct region_image image = small_image("v3");
    put_image(7, &image);
    int fd = open(host_path(region_path(7)), O_RDWR);
    T_TRUE(fd >= 0);
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        for (unsigned char version = 2; pwrite(fd, &version, 1, 0) == 1; version ^= 1)
            ;
        _exit(1);
    }
    enum tts_seenregion_state last = TTS_SEENREGION_READ;
    for (uint64_t end = now_ms() + 20000; last == TTS_SEENREGION_READ && now_ms() < end;) {
        const struct tts_seenregion *region = read_one();
        last = region->state;
        T_EQ(region->slot_count, last == TTS_SEENREGION_READ ? 1 : 0);
    }
    T_EQ(kill(child, SIGKILL), 0);
    T_EQ(waitpid(child, NULL, 0), child);
    close(fd);
    T_EQ(last, TTS_SEENREGION_CHANGING);
}

T_TEST(a_region_may_be_truncated_deleted_replaced_and_overwritten_while_it_is_read)
{
    char path[1024], other[1024];
    unsigned seen = 0;
    new_host("torture");
    snprintf(path, sizeof path, "%s", host_path(region_path(7)));
    snprintf(other, sizeof other, "%s", host_path("other"));
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        damage_region(path, other);
    }
    struct tts_hostview view;
    tts_hostview_init(&view, NULL);
    for (uint64_t end = now_ms() + 800; now_ms() < end;) {
        tts_hostview_reset(&view);
        T_EQ(tts_regions_read(&view, host_root, 0, NULL, NULL), TTS_OK);
        T_TRUE(view.region_count <= 1);
        if (view.region_count == 1) {
            check_region(&view.regions[0]);
            seen |= 1U << view.regions[0].state;
        }
    }
    tts_hostview_release(&view);
    T_EQ(waitpid(child, NULL, WNOHANG), 0); /* the child did its work to the end */
    T_EQ(kill(child, SIGKILL), 0);
    T_EQ(waitpid(child, NULL, 0), child);
    T_TRUE(seen & 1U << TTS_SEENREGION_READ);
    T_TRUE(seen & 1U << TTS_SEENREGION_UNKNOWN_VERSION);
    T_TRUE(seen & 1U << TTS_SEENREGION_EMPTY);
}
