"""The usual evaluate of a genetic algorithm in Python: one individual at a time, a list of zeros and ones.

What a fitness function written for DEAP does: count and add up the suppressed cells of every row and column, then
decide every protection level by augmenting paths on the suppressed cells.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class PythonPlane:
    """A plane as plain Python lists: values, capacities from row to column and back, levels."""

    rows: int
    columns: int
    values: list[int]
    forward: list[int]
    reverse: list[int]
    levels: list[tuple[int, int, bool, int]]


def line_totals(individual: list[int], plane: PythonPlane) -> tuple[list[int], list[int]]:
    """Suppressed cells and their sum, per row and then per column."""
    counts, sums = [0] * (plane.rows + plane.columns), [0] * (plane.rows + plane.columns)
    for cell, suppressed in enumerate(individual):
        if suppressed:
            i, j = divmod(cell, plane.columns)
            for line in (i, plane.rows + j):
                counts[line] += 1
                sums[line] += plane.values[cell]
    return counts, sums


def neighbours(individual: list[int], plane: PythonPlane) -> list[list[tuple[int, int]]]:
    """Per node (rows, then columns) its neighbours and the cells that lead there."""
    around: list[list[tuple[int, int]]] = [[] for _ in range(plane.rows + plane.columns)]
    for cell, suppressed in enumerate(individual):
        if suppressed:
            i, j = divmod(cell, plane.columns)
            around[i].append((plane.rows + j, cell))
            around[plane.rows + j].append((i, cell))
    return around


def covered(plane: PythonPlane, around: list[list[tuple[int, int]]], level: tuple[int, int, bool, int]) -> bool:
    """Do enough units flow?  Shortest augmenting paths."""
    i, j, upward, need = level
    source, sink = (plane.rows + j, i) if upward else (i, plane.rows + j)
    own, flow = i * plane.columns + j, dict[int, int]()

    def room(v: int, cell: int) -> int:
        if v < plane.rows:
            return plane.forward[cell] - flow.get(cell, 0)
        return plane.reverse[cell] + flow.get(cell, 0)

    while need > 0:
        parent, queue = {source: (source, -1)}, deque([source])
        while queue and sink not in parent:
            v = queue.popleft()
            for u, cell in around[v]:
                if u not in parent and cell != own and room(v, cell) > 0:
                    parent[u] = (v, cell)
                    queue.append(u)
        if sink not in parent:
            return False
        way, v = [], sink
        while v != source:
            way.append(parent[v])
            v = parent[v][0]
        amount = min(need, *(room(v, cell) for v, cell in way))
        for v, cell in way:
            flow[cell] = flow.get(cell, 0) + (amount if v < plane.rows else -amount)
        need -= amount
    return True


def evaluate(individual: list[int], plane: PythonPlane) -> tuple[int, list[int], list[int]]:
    """Levels that are not protected, and the totals of the lines."""
    counts, sums = line_totals(individual, plane)
    around = neighbours(individual, plane)
    return sum(not covered(plane, around, level) for level in plane.levels), counts, sums
