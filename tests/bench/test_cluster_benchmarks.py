"""The benchmarks of islands and jobs measure what they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.islands import Setting, compared, measured, settings
from bench.kinds import QUICK
from gpuga.cluster import island


def test_all_settings_of_islands_do_about_the_same_work() -> None:
    rows = [measured(QUICK[0], 1, 1, setting, 6) for setting in settings([2])]
    children = [row["children"] for row in rows]
    assert max(children) < 1.3 * min(children)
    assert all(row["generations"] == 6 for row in rows)
    apart, ring = rows[1], rows[2]
    assert ring["bytes_out_per_leg"] < apart["bytes_out_per_leg"], "the table goes once, with the first leg"
    assert not island._WORKER.islands, "this process forgets each run at its end"


def test_settings_are_named_in_words() -> None:
    assert [one.name for one in settings([5])] == [
        "one of 257", "4 of 64, apart", "4 of 64, ring, every 5", "4 of 64, best, every 5"
    ]  # fmt: skip
    assert Setting(2, 8, 3).name == "2 of 8, ring, every 3"


def test_costs_are_compared_with_the_cheapest_of_the_same_table_and_seed() -> None:
    costs = [("a", "x", 100), ("a", "y", 110), ("b", "x", 300), ("b", "y", 200)]
    rows = [{"table": table, "setting": setting, "seed": 1, "cost": cost} for table, setting, cost in costs]
    assert compared(rows) == [
        "x: 25.00 % above the cheapest, at worst 50.00 %",
        "y: 5.00 % above the cheapest, at worst 10.00 %",
    ]


def test_jobs_are_timed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "jobs.json"
    assert main(["jobs", "--tables", "6", "--workers", "1", "--json", str(out)]) == 0
    (row,) = json.loads(out.read_text())
    assert (row["jobs"], row["safe"]) == (5, 5), "one job has warmed the worker"
    assert row["work_per_job"] > 0
    assert row["jobs_per_second"] > 0
