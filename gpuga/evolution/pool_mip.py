"""The cheapest union of circuits, one per task, as a small mixed-integer program.

`min sum(w y)` over cells `y` and choices `z`: each task chooses one circuit, `sum_c z[t, c] = 1`; a chosen circuit
needs its cells, `sum_{c with e} z[t, c] <= y[e]`. With binary `y` the choices may stay continuous: whatever circuits a
task mixes, all of their cells are suppressed, so any one of them is whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuga.context import Clock
from gpuga.evolution.pool import Supports
from gpuga.lp.cut_session import cut_session
from gpuga.lp.solver import Rows
from gpuga.table.table import Ints

NODES = 100
MOST_ROWS = 200_000
"""A larger model is not worth building."""

MOST_SECONDS = 20.0
GAPS = (1e-4, 1e-6)
"""The relative and the absolute gap that is close enough."""

Choice = tuple[int, Ints]


def cheapest_union(elite: Sequence[Supports], weight: Ints, clock: Clock) -> Supports | None:
    """The best mixture of the individuals' circuits that the MIP finds; None where there is nothing to choose."""
    choices = _choices(elite)
    tasks = len(elite[0].start) - 1
    count = np.bincount([t for t, _ in choices], minlength=tasks)
    rows = sum(len(cells) for t, cells in choices if count[t] > 1)
    if not (count > 1).any() or rows > MOST_ROWS:
        return None
    z = _solved(choices, tasks, weight, clock)
    if z is None:
        return None
    chosen: list[Ints] = [np.zeros(0, np.int64)] * tasks
    most = np.full(tasks, -1.0)
    for (t, cells), value in zip(choices, z, strict=True):
        if value > most[t]:
            most[t], chosen[t] = value, cells
    start = np.concatenate([[0], np.cumsum([len(c) for c in chosen])]).astype(np.int64)
    return Supports(start, np.concatenate([*chosen, np.zeros(0, np.int64)]))


def _choices(elite: Sequence[Supports]) -> list[Choice]:
    """The different circuits of each task among the individuals (tasks without a circuit have none)."""
    seen: dict[tuple[int, bytes], Ints] = {}
    for supports in elite:
        for t in np.flatnonzero(np.diff(supports.start)).tolist():
            cells = np.sort(supports.cell[supports.start[t] : supports.start[t + 1]])
            seen.setdefault((t, cells.tobytes()), cells)
    return [(t, cells) for (t, _), cells in seen.items()]


def _solved(choices: Sequence[Choice], tasks: int, weight: Ints, clock: Clock) -> Sequence[float] | None:
    """The values of the choices; columns are the cells, then the choices."""
    cells = np.unique(np.concatenate([c for _, c in choices]))
    scale = max(1.0, float(weight[cells].max(initial=1)) / 1e4)
    cost = np.concatenate([weight[cells] / scale, np.zeros(len(choices))])
    session = cut_session(cost)
    session.add_rows(_rows(choices, tasks, cells))
    seconds = min(max(0.0, clock.left() / 2), float("inf") if clock.seconds is None else MOST_SECONDS)
    answer = session.solve_whole(np.arange(len(cost)) < len(cells), seconds=seconds, nodes=NODES, gaps=GAPS)
    return answer.x[len(cells) :].tolist() if len(answer.x) else None


def _rows(choices: Sequence[Choice], tasks: int, cells: Ints) -> Rows:
    """One row per task that chooses, and one per task and cell that its choice needs."""
    of_task: list[list[int]] = [[] for _ in range(tasks)]
    needs: dict[tuple[int, int], list[int]] = {}
    for number, (t, support) in enumerate(choices):
        of_task[t].append(len(cells) + number)
        for e in np.searchsorted(cells, support).tolist():
            needs.setdefault((t, e), []).append(len(cells) + number)
    rows = [(1.0, 1.0, members, [1.0] * len(members)) for members in of_task if members]
    rows += [(0.0, np.inf, [e, *z], [1.0] + [-1.0] * len(z)) for (_, e), z in needs.items()]
    return Rows(
        np.array([low for low, _, _, _ in rows]),
        np.concatenate([[0], np.cumsum([len(index) for _, _, index, _ in rows])]),
        np.concatenate([index for _, _, index, _ in rows]),
        np.concatenate([value for _, _, _, value in rows]),
        np.array([high for _, high, _, _ in rows]),
    )
