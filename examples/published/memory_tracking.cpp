// memory_tracking.cpp: the C++ snippet of tt-train's guide to memory tracking, inside a
// complete program. Only the include differs from the guide.
#include <program.hpp>
#include <ttscope/ttscope.hpp>

int main()
{
    Training training;

    ttnn::ScopeGuard guard = ttml::utils::MemoryUsageTracker::begin_capture();

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
