"""Which solver a run uses, and what happens when it cannot be had or cannot be believed.

HiGHS is the default and the judge. Another solver is asked first if the user wants it; an answer that is late,
truncated, not finite, or does not satisfy its own model is thrown away and the question goes to HiGHS. Nothing of
this decides safety: whatever a solver says becomes a witness that is checked in integers, or nothing.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .batch import BatchSolver
from .cuopt import Cuopt
from .cuopt_probe import probe_cuopt
from .cuopt_server import Server
from .highs import Highs
from .solver import Answer, Basis, Floats, Model, Session, Solver, SolveStatus

NAMES = ("auto", "cuopt", "highs")
TOLERANCE = 1e-3
"""How far a point may miss a row or a bound, relative to the largest figure, before it is thrown away."""


class SolverUnavailable(RuntimeError):
    """A solver was asked for by name, without fallback, that cannot be used here."""


class SolverWarning(UserWarning):
    """Another solver went on in the place of the one asked for."""


@dataclass(frozen=True)
class ChosenSolver:
    """A solver and, where it is not the one asked for, the sentence that says so."""

    solver: Solver
    note: str | None = None


def choose(name: str = "auto", *, fallback: bool = True, host: str | None = None) -> ChosenSolver:
    """The solver of that name. `auto` is HiGHS: cuOpt pays on large batches only and must be asked for."""
    if name not in NAMES:
        raise SolverUnavailable(f"there is no solver called {name!r}; choose one of {', '.join(NAMES)}")
    if name != "cuopt":
        return ChosenSolver(Highs())
    try:
        server = None if host is None else Server.parse(host)
    except ValueError as fault:
        raise SolverUnavailable(f"--cuopt-host: {fault}") from None
    report = probe_cuopt()
    if report.version is not None:
        solver = Cuopt(server)
        return ChosenSolver(Guarded(solver) if fallback else solver)
    if not fallback:
        raise SolverUnavailable(f"{report.problem}; install it: {report.install}")
    return ChosenSolver(
        Highs(), f"{report.problem}: HiGHS solves the linear programs (to install it: {report.install})"
    )


def answered(solver: Solver) -> str:
    """Who solved the linear programs of a run: the solver if any answer of it was used, else HiGHS."""
    return solver.name if getattr(solver, "answers", 1) else Highs.name


class Guarded:
    """A solver whose every answer is checked; the questions it fails on go to HiGHS, with one warning.

    `answers` counts those of the solver that were used.
    """

    def __init__(self, solver: Solver, judge: Solver | None = None) -> None:
        self.name = solver.name
        self._solver, self._judge = solver, judge or Highs()
        self._warned = False
        self.answers = 0

    def session(self, model: Model) -> Session:
        """A guarded session for changing objectives."""
        return self._guarded(model, self._solver.session, self._judge.session)

    def cold_session(self, model: Model) -> Session:
        """A guarded session for changing bounds and costs."""
        return self._guarded(model, self._solver.cold_session, self._judge.cold_session)

    def interior_session(self, model: Model) -> Session:
        """A guarded session for one large question."""
        return self._guarded(model, self._solver.interior_session, self._judge.interior_session)

    def solve_all(self, models: Sequence[Model], seconds: float = float("inf")) -> list[Answer]:
        """Proposals of the solver for many models, where it takes them at once; the judge is not asked."""
        nothing = Answer(SolveStatus.FAILED, float("nan"), np.zeros(0), np.zeros(0))
        if not isinstance(self._solver, BatchSolver):
            return [nothing] * len(models)
        try:
            answers = self._solver.solve_all(models, seconds)
        except Exception as fault:  # as in a session
            self._warn(f"failed ({type(fault).__name__})")
            return [nothing] * len(models)
        pairs = zip(models, answers, strict=True)
        usable = [answer.status is SolveStatus.OPTIMAL and satisfies(model, answer) for model, answer in pairs]
        self.answers += sum(usable)
        return [answer if good else nothing for answer, good in zip(answers, usable, strict=True)]

    def _guarded(
        self, model: Model, first: Callable[[Model], Session], judge: Callable[[Model], Session]
    ) -> GuardedSession:
        return GuardedSession(model, first, judge, self._warn, self._count)

    def _count(self) -> None:
        self.answers += 1

    def _warn(self, why: str) -> None:
        if not self._warned:
            self._warned = True
            message = f"{self.name} {why}: HiGHS solves what it cannot"
            warnings.warn(message, SolverWarning, stacklevel=4)


class GuardedSession:
    """Two sessions on one model: the judge's is opened when it is first needed."""

    def __init__(
        self,
        model: Model,
        first: Callable[[Model], Session],
        judge: Callable[[Model], Session],
        warn: Callable[[str], None],
        count: Callable[[], None],
    ) -> None:
        bounds = {name: getattr(model, name).copy() for name in ("lower", "upper", "row_lower", "row_upper")}
        self._model = replace(model, cost=model.cost.copy(), **bounds)
        self._warn, self._count, self._open_judge = warn, count, judge
        self._judge: Session | None = None
        self._first: Session | None = None
        self._answered: Session | None = None
        try:
            self._first = first(model)
        except Exception as fault:  # a driver, a library or a server may fail in any way
            warn(f"cannot be used ({type(fault).__name__})")

    def set_cost(self, columns: NDArray[np.int32], cost: Floats) -> None:
        """Change the objective of some columns."""
        self._model.cost[columns] = cost
        for session in filter(None, (self._first, self._judge)):
            session.set_cost(columns, cost)

    def set_bounds(self, columns: NDArray[np.int32], lower: Floats, upper: Floats) -> None:
        """Change the bounds of some columns."""
        self._model.lower[columns], self._model.upper[columns] = lower, upper
        for session in filter(None, (self._first, self._judge)):
            session.set_bounds(columns, lower, upper)

    def set_rows(self, lower: Floats, upper: Floats) -> None:
        """Change the bounds of all rows."""
        self._model.row_lower[:], self._model.row_upper[:] = lower, upper
        for session in filter(None, (self._first, self._judge)):
            session.set_rows(lower, upper)

    def solve(self, seconds: float = float("inf")) -> Answer:
        """The first solver's answer if it can be used, else the judge's in the time that is left.

        Optimal points are used that satisfy the model; "unbounded" where it can be, for a ray proves it later. That a
        model is infeasible is for the judge to say.
        """
        until = time.monotonic() + seconds
        if self._first is not None:
            try:
                answer = self._first.solve(seconds)
            except Exception as fault:  # as above
                self._first = None
                self._warn(f"failed ({type(fault).__name__})")
            else:
                optimal = answer.status is SolveStatus.OPTIMAL and satisfies(self._model, answer)
                if optimal or (answer.status is SolveStatus.UNBOUNDED and has_way_out(self._model)):
                    self._answered = self._first
                    self._count()
                    return answer
                if answer.status not in (SolveStatus.INFEASIBLE, SolveStatus.UNBOUNDED):
                    self._warn(f"gave no usable answer ({answer.status.value})")
        if self._judge is None:
            self._judge = self._open_judge(self._model)
        self._answered = self._judge
        return self._judge.solve(max(0.0, until - time.monotonic()))

    def basis(self) -> Basis | None:
        """The basis of whoever answered last."""
        return None if self._answered is None else self._answered.basis()


def has_way_out(model: Model) -> bool:
    """Whether some column may improve the objective without a bound of its own: else no model is unbounded."""
    gain = model.cost if model.maximise else -model.cost
    return bool((((gain > 0) & np.isposinf(model.upper)) | ((gain < 0) & np.isneginf(model.lower))).any())


def satisfies(model: Model, answer: Answer) -> bool:
    """Whether an answer has the right size, is finite and keeps its model's rows and bounds roughly."""
    x = answer.x
    if len(x) != model.columns or len(answer.row_dual) != model.rows:
        return False
    if not (np.isfinite(x).all() and np.isfinite(answer.row_dual).all()):
        return False
    slack = TOLERANCE * max(1.0, float(np.abs(x).max(initial=0.0)))
    column = np.repeat(np.arange(model.columns), np.diff(model.start))
    activity = np.bincount(model.index, weights=model.value * x[column], minlength=model.rows)
    inside = (x >= model.lower - slack) & (x <= model.upper + slack)
    kept = (activity >= model.row_lower - slack) & (activity <= model.row_upper + slack)
    return bool(inside.all() and kept.all())
