"""The interface of tt-train's memory tracker. A program changes only one import::

    import ttscope.compat as ttml

    MemoryUsageTracker = ttml.core.utils.MemoryUsageTracker
    guard = MemoryUsageTracker.begin_capture()
    ...
    MemoryUsageTracker.snapshot("FORWARD_PASS")
    ...
    MemoryUsageTracker.end_capture("FIRST_ITERATION_COMPLETE")
    MemoryUsageTracker.print_memory_usage()
    MemoryUsageTracker.clear()
    guard.release()

Names, defaults, error texts, reprs and the printed summary are the published ones. Four things are
improved: a forgotten guard never changes a capture that began later, clear() during a capture ends
the capture, calls from several threads are safe, and any str is a valid name.

If ttnn can be imported, begin_capture() opens the runtime's own graph capture on the calling
thread. The trace of that capture has the events of each segment. NO_DISPATCH is passed to the
runtime: nothing is allocated or run on a device. Only the thread that began the capture is
captured, and only that thread can end a segment. When a segment ends, the events of its trace go
to the tracker of the process (``ttscope.process_tracker()``), so a recording contains them.

Without ttnn, only events that the program posts to that tracker count. With both, one source
counts: once another source (the adapter for tt-metal in C++, plain calls) posts an event, the
traces of that capture are not counted.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import threading
import types
import weakref
from typing import Any, Deque, Iterator, List, Optional, Tuple

from ._capture import Capture
from ._graphfeed import GraphFeed, nodes_of
from ._mode import NO_DISPATCH, NORMAL, RunMode, run_mode
from ._native import PHASE_END, kept_name, lib
from ._notice import say_once
from ._tracker import Tracker
from ._ttnn import GraphCapture, find_graph
from ._usage import Phase

__all__ = ["DRAMUsage", "MemoryUsageGuard", "MemoryUsageTracker", "PeakMemoryUsagePerCore",
           "RunMode", "core"]

_MB = 1048576.0


@dataclasses.dataclass(frozen=True)
class DRAMUsage:
    """The DRAM use of one segment, in bytes, relative to its start. Read-only."""

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
    """The L1 use of one segment, in bytes of one core. Assumes that every circular buffer lies on
    that core. Read-only. The total is the peak of the sum, not the sum of the peaks."""

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


# ---- events from the runtime ----


class _Feed:
    """The graph captures of the runtime during one of our captures."""

    def __init__(self, graph: Any, mode: RunMode, tracker: Tracker) -> None:
        self._capture = GraphCapture(graph, mode)
        self._feed = GraphFeed(tracker)
        self._tracker = tracker
        self._events = 0  # events of the tracker up to our last feed
        self._is_alone = True

    def start(self) -> None:
        self._events = self._tracker.health().events

    def finish_segment(self, is_last: bool) -> None:
        """Reads the trace of the segment and posts its events to the tracker. Raises nothing: a
        training run must not fail because its memory cannot be counted."""
        try:
            if not self._capture.is_open:
                return
            if not self._capture.is_mine:
                say_once("thread", "cannot end a segment of ttnn on this thread: call snapshot() "
                                   "and end_capture() on the thread that called "
                                   "begin_capture(); the next segment that ends there "
                                   "contains the allocations of this segment too")
                return
            trace = self._capture.end() if is_last else self._capture.cut()
            self._tell(nodes_of(trace))
        except Exception as error:
            say_once("trace", "cannot read the graph trace of ttnn, so the allocations of ttnn are "
                              "missing from a segment: "
                              f"{type(error).__name__}: {error}")

    def _tell(self, nodes: List[Any]) -> None:
        if self._tracker.health().events != self._events:
            self._is_alone = False
        if not self._is_alone:
            say_once("sources", "another source (ttscope/metal.hpp or plain calls) reports memory "
                                "to the tracker, so the graph traces of ttnn are not counted")
            return
        self._feed.feed(nodes)
        self._events = self._tracker.health().events
        if self._feed.skipped:
            say_once("nodes", f"skipped {self._feed.skipped} nodes of a graph trace of ttnn that "
                              "this release does not know; figures may be too small")

    def close(self) -> bool:
        """Ends the runtime's capture. Returns False if another thread has to do it."""
        if self._capture.is_open and not self._capture.is_mine:
            return False
        self.finish_segment(is_last=True)
        return True


# ---- the one capture of the process ----


class _State:
    """The capture of the process, and the number of times that it began. A guard acts only if its
    own begin is the latest.

    A guard may be destroyed at any moment, even while this thread holds the lock, because the
    garbage collector can run at any time. So the guard only adds a note to `_dead`, and the
    holder of the lock handles the note."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._capture: Optional[Capture] = None
        self._begun = 0
        self._dead: Deque[int] = collections.deque()
        self._feed: Optional[_Feed] = None
        self._no_ttnn = ""  # why ttnn cannot be used
        self._mode = NORMAL
        self._held = 0  # devices held before the capture began

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
        graph, reason = find_graph()
        with self.hold() as capture:
            if capture.is_active:
                raise RuntimeError("MemoryUsageTracker: Capture already active")
            self._close_feed()
            self._held = lib.tts_tracker_get_held(capture.tracker._ptr)
            feed = None if graph is None else _Feed(graph, mode, capture.tracker)
            try:
                capture.begin(mode)
            except BaseException:
                if feed is not None:
                    feed.close()
                raise
            if feed is not None:
                feed.start()
            self._feed, self._no_ttnn, self._mode = feed, reason, mode
            self._begun += 1
            return self._begun

    def snapshot(self, name: str) -> None:
        kept_name(name)  # raises TypeError before anything ends
        with self.hold() as capture:
            if not capture.is_active:
                raise RuntimeError(
                    "MemoryUsageTracker: Cannot snapshot - capture is not active")
            if self._feed is not None:
                self._feed.finish_segment(is_last=False)
            try:
                capture.snapshot(name)
            except MemoryError:
                say_once("memory", f"the host has too little memory: the segment '{name}' and "
                                   "the next segment are counted as one")

    def end(self, name: str) -> None:
        kept_name(name)
        with self.hold() as capture:
            if not capture.is_active:
                return
            try:
                self._close_feed()
            finally:
                self._end_capture(capture, name)
            if self._mode is NO_DISPATCH and self._no_ttnn and \
                    lib.tts_tracker_get_held(capture.tracker._ptr) == self._held:
                say_once("dispatch", "NO_DISPATCH had no effect, so everything was really "
                                     f"allocated; {self._advice()}")
            self._check_events(capture)

    @staticmethod
    def _end_capture(capture: Capture, name: str) -> None:
        """Ends the capture in any case. Raises nothing, even without memory."""
        try:
            capture.end(name)
        except Exception as error:
            lib.tts_capture_end(capture._ptr, None, None)  # does nothing if it has ended
            say_once("end", f"the last segment '{name}' is lost: "
                            f"{str(error) or type(error).__name__}")

    def clear(self) -> None:
        with self.hold() as capture:
            self._close_feed()
            capture.clear()

    def text(self) -> str:
        with self.hold() as capture:
            self._check_events(capture)
            return capture.text()

    def _close_feed(self) -> None:
        if self._feed is None:
            return
        if self._feed.close():
            self._feed = None
        else:
            say_once("close", "the graph capture of ttnn stays active: call end_capture() or "
                              "clear() on the thread that called begin_capture()")

    def _check_events(self, capture: Capture) -> None:
        phases = capture.phases
        if phases and not any(phase.events for phase in phases):
            say_once("events", f"the capture saw no event, so every figure is 0; {self._advice()}")

    def _advice(self) -> str:
        if self._no_ttnn:
            return (f"ttnn cannot be used ({self._no_ttnn}): run where ttnn can be imported, or "
                    "report each allocation to ttscope.process_tracker()")
        return ("ttnn recorded nothing: call begin_capture() on the thread that allocates, before "
                "its first allocation")

    def guard_died(self, begun: int) -> None:
        self._dead.append(begun)
        if self._lock.acquire(blocking=False):
            self._leave()

    def _bury(self) -> None:
        while self._dead:
            if self._dead.popleft() == self._begun and self._capture is not None:
                self._close_feed()
                self._capture.clear()

    def _leave(self) -> None:
        """Releases the lock. Handles guards that were destroyed in the meantime."""
        while True:
            try:
                self._bury()
            finally:
                self._lock.release()
            if not self._dead or not self._lock.acquire(blocking=False):
                return


_state = _State()


class _Cleanup:
    """The cleanup that all copies of a guard share."""

    __slots__ = ("_finalizer", "__weakref__")

    def __init__(self, begun: int) -> None:
        self._finalizer = weakref.finalize(self, _state.guard_died, begun)
        self._finalizer.atexit = False

    def release(self) -> None:
        self._finalizer.detach()


class MemoryUsageGuard:
    """Begins a capture. When the last reference to the guard is gone, the capture is ended and
    cleared, unless release() was called. As a context manager the guard only calls release(): the
    capture continues."""

    __slots__ = ("_cleanup",)

    def __init__(self, mode: object = NORMAL) -> None:
        self._cleanup = _Cleanup(_state.begin(run_mode(mode)))

    def release(self) -> None:
        """Cancels the cleanup. May be called any number of times."""
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
    dram = phase.dram_with_trace
    return DRAMUsage(dram.peak_bytes, dram.allocated_bytes, dram.freed_bytes)


def _l1(phase: Phase) -> PeakMemoryUsagePerCore:
    return PeakMemoryUsagePerCore(phase.peak_cb_bytes, phase.l1_with_small.peak_bytes,
                                  phase.peak_dfb_bytes, phase.peak_scratchpad_bytes,
                                  phase.peak_total_bytes)


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
    """Static functions only. There is one capture in a process."""

    MemoryUsageGuard = MemoryUsageGuard

    def __new__(cls) -> "MemoryUsageTracker":
        raise TypeError("cannot make an object of MemoryUsageTracker: call "
                        "MemoryUsageTracker.begin_capture()")

    @staticmethod
    def begin_capture(mode: object = NORMAL) -> MemoryUsageGuard:
        """Begins a capture and returns its guard. Keep the guard: if it is destroyed without
        release(), the capture is ended and cleared. Segments of an earlier capture stay until
        clear()."""
        return MemoryUsageGuard(mode)

    @staticmethod
    def snapshot(name: str) -> None:
        """Ends the current segment, names it `name` and starts the next. A name of more than 255
        bytes is shortened. Raises only if no capture is active or `name` is not a str."""
        _state.snapshot(name)

    @staticmethod
    def end_capture(name: str = PHASE_END) -> None:
        """Ends the last segment, names it `name`, and ends the capture. Does nothing if no
        capture is active. First ends the graph capture of the runtime, and with it NO_DISPATCH.
        The capture always ends: if memory runs out, only its last segment is lost. Raises only
        if `name` is not a str."""
        _state.end(name)

    @staticmethod
    def get_dram_usage(name: str = PHASE_END) -> DRAMUsage:
        """Returns the DRAM use of the segment of that name."""
        return _dram(_find(name))

    @staticmethod
    def get_l1_usage(name: str = PHASE_END) -> PeakMemoryUsagePerCore:
        """Returns the L1 use of the segment of that name."""
        return _l1(_find(name))

    @staticmethod
    def get_dram_usage_all() -> List[Tuple[str, DRAMUsage]]:
        """Returns (name, usage) of every segment, in order."""
        return [(phase.name, _dram(phase)) for phase in _phases()]

    @staticmethod
    def get_l1_usage_all() -> List[Tuple[str, PeakMemoryUsagePerCore]]:
        """Returns (name, usage) of every segment, in order."""
        return [(phase.name, _l1(phase)) for phase in _phases()]

    @staticmethod
    def get_trace_names() -> List[str]:
        """Returns the names of the segments in order, including repeated names."""
        return [phase.name for phase in _phases()]

    @staticmethod
    def print_memory_usage() -> None:
        """Writes the summary of the finished segments to sys.stdout."""
        print(_state.text(), end="")

    @staticmethod
    def clear() -> None:
        """Deletes all segments, and ends the capture if one is active."""
        _state.clear()


#: For programs that use the name ``ttml.core.utils.MemoryUsageTracker``.
core = types.SimpleNamespace(utils=types.SimpleNamespace(
    DRAMUsage=DRAMUsage, MemoryUsageTracker=MemoryUsageTracker))
