#include "harness/graph_rig.h"

/* Tests errors in a trace. A syntax error ends the trace, with a place and a reason. Any other
 * error is noted, and reading continues. */

static struct rig rig;

#define START "{\"counter\":0,\"node_type\":\"capture_start\",\"params\":null}"

/* ---- errors that end the trace ---- */

static void is_refused(const char *text, size_t len, const char *says, uint64_t offset)
{
    static const size_t pieces[] = {1, 3, 64, 0};
    for (size_t i = 0; i < 4; i++) {
        rig_read_bytes(&rig, text, len, pieces[i]);
        T_EQ(rig.status, TTS_E_SYNTAX);
        if (!strstr(rig.err.text, says))
            fail_msg("'%s': %s", text, rig.err.text);
        T_EQ(rig.err.offset, offset);
        T_EQ(rig.err.line, 1);
    }
}

T_TEST(what_is_not_a_trace_has_no_items)
{
    static const struct {
        const char *text, *says;
        uint64_t offset;
    } cases[] = {
        {"", "ends too early", 0},
        {"   ", "ends too early", 3},
        {"hello", "not JSON", 0},
        {"7", "neither an array of nodes nor a report", 0},
        {"\"graph\"", "neither an array of nodes nor a report", 0},
        {"{}", "the report has no key 'graph'", 1},
        {"{\"version\":1,\"nodes\":[]}", "the report has no key 'graph'", 23},
        {"{\"graph\":{}}", "the key 'graph' of the report is not an array", 9},
        {"{\"graph\":null}", "the key 'graph' of the report is not an array", 9},
        {"[1,2,3]", "the first element is not a node", 1},
        {"[[]]", "the first element is not a node", 1},
        {"[\"x\"]", "the first element is not a node", 1},
        {"[{}]", "the first element has no node_type", 1},
        {"[{\"a\":1},{}]", "the first element has no node_type", 1},
        {"[{\"node_type\":7}]", "the first element has no node_type", 1},
        {"{\"a\":[1}", "not JSON", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        is_refused(cases[i].text, strlen(cases[i].text), cases[i].says, cases[i].offset);
        T_EQ(rig.count, 0);
    }
    is_refused("\0\0\0", 3, "got byte 00", 0);
}

T_TEST(an_empty_array_is_no_trace)
{
    is_refused("[]", 2, "not a graph trace: the file has no node", 1);
    is_refused("{\"graph\":[]}", 12, "not a graph trace: the file has no node", 10);
}

T_TEST(what_is_damaged_keeps_what_was_before)
{
    static const char text[] =
        "[" START ",\n{\"counter\":1,\"node_type\":\"buffer\",\"params\":{\"size\":8,\"type\":"
        "\"DRAM\"}},\n{\"counter\":2,\"node_type\":\"buffer_allocate\",\"connections\":[1],"
        "\"params\":{\"size\":8,\"type\":\"DRAM\"}},\n{\"counter\":3 \"node_type\":\"x\"}]";
    rig_read(&rig, text);
    T_EQ(rig.status, TTS_E_SYNTAX);
    T_STR_EQ(rig_letters(&rig), "bA");
    T_EQ(rig.err.line, 4);
    T_EQ(text[rig.err.offset], '"');
    T_EQ(rig.figures.dram_peak_bytes, 8);
}

T_TEST(an_error_is_told_again_and_again)
{
    struct tts_graph *graph = NULL;
    struct tts_item item;
    T_EQ(tts_graph_open(-1, (const unsigned char *)"[1]", 3, NULL, &graph, NULL), TTS_OK);
    for (int i = 0; i < 3; i++) {
        struct tts_error err = {0};
        T_EQ(tts_graph_next(graph, &item, &err), TTS_E_SYNTAX);
        T_EQ(err.offset, 1);
        T_EQ(tts_graph_next(graph, &item, NULL), TTS_E_SYNTAX);
    }
    tts_graph_close(graph);
}

T_TEST(what_stands_behind_the_trace_is_told_behind_its_end)
{
    rig_read(&rig, "[" START "] x");
    T_EQ(rig.status, TTS_E_SYNTAX);
    T_STR_EQ(rig_letters(&rig), "bce");
    rig_read(&rig, "{\"graph\":[" START "],\"metadata\":{\"rank\":");
    T_EQ(rig.status, TTS_E_SYNTAX);
    T_STR_EQ(rig_letters(&rig), "bce");
    T_TRUE(rig.has_phase);
}

static const char whole[] =
    "{\"devices\":[{\"device_id\":0,\"l1_num_banks\":64}],\"graph\":[" START
    ",{\"counter\":1,\"node_type\":\"function_start\",\"arguments\":[\"a\\\"]\"],\"params\":"
    "{\"name\":\"f\\u0041\"}},{\"counter\":2,\"node_type\":\"buffer\",\"params\":{\"size\":8,"
    "\"type\":\"DRAM\"}},{\"counter\":3,\"node_type\":\"buffer_allocate\",\"connections\":[2],"
    "\"params\":{\"size\":8,\"type\":\"DRAM\",\"x\":[{}, -1.5e3, true]}},{\"counter\":4,"
    "\"node_type\":\"circular_buffer_allocate\",\"params\":{\"size\":8,\"core_range_set\":"
    "\"{[(x=0,y=0) - (x=1,y=1)]}\"}}],\"version\":1}";

T_TEST(a_trace_cut_off_anywhere_is_refused_there)
{
    static const size_t pieces[] = {1, 7, 0};
    for (size_t len = 0; len < sizeof whole - 1; len++) {
        for (size_t i = 0; i < 3; i++) {
            rig_read_bytes(&rig, whole, len, pieces[i]);
            T_EQ(rig.status, TTS_E_SYNTAX);
            T_EQ(rig.err.offset, len);
            T_TRUE(strstr(rig.err.text, "the JSON ends") != NULL);
        }
    }
    rig_read(&rig, whole);
    T_EQ(rig.status, TTS_E_NOT_FOUND);
}

T_TEST(deep_nesting_ends_at_its_bound)
{
    static char text[8192];
    size_t len = (size_t)snprintf(text, sizeof text, "[" START ",{\"arguments\":");
    memset(text + len, '[', 2000);
    rig_read_bytes(&rig, text, len + 2000, 0);
    T_EQ(rig.status, TTS_E_RANGE);
    T_EQ(rig.err.offset, len + TTS_JSONPULL_DEPTH_MAX - 2);
    T_STR_EQ(rig_letters(&rig), "b");
}

/* ---- errors that are noted ---- */

/* Checks that the node after START only adds a note of this kind, and has no other effect. */
static void is_noted(const char *node, enum tts_graph_note_kind kind, const char *says)
{
    char text[1024];
    snprintf(text, sizeof text, "[" START ",\n%s]", node);
    rig_read_well(&rig, text, 1u << kind);
    if (!strstr(rig.notes[kind].text, says))
        fail_msg("%s: %s", node, rig.notes[kind].text);
    T_EQ(rig.notes[kind].count, 1);
    T_EQ(rig.notes[kind].node, 1);
    T_EQ(rig.notes[kind].line, 2);
    T_STR_EQ(rig_letters(&rig), "bce");
    T_EQ(rig.figures.nodes, 2);
    T_EQ(rig.figures.dram_allocated_bytes + rig.figures.dram_freed_bytes, 0);
}

#define PLAIN(type, rest) "{\"counter\":1,\"node_type\":\"" type "\"" rest "}"

T_TEST(a_node_that_cannot_be_is_noted_and_passed_over)
{
    static const struct {
        const char *node, *says;
    } cases[] = {
        {PLAIN("buffer", ""), "has no size"},
        {PLAIN("buffer", ",\"params\":null"), "has no size"},
        {PLAIN("buffer", ",\"params\":[1]"), "has no size"},
        {PLAIN("buffer", ",\"params\":{\"size\":null,\"type\":\"L1\"}"), "has no size"},
        {PLAIN("buffer", ",\"params\":{\"size\":-1,\"type\":\"L1\"}"), "invalid size"},
        {PLAIN("buffer", ",\"params\":{\"size\":\"-1\",\"type\":\"L1\"}"), "invalid size"},
        {PLAIN("buffer", ",\"params\":{\"size\":1.5,\"type\":\"L1\"}"), "invalid size"},
        {PLAIN("buffer", ",\"params\":{\"size\":\"\",\"type\":\"L1\"}"), "invalid size"},
        {PLAIN("buffer", ",\"params\":{\"size\":{},\"type\":\"L1\"}"), "invalid size"},
        {PLAIN("buffer", ",\"params\":{\"size\":1099511627777,\"type\":\"L1\"}"), "invalid"},
        {PLAIN("buffer", ",\"params\":{\"size\":9223372036854775808,\"type\":\"L1\"}"),
         "invalid"},
        {PLAIN("buffer", ",\"params\":{\"size\":99999999999999999999,\"type\":\"L1\"}"),
         "invalid"},
        {PLAIN("buffer", ",\"params\":{\"size\":8}"), "a buffer has no pool"},
        {PLAIN("buffer", ",\"params\":{\"size\":8,\"type\":\"MOON\"}"), "a buffer has no pool"},
        {PLAIN("buffer", ",\"params\":{\"size\":8,\"buffer_type\":5}"), "a buffer has no pool"},
        {PLAIN("buffer", ",\"params\":{\"size\":8,\"type\":\"L1\",\"device_id\":-1}"),
         "a node has an invalid 'device_id'"},
        {PLAIN("buffer", ",\"params\":{\"size\":8,\"type\":\"L1\",\"device_id\":4294967296}"),
         "a node has an invalid 'device_id'"},
        {PLAIN("buffer_allocate", ",\"params\":{\"size\":-8,\"type\":\"DRAM\"}"), "invalid"},
        {PLAIN("buffer_deallocate", ",\"params\":{\"size\":8,\"type\":\"DRAM\"}"),
         "do not name a buffer"},
        {PLAIN("buffer_deallocate", ",\"connections\":[]"), "do not name a buffer"},
        {PLAIN("buffer_deallocate", ",\"connections\":[-1]"), "do not name a buffer"},
        {PLAIN("buffer_deallocate", ",\"connections\":[[2],3]"), "do not name a buffer"},
        {PLAIN("buffer_deallocate", ",\"connections\":\"x\""), "do not name a buffer"},
        {PLAIN("circular_buffer_allocate", ",\"params\":{\"size\":-8}"),
         "a node of type 'cb' has an invalid size"},
        {PLAIN("circular_buffer_deallocate_all", ",\"params\":{\"device_id\":\"x\"}"),
         "a node has an invalid 'device_id'"},
        {"{\"counter\":1}", "has no 'node_type'"},
        {"{\"counter\":1,\"node_type\":[\"buffer\"]}", "has no 'node_type'"},
        {"[\"x\",[]]", "an element of the graph is not a node"},
        {"null", "an element of the graph is not a node"},
        {PLAIN("tensor", ",\"counter\":1"), "appears twice"},
        {"{\"node_type\":\"buffer\",\"counter\":1,\"node_type\":\"tensor\"}", "appears twice"},
        {"{\"node_type\":1,\"counter\":1,\"node_type\":\"tensor\"}", "appears twice"},
        {PLAIN("tensor", ",\"params\":{},\"params\":{}"), "appears twice"},
        {PLAIN("tensor", ",\"connections\":[],\"connections\":[]"), "appears twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        is_noted(cases[i].node, TTS_GRAPH_BAD_NODE, cases[i].says);
}

T_TEST(a_number_that_is_too_long_or_taken_back_is_none)
{
    static char text[8192];
    rig_read_well(&rig,
                  "[" START
                  ",\n" PLAIN("buffer", ",\"params\":{\"size\":8,\"size\":-1,\"type\":"
                                        "\"DRAM\"}") "]",
                  1u << TTS_GRAPH_BAD_NODE);
    /* One note about the key that occurs twice, one about the missing size. */
    T_EQ(rig.notes[TTS_GRAPH_BAD_NODE].count, 2);
    snprintf(text, sizeof text,
             "[" START
             ",\n" PLAIN("buffer", ",\"params\":{\"type\":\"DRAM\",\"size\":\"%05000d\"}") "]",
             7);
    rig_read_well(&rig, text, 1u << TTS_GRAPH_BAD_NODE);
    T_EQ(rig.notes[TTS_GRAPH_BAD_NODE].count, 1);
}

T_TEST(a_part_without_cores_counts_in_the_figures_alone)
{
    static const char *const sets[] = {"{}",
                                       "{[(x=0,y=0) - (x=0,y=0)]",
                                       "{[(x=0,y=0)-(x=0)]}",
                                       "{[(x=0,y=0) - (x=99999,y=0)]}",
                                       "{[(x=0,y=0) - (x=999,y=0)]}",
                                       "{[(x=1,y=0) - (x=0,y=0)]}",
                                       "{[(x=0,y=0) - (x=1,y=0)], [(x=1,y=0) - (x=1,y=0)]}",
                                       "{[(x=0,y=0) - (x=0,y=0)]} ,",
                                       "nonsense"};
    char text[1024];
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        snprintf(text, sizeof text,
                 "[" START
                 ",\n" PLAIN("scratchpad_allocate",
                             ",\"params\":{\"size\":8,\"core_range_set\":\"%s\"}") "]",
                 sets[i]);
        rig_read_well(&rig, text, 1u << TTS_GRAPH_BAD_NODE);
        T_EQ(rig.notes[TTS_GRAPH_BAD_NODE].count, 1);
        T_STR_EQ(rig_letters(&rig), "bce");
        T_EQ(rig.figures.peak_scratchpad_bytes, 8);
    }
}

T_TEST(as_many_ranges_as_an_event_has_are_read_and_no_more)
{
    static char text[8192];
    for (int ranges = TTS_RANGES_MAX; ranges <= TTS_RANGES_MAX + 1; ranges++) {
        int len = snprintf(text, sizeof text,
                           "[" START ",{\"counter\":1,\"node_type\":"
                           "\"dataflow_buffer_allocate\",\"params\":{"
                           "\"size\":8,\"core_range_set\":\"{");
        for (int i = 0; i < ranges; i++)
            len +=
                snprintf(text + len, sizeof text - (size_t)len, "%s[(x=%d,y=%d) - (x=%d,y=%d)]",
                         i ? ", " : "", i % 8, i / 8, i % 8, i / 8);
        snprintf(text + len, sizeof text - (size_t)len, "}\"}}]");
        bool fits = ranges == TTS_RANGES_MAX;
        rig_read_well(&rig, text, fits ? 0 : 1u << TTS_GRAPH_BAD_NODE);
        T_STR_EQ(rig_letters(&rig), fits ? "bDce" : "bce");
    }
}

T_TEST(unknown_nodes_and_counters_out_of_order_are_noted)
{
    rig_read(&rig,
             "[" START ",{\"counter\":1,\"node_type\":\"stack\\u0000trace\",\"params\":{"
             "\"size\":1}},{\"counter\":2,\"node_type\":\"x\"},{\"counter\":9,\"node_type\":"
             "\"tensor\"},{\"node_type\":\"tensor\"}]");
    T_EQ(rig.status, TTS_E_NOT_FOUND);
    T_EQ(rig.notes[TTS_GRAPH_UNKNOWN_NODE].count, 2);
    T_STR_EQ(rig.notes[TTS_GRAPH_UNKNOWN_NODE].text, "unknown node_type 'stack?trace'");
    T_EQ(rig.notes[TTS_GRAPH_OUT_OF_ORDER].count, 2);
    T_EQ(rig.notes[TTS_GRAPH_OUT_OF_ORDER].node, 3);
    T_EQ(rig.notes[TTS_GRAPH_BAD_NODE].count, 0);
    T_EQ(rig.figures.tensors, 2);
}

/* ---- buffers that contradict their nodes ---- */

#define BUFFER(n, size) /* a node of a DRAM buffer */                                          \
    "{\"counter\":" #n ",\"node_type\":\"buffer\",\"params\":{\"size\":" #size                 \
    ",\"type\":\"DRAM\"}}"
#define DO(n, what, size, link)                                                                \
    "{\"counter\":" #n ",\"node_type\":\"buffer_" what "\",\"params\":{\"size\":" #size        \
    ",\"type\":\"DRAM\"},\"connections\":[" #link "]}"

T_TEST(a_second_free_counts_nothing)
{
    rig_read_well(
        &rig,
        "[" BUFFER(0, 8) "," DO(1, "allocate", 8, 0) "," DO(2, "deallocate", 8, 0) "," DO(
            3, "deallocate", 8, 0) "," DO(4, "deallocate", 8, 77) "]",
        1u << TTS_GRAPH_FREE_OF_NOTHING);
    T_EQ(rig.notes[TTS_GRAPH_FREE_OF_NOTHING].count, 2);
    T_EQ(rig.notes[TTS_GRAPH_FREE_OF_NOTHING].node, 3);
    T_STR_EQ(rig_letters(&rig), "bAFce");
    T_EQ(rig.figures.dram_freed_bytes, 8);
    T_EQ(rig.usage.pools[TTS_POOL_DRAM].freed_bytes, 8);
}

T_TEST(allocations_that_do_not_fit_their_node_are_noted_and_counted)
{
    static const struct {
        const char *text, *says;
        int64_t allocated;
    } cases[] = {
        {"[" BUFFER(0, 8) "," DO(1, "allocate", 8, 0) "," DO(2, "allocate", 8, 0) "]",
         "allocated twice", 16},
        {"[" BUFFER(0, 8) "," DO(1, "allocate", 9, 0) "]", "differs from the 'buffer' node", 9},
        {"[" BUFFER(0, 8) "," DO(1, "allocate", 8, 5) "]", "has no 'buffer' node", 8},
        {"[" BUFFER(0, 8) "," BUFFER(0, 8) "]", "two buffers have the same", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_read_well(&rig, cases[i].text,
                      1u << TTS_GRAPH_BAD_NODE | 1u << TTS_GRAPH_OUT_OF_ORDER);
        T_EQ(rig.notes[TTS_GRAPH_BAD_NODE].count, 1);
        if (!strstr(rig.notes[TTS_GRAPH_BAD_NODE].text, cases[i].says))
            fail_msg("%s", rig.notes[TTS_GRAPH_BAD_NODE].text);
        T_EQ(rig.figures.dram_allocated_bytes, cases[i].allocated);
        T_EQ(rig.usage.pools[TTS_POOL_DRAM].allocated_bytes, cases[i].allocated);
    }
}

T_TEST(what_is_only_told_about_a_buffer_can_be_wrong)
{
    rig_read_well(
        &rig,
        "[" BUFFER(
            0, 8) ",{\"counter\":1,\"node_type\":\"buffer_allocate\","
                  "\"connections\":[0],\"params\":{\"size\":8,\"type\":\"DRAM\",\"address\":"
                  "18446744073709551615,\"page_size\":8,\"num_cores\":99999}}]",
        1u << TTS_GRAPH_BAD_NODE);
    const struct tts_event *event = rig_event(&rig, 1, TTS_EVENT_ALLOC);
    T_TRUE(!event->has_address);
    T_EQ(event->page_bytes, 0);
    T_EQ(event->cores, 0);
    T_EQ(event->size_bytes, 8);
}

T_TEST(of_keys_that_stand_twice_the_last_counts)
{
    rig_read_well(
        &rig,
        "[" START ",{\"counter\":7,\"counter\":1,\"node_type\":\"buffer\",\"params\":{"
        "\"size\":1,\"size\":2,\"type\":\"L1\",\"type\":\"DRAM\"},\"params\":{\"size\":4,"
        "\"type\":\"DRAM\"}}," DO(2, "deallocate", 0, 1) "]",
        1u << TTS_GRAPH_BAD_NODE);
    T_EQ(rig.notes[TTS_GRAPH_BAD_NODE].count, 1);
    T_EQ(rig.figures.dram_freed_bytes, 4);
    rig_read_well(&rig, "[" START ",{\"counter\":1,\"node_type\":\"tensor\",\"node_type\":1}]",
                  1u << TTS_GRAPH_BAD_NODE);
    /* One note about the key that occurs twice, one about the missing type. */
    T_EQ(rig.notes[TTS_GRAPH_BAD_NODE].count, 2);
    T_EQ(rig.figures.tensors, 0);
    rig_read_well(&rig, "{\"graph\":[" START "],\"graph\":[1]}", 1u << TTS_GRAPH_BAD_NODE);
    T_TRUE(strstr(rig.notes[TTS_GRAPH_BAD_NODE].text, "second") != NULL);
}

T_TEST(a_key_stands_twice_whatever_its_values_are)
{
    static const char *const params[] = {
        "\"core_range_set\":\"{}\",\"core_range_set\":\"{}\"",
        "\"device_id\":null,\"device_id\":null",
        "\"name\":1,\"name\":\"x\"",
        "\"type\":null,\"type\":\"L1\"",
    };
    char text[512];
    for (size_t i = 0; i < sizeof params / sizeof params[0]; i++) {
        snprintf(text, sizeof text,
                 "[" START ",{\"counter\":1,\"node_type\":\"circular_buffer_deallocate_all\","
                 "\"params\":{%s}}]",
                 params[i]);
        rig_read_well(&rig, text, 1u << TTS_GRAPH_BAD_NODE);
        T_EQ(rig.notes[TTS_GRAPH_BAD_NODE].count, 1);
    }
}

/* ---- operations that do not match ---- */

T_TEST(ends_without_begins_and_begins_without_ends_are_noted)
{
    rig_read_well(
        &rig,
        "[{\"counter\":0,\"node_type\":\"function_end\"},{\"counter\":1,\"node_type\":"
        "\"function_start\",\"params\":{\"name\":\"a\"}},{\"counter\":2,\"node_type\":"
        "\"function_start\",\"params\":{\"name\":\"b\"}}]",
        1u << TTS_GRAPH_UNCLOSED);
    T_EQ(rig.notes[TTS_GRAPH_UNCLOSED].count, 3);
    T_STR_EQ(rig.notes[TTS_GRAPH_UNCLOSED].text,
             "the trace has the end of a function but not its beginning");
    T_STR_EQ(rig_letters(&rig), "b((ce");
    rig_read_well(&rig, "[{\"counter\":0,\"node_type\":\"function_start\"}]",
                  1u << TTS_GRAPH_UNCLOSED | 1u << TTS_GRAPH_BAD_NODE);
    T_STR_EQ(rig.items[1].op, "(no name)");
}

T_TEST(some_notes_make_an_answer_partial)
{
    for (unsigned kind = 0; kind < TTS_GRAPH_NOTES; kind++)
        T_EQ(tts_graph_note_is_bad((enum tts_graph_note_kind)kind),
             kind != TTS_GRAPH_UNCLOSED && kind != TTS_GRAPH_NO_BANKS);
}

/* ---- large values ---- */

T_TEST(strings_of_any_length_are_passed_over)
{
    enum { LONG = 100000 };
    static char text[LONG + 1024];
    static const char *const heads[] = {"\"arguments\":[\"", "\"params\":{\"shape\":\"",
                                        "\"x\":\"", "\"params\":{\"name\":\""};
    static const char *const tails[] = {"\"]", "\"}", "\"", "\"}"};
    for (size_t i = 0; i < 4; i++) {
        size_t len = (size_t)snprintf(text, sizeof text, "[" START ",{%s", heads[i]);
        memset(text + len, 'x', LONG);
        len += LONG;
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "%s,\"counter\":1,\"node_type\":\"function_end\"}]", tails[i]);
        for (size_t piece = 0; piece < 2000; piece += 999) {
            rig_read_bytes(&rig, text, len, piece);
            T_EQ(rig.status, TTS_E_NOT_FOUND);
            T_EQ(rig.notes[TTS_GRAPH_UNCLOSED].count, 1);
            T_EQ(rig.notes[TTS_GRAPH_BAD_NODE].count, 0);
        }
    }
}

T_TEST(sums_of_the_largest_sizes_are_exact)
{
    enum { NODES = 4100 };
    static char text[NODES * 128];
    size_t len = (size_t)snprintf(text, sizeof text, "[" START);
    for (int i = 1; i <= NODES; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                ",{\"counter\":%d,\"node_type\":\"scratchpad_allocate\","
                                "\"params\":{\"size\":1099511627776}}",
                                i);
    snprintf(text + len, sizeof text - len, "]");
    /* A note says that the part has no cores. */
    rig_read_well(&rig, text, 1u << TTS_GRAPH_BAD_NODE);
    T_EQ(rig.figures.peak_total_bytes, (int64_t)NODES << 40);
    T_EQ(rig.figures.legacy_l1_peak_bytes, (int64_t)NODES << 40);
}
