// mesh_buffer.hpp: a stand-in for the buffer of a mesh, which is only declared.
#pragma once

namespace tt::tt_metal::distributed
{
class MeshBuffer;
}
