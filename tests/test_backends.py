"""The back end of a run: what the user asked for, on the device that was named, or one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gpuga
from gpuga.backends import chosen_for, device_used
from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.evolution import checkpoint
from gpuga.kernels.backend import LEAST_WORK
from gpuga.kernels.probe import cuda_problem
from gpuga.table.generate import herrington

no_device = pytest.mark.skipif(cuda_problem() is None, reason="there is a device here")


def test_the_size_of_the_work_decides_where_a_device_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuga.kernels.probe.cuda_problem", lambda: None)
    monkeypatch.setattr("gpuga.kernels.probe.device_problem", lambda number: None)
    assert [chosen_for("auto", None, size).name for size in (LEAST_WORK - 1, LEAST_WORK)] == ["cpu", "cuda"]
    assert chosen_for("auto", 1, 5).name == "cuda:1"


def test_no_device_is_behind_the_cpu() -> None:
    assert device_used("cpu") is device_used("numpy") is None


@no_device
def test_a_device_that_is_not_there_is_refused_in_python() -> None:
    with pytest.raises(InputError, match="--device"):
        gpuga.protect(herrington(5, 5, 0.1, 1), device=0)
    with pytest.raises(InputError, match="--device"):
        gpuga.compare(herrington(5, 5, 0.1, 1), ["hypercube"], device=0)


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    path.write_text("a,b,value,status\n1,1,20,u\n1,2,50,\n2,1,30,\n2,2,40,\n")
    return str(path)


@no_device
@pytest.mark.parametrize("given", [["--device", "0"], ["--device", "-1"], ["--backend", "cpu", "--device", "0"]])
def test_a_bad_device_is_one_sentence_and_exit_code_2(
    table: str, tmp_path: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    assert run(["protect", table, "--out", str(out), "--quiet", *given]) == 2
    assert run(["compare", table, "--quiet", "--device", "7"]) == 2
    assert run(["microdata", "protect", table, "--out", str(out), "--fields", "a,b", "--device", "7"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    assert all("--device" in line for line in said)
    assert not out.exists()


@no_device
def test_verbose_says_in_one_line_why_the_cpu_was_taken(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, summary = str(tmp_path / "out.csv"), tmp_path / "summary.json"
    assert run(["protect", table, "--out", out, "-v", "--quiet", "--json", str(summary)]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"back end cpu: {cuda_problem()}\n")
    told = json.loads(summary.read_text())
    assert (told["backend"], told["device"]) == ("cpu", None)


def test_a_checkpoint_says_where_it_was_made(tmp_path: Path) -> None:
    options = {"population": 8, "generations": 1, "without": ("prover",), "checkpoint": str(tmp_path / "state")}
    gpuga.protect(herrington(9, 8, 0.06, 2), backend="cpu", options=options)
    loaded = checkpoint.load(tmp_path / "state")
    assert loaded is not None
    assert (loaded[0]["backend"], loaded[0]["device"]) == ("cpu", None)
