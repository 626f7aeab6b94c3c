"""Random numbers for compiled loops: a small stream of its own, seeded, the same on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import inner

Stream = NDArray[np.uint64]


def new_stream(seed: int) -> Stream:
    """A stream that starts at a state drawn from the seed (uint64[1])."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64).astype(np.uint64)


@inner
def _next(stream: Stream) -> np.uint64:
    """The next 64 bits (splitmix64)."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


@inner
def uniform(stream: Stream) -> float:
    """A number in [0, 1)."""
    return np.float64(_next(stream) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inner
def below(stream: Stream, limit: int) -> int:
    """An integer in 0 .. limit - 1."""
    return int(uniform(stream) * limit)
