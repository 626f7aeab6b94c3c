"""The checker of proofs: derives what an attacker knows from the table itself, and believes nothing but arithmetic.

    python verify.py TABLE PATTERN PROOF [options]        standard library only; works when copied out alone

TABLE (.jj, or a long .csv with its .hrc hierarchies) gives values, bounds, levels and equations M x = rhs; PATTERN
says which cells are suppressed. PROOF holds witnesses: changes d of the table, integers over one denominator. One
holds when d is zero on published cells, M d = 0, and lb <= value + d <= ub; then no attacker can exclude value + d.
The pattern is safe when witnesses reach every sensitive cell's upper and lower level and, together, its sliding one.
Exit code: 0 accepted, 1 refused, 2 the table, the pattern or an option cannot be read.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import itertools
import json
import math
import re
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

HEAD = {"format": str, "notice": str, "audience": str, "table": str, "strict": bool, "whole": bool}
HEAD |= {"level_zero": str, "protect_secondary": bool, "cost": str, "lower_bound": str, "witnesses": int, "cuts": int}
FORMAT, NOTICE, AUDIENCE = "gpuga proof 1", "CONFIDENTIAL: internal use only", "office"
LEVELS = ("lower", "upper", "sliding")
MOST_STEPS = 40
FIGURES = ("value", *LEVELS, "lb", "ub", "weight", "contributors")
RESERVED = (*FIGURES, "status", "sensitive", "suppression", "rule", "members")
LETTERS = {"status": dict(zip(("", *"suzm"), "ssuzm", strict=True))}
LETTERS["sensitive"] = {"": "s", "0": "s", "false": "s", "1": "u", "true": "u"}
NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,2})?", re.ASCII)
RULE = re.compile(r"max\(\s*(X)\s*,\s*(X)\s*%\s*\)|(X)\s*%|(X)".replace("X", r"\d{1,30}(?:\.\d{1,30})?"), re.ASCII)
ZERO, NO_BOUND, MOST_BYTES = Fraction(0), 10**19, 2**30

Place = tuple[str, ...]
Added = list[tuple[int, list[int]]]
Tree = dict[str, str | None]
Columns = Mapping[str, list[str]]
Entries = list[tuple[int, int]]
Line = tuple[Entries, Fraction]
"""One equation: cells with their signs, and the right-hand side."""


class Unreadable(Exception):
    """The table, the pattern or an option is not as it should be."""


class Refused(Exception):
    """The proof does not prove that the pattern is safe."""


@dataclass
class ReadAs:
    """How a table is read: as protect was told."""

    levels: str | None = None
    weights: str | None = None
    total: str = "Total"
    hierarchies: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ignore: Sequence[str] = ()
    dimensions: Sequence[str] = ()
    totals: Mapping[str, str] = field(default_factory=dict)


@dataclass
class PlainTable:
    """Cells (statuses, figures by name; bounds None: no limit) and equations; `unit` is one of the last decimal."""

    names: list[str]
    places: list[Place]
    status: list[str]
    value: list[Fraction]
    lb: list[Fraction | None]
    ub: list[Fraction | None]
    level: dict[str, list[Fraction]]
    weight: list[Fraction]
    lines: list[Line]
    unit: Fraction

    def label(self, cell: int) -> str:
        """A cell for messages: never its value."""
        if cell >= len(self.places):
            entries = next(entries for entries, _ in self.lines if any(c == cell for c, _ in entries))
            members = [c for c, _ in entries if c != cell]
            more = f" and {len(members) - 3} more" if len(members) > 3 else ""
            return f"the sum of {', '.join(map(self.label, members[:3]))}{more}"
        if self.names == ["index"]:
            return f"cell {cell}"
        codes = (f"{plain(n)}={plain(c)}" for n, c in zip(self.names, self.places[cell], strict=True))
        return f"cell {cell} ({', '.join(codes)})"

    def digest(self) -> str:
        """The sha256 of everything that decides about safety."""
        return digest(self.unit, (self.status, self.value, self.lb, self.ub, *self.level.values()), self.lines)


def digest(unit: object, columns: Iterable[Iterable[object]], lines: Iterable[tuple[Entries, object]]) -> str:
    """The sha256 of cells (status, value, lb, ub, lower, upper, sliding) and of equations, these in any order."""
    cells = (" ".join(map(str, row)) for row in zip(*columns, strict=True))
    sums = sorted(f"{rhs}: {' '.join(f'{c} ({k})' for c, k in sorted(entries))}" for entries, rhs in lines)
    return hashlib.sha256("\n".join([str(unit), *cells, *sums]).encode()).hexdigest()


def plain(text: str) -> str:
    """Labels are hostile text: no control characters, not too long."""
    return "".join(c if c.isprintable() else "?" for c in text)[:80]


# ------------------------------------------------------------------------------------------------ numbers and files


def number(text: str, where: str) -> Fraction:
    """An exact number; the message does not repeat it."""
    if not NUMBER.fullmatch(text):
        raise Unreadable(f"{where}: is not a number")
    return Fraction(text)


def bound(text: str, where: str) -> Fraction | None:
    """A bound; None for inf, -inf and what is from 10^19 on."""
    if text.lower().strip("+-") in ("inf", "infinity"):
        return None
    exact = number(text, where)
    return None if abs(exact) >= NO_BOUND else exact


def unit_of(*numbers: Iterable[Fraction | None]) -> Fraction:
    """One unit of the last decimal that shows all of the numbers."""
    scale = 1
    for denominator in {n.denominator for column in numbers for n in column if n is not None}:
        while scale % denominator:
            scale *= 10
    return Fraction(1, scale)


def rule_of(text: str) -> tuple[Fraction, Fraction]:
    """Share and least level of a rule: 15%, 5 or max(1,10%)."""
    if (match := RULE.fullmatch(text.strip())) is None:
        raise Unreadable("--levels: write 15%, 5 or max(1,10%)")
    return Fraction(match[2] or match[3] or 0) / 100, Fraction(match[1] or match[4] or 0)


def weigh(kind: str, value: list[Fraction]) -> list[Fraction]:
    """Weights of a kind that needs nothing but values."""
    if kind == "log":
        return [Fraction(round(math.log1p(abs(float(v))) * 10**6), 10**6) for v in value]
    if kind not in ("value", "unit"):
        raise Unreadable("--weights: value, unit, log, or count where every row has contributors")
    return [abs(v) if kind == "value" else Fraction(1) for v in value]


def read_text(path: str) -> str:
    """The text of a UTF-8 file."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except (OSError, ValueError) as fault:
        raise Unreadable(f"{plain(path)}: cannot be read as UTF-8 text ({type(fault).__name__})") from None


def files_by_dimension(pairs: Iterable[str]) -> dict[str, list[str]]:
    """The hierarchy files of dimensions, one or several each, from texts such as region=region.hrc."""
    files: dict[str, list[str]] = {}
    for name, file in (pair.partition("=")[::2] for pair in pairs):
        if not name or not file:
            raise Unreadable("--hierarchy: write DIM=FILE.hrc")
        files.setdefault(name, []).append(file)
    return files


def codes_of_totals(texts: Iterable[str]) -> tuple[str, dict[str, str]]:
    """The code of all totals, and of those in single dimensions, from texts such as Sum and region=All."""
    plainly = [text for text in texts if "=" not in text]
    return (plainly or ["Total"])[-1], dict(text.partition("=")[::2] for text in texts if "=" in text)


def sheet(path: str) -> dict[str, list[str]]:
    """The columns of a CSV file by name, without blanks around; semicolons or tabs where the header has no comma."""
    text = read_text(path)
    delimiter = next((sign for sign in ",;\t" if sign in text.partition("\n")[0]), ",")
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    except csv.Error:
        rows = []
    names = [name.strip() for name in rows[0]] if rows else []
    if not names or len(set(names)) < len(names) or any(len(row) != len(names) for row in rows):
        raise Unreadable(f"{plain(path)}: is not CSV, or its rows or column names are uneven")
    return {name: [row[at].strip() for row in rows[1:]] for at, name in enumerate(names)}


def hierarchy(path: str, total: str) -> dict[str, str | None]:
    """Each code's parent in a .hrc file, the total last; depth is shown by leading signs."""
    texts = [t.rstrip() for t in read_text(path).splitlines() if t.strip()]
    other = next((t[0] for t in texts[1:] if not t[0].isalnum()), "@")
    sign = "@" if any(t.startswith("@") for t in texts) else other
    parent: dict[str, str | None] = {}
    above = [total]
    for text in texts:
        code, depth = text.lstrip(sign).strip(), len(text) - len(text.lstrip(sign))
        if not code or code in parent or code == total or depth >= len(above):
            raise Unreadable(f"{plain(path)}: is not a hierarchy below {plain(total)}")
        del above[depth + 1 :]
        parent[code] = above[-1]
        above.append(code)
    return parent | {total: None}


# ------------------------------------------------------------------------------------------------ tables


def read_table(path: str, reading: ReadAs) -> PlainTable:
    """The table in a .jj or a long .csv file."""
    if path.lower().endswith(".parquet"):
        raise Unreadable(f"{plain(path)}: this checker reads text tables only; gpuga verify reads Parquet as well")
    return jj_table(path, reading) if path.lower().endswith(".jj") else long_table(sheet(path), reading)


def jj_table(path: str, reading: ReadAs) -> PlainTable:
    """Cells `index value weight status lb ub lower upper sliding`, equations `rhs n : index (sign) ...`."""
    text = read_text(path).splitlines()
    try:
        end = 2 + int(text[1])
        cells = [line.split() for line in text[2:end]]
        equations = [re.sub("[():]", " ", line).split() for line in text[end + 1 :] if line.strip()]
        place = {cell[0]: at for at, cell in enumerate(cells)}
        pairs = [[(place[c], int(k)) for c, k in zip(e[2::2], e[3::2], strict=True)] for e in equations]
        uneven = any(len(e) != 2 + 2 * int(e[1]) for e in equations) or {len(c) for c in cells} != {9}
        if uneven or text[0].strip() != "0" or len(place) < len(cells) or len(equations) != int(text[end]):
            raise ValueError
    except (ValueError, IndexError, KeyError):
        raise Unreadable(f"{plain(path)}: is not a .jj table") from None
    _, values, weights, status, lows, highs, *levels = (list(column) for column in zip(*cells, strict=True))
    value, weight, *level = ([number(x, plain(path)) for x in column] for column in (values, weights, *levels))
    lb, ub = ([bound(x, plain(path)) for x in column] for column in (lows, highs))
    rhs = [number(e[0], plain(path)) for e in equations]
    unit = unit_of(value, lb, ub, rhs, *level)
    share, least = rule_of(reading.levels or "0")
    for cell in range(len(cells)):
        asked = [column[cell] if status[cell] == "u" else ZERO for column in level]
        if status[cell] == "u" and not any(asked):
            asked = [max(share * abs(value[cell]), least)] * 2 + [ZERO]
        for column, x in zip(level, asked, strict=True):
            column[cell] = x
    unit *= unit_of([share, least])
    weight = weight if reading.weights is None else weigh(reading.weights, value)
    by_name = dict(zip(LEVELS, level, strict=True))
    lines = list(zip(pairs, rhs, strict=True))
    return sound(PlainTable(["index"], [(c,) for c in place], status, value, lb, ub, by_name, weight, lines, unit))


def long_table(columns: Columns, reading: ReadAs) -> PlainTable:
    """A table from columns: one row per cell, then one per group (those with `members`)."""
    rows = len(columns.get("value", ()))
    count = next((row for row, text in enumerate(columns.get("members", ())) if text), rows)
    names = dimension_names({n: c[:count] for n, c in columns.items()}, reading)
    totals = {n: reading.totals.get(n, reading.total) for n in names}
    trees = [dimension(columns[n][:count], reading.hierarchies.get(n, ()), totals[n]) for n in names]
    given = list(zip(*(columns[n][:count] for n in names), strict=True))
    known = [{code for tree in axis for code in tree} for axis in trees]
    if len(set(given)) < count or any(not c or c not in known[a] for place in given for a, c in enumerate(place)):
        raise Unreadable("a cell occurs twice, or a code is blank or not in its hierarchy")
    places, lines, added = with_totals(given, trees)
    text = {n: columns.get(n, [""] * rows) for n in FIGURES}
    if "" in text["value"]:
        raise Unreadable("a value is blank")
    figure = {n: [number(t or "0", n) for t in text[n]] for n in FIGURES if n not in ("lb", "ub")}
    lb, ub = ([bound(t, n) if t else None for t in text[n][:count]] for n in ("lb", "ub"))
    status = statuses(columns, count) + ["s"] * (len(places) - count)
    unit = unit_of(lb, ub, *(figure[n][:count] for n in ("value", *LEVELS)))
    share, least = rule_of(reading.levels or "15%")
    ruled = [row for row in range(count) if status[row] == "u" and not any(text[n][row] for n in LEVELS)]
    for row in ruled:
        figure["lower"][row] = figure["upper"][row] = max(share * abs(figure["value"][row]), least)
    unit *= unit_of([share, least] if ruled else [])
    unit = min(unit, unit_of(*(figure[n][count:] for n in ("value", *LEVELS))))

    def continued(numbers: list[Fraction]) -> list[Fraction]:
        numbers = numbers[:count] + [ZERO] * (len(places) - count)
        for total, parts in added:
            numbers[total] = sum((numbers[part] for part in parts), ZERO)
        return numbers

    value = continued(figure["value"])
    lowest = None if min(value) < 0 and not all(text["lb"][:count] + [""] * len(added)) else ZERO
    lb = [x if t else lowest for x, t in zip(lb, text["lb"], strict=False)] + [lowest] * len(added)
    if reading.weights == "count" and "contributors" in columns and "" not in text["contributors"][:count]:
        weight = continued(figure["contributors"])
    elif reading.weights is None and "weight" in columns:
        weight = continued(figure["weight"])
    else:
        weight = weigh(reading.weights or "value", value)
    status = ["z" if s == "s" and v == 0 else s for s, v in zip(status, value, strict=True)]
    level = {n: [figure[n][c] if c < count and s == "u" else ZERO for c, s in enumerate(status)] for n in LEVELS}
    table = PlainTable(names, places, status, value, lb, ub + [None] * len(added), level, weight, lines, unit)
    for row in range(count, rows):
        add_group(table, columns["members"][row].split(), count, {n: figure[n][row] for n in ("value", *LEVELS)})
    return sound(table)


def dimension_names(columns: Columns, reading: ReadAs) -> list[str]:
    """The columns that are neither reserved, nor ignored, nor a numbering of the rows."""
    names = [c for c in columns if c not in RESERVED and c not in reading.ignore]
    if near := [c for c in names if c.lower() in RESERVED and c not in reading.dimensions]:
        raise Unreadable(f"column {plain(near[0])!r} is nearly a reserved name: write it small, or --ignore it")
    for name in [c for c in names if c in ("cell_number", "index", "id") and c not in reading.dimensions]:
        if len(names) > 1 and len(set(columns[name])) == len(columns[name]):
            names.remove(name)
    if not names or "value" not in columns or not {*reading.hierarchies} <= {*names}:
        raise Unreadable("the table has no column value, no dimension, or not the one of --hierarchy")
    return names


def dimension(codes: list[str], paths: Sequence[str], total: str) -> list[Tree]:
    """Each code's parent in every hierarchy, codes in the order in which cells are numbered."""
    if paths:
        return without_repeats([hierarchy(path, total) for path in paths])
    distinct = list(dict.fromkeys(codes))
    top = total if len(distinct) > 1 else distinct[0]
    return [{code: None if code == top else top for code in dict.fromkeys([*distinct, top])}]


def without_repeats(trees: list[Tree]) -> list[Tree]:
    """Hierarchies of which each but the first has lost the breakdowns that one before it has, too."""
    seen: set[tuple[str, frozenset[str]]] = set()
    for tree in trees:
        parts: dict[str, set[str]] = {}
        for code, parent in tree.items():
            if parent is not None:
                parts.setdefault(parent, set()).add(code)
        for total, codes in parts.items():
            if (total, frozenset(codes)) in seen:
                tree.update(dict.fromkeys(codes))
            seen.add((total, frozenset(codes)))
    return trees


def with_totals(given: list[Place], axes: list[list[Tree]]) -> tuple[list[Place], list[Line], Added]:
    """All places, missing totals behind the given ones; the equations; and the parts of every added total."""
    codes = [[*dict.fromkeys(c for tree in trees for c in [*tree][:-1]), [*trees[0]][-1]] for trees in axes]
    order = [{code: at for at, code in enumerate(names)} for names in codes]
    depth = [steps_up(names, trees) for names, trees in zip(codes, axes, strict=True)]
    there = {place: cell for cell, place in enumerate(given)}

    def raised(place: Place, axis: int, tree: Tree) -> Place:
        return (*place[:axis], str(tree[place[axis]]), *place[axis + 1 :])

    for axis, trees in enumerate(axes):
        for steps in range(max(depth[axis].values()), 0, -1):
            for tree in trees:
                low = [p for p in there if depth[axis][p[axis]] == steps and tree.get(p[axis]) is not None]
                above = {raised(p, axis, tree) for p in low}
                for new in sorted(above - there.keys(), key=lambda p: [order[a][c] for a, c in enumerate(p)]):
                    there[new] = len(there)
    parts: dict[Place, dict[tuple[int, int], list[int]]] = {}
    for axis, trees in enumerate(axes):
        for number, tree in enumerate(trees):
            for place, cell in there.items():
                if tree.get(place[axis]) is not None:
                    parts.setdefault(raised(place, axis, tree), {}).setdefault((axis, number), []).append(cell)
    lines = [
        ([*((c, 1) for c in cells), (there[total], -1)], ZERO) for total in parts for cells in parts[total].values()
    ]
    added = sorted(list(there)[len(given) :], key=lambda p: -sum(depth[a][c] for a, c in enumerate(p)))
    return list(there), lines, [(there[p], parts[p][min(parts[p])]) for p in added]


def steps_up(codes: list[str], trees: list[Tree]) -> dict[str, int]:
    """How many steps the longest way up from each code has."""
    steps = dict.fromkeys(codes, 0)
    for _ in range(MOST_STEPS + 1):
        above = {code: [parent for tree in trees if (parent := tree.get(code)) is not None] for code in codes}
        longer = {code: max((1 + steps[parent] for parent in above[code]), default=0) for code in codes}
        if longer == steps:
            return steps
        steps = longer
    raise Unreadable("the hierarchies of a dimension contradict each other, or are too deep")


def statuses(columns: Columns, count: int) -> list[str]:
    """The letters of the column status, or those that the column sensitive stands for."""
    name = "sensitive" if "sensitive" in columns else "status"
    words = [word.lower().removesuffix(".0") for word in columns.get(name, [""] * count)[:count]]
    if not {*words} <= LETTERS[name].keys() or {"status", "sensitive"} <= columns.keys():
        raise Unreadable("status: it is s, u, z or m (or in a column sensitive, alone, 0 or 1)")
    return [LETTERS[name][word] for word in words]


def add_group(table: PlainTable, members: list[str], count: int, figure: Mapping[str, Fraction]) -> None:
    """A group is one more sensitive cell, never published: the sum of some cells, with levels of its own."""
    cells = [int(m) for m in members if m.isascii() and m.isdigit() and int(m) < count]
    if len({*cells}) < max(len(members), 2) or sum(table.value[c] for c in cells) != figure["value"]:
        raise Unreadable("members: a group lists different cells, at least two, and its value is their sum")
    low = [x for c in cells if (x := table.lb[c]) is not None]
    table.lines.append(([*((c, 1) for c in cells), (len(table.value), -1)], ZERO))
    table.lb.append(sum(low, ZERO) if len(low) == len(cells) else None)
    table.ub.append(None)
    table.status.append("u")
    table.weight.append(ZERO)
    for column, name in ((table.value, "value"), *((table.level[n], n) for n in LEVELS)):
        column.append(figure[name])


def sound(table: PlainTable) -> PlainTable:
    """The table, once statuses are known, values lie in their bounds and equations add up."""
    if not {*table.status} <= {*"suzm"} or min(min(column) for column in table.level.values()) < 0:
        raise Unreadable("a status is not s, u, z or m, or a level is negative")
    for cell, (value, low, high) in enumerate(zip(table.value, table.lb, table.ub, strict=True)):
        if (low is not None and value < low) or (high is not None and value > high):
            raise Unreadable(f"{table.label(cell)} lies outside its bounds")
    for at, (entries, rhs) in enumerate(table.lines):
        if len({c for c, _ in entries}) < len(entries) or sum(k * table.value[c] for c, k in entries) != rhs:
            raise Unreadable(f"equation {at} names a cell twice or does not add up")
    table.lines.sort(key=in_order)
    return table


def in_order(line: Line) -> tuple[Entries, Fraction]:
    """Equations are counted in the order of their cells, however a file lists them."""
    return sorted(line[0]), line[1]


def read_pattern(columns: Columns, table: PlainTable) -> list[bool]:
    """Which cells are suppressed: rows matched by their codes, else by an index; cells not named are published."""
    words = [word.lower() for word in columns.get("suppression", ["?"])]
    numbered = next((n for n in ("index", "cell", "cell_number", "position") if n in columns), None)
    place = {codes: cell for cell, codes in enumerate(table.places)}
    names = table.names
    if numbered and not {*names} <= columns.keys():
        names = [numbered]
        place = place if table.names == ["index"] else {(str(cell),): cell for cell in range(len(table.value))}
    if not {*words} <= {"published", "primary", "secondary"} or not {*names} <= columns.keys():
        raise Unreadable("the pattern needs the dimensions or an index, and suppression: published or not")
    cells = [place.get(codes, -1) for codes in zip(*(columns[n] for n in names), strict=True)]
    if -1 in cells or len({*cells}) < len(cells):
        raise Unreadable("a row of the pattern is no cell of the table, or a cell occurs twice")
    suppressed = [status in "um" for status in table.status]
    for cell, word in zip(cells, words, strict=True):
        suppressed[cell] = word != "published"
    return suppressed


# ------------------------------------------------------------------------------------------------ proofs


def read_proof(path: str) -> tuple[dict[str, object], list[object]]:
    """Head and other lines of a file of JSON lines, plain or gzip; the last one is the sha256 of those before."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES)
        if data[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(MOST_BYTES)
    except (OSError, EOFError, ValueError, zlib.error) as fault:
        raise Unreadable(f"{plain(path)}: cannot be read ({type(fault).__name__})") from None
    body, _, last = data.removesuffix(b"\n").rpartition(b"\n")
    try:
        head, *records = (json.loads(line, parse_float=refuse, parse_constant=refuse) for line in body.split(b"\n"))
        fits = {name: type(x) for name, x in head.items()} == HEAD
        fits = fits and len(records) == head["witnesses"] + head["cuts"] + (1 if head["lower_bound"] else 0)
        fits = fits and head["witnesses"] >= 0 <= head["cuts"] and bool(head["cuts"]) == bool(head["lower_bound"])
        stated = json.loads(last)["sha256"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Refused("the file is not a whole proof") from None
    if stated != hashlib.sha256(body + b"\n").hexdigest():
        raise Refused("the proof was changed or damaged: its checksum does not fit")
    if not fits or (head["format"], head["notice"], head["audience"]) != (FORMAT, NOTICE, AUDIENCE):
        raise Refused("the head of the proof does not fit this format or its content")
    return head, records


def refuse(text: str) -> None:
    """Floats have no place in a proof."""
    raise ValueError(text)


def integers(given: object) -> list[int]:
    """A list of whole numbers and nothing else."""
    if type(given) is not list or any(type(x) is not int for x in given):
        raise Refused("the proof has something else where whole numbers belong")
    return given


class AllowedMoves:
    """The changes that witnesses may make: the equations of each cell, and how far suppressed cells may move."""

    def __init__(self, table: PlainTable, suppressed: list[bool]) -> None:
        self.table, self.suppressed = table, suppressed
        self.lines: list[list[tuple[int, int]]] = [[] for _ in table.value]
        for line, (entries, _) in enumerate(table.lines):
            for cell, sign in entries:
                self.lines[cell].append((line, sign))

    def fault(self, denominator: int, cells: list[int], amounts: list[int]) -> str | None:
        """Why a change of the table is not one that the attacker must reckon with; None where it is."""
        table = self.table
        rising = all(a < b for a, b in itertools.pairwise(cells))
        if denominator < 1 or not cells or not rising or len(cells) != len(amounts) or 0 in amounts:
            return "it is not a denominator, different cells in rising order and an amount for each"
        if cells[0] < 0 or cells[-1] >= len(table.value):
            return "it moves what is no cell"
        balance: dict[int, int] = {}
        for cell, amount in zip(cells, amounts, strict=True):
            limit = table.ub[cell] if amount > 0 else table.lb[cell]
            room = None if limit is None else abs(limit - table.value[cell])
            if not self.suppressed[cell]:
                return f"it moves {table.label(cell)}, which is published"
            if room is not None and abs(amount) * room.denominator > room.numerator * denominator:
                return f"it moves {table.label(cell)} beyond a bound"
            for line, sign in self.lines[cell]:
                balance[line] = balance.get(line, 0) + sign * amount
        broken = [line for line, off in balance.items() if off]
        return f"equation {min(broken)} no longer adds up" if broken else None


def reaches(allowed: AllowedMoves, records: list[object], whole: bool) -> dict[tuple[int, int], Fraction]:
    """How far cells (up: +1, down: -1) are shown to move, once every witness is checked.

    A witness is `[denominator, cells, amounts, shown cells, how far each]`.
    """
    shown: dict[tuple[int, int], Fraction] = {}
    for at, record in enumerate(records):
        if type(record) is not list or len(record) != 5 or type(record[4]) is not list:
            raise Refused(f"witness {at} is not a list of denominator, cells, amounts, shown cells and distances")
        [denominator] = integers(record[:1])
        cells, amounts, subjects = (integers(part) for part in record[1:4])
        if (fault := allowed.fault(denominator, cells, amounts)) is not None:
            raise Refused(f"witness {at} does not hold: {fault}")
        if (whole and denominator != 1) or not subjects or len(subjects) != len(record[4]):
            raise Refused(f"witness {at} is not whole, or does not say what it shows")
        moved = dict(zip(cells, amounts, strict=True))
        for cell, stated in zip(subjects, record[4], strict=True):
            amount = Fraction(moved.get(cell, 0), denominator)
            key = cell, 1 if amount > 0 else -1
            if amount == 0 or key in shown or str(abs(amount)) != stated:
                raise Refused(f"witness {at} does not move cell {cell} as far as it claims, or repeats another witness")
            shown[key] = abs(amount)
    return shown


def lacking(table: PlainTable, head: Mapping[str, object], cell: int, up: Fraction, down: Fraction) -> str | None:
    """What is not shown of a suppressed cell that can move so far up and down; None where all is."""
    if table.status[cell] != "u":
        return None if up + down > 0 else "movement"
    lower, upper, sliding = (table.level[n][cell] for n in LEVELS)
    if not (lower or upper or sliding or head["strict"]) and head["level_zero"] == "exact":
        sliding = table.unit
    asked = [("upper level", up, upper), ("lower level", down, lower)]
    asked += [("sliding level", up + down, sliding)] if sliding else []
    return next((name for name, x, least in asked if x < least or (head["strict"] and x == least)), None)


# ------------------------------------------------------------------------------------------------ lower bounds

Row = dict[int, int]


class Cuts:
    """Inequalities `row x >= rhs` in integers that the cheapest safe patterns x (1: suppressed) satisfy.

    For any multipliers y of equations, p = y M has p d = 0, whatever change d of the table an attacker thinks of. So a
    cell k of p can move by a level only if the others in p can balance it: `level`. Of cells in p none moves alone, and
    a secondary that cannot move protects nothing, so that some cheapest safe pattern has none: `alone`.
    """

    def __init__(self, table: PlainTable, strict: bool, whole: bool) -> None:
        self.table, self.strict = table, strict
        self.units = {"level": table.unit} | ({"whole level": Fraction(1)} if whole else {})
        self.free = {
            c for c, s in enumerate(table.status) if s == "s" and not table.lb[c] == table.value[c] == table.ub[c]
        }
        self.figure = 0

    def product(self, lines: list[int], y: list[int]) -> Row:
        """`y M`, y being whole numbers without a common factor, the first one positive."""
        found: Row = {}
        if min(integers(lines)) < 0 or math.gcd(*integers(y)) != 1 or y[0] < 0 or 0 in y:
            raise Refused("a cut uses multipliers of equations that are not in lowest terms")
        for line, times in zip(lines, y, strict=True):
            for cell, sign in self.table.lines[line][0]:
                found[cell] = found.get(cell, 0) + times * sign
        self.figure += weighed(found)
        return {cell: sign for cell, sign in found.items() if sign and self.table.status[cell] != "z"}

    def checked(self, said: list[Any]) -> tuple[Row, int, int]:
        """The inequality that an expression of the proof stands for, and the check figure of all that it is made of."""
        self.figure = 0
        return *self.cut(said), self.figure

    def cut(self, said: list[Any]) -> tuple[Row, int]:
        """The inequality that an expression stands for; its figures are added to the check figure."""
        row, rhs = self.made(said)
        self.figure += weighed(row) + rhs
        return row, rhs

    def made(self, said: list[Any]) -> tuple[Row, int]:
        """The inequality itself."""
        match said:
            case ["level" | "whole level" as kind, int(cell), "up" | "down" as way, lines, y]:
                return self.level(cell, way, self.product(lines, y), self.units[kind])
            case ["alone", int(cell), lines, y]:
                product = self.product(lines, y)
                if cell not in product or any(self.table.status[c] != "s" for c in product):
                    raise Refused("a cut of kind alone names a cell or equations for which it does not hold")
                return {c: -1 if c == cell else 1 for c in product if c in self.free}, 0
            case ["small", below]:
                return small(*positive(*self.cut(below)))
            case ["one", below]:
                return dict.fromkeys(positive(*self.cut(below))[0], 1), 1
            case ["cover", cover, below]:
                return covered(*positive(*self.cut(below)), integers(cover))
            case ["divide", int(divisor), cover, below] if divisor > 0:
                return divided(*positive(*self.cut(below)), divisor, {*integers(cover)})
            case ["half", lowered, list(several)]:
                return half([self.cut(below) for below in several], integers(lowered))
        raise Refused("a cut is of no known kind")

    def level(self, cell: int, way: str, product: Row, unit: Fraction) -> tuple[Row, int]:
        """The cells of p that balance a move of `cell` up or down by its level: none counts for more."""
        table = self.table
        level = table.level["upper" if way == "up" else "lower"][cell] / unit
        own = product.pop(cell, 0)
        if table.status[cell] != "u" or own == 0:
            raise Refused("a cut uses a level that nobody asks for")
        need = abs(own) * math.floor(level) + 1 if self.strict else abs(own) * math.ceil(level)
        row, left = {}, need
        for other, sign in product.items():
            limit = table.ub[other] if (sign * own < 0) == (way == "up") else table.lb[other]
            gain = need if limit is None else min(need, abs(sign) * math.floor(abs(limit - table.value[other]) / unit))
            if other in self.free:
                row[other] = gain
            elif table.status[other] in "um":
                left -= gain  # suppressed in any case
        return positive({c: min(gain, left) for c, gain in row.items() if gain}, left)


def weighed(row: Row) -> int:
    """A figure that tells rows apart."""
    return sum((cell + 1) ** 2 * k for cell, k in row.items())


def positive(row: Row, rhs: int) -> tuple[Row, int]:
    """An inequality that asks for something and whose coefficients are positive."""
    if rhs <= 0 or any(k <= 0 for k in row.values()):
        raise Refused("a cut uses an inequality that asks for nothing")
    return row, rhs


def small(row: Row, rhs: int) -> tuple[Row, int]:
    """The same in small integers: divided by what is common, and rounded to the weak side beyond 30 bits."""
    common = math.gcd(rhs, *row.values())
    shift = max(0, (rhs // common).bit_length() - 30)
    asked = rhs // common >> shift
    return {c: min((k // common >> shift) + (shift > 0), asked) for c, k in row.items()}, asked


def covered(row: Row, rhs: int, cover: list[int]) -> tuple[Row, int]:
    """What is left to the other cells when those of the cover are suppressed."""
    left = rhs - sum(row[c] for c in cover)
    return positive({c: min(k, left) for c, k in row.items() if c not in cover}, left)


def divided(row: Row, rhs: int, divisor: int, cover: set[int]) -> tuple[Row, int]:
    """Mixed-integer rounding: `1 - x` for x in the cover, divided, and rounded up where integers allow it."""
    left = rhs - sum(row[c] for c in cover)
    rest = left % divisor

    def step(k: int) -> int:
        return rest * (k // divisor) + min(rest, k % divisor)

    made = {c: -step(-k) if c in cover else step(k) for c, k in row.items()}
    asked = rest * -(-left // divisor) + sum(made[c] for c in cover)
    return positive({c: min(k, asked) for c, k in made.items() if k}, asked)


def half(cuts: list[tuple[Row, int]], lowered: list[int]) -> tuple[Row, int]:
    """Half the sum of inequalities and of `-x >= -1` for the cells to be lowered, rounded up: x are integers."""
    total = dict.fromkeys(lowered, -1)
    for row, _ in cuts:
        for cell, k in row.items():
            total[cell] = total.get(cell, 0) + k
    asked = -(-(sum(rhs for _, rhs in cuts) - len({*lowered})) // 2)
    made = {c: -(-k // 2) for c, k in total.items() if -(-k // 2)}
    if asked <= 0:
        raise Refused("a cut uses an inequality that asks for nothing")
    return ({c: min(k, asked) for c, k in made.items()} if all(k > 0 for k in made.values()) else made), asked


def lower_bound(table: PlainTable, cuts: Cuts, lines: list[object], last: object) -> Fraction:
    """What no safe pattern can undercut, by cuts `[multiplier, cut, check figure, right-hand side]`.

    `last` is `[denominator, sum of multipliers, cells, caps, total]`. Multipliers, and caps as those of `-x >= -1`, are
    divided by the denominator; every cell's weight must cover its share, and then the right-hand sides make the total.
    """
    scale = math.lcm(*(w.denominator for w in table.weight))
    if type(last) is not list or len(last) != 5 or min(integers(last[:2])) < 1:
        raise Refused("the bound is not a list of denominator, sum of multipliers, cells, caps and total")
    denominator, left, capped, caps = last[0], last[1], integers(last[2]), integers(last[3])
    share: Row = {c: -z for c, z in zip(capped, caps, strict=True) if z > 0 and c in cuts.free}
    if len(share) < len(capped):
        raise Refused("a cap is not one of a cell that may be suppressed")
    total = sum(share.values())
    for at, line in enumerate(lines):
        if type(line) is not list or len(line) != 4 or type(line[1]) is not list:
            raise Refused(f"cut {at} is not multiplier, cut, check figure, right-hand side")
        row, rhs, figure = cuts.checked(line[1])
        times, *stated = integers([line[0], *line[2:]])
        if times < 1 or stated != [figure, rhs]:
            raise Refused(f"cut {at} is not what it says")
        total, left = total + times * rhs, left - times
        for cell, k in row.items():
            share[cell] = share.get(cell, 0) + times * k
    if any(k > table.weight[c] * scale * denominator for c, k in share.items()):
        raise Refused("the bound uses more than the weights of the cells")
    forced = sum((w for w, s in zip(table.weight, table.status, strict=True) if s == "m"), ZERO)
    exact = Fraction(total, scale * denominator)
    if left or last[4] != str(exact):
        raise Refused("the bound is not what its multipliers give")
    step = Fraction(math.gcd(*(int(table.weight[c] * scale) for c in cuts.free)) or 1, scale)
    return forced + math.ceil(exact / step) * step


# ------------------------------------------------------------------------------------------------ the verdict


def shown_number(exact: Fraction) -> str:
    """A number for people."""
    return str(Decimal(exact.numerator) / Decimal(exact.denominator))


def bound_proven(table: PlainTable, head: Mapping[str, object], records: list[object]) -> str:
    """The bound in words, once the records of its cuts, and the sum of them at the end, prove what the head states."""
    try:
        cuts = Cuts(table, bool(head["strict"]), bool(head["whole"]))
        bound = lower_bound(table, cuts, records[:-1], records[-1])
    except (ValueError, TypeError, LookupError, RecursionError):
        raise Refused("the bound is not made of cuts") from None
    if head["lower_bound"] != str(bound):
        raise Refused("the proof states another bound than it proves")
    return f"lower bound {shown_number(bound)} proven"


def check(table: PlainTable, suppressed: list[bool], head: Mapping[str, object], records: list[object]) -> list[str]:
    """The verdict in sentences, once everything holds; else `Refused` says what does not."""
    for cell, hidden in enumerate(suppressed):
        if hidden and table.status[cell] == "z":
            raise Refused(f"the pattern suppresses {table.label(cell)}, which must be published")
        if not hidden and table.status[cell] == "u":
            raise Refused(f"the pattern publishes the sensitive {table.label(cell)}")
    if head["table"] != table.digest():
        raise Refused("the proof is of another table, or protect read it with other options (--levels, --total, ...)")
    if head["level_zero"] not in ("exact", "ignore") or (head["whole"] and any(v.denominator > 1 for v in table.value)):
        raise Refused("the proof speaks of an attacker that this table does not have")
    count, strict = int(str(head["witnesses"])), bool(head["strict"])
    shown = reaches(AllowedMoves(table, suppressed), records[:count], bool(head["whole"]))
    judged = [c for c, s in enumerate(table.status) if s == "u" or (head["protect_secondary"] and suppressed[c])]
    for cell in judged:
        if (what := lacking(table, head, cell, shown.get((cell, 1), ZERO), shown.get((cell, -1), ZERO))) is not None:
            raise Refused(f"{table.label(cell)}: no witness shows its {what}")
    if needless := {cell for cell, _ in shown} - {*judged}:
        raise Refused(f"the proof speaks of {table.label(min(needless))}, of which nothing is to be shown")
    secondary = [c for c, s in enumerate(table.status) if suppressed[c] and s != "u"]
    cost = sum((table.weight[c] for c in secondary), ZERO)
    if head["cost"] != str(cost):
        raise Refused("the pattern does not cost what the proof says (were --weights the same?)")
    said = bound_proven(table, head, records[count:]) if head["lower_bound"] else "no bound in this proof"
    yes = {True: "yes", False: "no"}
    return [
        f"accepted: {table.status.count('u')} sensitive cells and {len(secondary)} secondaries, "
        f"{count} witnesses, all of them hold",
        f"attacker: strict {yes[strict]}, whole numbers {yes[bool(head['whole'])]}, "
        f"level zero {head['level_zero']}, secondaries {yes[bool(head['protect_secondary'])]}",
        f"cost {shown_number(cost)}, {said}",
    ]


def demand(head: Mapping[str, object], strict: bool, whole: str, protect_secondary: bool, level_zero: str) -> None:
    """Refuse a proof of less than what is asked about."""
    wanted = {"strict": strict, "whole": whole == "yes", "protect_secondary": protect_secondary}
    lacks = [name for name, is_wanted in wanted.items() if is_wanted and not head[name]]
    lacks += ["level_zero"] if (level_zero, head["level_zero"]) == ("exact", "ignore") else []
    if lacks:
        raise Refused(f"the proof is of a weaker attacker: it was made without --{lacks[0].replace('_', '-')}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checker on its own."""
    parser = argparse.ArgumentParser(description="Check a proof that a pattern of suppressions is safe.")
    for name, what in (("table", "the whole table"), ("pattern", "the pattern"), ("proof", "the proof of its safety")):
        parser.add_argument(name, help=what)
    parser.add_argument(
        "--levels", metavar="RULE", help="levels of sensitive cells without any: 15%%, 5 or max(1,10%%) (default: 15%%)"
    )
    parser.add_argument(
        "--weights", choices=("value", "count", "unit", "log"), help="cost of suppressing a cell (default: the file's)"
    )
    parser.add_argument(
        "--hierarchy", action="append", default=[], metavar="DIM=FILE.hrc", help="hierarchy of a dimension"
    )
    parser.add_argument(
        "--total", action="append", default=[], metavar="[DIM=]CODE", help="code of the totals (default: Total)"
    )
    for name, what in (("ignore", "column that is no dimension"), ("dimension", "column that is one despite its name")):
        parser.add_argument(f"--{name}", action="append", default=[], metavar="COLUMN", help=what)
    parser.add_argument("--strict", action="store_true", help="require a proof that levels are exceeded")
    parser.add_argument(
        "--protect-secondary", action="store_true", help="require a proof that covers secondary suppressions"
    )
    parser.add_argument(
        "--whole",
        choices=("auto", "yes", "no"),
        default="auto",
        help="yes: require a proof against an attacker who knows that values are whole numbers",
    )
    parser.add_argument(
        "--level-zero",
        choices=("exact", "ignore"),
        default="ignore",
        help="exact: require a proof that covers levels of 0",
    )
    given = parser.parse_args(arguments)
    try:
        trees = files_by_dimension(given.hierarchy)
        total, totals = codes_of_totals(given.total)
        reading = ReadAs(given.levels, given.weights, total, trees, given.ignore, given.dimension, totals)
        table = read_table(given.table, reading)
        suppressed = read_pattern(sheet(given.pattern), table)
        head, records = read_proof(given.proof)
        demand(head, given.strict, given.whole, given.protect_secondary, given.level_zero)
        print(NOTICE, *check(table, suppressed, head, records), sep="\n")
    except Refused as fault:
        print(f"refused: {fault}")
        return 1
    except Unreadable as fault:
        print(f"verify: {fault}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
