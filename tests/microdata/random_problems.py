"""Random small microdata protection problems, and what a recoding costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuga.microdata.costs import entropy_costs, linear_costs
from gpuga.microdata.keys import make_keys
from gpuga.microdata.problem import Problem, local_suppression
from gpuga.microdata.recoding import field_rules


def random_problem(seed: int) -> Problem:
    """3 or 4 fields of 8 codes, 20 to 80 records, three rules per field; entropy or random linear costs."""
    rng = np.random.default_rng(seed)
    fields, records = int(rng.integers(3, 5)), int(rng.integers(20, 80))
    scores = [rng.integers(0, 8, records) * rng.integers(0, 8, records) // 7 for _ in range(fields)]
    codes = np.stack(scores, axis=1).astype(np.int32)
    names = [f"f{f}" for f in range(fields)]
    rules = tuple(tuple(field_rules(n, [str(c) for c in range(8)], "width:2,4")) for n in names)
    keys = make_keys(names, 3, int(rng.integers(2, 4)))
    if seed % 2:
        return Problem(codes, keys, rules, entropy_costs(codes, rules))
    weights = [float(rng.integers(1, 4)) for _ in range(fields)]
    recode = {f: [float(rng.integers(1, 20)), float(rng.integers(20, 60))] for f in range(fields)}
    return Problem(codes, keys, rules, linear_costs(codes, rules, weights, recode))


def true_cost(problem: Problem, recoding: Sequence[int]) -> int:
    """The cost of a recoding with its cheapest local suppressions."""
    return problem.recoding_cost(recoding) + local_suppression(problem, *problem.recoded(recoding)).cost
