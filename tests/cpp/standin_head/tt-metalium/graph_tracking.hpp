// graph_tracking.hpp: a stand-in for the observer interface of August 2026: one list of
// observers per thread, dataflow buffers and scratchpads, and observers that are not captures.
#pragma once

#include "standin/hooks.hpp"
#include "standin/types.hpp"

#include <any>
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tt::tt_metal
{

struct TrackedArgument {
    std::any value;
    std::string (*to_string_fn)(const std::any &);
};

class IGraphProcessor
{
  public:
    enum class RunMode { NORMAL, NO_DISPATCH };

    virtual ~IGraphProcessor() = default;
    virtual bool is_capture_processor() const
    {
        return true;
    }
    virtual void track_allocate(const Buffer *)
    {
    }
    virtual void track_deallocate(Buffer *)
    {
    }
    virtual void track_allocate_cb(const CoreRangeSet &, uint64_t, uint64_t, bool,
                                   const IDevice *)
    {
    }
    virtual void track_allocate_dataflow_buffer(const CoreRangeSet &, uint64_t, uint64_t, bool,
                                                const IDevice *)
    {
    }
    virtual void track_allocate_scratchpad(const CoreRangeSet &, uint64_t, uint64_t,
                                           const IDevice *)
    {
    }
    virtual void track_deallocate_cb(const IDevice *)
    {
    }
    virtual void track_program(Program *, const IDevice *)
    {
    }
    virtual void track_function_start(std::string_view, std::span<TrackedArgument>)
    {
    }
    virtual void track_function_end()
    {
    }
    virtual void track_function_end(const std::any &)
    {
    }
    virtual void begin_capture(RunMode)
    {
    }
    virtual nlohmann::json end_capture()
    {
        return nullptr;
    }
};

class GraphTracker
{
  public:
    static constexpr bool kListPerThread = true;

    static GraphTracker &instance()
    {
        static GraphTracker tracker;
        return tracker;
    }
    bool is_enabled() const
    {
        for (auto &processor : list_)
            if (processor->is_capture_processor())
                return true;
        return false;
    }
    void push_processor(const std::shared_ptr<IGraphProcessor> &processor)
    {
        list_.push_back(processor);
    }
    void pop_processor()
    {
        list_.pop_back();
    }
#ifndef STANDIN_BARE
    const std::vector<std::shared_ptr<IGraphProcessor>> &get_processors() const
    {
        return list_;
    }
    bool hook_program(Program *program)
    {
        return is_blocking || (hook_ && hook_->hook_program(program));
    }
    bool hook_allocate(const Buffer *buffer)
    {
        return hook_ && hook_->hook_allocate(buffer);
    }
    bool add_hook(const std::shared_ptr<IGraphHooks> &hook)
    {
        if (hook_)
            return false;
        hook_ = hook;
        return true;
    }
    const std::shared_ptr<IGraphHooks> &get_hook() const
    {
        return hook_;
    }
    void clear_hook()
    {
        hook_ = nullptr;
    }
#endif
    template <class Tell> void tell(Tell tell)
    {
        for (auto &processor : list_)
            tell(*processor);
    }
    template <class... Args> void track_function_start(std::string_view name, Args &&...args)
    {
        std::array<TrackedArgument, sizeof...(Args)> all{
            TrackedArgument{std::any(std::ref(args)), nullptr}...};
        tell([&](IGraphProcessor &p) { p.track_function_start(name, all); });
    }
    bool is_blocking = false;

  private:
    static inline thread_local std::vector<std::shared_ptr<IGraphProcessor>> list_;
    static inline thread_local std::shared_ptr<IGraphHooks> hook_;
};

} // namespace tt::tt_metal
