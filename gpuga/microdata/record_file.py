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
from gpuga.microdata.costs import RECODE_WEIGHT, Costs, OwnCosts, entropy_costs, linear_costs, with_own_costs
from gpuga.microdata.keys import Keys, make_keys
from gpuga.microdata.problem import Problem
from gpuga.microdata.protect import MicrodataParameters, MicrodataProtection, protect_records
from gpuga.microdata.recoding import RecodingRule, Uncovered, field_rules
from gpuga.microdata.records import Records, quoted
from gpuga.microdata.search import SEARCHES

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

WAS_MISSING = -2
"""In the codes that are written: the score was missing from the start and stays as it was."""


def protect_file(
    path: str | Path,
    out: str | Path,
    parameters: MicrodataParameters,
    *,
    backend: str = "auto",
    seed: int = 0,
    seconds: float | None = None,
    progress: Progress | None = None,
    clock: Clock | None = None,
) -> MicrodataProtection:
    """Protect a microdata file and write the result, whole or not at all; the back end `cuda:1` is CUDA on device 1."""
    context = Context(backend=backend, seed=seed, clock=clock or Clock(seconds), progress=progress or Silent())
    check_writable(out)
    with opened(path, parameters, context.progress) as file:
        protection = protect_records(file.problem, parameters, context)
        context.progress.stage("write")
        write_whole(out, file.content(protection, out))
    return protection


@dataclass(frozen=True, eq=False)
class MicrodataFile:
    """An open file, and what is asked for it."""

    records: Records
    parameters: MicrodataParameters
    problem: Problem

    def content(self, protection: MicrodataProtection, out: str | Path) -> Fill:
        """What goes into the protected file: every column of the original, identifying fields recoded or missing.

        It can be written as long as the file is open.
        """
        new: dict[str, NDArray[Any]] = {}
        chosen: list[str] = []
        values: list[Any] = []
        for name in self.records.header():
            column = f"s.{quoted(name)}"
            if name in self.parameters.fields:
                at = self.parameters.fields.index(name)
                new[f"n{at}"] = self._codes(protection, at)
                labels = list(self.problem.rules[at][protection.recoding[at]].codes)
                values += [self.parameters.missing, labels]
                column = (
                    f"CASE n{at} WHEN -1 THEN ? WHEN {WAS_MISSING} THEN CAST({column} AS VARCHAR)"
                    f" ELSE list_extract(?::VARCHAR[], n{at} + 1) END"
                )
            chosen.append(f"{column} AS {quoted(name)}")
        self.records.run("CREATE OR REPLACE TABLE new (" + ", ".join(f"{name} INTEGER" for name in new) + ")")
        self.records.append("new", new)
        select = f"SELECT {', '.join(chosen)} FROM (SELECT * FROM {self.records.source}) s POSITIONAL JOIN new"
        self.records.run(f"CREATE OR REPLACE TABLE protected AS {select}", [*values, *self.records.source_parameters])
        return partial(self.records.copy, "protected", like=Path(out))

    def _codes(self, protection: MicrodataProtection, at: int) -> Codes:
        codes = protection.suppressed.codes[:, at].copy()
        codes[self.problem.codes[:, at] < 0] = WAS_MISSING
        return codes


@contextmanager
def opened(path: str | Path, parameters: MicrodataParameters, progress: Progress) -> Iterator[MicrodataFile]:
    """A microdata file, read and coded; nothing of it is left behind."""
    if parameters.search not in SEARCHES:
        names = ", ".join(SEARCHES)
        raise InputError(f"unknown search {printable(parameters.search)!r}: choose {names}", field="--search")
    progress.stage("read")
    with Records(path, parameters.written) as records:
        yield MicrodataFile(records, parameters, _read_problem(records, parameters))


def _read_problem(records: Records, parameters: MicrodataParameters) -> Problem:
    """Code the identifying fields and make keys, rules and costs."""
    keys = make_keys(parameters.fields, parameters.dimension, parameters.threshold, parameters.keys)
    for option, names in (
        ("--recode", parameters.recode), ("--suppress-cost", parameters.suppress_cost),
        ("--recode-cost", parameters.recode_cost), ("--cap", parameters.caps),
        ("--suppress-cost-column", parameters.suppress_cost_column),
    ):  # fmt: skip
        for name in names:
            if name not in parameters.fields:
                raise InputError(f"{printable(name)} is not among the identifying fields", field=option)
    columns = [c for c in (parameters.record_weight, *parameters.suppress_cost_column.values()) if c is not None]
    records.load(list(dict.fromkeys([*parameters.fields, *columns])))
    codes, labels = code_fields(records, parameters.fields, parameters.missing)
    rules = tuple(_rules(records, parameters, name, labels[f], codes[:, f]) for f, name in enumerate(parameters.fields))
    costs = with_own_costs(_costs(parameters, keys, codes, rules), _own_costs(records, parameters, keys))
    caps = {keys.fields.index(name): cap for name, cap in parameters.caps.items()}
    return Problem(codes, keys, rules, costs, caps)


def _own_costs(records: Records, parameters: MicrodataParameters, keys: Keys) -> OwnCosts:
    """Records' own costs, from columns of the file."""
    weight, columns = parameters.record_weight, parameters.suppress_cost_column
    by_field = {keys.fields.index(name): read_amounts(records, column) for name, column in columns.items()}
    return OwnCosts(None if weight is None else read_amounts(records, weight), by_field)


def read_amounts(records: Records, column: str) -> tuple[Ints, int]:
    """A column of numbers above 0 as integers, and the unit that they are fractions of."""
    records.write_plainly([column])
    number, decimals = records.number(column)
    records.refuse_where(f"{number} IS NULL", column, "is too large for exact arithmetic")
    records.refuse_where(f"{number} <= 0", column, "is not above 0")
    found = records.run(f"SELECT {number} AS amount FROM records ORDER BY rowid").fetchnumpy()["amount"]
    return np.asarray(found, np.int64), 10**decimals


def code_fields(records: Records, fields: Sequence[str], missing: str) -> tuple[Codes, list[list[str]]]:
    """Each score as the position of its label; -1 where blank or already marked as missing."""
    codes = np.empty((records.count, len(fields)), np.int32)
    labels = []
    for position, name in enumerate(fields):
        score = f"nullif(nullif(trim({records.column(name)}), ''), ?)"
        distinct = f"SELECT DISTINCT {score} AS s FROM records WHERE s IS NOT NULL"
        names = sorted(str(row[0]) for row in records.run(distinct, [missing]).fetchall())
        records.run(f"CREATE TABLE label{position} (text VARCHAR, code INTEGER)")
        arrays = {"text": np.array(names, dtype=object), "code": np.arange(len(names), dtype=np.int32)}
        if names:
            records.append(f"label{position}", arrays)
        found = records.run(
            f"SELECT coalesce(code, -1)::INTEGER AS code FROM records LEFT JOIN label{position}"
            f" ON text = {score} ORDER BY records.rowid",
            [missing],
        ).fetchnumpy()["code"]
        codes[:, position] = np.asarray(found, np.int32)
        labels.append(names)
    return codes, labels


def _rules(
    records: Records, parameters: MicrodataParameters, name: str, labels: Sequence[str], codes: NDArray[np.int32]
) -> tuple[RecodingRule, ...]:
    """A field's rules; a score that a rule forgets is named by its first record."""
    try:
        return tuple(field_rules(name, labels, parameters.recode.get(name)))
    except Uncovered as error:
        row = int(np.argmax(np.isin(codes, error.codes)))
        raise records.complain(row, name, f"recoding {printable(error.rule)!r} does not cover the score") from None


def _costs(parameters: MicrodataParameters, keys: Keys, codes: Codes, rules: Sequence[Sequence[RecodingRule]]) -> Costs:
    if parameters.cost == "entropy":
        if parameters.suppress_cost or parameters.recode_cost:
            raise InputError("--suppress-cost and --recode-cost need --cost linear", field="--cost")
        weight = RECODE_WEIGHT if parameters.recode_weight is None else parameters.recode_weight
        if not 0 <= weight < 1e6:
            raise InputError(f"{weight} is not a weight of 0 or more", field="--recode-weight")
        return entropy_costs(codes, rules, weight)
    if parameters.recode_weight is not None:
        raise InputError("needs --cost entropy; with --cost linear give --recode-cost", field="--recode-weight")
    weights = [parameters.suppress_cost.get(name, 1.0) for name in keys.fields]
    recode = {keys.fields.index(name): costs for name, costs in parameters.recode_cost.items()}
    return linear_costs(codes, rules, weights, recode)
