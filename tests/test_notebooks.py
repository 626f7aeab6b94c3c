"""The code of the notebooks runs, cell after cell, and shows what its text says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"


def run(name: str) -> dict[str, Any]:
    """The names that the code cells of a notebook leave behind."""
    cells = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {"__name__": "notebook"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{name}, cell {number}", "exec"), names)
    return names


def test_an_own_operator_is_called_and_the_ablation_has_a_row_per_ingredient(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = run("own_operator_and_ablation.ipynb")
    assert left["calls"] > 0
    assert left["own"].audit.safe
    assert left["two_point"].calls > 0
    assert left["shuffle"].calls > 0
    assert left["plugged"].audit.safe
    assert list(left["ablation"]) == ["nothing", "components", "inherit", "destroy", "newcomers", "dissimilarity"]
    assert min(left["ablation"].values()) > 0
    said = capsys.readouterr().out
    assert "safe: True, calls: " in said
    assert said.count("mean cost") == 6


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_are_committed_without_outputs(path: Path) -> None:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_a_first_table_is_safe_only_with_its_secondary_suppressions(capsys: pytest.CaptureFixture[str]) -> None:
    left = run("first_table.ipynb")
    assert left["protection"].audit.safe
    assert not left["naked"].safe
    assert int(left["frame"].value.isna().sum()) == int(left["protection"].suppressed.sum()) > 2
    said = capsys.readouterr().out
    assert "safe without secondary suppressions: False - with them: True" in said
    assert "region,activity,value,flag" in said
    assert ",40," not in said.partition("region,activity")[2], "a sensitive value is published"


def test_records_become_a_report_and_only_the_public_files_may_leave(capsys: pytest.CaptureFixture[str]) -> None:
    left = run("records_to_report.ipynb")
    assert left["protection"].audit.safe
    assert left["with_totals"].audit.safe
    said = capsys.readouterr().out
    assert "office.html CONFIDENTIAL" in said
    assert "public.html may be published" in said
    assert "public.csv may be published" in said
    assert "of these totals 0" in said.splitlines()[1]


def test_back_ends_are_compared_where_there_is_a_device_and_else_it_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = run("gpu_against_cpu.ipynb")
    said = capsys.readouterr().out
    assert "the same pattern: True" in said
    assert left["seconds"]["cpu"] > 0
    assert ("no device" in said) == (left["working"]["cuda"] is not None)
