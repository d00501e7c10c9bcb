"""Converts the runtime's graph traces to events of a tracker.

A trace is a list of nodes; each node is a dict. Traces of every runtime version can be read:
numbers may be texts, and fields of newer runtimes may be missing. docs/design/graph.md describes
the nodes. The figures of a segment must be those that the runtime computes from its trace. So
all events belong to one device: the runtime adds up all devices, and counts a circular buffer
once for each chip.
"""

from __future__ import annotations

import collections
import itertools
import json
import re
from ctypes import byref
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import _native
from ._native import DRAM, L1, L1_SMALL, TRACE, CoreRange, Event, lib
from ._tracker import Tracker

# Indexed by buffer_type. The runtime counts host memory (2) as L1.
_POOLS = (DRAM, L1, L1, L1_SMALL, TRACE)
_CORES_MAX, _SIZE_MAX = 4096, 2**52
_RANGE = re.compile(r"\(x=(\d+),\s*y=(\d+)\)\s*-\s*\(x=(\d+),\s*y=(\d+)\)")
_IGNORED = frozenset(("capture_start", "capture_end", "tensor", "buffer"))
# A malformed node raises one of these and is skipped.
_BAD_NODE = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)

# Ids of buffers. They are larger than the ids of any other source.
_ids = itertools.count(1 << 62)


def nodes_of(trace: object) -> List[Any]:
    """Returns the nodes of a trace. `trace` is a list of nodes, a report that contains one, or
    the JSON text of either."""
    if isinstance(trace, (str, bytes)):
        trace = json.loads(trace)
    if isinstance(trace, dict):
        trace = trace["graph"]
    if not isinstance(trace, list):
        raise TypeError(f"a graph trace is a list of nodes, not {type(trace).__name__}")
    return trace


class _Buffer(NamedTuple):
    """The values that identify a buffer in later segments, where it has a different node."""

    device: int
    pool: int
    size: int
    per_bank: int


class GraphFeed:
    """Posts the traces of one capture to a tracker, segment by segment."""

    def __init__(self, tracker: Tracker) -> None:
        self.skipped = 0  #: unknown or malformed nodes
        self._ptr = tracker._ptr
        self._nodes: List[Any] = []
        #: Buffers allocated in this segment, by node number: id, address, values.
        self._recent: Dict[Any, Tuple[int, int, _Buffer]] = {}
        #: Buffers of earlier segments: {id: address}, oldest first.
        self._older: Dict[_Buffer, Dict[int, int]] = {}
        #: Ids of the same buffers, by address if it is known.
        self._placed: Dict[Tuple[_Buffer, int], List[int]] = collections.defaultdict(list)
        self._ranges: Dict[str, Tuple[Any, int]] = {}
        self._depth = 0
        self._tell = {
            "buffer_allocate": self._tell_alloc,
            "buffer_deallocate": self._tell_free,
            "circular_buffer_allocate": self._tell_cb,
            "dataflow_buffer_allocate": self._tell_dfb,
            "scratchpad_allocate": self._tell_scratchpad,
            "circular_buffer_deallocate_all": self._tell_program,
            "function_start": self._tell_op_begin,
            "function_end": self._tell_op_end,
        }

    def feed(self, nodes: List[Any]) -> None:
        """Posts the events of one segment, in order."""
        self._nodes = nodes
        for node in nodes:
            try:
                kind = node["node_type"]
                tell = self._tell.get(kind)
                if tell is not None:
                    tell(node, node.get("params") or {})
                elif kind not in _IGNORED:
                    self.skipped += 1
            except _BAD_NODE:
                self.skipped += 1
        while self._depth > 0:  # the segment ended inside a function
            self._tell_op_end(None, None)
        self._nodes = []
        self._keep_recent()

    # ---- buffers ----

    def _tell_alloc(self, node: Any, params: Any) -> None:
        pool = _pool(params)
        size = _number(params["size"])
        per_bank = _per_bank(params, size) if pool in (L1, L1_SMALL) else 0
        address = _optional(params, "address")
        event = Event(_native.EVENT_ALLOC, 0, pool, False, next(_ids), size, per_bank)
        event.has_address, event.address = address != 0, address
        page, cores = _optional(params, "page_size"), _optional(params, "num_cores")
        if 0 < page <= size and cores <= _CORES_MAX:
            event.page_bytes, event.cores = page, cores
        self._post(event)
        link = node["connections"][0]
        buffer = _Buffer(_optional(params, "device_id"), pool, size, per_bank)
        if link in self._recent:  # the node was allocated again: keep the old buffer by its values
            self._keep(*self._recent.pop(link))
        self._recent[link] = event.id, address, buffer

    def _tell_free(self, node: Any, params: Any) -> None:
        link = node["connections"][0]
        recent = self._recent.pop(link, None)
        if recent is not None:
            number, _, buffer = recent
        else:
            buffer = self._older_buffer(link, params)
            number = self._take_older(buffer, _optional(params, "address"))
        self._post(Event(_native.EVENT_FREE, 0, buffer.pool, False, number, buffer.size,
                         buffer.per_bank))

    def _older_buffer(self, link: int, params: Any) -> _Buffer:
        """Returns the values of a freed buffer from its own node, because frees of older runtimes
        do not have the size."""
        node = self._nodes[_number(link)]
        known = node["params"] if node["node_type"] == "buffer" else params
        pool, size = _pool(known), _number(known["size"])
        per_bank = _per_bank(params, size) if pool in (L1, L1_SMALL) else 0
        return _Buffer(_optional(known, "device_id"), pool, size, per_bank)

    def _take_older(self, buffer: _Buffer, address: int) -> int:
        """Returns the id of a buffer of an earlier segment, or an unused id if there is no such
        buffer. Without an address, any buffer with equal values is used."""
        older = self._older.get(buffer)
        if not older:
            return next(_ids)
        placed = self._placed.get((buffer, address))
        number = placed[-1] if placed else next(iter(older))
        address = older.pop(number)
        if address:
            self._placed[buffer, address].remove(number)
        return number

    def _keep(self, number: int, address: int, buffer: _Buffer) -> None:
        self._older.setdefault(buffer, {})[number] = address
        if address:
            self._placed[buffer, address].append(number)

    def _keep_recent(self) -> None:
        for known in self._recent.values():
            self._keep(*known)
        self._recent = {}

    # ---- programs and operations ----

    def _tell_cb(self, _: Any, params: Any) -> None:
        self._tell_on_cores(_native.EVENT_CB, params, params.get("globally_allocated"))

    def _tell_dfb(self, _: Any, params: Any) -> None:
        self._tell_on_cores(_native.EVENT_DFB, params, params.get("borrows_memory"))

    def _tell_scratchpad(self, _: Any, params: Any) -> None:
        self._tell_on_cores(_native.EVENT_SCRATCHPAD, params, None)

    def _tell_on_cores(self, kind: int, params: Any, borrowed: object) -> None:
        text = str(params.get("core_range_set"))
        event = Event(kind, 0, L1, borrowed in (1, "1", "true"), 0, _number(params["size"]))
        if event.borrowed:  # the address tells in which buffer it lies
            event.address = _optional(params, "address")
            event.has_address = event.address != 0
        ranges = self._ranges.get(text)
        if ranges is None:
            ranges = self._ranges[text] = _ranges_of(text)
        event.ranges, event.range_count = ranges
        status = lib.tts_tracker_post(self._ptr, byref(event), None)
        if status in (_native.E_INVALID, _native.E_RANGE):
            # The ranges overlap or are too many. Count the size on core (0, 0).
            self._ranges[text] = event.ranges, event.range_count = _ranges_of("")
            self._post(event)
        elif status != _native.OK:
            self.skipped += 1

    def _tell_program(self, _: Any, __: Any) -> None:
        self._post(Event(_native.EVENT_PROGRAM, 0))

    def _tell_op_begin(self, _: Any, params: Any) -> None:
        event = Event(_native.EVENT_OP_BEGIN)
        event.name = str(params.get("name", "")).encode("utf-8", "replace") or b"?"
        event.name_len = len(event.name)
        self._depth += 1
        self._post(event)

    def _tell_op_end(self, _: Any, __: Any) -> None:
        if self._depth > 0:  # otherwise its start is in an earlier segment
            self._depth -= 1
            self._post(Event(_native.EVENT_OP_END))

    def _post(self, event: Event) -> None:
        if lib.tts_tracker_post(self._ptr, byref(event), None) != _native.OK:
            self.skipped += 1


# ---- values of a node ----


def _number(value: Any) -> int:
    number = value if type(value) is int else int(value)
    if not 0 <= number <= _SIZE_MAX:
        raise ValueError(f"number {number} of a graph node is out of range: "
                         f"expected 0 to {_SIZE_MAX}")
    return number


def _optional(params: Any, key: str) -> int:
    """Returns 0 if the node does not have the key."""
    value = params.get(key)
    return 0 if value is None else _number(value)


def _pool(params: Any) -> int:
    kind = params.get("buffer_type")
    if kind is not None and 0 <= int(kind) < len(_POOLS):
        return _POOLS[int(kind)]
    return DRAM if params["type"] == "DRAM" else L1


def _per_bank(params: Any, size: int) -> int:
    """Returns the bytes on the fullest core. Traces of older runtimes do not have this number;
    for an interleaved buffer their tracker counts the whole buffer."""
    known: Optional[Any] = params.get("max_size_per_bank")
    if known is not None:
        return _number(known)
    page, cores = _optional(params, "page_size"), _optional(params, "num_cores") or 1
    if page == 0:
        return size
    return -(-(-(-size // page)) // cores) * page


def _ranges_of(text: str) -> Tuple[Any, int]:
    """Parses core ranges as the runtime writes them. Returns core (0, 0) if that fails."""
    found = [tuple(map(int, match)) for match in _RANGE.findall(text)]
    if not found or max(map(max, found)) > 0xFFFF:
        found = [(0, 0, 0, 0)]
    return (CoreRange * len(found))(*found), len(found)
