"""The linear relaxation of a plane's problem: capacity cuts, knapsack covers, zero-half cuts, pricing.

Columns are a core of cheap candidates, enlarged by those with negative reduced cost; rows are the cuts found
so far. Every row and column can be derived again exactly from `cuts`; the solver's floats only steer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.certificate import Certificate, certify
from gpuga.bounds.cuts import Cut, Stack, cut_of, stacked, violated_roundings
from gpuga.bounds.lone_cells import PlaneCut, lone_cells
from gpuga.bounds.rounding import Key, half_cuts
from gpuga.bounds.separation import PLAIN, Support, View, support_of, violated_cuts
from gpuga.context import Clock
from gpuga.lp.cut_session import cut_session
from gpuga.lp.solver import Rows, Status
from gpuga.problem.two_way import TwoWayProblem
from gpuga.table.table import Ints, Mask, Table

Floats = NDArray[np.float64]

SHORT = 20
"""Lines of up to so many cells are cut before any flow is asked, and all their cells are columns from the start."""

MOST_MARKS = 2**28
"""Cuts mark their node sets; so many bytes of marks are not exceeded by those of short lines."""

CORE_PER_LINE = 6
COLUMNS_AT_ONCE = 800
ROUNDINGS_AT_ONCE = 300
FEW_CUTS = 30
LEAST_VIOLATION = 0.01
HALVES_AT_ONCE = 60
ROUNDS_BETWEEN_PURGES = 6
STALLED_ROUNDS = 4
POSITIVE = 1e-7
LEAST_MULTIPLIER = 1e-9
VIEWS = [View(0, 0.5), View(0, 0.2), View(0, 0.05), View(2, 0.5), View(3, 0.5)]
WHOLE_COSTS = 100_000


class Relaxation:
    """Cuts and columns of one problem, with the current fractional pattern `x` over `places`.

    The columns must hold a safe pattern, `extra`, so that the linear programs have solutions.

    `certificate` is the best proven bound so far. Cuts added with `keep` (those that integer patterns
    violated) are never dropped.
    """

    def __init__(self, problem: TwoWayProblem, extra: Mask) -> None:
        self.problem = problem
        self.forced = np.flatnonzero(problem.forced)
        self.step = max(1, math.gcd(*problem.weight[problem.candidate].tolist()))
        self.unit = _unit(problem, self.step)
        self.places = np.flatnonzero(_core(problem) | extra & problem.candidate)
        self.in_core = np.zeros(problem.weight.size, bool)
        self.in_core[self.places] = True
        self.cuts: list[PlaneCut] = []
        self.kept: list[bool] = []
        self.known: set[Key] = set()
        self.bases: dict[Key, Cut] = {}
        self._stack: Stack | None = None
        self.session = cut_session(problem.weight.ravel()[self.places] / self.unit)
        self.x: Floats = np.zeros(len(self.places))
        self.multipliers: Floats = np.zeros(0)
        self.objective = 0.0
        self.certificate = certify(problem, [], np.zeros(0), self.step)
        self._add_cuts(self._of_short_lines(), False)

    @property
    def bound(self) -> int:
        """The proven bound, in units of the weights."""
        return self.certificate.bound

    @property
    def table(self) -> Table:
        """The table of the plane."""
        return self.problem.plane.table

    def said(self) -> list[list[Any]]:
        """The cuts with multipliers, in the words of the checker."""
        from gpuga.bounds.plane_words import Words

        words = Words(self.problem)
        used = [cut for cut, y in zip(self.cuts, self.multipliers.tolist(), strict=True) if y > LEAST_MULTIPLIER]
        return [said for cut in used if (said := words.say(cut)) is not None]

    def tighten(self, clock: Clock) -> None:
        """Add cuts and columns until the bound stalls or the time is up; `certificate` improves.

        Zero-half cuts come when the others have nothing more to say: they are made of them.
        """
        last, stalled, rounds, rounding = -math.inf, 0, 0, False
        while not clock.expired():
            if not self._solve(clock):
                break
            rounds += 1
            if rounds % ROUNDS_BETWEEN_PURGES == 0:
                if self._purge() and not self._solve(clock):
                    break
                # priced early as well: the time may be up before the bound stalls, and unpriced columns spoil it
                self._price()
            added = self.separate(self.x, 1e-3) + self._add_cuts(self.roundings_violated_by(self.x), False)
            added += self._add_cuts(lone_cells(self.problem, self.grid(self.x)), False)
            if added < FEW_CUTS:
                added += self._add_cuts(self.hidden_from(self.x), False)
            if rounding:
                added += self._round()
            stalled = stalled + 1 if self.objective - last < 1e-4 * abs(self.objective) else 0
            last = self.objective
            if added and stalled < STALLED_ROUNDS:
                continue
            if not self._price():
                if rounding:
                    return
                rounding = True
            stalled = 0
        self._certify()

    def separate(self, x: Floats, slack: float, keep: bool = False) -> int:
        """Add the cuts that a (fractional) pattern violates, with their best covers; returns how many."""
        return self._add_cuts(self.violated_by(x, slack), keep)

    def violated_by(self, x: Floats, slack: float) -> list[Cut]:
        """The cuts that a (fractional) pattern over `places` violates, with their best roundings."""
        cuts = self._cuts_seen(x, slack, PLAIN)
        for cut in cuts:
            self.bases.setdefault(cut.key, cut)
        return cuts + [cut for _, cut in self._roundings(cuts, x, 1e-3)]

    def roundings_violated_by(self, x: Floats) -> list[Cut]:
        """The roundings of all cuts ever found that a fractional pattern violates most."""
        bases = list(self.bases.values())
        if bases and (self._stack is None or len(self._stack.need) < len(bases)):
            self._stack = stacked(bases)
        return [cut for _, cut in self._roundings(bases, x, LEAST_VIOLATION, self._stack)[:ROUNDINGS_AT_ONCE]]

    def hidden_from(self, x: Floats) -> list[Cut]:
        """Roundings that a fractional pattern violates although it meets the cuts they are made of.

        They lie over other node sets than the plain minimum cuts, and are looked for from several views.
        """
        fresh: dict[Key, Cut] = {}
        for view in VIEWS:
            fresh |= {cut.key: cut for cut in self._cuts_seen(x, LEAST_VIOLATION, view) if cut.key not in self.bases}
        found = self._roundings(list(fresh.values()), x, LEAST_VIOLATION)[:ROUNDINGS_AT_ONCE]
        for _, rounded in found:
            base = rounded.plain()
            self.bases.setdefault(base.key, base)
        return [rounded for _, rounded in found]

    def _of_short_lines(self) -> list[Cut]:
        """What levels ask of single lines, where these are short: few entries, and most of the bound of long tables."""
        net, levels, (rows, columns) = self.problem.net, self.problem.plain_levels, self.problem.shape
        found: dict[Key, Cut] = {}
        if len(levels.place) * (rows + columns) > MOST_MARKS:
            return []
        for q, (place, forth) in enumerate(zip(levels.place.tolist(), levels.forth.tolist(), strict=True)):
            for node, long, source in ((place // columns, columns, not forth), (rows + place % columns, rows, forth)):
                if long > SHORT:
                    continue
                # the set of the source alone, or of all but the sink
                side = np.full(rows + columns, not source, np.uint8)
                side[node] = source
                cut = cut_of(net, self.forced, levels, q, side[:rows], side[rows:])
                if cut is not None:
                    found[cut.key] = cut
                    self.bases.setdefault(cut.key, cut)
        return list(found.values())

    def _cuts_seen(self, x: Floats, slack: float, view: View) -> list[Cut]:
        """The minimum cuts of levels that look short."""
        net, levels = self.problem.net, self.problem.plain_levels
        found = violated_cuts(net, self._support(x), levels, slack, view)
        cuts = [
            cut_of(net, self.forced, levels, int(q), rows, columns)
            for q, rows, columns in zip(found.level, found.rows, found.columns, strict=True)
        ]
        return list({cut.key: cut for cut in cuts if cut is not None}.values())

    def _roundings(
        self, cuts: Sequence[Cut], x: Floats, least: float, stack: Stack | None = None
    ) -> list[tuple[float, Cut]]:
        if not cuts:
            return []
        return violated_roundings(self.problem.net, cuts, stack or stacked(cuts), *self._positive(x), least)

    def add_places(self, places: Ints) -> None:
        """Add columns."""
        if not len(places):
            return
        table = [cut.coefficients(self.problem.net, places) / cut.scale for cut in self.cuts]
        entries = np.array(table).reshape(len(self.cuts), len(places)).T
        column, row = np.nonzero(entries)
        start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=len(places)))])
        self.session.add_columns(self.problem.weight.ravel()[places] / self.unit, start, row, entries[column, row])
        self.places = np.concatenate([self.places, places])
        self.in_core[places] = True
        self.x = np.concatenate([self.x, np.zeros(len(places))])

    def grid(self, x: Floats) -> Floats:
        """A point over `places` as a grid (float64[R, C])."""
        out = np.zeros(self.problem.weight.size)
        out[self.places] = x
        return out.reshape(self.problem.shape)

    def _positive(self, x: Floats) -> tuple[Ints, Floats]:
        """Places and values of what is positive, by falling value."""
        positive = np.flatnonzero(x > POSITIVE)
        positive = positive[np.argsort(-x[positive], kind="stable")]
        return self.places[positive], x[positive]

    def _support(self, x: Floats) -> Support:
        places, values = self._positive(x)
        every = np.concatenate([self.forced, places])
        return support_of(every, np.concatenate([np.ones(len(self.forced)), values]), *self.problem.shape)

    def _solve(self, clock: Clock) -> bool:
        """Solve the relaxation as it stands; False if the time ran out in the middle."""
        answer = self.session.solve(clock.left())
        if answer.status is not Status.OPTIMAL:
            return False
        self.x, self.multipliers, self.objective = answer.x, answer.row_dual * self.unit, answer.objective
        return True

    def _round(self) -> int:
        """Add zero-half cuts; made of capacity cuts only, halves of halves gain little for much work."""
        places, values = self._positive(self.x)
        simple = [cut for cut in self.cuts if isinstance(cut, Cut)]
        return self._add_cuts(half_cuts(self.problem.net, simple, places, values, HALVES_AT_ONCE), False)

    def _add_cuts(self, cuts: Sequence[PlaneCut], keep: bool) -> int:
        fresh = []
        for cut in cuts:
            if cut.key not in self.known:
                self.known.add(cut.key)
                fresh.append(cut)
        if not fresh:
            return 0
        index, value, start = [], [], [0]
        for cut in fresh:
            coefficient = cut.coefficients(self.problem.net, self.places)
            there = np.flatnonzero(coefficient)
            index.append(there.astype(np.int32))
            value.append(coefficient[there] / cut.scale)
            start.append(start[-1] + len(there))
        asked = np.array([float(cut.rhs > 0) for cut in fresh])
        self.session.add_rows(Rows(asked, np.array(start), np.concatenate(index), np.concatenate(value)))
        self.cuts += fresh
        self.kept += [keep] * len(fresh)
        self.multipliers = np.concatenate([self.multipliers, np.zeros(len(fresh))])
        return len(fresh)

    def _purge(self) -> bool:
        """Drop cuts that are slack and have no multiplier, when there are many; True if any was."""
        value = self.session.row_values()
        asked = np.array([cut.rhs > 0 for cut in self.cuts], np.float64)
        idle = (value > asked + 1e-6) & (self.multipliers < 1e-9) & ~np.array(self.kept, bool)
        drop = np.flatnonzero(idle)
        if len(drop) < 50 or len(drop) < 0.3 * len(value):
            return False
        self.session.delete_rows(drop)
        for c in drop:
            self.known.discard(self.cuts[c].key)
        stay = np.flatnonzero(~idle)
        self.cuts = [self.cuts[c] for c in stay]
        self.kept = [self.kept[c] for c in stay]
        self.multipliers = self.multipliers[stay]
        return True

    def _certify(self) -> Certificate:
        """The proven bound of the current multipliers; the best one is kept."""
        certificate = certify(self.problem, self.cuts, self.multipliers, self.step)
        if certificate.total * 2**self.certificate.shift > self.certificate.total * 2**certificate.shift:
            self.certificate = certificate
        return certificate

    def _price(self) -> bool:
        """Certify and add the candidates with the lowest negative reduced costs; False if there are none."""
        reduced = self._certify().reduced.ravel()
        wanted = np.flatnonzero((reduced < 0) & self.problem.candidate.ravel() & ~self.in_core)
        self.add_places(wanted[np.argsort(reduced[wanted], kind="stable")][:COLUMNS_AT_ONCE])
        return len(wanted) > 0


def _unit(problem: TwoWayProblem, step: int) -> float:
    """What the solver counts costs in: whole steps where numbers stay small, so that it can round bounds."""
    weight = problem.weight[problem.candidate]
    if int(weight.max(initial=0)) // step <= WHOLE_COSTS:
        return float(step)
    return max(1.0, float(np.median(weight)) / 100)


def _core(problem: TwoWayProblem) -> Mask:
    """The cheapest candidates of every line, and for each level the cheapest that are wide enough for it."""
    dear = np.where(problem.candidate, problem.weight, 2**62)
    core = np.zeros(problem.shape, bool)
    rows, columns = problem.shape
    if min(rows, columns) <= SHORT:
        return problem.candidate
    cheap = np.argsort(dear, axis=1, kind="stable")[:, :CORE_PER_LINE]
    core[np.arange(rows)[:, None], cheap] = True
    cheap = np.argsort(dear, axis=0, kind="stable")[:CORE_PER_LINE]
    core[cheap, np.arange(columns)[None, :]] = True
    levels = problem.plain_levels
    for place, forth, need in zip(levels.place, levels.forth, levels.need, strict=True):
        i, j = divmod(int(place), columns)
        wide = (problem.net.back if forth else problem.net.forth) >= need
        core[i, np.argsort(np.where(wide[i], dear[i], 2**62), kind="stable")[:3]] = True
        core[np.argsort(np.where(wide[:, j], dear[:, j], 2**62), kind="stable")[:3], j] = True
    return core & problem.candidate
