"""The `.jj` format of tau-ARGUS and CSPLIB: cells with everything about them, then equations.

    0
    <cells>
    <index> <value> <weight> <status> <lb> <ub> <lower> <upper> <sliding>      one line per cell
    <equations>
    <rhs> <n> : <index> (<sign>) <index> (<sign>) ...                          one line per equation

Statuses, bounds and levels are taken as the file says: zeros that the file lets move may be suppressed.
Bounds beyond exact arithmetic (about 10^18) mean "no bound".
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError, printable
from gpuga.files.atomic import write_whole
from gpuga.files.source import read_text
from gpuga.table.exact import decimals, shown
from gpuga.table.grid import csr_lines
from gpuga.table.levels import parse_rule
from gpuga.table.table import INFINITE, Ints, Levels, Lines, Status, Table
from gpuga.table.weights import weigh

FIELDS = ("index", "value", "weight", "status", "lb", "ub", "lower", "upper", "sliding")
LETTERS = {"s": Status.SUPPRESSIBLE, "u": Status.SENSITIVE, "z": Status.FROZEN, "m": Status.SUPPRESSED}
NO_BOUND = "100000000000000000000"

_FIRST_CELL = 3  # the line of the first cell, counted from 1


def read_jj(path: str | Path, *, levels: str | None = None, weights: str | None = None) -> Table:
    """The table in a `.jj` file; `levels` are for sensitive cells without, `weights` replace its own."""
    return parse_jj(read_text(Path(path)), path, levels=levels, weights=weights)


def parse_jj(text: str, path: str | Path, *, levels: str | None = None, weights: str | None = None) -> Table:
    """The table in the text of a `.jj` file; `path` is for messages."""
    path = Path(path)
    try:
        return _parse(path, text.splitlines(), levels, weights)
    except InputError as fault:
        line = None if fault.cell is None else fault.cell + _FIRST_CELL
        raise (fault if fault.path else fault.at(path, line)) from None


def jj_indices(text: str) -> list[str]:
    """The index of each cell as the file writes it."""
    lines = text.splitlines()
    return [cell.split(None, 1)[0] for cell in lines[2 : 2 + _count(lines, 1, "cells")]]


def _parse(path: Path, lines: list[str], levels: str | None, weights: str | None) -> Table:
    if not lines or lines[0].strip() != "0":
        raise InputError("is not a .jj table: its first line must be 0", line=1)
    count = _count(lines, 1, "cells")
    column = _cell_columns(lines, count)
    position = _positions(column["index"])
    status = _status(column["status"])
    names = ("value", "lower", "upper", "sliding", "lb", "ub")
    figures = {n: decimals(column[n], n, infinite=n in ("lb", "ub")) for n in names}
    equations = _equations(lines, 2 + count, position)
    rhs = decimals([rhs for rhs, _, _ in equations], "right-hand side")
    digits = max(rhs.digits, *(f.digits for f in figures.values()))
    value = figures["value"].scaled(digits)
    level = _levels([figures[n].scaled(digits) for n in names[1:4]], status, value, 10**digits, levels)
    lb, ub = figures["lb"].bounds(digits), figures["ub"].bounds(digits)
    _refuse_frozen_sensitive(status, lb, ub, level)
    weight = decimals(column["weight"], "weight")
    if weights is None:
        weighed, weight_scale = weight.scaled(weight.digits), 10**weight.digits
    else:
        weighed, weight_scale = weigh(weights, value, 10**digits, None)
    table_lines = _csr(equations, rhs.scaled(digits))
    _refuse_non_additive(table_lines, value, 10**digits, _FIRST_CELL + count + 1)
    return Table.build(
        value,
        table_lines,
        status=status,
        weight=weighed,
        lb=lb,
        ub=ub,
        levels=level,
        scale=10**digits,
        weight_scale=weight_scale,
        name=path.stem,
    )


def _count(lines: list[str], at: int, what: str) -> int:
    """A number of lines that follow, believed only if the file is that long."""
    text = lines[at].strip() if at < len(lines) else ""
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"the number of {what} is missing", line=at + 1, field=what)
    count = int(text) if len(text) <= 18 else 10**18
    if count > len(lines) - at - 1:
        raise InputError(
            f"claims {text[:30]} {what}, the file has only {len(lines)} lines", line=at + 1, field=what
        )
    return count


def _cell_columns(lines: list[str], count: int) -> dict[str, Sequence[str]]:
    if count == 0:
        raise InputError("has no cells", line=2)
    rows = [text.split() for text in lines[2 : 2 + count]]
    for at, row in enumerate(rows):
        if len(row) != len(FIELDS):
            raise InputError(f"has {len(row)} fields, a cell has {len(FIELDS)}", cell=at)
    return dict(zip(FIELDS, zip(*rows, strict=True), strict=True))


def _positions(index: Sequence[str]) -> dict[str, int]:
    """Where each index stands; usually 0, 1, 2, ..."""
    position = {text: at for at, text in enumerate(index)}
    if len(position) < len(index):
        twice = next(at for at, text in enumerate(index) if position[text] != at)
        raise InputError("the same cell occurs twice", field="index", cell=position[index[twice]])
    for at, text in enumerate(index):
        if not (text.isascii() and text.isdigit()):
            raise InputError("is not an index", field="index", cell=at)
    return position


def _status(column: Sequence[str]) -> NDArray[np.uint8]:
    for at, letter in enumerate(column):
        if letter not in LETTERS:
            raise InputError(
                f"unknown status {printable(letter, 20)!r}: it is s, u, m or z", field="status", cell=at
            )
    return np.array([LETTERS[letter] for letter in column], np.uint8)


def _levels(
    given: list[Ints], status: NDArray[np.uint8], value: Ints, scale: int, rule: str | None
) -> Levels:
    for name, level in zip(("lower", "upper", "sliding"), given, strict=True):
        if (level < 0).any():
            raise InputError("is a negative level", field=name, cell=int(np.argmax(level < 0)))
    sensitive = status == Status.SENSITIVE
    lower, upper, sliding = (np.where(sensitive, level, 0) for level in given)
    if rule is not None:
        without = sensitive & (lower + upper + sliding == 0)
        by_rule = parse_rule(rule).levels(value, scale)
        lower, upper = np.where(without, by_rule, lower), np.where(without, by_rule, upper)
    return Levels(lower, upper, sliding)


def _refuse_frozen_sensitive(status: NDArray[np.uint8], lb: Ints, ub: Ints, level: Levels) -> None:
    stuck = (status == Status.SENSITIVE) & (lb == ub) & (level.lower + level.upper + level.sliding > 0)
    if stuck.any():
        raise InputError(
            "a sensitive cell is frozen: its bounds lb and ub leave no room for its levels",
            field="lb",
            cell=int(np.argmax(stuck)),
        )


Equation = tuple[str, list[int], list[int]]


def _equations(lines: list[str], at: int, position: dict[str, int]) -> list[Equation]:
    """Right-hand side, cells and signs of every equation."""
    count = _count(lines, at, "equations")
    blank = str.maketrans("():", "   ")
    found = []
    for number in range(at + 1, at + 1 + count):
        found.append(_equation(lines[number].translate(blank).split(), number + 1, position))
    if any(text.strip() for text in lines[at + 1 + count :]):
        raise InputError("there is more after the last equation", line=at + 2 + count)
    return found


def _equation(token: list[str], line: int, position: dict[str, int]) -> Equation:
    if len(token) < 2 or not token[1].isdigit() or len(token) != 2 + 2 * int(token[1][:12]):
        raise InputError("is not an equation: rhs n : index (sign) ...", line=line)
    try:
        cells = [position[index] for index in token[2::2]]
        signs = [int(sign) for sign in token[3::2]]
    except KeyError as fault:
        raise InputError(f"there is no cell {printable(fault.args[0], 20)}", line=line) from None
    except ValueError:
        raise InputError("a sign is not an integer", line=line) from None
    if len(set(cells)) < len(cells):
        raise InputError("a cell occurs twice in the equation", line=line)
    if any(abs(sign) > 10**6 for sign in signs):
        raise InputError("a sign is too large", line=line)
    return token[0], cells, signs


def _csr(equations: list[Equation], rhs: Ints) -> Lines:
    sizes = np.array([len(cells) for _, cells, _ in equations], np.int64)
    line = np.repeat(np.arange(len(equations)), sizes)
    cell = np.array([c for _, cells, _ in equations for c in cells], np.int64)
    coef = np.array([s for _, _, signs in equations for s in signs], np.int64)
    return csr_lines(len(equations), line, cell, coef, rhs)


def _refuse_non_additive(lines: Lines, value: Ints, scale: int, first_line: int) -> None:
    """The same check as the table's own, with the line of the equation."""
    if float(np.abs(value.astype(float)).sum()) * float(np.abs(lines.coef).max(initial=1)) >= 2.0**60:
        raise InputError("the values are too large for exact arithmetic: round them or use a larger unit")
    residual = lines.residual(value)
    if residual.any():
        at = int(np.flatnonzero(residual)[0])
        raise InputError(
            f"equation {at} does not add up: off by {shown(int(residual[at]), scale)}", line=first_line + at
        )


def write_jj(table: Table, path: str | Path) -> None:
    """A table as a `.jj` file."""
    write_whole(path, "\n".join([*_cell_lines(table), *_equation_lines(table)]) + "\n")


def _cell_lines(table: Table) -> list[str]:
    letter = {status: text for text, status in LETTERS.items()}
    exact = [_texts(v, table.scale) for v in (table.value, table.lb, table.ub, *vars(table.levels).values())]
    value, lb, ub, lower, upper, sliding = exact
    weight = _texts(table.weight, table.weight_scale)
    status = [letter[Status(s)] for s in table.status.tolist()]
    rows = zip(value, weight, status, lb, ub, lower, upper, sliding, strict=True)
    return ["0", str(len(table)), *(f"{i} {' '.join(row)}" for i, row in enumerate(rows))]


def _equation_lines(table: Table) -> list[str]:
    lines = table.lines
    entry = [f"{c} ({k})" for c, k in zip(lines.cell.tolist(), lines.coef.tolist(), strict=True)]
    start = lines.start.tolist()
    out = [str(len(lines))]
    for i, rhs in enumerate(_texts(lines.rhs, table.scale)):
        out.append(f"{rhs} {start[i + 1] - start[i]} : {' '.join(entry[start[i] : start[i + 1]])}")
    return out


def _texts(values: Ints, scale: int) -> list[str]:
    plain = values.tolist()
    if scale == 1 and not (np.abs(values) >= INFINITE).any():
        return [str(v) for v in plain]
    return [("-" if v < 0 else "") + NO_BOUND if abs(v) >= INFINITE else shown(v, scale) for v in plain]
