"""memory_tracking.py with the line of the guide for a model that does not fit: nothing is
allocated or run on the card."""

import ttnn

import ttscope.compat as ttml

device = ttnn.open_device(device_id=0)


def tensor(rows, columns):
    return ttnn.zeros([rows, columns], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


MemoryUsageTracker = ttml.core.utils.MemoryUsageTracker

guard = MemoryUsageTracker.begin_capture(ttnn.graph.RunMode.NO_DISPATCH)

weights = tensor(1024, 4096)
MemoryUsageTracker.snapshot("MODEL_CREATION")

moments = [tensor(1024, 4096) for _ in range(2)]
MemoryUsageTracker.snapshot("OPTIMIZER_CREATION")

x = tensor(1024, 2048)
hidden = ttnn.relu(x)
MemoryUsageTracker.snapshot("FORWARD_PASS")
gradient = tensor(1024, 4096)
ttnn.deallocate(hidden)
ttnn.deallocate(x)
MemoryUsageTracker.snapshot("BACKWARD_PASS")

ttnn.deallocate(gradient)
MemoryUsageTracker.end_capture("ITERATION_COMPLETE")
MemoryUsageTracker.print_memory_usage()
MemoryUsageTracker.clear()
guard.release()

ttnn.close_device(device)
