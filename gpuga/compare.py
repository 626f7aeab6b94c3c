"""Several methods on one table, measured against one bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Unpack

from gpuga.backends import chosen_for
from gpuga.errors import GpugaError, Infeasible
from gpuga.methods import COMPARED, method_names
from gpuga.protect import RunOptions, protect
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
    **run: Unpack[RunOptions],
) -> Comparison:
    """Run each of the `methods` on a `table`, and measure all of them against the best lower bound.

    Further arguments are those of `gpuga.protect` and the same for all: `seconds` (for each), `seed`, `backend`, ...

    A method that fails does not stop the others; a table for which no safe pattern exists raises `Infeasible`.
    """
    chosen_for(run.get("backend", "auto"), run.get("device"))  # a back end that is not there is no method's fault
    entries = []
    for name in method_names(methods):
        try:
            entries.append(Entry(name, protect(table, name, **run)))
        except Infeasible:
            raise
        except GpugaError as fault:
            entries.append(Entry(name, None, str(fault)))
    bounds = [e.protection.bound.lower_bound for e in entries if e.protection and e.protection.bound]
    return Comparison(table, tuple(entries), max(bounds, default=None))
