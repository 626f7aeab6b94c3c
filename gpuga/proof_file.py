"""Proofs of safety as files: the witnesses of an audit, written so that `gpuga/verify.py` can check them alone.

JSON, one line each: a head; per witness `[denominator, cells, amounts, shown cells, how far each]` in the table's
own units; the sha256 of all lines before. A file whose name ends in `.gz` is packed.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpuga import verify
from gpuga.bounds.restated import Restated
from gpuga.safety.evidence import SafetyProof
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.table import INFINITE, Ints, Mask, Table, status_letters


@dataclass(frozen=True)
class Attacked(AttackerModel):
    """Against which attacker a proof stands; `level_zero` is what cells without any level need."""

    level_zero: str = "exact"

    def unit(self, table: Table) -> int:
        """Witnesses count in such parts of the table's own unit: whole ones are whole."""
        return 1 if self.whole else table.scale


Shown = tuple[int, int]
"""A cell and a direction."""


def proof_content(
    table: Table,
    suppressed: Mask,
    proof: SafetyProof,
    attacked: Attacked,
    path: str | Path,
    bound: Restated | None = None,
) -> bytes:
    """The file of a proof that a pattern is safe and, with `bound`, that none is much cheaper; for `path`."""
    scale = attacked.unit(table)
    records = _records(table, proof, _needed(table, attacked, _best(proof, scale)), scale)
    head = {
        "format": verify.FORMAT,
        "notice": verify.NOTICE,
        "audience": verify.AUDIENCE,
        "table": table_digest(table),
        **vars(attacked),
        "cost": _exact(table.cost(suppressed), table.weight_scale),
        "lower_bound": "" if bound is None else str(bound.bound),
        "witnesses": len(records),
        "cuts": 0 if bound is None else len(bound.cuts),
    }
    lines = [head, *records, *([] if bound is None else [*bound.cuts, bound.last])]
    body = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()
    whole = body + json.dumps({"sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"
    return gzip.compress(whole, mtime=0) if str(path).lower().endswith(".gz") else whole


def table_digest(table: Table) -> str:
    """The checksum that the checker derives from the table's file."""
    figures = (table.value, table.lb, table.ub, *(vars(table.levels)[name] for name in verify.LEVELS))
    columns = ([_bound(v, table.scale) for v in column.tolist()] for column in figures)
    lines = table.lines
    start, cell, coef = lines.start.tolist(), lines.cell.tolist(), lines.coef.tolist()
    entries = (list(zip(cell[a:b], coef[a:b], strict=True)) for a, b in pairwise(start))
    rhs = (_exact(r, table.scale) for r in lines.rhs.tolist())
    return verify.digest(
        _exact(1, table.scale), (status_letters(table.status), *columns), zip(entries, rhs, strict=True)
    )


def _exact(value: int, scale: int) -> str:
    """A number in the table's own units as a fraction in lowest terms, as `str(Fraction)` writes it."""
    if scale == 1:
        return str(value)
    shared = gcd(value, scale)
    return str(value // shared) if shared == scale else f"{value // shared}/{scale // shared}"


def _bound(value: int, scale: int) -> str:
    return "None" if abs(value) >= INFINITE else _exact(value, scale)


def _best(proof: SafetyProof, scale: int) -> dict[Shown, tuple[Fraction, int]]:
    """For each cell and direction how far the best of its witnesses goes, in the table's own units, and its row."""
    best: dict[Shown, tuple[Fraction, int]] = {}
    asked = zip(proof.cell.tolist(), proof.direction.tolist(), proof.witness.tolist(), strict=True)
    for cell, direction, row in asked:
        cells, amounts, denominator = proof.witnesses.one(row)
        moved = direction * int(amounts[np.flatnonzero(cells == cell)].sum())
        reach = Fraction(moved, denominator * scale)
        if reach > best.get((cell, direction), (0, -1))[0]:
            best[cell, direction] = reach, row
    return best


def _needed(table: Table, attacked: Attacked, best: dict[Shown, tuple[Fraction, int]]) -> dict[Shown, int]:
    """The rows that are kept: a direction that no requirement needs is left out."""
    kept: dict[Shown, int] = {}
    for cell in sorted({cell for cell, _ in best}):
        up, down = (best[cell, d][0] if (cell, d) in best else Fraction(0) for d in (1, -1))
        for direction in (1, -1):
            alone = (up, Fraction(0)) if direction < 0 else (Fraction(0), down)
            if (cell, direction) in best and not _enough(table, attacked, cell, *alone):
                kept[cell, direction] = best[cell, direction][1]
            elif direction > 0:
                up = Fraction(0)
    return kept


def _enough(table: Table, attacked: Attacked, cell: int, up: Fraction, down: Fraction) -> bool:
    """Whether so much movement settles all that is asked of a cell."""
    if not table.primary[cell]:
        return up + down > 0
    levels = table.levels
    lower, upper, sliding = (Fraction(int(x[cell]), table.scale) for x in (levels.lower, levels.upper, levels.sliding))
    if not (lower or upper or sliding or attacked.strict) and attacked.level_zero == "exact":
        sliding = Fraction(1, table.scale)
    asked = [(up, upper), (down, lower), *([(up + down, sliding)] if sliding else [])]
    return all(x > level if attacked.strict else x >= level for x, level in asked)


def _records(table: Table, proof: SafetyProof, kept: dict[Shown, int], scale: int) -> list[list[object]]:
    """Each witness once, with the cells that it shows; in lowest terms, cells in rising order."""
    shows: dict[int, list[int]] = {}
    for (cell, _), row in kept.items():
        shows.setdefault(row, []).append(cell)
    in_lines = np.zeros(len(table), bool)
    in_lines[table.lines.cell] = True
    return [_record(scale, *proof.witnesses.one(row), subjects, in_lines) for row, subjects in shows.items()]


def _record(
    scale: int, cells: NDArray[np.int32], amounts: Ints, denominator: int, subjects: Sequence[int], in_lines: Mask
) -> list[object]:
    wanted = in_lines[cells]
    if not wanted.all():
        wanted |= np.isin(cells, subjects)  # what is in no equation moves for itself alone
    order = np.argsort(cells[wanted], kind="stable")
    moved = cells[wanted][order].tolist()
    amount = [int(a) for a in amounts[wanted][order].tolist()]
    denominator *= scale
    shared = gcd(denominator, *amount)
    amount, denominator = [a // shared for a in amount], denominator // shared
    by_cell = dict(zip(moved, amount, strict=True))
    reach = [_exact(abs(by_cell[cell]), denominator) for cell in subjects]
    return [denominator, moved, amount, list(subjects), reach]
