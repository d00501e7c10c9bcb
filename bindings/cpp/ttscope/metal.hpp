// metal.hpp: watches tt-metal. With two lines in a program, a tracker receives its memory use:
//
//     #include "ttscope/metal.hpp"
//     auto watching = ttscope::metal::watch();
//
// C++20, over ttscope/capture.h and the runtime's own headers. The header works with every
// generation of the runtime's observer interface: templates detect which virtual functions
// exist and which arguments they take.
//
// A newer runtime reports to a thread's observers only the events of that thread. So each
// thread that allocates or runs programs calls watch() and keeps the result as a local. An
// older runtime has one list for all threads: a second watch() joins the first, and nothing is
// counted twice. That list has no lock, so call watch() before other threads use the runtime.
// Nothing is ever thrown into the runtime: an event that cannot be read is counted by lost().
//
// Watching does not change whether the runtime dispatches. If one of the runtime's own captures
// holds a program back, the tracker receives the circular buffers that the program would have
// had. NO_DISPATCH of a ttscope::Capture holds back only modelled devices that are attached;
// NO_DISPATCH of a ttscope::MemoryUsageTracker also holds back the runtime (hold.hpp).
//
// While the tracker publishes (publish.h), the pools of the runtime's allocator are published
// too: banks, total, allocated, free and largest block, as the allocator reports them at an
// event. A report reads all blocks, so each pool of a device is read at most once in 100 ms.
// After a pause, the report is therefore up to 100 ms older than the last event, or lacks the
// effect of the last free.
//
// The runtime counts chips and meshes from 0. A chip keeps its id in the tracker; a mesh has
// its id with kMesh set. If the devices of a runtime do not know their mesh, all have plain
// ids: then a device with buffers and no circular buffers is treated as the mesh of the chips,
// permanently.
//
// For a buffer with a separate address on each core, only its cores are reported, if the
// runtime can tell them. If the allocation of such a buffer was not seen, its free counts like
// the free of a buffer in lockstep. The contents of a program's cores end when the next program
// begins or when the program is destroyed. The tracker has one event for both, so
// usage.programs counts both.
#pragma once

#include "ttscope/capture.h"
#include "ttscope/publish.h"

#if __has_include(<tt-metalium/graph_tracking.hpp>)
#include <tt-metalium/graph_tracking.hpp>
#else
#error "ttscope/metal.hpp needs tt-metal's headers: add the directory of tt-metalium/ with -I"
#endif
#if __has_include(<tt-metalium/allocator.hpp>)
#include <tt-metalium/allocator.hpp>
#endif
#if __has_include(<tt-metalium/device.hpp>)
#include <tt-metalium/device.hpp>
#endif
#if __has_include(<tt-metalium/mesh_device.hpp>)
#include <tt-metalium/mesh_device.hpp>
#endif
#if __has_include(<tt-metalium/program.hpp>)
#include <tt-metalium/program.hpp>
#endif
#if __has_include(<tt-metalium/circular_buffer.hpp>)
#include <tt-metalium/circular_buffer.hpp>
#endif
#if __has_include(<tt-metalium/experimental/per_core_allocation/buffer.hpp>)
#include <tt-metalium/experimental/per_core_allocation/buffer.hpp>
#define TTSCOPE_METAL_HAS_PER_CORE 1
#else
#define TTSCOPE_METAL_HAS_PER_CORE 0
#endif

#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ttscope::metal
{

// Mesh n is device kMesh | n of the tracker.
inline constexpr std::uint32_t kMesh = UINT32_C(0x80000000);

namespace detail
{

using Runtime = tt::tt_metal::GraphTracker;
using Processor = tt::tt_metal::IGraphProcessor;
using Buffer = tt::tt_metal::Buffer;

// ---- types of the runtime's interface ----

template <class> struct CbCall;
template <class P, class C, class D>
struct CbCall<void (P::*)(const C &, std::uint64_t, std::uint64_t, bool, const D *)> {
    using Cores = C;
    using Device = D;
};
using Cores = CbCall<decltype(&Processor::track_allocate_cb)>::Cores;
using Device = CbCall<decltype(&Processor::track_allocate_cb)>::Device;

template <class> struct ProgramCall;
template <class P, class G, class D> struct ProgramCall<void (P::*)(G *, const D *)> {
    using Program = G;
};
using Program = ProgramCall<decltype(&Processor::track_program)>::Program;

template <class> struct FunctionCall;
template <class P, class A> struct FunctionCall<void (P::*)(std::string_view, A)> {
    using Arguments = A;
};
using Arguments = FunctionCall<decltype(&Processor::track_function_start)>::Arguments;

template <class P>
concept has_dataflow_buffers = requires
{
    static_cast<void (P::*)(const Cores &, std::uint64_t, std::uint64_t, bool, const Device *)>(
        &P::track_allocate_dataflow_buffer);
};
template <class P>
concept has_scratchpads = requires
{
    static_cast<void (P::*)(const Cores &, std::uint64_t, std::uint64_t, const Device *)>(
        &P::track_allocate_scratchpad);
};
template <class P>
concept has_capture_question = requires
{
    static_cast<bool (P::*)() const>(&P::is_capture_processor);
};
template <class R>
concept has_list = requires(R &runtime)
{
    runtime.get_processors().size();
};
template <class D>
concept knows_mesh = requires(D &device)
{
    device.get_mesh_device()->id();
    static_cast<const D *>(device.get_mesh_device().get());
};

template <class B> bool is_per_core([[maybe_unused]] const B &buffer)
{
#if TTSCOPE_METAL_HAS_PER_CORE
    return tt::tt_metal::experimental::per_core_allocation::is_per_core_allocation(buffer);
#else
    return false;
#endif
}
#undef TTSCOPE_METAL_HAS_PER_CORE

// ---- cores ----

inline constexpr std::size_t kSide = TTS_GRID_SIDE_MAX;
using Ranges = std::array<tts_core_range, TTS_RANGES_MAX>;
using Rows = std::array<std::uint64_t, kSide>; // one bit for each core
static_assert(kSide == 64 && TTS_RANGES_MAX >= kSide, "a row is a word and fits a range");

inline std::uint16_t narrow(std::uint64_t coordinate) noexcept
{
    return static_cast<std::uint16_t>(std::min<std::uint64_t>(coordinate, UINT16_MAX));
}

inline tts_core_range range(std::size_t x0, std::size_t y0, std::size_t x1,
                            std::size_t y1) noexcept
{
    return {narrow(x0), narrow(y0), narrow(x1), narrow(y1)};
}

// Covers the cores with few rectangles. Returns the number of rectangles, or 0 if there would
// be too many.
inline std::size_t rectangles(Rows rows, Ranges &out) noexcept
{
    std::size_t count = 0;
    for (std::size_t y = 0; y < kSide; y++) {
        while (rows[y] != 0) {
            if (count == out.size())
                return 0;
            auto x = static_cast<unsigned>(std::countr_zero(rows[y]));
            auto width = static_cast<unsigned>(std::countr_one(rows[y] >> x));
            std::uint64_t run = (UINT64_MAX >> (kSide - width)) << x;
            std::size_t end = y;
            for (; end < kSide && (rows[end] & run) == run; end++)
                rows[end] &= ~run;
            out[count++] = range(x, y, x + width - 1, end - 1);
        }
    }
    return count;
}

// Makes one range for each row, from the first core of the row to the last. Returns the number
// of ranges.
inline std::size_t spans(const Rows &rows, Ranges &out) noexcept
{
    std::size_t count = 0;
    for (std::size_t y = 0; y < kSide; y++) {
        if (rows[y] == 0)
            continue;
        auto first = static_cast<unsigned>(std::countr_zero(rows[y]));
        auto behind = kSide - static_cast<unsigned>(std::countl_zero(rows[y]));
        out[count++] = range(first, y, behind - 1, y);
    }
    return count;
}

inline bool mark(Rows &rows, std::uint64_t x0, std::uint64_t y0, std::uint64_t x1,
                 std::uint64_t y1) noexcept
{
    if (x0 > x1 || x1 >= kSide || y0 > y1 || y1 >= kSide)
        return false;
    std::uint64_t run = (UINT64_MAX >> (kSide - 1 - (x1 - x0))) << x0;
    for (std::uint64_t y = y0; y <= y1; y++)
        rows[y] |= run;
    return true;
}

// ---- the request of a buffer ----

// Adds the address and the request to an event, as far as the runtime tells them. No figure
// depends on these fields: only a recording keeps them. So a field that cannot be read is left
// out, and the event is still posted.
template <class B> void add_request(tts_event &event, const B &buffer) noexcept
{
    const tts_event without = event;
    try {
        if constexpr (requires { static_cast<std::uint64_t>(buffer.address()); })
            event.address = static_cast<std::uint64_t>(buffer.address());
        // A buffer that was not placed because of a hold has no address. A buffer with a
        // different address on each core has no common address.
        event.has_address = event.address != 0 && event.range_count == 0;
        if constexpr (requires { static_cast<std::uint64_t>(buffer.page_size()); })
            event.page_bytes = static_cast<std::uint64_t>(buffer.page_size());
        if constexpr (requires { static_cast<std::uint32_t>(buffer.num_cores().value_or(0)); })
            event.cores = static_cast<std::uint32_t>(buffer.num_cores().value_or(0));
        if constexpr (requires { static_cast<bool>(buffer.bottom_up()); }) {
            const bool is_up = static_cast<bool>(buffer.bottom_up());
            if (is_up != (event.pool == TTS_POOL_DRAM || event.pool == TTS_POOL_TRACE))
                event.placement = is_up ? TTS_PLACE_UP : TTS_PLACE_DOWN;
        }
    } catch (...) {
        event = without;
    }
    if (event.cores > TTS_CORES_MAX || event.page_bytes > event.size_bytes) {
        event.page_bytes = event.cores = 0;
        event.placement = TTS_PLACE_DEFAULT;
    }
}

// ---- the allocator of a device ----

// Fills the report of a pool. Returns false if the runtime has no such question.
template <class D, class Type>
bool report_of([[maybe_unused]] const D &device, [[maybe_unused]] Type type,
               [[maybe_unused]] tts_publish_report &report)
{
    if constexpr (requires {
                      device.allocator()->get_statistics(type).total_allocatable_size_bytes;
                      device.allocator()->get_num_banks(type);
                  }) {
        const auto &allocator = device.allocator();
        const auto per_bank = allocator->get_statistics(type);
        const auto banks = static_cast<std::uint64_t>(allocator->get_num_banks(type));
        report.banks = static_cast<std::uint32_t>(banks);
        report.total_bytes = banks * per_bank.total_allocatable_size_bytes;
        report.allocated_bytes = banks * per_bank.total_allocated_bytes;
        report.free_bytes = banks * per_bank.total_free_bytes;
        report.largest_free_bytes = banks * per_bank.largest_free_block_bytes;
        return true;
    } else {
        return false;
    }
}

// Returns the facts of a device, as far as the runtime tells them.
template <class D> tts_publish_facts facts_of([[maybe_unused]] const D &device)
{
    tts_publish_facts facts{};
    if constexpr (requires { static_cast<int>(device.arch()); }) {
        // The runtime counts the architectures from 1.
        const int arch = static_cast<int>(device.arch()) - 1;
        facts.arch_known = arch >= TTS_ARCH_GRAYSKULL && arch <= TTS_ARCH_QUASAR;
        if (facts.arch_known)
            facts.arch = static_cast<tts_arch>(arch);
    }
    if constexpr (requires { static_cast<std::uint32_t>(device.num_hw_cqs()); })
        facts.hardware_queues = static_cast<std::uint32_t>(device.num_hw_cqs());
    if constexpr (requires { static_cast<std::uint32_t>(device.num_dram_channels()); })
        facts.dram_channels = static_cast<std::uint32_t>(device.num_dram_channels());
    if constexpr (requires { device.compute_with_storage_grid_size().x; }) {
        const auto grid = device.compute_with_storage_grid_size();
        facts.grid_columns = static_cast<std::uint32_t>(grid.x);
        facts.grid_rows = static_cast<std::uint32_t>(grid.y);
    }
    return facts;
}

// ---- state shared by all threads of a tracker ----

// Converts events of the runtime to events of a tracker. Any thread may call any function. A
// lock is taken only for the first event of a device or when the mesh of a device changes.
class Recorder
{
  public:
    explicit Recorder(tts_tracker *tracker) noexcept : tracker_(tracker)
    {
    }
    tts_tracker *tracker() const noexcept
    {
        return tracker_;
    }
    std::uint64_t lost() const noexcept
    {
        return lost_.load(std::memory_order_relaxed);
    }
    std::uint64_t widened() const noexcept
    {
        return widened_.load(std::memory_order_relaxed);
    }

    // Runs `work`, and counts a lost event if it throws.
    template <class Work> void safely(Work work) noexcept
    {
        try {
            work();
        } catch (...) {
            lose();
        }
    }

    template <class B> void buffer(tts_event_kind kind, const B &buffer)
    {
        tts_pool pool;
        if (!pool_of(static_cast<int>(buffer.buffer_type()), pool))
            return;
        const auto *device = buffer.device();
        const bool is_on = tts_tracker_is_on(tracker_);
        constexpr bool is_noted = !knows_mesh<std::remove_cvref_t<decltype(*device)>>;
        if (!is_on && !is_noted)
            return;
        const Place place = place_of(device);
        if (is_noted)
            note_buffer(place.id);
        if (!is_on)
            return;
        Ranges ranges;
        tts_event event{};
        event.kind = kind;
        event.device = place.id;
        event.pool = pool;
        event.id = static_cast<std::uint64_t>(buffer.unique_id());
        event.size_bytes = static_cast<std::uint64_t>(buffer.size());
        if (pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL)
            event.bytes_per_bank = static_cast<std::uint64_t>(buffer.aligned_size_per_bank());
        if (kind == TTS_EVENT_ALLOC && pool == TTS_POOL_L1 && detail::is_per_core(buffer)) {
            event.ranges = ranges.data();
            event.range_count = gather_shards(buffer, ranges);
        }
        if (kind == TTS_EVENT_ALLOC)
            add_request(event, buffer);
        post(event);
        if (device && is_due(place.id, pool))
            show(*device, place.id, pool, buffer.buffer_type());
    }

    // Where a circular buffer lies. Only one in the memory of a buffer needs an address.
    struct Placement {
        bool borrowed = false;
        bool has_address = false;
        std::uint64_t address = 0;
    };
    static Placement placement_at(bool borrowed, std::uint64_t address)
    {
        return {borrowed, borrowed, borrowed ? address : 0};
    }

    template <class C, class D>
    void on_cores(tts_event_kind kind, const C &cores, std::uint64_t size,
                  const Placement &placement, const D *device)
    {
        const Place place = place_of(device);
        if (!place.is_mesh)
            meet(place);
        if (!tts_tracker_is_on(tracker_))
            return;
        Ranges ranges;
        tts_event event{};
        event.kind = kind;
        event.device = place.id;
        event.borrowed = placement.borrowed;
        event.has_address = placement.has_address;
        event.address = placement.address;
        event.size_bytes = size;
        event.ranges = ranges.data();
        event.range_count = gather(cores, ranges);
        if (event.range_count == 0)
            lose();
        else
            post(event);
    }

    // Reports that a program is about to run: the contents of the previous program on the cores
    // are gone. The runtime reports programs by mesh and circular buffers by chip.
    template <class G, class D> void program(G *program, const D *device)
    {
        const Place place = place_of(device);
        if (place.mesh != kNone)
            settle(find(place.id), place.id, place.mesh);
        if (!tts_tracker_is_on(tracker_))
            return;
        post_program(place.id);
        if (refusals_.load(std::memory_order_relaxed) > 0)
            post_program_of_strays(place.id);
        if (program)
            held_back(Runtime::instance(), *program, device);
    }

    // Reports that a program was destroyed. Its circular buffers on the cores of a chip are
    // gone.
    template <class D> void release(const D *device)
    {
        const Place place = place_of(device);
        const Known *known = place.is_mesh ? nullptr : look(place.id);
        bool may_have_cbs = known ? known->has_cbs.load(std::memory_order_acquire)
                                  : place.is_mesh || has_forgotten();
        if (may_have_cbs)
            post_program(place.id);
    }

    void op_begin(std::string_view name) noexcept
    {
        note(tts_track_op_begin(tracker_, name.data(), name.size(), nullptr));
    }
    void op_end() noexcept
    {
        note(tts_track_op_end(tracker_, nullptr));
    }

  private:
    static constexpr std::uint64_t kNone = UINT64_MAX;

    // The place of a device, as the runtime reports it.
    struct Place {
        std::uint32_t id = 0; // id in the tracker
        // Id of the mesh in the tracker if the device is a chip of a mesh.
        std::uint64_t mesh = kNone;
        bool is_mesh = false, knows_mesh = false;
    };

    // A device that had an event. A slot may be given to another device at any time. A late
    // write by the old owner of the slot must do no harm, so `home` also contains the chip.
    struct Known {
        std::atomic<std::uint64_t> id{kNone};
        std::atomic<std::uint64_t> home{kNone};    // mesh of the device in the tracker
        std::atomic<std::uint64_t> refused{kNone}; // mesh that it should be in
        std::atomic<bool> has_buffers{false}, has_cbs{false};
    };
    static std::uint64_t home_of(std::uint32_t chip, std::uint64_t mesh) noexcept
    {
        return std::uint64_t{chip} << 32 | mesh;
    }

    // Counts refused events. The tracker counts dropped events itself.
    void note(tts_status status) noexcept
    {
        if (status != TTS_OK && status != TTS_E_FULL)
            lose();
    }
    void post(const tts_event &event) noexcept
    {
        note(tts_tracker_post(tracker_, &event, nullptr));
    }
    void post_program(std::uint32_t device) noexcept
    {
        note(tts_track_program(tracker_, device, nullptr));
    }
    void lose() noexcept
    {
        lost_.fetch_add(1, std::memory_order_relaxed);
    }

    // Finds the pool. Returns false for host memory, which is not on a device.
    static bool pool_of(int buffer_type, tts_pool &pool) noexcept
    {
        constexpr int kSystemMemory = 2;
        constexpr std::array<tts_pool, 5> pools = {TTS_POOL_DRAM, TTS_POOL_L1, TTS_POOL_L1,
                                                   TTS_POOL_L1_SMALL, TTS_POOL_TRACE};
        if (buffer_type < 0 || buffer_type > 4 || buffer_type == kSystemMemory)
            return false;
        pool = pools[static_cast<std::size_t>(buffer_type)];
        return true;
    }
    template <class D> static std::uint32_t id_of(const D &device)
    {
        return static_cast<std::uint32_t>(device.id());
    }

    template <class D> static Place place_of(const D *device)
    {
        Place place;
        place.knows_mesh = knows_mesh<D>;
        if (!device)
            return place;
        place.id = id_of(*device);
        if constexpr (knows_mesh<D>) {
            try {
                auto mesh = const_cast<D *>(device)->get_mesh_device();
                place.is_mesh = mesh && static_cast<const D *>(mesh.get()) == device;
                if (mesh && !place.is_mesh)
                    place.mesh = kMesh | id_of(*mesh);
            } catch (const std::bad_weak_ptr &) { // a mesh that is being destroyed
                place.is_mesh = true;
            } catch (...) { // then it has none
            }
            if (place.is_mesh)
                place.id |= kMesh;
        }
        return place;
    }

    template <class C> std::size_t gather(const C &cores, Ranges &out)
    {
        const auto &list = cores.ranges();
        if (list.size() <= out.size()) {
            std::size_t count = 0;
            for (const auto &r : list)
                out[count++] =
                    range(r.start_coord.x, r.start_coord.y, r.end_coord.x, r.end_coord.y);
            return count;
        }
        Rows rows{};
        for (const auto &r : list)
            if (!mark(rows, r.start_coord.x, r.start_coord.y, r.end_coord.x, r.end_coord.y))
                return 0;
        std::size_t count = rectangles(rows, out);
        if (count > 0)
            return count;
        widened_.fetch_add(1, std::memory_order_relaxed);
        return spans(rows, out);
    }

    // Finds the cores that have a shard, as ranges. Returns the number of ranges, or 0 if the
    // cores are unknown; then the buffer counts on every core.
    template <class B> std::size_t gather_shards(const B &buffer, Ranges &out)
    {
        if constexpr (requires { buffer.shard_spec().tensor_shard_spec.grid.ranges(); }) {
            const auto spec = buffer.shard_spec();
            return gather(spec.tensor_shard_spec.grid, out);
        }
        return 0;
    }

    // Reports the circular buffers of a program that will not run. The runtime does not report
    // them.
    template <class R, class G, class D> void held_back(R &runtime, G &program, const D *device)
    {
        if constexpr (requires {
                          runtime.hook_program(&program);
                          (*program.circular_buffers().begin())->core_ranges().ranges();
                      }) {
            if (!runtime.hook_program(&program))
                return;
            for (const auto &cb : program.circular_buffers())
                on_cores(TTS_EVENT_CB, cb->core_ranges(), cb->size(),
                         Placement{cb->globally_allocated()}, device);
        }
    }

    // ---- publishing ----

    static constexpr std::uint64_t kPeriod = 100 * 1000 * 1000;
    static constexpr std::size_t kTurns = 64;

    // Returns true at most once in kPeriod for a pool of a device. Two devices with the same
    // remainder share their turns.
    bool is_due(std::uint32_t id, tts_pool pool) noexcept
    {
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
        const std::uint64_t now = static_cast<std::uint64_t>(time.tv_sec) * 1000000000 +
                                  static_cast<std::uint64_t>(time.tv_nsec);
        std::atomic<std::uint64_t> &due = due_[id % kTurns][pool];
        std::uint64_t at = due.load(std::memory_order_relaxed);
        return now >= at &&
               due.compare_exchange_strong(at, now + kPeriod, std::memory_order_relaxed);
    }

    // Publishes what the allocator of a device reports. A runtime that cannot tell changes
    // nothing, and no event is lost.
    template <class D, class Type>
    void show(const D &device, std::uint32_t id, tts_pool pool, Type type) noexcept
    {
        if (!tts_publish_is_on(tracker_))
            return;
        try {
            tts_publish_report report{};
            if (!report_of(device, type, report))
                return;
            const tts_publish_facts facts = facts_of(device);
            tts_publish_device(tracker_, id, &facts, nullptr);
            tts_publish_pool(tracker_, id, pool, &report, kPeriod, nullptr);
        } catch (...) {
        }
    }

    // ---- known devices ----

    // Returns a known device, or NULL if it had no event or its slot was reused.
    Known *look(std::uint32_t id) noexcept
    {
        for (Known &known : known_)
            if (known.id.load(std::memory_order_acquire) == id)
                return &known;
        return nullptr;
    }
    bool has_forgotten() const noexcept
    {
        return met_.load(std::memory_order_relaxed) > known_.size();
    }

    // Returns a known device, or gives it a slot. If all slots are in use, it gets the oldest.
    Known &find(std::uint32_t id)
    {
        if (Known *known = look(id))
            return *known;
        std::lock_guard<std::mutex> lock(meeting_);
        if (Known *known = look(id))
            return *known;
        Known &known = known_[met_.fetch_add(1, std::memory_order_relaxed) % known_.size()];
        known.id.store(kNone, std::memory_order_release);
        known.home.store(kNone, std::memory_order_relaxed);
        known.refused.store(kNone, std::memory_order_relaxed);
        known.has_buffers.store(false, std::memory_order_relaxed);
        known.has_cbs.store(false, std::memory_order_relaxed);
        known.id.store(id, std::memory_order_release);
        return known;
    }

    void note_buffer(std::uint32_t id)
    {
        Known &known = find(id);
        if (!known.has_buffers.load(std::memory_order_relaxed))
            known.has_buffers.store(true, std::memory_order_relaxed);
        if (last_buffer_.load(std::memory_order_relaxed) != id)
            last_buffer_.store(id, std::memory_order_relaxed);
    }

    // Reports the mesh of a chip to the tracker before a circular buffer of the chip.
    void meet(const Place &place)
    {
        Known &known = find(place.id);
        bool is_first = !known.has_cbs.load(std::memory_order_acquire);
        std::uint64_t mesh = place.mesh;
        if (is_first && !place.knows_mesh)
            mesh = guess(known);
        if (mesh != kNone)
            settle(known, place.id, mesh);
        if (is_first)
            known.has_cbs.store(true, std::memory_order_release);
    }

    // Moves the chip to its mesh, if the chip is not there yet. The contents of its cores
    // belong to the old mesh, and no program of the new mesh ends them, so this function ends
    // them.
    void settle(Known &chip, std::uint32_t id, std::uint64_t mesh)
    {
        const std::uint64_t home = home_of(id, mesh);
        if (chip.home.load(std::memory_order_acquire) == home)
            return;
        std::lock_guard<std::mutex> lock(meeting_);
        if (chip.home.load(std::memory_order_relaxed) == home)
            return;
        const bool is_again = chip.refused.load(std::memory_order_relaxed) == home;
        if (!is_again && chip.has_cbs.load(std::memory_order_relaxed))
            post_program(id);
        if (tts_tracker_chip(tracker_, id, static_cast<std::uint32_t>(mesh), nullptr) ==
            TTS_OK) {
            chip.refused.store(kNone, std::memory_order_relaxed);
            chip.home.store(home, std::memory_order_release);
        } else if (!is_again) {
            refuse(chip, home);
        }
    }

    // Counts a failed move once. Each later event tries again, because the old mesh may release
    // the chip.
    void refuse(Known &chip, std::uint64_t home) noexcept
    {
        chip.refused.store(home, std::memory_order_relaxed);
        refusals_.fetch_add(1, std::memory_order_relaxed);
        lose();
    }

    // Reports a program of a mesh also for chips that the tracker could not move to that mesh.
    void post_program_of_strays(std::uint32_t mesh) noexcept
    {
        for (const Known &known : known_) {
            const std::uint64_t wanted = known.refused.load(std::memory_order_relaxed);
            const auto chip = static_cast<std::uint32_t>(wanted >> 32);
            if (wanted == home_of(chip, mesh))
                post_program(chip);
        }
    }

    // Guesses the mesh of a chip for devices that do not know it: a device that has buffers and
    // never a circular buffer is a mesh, and a chip without buffers of its own belongs to it.
    // Of several meshes, the one with the latest buffer is chosen.
    std::uint64_t guess(const Known &chip) noexcept
    {
        std::uint64_t last = last_buffer_.load(std::memory_order_relaxed);
        if (last == kNone || chip.has_buffers.load(std::memory_order_relaxed))
            return kNone;
        const Known *mesh = look(static_cast<std::uint32_t>(last));
        bool is_mesh = mesh && mesh != &chip && !mesh->has_cbs.load(std::memory_order_relaxed);
        return is_mesh ? last : kNone;
    }

    tts_tracker *const tracker_;
    std::atomic<std::uint64_t> lost_{0}, widened_{0}, refusals_{0};
    std::atomic<std::uint64_t> last_buffer_{kNone};
    std::array<Known, 64> known_;
    // When each pool is read again, by the id of its device.
    std::array<std::array<std::atomic<std::uint64_t>, TTS_POOLS>, kTurns> due_{};
    std::atomic<std::size_t> met_{0}; // slots given to devices so far
    std::mutex meeting_;
};

// ---- the observer, in layers: one for each feature that a runtime may have ----

template <class Base> class Common : public Base
{
  public:
    explicit Common(std::shared_ptr<Recorder> recorder) noexcept
        : recorder_(std::move(recorder))
    {
    }
    Recorder &recorder() const noexcept
    {
        return *recorder_;
    }

    void track_allocate(const Buffer *buffer) noexcept override
    {
        with([&](Recorder &r) {
            if (buffer)
                r.buffer(TTS_EVENT_ALLOC, *buffer);
        });
    }
    void track_deallocate(Buffer *buffer) noexcept override
    {
        with([&](Recorder &r) {
            if (buffer)
                r.buffer(TTS_EVENT_FREE, *buffer);
        });
    }
    void track_allocate_cb(const Cores &cores, std::uint64_t address, std::uint64_t size,
                           bool is_globally_allocated, const Device *device) noexcept override
    {
        with([&](Recorder &r) {
            r.on_cores(TTS_EVENT_CB, cores, size,
                       r.placement_at(is_globally_allocated, address), device);
        });
    }
    void track_deallocate_cb(const Device *device) noexcept override
    {
        with([&](Recorder &r) { r.release(device); });
    }
    void track_program(Program *program, const Device *device) noexcept override
    {
        with([&](Recorder &r) { r.program(program, device); });
    }
    void track_function_start(std::string_view name, Arguments) noexcept override
    {
        with([&](Recorder &r) { r.op_begin(name); });
    }
    void track_function_end() noexcept override
    {
        with([&](Recorder &r) { r.op_end(); });
    }
    void track_function_end(const std::any &) noexcept override
    {
        with([&](Recorder &r) { r.op_end(); });
    }

    // A mute observer does nothing, even if it is still on a list.
    void set_mute(bool is_mute) noexcept
    {
        is_mute_.store(is_mute, std::memory_order_relaxed);
    }

    std::size_t users = 0; // guarded by lists()

  protected:
    template <class Work> void with(Work work) noexcept
    {
        if (!is_mute_.load(std::memory_order_relaxed))
            recorder_->safely([&] { work(*recorder_); });
    }

  private:
    std::shared_ptr<Recorder> recorder_;
    std::atomic<bool> is_mute_{false};
};

template <class Base> class WithDataflowBuffers : public Base
{
  public:
    using Base::Base;
};
template <has_dataflow_buffers Base> class WithDataflowBuffers<Base> : public Base
{
  public:
    using Base::Base;
    void track_allocate_dataflow_buffer(const Cores &cores, std::uint64_t address,
                                        std::uint64_t size, bool borrows_memory,
                                        const Device *device) noexcept override
    {
        this->with([&](Recorder &r) {
            r.on_cores(TTS_EVENT_DFB, cores, size, r.placement_at(borrows_memory, address),
                       device);
        });
    }
};

template <class Base> class WithScratchpads : public Base
{
  public:
    using Base::Base;
};
template <has_scratchpads Base> class WithScratchpads<Base> : public Base
{
  public:
    using Base::Base;
    void track_allocate_scratchpad(const Cores &cores, std::uint64_t, std::uint64_t size,
                                   const Device *device) noexcept override
    {
        this->with(
            [&](Recorder &r) { r.on_cores(TTS_EVENT_SCRATCHPAD, cores, size, {}, device); });
    }
};

// Tells the runtime that it need not do the extra work that it does for its own captures.
template <class Base> class InBackground : public Base
{
  public:
    using Base::Base;
};
template <has_capture_question Base> class InBackground<Base> : public Base
{
  public:
    using Base::Base;
    bool is_capture_processor() const noexcept override
    {
        return false;
    }
};

using Observer = InBackground<WithScratchpads<WithDataflowBuffers<Common<Processor>>>>;

// ---- the runtime's list of observers ----

// Static objects are visible, so that all shared objects of a process share them.

// The lock for reading or changing a list.
[[gnu::visibility("default")]] inline std::mutex &lists()
{
    static std::mutex mutex;
    return mutex;
}

// Returns the recorder of a tracker, which all threads share. Under lists().
[[gnu::visibility("default")]] inline std::shared_ptr<Recorder>
recorder_of(tts_tracker *tracker)
{
    static std::vector<std::weak_ptr<Recorder>> recorders;
    std::erase_if(recorders, [](const auto &weak) { return weak.expired(); });
    for (const auto &weak : recorders)
        if (auto recorder = weak.lock(); recorder && recorder->tracker() == tracker)
            return recorder;
    auto recorder = std::make_shared<Recorder>(tracker);
    recorders.push_back(recorder);
    return recorder;
}

// Our observers on the list of a runtime that does not show its list, in order. Such a runtime
// is assumed to have a list for each thread if it has the query that was added together with
// these lists. Under lists().
[[gnu::visibility("default")]] inline std::vector<std::weak_ptr<Observer>> &pushed()
{
    static std::vector<std::weak_ptr<Observer>> of_all;
    thread_local std::vector<std::weak_ptr<Observer>> of_thread;
    if constexpr (has_capture_question<Processor>)
        return of_thread;
    else
        return of_all;
}

// Returns our observer on the list that receives this thread's events.
template <class R> std::shared_ptr<Observer> listed(R &runtime, const tts_tracker *tracker)
{
    auto is_ours = [&](const std::shared_ptr<Observer> &observer) {
        return observer && observer->recorder().tracker() == tracker;
    };
    if constexpr (has_list<R>) {
        for (const auto &processor : runtime.get_processors())
            if (auto observer = std::dynamic_pointer_cast<Observer>(processor);
                is_ours(observer))
                return observer;
    } else {
        for (const auto &weak : pushed())
            if (auto observer = weak.lock(); is_ours(observer))
                return observer;
    }
    return nullptr;
}

// Puts the observer at the bottom of the list, because the runtime ends its own captures by
// removing the last element. If the runtime does not show its list, the observer can only go on
// top. Then a capture of the runtime that is already open must not end before the watch does.
template <class R> void enlist(R &runtime, const std::shared_ptr<Observer> &observer)
{
    if constexpr (has_list<R>) {
        const auto &list = runtime.get_processors();
        const std::vector<std::shared_ptr<Processor>> others(list.begin(), list.end());
        runtime.push_processor(observer); // the list has room now: nothing below can fail
        for (std::size_t i = 0; i <= others.size(); i++)
            runtime.pop_processor();
        runtime.push_processor(observer);
        for (const auto &processor : others)
            runtime.push_processor(processor);
    } else {
        pushed().push_back(observer);
        runtime.push_processor(observer);
    }
}

// Removes the observer from any position of the list. The runtime itself can only remove the
// last.
template <class R> void unlist(R &runtime, const std::shared_ptr<Observer> &observer)
{
    if constexpr (has_list<R>) {
        const auto &list = runtime.get_processors();
        auto at = std::find(list.begin(), list.end(), observer);
        if (at == list.end())
            return;
        std::vector<std::shared_ptr<Processor>> above(at + 1, list.end());
        for (std::size_t i = 0; i <= above.size(); i++)
            runtime.pop_processor();
        for (const auto &processor : above)
            runtime.push_processor(processor);
    } else if (auto &ours = pushed(); !ours.empty() && ours.back().lock() == observer) {
        ours.pop_back();
        runtime.pop_processor();
    }
}

} // namespace detail

// While a Watch exists, the tracker receives the events of the runtime on this thread. A Watch
// stays on its thread and is a local, or a member of one. A static Watch does not work: at the
// end of the program the runtime's list is destroyed before static objects, and the Watch would
// search the list.
class [[nodiscard]] Watch
{
  public:
    // Throws std::bad_alloc if there is no memory or no tracker.
    explicit Watch(tts_tracker *tracker)
    {
        if (!tracker)
            throw std::bad_alloc();
        std::lock_guard<std::mutex> lock(detail::lists());
        auto &runtime = detail::Runtime::instance();
        observer_ = detail::listed(runtime, tracker);
        if (!observer_) {
            observer_ = std::make_shared<detail::Observer>(detail::recorder_of(tracker));
            detail::enlist(runtime, observer_);
        }
        observer_->set_mute(false);
        observer_->users++;
    }
    Watch(const Watch &) = delete;
    Watch &operator=(const Watch &) = delete;
    ~Watch()
    {
        try {
            std::lock_guard<std::mutex> lock(detail::lists());
            if (--observer_->users > 0)
                return;
            observer_->set_mute(true);
            detail::unlist(detail::Runtime::instance(), observer_);
        } catch (...) { // the observer stays on the list and is mute
        }
    }

    // Returns the number of events that are not counted, because the runtime threw an exception
    // or the event is impossible. Also counts chips that the tracker could not move to their
    // current mesh; buffers of that mesh are missing on them.
    std::uint64_t lost() const noexcept
    {
        return observer_->recorder().lost();
    }
    // Returns the number of core sets that need more than 64 rectangles. The gaps in each row
    // of such a set count as part of it.
    std::uint64_t widened() const noexcept
    {
        return observer_->recorder().widened();
    }

  private:
    std::shared_ptr<detail::Observer> observer_;
};

[[nodiscard]] inline Watch watch(tts_tracker *tracker = tts_tracker_process())
{
    return Watch(tracker);
}

} // namespace ttscope::metal
