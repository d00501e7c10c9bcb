"""The runtime's own graph capture, as ttnn has it."""

from __future__ import annotations

import importlib
import sys
import threading
from types import ModuleType
from typing import Any, Optional, Tuple

from ._mode import NO_DISPATCH, RunMode
from ._notice import say_once


def find_graph() -> Tuple[Optional[Any], str]:
    """ttnn.graph, or None and the reason. Imports ttnn if nobody has."""
    try:
        module = sys.modules.get("ttnn") or importlib.import_module("ttnn")
        graph = module.graph
        for name in ("begin_graph_capture", "end_graph_capture", "RunMode"):
            getattr(graph, name)
    except Exception as error:  # without a driver or a card it can be anything
        return None, f"{type(error).__name__}: {error}"
    return graph, ""


def _plain_graph(graph: Any) -> Any:
    """The functions below those of ttnn.graph, if they are there. Those of newer runtimes
    also record the arguments of each operation, and log a line at each begin."""
    module = sys.modules.get("ttnn")
    plain = getattr(getattr(module, "_ttnn", None), "graph", None)
    if isinstance(plain, ModuleType) and hasattr(plain, "begin_graph_capture") and \
            hasattr(plain, "end_graph_capture"):
        return plain
    return graph


class GraphCapture:
    """A capture of the runtime, from its begin to its end. Newer runtimes have one list of
    captures for each thread, and taking from another thread's list crashes the process: so
    only the thread that began it can cut or end it."""

    def __init__(self, graph: Any, mode: RunMode) -> None:
        plain = _plain_graph(graph)
        self._begin, self._end = plain.begin_graph_capture, plain.end_graph_capture
        self._mode = getattr(graph.RunMode, mode.name)
        self._thread = threading.get_ident()
        self._is_active = getattr(graph, "is_graph_capture_active", lambda: False)
        self._is_inner = bool(self._is_active())
        if self._is_inner and mode is NO_DISPATCH:
            say_once("inner", "a graph capture of ttnn is active already: its run mode stays in "
                              "force, and NO_DISPATCH holds nothing back if that is NORMAL; "
                              "end it before begin_capture()")
        elif self._is_inner:
            say_once("inner", "a graph capture of ttnn is active already: end it after "
                              "end_capture(), not before")
        self._begin(self._mode)
        self.is_open = True

    @property
    def is_mine(self) -> bool:
        """Is this the thread that began it?"""
        return threading.get_ident() == self._thread

    def cut(self) -> Any:
        """The trace since the begin or the last cut. The next segment begins at once: what
        other threads allocate in between would be missed."""
        trace = self.end()
        self._begin(self._mode)
        self.is_open = True
        return trace

    def end(self) -> Any:
        """The trace since the begin or the last cut."""
        self.is_open = False
        trace = self._end()
        if not self._is_inner and self._is_active():
            say_once("open", "a graph capture of ttnn that began after begin_capture() was open "
                             "at a snapshot, which ended it: end such captures before")
        return trace
