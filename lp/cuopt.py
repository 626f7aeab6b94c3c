"""NVIDIA cuOpt as a solver: on this machine's GPU, or on a server through cuOpt's own client.

Written for cuOpt 26.10 (packages `cuopt-cu12`, `cuopt-cu13`). Its first-order method stops at tolerances around
1e-4, so its points may rank and propose, never certify; `choice.Guarded` checks every answer. Each solve sends a
whole model: a session only remembers it between questions. With a host, cuOpt's client sends the model there;
a round trip takes about a second, which is what `batch.block_diagonal` is for.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cuopt_probe import probe_cuopt
from .solver import Answer, Basis, Floats, Model, Session, Status

STATUSES = {
    "Optimal": Status.OPTIMAL,
    "PrimalInfeasible": Status.INFEASIBLE,
    "DualInfeasible": Status.UNBOUNDED,
    "TimeLimit": Status.TIME_LIMIT,
    "IterationLimit": Status.TIME_LIMIT,
}
"""cuOpt's termination reasons; any other is a failure."""

FOREVER = 3600.0
"""The time limit of a solve without one: a lost server must not block a run for ever."""


class CuoptSession:
    """One model for cuOpt; see `Session`."""

    def __init__(self, cuopt: Any, model: Model, settings: dict[str, object]) -> None:
        self._cuopt, self._model, self._settings = cuopt, model, settings
        self._cost, self._lower, self._upper = model.cost.copy(), model.lower.copy(), model.upper.copy()
        self._rows = model.row_lower, model.row_upper

    def set_cost(self, columns: NDArray[np.int32], cost: Floats) -> None:
        """Change the objective of some columns."""
        self._cost[columns] = cost

    def set_bounds(self, columns: NDArray[np.int32], lower: Floats, upper: Floats) -> None:
        """Change the bounds of some columns."""
        self._lower[columns], self._upper[columns] = lower, upper

    def set_rows(self, lower: Floats, upper: Floats) -> None:
        """Change the bounds of all rows."""
        self._rows = lower, upper

    def solve(self, seconds: float = float("inf")) -> Answer:
        """Send the model as it stands."""
        settings = self._cuopt.SolverSettings()
        for name, value in {**self._settings, "time_limit": min(seconds, FOREVER)}.items():
            settings.set_parameter(name, value)
        return read_answer(self._cuopt.Solve(self.data_model(), settings))

    def basis(self) -> Basis | None:
        """None: a first-order method has no basis."""
        return None

    def data_model(self) -> Any:
        """The model in cuOpt's own form: compressed rows, ranges as lower and upper bounds."""
        from scipy.sparse import csc_array

        model = self._model
        shape = (model.rows, model.columns)
        rows = csc_array((model.value, model.index, model.start), shape=shape).tocsr()
        data = self._cuopt.DataModel()
        data.set_csr_constraint_matrix(rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32))
        data.set_constraint_lower_bounds(self._rows[0])
        data.set_constraint_upper_bounds(self._rows[1])
        data.set_objective_coefficients(self._cost)
        data.set_maximize(model.maximise)
        data.set_variable_lower_bounds(self._lower)
        data.set_variable_upper_bounds(self._upper)
        return data


class Cuopt:
    """The cuOpt solver. `host` and `port` name a server; without them the GPU of this machine is used."""

    name = "cuopt"

    def __init__(self, host: str | None = None, port: int = 5000, module: Any = None) -> None:
        self._host, self._port, self._module = host, port, module

    def available(self) -> bool:
        """Whether the package is here; whether a GPU or server answers shows at the first solve."""
        return self._module is not None or probe_cuopt().version is not None

    def session(self, model: Model) -> Session:
        """A session; every question is solved from scratch."""
        return self._open(model)

    def cold_session(self, model: Model) -> Session:
        """The same."""
        return self._open(model)

    def interior_session(self, model: Model) -> Session:
        """The same."""
        return self._open(model)

    def _open(self, model: Model) -> CuoptSession:
        if self._module is None:
            if self._host is not None:  # the client takes its server from the environment and nowhere else
                os.environ["CUOPT_REMOTE_HOST"], os.environ["CUOPT_REMOTE_PORT"] = self._host, str(self._port)
            self._module = import_module("cuopt.linear_programming")
        return CuoptSession(self._module, model, {"log_to_console": False, "crossover": True})


def read_answer(solution: Any) -> Answer:
    """cuOpt's solution as an answer; what is not finite, or has no point, is a failure."""
    status = STATUSES.get(str(solution.get_termination_reason()), Status.FAILED)
    nothing = np.zeros(0)
    if status is not Status.OPTIMAL:
        return Answer(status, float("nan"), nothing, nothing)
    x = np.asarray(solution.get_primal_solution(), np.float64)
    dual = np.asarray(solution.get_dual_solution(), np.float64)
    objective = float(solution.get_primal_objective())
    if not (np.isfinite(x).all() and np.isfinite(dual).all() and np.isfinite(objective)):
        return Answer(Status.FAILED, float("nan"), nothing, nothing)
    return Answer(Status.OPTIMAL, objective, x, dual)
