// A training loop from tt-train's guide. Only the include is changed.
#include "cpp/t.hpp"
#include "ttscope/ttscope.hpp"

#include <cstdlib>
#include <new>
#include <stdexcept>

#include <dlfcn.h>

// Number of allocations that still succeed; negative: all. The operators are not inlined
// because compilers would then warn about mismatched new and delete.
static long allocations_left = -1;

[[gnu::noinline]] void *operator new(std::size_t size)
{
    void *memory = allocations_left == 0 ? nullptr : std::malloc(size > 0 ? size : 1);
    if (!memory)
        throw std::bad_alloc();
    if (allocations_left > 0)
        allocations_left--;
    return memory;
}

[[gnu::noinline]] void operator delete(void *memory) noexcept
{
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}

// The status that tts_capture_end() returns from now on, unless TTS_OK.
static tts_status end_failure = TTS_OK;

extern "C" tts_status tts_capture_end(tts_capture *capture, const char *name, tts_error *err)
{
    using End = tts_status (*)(tts_capture *, const char *, tts_error *);
    static const End next = reinterpret_cast<End>(dlsym(RTLD_NEXT, "tts_capture_end"));
    const tts_status status = next(capture, name, err);
    return end_failure != TTS_OK ? end_failure : status;
}

// Reports an allocation, as the runtime would do.
static void allocate(std::uint64_t id, std::uint64_t bytes)
{
    T_EQ(ttscope::Tracker::process().alloc(0, TTS_POOL_DRAM, id, bytes), TTS_OK);
}

static void deallocate(std::uint64_t id)
{
    T_EQ(ttscope::Tracker::process().free(0, TTS_POOL_DRAM, id), TTS_OK);
}

static const std::uint64_t mb = 1 << 20;

static void train_one_step()
{
    allocate(1, 8 * mb);
    ttml::utils::MemoryUsageTracker::snapshot("MODEL_CREATION");
    allocate(2, 16 * mb);
    ttml::utils::MemoryUsageTracker::snapshot("OPTIMIZER_CREATION");
    allocate(3, 4 * mb);
    ttml::utils::MemoryUsageTracker::snapshot("FORWARD_PASS");
    allocate(4, 8 * mb);
    deallocate(3);
    ttml::utils::MemoryUsageTracker::snapshot("BACKWARD_PASS");
    for (std::uint64_t id : {UINT64_C(1), UINT64_C(2), UINT64_C(4)})
        deallocate(id);
    ttml::utils::MemoryUsageTracker::end_capture("ITERATION_COMPLETE");
}

static const char *summary =
    "=== Memory Usage Summary ===\n\n"
    "--- MODEL_CREATION ---\n"
    "  DRAM: Segment Peak 8.00 MB, Allocations 8.00 MB, Deallocations 0.00 MB, "
    "Segment Change +8.00 MB\n"
    "  DRAM: Cumulative Peak 8.00 MB, Cumulative Current 8.00 MB\n"
    "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
    "--- OPTIMIZER_CREATION ---\n"
    "  DRAM: Segment Peak 16.00 MB, Allocations 16.00 MB, Deallocations 0.00 MB, "
    "Segment Change +16.00 MB\n"
    "  DRAM: Cumulative Peak 24.00 MB, Cumulative Current 24.00 MB\n"
    "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
    "--- FORWARD_PASS ---\n"
    "  DRAM: Segment Peak 4.00 MB, Allocations 4.00 MB, Deallocations 0.00 MB, "
    "Segment Change +4.00 MB\n"
    "  DRAM: Cumulative Peak 28.00 MB, Cumulative Current 28.00 MB\n"
    "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
    "--- BACKWARD_PASS ---\n"
    "  DRAM: Segment Peak 8.00 MB, Allocations 8.00 MB, Deallocations 4.00 MB, "
    "Segment Change +4.00 MB\n"
    "  DRAM: Cumulative Peak 36.00 MB, Cumulative Current 32.00 MB\n"
    "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
    "--- ITERATION_COMPLETE ---\n"
    "  DRAM: Segment Peak 0.00 MB, Allocations 0.00 MB, Deallocations 32.00 MB, "
    "Segment Change -32.00 MB\n"
    "  DRAM: Cumulative Peak 36.00 MB, Cumulative Current 0.00 MB\n"
    "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
    "\n=== Final Totals ===\n"
    "Overall DRAM Peak: 36.00 MB, Final DRAM Usage: 0.00 MB\n\n";

// A message is printed once per process. These tests come first, each in its own process.

T_TEST(a_capture_without_events_says_once_what_to_do)
{
    T_TEXT_EQ(
        said([] {
            for (int i = 0; i < 2; i++) {
                auto guard = ttml::utils::MemoryUsageTracker::begin_capture();
                ttml::utils::MemoryUsageTracker::end_capture();
                printed([] { ttml::utils::MemoryUsageTracker::print_memory_usage(); });
            }
        }),
        "ttscope: the capture saw no event, so every figure is 0; the program was compiled "
        "without tt-metal's headers: add the directory of tt-metalium/ with -I and "
        "compile as C++20, or report each allocation to ttscope::Tracker::process()\n");
}

T_TEST(no_dispatch_with_nothing_to_hold_says_so)
{
    std::string text = said([] {
        auto guard = ttml::utils::MemoryUsageTracker::begin_capture(
            tt::tt_metal::IGraphProcessor::RunMode::NO_DISPATCH);
        train_one_step();
    });
    T_EQ(text.find("ttscope: NO_DISPATCH had no effect, so everything was really allocated"),
         0);
}

T_TEST(no_dispatch_with_a_device_to_hold_says_nothing)
{
    T_TEXT_EQ(said([] {
                  tts_chip chip;
                  tts_device *device = nullptr;
                  T_EQ(tts_chip_preset("n150", &chip, nullptr), TTS_OK);
                  T_EQ(tts_device_new(&chip, nullptr, nullptr, &device, nullptr), TTS_OK);
                  ttscope::Tracker tracker = ttscope::Tracker::process();
                  auto guard = ttml::utils::MemoryUsageTracker::begin_capture(
                      tt::tt_metal::IGraphProcessor::RunMode::NO_DISPATCH);
                  tracker.attach(device, 7);
                  train_one_step();
                  tracker.detach(device);
                  tts_device_free(device);
              }),
              "");
}

T_TEST(snapshot_and_end_need_no_memory_of_cpp)
{
    auto guard = ttml::utils::MemoryUsageTracker::begin_capture();
    const std::string name(300, 'n');
    allocations_left = 0;
    ttml::utils::MemoryUsageTracker::snapshot(name);
    ttml::utils::MemoryUsageTracker::end_capture(name);
    allocations_left = -1;
    T_TRUE(!ttscope::Tracker::process().is_on());
    T_EQ(ttml::utils::MemoryUsageTracker::get_trace_names().size(), 2);
}

T_TEST(a_failure_at_the_end_is_said_once_and_ends_no_training_run)
{
    std::string text = said([] {
        for (tts_status failure : {TTS_E_NOMEM, TTS_E_NOMEM, TTS_E_INVALID}) {
            auto guard = ttml::utils::MemoryUsageTracker::begin_capture();
            allocate(1, mb);
            ttml::utils::MemoryUsageTracker::snapshot("A");
            end_failure = failure;
            ttml::utils::MemoryUsageTracker::end_capture("B");
            end_failure = TTS_OK;
            T_TEXT_EQ(ttml::utils::MemoryUsageTracker::get_trace_names().at(0), "A");
        }
        allocations_left = 0; // leaves no memory, not even for the text of an error
        end_failure = TTS_E_NOMEM;
        ttml::utils::MemoryUsageTracker::end_capture("B");
        allocations_left = -1;
    });
    T_TEXT_EQ(text, "ttscope: the last segment is lost: out of memory\n");
}

T_TEST(the_loop_of_the_guide_prints_its_summary)
{
    ttnn::ScopeGuard guard = ttml::utils::MemoryUsageTracker::begin_capture();
    train_one_step();
    T_TEXT_EQ(printed([] { ttml::utils::MemoryUsageTracker::print_memory_usage(); }), summary);
    ttml::utils::MemoryUsageTracker::clear();
}

T_TEST(without_dispatch_it_prints_the_same)
{
    ttnn::ScopeGuard guard = ttml::utils::MemoryUsageTracker::begin_capture(
        tt::tt_metal::IGraphProcessor::RunMode::NO_DISPATCH);
    train_one_step();
    T_TEXT_EQ(printed([] { ttml::utils::MemoryUsageTracker::print_memory_usage(); }), summary);
}

T_TEST(a_guard_may_be_kept_as_the_example_keeps_it)
{
    std::unique_ptr<ttnn::ScopeGuard> memory_usage_guard;
    memory_usage_guard.reset(
        new ttnn::ScopeGuard(ttml::utils::MemoryUsageTracker::begin_capture()));
    ttml::utils::MemoryUsageTracker::snapshot("MODEL_CREATION");
    T_EQ(ttml::utils::MemoryUsageTracker::get_trace_names().size(), 1);
    memory_usage_guard.reset();
    T_EQ(ttml::utils::MemoryUsageTracker::get_trace_names().size(), 0);
    T_TRUE(!ttscope::Tracker::process().is_on());
}

T_TEST(a_released_guard_forgets)
{
    {
        auto guard = ttml::utils::MemoryUsageTracker::begin_capture();
        guard.release();
        guard.release();
    }
    T_TRUE(ttscope::Tracker::process().is_on());
    ttml::utils::MemoryUsageTracker::clear();
}

T_TEST(a_guard_that_cannot_be_made_leaves_nothing_active)
{
    bool is_made = false;
    for (long left = 0; !is_made; left++) {
        try {
            allocations_left = left;
            auto guard = ttml::utils::MemoryUsageTracker::begin_capture();
            allocations_left = -1;
            is_made = true;
        } catch (const std::bad_alloc &) {
            allocations_left = -1;
        }
        T_TRUE(!ttscope::Tracker::process().is_on());
    }
}

T_TEST(a_stale_guard_of_this_kind_is_harmless_too)
{
    std::unique_ptr<ttnn::ScopeGuard> stale(
        new ttnn::ScopeGuard(ttml::utils::MemoryUsageTracker::begin_capture()));
    ttml::utils::MemoryUsageTracker::end_capture();
    auto guard = ttml::utils::MemoryUsageTracker::begin_capture();
    stale.reset();
    T_TRUE(ttscope::Tracker::process().is_on());
    T_EQ(ttml::utils::MemoryUsageTracker::get_trace_names().size(), 1);
}

T_TEST(usage_is_asked_for_by_name_and_in_order)
{
    auto guard = ttml::utils::MemoryUsageTracker::begin_capture();
    train_one_step();
    ttml::utils::DRAMUsage dram =
        ttml::utils::MemoryUsageTracker::get_dram_usage("BACKWARD_PASS");
    T_EQ(dram.peak, 8 * mb);
    T_EQ(dram.total_allocations - dram.total_deallocations, 4 * mb);
    ttml::utils::L1UsagePerCore l1 =
        ttml::utils::MemoryUsageTracker::get_l1_usage("BACKWARD_PASS");
    T_EQ(l1.peak_l1, 0);
    auto names = ttml::utils::MemoryUsageTracker::get_trace_names();
    auto all = ttml::utils::MemoryUsageTracker::get_dram_usage_all();
    auto all_l1 = ttml::utils::MemoryUsageTracker::get_l1_usage_all();
    T_EQ(all.size(), 5);
    for (std::size_t i = 0; i < all.size(); i++) {
        T_TEXT_EQ(all[i].first, names[i]);
        T_TEXT_EQ(all_l1[i].first, names[i]);
    }
    T_STR_EQ(ttml::utils::MemoryUsageTracker::kDefaultTraceName, "END_TRACE");
    T_TEXT_EQ(
        thrown<std::runtime_error>([] { ttml::utils::MemoryUsageTracker::get_dram_usage(); }),
        "MemoryUsageTracker: Trace 'END_TRACE' not found");
    T_TEXT_EQ(
        thrown<std::runtime_error>([] { ttml::utils::MemoryUsageTracker::snapshot("late"); }),
        "MemoryUsageTracker: Cannot snapshot - capture is not active");
}
