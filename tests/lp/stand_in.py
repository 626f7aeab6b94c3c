"""A stand-in for `cuopt.linear_programming`: the classes, names and signatures of cuOpt, with HiGHS behind them.

It also does what cuOpt does where that matters: unknown parameters are refused, warm starts outside their modes end in
NaN without a word, unbounded models are recognised only where that is asked for, and the server is looked up in the
environment whenever something is solved. Signatures and behaviour are those of cuOpt's sources and issue tracker;
nobody has run it beside the real one.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gpuga.lp.highs import Highs
from gpuga.lp.solver import Answer, Model, SolveStatus

PARAMETERS = {
    "time_limit": float("inf"),
    "log_to_console": True,
    "crossover": False,
    "method": 0,
    "pdlp_solver_mode": 4,
    "presolve": 1,
    "infeasibility_detection": False,
}
PDLP, STABLE2, FAST1 = 1, 1, 3


class DataModel:
    """Setters as in cuOpt, each of which counts its calls."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.calls: list[str] = []

    def _keep(self, name: str, *values: Any) -> None:
        for value in values:
            assert not isinstance(value, np.ndarray) or value.dtype in (np.float64, np.int32), name
        self.given[name] = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
        self.calls.append(name)

    def set_csr_constraint_matrix(self, A_values: Any, A_indices: Any, A_offsets: Any) -> None:
        self._keep("matrix", A_values, A_indices, A_offsets)

    def set_maximize(self, maximize: bool) -> None:
        self._keep("maximize", maximize)

    def set_objective_coefficients(self, c: Any) -> None:
        self._keep("cost", c)

    def set_variable_lower_bounds(self, variable_lower_bounds: Any) -> None:
        self._keep("lower", variable_lower_bounds)

    def set_variable_upper_bounds(self, variable_upper_bounds: Any) -> None:
        self._keep("upper", variable_upper_bounds)

    def set_constraint_lower_bounds(self, constraint_lower_bounds: Any) -> None:
        self._keep("row_lower", constraint_lower_bounds)

    def set_constraint_upper_bounds(self, constraint_upper_bounds: Any) -> None:
        self._keep("row_upper", constraint_upper_bounds)

    def model(self) -> Model:
        """The same model for HiGHS."""
        value, index, offset = self.given["matrix"]
        cost, low = self.given["cost"][0], self.given["row_lower"][0]
        columns = csr_array((value, index, offset), shape=(len(low), len(cost))).tocsc()
        return Model(
            cost,
            self.given["lower"][0],
            self.given["upper"][0],
            low,
            self.given["row_upper"][0],
            columns.indptr.astype(np.int32),
            columns.indices.astype(np.int32),
            columns.data,
            self.given["maximize"][0],
        )


class SolverSettings:
    """Parameters by name; unknown names are refused as cuOpt does."""

    def __init__(self) -> None:
        self.settings_dict: dict[str, Any] = {}
        self.pdlp_warm_start_data: Any = None

    def set_parameter(self, name: str, value: Any) -> None:
        if name not in PARAMETERS:
            raise ValueError("Invalid parameter. Please check documentation")
        self.settings_dict[name] = value

    def get_parameter(self, name: str) -> Any:
        return self.settings_dict.get(name, PARAMETERS[name])

    def set_pdlp_warm_start_data(self, pdlp_warm_start_data: Any) -> None:
        self.pdlp_warm_start_data = pdlp_warm_start_data


class Solution:
    """What cuOpt's solution offers, of it what is read here."""

    def __init__(self, reason: str, answer: Answer | None = None) -> None:
        self.reason, self.answer = reason, answer

    def get_termination_reason(self) -> str:
        return self.reason

    def get_primal_solution(self) -> Any:
        return None if self.answer is None else self.answer.x

    def get_dual_solution(self) -> Any:
        return None if self.answer is None else self.answer.row_dual

    def get_primal_objective(self) -> float:
        return float("nan") if self.answer is None else self.answer.objective

    def get_pdlp_warm_start_data(self) -> Any:
        return self


class StandIn:
    """The module; `solved` keeps data model, settings and server of every solve."""

    DataModel, SolverSettings = DataModel, SolverSettings

    def __init__(self) -> None:
        self.solved: list[tuple[DataModel, SolverSettings, tuple[str | None, str | None]]] = []

    def Solve(self, data_model: DataModel, solver_settings: SolverSettings | None = None) -> Solution:
        settings = solver_settings or SolverSettings()
        server = os.environ.get("CUOPT_REMOTE_HOST"), os.environ.get("CUOPT_REMOTE_PORT")
        self.solved.append((data_model, settings, server))
        warm = settings.pdlp_warm_start_data is not None
        allowed = settings.get_parameter("pdlp_solver_mode") in (STABLE2, FAST1)
        allowed = allowed and settings.get_parameter("method") == PDLP and not settings.get_parameter("presolve")
        if warm and not allowed:
            return Solution("NoTermination")
        answer = Highs().cold_session(data_model.model()).solve(settings.get_parameter("time_limit"))
        if answer.status is SolveStatus.OPTIMAL:
            return Solution("Optimal", answer)
        if answer.status is SolveStatus.UNBOUNDED:
            return Solution("DualInfeasible" if settings.get_parameter("infeasibility_detection") else "TimeLimit")
        return Solution({SolveStatus.INFEASIBLE: "PrimalInfeasible"}.get(answer.status, "NumericalError"))
