/* make_recording.c: a program that writes a packed recording of what it reads, for tests:
 *     make_recording OUT.tts < story
 * One item on a line, each at the time of its number in microseconds:
 *     alloc DEVICE POOL ID SIZE PAGE CORES     POOL as enum tts_pool counts them
 *     free DEVICE POOL ID
 *     program DEVICE, cb DEVICE SIZE X0 Y0 X1 Y1
 *     op NAME, end
 *     chip CHIP MESH, missed COUNT, stopped DROPPED
 *     churn PAIRS                              allocs and frees of 12 pages of 2048 */
#include "base/number.h"
#include "model/opnames.h"
#include "model/recpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 8, OPS = 16 };

struct story {
    struct tts_recpack *pack;
    struct tts_rec_state state;
    uint64_t seq, last_id;
    char ops[OPS][64]; /* under way */
    size_t op_count;
    char words[WORDS][64];
    size_t word_count;
};

static void die(const char *why)
{
    fprintf(stderr, "make_recording: %s\n", why);
    exit(3);
}

static uint64_t number(const struct story *story, size_t at)
{
    uint64_t out = 0;
    const char *text = at < story->word_count ? story->words[at] : "";
    if (tts_number_parse(text, strlen(text), &out) != TTS_OK)
        die("expected a number");
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

static void write_item(struct story *story, struct tts_item *item)
{
    struct tts_error err = {0};
    item->has_time = true;
    item->time_ns = 1000 * story->seq;
    item->seq = story->seq;
    if (story->op_count > 0) {
        const char *op = story->ops[story->op_count - 1];
        item->op = (struct tts_item_op){tts_opnames_hash(op, strlen(op)), op, strlen(op)};
    }
    if (tts_recpack_item(story->pack, item, &err) != TTS_OK)
        die(err.text);
}

static void write_event(struct story *story, const struct tts_event *event)
{
    struct tts_item item = {.kind = TTS_ITEM_EVENT, .event = *event, .thread = 1};
    story->seq++;
    write_item(story, &item);
}

static void alloc_words(struct story *story)
{
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, small(story, 1));
    event.pool = (enum tts_pool)number(story, 2);
    event.id = number(story, 3);
    event.size_bytes = number(story, 4);
    event.page_bytes = number(story, 5);
    event.cores = small(story, 6);
    if (event.pool == TTS_POOL_L1 || event.pool == TTS_POOL_L1_SMALL)
        event.bytes_per_bank =
            event.cores > 0 ? event.size_bytes / event.cores : event.page_bytes;
    write_event(story, &event);
}

static void free_words(struct story *story)
{
    struct tts_event event = tts_event_of(TTS_EVENT_FREE, small(story, 1));
    event.pool = (enum tts_pool)number(story, 2);
    event.id = number(story, 3);
    write_event(story, &event);
}

static void cb_words(struct story *story)
{
    struct tts_event event = tts_event_of(TTS_EVENT_CB, small(story, 1));
    struct tts_core_range range = {.x0 = corner(story, 3),
                                   .y0 = corner(story, 4),
                                   .x1 = corner(story, 5),
                                   .y1 = corner(story, 6)};
    event.size_bytes = number(story, 2);
    event.ranges = &range;
    event.range_count = 1;
    write_event(story, &event);
}

static void op_words(struct story *story)
{
    struct tts_event event = tts_event_of(TTS_EVENT_OP_BEGIN, 0);
    if (story->op_count == OPS)
        die("too many operations");
    event.name = story->words[1];
    event.name_len = strlen(event.name);
    memcpy(story->ops[story->op_count++], story->words[1], sizeof story->words[1]);
    write_event(story, &event);
}

static void churn_words(struct story *story)
{
    uint64_t pairs = number(story, 1);
    for (uint64_t i = 0; i < pairs; i++) {
        struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, 0);
        event.id = (UINT64_C(1) << 32) + ++story->last_id;
        event.size_bytes = 12 * 2048;
        event.page_bytes = 2048;
        write_event(story, &event);
        event.kind = TTS_EVENT_FREE;
        write_event(story, &event);
    }
}

static void run_words(struct story *story)
{
    const char *verb = story->words[0];
    struct tts_item item = {0};
    if (strcmp(verb, "alloc") == 0) {
        alloc_words(story);
    } else if (strcmp(verb, "free") == 0) {
        free_words(story);
    } else if (strcmp(verb, "cb") == 0) {
        cb_words(story);
    } else if (strcmp(verb, "op") == 0) {
        op_words(story);
    } else if (strcmp(verb, "churn") == 0) {
        churn_words(story);
    } else if (strcmp(verb, "program") == 0) {
        struct tts_event event = tts_event_of(TTS_EVENT_PROGRAM, small(story, 1));
        write_event(story, &event);
    } else if (strcmp(verb, "end") == 0) {
        struct tts_event event = tts_event_of(TTS_EVENT_OP_END, 0);
        write_event(story, &event);
        story->op_count -= story->op_count > 0;
    } else if (strcmp(verb, "chip") == 0) {
        item.kind = TTS_ITEM_CHIP;
        item.device = small(story, 1);
        item.mesh = small(story, 2);
        write_item(story, &item);
    } else if (strcmp(verb, "missed") == 0) {
        item.kind = TTS_ITEM_MISSED;
        item.count = number(story, 1);
        write_item(story, &item);
    } else if (strcmp(verb, "stopped") == 0) {
        story->state.kind = TTS_REC_STOPPED;
        story->state.dropped = number(story, 1);
    } else {
        die("unknown line");
    }
}

static void read_story(struct story *story)
{
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        story->word_count = 0;
        for (char *at = line; story->word_count < WORDS;) {
            at += strspn(at, " \n");
            size_t len = strcspn(at, " \n");
            if (len == 0)
                break;
            if (len >= sizeof story->words[0])
                die("a word is too long");
            memcpy(story->words[story->word_count], at, len);
            story->words[story->word_count++][len] = '\0';
            at += len;
        }
        if (story->word_count > 0)
            run_words(story);
    }
}

int main(int argc, char **argv)
{
    static struct story story;
    struct tts_error err = {0};
    struct tts_rec_header header = {.kind = TTS_REC_PACKED,
                                    .start_ns = 1,
                                    .unit_scale = UINT64_C(1) << 32,
                                    .program = "make_recording"};
    FILE *out = argc == 2 ? fopen(argv[1], "wb+") : NULL;
    if (!out)
        die("give a file to write");
    if (tts_recpack_new(out, &header, NULL, &story.pack, &err) != TTS_OK)
        die(err.text);
    story.state = (struct tts_rec_state){.generation = 1, .kind = TTS_REC_ENDED};
    read_story(&story);
    story.state.events = story.seq;
    if (tts_recpack_end(story.pack, &story.state, &err) != TTS_OK)
        die(err.text);
    tts_recpack_free(story.pack);
    return fclose(out) == 0 ? 0 : 3;
}
