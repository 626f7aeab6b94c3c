"""Single bits and words of packed patterns."""

from __future__ import annotations

import numpy as np

from ..layout import Bits
from .compile import Integer, Truth, device

ZERO = np.uint64(0)
ONE = np.uint64(1)
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_PAIRS = np.uint64(0x5555555555555555)
_NIBBLES = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_SUM = np.uint64(0x0101010101010101)


@device
def popcount(word: np.uint64) -> Integer:
    """Number of set bits; both compilers recognise the idiom and emit their one instruction."""
    word = word - ((word >> np.uint64(1)) & _PAIRS)
    word = (word & _NIBBLES) + ((word >> np.uint64(2)) & _NIBBLES)
    word = (word + (word >> np.uint64(4))) & _BYTES
    return np.int64((word * _SUM) >> np.uint64(56))


@device
def lowest(word: np.uint64) -> np.uint64:
    """The lowest set bit alone."""
    return word & (~word + ONE)


@device
def position(single: np.uint64) -> Integer:
    """The index of the one set bit of `single`."""
    return popcount(single - ONE)


@device
def bit(rows: Bits, i: int, j: int) -> Truth:
    """Is cell (i, j) suppressed?  `rows` uint64[R, W]."""
    return (rows[i, j >> 6] >> np.uint64(j & 63)) & ONE != ZERO


@device
def flag(row: Bits, cell: int) -> Truth:
    """Is a cell of a pattern in one row, uint64[W], suppressed?"""
    return (row[cell >> 6] >> np.uint64(cell & 63)) & ONE != ZERO


@device
def cell_bit(rows: Bits, columns: int, cell: int) -> Truth:
    """Is the cell with this number suppressed?"""
    i = cell // columns
    return bit(rows, i, cell - i * columns)
