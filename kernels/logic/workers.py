"""The operations of two-way patterns on one pattern of many, in the scratch of one worker of many.

What a device needs beside the logic itself: all scratch lies in a few arrays whose first axis counts the workers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..layout import Bits, Int32, Int64
from .bits import ZERO, lowest, position
from .clean import clean_pattern
from .compile import Integer, device, inner, whole
from .decode import decode_child
from .destroy import destroy_pattern
from .exchange import Chosen, Joins, Labels, apart, digest, exchange
from .judge import is_safe, look_up
from .records import (
    Bytes,
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
from .supports import shift_for

NODES_32, NODES_64, HALVES_32, HALVES_64, CELLS_32, CELLS_64, PAIRS = 15, 7, 4, 2, 3, 2, 8
"""How many vectors of each kind a worker has, see `Room`."""

Words = NDArray[np.uint64]


class Room(NamedTuple):
    """Scratch of all workers: vectors over nodes, half-arcs and cells, pairs of numbers; the rest by its own shape.

    `nodes_32` int32[W, 15, V], `nodes_64` int64[W, 7, V], `halves_32` int32[W, 4, 2 n], `halves_64` int64[W, 2, 2 n],
    `cells_32` int32[W, 3, max(n, T)], `cells_64` int64[W, 2, max(n, T)], `pairs` int64[W, 8, 2]; `support` and `asking`
    int32[W, 2, T] are `Supports`, which outlast a launch.
    """

    nodes_32: Int32
    nodes_64: Int64
    halves_32: Int32
    halves_64: Int64
    cells_32: Int32
    cells_64: Int64
    pairs: Int64
    opened: Bits
    reached: Bits
    leaning: Bits
    queued: Bytes
    state: Bytes
    kept: Bytes
    length: Int32
    arc: Int32
    amount: Int64
    support: Int32
    asking: Int32


class Tables(NamedTuple):
    """What all workers read."""

    table: TableRecord
    needs: Needs
    prices: Prices


class Marks(NamedTuple):
    """Room of all workers for exchanges, int32[W, 2, L] and int64[W, L]; see `Labels`."""

    label: Int32
    gain: Int64


@inner
def _wing(room: Room, k: int, side: int, first: int) -> Wing:
    """One end of a search: vectors from `first` on of the worker's 32-bit ones; of the others those of its side."""
    narrow, long, pairs = room.nodes_32[k], room.nodes_64[k], room.pairs[k]
    return Wing(
        side, narrow[first], long[1 + 3 * side], narrow[first + 1], long[2 + 3 * side], narrow[first + 2],
        long[3 + 3 * side], narrow[first + 3], pairs[4 + 2 * side], pairs[5 + 2 * side],
    )  # fmt: skip


@inner
def scratch_of_worker(room: Room, k: int) -> Scratch:
    """The scratch of worker k."""
    narrow, long, pairs = room.nodes_32[k], room.nodes_64[k], room.pairs[k]
    halves, halves_long = room.halves_32[k], room.halves_64[k]
    cells, cells_long = room.cells_32[k], room.cells_64[k]
    return Scratch(
        Net(narrow[0], halves[0], halves[1], halves_long[0], halves_long[1], cells[0], cells[1], pairs[0]),
        Search(narrow[1], narrow[2], long[0], narrow[3], narrow[4], pairs[1], pairs[2], pairs[3]),
        _wing(room, k, whole(0), whole(5)),
        _wing(room, k, whole(1), whole(9)),
        Flood(room.opened[k], room.reached[k], narrow[13], room.queued[k]),
        Inherited(narrow[14], halves[2], halves[3], cells_long[0]),
        Lists(cells[2], cells_long[1]),
        PatternWitnesses(room.state[k], room.kept[k], room.length[k], room.arc[k], room.amount[k], room.leaning[k]),
        Supports(room.support[k], room.asking[k, 0], room.asking[k, 1]),
    )


@device
def decode_at(tables: Tables, room: Room, children: Children, safe: Bytes, k: int, p: int) -> None:
    """Decode child p, which begins as what its rows hold; worker k does it."""
    child = Child(
        children.rows[p], children.first[p], children.second[p], children.seed[p], whole(children.style[p]),
        whole(children.snapshot[p]),
    )  # fmt: skip
    covered = decode_child(tables.table, tables.needs, tables.prices, child, scratch_of_worker(room, k))
    safe[p] = 1 if covered else 0


@device
def clean_at(tables: Tables, room: Room, bits: Bits, seeds: Words, k: int, p: int) -> None:
    """Publish what is redundant in pattern p; worker k does it."""
    clean_pattern(tables.table, tables.needs, scratch_of_worker(room, k), bits[p], seeds[p])


@device
def look_up_at(tables: Tables, room: Room, bits: Bits, k: int, p: int, t: int) -> None:
    """Look up whether pattern p holds a support of requirement t; a thread of worker k does it."""
    look_up(scratch_of_worker(room, k), bits[p], shift_for(tables.table.columns), t)


@device
def judge_at(tables: Tables, room: Room, bits: Bits, safe: Bytes, k: int, p: int) -> None:
    """Say whether pattern p covers everything, once its supports are looked up; worker k does it."""
    safe[p] = 1 if is_safe(tables.table, tables.needs, scratch_of_worker(room, k), bits[p]) else 0


@device
def destroy_at(tables: Tables, room: Room, bits: Bits, seeds: Words, strength: Int32, k: int, p: int) -> None:
    """Publish some cells of pattern p; worker k does it."""
    scratch = scratch_of_worker(room, k)
    destroy_pattern(tables.table, tables.needs, scratch, bits[p], seeds[p], whole(strength[p]))


@device
def cost_at(table: TableRecord, bits: Bits, p: int) -> Integer:
    """The weights of the suppressed cells of pattern p besides the forced ones."""
    total = whole(0)
    for i in range(bits.shape[1]):
        for w in range(bits.shape[2]):
            word = bits[p, i, w] & ~table.forced[i, w]
            while word != ZERO:
                single = lowest(word)
                word ^= single
                total += table.weights[i * table.columns + w * 64 + position(single)]
    return total


@device
def exchange_at(
    bits: Bits, columns: int, joins: Joins, marks: Marks, chosen: Chosen, children: Bits, k: int, q: int
) -> Integer:
    """Make the child of pair q; what it gains; worker k does it."""
    labels = Labels(marks.label[k, 0], marks.gain[k], marks.label[k, 1])
    first, second = bits[chosen.pairs[q, 0]], bits[chosen.pairs[q, 1]]
    return exchange(first, second, columns, joins, labels, whole(chosen.ways[q]), chosen.seeds[q], children[q])


@device
def digest_at(bits: Bits, p: int) -> np.uint64:
    """A number that tells pattern p from others."""
    return digest(bits[p])


@device
def nearest_at(bits: Bits, others: Bits, p: int) -> Integer:
    """In how many cells pattern p differs from the nearest of the others that is not the same."""
    best = whole(64 * bits.shape[1] * bits.shape[2] + 1)
    for q in range(others.shape[0]):
        distance = apart(bits[p], others[q])
        if 0 < distance < best:
            best = distance
    return best
