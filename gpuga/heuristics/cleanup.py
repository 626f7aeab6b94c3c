"""Clean-up of two-dimensional patterns: drop every secondary suppression that the rest can do without.

Delete and check (Almeida, Schütz, Carvalho 2008, section 5) with witness lists: only the levels whose stored
flow uses the cell are looked at again.
"""

from __future__ import annotations

import numpy as np

from gpuga.circuits.witness_lists import Levels, WitnessLists, new_lists, show_all, try_to_publish
from gpuga.compiled import compiled
from gpuga.context import Clock
from gpuga.errors import GpugaError
from gpuga.heuristics.plane_problem import PlaneProblem
from gpuga.safety.network import SECONDARY, Flow, Links, Network
from gpuga.table.table import Ints, Mask

PLACES_AT_ONCE = 64
"""Places between two looks at the clock."""


def clean_up(problem: PlaneProblem, secondary: Mask, order: Ints | None = None) -> Mask:
    """The pattern without its redundant secondary suppressions (bool[R, C] in and out).

    Places are tried in the given order, by default the heaviest first, until the problem's time is up. The pattern
    must be safe.
    """
    links = problem.links(secondary)
    lists = new_lists(len(problem.levels.place), secondary.size)
    if show_all(problem.net, links, problem.flow, problem.levels, lists):
        raise GpugaError("clean-up was given a pattern that is not safe")
    publish_redundant(problem, links, lists, heaviest_first(problem, links) if order is None else order)
    return np.asarray(links.kind == SECONDARY)


def heaviest_first(problem: PlaneProblem, links: Links) -> Ints:
    """The secondary places by falling weight."""
    places = np.flatnonzero(links.kind == SECONDARY)
    return places[np.argsort(-problem.weight.ravel()[places], kind="stable")]


def publish_redundant(
    problem: PlaneProblem, links: Links, lists: WitnessLists, order: Ints, clock: Clock | None = None
) -> int:
    """Publish what is redundant, in order, until the time is up; returns how many cells. `lists` must be up to date."""
    clock = clock or problem.clock
    room = np.zeros(2 * len(problem.levels.place) + 1, np.int64)
    published = 0
    for begin in range(0, len(order), PLACES_AT_ONCE):
        if clock.expired():
            break
        part = order[begin : begin + PLACES_AT_ONCE]
        published += _publish(problem.net, links, problem.flow, problem.levels, lists, part, room)
    return published


@compiled
def _publish(
    net: Network, links: Links, flow: Flow, levels: Levels, lists: WitnessLists, order: Ints, room: Ints
) -> int:
    published = 0
    columns = links.kind.shape[1]
    for place in order:
        if links.kind[place // columns, place % columns] != SECONDARY:
            continue
        if try_to_publish(net, links, flow, levels, lists, place, room):
            published += 1
    return published
