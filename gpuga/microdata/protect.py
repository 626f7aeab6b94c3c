"""Protecting a microdata file: the walk from records to a file without rare combinations, and its account.

records -> codes -> keys, rules, costs -> search over recodings -> local suppression -> re-count -> file
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.context import Clock
from gpuga.errors import GpugaError, InputError, printable
from gpuga.files.atomic import check_writable
from gpuga.files.hrc import read_hierarchy
from gpuga.kernels import Backend, get_backend
from gpuga.kernels.backend import BackendUnavailable
from gpuga.microdata.costs import Costs, entropy_costs, linear_costs
from gpuga.microdata.keys import Keys, make_keys
from gpuga.microdata.problem import Problem, Recoding
from gpuga.microdata.recoding import RecodingRule, Uncovered, field_rules
from gpuga.microdata.records import Records, is_parquet, quoted
from gpuga.microdata.recount import recount, recount_as_known
from gpuga.microdata.relaxed import RecodingBound
from gpuga.microdata.search import SEARCHES, Evaluator
from gpuga.microdata.suppression import Suppressed, suppress
from gpuga.microdata.unsafe import minucs, unsafe_words
from gpuga.table.grid import dimension_from_parents
from gpuga.table.table import Dimension

Codes = NDArray[np.int32]

FINALISTS = 3
"""How many of the best recodings are suppressed to the end."""
WORK = 2_500_000_000
"""Records times keys that a search looks at, unless it is told how many recodings to evaluate."""
WAS_MISSING = -2
"""In the codes that are written: the score was missing from the start and stays as it was."""


@dataclass(frozen=True)
class Wish:
    """What the user asks for; fields are column names."""

    fields: tuple[str, ...]
    dimension: int = 3
    threshold: int | Mapping[int, int] = 3
    keys: tuple[tuple[tuple[str, ...], int], ...] = ()
    recode: Mapping[str, str] = field(default_factory=dict)
    cost: str = "entropy"
    suppress_cost: Mapping[str, float] = field(default_factory=dict)
    recode_cost: Mapping[str, Sequence[float]] = field(default_factory=dict)
    caps: Mapping[str, int] = field(default_factory=dict)
    search: str = "tabu"
    missing: str = "missing"
    missing_matches: str = "nothing"
    seed: int = 0
    evaluations: int | None = None
    seconds: float | None = None
    exact: bool = True
    backend: str = "auto"
    delimiter: str = ","


@dataclass(frozen=True, eq=False)
class MicrodataProtection:
    """A protected file: its problem, recoding, suppressions, the re-count's finding and a proven bound."""

    problem: Problem
    recoding: Recoding
    suppressed: Suppressed
    bound: RecodingBound
    remaining: int
    search: str
    seed: int
    evaluations: int
    seconds: float

    @property
    def cost(self) -> int:
        """Recoding and suppression, in units of `1/scale`."""
        return self.problem.recoding_cost(self.recoding) + self.suppressed.cost

    @property
    def gap(self) -> float | None:
        """`(cost - lower_bound) / lower_bound`; None where a bound of 0 stands against a cost."""
        if self.cost <= self.bound.value:
            return 0.0
        return float(self.cost / self.bound.value - 1) if self.bound.value > 0 else None

    def account(self) -> dict[str, Any]:
        """What was done and why, in figures; no record's scores."""
        problem, scale = self.problem, self.problem.costs.scale
        before = _risk(problem, problem.unchanged)
        return {
            "schema": 1,
            "records": len(problem.codes),
            "fields": list(problem.keys.fields),
            "keys": len(problem.keys),
            "unsafe_before": before,
            "recodings": [self._why(f) for f in range(problem.fields) if self.recoding[f]],
            "unsafe_after_recoding": _risk(problem, self.recoding),
            "suppressions": {
                name: int(self.suppressed.suppressed[:, f].sum()) for f, name in enumerate(problem.keys.fields)
            },
            "remaining_unsafe": self.remaining,
            "cost_before_recount": (problem.recoding_cost(self.recoding) + self.suppressed.first_round_cost) / scale,
            "cost": self.cost / scale,
            "recoding_cost": problem.recoding_cost(self.recoding) / scale,
            "suppression_cost": self.suppressed.cost / scale,
            "lower_bound": float(self.bound.value / scale),
            "bound": self.bound.kind,
            "gap": self.gap,
            "optimal": self.cost <= self.bound.value,
            "search": self.search,
            "seed": self.seed,
            "evaluations": self.evaluations,
            "rounds": self.suppressed.rounds,
            "seconds": round(self.seconds, 3),
        }

    def _why(self, at: int) -> dict[str, Any]:
        """A field's rule, and how many combinations would be unsafe without it and are with it."""
        without = (*self.recoding[:at], 0, *self.recoding[at + 1 :])
        scale = self.problem.costs.scale
        return {
            "field": self.problem.keys.fields[at],
            "rule": self.problem.rules[at][self.recoding[at]].name,
            "cost": int(self.problem.costs.recode[at][self.recoding[at]]) / scale,
            "unsafe_without": _risk(self.problem, without)["combinations"],
            "unsafe_with": _risk(self.problem, self.recoding)["combinations"],
        }


def _risk(problem: Problem, recoding: Recoding) -> dict[str, int]:
    """Unsafe combinations, minimal ones, and records that have any."""
    words = unsafe_words(*problem.recoded(recoding), problem.keys)
    return {
        "combinations": int(np.bitwise_count(words).sum()),
        "minucs": int(np.bitwise_count(minucs(words, problem.keys)).sum()),
        "records": int(words.any(axis=1).sum()),
    }


def protect_file(path: str | Path, out: str | Path, wish: Wish) -> MicrodataProtection:
    """Protect a microdata file and write the result, whole or not at all."""
    clock = Clock(wish.seconds)
    check_writable(out)
    if wish.search not in SEARCHES:
        raise InputError(f"unknown search {printable(wish.search)!r}: choose {', '.join(SEARCHES)}", field="--search")
    with Records(path, wish.delimiter) as records:
        problem = read_problem(records, wish)
        protection = protect_records(problem, wish, clock)
        _write(records, wish, protection, Path(out))
    return protection


def _backend(wish: Wish) -> Backend:
    try:
        return get_backend(wish.backend)
    except BackendUnavailable as fault:
        raise InputError(str(fault), field="--backend") from None


def protect_records(problem: Problem, wish: Wish, clock: Clock | None = None) -> MicrodataProtection:
    """Search for a recoding, suppress the rest, and count again."""
    clock = clock or Clock(wish.seconds)
    evaluator = Evaluator(
        problem, evaluations=_limit(problem, wish), clock=clock, exact=wish.exact, backend=_backend(wish)
    )
    SEARCHES[wish.search](evaluator, np.random.default_rng(wish.seed))
    bound = evaluator.bound()
    recoding, suppressed = _finish(problem, evaluator, wish)
    remaining = _remaining(problem, recoding, suppressed, wish)
    if remaining:
        raise GpugaError(f"a re-count still finds {remaining} unsafe combinations; nothing was written")
    return MicrodataProtection(
        problem,
        recoding,
        suppressed,
        bound,
        remaining,
        wish.search,
        wish.seed,
        len(evaluator.known),
        clock.spent(),
    )


def _remaining(problem: Problem, recoding: Recoding, suppressed: Suppressed, wish: Wish) -> int:
    """What a re-count finds: `missing` matches nothing, or could be anything."""
    if wish.missing_matches == "nothing":
        return recount(suppressed.codes, problem.keys)
    return recount_as_known(problem.recoded(recoding)[0], ~suppressed.suppressed, problem.keys)


def _limit(problem: Problem, wish: Wish) -> int:
    """How many recodings are evaluated truly: as asked for, else so many that a large file takes minutes."""
    if wish.evaluations is not None:
        return wish.evaluations
    return max(10, min(1000, WORK // (len(problem.codes) * len(problem.keys))))


def _finish(problem: Problem, evaluator: Evaluator, wish: Wish) -> tuple[Recoding, Suppressed]:
    """The recoding that is cheapest once its suppressions satisfy a re-count, among the best of the search.

    The search does not see that a suppression can make other combinations rare, so its winner may lose in the
    end.
    """
    caps = {problem.keys.fields.index(name): cap for name, cap in wish.caps.items()}
    best: tuple[int, Recoding, Suppressed] | None = None
    for cost, recoding in sorted((cost, k) for k, cost in evaluator.known.items())[:FINALISTS]:
        if best is not None and (cost >= best[0] or evaluator.clock.expired()):
            break
        once = wish.missing_matches == "anything"
        suppressed = suppress(problem, *problem.recoded(recoding), caps=caps, exact=wish.exact, once=once)
        total = problem.recoding_cost(recoding) + suppressed.cost
        if best is None or total < best[0]:
            best = (total, recoding, suppressed)
    assert best is not None  # the evaluator knows at least the unchanged file
    return best[1], best[2]


def read_problem(records: Records, wish: Wish) -> Problem:
    """Code the identifying fields and make keys, rules and costs."""
    keys = make_keys(wish.fields, wish.dimension, wish.threshold, wish.keys)
    for option, names in (
        ("--recode", wish.recode), ("--suppress-cost", wish.suppress_cost),
        ("--recode-cost", wish.recode_cost), ("--cap", wish.caps),
    ):  # fmt: skip
        for name in names:
            if name not in wish.fields:
                raise InputError(f"{printable(name)} is not among the identifying fields", field=option)
    records.load(wish.fields)
    codes, labels = _code(records, wish)
    rules = tuple(_rules(records, wish, name, labels[f], codes[:, f]) for f, name in enumerate(wish.fields))
    return Problem(codes, keys, rules, _costs(wish, keys, codes, rules))


def _code(records: Records, wish: Wish) -> tuple[Codes, list[list[str]]]:
    """Each score as the position of its label; -1 where blank or already marked as missing."""
    codes = np.empty((records.count, len(wish.fields)), np.int32)
    labels = []
    for position, name in enumerate(wish.fields):
        score = f"nullif(nullif(trim({records.column(name)}), ''), ?)"
        rows = records.run(f"SELECT DISTINCT {score} AS s FROM records WHERE s IS NOT NULL", [wish.missing]).fetchall()
        names = sorted(str(row[0]) for row in rows)
        records.run(f"CREATE TABLE label{position} (text VARCHAR, code INTEGER)")
        arrays = {"text": np.array(names, dtype=object), "code": np.arange(len(names), dtype=np.int32)}
        if names:
            records.append(f"label{position}", arrays)
        found = records.run(
            f"SELECT coalesce(code, -1)::INTEGER AS code FROM records LEFT JOIN label{position}"
            f" ON text = {score} ORDER BY records.rowid",
            [wish.missing],
        ).fetchnumpy()["code"]
        codes[:, position] = np.asarray(found, np.int32)
        labels.append(names)
    return codes, labels


def _hierarchy(path: Path, name: str) -> Dimension:
    hierarchy = read_hierarchy(path)
    total = "\0total"  # no code can be called that
    parents = [total if parent is None else parent for parent in hierarchy.parents]
    return dimension_from_parents(name, [*hierarchy.codes, total], [*parents, None])


def _rules(
    records: Records, wish: Wish, name: str, labels: Sequence[str], codes: NDArray[np.int32]
) -> tuple[RecodingRule, ...]:
    """A field's rules; a score that a rule forgets is named by its first record."""
    try:
        return tuple(field_rules(name, labels, wish.recode.get(name), _hierarchy))
    except Uncovered as error:
        row = int(np.argmax(np.isin(codes, error.codes)))
        raise records.complain(row, name, f"recoding {printable(error.rule)!r} does not cover the score") from None


def _costs(wish: Wish, keys: Keys, codes: Codes, rules: Sequence[Sequence[RecodingRule]]) -> Costs:
    if wish.cost == "entropy":
        if wish.suppress_cost or wish.recode_cost:
            raise InputError("own costs go with --cost linear", field="--cost")
        return entropy_costs(codes, rules)
    weights = [wish.suppress_cost.get(name, 1.0) for name in keys.fields]
    recode = {keys.fields.index(name): costs for name, costs in wish.recode_cost.items()}
    return linear_costs(codes, rules, weights, recode)


def _write(records: Records, wish: Wish, protection: MicrodataProtection, out: Path) -> None:
    """The protected file: every column of the original, identifying fields recoded or marked missing."""
    problem = protection.problem
    new: dict[str, NDArray[Any]] = {}
    chosen, parameters = [], []
    for name in records.header():
        column = f"s.{quoted(name)}"
        if name in wish.fields:
            at = wish.fields.index(name)
            codes = protection.suppressed.codes[:, at].copy()
            codes[problem.codes[:, at] < 0] = WAS_MISSING
            new[f"n{at}"] = codes
            labels = list(problem.rules[at][protection.recoding[at]].codes)
            column = (
                f"CASE n{at} WHEN -1 THEN ? WHEN {WAS_MISSING} THEN CAST({column} AS VARCHAR)"
                f" ELSE list_extract(?::VARCHAR[], n{at} + 1) END"
            )
            parameters += [wish.missing, labels]
        chosen.append(f"{column} AS {quoted(name)}")
    records.run("CREATE TABLE new (" + ", ".join(f"{name} INTEGER" for name in new) + ")")
    records.append("new", new)
    select = f"SELECT {', '.join(chosen)} FROM (SELECT * FROM {records.source}) s POSITIONAL JOIN new"
    _copy(records, select, [*parameters, *records.source_parameters], out, wish.delimiter)


def _copy(records: Records, select: str, parameters: Sequence[Any], out: Path, delimiter: str) -> None:
    """Write a query's rows beside the target, then let them take its name."""
    handle, name = tempfile.mkstemp(prefix=".gpuga-", suffix=".part", dir=out.parent)
    os.close(handle)
    try:
        kind = "FORMAT parquet" if is_parquet(out) else f"FORMAT csv, HEADER, DELIMITER '{delimiter}'"
        target = name.replace("'", "''")
        records.run(f"CREATE TABLE protected AS {select}", parameters)
        records.run(f"COPY protected TO '{target}' ({kind})")
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, out)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
