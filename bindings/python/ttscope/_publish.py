"""Publishing: show the memory use of this program live in ``ttscope top``."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from ctypes import byref
from types import TracebackType
from typing import Dict, Optional, Type, Union

from . import _native
from ._native import Error, lib
from ._tracker import Tracker, _uint, process_tracker

_Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
_U32 = 2**32 - 1

# The number of publishers of each tracker, for trackers that this module began to publish.
_began: Dict[int, int] = {}
_lock = threading.Lock()


def publish(*, tracker: Optional[Tracker] = None, directory: Optional[_Path] = None,
            buffers_max: int = 0, events_max: int = 0) -> "Publisher":
    """Shows the memory use of this program live: ``ttscope top`` and ``ttscope serve`` read it
    from a file in /dev/shm, which other users may not read::

        publisher = ttscope.publish()
        ...
        publisher.stop()                # or: with ttscope.publish(): ...

    An event then takes some 20 ns and no system call. The file lists `buffers_max` live buffers
    (65,536 by default) and the last `events_max` events (16,384). `tracker` is the tracker of the
    process by default. If it publishes already (TTSCOPE=1 starts that too), the call joins.

    Raises OSError if the file cannot be made or has no room. The end of the program removes it.
    """
    return Publisher(tracker, directory, buffers_max, events_max)


class Publisher:
    """Made by ``ttscope.publish()``. Ends with ``stop()``, a ``with`` block or the object, unless
    another publisher of the same tracker goes on. Any thread may call ``stop()``."""

    def __init__(self, tracker: Optional[Tracker] = None, directory: Optional[_Path] = None,
                 buffers_max: int = 0, events_max: int = 0) -> None:
        self._tracker = process_tracker() if tracker is None else tracker
        if not isinstance(self._tracker, Tracker):
            raise TypeError(f"tracker must be a ttscope.Tracker, not {type(tracker).__name__}")
        config = _native.PublishConfig(
            None if directory is None else os.fsencode(directory),
            _uint(buffers_max, _U32, "buffers_max"), _uint(events_max, _U32, "events_max"))
        _begin(self._tracker, config)
        self._finish = weakref.finalize(self, _end, self._tracker)

    def stop(self) -> None:
        """Stops to publish and removes the file. A second call does nothing."""
        self._finish()

    @property
    def path(self) -> Optional[str]:
        """The file, or None if the tracker does not publish now."""
        return _native.decode(self._state().path) or None

    @property
    def events(self) -> int:
        """The number of events published."""
        return self._state().events

    @property
    def unlisted(self) -> int:
        """The number of live buffers that are counted but not in the table, which is full."""
        return self._state().unlisted

    def _state(self) -> "_native.PublishState":
        state = _native.PublishState()
        lib.tts_publish_get_state(self._tracker._ptr, byref(state))
        return state

    def __enter__(self) -> "Publisher":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 where: Optional[TracebackType]) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<ttscope.Publisher {self.path!r}>"


def _key_of(tracker: Tracker) -> int:
    return ctypes.c_void_p(tracker._ptr).value or 0


def _begin(tracker: Tracker, config: "_native.PublishConfig") -> None:
    error, key = Error(), _key_of(tracker)
    with _lock:
        status = lib.tts_publish_begin(tracker._ptr, byref(config), byref(error))
        if status == _native.OK:
            _began[key] = 1
        elif status == _native.E_BUSY:
            if key in _began:
                _began[key] += 1
        else:
            _native.check(status, error)


def _end(tracker: Tracker) -> None:
    key = _key_of(tracker)
    with _lock:
        if key not in _began:
            return  # the environment or another language began
        _began[key] -= 1
        if _began[key] > 0:
            return
        del _began[key]
        lib.tts_publish_end(tracker._ptr)
