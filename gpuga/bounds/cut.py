"""What a cut is, and who finds them: the two protocols that master, tree and search are written against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gpuga.context import Clock
from gpuga.table.table import Ints, Mask, Table

Floats = NDArray[np.float64]
Key = tuple[object, ...]
Batches = Iterator[Sequence["Cut"]]
"""Cuts in batches, the cheapest to find first; whoever has enough asks for no more."""


class Cut(Protocol):
    """`sum(coefficient * x) >= rhs` in integers; holds for some cheapest safe pattern, and for all that matter.

    Solvers see rows divided by `scale`, in which no coefficient is beyond `widest`.
    """

    @property
    def key(self) -> Key:
        """Equal for equal cuts."""

    @property
    def rhs(self) -> int:
        """The right-hand side."""

    @property
    def scale(self) -> int:
        """What rows of a solver are divided by: the right-hand side, where there is one."""

    @property
    def widest(self) -> float:
        """No coefficient is larger in size than this times the scale; at least 1."""

    def coefficients(self, columns: Ints) -> Ints:
        """The coefficients of the given columns (int64)."""

    def entries(self, columns: Ints, position: Ints) -> tuple[Ints, Ints]:
        """Where its columns stand among `columns` (`position` int64[n] says it, -1: nowhere), and coefficients."""


class Effort(NamedTuple):
    """How much work pays: to separate is to send flows here, to solve linear programs there.

    `few` cuts are too few to go on with, at the root (while its bound moves, then when it stalls) and at a node.
    After `patience` rounds without progress the root is left; tight rows may be spared there, because sums are made
    of them, whether or not they bear on the bound. At a node `rounds` of cuts are made in any case, and more while
    each closes the share `gain` of its gap. So many columns are `tried` before one is branched on (at the first
    nodes, then at others), each for so many simplex `iterations`. Each time that the point of a node, or of a dive, is
    rounded in vain, the next one comes `pause` times as late. Entering a node, rows that bore on none of the latest
    bounds are `dropped`: on none of how many, and which share of all rows it must be. With `devex` the solver weighs
    rows anew from the program that it is given, instead of computing their exact weights first. After `look` nodes the
    tree's cuts are used to look around the incumbent (0: never), then ever more seldom.
    """

    few: tuple[int, int]
    few_at_node: int
    patience: int
    spares_tight: bool
    rounds: int
    gain: float
    tried: tuple[int, int]
    iterations: int
    pause: int
    dropped: tuple[int, float]
    devex: bool
    look: int


class Separator(Protocol):
    """Finds the cuts of one problem that a point violates. Points are over all columns (float64[n]).

    `cell` int64[n] is the table's cell of each column, `weight` int64[n] what it costs, `candidate` bool[n] says which
    columns there are, `core` which of them a program begins with.
    """

    table: Table
    cell: Ints
    weight: Ints
    candidate: Mask
    effort: Effort

    @property
    def core(self) -> Mask:
        """The columns that a program begins with."""

    def first(self) -> Sequence[Cut]:
        """The cuts that a program begins with."""

    def at_root(self, x: Floats, cuts: Sequence[Cut], clock: Clock) -> Batches:
        """Cuts for the root of a tree; `cuts` are the rows of its program."""

    def at_node(self, x: Floats, cuts: Sequence[Cut], thorough: bool, clock: Clock) -> Batches:
        """Cuts for a node, where time is short, or (`thorough`) for a dive; `cuts` are the rows of its program."""

    def at_whole(self, x: Floats, clock: Clock) -> Batches:
        """Cuts for a whole point; none where it is a safe pattern."""

    def deepen(self) -> bool:
        """Ask for stronger cuts from now on; False where they are asked for already."""

    def derivations(self, cuts: Sequence[Cut]) -> list[list[Any]]:
        """How cuts are derived, for the checker of proofs; those that have no derivation are left out."""


def first_of(batches: Batches) -> list[Cut]:
    """The first batch that is not empty."""
    return next((list(batch) for batch in batches if batch), [])
