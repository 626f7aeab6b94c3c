"""MIP neighbourhood search: cheaper patterns near a given one, by integer programs over few columns.

Most cells of a good pattern are right. Some are let go together with cheap ones around them, the others stay as they
are, and HiGHS solves what is left to integers. An answer that some requirement rejects is cut off and asked again; what
is accepted is safe. The cuts hold for every safe pattern, so they serve all later questions too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from gpuga.bounds.cut import Cut, Key, first_of
from gpuga.bounds.master import Master, useful_columns
from gpuga.bounds.repair.repair import Repair
from gpuga.context import Clock
from gpuga.lp.cut_session import cut_session
from gpuga.lp.solver import Rows, SolveStatus
from gpuga.table.table import Ints, Mask

QUESTIONS = 8
LEAST_SHARE, MOST_SHARE = 0.03, 0.9
MUCH_WIDER, WIDER, NARROWER = 1.4, 1.1, 0.7
MANY_COLUMNS = 3500


class Size(NamedTuple):
    """How many columns and nodes a program has, and from how many simplex iterations on it was hard, or too hard."""

    columns: int
    nodes: int
    hard: int
    too_hard: int


NARROW, WIDE = Size(400, 20, 100, 700), Size(1000, 50, 800, 4000)
"""Where many columns could be part of a cheaper pattern, few of them at a time find nothing."""


@dataclass(frozen=True, eq=False)
class Solved:
    """What a run of branch and bound says: the pattern it ended with (bool[n], None if it found none), and its bound.

    The bound is in units of the weights, and a float's word: it steers a search, and is never printed as proven.
    """

    pattern: Mask | None
    bound: float
    finished: bool
    work: int


class WholeProgram:
    """The cuts of a master over the `free` columns (bool[n]) in whole numbers; what `stays` is always suppressed."""

    def __init__(self, master: Master, free: Mask, stays: Mask) -> None:
        self.columns: Ints = np.flatnonzero(free)
        self.stays: Ints = np.flatnonzero(stays & ~free)
        self.size, self.unit, self.step = len(free), master.unit, master.step
        self.session = cut_session(master.separator.weight[self.columns] / self.unit)
        self.known: set[Key] = set()
        self.add(master.cuts)

    def add(self, cuts: Iterable[Cut]) -> None:
        """Add what the cuts still ask of the free columns."""
        asked, index, value, start = [], [np.zeros(0, np.int64)], [np.zeros(0)], [0]
        for cut in cuts:
            if cut.key in self.known:
                continue
            self.known.add(cut.key)
            coefficient = cut.coefficients(self.columns)
            left, positive = cut.rhs - int(cut.coefficients(self.stays).sum()), int(coefficient.min(initial=0)) >= 0
            if positive and left <= 0:
                continue
            if positive:
                coefficient = np.minimum(coefficient, left)
            there, scale = np.flatnonzero(coefficient), max(1, abs(left))
            asked.append(left / scale)
            index.append(there)
            value.append(coefficient[there] / scale)
            start.append(start[-1] + len(there))
        if asked:
            self.session.add_rows(Rows(np.array(asked), np.array(start), np.concatenate(index), np.concatenate(value)))

    def solve(self, start: Mask, nodes: int, clock: Clock, gap: float = 0.0) -> Solved:
        """The cheapest whole point found from a pattern on, within so many nodes; ends at the relative gap."""
        answer = self.session.solve_whole(
            np.ones(len(self.columns), bool),
            start[self.columns].astype(np.float64),
            seconds=clock.left(),
            nodes=nodes,
            gaps=(gap, 0.999 * self.step / self.unit),
            interrupted=clock.expired,
        )
        pattern = None
        if len(answer.x):
            pattern = np.zeros(self.size, bool)
            pattern[self.stays] = True
            pattern[self.columns] = answer.x > 0.5
        return Solved(pattern, answer.bound * self.unit, answer.status is SolveStatus.OPTIMAL, answer.iterations)


class Neighbourhood:
    """Searches around patterns; `share` of a pattern is let go, which follows how hard the programs were.

    `work` counts simplex iterations; `latest` are cuts that somebody else found since the master's.
    """

    def __init__(self, master: Master, repair: Repair) -> None:
        self.master, self.repair = master, repair
        self.share, self.work = 0.2, 0
        self.pool: dict[Key, Cut] = {}
        self.latest: Sequence[Cut] = ()
        self.lines = _lines_of_columns(master)

    def improve(self, pattern: Mask, random: np.random.Generator, clock: Clock) -> Mask:
        """The cheapest pattern found around a safe one (bool[n])."""
        weight, cost = self.master.separator.weight, self._cost(pattern)
        useful = useful_columns(self.master, cost)
        size = WIDE if int(useful.sum()) > MANY_COLUMNS else NARROW
        program = WholeProgram(self.master, self._free(pattern, useful, size, random), pattern)
        program.add(self.pool.values())
        program.add(self.latest)
        best, work, finished = pattern, 0, True
        for question in range(QUESTIONS):
            solved = program.solve(best, size.nodes, clock)
            work, finished = work + solved.work, solved.finished
            answer = solved.pattern
            if answer is None or int(weight[answer].sum()) >= self._cost(best):
                break
            missing = first_of(self.master.separator.at_whole(answer.astype(np.float64), clock))
            last = not missing or work > size.too_hard or clock.expired() or question + 1 == QUESTIONS
            repaired = self.repair.mended(answer, clock) if last or self.repair.quick else None
            if repaired is not None and self._cost(repaired) < self._cost(best):
                best = repaired
            if last:
                break
            self.pool |= {cut.key: cut for cut in missing}
            program.add(missing)
        self._learn(size, work, finished)
        return best

    def _cost(self, pattern: Mask) -> int:
        return int(self.master.separator.weight[pattern].sum())

    def _learn(self, size: Size, work: int, finished: bool) -> None:
        """Let more go next time if this was easy, less if it was hard."""
        self.work += work
        if not finished or work > size.too_hard:
            factor = NARROWER
        else:
            factor = WIDER if work > size.hard else MUCH_WIDER
        self.share = float(np.clip(self.share * factor, LEAST_SHARE, MOST_SHARE))

    def _free(self, pattern: Mask, useful: Mask, size: Size, random: np.random.Generator) -> Mask:
        """The columns let go: of the pattern around a random one, of the others the cheapest in reduced cost."""
        let_go = self.around(pattern, self.share, random)
        others = useful & ~pattern
        reduced = np.where(others, self.master.certificate.reduced, 2**62)
        rest = max(0, min(size.columns - int(let_go.sum()), int(others.sum())))
        limit = np.partition(reduced, rest)[rest] if rest < len(reduced) else 2**62
        return np.asarray(let_go | (reduced < limit))

    def around(self, pattern: Mask, share: float, random: np.random.Generator) -> Mask:
        """A share of a pattern's cells, linked by common lines: grown from a random one."""
        cells = np.flatnonzero(pattern)
        lines = self.lines[cells]
        chosen, touched = np.zeros(len(cells), bool), np.zeros(lines.shape[1])
        wanted, next_one = max(1, round(share * len(cells))), int(random.integers(len(cells)))
        for _ in range(wanted):
            chosen[next_one] = True
            touched[lines.indices[lines.indptr[next_one] : lines.indptr[next_one + 1]]] = 1.0
            linked = (lines @ touched > 0) & ~chosen
            if chosen.all():
                break
            next_one = int(random.choice(np.flatnonzero(linked if linked.any() else ~chosen)))
        around = np.zeros(len(pattern), bool)
        around[cells[chosen]] = True
        return around


def _lines_of_columns(master: Master) -> csr_array:
    """Which lines of the table each column is in (float64[columns, lines])."""
    separator, lines = master.separator, master.table.lines
    column = np.full(len(master.table), -1, np.int64)
    there = np.flatnonzero(separator.cell >= 0)
    column[separator.cell[there]] = there
    entry = np.flatnonzero(column[lines.cell] >= 0)
    where = column[lines.cell[entry]], lines.line_of_entry[entry]
    return csr_array((np.ones(len(entry)), where), shape=(len(separator.weight), len(lines)))
