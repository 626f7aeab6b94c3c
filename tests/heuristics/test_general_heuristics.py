"""Heuristics for any linear table: safe patterns on k dimensions, hierarchies and tables without labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuga.bounds.modular import modular
from gpuga.circuits import cover
from gpuga.context import Clock, Context
from gpuga.errors import InputError, OutOfTime
from gpuga.heuristics.hypercube import hypercube
from gpuga.heuristics.incremental import incremental
from gpuga.heuristics.marginal import marginal, with_totals
from gpuga.methods import Run
from gpuga.parameters import IncrementalParameters
from gpuga.safety.audit import audit
from gpuga.table.generate import smith3d
from gpuga.table.table import Table

METHODS = (hypercube, incremental, modular, marginal)


def unlabelled(table: Table, seed: int) -> Table:
    """The same table as a .jj file would give it: cells shuffled, no dimensions."""
    order = np.random.default_rng(seed).permutation(len(table))
    at = np.argsort(order).astype(np.int32)
    levels = replace(table.levels, **{n: x[order] for n, x in vars(table.levels).items()})
    columns = {n: getattr(table, n)[order] for n in ("value", "weight", "status", "lb", "ub")}
    lines = replace(table.lines, cell=at[table.lines.cell])
    return replace(table, **columns, levels=levels, lines=lines, grid=None, contributors=None)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("shape", "hierarchical"), [((6, 5, 4), 0), ((9, 5, 4), 1)])
def test_patterns_are_safe_with_and_without_labels(method: Run, shape: tuple[int, ...], hierarchical: int) -> None:
    table = smith3d(shape, 0.1, 0.15, 7, hierarchical)
    for one in (table, unlabelled(table, 1)):
        found = method(one, Context())
        verdict = audit(one, found.suppressed, intervals=False)
        assert verdict.safe
        assert audit(one, found.suppressed, intervals=False, proof=found.proof).safe


@pytest.mark.parametrize("method", [hypercube, incremental])
def test_tables_too_large_to_be_asked_as_a_whole_are_protected(method: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cover, "SMALL", 10)
    table = unlabelled(smith3d((7, 6, 5), 0.1, 0.2, 8), 2)
    assert audit(table, method(table, Context()).suppressed, intervals=False).safe


def test_tables_asked_in_groups_are_protected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cover, "SMALL", 10)
    monkeypatch.setattr(cover, "NEIGHBOURHOODS", ())
    table = unlabelled(smith3d((7, 6, 5), 0.1, 0.2, 9), 3)
    assert audit(table, incremental(table, Context()).suppressed, intervals=False).safe


def test_clean_up_never_makes_a_pattern_dearer() -> None:
    table = smith3d((8, 6, 5), 0.08, 0.1, 4)
    cleaned = incremental(table, Context(), IncrementalParameters(variant="clean-up"))
    assert table.cost(cleaned.suppressed) <= table.cost(incremental(table, Context()).suppressed)


def test_incremental_names_its_variants_when_asked_for_another() -> None:
    with pytest.raises(InputError, match="clean-up"):
        incremental(smith3d((4, 4, 3), 0.1, 0.1, 1), Context(), IncrementalParameters(variant="one-p"))


def test_marginal_hides_every_total_above_a_sensitive_cell() -> None:
    table = smith3d((6, 5, 4), 0.05, 0.1, 3)
    hidden = with_totals(table)
    lines = table.lines
    for line in range(len(lines)):
        span = slice(int(lines.start[line]), int(lines.start[line + 1]))
        total = lines.cell[span][lines.coef[span] < 0]
        if hidden[lines.cell[span]].any():
            assert hidden[total].all()


def test_boxes_take_over_when_the_time_is_up() -> None:
    table = smith3d((6, 5, 4), 0.1, 0.15, 7)
    found = incremental(table, Context(clock=Clock(1e-9)))
    assert audit(table, found.suppressed, intervals=False).safe


def test_without_boxes_the_end_of_time_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cover, "box_grid", lambda *_: None)
    with pytest.raises(OutOfTime, match="time ran out"):
        incremental(smith3d((6, 5, 4), 0.1, 0.15, 7), Context(clock=Clock(1e-9)))
