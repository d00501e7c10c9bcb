"""Checks once, at import, that the library and this package use the same structs."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_void_p
from typing import Any, Optional, Tuple

from . import _native
from ._native import DRAM, E_RANGE, L1, OK
from ._native import EVENT_ALLOC, EVENT_CB, EVENT_DFB, EVENT_FREE, EVENT_OP_BEGIN, EVENT_OP_END
from ._native import EVENT_PROGRAM, EVENT_SCRATCHPAD, EVENT_TRACE_BEGIN, EVENT_TRACE_END
from ._native import CorePeak, CoreRange, Error, Event, Health, Live, Phase, PoolUsage
from ._native import RecorderConfig, RecorderState, TrackerConfig, Usage, check, lib

_OP = b"self_check"


def _post(tracker: c_void_p, kind: int, device: int, **fields: Any) -> int:
    event = Event(kind, device)
    for name, value in fields.items():
        setattr(event, name, value)
    return lib.tts_tracker_post(tracker, byref(event), None)


def _tell_a_story(tracker: c_void_p) -> int:
    """Posts events that use every field of an event. Returns how many were refused."""
    core = (CoreRange * 1)(CoreRange(3, 4, 3, 4))
    cores = (CoreRange * 2)(CoreRange(1, 1, 2, 1), CoreRange(3, 4, 3, 5))
    statuses = [
        _post(tracker, EVENT_OP_BEGIN, 0, name=_OP, name_len=len(_OP)),
        _post(tracker, EVENT_ALLOC, 5, pool=DRAM, id=11, size_bytes=4096),
        _post(tracker, EVENT_ALLOC, 5, pool=L1, id=13, size_bytes=640, bytes_per_bank=64,
              block_bytes=96),
        _post(tracker, EVENT_ALLOC, 5, pool=DRAM, id=12, size_bytes=1024),
        _post(tracker, EVENT_TRACE_BEGIN, 9),
        _post(tracker, EVENT_ALLOC, 9, pool=DRAM, id=14, size_bytes=16),
        _post(tracker, EVENT_TRACE_END, 9),
        _post(tracker, EVENT_TRACE_BEGIN, 5),
        _post(tracker, EVENT_TRACE_END, 5),
        _post(tracker, EVENT_FREE, 5, pool=DRAM, id=12),
        _post(tracker, EVENT_ALLOC, 5, pool=DRAM, id=12, size_bytes=512),
        _post(tracker, EVENT_FREE, 5, pool=DRAM, id=12),
        _post(tracker, EVENT_PROGRAM, 5),
        _post(tracker, EVENT_PROGRAM, 5),
        _post(tracker, EVENT_CB, 5, size_bytes=256, ranges=core, range_count=1),
        _post(tracker, EVENT_DFB, 5, size_bytes=128, ranges=cores, range_count=2),
        _post(tracker, EVENT_SCRATCHPAD, 5, size_bytes=32, ranges=core, range_count=1),
        _post(tracker, EVENT_CB, 5, size_bytes=512, ranges=core, range_count=1, borrowed=True),
        _post(tracker, EVENT_FREE, 9, pool=DRAM, id=15, size_bytes=8),
        _post(tracker, EVENT_FREE, 9, pool=DRAM, id=16),
        _post(tracker, EVENT_FREE, 9, pool=DRAM, id=17),
        _post(tracker, EVENT_OP_END, 0),
    ]
    return sum(status != OK for status in statuses)


def _pool_as_tuple(usage: PoolUsage) -> Tuple[int, ...]:
    return tuple(getattr(usage, name) for name, _ in PoolUsage._fields_)


def _health_differs(tracker: c_void_p) -> bool:
    health = Health()
    lib.tts_tracker_get_health(tracker, byref(health))
    return health.events < 10 or (
        health.dropped, health.unlisted, health.unseen_frees, health.unknown_frees,
        health.doubled, health.refused) != (0, 0, 1, 2, 0, 0)


def _live_differs(tracker: c_void_p) -> bool:
    live = (Live * 4)()
    if lib.tts_tracker_live(tracker, live, 4) != 3:
        return True
    seen = [(b.id, b.size_bytes, b.bytes_per_bank, b.block_bytes, b.device, b.pool)
            for b in live[:3]]
    return seen[::2] != [(11, 4096, 0, 0, 5, DRAM), (14, 16, 0, 0, 9, DRAM)] or \
        seen[1] != (13, 640, 64, 96, 5, L1) or live[1].op != _OP or \
        not live[0].seq < live[1].seq < live[2].seq < 100


def _core_differs(core: CorePeak) -> bool:
    if (core.known, core.at_least, core.device, core.core.x, core.core.y, core.bytes,
            core.cb_bytes, core.dfb_bytes, core.scratchpad_bytes, core.l1_bytes,
            core.l1_small_bytes, core.part_count, core.unlisted, core.unlisted_bytes) != (
            True, False, 5, 3, 4, 512, 256, 128, 32, 96, 0, 4, 0, 0) or \
            not 0 < core.seq < 100 or core.op != _OP:
        return True
    parts = [(p.kind, p.bytes) for p in core.parts[:4]]
    return parts != [(EVENT_CB, 256), (EVENT_DFB, 128), (EVENT_ALLOC, 96),
                     (EVENT_SCRATCHPAD, 32)] or \
        (core.parts[2].pool, core.parts[2].id, core.parts[2].op) != (L1, 13, _OP)


def _usage_differs(usage: Usage) -> bool:
    return _pool_as_tuple(usage.pools[DRAM]) != (5136, 5648, 1544, 5136, 4104, 4, 3) or \
        _pool_as_tuple(usage.pools[L1]) != (64, 64, 0, 64, 64, 1, 0) or \
        _pool_as_tuple(usage.dram_with_trace) != _pool_as_tuple(usage.pools[DRAM]) or \
        _pool_as_tuple(usage.l1_with_small) != _pool_as_tuple(usage.pools[L1]) or \
        (usage.peak_cb_bytes, usage.peak_dfb_bytes, usage.peak_scratchpad_bytes,
         usage.peak_total_bytes, usage.programs, usage.ops, usage.traces,
         usage.traced_bytes) != (256, 128, 32, 480, 2, 1, 2, 16)


def _phase_differs(phase: Phase) -> bool:
    """Compares the numbers first. Pointers are followed only if the numbers are right."""
    if phase.device_count != 2 or not 10 < phase.events < 100 or \
            _usage_differs(phase.usage) or _core_differs(phase.usage.core):
        return True
    first, second = phase.devices[0], phase.devices[1]
    return phase.name != b"CHECK" or (first.device, second.device) != (5, 9) or \
        _pool_as_tuple(second.usage.pools[DRAM])[:3] != (16, 16, 8)


def _limits_differ() -> bool:
    """Tries, for each field, a value that is too high only for this field."""
    for name, config in ((b"live_max", TrackerConfig(2**27, 1, 1)),
                         (b"devices_max", TrackerConfig(1, 2000, 1)),
                         (b"ops_max", TrackerConfig(1, 1, 100000))):
        out, error = c_void_p(), Error()
        if lib.tts_tracker_new(byref(config), None, byref(out), byref(error)) != E_RANGE or \
                error.status != E_RANGE or name not in error.text:
            return True
    return False


def _disagreement(tracker: c_void_p, capture: c_void_p) -> Optional[str]:
    if lib.tts_capture_begin(capture, 0, None) != OK or _tell_a_story(tracker):
        return "tts_event"
    if _health_differs(tracker):
        return "tts_tracker_health"
    if _live_differs(tracker):
        return "tts_live"
    if lib.tts_capture_end(capture, b"CHECK", None) != OK or \
            lib.tts_capture_count(capture) != 1:
        return "tts_capture"
    return "tts_phase" if _phase_differs(lib.tts_capture_at(capture, 0)[0]) else None


def _recorder_differs(tracker: c_void_p) -> bool:
    """Checks the recorder without making a file: a refused configuration, and the size of the
    state."""
    out, error = c_void_p(), Error()
    config = RecorderConfig(b"/nowhere/self_check", 123456)
    if lib.tts_recorder_begin(tracker, byref(config), byref(out), byref(error)) != E_RANGE or \
            b"123456" not in error.text:
        return True
    size = ctypes.sizeof(RecorderState)
    memory = (ctypes.c_ubyte * (size + 64))(*[255] * (size + 64))
    lib.tts_recorder_get_state(None, RecorderState.from_buffer(memory))
    return any(memory[:size]) or any(byte != 255 for byte in memory[size:])


def run() -> None:
    """Posts known events to a small tracker and compares the figures. Raises ImportError if they
    differ."""
    tracker, capture, error = c_void_p(), c_void_p(), Error()
    if _limits_differ():
        raise _refusal("tts_tracker_config")
    check(lib.tts_tracker_new(byref(TrackerConfig(16, 4, 4)), None, byref(tracker),
                              byref(error)), error)
    try:
        check(lib.tts_capture_new(tracker, byref(capture), byref(error)), error)
        differs = _disagreement(tracker, capture)
        if not differs and _recorder_differs(tracker):
            differs = "tts_recorder"
        lib.tts_capture_free(capture)
    finally:
        lib.tts_tracker_free(tracker)
    if differs:
        raise _refusal(differs)


def _refusal(struct: str) -> ImportError:
    return ImportError(f"'{_native.path}' and this package have different layouts of "
                       f"'struct {struct}': install both from one release")
