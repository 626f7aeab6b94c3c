"""Several methods on one table, measured against one bound."""

from __future__ import annotations

import pytest

import gpuga
from gpuga.cli.main import run
from gpuga.errors import Infeasible, InputError
from gpuga.table import Table
from gpuga.table.generate import herrington, smith3d


@pytest.fixture(scope="module")
def table() -> Table:
    return herrington(8, 8, 0.08, 1)


def test_gaps_are_to_the_best_bound_of_all(table: Table) -> None:
    comparison = gpuga.compare(table, methods=["hypercube", "exact"])
    assert [entry.method for entry in comparison.entries] == ["hypercube", "exact"]
    costs = [entry.protection.scaled_cost for entry in comparison.entries if entry.protection]
    assert comparison.lower_bound == costs[1] <= costs[0]
    assert comparison.gap(comparison.entries[1]) == 0.0
    assert comparison.gap(comparison.entries[0]) == pytest.approx(costs[0] / costs[1] - 1)


def test_a_method_that_does_not_take_the_table_says_why_and_stops_no_other() -> None:
    comparison = gpuga.compare(smith3d((4, 4, 3), 0.1, 0.1, 1), "castro,hypercube")
    assert comparison.entries[0].protection is None
    assert "two-way" in comparison.entries[0].fault
    assert comparison.entries[1].protection is not None


def test_a_table_without_a_safe_pattern_is_no_matter_of_methods() -> None:
    frame = {"r": ["a", "b", "Total"], "value": [10, 5, 15], "status": ["u", "z", "z"]}
    table = gpuga.table_from_frame(frame)
    with pytest.raises(Infeasible):
        gpuga.compare(table, ["hypercube"])


@pytest.mark.parametrize("methods", ["", "castro,castro", [], "castro,,pbp", ["nothing"]])
def test_methods_are_different_ones_that_exist(table: Table, methods: str | list[str]) -> None:
    with pytest.raises(InputError, match="--method"):
        gpuga.compare(table, methods)


def test_the_command_refuses_unknown_methods_before_it_reads_anything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "missing.csv", "--methods", "castro,nothing"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "unknown method 'nothing'" in said.err
