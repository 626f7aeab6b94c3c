"""What falls with a published cell is what the lines then give away."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.problem.singletons import Singletons
from gpuga.safety.unpick import unpick
from tests.support.small_tables import random_table


@pytest.mark.parametrize("seed", range(3))
def test_what_falls_with_a_cell_can_no_longer_move(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, (4, 4, 3))
    suppressed = table.forced | (table.suppressible & (rng.random(len(table)) < 0.4))
    singletons = Singletons(table, suppressed, table.sensitive)
    for cell in np.flatnonzero(suppressed & ~table.forced).tolist():
        without = suppressed.copy()
        without[cell] = False
        rise, fall = unpick(table, without)
        still = (rise == 0) & (fall == 0)
        fallen = singletons.fall_with(cell)
        if fallen is None:
            assert still[table.sensitive].any()
        else:
            assert cell in fallen
            assert still[fallen].all()
            assert suppressed[fallen].all()
            assert not table.forced[fallen].any()


def test_counts_follow_the_pattern() -> None:
    rng = np.random.default_rng(3)
    table = random_table(rng, (4, 4, 3))
    suppressed = table.forced | (table.suppressible & (rng.random(len(table)) < 0.5))
    gone = np.flatnonzero(suppressed & ~table.forced)[::2]
    singletons = Singletons(table, suppressed, table.sensitive)
    singletons.publish(gone)
    suppressed[gone] = False
    fresh = Singletons(table, suppressed, table.sensitive)
    assert (singletons.count == fresh.count).all()
    assert (singletons.total == fresh.total).all()
