"""When functions are compiled and for how long: happens once per installation, and no clock charges it to a method."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

_spent = 0.0
_watching = False
_first: Callable[[], None] | None = None
_heard = False


def seconds() -> float:
    """Seconds of compilation in this process so far; without a watch, none."""
    return _spent


def when_first(tell: Callable[[], None]) -> None:
    """Call `tell` when the next function has to be compiled, once: what the disk cache holds is not compiled."""
    global _first
    _first = tell


def say_first() -> None:
    """Say once on stderr that something is compiled, when it is, unless someone else was to be told of that before."""
    global _first
    if not _heard:
        _first = _first or _say


def _say() -> None:
    print("gpuga: first run, compiling for this machine (only once) ...", file=sys.stderr, flush=True)


def _tell_first() -> None:
    global _first, _heard
    tell, _first = _first, None
    if tell is not None:
        _heard = True
        tell()


def watch() -> None:
    """Take the time of every compilation from now on (once is enough); needs numba."""
    global _watching
    if _watching:
        return
    from numba.core import event

    _watching = True
    listen: Any = event.register
    listen("numba:compile", _listener(event))


def _listener(event: Any) -> Any:
    """A listener that adds up the outermost compilations: functions compile their callees within."""

    class Listener(event.Listener):  # type: ignore[misc]
        depth = 0
        begun = 0.0

        def on_start(self, _: Any) -> None:
            if self.depth == 0:
                self.begun = time.monotonic()
                _tell_first()
            self.depth += 1

        def on_end(self, _: Any) -> None:
            global _spent
            self.depth -= 1
            if self.depth == 0:
                _spent += time.monotonic() - self.begun

    return Listener()
