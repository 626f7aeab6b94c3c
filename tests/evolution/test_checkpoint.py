"""Checkpoints continue bit for bit, and a damaged one is never used."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpuga
import gpuga.evolution.run as method
from gpuga.errors import InputError
from gpuga.evolution import checkpoint
from gpuga.evolution.engine import Evolution
from gpuga.result import Protection
from gpuga.table.generate import herrington
from gpuga.table.table import Status, Table

ROOT = Path(__file__).parents[2]
OPTIONS = {"generations": 6, "population": 24, "patience": 99}


class Killed(BaseException):
    """The end of a process, within the process."""


def protect(table: Table, folder: Path, resume: bool = False, **options: object) -> Protection:
    given = OPTIONS | {"checkpoint": str(folder), "resume": resume} | options
    return gpuga.protect(table, "circuits", seed=5, options=given)


@pytest.fixture(autouse=True)
def _every_generation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "SECONDS_BETWEEN", 0.0)


def interrupted(table: Table, folder: Path, generation: int, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = method.Run._watch

    def until(self: method.Run, evolution: Evolution) -> None:
        watch(self, evolution)
        if evolution.generation == generation:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(method.Run, "_watch", until)
        with pytest.raises(Killed):
            protect(table, folder)


def resumes(table: Table, generations: tuple[int, ...], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = protect(table, folder / "whole")
    assert whole.found.generations > max(generations), "the table is too easy for this test"
    for generation in generations:
        interrupted(table, folder / f"cut-{generation}", generation, monkeypatch)
        resumed = protect(table, folder / f"cut-{generation}", resume=True)
        assert np.array_equal(whole.suppressed, resumed.suppressed)
        assert whole.found.generations == resumed.found.generations
        assert whole.found.evaluations == resumed.found.evaluations


def test_a_resumed_run_ends_in_the_same_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a run that never notices its proof goes through every step of the prover, and all of them are done again
    evolve = method.evolve
    monkeypatch.setattr(method, "evolve", lambda *given: evolve(*given[:4], lambda: 0))
    resumes(herrington(16, 15, 0.04, 1), (1, 4), tmp_path, monkeypatch)


def test_a_resumed_run_on_any_linear_table_ends_in_the_same_pattern(
    solid: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resumes(solid, (2,), tmp_path, monkeypatch)


def test_without_a_checkpoint_yet_resume_begins(plane: Table, tmp_path: Path) -> None:
    resumed, begun = protect(plane, tmp_path, resume=True), protect(plane, tmp_path / "new")
    assert np.array_equal(resumed.suppressed, begun.suppressed)
    assert resumed.found.evaluations == begun.found.evaluations


def test_a_checkpoint_of_another_seed_is_refused(plane: Table, tmp_path: Path) -> None:
    protect(plane, tmp_path, without=("prover",))
    with pytest.raises(InputError, match="another table, seed"):
        gpuga.protect(plane, "circuits", seed=6, options=OPTIONS | {"checkpoint": str(tmp_path), "resume": True})


def test_tables_that_differ_in_a_status_have_different_fingerprints(plane: Table) -> None:
    status = plane.status.copy()
    status[np.flatnonzero(status == Status.SUPPRESSIBLE)[0]] = Status.FROZEN
    assert checkpoint.fingerprint(plane, {}) != checkpoint.fingerprint(replace(plane, status=status), {})
    assert checkpoint.fingerprint(plane, {"seed": 1}) != checkpoint.fingerprint(plane, {"seed": 2})
    assert checkpoint.fingerprint(plane, {}) == checkpoint.fingerprint(replace(plane), {})


def test_two_checkpoints_are_kept_and_no_pickle_is_in_them(plane: Table, tmp_path: Path) -> None:
    protect(plane, tmp_path, without=("prover",))
    files = sorted(tmp_path.iterdir())
    assert len(files) == checkpoint.KEPT
    assert all(b"pickle" not in path.read_bytes() for path in files)
    _, arrays = checkpoint.read(files[-1].read_bytes())
    assert not any(array.dtype.hasobject for array in arrays.values())


def test_no_value_of_a_cell_is_in_a_checkpoint(plane: Table, tmp_path: Path) -> None:
    """The state is the same for a table with other values of the same order: only structure is kept."""
    protect(plane, tmp_path)
    figures, arrays = checkpoint.read(max(tmp_path.iterdir()).read_bytes())
    hidden = set(plane.value[plane.primary].tolist()) - set(range(len(plane)))
    counts = {"generation", "children", "position", "since", "heard", "priced_at"}
    assert set(figures) == {"fingerprint", "backend", "device", "learnt", *counts}
    for name, array in arrays.items():
        if name != "lower":
            assert not hidden & set(np.asarray(array, np.int64).ravel().tolist()), name


def flipped(content: bytes, bit: int) -> bytes:
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << (bit % 8)
    return bytes(damaged)


def test_a_thousand_flipped_bits_are_all_refused(plane: Table, tmp_path: Path) -> None:
    protect(plane, tmp_path, without=("prover",), generations=2)
    before, latest = sorted(tmp_path.iterdir())
    content, previous = latest.read_bytes(), checkpoint.read(before.read_bytes())[0]
    drawn = random.Random(7)
    for _ in range(1000):
        latest.write_bytes(flipped(content, drawn.randrange(8 * len(content))))
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            loaded = checkpoint.load(tmp_path)
        assert loaded is not None
        assert loaded[0] == previous
        assert len(noted) == 1


def test_shortened_checkpoints_are_refused(plane: Table, tmp_path: Path) -> None:
    protect(plane, tmp_path, without=("prover",), generations=2)
    content = max(tmp_path.iterdir()).read_bytes()
    for length in (0, 1, 31, 32, 33, len(content) // 2, len(content) - 1):
        with pytest.raises(checkpoint.Damaged):
            checkpoint.read(content[:length])


def test_if_every_checkpoint_is_damaged_the_user_is_told(plane: Table, tmp_path: Path) -> None:
    protect(plane, tmp_path, without=("prover",), generations=2)
    for path in tmp_path.iterdir():
        path.write_bytes(b"nothing")
    with pytest.warns(UserWarning, match="not used"), pytest.raises(InputError, match="no checkpoint in it is whole"):
        protect(plane, tmp_path, resume=True)


SCRIPT = """
import sys, numpy as np, gpuga
import gpuga.evolution.run as method
from gpuga.table.generate import herrington
method.SECONDS_BETWEEN = 0.0
folder, out, resume = sys.argv[1], sys.argv[2], sys.argv[3] == "resume"
options = {"generations": 30, "population": 24, "patience": 999, "checkpoint": folder, "resume": resume}
found = gpuga.protect(herrington(25, 20, 0.04, 3), "circuits", seed=5, options=options)
np.save(out, found.suppressed)
"""


def start(folder: Path, out: Path, resume: bool) -> subprocess.Popen[bytes]:
    word = "resume" if resume else "new"
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), str(out), word], cwd=ROOT)


def killed_and_resumed(tmp_path: Path, times: int, seed: int) -> None:
    whole = tmp_path / "whole.npy"
    assert start(tmp_path / "whole", whole, False).wait() == 0
    drawn = random.Random(seed)
    for number in range(times):
        folder, out = tmp_path / f"run-{number}", tmp_path / f"{number}.npy"
        process = start(folder, out, False)
        wanted = drawn.randrange(1, 28)
        while process.poll() is None and not any(folder.glob(f"generation-{wanted:09d}*")):
            time.sleep(0.002)
        time.sleep(drawn.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert start(folder, out, True).wait() == 0
        assert np.array_equal(np.load(whole), np.load(out)), wanted


def test_after_kill_9_a_resumed_run_ends_in_the_identical_pattern(tmp_path: Path) -> None:
    killed_and_resumed(tmp_path, 1, 1)


@pytest.mark.slow
def test_fifty_times_killed_and_resumed(tmp_path: Path) -> None:
    killed_and_resumed(tmp_path, 50, 2)


def test_the_manifest_names_every_array(plane: Table, tmp_path: Path) -> None:
    protect(plane, tmp_path, without=("prover",), generations=1)
    head = max(tmp_path.iterdir()).read_bytes().split(b"\n", 2)[1]
    names = {entry["name"] for entry in json.loads(head)["arrays"]}
    assert {"population_bits", "hall_bits", "points", "cores", "lower", "offers", "offer_steps"} == names
    assert os.listdir(tmp_path) == [f"generation-{1:09d}.checkpoint"]
