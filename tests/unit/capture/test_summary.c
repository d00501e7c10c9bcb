/* Tests the printed summary byte by byte. */
#include "harness/capture_rig.h"

#include <locale.h>
#include <stdio.h>

static const struct tts_core_range all = {0, 0, 7, 7};

/* A size of whole mebibytes and further bytes. */
#define MB(whole, bytes) ((UINT64_C(whole) << 20) + (bytes))

static void is_text(const struct tts_capture *capture, const char *want)
{
    char text[4096];
    T_EQ(tts_capture_text(capture, text, sizeof text), strlen(want));
    T_STR_EQ(text, want);
}

T_TEST(no_phases_is_a_warning)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    is_text(capture, "WARNING: No traces captured\n");
    done(capture, tracker);
}

T_TEST(the_text_is_the_published_one)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    alloc_dram(tracker, 1, MB(1863, 139461)); /* prints as .13 */
    snapshot(capture, "MODEL_CREATION");
    alloc_dram(tracker, 2, MB(10, 0));
    free_dram(tracker, 1);
    alloc_l1(tracker, 3, MB(0, 524288));
    add_cb(tracker, all, MB(0, 262144));
    end(capture, "FORWARD_PASS");
    is_text(capture,
            "=== Memory Usage Summary ===\n"
            "\n"
            "--- MODEL_CREATION ---\n"
            "  DRAM: Segment Peak 1863.13 MB, Allocations 1863.13 MB, Deallocations 0.00 MB, "
            "Segment Change +1863.13 MB\n"
            "  DRAM: Cumulative Peak 1863.13 MB, Cumulative Current 1863.13 MB\n"
            "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
            "--- FORWARD_PASS ---\n"
            "  DRAM: Segment Peak 10.00 MB, Allocations 10.00 MB, Deallocations 1863.13 MB, "
            "Segment Change -1853.13 MB\n"
            "  DRAM: Cumulative Peak 1873.13 MB, Cumulative Current 10.00 MB\n"
            "  L1: Peak CB 0.25 MB, Peak Buffer 0.50 MB, Peak Total 0.75 MB\n"
            "\n"
            "=== Final Totals ===\n"
            "Overall DRAM Peak: 1873.13 MB, Final DRAM Usage: 10.00 MB\n"
            "\n");
    done(capture, tracker);
}

static void alloc_in(struct tts_tracker *tracker, enum tts_pool pool, uint64_t id,
                     uint64_t bytes)
{
    T_EQ(tts_track_alloc(tracker, 0, pool, id, bytes, bytes, NULL), TTS_OK);
}

/* TRACE counts as DRAM and L1_SMALL as L1, as in tt-train. The peak is the highest sum at one
 * instant. */
T_TEST(traces_count_as_dram_and_small_l1_as_l1)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    alloc_dram(tracker, 1, MB(100, 0));
    free_dram(tracker, 1);
    alloc_in(tracker, TTS_POOL_TRACE, 2, MB(30, 0));
    alloc_dram(tracker, 3, MB(50, 0));
    alloc_l1(tracker, 4, MB(0, 524288));
    alloc_in(tracker, TTS_POOL_L1_SMALL, 5, MB(0, 262144));
    add_cb(tracker, all, MB(0, 262144));
    snapshot(capture, "FIRST");
    T_EQ(tts_track_free(tracker, 0, TTS_POOL_TRACE, 2, 0, 0, NULL), TTS_OK);
    alloc_dram(tracker, 6, MB(20, 0));
    end(capture, "LAST");
    is_text(capture,
            "=== Memory Usage Summary ===\n"
            "\n"
            "--- FIRST ---\n"
            "  DRAM: Segment Peak 100.00 MB, Allocations 180.00 MB, Deallocations 100.00 MB, "
            "Segment Change +80.00 MB\n"
            "  DRAM: Cumulative Peak 100.00 MB, Cumulative Current 80.00 MB\n"
            "  L1: Peak CB 0.25 MB, Peak Buffer 0.75 MB, Peak Total 1.00 MB\n"
            "--- LAST ---\n"
            "  DRAM: Segment Peak 0.00 MB, Allocations 20.00 MB, Deallocations 30.00 MB, "
            "Segment Change -10.00 MB\n"
            "  DRAM: Cumulative Peak 100.00 MB, Cumulative Current 70.00 MB\n"
            "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
            "\n"
            "=== Final Totals ===\n"
            "Overall DRAM Peak: 100.00 MB, Final DRAM Usage: 70.00 MB\n"
            "\n");
    const struct tts_usage *usage = &tts_capture_at(capture, 0)->usage;
    /* Our own figures keep the pools apart. */
    T_EQ(usage->pools[TTS_POOL_DRAM].allocated_bytes, MB(150, 0));
    T_EQ(usage->pools[TTS_POOL_TRACE].peak_bytes, MB(30, 0));
    done(capture, tracker);
}

/* Checks the change that the phase printed. */
static void is_change(const char *text, const char *title, const char *want)
{
    const char *at = strstr(text, title);
    T_TRUE(at != NULL);
    at = strstr(at, "Segment Change ");
    T_TRUE(at != NULL && strncmp(at + 15, want, strlen(want)) == 0);
}

static void churn(struct tts_tracker *tracker)
{
    for (uint64_t i = 0; i < 20; i++) {
        alloc_dram(tracker, 100 + i, UINT64_C(1) << 50);
        free_dram(tracker, 100 + i);
    }
}

/* The published text prints "-0.00" for a change a little below zero. It must not print that
 * for any other change. The figures are integers, so rounding never makes one, however much was
 * allocated before: as doubles, sums above 2^53 would differ. */
T_TEST(a_tiny_change_has_the_sign_that_it_has)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    char text[4096];
    alloc_dram(tracker, 1, 5000);
    snapshot(capture, "up");
    free_dram(tracker, 1);
    snapshot(capture, "down");
    churn(tracker);
    snapshot(capture, "none");
    churn(tracker);
    alloc_dram(tracker, 1, 1);
    end(capture, "one byte");
    tts_capture_text(capture, text, sizeof text);
    is_change(text, "--- up ---", "+0.00 MB\n");
    is_change(text, "--- down ---", "-0.00 MB\n");
    is_change(text, "--- none ---", "+0.00 MB\n");
    is_change(text, "--- one byte ---", "+0.00 MB\n");
    T_EQ(dram(capture, 3)->cumulative_current_bytes, 1);
    done(capture, tracker);
}

T_TEST(the_text_is_cut_as_snprintf_cuts)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    char text[8] = "xxxxxxx";
    end(capture, NULL);
    size_t len = tts_capture_text(capture, NULL, 0);
    T_TRUE(len > 100);
    T_EQ(tts_capture_text(capture, text, 5), len);
    T_MEM_EQ(text, "=== \0xx", 8);
    T_EQ(tts_capture_text(capture, text, 1), len);
    T_EQ(text[0], '\0');
    done(capture, tracker);
}

T_TEST(names_cannot_forge_lines)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    char text[1024];
    end(capture, "a\n--- b\x1b[0m\x7f \xc3\xa9");
    tts_capture_text(capture, text, sizeof text);
    T_TRUE(strstr(text, "--- a?--- b?[0m? \xc3\xa9 ---\n") != NULL);
    done(capture, tracker);
}

T_TEST(the_locale_does_not_matter)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    char plain[1024], local[1024];
    alloc_dram(tracker, 1, MB(1, 524288));
    end(capture, NULL);
    tts_capture_text(capture, plain, sizeof plain);
    T_TRUE(strstr(plain, " 1.50 MB") != NULL);
    if (setlocale(LC_ALL, "de_DE.UTF-8")) {
        tts_capture_text(capture, local, sizeof local);
        setlocale(LC_ALL, "C");
        T_STR_EQ(local, plain);
    }
    done(capture, tracker);
}

T_TEST(print_writes_the_same_text)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    char text[1024], read[1024] = {0};
    struct tts_error err;
    alloc_dram(tracker, 1, MB(1, 0));
    end(capture, NULL);
    size_t len = tts_capture_text(capture, text, sizeof text);
    FILE *file = fopen(t_scratch("summary"), "w+");
    T_TRUE(file != NULL);
    T_EQ(tts_capture_print(capture, file, &err), TTS_OK);
    rewind(file);
    T_EQ(fread(read, 1, sizeof read, file), len);
    T_STR_EQ(read, text);
    fclose(file);
    file = fopen("/dev/full", "w");
    if (file) {
        T_EQ(tts_capture_print(capture, file, &err), TTS_E_IO);
        fclose(file);
    }
    done(capture, tracker);
}

T_TEST(core_peaks_are_told_with_what_was_there)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    char text[1024];
    snapshot(capture, "EMPTY");
    op_begin(tracker, "matmul");
    alloc_l1(tracker, 7, 2048);
    add_cb(tracker, (struct tts_core_range){2, 1, 3, 1}, 4096);
    T_EQ(tts_track_cb(tracker, 0, TTS_EVENT_DFB, &all, 1, 100, NULL), TTS_OK);
    T_EQ(tts_track_cb(tracker, 0, TTS_EVENT_SCRATCHPAD, &all, 1, 50, NULL), TTS_OK);
    op_end(tracker);
    T_EQ(tts_track_alloc(tracker, 0, TTS_POOL_L1_SMALL, 8, 640, 10, NULL), TTS_OK);
    end(capture, "FORWARD");
    size_t len = tts_capture_cores_text(capture, text, sizeof text);
    T_EQ(len, strlen(text));
    T_STR_EQ(text, "=== Core Peaks ===\n"
                   "\n"
                   "--- EMPTY ---\n"
                   "  nothing was on a core\n"
                   "--- FORWARD ---\n"
                   "  6304 B (6.16 KiB) in use on core (2, 1) of device 0\n"
                   "        4096 B  circular buffer of matmul\n"
                   "        2048 B  L1 buffer 7 of matmul\n"
                   "         100 B  dataflow buffer of matmul\n"
                   "          50 B  scratchpad of matmul\n"
                   "          10 B  L1_SMALL buffer 8\n");
    done(capture, tracker);
}
