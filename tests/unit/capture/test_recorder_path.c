/* Tests several recorders with one path: which of them gets the path, and how each can have its
 * own. */
#include "harness/recorder_rig.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

static enum tts_status begin_at(struct tts_tracker *tracker, const char *path,
                                struct tts_recorder **out, struct tts_error *err)
{
    struct tts_recorder_config config = {.path = path, .keep_bytes = 0};
    return tts_recorder_begin(tracker, &config, out, err);
}

static void refuses(const char *path, enum tts_status status, const char *why)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = NULL;
    struct tts_error err = {0};
    T_EQ(begin_at(tracker, path, &recorder, &err), status);
    if (!strstr(err.text, why))
        fail_msg("'%s' is not in '%s'", why, err.text);
    T_TRUE(!recorder && !tts_tracker_is_on(tracker));
    tts_tracker_free(tracker);
}

/* --- one path --------------------------------------------------------------------------- */

T_TEST(the_second_recorder_on_a_path_is_refused_and_the_first_keeps_its_file)
{
    const char *path = t_scratch("one.tts"), *link = t_scratch("link.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    alloc_dram(tracker, 1, 5);
    refuses(path, TTS_E_BUSY,
            "one.tts' is in use by another recorder: give each recorder its own");
    T_EQ(symlink(path, link), 0);
    refuses(link, TTS_E_BUSY, "(%p: process id, %r: rank)");
    /* Readers are not locked out. */
    has_text(path, "keyframe 0: 0\nkeyframe end\n1 alloc d0 DRAM #1 5\n");
    ended(recorder);
    has_text(path, "keyframe 0: 0\nkeyframe end\n1 alloc d0 DRAM #1 5\n");
    recorder = recording(tracker, path, 0); /* now the path is free */
    ended(recorder);
    tts_tracker_free(tracker);
}

static pid_t record_in_child(const char *path)
{
    int ready[2];
    char byte;
    T_EQ(pipe(ready), 0);
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct tts_tracker *tracker = tracker_on(NULL);
        recording(tracker, path, 0);
        if (write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    T_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

T_TEST(a_process_that_is_killed_leaves_no_lock)
{
    const char *path = t_scratch("killed.tts");
    pid_t child = record_in_child(path);
    refuses(path, TTS_E_BUSY, "killed.tts");
    T_EQ(kill(child, SIGKILL), 0);
    T_EQ(waitpid(child, NULL, 0), child);
    struct tts_tracker *tracker = tracker_on(NULL);
    ended(recording(tracker, path, 0));
    tts_tracker_free(tracker);
}

T_TEST(a_child_process_does_not_keep_the_path_of_an_ended_recording)
{
    const char *path = t_scratch("forked.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    ended(recorder);
    ended(recording(tracker, path, 0));
    T_EQ(kill(child, SIGKILL), 0);
    T_EQ(waitpid(child, NULL, 0), child);
    tts_tracker_free(tracker);
}

/* Starts a child that begins a recording when the pipe is closed, and then waits to be
 * killed. */
static pid_t race_in_child(const char *path, const int gate[2], int result)
{
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child > 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = NULL;
    char byte;
    close(gate[1]);
    if (read(gate[0], &byte, 1) != 0)
        _exit(2);
    enum tts_status status = begin_at(tracker, path, &recorder, NULL);
    byte = status == TTS_OK ? 'y' : status == TTS_E_BUSY ? 'n' : '?';
    if (write(result, &byte, 1) != 1)
        _exit(2);
    for (;;)
        pause();
}

T_TEST(of_many_that_begin_at_once_one_gets_the_path)
{
    enum { ROUNDS = 12, RACERS = 4 };
    const char *path = t_scratch("race.tts");
    for (int round = 0; round < ROUNDS; round++) {
        int gate[2], result[2];
        pid_t racers[RACERS];
        char got[RACERS];
        struct stat info;
        if (round % 2 == 0)
            unlink(path); /* removes the file of the last round */
        T_EQ(pipe(gate), 0);
        T_EQ(pipe(result), 0);
        for (int i = 0; i < RACERS; i++)
            racers[i] = race_in_child(path, gate, result[1]);
        close(gate[0]);
        close(gate[1]);
        size_t winners = 0;
        for (int i = 0; i < RACERS; i++) {
            T_EQ(read(result[0], &got[i], 1), 1);
            T_TRUE(got[i] == 'y' || got[i] == 'n');
            winners += got[i] == 'y';
        }
        T_EQ(winners, 1);
        T_EQ(stat(path, &info), 0);
        T_TRUE(info.st_size >= TTS_REC_HEADER_BYTES);
        refuses(path, TTS_E_BUSY, "race.tts");
        for (int i = 0; i < RACERS; i++) {
            T_EQ(kill(racers[i], SIGKILL), 0);
            T_EQ(waitpid(racers[i], NULL, 0), racers[i]);
        }
        close(result[0]);
        close(result[1]);
    }
}

/* --- placeholders ----------------------------------------------------------------------- */

static const char *const rank_names[] = {
    "OMPI_COMM_WORLD_RANK", "PMIX_RANK",        "PMI_RANK", "RANK",
    "SLURM_PROCID",         "TT_MESH_HOST_RANK"};
enum { RANK_NAMES = sizeof rank_names / sizeof rank_names[0] };

static void records_to(const char *path, const char *wanted)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    ended(recording(tracker, path, 0));
    if (access(wanted, F_OK) != 0)
        fail_msg("'%s' did not become '%s'", path, wanted);
    T_EQ(unlink(wanted), 0);
    tts_tracker_free(tracker);
}

T_TEST(a_path_may_have_the_process_and_its_rank)
{
    char wanted[800], path[700];
    const char *dir = t_scratch("names");
    T_EQ(mkdir(dir, 0755), 0);
    for (int i = 0; i < RANK_NAMES; i++)
        T_EQ(unsetenv(rank_names[i]), 0);
    snprintf(path, sizeof path, "%s/%%p.tts", dir);
    snprintf(wanted, sizeof wanted, "%s/%ld.tts", dir, (long)getpid());
    records_to(path, wanted);
    snprintf(path, sizeof path, "%s/100%%%%-%%%%p.tts", dir);
    snprintf(wanted, sizeof wanted, "%s/100%%-%%p.tts", dir);
    records_to(path, wanted);
    snprintf(path, sizeof path, "%s/run-%%r.tts", dir);
    refuses(path, TTS_E_INVALID, "the rank for '%r' in the path is unknown: set RANK");
    for (int i = RANK_NAMES; i > 0; i--) { /* each name has priority over those after it */
        char rank[16];
        snprintf(rank, sizeof rank, "%d", i);
        T_EQ(setenv(rank_names[i - 1], rank, 1), 0);
        snprintf(wanted, sizeof wanted, "%s/run-%d.tts", dir, i);
        records_to(path, wanted);
    }
    T_EQ(setenv(rank_names[0], "../x", 1), 0); /* not a rank: the next variable counts */
    snprintf(wanted, sizeof wanted, "%s/run-2.tts", dir);
    records_to(path, wanted);
    for (int i = 0; i < RANK_NAMES; i++)
        T_EQ(unsetenv(rank_names[i]), 0);
    snprintf(path, sizeof path, "%s/%%d.tts", dir);
    refuses(path, TTS_E_INVALID,
            "unknown '%d' in the path: expected %p (process id), %r (rank)");
    snprintf(path, sizeof path, "%s/run%%", dir);
    refuses(path, TTS_E_INVALID, "unknown '%' in the path");
    T_EQ(rmdir(dir), 0);
}

T_TEST(a_path_that_grows_too_long_is_refused)
{
    static char path[3 * 4096];
    for (size_t i = 0; i + 2 < sizeof path; i += 2)
        memcpy(path + i, "%p", 2);
    refuses(path, TTS_E_RANGE, "too long");
}

/* --- killed processes ------------------------------------------------------------------- */

/* Lets a child begin a recording and stops it at the given stop. There are two stops for each
 * system call: before and after it. Returns 0 if the child finished before that stop. */
static pid_t stop_at(const char *path, int stop)
{
    int how = 0;
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0) {
        struct tts_tracker *tracker = tracker_on(NULL);
        struct tts_recorder *recorder = NULL;
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        raise(SIGSTOP);
        _exit(begin_at(tracker, path, &recorder, NULL) == TTS_OK ? 0 : 1);
    }
    T_EQ(waitpid(child, &how, 0), child);
    for (int i = 0; i < stop && WIFSTOPPED(how); i++) {
        T_EQ(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        T_EQ(waitpid(child, &how, 0), child);
    }
    if (WIFSTOPPED(how))
        return child;
    T_TRUE(WIFEXITED(how));
    if (WEXITSTATUS(how) == 77)
        skip(); /* tracing is not allowed here */
    T_EQ(WEXITSTATUS(how), 0);
    return 0;
}

/* Kills the child at that stop. Returns false if the child finished before. */
static bool kill_at(const char *path, int stop)
{
    int how = 0;
    pid_t child = stop_at(path, stop);
    if (child == 0)
        return false;
    T_EQ(kill(child, SIGKILL), 0);
    T_EQ(waitpid(child, &how, 0), child);
    T_TRUE(WIFSIGNALED(how));
    return true;
}

static int names_but(const char *dir, const char *name)
{
    int count = 0;
    DIR *stream = opendir(dir);
    T_TRUE(stream != NULL);
    for (const struct dirent *entry; (entry = readdir(stream));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 strcmp(entry->d_name, name) != 0;
    closedir(stream);
    return count;
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    T_TRUE(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Kills a beginning recorder at every moment between two system calls, and checks the
 * directory. */
static void is_tidy_whenever_killed(bool has_before)
{
    char path[700];
    const char *dir = t_scratch(has_before ? "replaced" : "new");
    T_EQ(mkdir(dir, 0755), 0);
    snprintf(path, sizeof path, "%s/run.tts", dir);
    struct tts_tracker *tracker = tracker_on(NULL);
    ended(recording(tracker, path, 0)); /* calibrates the clock once for all children */
    tts_tracker_free(tracker);
    int gone = 0, kept = 0, made = 0;
    for (int stop = 2;; stop += 2) { /* after each call */
        unlink(path);
        if (has_before)
            put_text(path, "precious");
        if (!kill_at(path, stop))
            break;
        struct stat info;
        if (names_but(dir, "run.tts") != 0)
            fail_msg("killed at stop %d it left something behind", stop);
        bool is_there = stat(path, &info) == 0;
        gone += !is_there;
        kept += is_there && info.st_size < TTS_REC_HEADER_BYTES;
        made += is_there && info.st_size >= TTS_REC_HEADER_BYTES;
    }
    T_TRUE(made > 0);
    /* The recorder's thread changes the order of calls a little, so a moment may occur
     * twice. */
    T_TRUE(has_before ? kept > 10 && gone <= 3 : gone > 10 && kept == 0);
    T_EQ(unlink(path), 0);
    T_EQ(rmdir(dir), 0);
}

T_TEST(a_begin_that_is_killed_leaves_no_other_file)
{
    is_tidy_whenever_killed(false);
}

T_TEST(a_begin_that_is_killed_leaves_the_file_before_it_or_its_own)
{
    is_tidy_whenever_killed(true);
}

/* Another recorder that replaces a file removes its name for a moment. */
T_TEST(a_file_that_goes_while_a_recording_begins_is_no_error)
{
    const char *path = t_scratch("goes.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    ended(recording(tracker, path, 0));
    tts_tracker_free(tracker);
    pid_t child;
    for (int stop = 2; stop < 24 && (child = stop_at(path, stop)) > 0; stop += 2) {
        int how = 0;
        T_EQ(unlink(path), 0);
        T_EQ(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
        T_EQ(waitpid(child, &how, 0), child);
        if (!WIFEXITED(how) || WEXITSTATUS(how) != 0)
            fail_msg("gone at stop %d: the recording did not begin", stop);
        T_EQ(access(path, F_OK), 0);
    }
}
