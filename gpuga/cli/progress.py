"""Progress on a terminal, and the handling of Ctrl-C."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

import gpuga
from gpuga import compiling

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from gpuga.context import Clock, Progress


class Bar:
    """Progress as one line of rich: the stage, how far it is, and its figures (never cell values)."""

    def __init__(self, rich: RichProgress) -> None:
        self.rich = rich
        self.task = rich.add_task("start", total=None, figures="")

    def stage(self, name: str, total: int | None = None) -> None:
        """Begin a new stage."""
        self.rich.reset(self.task, description=name, total=total, figures="")

    def advance(self, steps: int = 1, **figures: float | int | str) -> None:
        """Some steps are done."""
        texts = [
            f"{name} {value:,g}" if isinstance(value, float) else f"{name} {value}" for name, value in figures.items()
        ]
        if texts:
            self.rich.update(self.task, advance=steps, figures="  ".join(texts))
        else:
            self.rich.update(self.task, advance=steps)


@contextmanager
def progress_on_terminal(quiet: bool) -> Iterator[Progress]:
    """A progress bar on a terminal; silence otherwise."""
    from gpuga.context import Silent

    if quiet or not sys.stderr.isatty():
        yield Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[figures]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as rich:
        yield Bar(rich)


@contextmanager
def ending_on_interrupt(clock: Clock, best: str = "the best safe pattern so far") -> Iterator[None]:
    """The first Ctrl-C asks for the best so far, the second one aborts."""

    def stop(signum: int, frame: FrameType | None) -> None:
        if clock.interrupted:
            raise KeyboardInterrupt
        clock.interrupt()
        click.echo(f"gpuga: stopping with {best} (press Ctrl-C again to abort)", err=True)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Results are being written, which takes a moment: a Ctrl-C comes too late."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def ready_to_compile(quiet: bool) -> None:
    """The very first run compiles; say so when it begins, and let a second process compile from the other end."""

    def begin() -> None:
        if not quiet:
            click.echo("gpuga: first run, compiling for this machine (only once) ...", err=True)
        if len(os.sched_getaffinity(0)) > 1:
            _compile_ahead()

    compiling.when_first(begin)


@cache
def _compile_ahead() -> None:
    """Start the second process, once; it ends with this one at the latest."""
    package = Path(gpuga.__file__).parent.parent
    surroundings = os.environ | {"PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])}
    words = [sys.executable, "-P", "-m", "gpuga.compile_ahead", str(os.getpid())]
    silent = subprocess.DEVNULL
    second = subprocess.Popen(
        words, stdin=silent, stdout=silent, stderr=silent, env=surroundings, start_new_session=True
    )
    atexit.register(second.kill)
