"""What the papers measure of tables themselves: exposure, redundant levels, the linear bound; counts only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuga.bounds.search import master_of
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.evolution.orderings import OrderingVariant, items_of
from gpuga.problem.two_way import two_way_problem
from gpuga.table.table import Table

ALL_ROUNDS = 10_000


def exposure(table: Table, context: Context) -> dict[str, Any]:
    """Primaries, candidates for initial exposure (K), and those that single lines show (Ku)."""
    wanted = {
        name: items_of(table, OrderingVariant(name, as_published=True), context.strict) for name in ("one-k", "ku")
    }
    return {"primaries": len(table.sensitive), "K": len(wanted["one-k"]), "Ku": len(wanted["ku"])}


def redundant_levels(table: Table, context: Context) -> dict[str, Any]:
    """Levels, and those that the sensitive cells alone do not meet: what is left of the preprocessing of GenSup."""
    levels = table.levels
    asked = sum(int((table.primary & (side > 0)).sum()) for side in (levels.upper, levels.lower))
    return {"levels": asked, "open": len(two_way_problem(table, context).levels.place)}


def linear_bound(table: Table, context: Context) -> dict[str, Any]:
    """The bound of the cuts' linear program at its end, and whether its solution is whole."""
    problem = two_way_problem(table, context)
    if not len(problem.levels.place):
        return {"bound": 0.0, "whole": 1}
    master = master_of(problem, by_paths(problem, problem.costs(), plain()))
    master.tighten(context.clock, ALL_ROUNDS)
    point = master.point()
    whole = bool((np.minimum(np.abs(point), np.abs(1 - point)) < 1e-6).all())
    return {"whole": int(whole)}


MEASURES: dict[str, Callable[[Table, Context], dict[str, Any]]] = {
    "exposure": exposure,
    "redundant levels": redundant_levels,
    "linear bound": linear_bound,
}
