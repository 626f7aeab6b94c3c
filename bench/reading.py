"""What the rows say in plain sentences: where the project's methods win, where they do not, what was not measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bench.papers.as_published import LETTER
from bench.papers.extent import average, best_bounds, gaps, per_table, rows_of
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
    "the optimum."
)

AS_WORDED = " These are tables as the paper words them, which are probably not those that it measured: see below."


def class_one_reading(rows: Sequence[Row]) -> list[str]:
    """Gaps of class I as worded and with the share of sensitive cells that the paper's statements imply."""
    given = {row["method"]: row["gap_average_percent"] for row in published("gensup_gaps") if row["class"] == "I"}
    shares = {share: _gaps_of_class_one(rows, share) for share in ("0.8 %", "5 %")}
    if shares["5 %"]["shortest-path"] is None:
        return []
    said = [
        f"{name} {percent(shares['0.8 %'][method], 2)} as worded, {percent(shares['5 %'][method], 2)} at 5 %, "
        f"published {given[method.replace('-', '_')]} %"
        for method, name in _OF_CLASS_ONE.items()
    ]
    return [
        "**Class I is probably denser than its wording.** Values of 1 to 4 among 0 to 499 make 0.8 % of the cells "
        f"sensitive. Average gaps: {'; '.join(said)}. Shortest paths and the share of redundant levels fit the paper "
        "at about 5 %: wording and results seem to be of different tables. Castro's heuristic is far better here than "
        "in the paper at either share, for which we have no explanation."
    ]


_OF_CLASS_ONE = {
    "shortest-path": "shortest paths",
    "gensup": "GenSup",
    "hypercube": "hypercube",
    "castro": "Castro's heuristic",
}


def _gaps_of_class_one(rows: Sequence[Row], share: str) -> dict[str, float | None]:
    """By method, as published where that is an option."""
    mine = [row for row in rows if row.experiment.startswith(f"class I, {share} ")]
    bounds = best_bounds(mine)
    plain = ("shortest-path",)
    return {
        method: average(
            gaps(
                (r for r in mine if (r.method, r.variant) == (method, "" if method in plain else LETTER)), bounds
            ).values()
        )
        for method in _OF_CLASS_ONE
    }


def evaluator_reading(rows: Sequence[Row]) -> list[str]:
    """What Smith's genetic algorithm gains by the paper's own evaluator."""
    base = per_table(row for row in rows if row.method == "incremental")
    orders = per_table(row for row in rows if (row.method, row.variant) == ("ordering-ga", "one-p"))
    gains = [1 - cost / base[table] for table, cost in orders.items() if base.get(table)]
    if not gains:
        return []
    spread = percent(gains[0]) if len(gains) == 1 else f"{percent(min(gains))} to {percent(max(gains))}"
    number = _tables(len(gains))
    return [
        "**What an order gains depends on the evaluator.** Smith's genetic algorithm with the paper's two linear "
        f"programs per cell gains {spread} over the order by weight on {number} (published 0.6 to 26 %). Evaluated by "
        "our paths with clean-up, the order hardly matters, and costs are lower from the start."
    ]


def rectangle_reading(rows: Sequence[Row]) -> list[str]:
    """HeurGene and HyperCube as published."""
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
    if abs(value) < SAME:
        return f"the same as {name}"
    return f"{percent(abs(value), 2)} {'below' if value > 0 else 'ABOVE'} {name}"


SAME = 5e-5
"""Sums of costs that differ by less are called the same."""


def herrington_reading(rows: Sequence[Row]) -> list[str]:
    """Costs, proofs and times on Herrington's tables."""
    experiments = [f"{shape} {share}%" for shape, share, _, _ in SIZES]
    return [line for name in experiments for line in _of_size([row for row in rows if row.experiment == name], name)]


def _of_size(rows: Sequence[Row], experiment: str) -> list[str]:
    """One size of tables and share of sensitive cells; strategies of HeurGene are experiments of their own."""
    against = [_below(rows, "circuits", other) for other in ("heurgene", "gensup", "exact")]
    if against[0] is None:
        return []
    ours = rows_of(rows, experiment, "circuits")
    gap = average(gaps(ours, best_bounds(rows)).values())
    time = [average(per_table(rows_of(rows, experiment, m), "cpu_seconds").values()) for m in _TIMED]
    others = [_compared(a, n) for a, n in zip(against, ("HeurGene", "GenSup", "`exact`"), strict=True)]
    return [
        f"{experiment[:-1].replace(' ', ', ')} % sensitive ({_tables(len(per_table(ours)))}): the cost of `circuits` "
        f"is {', '.join(others)}, and {percent(gap)} above our bound. CPU seconds: `circuits` {seconds(time[0])}, "
        f"HeurGene {seconds(time[1])}, GenSup {seconds(time[2])}."
    ]


_TIMED = ("circuits", "heurgene", "gensup")


def _tables(count: int) -> str:
    return "one table" if count == 1 else f"{count} tables"


def losses(rows: Sequence[Row]) -> list[str]:
    """Where `circuits` is not the cheapest of the methods that were run."""
    said = []
    for other in ("exact", "gensup", "heurgene", "hypercube", "shortest-path", "castro", "modular", "classical-ip"):
        less, equal, more = _wins(rows, "circuits", other)
        if less + equal + more:
            said.append(f"`{other}`: cheaper on {less}, equal on {equal}, dearer on {more}")
    words = "The default, `circuits`, against our other methods and our versions of the papers', all tables together: "
    return [words + "; ".join(said) + "."] if said else []


def proofs(rows: Sequence[Row]) -> list[str]:
    """How many optima were proven, and what was not safe or needed repair."""
    said = []
    for method in ("exact", "circuits"):
        mine = [row for row in rows if row.method == method]
        if mine:
            done = sum(row.optimal for row in mine)
            failed = sum(bool(row.fault) for row in mine)
            said.append(
                f"`{method}` proved its pattern the cheapest on {done} of {len(mine)} tables"
                + (f"; on {failed} it had no pattern when its time was up" if failed else "")
                + "."
            )
    checked = [row for row in rows if row.cost is not None]
    unsafe = [row for row in checked if not row.safe]
    said.append(f"All {len(checked)} patterns were audited exactly; {len(unsafe)} of them were unsafe when they left.")
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
            f"{tool}: a pattern for {len(done)} of {len(its)} tables, of which {unsafe} are unsafe by our attacker. "
            f"Our `exact` is cheaper on {dearer}, dearer on {cheaper} and equal on {len(both) - dearer - cheaper} of "
            f"{len(both)}; {tool} took less CPU time on {faster}."
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


RIVALS = {
    "exact": "At equal time on the clock `circuits` is, beside `exact`,",
    "exact@2": "Beside `exact` with twice the time `circuits` is",
}
"""Whom `circuits` is compared with in contests, and how that is said."""


def contest_reading(rows: Sequence[dict[str, Any]]) -> list[str]:
    """`circuits` against `exact` in the same and in half the time, kind by kind: where it wins and where it loses."""
    said = []
    for rival, words in RIVALS.items():
        there = _won_and_lost(rows, rival)
        if there:
            said.append(f"{words} {'; '.join(there)}.")
    return said


def _won_and_lost(rows: Sequence[dict[str, Any]], rival: str) -> list[str]:
    """The kinds of tables on which `circuits` is cheaper than another method, the same, and dearer."""
    costs = {(row["table"], row["seconds"], row["method"]): row["cost"] for row in rows}
    kinds: dict[str, list[float]] = {}
    for (table, limit, method), cost in costs.items():
        ours = costs.get((table, limit, "circuits"))
        if method == rival and cost and ours:
            kinds.setdefault(table.rpartition("-")[0], []).append(ours / cost - 1)
    means = {f"{kind} ({_tables(len(many))})": average(many) or 0.0 for kind, many in kinds.items()}
    said = [
        f"cheaper on {', '.join(f'{kind} by {percent(-mean, 2)}' for kind, mean in means.items() if mean <= -SAME)}",
        f"the same on {', '.join(kind for kind, mean in means.items() if abs(mean) < SAME)}",
        f"DEARER on {', '.join(f'{kind} by {percent(mean, 2)}' for kind, mean in means.items() if mean >= SAME)}",
    ]
    return [words for words in said if not words.endswith(" on ")]


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
                + (AS_WORDED if kind == "I" else "")
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
                f"{size} with {percent(float(sensitive), 0)} sensitive and {percent(float(zeros), 0)} zeros: GA-invert "
                f"{percent(average(searched.values()), 1)} (published {percent(theirs, 1)}), "
                f"`circuits` {percent(average(ours.values()), 1)}"
            )
    words = "Below the incremental attacker by weight, as published (`incremental`, value weights): "
    return [words + "; ".join(lines) + "."] if lines else []


def _against_group_k(rows: Sequence[Row]) -> float | None:
    ours = per_table(row for row in rows if row.method == "circuits")
    theirs = per_table(row for row in rows if (row.method, row.variant) == ("ordering-ga", "group-k"))
    saved = [1 - ours[table] / theirs[table] for table in ours if theirs.get(table)]
    return average(saved)


def serpell_reading(rows: Sequence[Row]) -> list[str]:
    """The paper's two integer programs, and ours beside them."""
    classical, modified, ours = (rows_by(rows, m) for m in ("classical-ip", "modified-ip", "exact"))
    known = {f"table {row['table']}": row for row in published("serpell_tables3_4")}
    both = [t for t in classical if t in modified and t in known and classical[t].cpu_seconds > 0]
    if not both:
        return []
    saved = average(1 - modified[t].cpu_seconds / classical[t].cpu_seconds for t in both)
    theirs = average(1 - float(known[t]["modified_cpu"]) / float(known[t]["classical_cpu"]) for t in both)
    return [
        f"The modified integer program takes {percent(saved)} less CPU time than the classical one, averaged over "
        f"{_tables(len(both))} (published {percent(theirs)}).",
        *_modified_left(rows),
        *_beside_classical(classical, ours),
    ]


def rows_by(rows: Sequence[Row], method: str) -> dict[str, Row]:
    """The rows of a method that has one for each experiment."""
    return {row.experiment: row for row in rows if row.method == method and row.cost is not None}


def _modified_left(rows: Sequence[Row]) -> list[str]:
    modified = [row for row in rows if row.method == "modified-ip" and not row.fault]
    left = sum(bool(row.repaired) for row in modified)
    if not left:
        return []
    return [
        f"It left primaries exposed in {left} of {len(modified)} tables, which the audit found and repaired: the "
        "conjecture behind it, that the other primaries need no constraints, is false."
    ]


def _beside_classical(classical: dict[str, Row], ours: dict[str, Row]) -> list[str]:
    both = [(ours[t], classical[t]) for t in ours if t in classical]
    if not both:
        return []
    above = [(one.cost or 0.0) / (other.cost or 1.0) - 1 for one, other in both]
    dearer = [one for one in above if one > 0]
    faster = sum(one.cpu_seconds < other.cpu_seconds for one, other in both)
    return [
        f"`exact` beside the classical program, both within their limits: the same cost or less on "
        f"{len(both) - len(dearer)} of {len(both)} tables, dearer on {len(dearer)}"
        + (f" (by {percent(max(dearer), 2)} at most)" if dearer else "")
        + f", with less CPU time on {faster}."
    ]


def microdata_reading(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The searches over recodings, and what the weight of a recoding decides."""
    said = []
    for persons in sorted({row["persons"] for row in rows}):
        mine = [row for row in rows if row["persons"] == persons]
        said += [*_searches(mine, persons), *_weights(mine, persons)]
    return said


def _searches(rows: Sequence[dict[str, Any]], persons: int) -> list[str]:
    searched = [row for row in rows if row.get("cost") is not None and row["weight"] == USUAL_WEIGHT]
    if len(searched) < 2:
        return []
    least = min(row["cost"] for row in searched)
    reached = [row["search"] for row in searched if row["cost"] <= least * (1 + SAME)]
    missed = [
        f"{r['search']} ({percent(r['cost'] / least - 1, 2)} dearer)" for r in searched if r["search"] not in reached
    ]
    times = ", ".join(f"{row['search']} {seconds(row['cpu_seconds'])}" for row in searched)
    gap = min((row["gap"] for row in searched if row["gap"] is not None), default=None)
    return [
        f"{persons:,} persons: the cheapest recoding of all searches is found by {', '.join(reached)}"
        + (f"; not by {', '.join(missed)}" if missed else "")
        + f"; it is {percent(gap)} above the best bound. CPU seconds: {times}. The paper gives no figures: it "
        "recommends iterative improvement at the screen, tabu search off line, and calls annealing costly."
    ]


USUAL_WEIGHT = 0.1
"""The default of --recode-weight, with which searches are compared."""


def _weights(rows: Sequence[dict[str, Any]], persons: int) -> list[str]:
    by_weight = {row["weight"]: row for row in rows if row["search"] == "tabu"}
    if len(by_weight) < 2:
        return []
    said = [
        f"weight {weight:g}{' (the default)' if weight == USUAL_WEIGHT else ''}: {len(row['recodings']) or 'no'} "
        f"field{'' if len(row['recodings']) == 1 else 's'} recoded, {percent(row['suppressed'] / row['scores'])} of "
        "the scores suppressed"
        for weight, row in sorted(by_weight.items(), reverse=True)
    ]
    return [f"{persons:,} persons, by what a bit lost by recoding weighs beside suppression: {'; '.join(said)}."]
