"""cuOpt as far as it can be tried without a GPU: what is sent to it, and what is made of its answers."""

from __future__ import annotations

import os
import socket
import warnings
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import gpuga
from gpuga.circuits.cover import Cover
from gpuga.cli.doctor import doctor
from gpuga.context import Context
from gpuga.lp import choice, cuopt_probe
from gpuga.lp.batch import BatchSolver, slices
from gpuga.lp.choice import Guarded, SolverUnavailable, SolverWarning, answered, choose, has_way_out
from gpuga.lp.cuopt import Cuopt, read_answer
from gpuga.lp.cuopt_probe import CuoptReport
from gpuga.lp.cuopt_server import HOST, PORT, Server, asking
from gpuga.lp.highs import Highs
from gpuga.lp.solver import Answer, Model, SolveStatus
from gpuga.problem.general import requirements_of
from gpuga.safety.attacker import Attacker
from gpuga.table.generate import class2
from tests.lp.stand_in import Solution, StandIn
from tests.lp.test_choice import small_model
from tests.support.small_tables import random_table

FIRST = np.array([0], np.int32)


@pytest.fixture
def stand_in() -> StandIn:
    return StandIn()


def test_only_what_changed_is_handed_over_again(stand_in: StandIn) -> None:
    session = Cuopt(module=stand_in).session(small_model())
    assert session.solve().objective == pytest.approx(4.0)
    session.set_cost(FIRST, np.zeros(1))
    assert session.solve().objective == pytest.approx(2.0)
    session.set_bounds(FIRST + 1, np.zeros(1), np.ones(1))
    assert session.solve().objective == pytest.approx(1.0)
    session.set_rows(np.array([-np.inf]), np.array([0.5]))
    assert session.solve().objective == pytest.approx(0.5)
    assert session.basis() is None
    (data,) = {id(solved[0]): solved[0] for solved in stand_in.solved}.values()
    assert [data.calls.count(name) for name in ("matrix", "cost", "lower", "row_upper")] == [1, 2, 2, 2]


def test_near_questions_start_from_the_last_answer_and_others_from_scratch(stand_in: StandIn) -> None:
    solver = Cuopt(module=stand_in)
    near, apart, once = solver.session(small_model()), solver.cold_session(small_model()), None
    for session in (near, apart):
        assert [session.solve().status for _ in range(2)] == [SolveStatus.OPTIMAL] * 2
    once = solver.interior_session(small_model())
    assert once.solve().status is SolveStatus.OPTIMAL
    warm = [settings.pdlp_warm_start_data is not None for _, settings, _ in stand_in.solved]
    assert warm == [False, True, False, False, False]


def test_crossover_is_off_and_time_limited(stand_in: StandIn) -> None:
    solver = Cuopt(module=stand_in)
    for session in (solver.session(small_model()), solver.cold_session(small_model())):
        session.solve(7.0)
        session.solve()
    assert {settings.get_parameter("crossover") for _, settings, _ in stand_in.solved} == {False}
    assert [settings.get_parameter("time_limit") for _, settings, _ in stand_in.solved] == [7.0, 3600.0] * 2


def test_a_warm_start_that_fails_is_forgotten(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Cuopt(module=stand_in).session(small_model())
    session.solve()
    solve = stand_in.Solve

    def spoilt(data_model, solver_settings=None):  # type: ignore[no-untyped-def]
        solution = solve(data_model, solver_settings)
        return solution if solver_settings.pdlp_warm_start_data is None else Solution("NoTermination")

    monkeypatch.setattr(stand_in, "Solve", spoilt)
    assert session.solve().objective == pytest.approx(4.0)
    assert len(stand_in.solved) == 3


def unbounded_model() -> Model:
    """max x + y with x + y - z = 0, nothing limited from above."""
    return Model(
        cost=np.array([1.0, 1.0, 0.0]),
        lower=np.zeros(3),
        upper=np.full(3, np.inf),
        row_lower=np.zeros(1),
        row_upper=np.zeros(1),
        start=np.arange(4, dtype=np.int32),
        index=np.zeros(3, np.int32),
        value=np.array([1.0, 1.0, -1.0]),
        maximise=True,
    )


def test_an_unbounded_model_is_understood_without_a_word(stand_in: StandIn) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guarded = Guarded(Cuopt(module=stand_in))
        assert guarded.session(unbounded_model()).solve().status is SolveStatus.UNBOUNDED
    assert guarded.answers == 1


def test_unbounded_is_not_believed_of_a_model_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn()
    monkeypatch.setattr(stand_in, "Solve", lambda *_: Solution("UnboundedOrInfeasible"))
    guarded = Guarded(Cuopt(module=stand_in))
    assert guarded.session(small_model()).solve().objective == pytest.approx(4.0)
    assert guarded.answers == 0
    assert not has_way_out(small_model())
    assert has_way_out(replace(unbounded_model(), cost=np.array([0.0, 1.0, 0.0])))
    assert not has_way_out(replace(unbounded_model(), cost=-np.ones(3)))


def test_the_judge_has_the_last_word_on_infeasible_models_without_a_warning(stand_in: StandIn) -> None:
    model = replace(small_model(), row_lower=np.array([9.0]), row_upper=np.array([9.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guarded = Guarded(Cuopt(module=stand_in))
        assert guarded.session(model).solve().status is SolveStatus.INFEASIBLE
    assert guarded.answers == 0


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("PrimalInfeasible", SolveStatus.INFEASIBLE),
        ("DualInfeasible", SolveStatus.UNBOUNDED),
        ("UnboundedOrInfeasible", SolveStatus.UNBOUNDED),
        ("TimeLimit", SolveStatus.TIME_LIMIT),
        ("IterationLimit", SolveStatus.TIME_LIMIT),
        ("NumericalError", SolveStatus.FAILED),
        ("NoTermination", SolveStatus.FAILED),
        ("PrimalFeasible", SolveStatus.FAILED),
    ],
)
def test_cuopts_endings_are_told_apart(reason: str, status: SolveStatus) -> None:
    assert read_answer(Solution(reason)).status is status


def test_an_optimum_that_is_not_finite_is_a_failure() -> None:
    lie = Answer(SolveStatus.OPTIMAL, 1.0, np.array([np.nan]), np.zeros(1))
    assert read_answer(Solution("Optimal", lie)).status is SolveStatus.FAILED


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("gpu", "gpu", None),
        ("gpu:6001", "gpu", 6001),
        (" 10.0.0.7:5001 ", "10.0.0.7", 5001),
        ("[::1]:7", "::1", 7),
        ("::1", "::1", None),
    ],
)
def test_a_server_is_a_host_and_perhaps_a_port(text: str, host: str, port: int | None) -> None:
    assert Server.parse(text) == Server(host, port)


@pytest.mark.parametrize("text", ["", ":5001", "gpu:0", "gpu:65536", "gpu:http", "http://gpu:5001", "a b", "[]:1"])
def test_what_is_no_server_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="is not a"):
        Server.parse(text)
    monkeypatch.setattr(choice, "probe_cuopt", lambda: CuoptReport("26.10.0", None, ""))
    with pytest.raises(SolverUnavailable, match="--cuopt-host"):
        choose("cuopt", host=text)


def test_the_server_is_named_while_it_is_asked_and_the_users_variables_stay(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOST, "own")
    monkeypatch.setenv(PORT, "7007")
    for server in (None, Server("gpu"), Server("gpu", 6001), Server("::1", 1)):
        Cuopt(server, stand_in).session(small_model()).solve()
    asked = [server for _, _, server in stand_in.solved]
    assert asked == [("own", "7007"), ("gpu", "7007"), ("gpu", "6001"), ("[::1]", "1")]
    assert (os.environ[HOST], os.environ[PORT]) == ("own", "7007")


def test_the_port_is_5001_unless_something_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOST, raising=False)
    monkeypatch.delenv(PORT, raising=False)
    with asking(Server("gpu")):
        assert (os.environ[HOST], os.environ[PORT]) == ("gpu", "5001")
    assert HOST not in os.environ
    assert PORT not in os.environ
    assert Server.of({}) is None
    assert Server.of({HOST: "gpu"}) == Server("gpu", 5001)
    assert Server.of({HOST: "gpu", PORT: "6"}) == Server("gpu", 6)


def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuopt_probe, "_version", lambda name: "26.10.0" if name == "cuopt-cu13" else None)


def cuopt_line() -> str:
    (line,) = (line for line in CliRunner().invoke(doctor).output.splitlines() if " cuopt " in line)
    return line


def test_doctor_shows_the_server_and_needs_no_gpu_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        monkeypatch.setenv(HOST, "127.0.0.1")
        monkeypatch.setenv(PORT, str(port))
        assert cuopt_line().startswith("ok solver")
        assert f"asks the server 127.0.0.1:{port}" in cuopt_line()
    assert f"-- solver   cuopt       no server answers at 127.0.0.1:{port}" in cuopt_line()
    monkeypatch.setenv(PORT, "none")
    assert "'none' is not a port" in cuopt_line()


def test_doctor_says_what_to_install_before_it_asks_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuopt_probe, "_version", lambda name: None)
    monkeypatch.setenv(HOST, "127.0.0.1:1")
    assert "cuOpt is not installed: pip install" in cuopt_line()


def with_cuopt(monkeypatch: pytest.MonkeyPatch, stand_in: StandIn) -> None:
    monkeypatch.setattr(choice, "probe_cuopt", lambda: CuoptReport("26.10.0", None, ""))
    monkeypatch.setattr(choice, "Cuopt", lambda server: Cuopt(server, stand_in))


def test_a_run_without_questions_for_cuopt_does_not_say_that_it_was_used(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_cuopt(monkeypatch, stand_in)
    with pytest.warns(SolverWarning, match="answered no linear program"):
        protection = gpuga.protect(class2(6, 6, 1), "shortest-path", lp="cuopt")
    assert protection.lp == "highs"
    assert stand_in.solved == []


def test_a_run_with_questions_for_cuopt_says_so(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    with_cuopt(monkeypatch, stand_in)
    table = random_table(np.random.default_rng(6), (4, 4, 3), sensitive=0.15)
    protection = gpuga.protect(table, "incremental", lp="cuopt")
    assert protection.lp == "cuopt"
    assert protection.audit.safe
    assert stand_in.solved


def test_who_answered() -> None:
    assert answered(Highs()) == "highs"
    assert answered(Cuopt(module=StandIn())) == "highs"


def test_batches_are_of_bounded_size() -> None:
    models = [small_model() for _ in range(7)]
    assert [len(part) for part in slices(models, 5)] == [2, 2, 2, 1]
    assert [len(part) for part in slices(models, 1)] == [1] * 7
    assert list(slices([], 5)) == []


def test_many_models_are_one_question(stand_in: StandIn) -> None:
    models = [replace(small_model(), upper=np.array([float(i), 2.0])) for i in range(4)]
    guarded = Guarded(Cuopt(module=stand_in))
    assert isinstance(guarded, BatchSolver)
    assert not isinstance(Highs(), BatchSolver)
    assert [answer.objective for answer in guarded.solve_all(models)] == pytest.approx([2.0, 3.0, 4.0, 4.0])
    assert len(stand_in.solved) == 1
    assert guarded.answers == 4


def test_a_batch_that_fails_proposes_nothing(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no device")

    monkeypatch.setattr(stand_in, "Solve", broken)
    with pytest.warns(SolverWarning, match="failed"):
        answers = Guarded(Cuopt(module=stand_in)).solve_all([small_model()])
    assert [answer.status for answer in answers] == [SolveStatus.FAILED]


def test_the_attacker_asks_for_all_requirements_of_a_pattern_at_once(stand_in: StandIn) -> None:
    table = random_table(np.random.default_rng(6), (4, 4, 3), sensitive=0.15)
    solver = Guarded(Cuopt(module=stand_in))
    everything = table.suppressible | table.forced
    cover = Cover(table, requirements_of(table, False), Context(solver=solver), everything)
    proposed = list(Attacker(table, everything, solver).proposals(cover.requirements))
    assert len(stand_in.solved) == 1
    assert proposed
    assert list(Attacker(table, everything).proposals(cover.requirements)) == []
    cover.inside(range(len(cover.requirements)))
    alone = Cover(table, requirements_of(table, False), Context(), everything)
    alone.inside(range(len(alone.requirements)))
    assert [c is None for c in cover.circuit] == [c is None for c in alone.circuit]
