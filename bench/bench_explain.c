/* Measures `ttscope explain`: speed and memory, compared with `grep -c` for a word of a failure
 * in the same run. Usage: bench_explain [MB [TTSCOPE]]. Logs of MB megabytes (1000) are written
 * to $TMPDIR (/tmp) and removed: one with ten failures, and one of half the size without a
 * failure, which quotes the sentences without their numbers. Each figure is the best of three;
 * the commands take turns. The comparison uses processor time, because other processes may run
 * at the same time. */
#include "command.h"

#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 3, FAILURES = 10, PATH_ROOM = 64, NOTHING_FOUND = 1 };
#define MB 1e6

static char log_path[PATH_MAX], out_path[PATH_MAX + PATH_ROOM];
static const char *ttscope;
static pid_t owner;

static void remove_logs(void)
{
    if (getpid() != owner)
        return;
    unlink(log_path);
    unlink(out_path);
}

static void stop(const char *what)
{
    command_stop("bench_explain", what);
}

/* ---- logs ---- */

static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* Writes the lines of one step of a program, with the operations of the runtime's log. */
static void write_step(FILE *file, uint64_t step, uint64_t *state)
{
    uint64_t number = draw(state);
    fprintf(
        file,
        "2026-08-12 10:%02d:%02d.%03d | DEBUG    |  RuntimeTTNN - Executing operation: %%%d "
        "= \"ttnn.matmul\"(%%%d, %%%d) <{transpose_a = false}> : (tensor<32x%dxbf16>) -> "
        "tensor<32x32xbf16>\n",
        (int)(step / 60 % 60), (int)(step % 60), (int)(number % 1000), (int)(step % 900),
        (int)(number % 77), (int)(number % 99), (int)(number % 4096));
    fprintf(file, "Step: %" PRIu64 ", Loss: %.6f, memory %d MB, cache entries: %d\n", step,
            (double)(number % 10000000) / 1e6, (int)(number % 9000), (int)(number >> 20 & 511));
}

/* Writes a sentence of the source code or of the documentation, which is no failure. */
static void write_quote(FILE *file, uint64_t step)
{
    static const char *const quotes[] = {
        "TT_FATAL(ok, \"Out of Memory: Not enough space to allocate {} B {} buffer\", a, b)",
        "Statically allocated circular buffers in program {} clash with L1 buffers on {}",
        "`Out of Memory: Not enough space to allocate N B DRAM buffer across N banks`",
        "see 'Creating trace buffers of size'; the two overlap before trace replay",
        "Out of Memory: killed process 4711 (python), total-vm:123456kB",
    };
    fprintf(file, "%s\n", quotes[step % (sizeof quotes / sizeof quotes[0])]);
}

static void write_failure(FILE *file, uint64_t number)
{
    fprintf(file,
            "E       RuntimeError: TT_FATAL @ /src/bank_manager.cpp:462: false\nE       info:\n"
            "E       Out of Memory: Not enough space to allocate %" PRIu64
            " B DRAM buffer across 12 banks, where each bank needs to store %" PRIu64
            " B, but bank size is 1070773184 B (allocated: 1003628544 B, free: 67144640 B, "
            "largest free block: 67140352 B)\nE       backtrace:\nE        --- "
            "ttnn::prim::MatmulDeviceOperation::launch()\n",
            number * 12 * 2048, number * 2048);
}

static void make_log(double mb, int failures)
{
    uint64_t state = 88172645463325252, step = 0;
    double bytes = mb * MB;
    int written = 0;
    FILE *file = fopen(log_path, "w");
    if (!file)
        stop("cannot write the log");
    for (double at = 0; at < bytes; at = (double)ftell(file)) {
        for (int i = 0; i < 100; i++)
            write_step(file, step++, &state);
        if (failures == 0 && step % 5000 == 0)
            write_quote(file, step / 5000);
        else if (written < failures && at >= bytes * (written + 0.5) / failures)
            write_failure(file, 50000 + (uint64_t)written++);
    }
    while (written < failures)
        write_failure(file, 50000 + (uint64_t)written++);
    if (fclose(file) != 0)
        stop("cannot write the log: is there room?");
}

/* ---- report ---- */

static void check_answer(int failures)
{
    char command[3 * PATH_MAX];
    snprintf(command, sizeof command,
             "test $('%s' explain --json '%s' 2>/dev/null | grep -c '\"family\"') -eq %d",
             ttscope, log_path, failures);
    if (command_run(command, NULL, NULL, out_path, NULL) != 0)
        stop("the failures were not found as they were made");
}

/* Compares both commands on the log, which `source` gives them: "<" or "cat ... |". */
static void compare(const char *name, const char *source, double bytes, int failures)
{
    char grep_command[3 * PATH_MAX], command[3 * PATH_MAX];
    struct command_cost grep = {0}, here = {0}, cost;
    int grep_code = failures > 0 ? 0 : NOTHING_FOUND, code;
    snprintf(grep_command, sizeof grep_command, "%s grep -c '%s'", source,
             failures > 0 ? "Out of Memory" : "Not enough memory");
    snprintf(command, sizeof command, "%s '%s' explain 2>/dev/null", source, ttscope);
    for (int i = 0; i < RUNS; i++) {
        code = command_run(grep_command, NULL, NULL, out_path, &cost);
        if (code != grep_code)
            stop(grep_command);
        command_keep_best(&grep, cost, i == 0);
        code = command_run(command, NULL, NULL, out_path, &cost);
        if (code != (failures > 0 ? 0 : NOTHING_FOUND))
            stop(command);
        command_keep_best(&here, cost, i == 0);
    }
    printf("%s\n", name);
    command_say("grep -c", grep, bytes);
    command_say("ttscope explain", here, bytes);
    printf("  %-28s %8.2f of its rate, %.2f of its elapsed rate (aim: 0.5, 16 MiB)\n", "",
           grep.processor_seconds / here.processor_seconds, grep.seconds / here.seconds);
}

static void measure(double mb, int failures)
{
    char source[PATH_MAX + PATH_ROOM], name[96];
    make_log(mb, failures);
    check_answer(failures);
    snprintf(name, sizeof name, "log of %.0f MB, %d failures", mb, failures);
    snprintf(source, sizeof source, "<'%s'", log_path);
    compare(name, source, mb * MB, failures);
    strcat(name, ", through a pipe");
    snprintf(source, sizeof source, "cat '%s' |", log_path);
    compare(name, source, mb * MB, failures);
}

int main(int argc, char **argv)
{
    double mb = argc > 1 ? strtod(argv[1], NULL) : 1000;
    const char *tmp = getenv("TMPDIR");
    if (!(mb >= 1))
        stop("usage: bench_explain [MB [TTSCOPE]]");
    ttscope = argc > 2 ? argv[2] : "build/bench/bin/ttscope";
    owner = getpid();
    snprintf(log_path, sizeof log_path, "%s/bench_explain.%d.log", tmp ? tmp : "/tmp",
             (int)owner);
    snprintf(out_path, sizeof out_path, "%s.out", log_path);
    atexit(remove_logs);
    measure(mb, FAILURES);
    measure(mb / 2, 0);
    return 0;
}
