"""What each suppressed cell of a pattern is needed for: which cells are no longer protected once it is published.

Known changes of the table answer nearly all of it: one that does not move the published cell still holds, and so does
the mean of two that move it opposite ways, weighted so that it stays where it is. Only what they do not show goes to
the attacker's program, which stays warm from one question to the next, and what it finds counts for the next ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from gpuga.context import Context
from gpuga.safety.attacker import Attacker
from gpuga.safety.audit import ask_all, collect, short_by_propagation
from gpuga.safety.basis import Integers
from gpuga.safety.evidence import Evidence
from gpuga.safety.proofs import cheap_proofs
from gpuga.safety.witness import hold, together
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.two_way import two_way_table
from gpuga.table.witnesses import Witnesses

MOST_ENTRIES = 20_000_000
"""With so many entries of known changes, no more are kept."""

FEW = 64
"""So many changes a way are paired first, the first that were found: they move most cells and nearly always suffice."""

NARROW = 2**30
"""Amounts below this are paired."""

ROUNDS = 30
"""How often a pair is improved, at most."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Known:
    """What an audit of the pattern has found: witnesses of its safety, and other changes of the table."""

    proof: Witnesses | None = None
    changes: Witnesses | None = None


class Pairs:
    """Exact changes of a table, taken in pairs that leave one cell where it is."""

    def __init__(self, shown: Evidence, changes: Witnesses) -> None:
        good = changes.subset(np.flatnonzero(hold(shown.allowed, changes)))
        narrow = [w for w in range(len(good)) if _is_narrow(*good.one(w)[1:])]
        good = good.subset(np.array(narrow, np.int64))
        self.over = good.denominator.astype(np.int64)
        entries = good.amount.astype(np.int64), good.cell, good.start
        self.amount = csr_array(entries, shape=(len(good), len(shown.table)))
        self.by_cell = csc_array(self.amount)

    def show(self, shown: Evidence, still: int, cells: Ints) -> None:
        """Note how far pairs move the cells while the cell `still` does not move."""
        column = slice(*self.by_cell.indptr[still : still + 2].tolist())
        rows, moving = self.by_cell.indices[column], self.by_cell.data[column]
        up, down = np.flatnonzero(moving > 0), np.flatnonzero(moving < 0)
        if not len(up) or not len(down):
            return
        some = np.concatenate([up[:FEW], down[:FEW]])
        amount = self.amount[rows[some]][:, cells].toarray()
        self._note(shown, cells, Opposed(moving[some], self.over[rows[some]], amount))
        cells = np.array(shown.unsettled(cells), np.int64)
        if len(cells) and len(some) < len(rows):
            amount = self.by_cell[:, cells].toarray()[rows]
            self._note(shown, cells, Opposed(moving, self.over[rows], amount))

    @staticmethod
    def _note(shown: Evidence, cells: Ints, opposed: Opposed) -> None:
        for direction in (1, -1):
            i, j = best_pairs(opposed.moving / opposed.over, direction * opposed.amount / opposed.over[:, None])
            reach = opposed.means(i, j, direction)
            shown.note_whole(cells, np.full(len(cells), direction, np.int8), np.maximum(reach, 0))


@dataclass(frozen=True, eq=False)
class Opposed:
    """Changes that move one cell up or down: by how much, over which denominator, and what they do to other cells.

    `moving`, `over` int64[k], `amount` int64[k, P].
    """

    moving: Ints
    over: Ints
    amount: Ints

    def means(self, i: NDArray[np.intp], j: NDArray[np.intp], direction: int) -> Ints:
        """How far the means of pairs that leave the one cell still move each other cell, in whole units at least."""
        at = np.arange(self.amount.shape[1])
        weight_i, weight_j = np.abs(self.moving[j]), np.abs(self.moving[i])
        moved = direction * (weight_i * self.amount[i, at] + weight_j * self.amount[j, at])
        return np.asarray(moved // (weight_i * self.over[i] + weight_j * self.over[j]), np.int64)


def _is_narrow(amounts: Integers, denominator: int) -> bool:
    """Whether products with another such change fit into 64 bits."""
    return max(int(np.abs(amounts).max(initial=0)), denominator) < NARROW


def best_pairs(pull: Floats, gain: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For every column of `gain` the two rows, pulled up and down, whose mean without pull gains most.

    `pull` float64[k] holds both signs and no zero, `gain` is float64[k, P]. The line through the gains of a pair is
    tilted until no row lies above it.
    """
    at = np.arange(gain.shape[1])
    up, down = np.flatnonzero(pull > 0), np.flatnonzero(pull < 0)
    i, j = up[gain[up].argmax(axis=0)], down[gain[down].argmax(axis=0)]
    for _ in range(ROUNDS):
        slope = (gain[i, at] - gain[j, at]) / (pull[i] - pull[j])
        above = gain - slope * pull[:, None]
        top = above.argmax(axis=0)
        better = above[top, at] > above[i, at] + 1e-9 * np.abs(above[i, at])
        if not better.any():
            break
        i = np.where(better & (pull[top] > 0), top, i)
        j = np.where(better & (pull[top] < 0), top, j)
    return i, j


class Without:
    """One pattern of a table as the attacker is judged on it, with any one of its cells published instead."""

    def __init__(self, table: Table, suppressed: Mask, model: AttackerModel, context: Context, known: Known) -> None:
        """Judge the pattern itself first; what is `known` already is checked like all else."""
        self.table, self.suppressed, self.model, self.context = table, suppressed, model, context
        shown = Evidence(table, suppressed, model, keep=True)
        collect(table, suppressed, shown, context, known.proof)
        self.protected = np.setdiff1d(shown.rule.cells, np.array(shown.unsettled(shown.rule.cells), np.int64))
        self.known = shown.proof().witnesses if known.proof is None else known.proof
        self.pairs = None if known.changes is None or model.whole else Pairs(shown, known.changes)
        self._attacker: Attacker | None = None

    @property
    def solves(self) -> int:
        """How many programs were solved."""
        return 0 if self._attacker is None else self._attacker.solves

    def exposed(self, cell: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The cells that are protected now and are not once `cell` is published, and those that stay undecided."""
        without = self.suppressed.copy()
        without[cell] = False
        shown = Evidence(self.table, without, self.model, keep=True)
        shown.offer(self._known_without(cell))
        known = shown.kept
        cells = self.protected[self.protected != cell]
        if self.pairs is not None:
            self.pairs.show(shown, cell, np.array(shown.unsettled(cells), np.int64))
        refuted, left = self._quickly(without, shown, np.array(shown.unsettled(cells), np.int64))
        if left:
            refuted |= self._by_attacker(cell, shown, left)
        if known < shown.kept and len(self.known.cell) < MOST_ENTRIES:
            self.known = together([self.known, shown.proof(known).witnesses])
        open_ = set(shown.unsettled(cells))
        return tuple(sorted(refuted)), tuple(sorted(open_ - refuted))

    def _quickly(self, without: Mask, shown: Evidence, cells: Ints) -> tuple[set[int], list[int]]:
        """What propagation refutes, and what neither that nor cheap proofs settle."""
        if not len(cells):
            return set(), []
        refuted = set(cells[short_by_propagation(self.table, without, shown.rule)[cells]].tolist())
        asked = np.array([c for c in cells.tolist() if c not in refuted], np.int64)
        cheap_proofs(self.table, without, shown, asked, self.context.clock.expired)
        left = shown.unsettled(asked)
        if two_way_table(self.table) is not None:
            return refuted | set(left), []  # in a plane flows have decided: what is open is unsafe
        return refuted, left

    def _by_attacker(self, cell: int, shown: Evidence, left: list[int]) -> set[int]:
        """What the attacker's program refutes, with `cell` known to him."""
        if self._attacker is None:
            self._attacker = Attacker(self.table, self.suppressed, expired=self.context.clock.expired)
        published = np.array([cell])
        self._attacker.publish(published)
        try:
            return ask_all(self._attacker, shown, self.context, left)
        finally:
            self._attacker.hide(published)

    def _known_without(self, cell: int) -> Witnesses:
        """The known changes that do not move a cell."""
        known = self.known
        moves = np.repeat(np.arange(len(known)), np.diff(known.start))[known.cell == cell]
        return known.subset(np.setdiff1d(np.arange(len(known)), moves))
