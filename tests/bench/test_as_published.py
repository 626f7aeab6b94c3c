"""The papers' algorithms to the letter, and what the papers say of tables: experiments on rows made up here."""

from __future__ import annotations

import json
from dataclasses import replace

from bench.measures import MEASURES
from bench.papers import as_published, exposures
from bench.papers.extent import FULL, QUICK
from bench.reading import class_one_reading, evaluator_reading, rectangle_reading
from bench.report import _commits
from bench.runs import Row, Run, measured
from gpuga.context import Context
from gpuga.methods import find_method
from gpuga.table.generate import class1, smith2d


def row_of(run: Run, cost: float | None, **details: float) -> Row:
    settled = {"cost": cost, "safe": True, "generations": 4, "evaluations": 5, "cpu_seconds": 2.0, "lower_bound": 90.0}
    more = settled | {"details": json.dumps(details)}
    return Row(run.paper, run.experiment, run.table, run.method, run.variant, run.seed, run.key[-1], 100, 10, **more)


def test_every_run_names_options_that_its_method_has() -> None:
    for run in as_published.runs(FULL):
        find_method(run.method).checked(run.options)
    assert {run.method for run in exposures.runs(FULL)} == set(MEASURES)


def test_all_sections_come_out_of_a_full_run() -> None:
    rows = [
        row_of(run, 100.0, offspring=8, infeasible_offspring=0, pairs_without_offspring=2, failed_levels=1)
        for run in as_published.runs(FULL)
    ]
    names = {section.name for section in as_published.sections(rows)}
    assert names == {f"as-published-{part}" for part in ("herrington", "offspring", "gaps", "failures", "smith")}
    counts = {"primaries": 10, "K": 4, "Ku": 4, "levels": 20, "open": 5, "whole": 1}
    told = exposures.sections([row_of(run, None, **counts) for run in exposures.runs(FULL)])
    assert [section.name.partition("-")[2] for section in told] == ["by-size", "hierarchies", "preprocessing"]
    assert "linear bound I at 5 %" in (told[2].chart or "")
    by_size = told[0]
    assert len(by_size.body) == len(exposures.SQUARES) // exposures.IN_A_LINE
    assert by_size.body[0][2:] == ("60.0 %", "280 of 280")


def test_the_full_plan_has_serpells_3360_tables() -> None:
    squares = [run.table for run in exposures.runs(FULL) if run.experiment.startswith("square")]
    assert len(set(squares)) == 3360
    assert exposures.SQUARES[0] ** 2 == 100
    assert 850_000 < exposures.SQUARES[-1] ** 2 <= 900_000


def test_failures_and_gains_are_counted_from_the_rows() -> None:
    rows = []
    for run in as_published.runs(QUICK):
        failed = 3 if run.table.startswith("class2") and run.table.endswith(":1") else 0
        cost = 100.0 if run.method != "ordering-ga" else 80.0
        rows.append(row_of(run, cost, failed_levels=failed, levels_without_rectangle=2 * failed))
    found = {section.name: section for section in as_published.sections(rows)}
    failures = {line[:2]: line[3] for line in found["as-published-failures"].body}
    assert failures["class II", "castro"] == "2 of 4"
    assert failures["class II", "hypercube"] == "2 of 4"
    assert failures["class I, 5 %", "castro"] == "0 of 4"
    assert {line[4] for line in found["as-published-smith"].body} == {"20.0 %"}


def test_the_reading_says_what_class_one_and_the_evaluator_mean() -> None:
    rows = []
    for run in as_published.runs(FULL):
        cost = {"ordering-ga": 80.0, "heurgene": 95.0}.get(run.method, 100.0)
        rows.append(row_of(run, cost + (5.0 if run.table.startswith("class1") and "5%" not in run.table else 0.0)))
    (denser,) = class_one_reading(rows)
    assert "shortest paths 16.67 % as worded, 11.11 % at 5 %, published 3.67 %" in denser
    assert "Castro's heuristic 16.67 % as worded, 11.11 % at 5 %, published 129.78 %" in denser
    assert "gains 20.0 % to 20.0 %" in evaluator_reading(rows)[0]
    assert "5.0 % below HyperCube" in rectangle_reading(rows)[0]
    assert not [*class_one_reading([]), *evaluator_reading([]), *rectangle_reading([])]


def test_the_report_tells_rows_of_other_commits_apart() -> None:
    run = as_published.runs(QUICK)[0]
    new, old = (
        replace(row_of(run, 1.0), commit=name, date=date) for name, date in (("b", "2026-02"), ("a", "2026-01"))
    )
    section = _commits([new, old, old])
    assert section is not None
    assert "2 of 3 rows" in section.words
    assert [line[:3] for line in section.body] == [("a", "2026-01", "no"), ("b", "2026-02", "yes")]
    assert _commits([new]) is None


def test_measures_count_what_they_say() -> None:
    table = class1(20, 15, 3, 0.05)
    counts = MEASURES["redundant levels"](table, Context())
    assert 0 < counts["open"] <= counts["levels"] <= 2 * len(table.sensitive)
    exposed = MEASURES["exposure"](smith2d(14, 6, 0.15, 0.2, 1), Context())
    assert exposed["Ku"] <= exposed["K"] <= exposed["primaries"]
    row = measured(Run("exposures", "class I 20x15", "class1:20x15:5%:3", "linear bound", seconds=5.0))
    assert row.detail("whole") in (0, 1)
    assert row.cost is None
    assert not row.fault
