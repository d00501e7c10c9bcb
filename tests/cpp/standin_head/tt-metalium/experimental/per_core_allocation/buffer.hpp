// buffer.hpp: a stand-in for the query whether each core of a buffer has its own address.
#pragma once

#include "standin/types.hpp"

namespace tt::tt_metal::experimental::per_core_allocation
{

inline bool is_per_core_allocation(const Buffer &buffer)
{
    return buffer.is_per_core;
}

} // namespace tt::tt_metal::experimental::per_core_allocation
