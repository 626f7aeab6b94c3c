"""Weights: what it costs to suppress a cell, by its value, its contributors, evenly, or by logarithm."""

from __future__ import annotations

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.table.table import Ints, Mask

KINDS = ("value", "count", "unit", "log")

LOG_SCALE = 10**6
"""Logarithms are kept to six decimals, so that costs stay exact sums of integers."""


def weigh(kind: str, value: Ints, scale: int, contributors: Ints | None, known: Mask | None = None) -> tuple[Ints, int]:
    """Weights of one kind as integers, and their scale: `|a|`, contributors, 1, or `log(1 + |a|)`.

    `known` says for which cells the number of contributors is known (all, when None).
    """
    if kind == "value":
        return np.abs(value), scale
    if kind == "unit":
        return np.ones(len(value), np.int64), 1
    if kind == "log":
        return np.rint(np.log1p(np.abs(value) / scale) * LOG_SCALE).astype(np.int64), LOG_SCALE
    if kind == "count":
        return _counts(contributors, known), 1
    raise InputError(f"unknown weights {printable(kind)!r}; choose one of {', '.join(KINDS)}", field="--weights")


def _counts(contributors: Ints | None, known: Mask | None) -> Ints:
    if contributors is None:
        raise InputError("weights by count need a column contributors", field="contributors")
    if known is not None and not known.all():
        cell = int(np.flatnonzero(~known)[0])
        raise InputError("is blank, but weights by count need it", field="contributors", cell=cell)
    return contributors
