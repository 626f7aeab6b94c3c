"""Islands as users ask for them: options, refusals, commands."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpuga
from gpuga.cli.main import run
from gpuga.cluster import circuits as method
from gpuga.errors import InputError
from gpuga.parameters import CircuitsParameters
from gpuga.table.generate import herrington
from gpuga.table.table import Table
from tests.cluster.conftest import Here

FEW = {"islands": 2, "population": 10, "generations": 6, "exchange": 3}


@pytest.fixture
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "find_workers", lambda cluster, wanted: Here(wanted))


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("kind", ["plane", "solid"])
def test_a_table_is_protected_on_islands(kind: str, request: pytest.FixtureRequest) -> None:
    table = request.getfixturevalue(kind)
    found = gpuga.protect(table, seed=2, options=FEW, proof=True)
    assert found.audit.safe
    assert found.audit.proof is not None
    assert found.repaired == 0
    assert found.found.generations == 6
    assert found.bound is not None
    assert found.bound.lower_bound <= found.scaled_cost
    assert found.parameters.values()["islands"] == 2
    again = gpuga.protect(table, seed=2, options=FEW)
    assert np.array_equal(again.suppressed, found.suppressed)


class Questions:
    """What workers are asked with the name of a run: for its cuts first, then to forget it. The first may kill one."""

    def __init__(self, deadly: bool) -> None:
        self.deadly, self.asked = deadly, 0

    def __call__(self, given: tuple[Any, ...]) -> None:
        if given and isinstance(given[0], str):
            self.asked += 1
            if self.deadly and self.asked == 1:
                raise BrokenExecutor


@pytest.fixture
def proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Table, Here], dict[str, Any]]:
    """The head of a proof, which verifies, of two islands on workers; the prover has a bound after nine generations."""

    def protected(table: Table, workers: Here) -> dict[str, Any]:
        monkeypatch.setattr(method, "find_workers", lambda cluster, wanted: workers)
        file, proof, pattern = (tmp_path / name for name in ("table.csv", "table.proof", "pattern.csv"))
        gpuga.write_table(table, file)
        few = [f"--{name}={value}" for name, value in {**FEW, "generations": 9}.items()]
        assert run(["protect", str(file), "--out", str(pattern), "--proof", str(proof), *few, "--quiet"]) == 0
        assert run(["verify", str(file), str(pattern), str(proof), "--quiet"]) == 0
        head: dict[str, Any] = json.loads(proof.read_text().splitlines()[0])
        return head

    return protected


@pytest.mark.parametrize("kind", ["plane", "solid"])
def test_the_proof_of_islands_holds_the_cuts_behind_the_bound(
    kind: str, request: pytest.FixtureRequest, proven: Callable[[Table, Here], dict[str, Any]]
) -> None:
    questions = Questions(deadly=False)
    head = proven(request.getfixturevalue(kind), Here(2, questions))
    assert questions.asked == 1 + 2, "both were told to forget the run"
    assert head["cuts"] > 0
    assert Fraction(head["lower_bound"]) > 0


def test_a_worker_that_dies_over_its_cuts_leaves_a_proof_of_safety(
    plane: Table, proven: Callable[[Table, Here], dict[str, Any]]
) -> None:
    workers = Here(2, Questions(deadly=True))
    assert proven(plane, workers).get("cuts", 0) == 0
    assert workers.replaced == 1


@pytest.mark.usefixtures("_here")
def test_a_time_limit_is_kept(plane: Table) -> None:
    found = gpuga.protect(plane, seconds=3, options={"islands": 2})
    assert found.audit.safe
    assert found.seconds < 5


def test_a_time_limit_counts_the_start_of_processes(plane: Table) -> None:
    begun = time.monotonic()
    found = gpuga.protect(plane, seconds=5, options={"islands": 3})
    assert found.audit.safe
    assert time.monotonic() - begun < 5 * 1.1 + 2 + 1  # processes end as well


@pytest.mark.usefixtures("_here")
def test_a_table_without_anything_to_protect_needs_no_island() -> None:
    table = herrington(6, 6, 0.0, 1)
    assert not gpuga.protect(table, options=FEW).suppressed.any()


def test_what_islands_cannot_do_is_refused(plane: Table) -> None:
    with pytest.raises(InputError, match="--alternatives: is not possible with --islands"):
        gpuga.protect(plane, options=FEW | {"alternatives": 2})
    with pytest.raises(InputError, match="--improvement-rate: is not possible with --islands"):
        gpuga.protect(plane, options=FEW | {"improvement_rate": 0.0})
    with pytest.raises(InputError, match="cannot be used on islands"):
        gpuga.protect(plane, options=FEW, on_generation=print)
    with pytest.raises(InputError, match="--cluster: needs --islands"):
        CircuitsParameters(cluster="local")
    with pytest.raises(InputError, match="--exchange: needs --islands"):
        CircuitsParameters(exchange=3)
    with pytest.raises(InputError, match="--islands: 0 is too small"):
        CircuitsParameters(islands=0)


@pytest.mark.usefixtures("_here")
def test_checkpoints_of_other_islands_are_refused(plane: Table, tmp_path: Path) -> None:
    folder = {"checkpoint": str(tmp_path)}
    gpuga.protect(plane, options=FEW | folder)
    with pytest.raises(InputError, match="belong to another table, seed, parameter"):
        gpuga.protect(plane, options=FEW | folder | {"islands": 3})
    with pytest.raises(InputError, match="belong to another table, seed, parameter"):
        gpuga.protect(plane, options={"population": 10, "generations": 6} | folder)
    assert gpuga.protect(plane, options=FEW | folder | {"resume": True, "generations": 9}).found.generations == 9


@pytest.mark.usefixtures("_here")
def test_the_command_writes_pattern_summary_and_log(tmp_path: Path) -> None:
    table, out, log = (str(tmp_path / name) for name in ("table.csv", "pattern.csv", "log.jsonl"))
    words = ["generate", "herrington", "--rows", "30", "--cols", "30", "--sensitive", "3%", "--seed", "1"]
    assert run([*words, "--out", table, "--quiet"]) == 0
    told = ["--islands", "2", "--population", "10", "--generations", "6", "--exchange", "3", "--topology", "best"]
    summary = str(tmp_path / "summary.json")
    assert run(["protect", table, "--out", out, *told, "--log", log, "--json", summary, "--quiet"]) == 0
    said = json.loads(Path(summary).read_text())
    assert said["safe"] is True
    assert (said["parameters"]["islands"], said["parameters"]["topology"]) == (2, "best")
    rows = [json.loads(line) for line in Path(log).read_text().splitlines()]
    assert [row["generation"] for row in rows] == [3, 6]
    assert rows[-1]["best"] <= rows[0]["best"]
    assert rows[-1]["audience"] == "office"
