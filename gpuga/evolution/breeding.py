"""The operators of `circuits`: every one takes and gives whole populations, and works in the back end.

A child is a pattern that was *decoded*: every requirement is led along the cheapest circuit at given prices, in a
random order, then redundant cells are published, and the result is safe by construction. Children differ in what is
cheap for them: the cells of their parents (`mate`, by decoding with inherited cells), what is left after a part was
published (`mutate`, destroy and repair), or the prices of the relaxation alone (`newcomers`). Crossover also exchanges
connected components of what the parents differ in; those children are judged by the exact safety kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from deap import base
from numpy.typing import NDArray

from gpuga.context import Clock
from gpuga.evolution.population import Population, PopulationMember, Words, places_of
from gpuga.kernels.logic.decoding_price import BLUR, BY_CAPACITY, BY_NEED, BY_WEIGHT, SINGLE
from gpuga.kernels.random import Stream
from gpuga.table.table import Ints, Mask
from gpuga.table.witnesses import Witnesses


class Shares(NamedTuple):
    """Children per individual and generation: decoded with inherited cells, destroyed and repaired, from nothing."""

    decoded: float
    destroyed: float
    new: float


GROWTH = 1 / 8
"""The share by which a population grows that is smaller than it should be."""

EARLY = 0.06
"""The share of a limited time after which generations begin, with as many individuals as there are by then."""

SEEDING, FEWEST = 0.2, 12
"""The share of a limited time that individuals from nothing may take in all, and how many a population has at least."""

TOURNAMENT = 2
REFERENCES = 16
ELITE = 0.1
"""The share of a population that survives by cost alone; how many individuals others are compared with."""

STRENGTHS = (1, 2, 3, 4, 6, 8, 12)
"""How many cells are published at once, roughly, drawn anew for each individual."""


CHUNK = 0.2
"""Seconds of decoding between two looks at a limited time."""

GENERATION = 0.01
"""The share of a limited time that a generation should take."""

NONE = np.zeros(0, np.int64)

STYLES = np.array(
    [
        blur | single | narrow | order
        for blur in (0, BLUR, BLUR, BLUR)
        for single in (0, SINGLE)
        for narrow in (0, BY_CAPACITY, BY_CAPACITY, BY_CAPACITY)
        for order in (0, 0, 0, BY_NEED, BY_WEIGHT)
    ],
    np.int32,
)
"""How children are decoded, the better ways more often."""


Patterns: TypeAlias = Any
"""Patterns where a back end keeps them; all have `count`, `take(places)`, `joined(others)` and `unpacked()`."""


class Kernels(Protocol):
    """The operations of one table in a back end, on patterns that stay there."""

    shares: Shares
    usual: int  # the population size where the user names none

    @property
    def finds_circuits(self) -> bool:
        """Whether decoding needs no circuits from elsewhere."""

    @property
    def threads(self) -> int:
        """How many children are made at once."""

    @property
    def bytes_each(self) -> int:
        """What a pattern takes in memory."""

    def pack(self, suppressed: NDArray[np.bool_]) -> Patterns:
        """bool[P, n] as patterns of this back end; forced cells are added."""

    def nothing(self, count: int) -> Patterns:
        """Patterns of the forced cells alone."""

    def learn(self, witnesses: Witnesses) -> int:
        """Take circuits found elsewhere into a pool, where decoding finds them; how many were of use."""

    def proof(self, patterns: Patterns) -> Witnesses | None:
        """The exact changes that prove the first of some patterns; None where the audit finds them quickly."""

    def arrays(self, patterns: Patterns) -> dict[str, NDArray[Any]]:
        """The patterns as host arrays, for a checkpoint."""

    def of_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Patterns:
        """Patterns from such arrays."""

    def memory(self) -> dict[str, NDArray[Any]]:
        """What was learnt, for a checkpoint."""

    def remember(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Learn it again."""

    def set_prices(self, prices: NDArray[np.int64], core: Mask) -> None:
        """Prices int64[S, n] and the columns that are tried first."""

    def decode(
        self, start: Patterns, first: Patterns, second: Patterns, seeds: Words, style: Any, snapshot: Any
    ) -> tuple[Patterns, Mask]:
        """Patterns that lead every requirement from `start`; False where that is impossible."""

    def clean(self, patterns: Patterns, seeds: Words) -> Patterns:
        """The patterns without redundant cells."""

    def safe(self, patterns: Patterns) -> Mask:
        """Whether all requirements are met, exactly."""

    def destroy(self, patterns: Patterns, seeds: Words, strength: Any) -> Patterns:
        """The patterns with some cells published."""

    def costs(self, patterns: Patterns) -> Ints:
        """What the secondary suppressions cost."""

    def exchange(self, patterns: Patterns, pairs: Any, ways: Any, seeds: Words) -> tuple[Patterns, Ints]:
        """Children by components of their parents' difference, and what they gain."""

    def digests(self, patterns: Patterns) -> Words:
        """Equal for equal patterns."""

    def nearest(self, patterns: Patterns, others: Patterns) -> Ints:
        """In how many cells each pattern differs from the nearest other one."""


@dataclass
class Breeder:
    """The operators of one run; `without` names ingredients that are switched off to measure them.

    `elsewhere` counts seconds of a limited time that children took which others made, `owed` those of the first
    population that are still to be made.
    """

    kernels: Kernels
    stream: Stream
    size: int
    without: frozenset[str] = frozenset()
    clock: Clock = field(default_factory=Clock)
    children: int = 0
    share: float = 1.0
    snapshots: int = 0
    elsewhere: float = 0.0
    owed: int = 0
    _seconds_each: float = 0.01
    _due: float = 0.0

    SNAPSHOTS = 4
    """Prices of the relaxation that are kept; a child is decoded at one of them."""

    # --- prices ------------------------------------------------------------------------------------------

    def price(self, prices: Sequence[NDArray[np.int64]], core: Mask) -> None:
        """Decode at these prices from now on, the latest first; of the columns those of the core are tried first."""
        self.snapshots = len(prices)
        self.kernels.set_prices(np.stack(prices), core)

    # --- children ----------------------------------------------------------------------------------------

    def newcomers(self, count: int, start: Patterns | None = None) -> Population:
        """Individuals decoded from nothing, or from patterns that are completed."""
        nothing = self.kernels.nothing(count)
        return self._decoded(nothing if start is None else start, nothing, nothing)

    def seeded(self, count: int) -> Population:
        """A first population; of a limited time it takes a small share, and `vary` makes those that are owed then."""
        limit = self.clock.seconds
        if limit is None:
            return self.newcomers(min(count, self.size))
        few = min(self.kernels.threads, count, self.size)
        made, each = self._timed(few)  # the first ones also lay out memory
        if self.clock.spent() + few * each <= EARLY * limit:
            more, each = self._timed(few)
            made = made.joined(more)
        self._plan(each, limit)
        open_ = max(0, min(count, self.size) - len(made))
        fit = max(0, int((EARLY * limit - self.clock.spent()) / each))
        self.owed = max(0, open_ - fit)
        return made.joined(self.newcomers(open_ - self.owed))

    def _timed(self, count: int) -> tuple[Population, float]:
        """Newcomers, and the seconds that each of them took."""
        begun = self.clock.spent()
        made = self.newcomers(count)
        return made, max(1e-6, (self.clock.spent() - begun) / count)

    def _plan(self, each: float, limit: float) -> None:
        """The size of the population and of the first generation, where a child takes `each` seconds of a limit."""
        self.size = max(min(self.size, FEWEST), min(self.size, int(SEEDING * limit / each)))
        shares = self.kernels.shares
        children = self.size * (shares.decoded + shares.destroyed + GROWTH)
        self.share = min(1.0, GENERATION * limit / (each * children))

    def select(self, population: Population, k: int) -> list[PopulationMember]:
        """Parents by tournament."""
        drawn = self.stream.integers(0, len(population), k * TOURNAMENT).reshape(k, TOURNAMENT)
        won = drawn[np.arange(k), np.argmin(population.costs[drawn], axis=1)]
        members = population.members
        return [members[z] for z in won.tolist()]

    def mate(self, parents: Sequence[PopulationMember]) -> Population:
        """Children of pairs: by components of what they differ in, and some by decoding with inherited cells."""
        population = parents[0].population
        pairs = places_of(parents[: len(parents) // 2 * 2]).reshape(-1, 2)
        pairs = pairs[population.digests[pairs[:, 0]] != population.digests[pairs[:, 1]]]
        if not len(pairs):
            return population.take([])
        return self._exchanged(population, pairs).joined(self._inherited(population, pairs))

    def _exchanged(self, population: Population, pairs: Ints) -> Population:
        """The children that are safe and no dearer than their first parent, without redundant cells."""
        if "components" in self.without:
            return population.take([])
        ways = np.arange(len(pairs), dtype=np.int32) % 3
        seeds = self.stream.seeds(len(pairs))
        made, gains = self.kernels.exchange(population.patterns, pairs.astype(np.int32), ways, seeds)
        self.children += len(pairs)
        known = np.isin(self.kernels.digests(made), population.digests)
        worth = np.flatnonzero((gains >= 0) & ~known)
        made = made.take(worth)
        return self._cleaned(made, np.flatnonzero(self.kernels.safe(made)))

    def _inherited(self, population: Population, pairs: Ints) -> Population:
        if "inherit" in self.without:
            return population.take([])
        share = self.kernels.shares.decoded
        at_once = 1 if self.clock.seconds is None else min(self.kernels.threads, int(share * self.size))
        pairs = pairs[: max(at_once, self._count(share))]
        first, second = (population.take(pairs[:, side]).patterns for side in (0, 1))
        return self._decoded(self.kernels.nothing(len(pairs)), first, second)

    def mutate(self, population: Population) -> Population:
        """Individuals of which a part was published and led anew."""
        if "destroy" in self.without:
            return population.take([])
        count = self._destroyed()
        chosen = population.take(places_of(self.select(population, count)))
        strength = np.array(STRENGTHS, np.int32)[self.stream.integers(0, len(STRENGTHS), count)]
        left = self.kernels.destroy(chosen.patterns, self.stream.seeds(count), strength)
        return self._decoded(left, left, left)

    def vary(self, population: Population, toolbox: base.Toolbox) -> Population:
        """A generation's offspring; fewer where one would take more than a small share of a limited time."""
        begun = self.clock.spent() - self.elsewhere
        grown = len(population) >= self.size
        wanted = self._count(self.kernels.shares.new if grown else GROWTH)
        if grown and ("newcomers" in self.without or not self.kernels.shares.new):
            wanted = 0
        if self.owed:
            wanted = max(wanted, min(self.owed, self.kernels.threads))
            self.owed = max(0, self.owed - wanted)
        children: Population = toolbox.mate(toolbox.select(population, len(population)))
        children = children.joined(toolbox.mutate(population), toolbox.newcomers(wanted))
        if self.clock.seconds is not None:
            took = max(1e-3, self.clock.spent() - self.elsewhere - begun)
            self.share = min(1.0, self.share * GENERATION * self.clock.seconds / took)
        return children

    def _count(self, share: float) -> int:
        """How many children a share of the population is, at least one."""
        return max(1, int(self.share * share * self.size))

    def _destroyed(self) -> int:
        """How many individuals are destroyed; where generations are too small for one, one every few generations.

        There it is as rare beside children with inherited cells as the shares say.
        """
        shares = self.kernels.shares
        count = int(self.share * shares.destroyed * self.size)
        if count or self.clock.seconds is None:
            return max(1, count)
        self._due += min(1.0, shares.destroyed / shares.decoded)
        count = int(self._due)
        self._due -= count
        return count

    def _decoded(self, start: Patterns, first: Patterns, second: Patterns) -> Population:
        """Children of all of these; where the time ends, of the first ones, and `OutOfTime` where there is none."""
        count, begun = start.count, self.clock.spent()
        made = [self._some_decoded(start.take(NONE), first.take(NONE), second.take(NONE))] if not count else []
        begin, size = 0, count
        if self.clock.seconds is not None:
            size = max(self.kernels.threads, int(CHUNK / self._seconds_each))
        while begin < count:
            if made and self.clock.expired():
                break
            which = np.arange(begin, min(count, begin + size))
            made.append(self._some_decoded(start.take(which), first.take(which), second.take(which)))
            begin += len(which)
            self._seconds_each = max(1e-6, (self.clock.spent() - begun) / begin)
        return made[0].joined(*made[1:])

    def _some_decoded(self, start: Patterns, first: Patterns, second: Patterns) -> Population:
        count = start.count
        style = STYLES[self.stream.integers(0, len(STYLES), count)]
        # every other child takes the latest prices
        snapshot = np.maximum(0, self.stream.integers(1 - self.snapshots, self.snapshots, count))
        seeds = self.stream.seeds(count)
        made, possible = self.kernels.decode(start, first, second, seeds, style, snapshot.astype(np.int32))
        self.children += count
        return self._cleaned(made, np.flatnonzero(possible))

    def _cleaned(self, patterns: Patterns, which: Ints) -> Population:
        """Those patterns without redundant cells, as individuals."""
        return self.evaluated(self.kernels.clean(patterns.take(which), self.stream.seeds(len(which))))

    def evaluated(self, patterns: Patterns) -> Population:
        """Patterns as individuals with their costs."""
        return Population(patterns, self.kernels.costs(patterns), self.kernels.digests(patterns))

    # --- survival ----------------------------------------------------------------------------------------

    def survive(self, population: Population, offspring: Population) -> Population:
        """The best by rank of cost and of dissimilarity; no pattern twice, a tenth by cost alone."""
        both = population.joined(offspring)
        order = both.distinct()
        size = min(self.size, len(order))
        if "dissimilarity" in self.without or len(order) == size:
            return both.take(order[:size])
        reference = np.concatenate([[0], self.stream.integers(0, len(order), REFERENCES)])
        sorted_ = both.take(order)
        apart = self.kernels.nearest(sorted_.patterns, sorted_.take(reference).patterns)
        rank = np.arange(len(order)) + np.argsort(np.argsort(-apart, kind="stable"), kind="stable") // 2
        rank[: max(1, int(ELITE * size))] = -1
        return sorted_.take(np.sort(np.argsort(rank, kind="stable")[:size]))
