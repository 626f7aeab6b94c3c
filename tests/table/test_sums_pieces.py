"""The pieces of the search for undeclared sums: what each looks at, what it proposes, what is believed."""

from __future__ import annotations

from itertools import combinations
from math import comb, log2

import numpy as np
import pytest

from gpuga.table.elimination import zero_one_rows, zero_one_solution
from gpuga.table.grid import dimension_from_parents, flat_dimension
from gpuga.table.sums import (
    MARGIN,
    MARGIN_BESIDE_ANOTHER,
    MARGIN_WITH_A_WEAK_NAME,
    _all_others,
    _all_sums,
    _Candidate,
    _choice,
    _Face,
    _met_in_the_middle,
    _mixed,
    _pairs,
    _runs,
    _Search,
    find_sums,
)
from gpuga.table.table import Grid, Ints
from tests.table.test_sums import rows_as_grid

VALUES = np.array([[3, 0, 7, 1], [0, 0, 0, 0], [5, 2, 0, 4], [8, 2, 7, 5]])
"""Row 3 is the sum of rows 0 and 2; row 1 is nothing."""


def face_of(values: Ints, names: list[str] | None = None, drop_zeros: bool = False) -> _Face:
    return _Face(*rows_as_grid(values, names, drop_zeros), 0)


def search_of(values: Ints, names: list[str] | None = None, coincidences: tuple[str, ...] = ()) -> _Search:
    return _Search(face_of(values, names), frozenset(coincidences))


def test_a_face_shows_the_entries_of_codes_that_have_any_value() -> None:
    face = face_of(VALUES)
    assert face.live.tolist() == [0, 2, 3]
    assert face.code.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert face.column.tolist() == [0, 1, 2, 3] * 3
    assert face.value.tolist() == VALUES[[0, 2, 3]].ravel().tolist()
    assert face.first.tolist() == [0, 4, 8, 12]
    assert [face.entries(code) for code in range(3)] == [slice(0, 4), slice(4, 8), slice(8, 12)]
    assert face.crowd.tolist() == [4] * 4
    assert face.inner.all()
    across = _Face(*rows_as_grid(VALUES), 1)
    assert across.live.tolist() == [0, 1, 2, 3]
    assert across.value.tolist() == VALUES.T.ravel().tolist()


def test_totals_of_other_dimensions_are_not_inner_and_own_totals_are_no_entries() -> None:
    tree = dimension_from_parents("row", ["a", "b", "T"], ["T", "T", None])
    columns = flat_dimension("column", ["x", "y"])
    coordinate = np.array([(i, j) for i in range(3) for j in range(3)], np.int32)
    face = _Face(Grid((tree, columns), coordinate), np.arange(1, 10), 0)
    assert face.live.tolist() == [0, 1]
    assert face.value.tolist() == [1, 2, 3, 4, 5, 6]
    assert face.inner.tolist() == [True, True, False]
    assert face.fresh.tolist() == [True, True, False]


def test_the_only_dimension_has_one_column() -> None:
    dimension = flat_dimension("row", ["a", "b", "c"])
    face = _Face(Grid((dimension,), np.array([[0], [1], [2]], np.int32)), np.array([3, 4, 7]), 0)
    assert face.crowd.tolist() == [3]
    assert face.inner.tolist() == [True]
    assert face.is_sum(2, np.array([0, 1]))


def test_the_numbers_of_codes_are_linear_in_their_vectors() -> None:
    face = face_of(VALUES)
    hashes = face.hashes()
    assert hashes[0] + hashes[1] == hashes[2]
    assert len(set(hashes.tolist())) == 3
    weights = _mixed(np.arange(4))
    for code, row in enumerate(VALUES[[0, 2, 3]]):
        assert int(hashes[code]) == sum(int(v) * int(w) for v, w in zip(row, weights, strict=True)) % 2**64
    part = face.hashes(np.array([True, False, False, True]))
    assert int(part[0]) == (3 * int(weights[0]) + int(weights[3])) % 2**64


def test_numbers_are_mixed_as_splitmix64_does_it() -> None:
    assert [hex(int(x)) for x in _mixed(np.array([0, 1, 2]))] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


def test_a_code_is_a_sum_where_it_is_there_beside_another() -> None:
    face = face_of(VALUES, drop_zeros=True)
    assert face.crowd.tolist() == [3, 2, 2, 3]
    assert face.is_sum(2, np.array([0, 1]))
    assert not face.is_sum(2, np.array([0]))
    assert not face.is_sum(0, np.array([1, 2]))
    assert face.lies_in(0).tolist() == [True, False, True, True]
    lonely = face_of(
        np.array([[3, 0, 9], [5, 2, 0], [8, 2, 77]]) * np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1]]), None, True
    )
    assert lonely.lies_in(2).tolist() == [True, True, False]
    assert lonely.is_sum(2, np.array([0, 1]))  # 77 stands alone in its column and says nothing


def test_columns_that_repeat_another_in_other_units_say_nothing_of_their_own() -> None:
    face = face_of(np.array([[1, 2, 3, 5, 0], [4, 8, 12, 1, 0], [0, 0, 0, 7, 3]]))
    assert face.fresh.tolist() == [True, False, False, True, True]
    assert face.unit == 1
    assert face_of(np.array([[600, 900], [300, 1500]])).unit == 300
    assert face_of(np.array([[-600, 900], [300, 1500]])).unit == 300


def test_evidence_is_how_unlikely_a_sum_of_such_parts_is() -> None:
    face = face_of(np.array([[30, 1], [40, 0], [70, 1]]))
    everywhere = np.ones(2, bool)
    squares = np.array([30**2 + 40**2, 1])
    assert face.evidence(np.array([0, 1]), everywhere) == pytest.approx(np.log2(np.sqrt(np.pi / 2 * squares)))
    assert face.evidence(np.array([1]), everywhere)[1] == 0.0
    assert face.evidence(np.array([0, 1]), np.array([True, False])).tolist() == [
        pytest.approx(log2((np.pi / 2 * 2500) ** 0.5))
    ]
    every = np.array([30**2 + 40**2 + 70**2, 2])
    assert face.evidence(None, everywhere) == pytest.approx(np.log2(np.sqrt(np.pi / 2 * every)))
    rounded = face_of(np.array([[300, 10], [400, 0], [700, 10]]))
    assert rounded.evidence(np.array([0, 1]), everywhere) == pytest.approx(np.log2(np.sqrt(np.pi / 2 * squares)))


@pytest.mark.parametrize(("count", "parts"), [(2, 1), (5, 2), (9, 4), (30, 3), (4, 3)])
def test_bits_of_choice_count_codes_numbers_of_parts_and_sets(count: int, parts: int) -> None:
    assert _choice(count, parts) == pytest.approx(log2(comb(count - 1, parts)) + 2 * log2(count))


def test_all_sums_of_subsets_stand_at_their_bits() -> None:
    numbers = np.array([1, 10, 100, 1000], np.uint64)
    sums = _all_sums(numbers)
    assert sums.tolist() == [sum(int(n) for i, n in enumerate(numbers) if at >> i & 1) for at in range(16)]


def hashes_of(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(1, 2**63, count).astype(np.uint64)


@pytest.mark.parametrize("count", [2, 3, 6, 7])
def test_any_set_of_codes_is_met_in_the_middle(count: int) -> None:
    rng = np.random.default_rng(count)
    hashes = hashes_of(rng, count + 1)
    others = np.arange(count)
    for size in range(1, count + 1):
        for parts in combinations(range(count), size):
            hashes[count] = hashes[list(parts)].sum()
            assert [found.tolist() for found in _met_in_the_middle(hashes, others, count)] == [list(parts)]
    hashes[count] = 12345
    assert list(_met_in_the_middle(hashes, others, count)) == []
    hashes[count] = 0
    assert list(_met_in_the_middle(hashes, others, count)) == []


def test_of_many_sets_the_smallest_few_are_proposed() -> None:
    hashes = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15], np.uint64)
    found = [part.tolist() for part in _met_in_the_middle(hashes, np.arange(10), 10)]
    assert len(found) == 8
    sizes = [len(parts) for parts in found]
    assert sizes == sorted(sizes)
    assert all(sum(int(hashes[p]) for p in parts) == 15 for parts in found)


def test_pairs_are_found_among_any_codes() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        hashes = hashes_of(rng, 9)
        base = np.array([0, 2, 3, 5, 7, 8])
        one, two, total = rng.choice(base, 3, replace=False).tolist()
        hashes[total] = hashes[one] + hashes[two]
        (found,) = _pairs(hashes, base, 9)
        assert (found.code, sorted(found.parts.tolist())) == (total, sorted([one, two]))
        assert found.choice == pytest.approx(_choice(9, 2))
        assert not found.of_all
    few = np.array([5, 5], np.uint64)
    assert list(_pairs(few, np.array([0, 1]), 2)) == []
    three = np.array([5, 6, 11], np.uint64)
    assert [c.code for c in _pairs(three, np.arange(3), 3)] == [2]


def test_the_sum_of_all_others_is_proposed_and_so_are_totals_that_stand_twice() -> None:
    hashes = np.array([7, 5, 12, 99, 12], np.uint64)
    base = np.array([0, 1, 2])
    (found,) = _all_others(hashes, base, base, 5)
    assert (found.code, found.parts.tolist(), found.of_all) == (2, [0, 1], True)
    assert found.choice == pytest.approx(log2(5))
    assert list(_all_others(hashes, base, np.array([0, 1]), 5)) == []
    twice = list(_all_others(hashes, np.array([0, 1, 2, 4]), np.array([0, 1, 2, 4]), 5))
    assert [(c.code, c.parts.tolist(), c.of_all) for c in twice] == [(2, [0, 1], True), (4, [0, 1], True)]
    assert twice[0].choice == pytest.approx(log2(5))
    thrice = np.array([7, 5, 12, 12, 12], np.uint64)
    assert [c.code for c in _all_others(thrice, np.arange(5), np.arange(5), 5)] == [2, 3, 4]


@pytest.mark.parametrize(("total", "low", "high"), [(0, 1, 4), (3, 4, 6), (5, 2, 5), (6, 0, 6), (6, 1, 3), (1, 3, 7)])
def test_runs_of_neighbours_are_proposed(total: int, low: int, high: int) -> None:
    rng = np.random.default_rng(4)
    hashes = hashes_of(rng, 8)
    base = np.arange(7)
    hashes[total] = hashes[low:high].sum()
    found = [(c.code, c.parts.tolist()) for c in _runs(hashes, base, base, 8)]
    assert (total, list(range(low, high))) in found
    assert {code for code, _ in found} == {total}
    near = low == total + 1 or high == total
    choices = {c.choice for c in _runs(hashes, base, base, 8)}
    assert choices == ({2 * log2(8) + 1, 3 * log2(8)} if near else {3 * log2(8)})
    assert list(_runs(hashes, base, base[base != total], 8)) == []


def test_in_very_long_dimensions_only_neighbours_are_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuga.table.sums.MOST_CODES_FOR_RUNS", 6)
    hashes = hashes_of(np.random.default_rng(4), 7)
    hashes[6] = hashes[1:3].sum()
    assert list(_runs(hashes, np.arange(7), np.arange(7), 7)) == []
    hashes[6] = hashes[4:6].sum()
    assert [c.parts.tolist() for c in _runs(hashes, np.arange(7), np.arange(7), 7)] == [[4, 5]]
    monkeypatch.setattr("gpuga.table.sums.MOST_CODES_FOR_RUNS", 7)
    hashes[6] = hashes[1:3].sum()
    assert [c.parts.tolist() for c in _runs(hashes, np.arange(7), np.arange(7), 7)] == [[1, 2]]


def test_codes_that_begin_like_another_are_its_parts_the_lowest_of_them() -> None:
    names = ["1", "1.1", "1.2", "1.1.a", "1.1.b", "2", "10"]
    values = np.zeros((7, 3), np.int64)
    values[[2, 3, 4, 5, 6]] = np.random.default_rng(1).integers(1, 99, (5, 3))
    values[1] = values[3] + values[4]
    values[0] = values[1] + values[2] + values[6]
    search = search_of(values, names)
    found = list(search._begun_alike(search.face.hashes(), np.arange(7), np.arange(7)))
    assert [(c.code, c.parts.tolist()) for c in found] == [(0, [2, 3, 4, 6]), (1, [3, 4])]
    assert all(c.obvious and not c.of_all and c.choice == pytest.approx(log2(7) + 1) for c in found)
    (one,) = search._begun_alike(search.face.hashes(), np.arange(7), np.array([1]))
    assert one.code == 1
    values[1] += 1
    search = search_of(values, names)
    assert [c.code for c in search._begun_alike(search.face.hashes(), np.arange(7), np.arange(7))] == [0]


def test_codes_that_are_known_as_sums_are_left_out_unless_they_are_called_chance() -> None:
    search = search_of(VALUES, ["a", "b", "c", "d"])
    everywhere = np.ones(4, bool)
    assert search._base(everywhere).tolist() == [0, 1, 2]
    assert search._base(np.array([False, True, False, False])).tolist() == [1, 2]
    search.found[2] = _Candidate(2, np.array([0, 1]), 1.0)
    assert search._base(everywhere).tolist() == [0, 1]
    chance = search_of(VALUES, ["a", "b", "c", "d"], ("d",))
    chance.found[2] = _Candidate(2, np.array([0, 1]), 1.0)
    assert chance._base(everywhere).tolist() == [0, 1, 2]


def test_a_small_table_is_compared_in_all_its_columns() -> None:
    search = search_of(VALUES)
    matrix = search._matrix(np.array([0, 2]), np.ones(4, bool))
    assert sorted(matrix.T.tolist()) == sorted(VALUES[[0, 3]].T.tolist())
    some = search._matrix(np.array([0, 1, 2]), np.array([True, False, True, False]))
    assert sorted(some.T.tolist()) == sorted(VALUES[[0, 2, 3]][:, [0, 2]].T.tolist())


def test_of_a_wide_table_so_many_columns_are_compared_as_there_are_codes_and_some() -> None:
    values = np.random.default_rng(5).integers(1, 99, (3, 90))
    values[0, 45:] = 0
    matrix = search_of(values)._matrix(np.array([0, 1, 2]), np.ones(90, bool))
    assert matrix.shape == (3, 35)
    columns = [tuple(column) for column in values.T.tolist()]
    places = [columns.index(tuple(column)) for column in matrix.T.tolist()]
    assert len(set(places)) == 35
    assert (matrix[0] > 0).sum() >= 17


def evidence_bits(search: _Search, parts: list[int], code: int) -> float:
    return float(search.face.evidence(np.array(parts), search.face.lies_in(code)).sum())


def believed(search: _Search, choice: float, **kind: bool) -> bool:
    return search._believed(_Candidate(2, np.array([0, 1]), choice, **kind))


def test_a_guess_is_believed_where_its_evidence_outweighs_choice_and_margin() -> None:
    values = np.array([[30, 11], [40, 25], [70, 36]])
    search = search_of(values)
    bits = evidence_bits(search, [0, 1], 2)
    assert believed(search, bits - MARGIN)
    assert not believed(search, bits - MARGIN + 0.001)
    search.found[0] = _Candidate(0, np.array([1]), 1.0)
    assert believed(search, bits - MARGIN_BESIDE_ANOTHER)
    assert not believed(search, bits - MARGIN_BESIDE_ANOTHER + 0.001)
    assert not search_of(values + np.array([[0, 0], [0, 0], [0, 1]]))._believed(_Candidate(2, np.array([0, 1]), -99.0))


def test_one_column_or_one_part_is_believed_only_where_names_say_it() -> None:
    one_column = search_of(np.array([[30000, 0], [41234, 1], [71234, 1]]))
    assert not believed(one_column, -99.0)
    assert believed(one_column, -99.0, obvious=True)
    copy = search_of(np.array([[7, 9, 4], [500, 600, 700], [500, 600, 700]]))
    assert not copy._believed(_Candidate(2, np.array([1]), -99.0))
    assert copy._believed(_Candidate(2, np.array([1]), -99.0, obvious=True))
    two = search_of(np.array([[2, 2], [3, 1], [5, 3]]))
    assert believed(two, -99.0)  # two columns of a bit or more each


def test_a_strong_name_needs_no_margin_and_a_weak_one_a_small_one() -> None:
    values = np.array([[30, 11], [40, 25], [70, 36]])
    strong = search_of(values, ["a", "b", "TOTAL"])
    bits = evidence_bits(strong, [0, 1], 2)
    assert believed(strong, bits)
    assert not believed(strong, bits + 0.001)
    assert believed(strong, 999.0, of_all=True)
    ones = search_of(np.array([[1, 0], [0, 0], [1, 0]]), ["a", "b", "TOTAL"])
    assert evidence_bits(ones, [0], 1) > 0.3
    weak = search_of(values, ["a", "b", "All"])
    assert believed(weak, 999.0, of_all=True)
    assert not believed(weak, bits)
    little = search_of(np.array([[2], [3], [5]]), ["a", "b", "All"])
    assert evidence_bits(little, [0, 1], 2) < MARGIN_WITH_A_WEAK_NAME
    assert not believed(little, -99.0, of_all=True)
    enough = search_of(np.array([[10], [9], [19]]), ["a", "b", "All"])
    assert evidence_bits(enough, [0, 1], 2) > MARGIN_WITH_A_WEAK_NAME
    assert believed(enough, -99.0, of_all=True)


def test_a_dimension_is_searched_only_where_its_numbers_could_prove_anything() -> None:
    small = search_of(np.array([[1, 2], [2, 1], [3, 3]]))
    total = float(small.face.evidence(None, np.ones(2, bool)).sum())
    assert small._promising(np.ones(2, bool)) == (total >= MARGIN + log2(3))
    assert not small._promising(np.ones(2, bool))
    large = search_of(np.array([[100, 200], [200, 100], [300, 300]]) + 1)
    assert large._promising(np.ones(2, bool))
    assert not large._promising(np.zeros(2, bool))


def test_sums_of_all_codes_are_named_first_and_chance_is_left_out() -> None:
    one, two, eleven, twelve = np.random.default_rng(8).integers(100, 999, (4, 5))
    values = np.array([one, one + two + eleven + twelve, one + two, eleven, two, twelve])
    grid, value = rows_as_grid(values, ["10.1", "whole", "10", "11", "10.2", "12"])
    found = [s for s in find_sums(grid, value, [(), ()]) if s.dimension.name == "row"]
    assert [(s.code, s.parts, s.of_all) for s in found] == [(1, (0, 3, 4, 5), True), (2, (0, 4), False)]
    left = [s for s in find_sums(grid, value, [("10",), ()]) if s.dimension.name == "row"]
    assert [s.code for s in left] == [1]


def test_elimination_names_rows_by_earlier_independent_rows() -> None:
    rng = np.random.default_rng(6)
    for _ in range(10):
        rows = rng.integers(-50, 50, (6, 9))
        parts = sorted(rng.choice(5, int(rng.integers(1, 6)), replace=False).tolist())
        rows[5] = rows[parts].sum(axis=0)
        assert [(row, found.tolist()) for row, found in zero_one_rows(rows)] == [(5, parts)]
        twice = rows.copy()
        twice[5] += rows[parts[0]]
        assert list(zero_one_rows(twice)) == []
    assert list(zero_one_rows(np.array([[1, 2], [0, 0], [3, 4]]))) == []
    assert [row for row, _ in zero_one_rows(np.array([[1, 2], [3, 4], [4, 6], [1, 2]]))] == [2, 3]


def test_a_program_finds_the_rows_that_add_up() -> None:
    rng = np.random.default_rng(7)
    rows = rng.integers(1, 99, (6, 5))
    for parts in ([0, 1], [2], [0, 3, 5], [0, 1, 2, 3, 4, 5]):
        assert [found.tolist() for found in zero_one_solution(rows, rows[parts].sum(axis=0))] == [parts]
    assert list(zero_one_solution(rows, rows[0] + rows[1] + 1)) == []
    assert list(zero_one_solution(rows, np.zeros(5, np.int64))) == []
    assert list(zero_one_solution(rows, rows.sum(axis=0) + 1)) == []


def test_pairs_are_looked_for_where_there_are_too_many_codes_for_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).integers(100, 10**6, (12, 9))
    values[5] = values[1] + values[7]
    values[9] = values[0] + values[2] + values[3]
    for most, expected in ((0, {5}), (99, {5, 9})):
        monkeypatch.setattr("gpuga.table.sums.MOST_CODES_FOR_SETS", most)
        search = search_of(values)
        search._whole()
        assert set(search.found) == expected
        assert sorted(search.found[5].parts.tolist()) == [1, 7]


def test_a_name_alone_makes_no_total_without_any_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.array([[3, 5, 7], [4, 1, 2], [7, 6, 9]])
    search = search_of(values, ["a", "b", "Total of all"])
    guess = _Candidate(2, np.array([0, 1]), 0.0, True)
    assert search.strong[2]
    assert search._believed(guess)
    monkeypatch.setattr(_Face, "evidence", lambda *_: np.zeros(3))
    assert not search._believed(guess)
