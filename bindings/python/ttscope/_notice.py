"""Short messages for people. Each is printed once in a process."""

from __future__ import annotations

import sys
from typing import Set

_said: Set[str] = set()


def say_once(kind: str, text: str) -> None:
    """Writes `text` to stderr, unless a message of this `kind` was written before. Never
    raises: a program must not fail because its stderr is closed."""
    if kind in _said:
        return
    _said.add(kind)
    try:
        print(f"ttscope: {text}", file=sys.stderr, flush=True)
    except (AttributeError, OSError, ValueError):
        pass
