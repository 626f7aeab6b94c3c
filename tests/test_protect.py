"""Whatever a method finds, what leaves `protect` is safe, and what cannot be protected is named."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gpuga.anytime import make_safe
from gpuga.context import Context
from gpuga.errors import Infeasible, InputError
from gpuga.methods import METHODS
from gpuga.protect import protect
from gpuga.safety.audit import audit
from gpuga.safety.exposure import exposure
from gpuga.table import Levels, Status, Table
from gpuga.table.generate import smith3d
from gpuga.table.table import Lines
from tests.support.exact_attacker import intervals
from tests.support.small_tables import random_table


def exactly_safe(table: Table, suppressed: np.ndarray) -> bool:
    """The verdict of the independent attacker on all sensitive cells."""
    reach = intervals(table, suppressed, table.sensitive.tolist())
    far = Fraction(10**9)
    for cell, (rise, fall) in reach.items():
        rise, fall = far if rise is None else rise, far if fall is None else fall
        levels = table.levels
        if rise < levels.upper[cell] or fall < levels.lower[cell] or rise + fall < levels.sliding[cell]:
            return False
    return True


@pytest.mark.parametrize("method", ["hypercube", "incremental"])
@pytest.mark.parametrize(
    ("shape", "tables"),
    [
        ((4, 5), 40),
        ((3, 3, 3), 10),
        ((2, 2, 3, 2), 4),
        pytest.param((3, 3, 3), 25, marks=pytest.mark.slow),
        pytest.param((2, 2, 3, 2), 10, marks=pytest.mark.slow),
    ],
)
def test_random_tables_leave_safe_or_are_named_impossible(method: str, shape: tuple[int, ...], tables: int) -> None:
    rng = np.random.default_rng(len(shape))
    protected = 0
    for number in range(tables):
        table = random_table(rng, shape, sensitive=0.2, sliding=number % 3 == 1, bounded=number % 5 == 4)
        try:
            result = protect(table, method)
        except Infeasible as fault:
            named = set(fault.cells) & set(table.sensitive.tolist())
            if not named or exactly_safe(table, table.suppressible):
                pytest.fail("a table that can be protected was called impossible")
            continue
        protected += 1
        assert result.audit.safe
        assert result.audit.audited == len(table.sensitive)
        assert exactly_safe(table, result.suppressed)
        assert not (result.suppressed & ~table.suppressible).any()
    assert protected > tables // 2


def test_no_secondary_is_determined_when_asked_for() -> None:
    """Cells that were suppressed beforehand are given away by their lines unless more is hidden."""
    rng = np.random.default_rng(5)
    given_away = 0
    for _ in range(12):
        table = random_table(rng, (4, 4), sensitive=0.1)
        before = (table.status == Status.SUPPRESSIBLE) & (rng.random(len(table)) < 0.1)
        table = replace(table, status=np.where(before, Status.SUPPRESSED, table.status).astype(np.uint8))
        given_away += determined(table, protect(table, "hypercube").suppressed)
        assert determined(table, protect(table, "hypercube", protect_secondary=True).suppressed) == 0
    assert given_away >= 5


def determined(table: Table, suppressed: np.ndarray) -> int:
    """How many secondary suppressions an attacker knows exactly."""
    secondary = np.flatnonzero(suppressed & ~table.primary).tolist()
    return sum(reach == (0, 0) for reach in intervals(table, suppressed, secondary).values())


def test_patterns_for_initially_exposed_cells_alone_are_caught_and_repaired() -> None:
    """The conjecture that it suffices to protect the initially exposed cells is false."""
    rng = np.random.default_rng(20)
    caught = 0
    for _ in range(120):
        table = random_table(rng, (4, 4), largest=99, sensitive=0.3, level=0.15)
        narrow = only_initially_exposed(table)
        if narrow is None:
            continue
        pattern = protect(narrow, "classical-ip").suppressed
        if exactly_safe(table, pattern):
            assert audit(table, pattern, intervals=False).safe
            continue
        caught += 1
        assert not audit(table, pattern, intervals=False).safe
        mended, verdict, repaired = make_safe(table, pattern, Context())
        assert verdict.safe
        assert repaired > 0
        assert exactly_safe(table, mended)
    assert caught > 0


def only_initially_exposed(table: Table) -> Table | None:
    """The same table in which the other primaries are hidden but carry no levels; None if none is exposed."""
    initially = np.zeros(len(table), bool)
    initially[list(exposure(table).initially_exposed)] = True
    if not initially.any():
        return None
    status = np.where(table.primary & ~initially, Status.SUPPRESSED, table.status).astype(np.uint8)
    levels = Levels(*(np.where(initially, x, 0) for x in vars(table.levels).values()))
    return replace(table, status=status, levels=levels)


def test_a_table_that_needs_nothing_costs_nothing() -> None:
    rng = np.random.default_rng(1)
    result = protect(random_table(rng, (3, 3), sensitive=0.0))
    assert result.cost == 0
    assert result.optimal


def test_what_cannot_be_protected_is_named() -> None:
    rng = np.random.default_rng(2)
    table = random_table(rng, (3, 3), sensitive=0.1)
    status = np.where(table.primary, table.status, Status.FROZEN).astype(np.uint8)
    with pytest.raises(Infeasible) as fault:
        protect(replace(table, status=status), "hypercube")
    assert set(fault.value.cells) <= set(table.sensitive.tolist())


def test_a_cell_suppressed_beforehand_that_nothing_moves_cannot_be_protected() -> None:
    # cell 2 is known from an equation of its own, and must not be exactly determined
    lines = Lines(np.array([0, 2, 3]), np.array([0, 1, 2], np.int32), np.array([1, -1, 1]), np.array([0, 5]))
    status = np.array([1, 0, 3], np.uint8)
    level = np.array([2, 0, 0])
    table = Table.build(np.array([9, 9, 5]), lines, status=status, levels=Levels(level, level, np.zeros(3, np.int64)))
    assert protect(table, "incremental").audit.safe
    with pytest.raises(Infeasible, match="cell 2"):
        protect(table, "incremental", protect_secondary=True)


@pytest.mark.parametrize("method", [method.name for method in METHODS if method.two_way])
def test_a_method_of_two_way_tables_refuses_others_before_the_time_counts(method: str) -> None:
    """Else a run whose time is up at once would end with the first safe pattern in the method's name."""
    with pytest.raises(InputError, match="needs a two-way table"):
        protect(smith3d((4, 4, 3), 0.05, 0.0, 1), method, seconds=1e-3)
