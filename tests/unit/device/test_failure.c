/* Tests the messages of the runtime, with numbers from reports. */
#include "harness/t.h"
#include "ttscope/failure.h"

#include <string.h>

static void says(struct tts_failure failure, const char *text)
{
    char out[TTS_FAILURE_TEXT_MAX];
    memset(out, 'x', sizeof out);
    T_TRUE(tts_failure_text(&failure, out) == out);
    T_STR_EQ(out, text);
}

/* The numbers are from tenstorrent/tt-xla#4130. */
static const struct tts_failure fragmented = {.kind = TTS_FAILURE_SPACE,
                                              .pool = TTS_POOL_DRAM,
                                              .requested_bytes = 58720256,
                                              .banks = 12,
                                              .need_bytes = 4894720,
                                              .block_bytes = 4894720,
                                              .bank_bytes = 1071821792,
                                              .taken_bytes = 888424448,
                                              .free_bytes = 183397344,
                                              .largest_free_bytes = 3382944};

T_TEST(a_full_pool_says_what_was_asked_for_and_what_was_left)
{
    says(fragmented,
         "Out of Memory: Not enough space to allocate 58720256 B DRAM buffer across "
         "12 banks, where each bank needs to store 4894720 B, but bank size is "
         "1071821792 B (allocated: 888424448 B, free: 183397344 B, largest free "
         "block: 3382944 B)");
    T_EQ(tts_failure_deficit(&fragmented), 1511776);
}

T_TEST(a_buffer_larger_than_a_bank_can_miss_more_than_32_bits_hold)
{
    /* The numbers are from tenstorrent/tt-xla#4040; the size is computed from the banks. */
    struct tts_failure never = {.kind = TTS_FAILURE_SPACE,
                                .pool = TTS_POOL_DRAM,
                                .requested_bytes = 44493176832,
                                .banks = 8,
                                .need_bytes = 5561647104,
                                .block_bytes = 5561647104,
                                .bank_bytes = 4273390016,
                                .taken_bytes = 2263928320,
                                .free_bytes = 2009461696,
                                .largest_free_bytes = 2002774720};
    says(never,
         "Out of Memory: Not enough space to allocate 44493176832 B DRAM buffer across 8 "
         "banks, where each bank needs to store 5561647104 B, but bank size is "
         "4273390016 B (allocated: 2263928320 B, free: 2009461696 B, largest free "
         "block: 2002774720 B)");
    T_EQ(tts_failure_deficit(&never), 3558872384);
}

T_TEST(the_need_is_printed_before_rounding_and_the_deficit_is_after_it)
{
    /* The pool does not exist on this device. */
    struct tts_failure none = {.kind = TTS_FAILURE_SPACE,
                               .pool = TTS_POOL_L1_SMALL,
                               .requested_bytes = 1760,
                               .banks = 110,
                               .need_bytes = 16,
                               .block_bytes = 64};
    says(none, "Out of Memory: Not enough space to allocate 1760 B L1_SMALL buffer across 110 "
               "banks, where each bank needs to store 16 B, but bank size is 0 B (allocated: 0 "
               "B, free: 0 B, largest free block: 0 B)");
    T_EQ(tts_failure_deficit(&none), 64);
}

T_TEST(every_pool_has_its_name_in_the_sentence)
{
    static const char *const names[] = {" B DRAM buffer ", " B L1 buffer ",
                                        " B L1_SMALL buffer ", " B TRACE buffer "};
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        struct tts_failure f = {.kind = TTS_FAILURE_SPACE, .pool = (enum tts_pool)pool};
        char out[TTS_FAILURE_TEXT_MAX];
        T_TRUE(strstr(tts_failure_text(&f, out), names[pool]) != NULL);
    }
}

T_TEST(what_other_allocators_hold_is_named_as_dependencies)
{
    struct tts_failure f = fragmented;
    f.kind = TTS_FAILURE_DEPENDENCY;
    f.pool = TTS_POOL_L1;
    says(f, "Out of Memory: Not enough space after considering dependencies to allocate "
            "58720256 B L1 across 12 banks (4894720 B per bank), bank size is 1071821792 B "
            "(allocated: 888424448 B, free: 183397344 B, largest free block: 3382944 B)");
    /* A failure does not hold the ranges of other allocators, so the deficit is unknown. */
    T_TRUE(!tts_failure_deficit_is_known(&f));
    T_EQ(tts_failure_deficit(&f), 0);
}

T_TEST(a_trace_that_lies_too_low_names_the_marks_it_is_below)
{
    struct tts_failure f = {.kind = TTS_FAILURE_TRACE_OVERLAP,
                            .address = 1000,
                            .taken_end = 3000,
                            .given_end = 2000,
                            .limit = 500};
    says(f, "Trace buffer at address 1000 overlaps with DRAM activity during trace capture. "
            "Allocation high water mark: 3000, Deletion high water mark: 2000. Reduce "
            "allocations during trace capture or set a non-zero trace_region_size.");
    T_EQ(tts_failure_deficit(&f), 2000);
    f.taken_end = 1000;
    says(f, "Trace buffer at address 1000 overlaps with buffers deallocated during trace "
            "capture (deletion high water mark: 2000). Avoid deallocating DRAM buffers during "
            "trace capture or set a non-zero trace_region_size.");
    f.taken_end = 1001;
    f.given_end = 0;
    says(f, "Trace buffer at address 1000 overlaps with buffers allocated during trace capture "
            "(allocation high water mark: 1001). Reduce allocations during trace capture or "
            "set a non-zero trace_region_size.");
    f.taken_end = 0;
    f.limit = 1500;
    says(f, "Trace buffer at address 1000 overlaps with DRAM activity captured by another live "
            "trace (maximum live trace high water mark: 1500). Release the existing trace "
            "before capturing this trace or set a non-zero trace_region_size.");
    T_EQ(tts_failure_deficit(&f), 500);
}

T_TEST(a_block_below_the_limit_names_the_limit_first)
{
    struct tts_failure f = {.kind = TTS_FAILURE_BELOW_LIMIT,
                            .pool = TTS_POOL_L1,
                            .address = 524288,
                            .limit = 786432};
    says(f, "Out of Memory: Cannot allocate at an address below 786432. Allocation at 524288");
    T_EQ(tts_failure_deficit(&f), 262144);
}

T_TEST(circular_buffers_beyond_l1_name_the_range_and_both_ends)
{
    struct tts_failure f = {.kind = TTS_FAILURE_CB_BEYOND,
                            .pool = TTS_POOL_L1,
                            .range = {0, 0, 10, 9},
                            .region_end = 2497408,
                            .l1_bytes = 1572864};
    says(f,
         "Statically allocated circular buffers on core range [0-0 - 10-9] grow to 2497408 B "
         "which is beyond max L1 size of 1572864 B");
    T_EQ(tts_failure_deficit(&f), 924544);
}

T_TEST(circular_buffers_in_l1_buffers_name_program_range_and_addresses)
{
    /* The numbers are from tenstorrent/tt-xla#5206. */
    struct tts_failure f = {.kind = TTS_FAILURE_CB_CLASH,
                            .pool = TTS_POOL_L1,
                            .program_id = 350188,
                            .range = {0, 0, 7, 7},
                            .l1_address = 104448,
                            .region_end = 107936};
    says(f, "Statically allocated circular buffers in program 350188 clash with L1 buffers on "
            "core range [0-0 - 7-7]. L1 buffer allocated at 104448 and static circular buffer "
            "region ends at 107936");
    T_EQ(tts_failure_deficit(&f), 3488);
}

T_TEST(the_corners_of_a_range_are_column_then_row)
{
    struct tts_failure f = {.kind = TTS_FAILURE_CB_BEYOND, .range = {1, 2, 3, 4}};
    char out[TTS_FAILURE_TEXT_MAX];
    T_TRUE(strstr(tts_failure_text(&f, out), " [1-2 - 3-4] ") != NULL);
}

T_TEST(a_trace_sentence_ends_with_a_full_stop)
{
    struct tts_failure f = {.kind = TTS_FAILURE_TRACE,
                            .pool = TTS_POOL_TRACE,
                            .requested_bytes = 7929856,
                            .mesh_id = 3,
                            .trace_bytes = 2097152};
    says(f, "Creating trace buffers of size 7929856B on MeshDevice 3, but only 2097152B is "
            "allocated for trace region.");
    T_EQ(tts_failure_deficit(&f), 5832704);
}

T_TEST(no_failure_says_nothing_and_misses_nothing)
{
    struct tts_failure f = fragmented;
    f.kind = TTS_FAILURE_NONE;
    says(f, "");
    T_EQ(tts_failure_deficit(&f), 0);
}

static const enum tts_failure_kind kinds[] = {TTS_FAILURE_SPACE,        TTS_FAILURE_DEPENDENCY,
                                              TTS_FAILURE_BELOW_LIMIT,  TTS_FAILURE_CB_BEYOND,
                                              TTS_FAILURE_CB_CLASH,     TTS_FAILURE_TRACE,
                                              TTS_FAILURE_TRACE_OVERLAP};

T_TEST(the_largest_numbers_are_not_cut_off)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct tts_failure f;
        memset(&f, 0xff, sizeof f);
        f.kind = kinds[i];
        f.pool = TTS_POOL_L1_SMALL;
        char out[TTS_FAILURE_TEXT_MAX];
        size_t length = strlen(tts_failure_text(&f, out));
        T_TRUE(length < TTS_FAILURE_TEXT_MAX - 1);
        T_TRUE(strstr(out, "18446744073709551615") != NULL);
        T_EQ(tts_failure_deficit(&f), 0);
    }
}

T_TEST(what_would_have_fitted_misses_nothing)
{
    const struct tts_failure base = {
        .requested_bytes = 10, .block_bytes = 10, .limit = 10, .region_end = 10};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct tts_failure f = base;
        f.kind = kinds[i];
        bool is_counted = f.kind != TTS_FAILURE_NONE && f.kind != TTS_FAILURE_DEPENDENCY;
        T_EQ(tts_failure_deficit_is_known(&f), is_counted);
        if (!is_counted)
            continue;
        T_EQ(tts_failure_deficit(&f), 10);
        f.largest_free_bytes = f.address = f.l1_bytes = f.l1_address = f.trace_bytes = 9;
        T_EQ(tts_failure_deficit(&f), 1);
        f.largest_free_bytes = f.address = f.l1_bytes = f.l1_address = f.trace_bytes = 11;
        T_EQ(tts_failure_deficit(&f), 0);
        T_TRUE(!tts_failure_deficit_is_known(&f)); /* the numbers do not explain the failure */
    }
}

T_TEST(every_kind_has_a_name)
{
    static const char *const names[] = {"none",      "space", "dependency",   "below_limit",
                                        "beyond_l1", "clash", "trace_region", "trace_overlap"};
    for (unsigned kind = 0; kind <= TTS_FAILURE_TRACE_OVERLAP; kind++)
        T_STR_EQ(tts_failure_kind_name((enum tts_failure_kind)kind), names[kind]);
    T_STR_EQ(tts_failure_kind_name((enum tts_failure_kind)(TTS_FAILURE_TRACE_OVERLAP + 1)),
             "other");
    T_STR_EQ(tts_failure_kind_name((enum tts_failure_kind)UINT32_MAX), "other");
}

T_TEST(details_that_are_unknown_are_not_zeros)
{
    struct tts_failure failure = {
        .kind = TTS_FAILURE_SPACE, .pool = TTS_POOL_L1, .requested_bytes = 4096};
    char text[TTS_FAILURE_TEXT_MAX];
    T_STR_EQ(tts_failure_text(&failure, text),
             "Out of Memory: Not enough space to allocate 4096 B L1 buffer (details unknown)");
    T_TRUE(!tts_failure_deficit_is_known(&failure));
}
