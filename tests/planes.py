"""Small random two-dimensional tables with everything that real ones have: bounds, gaps, frozen cells."""

from __future__ import annotations

import numpy as np

from gpuga.table.table import INFINITE, Levels, Lines, Status, Table


def plane_lines(present: np.ndarray) -> Lines:
    """Rows and columns of a table whose places `present` (bool[R, C]) hold cells, totals last."""
    rows, columns = present.shape
    number = np.where(present.ravel(), np.cumsum(present.ravel()) - 1, -1).reshape(present.shape)
    cell, coef, start = [], [], [0]
    for line, total in [(number[i], columns - 1) for i in range(rows)] + [
        (number[:, j], rows - 1) for j in range(columns)
    ]:
        for at, c in enumerate(line):
            if c >= 0:
                cell.append(c)
                coef.append(-1 if at == total else 1)
        start.append(len(cell))
    count = len(start) - 1
    return Lines(
        np.array(start, np.int64),
        np.array(cell, np.int32),
        np.array(coef, np.int64),
        np.zeros(count, np.int64),
    )


def random_plane_table(
    rows: int,
    columns: int,
    seed: int,
    *,
    largest: int = 20,
    sensitive: float = 0.25,
    bounded: bool = False,
    gaps: bool = False,
    sliding: bool = False,
) -> Table:
    """`rows` x `columns` internal cells; primaries anywhere but the grand total, zeros frozen."""
    random = np.random.default_rng(seed)
    present = np.ones((rows + 1, columns + 1), bool)
    if gaps:
        present[:-1, :-1] = random.random((rows, columns)) > 0.15
    value = np.zeros((rows + 1, columns + 1), np.int64)
    value[:-1, :-1] = random.integers(0, largest + 1, (rows, columns)) * present[:-1, :-1]
    value[-1, :-1] = value[:-1, :-1].sum(0)
    value[:, -1] = value[:, :-1].sum(1)
    value = value[present]
    n = len(value)
    status = np.where(random.random(n) < sensitive, Status.SENSITIVE, Status.SUPPRESSIBLE)
    if bounded:
        status = np.where(random.random(n) < 0.1, Status.SUPPRESSED, status)
        status = np.where(random.random(n) < 0.1, Status.FROZEN, status)
    status = np.where(value == 0, Status.FROZEN, status)
    status[-1] = Status.SUPPRESSIBLE
    primary = status == Status.SENSITIVE
    upper = np.where(primary, random.integers(0, 1 + np.maximum(1, value // 3)), 0)
    lower = np.where(primary, random.integers(0, 1 + np.maximum(1, value // 3)), 0)
    slide = np.where(primary & sliding, random.integers(0, 1 + np.maximum(1, value // 2)), 0)
    lb = np.maximum(0, value - random.integers(0, largest, n)) if bounded else np.zeros(n, np.int64)
    ub = np.where(random.random(n) < 0.6, value + random.integers(0, largest, n), INFINITE)
    return Table.build(
        value,
        plane_lines(present),
        status=status.astype(np.uint8),
        weight=random.integers(0, largest, n) if bounded else None,
        lb=lb,
        ub=ub if bounded else None,
        levels=Levels(np.minimum(lower, value), upper, slide),
    )
