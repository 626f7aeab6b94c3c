"""Sub-tables from the top down: each as cheap as the search can make it, the whole safe at the end."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import gpuga
from gpuga.bounds import modular as module
from gpuga.bounds.exact import exact
from gpuga.bounds.modular import Waiting, by_sub_tables, modular, protected, sub_tables
from gpuga.bounds.search import MOST_CELLS_TO_PROVE
from gpuga.context import Context
from gpuga.heuristics.hypercube import hypercube
from gpuga.safety.audit import audit
from gpuga.table.builders import table_from_frame
from gpuga.table.crossing import CrossedAxes, crossing_of
from gpuga.table.generate import class1, smith3d
from gpuga.table.table import Mask, Table


def crossing_found(table: Table) -> CrossedAxes:
    crossing = crossing_of(table)
    assert crossing is not None
    return crossing


def safe(table: Table, suppressed: Mask) -> bool:
    return audit(table, suppressed, intervals=False).safe


def overlapping() -> Table:
    """Four regions in provinces and in zones, by kind: regions have two totals each."""
    provinces = {"North": None, "a": "North", "b": "North", "South": None, "c": "South", "d": "South"}
    zones = {"coast": None, "a": "coast", "c": "coast", "inland": None, "b": "inland", "d": "inland"}
    places = list(product("abcd", "xyz"))
    value = np.random.default_rng(1).integers(1, 60, len(places))
    frame = {
        "region": [region for region, _ in places],
        "kind": [kind for _, kind in places],
        "value": value.tolist(),
        "status": ["u" if v < 18 else "s" for v in value.tolist()],
    }
    return table_from_frame(frame, hierarchies={"region": [provinces, zones]}, levels="20%")


def test_every_line_lies_in_a_sub_table() -> None:
    table = smith3d((9, 5, 4), 0.1, 0.1, 3, 1)
    parts = [set(cells.tolist()) for _, cells in sub_tables(crossing_found(table))]
    for line in range(len(table.lines)):
        cells = set(table.lines.cell[table.lines.start[line] : table.lines.start[line + 1]].tolist())
        assert any(cells <= part for part in parts)


def test_sub_tables_with_holes_keep_only_equations_of_the_table() -> None:
    table = gpuga.read_table(Path(__file__).parent.parent / "data" / "crossing_with_holes.jj")
    found = gpuga.protect(table, "modular")
    assert found.audit.safe
    assert found.repaired == 0


@pytest.mark.parametrize(("shape", "seed"), [((4, 4, 4), 1), pytest.param((5, 4, 4), 2, marks=pytest.mark.slow)])
def test_a_table_without_sub_totals_is_one_sub_table_and_gets_its_optimum(shape: tuple[int, ...], seed: int) -> None:
    table = smith3d(shape, 0.08, 0.1, seed)
    best = exact(table, Context())
    assert best.bound is not None
    assert best.bound.lower_bound == table.cost(best.suppressed)
    assert table.cost(modular(table, Context()).suppressed) == table.cost(best.suppressed)


def test_a_large_two_way_table_is_one_sub_table_and_gets_its_optimum() -> None:
    table = class1(60, 60, 1)
    assert len(table) > MOST_CELLS_TO_PROVE
    best = exact(table, Context())
    assert best.bound is not None
    assert best.bound.lower_bound == table.cost(best.suppressed)
    assert table.cost(modular(table, Context()).suppressed) == table.cost(best.suppressed)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_hierarchical_table_is_safe_and_cheaper_than_by_boxes(seed: int) -> None:
    table = smith3d((9, 4, 4), 0.1, 0.1, seed, 1)
    found = modular(table, Context())
    assert safe(table, found.suppressed)
    assert table.cost(found.suppressed) < table.cost(hypercube(table, Context()).suppressed)


def test_a_large_table_is_cheaper_than_by_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS_TO_PROVE", 100)
    table = smith3d((7, 5, 4), 0.1, 0.1, 1)
    found = modular(table, Context())
    assert safe(table, found.suppressed)
    assert table.cost(found.suppressed) < table.cost(hypercube(table, Context()).suppressed)


def test_a_large_table_whose_families_overlap_is_not_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    table = overlapping()
    assert len(sub_tables(crossing_found(table))) > 1
    divided: list[Table] = []

    def noted(table: Table, crossing: CrossedAxes, context: Context) -> Mask:
        divided.append(table)
        return by_sub_tables(table, crossing, context)

    monkeypatch.setattr(module, "by_sub_tables", noted)
    assert safe(table, modular(table, Context()).suppressed)
    assert divided == [table]
    monkeypatch.setattr(module, "MOST_CELLS_TO_PROVE", 10)
    assert safe(table, modular(table, Context()).suppressed)
    assert divided == [table]


def test_every_sub_table_is_protected_when_the_queue_is_empty() -> None:
    table = smith3d((9, 4, 4), 0.1, 0.1, 1, 1)
    crossing = crossing_found(table)
    suppressed = by_sub_tables(table, crossing, Context())
    for one in sub_tables(crossing):
        hidden = suppressed[one[1]]
        if hidden.any():
            part = module._table_of(table, crossing, one, hidden)
            again = protected(part, 1, Context())
            assert again is None or (again == hidden).all()


def test_a_sub_table_that_cannot_be_protected_alone_is_left_to_the_whole() -> None:
    table = smith3d((4, 4, 3), 0.1, 0.1, 2)
    levels = replace(table.levels, upper=np.where(table.primary, 10**9, 0))
    hopeless = replace(table, levels=levels, ub=np.minimum(table.ub, 10**8))
    assert protected(hopeless, 5, Context()) is None
    found = protected(table, 5, Context())
    assert found is not None
    assert safe(table, found)


def test_time_is_shared_by_the_cells_that_wait() -> None:
    sizes = [30, 10, 60]
    waiting = Waiting(sizes)
    assert waiting.take() == (0, 0.3)
    waiting.add(2)
    waiting.add(0)
    assert waiting.take() == (1, 0.1)
    assert waiting.take() == (2, pytest.approx(2 / 3))
    assert waiting.take() == (0, 1.0)
    assert not waiting
