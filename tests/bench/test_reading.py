"""The sentences of the report: what is lost is said as plainly as what is won, and only like is compared with like."""

from __future__ import annotations

from typing import Any

from bench.reading import (
    contest_reading,
    herrington_reading,
    losses,
    microdata_reading,
    peers_reading,
    serpell_reading,
)
from bench.runs import Row


def row(method: str, cost: float, *, experiment: str = "100x100 1%", variant: str = "", **more: Any) -> Row:
    settled = {"cost": cost, "safe": True, "lower_bound": 90.0, "cpu_seconds": 2.0}
    return Row("herrington", experiment, f"table of {experiment}", method, variant, 1, "", 9, 2, **{**settled, **more})


def test_times_are_those_of_the_plain_method_not_of_its_variants() -> None:
    rows = [row("circuits", 99.0), row("heurgene", 110.0), row("gensup", 100.0), row("exact", 98.0)]
    (plain,) = herrington_reading(rows)
    assert "HeurGene 2.0, GenSup 2.0" in plain
    assert herrington_reading([*rows, row("heurgene", 120.0, variant="elite_elite", cpu_seconds=50.0)]) == [plain]


def test_a_cost_above_that_of_another_method_is_said_in_capitals() -> None:
    rows = [row("circuits", 99.0), row("heurgene", 110.0), row("gensup", 99.0), row("exact", 98.0)]
    (said,) = herrington_reading(rows)
    assert said.startswith("100x100, 1 % sensitive (one table)")
    assert "10.00 % below HeurGene, the same as GenSup, 1.02 % ABOVE `exact`, and 10.0 % above our bound" in said
    assert "`exact`: cheaper on 0, equal on 0, dearer on 1" in losses(rows)[0]


def test_a_contest_names_the_kinds_that_were_lost() -> None:
    costs = {"won-1": (9.0, 10.0), "lost-1": (11.0, 10.0), "lost-2": (13.0, 10.0), "even-1": (10.0, 10.0)}
    rows = []
    for table, (ours, theirs) in costs.items():
        rows += [{"table": table, "seconds": 5.0, "method": "circuits", "cost": ours}]
        rows += [{"table": table, "seconds": 5.0, "method": "exact", "cost": theirs}]
        rows += [{"table": table, "seconds": 50.0, "method": "circuits", "cost": 1.0}]  # of a contest of its own
    (said,) = contest_reading(rows)
    assert "cheaper on won (one table) by 10.00 %" in said
    assert "the same on even (one table)" in said
    assert said.endswith("DEARER on lost (2 tables) by 20.00 %.")
    assert contest_reading([]) == []
    longer = {"table": "even-1", "seconds": 5.0, "method": "exact@2", "cost": 5.0}
    assert contest_reading([*rows, longer])[1].startswith(
        "Beside `exact` with twice the time `circuits` is DEARER on even"
    )


def test_the_integer_programs_are_held_against_the_paper_and_ours_against_them() -> None:
    rows = [
        row(method, cost, experiment=f"table {number}", cpu_seconds=time, repaired=left)
        for number in (1, 2)
        for method, cost, time, left in (
            ("classical-ip", 100.0, 4.0, 0),
            ("modified-ip", 100.0, 1.0, number - 1),
            ("exact", 99.0 + number, 5.0, 0),
        )
    ]
    saved, left, ours = serpell_reading(rows)
    assert "75.0 % less CPU time" in saved
    assert "(published 48.1 %)" in saved, "of these two tables"
    assert "exposed in 1 of 2 tables" in left
    assert "the same cost or less on 1 of 2 tables, dearer on 1 (by 1.00 % at most), with less CPU time on 0" in ours
    too_short = [row(m, 1.0, experiment="table 1", cpu_seconds=0.0) for m in ("classical-ip", "modified-ip")]
    assert serpell_reading(too_short) == []
    assert serpell_reading([]) == []


def test_searches_that_miss_the_cheapest_recoding_are_named() -> None:
    shared = {"persons": 5000, "weight": 0.1, "gap": 0.1, "scores": 100, "suppressed": 5, "cpu_seconds": 1.0}
    rows = [
        shared | {"search": "tabu", "cost": 10.0, "recodings": {"age": "width:5"}},
        shared | {"search": "iterative", "cost": 11.0, "recodings": {}},
        shared | {"search": "tabu", "cost": 30.0, "weight": 1.0, "suppressed": 40, "recodings": {}},
        {"persons": 5000, "weight": 0.1, "search": "lagrangean bound", "lower_bound": 8.0},
    ]
    searches, weights = microdata_reading(rows)
    assert "is found by tabu; not by iterative (10.00 % dearer); it is 10.0 % above the best bound" in searches
    assert "weight 1: no fields recoded, 40.0 % of the scores suppressed; weight 0.1 (the default): 1 field" in weights
    unknown = [line | {"gap": None} for line in rows[:2]]
    assert "it is – above the best bound" in microdata_reading(unknown)[0]
    assert microdata_reading([]) == []


def test_what_a_peer_wins_is_said_as_well() -> None:
    figures = {"table": "t", "safe": True, "cost": 10.0, "cpu_seconds": 2.0}
    theirs = figures | {"tool": "tau-ARGUS", "cost": 9.0, "cpu_seconds": 1.0}
    said = peers_reading({"results": [figures | {"tool": "gpuga exact"}, theirs], "missing": {"sdcTable": "no R"}})
    assert "0 are unsafe" in said[0]
    assert "cheaper on 0, dearer on 1 and equal on 0 of 1; tau-ARGUS took less CPU time on 1" in said[0]
    assert said[1] == "sdcTable was not run: no R."
