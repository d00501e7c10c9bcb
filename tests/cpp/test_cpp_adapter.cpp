// Tests of the adapter with a stand-in for the runtime. The file is compiled for each
// generation of the runtime, and for each generation again without the members that an adapter
// does not need.
#include "cpp/t.hpp"
#include "ttscope/metal.hpp"
#include "ttscope/ttscope.hpp"

#include "../src/wire/clientregion.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <thread>

using namespace tt::tt_metal;
using ttscope::metal::Watch;
using ttscope::metal::watch;
using Observer = ttscope::metal::detail::Observer;
using Usage = ttscope::MemoryUsageTracker;

enum { TILE = 2048 };

static constexpr bool kPerThread = GraphTracker::kListPerThread;
template <class R>
concept shows_list = requires(R &runtime)
{
    runtime.get_processors();
};
static constexpr bool kBare = !shows_list<GraphTracker>;

// Returns the id under which the adapter reports a mesh. If devices know their mesh, the top
// bit is set.
static constexpr std::uint32_t mesh_id(std::uint32_t id)
{
    return kBare ? id : UINT32_C(0x80000000) | id;
}

// ---- actions of the runtime ----

template <class Tell> static void tell(Tell tell)
{
    GraphTracker::instance().tell(tell);
}

static void allocate(const Buffer &buffer)
{
    tell([&](IGraphProcessor &p) { p.track_allocate(&buffer); });
}

static void deallocate(Buffer &buffer)
{
    tell([&](IGraphProcessor &p) { p.track_deallocate(&buffer); });
}

static CoreRangeSet cores(std::size_t x0, std::size_t y0, std::size_t x1, std::size_t y1)
{
    return CoreRangeSet({CoreRange{{x0, y0}, {x1, y1}}});
}

static void cb(const IDevice &device, std::uint64_t size, const CoreRangeSet &on,
               bool is_global = false)
{
    tell([&](IGraphProcessor &p) { p.track_allocate_cb(on, 0, size, is_global, &device); });
}

static void run(Program &program, const IDevice &device)
{
    tell([&](IGraphProcessor &p) { p.track_program(&program, &device); });
}

// A tracker that is watched and captured, with access to the resulting usage.
struct Rig {
    ttscope::Tracker tracker;
    ttscope::Capture capture{tracker};
    std::unique_ptr<Watch> watching{new Watch(tracker.get())};

    Rig()
    {
        capture.begin();
    }
    const tts_phase &cut()
    {
        capture.snapshot("phase");
        return *capture.phases().back();
    }
    const tts_usage &of(std::uint32_t device)
    {
        const tts_phase &phase = cut();
        for (std::size_t i = 0; i < phase.device_count; i++)
            if (phase.devices[i].device == device)
                return phase.devices[i].usage;
        T_TRUE(device == UINT32_MAX); // no device has this id
        return phase.usage;
    }
};

// ---- types ----

static_assert(!std::is_move_constructible_v<Watch> && !std::is_copy_constructible_v<Watch>);
static_assert(std::is_same_v<decltype(&Observer::begin_capture),
                             void (IGraphProcessor::*)(IGraphProcessor::RunMode)>);
static_assert(
    std::is_same_v<decltype(&Observer::end_capture), nlohmann::json (IGraphProcessor::*)()>);
static_assert(noexcept(std::declval<Observer &>().track_allocate(nullptr)));
static_assert(noexcept(std::declval<Observer &>().track_deallocate(nullptr)));
static_assert(noexcept(std::declval<Observer &>().track_deallocate_cb(nullptr)));
static_assert(noexcept(std::declval<Observer &>().track_program(nullptr, nullptr)));
static_assert(noexcept(std::declval<Observer &>().track_function_end()));
static_assert(ttscope::metal::detail::has_dataflow_buffers<IGraphProcessor> == kPerThread);
static_assert(ttscope::metal::detail::has_scratchpads<IGraphProcessor> == kPerThread);
static_assert(ttscope::metal::detail::has_capture_question<IGraphProcessor> == kPerThread);

T_TEST(two_lines_are_enough)
{
    Usage::clear();
    auto watching = watch();
    auto guard = Usage::begin_capture();
    IDevice device(0);
    Buffer buffer(&device, BufferType::DRAM, 4 * TILE, TILE);
    allocate(buffer);
    deallocate(buffer);
    Usage::end_capture();
    T_EQ(Usage::get_dram_usage().peak, 4 * TILE);
    T_EQ(Usage::get_dram_usage().total_deallocations, 4 * TILE);
    T_EQ(watching.lost(), 0);
}

T_TEST(without_a_tracker_there_is_nothing_to_watch)
{
    bool is_thrown = false;
    try {
        auto watching = watch(nullptr);
    } catch (const std::bad_alloc &) {
        is_thrown = true;
    }
    T_TRUE(is_thrown);
}

T_TEST(it_is_in_the_background_where_there_is_one)
{
    T_TRUE(!GraphTracker::instance().is_enabled());
    Rig rig;
    T_EQ(GraphTracker::instance().is_enabled(), !kPerThread);
}

// ---- how a buffer was requested ----

static tts_event asked(const Buffer &buffer, tts_pool pool)
{
    tts_event event{};
    event.kind = TTS_EVENT_ALLOC;
    event.pool = pool;
    event.size_bytes = buffer.size();
    ttscope::metal::detail::add_request(event, buffer);
    return event;
}

#ifndef STANDIN_BARE
T_TEST(a_buffer_is_told_with_its_place_and_how_it_was_asked_for)
{
    IDevice device(0);
    Buffer buffer(&device, BufferType::DRAM, 4 * TILE, TILE);
    buffer.at = 4096;
    tts_event event = asked(buffer, TTS_POOL_DRAM);
    T_TRUE(event.has_address && event.address == 4096 && event.page_bytes == TILE);
    T_TRUE(event.cores == 0 && event.placement == TTS_PLACE_DEFAULT);
    buffer.is_bottom_up = false;
    T_EQ(asked(buffer, TTS_POOL_DRAM).placement, TTS_PLACE_DOWN);
    T_EQ(asked(buffer, TTS_POOL_TRACE).placement, TTS_PLACE_DOWN);
    T_EQ(asked(buffer, TTS_POOL_L1).placement, TTS_PLACE_DEFAULT);
    buffer.is_bottom_up = true;
    buffer.sharded_on = 12;
    event = asked(buffer, TTS_POOL_L1);
    T_TRUE(event.cores == 12 && event.placement == TTS_PLACE_UP);
}

T_TEST(what_cannot_be_known_of_a_buffer_is_left_out_and_it_is_counted)
{
    Rig rig;
    IDevice device(0);
    Buffer buffer(&device, BufferType::DRAM, 4 * TILE, TILE);
    // without dispatch a buffer has no address
    T_TRUE(!asked(buffer, TTS_POOL_DRAM).has_address);
    buffer.at = 4096;
    tts_event event{};
    event.size_bytes = buffer.size();
    event.range_count = 1; // each core has its own address, so the event names the cores
    ttscope::metal::detail::add_request(event, buffer);
    T_TRUE(!event.has_address && event.page_bytes == TILE);
    buffer.page = 8 * TILE;
    T_EQ(asked(buffer, TTS_POOL_DRAM).page_bytes, 0);
    buffer.page = TILE;
    buffer.sharded_on = 1000000;
    event = asked(buffer, TTS_POOL_DRAM);
    T_TRUE(event.page_bytes == 0 && event.cores == 0);
    buffer.is_allocated = false;
    event = asked(buffer, TTS_POOL_DRAM);
    T_TRUE(!event.has_address && event.page_bytes == 0);
    allocate(buffer);
    T_EQ(rig.cut().usage.pools[TTS_POOL_DRAM].allocated_bytes, 4 * TILE);
    T_EQ(rig.watching->lost(), 0);
}
#else
T_TEST(a_runtime_that_does_not_say_how_a_buffer_was_asked_for_is_not_asked)
{
    IDevice device(0);
    Buffer buffer(&device, BufferType::DRAM, 4 * TILE, TILE);
    tts_event event = asked(buffer, TTS_POOL_DRAM);
    T_TRUE(!event.has_address && event.page_bytes == 0 && event.cores == 0);
}
#endif

// ---- buffers ----

T_TEST(buffers_go_to_the_pool_of_their_type)
{
    Rig rig;
    IDevice device(2);
    const BufferType types[] = {BufferType::DRAM, BufferType::L1, BufferType::SYSTEM_MEMORY,
                                BufferType::L1_SMALL, BufferType::TRACE};
    std::uint64_t size = 64 * TILE;
    for (BufferType type : types) {
        Buffer buffer(&device, type, size, size / 64);
        allocate(buffer);
        size *= 2;
    }
    const tts_usage &usage = rig.of(2);
    T_EQ(usage.pools[TTS_POOL_DRAM].peak_bytes, 64 * TILE);
    T_EQ(usage.pools[TTS_POOL_L1].peak_bytes, 2 * TILE);
    T_EQ(usage.pools[TTS_POOL_L1_SMALL].peak_bytes, 8 * TILE);
    T_EQ(usage.pools[TTS_POOL_TRACE].peak_bytes, 16 * 64 * TILE);
    T_EQ(rig.tracker.health().events, 4);
}

T_TEST(a_buffer_of_no_device_is_on_device_0)
{
    Rig rig;
    Buffer buffer(nullptr, BufferType::DRAM, TILE, TILE);
    allocate(buffer);
    T_EQ(rig.of(0).pools[TTS_POOL_DRAM].allocated_bytes, TILE);
}

T_TEST(a_buffer_from_before_is_freed_with_its_sizes)
{
    Rig rig;
    IDevice device(0);
    Buffer dram(&device, BufferType::DRAM, 3 * TILE, TILE);
    Buffer l1(&device, BufferType::L1, 64 * TILE, TILE);
    deallocate(dram);
    deallocate(l1);
    const tts_usage &usage = rig.of(0);
    T_EQ(usage.pools[TTS_POOL_DRAM].freed_bytes, 3 * TILE);
    T_EQ(usage.pools[TTS_POOL_L1].freed_bytes, TILE);
    T_EQ(usage.pools[TTS_POOL_L1].peak_bytes, 0);
    T_EQ(rig.tracker.health().unseen_frees, 2);
}

T_TEST(a_buffer_with_an_address_for_each_core_is_on_its_cores_alone)
{
    Rig rig;
    IDevice device(0);
    Buffer buffer(&device, BufferType::L1, 4 * TILE, TILE);
    buffer.shards = cores(0, 0, 1, 1);
    buffer.is_per_core = true;
    Buffer lockstep(&device, BufferType::L1, 4 * TILE, TILE);
    lockstep.shards = cores(0, 0, 1, 1);
    allocate(buffer);
    allocate(lockstep);
    cb(device, 3 * TILE, cores(7, 7, 7, 7));
    const tts_usage &usage = rig.of(0);
    // the old runtime has no such buffers
    T_EQ(usage.core.bytes, kPerThread ? 4 * TILE : 5 * TILE);
    T_EQ(usage.pools[TTS_POOL_L1].peak_bytes, 2 * TILE);
    deallocate(buffer);
    T_EQ(rig.of(0).pools[TTS_POOL_L1].freed_bytes, TILE);
    T_EQ(rig.watching->lost(), 0);
}

T_TEST(without_dispatch_addresses_do_not_tell_buffers_apart)
{
    Rig rig;
    IDevice device(0);
    Buffer first(&device, BufferType::DRAM, TILE, TILE);
    Buffer second(&device, BufferType::DRAM, 2 * TILE, TILE);
    allocate(first);
    allocate(second);
    deallocate(first);
    const tts_usage &usage = rig.of(0);
    T_EQ(usage.pools[TTS_POOL_DRAM].peak_bytes, 3 * TILE);
    T_EQ(usage.pools[TTS_POOL_DRAM].freed_bytes, TILE);
    T_EQ(rig.tracker.health().doubled, 0);
}

T_TEST(while_nobody_listens_nothing_is_told)
{
    Rig rig;
    rig.capture.end();
    IDevice device(0);
    // The adapter must not ask for the number of banks: that would throw.
    Buffer buffer(&device, BufferType::L1, TILE, 0);
    allocate(buffer);
    cb(device, TILE, cores(0, 0, 7, 7));
    rig.capture.begin();
    T_EQ(rig.cut().events, 0);
    T_EQ(rig.watching->lost(), 0);
}

// ---- memory of programs on cores ----

T_TEST(a_program_takes_the_place_of_the_one_before)
{
    Rig rig;
    IDevice device(0);
    Program program;
    for (int i = 0; i < 3; i++) {
        run(program, device);
        cb(device, 2 * TILE, cores(0, 0, 7, 7));
        cb(device, TILE, cores(0, 0, 3, 3));
        // A global circular buffer lies inside another buffer.
        cb(device, 1000 * TILE, cores(0, 0, 7, 7), true);
    }
    const tts_usage &usage = rig.of(0);
    T_EQ(usage.peak_cb_bytes, 3 * TILE);
    T_EQ(usage.core.bytes, 3 * TILE);
    T_EQ(usage.programs, 3);
}

T_TEST(what_a_program_had_goes_with_it)
{
    Rig rig;
    IDevice device(0);
    tell([&](IGraphProcessor &p) { p.track_deallocate_cb(&device); }); // no program was running
    cb(device, TILE, cores(0, 0, 7, 7));
    tell([&](IGraphProcessor &p) { p.track_deallocate_cb(&device); });
    T_EQ(rig.cut().usage.programs, 1);
    cb(device, 3 * TILE, cores(0, 0, 7, 7));
    T_EQ(rig.of(0).core.bytes, 3 * TILE);
}

template <class P> static void dataflow_buffers(const IDevice &device)
{
    if constexpr (ttscope::metal::detail::has_dataflow_buffers<P>) {
        CoreRangeSet on = cores(0, 0, 7, 7);
        tell([&](P &p) {
            p.track_allocate_dataflow_buffer(on, 0, 4096, true, &device);
            p.track_allocate_dataflow_buffer(on, 0, 256, false, &device);
            p.track_allocate_scratchpad(on, 0, 512, &device);
        });
    }
}

T_TEST(dataflow_buffers_and_scratchpads_count_where_there_are_any)
{
    Rig rig;
    IDevice device(0);
    cb(device, 1024, cores(0, 0, 7, 7));
    dataflow_buffers<IGraphProcessor>(device);
    const tts_usage &usage = rig.of(0);
    T_EQ(usage.peak_cb_bytes, 1024);
    T_EQ(usage.peak_dfb_bytes, kPerThread ? 256 : 0);
    T_EQ(usage.peak_scratchpad_bytes, kPerThread ? 512 : 0);
    T_EQ(usage.core.bytes, kPerThread ? 1792 : 1024);
}

T_TEST(a_program_that_is_held_back_is_told_with_its_circular_buffers)
{
    Rig rig;
    IDevice device(0);
    Program program;
    program.cbs.push_back(std::make_shared<CircularBuffer>(cores(0, 0, 7, 7), 2 * TILE, false));
    program.cbs.push_back(std::make_shared<CircularBuffer>(cores(0, 0, 7, 7), 64 * TILE, true));
    // the program really runs: the runtime reports its circular buffers, or did so before
    run(program, device);
    T_EQ(rig.cut().usage.peak_cb_bytes, 0);
    GraphTracker::instance().is_blocking = true;
    run(program, device);
    run(program, device);
    GraphTracker::instance().is_blocking = false;
    T_EQ(rig.of(0).peak_cb_bytes, kBare ? 0 : 2 * TILE);
}

T_TEST(operations_are_known_by_name)
{
    Rig rig;
    IDevice device(0);
    int argument = 7;
    GraphTracker::instance().track_function_start("outer", argument);
    GraphTracker::instance().track_function_start("inner_of_many", argument);
    cb(device, TILE, cores(1, 1, 1, 1));
    tell([&](IGraphProcessor &p) { p.track_function_end(std::any(argument)); });
    const tts_phase &phase = rig.cut();
    T_EQ(phase.usage.ops, 2);
    T_STR_EQ(phase.usage.core.op, "inner_of_many");
    T_TRUE(phase.usage.core.core.x == 1 && phase.usage.core.core.y == 1);
    cb(device, TILE, cores(1, 1, 1, 1));
    T_STR_EQ(rig.cut().usage.core.op, "outer");
    tell([&](IGraphProcessor &p) { p.track_function_end(); });
    cb(device, TILE, cores(1, 1, 1, 1));
    T_TRUE(rig.cut().usage.core.op == nullptr);
}

// ---- many ranges ----

// Returns every core of [0, side) x [0, side) for which `has` is true, each as a range.
template <class Has> static CoreRangeSet singles(std::size_t side, Has has)
{
    std::vector<CoreRange> ranges;
    for (std::size_t y = 0; y < side; y++)
        for (std::size_t x = 0; x < side; x++)
            if (has(x, y))
                ranges.push_back(CoreRange{{x, y}, {x, y}});
    T_TRUE(ranges.size() > TTS_RANGES_MAX);
    return CoreRangeSet(ranges);
}

T_TEST(more_ranges_than_fit_become_the_same_cores_in_fewer)
{
    Rig rig;
    IDevice device(0);
    cb(device, 100, singles(9, [](auto x, auto y) { return x != 4 || y != 4; }));
    cb(device, 90, cores(4, 4, 4, 4));
    T_EQ(rig.of(0).core.bytes, 100); // no core is in both sets
    cb(device, 7, singles(9, [](auto, auto) { return true; }));
    T_EQ(rig.of(0).core.bytes, 107);
    // Six columns of cores
    cb(device, 20, singles(16, [](auto x, auto) { return x % 3 == 0; }));
    cb(device, 30, cores(10, 12, 10, 12));
    cb(device, 140, cores(12, 15, 12, 15));
    const tts_usage &usage = rig.of(0);
    T_EQ(usage.core.bytes, 160);
    T_EQ(rig.watching->widened() + rig.watching->lost(), 0);
}

T_TEST(the_whole_of_the_largest_grid_is_one_range)
{
    Rig rig;
    IDevice device(0);
    cb(device, 5, singles(64, [](auto, auto) { return true; }));
    cb(device, 6, cores(63, 63, 63, 63));
    const tts_usage &usage = rig.of(0);
    T_EQ(usage.core.bytes, 11);
    T_TRUE(usage.core.core.x == 63 && usage.core.core.y == 63);
    T_EQ(rig.watching->widened(), 0);
}

T_TEST(cores_that_are_too_many_rectangles_get_their_gaps_in_a_row)
{
    Rig rig;
    IDevice device(0);
    cb(device, 100, singles(16, [](auto x, auto y) { return (x + y) % 2 == 0; }));
    T_EQ(rig.watching->widened(), 1);
    cb(device, 50, cores(3, 2, 3, 2));   // these cores leave a gap in the row
    cb(device, 70, cores(15, 0, 15, 0)); // this core is after the last core of its row
    const tts_usage &usage = rig.of(0);
    T_EQ(usage.peak_cb_bytes, 220);
    T_EQ(usage.core.bytes, 150);
    T_TRUE(usage.core.core.x == 3 && usage.core.core.y == 2);
    T_EQ(rig.watching->lost(), 0);
}

// ---- meshes ----

using Mesh = std::shared_ptr<distributed::MeshDevice>;

static Mesh open_mesh(int id, std::initializer_list<IDevice *> chips)
{
    auto mesh = std::make_shared<distributed::MeshDevice>(id);
#ifndef STANDIN_BARE
    for (IDevice *chip : chips)
        chip->mesh = mesh;
#else
    (void)chips;
#endif
    return mesh;
}

// Runs a program on the mesh. The runtime reports the program once, and its circular buffers
// for each chip.
static void run_on(const Mesh &mesh, std::initializer_list<IDevice *> chips, std::uint64_t size)
{
    Program program;
    run(program, *mesh);
    for (const IDevice *chip : chips)
        cb(*chip, size, cores(0, 0, 7, 7));
}

T_TEST(a_chip_has_the_buffers_of_its_mesh)
{
    Rig rig;
    IDevice first(0), second(1);
    Mesh mesh = open_mesh(2, {&first, &second});
    Buffer buffer(mesh.get(), BufferType::L1, 64 * TILE, TILE);
    allocate(buffer);
    for (int i = 0; i < 2; i++)
        run_on(mesh, {&first, &second}, 3 * TILE); // replaces the programs of both chips
    T_EQ(rig.of(0).core.bytes, 4 * TILE);
    const tts_usage &usage = rig.of(1);
    T_EQ(usage.core.bytes, 4 * TILE);
    T_EQ(usage.core.part_count, 2);
    T_EQ(rig.of(mesh_id(2)).core.bytes, TILE);
    T_EQ(rig.watching->lost(), 0);
}

#ifndef STANDIN_BARE
T_TEST(the_first_mesh_is_not_the_first_chip)
{
    Rig rig;
    IDevice first(0), second(1);
    Mesh mesh = open_mesh(0, {&first, &second});
    Buffer buffer(mesh.get(), BufferType::L1, 64 * TILE, TILE);
    allocate(buffer);
    for (int i = 0; i < 3; i++)
        run_on(mesh, {&first, &second}, 1000);
    const tts_phase &phase = rig.cut();
    T_EQ(phase.device_count, 3);
    T_EQ(phase.usage.peak_cb_bytes, 1000);
    T_EQ(phase.usage.core.bytes, TILE + 1000);
    for (std::size_t i = 0; i < phase.device_count; i++) {
        bool is_chip = phase.devices[i].device < 2;
        T_EQ(phase.devices[i].usage.core.bytes, is_chip ? TILE + 1000 : TILE);
        T_EQ(phase.devices[i].usage.peak_cb_bytes, is_chip ? 1000 : 0);
    }
    deallocate(buffer);
    T_EQ(rig.of(mesh_id(0)).pools[TTS_POOL_L1].frees, 1);
    T_EQ(rig.watching->lost(), 0);
}

T_TEST(chips_may_be_a_mesh_each)
{
    Rig rig;
    IDevice first(0), second(1);
    Mesh of_first = open_mesh(1, {&first}), of_second = open_mesh(2, {&second});
    Buffer buffer(of_second.get(), BufferType::L1, 64 * TILE, TILE);
    allocate(buffer);
    for (int i = 0; i < 5; i++) {
        run_on(of_first, {&first}, 1000);
        run_on(of_second, {&second}, 700);
    }
    T_EQ(rig.cut().usage.peak_cb_bytes, 1000);
    run_on(of_first, {&first}, 1000);
    run_on(of_second, {&second}, 700);
    T_EQ(rig.of(0).core.bytes, 1000);
    T_EQ(rig.of(1).core.bytes, TILE + 700);
    T_EQ(rig.watching->lost(), 0);
}

T_TEST(a_program_that_is_held_back_is_on_its_mesh)
{
    Rig rig;
    IDevice chip(0);
    Mesh mesh = open_mesh(0, {&chip});
    Program program;
    program.cbs.push_back(std::make_shared<CircularBuffer>(cores(0, 0, 7, 7), TILE, false));
    GraphTracker::instance().is_blocking = true;
    run(program, *mesh);
    run(program, *mesh);
    GraphTracker::instance().is_blocking = false;
    T_EQ(rig.of(mesh_id(0)).peak_cb_bytes, TILE);
    T_EQ(rig.cut().device_count, 1);
}

T_TEST(a_mesh_is_one_until_it_is_gone)
{
    Rig rig;
    Mesh mesh = open_mesh(0, {});
    Buffer buffer(mesh.get(), BufferType::DRAM, TILE, TILE);
    allocate(buffer);
    mesh->on_close = [&] { deallocate(buffer); };
    mesh.reset();
    T_EQ(rig.of(mesh_id(0)).pools[TTS_POOL_DRAM].frees, 1);
    T_EQ(rig.tracker.health().unseen_frees, 0);
    T_EQ(rig.watching->lost(), 0);
}

// Requires a library whose tts_tracker_chip() moves a chip to another mesh.
T_TEST(a_chip_that_is_opened_again_moves_to_its_new_mesh)
{
    Rig rig;
    IDevice chip(0);
    for (int id : {1, 3, 4}) {
        Mesh mesh = open_mesh(id, {&chip});
        Buffer buffer(mesh.get(), BufferType::L1, 64 * TILE, TILE);
        allocate(buffer);
        for (int i = 0; i < 5; i++)
            run_on(mesh, {&chip}, 1000);
        deallocate(buffer);
        const tts_usage &usage = rig.of(0);
        T_EQ(usage.peak_cb_bytes, 1000);
        T_EQ(usage.core.bytes, TILE + 1000);
        T_EQ(rig.watching->lost(), 0);
    }
}

// Requires the same library. A program of the chip itself also asks for the chip's mesh.
T_TEST(a_program_of_a_chip_moves_it_before_its_circular_buffers_come)
{
    Rig rig;
    IDevice chip(0);
    Mesh mesh = open_mesh(1, {&chip});
    run_on(mesh, {&chip}, 1000);
    mesh = open_mesh(2, {&chip});
    Buffer buffer(mesh.get(), BufferType::L1, 64 * TILE, TILE);
    allocate(buffer);
    Program program;
    run(program, chip);
    rig.cut();
    Buffer another(mesh.get(), BufferType::L1, 64 * TILE, TILE);
    allocate(another);
    T_EQ(rig.of(0).core.bytes, 2 * TILE);
    T_EQ(rig.watching->lost(), 0);
}

T_TEST(a_chip_that_cannot_move_is_counted_once_and_has_no_two_programs)
{
    Rig rig;
    IDevice chip(0);
    Mesh parent = open_mesh(1, {&chip});
    Buffer buffer(parent.get(), BufferType::L1, 64 * TILE, TILE);
    allocate(buffer);
    run_on(parent, {&chip}, 1000);
    T_EQ(rig.watching->lost(), 0);
    Mesh part = open_mesh(2, {&chip}); // the parent mesh still has a buffer on the chip
    for (int i = 0; i < 5; i++)
        run_on(part, {&chip}, 700);
    T_EQ(rig.watching->lost(), 1);
    T_EQ(rig.of(0).peak_cb_bytes, 1000);
    run_on(part, {&chip}, 700);
    T_EQ(rig.of(0).core.bytes, TILE + 700);
    chip.mesh = parent; // the part mesh is closed
    run_on(parent, {&chip}, 600);
    run_on(parent, {&chip}, 600);
    T_EQ(rig.of(0).core.bytes, TILE + 700);
    T_EQ(rig.of(0).core.bytes, TILE + 600);
    T_EQ(rig.watching->lost(), 1);
}
#endif

T_TEST(devices_that_are_gone_leave_room_for_the_mesh_of_a_chip)
{
    tts_tracker_config config{};
    config.devices_max = 256;
    ttscope::Tracker tracker(config);
    ttscope::Capture capture(tracker);
    auto watching = watch(tracker.get());
    capture.begin();
    IDevice chip(0);
    for (int id = 1; id <= 200; id++) {
        Mesh mesh = open_mesh(id, {&chip});
        Buffer buffer(mesh.get(), BufferType::L1, 64 * TILE, TILE);
        Program program;
        allocate(buffer);
        run(program, *mesh);
        if (id == 200)
            cb(chip, 1000, cores(0, 0, 7, 7));
        deallocate(buffer);
    }
    capture.end();
    T_EQ(capture.find().usage.core.bytes, TILE + 1000);
    T_EQ(watching.lost(), 0);
}

T_TEST(devices_with_buffers_of_their_own_are_no_chips_of_each_other)
{
    Rig rig;
    IDevice first(0), second(1);
    Buffer on_first(&first, BufferType::L1, 64 * TILE, TILE);
    Buffer on_second(&second, BufferType::L1, 64 * TILE, 10 * TILE);
    allocate(on_first);
    allocate(on_second);
    cb(first, 3 * TILE, cores(0, 0, 7, 7));
    T_EQ(rig.of(0).core.bytes, 4 * TILE);
    cb(second, 3 * TILE, cores(0, 0, 7, 7));
    T_EQ(rig.of(1).core.bytes, 13 * TILE);
}

T_TEST(there_may_be_more_devices_than_are_kept_track_of)
{
    tts_tracker_config config{};
    config.devices_max = 128;
    ttscope::Tracker tracker(config);
    ttscope::Capture capture(tracker);
    auto watching = watch(tracker.get());
    capture.begin();
    for (int id = 0; id < 100; id++) {
        IDevice device(id);
        Buffer buffer(&device, BufferType::DRAM, TILE, TILE);
        Program program;
        allocate(buffer);
        run(program, device);
        cb(device, TILE, cores(0, 0, 0, 0));
        tell([&](IGraphProcessor &p) { p.track_deallocate_cb(&device); });
    }
    capture.end();
    T_EQ(capture.find().device_count, 100);
    T_EQ(capture.find().events, 400);
}

// ---- nothing is thrown ----

T_TEST(what_throws_is_lost_and_counted_and_no_more)
{
    Rig rig;
    IDevice device(0);
    Buffer bad(&device, BufferType::L1, TILE, 0);
    allocate(bad);
    T_EQ(rig.watching->lost(), 1);
    deallocate(bad);
    T_EQ(rig.watching->lost(), 2);
    cb(device, TILE, CoreRangeSet({}));
    T_EQ(rig.watching->lost(), 3);
    cb(device, TILE, singles(70, [](auto, auto) { return true; })); // no chip has so many cores
    T_EQ(rig.watching->lost(), 4);
    T_EQ(rig.tracker.health().events, 0);
    tell([&](IGraphProcessor &p) {
        p.track_allocate(nullptr);
        p.track_deallocate(nullptr);
        p.track_program(nullptr, nullptr);
        p.track_deallocate_cb(nullptr);
        p.track_allocate_cb(cores(0, 0, 0, 0), 0, TILE, false, nullptr);
        // the tracker refuses it
        p.track_allocate_cb(cores(0, 0, 1 << 20, 0), 0, TILE, false, nullptr);
    });
    T_EQ(rig.watching->lost(), 5);
    Buffer good(&device, BufferType::L1, TILE, TILE);
    allocate(good);
    T_EQ(rig.of(0).core.bytes, 2 * TILE);
}

#ifndef STANDIN_BARE
T_TEST(a_device_that_throws_when_asked_has_no_mesh)
{
    Rig rig;
    IDevice device(0);
    device.asking_throws = true;
    cb(device, TILE, cores(0, 0, 0, 0));
    T_EQ(rig.of(0).core.bytes, TILE);
    T_EQ(rig.watching->lost(), 0);
}

// ---- the runtime's list ----

struct Counter : IGraphProcessor {
    int allocations = 0;
    void track_allocate(const Buffer *) override
    {
        allocations++;
    }
};

T_TEST(only_what_was_pushed_is_taken_off_the_list)
{
    auto below = std::make_shared<Counter>(), above = std::make_shared<Counter>();
    auto &runtime = GraphTracker::instance();
    runtime.push_processor(below);
    auto rig = std::make_unique<Rig>();
    runtime.push_processor(above);
    runtime.push_processor(below);
    rig.reset();
    const auto &list = runtime.get_processors();
    T_EQ(list.size(), 3);
    T_TRUE(list[0] == below && list[1] == above && list[2] == below);
    for (int i = 0; i < 3; i++)
        runtime.pop_processor();
    Rig popped;
    runtime.pop_processor(); // other code might remove the observer like this
}

// A capture of the runtime itself, which ends the last observer of the list.
struct Capturing : Counter {
    bool is_ended = false;
    nlohmann::json end_capture() override
    {
        is_ended = true;
        return nullptr;
    }
};

static void end_last_capture()
{
    auto &runtime = GraphTracker::instance();
    (void)runtime.get_processors().back()->end_capture();
    runtime.pop_processor();
}

T_TEST(captures_of_the_runtime_end_as_if_nobody_watched)
{
    auto outer = std::make_shared<Capturing>(), inner = std::make_shared<Capturing>(),
         later = std::make_shared<Capturing>();
    auto &runtime = GraphTracker::instance();
    const auto &list = runtime.get_processors();
    runtime.push_processor(outer);
    runtime.push_processor(inner);
    Rig rig;
    T_TRUE(list.size() == 3 && list[1] == outer && list[2] == inner);
    runtime.push_processor(later);
    IDevice device(0);
    Buffer buffer(&device, BufferType::DRAM, TILE, TILE);
    allocate(buffer);
    end_last_capture();
    T_TRUE(later->is_ended && !inner->is_ended);
    end_last_capture();
    T_TRUE(inner->is_ended && !outer->is_ended);
    end_last_capture();
    T_TRUE(outer->is_ended);
    T_EQ(outer->allocations + inner->allocations + later->allocations, 3);
    T_EQ(list.size(), 1);
    deallocate(buffer);
    T_EQ(rig.cut().events, 2);
    rig.watching.reset();
    T_EQ(list.size(), 0);
}

T_TEST(one_that_ended_on_another_thread_is_mute_and_can_be_watched_again)
{
    Rig rig;
    std::thread([&] { rig.watching.reset(); }).join();
    IDevice device(0);
    Buffer buffer(&device, BufferType::DRAM, TILE, TILE);
    allocate(buffer);
    T_EQ(rig.cut().events, 0);
    rig.watching.reset(new Watch(rig.tracker.get()));
    allocate(buffer);
    T_EQ(rig.cut().events, 1);
}
#endif

T_TEST(a_second_watch_of_a_thread_counts_nothing_twice)
{
    Rig rig;
    IDevice device(0);
    Buffer buffer(&device, BufferType::DRAM, TILE, TILE);
    {
        Watch inner(rig.tracker.get());
        allocate(buffer);
        T_EQ(rig.cut().events, 1);
        rig.watching.reset();
        deallocate(buffer);
        T_EQ(rig.cut().events, 1);
    }
    allocate(buffer);
    T_EQ(rig.cut().events, 0);
}

T_TEST(two_trackers_may_watch)
{
    Rig first, second;
    IDevice device(0);
    Buffer buffer(&device, BufferType::DRAM, TILE, TILE);
    allocate(buffer);
    T_EQ(first.cut().events, 1);
    T_EQ(second.cut().events, 1);
    second.watching.reset();
    deallocate(buffer);
    T_EQ(first.cut().events, 1);
    T_EQ(second.cut().events, 0);
}

T_TEST(threads_that_watch_are_counted_once_each)
{
    enum { THREADS = 2, ROUNDS = 500 };
    Rig rig;
    rig.watching.reset();
    IDevice chip(0);
    Mesh mesh = open_mesh(4, {&chip});
    std::barrier together(THREADS + 1);
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; t++)
        threads.emplace_back([&] {
            auto watching = watch(rig.tracker.get());
            together.arrive_and_wait();
            for (int i = 0; i < ROUNDS; i++) {
                Buffer buffer(mesh.get(), BufferType::L1, 64, 16);
                Program program;
                int argument = i;
                GraphTracker::instance().track_function_start("op", argument);
                allocate(buffer);
                run(program, *mesh);
                cb(chip, 32, cores(0, 0, 7, 7));
                deallocate(buffer);
                tell([&](IGraphProcessor &p) { p.track_function_end(); });
            }
            together.arrive_and_wait();
        });
    together.arrive_and_wait();
    IDevice unwatched(9);
    if (kPerThread) { // the single list of the old runtime also observes this thread
        Buffer buffer(&unwatched, BufferType::DRAM, TILE, TILE);
        allocate(buffer);
    }
    together.arrive_and_wait();
    for (std::thread &thread : threads)
        thread.join();
    const tts_usage &usage = rig.of(mesh_id(4));
    T_EQ(usage.pools[TTS_POOL_L1].allocations, THREADS * ROUNDS);
    T_EQ(usage.pools[TTS_POOL_L1].frees, THREADS * ROUNDS);
    T_EQ(usage.programs, THREADS * ROUNDS);
    T_EQ(rig.capture.phases().back()->usage.ops, THREADS * ROUNDS);
    T_EQ(rig.tracker.health().events, THREADS * ROUNDS * 6);
    T_EQ(rig.tracker.health().dropped, 0);
    T_TRUE(!GraphTracker::instance().is_enabled());
}

// ---- publishing ----

#ifndef STANDIN_BARE
// Reads the first device of a region, as another program does.
static tts_clientregion_device first_device_in(const tts_publish_state &state)
{
    tts_clientregion_device device{};
    std::FILE *file = std::fopen(state.path, "rb");
    T_TRUE(file != nullptr);
    T_EQ(std::fseek(file, TTS_CLIENTREGION_HEADER_BYTES, SEEK_SET), 0);
    T_EQ(std::fread(&device, sizeof device, 1, file), 1);
    std::fclose(file);
    return device;
}

// Returns the flags of the first L1 buffer in the table of a region.
static int l1_flags_in(const tts_publish_state &state)
{
    tts_clientregion_header header{};
    tts_clientregion_buffer buffer{};
    std::FILE *file = std::fopen(state.path, "rb");
    T_TRUE(file != nullptr);
    T_EQ(std::fread(&header, sizeof header, 1, file), 1);
    T_EQ(std::fseek(file, static_cast<long>(header.buffers_off), SEEK_SET), 0);
    while (buffer.stamp == 0 || buffer.pool != TTS_POOL_L1)
        T_EQ(std::fread(&buffer, sizeof buffer, 1, file), 1);
    std::fclose(file);
    return buffer.flags;
}

T_TEST(a_published_buffer_tells_that_a_global_circular_buffer_lies_in_it)
{
    Rig rig;
    IDevice device(3);
    Buffer l1(&device, BufferType::L1, TILE, TILE);
    Program program;
    l1.at = 0x10000;
    const std::string directory = std::filesystem::path(t_scratch("cpp")).parent_path();
    tts_publish_config config{};
    config.directory = directory.c_str();
    ttscope::Publisher shown = ttscope::publish(rig.tracker, config);
    allocate(l1);
    T_EQ(l1_flags_in(shown.state()), 0);
    tell([&](IGraphProcessor &p) {
        p.track_allocate_cb(cores(0, 0, 0, 0), l1.address(), TILE, true, &device);
    });
    T_EQ(l1_flags_in(shown.state()), TTS_CLIENTBUFFER_HAS_CB);
    run(program, device);
    T_EQ(l1_flags_in(shown.state()), 0);
    deallocate(l1);
}

T_TEST(a_published_tracker_has_the_pools_of_the_allocator)
{
    Rig rig;
    IDevice device(3);
    Buffer first(&device, BufferType::DRAM, TILE, TILE),
        l1(&device, BufferType::L1, TILE, TILE);
    allocate(first);
    T_EQ(device.allocator()->asked, 0); // the tracker does not publish
    const std::string directory = std::filesystem::path(t_scratch("cpp")).parent_path();
    tts_publish_config config{};
    config.directory = directory.c_str();
    ttscope::Publisher shown = ttscope::publish(rig.tracker, config);
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    allocate(l1);
    std::vector<std::unique_ptr<Buffer>> more;
    for (int i = 0; i < 50; i++) {
        more.push_back(std::make_unique<Buffer>(&device, BufferType::DRAM, TILE, TILE));
        allocate(*more.back());
    }
    T_TRUE(device.allocator()->asked >= 2 && device.allocator()->asked < 10);
    const tts_clientregion_device seen = first_device_in(shown.state());
    const tts_clientregion_pool &dram = seen.pools[TTS_POOL_DRAM];
    T_EQ(seen.id, 3);
    T_TRUE(dram.banks == 12 && dram.total_bytes == 12000 && dram.taken_bytes == 3600);
    T_TRUE(dram.free_bytes == 8400 && dram.largest_free_bytes == 7800);
    T_EQ(dram.allocated_bytes, 51 * TILE);
    T_EQ(seen.period_ns, 100000000);
    T_EQ(seen.arch, TTS_ARCH_BLACKHOLE);
    T_TRUE(seen.hardware_queues == 2 && seen.dram_channels == 8 && seen.grid_columns == 13);
    device.allocator()->is_closed = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    deallocate(first);
    T_EQ(rig.watching->lost(), 0);
    shown.end();
    T_EQ(shown.state().path[0], '\0');
}
#endif
