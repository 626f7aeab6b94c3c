"""What has to be shown of a pattern, and what has been shown so far: exact reaches and the witnesses behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpuga.safety.witness import AllowedChanges, hold, stretch, times, together
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.witnesses import Witnesses


@dataclass(frozen=True, eq=False)
class Rule:
    """What must be shown of each suppressed cell, as least rises, falls and widths in units (int64[n]).

    The strict reading asks for more than the level; a width of 1 unit over nothing stands for "not
    determined", which any movement at all satisfies.
    """

    cells: Ints
    rise: Ints
    fall: Ints
    width: Ints
    strict: bool

    @classmethod
    def of(cls, table: Table, suppressed: Mask, strict: bool, protect_secondary: bool) -> Rule:
        """The levels of all sensitive cells and, if wanted, that no secondary is exactly determined."""
        levels = table.levels
        secondary = suppressed & ~table.primary
        judged = suppressed if protect_secondary else table.primary
        none = np.int64(-1)  # nothing is asked for, not even in the strict reading
        return cls(
            cells=np.flatnonzero(judged),
            rise=np.where(table.primary, levels.upper, none),
            fall=np.where(table.primary, levels.lower, none),
            width=np.where(
                table.primary, np.where(levels.sliding > 0, levels.sliding, none), np.where(secondary, 0, none)
            ),
            strict=strict,
        )

    def short(self, room: Ints, asked: Ints) -> Mask:
        """Whether rooms in whole units fall short of what is asked for, cell by cell."""
        return np.asarray((asked >= 0) & ((room <= asked) if self.strict else (room < asked)))

    def met(self, reached: Fraction | int, asked: int, strict: bool | None = None) -> bool:
        """Whether a reach satisfies a level."""
        return reached > asked if (self.strict if strict is None else strict) else reached >= asked


@dataclass(frozen=True, eq=False)
class SafetyProof:
    """A witness for every protection requirement: number `witness[t]` moves `cell[t]` far enough in `direction[t]`.

    `cell` int32[T], `direction` int8[T], `witness` int64[T]. Where a width is asked for, both directions of the cell
    are listed as far as they are needed.
    """

    cell: NDArray[np.int32]
    direction: NDArray[np.int8]
    witness: Ints
    witnesses: Witnesses


class Evidence:
    """What has been shown so far: the best exact rises and falls of every cell.

    With `keep`, the witnesses are kept as well. For an attacker who knows that values are whole, only whole ones count.
    """

    def __init__(self, table: Table, suppressed: Mask, model: AttackerModel, keep: bool = False) -> None:
        self.table = table
        self.rule = Rule.of(table, suppressed, model.strict, model.protect_secondary)
        self.allowed = AllowedChanges.of(table, suppressed)
        self.whole, self.keep = model.whole, keep
        self.exact: dict[tuple[int, int], Fraction] = {}
        self.whole_rise = np.zeros(len(table), np.int64)
        self.whole_fall = np.zeros(len(table), np.int64)
        self._kept: list[Witnesses] = []
        self._count = 0
        self._exactly_by: dict[tuple[int, int], int] = {}
        self._rise_by = np.full(len(table), -1, np.int64)
        self._fall_by = np.full(len(table), -1, np.int64)

    def reached(self, cell: int, direction: int) -> Fraction:
        """The best rise (or fall) shown."""
        whole = int((self.whole_rise if direction > 0 else self.whole_fall)[cell])
        return max(Fraction(whole), self.exact.get((cell, direction), Fraction(0)))

    def note_whole(
        self,
        cells: NDArray[np.integer],
        direction: NDArray[np.integer],
        reach: Ints,
        by: NDArray[np.integer] | None = None,
    ) -> None:
        """Many reaches in whole units at once, shown by kept witnesses `by`."""
        for sign, best, shown_by in ((1, self.whole_rise, self._rise_by), (-1, self.whole_fall, self._fall_by)):
            mine = np.flatnonzero((direction > 0) == (sign > 0))
            mine = mine[reach[mine] > best[cells[mine]]]
            mine = mine[np.argsort(reach[mine], kind="stable")]  # the farthest is written last
            best[cells[mine]] = reach[mine]
            shown_by[cells[mine]] = -1 if by is None else by[mine]

    def note(self, cell: int, direction: int, reach: Fraction, by: int = -1) -> None:
        """One more reach, if it is better."""
        if reach > self.reached(cell, direction):
            self.exact[cell, direction] = reach
            self._exactly_by[cell, direction] = by

    def offer(self, proposed: Witnesses) -> None:
        """What proposed witnesses show, of those that hold exactly; parts of a unit are left out."""
        good = proposed.subset(np.flatnonzero(hold(self.allowed, proposed)))
        if self.whole:
            good = whole_ones(good)
        by = np.repeat(self._keep(good), np.diff(good.start))
        reach = np.abs(good.amount) // np.repeat(good.denominator, np.diff(good.start))
        if reach.dtype == object:
            reach = np.minimum(reach, 2**61).astype(np.int64)
        self.note_whole(good.cell, np.where(good.amount > 0, 1, -1), reach, by)

    def use(self, witness: Witnesses, cells: Sequence[int]) -> None:
        """Try one witness that holds, and its reverse as far as it goes, on all open cells, fractions included."""
        back = stretch(self.allowed, witness, 0, -1)
        if self.whole:
            witness, back = whole_ones(witness), Fraction(int(back))
        for one in (witness, times(witness, -back)) if back > 0 and len(witness) else (witness,):
            if not len(one):
                continue
            by = int(self._keep(one)[0])
            moved, amounts, denominator = one.one(0)
            amount_of = dict(zip(moved.tolist(), amounts.tolist(), strict=True))
            for cell in cells:
                if amount := amount_of.get(cell, 0):
                    self.note(cell, 1 if amount > 0 else -1, Fraction(abs(amount), denominator), by)

    def _keep(self, witnesses: Witnesses) -> Ints:
        """Keep witnesses if that is wanted; their numbers."""
        first = self._count
        if self.keep:
            self._kept.append(witnesses)
            self._count += len(witnesses)
        return np.arange(first, first + len(witnesses)) if self.keep else np.full(len(witnesses), -1)

    @property
    def kept(self) -> int:
        """How many witnesses are kept."""
        return self._count

    def proof(self, first: int = 0) -> SafetyProof:
        """The kept witnesses, from number `first` on, that show what the rule asks for."""
        cells, directions, numbers = [], [], []
        for cell in self.rule.cells.tolist():
            for direction in (1, -1):
                asked = int((self.rule.rise if direction > 0 else self.rule.fall)[cell])
                number = self._number(cell, direction)
                if number >= first and (self.rule.width[cell] >= 0 or asked > 0 or (self.rule.strict and asked == 0)):
                    cells.append(cell)
                    directions.append(direction)
                    numbers.append(number)
        used, witness = np.unique(np.array(numbers, np.int64), return_inverse=True)
        return SafetyProof(
            np.array(cells, np.int32),
            np.array(directions, np.int8),
            witness.astype(np.int64),
            together(self._kept).subset(used),
        )

    def _number(self, cell: int, direction: int) -> int:
        """The kept witness that shows the best reach of a cell."""
        whole = int((self.whole_rise if direction > 0 else self.whole_fall)[cell])
        if self.exact.get((cell, direction), Fraction(0)) > whole:
            return self._exactly_by[cell, direction]
        return int((self._rise_by if direction > 0 else self._fall_by)[cell])

    def unsettled(self, cells: Ints) -> list[int]:
        """Those of the cells that are not yet shown to be safe."""
        rule, rise, fall = self.rule, self.whole_rise[cells], self.whole_fall[cells]
        extra = 1 if rule.strict else 0
        wide = np.where(self.table.primary[cells], rule.width[cells] + extra, 1)
        shown = (
            ((rule.rise[cells] < 0) | (rise >= rule.rise[cells] + extra))
            & ((rule.fall[cells] < 0) | (fall >= rule.fall[cells] + extra))
            & ((rule.width[cells] < 0) | (rise + fall >= wide))
        )
        return [c for c in cells[~shown].tolist() if not self.settled(c)]

    def asked(self, cells: Ints, direction: NDArray[np.int8]) -> Ints:
        """The least whole numbers of units that settle directions of cells; 0 where nothing is asked."""
        level = np.where(direction > 0, self.rule.rise[cells], self.rule.fall[cells])
        return np.where(level < 0, 0, level + (1 if self.rule.strict else 0)).astype(np.int64)

    def least(self, cell: int, direction: int) -> int:
        """How far a cell has to move in a direction whatever it does in the other: whole units."""
        return int(self.asked(np.array([cell]), np.array([direction], np.int8))[0])

    def asks_width(self, cell: int) -> bool:
        """Whether the width of a cell's interval matters."""
        return bool(self.rule.width[cell] >= 0)

    def goal(self, cell: int, direction: int) -> int:
        """How far a cell has to move in a direction to settle it, widths included: whole units that suffice."""
        asked = int((self.rule.rise if direction > 0 else self.rule.fall)[cell])
        width = int(self.rule.width[cell])
        other = self.reached(cell, -direction)
        goal = max(asked, width - int(other) if width >= 0 else 0, 0)
        return goal + 1 if self.rule.strict or (width >= 0 and not self.table.primary[cell]) else goal

    def open_directions(self, cell: int) -> list[int]:
        """The directions in which a cell still has to be shown to move further."""
        rule = self.rule
        open_ = []
        if rule.rise[cell] >= 0 and not rule.met(self.reached(cell, 1), int(rule.rise[cell])):
            open_.append(1)
        if rule.fall[cell] >= 0 and not rule.met(self.reached(cell, -1), int(rule.fall[cell])):
            open_.append(-1)
        if not open_ and not self.wide(cell):
            open_ = [1, -1]
        return open_

    def wide(self, cell: int) -> bool:
        """Whether the width of a cell's interval is shown to suffice."""
        asked = int(self.rule.width[cell])
        if asked < 0:
            return True
        secondary = not self.table.primary[cell]
        width = self.reached(cell, 1) + self.reached(cell, -1)
        return self.rule.met(width, asked, strict=True if secondary else None)

    def settled(self, cell: int) -> bool:
        """Whether a cell is shown to be safe."""
        return not self.open_directions(cell)


def whole_ones(witnesses: Witnesses) -> Witnesses:
    """Those of the witnesses that move every cell by a whole number of units, over the denominator 1."""
    length = np.diff(witnesses.start)
    over = np.repeat(witnesses.denominator, length)
    parts = np.repeat(np.arange(len(witnesses)), length)[np.asarray(witnesses.amount % over != 0, bool)]
    kept = np.ones(len(witnesses), bool)
    kept[parts] = False
    left = witnesses.subset(np.flatnonzero(kept))
    amount = left.amount // np.repeat(left.denominator, np.diff(left.start))
    return Witnesses(left.start, left.cell, amount, np.ones(len(left), np.int64))
