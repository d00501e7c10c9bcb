// nano_gpt.cpp: the lines of the training loop in the guide. That loop uses its own names for
// the run mode and for a snapshot.
#include <program.hpp>
#include <ttscope/ttscope.hpp>

int main()
{
    using tt::tt_metal::IGraphProcessor;
    using RunMode = IGraphProcessor::RunMode;
    auto memory_snapshot = [](const std::string &name) {
        ttml::utils::MemoryUsageTracker::snapshot(name);
    };
    Training training;
    Training *loss = &training;

    ttnn::ScopeGuard memory_usage_guard =
        ttml::utils::MemoryUsageTracker::begin_capture(RunMode::NO_DISPATCH);

    training.create_model();
    ttml::utils::MemoryUsageTracker::snapshot("MODEL_CREATION");

    training.create_optimizer();
    ttml::utils::MemoryUsageTracker::snapshot("OPTIMIZER_CREATION");

    training.forward();
    memory_snapshot("FORWARD_PASS");
    loss->backward();
    memory_snapshot("BACKWARD_PASS");

    training.step();
    ttml::utils::MemoryUsageTracker::end_capture("FIRST_ITERATION_COMPLETE");
    ttml::utils::MemoryUsageTracker::print_memory_usage();
}
