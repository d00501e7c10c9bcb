/* record_child: a program that records and does not reach its end.
 *
 *   record_child kill TIMES SEED PATH
 *
 * starts a child TIMES times and kills it at a random moment while it records to PATH. Every
 * event whose call had returned must be in the file.
 *
 *   record_child step PATH KEEP
 *
 * records as many events as each line of its input says and then prints "told N". The recording
 * ends with the input. KEEP is the size of a black box in bytes; 0 keeps everything.
 *
 *   record_child fill PATH EVENTS
 *
 * records until the recording stops or has EVENTS events, and prints the result.
 *
 * Every event is a function of its number, so that the file can be compared with the events
 * that were recorded. The exit code is 1 if a check fails. */
#include "harness/recorded_rig.h"
#include "ttscope/recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIVE = 64, CYCLE = 256, BOX = 4 << 20, NAP_MAX_US = 100 * 1000 };

static uint64_t number_of(const char *text)
{
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        number = 10 * number + (uint64_t)(*text - '0');
    return number;
}

static void die(const char *what)
{
    fprintf(stderr, "record_child: %s\n", what);
    exit(1);
}

/* ---- the events ---- */

static uint64_t size_of(uint64_t id)
{
    return 1 + id * 7919 % 4096;
}

static bool is_special(uint64_t seq)
{
    return seq % CYCLE == 1 || seq % CYCLE == 3;
}

/* Returns event `seq`, from 1. An odd event allocates a buffer; an even event frees the buffer
 * of LIVE odd events before. Sometimes a program replaces the allocation, so that the later
 * free has no buffer. */
static struct tts_event event_at(uint64_t seq)
{
    static const struct tts_core_range some = {1, 2, 3, 4};
    uint64_t id = (seq + 1) / 2;
    struct tts_event event = tts_event_of(TTS_EVENT_PROGRAM, 0);
    if (seq % 2 == 0 && id > LIVE) {
        event.kind = TTS_EVENT_FREE;
        event.id = id - LIVE;
    } else if (seq % 2 == 1 && !is_special(seq)) {
        event.kind = TTS_EVENT_ALLOC;
        event.pool = id % 5 == 0 ? TTS_POOL_TRACE : TTS_POOL_DRAM;
        event.id = id;
        event.size_bytes = size_of(id);
    } else if (seq % CYCLE == 3) {
        event.kind = TTS_EVENT_CB;
        event.size_bytes = size_of(seq);
        event.ranges = &some;
        event.range_count = 1;
    }
    return event;
}

static bool is_live_at(uint64_t seq, uint64_t id)
{
    uint64_t came = 2 * id - 1, goes = 2 * (id + LIVE);
    return came <= seq && seq < goes && !is_special(came);
}

/* ---- recording ---- */

static struct tts_recorder *begin(struct tts_tracker **tracker, const char *path,
                                  uint64_t keep_bytes)
{
    struct tts_recorder *recorder = NULL;
    struct tts_error err = {0};
    struct tts_recorder_config config = {.path = path, .keep_bytes = keep_bytes};
    if (tts_tracker_new(NULL, NULL, tracker, &err) != TTS_OK ||
        tts_recorder_begin(*tracker, &config, &recorder, &err) != TTS_OK)
        die(err.text);
    return recorder;
}

static void tell(struct tts_tracker *tracker, uint64_t seq)
{
    struct tts_event event = event_at(seq);
    if (tts_tracker_post(tracker, &event, NULL) != TTS_OK)
        die("an event was refused");
}

/* Records events until the process is killed. *told is the last event whose call has
 * returned. */
static void tell_on(const char *path, uint64_t keep_bytes, _Atomic uint64_t *told)
{
    struct tts_tracker *tracker;
    struct tts_capture *capture = NULL;
    begin(&tracker, path, keep_bytes);
    if (tts_capture_new(tracker, &capture, NULL) != TTS_OK ||
        tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL) != TTS_OK)
        die("there is no capture");
    for (uint64_t seq = 1;; seq++) {
        tell(tracker, seq);
        atomic_store_explicit(told, seq, memory_order_release);
    }
}

/* ---- comparing ---- */

struct compared {
    uint64_t seq, keyframe_seq, lives;
};

static void compare_event(struct compared *c, const struct tts_item *item)
{
    struct tts_event wanted = event_at(item->seq);
    const struct tts_event *got = &item->event;
    T_TRUE(c->seq == 0 || item->seq == c->seq + 1);
    c->seq = item->seq;
    T_EQ(got->kind, wanted.kind);
    if (got->kind <= TTS_EVENT_FREE)
        T_EQ(got->id, wanted.id);
    if (got->kind == TTS_EVENT_ALLOC)
        T_TRUE(got->size_bytes == wanted.size_bytes && got->pool == wanted.pool);
    if (got->kind == TTS_EVENT_CB)
        T_TRUE(got->size_bytes == wanted.size_bytes && got->ranges[0].y1 == 4);
}

static void compare(void *ctx, const struct tts_item *item, uint64_t time_ns)
{
    struct compared *c = ctx;
    (void)time_ns;
    if (item->kind == TTS_ITEM_EVENT)
        compare_event(c, item);
    if (item->kind == TTS_ITEM_KEYFRAME) {
        c->keyframe_seq = item->seq;
        c->lives = item->count;
    }
    if (item->kind == TTS_ITEM_LIVE) {
        T_TRUE(is_live_at(c->keyframe_seq, item->live.id));
        T_EQ(item->live.size_bytes, size_of(item->live.id));
        T_TRUE(c->lives-- > 0);
    }
    if (item->kind == TTS_ITEM_KEYFRAME_END)
        T_EQ(c->lives, 0);
}

/* ---- killing ---- */

static uint64_t draw(uint64_t *rng)
{
    *rng = *rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *rng >> 33;
}

static void sleep_us(uint64_t us)
{
    struct timespec nap = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};
    while (nanosleep(&nap, &nap) != 0 && errno == EINTR)
        ;
}

struct plan {
    uint64_t times, seed;
    const char *path;
};
static struct plan plan;

static uint64_t kill_once(uint64_t keep_bytes, uint64_t nap_us, _Atomic uint64_t *told)
{
    atomic_store(told, 0);
    unlink(plan.path);
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0)
        tell_on(plan.path, keep_bytes, told);
    while (atomic_load(told) == 0 && waitpid(child, NULL, WNOHANG) == 0)
        sleep_us(100);
    sleep_us(nap_us);
    int how = 0;
    T_EQ(kill(child, SIGKILL), 0);
    T_EQ(waitpid(child, &how, 0), child);
    T_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    return atomic_load(told);
}

static void kill_many(void **state)
{
    (void)state;
    uint64_t rng = plan.seed, most = 0;
    _Atomic uint64_t *told =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    T_TRUE(told != MAP_FAILED);
    for (uint64_t i = 0; i < plan.times; i++) {
        uint64_t keep = i % 3 == 2 ? BOX : 0;
        uint64_t a = draw(&rng) % NAP_MAX_US, b = draw(&rng) % NAP_MAX_US;
        uint64_t nap_us = (a < b ? a : b) * (i % 10 == 5 ? 8 : 1);
        uint64_t last = kill_once(keep, nap_us, told);
        struct recording rec = recording_open(plan.path);
        struct compared compared = {0};
        T_EQ(rec.state.kind, TTS_REC_RECORDING);
        recording_each(&rec, compare, &compared);
        /* The event during which the process was killed may be in the file, too. */
        if (rec.last_seq < last || rec.last_seq > last + 1)
            fail_msg("round %llu of seed %llu: told %llu, in the file %llu",
                     (unsigned long long)i, (unsigned long long)plan.seed,
                     (unsigned long long)last, (unsigned long long)rec.last_seq);
        T_EQ(compared.seq, rec.last_seq);
        most = rec.blocks > most ? rec.blocks : most;
        recording_close(&rec);
    }
    printf("killed %llu times, up to %llu blocks\n", (unsigned long long)plan.times,
           (unsigned long long)most);
}

/* ---- filling ---- */

static int fill(const char *path, uint64_t events)
{
    struct tts_tracker *tracker;
    struct tts_recorder *recorder = begin(&tracker, path, 0);
    struct tts_recorder_state now = {0};
    struct tts_error err = {0};
    uint64_t seq = 1;
    for (; seq <= events && !now.is_stopped; seq++) {
        tell(tracker, seq);
        if (seq % 1024 == 0)
            tts_recorder_get_state(recorder, &now);
    }
    enum tts_status status = tts_recorder_end(recorder, &now, &err);
    struct recording rec = recording_open(path);
    struct compared compared = {0};
    recording_each(&rec, compare, &compared);
    bool is_right = rec.last_seq == now.events && now.events + now.dropped == seq - 1 &&
                    rec.state.sys_errno == (uint32_t)err.sys_errno;
    recording_close(&rec);
    tts_tracker_free(tracker);
    printf("%s\n", status == TTS_OK ? "recorded all" : err.text);
    return is_right ? 0 : 1;
}

/* ---- step by step ---- */

static int step(const char *path, uint64_t keep_bytes)
{
    struct tts_tracker *tracker;
    struct tts_recorder *recorder = begin(&tracker, path, keep_bytes);
    char line[32];
    uint64_t seq = 0;
    while (fgets(line, sizeof line, stdin)) {
        for (uint64_t more = number_of(line); more > 0; more--)
            tell(tracker, ++seq);
        printf("told %llu\n", (unsigned long long)seq);
        fflush(stdout);
    }
    enum tts_status status = tts_recorder_end(recorder, NULL, NULL);
    tts_tracker_free(tracker);
    return status == TTS_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "step") == 0)
        return step(argv[2], number_of(argv[3]));
    if (argc == 4 && strcmp(argv[1], "fill") == 0)
        return fill(argv[2], number_of(argv[3]));
    if (argc != 5 || strcmp(argv[1], "kill") != 0) {
        fputs("usage: record_child kill TIMES SEED PATH | fill PATH EVENTS | step PATH KEEP\n",
              stderr);
        return 2;
    }
    plan = (struct plan){number_of(argv[2]), number_of(argv[3]), argv[4]};
    const struct CMUnitTest tests[] = {cmocka_unit_test(kill_many)};
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
