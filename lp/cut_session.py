"""HiGHS as the solver of programs that grow: rows and columns come and go, bounds change, some answers are whole.

Cutting planes and branch and bound solve one program again and again; the dual simplex method goes on from the last
basis. The same program can be solved in whole numbers. Everything here is a float: whoever needs a bound recomputes it
from the duals in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .highs import HighsColumns
from .solver import Answer, Floats, MipAnswer, Rows, SolveStatus

DUAL_SIMPLEX = 1
DEVEX = 1
NO_LIMIT = 2**31 - 1
FOREVER = 1e9


def cut_session(cost: Floats, devex: bool = False) -> CutSession:
    """A session on `min cost.x, 0 <= x <= 1` (float64[n]) without rows.

    With `devex` rows are weighed anew in every solve; exact weights would be computed first, which takes longer than
    the few steps of a small program that has just got other rows.
    """
    return CutSession(cost, devex)


class CutSession(HighsColumns):
    """A minimisation over columns between 0 and 1 that grows by rows and columns; solves go on from the last basis."""

    def __init__(self, cost: Floats, devex: bool = False) -> None:
        import highspy

        self._highspy = highspy
        self._model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (("output_flag", False), ("threads", 1), ("simplex_strategy", DUAL_SIMPLEX)):
            self._model.setOptionValue(option, value)
        if devex:
            self._model.setOptionValue("simplex_dual_edge_weight_strategy", DEVEX)
        self.columns = len(cost)
        self.rows = 0
        every = np.arange(self.columns, dtype=np.int32)
        self._model.addVars(self.columns, np.zeros(self.columns), np.ones(self.columns))
        self._model.changeColsCost(self.columns, every, cost.astype(np.float64))

    def add_rows(self, rows: Rows) -> None:
        """Add rows over the columns that are there."""
        count = len(rows.lower)
        upper = np.full(count, self._highspy.kHighsInf) if rows.upper is None else rows.upper
        start, index = rows.start[:-1].astype(np.int32), rows.index.astype(np.int32)
        self._model.addRows(count, rows.lower, upper, len(index), start, index, rows.value.astype(np.float64))
        self.rows += count

    def add_columns(self, cost: Floats, start: NDArray[np.integer], index: NDArray[np.integer], value: Floats) -> None:
        """Add columns between 0 and 1; their entries in the rows that are there, in compressed sparse columns."""
        count = len(cost)
        where = start[:-1].astype(np.int32), index.astype(np.int32)
        self._model.addCols(count, cost, np.zeros(count), np.ones(count), len(index), *where, value)
        self.columns += count

    def delete_rows(self, rows: NDArray[np.integer]) -> None:
        """Drop rows by number."""
        self._model.deleteRows(len(rows), rows.astype(np.int32))
        self.rows -= len(rows)

    def limit_objective(self, most: float) -> None:
        """Let solves end once the objective is proven to exceed `most`."""
        self._model.setOptionValue("objective_bound", most)

    def solve(self, seconds: float = float("inf"), iterations: int | None = None) -> Answer:
        """Solve warm; where a limit ends it, the point and the duals of that moment."""
        self._model.setOptionValue("simplex_iteration_limit", NO_LIMIT if iterations is None else iterations)
        self._limit_time(seconds)
        self._model.run()
        kinds, ended = self._highspy.HighsModelStatus, self._model.getModelStatus()
        status = {kinds.kOptimal: SolveStatus.OPTIMAL, kinds.kInfeasible: SolveStatus.INFEASIBLE}.get(
            ended, SolveStatus.TIME_LIMIT
        )
        solution = self._model.getSolution()
        objective = float(self._model.getInfo().objective_function_value)
        x, dual = _finite(solution.col_value, self.columns), _finite(solution.row_dual, self.rows)
        return Answer(status, objective, x, dual)

    def row_values(self) -> Floats:
        """What the rows add up to at the last point (float64[m])."""
        return _finite(self._model.getSolution().row_value, self.rows)

    def solve_whole(
        self,
        whole: NDArray[np.bool_],
        start: Floats | None = None,
        *,
        seconds: float = float("inf"),
        nodes: int | None = None,
        gaps: tuple[float, float] = (0.0, 0.0),
        interrupted: Callable[[], bool] | None = None,
    ) -> MipAnswer:
        """Solve with the columns in `whole` (bool[n]) in whole numbers; the program is left as it was.

        `start` float64[n] is a point to begin with, `gaps` the relative and the absolute gap that is close enough.
        """
        kinds, every = self._highspy.HighsVarType, np.arange(self.columns, dtype=np.int32)
        self._model.changeColsIntegrality(len(every), every, np.where(whole, kinds.kInteger, kinds.kContinuous))
        self._model.setOptionValue("mip_max_nodes", NO_LIMIT if nodes is None else nodes)
        self._model.setOptionValue("mip_rel_gap", gaps[0])
        self._model.setOptionValue("mip_abs_gap", gaps[1])
        self._limit_time(seconds)
        if start is not None:
            given = self._highspy.HighsSolution()
            given.col_value = start.tolist()
            self._model.setSolution(given)
        with self._ended_by(interrupted):
            self._model.run()
        answer = self._whole_answer()
        self._model.changeColsIntegrality(len(every), every, np.full(len(every), kinds.kContinuous))
        return answer

    def _whole_answer(self) -> MipAnswer:
        info, value = self._model.getInfo(), np.array(self._model.getSolution().col_value)
        optimal = self._model.getModelStatus() == self._highspy.HighsModelStatus.kOptimal
        feasible = info.primal_solution_status == self._highspy.SolutionStatus.kSolutionStatusFeasible
        bound = float(info.mip_dual_bound)
        return MipAnswer(
            SolveStatus.OPTIMAL if optimal else SolveStatus.TIME_LIMIT,
            float(info.objective_function_value),
            value if feasible and len(value) == self.columns else np.zeros(0),
            np.zeros(0),
            bound if np.isfinite(bound) else 0.0,
            int(info.mip_node_count),
            int(info.simplex_iteration_count),
        )

    def _limit_time(self, seconds: float) -> None:
        limit = min(self._model.getRunTime() + max(0.0, seconds), FOREVER)
        self._model.setOptionValue("time_limit", float(limit))

    @contextmanager
    def _ended_by(self, interrupted: Callable[[], bool] | None) -> Iterator[None]:
        """Let somebody else end a run: the solver looks at its own limit too seldom."""
        if interrupted is None:
            yield
            return

        def look(event: Any) -> None:
            event.data_in.user_interrupt = interrupted()

        self._model.cbMipInterrupt.subscribe(look)
        try:
            yield
        finally:
            self._model.cbMipInterrupt.unsubscribe(look)


def _finite(values: Any, count: int) -> Floats:
    """A solver's figures as an array of the right length; zeros where it has none."""
    found = np.asarray(values, np.float64)
    return np.nan_to_num(found, posinf=0.0, neginf=0.0) if len(found) == count else np.zeros(count)
