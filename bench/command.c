#include "command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB 1e6

void command_stop(const char *program, const char *what)
{
    fprintf(stderr, "%s: %s\n", program, what);
    exit(EXIT_FAILURE);
}

static void be_child(const char *shell, void (*own)(void *ctx), void *ctx, const char *out_path)
{
    if (!shell) {
        own(ctx);
        _exit(EXIT_SUCCESS);
    }
    int fd = open(out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0)
        dup2(fd, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", shell, (char *)NULL);
    _exit(127);
}

static double clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int command_run(const char *shell, void (*own)(void *ctx), void *ctx, const char *out_path,
                struct command_cost *cost)
{
    struct rusage usage;
    int state = 0;
    fflush(NULL);
    double begin = clock_now();
    pid_t pid = fork();
    if (pid == 0)
        be_child(shell, own, ctx, out_path);
    if (pid < 0 || wait4(pid, &state, 0, &usage) != pid)
        return -1;
    if (cost)
        *cost = (struct command_cost){clock_now() - begin,
                                      seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
                                      (double)usage.ru_maxrss / 1024};
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

void command_keep_best(struct command_cost *best, struct command_cost cost, bool is_first)
{
    if (is_first || cost.seconds < best->seconds)
        best->seconds = cost.seconds;
    if (is_first || cost.processor_seconds < best->processor_seconds)
        best->processor_seconds = cost.processor_seconds;
    best->mib = cost.mib > best->mib ? cost.mib : best->mib;
}

void command_say(const char *name, struct command_cost cost, double bytes)
{
    printf("  %-28s %8.1f ms %8.1f ms of a processor %8.0f MB/s %6.1f MiB\n", name,
           cost.seconds * 1e3, cost.processor_seconds * 1e3,
           bytes / MB / cost.processor_seconds, cost.mib);
}
