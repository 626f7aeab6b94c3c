"""The classical integer program for any small table, whole or for the initially exposed primaries only.

Fischetti, Salazar 2001; Serpell, Clark, Smith, Staggemeier 2008. One binary per cell says whether it
is suppressed; for every primary considered, two consistent tables show that it can rise and fall far enough.
The modified model considers the initially exposed primaries only; that this protects the others too is a
conjecture which is false, so its patterns stand only after the audit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import (
    block_diag,
    coo_array,
    csc_array,
    csr_array,
    diags_array,
    eye_array,
    hstack,
    vstack,
)

from gpuga.context import Context
from gpuga.errors import GpugaError, Infeasible, InputError, OutOfTime
from gpuga.lp.highs import solve_whole
from gpuga.lp.solver import Answer, Model, SolveStatus
from gpuga.protection import Found
from gpuga.safety.audit import judge
from gpuga.safety.exposure import initially_exposed
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.table import Ints, Table
from gpuga.table.two_way import two_way_table

MOST_VARIABLES = 2_000_000

FURTHEST = 8.0
"""How many times its own level the other cells may move; in two-dimensional tables once is enough."""

Floats = NDArray[np.float64]


def classical_ip(table: Table, context: Context) -> Found:
    """The cheapest pattern by the classical model over all primaries."""
    return _solve(table, table.sensitive, context)


def modified_ip(table: Table, context: Context) -> Found:
    """The cheapest pattern by the model over the initially exposed primaries; others may be left exposed."""
    return _solve(
        table, initially_exposed(table, AttackerModel(context.strict), expired=context.clock.expired), context
    )


def _solve(table: Table, considered: Ints, context: Context) -> Found:
    variables = len(table) * (1 + 2 * len(considered))
    if variables > MOST_VARIABLES:
        raise InputError(
            f"this table would need {variables:,} variables; the classical models are for small tables",
            field="--method",
        )
    if not len(considered):
        counts = {"variables": variables, "constraints": len(table.sensitive), "primaries": 0}
        return Found(table.forced.copy(), details=counts)
    model = _model(table, considered, context.strict)
    context.progress.stage("integer program")
    whole = np.arange(model.columns) < len(table)
    answer = solve_whole(model, max(0.1, context.clock.left()), whole=whole, seed=context.seed % 2**31)
    details = {
        "variables": model.columns,
        "constraints": model.rows,
        "primaries": len(considered),
        "nodes": answer.nodes,
        "finished": answer.status is SolveStatus.OPTIMAL,
    }
    return Found(_pattern(answer, table, considered, context.strict), evaluations=answer.nodes, details=details)


def _impossible(table: Table, strict: bool) -> bool:
    """Whether a primary is exposed even when all that may be suppressed is."""
    return bool(judge(table, table.suppressible | table.forced, AttackerModel(strict)).unsafe)


def _pattern(answer: Answer, table: Table, considered: Ints, strict: bool) -> NDArray[np.bool_]:
    """The binaries of the best solution, or why there is none."""
    if answer.status is SolveStatus.INFEASIBLE and two_way_table(table) is None and not _impossible(table, strict):
        raise GpugaError(
            f"the integer program has no solution in which no cell moves by more than {FURTHEST:g} times a level; "
            "there may be a safe pattern: try circuits or exact"
        )
    if answer.status is SolveStatus.INFEASIBLE:
        raise Infeasible(
            "no safe pattern exists: the integer program has no solution, even with everything suppressed that may be",
            considered.tolist(),
        )
    if not len(answer.x):
        if answer.status is SolveStatus.TIME_LIMIT:
            raise OutOfTime("time ran out before the integer program had a solution; allow more with --seconds")
        raise GpugaError("the integer program could not be solved")
    return np.asarray((answer.x[: len(table)] > 0.5) | table.forced)


def _model(table: Table, considered: Ints, strict: bool) -> Model:
    """Binaries first, then for each primary the table that rises and the one that falls.

    Tables are changes in units of the primary's largest level, so that all numbers are near one.
    """
    n, m = len(table), len(table.lines)
    tables = 2 * len(considered)
    up, down = _rooms(table, considered, strict)
    lines = csr_array((table.lines.coef.astype(float), table.lines.cell, table.lines.start), shape=(m, n))
    rows = [hstack([csr_array((m * tables, n)), block_diag([lines] * tables, format="csr")])]
    identity = csr_array(eye_array(n))
    for sign, room in ((-1.0, up), (1.0, down)):
        # change <= up * z, change >= -down * z, both written as "at least 0"
        limit = vstack([diags_array(r, format="csr") for r in room])
        rows.append(hstack([limit, sign * block_diag([identity] * tables, format="csr")]))
    levels, least = _levels(table, considered, strict)
    rows.append(levels)
    primary = np.flatnonzero(table.primary)
    hidden = coo_array((np.ones(len(primary)), (np.arange(len(primary)), primary)), (len(primary), n * (1 + tables)))
    rows.append(hidden.tocsr())
    matrix = csc_array(vstack(rows, format="csc"))
    equalities, inequalities = m * tables, 2 * n * tables
    lower = np.concatenate([np.zeros(equalities + inequalities), least, np.ones(len(primary))])
    upper = np.concatenate([np.zeros(equalities), np.full(inequalities + len(least), np.inf), np.ones(len(primary))])
    weight = np.where(table.primary, 0, table.weight) / max(1, table.weight_scale)
    free = np.full(n * tables, np.inf)
    return Model(
        cost=np.concatenate([weight, np.zeros(n * tables)]),
        lower=np.concatenate([table.forced.astype(float), -free]),
        upper=np.concatenate([table.suppressible.astype(float), free]),
        row_lower=lower,
        row_upper=upper,
        start=matrix.indptr.astype(np.int32),
        index=matrix.indices.astype(np.int32),
        value=matrix.data,
    )


def _units(table: Table, considered: Ints, strict: bool) -> tuple[Floats, Floats, Floats, Floats]:
    """Upper, lower and sliding levels of the primaries considered, and the unit of each (float64)."""
    extra = 1 if strict else 0
    upper = table.levels.upper[considered].astype(float) + extra
    lower = table.levels.lower[considered].astype(float) + extra
    sliding = table.levels.sliding[considered].astype(float)
    sliding += np.where(sliding > 0, extra, 0)
    return upper, lower, sliding, np.maximum(1.0, np.maximum(np.maximum(upper, lower), sliding))


def _rooms(table: Table, considered: Ints, strict: bool) -> tuple[list[Floats], list[Floats]]:
    """How far each cell may rise and fall in each table, in the table's unit, at most `FURTHEST`."""
    furthest = 1.0 if two_way_table(table) is not None else FURTHEST
    unit = _units(table, considered, strict)[3]
    up, down = [], []
    for u in np.repeat(unit, 2):
        up.append(np.minimum(table.up / u, furthest))
        down.append(np.minimum(table.down / u, furthest))
    return up, down


def _levels(table: Table, considered: Ints, strict: bool) -> tuple[csr_array, Floats]:
    """Rise at least the upper level, fall at least the lower, both together at least the sliding one."""
    n = len(table)
    upper, lower, sliding, unit = _units(table, considered, strict)
    row, column, value, least = [], [], [], []
    for at, cell in enumerate(considered):
        rise, fall = n * (1 + 2 * at) + int(cell), n * (2 + 2 * at) + int(cell)
        row += [3 * at, 3 * at + 1, 3 * at + 2, 3 * at + 2]
        column += [rise, fall, rise, fall]
        value += [1.0, -1.0, 1.0, -1.0]
        least += [upper[at] / unit[at], lower[at] / unit[at], sliding[at] / unit[at]]
    shape = (3 * len(considered), n * (1 + 2 * len(considered)))
    return csr_array(coo_array((value, (row, column)), shape)), np.array(least, float)
