"""How an audit puts its questions: together as long as that pays, one by one, and never past the clock."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gpuga.context import Clock, Context, Silent
from gpuga.safety.attacker import Attacker, Reach
from gpuga.safety.audit import (
    FEW,
    PATIENCE,
    _ask,
    _reported,
    _together,
    audit,
    judge,
    short_by_propagation,
)
from gpuga.safety.evidence import Evidence
from gpuga.safety.witness import witness_of
from gpuga.table import Levels, Lines, Table
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.witnesses import Witnesses

CELLS = 10


def pairs(**more: object) -> Table:
    """Ten cells, two and two of which keep their sum; all are sensitive with a level of 4 both ways."""
    start = np.arange(0, CELLS + 1, 2)
    lines = Lines(start, np.arange(CELLS, dtype=np.int32), np.ones(CELLS, np.int64), np.full(CELLS // 2, 40))
    level = np.full(CELLS, 4)
    given = {"status": np.ones(CELLS, np.uint8), "levels": Levels(level, level, 0 * level)} | more
    return Table.build(np.full(CELLS, 20), lines, **given)  # type: ignore[arg-type]


def evidence_of(table: Table, whole: bool = False) -> Evidence:
    return Evidence(table, np.ones(len(table), bool), AttackerModel(whole=whole))


class Questions(Attacker):
    """An attacker that answers from a list and notes what it was asked."""

    def __init__(self, table: Table, answers: list[Witnesses | None]) -> None:
        super().__init__(table, np.ones(len(table), bool))
        self.answers, self.asked = answers, []

    def shared(self, cells, direction, need, seconds):  # type: ignore[no-untyped-def]
        self.asked.append((cells.tolist(), direction.tolist(), need.tolist()))
        return self.answers.pop(0) if self.answers else None


def shift(amount: int, *firsts: int) -> Witnesses:
    """The first of each pair rises, its partner falls."""
    cells = np.array([c for first in firsts for c in (first, first + 1)], np.int32)
    return witness_of(cells, np.array([amount, -amount] * len(firsts)))


class Ended(Clock):
    """A clock without any time."""

    def left(self) -> float:
        return 0.0


EVERY = list(range(CELLS))


def test_few_cells_are_not_asked_together() -> None:
    table = pairs()
    for count, asked in ((FEW - 1, 0), (FEW, 1)):
        attacker = Questions(table, [])
        assert _together(attacker, evidence_of(table), Context(), EVERY[:count]) == EVERY[:count]
        assert len(attacker.asked) == asked


def test_every_cell_is_asked_for_what_it_lacks_in_an_open_direction() -> None:
    table = pairs()
    shown = evidence_of(table)
    shown.note_whole(np.array([0, 1]), np.array([1, -1]), np.array([4, 4]))
    attacker = Questions(table, [])
    _together(attacker, shown, Context(), EVERY)
    ((cells, direction, need),) = attacker.asked
    assert cells == EVERY
    assert direction[:2] == [-1, 1]
    assert set(direction) == {1, -1}
    assert need == [4] * CELLS


def test_cells_that_a_change_settles_are_not_asked_again() -> None:
    table = pairs()
    everything = shift(4, 0, 2, 4, 6, 8)
    attacker = Questions(table, [everything])
    assert _together(attacker, evidence_of(table), Context(), EVERY) == []
    assert len(attacker.asked) == 1
    some = Questions(table, [shift(4, 0), shift(4, 2), None])
    assert _together(some, evidence_of(table), Context(), EVERY) == EVERY[4:]
    assert [cells for cells, _, _ in some.asked] == [EVERY, EVERY[2:], EVERY[4:]]


def test_changes_that_settle_next_to_nothing_are_ended_soon() -> None:
    table = pairs(lb=np.full(CELLS, 19))
    attacker = Questions(table, [shift(1, 0)] * 9)
    assert _together(attacker, evidence_of(table), Context(), EVERY) == EVERY
    assert len(attacker.asked) == PATIENCE == 3


def test_nothing_is_asked_when_the_time_is_up() -> None:
    table = pairs()
    attacker = Questions(table, [shift(4, 0)])
    assert _together(attacker, evidence_of(table), Context(clock=Ended()), EVERY) == EVERY
    assert attacker.asked == []
    assert attacker.solves == 0


def test_one_cell_is_asked_each_way_and_refuted_where_it_falls_short() -> None:
    table = pairs()
    shown = evidence_of(table)
    attacker = Attacker(table, np.ones(CELLS, bool))
    assert not _ask(attacker, shown, 2, EVERY, Clock())
    assert shown.settled(2)
    assert shown.settled(3)
    narrow = pairs(ub=np.full(CELLS, 23))
    short = evidence_of(narrow)
    assert _ask(Attacker(narrow, np.ones(CELLS, bool)), short, 2, [2], Clock())
    assert short.reached(2, 1) == 3
    assert short.reached(3, 1) == 0


def test_intervals_are_reported_in_the_users_units_with_their_kind() -> None:
    table = pairs(scale=10, status=np.array([1, 3] + [0] * 8))
    seven, open_ = Reach(Fraction(7), None, Fraction(7)), Reach(Fraction(3), None, None, unbounded=True)
    half = Reach(Fraction(5), None, Fraction(6))
    found = _reported(table, 0, True, seven, half)
    assert (found.kind, found.safe, found.min, found.max, found.exact) == (
        "primary", True, Fraction(3, 2), Fraction(27, 10), False,
    )  # fmt: skip
    other = _reported(table, 1, False, open_, seven)
    assert (other.kind, other.safe, other.min, other.max, other.exact) == (
        "secondary", False, Fraction(13, 10), None, True,
    )  # fmt: skip
    assert _reported(table, 1, False, seven, open_).min is None


def test_a_verdict_names_what_is_not_safe_and_proves_what_is() -> None:
    table = pairs(status=np.array([1, 1, 1] + [0] * 7))
    hidden = np.arange(CELLS) < 3
    verdict = judge(table, hidden, AttackerModel(), proofs=True)
    assert not verdict.safe
    assert verdict.unsafe == (2,)
    assert verdict.undecided == ()
    assert verdict.proof is None
    assert verdict.audited == 3
    assert not verdict.intervals
    assert [(c.cell, c.safe) for c in verdict.cells] == [(0, True), (1, True), (2, False)]
    safe = judge(table, np.arange(CELLS) < 4, AttackerModel(), proofs=True)
    assert safe.safe
    assert safe.proof is not None
    shown = judge(table, hidden, AttackerModel(), intervals=True)
    assert [(c.cell, c.min, c.max) for c in shown.cells] == [(0, 0, 40), (1, 0, 40), (2, 20, 20)]
    assert shown.solves > verdict.solves


def test_witnesses_that_are_proposed_spare_the_search_and_false_ones_do_not() -> None:
    table = pairs()
    every = np.ones(CELLS, bool)
    firsts = [shift(sign * 4, first) for first in range(0, CELLS, 2) for sign in (1, -1)]
    from gpuga.safety.witness import together

    spared = audit(table, every, intervals=False, whole="no", proof=together(firsts))
    assert spared.safe
    assert spared.solves == 0
    false = audit(table, np.arange(CELLS) < CELLS, intervals=False, whole="no", proof=shift(99, 0))
    assert false.safe
    secondary = pairs(status=np.array([1, 1] + [0] * 8))
    alone = np.arange(CELLS) < 3
    assert audit(secondary, alone, intervals=False).safe
    assert not audit(secondary, alone, intervals=False, protect_secondary=True).safe
    assert audit(secondary, alone, intervals=False, protect_secondary=True).unsafe == (2,)


def test_changes_that_settle_some_cells_each_go_on_as_long_as_there_are_many() -> None:
    cells = 16
    lines = Lines(
        np.arange(0, cells + 1, 2), np.arange(cells, dtype=np.int32), np.ones(cells, np.int64), np.full(8, 40)
    )
    level = np.full(cells, 4)
    table = Table.build(
        np.full(cells, 20), lines, status=np.ones(cells, np.uint8), levels=Levels(level, level, 0 * level)
    )
    attacker = Questions(table, [shift(4, first) for first in range(0, cells, 2)])
    assert _together(attacker, evidence_of(table), Context(), list(range(cells))) == list(range(12, cells))
    assert [len(asked) for asked, _, _ in attacker.asked] == [16, 14, 12, 10, 8, 6]


class Noted(Silent):
    """Progress that notes the stages and how many steps each has made."""

    def __init__(self) -> None:
        self.stages: list[list[object]] = []

    def stage(self, name: str, total: int | None = None) -> None:
        self.stages.append([name, total, 0])

    def advance(self, steps: int = 1, **figures: float | int | str) -> None:
        self.stages[-1][2] += steps  # type: ignore[operator]


def threes(count: int) -> Table:
    """Pairs with coefficients of 3, which keep boxes and flows away; the first cells are sensitive."""
    start, cells = np.arange(0, CELLS + 1, 2), np.arange(CELLS, dtype=np.int32)
    lines = Lines(start, cells, np.array([1, 3] * (CELLS // 2)), np.full(CELLS // 2, 80))
    level, status = np.where(cells < count, 4, 0), (cells < count).astype(np.uint8)
    return Table.build(np.full(CELLS, 20), lines, status=status, levels=Levels(level, level, 0 * level))


@pytest.mark.parametrize("count", [FEW - 2, CELLS])
def test_progress_counts_every_question_once(count: int) -> None:
    table = threes(count)
    noted = Noted()
    found = judge(table, np.ones(CELLS, bool), AttackerModel(), intervals=True, context=Context(progress=noted))
    assert found.safe
    assert noted.stages == [["attacker", count, count], ["intervals", 2 * CELLS, 2 * CELLS]]
    assert found.solves > 0


def test_an_attacker_of_whole_numbers_is_asked_for_a_whole_move_where_the_linear_one_is_none() -> None:
    """2 x = 3 y: y moves by twos. A level of 3 lies within the linear move, and only a move by 4 shows it."""
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([2, -3]), np.zeros(1, np.int64))
    level = np.array([0, 3])
    for room, whole, safe in ((6, False, True), (6, True, True), (5, False, True), (5, True, False), (4, False, False)):
        table = Table.build(
            np.array([30, 20]),
            lines,
            status=np.array([0, 1], np.uint8),
            ub=np.array([30 + room, 99]),
            levels=Levels(0 * level, level, 0 * level),
        )
        shown = evidence_of(table, whole=whole)
        refuted = _ask(Attacker(table, np.ones(2, bool)), shown, 1, [1], Clock())
        assert shown.settled(1) == safe
        assert refuted is (room == 4) or whole
        verdict = judge(table, np.ones(2, bool), AttackerModel(whole=whole))
        assert verdict.safe == safe


def test_cells_are_asked_until_the_time_is_up() -> None:
    class Looks(Clock):
        def __init__(self, looks: int) -> None:
            super().__init__()
            self.looks = looks

        def expired(self) -> bool:
            self.looks -= 1
            return self.looks < 0

    table, every = threes(FEW - 1), np.ones(CELLS, bool)
    judge(table, every, AttackerModel())  # what is found out about the table once is known by now
    found = [judge(table, every, AttackerModel(), context=Context(clock=Looks(looks))) for looks in range(20)]
    assert found[0].solves == 0
    assert found[0].undecided == found[0].unsafe == tuple(range(FEW - 1))
    assert found[-1].safe
    assert any(0 < len(verdict.undecided) < FEW - 1 for verdict in found)
    assert all(verdict.undecided == verdict.unsafe for verdict in found)


def test_what_propagation_refutes_is_not_asked() -> None:
    table = pairs(status=np.array([1, 0] * 5))
    alone = np.arange(CELLS) % 2 == 0  # each alone in its line
    verdict = judge(table, alone, AttackerModel())
    assert verdict.unsafe == (0, 2, 4, 6, 8)
    assert verdict.undecided == ()
    assert verdict.solves == 0
    tight = pairs(ub=np.full(CELLS, 23))
    assert judge(tight, np.ones(CELLS, bool), AttackerModel()).solves == 0


@pytest.mark.parametrize(
    ("strict", "room", "short"), [(False, 4, False), (False, 3, True), (True, 4, True), (True, 5, False)]
)
def test_propagation_refutes_what_falls_short_either_way(strict: bool, room: int, short: bool) -> None:
    every = np.ones(CELLS, bool)
    for bounds in ({"ub": np.full(CELLS, 20 + room)}, {"lb": np.full(CELLS, 20 - room)}):
        table = pairs(**bounds)
        rule = Evidence(table, every, AttackerModel(strict)).rule
        assert short_by_propagation(table, every, rule).all() == short
        assert short_by_propagation(table, every, rule).any() == short


def test_a_linear_move_that_is_whole_needs_no_integer_program() -> None:
    table = pairs()
    solves = []
    for whole in (False, True):
        shown, attacker = evidence_of(table, whole=whole), Attacker(table, np.ones(CELLS, bool))
        assert not _ask(attacker, shown, 2, [2], Clock())
        assert shown.settled(2)
        solves.append(attacker.solves)
    assert solves[0] == solves[1] <= 2
