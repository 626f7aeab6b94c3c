"""The benchmarks of the engine: contests at equal time, the share of the back end, cost against counted work."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench import contest, share, work
from bench.kinds import KINDS, Kind
from bench.statistics import mean_interval
from gpuga.errors import OutOfTime
from gpuga.files.read import write_table
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


def test_twice_the_time_is_asked_for_behind_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = []

    def protect(table, method, *, seconds, **options):
        allowed.append((method, seconds))
        raise OutOfTime("no")

    monkeypatch.setattr(contest.gpuga, "protect", protect)
    row = contest.row_of(TINY, 1, "exact@2", 7.0)
    contest.row_of(TINY, 1, "circuits-components", 7.0)
    assert allowed == [("exact", 14.0), ("circuits", 7.0)]
    assert (row["method"], row["seconds"]) == ("exact@2", 7.0)  # it is compared with what had the time of the contest


def test_a_table_of_a_file_is_a_kind_of_its_own(tmp_path: Path) -> None:
    path, target = tmp_path / "small.jj", tmp_path / "rows.json"
    write_table(herrington(8, 8, 0.05, 1), path)
    given = ["--json", str(target), "--file", str(path), "--tables", "1", "--seconds", "1", "--method", "hypercube"]
    assert contest.main(given) == 0
    (row,) = json.loads(target.read_text())
    assert row["table"] == "small-1"
    assert row["cost"] > 0


def _row(table: str, method: str, cost: float | None, seconds: float = 5.0) -> dict[str, object]:
    return {"table": table, "method": method, "cost": cost, "proven": cost == 90.0, "seconds": seconds}


def test_methods_are_compared_on_the_same_tables_in_the_same_time() -> None:
    rows = [_row("a-1", "circuits", 100.0), _row("a-2", "circuits", 100.0), _row("a-1", "exact", 90.0)]
    rows += [_row("a-2", "exact", 120.0), _row("a-2", "hypercube", None), _row("a-1", "exact", 50.0, seconds=9.0)]
    section = contest.comparison_section("x", "X", rows, "")
    assert section is not None
    ((kind, limit, method, tables, mean, interval, ends, proofs),) = section.body
    assert (kind, limit, method, tables, proofs) == ("a", "5.0", "exact", "2", "1")
    assert (mean, ends) == ("+5.00 %", "-10.00, +20.00")
    assert interval.startswith("-1")
    assert contest.comparison_section("x", "X", rows[:2], "") is None


def test_the_course_of_a_run_has_what_the_best_cost_when_a_part_of_the_time_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(contest.time, "monotonic", lambda: now[0])
    table = herrington(5, 5, 0.05, 1)
    forced = float(table.shown_cost(table.cost(table.forced)))
    course = contest.Course(table, 16.0)
    for now[0], cost in ((0.5, 50), (1.5, 40), (3.0, 30), (9.0, 20)):
        course(SimpleNamespace(best=SimpleNamespace(cost=cost)))
    per_unit = float(table.shown_cost(table.cost(table.forced) + 10)) - forced
    assert course.costs == pytest.approx(
        {"1": forced + 5 * per_unit, "2": forced + 4 * per_unit, "4": forced + 3 * per_unit, "8": forced + 3 * per_unit}
    )


def test_curves_are_shown_with_a_plot_from_the_first_child_to_the_last() -> None:
    rows = [
        {
            "table": "t-1",
            "population": p,
            "children": n,
            "cost": 200.0 - 10 * k - p / 64,
            "generation": k,
            "elapsed": 1.0,
        }
        for p in (64, 128)
        for k, n in enumerate((9, 10, 99, 100, 5000))
    ]
    (section,) = work.sections(rows)
    assert [line[1] for line in section.body] == ["9", "10", "100", "5,000"] * 2
    assert section.body[-1][-1] == "0.00 %"
    assert "population 128" in section.chart


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
