"""Costs: what a suppression and a recoding lose, as integers; linear or by entropy.

Suppressing field f of record r costs `c[r, f]`, recoding field f by rule k costs `d[f][k]`; both in units of
`1/scale`. Entropy: a suppressed score loses the field's entropy H(X), a recoding loses, in every record, the
entropy H(X | recoded X) that the coarser score leaves, times a weight: a bit lost evenly in all records harms
analyses less than a bit lost in those records only that are rare. Linear: a suppressed score loses the field's
weight, a recoding the share of codes that it merges, so that one code for all costs as much as suppressing the
whole field. Records may have costs of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError
from gpuga.microdata.recoding import RecodingRule

Ints = NDArray[np.int64]

SCALE = 1000
"""Costs are kept in thousandths."""
IMPOSSIBLE = 2**55
"""Above every cost: costs and their sixtieths stay within int64."""
RECODE_WEIGHT = 0.1
"""What a bit lost by recoding counts beside one lost by suppression: `docs/microdata.md` shows the trade-off."""


@dataclass(frozen=True, eq=False)
class Costs:
    """Suppression costs per class (int64[classes, fields], above 0), each record's class; recoding costs."""

    suppress: Ints
    record_class: Ints
    recode: tuple[Ints, ...]
    scale: int = SCALE


@dataclass(frozen=True, eq=False)
class OwnCosts:
    """Records' own costs: a factor for all their suppressions, and by field what replaces the field's cost.

    int64[records] each, in units of `1/unit` with the unit beside them.
    """

    factor: tuple[Ints, int] | None = None
    by_field: Mapping[int, tuple[Ints, int]] = field(default_factory=dict)


def entropy_costs(
    codes: NDArray[np.int32], rules: Sequence[Sequence[RecodingRule]], recode_weight: float = 1.0
) -> Costs:
    """Costs in bits of information; bits lost by recoding count `recode_weight`."""
    suppress, recode = [], []
    for f, choices in enumerate(rules):
        counts = np.bincount(codes[codes[:, f] >= 0, f], minlength=len(choices[0].image))
        whole = _bits(counts)
        kept = [_bits(np.bincount(rule.image, weights=counts)) for rule in choices]
        suppress.append(max(round(whole / max(counts.sum(), 1) * SCALE), 1))
        recode.append(np.array([round((whole - k) * recode_weight * SCALE) for k in kept], np.int64))
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
    for f, choices in enumerate(rules):
        present = int((codes[:, f] >= 0).sum())
        distinct = [len(set(rule.image)) for rule in choices]
        lost = [(distinct[0] - count) / max(distinct[0] - 1, 1) for count in distinct]
        costs = [round(present * weights[f] * share * SCALE) for share in lost]
        if recode and f in recode:
            costs = [0] + [round(d * SCALE) for d in recode[f]]
            if len(costs) != len(choices):
                raise InputError(
                    f"gives {len(costs) - 1} recoding costs for {len(choices) - 1} rules",
                    field="--recode-cost",
                )
        recoding.append(np.array(costs, np.int64))
    return _checked(suppress, len(codes), recoding)


def with_own_costs(costs: Costs, own: OwnCosts) -> Costs:
    """The costs with those of single records: equal ones make a class. Each is at least one unit."""
    wanted = costs.suppress[costs.record_class]
    for f, (amount, unit) in own.by_field.items():
        wanted[:, f] = _times(SCALE, amount, unit)
    if own.factor is not None:
        for f in range(wanted.shape[1]):
            wanted[:, f] = _times(wanted[:, f], *own.factor)
    suppress, record_class = np.unique(wanted, axis=0, return_inverse=True)
    found = replace(costs, suppress=suppress, record_class=record_class.reshape(-1).astype(np.int64))
    _refuse_large(found)
    return found


def _times(cost: Ints | int, amount: Ints, unit: int) -> Ints:
    """`cost * amount / unit`, rounded and at least 1, exact in int64."""
    largest = int(np.max(cost))
    if largest * int(amount.max()) >= 2**62:
        raise InputError("the costs are too large for exact arithmetic: divide all of them by a thousand")
    return np.maximum((cost * amount + unit // 2) // unit, 1)


def _checked(suppress: Ints, records: int, recode: Sequence[Ints]) -> Costs:
    """Costs by field (int64[1, fields]), the same for all records."""
    if (suppress <= 0).any():
        raise InputError("the cost of a suppression must be above 0", field="--suppress-cost")
    if any((d < 0).any() for d in recode):
        raise InputError("the cost of a recoding must be 0 or more", field="--recode-cost")
    costs = Costs(suppress, np.zeros(records, np.int64), tuple(recode))
    _refuse_large(costs)
    return costs


def _refuse_large(costs: Costs) -> None:
    """Whatever is suppressed and recoded together has to stay below `IMPOSSIBLE`."""
    classes = np.bincount(costs.record_class, minlength=len(costs.suppress))
    most = sum(int(n) * sum(map(int, row)) for n, row in zip(classes, costs.suppress, strict=True))
    if most + sum(int(d.max()) for d in costs.recode) >= IMPOSSIBLE:
        raise InputError("the costs are too large for exact arithmetic: divide all of them by a thousand")
