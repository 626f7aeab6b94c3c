"""What patterns of a table are judged by: cost, suppressed cells, totals lost, difference from an earlier pattern."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gpuga.errors import InputError
from gpuga.evolution.population import Population
from gpuga.parameters import OBJECTIVES
from gpuga.problem.problem import TableProblem
from gpuga.table.likeness import Likeness
from gpuga.table.table import Ints
from gpuga.table.wishes import totals_of


class Objectives:
    """The objectives of one problem, all minimised: the true cost, how many cells are suppressed besides the forced
    ones, how many of these are totals of something, in how many cells an earlier pattern differs."""

    def __init__(self, problem: TableProblem, names: Sequence[str], likeness: Likeness | None = None) -> None:
        unknown = [name for name in names if name not in OBJECTIVES]
        if unknown or not names:
            raise InputError(f"choose from {', '.join(OBJECTIVES)}", field="objectives")
        if "difference" in names and likeness is None:
            raise InputError("a difference needs an earlier pattern: give like", field="objectives")
        self.problem, self.names, self.likeness = problem, tuple(names), likeness
        everywhere = np.ones(len(problem.table), bool)
        self._shown = np.asarray(problem.secondary(everywhere)).ravel()
        self._totals = np.asarray(problem.secondary(totals_of(problem.table))).ravel()

    def values(self, population: Population) -> Ints:
        """The objectives of every individual (int64[P, k])."""
        patterns = population.unpacked(range(len(population)))[:, self._shown]
        of: dict[str, Callable[[], Ints]] = {
            "cost": lambda: population.costs if self.likeness is None else patterns @ self._weight(self.likeness),
            "cells": lambda: patterns.sum(1),
            "totals": lambda: patterns[:, self._totals[self._shown]].sum(1),
            "difference": lambda: self._differences(population),
        }
        return np.column_stack([of[name]() for name in self.names]).astype(np.int64)

    def prices(self) -> list[Ints]:
        """Weights int64[n] that lead to patterns with few cells, with few totals, and like the earlier one."""
        size = self.problem.weight.size
        few = {"cells": np.ones(size, np.int64), "totals": 1 + 99 * self._totals.astype(np.int64)}
        if self.likeness is not None:
            before = np.asarray(self.problem.secondary(self.likeness.start(self.problem.table))).ravel()
            few["difference"] = np.where(before, 1, 100).astype(np.int64)
        return [few[name] for name in self.names if name in few]

    def _weight(self, likeness: Likeness) -> Ints:
        """The true weights of the cells that may be suppressed; the problem's price differences."""
        true = self.problem.table.weight // likeness.factors()
        return self._laid(true)[self._shown]

    def _laid(self, of_cells: Ints) -> Ints:
        plane = getattr(self.problem, "plane", None)
        return of_cells if plane is None else np.asarray(plane.lay(of_cells)).ravel()

    def _differences(self, population: Population) -> Ints:
        assert self.likeness is not None, "asked for at the beginning"
        shape = self.problem.weight.shape
        secondary = population.unpacked(range(len(population))) & self._shown
        whole = (self.problem.pattern(one.reshape(shape)) for one in secondary)
        return np.array([self.likeness.changes(one).difference for one in whole], np.int64)
