"""The throughput benchmark on a small table: every operation, the sweeps, the estimate that says so."""

from __future__ import annotations

import json

from bench.roofline import bytes_per_pattern
from bench.throughput import OPERATIONS, main


def test_every_operation_sweep_and_estimate_is_in_the_rows(tmp_path, capsys):
    out = tmp_path / "rows.json"
    assert main(["--size", "12", "--patterns", "16", "--sizes", "8,12", "--repeats", "1", "--json", str(out)]) == 0
    rows = json.loads(out.read_text())
    assert {"operation", "backend", "patterns", "seconds", "patterns_per_second"} <= set(rows[0])
    on_cpu = [row for row in rows if row["backend"] == "cpu"]
    assert {row["operation"] for row in on_cpu if not row["note"]} == set(OPERATIONS)
    assert {row["table"] for row in on_cpu if row["note"] == "table size"} == {"8x8", "12x12"}
    estimates = [row for row in on_cpu if row["note"].startswith("estimate")]
    assert estimates
    assert all(row["seconds"] is None for row in estimates)
    assert "estimate" in capsys.readouterr().out


def test_a_pattern_of_the_smallest_operation_is_read_once_and_its_verdicts_written():
    assert bytes_per_pattern(cells=80, lines=5, levels=7)["c"] == 10 + 7
