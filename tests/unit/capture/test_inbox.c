/* Tests the inbox alone. test_threads.c tests how threads use it. */
#include "base/heap.h"
#include "capture/inbox.h"
#include "harness/t.h"

#include <string.h>

static struct tts_inbox made(void)
{
    struct tts_inbox inbox;
    T_EQ(tts_inbox_init(&inbox, tts_alloc_libc()), TTS_OK);
    return inbox;
}

static struct tts_event numbered(uint64_t id)
{
    return (struct tts_event){.kind = TTS_EVENT_ALLOC, .id = id};
}

static bool put_letter(struct tts_inbox *inbox, const struct tts_event *event, uint64_t op_hash)
{
    uint64_t place;
    return tts_inbox_put(inbox, event, op_hash, &place);
}

T_TEST(what_is_put_comes_out_in_order_round_and_round)
{
    struct tts_inbox inbox = made();
    uint64_t put = 0, taken = 0, seed = 7;
    T_TRUE(tts_inbox_is_empty(&inbox) && tts_inbox_first(&inbox) == NULL);
    while (taken < 5 * TTS_INBOX_EVENTS) {
        for (uint64_t n = t_random(&seed) % 300; n > 0; n--) {
            struct tts_event event = numbered(put);
            if (!put_letter(&inbox, &event, put + 1))
                break;
            put++;
        }
        for (uint64_t n = t_random(&seed) % 250; n > 0 && taken < put; n--) {
            const struct tts_letter *letter = tts_inbox_first(&inbox);
            T_TRUE(letter != NULL);
            T_EQ(letter->event.id, taken);
            T_EQ(letter->op_hash, ++taken);
            tts_inbox_drop(&inbox);
        }
        T_EQ(tts_inbox_is_empty(&inbox), put == taken);
    }
    tts_inbox_release(&inbox, tts_alloc_libc());
}

T_TEST(what_a_kind_does_not_name_is_not_read)
{
    struct tts_inbox inbox = made();
    struct tts_failure failure = {.kind = TTS_FAILURE_SPACE};
    for (unsigned kind = 0; kind < TTS_EVENT_KINDS; kind++) {
        bool has_cores =
            kind == TTS_EVENT_ALLOC || (kind >= TTS_EVENT_CB && kind <= TTS_EVENT_SCRATCHPAD);
        struct tts_event event = {.kind = (enum tts_event_kind)kind,
                                  .ranges = NULL,
                                  .range_count = has_cores ? 0 : 1000,
                                  .name = NULL,
                                  .name_len = kind == TTS_EVENT_OP_BEGIN ? 0 : 1000,
                                  .failure = kind == TTS_EVENT_FAILURE ? &failure : NULL};
        T_TRUE(put_letter(&inbox, &event, 0));
        T_EQ(tts_inbox_first(&inbox)->event.kind, kind);
        if (kind != TTS_EVENT_OP_BEGIN)
            T_EQ(tts_inbox_first(&inbox)->event.range_count, 0);
        tts_inbox_drop(&inbox);
    }
    tts_inbox_release(&inbox, tts_alloc_libc());
}

T_TEST(a_full_one_takes_no_more)
{
    struct tts_inbox inbox = made();
    struct tts_event event = numbered(1);
    for (int i = 0; i < TTS_INBOX_EVENTS; i++)
        T_TRUE(put_letter(&inbox, &event, 0));
    T_TRUE(!put_letter(&inbox, &event, 0));
    tts_inbox_drop(&inbox);
    T_TRUE(put_letter(&inbox, &event, 0));
    T_TRUE(!put_letter(&inbox, &event, 0));
    tts_inbox_release(&inbox, tts_alloc_libc());
}

T_TEST(what_an_event_points_to_is_copied)
{
    struct tts_inbox inbox = made();
    struct tts_core_range ranges[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, same[2];
    char name[100];
    memcpy(same, ranges, sizeof same);
    memset(name, 'a', sizeof name);
    struct tts_event cb = {.kind = TTS_EVENT_CB, .ranges = ranges, .range_count = 2};
    struct tts_event op = {.kind = TTS_EVENT_OP_BEGIN, .name = name, .name_len = sizeof name};
    struct tts_failure failure = {.kind = TTS_FAILURE_TRACE, .given_end = 77};
    struct tts_event refusal = {.kind = TTS_EVENT_FAILURE, .failure = &failure};
    T_TRUE(put_letter(&inbox, &cb, 0) && put_letter(&inbox, &op, 0) &&
           put_letter(&inbox, &refusal, 0));
    memset(ranges, 0, sizeof ranges);
    memset(name, 'b', sizeof name);
    memset(&failure, 0, sizeof failure);
    const struct tts_letter *letter = tts_inbox_first(&inbox);
    T_EQ(letter->event.range_count, 2);
    T_MEM_EQ(letter->event.ranges, same, sizeof same);
    tts_inbox_drop(&inbox);
    letter = tts_inbox_first(&inbox);
    T_EQ(letter->event.name_len, TTS_OP_NAME_MAX); /* longer names are cut to this */
    T_EQ(letter->event.name[TTS_OP_NAME_MAX - 1], 'a');
    T_TRUE(letter->thread > 0);
    tts_inbox_drop(&inbox);
    letter = tts_inbox_first(&inbox);
    T_EQ(letter->thread, 0);
    T_EQ(letter->event.failure->kind, TTS_FAILURE_TRACE);
    T_EQ(letter->event.failure->given_end, 77);
    tts_inbox_release(&inbox, tts_alloc_libc());
}

T_TEST(a_letter_is_there_until_it_is_dropped)
{
    struct tts_inbox inbox = made();
    struct tts_event event = numbered(1);
    for (uint64_t round = 0; round < 2 * TTS_INBOX_EVENTS + 3; round++) {
        uint64_t first, second;
        T_TRUE(!tts_inbox_has_letters(&inbox));
        T_TRUE(tts_inbox_put(&inbox, &event, 0, &first));
        T_TRUE(tts_inbox_put(&inbox, &event, 0, &second));
        T_TRUE(tts_inbox_has_letters(&inbox) && !tts_inbox_is_taken(&inbox, first));
        T_TRUE(tts_inbox_has(&inbox, first) && !tts_inbox_has(&inbox, second + 1));
        tts_inbox_drop(&inbox);
        T_TRUE(tts_inbox_is_taken(&inbox, first) && !tts_inbox_is_taken(&inbox, second));
        T_TRUE(tts_inbox_has_letters(&inbox) && !tts_inbox_has(&inbox, first));
        tts_inbox_drop(&inbox);
        T_TRUE(tts_inbox_is_taken(&inbox, first) && tts_inbox_is_taken(&inbox, second));
    }
    tts_inbox_release(&inbox, tts_alloc_libc());
}
