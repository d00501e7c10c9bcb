"""Trackers, which receive events."""

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
    """Counters that tell how complete the figures are. They count from the moment when the
    first capture or recording began to listen."""

    events: int  #: events that were counted
    dropped: int  #: not counted: too many at once, or more than devices_max devices
    unlisted: int  #: buffers that were counted but not listed, for lack of memory
    unseen_frees: int  #: frees with a size, of buffers allocated earlier: counted
    unknown_frees: int  #: frees of unknown ids without a size: not counted
    doubled: int  #: allocations of a live id: the old buffer counts as freed
    refused: int  #: impossible events: not counted


@dataclasses.dataclass(frozen=True)
class Live:
    """A live buffer."""

    id: int
    size_bytes: int
    bytes_per_bank: int
    block_bytes: int
    seq: int  #: number of the allocation event
    device: int
    pool: str
    op: Optional[str]  #: operation that allocated the buffer


class _Op:
    """An operation that lasts for a ``with`` block."""

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
    """Receives events and passes them to the captures and the recording that listen.

    While nothing listens, an event costs one read of a number, and its arguments are not
    checked. Any thread may post events. An event that is lost because too many come at once is
    counted in ``health().dropped`` and raises nothing.

    Most programs need ``process_tracker()``. ``ttscope.capture()`` listens to it by default. A
    separate tracker takes memory for ``live_max`` buffers (0: 2^20), and more memory if more
    buffers are live. It distinguishes at most ``devices_max`` devices (0: 64) and ``ops_max``
    names of operations (0: 1024).
    """

    __slots__ = ("_ptr", "_active", "__weakref__")

    def __init__(self, live_max: int = 0, devices_max: int = 0, ops_max: int = 0) -> None:
        config = _native.TrackerConfig(_uint(live_max, _U32, "live_max"),
                                       _uint(devices_max, _U32, "devices_max"),
                                       _uint(ops_max, _U32, "ops_max"))
        out, error = ctypes.c_void_p(), Error()
        _native.check(lib.tts_tracker_new(byref(config), None, byref(out), byref(error)), error)
        self._adopt(out.value)
        # Not freed at exit: other threads may still post events, and the system frees the memory.
        weakref.finalize(self, lib.tts_tracker_free, self._ptr).atexit = False

    def _adopt(self, ptr: Optional[int]) -> None:
        if not ptr:
            raise MemoryError("the host has too little memory")
        self._ptr = ptr
        self._active = ctypes.c_uint32.from_address(ptr)

    @property
    def is_on(self) -> bool:
        """Whether a capture or a recording listens."""
        return self._active.value != 0

    # ---- events ----

    def alloc(self, id: int, size: int, pool: object = "DRAM", device: int = 0,
              bytes_per_bank: int = 0, *, block_bytes: int = 0,
              cores: Optional[Iterable[Sequence[int]]] = None) -> None:
        """Reports that buffer `id` of `size` bytes was allocated on `device`.

        `pool` is "DRAM", "L1", "L1_SMALL" or "TRACE", or an enum member of that name, such as
        ttnn.BufferType.L1. In L1 and L1_SMALL, `bytes_per_bank` is the number of bytes in the
        fullest bank. Give `block_bytes` if the buffer takes more than that in each bank. With
        `cores`, only these cores have a block of the buffer. The id is unique among the live
        buffers of the device.
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
        """Reports that buffer `id` was freed. If its allocation was seen, the other arguments are
        ignored. They are for a buffer that may have been allocated before anything
        listened."""
        if not self._active.value:
            return
        self._post(Event(
            _native.EVENT_FREE, _uint(device, _U32, "device"), _pool_number(pool), False,
            _uint(id, _U64, "id"), _uint(size, _U64, "size"),
            _uint(bytes_per_bank, _U64, "bytes_per_bank")))

    def program(self, device: int = 0) -> None:
        """Reports that a program begins on `device`. This ends the circular buffers, dataflow
        buffers and scratchpads of the last program."""
        if self._active.value:
            self._post(Event(_native.EVENT_PROGRAM, _uint(device, _U32, "device")))

    def cb(self, size: int, cores: Iterable[Sequence[int]], kind: str = "cb",
           borrowed: bool = False, device: int = 0) -> None:
        """Reports that the program has a circular buffer of `size` bytes on each of `cores`.

        `cores` are ranges (x0, y0, x1, y1), both ends included, or cores (x, y), that do not
        overlap. `kind` is "cb", "dfb" or "scratchpad". If it uses the memory of a buffer
        (because it is global or a view), set `borrowed`: then it takes no memory of its own.
        """
        if not self._active.value:
            return
        number = _KINDS.get(kind) if isinstance(kind, str) else None
        if number is None:
            raise ValueError(f"unknown kind {kind!r}: expected 'cb', 'dfb' or 'scratchpad'")
        ranges, count = _ranges(cores)
        self._post(Event(number, _uint(device, _U32, "device"), _native.L1, bool(borrowed), 0,
                         _uint(size, _U64, "size"), 0, 0, ranges, count))

    def op(self, name: str) -> ContextManager[None]:
        """Reports an operation: ``with tracker.op("matmul"):``. Events inside the block, on this
        thread, belong to the operation. Operations nest."""
        if not self._active.value:
            return _NOTHING
        if not isinstance(name, str):
            raise TypeError(f"name of an operation must be a str, not {type(name).__name__}")
        encoded = name.encode("utf-8", "replace")
        return _Op(self, encoded)

    def trace_begin(self, device: int = 0) -> None:
        """Reports that the device begins to capture a trace."""
        if self._active.value:
            self._post(Event(_native.EVENT_TRACE_BEGIN, _uint(device, _U32, "device")))

    def trace_end(self, device: int = 0) -> None:
        """Reports that the device ends the capture of a trace."""
        if self._active.value:
            self._post(Event(_native.EVENT_TRACE_END, _uint(device, _U32, "device")))

    def _end_op(self) -> None:
        if self._active.value:
            self._post(Event(_native.EVENT_OP_END))

    def _post(self, event: Event) -> None:
        status = lib.tts_tracker_post(self._ptr, byref(event), None)
        if status not in (_native.OK, _native.E_FULL):
            # Nothing was counted. Post again to get the text; successful events do not pay for it.
            error = Error()
            _native.check(lib.tts_tracker_post(self._ptr, byref(event), byref(error)), error)

    # ---- devices and queries ----

    def chip(self, chip: int, mesh: int) -> None:
        """Makes device `chip` a part of the mesh with the id `mesh`: the buffers of the mesh then
        also count on the chip. Call it before the chip has events."""
        error = Error()
        _native.check(lib.tts_tracker_chip(self._ptr, _uint(chip, _U32, "chip"),
                                           _uint(mesh, _U32, "mesh"), byref(error)), error)

    def live(self) -> List[Live]:
        """Returns the live buffers whose allocation was seen, oldest first. If nothing listens
        now, these are the buffers that were live when the last listener stopped."""
        count = lib.tts_tracker_live(self._ptr, None, 0)
        while True:
            found = (_native.Live * (count + 16))()
            count = lib.tts_tracker_live(self._ptr, found, len(found))
            if count <= len(found):
                break
        return [Live(b.id, b.size_bytes, b.bytes_per_bank, b.block_bytes, b.seq, b.device,
                     _native.POOLS[b.pool], _native.decode_or_none(b.op)) for b in found[:count]]

    def health(self) -> Health:
        """Returns how complete the figures are."""
        out = _native.Health()
        lib.tts_tracker_get_health(self._ptr, byref(out))
        return Health(*(getattr(out, field.name)
                        for field in dataclasses.fields(Health)))

    def __repr__(self) -> str:
        return f"<ttscope.Tracker at {self._ptr:#x}, {self._active.value} listening>"


_process: Optional[Tracker] = None
_process_lock = threading.Lock()


def process_tracker() -> Tracker:
    """Returns the tracker of the process. C and C++ code of the process use the same tracker.
    It is never freed."""
    global _process
    with _process_lock:
        if _process is None:
            tracker = Tracker.__new__(Tracker)
            tracker._adopt(lib.tts_tracker_process())
            _process = tracker
        return _process


# ---- arguments ----
# ctypes truncates numbers that are too large and accepts negative ones. Check for both here.


def _uint(value: Any, limit: int, what: str) -> int:
    if type(value) is int and 0 <= value <= limit:
        return value
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an int, not {type(value).__name__}") from None
    if not 0 <= number <= limit:
        raise ValueError(f"{what} {number} is out of range: expected 0 to {limit}")
    return number


def _pool_number(pool: object) -> int:
    name = pool if isinstance(pool, str) else getattr(pool, "name", None)
    number = _native.POOL_NUMBERS.get(name) if isinstance(name, str) else None
    if number is None:
        raise ValueError(f"unknown pool {pool!r}: expected one of "
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
        raise ValueError(f"{item!r} is not a range of cores: expected (x0, y0, x1, y1) or (x, y)")
    return _native.CoreRange(*(_uint(number, _U16, "core") for number in numbers))
