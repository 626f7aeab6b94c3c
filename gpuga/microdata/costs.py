"""Costs: what a suppression and a recoding lose, as integers; linear or by entropy.

Suppressing field f of record r costs `c[r, f]`, recoding field f by rule k costs `d[f][k]`; both in units of
`1/scale`. Entropy: a suppressed score loses the field's entropy H(X), a recoding loses, in every record, the
entropy H(X | recoded X) that the coarser score leaves. Linear: a suppressed score loses the field's weight, a
recoding the share of codes that it merges, so that one code for all costs as much as suppressing the whole
field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError
from gpuga.microdata.recoding import RecodingRule

Ints = NDArray[np.int64]

SCALE = 1000
"""Costs are kept in thousandths."""


@dataclass(frozen=True, eq=False)
class Costs:
    """Suppression costs per class (int64[classes, fields], above 0), each record's class; recoding costs."""

    suppress: Ints
    record_class: Ints
    recode: tuple[Ints, ...]
    scale: int = SCALE


def entropy_costs(codes: NDArray[np.int32], rules: Sequence[Sequence[RecodingRule]]) -> Costs:
    """Costs in bits of information."""
    suppress, recode = [], []
    for field, choices in enumerate(rules):
        counts = np.bincount(codes[codes[:, field] >= 0, field], minlength=len(choices[0].image))
        whole = _bits(counts)
        kept = [_bits(np.bincount(rule.image, weights=counts)) for rule in choices]
        suppress.append(max(round(whole / max(counts.sum(), 1) * SCALE), 1))
        recode.append(np.array([round((whole - k) * SCALE) for k in kept], np.int64))
    return _checked(np.array([suppress], np.int64), len(codes), recode)


def _bits(counts: NDArray[np.int64] | NDArray[np.float64]) -> float:
    """`n H` for counts that sum to n."""
    some = np.asarray(counts[counts > 0], np.float64)
    return float((some * np.log2(some.sum() / some)).sum())


def linear_costs(
    codes: NDArray[np.int32],
    rules: Sequence[Sequence[RecodingRule]],
    weight: Sequence[float] | None = None,
    recode: Mapping[int, Sequence[float]] | None = None,
) -> Costs:
    """Costs by field weights (default 1); `recode[f]` gives a field's recoding costs, rule 1 first."""
    weights = [1.0] * len(rules) if weight is None else list(weight)
    suppress = np.array([[max(round(w * SCALE), 0) for w in weights]], np.int64)
    recoding = []
    for field, choices in enumerate(rules):
        present = int((codes[:, field] >= 0).sum())
        lost = [1 - (len(set(r.image)) - 1) / max(len(set(choices[0].image)) - 1, 1) for r in choices]
        costs = [round(present * weights[field] * share * SCALE) for share in lost]
        if recode and field in recode:
            costs = [0] + [round(d * SCALE) for d in recode[field]]
            if len(costs) != len(choices):
                raise InputError(
                    f"gives {len(costs) - 1} recoding costs for {len(choices) - 1} rules",
                    field="--recode-cost",
                )
        recoding.append(np.array(costs, np.int64))
    return _checked(suppress, len(codes), recoding)


def _checked(suppress: Ints, records: int, recode: Sequence[Ints]) -> Costs:
    """Costs by field (int64[1, fields]), the same for all records."""
    if (suppress <= 0).any():
        raise InputError("the cost of a suppression must be above 0", field="--suppress-cost")
    if any((d < 0).any() for d in recode):
        raise InputError("the cost of a recoding must be 0 or more", field="--recode-cost")
    return Costs(suppress, np.zeros(records, np.int64), tuple(recode))
