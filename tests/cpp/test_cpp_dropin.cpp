// A published program that is compiled with the runtime's headers: begin_capture() observes the
// runtime and holds back its dispatch. Compiled for each generation, with and without ttnn, for
// a runtime that shows little and for one that asks unknown questions.
#include "cpp/t.hpp"
#include "ttscope/ttscope.hpp"

#include <memory>
#include <thread>

using namespace tt::tt_metal;
using Usage = ttml::utils::MemoryUsageTracker;
using RunMode = IGraphProcessor::RunMode;

enum { TILE = 2048 };

#if defined(STANDIN_BARE) || defined(STANDIN_STRANGE)
static constexpr bool kCanHold = false;
#else
static constexpr bool kCanHold = true;
#endif

// ---- actions of the runtime ----

static IDevice &device()
{
    static IDevice only_one(0);
    return only_one;
}

// Allocates a buffer unless a hook forbids it. Notifies the observers in both cases.
struct Tensor {
    Buffer buffer{&device(), BufferType::DRAM, 4 * TILE, TILE};
    bool is_real = true;

    Tensor()
    {
#ifndef STANDIN_BARE
        is_real = !GraphTracker::instance().hook_allocate(&buffer);
#endif
        GraphTracker::instance().tell([&](IGraphProcessor &p) { p.track_allocate(&buffer); });
    }
    ~Tensor()
    {
        GraphTracker::instance().tell([&](IGraphProcessor &p) { p.track_deallocate(&buffer); });
    }
};

static std::size_t watchers()
{
    std::size_t count = 0;
    GraphTracker::instance().tell([&](IGraphProcessor &) { count++; });
    return count;
}

static bool is_blocked()
{
    return !Tensor().is_real;
}

// ---- messages: first, because each is printed once per process ----

T_TEST(a_capture_without_events_says_once_what_to_do)
{
    std::string text = said([] {
        for (int i = 0; i < 2; i++) {
            auto guard = Usage::begin_capture();
            Usage::end_capture();
            printed([] { Usage::print_memory_usage(); });
        }
    });
    T_TEXT_EQ(text,
              "ttscope: the capture saw no event, so every figure is 0; tt-metal "
              "reported nothing: call begin_capture() on the thread that allocates, before its "
              "first allocation; on other threads call ttscope::metal::watch()\n");
}

T_TEST(a_capture_with_events_says_nothing)
{
    T_TEXT_EQ(said([] {
                  auto guard = Usage::begin_capture();
                  Tensor tensor;
                  Usage::end_capture();
                  printed([] { Usage::print_memory_usage(); });
              }),
              "");
}

T_TEST(no_dispatch_says_at_once_if_it_cannot_hold)
{
    std::string text = said([] { auto guard = Usage::begin_capture(RunMode::NO_DISPATCH); });
    if (kCanHold)
        T_TEXT_EQ(text, "");
    else
        T_EQ(text.find("ttscope: NO_DISPATCH has no effect on tt-metal: ttscope cannot"), 0);
}

// ---- observing ----

T_TEST(begin_capture_watches_and_every_end_stops_it)
{
    {
        auto guard = Usage::begin_capture();
        T_EQ(watchers(), 1);
        Tensor first;
        Usage::snapshot("A");
        Tensor second;
        T_EQ(watchers(), 1);
        Usage::end_capture("B");
        T_EQ(watchers(), 0);
        T_EQ(Usage::get_dram_usage("A").peak, 4 * TILE);
        T_EQ(Usage::get_dram_usage("B").peak, 4 * TILE);
    }
    {
        auto guard = Usage::begin_capture();
        Usage::clear();
        T_EQ(watchers(), 0);
    }
    {
        auto guard = Usage::begin_capture();
    }
    T_EQ(watchers(), 0);
}

T_TEST(a_refused_begin_leaves_the_watch_of_the_first)
{
    auto guard = Usage::begin_capture();
    T_TEXT_EQ(thrown<std::runtime_error>([] { auto second = Usage::begin_capture(); }),
              "MemoryUsageTracker: Capture already active");
    T_EQ(watchers(), 1);
    Tensor tensor;
    Usage::end_capture();
    T_EQ(Usage::get_dram_usage().peak, 4 * TILE);
}

T_TEST(a_watch_of_the_program_itself_counts_nothing_twice)
{
    auto watching = ttscope::metal::watch();
    auto guard = Usage::begin_capture();
    T_EQ(watchers(), 1);
    Tensor tensor;
    Usage::end_capture();
    T_EQ(Usage::get_dram_usage().peak, 4 * TILE);
    T_EQ(watchers(), 1);
}

// ---- holding back dispatch ----

T_TEST(without_dispatch_nothing_is_allocated_until_the_end)
{
    for (int snapshots = 0; snapshots < 4; snapshots++) {
        auto guard = Usage::begin_capture(RunMode::NO_DISPATCH);
        for (int i = 0; i < snapshots; i++) {
            T_EQ(is_blocked(), kCanHold);
            Usage::snapshot("S");
        }
        T_EQ(is_blocked(), kCanHold);
        Usage::end_capture("LAST");
        T_TRUE(!is_blocked());
        T_EQ(Usage::get_dram_usage("LAST").peak, 4 * TILE);
    }
    {
        auto guard = Usage::begin_capture(ttscope::Mode::NO_DISPATCH);
        Usage::clear();
        T_TRUE(!is_blocked());
    }
    {
        auto guard = Usage::begin_capture(RunMode::NO_DISPATCH);
    }
    T_TRUE(!is_blocked());
    auto guard = Usage::begin_capture(RunMode::NORMAL);
    T_TRUE(!is_blocked());
}

#if !defined(STANDIN_BARE) && !defined(STANDIN_STRANGE)
T_TEST(a_program_that_is_held_back_has_its_circular_buffers)
{
    auto guard = Usage::begin_capture(RunMode::NO_DISPATCH);
    Program program;
    program.cbs.push_back(std::make_shared<CircularBuffer>(
        CoreRangeSet({CoreRange{{0, 0}, {7, 7}}}), 3 * TILE, false));
    GraphTracker::instance().tell(
        [&](IGraphProcessor &p) { p.track_program(&program, &device()); });
    Usage::end_capture();
    T_EQ(Usage::get_l1_usage().peak_cb, 3 * TILE);
}

struct TheirHook final : ttscope::metal::detail::Blocker<IGraphHooks> {
};

T_TEST(a_hook_of_somebody_else_stays_and_is_told)
{
    auto theirs = std::make_shared<TheirHook>();
    T_TRUE(GraphTracker::instance().add_hook(theirs));
    T_EQ(said([] { auto guard = Usage::begin_capture(RunMode::NO_DISPATCH); })
             .find("ttscope: NO_DISPATCH has no effect on tt-metal: a graph capture of the "
                   "runtime is active"),
         0);
    T_TRUE(GraphTracker::instance().get_hook() == theirs);
    GraphTracker::instance().clear_hook();
}

T_TEST(a_capture_that_ends_on_another_thread_holds_nothing_any_more)
{
    auto guard = Usage::begin_capture(RunMode::NO_DISPATCH);
    T_TRUE(is_blocked());
    std::thread([] { Usage::end_capture(); }).join();
    T_TRUE(!is_blocked());
    GraphTracker::instance().clear_hook();
    Usage::clear();
}

#if __has_include(<ttnn/graph/graph_processor.hpp>)
T_TEST(the_hook_is_one_that_ttnn_knows)
{
    auto guard = Usage::begin_capture(RunMode::NO_DISPATCH);
    auto *hook =
        dynamic_cast<ttnn::graph::ProcessorHooks *>(GraphTracker::instance().get_hook().get());
    T_TRUE(hook && hook->get_block());
}
#endif
#endif
