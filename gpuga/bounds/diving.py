"""Dives: fractional patterns led to whole ones, cell after cell, with cuts on the way.

What the linear program nearly suppresses is suppressed for good, the program is solved and cut again, and so on until
nothing is fractional or the bound says that the way is too dear. Now and then the point is completed to a safe pattern.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuga.bounds.cutting import Cutting
from gpuga.bounds.incumbent import Incumbent
from gpuga.context import Clock

NEARLY = 0.85
"""Places from this value on are suppressed, at least one at a time."""

NOISE = 0.1
"""Values are blurred by up to this, so that dives differ."""

ROUNDS = 2
STEPS_BETWEEN_OFFERS = 4


def dive(
    cutting: Cutting,
    incumbent: Incumbent,
    seed: int,
    clock: Clock,
    published: Sequence[int] = (),
    suppressed: Sequence[int] = (),
) -> None:
    """Offer the incumbent the patterns found on one way down, which begins with some positions fixed."""
    random = np.random.default_rng([seed, 5])
    fixed, step = set(suppressed), 0
    while not clock.expired():
        cutting.fix(published, sorted(fixed))
        if cutting.tighten(incumbent.cost, ROUNDS, True, clock) >= incumbent.cost:
            return
        open_positions = np.flatnonzero(cutting.fractional())
        if step % STEPS_BETWEEN_OFFERS == 0 or not len(open_positions):
            incumbent.try_point(cutting.grid())
        if not len(open_positions):
            return
        value = cutting.program.x[open_positions] + random.uniform(0.0, NOISE, len(open_positions))
        fixed.update(open_positions[value >= min(NEARLY, float(value.max()))].tolist())
        step += 1
