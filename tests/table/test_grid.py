"""Grids: their lines, their sums and the marginals that they lack, against the definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.table import grid as module
from gpuga.table.grid import (
    MOST_DEPTH,
    add_marginals,
    csr_lines,
    dimension_from_parents,
    duplicates,
    flat_dimension,
    full_grid,
    grid_lines,
    keys,
    sum_up,
)
from gpuga.table.table import Dimension, Grid, Lines

TREE = dimension_from_parents("area", ["n", "a", "b", "T", "s", "c", "d"], ["T", "n", "n", None, "T", "s", "s"])
FLAT = flat_dimension("sex", ["m", "f"])


def leaf_combinations(dimensions: list[Dimension]) -> np.ndarray:
    """All cells whose codes have no parts."""
    leaves = [np.flatnonzero(d.is_leaf).tolist() for d in dimensions]
    return np.array(list(itertools.product(*leaves)), np.int32)


def entries(lines: Lines, line: int) -> list[tuple[int, int]]:
    part = slice(lines.start[line], lines.start[line + 1])
    return list(zip(lines.cell[part].tolist(), lines.coef[part].tolist(), strict=True))


def expected_lines(grid: Grid) -> list[list[tuple[int, int]]]:
    """Every total with those of its parts that are there, dimension by dimension."""
    place = {tuple(row): at for at, row in enumerate(grid.coordinate.tolist())}
    out = []
    for axis, dimension in enumerate(grid.dimensions):
        along: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        for at, row in enumerate(grid.coordinate.tolist()):
            if (above := int(dimension.parent[row[axis]])) >= 0:
                total = (*row[:axis], above, *row[axis + 1 :])
                along.setdefault(total, []).append((at, 1))
        for total in sorted(along):
            out.append([*along[total], *([(place[total], -1)] if total in place else [])])
    return out


def test_a_flat_dimension_has_its_total_last() -> None:
    assert FLAT.codes == ("m", "f", "Total")
    assert FLAT.parent.tolist() == [2, 2, -1]
    assert FLAT.root == 2
    assert FLAT.is_leaf.tolist() == [True, True, False]
    assert FLAT.depth.tolist() == [1, 1, 0]
    assert flat_dimension("x", ["a"], "all").codes == ("a", "all")


def test_the_codes_of_a_tree_know_their_place() -> None:
    assert TREE.parent.tolist() == [3, 0, 0, -1, 3, 4, 4]
    assert TREE.root == 3
    assert TREE.depth.tolist() == [1, 2, 2, 0, 1, 2, 2]
    assert TREE.is_leaf.tolist() == [False, True, True, False, False, True, True]


def test_a_full_grid_holds_every_combination_in_row_major_order() -> None:
    grid = full_grid([FLAT, TREE])
    assert grid.coordinate.tolist() == [[i, j] for i in range(3) for j in range(7)]


def test_totals_are_sums_of_leaves_whatever_stood_in_their_place() -> None:
    values = np.random.default_rng(1).integers(1, 50, (7, 3))
    filled = sum_up(values, [TREE, FLAT])
    below = {3: [1, 2, 5, 6], 0: [1, 2], 4: [5, 6]} | {x: [x] for x in (1, 2, 5, 6)}
    for i in range(7):
        for j in range(3):
            assert filled[i, j] == sum(values[x, y] for x in below[i] for y in ([0, 1] if j == 2 else [j]))


def test_the_lines_of_a_full_grid_are_its_totals_with_their_parts() -> None:
    grid = full_grid([TREE, FLAT])
    lines = grid_lines(grid)
    assert [entries(lines, at) for at in range(len(lines))] == expected_lines(grid)
    assert len(lines) == 3 * 3 + 7
    assert lines.rhs.tolist() == [0] * len(lines)


@pytest.mark.parametrize("seed", range(5))
def test_the_lines_of_a_grid_with_gaps_run_through_the_cells_that_are_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dimensions = [TREE, FLAT, flat_dimension("age", ["1", "2", "3"])]
    inner = leaf_combinations(dimensions)
    added = add_marginals(Grid(tuple(dimensions), rng.permutation(inner[rng.random(len(inner)) < 0.4])))
    lines = grid_lines(added.grid)
    assert [entries(lines, at) for at in range(len(lines))] == expected_lines(added.grid)


@pytest.mark.parametrize("seed", range(8))
def test_marginals_are_added_above_every_cell_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dimensions = [FLAT, TREE] if seed % 2 else [TREE, FLAT]
    inner = leaf_combinations(dimensions)
    given = rng.permutation(inner)[: int(rng.integers(1, len(inner) + 1))]
    ways: list[list[list[int]]] = []
    wanted = set()
    for row in given.tolist():
        ways = []
        for dimension, code in zip(dimensions, row, strict=True):
            up = [code]
            while dimension.parent[up[-1]] >= 0:
                up.append(int(dimension.parent[up[-1]]))
            ways.append(up)
        wanted |= set(itertools.product(*ways))
    some = [row for row in sorted(wanted) if rng.random() < 0.3 and list(row) not in given.tolist()]
    there = np.array([*given.tolist(), *map(list, some)], np.int32)
    added = add_marginals(Grid(tuple(dimensions), there))
    rows = [tuple(row) for row in added.grid.coordinate.tolist()]
    assert rows[: len(there)] == [tuple(row) for row in there.tolist()]
    assert len(rows) == len(set(rows))
    assert set(rows) == wanted
    assert added.given == len(there)
    value = dict(zip(map(tuple, given.tolist()), rng.integers(1, 99, len(given)).tolist(), strict=True))

    def below(row: tuple[int, ...]) -> int:
        return sum(
            number
            for leaf, number in value.items()
            if all(_is_above(d, a, b) for d, a, b in zip(dimensions, row, leaf, strict=True))
        )

    sums = added.sums(np.array([below(row) for row in rows[: len(there)]]))
    assert sums.tolist() == [below(row) for row in rows]
    assert not added.lines.residual(sums).any()


def _is_above(dimension: Dimension, above: int, code: int) -> bool:
    while code != above and code >= 0:
        code = int(dimension.parent[code])
    return code == above


def test_a_grid_that_lacks_nothing_stays_as_it_is() -> None:
    grid = full_grid([TREE, FLAT])
    added = add_marginals(grid)
    assert added.rounds == ()
    assert np.array_equal(added.grid.coordinate, grid.coordinate)
    assert added.sums(np.arange(21)).tolist() == list(range(21))


def test_lines_keep_the_order_of_their_entries() -> None:
    line, cell = np.array([1, 0, 1, 0, 3]), np.array([4, 3, 2, 1, 0])
    lines = csr_lines(4, line, cell, np.array([1, 2, -1, -2, 7]), np.array([5, 6, 7, 8]))
    assert lines.start.tolist() == [0, 2, 4, 4, 5]
    assert [entries(lines, at) for at in range(4)] == [[(3, 2), (1, -2)], [(4, 1), (2, -1)], [], [(0, 7)]]
    assert lines.rhs.tolist() == [5, 6, 7, 8]


@pytest.mark.parametrize("sizes", [[2, 3], [2**31, 2**31], [2**31, 2**31 - 1, 3], [2**31, 2**30, 2, 2], [2**20] * 7])
def test_keys_are_equal_for_equal_rows_and_ordered_like_them(sizes: list[int]) -> None:
    rng = np.random.default_rng(3)
    rows = np.stack([np.minimum(rng.integers(0, 2, 40), 1) * (size - 1) for size in sizes], axis=1).astype(np.int32)
    found = keys(rows, sizes)
    for a, b in itertools.product(range(40), repeat=2):
        assert (found[a] == found[b]) == (rows[a].tolist() == rows[b].tolist())
        assert (found[a] < found[b]) == (rows[a].tolist() < rows[b].tolist())


def test_small_keys_are_row_major_positions() -> None:
    assert keys(np.array([[1, 2, 0], [0, 0, 4]], np.int32), [2, 3, 5]).tolist() == [25, 4]


def test_a_cell_that_stands_twice_is_named_with_its_first_place() -> None:
    def twice(rows: list[list[int]]) -> tuple[int, int] | None:
        return duplicates(Grid((FLAT, FLAT), np.array(rows, np.int32)))

    assert twice([[0, 0], [0, 1], [1, 0]]) is None
    assert twice([[0, 1], [0, 0], [0, 1]]) == (0, 2)
    assert twice([[1, 1], [0, 0], [0, 0], [1, 1]]) == (1, 2)
    assert twice([[1, 1], [0, 0], [1, 1], [0, 0]]) == (0, 2)
    assert twice([[1, 1], [1, 1], [1, 1]]) == (0, 1)


@pytest.mark.parametrize(
    ("codes", "parents", "says"),
    [
        (["a", "b", "a", "T"], ["T", "T", "T", None], "code 'a' occurs twice"),
        (["a", "b", "T"], ["T", "U", None], "parent 'U' is not a code"),
        (["a", "b"], [None, None], "has 2 totals, it needs exactly one"),
        (["a", "b"], ["b", "a"], "has 0 totals, it needs exactly one"),
        (["T", "b", "c"], [None, "c", "b"], "cycle through code 'b'"),
        (["T", "x", "b", "c", "d"], [None, "T", "d", "b", "c"], "cycle through code 'b'"),
    ],
)
def test_what_is_no_tree_is_refused(codes: list[str], parents: list[str | None], says: str) -> None:
    with pytest.raises(InputError, match=says) as fault:
        dimension_from_parents("area", codes, parents)
    assert fault.value.field == "area"


def test_a_tree_may_be_as_deep_as_is_said_and_no_deeper() -> None:
    def chain(levels: int) -> Dimension:
        codes = [f"c{i}" for i in range(levels + 1)]
        return dimension_from_parents("area", codes, [None, *codes[:-1]])

    assert MOST_DEPTH == 40
    assert int(chain(MOST_DEPTH).depth.max()) == MOST_DEPTH
    for levels in (MOST_DEPTH + 1, MOST_DEPTH + 2, 3 * MOST_DEPTH):
        with pytest.raises(InputError, match="deeper than 40 levels"):
            chain(levels)


def test_too_many_marginals_are_refused_and_the_longest_column_is_suspected(monkeypatch: pytest.MonkeyPatch) -> None:
    long = flat_dimension("note", [str(i) for i in range(9)])
    grid = Grid((FLAT, long), np.array([[0, i] for i in range(9)], np.int32))
    cells = 9 + 9 + 1 + 1
    monkeypatch.setattr(module, "MOST_PLACES", 2 * cells + 1)
    assert len(add_marginals(grid).grid.coordinate) == cells
    monkeypatch.setattr(module, "MOST_PLACES", 2 * cells)
    with pytest.raises(InputError, match="with its 2 dimensions: is column 'note', with 10 codes, a dimension"):
        add_marginals(grid)


def test_a_cell_with_too_many_marginals_above_it_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid((TREE, FLAT), np.array([[1, 0], [3, 2]], np.int32))
    monkeypatch.setattr(module, "MOST_ABOVE", 6)  # the leaf itself, two totals above it, each twice
    assert len(add_marginals(grid).grid.coordinate) == 6
    monkeypatch.setattr(module, "MOST_ABOVE", 5.9)
    with pytest.raises(InputError, match="too many marginals"):
        add_marginals(grid)
