"""Smith, Clark, Staggemeier, Serpell 2012: searches over orderings of the sensitive cells (Tables III to VIII).

Thirty two-way tables with the paper's sizes, shares of sensitive cells and of zeros, fourteen large ones with its
shapes; the eight tables of the paper that come from a statistics office or with tau-ARGUS are left out, the first were
never published. The paper wants levels exceeded, here they are reached: a cell of 1 with a level of 1 could not be
protected otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from bench.charts import bars
from bench.papers.extent import Extent, average, best_bounds, gaps, per_table, proven, rows_of, summary
from bench.runs import Row, Run
from bench.sections import OTHER_TABLES, Section, figure, percent, seconds
from bench.statistics import friedman, wilcoxon_p
from bench.tables import published

NAME = "smith"
CITATION = (
    "J. E. Smith, A. R. Clark, A. T. Staggemeier, M. C. Serpell, A genetic approach to statistical disclosure control, "
    "IEEE Transactions on Evolutionary Computation 16 (2012) 431-441"
)
SEARCHES = tuple((kind, operator) for kind in ("ls", "ga") for operator in ("swap", "insert", "invert"))
OTHERS = ("hypercube", "modular", "exact", "marginal", "circuits")
COLUMNS = {
    "ga_group_k": ("ordering-ga", "group-k"),
    "hypercube": ("hypercube", ""),
    "modular": ("modular", ""),
    "optimal": ("exact", ""),
    "marginal": ("marginal", ""),
    "circuits": ("circuits", ""),
}
"""The paper's algorithms of Table V, and ours, with the method and variant that stand for them."""

BY_WEIGHT = "order by weight"
PLAIN = "plain"
"""The incremental attacker's linear programs by falling weight, without clean-up: where the paper's searches begin."""
ITEMS = {"one-p": "GA-one-P", "one-k": "GA-one-K", "group-k": "GA-group-K"}
HOW_ORDERINGS_COUNT = (
    "Our searches evaluate an ordering of a two-way table by cheapest paths and remove what is redundant, where the "
    "paper solves linear programs and does not: the order by weight is better to begin with, and less is left to gain. "
    "The last two columns say how far our start and our GA-invert are below the linear programs by weight "
    "(`incremental`), which is where the paper starts."
)
CLASSES = (
    ("200x5", "0.02", "0.05"),
    ("200x5", "0.10", "0.25"),
    ("200x50", "0.02", "0.05"),
    ("200x50", "0.10", "0.25"),
    ("4000x10", "0.02", "0.05"),
    ("4000x10", "0.10", "0.25"),
)


def experiment_of(row: dict[str, str]) -> str:
    """The class of a published table."""
    return f"{row['rows']}x{row['cols']} {row['sensitive']} {row['zeros']}"


def runs(extent: Extent) -> list[Run]:
    """The first table of each class, the second, ...; then the large ones."""
    rows = published("smith_table5_costs")
    listed = []
    for place in range(min(extent.tables, 5) if extent.full else 1):
        for row in rows[place::5]:
            if not extent.full and row["rows"] == "4000" and (extent.quick or row["sensitive"] == "0.10"):
                continue
            listed += _of_table(row, extent)
    large = published("smith_tables7_8_large")
    for row in large[: extent.pick(1, 2, len(large))]:
        listed += _of_large(row, extent)
    return listed


def _of_table(row: dict[str, str], extent: Extent) -> list[Run]:
    experiment = experiment_of(row)
    table = f"smith2d:{row['rows']}x{row['cols']}:{row['sensitive']}:{row['zeros']}:{row['table']}"
    limit = extent.seconds / (2 if extent.quick else 3)
    listed = [Run(NAME, experiment, table, "ordering-ls", BY_WEIGHT, options={"variant": "one-p", "generations": 0})]
    listed.append(Run(NAME, experiment, table, "incremental", PLAIN, seconds=2 * extent.seconds))
    for kind, operator in SEARCHES:
        variant = f"one-p:{operator}"
        listed.append(
            Run(
                NAME,
                experiment,
                table,
                f"ordering-{kind}",
                variant,
                seconds=limit,
                options={"variant": variant},
                expected=limit / 2,
            )
        )
    for variant in ITEMS:
        options = {"variant": variant}
        listed.append(
            Run(NAME, experiment, table, "ordering-ga", variant, seconds=limit, options=options, expected=limit / 2)
        )
    for method in OTHERS:
        listed.append(Run(NAME, experiment, table, method, seconds=extent.seconds, expected=extent.seconds / 3))
    return listed


def _of_large(row: dict[str, str], extent: Extent) -> list[Run]:
    fields = (row["dimensions"], row["sensitive_share"], row["zero_share"], row["hierarchical_dimension"] or "0")
    table = f"smith3d:{':'.join(fields)}:1"
    limit = 2 * extent.seconds
    start = {"variant": "ku", "generations": 0}
    return [
        Run(NAME, "large", table, "ordering-ls", BY_WEIGHT, seconds=limit, options=start, expected=limit),
        Run(NAME, "large", table, "ordering-ga", "ku", seconds=limit, options={"variant": "ku"}, expected=2 * limit),
    ]


def sections(rows: Sequence[Row]) -> list[Section]:
    """Tables III to VIII with what was measured."""
    mine = [row for row in rows if row.paper == NAME]
    found = [_table3(mine), _table4(mine), _wilcoxon(mine), _items(mine), _table5(mine), _table6(mine)]
    return [section for section in [*found, _table7(mine), _table8(mine)] if section is not None]


def improvements(
    rows: Sequence[Row], method: str, variant: str, experiment: str | None = None, start: str = BY_WEIGHT
) -> dict[str, float]:
    """For each table, how far the average cost is below that of the order by weight, relative to it."""
    chosen = [row for row in rows if experiment is None or row.experiment == experiment]
    base = per_table(row for row in chosen if row.variant == start)
    found = per_table(row for row in chosen if (row.method, row.variant) == (method, variant))
    return {table: 1 - cost / base[table] for table, cost in found.items() if base.get(table)}


def _table3(rows: Sequence[Row]) -> Section | None:
    """Average improvement over the order by weight, a line for each class of five tables."""
    given = published("smith_table3_improvement_percent")
    body = []
    for size, sensitive, zeros in CLASSES:
        experiment = f"{size} {sensitive} {zeros}"
        theirs = [row for row in given if experiment_of(row) == experiment]
        entries, count = [], 0
        for kind, operator in SEARCHES:
            ours = improvements(rows, f"ordering-{kind}", f"one-p:{operator}", experiment)
            count = max(count, len(ours))
            known = fmean(float(row[f"{kind}_{operator}"]) for row in theirs)
            entries += [f"{known:.2f} %", percent(average(ours.values()), 2)]
        if count:
            for method, variant in (("ordering-ls", BY_WEIGHT), ("ordering-ga", "one-p:invert")):
                entries.append(percent(average(improvements(rows, method, variant, experiment, PLAIN).values())))
            body.append((experiment, str(count), *entries))
    if not body:
        return None
    names = [f"{kind.upper()}-{operator}" for kind, operator in SEARCHES]
    header = (
        "size, sensitive, zeros",
        "tables",
        *(f"{name}, {who}" for name in names for who in ("published", "measured")),
        "our start below plain LPs",
        "our GA-invert below plain LPs",
    )
    words = f"Means of the tables of a class. {OTHER_TABLES} {HOW_ORDERINGS_COUNT}"
    return Section("smith-table-3", "Smith Table III: improvement over the order by weight", header, body, words)


def _matrix(rows: Sequence[Row]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Improvement of every search on every table that all of them have (float64[tables, searches])."""
    found = [improvements(rows, f"ordering-{kind}", f"one-p:{operator}") for kind, operator in SEARCHES]
    tables = sorted(set.intersection(*(set(one) for one in found)))
    return np.array([[one[table] for one in found] for table in tables], np.float64).reshape(len(tables), len(found))


def _table4(rows: Sequence[Row]) -> Section | None:
    """Friedman's mean ranks of the improvements, best last in the paper's sense: high is good."""
    values = _matrix(rows)
    if len(values) < 2:
        return None
    ranked = friedman(values)
    given = {row["algorithm"]: row["mean_rank"] for row in published("smith_table4_friedman")}
    body = [
        (f"{kind.upper()}-{operator}", given[f"{kind}_{operator}"], f"{rank:.2f}")
        for (kind, operator), rank in zip(SEARCHES, ranked.ranks, strict=True)
    ]
    body.sort(key=lambda line: -float(line[1]))
    p = (
        "no search differs from another on any table"
        if ranked.p is None
        else f"probability of no difference {ranked.p:.3g}"
    )
    words = f"{len(values)} tables measured, 38 in the paper; {p}. High ranks are good. {OTHER_TABLES}"
    header = ("search", "mean rank, published", "mean rank, measured")
    chart = bars(
        "Friedman's mean ranks of the searches",
        [line[0] for line in body],
        {"published": [float(line[1]) for line in body], "measured": [float(line[2]) for line in body]},
        "mean rank",
    )
    return Section("smith-table-4", "Smith Table IV: Friedman's ranks of the searches", header, body, words, chart)


def _wilcoxon(rows: Sequence[Row]) -> Section | None:
    """Genetic algorithm against local search, operator by operator."""
    values = _matrix(rows)
    if len(values) < 2:
        return None
    confidence = {"swap": "99.9 %", "insert": "97.6 %", "invert": "over 99.9 %"}
    body = []
    for place, operator in enumerate(confidence):
        local, genetic = values[:, place], values[:, place + 3]
        better, worse = int((genetic > local).sum()), int((genetic < local).sum())
        body.append((operator, confidence[operator], _confidence(wilcoxon_p(genetic, local)), str(better), str(worse)))
    header = ("mutation", "GA better, published", "they differ, measured", "tables GA better", "tables LS better")
    words = f"Wilcoxon's signed ranks over {len(values)} tables, two-sided. {OTHER_TABLES}"
    return Section("smith-wilcoxon", "Smith section IV: genetic algorithm against local search", header, body, words)


def _confidence(p: float | None) -> str:
    return "equal on all" if p is None else f"{100 * (1 - p):.1f} %"


def _items(rows: Sequence[Row]) -> Section | None:
    """GA-one-P, GA-one-K and GA-group-K: how often best, ranks of cost, pairwise tests."""
    costs = [per_table(row for row in rows if (row.method, row.variant) == ("ordering-ga", v)) for v in ITEMS]
    tables = sorted(set.intersection(*(set(one) for one in costs)))
    if len(tables) < 2:
        return None
    values = np.array([[one[table] for one in costs] for table in tables])
    ranked = friedman(values)
    best = (values == values.min(axis=1, keepdims=True)).sum(axis=0)
    evaluations = [
        average(per_table([r for r in rows if (r.method, r.variant) == ("ordering-ga", v)], "evaluations").values())
        for v in ITEMS
    ]
    theirs = {"one-p": "7 of 38", "one-k": "12 of 38", "group-k": "22 of 38"}
    body = [
        (ITEMS[v], theirs[v], f"{best[i]} of {len(tables)}", f"{ranked.ranks[i]:.2f}", figure(evaluations[i]))
        for i, v in enumerate(ITEMS)
    ]
    pairs = [
        f"{ITEMS[b]} and {ITEMS[a]} differ: {_confidence(wilcoxon_p(values[:, j], values[:, i]))} (published {known})"
        for (i, a), (j, b), known in (
            ((0, "one-p"), (1, "one-k"), "98.2 %"),
            ((0, "one-p"), (2, "group-k"), "96.8 %"),
            ((1, "one-k"), (2, "group-k"), "no difference"),
        )
    ]
    header = ("algorithm", "best or equal, published", "best or equal, measured", "mean rank of cost", "evaluations")
    words = f"Wilcoxon's signed ranks: {'; '.join(pairs)}. {OTHER_TABLES}"
    return Section("smith-items", "Smith section V: what is ordered", header, body, words)


def _table5(rows: Sequence[Row]) -> Section | None:
    """Costs of the algorithms, a line for each class."""
    given = published("smith_table5_costs")
    body = []
    for size, sensitive, zeros in CLASSES:
        experiment = f"{size} {sensitive} {zeros}"
        theirs = [row for row in given if experiment_of(row) == experiment]
        mine = [row for row in rows if row.experiment == experiment]
        if not rows_of(mine, experiment, "hypercube"):
            continue
        bounds = best_bounds(mine)
        entries = []
        for column, (method, variant) in COLUMNS.items():
            its = rows_of(mine, experiment, method, variant)
            known = [float(row[column]) for row in theirs if row.get(column)]
            if column != "circuits":
                entries.append(f"{fmean(known):,.0f} ({len(known)})" if known else "none")
            found = summary(its)
            entries.append("–" if found is None else f"{found.average:,.0f} ({found.count})")
        tight = [row for row in mine if row.method in ("exact", "circuits")]
        gap = average(gaps([row for row in tight if row.method == "circuits"], bounds).values())
        body.append((experiment, *entries, proven([row for row in tight if row.method == "exact"]), percent(gap, 2)))
    if not body:
        return None
    names = [("circuits (ours)",) if c == "circuits" else (f"{c}, published", f"{c}, measured") for c in COLUMNS]
    header = (
        "size, sensitive, zeros",
        *(name for pair in names for name in pair),
        "optimal proven",
        "gap of circuits",
    )
    words = (
        f"{OTHER_TABLES} Average cost (number of tables protected). Published averages are over the tables that the "
        "algorithm protected, anomalies of tau-ARGUS included, so that a smaller one may stand for easier tables. "
        "Values of our tables are in tenths of a contribution, the paper's unit is not given: compare along a line."
    )
    return Section("smith-table-5", "Smith Table V: costs by algorithm", header, body, words)


def _table6(rows: Sequence[Row]) -> Section | None:
    """How many tables each algorithm protected; Network and what was never measured is left out."""
    given = {row["algorithm"]: row for row in published("smith_table6_protected")}
    body = []
    for column, (method, variant) in COLUMNS.items():
        entries = []
        for size in ("200x5", "200x50", "4000x10"):
            its = [
                row
                for row in rows
                if (row.method, row.variant) == (method, variant) and row.experiment.startswith(f"{size} ")
            ]
            safe = [row for row in its if row.safe and (column != "optimal" or row.optimal)]
            known = given.get(column)
            entries += [f"{known[size]} of 10" if known else "–", f"{len(safe)} of {len(its)}" if its else "–"]
        body.append((column, *entries))
    if all(entry == "–" for line in body for entry in line[2::2]):
        return None
    header = (
        "algorithm",
        *(f"{size}, {who}" for size in ("200x5", "200x50", "4000x10") for who in ("published", "measured")),
    )
    words = (
        f"{OTHER_TABLES} Every measured pattern was audited exactly; `optimal` counts proven optima within the time "
        "allowed. tau-ARGUS's Network method, which protected none, has no counterpart here."
    )
    return Section("smith-table-6", "Smith Table VI: tables protected", header, body, words)


def _table7(rows: Sequence[Row]) -> Section | None:
    """The large tables: primaries and Ku."""
    body = []
    for row in published("smith_tables7_8_large"):
        for mine in _large(rows, row, "ku"):
            body.append(
                (
                    _shape(row),
                    figure(mine.cells),
                    f"{int(row['sensitive_cells']):,}",
                    figure(mine.sensitive),
                    f"{int(row['ku']):,}",
                    figure(mine.detail("items")),
                )
            )
    if not body:
        return None
    header = ("shape", "cells", "primaries, published", "primaries, measured", "Ku, published", "Ku, measured")
    words = f"{OTHER_TABLES} Ku: primaries that unpicking exposes. H marks the hierarchical dimension."
    return Section("smith-table-7", "Smith Table VII: primaries and Ku of the large tables", header, body, words)


def _shape(row: dict[str, str]) -> str:
    sizes = row["dimensions"].split("x")
    if row["hierarchical_dimension"]:
        sizes[int(row["hierarchical_dimension"]) - 1] += "H"
    return "x".join(sizes)


def _large(rows: Sequence[Row], row: dict[str, str], variant: str) -> list[Row]:
    table = f"smith3d:{row['dimensions']}:"
    return [r for r in rows if r.table.startswith(table) and r.variant == variant]


def _table8(rows: Sequence[Row]) -> Section | None:
    """Evaluations and improvement on the large tables."""
    body, groups = [], []
    series: dict[str, list[float | None]] = {"published, per hour": [], "measured, per CPU hour": []}
    for row in published("smith_tables7_8_large"):
        for mine, start in zip(_large(rows, row, "ku"), _large(rows, row, BY_WEIGHT), strict=False):
            gain = None if mine.cost is None or not start.cost else 1 - mine.cost / start.cost
            rate = 3600 * (mine.evaluations or 0) / mine.cpu_seconds
            verdict = "no pattern in time" if mine.fault else f"{mine.audited:,} {'safe' if mine.safe else 'UNSAFE'}"
            body.append(
                (
                    _shape(row),
                    row["fitness_calls_in_24h"],
                    figure(mine.evaluations),
                    f"{int(row['fitness_calls_in_24h']) / 24:.1f}",
                    figure(rate),
                    f"{float(row['improvement_percent']):.2f} %",
                    percent(gain, 2),
                    seconds(mine.cpu_seconds),
                    seconds(mine.audit_cpu_seconds),
                    verdict,
                )
            )
            groups.append(row["dimensions"])
            series["published, per hour"].append(int(row["fitness_calls_in_24h"]) / 24)
            series["measured, per CPU hour"].append(rate)
    if not body:
        return None
    header = (
        "shape",
        "evaluations in 24 h, published",
        "evaluations, measured",
        "per hour, published",
        "per CPU hour, measured",
        "improvement, published",
        "improvement, measured",
        "CPU s",
        "CPU s, audit",
        "audited",
    )
    words = (
        f"{OTHER_TABLES} The paper's improvement is that of its surrogate cost, ours that of the finished, audited "
        "pattern over the one of the order by weight; a negative figure says that a better surrogate gave a dearer "
        "pattern."
    )
    chart = bars("Evaluations of an ordering per hour", groups, series, "per hour", log=True)
    return Section("smith-table-8", "Smith Table VIII: evaluations and improvement", header, body, words, chart)
