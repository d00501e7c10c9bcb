"""The card, its buffers and its programs."""

import itertools
import os
import threading

BUFFER_TYPES = ("DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE")
_ids = itertools.count()


class _Captures(threading.local):
    """Of each thread: the captures that are open, and the hook of the first."""

    def __init__(self):
        self.open, self.is_blocking = [], False


class _Card:
    def __init__(self):
        self.captures = _Captures()
        self.reset(os.environ.get("STANDIN_GENERATION", "head"),
                   int(os.environ.get("STANDIN_MEMORY", 1 << 40)))

    def reset(self, generation="head", memory=1 << 40):
        self.generation, self.memory, self.used, self.next_address = generation, memory, 0, 1024
        self.recorded_arguments = self.crashes = 0
        self.traces = []  # all that were returned
        self.captures.open, self.captures.is_blocking = [], False

    def tell(self, what, *args):
        for capture in self.captures.open:
            getattr(capture, what)(*args)


card = _Card()


class Buffer:
    """Allocated when it is made."""

    def __init__(self, size, kind="DRAM", page=2048, cores=0, per_bank=None, device=1):
        self.id, self.size, self.kind, self.page, self.cores = next(_ids), size, kind, page, cores
        self.per_bank = -(-size // page // (cores or 64)) * page if per_bank is None else per_bank
        self.device, self.address, self.is_real = device, 0, False
        if not card.captures.is_blocking:
            if card.used + size > card.memory:
                raise RuntimeError("Out of Memory: Not enough space to allocate")
            card.used += size
            self.address, self.is_real = card.next_address, True
            card.next_address += size
        card.tell("allocate", self)

    def deallocate(self):
        card.tell("deallocate", self)
        if self.is_real:
            card.used -= self.size


def run_program(name, parts=(), chips=(0,), mesh=1):
    """`parts` are (kind, size, cores, is_borrowed)."""
    card.tell("begin_function", name)
    card.tell("program", mesh)
    for kind, size, cores, is_borrowed in parts:
        for chip in (mesh,) if card.captures.is_blocking else chips:
            card.tell("part", kind, size, cores, is_borrowed, chip)
    card.tell("end_function", name)


from . import graph  # noqa: E402,F401
