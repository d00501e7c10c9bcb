"""The graph capture of the runtime, called through ttnn."""

from __future__ import annotations

import importlib
import sys
import threading
from types import ModuleType
from typing import Any, Optional, Tuple

from ._mode import NO_DISPATCH, RunMode
from ._notice import say_once


def find_graph() -> Tuple[Optional[Any], str]:
    """Returns ttnn.graph, or None and the reason. Imports ttnn if necessary."""
    try:
        module = sys.modules.get("ttnn") or importlib.import_module("ttnn")
        graph = module.graph
        for name in ("begin_graph_capture", "end_graph_capture", "RunMode"):
            getattr(graph, name)
    except Exception as error:  # without a driver or a card, any exception is possible
        return None, f"{type(error).__name__}: {error}"
    return graph, ""


def _plain_graph(graph: Any) -> Any:
    """Returns the lower-level module that ttnn.graph wraps, or `graph` if it wraps no module. In
    newer runtimes the wrappers also record the arguments of each operation, and log a line at
    each begin."""
    module = sys.modules.get("ttnn")
    plain = getattr(getattr(module, "_ttnn", None), "graph", None)
    if isinstance(plain, ModuleType) and hasattr(plain, "begin_graph_capture") and \
            hasattr(plain, "end_graph_capture"):
        return plain
    return graph


class GraphCapture:
    """A graph capture of the runtime. Newer runtimes have one list of captures for each thread,
    and removing from the list of another thread crashes the process. So only the thread that
    began the capture can cut or end it."""

    def __init__(self, graph: Any, mode: RunMode) -> None:
        plain = _plain_graph(graph)
        self._begin, self._end = plain.begin_graph_capture, plain.end_graph_capture
        self._mode = getattr(graph.RunMode, mode.name)
        self._thread = threading.get_ident()
        self._is_active = getattr(graph, "is_graph_capture_active", lambda: False)
        self._is_inner = bool(self._is_active())
        if self._is_inner and mode is NO_DISPATCH:
            say_once("inner", "a graph capture of ttnn is active already: end the capture of ttnn "
                              "before begin_capture(); until then the run mode of ttnn applies, "
                              "and NO_DISPATCH may have no effect")
        elif self._is_inner:
            say_once("inner", "a graph capture of ttnn is active already: call end_capture() "
                              "before the capture of ttnn ends")
        self._begin(self._mode)
        self.is_open = True

    @property
    def is_mine(self) -> bool:
        """Whether this thread began the capture."""
        return threading.get_ident() == self._thread

    def cut(self) -> Any:
        """Returns the trace since the begin or the last cut. The next segment begins at once,
        because allocations of other threads in between would be missed."""
        trace = self.end()
        self._begin(self._mode)
        self.is_open = True
        return trace

    def end(self) -> Any:
        """Ends the capture and returns the trace since the begin or the last cut."""
        self.is_open = False
        trace = self._end()
        if not self._is_inner and self._is_active():
            say_once("open", "snapshot() ended a graph capture of ttnn that began after "
                             "begin_capture(): end such captures before snapshot()")
        return trace
