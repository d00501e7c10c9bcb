"""What phases did to memory, as plain values that stay when the capture is gone."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Optional, Tuple

from . import _native

_MB = 1048576.0


@dataclasses.dataclass(frozen=True)
class PoolUsage:
    """One pool in one phase. DRAM and TRACE: bytes as asked for, of one chip. L1 and L1_SMALL:
    bytes of a bank, which is a core. Relative to the start of the phase, except the cumulative
    figures, which are relative to the first phase of the capture."""

    peak_bytes: int  #: the most above the start, 0 at least
    allocated_bytes: int
    freed_bytes: int
    cumulative_peak_bytes: int
    cumulative_current_bytes: int
    allocations: int
    frees: int

    @property
    def change_bytes(self) -> int:
        """What the phase left behind; negative when it freed more than it allocated."""
        return self.allocated_bytes - self.freed_bytes

    def to_dict(self) -> Dict[str, Any]:
        return {
            "segment_peak_bytes": self.peak_bytes,
            "allocations_bytes": self.allocated_bytes,
            "deallocations_bytes": self.freed_bytes,
            "change_bytes": self.change_bytes,
            "cumulative_peak_bytes": self.cumulative_peak_bytes,
            "cumulative_current_bytes": self.cumulative_current_bytes,
            "allocations": self.allocations,
            "deallocations": self.frees,
        }


@dataclasses.dataclass(frozen=True)
class CorePart:
    """Something that was on a core at its peak."""

    kind: str  #: "buffer", "cb", "dfb" or "scratchpad"
    bytes: int  #: on this core
    pool: Optional[str]  #: of a buffer
    id: Optional[int]  #: of a buffer
    op: Optional[str]  #: that made it; None: outside any


@dataclasses.dataclass(frozen=True)
class CorePeak:
    """The most bytes that any core had in use at one instant, and what they were."""

    device: int
    core: Tuple[int, int]  #: (x, y), the first in row-major order among equals
    bytes: int
    cb_bytes: int
    dfb_bytes: int
    scratchpad_bytes: int
    l1_bytes: int
    l1_small_bytes: int
    at_least: bool  #: what was there is not all known
    seq: int  #: the event that first reached it
    op: Optional[str]  #: under way then
    parts: Tuple[CorePart, ...]  #: the largest first
    unlisted: int  #: parts beyond those
    unlisted_bytes: int

    def to_dict(self) -> Dict[str, Any]:
        out = dataclasses.asdict(self)
        out["core"] = {"x": self.core[0], "y": self.core[1]}
        out["parts"] = [dataclasses.asdict(part) for part in self.parts]
        return out


@dataclasses.dataclass(frozen=True, repr=False)
class Usage:
    """What happened on a device, or on all of them."""

    dram: PoolUsage
    l1: PoolUsage
    l1_small: PoolUsage
    trace: PoolUsage
    #: L1 as the summary prints it: of one core, as if every circular buffer were on it.
    peak_cb_bytes: int
    peak_dfb_bytes: int
    peak_scratchpad_bytes: int
    #: Of the three, L1 and L1_SMALL buffers together, at one instant.
    peak_total_bytes: int
    programs: int
    ops: int
    traces: int
    #: Of DRAM and L1 buffers allocated while a trace was captured.
    traced_bytes: int
    #: The truth about the fullest core; None: nothing was on any.
    core: Optional[CorePeak]
    #: Two pools together, as the summary prints them: TRACE counts as DRAM, L1_SMALL as L1. The
    #: peak is that of the sum.
    dram_with_trace: PoolUsage
    l1_with_small: PoolUsage

    def _figures(self) -> Dict[str, Any]:
        return {
            "dram": self.dram.to_dict(),
            "l1": {
                "peak_cb_bytes": self.peak_cb_bytes,
                "peak_dfb_bytes": self.peak_dfb_bytes,
                "peak_scratchpad_bytes": self.peak_scratchpad_bytes,
                "peak_buffer_bytes": self.l1.peak_bytes,
                "peak_total_bytes": self.peak_total_bytes,
                "true_core_peak_bytes": self.core.bytes if self.core else None,
            },
            "l1_small": self.l1_small.to_dict(),
            "trace": self.trace.to_dict(),
            "core_peak": self.core.to_dict() if self.core else None,
            "programs": self.programs,
            "ops": self.ops,
            "traces": self.traces,
            "traced_bytes": self.traced_bytes,
        }

    def _brief(self) -> str:
        return (f"DRAM peak {self.dram.peak_bytes / _MB:.2f} MB, "
                f"change {self.dram.change_bytes / _MB:+.2f} MB, "
                f"L1 peak {self.peak_total_bytes / _MB:.2f} MB")


@dataclasses.dataclass(frozen=True, repr=False)
class DeviceUsage(Usage):
    """The part of one device in a phase."""

    device: int

    def to_dict(self) -> Dict[str, Any]:
        return {"device": self.device, **self._figures()}

    def __repr__(self) -> str:
        return f"<ttscope.DeviceUsage {self.device}: {self._brief()}>"


@dataclasses.dataclass(frozen=True, repr=False)
class Phase(Usage):
    """A finished phase. All devices: DRAM and TRACE are sums in which a mesh counts once; L1,
    L1_SMALL and the core peak are those of the device that had the most."""

    name: str
    events: int
    devices: Tuple[DeviceUsage, ...]  #: that had an event, by their first one

    def to_dict(self) -> Dict[str, Any]:
        """All of it, ready for json.dumps()."""
        return {"name": self.name, **self._figures(), "events": self.events,
                "devices": [device.to_dict() for device in self.devices]}

    def __repr__(self) -> str:
        return f"<ttscope.Phase {self.name!r}: {self._brief()}>"


def _pool(native: _native.PoolUsage) -> PoolUsage:
    return PoolUsage(*(getattr(native, name) for name, _ in native._fields_))


def _part(native: _native.CorePart) -> CorePart:
    is_buffer = native.kind == _native.EVENT_ALLOC
    return CorePart(
        kind=_native.PART_KINDS.get(native.kind, "unknown"),
        bytes=native.bytes,
        pool=_native.POOLS[native.pool] if is_buffer else None,
        id=native.id if is_buffer else None,
        op=_native.decode_or_none(native.op),
    )


def _core(native: _native.CorePeak) -> Optional[CorePeak]:
    if not native.known:
        return None
    return CorePeak(
        device=native.device, core=(native.core.x, native.core.y), bytes=native.bytes,
        cb_bytes=native.cb_bytes, dfb_bytes=native.dfb_bytes,
        scratchpad_bytes=native.scratchpad_bytes, l1_bytes=native.l1_bytes,
        l1_small_bytes=native.l1_small_bytes, at_least=native.at_least, seq=native.seq,
        op=_native.decode_or_none(native.op),
        parts=tuple(_part(native.parts[i]) for i in range(native.part_count)),
        unlisted=native.unlisted, unlisted_bytes=native.unlisted_bytes,
    )


def _usage(native: _native.Usage) -> Dict[str, Any]:
    plain = ("peak_cb_bytes", "peak_dfb_bytes", "peak_scratchpad_bytes", "peak_total_bytes",
             "programs", "ops", "traces", "traced_bytes")
    pools = {name.lower(): _pool(native.pools[i]) for i, name in enumerate(_native.POOLS)}
    return {**pools, **{name: getattr(native, name) for name in plain},
            "core": _core(native.core), "dram_with_trace": _pool(native.dram_with_trace),
            "l1_with_small": _pool(native.l1_with_small)}


def phase_of(native: _native.Phase) -> Phase:
    """A copy of what the library lends."""
    devices = (native.devices[i] for i in range(native.device_count))
    return Phase(
        name=_native.decode(native.name), events=native.events,
        devices=tuple(DeviceUsage(device=d.device, **_usage(d.usage)) for d in devices),
        **_usage(native.usage),
    )
