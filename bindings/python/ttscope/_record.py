"""Recordings: write every event of a tracker to a file."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import threading
import warnings
import weakref
from ctypes import byref
from types import TracebackType
from typing import Optional, Type, Union

from . import _native
from ._native import Error, lib
from ._tracker import _U64, Tracker, _uint, process_tracker

_Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def record(path: _Path, keep_bytes: int = 0, *, tracker: Optional[Tracker] = None) -> "Recorder":
    """Writes every event of the block to a file, which ``ttscope show`` reads::

        with ttscope.record("run.tts"):
            train()

    An event whose call has returned is in the file, even if the program is killed then
    (``recorder.h`` has the exception). A file at `path` is replaced. In `path`, "%p" becomes the
    process id, "%r" the rank of a parallel run, "%%" a percent sign. A file that another recorder
    writes to is refused.

    With `keep_bytes` the file is a black box of about that size (at least 4 MiB). It has the last
    events and the buffers that were live before them. Captures may begin and end at any time; a
    tracker has one recording at a time. `tracker` is the tracker of the process by default.

    A recording that cannot continue (the disk is full) stops; the program continues. A warning
    says so at the end of the block, and ``.state`` at any time.
    """
    return Recorder(path, keep_bytes, tracker=tracker)


@dataclasses.dataclass(frozen=True)
class RecorderState:
    """The state of a recording."""

    is_stopped: bool  #: the recording stopped early
    reason: Optional[str]  #: why it stopped
    dropped: int  #: events since it stopped
    events: int  #: events written, including those that a black box has overwritten
    bytes: int  #: used part of the file


class Recorder:
    """Made by ``ttscope.record()``. ``begin()`` and ``end()`` are for programs without a ``with``
    block. A recording that was not ended ends with the object or with the program."""

    def __init__(self, path: _Path, keep_bytes: int = 0, *,
                 tracker: Optional[Tracker] = None) -> None:
        self._path = os.fsencode(path)
        if b"\0" in self._path:
            raise ValueError(f"the path {path!r} has a NUL character: remove the character")
        self._keep_bytes = _uint(keep_bytes, _U64, "keep_bytes")
        self._tracker = process_tracker() if tracker is None else tracker
        if not isinstance(self._tracker, Tracker):
            raise TypeError(f"tracker must be a ttscope.Tracker, not {type(tracker).__name__}")
        self._lock = threading.Lock()
        self._ptr: Optional[int] = None
        self._state = RecorderState(False, None, 0, 0, 0)
        self._finish: Optional[weakref.finalize] = None

    def __enter__(self) -> "Recorder":
        self.begin()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 where: Optional[TracebackType]) -> None:
        try:
            self.end()
        except OSError as error:
            warnings.warn(f"{error}; {self._state.dropped} events were not recorded",
                          RuntimeWarning, stacklevel=2)

    def begin(self) -> None:
        """Makes the file. ``with`` calls it. Raises OSError if the file cannot be
        made or has no room."""
        config = _native.RecorderConfig(self._path, self._keep_bytes)
        out, error = ctypes.c_void_p(), Error()
        with self._lock:
            if self._ptr:
                raise RuntimeError("cannot begin: the recorder is already recording; "
                                   "end the recording first")
            status = lib.tts_recorder_begin(self._tracker._ptr, byref(config), byref(out),
                                            byref(error))
            if status == _native.OK:
                self._ptr = out.value
                # The reference to the tracker keeps the tracker alive until the recording ends.
                self._finish = weakref.finalize(self, _end, self._ptr, self._tracker)
        _native.check(status, error)

    def end(self) -> None:
        """Finishes the file. Does nothing if there is no recording. Raises OSError if the
        recording had stopped before, or if the file could not be finished; the events in the
        file are valid."""
        state, error = _native.RecorderState(), Error()
        with self._lock:
            if not self._ptr:
                return
            assert self._finish is not None
            self._finish.detach()
            status = lib.tts_recorder_end(self._ptr, byref(state), byref(error))
            self._ptr = None
            self._state = _state_of(state)
        _native.check(status, error)

    @property
    def is_recording(self) -> bool:
        """Whether the recording has begun and not ended. True even if it has stopped early."""
        return self._ptr is not None

    @property
    def path(self) -> str:
        return os.fsdecode(self._path)

    @property
    def tracker(self) -> Tracker:
        return self._tracker

    @property
    def state(self) -> RecorderState:
        """The current state, or the final state after end()."""
        with self._lock:
            if self._ptr:
                state = _native.RecorderState()
                lib.tts_recorder_get_state(self._ptr, byref(state))
                self._state = _state_of(state)
            return self._state

    def __repr__(self) -> str:
        doing = "records" if self.is_recording else "does not record"
        return f"<ttscope.Recorder {self.path!r}, {doing}>"


def _state_of(state: _native.RecorderState) -> RecorderState:
    reason = _native.decode(state.reason.text) if state.is_stopped else None
    return RecorderState(state.is_stopped, reason, state.dropped, state.events, state.bytes)


def _end(ptr: int, tracker: Tracker) -> None:
    lib.tts_recorder_end(ptr, None, None)
