"""The bound of a proof: cuts as the checker derives them, with multipliers that add up exactly.

Cuts carry how they were made (see `Cuts` in `gpuga/verify.py`). The checker's own functions make the inequalities
again, a linear program over these proposes multipliers, and what they prove is computed in integers. So the bound of a
proof is never more than the checker can follow, whatever was left out on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np

from gpuga import verify
from gpuga.bounds.separators.derivations import Derivation
from gpuga.lp.cut_session import cut_session
from gpuga.lp.solver import Rows
from gpuga.protection import Bound
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.table import INFINITE, Ints, Table, status_letters

DENOMINATOR = 2**40


@dataclass(frozen=True)
class Restated:
    """The lines of a proof that prove a bound: cuts with multipliers, the last line, and the bound itself."""

    cuts: list[object]
    last: list[object]
    bound: Fraction


def restated_bound(table: Table, bound: Bound | None, model: AttackerModel) -> Restated | None:
    """What of a bound the checker can follow: the part that its root proves; None where it has none."""
    if bound is None or bound.root is None:
        return None
    level = "level" if bound.root.table.scale == table.scale else "whole level"
    position = _positions(table)
    derived = [_renamed(each, level, position) for each in bound.root.derivations()]
    return restated(table, derived, model.strict, model.whole)


def _renamed(derived: Derivation, level: str, position: Ints) -> Derivation:
    """The same cut with equations counted as the checker does, over levels in the units that they were made in."""
    match derived:
        case ["level", cell, way, lines, y]:
            return [level, cell, way, *_in_order(position[lines], y)]
        case ["alone", cell, lines, y]:
            return ["alone", cell, *_in_order(position[lines], y)]
        case ["half", lowered, several]:
            return ["half", lowered, [_renamed(each, level, position) for each in several]]
    return [*derived[:-1], _renamed(derived[-1], level, position)]


def _in_order(lines: Ints, y: list[int]) -> tuple[list[int], list[int]]:
    """Equations in rising order and their multipliers, the first one positive."""
    order = np.argsort(lines)
    times = np.array(y, np.int64)[order]
    return lines[order].tolist(), (times * (1 if times[0] > 0 else -1)).tolist()


def _positions(table: Table) -> Ints:
    """Where the checker counts each equation (int64[m])."""
    lines = _lines(table)
    position = np.empty(len(lines), np.int64)
    position[sorted(range(len(lines)), key=lambda at: verify.in_order(lines[at]))] = np.arange(len(lines))
    return position


def _lines(table: Table) -> list[verify.Line]:
    lines = table.lines
    start, cell, coef = lines.start.tolist(), lines.cell.tolist(), lines.coef.tolist()
    entries = [list(zip(cell[a:b], coef[a:b], strict=True)) for a, b in pairwise(start)]
    return list(zip(entries, _exact(lines.rhs, table.scale), strict=True))


def restated(table: Table, derived: Sequence[Derivation], strict: bool, whole: bool = False) -> Restated | None:
    """The lower bound that cuts `a x >= b` prove, as the lines of a proof; None where it is 0.

    With multipliers m of the cuts and caps z of the cells, `sum(m a) - z <= weight` in every cell, and
    `sum(m b) - sum(z)` is the bound. All of these are integers in units of `1/(scale * DENOMINATOR)`.
    """
    if not derived:
        return None
    cuts = verify.Cuts(checked_table(table), strict, whole)
    made = [cuts.checked(each) for each in derived]
    rows = [(row, rhs) for row, rhs, _ in made]
    free, weight = sorted(cuts.free), cuts.table.weight
    scale = lcm(*(w.denominator for w in weight))
    proposed = _proposed(rows, free, [float(weight[c]) for c in free])
    times = [int(y * DENOMINATOR * scale) // max(rhs, 1) for y, (_, rhs) in zip(proposed, rows, strict=True)]
    load = _load(rows, times)
    caps = {c: over for c in sorted(load) if (over := load[c] - int(weight[c] * scale) * DENOMINATOR) > 0}
    total = sum(factor * rhs for factor, (_, rhs) in zip(times, rows, strict=True)) - sum(caps.values())
    if total <= 0:
        return None
    used = ((factor, each, figure, rhs) for factor, each, (_, rhs, figure) in zip(times, derived, made, strict=True))
    kept: list[object] = [list(line) for line in used if line[0] > 0]
    bound = str(Fraction(total, scale * DENOMINATOR))
    last: list[object] = [DENOMINATOR, sum(times), list(caps), list(caps.values()), bound]
    return Restated(kept, last, verify.lower_bound(cuts.table, cuts, kept, last))


def _load(rows: list[tuple[dict[int, int], int]], times: list[int]) -> dict[int, int]:
    """What the rows, each taken so many times, add up to in every cell."""
    load: dict[int, int] = {}
    for factor, (row, _) in zip(times, rows, strict=True):
        for cell, k in row.items():
            load[cell] = load.get(cell, 0) + factor * k
    return load


def _proposed(rows: list[tuple[dict[int, int], int]], free: list[int], weight: list[float]) -> list[float]:
    """Multipliers of rows divided by their right-hand sides, by a linear program over 0 <= x <= 1."""
    position = {cell: at for at, cell in enumerate(free)}
    unit = max(1.0, float(np.median(weight)))
    session = cut_session(np.array(weight) / unit)
    start, index, value = [0], [], []
    for row, rhs in rows:
        index += [position[cell] for cell in row]
        value += [k / max(rhs, 1) for k in row.values()]
        start.append(len(index))
    asked = np.array([float(rhs > 0) for _, rhs in rows])
    session.add_rows(Rows(asked, np.array(start), np.array(index, np.int32), np.array(value, np.float64)))
    return [max(0.0, dual) * unit for dual in session.solve().row_dual.tolist()]


def checked_table(table: Table) -> verify.PlainTable:
    """A table as the checker would read it."""
    return verify.PlainTable(
        names=[],
        places=[],
        status=status_letters(table.status),
        value=_exact(table.value, table.scale),
        lb=[None if abs(b) >= INFINITE else Fraction(b, table.scale) for b in table.lb.tolist()],
        ub=[None if abs(b) >= INFINITE else Fraction(b, table.scale) for b in table.ub.tolist()],
        level={name: _exact(vars(table.levels)[name], table.scale) for name in verify.LEVELS},
        weight=_exact(table.weight, table.weight_scale),
        lines=sorted(_lines(table), key=verify.in_order),
        unit=Fraction(1, table.scale),
    )


def _exact(values: Ints, scale: int) -> list[Fraction]:
    return [Fraction(v, scale) for v in values.tolist()]
