#include "sources/runs/resultfile.h"

#include "harness/t.h"
#include "torture/heap.h"

#include <stdio.h>
#include <string.h>

#define FIT "\"schema\": {\"name\": \"ttscope.fit\", \"version\": 1}"
#define ANALYZE "\"schema\": {\"name\": \"ttscope.analyze\", \"version\": 1}"
#define SHOW "\"schema\": {\"name\": \"ttscope.show\", \"version\": 1}"

static struct tts_runs parsed(const char *text)
{
    struct tts_runs runs = {0};
    struct tts_error err = {0};
    enum tts_status status = tts_result_parse(text, strlen(text), NULL, &runs, &err);
    T_STR_EQ(err.text, "");
    T_EQ(status, TTS_OK);
    T_EQ(runs.kind, TTS_RUNS_RESULT);
    return runs;
}

static void refused(const char *text, enum tts_status wanted, uint32_t line, const char *words)
{
    struct tts_runs runs = {.count = 77};
    struct tts_error err = {0};
    enum tts_status status = tts_result_parse(text, strlen(text), NULL, &runs, &err);
    T_STR_EQ(err.text, words);
    T_EQ(status, wanted);
    T_EQ(err.line, line);
    T_EQ(runs.count, 77);
    T_EQ(tts_result_parse(text, strlen(text), NULL, &runs, NULL), wanted);
}

static void expect(struct tts_amount amount, int64_t bytes)
{
    T_TRUE(amount.is_known);
    T_EQ(amount.bytes, bytes);
}

/* ---- accepted documents ---- */

static const char fit[] =
    "{" FIT ", \"device\": \"n150\", \"capacity_bytes\": 12000, \"parameters\": 42,\n"
    "\"phases\": [{\"name\": \"MODEL_CREATION\", \"dram\": {\"segment_peak_bytes\": 10,"
    " \"allocations_bytes\": 11, \"deallocations_bytes\": 2, \"change_bytes\": 9,"
    " \"cumulative_peak_bytes\": 10, \"cumulative_current_bytes\": 9}, \"l1\": null},\n"
    " {\"name\": \"B\\u0041CK\", \"dram\": {\"change_bytes\": -4, \"other\": [1, {\"a\": 2}]},"
    " \"l1\": {\"peak_cb_bytes\": 1, \"peak_buffer_bytes\": 2, \"peak_total_bytes\": 3,"
    " \"true_core_peak_bytes\": 4}}],\n"
    "\"overall_dram_peak_bytes\": 10, \"final_dram_bytes\": -5, \"suggestions\": [{}]}\n";

T_TEST(a_fit_is_one_run_in_bytes)
{
    struct tts_runs runs = parsed(fit);
    T_EQ(runs.count, 1);
    const struct tts_run *run = &runs.runs[0];
    T_TRUE(run->is_exact && !run->is_cut && run->device_memory_is_one);
    T_STR_EQ(run->title, "");
    expect(run->device_memory, 12000);
    T_TRUE(run->has_parameters);
    T_EQ(run->parameters, 42);
    expect(run->overall_peak, 10);
    expect(run->final, -5);
    T_EQ(run->phase_count, 2);
    static const int64_t values[] = {10, 11, 2, 9, 10, 9};
    for (int i = 0; i < TTS_RUN_L1_CB; i++)
        expect(run->phases[0].figures[i], values[i]);
    for (int i = TTS_RUN_L1_CB; i < TTS_RUN_FIGURES; i++)
        T_TRUE(!run->phases[0].figures[i].is_known);
    T_STR_EQ(run->phases[1].name, "BACK");
    T_TRUE(!run->phases[1].figures[TTS_RUN_SEGMENT_PEAK].is_known);
    expect(run->phases[1].figures[TTS_RUN_CHANGE], -4);
    for (int i = TTS_RUN_L1_CB; i < TTS_RUN_FIGURES; i++)
        expect(run->phases[1].figures[i], i - TTS_RUN_L1_CB + 1);
    T_EQ(run->notes_in_all, 0);
    tts_runs_release(&runs);
}

T_TEST(the_peak_of_all_iterations_and_the_verdict_are_those_of_fit)
{
#define PHASE "\"phases\": [{\"name\": \"X\"}], \"overall_dram_peak_bytes\": 10"
    struct tts_runs runs =
        parsed("{" FIT ", " PHASE ", \"peak\": {\"bytes\": 20, \"phase\": \"ITERATION_2\", "
               "\"parts\": [{\"name\": \"gradients\", \"bytes\": 12}, {\"bytes\": 8, "
               "\"name\": \"inputs\"}, {\"name\": \"x\", \"bytes\": null}]}, "
               "\"capacity_bytes\": 15, \"peak_bytes\": 20, \"fits\": false}");
    const struct tts_run_whole *whole = &runs.runs[0].whole;
    expect(whole->peak, 20);
    T_TRUE(whole->has_fits && !whole->fits);
    T_STR_EQ(whole->phase, "ITERATION_2");
    T_TRUE(whole->has_parts);
    T_EQ(whole->parts[TTS_RUN_PART_GRADIENTS], 12);
    T_EQ(whole->parts[TTS_RUN_PART_OTHER], 8);
    tts_runs_release(&runs);
    runs =
        parsed("{" ANALYZE ", " PHASE ", \"peak_bytes\": 20, \"peak_of_all_iterations\": true, "
               "\"breakdown\": {\"other\": 8, \"model\": -1, \"gradients_overhead\": 12, "
               "\"new\": [1]}, \"breakdown_sizes\": \"predicted\"}");
    T_TRUE(runs.runs[0].whole.has_parts);
    T_EQ(runs.runs[0].whole.parts[TTS_RUN_PART_GRADIENTS], 12);
    T_EQ(runs.runs[0].whole.parts[TTS_RUN_PART_MODEL], 0);
    tts_runs_release(&runs);
    runs = parsed("{" FIT ", " PHASE ", \"capacity_bytes\": 15, \"peak_bytes\": null, "
                  "\"fits\": null}");
    T_TRUE(!runs.runs[0].whole.peak.is_known && !runs.runs[0].whole.has_fits);
    tts_runs_release(&runs);
    /* The peak in a log counts only if it was predicted. A verdict about an assumed device does
     * not count. */
    runs = parsed("{" ANALYZE ", " PHASE ", \"peak_bytes\": 20, \"fits\": true}");
    T_TRUE(!runs.runs[0].whole.peak.is_known && !runs.runs[0].whole.has_fits);
    tts_runs_release(&runs);
    runs =
        parsed("{" ANALYZE ", " PHASE ", \"peak_bytes\": 20, \"peak_of_all_iterations\": true, "
               "\"peak_phase\": \"ITERATION_3\", \"device_memory_bytes\": 30, "
               "\"device_memory_source\": \"assumed\", \"fits\": true}");
    expect(runs.runs[0].whole.peak, 20);
    T_STR_EQ(runs.runs[0].whole.phase, "ITERATION_3");
    T_TRUE(!runs.runs[0].whole.has_fits);
    tts_runs_release(&runs);
#undef PHASE
}

T_TEST(runs_count_more_than_the_top)
{
    static const char *const texts[] = {
        "{" ANALYZE ", \"runs\": [{\"name\": \"log (2)\", \"title\": null, \"rank\": \"r1\","
        "\"phases\": [{\"name\": \"X\"}]}, {\"name\": \"b.log\", \"title\": \"T\", "
        "\"phases\": [{\"name\": \"Y\"}]}], \"phases\": [{\"name\": \"Z\"}]}",
        "{\"phases\": [{\"name\": \"Z\"}], \"runs\": [{\"title\": null, \"name\": \"l\", "
        "\"rank\": \"r1\",\"phases\": [{\"name\": \"X\"}]}, {\"title\": \"T\", \"name\": "
        "\"b.log\", \"phases\": [{\"name\": \"Y\"}]}], " ANALYZE "}"};
    for (int i = 0; i < 2; i++) {
        struct tts_runs runs = parsed(texts[i]);
        T_EQ(runs.count, 2);
        T_STR_EQ(runs.runs[0].title, "");
        T_STR_EQ(runs.runs[0].rank, "r1");
        T_STR_EQ(runs.runs[0].phases[0].name, "X");
        T_STR_EQ(runs.runs[1].title, "T");
        T_STR_EQ(runs.runs[1].phases[0].name, "Y");
        T_TRUE(!runs.runs[0].is_exact && !runs.runs[1].is_exact);
        T_STR_EQ(runs.runs[0].name, i == 0 ? "log (2)" : "l");
        T_STR_EQ(runs.runs[1].name, "b.log");
        tts_runs_release(&runs);
    }
    struct tts_runs runs = parsed("{" FIT ", \"runs\": [], \"name\": \"N\", \"phases\": "
                                  "[{\"name\": \"Z\"}]}");
    T_EQ(runs.count, 1);
    T_STR_EQ(runs.runs[0].title, "");
    T_STR_EQ(runs.runs[0].name, "N");
    tts_runs_release(&runs);
    runs = parsed("{" ANALYZE
                  ", \"name\": \"N\", \"log\": \"a/b/char.log.gz\", \"phases\": [{}]}");
    T_STR_EQ(runs.runs[0].name, "char.log");
    tts_runs_release(&runs);
    runs = parsed("{" ANALYZE ", \"log\": \"-\", \"name\": \"N\", \"phases\": [{}]}");
    T_STR_EQ(runs.runs[0].name, "");
    tts_runs_release(&runs);
}

T_TEST(what_was_assumed_is_forgotten)
{
    struct tts_runs runs =
        parsed("{" ANALYZE ", \"device_memory_source\": \"assumed\", \"device_memory_bytes\": "
               "5, \"optimizer_name\": \"AdamW\", \"optimizer_source\": \"assumed\", "
               "\"phases\": [{}], \"cut\": true, \"line\": 9}");
    T_TRUE(!runs.runs[0].device_memory.is_known);
    T_STR_EQ(runs.runs[0].optimizer, "");
    T_TRUE(runs.runs[0].is_cut);
    T_EQ(runs.runs[0].line, 9);
    tts_runs_release(&runs);
    runs = parsed("{" ANALYZE ", \"device_memory_bytes\": 5, \"device_memory_source\": "
                  "\"log\", \"optimizer_source\": \"log\", \"optimizer_name\": \"SGD\", "
                  "\"phases\": [{}]}");
    expect(runs.runs[0].device_memory, 5);
    T_TRUE(runs.runs[0].device_memory_is_one);
    T_STR_EQ(runs.runs[0].optimizer, "SGD");
    tts_runs_release(&runs);
}

T_TEST(the_phases_of_each_capture_are_a_run)
{
    struct tts_runs runs = parsed(
        "{" SHOW ", \"missing\": [{\"kind\": \"damage\", \"line\": null, \"text\": \"cut\"}], "
        "\"phases\": [{\"name\": \"A\", \"capture\": 1, \"partial\": false, \"dram\": "
        "{\"cumulative_peak_bytes\": 5, \"cumulative_current_bytes\": 1}}, {\"capture\": 2, "
        "\"name\": \"B\", \"partial\": true}, {\"name\": \"C\", \"capture\": 1, \"dram\": "
        "{\"cumulative_peak_bytes\": 7, \"cumulative_current_bytes\": 3}}], "
        "\"overall_dram_peak_bytes\": 99, \"final_dram_bytes\": 98}");
    T_EQ(runs.count, 2);
    const struct tts_run *one = &runs.runs[0], *two = &runs.runs[1];
    T_STR_EQ(one->title, "capture 1");
    T_STR_EQ(two->title, "capture 2");
    T_EQ(one->phase_count, 2);
    T_STR_EQ(one->phases[1].name, "C");
    expect(one->overall_peak, 7);
    expect(one->final, 3);
    T_EQ(one->notes_in_all, 0);
    T_STR_EQ(two->phases[0].name, "B");
    T_TRUE(!two->overall_peak.is_known);
    T_EQ(two->notes_in_all, 2);
    T_STR_EQ(two->notes[0].text, "parts of the file are missing, beginning in phase 'B'");
    T_STR_EQ(two->notes[1].text, "cut");
    tts_runs_release(&runs);
    runs = parsed("{" SHOW ", \"phases\": [{\"name\": \"A\", \"capture\": 3}]}");
    T_EQ(runs.count, 1);
    T_STR_EQ(runs.runs[0].title, "");
    tts_runs_release(&runs);
    runs = parsed("{" SHOW ", \"phases\": [{\"name\": \"A\", \"capture\": 3}, {\"name\": "
                  "\"(unfinished)\", \"capture\": 1, \"partial\": true}]}");
    T_EQ(runs.count, 2);
    T_STR_EQ(runs.runs[0].title, "capture 1");
    T_TRUE(runs.runs[0].is_cut && !runs.runs[1].is_cut);
    T_STR_EQ(runs.runs[0].notes[0].text,
             "the input ends inside the last phase; the figures of this phase are incomplete");
    T_STR_EQ(runs.runs[1].phases[0].name, "A");
    tts_runs_release(&runs);
}

/* ---- errors ---- */

T_TEST(a_value_of_the_wrong_kind_is_noted_and_not_known)
{
    static const char *const values[] = {"\"12\"", "1.5",  "1e3",
                                         "true",   "[1]",  "9223372036854775808",
                                         "-1.0",   "{}",   "-99999999999999999999",
                                         "false",  "1e99", "99999999999999999999"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "{" FIT ",\n\"phases\": [{\"name\": \"X\", \"dram\": {\n\"change_bytes\": %s, "
                 "\"segment_peak_bytes\": 1}}]}",
                 values[i]);
        struct tts_runs runs = parsed(text);
        const struct tts_run *run = &runs.runs[0];
        T_TRUE(!run->phases[0].figures[TTS_RUN_CHANGE].is_known);
        expect(run->phases[0].figures[TTS_RUN_SEGMENT_PEAK], 1);
        T_EQ(run->notes_in_all, 1);
        T_EQ(run->notes[0].line, 3);
        T_STR_EQ(run->notes[0].text, "'change_bytes' is not a number of bytes");
        tts_runs_release(&runs);
    }
    struct tts_runs runs = parsed("{" FIT ", \"phases\": [3, {\"name\": 4, \"dram\": [], "
                                  "\"l1\": 5}], \"parameters\": -1, \"cut\": 1, \"runs\": 3}");
    T_EQ(runs.count, 1);
    T_EQ(runs.runs[0].phase_count, 1);
    T_STR_EQ(runs.runs[0].phases[0].name, "");
    T_TRUE(!runs.runs[0].has_parameters);
    T_EQ(runs.runs[0].notes_in_all, 7);
    tts_runs_release(&runs);
}

T_TEST(a_run_that_is_no_object_is_noted)
{
    struct tts_runs runs =
        parsed("{" ANALYZE ", \"runs\": [{\"phases\": [{}]},\n3, {\"phases\": [{}]}, null]}");
    T_EQ(runs.count, 2);
    T_EQ(runs.runs[0].notes_in_all, 0);
    T_EQ(runs.runs[1].notes_in_all, 2);
    T_EQ(runs.runs[1].notes[0].line, 2);
    T_STR_EQ(runs.runs[1].notes[0].text, "'runs' is not a list of objects");
    tts_runs_release(&runs);
    runs =
        parsed("{" ANALYZE ", \"runs\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, {\"phases\": [{}]}]}");
    T_EQ(runs.runs[0].note_count, TTS_RUN_NOTES_MAX);
    T_EQ(runs.runs[0].notes_in_all, 10);
    tts_runs_release(&runs);
    runs = parsed("{" SHOW ", \"phases\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, {\"capture\": 1}]}");
    T_EQ(runs.runs[0].note_count, TTS_RUN_NOTES_MAX);
    T_EQ(runs.runs[0].notes_in_all, 10);
    tts_runs_release(&runs);
}

T_TEST(a_run_of_which_something_is_missing_is_at_least_that)
{
    static const struct {
        const char *text;
        bool is_at_least;
    } cases[] = {
        {"{" SHOW ", \"partial\": false, \"phases\": [{\"partial\": false}]}", false},
        {"{" ANALYZE ", \"notes\": [{\"text\": \"odd\"}], \"phases\": [{}]}", false},
        {"{" SHOW ", \"partial\": true, \"phases\": [{}]}", true},
        {"{" SHOW ", \"partial\": true, \"phases\": [{\"capture\": 1}]}", true},
        {"{" SHOW ", \"phases\": [{\"partial\": true}]}", true},
        {"{" SHOW ", \"phases\": [{\"partial\": true, \"capture\": 1}]}", true},
        {"{" SHOW ", \"phases\": [{\"l1\": {\"true_core_peak_at_least\": true}}]}", true},
        {"{" ANALYZE ", \"peak_at_least\": true, \"partial\": false, \"phases\": [{}]}", true},
        {"{" ANALYZE ", \"partial\": true, \"runs\": [{\"phases\": [{}]}]}", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tts_runs runs = parsed(cases[i].text);
        T_EQ(runs.count, 1);
        T_EQ(runs.runs[0].is_at_least, cases[i].is_at_least);
        tts_runs_release(&runs);
    }
}

T_TEST(what_is_no_result_is_refused)
{
    refused("", TTS_E_SYNTAX, 1, "the JSON ends too early: expected a value");
    refused("[]", TTS_E_INVALID, 0, "is not a result that ttscope wrote with --json");
    refused("{}", TTS_E_INVALID, 0, "is not a result that ttscope wrote with --json");
    refused("{\"schema\": \"ttscope.fit\"}", TTS_E_INVALID, 0,
            "is not a result that ttscope wrote with --json");
    refused("{\"schema\": {\"name\": \"other.fit\"}, \"phases\": [{}]}", TTS_E_INVALID, 0,
            "is not a result that ttscope wrote with --json");
    refused("{\"schema\": {\"name\": \"ttscope.fit\", \"version\": 2}, \"phases\": [{}]}",
            TTS_E_INVALID, 0,
            "has version 2 of schema 'ttscope.fit', but this ttscope reads versions up to 1");
    static const char *const versions[] = {"2.0", "1.5", "-1", "\"1\"", "null", "[1]", "1e3"};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char text[120];
        snprintf(text, sizeof text,
                 "{\"schema\": {\"name\": \"ttscope.fit\", \"version\": %s}, \"phases\": [{}]}",
                 versions[i]);
        refused(text, TTS_E_INVALID, 0, "cannot read the version of the schema 'ttscope.fit'");
    }
    refused("{" FIT "}", TTS_E_NOT_FOUND, 0,
            "a result of schema 'ttscope.fit' has no phases to compare");
    refused("{" FIT ", \"runs\": [{}, {\"name\": \"x\"}]}", TTS_E_NOT_FOUND, 0,
            "a result of schema 'ttscope.fit' has no phases to compare");
}

T_TEST(a_document_that_is_cut_off_anywhere_is_refused)
{
    for (size_t len = 0; len < sizeof fit - 2; len++) {
        struct tts_runs runs = {0};
        struct tts_error err = {0};
        T_EQ(tts_result_parse(fit, len, NULL, &runs, &err), TTS_E_SYNTAX);
        T_TRUE(err.line > 0 && err.text[0] != '\0');
    }
}

T_TEST(limits_hold)
{
    static char text[TTS_RUNS_PHASES_MAX * 3 + 400];
    size_t len = (size_t)snprintf(text, sizeof text, "{" FIT ", \"runs\": [");
    for (int i = 0; i < TTS_RUNS_MAX + 3; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s{\"phases\": [{}, {}]}",
                                i ? "," : "");
    snprintf(text + len, sizeof text - len, "]}");
    struct tts_runs runs = parsed(text);
    T_EQ(runs.count, TTS_RUNS_MAX);
    T_EQ(runs.unlisted, 3);
    T_EQ(runs.runs[TTS_RUNS_MAX - 1].phase_count, 2);
    tts_runs_release(&runs);

    len = (size_t)snprintf(text, sizeof text, "{" FIT ", \"phases\": [{}");
    for (int i = 1; i < TTS_RUNS_PHASES_MAX + 2; i++) {
        memcpy(text + len, ",{}", 3);
        len += 3;
    }
    snprintf(text + len, sizeof text - len, "]}");
    runs = parsed(text);
    T_EQ(runs.runs[0].phase_count, TTS_RUNS_PHASES_MAX);
    T_EQ(runs.unlisted, 2);
    T_TRUE(runs.runs[0].is_cut);
    T_EQ(runs.runs[0].notes_in_all, 1);
    tts_runs_release(&runs);
}

T_TEST(out_of_memory_leaves_nothing)
{
    enum tts_status status = TTS_E_NOMEM;
    uint64_t at = 1;
    for (; status != TTS_OK; at++) {
        struct heap heap;
        struct tts_runs runs = {0};
        struct tts_error err = {0};
        heap_init(&heap);
        heap.fail_at = at;
        status = tts_result_parse(fit, strlen(fit), &heap.alloc, &runs, &err);
        T_TRUE(status == TTS_OK || (status == TTS_E_NOMEM && err.text[0] != '\0'));
        tts_runs_release(&runs);
        T_TRUE(heap_is_settled(&heap));
    }
    T_TRUE(at > 4);
}

/* ---- recognizing a result ---- */

static bool is_one(const char *text)
{
    const struct tts_jsonpull_source source = {
        .before = (const unsigned char *)text, .before_len = strlen(text), .fd = -1};
    struct tts_jsonpull *json;
    T_EQ(tts_jsonpull_new(&source, NULL, &json, NULL), TTS_OK);
    bool is = tts_result_is_one(json);
    tts_jsonpull_free(json);
    return is;
}

T_TEST(a_result_is_known_by_its_schema)
{
    T_TRUE(is_one(fit));
    T_TRUE(is_one("{\"phases\": [{}], \"runs\": [1, [2]], " SHOW "}"));
    T_TRUE(!is_one("[{\"counter\": 0}]"));
    T_TRUE(!is_one("{\"graph\": [], " FIT "}"));
    T_TRUE(!is_one("{\"schema\": 1}"));
    T_TRUE(!is_one("{\"schema\": {\"name\": \"x\"}}"));
    T_TRUE(!is_one("{\"schema"));
    T_TRUE(!is_one("{}"));
}
