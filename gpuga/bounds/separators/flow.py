"""The separator of two-way tables: requirements are flows, and minimum cuts tell what a point leaves short.

Minimum cuts become capacity cuts and their roundings; further roundings lie over other node sets and are looked for
from several views; zero-half cuts come when the others have nothing more to say, because they are made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuga.bounds.cut import Batches, Cut, Effort, Floats, Key
from gpuga.bounds.separators.bridges import LoneCells
from gpuga.bounds.separators.capacity_cuts import CapacityCut, Stack, cut_of, stacked, violated_roundings
from gpuga.bounds.separators.derivations import Derivations
from gpuga.bounds.separators.minimum_cuts import PLAIN, Support, View, support_of, violated_cuts
from gpuga.bounds.separators.zero_half import OneOf, half_cuts
from gpuga.context import Clock
from gpuga.problem.two_way import TwoWayProblem
from gpuga.table.table import Ints, Mask

SHORT = 20
"""Lines of up to so many cells are cut before any flow is asked, and all their cells are columns from the start."""

MOST_MARKS = 2**28
"""Cuts mark their node sets; so many bytes of marks are not exceeded by those of short lines."""

CORE_PER_LINE = 6
ROUNDINGS_AT_ONCE, ROUNDINGS_AT_NODE = 300, 50
LEAST_VIOLATION, LEAST_AT_ONCE, LEAST_WHOLE = 0.01, 1e-3, 1e-7
HALVES_AT_ONCE = 60
LONGEST_LINE = 32
"""Candidates in a line; in longer ones bridges say little and make the linear programs slow."""

POSITIVE = 1e-7
VIEWS = [View(0, 0.5), View(0, 0.2), View(0, 0.05), View(2, 0.5), View(3, 0.5)]


class FlowSeparator:
    """Finds cuts of a two-way table; see `Separator`. Columns are the places of its grid.

    `bases` are all capacity cuts ever found: other roundings of them cut off later points.
    """

    effort = Effort(
        few=(30, 30),
        few_at_node=10,
        patience=4,
        spares_tight=True,
        rounds=2,
        gain=1.0,
        tried=(8, 5),
        iterations=50,
        pause=1,
        dropped=(6, 0.3),
        devex=False,
        look=0,
    )

    def __init__(self, problem: TwoWayProblem) -> None:
        self.problem, self.table = problem, problem.table
        self.cell: Ints = problem.plane.cell.ravel().astype(np.int64)
        self.weight: Ints = problem.weight.ravel()
        self.candidate: Mask = problem.candidate.ravel()
        self.forced: Ints = np.flatnonzero(problem.forced)
        self.bases: dict[Key, CapacityCut] = {}
        self._stack: Stack | None = None
        self._lone_cells = LoneCells(self.table, self.cell, self.candidate, LONGEST_LINE)
        self._deep = False

    # --- what a program begins with --------------------------------------------------------------------

    @property
    def core(self) -> Mask:
        """The cheapest candidates of every line, and for each requirement the cheapest that are wide enough for it."""
        problem, (rows, columns) = self.problem, self.problem.shape
        if min(rows, columns) <= SHORT:
            return self.candidate
        dear = np.where(problem.candidate, problem.weight, 2**62)
        core = np.zeros(problem.shape, bool)
        cheap = np.argsort(dear, axis=1, kind="stable")[:, :CORE_PER_LINE]
        core[np.arange(rows)[:, None], cheap] = True
        cheap = np.argsort(dear, axis=0, kind="stable")[:CORE_PER_LINE]
        core[cheap, np.arange(columns)[None, :]] = True
        levels = problem.plain_levels
        for place, forward, need in zip(levels.place, levels.forward, levels.need, strict=True):
            i, j = divmod(int(place), columns)
            wide = (problem.net.backward if forward else problem.net.forward) >= need
            core[i, np.argsort(np.where(wide[i], dear[i], 2**62), kind="stable")[:3]] = True
            core[np.argsort(np.where(wide[:, j], dear[:, j], 2**62), kind="stable")[:3], j] = True
        return core.ravel() & self.candidate

    def first(self) -> list[Cut]:
        """What is asked of single lines, where these are short: few entries, and most of the bound of long tables."""
        net, levels, (rows, columns) = self.problem.net, self.problem.plain_levels, self.problem.shape
        found: dict[Key, Cut] = {}
        if len(levels.place) * (rows + columns) > MOST_MARKS:
            return []
        for q, (place, forward) in enumerate(zip(levels.place.tolist(), levels.forward.tolist(), strict=True)):
            for node, long, source in (
                (place // columns, columns, not forward),
                (rows + place % columns, rows, forward),
            ):
                if long > SHORT:
                    continue
                # the set of the source alone, or of all but the sink
                side = np.full(rows + columns, not source, np.uint8)
                side[node] = source
                cut = cut_of(net, self.forced, levels, q, side[:rows], side[rows:])
                if cut is not None:
                    found[cut.key] = self.bases.setdefault(cut.key, cut)
        return list(found.values())

    # --- cuts ------------------------------------------------------------------------------------------

    def at_root(self, x: Floats, cuts: Sequence[Cut], clock: Clock) -> Batches:
        """Minimum cuts, roundings and lone cells, zero-half cuts once they are asked for; then what is hidden."""
        found: list[Cut] = [
            *self.violated_by(x, LEAST_AT_ONCE),
            *self.roundings_violated_by(x),
            *self._lone_cells.violated(x),
        ]
        if self._deep:
            # made of capacity cuts only: halves of halves gain little for much work
            simple = [OneOf(cut) for cut in cuts if isinstance(cut, CapacityCut)]
            found += half_cuts(simple, self.cell, x, HALVES_AT_ONCE)
        yield found
        yield self.hidden_from(x)

    def at_node(self, x: Floats, cuts: Sequence[Cut], thorough: bool, clock: Clock) -> Batches:
        """Roundings and lone cells; flows are asked only in dives."""
        found: list[Cut] = [*self.roundings_violated_by(x)[:ROUNDINGS_AT_NODE], *self._lone_cells.violated(x)]
        yield found + (self.violated_by(x, LEAST_AT_ONCE) if thorough else [])
        yield self.hidden_from(x)[:ROUNDINGS_AT_NODE]

    def at_whole(self, x: Floats, clock: Clock) -> Batches:
        """What a whole pattern violates."""
        yield [*self.roundings_violated_by(x)[:ROUNDINGS_AT_NODE], *self.violated_by(x, LEAST_WHOLE)]

    def deepen(self) -> bool:
        """Ask for zero-half cuts, too."""
        before, self._deep = self._deep, True
        return not before

    def derivations(self, cuts: Sequence[Cut]) -> list[list[Any]]:
        """How cuts are derived, for the checker of proofs."""
        return Derivations(self.problem).of(cuts)

    def violated_by(self, x: Floats, slack: float) -> list[Cut]:
        """The minimum cuts that a (fractional) pattern violates, with their best roundings."""
        cuts = self._cuts_seen(x, slack, PLAIN)
        for cut in cuts:
            self.bases.setdefault(cut.key, cut)
        return [*cuts, *(cut for _, cut in self._roundings(cuts, x, LEAST_AT_ONCE))]

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
        fresh: dict[Key, CapacityCut] = {}
        for view in VIEWS:
            fresh |= {cut.key: cut for cut in self._cuts_seen(x, LEAST_VIOLATION, view) if cut.key not in self.bases}
        found = self._roundings(list(fresh.values()), x, LEAST_VIOLATION)[:ROUNDINGS_AT_ONCE]
        for _, rounded in found:
            base = rounded.plain()
            self.bases.setdefault(base.key, base)
        return [rounded for _, rounded in found]

    def _cuts_seen(self, x: Floats, slack: float, view: View) -> list[CapacityCut]:
        """The minimum cuts of requirements that look short."""
        net, levels = self.problem.net, self.problem.plain_levels
        found = violated_cuts(net, self._support(x), levels, slack, view)
        cuts = [
            cut_of(net, self.forced, levels, int(q), rows, columns)
            for q, rows, columns in zip(found.level, found.rows, found.columns, strict=True)
        ]
        return list({cut.key: cut for cut in cuts if cut is not None}.values())

    def _roundings(
        self, cuts: Sequence[CapacityCut], x: Floats, least: float, stack: Stack | None = None
    ) -> list[tuple[float, CapacityCut]]:
        return violated_roundings(cuts, stack or stacked(cuts), *_positive(x), least) if cuts else []

    def _support(self, x: Floats) -> Support:
        places, values = _positive(x)
        every = np.concatenate([self.forced, places])
        return support_of(every, np.concatenate([np.ones(len(self.forced)), values]), *self.problem.shape)


def _positive(x: Floats) -> tuple[Ints, Floats]:
    """Places and values of what is positive, by falling value."""
    positive = np.flatnonzero(x > POSITIVE)
    positive = positive[np.argsort(-x[positive], kind="stable")]
    return positive, x[positive]
