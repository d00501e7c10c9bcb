#include "cli/clean/cleanchild.h"
#include "harness/host.h"
#include "harness/region_image.h"
#include "harness/t.h"
#include "sources/live/regions.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REGION_PATH "dev/shm/tt_device_7_memory"

static struct region_image image;
static struct tts_hostview view;
static struct tts_regionclean clean;

static void make_region(void)
{
    host_new("child");
    host_dir("dev/shm");
    T_TRUE(region_image_init(&image, "v3", 7));
    region_image_put_slot(&image, 2,
                          &(struct region_image_slot){.pid = 4001, .bytes = {10}, .name = "x"});
    region_image_put_totals(&image, (const uint64_t[]){10, 0, 0, 0, 0, 0});
    host_put_bytes(REGION_PATH, image.bytes, image.len);
    tts_hostview_init(&view, NULL);
    T_EQ(tts_regions_read(&view, host_root, 0, NULL, NULL), TTS_OK);
    T_EQ(view.region_count, 1);
    clean = (struct tts_regionclean){.region = &view.regions[0], .entry_count = 1};
}

T_TEST(the_child_gives_back_the_result)
{
    struct tts_error err = {0};
    make_region();
    T_EQ(tts_cleanchild_run(&clean, host_root, &err), TTS_OK);
    T_TRUE(clean.entries[0].is_removed);
    T_EQ(clean.entries[0].before.bytes[0], 10);
    T_EQ(tts_cleanchild_run(&clean, host_root, &err), TTS_OK);
    T_TRUE(!clean.entries[0].is_removed);
    T_EQ(unlink(host_path(REGION_PATH)), 0);
    T_EQ(tts_cleanchild_run(&clean, host_root, &err), TTS_E_NOT_FOUND);
    T_STR_EQ(err.text, "cannot clean region 7: the file was removed or replaced");
    tts_hostview_release(&view);
}

static time_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

T_TEST(a_file_that_is_truncated_meanwhile_does_not_end_the_caller)
{
    bool was_truncated = false;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        skip(); /* the file would never change during a call */
    make_region();
    int fd = open(host_path(REGION_PATH), O_RDWR);
    T_TRUE(fd >= 0);
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
    while (child == 0) {
        if (ftruncate(fd, 0) != 0 || pwrite(fd, image.bytes, image.len, 0) < 0)
            _exit(1);
        usleep(20); /* the file must be whole when it is opened */
    }
    for (time_t end = now_s() + 20; !was_truncated && now_s() < end;) {
        struct tts_error err = {0};
        enum tts_status status = tts_cleanchild_run(&clean, host_root, &err);
        T_TRUE(status == TTS_OK || status == TTS_E_BUSY);
        was_truncated = strstr(err.text, "another process truncated the file") != NULL;
    }
    T_EQ(kill(child, SIGKILL), 0);
    T_EQ(waitpid(child, NULL, 0), child);
    close(fd);
    tts_hostview_release(&view);
    T_TRUE(was_truncated);
}
