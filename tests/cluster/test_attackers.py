"""Workers find witnesses for an audit, which believes none that it has not checked."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from typing import Any

import numpy as np
import pytest

import gpuga
from gpuga.cli.main import run
from gpuga.cluster import attackers
from gpuga.cluster.attackers import proposed_witnesses
from gpuga.context import Clock, Context
from gpuga.evolution.checkpoint import packed
from gpuga.safety.audit import Audit, audit, open_cells
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.generate import smith3d
from gpuga.table.table import Mask, Table
from tests.cluster.conftest import Here


@pytest.fixture(scope="module")
def table() -> Table:
    return smith3d((7, 6, 5), 0.12, 0.1, 3)


@pytest.fixture(scope="module")
def pattern(table: Table) -> Mask:
    return gpuga.protect(table, "incremental").suppressed


def judged(table: Table, pattern: Mask, workers: Here, **more: Any) -> Audit:
    found = proposed_witnesses(table, pattern, more, workers, Context())  # type: ignore[arg-type]
    return audit(table, pattern, proof=found, intervals=False, **more)


def needs_programs(table: Table, pattern: Mask) -> int:
    return len(open_cells(table, pattern, AttackerModel(False, False, False), Clock()))


def test_workers_spare_the_audit_its_programs(table: Table, pattern: Mask) -> None:
    assert needs_programs(table, pattern) > 0, "the table is too easy for this test"
    alone = audit(table, pattern, intervals=False, whole="no")
    helped = judged(table, pattern, Here(2), whole="no")
    assert alone.safe
    assert helped.safe
    assert helped.solves < alone.solves


@pytest.mark.parametrize("asked", [{}, {"whole": "yes"}, {"strict": True}, {"protect_secondary": True}])
def test_the_verdict_is_the_same_with_workers(table: Table, pattern: Mask, asked: dict[str, Any]) -> None:
    random = np.random.default_rng(5)
    for _ in range(4):
        thinner = pattern & (table.forced | (random.random(len(table)) < 0.9))
        alone = audit(table, thinner, intervals=False, **asked)
        helped = judged(table, thinner, Here(2), **asked)
        assert (helped.safe, helped.unsafe) == (alone.safe, alone.unsafe)


def test_what_a_worker_makes_up_is_not_believed(table: Table, pattern: Mask, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = np.flatnonzero(table.primary).astype(np.int32)
    moved = {"start": np.array([0, len(cells)]), "cell": cells, "amount": np.full(len(cells), 10**6)}
    made_up = packed({}, {**moved, "denominator": np.array([1])})
    monkeypatch.setattr(attackers, "attack", lambda order: made_up)
    bare = table.forced.copy()
    everything = judged(table, bare, Here(2))
    assert everything.unsafe == audit(table, bare, intervals=False).unsafe
    assert not everything.safe
    assert judged(table, pattern, Here(2)).safe


def test_cells_of_a_worker_that_dies_are_asked_about_here(table: Table, pattern: Mask) -> None:
    def die(_: Any) -> None:
        raise BrokenExecutor

    assert judged(table, pattern, Here(2, die)).safe


def test_two_way_tables_need_no_worker(plane: Table) -> None:
    everything = plane.suppressible.copy()
    assert proposed_witnesses(plane, everything, {}, Here(1), Context()) is None


def test_the_command_takes_workers(table: Table, pattern: Mask, tmp_path: Any) -> None:
    gpuga.write_table(table, tmp_path / "table.csv")
    file, out = str(tmp_path / "table.csv"), str(tmp_path / "pattern.csv")
    assert run(["protect", file, "--out", out, "--method", "incremental", "--quiet"]) == 0
    assert run(["audit", file, out, "--workers", "1", "--quiet"]) == 0
