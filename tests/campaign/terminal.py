"""The command line from inside: one command, its exit code and what it printed."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def run_command(arguments: Sequence[str]) -> Ended:
    """A command in this process."""
    from gpuga.cli.main import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        try:
            code = run(list(arguments))
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
    return Ended(code, out.getvalue(), err.getvalue())


def run_process(
    arguments: Sequence[str], *, seconds: float = 120, environment: Mapping[str, str] | None = None, **more: object
) -> Ended:
    """A command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "gpuga", *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        env=surroundings() | dict(environment or {}),
        **more,  # type: ignore[call-overload]
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def surroundings() -> dict[str, str]:
    """The environment of a process that imports this tree."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
