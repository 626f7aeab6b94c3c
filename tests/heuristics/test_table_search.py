"""Local search on any linear table: cheaper or equal, and safe."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.circuits.cover import Cover
from gpuga.circuits.neighbourhood import Neighbourhoods
from gpuga.context import Clock, Context
from gpuga.heuristics.table_search import TableSearch
from gpuga.problem.general import requirements_of
from gpuga.safety.audit import audit
from gpuga.table.generate import smith3d
from gpuga.table.table import Ints, Table


def protected(table: Table) -> Cover:
    cover = Cover(table, requirements_of(table, False), Context())
    cover.by_lp(range(len(cover.tasks)))
    return cover


def leaning(cover: Cover) -> list[Ints]:
    cells = [circuit[0].astype(np.int64) for circuit in cover.circuit if circuit is not None]
    return [c[~cover.table.forced[c]] for c in cells]


@pytest.mark.parametrize(("shape", "hierarchical"), [((8, 6, 5), 0), ((12, 5, 4), 1)])
def test_what_is_found_is_safe_and_no_dearer(shape: tuple[int, ...], hierarchical: int) -> None:
    table = smith3d(shape, 0.08, 0.1, 5, hierarchical)
    cover = protected(table)
    search = TableSearch(table, cover.tasks, leaning(cover), 1)
    pattern = search.run(300, Clock())
    assert audit(table, pattern, intervals=False).safe
    assert table.cost(pattern) < table.cost(cover.suppressed)


def test_the_same_seed_finds_the_same_pattern() -> None:
    table = smith3d((8, 6, 5), 0.08, 0.1, 6)
    cover = protected(table)
    one, two = (TableSearch(table, cover.tasks, leaning(cover), 2).run(150, Clock()) for _ in range(2))
    assert (one == two).all()


def test_cells_outside_the_region_stay_as_they_are() -> None:
    table = smith3d((10, 8, 6), 0.06, 0.1, 7)
    cover = protected(table)
    start = int(np.flatnonzero(cover.suppressed & ~table.forced)[0])
    near = Neighbourhoods(table).around(start, 1, cover.suppressed, 6, 120)
    pattern = TableSearch(table, cover.tasks, leaning(cover), 3, within=near).run(200, Clock())
    outside = np.ones(len(table), bool)
    outside[near] = False
    used = table.forced.copy()
    used[np.concatenate(leaning(cover))] = True
    assert (pattern[outside] == used[outside]).all()
    assert audit(table, pattern, intervals=False).safe
