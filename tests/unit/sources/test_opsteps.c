#include "sources/runtimelog/opsteps.h"

#include "harness/runlog_text.h"
#include "harness/t.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tensor of 12 x n tiles of bf16 takes n tiles of 2048 bytes in each of 12 banks. */
#define ONE RUNLOG_TILES(12, 1, "bf16")  /* 2048 bytes in each bank */
#define FOUR RUNLOG_TILES(12, 4, "bf16") /* 8192 bytes in each bank */
enum { STEPS_MAX = 256, BANK = 8388608 };

static struct runlog_text text;
static struct tts_opstep steps[STEPS_MAX];
static char names[STEPS_MAX][32], functions[STEPS_MAX][64], programs[STEPS_MAX][64];
static size_t step_count;
static struct tts_opfinal finals[4][TTS_POOLS];
static struct tts_oplog_facts facts;
static char rank_names[4][TTS_OPRANK_MAX];
static uint64_t owned[TTS_OPOWNERS];

static void keep_step(const struct tts_opstep *step)
{
    T_TRUE(step_count < STEPS_MAX);
    steps[step_count] = *step;
    struct tts_span name = step->has_op ? step->op.name : step->type;
    snprintf(names[step_count], sizeof names[0], "%.*s", (int)name.len, name.at);
    snprintf(functions[step_count], sizeof functions[0], "%s", step->function);
    snprintf(programs[step_count], sizeof programs[0], "%s", step->program_name);
    step_count++;
}

static enum tts_status read_log(const char *bytes, size_t len)
{
    struct tts_opsteps_config config = {0};
    struct tts_input *in;
    struct tts_opsteps *reader;
    const struct tts_opstep *step;
    struct tts_error err = {0};
    enum tts_status status;
    for (int i = 0; i < TTS_POOLS; i++)
        config.banks[i] = (struct tts_opbanks){12, 32, 32};
    step_count = 0;
    T_EQ(tts_input_open(t_file("log", bytes, len), NULL, &in, NULL), TTS_OK);
    T_EQ(tts_opsteps_open(in, &config, &reader, &err), TTS_OK);
    while ((status = tts_opsteps_next(reader, &step, &err)) == TTS_OK)
        keep_step(step);
    facts = tts_oplog_facts(tts_opsteps_log(reader));
    for (uint32_t i = 0; i < facts.ranks && i < 4; i++) {
        tts_opsteps_finals(reader, i, finals[i]);
        snprintf(rank_names[i], sizeof rank_names[0], "%s",
                 tts_oplog_rank_name(tts_opsteps_log(reader), i));
    }
    for (int i = 0; facts.ranks > 0 && i < TTS_OPOWNERS; i++)
        owned[i] = tts_optensors_owned(tts_opsteps_tensors(reader, 0), TTS_POOL_DRAM,
                                       (enum tts_opowner)i);
    tts_opsteps_close(reader);
    tts_input_close(in);
    return status;
}

static void read_text(void)
{
    T_EQ(read_log(text.text, text.len), TTS_E_NOT_FOUND);
}

/* Returns the bytes in each bank of DRAM before a step, with what became known later. */
static uint64_t used_before(size_t step)
{
    const struct tts_opreplay *replay = &steps[step].replay[TTS_POOL_DRAM];
    return (uint64_t)((int64_t)replay->used_bytes - replay->late_bytes +
                      finals[steps[step].rank][TTS_POOL_DRAM].late_bytes);
}

static uint64_t used_after(size_t step)
{
    return used_before(step) + steps[step].replay_after_bytes[TTS_POOL_DRAM] -
           steps[step].replay[TTS_POOL_DRAM].used_bytes;
}

/* An addition of two inputs of one tile a bank; the first input is freed. */
static void write_add(struct runlog_text *log, int has_blocks)
{
    runlog_program(log, 1, "main");
    runlog_op(log, "%0 = \"ttnn.get_device\"() : () -> !ttnn.device loc(unknown)");
    if (has_blocks)
        runlog_block(log, "GetDeviceOp", 4096, BANK - 4096);
    runlog_op(log, "%1 = \"ttnn.add\"(%arg0, %arg1) : (" ONE ", " ONE ") -> " FOUR
                   " loc(\"add.1\")");
    if (has_blocks)
        runlog_block(log, "EltwiseBinaryOp", 4096, BANK - 4096);
    runlog_op(log,
              "\"ttnn.deallocate\"(%arg0) <{force = false}> : (" ONE ") -> () loc(\"add.1\")");
    if (has_blocks)
        runlog_block(log, "DeallocateOp", 12288, BANK - 12288);
    runlog_op(log, "%2 = \"ttnn.relu\"(%1) : (" FOUR ") -> " ONE " loc(\"relu.2\")");
    if (has_blocks)
        runlog_block(log, "EltwiseUnaryOp", 10240, BANK - 12288);
    runlog_program(log, 0, "main");
}

T_TEST(a_change_belongs_to_the_operation_before_the_block)
{
    runlog_begin(&text);
    write_add(&text, 1);
    read_text();
    T_EQ(step_count, 4);
    T_STR_EQ(names[1], "ttnn.add");
    T_STR_EQ(steps[1].loc, "add.1");
    T_EQ(steps[1].before.pools[TTS_POOL_DRAM].banks, 12);
    T_EQ(used_before(1), 4096);
    T_EQ(used_after(1), 12288);
    T_EQ(used_before(2), 12288);
    T_EQ(used_after(2), 10240);
    T_EQ(used_after(3), 12288);
    T_EQ(steps[1].after.known, 15);
    T_EQ(steps[3].after.known, 0);
    T_EQ(finals[0][TTS_POOL_DRAM].differing, 0);
    T_STR_EQ(programs[1], "main");
    T_EQ(steps[1].operand_count, 2);
}

T_TEST(a_log_without_blocks_has_computed_figures)
{
    runlog_begin(&text);
    write_add(&text, 0);
    read_text();
    T_EQ(step_count, 4);
    T_EQ(used_before(0), 4096); /* the inputs were there from the beginning */
    T_EQ(used_before(1), 4096);
    T_EQ(used_before(2), 12288);
    T_EQ(used_before(3), 10240);
    T_TRUE(!steps[0].has_block);
}

T_TEST(a_log_without_operations_has_the_printed_figures)
{
    runlog_begin(&text);
    runlog_block(&text, "AddOp", 4096, BANK - 4096);
    runlog_block(&text, "DeallocateOp", 12288, BANK - 12288);
    read_text();
    T_EQ(step_count, 2);
    T_TRUE(!steps[0].has_op && !steps[0].has_replay);
    T_STR_EQ(names[1], "DeallocateOp");
    /* Three decimals of a MiB: 0.012. */
    T_EQ(steps[1].before.pools[TTS_POOL_DRAM].allocated_bytes, 12583);
    T_EQ(steps[0].after.pools[TTS_POOL_DRAM].allocated_bytes, 12583);
}

T_TEST(a_retained_tensor_is_not_freed)
{
    runlog_begin(&text);
    runlog_program(&text, 1, "main");
    runlog_op(&text, "%1 = \"ttnn.full\"(%0) : (!ttnn.device) -> " FOUR " loc(unknown)");
    runlog_block(&text, "FullOp", 0, BANK);
    runlog_op(&text, "\"ttnn.deallocate\"(%1) : (" FOUR ") -> () loc(unknown)");
    runlog_block(&text, "DeallocateOp", 8192, BANK - 8192);
    runlog_note(&text, "Tensor is retained thus not deallocating. To deallocate, set retain to "
                       "false first");
    runlog_op(&text, "%2 = \"ttnn.full\"(%0) : (!ttnn.device) -> " FOUR " loc(unknown)");
    runlog_block(&text, "FullOp", 8192, BANK - 8192);
    read_text();
    T_TRUE(steps[1].is_retained);
    T_EQ(used_before(2), 8192);
    T_EQ(finals[0][TTS_POOL_DRAM].differing, 0);
}

/* A call of a const-eval function: a miss runs the function, a hit does not. */
static void write_cached(struct runlog_text *log, const char *result, int is_miss)
{
    char op[1024];
    snprintf(op, sizeof op,
             "%s = ttcore.load_cached(@f_const_eval_0, [%%arg0]) : (" ONE ") -> " FOUR
             " loc(unknown)",
             result);
    runlog_op(log, op);
    runlog_note(log, "Running LoadCachedOp for function f_const_eval_0 with hash: 12ab");
    runlog_note(log, is_miss ? "Cache miss or invalid cache for function: f_const_eval_0"
                             : "Cache hit for function: f_const_eval_0");
    if (!is_miss)
        return;
    runlog_program(log, 1, "f_const_eval_0");
    /* The names %0 and %1 are those of the caller too. */
    runlog_op(log, "%0 = \"ttnn.typecast\"(%arg0) : (" ONE ") -> " ONE " loc(\"t\")");
    runlog_op(log, "%1 = \"ttnn.repeat\"(%0) : (" ONE ") -> " FOUR " loc(\"r\")");
    runlog_op(log, "\"ttnn.deallocate\"(%0) : (" ONE ") -> () loc(\"t\")");
    runlog_program(log, 0, "f_const_eval_0");
    runlog_note(log, "executed sub-func: f_const_eval_0");
}

T_TEST(names_of_nested_programs_do_not_mix_and_cached_results_stay)
{
    runlog_begin(&text);
    for (int run = 0; run < 2; run++) {
        runlog_program(&text, 1, "main");
        runlog_op(&text, "%1 = \"ttnn.full\"(%9) : (!ttnn.device) -> " ONE " loc(unknown)");
        write_cached(&text, "%0", run == 0);
        runlog_op(&text, "\"ttnn.deallocate\"(%1) : (" ONE ") -> () loc(unknown)");
        runlog_op(&text, "%2 = \"ttnn.add\"(%0) : (" FOUR ") -> " ONE " loc(unknown)");
        runlog_program(&text, 0, "main");
    }
    read_text();
    T_EQ(step_count, 11);
    /* Input 2048; full 2048; in the function 2048 and 8192, less 2048. */
    T_EQ(used_before(2), 4096);
    T_EQ(used_before(4), 4096 + 2048 + 8192);
    T_STR_EQ(functions[4], "f_const_eval_0");
    T_TRUE(steps[4].is_cache_miss);
    T_EQ(used_before(5), 4096 + 8192);
    T_EQ(used_before(6), 2048 + 8192);
    /* The output of the first run is gone, the cached result stays. */
    T_EQ(used_before(7), 2048 + 8192);
    T_EQ(used_after(10), 2048 + 8192 + 2048);
    T_EQ(owned[TTS_OPOWNER_CONST_EVAL], 8192);
    T_EQ(owned[TTS_OPOWNER_INPUT], 2048);
}

T_TEST(each_result_of_an_operation_is_a_tensor)
{
    runlog_begin(&text);
    runlog_program(&text, 1, "main");
    runlog_op(&text,
              "%1:2 = \"ttnn.split\"(%0) : (!ttnn.device) -> (" ONE ", " FOUR ") loc(unknown)");
    runlog_op(&text, "\"ttnn.deallocate\"(%1#1) : (" FOUR ") -> () loc(unknown)");
    runlog_op(&text, "%2 = \"ttnn.get_device\"() : () -> !ttnn.device loc(unknown)");
    read_text();
    T_EQ(used_before(1), 10240);
    T_EQ(used_before(2), 2048);
}

T_TEST(bytes_between_programs_are_uploaded_inputs)
{
    runlog_begin(&text);
    for (int run = 0; run < 2; run++) {
        runlog_program(&text, 1, "main");
        runlog_op(&text, "%0 = \"ttnn.get_device\"() : () -> !ttnn.device loc(unknown)");
        runlog_block(&text, "GetDeviceOp", run * 1048576 + 65536, BANK - run * 1048576 - 65536);
        runlog_program(&text, 0, "main");
    }
    read_text();
    T_EQ(steps[0].upload_bytes[TTS_POOL_DRAM], 1048576);
    T_EQ(steps[0].unnamed_bytes[TTS_POOL_DRAM], 0);
    T_EQ(finals[0][TTS_POOL_DRAM].differing, 0);
}

T_TEST(bytes_that_no_line_explains_are_reported_as_drift)
{
    runlog_begin(&text);
    runlog_program(&text, 1, "main");
    for (int i = 0; i < 3; i++) {
        runlog_op(&text, "%0 = \"ttnn.get_device\"() : () -> !ttnn.device loc(unknown)");
        runlog_block(&text, "GetDeviceOp", i > 0 ? 65536 : 0, BANK - (i > 0 ? 65536 : 0));
    }
    read_text();
    T_EQ(steps[0].unnamed_bytes[TTS_POOL_DRAM], 65536);
    T_EQ(finals[0][TTS_POOL_DRAM].differing, 1);
    T_EQ(finals[0][TTS_POOL_DRAM].compared, 3);
    T_EQ(finals[0][TTS_POOL_DRAM].drift_line, steps[1].block_line);
    T_EQ(owned[TTS_OPOWNER_UNATTRIBUTED], 65536);
}

T_TEST(an_operation_that_returns_its_operand_takes_nothing)
{
    runlog_begin(&text);
    runlog_program(&text, 1, "main");
    runlog_op(&text, "%1 = \"ttnn.full\"(%0) : (!ttnn.device) -> " FOUR " loc(unknown)");
    runlog_block(&text, "FullOp", 0, BANK);
    runlog_op(&text, "%2 = \"ttnn.reshape\"(%1) : (" FOUR ") -> " FOUR " loc(unknown)");
    runlog_block(&text, "ReshapeOp", 8192, BANK - 8192);
    runlog_op(&text, "\"ttnn.deallocate\"(%1) : (" FOUR ") -> () loc(unknown)");
    runlog_block(&text, "DeallocateOp", 8192, BANK - 8192);
    runlog_op(&text, "\"ttnn.deallocate\"(%2) : (" FOUR ") -> () loc(unknown)");
    runlog_block(&text, "DeallocateOp", 8192, BANK - 8192);
    runlog_op(&text, "%3 = \"ttnn.get_device\"() : () -> !ttnn.device loc(unknown)");
    runlog_block(&text, "GetDeviceOp", 0, BANK);
    read_text();
    T_EQ(finals[0][TTS_POOL_DRAM].differing, 0);
    T_EQ(used_before(3), 8192);
    T_EQ(used_before(4), 0);
}

T_TEST(ranks_are_kept_apart)
{
    runlog_begin(&text);
    static const char *const prefixes[] = {"[1,0]<stdout>:", "[1,1]<stdout>: "};
    for (int i = 0; i < 4; i++) {
        text.rank = prefixes[i % 2];
        text.has_colours = i / 2;
        runlog_op(&text,
                  i < 2 ? "%1 = \"ttnn.full\"(%0) : (!ttnn.device) -> " FOUR " loc(unknown)"
                        : "%2 = \"ttnn.get_device\"() : () -> !ttnn.device loc(unknown)");
        runlog_block(&text, "XOp", i < 2 ? 0 : 8192, i < 2 ? BANK : BANK - 8192);
    }
    read_text();
    T_EQ(facts.ranks, 2);
    T_STR_EQ(rank_names[0], "1,0");
    T_STR_EQ(rank_names[1], "1,1");
    T_EQ(step_count, 4);
    for (size_t i = 0; i < step_count; i++)
        T_EQ(used_before(i), steps[i].index == 0 ? 0 : 8192);
}

T_TEST(noise_between_the_lines_of_a_block_does_no_harm)
{
    runlog_begin(&text);
    runlog_op(&text, "%1 = \"ttnn.full\"(%0) : (!ttnn.device) -> " FOUR " loc(unknown)");
    runlog_prefix(&text, "Always", "INFO");
    runlog_raw(&text, "Device memory state before operation FullOp\n");
    runlog_raw(&text, "Loading:  10%%|#         |\rLoading:  20%%|##        |\r");
    runlog_view(&text, "DRAM", 12, BANK, 4096, BANK);
    runlog_raw(&text, "user prints | something\n");
    runlog_view(&text, "TRACE", 12, 0, 0, 0);
    runlog_raw(&text, "(EngineCore pid=230) INFO 10:00:00 ok\n");
    runlog_view(&text, "L1", 64, 1048576, 0, 1048576);
    runlog_view(&text, "L1_SMALL", 64, 65536, 0, 65536);
    read_text();
    T_EQ(facts.ranks, 1);
    T_EQ(step_count, 1);
    T_EQ(steps[0].before.known, 15);
    T_EQ(steps[0].before.pools[TTS_POOL_DRAM].allocated_bytes, 4194);
}

T_TEST(a_program_level_block_is_no_operation)
{
    runlog_begin(&text);
    runlog_prefix(&text, "Always", "INFO");
    runlog_raw(&text, "Device memory state before submit\n");
    runlog_views(&text, 4096, BANK - 4096);
    runlog_program(&text, 1, "main");
    runlog_op(&text, "%1 = \"ttnn.full\"(%0) : (!ttnn.device) -> " FOUR " loc(unknown)");
    runlog_op(&text, "\"ttnn.deallocate\"(%1) : (" FOUR ") -> () loc(unknown)");
    runlog_op(&text, "%2 = \"ttnn.full\"(%0) : (!ttnn.device) -> " ONE " loc(unknown)");
    runlog_program(&text, 0, "main");
    runlog_prefix(&text, "Always", "INFO");
    runlog_raw(&text, "Device memory state after submit\n");
    runlog_views(&text, 6144, BANK - 6144);
    read_text();
    T_EQ(step_count, 5);
    T_TRUE(steps[0].is_submit && !steps[0].is_after);
    T_TRUE(steps[4].is_submit && steps[4].is_after);
    T_EQ(steps[1].index, 0);
    T_EQ(steps[3].index, 2);
    T_EQ(used_before(2), 4192 + 8192); /* 0.004 MB, rounded to 32 bytes */
    T_EQ(finals[0][TTS_POOL_DRAM].differing, 0);
}

T_TEST(a_log_may_be_cut_at_every_byte)
{
    static struct runlog_text whole;
    runlog_begin(&whole);
    whole.has_colours = 1;
    write_add(&whole, 1);
    write_cached(&whole, "%5", 1);
    for (size_t len = 0; len <= whole.len; len++) {
        T_EQ(read_log(whole.text, len), TTS_E_NOT_FOUND);
        for (size_t i = 0; i < step_count; i++)
            T_EQ(steps[i].index, i);
    }
    T_EQ(step_count, 8);
}

T_TEST(a_line_of_more_than_a_mebibyte_is_cut)
{
    size_t len = (3 << 20) + 100;
    char *bytes = malloc(len);
    T_TRUE(bytes != NULL);
    runlog_begin(&text);
    runlog_op(&text, "%1 = \"ttnn.full\"(%0) : (!ttnn.device) -> " FOUR " loc(unknown)");
    size_t begin = text.len - 1;
    memset(bytes, 'x', len);
    memcpy(bytes, text.text, begin);
    bytes[len - 1] = '\n';
    T_EQ(read_log(bytes, len), TTS_E_NOT_FOUND);
    T_EQ(step_count, 1);
    T_EQ(facts.cut_lines, 1);
    memset(bytes, 'x', len);
    T_EQ(read_log(bytes, len), TTS_E_NOT_FOUND);
    T_EQ(step_count, 0);
    free(bytes);
}
