// guard.hpp: a stand-in for ttnn's guard, which can be neither copied nor moved.
#pragma once

#include <functional>
#include <utility>

namespace ttnn
{

class ScopeGuard
{
  public:
    ScopeGuard(std::function<void()> &&close) : close_(std::move(close))
    {
    }
    ScopeGuard(const ScopeGuard &) = delete;
    ScopeGuard &operator=(const ScopeGuard &) = delete;
    ~ScopeGuard()
    {
        if (close_)
            close_();
    }
    void release()
    {
        close_ = {};
    }

  private:
    std::function<void()> close_;
};

} // namespace ttnn
