"""The ctypes declarations of the library: structs, prototypes, statuses.

The structs repeat include/ttscope/{status,buffer,event,usage,capture,publish,recorder}.h field by field.
_selfcheck.py checks that the library uses the same layout.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t
from ctypes import c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, List, Optional, Tuple

from . import _library

RELEASE = "0.1.0"

OK, E_NOMEM, E_INVALID, E_RANGE, E_FULL = 0, -1, -2, -3, -4
E_NOT_FOUND, E_BUSY, E_IO, E_AMBIGUOUS = -6, -7, -9, -10

POOLS = ("DRAM", "L1", "L1_SMALL", "TRACE")
POOL_NUMBERS = {name: number for number, name in enumerate(POOLS)}
DRAM, L1, L1_SMALL, TRACE = range(4)

EVENT_ALLOC, EVENT_FREE, EVENT_PROGRAM, EVENT_CB, EVENT_DFB, EVENT_SCRATCHPAD = range(6)
EVENT_OP_BEGIN, EVENT_OP_END, EVENT_TRACE_BEGIN, EVENT_TRACE_END = range(6, 10)
PART_KINDS = {EVENT_ALLOC: "buffer", EVENT_CB: "cb", EVENT_DFB: "dfb",
              EVENT_SCRATCHPAD: "scratchpad"}

PHASE_END = "END_TRACE"
PHASE_NAME_MAX = 255


class Error(ctypes.Structure):
    _fields_ = [("status", c_int), ("sys_errno", c_int), ("offset", c_uint64),
                ("line", c_uint32), ("text", c_char * 160)]


class CoreRange(ctypes.Structure):
    _fields_ = [("x0", c_uint16), ("y0", c_uint16), ("x1", c_uint16), ("y1", c_uint16)]


class Core(ctypes.Structure):
    _fields_ = [("x", c_uint16), ("y", c_uint16)]


class Event(ctypes.Structure):
    _fields_ = [("kind", c_int), ("device", c_uint32), ("pool", c_int), ("borrowed", c_bool),
                ("id", c_uint64), ("size_bytes", c_uint64), ("bytes_per_bank", c_uint64),
                ("block_bytes", c_uint64), ("ranges", POINTER(CoreRange)),
                ("range_count", c_size_t), ("name", c_char_p), ("name_len", c_size_t),
                ("failure", c_void_p), ("has_address", c_bool), ("address", c_uint64),
                ("page_bytes", c_uint64), ("cores", c_uint32), ("placement", c_int),
                ("reserved", c_uint64 * 2)]


class PoolUsage(ctypes.Structure):
    _fields_ = [("peak_bytes", c_int64), ("allocated_bytes", c_int64), ("freed_bytes", c_int64),
                ("cumulative_peak_bytes", c_int64), ("cumulative_current_bytes", c_int64),
                ("allocations", c_uint64), ("frees", c_uint64)]


class CorePart(ctypes.Structure):
    _fields_ = [("kind", c_int), ("pool", c_int), ("id", c_uint64), ("bytes", c_uint64),
                ("op", c_char_p)]


class CorePeak(ctypes.Structure):
    _fields_ = [("known", c_bool), ("at_least", c_bool), ("device", c_uint32), ("core", Core),
                ("bytes", c_uint64), ("cb_bytes", c_uint64), ("dfb_bytes", c_uint64),
                ("scratchpad_bytes", c_uint64), ("l1_bytes", c_uint64),
                ("l1_small_bytes", c_uint64), ("seq", c_uint64), ("op", c_char_p),
                ("parts", POINTER(CorePart)), ("part_count", c_size_t),
                ("unlisted", c_uint64), ("unlisted_bytes", c_uint64)]


class Usage(ctypes.Structure):
    _fields_ = [("pools", PoolUsage * len(POOLS)), ("peak_cb_bytes", c_int64),
                ("peak_dfb_bytes", c_int64), ("peak_scratchpad_bytes", c_int64),
                ("peak_total_bytes", c_int64), ("programs", c_uint64), ("ops", c_uint64),
                ("traces", c_uint64), ("traced_bytes", c_uint64), ("core", CorePeak),
                ("dram_with_trace", PoolUsage), ("l1_with_small", PoolUsage)]


class DeviceUsage(ctypes.Structure):
    _fields_ = [("device", c_uint32), ("usage", Usage)]


class Phase(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("events", c_uint64), ("usage", Usage),
                ("devices", POINTER(DeviceUsage)), ("device_count", c_size_t)]


class TrackerConfig(ctypes.Structure):
    _fields_ = [("live_max", c_uint32), ("devices_max", c_uint32), ("ops_max", c_uint32),
                ("reserved", c_uint32 * 5)]


class Health(ctypes.Structure):
    _fields_ = [("events", c_uint64), ("dropped", c_uint64), ("unlisted", c_uint64),
                ("unseen_frees", c_uint64), ("unknown_frees", c_uint64), ("doubled", c_uint64),
                ("refused", c_uint64), ("reserved", c_uint64 * 9)]


class Live(ctypes.Structure):
    _fields_ = [("id", c_uint64), ("size_bytes", c_uint64), ("bytes_per_bank", c_uint64),
                ("block_bytes", c_uint64), ("seq", c_uint64), ("device", c_uint32),
                ("pool", c_int), ("op", c_char_p), ("reserved", c_uint64 * 2)]


class RecorderConfig(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("keep_bytes", c_uint64), ("reserved", c_uint64 * 6)]


class RecorderState(ctypes.Structure):
    _fields_ = [("is_stopped", c_bool), ("reason", Error), ("dropped", c_uint64),
                ("events", c_uint64), ("bytes", c_uint64), ("reserved", c_uint64 * 6)]


class PublishConfig(ctypes.Structure):
    _fields_ = [("directory", c_char_p), ("buffers_max", c_uint32), ("events_max", c_uint32),
                ("reserved", c_uint64 * 6)]


class PublishReport(ctypes.Structure):
    _fields_ = [("banks", c_uint32), ("padding", c_uint32), ("total_bytes", c_uint64),
                ("allocated_bytes", c_uint64), ("free_bytes", c_uint64),
                ("largest_free_bytes", c_uint64)]


class PublishFacts(ctypes.Structure):
    _fields_ = [("unique_id_known", c_bool), ("arch_known", c_bool), ("unique_id", c_uint64),
                ("arch", c_int), ("hardware_queues", c_uint32), ("dram_channels", c_uint32),
                ("grid_columns", c_uint32), ("grid_rows", c_uint32), ("reserved", c_uint64 * 4)]


class PublishState(ctypes.Structure):
    _fields_ = [("path", c_char * 256), ("events", c_uint64), ("unlisted", c_uint64),
                ("reserved", c_uint64 * 6)]


# Name, result, arguments. Opaque objects are c_void_p.
_PROTOTYPES: List[Tuple[str, Any, List[Any]]] = [
    ("tts_version", c_char_p, []),
    ("tts_status_text", c_char_p, [c_int]),
    ("tts_tracker_new", c_int,
     [POINTER(TrackerConfig), c_void_p, POINTER(c_void_p), POINTER(Error)]),
    ("tts_tracker_free", None, [c_void_p]),
    ("tts_tracker_process", c_void_p, []),
    ("tts_tracker_chip", c_int, [c_void_p, c_uint32, c_uint32, POINTER(Error)]),
    ("tts_tracker_post", c_int, [c_void_p, POINTER(Event), POINTER(Error)]),
    ("tts_tracker_get_health", None, [c_void_p, POINTER(Health)]),
    ("tts_tracker_get_held", c_uint64, [c_void_p]),
    ("tts_tracker_live", c_size_t, [c_void_p, POINTER(Live), c_size_t]),
    ("tts_capture_new", c_int, [c_void_p, POINTER(c_void_p), POINTER(Error)]),
    ("tts_capture_free", None, [c_void_p]),
    ("tts_capture_begin", c_int, [c_void_p, c_int, POINTER(Error)]),
    ("tts_capture_snapshot", c_int, [c_void_p, c_char_p, POINTER(Error)]),
    ("tts_capture_end", c_int, [c_void_p, c_char_p, POINTER(Error)]),
    ("tts_capture_clear", None, [c_void_p]),
    ("tts_capture_is_active", c_bool, [c_void_p]),
    ("tts_capture_count", c_size_t, [c_void_p]),
    ("tts_capture_at", POINTER(Phase), [c_void_p, c_size_t]),
    ("tts_phase_name_clip", c_size_t, [c_char_p, c_char_p]),
    ("tts_capture_text", c_size_t, [c_void_p, c_char_p, c_size_t]),
    ("tts_capture_cores_text", c_size_t, [c_void_p, c_char_p, c_size_t]),
    ("tts_publish_begin", c_int, [c_void_p, POINTER(PublishConfig), POINTER(Error)]),
    ("tts_publish_end", None, [c_void_p]),
    ("tts_publish_is_on", c_bool, [c_void_p]),
    ("tts_publish_pool", c_int,
     [c_void_p, c_uint32, c_int, POINTER(PublishReport), c_uint64, POINTER(Error)]),
    ("tts_publish_device", c_int,
     [c_void_p, c_uint32, POINTER(PublishFacts), POINTER(Error)]),
    ("tts_publish_get_state", None, [c_void_p, POINTER(PublishState)]),
    ("tts_recorder_begin", c_int,
     [c_void_p, POINTER(RecorderConfig), POINTER(c_void_p), POINTER(Error)]),
    ("tts_recorder_get_state", None, [c_void_p, POINTER(RecorderState)]),
    ("tts_recorder_end", c_int, [c_void_p, POINTER(RecorderState), POINTER(Error)]),
]

_EXCEPTIONS = {E_NOMEM: MemoryError, E_INVALID: ValueError, E_RANGE: ValueError,
               E_NOT_FOUND: LookupError, E_AMBIGUOUS: LookupError, E_IO: OSError}


def check(status: int, error: Error) -> None:
    """Raises the exception for `status`, with the text of the library. Returns if it is OK."""
    if status == OK:
        return
    text = error.text or lib.tts_status_text(status) or b"failed"
    raise _EXCEPTIONS.get(status, RuntimeError)(decode(text))


def decode(text: Optional[bytes]) -> str:
    return (text or b"").decode("utf-8", "replace")


def decode_or_none(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else decode(text)


def encode_name(name: object) -> bytes:
    """Encodes the name of a phase for C. Unpaired surrogates and NUL become '?'."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    return name.encode("utf-8", "replace").replace(b"\0", b"?")


def kept_name(name: str) -> str:
    """Returns the name under which a phase called `name` is stored. A long name is shortened."""
    out = ctypes.create_string_buffer(PHASE_NAME_MAX + 1)
    lib.tts_phase_name_clip(encode_name(name), out)
    return decode(out.value)


def _declare(library: ctypes.CDLL, path: str) -> None:
    for name, result, arguments in _PROTOTYPES:
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(
                f"the library '{path}' has no function '{name}': install libttscope {RELEASE}"
            ) from None
        function.restype = result
        function.argtypes = arguments


def _check_release(library: ctypes.CDLL, path: str) -> None:
    """Checks the version. The binary interface is stable within 0.1, and from 1.0 on within a
    major release."""
    have = decode(library.tts_version()).split(".")
    want = RELEASE.split(".")
    alike = 2 if want[0] == "0" else 1
    if have[:alike] != want[:alike]:
        raise ImportError(
            f"'{path}' is libttscope {'.'.join(have)}, this package needs {RELEASE}: "
            "install both from one release"
        )


def _open() -> Tuple[ctypes.CDLL, str]:
    library, path = _library.load_present() or _library.load()
    _declare(library, path)
    _check_release(library, path)
    return library, path


lib, path = _open()
