"""Philox 4x32-10 (Salmon et al. 2011): a block of four random words is a pure function of counter and key."""

from __future__ import annotations

import numpy as np

from .compile import device

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_FACTOR_0 = np.uint64(0xD2511F53)
_FACTOR_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)


@device
def philox_word(key: np.uint64, index: np.uint64, stream: np.uint64) -> np.uint64:
    """The 32-bit word number `index` of `stream` under `key`.

    Word `index` is lane `index % 4` of the block whose counter is (index // 4, stream), each 64 bits wide.
    """
    block = index >> np.uint64(2)
    c0, c1 = block & _LOW, block >> _HALF
    c2, c3 = stream & _LOW, stream >> _HALF
    k0, k1 = key & _LOW, key >> _HALF
    for _ in range(10):
        p0, p1 = _FACTOR_0 * c0, _FACTOR_1 * c2
        c0, c1, c2, c3 = (p1 >> _HALF) ^ c1 ^ k0, p1 & _LOW, (p0 >> _HALF) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _WEYL_0) & _LOW, (k1 + _WEYL_1) & _LOW
    lane = index & np.uint64(3)
    if lane == np.uint64(0):
        return c0
    if lane == np.uint64(1):
        return c1
    return c2 if lane == np.uint64(2) else c3
