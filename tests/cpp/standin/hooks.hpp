// hooks.hpp: the questions that a runtime asks before an action. STANDIN_STRANGE adds a
// question that no adapter knows.
#pragma once

#include "standin/types.hpp"
#include "tt-metalium/mesh_buffer.hpp"

namespace tt::tt_metal
{

class IGraphHooks
{
  public:
    virtual ~IGraphHooks() = default;
    virtual bool hook_allocate(const Buffer *) = 0;
    virtual bool hook_deallocate(Buffer *) = 0;
    virtual bool hook_program(Program *) = 0;
    virtual bool hook_write_to_device(const Buffer *) = 0;
    virtual bool hook_read_from_device(Buffer *) = 0;
    virtual bool hook_read_from_device(const distributed::MeshBuffer *) = 0;
    virtual bool hook_write_to_device(const distributed::MeshBuffer *) = 0;
#ifdef STANDIN_STRANGE
    virtual bool hook_of_tomorrow() = 0;
#endif
};

} // namespace tt::tt_metal
