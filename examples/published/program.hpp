// program.hpp: the program around the published snippets: a model of 8 MB, its optimizer and
// one iteration. This program runs without a card, so it reports its allocations to the
// process's tracker itself. With tt-metal, the runtime reports them, and a program reports
// nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <ttscope/ttscope.hpp>

class Buffer
{
  public:
    explicit Buffer(std::uint64_t mb) : id_(next_id()++)
    {
        ttscope::Tracker::process().alloc(0, TTS_POOL_DRAM, id_, mb << 20);
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer()
    {
        ttscope::Tracker::process().free(0, TTS_POOL_DRAM, id_);
    }

  private:
    static std::uint64_t &next_id()
    {
        static std::uint64_t id = 1;
        return id;
    }
    std::uint64_t id_;
};

// Runs a program with one circular buffer on every core.
inline void run_program(std::uint64_t cb_bytes)
{
    const tts_core_range every_core[] = {{0, 0, 7, 7}};
    ttscope::Tracker tracker = ttscope::Tracker::process();
    tracker.program(0);
    tracker.cb(0, every_core, cb_bytes);
}

using Tensor = std::unique_ptr<Buffer>;

struct Training {
    Tensor weights, moments[2], x, hidden, gradient;

    void create_model()
    {
        weights = std::make_unique<Buffer>(8);
    }
    void create_optimizer()
    {
        for (Tensor &moment : moments)
            moment = std::make_unique<Buffer>(8);
    }
    void forward()
    {
        x = std::make_unique<Buffer>(4);
        hidden = std::make_unique<Buffer>(4);
        run_program(262144);
    }
    void backward()
    {
        gradient = std::make_unique<Buffer>(8);
        hidden.reset();
        x.reset();
    }
    void step()
    {
        gradient.reset();
    }
};
