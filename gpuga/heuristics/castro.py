"""Castro's heuristic for two-dimensional tables (2005; Almeida, Schütz, Carvalho 2008, section 3.1).

Shortest paths as well, but every sensitive cell on a circuit is credited with what the circuit carries, and
several paths for one level share no arc, so that no residual capacities are kept. A path through cells wide enough for
the level is looked for first, then any; as published, Cox's strata order all cells (`cox_strata.py`). Where disjoint
paths do not suffice, a minimum-cost flow recovers, and the level counts as failed. Then clean-up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuga.circuits.min_cost_flow import Priced, priced, protect_by_flow
from gpuga.circuits.path_cover import clean_up
from gpuga.circuits.paths import PathPolicy, PathRequest, Reached, new_reached, plain, suppress_path, wide_or_any
from gpuga.compiled import bare, compiled, whole
from gpuga.context import Context
from gpuga.errors import GpugaError, OutOfTime
from gpuga.heuristics.cox_strata import by_strata, credit_place
from gpuga.parameters import CastroParameters
from gpuga.problem.path_costs import NO_PATH, PathCosts
from gpuga.problem.two_way import FlowLevels, TwoWayProblem, two_way_problem
from gpuga.protection import Found
from gpuga.safety.network import SECONDARY, UNBOUNDED, PatternNetwork, clear, ends_of, leave_out
from gpuga.table.table import Ints, Mask, Table

LEVELS_AT_ONCE = 8
"""Levels between two looks at the clock."""


class Work(NamedTuple):
    """The pattern so far, and what each level is credited with.

    `credit` int64[levels] is what circuits carry for each level; `level_at` int64[2, places] the level of a place by
    direction (1: forward), -1 where it has none.
    """

    network: PatternNetwork
    everything: Priced
    costs: PathCosts
    policy: PathPolicy
    reached: Reached
    levels: FlowLevels
    credit: Ints
    level_at: Ints


def castro(table: Table, context: Context, parameters: CastroParameters = CastroParameters()) -> Found:
    """A safe pattern by credited, arc-disjoint shortest paths, cleaned up."""
    problem = two_way_problem(table, context)
    context.progress.stage("disjoint paths", len(problem.levels.place))
    find = by_strata if parameters.as_published else by_disjoint_paths
    secondary, failed = find(problem, context)
    secondary = clean_up(problem, secondary)
    return Found(problem.pattern(secondary), evaluations=1, details={"failed_levels": failed})


def by_disjoint_paths(problem: TwoWayProblem, context: Context) -> tuple[Mask, int]:
    """Secondary suppressions before clean-up, and for how many levels minimum-cost flows were needed."""
    work = _new_work(problem)
    levels = problem.levels
    recovered = 0
    for begin in range(0, len(levels.place), LEVELS_AT_ONCE):
        if context.clock.expired():
            raise OutOfTime("time ran out before the first safe pattern was found; allow more with --seconds")
        part = np.arange(begin, min(begin + LEVELS_AT_ONCE, len(levels.place)))
        count = _protect(work, part)
        if count < 0:
            raise GpugaError("internal error: the flow recovery missed a level that can be met")
        recovered += count
    return np.asarray(work.network.kind == SECONDARY), recovered


def _new_work(problem: TwoWayProblem) -> Work:
    """The work before the first path: nothing suppressed but what must be, nothing credited."""
    levels, places = problem.levels, problem.weight.size
    level_at = np.full((2, places), -1, np.int64)
    level_at[levels.forward.astype(np.int64), levels.place] = np.arange(len(levels.place))
    return Work(
        network=problem.network(),
        everything=priced(problem),
        costs=problem.costs(),
        policy=plain(),
        reached=new_reached(sum(problem.shape)),
        levels=levels,
        credit=np.zeros(len(levels.place), np.int64),
        level_at=level_at,
    )


@compiled
def _protect(work: Work, order: Ints) -> int:
    """Protect the levels in order; returns how many needed the recovery, -1 if one cannot be met."""
    network, levels = work.network, work.levels
    recovered = 0
    for q in order:
        if work.credit[q] >= levels.need[q]:
            continue
        reached = _disjoint_paths(work, q)
        clear(network)
        if reached < levels.need[q]:
            recovered += 1
            if not protect_by_flow(network, work.everything, levels.place[q], levels.forward[q], levels.need[q]):
                return -1
    return recovered


@bare
def _disjoint_paths(work: Work, q: int) -> int:
    """Paths for level q until it is reached or none is left; what they carry together.

    What a path uses is left out by the later ones.
    """
    network = work.network
    own, forward, need = work.levels.place[q], work.levels.forward[q], work.levels.need[q]
    leave_out(network, own)
    source, sink = ends_of(network, own, forward)
    reached = 0
    while reached < need:
        left = need - reached
        ask = PathRequest(source, sink, left, left)
        if wide_or_any(network, work.costs, work.policy, work.reached, ask) >= NO_PATH:
            break
        suppress_path(network, ask)
        _note_free(work, ask)
        reached += min(_credit(work, own, forward, ask), left)
        v = sink
        while v != source:
            h = network.search.parent[v]
            leave_out(network, whole(network.net.cell[h >> 1]))
            v = whole(network.net.target[h ^ 1])
    return reached


@bare
def _note_free(work: Work, ask: PathRequest) -> None:
    """The places of a path cost a minimum-cost flow nothing any more."""
    net = work.network.net
    v = ask.sink
    while v != ask.source:
        h = work.network.search.parent[v]
        work.everything.price[net.cell[h >> 1]] = 0
        v = whole(net.target[h ^ 1])


@bare
def _credit(work: Work, own: int, own_forward: bool, ask: PathRequest) -> int:
    """Credit the sensitive cells on the circuit with what it carries in either sense; the path's width."""
    net, parent = work.network.net, work.network.search.parent
    with_path, against_path = UNBOUNDED, UNBOUNDED
    v = ask.sink
    while v != ask.source:
        h = parent[v]
        with_path = min(with_path, net.capacity[h])
        against_path = min(against_path, net.capacity[h ^ 1])
        v = whole(net.target[h ^ 1])
    capacity, side = work.network.capacity, 0 if own_forward else 1
    along, against = min(with_path, capacity[own, side]), min(against_path, capacity[own, 1 - side])
    credit_place(work.level_at, work.credit, own, own_forward, along, against)
    v = ask.sink
    while v != ask.source:
        h = parent[v]
        credit_place(work.level_at, work.credit, whole(net.cell[h >> 1]), h & 1 == 0, along, against)
        v = whole(net.target[h ^ 1])
    return with_path
