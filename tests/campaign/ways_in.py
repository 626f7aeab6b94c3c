"""Every way into the product: a problem is written as a file, a frame or arrays, and read by gpuga.

Each way gives back the problem as that way means it (rows in another order, marginals left out, levels by a rule),
in the order of the table's cells, so that positions agree from then on.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import gpuga
from gpuga.table import INFINITE, Levels, Lines, Status, Table
from tests.campaign.problem import Problem, permuted
from tests.campaign.tables import TOTAL

LETTER = {Status.SUPPRESSIBLE: "s", Status.SENSITIVE: "u", Status.FROZEN: "z", Status.SUPPRESSED: "m"}


@dataclass(frozen=True)
class Entered:
    """A problem and the table that gpuga made of it; `path` is the file, `options` what the command line needs."""

    problem: Problem
    table: Table
    way: str
    path: Path | None = None
    options: tuple[str, ...] = ()


class Misread(Exception):
    """The table is not the one that was written."""


def ways_for(problem: Problem) -> list[str]:
    """The ways that can carry this problem."""
    ways = ["jj", "built"]
    if problem.labels and not problem.groups:
        ways += ["csv", "csv", "parquet", "frame"]
        if not problem.parents:
            ways.append("array")
    elif problem.labels:
        ways.append("csv")
    return ways


def enter(problem: Problem, way: str, folder: Path, rng: Random) -> Entered:
    """Write and read; raises `Misread` where the table differs from the problem."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        entered = WAYS[way](problem, folder, rng)
    _compare(entered)
    return entered


def _by_jj(problem: Problem, folder: Path, rng: Random) -> Entered:
    path = folder / "table.jj"
    path.write_text(problem.jj())
    return Entered(problem, gpuga.read_table(path), "jj", path)


def _by_arrays(problem: Problem, folder: Path, rng: Random) -> Entered:
    """`Table.build` from arrays."""
    status = {letter: number for number, letter in LETTER.items()}
    start = np.cumsum([0, *(len(row) for _, row in problem.equations)])
    lines = Lines(
        start.astype(np.int64),
        np.array([c for _, row in problem.equations for c, _ in row], np.int32),
        np.array([k for _, row in problem.equations for _, k in row], np.int64),
        np.array([rhs for rhs, _ in problem.equations], np.int64),
    )
    table = Table.build(
        np.array(problem.value, np.int64),
        lines,
        status=np.array([status[s] for s in problem.status], np.uint8),
        weight=np.array(problem.weight, np.int64),
        lb=np.array([-INFINITE if b is None else b for b in problem.lb], np.int64),
        ub=np.array([INFINITE if b is None else b for b in problem.ub], np.int64),
        levels=Levels(*(np.array(x, np.int64) for x in (problem.lower, problem.upper, problem.sliding))),
        scale=problem.scale,
        weight_scale=problem.weight_scale,
    )
    return Entered(problem, table, "built")


def _by_csv(problem: Problem, folder: Path, rng: Random) -> Entered:
    problem, rows = _long(problem, rng)
    cells = rows[: len(rows) - problem.groups]
    columns = problem.columns(cells, all_bounds=min(problem.value) < 0)
    if problem.groups:
        _list_groups(problem, columns, len(cells))
    path = folder / "table.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=rng.choice(",;\t"), lineterminator=rng.choice(("\n", "\r\n")))
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    hierarchies = _hrc_files(problem, folder)
    table = gpuga.read_table(path, hierarchies=hierarchies)
    options = [word for name, file in hierarchies.items() for word in ("--hierarchy", f"{name}={file}")]
    return Entered(_in_order(problem, table), table, "csv", path, tuple(options))


def _by_parquet(problem: Problem, folder: Path, rng: Random) -> Entered:
    import pyarrow
    from pyarrow import parquet

    problem, rows = _long(problem, rng)
    columns = _typed(problem.columns(rows, all_bounds=min(problem.value) < 0), rng)
    path = folder / "table.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    hierarchies = _hrc_files(problem, folder)
    table = gpuga.read_table(path, hierarchies=hierarchies)
    options = [word for name, file in hierarchies.items() for word in ("--hierarchy", f"{name}={file}")]
    return Entered(_in_order(problem, table), table, "parquet", path, tuple(options))


def _by_frame(problem: Problem, folder: Path, rng: Random) -> Entered:
    problem, rows = _long(problem, rng)
    columns: Any = _typed(problem.columns(rows, all_bounds=min(problem.value) < 0), rng)
    kind = rng.choice(("mapping", "pandas", "polars", "arrow"))
    if kind == "pandas":
        import pandas

        columns = pandas.DataFrame(columns)
    elif kind == "polars":
        import polars

        columns = polars.DataFrame(columns)
    elif kind == "arrow":
        import pyarrow

        columns = pyarrow.table(columns)
    hierarchies = {name: dict(tree.items()) for name, tree in problem.parents.items()}
    table = gpuga.table_from_frame(columns, hierarchies=hierarchies)
    return Entered(_in_order(problem, table), table, f"frame ({kind})")


def _by_array(problem: Problem, folder: Path, rng: Random) -> Entered:
    """A k-dimensional array with a mask; levels are 15 % of the values, nothing is frozen but zeros."""
    by_hundred = 100 * problem.scale
    status = "".join(
        "z" if v == 0 else "u" if s == "u" else "s" for v, s in zip(problem.value, problem.status, strict=True)
    )
    level = tuple(15 * abs(v) if s == "u" else 0 for v, s in zip(problem.value, status, strict=True))
    scale, by = (by_hundred, 100) if "u" in status else (problem.scale, 1)
    level = level if by == 100 else tuple(0 for _ in level)
    bound = None if min(problem.value) < 0 else 0
    value = tuple(v * by for v in problem.value)
    plain = replace(
        problem,
        value=value,
        status=status,
        lb=(bound,) * len(problem),
        ub=(None,) * len(problem),
        lower=level,
        upper=level,
        sliding=(0,) * len(problem),
        weight=tuple(map(abs, value)),
        scale=scale,
        weight_scale=scale,
    )
    sizes = [len({label[axis] for label in problem.labels}) for axis in range(len(problem.dimensions))]
    array = (
        np.array(problem.value).reshape(sizes) / problem.scale
        if problem.scale > 1
        else np.array(problem.value).reshape(sizes)
    )
    mask = np.array([s == "u" for s in status]).reshape(sizes)
    table = gpuga.table_from_array(array, sensitive=mask, margins=True)
    return Entered(plain, table, "array")


WAYS: dict[str, Callable[[Problem, Path, Random], Entered]] = {
    "jj": _by_jj,
    "built": _by_arrays,
    "csv": _by_csv,
    "parquet": _by_parquet,
    "frame": _by_frame,
    "array": _by_array,
}


def _long(problem: Problem, rng: Random) -> tuple[Problem, list[int]]:
    """The problem as a long file means it, and the cells whose rows are written, in their order."""
    problem = _levels_of_own(problem.zeros_frozen())
    rows = list(range(len(problem)))
    leaves = [c for c, label in enumerate(problem.labels) if _is_leaf(problem, label)]
    wide = all(len({label[axis] for label in problem.labels}) > 2 for axis in range(len(problem.dimensions)))
    if wide and not problem.groups and rng.random() < 0.3:
        problem, rows = _bare_marginals(problem, leaves), leaves
    if not problem.groups and rng.random() < 0.5:
        rng.shuffle(rows)
    return problem, rows


def _levels_of_own(problem: Problem) -> Problem:
    """A zero is sensitive in a long file only with a level of its own."""
    status = "".join(
        "z" if s == "u" and v == 0 and not (low or up or slide) else s
        for s, v, low, up, slide in zip(
            problem.status, problem.value, problem.lower, problem.upper, problem.sliding, strict=True
        )
    )
    return replace(problem, status=status)


def _is_leaf(problem: Problem, label: tuple[str, ...]) -> bool:
    inner = [{TOTAL, *filter(None, problem.parents.get(name, {}).values())} for name in problem.dimensions]
    return all(code not in above for code, above in zip(label, inner, strict=True))


def _bare_marginals(problem: Problem, leaves: list[int]) -> Problem:
    """Marginals that the reader adds: suppressible, bounded by nothing but zero, weighing the sum of their parts."""
    kept = set(leaves)
    negative = min(problem.value) < 0
    weight = list(problem.weight)
    for c, label in enumerate(problem.labels):
        if c not in kept:
            weight[c] = sum(problem.weight[x] for x in leaves if _below(problem, problem.labels[x], label))

    def only(column: tuple[Any, ...], other: Any) -> tuple[Any, ...]:
        return tuple(x if c in kept else other for c, x in enumerate(column))

    status = only(tuple(problem.status), "s")
    bare = replace(
        problem,
        status="".join(status),
        lb=only(problem.lb, None if negative else 0),
        ub=only(problem.ub, None),
        lower=only(problem.lower, 0),
        upper=only(problem.upper, 0),
        sliding=only(problem.sliding, 0),
        weight=tuple(weight),
    )
    return bare.zeros_frozen()


def _below(problem: Problem, leaf: tuple[str, ...], label: tuple[str, ...]) -> bool:
    for name, code, above in zip(problem.dimensions, leaf, label, strict=True):
        tree = problem.parents.get(name, {})
        at: str | None = code
        while at is not None and at != above:
            at = tree.get(at)
        if at is None and above != TOTAL:
            return False
    return True


def _list_groups(problem: Problem, columns: dict[str, list[str]], cells: int) -> None:
    """Rows for the groups, below all cells."""
    columns["members"] = [""] * cells
    for g in range(cells, cells + problem.groups):
        row = next(row for _, row in problem.equations if row[-1] == (g, -1))
        one = replace(problem, labels=(*problem.labels, *[("",) * len(problem.dimensions)] * problem.groups))
        new = one.columns([g], all_bounds=True) | {"members": [" ".join(str(c) for c, _ in row[:-1])]}
        for name, column in columns.items():
            column += [""] if name in ("status", "lb", "ub", "weight") else new[name]


def _typed(columns: dict[str, list[str]], rng: Random) -> dict[str, list[Any]]:
    """Numbers as integers where all are whole, else as floats where exact, else as texts; blanks as None."""
    out: dict[str, list[Any]] = {}
    for name, column in columns.items():
        if name.startswith("d") or name == "status":
            out[name] = list(column)
            continue
        try:
            out[name] = [int(t) if t else None for t in column]
        except ValueError:
            short = all(len(t.replace(".", "").lstrip("-0")) <= 15 for t in column)
            out[name] = [float(t) if t else None for t in column] if short else list(column)
    return out


def _hrc_files(problem: Problem, folder: Path) -> dict[str, Path]:
    files = {}
    for name, tree in problem.parents.items():
        lines: list[str] = []

        def walk(parent: str | None, depth: int, tree: Any = tree, lines: list[str] = lines) -> None:
            for code, above in tree.items():
                if above == parent:
                    lines.append("@" * depth + code)
                    walk(code, depth + 1)

        walk(None, 0)
        files[name] = folder / f"{name}.hrc"
        files[name].write_text("\n".join(lines) + "\n")
    return files


def _in_order(problem: Problem, table: Table) -> Problem:
    """The problem with its cells where the table has them."""
    assert table.grid is not None
    place = {label: c for c, label in enumerate(problem.labels)}
    order = []
    for row in table.grid.coordinate.tolist():
        label = tuple(d.codes[c] for d, c in zip(table.grid.dimensions, row, strict=True))
        if label not in place:
            raise Misread(f"there is a cell {label} that was not written")
        order.append(place[label])
    order += range(len(problem.labels), len(problem))
    if sorted(order) != list(range(len(problem))):
        raise Misread(f"{len(problem)} cells were written, {len(order)} were read")
    return permuted(problem, order)


def _compare(entered: Entered) -> None:
    """Whether every number arrived as it was sent."""
    p, t = entered.problem, entered.table
    factor = (t.scale, p.scale)
    for name in ("value", "lb", "ub"):
        sent, came = getattr(p, name), getattr(t, name).tolist()
        if bad := [c for c in range(len(p)) if not _same(sent[c], came[c], factor)]:
            raise Misread(f"{name} of cell {bad[0]}: sent {sent[bad[0]]}/{p.scale}, came {came[bad[0]]}/{t.scale}")
    for name in ("lower", "upper", "sliding"):
        sent, came = getattr(p, name), getattr(t.levels, name).tolist()
        if bad := [c for c in p.sensitive if not _same(sent[c], came[c], factor)]:
            raise Misread(f"{name} of cell {bad[0]}: sent {sent[bad[0]]}/{p.scale}, came {came[bad[0]]}/{t.scale}")
    letters = "".join(LETTER[Status(s)] for s in t.status.tolist())
    if letters != p.status:
        raise Misread(f"statuses: sent {p.status}, came {letters}")
    weights = [
        (w, x) for w, x in zip(p.weight, t.weight.tolist(), strict=True) if w * t.weight_scale != x * p.weight_scale
    ]
    if weights:
        raise Misread(f"weights: {weights[0]}")


def _same(sent: int | None, came: int, factor: tuple[int, int]) -> bool:
    if sent is None:
        return abs(came) >= INFINITE
    return sent * factor[0] == came * factor[1]
