"""Serpell, Clark, Smith, Staggemeier 2008: the classical and the modified integer program (Tables 1 to 5).

Random tables with the paper's numbers of rows, columns, zeros and primaries; levels of a tenth, at least 1. HiGHS in
place of SAS/OR. The counts of variables and constraints follow from the table, so that the formula can be held to
the published ones; the modified model protects the initially exposed primaries only, and the audit says whether the
others are safe too.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.charts import lines
from bench.papers.extent import Extent, average, rows_of
from bench.runs import Row, Run
from bench.sections import OTHER_TABLES, Section, figure, percent, seconds
from bench.tables import published

NAME = "serpell"
CITATION = (
    "M. Serpell, A. Clark, J. Smith, A. Staggemeier, Pre-processing optimisation applied to the classical integer "
    "programming model for statistical disclosure control, Privacy in Statistical Databases 2008, 24-36"
)
METHODS = ("classical-ip", "modified-ip", "circuits", "exact")
QUICK_TABLES = ("1", "2", "3", "4", "5", "6", "13")
EXAMPLE = {"classical-ip": (833, 1824, 23.28), "modified-ip": (343, 689, 3.75)}
"""The paper's variables, constraints and CPU seconds on its example; both models suppress cells of cost 118."""


def runs(extent: Extent) -> list[Run]:
    """The example, then the tables one seed after the other."""
    listed = [Run(NAME, "example", "serpell-example", method, seconds=60.0) for method in METHODS]
    for seed in range(1, (3 if extent.full else 1) + 1):
        for row in published("serpell_tables3_4"):
            if extent.quick and row["table"] not in QUICK_TABLES:
                continue
            table = f"serpell:{row['rows']}x{row['cols']}:{row['primary']}:{row['zeros']}:{seed}"
            for method in METHODS:
                limit = extent.pick(12.0, 20.0, 60.0) if method.endswith("-ip") else extent.seconds
                listed.append(Run(NAME, f"table {row['table']}", table, method, seconds=limit, expected=4.0))
    return listed


def sections(rows: Sequence[Row]) -> list[Section]:
    """The example, Tables 3, 4 and 5."""
    mine = [row for row in rows if row.paper == NAME]
    given = [row for row in published("serpell_tables3_4") if rows_of(mine, f"table {row['table']}", "classical-ip")]
    if not given:
        return []
    found = [_example(mine), _table3(mine, given), _table4(mine, given), _table5(mine, given)]
    return [section for section in found if section is not None]


def _example(rows: Sequence[Row]) -> Section | None:
    body = []
    for method, (variables, constraints, spent) in EXAMPLE.items():
        for row in rows_of(rows, "example", method):
            counts = (
                str(variables),
                figure(row.detail("variables")),
                str(constraints),
                figure(row.detail("constraints")),
            )
            body.append((method, *counts, "118", figure(row.cost), seconds(spent), seconds(row.cpu_seconds)))
    for method in ("circuits", "exact"):
        for row in rows_of(rows, "example", method):
            body.append((method, "–", "–", "–", "–", "118", figure(row.cost), "–", seconds(row.cpu_seconds)))
    if not body:
        return None
    header = (
        "method",
        *(f"{what}, {who}" for what in ("variables", "constraints", "cost", "CPU seconds") for who in WHO),
    )
    words = "The paper's own 6 by 6 table: published and measured figures are of the same table."
    return Section("serpell-example", "Serpell: the example", header, body, words)


WHO = ("published", "measured")


def _mean(rows: Sequence[Row], number: str, method: str, what: str) -> float | None:
    """The average over the seeds of a field, or of one of the method's counts."""
    listed = [row for row in rows_of(rows, f"table {number}", method) if not row.fault]
    values = [getattr(row, what) if hasattr(row, what) else row.detail(what) for row in listed]
    return average(value for value in values if value is not None)


def _table3(rows: Sequence[Row], given: Sequence[dict[str, str]]) -> Section:
    header = (
        "table",
        "inner",
        "cells",
        "zeros",
        "primaries",
        "initially exposed, published",
        "initially exposed, measured",
    )
    body = [
        (
            row["table"],
            f"{row['rows']}x{row['cols']}",
            row["cells"],
            row["zeros"],
            row["primary"],
            row["initially_exposed"],
            figure(_mean(rows, row["table"], "modified-ip", "initially_exposed"), 1),
        )
        for row in given
    ]
    return Section("serpell-table-3", "Serpell Table 3: the tables", header, body, OTHER_TABLES)


def _table4(rows: Sequence[Row], given: Sequence[dict[str, str]]) -> Section:
    body = []
    for row in given:
        number, entries = row["table"], [row["table"]]
        for model, method in (("classical", "classical-ip"), ("modified", "modified-ip")):
            for what in ("variables", "constraints"):
                entries += [row[f"{model}_{what}"], figure(_mean(rows, number, method, what))]
            entries += [row[f"{model}_cpu"], seconds(_mean(rows, number, method, "cpu_seconds"))]
        repaired = _mean(rows, number, "modified-ip", "repaired")
        costs = [_mean(rows, number, method, "cost") for method in METHODS]
        times = [_mean(rows, number, method, "cpu_seconds") for method in ("circuits", "exact")]
        body.append((*entries, figure(repaired, 1), *(figure(c, 1) for c in costs), *(seconds(t) for t in times)))
    header = (
        "table",
        *(
            f"{model} {what}, {who}"
            for model in ("classical", "modified")
            for what in ("variables", "constraints", "CPU s")
            for who in WHO
        ),
        "primaries left exposed by the modified model",
        *(f"cost, {method}" for method in METHODS),
        "CPU s, circuits",
        "CPU s, exact",
    )
    words = (
        f"{OTHER_TABLES} Means over the seeds measured. The cost of the modified model is that after the audit has "
        "repaired what it left exposed; a run that its time limit ended counts with the pattern it had."
    )
    return Section("serpell-table-4", "Serpell Table 4: the two models", header, body, words)


def _table5(rows: Sequence[Row], given: Sequence[dict[str, str]]) -> Section:
    """Per cent saved by the modified model; the published columns follow from Tables 3 and 4."""
    body = []
    reductions: dict[str, list[tuple[float, float]]] = {"published": [], "measured": []}
    for row in given:
        number, entries = row["table"], [row["table"]]
        primary = float(row["primary"])
        exposed = _mean(rows, number, "modified-ip", "initially_exposed")
        pairs = [(1 - float(row["initially_exposed"]) / primary, None if exposed is None else 1 - exposed / primary)]
        for what, ours in (("variables", "variables"), ("constraints", "constraints"), ("cpu", "cpu_seconds")):
            theirs = 1 - float(row[f"modified_{what}"]) / float(row[f"classical_{what}"])
            pairs.append((theirs, _saved(rows, number, ours)))
        entries += [percent(value) for pair in pairs for value in pair]
        reductions["published"].append((100 * pairs[0][0], 100 * pairs[3][0]))
        if pairs[0][1] is not None and pairs[3][1] is not None:
            reductions["measured"].append((100 * pairs[0][1], 100 * pairs[3][1]))
        body.append(tuple(entries))
    whats = ("primaries considered", "variables", "constraints", "CPU time")
    header = ("table", *(f"fewer {what}, {who}" for what in whats for who in WHO))
    chart = lines(
        "Serpell Fig. 1: CPU time saved against primaries left out",
        reductions,
        "primaries left out, per cent",
        "CPU time saved, per cent",
        log=(False, False),
        joined=False,
    )
    return Section(
        "serpell-table-5", "Serpell Table 5: what the modified model saves", header, body, OTHER_TABLES, chart
    )


def _saved(rows: Sequence[Row], number: str, what: str) -> float | None:
    classical, modified = (_mean(rows, number, f"{model}-ip", what) for model in ("classical", "modified"))
    return 1 - modified / classical if classical and modified is not None else None
