"""Progress on a terminal or, where it is asked for, in plain lines; and the handling of Ctrl-C."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TextIO

import click

import gpuga
from gpuga import compiling
from gpuga.cli.options import PROGRESS

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from gpuga.context import Clock, Progress


EVERY = 5.0
"""Seconds between plain lines of progress."""


def figures_text(figures: dict[str, float | int | str]) -> str:
    """Figures of a stage in words."""
    return ", ".join(f"{n} {v:,g}" if isinstance(v, float) else f"{n} {v}" for n, v in figures.items())


def time_text(started: float, clock: Clock | None, now: float) -> str:
    """How long a run lasts already and, under a time limit, how long it may still."""
    spent = f"{int(now - started) // 60}:{int(now - started) % 60:02d}"
    if clock is None or clock.seconds is None:
        return spent
    left = max(0, round(clock.left()))
    return f"{spent}, {left // 60}:{left % 60:02d} left"


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
        if figures:
            self.rich.update(self.task, advance=steps, figures=figures_text(figures))
        else:
            self.rich.update(self.task, advance=steps)


class PlainProgress:
    """Progress as plain lines, one every few seconds: the time, the stage, how far it is, and its figures."""

    def __init__(self, out: TextIO, clock: Clock | None = None) -> None:
        self.out, self.clock, self.started = out, clock, time.monotonic()
        self.stage("start")

    def stage(self, name: str, total: int | None = None) -> None:
        """Begin a new stage."""
        self.name, self.total = name, total
        self.done, self.figures = 0, ""

    def advance(self, steps: int = 1, **figures: float | int | str) -> None:
        """Some steps are done."""
        self.done += steps
        if figures:
            self.figures = figures_text(figures)

    def say(self) -> None:
        """Print where the work is."""
        steps = f" {self.done} of {self.total}" if self.total else f" {self.done}" if self.done else ""
        figures = f": {self.figures}" if self.figures else ""
        when = time_text(self.started, self.clock, time.monotonic())
        print(f"gpuga: {when}, {self.name}{steps}{figures}", file=self.out, flush=True)


@contextmanager
def _saying(lines: PlainProgress, every: float) -> Iterator[None]:
    """Lines at their times, from a thread of their own: some stages take long without a step."""
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(every):
            lines.say()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def progress_on_terminal(quiet: bool, clock: Clock | None = None) -> Iterator[Progress]:
    """A progress bar on a terminal; elsewhere plain lines if --progress asks for them, else silence."""
    from gpuga.context import Silent

    context = click.get_current_context(silent=True)
    if quiet:
        yield Silent()
    elif sys.stderr.isatty():
        with _bar(clock) as bar:
            yield bar
    elif context is not None and context.meta.get(PROGRESS):
        lines = PlainProgress(sys.stderr, clock)
        with _saying(lines, EVERY):
            yield lines
    else:
        yield Silent()


@contextmanager
def _bar(clock: Clock | None) -> Iterator[Bar]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    started = time.monotonic()

    class Times(ProgressColumn):
        """The time of the whole run: that of a stage says little."""

        def render(self, task: Task) -> Text:
            return Text(time_text(started, clock, time.monotonic()))

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Times(),
        TextColumn("{task.fields[figures]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as rich:
        yield Bar(rich)


@contextmanager
def ending_on_interrupt(clock: Clock, best: str = "the best safe pattern so far") -> Iterator[None]:
    """The first Ctrl-C asks for the best so far, the second one aborts.

    Outside the main thread, as at a worker of a cluster, no signals arrive.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

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
