"""What all tests rely on."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, nothing about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# Compilers make many objects and hold on to them: a seventh of their time went into looks for unreachable ones.
gc.set_threshold(50_000, 20, 20)

LONGEST = (
    "ptx/test_planted_bugs.py",
    "ptx/test_execution.py",
    "test_in_time.py",
    "test_examples.py",
    "bench/test_everything.py",
    "cluster/test_circuits.py",
    "cluster/test_dask_workers.py",
    "evolution/test_methods.py",
    "docs/test_blocks.py",
    "kernels/test_two_way.py",
    "evolution/test_as_published.py",
    "kernels/test_simulator.py",
    "kernels/test_boxes.py",
    "evolution/test_repeatability.py",
    "ptx/test_general.py",
    "ptx/test_generation.py",
    "cluster/test_islands.py",
    "test_protect.py",
)
"""Files that take longest: the two processes of a test run take file after file, and neither should end with these."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the files that take longest come first."""
    place = {Path(__file__).parent / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


@pytest.fixture(autouse=True)
def _interrupts_are_heard() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests run in the background, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
