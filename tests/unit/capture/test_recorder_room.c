/* Tests recordings that cannot begin, cannot continue, or do not end normally. */
#include "harness/recorder_rig.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* --- no room ---------------------------------------------------------------------------- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    T_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    T_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

T_TEST(where_there_is_no_room_it_stops_and_the_rest_goes_on)
{
    enum { FITS = 2 };
    const char *path = t_scratch("full.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    struct tts_recorder_state at;
    struct tts_error err;
    /* The limit must not end the program with a signal. */
    limit_files(TTS_REC_HEADER_BYTES + FITS * (4 << 20));
    struct tts_recorder *recorder = recording(tracker, path, 0);
    churn(tracker, FEW_PLACES_EVENTS / 2);
    tts_recorder_get_state(recorder, &at);
    T_TRUE(at.is_stopped && at.dropped > 0);
    T_EQ(at.events + at.dropped, FEW_PLACES_EVENTS - 100);
    T_EQ(at.reason.sys_errno, EFBIG);
    T_TRUE(strstr(at.reason.text, "stopped recording to") &&
           strstr(at.reason.text, "full.tts' (raise the limit with 'ulimit -f')"));
    T_TRUE(tts_tracker_is_on(tracker));
    alloc_dram(tracker, 1, 1);
    end(capture, NULL);
    T_EQ(phase(capture, 0)->events, FEW_PLACES_EVENTS - 100 + 1);
    T_EQ(tts_recorder_end(recorder, &at, &err), TTS_E_IO);
    T_EQ(err.status, TTS_E_IO);
    T_EQ(err.sys_errno, EFBIG);
    T_EQ(at.events + at.dropped, FEW_PLACES_EVENTS - 100 + 1);
    T_TRUE(!tts_tracker_is_on(tracker));
    limit_files(RLIM_INFINITY);
    struct recording rec = recording_open(path);
    struct sums sums = {0};
    recording_each(&rec, add_up, &sums);
    T_EQ(rec.last_seq, at.events);
    T_EQ(rec.blocks, FITS);
    T_TRUE(rec.state.kind == TTS_REC_STOPPED && rec.state.sys_errno == EFBIG);
    T_TRUE(rec.state.events == at.events && rec.state.dropped == at.dropped);
    T_EQ(rec.len, at.bytes);
    recording_close(&rec);
    recorder = recording(tracker, path, 0); /* records again, with enough room */
    ended(recorder);
    done(capture, tracker);
}

/* Returns the number of files in a directory, including hidden files. */
static int entries(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    T_TRUE(dir != NULL);
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static void cannot(const char *path, uint64_t keep_bytes, enum tts_status status,
                   const char *why)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = NULL;
    struct tts_recorder_config config = {.path = path, .keep_bytes = keep_bytes};
    struct tts_error err = {0};
    T_EQ(tts_recorder_begin(tracker, &config, &recorder, &err), status);
    if (!strstr(err.text, why))
        fail_msg("'%s' is not in '%s'", why, err.text);
    T_TRUE(!recorder && !tts_tracker_is_on(tracker));
    /* The status is the same again, and not TTS_E_BUSY. */
    T_EQ(tts_recorder_begin(tracker, &config, &recorder, NULL), status);
    tts_tracker_free(tracker);
}

T_TEST(what_cannot_be_made_says_why_and_leaves_nothing_behind)
{
    char inside[600];
    const char *dir = t_scratch("paths");
    T_EQ(mkdir(dir, 0755), 0);
    snprintf(inside, sizeof inside, "%s/none/run.tts", dir);
    cannot(inside, 0, TTS_E_IO, "none/run.tts' (make the directory first): no such file");
    cannot(dir, 0, TTS_E_IO, "paths' (name a file in this directory): is a directory");
    cannot("/dev/null", 0, TTS_E_IO, "cannot record to '/dev/null' (record to another file)");
    cannot("", 0, TTS_E_INVALID, "the path of the recording is missing");
    cannot(NULL, 0, TTS_E_INVALID, "the path of the recording is missing");
    cannot("x.tts", BOX - 1, TTS_E_RANGE, "give 0, or 4194304 to");
    cannot("x.tts", UINT64_MAX, TTS_E_RANGE, "give 0, or 4194304 to");
    snprintf(inside, sizeof inside, "%s/big.tts", dir);
    limit_files(1 << 20);
    cannot(inside, 0, TTS_E_IO, "big.tts' (raise the limit with 'ulimit -f'): file too large");
    cannot(inside, BOX, TTS_E_IO,
           "big.tts' (raise the limit with 'ulimit -f'): file too large");
    limit_files(RLIM_INFINITY);
    T_EQ(entries(dir), 0);
    if (geteuid() != 0) { /* root is never refused */
        T_EQ(chmod(dir, 0555), 0);
        cannot(inside, 0, TTS_E_IO, "(give a path that may be written): permission denied");
        T_EQ(chmod(dir, 0755), 0);
    }
}

T_TEST(a_file_that_was_there_stays_until_the_new_one_is)
{
    const char *path = t_scratch("old.tts"), *link = t_scratch("link.tts");
    FILE *file = fopen(path, "w");
    T_TRUE(file && fputs("precious", file) >= 0 && fclose(file) == 0);
    T_EQ(chmod(path, 0640), 0);
    T_EQ(symlink(path, link), 0);
    limit_files(1 << 20);
    cannot(link, 0, TTS_E_IO, "raise the limit");
    limit_files(RLIM_INFINITY);
    char text[16] = "";
    file = fopen(path, "r");
    T_TRUE(file && fgets(text, sizeof text, file));
    fclose(file);
    T_STR_EQ(text, "precious");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, link, 0);
    ended(recorder);
    struct stat info;
    T_EQ(lstat(link, &info), 0);
    T_TRUE(S_ISLNK(info.st_mode)); /* the target of the link was replaced */
    T_EQ(stat(path, &info), 0);
    T_EQ(info.st_mode & 0777, 0640);
    has_text(path, "keyframe 0: 0\nkeyframe end\n");
    tts_tracker_free(tracker);
}

T_TEST(memory_may_run_out_at_every_place)
{
    const char *path = t_scratch("nomem.tts");
    enum tts_status status = TTS_E_NOMEM;
    for (uint64_t nth = 1; status == TTS_E_NOMEM; nth++) {
        struct heap heap;
        heap_init(&heap);
        struct tts_tracker *tracker = tracker_on(&heap);
        struct tts_recorder *recorder = NULL;
        struct tts_recorder_config config = {.path = path, .keep_bytes = 0};
        heap.calls = 0;
        heap.fail_at = nth;
        status = tts_recorder_begin(tracker, &config, &recorder, NULL);
        heap.fail_at = 0;
        T_EQ(status, heap.failed ? TTS_E_NOMEM : TTS_OK);
        T_EQ(status == TTS_OK, access(path, F_OK) == 0);
        if (status == TTS_OK)
            ended(recorder);
        tts_tracker_free(tracker);
        T_TRUE(heap_is_settled(&heap));
        T_TRUE(nth > 1 || status == TTS_E_NOMEM);
    }
}

/* --- ending ----------------------------------------------------------------------------- */

T_TEST(a_tracker_that_goes_first_finishes_the_file)
{
    const char *path = t_scratch("orphan.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    struct tts_capture *capture = begun(tracker);
    alloc_dram(tracker, 1, 5);
    tts_tracker_free(tracker);
    has_text(path, "keyframe 0: 0\nkeyframe end\nbegin 1\n1 alloc d0 DRAM #1 5\nend 1\n");
    struct tts_recorder_state at;
    tts_recorder_get_state(recorder, &at);
    T_EQ(at.events, 1);
    T_EQ(ended(recorder).events, 1);
    tts_capture_free(capture);
}

T_TEST(nothing_can_be_asked_of_no_recorder)
{
    struct tts_recorder_state at = {.events = 5};
    T_EQ(tts_recorder_end(NULL, &at, NULL), TTS_OK);
    T_EQ(at.events, 0);
    at.events = 5;
    tts_recorder_get_state(NULL, &at);
    T_EQ(at.events, 0);
    tts_recorder_get_state(NULL, NULL);
    struct tts_recorder *recorder = NULL;
    T_EQ(tts_recorder_begin(NULL, &(struct tts_recorder_config){.path = "x", .keep_bytes = 0},
                            &recorder, NULL),
         TTS_E_INVALID);
}

/* Runs `is_right` in a child and checks that it returns true. */
static void in_child(bool (*is_right)(struct tts_tracker *, struct tts_recorder *),
                     struct tts_tracker *tracker, struct tts_recorder *recorder)
{
    int ended_as;
    pid_t child = fork();
    if (child == 0)
        _exit(is_right(tracker, recorder) ? 0 : 1);
    T_EQ(waitpid(child, &ended_as, 0), child);
    T_EQ(ended_as, 0);
}

static bool ends_stopped(struct tts_tracker *tracker, struct tts_recorder *recorder)
{
    struct tts_recorder_state at;
    (void)tracker;
    return tts_recorder_end(recorder, &at, NULL) == TTS_E_IO && at.is_stopped &&
           at.reason.sys_errno == EFBIG;
}

/* A child shares the mapped file of its parent and must not write to it. */
T_TEST(a_child_leaves_a_file_to_its_parent_that_had_stopped_before)
{
    const char *path = t_scratch("stopped_fork.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder_state at;
    limit_files(TTS_REC_HEADER_BYTES + (4 << 20));
    struct tts_recorder *recorder = recording(tracker, path, 0);
    churn(tracker, FEW_PLACES_EVENTS / 2);
    tts_recorder_get_state(recorder, &at);
    T_TRUE(at.is_stopped);
    struct recording before = recording_open(path);
    in_child(ends_stopped, tracker, recorder);
    struct recording after = recording_open(path);
    T_EQ(after.len, before.len);
    T_EQ(after.state.generation, before.state.generation);
    recording_close(&before);
    recording_close(&after);
    alloc_dram(tracker, 1, 1);
    T_EQ(tts_recorder_end(recorder, &at, NULL), TTS_E_IO);
    after = recording_open(path);
    T_EQ(after.len, at.bytes);
    T_EQ(after.state.dropped, at.dropped);
    recording_close(&after);
    limit_files(RLIM_INFINITY);
    tts_tracker_free(tracker);
}

T_TEST(a_child_process_leaves_the_file_to_its_parent)
{
    const char *path = t_scratch("fork.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    alloc_dram(tracker, 1, 1);
    for (int events = 0; events < 2; events++) {
        pid_t child = fork();
        if (child == 0) {
            struct tts_recorder_state at;
            enum tts_status status = TTS_OK;
            for (int i = 0; i < 1000 * events; i++)
                status |= tts_track_alloc(tracker, 0, TTS_POOL_DRAM, 100, 1, 0, NULL);
            enum tts_status end_status = tts_recorder_end(recorder, &at, NULL);
            bool is_right = status == TTS_OK && end_status == TTS_E_IO && at.is_stopped &&
                            at.events == 1 && at.dropped == 1000 * (uint64_t)events &&
                            strstr(at.reason.text, "a child of the recording process");
            _exit(is_right ? 0 : 1);
        }
        int ended_as;
        T_EQ(waitpid(child, &ended_as, 0), child);
        T_EQ(ended_as, 0);
    }
    alloc_dram(tracker, 2, 2);
    ended(recorder);
    has_text(path, "keyframe 0: 0\nkeyframe end\n1 alloc d0 DRAM #1 1\n2 alloc d0 DRAM #2 2\n");
    tts_tracker_free(tracker);
}

/* --- refused system calls --------------------------------------------------------------- */

/* Makes a system call of this process fail from now on, if its third argument has all bits of
 * `third`. */
static bool refuse(long nr, uint32_t third, int sys_errno)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, third),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, third, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)sys_errno),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static bool says_that_children_would_write(struct tts_tracker *tracker,
                                           struct tts_recorder *recorder)
{
    struct tts_recorder_config config = {.path = t_scratch("old_kernel.tts")};
    struct tts_error err = {0};
    if (!refuse(SYS_madvise, MADV_WIPEONFORK, EINVAL))
        /* Passes: the kernel does not allow the filter, so this cannot be tested here. */
        return true;
    return tts_recorder_begin(tracker, &config, &recorder, &err) == TTS_E_IO &&
           strstr(err.text, "use Linux 4.14 or later") && access(config.path, F_OK) != 0 &&
           !tts_tracker_is_on(tracker);
}

T_TEST(where_children_cannot_be_told_apart_nothing_is_recorded)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    in_child(says_that_children_would_write, tracker, NULL);
    tts_tracker_free(tracker);
}

static bool records_by_another_name(struct tts_tracker *tracker, struct tts_recorder *recorder)
{
    struct tts_recorder_config config = {.path = t_scratch("no_tmpfile/run.tts")};
    enum { WITHOUT_NAME = O_TMPFILE & ~O_DIRECTORY };
    if (!refuse(SYS_openat, WITHOUT_NAME, EOPNOTSUPP))
        return true;
    for (int i = 0; i < 2; i++) /* a new file, then one that replaces a file */
        if (tts_recorder_begin(tracker, &config, &recorder, NULL) != TTS_OK ||
            tts_recorder_end(recorder, NULL, NULL) != TTS_OK)
            return false;
    return true;
}

T_TEST(where_files_have_names_from_the_begin_a_recording_is_made_all_the_same)
{
    const char *dir = t_scratch("no_tmpfile");
    T_EQ(mkdir(dir, 0755), 0);
    struct tts_tracker *tracker = tracker_on(NULL);
    in_child(records_by_another_name, tracker, NULL);
    T_EQ(entries(dir), 1);
    tts_tracker_free(tracker);
}

/* Without the recorder's thread, the event itself tries to make the next place, and the system
 * refuses. */
static bool keeps_errno(struct tts_tracker *tracker, struct tts_recorder *recorder)
{
    struct tts_recorder_config config = {.path = t_scratch("errno.tts")};
    struct tts_recorder_state at = {0};
    if (!refuse(SYS_clone, 0, EAGAIN) || !refuse(SYS_clone3, 0, EAGAIN))
        return true;
    if (tts_recorder_begin(tracker, &config, &recorder, NULL) != TTS_OK ||
        !refuse(SYS_fallocate, 0, ENOSPC))
        return false;
    errno = EDOM;
    while (!at.is_stopped && errno == EDOM) {
        churn(tracker, 10000);
        bool is_kept = errno == EDOM;
        tts_recorder_get_state(recorder, &at);
        errno = is_kept ? EDOM : 0;
    }
    return errno == EDOM && at.reason.sys_errno == ENOSPC;
}

T_TEST(an_event_that_ends_the_recording_leaves_errno_as_it_was)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    in_child(keeps_errno, tracker, NULL);
    tts_tracker_free(tracker);
}
