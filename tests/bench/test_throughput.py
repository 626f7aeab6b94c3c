"""The throughput benchmark on small tables: every operation, rows as they come, no figure where there is no device."""

from __future__ import annotations

import json

import pytest

from bench.throughput import OPERATIONS, QUICK, Workload, main
from gpuga.kernels.probe import cuda_problem


def test_every_operation_of_every_back_end_is_in_the_rows(tmp_path, capsys):
    out = tmp_path / "rows.json"
    assert main(["--quick", "--repeats", "1", "--json", str(out)]) == 0
    rows = json.loads(out.read_text())
    assert {"operation", "backend", "patterns", "seconds", "patterns_per_second"} <= set(rows[0])
    on_cpu = [row for row in rows if row["backend"] == "cpu"]
    assert {row["operation"] for row in on_cpu} == set(OPERATIONS)
    assert {row["table"] for row in on_cpu} == {"herrington-12x12-3%", "smith3d-6x5x4-5%"}
    assert all(row["patterns_per_second"] > 0 for row in on_cpu)
    assert [row["operation"] for row in rows if row["backend"] == "python"] == ["safe"]
    if cuda_problem() is not None:
        on_device = [row for row in rows if row["backend"] == "cuda"]
        assert {(row["seconds"], row["note"]) for row in on_device} == {(None, "no device")}
    assert len(capsys.readouterr().out.splitlines()) == len(rows)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_one_operation_can_be_asked_for(operation, capsys):
    assert main(["--quick", "--repeats", "1", "--backend", "cpu", "--operation", operation]) == 0
    assert all(line.split()[1] == operation for line in capsys.readouterr().out.splitlines())


def test_one_table_can_be_asked_for(capsys):
    words = ["--quick", "--repeats", "1", "--backend", "cpu", "--operation", "children", "--case", "smith3d-6x5x4-5%"]
    assert main(words) == 0
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()] == ["smith3d-6x5x4-5%"]


def test_every_measurement_of_safety_judges_children_of_other_pairs(monkeypatch):
    work, asked, crossed = Workload(QUICK[0], "cpu", 1), [], []
    monkeypatch.setattr(
        work.kernels, "exchange", lambda _, pairs, *__: (crossed.append(pairs.tolist()) or len(crossed), 0)
    )
    monkeypatch.setattr(work.kernels, "safe", asked.append)
    judge = work.call("safe", 8, 3)
    for _ in range(3):
        judge()
    assert asked == [1, 2, 3]
    assert crossed[0] != crossed[1] != crossed[2] != crossed[0]
