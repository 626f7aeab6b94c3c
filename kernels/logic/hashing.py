"""Stateless random numbers: a pure function of a seed and a number, the same on every back end."""

from __future__ import annotations

import numpy as np

from .compile import Integer, bare

_WEYL = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_THIRTY, _TWENTY_SEVEN, _THIRTY_ONE, _HALF = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@bare
def mixed(seed: np.uint64, number: int) -> np.uint64:
    """64 random bits: output `number` of splitmix64 (Steele, Lea, Flood 2014) with this seed."""
    x = seed + (np.uint64(number) + np.uint64(1)) * _WEYL
    x = (x ^ (x >> _THIRTY)) * _FIRST
    x = (x ^ (x >> _TWENTY_SEVEN)) * _SECOND
    return x ^ (x >> _THIRTY_ONE)


@bare
def below(seed: np.uint64, number: int, limit: int) -> Integer:
    """A random integer in 0..limit-1; `limit` must be below 2**31."""
    return np.int64(((mixed(seed, number) >> _HALF) * np.uint64(limit)) >> _HALF)


@bare
def small_share(seed: np.uint64, number: int) -> Integer:
    """A random number of 0..1022, mostly small: the square of a uniform one."""
    uniform = np.int64(mixed(seed, number) >> np.uint64(54))
    return (uniform * uniform) >> 10
