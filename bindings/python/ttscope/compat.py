"""The memory tracker of tt-train, name by name, so that a program changes one import::

    from ttscope.compat import MemoryUsageTracker

    guard = MemoryUsageTracker.begin_capture()
    ...
    MemoryUsageTracker.snapshot("FORWARD_PASS")
    ...
    MemoryUsageTracker.end_capture("FIRST_ITERATION_COMPLETE")
    MemoryUsageTracker.print_memory_usage()
    MemoryUsageTracker.clear()
    guard.release()

Names, defaults, error texts, reprs and the printed summary are the published ones. What is
better: a guard that is forgotten never touches a capture that began after its own, clear()
during a capture ends it, and calls from several threads are safe. What is counted is what the
tracker of the process is told of (``ttscope.process_tracker()``).
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import threading
import weakref
from typing import Deque, Iterator, List, Optional, Tuple

from ._capture import Capture
from ._mode import NORMAL, RunMode, run_mode
from ._native import PHASE_END, kept_name
from ._usage import Phase

__all__ = ["DRAMUsage", "MemoryUsageGuard", "MemoryUsageTracker", "PeakMemoryUsagePerCore",
           "RunMode"]

_MB = 1048576.0


@dataclasses.dataclass(frozen=True)
class DRAMUsage:
    """DRAM of one segment, in bytes, relative to its start. Read-only."""

    peak: int
    total_allocations: int
    total_deallocations: int

    def __str__(self) -> str:
        return (f"DRAM Usage:\n"
                f"  Peak:          {self.peak / _MB:.2f} MB\n"
                f"  Allocations:   {self.total_allocations / _MB:.2f} MB\n"
                f"  Deallocations: {self.total_deallocations / _MB:.2f} MB")


@dataclasses.dataclass(frozen=True)
class PeakMemoryUsagePerCore:
    """L1 of one segment, in bytes of a core, as if every circular buffer were on it. Read-only.
    The total is the peak of the sum, not the sum of the peaks."""

    peak_cb: int
    peak_l1: int
    peak_dataflow_buffer: int
    peak_scratchpad: int
    peak_total: int

    def __str__(self) -> str:
        return (f"Peak Memory Usage Per Core:\n"
                f"  CB:         {self.peak_cb} bytes\n"
                f"  L1:         {self.peak_l1} bytes\n"
                f"  DFB:        {self.peak_dataflow_buffer} bytes\n"
                f"  Scratchpad: {self.peak_scratchpad} bytes\n"
                f"  Total:      {self.peak_total} bytes")


# ---- the one capture of the process ----


class _State:
    """The capture, and how often one began: a guard acts only while its own is the latest.

    A guard may die at any moment, also while this thread holds the lock (the garbage collector
    runs when it likes). Then it leaves a note, and whoever has the lock reads it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._capture: Optional[Capture] = None
        self._begun = 0
        self._dead: Deque[int] = collections.deque()

    @contextlib.contextmanager
    def hold(self) -> Iterator[Capture]:
        self._lock.acquire()
        try:
            self._bury()
            if self._capture is None:
                self._capture = Capture()
            yield self._capture
        finally:
            self._leave()

    def begin(self, mode: RunMode) -> int:
        with self.hold() as capture:
            if capture.is_active:
                raise RuntimeError("MemoryUsageTracker: Capture already active")
            capture.begin(mode)
            self._begun += 1
            return self._begun

    def guard_died(self, begun: int) -> None:
        self._dead.append(begun)
        if self._lock.acquire(blocking=False):
            self._leave()

    def _bury(self) -> None:
        while self._dead:
            if self._dead.popleft() == self._begun and self._capture is not None:
                self._capture.clear()

    def _leave(self) -> None:
        """Gives the lock back, when nobody died in the meantime."""
        while True:
            try:
                self._bury()
            finally:
                self._lock.release()
            if not self._dead or not self._lock.acquire(blocking=False):
                return


_state = _State()


class _Cleanup:
    """What the copies of a guard share."""

    __slots__ = ("_finalizer", "__weakref__")

    def __init__(self, begun: int) -> None:
        self._finalizer = weakref.finalize(self, _state.guard_died, begun)
        self._finalizer.atexit = False

    def release(self) -> None:
        self._finalizer.detach()


class MemoryUsageGuard:
    """Begins a capture. When the last reference to it goes, the capture is ended and cleared,
    unless release() was called. As a context manager it only releases: the capture goes on."""

    __slots__ = ("_cleanup",)

    def __init__(self, mode: object = NORMAL) -> None:
        self._cleanup = _Cleanup(_state.begin(run_mode(mode)))

    def release(self) -> None:
        """Forgets the cleanup. Any number of times."""
        self._cleanup.release()

    def __enter__(self) -> "MemoryUsageGuard":
        return self

    def __exit__(self, *_: object) -> bool:
        self.release()
        return False

    def __copy__(self) -> "MemoryUsageGuard":
        copy = MemoryUsageGuard.__new__(MemoryUsageGuard)
        copy._cleanup = self._cleanup
        return copy

    def __deepcopy__(self, memo: object) -> "MemoryUsageGuard":
        return self.__copy__()


def _dram(phase: Phase) -> DRAMUsage:
    return DRAMUsage(phase.dram.peak_bytes, phase.dram.allocated_bytes, phase.dram.freed_bytes)


def _l1(phase: Phase) -> PeakMemoryUsagePerCore:
    return PeakMemoryUsagePerCore(phase.peak_cb_bytes, phase.l1.peak_bytes, phase.peak_dfb_bytes,
                                  phase.peak_scratchpad_bytes, phase.peak_total_bytes)


def _phases() -> List[Phase]:
    with _state.hold() as capture:
        return capture.phases


def _find(name: str) -> Phase:
    kept = kept_name(name)
    found = [phase for phase in _phases() if phase.name == kept]
    if not found:
        raise RuntimeError(f"MemoryUsageTracker: Trace '{name}' not found")
    if len(found) > 1:
        raise RuntimeError(
            f"MemoryUsageTracker: Trace '{name}' is ambiguous ({len(found)} segments share this "
            "name); use get_dram_usage_all()/get_l1_usage_all() instead")
    return found[0]


class MemoryUsageTracker:
    """Functions only; there is one capture in a process."""

    MemoryUsageGuard = MemoryUsageGuard

    def __new__(cls) -> "MemoryUsageTracker":
        raise TypeError("MemoryUsageTracker has functions only: call "
                        "MemoryUsageTracker.begin_capture()")

    @staticmethod
    def begin_capture(mode: object = NORMAL) -> MemoryUsageGuard:
        """Begins to capture. Keep what it returns: when that goes unreleased, the capture is
        ended and cleared. Segments of an earlier capture stay until clear()."""
        return MemoryUsageGuard(mode)

    @staticmethod
    def snapshot(name: str) -> None:
        """Ends the segment under `name` and starts the next."""
        with _state.hold() as capture:
            if not capture.is_active:
                raise RuntimeError(
                    "MemoryUsageTracker: Cannot snapshot - capture is not active")
            capture.snapshot(name)

    @staticmethod
    def end_capture(name: str = PHASE_END) -> None:
        """Ends the last segment under `name`, and the capture. Does nothing when none is
        active."""
        with _state.hold() as capture:
            capture.end(name)

    @staticmethod
    def get_dram_usage(name: str = PHASE_END) -> DRAMUsage:
        """Of the one segment of that name."""
        return _dram(_find(name))

    @staticmethod
    def get_l1_usage(name: str = PHASE_END) -> PeakMemoryUsagePerCore:
        """Of the one segment of that name."""
        return _l1(_find(name))

    @staticmethod
    def get_dram_usage_all() -> List[Tuple[str, DRAMUsage]]:
        """(name, usage) of every segment, in order."""
        return [(phase.name, _dram(phase)) for phase in _phases()]

    @staticmethod
    def get_l1_usage_all() -> List[Tuple[str, PeakMemoryUsagePerCore]]:
        """(name, usage) of every segment, in order."""
        return [(phase.name, _l1(phase)) for phase in _phases()]

    @staticmethod
    def get_trace_names() -> List[str]:
        """Of the segments, in order, repeated ones too."""
        return [phase.name for phase in _phases()]

    @staticmethod
    def print_memory_usage() -> None:
        """Writes the summary of the finished segments to sys.stdout."""
        with _state.hold() as capture:
            text = capture.text()
        print(text, end="")

    @staticmethod
    def clear() -> None:
        """Drops all segments, and ends the capture if one is active."""
        with _state.hold() as capture:
            capture.clear()
