"""Redundant cells by a tableau against the attacker's exact programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from gpuga.circuits import cover as cover_module
from gpuga.circuits import redundancy as module
from gpuga.circuits.cover import Cover
from gpuga.circuits.redundancy import Redundancy
from gpuga.context import Context
from gpuga.safety.audit import judge
from gpuga.safety.requirements import level_requirements
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.generate import smith3d
from gpuga.table.table import Mask, Table
from gpuga.table.witnesses import Witnesses


def complete(seed: int) -> Cover:
    """A pattern in which every requirement has its circuit, before any clean-up."""
    table = smith3d((6, 5, 4), 0.12, 0.1, seed)
    requirements = level_requirements(table)
    cover = Cover(table, requirements, Context())
    cover.by_lp(range(len(requirements)))
    return cover


def of(cover: Cover) -> Redundancy:
    return Redundancy(cover.table, cover.suppressed, cover.requirements, [c[0] for c in cover.circuit if c is not None])


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
