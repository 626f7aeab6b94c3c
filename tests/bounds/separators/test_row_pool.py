"""Rows that are kept: their roundings are those of each row alone, and cut the point off."""

from __future__ import annotations

import numpy as np

from gpuga.bounds.separators.line_cuts import SparseCut
from gpuga.bounds.separators.row_pool import RowPool


def test_roundings_of_kept_rows_hold_and_cut_the_point_off() -> None:
    rng = np.random.default_rng(2)
    seen = 0
    for _ in range(40):
        pool, size = RowPool(), 8
        for _ in range(4):
            cell = np.sort(rng.choice(size, 4, replace=False))
            rhs = int(rng.integers(5, 20))
            pool.add(SparseCut(cell, np.minimum(rng.integers(1, 15, 4), rhs), rhs, origin=("row",)))
        x = rng.random(size) * (rng.random(size) < 0.7)
        found = pool.violated(x, 0.01, 3)
        assert len(found) <= 3
        for cut in found:
            seen += 1
            assert cut.violation(x) > 0
            assert cut.origin
            for bits in range(2**size):
                point = np.array([bits >> i & 1 for i in range(size)], float)
                if all(row.violation(point) <= 0 for row in pool.rows):
                    assert cut.violation(point) <= 0
    assert seen > 20


def test_equal_rows_are_kept_once() -> None:
    pool, row = RowPool(), SparseCut(np.array([0, 2]), np.array([1, 1]), 1)
    assert pool.violated(np.zeros(3), 0.01, 5) == []
    assert pool.add(row)
    assert not pool.add(SparseCut(np.array([0, 2]), np.array([1, 1]), 1))
    assert [cut.key for cut in pool.violated(np.zeros(3), 0.01, 5)] == [row.key]


def test_indispensable_cells_are_those_that_no_row_can_spare() -> None:
    rng, seen = np.random.default_rng(5), set[bool]()
    assert not RowPool().indispensable(np.ones(3, bool)).any()
    for _ in range(60):
        pool, size = RowPool(), 8
        for _ in range(4):
            rhs = int(rng.integers(5, 20))
            cell = np.sort(rng.choice(size, 4, replace=False))
            pool.add(SparseCut(cell, np.minimum(rng.integers(1, 15, 4), rhs), rhs))
        hidden = rng.random(size) < 0.9
        needed = pool.indispensable(hidden)
        for cell in np.flatnonzero(hidden).tolist():
            without = hidden & (np.arange(size) != cell)
            short = any(row.violation(without.astype(float)) > 0 for row in pool.rows if cell in row.cell)
            assert needed[cell] == short
            seen.add(bool(needed[cell]))
    assert seen == {True, False}
