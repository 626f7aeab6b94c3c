"""The kinds of tables that engines are compared on, and how long each run may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpuga.files.read import read_table
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table


@dataclass(frozen=True)
class Kind:
    """A family of generated tables, one per seed, with the seconds that a run on one of them gets."""

    name: str
    make: Callable[[int], Table]
    seconds: float


def _herrington(rows: int, columns: int, share: float, seconds: float) -> Kind:
    name = f"herrington-{rows}x{columns}-{100 * share:g}%"
    return Kind(name, lambda seed: herrington(rows, columns, share, seed), seconds)


def _smith(shape: tuple[int, int, int], share: float, seconds: float) -> Kind:
    name = f"smith3d-{'x'.join(map(str, shape))}-{100 * share:g}%"
    return Kind(name, lambda seed: smith3d(shape, share, 0.1, seed), seconds)


def kind_of_file(path: str) -> Kind:
    """A table of a file as a kind of its own; every seed gives the same table."""
    return Kind(Path(path).stem, lambda seed: read_table(path), 60)


KINDS = {
    kind.name: kind
    for kind in (
        _herrington(100, 100, 0.005, 15),
        _herrington(100, 100, 0.01, 15),
        _herrington(100, 100, 0.03, 15),
        _herrington(400, 250, 0.0025, 30),
        _herrington(400, 250, 0.01, 30),
        _smith((20, 10, 10), 0.01, 60),
        _smith((20, 10, 10), 0.05, 60),
        _smith((16, 16, 16), 0.05, 30),
        _smith((29, 29, 29), 0.05, 60),
    )
}
QUICK = (_herrington(30, 30, 0.02, 2), _smith((6, 5, 4), 0.05, 2))
