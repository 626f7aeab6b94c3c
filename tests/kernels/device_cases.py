"""One check per operation of a generation: a device must say exactly what the CPU says, bit for bit.

The same checks run in numba's simulator, on emitted PTX and, where there is one, on a real device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels.crossing import Crossing
from gpuga.kernels.cuda_machine import Machine
from gpuga.kernels.layout import Patterns, pack, plane_lines, unpack
from gpuga.kernels.two_way import TwoWayCpu
from gpuga.kernels.two_way_cuda import TwoWayCuda

from .instances import Bools, PlaneCase
from .oracle import covered
from .planes import learning_plane, seeds, styles, tight_plane, wide_plane

REQUIREMENTS = (1, 63, 64, 65, 130, 400)


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

    def forced(self) -> Bools:
        return unpack(Patterns(self.host.table.forced[None], self.patterns.columns))

    def shuffled(self) -> Patterns:
        return self.patterns.take(self.rng.permutation(self.count))


def make_pair(machine: Machine, requirements: int, seed: int, count: int = 5) -> Pair:
    """A random table with so many requirements and some random patterns of it, prices and a core."""
    rng = np.random.default_rng([seed, requirements])
    return pair_of(machine, wide_plane(rng, requirements, max(count, 6)), rng, count)


def pair_of(machine: Machine, case: PlaneCase, rng: np.random.Generator, count: int) -> Pair:
    """A table on the CPU and on a device, with the first of its patterns, random prices and a random core."""
    candidate = ~case.primary & (rng.random(case.plane.cells) < 0.9)
    host = TwoWayCpu(case.plane, case.requirements, case.weights, case.primary, candidate, 1)
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


def tight_pair(pair: Pair, over: int) -> Pair:
    """A table on the same device whose requirements ask for all that can flow, and one for `over` more."""
    assert pair.device.device is not None
    return pair_of(pair.device.device, tight_plane(pair.rng, over), pair.rng, 6)


def check_tight_flows(pair: Pair) -> None:
    """All that can flow is enough, one unit more is too much, and a thinner pattern is as good as the CPU says."""
    for over in (0, 1):
        tight = tight_pair(pair, over)
        verdicts = tight.device.safe(tight.patterns)
        assert verdicts[0] == (over == 0)
        same(verdicts, tight.host.safe(tight.patterns))


def check_tight_decode(pair: Pair) -> None:
    """A pattern in which all that is asked can flow is complete; one in which a unit lacks needs further cells."""
    for over in (0, 1):
        tight = tight_pair(pair, over)
        first = tight.patterns.take(np.zeros(4, np.int64))
        given = (first, first, first, seeds(tight.rng, 4), styles(tight.rng, 4), np.zeros(4, np.int32))
        (found, safe), (expected, wanted) = tight.device.decode(*given), tight.host.decode(*given)
        same(safe, wanted)
        same_bits(found, expected)
        assert ((found.unpacked() == unpack(first)).all(1) & safe).tolist() == [over == 0] * 4


def check_clean(pair: Pair) -> None:
    chosen = seeds(pair.rng, pair.count)
    chosen[0] = 0
    same_bits(pair.device.clean(pair.patterns, chosen), pair.host.clean(pair.patterns, chosen))


def check_safe(pair: Pair) -> None:
    judged = pair.patterns.joined([pack(np.ones((1, pair.patterns.cells), bool), pair.patterns.columns)])
    same(pair.device.safe(judged), pair.host.safe(judged))


def check_learning(pair: Pair) -> None:
    """What one worker learns from one pattern after the other changes no verdict of the patterns that follow."""
    assert pair.device.device is not None
    case = learning_plane(pair.rng)
    taught = pair_of(pair.device.device, case, pair.rng, len(case.patterns))
    given = [taught.patterns.take(np.array([p])) for p in range(taught.count)]
    verdicts = np.concatenate([taught.device.safe(one) for one in given])
    same(verdicts, covered(case.patterns, case.plane, case.requirements).all(axis=1))
    assert 0 < verdicts.sum() < len(verdicts)


def check_safe_of_relatives(pair: Pair) -> None:
    """A pattern that is safe, judged until all its supports are known, then others that lack a few of its cells."""
    assert pair.device.device is not None
    case = wide_plane(pair.rng, 70, 1)
    met = covered(case.patterns, case.plane, case.requirements)[0]
    case = replace(case, requirements=case.requirements.subset(met))
    taught = pair_of(pair.device.device, case, pair.rng, 1)
    assert [taught.device.safe(taught.patterns).all() for _ in range(2)] == [True, True]
    for _ in range(8):
        thinned = case.patterns & (pair.rng.random(case.patterns.shape) < 0.9) | case.primary
        found = taught.device.safe(pack(thinned, case.columns))
        same(found, covered(thinned, case.plane, case.requirements).all(axis=1))


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
    others = pair.patterns.take(np.array([0, 2, 2]) % pair.count)
    same(pair.device.nearest(pair.patterns, others), pair.crossing.nearest(pair.patterns, others))


def check_patterns(pair: Pair) -> None:
    """Packing, taking some and joining, neighbours and others, none at all."""
    flags = unpack(pair.patterns)
    held = pair.device.pack(flags)
    places, neighbours = np.array([3, 1, 1, 0]) % pair.count, np.array([1, 2]) % pair.count
    taken, none = held.take(places), held.take(np.zeros(0, np.int64))
    forced = pair.forced()
    same(taken.unpacked(), (flags | forced)[places])
    same(held.take(neighbours).joined([none, taken]).unpacked(), (flags | forced)[[*neighbours, *places]])
    same(pair.device.nothing(3).unpacked(), np.repeat(forced, 3, axis=0))
    assert len(pair.device.safe(none)) == len(pair.device.costs(none)) == 0


DEVICE_CASES: dict[str, Callable[[Pair], None]] = {
    name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")
}
