"""A picture shows where cells are suppressed, and no value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpuga
from gpuga.audience import CONFIDENTIAL
from gpuga.errors import InputError
from gpuga.report.plot import pattern_figure, pattern_kinds
from gpuga.table.builders import table_from_array
from gpuga.table.generate import herrington

pytest.importorskip("matplotlib")


def test_every_pair_of_codes_has_its_kind() -> None:
    table = table_from_array(np.arange(1, 9).reshape(2, 2, 2) * 10, sensitive=np.arange(8).reshape(2, 2, 2) == 0)
    assert table.grid is not None
    suppressed = table.forced.copy()
    assert (pattern_kinds(table, suppressed, table.grid, (0, 1)) == 1).all(), "the total over the third is published"
    total = next(
        c for c, at in enumerate(table.grid.coordinate.tolist()) if at == [1, 0, table.grid.dimensions[2].root]
    )
    suppressed[total] = True
    kinds = pattern_kinds(table, suppressed, table.grid, (0, 1))
    assert kinds.tolist() == [[1, 1, 1], [3, 1, 1], [1, 1, 1]]
    assert pattern_kinds(table, suppressed, table.grid, (1, 0)).tolist() == kinds.T.tolist()


def test_a_figure_has_the_codes_and_can_be_drawn(tmp_path: Path) -> None:
    table = table_from_array(
        [[5, 6], [7, 8]], sensitive=[[1, 0], [0, 0]], names=["r$", "c"], codes=[["$x$", "b"], ["y", "z"]]
    )
    figure = gpuga.protect(table, "hypercube").plot()
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == [r"\$x\$", "b", "Total"]
    figure.savefig(tmp_path / "p.png")
    assert (tmp_path / "p.png").stat().st_size > 1000


@pytest.mark.parametrize(("rows", "columns"), [("q", None), (None, "q"), ("r", "r")])
def test_dimensions_that_are_none_are_refused(rows: str | None, columns: str | None) -> None:
    table = table_from_array([[5, 6], [7, 8]], names=["r", "c"])
    with pytest.raises(InputError):
        pattern_figure(table, table.forced, rows, columns)
    swapped = pattern_figure(table, table.forced, "c", "r")
    assert swapped.axes[0].get_ylabel() == "c"
    assert pattern_figure(table, table.forced, columns="r").axes[0].get_ylabel() == "c"


def test_one_dimension_is_no_picture() -> None:
    with pytest.raises(InputError, match="two dimensions"):
        pattern_figure(table_from_array([5, 6, 7]), np.zeros(4, bool))


def test_a_run_is_drawn_by_its_costs_and_its_population() -> None:
    short = {"generations": 3, "population": 8, "without": ("prover",)}
    protection = gpuga.protect(herrington(8, 8, 0.08, 1), seed=1, options=short)
    assert [row["generation"] for row in protection.history] == [1, 2, 3]
    cost, population = (protection.plot(what).axes[0] for what in ("cost", "population"))
    assert [line.get_label() for line in cost.lines] == ["best", "lower bound"]
    assert cost.lines[0].get_ydata().tolist() == [row["best"] for row in protection.history]
    worst, mean, best = (np.asarray(line.get_ydata(), float) for line in population.lines)
    assert (worst >= mean).all()
    assert (mean >= best).all()
    assert float(best[-1]) == protection.cost


def test_every_picture_says_that_it_stays_in_the_office() -> None:
    table = table_from_array([[5, 6], [7, 8]], sensitive=[[1, 0], [0, 0]])
    protection = gpuga.protect(table, options={"generations": 2, "population": 4, "without": ("prover",)})
    for what in ("pattern", "cost", "population"):
        assert protection.plot(what).axes[0].get_title(loc="left") == CONFIDENTIAL


def test_what_cannot_be_drawn_is_refused() -> None:
    protection = gpuga.protect(table_from_array([[5, 6], [7, 8]], sensitive=[[1, 0], [0, 0]]), "hypercube")
    with pytest.raises(InputError, match="no generations"):
        protection.plot("cost")
    with pytest.raises(InputError, match="not one of pattern, cost, population"):
        protection.plot("costs")
    with pytest.raises(InputError, match="picture of the pattern"):
        protection.plot("cost", columns="d2")
