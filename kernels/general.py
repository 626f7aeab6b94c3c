"""Evolution's operations on general tables, on the CPU: individuals are certificates, one per requirement."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import get_num_threads, get_thread_id, prange
from numpy.typing import ArrayLike

from .layout import (
    AxisGrid,
    Bits,
    Bools,
    EquationLines,
    Int32,
    Int64,
    Options,
    Patterns,
    Requirements,
    owned,
    pack,
    unpack,
)
from .logic.box_decode import certified, clean, decode, load, set_prices, store, write
from .logic.combinations import scaled_fits
from .logic.compile import device, inner, parallel, whole
from .logic.general_records import BARRED, FORCED, FREE, NOTES, Bytes, GeneralTable, Genes, State
from .logic.ruin import ruin

DECODE, CLEAN, PROVE, RUIN = range(4)
"""The kinds of work of `run`."""

LARGEST_PRICE = 2**40
"""Prices above this are taken for this: sums of them stay far from overflow."""

ENTRIES_PER_REQUIREMENT, LEAST_ENTRIES = 64, 4096
"""Cells of all certificates of an individual that are stored."""

SPARE = 4
"""A pattern at work has so many times the room of a stored one, so that it is swept seldom."""


@inner
def of_thread(states: State, k: int) -> State:
    """The working memory of one thread."""
    return State(
        states.hidden[k], states.price[k], states.cost[k], states.moved[k], states.seen[k], states.touched[k],
        states.proof[k], states.begin[k], states.uses[k], states.missing[k], states.weak[k], states.cell[k],
        states.amount[k], states.owner[k], states.next[k], states.head[k], states.note[k], states.order[k],
        states.key[k], states.log[k], states.toggled[k], states.option[k], states.edge[k], states.place[k],
        states.move[k], states.level[k],
    )  # fmt: skip


class Jobs(NamedTuple):
    """What is asked of a batch: parents uint64[P, W], three numbers of each individual, prices int64[S, n].

    `told` uint64[P, 3] are its seed, its plan (the order's style for decoding, the strength for destroying) and which
    of the prices are its own.
    """

    first: Bits
    second: Bits
    told: Bits
    prices: Int64


@inner
def one(table: GeneralTable, state: State, patterns: Bits, genes: Genes, jobs: Jobs, work: int, p: int) -> bool:
    """Do what is asked with one individual of patterns uint64[P, W]; whether its pattern is proven."""
    seed, plan, snapshot = jobs.told[p, 0], whole(jobs.told[p, 1]), whole(jobs.told[p, 2])
    set_prices(table, state, jobs.prices[snapshot], jobs.first[p], jobs.second[p], seed)
    load(table, state, patterns[p], genes, p)
    if work == RUIN:
        ruin(table, state, seed, plan)
        write(state, patterns[p])
        return False
    if work == DECODE:
        complete = decode(table, state, plan, seed)
        return store(state, patterns[p], genes, p) and complete
    if not certified(table, state):
        return False
    if work == CLEAN:
        clean(table, state)
    return store(state, patterns[p], genes, p)


@device
def one_at(
    table: GeneralTable, states: State, patterns: Bits, genes: Genes, jobs: Jobs, work: int, worker: int, p: int
) -> bool:
    """As `one`, with the working memory of a worker: the way in for a device."""
    return one(table, of_thread(states, whole(worker)), patterns, genes, jobs, whole(work), whole(p))


@parallel
def run(table: GeneralTable, states: State, patterns: Bits, genes: Genes, jobs: Jobs, work: int) -> Bools:
    """All individuals of a batch; one launcher for all work, since compiling the logic into each takes long."""
    done = np.zeros(len(patterns), np.bool_)
    for p in prange(len(patterns)):
        done[p] = one(table, of_thread(states, get_thread_id()), patterns, genes, jobs, work, p)
    return done


@device
def tested(
    lines: tuple[Int64, Int32, Int64], up: Int64, down: Int64, start: Int64, cell: Int32, amount: Int64
) -> Bools:
    """Which vectors change no equation and move each of their cells once."""
    line_start, line, coef = lines
    held = np.ones(len(start) - 1, np.bool_)
    balance = np.zeros(int(line.max()) + 1 if len(line) else 1, np.int64)
    last = np.full(len(up), -1, np.int64)
    for k in range(len(start) - 1):
        for e in range(start[k], start[k + 1]):
            c = cell[e]
            held[k] &= last[c] != k and amount[e] != 0 and (up[c] if amount[e] > 0 else down[c]) > 0
            last[c] = k
            for q in range(line_start[c], line_start[c + 1]):
                balance[line[q]] += coef[q] * amount[e]
        for e in range(start[k], start[k + 1]):
            for q in range(line_start[cell[e]], line_start[cell[e] + 1]):
                held[k] &= balance[line[q]] == 0
                balance[line[q]] = 0
    return held


@device
def proven_by(table: GeneralTable, start: Int64, cell: Int32, amount: Int64) -> tuple[Int32, Int32]:
    """Pairs of a requirement and a vector that proves it."""
    requirement, circuit = np.empty(2 * len(cell), np.int32), np.empty(2 * len(cell), np.int32)
    count = 0
    for k in range(len(start) - 1):
        for e in range(start[k], start[k + 1]):
            for way in range(2):
                asked = table.asked[cell[e], way]
                if asked < 0:
                    continue
                turn = 1 if (amount[e] > 0) == (table.direction[asked] > 0) else -1
                fits = True
                for x in range(start[k], start[k + 1]):
                    fits &= scaled_fits(table, whole(cell[x]), turn * amount[x], abs(amount[e]), table.need[asked])
                if fits:
                    requirement[count], circuit[count] = asked, k
                    count += 1
    return requirement[:count].copy(), circuit[:count].copy()


class GeneralCpu:
    """The operations on one table; patterns are bool[P, n], and `Genes` hold what proves them.

    Cells are numbered as the grid's places (see `layout.AxisGrid`), or as the caller likes where there is no grid: then
    there are no boxes, and only pooled circuits serve. Every result is a pure function of the arguments and of the
    circuits added so far, on any number of threads.
    """

    def __init__(
        self, grid: AxisGrid | None, up: ArrayLike, down: ArrayLike, requirements: Requirements, weights: ArrayLike,
        forced: ArrayLike, candidate: ArrayLike, lines: EquationLines,
    ) -> None:  # fmt: skip
        self.forced, self.requirements, self.lines = owned(forced, np.bool_), requirements, lines
        self.cells = len(self.forced)
        if not self.forced[requirements.cell].all():
            raise ValueError("the cells of all requirements must be among the forced ones")
        axes = AxisGrid.of([_no_options(self.cells)]) if grid is None else grid
        weight = owned(weights, np.int64)
        kind = np.where(self.forced, FORCED, np.where(owned(candidate, np.bool_), FREE, BARRED))
        loose = np.where(kind == FREE, weight, 0)
        heaviest = np.argsort(-weight, kind="stable")
        asked = np.full((self.cells, 2), -1, np.int32)
        asked[requirements.cell, (requirements.direction < 0).astype(np.int64)] = np.arange(len(requirements))
        none = np.zeros(0, np.int64)
        self.table = GeneralTable(
            *axes.arrays, owned(up, np.int64), owned(down, np.int64), owned(loose, np.int64), owned(kind, np.uint8),
            owned(heaviest[kind[heaviest] == FREE], np.int32), requirements.cell, requirements.direction,
            requirements.need, owned(weight[requirements.cell], np.int64), asked,
            np.zeros(len(requirements) + 1, np.int64), owned(none, np.int32),
            np.zeros(1, np.int64), owned(none, np.int32), none, np.zeros(1, np.uint8),
        )  # fmt: skip
        self.weight, self.room = weight, axes.room()
        self._states: State | None = None
        self.longest = 0
        self.set_prices(weight)

    # --- individuals -----------------------------------------------------------------------------------

    def no_genes(self, count: int) -> Genes:
        """Room for the certificates of `count` individuals, all of them open."""
        requirements, entries = len(self.requirements), self.entries
        return Genes(
            np.full((count, requirements), -1, np.int32), np.zeros((count, requirements + 2), np.int32),
            np.zeros((count, entries), np.int32), np.zeros((count, entries), np.int64), np.zeros(count, np.int32),
        )  # fmt: skip

    def certificate(self, genes: Genes, individual: int, requirement: int) -> tuple[Int32, Int64] | None:
        """Cells and amounts of what proves a requirement; scaled (or reversed) to its need they fit all rooms."""
        number = int(genes.proof[individual, requirement])
        if number < 0:
            return None
        span = slice(*genes.begin[individual, number : number + 2].tolist())
        return genes.cell[individual, span].copy(), genes.amount[individual, span].copy()

    def add_circuits(self, start: ArrayLike, cells: ArrayLike, amounts: ArrayLike) -> int:
        """Take circuits found elsewhere into the pool, for every requirement that they prove; returns how many.

        Circuit k moves `cells[e]` by `amounts[e]`, up to a factor, for e in start[k]..start[k+1]. What changes an
        equation, moves a barred cell or proves nothing is left out.
        """
        begin, cell, amount = owned(start, np.int64), owned(cells, np.int32), owned(amounts, np.int64)
        requirement, circuit = self._proven(begin, cell, amount)
        keep = np.bincount(circuit, minlength=len(begin) - 1) > 0
        self._extend(begin, cell, amount, keep, (requirement, circuit))
        return int(keep.sum())

    def genes_of(self, start: ArrayLike, cells: ArrayLike, amounts: ArrayLike) -> Genes:
        """The certificates of one individual from circuits as `add_circuits` takes them, as many as there is room for.

        Of the circuits that prove a requirement the shortest is taken.
        """
        begin, cell, amount = owned(start, np.int64), owned(cells, np.int32), owned(amounts, np.int64)
        requirement, circuit = self._proven(begin, cell, amount)
        length, genes = np.diff(begin), self.no_genes(1)
        order = np.lexsort((circuit, length[circuit], requirement))
        first = order[np.unique(requirement[order], return_index=True)[1]]
        used = np.unique(circuit[first])
        used = used[np.cumsum(length[used]) <= genes.cell.shape[1]]
        number = np.full(len(begin), -1, np.int32)
        number[used] = np.arange(len(used))
        entry = np.flatnonzero(number[np.repeat(np.arange(len(length)), length)] >= 0)
        genes.proof[0, requirement[first]] = number[circuit[first]]
        genes.begin[0, 1 : len(used) + 1] = np.cumsum(length[used])
        genes.cell[0, : len(entry)], genes.amount[0, : len(entry)] = cell[entry], amount[entry]
        genes.certificates[0] = len(used)
        return genes

    def _proven(self, begin: Int64, cell: Int32, amount: Int64) -> tuple[Int32, Int32]:
        """Pairs of a requirement and a circuit that proves it, of those that may be moved."""
        table, lines = self.table, self.lines
        held = tested((lines.cell_start, lines.line, lines.line_coef), table.up, table.down, begin, cell, amount)
        of = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
        held[of[(table.kind[cell] == BARRED) | (np.abs(amount) >= LARGEST_PRICE)]] = False
        requirement, circuit = proven_by(table, begin, cell, amount)
        return requirement[held[circuit]], circuit[held[circuit]]

    def _extend(self, start: Int64, cell: Int32, amount: Int64, keep: Bools, pairs: tuple[Int32, Int32]) -> None:
        table, before = self.table, len(self.table.pool_start) - 1
        length = np.diff(start)
        entry = np.repeat(keep, length)
        number = before + np.cumsum(keep) - 1
        known = np.repeat(np.arange(len(self.requirements)), np.diff(table.pool_first))
        requirement = np.concatenate([known, pairs[0]])
        circuit = np.concatenate([table.pool_of, number[pairs[1]]])
        order = np.argsort(requirement, kind="stable")
        first = np.zeros(len(self.requirements) + 1, np.int64)
        np.cumsum(np.bincount(requirement, minlength=len(self.requirements)), out=first[1:])
        ends = table.pool_start[-1] + np.cumsum(length[keep])
        self.table = table._replace(
            pool_first=first,
            pool_of=owned(circuit[order], np.int32),
            pool_start=owned(np.concatenate([table.pool_start, ends]), np.int64),
            pool_cell=owned(np.concatenate([table.pool_cell, cell[entry]]), np.int32),
            pool_amount=owned(np.concatenate([table.pool_amount, amount[entry]]), np.int64),
        )
        longest = int(length[keep].max(initial=0))
        if longest > self.longest:
            self.longest, self._states = longest, None

    # --- operations ------------------------------------------------------------------------------------

    def set_prices(self, prices: ArrayLike) -> None:
        """Decoding prices int64[S, n] of S snapshots, or int64[n] of one; the weights, if none are set."""
        self.prices: Int64 = owned(np.clip(np.atleast_2d(np.asarray(prices)), 0, LARGEST_PRICE), np.int64)

    def decode(
        self, start: Bools, first: Bools, second: Bools, seeds: ArrayLike, style: ArrayLike, snapshot: ArrayLike,
        genes: Genes | None = None,
    ) -> tuple[Bools, Genes, Bools]:  # fmt: skip
        """Complete patterns that begin as `start`: patterns, genes, and whether every requirement is proven.

        Cells cost their price in snapshot[p] blurred by up to 0.3, 0.3 of it in one of `first` and `second`, 0.02 in
        both, nothing when suppressed. `style`: 0 a random order, 1 largest need first, 2 heaviest cell first.
        Certificates of `genes` that stand in `start` are kept.
        """
        patterns, kept = _bits(start), _copied(genes) if genes is not None else self.no_genes(len(start))
        jobs = Jobs(_bits(first), _bits(second), told(len(start), seeds, style, snapshot), self.prices)
        done = self._run(DECODE, patterns, kept, jobs)
        return self._flags(patterns), kept, done

    def clean(self, patterns: Bools, genes: Genes) -> tuple[Bools, Genes]:
        """The patterns without what is redundant, heaviest first; one without certificates stays as it is."""
        cleaned, kept = _bits(patterns), _copied(genes)
        self._run(CLEAN, cleaned, kept, self._without_prices(cleaned))
        return self._flags(cleaned), kept

    def prove(self, patterns: Bools, genes: Genes) -> Bools:
        """Whether every requirement has a certificate inside the pattern; those that are found are written to `genes`.

        False says "none found", not "unsafe".
        """
        proven = _bits(patterns)
        return self._run(PROVE, proven, genes, self._without_prices(proven))

    def destroy(self, patterns: Bools, genes: Genes, seeds: ArrayLike, strength: ArrayLike) -> Bools:
        """The patterns with up to `strength` cells published, which certificates have in common."""
        ruined = _bits(patterns)
        self._run(RUIN, ruined, genes, self._without_prices(ruined, seeds, strength))
        return self._flags(ruined)

    def _without_prices(self, patterns: Bits, seeds: ArrayLike = 0, plan: ArrayLike = 0) -> Jobs:
        """What is asked where only suppressed cells serve, which cost nothing: any parents and prices will do."""
        return Jobs(patterns, patterns, told(len(patterns), seeds, plan), self.prices)

    def _flags(self, bits: Bits) -> Bools:
        return unpack(Patterns(bits[:, None], self.cells))

    def _run(self, work: int, patterns: Bits, genes: Genes, jobs: Jobs) -> Bools:
        done: Bools = run(self.table, self._workspace(), patterns, genes, jobs, work)
        return done

    def costs(self, patterns: Bools) -> Int64:
        """What the secondary suppressions of each pattern cost (int64[P])."""
        found: Int64 = np.asarray(patterns, np.bool_) @ self.table.weight
        return found

    # --- working memory --------------------------------------------------------------------------------

    @property
    def entries(self) -> int:
        """Cells of all certificates of an individual that are stored."""
        return ENTRIES_PER_REQUIREMENT * len(self.requirements) + LEAST_ENTRIES

    def _workspace(self) -> State:
        """Working memory for every thread, made once."""
        if self._states is None or len(self._states.note) < get_num_threads():
            self._states = states_of(self, get_num_threads())
        return self._states


def states_of(engine: GeneralCpu, workers: int) -> State:
    """Working memory of so many workers, as long as no longer circuit is added."""
    cells, requirements, room = engine.cells, len(engine.requirements), engine.room
    entries, most, log = (
        SPARE * engine.entries + 2 * engine.longest,
        SPARE * requirements + 64,
        8 * requirements + 1024,
    )

    def bytes_(size: int) -> Bytes:
        return np.zeros((workers, size), np.uint8)

    def ints(*shape: int) -> Int32:
        return np.zeros((workers, *shape), np.int32)

    def longs(*shape: int) -> Int64:
        return np.zeros((workers, *shape), np.int64)

    return State(
        hidden=bytes_(cells), price=longs(cells), cost=longs(cells), moved=longs(cells), seen=bytes_(cells),
        touched=ints(cells + room.box), proof=ints(requirements), begin=ints(most + 2),
        uses=ints(most + 1), missing=ints(most + 1), weak=ints(most + 1), cell=ints(entries), amount=longs(entries),
        owner=ints(entries), next=ints(entries), head=ints(cells), note=longs(NOTES), order=ints(requirements),
        key=longs(requirements), log=ints(2, log), toggled=ints(2 * cells + 1024),
        option=ints(room.options + 1), edge=longs(3, room.options + 1), place=ints(room.box),
        move=np.zeros((workers, room.box), np.int8), level=longs(7, len(engine.table.size) + 1),
    )  # fmt: skip


def _no_options(cells: int) -> Options:
    """One axis along which nothing moves."""
    return Options(
        cells, -1, np.zeros(cells + 1, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int8)
    )


def _bits(patterns: Bools) -> Bits:
    """A packed copy of patterns that kernels write to, uint64[P, W]."""
    packed: Bits = pack(patterns).bits[:, 0]
    return packed


def told(count: int, seeds: ArrayLike = 0, plan: ArrayLike = 0, snapshot: ArrayLike = 0) -> Bits:
    """The numbers of every individual of a batch, see `Jobs`."""
    found = np.empty((count, 3), np.uint64)
    for column, numbers in enumerate((seeds, plan, snapshot)):
        found[:, column] = numbers
    return found


def _copied(genes: Genes) -> Genes:
    """Certificates that may be written to; room that is not used is not touched, since there is much of it."""
    cell, amount = np.zeros(genes.cell.shape, np.int32), np.zeros(genes.amount.shape, np.int64)
    used = genes.begin[np.arange(len(cell)), genes.certificates]
    for p, entries in enumerate(used.tolist()):
        cell[p, :entries], amount[p, :entries] = genes.cell[p, :entries], genes.amount[p, :entries]
    return Genes(genes.proof.copy(), genes.begin.copy(), cell, amount, genes.certificates.copy())
