#include "sources/graph/graph.h"

#include "harness/graph_rig.h"
#include "torture/heap.h"

#include <fcntl.h>
#include <unistd.h>

static struct rig rig;

#define NODE(n, type, params)                                                                  \
    "{\"counter\":" #n ",\"node_type\":\"" type "\",\"params\":" params ",\"connections\":[]}"
#define LINKED(n, type, params, link)                                                          \
    "{\"counter\":" #n ",\"node_type\":\"" type "\",\"params\":" params                        \
    ",\"connections\":[" #link "]}"
#define START NODE(0, "capture_start", "null")

/* ---- the runtime's own figures ---- */

static void is_folded(const struct rig *read)
{
    const struct tts_usage *usage = &read->usage;
    const struct tts_graph_figures *figures = &read->figures;
    const struct tts_pool_usage *dram = &usage->pools[TTS_POOL_DRAM];
    T_TRUE(read->has_phase);
    T_STR_EQ(read->phase, TTS_GRAPH_PHASE);
    T_EQ(dram->peak_bytes, figures->dram_peak_bytes);
    T_EQ(dram->allocated_bytes, figures->dram_allocated_bytes);
    T_EQ(dram->freed_bytes, figures->dram_freed_bytes);
    T_EQ(usage->pools[TTS_POOL_L1].peak_bytes, figures->peak_l1_bytes);
    T_EQ(usage->peak_cb_bytes, figures->peak_cb_bytes);
    T_EQ(usage->peak_dfb_bytes, figures->peak_dfb_bytes);
    T_EQ(usage->peak_scratchpad_bytes, figures->peak_scratchpad_bytes);
    T_EQ(usage->ops, figures->functions);
}

struct golden {
    const char *name, *letters;
    int64_t dram_peak, dram_allocated, dram_freed, cb, dfb, scratchpad, l1, total;
    uint64_t legacy, nodes, core_bytes;
};

static void check_golden(const struct golden *golden)
{
    char path[512];
    snprintf(path, sizeof path, TTS_GOLDEN_DIR "/graph/%s.json", golden->name);
    char *text = rig_file(path);
    rig_read_well(&rig, text, 1 << TTS_GRAPH_NO_BANKS);
    free(text);
    T_STR_EQ(rig_letters(&rig), golden->letters);
    T_EQ(rig.figures.dram_peak_bytes, golden->dram_peak);
    T_EQ(rig.figures.dram_allocated_bytes, golden->dram_allocated);
    T_EQ(rig.figures.dram_freed_bytes, golden->dram_freed);
    T_EQ(rig.figures.peak_cb_bytes, golden->cb);
    T_EQ(rig.figures.peak_dfb_bytes, golden->dfb);
    T_EQ(rig.figures.peak_scratchpad_bytes, golden->scratchpad);
    T_EQ(rig.figures.peak_l1_bytes, golden->l1);
    T_EQ(rig.figures.peak_total_bytes, golden->total);
    T_EQ(rig.figures.legacy_l1_peak_bytes, golden->legacy);
    T_EQ(rig.figures.nodes, golden->nodes);
    T_EQ(rig.usage.core.bytes, golden->core_bytes);
    T_EQ(rig.usage.peak_total_bytes, golden->total);
    is_folded(&rig);
}

T_TEST(the_runtimes_own_tests_give_the_runtimes_own_figures)
{
    static const struct golden goldens[] = {
        {.name = "example",
         .letters = "b(APmCA)Fce",
         .dram_peak = 18432,
         .dram_allocated = 18432,
         .dram_freed = 8192,
         .cb = 4096,
         .total = 4096,
         .legacy = 4096,
         .nodes = 11,
         .core_bytes = 4096},
        {.name = "buffers",
         .letters = "b(A)(F)(A)(A)ce",
         .l1 = 4096,
         .total = 4096,
         /* A function counts the first buffer that it makes as one of its inputs. */
         .legacy = 137216,
         .nodes = 20,
         .core_bytes = 4096},
        {.name = "add_same",
         .letters = "b((A)PmCCC)ce",
         .cb = 12288,
         .l1 = 2048,
         .total = 14336,
         .legacy = 30720,
         .nodes = 18,
         .core_bytes = 14336},
        {.name = "add_broadcast",
         .letters = "b((A)PmCCC)ce",
         .cb = 12288,
         .l1 = 2048,
         .total = 14336,
         .legacy = 67584,
         .nodes = 18,
         .core_bytes = 14336},
        {.name = "add_sharded",
         .letters = "b((A)PmCCC)ce",
         .l1 = 393216,
         .total = 393216,
         .legacy = 20054016,
         .nodes = 18,
         .core_bytes = 393216},
        {.name = "parts",
         .letters = "bCDSce",
         .cb = 1024,
         .dfb = 2048,
         .scratchpad = 512,
         .total = 3584,
         .legacy = 3584,
         .nodes = 5,
         .core_bytes = 3584},
        {.name = "borrowed",
         .letters = "bDDce",
         .dfb = 256,
         .total = 256,
         .legacy = 256,
         .nodes = 4,
         .core_bytes = 256},
        {.name = "program_twice",
         .letters = "bPCDSPCDSce",
         .cb = 1024,
         .dfb = 2048,
         .scratchpad = 512,
         .total = 3584,
         .legacy = 3584,
         .nodes = 10,
         .core_bytes = 3584},
        {.name = "no_cb",
         .letters = "bDSce",
         .dfb = 2048,
         .scratchpad = 512,
         .total = 2560,
         .legacy = 2560,
         .nodes = 4,
         .core_bytes = 2560},
        {.name = "empty", .letters = "bce", .nodes = 2},
        {.name = "repeat",
         .letters = "b(PDD)ce",
         .dfb = 768,
         .total = 768,
         .legacy = 768,
         .nodes = 7,
         .core_bytes = 768},
        {.name = "softmax",
         .letters = "b(A)((A))(F)(F)ce",
         .dram_peak = 4096,
         .dram_allocated = 4096,
         .dram_freed = 4096,
         .nodes = 18},
        {.name = "v1_interleaved",
         .letters = "b(APCCC)Fce",
         .cb = 12288,
         .l1 = 131072,
         .total = 143360,
         .legacy = 274432,
         .nodes = 11,
         .core_bytes = 143360},
        {.name = "v1_sharded",
         .letters = "b(APCCC)Fce",
         .l1 = 8192,
         .total = 8192,
         .legacy = 90112,
         .nodes = 11,
         .core_bytes = 8192},
    };
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++)
        check_golden(&goldens[i]);
}

T_TEST(interleaved_buffers_of_old_traces_count_whole)
{
    char *text = rig_file(TTS_GOLDEN_DIR "/graph/v1_interleaved.json");
    rig_read_well(&rig, text, 1 << TTS_GRAPH_NO_BANKS);
    T_TRUE(rig.figures.l1_is_whole_buffers);
    T_EQ(rig.notes[TTS_GRAPH_NO_BANKS].count, 2);
    T_EQ(rig.notes[TTS_GRAPH_NO_BANKS].node, 3);
    T_EQ(rig.notes[TTS_GRAPH_NO_BANKS].line, 39);
    free(text);
    text = rig_file(TTS_GOLDEN_DIR "/graph/v1_sharded.json");
    rig_read_well(&rig, text, 0);
    T_TRUE(!rig.figures.l1_is_whole_buffers);
    free(text);
}

T_TEST(operations_are_called_in_their_order)
{
    static const char *const names[] = {
        "tt::tt_metal::create_device_tensor", "SoftmaxDeviceOperation",
        "tt::tt_metal::create_device_tensor", "Tensor::deallocate", "Tensor::deallocate"};
    char *text = rig_file(TTS_GOLDEN_DIR "/graph/softmax.json");
    size_t found = 0;
    rig_read_well(&rig, text, 0);
    for (size_t i = 0; i < rig.count; i++) {
        const struct tts_item *item = &rig.items[i].item;
        if (item->kind == TTS_ITEM_EVENT && item->event.kind == TTS_EVENT_OP_BEGIN) {
            T_TRUE(found < 5);
            T_STR_EQ(rig.items[i].op, names[found++]);
            T_EQ(item->thread, 1);
        }
    }
    T_EQ(found, 5);
    T_EQ(rig.figures.functions, 5);
    free(text);
}

T_TEST(a_real_trace_of_2024_reads_as_its_program_ran)
{
    const char *path = TTS_DATA_DIR "/graphs/trace_add_l1_no_dispatch_2024.json";
    if (access(path, R_OK) != 0) {
        print_message("no %s: passed over\n", path);
        skip();
    }
    char *text = rig_file(path);
    rig_read_well(&rig, text, 1 << TTS_GRAPH_NO_BANKS);
    free(text);
    T_STR_EQ(rig_letters(&rig), "b(((((A)C)))(("
                                "(A)CCC))F)Fce");
    is_folded(&rig);
    T_EQ(rig.figures.nodes, 34);
    T_EQ(rig.figures.functions, 8);
    T_EQ(rig.figures.tensors, 4);
    T_EQ(rig.figures.peak_cb_bytes, 4 * 4096);
    T_EQ(rig.figures.peak_l1_bytes, 2 * 24576);
    T_EQ(rig.figures.peak_total_bytes, 2 * 24576 + 4 * 4096);
    T_EQ(rig.figures.legacy_l1_peak_bytes, 24576 + 6144 + 2 * 24576 + 4 * 4096);
    T_TRUE(rig.figures.l1_is_whole_buffers);
    /* The circular buffer of 'repeat' is on the first twelve cores. The other circular buffers
     * are on all cores. */
    T_TRUE(rig.usage.core.known);
    T_EQ(rig.usage.core.bytes, 2 * 24576 + 4 * 4096);
    T_EQ(rig.usage.core.core.x, 0);
    T_EQ(rig.usage.core.core.y, 0);
    T_EQ(rig.usage.core.seq, 19);
    T_EQ(rig.health.unseen_frees, 0);
    T_EQ(rig.live, 0);
}

/* ---- every generation ---- */

static const char *const same[] = {
    /* The form that the runtime writes today. */
    "[{\"arguments\":[],\"connections\":[1],\"counter\":0,\"input_tensors\":[],\"node_type\":"
    "\"capture_start\",\"params\":null,\"stacking_level\":0},"
    "{\"arguments\":[\"a]\",\"{\\\"\"],\"connections\":[2,3,4,5],\"counter\":1,"
    "\"input_tensors\":[],\"node_type\":\"function_start\",\"params\":{\"inputs\":\"1\","
    "\"name\":\"op\"},\"stacking_level\":1},"
    "{\"arguments\":[],\"connections\":[],\"counter\":2,\"input_tensors\":[],\"node_type\":"
    "\"buffer\",\"params\":{\"buffer_type\":0,\"device_id\":0,\"layout\":\"INTERLEAVED\","
    "\"size\":4096,\"type\":\"DRAM\"},\"stacking_level\":1},"
    "{\"arguments\":[],\"connections\":[2],\"counter\":3,\"input_tensors\":[],\"node_type\":"
    "\"buffer_allocate\",\"params\":{\"address\":64,\"buffer_type\":0,\"device_id\":0,"
    "\"layout\":\"INTERLEAVED\",\"max_size_per_bank\":2048,\"num_cores\":0,\"page_size\":2048,"
    "\"size\":4096,\"type\":\"DRAM\"},\"stacking_level\":1},"
    "{\"arguments\":[],\"connections\":[],\"counter\":4,\"input_tensors\":[],\"node_type\":"
    "\"circular_buffer_allocate\",\"params\":{\"address\":0,\"core_range_set\":\"{[(x=1,y=2) - "
    "(x=3,y=4)]}\",\"device_id\":0,\"globally_allocated\":\"1\",\"size\":2048},"
    "\"stacking_level\":1},"
    "{\"arguments\":[],\"connections\":[2],\"counter\":5,\"input_tensors\":[],\"node_type\":"
    "\"buffer_deallocate\",\"params\":{\"address\":64,\"buffer_type\":0,\"device_id\":0,"
    "\"layout\":\"INTERLEAVED\",\"max_size_per_bank\":2048,\"num_cores\":0,\"page_size\":2048,"
    "\"size\":4096,\"type\":\"DRAM\"},\"stacking_level\":1},"
    "{\"arguments\":[],\"connections\":[7],\"counter\":6,\"duration_ns\":5,\"input_tensors\":[]"
    ","
    "\"node_type\":\"function_end\",\"params\":{\"name\":\"op\"},\"stacking_level\":1},"
    "{\"arguments\":[],\"connections\":[],\"counter\":7,\"duration_ns\":9,\"input_tensors\":[],"
    "\"node_type\":\"capture_end\",\"params\":null,\"stacking_level\":0}]",
    /* Numbers are strings, params are {} or absent, there are other keys and blanks, and a free
     * has no size. */
    "[\n {\"connections\": [1], \"counter\": 0, \"node_type\": \"capture_start\", \"params\": "
    "{}},\n"
    " {\"connections\": [2, 3], \"counter\": 1, \"node_type\": \"function_start\", \"params\": "
    "{\"inputs\": \"1\", \"name\": \"op\"}},\n"
    " {\"connections\": [], \"counter\": 2, \"node_type\": \"buffer\", \"params\": "
    "{\"layout\": "
    "\"INTERLEAVED\", \"size\": \"4096\", \"type\": \"DRAM\"}},\n"
    " {\"connections\": [2], \"counter\": 3, \"node_type\": \"buffer_allocate\", \"params\": "
    "{\"address\": \"64\", \"layout\": \"INTERLEAVED\", \"page_size\": \"2048\", "
    "\"num_cores\": "
    "\"0\", \"size\": \"4096\", \"type\": \"DRAM\"}},\n"
    " {\"connections\": [], \"counter\": 4, \"node_type\": \"circular_buffer_allocate\", "
    "\"params\": {\"address\": \"0\", \"core_range_set\": \"{[(x=1,y=2) - (x=3,y=4)]}\", "
    "\"size\": \"2048\", \"globally_allocated\": \"true\"}},\n"
    " {\"connections\": [2], \"counter\": 5, \"node_type\": \"buffer_deallocate\", \"params\": "
    "{\"layout\": \"INTERLEAVED\", \"size\": \"0\", \"type\": \"DRAM\"}},\n"
    " {\"connections\": [7], \"counter\": 6, \"node_type\": \"function_end\", \"params\": "
    "{\"name\": \"op\"}},\n"
    " {\"connections\": [], \"counter\": 7, \"node_type\": \"capture_end\"}\n]\n",
    /* The graph is in a report, its keys are in reverse order, and there are needless
     * escapes. */
    "{\"version\":1,\"metadata\":{\"graph\":[1,2]},\"graph\":[{\"params\":null,\"node_type\":"
    "\"capture_start\",\"counter\":0},"
    "{\"params\":{\"name\":\"\\u006fp\"},\"node_type\":\"function\\u005fstart\",\"counter\":1},"
    "{\"params\":{\"type\":\"DR\\u0041M\",\"si\\u007ae\":4096,\"unheard\":{\"of\":[]}},"
    "\"node_type\":\"buffer\",\"counter\":2},"
    "{\"params\":{\"size\":4096,\"page_size\":2048,\"num_cores\":0,\"address\":64,\"type\":"
    "\"DRAM\"},\"node_type\":\"buffer_allocate\",\"counter\":3,\"connections\":[\"2\",9]},"
    "{\"params\":{\"globally_allocated\":true,\"size\":2048,\"core_range_set\":"
    "\"{ [(x=1,y=2) - (x=3,y=4)] "
    "}\"},\"node_type\":\"circular_buffer_allocate\",\"counter\":4},"
    "{\"counter\":5,\"connections\":[2],\"node_type\":\"buffer_deallocate\",\"params\":null},"
    "{\"counter\":6,\"node_type\":\"function_end\"},"
    "{\"counter\":7,\"node_type\":\"capture_end\"}],\"devices\":[]}",
};

static void check_same(const struct rig *read)
{
    T_STR_EQ(rig_letters(read), "b(ACF)ce");
    const struct tts_event *event = rig_event(read, 2, TTS_EVENT_ALLOC);
    T_EQ(event->device, 0);
    T_EQ(event->pool, TTS_POOL_DRAM);
    T_EQ(event->id, 2);
    T_EQ(event->size_bytes, 4096);
    T_TRUE(event->has_address);
    T_EQ(event->address, 64);
    T_EQ(event->page_bytes, 2048);
    T_EQ(event->cores, 0);
    event = rig_event(read, 3, TTS_EVENT_CB);
    T_TRUE(event->borrowed);
    T_EQ(event->size_bytes, 2048);
    T_EQ(event->range_count, 1);
    struct tts_core_range range = read->items[3].first_range;
    T_TRUE(range.x0 == 1 && range.y0 == 2 && range.x1 == 3 && range.y1 == 4);
    event = rig_event(read, 4, TTS_EVENT_FREE);
    T_EQ(event->id, 2);
    T_EQ(event->size_bytes, 4096);
    for (size_t i = 1; i <= 5; i++) {
        T_STR_EQ(read->items[i].op, "op");
        T_EQ(read->items[i].item.seq, i);
    }
    T_EQ(read->items[0].item.seq, 0);
    T_EQ(read->items[7].item.seq, 5);
    T_EQ(read->items[7].item.capture, 1);
    T_EQ(read->figures.nodes, 8);
    T_EQ(read->figures.dram_freed_bytes, 4096);
    is_folded(read);
}

T_TEST(all_spellings_of_a_trace_are_the_same_trace)
{
    static const size_t pieces[] = {1, 7, 64, 1000, 0};
    for (size_t i = 0; i < 3; i++) {
        rig_read_well(&rig, same[i], 0);
        check_same(&rig);
        for (size_t k = 0; k < 5; k++) {
            rig_read_bytes(&rig, same[i], strlen(same[i]), pieces[k]);
            T_EQ(rig.status, TTS_E_NOT_FOUND);
            check_same(&rig);
        }
    }
}

T_TEST(a_flag_is_a_flag_however_it_is_written)
{
    static const char *const yes[] = {"\"1\"", "1", "true", "\"true\""};
    static const char *const no[] = {"\"0\"", "0", "false", "\"false\"", "null"};
    char text[512];
    for (size_t i = 0; i < 9; i++) {
        snprintf(text, sizeof text,
                 "[" NODE(0, "circular_buffer_allocate",
                          "{\"size\":8,\"core_range_set\":\"{[(x=0,y=0) - (x=0,y=0)]}\","
                          "\"globally_allocated\":%s}") "]",
                 i < 4 ? yes[i] : no[i - 4]);
        rig_read_well(&rig, text, 0);
        T_EQ(rig_event(&rig, 1, TTS_EVENT_CB)->borrowed, i < 4);
        T_EQ(rig.figures.peak_cb_bytes, i < 4 ? 0 : 8);
        T_EQ(rig.figures.legacy_l1_peak_bytes, 8);
    }
}

T_TEST(buffer_type_says_which_pool)
{
    static const struct {
        const char *facts;
        int pool; /* -1 means host memory */
        int64_t dram, l1;
    } cases[] = {
        {"\"buffer_type\":0,\"type\":\"DRAM\"", TTS_POOL_DRAM, 2048, 0},
        {"\"buffer_type\":1,\"type\":\"L1\"", TTS_POOL_L1, 0, 64},
        {"\"buffer_type\":2,\"type\":\"L1\"", -1, 0, 64},
        {"\"buffer_type\":3,\"type\":\"L1\"", TTS_POOL_L1_SMALL, 0, 64},
        {"\"buffer_type\":4,\"type\":\"DRAM\"", TTS_POOL_TRACE, 2048, 0},
        {"\"buffer_type\":\"3\"", TTS_POOL_L1_SMALL, 0, 64},
        {"\"type\":\"L1\"", TTS_POOL_L1, 0, 64},
        {"\"type\":\"DRAM\"", TTS_POOL_DRAM, 2048, 0},
    };
    char text[1024];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text,
                 "[" NODE(0, "buffer", "{\"size\":2048,%s}") "," LINKED(
                     1, "buffer_allocate", "{\"size\":2048,%s,\"max_size_per_bank\":64}",
                     0) "," LINKED(2, "buffer_deallocate",
                                   "{\"size\":2048,%s,\"max_size_per_bank\":64}", 0) "]",
                 cases[i].facts, cases[i].facts, cases[i].facts);
        rig_read_well(&rig, text, 0);
        T_STR_EQ(rig_letters(&rig), cases[i].pool < 0 ? "bce" : "bAFce");
        T_EQ(rig.figures.dram_peak_bytes, cases[i].dram);
        T_EQ(rig.figures.dram_freed_bytes, cases[i].dram);
        T_EQ(rig.figures.peak_l1_bytes, cases[i].l1);
        if (cases[i].pool < 0)
            continue;
        T_EQ(rig_event(&rig, 1, TTS_EVENT_ALLOC)->pool, cases[i].pool);
        T_EQ(rig_event(&rig, 2, TTS_EVENT_FREE)->pool, cases[i].pool);
        T_EQ(rig.usage.pools[cases[i].pool].allocations, 1);
        T_EQ(rig.live, 0);
    }
}

/* ---- bytes in a bank ---- */

static uint64_t bank_of(const char *head, const char *facts)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "%s[" NODE(0, "buffer", "{\"size\":20000,\"type\":\"L1\",\"device_id\":5}") "," LINKED(
            1, "buffer_allocate", "{\"size\":20000,\"type\":\"L1\",\"device_id\":5%s}",
            0) "]%s",
        head, facts, *head ? "}" : "");
    rig_read_well(&rig, text, 1 << TTS_GRAPH_NO_BANKS);
    T_EQ(rig.figures.peak_l1_bytes, rig_event(&rig, 1, TTS_EVENT_ALLOC)->bytes_per_bank);
    T_EQ(rig.figures.l1_is_whole_buffers, rig.notes[TTS_GRAPH_NO_BANKS].count > 0);
    return rig_event(&rig, 1, TTS_EVENT_ALLOC)->bytes_per_bank;
}

T_TEST(a_bank_holds_what_the_node_or_the_report_says)
{
    static const char *const report = "{\"devices\":[{\"device_id\":4,\"l1_num_banks\":3},"
                                      "{\"l1_num_banks\":4,\"device_id\":5,\"arch\":\"x\"}],"
                                      "\"graph\":";
    T_EQ(bank_of("", ",\"max_size_per_bank\":4096,\"num_cores\":2,\"page_size\":2048"), 4096);
    T_EQ(bank_of("", ",\"num_cores\":4,\"page_size\":2048"),
         3 * 2048); /* the buffer has 10 pages on 4 cores */
    T_EQ(bank_of("", ",\"num_cores\":4,\"page_size\":30000"), 30000);
    T_EQ(bank_of("", ",\"num_cores\":0,\"page_size\":2048"), 20000);
    T_TRUE(rig.figures.l1_is_whole_buffers);
    T_EQ(bank_of("", ",\"num_cores\":4"), 20000);
    T_EQ(bank_of("", ""), 20000);
    T_EQ(bank_of(report, ",\"num_cores\":0,\"page_size\":2048"), 3 * 2048);
    T_TRUE(!rig.figures.l1_is_whole_buffers);
    T_EQ(bank_of(report, ""), 20000);
    T_EQ(bank_of(report, ",\"max_size_per_bank\":64,\"num_cores\":0,\"page_size\":2048"), 64);
    T_EQ(bank_of("{\"devices\":7,\"graph\":", ",\"page_size\":2048"), 20000);
    T_EQ(bank_of("{\"devices\":[1,[2],{\"device_id\":5,\"l1_num_banks\":\"x\"}],\"graph\":",
                 ",\"page_size\":2048"),
         20000);
}

/* ---- frees ---- */

T_TEST(a_buffer_from_before_is_freed_by_what_its_node_says)
{
    rig_read_well(
        &rig,
        "[" NODE(0, "buffer", "{\"size\":4096,\"type\":\"DRAM\"}") "," LINKED(
            1, "buffer_deallocate", "{\"size\":0,\"type\":\"DRAM\"}",
            0) "," NODE(2, "buffer",
                        "{\"size\":2048,\"type\":\"L1\"}") "," LINKED(3, "buffer_deallocate",
                                                                      "{\"size\":2048,\"type\":"
                                                                      "\"L1\",\"max_size_per_"
                                                                      "bank\":32}",
                                                                      2) "]",
        0);
    T_EQ(rig_event(&rig, 1, TTS_EVENT_FREE)->size_bytes, 4096);
    T_EQ(rig_event(&rig, 2, TTS_EVENT_FREE)->size_bytes, 2048);
    T_EQ(rig_event(&rig, 2, TTS_EVENT_FREE)->bytes_per_bank, 32);
    T_EQ(rig.figures.dram_peak_bytes, 0);
    T_EQ(rig.figures.dram_freed_bytes, 4096);
    T_EQ(rig.figures.peak_total_bytes, 0);
    T_EQ(rig.health.unseen_frees, 2);
    T_EQ(rig.usage.pools[TTS_POOL_DRAM].freed_bytes, 4096);
    T_EQ(rig.usage.pools[TTS_POOL_L1].freed_bytes, 32);
}

T_TEST(l1_that_was_there_before_does_not_wrap_the_figures)
{
    rig_read_well(
        &rig,
        "[" NODE(0, "buffer", "{\"size\":2048,\"type\":\"L1\"}") "," LINKED(
            1, "buffer_deallocate", "{\"size\":2048,\"type\":\"L1\",\"max_size_per_bank\":32}",
            0) "," NODE(2, "buffer",
                        "{\"size\":2048,\"type\":\"L1\"}") "," LINKED(3, "buffer_allocate",
                                                                      "{\"size\":2048,\"type\":"
                                                                      "\"L1\",\"max_size_per_"
                                                                      "bank\":48}",
                                                                      2) "]",
        0);
    T_EQ(rig.figures.peak_l1_bytes, 48);
    T_EQ(rig.figures.peak_total_bytes, 48);
    T_EQ(rig.figures.legacy_l1_peak_bytes, 2048);
}

/* ---- the old measure ---- */

T_TEST(the_old_measure_takes_inputs_up_to_the_first_in_dram)
{
    rig_read_well(&rig,
                  "[" NODE(0, "function_start", "{\"name\":\"a\"}") "," NODE(
                      1, "buffer",
                      "{\"size\":10,\"type\":\"L1\"}") "," NODE(2, "tensor",
                                                                "{}") "," NODE(3,
                                                                               "buffer", "{\"size\":20,\"type\":\"L1\"}") "," NODE(4,
                                                                                                                                   "buffer", "{\"size\":40,\"type\":\"DRAM\"}") "," NODE(5,
                                                                                                                                                                                         "buffer", "{\"size\":80,\"type\":\"L1\"}") "," NODE(6,
                                                                                                                                                                                                                                             "function_start", "{\"name\":\"b\"}") "," NODE(7, "buffer", "{\"size\":160,\"type\":\"L1\"}") "," NODE(8,
                                                                                                                                                                                                                                                                                                                                                    "function_end",
                                                                                                                                                                                                                                                                                                                                                    "{}") "," NODE(9,
                                                                                                                                                                                                                                                                                                                                                                   "function_end",
                                                                                                                                                                                                                                                                                                                                                                   "{}") "," NODE(10,
                                                                                                                                                                                                                                                                                                                                                                                  "function_start", "{\"name\":\"c\"}") "," NODE(11,
                                                                                                                                                                                                                                                                                                                                                                                                                                 "buffer",
                                                                                                                                                                                                                                                                                                                                                                                                                                 "{\"size\":320,\"type\":\"L1\"}") "," NODE(12,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "function_end",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "{}") "]",
                  0);
    T_EQ(rig.figures.legacy_l1_peak_bytes, 10 + 20 + 320);
    T_EQ(rig.figures.tensors, 1);
}

/* ---- operations ---- */

T_TEST(names_have_their_escapes_resolved_and_their_length)
{
    static const char name[] = "a\\\"\\u00e9\\n\xff"
                               "012345678901234567890123456789012345678901234567890123456";
    char text[512];
    snprintf(text, sizeof text, "[" NODE(0, "function_start", "{\"name\":\"%s\"}") "]", name);
    rig_read_well(&rig, text, 1 << TTS_GRAPH_UNCLOSED);
    rig_event(&rig, 1, TTS_EVENT_OP_BEGIN);
    T_STR_EQ(rig.items[1].op, "a\"\xc3\xa9\n\xff"
                              "012345678901234567890123456789012345678901234567890123456");
    T_EQ(strlen(rig.items[1].op), TTS_OP_NAME_MAX);
}

T_TEST(of_a_long_name_the_end_is_kept)
{
    static const char name[] =
        "tt::tt_metal::operations::a::very::long::name::of::an::operation::"
        "that_ends_in::DeviceOperation";
    char text[512];
    snprintf(text, sizeof text, "[" NODE(0, "function_start", "{\"name\":\"%s\"}") "]", name);
    rig_read_well(&rig, text, 1 << TTS_GRAPH_UNCLOSED);
    T_STR_EQ(rig.items[1].op, name + strlen(name) - TTS_OP_NAME_MAX);
}

/* Allocates a buffer inside nested functions. Returns the operation of the allocation. */
static const char *op_of_alloc(const char *const *functions, size_t count)
{
    static char text[4096];
    int len = snprintf(text, sizeof text, "[");
    for (size_t i = 0; i < count; i++)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        "{\"counter\":%zu,\"node_type\":\"function_start\",\"params\":{"
                        "\"name\":\"%s\"}},",
                        i, functions[i]);
    snprintf(text + len, sizeof text - (size_t)len,
             "{\"counter\":%zu,\"node_type\":\"buffer\",\"params\":{\"size\":64,\"type\":"
             "\"DRAM\"}},{\"counter\":%zu,\"node_type\":\"buffer_allocate\",\"connections\":"
             "[%zu],\"params\":{\"size\":64,\"type\":\"DRAM\"}},{\"counter\":%zu,"
             "\"node_type\":\"function_end\"}]",
             count, count + 1, count, count + 2);
    rig_read_well(&rig, text, 1 << TTS_GRAPH_UNCLOSED);
    rig_event(&rig, count + 1, TTS_EVENT_ALLOC);
    rig_event(&rig, count + 2, TTS_EVENT_OP_END);
    T_STR_EQ(rig.items[count].op,
             functions[count - 1]); /* the functions keep their own names */
    T_STR_EQ(rig.items[count + 2].op, functions[count - 1]);
    return rig.items[count + 1].op;
}

T_TEST(a_buffer_is_of_the_innermost_function_that_is_no_helper)
{
    static const char *const old[] = {"ttnn::add", "ttnn::prim::binary", "Device Operation",
                                      "create_device_tensor"};
    static const char *const head[] = {"BinaryNgDeviceOperation",
                                       "tt::tt_metal::create_device_tensor"};
    static const char *const helpers[] = {"tt::tt_metal::create_device_tensor",
                                          "Device Operation"};
    static const char *const inside[] = {"create_device_tensor", "Tensor::to_device"};
    T_STR_EQ(op_of_alloc(old, 4), "ttnn::prim::binary");
    T_STR_EQ(op_of_alloc(old, 1), "ttnn::add");
    T_STR_EQ(op_of_alloc(head, 2), "BinaryNgDeviceOperation");
    T_STR_EQ(op_of_alloc(helpers, 2), "tt::tt_metal::create_device_tensor");
    T_STR_EQ(op_of_alloc(inside, 2), "Tensor::to_device");
}

T_TEST(operations_deeper_than_are_kept_are_still_counted)
{
    enum { DEEP = TTS_GRAPH_DEPTH + 3 };
    static char text[DEEP * 200];
    size_t len = 0;
    text[len++] = '[';
    for (int i = 0; i < 2 * DEEP; i++) {
        int wrote = i < DEEP ? snprintf(text + len, sizeof text - len,
                                        "{\"counter\":%d,\"node_type\":\"function_start\","
                                        "\"params\":{\"name\":\"f%d\"}}",
                                        i, i)
                             : snprintf(text + len, sizeof text - len,
                                        "{\"counter\":%d,\"node_type\":\"function_end\"}", i);
        len += (size_t)wrote;
        text[len++] = i + 1 < 2 * DEEP ? ',' : ']';
    }
    struct tts_graph *graph = NULL;
    struct tts_item item;
    uint64_t events = 0;
    char name[16];
    T_EQ(tts_graph_open(-1, (const unsigned char *)text, len, NULL, &graph, NULL), TTS_OK);
    while (tts_graph_next(graph, &item, NULL) == TTS_OK) {
        if (item.kind != TTS_ITEM_EVENT)
            continue;
        uint64_t depth = events < DEEP ? events : 2 * DEEP - 1 - events;
        bool is_begin = events < DEEP;
        if (!is_begin && depth >= TTS_GRAPH_DEPTH)
            depth = TTS_GRAPH_DEPTH - 1; /* the innermost function that has a name */
        snprintf(name, sizeof name, "f%d", (int)depth);
        T_EQ(item.op.name_len, strlen(name));
        T_MEM_EQ(item.op.name, name, strlen(name));
        T_EQ(item.event.kind, is_begin ? TTS_EVENT_OP_BEGIN : TTS_EVENT_OP_END);
        events++;
    }
    T_EQ(events, 2 * DEEP);
    T_EQ(tts_graph_note(graph, TTS_GRAPH_UNCLOSED)->count, 0);
    tts_graph_close(graph);
}

/* ---- the file ---- */

T_TEST(what_may_be_a_trace_begins_with_a_bracket)
{
    T_TRUE(tts_graph_may_be((const unsigned char *)"[", 1));
    T_TRUE(tts_graph_may_be((const unsigned char *)" \r\n\t{", 5));
    T_TRUE(!tts_graph_may_be((const unsigned char *)"", 0));
    T_TRUE(!tts_graph_may_be((const unsigned char *)"  ", 2));
    T_TRUE(!tts_graph_may_be((const unsigned char *)"x[", 2));
    T_TRUE(tts_graph_may_be((const unsigned char *)"\xef\xbb\xbf [", 5));
    T_TRUE(!tts_graph_may_be((const unsigned char *)"\xef\xbb\xbf", 3));
    T_TRUE(!tts_graph_may_be((const unsigned char *)"\xef\xbb[", 3));
}

T_TEST(a_mark_of_utf8_is_passed_over)
{
    static const char text[] = "\xef\xbb\xbf[{\"counter\":0,\"node_type\":\"capture_start\"}]";
    struct tts_graph *graph = NULL;
    struct tts_item item;
    T_EQ(tts_graph_open(-1, (const unsigned char *)text, sizeof text - 1, NULL, &graph, NULL),
         TTS_OK);
    T_EQ(tts_graph_next(graph, &item, NULL), TTS_OK);
    T_EQ(item.kind, TTS_ITEM_BEGIN);
    T_EQ(tts_graph_line(graph), 1);
    while (tts_graph_next(graph, &item, NULL) == TTS_OK)
        ;
    T_EQ(tts_graph_tell(graph), sizeof text - 1);
    tts_graph_close(graph);
}

static void add_read(void *ctx, uint64_t bytes)
{
    uint64_t *last = ctx;
    T_TRUE(bytes >= *last);
    *last = bytes;
}

/* The function is called even if a single item is as long as the whole file. */
T_TEST(who_watches_is_told_how_far_it_is)
{
    static char text[200000];
    size_t len =
        (size_t)snprintf(text, sizeof text, "[{\"counter\":0,\"node_type\":\"capture_start\"}");
    for (int i = 1; i < 3000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                ",{\"counter\":%d,\"node_type\":\"tensor\"}", i);
    text[len++] = ']';
    struct tts_jsonpull_source source = {.before = (const unsigned char *)text,
                                         .before_len = len,
                                         .fd = -1,
                                         .window_bytes = TTS_JSONPULL_WINDOW_MIN};
    struct tts_graph *graph = NULL;
    struct tts_item item;
    uint64_t last = 0;
    T_EQ(tts_graph_open_source(&source, NULL, &graph, NULL), TTS_OK);
    tts_graph_watch(graph, add_read, &last);
    T_EQ(tts_graph_next(graph, &item, NULL), TTS_OK);
    T_TRUE(last < len);
    T_EQ(tts_graph_next(graph, &item, NULL), TTS_OK);
    T_EQ(item.kind, TTS_ITEM_CUT);
    T_EQ(last, len);
    tts_graph_close(graph);
}

T_TEST(a_file_is_read_behind_its_first_bytes)
{
    const char *path = t_scratch("trace.json");
    FILE *file = fopen(path, "w");
    T_TRUE(file != NULL);
    fputs(same[0], file);
    fclose(file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    unsigned char *before = malloc(16);
    T_TRUE(before != NULL);
    T_EQ(read(fd, before, 16), 16);
    struct tts_graph *graph = NULL;
    struct tts_item item;
    T_EQ(tts_graph_open(fd, before, 16, NULL, &graph, NULL), TTS_OK);
    free(before); /* the reader has a copy of these bytes */
    size_t count = 0;
    while (tts_graph_next(graph, &item, NULL) == TTS_OK)
        count++;
    T_EQ(count, 8);
    T_EQ(tts_graph_tell(graph), strlen(same[0]));
    T_EQ(tts_graph_next(graph, &item, NULL), TTS_E_NOT_FOUND);
    tts_graph_close(graph);
    tts_graph_close(NULL);
    T_EQ(fcntl(fd, F_GETFD) >= 0, 1); /* the reader did not close the caller's descriptor */
    close(fd);
}

T_TEST(first_bytes_of_any_number_are_not_borrowed)
{
    enum { BYTES = TTS_JSONPULL_WINDOW + 4096 };
    unsigned char *before = malloc(BYTES);
    T_TRUE(before != NULL);
    memset(before, ' ', BYTES);
    memcpy(before + BYTES - strlen(same[0]), same[0], strlen(same[0]));
    struct tts_graph *graph = NULL;
    struct tts_item item;
    T_EQ(tts_graph_open(-1, before, BYTES, NULL, &graph, NULL), TTS_OK);
    free(before);
    size_t count = 0;
    while (tts_graph_next(graph, &item, NULL) == TTS_OK)
        count++;
    T_EQ(count, 8);
    tts_graph_close(graph);
}

T_TEST(an_item_says_which_node_and_line_it_was)
{
    rig_read_well(&rig, same[1], 0);
    for (size_t i = 1; i <= 5; i++) {
        static const uint64_t nodes[] = {1, 3, 4, 5, 6};
        T_EQ(rig.items[i].node, nodes[i - 1]);
        T_EQ(rig.items[i].line, nodes[i - 1] + 2);
    }
}

T_TEST(when_memory_runs_out_it_is_told_and_all_comes_back)
{
    struct heap heap;
    struct tts_graph *graph = NULL;
    struct tts_item item;
    struct tts_error err = {0};
    enum tts_status status = TTS_OK;
    heap_init(&heap);
    for (heap.fail_at = 1; heap.fail_at < 10; heap.fail_at++) {
        heap.calls = 0;
        graph = NULL;
        status = tts_graph_open(-1, (const unsigned char *)same[0], strlen(same[0]),
                                &heap.alloc, &graph, &err);
        while (status == TTS_OK)
            status = tts_graph_next(graph, &item, &err);
        if (status == TTS_E_NOT_FOUND)
            break;
        T_EQ(status, TTS_E_NOMEM);
        T_TRUE(!graph || tts_graph_next(graph, &item, &err) == TTS_E_NOMEM);
        tts_graph_close(graph);
    }
    T_EQ(heap.fail_at, 8);
    tts_graph_close(graph);
    T_TRUE(heap_is_settled(&heap));
}
