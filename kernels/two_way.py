"""Whole generations of patterns of a two-way table: decode, clean up, destroy, judge and price, one call for all.

Every result is a pure function of the arguments, in integers: the same on any number of threads and any back end.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from .layout import (
    Bits,
    Bools,
    Capacities,
    FlowRequirements,
    Int32,
    Int64,
    Patterns,
    Requirements,
    owned,
    pack,
    words_for,
)
from .logic.clean import clean_pattern
from .logic.compile import device, whole
from .logic.decode import decode_child
from .logic.decoding_price import BLUR, BY_CAPACITY, BY_NEED, BY_WEIGHT, LARGEST_PRICE, SINGLE
from .logic.destroy import destroy_pattern
from .logic.judge import begin_judging, is_safe
from .logic.records import (
    Child,
    Children,
    Flood,
    Inherited,
    Lists,
    Needs,
    Net,
    PatternWitnesses,
    Prices,
    Scratch,
    Search,
    Supports,
    TableRecord,
    Wing,
)
from .logic.supports import LONGEST_SUPPORT, SUPPORTS
from .logic.witnesses import LONGEST_FLOW
from .logic.workers import cost_at

__all__ = ["BLUR", "BY_CAPACITY", "BY_NEED", "BY_WEIGHT", "SINGLE", "TwoWayCpu"]

Seeds = NDArray[np.uint64]

PARTS_PER_THREAD = 8

LARGEST_COST = 1 << 62
"""All weights add up to less. Those above 2**52 are blurred modulo 2**64, so that clean-up takes them in any order."""


def ground_of(plane: Capacities, weights: Int64, forced: Bools, candidate: Bools) -> TableRecord:
    """The table as the logic sees it."""
    cost = owned(weights, np.int64).ravel()
    if int(cost.min(initial=0)) < 0 or float(cost.sum(dtype=np.float64)) >= LARGEST_COST:
        raise ValueError(f"weights must not be negative and add up to less than {LARGEST_COST}")
    return TableRecord(
        plane.rows,
        plane.columns,
        owned(np.stack([plane.forward.ravel(), plane.reverse.ravel()], axis=1), np.int64),
        cost,
        owned(np.asarray(candidate, np.bool_).ravel(), np.uint8),
        pack(np.asarray(forced, np.bool_).reshape(1, -1), plane.columns).bits[0],
    )


def needs_of(plane: Capacities, requirements: Requirements) -> Needs:
    """The requirements by rising need."""
    order = np.argsort(requirements.need, kind="stable")
    flow = FlowRequirements.of(plane, requirements.subset(order))
    column = plane.rows + flow.column
    capacity = np.stack([plane.forward.ravel(), plane.reverse.ravel()], axis=1)
    number = np.tile(np.arange(len(order))[::-1], 2)
    node = np.concatenate([flow.row[::-1], column[::-1]])
    end_start = np.zeros(plane.rows + plane.columns + 1, np.int32)
    np.cumsum(np.bincount(node, minlength=plane.rows + plane.columns), out=end_start[1:])
    return Needs(
        owned(requirements.cell[order], np.int32),
        owned(np.where(flow.upward, column, flow.row), np.int32),
        owned(np.where(flow.upward, flow.row, column), np.int32),
        owned(flow.need, np.int64),
        flow.possible,
        owned(np.searchsorted(flow.need, capacity, side="right"), np.int32),
        end_start,
        owned(number[np.argsort(node, kind="stable")], np.int32),
    )


def prices_of(table: TableRecord, prices: Int64, core: Bools) -> Prices:
    """Prices int64[S, n] and the core's half-arcs node by node, each list by rising price."""
    price = owned(prices, np.int64).reshape(-1, table.rows * table.columns)
    if price.size and not 0 <= int(price.min()) <= int(price.max()) <= LARGEST_PRICE:
        raise ValueError(f"prices must lie between 0 and {LARGEST_PRICE}")
    used = np.asarray(core, np.bool_).ravel() & (table.candidate > 0)
    cell = np.flatnonzero(used)
    row, column = cell // table.columns, table.rows + cell % table.columns
    node, across, cell = np.concatenate([row, column]), np.concatenate([column, row]), np.tile(cell, 2)
    start = np.zeros(table.rows + table.columns + 1, np.int32)
    np.cumsum(np.bincount(node, minlength=table.rows + table.columns), out=start[1:])
    core_price, core_across = np.empty((len(price), len(cell)), np.int64), np.empty((len(price), len(cell)), np.int32)
    for s, snapshot in enumerate(price):
        order = np.lexsort((cell, snapshot[cell], node))
        core_price[s], core_across[s] = snapshot[cell[order]], across[order]
    return Prices(price, pack(used[None], table.columns).bits[0], start, core_price, core_across)


def scratch_of(table: TableRecord, needs: Needs) -> Scratch:
    """Scratch of one worker."""
    cells, nodes, asked = table.rows * table.columns, table.rows + table.columns, len(needs.cell)
    words = words_for(asked)

    def room(dtype: Any, *shape: int) -> NDArray[Any]:
        return np.zeros(shape, dtype)

    def wing(side: int) -> Wing:
        return Wing(
            side, room(np.int32, nodes), room(np.int64, nodes), room(np.int32, nodes), room(np.int64, nodes),
            room(np.int32, nodes), room(np.int64, nodes), room(np.int32, nodes), room(np.int64, 1), room(np.int64, 2),
        )  # fmt: skip

    return Scratch(
        Net(
            room(np.int32, nodes), room(np.int32, 2 * cells), room(np.int32, 2 * cells), room(np.int64, 2 * cells),
            room(np.int64, 2 * cells), room(np.int32, cells), room(np.int32, cells), room(np.int64, 1),
        ),
        Search(
            room(np.int32, nodes), room(np.int32, nodes), room(np.int64, nodes), room(np.int32, nodes),
            room(np.int32, nodes), room(np.int64, 2), room(np.int64, 2), room(np.int64, 1),
        ),
        wing(0),
        wing(1),
        Flood(
            room(np.uint64, 2 * cells, words), room(np.uint64, nodes, words), room(np.int32, nodes),
            room(np.uint8, nodes),
        ),
        Inherited(room(np.int32, nodes), room(np.int32, 2 * cells), room(np.int32, 2 * cells), room(np.int64, cells)),
        Lists(room(np.int32, max(cells, asked)), room(np.int64, max(cells, asked))),
        PatternWitnesses(
            room(np.uint8, asked), room(np.uint8, cells), room(np.int32, asked), room(np.int32, asked, LONGEST_FLOW),
            room(np.int64, asked, LONGEST_FLOW), room(np.uint64, cells, words),
        ),
        Supports(
            room(np.int32, asked, SUPPORTS, 1 + LONGEST_SUPPORT), room(np.int32, asked), room(np.int32, asked),
        ),
    )  # fmt: skip


@device
def _decode(
    table: TableRecord,
    needs: Needs,
    prices: Prices,
    scratch: Scratch,
    children: Children,
    safe: Bools,
    begin: int,
    end: int,
) -> None:
    for p in range(begin, end):
        child = Child(
            children.rows[p], children.first[p], children.second[p], children.seed[p],
            whole(children.style[p]), whole(children.snapshot[p]),
        )  # fmt: skip
        safe[p] = decode_child(table, needs, prices, child, scratch)


@device
def _clean(table: TableRecord, needs: Needs, scratch: Scratch, bits: Bits, seeds: Seeds, begin: int, end: int) -> None:
    for p in range(begin, end):
        clean_pattern(table, needs, scratch, bits[p], seeds[p])


@device
def _safe(table: TableRecord, needs: Needs, scratch: Scratch, bits: Bits, safe: Bools, begin: int, end: int) -> None:
    for p in range(begin, end):
        begin_judging(scratch)
        safe[p] = is_safe(table, needs, scratch, bits[p])


@device
def _destroy(
    table: TableRecord, needs: Needs, scratch: Scratch, bits: Bits, seeds: Seeds, strength: Int32, begin: int, end: int
) -> None:
    for p in range(begin, end):
        destroy_pattern(table, needs, scratch, bits[p], seeds[p], whole(strength[p]))


@device
def _costs(table: TableRecord, bits: Bits, costs: Int64) -> None:
    for p in range(bits.shape[0]):
        costs[p] = cost_at(table, bits, p)


class TwoWayCpu:
    """One two-way problem in host memory, on up to `threads` threads (by default all that numba may use).

    `weights` int64[n], `forced` and `candidate` bool[n].  Patterns come and go packed; forced cells are always set.
    """

    def __init__(
        self,
        plane: Capacities,
        requirements: Requirements,
        weights: Int64,
        forced: Bools,
        candidate: Bools,
        threads: int | None = None,
    ) -> None:
        self.table, self.needs = ground_of(plane, weights, forced, candidate), needs_of(plane, requirements)
        self.threads = threads or get_num_threads()
        self.pool = ThreadPoolExecutor(self.threads, "two-way") if self.threads > 1 else None
        self.free: SimpleQueue[Scratch] = SimpleQueue()
        for _ in range(self.threads):
            self.free.put(scratch_of(self.table, self.needs))
        finer = max(0, int(self.table.weights.max(initial=0)).bit_length() - LARGEST_PRICE.bit_length() + 1)
        self.set_prices(self.table.weights[None] >> finer, candidate)

    def set_prices(self, prices: Int64, core: Bools) -> None:
        """Decoding prices int64[S, n] of S snapshots, and the core columns bool[n].

        Candidates outside the core are used only where a requirement cannot be led inside it.
        """
        self.prices = prices_of(self.table, prices, core)

    def decode(
        self, start: Patterns, first: Patterns, second: Patterns, seeds: Seeds, style: Int32, snapshot: Int32
    ) -> tuple[Patterns, Bools]:
        """Children that hold `start[p]` and cover every requirement, led along cheapest paths one by one.

        A published candidate costs its price in snapshot[p], little of it where both parents `first[p]` and
        `second[p]` suppress it, a third where one does.  `style[p]` adds up BLUR (prices up to 30 % dearer at
        random), SINGLE (one wide path first), BY_CAPACITY (narrow cells dearer) and BY_NEED or BY_WEIGHT (the order
        of the requirements, else random).  False where a requirement cannot be covered; that pattern is of no use.
        """
        patterns = self._own(start)
        safe = np.empty(patterns.count, np.bool_)
        children = Children(
            patterns.bits, self._bits(first), self._bits(second), owned(seeds, np.uint64), owned(style, np.int32),
            owned(snapshot, np.int32),
        )  # fmt: skip

        def part(scratch: Scratch, begin: int, end: int) -> None:
            _decode(self.table, self.needs, self.prices, scratch, children, safe, begin, end)

        self._share(part, patterns.count)
        return patterns, safe

    def clean(self, patterns: Patterns, seeds: Seeds) -> Patterns:
        """Without redundant secondary cells: the heaviest goes first (seed 0), or nearly so (weights blurred by 20 %).

        A cell goes only if every requirement that the pattern covers stays covered.
        """
        cleaned = self._own(patterns)
        chosen = owned(seeds, np.uint64)

        def part(scratch: Scratch, begin: int, end: int) -> None:
            _clean(self.table, self.needs, scratch, cleaned.bits, chosen, begin, end)

        self._share(part, cleaned.count)
        return cleaned

    def safe(self, patterns: Patterns) -> Bools:
        """Which patterns cover every requirement, exactly."""
        safe = np.empty(patterns.count, np.bool_)
        bits = self._bits(patterns)

        def part(scratch: Scratch, begin: int, end: int) -> None:
            _safe(self.table, self.needs, scratch, bits, safe, begin, end)

        self._share(part, patterns.count)
        return safe

    def destroy(self, patterns: Patterns, seeds: Seeds, strength: Int32) -> Patterns:
        """Without up to `strength[p]` secondary cells that have something in common, or nothing."""
        left = self._own(patterns)
        chosen, most = owned(seeds, np.uint64), owned(strength, np.int32)

        def part(scratch: Scratch, begin: int, end: int) -> None:
            _destroy(self.table, self.needs, scratch, left.bits, chosen, most, begin, end)

        self._share(part, left.count)
        return left

    def costs(self, patterns: Patterns) -> Int64:
        """The weights of the suppressed cells besides the forced ones, int64[P]."""
        costs = np.empty(patterns.count, np.int64)
        _costs(self.table, self._bits(patterns), costs)
        return costs

    def _bits(self, patterns: Patterns) -> Bits:
        if patterns.columns != self.table.columns or patterns.rows != self.table.rows:
            raise ValueError("patterns must have the rows and columns of the table")
        return owned(patterns.bits, np.uint64)

    def _own(self, patterns: Patterns) -> Patterns:
        """A copy that may be written to, forced cells set."""
        return Patterns(self._bits(patterns) | self.table.forced, self.table.columns)

    def _share(self, part: Callable[[Scratch, int, int], None], count: int) -> None:
        """Do the work of `count` patterns in parts, each with scratch that nobody else uses."""

        def borrow(begin: int, end: int) -> None:
            scratch = self.free.get()
            try:
                part(scratch, begin, end)
            finally:
                self.free.put(scratch)

        if self.pool is None or count < 2:
            borrow(0, count)
            return
        # more parts than threads: some patterns take much longer than others
        edges = np.linspace(0, count, min(count, PARTS_PER_THREAD * self.threads) + 1).astype(int).tolist()
        list(self.pool.map(borrow, edges[:-1], edges[1:]))
