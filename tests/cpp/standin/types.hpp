// types.hpp: the types that both generations of the runtime show an observer, as far as the
// adapter uses them. STANDIN_BARE omits the members that an adapter does not need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace nlohmann
{
class json
{
  public:
    json(std::nullptr_t = nullptr)
    {
    }
};
} // namespace nlohmann

namespace tt::tt_metal
{

struct CoreCoord {
    std::size_t x, y;
};

struct CoreRange {
    CoreCoord start_coord, end_coord;
};

class CoreRangeSet
{
  public:
    explicit CoreRangeSet(std::vector<CoreRange> ranges) : ranges_(std::move(ranges))
    {
    }
    const std::vector<CoreRange> &ranges() const
    {
        return ranges_;
    }

  private:
    std::vector<CoreRange> ranges_;
};

enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };

namespace distributed
{
class MeshDevice;
}

#ifndef STANDIN_BARE
// What the allocator of a device reports about one bank.
struct Statistics {
    std::size_t total_allocatable_size_bytes = 0, total_allocated_bytes = 0,
                total_free_bytes = 0, largest_free_block_bytes = 0;
};

class Allocator
{
  public:
    Statistics get_statistics(const BufferType &type) const
    {
        asked++;
        if (is_closed)
            throw std::runtime_error("closed");
        return type == BufferType::DRAM ? dram : Statistics{};
    }
    std::uint32_t get_num_banks(const BufferType &) const
    {
        return 12;
    }
    Statistics dram{1000, 300, 700, 650};
    bool is_closed = false;
    mutable int asked = 0;
};

enum class ARCH { Invalid, GRAYSKULL, WORMHOLE_B0, BLACKHOLE, QUASAR };
#endif

class IDevice
{
  public:
    explicit IDevice(int id) : id_(id)
    {
    }
    virtual ~IDevice() = default;
    int id() const
    {
        return id_;
    }
#ifndef STANDIN_BARE
    virtual std::shared_ptr<distributed::MeshDevice> get_mesh_device()
    {
        if (asking_throws)
            throw std::runtime_error("no mesh");
        return mesh.lock();
    }
    std::weak_ptr<distributed::MeshDevice> mesh;
    bool asking_throws = false;
    const std::unique_ptr<Allocator> &allocator() const
    {
        return allocator_;
    }
    ARCH arch() const
    {
        return ARCH::BLACKHOLE;
    }
    std::uint8_t num_hw_cqs() const
    {
        return 2;
    }
    int num_dram_channels() const
    {
        return 8;
    }
    CoreCoord compute_with_storage_grid_size() const
    {
        return {13, 10};
    }
#endif

  private:
#ifndef STANDIN_BARE
    std::unique_ptr<Allocator> allocator_ = std::make_unique<Allocator>();
#endif
    int id_;
};

namespace distributed
{
// The ids of meshes start at 0, like the ids of chips.
class MeshDevice : public IDevice, public std::enable_shared_from_this<MeshDevice>
{
  public:
    using IDevice::IDevice;
    ~MeshDevice() override
    {
        if (on_close)
            on_close();
    }
#ifndef STANDIN_BARE
    std::shared_ptr<MeshDevice> get_mesh_device() override
    {
        return shared_from_this(); // throws if the object is being destroyed
    }
#endif
    std::function<void()> on_close;
};
} // namespace distributed

struct ShardSpec {
    CoreRangeSet grid;
};

struct ShardSpecBuffer {
    ShardSpec tensor_shard_spec;
};

class Buffer
{
  public:
    Buffer(IDevice *device, BufferType type, std::uint64_t size, std::uint64_t per_bank)
        : device_(device), type_(type), size_(size), per_bank_(per_bank), id_(next_id()++)
    {
    }
    IDevice *device() const
    {
        return device_;
    }
    BufferType buffer_type() const
    {
        return type_;
    }
    std::uint64_t size() const
    {
        return size_;
    }
    std::uint64_t aligned_size_per_bank() const
    {
        if (per_bank_ == 0)
            throw std::runtime_error("no banks");
        return per_bank_;
    }
    std::size_t unique_id() const
    {
        return id_;
    }
    ShardSpecBuffer shard_spec() const
    {
        if (shards.ranges().empty())
            throw std::runtime_error("not sharded");
        return {{shards}};
    }
    CoreRangeSet shards{{}};
    bool is_per_core = false;
#ifndef STANDIN_BARE
    std::uint32_t address() const
    {
        if (!is_allocated)
            throw std::runtime_error("not allocated");
        return at;
    }
    std::uint64_t page_size() const
    {
        return page;
    }
    bool bottom_up() const
    {
        return is_bottom_up;
    }
    std::optional<std::uint32_t> num_cores() const
    {
        return sharded_on;
    }
    bool is_allocated = true, is_bottom_up = true;
    std::uint32_t at = 0;
    std::uint64_t page = 2048;
    std::optional<std::uint32_t> sharded_on;
#endif

  private:
    static std::size_t &next_id()
    {
        static thread_local std::size_t id = reinterpret_cast<std::size_t>(&id);
        return id;
    }
    IDevice *device_;
    BufferType type_;
    std::uint64_t size_, per_bank_;
    std::size_t id_;
};

class CircularBuffer
{
  public:
    CircularBuffer(CoreRangeSet cores, std::size_t size, bool is_global)
        : cores_(std::move(cores)), size_(size), is_global_(is_global)
    {
    }
    const CoreRangeSet &core_ranges() const
    {
        return cores_;
    }
    std::size_t size() const
    {
        return size_;
    }
    bool globally_allocated() const
    {
        return is_global_;
    }

  private:
    CoreRangeSet cores_;
    std::size_t size_;
    bool is_global_;
};

class Program
{
  public:
    std::vector<std::shared_ptr<CircularBuffer>> circular_buffers() const
    {
        return cbs;
    }
    std::vector<std::shared_ptr<CircularBuffer>> cbs;
};

} // namespace tt::tt_metal
