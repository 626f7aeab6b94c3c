"""Records of a general table and of one of its patterns at work, as arrays that compiled logic takes.

A certificate is a circuit, kept as cells and signed amounts that stand for a direction: scaled so that a
requirement's cell moves by its need, all cells must have room. A box, a sum of boxes through one cell (each
carries a part of the need) and a pooled circuit are all kept in this one form, so one certificate serves every
requirement that it proves, in both directions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..layout import Int32, Int64

Bytes = NDArray[np.uint8]
Signs = NDArray[np.int8]

CERTIFICATES, ENTRIES, COST, CHANGES, HIDINGS, TOUCHED, LENGTH, FAILED = 0, 1, 2, 3, 4, 5, 6, 7
NOTES = 8
"""Entries of `State.note`: certificates and entries in use, the cost of the pattern, the lengths of the two logs, cells
of the sum of boxes at hand, cells of the box at hand, and whether a store was too small."""

FREE, FORCED, BARRED = 0, 1, 2
"""What may happen to a cell: it may be suppressed, it always is, it never is."""

MOST_PARTS, FEW_PARTS = 64, 4
"""Boxes in one certificate; the second where certificates are looked for by the thousands."""

MOST_KNOWN = 24
"""Certificates through a cell that are tried for it, before a new one is made."""

LONG = 24
"""Entries from which a certificate is long: a change of one of its cells concerns many others."""

SMALLEST_PART = 64
"""A need is divided into parts of no less than this share of it."""

FINE = 64
"""Prices are so many times weights, so that a share of a small weight is still a number."""

AT_RANDOM, BY_NEED, BY_WEIGHT = 0, 1, 2
"""Orders of requirements."""

LARGEST_KEY = 2**50
WIDEST = 2**31
"""Ratios of larger numbers than this are not formed: their products could overflow."""


class GeneralTable(NamedTuple):
    """What never changes: axes as in `layout.AxisGrid`, cells, requirements and pooled circuits.

    `size_of[t]` is the weight of requirement t's cell, as an order asks for it; `asked[x, d]` the requirement of cell x
    up (d = 0) or down (1), -1: none. The pooled circuits of requirement t are
    `pool_of[pool_first[t]:pool_first[t + 1]]`; circuit k moves `pool_cell[e]` by `pool_amount[e]` for e in
    `pool_start[k]..pool_start[k + 1]`. Once `halt[0]` is set, work ends soon: what is begun stays as it is.
    """

    size: Int64
    stride: Int64
    total: Int64
    base: Int64
    first: Int64
    start: Int64
    code: Int32
    sign: Signs
    up: Int64
    down: Int64
    weight: Int64
    kind: Bytes
    heaviest: Int32
    own: Int32
    direction: Signs
    need: Int64
    size_of: Int64
    asked: Int32
    pool_first: Int64
    pool_of: Int32
    pool_start: Int64
    pool_cell: Int32
    pool_amount: Int64
    halt: Bytes


class State(NamedTuple):
    """One pattern at work; the arrays are a thread's own and are used again for the next one.

    `cost[x]` is what cell x adds to a circuit now: 0 when suppressed, -1 when barred, else its `price`. Certificate c
    has entries `begin[c]..begin[c + 1]`, `uses[c]` requirements lean on it, and `missing[c]` of its cells are
    published; `head[x]` and `next` chain the entries of a cell. `weak[c]` is the entry of a certificate, from its
    first, that had no room when last asked; while the store is swept it is the certificate's new number. `moved` is
    the sum of boxes at hand. `log` has the requirements whose proof changed, and what it was. `option` lists the
    options of the axes for the box that is looked for, with what `edge` says of each (see `box_sums`).
    """

    hidden: Bytes
    price: Int64
    cost: Int64
    moved: Int64
    seen: Bytes
    touched: Int32
    proof: Int32
    begin: Int32
    uses: Int32
    missing: Int32
    weak: Int32
    cell: Int32
    amount: Int64
    owner: Int32
    next: Int32
    head: Int32
    note: Int64
    order: Int32
    key: Int64
    log: Int32
    toggled: Int32
    option: Int32
    edge: Int64
    place: Int32
    move: Signs
    level: Int64


class Genes(NamedTuple):
    """The certificates of many individuals: `proof` int32[P, T] numbers them, entries as in `State`.

    `begin` int32[P, C + 1], `cell` int32[P, A], `amount` int64[P, A], `certificates` int32[P].
    """

    proof: Int32
    begin: Int32
    cell: Int32
    amount: Int64
    certificates: Int32
