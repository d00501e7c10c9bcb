/* Measures the reading of graph traces: speed and memory, compared with a reader that builds
 * the whole document. Usage: bench_graph [MB [DIRECTORY]]. The traces are written to DIRECTORY
 * ($TMPDIR, /tmp) and removed. Each figure comes from a process of its own. Times are the best
 * of three, on one core. */
#include "graph_dom.h"
#include "graph_gen.h"
#include "model/follow.h"
#include "sources/graph/graph.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 3, DOM_MB = 256 };
#define MB 1e6
#define FIXED_BYTES (UINT64_C(32) << 20)
#define BYTES_PER_LIVE 64

static const char *program = "bench_graph", *trace_path;

static pid_t owner;

static void remove_trace(void)
{
    if (getpid() == owner)
        unlink(trace_path);
}

static void stop(const char *what)
{
    fprintf(stderr, "%s: %s\n", program, what);
    exit(EXIT_FAILURE);
}

/* Returns the processor time of this process, because other processes may run at the same
 * time. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Returns the largest memory of this process so far, in KiB. */
static uint64_t peak_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoull(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kib;
}

struct measure {
    double seconds;
    uint64_t kib, count;
    struct tts_graph_figures figures;
};

/* ---- measurements ---- */

static struct tts_follow *new_follow(bool folds)
{
    struct tts_follow *follow = NULL;
    struct tts_follow_config config = {0};
    if (folds && tts_follow_new(&config, NULL, &follow, NULL) != TTS_OK)
        stop("no memory to follow");
    return follow;
}

static void read_trace(const char *path, bool folds, struct measure *out)
{
    struct tts_graph *graph = NULL;
    struct tts_item item;
    struct tts_error err = {0};
    enum tts_status status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || tts_graph_open(fd, NULL, 0, NULL, &graph, &err) != TTS_OK)
        stop("cannot open the trace");
    struct tts_follow *follow = new_follow(folds);
    while ((status = tts_graph_next(graph, &item, &err)) == TTS_OK)
        if (follow && tts_follow_item(follow, &item, &err) != TTS_OK)
            stop(err.text);
    if (status != TTS_E_NOT_FOUND)
        stop(err.text);
    for (int kind = 0; kind < TTS_GRAPH_NOTES; kind++)
        if (tts_graph_note(graph, (enum tts_graph_note_kind)kind)->count > 0)
            stop(tts_graph_note(graph, (enum tts_graph_note_kind)kind)->text);
    out->count = item.seq;
    out->figures = tts_graph_figures(graph);
    tts_follow_free(follow);
    tts_graph_close(graph);
    close(fd);
}

static void read_items(const char *path, struct measure *out)
{
    read_trace(path, false, out);
}

static void read_and_fold(const char *path, struct measure *out)
{
    read_trace(path, true, out);
}

static void read_dom(const char *path, struct measure *out)
{
    long nodes = graph_dom_nodes(path);
    if (nodes < 0)
        stop("the general reader could not read the trace");
    out->count = (uint64_t)nodes;
}

/* ---- processes ---- */

typedef void (*reader_fn)(const char *path, struct measure *out);

static struct measure in_child(reader_fn reader, const char *path)
{
    struct measure *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        stop("no memory to share");
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        stop("no process");
    if (child == 0) {
        double start = now();
        reader(path, shared);
        shared->seconds = now() - start;
        shared->kib = peak_kib();
        _exit(EXIT_SUCCESS);
    }
    int state = 0;
    if (waitpid(child, &state, 0) != child || !WIFEXITED(state) || WEXITSTATUS(state) != 0)
        stop("a measured process failed");
    struct measure measure = *shared;
    munmap(shared, sizeof *shared);
    return measure;
}

static struct measure best(reader_fn reader, const char *path)
{
    struct measure best = in_child(reader, path);
    for (int i = 1; i < RUNS; i++) {
        struct measure measure = in_child(reader, path);
        if (measure.seconds < best.seconds)
            best = measure;
    }
    return best;
}

/* ---- report ---- */

static void say(const char *name, double value, const char *unit)
{
    printf("%-44s %12.2f %s\n", name, value, unit);
}

static struct graph_gen_result make(const char *path, double mb, int indent)
{
    struct graph_gen_result result = {0};
    FILE *file = fopen(path, "w");
    if (!file || graph_gen(file, (uint64_t)(mb * MB), indent, &result) != 0)
        stop("cannot write the trace: is there room?");
    fclose(file);
    return result;
}

static void check(const struct measure *measure, const struct graph_gen_result *made)
{
    const struct tts_graph_figures *figures = &measure->figures;
    if (figures->nodes != made->nodes || figures->dram_peak_bytes != made->dram_peak ||
        figures->dram_allocated_bytes != made->dram_allocated ||
        figures->dram_freed_bytes != made->dram_freed)
        stop("the figures are not those of the trace that was made");
}

static void measure_memory(const char *name, const struct measure *measure, uint64_t live)
{
    uint64_t allowed = FIXED_BYTES + BYTES_PER_LIVE * live;
    say(name, (double)measure->kib / 1024, "MiB");
    say("  allowed: 32 MiB and 64 B for each live one", (double)allowed / 1048576, "MiB");
}

/* Measures the whole trace, in compact form. */
static void measure_whole(const char *path, double mb)
{
    struct graph_gen_result made = make(path, mb, 0);
    say("trace", (double)made.bytes / MB, "MB");
    say("  nodes", (double)made.nodes, "");
    say("  live buffers at most", (double)made.live_max, "");
    struct measure items = best(read_items, path);
    check(&items, &made);
    say("read", (double)made.bytes / MB / items.seconds, "MB/s");
    say("  a node", items.seconds / (double)made.nodes * 1e9, "ns");
    measure_memory("  memory", &items, made.live_max);
    struct measure folded = best(read_and_fold, path);
    say("read and folded", (double)made.bytes / MB / folded.seconds, "MB/s");
    measure_memory("  memory", &folded, made.live_max);
}

/* Measures a part of the trace, compared with the general reader, which needs all of it in
 * memory. */
static void measure_part(const char *path, double mb, int indent)
{
    struct graph_gen_result made = make(path, mb, indent);
    struct measure items = best(read_items, path), dom = best(read_dom, path);
    check(&items, &made);
    if (dom.count != made.nodes)
        stop("the general reader read another trace");
    say(indent ? "part, laid out in lines" : "part", (double)made.bytes / MB, "MB");
    say("  read", (double)made.bytes / MB / items.seconds, "MB/s");
    say("  by a general DOM (simdjson)", (double)made.bytes / MB / dom.seconds, "MB/s");
    say("  ratio to it", dom.seconds / items.seconds, "x");
    say("  its memory", (double)dom.kib / 1024, "MiB");
}

int main(int argc, char **argv)
{
    double mb = argc > 1 ? strtod(argv[1], NULL) : 2048;
    const char *directory = argc > 2 ? argv[2] : getenv("TMPDIR");
    char path[4096];
    program = argv[0];
    if (argc > 3 || !(mb >= 1 && mb <= 1e6)) {
        fprintf(stderr, "usage: %s [MB [DIRECTORY]]\n", argv[0]);
        return 2;
    }
    int len = snprintf(path, sizeof path, "%s/ttscope-bench-graph-XXXXXX",
                       directory && *directory ? directory : "/tmp");
    int fd = len < (int)sizeof path ? mkstemp(path) : -1;
    if (fd < 0)
        stop("cannot make a temporary file: name a directory");
    close(fd);
    trace_path = path;
    owner = getpid();
    atexit(remove_trace);
    measure_whole(path, mb);
    measure_part(path, mb < DOM_MB ? mb : DOM_MB, 0);
    measure_part(path, mb < DOM_MB ? mb : DOM_MB, 2);
    return EXIT_SUCCESS;
}
