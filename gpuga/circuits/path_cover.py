"""Patterns of two-way tables by cheapest paths, and their clean-up; the repair of a pattern, too.

Clean-up drops every secondary suppression that the rest can do without: delete and check (Almeida, Schütz, Carvalho
2008, section 5) with witness lists, so that only the requirements whose stored flow uses the cell are looked at again.
"""

from __future__ import annotations

import numpy as np

from gpuga.circuits.paths import PathPolicy, Reached, new_reached, protect_level
from gpuga.circuits.witness_lists import WitnessLists, new_lists, remember, show, show_all, try_to_publish
from gpuga.compiled import compiled
from gpuga.context import Clock
from gpuga.errors import GpugaError, OutOfTime
from gpuga.problem.path_costs import PathCosts
from gpuga.problem.two_way import FlowLevels, TwoWayProblem
from gpuga.safety.network import SECONDARY, PatternNetwork, clear, kind_of
from gpuga.table.table import Ints, Mask

LEVELS_AT_ONCE, PLACES_AT_ONCE = 16, 64
"""Requirements and places between two looks at the clock."""


def clean_up(problem: TwoWayProblem, secondary: Mask, order: Ints | None = None) -> Mask:
    """The pattern without its redundant secondary suppressions (bool[R, C] in and out).

    Places are tried in the given order, by default the heaviest first, until the problem's time is up. The pattern
    must be safe.
    """
    network = problem.network(secondary)
    lists = new_lists(len(problem.levels.place), secondary.size)
    if show_all(network, problem.levels, lists):
        raise GpugaError("clean-up was given a pattern that is not safe")
    publish_redundant(problem, network, lists, heaviest_first(problem, network) if order is None else order)
    return np.asarray(network.kind == SECONDARY)


def heaviest_first(problem: TwoWayProblem, network: PatternNetwork) -> Ints:
    """The secondary places by falling weight."""
    places = np.flatnonzero(network.kind == SECONDARY)
    return places[np.argsort(-problem.weight.ravel()[places], kind="stable")]


def publish_redundant(
    problem: TwoWayProblem, network: PatternNetwork, lists: WitnessLists, order: Ints, clock: Clock | None = None
) -> int:
    """Publish what is redundant, in order, until the time is up; returns how many cells. `lists` must be up to date."""
    clock = clock or problem.clock
    room = np.zeros(2 * len(problem.levels.place) + 1, np.int64)
    published = 0
    for begin in range(0, len(order), PLACES_AT_ONCE):
        if clock.expired():
            break
        part = order[begin : begin + PLACES_AT_ONCE]
        published += _publish(network, problem.levels, lists, part, room)
    return published


@compiled
def _publish(network: PatternNetwork, levels: FlowLevels, lists: WitnessLists, order: Ints, room: Ints) -> int:
    published = 0
    for place in order:
        if kind_of(network, place) == SECONDARY and try_to_publish(network, levels, lists, place, room):
            published += 1
    return published


def by_paths(
    problem: TwoWayProblem,
    costs: PathCosts,
    policy: PathPolicy,
    *,
    order: Ints | None = None,
    start: Mask | None = None,
    clean: bool = True,
    clock: Clock | None = None,
) -> Mask:
    """Secondary suppressions (bool[R, C]) that contain `start` (before clean-up) and meet every level.

    Requirements are protected in the given order, `start` costs nothing. This is also the repair of a pattern. Raises
    `OutOfTime` where the clock, by default the problem's, ends before all levels are met; it may also end the clean-up.
    """
    clock = clock or problem.clock
    network = problem.network(start)
    count, reached = len(problem.levels.place), new_reached(sum(problem.shape))
    lists = new_lists(count, problem.weight.size)
    order = np.arange(count) if order is None else np.asarray(order, np.int64)
    for begin in range(0, count, LEVELS_AT_ONCE):
        if clock.expired():
            raise OutOfTime("time ran out before the first safe pattern was found; allow more with --seconds")
        part = order[begin : begin + LEVELS_AT_ONCE]
        if not _protect(network, problem.levels, lists, costs, policy, reached, part):
            raise GpugaError("internal error: the path search missed a level that can be met")
    if clean:
        publish_redundant(problem, network, lists, heaviest_first(problem, network), clock)
    return np.asarray(network.kind == SECONDARY)


@compiled
def _protect(
    network: PatternNetwork,
    levels: FlowLevels,
    lists: WitnessLists,
    costs: PathCosts,
    policy: PathPolicy,
    reached: Reached,
    order: Ints,
) -> bool:
    """Protect the levels in order; False if one cannot be."""
    for q in order:
        if show(network, levels, lists, q):
            continue
        if not protect_level(network, costs, policy, reached, levels.place[q], levels.forward[q], levels.need[q]):
            clear(network)
            return False
        remember(lists, network, q)
    return True
