"""A microdata file that is to be protected: its problem comes out, the protected records go back in.

records -> codes -> keys, rules, costs -> `protect.protect_records` -> re-coded records -> file
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.context import Clock, Context, Progress, Silent
from gpuga.errors import InputError, printable
from gpuga.files.atomic import Fill, check_writable, write_whole
from gpuga.microdata.costs import Costs, entropy_costs, linear_costs
from gpuga.microdata.keys import Keys, make_keys
from gpuga.microdata.problem import Problem
from gpuga.microdata.protect import MicrodataProtection, Wish, protect_records
from gpuga.microdata.recoding import RecodingRule, Uncovered, field_rules
from gpuga.microdata.records import Records, quoted
from gpuga.microdata.search import SEARCHES

Codes = NDArray[np.int32]

WAS_MISSING = -2
"""In the codes that are written: the score was missing from the start and stays as it was."""


def protect_file(
    path: str | Path,
    out: str | Path,
    wish: Wish,
    *,
    backend: str = "auto",
    seed: int = 0,
    seconds: float | None = None,
    progress: Progress | None = None,
    clock: Clock | None = None,
) -> MicrodataProtection:
    """Protect a microdata file and write the result, whole or not at all."""
    context = Context(backend=backend, seed=seed, clock=clock or Clock(seconds), progress=progress or Silent())
    check_writable(out)
    with opened(path, wish, context.progress) as file:
        protection = protect_records(file.problem, wish, context)
        context.progress.stage("write")
        write_whole(out, file.content(protection, out))
    return protection


@dataclass(frozen=True, eq=False)
class MicrodataFile:
    """An open file, and what is asked for it."""

    records: Records
    wish: Wish
    problem: Problem

    def content(self, protection: MicrodataProtection, out: str | Path) -> Fill:
        """What goes into the protected file: every column of the original, identifying fields recoded or missing.

        It can be written as long as the file is open.
        """
        new: dict[str, NDArray[Any]] = {}
        chosen: list[str] = []
        parameters: list[Any] = []
        for name in self.records.header():
            column = f"s.{quoted(name)}"
            if name in self.wish.fields:
                at = self.wish.fields.index(name)
                new[f"n{at}"] = self._codes(protection, at)
                labels = list(self.problem.rules[at][protection.recoding[at]].codes)
                parameters += [self.wish.missing, labels]
                column = (
                    f"CASE n{at} WHEN -1 THEN ? WHEN {WAS_MISSING} THEN CAST({column} AS VARCHAR)"
                    f" ELSE list_extract(?::VARCHAR[], n{at} + 1) END"
                )
            chosen.append(f"{column} AS {quoted(name)}")
        self.records.run("CREATE OR REPLACE TABLE new (" + ", ".join(f"{name} INTEGER" for name in new) + ")")
        self.records.append("new", new)
        select = f"SELECT {', '.join(chosen)} FROM (SELECT * FROM {self.records.source}) s POSITIONAL JOIN new"
        self.records.run(
            f"CREATE OR REPLACE TABLE protected AS {select}", [*parameters, *self.records.source_parameters]
        )
        return partial(self.records.copy, "protected", like=Path(out))

    def _codes(self, protection: MicrodataProtection, at: int) -> Codes:
        codes = protection.suppressed.codes[:, at].copy()
        codes[self.problem.codes[:, at] < 0] = WAS_MISSING
        return codes


@contextmanager
def opened(path: str | Path, wish: Wish, progress: Progress) -> Iterator[MicrodataFile]:
    """A microdata file, read and coded; nothing of it is left behind."""
    if wish.search not in SEARCHES:
        raise InputError(f"unknown search {printable(wish.search)!r}: choose {', '.join(SEARCHES)}", field="--search")
    progress.stage("read")
    with Records(path, wish.delimiter) as records:
        yield MicrodataFile(records, wish, _read_problem(records, wish))


def _read_problem(records: Records, wish: Wish) -> Problem:
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


def _rules(
    records: Records, wish: Wish, name: str, labels: Sequence[str], codes: NDArray[np.int32]
) -> tuple[RecodingRule, ...]:
    """A field's rules; a score that a rule forgets is named by its first record."""
    try:
        return tuple(field_rules(name, labels, wish.recode.get(name)))
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
