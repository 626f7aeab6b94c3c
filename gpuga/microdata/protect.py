"""Protecting records: the walk from coded records to records without rare combinations, and its account.

search over recodings -> lower bound -> local suppression -> re-count
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuga.backends import chosen_backend, chosen_for
from gpuga.context import Context
from gpuga.errors import GpugaError
from gpuga.files.notation import Written
from gpuga.microdata.finish import Finishing, cheapest_finished, prove
from gpuga.microdata.problem import Problem, Recoding
from gpuga.microdata.recount import recount, recount_as_known
from gpuga.microdata.relaxed import RecodingBound
from gpuga.microdata.search import SEARCHES, RecodingEvaluator
from gpuga.microdata.suppression import Suppressed
from gpuga.microdata.unsafe import minucs, unsafe_words
from gpuga.microdata.utility import utility
from gpuga.protection import relative_gap

WORK = 2_500_000_000
"""Records times keys that a search looks at, unless it is told how many recodings to evaluate."""
FINISHING, RECOUNT = 12.0, 3.0
"""Suppressing to the end with the re-count, and the re-count alone, last about so many first evaluations."""
SEARCHING = 0.8
"""Of a limited time the share of the search; the rest is for the lower bound."""


@dataclass(frozen=True)
class MicrodataParameters:
    """What is asked of the protection of records; fields are column names."""

    fields: tuple[str, ...]
    dimension: int = 3
    threshold: int | Mapping[int, int] = 3
    keys: tuple[tuple[tuple[str, ...], int], ...] = ()
    recode: Mapping[str, str] = field(default_factory=dict)
    cost: str = "entropy"
    suppress_cost: Mapping[str, float] = field(default_factory=dict)
    recode_cost: Mapping[str, Sequence[float]] = field(default_factory=dict)
    recode_weight: float | None = None
    record_weight: str | None = None
    suppress_cost_column: Mapping[str, str] = field(default_factory=dict)
    caps: Mapping[str, int] = field(default_factory=dict)
    search: str = "tabu"
    missing: str = "missing"
    missing_matches: str = "nothing"
    evaluations: int | None = None
    exact: bool = True
    written: Written = field(default_factory=Written)


@dataclass(frozen=True, eq=False)
class MicrodataProtection:
    """A protected file: its problem, recoding, suppressions, the re-count's finding and a proven bound."""

    problem: Problem
    recoding: Recoding
    suppressed: Suppressed
    bound: RecodingBound
    remaining: int
    search: str
    seed: int
    evaluations: int
    seconds: float

    @property
    def cost(self) -> int:
        """Recoding and suppression, in units of `1/scale`."""
        return self.problem.recoding_cost(self.recoding) + self.suppressed.cost

    @property
    def gap(self) -> float | None:
        """`(cost - lower_bound) / lower_bound`; None where a bound of 0 stands against a cost."""
        return relative_gap(self.cost, self.bound.value)

    def account(self) -> dict[str, Any]:
        """What was done and why, in figures; no record's scores."""
        problem, scale = self.problem, self.problem.costs.scale
        before = _risk(problem, problem.unchanged)
        return {
            "schema": 1,
            "records": len(problem.codes),
            "fields": list(problem.keys.fields),
            "keys": len(problem.keys),
            "unsafe_before": before,
            "recodings": [self._why(f) for f in range(problem.fields) if self.recoding[f]],
            "unsafe_after_recoding": _risk(problem, self.recoding),
            "suppressions": {
                name: int(self.suppressed.suppressed[:, f].sum()) for f, name in enumerate(problem.keys.fields)
            },
            "remaining_unsafe": self.remaining,
            "utility": utility(problem, self.suppressed.codes),
            "cost_before_recount": (problem.recoding_cost(self.recoding) + self.suppressed.first_round_cost) / scale,
            "cost": self.cost / scale,
            "recoding_cost": problem.recoding_cost(self.recoding) / scale,
            "suppression_cost": self.suppressed.cost / scale,
            "lower_bound": float(self.bound.value / scale),
            "bound": self.bound.kind,
            "gap": self.gap,
            "optimal": self.cost <= self.bound.value,
            "search": self.search,
            "seed": self.seed,
            "evaluations": self.evaluations,
            "rounds": self.suppressed.rounds,
            "seconds": round(self.seconds, 3),
        }

    def _why(self, at: int) -> dict[str, Any]:
        """A field's rule, and how many combinations would be unsafe without it and are with it."""
        without = (*self.recoding[:at], 0, *self.recoding[at + 1 :])
        scale = self.problem.costs.scale
        return {
            "field": self.problem.keys.fields[at],
            "rule": self.problem.rules[at][self.recoding[at]].name,
            "cost": int(self.problem.costs.recode[at][self.recoding[at]]) / scale,
            "unsafe_without": _risk(self.problem, without)["combinations"],
            "unsafe_with": _risk(self.problem, self.recoding)["combinations"],
        }


def _risk(problem: Problem, recoding: Recoding) -> dict[str, int]:
    """Unsafe combinations, minimal ones, and records that have any."""
    words = unsafe_words(*problem.recoded(recoding), problem.keys)
    return {
        "combinations": int(np.bitwise_count(words).sum()),
        "minucs": int(np.bitwise_count(minucs(words, problem.keys)).sum()),
        "records": int(words.any(axis=1).sum()),
    }


def protect_records(
    problem: Problem, parameters: MicrodataParameters, context: Context | None = None
) -> MicrodataProtection:
    """Search for a recoding, suppress the rest, and count again.

    The context's clock ends the search early enough for the rest; what is found until then is the answer.
    """
    context = context or Context()
    clock, limit = context.clock, _limit(problem, parameters)
    before = clock.spent()
    context.progress.stage("search", total=limit)
    # a batch is all neighbours of a recoding, each counted over all records
    backend = chosen_for(context.backend, None, sum(problem.choices) * len(problem.codes))
    evaluator = RecodingEvaluator(
        problem,
        evaluations=limit,
        clock=clock,
        exact=parameters.exact,
        backend=chosen_backend(backend.name),
        progress=context.progress,
    )
    took = clock.spent() - before
    kept = before + FINISHING * took  # writing takes about as long as reading
    evaluator.clock = clock.keeping(kept).part(SEARCHING)
    SEARCHES[parameters.search](evaluator, np.random.default_rng(context.seed))
    context.progress.stage("lower bound")
    evaluator.clock = clock.keeping(kept)
    bound = evaluator.bound()
    once = parameters.missing_matches == "anything"
    how = Finishing(parameters.exact, once, clock.keeping(before + RECOUNT * took), context.progress)
    best = cheapest_finished(problem, evaluator, how)
    if parameters.search == "exact" and not once and best.cost > bound.value:
        best = prove(problem, evaluator, best, how)
        bound = max(bound, evaluator.bound(), key=lambda found: found.value)
    context.progress.stage("count again")
    remaining = _remaining(problem, best.recoding, best.suppressed, parameters)
    if remaining:
        raise GpugaError(f"a re-count still finds {remaining} unsafe combinations; nothing was written")
    return MicrodataProtection(
        problem,
        best.recoding,
        best.suppressed,
        bound,
        remaining,
        parameters.search,
        context.seed,
        len(evaluator.known),
        clock.spent(),
    )


def _remaining(problem: Problem, recoding: Recoding, suppressed: Suppressed, parameters: MicrodataParameters) -> int:
    """What a re-count finds: `missing` matches nothing, or could be anything."""
    if parameters.missing_matches == "nothing":
        return recount(suppressed.codes, problem.keys)
    return recount_as_known(problem.recoded(recoding)[0], ~suppressed.suppressed, problem.keys)


def _limit(problem: Problem, parameters: MicrodataParameters) -> int:
    """How many recodings are evaluated truly: as asked for, else so many that a large file takes minutes."""
    if parameters.evaluations is not None:
        return parameters.evaluations
    return max(10, min(1000, WORK // (len(problem.codes) * len(problem.keys))))
