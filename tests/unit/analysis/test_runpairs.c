#include "analysis/run/runpairs.h"
#include "harness/t.h"

#include <stdio.h>
#include <string.h>

enum { RUNS_MAX = 4 };

/* Each text is "title|rank|log"; parts may be empty. */
static size_t make(const char *const *texts, struct tts_run *out)
{
    size_t count = 0;
    for (; count < RUNS_MAX && texts[count]; count++) {
        struct tts_run *run = &out[count];
        const char *rank = strchr(texts[count], '|') + 1, *name = strchr(rank, '|') + 1;
        memset(run, 0, sizeof *run);
        snprintf(run->title, sizeof run->title, "%.*s", (int)(rank - texts[count]) - 1,
                 texts[count]);
        snprintf(run->rank, sizeof run->rank, "%.*s", (int)(name - rank) - 1, rank);
        snprintf(run->name, sizeof run->name, "%s", name);
    }
    return count;
}

static void check(const char *const *a, const char *const *b, const char *wanted)
{
    static const char by[] = "-tro";
    static struct tts_run runs_a[RUNS_MAX], runs_b[RUNS_MAX];
    struct tts_runpair pairs[RUNS_MAX];
    char got[64] = "";
    size_t count = make(a, runs_a);
    tts_runpairs(runs_a, count, runs_b, make(b, runs_b), pairs);
    for (size_t i = 0; i < count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%c%zu", by[pairs[i].by],
                 pairs[i].b);
    T_STR_EQ(got, wanted);
}

#define LIST(...) ((const char *const[RUNS_MAX + 1]){__VA_ARGS__})

T_TEST(titles_go_first_wherever_they_stand)
{
    check(LIST("x||", "y||"), LIST("y||", "x||"), "t1t0");
    check(LIST("x||", "||"), LIST("||", "x||"), "t1t0");
    check(LIST("x|0|", "x|1|"), LIST("x|1|", "x|0|"), "t1t0");
}

T_TEST(a_title_that_is_not_unique_says_nothing)
{
    check(LIST("x||", "x||"), LIST("x||"), "o0-0");
    check(LIST("x||", "x||"), LIST("x||", "x||"), "o0o1");
    check(LIST("x||"), LIST("x||", "x||"), "o0");
}

T_TEST(of_runs_without_title_the_name_of_the_log_decides)
{
    check(LIST("||char.log"), LIST("||bpe.log", "||char.log"), "t1");
    check(LIST("||bpe.log", "||char.log"), LIST("||char.log"), "-0t0");
    check(LIST("||a", "||b"), LIST("||b", "||c"), "o1t0");
    check(LIST("x||char.log"), LIST("||char.log", "x||bpe.log"), "t1");
    check(LIST("||char.log"), LIST("||char.log", "||char.log"), "o0");
}

T_TEST(ranks_go_next_among_the_rest)
{
    check(LIST("x|0|", "x|1|"), LIST("y|1|", "y|0|"), "r1r0");
    check(LIST("x|0|", "y|0|"), LIST("x|0|", "z|0|"), "t0r1");
    check(LIST("x|0|", "y|0|"), LIST("z|0|"), "-0-0");
    check(LIST("x|0|", "|0|"), LIST("z|0|", "w|0|"), "o1o0");
}

T_TEST(the_rest_goes_in_order_where_nothing_contradicts)
{
    check(LIST("x||", "y||"), LIST("v||"), "-0-0");
    check(LIST("x||", "||", "y||"), LIST("v||", "||"), "-0t1-0");
    check(LIST("x||", "y||"), LIST("v||", "||"), "o1o0"); /* the last run of each list */
}

T_TEST(lists_of_the_same_length_leave_no_run_over)
{
    check(LIST("|0|", "||"), LIST("|1|", "||"), "o0t1");
    check(LIST("|0|", "|2|", "||"), LIST("|1|", "|3|", "||"), "o0o1t2");
    check(LIST("x||", "y||"), LIST("||", "z||"), "o0o1");
    check(LIST("x||", "y||"), LIST("v||", "w||"), "o0o1");
    check(LIST("x|pid 1|", "x|pid 2|"), LIST("x|pid 7|", "x|pid 9|"), "o0o1");
    check(LIST("x|1|", "y|2|", "z|3|"), LIST("v|8|", "x|1|", "w|9|"), "t1o0o2");
}

T_TEST(a_pair_says_why_and_whether_the_names_match)
{
    struct tts_run runs[5];
    make(LIST("x|0|a", "x|1|a", "|1|a", "||a", NULL), runs);
    T_TRUE(tts_runpair_is_named(&runs[0], &runs[0]));
    T_TRUE(!tts_runpair_is_named(&runs[0], &runs[1]));
    T_TRUE(tts_runpair_is_named(&runs[1], &runs[2]));
    T_TRUE(tts_runpair_is_named(&runs[0], &runs[3]));
    T_STR_EQ(tts_runpair_by_name(TTS_RUNPAIR_TITLE, &runs[0], &runs[0]), "title");
    T_STR_EQ(tts_runpair_by_name(TTS_RUNPAIR_TITLE, &runs[2], &runs[2]), "rank");
    T_STR_EQ(tts_runpair_by_name(TTS_RUNPAIR_TITLE, &runs[3], &runs[3]), "file");
    T_STR_EQ(tts_runpair_by_name(TTS_RUNPAIR_RANK, &runs[0], &runs[0]), "rank");
    T_STR_EQ(tts_runpair_by_name(TTS_RUNPAIR_ORDER, &runs[0], &runs[0]), "order");
}

T_TEST(two_that_are_alone_go_together_whatever_they_are_called)
{
    check(LIST("x|0|"), LIST("y|1|"), "o0");
    check(LIST("x||"), LIST("y||"), "o0");
    check(LIST("x||"), LIST(NULL), "-0");
    check(LIST(NULL), LIST("x||"), "");
}
