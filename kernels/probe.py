"""Which devices, drivers and packages are here, and what to install where something is missing."""

from __future__ import annotations


def cuda_problem() -> str | None:
    return "no device"
