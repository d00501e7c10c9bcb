#include "analysis/whatif.h"
#include "harness/t.h"
#include "harness/whatif_rig.h"

#define BANK UINT64_C(1070773184) /* bytes of DRAM in each of the 12 banks of an n150 */

T_TEST(what_fits_exactly_passes_and_one_page_more_does_not)
{
    struct rig rig = rig_on("n150");
    alloc_in(&rig, TTS_POOL_DRAM, 1, 12 * BANK, 32);
    T_EQ(tts_whatif_failures(rig.whatif), 0);
    T_TRUE(tts_whatif_first(rig.whatif) == NULL);
    struct tts_whatif_pool dram = pool_of(&rig, TTS_POOL_DRAM);
    T_TRUE(dram.stats.peak_bytes == BANK && dram.peak_seq == 1 && dram.failures == 0);
    struct tts_whatif_found found = smallest(&rig);
    T_TRUE(found.found && found.is_least && found.bank_bytes == BANK && found.runs == 1);

    alloc_in(&rig, TTS_POOL_DRAM, 2, 2048, 2048);
    T_EQ(tts_whatif_failures(rig.whatif), 1);
    says_first(&rig, "Out of Memory: Not enough space to allocate 2048 B DRAM buffer across 12 "
                     "banks, where each bank needs to store 2048 B, but bank size is "
                     "1070773184 B (allocated: 1070773184 B, free: 0 B, largest free block: 0 "
                     "B)");
    dram = pool_of(&rig, TTS_POOL_DRAM);
    T_TRUE(dram.failures == 1 && dram.deficit_bytes == 2048 && dram.deficit_seq == 2);
    T_EQ(dram.stats.peak_bytes, BANK + 2048);
    found = smallest(&rig);
    T_TRUE(found.found && found.is_least && found.bank_bytes == BANK + 2048);
    tts_whatif_free(rig.whatif);
}

T_TEST(the_first_failure_says_what_when_where_and_what_lived)
{
    struct tts_chip chip = small_chip(16384);
    struct rig rig = rig_with(&chip, true);
    for (uint64_t i = 1; i <= 3; i++) {
        struct tts_event *event = alloc_event(&rig, TTS_POOL_DRAM, i, i * 2048 * 12, 2048);
        event->device = 7;
        rig.item.has_time = true;
        rig.item.time_ns = 1000 + 10 * i;
        rig.item.op = (struct tts_item_op){tts_opnames_hash("matmul", 6), "matmul", 6};
        feed(&rig);
    }
    struct tts_event *event = alloc_event(&rig, TTS_POOL_DRAM, 9, 3 * 2048 * 12, 2048);
    event->device = 7;
    rig.item.has_time = true;
    rig.item.time_ns = 1099;
    rig.item.op = (struct tts_item_op){tts_opnames_hash("add", 3), "add", 3};
    feed(&rig);
    event = alloc_event(&rig, TTS_POOL_DRAM, 10, 1, 1);
    event->device = 7;
    feed(&rig);
    const struct tts_whatif_failure *first = tts_whatif_first(rig.whatif);
    T_TRUE(first->kind == TTS_WHATIF_REFUSED && first->seq == 4 && first->device == 7);
    T_TRUE(first->has_time && first->time_ns == 1099 && first->pool == TTS_POOL_DRAM);
    T_TRUE(first->id == 9 && first->size_bytes == 3 * 2048 * 12);
    T_STR_EQ(first->op, "add");
    T_EQ(first->failure.largest_free_bytes, 4096);
    T_TRUE(first->live == 3 && first->live_bytes == 6 * 2048 && first->top_count == 3);
    for (size_t i = 0; i < 3; i++) {
        T_EQ(first->top[i].id, 3 - i);
        T_EQ(first->top[i].seq, 3 - i);
        T_EQ(first->top[i].block_bytes, (3 - i) * 2048);
        T_EQ(first->top[i].size_bytes, (3 - i) * 2048 * 12);
        T_TRUE(first->top[i].is_placed);
        T_STR_EQ(first->top[i].op, "matmul");
    }
    T_EQ(tts_whatif_failures(rig.whatif), 1); /* the last request fits again */
    T_EQ(tts_whatif_device_id(rig.whatif, 0), 7);
    tts_whatif_free(rig.whatif);
}

T_TEST(of_many_that_lived_the_largest_are_told_the_older_first)
{
    struct tts_chip chip = small_chip(20 * 2048);
    struct rig rig = rig_with(&chip, false);
    for (uint64_t i = 1; i <= 12; i++)
        rows(&rig, i, i == 5 ? 3 : 1);
    rows(&rig, 13, 7);
    const struct tts_whatif_failure *first = tts_whatif_first(rig.whatif);
    T_TRUE(first->live == 12 && first->live_bytes == 14 * 2048);
    T_EQ(first->top_count, TTS_WHATIF_TOP);
    static const uint64_t ids[] = {5, 1, 2, 3, 4, 6, 7, 8, 9, 10};
    for (size_t i = 0; i < TTS_WHATIF_TOP; i++)
        T_EQ(first->top[i].id, ids[i]);
    T_TRUE(!tts_whatif_has_steps(rig.whatif));
    tts_whatif_free(rig.whatif);
}

/* Two pages are free, but not adjacent. */
T_TEST(fragmentation_fails_though_enough_is_free_and_needs_more_than_the_peak)
{
    struct tts_chip chip = small_chip(4 * 2048);
    struct rig rig = rig_with(&chip, true);
    for (uint64_t i = 1; i <= 4; i++)
        rows(&rig, i, 1);
    free_row(&rig, 1);
    free_row(&rig, 3);
    rows(&rig, 5, 2);
    T_EQ(counts_of(&rig)->failed_buffers, 1);
    T_EQ(rig.counts.fragmented, 1);
    struct tts_whatif_pool dram = pool_of(&rig, TTS_POOL_DRAM);
    T_TRUE(dram.stats.peak_bytes == 4 * 2048 && dram.deficit_bytes == 2048);
    struct tts_whatif_found found = smallest(&rig);
    T_TRUE(found.found && !found.is_least);
    T_EQ(found.bank_bytes, 6 * 2048);
    bool passes = true;
    T_EQ(tts_whatif_try(rig.whatif, 6 * 2048 - 32, &passes, NULL), TTS_OK);
    T_TRUE(!passes);
    tts_whatif_free(rig.whatif);
}

T_TEST(what_is_freed_in_between_makes_room)
{
    struct tts_chip chip = small_chip(4 * 2048);
    struct rig rig = rig_with(&chip, true);
    for (uint64_t i = 1; i <= 100; i++) {
        rows(&rig, i, 3);
        free_row(&rig, i);
    }
    T_EQ(tts_whatif_failures(rig.whatif), 0);
    struct tts_whatif_pool dram = pool_of(&rig, TTS_POOL_DRAM);
    T_TRUE(dram.stats.peak_bytes == 3 * 2048 && dram.peak_seq == 1);
    T_EQ(dram.stats.space.taken_bytes, 0);
    T_EQ(smallest(&rig).bank_bytes, 3 * 2048);
    T_EQ(counts_of(&rig)->frees, 100);
    T_EQ(rig.counts.unknown_frees, 0);
    tts_whatif_free(rig.whatif);
}

/* The recording lacks a free, and has frees of buffers that are unknown. */
T_TEST(an_id_that_is_given_again_frees_what_it_named)
{
    struct tts_chip chip = small_chip(4 * 2048);
    struct rig rig = rig_with(&chip, true);
    rows(&rig, 1, 3);
    rows(&rig, 1, 4);
    free_row(&rig, 2);
    free_row(&rig, 1);
    free_row(&rig, 1);
    rows(&rig, 3, 0);
    T_EQ(tts_whatif_failures(rig.whatif), 0);
    T_EQ(counts_of(&rig)->unknown_frees, 2);
    T_TRUE(rig.counts.allocations == 3 && rig.counts.events == 6);
    T_EQ(smallest(&rig).bank_bytes, 4 * 2048);
    tts_whatif_free(rig.whatif);
}

T_TEST(what_failed_is_counted_until_it_is_freed)
{
    struct tts_chip chip = small_chip(4 * 2048);
    struct rig rig = rig_with(&chip, true);
    rows(&rig, 1, 3);
    rows(&rig, 2, 5);
    T_EQ(pool_of(&rig, TTS_POOL_DRAM).stats.unplaced_bytes, 5 * 2048);
    free_row(&rig, 2);
    rows(&rig, 3, 1);
    struct tts_whatif_pool dram = pool_of(&rig, TTS_POOL_DRAM);
    T_TRUE(dram.stats.unplaced_bytes == 0 && dram.stats.space.taken_bytes == 4 * 2048);
    T_EQ(dram.stats.peak_bytes, 8 * 2048);
    T_EQ(tts_whatif_failures(rig.whatif), 1);
    T_EQ(smallest(&rig).bank_bytes, 8 * 2048);
    tts_whatif_free(rig.whatif);
}

T_TEST(the_most_that_any_lacked_is_told_of_all_failures)
{
    struct tts_chip chip = small_chip(4 * 2048);
    struct rig rig = rig_with(&chip, false);
    static const uint64_t pages[] = {5, 9, 6}; /* these exceed the free pages by 1, 5 and 2 */
    for (uint64_t i = 0; i < 3; i++) {
        rows(&rig, i, pages[i]);
        free_row(&rig, i);
    }
    struct tts_whatif_pool dram = pool_of(&rig, TTS_POOL_DRAM);
    T_TRUE(dram.failures == 3 && dram.deficit_bytes == 5 * 2048 && dram.deficit_seq == 3);
    T_EQ(tts_whatif_first(rig.whatif)->seq, 1);
    alloc_event(&rig, TTS_POOL_DRAM, 9, 20 * 2048 * 12, 2048)->device = 1;
    feed(&rig); /* the failures of both devices are added; the largest deficit counts */
    dram = pool_of(&rig, TTS_POOL_DRAM);
    T_TRUE(dram.failures == 4 && dram.deficit_bytes == 16 * 2048 && dram.deficit_seq == 7);
    tts_whatif_free(rig.whatif);
}

/* The unplaced buffers add up to more than 2^63 - 1 bytes. The requests beyond this limit count
 * in failed_requests, not in failed_cores. */
T_TEST(what_cannot_even_be_counted_is_a_failure_of_another_kind)
{
    struct rig rig = rig_on("n150");
    const uint64_t huge = UINT64_C(1) << 52;
    for (uint64_t i = 1; i <= 2050; i++)
        alloc_in(&rig, TTS_POOL_DRAM, i, huge, huge);
    T_TRUE(counts_of(&rig)->failed_requests > 0 && rig.counts.failed_cores == 0);
    T_EQ(rig.counts.failed_buffers + rig.counts.failed_requests, 2050);
    for (uint64_t i = 1; i <= 2050; i++)
        free_row(&rig, i);
    T_EQ(counts_of(&rig)->unknown_frees, 0);
    T_EQ(pool_of(&rig, TTS_POOL_DRAM).stats.unplaced_bytes, 0);
    tts_whatif_free(rig.whatif);
}

T_TEST(every_device_has_its_own_and_chips_share_that_of_their_mesh)
{
    struct tts_chip chip = small_chip(4 * 2048);
    struct rig rig = rig_with(&chip, true);
    chip_of_mesh(&rig, 0, 8);
    chip_of_mesh(&rig, 1, 8);
    /* Device 8 is the mesh, 0 and 1 are its chips, and 3 is another device. */
    static const uint32_t devices[] = {8, 0, 1, 3};
    for (size_t i = 0; i < 4; i++) {
        struct tts_event *event = alloc_event(&rig, TTS_POOL_DRAM, 1, 2 * 2048 * 12, 2048);
        event->device = devices[i];
        feed(&rig);
    }
    T_EQ(tts_whatif_devices(rig.whatif), 2);
    T_TRUE(tts_whatif_device_id(rig.whatif, 0) == 8 &&
           tts_whatif_device_id(rig.whatif, 1) == 3);
    T_EQ(tts_whatif_failures(rig.whatif), 1); /* the third request on the mesh */
    T_EQ(tts_whatif_first(rig.whatif)->seq, 3);
    struct tts_whatif_pool mesh, other;
    T_TRUE(tts_whatif_get_pool(rig.whatif, 0, TTS_POOL_DRAM, &mesh));
    T_TRUE(tts_whatif_get_pool(rig.whatif, 1, TTS_POOL_DRAM, &other));
    T_TRUE(mesh.stats.peak_bytes == 6 * 2048 && other.stats.peak_bytes == 2 * 2048);
    T_TRUE(!tts_whatif_get_pool(rig.whatif, 0, TTS_POOL_TRACE, &other));
    T_EQ(pool_of(&rig, TTS_POOL_DRAM).stats.peak_bytes, 6 * 2048);
    T_EQ(smallest(&rig).bank_bytes, 6 * 2048);
    struct tts_buffer buffer;
    T_TRUE(tts_whatif_find(rig.whatif, 1, 1, &buffer) && !buffer.placed);
    T_TRUE(tts_whatif_find(rig.whatif, 3, 1, &buffer) && buffer.placed);
    T_TRUE(!tts_whatif_find(rig.whatif, 2, 1, &buffer));
    tts_whatif_free(rig.whatif);
}

/* A mesh of itself, a mesh of a chip, and a chip that has chips are ignored. */
T_TEST(meshes_that_cannot_be_are_passed_over)
{
    struct rig rig = rig_on("n150");
    chip_of_mesh(&rig, 4, 4);
    chip_of_mesh(&rig, 0, 8);
    chip_of_mesh(&rig, 1, 0);
    chip_of_mesh(&rig, 8, 9);
    for (uint32_t device = 0; device < 10; device++) {
        alloc_event(&rig, TTS_POOL_DRAM, 1, 2048, 2048)->device = device;
        feed(&rig);
    }
    T_EQ(tts_whatif_devices(rig.whatif), 9); /* devices 0 and 8 share one modelled device */
    struct tts_buffer first, second;
    T_TRUE(tts_whatif_find(rig.whatif, 0, 1, &first));
    T_TRUE(tts_whatif_find(rig.whatif, 8, 1, &second) && second.address > first.address);
    T_TRUE(tts_whatif_find(rig.whatif, 9, 1, &second) && second.address == first.address);
    tts_whatif_free(rig.whatif);
}

T_TEST(one_device_too_many_is_refused)
{
    struct rig rig = rig_on("n150");
    for (uint32_t device = 0; device < TTS_WHATIF_DEVICES_MAX; device++) {
        alloc_event(&rig, TTS_POOL_DRAM, 1, 2048, 2048)->device = device;
        feed(&rig);
    }
    alloc_event(&rig, TTS_POOL_DRAM, 1, 2048, 2048)->device = TTS_WHATIF_DEVICES_MAX;
    T_EQ(tts_whatif_item(rig.whatif, &rig.item, &rig.err), TTS_E_RANGE);
    T_STR_EQ(rig.err.text, "the file has too many devices: the maximum is 256");
    tts_whatif_free(rig.whatif);
}

/* ---- other pools ---- */

T_TEST(traces_go_where_the_device_has_room_for_them)
{
    struct tts_chip chip = chip_of("n150");
    struct rig rig = rig_with(&chip, true);
    just(&rig, TTS_EVENT_TRACE_BEGIN, 0);
    alloc_in(&rig, TTS_POOL_TRACE, 1, 1 << 20, 1024);
    just(&rig, TTS_EVENT_TRACE_END, 0);
    struct tts_buffer buffer;
    T_TRUE(tts_whatif_find(rig.whatif, 0, 1, &buffer));
    /* The buffer was allocated from the top. */
    T_TRUE(buffer.pool == TTS_POOL_DRAM && buffer.address > 1000000000);
    T_TRUE(smallest(&rig).found);
    free_in(&rig, TTS_POOL_TRACE, 1);
    T_EQ(pool_of(&rig, TTS_POOL_DRAM).stats.space.taken_bytes, 0);
    tts_whatif_free(rig.whatif);

    set(&chip, "trace_region", "1M");
    rig = rig_with(&chip, true);
    alloc_in(&rig, TTS_POOL_TRACE, 1, 1 << 19, 1024);
    T_TRUE(tts_whatif_find(rig.whatif, 0, 1, &buffer) && buffer.pool == TTS_POOL_TRACE);
    alloc_in(&rig, TTS_POOL_TRACE, 2, 1 << 20, 1024);
    T_TRUE(tts_whatif_first(rig.whatif)->failure.kind == TTS_FAILURE_TRACE);
    T_EQ(tts_whatif_first(rig.whatif)->pool, TTS_POOL_TRACE);
    tts_whatif_free(rig.whatif);
}

T_TEST(a_pool_of_no_bytes_refuses_and_is_told_of)
{
    struct rig rig = rig_on("n150");
    struct tts_event *event = alloc_event(&rig, TTS_POOL_L1_SMALL, 1, 8 * 512, 512);
    event->cores = 8;
    event->bytes_per_bank = 512;
    feed(&rig);
    T_EQ(counts_of(&rig)->failed_buffers, 1);
    struct tts_whatif_pool small = pool_of(&rig, TTS_POOL_L1_SMALL);
    T_TRUE(small.layout.banks == 0 && small.failures == 1 && small.deficit_bytes == 512);
    T_TRUE(small.stats.peak_bytes == 512 && small.peak_seq == 1);
    free_in(&rig, TTS_POOL_L1_SMALL, 1);
    T_EQ(pool_of(&rig, TTS_POOL_L1_SMALL).stats.unplaced_bytes, 0);
    tts_whatif_free(rig.whatif);
}

T_TEST(what_needs_more_cores_than_there_are_fails_in_words_of_its_own)
{
    struct rig rig = rig_on("n150");
    struct tts_event *event = alloc_event(&rig, TTS_POOL_L1, 1, 80 * 2048, 2048);
    event->cores = 80;
    feed(&rig);
    event = alloc_event(&rig, TTS_POOL_DRAM, 2, 16 * 2048, 2048);
    event->cores = 16;
    feed(&rig);
    T_TRUE(counts_of(&rig)->failed_cores == 2 && rig.counts.failed_buffers == 0);
    T_EQ(tts_whatif_first(rig.whatif)->kind, TTS_WHATIF_CORES);
    says_first(&rig, "the buffer needs 80 cores, but the grid has 64");
    T_EQ(pool_of(&rig, TTS_POOL_L1).stats.peak_bytes, 0);
    free_in(&rig, TTS_POOL_L1, 1);
    T_EQ(counts_of(&rig)->unknown_frees, 0);
    tts_whatif_free(rig.whatif);
}

T_TEST(buffers_of_single_cores_are_not_run)
{
    struct rig rig = rig_on("n150");
    static const struct tts_core_range one;
    struct tts_event *event = alloc_event(&rig, TTS_POOL_L1, 1, 2048, 2048);
    event->ranges = &one;
    event->range_count = 1;
    feed(&rig);
    free_in(&rig, TTS_POOL_L1, 1);
    T_TRUE(counts_of(&rig)->single_core == 1 && rig.counts.unknown_frees == 0);
    T_EQ(pool_of(&rig, TTS_POOL_L1).stats.peak_bytes, 0);
    tts_whatif_free(rig.whatif);
}

/* Tries a chip where the request fits and one where it does not. */
T_TEST(a_request_of_dram_that_was_refused_is_tried_and_nothing_of_it_stays)
{
    static const struct tts_failure failure = {.kind = TTS_FAILURE_SPACE,
                                               .pool = TTS_POOL_DRAM,
                                               .requested_bytes = UINT64_C(20) << 30};
    static const char *const chips[] = {"p150", "n150"};
    for (int i = 0; i < 2; i++) {
        struct rig rig = rig_on(chips[i]);
        event_item(&rig, TTS_EVENT_FAILURE, 0)->event.failure = &failure;
        feed(&rig);
        const struct tts_whatif_counts *counts = counts_of(&rig);
        T_TRUE(counts->refused == 1 && counts->retried == 1);
        T_TRUE(counts->allocations == 0 && counts->frees == 0);
        T_EQ(tts_whatif_failures(rig.whatif), i);
        T_EQ(tts_whatif_left_out(rig.whatif), 0);
        T_EQ(pool_of(&rig, TTS_POOL_DRAM).stats.buffers, 0);
        T_TRUE(pool_of(&rig, TTS_POOL_DRAM).stats.peak_bytes > 0);
        T_TRUE(i == 0 || tts_whatif_first(rig.whatif)->id == TTS_WHATIF_NO_ID);
        tts_whatif_free(rig.whatif);
    }
}

T_TEST(a_program_stopped_at_a_refused_request_if_only_frees_and_ends_follow)
{
    static const struct tts_failure failure = {
        .kind = TTS_FAILURE_SPACE, .pool = TTS_POOL_DRAM, .requested_bytes = 4096};
    static const enum tts_event_kind ends[] = {TTS_EVENT_FREE, TTS_EVENT_OP_END,
                                               TTS_EVENT_TRACE_END};
    static const enum tts_item_kind marks[] = {TTS_ITEM_BEGIN, TTS_ITEM_CUT};
    struct rig rig = rig_on("n150");
    rows(&rig, 1, 1);
    T_EQ(tts_whatif_stop(rig.whatif), 0);
    for (size_t i = 0; i < 3; i++) {
        event_item(&rig, TTS_EVENT_FAILURE, 0)->event.failure = &failure;
        feed(&rig);
        uint64_t seq = rig.seq;
        for (size_t k = 0; k < 3; k++) {
            event_item(&rig, ends[k], 0);
            feed(&rig);
        }
        rig.item = (struct tts_item){.kind = TTS_ITEM_END};
        feed(&rig);
        T_EQ(tts_whatif_stop(rig.whatif), seq);
        if (i < 2)
            rig.item = (struct tts_item){.kind = marks[i]};
        else
            event_item(&rig, TTS_EVENT_PROGRAM, 0);
        feed(&rig);
        T_EQ(tts_whatif_stop(rig.whatif), 0);
    }
    tts_whatif_free(rig.whatif);
}

T_TEST(other_requests_that_were_refused_are_left_out)
{
    static const struct tts_failure failures[] = {
        {.kind = TTS_FAILURE_SPACE, .pool = TTS_POOL_L1, .requested_bytes = 4096},
        {.kind = TTS_FAILURE_CB_BEYOND, .pool = TTS_POOL_L1},
        {.kind = TTS_FAILURE_SPACE, .pool = TTS_POOL_DRAM}};
    struct rig rig = rig_on("n150");
    for (size_t i = 0; i < 3; i++) {
        event_item(&rig, TTS_EVENT_FAILURE, 0)->event.failure = &failures[i];
        feed(&rig);
    }
    T_TRUE(counts_of(&rig)->refused == 3 && counts_of(&rig)->retried == 0);
    T_TRUE(tts_whatif_failures(rig.whatif) == 0 && tts_whatif_left_out(rig.whatif) == 3);
    tts_whatif_free(rig.whatif);
}

/* ---- circular buffers ---- */

#define L1_BANK UINT64_C(1393472) /* L1 of one core of an n150 */
static const struct tts_core_range corner = {.x1 = 1, .y1 = 1};

T_TEST(circular_buffers_that_grow_into_l1_buffers_fail)
{
    struct rig rig = rig_on("n150");
    /* This takes 819200 bytes of every core. */
    alloc_in(&rig, TTS_POOL_L1, 1, 64 * 2048 * 400, 2048);
    just(&rig, TTS_EVENT_PROGRAM, 0);
    cb_on(&rig, 0, corner, 500000);
    T_EQ(tts_whatif_failures(rig.whatif), 0);
    cb_on(&rig, 0, corner, 100000);
    T_EQ(tts_whatif_failures(rig.whatif), 0); /* the program is not complete yet */
    free_in(&rig, TTS_POOL_L1, 1);
    const struct tts_whatif_failure *first = tts_whatif_first(rig.whatif);
    T_TRUE(first->kind == TTS_WHATIF_PROGRAM && first->seq == 4 && first->pool == TTS_POOL_L1);
    T_EQ(first->failure.kind, TTS_FAILURE_CB_CLASH);
    T_TRUE(first->live == 1 && first->live_bytes == 819200);
    T_EQ(pool_of(&rig, TTS_POOL_L1).deficit_bytes, tts_failure_deficit(&first->failure));
    just(&rig, TTS_EVENT_PROGRAM, 0);
    cb_on(&rig, 0, corner, 600000);
    tts_whatif_end(rig.whatif);
    T_TRUE(counts_of(&rig)->programs == 2 && rig.counts.failed_programs == 1);
    T_EQ(rig.counts.unchecked, 0);
    tts_whatif_free(rig.whatif);
}

/* A program that continues after its check is still one program. */
T_TEST(a_program_counts_once_however_often_it_is_looked_at)
{
    struct rig rig = rig_on("n150");
    just(&rig, TTS_EVENT_PROGRAM, 0);
    for (int i = 0; i < 4; i++) {
        cb_on(&rig, 0, corner, L1_BANK);
        just(&rig, TTS_EVENT_OP_END, 0);
    }
    T_TRUE(counts_of(&rig)->programs == 1 && rig.counts.failed_programs == 1);
    T_EQ(tts_whatif_first(rig.whatif)->failure.kind, TTS_FAILURE_CB_BEYOND);
    T_EQ(tts_whatif_first(rig.whatif)->seq, 4);
    tts_whatif_free(rig.whatif);
}

T_TEST(the_program_of_a_mesh_counts_once_whatever_its_chips_tell)
{
    struct rig rig = rig_on("n150");
    for (uint32_t i = 0; i < 4; i++)
        chip_of_mesh(&rig, i, 8);
    for (int turn = 0; turn < 2; turn++) {
        just(&rig, TTS_EVENT_PROGRAM, 8);
        for (uint32_t i = 0; i < 4; i++)
            cb_on(&rig, i, corner, 2 * L1_BANK);
    }
    tts_whatif_end(rig.whatif);
    T_TRUE(counts_of(&rig)->programs == 2 && rig.counts.failed_programs == 2);
    T_EQ(tts_whatif_devices(rig.whatif), 1);
    tts_whatif_free(rig.whatif);
}

T_TEST(programs_off_the_grid_are_not_checked_and_views_take_nothing)
{
    struct rig rig = rig_on("n150");
    just(&rig, TTS_EVENT_PROGRAM, 0);
    cb_on(&rig, 0, (struct tts_core_range){.x1 = 12, .y1 = 9}, 4096);
    just(&rig, TTS_EVENT_PROGRAM, 0);
    T_TRUE(counts_of(&rig)->programs == 1 && rig.counts.unchecked == 1);
    struct tts_event *event = &event_item(&rig, TTS_EVENT_CB, 0)->event;
    event->size_bytes = 100 * L1_BANK;
    event->ranges = &corner;
    event->range_count = 1;
    event->borrowed = true;
    feed(&rig);
    tts_whatif_end(rig.whatif);
    T_EQ(counts_of(&rig)->programs, 1);
    event = &event_item(&rig, TTS_EVENT_SCRATCHPAD, 0)->event;
    event->size_bytes = 100 * L1_BANK;
    event->ranges = &corner;
    event->range_count = 1;
    feed(&rig);
    T_TRUE(counts_of(&rig)->other_parts == 1 && rig.counts.programs == 1);
    T_EQ(tts_whatif_failures(rig.whatif), 0);
    tts_whatif_free(rig.whatif);
}

/* ---- beginnings ---- */

static void live_item(struct rig *rig, uint64_t id, uint64_t seq, uint64_t size_bytes)
{
    rig->item = (struct tts_item){.kind = TTS_ITEM_LIVE, .seq = rig->seq};
    rig->item.live = (struct tts_live){
        .id = id, .seq = seq, .size_bytes = size_bytes, .pool = TTS_POOL_DRAM};
    feed(rig);
}

static void keyframe(struct rig *rig, bool begins)
{
    rig->item = (struct tts_item){.kind = begins ? TTS_ITEM_KEYFRAME : TTS_ITEM_KEYFRAME_END,
                                  .seq = rig->seq};
    feed(rig);
}

T_TEST(a_recording_that_starts_in_the_middle_begins_with_what_lived)
{
    struct rig rig = rig_on("n150");
    rig.seq = 100;
    keyframe(&rig, true);
    live_item(&rig, 5, 90, 12 * 4096);
    live_item(&rig, 4, 70, 12 * 2048);
    keyframe(&rig, false);
    rows(&rig, 9, 1);
    struct tts_buffer buffer;
    T_TRUE(tts_whatif_find(rig.whatif, 0, 4, &buffer) && buffer.address == 2968640);
    T_TRUE(tts_whatif_find(rig.whatif, 0, 5, &buffer) && buffer.address == 2968640 + 2048);
    T_TRUE(counts_of(&rig)->earlier == 2 && rig.counts.allocations == 1);
    T_EQ(rig.counts.unknown_pages, 2);
    tts_whatif_free(rig.whatif);
}

T_TEST(events_that_were_missed_are_counted)
{
    struct rig rig = rig_on("n150");
    rig.item = (struct tts_item){.kind = TTS_ITEM_MISSED, .count = 3};
    feed(&rig);
    T_EQ(counts_of(&rig)->missed, 3);
    tts_whatif_free(rig.whatif);
}

T_TEST(a_run_of_dram_alone_passes_over_the_rest)
{
    struct tts_chip chip = small_chip(4 * 2048);
    struct tts_whatif_config config = {.chip = &chip, .dram_only = true};
    struct rig rig = {0};
    T_EQ(tts_whatif_new(&config, NULL, &rig.whatif, &rig.err), TTS_OK);
    alloc_in(&rig, TTS_POOL_L1, 1, 64 * 2048 * 10000, 2048);
    cb_on(&rig, 0, corner, 100 * L1_BANK);
    free_in(&rig, TTS_POOL_L1, 1);
    rows(&rig, 2, 4);
    tts_whatif_end(rig.whatif);
    T_EQ(tts_whatif_failures(rig.whatif), 0);
    rows(&rig, 3, 1);
    T_EQ(tts_whatif_failures(rig.whatif), 1);
    tts_whatif_free(rig.whatif);
}

T_TEST(chips_that_cannot_be_are_refused_at_once)
{
    struct tts_chip chip = chip_of("grayskull");
    struct tts_whatif_config config = {.chip = &chip};
    struct tts_whatif *whatif = NULL;
    struct tts_error err = {0};
    T_EQ(tts_whatif_new(&config, NULL, &whatif, &err), TTS_E_NOT_FOUND);
    T_TRUE(whatif == NULL && err.text[0] != '\0');
}

/* ---- memory ---- */

T_TEST(memory_grows_with_what_lives_not_with_what_happens)
{
    struct tts_chip chip = small_chip(64 * 2048);
    struct tts_whatif_config config = {.chip = &chip};
    struct rig rig = {0};
    struct heap heap;
    uint64_t early = 0;
    heap_init(&heap);
    T_EQ(tts_whatif_new(&config, &heap.alloc, &rig.whatif, &rig.err), TTS_OK);
    for (uint64_t i = 0; i < 20000; i++) {
        if (i >= 8)
            free_row(&rig, i - 8); /* eight buffers live at any time */
        rows(&rig, i, 1);
        if (i == 1000)
            early = heap.live_bytes;
    }
    T_TRUE(early > 0 && heap.live_bytes == early);
    T_EQ(tts_whatif_failures(rig.whatif), 0);
    tts_whatif_free(rig.whatif);
    T_TRUE(heap_is_settled(&heap));
}

/* ---- out of memory ---- */

static enum tts_status small_story(struct heap *heap, uint64_t *answer)
{
    struct tts_chip chip = small_chip(4 * 2048);
    struct tts_whatif_config config = {.chip = &chip, .keeps_steps = true};
    struct rig rig = {0};
    bool passes = false;
    enum tts_status status = tts_whatif_new(&config, &heap->alloc, &rig.whatif, &rig.err);
    for (uint64_t i = 0; i < 6 && status == TTS_OK; i++) {
        if (i == 3)
            event_item(&rig, TTS_EVENT_FREE, 0)->event.id = 1;
        else
            alloc_event(&rig, TTS_POOL_DRAM, i, 2 * 2048 * 12, 2048);
        if (i == 4)
            rig.item.event = (struct tts_event){
                .kind = TTS_EVENT_CB, .size_bytes = 64, .ranges = &corner, .range_count = 1};
        status = tts_whatif_item(rig.whatif, &rig.item, &rig.err);
    }
    if (status == TTS_OK)
        tts_whatif_end(rig.whatif);
    if (status == TTS_OK && tts_whatif_has_steps(rig.whatif))
        status = tts_whatif_try(rig.whatif, 6 * 2048, &passes, &rig.err);
    T_TRUE(status == TTS_OK || rig.err.status == TTS_E_NOMEM);
    *answer = status == TTS_OK ? tts_whatif_failures(rig.whatif) : 0;
    tts_whatif_free(rig.whatif);
    return status;
}

T_TEST(running_out_of_memory_anywhere_is_said_and_leaves_nothing)
{
    struct heap heap;
    uint64_t answer, n = 0;
    for (enum tts_status status = TTS_E_NOMEM; status != TTS_OK; n++) {
        T_TRUE(n < 500);
        heap_init(&heap);
        heap.fail_at = n + 1;
        status = small_story(&heap, &answer);
        T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
        T_TRUE(heap_is_settled(&heap));
        if (heap.failed > 0 && status == TTS_OK) {
            T_EQ(answer, 1); /* only the stored steps are lost; the file still has the events */
            status = TTS_E_NOMEM;
        }
    }
    T_EQ(answer, 1);
    T_TRUE(n > 10);
}
