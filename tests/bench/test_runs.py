"""Runs as rows: kept when finished, found again, cut off without harm; no path or name of the machine in them."""

from __future__ import annotations

import getpass
import socket
from dataclasses import replace
from pathlib import Path

from bench.machine import machine
from bench.runs import Run, Store, measured, read_rows, warm_up
from bench.tables import SMALL, named_table

SMALL_RUN = Run("herrington", "15x15 5%", "herrington:15x15:5%:1", "shortest-path")


def test_a_run_gives_a_safe_pattern_with_its_cost_and_cpu_seconds():
    row = measured(SMALL_RUN)
    assert row.safe
    assert row.cost > 0
    assert row.audited == len(named_table(SMALL_RUN.table).sensitive)
    assert row.cpu_seconds >= 0


def test_a_method_that_cannot_protect_a_table_gives_a_row_with_its_fault():
    row = measured(replace(SMALL_RUN, table=SMALL["smith3d"]))
    assert row.cost is None
    assert row.fault


def test_finished_rows_are_found_again_and_a_line_cut_off_is_not(tmp_path):
    path = tmp_path / "rows.csv"
    store = Store(path)
    store.add(measured(SMALL_RUN))
    store.add(measured(replace(SMALL_RUN, method="hypercube")))
    assert SMALL_RUN in Store(path)
    path.write_text(path.read_text()[:-40])
    again = Store(path)
    assert SMALL_RUN in again
    assert replace(SMALL_RUN, method="hypercube") not in again


def test_rows_read_back_are_the_rows_written(tmp_path):
    store = Store(tmp_path / "rows.csv")
    store.add(measured(replace(SMALL_RUN, method="exact", seconds=5.0)))
    assert read_rows(tmp_path / "rows.csv") == store.rows


def test_a_method_can_be_forgotten_to_be_measured_again(tmp_path):
    store = Store(tmp_path / "rows.csv")
    store.add(measured(SMALL_RUN))
    store.forget(["shortest-path"])
    assert SMALL_RUN not in Store(tmp_path / "rows.csv")


def test_warming_up_happens_once_for_a_method_and_a_kind_of_table():
    seen = set()
    warm_up(SMALL_RUN, seen)
    assert seen == {("shortest-path", "herrington")}


def test_the_machine_is_described_without_its_name_its_user_or_a_path():
    said = " ".join(machine().values())
    assert socket.gethostname() not in said.split()
    assert getpass.getuser() not in said.split()
    assert str(Path.home()) not in said
