"""The memory use of phases, as plain values. They stay valid after the capture is gone."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Optional, Tuple

from . import _native

_MB = 1048576.0


@dataclasses.dataclass(frozen=True)
class PoolUsage:
    """The use of one pool in one phase. DRAM and TRACE count requested bytes of one chip. L1 and
    L1_SMALL count bytes of one bank; a bank is a core. Figures are relative to the start of the
    phase. The cumulative figures are relative to the start of the capture's first phase."""

    peak_bytes: int  #: highest use above the start of the phase; at least 0
    allocated_bytes: int
    freed_bytes: int
    cumulative_peak_bytes: int
    cumulative_current_bytes: int
    allocations: int
    frees: int

    @property
    def change_bytes(self) -> int:
        """Allocated minus freed bytes. Negative if the phase freed more than it allocated."""
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
    """One thing that was on a core at the core's peak."""

    kind: str  #: "buffer", "cb", "dfb" or "scratchpad"
    bytes: int  #: on this core
    pool: Optional[str]  #: only for a buffer
    id: Optional[int]  #: only for a buffer
    op: Optional[str]  #: operation that made the part; None: no operation


@dataclasses.dataclass(frozen=True)
class CorePeak:
    """The most bytes that one core had in use at one instant, and the contents of that core."""

    device: int
    core: Tuple[int, int]  #: (x, y); among equal cores, the first in row-major order
    bytes: int
    cb_bytes: int
    dfb_bytes: int
    scratchpad_bytes: int
    l1_bytes: int
    l1_small_bytes: int
    at_least: bool  #: the true peak may be higher, for example because events were lost
    seq: int  #: number of the event that first reached the peak
    op: Optional[str]  #: operation in progress at the peak
    parts: Tuple[CorePart, ...]  #: largest first
    unlisted: int  #: number of parts that are not in `parts`
    unlisted_bytes: int

    def to_dict(self) -> Dict[str, Any]:
        out = dataclasses.asdict(self)
        out["core"] = {"x": self.core[0], "y": self.core[1]}
        out["parts"] = [dataclasses.asdict(part) for part in self.parts]
        return out


@dataclasses.dataclass(frozen=True, repr=False)
class Usage:
    """The memory use of one device, or of all devices."""

    dram: PoolUsage
    l1: PoolUsage
    l1_small: PoolUsage
    trace: PoolUsage
    #: L1 of one core as the summary prints it: it assumes that every circular buffer lies there.
    peak_cb_bytes: int
    peak_dfb_bytes: int
    peak_scratchpad_bytes: int
    #: Peak of the sum of these three, L1 and L1_SMALL.
    peak_total_bytes: int
    programs: int
    ops: int
    traces: int
    #: DRAM and L1 buffers allocated during a trace capture.
    traced_bytes: int
    #: The true peak of the fullest core. None: nothing was on a core.
    core: Optional[CorePeak]
    #: Two pools added together. The summary counts TRACE as DRAM and L1_SMALL as L1. The peak
    #: is the highest sum at one instant.
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
    """The memory use of one device in a phase."""

    device: int

    def to_dict(self) -> Dict[str, Any]:
        return {"device": self.device, **self._figures()}

    def __repr__(self) -> str:
        return f"<ttscope.DeviceUsage {self.device}: {self._brief()}>"


@dataclasses.dataclass(frozen=True, repr=False)
class Phase(Usage):
    """A finished phase, with the use of all devices. DRAM and TRACE are sums over the devices; a
    mesh counts once. L1, L1_SMALL and the core peak are the figures of the device that had the
    most."""

    name: str
    events: int
    devices: Tuple[DeviceUsage, ...]  #: devices with an event, ordered by first event

    def to_dict(self) -> Dict[str, Any]:
        """Returns all figures for json.dumps()."""
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
    """Copies a phase that is borrowed from the library."""
    devices = (native.devices[i] for i in range(native.device_count))
    return Phase(
        name=_native.decode(native.name), events=native.events,
        devices=tuple(DeviceUsage(device=d.device, **_usage(d.usage)) for d in devices),
        **_usage(native.usage),
    )
