#include "harness/t.h"
#include "views/run/run_names.h"

#include <stdio.h>
#include <string.h>

static struct tts_run run_of(const char *title, const char *rank)
{
    struct tts_run run = {0};
    snprintf(run.title, sizeof run.title, "%s", title);
    snprintf(run.rank, sizeof run.rank, "%s", rank);
    return run;
}

static const char *name_of(const char *title, const char *rank, const char *label,
                           uint64_t number)
{
    static char name[TTS_RUN_LABEL_MAX];
    struct tts_run run = run_of(title, rank);
    tts_run_name(name, &run, label, number);
    return name;
}

T_TEST(a_run_is_called_by_its_title_or_its_log)
{
    T_STR_EQ(name_of("TinyLlama", "", "run.log", 1), "TinyLlama");
    T_STR_EQ(name_of("TinyLlama", "1,3", "run.log", 4), "TinyLlama (4) [1,3]");
    T_STR_EQ(name_of("", "", "run.log", 1), "run.log");
    T_STR_EQ(name_of("", "", "run.log", 2), "run.log (2)");
    T_STR_EQ(name_of("", "rank 1", "run.log", 3), "run.log (3) [rank 1]");
    T_STR_EQ(name_of("", "rank 1: ", "run.log", 1), "run.log [rank 1]");
    T_STR_EQ(name_of("", ": ", "run.log", 1), "run.log");
}

T_TEST(a_log_is_called_by_what_tells_it_from_others)
{
    static const struct {
        const char *path, *label;
    } logs[] = {{"e1/train.log", "e1/train.log"},
                {"/x/e2/train.log", "e2/train.log"},
                {"/a/e3/train.log", "a/e3/train.log"},
                {"/b/e3/train.log", "b/e3/train.log"},
                {"/b/e3/train.log", "b/e3/train.log"}, /* the same name twice */
                {"other.log", "other.log"},
                {"./other.log", "./other.log"},
                {"deep/down/only.log", "only.log"},
                {"mytrain.log", "mytrain.log"},
                {"-", "stdin"},
                {"a/", "a/"},
                {"", ""}};
    enum { COUNT = sizeof logs / sizeof logs[0] };
    const char *paths[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        paths[i] = logs[i].path;
    for (size_t i = 0; i < COUNT; i++)
        T_STR_EQ(tts_run_label(paths, COUNT, i), logs[i].label);
}

static struct tts_run_names names;

static const char *once(const char *title, const char *label, uint64_t untitled)
{
    static char name[TTS_RUN_LABEL_MAX];
    struct tts_run run = run_of(title, "");
    tts_run_names_next(&names, &run, label, untitled, name);
    return name;
}

T_TEST(a_name_that_comes_again_has_a_number)
{
    memset(&names, 0, sizeof names);
    T_STR_EQ(once("a", "x.log", 0), "a");
    T_STR_EQ(once("a (2)", "x.log", 0), "a (2)");
    T_STR_EQ(once("a", "x.log", 0), "a (3)"); /* the name "a (2)" is taken */
    T_STR_EQ(once("a", "y.log", 0), "a (4)");
    T_STR_EQ(once("", "x.log", 1), "x.log");
    T_STR_EQ(once("", "x.log", 2), "x.log (2)");
    T_STR_EQ(once("", "x.log", 1), "x.log (3)"); /* the same log was given twice */
    T_STR_EQ(once("x.log", "x.log", 1), "x.log (4)");
}

T_TEST(after_the_first_names_only_untitled_runs_are_numbered)
{
    memset(&names, 0, sizeof names);
    for (int i = 0; i < TTS_RUN_NAMES_MAX; i++) {
        char title[32];
        snprintf(title, sizeof title, "run %d", i);
        T_STR_EQ(once(title, "x.log", 0), title);
    }
    T_STR_EQ(once("run 255", "x.log", 0), "run 255 (2)");
    T_STR_EQ(once("more", "x.log", 0), "more");
    T_STR_EQ(once("more", "x.log", 0), "more");
    T_STR_EQ(once("", "x.log", 1), "x.log");
    T_STR_EQ(once("", "x.log", 2), "x.log (2)");
}
