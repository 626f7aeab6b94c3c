"""Redundant cells by a tableau against the attacker's exact programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from gpuga.circuits import cover as cover_module
from gpuga.circuits import redundancy as module
from gpuga.circuits.cover import Cover
from gpuga.circuits.redundancy import NO_CHANGE, Redundancy, nothing_blocked
from gpuga.context import Context
from gpuga.safety.attacker import Attacker
from gpuga.safety.audit import judge
from gpuga.safety.requirements import level_requirements
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.generate import smith2d, smith3d
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.witnesses import Witnesses
from tests.support.exact_attacker import intervals
from tests.support.small_tables import random_pattern, random_table


def complete(seed: int) -> Cover:
    """A pattern in which every requirement has its circuit, before any clean-up."""
    return covering(smith3d((6, 5, 4), 0.12, 0.1, seed))


def covering(table: Table) -> Cover:
    requirements = level_requirements(table)
    cover = Cover(table, requirements, Context())
    cover.by_lp(range(len(requirements)))
    return cover


def of(cover: Cover, blocked: Ints | None = None) -> Redundancy:
    return Redundancy(cover.table, cover.suppressed, cover.requirements, cover.changes(), blocked)


def secondary(cover: Cover) -> Mask:
    return np.asarray(cover.suppressed & ~cover.table.forced)


def safe(table: Table, suppressed: Mask) -> bool:
    return judge(table, suppressed, AttackerModel(False), context=Context()).safe


def greedy(table: Table, suppressed: Mask) -> Mask:
    """What is left when cells are published by falling weight where the audit still calls the pattern safe."""
    left = suppressed.copy()
    secondary = np.flatnonzero(suppressed & ~table.forced)
    for cell in secondary[np.argsort(-table.weight[secondary], kind="stable")].tolist():
        left[cell] = False
        left[cell] = not safe(table, left)
    return left


@pytest.mark.parametrize("seed", range(1, 6))
def test_what_is_called_redundant_is_what_exact_audits_publish_one_by_one(seed: int) -> None:
    cover = complete(seed)
    left = cover.suppressed.copy()
    left[of(cover).found(secondary(cover), lambda: False)] = False
    assert (left == greedy(cover.table, cover.suppressed)).all()


@pytest.mark.parametrize("seed", range(1, 4))
def test_changes_read_from_floats_are_exact_tables_without_the_redundant_cells(seed: int) -> None:
    cover = complete(seed)
    redundancy = of(cover)
    gone = redundancy.found(secondary(cover), lambda: False)
    assert len(gone)
    left = cover.suppressed.copy()
    left[gone] = False
    changes = list(redundancy.changes(range(len(cover.requirements))))
    assert len(changes) > len(cover.requirements) // 2
    assert all(hold(AllowedChanges.of(cover.table, left), change)[0] for change in changes)


def test_only_cells_that_are_asked_about_are_found() -> None:
    cover = complete(1)
    gone = of(cover).found(secondary(cover), lambda: False)
    asked = np.zeros(len(cover.table), bool)
    asked[gone[:2]] = True
    assert len(gone) > 2
    assert of(cover).found(asked, lambda: False).tolist() == sorted(gone[:2].tolist())


def test_nothing_is_looked_for_when_the_time_is_up_or_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    cover = complete(1)
    assert len(of(cover).found(secondary(cover), lambda: True)) == 0
    monkeypatch.setattr(module, "MOST_WORK", -1)
    assert len(of(cover).found(secondary(cover), lambda: False)) == 0


def test_rounding_errors_are_left_behind_with_the_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    cover = complete(2)
    redundancy = of(cover)
    redundancy.tableau.entry[:] += 1e-3  # errors that the copy has not
    redundancy.tableau.live[1] += module.FRESH + 1
    assert (
        redundancy.found(secondary(cover), lambda: False).tolist()
        == of(cover).found(secondary(cover), lambda: False).tolist()
    )


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_clean_up_by_tableau_ends_with_circuits_inside_a_safe_pattern(seed: int) -> None:
    cover = complete(seed)
    before = cover.suppressed.copy()
    expected = greedy(cover.table, before)
    published = cover._clean_up_by_tableau(secondary(cover))
    assert (cover.suppressed == expected).all()
    assert published == int((before & ~cover.suppressed).sum()) > 0
    assert not cover.open()
    assert all(cover.suppressed[circuit[0]].all() for circuit in cover.circuit if circuit is not None)
    assert hold(AllowedChanges.of(cover.table, cover.suppressed), cover.proof()).all()


def test_a_tableau_that_is_wrong_costs_cells_but_never_safety(monkeypatch: pytest.MonkeyPatch) -> None:
    cover = complete(3)
    before = cover.suppressed.copy()
    everything = np.flatnonzero(secondary(cover))
    monkeypatch.setattr(cover_module.Redundancy, "found", lambda self, asked, expired: everything)
    cover._clean_up_by_tableau(secondary(cover))
    assert not cover.open()
    assert safe(cover.table, cover.suppressed)
    assert (cover.suppressed <= before).all()
    for requirement, circuit in enumerate(cover.circuit):
        assert circuit is not None
        assert all(requirement in cover.users[cell] for cell in circuit[0].tolist() if not cover.table.forced[cell])


def test_a_change_that_does_not_hold_is_never_a_circuit(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Redundancy.changes

    def misread(self: Redundancy, requirements: Iterable[int]) -> Iterator[Witnesses]:
        for change in read(self, requirements):
            yield Witnesses(change.start, change.cell, 2 * change.amount + 1, change.denominator)

    cover = complete(1)
    monkeypatch.setattr(cover_module.Redundancy, "changes", misread)
    cover._clean_up_by_tableau(secondary(cover))
    assert not cover.open()
    assert hold(AllowedChanges.of(cover.table, cover.suppressed), cover.proof()).all()


def assert_changes_hold(cover: Cover, redundancy: Redundancy, left: Mask, requirements: Iterable[int]) -> None:
    """Whether the changes keep the equations, the bounds and what is left, and move as far as is needed."""
    table, asked = cover.table, cover.requirements
    for r in requirements:
        cells, amounts = redundancy.change(r)
        moved = np.zeros(len(table))
        moved[cells] = amounts
        need, scale = float(asked.need[r]), float(np.abs(moved).max(initial=1.0))
        assert left[cells].all()
        sums = np.zeros(len(table.lines))
        np.add.at(sums, table.lines.line_of_entry, table.lines.coef * moved[table.lines.cell])
        assert np.abs(sums).max() <= 1e-6 * scale
        assert (moved <= table.up + 1e-6 * scale).all()
        assert (moved >= -table.down - 1e-6 * scale).all()
        assert moved[asked.cell[r]] * asked.direction[r] >= need * (1 - 1e-6)


SEVERAL = {
    "3-D": smith3d((6, 5, 4), 0.12, 0.1, 7),
    "two-way": smith2d(9, 8, 0.12, 0.1, 4),
    "hierarchical": smith2d(10, 7, 0.1, 0.05, 2, hierarchical=1),
    "500 cells": smith3d((9, 8, 7), 0.08, 0.1, 1),
    "500 cells, few primaries": smith3d((9, 8, 7), 0.04, 0.1, 2),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_what_is_left_has_changes_that_keep_equations_bounds_and_needs(name: str) -> None:
    cover = covering(SEVERAL[name])
    redundancy, everything = of(cover), range(len(cover.requirements))
    assert_changes_hold(cover, redundancy, cover.suppressed, everything)
    gone = redundancy.found(secondary(cover), lambda: False)
    assert len(gone)
    left = cover.suppressed.copy()
    left[gone] = False
    assert_changes_hold(cover, redundancy, left, everything)
    again = Redundancy(cover.table, left, cover.requirements, [redundancy.change(r) for r in everything])
    assert not len(again.found(secondary(cover), lambda: False))
    assert_changes_hold(cover, again, left, everything)


@pytest.mark.parametrize("turns", [1, 8])
def test_a_way_that_takes_too_many_steps_counts_as_none_and_leaves_changes_whole(
    turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_TURNS", turns)
    cover = complete(4)
    redundancy = of(cover)
    left = cover.suppressed.copy()
    left[redundancy.found(secondary(cover), lambda: False)] = False
    assert safe(cover.table, left)
    assert_changes_hold(cover, redundancy, left, range(len(cover.requirements)))


@pytest.mark.parametrize("seed", range(1, 5))
def test_who_is_asked_first_does_not_change_what_is_redundant(seed: int) -> None:
    cover = complete(seed)
    expected = of(cover).found(secondary(cover), lambda: False).tolist()
    random = np.random.default_rng(seed)
    for _ in range(3):
        guessed = random.integers(-1, len(cover.requirements), len(cover.table))
        assert of(cover, guessed).found(secondary(cover), lambda: False).tolist() == expected
    learnt = nothing_blocked(cover.table)
    for _ in range(2):  # what the first search learns, the second one begins with
        assert of(cover, learnt).found(secondary(cover), lambda: False).tolist() == expected


@pytest.mark.parametrize("seed", range(1, 4))
def test_what_is_noted_of_a_kept_cell_is_a_requirement_that_fails_without_it(seed: int) -> None:
    cover = complete(seed)
    blocked = nothing_blocked(cover.table)
    left = cover.suppressed.copy()
    left[of(cover, blocked).found(secondary(cover), lambda: False)] = False
    kept = np.flatnonzero(left & ~cover.table.forced)
    assert len(kept)
    for cell in kept.tolist():
        r, without = int(blocked[cell]), left.copy()
        without[cell] = False
        assert r >= 0
        need = int(cover.requirements.need[r])
        reach = Attacker(cover.table, without).reach(
            int(cover.requirements.cell[r]), int(cover.requirements.direction[r]), need
        )
        assert not reach.unbounded
        assert reach.attained < need
    assert (blocked[~cover.suppressed] == -1).all()


@pytest.mark.parametrize("seed", range(6))
def test_a_requirement_is_reached_inside_a_pattern_where_the_exact_attacker_says_so(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = (4, 3, 2) if seed % 2 else (5, 4)
    table = random_table(random, shape, sensitive=0.25, level=0.4, bounded=seed % 3 == 0)
    requirements = level_requirements(table)
    verdicts = set()
    for share in (0.1, 0.3, 0.6):
        pattern = random_pattern(random, table, share)
        redundancy = Redundancy(table, pattern, requirements, [NO_CHANGE] * len(requirements))
        order = random.permutation(len(requirements))
        reached = np.zeros(len(requirements), bool)
        reached[order] = redundancy.reach(order)
        exact = intervals(table, pattern, np.unique(requirements.cell).tolist())
        for r in range(len(requirements)):
            farthest = exact[int(requirements.cell[r])][0 if requirements.direction[r] > 0 else 1]
            assert reached[r] == (farthest is None or farthest >= int(requirements.need[r]))
            if not reached[r]:
                assert not len(redundancy.change(r)[0])
        assert_changes_hold(
            Cover(table, requirements, Context(), pattern), redundancy, pattern, np.flatnonzero(reached)
        )
        verdicts |= set(reached.tolist())
    assert verdicts == {False, True}


def test_changes_that_were_reached_are_what_redundant_cells_are_looked_for_with() -> None:
    cover = complete(2)
    redundancy = Redundancy(cover.table, cover.suppressed, cover.requirements, [NO_CHANGE] * len(cover.requirements))
    assert redundancy.reach(np.arange(len(cover.requirements))).all()
    left = cover.suppressed.copy()
    left[redundancy.found(secondary(cover), lambda: False)] = False
    expected = of(cover).found(secondary(cover), lambda: False)
    assert np.flatnonzero(cover.suppressed & ~left).tolist() == sorted(expected.tolist())
