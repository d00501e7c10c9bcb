"""A stand-in for ttnn: a card whose memory runs out, operations that use it, and graph captures
in the forms of January ("v1") and August ("head") 2026."""

from . import _ttnn, graph
from ._ttnn import Buffer, card, run_program

__all__ = ["Buffer", "_ttnn", "card", "graph", "run_program"]

bfloat16, TILE_LAYOUT = "bfloat16", "TILE"


def open_device(device_id):
    return device_id


def close_device(device):
    pass


def zeros(shape, dtype, layout, device):
    assert (dtype, layout, device) == (bfloat16, TILE_LAYOUT, 0)
    return Buffer(2 * shape[0] * shape[1])


def relu(tensor):
    out = Buffer(tensor.size)
    run_program("UnaryDeviceOperation", [("circular_buffer", 262144, [(0, 0, 7, 7)], False)])
    return out


def deallocate(tensor):
    tensor.deallocate()
