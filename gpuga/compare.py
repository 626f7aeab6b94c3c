"""Several methods on one table, measured against one bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gpuga.context import Progress
from gpuga.errors import GpugaError, Infeasible
from gpuga.methods import COMPARED, method_names
from gpuga.protect import protect
from gpuga.protection import relative_gap
from gpuga.result import Protection
from gpuga.table.table import Table


@dataclass(frozen=True)
class Entry:
    """One method's result; `protection` is None if it failed, and `fault` says why."""

    method: str
    protection: Protection | None
    fault: str = ""


@dataclass(frozen=True)
class Comparison:
    """The results in the order of the methods, and the best lower bound that any of them proved."""

    table: Table
    entries: tuple[Entry, ...]
    lower_bound: int | Fraction | None

    def gap(self, entry: Entry) -> float | None:
        """The gap of an entry to the best lower bound; None without one."""
        if entry.protection is None or self.lower_bound is None:
            return None
        return relative_gap(entry.protection.scaled_cost, self.lower_bound)


def compare(
    table: Table,
    methods: Sequence[str] = COMPARED,
    *,
    seconds: float | None = None,
    seed: int = 0,
    strict: bool = False,
    whole: str = "auto",
    level_zero: str = "exact",
    progress: Progress | None = None,
) -> Comparison:
    """Run each method with the same seed and time limit, and measure all of them against the best lower bound.

    A method that fails does not stop the others; a table for which no safe pattern exists raises `Infeasible`.
    """
    entries = []
    for name in method_names(methods):
        try:
            found = protect(
                table,
                name,
                seed=seed,
                seconds=seconds,
                strict=strict,
                whole=whole,
                level_zero=level_zero,
                progress=progress,
            )
            entries.append(Entry(name, found))
        except Infeasible:
            raise
        except GpugaError as fault:
            entries.append(Entry(name, None, str(fault)))
    bounds = [e.protection.bound.lower_bound for e in entries if e.protection and e.protection.bound]
    return Comparison(table, tuple(entries), max(bounds, default=None))
