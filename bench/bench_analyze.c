/* Measures the reading of training logs: speed and memory, compared with `grep -c` for one line
 * of every summary in the same run. Usage: bench_analyze [MB [TTSCOPE]]. Logs of MB megabytes
 * (2048) are written to $TMPDIR (/tmp) and removed. Each figure comes from a process of its own
 * and is the best of three; the commands take turns. The comparison with grep uses processor
 * time, because other processes may run at the same time. The comparison with two commands in a
 * pipe uses elapsed time. */
#include "command.h"
#include "sources/trainlog/trainlog.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 3, PATH_ROOM = 64 };
#define MB 1e6
#define LINE "Overall DRAM Peak"

static char log_path[PATH_MAX], zst_path[PATH_MAX + PATH_ROOM], out_path[PATH_MAX + PATH_ROOM];
static const char *ttscope;
static pid_t owner;

static void remove_logs(void)
{
    if (getpid() != owner)
        return;
    unlink(log_path);
    unlink(zst_path);
    unlink(out_path);
}

static void stop(const char *what)
{
    command_stop("bench_analyze", what);
}

/* ---- logs ---- */

static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static void write_header(FILE *file)
{
    fputs("======================================================================\n"
          "  llama - training\n"
          "======================================================================\n"
          "\n[MODEL] --------------------------------------------------------------\n"
          "     params  1,100,048,384\n  grad ckpt  off\n"
          "\n[OPTIMIZER] ----------------------------------------------------------\n"
          "       name  AdamW\n         lr  3.00e-04\n"
          "\n[HARDWARE] -----------------------------------------------------------\n"
          "       chip  wormhole_b0\n       mesh  1x8\n     memory  98,304 MB\n\n",
          file);
}

static void write_summary(FILE *file, uint64_t *state)
{
    static const char *const names[] = {"MODEL_CREATION", "OPTIMIZER_CREATION", "FORWARD_PASS",
                                        "BACKWARD_PASS", "FIRST_ITERATION_COMPLETE"};
    double current = 0, peak = 0;
    fputs("=== Memory Usage Summary ===\n\n", file);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double taken = (double)(draw(state) % 400000) / 100;
        double given = (double)(draw(state) % 200000) / 100;
        peak = current + taken > peak ? current + taken : peak;
        current += taken - given;
        fprintf(file,
                "--- %s ---\n  DRAM: Segment Peak %.2f MB, Allocations %.2f MB, Deallocations "
                "%.2f MB, Segment Change %+.2f MB\n  DRAM: Cumulative Peak %.2f MB, Cumulative "
                "Current %.2f MB\n  L1: Peak CB 1.04 MB, Peak Buffer 0.00 MB, Peak Total 1.04 "
                "MB\n",
                names[i], taken, taken, given, taken - given, peak, current);
    }
    fprintf(file,
            "\n=== Final Totals ===\nOverall DRAM Peak: %.2f MB, Final DRAM Usage: %.2f MB\n\n",
            peak, current);
}

/* Writes the lines of one training step. Some of the lines hold a word that the reader searches
 * for. */
static void write_step(FILE *file, uint64_t step, uint64_t *state)
{
    uint64_t number = draw(state);
    fprintf(file,
            "Step: %" PRIu64 ", Loss: %.6f\nFull step time %.3f ms, cache entries: %" PRIu64
            "\n",
            step, (double)(number % 10000000) / 1e6, (double)(number >> 40) / 1e4,
            number >> 20 & 511);
    if (step % 100 == 0)
        fprintf(file,
                "[2026-02-27 10:%02d:%02d.%03d] INFO trainer.py:214 gradient norm %.4f, lr "
                "3.0e-04, memory %d MB, more frames to come\n",
                (int)(step / 60 % 60), (int)(step % 60), (int)(number % 1000),
                (double)(number % 9999) / 1e3, (int)(number % 9000));
}

static uint64_t make_log(double mb, bool is_dense)
{
    uint64_t state = 88172645463325252, step = 0, summaries = 0;
    double bytes = mb * MB;
    FILE *file = fopen(log_path, "w");
    if (!file)
        stop("cannot write the log");
    write_header(file);
    for (uint64_t i = 0; i % 64 != 0 || (double)ftell(file) < bytes; i++) {
        if (is_dense || step % 2000000 == 1) {
            write_summary(file, &state);
            summaries++;
        }
        write_step(file, step++, &state);
    }
    if (fclose(file) != 0)
        stop("cannot write the log: is there room?");
    return summaries;
}

/* ---- processes ---- */

/* A log that the benchmark reads itself. */
struct own_read {
    const char *path;
    uint64_t wanted;
};

static void read_here(void *ctx)
{
    const struct own_read *read = ctx;
    struct tts_trainlog *log = NULL;
    const struct tts_run *run;
    struct tts_error err = {0};
    uint64_t whole = 0;
    enum tts_status status = tts_trainlog_open(read->path, NULL, &log, &err);
    while (status == TTS_OK && (status = tts_trainlog_next(log, &run, &err)) == TTS_OK)
        whole += !run->is_cut && run->phase_count == 5 && run->notes_in_all == 0;
    if (status != TTS_E_NOT_FOUND || whole != read->wanted)
        stop("the log was not read as it was made");
    tts_trainlog_close(log);
}

/* Runs a shell command, or reads `path` itself if `command` is NULL. */
static struct command_cost run_once(const char *command, const char *path, uint64_t wanted)
{
    struct command_cost cost = {0};
    struct own_read read = {path, wanted};
    if (command_run(command, read_here, &read, out_path, &cost) != 0)
        stop(command ? command : "the reader failed");
    return cost;
}

/* ---- report ---- */

static bool has_command(void)
{
    char command[PATH_MAX + PATH_ROOM];
    snprintf(command, sizeof command, "'%s' analyze --help >/dev/null 2>&1", ttscope);
    return command_run(command, NULL, NULL, out_path, NULL) == 0;
}

static void say_ratio(struct command_cost cost, struct command_cost other, bool is_time)
{
    if (is_time)
        printf("  %-28s %8.2f of its time (aim: 1.2 or less)\n", "",
               cost.seconds / other.seconds);
    else
        printf("  %-28s %8.2f of its rate\n", "",
               other.processor_seconds / cost.processor_seconds);
}

/* Compares reading `path` with running the command `other`: the ratio of the times, or of the
 * rates. */
static void compare(const char *path, const char *other, uint64_t wanted, double bytes,
                    bool is_time)
{
    char command[2 * PATH_MAX];
    struct command_cost grep = {0}, here = {0}, whole = {0};
    bool has = has_command();
    snprintf(command, sizeof command, "exec '%s' analyze --logs '%s' --json", ttscope, path);
    for (int i = 0; i < RUNS; i++) {
        command_keep_best(&grep, run_once(other, NULL, 0), i == 0);
        command_keep_best(&here, run_once(NULL, path, wanted), i == 0);
        if (has)
            command_keep_best(&whole, run_once(command, NULL, 0), i == 0);
    }
    command_say(is_time ? "zstd -dc | grep -c" : "grep -c", grep, bytes);
    command_say("the reader", here, bytes);
    say_ratio(here, grep, is_time);
    if (!has)
        return;
    command_say("ttscope analyze --json", whole, bytes);
    say_ratio(whole, grep, is_time);
}

static void measure_log(const char *name, double mb, bool is_dense)
{
    char command[3 * PATH_MAX];
    uint64_t wanted = make_log(mb, is_dense);
    double bytes = mb * MB;
    printf("%s: %.0f MB, %" PRIu64 " summaries\n", name, mb, wanted);
    snprintf(command, sizeof command, "exec grep -c '" LINE "' '%s'", log_path);
    compare(log_path, command, wanted, bytes, false);
    if (is_dense)
        return;
    snprintf(command, sizeof command, "exec zstd -q -f '%s' -o '%s'", log_path, zst_path);
    run_once(command, NULL, 0);
    printf("%s, as .zst\n", name);
    snprintf(command, sizeof command, "zstd -dc '%s' | grep -c '" LINE "'", zst_path);
    compare(zst_path, command, wanted, bytes, true);
    unlink(zst_path);
}

int main(int argc, char **argv)
{
    double mb = argc > 1 ? strtod(argv[1], NULL) : 2048;
    const char *tmp = getenv("TMPDIR");
    if (!(mb >= 1))
        stop("usage: bench_analyze [MB [TTSCOPE]]");
    ttscope = argc > 2 ? argv[2] : "build/bench/bin/ttscope";
    owner = getpid();
    snprintf(log_path, sizeof log_path, "%s/bench_analyze.%d.log", tmp ? tmp : "/tmp",
             (int)owner);
    snprintf(zst_path, sizeof zst_path, "%s.zst", log_path);
    snprintf(out_path, sizeof out_path, "%s.out", log_path);
    atexit(remove_logs);
    measure_log("log (aim: 0.4 of grep's rate, 16 MiB)", mb, false);
    measure_log("log of summaries only", mb / 8, true);
    return 0;
}
