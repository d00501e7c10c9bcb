/* make_story.c: makes a recording from the lines on standard input. */
#include "base/number.h"
#include "harness/make_recording.h"

#include <inttypes.h>
#include <stdio.h>

enum { WORDS = 10, OPS = 16, WORD_BYTES = 64 };

struct story {
    struct make *make;
    uint64_t last_id;
    char ops[OPS][WORD_BYTES]; /* names of the open operations */
    size_t op_count;
    char words[WORDS][WORD_BYTES];
    size_t word_count;
};

static uint64_t number(const struct story *story, size_t at)
{
    uint64_t out = 0;
    const char *text = at < story->word_count ? story->words[at] : "";
    if (tts_number_parse(text, strlen(text), &out) != TTS_OK)
        make_die("expected a number");
    return out;
}

static uint32_t small(const struct story *story, size_t at)
{
    return (uint32_t)number(story, at);
}

static uint16_t corner(const struct story *story, size_t at)
{
    return (uint16_t)number(story, at);
}

static void put(struct story *story, struct tts_item item)
{
    if (story->op_count > 0)
        item_set_op(&item, story->ops[story->op_count - 1]);
    if (item.kind == TTS_ITEM_EVENT)
        item.thread = 1;
    make_put(story->make, item);
}

static void put_alloc(struct story *story)
{
    struct tts_item item =
        item_alloc(&story->make->rig, small(story, 1), (enum tts_pool)number(story, 2),
                   number(story, 3), number(story, 4));
    struct tts_event *event = &item.event;
    event->page_bytes = number(story, 5);
    event->cores = small(story, 6);
    event->has_address = story->word_count > 7;
    event->address = event->has_address ? number(story, 7) : 0;
    if (event->pool == TTS_POOL_L1 || event->pool == TTS_POOL_L1_SMALL)
        event->bytes_per_bank =
            event->cores > 0 ? event->size_bytes / event->cores : event->page_bytes;
    put(story, item);
}

static void put_free(struct story *story)
{
    put(story, item_free(&story->make->rig, small(story, 1), (enum tts_pool)number(story, 2),
                         number(story, 3)));
}

static void put_program(struct story *story)
{
    put(story, item_event(&story->make->rig, TTS_EVENT_PROGRAM, small(story, 1)));
}

static void put_cb(struct story *story)
{
    struct tts_core_range range = {.x0 = corner(story, 3),
                                   .y0 = corner(story, 4),
                                   .x1 = corner(story, 5),
                                   .y1 = corner(story, 6)};
    struct tts_item item =
        item_part(&story->make->rig, TTS_EVENT_CB, number(story, 2), &range, 1);
    item.event.device = small(story, 1);
    put(story, item);
}

static void put_op(struct story *story)
{
    if (story->op_count == OPS)
        make_die("too many operations");
    memcpy(story->ops[story->op_count++], story->words[1], WORD_BYTES);
    struct tts_item item = item_op(&story->make->rig, 1, story->words[1]);
    item.event.name = story->words[1];
    item.event.name_len = strlen(story->words[1]);
    put(story, item);
}

static void put_end(struct story *story)
{
    put(story, item_op(&story->make->rig, 1, NULL));
    story->op_count -= story->op_count > 0;
}

static void put_refusal(struct story *story)
{
    struct tts_failure failure = {
        .kind = TTS_FAILURE_SPACE, .pool = TTS_POOL_DRAM, .requested_bytes = number(story, 2)};
    if (story->word_count > 3) {
        failure.need_bytes = failure.block_bytes = number(story, 3);
        failure.banks = small(story, 4);
        failure.bank_bytes = number(story, 5);
        failure.taken_bytes = number(story, 6);
        failure.free_bytes = number(story, 7);
        failure.largest_free_bytes = number(story, 8);
    }
    struct tts_item item = item_event(&story->make->rig, TTS_EVENT_FAILURE, small(story, 1));
    item.event.failure = &failure;
    put(story, item);
}

static void put_clash(struct story *story)
{
    struct tts_failure failure = {.kind = TTS_FAILURE_CB_CLASH,
                                  .region_end = number(story, 2),
                                  .l1_address = number(story, 3)};
    struct tts_item item = item_event(&story->make->rig, TTS_EVENT_FAILURE, small(story, 1));
    item.event.failure = &failure;
    put(story, item);
}

static void put_trace(struct story *story)
{
    put(story, item_event(&story->make->rig, TTS_EVENT_TRACE_BEGIN, small(story, 1)));
}

static void put_trace_end(struct story *story)
{
    put(story, item_event(&story->make->rig, TTS_EVENT_TRACE_END, small(story, 1)));
}

static void put_begin(struct story *story)
{
    put(story, item_capture(&story->make->rig, TTS_ITEM_BEGIN, small(story, 1), NULL));
}

static void put_chip(struct story *story)
{
    struct tts_item item = item_mark(&story->make->rig, TTS_ITEM_CHIP);
    item.device = small(story, 1);
    item.mesh = small(story, 2);
    put(story, item);
}

static void put_missed(struct story *story)
{
    struct tts_item item = item_mark(&story->make->rig, TTS_ITEM_MISSED);
    item.count = number(story, 1);
    put(story, item);
}

static void go_behind(struct story *story)
{
    story->make->rig.seq = story->make->state.events = number(story, 1);
}

static void stop(struct story *story)
{
    story->make->state.kind = TTS_REC_STOPPED;
    story->make->state.dropped = number(story, 1);
    story->make->state.sys_errno = small(story, 2);
}

static void churn(struct story *story)
{
    struct item_rig *rig = &story->make->rig;
    uint64_t pairs = number(story, 1);
    for (uint64_t i = 0; i < pairs; i++) {
        uint64_t id = (UINT64_C(1) << 32) + ++story->last_id;
        struct tts_item item = item_alloc(rig, 0, TTS_POOL_DRAM, id, UINT64_C(12) * 2048);
        item.event.page_bytes = 2048;
        put(story, item);
        put(story, item_free(rig, 0, TTS_POOL_DRAM, id));
    }
}

/* Allocates the buffers 1 to COUNT, each with one page. */
static void put_many(struct story *story)
{
    struct item_rig *rig = &story->make->rig;
    uint64_t count = number(story, 1);
    for (uint64_t id = 1; id <= count; id++) {
        struct tts_item item = item_alloc(rig, 0, TTS_POOL_DRAM, id, 2048);
        item.event.page_bytes = 2048;
        put(story, item);
    }
}

static void free_many(struct story *story)
{
    uint64_t count = number(story, 1);
    for (uint64_t id = 1; id <= count; id++)
        put(story, item_free(&story->make->rig, 0, TTS_POOL_DRAM, id));
}

/* Begins a black box after event 100,000. Its keyframe has COUNT live buffers of equal size, in
 * DRAM and in L1 of three devices. Each buffer was allocated by another operation. */
static void put_box(struct story *story)
{
    struct item_rig *rig = &story->make->rig;
    uint64_t count = number(story, 1);
    rig->seq = story->make->state.events = 100000;
    struct tts_item item = item_mark(rig, TTS_ITEM_KEYFRAME);
    item.count = count;
    put(story, item);
    for (uint64_t id = 1; id <= count; id++) {
        char op[32];
        snprintf(op, sizeof op, "op_%" PRIu64, id * 7919 % 100003);
        item = item_live(rig, (uint32_t)(id / 2 % 3), id % 2 ? TTS_POOL_L1 : TTS_POOL_DRAM, id,
                         4096);
        item.live.bytes_per_bank = id % 2 ? 64 : 0;
        item.live.seq = id;
        item_set_op(&item, op);
        make_put(story->make, item);
    }
    put(story, item_mark(rig, TTS_ITEM_KEYFRAME_END));
}

static void wait_time(struct story *story)
{
    story->make->rig.time_ns += number(story, 1) * 1000000;
}

static void run_words(struct story *story)
{
    static const struct {
        const char *verb;
        void (*run)(struct story *story);
    } verbs[] = {{"alloc", put_alloc},    {"free", put_free},   {"program", put_program},
                 {"cb", put_cb},          {"op", put_op},       {"end", put_end},
                 {"begin", put_begin},    {"chip", put_chip},   {"missed", put_missed},
                 {"behind", go_behind},   {"stopped", stop},    {"churn", churn},
                 {"refuse", put_refusal}, {"trace", put_trace}, {"traced", put_trace_end},
                 {"many", put_many},      {"none", free_many},  {"box", put_box},
                 {"clash", put_clash},    {"wait", wait_time}};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(story->words[0], verbs[i].verb) != 0)
            continue;
        verbs[i].run(story);
        return;
    }
    make_die("unknown line");
}

static void split(struct story *story, const char *line)
{
    story->word_count = 0;
    while (story->word_count < WORDS) {
        line += strspn(line, " \n");
        size_t len = strcspn(line, " \n");
        if (len == 0)
            return;
        if (len >= WORD_BYTES)
            make_die("a word is too long");
        char *word = story->words[story->word_count++];
        memcpy(word, line, len);
        word[len] = '\0';
        line += len;
    }
}

void make_story(struct make *make)
{
    static struct story story;
    char line[512];
    story.make = make;
    while (fgets(line, sizeof line, stdin)) {
        split(&story, line);
        if (story.word_count > 0)
            run_words(&story);
    }
}
