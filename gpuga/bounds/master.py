"""The master program: cuts over the columns that may be suppressed, and what its duals prove in exact integers.

Columns are a core, enlarged by those with negative reduced cost; rows are the cuts found so far. The solver proposes
multipliers of the cuts; the bound that they give is recomputed in integers (see `proof`), at a node of a tree with its
fixed cells taken into account. An artificial column that meets every cut at a high price keeps all programs feasible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gpuga.bounds.cut import Batches, Cut, Floats, Key, Separator
from gpuga.bounds.proof import CutRows, Proof, certify, step_of
from gpuga.context import Clock
from gpuga.lp import solver as lp
from gpuga.lp.cut_session import cut_session
from gpuga.table.table import Ints, Mask, Table

WHOLE = 1e-6
STALLED = 1e-4
SOLVES_IDLE = 6
LEAST_PURGED = 0.3
"""The share of the rows that is worth dropping."""

ROUNDS_BETWEEN_PRICING = 6
COLUMNS_AT_ONCE = 800
LEAST_MULTIPLIER = 1e-9
WHOLE_COSTS = 100_000
NO_LIMIT = 2**31 - 1


class Master:
    """The program over some `columns` of a problem.

    `x` float64[columns] is the latest point, `objective` its cost, `low` and `high` its bounds, `proof` what its duals
    prove between them. `certificate` is the best proof for all columns of the problem.
    """

    def __init__(self, separator: Separator, columns: Mask, candidate: Mask | None = None, step: int = 0) -> None:
        self.separator = separator
        self.candidate = separator.candidate if candidate is None else candidate
        self.columns: Ints = np.flatnonzero(columns & self.candidate)
        self.position = np.full(len(separator.weight), -1, np.int64)
        self.position[self.columns] = np.arange(len(self.columns))
        self.weight: Ints = separator.weight[self.columns]
        costs = separator.weight[self.candidate]
        self.step = step or step_of(costs)
        self.unit = _unit(costs, self.step)
        # the artificial column is the first one, so that others can be added behind it
        prices = np.append(costs.sum() + self.step, self.weight) / self.unit
        self.session = cut_session(prices, separator.effort.devex)
        self.session.set_bounds(np.zeros(1, np.int64), np.zeros(1), np.full(1, np.inf))
        self.cuts: list[Cut] = []
        self.known: dict[Key, bool] = {}
        self.rows = CutRows()
        self.idle: Ints = np.zeros(0, np.int64)
        self.answer: lp.Answer | None = None
        self.multipliers: Floats = np.zeros(0)
        self.x = np.zeros(len(self.columns))
        self.low, self.high = np.zeros(len(self.columns)), np.ones(len(self.columns))
        self.objective = 0.0
        self.proof = Proof(0, self.weight, 0, self.step)
        self.certificate = Proof(0, separator.weight, 0, self.step)
        self.behind: list[Cut] = []

    @property
    def table(self) -> Table:
        """The table that is bounded."""
        return self.separator.table

    @property
    def bound(self) -> int:
        """What no safe pattern undercuts, in units of the weights."""
        return self.certificate.bound

    def derivations(self) -> list[list[Any]]:
        """How the cuts behind the bound are derived, for the checker of proofs."""
        return self.separator.derivations(self.behind)

    def restricted(self, columns: Mask, cost: int) -> Master:
        """The program over fewer columns, with the same cuts: what patterns cheaper than `cost` are looked for in."""
        made = Master(self.separator, columns, columns & self.candidate, self.step)
        made.add(self.cuts)
        made.set_price(cost)
        return made

    # --- rows and columns ------------------------------------------------------------------------------

    def add(self, cuts: Iterable[Cut], keep: bool = False) -> int:
        """Add rows that are not there yet; how many. What is to be kept is never dropped."""
        fresh = [cut for cut in {cut.key: cut for cut in cuts}.values() if cut.key not in self.known]
        if not fresh:
            return 0
        self.known |= {cut.key: keep for cut in fresh}
        self.cuts += fresh
        before, entries = len(self.rows.scale), len(self.rows.index)
        self.rows.append(fresh, self.columns, self.position)
        rows, size = self.rows, np.diff(self.rows.start[before:])
        begins = np.cumsum(size) - size
        value = rows.value[entries:] / np.repeat(rows.scale[before:], size)
        # every row begins with its share of the artificial column
        start = np.concatenate([[0], np.cumsum(size + 1)])
        index = np.insert(rows.index[entries:] + 1, begins, 0)
        self.session.add_rows(lp.Rows(rows.asks[before:].astype(float), start, index, np.insert(value, begins, 1.0)))
        self.idle = np.concatenate([self.idle, np.zeros(len(fresh), np.int64)])
        self.multipliers = np.concatenate([self.multipliers, np.zeros(len(fresh))])
        return len(fresh)

    def separate(self, batches: Batches, few: int = 1) -> int:
        """Add batch after batch until there are no longer few; how many."""
        added = 0
        for batch in batches:
            added += self.add(batch)
            if added >= few:
                break
        return added

    def purge(self, spare_tight: bool = False, idle: int = SOLVES_IDLE, least: float = LEAST_PURGED) -> None:
        """Drop the rows that bore on none of the latest bounds, if many; they are found again when needed.

        Where tight rows are spared, the others need not have been idle for long.
        """
        stay = np.array([self.known[cut.key] for cut in self.cuts], bool)
        if spare_tight:
            stay |= (self.idle == 0) | (self.session.row_values() <= self.rows.asks + WHOLE)
        else:
            stay |= self.idle < idle
        drop = np.flatnonzero(~stay)
        if len(drop) < max(1.0, least * len(stay)):
            return
        self.session.delete_rows(drop)
        for c in drop.tolist():
            del self.known[self.cuts[c].key]
        self.cuts = [self.cuts[c] for c in np.flatnonzero(stay).tolist()]
        self.rows.keep(stay)
        self.idle, self.multipliers = self.idle[stay], self.multipliers[stay]

    def add_columns(self, wanted: Ints) -> None:
        """Add columns, as far as they are not there yet."""
        columns = wanted[self.position[wanted] < 0]
        if not len(columns):
            return
        dense = np.array([cut.coefficients(columns) for cut in self.cuts]).reshape(len(self.cuts), len(columns)).T
        column, row = np.nonzero(dense)
        start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=len(columns)))])
        weight = self.separator.weight[columns]
        value = dense[column, row] / self.rows.scale[row]
        self.session.add_columns(weight / self.unit, start, row, value)
        self.position[columns] = len(self.columns) + np.arange(len(columns))
        self.columns, self.weight = np.concatenate([self.columns, columns]), np.concatenate([self.weight, weight])
        self.x = np.concatenate([self.x, np.zeros(len(columns))])
        self.low = np.concatenate([self.low, np.zeros(len(columns))])
        self.high = np.concatenate([self.high, np.ones(len(columns))])
        self.rows = CutRows()
        self.rows.append(self.cuts, self.columns, self.position)

    def set_price(self, cost: int) -> None:
        """No program need show more than that cost: it ends once it does."""
        self.session.set_cost(np.zeros(1, np.int64), np.array([(cost + self.step) / self.unit]))
        self.session.limit_objective(cost / self.unit)

    def fix(self, low: Floats, high: Floats) -> None:
        """Let the programs be those of a node: bounds of the columns (float64[columns])."""
        self.low[:], self.high[:] = low, high
        self.session.set_bounds(np.arange(1, len(self.columns) + 1), self.low, self.high)

    def fix_one(self, at: int, low: float, high: float) -> None:
        """Change the bounds of one column."""
        self.low[at], self.high[at] = low, high
        self.session.set_bounds(np.array([at + 1]), np.array([low]), np.array([high]))

    # --- solving ---------------------------------------------------------------------------------------

    def estimate(self, iterations: int) -> float:
        """What the solver says of the program after some iterations, in units of the weights; nothing is proven."""
        self.answer = self.session.solve(iterations=iterations)
        return self.answer.objective * self.unit

    def solve(self, seconds: float = math.inf) -> int:
        """Solve; the proven bound."""
        self.answer = self.session.solve(seconds)
        return self.proven()

    def proven(self) -> int:
        """What the solver's latest duals prove, rounded up to what costs can be at all."""
        assert self.answer is not None, "solve comes first"
        self.x = np.clip(self.answer.x[1:], 0.0, 1.0)
        self.objective = self.answer.objective * self.unit
        self.multipliers = np.maximum(self.answer.row_dual, 0.0) * self.unit
        self.idle = np.where(self.multipliers > 0, 0, self.idle + 1)
        self.proof = self.rows.prove(self.weight, self.multipliers, self.low, self.high, self.step)
        return self.proof.bound

    def point(self) -> Floats:
        """The latest point over all columns of the problem (float64[n])."""
        full = np.zeros(len(self.position))
        full[self.columns] = self.x
        return full

    def fractional(self) -> Floats:
        """How far each column of the latest point is from a whole number."""
        distance = np.minimum(self.x, 1.0 - self.x)
        return np.where(distance < WHOLE, 0.0, distance)

    # --- the root --------------------------------------------------------------------------------------

    def tighten(self, clock: Clock, rounds: int = NO_LIMIT, most: int = NO_LIMIT, patience: int | None = None) -> None:
        """Cut and price until the bound stalls or reaches `most`, or rounds or time are up; `certificate` improves."""
        for made, _ in enumerate(self.rounds_of_cuts(clock, most, patience), 1):
            if made >= rounds:
                self.certify()
                return

    def rounds_of_cuts(self, clock: Clock, most: int = NO_LIMIT, patience: int | None = None) -> Iterator[None]:
        """The same, round by round; whoever ends it before its end certifies what it has."""
        effort, last, stalled, made = self.separator.effort, 0.0, 0, 0
        patience = effort.patience if patience is None else patience
        while not clock.expired() and self.bound < most:
            self.solve(clock.left())
            if self.answer is None or self.answer.status is not lp.SolveStatus.OPTIMAL:
                break
            made += 1
            now_and_then = made % ROUNDS_BETWEEN_PRICING == 0
            if now_and_then or not effort.spares_tight:
                self.purge(effort.spares_tight)
            # priced early as well: the time may be up before the bound stalls, and unpriced columns spoil it
            priced = (self.complete or now_and_then) and self.price()
            added = self.separate(self.separator.at_root(self.point(), self.cuts, clock), effort.few[stalled > 0])
            stalled = stalled + 1 if self.objective - last <= STALLED * abs(self.objective) else 0
            last = self.objective
            if not added or stalled >= patience:
                deeper = self.separator.deepen()
                if not priced and not self.price() and not deeper:
                    return
                stalled = 0
            yield
        self.certify()

    @property
    def complete(self) -> bool:
        """Whether the program holds all columns of the problem."""
        return len(self.columns) == int(self.candidate.sum())

    def price(self) -> bool:
        """Certify and add the columns with the lowest negative reduced costs; False if there are none."""
        reduced = self.certify().reduced
        wanted = np.flatnonzero((reduced < 0) & self.candidate & (self.position < 0))
        self.add_columns(wanted[np.argsort(reduced[wanted], kind="stable")][:COLUMNS_AT_ONCE])
        return len(wanted) > 0

    def certify(self) -> Proof:
        """The proof of the current multipliers; the best one is kept."""
        if self.complete and self.answer is not None:
            reduced = self.separator.weight << self.proof.shift
            reduced[self.columns] = self.proof.reduced
            found = self.proof._replace(reduced=reduced)
        else:
            found = certify(self.separator.weight, self.candidate, self.cuts, self.multipliers, self.step)
        if found.exceeds(self.certificate):
            self.certificate = found
            pairs = zip(self.cuts, self.multipliers.tolist(), strict=True)
            self.behind = [cut for cut, y in pairs if y > LEAST_MULTIPLIER]
        return found


def _unit(costs: Ints, step: int) -> float:
    """What the solver counts costs in: whole steps where numbers stay small, so that it can round bounds."""
    if int(costs.max(initial=0)) // step <= WHOLE_COSTS:
        return float(step)
    return max(1.0, float(np.median(costs)) / 100)


def useful_columns(master: Master, cost: int) -> Mask:
    """The columns that a pattern cheaper than `cost` could contain (bool[n])."""
    return np.asarray(master.candidate & ~master.certificate.removable(cost))


def cheapest(reduced: Ints, allowed: Mask, count: int) -> Mask:
    """The allowed columns of the lowest reduced costs, about as many as asked for."""
    if int(allowed.sum()) <= count:
        return allowed
    costs = np.where(allowed, reduced, 2**62)
    return np.asarray(allowed & (costs <= np.partition(costs, count)[count]))
