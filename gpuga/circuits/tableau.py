"""How far one suppressed cell can move, by a dense simplex tableau in floats: an opinion, to be confirmed exactly.

A clean-up asks thousands of such questions of one pattern. All share their equations, and where nothing moves is a
table for every one of them, so that each begins there, with the basis that the last one ended with. A few hundred
columns fit into the cache; a general solver spends most of its time around so small a program.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import bare, compiled
from gpuga.table.table import Mask, Table

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]
Float = Any
"""A float out of an array; mypy cannot know it."""

NOTHING = 1e-7
"""Below this an entry is a rounding error: entries are fractions of small numbers."""

SLOPE = 1e-6
"""A column that moves the cell by less than this per unit does not count."""

CLOSE = 1e-9
"""How much of a need may be missing: the exact check decides."""

TIED = 1e-9
"""Limits of a step that differ by less are one: the largest entry among them is the pivot that rounds least."""

STALLED = 12
"""Steps that move nothing after which the first column is taken instead of the steepest (Bland's rule): no cycles."""

UNLIMITED = 2.0**50
"""How far a cell without a limit may go."""

MOST_STEPS = 5_000
"""Steps of one question; there is no known one that needs a tenth of it."""


THERE, BLOCKED, ON_THE_WAY = 1, 0, -1


class Tableau(NamedTuple):
    """The cells that may move, `x[basic[i]] = -sum(entry[i, j] * x[nonbasic[j]])`, each between `low` and `high`.

    `entry` float64[r, d] with `basic` int64[r] and `nonbasic` int64[d]; `place[k]` is the row of column k, or -1 - j
    where it is nonbasic. `moved` float64[n] is the change that the last question ended with. The first `live[0]` of the
    nonbasic columns may move; `live[1]` counts entries that were looked at.
    """

    entry: Floats
    basic: Positions
    nonbasic: Positions
    place: Positions
    low: Floats
    high: Floats
    moved: Floats
    live: Positions


def tableau_of(table: Table, suppressed: Mask) -> Tableau:
    """The tableau of a pattern; its columns are the suppressed cells by rising position."""
    cells = np.flatnonzero(suppressed)
    low, high = (np.minimum(room[cells], UNLIMITED).astype(np.float64) for room in (table.down, table.up))
    return tableau_over(equations_of(table, suppressed)[0], -low, high)[0]


def equations_of(table: Table, suppressed: Mask) -> tuple[Floats, Positions]:
    """The lines over the suppressed cells (float64[m, n]), of those that have any, and which lines these are."""
    lines, kept = table.lines, suppressed[table.lines.cell]
    column = np.cumsum(suppressed) - 1
    used, row = np.unique(lines.line_of_entry[kept], return_inverse=True)
    matrix = np.zeros((len(used), int(suppressed.sum())))
    np.add.at(matrix, (row, column[lines.cell[kept]]), lines.coef[kept])
    return matrix, used.astype(np.int64)


def tableau_over(matrix: Floats, low: Floats, high: Floats) -> tuple[Tableau, Positions]:
    """The tableau of equations over columns between `low` and `high`, and the rows of it that say everything."""
    reduced = matrix.copy()
    basic_of = _reduced(reduced)
    rows = np.flatnonzero(basic_of >= 0)
    basic = basic_of[rows]
    nonbasic = np.setdiff1d(np.arange(matrix.shape[1]), basic)
    place = np.empty(matrix.shape[1], np.int64)
    place[basic], place[nonbasic] = np.arange(len(basic)), -1 - np.arange(len(nonbasic))
    tableau = Tableau(
        entry=np.ascontiguousarray(reduced[np.ix_(rows, nonbasic)]),
        basic=basic,
        nonbasic=nonbasic,
        place=place,
        low=low,
        high=high,
        moved=np.zeros(matrix.shape[1]),
        live=np.array([len(nonbasic), 0]),
    )
    return tableau, rows


@compiled
def _reduced(matrix: Floats) -> Positions:
    """Eliminate (Gauss, Jordan) the sparsest row next, by its rarest column; the basic column of each row or -1."""
    rows, columns = matrix.shape
    basic_of = np.full(rows, -1, np.int64)
    in_row, in_column = np.zeros(rows, np.int64), np.zeros(columns, np.int64)
    for i in range(rows):
        for j in range(columns):
            if matrix[i, j] != 0.0:
                in_row[i] += 1
                in_column[j] += 1
    while True:
        next_row = -1
        for i in range(rows):
            if basic_of[i] < 0 and in_row[i] > 0 and (next_row < 0 or in_row[i] < in_row[next_row]):
                next_row = i
        if next_row < 0:
            return basic_of
        # loops: expressions of whole arrays take seconds to compile
        largest, best = 0.0, -1
        for j in range(columns):
            largest = max(largest, abs(matrix[next_row, j]))
        for j in range(columns):
            if abs(matrix[next_row, j]) >= 0.5 * largest and (best < 0 or in_column[j] < in_column[best]):
                best = j
        pivot = matrix[next_row, best]
        for j in range(columns):
            matrix[next_row, j] /= pivot
        for i in range(rows):
            if i != next_row and matrix[i, best] != 0.0:
                _subtract(matrix, i, next_row, best, in_row, in_column)
        basic_of[next_row] = best


@bare
def _subtract(matrix: Floats, i: int, from_row: int, pivot: int, in_row: Positions, in_column: Positions) -> None:
    """Take a multiple of one row from row i, so that its entry in column `pivot` vanishes; keep the counts right."""
    factor = matrix[i, pivot]
    for j in range(matrix.shape[1]):
        if matrix[from_row, j] != 0.0:
            before = matrix[i, j]
            after = before - factor * matrix[from_row, j]
            if j == pivot or abs(after) < NOTHING:
                after = 0.0
            matrix[i, j] = after
            change = int(after != 0.0) - int(before != 0.0)
            in_row[i] += change
            in_column[j] += change


@bare
def exchange(tableau: Tableau, i: int, j: int) -> None:
    """Make the j-th nonbasic column basic in row i."""
    entry, live = tableau.entry, tableau.live[0]
    inverse = 1.0 / entry[i, j]
    for k in range(live):
        entry[i, k] *= inverse
    entry[i, j] = inverse
    for q in range(entry.shape[0]):
        factor = entry[q, j]
        if q != i and factor != 0.0:
            entry[q, j] = 0.0
            for k in range(live):
                after = entry[q, k] - factor * entry[i, k]
                entry[q, k] = after if abs(after) > NOTHING * 1e-2 else 0.0
    tableau.live[1] += entry.shape[0] * live
    tableau.basic[i], tableau.nonbasic[j] = tableau.nonbasic[j], tableau.basic[i]
    tableau.place[tableau.basic[i]] = i
    tableau.place[tableau.nonbasic[j]] = -1 - j


@bare
def _entering(tableau: Tableau, row: int, sign: float, least: float, first: bool) -> tuple[int, float]:
    """The nonbasic column whose change moves the cell of `row` most, or the first that does, and its direction."""
    best, way, slope = -1, 0.0, SLOPE
    for j in range(tableau.live[0]):
        rate = -tableau.entry[row, j] * sign
        k = tableau.nonbasic[j]
        if abs(rate) <= slope or (first and best >= 0 and k > tableau.nonbasic[best]):
            continue
        room = tableau.high[k] - tableau.moved[k] if rate > 0 else tableau.moved[k] - tableau.low[k]
        if room > least:
            best, way = j, 1.0 if rate > 0 else -1.0
            if not first:
                slope = abs(rate)
    return best, way


@bare
def _blocking(tableau: Tableau, j: int, way: float, most: float, first: bool) -> tuple[int, Float]:
    """The row whose column ends the change of nonbasic column j, -1 if none does, and how far it goes."""
    block = -1
    for i in range(tableau.entry.shape[0]):
        speed = -tableau.entry[i, j] * way
        if abs(speed) <= NOTHING:
            continue
        k = tableau.basic[i]
        room = tableau.high[k] - tableau.moved[k] if speed > 0 else tableau.moved[k] - tableau.low[k]
        limit, slack = max(room, 0.0) / abs(speed), TIED * (1.0 + most)
        if limit > most + slack or (block < 0 and limit > most - slack):
            continue
        steeper = block >= 0 and abs(speed) > abs(tableau.entry[block, j])
        earlier = block >= 0 and k < tableau.basic[block]
        if limit < most - slack or (earlier if first else steeper):
            block, most = i, min(limit, most)
    return block, most


@bare
def _move(tableau: Tableau, j: int, by: float) -> None:
    """Change nonbasic column j, and what depends on it."""
    tableau.moved[tableau.nonbasic[j]] += by
    for i in range(tableau.entry.shape[0]):
        if tableau.entry[i, j] != 0.0:
            tableau.moved[tableau.basic[i]] -= tableau.entry[i, j] * by


@bare
def reaches(tableau: Tableau, column: int, sign: float, need: float) -> bool:
    """Whether a column can move by `need` in the direction `sign`; `moved` says how, or how far it came."""
    for k in range(tableau.moved.shape[0]):
        tableau.moved[k] = 0.0
    return goes_on(tableau, column, sign, need, CLOSE * need, MOST_STEPS) == THERE


@bare
def goes_on(tableau: Tableau, column: int, sign: float, goal: float, least: float, steps: int) -> int:
    """How a column goes on from the change in `moved` to `goal` in the direction `sign`, but for `least`.

    The change there may be any within the bounds that satisfies the equations; `moved` says how far it came in so many
    steps, `THERE`, as far as it can (`BLOCKED`) or `ON_THE_WAY`.
    """
    moved, stalled = tableau.moved, 0
    for _ in range(steps):
        left = goal - moved[column] * sign
        if left <= least:
            return THERE
        row, first = tableau.place[column], stalled > STALLED
        if row < 0:
            j, way = -1 - row, sign
        else:
            j, way = _entering(tableau, row, sign, least, first)
            if j < 0:
                return BLOCKED
        k = tableau.nonbasic[j]
        room = tableau.high[k] - moved[k] if way > 0 else moved[k] - tableau.low[k]
        rate = 1.0 if row < 0 else abs(tableau.entry[row, j])
        block, step = _blocking(tableau, j, way, min(room, left / rate), first)
        _move(tableau, j, way * step)
        stalled = stalled + 1 if step <= 1e-3 * least else 0
        if block >= 0:
            k = tableau.basic[block]
            moved[k] = tableau.high[k] if -tableau.entry[block, j] * way > 0 else tableau.low[k]
            exchange(tableau, block, j)
        elif step <= 0.0:
            return BLOCKED
    return ON_THE_WAY


@bare
def fix(tableau: Tableau, column: int) -> None:
    """Let a column move no more: it leaves the tableau where it is nonbasic, or can be made so."""
    tableau.low[column] = 0.0
    tableau.high[column] = 0.0
    row = tableau.place[column]
    if row >= 0:
        best = -1
        for j in range(tableau.live[0]):
            size = abs(tableau.entry[row, j])
            if size > SLOPE and (best < 0 or size > abs(tableau.entry[row, best])):
                best = j
        if best < 0:
            return
        exchange(tableau, row, best)
    j, last = -1 - tableau.place[column], tableau.live[0] - 1
    for i in range(tableau.entry.shape[0]):
        tableau.entry[i, j], tableau.entry[i, last] = tableau.entry[i, last], 0.0
    tableau.nonbasic[j], tableau.nonbasic[last] = tableau.nonbasic[last], tableau.nonbasic[j]
    tableau.place[tableau.nonbasic[j]] = -1 - j
    tableau.place[tableau.nonbasic[last]] = -1 - last
    tableau.live[0] = last
