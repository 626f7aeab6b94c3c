"""Random test tables are what the papers say, and the same seed makes the same table."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.table import INFINITE, Status, Table, two_way_table
from gpuga.table.generate import class1, class2, herrington, smith2d, smith3d

MADE = [
    lambda seed: class1(12, 9, seed),
    lambda seed: class2(12, 9, seed),
    lambda seed: herrington(12, 9, 0.05, seed),
    lambda seed: smith2d(12, 9, 0.1, 0.2, seed),
    lambda seed: smith3d((6, 16, 5), 0.1, 0.2, seed, hierarchical=2),
]


def inner(table: Table) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    assert table.grid is not None
    leaf = [d.is_leaf[table.grid.coordinate[:, axis]] for axis, d in enumerate(table.grid.dimensions)]
    return np.logical_and.reduce(leaf)


@pytest.mark.parametrize("make", MADE)
def test_the_same_seed_makes_the_same_table(make) -> None:  # type: ignore[no-untyped-def]
    one, again, other = make(3), make(3), make(4)
    assert np.array_equal(one.value, again.value)
    assert np.array_equal(one.status, again.status)
    assert not np.array_equal(one.value, other.value)


@pytest.mark.parametrize(
    ("make", "digest"),
    [
        (lambda: class1(12, 9, 3), "518db4aeea7b8f33"),
        (lambda: class2(12, 9, 3), "3698eeaad4a7e4a8"),
        (lambda: herrington(12, 9, 0.05, 3), "5ccf5da08f4bb43e"),
        (lambda: smith2d(12, 9, 0.1, 0.2, 3), "e4b33eda182155e3"),
        (lambda: smith3d((6, 16, 5), 0.1, 0.2, 3, hierarchical=2), "11a0df2950244c62"),
        (lambda: smith3d((9, 4, 5), 0.45, 0.3, 4, hierarchical=1), "5f0ad8c82d37c91a"),
        (lambda: smith3d((3, 3, 22), 0.3, 0.0, 4, hierarchical=3), "e754211a21650f90"),
    ],
)
def test_the_tables_of_a_seed_are_those_that_results_were_published_for(make, digest: str) -> None:  # type: ignore[no-untyped-def]
    table = make()
    assert table.grid is not None
    arrays = [table.value, table.weight, table.status, *vars(table.levels).values(), table.grid.coordinate]
    arrays += [dimension.parent for dimension in table.grid.dimensions]
    arrays += [] if table.contributors is None else [table.contributors]
    words = [table.name, str(table.scale), *(code for d in table.grid.dimensions for code in (d.name, *d.codes))]
    content = b"".join(np.ascontiguousarray(a, np.int64).tobytes() for a in arrays) + "|".join(words).encode()
    assert hashlib.sha256(content).hexdigest()[:16] == digest


def test_the_largest_shares_are_possible_and_no_larger_ones() -> None:
    full = smith2d(5, 5, 0.0, 16 / 25, 1)
    assert (full.value == 0).all()
    with pytest.raises(InputError, match="17 zeros do not fit into 16 inner cells"):
        smith2d(5, 5, 0.0, 17 / 25, 1)
    assert len(smith2d(5, 5, 24 / 25, 0.0, 1).sensitive) == 24
    with pytest.raises(InputError, match="25 sensitive cells do not fit into 24"):
        smith2d(5, 5, 1.0, 0.0, 1)
    assert len(herrington(4, 3, 1.0, 1).sensitive) == 12
    assert len(class1(1, 1, 0)) == 4
    assert smith3d((3, 7, 3), 0.0, 0.0, 1, hierarchical=2).grid is not None
    with pytest.raises(InputError, match="at least 7 codes, not 6"):
        smith3d((3, 6, 3), 0.0, 0.0, 1, hierarchical=2)
    with pytest.raises(InputError, match="at least 3, not 2"):
        smith2d(2, 5, 0.0, 0.0, 1)


def test_cells_with_contributors_have_a_value_that_the_contributions_make() -> None:
    table = smith2d(40, 40, 0.0, 0.2, 2)
    assert table.contributors is not None
    inside = inner(table)
    someone = inside & (table.contributors > 0)
    assert (table.value[someone] >= 1).all()
    assert len(np.unique(table.value[someone])) > 50
    assert (table.value[inside] <= 10_000 * np.maximum(table.contributors[inside], 1)).all()
    assert 2 < table.contributors[someone].mean() < 4


@pytest.mark.parametrize("make", MADE)
def test_zeros_are_frozen_and_bounds_are_open(make) -> None:  # type: ignore[no-untyped-def]
    table = make(1)
    assert ((table.value == 0) == (table.status == Status.FROZEN)).all()
    assert (table.lb == 0).all()
    assert (table.ub == INFINITE).all()
    assert not table.lines.residual(table.value).any()


def test_class_1_protects_the_counts_one_to_four() -> None:
    table = class1(50, 40, 1)
    inside = inner(table)
    assert len(table) == 51 * 41
    assert table.value[inside].max() <= 499
    assert np.array_equal(table.primary, inside & (table.value >= 1) & (table.value <= 4))
    k = table.sensitive
    assert np.array_equal(table.levels.upper[k], table.value[k])
    assert np.array_equal(table.levels.lower[k], table.value[k] - 1)


def test_class_2_levels_are_15_percent_rounded_up() -> None:
    table = class2(60, 50, 1)
    inside = inner(table)
    assert table.value[inside].max() <= 1000
    k = table.sensitive
    assert np.array_equal(table.levels.upper[k], (15 * table.value[k] + 99) // 100)
    assert np.array_equal(table.levels.lower[k], table.levels.upper[k])
    assert 0.15 < table.primary[inside].mean() < 0.25
    assert 0.02 < table.primary[~inside].mean() < 0.2


def test_herrington_tables_have_the_share_of_sensitive_cells_and_reals() -> None:
    table = herrington(100, 100, 0.01, 1)
    assert len(table) == 10201
    assert len(table.sensitive) == 100
    assert table.scale == table.weight_scale == 1000
    assert table.value[inner(table)].max() < 1000 * 1000
    assert inner(table)[table.sensitive].all()


def test_smith_shapes_count_the_totals_and_shares_count_all_cells() -> None:
    table = smith3d((20, 9, 8), 0.2, 0.1, 1)
    assert table.grid is not None
    assert table.grid.shape == (20, 9, 8)
    assert len(table) == 20 * 9 * 8
    assert len(table.sensitive) == round(0.2 * len(table))
    assert (table.value == 0).sum() >= round(0.1 * len(table))
    assert table.contributors is not None
    assert ((table.contributors == 0) == (table.value == 0)).all()


def test_a_hierarchical_dimension_adds_lines_not_cells() -> None:
    flat, tree = smith3d((6, 30, 5), 0.1, 0.2, 1), smith3d((6, 30, 5), 0.1, 0.2, 1, hierarchical=2)
    assert len(flat) == len(tree)
    assert len(tree.lines) > len(flat.lines)
    assert tree.grid is not None
    assert int(tree.grid.dimensions[1].depth.max()) == 2


def test_two_way_tables_are_planes_and_others_are_not() -> None:
    assert two_way_table(class1(5, 7, 1)) is not None
    assert two_way_table(smith3d((4, 4, 4), 0.1, 0.1, 1)) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: class1(0, 5, 1),
        lambda: class1(10**6, 10**6, 1),
        lambda: class1(5, 5, -1),
        lambda: herrington(5, 5, 1.5, 1),
        lambda: smith2d(5, 5, 0.1, 0.9, 1),
        lambda: smith3d((5, 5), 0.1, 0.1, 1),
        lambda: smith3d((5, 5, 5), 0.1, 0.1, 1, hierarchical=2),
        lambda: smith3d((5, 5, 5), 0.1, 0.1, 1, hierarchical=4),
    ],
)
def test_impossible_tables_are_refused(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError):
        make()


def test_class_one_takes_a_share_of_sensitive_cells_with_values_1_to_4():
    table = class1(60, 50, 2, 0.05)
    inner = len(table.sensitive) / (60 * 50)
    assert inner == pytest.approx(0.05, abs=0.015)
    assert set(table.value[table.sensitive].tolist()) <= {1, 2, 3, 4}
    others = table.value[~table.primary]
    assert not ((others >= 1) & (others <= 4)).any()
    with pytest.raises(InputError, match="sensitive"):
        class1(6, 5, 1, 1.5)


def test_two_way_tables_may_have_a_hierarchy():
    for dimension in (1, 2):
        table = smith2d(20, 15, 0.1, 0.1, 3, dimension)
        depths = [int(d.depth.max()) for d in table.grid.dimensions]
        assert depths[dimension - 1] == 2
        assert depths[2 - dimension] == 1
        assert not table.lines.residual(table.value).any()
