#include "cpp/t.hpp"
#include "ttscope/ttscope.hpp"

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>

using ttscope::Capture;
using ttscope::Error;
using ttscope::Guard;
using ttscope::Mode;
using ttscope::Recorder;
using ttscope::Tracker;
using Usage = ttscope::MemoryUsageTracker;

static const tts_core_range all_cores[] = {{0, 0, 7, 7}}, one_core[] = {{0, 0, 0, 0}};

// Returns the tracker of the process without any captures. The published class has one state
// per process, so that each test starts by clearing it.
static Tracker fresh()
{
    Usage::clear();
    return Tracker::process();
}

static void dram(Tracker &tracker, std::uint64_t id, std::uint64_t bytes)
{
    T_EQ(tracker.alloc(0, TTS_POOL_DRAM, id, bytes), TTS_OK);
}

static bool places(tts_device *device)
{
    tts_request request{};
    request.pool = TTS_POOL_DRAM;
    request.size_bytes = request.page_bytes = 2048;
    tts_buffer buffer;
    T_EQ(tts_device_alloc(device, &request, &buffer, nullptr), TTS_OK);
    T_EQ(tts_device_release(device, &buffer), TTS_OK);
    return buffer.placed;
}

static tts_device *new_device()
{
    tts_chip chip;
    tts_device *device = nullptr;
    T_EQ(tts_chip_preset("n150", &chip, nullptr), TTS_OK);
    T_EQ(tts_device_new(&chip, nullptr, nullptr, &device, nullptr), TTS_OK);
    return device;
}

// ---- owners ----

static_assert(!std::is_copy_constructible_v<Tracker> && !std::is_copy_assignable_v<Tracker>);
static_assert(!std::is_copy_constructible_v<Capture> && !std::is_copy_assignable_v<Capture>);
static_assert(!std::is_copy_constructible_v<Guard> && !std::is_copy_assignable_v<Guard>);
static_assert(std::is_nothrow_move_constructible_v<Tracker>);
static_assert(std::is_nothrow_move_constructible_v<Capture>);
static_assert(std::is_nothrow_move_constructible_v<Guard>);
static_assert(std::is_nothrow_move_assignable_v<Guard>);
static_assert(std::is_nothrow_destructible_v<Guard>);
static_assert(!std::is_copy_constructible_v<Recorder> && !std::is_copy_assignable_v<Recorder>);
static_assert(std::is_nothrow_move_constructible_v<Recorder>);
static_assert(std::is_nothrow_move_assignable_v<Recorder>);
static_assert(std::is_base_of_v<std::runtime_error, Error>);

T_TEST(a_refusal_is_an_error_with_status_and_text)
{
    tts_tracker_config config{};
    config.live_max = UINT32_MAX;
    tts_status status = TTS_OK;
    try {
        Tracker tracker(config);
    } catch (const Error &error) {
        status = error.status();
        T_TRUE(std::string(error.what()).size() > 10);
    }
    T_EQ(status, TTS_E_RANGE);
}

T_TEST(a_tracker_moves_and_what_is_left_takes_nothing)
{
    Tracker first;
    Tracker second(std::move(first));
    T_TRUE(first.get() == nullptr && second.get() != nullptr);
    T_TRUE(!first.is_on());
    T_EQ(first.alloc(0, TTS_POOL_DRAM, 1, 64), TTS_OK);
    T_EQ(first.post(tts_event{}), TTS_OK);
    first = std::move(second);
    T_TRUE(first.get() != nullptr && second.get() == nullptr);
    Capture capture(first);
    capture.begin();
    T_TRUE(first.is_on());
}

T_TEST(the_tracker_of_the_process_is_one_and_is_not_freed)
{
    tts_tracker *seen = Tracker::process().get();
    T_TRUE(seen != nullptr && Tracker::process().get() == seen);
    T_TRUE(tts_tracker_process() == seen);
}

T_TEST(events_of_every_kind_arrive)
{
    Tracker tracker;
    Capture capture(tracker);
    capture.begin();
    {
        ttscope::Op op(tracker, std::string_view("matmul_and_more").substr(0, 6));
        T_EQ(tracker.alloc(3, TTS_POOL_L1, 1, 65536, 2048), TTS_OK);
        T_EQ(tracker.program(3), TTS_OK);
        T_EQ(tracker.cb(3, all_cores, 4096), TTS_OK);
        T_EQ(tracker.dataflow_buffer(3, one_core, 512), TTS_OK);
        T_EQ(tracker.scratchpad(3, std::vector<tts_core_range>{{0, 0, 0, 0}}, 128), TTS_OK);
    }
    T_EQ(tracker.op_begin("later"), TTS_OK);
    T_EQ(tracker.op_end(), TTS_OK);
    T_EQ(tracker.trace_begin(3), TTS_OK);
    T_EQ(tracker.trace_end(3), TTS_OK);
    tts_event borrowed{};
    borrowed.kind = TTS_EVENT_CB;
    borrowed.device = 3;
    borrowed.borrowed = true;
    borrowed.size_bytes = 1 << 20;
    borrowed.ranges = all_cores;
    borrowed.range_count = 1;
    T_EQ(tracker.post(borrowed), TTS_OK);
    T_EQ(tracker.cb(3, std::vector<tts_core_range>(), 64), TTS_E_INVALID);
    capture.end("phase");
    const tts_usage &usage = capture.find("phase").usage;
    T_EQ(usage.peak_cb_bytes, 4096);
    T_EQ(usage.peak_dfb_bytes, 512);
    T_EQ(usage.peak_scratchpad_bytes, 128);
    T_EQ(usage.pools[TTS_POOL_L1].peak_bytes, 2048);
    T_EQ(usage.peak_total_bytes, 2048 + 4096 + 512 + 128);
    T_EQ(usage.programs, 1);
    T_EQ(usage.ops, 2);
    T_EQ(usage.traces, 1);
    T_STR_EQ(usage.core.op, "matmul");
    T_EQ(tracker.health().events, capture.find("phase").events);
    std::vector<tts_live> live = tracker.live();
    T_EQ(live.size(), 1);
    T_EQ(live[0].size_bytes, 65536);
}

T_TEST(a_capture_has_phases_text_and_cores)
{
    Tracker tracker;
    Capture capture(tracker);
    capture.begin(Mode::NORMAL);
    dram(tracker, 1, 1 << 20);
    capture.snapshot("ONE");
    T_EQ(tracker.free(0, TTS_POOL_DRAM, 1), TTS_OK);
    capture.end();
    T_TRUE(!capture.is_active());
    std::vector<const tts_phase *> phases = capture.phases();
    T_EQ(phases.size(), 2);
    T_STR_EQ(phases[0]->name, "ONE");
    T_TRUE(&capture.find("ONE") == phases[0] && &capture.find() == phases[1]);
    T_TEXT_EQ(
        capture.text(),
        "=== Memory Usage Summary ===\n\n"
        "--- ONE ---\n"
        "  DRAM: Segment Peak 1.00 MB, Allocations 1.00 MB, Deallocations 0.00 MB, "
        "Segment Change +1.00 MB\n"
        "  DRAM: Cumulative Peak 1.00 MB, Cumulative Current 1.00 MB\n"
        "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
        "--- END_TRACE ---\n"
        "  DRAM: Segment Peak 0.00 MB, Allocations 0.00 MB, Deallocations 1.00 MB, "
        "Segment Change -1.00 MB\n"
        "  DRAM: Cumulative Peak 1.00 MB, Cumulative Current 0.00 MB\n"
        "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
        "\n=== Final Totals ===\nOverall DRAM Peak: 1.00 MB, Final DRAM Usage: 0.00 MB\n\n");
    T_TEXT_EQ(printed([&] { capture.print(); }), capture.text());
    T_TRUE(capture.cores_text().size() > 0);
    T_EQ(capture.cores_text().find('\0'), std::string::npos);
}

T_TEST(a_capture_that_moved_away_says_so)
{
    Tracker tracker;
    Capture first(tracker);
    first.begin();
    Capture second(std::move(first));
    T_TRUE(second.is_active());
    T_TEXT_EQ(thrown<Error>([&] { first.begin(); }),
              "the capture was moved to another object: use that object");
    T_TEXT_EQ(thrown<Error>([&] { first.text(); }),
              "the capture was moved to another object: use that object");
}

T_TEST(captures_of_one_tracker_nest)
{
    Tracker tracker;
    Capture outer(tracker), inner(tracker);
    outer.begin();
    dram(tracker, 1, 100);
    inner.begin();
    dram(tracker, 2, 10);
    inner.end();
    dram(tracker, 3, 1);
    outer.end();
    T_EQ(inner.find().usage.pools[TTS_POOL_DRAM].allocated_bytes, 10);
    T_EQ(outer.find().usage.pools[TTS_POOL_DRAM].allocated_bytes, 111);
}

namespace elsewhere
{
// the mode is recognized by its name, not by its value
enum class RunMode { NO_DISPATCH, NORMAL, ALSO_NORMAL };
} // namespace elsewhere

T_TEST(a_mode_is_ours_or_any_that_has_no_dispatch)
{
    Tracker tracker;
    tts_device *device = new_device();
    tracker.attach(device, 0);
    Capture capture(tracker);
    capture.begin(Mode::NO_DISPATCH);
    T_TRUE(!places(device));
    capture.clear();
    capture.begin(elsewhere::RunMode::NO_DISPATCH);
    T_TRUE(!places(device));
    capture.clear();
    capture.begin(elsewhere::RunMode::ALSO_NORMAL);
    T_TRUE(places(device));
    capture.clear();
    {
        Guard guard = capture.begin_guarded(elsewhere::RunMode::NO_DISPATCH);
        T_TRUE(!places(device));
    }
    T_TRUE(places(device));
    T_TRUE(thrown<Error>([&] { capture.begin(static_cast<Mode>(7)); }) != "(nothing)");
    T_TRUE(!capture.is_active());
    tracker.detach(device);
    T_TRUE(thrown<Error>([&] { tracker.detach(device); }) != "(nothing)");
    tts_device_free(device);
}

T_TEST(a_chip_is_in_its_mesh)
{
    Tracker tracker;
    tracker.chip(0, 4);
    // 4 is a mesh, which cannot be a chip
    T_TRUE(thrown<Error>([&] { tracker.chip(4, 5); }) != "(nothing)");
}

// ---- guards ----

T_TEST(a_guard_ends_and_clears_its_session)
{
    Tracker tracker = fresh();
    {
        Guard guard = Usage::begin_capture();
        dram(tracker, 1, 64);
        Usage::snapshot("a");
        T_TRUE(tracker.is_on());
    }
    T_TRUE(!tracker.is_on());
    T_EQ(Usage::get_trace_names().size(), 0);
    {
        Guard guard = Usage::begin_capture();
        Usage::end_capture("b");
        T_EQ(Usage::get_trace_names().size(), 1);
    }
    T_EQ(Usage::get_trace_names().size(), 0);
}

T_TEST(a_stale_guard_leaves_the_capture_that_came_later_alone)
{
    Tracker tracker = fresh();
    auto stale = std::make_unique<Guard>(Usage::begin_capture());
    Usage::end_capture("first");
    Guard guard = Usage::begin_capture();
    Usage::snapshot("second");
    stale.reset();
    T_TRUE(tracker.is_on());
    T_EQ(Usage::get_trace_names().size(), 2);
    Usage::snapshot("third");
    T_EQ(Usage::get_trace_names().size(), 3);
    auto cleared = std::make_unique<Guard>(std::move(guard));
    Usage::clear();
    Guard last = Usage::begin_capture();
    cleared.reset();
    T_TRUE(tracker.is_on());
}

T_TEST(a_guard_that_moved_does_nothing_and_its_heir_does)
{
    Tracker tracker = fresh();
    Guard heir;
    {
        Guard guard = Usage::begin_capture();
        heir = std::move(guard);
    }
    T_TRUE(tracker.is_on());
    {
        Guard second(std::move(heir));
        T_TRUE(tracker.is_on());
    }
    T_TRUE(!tracker.is_on());
    Tracker own;
    Capture capture(own);
    Guard guard = capture.begin_guarded();
    guard = Guard(); // an assignment ends the capture that the guard held
    T_TRUE(!own.is_on());
}

T_TEST(a_released_guard_does_nothing_however_often)
{
    Tracker tracker = fresh();
    {
        Guard guard = Usage::begin_capture();
        guard.release();
        guard.release();
    }
    T_TRUE(tracker.is_on());
    Usage::end_capture("kept");
    T_EQ(Usage::get_trace_names().size(), 1);
}

T_TEST(a_guard_may_outlive_its_capture)
{
    Tracker tracker;
    Guard guard;
    {
        Capture capture(tracker);
        guard = capture.begin_guarded();
    }
    T_TRUE(!tracker.is_on());
}

T_TEST(an_ignored_guard_ends_the_capture_at_once)
{
    Tracker tracker = fresh();
    static_cast<void>(Usage::begin_capture());
    T_TRUE(!tracker.is_on());
    T_TEXT_EQ(thrown<std::runtime_error>([] { Usage::snapshot("x"); }),
              "MemoryUsageTracker: Cannot snapshot - capture is not active");
}

T_TEST(an_exception_in_between_ends_the_capture)
{
    Tracker tracker = fresh();
    T_TEXT_EQ(thrown<std::logic_error>([&] {
                  Guard guard = Usage::begin_capture();
                  Usage::snapshot("before");
                  throw std::logic_error("of the user");
              }),
              "of the user");
    T_TRUE(!tracker.is_on());
    T_EQ(Usage::get_trace_names().size(), 0);
    Guard guard = Usage::begin_capture();
    T_TRUE(tracker.is_on());
}

// ---- the published class ----

T_TEST(a_second_begin_is_refused_and_the_first_goes_on)
{
    Tracker tracker = fresh();
    Guard guard = Usage::begin_capture();
    T_TEXT_EQ(thrown<std::runtime_error>([] { Guard second = Usage::begin_capture(); }),
              "MemoryUsageTracker: Capture already active");
    dram(tracker, 1, 64);
    Usage::end_capture();
    T_EQ(Usage::get_dram_usage().total_allocations, 64);
}

T_TEST(a_clear_ends_what_is_active)
{
    Tracker tracker = fresh();
    Guard guard = Usage::begin_capture();
    dram(tracker, 1, 64);
    Usage::snapshot("gone");
    Usage::clear();
    T_TRUE(!tracker.is_on());
    dram(tracker, 2, 1024); // no capture is active
    T_TEXT_EQ(thrown<std::runtime_error>([] { Usage::snapshot("x"); }),
              "MemoryUsageTracker: Cannot snapshot - capture is not active");
    Guard second = Usage::begin_capture();
    dram(tracker, 3, 8);
    Usage::end_capture();
    T_EQ(Usage::get_trace_names().size(), 1);
    T_EQ(Usage::get_dram_usage().total_allocations, 8);
    T_EQ(Usage::get_dram_usage().peak, 8);
}

T_TEST(after_any_number_of_snapshots_the_device_places_again)
{
    Tracker tracker = fresh();
    tts_device *device = new_device();
    tracker.attach(device, 0);
    for (int snapshots = 0; snapshots <= 5; snapshots++) {
        T_TRUE(places(device));
        Guard guard = Usage::begin_capture(Mode::NO_DISPATCH);
        for (int i = 0; i < snapshots; i++) {
            T_TRUE(!places(device));
            Usage::snapshot("s");
        }
        T_TRUE(!places(device));
        Usage::end_capture();
        T_TRUE(places(device));
        guard.release();
    }
    T_EQ(Usage::get_trace_names().size(), 0 + 1 + 2 + 3 + 4 + 5 + 6);
    tracker.detach(device);
    tts_device_free(device);
}

T_TEST(phases_of_one_name_are_kept_and_printed_apart)
{
    Tracker tracker = fresh();
    Guard guard = Usage::begin_capture();
    dram(tracker, 1, 1 << 20);
    Usage::snapshot("twice");
    dram(tracker, 2, 2 << 20);
    Usage::snapshot("twice");
    Usage::end_capture("once");
    auto usage = Usage::get_dram_usage_all();
    T_EQ(usage.size(), 3);
    T_TEXT_EQ(usage[0].first, "twice");
    T_TEXT_EQ(usage[1].first, "twice");
    T_EQ(usage[0].second.peak, 1 << 20);
    T_EQ(usage[1].second.peak, 2 << 20);
    T_EQ(Usage::get_l1_usage_all().size(), 3);
    const char *text = "MemoryUsageTracker: Trace 'twice' is ambiguous (2 segments share this "
                       "name); use get_dram_usage_all()/get_l1_usage_all() instead";
    T_TEXT_EQ(thrown<std::runtime_error>([] { Usage::get_dram_usage("twice"); }), text);
    T_TEXT_EQ(thrown<std::runtime_error>([] { Usage::get_l1_usage("twice"); }), text);
    T_EQ(Usage::get_dram_usage("once").peak, 0);
    std::string summary = printed([] { Usage::print_memory_usage(); });
    std::size_t first = summary.find("--- twice ---\n  DRAM: Segment Peak 1.00 MB");
    std::size_t second = summary.find("--- twice ---\n  DRAM: Segment Peak 2.00 MB");
    T_TRUE(first != std::string::npos && second != std::string::npos && first < second);
}

T_TEST(a_name_nobody_used_is_not_found)
{
    fresh();
    const char *text = "MemoryUsageTracker: Trace 'nothing' not found";
    T_TEXT_EQ(thrown<std::runtime_error>([] { Usage::get_dram_usage("nothing"); }), text);
    T_TEXT_EQ(thrown<std::runtime_error>([] { Usage::get_l1_usage("nothing"); }), text);
    T_TEXT_EQ(thrown<std::runtime_error>([] { Usage::get_dram_usage(); }),
              "MemoryUsageTracker: Trace 'END_TRACE' not found");
    T_STR_EQ(Usage::kDefaultTraceName, "END_TRACE");
}

T_TEST(every_string_is_a_name_and_a_long_one_is_shortened)
{
    Tracker tracker = fresh();
    Guard guard = Usage::begin_capture();
    const std::string names[] = {std::string(255, 'x'), std::string(5000, 'x') + "__000042", "",
                                 std::string("a\0b", 3), "a\nb"};
    for (const std::string &name : names)
        Usage::snapshot(name);
    Usage::end_capture(std::string(256, 'y'));
    for (const std::string &name : names)
        Usage::get_dram_usage(name);
    Usage::get_l1_usage(std::string(256, 'y'));
    std::string kept = Usage::get_trace_names().at(1);
    T_EQ(kept.size(), 255);
    T_TEXT_EQ(kept, std::string(126, 'x') + "..." + std::string(118, 'x') + "__000042");
    T_TEXT_EQ(Usage::get_trace_names().at(3), "a?b");
}

T_TEST(a_free_of_what_was_there_before_leaves_the_peaks_at_nothing)
{
    Tracker tracker = fresh();
    Guard guard = Usage::begin_capture();
    T_EQ(tracker.alloc(0, TTS_POOL_L1, 1, 65536, 2048), TTS_OK);
    Usage::snapshot("before");
    T_EQ(tracker.free(0, TTS_POOL_L1, 1), TTS_OK);
    T_EQ(tracker.free(0, TTS_POOL_L1, 77, 65536, 2048), TTS_OK); // the allocation was not seen
    Usage::snapshot("frees");
    T_EQ(tracker.alloc(0, TTS_POOL_L1, 2, 65536, 2048), TTS_OK);
    Usage::end_capture();
    ttscope::L1UsagePerCore l1 = Usage::get_l1_usage("frees");
    T_TRUE(l1.peak_l1 == 0 && l1.peak_total == 0 && l1.peak_cb == 0);
    T_TRUE(l1.peak_dataflow_buffer == 0 && l1.peak_scratchpad == 0);
    T_EQ(Usage::get_l1_usage("before").peak_l1, 2048);
    T_EQ(Usage::get_l1_usage().peak_l1, 2048);
}

T_TEST(without_phases_the_summary_is_a_warning)
{
    fresh();
    const char *warning = "WARNING: No traces captured\n";
    T_TEXT_EQ(printed([] { Usage::print_memory_usage(); }), warning);
    Guard guard = Usage::begin_capture();
    T_TEXT_EQ(printed([] { Usage::print_memory_usage(); }), warning);
}

T_TEST(an_end_of_nothing_is_nothing)
{
    Tracker tracker = fresh();
    Usage::end_capture("never begun");
    T_EQ(Usage::get_trace_names().size(), 0);
    Guard guard = Usage::begin_capture();
    Usage::end_capture("end");
    Usage::end_capture("again");
    T_EQ(Usage::get_trace_names().size(), 1);
    T_EQ(Usage::get_dram_usage("end").total_allocations, 0);
    T_EQ(Usage::get_l1_usage("end").peak_total, 0);
}

T_TEST(a_begin_after_an_end_appends_and_sums_go_on)
{
    Tracker tracker = fresh();
    Guard first = Usage::begin_capture();
    dram(tracker, 1, 1 << 20);
    Usage::end_capture("one");
    Guard second = Usage::begin_capture();
    dram(tracker, 2, 1 << 20);
    Usage::end_capture("two");
    auto names = Usage::get_trace_names();
    T_EQ(names.size(), 2);
    T_TEXT_EQ(names[0], "one");
    T_TEXT_EQ(names[1], "two");
    std::string summary = printed([] { Usage::print_memory_usage(); });
    T_TRUE(summary.find("Overall DRAM Peak: 2.00 MB, Final DRAM Usage: 2.00 MB\n") !=
           std::string::npos);
}

T_TEST(threads_may_call_it_all_at_once)
{
    fresh();
    std::atomic<int> begun{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([&begun, t] {
            Tracker tracker = Tracker::process();
            for (std::uint64_t i = 0; i < 200; i++) {
                tracker.alloc(0, TTS_POOL_DRAM, i * 8 + static_cast<unsigned>(t), 64);
                try {
                    Guard guard = Usage::begin_capture();
                    begun++;
                    Usage::snapshot("s");
                    Usage::get_dram_usage_all();
                } catch (const Error &) { // another thread began first or ended the capture
                }
                Usage::get_trace_names();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    T_TRUE(begun > 0);
    T_TRUE(!Tracker::process().is_on());
    T_EQ(Usage::get_trace_names().size(), 0);
}

// ---- recordings ----

// Returns the size of the file. The C tests check its contents; these tests check only that the
// file exists and which recorder wrote it.
static std::uint64_t file_bytes(const std::string &path)
{
    std::FILE *file = std::fopen(path.c_str(), "rb");
    if (!file)
        return 0;
    std::fseek(file, 0, SEEK_END);
    const long bytes = std::ftell(file);
    std::fclose(file);
    return static_cast<std::uint64_t>(bytes);
}

T_TEST(a_recorder_writes_until_it_ends)
{
    const std::string path = t_scratch("cpp.tts");
    Tracker tracker;
    Recorder recorder(tracker, path);
    T_TRUE(tracker.is_on());
    dram(tracker, 1, 100);
    tts_failure failure{};
    failure.kind = TTS_FAILURE_SPACE;
    T_EQ(tracker.failure(0, failure), TTS_OK);
    T_EQ(recorder.state().events, 2);
    // the file is longer because places are reserved
    T_TRUE(file_bytes(path) > recorder.state().bytes);
    recorder.end();
    T_TRUE(!tracker.is_on());
    T_EQ(recorder.state().events, 2);
    T_EQ(file_bytes(path), recorder.state().bytes);
    recorder.end();
}

T_TEST(a_recorder_ends_when_it_goes_and_may_move)
{
    const std::string path = t_scratch("cpp_moved.tts");
    Tracker tracker;
    {
        Recorder first(tracker, path, TTS_RECORDER_KEEP_MIN);
        T_EQ(file_bytes(path), TTS_RECORDER_KEEP_MIN + 4096);
        Recorder second(std::move(first));
        dram(tracker, 1, 100);
        T_EQ(second.state().events, 1);
        T_TRUE(tracker.is_on());
    }
    T_TRUE(!tracker.is_on());
    T_TRUE(file_bytes(path) > 4096 && file_bytes(path) < 8192);
}

T_TEST(a_recorder_that_cannot_begin_says_why)
{
    Tracker tracker;
    bool is_thrown = false;
    try {
        Recorder recorder(tracker, t_scratch("none/cpp.tts"));
    } catch (const Error &error) {
        is_thrown =
            error.status() == TTS_E_IO &&
            std::string(error.what()).find("make the directory first") != std::string::npos;
    }
    T_TRUE(is_thrown && !tracker.is_on());
    Recorder recorder(tracker, t_scratch("cpp.tts"));
    is_thrown = false;
    try {
        Recorder second(tracker, t_scratch("cpp2.tts"));
    } catch (const Error &error) {
        is_thrown = error.status() == TTS_E_BUSY;
    }
    T_TRUE(is_thrown);
}

T_TEST(a_publisher_shows_the_program_until_its_end)
{
    const std::string file = t_scratch("shown");
    const std::string directory = file.substr(0, file.rfind('/'));
    tts_publish_config config{};
    config.directory = directory.c_str();
    Tracker tracker;
    std::string path;
    {
        ttscope::Publisher shown = ttscope::publish(tracker, config);
        ttscope::Publisher joined = ttscope::publish(tracker);
        dram(tracker, 1, 100);
        path = shown.state().path;
        T_EQ(shown.state().events, 1);
        T_EQ(path.rfind(directory + "/ttscope_", 0), 0);
        T_TRUE(file_bytes(path) > 4096);
        joined.end();
        T_TRUE(tracker.is_on());
        ttscope::Publisher moved(std::move(shown));
        T_TRUE(tracker.is_on());
    }
    T_TRUE(!tracker.is_on());
    T_TRUE(!std::ifstream(path).good());
    tts_status status = TTS_OK;
    config.directory = "/nowhere";
    try {
        ttscope::Publisher refused(tracker, config);
    } catch (const Error &error) {
        status = error.status();
    }
    T_EQ(status, TTS_E_IO);
}
