"""One check per operation of a generation: a device must say exactly what the CPU says, bit for bit.

The same checks run in numba's simulator, on emitted PTX and, where there is one, on a real device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels.crossing import Crossing
from gpuga.kernels.cuda_machine import Machine
from gpuga.kernels.layout import Patterns, pack, plane_lines, unpack
from gpuga.kernels.two_way import TwoWayCpu
from gpuga.kernels.two_way_cuda import TwoWayCuda

from .planes import seeds, styles, wide_plane

REQUIREMENTS = (1, 63, 64, 65, 130)


@dataclass(frozen=True)
class Pair:
    """The same table on the CPU and on a device, with patterns and a source of draws."""

    host: TwoWayCpu
    crossing: Crossing
    device: TwoWayCuda
    patterns: Patterns
    rng: np.random.Generator

    @property
    def count(self) -> int:
        return self.patterns.count

    def shuffled(self) -> Patterns:
        return self.patterns.take(self.rng.permutation(self.count))


def make_pair(machine: Machine, requirements: int, seed: int, count: int = 5) -> Pair:
    """A random table with so many requirements and some random patterns of it, prices and a core."""
    rng = np.random.default_rng([seed, requirements])
    case = wide_plane(rng, requirements)
    candidate = ~case.primary & (rng.random(case.plane.cells) < 0.9)
    host = TwoWayCpu(case.plane, case.tasks, case.weights, case.primary, candidate, 1)
    rows, columns = case.plane.rows, case.columns
    hubs = np.zeros(rows + columns, bool)
    hubs[[rows - 1, rows + columns - 1]] = True
    crossing = Crossing(plane_lines(rows, columns), case.weights, hubs)
    device = TwoWayCuda(host, crossing, machine)
    device.set_prices(rng.integers(0, 1000, (2, case.plane.cells)), candidate & (rng.random(case.plane.cells) < 0.7))
    return Pair(host, crossing, device, pack(case.patterns[:count], columns), rng)


def same_bits(found: Patterns, expected: Patterns) -> None:
    np.testing.assert_array_equal(found.unpacked(), unpack(expected))


def same(found: NDArray[np.generic], expected: NDArray[np.generic]) -> None:
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def check_decode(pair: Pair) -> None:
    thinned = unpack(pair.patterns) & (pair.rng.random((pair.count, pair.patterns.cells)) < 0.3)
    given = (
        pack(thinned, pair.patterns.columns), pair.patterns, pair.shuffled(), seeds(pair.rng, pair.count),
        styles(pair.rng, pair.count), pair.rng.integers(0, 2, pair.count).astype(np.int32),
    )  # fmt: skip
    (found, safe), (expected, wanted) = pair.device.decode(*given), pair.host.decode(*given)
    same(safe, wanted)
    same_bits(found, expected)


def check_clean(pair: Pair) -> None:
    chosen = seeds(pair.rng, pair.count)
    chosen[0] = 0
    same_bits(pair.device.clean(pair.patterns, chosen), pair.host.clean(pair.patterns, chosen))


def check_safe(pair: Pair) -> None:
    judged = pair.patterns.joined([pack(np.ones((1, pair.patterns.cells), bool), pair.patterns.columns)])
    same(pair.device.safe(judged), pair.host.safe(judged))


def check_destroy(pair: Pair) -> None:
    given = (pair.patterns, seeds(pair.rng, pair.count), pair.rng.integers(0, 7, pair.count).astype(np.int32))
    same_bits(pair.device.destroy(*given), pair.host.destroy(*given))


def check_costs(pair: Pair) -> None:
    same(pair.device.costs(pair.patterns), pair.host.costs(pair.patterns))


def check_exchange(pair: Pair) -> None:
    pairs = pair.rng.integers(0, pair.count, (9, 2)).astype(np.int32)
    given = (pair.patterns, pairs, np.arange(9, dtype=np.int32) % 3, seeds(pair.rng, 9))
    (found, gains), (expected, wanted) = pair.device.exchange(*given), pair.crossing.exchange(*given)
    same(gains, wanted)
    same_bits(found, expected)


def check_digests(pair: Pair) -> None:
    same(pair.device.digests(pair.patterns), pair.crossing.digests(pair.patterns))


def check_nearest(pair: Pair) -> None:
    others = pair.patterns.take(np.array([0, 2, 2]))
    same(pair.device.nearest(pair.patterns, others), pair.crossing.nearest(pair.patterns, others))


def check_patterns(pair: Pair) -> None:
    """Packing, taking some and joining, neighbours and others, none at all."""
    flags = unpack(pair.patterns)
    held = pair.device.pack(flags)
    places = np.array([3, 1, 1, 0])
    taken, none = held.take(places), held.take(np.zeros(0, np.int64))
    forced = unpack(Patterns(pair.host.ground.forced[None], pair.patterns.columns))
    same(taken.unpacked(), (flags | forced)[places])
    same(held.take(np.array([1, 2])).joined([none, taken]).unpacked(), (flags | forced)[[1, 2, *places]])
    same(pair.device.nothing(3).unpacked(), np.repeat(forced, 3, axis=0))
    assert len(pair.device.safe(none)) == len(pair.device.costs(none)) == 0


DEVICE_CASES: dict[str, Callable[[Pair], None]] = {
    name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")
}
