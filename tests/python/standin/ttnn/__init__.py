"""A stand-in for ttnn: a card whose memory runs out, operations that use it, and graph captures
in the forms of January ("v1") and August ("head") 2026."""

from . import _ttnn, graph
from ._ttnn import Buffer, card, run_program

__all__ = ["Buffer", "_ttnn", "card", "graph", "run_program"]
