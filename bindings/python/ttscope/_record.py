"""Recordings: every event of a tracker, into a file."""

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
    """Writes every event of the block into a file, which ``ttscope show`` reads::

        with ttscope.record("run.tts"):
            train()

    A call that has returned is in the file, also when the program is killed then (``recorder.h``
    has the exception). `path` is replaced if it is there.
    In `path`, "%p" is the process id, "%r" the rank of a parallel run, "%%" a percent sign. A
    file that another recorder writes to is refused.

    With `keep_bytes` it is a black box: a file of about that size (4 MiB at least) that has the
    last events, and what lived before them. Captures may begin and end inside, or have begun
    before; a tracker has one recording at a time. `tracker` is the process's unless said.

    A recording that cannot go on (the disk is full) stops; the program does not. A warning says
    so at the end of the block, and ``.state`` at any time.
    """
    return Recorder(path, keep_bytes, tracker=tracker)


@dataclasses.dataclass(frozen=True)
class RecorderState:
    """How a recording is."""

    is_stopped: bool  #: before its end
    reason: Optional[str]  #: why
    dropped: int  #: events since then
    events: int  #: in the file, or pushed out of a black box by later ones
    bytes: int  #: of the file, as far as it is used


class Recorder:
    """Made by ``ttscope.record()``. ``begin()`` and ``end()`` are for who has no block; what was
    not ended ends with the object, or with the program."""

    def __init__(self, path: _Path, keep_bytes: int = 0, *,
                 tracker: Optional[Tracker] = None) -> None:
        self._path = os.fsencode(path)
        if b"\0" in self._path:
            raise ValueError(f"path {path!r} has a NUL in it: leave it out")
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
        """Makes the file; ``with`` does it. OSError: it cannot be made, or has no room."""
        config = _native.RecorderConfig(self._path, self._keep_bytes)
        out, error = ctypes.c_void_p(), Error()
        with self._lock:
            if self._ptr:
                raise RuntimeError("cannot begin: it records already; end it first")
            status = lib.tts_recorder_begin(self._tracker._ptr, byref(config), byref(out),
                                            byref(error))
            if status == _native.OK:
                self._ptr = out.value
                # The tracker is named so that it lives until the recording is done.
                self._finish = weakref.finalize(self, _end, self._ptr, self._tracker)
        _native.check(status, error)

    def end(self) -> None:
        """Finishes the file. OSError: the recording had stopped before, or could not be
        finished; what is in the file is good. Does nothing when it does not record."""
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
        """From begin to end, stopped or not."""
        return self._ptr is not None

    @property
    def path(self) -> str:
        return os.fsdecode(self._path)

    @property
    def tracker(self) -> Tracker:
        return self._tracker

    @property
    def state(self) -> RecorderState:
        """How it is, or how it was at its end."""
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
