"""What a report says of the machine: processor, cores, memory, versions. Never its name, its user or a path."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import gpuga
from gpuga.kernels.probe import cuda_problem

PACKAGES = ("numpy", "numba", "scipy", "highspy", "deap", "pytauargus")


def machine() -> dict[str, str]:
    """The machine and the software, as short texts."""
    found = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{_memory_bytes() / 2**30:.0f} GiB",
        "GPU": "none" if cuda_problem() else "CUDA device",
        "system": platform.system(),
        "Python": platform.python_version(),
    }
    found["gpuga"] = gpuga.__version__
    for name in PACKAGES:
        found[name] = _version(name)
    return {**found, "commit": commit(), "date": datetime.now(UTC).strftime("%Y-%m-%d")}


@cache
def commit() -> str:
    """The short name of the commit that the tree stands at; empty outside a repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def busy_seconds() -> tuple[float, float] | None:
    """Seconds that all processors together have worked, and those of them of our own finished processes."""
    path = Path("/proc/stat")
    if not path.exists():
        return None
    user, nice, system, _idle, _waiting, *rest = map(int, path.read_text(encoding="utf-8").split("\n")[0].split()[1:])
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    total = (user + nice + system + sum(rest[:2])) / os.sysconf("SC_CLK_TCK")
    return total, sum(used.ru_utime + used.ru_stime for used in own)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
