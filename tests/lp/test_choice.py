"""Solvers that are missing, fail or lie: HiGHS takes over, and no lie becomes a verdict."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from gpuga.circuits.cover import Cover
from gpuga.context import Context
from gpuga.lp import choice
from gpuga.lp.batch import block_diagonal, split
from gpuga.lp.choice import Guarded, SolverUnavailable, SolverWarning, choose, satisfies
from gpuga.lp.cuopt import Cuopt, read_answer
from gpuga.lp.cuopt_probe import CuoptReport
from gpuga.lp.highs import Highs
from gpuga.lp.solver import Answer, Model, Session, Status
from gpuga.problem.general import requirements_of
from gpuga.safety.attacker import Attacker
from gpuga.safety.audit import audit
from tests.support.exact_attacker import intervals
from tests.support.small_tables import random_pattern, random_table

KINDS = ("nan", "infeasible as optimal", "late", "truncated", "boastful", "crash")


class LyingSession:
    """HiGHS's answers, spoilt in one way."""

    def __init__(self, session: Session, kind: str) -> None:
        self.session, self.kind = session, kind

    def set_cost(self, columns: Any, cost: Any) -> None:
        self.session.set_cost(columns, cost)

    def set_bounds(self, columns: Any, lower: Any, upper: Any) -> None:
        self.session.set_bounds(columns, lower, upper)

    def set_rows(self, lower: Any, upper: Any) -> None:
        self.session.set_rows(lower, upper)

    def solve(self, seconds: float = float("inf")) -> Answer:
        answer = self.session.solve(seconds)
        if self.kind == "crash":
            raise RuntimeError("no device")
        if self.kind == "late":
            return Answer(Status.TIME_LIMIT, float("nan"), np.zeros(0), np.zeros(0))
        if answer.status is not Status.OPTIMAL:
            return answer
        if self.kind == "nan":
            return Answer(Status.OPTIMAL, answer.objective, answer.x * np.nan, answer.row_dual)
        if self.kind == "truncated":
            return Answer(Status.OPTIMAL, answer.objective, answer.x[:-1], answer.row_dual)
        if self.kind == "boastful":
            return Answer(Status.OPTIMAL, answer.objective * 2 + 1, answer.x * 2, answer.row_dual)
        return Answer(Status.OPTIMAL, 1e6, answer.x + 1000.0, answer.row_dual)

    def basis(self) -> None:
        return None


class Liar(Highs):
    """A solver that lies."""

    name = "liar"

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def session(self, model: Model) -> Session:
        return LyingSession(super().session(model), self.kind)

    def cold_session(self, model: Model) -> Session:
        return LyingSession(super().cold_session(model), self.kind)

    def interior_session(self, model: Model) -> Session:
        return LyingSession(super().interior_session(model), self.kind)


def small_model() -> Model:
    """max x + y with x + y <= 4, x <= 3, y <= 2."""
    return Model(
        cost=np.ones(2),
        lower=np.zeros(2),
        upper=np.array([3.0, 2.0]),
        row_lower=np.array([-np.inf]),
        row_upper=np.array([4.0]),
        start=np.array([0, 1, 2], np.int32),
        index=np.zeros(2, np.int32),
        value=np.ones(2),
        maximise=True,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_guarded_liar_is_found_out_with_one_warning(kind: str) -> None:
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        session = Guarded(Liar(kind)).session(small_model())
        assert session.solve().objective == pytest.approx(4.0)
        session.set_bounds(np.array([0], np.int32), np.zeros(1), np.ones(1))
        assert session.solve().objective == pytest.approx(3.0)
    assert [n.category for n in notes] == [SolverWarning]


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("truncated", "crash")])
def test_no_lie_makes_the_attackers_reach_longer_than_it_is(kind: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(12):
        table = random_table(rng, (3, 3, 2))
        suppressed = random_pattern(rng, table, 0.4)
        cells = table.sensitive.tolist()
        exact = intervals(table, suppressed, cells)
        attacker = Attacker(table, suppressed, Liar(kind))
        for cell in cells:
            for direction, most in zip((1, -1), exact[cell], strict=True):
                reach = attacker.reach(cell, direction, int(table.levels.upper[cell]))
                assert most is None or reach.attained <= most


@pytest.mark.parametrize("kind", KINDS)
def test_patterns_made_with_a_guarded_liar_are_safe(kind: str) -> None:
    table = random_table(np.random.default_rng(6), (4, 4, 3), sensitive=0.15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolverWarning)
        cover = Cover(table, requirements_of(table, False), Context(solver=Guarded(Liar(kind))))
        cover.by_lp(range(len(cover.tasks)))
    assert audit(table, cover.suppressed, intervals=False).safe


def test_cuopt_without_the_package_is_one_sentence_and_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = CuoptReport(None, "cuOpt is not installed", 'pip install "gpuga[cuopt13]"')
    monkeypatch.setattr(choice, "probe_cuopt", lambda: missing)
    chosen = choose("cuopt")
    assert chosen.solver.name == "highs"
    assert chosen.note is not None
    assert missing.install in chosen.note
    with pytest.raises(SolverUnavailable, match="pip install"):
        choose("cuopt", fallback=False)


def test_auto_and_highs_are_highs_without_a_word() -> None:
    assert [(choose(n).solver.name, choose(n).note) for n in ("auto", "highs")] == [("highs", None)] * 2


class FakeSolution:
    """What cuOpt's solution offers, of it what is read here."""

    def __init__(self, reason: str, answer: Answer | None) -> None:
        self.reason, self.answer = reason, answer

    def get_termination_reason(self) -> str:
        return self.reason

    def get_primal_solution(self) -> Any:
        assert self.answer is not None
        return self.answer.x

    def get_dual_solution(self) -> Any:
        assert self.answer is not None
        return self.answer.row_dual

    def get_primal_objective(self) -> float:
        assert self.answer is not None
        return self.answer.objective


class FakeCuopt:
    """A stand-in for cuopt.linear_programming that keeps the calls; HiGHS solves."""

    class DataModel:
        def __init__(self) -> None:
            self.given: dict[str, Any] = {}

        def __getattr__(self, name: str) -> Any:
            return lambda *values: self.given.__setitem__(name, values)

    class SolverSettings:
        def __init__(self) -> None:
            self.parameters: dict[str, Any] = {}

        def set_parameter(self, name: str, value: Any) -> None:
            self.parameters[name] = value

    def Solve(self, data: Any, settings: Any) -> FakeSolution:
        from scipy.sparse import csr_array

        given = data.given
        cost = given["set_objective_coefficients"][0]
        value, index, offset = given["set_csr_constraint_matrix"]
        low, high = given["set_constraint_lower_bounds"][0], given["set_constraint_upper_bounds"][0]
        columns = csr_array((value, index, offset), shape=(len(low), len(cost))).tocsc()
        model = Model(
            cost, given["set_variable_lower_bounds"][0], given["set_variable_upper_bounds"][0], low, high,
            columns.indptr.astype(np.int32), columns.indices.astype(np.int32), columns.data, given["set_maximize"][0],
        )  # fmt: skip
        assert settings.parameters["time_limit"] > 0
        return FakeSolution("Optimal", Highs().session(model).solve())


def test_models_reach_cuopt_as_compressed_rows() -> None:
    session = Cuopt(module=FakeCuopt()).session(small_model())
    assert session.solve().objective == pytest.approx(4.0)
    session.set_cost(np.array([1], np.int32), np.zeros(1))
    assert session.solve().objective == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("reason", "status"),
    [("PrimalInfeasible", Status.INFEASIBLE), ("TimeLimit", Status.TIME_LIMIT), ("NumericalError", Status.FAILED)],
)
def test_cuopts_endings_are_told_apart(reason: str, status: Status) -> None:
    assert read_answer(FakeSolution(reason, None)).status is status


def test_an_optimum_that_is_not_finite_is_a_failure() -> None:
    lie = Answer(Status.OPTIMAL, 1.0, np.array([np.nan]), np.zeros(1))
    assert read_answer(FakeSolution("Optimal", lie)).status is Status.FAILED


def test_a_batch_answers_as_its_blocks_do() -> None:
    models = [small_model() for _ in range(3)]
    models[1].upper[0] = 1.0
    whole = block_diagonal(models)
    answers = split(models, Highs().session(whole).solve())
    assert [a.objective for a in answers] == pytest.approx([4.0, 3.0, 4.0])
    assert all(satisfies(m, a) for m, a in zip(models, answers, strict=True))
    failed = split(models, Answer(Status.TIME_LIMIT, 0.0, np.zeros(0), np.zeros(0)))
    assert {a.status for a in failed} == {Status.FAILED}
