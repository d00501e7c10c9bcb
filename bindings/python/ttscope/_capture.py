"""Captures: begin, snapshot, end, and the memory use of each phase."""

from __future__ import annotations

import ctypes
import difflib
import threading
import weakref
from ctypes import byref
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Optional, TextIO, Type

from . import _native
from ._mode import NORMAL, RunMode, run_mode
from ._native import Error, lib
from ._tracker import Tracker, process_tracker
from ._usage import Phase, phase_of

_Ptr = Optional[int]


def capture(mode: object = NORMAL, *, tracker: Optional[Tracker] = None) -> "Capture":
    """Measures the memory use of each phase of a block::

        with ttscope.capture() as c:
            model = Model()
            c.snapshot("MODEL_CREATION")
            loss = model(x)
            c.snapshot("FORWARD_PASS")
        c.print()
        print(c["FORWARD_PASS"].dram.peak_bytes)

    At the end of the block, also after an exception, the last phase ends with the name "END_TRACE",
    unless ``c.end()`` ended it before. Captures may nest, and may overlap on several threads. Each
    counts all events that its tracker receives while the capture is active.

    `mode` is ttscope.NORMAL, ttscope.NO_DISPATCH or an enum member of that name, such as
    ttnn.graph.RunMode.NO_DISPATCH. `tracker` is the tracker of the process by default.
    """
    return Capture(mode, tracker=tracker)


class Capture:
    """Made by ``ttscope.capture()``. The finished phases can be read during the block and at any
    time after it."""

    def __init__(self, mode: object = NORMAL, *, tracker: Optional[Tracker] = None) -> None:
        self._mode = run_mode(mode)
        self._tracker = process_tracker() if tracker is None else tracker
        if not isinstance(self._tracker, Tracker):
            raise TypeError(f"tracker must be a ttscope.Tracker, not {type(tracker).__name__}")
        out, error = ctypes.c_void_p(), Error()
        _native.check(lib.tts_capture_new(self._tracker._ptr, byref(out), byref(error)), error)
        self._ptr: _Ptr = out.value
        self._lock = threading.Lock()
        self._phases: List[Phase] = []
        # The reference to the tracker keeps the tracker alive until the capture is freed.
        weakref.finalize(self, _free, self._ptr, self._tracker).atexit = False

    # ---- begin, snapshot, end ----

    def __enter__(self) -> "Capture":
        self.begin()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 where: Optional[TracebackType]) -> None:
        self.end()

    def begin(self, mode: Optional[object] = None) -> None:
        """Starts the first phase. ``with`` calls it. Phases of an earlier begin stay, and the
        cumulative figures continue from them."""
        self._begin(self._mode if mode is None else run_mode(mode))

    def _begin(self, mode: RunMode) -> None:
        error = Error()
        with self._lock:
            status = lib.tts_capture_begin(self._ptr, mode.value, byref(error))
            if status == _native.OK:
                self._mode = mode
        if status == _native.E_BUSY:
            raise RuntimeError("cannot begin: the capture is active; end the capture first, "
                               "or make another capture with ttscope.capture()")
        _native.check(status, error)

    def snapshot(self, name: str) -> None:
        """Ends the current phase, names it `name` and starts the next. Names may repeat. A name
        of more than 255 bytes is shortened: it keeps its beginning and its end."""
        encoded, error = _native.encode_name(name), Error()
        with self._lock:
            active = lib.tts_capture_is_active(self._ptr)
            status = lib.tts_capture_snapshot(self._ptr, encoded, byref(error))
        if not active:
            raise RuntimeError(f"cannot snapshot '{name}': the capture is not active; "
                               "call it inside the with block, before end()")
        _native.check(status, error)

    def end(self, name: str = _native.PHASE_END) -> None:
        """Ends the last phase, names it `name`, and ends the capture. Does nothing if the
        capture is not active. After a MemoryError the capture has ended
        too, but its last phase is lost."""
        encoded, error = _native.encode_name(name), Error()
        with self._lock:
            status = lib.tts_capture_end(self._ptr, encoded, byref(error))
        _native.check(status, error)

    def clear(self) -> None:
        """Ends the capture without a last phase if it is active, and deletes all phases."""
        with self._lock:
            lib.tts_capture_clear(self._ptr)
            self._phases = []

    @property
    def is_active(self) -> bool:
        with self._lock:
            return bool(lib.tts_capture_is_active(self._ptr))

    @property
    def mode(self) -> RunMode:
        return self._mode

    @property
    def tracker(self) -> Tracker:
        return self._tracker

    # ---- results ----

    @property
    def phases(self) -> List[Phase]:
        """The finished phases, in order."""
        with self._lock:
            for idx in range(len(self._phases), lib.tts_capture_count(self._ptr)):
                self._phases.append(phase_of(lib.tts_capture_at(self._ptr, idx)[0]))
            return list(self._phases)

    @property
    def names(self) -> List[str]:
        """The names of the finished phases, including repeated names."""
        return [phase.name for phase in self.phases]

    def __iter__(self) -> Iterator[Phase]:
        return iter(self.phases)

    def __getitem__(self, name: str) -> Phase:
        """Returns the finished phase with that name. Raises KeyError if no phase or
        several phases have the name."""
        if not isinstance(name, str):
            raise TypeError(f"the name of a phase must be a str, not {type(name).__name__}; "
                            "use .phases[N] to get a phase by its number")
        phases, kept = self.phases, _native.kept_name(name)
        found = [phase for phase in phases if phase.name == kept]
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f"{len(found)} phases are named '{name}': get each phase from .phases")
        raise KeyError(_not_found(name, [phase.name for phase in phases]))

    def text(self) -> str:
        """Returns the summary, byte for byte as tt-train prints it."""
        return self._text(lib.tts_capture_text)

    def cores_text(self) -> str:
        """Returns a table: the highest use of a core in each phase, and its contents."""
        return self._text(lib.tts_capture_cores_text)

    def print(self, file: Optional[TextIO] = None) -> None:
        """Writes text() to `file`, or to sys.stdout."""
        print(self.text(), end="", file=file)

    def to_dict(self) -> Dict[str, Any]:
        """Returns all figures for json.dumps(): bytes as integers, and names as the library stores
        them."""
        phases = self.phases
        return {
            "schema": {"name": "ttscope.phases", "version": 1},
            "phases": [phase.to_dict() for phase in phases],
            "overall_dram_peak_bytes": phases[-1].dram.cumulative_peak_bytes if phases else 0,
            "final_dram_bytes": phases[-1].dram.cumulative_current_bytes if phases else 0,
        }

    def _text(self, write: Callable[[_Ptr, Optional[ctypes.Array], int], int]) -> str:
        with self._lock:
            size = write(self._ptr, None, 0) + 1
            out = ctypes.create_string_buffer(size)
            write(self._ptr, out, size)
        return _native.decode(out.value)

    def __repr__(self) -> str:
        state = "active" if self.is_active else "not active"
        return f"<ttscope.Capture {self._mode.name}, {state}, {len(self.phases)} phases>"


def _free(ptr: _Ptr, tracker: Tracker) -> None:
    lib.tts_capture_free(ptr)


def _not_found(name: str, names: List[str]) -> str:
    if not names:
        return f"no phase '{name}': no phase has ended yet"
    near = difflib.get_close_matches(name, names, 1)
    known = f"did you mean '{near[0]}'?" if near else "the phases are " + ", ".join(names)
    return f"no phase '{name}': {known}"
