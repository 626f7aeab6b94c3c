"""The records that two-way logic works on: the table, its requirements, prices, and one worker's scratch.

Rows and columns are the nodes of a network: row i is node i, column j is node R + j.  Cell c = i * C + j is an arc
with two sides: side 0 leads from the row to the column, side 1 back.  The suppressed cells of one pattern are arcs
e = 0, 1, ... in the order in which they came in; half-arc 2 e is side 0 of arc e, half-arc 2 e + 1 is side 1, so
that `h ^ 1` is the way back.  All scratch is preallocated: one slice of `Scratch` serves one worker (a thread on the
CPU, a block on a device).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..layout import Bits, Int32, Int64

Bytes = NDArray[np.uint8]
Amounts = NDArray[Any]
"""What flows or may flow: int64 everywhere but in separators, which look at fractional patterns (float64)."""


class Arcs(Protocol):
    """What the network of a pattern is made of: `capacity` int64[n, 2] by cell and side."""

    @property
    def rows(self) -> int:
        """Rows, totals included."""

    @property
    def columns(self) -> int:
        """Columns, totals included."""

    @property
    def capacity(self) -> Int64:
        """How far each cell can carry flow from its row to its column, and back."""


class TableRecord(NamedTuple):
    """The table: `capacity` int64[n, 2] by cell and side, `weights` int64[n], `candidate` uint8[n], `forced` bits."""

    rows: int
    columns: int
    capacity: Int64
    weights: Int64
    candidate: Bytes
    forced: Bits


class Needs(NamedTuple):
    """The requirements by rising need; `passing` int32[n, 2] counts those that each side of a cell is wide enough for.

    The counter-flow of requirement t, `need[t]` units, runs from node `source[t]` to node `sink[t]` without `cell[t]`;
    `possible[t]` 0 says that the cell's own bounds forbid the movement.  The requirements that begin or end at node v
    are `ending[end_start[v]:end_start[v + 1]]`, those of the largest need first.
    """

    cell: Int32
    source: Int32
    sink: Int32
    need: Int64
    possible: Bytes
    passing: Int32
    end_start: Int32
    ending: Int32


class Prices(NamedTuple):
    """Decoding prices int64[S, n], and the core: its bits, and its half-arcs by rising price within a node.

    Entries `start[v]..start[v + 1]` of `core_price` int64[S, H] and `core_across` int32[S, H] are the prices of the
    core cells of node v and the nodes at their other ends.
    """

    price: Int64
    core: Bits
    start: Int32
    core_price: Int64
    core_across: Int32


class Net(NamedTuple):
    """The suppressed cells of one pattern: half-arcs chained from `first[v]` over `following`, -1 at the end.

    `room` is what a flow under construction leaves of `capacity`.  `arc_of[c]` is the arc of cell c, if that arc is
    below `size[0]` and has this cell; else the cell is published.
    """

    first: Int32
    following: Int32
    target: Int32
    capacity: Amounts
    room: Amounts
    cell: Int32
    arc_of: Int32
    size: Int64


class Search(NamedTuple):
    """Room for searches over suppressed cells from both ends: `mark[v]` is the stamp, or minus it, where v was reached.

    `parent[v]` is the half-arc over which the source's end reached v, `onward[v]` the one that leads to the sink's end.
    `side` int64[2] says how many nodes the end had reached that could not go on, `refused` int64[2] what either end
    found too narrow.  A path that is found stands in `parent`; there, -1 - c is a published cell c.
    """

    parent: Int32
    onward: Int32
    mark: Int64
    queue: Int32
    back_queue: Int32
    side: Int64
    refused: Amounts
    stamp: Int64


class Descent(NamedTuple):
    """Distances of nodes to the sink, and the half-arc over which each goes on next, -1 where all were tried."""

    depth: Int32
    trying: Int32


class Touched(NamedTuple):
    """The arcs `arc[:size[0]]` whose room may differ from their capacity; `noted[e]` 1 says that e is among them."""

    arc: Int32
    noted: Bytes
    size: Int64


class Wing(NamedTuple):
    """One end of a search for a cheapest path: `side` 0 begins at the source, 1 at the sink, against the flow.

    `mark[v] == stamp[0]` says that v was reached, `distance[v]` far, the last `step[v]` being a half-arc or -1 - cell.
    `heap` holds the open nodes with their distances in `key`; node v stands at `position[v]`.  `best` int64[2] is the
    length of the best path of both ends together, and where they meet.
    """

    side: int
    step: Int32
    mark: Int64
    queue: Int32
    distance: Int64
    heap: Int32
    key: Int64
    position: Int32
    stamp: Int64
    best: Int64


class Flood(NamedTuple):
    """64 requirements to a word: `opened` uint64[2 A, words] by half-arc, `reached` uint64[V, words] by node."""

    opened: Bits
    reached: Bits
    queue: Int32
    queued: Bytes


class Inherited(NamedTuple):
    """The published core cells of one child's parents with their prices, chained like those of `Net`."""

    first: Int32
    following: Int32
    target: Int32
    price: Int64


class Lists(NamedTuple):
    """Room for orders: `item` and `key`."""

    item: Int32
    key: Int64


class PatternWitnesses(NamedTuple):
    """How the requirements of one pattern are covered, and which arcs have to stay.

    `state` uint8[T]; the flow of requirement t over several paths are the first `length[t]` entries of `arc` and
    `amount` (positive from row to column); `leaning` uint64[A, words] says whose flows use an arc.  `kept` uint8[A].
    """

    state: Bytes
    kept: Bytes
    length: Int32
    arc: Int32
    amount: Int64
    leaning: Bits


class Supports(NamedTuple):
    """Cells over which requirements were covered in earlier patterns, and in which order requirements are asked.

    `place` int32[T, supports, 1 + cells]: how many cells (0: no support), then each as `row << shift | column`; the
    next support of requirement t replaces number `turn[t]`.  `order` is a permutation, or all 0 at the very beginning.
    """

    place: Int32
    turn: Int32
    order: Int32


class Scratch(NamedTuple):
    """All that one worker writes to."""

    net: Net
    search: Search
    ahead: Wing
    back: Wing
    flood: Flood
    inherited: Inherited
    lists: Lists
    witnesses: PatternWitnesses
    supports: Supports


class Child(NamedTuple):
    """One child to decode: its pattern under construction, its parents' patterns, and how it is decoded."""

    rows: Bits
    first: Bits
    second: Bits
    seed: np.uint64
    style: int
    snapshot: int


class Children(NamedTuple):
    """Many children, an entry each; see `Child`."""

    rows: Bits
    first: Bits
    second: Bits
    seed: NDArray[np.uint64]
    style: Int32
    snapshot: Int32


class Job(NamedTuple):
    """What the searches of one child work with."""

    table: TableRecord
    prices: Prices
    child: Child
    inherited: Inherited


class Ask(NamedTuple):
    """A path that is looked for: its ends, what is still needed, how wide it must be, in the core or everywhere."""

    source: int
    sink: int
    need: int
    width: int
    everywhere: bool
