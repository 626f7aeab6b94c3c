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
from gpuga.lp.cuopt_probe import CuoptReport
from gpuga.lp.highs import Highs
from gpuga.lp.solver import Answer, Model, Session, SolveStatus
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
            return Answer(SolveStatus.TIME_LIMIT, float("nan"), np.zeros(0), np.zeros(0))
        if answer.status is not SolveStatus.OPTIMAL:
            return answer
        if self.kind == "nan":
            return Answer(SolveStatus.OPTIMAL, answer.objective, answer.x * np.nan, answer.row_dual)
        if self.kind == "truncated":
            return Answer(SolveStatus.OPTIMAL, answer.objective, answer.x[:-1], answer.row_dual)
        if self.kind == "boastful":
            return Answer(SolveStatus.OPTIMAL, answer.objective * 2 + 1, answer.x * 2, answer.row_dual)
        return Answer(SolveStatus.OPTIMAL, 1e6, answer.x + 1000.0, answer.row_dual)

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
        cover.by_lp(range(len(cover.requirements)))
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


def test_a_batch_answers_as_its_blocks_do() -> None:
    models = [small_model() for _ in range(3)]
    models[1].upper[0] = 1.0
    whole = block_diagonal(models)
    answers = split(models, Highs().session(whole).solve())
    assert [a.objective for a in answers] == pytest.approx([4.0, 3.0, 4.0])
    assert all(satisfies(m, a) for m, a in zip(models, answers, strict=True))
    failed = split(models, Answer(SolveStatus.TIME_LIMIT, 0.0, np.zeros(0), np.zeros(0)))
    assert {a.status for a in failed} == {SolveStatus.FAILED}
