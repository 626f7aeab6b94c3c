"""Castro's heuristic for two-dimensional tables (2005; Almeida, Schütz, Carvalho 2008, section 3.1).

Shortest paths as well, but every sensitive cell on a circuit is credited with what the circuit carries, and
several paths for one level share no arc, so that no residual capacities are kept. PathCosts are stratified after
Cox: cells wide enough for the level come before narrow ones, suppressed before published. Where disjoint
paths do not suffice, a minimum-cost flow recovers. Then clean-up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuga.circuits.min_cost_flow import protect_by_flow
from gpuga.circuits.path_cover import clean_up
from gpuga.circuits.paths import Log, Taste, cheapest_path, new_log, plain, suppress_path
from gpuga.compiled import compiled, inner, whole
from gpuga.context import Context
from gpuga.errors import GpugaError, OutOfTime
from gpuga.problem.path_costs import NO_PATH, PathCosts
from gpuga.problem.two_way import Requirements, TwoWayProblem, two_way_problem
from gpuga.protection import Found
from gpuga.safety.network import SECONDARY, UNBOUNDED, Flow, Links, Network, clear, sink_of, source_of
from gpuga.table.table import Ints, Mask, Table

LEVELS_AT_ONCE = 8
"""Levels between two looks at the clock."""


class Work(NamedTuple):
    """The pattern so far, and what each level is credited with.

    `credit` int64[levels] is what circuits carry for each level; `level_at` int64[2, places] the level of a place by
    direction (1: forth), -1 where it has none.
    """

    net: Network
    links: Links
    flow: Flow
    costs: PathCosts
    taste: Taste
    log: Log
    levels: Requirements
    credit: Ints
    level_at: Ints


class Taken(NamedTuple):
    """Places that paths of one level use up, with the capacities that they get back (int64[places] each)."""

    place: Ints
    forth: Ints
    back: Ints


def castro(table: Table, context: Context) -> Found:
    """A safe pattern by credited, arc-disjoint shortest paths, cleaned up."""
    problem = two_way_problem(table, context)
    context.progress.stage("disjoint paths", len(problem.levels.place))
    secondary, recovered = by_disjoint_paths(problem, context)
    secondary = clean_up(problem, secondary)
    return Found(problem.pattern(secondary), evaluations=1, details={"recovered_levels": recovered})


def by_disjoint_paths(problem: TwoWayProblem, context: Context) -> tuple[Mask, int]:
    """Secondary suppressions before clean-up, and for how many levels minimum-cost flows were needed."""
    work = _new_work(problem)
    levels = problem.levels
    recovered = 0
    for begin in range(0, len(levels.place), LEVELS_AT_ONCE):
        if context.clock.expired():
            raise OutOfTime("time ran out before the first safe pattern was found; allow more with --seconds")
        part = np.arange(begin, min(begin + LEVELS_AT_ONCE, len(levels.place)))
        count = _protect(work, problem.weight, problem.candidate, part)
        if count < 0:
            raise GpugaError("internal error: the flow recovery missed a level that can be met")
        recovered += count
    return np.asarray(work.links.kind == SECONDARY), recovered


def _new_work(problem: TwoWayProblem) -> Work:
    """The work before the first path: nothing suppressed but what must be, nothing credited."""
    levels, places = problem.levels, problem.weight.size
    level_at = np.full((2, places), -1, np.int64)
    level_at[levels.forth.astype(np.int64), levels.place] = np.arange(len(levels.place))
    return Work(
        net=Network(problem.net.forth.copy(), problem.net.back.copy()),
        links=problem.links(),
        flow=problem.flow,
        costs=problem.costs(),
        taste=plain(),
        log=new_log(places),
        levels=levels,
        credit=np.zeros(len(levels.place), np.int64),
        level_at=level_at,
    )


@compiled
def _protect(work: Work, weight: Ints, candidate: Mask, order: Ints) -> int:
    """Protect the levels in order; returns how many needed the recovery, -1 if one cannot be met."""
    net, links, flow, log, levels = work.net, work.links, work.flow, work.log, work.levels
    recovered, places = 0, links.kind.size
    taken = Taken(np.zeros(places, np.int64), np.zeros(places, np.int64), np.zeros(places, np.int64))
    for q in order:
        if work.credit[q] >= levels.need[q]:
            continue
        reached, size = _disjoint_paths(work, q, taken)
        _give_back(net, taken, size)
        if reached < levels.need[q]:
            recovered += 1
            met = protect_by_flow(
                net, links, flow, weight, candidate, log, levels.place[q], levels.forth[q], levels.need[q]
            )
            clear(flow)
            if not met:
                return -1
    return recovered


@inner
def _disjoint_paths(work: Work, q: int, taken: Taken) -> tuple[int, int]:
    """Paths for level q until it is reached or none is left; what they use has no capacity meanwhile.

    Returns what they carry together and how many places `taken` holds, to be given back.
    """
    net, links, flow, costs, taste = work.net, work.links, work.flow, work.costs, work.taste
    rows, columns = links.kind.shape
    own, forth, need = work.levels.place[q], work.levels.forth[q], work.levels.need[q]
    source, sink = source_of(forth, own, rows, columns), sink_of(forth, own, rows, columns)
    reached, size = 0, 0
    while reached < need:
        left = need - reached
        length = cheapest_path(net, links, flow, costs, taste, own, source, sink, left, left)
        if length >= NO_PATH:
            length = cheapest_path(net, links, flow, costs, taste, own, source, sink, left, whole(1))
        if length >= NO_PATH:
            break
        suppress_path(links, flow, work.log, source, sink)
        reached += min(_credit(work, own, forth, source, sink), left)
        node = sink
        while node != source:
            before = flow.parent[node]
            i, j = (before, node - rows) if before < rows else (node, before - rows)
            taken.place[size] = i * columns + j
            taken.forth[size], taken.back[size] = net.forth[i, j], net.back[i, j]
            net.forth[i, j], net.back[i, j] = 0, 0
            size += 1
            node = before
    return reached, size


@inner
def _give_back(net: Network, taken: Taken, size: int) -> None:
    columns = net.forth.shape[1]
    for z in range(size):
        i, j = taken.place[z] // columns, taken.place[z] % columns
        net.forth[i, j], net.back[i, j] = taken.forth[z], taken.back[z]


@inner
def _credit(work: Work, own: int, own_forth: bool, source: int, sink: int) -> int:
    """Credit the sensitive cells on the circuit with what it carries in either sense; the path's width."""
    net, flow = work.net, work.flow
    rows, columns = flow.amount.shape
    with_path, against_path = UNBOUNDED, UNBOUNDED
    node = sink
    while node != source:
        before = flow.parent[node]
        if before < rows:
            with_path = min(with_path, net.forth[before, node - rows])
            against_path = min(against_path, net.back[before, node - rows])
        else:
            with_path = min(with_path, net.back[node, before - rows])
            against_path = min(against_path, net.forth[node, before - rows])
        node = before
    i, j = own // columns, own % columns
    own_with = net.forth[i, j] if own_forth else net.back[i, j]
    own_against = net.back[i, j] if own_forth else net.forth[i, j]
    along, against = min(with_path, own_with), min(against_path, own_against)
    _credit_place(work, own, own_forth, along, against)
    node = sink
    while node != source:
        before = flow.parent[node]
        forth = before < rows
        place = before * columns + node - rows if forth else node * columns + before - rows
        _credit_place(work, place, forth, along, against)
        node = before
    return with_path


@inner
def _credit_place(work: Work, place: int, forth: bool, along: int, against: int) -> None:
    """A circuit moves the place by `along` in the sense it is passed, by `against` in the other."""
    sense = 1 if forth else 0
    q = work.level_at[sense, place]
    if q >= 0:
        work.credit[q] = max(work.credit[q], along)
    q = work.level_at[1 - sense, place]
    if q >= 0:
        work.credit[q] = max(work.credit[q], against)
