"""An attacker in rationals, independent of the product: a bounded simplex method on fractions.

It shares nothing with `gpuga` but the table's arrays: no solver, no flows, no witnesses. Bland's rule
makes it finite; it is slow, and meant for small tables.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gpuga.table import INFINITE, Table

UNLIMITED = None


def interval(table: Table, suppressed: np.ndarray, cell: int) -> tuple[Fraction | None, Fraction | None]:
    """The exact rise and fall of a suppressed cell; None is "no limit"."""
    return intervals(table, suppressed, [cell])[cell]


def intervals(table: Table, suppressed: np.ndarray, cells) -> dict:
    """The exact rises and falls of suppressed cells."""
    columns = np.flatnonzero(suppressed).tolist()
    position = {c: i for i, c in enumerate(columns)}
    rows = []
    for line in range(len(table.lines)):
        entries = range(int(table.lines.start[line]), int(table.lines.start[line + 1]))
        row = [0] * len(columns)
        for e in entries:
            c = int(table.lines.cell[e])
            if c in position:
                row[position[c]] += int(table.lines.coef[e])
        if any(row):
            rows.append(row)
    low = [None if table.down[c] >= INFINITE else -int(table.down[c]) for c in columns]
    high = [None if table.up[c] >= INFINITE else int(table.up[c]) for c in columns]
    tableau, basis = _eliminate(rows, len(columns))
    return {
        cell: tuple(_maximise(tableau, basis, low, high, position[cell], direction) for direction in (1, -1))
        for cell in cells
    }


def _maximise(tableau, basis, low, high, target, direction):
    """max direction*d[target] with rows d = 0 and bounds, from the feasible point d = 0."""
    n = len(low)
    tableau, basis = [row[:] for row in tableau], basis[:]
    d = [0] * n
    while True:
        move = _entering(tableau, basis, d, low, high, target, direction, n)
        if move is None:
            return Fraction(direction * d[target])
        j, sign = move
        step, leaving = _ratio(tableau, basis, d, low, high, j, sign)
        if step is None:
            return UNLIMITED
        d[j] += sign * step
        for r, b in enumerate(basis):
            d[b] -= tableau[r][j] * sign * step
        if leaving is not None:
            _pivot(tableau, basis, leaving, j)


def _eliminate(rows, n):
    """Reduced row echelon form and its basic columns."""
    tableau, basis = [row[:] for row in rows], []
    r = 0
    for j in range(n):
        p = next((i for i in range(r, len(tableau)) if tableau[i][j]), None)
        if p is None:
            continue
        tableau[r], tableau[p] = tableau[p], tableau[r]
        basis.append(j)
        _clear_column(tableau, r, j)
        r += 1
    return tableau[:r], basis


def _clear_column(tableau, r, j):
    f = tableau[r][j]
    if f == -1:
        tableau[r] = [-v for v in tableau[r]]
    elif f != 1:
        tableau[r] = [_whole(Fraction(v) / f) for v in tableau[r]]
    filled = [(k, w) for k, w in enumerate(tableau[r]) if w]
    for i, row in enumerate(tableau):
        if i != r and row[j]:
            g = row[j]
            for k, w in filled:
                row[k] -= g * w


def _whole(v):
    """An int where it is one: integers are ten times as fast as fractions, and nearly all entries are."""
    return int(v) if v.denominator == 1 else v


def _pivot(tableau, basis, r, j):
    _clear_column(tableau, r, j)
    basis[r] = j


def _entering(tableau, basis, d, low, high, target, direction, n):
    """The first column that improves the target and can move, with the sign of its move."""
    at = {b: r for r, b in enumerate(basis)}
    for j in range(n):
        if j in at:
            continue
        gain = direction * ((1 if j == target else 0) - (tableau[at[target]][j] if target in at else 0))
        if gain > 0 and (high[j] is None or d[j] < high[j]):
            return j, 1
        if gain < 0 and (low[j] is None or d[j] > low[j]):
            return j, -1
    return None


def _ratio(tableau, basis, d, low, high, j, sign):
    """How far column j can go and which basic row stops it (None: its own bound)."""
    bound = high[j] if sign > 0 else low[j]
    best = None if bound is None else abs(bound - d[j])
    leaving, leaving_column = None, None
    for r, b in enumerate(basis):
        change = -tableau[r][j] * sign
        if change == 0:
            continue
        limit = high[b] if change > 0 else low[b]
        if limit is None:
            continue
        step = _whole(Fraction(limit - d[b]) / change)
        if best is None or step < best or (step == best and leaving is not None and b < leaving_column):
            best, leaving, leaving_column = step, r, b
    return best, leaving
