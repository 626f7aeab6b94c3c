"""Microdata go through the same doors as tables: clock, progress, Ctrl-C, back ends, results whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpuga.cli.main import run
from gpuga.cli.microdata_options import protect_parameters
from gpuga.context import Clock, Context, Silent
from gpuga.errors import InputError, OutOfTime
from gpuga.files import atomic
from gpuga.files.notation import Written
from gpuga.kernels.backend import BackendUnavailable
from gpuga.microdata import Layout, MicrodataParameters, parse_rule, protect_file, tabulate
from gpuga.microdata import caps as caps_module
from gpuga.microdata import suppression as suppression_module
from gpuga.microdata.protect import protect_records
from gpuga.microdata.record_file import opened
from gpuga.microdata.records import Records
from gpuga.microdata.search import RecodingEvaluator

PARAMETERS = MicrodataParameters(("age", "job", "town"), 2, 3, recode={"age": "width:5,10"})


class Watched:
    """Progress that keeps what it is told."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.steps: Counter[str] = Counter()
        self.figures: set[str] = set()

    def stage(self, name: str, total: int | None = None) -> None:
        self.stages.append(name)

    def advance(self, steps: int = 1, **figures: float | int | str) -> None:
        self.steps[self.stages[-1]] += steps
        self.figures |= set(figures)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    rows = [f"{rng.integers(20, 60)},{'abcd'[rng.integers(4)]},{'xyz'[rng.integers(3)]},{i}" for i in range(120)]
    path = tmp_path / "people.csv"
    path.write_text("age,job,town,income\n" + "\n".join(rows) + "\n")
    return path


def words(people: Path, *more: str) -> list[str]:
    out = people.with_name("out.csv")
    return ["microdata", "protect", str(people), "--fields", "age,job,town", "--out", str(out), *more]


def test_the_walk_is_shown(people: Path) -> None:
    watched = Watched()
    protection = protect_file(people, people.with_name("out.csv"), PARAMETERS, progress=watched)
    walk = ["read", "search", "lower bound", "local suppression", "count again", "write"]
    assert list(dict.fromkeys(watched.stages)) == walk
    assert watched.steps["search"] == protection.evaluations
    assert watched.steps["local suppression"] >= protection.suppressed.rounds
    assert watched.figures == {"best", "records"}


def test_an_interrupted_search_ends_with_a_protected_file(people: Path) -> None:
    clock = Clock()
    clock.interrupt()
    protection = protect_file(people, people.with_name("out.csv"), PARAMETERS, clock=clock)
    assert (protection.evaluations, protection.remaining) == (1, 0)
    assert protection.bound.kind == "none: the time was up"
    assert protection.account()["lower_bound"] == 0
    assert people.with_name("out.csv").exists()


def test_suppressions_that_might_be_superfluous_stay_where_no_time_is_left(people: Path) -> None:
    clock = Clock()
    clock.interrupt()
    with opened(people, PARAMETERS, Silent()) as file:
        codes = file.problem.recoded(file.problem.unchanged)
        patient = suppression_module.suppress(file.problem, *codes)
        hurried = suppression_module.suppress(file.problem, *codes, clock=clock)
    assert patient.rounds > 1
    assert patient.cost <= hurried.cost
    assert not (patient.suppressed & ~hurried.suppressed).any()


@pytest.mark.parametrize("search", ["iterative", "repeated", "tabu", "annealing", "exact"])
def test_every_search_minds_the_clock(people: Path, search: str) -> None:
    parameters = MicrodataParameters(PARAMETERS.fields, 2, 3, recode=PARAMETERS.recode, search=search)
    with opened(people, parameters, Silent()) as file:
        protection = protect_records(file.problem, parameters, Context(clock=Clock(1e-6)))
    assert (protection.evaluations, protection.remaining) == (1, 0)


def test_caps_that_time_does_not_suffice_for_are_not_called_impossible(
    people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caps_module, "milp", lambda *_, **__: SimpleNamespace(x=None, status=1))
    with pytest.raises(OutOfTime, match="caps on suppressions of age was found"):
        protect_file(people, people.with_name("out.csv"), MicrodataParameters(PARAMETERS.fields, 2, 3, caps={"age": 1}))
    assert not people.with_name("out.csv").exists()


def test_links_and_rights_are_kept(people: Path) -> None:
    real, link = people.with_name("real.csv"), people.with_name("link.csv")
    real.write_text("before")
    real.chmod(0o600)
    link.symlink_to(real)
    protect_file(people, link, PARAMETERS)
    assert link.is_symlink()
    assert real.read_text().startswith("age,job,town,income")
    assert real.stat().st_mode & 0o777 == 0o600


def test_the_file_and_its_account_are_written_together_or_not_at_all(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    synced, calls = os.fsync, []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced(handle)

    monkeypatch.setattr(atomic.os, "fsync", full)
    assert run(words(people, "--json", str(people.with_name("account.json")))) == 2
    assert "account.json: cannot be written (No space left" in capsys.readouterr().err
    assert [p.name for p in people.parent.iterdir()] == ["people.csv"]


def test_what_duckdb_cannot_write_is_said_of_the_file_that_is_written(people: Path, tmp_path: Path) -> None:
    with opened(people, PARAMETERS, Silent()) as file:
        protection = protect_records(file.problem, PARAMETERS)
        content = file.content(protection, "out.csv")
        with pytest.raises(OSError, match="No such file or directory"):
            content(tmp_path / "none" / "out.csv")


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_the_name_says_the_format(people: Path, name: str) -> None:
    protect_file(people, people.with_name(name), PARAMETERS)
    assert (people.with_name(name).read_bytes()[:4] == b"PAR1") == name.endswith("parquet")


def test_a_missing_back_end_is_one_sentence(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str, device: int | None, work: int | None) -> None:
        raise BackendUnavailable("no CUDA driver")

    monkeypatch.setattr("gpuga.backends.choose", missing)
    assert run(words(people, "--backend", "cuda")) == 2
    assert capsys.readouterr().err.strip() == "gpuga: --backend: no CUDA driver"


def test_the_seed_decides(people: Path) -> None:
    account = people.with_name("a.json")
    assert run(words(people, "--seed", "7", "--search", "annealing", "--json", str(account), "--quiet")) == 0
    assert json.loads(account.read_text())["seed"] == 7


def test_a_ctrl_c_ends_a_statement_of_duckdb(people: Path) -> None:
    with Records(people) as records:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        begun = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            records.run("SELECT sum(hash(a.range * b.range)::HUGEINT) FROM range(60000) a, range(60000) b")
        assert time.process_time() - begun < 5  # all of it takes 20
        assert records.run("SELECT 1").fetchone() == (1,)


def test_a_ctrl_c_ends_a_search_with_its_best(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate = RecodingEvaluator.evaluate

    def interrupted(evaluator: RecodingEvaluator, recoding: tuple[int, ...]) -> int:
        if len(evaluator.known) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return evaluate(evaluator, recoding)

    monkeypatch.setattr(RecodingEvaluator, "evaluate", interrupted)
    account = people.with_name("a.json")
    assert run(words(people, "--recode", "age=width:5,10,20", "--json", str(account))) == 0
    assert "stopping with the best protection so far" in capsys.readouterr().err
    found = json.loads(account.read_text())
    assert found["evaluations"] == 2
    assert found["remaining_unsafe"] == 0
    assert people.with_name("out.csv").exists()


def test_a_ctrl_c_while_the_file_is_read_writes_nothing(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)

    monkeypatch.setattr("gpuga.microdata.record_file.code_fields", interrupted)
    assert run(words(people)) == 1
    assert capsys.readouterr().err.strip() == "gpuga: interrupted"
    assert [p.name for p in people.parent.iterdir()] == ["people.csv"]


def test_a_ctrl_c_while_a_table_is_made_writes_nothing(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)

    monkeypatch.setattr(sys.modules["gpuga.microdata.tabulate"], "collect", interrupted)
    out = people.with_name("table.csv")
    asked = ["tabulate", str(people), "--by", "job,town", "--value", "income", "--rule", "frequency:3"]
    assert run([*asked, "--out", str(out), "--json", str(people.with_name("t.json"))]) == 1
    assert capsys.readouterr().err.strip() == "gpuga: interrupted"
    assert [p.name for p in people.parent.iterdir()] == ["people.csv"]


def test_a_ctrl_c_while_a_table_is_written_comes_too_late(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = atomic.write_together

    def interrupted(results: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        write(results)  # type: ignore[arg-type]

    monkeypatch.setattr(atomic, "write_together", interrupted)
    out = people.with_name("table.csv")
    asked = ["tabulate", str(people), "--by", "job,town", "--value", "income", "--rule", "frequency:3", "--quiet"]
    assert run([*asked, "--out", str(out)]) == 0
    assert out.exists()


def test_the_making_of_a_table_is_shown(people: Path) -> None:
    watched = Watched()
    made = tabulate(people, Layout(("job", "town"), "income"), [parse_rule("frequency:3")], progress=watched)
    assert watched.stages == ["read", "add up", "primaries", "groups"]
    assert watched.steps["primaries"] == len(made.value)


def test_a_table_of_no_known_format_is_refused_before_the_work(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["tabulate", str(people), "--by", "job", "--value", "income", "--rule", "frequency:3"]
    assert run([*asked, "--out", str(people.with_name("t.xlsx"))]) == 2
    assert ".csv, .parquet or .jj" in capsys.readouterr().err


def test_a_hierarchy_that_holds_the_total_is_named_with_its_line(people: Path) -> None:
    hierarchy = people.with_name("town.hrc")
    hierarchy.write_text("x\ny\nTotal\n@z\n")
    with pytest.raises(InputError, match=r"town.hrc, line 3, field town: code 'Total' is the total itself"):
        tabulate(people, Layout(("town",), "income"), [parse_rule("frequency:3")], hierarchies={"town": hierarchy})


def test_options_become_a_wish() -> None:
    parameters = protect_parameters(
        fields="a,b",
        threshold="1:10,2:5",
        keys=["a,b:4"],
        recode=["a=width:5"],
        suppress_cost=[],
        recode_cost=[],
        suppress_cost_column=["b=c"],
        cap=["a=3"],
        greedy=True,
        written={"separator": "tab", "encoding": "cp1252"},
        cost="linear",
    )
    assert parameters == MicrodataParameters(
        ("a", "b"),
        threshold={1: 10, 2: 5},
        keys=((("a", "b"), 4),),
        recode={"a": "width:5"},
        cost="linear",
        suppress_cost_column={"b": "c"},
        caps={"a": 3},
        exact=False,
        written=Written(separator="tab", encoding="cp1252"),
    )


@pytest.mark.slow
def test_a_time_limit_covers_reading_searching_and_writing(tmp_path: Path) -> None:
    scores = np.minimum(np.random.default_rng(8).geometric(0.2, (60_000, 6)), 40)
    names = [f"f{i}" for i in range(6)]
    np.savetxt(tmp_path / "m.csv", scores, "%d", ",", header=",".join(names), comments="")
    asked = ["microdata", "protect", "m.csv", "--fields", ",".join(names), "--out", "out.csv", "--seconds", "20"]
    asked += [word for name in names for word in ("--recode", f"{name}=width:2,4,8,16,32")]
    begun = time.monotonic()
    command = [sys.executable, "-m", "gpuga", *asked, "--search", "annealing", "--evaluations", "100000"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert time.monotonic() - begun < 1.1 * 20 + 2 + 5  # 5 s: starting Python, and compilation, do not count
