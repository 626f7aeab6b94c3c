"""The separator of any linear table that looks at one line at a time: quick at every size, and the weaker for it.

In every line, what a sensitive cell needs must be carried by the others (a knapsack row, see `line_cuts`, with its
roundings), and no secondary cell is alone among published ones (a bridge).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gpuga.bounds.cut import Batches, Cut, Effort, Floats
from gpuga.bounds.separators.bridges import LoneCells
from gpuga.bounds.separators.derivations import Derivations
from gpuga.bounds.separators.line_cuts import Product, SparseCut, level_row
from gpuga.bounds.separators.row_pool import RowPool
from gpuga.bounds.separators.zero_half import LARGEST_HALF, MOST_MEMBERS, OneOf, Statement, half_cuts
from gpuga.context import Clock
from gpuga.problem.general import GeneralProblem
from gpuga.table.table import Ints, Mask, Table

VIOLATED = 1e-2
CUTS_AT_ONCE, LINES_PER_CUT = 150, 10
"""Rows that are added at once at the root: so many, or one for every so many lines."""

CUTS_AT_NODE = 50
"""Rows that are added at once at a node of the tree, whose programs are solved far more often."""

HALVES_AT_ONCE = 60
HALVES_FROM = 1500

LONG_HALVES = 150
"""Cuts that a half of the root is made of at most: chains through hierarchies are long."""


class LineSeparator:
    """Finds cuts of single lines; see `Separator`. Columns are the cells."""

    effort = Effort(
        few=(20, 2**31),
        few_at_node=1,
        patience=30,
        spares_tight=False,
        rounds=4,
        gain=0.02,
        tried=(30, 8),
        iterations=150,
        pause=2,
        dropped=(3, 0.1),
        devex=True,
        look=60,
    )

    def __init__(self, problem: GeneralProblem) -> None:
        table = problem.table
        self.table, self.requirements = table, problem.plain
        self.cell: Ints = np.arange(len(table))
        self.weight: Ints = table.weight
        self.candidate: Mask = problem.candidate
        self.pool = RowPool()
        self._products: set[tuple[bytes, bytes]] = set()
        self.at_once = max(CUTS_AT_ONCE, len(table.lines) // LINES_PER_CUT)
        self._lone_cells = LoneCells(table, self.cell, self.candidate)
        self._of_cell: dict[int, list[int]] = {}
        for number, cell in enumerate(self.requirements.cell.tolist()):
            self._of_cell.setdefault(cell, []).append(number)
        asked = np.zeros(len(table), bool)
        asked[self.requirements.cell] = True
        for line in np.unique(table.lines.line_of_entry[asked[table.lines.cell]]).tolist():
            if problem.clock is not None and problem.clock.expired():
                break  # any of them may be left out: the bound is only weaker
            self._keep_rows(_product_of(table, line))

    @property
    def core(self) -> Mask:
        """All candidates."""
        return self.candidate

    def first(self) -> Sequence[Cut]:
        """None: the rows of single lines are in the pool."""
        return []

    def at_root(self, x: Floats, cuts: Sequence[Cut], clock: Clock) -> Batches:
        """Roundings and lone cells, then zero-half cuts."""
        yield self._cheap(x, self.at_once)
        yield self._halves(x, cuts, LONG_HALVES)

    def at_node(self, x: Floats, cuts: Sequence[Cut], thorough: bool, clock: Clock) -> Batches:
        """Roundings and lone cells."""
        yield self._cheap(x, CUTS_AT_NODE)

    def at_whole(self, x: Floats, clock: Clock) -> Batches:
        """The same: a whole point that violates none of them need not be a safe pattern."""
        yield self._cheap(x, CUTS_AT_NODE)

    def deepen(self) -> bool:
        """Everything is asked for already."""
        return False

    def derivations(self, cuts: Sequence[Cut]) -> list[list[Any]]:
        """How cuts are derived, for the checker of proofs."""
        return Derivations().of(cuts)

    def _cheap(self, x: Floats, most: int) -> list[Cut]:
        """Roundings of kept rows, at most so many, and lone cells."""
        return [*self._roundings(x, most), *self._lone_cells.violated(x)]

    def _roundings(self, x: Floats, most: int) -> list[SparseCut]:
        return self.pool.violated(x, VIOLATED, most)

    def _keep_rows(self, product: Product) -> int:
        """Keep the rows that `y M` gives for all requirements whose cell is in it; how many are new."""
        kept, said = 0, (product.line.tobytes(), product.y.tobytes())
        if said in self._products:
            return 0
        self._products.add(said)
        for cell in product.cell[self.table.primary[product.cell]].tolist():
            for number in self._of_cell.get(cell, []):
                row = level_row(self.table, self.requirements, number, product)
                if row is not None:
                    kept += self.pool.add(row)
        return kept

    def _halves(self, x: Floats, cuts: Sequence[Cut], members: int = MOST_MEMBERS) -> list[SparseCut]:
        """The zero-half cuts of the latest cuts that the point violates most; of sums only where others give none."""
        known, found = {cut.key for cut in cuts}, list[SparseCut]()
        latest = [cut for cut in cuts[-HALVES_FROM:] if isinstance(cut, SparseCut)]
        for some in ([cut for cut in latest if not cut.summed], latest):
            if not found:
                said = [statement for cut in some for statement in _statements(cut)]
                halves = half_cuts(said, self.cell, x, HALVES_AT_ONCE, members)
                found = [half for half in halves if half.key not in known]
        return found


def _product_of(table: Table, line: int) -> Product:
    """One line as it is."""
    lines = table.lines
    entries = slice(int(lines.start[line]), int(lines.start[line + 1]))
    order = np.argsort(lines.cell[entries], kind="stable")
    cell, coef = lines.cell[entries][order].astype(np.int64), lines.coef[entries][order].astype(np.int64)
    return Product(cell, coef, np.array([line]), np.ones(1, np.int64))


def _statements(cut: SparseCut) -> Iterator[Statement]:
    """What a cut says in small integers."""
    if cut.rhs <= LARGEST_HALF:
        yield cut
    if cut.rhs > 1 and not cut.summed:
        yield OneOf(cut)
