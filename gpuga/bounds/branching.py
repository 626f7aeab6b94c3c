"""Integer patterns from the relaxation: HiGHS's branch and bound on the columns that still matter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.relaxation import Relaxation
from gpuga.context import Clock
from gpuga.table.table import Mask


@dataclass(frozen=True, eq=False)
class Branched:
    """What a run of branch and bound says: the pattern it ended with, and its own bound.

    `pattern` bool over the relaxation's places, None if it found none. `dual_bound` in units of the weights;
    a float's word: it steers the search, and is never printed as proven.
    """

    pattern: NDArray[np.bool_] | None
    dual_bound: float
    nodes: int


def branch(relaxation: Relaxation, allowed: Mask, incumbent: Mask, gap: float, nodes: int, clock: Clock) -> Branched:
    """Solve the cuts found so far over the allowed places (bool[R, C]) to integers.

    Stops at the relative `gap`, after `nodes` nodes or when the time is up. The relaxation is left as it was.
    """
    relaxation.add_places(np.flatnonzero(allowed.ravel() & ~relaxation.in_core))
    solver, places = relaxation.solver, relaxation.places
    count = len(places)
    every = np.arange(count, dtype=np.int32)
    upper = allowed.ravel()[places].astype(np.float64)
    solver.changeColsBounds(count, every, np.zeros(count), upper)
    solver.changeColsIntegrality(count, every, np.full(count, highspy.HighsVarType.kInteger))
    solver.setOptionValue("mip_rel_gap", gap)
    solver.setOptionValue("mip_abs_gap", 0.999 * relaxation.step / relaxation.unit)
    solver.setOptionValue("mip_max_nodes", nodes)
    solver.setOptionValue("time_limit", float(min(solver.getRunTime() + max(0.0, clock.left()), 1e9)))
    start = highspy.HighsSolution()
    start.col_value = incumbent.ravel()[places].astype(np.float64).tolist()
    solver.setSolution(start)
    with _ended_by(solver, clock):
        solver.run()
    found = _result(relaxation)
    solver.changeColsIntegrality(count, every, np.full(count, highspy.HighsVarType.kContinuous))
    solver.changeColsBounds(count, every, np.zeros(count), np.ones(count))
    return found


@contextmanager
def _ended_by(solver: Any, clock: Clock) -> Iterator[None]:
    """Let the clock end a run, also when the user interrupts it: the solver looks at its own limit too seldom."""

    def look(event: Any) -> None:
        event.data_in.user_interrupt = clock.expired()

    solver.cbMipInterrupt.subscribe(look)
    try:
        yield
    finally:
        solver.cbMipInterrupt.unsubscribe(look)


def _result(relaxation: Relaxation) -> Branched:
    solver = relaxation.solver
    info = solver.getInfo()
    value = np.array(solver.getSolution().col_value)
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    bound = float(info.mip_dual_bound) * relaxation.unit
    return Branched(
        pattern=np.asarray(value > 0.5) if feasible and len(value) == len(relaxation.places) else None,
        dual_bound=bound if np.isfinite(bound) else 0.0,
        nodes=int(info.mip_node_count),
    )
