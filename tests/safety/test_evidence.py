"""Evidence: which witnesses a proof needs, and how far each has been shown to go."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gpuga.safety.audit import _falls_short
from gpuga.safety.evidence import Evidence, Rule
from gpuga.safety.witness import together, witness_of
from gpuga.table import Levels, Lines, Table
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.witnesses import Witnesses

CELLS = 4


def line(lower: int = 0, upper: int = 0, sliding: int = 0) -> Table:
    """Four cells that keep their sum; the first is sensitive."""
    lines = Lines(np.array([0, CELLS]), np.arange(CELLS, dtype=np.int32), np.ones(CELLS, np.int64), np.array([400]))
    first = (np.arange(CELLS) == 0).astype(np.int64)
    levels = Levels(lower * first, upper * first, sliding * first)
    return Table.build(np.full(CELLS, 100), lines, status=first.astype(np.uint8), levels=levels)


def shown_of(table: Table, **model: bool) -> Evidence:
    return Evidence(table, np.ones(CELLS, bool), AttackerModel(**model), keep=True)


def shift(amount: int, cell: int, other: int, denominator: int = 1) -> Witnesses:
    return witness_of(np.array([cell, other], np.int32), np.array([amount, -amount]), denominator)


def listed(shown: Evidence) -> dict[tuple[int, int], Fraction]:
    """How far the witnesses of a proof move what they are listed for."""
    proof = shown.proof()
    out = {}
    for cell, direction, number in zip(
        proof.cell.tolist(), proof.direction.tolist(), proof.witness.tolist(), strict=True
    ):
        cells, amounts, denominator = proof.witnesses.one(number)
        out[cell, direction] = Fraction(direction * int(amounts[cells == cell][0]), denominator)
    assert len(proof.witnesses) == len(set(proof.witness.tolist()))
    return out


@pytest.mark.parametrize(
    ("levels", "model", "directions"),
    [
        ((0, 2, 0), {}, {1}),
        ((2, 0, 0), {}, {-1}),
        ((2, 2, 0), {}, {1, -1}),
        ((0, 2, 0), {"strict": True}, {1, -1}),
        ((0, 0, 3), {}, {1, -1}),
        ((0, 0, 0), {}, set()),
    ],
)
def test_a_proof_lists_the_directions_that_a_level_or_a_width_asks_for(
    levels: tuple[int, int, int], model: dict[str, bool], directions: set[int]
) -> None:
    shown = shown_of(line(*levels), **model)
    shown.offer(together([shift(5, 0, 1), shift(-6, 0, 1)]))
    assert listed(shown) == {(0, d): 5 if d > 0 else 6 for d in directions}


def test_a_proof_shows_of_secondaries_that_they_move_at_all() -> None:
    shown = shown_of(line(2, 2, 0), protect_secondary=True)
    shown.offer(together([shift(5, 0, 1), shift(-6, 0, 1)]))
    assert listed(shown) == {(0, 1): 5, (0, -1): 6, (1, 1): 6, (1, -1): 5}


def test_the_farthest_witness_of_each_cell_is_listed_whole_or_not() -> None:
    shown = shown_of(line(2, 2, 0))
    shown.offer(together([shift(5, 0, 1), shift(9, 0, 2), shift(7, 0, 3), shift(-4, 0, 1)]))
    assert listed(shown) == {(0, 1): 9, (0, -1): 4}
    shown.use(shift(37, 0, 1, 4), [0])  # nine and a quarter; its reverse goes to a hundred
    assert listed(shown) == {(0, 1): Fraction(37, 4), (0, -1): 100}
    shown.offer(shift(11, 0, 3))
    assert listed(shown) == {(0, 1): 11, (0, -1): 100}
    shown.offer(shift(10, 0, 2))
    assert listed(shown)[0, 1] == 11


def test_a_witness_counts_only_for_cells_that_it_takes_further() -> None:
    shown = shown_of(line(2, 2, 0))
    shown.offer(shift(5, 0, 1))
    shown.use(shift(5, 0, 2), [0])
    proof = shown.proof()
    assert proof.cell.tolist() == [0, 0]
    ((cells, _, _),) = [
        proof.witnesses.one(int(w)) for w, d in zip(proof.witness, proof.direction, strict=True) if d > 0
    ]
    assert cells.tolist() == [0, 1]  # the first that went so far


def test_whole_numbers_leave_the_reverse_its_whole_part() -> None:
    """A change of 3 may be reversed 33 times and a third; an attacker of whole numbers does it 33 times."""
    shown = shown_of(line(2, 2, 0), whole=True)
    shown.use(shift(3, 0, 1), [0, 1])
    assert [shown.reached(0, 1), shown.reached(0, -1), shown.reached(1, 1), shown.reached(1, -1)] == [3, 99, 99, 3]
    parted = shown_of(line(2, 2, 0))
    parted.use(shift(3, 0, 1), [0, 1])
    assert parted.reached(0, -1) == 100
    wide = shown_of(line(2, 2, 0), whole=True)
    wide.use(shift(60, 0, 1), [0])  # once and two thirds
    assert wide.reached(0, -1) == 60
    stuck = shown_of(line(2, 2, 0), whole=True)
    stuck.use(shift(3, 0, 1, 2), [0])
    assert stuck.reached(0, 1) == stuck.reached(0, -1) == 0


def test_without_keeping_there_are_no_numbers_of_witnesses() -> None:
    plain = Evidence(line(2, 2, 0), np.ones(CELLS, bool), AttackerModel())
    plain.offer(together([shift(5, 0, 1), shift(-6, 0, 1)]))
    plain.use(shift(7, 0, 2), [0])
    assert plain.reached(0, 1) == 7
    assert len(plain.proof().cell) == 0


def test_moves_beyond_all_bounds_are_shown_as_far_as_numbers_go() -> None:
    lines = Lines(np.array([0, 2]), np.arange(2, dtype=np.int32), np.array([1, -1]), np.zeros(1, np.int64))
    table = Table.build(np.array([5, 5]), lines)
    shown = Evidence(table, np.ones(2, bool), AttackerModel())
    far = np.array([2**70, 2**70], dtype=object)
    shown.offer(Witnesses(np.array([0, 2]), np.arange(2, dtype=np.int32), far, np.array([1])))
    assert shown.reached(0, 1) == shown.reached(1, 1) == 2**61


def test_a_cell_is_open_in_the_directions_that_fall_short() -> None:
    for rise, fall, open_ in [(0, 0, [1, -1]), (3, 0, [-1]), (0, 2, [1]), (3, 2, []), (2, 2, [1]), (3, 1, [-1])]:
        shown = shown_of(line(lower=2, upper=3))
        shown.note_whole(np.array([0, 0]), np.array([1, -1]), np.array([rise, fall]))
        assert shown.open_directions(0) == open_
        assert shown.unsettled(np.array([0])) == ([0] if open_ else [])
    for rise, fall, wide in [(3, 2, False), (3, 3, True), (4, 2, True)]:
        shown = shown_of(line(lower=2, upper=3, sliding=6))
        shown.note_whole(np.array([0, 0]), np.array([1, -1]), np.array([rise, fall]))
        assert shown.wide(0) is wide
        assert shown.open_directions(0) == ([] if wide else [1, -1])
        assert shown.unsettled(np.array([0])) == ([] if wide else [0])
    strictly = shown_of(line(sliding=6), strict=True)
    strictly.note_whole(np.array([0, 0]), np.array([1, -1]), np.array([3, 3]))
    assert strictly.unsettled(np.array([0])) == [0]
    strictly.note_whole(np.array([0]), np.array([1]), np.array([4]))
    assert strictly.unsettled(np.array([0])) == []


def test_a_level_of_nothing_must_be_exceeded_in_the_strict_reading() -> None:
    for strict, short in ((False, [False, False, False]), (True, [True, False, False])):
        rule = Rule.of(line(), np.ones(CELLS, bool), strict, protect_secondary=False)
        assert rule.rise.tolist() == [0, -1, -1, -1]
        assert rule.short(np.zeros(CELLS, np.int64), rule.rise).tolist()[:3] == short
        assert not rule.short(np.ones(CELLS, np.int64), rule.rise).any()


def test_a_level_of_one_unit_is_part_of_a_proof_and_of_nothing_is_refuted_where_it_must_be_exceeded() -> None:
    shown = shown_of(line(lower=1, upper=1))
    shown.offer(together([shift(5, 0, 1), shift(-6, 0, 1)]))
    assert listed(shown) == {(0, 1): 5, (0, -1): 6}
    for direction in (1, -1):
        assert _falls_short(shown_of(line(), strict=True), 0, {direction: Fraction(0)})
        assert not _falls_short(shown_of(line()), 0, {direction: Fraction(0)})
