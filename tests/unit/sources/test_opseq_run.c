#include "device/space.h"
#include "harness/t.h"
#include "sources/seq/opseq_run.h"
#include "torture/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define POOL "P size=65536 offset=1024 min_allocation_size=32 alignment=32 policy=FIRST"

struct session {
    struct tts_opseq_run run;
    struct tts_opseq_step step;
    struct tts_error err;
    uint64_t line_no;
};

static struct session *begin(void)
{
    static struct session session;
    memset(&session, 0, sizeof session);
    tts_opseq_run_init(&session.run, NULL);
    return &session;
}

static enum tts_status run_line(struct session *session, const char *text)
{
    struct tts_opseq_line line;
    T_EQ(tts_opseq_parse(text, strlen(text), &line, &session->err), TTS_OK);
    return tts_opseq_run_line(&session->run, &line, ++session->line_no, &session->step,
                              &session->err);
}

/* Runs the operation of `text`, without its result, and checks that the answer is `text`. */
static void expect(struct session *session, const char *text)
{
    struct tts_opseq_line line;
    char got[TTS_OPSEQ_TEXT_MAX];
    T_EQ(tts_opseq_parse(text, strlen(text), &line, &session->err), TTS_OK);
    line.has_result = false;
    line.result = (struct tts_opseq_result){0};
    T_EQ(tts_opseq_run_line(&session->run, &line, ++session->line_no, &session->step,
                            &session->err),
         TTS_OK);
    tts_opseq_format(&session->step.line, got);
    T_STR_EQ(got, text);
    T_TRUE(tts_space_is_valid(session->run.space));
}

T_TEST(every_operation_answers_in_its_own_line)
{
    static const char *const lines[] = {
        POOL,
        "a 1000 1 0 = 1024",
        "a 33 0 0 = 66496",
        "x 4096 64 = 4096",
        "x 4096 64 = F",
        "x 1023 1 = F", /* the range begins below the pool */
        "x 66560 1 = F",
        "a 65536 1 0 = F",
        "a 18446744073709551615 0 0 = F",
        "s = 65536 1152 64384 62336",
        "l = 1024",
        "v 62336 = 1 74a2a2c1df2686dd",
        "d 1024",
        "d 1024", /* no block begins there, so the line has no effect */
        "l = 4096",
        "k 3072 = ok",
        "k 1 = E",
        "k 65536 = E",
        "x 1024 32 = F",
        "r",
        "x 1024 32 = 1024",
        "c",
        "q = 1024 none",
        "a 64 1 2000 = T 1024",
        "l = 1024",
        "a 64 1 0 = 1088",
        "d 1024",
        "l = 1088",
        "c",
        "s = 65536 0 65536 65536",
    };
    struct session *session = begin();
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        expect(session, lines[i]);
    tts_opseq_run_release(&session->run);
}

/* Computes FNV-1a with 64 bits as the language defines it, without the code under test. */
static uint64_t fold(uint64_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        hash ^= value & 255;
        hash *= UINT64_C(1099511628211);
        value >>= 8;
    }
    return hash;
}

T_TEST(hashes_are_over_the_values_the_language_names)
{
    const uint64_t start = UINT64_C(14695981039346656037), none = UINT64_MAX;
    /* After these lines block 0, [1024, 1088), is taken, and block 1, [1088, 66560), is
     * free. */
    struct session *session = begin();
    expect(session, POOL);
    expect(session, "a 64 1 0 = 1024");
    T_EQ(run_line(session, "v 32"), TTS_OK);
    T_EQ(session->step.line.result.value[0], 1);
    T_TRUE(session->step.line.result.value[1] == fold(fold(start, 1088), 66560));
    T_EQ(run_line(session, "v 65536"), TTS_OK);
    T_TRUE(session->step.line.result.value[0] == 0 &&
           session->step.line.result.value[1] == start);
    T_EQ(run_line(session, "m"), TTS_OK);
    uint64_t hash = fold(fold(fold(start, 1024), 64), 1);
    hash = fold(fold(fold(hash, 1088), 65472), 0);
    T_TRUE(session->step.line.result.value[0] == 2 &&
           session->step.line.result.value[1] == hash);
    T_EQ(run_line(session, "t"), TTS_OK);
    hash = fold(fold(fold(fold(fold(fold(start, 0), 0), 64), none), 1), 1);
    hash = fold(fold(fold(fold(fold(fold(hash, 1), 64), 65472), 0), none), 0);
    T_TRUE(session->step.line.result.value[0] == 2 &&
           session->step.line.result.value[1] == hash);
    tts_opseq_run_release(&session->run);
}

T_TEST(the_lowest_address_is_asked_by_either_letter)
{
    struct session *session = begin();
    char got[TTS_OPSEQ_TEXT_MAX];
    expect(session, POOL);
    expect(session, "a 64 1 0 = 1024");
    T_EQ(run_line(session, "q = 5 6"), TTS_OK);
    tts_opseq_format(&session->step.line, got);
    T_STR_EQ(got, "l = 1024");
    expect(session, "c");
    T_EQ(run_line(session, "l"), TTS_OK);
    tts_opseq_format(&session->step.line, got);
    T_STR_EQ(got, "q = 1024 none");
    tts_opseq_run_release(&session->run);
}

T_TEST(a_step_tells_which_block_it_moved)
{
    struct session *session = begin();
    const struct tts_opseq_step *step = &session->step;
    expect(session, POOL);
    T_TRUE(!step->is_operation && step->bytes == 0);
    expect(session, "a 33 1 0 = 1024");
    T_TRUE(step->is_operation && step->address == 1024 && step->bytes == 64);
    expect(session, "x 2048 10 = 2048");
    T_TRUE(step->address == 2048 && step->bytes == 32);
    expect(session, "a 1 0 70000 = T 66528");
    T_TRUE(step->address == 66528 && step->bytes == 32);
    expect(session, "d 1024");
    T_TRUE(step->address == 1024 && step->bytes == 64);
    expect(session, "d 1024");
    T_TRUE(step->bytes == 0);
    expect(session, "a 65501 1 0 = F");
    T_TRUE(step->bytes == 65504);
    expect(session, "a 18446744073709551600 1 0 = F");
    T_TRUE(step->bytes == UINT64_MAX);
    expect(session, "x 2048 33 = F");
    T_TRUE(step->bytes == 64);
    expect(session, "c");
    T_TRUE(step->bytes == 0);
    T_EQ(run_line(session, "# nothing"), TTS_OK);
    T_TRUE(!step->is_operation);
    tts_opseq_run_release(&session->run);
}

T_TEST(a_take_that_fails_while_enough_is_free_is_fragmented)
{
    /* Only a block in the middle of the 65536 bytes is taken. Sizes are rounded before the
     * comparison. */
    static const char *const lines[] = {POOL,          "x 33792 32",  "a 65504 1 0",
                                        "a 65505 1 0", "a 40000 0 0", "x 33792 40000"};
    static const uint64_t fragmented[] = {0, 0, 1, 1, 2, 2};
    struct session *session = begin();
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        T_EQ(run_line(session, lines[i]), TTS_OK);
        T_EQ(session->run.counts.takes_fragmented, fragmented[i]);
    }
    T_EQ(session->run.counts.takes_failed, 3);
    T_EQ(session->run.counts.takes_at_failed, 1);
    tts_opseq_run_release(&session->run);
}

T_TEST(a_take_of_nothing_is_not_fragmented)
{
    struct session *session = begin();
    T_EQ(run_line(session,
                  "P size=4096 offset=0 min_allocation_size=0 alignment=32 policy=FIRST"),
         TTS_OK);
    T_EQ(run_line(session, "a 0 1 0"), TTS_OK);
    T_EQ(session->run.counts.takes_failed, 1);
    T_EQ(session->run.counts.takes_fragmented, 0);
    tts_opseq_run_release(&session->run);
}

T_TEST(what_happened_is_counted_once)
{
    static const char *const lines[] = {"# from line 1",
                                        POOL,
                                        "a 32000 1 0",
                                        "a 32000 1 0",
                                        "a 32000 1 0",
                                        "d 1024",
                                        "d 1024",
                                        "a 1 1 9000",
                                        "x 65536 32",
                                        "x 65536 32",
                                        "k 1",
                                        "d 1024",
                                        "k 32",
                                        "r",
                                        "s",
                                        "m",
                                        "c",
                                        "a 64000 0 0"};
    struct session *session = begin();
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        T_EQ(run_line(session, lines[i]), TTS_OK);
    const struct tts_opseq_counts *counts = &session->run.counts;
    T_EQ(counts->operations, 16);
    T_EQ(counts->takes, 3);
    T_EQ(counts->takes_failed, 1);
    T_EQ(counts->takes_fragmented, 0); /* only 1536 bytes were free */
    T_EQ(counts->takes_below_limit, 1);
    T_EQ(counts->takes_at, 1);
    T_EQ(counts->takes_at_failed, 1);
    T_EQ(counts->gives, 2);
    T_EQ(counts->gives_ignored, 1);
    T_EQ(counts->shrinks, 1);
    T_EQ(counts->shrinks_refused, 1);
    T_EQ(counts->unshrinks, 1);
    T_EQ(counts->clears, 1);
    T_EQ(counts->queries, 2);
    T_EQ(counts->peak_taken_bytes, 64000);
    T_EQ(counts->peak_line, 4); /* the first line that reached the peak */
    T_EQ(session->run.stats.taken_bytes, 64000);
    tts_opseq_run_release(&session->run);
}

static void expect_refusal(struct session *session, const char *text, const char *message)
{
    T_TRUE(run_line(session, text) != TTS_OK);
    T_TRUE(strstr(session->err.text, message) != NULL);
    tts_opseq_run_release(&session->run);
}

T_TEST(the_pool_comes_first_and_once)
{
    struct session *session = begin();
    expect_refusal(session, "s", "expected the pool first, 'P size=N ...', got 's'");
    session = begin();
    expect(session, POOL);
    expect_refusal(session, POOL, "a second 'P' line");
    session = begin();
    T_EQ(run_line(session, "# only this"), TTS_OK);
    T_EQ(tts_opseq_run_finish(&session->run, &session->err), TTS_E_SYNTAX);
    T_TRUE(strstr(session->err.text, "no pool: expected a line 'P size=N") != NULL);
    expect(session, POOL);
    T_EQ(tts_opseq_run_finish(&session->run, &session->err), TTS_OK);
    tts_opseq_run_release(&session->run);
    tts_opseq_run_release(&session->run);
}

#define REST " min_allocation_size=32 alignment=32 policy=FIRST"

T_TEST(a_pool_that_cannot_be_is_refused)
{
    char text[160], limit[24];
    expect_refusal(begin(), "P size=0 offset=0" REST, "pool size is 0");
    expect_refusal(begin(), "P size=4096 offset=18446744073709551600" REST,
                   "does not fit in 64 bits");
    expect_refusal(begin(),
                   "P size=4096 offset=0 min_allocation_size=1 alignment=0 policy=BEST",
                   "alignment is 0");
    snprintf(limit, sizeof limit, "%" PRIu64, TTS_SPACE_MAX_BYTES);
    snprintf(text, sizeof text, "P size=%" PRIu64 " offset=0" REST, TTS_SPACE_MAX_BYTES + 1);
    expect_refusal(begin(), text, limit);
    const uint64_t most = 32 * TTS_SPACE_MAX_UNITS;
    snprintf(text, sizeof text, "P size=%" PRIu64 " offset=0" REST, most + 32);
    expect_refusal(begin(), text, "2^32 - 2 units of 32 bytes");
    struct session *session = begin();
    snprintf(text, sizeof text, "P size=%" PRIu64 " offset=0" REST, most);
    expect(session, text);
    snprintf(text, sizeof text, "a 32 0 0 = %" PRIu64, most - 32);
    expect(session, text);
    tts_opseq_run_release(&session->run);
}

/* Runs a sequence with every kind of allocation. Returns the status of the last line that was
 * run. */
static enum tts_status run_all(const struct tts_alloc *alloc)
{
    static const char *const lines[] = {
        POOL,   "a 64 1 0", "a 64 1 0", "a 64 1 0", "a 64 1 0", "d 1024", "d 1152", "v 0", "t",
        "k 32", "r",        "x 4096 1", "x 8192 1", "v 0",      "t",      "m",      "c",   "t"};
    struct tts_opseq_run run;
    enum tts_status status = TTS_OK;
    tts_opseq_run_init(&run, alloc);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && status == TTS_OK; i++) {
        struct tts_opseq_line line;
        struct tts_opseq_step step;
        struct tts_error err;
        T_EQ(tts_opseq_parse(lines[i], strlen(lines[i]), &line, &err), TTS_OK);
        status = tts_opseq_run_line(&run, &line, i + 1, &step, &err);
        if (run.space)
            T_TRUE(tts_space_is_valid(run.space));
        T_TRUE(status == TTS_OK || err.status == status);
    }
    tts_opseq_run_release(&run);
    return status;
}

T_TEST(memory_that_runs_out_anywhere_ends_the_run_cleanly)
{
    struct heap heap;
    heap_init(&heap);
    T_EQ(run_all(&heap.alloc), TTS_OK);
    T_TRUE(heap_is_settled(&heap));
    uint64_t calls = heap.calls;
    T_TRUE(calls >= 3); /* the space, and the array for the answers to v and t, which grows */
    for (uint64_t n = 1; n <= calls; n++) {
        heap_init(&heap);
        heap.fail_at = n;
        enum tts_status status = run_all(&heap.alloc);
        T_TRUE(status == TTS_E_NOMEM || (status == TTS_OK && heap.failed == 1));
        T_TRUE(heap_is_settled(&heap));
    }
}
