/* bench_record: measures the cost of a recording, in bytes and in time.
 *
 *   bench_record [--events N] [PART]...   size, rate, 1k, 32k, beside, seek, show; default:
 *                                         all
 *
 * size, rate: two streams (story.h), live as a recorder writes them, and packed; the speed of
 * packing and reading. The time between events is drawn from 1 to 30 microseconds, as in a
 * program that also computes, or taken from the clock in a loop that does nothing else.
 *
 * 1k, 32k: an event of a program that is recorded, with that many live buffers, compared with
 * an event that is only counted; measured like bench_capture. beside: the same as lines of JSON
 * and in SQLite.
 *
 * seek: to random events of a packed file of --events events (100 million) with 100k live,
 * until the buffers that were live then are known. The file is in the page cache. show:
 * `ttscope show` of such a file with and without its stored figures.
 *
 * Files are written to $TMPDIR and removed. Targets are printed next to the results and marked
 * if missed. The data read back must be equal to the data fed, otherwise the exit code is 1. */
#include "churn.h"
#include "recordings.h"
#include "writers.h"

#include "base/number.h"
#include "model/opnames.h"
#include "ttscope/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STORY_EVENTS = 1000000,
    TURNS = 8, /* one more turn comes first, which touches all memory and is not counted */
    ROUNDS = 20,
    EVENTS = 20000, /* number of events per thread and round */
    BESIDE_TURNS = 2,
    BESIDE_ROUNDS = 5,
    FEW = 1000,
    MANY = 32000,
    SEEK_LIVE = 100000,
    SEEKS = 50,
    RATE_RUNS = 3,
};

#define RAW_AIM_BYTES 8.0
#define PACKED_AIM_BYTES 3.0
#define RECORDING_AIM_NS 50.0
#define SEEK_AIM_MS 50.0
#define SHOW_AIM_S 1.0

static bool is_wrong;
static char dir[512];

static const char *in_dir(const char *name)
{
    static char paths[4][600];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static void ok(enum tts_status status, const struct tts_error *err)
{
    if (status != TTS_OK)
        churn_die(err->text);
}

static void aim_text(double value, double aim)
{
    printf("   aim %.1f%s", aim, value > aim ? "  MISSED" : "");
}

static void compare(const char *what, int64_t got, int64_t wanted)
{
    if (got == wanted)
        return;
    printf("%s: read %lld, fed %lld  WRONG\n", what, (long long)got, (long long)wanted);
    is_wrong = true;
}

static void compare_pool(const char *name, const struct tts_pool_usage *got,
                         const struct figures *fed, bool has_peak)
{
    char what[64];
    const struct {
        const char *what;
        int64_t got, fed;
    } figures[] = {{"allocated", got->allocated_bytes, fed->allocated},
                   {"freed", got->freed_bytes, fed->freed},
                   {"allocations", (int64_t)got->allocations, (int64_t)fed->allocations},
                   {"frees", (int64_t)got->frees, (int64_t)fed->frees},
                   {"current", got->cumulative_current_bytes, fed->allocated - fed->freed}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        snprintf(what, sizeof what, "%s: %s", name, figures[i].what);
        compare(what, figures[i].got, figures[i].fed);
    }
    snprintf(what, sizeof what, "%s: peak", name);
    if (has_peak)
        compare(what, got->peak_bytes, fed->peak);
}

/* --- size and rate ---------------------------------------------------------------------- */

static void compare_story(const char *path, const struct story *story)
{
    const struct tts_phase *whole;
    struct tts_follow *follow = recording_follow(path, &whole);
    const struct tts_usage *usage = &whole->usage;
    compare("events", (int64_t)whole->events, (int64_t)story->count);
    compare("operations", (int64_t)usage->ops, (int64_t)story->ops);
    compare("programs", (int64_t)usage->programs, (int64_t)story->programs);
    compare_pool("DRAM", &usage->pools[TTS_POOL_DRAM], &story->dram, true);
    compare_pool("L1", &usage->pools[TTS_POOL_L1], &story->l1, true);
    tts_follow_free(follow);
}

static void size_row(const struct story *story, const char *how, const char *path, double aim)
{
    char text[64];
    double bytes = (double)recording_bytes(path) / (double)story->count;
    snprintf(text, sizeof text, "%s, %s", story->name, how);
    printf("%-46s %8.2f B/event", text, bytes);
    if (aim > 0)
        aim_text(bytes, aim);
    putchar('\n');
}

static void sizes(const struct story *story, bool has_aims)
{
    const char *raw = in_dir("raw.tts"), *packed = in_dir("packed.tts");
    recording_drawn(story, raw);
    recording_pack(raw, packed);
    compare_story(raw, story);
    compare_story(packed, story);
    size_row(story, "raw, times drawn", raw, has_aims ? RAW_AIM_BYTES : 0);
    size_row(story, "packed, times drawn", packed, has_aims ? PACKED_AIM_BYTES : 0);
    recording_by_clock(story, raw);
    recording_pack(raw, packed);
    compare_story(raw, story);
    compare_story(packed, story);
    size_row(story, "raw, by the clock of a tight loop", raw, 0);
    size_row(story, "packed, by the clock of a tight loop", packed, 0);
    unlink(raw);
    unlink(packed);
}

static void rate_row(const struct story *story, const char *how, double ns)
{
    char text[64];
    snprintf(text, sizeof text, "%s, %s", story->name, how);
    printf("%-46s %8.2f Mevents/s\n", text, 1e3 * (double)story->count / ns);
}

static void rates(const struct story *story)
{
    const char *raw = in_dir("raw.tts"), *packed = in_dir("packed.tts");
    double best[3] = {0};
    recording_drawn(story, raw);
    for (int i = 0; i < RATE_RUNS; i++) {
        uint64_t events[2];
        double ns[3] = {recording_pack(raw, packed), recording_read(raw, &events[0]),
                        recording_read(packed, &events[1])};
        compare("events of a raw file", (int64_t)events[0], (int64_t)story->count);
        compare("events of a packed file", (int64_t)events[1], (int64_t)story->count);
        for (int k = 0; k < 3; k++)
            best[k] = i == 0 || ns[k] < best[k] ? ns[k] : best[k];
    }
    rate_row(story, "packing", best[0]);
    rate_row(story, "reading raw", best[1]);
    rate_row(story, "reading packed", best[2]);
    unlink(raw);
    unlink(packed);
}

static void streams(bool wants_size, bool wants_rate)
{
    for (int i = 0; i < 2; i++) {
        struct story story;
        if (i == 0)
            story_loop(&story, STORY_EVENTS);
        else
            story_random(&story);
        printf("%s: %zu events, %" PRIu64 " of them allocations and %" PRIu64
               " operations, %" PRIu64 " buffers live at most\n",
               story.name, story.count, story.dram.allocations + story.l1.allocations,
               story.ops, story.live_most);
        if (wants_size)
            sizes(&story, i == 0);
        if (wants_rate)
            rates(&story);
        story_release(&story);
    }
}

/* --- time of an event ------------------------------------------------------------------- */

static const char *short_count(uint32_t n)
{
    return n == FEW ? "1k" : "32k";
}

static void row(const char *name, uint32_t live, uint32_t threads, double ns)
{
    char text[64];
    snprintf(text, sizeof text, "%s, %s live, %u thread%s", name, short_count(live), threads,
             threads > 1 ? "s" : "");
    printf("%-46s %8.1f ns/event", text, ns);
    if (threads > 1)
        printf("  %7.1f Mevents/s", 1e3 * threads / ns);
}

/* Returns the figures of the events that the teams were fed, as plain sums. */
static struct figures fed(uint32_t live, uint32_t threads, int turns, size_t rounds)
{
    struct figures all[CHURN_THREADS_MAX] = {0};
    struct sink sink = {.figures = all};
    struct team team;
    team_init(&team, WAY_FIGURES, threads, live, &sink);
    for (int i = 0; i < turns; i++)
        team_turn(&team, rounds, EVENTS);
    team_release(&team);
    for (uint32_t i = 1; i < threads; i++) {
        all[0].allocated += all[i].allocated;
        all[0].freed += all[i].freed;
        all[0].allocations += all[i].allocations;
        all[0].frees += all[i].frees;
    }
    return all[0];
}

static void compare_recorded(const char *path, uint32_t live, uint32_t threads)
{
    const struct tts_phase *whole;
    struct figures figures = fed(live, threads, TURNS + 1, ROUNDS);
    struct tts_follow *follow = recording_follow(path, &whole);
    compare_pool("DRAM", &whole->usage.pools[TTS_POOL_DRAM], &figures, threads == 1);
    compare("events", (int64_t)whole->events, (int64_t)(figures.allocations + figures.frees));
    tts_follow_free(follow);
}

static void recording(uint32_t live, uint32_t threads)
{
    const char *path = in_dir("churn.tts");
    struct tts_tracker *recorded, *counted;
    struct tts_recorder *recorder;
    struct tts_recorder_config config = {.path = path};
    struct tts_recorder_state state;
    struct tts_capture *capture;
    struct tts_error err = {0};
    ok(tts_tracker_new(NULL, NULL, &recorded, &err), &err);
    ok(tts_tracker_new(NULL, NULL, &counted, &err), &err);
    ok(tts_recorder_begin(recorded, &config, &recorder, &err), &err);
    ok(tts_capture_new(counted, &capture, &err), &err);
    ok(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, &err), &err);
    struct sink sinks[] = {{.tracker = recorded}, {.tracker = counted}, {0}};
    struct team teams[3];
    for (int k = 0; k < 3; k++)
        team_init(&teams[k], k == 2 ? WAY_NOWHERE : WAY_TRACKER, threads, live, &sinks[k]);
    for (int i = 0; i <= TURNS; i++)
        for (int k = 0; k < 3; k++) {
            team_turn(&teams[k], ROUNDS, EVENTS);
            if (i == 0)
                teams[k].best_ns = 0;
        }
    enum tts_status status = tts_recorder_end(recorder, &state, &err);
    row("recording", live, threads, teams[0].best_ns);
    aim_text(teams[0].best_ns, RECORDING_AIM_NS);
    printf("   %.2f B/event", (double)state.bytes / (double)state.events);
    putchar('\n');
    row("  counting only", live, threads, teams[1].best_ns);
    putchar('\n');
    row("  the loop", live, threads, teams[2].best_ns);
    putchar('\n');
    ok(status, &err);
    compare("events dropped", (int64_t)state.dropped, 0);
    for (int k = 0; k < 3; k++)
        compare("events refused", (int64_t)team_release(&teams[k]), 0);
    compare_recorded(path, live, threads);
    tts_capture_free(capture);
    tts_tracker_free(counted);
    tts_tracker_free(recorded);
    unlink(path);
}

/* --- comparison with other writers ------------------------------------------------------ */

static void beside_row(const char *name, const struct sink *sink)
{
    struct team team;
    team_init(&team, WAY_OTHER, 1, FEW, sink);
    for (int i = 0; i < BESIDE_TURNS; i++)
        team_turn(&team, BESIDE_ROUNDS, EVENTS);
    row(name, FEW, 1, team.best_ns);
    compare("events refused", (int64_t)team_release(&team), 0);
}

static void compare_written(const struct written *written)
{
    struct figures figures = fed(FEW, 1, BESIDE_TURNS, BESIDE_ROUNDS);
    printf("   %.2f B/event\n", (double)written->file_bytes / (double)written->events);
    compare("events", (int64_t)written->events, (int64_t)(figures.allocations + figures.frees));
    compare("allocations", (int64_t)written->allocations, (int64_t)figures.allocations);
    compare("allocated", (int64_t)written->allocated_bytes, figures.allocated);
}

static void beside(void)
{
    const char *json_path = in_dir("events.json"), *sqlite_path = in_dir("events.db");
    struct json_writer json;
    struct sqlite_writer sqlite;
    struct written written = {0};
    if (!json_writer_open(&json, json_path) || !sqlite_writer_open(&sqlite, sqlite_path))
        churn_die("cannot make a file to write to");
    beside_row("lines of JSON", &(struct sink){.other = json_writer_write, .ctx = &json});
    if (!json_writer_close(&json) || !json_read(json_path, &written))
        churn_die("cannot read the lines of JSON");
    compare_written(&written);
    beside_row("rows of SQLite, one transaction",
               &(struct sink){.other = sqlite_writer_write, .ctx = &sqlite});
    if (!sqlite_writer_close(&sqlite) || !sqlite_read(sqlite_path, &written))
        churn_die("cannot read the rows of SQLite");
    compare_written(&written);
    unlink(json_path);
    unlink(sqlite_path);
}

/* --- seek ------------------------------------------------------------------------------- */

/* A random event, and the buffers that are live after it. */
struct instant {
    uint64_t seq, live, live_bytes;
    uint64_t items; /* number of items read */
    double ns, cpu_ns;
};

struct churner {
    struct tts_recpack *pack;
    struct stream_random random, gaps;
    uint64_t ids[SEEK_LIVE], sizes[SEEK_LIVE];
    uint64_t next_id, seq, time_ns, live, live_bytes;
    struct instant *instants; /* in order of seq */
    size_t noted;
};

static void tell(struct churner *c, size_t slot, bool is_free)
{
    static const char *const ops[] = {"ttnn::matmul", "ttnn::add", "ttnn::softmax",
                                      "ttnn::layer_norm"};
    const char *op = ops[slot % 4];
    struct tts_error err = {0};
    struct tts_item item = {.kind = TTS_ITEM_EVENT, .seq = ++c->seq, .has_time = true};
    c->time_ns += story_gap_ns(&c->gaps);
    item.time_ns = c->time_ns;
    item.op = (struct tts_item_op){tts_opnames_hash(op, strlen(op)), op, strlen(op)};
    item.event = tts_event_of(is_free ? TTS_EVENT_FREE : TTS_EVENT_ALLOC, 0);
    item.event.id = c->ids[slot];
    item.event.size_bytes = c->sizes[slot];
    if (!is_free) {
        item.event.page_bytes = 2048;
        item.event.has_address = true;
        item.event.address = slot << 16;
    }
    ok(tts_recpack_item(c->pack, &item, &err), &err);
    c->live += is_free ? UINT64_MAX : 1;
    c->live_bytes += is_free ? 0 - c->sizes[slot] : c->sizes[slot];
    if (c->noted < SEEKS && c->instants[c->noted].seq == c->seq) {
        c->instants[c->noted].live = c->live;
        c->instants[c->noted].live_bytes = c->live_bytes;
        c->noted++;
    }
}

static void allocate(struct churner *c, size_t slot)
{
    c->ids[slot] = ++c->next_id;
    c->sizes[slot] = 2048 * (1 + stream_random_below(&c->random, 64));
    tell(c, slot, false);
}

static void make_seek_file(const char *path, uint64_t events, struct instant *instants)
{
    static struct churner churner;
    struct churner *c = &churner;
    struct tts_error err = {0};
    struct tts_rec_header header = recording_header(TTS_REC_PACKED);
    struct tts_rec_state state = {.generation = 1, .kind = TTS_REC_ENDED};
    FILE *out = fopen(path, "wb+");
    if (!out)
        churn_die("cannot make a file to seek in");
    *c = (struct churner){.random = {.state = 5}, .gaps = {.state = 6}, .instants = instants};
    ok(tts_recpack_new(out, &header, NULL, &c->pack, &err), &err);
    for (size_t i = 0; i < SEEK_LIVE; i++)
        allocate(c, i);
    while (c->seq < events) {
        size_t slot = (size_t)stream_random_below(&c->random, SEEK_LIVE);
        tell(c, slot, true);
        allocate(c, slot);
    }
    state.events = c->seq;
    ok(tts_recpack_end(c->pack, &state, &err), &err);
    tts_recpack_free(c->pack);
    if (fclose(out) != 0)
        churn_die("cannot write a file to seek in");
    compare("instants that were met", (int64_t)c->noted, SEEKS);
}

static int by_seq(const void *a, const void *b)
{
    const struct instant *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static int by_time(const void *a, const void *b)
{
    const struct instant *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Returns the processor time that this process has used. Other processes do not affect it. */
static double cpu_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Seeks to `seq` and reads up to and including that event, so that the live buffers are those
 * at `seq`. */
static struct tts_follow *seek_to(struct tts_recfile *file, uint64_t seq, uint64_t *items)
{
    struct tts_follow_config config = {0};
    struct tts_follow *follow;
    struct tts_item item;
    struct tts_error err = {0};
    ok(tts_recfile_seek(file, seq, &err), &err);
    ok(tts_follow_new(&config, NULL, &follow, &err), &err);
    do {
        ok(tts_recfile_next(file, &item, &err), &err);
        ok(tts_follow_item(follow, &item, &err), &err);
        ++*items;
    } while (item.kind != TTS_ITEM_EVENT || item.seq < seq);
    return follow;
}

static void compare_instant(const struct tts_follow *follow, const struct instant *instant)
{
    static struct tts_live live[SEEK_LIVE + 1];
    size_t count = tts_fold_collect(tts_follow_fold(follow), live, SEEK_LIVE + 1);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count && i <= SEEK_LIVE; i++)
        bytes += live[i].size_bytes;
    compare("buffers that lived", (int64_t)count, (int64_t)instant->live);
    compare("bytes that lived", (int64_t)bytes, (int64_t)instant->live_bytes);
}

static void seek(uint64_t events)
{
    const char *path = in_dir("seek.tts");
    struct instant instants[SEEKS] = {0};
    struct stream_random random = {.state = 31};
    struct tts_recfile *file;
    struct tts_error err = {0};
    for (size_t i = 0; i < SEEKS; i++)
        instants[i].seq = SEEK_LIVE + 1 + stream_random_below(&random, events - SEEK_LIVE);
    qsort(instants, SEEKS, sizeof *instants, by_seq);
    for (size_t i = 1; i < SEEKS; i++) /* makes all sequence numbers different */
        if (instants[i].seq <= instants[i - 1].seq)
            instants[i].seq = instants[i - 1].seq + 1;
    double start = churn_now_ns();
    make_seek_file(path, events, instants);
    double ns = churn_now_ns() - start;
    double bytes = (double)recording_bytes(path);
    printf("%-46s %8.0f MB of %.1fM events, %.2f B/event, made at %.2f Mevents/s\n",
           "a packed file, 100k live", bytes / 1e6, (double)events / 1e6,
           bytes / (double)events, 1e3 * (double)events / ns);
    ok(tts_recfile_open(path, NULL, &file, &err), &err);
    for (size_t i = 0; i < SEEKS; i++) {
        /* Jumps back and forth, and visits every instant once: 7 and SEEKS (50) have no common
         * divisor. */
        struct instant *instant = &instants[i * 7 % SEEKS];
        double cpu_start = cpu_now_ns();
        start = churn_now_ns();
        struct tts_follow *follow = seek_to(file, instant->seq, &instant->items);
        instant->ns = churn_now_ns() - start;
        instant->cpu_ns = cpu_now_ns() - cpu_start;
        compare_instant(follow, instant);
        tts_follow_free(follow);
    }
    tts_recfile_close(file);
    unlink(path);
    qsort(instants, SEEKS, sizeof *instants, by_time);
    static const struct {
        const char *name;
        size_t at;
    } rows[] = {
        {"seek, median of 50", SEEKS / 2}, {"  p95", SEEKS * 95 / 100}, {"  worst", SEEKS - 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double ms = instants[rows[i].at].ns / 1e6;
        printf("%-46s %8.1f ms", rows[i].name, ms);
        aim_text(ms, SEEK_AIM_MS);
        printf("   %.1f ms of the processor, %" PRIu64 "k items\n",
               instants[rows[i].at].cpu_ns / 1e6, instants[rows[i].at].items / 1000);
    }
}

/* --- show ------------------------------------------------------------------------------- */

/* Runs the ttscope that was built next to this program, with one or two arguments. Returns the
 * time in nanoseconds. */
static double run_ttscope(const char *command, const char *path, const char *to)
{
    char own[1024], program[1100];
    ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
    if (len < 0)
        churn_die("cannot find ttscope");
    own[len] = '\0';
    *strrchr(own, '/') = '\0';
    snprintf(program, sizeof program, "%s/../bin/ttscope", own);
    double start = churn_now_ns();
    pid_t child = fork();
    if (child == 0) {
        if (!freopen(to, "w", stdout))
            _exit(127);
        execl(program, "ttscope", command, path, (char *)NULL);
        _exit(127);
    }
    int how = 0;
    if (child < 0 || waitpid(child, &how, 0) != child || how != 0)
        churn_die("ttscope failed: build it beside this program");
    return churn_now_ns() - start;
}

/* Flips the last bit of a file. The bit belongs to the stored figures, so that the reader
 * refuses the figures. */
static void spoil(const char *path)
{
    FILE *file = fopen(path, "rb+");
    int byte = file && fseek(file, -1, SEEK_END) == 0 ? fgetc(file) : EOF;
    if (byte == EOF || fseek(file, -1, SEEK_END) != 0 || fputc(byte ^ 1, file) == EOF ||
        fclose(file) != 0)
        churn_die("cannot change the file to show");
}

static bool is_same_file(const char *a, const char *b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    if (!x || !y)
        churn_die("cannot read what was shown");
    int c, d;
    do {
        c = fgetc(x);
        d = fgetc(y);
    } while (c == d && c != EOF);
    fclose(x);
    fclose(y);
    return c == d;
}

static void show(uint64_t events)
{
    const char *path = in_dir("show.tts"), *quick = in_dir("quick"), *slow = in_dir("slow");
    struct instant instants[SEEKS] = {0};
    for (size_t i = 0; i < SEEKS; i++)
        instants[i].seq = SEEK_LIVE + 1 + i;
    make_seek_file(path, events, instants);
    double pack_ns = run_ttscope("pack", path, "/dev/null");
    printf("%-46s %8.2f s for %.1fM events\n", "ttscope pack, with figures", pack_ns / 1e9,
           (double)events / 1e6);
    double best = 0;
    for (int i = 0; i < RATE_RUNS; i++) {
        double ns = run_ttscope("show", path, quick);
        best = i == 0 || ns < best ? ns : best;
    }
    spoil(path);
    double all = run_ttscope("show", path, slow);
    printf("%-46s %8.3f s", "ttscope show, by its figures", best / 1e9);
    aim_text(best / 1e9, SHOW_AIM_S);
    printf("\n%-46s %8.3f s\n", "  the same, by its events", all / 1e9);
    compare("what is shown is the same", is_same_file(quick, slow), true);
    unlink(path);
    unlink(quick);
    unlink(slow);
}

/* --- the program ------------------------------------------------------------------------ */

static bool is_wanted(char **words, const char *part)
{
    bool is_named = !*words;
    for (; *words; words++)
        is_named |= strcmp(*words, part) == 0;
    return is_named;
}

static void check_words(char **words)
{
    static const char *const parts[] = {"size", "rate", "1k", "32k", "beside", "seek", "show"};
    for (; *words; words++) {
        size_t i = 0;
        while (i < sizeof parts / sizeof *parts && strcmp(*words, parts[i]) != 0)
            i++;
        if (i == sizeof parts / sizeof *parts)
            churn_die("unknown part, give some of size rate 1k 32k beside seek show");
    }
}

static char **read_events(char **words, uint64_t *events)
{
    if (!*words || strcmp(*words, "--events") != 0)
        return words;
    if (!words[1] || tts_number_parse(words[1], strlen(words[1]), events) != TTS_OK ||
        *events < 2 * SEEK_LIVE)
        churn_die("--events needs a number, 200000 at least");
    return words + 2;
}

int main(int argc, char **argv)
{
    static const uint32_t lives[] = {FEW, MANY};
    uint64_t events = 100000000;
    char **words = read_events(argv + (argc > 0), &events);
    const char *tmp = getenv("TMPDIR");
    double load = 0;
    check_words(words);
    snprintf(dir, sizeof dir, "%s/bench_record.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        churn_die("cannot make a directory, set TMPDIR");
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (getloadavg(&load, 1) == 1)
        printf("%-46s %8.1f processes\n", "load of this machine", load);
    if (is_wanted(words, "size") || is_wanted(words, "rate"))
        streams(is_wanted(words, "size"), is_wanted(words, "rate"));
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++)
        for (uint32_t threads = 1; threads <= CHURN_THREADS_MAX; threads++)
            if (is_wanted(words, short_count(lives[i])))
                recording(lives[i], threads);
    if (is_wanted(words, "beside"))
        beside();
    if (is_wanted(words, "seek"))
        seek(events);
    if (is_wanted(words, "show"))
        show(events);
    rmdir(dir);
    return is_wrong ? 1 : 0;
}
