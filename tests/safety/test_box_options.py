"""Changes along an axis: all the simplest ones, and each as every one of its codes sees it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from gpuga.errors import OutOfTime
from gpuga.safety.box_options import (
    FEW,
    LONGEST,
    MOST_FREE,
    _by_code,
    _combined,
    _general_changes,
    _moves,
    _simplest,
    _solved,
    _tree_changes,
    options_of,
)
from gpuga.table.crossing import Axis

TREE = Axis(7, ((6, (4, 5)), (4, (0, 1)), (5, (2, 3))))
FOREST = Axis(8, ((6, (4, 5)), (4, (0, 1)), (7, (2, 3))))
TWO_WAYS = Axis(6, ((0, (1, 2)), (0, (3, 4, 5))))
SEVERAL = Axis(8, ((4, (0, 1, 2, 3)), (5, (0, 1)), (6, (1, 2)), (7, (2, 3))))
CHAIN = Axis(6, ((0, (1, 2)), (1, (3, 4)), (0, (3, 5))))
HALVES = Axis(10, ((3, (0, 1)), (4, (1, 2)), (5, (0, 2)), (6, (3, 4, 5)), (7, (8, 9)), (6, (7,))))
"""Twice the sum of three codes is the sum of two others: what follows from one of those are halves."""


def keeps(axis: Axis, change: dict[int, int]) -> bool:
    return all(sum(change.get(p, 0) for p in parts) == change.get(total, 0) for total, parts in axis.families)


def simplest_by_hand(axis: Axis) -> set[tuple[tuple[int, int], ...]]:
    """All changes by units that keep every total and contain no smaller one; the first code of each up.

    Where codes have several totals, those that move more than a few of the free codes are not looked for.
    """
    every = []
    free = set(_solved(axis, bool)[0]) if axis.parent is None else set()
    for units in product((0, 1, -1), repeat=axis.codes):
        change = {code: unit for code, unit in enumerate(units) if unit}
        if change and keeps(axis, change) and len(free & set(change)) <= MOST_FREE:
            every.append(change)
    supports = {frozenset(change) for change in every}
    least = {s for s in supports if not any(other < s for other in supports)}
    return {upright(change) for change in every if frozenset(change) in least}


def upright(change: dict[int, int]) -> tuple[tuple[int, int], ...]:
    first = change[min(change)]
    return tuple(sorted((code, unit * first) for code, unit in change.items()))


@pytest.mark.parametrize(
    "axis", [TREE, FOREST, TWO_WAYS, SEVERAL, CHAIN], ids=["tree", "forest", "two", "several", "chain"]
)
def test_all_simplest_changes_are_listed_and_no_others(axis: Axis) -> None:
    changes = _general_changes(axis, bool) if axis.parent is None else _tree_changes(axis, axis.parent)
    found = [upright(dict(change)) for change in changes]
    assert len(found) == len(set(found))
    assert set(found) == simplest_by_hand(axis)


@pytest.mark.parametrize("axis", [TREE, SEVERAL])
def test_each_code_sees_every_change_that_moves_it_as_if_it_rose(axis: Axis) -> None:
    options = options_of(axis)
    seen = set()
    for own in range(axis.codes):
        for option in range(options.first[own], options.first[own + 1]):
            span = slice(options.start[option], options.start[option + 1])
            change = dict(zip(options.code[span].tolist(), options.sign[span].tolist(), strict=True))
            assert own not in change
            seen.add((own, upright(change | {own: 1})))
    assert seen == {(own, change) for change in simplest_by_hand(axis) for own, _ in change}
    assert options.first[-1] == len(seen) == len(options.start) - 1
    assert (options.codes, options.total) == (axis.codes, -1)


def test_options_stand_one_behind_the_other() -> None:
    options = _by_code(3, [((0, 1), (1, -1)), ((0, 1), (2, 1))])
    assert options.first.tolist() == [0, 2, 3, 4]
    assert options.start.tolist() == [0, 1, 2, 3, 4]
    assert options.code.tolist() == [1, 2, 0, 0]
    assert options.sign.tolist() == [-1, 1, -1, 1]


def test_long_changes_are_left_out() -> None:
    def chain(levels: int) -> Axis:
        """A leaf and its way up, level by level, beside another leaf at each."""
        families = tuple((2 * i + 2, (2 * i, 2 * i + 1)) for i in range(levels))
        return Axis(2 * levels + 1, families)

    deep = chain(LONGEST - 1)
    assert deep.parent is not None
    assert max(len(change) for change in _tree_changes(deep, deep.parent)) == LONGEST
    deeper = chain(LONGEST)
    assert deeper.parent is not None
    lengths = [len(change) for change in _tree_changes(deeper, deeper.parent)]
    assert max(lengths) == LONGEST
    assert all(keeps(deeper, dict(change)) for change in _tree_changes(deeper, deeper.parent))


def test_free_codes_move_alone_and_a_few_together_the_first_one_up() -> None:
    free = [3, 5, 8, 9]
    found = list(_moves(Axis(10, ()), free))
    expected = [
        (chosen, (1, *rest))
        for size in range(1, MOST_FREE + 1)
        for chosen in combinations(range(4), size)
        for rest in product((1, -1), repeat=size - 1)
    ]
    assert sorted(found) == sorted(expected)


def test_of_many_free_codes_only_those_of_one_family_move_against_each_other() -> None:
    many = list(range(FEW + 1))
    axis = Axis(20, ((15, (0, 1, 2)), (16, (2, 5, 17)), (18, (7,))))
    found = list(_moves(axis, many))
    assert found == [
        *(((z,), (1,)) for z in range(FEW + 1)),
        *((pair, (1, -1)) for pair in [(0, 1), (0, 2), (1, 2), (2, 5)]),
    ]
    assert len(list(_moves(axis, many[:FEW]))) > len(found) * 10


def test_what_contains_a_simpler_change_is_dropped() -> None:
    changes = [{0: 1, 1: -1, 2: 1}, {1: 1, 2: -1}, {3: 1, 0: -1}, {0: 1, 1: 1, 3: 1}, {1: -1, 2: 1}]
    assert _simplest(changes) == [((0, -1), (3, 1)), ((1, -1), (2, 1))]
    assert _simplest([]) == []
    assert _simplest([{2: 1}, {0: 1, 2: 1}, {0: 1, 1: 1}]) == [((2, 1),), ((0, 1), (1, 1))]


@pytest.mark.parametrize("axis", [TREE, FOREST, TWO_WAYS, SEVERAL, CHAIN, HALVES])
def test_a_free_code_that_moves_alone_takes_along_what_follows_from_it(axis: Axis) -> None:
    free, follows = _solved(axis, bool)
    dense = np.zeros((len(axis.families), axis.codes), np.int64)
    for row, (total, parts) in enumerate(axis.families):
        dense[row, list(parts)] = 1
        dense[row, total] = -1
    assert len(free) == axis.codes - np.linalg.matrix_rank(dense)
    for code, moved in zip(free, follows, strict=True):
        assert moved[code] == 1
        assert all(other == code or other not in free for other in moved)
        change = np.array([Fraction(moved.get(c, 0)) for c in range(axis.codes)], dtype=object)
        assert not (dense @ change).any()
    assert all(total not in free for total, _ in axis.families if axis.depth[total] == 0)


def test_rows_are_combined_and_zeros_left_out() -> None:
    assert _combined({0: 1, 1: 2}, {1: 1, 2: -1}, 2) == {0: 1, 2: 2}
    assert _combined({0: 1}, {0: 1}, 1) == {}
    assert _combined({0: Fraction(1, 2)}, {1: 3}, Fraction(1, 3)) == {0: Fraction(1, 2), 1: -1}


def test_changes_move_by_units_and_never_by_halves() -> None:
    assert any(Fraction(by).denominator == 2 for moved in _solved(HALVES, bool)[1] for by in moved.values())
    changes = _general_changes(HALVES, bool)
    assert changes
    for change in changes:
        assert set(dict(change).values()) <= {1, -1}
        assert keeps(HALVES, dict(change))


def test_changes_of_an_axis_are_listed_until_the_time_is_up() -> None:
    """One look at the clock for each family, one for every few hundred moves; trees need none."""
    for looks in range(8):
        left = [True] * looks

        def expired(left: list[bool] = left) -> bool:
            return not (left and left.pop())

        if looks < len(SEVERAL.families) + 1:
            with pytest.raises(OutOfTime):
                options_of(SEVERAL, expired)
        else:
            assert len(options_of(SEVERAL, expired).code)
    assert len(options_of(TREE, lambda: True).code)


def test_a_family_that_is_said_twice_changes_nothing() -> None:
    once, twice = (
        Axis(6, ((0, (1, 2)), (1, (3, 4)), (0, (3, 5)))),
        Axis(6, ((0, (1, 2)), (1, (3, 4)), (0, (3, 5)), (0, (1, 2)))),
    )
    assert _solved(twice, bool) == _solved(once, bool)
    assert _general_changes(twice, bool) == _general_changes(once, bool)
