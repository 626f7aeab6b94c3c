"""The microdata protection problem: coded records, keys, recoding rules and costs; and what one recoding
costs.

A recoding is one rule per field (int vector k). Its cost is that of the rules plus, record by record, that
of the cheapest suppressions which take a field from every combination that is still rare in the recoded file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpuga.microdata.costs import Costs
from gpuga.microdata.cover import cheapest_covers, cover_costs
from gpuga.microdata.keys import Keys
from gpuga.microdata.recoding import RecodingRule
from gpuga.microdata.unsafe import Families, families, minucs, set_masks, unsafe_words

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Recoding = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """`codes` int32[records, fields], -1 where missing; `rules[f][0]` leaves field f as it is.

    `caps` limits the suppressions of some fields.
    """

    codes: Codes
    keys: Keys
    rules: tuple[tuple[RecodingRule, ...], ...]
    costs: Costs
    caps: Mapping[int, int] = field(default_factory=dict)

    @property
    def fields(self) -> int:
        """Number of identifying fields."""
        return len(self.rules)

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """Number of rules per field."""
        return tuple(len(r) for r in self.rules)

    @cached_property
    def columns(self) -> Codes:
        """The codes field by field (int32[fields, records])."""
        return np.ascontiguousarray(self.codes.T)

    @property
    def unchanged(self) -> Recoding:
        """The recoding that leaves everything as it is."""
        return (0,) * self.fields

    @property
    def coarsest(self) -> Recoding:
        """The recoding by the last rule of every field."""
        return tuple(count - 1 for count in self.choices)

    @cached_property
    def nested(self) -> bool:
        """Whether every rule only merges codes of the rule before it: no recoding is then rarer than a finer one."""
        pairs = [pair for rules in self.rules for pair in pairwise(rules)]
        return all(_merges(finer.image, coarser.image) for finer, coarser in pairs)

    def recoded(self, recoding: Sequence[int]) -> tuple[Codes, Ints]:
        """The records' codes under a recoding, and the number of codes per field."""
        codes = self.codes.copy()
        for f, rule in enumerate(recoding):
            if rule:
                image = np.append(self.rules[f][rule].image, np.int32(-1))  # a missing score (-1) stays missing
                codes[:, f] = image[self.codes[:, f]]
        sizes = [len(self.rules[f][k].codes) for f, k in enumerate(recoding)]
        return codes, np.array(sizes, np.int64)

    @property
    def worst_cost(self) -> int:
        """What suppressing every score costs, in the dearest recoding."""
        every = np.bincount(self.costs.record_class) @ self.costs.suppress.sum(axis=1)
        return int(every) + sum(int(costs.max()) for costs in self.costs.recode)

    def recoding_cost(self, recoding: Sequence[int]) -> int:
        """The cost of the rules alone."""
        return int(sum(int(self.costs.recode[f][k]) for f, k in enumerate(recoding)))


def _merges(finer: NDArray[np.int32], coarser: NDArray[np.int32]) -> bool:
    """Whether codes with one image under the finer rule have one image under the coarser rule."""
    return len(np.unique(np.stack([finer, coarser]), axis=1).T) == len(np.unique(finer))


@dataclass(frozen=True, eq=False)
class Suppressions:
    """The cheapest local suppressions of a recoded file: families of records and the cover of each."""

    families: Families
    covers: Ints
    proven: bool
    cost: int


def local_suppression(problem: Problem, codes: Codes, sizes: Ints, *, exact: bool = True) -> Suppressions:
    """The cheapest suppressions that protect every minuc of the records as they are now."""
    minimal = minucs(unsafe_words(codes, sizes, problem.keys), problem.keys)
    grouped = families(minimal, problem.costs.record_class)
    start, _, masks = set_masks(grouped.words, problem.keys)
    costs = problem.costs.suppress[grouped.cost_class]
    covers, proven = cheapest_covers(start, masks, costs, exact=exact)
    total = int((cover_costs(covers, costs) * grouped.size).sum())
    return Suppressions(grouped, covers, bool(proven.all()), total)
