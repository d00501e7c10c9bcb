#!/usr/bin/env python3
"""The first iteration of a small training loop, tracked.

    PYTHONPATH=bindings/python examples/tracked_loop.py [--no-dispatch] [--scale N]

The loop of tracked_loop.c without a device: it tells of its memory by plain calls, so any scale
fits, and the figures are the same. With TTSCOPE=1 in the environment, `ttscope top` shows the loop.
"""

import argparse
import itertools
import sys

import ttscope

MIB, TILE = 1048576, 2048
EVERY_CORE, FIRST_ROW, OTHER_ROWS = (0, 0, 7, 7), (0, 0, 7, 0), (0, 1, 7, 7)

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("--no-dispatch", action="store_true", help="nothing is placed or run")
options.add_argument("--scale", type=int, default=1, help="how many times as large its tensors are")
options = options.parse_args()
if not 1 <= options.scale <= 1000000:
    sys.exit("tracked_loop: --scale is 1 to 1000000")

tracker = ttscope.process_tracker()
ids = itertools.count(1)

# ---- what a program does on a device ----


def tensor(mib):
    return buffer(mib * MIB * options.scale)


def buffer(size):
    new = next(ids)
    tracker.alloc(new, size)
    return new


def l1_block(tiles):
    """So many tiles on each of the 64 cores."""
    new = next(ids)
    tracker.alloc(new, 64 * tiles * TILE, "L1", bytes_per_bank=tiles * TILE)
    return new


def drop(*buffers):
    for each in buffers:
        tracker.free(each)


def program(*cbs):
    """Circular buffers, as (cores, tiles)."""
    tracker.program()
    for cores, tiles in cbs:
        tracker.cb(tiles * TILE, [cores])


# ---- operations: what they allocate, and the circular buffers of their programs ----


def eltwise(name, mib):
    with tracker.op(name):
        out = tensor(mib)
        program((EVERY_CORE, 2), (EVERY_CORE, 2))
    return out


def full(mib):
    with tracker.op("full"):
        out = tensor(mib)
        program((EVERY_CORE, 8))
    return out


def matmul(mib):
    """The first row of cores reads and the others compute: no core has both inputs."""
    with tracker.op("matmul"):
        out = tensor(mib)
        block = l1_block(96)
        program((FIRST_ROW, 32), (OTHER_ROWS, 64), (EVERY_CORE, 16))
    drop(block)
    return out


def matmul_backward(weight_mib, grad_mib=None):
    """The gradients of the weight and, where it has one, of the input."""
    with tracker.op("matmul_backward"):
        weight_grad = tensor(weight_mib)
        grad = tensor(grad_mib) if grad_mib else None
        block = l1_block(80)
        program((EVERY_CORE, 32), (EVERY_CORE, 32), (EVERY_CORE, 24))
    drop(block)
    return weight_grad, grad


def adamw(mib):
    with tracker.op("adamw"):
        update = tensor(mib)
        program(*4 * [(EVERY_CORE, 32)])
    drop(update)


def upload(mib):
    """The rows as they come from the host, then the tiles."""
    rows = tensor(mib)
    tiles = eltwise("tilize", mib)
    drop(rows)
    return tiles


# ---- the loop: two layers, of 8 and 4 MiB ----

mode = ttscope.NO_DISPATCH if options.no_dispatch else ttscope.NORMAL
with ttscope.capture(mode, tracker=tracker) as c:
    weights = upload(8), upload(4)
    c.snapshot("MODEL_CREATION")

    moments = [full(mib) for mib in (8, 8, 4, 4)]
    c.snapshot("OPTIMIZER_CREATION")

    x = tensor(2)
    hidden = matmul(6)
    active = eltwise("relu", 6)
    y = matmul(3)
    squares = eltwise("mse", 3)
    loss = buffer(TILE)
    drop(squares)
    c.snapshot("FORWARD_PASS")

    y_grad = eltwise("mse_backward", 3)
    weight2_grad, active_grad = matmul_backward(4, 6)
    drop(y, y_grad)
    hidden_grad = eltwise("relu_backward", 6)
    drop(active, active_grad)
    weight1_grad, _ = matmul_backward(8)
    drop(hidden, hidden_grad)
    c.snapshot("BACKWARD_PASS")

    adamw(8)
    adamw(4)
    drop(weight1_grad, weight2_grad, x, loss)
    c.end("FIRST_ITERATION_COMPLETE")

c.print()
print(c.cores_text(), end="")
