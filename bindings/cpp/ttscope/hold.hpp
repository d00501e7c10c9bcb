// hold.hpp: keeps tt-metal from allocating and running anything, like the runtime's own
// NO_DISPATCH captures. ttscope.hpp uses it; a program need not.
//
// The runtime calls one hook before it allocates, frees, copies or runs. A Hold installs such a
// hook. Newer runtimes have a hook for each thread, older ones one for the process. If there is
// a hook already, a graph capture of the runtime is open: its run mode stays in force, and the
// Hold does nothing.
//
// If ttnn's headers are found, the hook is ttnn's own class: ttnn's operations keep programs
// that were made without addresses out of the program cache only if they know the hook. Such a
// program must be linked with ttnn.
#pragma once

#include <tt-metalium/graph_tracking.hpp>
#if __has_include(<tt-metalium/mesh_buffer.hpp>)
#include <tt-metalium/mesh_buffer.hpp>
#define TTSCOPE_HOLD_HAS_MESH 1
#else
#define TTSCOPE_HOLD_HAS_MESH 0
#endif
#if __has_include(<ttnn/graph/graph_processor.hpp>)
#include <ttnn/graph/graph_processor.hpp>
#define TTSCOPE_HOLD_HAS_TTNN 1
#else
#define TTSCOPE_HOLD_HAS_TTNN 0
#endif

#include <atomic>
#include <memory>
#include <type_traits>

namespace ttscope::metal
{

namespace detail
{

// The type of the hooks, taken from the runtime's own function.
template <class> struct HookCall;
template <class R, class H> struct HookCall<bool (R::*)(const std::shared_ptr<H> &)> {
    using Hook = H;
};

template <class R>
concept has_hooks = requires(R &runtime)
{
    typename HookCall<decltype(&R::add_hook)>::Hook;
    runtime.get_hook();
    runtime.clear_hook();
};

// A hook that blocks every call of the interface. If the runtime's interface has a function
// that this class does not override, the class stays abstract and the runtime cannot be held.
template <class H> class Blocker : public H
{
  public:
    void set_block(bool is_blocking) noexcept
    {
        is_blocking_.store(is_blocking, std::memory_order_relaxed);
    }
    bool hook_allocate(const tt::tt_metal::Buffer *)
    {
        return is_blocking();
    }
    bool hook_deallocate(tt::tt_metal::Buffer *)
    {
        return is_blocking();
    }
    bool hook_program(tt::tt_metal::Program *)
    {
        return is_blocking();
    }
    bool hook_write_to_device(const tt::tt_metal::Buffer *)
    {
        return is_blocking();
    }
    bool hook_read_from_device(tt::tt_metal::Buffer *)
    {
        return is_blocking();
    }
#if TTSCOPE_HOLD_HAS_MESH
    bool hook_write_to_device(const tt::tt_metal::distributed::MeshBuffer *)
    {
        return is_blocking();
    }
    bool hook_read_from_device(const tt::tt_metal::distributed::MeshBuffer *)
    {
        return is_blocking();
    }
#endif

  private:
    bool is_blocking() const noexcept
    {
        return is_blocking_.load(std::memory_order_relaxed);
    }
    std::atomic<bool> is_blocking_{false};
};

#if TTSCOPE_HOLD_HAS_TTNN
template <class> using HookOf = ttnn::graph::ProcessorHooks;
#else
template <class R> using HookOf = Blocker<typename HookCall<decltype(&R::add_hook)>::Hook>;
#endif
#undef TTSCOPE_HOLD_HAS_MESH
#undef TTSCOPE_HOLD_HAS_TTNN

// Holds the runtime: while it exists, the runtime allocates and runs nothing on this thread.
// problem() says whether this works, and what to do if not. Must be destroyed on the thread
// that made it: on another thread the hook stays installed, but no longer blocks anything.
template <class R> class HoldOn
{
  public:
    explicit HoldOn(R &) noexcept
    {
    }
    const char *problem() const noexcept
    {
        return "ttscope cannot stop the allocations of this release of tt-metal: begin a "
               "graph capture of tt-metal "
               "with RunMode::NO_DISPATCH before begin_capture()";
    }
};
template <has_hooks R>
requires(!std::is_abstract_v<HookOf<R>>) class HoldOn<R>
{
  public:
    explicit HoldOn(R &runtime) : runtime_(runtime), hook_(std::make_shared<HookOf<R>>())
    {
        hook_->set_block(true);
        is_installed_ = runtime_.add_hook(hook_);
    }
    HoldOn(const HoldOn &) = delete;
    HoldOn &operator=(const HoldOn &) = delete;
    ~HoldOn()
    {
        hook_->set_block(false);
        if (is_installed_ && runtime_.get_hook() == hook_)
            runtime_.clear_hook();
    }
    // Returns NULL if the runtime is held, otherwise what to do.
    const char *problem() const noexcept
    {
        return is_installed_ ? nullptr
                             : "a graph capture of the runtime is active, and its run mode "
                               "applies: end this capture before begin_capture()";
    }

  private:
    R &runtime_;
    std::shared_ptr<HookOf<R>> hook_;
    bool is_installed_ = false;
};

} // namespace detail

// While a Hold exists, the runtime allocates and runs nothing on this thread.
using Hold = detail::HoldOn<tt::tt_metal::GraphTracker>;

} // namespace ttscope::metal
