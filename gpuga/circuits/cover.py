"""A pattern under construction that carries its own proof: one certified circuit per requirement.

Works on any linear table. Circuits come from boxes where the table has dimensions and from the
incremental attacker's LP everywhere; redundant cells go when everything that depended on them finds
another circuit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.cheapest_change import CheapestChange
from gpuga.circuits.joint_change import JointChange
from gpuga.circuits.neighbourhood import Neighbourhoods
from gpuga.circuits.redundancy import NO_CHANGE, Change, Redundancy
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.problem.mutual_protection import mutual_protection_of
from gpuga.problem.refusal import impossible
from gpuga.problem.singletons import Singletons
from gpuga.safety.attacker import Attacker
from gpuga.safety.boxes import BoxSearch, box_grid
from gpuga.safety.requirements import Requirements
from gpuga.safety.witness import AllowedChanges, hold, reversal, witness_of
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

Circuit = tuple[NDArray[np.int32], Ints, int]  # cells, signed amounts, denominator

MOST_FOR_TABLEAU = 1_200
"""Patterns with more suppressed cells than this are too large for a dense tableau."""

DECIDING = 0.7
"""The share of a limited time in which a tableau decides; its changes are confirmed in the rest."""

MOST_FOR_LP = 4_000
"""Patterns with more suppressed cells than this are cleaned up by boxes alone."""

BOXES_AT_ONCE = 2_000
"""Boxes between two looks at the clock."""

SMALL = 3_000
"""Tables up to this many cells are asked as a whole; larger ones first in neighbourhoods."""

MANY_PIECES = 16
"""Pieces of a need that are small enough for cells that are no totals."""

NEIGHBOURHOODS = ((3, 300, 1), (4, 1_000, 1), (4, 2_000, 1), (4, 2_000, 4), (6, 3_000, 16), (12, 8_000, 16))
"""The neighbourhoods that are tried, one after the other: cells per line, cells in all, and in how many pieces what a
requirement needs may be divided (cells with room for a piece come in)."""

GROUP = 4
"""Requirements in a group: larger ones move so many cells that their exact change is out of reach."""

LP_WORK = 1_000_000_000
"""Questions to the attacker's LP in one clean-up, times the square of the suppressed cells (its cost)."""


MOST_EXCHANGED = 500
"""Cells that are tried to be exchanged for cheaper ones."""


def proof_of(circuits: Iterable[Circuit]) -> Witnesses:
    """Circuits as witnesses, each once; those beyond int64 are left out (the audit finds its own)."""
    distinct = list({id(c): c for c in circuits if c[1].dtype != object and c[2] < 2**60}.values())
    start = np.concatenate([[0], np.cumsum([len(c[0]) for c in distinct])]).astype(np.int64)
    cells = [c[0] for c in distinct] or [np.zeros(0, np.int32)]
    amounts = [c[1] for c in distinct] or [np.zeros(0, np.int64)]
    denominators = np.array([c[2] for c in distinct], np.int64)
    return Witnesses(start, np.concatenate(cells), np.concatenate(amounts), denominators)


class Cover:
    """Which requirements are proven by which circuit, and the pattern that holds all of them."""

    def __init__(
        self, table: Table, requirements: Requirements, context: Context, suppressed: Mask | None = None
    ) -> None:
        self.table, self.requirements, self.context = table, requirements, context
        self.suppressed = (table.forced if suppressed is None else suppressed | table.forced).copy()
        self.circuit: list[Circuit | None] = [None] * len(requirements)
        self.users: dict[int, set[int]] = {}
        grid = box_grid(table, self._leaving)
        self.boxes = None if grid is None else BoxSearch(grid, self.suppressed)
        self.by_capacity = False  # how programs price what they move, see `CheapestChange`
        self._change: CheapestChange | None = None
        self._failed: dict[int, int] = {}
        self._failures = 0

    def open(self) -> list[int]:
        """The requirements without a circuit."""
        return [t for t, circuit in enumerate(self.circuit) if circuit is None]

    def changes(self) -> list[Change]:
        """What the circuit of each requirement moves, in floats."""
        return [NO_CHANGE if c is None else (c[0], (c[1] / c[2]).astype(np.float64)) for c in self.circuit]

    def proof(self) -> Witnesses:
        """The circuits."""
        return proof_of(c for c in self.circuit if c is not None)

    def take_over(self, circuits: Iterable[Circuit | None]) -> None:
        """Give requirements the circuits of another pattern, one for each, as far as they lie in this one."""
        for requirement, circuit in enumerate(circuits):
            if circuit is not None and self.suppressed[circuit[0]].all():
                self._assign(requirement, circuit)

    def presolve(self) -> None:
        """Give requirements the changes of forced cells that meet them, where there are many requirements."""
        mutual = mutual_protection_of(self.table, self.requirements, self.context)
        tables = [mutual.tables.one(w) for w in range(len(mutual.tables))]
        for requirement in np.flatnonzero(mutual.proven_by >= 0).tolist():
            # only forced cells move, so no secondary cell is used
            self.circuit[requirement] = tables[int(mutual.proven_by[requirement])]

    def by_boxes(self, order: Iterable[int]) -> None:
        """Give the open requirements, in order, their cheapest boxes."""
        if self.boxes is None:
            return
        order = np.array([t for t in order if self.circuit[t] is None], np.int64)
        for begin in range(0, len(order), BOXES_AT_ONCE):
            self._leave_in_time()
            part = order[begin : begin + BOXES_AT_ONCE]
            covered, witnesses = self.boxes.protect(self.requirements.subset(part), self._leaving)
            for w, requirement in enumerate(part[covered].tolist()):
                self._assign(requirement, witnesses.one(w))
                self.suppressed[witnesses.one(w)[0]] = True

    def _leaving(self) -> bool:
        """Whether the time is over and there is a safe pattern already."""
        return self.context.first is not None and self.context.clock.expired()

    def _leave_in_time(self) -> None:
        if self._leaving():
            raise OutOfTime("time ran out before the pattern was complete; allow more with --seconds")

    def inside(self, order: Iterable[int]) -> None:
        """Give the open requirements, in order, what the attacker's LP finds inside the pattern."""
        attacker = Attacker(self.table, self.suppressed, self.context.solver, self.context.clock.expired)
        left = [t for t in order if self.circuit[t] is None]
        for proposed in attacker.proposals(
            self.requirements.subset(np.array(left, np.int64)), self.context.clock.left()
        ):
            self._use(proposed, [t for t in left if self.circuit[t] is None])
        for requirement in left:
            if self.context.clock.expired():
                return
            if self.circuit[requirement] is None and (witness := self._within(requirement, attacker)) is not None:
                self._use(witness, [t for t in left if self.circuit[t] is None])

    def by_lp(self, order: Iterable[int]) -> None:
        """Give the open requirements, in order, the cheapest change that an LP finds; each change is tried on all.

        A small table is asked as a whole, one requirement at a time; a large one in the cells' neighbourhoods, then as
        a whole for groups of requirements. When the time is up, boxes take over where there are any.
        """
        left = [t for t in order if self.circuit[t] is None]
        self.context.progress.stage("cheapest changes", len(left))
        if len(self.table) <= SMALL:
            left = self._one_by_one(left, self._cheapest)
        else:
            left = self._one_by_one(left, self._nearby)
            left = self._in_groups(left)
            left = self._one_by_one(left, self._alone)
            left = self._somehow(left)
        if left and self.context.clock.expired():
            self._in_haste(left)
        elif left:
            self._refuse(left)

    def by_group_lp(self, groups: Iterable[list[int]]) -> int:
        """One pair of LPs per group: all rises at once, then all falls; returns how many groups fell short.

        What the goals of a group forbid each other, or what no exact change is named for, is asked one by one.
        """
        short = 0
        for group in groups:
            for direction in (1, -1):
                side = [t for t in group if self.circuit[t] is None and self.requirements.direction[t] == direction]
                if side and not self.context.whole:
                    asked = self.requirements.subset(np.array(side))
                    witness = self._joint.find(asked, self.suppressed, self.context.clock.left())
                    if witness is not None:
                        self._take(witness, side)
            left = [t for t in group if self.circuit[t] is None]
            short += bool(left)
            self.by_lp(left)
        return short

    def _somehow(self, left: list[int]) -> list[int]:
        """Boxes, then any change at all, for what no cheapest change was named for; returns what has none."""
        self.by_boxes(left)
        left = [t for t in left if self.circuit[t] is None]
        if left and not self.context.clock.expired():
            everything = Attacker(self.table, self.table.suppressible, expired=self.context.clock.expired)
            left = self._one_by_one(left, lambda requirement: self._within(requirement, everything))
        return left

    def _in_haste(self, left: list[int]) -> None:
        """Boxes for what is open when the time is up; without them there is no safe pattern yet."""
        self.by_boxes(left)
        if any(self.circuit[t] is None for t in left):
            raise OutOfTime("time ran out before the first safe pattern was found; allow more with --seconds")

    def _one_by_one(self, left: list[int], find: Callable[[int], Witnesses | None]) -> list[int]:
        """Ask for one requirement after the other; returns those that stay open."""
        missed: list[int] = []
        while left:
            if self.context.clock.expired():
                return [t for t in [*missed, *left] if self.circuit[t] is None]
            requirement = left.pop(0)
            if (witness := find(requirement)) is None:
                missed.append(requirement)
                continue
            left = self._take(witness, [requirement, *left])
            if self.circuit[requirement] is None:
                left.remove(requirement)
                missed.append(requirement)
        return [t for t in missed if self.circuit[t] is None]

    def _in_groups(self, left: list[int]) -> list[int]:
        """Ask for groups of requirements at once; those that fall short go to the end of the queue, once."""
        again: set[int] = set()
        missed: list[int] = []
        while left and not self.context.clock.expired() and not self.context.whole:
            group = self._group(left, GROUP)
            witness = self._joint.find(
                self.requirements.subset(np.array(group)), self.suppressed, self.context.clock.left()
            )
            if witness is not None:
                left = self._take(witness, left)
            short = [t for t in group if self.circuit[t] is None]
            missed += [t for t in short if t in again]
            left = [t for t in left if t not in short] + [t for t in short if t not in again]
            again |= set(short)
        return [t for t in dict.fromkeys([*missed, *left]) if self.circuit[t] is None]

    def _group(self, left: list[int], size: int) -> list[int]:
        """The first requirements of different cells."""
        group: dict[int, int] = {}
        for requirement in left:
            group.setdefault(int(self.requirements.cell[requirement]), requirement)
            if len(group) == size:
                break
        return list(group.values())

    def _take(self, witness: Witnesses, left: list[int]) -> list[int]:
        """Suppress what a change moves and give it to all requirements that it proves; returns the others."""
        self._suppress(witness.cell)
        self._use(witness, left)
        still = [t for t in left if self.circuit[t] is None]
        self.context.progress.advance(len(left) - len(still))
        return still

    def by_witnesses(self, witnesses: Witnesses) -> None:
        """Give the open requirements changes that are known to prove them, and suppress what these move, in time."""
        of_cell: dict[int, list[int]] = {}
        for requirement in self.open():
            of_cell.setdefault(int(self.requirements.cell[requirement]), []).append(requirement)
        for w in range(len(witnesses)):
            if self._leaving():
                return
            one = witnesses.subset(np.array([w]))
            asked = (requirement for cell in set(one.cell.tolist()) for requirement in of_cell.get(cell, ()))
            left = sorted(requirement for requirement in asked if self.circuit[requirement] is None)
            if left and self._proven(one, left, self._allowed):
                self._take(one, left)

    def clean_up(self, indispensable: Callable[[Mask], Mask] | None = None) -> int:
        """Publish redundant cells, heaviest first; returns how many.

        What is known to be `indispensable` in a pattern (bool[n]) is not asked about. Boxes decide first, where there
        are any. Then a tableau finds what else is redundant, and its changes are confirmed exactly; where the pattern
        is too large for one, or changes have to be whole, the attacker's LP is asked, as often as the size of the
        pattern allows (fixed numbers, so that a run can be repeated).
        """
        published = 0 if self.boxes is None else self._clean_up_pass(None, 0, indispensable)
        hidden = int(self.suppressed.sum())
        if hidden <= MOST_FOR_TABLEAU and not self.context.whole:
            asked = self.suppressed if indispensable is None else self.suppressed & ~indispensable(self.suppressed)
            return published + self._clean_up_by_tableau(asked & ~self.table.forced)
        questions = LP_WORK // max(hidden, 1) ** 2
        if hidden <= MOST_FOR_LP:
            attacker = Attacker(self.table, self.suppressed, self.context.solver, self.context.clock.expired)
            published += self._clean_up_pass(attacker, questions, indispensable)
        return published

    def exchange(self) -> int:
        """Publish cells, heaviest first, for cheaper ones that protect what depended on them; returns how many.

        A program for one requirement pays by the unit, and likes totals that move a little; a pattern pays for
        all of a cell. Ends after a fixed number of cells, or when the time is up.
        """
        secondary = np.flatnonzero(self.suppressed & ~self.table.forced)
        order = secondary[np.argsort(-self.table.weight[secondary], kind="stable")][:MOST_EXCHANGED].tolist()
        self.context.progress.stage("exchanges", len(order))
        exchanged = 0
        for cell in order:
            if self.context.clock.expired():
                break
            exchanged += bool(self.suppressed[cell]) and self._do_without(cell)
            self.context.progress.advance()
        return exchanged

    def _do_without(self, cell: int) -> bool:
        """Give all that uses a cell the cheapest changes nearby that do not; taken back unless that is cheaper."""
        before, old = self.suppressed.copy(), {t: self.circuit[t] for t in sorted(self.users.get(cell, ()))}
        touched = {cell}.union(*(circuit[0].tolist() for circuit in old.values() if circuit is not None))
        freed = [other for other in sorted(touched) if self.users.get(other, set()) <= old.keys()]
        self._hide(np.array([other for other in freed if not self.table.forced[other]], np.int64), False)
        for requirement in old:
            self._assign(requirement, None)
        if self._protected_without(cell, list(old), self.table.cost(before)):
            return True
        self._hide(np.flatnonzero(self.suppressed & ~before), False)
        self._hide(np.flatnonzero(before & ~self.suppressed), True)
        for requirement, circuit in old.items():
            self._assign(requirement, circuit)
        return False

    def _protected_without(self, cell: int, left: list[int], cost: int) -> bool:
        """Whether open requirements all get changes that do without a cell, at a lower cost in all, in time."""
        while left and self.table.cost(self.suppressed) < cost and not self.context.clock.expired():
            witness = self._nearby(left[0], cell)
            if witness is None:
                return False
            self._suppress(witness.cell)
            self._use(witness, left)
            if self.circuit[left[0]] is None:
                return False
            left = [t for t in left if self.circuit[t] is None]
        return not left and self.table.cost(self.suppressed) < cost

    def _clean_up_by_tableau(self, asked: Mask) -> int:
        """Publish those of the cells `asked` about that a tableau in floats calls redundant.

        What depended on them finds another circuit, exactly. A requirement that finds none gets its old circuit back,
        with all of its cells.
        """
        redundancy = Redundancy(self.table, self.suppressed, self.requirements, self.changes())
        gone = redundancy.found(asked, self.context.clock.part(DECIDING).expired)
        self._hide(gone, False)
        lost = {requirement: circuit for requirement, circuit in enumerate(self.circuit) if circuit is not None}
        lost = {requirement: circuit for requirement, circuit in lost.items() if not self.suppressed[circuit[0]].all()}
        for requirement in lost:
            self._assign(requirement, None)
        allowed = AllowedChanges.of(self.table, self.suppressed)
        for change in redundancy.changes(requirement for requirement in lost if self.circuit[requirement] is None):
            if hold(allowed, change)[0]:
                self._use(change, [requirement for requirement in lost if self.circuit[requirement] is None], allowed)
        self.inside(lost)
        for requirement in [requirement for requirement in lost if self.circuit[requirement] is None]:
            self._hide(np.asarray(lost[requirement][0], np.int64), True)
            self._assign(requirement, lost[requirement])
        return int((~self.suppressed[gone]).sum())

    def _hide(self, cells: Ints, hidden: bool) -> None:
        """Suppress or publish cells."""
        self.suppressed[cells] = hidden
        if self.boxes is not None:
            (self.boxes.suppress if hidden else self.boxes.publish)(cells)

    def _clean_up_pass(
        self, attacker: Attacker | None, questions: int, indispensable: Callable[[Mask], Mask] | None
    ) -> int:
        secondary = np.flatnonzero(self.suppressed & ~self.table.forced)
        order = secondary[np.argsort(-self.table.weight[secondary], kind="stable")].tolist()
        self.context.progress.stage("clean-up", len(order))
        singletons = Singletons(self.table, self.suppressed, self.requirements.cell)
        published, asked = 0, self.suppressed if indispensable is None else ~indispensable(self.suppressed)
        for cell in order:
            if self.context.clock.expired() or (attacker is not None and attacker.solves >= questions):
                break
            fallen = singletons.fall_with(cell) if self.suppressed[cell] and asked[cell] else None
            if fallen is not None and self._publish(fallen, attacker):
                singletons.publish(fallen)
                published += len(fallen)
                asked = self.suppressed if indispensable is None else ~indispensable(self.suppressed)
            self.context.progress.advance()
        return published

    def _publish(self, cells: Ints, attacker: Attacker | None) -> bool:
        """Publish cells if every requirement that uses any of them finds another circuit."""
        using = set().union(*(self.users.get(cell, ()) for cell in cells.tolist()))
        dependants = sorted(using, key=lambda requirement: (-self._failed.get(requirement, 0), requirement))
        self._hide(cells, False)
        if attacker is not None:
            attacker.publish(cells)
        found = self._by_boxes_inside(dependants) if attacker is None else self._by_attacker(dependants, attacker)
        if found is None:
            self._hide(cells, True)
            if attacker is not None:
                attacker.hide(cells)
            return False
        for requirement, circuit in found.items():
            self._assign(requirement, circuit)
        return True

    def _by_boxes_inside(self, dependants: list[int]) -> dict[int, Circuit] | None:
        """A box of suppressed cells for each dependant; None if one has none. The first is asked alone."""
        assert self.boxes is not None, "the caller has looked"
        found: dict[int, Circuit] = {}
        for part in (dependants[:1], dependants[1:]):
            covered, witnesses = self.boxes.certify(self.requirements.subset(np.array(part, np.int64)))
            if not covered.all():
                self._note_failure(part[int(np.argmin(covered))])
                return None
            found |= {requirement: witnesses.one(w) for w, requirement in enumerate(part)}
        return found

    def _by_attacker(self, dependants: list[int], attacker: Attacker) -> dict[int, Circuit] | None:
        """Another circuit for each dependant, by boxes or by the attacker's LP; None if one has none."""
        found: dict[int, Circuit] = {}
        if self.boxes is not None and dependants:
            which = np.array(dependants)
            covered, witnesses = self.boxes.certify(self.requirements.subset(which))
            found = {requirement: witnesses.one(w) for w, requirement in enumerate(which[covered].tolist())}
        for requirement in dependants:
            if requirement in found:
                continue
            witness = self._within(requirement, attacker)
            if witness is None:
                self._note_failure(requirement)
                return None
            found |= self._proven(witness, [t for t in dependants if t not in found], attacker.allowed)
        return found

    def _note_failure(self, requirement: int) -> None:
        """What failed last is asked first the next time: it fails again most often."""
        self._failures += 1
        self._failed[requirement] = self._failures

    def _within(self, requirement: int, attacker: Attacker) -> Witnesses | None:
        """A witness of a requirement inside the attacker's pattern, or None."""
        need = int(self.requirements.need[requirement])
        cell, direction = int(self.requirements.cell[requirement]), int(self.requirements.direction[requirement])
        left = self.context.clock.left()
        reach = attacker.reach(cell, direction, need, left, or_nothing=True, witness_only=True)
        if reach.attained >= need and not self._counts(reach.witness):
            reach = attacker.whole_reach(cell, direction, need, reach, left)
        return reach.witness if reach.attained >= need else None

    def _counts(self, witness: Witnesses | None) -> bool:
        """Whether a witness proves anything to this attacker: to one who knows whole numbers, only a whole one."""
        return witness is not None and not (self.context.whole and int(witness.denominator[0]) != 1)

    def _nearby(self, requirement: int, without: int = -1) -> Witnesses | None:
        """The cheapest change in the neighbourhood of a requirement's cell, in wider ones where there is none.

        One cell may be ruled out (`without`).

        One that carries the need in one piece may do so over totals, which are dear: the cheaper of it and of what a
        neighbourhood for many pieces offers is taken.
        """
        found: list[tuple[int, Witnesses]] = []
        for hood in NEIGHBOURHOODS:
            if self.context.clock.expired():
                break
            if (found and hood[2] < MANY_PIECES) or (witness := self._in_hood(requirement, hood, without)) is None:
                continue
            price = int(self.table.weight[witness.cell[~self.suppressed[witness.cell]]].sum())
            found.append((price, witness))
            if not price or hood[2] >= MANY_PIECES:
                break
        return min(found, key=lambda one: one[0])[1] if found else None

    def _in_hood(self, requirement: int, hood: tuple[int, int, int], without: int) -> Witnesses | None:
        """The cheapest change in a neighbourhood: cells per line, cells in all, pieces of the need."""
        per_line, most, pieces = hood
        cell, _, need = self._question(requirement)
        near = self._near.around(cell, -(-need // pieces), self.suppressed, per_line, most)
        near = near[near != without]
        return self._find(self._program(near), requirement)

    def _program(self, within: Ints | None = None) -> CheapestChange:
        """The program for changes of the whole table, or within some of its cells."""
        return CheapestChange(
            self.table,
            self.suppressed,
            self.context.solver,
            within=within,
            allowed=self._allowed,
            by_capacity=self.by_capacity,
        )

    def _find(self, change: CheapestChange, requirement: int) -> Witnesses | None:
        """The cheapest change by a program for a requirement, in whole numbers where the attacker knows of those."""
        witness = change.find(*self._question(requirement), self.context.clock.left())
        if witness is None or self._counts(witness):
            return witness
        return change.find_whole(*self._question(requirement), self.context.clock.left())

    def _alone(self, requirement: int) -> Witnesses | None:
        """The cheapest change of the whole table for one requirement."""
        clock = self.context.clock
        witness = self._joint.find(self.requirements.subset(np.array([requirement])), self.suppressed, clock.left())
        return witness if self._counts(witness) else None

    def _cheapest(self, requirement: int) -> Witnesses | None:
        """The cheapest change that proves a requirement, from one model of the whole table."""
        if self._change is None:
            self._change = self._program()
        witness = self._find(self._change, requirement)
        if witness is None:
            # the solver named no exact change: any change at all, with everything hidden that may be
            expired = self.context.clock.expired
            witness = self._within(requirement, Attacker(self.table, self.table.suppressible, expired=expired))
        return witness

    def _question(self, requirement: int) -> tuple[int, int, int]:
        return (
            int(self.requirements.cell[requirement]),
            int(self.requirements.direction[requirement]),
            int(self.requirements.need[requirement]),
        )

    @cached_property
    def _joint(self) -> JointChange:
        return JointChange(self.table, self._allowed, self.context.solver)

    @cached_property
    def _near(self) -> Neighbourhoods:
        return Neighbourhoods(self.table)

    @cached_property
    def _allowed(self) -> AllowedChanges:
        return AllowedChanges.of(self.table, self.table.suppressible)

    def _suppress(self, cells: NDArray[np.int32]) -> None:
        new = cells[~self.suppressed[cells]]
        self.suppressed[new] = True
        if self.boxes is not None:
            self.boxes.suppress(new)
        if self._change is not None:
            self._change.suppress(new)

    def _use(self, witness: Witnesses, requirements: list[int], allowed: AllowedChanges | None = None) -> None:
        for requirement, circuit in self._proven(witness, requirements, allowed or self._allowed).items():
            self._assign(requirement, circuit)

    def _proven(self, witness: Witnesses, requirements: list[int], allowed: AllowedChanges) -> dict[int, Circuit]:
        """The requirements that a witness, or its reverse as far as it goes, proves."""
        cells, amounts, denominator = witness.one(0)
        amount_of = dict(zip(cells.tolist(), amounts.tolist(), strict=True))
        back = reversal(allowed, witness, 0)
        if self.context.whole:
            back = Fraction(int(back))
        reverse: Circuit | None = None
        proven: dict[int, Circuit] = {}
        for requirement in requirements:
            amount = amount_of.get(int(self.requirements.cell[requirement]), 0) * int(
                self.requirements.direction[requirement]
            )
            need = int(self.requirements.need[requirement])
            if amount >= need * denominator:
                proven[requirement] = (cells, amounts, denominator)
            elif amount < 0 and -amount * back >= need * denominator:
                # the reverse scaled down to what it may be: times back, over the same denominator
                if reverse is None and (scaled := _scaled(witness, -back)) is not None:
                    reverse = scaled
                if reverse is not None:
                    proven[requirement] = reverse
        return proven

    def _assign(self, requirement: int, circuit: Circuit | None) -> None:
        """Store a requirement's circuit, or that it has none; clean-up asks who uses which secondary cell."""
        old = self.circuit[requirement]
        if old is not None:
            for cell in old[0].tolist():
                self.users.get(cell, set()).discard(requirement)
        self.circuit[requirement] = circuit
        forced = self.table.forced
        for cell in [] if circuit is None else circuit[0].tolist():
            if not forced[cell]:
                self.users.setdefault(cell, set()).add(requirement)

    def _refuse(self, requirements: list[int]) -> None:
        """Say which cells cannot be protected, after asking with everything hidden that may be."""
        cells = sorted({int(self.requirements.cell[t]) for t in requirements})
        raise impossible(self.table, cells)


def _scaled(witness: Witnesses, factor: Fraction) -> Circuit | None:
    """A circuit times a rational, None where the numbers grow too large."""
    cells, amounts, denominator = witness.one(0)
    ratio = factor / denominator
    scaled = [int(a) * ratio.numerator for a in amounts.tolist()]
    if max((abs(a) for a in scaled), default=0) >= 2**60:
        return None
    made = witness_of(cells, np.array(scaled, np.int64), ratio.denominator)
    return made.one(0)
