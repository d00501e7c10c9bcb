// no_dispatch.cpp: memory_tracking.cpp with the guide's line for a model that does not fit.
#include <program.hpp>
#include <ttscope/ttscope.hpp>

int main()
{
    Training training;

    // clang-format off
    ttnn::ScopeGuard guard = ttml::utils::MemoryUsageTracker::begin_capture(
        tt::tt_metal::IGraphProcessor::RunMode::NO_DISPATCH
    );
    // clang-format on

    training.create_model();
    ttml::utils::MemoryUsageTracker::snapshot("MODEL_CREATION");

    training.create_optimizer();
    ttml::utils::MemoryUsageTracker::snapshot("OPTIMIZER_CREATION");

    training.forward();
    ttml::utils::MemoryUsageTracker::snapshot("FORWARD_PASS");
    training.backward();
    ttml::utils::MemoryUsageTracker::snapshot("BACKWARD_PASS");

    training.step();
    ttml::utils::MemoryUsageTracker::end_capture("ITERATION_COMPLETE");
    ttml::utils::MemoryUsageTracker::print_memory_usage();
    ttml::utils::MemoryUsageTracker::clear();
}
