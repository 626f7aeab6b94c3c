"""Frames go in and out without a changed value."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.files.frames import in_memory, pattern_frame, write_records
from gpuga.table.builders import table_from_array


def test_values_are_whole_where_all_are_and_missing_where_suppressed() -> None:
    pytest.importorskip("pyarrow")
    for values, published in (([[5, 6], [7, 8]], [6, 7, 8]), ([[5, 6.5], [7, 8]], [6.5, 7.0, 8.0])):
        table = table_from_array(values, sensitive=[[1, 0], [0, 0]], names=["r", "c"], codes=[["a", "b"], ["x", "y"]])
        frame = pattern_frame(table, table.forced, "arrow")
        assert frame.column("value").to_pylist()[:4] == [None, *published]
        assert frame.column("suppression").to_pylist()[:2] == ["primary", "published"]
        assert frame.column("r").to_pylist()[:4] == [*"aabb"]


def test_records_are_written_as_they_are(tmp_path: Path) -> None:
    frame = {"a": ["x,y", 'say "a"', ""], "b": np.array([0.1, 1e22, np.nan]), "c": [None, 7, Decimal("1.50")]}
    write_records(frame, tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["a", "b", "c"], ["x,y", "0.1", ""], ['say "a"', "1e+22", "7"], ["", "", "1.50"]]


def test_what_is_written_by_codes_needs_codes() -> None:
    table = table_from_array([[5, 6], [7, 8]], name="a/b.jj")
    assert in_memory(table).path.suffix == ""
    with pytest.raises(InputError, match="kind"):
        pattern_frame(table, table.forced, "excel")
