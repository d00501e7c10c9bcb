// graph_processor.hpp: a stand-in for ttnn's hook, which ttnn's operations recognize.
#pragma once

#include <tt-metalium/graph_tracking.hpp>

namespace ttnn::graph
{

class ProcessorHooks : public tt::tt_metal::IGraphHooks
{
  public:
    bool hook_allocate(const tt::tt_metal::Buffer *) override
    {
        return is_blocking_;
    }
    bool hook_deallocate(tt::tt_metal::Buffer *) override
    {
        return is_blocking_;
    }
    bool hook_program(tt::tt_metal::Program *) override
    {
        return is_blocking_;
    }
    bool hook_write_to_device(const tt::tt_metal::Buffer *) override
    {
        return is_blocking_;
    }
    bool hook_read_from_device(tt::tt_metal::Buffer *) override
    {
        return is_blocking_;
    }
    bool hook_read_from_device(const tt::tt_metal::distributed::MeshBuffer *) override
    {
        return is_blocking_;
    }
    bool hook_write_to_device(const tt::tt_metal::distributed::MeshBuffer *) override
    {
        return is_blocking_;
    }
    void set_block(bool is_blocking)
    {
        is_blocking_ = is_blocking;
    }
    bool get_block() const
    {
        return is_blocking_;
    }

  private:
    bool is_blocking_ = false;
};

} // namespace ttnn::graph
