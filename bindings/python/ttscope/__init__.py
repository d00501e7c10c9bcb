"""ttscope: where the memory of Tenstorrent chips goes, phase by phase.

    import ttscope

    with ttscope.capture() as c:
        ...
        c.snapshot("FORWARD_PASS")
        ...
    c.print()                          # the summary, as tt-train prints it
    peak = c["FORWARD_PASS"].dram.peak_bytes
    core = c["FORWARD_PASS"].core      # the fullest core: which, how much, of what

What is counted is what the tracker is told of: by a runtime that has the adapter, by a device of
the library that is attached to it, or from Python::

    t = ttscope.process_tracker()
    with t.op("matmul"):
        t.alloc(id=1, size=8192, pool="DRAM")

``with ttscope.record("run.tts"):`` writes every event into a file, for ``ttscope show``.

`ttscope.compat` has the interface of tt-train's MemoryUsageTracker. The library libttscope.so is
needed; TTSCOPE_LIBRARY names it where it is not found by itself.
"""

from . import _native, _selfcheck

_selfcheck.run()

from ._capture import Capture, capture  # noqa: E402
from ._library import LibraryNotFoundError  # noqa: E402
from ._mode import NO_DISPATCH, NORMAL, RunMode  # noqa: E402
from ._record import Recorder, RecorderState, record  # noqa: E402
from ._tracker import Health, Live, Tracker, process_tracker  # noqa: E402
from ._usage import CorePart, CorePeak, DeviceUsage, Phase, PoolUsage, Usage  # noqa: E402

__version__ = _native.RELEASE
__all__ = [
    "NORMAL", "NO_DISPATCH", "Capture", "CorePart", "CorePeak", "DeviceUsage", "Health",
    "LibraryNotFoundError", "Live", "Phase", "PoolUsage", "Recorder", "RecorderState",
    "RunMode", "Tracker", "Usage", "capture", "process_tracker", "record",
]
