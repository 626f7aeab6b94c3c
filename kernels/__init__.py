"""Operations on whole populations of patterns at once: plain arrays in, plain arrays out, several back ends."""

from .backend import Backend, available_backends, get_backend
from .layout import (
    INFINITE,
    Equations,
    Frequencies,
    Grid,
    Lines,
    Patterns,
    Plane,
    Pool,
    Tasks,
    pack,
    plane_lines,
    unpack,
)
from .random import Stream

__all__ = [
    "INFINITE",
    "Backend",
    "Equations",
    "Frequencies",
    "Grid",
    "Lines",
    "Patterns",
    "Plane",
    "Pool",
    "Stream",
    "Tasks",
    "available_backends",
    "get_backend",
    "pack",
    "plane_lines",
    "unpack",
]
