"""What a growing list of witnesses shows of a table's requirements, and the pattern that they need.

The pattern is the union of the cells that the kept witnesses move, so it carries its proof, and no secondary cell
in it is exactly determined.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled
from gpuga.safety.requirements import Requirements
from gpuga.safety.unpick import unpick
from gpuga.safety.witness import AllowedChanges, hold, together
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.witnesses import Witnesses


@dataclass(frozen=True, eq=False)
class Goals:
    """How far every cell has to be shown to rise and to fall, in units (int64[n] each; 0: nothing is asked)."""

    rise: Ints
    fall: Ints

    @cached_property
    def need(self) -> Ints:
        """The larger of both."""
        return np.maximum(self.rise, self.fall)

    @classmethod
    def of(cls, table: Table, strict: bool, protect_secondary: bool) -> Goals:
        """The levels; widths are laid on the upper side as far as the lines let it reach, the rest on the lower."""
        extra = 1 if strict else 0
        levels, primary = table.levels, table.primary
        rise = np.where(primary & (levels.upper + extra > 0), levels.upper + extra, 0)
        fall = np.where(primary & (levels.lower + extra > 0), levels.lower + extra, 0)
        width = np.where(primary & (levels.sliding > 0), levels.sliding + extra, 0)
        if protect_secondary:  # what is suppressed beforehand must move at all
            width = np.where(table.forced & ~primary, 1, width)
        wide = width > rise + fall
        if wide.any():
            highest, lowest = unpick(table, table.suppressible)
            upper = np.clip(width - fall, rise, np.maximum(highest, rise))
            rise = np.where(wide, upper, rise)
            fall = np.where(wide, np.maximum(fall, np.minimum(width - rise, np.maximum(lowest, fall))), fall)
        return cls(rise.astype(np.int64), fall.astype(np.int64))


class Shown:
    """The witnesses that are kept, and which goals are still open; with `whole`, whole changes only are witnesses."""

    def __init__(self, table: Table, goals: Goals, whole: bool = False) -> None:
        self.table, self.goals, self.whole = table, goals, whole
        self.allowed = AllowedChanges.of(table, table.suppressible)
        self.open_rise, self.open_fall = goals.rise > 0, goals.fall > 0
        self.suppressed: Mask = table.forced.copy()
        self._kept: list[Witnesses] = []

    def open_cells(self) -> Ints:
        """The cells with an open goal, ascending."""
        return np.flatnonzero(self.open_rise | self.open_fall)

    def requirements(self) -> Requirements:
        """The open goals by ascending cell, up before down."""
        cells = np.repeat(self.open_cells(), 2)
        direction = np.tile(np.array([1, -1], np.int8), len(cells) // 2)
        open_ = np.where(direction > 0, self.open_rise[cells], self.open_fall[cells])
        need = np.where(direction > 0, self.goals.rise[cells], self.goals.fall[cells])
        return Requirements(cells[open_].astype(np.int32), direction[open_], need[open_])

    def add(self, witnesses: Witnesses) -> None:
        """Keep what shows something new, of the witnesses that hold and of their reverses."""
        if not len(witnesses.cell) or witnesses.amount.dtype == object or witnesses.denominator.dtype == object:
            return  # numbers beyond int64 are left to the audit's own proofs
        held = hold(self.allowed, witnesses) & (witnesses.denominator == 1 if self.whole else True)
        for signed in (witnesses, _reversed(witnesses)):
            room = np.where(signed.amount > 0, self.allowed.up[signed.cell], self.allowed.down[signed.cell])
            part = np.repeat(signed.denominator, np.diff(signed.start))
            fits = np.logical_and.reduceat(-(-np.abs(signed.amount) // part) <= room, signed.start[:-1])
            shows = self._shows(signed)
            useful = held & fits & np.logical_or.reduceat(shows, signed.start[:-1])
            if useful.any():
                self._keep(signed, useful, shows)

    def _shows(self, witnesses: Witnesses) -> Mask:
        """Which entries reach an open goal."""
        cell, rises = witnesses.cell, witnesses.amount > 0
        reach = np.abs(witnesses.amount) // np.repeat(witnesses.denominator, np.diff(witnesses.start))
        up = rises & self.open_rise[cell] & (reach >= self.goals.rise[cell])
        return np.asarray(up | (~rises & self.open_fall[cell] & (reach >= self.goals.fall[cell])))

    def _keep(self, witnesses: Witnesses, useful: Mask, shows: Mask) -> None:
        self._kept.append(witnesses.subset(np.flatnonzero(useful)))
        self.suppressed[self._kept[-1].cell] = True
        shows = shows & np.repeat(useful, np.diff(witnesses.start))
        rises = witnesses.amount > 0
        self.open_rise[witnesses.cell[shows & rises]] = False
        self.open_fall[witnesses.cell[shows & ~rises]] = False

    def proof(self) -> Witnesses:
        """The witnesses without those that the others can do without, the dearest first."""
        every = together(self._kept)
        if not len(every):
            return every
        reach = np.abs(every.amount) // np.repeat(every.denominator, np.diff(every.start))
        up = (every.amount > 0) & (self.goals.rise[every.cell] > 0) & (reach >= self.goals.rise[every.cell])
        down = (every.amount < 0) & (self.goals.fall[every.cell] > 0) & (reach >= self.goals.fall[every.cell])
        weight = np.where(self.table.forced, 0, self.table.weight)
        needed = _needed(every.start, every.cell, up, down, weight)
        return every.subset(np.flatnonzero(needed))

    def pattern(self, proof: Witnesses) -> Mask:
        """What the witnesses move, and what is suppressed anyway."""
        suppressed = self.table.forced.copy()
        suppressed[proof.cell] = True
        return suppressed


@compiled
def _needed(start: Ints, cell: NDArray[np.int32], up: Mask, down: Mask, weight: Ints) -> Mask:
    """Which witnesses are left when, dearest first, each goes whose goals are all shown by others."""
    count = len(start) - 1
    rises, falls = np.zeros(len(weight), np.int32), np.zeros(len(weight), np.int32)
    users = np.zeros(len(weight), np.int32)
    for e in range(len(cell)):
        rises[cell[e]] += up[e]
        falls[cell[e]] += down[e]
        users[cell[e]] += 1
    alone = np.zeros(count, np.int64)
    for w in range(count):
        for e in range(start[w], start[w + 1]):
            if users[cell[e]] == 1:
                alone[w] += weight[cell[e]]
    needed = np.ones(count, np.bool_)
    for w in np.argsort(-alone, kind="mergesort"):
        spare = True
        for e in range(start[w], start[w + 1]):
            if (up[e] and rises[cell[e]] == 1) or (down[e] and falls[cell[e]] == 1):
                spare = False
        if spare:
            needed[w] = False
            for e in range(start[w], start[w + 1]):
                rises[cell[e]] -= up[e]
                falls[cell[e]] -= down[e]
    return needed


def _reversed(witnesses: Witnesses) -> Witnesses:
    return Witnesses(witnesses.start, witnesses.cell, -witnesses.amount, witnesses.denominator)
