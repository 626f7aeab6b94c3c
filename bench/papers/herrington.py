"""Herrington 2015: HeurGene against HyperCube and GenSup, and its selection and replacement strategies.

Tables 2 to 20 of the dissertation, on ten random tables per size. HyperCube here goes through the sensitive cells in
one order, the largest level first, so that it is run once; GenSup gets Herrington's limits, 1,000 generations or 100
without improvement.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.charts import bars
from bench.papers.extent import (
    STATISTICS,
    Extent,
    average,
    best_bounds,
    counted,
    gaps,
    per_table,
    proven,
    rows_of,
    statistic,
    summary,
)
from bench.runs import Row, Run
from bench.sections import OTHER_TABLES, Section, figure, percent, seconds
from bench.tables import published

NAME = "herrington"
CITATION = (
    "H. B. Herrington, A Heuristic Evolutionary Method for the Complementary Cell Suppression Problem, "
    "dissertation, Nova Southeastern University, 2015"
)
SIZES = (
    ("100x100", "0.5", 5, 6),
    ("100x100", "1", 7, 8),
    ("100x100", "3", 9, 10),
    ("400x250", "0.25", 11, 12),
    ("400x250", "0.5", 13, 14),
    ("400x250", "1", 15, 16),
    ("400x250", "3", 17, 18),
)
"""Shape, per cent sensitive, the dissertation's table of costs and that of CPU times."""

STRATEGIES = {
    "roulette_kill": ("roulette", "kill"),
    "roulette_similar": ("roulette", "similar"),
    "tournament_kill": ("tournament", "kill"),
    "tournament_similar": ("tournament", "similar"),
    "elite_elite": ("elite", "elite"),
    "probabilistic": (None, None),
}
METHODS = {
    "hypercube": "HyperCube",
    "gensup": "GenSup",
    "heurgene": "HeurGene",
    "shortest-path": "shortest path",
    "circuits": "circuits",
    "exact": "exact",
}
PAPERS = ("hypercube", "gensup", "heurgene")
RANDOMISED = {"gensup", "heurgene"}
GENSUP_LIMITS = {"generations": 1000, "patience": 100}
GENSUP_SECONDS = 10.0
"""CPU seconds of GenSup on 100,000 cells where not everything is run."""
QUICK_SIZES = {("100x100", "0.5"), ("100x100", "1"), ("100x100", "3"), ("400x250", "3")}
EXPECTED = {"hypercube": 0.1, "shortest-path": 0.1, "heurgene": 2.0, "gensup": 10.0}


def runs(extent: Extent) -> list[Run]:
    """Every run, table by table, so that what is finished is spread evenly over sizes and methods."""
    listed: list[Run] = []
    for number in range(1, extent.tables + 1):
        for shape, share, _, _ in SIZES:
            large = shape == "400x250"
            if extent.quick and (shape, share) not in QUICK_SIZES:
                continue
            if number > extent.pick(1 if large else extent.tables, 1 if large else 2, extent.tables):
                continue
            listed += _of_table(shape, share, number, extent, large)
    return listed


def _of_table(shape: str, share: str, number: int, extent: Extent, large: bool) -> list[Run]:
    table, experiment = f"herrington:{shape}:{share}%:{number}", f"{shape} {share}%"
    repeats = 1 if large else extent.repeats
    limit = extent.seconds * (2 if large and not extent.quick else 1)
    limits = {"circuits": limit, "exact": limit}
    if large and not extent.full:
        limits["gensup"] = GENSUP_SECONDS  # minutes each otherwise
    listed = []
    for method in METHODS:
        if extent.quick and large and method == "gensup":
            continue
        for seed in range(1, (repeats if method in RANDOMISED else 1) + 1):
            listed.append(
                Run(
                    NAME,
                    experiment,
                    table,
                    method,
                    seed=seed,
                    seconds=limits.get(method),
                    options=GENSUP_LIMITS if method == "gensup" else {},
                    expected=EXPECTED.get(method, limit) * (15 if large and method in EXPECTED else 1),
                )
            )
    if not large and (extent.full or (number == 1 and not (extent.quick and share != "1"))):
        listed += _strategies(experiment, table)
    return listed


def _strategies(experiment: str, table: str) -> list[Run]:
    """The pairs of selection and replacement, once each; the probabilistic portfolio is HeurGene itself."""
    listed = []
    for name, (selection, replacement) in STRATEGIES.items():
        if selection is not None:
            options = {"selection": selection, "replacement": replacement}
            listed.append(Run(NAME, experiment, table, "heurgene", name, options=options, expected=2.0))
    return listed


def sections(rows: Sequence[Row]) -> list[Section]:
    """Tables 2 to 20 with what was measured."""
    listed = [
        *(_strategy_table(rows, *size) for size in zip((2, 3, 4), ("0.5", "1", "3"), strict=True)),
        *(table for size in SIZES for table in (_costs(rows, *size[:3]), _times(rows, size[0], size[1], size[3]))),
        _ratios(rows, 19, "100x100"),
        _ratios(rows, 20, "400x250"),
        _overview(rows),
    ]
    return [section for section in listed if section is not None]


def _published(name: str, shape: str, share: str) -> dict[str, dict[str, str]]:
    """The published figures of one size, by statistic."""
    sizes = shape.split("x")
    return {
        row.get("statistic", "ratio"): row
        for row in published(f"herrington_{name}")
        if [row["rows"], row["cols"], row["sensitive_percent"]] == [*sizes, share]
    }


def _number(text: str | None) -> float | None:
    return float(text) if text else None


def _strategy_table(rows: Sequence[Row], number: int, share: str) -> Section | None:
    """Tables 2, 3, 4: costs of HeurGene under each pair of strategies."""
    experiment, given = f"100x100 {share}%", _published("strategies", "100x100", share)
    body, measured_averages = [], []
    for name in STRATEGIES:
        mine = rows_of(rows, experiment, "heurgene", "" if name == "probabilistic" else name)
        found = summary(mine)
        measured_averages.append(statistic(found, "average"))
        figures = [f for s in STATISTICS for f in (_number(given[s][name]), statistic(found, s))]
        body.append((name.replace("_", " / "), counted(mine), *(figure(f) for f in figures)))
    if not any(measured_averages[:-1]):
        return None  # the portfolio alone is no comparison
    header = ("strategy", "tables", *(f"{s}, {who}" for s in STATISTICS for who in ("published", "measured")))
    chart = bars(
        f"Table {number}: average cost by strategy, 100x100, {share} % sensitive",
        [name.replace("_", " / ") for name in STRATEGIES],
        {"published": [float(given["average"][n]) for n in STRATEGIES], "measured": measured_averages},
        "average cost",
    )
    title = f"Herrington Table {number}: selection / replacement strategies, 100x100, {share} % sensitive"
    return Section(f"herrington-table-{number:02}", title, header, body, OTHER_TABLES, chart)


def _costs(rows: Sequence[Row], shape: str, share: str, number: int) -> Section | None:
    """Tables 5, 7, ... 17: costs, improvement over HyperCube, gap to our bound, evaluations."""
    experiment, given = f"{shape} {share}%", _published("costs", shape, share)
    mine = {method: rows_of(rows, experiment, method) for method in METHODS}
    base, bounds = summary(mine["hypercube"]), best_bounds(row for row in rows if row.experiment == experiment)
    if base is None:
        return None
    body = []
    for method, name in METHODS.items():
        found = summary(mine[method])
        if found is None:
            continue
        known = {s: _number(given[s].get(method)) for s in STATISTICS}
        figures = [f for s in STATISTICS for f in (known[s], statistic(found, s))]
        theirs = None if known["average"] is None else 1 - known["average"] / float(given["average"]["hypercube"])
        body.append(
            (
                name,
                counted(mine[method]),
                *(figure(f) for f in figures),
                percent(theirs),
                percent(_improvement(mine[method], mine["hypercube"])),
                percent(average(gaps(mine[method], bounds).values())),
                proven(mine[method]),
                figure(average(per_table(mine[method], "evaluations").values())),
            )
        )
    header = (
        "method",
        "tables",
        *(f"{s}, {who}" for s in STATISTICS for who in ("published", "measured")),
        "below HyperCube, published",
        "below HyperCube, measured",
        "gap to our bound",
        "proven optimal",
        "evaluations",
    )
    words = f"{OTHER_TABLES} Gaps are to the best lower bound that `exact` or `circuits` proved on the same table."
    title = f"Herrington Table {number}: costs, {shape}, {share} % sensitive"
    return Section(f"herrington-table-{number:02}", title, header, body, words)


def _improvement(mine: Sequence[Row], base: Sequence[Row]) -> float | None:
    """How far the average is below that of the base, over the tables that both have."""
    ours, theirs = per_table(mine), per_table(base)
    both = [t for t in ours if t in theirs]
    total = sum(theirs[t] for t in both)
    return 1 - sum(ours[t] for t in both) / total if total else None


def _times(rows: Sequence[Row], shape: str, share: str, number: int) -> Section | None:
    """Tables 6, 8, ... 18: CPU seconds."""
    experiment, given = f"{shape} {share}%", _published("cpu_seconds", shape, share)
    body = []
    for method, name in METHODS.items():
        mine = rows_of(rows, experiment, method)
        found = summary(mine, "cpu_seconds")
        if found is not None:
            figures = [f for s in STATISTICS for f in (_number(given[s].get(method)), statistic(found, s))]
            limit = {row.limit for row in mine} - {""}
            body.append((name, counted(mine), *(seconds(f) for f in figures), ", ".join(sorted(limit)) or "–"))
    if not body:
        return None
    header = (
        "method",
        "tables",
        *(f"{s}, {who}" for s in STATISTICS for who in ("published", "measured")),
        "allowed",
    )
    title = f"Herrington Table {number}: CPU seconds, {shape}, {share} % sensitive"
    words = f"{OTHER_TABLES} The published times of GenSup and HeurGene leave out the first population; ours hold it."
    return Section(f"herrington-table-{number:02}", title, header, body, words)


def _ratios(rows: Sequence[Row], number: int, shape: str) -> Section | None:
    """Tables 19, 20: cost saved against HyperCube per CPU second."""
    body = []
    for size, share, _, _ in reversed(SIZES):
        experiment = f"{size} {share}%"
        base = rows_of(rows, experiment, "hypercube")
        if size != shape or not base:
            continue
        given = _published("improvement_ratios", shape, share)["ratio"]
        entries = [f"{share} %"]
        for method in ("gensup", "heurgene", "circuits", "exact"):
            if method in given:
                entries.append(f"{float(given[method]):.4f}")
            ratio = _ratio(rows_of(rows, experiment, method), base)
            entries.append("–" if ratio is None else f"{ratio:.4f}")
        body.append(tuple(entries))
    if not body:
        return None
    header = (
        "sensitive",
        "GenSup, published",
        "GenSup, measured",
        "HeurGene, published",
        "HeurGene, measured",
        "circuits, measured",
        "exact, measured",
    )
    words = f"Average cost below HyperCube's, divided by average CPU seconds. {OTHER_TABLES}"
    title = f"Herrington Table {number}: improvement ratios, {shape}"
    return Section(f"herrington-table-{number:02}", title, header, body, words)


def _ratio(mine: Sequence[Row], base: Sequence[Row]) -> float | None:
    ours, theirs, times = per_table(mine), per_table(base), per_table(mine, "cpu_seconds")
    both = [t for t in ours if t in theirs]
    spent = sum(times[t] for t in both)
    return sum(theirs[t] - ours[t] for t in both) / spent if spent else None


def _overview(rows: Sequence[Row]) -> Section | None:
    """All sizes in one plot: costs as a share of HyperCube's."""
    series: dict[str, list[float | None]] = {}
    groups = []
    for shape, share, _, _ in SIZES:
        experiment = f"{shape} {share}%"
        base = rows_of(rows, experiment, "hypercube")
        if not base:
            continue
        groups.append(f"{shape} {share} %")
        given = _published("costs", shape, share)["average"]
        for method in ("gensup", "heurgene"):
            theirs = float(given[method]) / float(given["hypercube"])
            series.setdefault(f"{METHODS[method]}, published", []).append(100 * theirs)
            series.setdefault(f"{METHODS[method]}, measured", []).append(_relative(rows, experiment, method, base))
        for method in ("shortest-path", "circuits", "exact"):
            series.setdefault(METHODS[method], []).append(_relative(rows, experiment, method, base))
    if not groups:
        return None
    header = ("cost as per cent of HyperCube's", *groups)
    body = [(name, *(figure(value, 1) for value in values)) for name, values in series.items()]
    chart = bars("Herrington: average cost as per cent of HyperCube's", groups, series, "per cent of HyperCube")
    return Section("herrington-overview", "Herrington: all sizes at a glance", header, body, OTHER_TABLES, chart)


def _relative(rows: Sequence[Row], experiment: str, method: str, base: Sequence[Row]) -> float | None:
    saved = _improvement(rows_of(rows, experiment, method), base)
    return None if saved is None else 100 * (1 - saved)
