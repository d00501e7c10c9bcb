/* Measures `ttscope fit`: whole commands, each in its own process, compared with the start of a
 * command (`ttscope version`) in the same run, and with the bare workload on a device that
 * places nothing. Usage: bench_fit [TTSCOPE]. The configurations are written to $TMPDIR (/tmp)
 * and removed. Times are medians of processor time, because other processes may run at the same
 * time. */
#include "runtime/workload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 21, SLOW_RUNS = 7 };

extern char **environ;
static char config_path[PATH_MAX];

static void stop(const char *what)
{
    fprintf(stderr, "bench_fit: %s\n", what);
    exit(EXIT_FAILURE);
}

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
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

/* ---- commands ---- */

struct cost {
    double ms;
    double mib; /* largest memory of all runs */
};

static void run_once(char *const *argv, double *ms, double *mib)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    pid_t pid = 0;
    int state = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0 ||
        wait4(pid, &state, 0, &usage) != pid)
        stop("cannot run ttscope");
    *ms = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
          (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
    *mib = (double)usage.ru_maxrss / 1024;
    posix_spawn_file_actions_destroy(&actions);
    if (!WIFEXITED(state) || WEXITSTATUS(state) > 1)
        stop("ttscope failed");
}

static struct cost measure(char *const *argv, size_t runs)
{
    double ms[RUNS], mib;
    struct cost cost = {0};
    for (size_t i = 0; i < runs; i++) {
        run_once(argv, &ms[i], &mib);
        cost.mib = mib > cost.mib ? mib : cost.mib;
    }
    cost.ms = median(ms, runs);
    return cost;
}

/* ---- configurations ---- */

static void write_config(uint64_t blocks, uint64_t width, uint64_t heads, uint64_t groups)
{
    FILE *file = fopen(config_path, "w");
    if (!file)
        stop("cannot write a configuration");
    fprintf(file,
            "transformer_config:\n  model_type: llama\n  num_blocks: %" PRIu64
            "\n  embedding_dim: %" PRIu64 "\n  num_heads: %" PRIu64 "\n  num_groups: %" PRIu64
            "\n  max_sequence_length: 2048\n  vocab_size: 32000\n",
            blocks, width, heads, groups);
    if (fclose(file) != 0)
        stop("cannot write a configuration");
}

static void report(const char *name, struct cost cost, double start_ms, const char *aim)
{
    printf("%-28s %8.2f ms  %6.1f x start  %6.1f MiB  (%s)\n", name, cost.ms,
           cost.ms / start_ms, cost.mib, aim);
}

/* ---- the workload alone ---- */

static double run_bare(void)
{
    struct tts_workload workload = {.model = {.family = TTS_FAMILY_LLAMA,
                                              .blocks = 22,
                                              .width = 2048,
                                              .heads = 32,
                                              .groups = 4,
                                              .sequence = 2048,
                                              .vocabulary = 32000},
                                    .recipe = TTS_RECIPE_HEAD,
                                    .batch = 1,
                                    .accumulate = 1,
                                    .tensor_parallel = 1,
                                    .data_parallel = 1};
    struct tts_device_config config = {.mode = TTS_MODE_NO_DISPATCH};
    struct tts_chip chip;
    struct tts_device *device;
    double ms[RUNS];
    if (tts_chip_preset("n150", &chip, NULL) != TTS_OK)
        stop("no such chip");
    for (size_t i = 0; i < RUNS; i++) {
        if (tts_device_new(&chip, &config, NULL, &device, NULL) != TTS_OK)
            stop("no device");
        double begin = now_ms();
        if (tts_workload_run(&workload, device, NULL, NULL, NULL) != TTS_OK)
            stop("the workload failed");
        ms[i] = now_ms() - begin;
        tts_device_free(device);
    }
    return median(ms, RUNS);
}

int main(int argc, char **argv)
{
    char program[PATH_MAX];
    const char *tmp = getenv("TMPDIR");
    snprintf(program, sizeof program, "%s", argc > 1 ? argv[1] : "build/bench/bin/ttscope");
    snprintf(config_path, sizeof config_path, "%s/bench_fit.%d.yaml", tmp ? tmp : "/tmp",
             (int)getpid());
    char *version[] = {program, (char *)"version", NULL};
    char *fit[] = {program, (char *)"fit", config_path, NULL};
    char *largest[] = {program,
                       (char *)"fit",
                       config_path,
                       (char *)"--max",
                       (char *)"batch",
                       (char *)"--runner",
                       (char *)"memory_efficient",
                       NULL};
    char *changes[] = {
        program,      (char *)"fit",         config_path,          (char *)"--recipe",
        (char *)"v1", (char *)"--optimizer", (char *)"MorehAdamW", NULL};
    struct cost start = measure(version, RUNS);
    printf("%-28s %8.2f ms\n", "start (ttscope version)", start.ms);
    printf("%-28s %8.2f ms  tinyllama, two iterations, nothing placed\n", "workload alone",
           run_bare());
    write_config(22, 2048, 32, 4);
    report("fit tinyllama", measure(fit, RUNS), start.ms, "20 ms, 32 MiB");
    report("fit tinyllama, v1, no fit", measure(changes, RUNS), start.ms, "20 ms, 32 MiB");
    report("fit tinyllama --max batch", measure(largest, SLOW_RUNS), start.ms,
           "1000 ms, 32 MiB");
    write_config(80, 8192, 64, 8);
    report("fit 80 blocks of 8192", measure(fit, SLOW_RUNS), start.ms, "50 ms, 32 MiB");
    unlink(config_path);
    return 0;
}
