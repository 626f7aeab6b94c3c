"""HeurGene's first population in groups: hypercube in random orders of the sensitive cells, no two much alike.

An individual that is much like another one is made again at blurred weights. Whether it is decides what is drawn next:
a group is made on the guess that its individuals are as the last one was, and kept as far as the guess is right. What
is drawn and made is the same as one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import OutOfTime
from gpuga.evolution.group_seeds import GroupSeeds
from gpuga.evolution.heurgene_individual import HeurGeneIndividual
from gpuga.evolution.threads import on_threads
from gpuga.heuristics.hypercube import levels_by_cell
from gpuga.kernels import Stream
from gpuga.table.table import Ints, Mask


class Drawn(NamedTuple):
    """An order of the levels, the blur of the weights, if any, and where the stream stood behind each of the two."""

    order: Ints
    blur: NDArray[np.float64] | None
    unblurred: int
    behind: int


class KnownCircuits:
    """The circuits of individuals as numbers, so that one is compared with all others at once."""

    def __init__(self, cells: int, most: int) -> None:
        self._number: dict[bytes, int] = {}
        self._rows = np.zeros((most, cells), np.int64)
        self._count = 0

    def add(self, individual: HeurGeneIndividual) -> None:
        """Remember an individual."""
        self._rows[self._count] = self._numbers(individual)
        self._count += 1

    def much_alike(self, individual: HeurGeneIndividual) -> bool:
        """Whether most sensitive cells have the same circuit as in one of those remembered."""
        rows = self._rows[: self._count]
        unlike = (rows != self._numbers(individual)).sum(axis=1)
        return bool((2 * unlike < rows.shape[1]).any())

    def _numbers(self, individual: HeurGeneIndividual) -> list[int]:
        number = self._number
        return [number.setdefault(row.tobytes(), len(number)) for row in individual.lists]


class UnlikeSeeds:
    """The first population on one problem; `individual` gives a safe pattern its circuits."""

    def __init__(self, seeds: GroupSeeds, stream: Stream, individual: Callable[[Mask], HeurGeneIndividual]) -> None:
        self.seeds, self.stream, self.individual = seeds, stream, individual
        self.cells = len(np.unique(seeds.problem.levels.place))

    def grow(self, found: list[HeurGeneIndividual], count: int) -> None:
        """Add individuals until there are `count`; fewer where the time ends, `OutOfTime` where there are none."""
        clock, known = self.seeds.problem.clock, KnownCircuits(self.cells, max(count, len(found)))
        for one in found:
            known.add(one)
        blurred, size = False, 1
        while len(found) < count and not (found and clock.expired()):
            drawn = [self._draw(blurred) for _ in range(min(size, self.seeds.at_once, count - len(found)))]
            try:
                right = self._take(drawn, blurred, found, known)
            except OutOfTime:
                if not found:
                    raise
                return
            blurred, size = (blurred, 2 * size) if right else (not blurred, 1)

    def _draw(self, blurred: bool) -> Drawn:
        order = levels_by_cell(self.seeds.problem, self.stream.permutation(self.cells))
        unblurred = self.stream.position
        blur = self._blur() if blurred else None
        return Drawn(order, blur, unblurred, self.stream.position)

    def _blur(self) -> NDArray[np.float64]:
        return 0.7 + 0.6 * self.stream.uniform(len(self.seeds.problem.table))

    def _made(self, drawn: Sequence[Drawn], blurred: bool) -> list[HeurGeneIndividual]:
        blurs = [one.blur if blurred else None for one in drawn]
        return on_threads(self.individual, self.seeds.made([one.order for one in drawn], blurs))

    def _take(
        self, drawn: Sequence[Drawn], blurred: bool, found: list[HeurGeneIndividual], known: KnownCircuits
    ) -> bool:
        """Add the individuals of a group up to the first one for which the guess was wrong; whether there was none."""
        usual = self._made(drawn, False)
        again = self._made(drawn[: len(usual)], True) if blurred else usual
        for one, made, other in zip(drawn, usual, again, strict=False):
            alike = known.much_alike(made)
            chosen = other if alike == blurred else made
            self.stream.position = one.behind if alike == blurred else one.unblurred
            if alike and not blurred:
                (chosen,) = self._made([one._replace(blur=self._blur())], True)
            found.append(chosen)
            known.add(chosen)
            if alike != blurred:
                return False
        return True
