"""Random numbers from counters: word `index` of stream `stream` under `seed` is the same on every back end."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_FACTORS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))

Words = NDArray[np.uint32]


def philox_blocks(key: int, blocks: NDArray[np.uint64], stream: int) -> Words:
    """uint32[len(blocks), 4]: Philox 4x32-10 of counters (block, stream), both 64 bits wide."""
    counter, which = blocks.astype(np.uint64), np.uint64(stream % 2**64)
    c0, c1 = counter & _LOW, counter >> _HALF
    c2, c3 = np.full_like(c0, which & _LOW), np.full_like(c0, which >> _HALF)
    k0, k1 = np.uint64(key % 2**64) & _LOW, np.uint64(key % 2**64) >> _HALF
    for _ in range(10):
        p0, p1 = _FACTORS[0] * c0, _FACTORS[1] * c2
        c0, c1, c2, c3 = (p1 >> _HALF) ^ c1 ^ k0, p1 & _LOW, (p0 >> _HALF) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _WEYL[0]) & _LOW, (k1 + _WEYL[1]) & _LOW
    return np.stack([c0, c1, c2, c3], axis=-1).astype(np.uint32)


def random_words(seed: int, stream: int, start: int, count: int) -> Words:
    """uint32[count]: words start..start+count-1 of a stream."""
    first, last = start // 4, (start + count + 3) // 4
    words = philox_blocks(seed, np.arange(first, last, dtype=np.uint64), stream).reshape(-1)
    return words[start - first * 4 : start - first * 4 + count]


class Stream:
    """A sequence of random draws that depends on nothing but `seed`, `stream` and what was drawn before.

    `position` is the whole state: saving (seed, stream, position) and giving it back resumes the sequence.
    """

    def __init__(self, seed: int, stream: int = 0, position: int = 0) -> None:
        self.seed, self.stream, self.position = int(seed), int(stream), int(position)

    def words(self, count: int) -> Words:
        """The next `count` 32-bit words."""
        drawn = random_words(self.seed, self.stream, self.position, count)
        self.position += count
        return drawn

    def seeds(self, count: int) -> NDArray[np.uint64]:
        """uint64[count], for work that draws on its own."""
        pair = self.words(2 * count).reshape(count, 2).astype(np.uint64)
        return pair[:, 0] << _HALF | pair[:, 1]

    def spawn(self, key: int) -> Stream:
        """An independent stream named by `key`; the same key gives the same stream, whatever was drawn here."""
        lane = philox_blocks(self.seed, np.array([self.stream], np.uint64), (key + 1) % 2**64)[0]
        return Stream(self.seed, int(lane[0]) | int(lane[1]) << 32)

    def uniform(self, size: int) -> NDArray[np.float64]:
        """float64[size] in [0, 1), 53 random bits each."""
        pair = self.words(2 * size).reshape(size, 2).astype(np.uint64)
        return ((pair[:, 0] >> np.uint64(5)) * 2**26 + (pair[:, 1] >> np.uint64(6))).astype(np.float64) / 2**53

    def integers(self, low: int, high: int, size: int) -> NDArray[np.int64]:
        """int64[size], each of low..high-1; the range must be narrower than 2**32."""
        width = high - low
        if not 0 < width <= 2**32:
            raise ValueError(f"cannot draw integers from {low} to {high - 1}")
        wide = self.words(2 * size).reshape(size, 2).astype(np.uint64)
        # Two words per draw keep the bias of multiply-and-shift below 2**-32 without a rejection loop.
        high_part = wide[:, 0] * np.uint64(width)
        carried = (wide[:, 1] * np.uint64(width)) >> _HALF
        return ((high_part + carried) >> _HALF).astype(np.int64) + low

    def integer(self, low: int, high: int) -> int:
        """One integer of low..high-1."""
        return int(self.integers(low, high, 1)[0])

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A random order of 0..count-1."""
        return self.permutations(1, count).reshape(count)

    def permutations(self, size: int, count: int) -> NDArray[np.int64]:
        """int64[size, count]: as many random orders, those that single calls would draw."""
        return np.argsort(self.seeds(size * count).reshape(size, count), axis=1, kind="stable").astype(np.int64)

    def choice(self, weights: ArrayLike, size: int) -> NDArray[np.int64]:
        """Indices drawn with replacement, proportionally to non-negative `weights`."""
        total = np.cumsum(np.asarray(weights, np.float64))
        if len(total) == 0 or not total[-1] > 0:
            raise ValueError("choice needs weights with a positive sum")
        drawn = np.searchsorted(total, self.uniform(size) * total[-1], side="right")
        return np.asarray(np.minimum(drawn, len(total) - 1), np.int64)
