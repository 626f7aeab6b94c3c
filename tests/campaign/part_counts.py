"""Part `counts`: three- and four-way tables of counts, attacked by integer programs (scipy's, nothing of ours).

Every pattern of `protect --whole yes` must leave more than one whole value for every sensitive cell; how often the
linear reading alone is broken is counted beside it. What the solver answers is rounded and checked in integers.
"""

from __future__ import annotations

import traceback
import warnings
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

import gpuga
from gpuga.errors import Infeasible
from tests.campaign.problem import Equation, Problem
from tests.campaign.tables import TOTAL
from tests.campaign.tally import Tally, TooSlow, at_most
from tests.campaign.ways_in import enter

TARGET = 200
SECONDS_PER_STEP = 240  # the very first ones compile


def count_table(rng: Random) -> Problem:
    """A full table of small counts; some of the ones inside are sensitive, with levels of 15 %."""
    ways = rng.choice((3, 3, 4))
    sizes = [rng.choice((3, 4, 4)) for _ in range(3)] if ways == 3 else [rng.choice((2, 2, 3)) for _ in range(4)]
    labels = list(product(*([*(f"c{i}" for i in range(s)), TOTAL] for s in sizes)))
    number = {label: c for c, label in enumerate(labels)}
    zeros = rng.choice((0.1, 0.2, 0.3))
    top = rng.choice((3, 3, 5, 12))
    leaf = {label: 0 if rng.random() < zeros else rng.randint(1, top) for label in labels if TOTAL not in label}
    value = [sum(v for x, v in leaf.items() if _within(x, label)) for label in labels]
    equations: list[Equation] = []
    for axis, size in enumerate(sizes):
        for label in labels:
            if label[axis] == TOTAL:
                parts = [(number[(*label[:axis], f"c{i}", *label[axis + 1 :])], 1) for i in range(size)]
                equations.append((0, (*parts, (number[label], -1))))
    share = rng.choice((0.3, 0.5, 0.8))
    status = "".join(
        "z" if v == 0 else "u" if TOTAL not in label and v == 1 and rng.random() < share else "s"
        for label, v in zip(labels, value, strict=True)
    )
    level = tuple(15 * v if s == "u" else 0 for v, s in zip(value, status, strict=True))
    n = len(labels)
    return Problem(
        f"{ways}-way counts",
        tuple(100 * v for v in value),
        status,
        (0,) * n,
        (None,) * n,
        level,
        level,
        (0,) * n,
        tuple(value),
        tuple(equations),
        scale=100,
        dimensions=tuple(f"d{a}" for a in range(ways)),
        labels=tuple(labels),
    )


def _within(leaf: tuple[str, ...], label: tuple[str, ...]) -> bool:
    return all(b in (TOTAL, a) for a, b in zip(leaf, label, strict=True))


def step(seed: int, index: int, folder: Path) -> Tally:
    """One table of counts, protected with and without the knowledge that it is one."""
    tally = Tally()
    rng = Random(f"counts {seed} {index}")
    problem = count_table(rng)
    where = f"python -m tests.campaign --only counts --seed {seed} --again {index}"
    files = {"table.jj": problem.jj()}
    try:
        with warnings.catch_warnings(), at_most(SECONDS_PER_STEP):
            warnings.simplefilter("ignore")
            entered = enter(problem, rng.choice(("jj", "csv")), folder, rng)
            for whole in ("no", "yes"):
                _attacked(entered.table, entered.problem, whole, rng, tally, where, files)
    except TooSlow as fault:
        tally.fail("slow", str(fault), where, files)
    except Exception:
        tally.fail("crashes", traceback.format_exc()[-1500:], where, files)
    return tally


def _attacked(
    table: Any, problem: Problem, whole: str, rng: Random, tally: Tally, where: str, files: dict[str, str]
) -> None:
    method = rng.choice(("circuits", "hypercube", "incremental", "exact"))
    options = {"generations": 2, "population": 6} if method == "circuits" else {}
    tally.count(f"tables, whole {whole}")
    try:
        found = gpuga.protect(table, method, seconds=6.0, options=options, whole=whole)
    except Infeasible:
        tally.count(f"no safe pattern, whole {whole}")
        return
    pattern = frozenset(np.flatnonzero(found.suppressed).tolist())
    known = [c for c in problem.sensitive if not whole_freedom(problem, pattern, c)]
    tally.count(f"sensitive cells attacked, whole {whole}", len(problem.sensitive))
    tally.count(f"sensitive cells known, whole {whole}", len(known))
    tally.count(f"patterns broken, whole {whole}", bool(known))
    if known and whole == "yes":
        rows = [f"{c},{'secondary' if c in pattern else 'published'}" for c in range(len(problem))]
        pattern_file = "index,suppression\n" + "\n".join(rows) + "\n"
        what = f"protect({method}, whole=yes): cells {known[:8]} are known to an integer program"
        tally.fail("false safe", what, where, files | {"pattern.csv": pattern_file})


def whole_freedom(problem: Problem, pattern: frozenset[int], cell: int) -> bool:
    """Whether some other table of whole numbers that fits what is published has another count in the cell."""
    cells = sorted(pattern)
    at = {c: i for i, c in enumerate(cells)}
    rows, columns, entries = [], [], []
    for e, (_, row) in enumerate(problem.equations):
        for c, k in row:
            if c in at:
                rows.append(e)
                columns.append(at[c])
                entries.append(k)
    matrix = csr_array((entries, (rows, columns)), shape=(len(problem.equations), len(cells)))
    low = np.array([-problem.value[c] // problem.scale for c in cells], float)
    objective = np.zeros(len(cells))
    for sign in (1, -1):
        objective[at[cell]] = -sign
        answer = milp(
            objective,
            constraints=LinearConstraint(matrix, 0, 0),
            bounds=Bounds(low, np.full(len(cells), 10_000.0)),
            integrality=np.ones(len(cells)),
        )
        if answer.x is None:
            continue
        move = np.rint(answer.x).astype(np.int64)
        if move[at[cell]] != 0 and not (matrix.astype(np.int64) @ move).any() and (move >= low).all():
            return True
    return False
