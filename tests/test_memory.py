"""The memory that is left is the least of what the machine, its control group and the process's own limit leave."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from gpuga import memory
from gpuga.errors import InputError
from gpuga.table.generate import herrington

PAGE = resource.getpagesize()


@pytest.fixture(autouse=True)
def _told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    monkeypatch.setattr(memory, "PROCESS", tmp_path / "statm")
    (tmp_path / "statm").write_text("3 2 1\n")
    limit(monkeypatch, resource.RLIM_INFINITY)


def limit(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(memory.resource, "getrlimit", lambda which: (most, most))


def test_without_any_word_there_is_no_limit() -> None:
    assert memory.available() == sys.maxsize


def test_the_machine_tells_in_kibibytes(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable: 7 kB\nCached: 5 kB\n")
    assert memory.available() == 7 * 1024


@pytest.mark.parametrize(("most", "left"), [("1000", 400), ("500", 0), ("max", sys.maxsize), ("?", sys.maxsize)])
def test_a_control_group_leaves_what_it_does_not_use(tmp_path: Path, most: str, left: int) -> None:
    (tmp_path / "memory.max").write_text(f"{most}\n")
    (tmp_path / "memory.current").write_text("600\n")
    assert memory.available() == left


@pytest.mark.parametrize(("most", "left"), [(10 * PAGE, 7 * PAGE), (2 * PAGE, 0)])
def test_a_limit_of_the_process_leaves_what_it_does_not_use(
    most: int, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, most)
    assert memory.available() == left


def test_the_least_of_them_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meminfo").write_text("MemAvailable: 900 kB\n")
    (tmp_path / "memory.max").write_text("500000\n")
    (tmp_path / "memory.current").write_text("0\n")
    assert memory.available() == 500_000
    limit(monkeypatch, 4 * PAGE)
    assert memory.available() == PAGE


def test_a_population_may_take_half_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    table = herrington(6, 6, 0.2, 1)
    each = 1000 + 160 * len(table.sensitive) + len(table)
    monkeypatch.setattr(memory, "available", lambda: 2 * 10 * each)
    memory.check_population(table, 10)
    with pytest.raises(InputError, match=r"--population: 11 is more than .* at most about 10"):
        memory.check_population(table, 11)


def test_a_plan_grows_with_cells_and_dimensions_and_leaves_room_for_a_population(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = memory.memory_plan(rows=1000, size=20_000, cells=1000, dimensions=2, sensitive=10)
    wide = memory.memory_plan(rows=1000, size=20_000, cells=1000, dimensions=4, sensitive=10)
    large = memory.memory_plan(rows=10**6, size=2 * 10**7, cells=10**6, dimensions=2, sensitive=10)
    assert small.reading == wide.reading
    assert small.peak < wide.peak < large.peak
    assert large.table == 1000 * small.table
    monkeypatch.setattr(
        memory, "available", lambda: memory.PROGRAM + small.reading + small.table + 20 * small.individual
    )
    assert small.population == 10
    monkeypatch.setattr(memory, "available", lambda: 0)
    assert small.population == 0


def test_a_plan_is_not_far_below_what_a_table_takes() -> None:
    """A table of a million cells took 576 MB with its audit."""
    plan = memory.memory_plan(rows=0, size=0, cells=10**6, dimensions=3, sensitive=20_000)
    assert 0.9 * 576 < plan.peak / 2**20 < 1.5 * 576
