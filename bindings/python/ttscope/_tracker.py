"""Where events go in."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import operator
import threading
import weakref
from ctypes import byref
from typing import Any, ContextManager, Iterable, List, Optional, Sequence, Union

from . import _native
from ._native import Error, Event, lib

_KINDS = {"cb": _native.EVENT_CB, "dfb": _native.EVENT_DFB,
          "scratchpad": _native.EVENT_SCRATCHPAD}
_NOTHING = contextlib.nullcontext()
_U64 = 2**64 - 1
_U32 = 2**32 - 1
_U16 = 2**16 - 1


@dataclasses.dataclass(frozen=True)
class Health:
    """How well the tracker could follow, since the first of those began that listen, captures
    or a recording."""

    events: int  #: counted
    dropped: int  #: not counted: too many at once, or one device more than devices_max
    unlisted: int  #: buffers counted, but not listed: there was no memory
    unseen_frees: int  #: of buffers allocated before, with a size: counted
    unknown_frees: int  #: of ids not known, without a size: not counted
    doubled: int  #: allocations of an id that lived: the one before was freed
    refused: int  #: events that cannot be: not counted


@dataclasses.dataclass(frozen=True)
class Live:
    """A buffer that lives."""

    id: int
    size_bytes: int
    bytes_per_bank: int
    block_bytes: int
    seq: int  #: of its allocation
    device: int
    pool: str
    op: Optional[str]  #: that allocated it


class _Op:
    """An operation, from the beginning of a block to its end."""

    __slots__ = ("_tracker", "_name")

    def __init__(self, tracker: "Tracker", name: bytes) -> None:
        self._tracker = tracker
        self._name = name

    def __enter__(self) -> None:
        event = Event(_native.EVENT_OP_BEGIN)
        event.name, event.name_len = self._name, len(self._name)
        self._tracker._post(event)

    def __exit__(self, *_: object) -> None:
        self._tracker._end_op()


class Tracker:
    """Takes events and tells them to the captures that listen.

    While nobody listens an event costs one look at a number, and its arguments are not
    read. Events may come from any thread. One that is lost because too many come at once is
    counted in ``health().dropped`` and raises nothing.

    Most programs want ``process_tracker()``, to which ``ttscope.capture()`` listens unless told
    otherwise. A tracker of one's own takes memory for ``live_max`` buffers (0: 2^20), and more
    if more live. It keeps at most ``devices_max`` devices (0: 64) and ``ops_max`` names of
    operations (0: 1024) apart.
    """

    __slots__ = ("_ptr", "_active", "__weakref__")

    def __init__(self, live_max: int = 0, devices_max: int = 0, ops_max: int = 0) -> None:
        config = _native.TrackerConfig(_uint(live_max, _U32, "live_max"),
                                       _uint(devices_max, _U32, "devices_max"),
                                       _uint(ops_max, _U32, "ops_max"))
        out, error = ctypes.c_void_p(), Error()
        _native.check(lib.tts_tracker_new(byref(config), None, byref(out), byref(error)), error)
        self._adopt(out.value)
        # At exit other threads may still tell it something: the system takes the memory back.
        weakref.finalize(self, lib.tts_tracker_free, self._ptr).atexit = False

    def _adopt(self, ptr: Optional[int]) -> None:
        if not ptr:
            raise MemoryError("out of memory")
        self._ptr = ptr
        self._active = ctypes.c_uint32.from_address(ptr)

    @property
    def is_on(self) -> bool:
        """Does a capture or a recording listen?"""
        return self._active.value != 0

    # ---- events ----

    def alloc(self, id: int, size: int, pool: object = "DRAM", device: int = 0,
              bytes_per_bank: int = 0, *, block_bytes: int = 0,
              cores: Optional[Iterable[Sequence[int]]] = None) -> None:
        """Buffer `id` of `size` bytes is allocated on `device`.

        `pool` is "DRAM", "L1", "L1_SMALL" or "TRACE", or an enum member of that name, such as
        ttnn.BufferType.L1. In L1 and L1_SMALL `bytes_per_bank` is what its fullest bank holds,
        and `block_bytes` what each gives up when that is more. With `cores` only those have a
        block of it. The id names the buffer on its device while it lives.
        """
        if not self._active.value:
            return
        ranges, count = _ranges(cores) if cores is not None else (None, 0)
        self._post(Event(
            _native.EVENT_ALLOC, _uint(device, _U32, "device"), _pool_number(pool), False,
            _uint(id, _U64, "id"), _uint(size, _U64, "size"),
            _uint(bytes_per_bank, _U64, "bytes_per_bank"),
            _uint(block_bytes, _U64, "block_bytes"), ranges, count))

    def free(self, id: int, size: int = 0, pool: object = "DRAM", device: int = 0,
             bytes_per_bank: int = 0) -> None:
        """Buffer `id` is freed. A buffer that was seen goes as it came; the size and the rest
        are for one that may have been allocated before anybody listened."""
        if not self._active.value:
            return
        self._post(Event(
            _native.EVENT_FREE, _uint(device, _U32, "device"), _pool_number(pool), False,
            _uint(id, _U64, "id"), _uint(size, _U64, "size"),
            _uint(bytes_per_bank, _U64, "bytes_per_bank")))

    def program(self, device: int = 0) -> None:
        """A program begins on `device`: the circular buffers, dataflow buffers and scratchpads
        of the one before are gone."""
        if self._active.value:
            self._post(Event(_native.EVENT_PROGRAM, _uint(device, _U32, "device")))

    def cb(self, size: int, cores: Iterable[Sequence[int]], kind: str = "cb",
           borrowed: bool = False, device: int = 0) -> None:
        """The program has a circular buffer of `size` bytes on each of `cores`.

        `cores` are ranges (x0, y0, x1, y1), both ends included, or cores (x, y), that do not
        overlap. `kind` is "cb", "dfb" or "scratchpad". One that lies on a buffer (global, a
        view) is `borrowed` and takes nothing.
        """
        if not self._active.value:
            return
        number = _KINDS.get(kind) if isinstance(kind, str) else None
        if number is None:
            raise ValueError(f"kind {kind!r} is not known: it must be 'cb', 'dfb' or 'scratchpad'")
        ranges, count = _ranges(cores)
        self._post(Event(number, _uint(device, _U32, "device"), _native.L1, bool(borrowed), 0,
                         _uint(size, _U64, "size"), 0, 0, ranges, count))

    def op(self, name: str) -> ContextManager[None]:
        """``with tracker.op("matmul"):`` what happens inside, on this thread, belongs to it.
        Operations nest."""
        if not self._active.value:
            return _NOTHING
        if not isinstance(name, str):
            raise TypeError(f"name of an operation must be a str, not {type(name).__name__}")
        encoded = name.encode("utf-8", "replace")
        return _Op(self, encoded)

    def trace_begin(self, device: int = 0) -> None:
        """The device begins to capture a trace."""
        if self._active.value:
            self._post(Event(_native.EVENT_TRACE_BEGIN, _uint(device, _U32, "device")))

    def trace_end(self, device: int = 0) -> None:
        """The device has captured the trace."""
        if self._active.value:
            self._post(Event(_native.EVENT_TRACE_END, _uint(device, _U32, "device")))

    def _end_op(self) -> None:
        if self._active.value:
            self._post(Event(_native.EVENT_OP_END))

    def _post(self, event: Event) -> None:
        status = lib.tts_tracker_post(self._ptr, byref(event), None)
        if status not in (_native.OK, _native.E_FULL):
            # Nothing was counted: it is asked again for the text, which costs the others nothing.
            error = Error()
            _native.check(lib.tts_tracker_post(self._ptr, byref(event), byref(error)), error)

    # ---- devices, and what is known ----

    def chip(self, chip: int, mesh: int) -> None:
        """Device `chip` is part of the mesh that has the id `mesh`: the buffers of the mesh lie
        on it too. To be said before the chip has events."""
        error = Error()
        _native.check(lib.tts_tracker_chip(self._ptr, _uint(chip, _U32, "chip"),
                                           _uint(mesh, _U32, "mesh"), byref(error)), error)

    def live(self) -> List[Live]:
        """The buffers that live, of those seen, the oldest first: of this moment, while a
        capture is active and after it until the next begins."""
        count = lib.tts_tracker_live(self._ptr, None, 0)
        while True:
            found = (_native.Live * (count + 16))()
            count = lib.tts_tracker_live(self._ptr, found, len(found))
            if count <= len(found):
                break
        return [Live(b.id, b.size_bytes, b.bytes_per_bank, b.block_bytes, b.seq, b.device,
                     _native.POOLS[b.pool], _native.decode_or_none(b.op)) for b in found[:count]]

    def health(self) -> Health:
        """How well the tracker could follow."""
        out = _native.Health()
        lib.tts_tracker_get_health(self._ptr, byref(out))
        return Health(*(getattr(out, field.name)
                        for field in dataclasses.fields(Health)))

    def __repr__(self) -> str:
        return f"<ttscope.Tracker at {self._ptr:#x}, {self._active.value} listening>"


_process: Optional[Tracker] = None
_process_lock = threading.Lock()


def process_tracker() -> Tracker:
    """The tracker of the process, which C++ and C in it share; there for good."""
    global _process
    with _process_lock:
        if _process is None:
            tracker = Tracker.__new__(Tracker)
            tracker._adopt(lib.tts_tracker_process())
            _process = tracker
        return _process


# ---- arguments ----
# ctypes cuts numbers that are too large and takes negative ones: neither may happen unseen.


def _uint(value: Any, limit: int, what: str) -> int:
    if type(value) is int and 0 <= value <= limit:
        return value
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an int, not {type(value).__name__}") from None
    if not 0 <= number <= limit:
        raise ValueError(f"{what} {number} is out of range: it must be 0 to {limit}")
    return number


def _pool_number(pool: object) -> int:
    name = pool if isinstance(pool, str) else getattr(pool, "name", None)
    number = _native.POOL_NUMBERS.get(name) if isinstance(name, str) else None
    if number is None:
        raise ValueError(f"pool {pool!r} is not known: it must be one of "
                         f"{', '.join(_native.POOLS)}")
    return number


def _ranges(cores: Iterable[Sequence[int]]) -> Any:
    found = [_range(item) for item in cores]
    return (_native.CoreRange * len(found))(*found), len(found)


def _range(item: Union[Sequence[int], Any]) -> _native.CoreRange:
    try:
        numbers = tuple(item)
    except TypeError:
        numbers = ()
    if len(numbers) == 2:
        numbers += numbers
    if len(numbers) != 4:
        raise ValueError(f"{item!r} is no range of cores: it must be (x0, y0, x1, y1) or (x, y)")
    return _native.CoreRange(*(_uint(number, _U16, "core") for number in numbers))
