// program.hpp: the program around the published snippets. It runs on the stand-in runtime, on a
// card of $STANDIN_MEMORY bytes: it asks the hook, allocates, and notifies the observers.
#pragma once

#include <tt-metalium/graph_tracking.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

using tt::tt_metal::GraphTracker;
using tt::tt_metal::IGraphProcessor;

class Tensor
{
  public:
    void create(std::uint64_t mb)
    {
        buffer_ = std::make_unique<tt::tt_metal::Buffer>(
            &mesh(), tt::tt_metal::BufferType::DRAM, mb << 20, mb << 20);
        is_real_ = !GraphTracker::instance().hook_allocate(buffer_.get());
        take(buffer_->size());
        GraphTracker::instance().tell(
            [&](IGraphProcessor &p) { p.track_allocate(buffer_.get()); });
    }
    void reset()
    {
        GraphTracker::instance().tell(
            [&](IGraphProcessor &p) { p.track_deallocate(buffer_.get()); });
        take(0 - buffer_->size());
    }
    static tt::tt_metal::distributed::MeshDevice &mesh()
    {
        static auto only_one = std::make_shared<tt::tt_metal::distributed::MeshDevice>(1);
        return *only_one;
    }

  private:
    void take(std::uint64_t bytes)
    {
        static std::uint64_t used = 0;
        const char *memory = std::getenv("STANDIN_MEMORY");
        used += is_real_ ? bytes : 0;
        if (used <= (memory ? std::strtoull(memory, nullptr, 10) : UINT64_C(1) << 40))
            return;
        std::fputs("Out of Memory: Not enough space to allocate\n", stderr);
        std::exit(1);
    }
    std::unique_ptr<tt::tt_metal::Buffer> buffer_;
    bool is_real_ = true;
};

// Runs a program with one circular buffer on every core of the chip.
inline void run_program(std::uint64_t cb_bytes)
{
    using namespace tt::tt_metal;
    static IDevice chip(0);
    chip.mesh =
        std::static_pointer_cast<distributed::MeshDevice>(Tensor::mesh().shared_from_this());
    const CoreRangeSet every_core({CoreRange{{0, 0}, {7, 7}}});
    Program program;
    program.cbs.push_back(std::make_shared<CircularBuffer>(every_core, cb_bytes, false));
    GraphTracker &runtime = GraphTracker::instance();
    runtime.tell([&](IGraphProcessor &p) { p.track_program(&program, &Tensor::mesh()); });
    if (!runtime.hook_program(&program))
        runtime.tell([&](IGraphProcessor &p) {
            p.track_allocate_cb(every_core, 0, cb_bytes, false, &chip);
        });
}

struct Training {
    Tensor weights, moments[2], x, hidden, gradient;

    void create_model()
    {
        weights.create(8);
    }
    void create_optimizer()
    {
        for (Tensor &moment : moments)
            moment.create(8);
    }
    void forward()
    {
        x.create(4);
        hidden.create(4);
        run_program(262144);
    }
    void backward()
    {
        gradient.create(8);
        hidden.reset();
        x.reset();
    }
    void step()
    {
        gradient.reset();
    }
};
