"""Checkpoints belong to one table, one setting and one run at a time; a full disk costs no run its result."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpuga
import gpuga.evolution.run as method
from gpuga.cli.main import run
from gpuga.context import Clock, Context
from gpuga.errors import InputError
from gpuga.evolution import checkpoint
from gpuga.evolution.circuits import settings_of
from gpuga.parameters import CircuitsParameters
from gpuga.protection import Found
from gpuga.table.generate import herrington
from gpuga.table.table import Table

ROOT = Path(__file__).parents[2]
OPTIONS = {"generations": 3, "population": 16, "without": ("prover",)}


@pytest.fixture(autouse=True)
def _every_generation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "SECONDS_BETWEEN", 0.0)


def protect(table: Table, folder: Path, **options: object) -> gpuga.Protection:
    return gpuga.protect(table, "circuits", options=OPTIONS | {"checkpoint": str(folder)} | options)


def other(array: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    changed = array.copy()
    changed[-1] += 1
    return changed


CHANGES: dict[str, Callable[[Table], Table]] = {
    "value": lambda t: replace(t, value=other(t.value)),
    "weight": lambda t: replace(t, weight=other(t.weight)),
    "status": lambda t: replace(t, status=other(t.status)),
    "lower bound": lambda t: replace(t, lb=other(t.lb)),
    "upper bound": lambda t: replace(t, ub=other(t.ub)),
    "lower level": lambda t: replace(t, levels=replace(t.levels, lower=other(t.levels.lower))),
    "upper level": lambda t: replace(t, levels=replace(t.levels, upper=other(t.levels.upper))),
    "sliding level": lambda t: replace(t, levels=replace(t.levels, sliding=other(t.levels.sliding))),
    "right-hand side": lambda t: replace(t, lines=replace(t.lines, rhs=other(t.lines.rhs))),
    "coefficient": lambda t: replace(t, lines=replace(t.lines, coef=other(t.lines.coef))),
    "unit": lambda t: replace(t, scale=10 * t.scale),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_fingerprint_tells_tables_apart(plane: Table, change: str) -> None:
    settings = settings_of(Context())
    assert checkpoint.fingerprint(CHANGES[change](plane), settings) != checkpoint.fingerprint(plane, settings)
    assert checkpoint.fingerprint(replace(plane), settings) == checkpoint.fingerprint(plane, settings)


@pytest.mark.parametrize(
    "run",
    [
        (Context(seed=1),),
        (Context(strict=True),),
        (Context(protect_secondary=True),),
        (Context(whole=True),),
        (Context(), CircuitsParameters(population=7)),
        (Context(), CircuitsParameters(without=("prover",))),
        (Context(), CircuitsParameters(selection="elite")),
        (Context(start=(np.ones(3, bool),)),),
    ],
)
def test_a_fingerprint_tells_settings_apart(plane: Table, run: tuple[Any, ...]) -> None:
    ours, theirs = (checkpoint.fingerprint(plane, settings_of(*one)) for one in ((Context(),), run))
    assert ours != theirs


def test_stops_and_machines_may_change_from_run_to_run(plane: Table) -> None:
    stops = CircuitsParameters(generations=99, patience=5, checkpoint="folder", resume=True, log="x")
    later = Context(backend="numpy", clock=Clock(5.0), first=Found(plane.suppressible))
    assert settings_of(later, stops) == settings_of(Context())


def test_a_fingerprint_tells_versions_apart(plane: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    before = checkpoint.fingerprint(plane, {})
    monkeypatch.setattr(checkpoint, "__version__", "0.0.0")
    assert checkpoint.fingerprint(plane, {}) != before


def test_a_checkpoint_of_a_table_with_another_value_is_refused(plane: Table, tmp_path: Path) -> None:
    protect(plane, tmp_path)
    moved = replace(plane, weight=other(plane.weight))
    with pytest.raises(InputError, match="another table"):
        protect(moved, tmp_path, resume=True)


def test_checkpoints_of_something_else_are_neither_resumed_nor_mixed_with_new_ones(
    plane: Table, tmp_path: Path
) -> None:
    first = protect(plane, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match="name another folder"):
        protect(plane, tmp_path, population=8)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert np.array_equal(protect(plane, tmp_path).suppressed, first.suppressed)


def test_a_checkpoint_says_that_it_is_confidential(plane: Table, tmp_path: Path) -> None:
    protect(plane, tmp_path)
    for path in tmp_path.iterdir():
        head, manifest, _ = path.read_bytes().split(b"\n", 2)
        assert b"CONFIDENTIAL: internal use only" in head
        assert json.loads(manifest)["audience"] == "office"


def test_every_line_of_a_log_says_that_it_is_confidential(plane: Table, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    gpuga.protect(plane, "circuits", options=OPTIONS | {"log": str(log)})
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert rows
    assert all(row["audience"] == "office" for row in rows)


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_that_fills_costs_checkpoints_but_not_the_run(
    plane: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = protect(plane, tmp_path / "whole")
    monkeypatch.setattr(checkpoint.os, "fsync", full_disk)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        cut = protect(plane, tmp_path / "cut")
    assert [str(note.message) for note in noted if "checkpoint" in str(note.message)] == [
        "checkpoints cannot be written (No space left on device): continuing without them"
    ]
    assert np.array_equal(whole.suppressed, cut.suppressed)
    assert os.listdir(tmp_path / "cut") == []


def test_a_log_that_cannot_be_written_costs_lines_but_not_the_run(plane: Table) -> None:
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        found = gpuga.protect(plane, "circuits", options=OPTIONS | {"log": "/dev/full"})
    assert found.audit.safe
    assert sum("the log cannot be written" in str(note.message) for note in noted) == 1


HOLD = """
import sys, time
from pathlib import Path
from typing import Any
from gpuga.evolution.checkpoint import claimed
with claimed(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_folder_serves_one_run_at_a_time_and_a_killed_run_lets_go(plane: Table, tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(InputError, match="another run"):
        protect(plane, tmp_path)
    holder.kill()
    holder.wait()
    (tmp_path / ".generation-000000001.checkpoint.77.part").write_bytes(b"left by a killed run")
    assert protect(plane, tmp_path).audit.safe
    assert not list(tmp_path.glob(".*"))


def test_a_folder_that_cannot_be_made_is_refused_by_the_library_too(plane: Table, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        protect(plane, tmp_path / "file")


@pytest.mark.parametrize("options", [{"log": "run.jsonl"}, {"checkpoint": "folder"}, {"no_fallback": True}])
def test_options_that_shape_nothing_do_not_switch_the_algorithm(
    options: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = herrington(8, 8, 0.08, 1)
    plain, other_run = gpuga.protect(table), gpuga.protect(table, options=options)
    assert plain.found.generations == other_run.found.generations == 0
    assert plain.found.details == other_run.found.details
    assert np.array_equal(plain.suppressed, other_run.suppressed)


def test_the_log_of_a_table_that_is_solved_without_evolution_has_one_row(tmp_path: Path) -> None:
    table, log = tmp_path / "t.csv", tmp_path / "log.jsonl"
    log.write_text("an older run\n")
    gpuga.write_table(herrington(8, 8, 0.08, 1), table)
    assert run(["protect", str(table), "--out", str(tmp_path / "p.csv"), "--log", str(log), "--quiet"]) == 0
    (row,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert row["generation"] == 0
    assert row["best"] == row["lower_bound"]
