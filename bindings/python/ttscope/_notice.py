"""Short messages for people, each once in a process."""

from __future__ import annotations

import sys
from typing import Set

_said: Set[str] = set()


def say_once(kind: str, text: str) -> None:
    """Writes `text` to stderr, unless something of this `kind` was written before. Never
    raises: a program does not end because its stderr is closed."""
    if kind in _said:
        return
    _said.add(kind)
    try:
        print(f"ttscope: {text}", file=sys.stderr, flush=True)
    except (AttributeError, OSError, ValueError):
        pass
