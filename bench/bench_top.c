/* Measures `ttscope top` on two hosts of files with 32 devices and 64 processes: on the first,
 * each process holds memory on every device; on the second, on one device. Usage: bench_top
 * [TTSCOPE]. The files are made in $TMPDIR (/tmp) and removed.
 *
 * One frame: wall time of `ttscope top --once`, beside `ttscope version` and `cat` of the same
 * files in the same run. A refresh: processor time of one more refresh. Memory: RssAnon of a
 * running `top`. Times are medians.
 *
 * bench_top --budget PART runs one part of a refresh in this process, for a count of its
 * instructions. */
#include "analysis/live/liveowners.h"
#include "base/compiler.h"
#include "command.h"
#include "harness/region_image.h"
#include "sources/live/livehost.h"
#include "views/live/live_view.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEVICES = 32, PROCESSES = 64, FIRST_PID = 4000, RUNS = 31, ROUNDS = 7 };
#define UPDATE_NS UINT64_C(1790000000000000000)
enum { FEW_REFRESHES = 5, MANY_REFRESHES = 25, BUDGET_REFRESHES = 10, FILES_MAX = 4096 };

extern char **environ;
static char root[PATH_MAX];
static char *files[FILES_MAX + 2]; /* arguments of cat: "cat", the files, NULL */
static size_t file_count = 1;

static void stop(const char *what)
{
    command_stop("bench_top", what);
}

/* ---- the host ---- */

static void make_dirs(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

/* Writes a file below the root and remembers it for cat. */
static void write_host_file(const char *name, const void *bytes, size_t size)
{
    char path[PATH_MAX * 2];
    snprintf(path, sizeof path, "%s/%s", root, name);
    make_dirs(path);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        stop("cannot write the files of the host");
    if (file_count > FILES_MAX || !(files[file_count++] = strdup(path)))
        stop("too many files");
}

TTS_PRINTF(2, 3) static void write_host_text(const char *name, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write_host_file(name, text, (size_t)size);
}

/* Makes a device with the memory of `count` processes. */
static void make_device(uint32_t node, uint32_t count)
{
    char name[128], pids[PROCESSES * 8] = "";
    struct region_image image;
    uint64_t id = UINT64_C(0x1000) + node;
    uint64_t totals[REGION_IMAGE_COUNTERS] = {0};
    if (!region_image_init(&image, "v3", id))
        stop("cannot make a region");
    region_image_put32(&image, REGION_IMAGE_LOGICAL, node);
    region_image_put32(&image, REGION_IMAGE_REFERENCES, count);
    region_image_put64(&image, REGION_IMAGE_TIME, UPDATE_NS);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pid = FIRST_PID + (node * count + i) % PROCESSES;
        struct region_image_slot slot = {
            .pid = (int32_t)pid,
            .bytes = {(i + 1) * UINT64_C(1048576), i * UINT64_C(2048), 64, 0, 512, 0},
            .time_ns = UPDATE_NS,
            .name = "python3"};
        region_image_put_slot(&image, i, &slot);
        for (int counter = 0; counter < REGION_IMAGE_COUNTERS; counter++)
            totals[counter] += slot.bytes[counter];
        snprintf(pids + strlen(pids), sizeof pids - strlen(pids), "%u\n", pid);
    }
    region_image_put_totals(&image, totals);
    snprintf(name, sizeof name, "dev/shm/tt_device_%" PRIu64 "_memory", id);
    write_host_file(name, image.bytes, image.len);
    snprintf(name, sizeof name, "proc/driver/tenstorrent/%u/pids", node);
    write_host_text(name, "%s", pids);
    snprintf(name, sizeof name, "sys/class/tenstorrent/tenstorrent!%u/tt_asic_id", node);
    write_host_text(name, "%016" PRIX64 "\n", id);
    snprintf(name, sizeof name, "sys/class/tenstorrent/tenstorrent!%u/tt_card_type", node);
    write_host_text(name, "galaxy-wormhole\n");
}

static void make_process(uint32_t pid)
{
    char name[128];
    snprintf(name, sizeof name, "proc/%u/status", pid);
    write_host_text(name, "Name:\tpython3\nUid:\t0\t0\t0\t0\nNSpid:\t%u\n", pid);
    snprintf(name, sizeof name, "proc/%u/stat", pid);
    write_host_text(name, "%u (python3) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n",
                    pid);
    snprintf(name, sizeof name, "proc/%u/comm", pid);
    write_host_text(name, "python3\n");
    snprintf(name, sizeof name, "proc/%u/cmdline", pid);
    write_host_text(name, "python3%ctrain.py", 0);
}

static void make_host(uint32_t processes_per_device)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/bench_top.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(root))
        stop("cannot make a directory in $TMPDIR");
    files[0] = (char *)"/bin/cat";
    file_count = 1;
    write_host_text("sys/module/tenstorrent/version", "2.10.0\n");
    write_host_text("proc/stat", "btime 1700000000\n");
    for (uint32_t node = 0; node < DEVICES; node++)
        make_device(node, processes_per_device);
    for (uint32_t i = 0; i < PROCESSES; i++)
        make_process(FIRST_PID + i);
    files[file_count] = NULL;
    setenv("TTSCOPE_ROOT", root, 1);
}

static void remove_host(void)
{
    char *argv[] = {(char *)"/bin/rm", (char *)"-rf", root, NULL};
    pid_t pid;
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) == 0)
        waitpid(pid, NULL, 0);
}

/* ---- measuring ---- */

/* Starts a program in a child process, without its output. Does not return. */
static void be_program(void *ctx)
{
    char *const *argv = ctx;
    int fd = open("/dev/null", O_WRONLY);
    if (fd >= 0)
        dup2(fd, STDOUT_FILENO);
    execv(argv[0], argv);
    _exit(127);
}

static struct command_cost run(char **argv)
{
    struct command_cost cost;
    if (command_run(NULL, be_program, argv, NULL, &cost) != 0)
        stop("a program failed");
    return cost;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static double wall_of(char **argv)
{
    double ms[RUNS];
    for (size_t i = 0; i < RUNS; i++)
        ms[i] = run(argv).seconds * 1e3;
    return median(ms, RUNS);
}

static double cpu_of(char *program, const char *view, int refreshes)
{
    char count[16];
    double ms[ROUNDS];
    snprintf(count, sizeof count, "%d", refreshes);
    char *argv[] = {program,      (char *)"top", (char *)"--view",
                    (char *)view, (char *)"-r",  (char *)"100",
                    (char *)"-n", count,         NULL};
    for (size_t i = 0; i < ROUNDS; i++)
        ms[i] = run(argv).processor_seconds * 1e3;
    return median(ms, ROUNDS);
}

static void print_refresh(char *program, const char *view)
{
    double ms = (cpu_of(program, view, MANY_REFRESHES) - cpu_of(program, view, FEW_REFRESHES)) /
                (MANY_REFRESHES - FEW_REFRESHES);
    printf("refresh_%-12s %8.3f ms of processor time: %.3f %% of a core at 1 Hz (aim 0.1)\n",
           view, ms, ms / 10);
}

/* Returns a number of /proc/PID/status in KiB, or -1. */
static long status_kib(pid_t pid, const char *key)
{
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key), NULL, 10);
    if (file)
        fclose(file);
    return value;
}

static void print_memory(char *program)
{
    char *argv[] = {program, (char *)"top", (char *)"-r", (char *)"100", NULL};
    struct timespec wait = {.tv_sec = 2};
    pid_t pid = fork();
    if (pid == 0)
        be_program(argv);
    nanosleep(&wait, NULL);
    long kib = status_kib(pid, "RssAnon:");
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    printf("rss_anon             %8.2f MiB (aim 8)\n", (double)kib / 1024);
}

/* ---- instructions ---- */

enum part { PART_READ, PART_JUDGE, PART_BLOCKS, PART_TABLE, PART_PROCESSES, PARTS };

static const char *const part_names[PARTS] = {"top-read", "top-judge", "top-blocks",
                                              "top-table", "top-processes"};

/* What a refresh of `top` keeps. */
struct refresh {
    struct tts_livehost *host;
    struct tts_hostview seen;
    struct tts_liveframe frame;
    FILE *out;
};

/* Callgrind counts the instructions of this function. */
__attribute__((noinline)) static bool bench_measured(struct refresh *refresh, enum part part)
{
    struct tts_liveview view = {
        .frame = &refresh->frame, .before = &refresh->frame, .columns = 100, .has_delta = true};
    if (part == PART_READ)
        return tts_livehost_read(refresh->host, &refresh->seen, NULL) == TTS_OK;
    if (part == PART_JUDGE)
        return tts_liveowners_judge(&refresh->seen, &refresh->frame, NULL) == TTS_OK;
    if (part == PART_PROCESSES)
        return tts_liveview_processes(&view, refresh->out) == TTS_OK;
    if (part == PART_TABLE)
        tts_liveview_table(&view, refresh->out);
    else
        tts_liveview_blocks(&view, refresh->out);
    return true;
}

/* Runs one part of a refresh some times; the first time, before, opens the files. */
static void run_part(const char *name)
{
    struct refresh refresh = {.out = fopen("/dev/null", "w")};
    int part = 0;
    while (part < PARTS && strcmp(part_names[part], name) != 0)
        part++;
    if (part == PARTS || !refresh.out)
        stop("no such part of a refresh");
    setenv("TZ", "UTC", 1);
    tts_hostview_init(&refresh.seen, NULL);
    tts_liveframe_init(&refresh.frame, NULL);
    if (tts_livehost_open(root, NULL, &refresh.host, NULL) != TTS_OK ||
        tts_livehost_read(refresh.host, &refresh.seen, NULL) != TTS_OK ||
        tts_liveowners_judge(&refresh.seen, &refresh.frame, NULL) != TTS_OK)
        stop("cannot read the host");
    for (int i = 0; i < BUDGET_REFRESHES; i++)
        if (!bench_measured(&refresh, (enum part)part))
            stop("out of memory");
    printf("operations %d\n", BUDGET_REFRESHES);
    tts_livehost_close(refresh.host);
    tts_liveframe_release(&refresh.frame);
    tts_hostview_release(&refresh.seen);
    fclose(refresh.out);
}

static void measure_host(char *program, uint32_t processes_per_device)
{
    char *version[] = {program, (char *)"version", NULL};
    char *once[] = {program, (char *)"top", (char *)"--once", NULL};
    char *once_json[] = {program, (char *)"top", (char *)"--once", (char *)"--json", NULL};
    make_host(processes_per_device);
    double start_ms = wall_of(version), cat_ms = wall_of(files);
    double once_ms = wall_of(once), json_ms = wall_of(once_json);
    printf("host                 %d devices, %d processes, %u of them on each device, %zu "
           "files\n",
           DEVICES, PROCESSES, processes_per_device, file_count - 1);
    printf("version              %8.2f ms\n", start_ms);
    printf("cat                  %8.2f ms, the same files\n", cat_ms);
    printf("top_once             %8.2f ms: %.1f x version, %.1f x cat, %.2f ms beyond start-up "
           "(aim 5)\n",
           once_ms, once_ms / start_ms, once_ms / cat_ms, once_ms - start_ms);
    printf("top_once_json        %8.2f ms: %.1f x version\n", json_ms, json_ms / start_ms);
    print_refresh(program, "blocks");
    print_refresh(program, "table");
    print_refresh(program, "processes");
    print_memory(program);
    remove_host();
}

int main(int argc, char **argv)
{
    char program[PATH_MAX];
    if (argc == 3 && strcmp(argv[1], "--budget") == 0) {
        make_host(PROCESSES);
        run_part(argv[2]);
        remove_host();
        return 0;
    }
    snprintf(program, sizeof program, "%s", argc > 1 ? argv[1] : "build/bench/bin/ttscope");
    measure_host(program, PROCESSES);
    measure_host(program, PROCESSES / DEVICES);
    return 0;
}
