"""How much memory is left, so that what cannot fit is refused with a sentence before it is tried."""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass
from pathlib import Path

from gpuga.errors import InputError
from gpuga.table.table import Table

BYTES_PER_INDIVIDUAL, BYTES_PER_SENSITIVE = 1_000, 160
"""About what one individual of a population takes: itself, and its circuits per sensitive cell."""

SHARE = 0.5
"""How much of what is left a population may take; the rest is for tables, programs and kernels."""


LEAST = 400 * 2**20
"""With fewer bytes than this left, no large matrix is factorised."""

MACHINE, GROUP, PROCESS = Path("/proc/meminfo"), Path("/sys/fs/cgroup"), Path("/proc/self/statm")
"""Where Linux tells it."""


PROGRAM = 170 * 2**20
"""The program itself, with its compiled loops."""

ROW = 400
CELL, CELL_BY_AXIS = 80, 25
WORK, WORK_BY_AXIS = 130, 50
"""Bytes per row while a text is read (beside the text, twice); per cell, and per cell and dimension, that a table takes
with its equations; and that building it, boxes and the audit take for a while. Measured at 500,000 to 10,000,000 cells
of three dimensions."""


@dataclass(frozen=True)
class MemoryPlan:
    """What a table takes, in bytes: while it is read, itself, while it is protected and audited, and at the most."""

    reading: int
    table: int
    work: int
    individual: int  # one individual of a population

    @property
    def peak(self) -> int:
        """The most at one time: reading ends before the work begins, but its text is kept for the pattern."""
        return PROGRAM + self.reading + self.table + self.work

    @property
    def population(self) -> int:
        """How many individuals fit into what is left here beside the table, at the most."""
        left = available() - PROGRAM - self.reading - self.table
        return max(0, int(SHARE * left / self.individual))


def memory_plan(rows: int, size: int, cells: int, dimensions: int, sensitive: int) -> MemoryPlan:
    """The plan of a table in a file of `size` bytes; `dimensions` is in how many equations a cell is, about."""
    return MemoryPlan(
        reading=ROW * rows + 2 * size,
        table=(CELL + CELL_BY_AXIS * dimensions) * cells,
        work=(WORK + WORK_BY_AXIS * dimensions) * cells,
        individual=_individual(sensitive, cells),
    )


def _individual(sensitive: int, cells: int) -> int:
    return BYTES_PER_INDIVIDUAL + BYTES_PER_SENSITIVE * sensitive + cells


def available() -> int:
    """Bytes that this process can still get: of the machine, of its control group, of its own limit."""
    found = [_of_machine(), _of_group(), _of_process()]
    return min((number for number in found if number is not None), default=sys.maxsize)


def short() -> bool:
    """Whether so little is left that factorising a large matrix could fail: its library does not survive that."""
    return available() < LEAST


def check_population(table: Table, population: int) -> None:
    """Refuse a population that the memory cannot hold."""
    each = _individual(len(table.sensitive), len(table))
    most = int(SHARE * available() / each)
    if population > most:
        what = f"{population:,} is more than the memory of this machine allows for this table: at most about {most:,}"
        raise InputError(what, field="--population")


def _of_machine() -> int | None:
    """What the kernel takes for available; None where it does not say."""
    lines = MACHINE.read_text(encoding="ascii").splitlines() if MACHINE.exists() else []
    told = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(told[0]) if told else None


def _of_group() -> int | None:
    """What the control group (a container's limit) leaves; None without a limit."""
    try:
        limit = (GROUP / "memory.max").read_text(encoding="ascii").strip()
        used = int((GROUP / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return max(0, int(limit) - used) if limit.isdigit() else None


def _of_process() -> int | None:
    """What the limit of the address space leaves; None without a limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    pages = int(PROCESS.read_text(encoding="ascii").split()[0])
    return max(0, limit - pages * resource.getpagesize())
