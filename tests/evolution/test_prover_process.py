"""The prover in a process of its own: what it tells, what it takes over, and every way in which it may end."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gpuga
from bench.plane import CpuClock
from gpuga import verify
from gpuga.bounds.search import BranchAndCut
from gpuga.context import Clock, Context
from gpuga.errors import Infeasible
from gpuga.evolution import prover_process as module
from gpuga.evolution import run as run_module
from gpuga.evolution.checkpoint import packed, part, read
from gpuga.evolution.prover import News
from gpuga.evolution.prover_process import OfferListener, ProverProcess, Teller, ToldSearch, worth_a_process
from gpuga.files.read import read_source, write_table
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Bound
from gpuga.safety.audit import judge
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table import Levels, Lines, Status, Table
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.generate import smith3d
from gpuga.table.table import Mask
from gpuga.table.witnesses import Witnesses
from tests.support.patterns import write_pattern

SMALL = smith3d((5, 4, 4), 0.08, 0.1, 1)
"""Proven within a second."""

LARGE = smith3d((8, 7, 6), 0.1, 0.1, 3)
"""Not proven in the time that any test here takes."""

AT_ONCE = 5.0
"""Seconds within which whatever has to end ends, on a machine that others use too."""


@contextmanager
def process(table: Table, **context: Any) -> Iterator[ProverProcess]:
    prover = ProverProcess(GeneralProblem.of(table), Context(**({"clock": Clock(60.0)} | context)))
    try:
        yield prover
    finally:
        prover._done = True  # what a test leaves running is ended without a word
        prover._process.kill()
        prover._thread.join()


def wait_for(what: Callable[[], object], seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.01)


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has asked about has."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


def everything(table: Table) -> tuple[Mask, int]:
    """What evolution begins with at the worst, and its cost."""
    problem = GeneralProblem.of(table)
    return problem.candidate, problem.cost(problem.candidate)


def first_news(prover: ProverProcess, table: Table) -> News:
    prover.await_news()
    news = prover.exchange(*everything(table))
    assert news is not None
    return news


# --- what it tells ---------------------------------------------------------------------------------------


def test_it_proves_what_the_search_in_this_process_proves() -> None:
    problem = GeneralProblem.of(SMALL)
    here = BranchAndCut(problem, Context())
    here.run()
    with process(SMALL) as prover:
        heard = [first_news(prover, SMALL)]
        wait_for(lambda: prover.ended)
        prover.stop()
        news = prover.exchange(*everything(SMALL))
        assert news is not None
        heard.append(news)
        bound, told, proof = prover.bound(), prover.search, prover.proof()
        assert prover.cpu_seconds > 0
    assert told is not None
    assert told.cost == told.lower == news.cost == news.lower == here.cost
    assert told.cost == problem.cost(told.best)
    assert bound is not None
    assert bound.lower_bound == here.cost + problem.base_cost
    assert heard[0].steps <= heard[1].steps
    suppressed = problem.pattern(told.best)
    assert judge(SMALL, suppressed, AttackerModel(False), context=Context()).safe
    assert proof is not None
    assert hold(AllowedChanges.of(SMALL, suppressed), proof).all()
    assert news.circuits is not None
    assert news.point.shape == news.core.shape == (len(SMALL),)
    assert (news.core >= news.best).all()


def test_a_cheaper_pattern_that_is_offered_is_what_it_has_from_then_on() -> None:
    offered = np.zeros(len(LARGE), bool)
    offered[np.flatnonzero(GeneralProblem.of(LARGE).candidate)[0]] = True  # no search of its own could find it
    cost = GeneralProblem.of(LARGE).cost(offered)
    with process(LARGE) as prover:
        assert first_news(prover, LARGE).cost > cost
        prover.exchange(offered, cost)
        wait_for(lambda: prover.search is not None and prover.search.cost == cost)
        assert prover.search is not None
        assert np.array_equal(prover.search.best, offered)
        assert prover.proof() is None  # what proves it stays with whoever offered it
        prover.stop()


def test_only_cheaper_patterns_are_handed_over() -> None:
    problem, sent = GeneralProblem.of(SMALL), list[Mask]()
    best = problem.candidate
    told = ToldSearch(problem, sent.append, best, problem.cost(best))
    fewer = best.copy()
    fewer[np.flatnonzero(best)[0]] = False
    assert not told.offer(best)
    assert told.offer(fewer)
    assert len(sent) == 1
    assert sent[0] is fewer


def test_it_searches_with_the_patterns_of_the_user_and_the_settings_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = GeneralProblem.of(SMALL)
    exact = BranchAndCut(problem, Context())
    exact.run()
    context = Context(clock=Clock(60.0), strict=True, seed=5, start=(problem.pattern(exact.best),), proving=True)
    figures, arrays = read(module._order(problem, context))
    assert figures["attacker"] == {"strict": True, "protect_secondary": False, "whole": False}
    assert (figures["seed"], figures["lp"], figures["proving"], figures["begun"]) == (5, "auto", True, False)
    assert 0 < figures["until"] - time.monotonic() < 60
    figures["attacker"]["strict"] = False
    ended, out = list[int](), io.BytesIO()
    monkeypatch.setattr(module, "os", SimpleNamespace(_exit=ended.append))
    module._search(figures, arrays, io.BytesIO(), out)
    wait_for(lambda: ended)
    out.seek(0)
    first = read(module._received(out) or b"")[1]["best"]
    assert problem.cost(first) == exact.cost


def test_circuits_that_no_array_of_numbers_holds_are_not_told() -> None:
    problem = GeneralProblem.of(SMALL)
    search = BranchAndCut(problem, Context())
    assert search.proof is not None
    out = io.BytesIO()
    Teller(search, out, proving=False).tell()
    wide = Witnesses(**{**vars(search.proof), "amount": search.proof.amount.astype(object)})
    search.repair._remember(search.best, wide)  # type: ignore[attr-defined]
    between = out.tell()
    Teller(search, out, proving=False).tell()
    out.seek(0)
    assert part("circuits", read(module._received(out) or b"")[1])
    assert out.tell() == between
    figures, arrays = read(module._received(out) or b"")
    assert not part("circuits", arrays)
    assert np.array_equal(arrays["best"], search.best)
    assert not figures["last"]


def test_derivations_of_cuts_are_told_last_and_only_where_they_are_asked_for() -> None:
    search = BranchAndCut(GeneralProblem.of(SMALL), Context())
    search.run()
    for proving in (True, False):
        out = io.BytesIO()
        teller = Teller(search, out, proving)
        teller.tell()
        teller.tell(last=True)
        out.seek(0)
        figures = [read(module._received(out) or b"")[0] for _ in range(2)]
        assert figures[0]["cuts"] is None
        assert bool(figures[1]["cuts"]) is proving
        assert [told["last"] for told in figures] == [False, True]
        assert figures[1]["lower"] == search.cost


def test_a_message_that_was_cut_off_is_none() -> None:
    out = io.BytesIO()
    module._send(out, b"a message")
    whole = out.getvalue()
    assert module._received(io.BytesIO(whole)) == b"a message"
    for length in range(len(whole)):
        assert module._received(io.BytesIO(whole[:length])) is None


def test_the_word_to_stop_interrupts_and_patterns_wait_until_they_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = list[int]()
    monkeypatch.setattr(module, "os", SimpleNamespace(_exit=ended.append))
    given, clock, pattern = io.BytesIO(), Clock(60.0), np.array([True, False, True])
    module._send(given, packed({"stop": False}, {"pattern": pattern}))
    module._send(given, packed({"stop": True}, {}))
    given.seek(0)
    listener = OfferListener(given, clock)
    wait_for(lambda: ended)
    assert [offer.tolist() for offer in listener.offers] == [pattern.tolist()]
    assert clock.interrupted
    assert ended == [0]


# --- how it ends -----------------------------------------------------------------------------------------


def test_a_prover_that_is_told_to_stop_leaves_what_it_has_proven_and_no_process() -> None:
    with process(LARGE) as prover, warnings.catch_warnings():
        warnings.simplefilter("error")
        wait_for(lambda: prover.search is not None and prover.search.lower > 0)
        assert prover.search is not None
        lower, begun = prover.search.lower, time.monotonic()
        prover.stop()
        assert time.monotonic() - begun < module.LATE + AT_ONCE
        assert prover.ended
        assert prover._process.returncode is not None
        assert gone(prover._process.pid)
        bound = prover.bound()
        assert bound is not None
        assert bound.lower_bound >= lower + GeneralProblem.of(LARGE).base_cost
        prover.stop()  # again, as where a run ends by a failure


def test_a_prover_that_is_told_to_stop_before_it_has_begun_is_no_failure() -> None:
    with process(LARGE) as prover, warnings.catch_warnings():
        warnings.simplefilter("error")
        begun = time.monotonic()
        prover.stop()
        assert time.monotonic() - begun < module.LATE + AT_ONCE
        assert gone(prover._process.pid)
        assert prover.search is None or prover.search.lower <= prover.search.cost  # as far as it came


def warned(recorded: pytest.WarningsRecorder) -> bool:
    return any("ended from outside" in str(warning.message) for warning in recorded)


def test_a_process_that_is_killed_from_outside_leaves_a_warning_and_what_it_had_proven(
    recwarn: pytest.WarningsRecorder,
) -> None:
    with process(LARGE) as prover:
        wait_for(lambda: prover.search is not None and prover.search.lower > 0)
        assert not warned(recwarn)
        os.kill(prover._process.pid, signal.SIGKILL)
        wait_for(lambda: prover.ended, AT_ONCE)
        assert warned(recwarn)
        news = prover.exchange(*everything(LARGE))
        assert news is not None
        assert news.lower > 0
        assert prover.exchange(np.zeros(len(LARGE), bool), 0) is not None  # nobody takes it, and nobody waits
        prover.stop()
        bound = prover.bound()
        assert bound is not None
        assert bound.lower_bound >= news.lower + GeneralProblem.of(LARGE).base_cost


def test_a_process_that_is_killed_before_it_told_anything_leaves_nothing_but_the_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    with process(LARGE) as prover:
        os.kill(prover._process.pid, signal.SIGKILL)
        prover.await_news()
        assert prover.exchange(*everything(LARGE)) is None
        prover.stop()
        assert warned(recwarn)
        assert prover.bound() is None
        assert prover.proof() is None


def test_an_offer_to_a_process_that_has_ended_loses_none_of_its_news(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = ProverProcess._take

    def late(self: ProverProcess, *told: Any) -> None:
        self._process.wait(30)
        taken(self, *told)

    monkeypatch.setattr(ProverProcess, "_take", late)
    table = smith3d((4, 4, 3), 0.1, 0.1, 2)  # all it tells fits into the pipe
    with process(table) as prover:
        prover.exchange(np.zeros(len(table), bool), 0)
        wait_for(lambda: prover.ended)
        assert prover.search is not None
        assert prover.search.lower == prover.search.cost > 0
        prover.stop()


PARENT = """
import time
from gpuga.context import Clock, Context
from gpuga.evolution.prover_process import ProverProcess
from gpuga.problem.general import GeneralProblem
from gpuga.table.generate import smith3d
prover = ProverProcess(GeneralProblem.of(smith3d((8, 7, 6), 0.1, 0.1, 3)), Context(clock=Clock(120.0)))
prover.await_news()
print(prover._process.pid, flush=True)
time.sleep(120)
"""


def test_the_process_ends_with_the_one_that_began_it_however_that_ends() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    try:
        child = int(parent.stdout.readline())
        assert not gone(child)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
    wait_for(lambda: gone(child), AT_ONCE)


def test_a_table_that_nothing_protects_is_infeasible_here_as_there() -> None:
    lines = Lines(np.array([0, 3]), np.arange(3, dtype=np.int32), np.array([1, 1, -1]), np.zeros(1, np.int64))
    status, level = np.array([Status.SENSITIVE, Status.FROZEN, Status.FROZEN]), np.array([2, 0, 0])
    table = Table.build(np.array([5, 6, 11]), lines, status=status, levels=Levels(level, level, 0 * level))
    with process(table) as prover:
        wait_for(lambda: prover.ended)
        with pytest.raises(Infeasible) as fault:
            prover.exchange(*everything(table))
        assert list(fault.value.cells) == [0]
        with pytest.raises(Infeasible):
            prover.stop()


def test_a_failure_there_is_an_error_of_whoever_asks() -> None:
    with process(SMALL, lp="no such solver") as prover:
        wait_for(lambda: prover.ended)
        with pytest.raises(RuntimeError, match="no such solver"):
            prover.exchange(*everything(SMALL))


# --- when it is used -------------------------------------------------------------------------------------


def test_a_process_is_worth_it_in_a_limited_time_that_is_long_enough_with_a_processor_to_spare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "get_num_threads", lambda: 2)
    assert worth_a_process(Clock(module.LEAST_SECONDS + 1))
    assert not worth_a_process(Clock())
    assert not worth_a_process(Clock(module.LEAST_SECONDS - 0.1))
    assert not worth_a_process(CpuClock(60.0))
    assert not worth_a_process(CpuClock(60.0).part(0.9))
    assert worth_a_process(Clock(60.0).part(0.9))
    assert not worth_a_process(Clock(60.0).part(0.1))
    told = Clock(60.0)
    told.interrupt()
    assert not worth_a_process(told)
    monkeypatch.setattr(module, "get_num_threads", lambda: 1)
    assert not worth_a_process(Clock(60.0))


def test_a_run_in_limited_time_proves_its_pattern_in_the_other_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "get_num_threads", lambda: 2)
    begun = list[ProverProcess]()

    def seen(problem: GeneralProblem, context: Context) -> ProverProcess:
        begun.append(ProverProcess(problem, context))
        return begun[-1]

    monkeypatch.setattr(run_module, "ProverProcess", seen)
    path = tmp_path / "table.csv"
    write_table(SMALL, path)
    source = read_source(path)  # whoever asks for a population wants to see evolution, however small the table
    protection = gpuga.protect(source.table, "circuits", seconds=12, seed=1, proof=True, options={"population": 64})
    assert len(begun) == 1
    assert gone(begun[0]._process.pid)
    assert protection.audit.safe
    assert judge(source.table, protection.suppressed, AttackerModel(False), context=Context()).safe
    assert protection.optimal
    assert protection.bound is not None
    assert isinstance(protection.bound, Bound)
    pattern, proof = tmp_path / "pattern.csv", tmp_path / "table.proof"
    write_pattern(source, protection.suppressed, pattern)
    protection.write_proof(proof)
    capsys.readouterr()
    assert verify.main([str(path), str(pattern), str(proof)]) == 0
    assert "proven" in capsys.readouterr().out


def test_where_no_process_can_be_begun_the_prover_shares_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*given: Any, **named: Any) -> None:
        raise OSError("too many processes")

    monkeypatch.setattr(module, "get_num_threads", lambda: 2)
    monkeypatch.setattr(module.subprocess, "Popen", refused)
    with pytest.warns(UserWarning, match="no process can be begun for the prover .too many processes."):
        protection = gpuga.protect(SMALL, "circuits", seconds=12, seed=1, options={"population": 64})
    assert protection.audit.safe
    assert protection.optimal
