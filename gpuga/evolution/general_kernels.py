"""The operations of a general problem as evolution uses them: individuals carry their certificates along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from threading import Timer
from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from gpuga.circuits.cover import proof_of
from gpuga.context import Clock
from gpuga.evolution.breeding import Shares
from gpuga.kernels.crossing import Crossing
from gpuga.kernels.general import GeneralCpu
from gpuga.kernels.layout import EquationLines, Patterns, Requirements, pack
from gpuga.kernels.logic.decoding_price import BY_NEED, BY_WEIGHT
from gpuga.kernels.logic.general_records import AT_RANDOM, Genes
from gpuga.kernels.logic.general_records import BY_NEED as NEED_FIRST
from gpuga.kernels.logic.general_records import BY_WEIGHT as WEIGHT_FIRST
from gpuga.problem.general import GeneralProblem
from gpuga.safety.boxes import box_grid
from gpuga.table.table import LARGEST, Ints, Mask
from gpuga.table.witnesses import Witnesses

Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]


LONGEST, MANY_ENTRIES = 512, 1 << 18
"""Where circuits have many entries in all, longer ones stay out of the pool: they prove thousands of requirements at
once, and each is looked at for all. Where they have few, patterns that need a long one could not be kept without it."""

MOST_TRIED = 60_000
"""Whether boxes lead every requirement is tried up to so many cells; above, tables have little but boxes."""


@dataclass(frozen=True, eq=False)
class Certified:
    """Patterns bool[P, N] by the places of the kernels, with what proves them; `place` int64[n] leads to the cells."""

    flags: Bools
    genes: Genes
    place: Ints

    @property
    def count(self) -> int:
        """How many patterns."""
        return len(self.flags)

    def take(self, places: NDArray[np.integer]) -> Certified:
        """Some of the patterns, in that order."""
        return Certified(self.flags[places], taken(self.genes, places), self.place)

    def joined(self, others: Sequence[Certified]) -> Certified:
        """These patterns and others behind them."""
        every = (self, *others)
        genes = Genes(*(np.concatenate([getattr(one.genes, name) for one in every]) for name in Genes._fields))
        return Certified(np.concatenate([one.flags for one in every]), genes, self.place)

    def unpacked(self) -> Bools:
        """The patterns per cell of the table (bool[P, n])."""
        return self.flags[:, self.place]

    def packed(self) -> Patterns:
        """Their bits in one row."""
        return pack(self.flags)


def taken(genes: Genes, places: NDArray[np.integer]) -> Genes:
    """The certificates of some individuals, in that order, as copies."""
    proof, begin, cell, amount, certificates = (getattr(genes, name)[places] for name in Genes._fields)
    return Genes(proof, begin, cell, amount, certificates)


class GeneralKernels:
    """Decoding, clean-up and certificates of a general problem, with crossover by components."""

    def __init__(self, problem: GeneralProblem, clock: Clock) -> None:
        self.clock = clock
        table, requirements = problem.table, problem.requirements
        grid = box_grid(table)
        if grid is not None and (grid.place[np.flatnonzero(table.suppressible)] < 0).any():
            grid = None  # groups move with their members: only circuits of the pool can say how
        self._has_boxes = grid is not None
        cell = np.arange(len(table)) if grid is None else grid.cell.astype(np.int64)
        self.place: Ints = np.arange(len(table)) if grid is None else grid.place
        there = cell >= 0

        def lay(values: NDArray[Any]) -> NDArray[Any]:
            return np.where(there, values[cell], np.zeros(1, values.dtype))

        known = self.place[table.lines.cell] >= 0  # equations of cells without a place are kept by nobody who moves
        start = np.concatenate([[0], np.cumsum(known)])[table.lines.start]
        lines = EquationLines.of(start, self.place[table.lines.cell[known]], table.lines.coef[known], len(cell))
        asked = Requirements.of(self.place[requirements.cell], requirements.direction, requirements.need)
        weights = np.where(lay(table.forced), 0, lay(table.weight))
        self._forced: Mask = lay(table.forced)
        self.cpu = GeneralCpu(
            None if grid is None else grid.grid,
            lay(table.up),
            lay(table.down),
            asked,
            lay(table.weight),
            self._forced,
            lay(problem.candidate),
            lines,
        )
        self.crossing = Crossing(lines, weights, hubs_of(lines))
        self._lay = lay

    # --- individuals -------------------------------------------------------------------------------------

    @cached_property
    def finds_circuits(self) -> bool:
        """Whether boxes lead every requirement; linked tables may have boxes that lead few of them."""
        if not self._has_boxes or len(self._forced) > MOST_TRIED:
            return self._has_boxes
        nothing, none = self.nothing(1), np.zeros(1, np.int32)
        _, possible = self.decode(nothing, nothing, nothing, np.zeros(1, np.uint64), none, none)
        return bool(possible[0])

    shares = Shares(decoded=1 / 2, destroyed=1 / 16, new=0.0)
    usual = 32

    @property
    def threads(self) -> int:
        """How many children are made at once."""
        return int(get_num_threads())

    @property
    def bytes_each(self) -> int:
        """What a pattern takes, with its certificates."""
        return len(self._forced) + sum(part.nbytes for part in self.cpu.no_genes(1))

    def held(self, flags: Bools, genes: Genes | None = None) -> Any:
        """Patterns by the places of the kernels with what proves them (None: nothing yet), where they are kept."""
        return Certified(flags, self.cpu.no_genes(len(flags)) if genes is None else genes, self.place)

    def here(self, patterns: Any) -> Certified:
        """Such patterns in host memory."""
        found: Certified = patterns
        return found

    def pack(self, suppressed: Bools) -> Any:
        """bool[P, n] as patterns; forced cells are added, nothing is proven yet."""
        return self.held(np.stack([self._lay(row) for row in suppressed]) | self._forced)

    def nothing(self, count: int) -> Any:
        """Patterns of the forced cells alone."""
        return self.held(np.repeat(self._forced[None], count, 0))

    def arrays(self, patterns: Any) -> dict[str, NDArray[Any]]:
        """The patterns as host arrays, with what proves them."""
        found = self.here(patterns)
        return {"bits": np.packbits(found.flags, axis=1), **found.genes._asdict()}

    def of_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """Patterns from such arrays."""
        flags = np.unpackbits(arrays["bits"], axis=1)[:, : len(self._forced)].astype(bool)
        return self.held(flags, Genes(*(arrays[name] for name in Genes._fields)))

    def memory(self) -> dict[str, NDArray[Any]]:
        """The circuits of the pool."""
        table = self.cpu.table
        return {"start": table.pool_start, "cell": table.pool_cell, "amount": table.pool_amount}

    def remember(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take circuits of such arrays into the pool."""
        self.cpu.add_circuits(arrays["start"], arrays["cell"], arrays["amount"])

    def learn(self, witnesses: Witnesses) -> int:
        """Take circuits found elsewhere, over cells of the table, into the pool; how many were new to it."""
        if witnesses.amount.dtype == object or not len(witnesses):
            return 0
        if len(witnesses.cell) > MANY_ENTRIES:
            witnesses = witnesses.subset(np.flatnonzero(np.diff(witnesses.start) <= LONGEST))
        return self.cpu.add_circuits(witnesses.start, self.place[witnesses.cell], witnesses.amount)

    def proven(self, suppressed: Mask, witnesses: Witnesses) -> Any:
        """One pattern, bool[n], with what proves it elsewhere."""
        if witnesses.amount.dtype == object or not len(witnesses):
            return self.pack(suppressed[None])
        genes = self.cpu.genes_of(witnesses.start, self.place[witnesses.cell], witnesses.amount)
        return self.held((self._lay(suppressed) | self._forced)[None], genes)

    def proof(self, patterns: Any) -> Witnesses:
        """The exact changes that prove the first of some patterns, over the cells of the table."""
        genes = self.here(patterns.take(np.zeros(1, np.int64))).genes
        requirements, cell_at = self.cpu.requirements, np.full(len(self._forced), -1, np.int64)
        cell_at[self.place[self.place >= 0]] = np.flatnonzero(self.place >= 0)
        found = {}  # requirements that share one certificate at one scale share its change
        for requirement, number in enumerate(genes.proof[0].tolist()):
            certificate = self.cpu.certificate(genes, 0, requirement)
            if certificate is None:
                continue
            places, amounts = certificate
            own = int(amounts[np.flatnonzero(places == requirements.cell[requirement])[0]])
            wanted = int(requirements.direction[requirement]) * int(requirements.need[requirement])
            factor = Fraction(wanted, own)
            moved = [factor.numerator * amount for amount in amounts.tolist()]
            if max(map(abs, moved)) <= LARGEST:
                circuit = cell_at[places].astype(np.int32), np.array(moved, np.int64), factor.denominator
                found[number, factor] = circuit
        return proof_of(found.values())

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """Work in the kernels ends soon after a limited time does: one child of a large table can take many seconds."""
        halt = self.cpu.table.halt
        if self.clock.seconds is None:
            yield
            return
        alarm = Timer(max(0.0, self.clock.left()), halt.fill, [1])
        alarm.start()
        try:
            yield
        finally:
            alarm.cancel()
            halt[0] = 0

    # --- operations --------------------------------------------------------------------------------------

    def set_prices(self, prices: NDArray[np.int64], core: Mask) -> None:
        """Prices int64[S, n]; all columns serve."""
        self.cpu.set_prices(np.stack([self._lay(row) for row in prices]))

    def decode(
        self, start: Certified, first: Certified, second: Certified, seeds: Words, style: Any, snapshot: Any
    ) -> tuple[Certified, Mask]:
        """Patterns that prove every requirement from `start`; False where that is impossible."""
        with self.in_time():
            flags, genes, done = self.cpu.decode(
                start.flags, first.flags, second.flags, seeds, order_of(style), snapshot, start.genes
            )
        return Certified(flags, genes, self.place), done

    def clean(self, patterns: Certified, seeds: Words) -> Certified:
        """The patterns without what is redundant, as far as certificates show it."""
        with self.in_time():
            flags, genes = self.cpu.clean(patterns.flags, patterns.genes)
        return Certified(flags, genes, self.place)

    def safe(self, patterns: Certified) -> Mask:
        """Whether every requirement has a certificate inside the pattern; what is found is kept with it."""
        with self.in_time():
            return self.cpu.prove(patterns.flags, patterns.genes)

    def destroy(self, patterns: Certified, seeds: Words, strength: Any) -> Certified:
        """The patterns with some cells published."""
        flags = self.cpu.destroy(patterns.flags, patterns.genes, seeds, strength)
        return Certified(flags, patterns.genes, self.place)

    def costs(self, patterns: Certified) -> Ints:
        """What the secondary suppressions cost."""
        return self.cpu.costs(patterns.flags)

    def exchange(self, patterns: Certified, pairs: Any, ways: Any, seeds: Words) -> tuple[Certified, Ints]:
        """Children by components of their parents' difference, and what they gain; certificates of the first parent."""
        made, gains = self.crossing.exchange(patterns.packed(), pairs, ways, seeds)
        flags = np.unpackbits(made.bits.view(np.uint8), axis=2, bitorder="little")[:, 0, : len(self._forced)]
        genes = taken(patterns.genes, pairs[:, 0])
        return Certified(flags.astype(bool), genes, self.place), gains

    def digests(self, patterns: Certified) -> Words:
        """Equal for equal patterns."""
        return self.crossing.digests(patterns.packed())

    def nearest(self, patterns: Certified, others: Certified) -> Ints:
        """In how many cells each pattern differs from the nearest other one."""
        return self.crossing.nearest(patterns.packed(), others.packed())


def order_of(style: Any) -> Ints:
    """In which order a general table's requirements are led, by the style of a child."""
    return np.where(style & BY_NEED, NEED_FIRST, np.where(style & BY_WEIGHT, WEIGHT_FIRST, AT_RANDOM))


def hubs_of(lines: EquationLines) -> Mask:
    """The lines of which every cell is the total of another line: they join parts that have little in common."""
    totals, size = np.zeros(lines.cells, bool), np.diff(lines.start)
    line = np.repeat(np.arange(lines.count), size)
    against = np.bincount(line[lines.coef < 0], minlength=lines.count)
    minority = np.where(against[line] <= size[line] - against[line], lines.coef < 0, lines.coef > 0)
    totals[lines.cell[minority]] = True
    return np.asarray(np.bincount(line[~totals[lines.cell]], minlength=lines.count) == 0)
