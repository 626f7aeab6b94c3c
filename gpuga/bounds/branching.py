"""Integer patterns from the relaxation: HiGHS's branch and bound on the columns that still matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.relaxation import Relaxation
from gpuga.context import Clock
from gpuga.table.table import Mask


@dataclass(frozen=True, eq=False)
class Branched:
    """What a run of branch and bound says: the pattern it ended with, and its own bound.

    `pattern` bool over the relaxation's places, None if it found none. `dual_bound` in units of the weights;
    a float's word: it steers the search, and is never printed as proven.
    """

    pattern: NDArray[np.bool_] | None
    dual_bound: float
    nodes: int


def branch(relaxation: Relaxation, allowed: Mask, incumbent: Mask, gap: float, nodes: int, clock: Clock) -> Branched:
    """Solve the cuts found so far over the allowed places (bool[R, C]) to integers.

    Stops at the relative `gap`, after `nodes` nodes or when the time is up. The relaxation is left as it was.
    """
    relaxation.add_places(np.flatnonzero(allowed.ravel() & ~relaxation.in_core))
    session, places = relaxation.session, relaxation.places
    every, zeros = np.arange(len(places)), np.zeros(len(places))
    session.set_bounds(every, zeros, allowed.ravel()[places].astype(np.float64))
    answer = session.solve_whole(
        np.ones(len(places), bool),
        incumbent.ravel()[places].astype(np.float64),
        seconds=clock.left(),
        nodes=nodes,
        gaps=(gap, 0.999 * relaxation.step / relaxation.unit),
        interrupted=clock.expired,
    )
    session.set_bounds(every, zeros, np.ones(len(places)))
    pattern = np.asarray(answer.x > 0.5) if len(answer.x) else None
    return Branched(pattern, answer.bound * relaxation.unit, answer.nodes)
