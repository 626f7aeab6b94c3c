"""Cheap proofs: what flows and boxes show, in portions and not past the clock."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.safety import proofs as module
from gpuga.safety.audit import judge
from gpuga.safety.evidence import Evidence
from gpuga.safety.proofs import _requirements, cheap_proofs
from gpuga.table import Levels, Table
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.builders import table_from_array
from gpuga.table.witnesses import Witnesses
from tests.support.exact_attacker import intervals
from tests.support.small_tables import random_pattern, random_table


def with_levels(table: Table, cells: list[int], lower: int, upper: int, sliding: int) -> Table:
    from dataclasses import replace

    chosen = np.isin(np.arange(len(table)), cells).astype(np.int64)
    status = np.where(chosen == 1, 1, 0).astype(np.uint8)
    return replace(table, status=status, levels=Levels(lower * chosen, upper * chosen, sliding * chosen))


def test_what_cells_are_asked_for_becomes_requirements() -> None:
    table = with_levels(table_from_array([[5, 6], [7, 8]]), [0, 3], 0, 2, 0)
    shown = Evidence(table, np.ones(len(table), bool), AttackerModel())
    found = _requirements(shown, np.array([0, 3]))
    assert (found.cell.tolist(), found.direction.tolist(), found.need.tolist()) == ([0, 3], [1, 1], [2, 2])
    strict = Evidence(table, np.ones(len(table), bool), AttackerModel(strict=True))
    found = _requirements(strict, np.array([3]))
    assert (found.cell.tolist(), found.direction.tolist(), found.need.tolist()) == ([3, 3], [1, -1], [3, 1])


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("sliding", [5, 9, 10, 11])
def test_flows_show_widths_as_far_as_they_go(sliding: int, keep: bool) -> None:
    """In a square of four hidden cells the first may fall by 3 and rise by 7: a width of ten and no more."""
    table = with_levels(table_from_array([[3, 7], [9, 30]]), [0], 2, 4, sliding)
    hidden = np.arange(len(table)) < 4
    shown = Evidence(table, hidden, AttackerModel(), keep)
    cheap_proofs(table, hidden, shown, np.array([0]))
    assert shown.settled(0) == (sliding <= 10)
    assert shown.reached(0, 1) + shown.reached(0, -1) >= min(sliding, 10)
    assert shown.reached(0, 1) <= 7
    assert shown.reached(0, -1) <= 3
    assert shown.reached(0, 1) >= 4
    assert shown.reached(0, -1) >= 2
    verdict = judge(table, hidden, AttackerModel(), proofs=keep)
    assert verdict.safe == (sliding <= 10)
    assert (verdict.proof is not None) == (verdict.safe and keep)


@pytest.mark.parametrize("keep", [False, True])
def test_flows_decide_every_cell_of_a_plane(keep: bool) -> None:
    rng = np.random.default_rng(8)
    met = failed = 0
    for _ in range(12):
        table = random_table(rng, (4, 4), sensitive=0.3)
        hidden = random_pattern(rng, table, 0.4)
        shown = Evidence(table, hidden, AttackerModel(), keep)
        cheap_proofs(table, hidden, shown, table.sensitive)
        for cell, (rise, fall) in intervals(table, hidden, table.sensitive.tolist()).items():
            upper, lower = int(table.levels.upper[cell]), int(table.levels.lower[cell])
            enough = (rise is None or rise >= upper) and (fall is None or fall >= lower)
            slide = int(table.levels.sliding[cell])
            wide = rise is None or fall is None or rise + fall >= slide
            assert shown.settled(cell) == (enough and wide)
            met += enough
            failed += not enough
    assert met > 3
    assert failed > 3


class Noted(Evidence):
    """Evidence that notes how many witnesses come at a time."""

    def offer(self, proposed: Witnesses) -> None:
        self.portions = [*getattr(self, "portions", []), len(proposed)]
        super().offer(proposed)


def boxed() -> tuple[Table, np.ndarray]:
    table = with_levels(table_from_array(np.full((3, 3, 3), 9)), list(range(27)), 2, 2, 0)
    return table, np.arange(len(table)) < 27


@pytest.mark.parametrize("at_once", [1, 5, 53, 54, 2000])
def test_boxes_show_the_same_in_portions_of_any_size(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table, hidden = boxed()
    cells = np.arange(27)
    monkeypatch.setattr(module, "BOXES_AT_ONCE", at_once)
    shown = Noted(table, hidden, AttackerModel())
    cheap_proofs(table, hidden, shown, cells)
    assert shown.unsettled(cells) == []
    assert sum(shown.portions) == 54
    assert max(shown.portions) <= at_once
    assert len(shown.portions) == -(-54 // at_once)


def test_boxes_are_looked_for_until_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    table, hidden = boxed()
    cells = np.arange(27)
    monkeypatch.setattr(module, "BOXES_AT_ONCE", 6)
    cheap_proofs(table, hidden, Evidence(table, hidden, AttackerModel()), cells)  # the grid is laid out by now
    for looks in (0, 1, 2, 9):
        left = [True] * looks
        shown = Noted(table, hidden, AttackerModel())
        cheap_proofs(table, hidden, shown, cells, lambda left=left: not (left and left.pop()))
        assert getattr(shown, "portions", []) == [6] * looks
        assert bool(shown.unsettled(cells)) == (looks < 9)
    none = Evidence(table, hidden, AttackerModel())
    cheap_proofs(table, hidden, none, np.zeros(0, np.int64))
    assert not none.whole_rise.any()
