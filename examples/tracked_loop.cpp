// tracked_loop.cpp: the first iteration of a small training loop, tracked.
//   tracked_loop [--no-dispatch] [--scale N]
// The loop of tracked_loop.c in C++: a buffer is freed with the last that owns it, an operation
// ends with its scope. A scale of 300 is too large for the device, and with --no-dispatch the
// figures come all the same. With TTSCOPE=1 in the environment, `ttscope top` shows the loop.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <ttscope/ttscope.hpp>
#include <utility>
#include <vector>

namespace
{

constexpr std::uint64_t mib = 1048576, tile = 2048;
constexpr tts_core_range every_core{0, 0, 7, 7}, first_row{0, 0, 7, 0}, other_rows{0, 1, 7, 7};

// ---- what a program does on a device ----

class Device
{
  public:
    Device(const char *preset, ttscope::Tracker &tracker) : tracker_(tracker)
    {
        tts_chip chip;
        tts_error error{};
        tts_device *device = nullptr;
        check(tts_chip_preset(preset, &chip, &error), error);
        check(tts_device_new(&chip, nullptr, nullptr, &device, &error), error);
        device_.reset(device);
        tracker_.attach(device, 0);
    }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    ~Device()
    {
        tracker_.detach(device_.get());
    }

    tts_buffer alloc(tts_pool pool, std::uint64_t bytes)
    {
        tts_request request{};
        request.pool = pool;
        request.size_bytes = bytes;
        request.page_bytes = tile;
        tts_buffer buffer{};
        tts_error error{};
        check(tts_device_alloc(device_.get(), &request, &buffer, &error), error);
        return buffer;
    }
    void release(const tts_buffer &buffer)
    {
        if (tts_device_release(device_.get(), &buffer) != TTS_OK)
            std::fputs("tracked_loop: a buffer was not there\n", stderr);
    }
    // Runs a program whose circular buffers are given as cores and tiles. Then makes the check
    // that a device makes before a launch.
    void run(const std::vector<std::pair<tts_core_range, std::uint64_t>> &cbs)
    {
        tts_error error{};
        tts_device_program(device_.get(), ++programs_);
        for (const auto &[cores, tiles] : cbs) {
            tts_cb cb{};
            cb.ranges = &cores;
            cb.range_count = 1;
            cb.total_bytes = tiles * tile;
            std::uint64_t address = 0;
            check(tts_device_add_cb(device_.get(), &cb, &address, &error), error);
        }
        check(tts_device_run_program(device_.get(), &error), error);
    }

  private:
    void check(tts_status status, const tts_error &error)
    {
        char text[TTS_FAILURE_TEXT_MAX];
        if (status == TTS_E_FULL)
            throw std::runtime_error(tts_failure_text(tts_device_failure(device_.get()), text));
        if (status != TTS_OK)
            throw std::runtime_error(error.text);
    }
    struct Free {
        void operator()(tts_device *device) const
        {
            tts_device_free(device);
        }
    };

    ttscope::Tracker &tracker_;
    std::unique_ptr<tts_device, Free> device_;
    std::uint64_t programs_ = 0;
};

// A buffer that is released with its last owner.
using Tensor = std::shared_ptr<const tts_buffer>;

struct Loop {
    ttscope::Tracker &tracker;
    Device &device;
    std::uint64_t scale;

    Tensor buffer(tts_pool pool, std::uint64_t bytes)
    {
        return Tensor(new tts_buffer(device.alloc(pool, bytes)),
                      [this](const tts_buffer *buffer) {
                          device.release(*buffer);
                          delete buffer;
                      });
    }
    Tensor tensor(std::uint64_t size_mib)
    {
        return buffer(TTS_POOL_DRAM, size_mib * mib * scale);
    }

    // ---- operations: what they allocate, and the circular buffers of their programs ----

    Tensor eltwise(const char *name, std::uint64_t size_mib)
    {
        ttscope::Op op(tracker, name);
        Tensor out = tensor(size_mib);
        device.run({{every_core, 2}, {every_core, 2}});
        return out;
    }
    Tensor full(std::uint64_t size_mib)
    {
        ttscope::Op op(tracker, "full");
        Tensor out = tensor(size_mib);
        device.run({{every_core, 8}});
        return out;
    }
    // Runs a matmul. The first row of cores reads the inputs and the other rows compute, so no
    // core holds the circular buffers of both.
    Tensor matmul(std::uint64_t size_mib)
    {
        ttscope::Op op(tracker, "matmul");
        Tensor out = tensor(size_mib);
        Tensor block = buffer(TTS_POOL_L1, 64 * 96 * tile); // 64 cores with 96 tiles each
        device.run({{first_row, 32}, {other_rows, 64}, {every_core, 16}});
        return out;
    }
    // Returns the gradient of the weight and, if the input has one, the gradient of the input.
    std::pair<Tensor, Tensor> matmul_backward(std::uint64_t weight_mib, std::uint64_t grad_mib)
    {
        ttscope::Op op(tracker, "matmul_backward");
        Tensor weight_grad = tensor(weight_mib);
        Tensor grad = grad_mib ? tensor(grad_mib) : nullptr;
        Tensor block = buffer(TTS_POOL_L1, 64 * 80 * tile);
        device.run({{every_core, 32}, {every_core, 32}, {every_core, 24}});
        return {weight_grad, grad};
    }
    void adamw(std::uint64_t size_mib)
    {
        ttscope::Op op(tracker, "adamw");
        Tensor update = tensor(size_mib);
        device.run({{every_core, 32}, {every_core, 32}, {every_core, 32}, {every_core, 32}});
    }
    // Copies the rows from the host to the device, then converts them to tiles.
    Tensor upload(std::uint64_t size_mib)
    {
        Tensor rows = tensor(size_mib);
        return eltwise("tilize", size_mib);
    }

    // ---- the loop: two layers, of 8 and 4 MiB ----

    void train(ttscope::Capture &capture)
    {
        Tensor weight1 = upload(8), weight2 = upload(4);
        capture.snapshot("MODEL_CREATION");

        std::vector<Tensor> moments{full(8), full(8), full(4), full(4)};
        capture.snapshot("OPTIMIZER_CREATION");

        Tensor x = tensor(2);
        Tensor hidden = matmul(6);
        Tensor active = eltwise("relu", 6);
        Tensor y = matmul(3);
        Tensor squares = eltwise("mse", 3);
        Tensor loss = buffer(TTS_POOL_DRAM, tile);
        squares.reset();
        capture.snapshot("FORWARD_PASS");

        Tensor y_grad = eltwise("mse_backward", 3);
        auto [weight2_grad, active_grad] = matmul_backward(4, 6);
        y.reset();
        y_grad.reset();
        Tensor hidden_grad = eltwise("relu_backward", 6);
        active.reset();
        active_grad.reset();
        Tensor weight1_grad = matmul_backward(8, 0).first;
        hidden.reset();
        hidden_grad.reset();
        capture.snapshot("BACKWARD_PASS");

        adamw(8);
        adamw(4);
        weight1_grad.reset();
        weight2_grad.reset();
        x.reset();
        loss.reset();
        capture.end("FIRST_ITERATION_COMPLETE");
    }
};

void run(ttscope::Mode mode, std::uint64_t scale)
{
    ttscope::Tracker tracker = ttscope::Tracker::process();
    Device device("n150", tracker);
    ttscope::Capture capture(tracker);
    capture.begin(mode);
    Loop{tracker, device, scale}.train(capture);
    capture.print();
    std::fputs(capture.cores_text().c_str(), stdout);
}

constexpr int scale_max = 1000000;

// Returns the scale, or 0 if the word is not a valid scale.
std::uint64_t scale_of(const char *word)
{
    const std::string text = word ? word : "";
    if (text.empty() || text.size() > 7 ||
        text.find_first_not_of("0123456789") != std::string::npos)
        return 0;
    const auto scale = std::stoull(text);
    return scale <= scale_max ? scale : 0;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        auto mode = ttscope::Mode::NORMAL;
        std::uint64_t scale = 1;
        for (int i = 1; i < argc; i++) {
            const std::string word = argv[i];
            if (word == "--no-dispatch") {
                mode = ttscope::Mode::NO_DISPATCH;
            } else if (word != "--scale" || (scale = scale_of(argv[++i])) == 0) {
                std::fprintf(stderr,
                             "usage: tracked_loop [--no-dispatch] [--scale N]  (N: 1 to %d)\n",
                             scale_max);
                return 2;
            }
        }
        run(mode, scale);
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "tracked_loop: %s\n", error.what());
        return 1;
    }
}
