"""Samples the memory of an open device of the runtime, for a process that uses ttnn.

    import ttnn, ttscope.ttnn

    device = ttnn.open_device(device_id=0)
    sampler = ttscope.ttnn.publish(device, interval=1.0)      # `ttscope top` shows it
    ...
    ttnn.close_device(device)                                 # ends the sampler first

A thread asks the allocator of the device for each pool: banks, total, allocated, free and the
largest free block. These numbers are exact at the moment of the sample. The numbers that the
runtime shares with other processes have no free space and no largest block.

What a sample does not see: peaks between two samples, circular buffers, the allocators of
sub-devices, and buffers that exist on one core only. The call of the runtime holds the
interpreter lock, so a sample is taken between operations, not inside one. Its cost grows with the
number of blocks of the allocator.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import weakref
from ctypes import byref
from typing import Any, Callable, Dict, List, Optional, TextIO, Union

from . import _native
from ._notice import say_once
from ._publish import Publisher
from ._tracker import process_tracker

__all__ = ["Sampler", "publish"]

POOLS = ("DRAM", "L1", "L1_SMALL", "TRACE")
SHORTEST_INTERVAL = 0.01
_CLOSERS = ("close_device", "close_mesh_device")

Sample = Dict[str, Any]
Target = Union[str, "os.PathLike[str]", Callable[[Sample], None]]

_samplers: "weakref.WeakSet[Sampler]" = weakref.WeakSet()
_wrap_lock = threading.Lock()


def _runtime() -> Any:
    """Returns ttnn. The module of this name in this package is a different one."""
    module = sys.modules.get("ttnn")
    if module is None:
        raise RuntimeError("ttnn is not imported: open the device with ttnn first")
    return module


def _attempt(call: Callable[[], Any]) -> Any:
    """Returns the result of a call that some runtimes do not have, or None."""
    try:
        return call()
    except Exception:
        return None


def _grid_of(grid: Any) -> Optional[List[int]]:
    columns, rows = getattr(grid, "x", None), getattr(grid, "y", None)
    return [int(columns), int(rows)] if columns is not None and rows is not None else None


def _describe(ttnn: Any, device: Any) -> Sample:
    """Returns the facts of a device that do not change while it is open."""
    ids = _attempt(lambda: [int(i) for i in device.get_device_ids()])
    if ids is None:
        ids = _attempt(lambda: [int(device.id())])
    arch = _attempt(lambda: str(device.arch()).rsplit(".", 1)[-1].lower())
    base = _attempt(lambda: int(ttnn.get_allocator_base_address(device, ttnn.BufferType.L1)))
    return {
        "device_ids": ids,
        "arch": arch,
        "compute_grid": _grid_of(_attempt(lambda: device.compute_with_storage_grid_size())),
        "dram_grid": _grid_of(_attempt(lambda: device.dram_grid_size())),
        "cb_base": base,
    }


def _pool(ttnn: Any, device: Any, name: str) -> Sample:
    view = ttnn.get_memory_view(device, getattr(ttnn.BufferType, name))
    banks = int(view.num_banks)

    def both(per_bank: Any) -> Dict[str, int]:
        return {"bytes": int(per_bank) * banks, "bytes_per_bank": int(per_bank)}

    return {
        "pool": name,
        "banks": banks,
        "total": both(view.total_bytes_per_bank),
        "allocated": both(view.total_bytes_allocated_per_bank),
        "free": both(view.total_bytes_free_per_bank),
        "largest_free": both(view.largest_contiguous_bytes_free_per_bank),
    }


_ARCHES = {"grayskull": 0, "wormhole": 1, "wormhole_b0": 1, "blackhole": 2, "quasar": 3}


class _Region:
    """Publishes samples in the file of this process, for ``ttscope top``. All chips of a mesh have
    the same numbers."""

    def __init__(self) -> None:
        self._tracker = process_tracker()
        self._publisher = Publisher(self._tracker)
        self._has_facts = False

    def __call__(self, sample: Sample) -> None:
        ids = sample["device_ids"]
        if not ids:
            raise RuntimeError("the device does not tell its id")
        for device in ids:
            if not self._has_facts:
                self._put_facts(device, sample)
            for pool in sample["pools"]:
                self._put_pool(device, pool, sample["interval_seconds"])
        self._has_facts = True

    def _put_facts(self, device: int, sample: Sample) -> None:
        facts, error = _native.PublishFacts(), _native.Error()
        arch = _ARCHES.get(sample["arch"] or "")
        if arch is not None:
            facts.arch_known, facts.arch = True, arch
        if sample["compute_grid"]:
            facts.grid_columns, facts.grid_rows = sample["compute_grid"]
        if sample["dram_grid"]:
            facts.dram_channels = sample["dram_grid"][0] * sample["dram_grid"][1]
        _native.check(_native.lib.tts_publish_device(self._tracker._ptr, device, byref(facts),
                                                     byref(error)), error)

    def _put_pool(self, device: int, pool: Sample, interval: float) -> None:
        error = _native.Error()
        report = _native.PublishReport(pool["banks"], 0, pool["total"]["bytes"],
                                     pool["allocated"]["bytes"], pool["free"]["bytes"],
                                     pool["largest_free"]["bytes"])
        _native.check(_native.lib.tts_publish_pool(
            self._tracker._ptr, device, _native.POOL_NUMBERS[pool["pool"]], byref(report),
            int(interval * 1e9), byref(error)), error)

    def stop(self) -> None:
        self._publisher.stop()


def _hold(device: Any) -> Callable[[], Any]:
    """Returns a function that returns the device, or None if it is gone. Devices of many
    runtimes allow no weak reference: the sampler then keeps the device until stop()."""
    try:
        return weakref.ref(device)
    except TypeError:
        return lambda: device


class Sampler:
    """Samples a device until stop(), the end of a `with` block, or the end of the device.
    publish() makes one. Any thread may call stop()."""

    def __init__(self, device: Any, interval: float, target: Optional[Target]) -> None:
        self._ttnn = _runtime()
        self._device = _hold(device)
        self._facts = _describe(self._ttnn, device)
        self._interval = interval
        self._file: Optional[TextIO] = None
        self._give: Callable[[Sample], None]
        self.path: Optional[str] = None
        self._region: Optional[_Region] = None
        if target is None:
            self._region = _Region()
            self._give = self._region
            self.path = self._region._publisher.path
        elif callable(target):
            self._give = target
        else:
            self.path = os.fspath(target)
            self._file = open(self.path, "a", encoding="utf-8")
            self._give = self._write_line
        self._pid = os.getpid()
        self._sequence = 0
        self._failure: Optional[str] = None
        self._turn = threading.RLock()  # a callback may call stop()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ttscope-sampler", daemon=True)

    @property
    def samples(self) -> int:
        """The number of samples taken so far."""
        return self._sequence

    @property
    def failure(self) -> Optional[str]:
        """Why the sampler ended by itself, or None."""
        return self._failure

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive() and not self._end.is_set()

    def stop(self) -> None:
        """Ends the sampler. After the call it does not touch the device again."""
        self._end.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()
        with self._turn:
            self._device = lambda: None
            if self._file is not None:
                self._file.close()
                self._file = None
            if self._region is not None:
                self._region.stop()
                self._region = None

    def __enter__(self) -> "Sampler":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def _write_line(self, sample: Sample) -> None:
        if self._file is not None:
            self._file.write(json.dumps(sample, separators=(",", ":")) + "\n")
            self._file.flush()

    def _sample(self, device: Any) -> Sample:
        sample: Sample = {
            "schema": {"name": "ttscope.memory-sample", "version": 1},
            "time_ns": time.time_ns(),
            "pid": self._pid,
            "sequence": self._sequence,
            "interval_seconds": self._interval,
        }
        sample.update(self._facts)
        sample["pools"] = [_pool(self._ttnn, device, name) for name in POOLS]
        return sample

    def _take(self) -> bool:
        """Takes one sample. Returns False if the device is gone or a step fails."""
        device = self._device()
        if device is None or os.getpid() != self._pid:
            return False
        try:
            with self._turn:
                if self._end.is_set():
                    return False
                self._give(self._sample(device))
                self._sequence += 1
        except Exception as error:
            self._failure = f"{type(error).__name__}: {error}"
            say_once("sampler", f"sampling the memory of a device has stopped: {self._failure}")
            return False
        return True

    def _run(self) -> None:
        due = time.monotonic()
        while self._take():
            due = max(due + self._interval, time.monotonic())
            if self._end.wait(max(0.0, due - time.monotonic())):
                break
        self._end.set()
        self._device = lambda: None


def _stop_samplers_of(device: Any) -> None:
    for sampler in list(_samplers):
        if sampler._device() is device:
            sampler.stop()


def _wrap_closers(ttnn: Any) -> None:
    """Lets the functions that close a device end its samplers first: asking a device for its
    memory while it closes is undefined in the runtime."""
    with _wrap_lock:
        for name in _CLOSERS:
            close = getattr(ttnn, name, None)
            if close is None or getattr(close, "_ttscope_wraps", None) is not None:
                continue

            def wrapped(device: Any, *args: Any, _close: Any = close, **kwargs: Any) -> Any:
                _stop_samplers_of(device)
                return _close(device, *args, **kwargs)

            wrapped._ttscope_wraps = close  # type: ignore[attr-defined]
            wrapped.__name__ = getattr(close, "__name__", name)
            wrapped.__doc__ = getattr(close, "__doc__", None)
            setattr(ttnn, name, wrapped)
            # The context managers of ttnn call the function of the module that defines it.
            home = sys.modules.get(getattr(close, "__module__", None) or "")
            if home is not None and getattr(home, name, None) is close:
                setattr(home, name, wrapped)


def publish(device: Any, interval: float = 1.0, to: Optional[Target] = None) -> Sampler:
    """Starts a thread that samples the pools of `device` every `interval` seconds (at least
    0.01). The first sample is taken at once.

    Without `to`, the samples are shown live: ``ttscope top`` reads them from the file of this
    process in /dev/shm, as after ``ttscope.publish()``. `to` is the path of a file that gets one
    JSON document per line, or a function that is called with each sample on the thread of the
    sampler. Lines are added to a file that exists.

    Returns the sampler. It holds the device weakly if the runtime allows weak references, and
    ends before ttnn.close_device() or
    ttnn.close_mesh_device() closes the device. If a device is closed in another way, call
    ``stop()`` first. A failure of the runtime or of `to` ends the sampler with a message; it
    raises nothing into the program.
    """
    if not SHORTEST_INTERVAL <= interval < threading.TIMEOUT_MAX:
        raise ValueError(f"invalid interval {interval!r}: expected a number of seconds from "
                         f"{SHORTEST_INTERVAL} to {threading.TIMEOUT_MAX:.0f}")
    ttnn = _runtime()
    if not hasattr(ttnn, "get_memory_view"):
        raise RuntimeError("this version of ttnn has no get_memory_view(), so the memory of "
                           "its devices cannot be sampled")
    sampler = Sampler(device, float(interval), to)
    _wrap_closers(ttnn)
    _samplers.add(sampler)
    sampler._thread.start()
    return sampler
