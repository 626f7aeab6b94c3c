"""`gpuga doctor`: which back ends and solvers work here, and what is missing."""

from __future__ import annotations

import os
import platform

import click


@click.command()
def doctor() -> None:
    """Check which back ends and solvers work on this machine, and show how to install the others."""
    from gpuga import __version__
    from gpuga.installed import parts

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    click.echo(f"gpuga {__version__}, Python {platform.python_version()}, {platform.machine()}, {cores} cores")
    for kind, name, problem, note in parts(os.environ):
        click.echo(f"{'ok' if problem is None else '--':<3}{kind:<9}{name:<12}{note if problem is None else problem}")
