"""Tiny random problems, and their cheapest protection by trying everything, straight from the definitions."""

from __future__ import annotations

from itertools import product

import numpy as np

from gpuga.microdata.costs import entropy_costs, linear_costs
from gpuga.microdata.keys import make_keys
from gpuga.microdata.problem import Problem
from gpuga.microdata.recoding import field_rules


def tiny_problem(seed: int) -> Problem:
    """4 records of 3 fields or 6 of 2, two or three rules for the first fields; every fourth with caps."""
    rng = np.random.default_rng(seed)
    records, fields = ((4, 3), (6, 2))[seed % 2]
    codes = rng.integers(0, 4, (records, fields)).astype(np.int32)
    codes[rng.random(codes.shape) < 0.05] = -1
    names = [f"f{f}" for f in range(fields)]
    specs = ["width:2", "width:2,4", None][:fields]
    rules = tuple(tuple(field_rules(n, [str(c) for c in range(4)], spec)) for n, spec in zip(names, specs, strict=True))
    keys = make_keys(names, int(rng.integers(1, fields + 1)), int(rng.integers(2, 4)))
    if seed % 3:
        weights = [float(rng.integers(1, 4)) for _ in range(fields)]
        costs = linear_costs(codes, rules, weights)
    else:
        costs = entropy_costs(codes, rules, float(rng.choice([0.1, 0.5, 1.0])))
    caps = {int(rng.integers(fields)): int(rng.integers(0, 3))} if seed % 4 == 3 else {}
    return Problem(codes, keys, rules, costs, caps)


def cheapest(problem: Problem, mode: str) -> int | None:
    """The lowest cost of any recoding with any suppressions: `nothing` counts again, `anything` as the paper does."""
    found = [_cheapest_suppressions(problem, k, mode) for k in product(*map(range, problem.choices))]
    return min((cost for cost in found if cost is not None), default=None)


def _cheapest_suppressions(problem: Problem, recoding: tuple[int, ...], mode: str) -> int | None:
    codes, _ = problem.recoded(recoding)
    records, fields = codes.shape
    every = (np.arange(2**codes.size)[:, None] >> np.arange(codes.size)) & 1
    gone = every.reshape(-1, records, fields).astype(bool)
    fine = np.ones(len(gone), bool)
    for field, cap in problem.caps.items():
        fine &= (gone[:, :, field] & (codes[:, field] >= 0)).sum(axis=1) <= cap
    for key in problem.keys.keys:
        members = list(key.fields)
        present = (codes[:, members] >= 0).all(axis=1)
        seen = ~gone[:, :, members].any(axis=2) & present
        for record in np.flatnonzero(present):
            same = present & (codes[:, members] == codes[record, members]).all(axis=1)
            count = (seen & same).sum(axis=1) if mode == "nothing" else np.full(len(gone), int(same.sum()))
            fine &= ~seen[:, record] | (count >= key.threshold)
    if not fine.any():
        return None
    costs = problem.costs.suppress[problem.costs.record_class]
    lost = (gone[fine] & (codes >= 0)) * costs
    return problem.recoding_cost(recoding) + int(lost.sum(axis=(1, 2)).min())
