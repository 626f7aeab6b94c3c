"""The papers' experiments on rows made up here, and once from end to end on tiny tables."""

from __future__ import annotations

import json

import pytest

from bench.papers import command, gensup, herrington, serpell, smith, smith_figures
from bench.papers.extent import FULL, QUICK, STANDARD
from bench.runs import Row, Run, measured, read_rows
from bench.sections import Section, markdown, paired, write_section
from bench.tables import published


def row_of(run: Run, cost: float, **more: object) -> Row:
    limit = run.key[-1]
    settled = {"cost": cost, "safe": True, "audited": 1, "repaired": 0, "evaluations": 5, "cpu_seconds": 2.0, **more}
    return Row(run.paper, run.experiment, run.table, run.method, run.variant, run.seed, limit, 100, 10, **settled)


@pytest.mark.parametrize("paper", command.PAPERS.values(), ids=list(command.PAPERS))
def test_no_two_runs_of_a_plan_have_one_key(paper):
    for extent in (QUICK, STANDARD, FULL):
        keys = [run.key for run in paper.runs(extent)]
        assert len(set(keys)) == len(keys)


def test_the_full_plan_has_every_size_and_table_of_the_papers():
    sizes = {run.experiment for run in herrington.runs(FULL)}
    assert sizes == {f"{shape} {share}%" for shape, share, _, _ in herrington.SIZES}
    tables = {run.table for run in smith.runs(FULL)}
    assert len([t for t in tables if t.startswith("smith2d")]) == 30
    assert len([t for t in tables if t.startswith("smith3d")]) == 14
    assert {run.experiment for run in serpell.runs(FULL)} == {"example", *(f"table {n}" for n in range(1, 21))}
    assert {run.experiment.split()[1] for run in gensup.runs(FULL)} == {"I", "II"}


def test_all_of_herringtons_tables_come_out_of_a_full_run():
    rows = [row_of(run, 100.0 + run.seed, lower_bound=90.0) for run in herrington.runs(FULL)]
    names = {section.name for section in herrington.sections(rows)}
    assert names == {*(f"herrington-table-{n:02}" for n in range(2, 21)), "herrington-overview"}


@pytest.mark.parametrize("paper", command.PAPERS.values(), ids=list(command.PAPERS))
def test_the_standard_extent_has_rows_for_every_section_of_a_paper(paper):
    told = []
    for extent in (STANDARD, FULL):
        details = (
            '{"K": 3, "Ku": 3, "primaries": 5, "items": 4, "initially_exposed": 2, "variables": 9, "constraints": 9}'
        )
        rows = [row_of(run, 100.0, lower_bound=90.0, details=details, generations=3) for run in paper.runs(extent)]
        told.append({section.name for section in paper.sections(rows)})
    assert told[0] == told[1]
    assert len(paper.runs(STANDARD)) < len(paper.runs(FULL))


def test_smiths_figures_follow_the_improvements_of_a_run():
    rows = []
    for run in smith_figures.runs(STANDARD):
        points = [[10, 1.0, 200.0], [40, 5.0, 150.0]] if run.traced and run.variant != "group-k" else []
        rows.append(row_of(run, 150.0, evaluations=60, details=json.dumps({"trace": points})))
    by_size, by_time, by_calls = smith_figures.sections(rows)
    assert [line[5] for line in by_size.body] == ["60"] * 3
    line = dict(zip(by_time.header, by_time.body[0], strict=True))
    assert (line["cost after 1.5 CPU s"], line["cost after 7.5 CPU s"], line["gain"]) == ("200", "150", "25.00 %")
    assert [body[0] for body in by_time.body] == ["GA-one-P", "GA-one-K", "GA-group-K"]
    assert dict(zip(by_calls.header, by_calls.body[0], strict=True))["cost after 15 calls"] == "200"
    assert None not in (by_time.chart, by_calls.chart)


def test_a_traced_run_keeps_its_improvements_and_ends_with_its_cost():
    options = {"variant": "one-p", "as_published": True, "generations": 10}
    row = measured(Run("smith-figures", "x", "smith2d:20x6:0.2:0.1:1", "ordering-ga", options=options, traced=True))
    assert row.trace[-1][2] == row.cost
    costs = [cost for _, _, cost in row.trace]
    assert costs == sorted(costs, reverse=True)
    assert row.trace[-1][0] <= row.evaluations


def test_costs_are_averaged_over_repeats_then_over_tables():
    runs = [r for r in herrington.runs(FULL) if r.experiment == "100x100 1%" and not r.variant]
    rows = [row_of(run, 50.0 if run.method == "heurgene" else 100.0, lower_bound=40.0) for run in runs]
    (section,) = [s for s in herrington.sections(rows) if s.name == "herrington-table-07"]
    line = dict(zip(section.header, next(b for b in section.body if b[0] == "HeurGene"), strict=True))
    assert line["average, published"] == "6,066"
    assert line["average, measured"] == "50"
    assert line["below HyperCube, measured"] == "50.0 %"
    assert line["gap to our bound"] == "25.0 %"


def test_gaps_of_a_class_are_averages_of_the_sizes_and_both_bounds_are_named():
    rows = [row_of(run, 110.0, lower_bound=100.0) for run in gensup.runs(QUICK)]
    section = gensup.sections(rows)[0]
    line = dict(zip(section.header, next(b for b in section.body if b[0] == "gensup"), strict=True))
    assert line["average gap, published"] == "0.97 %"
    assert line["average gap, measured"] == "10.00 %"
    assert "linear relaxation" in section.words
    assert "our cutting planes" in section.words


def test_smiths_ranks_and_tests_come_out_of_improvements():
    rows = []
    for place, run in enumerate(smith.runs(FULL)):
        cost = 100.0 if run.variant == smith.BY_WEIGHT else 95.0 if run.method == "ordering-ga" else 97.0
        rows.append(row_of(run, cost + place % 3 * 0.1, lower_bound=90.0, details='{"items": 7}'))
    found = {section.name: section for section in smith.sections(rows)}
    assert {f"smith-table-{n}" for n in range(3, 9)} <= set(found)
    ranks = {line[0]: float(line[2]) for line in found["smith-table-4"].body}
    assert min(ranks[n] for n in ranks if n.startswith("GA")) > max(ranks[n] for n in ranks if n.startswith("LS"))
    assert all(line[3] == "30" for line in found["smith-wilcoxon"].body)
    assert len(found["smith-table-7"].body) == 14


def test_serpells_reductions_follow_from_the_counts():
    counts = '{"variables": 100, "constraints": 200, "initially_exposed": 4}'
    half = '{"variables": 50, "constraints": 80, "initially_exposed": 4}'
    rows = [row_of(run, 10.0, details=half if run.method == "modified-ip" else counts) for run in serpell.runs(FULL)]
    table5 = serpell.sections(rows)[-1]
    line = dict(zip(table5.header, table5.body[0], strict=True))
    assert line["fewer variables, published"] == "23.5 %"
    assert line["fewer variables, measured"] == "50.0 %"
    assert line["fewer primaries considered, measured"] == "50.0 %"


def test_published_and_measured_columns_are_one_for_people_and_two_for_machines(tmp_path):
    section = Section("s", "t", ("method", "cost, published", "cost, measured"), [("a", "1,200", "–")])
    assert paired(section) == (("method", "cost"), [("a", "1,200 / –")])
    assert "1,200 / –" in markdown(section)
    write_section(section, tmp_path)
    assert (tmp_path / "s.csv").read_text().splitlines()[1] == "a,1200,"


def test_every_file_of_published_figures_is_cited():
    cited = (command.RESULTS.parent / "published" / "README.md").read_text()
    assert all(word in cited for word in ("Herrington", "Almeida", "Smith", "Serpell"))
    assert len(published("herrington_costs")) == 35


def test_a_run_can_be_cut_and_taken_up_again(tmp_path, capsys, monkeypatch):
    plan = [Run("serpell", "example", "serpell-example", m, seconds=5.0) for m in ("modified-ip", "exact")]
    plan.append(Run("serpell", "table 1", "serpell:5x5:4:3:1", "classical-ip", seconds=5.0))
    monkeypatch.setattr(serpell, "runs", lambda extent: plan)
    arguments = ["--quick", "--paper", "serpell", "--out", str(tmp_path)]
    command.main([*arguments, "--minutes", "0"])
    assert "3 runs are left" in capsys.readouterr().out
    command.main(arguments)
    said = capsys.readouterr().out
    assert "0 of them are there already" in said
    assert "| modified-ip" in said
    assert len(read_rows(tmp_path / "quick" / "rows.csv")) == 3
    command.main(arguments)
    assert "3 of them are there already" in capsys.readouterr().out
    assert {"papers.md", "rows.csv", "machine.json", "serpell-example.csv", "serpell-table-5.svg"} <= {
        path.name for path in (tmp_path / "quick").iterdir()
    }
