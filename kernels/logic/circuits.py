"""Unions of circuits as words of patterns, and what they cost."""

from __future__ import annotations

import numpy as np

from ..layout import Bits, Int32, Int64
from .bits import ONE, ZERO, lowest, position
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
