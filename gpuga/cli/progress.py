"""Progress on a terminal, and the handling of Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

import gpuga

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
def ending_on_interrupt(clock: Clock) -> Iterator[None]:
    """The first Ctrl-C asks for the best pattern so far, the second one aborts."""

    def stop(signum: int, frame: FrameType | None) -> None:
        if clock.interrupted:
            raise KeyboardInterrupt
        clock.interrupt()
        click.echo("gpuga: ending with the best safe pattern so far (Ctrl-C again to abort)", err=True)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def say_if_compiling(quiet: bool) -> None:
    """The very first run compiles; say so, because it takes seconds."""
    compiled = any(Path(gpuga.__file__).parent.rglob("__pycache__/*.nbi"))
    if not quiet and not compiled:
        click.echo("gpuga: compiling for this machine, only this once ...", err=True)
