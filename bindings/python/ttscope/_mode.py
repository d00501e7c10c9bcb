"""Modes of a capture."""

from __future__ import annotations

import enum


class RunMode(enum.Enum):
    """With NORMAL, the program runs and is counted. With NO_DISPATCH, nothing is placed or run on
    attached devices while the capture is active, so sizes may exceed the devices. The figures
    are the same."""

    NORMAL = 0
    NO_DISPATCH = 1


NORMAL = RunMode.NORMAL
NO_DISPATCH = RunMode.NO_DISPATCH

ACCEPTED = ("ttscope.NORMAL, ttscope.NO_DISPATCH, or an enum member of that name, "
            "such as ttnn.graph.RunMode.NO_DISPATCH")


def run_mode(mode: object) -> RunMode:
    """Returns the RunMode that has the same `name` as `mode`."""
    if isinstance(mode, RunMode):
        return mode
    name = getattr(mode, "name", None)
    if not isinstance(name, str):
        raise TypeError(f"invalid mode {mode!r}: expected {ACCEPTED}")
    if name not in RunMode.__members__:
        raise ValueError(f"unknown mode {name!r}: expected {ACCEPTED}")
    return RunMode[name]
