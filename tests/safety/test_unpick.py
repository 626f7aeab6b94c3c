"""Interval propagation is the same in 64-bit and in Python's integers, and right where 64 bits do not suffice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import gpuga
from gpuga.safety import unpick as module
from gpuga.safety.unpick import one_line_each, unpick
from gpuga.table.table import INFINITE, Levels, Lines, Table
from tests.support.small_tables import random_pattern, random_table


def test_propagation_in_wide_integers_is_that_of_the_kernels() -> None:
    rng = np.random.default_rng(4)
    moved = 0
    for shape in [(4, 5), (3, 3, 3), (2, 3, 2, 2)]:
        for _ in range(6):
            table = random_table(rng, shape)
            suppressed = random_pattern(rng, table, 0.4)
            for narrow, sweeps in ((one_line_each, 1), (unpick, 1000)):
                rise, fall = narrow(table, suppressed)
                wide_rise, wide_fall = module._wide_sweeps(table, suppressed, sweeps)
                assert (rise == wide_rise).all()
                assert (fall == wide_fall).all()
                moved += int(rise.sum() > 0)
    assert moved > 10


def test_sums_beyond_64_bits_refute_nothing() -> None:
    # one total of forty cells, each of which may rise by nearly 2**59: together far more than 2**63
    cells, far = 40, 2**59
    lines = Lines(
        np.array([0, cells + 1]),
        np.arange(cells + 1, dtype=np.int32),
        np.array([1] * cells + [-1]),
        np.zeros(1, np.int64),
    )
    value = np.append(np.full(cells, 10), 10 * cells)
    level = np.zeros(cells + 1, np.int64)
    level[cells] = far // 2
    status = np.zeros(cells + 1, np.uint8)
    status[cells] = 1
    table = Table.build(
        value, lines, status=status, ub=value + far, levels=Levels(np.zeros_like(level), level, np.zeros_like(level))
    )
    rise, _ = unpick(table, np.ones(cells + 1, bool))
    assert rise[cells] == far
    assert gpuga.audit(table, np.ones(cells + 1, bool), whole="no").safe


def mixed(rng: np.random.Generator) -> tuple[Table, np.ndarray]:
    """Three lines of cells with coefficients of any size, some without bounds, and a pattern."""
    cells = 7
    start, cell, coef = [0], [], []
    for _ in range(3):
        chosen = rng.choice(cells, int(rng.integers(2, 5)), replace=False)
        cell += chosen.tolist()
        coef += rng.choice([-3, -2, -1, 1, 2, 3], len(chosen)).tolist()
        start.append(len(cell))
    value = rng.integers(0, 9, cells)
    entries = np.array(cell), np.array(coef)
    rhs = np.array([int((value[entries[0][a:b]] * entries[1][a:b]).sum()) for a, b in pairwise(start)])
    lines = Lines(np.array(start), entries[0].astype(np.int32), entries[1], rhs)
    ub = np.where(rng.random(cells) < 0.3, INFINITE, value + rng.integers(0, 6, cells))
    lb = np.where(rng.random(cells) < 0.2, -INFINITE, value - rng.integers(0, 6, cells))
    return Table.build(value, lines, ub=ub, lb=lb), rng.random(cells) < 0.8


def by_hand(table: Table, hidden: np.ndarray, sweeps: int) -> tuple[list[int | None], list[int | None]]:
    """Interval propagation cell by cell, in rationals rounded outwards; None stands for no limit."""
    rooms = [[None if r >= INFINITE else int(r) for r in np.where(hidden, room, 0)] for room in (table.up, table.down)]
    lines = table.lines
    for _ in range(sweeps):
        new = [list(rooms[0]), list(rooms[1])]
        for a, b in pairwise(lines.start.tolist()):
            entries = list(zip(lines.cell[a:b].tolist(), lines.coef[a:b].tolist(), strict=True))
            for own, factor in entries:
                for side in (0, 1):  # a rise of `own` is given back by the others, a fall as well
                    pushes_up = (factor > 0) == (side == 0)
                    parts = [
                        None if (room := rooms[1 if (k > 0) == pushes_up else 0][c]) is None else room * abs(k)
                        for c, k in entries
                        if c != own
                    ]
                    if None not in parts:
                        most = -(-sum(p for p in parts if p is not None) // abs(factor))
                        before = new[side][own]
                        new[side][own] = most if before is None else min(before, most)
        if new == rooms:
            break
        rooms = new
    return rooms[0], rooms[1]


@pytest.mark.parametrize("sweeps", [1, 2, 20])
def test_every_line_bounds_each_of_its_cells_by_what_the_others_can_do(sweeps: int) -> None:
    rng = np.random.default_rng(sweeps)
    limited = open_ = 0
    for _ in range(40):
        table, hidden = mixed(rng)
        rise, fall = by_hand(table, hidden, sweeps)
        for found in (module._wide_sweeps(table, hidden, sweeps), module._sweeps(table, hidden, sweeps)):
            for side, expected in zip(found, (rise, fall), strict=True):
                assert side.dtype == np.int64
                assert [None if v >= INFINITE else v for v in side.tolist()] == expected
        limited += sum(r is not None and 0 < r < table.up[c] for c, r in enumerate(rise))
        open_ += sum(r is None for r in rise)
    assert limited > 20
    assert open_ > 5


def test_propagation_goes_on_for_as_many_sweeps_as_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of equal cells, the last of which is published: each sweep comes one cell nearer to the first."""
    count = 30
    cells = np.array([[i, i + 1] for i in range(count - 1)], np.int32).ravel()
    lines = Lines(np.arange(0, 2 * count - 1, 2), cells, np.array([1, -1] * (count - 1)), np.zeros(count - 1, np.int64))
    table = Table.build(np.full(count, 5), lines)
    hidden = np.arange(count) < count - 1
    for narrow in (module._sweeps, module._wide_sweeps):
        for sweeps in (1, 3, 28):
            assert (narrow(table, hidden, sweeps)[1] > 0).sum() == count - 1 - sweeps
        assert not narrow(table, hidden, 29)[1].any()
    assert not unpick(table, hidden)[1].any()
    # in Python's integers only so many sweeps are made
    monkeypatch.setattr(module, "_may_overflow", lambda *_: True)
    assert (unpick(table, hidden)[1] > 0).sum() == count - 1 - 20


@pytest.mark.parametrize(
    ("room", "coefficient", "wide"),
    [
        (INFINITE // 9 + 1, 1, True),
        (INFINITE // 9, 1, False),
        (INFINITE // 16, 2, True),
        (INFINITE // 16 - 1, 2, False),
    ],
)
def test_sums_that_could_pass_64_bits_are_formed_in_pythons_integers(room: int, coefficient: int, wide: bool) -> None:
    lines = Lines(np.array([0, 3]), np.arange(3, dtype=np.int32), np.array([1, 1, -coefficient]), np.zeros(1, np.int64))
    for bounds in ({"ub": np.array([room, 5, 5])}, {"ub": np.full(3, 5), "lb": np.array([-room, 0, 0])}):
        table = Table.build(np.zeros(3, np.int64), lines, **bounds)
        assert module._may_overflow(table, np.ones(3, bool)) is wide
        assert not module._may_overflow(table, np.array([False, True, True]))  # a published cell does not move


def test_propagation_goes_on_where_every_cell_was_tightened() -> None:
    """One cell is three times the other and the other way round: each sweep leaves a third, rounded outwards."""
    lines = Lines(
        np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32), np.array([1, -3, 3, -1]), np.zeros(2, np.int64)
    )
    table = Table.build(np.zeros(2, np.int64), lines, lb=np.full(2, -9), ub=np.full(2, 9))
    both = np.ones(2, bool)
    for narrow in (module._sweeps, module._wide_sweeps):
        for sweeps, room in ((1, 3), (2, 1), (20, 1)):
            rise, fall = narrow(table, both, sweeps)
            assert rise.tolist() == fall.tolist() == [room, room]
