// ttscope.hpp: the tracker for C++17: the memory use of each phase of a program. One header
// over ttscope/capture.h, which explains the figures, ttscope/recorder.h and ttscope/publish.h.
//
// Everything here that can fail throws Error, except events: they are noexcept and return a
// status that may be ignored, because the tracker counts the events that it drops or refuses
// (health()). Owners are move-only. Any thread may call a Capture and the MemoryUsageTracker;
// one call runs at a time.
//
// MemoryUsageTracker has the names, the results and the messages of tt-train's class. It is
// also in namespace ttml::utils, so code that uses the class of tt-train changes only the
// include. A program that includes both defines TTSCOPE_NO_TTML first and takes this class from
// namespace ttscope.
//
// If tt-metal's headers are found (C++20), begin_capture() watches the runtime on the calling
// thread as metal.hpp does, and NO_DISPATCH holds the runtime back as hold.hpp says. Such a
// program must be linked with the runtime, or define TTSCOPE_NO_METAL first: then this header
// takes only tt::tt_metal::IGraphProcessor::RunMode from tt-metal. Without tt-metal's headers,
// or as C++17, this header defines that enum itself. In all these cases the tracker counts only
// posted events.
#pragma once

#include "ttscope/capture.h"
#include "ttscope/publish.h"
#include "ttscope/recorder.h"

#if !defined(TTSCOPE_NO_METAL) && __cplusplus >= 202002L &&                                    \
    __has_include(<tt-metalium/graph_tracking.hpp>)
#include "ttscope/hold.hpp"
#include "ttscope/metal.hpp"
#define TTSCOPE_HAS_METAL 1
#else
#define TTSCOPE_HAS_METAL 0
#endif

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ttscope
{

// The exception of this header. The text says what to do.
class Error : public std::runtime_error
{
  public:
    Error(tts_status status, const std::string &text)
        : std::runtime_error(text), status_(status)
    {
    }
    tts_status status() const noexcept
    {
        return status_;
    }

  private:
    tts_status status_;
};

// NO_DISPATCH keeps the modelled devices that are attached to the tracker from placing buffers.
// In a MemoryUsageTracker it also keeps tt-metal from allocating and running, if tt-metal's
// headers were found.
enum class Mode { NORMAL = TTS_CAPTURE_NORMAL, NO_DISPATCH = TTS_CAPTURE_NO_DISPATCH };

namespace detail
{

inline void check(tts_status status, const tts_error &error)
{
    if (status != TTS_OK)
        throw Error(status, error.text[0] ? error.text : tts_status_text(status));
}

// Accepts Mode, or any other enum that has an enumerator NO_DISPATCH.
template <class RunMode, class = decltype(RunMode::NO_DISPATCH)>
using if_mode = std::enable_if_t<std::is_enum_v<RunMode>>;

template <class RunMode> tts_capture_mode mode_of(RunMode mode)
{
    if (mode == RunMode::NO_DISPATCH)
        return TTS_CAPTURE_NO_DISPATCH;
    if constexpr (std::is_same_v<RunMode, Mode>)
        if (mode != Mode::NORMAL)
            throw Error(TTS_E_INVALID, "unknown mode: give Mode::NORMAL or Mode::NO_DISPATCH");
    return TTS_CAPTURE_NORMAL;
}

// The name under which a phase called `name` is stored. NUL, which C strings cannot contain,
// becomes '?'. Allocates nothing: of a long name the library keeps only bytes of its beginning
// and its end.
struct KeptName {
    char text[TTS_PHASE_NAME_MAX + 1];

    explicit KeptName(std::string_view name) noexcept
    {
        constexpr std::size_t part = TTS_PHASE_NAME_MAX;
        char whole[2 * part + 1] = "";
        const std::size_t head = std::min(name.size(), part);
        const std::size_t tail = std::min(name.size() - head, part);
        name.copy(whole, head);
        name.copy(whole + head, tail, name.size() - tail);
        std::replace(whole, whole + head + tail, '\0', '?');
        tts_phase_name_clip(whole, text);
    }
};

struct FreeTracker {
    bool is_owner;
    void operator()(tts_tracker *tracker) const noexcept
    {
        if (is_owner)
            tts_tracker_free(tracker);
    }
};

struct FreeCapture {
    void operator()(tts_capture *capture) const noexcept
    {
        tts_capture_free(capture);
    }
};

// Ends a recorder. Errors are ignored, because nobody is left to handle them; state() has
// reported them before.
struct EndRecorder {
    void operator()(tts_recorder *recorder) const noexcept
    {
        if (tts_recorder_end(recorder, nullptr, nullptr) != TTS_OK)
            return;
    }
};

struct EndPublish {
    void operator()(tts_tracker *tracker) const noexcept
    {
        tts_publish_end(tracker);
    }
};

// The session of a MemoryUsageTracker. A plain capture has none.
struct Session {
    std::shared_ptr<void> runtime; // watched and held until the end
    const char *advice = "";       // printed if nothing is counted or held
    bool may_hold_nothing = false; // NO_DISPATCH without a runtime to hold
    std::uint64_t held = 0;        // devices held before it began
};

// The state that a capture shares with its guards. `begins` counts the sessions and identifies
// the current one.
struct Shared {
    std::mutex mutex;
    std::unique_ptr<tts_capture, FreeCapture> capture;
    std::uint64_t begins = 0;
    Session session;
};

// Messages that a process prints at most once each.
enum Notice { NOTICE_EVENTS, NOTICE_DISPATCH, NOTICE_HOLD, NOTICE_MEMORY, NOTICE_END, NOTICES };

[[gnu::visibility("default")]] inline void say_once(Notice notice, const char *text,
                                                    const char *advice) noexcept
{
    static std::atomic<bool> is_said[NOTICES];
    if (!is_said[notice].exchange(true))
        std::fprintf(stderr, "ttscope: %s%s\n", text, advice);
}

// How a MemoryUsageTracker uses the runtime during a session. The functions that depend on this
// are templates. So parts of a program that were compiled with and without the runtime's
// headers have separate versions.
struct WithoutRuntime {
    static constexpr bool can_hold = false;
    static constexpr const char *advice =
        "the program was compiled without tt-metal's headers: add the directory of "
        "tt-metalium/ "
        "with -I and compile as C++20, or report each allocation to "
        "ttscope::Tracker::process()";
    static std::shared_ptr<void> begin(tts_tracker *, tts_capture_mode)
    {
        return nullptr;
    }
};

#if TTSCOPE_HAS_METAL
struct WithRuntime {
    static constexpr bool can_hold = true;
    static constexpr const char *advice = "tt-metal reported nothing: call begin_capture() on "
                                          "the thread that allocates, before its first "
                                          "allocation; on other threads call "
                                          "ttscope::metal::watch()";

    metal::Watch watch;
    std::unique_ptr<metal::Hold> hold;

    WithRuntime(tts_tracker *tracker, tts_capture_mode mode) : watch(tracker)
    {
        if (mode != TTS_CAPTURE_NO_DISPATCH)
            return;
        hold = std::make_unique<metal::Hold>(tt::tt_metal::GraphTracker::instance());
        if (const char *problem = hold->problem())
            say_once(NOTICE_HOLD, "NO_DISPATCH has no effect on tt-metal: ", problem);
    }
    static std::shared_ptr<void> begin(tts_tracker *tracker, tts_capture_mode mode)
    {
        return std::make_shared<WithRuntime>(tracker, mode);
    }
};
using Runtime = WithRuntime;
#else
using Runtime = WithoutRuntime;
#endif
#undef TTSCOPE_HAS_METAL

// Ends and clears one session, unless its capture is gone or another session has begun.
struct Finish {
    std::weak_ptr<Shared> shared;
    std::uint64_t session = 0;
    void operator()() const noexcept
    {
        std::shared_ptr<Shared> held = shared.lock();
        if (!held)
            return;
        try {
            std::lock_guard<std::mutex> lock(held->mutex);
            if (held->begins != session)
                return;
            held->session.runtime.reset();
            tts_capture_clear(held->capture.get());
        } catch (...) { // the lock failed: nothing can be done
        }
    }
};

} // namespace detail

// The destructor of a guard ends and clears the session that the guard was made for. Later
// sessions of the capture are not affected.
class Guard
{
  public:
    Guard() noexcept = default;
    explicit Guard(detail::Finish finish) noexcept : finish_(std::move(finish))
    {
    }
    Guard(Guard &&other) noexcept = default;
    Guard &operator=(Guard &&other) noexcept
    {
        if (this != &other) {
            finish_();
            finish_ = std::move(other.finish_);
        }
        return *this;
    }
    ~Guard()
    {
        finish_();
    }
    // Makes the guard do nothing.
    void release() noexcept
    {
        finish_.shared.reset();
    }

  private:
    detail::Finish finish_;
};

// A tracker, which receives the events. Captures and recorders of the tracker must not outlive
// it.
class Tracker
{
  public:
    explicit Tracker(const tts_tracker_config &config = {}) : tracker_(nullptr, {true})
    {
        tts_tracker *tracker = nullptr;
        tts_error error{};
        detail::check(tts_tracker_new(&config, nullptr, &tracker, &error), error);
        tracker_.reset(tracker);
    }
    // Returns the tracker that all bindings of this process share. It is not owned.
    static Tracker process()
    {
        tts_tracker *tracker = tts_tracker_process();
        if (!tracker)
            throw Error(TTS_E_NOMEM, tts_status_text(TTS_E_NOMEM));
        return Tracker(tracker);
    }
    tts_tracker *get() const noexcept
    {
        return tracker_.get();
    }
    bool is_on() const noexcept
    {
        return tts_tracker_is_on(get());
    }

    void attach(tts_device *device, std::uint32_t id)
    {
        tts_error error{};
        detail::check(tts_tracker_attach(get(), device, id, &error), error);
    }
    void detach(tts_device *device)
    {
        tts_error error{};
        detail::check(tts_tracker_detach(get(), device, &error), error);
    }
    void chip(std::uint32_t chip, std::uint32_t mesh)
    {
        tts_error error{};
        detail::check(tts_tracker_chip(get(), chip, mesh, &error), error);
    }

    tts_tracker_health health() const noexcept
    {
        tts_tracker_health health{};
        tts_tracker_get_health(get(), &health);
        return health;
    }
    // Returns the live buffers, oldest first. Buffers allocated during the call may be missing.
    std::vector<tts_live> live() const
    {
        std::vector<tts_live> live(tts_tracker_live(get(), nullptr, 0));
        std::size_t count = tts_tracker_live(get(), live.data(), live.size());
        if (count < live.size())
            live.resize(count);
        return live;
    }

    // ---- events ----

    tts_status post(const tts_event &event) noexcept
    {
        return is_on() ? tts_tracker_post(get(), &event, nullptr) : TTS_OK;
    }
    tts_status alloc(std::uint32_t device, tts_pool pool, std::uint64_t id, std::uint64_t size,
                     std::uint64_t bytes_per_bank = 0) noexcept
    {
        return tts_track_alloc(get(), device, pool, id, size, bytes_per_bank, nullptr);
    }
    // The sizes are for a buffer that may have been allocated before anything listened.
    tts_status free(std::uint32_t device, tts_pool pool, std::uint64_t id,
                    std::uint64_t size = 0, std::uint64_t bytes_per_bank = 0) noexcept
    {
        return tts_track_free(get(), device, pool, id, size, bytes_per_bank, nullptr);
    }
    tts_status program(std::uint32_t device) noexcept
    {
        return tts_track_program(get(), device, nullptr);
    }
    // `ranges` works with std::data() and std::size(): an array, a vector, an initializer list.
    template <class Ranges>
    tts_status cb(std::uint32_t device, const Ranges &ranges, std::uint64_t size) noexcept
    {
        return on_cores(TTS_EVENT_CB, device, ranges, size);
    }
    template <class Ranges>
    tts_status dataflow_buffer(std::uint32_t device, const Ranges &ranges,
                               std::uint64_t size) noexcept
    {
        return on_cores(TTS_EVENT_DFB, device, ranges, size);
    }
    template <class Ranges>
    tts_status scratchpad(std::uint32_t device, const Ranges &ranges,
                          std::uint64_t size) noexcept
    {
        return on_cores(TTS_EVENT_SCRATCHPAD, device, ranges, size);
    }
    tts_status op_begin(std::string_view name) noexcept
    {
        return tts_track_op_begin(get(), name.data(), name.size(), nullptr);
    }
    tts_status op_end() noexcept
    {
        return tts_track_op_end(get(), nullptr);
    }
    tts_status trace_begin(std::uint32_t device) noexcept
    {
        return tts_track_trace_begin(get(), device, nullptr);
    }
    tts_status trace_end(std::uint32_t device) noexcept
    {
        return tts_track_trace_end(get(), device, nullptr);
    }

    // Reports a refused request.
    tts_status failure(std::uint32_t device, const tts_failure &failure) noexcept
    {
        return tts_track_failure(get(), device, &failure, nullptr);
    }

  private:
    explicit Tracker(tts_tracker *process) noexcept : tracker_(process, {false})
    {
    }
    template <class Ranges>
    tts_status on_cores(tts_event_kind kind, std::uint32_t device, const Ranges &ranges,
                        std::uint64_t size) noexcept
    {
        return tts_track_cb(get(), device, kind, std::data(ranges), std::size(ranges), size,
                            nullptr);
    }

    std::unique_ptr<tts_tracker, detail::FreeTracker> tracker_;
};

// An operation that ends with its scope.
class Op
{
  public:
    Op(Tracker &tracker, std::string_view name) noexcept : tracker_(tracker)
    {
        tracker_.op_begin(name);
    }
    Op(const Op &) = delete;
    Op &operator=(const Op &) = delete;
    ~Op()
    {
        tracker_.op_end();
    }

  private:
    Tracker &tracker_;
};

// The phases of a program, in order. The destructor ends the capture.
class Capture
{
  public:
    explicit Capture(const Tracker &tracker) : shared_(std::make_shared<detail::Shared>())
    {
        tts_capture *capture = nullptr;
        tts_error error{};
        detail::check(tts_capture_new(tracker.get(), &capture, &error), error);
        shared_->capture.reset(capture);
    }
    Capture(Capture &&other) noexcept = default;
    Capture &operator=(Capture &&other) noexcept = default;

    void begin()
    {
        start(TTS_CAPTURE_NORMAL);
    }
    template <class RunMode, class = detail::if_mode<RunMode>> void begin(RunMode mode)
    {
        start(detail::mode_of(mode));
    }
    [[nodiscard]] Guard begin_guarded()
    {
        return Guard(start(TTS_CAPTURE_NORMAL));
    }
    template <class RunMode, class = detail::if_mode<RunMode>>
    [[nodiscard]] Guard begin_guarded(RunMode mode)
    {
        return Guard(start(detail::mode_of(mode)));
    }

    void snapshot(const std::string &name)
    {
        tts_error error{};
        std::lock_guard<std::mutex> lock(shared().mutex);
        detail::check(tts_capture_snapshot(get(), detail::KeptName(name).text, &error), error);
    }
    // Ends the capture. Does nothing if it is not active. If it throws, the capture has ended
    // too, but the last phase is lost.
    void end(const std::string &name = TTS_PHASE_END)
    {
        tts_error error{};
        std::lock_guard<std::mutex> lock(shared().mutex);
        shared_->session.runtime.reset();
        detail::check(tts_capture_end(get(), detail::KeptName(name).text, &error), error);
    }
    // Ends the capture if it is active, and deletes all phases.
    void clear()
    {
        std::lock_guard<std::mutex> lock(shared().mutex);
        shared_->session.runtime.reset();
        tts_capture_clear(get());
    }
    bool is_active() const
    {
        std::lock_guard<std::mutex> lock(shared().mutex);
        return tts_capture_is_active(get());
    }

    // Calls `look` for each finished phase, under the lock. `look` must not call the capture.
    template <class Look> void each(Look look) const
    {
        std::lock_guard<std::mutex> lock(shared().mutex);
        for (std::size_t i = 0; i < tts_capture_count(get()); i++)
            look(*tts_capture_at(get(), i));
    }
    // Returns the finished phases, borrowed until clear() or until the capture is destroyed.
    std::vector<const tts_phase *> phases() const
    {
        std::vector<const tts_phase *> phases;
        each([&](const tts_phase &phase) { phases.push_back(&phase); });
        return phases;
    }
    const tts_phase &find(const std::string &name = TTS_PHASE_END) const
    {
        tts_error error{};
        const tts_phase *phase = nullptr;
        std::lock_guard<std::mutex> lock(shared().mutex);
        detail::check(tts_capture_get(get(), detail::KeptName(name).text, &phase, &error),
                      error);
        return *phase;
    }

    // Returns the summary.
    std::string text() const
    {
        return text_of(tts_capture_text);
    }
    // Returns a table with the highest use of a core in each phase, and the contents of that
    // core.
    std::string cores_text() const
    {
        return text_of(tts_capture_cores_text);
    }
    void print(std::FILE *out = stdout) const
    {
        tts_error error{};
        std::lock_guard<std::mutex> lock(shared().mutex);
        detail::check(tts_capture_print(get(), out, &error), error);
    }

  private:
    detail::Shared &shared() const
    {
        if (!shared_)
            throw Error(TTS_E_INVALID,
                        "the capture was moved to another object: use that object");
        return *shared_;
    }
    tts_capture *get() const noexcept
    {
        return shared_->capture.get();
    }
    detail::Finish start(tts_capture_mode mode, detail::Session session = {})
    {
        tts_error error{};
        std::lock_guard<std::mutex> lock(shared().mutex);
        detail::check(tts_capture_begin(get(), mode, &error), error);
        shared_->session = std::move(session);
        return {shared_, ++shared_->begins};
    }
    template <class Write> std::string text_of(Write write) const
    {
        std::lock_guard<std::mutex> lock(shared().mutex);
        std::string text(write(get(), nullptr, 0), '\0');
        write(get(), text.data(), text.size() + 1); // std::string has room for the terminator
        return text;
    }

    std::shared_ptr<detail::Shared> shared_;

    friend class MemoryUsageTracker;
};

// Writes every event of a tracker to a file until end() or the destructor. With `keep_bytes`
// the file is a black box: it has about that size and contains the last events. One thread at a
// time.
class Recorder
{
  public:
    Recorder(const Tracker &tracker, const std::string &path, std::uint64_t keep_bytes = 0)
    {
        tts_recorder_config config{};
        config.path = path.c_str();
        config.keep_bytes = keep_bytes;
        tts_recorder *recorder = nullptr;
        tts_error error{};
        detail::check(tts_recorder_begin(tracker.get(), &config, &recorder, &error), error);
        recorder_.reset(recorder);
    }
    Recorder(Recorder &&other) noexcept = default;
    Recorder &operator=(Recorder &&other) noexcept = default;

    // Returns the current state, or the final state after end().
    tts_recorder_state state() const noexcept
    {
        if (!recorder_)
            return last_;
        tts_recorder_state state{};
        tts_recorder_get_state(recorder_.get(), &state);
        return state;
    }
    // Finishes the file. Throws if the recording had stopped before, or if the file cannot be
    // finished; the events in the file are valid. A second end() does nothing.
    void end()
    {
        tts_error error{};
        if (recorder_)
            detail::check(tts_recorder_end(recorder_.release(), &last_, &error), error);
    }

  private:
    std::unique_ptr<tts_recorder, detail::EndRecorder> recorder_;
    tts_recorder_state last_{};
};

// Shows the memory use of a program live in `ttscope top`, until end() or the destructor. If
// the tracker publishes already (TTSCOPE=1 in the environment), the publisher joins and ends
// nothing. The tracker outlives the publisher. One thread at a time.
class Publisher
{
  public:
    explicit Publisher(const Tracker &tracker, const tts_publish_config &config = {})
        : tracker_(tracker.get())
    {
        tts_error error{};
        const tts_status status = tts_publish_begin(tracker_, &config, &error);
        if (status == TTS_E_BUSY)
            return;
        detail::check(status, error);
        publisher_.reset(tracker_);
    }
    Publisher(Publisher &&other) noexcept = default;
    Publisher &operator=(Publisher &&other) noexcept = default;

    // Returns the file and the number of events. The path is "" after the end.
    tts_publish_state state() const noexcept
    {
        tts_publish_state state{};
        tts_publish_get_state(tracker_, &state);
        return state;
    }
    // Stops to publish and removes the file. A second end() does nothing.
    void end() noexcept
    {
        publisher_.reset();
    }

  private:
    tts_tracker *tracker_;
    std::unique_ptr<tts_tracker, detail::EndPublish> publisher_;
};

// Shows this program live as long as the result exists: auto shown = ttscope::publish();
[[nodiscard]] inline Publisher publish(const Tracker &tracker = Tracker::process(),
                                       const tts_publish_config &config = {})
{
    return Publisher(tracker, config);
}

// ---- with the published names ----

struct DRAMUsage {
    long long peak = 0;
    long long total_allocations = 0;
    long long total_deallocations = 0;
};

// Bytes of one core. Never negative.
struct L1UsagePerCore {
    std::size_t peak_cb = 0;
    std::size_t peak_l1 = 0;
    std::size_t peak_dataflow_buffer = 0;
    std::size_t peak_scratchpad = 0;
    std::size_t peak_total = 0;
};

// One capture of the process's tracker, for all C++ code of the process. ttscope.compat in
// Python has another capture of the same tracker. All errors are std::runtime_error.
//
// This is a class; tt-train has a namespace. So `using namespace` and namespace aliases do not
// compile: write `using` with the class. begin_capture(NO_DISPATCH) is Mode::NO_DISPATCH.
//
// begin_capture() also begins to watch the runtime on its thread, if tt-metal's headers were
// found; end_capture(), clear() and the guard end that, on the same thread. A capture that saw
// no event, or a NO_DISPATCH that had no effect, prints a message once on stderr.
class MemoryUsageTracker
{
  public:
    static constexpr const char *kDefaultTraceName = TTS_PHASE_END;

    // The guard ends the capture and deletes its phases. Keep the guard, and print before it is
    // destroyed.
    template <class Runtime = detail::Runtime> [[nodiscard]] static Guard begin_capture()
    {
        return Guard(start<Runtime>(TTS_CAPTURE_NORMAL));
    }
    template <class RunMode, class Runtime = detail::Runtime, class = detail::if_mode<RunMode>>
    [[nodiscard]] static Guard begin_capture(RunMode mode)
    {
        return Guard(start<Runtime>(detail::mode_of(mode)));
    }
    // Throws only if no capture is active. If there is no memory, the phase continues.
    static void snapshot(const std::string &name)
    {
        translate(TTS_E_INVALID, "Cannot snapshot - capture is not active",
                  [&] { with_memory([&] { capture().snapshot(name); }); });
    }
    // Ends the watch and the hold of the runtime, then the capture. Each of them ends in any
    // case, and nothing is thrown: a failure is printed once on stderr.
    static void end_capture(const std::string &name = kDefaultTraceName)
    {
        const bool was_active = capture().is_active();
        try {
            capture().end(name);
        } catch (const std::exception &error) { // our error, or std::bad_alloc
            detail::say_once(detail::NOTICE_END, "the last segment is lost: ", error.what());
        }
        if (was_active)
            check_dispatch();
        check_events();
    }
    static DRAMUsage get_dram_usage(const std::string &name = kDefaultTraceName)
    {
        return only(get_dram_usage_all(), name);
    }
    static L1UsagePerCore get_l1_usage(const std::string &name = kDefaultTraceName)
    {
        return only(get_l1_usage_all(), name);
    }
    static std::vector<std::pair<std::string, DRAMUsage>> get_dram_usage_all()
    {
        return all<DRAMUsage>(dram_of);
    }
    static std::vector<std::pair<std::string, L1UsagePerCore>> get_l1_usage_all()
    {
        return all<L1UsagePerCore>(l1_of);
    }
    static std::vector<std::string> get_trace_names()
    {
        std::vector<std::string> names;
        capture().each([&](const tts_phase &phase) { names.emplace_back(phase.name); });
        return names;
    }
    static void print_memory_usage()
    {
        check_events();
        capture().print(stdout);
    }
    static void clear()
    {
        capture().clear();
    }

  protected:
    template <class Runtime> static detail::Finish start(tts_capture_mode mode)
    {
        detail::Finish finish;
        translate(TTS_E_BUSY, "Capture already active", [&] {
            if (capture().is_active())
                throw Error(TTS_E_BUSY, "");
            finish = capture().start(mode, session_of<Runtime>(mode));
        });
        return finish;
    }

  private:
    // Never destroyed, because static objects of a program may still use it in their
    // destructors. Visible, so that all shared objects share it, however they are compiled. A
    // shared object that is opened with RTLD_LOCAL by a program that does not export this
    // symbol may have its own.
    [[gnu::visibility("default")]] static Capture &capture()
    {
        static Capture &only_one = *new Capture(Tracker::process());
        return only_one;
    }
    template <class Runtime> static detail::Session session_of(tts_capture_mode mode)
    {
        tts_tracker *tracker = Tracker::process().get();
        detail::Session session;
        session.advice = Runtime::advice;
        session.may_hold_nothing = mode == TTS_CAPTURE_NO_DISPATCH && !Runtime::can_hold;
        session.held = tts_tracker_get_held(tracker);
        session.runtime = Runtime::begin(tracker, mode);
        return session;
    }
    // Runs `call`, and prints a message if it runs out of memory.
    template <class Call> static void with_memory(Call call)
    {
        try {
            call();
        } catch (const Error &error) {
            if (error.status() != TTS_E_NOMEM)
                throw;
            detail::say_once(detail::NOTICE_MEMORY, out_of_memory, "");
        } catch (const std::bad_alloc &) {
            detail::say_once(detail::NOTICE_MEMORY, out_of_memory, "");
        }
    }
    static void check_events()
    {
        std::size_t phases = 0;
        std::uint64_t events = 0;
        capture().each([&](const tts_phase &phase) {
            phases++;
            events += phase.events;
        });
        if (phases > 0 && events == 0)
            detail::say_once(detail::NOTICE_EVENTS,
                             "the capture saw no event, so every figure is 0; ", advice());
    }
    static void check_dispatch()
    {
        if (may_hold_nothing())
            detail::say_once(detail::NOTICE_DISPATCH,
                             "NO_DISPATCH had no effect, so everything was really allocated; ",
                             advice());
    }
    static const char *advice()
    {
        std::lock_guard<std::mutex> lock(capture().shared().mutex);
        return capture().shared().session.advice;
    }
    static bool may_hold_nothing()
    {
        std::lock_guard<std::mutex> lock(capture().shared().mutex);
        const detail::Session &session = capture().shared().session;
        return session.may_hold_nothing &&
               session.held == tts_tracker_get_held(Tracker::process().get());
    }
    static constexpr const char *out_of_memory =
        "the host has too little memory: two segments are counted as one";

    template <class Call>
    static void translate(tts_status known, const char *published, Call call)
    {
        try {
            call();
        } catch (const Error &error) {
            const char *text = error.status() == known ? published : error.what();
            throw Error(error.status(), std::string("MemoryUsageTracker: ") + text);
        }
    }
    static std::size_t positive(std::int64_t bytes) noexcept
    {
        return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    }
    static DRAMUsage dram_of(const tts_phase &phase) noexcept
    {
        const tts_pool_usage &dram = phase.usage.dram_with_trace;
        return {dram.peak_bytes, dram.allocated_bytes, dram.freed_bytes};
    }
    static L1UsagePerCore l1_of(const tts_phase &phase) noexcept
    {
        const tts_usage &usage = phase.usage;
        return {positive(usage.peak_cb_bytes), positive(usage.l1_with_small.peak_bytes),
                positive(usage.peak_dfb_bytes), positive(usage.peak_scratchpad_bytes),
                positive(usage.peak_total_bytes)};
    }
    template <class Usage, class Of>
    static std::vector<std::pair<std::string, Usage>> all(Of usage_of)
    {
        std::vector<std::pair<std::string, Usage>> all;
        capture().each(
            [&](const tts_phase &phase) { all.emplace_back(phase.name, usage_of(phase)); });
        return all;
    }
    template <class Usage>
    static Usage only(const std::vector<std::pair<std::string, Usage>> &all,
                      const std::string &name)
    {
        const Usage *found = nullptr;
        std::size_t matches = 0;
        const detail::KeptName kept(name);
        for (const auto &[key, usage] : all) {
            if (key != kept.text)
                continue;
            found = &usage;
            matches++;
        }
        std::string trace = "MemoryUsageTracker: Trace '" + name + "' ";
        if (matches == 0)
            throw Error(TTS_E_NOT_FOUND, trace + "not found");
        if (matches > 1)
            throw Error(TTS_E_AMBIGUOUS, trace + "is ambiguous (" + std::to_string(matches) +
                                             " segments share this name); use "
                                             "get_dram_usage_all()/get_l1_usage_all() instead");
        return *found;
    }
};

} // namespace ttscope

// ---- the same names in the published namespaces ----

#ifndef TTSCOPE_NO_TTML
// The guard of tt-train is a ttnn::ScopeGuard, and its users write that name. If ttnn's header
// is found, the guard is of that type; otherwise the name is an alias of our Guard.
#if __has_include(<ttnn/common/guard.hpp>)
#include <ttnn/common/guard.hpp>

namespace ttscope::compat
{

class MemoryUsageTracker : public ttscope::MemoryUsageTracker
{
  public:
    template <class Runtime = detail::Runtime>
    [[nodiscard]] static ttnn::ScopeGuard begin_capture()
    {
        return ttnn::ScopeGuard(begun<Runtime>(TTS_CAPTURE_NORMAL));
    }
    template <class RunMode, class Runtime = detail::Runtime, class = detail::if_mode<RunMode>>
    [[nodiscard]] static ttnn::ScopeGuard begin_capture(RunMode mode)
    {
        return ttnn::ScopeGuard(begun<Runtime>(detail::mode_of(mode)));
    }

  private:
    // std::function may find no memory. Until it exists, our own guard protects the capture.
    template <class Runtime> static std::function<void()> begun(tts_capture_mode mode)
    {
        detail::Finish finish = start<Runtime>(mode);
        Guard guard(finish);
        std::function<void()> close(std::move(finish));
        guard.release();
        return close;
    }
};

} // namespace ttscope::compat
#else
namespace ttnn
{
using ScopeGuard = ttscope::Guard;
}
namespace ttscope::compat
{
using ttscope::MemoryUsageTracker;
}
#endif

// Published programs use the RunMode of the runtime. Its header needs C++20.
#if __cplusplus >= 202002L && __has_include(<tt-metalium/graph_tracking.hpp>)
#include <tt-metalium/graph_tracking.hpp>
#else
namespace tt::tt_metal
{
class IGraphProcessor
{
  public:
    enum class RunMode { NORMAL, NO_DISPATCH };
};
} // namespace tt::tt_metal
#endif

namespace ttml::utils
{
using ttscope::DRAMUsage;
using ttscope::L1UsagePerCore;
using ttscope::compat::MemoryUsageTracker;
} // namespace ttml::utils
#endif
