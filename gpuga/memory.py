"""How much memory is left, so that what cannot fit is refused with a sentence before it is tried."""

from __future__ import annotations

import resource
import sys
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


def available() -> int:
    """Bytes that this process can still get: of the machine, of its control group, of its own limit."""
    found = [_of_machine(), _of_group(), _of_process()]
    return min((number for number in found if number is not None), default=sys.maxsize)


def short() -> bool:
    """Whether so little is left that factorising a large matrix could fail: its library does not survive that."""
    return available() < LEAST


def check_population(table: Table, population: int) -> None:
    """Refuse a population that the memory cannot hold."""
    each = BYTES_PER_INDIVIDUAL + BYTES_PER_SENSITIVE * len(table.sensitive) + len(table)
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
