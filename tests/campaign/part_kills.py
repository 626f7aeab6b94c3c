"""Part `kills`: kill -9 at a random moment of a run with checkpoints, once or more, then resume to the same result.

Runs are forked from a process in which everything is imported, so that the moment of the kill is spread over the
work and not over the start. Two-way and three-way tables take turns, the prover runs beside evolution, and every
other process has one thread only. What is written at the end must be the undisturbed run's, byte for byte.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tests.campaign.tally import Tally

if TYPE_CHECKING:
    from gpuga.table.table import Table

TARGET = 200
PATIENCE = 180.0
TRIES, SOONER = 8, 0.7
"""How often a run is tried to be killed, and how much sooner each time: machines are not equally quick all the time."""
TABLES = 4
OPTIONS: dict[str, Any] = {
    "generations": 20,
    "population": 12,
    "patience": 999,
}

_UNDISTURBED: dict[int, tuple[dict[str, Any], bytes, float]] = {}  # by table: figures, pattern, seconds


def step(seed: int, index: int, folder: Path) -> Tally:
    """One run that is killed once or more, then resumed to its end."""
    tally = Tally()
    rng = Random(f"kills {seed} {index}")
    which = index % TABLES
    if which not in _UNDISTURBED:
        _UNDISTURBED[which] = _undisturbed(which, folder)
    figures, pattern, seconds = _UNDISTURBED[which]
    home = folder / f"kill-{index}"
    where = f"python -m tests.campaign --only kills --seed {seed} --again {index}"
    killed = False
    for attempt in range(TRIES):
        if not killed:  # from the start: what ended by itself has nothing left to resume
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
        lived = _killed(which, home, seconds * rng.uniform(0.1, 0.9) * SOONER**attempt)
        tally.count("ended before the kill" if lived else "kills")
        out = home / "pattern.csv"
        if out.exists() and out.read_bytes() != pattern:
            tally.fail("files left", "a pattern was left half-written, or is another one", where)
        killed = killed or not lived
        if killed and rng.random() < 0.75:
            break
    child = _started(which, home)
    if not _ended(child, PATIENCE):
        tally.fail("not survived", "the resumed run does not end", where)
    else:
        _compare(home, figures, pattern, where, tally)
    shutil.rmtree(home, ignore_errors=True)
    return tally


def _compare(home: Path, figures: dict[str, Any], pattern: bytes, where: str, tally: Tally) -> None:
    try:
        seen = json.loads((home / "figures.json").read_text())
    except (OSError, ValueError):
        said = (home / "fault.txt").read_text() if (home / "fault.txt").exists() else "it left nothing"
        tally.fail("not survived", f"the resumed run failed: {said[-600:]}", where)
        return
    tally.count("resumed runs")
    tally.count("resumed from a checkpoint", seen["resumed"])
    same = {name: seen[name] == figures[name] for name in ("cost", "generations", "evaluations")}
    if not all(same.values()) or (home / "pattern.csv").read_bytes() != pattern:
        tally.fail("different results", f"{seen}, undisturbed {figures}", where)
    left = [p.name for p in (home / "checkpoint").iterdir() if p.name.endswith(".part")]
    if left:
        tally.fail("files left", f"{left} in the checkpoint folder", where)


def _undisturbed(which: int, folder: Path) -> tuple[dict[str, Any], bytes, float]:
    """The result of the run that nobody disturbs, and how long it takes once everything is compiled."""
    for name in (f"compiled-{which}", f"whole-{which}"):
        home = folder / name
        home.mkdir(exist_ok=True)
        begun = time.monotonic()
        _ended(_started(which, home), 10 * PATIENCE)
    seconds = time.monotonic() - begun
    return json.loads((home / "figures.json").read_text()), (home / "pattern.csv").read_bytes(), seconds


def _killed(which: int, home: Path, after: float) -> bool:
    """Start or resume a run and kill it after so long; whether it had ended by itself."""
    child = _started(which, home)
    time.sleep(after)
    if os.waitpid(child, os.WNOHANG) != (0, 0):
        return True
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _ended(child: int, patience: float) -> bool:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            return True
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _started(which: int, home: Path) -> int:
    """A run in a process of its own: protects with a checkpoint, resumes where there is one, writes the result."""
    import gpuga.cli.protect
    import gpuga.evolution.run as method
    import gpuga.protect  # noqa: F401

    child = os.fork()
    if child:
        return child
    code = 1
    try:
        method.SECONDS_BETWEEN = 0.0
        _run(which, home)
        code = 0
    except BaseException as fault:
        (home / "fault.txt").write_text(repr(fault))
    finally:
        os._exit(code)


def _table(which: int) -> Table:
    from gpuga.table.generate import herrington, smith3d

    if which % 2:
        return smith3d((5, 4, 4 + which // 2), 0.1, 0.1, 1 + which)
    return herrington(9 + which, 10, 0.06, 1 + which)


def _run(which: int, home: Path) -> None:
    import warnings

    import numba

    import gpuga
    import gpuga.evolution.run as method
    from gpuga.files.read import read_source
    from tests.support.patterns import write_pattern

    numba.set_num_threads(1 + os.getpid() % min(2, numba.config.NUMBA_NUM_THREADS))
    warnings.simplefilter("ignore")
    evolve = method.evolve
    method.evolve = lambda *given: evolve(*given[:4], lambda: 0)  # else a proof ends the run early
    path = home / "table.csv"
    if not path.exists():
        gpuga.write_table(_table(which), home / "new.csv")
        os.replace(home / "new.csv", path)
    source = read_source(path)
    resumed = any((home / "checkpoint").glob("generation-*.checkpoint"))
    options = OPTIONS | {"checkpoint": str(home / "checkpoint"), "resume": True}
    found = gpuga.protect(source.table, "circuits", seed=which, options=options)
    write_pattern(source, found.suppressed, home / "pattern.csv")
    figures = {
        "cost": int(found.scaled_cost),
        "generations": found.found.generations,
        "evaluations": found.found.evaluations,
        "resumed": int(resumed),
    }
    (home / "figures.json").write_text(json.dumps(figures))
