"""The benchmarks of the engine: contests at equal time, the share of the back end, cost against counted work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import contest, share, work
from bench.kinds import KINDS, Kind
from bench.statistics import mean_interval
from gpuga.table.generate import herrington, smith3d

TINY = Kind("tiny", lambda seed: herrington(32, 32, 0.02, seed), 1.0)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(KINDS, "tiny", TINY)
    return "tiny"


def test_a_contest_has_a_row_per_method_and_goes_on_where_it_was(tiny: str, tmp_path: Path) -> None:
    target = tmp_path / "rows.json"
    given = ["--json", str(target), "--kind", tiny, "--tables", "1", "--seconds", "1"]
    assert contest.main([*given, "--method", "hypercube", "--method", "circuits"]) == 0
    rows = json.loads(target.read_text())
    assert [row["method"] for row in rows] == ["hypercube", "circuits"]
    assert set(rows[0]) >= {"table", "method", "seconds", "cost", "lower_bound", "proven"}
    assert rows[1]["cost"] <= rows[0]["cost"]
    before = target.read_text()
    assert contest.main([*given, "--method", "circuits"]) == 0
    assert target.read_text() == before


def test_a_method_that_cannot_do_a_table_has_no_cost() -> None:
    solid = Kind("solid", lambda seed: smith3d((4, 4, 3), 0.05, 0.0, seed), 1.0)
    row = contest.row_of(solid, 1, "castro", 1.0)
    assert row["cost"] is None
    assert "two-way" in row["note"]
    assert "no pattern" in contest.summary(solid, [row])


def test_an_ingredient_is_left_out_by_its_name() -> None:
    row = contest.row_of(TINY, 1, "circuits-components", 1.0)
    assert row["cost"] > 0


def test_the_share_of_the_back_end_is_a_part_of_evolution(tiny: str, tmp_path: Path) -> None:
    target = tmp_path / "share.json"
    assert share.main(["--kind", tiny, "--population", "16", "--seconds", "1", "--json", str(target)]) == 0
    (row,) = json.loads(target.read_text())
    assert 0 < row["backend_seconds"] <= row["evolution_seconds"]
    assert set(row) >= {"method", "table", "population", "generations", "prover_seconds"}


def test_cost_falls_with_counted_work_until_there_was_enough(tiny: str) -> None:
    rows = work.curve(tiny, 1, 300, 32)
    assert rows[-1]["children"] >= 250
    costs = [row["cost"] for row in rows]
    assert costs == sorted(costs, reverse=True)


def test_an_interval_holds_its_mean() -> None:
    mean, low, high = mean_interval([1.0, 2.0, 3.0])
    assert low < mean == 2.0 < high
    assert mean_interval([5.0]) == (5.0, 5.0, 5.0)


def test_a_contest_measures_no_first_run(tmp_path, monkeypatch):
    """What is compiled or loaded in a process is paid for by an unmeasured run, once a method and family of tables."""
    done = []

    def row_of(kind, seed, method, seconds):
        done.append((kind.name, seed, method))
        cost = {"cost": 1.0, "lower_bound": 1.0, "proven": True}
        return {"table": f"{kind.name}-{seed}", "method": method, "seconds": seconds, **cost}

    monkeypatch.setattr(contest, "row_of", row_of)
    kinds = ["--kind", "herrington-100x100-1%", "--kind", "herrington-100x100-3%", "--kind", "smith3d-20x10x10-1%"]
    arguments = ["--json", str(tmp_path / "c.json"), *kinds, "--method", "exact", "--tables", "1"]
    assert contest.main(arguments) == 0
    assert [name for name, seed, _ in done if seed == 3] == ["herrington-30x30-2%", "smith3d-6x5x4-5%"]
    assert len(done) == 5
    assert done[0][1] == 3
    assert contest.main(arguments) == 0
    assert len(done) == 5
