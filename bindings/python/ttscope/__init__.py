"""ttscope shows where the memory of Tenstorrent chips goes, phase by phase.

    import ttscope

    with ttscope.capture() as c:
        ...
        c.snapshot("FORWARD_PASS")
        ...
    c.print()                          # the summary, as tt-train prints it
    peak = c["FORWARD_PASS"].dram.peak_bytes
    core = c["FORWARD_PASS"].core      # the fullest core: position, bytes, contents

The tracker counts the events that it receives: from a runtime with the adapter, from an attached
device of the library, or from Python::

    t = ttscope.process_tracker()
    with t.op("matmul"):
        t.alloc(id=1, size=8192, pool="DRAM")

``with ttscope.record("run.tts"):`` writes every event to a file for ``ttscope show``.
``ttscope.publish()`` shows the program live in ``ttscope top``.

`ttscope.compat` has the interface of tt-train's MemoryUsageTracker. The package needs
the library libttscope.so. If the library is not found, set TTSCOPE_LIBRARY to its path.
"""

from . import _native, _selfcheck

_selfcheck.run()

from ._capture import Capture, capture  # noqa: E402
from ._library import LibraryNotFoundError  # noqa: E402
from ._mode import NO_DISPATCH, NORMAL, RunMode  # noqa: E402
from ._publish import Publisher, publish  # noqa: E402
from ._record import Recorder, RecorderState, record  # noqa: E402
from ._tracker import Health, Live, Tracker, process_tracker  # noqa: E402
from ._usage import CorePart, CorePeak, DeviceUsage, Phase, PoolUsage, Usage  # noqa: E402

__version__ = _native.RELEASE
__all__ = [
    "NORMAL", "NO_DISPATCH", "Capture", "CorePart", "CorePeak", "DeviceUsage", "Health",
    "LibraryNotFoundError", "Live", "Phase", "PoolUsage", "Publisher", "Recorder",
    "RecorderState", "RunMode", "Tracker", "Usage", "capture", "process_tracker", "publish",
    "record",
]
