/* Tests captures: phases, names, nesting, and errors of the published tracker that this one
 * does not have. */
#include "harness/capture_rig.h"

/* --- phases ----------------------------------------------------------------------------- */

T_TEST(each_phase_has_what_it_took)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    alloc_dram(tracker, 1, 100);
    alloc_dram(tracker, 2, 50);
    free_dram(tracker, 1);
    snapshot(capture, "one");
    free_dram(tracker, 2);
    alloc_dram(tracker, 3, 70);
    end(capture, "two");
    T_EQ(tts_capture_count(capture), 2);
    T_STR_EQ(phase(capture, 0)->name, "one");
    is_dram(capture, 0, 150, 150, 100);
    T_STR_EQ(phase(capture, 1)->name, "two");
    /* The phase frees 50 bytes first, and then reaches 20 bytes above its start. */
    is_dram(capture, 1, 20, 70, 50);
    T_EQ(dram(capture, 1)->cumulative_peak_bytes, 150);
    T_EQ(dram(capture, 1)->cumulative_current_bytes, 70);
    T_TRUE(tts_capture_at(capture, 2) == NULL);
    done(capture, tracker);
}

T_TEST(an_empty_capture_is_all_zero)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    end(capture, NULL);
    T_STR_EQ(phase(capture, 0)->name, "END_TRACE");
    is_dram(capture, 0, 0, 0, 0);
    T_TRUE(!phase(capture, 0)->usage.core.known);
    T_EQ(phase(capture, 0)->events, 0);
    done(capture, tracker);
}

/* One thousand more buffers than a new tracker has memory for. */
T_TEST(more_than_a_million_live_buffers_are_counted_exactly)
{
    enum { MANY = (1 << 20) + 1000 };
    struct tts_tracker *tracker = NULL;
    T_EQ(tts_tracker_new(NULL, NULL, &tracker, NULL), TTS_OK);
    struct tts_capture *capture = begun(tracker);
    for (uint64_t id = 1; id <= MANY; id++)
        alloc_dram(tracker, id, 32);
    T_EQ(tts_tracker_live(tracker, NULL, 0), MANY);
    for (uint64_t id = 1; id <= MANY; id++)
        free_dram(tracker, id);
    T_EQ(health_of(tracker).unlisted + health_of(tracker).unknown_frees, 0);
    T_EQ(tts_capture_end(capture, NULL, NULL), TTS_OK);
    const struct tts_pool_usage *dram = &tts_capture_at(capture, 0)->usage.pools[TTS_POOL_DRAM];
    T_EQ(dram->peak_bytes, INT64_C(32) * MANY);
    T_EQ(dram->freed_bytes, INT64_C(32) * MANY);
    T_EQ(dram->cumulative_current_bytes, 0);
    tts_capture_free(capture);
    tts_tracker_free(tracker);
}

T_TEST(nothing_is_counted_while_no_capture_is_active)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = capture_of(tracker);
    alloc_dram(tracker, 1, 100);
    T_TRUE(!tts_tracker_is_on(tracker));
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    T_TRUE(tts_tracker_is_on(tracker) && tts_capture_is_active(capture));
    end(capture, NULL);
    alloc_dram(tracker, 2, 100);
    T_TRUE(!tts_tracker_is_on(tracker) && !tts_capture_is_active(capture));
    is_dram(capture, 0, 0, 0, 0);
    T_EQ(health_of(tracker).events, 0);
    done(capture, tracker);
}

T_TEST(a_second_end_and_one_without_begin_do_nothing)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = capture_of(tracker);
    end(capture, "x");
    T_EQ(tts_capture_count(capture), 0);
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    end(capture, "x");
    end(capture, "x");
    T_EQ(tts_capture_count(capture), 1);
    done(capture, tracker);
}

T_TEST(a_begin_after_an_end_goes_on_in_the_same_list)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    alloc_dram(tracker, 1, 100);
    end(capture, NULL);
    alloc_dram(tracker, 2, 1000); /* between two captures: not counted */
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    alloc_dram(tracker, 3, 10);
    end(capture, NULL);
    T_EQ(dram(capture, 1)->cumulative_current_bytes, 110);
    T_EQ(dram(capture, 1)->cumulative_peak_bytes, 110);
    const struct tts_phase *found;
    T_EQ(tts_capture_get(capture, NULL, &found, NULL), TTS_E_AMBIGUOUS);
    done(capture, tracker);
}

T_TEST(names_are_found_missed_or_ambiguous)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    struct tts_error err;
    const struct tts_phase *found = NULL;
    snapshot(capture, "repeated");
    snapshot(capture, "repeated");
    end(capture, "unique");
    T_EQ(tts_capture_get(capture, "repeated", &found, &err), TTS_E_AMBIGUOUS);
    T_STR_EQ(err.text, "2 phases are called 'repeated': get each phase by its index");
    T_EQ(tts_capture_get(capture, "no_such_trace", &found, &err), TTS_E_NOT_FOUND);
    T_STR_EQ(err.text, "no phase 'no_such_trace' among the 3 finished phases");
    T_TRUE(found == NULL);
    T_EQ(tts_capture_get(capture, "unique", &found, &err), TTS_OK);
    T_TRUE(found == phase(capture, 2));
    done(capture, tracker);
}

/* --- several captures ------------------------------------------------------------------- */

T_TEST(a_name_too_long_keeps_its_beginning_and_its_end)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    const struct tts_phase *found;
    char name[400], wanted[TTS_PHASE_NAME_MAX + 1];
    memset(name, 'n', sizeof name);
    strcpy(name + sizeof name - 8, "_000042");
    T_EQ(tts_capture_snapshot(capture, name, NULL), TTS_OK);
    name[sizeof name - 2] = '3';
    T_EQ(tts_capture_end(capture, name, NULL), TTS_OK);
    memset(wanted, 'n', sizeof wanted);
    memcpy(wanted + 126, "...", 3);
    strcpy(wanted + sizeof wanted - 8, "_000042");
    T_EQ(tts_capture_count(capture), 2);
    T_STR_EQ(tts_capture_at(capture, 0)->name, wanted);
    wanted[sizeof wanted - 2] = '3';
    T_STR_EQ(tts_capture_at(capture, 1)->name, wanted);
    /* The long name works too. */
    T_EQ(tts_capture_get(capture, name, &found, NULL), TTS_OK);
    T_TRUE(found == tts_capture_at(capture, 1));
    done(capture, tracker);
}

T_TEST(a_name_is_never_cut_inside_a_letter)
{
    for (size_t shift = 0; shift < 4; shift++) {
        char name[403] = "", out[TTS_PHASE_NAME_MAX + 1];
        memset(name, 'n', shift);
        for (size_t i = 0; i < 100 - (shift > 2); i++) /* U+1D11E, four bytes in UTF-8 */
            memcpy(name + shift + 4 * i, "\xf0\x9d\x84\x9e", 4);
        size_t len = tts_phase_name_clip(name, out);
        T_EQ(len, strlen(out));
        T_TRUE(len <= TTS_PHASE_NAME_MAX && len > TTS_PHASE_NAME_MAX - 8);
        size_t dots = (size_t)(strstr(out, "...") - out);
        T_EQ((dots - shift) % 4, 0);
        T_EQ((len - dots - 3) % 4, 0);
        T_TRUE(memcmp(out + dots + 3, "\xf0\x9d\x84\x9e", 4) == 0);
    }
}

T_TEST(names_that_are_no_text_are_cut_all_the_same)
{
    char name[600], out[TTS_PHASE_NAME_MAX + 1];
    memset(name, 0x80, sizeof name - 1); /* only continuation bytes */
    name[sizeof name - 1] = '\0';
    T_TRUE(tts_phase_name_clip(name, out) >= TTS_PHASE_NAME_MAX - 6);
    T_EQ(tts_phase_name_clip("", out), 0);
    T_STR_EQ(out, "");
    T_EQ(tts_phase_name_clip("short", out), 5);
    T_STR_EQ(out, "short");
    memset(name, 'x', TTS_PHASE_NAME_MAX);
    name[TTS_PHASE_NAME_MAX] = '\0';
    T_EQ(tts_phase_name_clip(name, out), TTS_PHASE_NAME_MAX);
    T_STR_EQ(out, name);
}

T_TEST(names_that_become_equal_are_phases_of_their_own)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    const struct tts_phase *found;
    char name[500];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    T_EQ(tts_capture_snapshot(capture, name, NULL), TTS_OK);
    name[250] = 'm';
    T_EQ(tts_capture_snapshot(capture, name, NULL), TTS_OK);
    T_EQ(tts_capture_count(capture), 2);
    T_STR_EQ(tts_capture_at(capture, 0)->name, tts_capture_at(capture, 1)->name);
    T_EQ(tts_capture_get(capture, name, &found, NULL), TTS_E_AMBIGUOUS);
    done(capture, tracker);
}

T_TEST(captures_nest_and_overlap_each_with_phases_of_its_own)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *outer = begun(tracker);
    alloc_dram(tracker, 1, 100);
    struct tts_capture *inner = begun(tracker);
    alloc_dram(tracker, 2, 10);
    free_dram(tracker, 1);
    snapshot(outer, "a");
    end(inner, "x");
    alloc_dram(tracker, 3, 1);
    end(outer, "b");
    is_dram(outer, 0, 110, 110, 100);
    is_dram(outer, 1, 1, 1, 0);
    is_dram(inner, 0, 10, 10, 100); /* relative to its begin, where 100 bytes were live */
    T_EQ(tts_capture_count(inner), 1);
    tts_capture_free(inner);
    done(outer, tracker);
}

T_TEST(an_outer_capture_may_end_first)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *first = begun(tracker);
    struct tts_capture *second = begun(tracker);
    alloc_dram(tracker, 1, 100);
    end(first, NULL);
    T_TRUE(tts_tracker_is_on(tracker));
    alloc_dram(tracker, 2, 100);
    end(second, NULL);
    is_dram(first, 0, 100, 100, 0);
    is_dram(second, 0, 200, 200, 0);
    tts_capture_free(first);
    done(second, tracker);
}

T_TEST(the_ledger_begins_anew_with_the_first_of_the_active)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    alloc_dram(tracker, 1, 100);
    alloc_l1(tracker, 2, 10);
    T_EQ(tts_tracker_live(tracker, NULL, 0), 2);
    end(capture, NULL);
    T_EQ(tts_tracker_live(tracker, NULL, 0), 2); /* the live buffers can still be read */
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    T_EQ(tts_tracker_live(tracker, NULL, 0), 0);
    alloc_dram(tracker, 1, 7); /* the same id is a new buffer */
    T_EQ(health_of(tracker).doubled, 0);
    done(capture, tracker);
}

T_TEST(what_lives_is_told_with_its_operation)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    struct tts_live live[3];
    op_begin(tracker, "matmul");
    alloc_dram(tracker, 5, 100);
    op_end(tracker);
    alloc_l1(tracker, 6, 10);
    T_EQ(tts_tracker_live(tracker, live, 3), 2);
    T_TRUE(live[0].id == 5 && live[0].size_bytes == 100 && live[0].pool == TTS_POOL_DRAM);
    T_STR_EQ(live[0].op, "matmul");
    T_TRUE(live[1].id == 6 && live[1].bytes_per_bank == 10 && live[1].pool == TTS_POOL_L1);
    T_TRUE(live[1].op == NULL && live[1].seq > live[0].seq);
    T_EQ(tts_tracker_live(tracker, live, 1), 2);
    T_EQ(live[0].id, 5);
    done(capture, tracker);
}

/* --- errors of the published tracker ---------------------------------------------------- */

T_TEST(clear_while_active_ends_the_capture)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    snapshot(capture, "one");
    tts_capture_clear(capture);
    T_TRUE(!tts_capture_is_active(capture) && !tts_tracker_is_on(tracker));
    T_EQ(tts_capture_count(capture), 0);
    alloc_dram(tracker, 1, 100);
    T_EQ(health_of(tracker).events, 0); /* no capture or recorder listens any more */
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    alloc_dram(tracker, 2, 10);
    end(capture, NULL);
    is_dram(capture, 0, 10, 10, 0);
    /* The cumulative figures start from zero again */
    T_EQ(dram(capture, 0)->cumulative_current_bytes, 10);
    done(capture, tracker);
}

T_TEST(phases_of_the_same_name_are_all_kept)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    char text[2048];
    alloc_dram(tracker, 1, 1 << 20);
    snapshot(capture, "FORWARD_PASS");
    alloc_dram(tracker, 2, 2 << 20);
    snapshot(capture, "FORWARD_PASS");
    end(capture, NULL);
    is_dram(capture, 0, 1 << 20, 1 << 20, 0);
    is_dram(capture, 1, 2 << 20, 2 << 20, 0);
    tts_capture_text(capture, text, sizeof text);
    const char *first = strstr(text, "--- FORWARD_PASS ---\n  DRAM: Segment Peak 1.00 MB");
    T_TRUE(first != NULL);
    T_TRUE(strstr(first, "--- FORWARD_PASS ---\n  DRAM: Segment Peak 2.00 MB") != NULL);
    done(capture, tracker);
}

T_TEST(frees_of_what_was_there_before_never_underflow)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    alloc_l1(tracker, 1, 4096);
    snapshot(capture, "before");
    /* This buffer was allocated in an earlier phase; the allocations of the next two were never
     * seen. */
    free_l1(tracker, 1);
    T_EQ(tts_track_free(tracker, 0, TTS_POOL_L1, 99, 8192, 128, NULL), TTS_OK);
    T_EQ(tts_track_free(tracker, 0, TTS_POOL_DRAM, 98, 500, 0, NULL), TTS_OK);
    alloc_l1(tracker, 2, 1000);
    end(capture, "after");
    const struct tts_usage *usage = &phase(capture, 1)->usage;
    T_EQ(usage->pools[TTS_POOL_L1].peak_bytes, 0);
    T_EQ(usage->peak_total_bytes, 0);
    T_EQ(usage->pools[TTS_POOL_L1].freed_bytes, 4096 + 128);
    is_dram(capture, 1, 0, 0, 500);
    T_EQ(dram(capture, 1)->cumulative_current_bytes, -500);
    /* The core peak is the use at the start, because frees of unseen buffers subtract nothing.
     */
    T_EQ(usage->core.bytes, 4096);
    T_EQ(health_of(tracker).unseen_frees, 2);
    done(capture, tracker);
}

T_TEST(what_a_helper_allocates_is_of_the_operation_around_it)
{
    static const char name[] =
        "a::name::that::is::longer::than::is::kept::and::differs::at::its::"
        "end::matmul";
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    struct tts_live live[4];
    op_begin(tracker, "ttnn::add");
    op_begin(tracker, "tt::tt_metal::create_device_tensor");
    alloc_dram(tracker, 1, 100);
    op_end(tracker);
    alloc_dram(tracker, 2, 100);
    op_end(tracker);
    op_begin(tracker, "tt::tt_metal::create_device_tensor");
    op_begin(tracker, "create_device_tensor");
    alloc_dram(tracker, 3, 100);
    op_end(tracker);
    op_end(tracker);
    op_begin(tracker, name);
    alloc_dram(tracker, 4, 100);
    T_EQ(tts_tracker_live(tracker, live, 4), 4);
    T_STR_EQ(live[0].op, "ttnn::add");
    T_STR_EQ(live[1].op, "ttnn::add");
    T_STR_EQ(live[2].op, "tt::tt_metal::create_device_tensor");
    T_STR_EQ(live[3].op, name + strlen(name) - TTS_OP_NAME_MAX);
    op_end(tracker);
    done(capture, tracker);
}

T_TEST(an_operation_belongs_to_the_session_it_began_in)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    op_begin(tracker, "never ended");
    end(capture, NULL);
    op_end(tracker); /* no capture or recorder listens */
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    /* The operation began before any capture listened, so its end is ignored. */
    op_end(tracker);
    op_begin(tracker, "outer");
    op_begin(tracker, "inner");
    op_end(tracker);
    alloc_l1(tracker, 1, 10);
    op_end(tracker);
    end(capture, "x");
    T_STR_EQ(phase(capture, 1)->usage.core.op, "outer");
    T_EQ(phase(capture, 1)->usage.ops, 2);
    done(capture, tracker);
}

T_TEST(two_trackers_do_not_share_operations)
{
    struct tts_tracker *a = tracker_on(NULL), *b = tracker_on(NULL);
    struct tts_capture *on_a = begun(a), *on_b = begun(b);
    op_begin(a, "of a");
    op_begin(b, "of b");
    alloc_l1(a, 1, 10);
    op_end(a);
    alloc_l1(b, 1, 10);
    end(on_a, NULL);
    end(on_b, NULL);
    T_STR_EQ(phase(on_a, 0)->usage.core.op, "of a");
    T_STR_EQ(phase(on_b, 0)->usage.core.op, "of b");
    done(on_a, a);
    done(on_b, b);
}

T_TEST(of_operations_too_deep_the_innermost_is_known)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    for (int i = 0; i < 100; i++)
        op_begin(tracker, i < 99 ? "outer" : "inner");
    alloc_l1(tracker, 1, 10);
    for (int i = 0; i < 110; i++)
        op_end(tracker);
    alloc_l1(tracker, 2, 10);
    snapshot(capture, "x");
    alloc_l1(tracker, 3, 10);
    end(capture, "y");
    T_STR_EQ(phase(capture, 0)->usage.core.parts[0].op, "inner");
    T_TRUE(phase(capture, 1)->usage.core.op == NULL);
    done(capture, tracker);
}

/* --- the process ------------------------------------------------------------------------ */

T_TEST(a_process_has_one_tracker)
{
    struct tts_tracker *tracker = tts_tracker_process();
    T_TRUE(tracker != NULL && tracker == tts_tracker_process());
    T_TRUE(!tts_tracker_is_on(tracker));
}
