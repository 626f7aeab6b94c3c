"""Mutual protection: tables that prove many requirements of the primaries-only pattern at once, before any search.

Where sensitive cells are many they protect each other, and what they protect needs no search. Batches of consistent
tables that move all of them, each up or down at random, come from a first-order method on the kernel back end. The
elimination of the lines, done once for the pattern, makes each of them exact: free cells are rounded, the others
follow in integers. Scaled into the attacker's bounds, a table proves every requirement whose level it reaches, and its
reverse does as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gpuga.context import Context
from gpuga.kernels import Backend, Equations, get_backend
from gpuga.lp.projection import Floats, Kernel
from gpuga.memory import short
from gpuga.safety.requirements import Requirements
from gpuga.safety.unpick import unpick
from gpuga.safety.vertex import Eliminated, eliminated
from gpuga.safety.witness import AllowedChanges, hold, together, witness_of
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

LEAST_REQUIREMENTS = 200
"""With fewer requirements than this, boxes and linear programs are as quick."""

MOST_ENTRIES = 20_000_000
"""A pattern whose elimination fills in beyond this is left to the search."""

ROUNDS, BATCH, ITERATIONS = 4, 16, 400
FIRST_PATTERNS = 20
"""In less time than so many first patterns take, none is begun: its preparation cannot be cut short."""

WORTHWHILE = 6.0
"""A round takes two or three times as long as its preparation; with less time left than so many, none is begun."""

FARTHEST = 4.0
"""Cells rise by at most so many times their value, where they have no bound."""

BEYOND = 1.3
"""How far beyond its level a cell is let go."""

PULL = 0.3
PART_BITS = 45
"""Exact amounts are kept below two to this power."""

SHARE = 1 << 12
"""Scaling into the bounds is done in these parts."""


@dataclass(frozen=True, eq=False)
class MutualProtection:
    """Exact tables, and for every requirement the one that proves it (int64[T], -1: none)."""

    tables: Witnesses
    proven_by: Ints


_SEEN: WeakKeyDictionary[Requirements, MutualProtection] = WeakKeyDictionary()


def mutual_protection_of(table: Table, requirements: Requirements, context: Context) -> MutualProtection:
    """As `mutual_protection`, once for the same requirements: they are asked for again by every seed of a run."""
    if requirements not in _SEEN:
        _SEEN[requirements] = mutual_protection(table, requirements, context)
    return _SEEN[requirements]


def mutual_protection(table: Table, requirements: Requirements, context: Context) -> MutualProtection:
    """What tables of the primaries-only pattern prove; with few requirements, or a table too large for it, nothing."""
    nothing = MutualProtection(together([]), np.full(len(requirements), -1, np.int64))
    if len(requirements) < LEAST_REQUIREMENTS or context.whole or short():  # these tables move by parts of a unit
        return nothing
    if context.clock.left() < FIRST_PATTERNS * context.first_seconds:
        return nothing
    begun = context.clock.spent()
    pattern = PrimaryPattern.of(table)
    prepared = context.clock.spent() - begun
    if pattern is None or context.clock.left() < WORTHWHILE * prepared:
        return nothing
    context.progress.stage("mutual protection", ROUNDS)
    made: list[Witnesses] = []
    proven_by = nothing.proven_by.copy()
    possible, backend = pattern.possible(requirements), get_backend(context.backend)
    longest = 0.0
    for number in range(ROUNDS):
        open_ = np.flatnonzero((proven_by < 0) & possible)
        if not len(open_) or context.clock.left() < 2 * longest or context.clock.expired():
            break
        begun = context.clock.spent()
        random = np.random.default_rng([context.seed, number])
        before = int((proven_by >= 0).sum())
        for witness in pattern.tables(requirements.subset(open_), backend, random, everyone=number == 0):
            if note(witness, requirements, proven_by, len(made)):
                made.append(witness)
        context.progress.advance()
        longest = max(longest, context.clock.spent() - begun)
        if number and int((proven_by >= 0).sum()) == before:
            break
    return MutualProtection(together(made), proven_by)


def note(witness: Witnesses, requirements: Requirements, proven_by: Ints, number: int) -> bool:
    """Give an exact table to the open requirements that it proves; whether there are any."""
    cells, amounts, denominator = witness.one(0)
    moved = dict(zip(cells.tolist(), amounts.tolist(), strict=True))
    open_ = np.flatnonzero(proven_by < 0)
    reach = np.array([moved.get(cell, 0) for cell in requirements.cell[open_].tolist()], np.int64)
    # whole units only, so that no product can overflow
    proven = open_[reach * requirements.direction[open_] // denominator >= requirements.need[open_]]
    proven_by[proven] = number
    return bool(len(proven))


@dataclass(frozen=True, eq=False)
class PrimaryPattern:
    """The forced cells that can move at all, their lines eliminated and factorised."""

    table: Table
    cells: NDArray[np.int32]
    rise: Ints
    fall: Ints
    kernel: Kernel
    equations: Equations
    lines: Eliminated
    allowed: AllowedChanges

    @classmethod
    def of(cls, table: Table) -> PrimaryPattern | None:
        """The pattern of a table, None where it has no cells that move or its elimination is out of reach."""
        rise, fall = unpick(table, table.forced)
        cells = np.flatnonzero(table.forced & ((rise > 0) | (fall > 0))).astype(np.int32)
        while len(cells):
            column = np.full(len(table), -1, np.int64)
            column[cells] = np.arange(len(cells))
            entry = np.flatnonzero(column[table.lines.cell] >= 0)
            used, line = np.unique(table.lines.line_of_entry[entry], return_inverse=True)
            at, coef = column[table.lines.cell[entry]], table.lines.coef[entry]
            lines = eliminated(len(used), line, at, coef, len(cells), MOST_ENTRIES)
            if lines is None:
                return None
            if not len(lines.hard):
                break
            cells = np.delete(cells, lines.hard)  # what has no whole-number solution stays where it is
        else:
            return None
        size = np.maximum(np.abs(table.value[cells]), 1).astype(np.float64)
        matrix = csr_array((coef * size[at], (line, at)), shape=(len(used), len(cells)))
        kernel, allowed = Kernel(matrix), AllowedChanges.of(table, table.forced)
        scaled = kernel.rows
        equations = Equations.of(scaled.indptr, scaled.indices, scaled.data, len(cells))
        return cls(table, cells, rise, fall, kernel, equations, lines, allowed)

    def possible(self, requirements: Requirements) -> Mask:
        """Which requirements propagation does not refute."""
        room = np.where(requirements.direction > 0, self.rise[requirements.cell], self.fall[requirements.cell])
        return np.asarray((room >= requirements.need) & np.isin(requirements.cell, self.cells))

    def tables(
        self, requirements: Requirements, backend: Backend, random: np.random.Generator, everyone: bool
    ) -> list[Witnesses]:
        """A batch of exact tables that pull at the requirements, in both directions each."""
        size = np.maximum(np.abs(self.table.value[self.cells]), 1).astype(np.float64)
        lower = np.repeat(-np.minimum(self.fall[self.cells] / size, FARTHEST)[:, None], BATCH, axis=1)
        upper = np.repeat(np.minimum(self.rise[self.cells] / size, FARTHEST)[:, None], BATCH, axis=1)
        pull = self._pull(requirements, size, lower, upper, random, everyone)
        z = self.kernel.project(backend.first_order(self.equations, pull, lower, upper, ITERATIONS))
        found = []
        for one in (z * size[:, None]).T:
            amounts, parts = self._exact(one)
            for signed in (amounts, -amounts):
                if (witness := self._inside(signed, parts)) is not None:
                    found.append(witness)
        return found

    def _pull(
        self,
        requirements: Requirements,
        size: Floats,
        lower: Floats,
        upper: Floats,
        random: np.random.Generator,
        everyone: bool,
    ) -> Floats:
        """The objectives: each open cell up or down; bounds end a little beyond the level that is pulled at."""
        pull = np.zeros_like(lower)
        position = np.full(len(self.table), -1, np.int64)
        position[self.cells] = np.arange(len(self.cells))
        for sign, bound in ((1, upper), (-1, lower)):
            mine = requirements.direction == sign
            at = position[requirements.cell[mine]]
            pulled = random.random((len(at), BATCH)) < (0.5 if everyone or sign > 0 else 1.0)
            if not everyone:
                pulled &= random.random((len(at), BATCH)) < 0.5
            reach = (BEYOND * requirements.need[mine] / size[at])[:, None] * sign
            nearer = np.minimum(bound[at], reach) if sign > 0 else np.maximum(bound[at], reach)
            free = pull[at] == 0
            bound[at] = np.where(pulled & free, nearer, bound[at])
            pull[at] = np.where(pulled & free, sign * PULL, pull[at])
        return pull

    def _exact(self, x: Floats) -> tuple[Ints, int]:
        """An exact change near x, in parts of a unit."""
        largest = max(1.0, float(np.abs(x).max(initial=0.0)))
        parts = 1 << max(0, min(20, PART_BITS - int(np.ceil(np.log2(largest)))))
        return self.lines.completed(np.rint(x * parts).astype(np.int64)), parts

    def _inside(self, amounts: Ints, parts: int) -> Witnesses | None:
        """The change scaled to fill the attacker's bounds as far as it can; None where it does not hold."""
        moved = amounts != 0
        room = np.where(amounts > 0, self.table.up[self.cells], self.table.down[self.cells])
        factor = float((room[moved].astype(float) * parts / np.abs(amounts[moved])).min(initial=FARTHEST))
        share = int(np.floor(min(factor, FARTHEST) * SHARE * (1 - 1e-12)))
        if share == 0 or not moved.any():
            return None
        witness = witness_of(self.cells, amounts * share, parts * SHARE)
        return witness if hold(self.allowed, witness)[0] else None
