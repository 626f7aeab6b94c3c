"""How cuts are derived, as the checker of proofs reads it: from which level, over which equations, rounded how.

In a two-way table a set of rows and columns stands for multipliers of their equations, +1 for rows and -1 for columns
(those of the totals the other way round): in the sum only the places that lead out of the set or into it are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuga.bounds.cut import Cut
from gpuga.bounds.separators.capacity_cuts import CapacityCut, residual_need
from gpuga.bounds.separators.line_cuts import SparseCut
from gpuga.bounds.separators.zero_half import OneOf
from gpuga.problem.two_way import TwoWayProblem
from gpuga.safety.network import Bytes
from gpuga.table.table import Ints
from gpuga.table.two_way import TwoWayTable

Derivation = list[Any]
"""A cut as the checker derives it again: nested lists of names and whole numbers, described in docs/safety.md."""

MOST_CUTS = 200_000
"""Derivations name at most so many cuts, repetitions included."""


class Derivations:
    """Derivations of cuts; those of a two-way table need its problem."""

    def __init__(self, problem: TwoWayProblem | None = None) -> None:
        self._two_way = None if problem is None else CapacityDerivations(problem)

    def of(self, cuts: Sequence[Cut]) -> list[Derivation]:
        """The derivations of cuts, of those that have one.

        Where they would be too long, the longest are left out: halves of halves of halves grow quickly.
        """
        known: dict[int, int] = {}
        length = np.array([_length(cut, known) for cut in cuts], np.float64)
        order = np.argsort(length, kind="stable")
        kept = order[np.cumsum(length[order]) <= MOST_CUTS]
        derived = (self._derivation(cuts[at]) for at in np.sort(kept).tolist())
        return [one for one in derived if one is not None]

    def _derivation(self, part: Any) -> Any:
        """A cut or a part of how it was made; None where the requirement that it was made of is not found again."""
        match part:
            case CapacityCut():
                return None if self._two_way is None else self._two_way.rounded(part)
            case SparseCut():
                return self._derivation(part.origin) if part.origin else None
            case OneOf():
                return self._derivation(("one", part.cut))
            case np.ndarray():
                return part.tolist()
            case tuple() | list():
                parts = [self._derivation(each) for each in part]
                return None if None in parts else parts
        return part


def _length(part: Any, known: dict[int, int]) -> int:
    """How many cuts a cut is made of, counted as often as they are named."""
    part = part.cut if isinstance(part, OneOf) else part
    part = part.origin if isinstance(part, SparseCut) else part
    if not isinstance(part, tuple | list):
        return int(isinstance(part, CapacityCut))
    if id(part) not in known:
        known[id(part)] = 1 + sum(_length(each, known) for each in part)
    return known[id(part)]


class CapacityDerivations:
    """Derivations of the capacity cuts of one two-way table."""

    def __init__(self, problem: TwoWayProblem) -> None:
        self.problem = problem
        self.forced: Ints = np.flatnonzero(problem.forced)
        self.line, self.sign = lines_of_nodes(problem.plane)

    def rounded(self, cut: CapacityCut) -> Derivation | None:
        """The derivation of a cut; None where the requirement that it was made of is not found again."""
        plain = self._plain(cut)
        if plain is None:
            return None
        cover = [self._cell(place) for place in cut.cover.tolist()]
        if cut.divisor <= 2 * cut.need:
            return ["divide", cut.divisor, cover, plain]
        return ["cover", cover, plain] if cover else plain

    def _plain(self, cut: CapacityCut) -> Derivation | None:
        """The level that asks for what the node set must carry."""
        problem = self.problem
        levels, width = problem.plain_levels, problem.shape[1]
        row, column = cut.rows[levels.place // width] > 0, cut.columns[levels.place % width] > 0
        # flow leaves the set from the source: the column of a place that carries it forward, else the row
        out = np.where(levels.forward, column & ~row, row & ~column)
        for q in np.flatnonzero(out & (levels.need >= cut.need)).tolist():
            own, need = int(levels.place[q]), int(levels.need[q])
            if residual_need(problem.net, self.forced, cut.rows, cut.columns, own, need) == cut.need:
                inner = problem.plane.sign.ravel()[own] > 0
                way = "up" if bool(levels.forward[q]) == inner else "down"
                return ["level", self._cell(own), way, *self._multipliers(cut.rows, cut.columns)]
        return None

    def _multipliers(self, rows: Bytes, columns: Bytes) -> tuple[list[int], list[int]]:
        """The equations of the node set or, where they are fewer, of all other nodes; the first one counts once."""
        inside = np.concatenate([rows, columns]) > 0
        nodes = np.flatnonzero(~inside if 2 * int(inside.sum()) > len(inside) else inside)
        return self.line[nodes].tolist(), (self.sign[nodes] * self.sign[nodes[0]]).tolist()

    def _cell(self, place: int) -> int:
        return int(self.problem.plane.cell.ravel()[place])


def lines_of_nodes(plane: TwoWayTable) -> tuple[Ints, Ints]:
    """The equation of every row, then of every column, and its multiplier (int64[R + C] each)."""
    lines, (rows, columns) = plane.table.lines, plane.shape
    place = plane.place[lines.cell]
    line, sign = np.zeros(rows + columns, np.int64), np.zeros(rows + columns, np.int64)
    for at in range(len(lines)):
        entries = slice(int(lines.start[at]), int(lines.start[at + 1]))
        row, column, coef = place[entries] // columns, place[entries] % columns, lines.coef[entries]
        along_row = bool((row == row[0]).all())
        across, last = (column, columns - 1) if along_row else (row, rows - 1)
        node = int(row[0]) if along_row else rows + int(column[0])
        written = coef[0] if across[0] != last else -coef[0]  # parts minus total, or the other way round
        total_line = (row[0] == rows - 1) if along_row else (column[0] == columns - 1)
        line[node] = at
        sign[node] = written * (1 if along_row else -1) * (-1 if total_line else 1)
    return line, sign
