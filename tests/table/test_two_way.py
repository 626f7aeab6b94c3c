"""Planes are found in every spelling of a two-way table, and in nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.table.grid import csr_lines
from gpuga.table.table import INFINITE, Lines, Table
from gpuga.table.two_way import suppressed_grid, two_way_table


def two_way(seed: int, rows: int, columns: int, absent: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Values with totals, and which places have a cell."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(1, 30, (rows, columns))
    there = rng.random((rows, columns)) >= absent
    there[0] = there[:, 0] = True
    inner = inner * there
    full = np.concatenate([inner, inner.sum(axis=0, keepdims=True)])
    full = np.concatenate([full, full.sum(axis=1, keepdims=True)], axis=1)
    return full, full > 0


def scrambled(seed: int, full: np.ndarray, there: np.ndarray) -> Table:
    """The table with cells, lines and entries in random order, lines of three cells or more with a random sign."""
    rng = np.random.default_rng(seed)
    number = np.full(full.shape, -1)
    number[there] = rng.permutation(int(there.sum()))
    lines = [number[i] for i in range(full.shape[0])] + [number[:, j] for j in range(full.shape[1])]
    line, cell, coef = [], [], []
    for name, at in zip(rng.permutation(len(lines)).tolist(), lines, strict=True):
        sign = int(rng.choice([1, -1])) if (at >= 0).sum() > 2 else 1
        entry = [(int(c), sign * (-1 if place == len(at) - 1 else 1)) for place, c in enumerate(at) if c >= 0]
        for c, k in rng.permutation(np.array(entry)).tolist():
            line.append(name)
            cell.append(c)
            coef.append(k)
    value = np.zeros(int(there.sum()), np.int64)
    value[number[there]] = full[there]
    return Table.build(value, csr_lines(len(lines), np.array(line), np.array(cell), np.array(coef)))


def written(lines: Lines, line: int) -> frozenset[tuple[int, int]]:
    """A line by its cells, its first cell positive."""
    part = slice(lines.start[line], lines.start[line + 1])
    cells, coefs = lines.cell[part], lines.coef[part]
    sign = int(coefs[np.argmin(cells)])
    return frozenset(zip(cells.tolist(), (coefs * sign).tolist(), strict=True))


def lines_of_plane(cell: np.ndarray) -> set[frozenset[tuple[int, int]]]:
    """What the rows and columns of a plane say, written likewise."""
    out = set()
    for line in [*cell, *cell.T]:
        entry = {int(c): (-1 if at == len(line) - 1 else 1) for at, c in enumerate(line) if c >= 0}
        sign = entry[min(entry)]
        out.add(frozenset((c, k * sign) for c, k in entry.items()))
    return out


def is_plane_of(table: Table) -> bool:
    """Whether a plane is found; if so, its rows and columns must be the table's lines, and nothing else."""
    plane = two_way_table(table)
    if plane is None:
        return False
    assert sorted(plane.cell[plane.cell >= 0].tolist()) == list(range(len(table)))
    assert lines_of_plane(plane.cell) == {written(table.lines, at) for at in range(len(table.lines))}
    assert sum(plane.shape) == len(table.lines)
    return True


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (4, 3), (3, 5)])
@pytest.mark.parametrize("absent", [0.0, 0.3])
def test_a_two_way_table_is_a_plane_however_it_is_written(shape: tuple[int, int], absent: float) -> None:
    for seed in range(6):
        full, there = two_way(seed, *shape, absent)
        table = scrambled(seed, full, there)
        assert is_plane_of(table)
        plane = two_way_table(table)
        assert plane is not None
        laid = plane.lay(table.value)
        assert sorted([sorted(laid[-1, :-1]), sorted(laid[:-1, -1])]) == sorted(
            [sorted(full[-1, :-1]), sorted(full[:-1, -1])]
        )
        assert laid[-1, -1] == full[-1, -1]
        assert plane.sign.tolist() == [
            [-1 if (i == laid.shape[0] - 1) != (j == laid.shape[1] - 1) else 1 for j in range(laid.shape[1])]
            for i in range(laid.shape[0])
        ]


def changed(table: Table, **parts: np.ndarray) -> Table:
    lines = table.lines
    other = Lines(*(parts.get(name, getattr(lines, name)) for name in ("start", "cell", "coef", "rhs")))
    value = np.zeros(len(table), np.int64)
    if "rhs" in parts:
        value = table.value
    return Table.build(value, other)


def test_one_sign_turned_round_is_a_plane_no_more() -> None:
    table = scrambled(3, *two_way(3, 3, 4))
    for entry in range(len(table.lines.cell)):
        coef = table.lines.coef.copy()
        coef[entry] *= -1
        assert not is_plane_of(changed(table, coef=coef))
        coef[entry] *= 2
        assert not is_plane_of(changed(table, coef=coef))


def test_a_line_less_or_more_is_no_plane() -> None:
    table = scrambled(5, *two_way(5, 3, 3))
    everything = np.arange(len(table.lines))
    for line in everything:
        fewer = table.lines.subset(np.delete(everything, line))
        assert not is_plane_of(Table.build(table.value, fewer))
        more = table.lines.subset(np.append(everything, line))
        assert not is_plane_of(Table.build(table.value, more))


def test_cells_that_change_places_leave_no_plane_or_another_true_one() -> None:
    rng = np.random.default_rng(7)
    table = scrambled(7, *two_way(7, 3, 3))
    found = 0
    for _ in range(60):
        cell = table.lines.cell.copy()
        a, b = rng.choice(len(cell), 2, replace=False)
        cell[[a, b]] = cell[[b, a]]
        found += is_plane_of(changed(table, cell=cell))
    assert found < 60


def test_equations_with_a_constant_are_no_plane() -> None:
    full, there = two_way(1, 3, 3)
    table = scrambled(1, full, there)
    value = table.value.copy()
    value[0] += 1
    lb = np.full(len(value), -INFINITE)
    off = table.lines.apply(value)
    lines = Lines(table.lines.start, table.lines.cell, table.lines.coef, off)
    assert two_way_table(Table.build(value, lines, lb=lb)) is None


def test_two_tables_side_by_side_are_no_plane() -> None:
    one, two = (scrambled(seed, *two_way(seed, 2, 2)) for seed in (1, 2))
    lines = Lines(
        np.concatenate([one.lines.start, one.lines.start[-1] + two.lines.start[1:]]),
        np.concatenate([one.lines.cell, two.lines.cell + len(one)]).astype(np.int32),
        np.concatenate([one.lines.coef, two.lines.coef]),
        np.concatenate([one.lines.rhs, two.lines.rhs]),
    )
    assert two_way_table(Table.build(np.concatenate([one.value, two.value]), lines)) is None


@pytest.mark.parametrize(
    ("lines", "signs"),
    [
        ([[0, 1], [0, 1]], [[1, -1], [1, -1]]),
        ([[0, 1, 2], [0, 1, 2]], [[1, 1, -1], [1, 1, -1]]),
        ([[0, 1, 2], [0, 3, 4], [1, 3, 5], [2, 4, 5]], [[1, 1, -1]] * 4),
        ([[0, 1], [1, 2], [2, 0]], [[1, -1]] * 3),
    ],
)
def test_other_equations_through_two_lines_a_cell_are_no_plane(lines: list[list[int]], signs: list[list[int]]) -> None:
    start = np.cumsum([0, *map(len, lines)])
    cells = np.concatenate(lines).astype(np.int32)
    table = Table.build(
        np.zeros(int(cells.max()) + 1, np.int64),
        Lines(start, cells, np.concatenate(signs), np.zeros(len(lines), np.int64)),
    )
    assert two_way_table(table) is None


def test_the_smallest_plane_has_one_inner_cell() -> None:
    full, there = two_way(1, 1, 1)
    table = scrambled(1, full, there)
    assert len(table.lines) == 4
    assert is_plane_of(table)


def test_a_pattern_is_laid_where_its_cells_lie() -> None:
    full, there = two_way(2, 3, 3, 0.4)
    table = scrambled(2, full, there)
    plane = two_way_table(table)
    assert plane is not None
    pattern = np.arange(len(table)) % 2 == 0
    laid = suppressed_grid(plane, pattern)
    assert laid.dtype == bool
    for cell, place in enumerate(plane.place.tolist()):
        assert laid.ravel()[place] == pattern[cell]
    assert laid.sum() == pattern.sum()
    assert two_way_table(table) is not plane
    assert np.array_equal(two_way_table(table).cell, plane.cell)  # type: ignore[union-attr]


@pytest.mark.parametrize("lines", [0, 4])
def test_a_table_without_cells_is_no_plane(lines: int) -> None:
    empty = np.zeros(0, np.int64)
    nothing = Lines(np.zeros(lines + 1, np.int64), empty.astype(np.int32), empty, np.zeros(lines, np.int64))
    assert two_way_table(Table.build(empty, nothing)) is None
