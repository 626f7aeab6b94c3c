"""Statistics as the papers report them: summaries of costs and times, Friedman's ranks, Wilcoxon's signed ranks."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, wilcoxon
from scipy.stats import t as student


@dataclass(frozen=True)
class Summary:
    """Average, median, extremes and standard deviation (of a sample; None for a single value)."""

    count: int
    average: float
    median: float
    highest: float
    lowest: float
    sd: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary | None:
        """The summary of some values; None of none."""
        if not values:
            return None
        sd = statistics.stdev(values) if len(values) > 1 else None
        return cls(len(values), statistics.fmean(values), statistics.median(values), max(values), min(values), sd)


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """The mean and its confidence interval by Student's distribution; all three alike for a single value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, mean, mean
    half = float(student.ppf((1 + confidence) / 2, len(values) - 1)) * statistics.stdev(values) / len(values) ** 0.5
    return mean, mean - half, mean + half


@dataclass(frozen=True)
class Friedman:
    """Mean ranks per method (the higher, the larger its values) and the probability of no difference."""

    ranks: tuple[float, ...]
    p: float | None


def friedman(values: NDArray[np.float64]) -> Friedman:
    """Friedman's test of values[table, method]; ties share their ranks. Less than three methods have no p."""
    ranks = np.apply_along_axis(rankdata, 1, values).mean(axis=0)
    different = bool((values != values[:, :1]).any())
    p = float(friedmanchisquare(*values.T).pvalue) if values.shape[1] > 2 and different else None
    return Friedman(tuple(float(rank) for rank in ranks), p)


def wilcoxon_p(one: NDArray[np.float64], two: NDArray[np.float64]) -> float | None:
    """Two-sided probability of Wilcoxon's signed ranks that the pairs do not differ; None if no pair does."""
    if np.array_equal(one, two):
        return None
    return float(wilcoxon(one, two).pvalue)
