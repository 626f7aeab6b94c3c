"""What the rows say in plain sentences: where the project's methods win, where they do not, what was not measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bench.papers.as_published import LETTER
from bench.papers.extent import average, best_bounds, gaps, per_table
from bench.papers.herrington import SIZES
from bench.papers.smith import CLASSES, PLAIN, experiment_of, improvements
from bench.runs import Row
from bench.sections import percent, seconds
from bench.tables import published

NEVER_MEASURED = (
    "No GPU figure: no machine with a GPU was at hand. The CUDA kernels are checked by executing their PTX on the CPU, "
    "which says nothing about speed; rows of the throughput benchmark for CUDA say `no device`.",
    "The papers' own random tables were never published, only their generators: every comparison of costs across "
    "papers is one of proportions. Serpell's 6 by 6 example is the one table that is the same.",
    "Herrington's Tables 2 to 20 are all recomputed; the column `tables` says how many tables stand behind a line. Its "
    "Table 1 lists the data sets and has no results.",
    "GenSup: the sizes of the paper's 15 sets per class are not given (ours are spread over their range), and its "
    "lower bound (the linear relaxation of a binary model in an unpublished working paper) could not be rebuilt; gaps "
    "are to our own bound.",
    "Smith Table III: the eight tables of a statistics office and of tau-ARGUS are left out; searches got seconds "
    "where the paper gave hours. Table II lists the generator's settings and has no results.",
    "Serpell: SAS/OR is replaced by HiGHS, so that CPU times compare solvers and twenty years of hardware as well.",
    "R's sdcTable and GaussSuppression ran only where the table of peers has their lines: Debian 12 has R, but no "
    "package of either. tau-ARGUS's hypercube and network methods are not part of `pytauargus`.",
)


NOT_REACHED = (
    " Our GenSup does not reach the published gap here, although the published one is to a bound that cannot be above "
    "the optimum: the paper's program repairs better than ours, or its tables are easier."
)


def published_reading(rows: Sequence[Row]) -> list[str]:
    """What the papers' algorithms to the letter say: class I, Smith's evaluator, Herrington's proportions."""
    return [*_class_one(rows), *_orders(rows), *_rectangles(rows)]


def _class_one(rows: Sequence[Row]) -> list[str]:
    shares = {}
    for share in ("0.8 %", "5 %"):
        mine = [row for row in rows if row.experiment.startswith(f"class I, {share} ")]
        found = gaps([row for row in mine if row.method == "shortest-path"], best_bounds(mine))
        shares[share] = average(found.values())
    if shares["5 %"] is None:
        return []
    return [
        f"Almeida's class I: the gap of shortest paths is {percent(shares['0.8 %'], 2)} on tables as worded (0.8 % "
        f"sensitive) and {percent(shares['5 %'], 2)} at 5 %, published 3.67 %. The share of redundant levels, and "
        "tables without need of suppressions, also speak for about 5 %: wording and results are of different tables."
    ]


def _orders(rows: Sequence[Row]) -> list[str]:
    base = per_table(row for row in rows if row.method == "incremental")
    orders = per_table(row for row in rows if (row.method, row.variant) == ("ordering-ga", "one-p"))
    gains = [1 - cost / base[table] for table, cost in orders.items() if base.get(table)]
    if not gains:
        return []
    spread = percent(gains[0]) if len(gains) == 1 else f"{percent(min(gains))} to {percent(max(gains))}"
    number = "one table" if len(gains) == 1 else f"{len(gains)} tables"
    return [
        f"Smith's genetic algorithm with its own evaluator gains {spread} over the order by weight on {number} "
        f"(published 0.6 to 26 %). By our paths and clean-up the order "
        "hardly matters, and costs are lower from the start."
    ]


def _rectangles(rows: Sequence[Row]) -> list[str]:
    start = per_table(row for row in rows if (row.method, row.variant) == ("hypercube", LETTER))
    made = per_table(row for row in rows if (row.method, row.variant) == ("heurgene", LETTER))
    both = [table for table in made if table in start]
    if not both:
        return []
    below = 1 - sum(made[t] for t in both) / sum(start[t] for t in both)
    return [
        f"HeurGene as published is {percent(below)} below HyperCube as published on {len(both)} tables of 100x100 "
        "(published 5.6, 11.9 and 10.9 % at 0.5, 1 and 3 % sensitive)."
    ]


def _wins(rows: Iterable[Row], method: str, other: str) -> tuple[int, int, int]:
    """On how many tables the method is cheaper, equal, dearer than another one (averages over seeds)."""
    listed = [row for row in rows if not row.variant]
    ours = per_table(row for row in listed if row.method == method)
    theirs = per_table(row for row in listed if row.method == other)
    both = [table for table in ours if table in theirs]
    less = sum(ours[t] < theirs[t] - 1e-9 for t in both)
    more = sum(ours[t] > theirs[t] + 1e-9 for t in both)
    return less, len(both) - less - more, more


def _below(rows: Sequence[Row], method: str, other: str) -> float | None:
    """How far the sum of costs is below that of another method, over the tables that both have."""
    listed = [row for row in rows if not row.variant]
    ours = per_table(row for row in listed if row.method == method)
    theirs = per_table(row for row in listed if row.method == other)
    total = sum(theirs[t] for t in ours if t in theirs)
    return 1 - sum(ours[t] for t in ours if t in theirs) / total if total else None


def _compared(value: float | None, name: str) -> str:
    """How a cost stands to that of another method."""
    if value is None:
        return f"not compared with {name}"
    return f"{percent(abs(value), 2)} {'below' if value >= 0 else 'ABOVE'} {name}"


def herrington_reading(rows: Sequence[Row]) -> list[str]:
    """Costs, proofs and times on Herrington's tables."""
    said = []
    for shape in ("100x100", "400x250"):
        for _, share, _, _ in (size for size in SIZES if size[0] == shape):
            mine = [row for row in rows if row.experiment == f"{shape} {share}%"]
            against = [_below(mine, "circuits", other) for other in ("heurgene", "gensup", "exact")]
            if against[0] is None:
                continue
            bounds = best_bounds(mine)
            gap = average(gaps([r for r in mine if r.method == "circuits"], bounds).values())
            time = [average(per_table((r for r in mine if r.method == m), "cpu_seconds").values()) for m in _TIMED]
            others = [_compared(a, n) for a, n in zip(against, ("HeurGene", "GenSup", "`exact`"), strict=True)]
            said.append(
                f"Herrington {shape}, {share} % sensitive: the cost of `circuits` is {', '.join(others)}, and "
                f"{percent(gap)} "
                f"above our bound. CPU seconds: circuits {seconds(time[0])}, HeurGene {seconds(time[1])}, GenSup "
                f"{seconds(time[2])}."
            )
    return said


_TIMED = ("circuits", "heurgene", "gensup")


def losses(rows: Sequence[Row]) -> list[str]:
    """Where `circuits` is not the cheapest of the methods that were run."""
    said = []
    for other in ("exact", "gensup", "heurgene", "hypercube", "shortest-path", "castro", "modular"):
        less, equal, more = _wins(rows, "circuits", other)
        if less + equal + more:
            said.append(f"{other}: cheaper on {less}, equal on {equal}, dearer on {more}")
    return [f"`circuits` against the others, tables of all papers together: {'; '.join(said)}."] if said else []


def proofs(rows: Sequence[Row]) -> list[str]:
    """How many optima were proven, and what was not safe or needed repair."""
    said = []
    for method in ("exact", "circuits"):
        mine = [row for row in rows if row.method == method]
        if mine:
            done = sum(row.optimal for row in mine)
            failed = sum(bool(row.fault) for row in mine)
            said.append(
                f"`{method}` proved the optimum of {done} of {len(mine)} tables"
                + (f"; on {failed} it had no pattern when its time was up" if failed else "")
                + "."
            )
    checked = [row for row in rows if row.cost is not None]
    unsafe = [row for row in checked if not row.safe]
    said.append(f"All {len(checked)} patterns were audited exactly; {len(unsafe)} of them were unsafe when they left.")
    modified = [row for row in rows if row.method == "modified-ip" and not row.fault]
    if modified:
        left = [row for row in modified if row.repaired]
        said.append(
            f"The modified integer program left primaries exposed in {len(left)} of {len(modified)} tables; the "
            "audit "
            "found and repaired them. The conjecture behind it is false."
        )
    return said


def peers_reading(peers: dict[str, Any]) -> list[str]:
    """Safety, cost and speed next to other tools."""
    results: list[dict[str, Any]] = peers.get("results", [])
    said = []
    for tool in sorted({r["tool"] for r in results if not r["tool"].startswith("gpuga")}):
        its = {r["table"]: r for r in results if r["tool"] == tool}
        done = [r for r in its.values() if r["cost"] is not None]
        unsafe = sum(not r["safe"] for r in done)
        exact = {r["table"]: r for r in results if r["tool"] == "gpuga exact" and r["cost"] is not None}
        both = [(r, exact[r["table"]]) for r in done if r["table"] in exact]
        dearer = sum(r["cost"] > e["cost"] for r, e in both)
        cheaper = sum(r["cost"] < e["cost"] for r, e in both)
        faster = sum(r["cpu_seconds"] < e["cpu_seconds"] for r, e in both)
        said.append(
            f"{tool}: a pattern for {len(done)} of {len(its)} tables, {unsafe} of them unsafe by our attacker; "
            "against our "
            f"`exact` dearer on {dearer}, cheaper on {cheaper}, with less CPU time on {faster} of {len(both)}."
        )
    said += [f"{peer} was not run: {why}." for peer, why in peers.get("missing", {}).items()]
    return said


def exposure_reading(rows: Sequence[Row]) -> list[str]:
    """How often Smith's two sets of exposed primaries are the same, by kind of table."""
    measured = [row for row in rows if row.method == "exposure" and row.detail("primaries")]
    said = []
    for name, kind in (("two-way", ("square", "plane 0")), ("two-way hierarchical", ("plane 1",)),
                       ("three-way", ("cube 0",)), ("three-way hierarchical", ("cube 2",))):  # fmt: skip
        mine = [row for row in measured if row.experiment.startswith(kind)]
        if mine:
            same = sum(row.detail("K") == row.detail("Ku") for row in mine)
            said.append(f"{same} of {len(mine)} {name} tables")
    return [f"K = Ku (Smith: about 99 % of tables) in {', '.join(said)}."] if said else []


def contest_reading(rows: Sequence[dict[str, Any]]) -> list[str]:
    """`exact` against `circuits` at equal time, kind by kind."""
    kinds: dict[str, list[float]] = {}
    costs = {(row["table"], row["method"]): row["cost"] for row in rows}
    for (table, method), cost in costs.items():
        ours = costs.get((table, "circuits"))
        if method == "exact" and cost is not None and ours:
            kinds.setdefault(table.rpartition("-")[0], []).append(cost / ours - 1)
    said = [f"{kind} {100 * (average(many) or 0.0):+.2f} % ({len(many)})" for kind, many in kinds.items()]
    words = "At equal time on the clock, cost of `exact` against `circuits` (tables in brackets): "
    return [words + "; ".join(said) + "."] if said else []


def gensup_reading(rows: Sequence[Row]) -> list[str]:
    """Average gaps of class I and II, ours and the published ones."""
    said = []
    given = {(row["class"], row["method"]): row["gap_average_percent"] for row in published("gensup_gaps")}
    for kind in ("I", "II"):
        mine = [row for row in rows if row.experiment.startswith(f"class {kind} ")]
        bounds = best_bounds(mine)
        found = {
            m: average(gaps((r for r in mine if r.method == m), bounds).values())
            for m in ("shortest-path", "gensup", "circuits", "exact")
        }
        if found["gensup"] is not None:
            said.append(
                f"Class {kind}: average gap of shortest paths {percent(found['shortest-path'], 2)} (published "
                f"{given[kind, 'shortest_path']} %), of our GenSup {percent(found['gensup'], 2)} (published "
                f"{given[kind, 'gensup']} %), of `circuits` {percent(found['circuits'], 2)}, of `exact` "
                f"{percent(found['exact'], 2)}."
                + (NOT_REACHED if found["gensup"] > float(given[kind, "gensup"]) / 100 else "")
            )
    return said


def smith_reading(rows: Sequence[Row]) -> list[str]:
    """What searches over orderings gain, and how fast orderings of large tables are evaluated."""
    said = []
    gains = improvements(rows, "ordering-ga", "group-k")
    small = {table: gain for table, gain in gains.items() if table.startswith("smith2d")}
    if small:
        better = sum(gain > 0 for gain in small.values())
        said.append(
            f"Smith's two-way tables: GA-group-K improves on the order by weight in {better} of {len(small)} tables, "
            "by "
            f"{percent(average(small.values()), 2)} on average; `circuits` costs "
            f"{percent(_against_group_k(rows), 1)} less than GA-group-K. Ordering alone is not worth much once "
            "redundant cells are removed."
        )
        said += _against_plain(rows)
    large = [row for row in rows if row.experiment == "large" and row.variant == "ku" and not row.fault]
    if large:
        calls = {r["dimensions"]: int(r["fitness_calls_in_24h"]) for r in published("smith_tables7_8_large")}
        factors = [3600 * (r.evaluations or 0) / r.cpu_seconds / (calls[r.table.split(":")[1]] / 24) for r in large]
        said.append(
            f"Smith's large tables: orderings are evaluated {min(factors):,.0f} to {max(factors):,.0f} times as often "
            "per CPU hour as published (boxes instead of linear programs); "
            f"{sum(r.safe for r in large)} of {len(large)} patterns passed the audit of every primary."
        )
    return said


def _against_plain(rows: Sequence[Row]) -> list[str]:
    """How far searches and proven optima are below the paper's start, and what no pattern can gain."""
    lines = []
    for size, sensitive, zeros in CLASSES:
        experiment = f"{size} {sensitive} {zeros}"
        searched = improvements(rows, "ordering-ga", "one-p:invert", experiment, PLAIN)
        ours = improvements(rows, "circuits", "", experiment, PLAIN)
        if searched and ours:
            known = [r for r in published("smith_table3_improvement_percent") if experiment_of(r) == experiment]
            theirs = average(float(r["ga_invert"]) / 100 for r in known)
            lines.append(
                f"{experiment}: GA-invert {percent(average(searched.values()), 1)} (published {percent(theirs, 1)}), "
                f"`circuits` {percent(average(ours.values()), 1)}"
            )
    words = "Below the incremental attacker by weight, as published (`incremental`, value weights): "
    return [words + "; ".join(lines) + "."] if lines else []


def _against_group_k(rows: Sequence[Row]) -> float | None:
    ours = per_table(row for row in rows if row.method == "circuits")
    theirs = per_table(row for row in rows if (row.method, row.variant) == ("ordering-ga", "group-k"))
    saved = [1 - ours[table] / theirs[table] for table in ours if theirs.get(table)]
    return average(saved)
