"""How much of an experiment is run: a look, a selection, or all of it; and what all papers ask of finished rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from bench.runs import Row
from bench.statistics import Summary

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Extent:
    """Tables per experiment, repeats of randomised methods on each, CPU seconds for methods that take what they get."""

    name: str
    tables: int
    repeats: int
    seconds: float

    @property
    def quick(self) -> bool:
        """Whether it is but a look."""
        return self.name == "quick"

    @property
    def full(self) -> bool:
        """Whether nothing is left out."""
        return self.name == "full"

    def pick(self, quick: Choice, standard: Choice, full: Choice) -> Choice:
        """What belongs to this extent."""
        return {"quick": quick, "standard": standard, "full": full}[self.name]


QUICK = Extent("quick", tables=2, repeats=1, seconds=4.0)
STANDARD = Extent("standard", tables=3, repeats=1, seconds=5.0)
FULL = Extent("full", tables=10, repeats=3, seconds=15.0)
"""A look in minutes; something of every experiment in about a quarter of an hour of two cores; all, in many hours."""

STATISTICS = ("average", "median", "highest", "lowest", "sd")


def rows_of(rows: Iterable[Row], experiment: str, method: str, variant: str = "") -> list[Row]:
    """The rows of one method in one experiment."""
    return [r for r in rows if (r.experiment, r.method, r.variant) == (experiment, method, variant)]


def per_table(rows: Iterable[Row], field: str = "cost") -> dict[str, float]:
    """The average of a figure over the repeats, for each table where there is one."""
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        value = getattr(row, field)
        if value is not None and not row.fault:
            values[row.table].append(float(value))
    return {table: fmean(many) for table, many in values.items()}


def summary(rows: Iterable[Row], field: str = "cost") -> Summary | None:
    """Statistics over the tables' averages, as the papers report them."""
    return Summary.of(list(per_table(rows, field).values()))


def best_bounds(rows: Iterable[Row]) -> dict[str, float]:
    """For each table the best lower bound that any method proved."""
    bounds: dict[str, float] = {}
    for row in rows:
        if row.lower_bound is not None:
            bounds[row.table] = max(row.lower_bound, bounds.get(row.table, 0.0))
    return bounds


def gaps(rows: Iterable[Row], bounds: Mapping[str, float]) -> dict[str, float]:
    """How far each table's average cost is above its bound, relative to it, where the bound is not 0."""
    costs = per_table(rows)
    return {t: costs[t] / bounds[t] - 1 for t in costs if bounds.get(t, 0) > 0}


def average(values: Iterable[float]) -> float | None:
    """The average, or None of nothing."""
    listed: Sequence[float] = list(values)
    return fmean(listed) if listed else None


def statistic(found: Summary | None, name: str) -> float | None:
    """One of the STATISTICS of a summary, or None without one."""
    value: float | None = None if found is None else getattr(found, name)
    return value


def counted(rows: Iterable[Row]) -> str:
    """How many tables, and runs where those are more, stand behind a figure."""
    listed = [row for row in rows if not row.fault]
    tables = len({row.table for row in listed})
    return str(tables) if tables == len(listed) else f"{tables} ({len(listed)} runs)"


def proven(rows: Iterable[Row]) -> str:
    """How many results are proven optimal, of how many."""
    listed = [row for row in rows if not row.fault]
    return f"{sum(row.optimal for row in listed)} of {len(listed)}"
