"""A first safe pattern: quick, exact, with its proof, for every kind of table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuga.context import Context
from gpuga.errors import Infeasible
from gpuga.heuristics import first
from gpuga.heuristics.bottleneck import CircuitBasis
from gpuga.heuristics.first import first_pattern
from gpuga.heuristics.shown import Goals, Shown
from gpuga.protection import Found
from gpuga.safety.audit import audit, judge
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table import Levels, Status, Table
from gpuga.table.grid import flat_dimension, full_grid, grid_lines
from gpuga.table.witnesses import Witnesses
from tests.support.linked_tables import linked_table
from tests.support.small_tables import random_table


def possible(table: Table, context: Context) -> bool:
    return judge(table, table.suppressible.copy(), replace(context.model, protect_secondary=False)).safe


def tables(kind: str, count: int) -> list[Table]:
    rng = np.random.default_rng(7)
    if kind == "linked":
        return [linked_table(rng) for _ in range(count)]
    if kind == "sliding":
        return [random_table(rng, (3, 3, 3), sliding=True) for _ in range(count)]
    if kind == "bounded":
        return [random_table(rng, (3, 3, 3), sensitive=0.15, bounded=True) for _ in range(count)]
    return [random_table(rng, (4, 4) if kind == "two-way" else (3, 3, 3)) for _ in range(count)]


def found_for(table: Table, context: Context) -> Found | None:
    try:
        return first_pattern(table, context)
    except Infeasible:
        return None


@pytest.mark.parametrize("kind", ["two-way", "three-way", "linked", "sliding", "bounded"])
@pytest.mark.parametrize("strict", [False, True])
def test_the_first_pattern_is_safe_and_its_proof_is_enough(kind: str, strict: bool) -> None:
    context = Context(strict=strict)
    made = 0
    for table in tables(kind, 12):
        found = found_for(table, context)
        if found is None:
            continue
        made += 1
        assert judge(table, found.suppressed, context.model).safe
        if found.proof is not None:
            carried = audit(table, found.suppressed, strict=strict, whole="no", intervals=False, proof=found.proof)
            assert carried.safe
            assert carried.solves == 0
    assert made


@pytest.mark.parametrize("kind", ["two-way", "three-way", "linked"])
def test_what_can_be_protected_gets_a_first_pattern(kind: str) -> None:
    context = Context()
    for table in tables(kind, 12):
        assert (found_for(table, context) is not None) == possible(table, context)


def test_the_pattern_is_what_the_proof_moves() -> None:
    for table in tables("linked", 8):
        found = found_for(table, Context())
        if found is not None and found.proof is not None:
            moved = table.forced.copy()
            moved[found.proof.cell] = True
            assert (found.suppressed == moved).all()


def test_no_secondary_of_a_first_pattern_is_exactly_determined() -> None:
    context = Context(protect_secondary=True)
    for table in tables("linked", 8):
        found = found_for(table, context)
        if found is not None:
            assert judge(table, found.suppressed, context.model, proof=found.proof).safe


def test_circuits_of_the_basis_have_room_for_what_their_cell_has_room_for() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        table = linked_table(rng)
        room = np.minimum(table.up, table.down)
        cells = np.flatnonzero(room > 0)
        ranked = cells[np.argsort(-room[cells], kind="stable")]
        allowed = AllowedChanges.of(table, table.suppressible)
        basis = CircuitBasis.of(allowed, ranked)
        assert basis is not None
        free = np.flatnonzero(basis.row_of < 0)
        circuits = basis.circuits(free, room[ranked[free]])
        for w in range(len(circuits)):
            moved, amounts, _ = circuits.one(w)
            if np.abs(amounts).max() == abs(amounts[0]):  # the cell itself comes first
                assert hold(allowed, circuits.subset(np.array([w])))[0]
            assert room[moved[0]] == room[moved].min()


def test_a_basis_that_fills_in_too_much_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpuga.heuristics import bottleneck

    table = linked_table(np.random.default_rng(1))
    monkeypatch.setattr(bottleneck, "MOST_ENTRIES", 5)
    assert CircuitBasis.of(AllowedChanges.of(table, table.suppressible), np.flatnonzero(table.up > 0)) is None


def test_programs_settle_what_no_simple_circuit_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first, "NEARBY", ())
    monkeypatch.setattr(first, "ORDERS", 0)
    context = Context()
    for table in tables("linked", 6):
        found = found_for(table, context)
        assert (found is not None) == possible(table, context)
        assert found is None or judge(table, found.suppressed, context.model).safe


def test_witnesses_that_others_can_do_without_are_dropped() -> None:
    laid = np.full((4, 4), 9)
    laid[:3, 3], laid[3, :3], laid[3, 3] = 27, 27, 81
    dimensions = [flat_dimension(name, ["a", "b", "c"]) for name in ("row", "column")]
    grid = full_grid(dimensions)
    status = np.where(np.arange(16) == 0, Status.SENSITIVE, Status.SUPPRESSIBLE)
    level = np.where(np.arange(16) == 0, 1, 0)
    table = Table.build(
        laid.ravel(), grid_lines(grid), status=status, grid=grid, levels=Levels(level, level, 0 * level)
    )
    shown = Shown(table, Goals.of(table, False, False))
    for box in ([0, 1, 4, 5], [0, 2, 8, 10]):
        shown.open_rise[0] = shown.open_fall[0] = True
        moves = np.array([1, -1, -1, 1])
        shown.add(Witnesses(np.array([0, 4]), np.array(box, np.int32), moves, np.ones(1, np.int64)))
    assert shown.suppressed.sum() == 7
    assert shown.pattern(shown.proof()).sum() == 4
