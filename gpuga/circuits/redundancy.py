"""Which suppressed cells of a pattern are redundant, by a tableau in floats: what it says is confirmed exactly later.

Cells are asked about by falling weight. One is redundant if every requirement whose change moves it has another change.
That is looked for from the change itself: what it moves through the cell has to find another way, the rest stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.tableau import (
    BLOCKED,
    CLOSE,
    ON_THE_WAY,
    THERE,
    Floats,
    Positions,
    Tableau,
    fix,
    goes_on,
    reaches,
    tableau_of,
)
from gpuga.compiled import bare, compiled
from gpuga.safety.requirements import Requirements
from gpuga.safety.witness import rationalise, witness_of
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

CELLS_AT_ONCE = 4
"""Cells between two looks at the clock."""

FRESH = 50
"""Steps before the tableau is taken from its copy again, without what rounding did to it."""

MOST_TURNS = 8
"""How many times so many steps one requirement may take."""

ROUNDED = 1e-7
"""How much of a need rounding may take: the exact check decides."""

MOST_WORK = 20_000_000_000
"""Entries that one clean-up may change: a count, so that a run can be repeated."""


Change = tuple[NDArray[np.int32], Floats]
"""The cells that a change moves, and by how much."""

NO_CHANGE: Change = np.zeros(0, np.int32), np.zeros(0)


class Questions(NamedTuple):
    """The requirements as columns of a tableau, and what their changes move: `amount` float64[T, n], exactly as needed.

    `failed` int64[T] says at which of the `failures` a requirement had no other change: the last are asked first.
    `blocked` int64[n] is which requirement had no other change without a column when it was last asked, -1 if none.
    `changed` float64[T, n] are the changes of the trial that goes on, `waiting` int64[T] its requirements, of which
    `done` bool[T] have their new change.
    """

    column: Positions
    sign: Floats
    need: Floats
    amount: Floats
    changed: Floats
    done: Mask
    failed: Positions
    failures: Positions
    blocked: Positions
    waiting: Positions


class Redundancy:
    """The redundant cells of one pattern whose requirements have changes already.

    `blocked` int64[cells of the table] says which requirement needed each cell in the patterns before, -1 if none: it
    is asked first, and most cells are needed by the same one again.
    """

    def __init__(
        self,
        table: Table,
        suppressed: Mask,
        requirements: Requirements,
        changes: Sequence[Change],
        blocked: Ints | None = None,
    ) -> None:
        self.table, self.requirements = table, requirements
        self._blocked = nothing_blocked(table) if blocked is None else blocked
        self.cells = np.flatnonzero(suppressed).astype(np.int32)
        column = np.cumsum(suppressed) - 1
        self.tableau = tableau_of(table, suppressed)
        self._copy = _copied(self.tableau)
        amount = np.zeros((len(requirements), len(self.cells)))
        for requirement, (cells, moved) in enumerate(changes):
            amount[requirement, column[cells]] = moved
        self._questions = Questions(
            column=column[requirements.cell].astype(np.int64),
            sign=requirements.direction.astype(np.float64),
            need=requirements.need.astype(np.float64),
            amount=amount,
            changed=np.zeros_like(amount),
            done=np.zeros(len(requirements), bool),
            failed=np.zeros(len(requirements), np.int64),
            failures=np.zeros(1, np.int64),
            blocked=self._blocked[self.cells],
            waiting=np.zeros(len(requirements), np.int64),
        )
        _scale(self._questions)

    def found(self, asked: Mask, expired: Callable[[], bool]) -> Ints:
        """Those of the cells `asked` about that are redundant together; looks for them until the time is up."""
        gone, columns = np.zeros(len(self.cells), bool), np.flatnonzero(asked[self.cells])
        order = columns[np.argsort(-self.table.weight[self.cells[columns]], kind="stable")]
        for begin in range(0, len(order), CELLS_AT_ONCE):
            if expired() or self.tableau.live[1] > MOST_WORK:
                break
            _try(self.tableau, self._copy, self._questions, order[begin : begin + CELLS_AT_ONCE], gone)
        self._blocked[self.cells] = self._questions.blocked
        return self.cells[gone].astype(np.int64)

    def reach(self, requirements: Ints) -> Mask:
        """Which of some requirements have a change inside the pattern; these are their changes from now on."""
        return _reach(self.tableau, self._copy, self._questions, requirements)

    def change(self, requirement: int) -> Change:
        """What the change of a requirement moves."""
        amount = self._questions.amount[requirement]
        moved = np.flatnonzero(amount)
        return self.cells[moved], amount[moved]

    def changes(self, requirements: Iterable[int]) -> Iterator[Witnesses]:
        """Changes that may prove these requirements without the redundant cells, read from floats: one for each."""
        asked = self._questions
        for one in requirements:
            if _one(self.tableau, self._copy, int(asked.column[one]), asked.sign[one], asked.need[one]):
                amounts = rationalise(self.tableau.moved)
                if amounts is not None:
                    yield witness_of(self.cells, *amounts)


def nothing_blocked(table: Table) -> Ints:
    """What is known before anything was asked (int64[n])."""
    return np.full(len(table), -1, np.int64)


def _copied(tableau: Tableau) -> Tableau:
    return Tableau(**{name: part.copy() for name, part in tableau._asdict().items()})


@compiled
def _one(tableau: Tableau, copy: Tableau, column: int, sign: float, need: float) -> bool:
    _refresh(tableau, copy)
    return reaches(tableau, column, sign, need)


@compiled
def _scale(questions: Questions) -> None:
    """Scale changes that move more than is needed down to that."""
    for requirement in range(questions.column.shape[0]):
        amount = questions.amount[requirement, questions.column[requirement]] * questions.sign[requirement]
        if amount > questions.need[requirement]:
            _note(questions, questions.amount, requirement, questions.amount[requirement])


@bare
def _note(questions: Questions, into: Floats, requirement: int, moved: Floats) -> None:
    """Note a change as that of a requirement, scaled to what is needed and without what rounding moves."""
    need = questions.need[requirement]
    factor = need / (moved[questions.column[requirement]] * questions.sign[requirement])
    for k in range(moved.shape[0]):
        amount = moved[k] * factor
        into[requirement, k] = amount if abs(amount) > CLOSE * need else 0.0


@compiled
def _reach(tableau: Tableau, copy: Tableau, questions: Questions, requirements: Ints) -> Mask:
    """Which requirements have changes, which are noted; one that proves others is theirs as well."""
    found = np.zeros(len(requirements), np.bool_)
    for x in range(len(requirements)):
        first = requirements[x]
        _refresh(tableau, copy)
        if found[x] or not reaches(tableau, questions.column[first], questions.sign[first], questions.need[first]):
            continue
        for z in range(x, len(requirements)):
            other = requirements[z]
            amount = tableau.moved[questions.column[other]] * questions.sign[other]
            if not found[z] and amount >= questions.need[other] * (1.0 - CLOSE):
                found[z] = True
                _note(questions, questions.amount, other, tableau.moved)
    return found


@compiled
def _try(tableau: Tableau, copy: Tableau, questions: Questions, columns: Positions, gone: Mask) -> None:
    """Fix these columns one after the other where every requirement that uses one has another change."""
    for column in columns:
        _refresh(tableau, copy)
        low, high = tableau.low[column], tableau.high[column]
        gone[column] = _all_change(tableau, copy, questions, column)
        tableau.low[column], tableau.high[column] = low, high
        if gone[column]:
            _take_copy(tableau, copy)
            fix(tableau, column)
            _take_copy(copy, tableau)


@bare
def _refresh(tableau: Tableau, copy: Tableau) -> None:
    """Leave behind what rounding did in many steps."""
    if tableau.live[1] - copy.live[1] > FRESH * copy.entry.size:
        _take_copy(tableau, copy)


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
def _all_change(tableau: Tableau, copy: Tableau, questions: Questions, column: int) -> bool:
    """Whether every requirement that uses a column has a change without it; then these are its changes from now on."""
    size = _gather(questions, column)
    for x in range(size):
        requirement = questions.waiting[x]
        if questions.done[requirement]:
            continue
        if not _avoids(tableau, copy, questions, requirement, column):
            questions.blocked[column] = requirement
            questions.failures[0] += 1
            questions.failed[requirement] = questions.failures[0]
            return False
        _share(tableau, questions, column, x, size)
    for x in range(size):
        requirement = questions.waiting[x]
        for k in range(questions.amount.shape[1]):
            questions.amount[requirement, k] = questions.changed[requirement, k]
    return True


@bare
def _avoids(tableau: Tableau, copy: Tableau, questions: Questions, requirement: int, column: int) -> bool:
    """Whether what a requirement's change moves through a column finds another way; `moved` is the change then.

    What takes too many steps has none.
    """
    own, need = questions.column[requirement], questions.need[requirement]
    for k in range(tableau.moved.shape[0]):
        tableau.moved[k] = questions.amount[requirement, k]
    through = tableau.moved[column]
    tableau.low[column], tableau.high[column] = min(through, 0.0), max(through, 0.0)
    low, high = tableau.low[own], tableau.high[own]
    if questions.sign[requirement] > 0:
        tableau.low[own] = tableau.moved[own]
    else:
        tableau.high[own] = tableau.moved[own]
    came = BLOCKED if column == own else ON_THE_WAY
    for _ in range(MOST_TURNS):
        if came == ON_THE_WAY:
            _refresh(tableau, copy)
            came = goes_on(tableau, column, -1.0 if through > 0 else 1.0, 0.0, CLOSE * need, FRESH)
    if column != own:
        tableau.low[own], tableau.high[own] = low, high
    if came != THERE or tableau.moved[own] * questions.sign[requirement] < need * (1.0 - ROUNDED):
        return False
    tableau.moved[column] = 0.0
    _note(questions, questions.changed, requirement, tableau.moved)
    questions.done[requirement] = True
    return True


@bare
def _gather(questions: Questions, column: int) -> int:
    """The requirements that use a column into `waiting`; returns how many.

    The one that needed it when it was last asked comes first, then those that failed last.
    """
    size, first = 0, questions.blocked[column]
    for requirement in range(questions.column.shape[0]):
        if questions.amount[requirement, column] != 0.0:
            questions.done[requirement] = False
            x = size
            while x > 0 and _before(questions, requirement, questions.waiting[x - 1], first):
                questions.waiting[x] = questions.waiting[x - 1]
                x -= 1
            questions.waiting[x] = requirement
            size += 1
    return size


@bare
def _before(questions: Questions, one: int, other: int, first: int) -> bool:
    """Whether one requirement is asked before another."""
    return one == first or (other != first and questions.failed[one] > questions.failed[other])


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
        if not questions.done[requirement] and (amount >= need or (amount < 0 and -amount * back >= need)):
            _note(questions, questions.changed, requirement, moved)
            questions.done[requirement] = True
