"""The protocol of a linear-programming solver: what goes in, what comes out, which statuses exist.

A model is `optimise cost.x` subject to `row_lower <= A x <= row_upper`, `lower <= x <= upper`, with `A`
in compressed sparse columns. A session keeps one model whose objective and bounds change between
solves, which is how an attacker works. Everything here is a float; whoever needs certainty checks the
answer in exact arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class SolveStatus(Enum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time limit"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Model:
    """A linear program in compressed sparse columns.

    `cost`, `lower`, `upper` float64[n]; `row_lower`, `row_upper` float64[m]; `start` int32[n+1],
    `index` int32[nnz], `value` float64[nnz].
    """

    cost: Floats
    lower: Floats
    upper: Floats
    row_lower: Floats
    row_upper: Floats
    start: NDArray[np.int32]
    index: NDArray[np.int32]
    value: Floats
    maximise: bool = False

    @property
    def columns(self) -> int:
        """Number of variables."""
        return len(self.cost)

    @property
    def rows(self) -> int:
        """Number of constraints."""
        return len(self.row_lower)


AT_LOWER, BASIC, AT_UPPER, AT_ZERO = -1, 0, 1, 2


@dataclass(frozen=True, eq=False)
class Basis:
    """The simplex basis of a vertex: which columns and rows are basic, and on which bound the others stand.

    `column` int8[n] is `AT_LOWER`, `BASIC`, `AT_UPPER` or `AT_ZERO` (free and not basic); `row` bool[m] says which rows
    have a basic slack. With it, whoever wants the vertex exactly needs none of the floats.
    """

    column: NDArray[np.int8]
    row: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver says: a status, a point and its row duals (empty unless optimal)."""

    status: SolveStatus
    objective: float
    x: Floats
    row_dual: Floats


@dataclass(frozen=True, eq=False)
class MipAnswer(Answer):
    """What branch and bound says: `x` is empty where no whole point was found, `bound` what none undercuts.

    Floats, the bound too: it steers a search, and is never printed as proven.
    """

    bound: float
    nodes: int
    iterations: int


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows `lower <= A x <= upper` in compressed sparse rows; without `upper` they are not limited from above."""

    lower: Floats
    start: NDArray[np.integer]
    index: NDArray[np.integer]
    value: Floats
    upper: Floats | None = None


class Session(Protocol):
    """One model, solved again and again with another objective or other bounds."""

    def set_cost(self, columns: NDArray[np.int32], cost: Floats) -> None:
        """Change the objective of some columns."""

    def set_bounds(self, columns: NDArray[np.int32], lower: Floats, upper: Floats) -> None:
        """Change the bounds of some columns."""

    def set_rows(self, lower: Floats, upper: Floats) -> None:
        """Change the bounds of all rows."""

    def solve(self, seconds: float = float("inf")) -> Answer:
        """Solve the model as it stands."""

    def basis(self) -> Basis | None:
        """The basis of the last answer, None where it is no vertex."""


class Solver(Protocol):
    """A linear-programming solver."""

    name: str

    def session(self, model: Model) -> Session:
        """A session on a model whose objective changes from one question to the next."""

    def cold_session(self, model: Model) -> Session:
        """A session on a model whose bounds and costs both change."""

    def interior_session(self, model: Model) -> Session:
        """A session on a large model that is solved once: the answer need not be a vertex."""
