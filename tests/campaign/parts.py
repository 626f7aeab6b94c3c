"""The parts of the campaign in their order: what each tries, how often, and what must not be seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.campaign.tally import Tally

FAILURES = (
    "false safe",
    "false unsafe",
    "wrong intervals",
    "crashes",
    "optimal contradicted",
    "wrong bounds",
    "false infeasible",
    "wrong exposure",
    "wrong cost",
    "wrong lists",
    "misread",
    "refused",
    "slow",
    "proofs refused",
    "accepted",
    "not one sentence",
    "wrong exit codes",
    "files left",
    "values shown",
    "different results",
    "not survived",
    "tests failed",
)
"""Every kind of failure that a part can count; all of them have to stay at 0."""


@dataclass(frozen=True)
class Part:
    """One part: `step(seed, index, folder)` does one unit of it."""

    name: str
    about: str
    chunk: int
    endless: bool = False

    @property
    def target(self) -> int:
        """How many steps make the part complete."""
        target: int = import_module(f"tests.campaign.part_{self.name}").TARGET
        return target

    def step(self) -> Callable[[int, int, Path], Tally]:
        """The work itself; loads the product."""
        work: Callable[[int, int, Path], Tally] = import_module(f"tests.campaign.part_{self.name}").step
        return work


PARTS = (
    Part("malformed", "malformed inputs and options: exit code 2 and one sentence", 25),
    Part("counts", "three- and four-way tables of counts against an integer program", 5),
    Part("faults", "disk full, read-only, other users, damaged caches, limits, signals", 1),
    Part("kills", "kill -9 at a random moment, then --resume", 5),
    Part("slow_tests", "the tests that take minutes, file by file", 1),
    Part("fuzz", "mutated files through every parser, guided by the lines they reach", 1, endless=True),
    Part("tables", "random tables through every reader and method, every verdict judged again", 50, endless=True),
)


def part_named(name: str) -> Part:
    """The part of that name."""
    for part in PARTS:
        if part.name == name:
            return part
    raise SystemExit(f"there is no part {name!r}: choose one of {', '.join(p.name for p in PARTS)}")
