"""What two patterns differ in, as connected components, and the child that takes the cheaper side of some of them.

Cells of the difference belong together when they share a line. Lines that join everything with everything (totals of
totals, such as a table's last row and column) are left out by the caller, who lists for each cell the lines that count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..layout import Bits, Int32, Int64
from .bits import ONE, ZERO, lowest, popcount, position
from .compile import Integer, device, inner
from .hashing import mixed

ALL, BEST, SOME = 0, 1, 2
"""Which components a child takes over from its second parent: all that gain, the best one, a random half."""


class Joins(NamedTuple):
    """Cell c lies on the lines `line[start[c]:start[c+1]]` (start int64[n+1]); its component is found at its first one.

    A cell without lines is a component of its own, held at `lines + c` for the c-th of them in `alone` int32[n] (-1: it
    has lines). `weights` int64[n]; `lines` is the number of lines.
    """

    start: Int64
    line: Int32
    alone: Int32
    weights: Int64
    lines: int


class Labels(NamedTuple):
    """Room of one exchange, an entry per line and lone cell: the union-find forest, what components gain, choices."""

    root: Int32
    gain: Int64
    chosen: Int32


class Chosen(NamedTuple):
    """Pairs int32[Q, 2] of parents, which components their children take int32[Q], and coins uint64[Q]."""

    pairs: Int32
    ways: Int32
    seeds: Bits


@inner
def root_of(root: Int32, v: Integer) -> Integer:
    """The representative of v's component; the way there is halved."""
    while root[v] != v:
        root[v] = root[root[v]]
        v = root[v]
    return v


@inner
def home(joins: Joins, lines: Integer, cell: Integer) -> Integer:
    """Where a cell's component is looked up."""
    if joins.alone[cell] >= 0:
        return lines + joins.alone[cell]
    return joins.line[joins.start[cell]]


@inner
def join_cells(first: Bits, second: Bits, columns: Integer, joins: Joins, labels: Labels) -> None:
    """Unite the lines of every cell in which the patterns differ; the smaller line represents a component."""
    for v in range(len(labels.root)):
        labels.root[v] = v
        labels.gain[v] = 0
        labels.chosen[v] = 0
    for i in range(first.shape[0]):
        for w in range(first.shape[1]):
            word = first[i, w] ^ second[i, w]
            while word != ZERO:
                single = lowest(word)
                word ^= single
                cell = i * columns + w * 64 + position(single)
                begin = joins.start[cell]
                for e in range(begin + 1, joins.start[cell + 1]):
                    a, b = root_of(labels.root, joins.line[begin]), root_of(labels.root, joins.line[e])
                    if a < b:
                        labels.root[b] = a
                    else:
                        labels.root[a] = b


@inner
def weigh(first: Bits, second: Bits, columns: Integer, joins: Joins, labels: Labels, lines: Integer) -> None:
    """What the first pattern gains by each component of the second."""
    for i in range(first.shape[0]):
        for w in range(first.shape[1]):
            word = first[i, w] ^ second[i, w]
            while word != ZERO:
                single = lowest(word)
                word ^= single
                cell = i * columns + w * 64 + position(single)
                at = root_of(labels.root, home(joins, lines, cell))
                own = first[i, w] & single != ZERO
                labels.gain[at] += joins.weights[cell] if own else -joins.weights[cell]
                labels.chosen[at] = 1


@inner
def choose(labels: Labels, way: Integer, seed: np.uint64) -> Integer:
    """Mark the components that are taken over; what they gain together. Neutral ones are taken by chance."""
    best, total = -1, 0
    for v in range(len(labels.root)):
        if labels.chosen[v] == 0:
            continue
        gain = labels.gain[v]
        coin = mixed(seed, v) & ONE == ONE
        taken = gain > 0 or (gain == 0 and coin)
        if way == SOME:
            taken = gain >= 0 and coin
        if way == BEST:
            taken = False
            if gain > 0 and (best < 0 or gain > labels.gain[best]):
                best = v
        labels.chosen[v] = 1 if taken else 0
        total += gain if taken else 0
    if way == BEST and best >= 0:
        labels.chosen[best] = 1
        total = labels.gain[best]
    return total


@device
def exchange(
    first: Bits,
    second: Bits,
    columns: Integer,
    joins: Joins,
    labels: Labels,
    way: Integer,
    seed: np.uint64,
    child: Bits,
) -> Integer:
    """Fill `child` with the first pattern and the chosen components of the second; what that gains."""
    lines = joins.lines
    join_cells(first, second, columns, joins, labels)
    weigh(first, second, columns, joins, labels, lines)
    gained = choose(labels, way, seed)
    for i in range(first.shape[0]):
        for w in range(first.shape[1]):
            word, made = first[i, w] ^ second[i, w], first[i, w]
            while word != ZERO:
                single = lowest(word)
                word ^= single
                cell = i * columns + w * 64 + position(single)
                if labels.chosen[root_of(labels.root, home(joins, lines, cell))] != 0:
                    made ^= single
            child[i, w] = made
    return gained


@device
def digest(rows: Bits) -> np.uint64:
    """A number that tells patterns apart, all but surely."""
    found = ZERO
    for i in range(rows.shape[0]):
        for w in range(rows.shape[1]):
            found = mixed(found ^ rows[i, w], w)
    return found


@device
def apart(first: Bits, second: Bits) -> Integer:
    """In how many cells two patterns differ."""
    total = 0
    for i in range(first.shape[0]):
        for w in range(first.shape[1]):
            total += popcount(first[i, w] ^ second[i, w])
    return total
