"""Graph captures. A list of them is the thread's own, as in the newest runtime."""

import enum
import json

from . import BUFFER_TYPES, card


class RunMode(enum.Enum):
    NORMAL = 0
    NO_DISPATCH = 1


class _Capture:
    def __init__(self, mode):
        self.nodes, self.stack, self.buffers = [], [0], {}
        self.owns_hook = not card.captures.open
        if self.owns_hook:
            card.captures.is_blocking = mode is RunMode.NO_DISPATCH
        self.add("capture_start", {}, level=0)

    def add(self, kind, params, connections=(), level=None):
        """Numbers are numbers in the newest form, and all was text before."""
        is_head = card.generation == "head"
        params = {key: value if is_head else str(value) for key, value in params.items()}
        self.nodes.append({
            "counter": len(self.nodes), "node_type": kind,
            "params": params or (None if is_head else {}), "arguments": [],
            "connections": list(connections), "input_tensors": [],
            "stacking_level": len(self.stack) - 1 if level is None else level})
        return len(self.nodes) - 1

    def head(self, **params):
        return params if card.generation == "head" else {}

    def node_of(self, buffer):
        if buffer.id not in self.buffers:
            self.buffers[buffer.id] = self.add("buffer", {
                "size": buffer.size, "type": _type(buffer), "layout": "INTERLEAVED",
                **self.head(buffer_type=BUFFER_TYPES.index(buffer.kind)),
                "device_id": buffer.device})
        return self.buffers[buffer.id]

    def request(self, buffer):
        return {"size": buffer.size, "type": _type(buffer), "layout": "INTERLEAVED",
                "page_size": buffer.page, "num_cores": buffer.cores, "device_id": buffer.device,
                **self.head(buffer_type=BUFFER_TYPES.index(buffer.kind),
                            max_size_per_bank=buffer.per_bank)}

    def allocate(self, buffer):
        link = self.node_of(buffer)
        self.add("buffer_allocate", {**self.request(buffer), "address": buffer.address}, [link])

    def deallocate(self, buffer):
        link = self.node_of(buffer)
        self.add("buffer_deallocate",
                 {**self.request(buffer), **self.head(address=buffer.address)}, [link])

    def program(self, mesh):
        self.add("circular_buffer_deallocate_all", {"device_id": mesh}, [self.stack[-1]])

    def part(self, kind, size, cores, is_borrowed, device):
        text = ", ".join(f"[(x={a},y={b}) - (x={c},y={d})]" for a, b, c, d in cores)
        flag = {"circular_buffer": "globally_allocated", "dataflow_buffer": "borrows_memory"}
        self.add(f"{kind}_allocate", {
            "size": size, "address": 0, "core_range_set": "{" + text + "}", "device_id": device,
            **({flag[kind]: str(int(is_borrowed))} if kind in flag else {})})

    def begin_function(self, name):
        self.stack.append(self.add("function_start", {"name": name, "inputs": "2"}))

    def end_function(self, name):
        self.add("function_end", {"name": name})
        if len(self.stack) > 1:
            self.stack.pop()


def _type(buffer):
    return "DRAM" if buffer.kind in ("DRAM", "TRACE") else "L1"


def begin_graph_capture(run_mode=RunMode.NORMAL):
    assert isinstance(run_mode, RunMode), run_mode
    capture = _Capture(run_mode)
    card.captures.open.append(capture)


def end_graph_capture():
    if not card.captures.open:
        card.crashes += 1
        raise SystemError("the runtime would crash: no capture is open on this thread")
    capture = card.captures.open.pop()
    if capture.owns_hook:
        card.captures.is_blocking = False
    capture.add("capture_end", {}, level=0)
    card.traces.append(capture.nodes)
    return json.loads(json.dumps(capture.nodes))


def is_graph_capture_active():
    return bool(card.captures.open)
