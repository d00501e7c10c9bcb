/* command.h: runs commands and measures them, each in a process of its own. One thread. */
#pragma once

#include <stdbool.h>

struct command_cost {
    double seconds, processor_seconds,
        mib; /* elapsed time; user and system time; peak memory */
};

/* Prints a message and ends the benchmark. */
void command_stop(const char *program, const char *what);

/* Runs a shell command, or own(ctx) if `shell` is NULL, in a child process. The output goes to
 * the file `out_path`: grep recognizes /dev/null and stops at the first match. Returns its exit
 * code; -1 if it was killed. *cost may be NULL. */
int command_run(const char *shell, void (*own)(void *ctx), void *ctx, const char *out_path,
                struct command_cost *cost);

/* Keeps the best times and the largest memory of all runs. */
void command_keep_best(struct command_cost *best, struct command_cost cost, bool is_first);

/* Prints one row: times, the rate of a processor for `bytes`, and memory. */
void command_say(const char *name, struct command_cost cost, double bytes);
