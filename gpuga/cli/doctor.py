"""`gpuga doctor`: which back ends and solvers work here, and what is missing."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from importlib.util import find_spec

import click

EXTRAS = (
    ("pyarrow", "files", "Parquet tables"),
    ("duckdb", "microdata", "large microdata"),
    ("matplotlib", "plots", "plots"),
    ("pytauargus", "peers", "comparison with another tool"),
)


@click.command()
def doctor() -> None:
    """Check which back ends and solvers work on this machine, and show how to install the others."""
    from gpuga import __version__

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    click.echo(f"gpuga {__version__}, Python {platform.python_version()}, {platform.machine()}, {cores} cores")
    for line in [*_backends(), *_solvers(), *_extras()]:
        click.echo(line)


def _line(kind: str, name: str, problem: str | None, note: str = "") -> str:
    return f"{'ok' if problem is None else '--':<3}{kind:<9}{name:<12}{note if problem is None else problem}"


def _backends() -> list[str]:
    from gpuga.kernels.backend import available_backends

    notes = {"cuda": "evaluates on the GPU", "cpu": "evaluates on all cores", "numpy": "slow reference implementation"}
    return [_line("back end", name, problem, notes.get(name, "")) for name, problem in available_backends().items()]


def _solvers() -> list[str]:
    from gpuga.lp.highs import Highs
    from gpuga.lp.solver import Solver

    solver: Solver = Highs()
    problem = None if solver.available() else "highspy does not work here: pip install highspy"
    return [_line("solver", solver.name, problem, f"version {metadata.version('highspy')}"), _cuopt()]


def _cuopt() -> str:
    """cuOpt on the server that the environment names, which needs no GPU here, else on this machine's GPU."""
    from gpuga.kernels.probe import probe_driver
    from gpuga.lp.cuopt_probe import probe_cuopt, probe_server

    driver = probe_driver()
    report = probe_cuopt(12 if driver.version is not None and driver.version[0] < 13 else 13)
    missing = None if report.problem is None else f"{report.problem}: {report.install}"
    server = probe_server(os.environ)
    if server is None:
        return _line("solver", "cuopt", driver.problem or missing, f"version {report.version}")
    note = f"version {report.version}, asks the server {server.address}, where somebody answers"
    return _line("solver", "cuopt", missing or server.problem, note)


def _extras() -> list[str]:
    return [
        _line(
            "extra",
            extra,
            None if find_spec(module) else f"not installed: pip install 'gpuga[{extra}]'",
            note,
        )
        for module, extra, note in EXTRAS
    ]
