"""Operations on whole populations of patterns at once: plain arrays in, plain arrays out, several back ends."""

from .backend import Backend, available_backends, get_backend
from .layout import (
    INFINITE,
    AxisGrid,
    Capacities,
    EquationLines,
    Equations,
    Frequencies,
    Patterns,
    Pool,
    Requirements,
    pack,
    plane_lines,
    unpack,
)
from .random import Stream

__all__ = [
    "INFINITE",
    "AxisGrid",
    "Backend",
    "Capacities",
    "EquationLines",
    "Equations",
    "Frequencies",
    "Patterns",
    "Pool",
    "Requirements",
    "Stream",
    "available_backends",
    "get_backend",
    "pack",
    "plane_lines",
    "unpack",
]
