"""Which suppressed cells of a pattern are redundant, by a tableau in floats: what it says is confirmed exactly later.

Cells are asked about by falling weight. One is redundant if every requirement whose change moves it has another change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.tableau import CLOSE, Floats, Positions, Tableau, fix, reaches, tableau_of
from gpuga.compiled import bare, compiled
from gpuga.safety.requirements import Requirements
from gpuga.safety.witness import rationalise, witness_of
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

CELLS_AT_ONCE = 4
"""Cells between two looks at the clock."""

FRESH = 20_000_000
"""Entries that may be changed before the tableau is taken from its copy again, without what rounding did to it."""

MOST_WORK = 20_000_000_000
"""Entries that one clean-up may change: a count, so that a run can be repeated."""


class Questions(NamedTuple):
    """The requirements as columns of a tableau, and which columns their changes move: `uses` bool[T, n].

    `failed` int64[T] says at which of the `failures` a requirement had no other change: the last are asked first.
    `changed` bool[T, n] are the changes of the trial that goes on, `waiting` int64[T] its requirements.
    """

    column: Positions
    sign: Floats
    need: Floats
    uses: Mask
    changed: Mask
    failed: Positions
    failures: Positions
    waiting: Positions


class Redundancy:
    """The redundant cells of one pattern whose requirements have changes already."""

    def __init__(
        self, table: Table, suppressed: Mask, requirements: Requirements, moved: Sequence[NDArray[np.int32]]
    ) -> None:
        self.table, self.requirements = table, requirements
        self.cells = np.flatnonzero(suppressed).astype(np.int32)
        column = np.cumsum(suppressed) - 1
        self.tableau = tableau_of(table, suppressed)
        self._copy = _copied(self.tableau)
        uses = np.zeros((len(requirements), len(self.cells)), bool)
        for requirement, cells in enumerate(moved):
            uses[requirement, column[cells]] = True
        self._questions = Questions(
            column=column[requirements.cell].astype(np.int64),
            sign=requirements.direction.astype(np.float64),
            need=requirements.need.astype(np.float64),
            uses=uses,
            changed=np.zeros_like(uses),
            failed=np.zeros(len(requirements), np.int64),
            failures=np.zeros(1, np.int64),
            waiting=np.zeros(len(requirements), np.int64),
        )

    def found(self, asked: Mask, expired: Callable[[], bool]) -> Ints:
        """Those of the cells `asked` about that are redundant together; looks for them until the time is up."""
        gone, columns = np.zeros(len(self.cells), bool), np.flatnonzero(asked[self.cells])
        order = columns[np.argsort(-self.table.weight[self.cells[columns]], kind="stable")]
        for begin in range(0, len(order), CELLS_AT_ONCE):
            if expired() or self.tableau.live[1] > MOST_WORK:
                break
            _try(self.tableau, self._copy, self._questions, order[begin : begin + CELLS_AT_ONCE], gone)
        return self.cells[gone].astype(np.int64)

    def changes(self, requirements: Iterable[int]) -> Iterator[Witnesses]:
        """Changes that may prove these requirements without the redundant cells, read from floats: one for each."""
        question = self._questions
        for requirement in requirements:
            if _one(
                self.tableau, int(question.column[requirement]), question.sign[requirement], question.need[requirement]
            ):
                amounts = rationalise(self.tableau.moved)
                if amounts is not None:
                    yield witness_of(self.cells, *amounts)


def _copied(tableau: Tableau) -> Tableau:
    return Tableau(**{name: part.copy() for name, part in tableau._asdict().items()})


@compiled
def _one(tableau: Tableau, column: int, sign: float, need: float) -> bool:
    return reaches(tableau, column, sign, need)


@compiled
def _try(tableau: Tableau, copy: Tableau, questions: Questions, columns: Positions, gone: Mask) -> None:
    """Fix these columns one after the other where every requirement that uses one has another change."""
    for column in columns:
        if tableau.live[1] - copy.live[1] > FRESH:
            _take_copy(tableau, copy)
        low, high = tableau.low[column], tableau.high[column]
        tableau.low[column], tableau.high[column] = 0.0, 0.0
        if _all_change(tableau, questions, column):
            gone[column] = True
            _take_copy(tableau, copy)
            fix(tableau, column)
            _take_copy(copy, tableau)
        else:
            tableau.low[column], tableau.high[column] = low, high


@bare
def _take_copy(tableau: Tableau, copy: Tableau) -> None:
    """Let a tableau be as its copy, but for the work that was done."""
    work = max(tableau.live[1], copy.live[1])
    for i in range(tableau.entry.shape[0]):
        for j in range(tableau.entry.shape[1]):
            tableau.entry[i, j] = copy.entry[i, j]
        tableau.basic[i] = copy.basic[i]
    for j in range(tableau.entry.shape[1]):
        tableau.nonbasic[j] = copy.nonbasic[j]
    for k in range(tableau.place.shape[0]):
        tableau.place[k] = copy.place[k]
    tableau.live[0] = copy.live[0]
    tableau.live[1] = work
    copy.live[1] = work


@bare
def _all_change(tableau: Tableau, questions: Questions, column: int) -> bool:
    """Whether every requirement that uses a column has a change without it; then these are its changes from now on."""
    size = _gather(questions, column)
    for x in range(size):
        requirement = questions.waiting[x]
        if questions.changed[requirement, column]:
            continue
        if not reaches(
            tableau, questions.column[requirement], questions.sign[requirement], questions.need[requirement]
        ):
            questions.failures[0] += 1
            questions.failed[requirement] = questions.failures[0]
            return False
        _share(tableau, questions, column, x, size)
    for x in range(size):
        requirement = questions.waiting[x]
        for k in range(questions.uses.shape[1]):
            questions.uses[requirement, k] = questions.changed[requirement, k]
        questions.uses[requirement, column] = False
    return True


@bare
def _gather(questions: Questions, column: int) -> int:
    """The requirements that use a column into `waiting`, those that failed last first; returns how many."""
    size = 0
    for requirement in range(questions.column.shape[0]):
        if questions.uses[requirement, column]:
            # a mark in the column itself, which no change moves any more, says that a requirement has its new change
            questions.changed[requirement, column] = False
            x = size
            while x > 0 and questions.failed[questions.waiting[x - 1]] < questions.failed[requirement]:
                questions.waiting[x] = questions.waiting[x - 1]
                x -= 1
            questions.waiting[x] = requirement
            size += 1
    return size


@bare
def _share(tableau: Tableau, questions: Questions, column: int, begin: int, size: int) -> None:
    """Give the change that was found to all waiting requirements that it, or its reverse, proves."""
    moved, least = tableau.moved, CLOSE * questions.need[questions.waiting[begin]]
    back = np.inf
    for k in range(moved.shape[0]):
        if moved[k] > least:
            back = min(back, -tableau.low[k] / moved[k])
        elif moved[k] < -least:
            back = min(back, -tableau.high[k] / moved[k])
    for x in range(begin, size):
        requirement = questions.waiting[x]
        amount, need = (
            moved[questions.column[requirement]] * questions.sign[requirement],
            questions.need[requirement] * (1.0 - CLOSE),
        )
        if not questions.changed[requirement, column] and (amount >= need or (amount < 0 and -amount * back >= need)):
            for k in range(moved.shape[0]):
                questions.changed[requirement, k] = abs(moved[k]) > least
            questions.changed[requirement, column] = True
