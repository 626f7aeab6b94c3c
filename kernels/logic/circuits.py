"""Circuits in patterns: are they whole, what does their union cost, what does exchanging one of them change."""

from __future__ import annotations

import numpy as np

from ..layout import Bits, Int32, Int64
from .bits import ONE, ZERO, cell_bit, lowest, position
from .compile import Integer, device


@device
def used_word(uses: Int32, base: Bits, columns: int, i: int, w: int) -> Integer:
    """Word w of row i of a pattern: what `base` (uint64[R, W]) holds and every cell that some circuit uses."""
    word = base[i, w]
    for j in range(w * 64, min(columns, w * 64 + 64)):
        if uses[i * columns + j] > 0:
            word |= ONE << np.uint64(j - w * 64)
    return word


@device
def word_cost(word: np.uint64, columns: int, i: int, w: int, weights: Int64) -> int:
    """Weight of the cells set in word w of row i."""
    cost = 0
    while word != ZERO:
        single = lowest(word)
        word ^= single
        cost += weights[i * columns + w * 64 + position(single)]
    return cost


@device
def is_whole(rows: Bits, columns: int, start: Int64, cell: Int32, circuit: int) -> bool:
    """Are all cells of the circuit suppressed?  Index -1 means that there is no circuit to rely on."""
    if circuit < 0:
        return False
    missing = 0
    for e in range(start[circuit], start[circuit + 1]):
        if not cell_bit(rows, columns, cell[e]):
            missing += 1
    return missing == 0


@device
def in_circuit(start: Int64, cell: Int32, circuit: int, wanted: int) -> bool:
    """Does the circuit (possibly -1, none) use the cell?"""
    if circuit < 0:
        return False
    seen = False
    for e in range(start[circuit], start[circuit + 1]):
        seen |= cell[e] == wanted
    return seen


@device
def swap_gain(
    start: Int64,
    cell: Int32,
    uses: Int32,
    weights: Int64,
    base: Bits,
    columns: int,
    leaving: int,
    coming: int,
) -> int:
    """Cost change of a pattern (its use counts in `uses`) that gives up one circuit and takes another."""
    change = 0
    if leaving == coming:
        return change
    if leaving >= 0:
        for e in range(start[leaving], start[leaving + 1]):
            c = cell[e]
            if uses[c] == 1 and not cell_bit(base, columns, c) and not in_circuit(start, cell, coming, c):
                change -= weights[c]
    if coming >= 0:
        for e in range(start[coming], start[coming + 1]):
            c = cell[e]
            if uses[c] == 0 and not cell_bit(base, columns, c):
                change += weights[c]
    return change
