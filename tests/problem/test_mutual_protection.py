"""What a mutual_protection proves is proven: exact tables of the primaries alone, accepted by the exact attacker."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.context import Clock, Context
from gpuga.heuristics.hypercube import hypercube
from gpuga.problem import mutual_protection as boosting
from gpuga.problem.general import requirements_of
from gpuga.problem.mutual_protection import PrimaryPattern, mutual_protection
from gpuga.safety.attacker import Attacker
from gpuga.safety.audit import audit
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table import Table
from gpuga.table.generate import smith3d
from tests.support.small_tables import random_table


@pytest.fixture(autouse=True)
def few_requirements_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boosting, "LEAST_REQUIREMENTS", 1)


@pytest.mark.parametrize("seed", range(6))
def test_boosted_requirements_are_within_the_attackers_reach(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, (4, 4, 3), sensitive=0.6, bounded=seed % 2 == 1)
    requirements = requirements_of(table, False)
    found = mutual_protection(table, requirements, Context())
    assert hold(AllowedChanges.of(table, table.forced), found.tables).all()
    attacker = Attacker(table, table.forced)
    for requirement in np.flatnonzero(found.proven_by >= 0).tolist():
        cell, direction, need = (
            int(requirements.cell[requirement]),
            int(requirements.direction[requirement]),
            int(requirements.need[requirement]),
        )
        cells, amounts, denominator = found.tables.one(int(found.proven_by[requirement]))
        assert int(amounts[cells == cell][0]) * direction >= need * denominator
        assert attacker.reach(cell, direction, need).attained >= need


@pytest.mark.parametrize("shape", [(12, 9, 8), pytest.param((16, 12, 10), marks=pytest.mark.slow)])
def test_dense_primaries_protect_most_of_each_other(shape: tuple[int, int, int]) -> None:
    table = smith3d(shape, 0.35, 0.1, 2)
    requirements = requirements_of(table, False)
    found = mutual_protection(table, requirements, Context())
    assert (found.proven_by >= 0).sum() > 0.9 * len(requirements)
    assert np.array_equal(found.proven_by, mutual_protection(table, requirements, Context()).proven_by)


def test_a_boosted_pattern_is_safe_and_suppresses_less() -> None:
    table = smith3d((9, 7, 6), 0.35, 0.1, 2)
    found = hypercube(table, Context())
    assert audit(table, found.suppressed, intervals=False).safe
    assert audit(table, found.suppressed, intervals=False, proof=found.proof).solves == 0


def test_no_boost_is_begun_where_a_first_pattern_took_much_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(table: Table) -> PrimaryPattern:
        raise AssertionError("there is no time to prepare it")

    table = smith3d((8, 8, 8), 0.3, 0.1, 1)
    requirements = requirements_of(table, False)
    monkeypatch.setattr(PrimaryPattern, "of", refuse)
    found = mutual_protection(table, requirements, Context(clock=Clock(100.0), first_seconds=10.0))
    assert (found.proven_by < 0).all()
    with pytest.raises(AssertionError, match="no time"):
        mutual_protection(table, requirements, Context(clock=Clock(100.0), first_seconds=1.0))
