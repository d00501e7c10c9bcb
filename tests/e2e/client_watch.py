#!/usr/bin/env python3
"""Prints the states of device 0 that a process publishes, each in one line when it appears.

    client_watch.py FIFO SECONDS

It prints "ready", reads the number of the process from FIFO, and then reads the client region of
the process with pread(), from the layout in docs/design/client-region.md. A state is printed if
two reads, 10 ms apart, agree. The last line is "ended", when the process ends its region. After
SECONDS it gives up.
"""

import glob
import os
import struct
import sys
import time

POOLS = "DRAM", "L1", "L1_SMALL", "TRACE"
MIB = 1048576
HEADER, DEVICE, POOL = 4096, 512, 88
STATE, OP_COUNT, OPS_OFF = 256, 308, 176


def open_region(pid, end):
    while time.monotonic() < end:
        for path in glob.glob(f"/dev/shm/ttscope_{pid}_*"):
            return os.open(path, os.O_RDONLY)
        time.sleep(0.005)
    sys.exit(f"client_watch: process {pid} publishes nothing")


def read_ops(fd):
    """Returns the names of the operations, with a semicolon before them, or nothing."""
    count, = struct.unpack("<I", os.pread(fd, 4, OP_COUNT))
    off, = struct.unpack("<Q", os.pread(fd, 8, OPS_OFF))
    names = [os.pread(fd, 64, off + 64 * i).rstrip(b"\0").decode() for i in range(count)]
    return "; in " + ", ".join(names) if names else ""


def read_state(fd):
    """Returns the state as a line, or None if there is no device yet."""
    state, devices = struct.unpack("<II", os.pread(fd, 8, STATE))
    if state != 1:
        return "ended"
    device = os.pread(fd, DEVICE, HEADER)
    if devices == 0 or struct.unpack_from("<I", device)[0] % 2:
        return None
    depth, traces = struct.unpack_from("<IQ", device, 44)
    parts = []
    for i, name in enumerate(POOLS):
        fields = struct.unpack_from("<10Q", device, 80 + POOL * i)
        counted, taken = fields[0] / MIB, fields[7] / MIB
        parts.append(f"{name} {counted:.2f}/{taken:.2f}")
    return f"{'; '.join(parts)}; capturing {depth}, traces {traces}{read_ops(fd)}"


def main():
    print("ready", flush=True)
    with open(sys.argv[1], encoding="ascii") as fifo:
        pid = int(fifo.readline())
    end = time.monotonic() + float(sys.argv[2])
    fd = open_region(pid, end)
    shown, last = None, None
    while time.monotonic() < end and shown != "ended":
        state = read_state(fd)
        if state is not None and state == last and state != shown:
            print(state, flush=True)
            shown = state
        last = state
        time.sleep(0.01)


main()
