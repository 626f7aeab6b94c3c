"""Rows that are kept: their roundings are those of each row alone, and cut the point off."""

from __future__ import annotations

import numpy as np

from gpuga.bounds.separators.line_cuts import SparseCut
from gpuga.bounds.separators.row_pool import LONGEST_SILENCE, RowPool


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


def test_rows_that_had_nothing_to_say_are_asked_again_where_the_others_say_nothing() -> None:
    pool = RowPool()
    for cell in range(4):
        pool.add(SparseCut(np.array([cell]), np.array([1]), 1))
    met, late = np.ones(4), np.array([1.0, 1.0, 1.0, 0.0])
    for _ in range(50):
        assert pool.violated(met, 0.01, 5) == []
    assert [cut.cell.tolist() for cut in pool.violated(late, 0.01, 5)] == [[3]]
    # rows that came later stand behind the others
    pool.add(SparseCut(np.array([0, 3]), np.array([2, 1]), 2))
    pool.add(SparseCut(np.array([1, 2]), np.array([1, 1]), 1))
    assert len(pool.violated(np.zeros(4), 0.01, 9)) >= 2
    assert pool.indispensable(np.ones(4, bool)).tolist() == [True, True, True, True]


def test_no_row_is_silent_for_ever_while_others_speak() -> None:
    pool = RowPool()
    for cell in range(3):
        pool.add(SparseCut(np.array([cell]), np.array([1]), 1))
    said = []
    for at in range(3 * LONGEST_SILENCE):
        x = np.array([0.0, 1.0, 1.0 if at < LONGEST_SILENCE else 0.0])
        said.append({int(cut.cell[0]) for cut in pool.violated(x, 0.01, 5)})
    assert all(0 in cells for cells in said)
    assert not any(1 in cells for cells in said)
    assert not any(2 in cells for cells in said[:LONGEST_SILENCE])
    assert any(2 in cells for cells in said[LONGEST_SILENCE:])


def test_rows_that_whole_numbers_meet_are_passed_over_and_others_are_not() -> None:
    pool = RowPool()
    pool.add(SparseCut(np.array([0, 1]), np.array([2, 3]), 3))
    assert pool.violated(np.array([0.0, 1.0]), 0.01, 5) == []
    assert [cut.violation(np.array([1.0, 0.0])) > 0 for cut in pool.violated(np.array([1.0, 0.0]), 0.01, 5)] == [True]
