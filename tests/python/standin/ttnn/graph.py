"""What a program calls. The newest runtime has its own functions here, over those below."""

from ._ttnn.graph import RunMode, card, is_graph_capture_active
from ._ttnn import graph as _plain


def begin_graph_capture(run_mode=RunMode.NORMAL):
    card.recorded_arguments += 1
    return _plain.begin_graph_capture(run_mode)


def end_graph_capture():
    return _plain.end_graph_capture()
