"""The protection requirements of a cell: a sliding level becomes a rise and a fall that reach its width."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.problem.general import requirements_of
from gpuga.table import Table
from tests.support.small_tables import random_table


def needs(table: Table, strict: bool) -> dict[tuple[int, int], int]:
    requirements = requirements_of(table, strict)
    cells = zip(requirements.cell.tolist(), requirements.direction.tolist(), strict=True)
    return dict(zip(cells, requirements.need.tolist(), strict=True))


@pytest.mark.parametrize("strict", [False, True])
def test_the_requirements_of_a_cell_reach_its_levels_and_its_width(strict: bool) -> None:
    rng = np.random.default_rng(3)
    wide = 0
    for _ in range(8):
        table = random_table(rng, (3, 3, 2), sliding=True)
        found, levels, extra = needs(table, strict), table.levels, 1 if strict else 0
        for cell in table.sensitive.tolist():
            rise, fall = found.get((cell, 1), 0), found.get((cell, -1), 0)
            assert rise >= levels.upper[cell] + extra
            assert fall >= levels.lower[cell] + extra
            if levels.sliding[cell] > levels.upper[cell] + levels.lower[cell] + extra:
                assert rise + fall == levels.sliding[cell] + extra
                wide += 1
    assert wide > 5
