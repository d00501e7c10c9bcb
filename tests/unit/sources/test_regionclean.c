#include "harness/host.h"
#include "harness/region_image.h"
#include "harness/t.h"
#include "sources/live/regionclean.h"
#include "sources/live/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ID = 7, DEAD = 4001, LIVE = 4002, TIME = 1234567, NOBODY = 65534 };

#define REGION_PATH "dev/shm/tt_device_7_memory"

static struct region_image image;
static struct tts_hostview view;
static struct tts_regionclean clean;

static void put_process(size_t index, int32_t pid, uint64_t unit)
{
    region_image_put_slot(&image, index,
                          &(struct region_image_slot){
                              .pid = pid,
                              .bytes = {unit, 2 * unit, 3 * unit, 4 * unit, 5 * unit, 6 * unit},
                              .time_ns = TIME,
                              .name = "python3"});
}

static void write_image(void)
{
    host_put_bytes(REGION_PATH, image.bytes, image.len);
}

/* Makes a region in which a dead process holds 10 units and a live one holds 100. The total of
 * circular buffers is that of the live process. */
static void make_region(const char *kind)
{
    host_new("clean");
    host_dir("dev/shm");
    unlink(host_path(REGION_PATH)); /* what the test before left there */
    T_TRUE(region_image_init(&image, kind, ID));
    put_process(0, LIVE, 100);
    put_process(2, DEAD, 10);
    region_image_put_totals(&image, (const uint64_t[]){111, 222, 333, 444, 500, 666});
    region_image_put32(&image, REGION_IMAGE_REFERENCES, 3);
    region_image_put32(&image, REGION_IMAGE_ACTIVE, 2);
    write_image();
}

/* Reads the host and makes a request to remove the process DEAD. */
static void read_host_view(void)
{
    tts_hostview_release(&view);
    tts_hostview_init(&view, NULL);
    T_EQ(tts_regions_read(&view, host_root, 0, NULL, NULL), TTS_OK);
    T_EQ(view.region_count, 1);
    clean = (struct tts_regionclean){.region = &view.regions[0]};
    for (size_t i = 0; i < view.regions[0].slot_count; i++)
        if (view.regions[0].slots[i].pid == DEAD)
            clean.entries[clean.entry_count++].slot = i;
}

static enum tts_status run_clean(void)
{
    struct tts_error err = {0};
    enum tts_status status = tts_regionclean_run(&clean, host_root, &err);
    T_EQ(err.status, status);
    T_EQ(err.text[0] == '\0', status == TTS_OK);
    return status;
}

/* Compares the file with the image. */
static void expect_image(void)
{
    static unsigned char bytes[REGION_IMAGE_MAX];
    int fd = open(host_path(REGION_PATH), O_RDONLY);
    T_EQ(read(fd, bytes, sizeof bytes), image.len);
    close(fd);
    T_MEM_EQ(bytes, image.bytes, image.len);
}

/* Removes the process from the image as the result must be. */
static void remove_from_image(size_t index)
{
    size_t off = region_image_slot_off(&image, index);
    size_t time_off = off + (image.has_kernels ? 56 : 48);
    memset(image.bytes + off, 0, time_off - off);
    memset(image.bytes + time_off + 8, 0, 64);
}

/* --- what is removed -------------------------------------------------------------------- */

T_TEST(a_dead_process_is_removed_and_its_bytes_leave_the_totals)
{
    static const char *const kinds[] = {"v1k", "v1", "v2", "v3", "v4"};
    for (size_t i = 0; i < 5; i++) {
        make_region(kinds[i]);
        read_host_view();
        T_EQ(clean.entry_count, 1);
        T_EQ(run_clean(), TTS_OK);
        T_TRUE(clean.entries[0].is_removed);
        T_TRUE(!clean.is_reset);
        T_EQ(clean.entries[0].before.known, image.has_kernels ? 63 : 31);
        for (uint64_t k = 0; k < (image.has_kernels ? 6 : 5); k++)
            T_EQ(clean.entries[0].before.bytes[k], 10 * (k + 1));
        remove_from_image(2);
        bool is_v4 = image.version == 4;
        region_image_put_totals(&image,
                                (const uint64_t[]){101, 202, 303, 404, is_v4 ? 450 : 500, 606});
        region_image_put32(&image, REGION_IMAGE_ACTIVE, 1);
        region_image_put32(&image, REGION_IMAGE_REFERENCES, is_v4 ? 2 : 3);
        expect_image();
        T_EQ(run_clean(), TTS_OK);
        T_TRUE(!clean.entries[0].is_removed);
        expect_image();
    }
}

T_TEST(no_total_falls_below_zero)
{
    make_region("v4");
    region_image_put_totals(&image, (const uint64_t[]){9, 0, 30, 41, 49, 0});
    region_image_put32(&image, REGION_IMAGE_REFERENCES, 0);
    region_image_put32(&image, REGION_IMAGE_ACTIVE, 0);
    write_image();
    read_host_view();
    T_EQ(run_clean(), TTS_OK);
    remove_from_image(2);
    region_image_put_totals(&image, (const uint64_t[]){0, 0, 0, 1, 0, 0});
    expect_image();
}

T_TEST(circular_buffers_of_the_last_writer_give_way_to_those_of_a_live_process)
{
    make_region("v3");
    region_image_put_totals(&image, (const uint64_t[]){110, 220, 330, 440, 50, 0});
    write_image();
    read_host_view();
    T_EQ(run_clean(), TTS_OK);
    remove_from_image(2);
    region_image_put_totals(&image, (const uint64_t[]){100, 200, 300, 400, 500, 0});
    region_image_put32(&image, REGION_IMAGE_ACTIVE, 1);
    expect_image();
}

T_TEST(a_region_that_no_process_holds_is_reset)
{
    static const char *const kinds[] = {"v1k", "v1", "v2", "v3", "v4"};
    for (size_t i = 0; i < 5; i++) {
        make_region(kinds[i]);
        size_t chips = image.has_kernels ? 96 : 88,
               last = chips + (image.has_kernels ? 15 * 56 : 15 * 48);
        put_process(0, -1, 100); /* a removal that was not finished */
        region_image_put64(&image, chips + 8, 10);
        region_image_put64(&image, last + 8, 10);
        write_image();
        read_host_view();
        clean.is_unheld = true;
        T_EQ(run_clean(), TTS_OK);
        T_TRUE(clean.entries[0].is_removed && clean.is_reset);
        T_EQ(clean.reset.bytes[TTS_COUNTER_DRAM], 101);
        T_EQ(clean.reset.bytes[TTS_COUNTER_TRACE], 404);
        remove_from_image(0);
        remove_from_image(2);
        region_image_put_totals(&image, (const uint64_t[]){0, 0, 0, 0, 0, 0});
        region_image_put64(&image, chips + 8, 0);
        region_image_put64(&image, last + 8, 0);
        region_image_put32(&image, REGION_IMAGE_ACTIVE, 0);
        region_image_put32(&image, REGION_IMAGE_REFERENCES, 0);
        expect_image();
    }
}

T_TEST(a_region_is_not_reset_if_a_process_came_after_it_was_read)
{
    make_region("v3");
    put_process(0, 0, 0);
    write_image();
    read_host_view();
    clean.is_unheld = true;
    region_image_put32(&image, REGION_IMAGE_REFERENCES, 4);
    write_image();
    T_EQ(run_clean(), TTS_OK);
    T_TRUE(clean.entries[0].is_removed && !clean.is_reset);
    T_EQ(clean.reset.known, 0);

    make_region("v3"); /* now with another process */
    read_host_view();
    clean.is_unheld = true;
    T_EQ(run_clean(), TTS_OK);
    T_TRUE(clean.entries[0].is_removed && !clean.is_reset);
}

/* --- what is left alone ----------------------------------------------------------------- */

T_TEST(an_entry_that_is_used_again_is_left_alone)
{
    make_region("v3");
    read_host_view();
    size_t off = region_image_slot_off(&image, 2);
    region_image_put64(&image, off + 48, TIME + 1); /* the same pid has written */
    write_image();
    T_EQ(run_clean(), TTS_OK);
    T_TRUE(!clean.entries[0].is_removed);
    expect_image();
    region_image_put64(&image, off + 48, TIME);
    region_image_put32(&image, off, LIVE + 1); /* another pid */
    write_image();
    T_EQ(run_clean(), TTS_OK);
    T_TRUE(!clean.entries[0].is_removed);
    expect_image();
}

T_TEST(a_region_that_changed_since_it_was_read_is_refused)
{
    make_region("v4");
    read_host_view();
    region_image_put32(&image, REGION_IMAGE_INIT_STATE, 1);
    write_image();
    T_EQ(run_clean(), TTS_E_BUSY);
    expect_image();
    region_image_put32(&image, REGION_IMAGE_INIT_STATE, 0x52454459);
    for (uint32_t version = 0; version < 4; version++) {
        region_image_put32(&image, REGION_IMAGE_VERSION, version);
        write_image();
        T_EQ(run_clean(), TTS_E_BUSY);
        expect_image();
    }
    static const off_t sizes[] = {0, 100, 8575, 9280};
    for (size_t i = 0; i < 4; i++) {
        T_EQ(truncate(host_path(REGION_PATH), sizes[i]), 0);
        T_EQ(run_clean(), TTS_E_BUSY);
    }
}

T_TEST(a_file_that_was_removed_or_replaced_is_refused)
{
    make_region("v3");
    read_host_view();
    host_put_bytes("other", image.bytes, image.len);
    T_EQ(rename(host_path("other"), host_path(REGION_PATH)), 0);
    T_EQ(run_clean(), TTS_E_NOT_FOUND);
    expect_image();
    T_EQ(rename(host_path(REGION_PATH), host_path("other")), 0);
    T_EQ(run_clean(), TTS_E_NOT_FOUND);
    T_EQ(symlink(host_path("other"), host_path(REGION_PATH)), 0);
    T_EQ(run_clean(), TTS_E_NOT_FOUND);
    expect_image();
}

T_TEST(two_cleaners_do_not_work_on_one_region)
{
    make_region("v3");
    read_host_view();
    int fd = open(host_path(REGION_PATH), O_RDONLY);
    T_EQ(flock(fd, LOCK_EX), 0);
    T_EQ(run_clean(), TTS_E_BUSY);
    expect_image();
    close(fd);
    T_EQ(run_clean(), TTS_OK);
    T_TRUE(clean.entries[0].is_removed);
}

T_TEST(a_region_that_was_not_read_or_is_private_is_refused)
{
    make_region("v3");
    read_host_view();
    view.regions[0].private_of = 12;
    T_EQ(run_clean(), TTS_E_INVALID);
    view.regions[0].private_of = 0;
    view.regions[0].state = TTS_SEENREGION_INITIALISING;
    T_EQ(run_clean(), TTS_E_INVALID);
    expect_image();
}

T_TEST(a_file_that_may_not_be_written_is_refused)
{
    make_region("v3");
    read_host_view();
    T_EQ(chmod(host_path(REGION_PATH), 0444), 0);
    bool is_root = geteuid() == 0;
    T_TRUE(!is_root || (chmod(t_scratch(""), 0755) == 0 && seteuid(NOBODY) == 0));
    struct tts_error err = {0};
    enum tts_status status = tts_regionclean_run(&clean, host_root, &err);
    T_TRUE(!is_root || seteuid(0) == 0);
    T_EQ(status, TTS_E_IO);
    T_EQ(err.sys_errno, EACCES);
    T_STR_EQ(err.text, "cannot clean region 7: permission denied");
    expect_image();
}

/* --- live processes meanwhile ----------------------------------------------------------- */

typedef _Atomic uint64_t shared_word;

static shared_word *map_image(void)
{
    int fd = open(host_path(REGION_PATH), O_RDWR);
    void *bytes = mmap(NULL, 8576, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    T_TRUE(bytes != MAP_FAILED);
    close(fd);
    return bytes;
}

T_TEST(counters_of_a_process_that_allocates_meanwhile_stay_right)
{
    enum { ROUNDS = 100, MOST_SECONDS = 5, DEAD_COUNT = 40, DEAD_BYTES = 1000 };
    make_region("v3");
    region_image_put_totals(&image, (const uint64_t[]){0, 0, 0, 0, 0, 0});
    put_process(0, LIVE, 0);
    write_image();
    shared_word *words = map_image();
    shared_word *total = &words[48 / 8], *own = &words[(856 + 8) / 8];
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        for (uint64_t size = 1;; size = size % 97 + 1) {
            atomic_fetch_add(total, size);
            atomic_fetch_add(own, size);
        }
    }
    uint64_t removed = 0, rounds = 0;
    /* Rounds count only if the child ran during the call. */
    time_t end = time(NULL) + MOST_SECONDS;
    for (int shared = 0; shared < ROUNDS && time(NULL) < end; rounds++) {
        for (size_t i = 0; i < DEAD_COUNT; i++) {
            size_t at = (856 + 120 * (i + 1)) / 8;
            atomic_store(&words[at + 1], DEAD_BYTES);
            atomic_fetch_add(total, DEAD_BYTES);
            atomic_store(&words[at], DEAD);
        }
        read_host_view();
        T_EQ(clean.entry_count, DEAD_COUNT);
        uint64_t before = atomic_load(own);
        T_EQ(run_clean(), TTS_OK);
        shared += atomic_load(own) > before + 1000;
        for (size_t i = 0; i < clean.entry_count; i++) {
            T_TRUE(clean.entries[i].is_removed);
            removed += clean.entries[i].before.bytes[TTS_COUNTER_DRAM];
        }
    }
    T_EQ(kill(child, SIGKILL), 0);
    T_EQ(waitpid(child, NULL, 0), child);
    T_EQ(removed, rounds * DEAD_COUNT * DEAD_BYTES);
    uint64_t left = atomic_load(total), held = atomic_load(own);
    T_TRUE(held > 0 && left - held < 98); /* the child may have ended between its two steps */
    munmap(words, 8576);
}
