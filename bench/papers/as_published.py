"""The papers' algorithms to the letter (`--as-published`), beside ours and beside what was published.

Herrington's sets with infeasible offspring and generations (his Appendix A); Almeida's class I as worded and at 5 %
sensitive cells, class II with failures; Smith's genetic algorithm with its own evaluator over the order by weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from bench.papers.extent import Extent, average, best_bounds, counted, gaps, per_table, rows_of
from bench.runs import Row, Run
from bench.sections import OTHER_TABLES, Section, figure, percent, seconds
from bench.tables import published

NAME = "as-published"
CITATION = "The papers' algorithms as published, beside ours"
LETTER = "as published"
HERRINGTON = ("0.5", "1", "3")
PLANS: Mapping[str, Sequence[tuple[str, str, Mapping[str, Any]]]] = {
    "herrington": (
        ("hypercube", LETTER, {"as_published": True, "runs": 1}),
        ("hypercube", "", {}),
        ("heurgene", LETTER, {"as_published": True}),
        ("heurgene", "", {}),
        ("gensup", LETTER, {"as_published": True, "seeds": "hypercube"}),
    ),
    "almeida": (
        ("shortest-path", "", {}),
        ("hypercube", LETTER, {"as_published": True, "runs": 1}),
        ("hypercube", "", {}),
        ("castro", LETTER, {"as_published": True}),
        ("castro", "", {}),
        ("pbp", LETTER, {"as_published": True}),
        ("gensup", LETTER, {"as_published": True}),
        ("gensup", "", {}),
        ("exact", "", {}),
    ),
}
"""The runs on each kind of table: method, variant, options."""

ORDERS = 10
"""Random orders of the hypercube method, whose costs are averaged as in the dissertation."""

CLASSES = {"class I, 0.8 %": "class1:{}:{}", "class I, 5 %": "class1:{}:5%:{}", "class II": "class2:{}:{}"}
SHAPES, STANDARD_SHAPES, QUICK_SHAPES = (
    ("20x50", "50x50", "75x75", "100x100"),
    ("20x50", "50x50", "100x100"),
    ("20x50", "50x50"),
)
SMITH = ("200x5:0.02:0.05", "200x5:0.10:0.25", "200x50:0.02:0.05")
START = "order by weight"
ITEMS = ("one-p", "one-k", "ku")


def runs(extent: Extent) -> list[Run]:
    """Every run, table by table."""
    listed: list[Run] = []
    for number in range(1, extent.tables + 1):
        for share in HERRINGTON[:2] if extent.quick else HERRINGTON:
            if number > extent.pick(extent.tables, 1, extent.tables):
                continue
            listed += _plan("herrington", f"herrington {share} %", f"herrington:100x100:{share}%:{number}", extent)
        for kind, name in CLASSES.items():
            for shape in extent.pick(QUICK_SHAPES, STANDARD_SHAPES, SHAPES):
                listed += _plan("almeida", f"{kind} {shape}", name.format(shape, number), extent)
        for fields in SMITH[:2] if extent.quick else SMITH:
            if number == 1 or extent.full:
                listed += _smith(fields, number, extent)
    return listed


def _plan(plan: str, experiment: str, table: str, extent: Extent) -> list[Run]:
    return [
        Run(
            NAME, experiment, table, method, variant, options=options,
            seed=seed, seconds=extent.seconds if method == "exact" else None, expected=2.0,
        )
        for method, variant, options in PLANS[plan]
        for seed in range(1, 1 + (ORDERS if options.get("runs") else 1))
    ]  # fmt: skip


def _smith(fields: str, number: int, extent: Extent) -> list[Run]:
    """The order by weight, then the genetic algorithm over it; evaluations are limited so that runs repeat.

    Where not everything is run, so are CPU seconds, because one evaluation by groups can take seconds.
    """
    table, experiment = f"smith2d:{fields}:{number}", f"smith {fields}"
    steps, limit = extent.pick(75, 600, 2500), None if extent.full else 3 * extent.seconds
    listed = [Run(NAME, experiment, table, "incremental", START)]
    for items in ITEMS:
        options = {"variant": items, "as_published": True, "generations": steps}
        listed.append(Run(NAME, experiment, table, "ordering-ga", items, seconds=limit, options=options, expected=5.0))
    groups = {"variant": "group-k", "as_published": True, "generations": max(1, steps // 75)}
    listed.append(Run(NAME, experiment, table, "ordering-ga", "group-k", seconds=limit, options=groups, expected=30.0))
    return listed


def sections(rows: Sequence[Row]) -> list[Section]:
    """Herrington, the two classes, Smith."""
    found = [_herrington(rows), _offspring(rows), _gaps(rows), _failures(rows), _orderings(rows)]
    return [section for section in found if section is not None]


def _named(row: tuple[str, str, Any] | Row) -> str:
    method, variant = (row.method, row.variant) if isinstance(row, Row) else row[:2]
    return f"{method}, {variant}" if variant else method


def _herrington(rows: Sequence[Row]) -> Section | None:
    body = []
    for share in HERRINGTON:
        experiment = f"herrington {share} %"
        base = per_table(rows_of(rows, experiment, "hypercube", LETTER))
        given = {
            row["statistic"]: row
            for row in published("herrington_costs")
            if (row["rows"], row["sensitive_percent"]) == ("100", share)
        }
        for one in PLANS["herrington"]:
            mine = rows_of(rows, experiment, *one[:2])
            costs = per_table(mine)
            if not costs or not base:
                continue
            known = float(given["average"][one[0]]) if one[1] and given["average"].get(one[0]) else None
            theirs = None if known is None else 1 - known / float(given["average"]["hypercube"])
            ours = 1 - sum(costs.values()) / sum(base[t] for t in costs)
            spent = average(per_table(mine, "cpu_seconds").values())
            body.append(
                (
                    f"{share} %",
                    _named(one),
                    counted(mine),
                    figure(known),
                    figure(fmean(costs.values())),
                    percent(theirs),
                    percent(ours),
                    seconds(spent),
                )
            )
    if not body:
        return None
    header = (
        "sensitive", "method", "tables", "average cost, published", "average cost, measured",
        "below HyperCube, published", "below HyperCube, measured", "CPU seconds",
    )  # fmt: skip
    words = f"100x100 cells. {OTHER_TABLES} GenSup starts from HyperCube's patterns here, as in the dissertation."
    return Section("as-published-herrington", "Herrington's algorithms to the letter", header, body, words)


def _offspring(rows: Sequence[Row]) -> Section | None:
    """Appendix A: generations, offspring and failures of HeurGene."""
    body = []
    for share in HERRINGTON:
        mine = rows_of(rows, f"herrington {share} %", "heurgene", LETTER)
        counts = [[row.detail(n) or 0 for n in COUNTED] for row in mine if not row.fault]
        if counts:
            means = [fmean(column) for column in zip(*counts, strict=True)]
            generations = fmean(row.generations or 0 for row in mine if not row.fault)
            per_generation = means[1] / max(generations, 1)
            body.append((f"{share} %", counted(mine), figure(generations), *(figure(m) for m in means),
                         figure(per_generation, 3)))  # fmt: skip
    if not body:
        return None
    header = (
        "sensitive", "tables", "generations", "offspring", "infeasible offspring", "pairs without offspring",
        "infeasible per generation",
    )  # fmt: skip
    words = "Every child is checked by exact flows. Whole lists change sides and shared cells stay, so none is unsafe."
    return Section("as-published-offspring", "HeurGene as published: infeasible offspring", header, body, words)


COUNTED = ("offspring", "infeasible_offspring", "pairs_without_offspring")


def _gaps(rows: Sequence[Row]) -> Section | None:
    body = []
    for kind in CLASSES:
        given = {
            row["method"].replace("_", "-"): row
            for row in published("gensup_gaps")
            if row["class"] == ("II" if kind.endswith("II") else "I")
        }
        mine = [row for row in rows if row.experiment.startswith(f"{kind} ")]
        bounds = best_bounds(mine)
        for one in PLANS["almeida"]:
            its = [row for row in mine if (row.method, row.variant) == one[:2]]
            found = gaps(its, bounds)
            if not found:
                continue
            text = given.get(one[0], {}).get("gap_average_percent")
            known = float(text) / 100 if text else None
            spent = average(per_table(its, "cpu_seconds").values())
            body.append((kind, _named(one), str(len(found)), percent(known, 2), percent(fmean(found.values()), 2),
                         seconds(spent)))  # fmt: skip
    if not body:
        return None
    header = ("tables", "method", "with a bound above 0", "gap, published", "gap, measured", "CPU seconds")
    words = (
        f"{OTHER_TABLES} Class I as worded (0.8 % sensitive) and at 5 %: only there do the paper's statements hold "
        "that almost 80 % of the levels are redundant and that no table above 300 rows needs suppressions. Gaps are to "
        "our bounds."
    )
    return Section("as-published-gaps", "Almeida's classes: gaps to the letter", header, body, words)


def _failures(rows: Sequence[Row]) -> Section | None:
    """Tables on which rectangles or disjoint paths did not suffice."""
    body = []
    for kind in CLASSES:
        for method, count in (("hypercube", "levels_without_rectangle"), ("castro", "failed_levels")):
            mine = [
                r for r in rows if r.experiment.startswith(f"{kind} ") and (r.method, r.variant) == (method, LETTER)
            ]
            failed, tables = {row.table for row in mine if row.detail(count)}, {row.table for row in mine}
            if mine:
                known = (
                    {"hypercube": "143 of 150", "castro": "132 of 150"}[method] if kind == "class II" else "0 of 150"
                )
                body.append((kind, method, known, f"{len(failed)} of {len(tables)}"))
    if not body:
        return None
    header = ("tables", "method", "failed, published", "failed, measured")
    words = (
        "A failure is a table with a level that no single rectangle, or no arc-disjoint paths, can carry; ours go on "
        "with further rectangles, or recover by flows."
    )
    return Section("as-published-failures", "Almeida: failures of the constructive heuristics", header, body, words)


def _orderings(rows: Sequence[Row]) -> Section | None:
    body = []
    for fields in SMITH:
        experiment = f"smith {fields}"
        base = per_table(rows_of(rows, experiment, "incremental", START))
        for items in (*ITEMS, "group-k"):
            mine = rows_of(rows, experiment, "ordering-ga", items)
            costs = per_table(mine)
            if costs and base:
                gains = [1 - costs[t] / base[t] for t in costs if base.get(t)]
                body.append(
                    (
                        fields,
                        f"GA-{items}",
                        counted(mine),
                        percent(min(gains)),
                        percent(fmean(gains)),
                        percent(max(gains)),
                        figure(average(per_table(mine, "evaluations").values())),
                        seconds(average(per_table(mine, "cpu_seconds").values())),
                        ", ".join(sorted({row.limit for row in mine} - {""})) or "–",
                    )
                )
    if not body:
        return None
    header = (
        "size, sensitive, zeros", "algorithm", "tables", "least gain", "mean gain", "largest gain", "evaluations",
        "CPU seconds", "allowed",
    )  # fmt: skip
    words = (
        "Gain over the order by weight, both by two linear programs per cell (or group) and without clean-up. "
        "Published gains on two-way tables are 0.6 to 26 % (Table III). With our evaluator the order hardly matters. "
        "Evaluations of groups take longest here, so that a time limit leaves them few."
    )
    return Section("as-published-smith", "Smith's genetic algorithm with its own evaluator", header, body, words)
