"""The `.jj` format of tau-ARGUS and CSPLIB: cells with everything about them, then equations.

    0
    <cells>
    <index> <value> <weight> <status> <lb> <ub> <lower> <upper> <sliding>      one line per cell
    <equations>
    <rhs> <n> : <index> (<sign>) <index> (<sign>) ...                          one line per equation

Statuses, bounds and levels are taken as the file says: zeros that the file lets move may be suppressed.
Bounds of 10^19 and more, and the words inf and -inf, mean "no bound".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError, printable
from gpuga.files.atomic import write_whole
from gpuga.table.columns import MOST_ROWS
from gpuga.table.exact import Decimals, all_shown, decimals
from gpuga.table.grid import csr_lines
from gpuga.table.groups import LEVELS
from gpuga.table.levels import parse_rule, refuse_frozen_sensitive, refuse_negative_level
from gpuga.table.table import LETTERS, Ints, Levels, Lines, Status, Table, status_letters
from gpuga.table.undeclared import warn_without_primaries
from gpuga.table.weights import weigh

FIELDS = ("index", "value", "weight", "status", "lb", "ub", "lower", "upper", "sliding")
NO_BOUND = "100000000000000000000"
LARGEST_SIGN = 10**6

_SIGN = re.compile(r"[+-]?[0-9]+")
_FIRST_CELL = 3  # the line of the first cell, counted from 1


def parse_jj(text: str, path: str | Path, *, levels: str | None = None, weights: str | None = None) -> Table:
    """The table in the text of a `.jj` file; `path` is for messages."""
    path = Path(path)
    try:
        return warn_without_primaries(_parse(path, text.splitlines(), levels, weights))
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
    rhs = _right_hand_sides(equations.rhs, _FIRST_CELL + count + 1)
    digits = max(rhs.digits, *(f.digits for f in figures.values())) + (parse_rule(levels).digits if levels else 0)
    value = figures["value"].scaled(digits)
    level = _levels([figures[n].scaled(digits) for n in names[1:4]], status, value, 10**digits, levels)
    lb, ub = figures["lb"].bounds(digits), figures["ub"].bounds(digits)
    refuse_frozen_sensitive(status, lb, ub, level)
    weight = decimals(column["weight"], "weight")
    if weights is None:
        weighed, weight_scale = weight.scaled(weight.digits), 10**weight.digits
    else:
        weighed, weight_scale = weigh(weights, value, 10**digits, None)
    table_lines = equations.lines(rhs.scaled(digits))
    _refuse_non_additive(table_lines, value, _FIRST_CELL + count + 1)
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
        whole_levels=all(figures[n].whole(status == Status.SENSITIVE) for n in LEVELS),
    )


def _count(lines: list[str], at: int, what: str) -> int:
    """A number of lines that follow, believed only if the file is that long."""
    text = lines[at].strip() if at < len(lines) else ""
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"the number of {what} is missing", line=at + 1, field=what)
    count = int(text) if len(text) <= 18 else 10**18
    if count > MOST_ROWS:
        raise InputError(f"claims {text[:30]} {what}, at most {MOST_ROWS} are possible", line=at + 1, field=what)
    if count > len(lines) - at - 1:
        raise InputError(f"claims {text[:30]} {what}, the file has only {len(lines)} lines", line=at + 1, field=what)
    return count


def _cell_columns(lines: list[str], count: int) -> dict[str, list[str]]:
    if count == 0:
        raise InputError("has no cells", line=2)
    flat = "\n".join(lines[2 : 2 + count]).split()
    width = len(FIELDS)
    if len(flat) != count * width or not set(flat[FIELDS.index("status") :: width]) <= set(LETTERS):
        _refuse_uneven(lines[2 : 2 + count])
    return {name: flat[at::width] for at, name in enumerate(FIELDS)}


def _refuse_uneven(lines: list[str]) -> None:
    for at, text in enumerate(lines):
        if (fields := len(text.split())) != len(FIELDS):
            raise InputError(f"has {fields} fields, a cell has {len(FIELDS)}", cell=at)


def _positions(index: list[str]) -> dict[str, int]:
    """Where each index stands; usually 0, 1, 2, ..."""
    position = {text: at for at, text in enumerate(index)}
    if len(position) < len(index):
        twice = next(at for at, text in enumerate(index) if position[text] != at)
        raise InputError("the same cell occurs twice", field="index", cell=position[index[twice]])
    if not ("".join(index).isascii() and all(map(str.isdigit, index))):
        bad = next(at for at, text in enumerate(index) if not (text.isascii() and text.isdigit()))
        raise InputError("is not an index", field="index", cell=bad)
    return position


def _status(column: list[str]) -> NDArray[np.uint8]:
    for letter in set(column):
        if letter not in LETTERS:
            raise InputError(
                f"unknown status {printable(letter, 20)!r}: it is s, u, m or z",
                field="status",
                cell=column.index(letter),
            )
    return np.fromiter(map(LETTERS.__getitem__, column), np.uint8, len(column))


def _levels(given: list[Ints], status: NDArray[np.uint8], value: Ints, scale: int, rule: str | None) -> Levels:
    for name, level in zip(LEVELS, given, strict=True):
        refuse_negative_level(level, name)
    sensitive = status == Status.SENSITIVE
    lower, upper, sliding = (np.where(sensitive, level, 0) for level in given)
    if rule is not None:
        without = sensitive & (lower + upper + sliding == 0)
        by_rule = parse_rule(rule).levels(value, scale)
        lower, upper = np.where(without, by_rule, lower), np.where(without, by_rule, upper)
    return Levels(lower, upper, sliding)


@dataclass(frozen=True, eq=False)
class ParsedEquations:
    """Right-hand sides as texts, sizes, and the cells and signs of all equations one after the other."""

    rhs: list[str]
    size: Ints
    cell: Ints
    sign: Ints

    def lines(self, rhs: Ints) -> Lines:
        """The lines, with right-hand sides in the table's units."""
        line = np.repeat(np.arange(len(self.size)), self.size)
        return csr_lines(len(self.size), line, self.cell, self.sign, rhs)


def _equations(lines: list[str], at: int, position: dict[str, int]) -> ParsedEquations:
    count = _count(lines, at, "equations")
    if any(text.strip() for text in lines[at + 1 + count :]):
        raise InputError("there is more after the last equation", line=at + 2 + count)
    block = "\n".join(lines[at + 1 : at + 1 + count])
    for sign in "():":
        block = block.replace(sign, " ")
    tokens = [text.split() for text in block.split("\n")] if count else []
    for number, token in enumerate(tokens, at + 2):
        size = token[1] if len(token) > 1 and token[1].isascii() and token[1].isdigit() else "0"
        if not size.strip("0") or len(token) != 2 + 2 * int(size[:12]):
            raise InputError("is not an equation: rhs n : index (sign) ...", line=number, field="equation")
    sizes = np.array([len(token) // 2 - 1 for token in tokens], np.int64)
    cells = [index for token in tokens for index in token[2::2]]
    signs = [sign for token in tokens for sign in token[3::2]]
    line_of = np.repeat(np.arange(at + 2, at + 2 + count), sizes)
    cell = _cell_positions(cells, position, line_of)
    _refuse_twice(cell, line_of, len(position))
    return ParsedEquations([token[0] for token in tokens], sizes, cell, _signs(signs, line_of))


def _cell_positions(cells: list[str], position: dict[str, int], line_of: Ints) -> Ints:
    found = np.fromiter((position.get(index, -1) for index in cells), np.int64, len(cells))
    if (found < 0).any():
        at = int(np.argmax(found < 0))
        raise InputError(f"there is no cell {printable(cells[at], 20)}", line=int(line_of[at]), field="index")
    return found


def _refuse_twice(cell: Ints, line_of: Ints, cells: int) -> None:
    key = np.sort(line_of * cells + cell)
    if (again := np.flatnonzero(np.diff(key) == 0)).size:
        raise InputError("a cell occurs twice in the equation", line=int(key[again[0]]) // cells, field="index")


def _signs(signs: list[str], line_of: Ints) -> Ints:
    meaning: dict[str, int] = {}
    for text in set(signs):
        what = None
        if not _SIGN.fullmatch(text):
            what = "a sign is not an integer"
        elif len(text.lstrip("+-0")) > len(str(LARGEST_SIGN)) or abs(int(text)) > LARGEST_SIGN:
            what = "a sign is too large"
        elif int(text) == 0:
            what = "a sign is 0: a cell with that sign is not in the equation"
        if what is not None:
            raise InputError(what, line=int(line_of[signs.index(text)]), field="sign")
        meaning[text] = int(text)
    return np.fromiter(map(meaning.__getitem__, signs), np.int64, len(signs))


def _right_hand_sides(texts: list[str], first_line: int) -> Decimals:
    """The right-hand sides as numbers; a fault names the line of its equation."""
    try:
        return decimals(texts, "rhs")
    except InputError as fault:
        raise InputError(fault.what, line=first_line + (fault.cell or 0), field="rhs") from None


def _refuse_non_additive(lines: Lines, value: Ints, first_line: int) -> None:
    """The same check as the table's own, with the line of the equation."""
    if float(np.abs(value.astype(float)).sum()) * float(np.abs(lines.coef).max(initial=1)) >= 2.0**60:
        raise InputError("the values are too large for exact arithmetic: round them or use a larger unit")
    residual = lines.residual(value)
    if residual.any():
        at = int(np.flatnonzero(residual)[0])
        raise InputError(f"equation {at} does not add up", line=first_line + at)


def write_jj(table: Table, path: str | Path) -> None:
    """A table as a `.jj` file."""
    write_whole(path, jj_text(table))


def jj_text(table: Table) -> str:
    """The text of a `.jj` file."""
    return "\n".join([*_cell_lines(table), *_equation_lines(table)]) + "\n"


def _cell_lines(table: Table) -> list[str]:
    exact = [
        all_shown(v, table.scale, NO_BOUND) for v in (table.value, table.lb, table.ub, *vars(table.levels).values())
    ]
    value, lb, ub, lower, upper, sliding = exact
    weight = all_shown(table.weight, table.weight_scale, NO_BOUND)
    rows = zip(value, weight, status_letters(table.status), lb, ub, lower, upper, sliding, strict=True)
    return ["0", str(len(table)), *(f"{i} {' '.join(row)}" for i, row in enumerate(rows))]


def _equation_lines(table: Table) -> list[str]:
    lines = table.lines
    entry = [f"{c} ({k})" for c, k in zip(lines.cell.tolist(), lines.coef.tolist(), strict=True)]
    start = lines.start.tolist()
    out = [str(len(lines))]
    for i, rhs in enumerate(all_shown(lines.rhs, table.scale, NO_BOUND)):
        out.append(f"{rhs} {start[i + 1] - start[i]} : {' '.join(entry[start[i] : start[i + 1]])}")
    return out
