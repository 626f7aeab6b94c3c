"""What a part of the campaign saw: counts, and failures with everything that is needed to see them again."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


class TooSlow(Exception):
    """One step took longer than any step should."""


@dataclass
class Tally:
    """Counts by name; failures as plain dictionaries: `kind`, `what`, `command` and `files` by name."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def count(self, name: str, by: int = 1) -> None:
        """So many more of something."""
        self.counts[name] += by

    def fail(self, kind: str, what: str, command: str = "", files: dict[str, str] | None = None) -> None:
        """One more failure; `kind` is also counted."""
        self.counts[kind] += 1
        self.failures.append({"kind": kind, "what": what[:2000], "command": command, "files": files or {}})

    def add(self, other: Tally) -> None:
        """What another one saw as well."""
        self.counts.update(other.counts)
        self.failures += other.failures


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """End the block with `TooSlow` after so long (where the interpreter gets to run at all)."""

    def ring(*_: object) -> None:
        raise TooSlow(f"took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
