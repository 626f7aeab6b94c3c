"""Small random linked tables: several breakdowns of the same totals that cross in part only."""

from __future__ import annotations

import numpy as np

from gpuga.table import Levels, Status, Table
from gpuga.table.table import Lines


def linked_table(rng: np.random.Generator, *, largest: int = 30, sensitive: float = 0.3, level: float = 0.15) -> Table:
    """Rows by columns and rows by layers, with the rows' totals shared; columns and layers are not crossed."""
    rows, columns, layers = (int(size) for size in rng.integers(2, 5, 3))
    first = rng.integers(1, largest, (rows, columns))
    total = first.sum(axis=1)
    second = np.stack([_broken_down(rng, int(t), layers) for t in total])
    blocks = [_block(first), _block(second)]
    value = np.concatenate([block.ravel() for block in blocks])
    at = [np.arange(blocks[0].size).reshape(blocks[0].shape)]
    at.append(blocks[0].size + np.arange(blocks[1].size).reshape(blocks[1].shape))
    lines: list[list[tuple[int, int]]] = []
    for place in at:
        for axis in (place, place.T):
            lines += [[*((int(c), 1) for c in line[:-1]), (int(line[-1]), -1)] for line in axis]
    # the totals of the rows, and the grand total, are the same in both tables
    lines += [[(int(a), 1), (int(b), -1)] for a, b in zip(at[0][:, -1], at[1][:, -1], strict=True)]
    primary = (rng.random(len(value)) < sensitive) & (value > 0)
    need = np.where(primary, np.maximum(1, np.ceil(level * value)), 0).astype(np.int64)
    status = np.where(primary, Status.SENSITIVE, np.where(value == 0, Status.FROZEN, Status.SUPPRESSIBLE))
    start = np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int64)
    cells = np.array([c for line in lines for c, _ in line], np.int32)
    coef = np.array([s for line in lines for _, s in line], np.int64)
    rhs = np.zeros(len(lines), np.int64)
    return Table.build(value, Lines(start, cells, coef, rhs), status=status, levels=Levels(need, need, 0 * need))


def _broken_down(rng: np.random.Generator, total: int, parts: int) -> np.ndarray:
    cuts = np.sort(rng.integers(0, total + 1, parts - 1))
    return np.diff(np.concatenate([[0], cuts, [total]]))


def _block(inner: np.ndarray) -> np.ndarray:
    laid = np.zeros((inner.shape[0] + 1, inner.shape[1] + 1), np.int64)
    laid[:-1, :-1] = inner
    laid[-1, :-1], laid[:-1, -1], laid[-1, -1] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    return laid
