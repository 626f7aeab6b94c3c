"""NVIDIA cuOpt as a solver: on this machine's GPU, or on a server through cuOpt's own client.

Written for cuOpt 26.10 (packages `cuopt-cu12`, `cuopt-cu13`) from its documentation and sources; never run on a GPU
here. Its first-order method stops at tolerances around 1e-4, so its points may rank and propose, never certify;
`choice.Guarded` checks every answer. Crossover, which makes a vertex out of such a point, stays off: it can take hours
on one core, and nobody here needs a vertex that is not exact.

A session keeps one data model and hands over only what has changed; cuOpt has no interface to a model that stays on
the device, so each solve still sends it there. The next solve starts from where the last one ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .batch import block_diagonal, slices, split
from .cuopt_server import Server, asking
from .solver import Answer, Basis, Floats, Model, Session, SolveStatus

STATUSES = {
    "Optimal": SolveStatus.OPTIMAL,
    "PrimalInfeasible": SolveStatus.INFEASIBLE,
    "DualInfeasible": SolveStatus.UNBOUNDED,
    "UnboundedOrInfeasible": SolveStatus.UNBOUNDED,  # whoever asks knows a feasible point, or asks the judge
    "TimeLimit": SolveStatus.TIME_LIMIT,
    "IterationLimit": SolveStatus.TIME_LIMIT,
}
"""cuOpt's termination reasons; any other is a failure."""

FOREVER = 3600.0
"""The time limit of a solve without one: a lost server must not block a run for ever."""

Settings = dict[str, object]
QUIET: Settings = {"log_to_console": False, "crossover": False}
PDLP, STABLE2 = 1, 1
AGAIN_AND_AGAIN: Settings = QUIET | {
    "method": PDLP,
    "pdlp_solver_mode": STABLE2,
    "presolve": 0,
    "infeasibility_detection": True,
}
"""Warm starts work in the mode Stable2 without presolve; elsewhere they end in NaN without a word."""


class CuoptSession:
    """One model for cuOpt; see `Session`."""

    def __init__(self, solver: Cuopt, model: Model, settings: Settings, warm: bool = False) -> None:
        self._solver, self._settings, self._warm = solver, settings, warm
        self._cost, self._lower, self._upper = model.cost.copy(), model.lower.copy(), model.upper.copy()
        self._rows = model.row_lower, model.row_upper
        self._data = _data_model(solver.module(), model)
        self._stale: set[Callable[[], None]] = {self._send_cost, self._send_bounds, self._send_rows}
        self._last: Any = None

    def set_cost(self, columns: NDArray[np.int32], cost: Floats) -> None:
        """Change the objective of some columns."""
        self._cost[columns] = cost
        self._stale.add(self._send_cost)

    def set_bounds(self, columns: NDArray[np.int32], lower: Floats, upper: Floats) -> None:
        """Change the bounds of some columns."""
        self._lower[columns], self._upper[columns] = lower, upper
        self._stale.add(self._send_bounds)

    def set_rows(self, lower: Floats, upper: Floats) -> None:
        """Change the bounds of all rows."""
        self._rows = lower, upper
        self._stale.add(self._send_rows)

    def solve(self, seconds: float = float("inf")) -> Answer:
        """Solve the model as it stands, from the last solution; from scratch where that fails."""
        for send in self._stale:
            send()
        self._stale.clear()
        warm, answer = self._last is not None, self._solve(seconds)
        return self._solve(seconds) if warm and answer.status is SolveStatus.FAILED else answer

    def _solve(self, seconds: float) -> Answer:
        settings = self._solver.module().SolverSettings()
        for name, value in {**self._settings, "time_limit": min(seconds, FOREVER)}.items():
            settings.set_parameter(name, value)
        if self._last is not None:
            settings.set_pdlp_warm_start_data(self._last)
        with asking(self._solver.server):
            solution = self._solver.module().Solve(self._data, settings)
        answer = read_answer(solution)
        useful = self._warm and answer.status is SolveStatus.OPTIMAL
        self._last = solution.get_pdlp_warm_start_data() if useful else None
        self._solver.answers += answer.status in (SolveStatus.OPTIMAL, SolveStatus.UNBOUNDED)
        return answer

    def _send_cost(self) -> None:
        self._data.set_objective_coefficients(self._cost)

    def _send_bounds(self) -> None:
        self._data.set_variable_lower_bounds(self._lower)
        self._data.set_variable_upper_bounds(self._upper)

    def _send_rows(self) -> None:
        self._data.set_constraint_lower_bounds(self._rows[0])
        self._data.set_constraint_upper_bounds(self._rows[1])

    def basis(self) -> Basis | None:
        """None: a first-order method has no basis."""
        return None


class Cuopt:
    """The cuOpt solver, on a server where one is named, else on this machine's GPU; `answers` counts its answers."""

    name = "cuopt"

    def __init__(self, server: Server | None = None, module: Any = None) -> None:
        self.server, self._module, self.answers = server, module, 0

    def module(self) -> Any:
        """cuOpt itself; importing it starts CUDA, so it is done as late as can be."""
        if self._module is None:
            with asking(self.server):
                self._module = import_module("cuopt.linear_programming")
        return self._module

    def session(self, model: Model) -> Session:
        """A session whose questions are near each other: each starts from the last answer."""
        return CuoptSession(self, model, AGAIN_AND_AGAIN, warm=True)

    def cold_session(self, model: Model) -> Session:
        """A session whose questions have little in common: each starts from scratch, with presolve."""
        return CuoptSession(self, model, QUIET)

    def interior_session(self, model: Model) -> Session:
        """A session for one large question."""
        return CuoptSession(self, model, QUIET)

    def solve_all(self, models: Sequence[Model], seconds: float = float("inf")) -> list[Answer]:
        """Many models at once, as block-diagonal ones of bounded size; see `batch.BatchSolver`."""
        answers: list[Answer] = []
        for part in slices(models):
            answers += split(part, self.interior_session(block_diagonal(part)).solve(seconds))
        return answers


def _data_model(cuopt: Any, model: Model) -> Any:
    """The matrix and the sense in cuOpt's own form: compressed rows."""
    from scipy.sparse import csc_array

    rows = csc_array((model.value, model.index, model.start), shape=(model.rows, model.columns)).tocsr()
    data = cuopt.DataModel()
    data.set_csr_constraint_matrix(rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32))
    data.set_maximize(model.maximise)
    return data


def read_answer(solution: Any) -> Answer:
    """cuOpt's solution as an answer; what is not finite, or has no point, is a failure."""
    status = STATUSES.get(str(solution.get_termination_reason()), SolveStatus.FAILED)
    nothing = np.zeros(0)
    if status is not SolveStatus.OPTIMAL:
        return Answer(status, float("nan"), nothing, nothing)
    x = np.asarray(solution.get_primal_solution(), np.float64)
    dual = np.asarray(solution.get_dual_solution(), np.float64)
    objective = float(solution.get_primal_objective())
    if not (np.isfinite(x).all() and np.isfinite(dual).all() and np.isfinite(objective)):
        return Answer(SolveStatus.FAILED, float("nan"), nothing, nothing)
    return Answer(SolveStatus.OPTIMAL, objective, x, dual)
