/* bench_space: measures one operation of a space, compared with the way of the reference.
 *
 *   bench_space [STREAM...]              all streams, or those whose name contains a word
 *   bench_space --portable [STREAM...]   without special instructions of this processor
 *   bench_space --budget NAME            one hot operation, in bench_measured()
 *
 * --budget is for counting instructions. Both allocators replay the same recorded operations in
 * the same process on one core, alternating, best of three. The address of every take is added
 * to a checksum that must be equal to the published one. The exit code is 1 if a checksum
 * differs. A missed target is only marked, because machines differ. */
#include "baseline.h"
#include "stream.h"

#include "base/hash.h"
#include "device/blocks.h"
#include "device/space.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

enum { ROUNDS = 3, STATS_CALLS = 1000000 };

/* Returns true for streams that would take hours with the baseline. They run only on the
 * space. */
static bool is_past_baseline(const struct stream_config *config)
{
    return config->live >= 1000000;
}

/* The targets of a stream: the ratio to the baseline, the 99th percentile, and the reference's
 * own nanoseconds per operation if they were measured (on another machine). */
struct aim {
    const char *stream; /* prefix of the stream's name */
    double ratio, p99_ns;
    double reference_low_ns, reference_high_ns;
};

static const struct aim aims[] = {
    {"l1-wh-40live", 3, 0, 62, 65},
    {"l1-wh-100live", 3, 0, 53, 56},
    {"model-wh-dram", 3, 0, 53, 59},
    {"pow-1k-first-bu", 4, 120, 143, 146},
    {"pow-1k-first-td", 4, 120, 127, 143},
    {"pow-1k-first-mix", 4, 120, 134, 161},
    {"pow-1k-best-bu", 1.5, 120, 78, 86},
    {"pow-1k-best-td", 1.5, 120, 79, 81},
    {"pow-10k-first-bu", 10, 0, 681, 752},
    {"pow-10k-first-td", 10, 0, 646, 771},
    {"pow-10k-first-mix", 10, 0, 732, 887},
    {"pow-10k-best-bu", 1.7, 0, 122, 129},
    {"pow-10k-best-td", 1.7, 0, 117, 120},
    {"pow-100k-first-bu-long", 100, 300, 11000, 14000},
    {"pow-100k-first-bu", 100, 300, 7400, 9100},
    {"pow-100k-first-td", 100, 300, 7600, 9700},
    {"pow-100k-first-mix", 100, 300, 8100, 9500},
    {"pow-100k-best-bu", 4, 300, 422, 678},
    {"pow-100k-best-td", 4, 300, 334, 384},
    {"", 0, 0, 0, 0},
};

static const struct aim *aim_of(const char *name)
{
    const struct aim *aim = aims;
    while (strncmp(name, aim->stream, strlen(aim->stream)) != 0)
        aim++;
    return aim;
}

static void die(const char *what)
{
    fprintf(stderr, "bench_space: %s\n", what);
    exit(3);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ticks() returns a serialised time stamp. ticks_per_ns() returns the number of ticks in a
 * nanosecond. */
static inline uint64_t ticks(void)
{
#ifdef __x86_64__
    unsigned int core;
    _mm_lfence();
    uint64_t t = __rdtscp(&core);
    _mm_lfence();
    return t;
#else
    return (uint64_t)now_ns();
#endif
}

static double ticks_per_ns(void)
{
    double start = now_ns();
    uint64_t first = ticks();
    while (now_ns() - start < 2e7)
        ;
    return (double)(ticks() - first) / (now_ns() - start);
}

static void pin_to_one_core(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        fprintf(stderr, "bench_space: cannot pin to a core, figures will be noisier\n");
}

static struct tts_space *space_new(const struct stream_config *config)
{
    struct tts_space_config c = {.size_bytes = config->pool_bytes,
                                 .offset_bytes = config->offset_bytes,
                                 .min_bytes = config->alignment_bytes,
                                 .alignment_bytes = config->alignment_bytes,
                                 .policy = config->best ? TTS_POLICY_BEST : TTS_POLICY_FIRST};
    struct tts_space *space;
    struct tts_error err;
    if (tts_space_new(&c, NULL, &space, &err) != TTS_OK)
        die(err.text);
    return space;
}

static inline uint64_t space_apply(struct tts_space *space, const struct stream_op *op)
{
    uint64_t address = UINT64_MAX;
    enum tts_status status =
        op->kind == STREAM_GIVE
            ? tts_space_give(space, op->value)
            : tts_space_take(space, op->value,
                             op->kind == STREAM_TAKE_UP ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN,
                             0, &address);
    if (status == TTS_E_NOMEM)
        die("out of memory");
    return address;
}

static inline uint64_t baseline_apply(struct baseline *b, const struct stream_op *op)
{
    if (op->kind != STREAM_GIVE)
        return baseline_take(b, op->value, op->kind == STREAM_TAKE_UP);
    baseline_give(b, op->value);
    return UINT64_MAX;
}

/* ---- throughput ---- */

struct result {
    double ours_ns, baseline_ns;
    double fill_ns;
    uint64_t sink;
};

static void time_ours(const struct stream_config *config, const struct stream *stream,
                      struct result *r)
{
    struct tts_space *space = space_new(config);
    double start = now_ns();
    for (size_t i = 0; i < stream->fill; i++)
        r->sink ^= space_apply(space, &stream->ops[i]);
    double middle = now_ns();
    for (size_t i = stream->fill; i < stream->count; i++)
        r->sink ^= space_apply(space, &stream->ops[i]);
    double mix = (now_ns() - middle) / (double)(stream->count - stream->fill);
    double fill = (middle - start) / (double)stream->fill;
    r->ours_ns = r->ours_ns == 0 || mix < r->ours_ns ? mix : r->ours_ns;
    r->fill_ns = r->fill_ns == 0 || fill < r->fill_ns ? fill : r->fill_ns;
    tts_space_free(space);
}

static void time_baseline(const struct stream_config *config, const struct stream *stream,
                          struct result *r)
{
    struct baseline *b = baseline_new(config->pool_bytes, config->offset_bytes,
                                      config->alignment_bytes, config->best);
    for (size_t i = 0; i < stream->fill; i++)
        r->sink ^= baseline_apply(b, &stream->ops[i]);
    double start = now_ns();
    for (size_t i = stream->fill; i < stream->count; i++)
        r->sink ^= baseline_apply(b, &stream->ops[i]);
    double mix = (now_ns() - start) / (double)(stream->count - stream->fill);
    r->baseline_ns = r->baseline_ns == 0 || mix < r->baseline_ns ? mix : r->baseline_ns;
    baseline_free(b);
}

static bool baseline_agrees(const struct stream_config *config, const struct stream *stream)
{
    struct baseline *b = baseline_new(config->pool_bytes, config->offset_bytes,
                                      config->alignment_bytes, config->best);
    uint64_t hash = TTS_FNV1A64_INIT;
    for (size_t i = 0; i < stream->count; i++) {
        uint64_t address = baseline_apply(b, &stream->ops[i]);
        if (stream->ops[i].kind != STREAM_GIVE)
            hash = tts_fnv1a64_u64(hash, address);
    }
    baseline_free(b);
    return hash == stream->checksum;
}

/* ---- one operation at a time, statistics, memory ---- */

struct detail {
    double p50_ns, p99_ns, max_ns;
    double stats_ns;
    double bytes_per_live;
    uint64_t live, free_blocks;
};

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t timer_cost(void)
{
    uint64_t cost[1001];
    for (int i = 0; i < 1001; i++) {
        uint64_t t = ticks();
        cost[i] = ticks() - t;
    }
    qsort(cost, 1001, sizeof(cost[0]), compare_u64);
    return cost[500];
}

/* Times each operation. For the longest operation, including those that fill the pool, the
 * smallest of three passes counts: an interrupt does not hit the same operation three times,
 * but a rehash does. */
static void time_each(const struct stream_config *config, const struct stream *stream,
                      struct detail *d)
{
    double per_ns = ticks_per_ns();
    uint64_t cost = timer_cost(), sink = 0, worst = 0;
    uint64_t *took = malloc(stream->count * sizeof(*took));
    if (!took)
        die("out of memory");
    for (int round = 0; round < ROUNDS; round++) {
        struct tts_space *space = space_new(config);
        for (size_t i = 0; i < stream->count; i++) {
            uint64_t t = ticks();
            sink ^= space_apply(space, &stream->ops[i]);
            t = ticks() - t;
            t = t > cost ? t - cost : 0;
            took[i] = round == 0 || t < took[i] ? t : took[i];
        }
        tts_space_free(space);
    }
    for (size_t i = 0; i < stream->count; i++)
        worst = took[i] > worst ? took[i] : worst;
    size_t mix = stream->count - stream->fill;
    qsort(took + stream->fill, mix, sizeof(*took), compare_u64);
    d->p50_ns = (double)took[stream->fill + mix / 2] / per_ns;
    d->p99_ns = (double)took[stream->fill + mix / 100 * 99] / per_ns;
    d->max_ns = (double)(worst + (sink == 1)) / per_ns;
    free(took);
}

static void measure_state(const struct stream_config *config, const struct stream *stream,
                          struct detail *d)
{
    struct tts_space *space = space_new(config);
    uint64_t sink = 0;
    for (size_t i = 0; i < stream->count; i++)
        sink ^= space_apply(space, &stream->ops[i]);
    struct tts_space_stats stats;
    double start = now_ns();
    for (int i = 0; i < STATS_CALLS; i++) {
        tts_space_get_stats(space, &stats);
        __asm__ volatile("" : : "r"(&stats) : "memory");
    }
    d->stats_ns = (now_ns() - start) / STATS_CALLS;
    d->live = stats.taken_blocks + (sink == 1);
    d->free_blocks = stats.free_blocks;
    d->bytes_per_live = (double)tts_space_memory(space) / (double)stats.taken_blocks;
    tts_space_free(space);
}

/* ---- rows ---- */

static void print_header(void)
{
    printf("%-23s %9s %8s %7s %6s %9s %6s %6s %9s %6s %6s %7s  %s\n", "stream", "baseline",
           "ours", "ratio", "aim", "baseline/", "p50", "p99", "longest", "stats", "bytes/",
           "free", "checksum");
    printf("%-23s %9s %8s %7s %6s %9s %6s %6s %9s %6s %6s %7s  %s\n", "", "ns/op", "ns/op", "x",
           "x", "reference", "ns", "ns", "ns", "ns", "live", "blocks", "");
}

static void print_row(const struct stream_config *config, const struct stream *stream,
                      const struct result *r, const struct detail *d)
{
    const struct aim *aim = aim_of(config->name);
    double ratio = r->baseline_ns / r->ours_ns;
    double reference = (aim->reference_low_ns + aim->reference_high_ns) / 2;
    char aim_text[16] = "-", reference_text[16] = "-", baseline_text[16] = "-";
    char ratio_text[16] = "-";
    if (r->baseline_ns > 0) {
        snprintf(baseline_text, sizeof(baseline_text), "%.1f", r->baseline_ns);
        snprintf(ratio_text, sizeof(ratio_text), "%.1f", ratio);
    }
    if (aim->ratio > 0)
        snprintf(aim_text, sizeof(aim_text), "%s%.1f", ratio >= aim->ratio ? "" : "!",
                 aim->ratio);
    if (reference > 0)
        snprintf(reference_text, sizeof(reference_text), "%.2f", r->baseline_ns / reference);
    bool p99_missed = aim->p99_ns > 0 && d->p99_ns > aim->p99_ns;
    printf("%-23s %9s %8.1f %7s %6s %9s %6.0f %5.0f%s %9.0f %6.1f %6.1f %7llu  %016llx\n",
           config->name, baseline_text, r->ours_ns, ratio_text, aim_text, reference_text,
           d->p50_ns, d->p99_ns, p99_missed ? "!" : " ", d->max_ns, d->stats_ns,
           d->bytes_per_live, (unsigned long long)d->free_blocks,
           (unsigned long long)stream->checksum);
    fflush(stdout);
}

static bool run_stream(const struct stream_config *config)
{
    struct stream stream;
    struct result result = {0};
    struct detail detail = {0};
    stream_generate(&stream, config);
    if (config->checksum && stream.checksum != config->checksum) {
        printf("%-23s checksum %016llx, expected %016llx\n", config->name,
               (unsigned long long)stream.checksum, (unsigned long long)config->checksum);
        stream_release(&stream);
        return false;
    }
    bool agrees = is_past_baseline(config) || baseline_agrees(config, &stream);
    if (!agrees)
        printf("%-23s the baseline places a block elsewhere\n", config->name);
    for (int round = 0; round < ROUNDS; round++) {
        if (!is_past_baseline(config))
            time_baseline(config, &stream, &result);
        time_ours(config, &stream, &result);
    }
    time_each(config, &stream, &detail);
    measure_state(config, &stream, &detail);
    print_row(config, &stream, &result, &detail);
    stream_release(&stream);
    return agrees;
}

/* ---- budgets ---- */

struct budget {
    const char *name, *stream;
    bool gives;
};

static const struct budget budgets[] = {
    {"take-l1", "l1-wh-40live-td", false},     {"give-l1", "l1-wh-40live-td", true},
    {"take-1k", "pow-1k-first-mix", false},    {"give-1k", "pow-1k-first-mix", true},
    {"take-100k", "pow-100k-first-bu", false}, {"give-100k", "pow-100k-first-bu", true},
    {"take-best", "pow-10k-best-bu", false},   {"give-best", "pow-10k-best-bu", true},
};

/* The only function whose instructions are counted. */
__attribute__((noinline)) uint64_t bench_measured(struct tts_space *space,
                                                  const struct stream_op *op);
uint64_t bench_measured(struct tts_space *space, const struct stream_op *op)
{
    return space_apply(space, op);
}

static int run_budget(const char *name)
{
    for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
        if (strcmp(budgets[i].name, name) != 0)
            continue;
        const struct stream_config *config = stream_configs;
        while (strcmp(config->name, budgets[i].stream) != 0)
            config++;
        struct stream_config part = *config;
        part.operations = 20000;
        struct stream stream;
        stream_generate(&stream, &part);
        struct tts_space *space = space_new(config);
        uint64_t sink = 0, counted = 0;
        for (size_t k = 0; k < stream.count; k++) {
            bool gives = stream.ops[k].kind == STREAM_GIVE;
            if (k < stream.fill || gives != budgets[i].gives) {
                sink ^= space_apply(space, &stream.ops[k]);
                continue;
            }
            sink ^= bench_measured(space, &stream.ops[k]);
            counted++;
        }
        printf("operations %llu\n", (unsigned long long)(counted + (sink == 1)));
        tts_space_free(space);
        stream_release(&stream);
        return 0;
    }
    fprintf(stderr, "bench_space: unknown budget '%s'\n", name);
    return 2;
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strstr(name, argv[i]))
            return true;
    }
    return argc == 1;
}

int main(int argc, char **argv)
{
    pin_to_one_core();
    if (argc == 3 && strcmp(argv[1], "--budget") == 0)
        return run_budget(argv[2]);
    if (argc == 2 && strcmp(argv[1], "--budgets") == 0) {
        for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++)
            printf("%s\n", budgets[i].name);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--portable") == 0) {
        tts_blocks_set_portable(true);
        argc--;
        argv++;
    }
    bool ok = true;
    print_header();
    for (size_t i = 0; i < STREAM_CONFIGS; i++) {
        if (wanted(stream_configs[i].name, argc, argv))
            ok = run_stream(&stream_configs[i]) && ok;
    }
    return ok ? 0 : 1;
}
