#include "sources/runs/runs.h"

#include "harness/t.h"
#include "torture/heap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOG_HEAD "=== Memory Usage Summary ===\n\n"
#define LOG_PHASE(name)                                                                        \
    "--- " name " ---\n"                                                                       \
    "  DRAM: Segment Peak 2.00 MB, Allocations 3.00 MB, Deallocations 1.50 MB, "               \
    "Segment Change +1.50 MB\n"                                                                \
    "  DRAM: Cumulative Peak 2.00 MB, Cumulative Current 1.50 MB\n"                            \
    "  L1: Peak CB 0.12 MB, Peak Buffer 0.00 MB, Peak Total 0.12 MB\n"
#define LOG_END                                                                                \
    "\n=== Final Totals ===\nOverall DRAM Peak: 2.00 MB, Final DRAM Usage: 1.50 MB\n\n"
#define RESULT                                                                                 \
    "{\"schema\": {\"name\": \"ttscope.fit\", \"version\": 1}, \"phases\": [{\"name\": "       \
    "\"X\", \"dram\": {\"change_bytes\": 5}}]}\n"
#define NODE(counter, type, params, links)                                                     \
    "{\"counter\": " counter ", \"node_type\": \"" type "\", \"params\": " params              \
    ", \"connections\": [" links "]}"
#define BUFFER                                                                                 \
    "{\"size\": 4096, \"address\": 1024, \"type\": \"DRAM\", \"layout\": \"INTERLEAVED\", "    \
    "\"page_size\": 2048, \"num_cores\": 0, \"device_id\": 1}"
#define GRAPH_BEGIN                                                                            \
    "[" NODE("0", "capture_start", "{}", "1, 2, 3") ",\n" NODE(                                \
        "1", "buffer", BUFFER, "") ",\n" NODE("2", "buffer_allocate", BUFFER, "1")
#define GRAPH GRAPH_BEGIN ",\n" NODE("3", "capture_end", "{}", "") "]\n"

static const char *file_of(const char *text)
{
    return t_file("input", text, strlen(text));
}

static struct tts_runs loaded(const char *path)
{
    struct tts_runs runs = {0};
    struct tts_error err = {0};
    enum tts_status status = tts_runs_load(path, NULL, &runs, &err);
    T_STR_EQ(err.text, "");
    T_EQ(status, TTS_OK);
    T_TRUE(runs.count > 0);
    return runs;
}

static void refused(const char *path, enum tts_status wanted, const char *words)
{
    struct tts_runs runs = {.count = 77};
    struct tts_error err = {0};
    enum tts_status status = tts_runs_load(path, NULL, &runs, &err);
    T_STR_EQ(err.text, words);
    T_EQ(status, wanted);
    T_EQ(runs.count, 77);
    T_EQ(tts_runs_load(path, NULL, &runs, NULL), wanted);
}

/* ---- kinds ---- */

T_TEST(each_kind_is_known_by_its_content)
{
    static const struct {
        const char *text;
        enum tts_runs_kind kind;
        const char *phase;
        bool is_exact;
    } kinds[] = {
        {LOG_HEAD LOG_PHASE("A") LOG_END, TTS_RUNS_LOG, "A", false},
        {RESULT, TTS_RUNS_RESULT, "X", true},
        {"\n \t" RESULT, TTS_RUNS_RESULT, "X", true},
        {"\xef\xbb\xbf" RESULT, TTS_RUNS_RESULT, "X", true},
        {GRAPH, TTS_RUNS_EVENTS, "capture", true},
        {"{\"version\": 1, \"graph\": " GRAPH "}", TTS_RUNS_EVENTS, "capture", true},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct tts_runs runs = loaded(file_of(kinds[i].text));
        T_EQ(runs.kind, kinds[i].kind);
        T_EQ(runs.count, 1);
        T_EQ(runs.runs[0].phase_count, 1);
        T_STR_EQ(runs.runs[0].phases[0].name, kinds[i].phase);
        T_EQ(runs.runs[0].is_exact, kinds[i].is_exact);
        T_EQ(runs.unlisted, 0);
        tts_runs_release(&runs);
        T_TRUE(!runs.memory);
        tts_runs_release(&runs);
    }
}

/* A pipe, which cannot be read twice, works too. A file is read from its current position. */
T_TEST(standard_input_is_any_of_them)
{
    static const char *const texts[] = {LOG_HEAD LOG_PHASE("A") LOG_END, RESULT, GRAPH};
    static const enum tts_runs_kind kinds[] = {TTS_RUNS_LOG, TTS_RUNS_RESULT, TTS_RUNS_EVENTS};
    int before = dup(STDIN_FILENO);
    for (int i = 0; i < 6; i++) {
        int ends[2] = {-1, -1};
        if (i < 3) {
            T_EQ(pipe(ends), 0);
            T_TRUE(write(ends[1], texts[i], strlen(texts[i])) == (ssize_t)strlen(texts[i]));
            close(ends[1]);
        } else {
            ends[0] = open(file_of(texts[i % 3]), O_RDONLY);
        }
        T_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        close(ends[0]);
        struct tts_runs runs = loaded("-");
        T_EQ(runs.kind, kinds[i % 3]);
        T_EQ(runs.runs[0].phase_count, 1);
        tts_runs_release(&runs);
    }
    T_EQ(dup2(before, STDIN_FILENO), STDIN_FILENO);
    close(before);
}

/* ---- logs ---- */

T_TEST(a_log_may_have_several_runs)
{
    struct tts_runs runs = loaded(file_of(LOG_HEAD LOG_PHASE("A") LOG_PHASE("B")
                                              LOG_END LOG_HEAD LOG_PHASE("C") LOG_END));
    T_EQ(runs.count, 2);
    T_EQ(runs.runs[0].phase_count, 2);
    T_STR_EQ(runs.runs[0].phases[1].name, "B");
    T_STR_EQ(runs.runs[1].phases[0].name, "C");
    T_EQ(runs.runs[1].overall_peak.bytes, 2 << 20);
    T_TRUE(!runs.runs[1].is_cut && !runs.runs[1].device_memory_is_one);
    tts_runs_release(&runs);
    runs = loaded(file_of(LOG_HEAD LOG_PHASE("A")));
    T_TRUE(runs.runs[0].is_cut);
    tts_runs_release(&runs);
}

/* Copies the next line of a log, with the mark of a launcher before it. */
static size_t put_line(char *out, size_t capacity, const char *mark, const char **text)
{
    size_t len = strcspn(*text, "\n");
    int put = snprintf(out, capacity, "%s%.*s\n", mark, (int)len, *text);
    *text += len + ((*text)[len] == '\n');
    return (size_t)put;
}

T_TEST(a_log_may_begin_as_json_does)
{
    static const char *const marks[] = {"[1,0]<stdout>: ", "[2026-01-02 10:00:00] ",
                                        "[rank0]: ", "{r0} "};
    char log[4096];
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *text = LOG_HEAD LOG_PHASE("A") LOG_END;
        for (size_t at = 0; *text != '\0';)
            at += put_line(log + at, sizeof log - at, marks[i], &text);
        struct tts_runs runs = loaded(file_of(log));
        T_EQ(runs.kind, TTS_RUNS_LOG);
        T_EQ(runs.runs[0].phase_count, 1);
        T_EQ(runs.runs[0].overall_peak.bytes, 2 << 20);
        T_TRUE(!runs.runs[0].is_exact && !runs.runs[0].is_cut);
        tts_runs_release(&runs);
    }
    static const char *const firsts[] = {"{\"event\": \"start\"}\n", "[]\n", "[1, 2]\n",
                                         "{\"graph\": []}\n",        "{\n",  "[\n"};
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        snprintf(log, sizeof log, "%s%s", firsts[i], LOG_HEAD LOG_PHASE("A") LOG_END);
        struct tts_runs runs = loaded(file_of(log));
        T_EQ(runs.kind, TTS_RUNS_LOG);
        T_STR_EQ(runs.runs[0].phases[0].name, "A");
        tts_runs_release(&runs);
    }
}

T_TEST(a_run_of_a_log_has_its_name)
{
    struct tts_runs runs = loaded(file_of(LOG_HEAD LOG_PHASE("A") LOG_END));
    T_STR_EQ(runs.runs[0].name, "input");
    T_STR_EQ(runs.runs[0].title, "");
    tts_runs_release(&runs);
}

T_TEST(runs_beyond_the_limit_are_counted)
{
    const char *path = t_scratch("many.log");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < TTS_RUNS_MAX + 2; i++)
        fputs(LOG_HEAD LOG_PHASE("A") LOG_END, file);
    T_EQ(fclose(file), 0);
    struct tts_runs runs = loaded(path);
    T_EQ(runs.count, TTS_RUNS_MAX);
    T_EQ(runs.unlisted, 2);
    tts_runs_release(&runs);
}

/* ---- events ---- */

T_TEST(a_graph_trace_is_one_run_in_bytes)
{
    struct tts_runs runs = loaded(file_of(GRAPH));
    const struct tts_run *run = &runs.runs[0];
    T_STR_EQ(run->title, "");
    T_EQ(run->overall_peak.bytes, 4096);
    T_EQ(run->final.bytes, 4096);
    T_EQ(run->phases[0].figures[TTS_RUN_SEGMENT_PEAK].bytes, 4096);
    T_EQ(run->phases[0].figures[TTS_RUN_CHANGE].bytes, 4096);
    T_TRUE(run->phases[0].figures[TTS_RUN_L1_TOTAL].is_known);
    T_TRUE(!run->phases[0].figures[TTS_RUN_L1_CORE].is_known);
    T_EQ(run->notes_in_all, 0);
    T_TRUE(!run->is_at_least);
    tts_runs_release(&runs);
}

T_TEST(the_true_core_peak_is_told)
{
    struct tts_runs runs = loaded(TTS_GOLDEN_DIR "/show/example.json");
    const struct tts_amount *figures = runs.runs[0].phases[0].figures;
    T_EQ(figures[TTS_RUN_SEGMENT_PEAK].bytes, 18432);
    T_EQ(figures[TTS_RUN_DEALLOCATIONS].bytes, 8192);
    T_EQ(figures[TTS_RUN_L1_CB].bytes, 4096);
    T_TRUE(figures[TTS_RUN_L1_CORE].is_known);
    T_EQ(figures[TTS_RUN_L1_CORE].bytes, 4096);
    tts_runs_release(&runs);
}

T_TEST(a_trace_that_is_cut_off_is_told_to_its_end)
{
    struct tts_runs runs = loaded(file_of(GRAPH_BEGIN ",\n{"));
    T_EQ(runs.runs[0].overall_peak.bytes, 4096);
    T_TRUE(runs.runs[0].is_cut && runs.runs[0].is_at_least);
    T_EQ(runs.runs[0].notes_in_all, 2);
    T_STR_EQ(runs.runs[0].notes[0].text,
             "the input ends inside the last phase; the figures of this phase are incomplete");
    T_TRUE(strstr(runs.runs[0].notes[1].text, "; only the part before the damage was read") !=
           NULL);
    tts_runs_release(&runs);
}

/* ---- files without runs ---- */

T_TEST(what_has_no_run_is_refused)
{
    refused(file_of(""), TTS_E_NOT_FOUND, "is empty");
    refused(file_of("hello\n"), TTS_E_NOT_FOUND,
            "the file is none of these: a log with a memory summary, a recording, a graph "
            "trace, a result saved with '--json'");
    refused(file_of("{\"schema\": {\"name\": \"ttscope.pack\"}}"), TTS_E_NOT_FOUND,
            "a result of schema 'ttscope.pack' has no phases to compare");
    refused(file_of("[]"), TTS_E_SYNTAX, "not a graph trace: the file has no node");
    refused(file_of("{\"graph\": []}"), TTS_E_SYNTAX,
            "not a graph trace: the file has no node");
    refused(file_of("[" NODE("0", "capture_start", "{}", "1") ", " NODE("1", "capture_end",
                                                                        "{}", "") "]"),
            TTS_E_NOT_FOUND, "has no event");
    refused(file_of("[1,0] nothing\n"), TTS_E_SYNTAX,
            "not a graph trace: the first element is not a node");
    refused(file_of(LOG_HEAD), TTS_E_NOT_FOUND, "the memory summary has no phase");
    refused("/", TTS_E_IO, "cannot read '/': is a directory");
    refused("/no/such", TTS_E_IO, "cannot read '/no/such': no such file or directory");
    struct tts_error err = {0};
    struct tts_runs runs;
    T_EQ(tts_runs_load(file_of("{\n\"schema\": {\"name\": \"ttscope.fit\"},\n\"phases\": [1"),
                       NULL, &runs, &err),
         TTS_E_SYNTAX);
    T_EQ(err.line, 3);
    T_EQ(tts_runs_load(file_of("\xef\xbb\xbf{\"schema\": {\"name\": \"ttscope.fit\"}, ]"), NULL,
                       &runs, &err),
         TTS_E_SYNTAX);
    T_EQ(err.line, 1);
    T_EQ(err.offset, 39); /* the offset in the file, which includes the byte order mark */
}

/* ---- memory ---- */

static enum tts_status load_with(struct heap *heap, const char *path, uint64_t fail_at)
{
    struct tts_runs runs = {0};
    struct tts_error err = {0};
    heap_init(heap);
    heap->fail_at = fail_at;
    enum tts_status status = tts_runs_load(path, &heap->alloc, &runs, &err);
    T_TRUE(status == TTS_OK || err.text[0] != '\0');
    tts_runs_release(&runs);
    T_TRUE(heap_is_settled(heap));
    return status;
}

/* Loads a file and makes every `step`th allocation fail, and each of the last allocations,
 * which runs.c makes itself. */
static void sweep(const char *path, uint64_t step)
{
    struct heap heap;
    T_EQ(load_with(&heap, path, 0), TTS_OK);
    uint64_t calls = heap.calls;
    for (uint64_t at = 1; at <= calls; at += at + 4 < calls ? step : 1) {
        T_EQ(load_with(&heap, path, at), TTS_E_NOMEM);
        T_EQ(heap.failed, 1);
    }
}

T_TEST(out_of_memory_leaves_nothing)
{
    sweep(file_of(LOG_HEAD LOG_PHASE("A") LOG_PHASE("B") LOG_END), 1);
    sweep(file_of(RESULT), 1);
    sweep(file_of("[\n" LOG_HEAD LOG_PHASE("A") LOG_END), 8);
    sweep(file_of(GRAPH), 8); /* a follower makes many allocations, and other tests fail them */
}
