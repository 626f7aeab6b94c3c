"""The log of a run: costs with what is suppressed beforehand, and a log that fails ends no run."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from gpuga.audience import OFFICE
from gpuga.context import Context
from gpuga.evolution.progress import Reporter
from gpuga.table.table import Table


def test_a_settled_run_writes_one_row_with_costs_as_users_see_them(plane: Table, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    Reporter(plane, Context(), 250, str(log)).tell_settled(1750, 750)
    (row,) = (json.loads(line) for line in log.read_text().splitlines())
    assert row["audience"] == OFFICE
    assert row["best"] == plane.shown_cost(2000)
    assert row["lower_bound"] == plane.shown_cost(1000)
    assert row["gap"] == 1.0


def test_a_log_begins_anew_unless_a_run_is_resumed(plane: Table, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    Reporter(plane, Context(), 0, str(log)).tell_settled(5, 5)
    Reporter(plane, Context(), 0, str(log), resumed=True).tell_settled(5, 5)
    assert len(log.read_text().splitlines()) == 2
    Reporter(plane, Context(), 0, str(log)).tell_settled(5, 5)
    assert len(log.read_text().splitlines()) == 1


def test_a_log_that_cannot_be_written_is_given_up_with_one_warning(plane: Table, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="the log cannot be written"):
        reporter = Reporter(plane, Context(), 0, str(tmp_path / "missing" / "log.jsonl"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reporter.tell_settled(5, 5)
    assert not (tmp_path / "missing").exists()
