"""Two-way safety and clean-up in plain NumPy, obviously right: what the compiled operations are compared with."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels import INFINITE, Capacities, Requirements
from gpuga.kernels.layout import FlowRequirements

Bools = NDArray[np.bool_]
Int64 = NDArray[np.int64]

FAR = INFINITE // 4
"""The price of what cannot be; two of them add up without overflow."""


def reached_by_steps(ahead: Bools, back: Bools, source: int) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Breadth-first distances int16[P, R], int16[P, C] from a node, -1 where it does not reach.

    `ahead` and `back` bool[P, R, C] say where one may go from row to column and from column to row.
    """
    patterns, rows, columns = ahead.shape
    of_row = np.full((patterns, rows), -1, np.int16)
    of_column = np.full((patterns, columns), -1, np.int16)
    (of_row if source < rows else of_column)[:, source if source < rows else source - rows] = 0
    for step in itertools.count():
        in_columns = np.einsum("pr,prc->pc", of_row == step, ahead) & (of_column < 0)
        in_rows = np.einsum("pc,prc->pr", of_column == step, back) & (of_row < 0)
        of_column[in_columns] = step + 1
        of_row[in_rows] = step + 1
        if not in_columns.any() and not in_rows.any():
            return of_row, of_column
    raise AssertionError("a breadth-first search ends")


def shortest_way(ahead: Bools, back: Bools, source: int, sink: int) -> list[tuple[int, int, int]] | None:
    """The arcs (row, column, +1 forward or -1 reverse) of a shortest way in one pattern's network, or None."""
    rows = ahead.shape[0]
    of_row, of_column = reached_by_steps(ahead[None], back[None], source)
    steps = np.concatenate([of_row[0], of_column[0]])
    if steps[sink] < 0:
        return None
    way, v = [], sink
    while v != source:
        if v >= rows:
            u = int(np.flatnonzero(ahead[:, v - rows] & (steps[:rows] == steps[v] - 1))[0])
            way.append((u, v - rows, 1))
        else:
            u = rows + int(np.flatnonzero(back[v] & (steps[rows:] == steps[v] - 1))[0])
            way.append((v, u - rows, -1))
        v = u
    return way


def flow_covers(forward: Int64, reverse: Int64, source: int, sink: int, need: int) -> bool:
    """Do `need` units flow from source to sink?  Shortest augmenting paths (Edmonds and Karp) on int64[R, C]."""
    ahead, back = forward.copy(), reverse.copy()
    while need > 0:
        way = shortest_way(ahead > 0, back > 0, source, sink)
        if way is None:
            return False
        amount = min(need, *(int((ahead if sign > 0 else back)[i, j]) for i, j, sign in way))
        for i, j, sign in way:
            ahead[i, j] -= sign * amount
            back[i, j] += sign * amount
        need -= amount
    return True


def requirement_ends(flow: FlowRequirements, t: int, rows: int) -> tuple[int, int]:
    """Source and sink of requirement t's counter-flow."""
    row, column = int(flow.row[t]), rows + int(flow.column[t])
    return (column, row) if flow.upward[t] else (row, column)


def is_covered(pattern: Bools, plane: Capacities, flow: FlowRequirements, t: int) -> bool:
    """Whether the pattern bool[R, C] covers one requirement: its cell moves, and as much flows back elsewhere."""
    if flow.need[t] <= 0:
        return True
    if not pattern[flow.row[t], flow.column[t]] or not flow.possible[t]:
        return False
    others = pattern.copy()
    others[flow.row[t], flow.column[t]] = False
    ends = requirement_ends(flow, t, plane.rows)
    return flow_covers(plane.forward * others, plane.reverse * others, *ends, int(flow.need[t]))


def covered(patterns: Bools, plane: Capacities, requirements: Requirements) -> Bools:
    """bool[P, T]: which requirements the patterns bool[P, n] cover, exactly."""
    flow = FlowRequirements.of(plane, requirements)
    grids = patterns.reshape(len(patterns), plane.rows, plane.columns)
    verdicts = [[is_covered(grid, plane, flow, t) for t in range(len(requirements))] for grid in grids]
    return np.array(verdicts, np.bool_).reshape(len(patterns), len(requirements))


def without_redundant(
    patterns: Bools, plane: Capacities, requirements: Requirements, weights: Int64, keep: Bools
) -> Bools:
    """The patterns without redundant cells, the heaviest tried first (of equals the smaller), none of `keep`."""
    kept = patterns.copy()
    order = [c for c in np.argsort(-weights.ravel(), kind="stable") if not keep[c]]
    for pattern in kept:
        before = covered(pattern[None], plane, requirements)
        for cell in order:
            if pattern[cell]:
                pattern[cell] = False
                pattern[cell] = (before & ~covered(pattern[None], plane, requirements)).any()
    return kept


def by_one_path(patterns: Bools, plane: Capacities, requirements: Requirements) -> Bools:
    """bool[P, T]: which requirements a single path covers."""
    flow = FlowRequirements.of(plane, requirements)
    grids = patterns.reshape(len(patterns), plane.rows, plane.columns)
    found = np.zeros((len(patterns), len(requirements)), np.bool_)
    for p, t in np.ndindex(found.shape):
        others, need = grids[p].copy(), int(flow.need[t])
        others[flow.row[t], flow.column[t]] = False
        ends = requirement_ends(flow, t, plane.rows)
        wide = shortest_way(others & (plane.forward >= need), others & (plane.reverse >= need), *ends) is not None
        asked = grids[p, flow.row[t], flow.column[t]] and flow.possible[t]
        found[p, t] = need <= 0 or (wide and asked)
    return found


def cheapest_way(price: Int64, plane: Capacities, requirements: Requirements, t: int) -> int:
    """What the cheapest path costs that covers requirement t alone, INFINITE if none does (Bellman and Ford)."""
    flow, table = FlowRequirements.of(plane, requirements), price.reshape(plane.rows, plane.columns)
    ahead, back = (np.where(room >= flow.need[t], table, FAR) for room in (plane.forward, plane.reverse))
    ahead[flow.row[t], flow.column[t]] = back[flow.row[t], flow.column[t]] = FAR
    source, sink = requirement_ends(flow, t, plane.rows)
    cost = np.full(plane.rows + plane.columns, FAR, np.int64)
    cost[source] = 0
    for _ in range(len(cost)):
        of_row, of_column = cost[: plane.rows], cost[plane.rows :]
        nearer = np.minimum(of_column, np.minimum(FAR, of_row[:, None] + ahead).min(axis=0))
        of_row[:] = np.minimum(of_row, np.minimum(FAR, of_column + back).min(axis=1))
        of_column[:] = nearer
    return int(cost[sink]) if cost[sink] < FAR else INFINITE
