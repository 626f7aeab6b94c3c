"""A generation of a general table on a device: every operation must say exactly what the CPU says, bit for bit.

The same checks run in numba's simulator, on emitted PTX and, where there is one, on a real device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuga.evolution.general_kernels import hubs_of
from gpuga.kernels.crossing import Crossing
from gpuga.kernels.cuda_machine import Machine
from gpuga.kernels.general import GeneralCpu
from gpuga.kernels.general_cuda import DeviceIndividuals, GeneralCuda
from gpuga.kernels.layout import Bools, Int64, pack, unpack
from gpuga.kernels.logic.general_records import Genes
from gpuga.table.crossing import Axis

from .test_general import CUBE, arguments

TREE = Axis(7, ((4, (0, 1)), (5, (2, 3)), (6, (4, 5))))
"""Four codes in two groups below a total."""


def flat(*sizes: int) -> list[Axis]:
    """Axes whose last code is the total of the others."""
    return [Axis(size, ((size - 1, tuple(range(size - 1))),)) for size in sizes]


TABLES = {"cube": CUBE, "hierarchy": [TREE, TREE], "plane without boxes": flat(4, 4)}

BORDERS = {"63 cells": flat(3, 3, 7), "64 cells": flat(4, 4, 4), "65 cells": flat(5, 13), "130 cells": flat(2, 5, 13)}
"""Tables whose patterns end before, at and behind the end of a word."""

POPULATIONS = (1, 2, 31, 300)


@dataclass(frozen=True)
class GeneralPair:
    """The same table on the CPU and on a device, with a source of draws."""

    host: GeneralCpu
    crossing: Crossing
    device: GeneralCuda
    rng: np.random.Generator

    def patterns(self, count: int) -> Bools:
        usable = self.host.table.kind != 2
        return np.asarray((self.rng.random((count, self.host.cells)) < 0.2) & usable | self.host.forced)

    def seeds(self, count: int) -> Any:
        return self.rng.integers(1, 2**63, count).astype(np.uint64)


def general_pair(machine: Machine, name: str, seed: int, limited: bool = False) -> GeneralPair:
    """A random table with pooled circuits and three snapshots of prices."""
    rng = np.random.default_rng([seed, len(name)])
    given = arguments((TABLES | BORDERS)[name], seed, grid="without" not in name)
    host, lines, forced = GeneralCpu(*given), given[7], given[5]
    crossing = Crossing(lines, np.where(forced, 0, host.weight), hubs_of(lines))
    host.add_circuits([0, 4, 8], [0, 1, 4, 5, 0, 2, 4, 6], [1, -1, -1, 1, -2, 2, 2, -2])
    host.set_prices(rng.integers(1, 99, (3, host.cells)))
    return GeneralPair(host, crossing, GeneralCuda(host, crossing, np.arange(host.cells), machine, limited), rng)


def same_genes(found: Genes, expected: Genes) -> None:
    """The same certificates; what lies behind the last one was never written."""
    np.testing.assert_array_equal(found.proof, expected.proof)
    np.testing.assert_array_equal(found.certificates, expected.certificates)
    for p, count in enumerate(expected.certificates.tolist()):
        np.testing.assert_array_equal(found.begin[p, : count + 1], expected.begin[p, : count + 1])
        entries = int(expected.begin[p, count]) if count else 0
        for name in ("cell", "amount"):
            np.testing.assert_array_equal(getattr(found, name)[p, :entries], getattr(expected, name)[p, :entries])
            assert not getattr(found, name)[p, entries:].any()  # nothing that others left there goes to the host


def same(pair: GeneralPair, found: DeviceIndividuals, flags: Bools, genes: Genes) -> None:
    """The individuals on the device are those of the CPU."""
    there, certificates = pair.device.fetched(found)
    np.testing.assert_array_equal(there, flags)
    same_genes(certificates, genes)


def chosen(genes: Genes, rows: Int64) -> Genes:
    proof, begin, cell, amount, certificates = (part[rows] for part in genes)
    return Genes(proof, begin, cell, amount, certificates)


def check_general(machine: Machine, name: str, seed: int, count: int = 5, limited: bool = False) -> GeneralCuda:
    """Decode, clean, prove and destroy on one table."""
    pair = general_pair(machine, name, seed, limited)
    host, device, rng = pair.host, pair.device, pair.rng
    words, style, snapshot = pair.seeds(count), rng.integers(0, 3, count), rng.integers(0, 3, count)
    first, second = pair.patterns(count), pair.patterns(count)
    parents = device.brought(first), device.brought(second)
    raw, genes, done = host.decode(np.tile(host.forced, (count, 1)), first, second, words, style, snapshot)
    made, possible = device.decode(device.nothing(count), *parents, words, style, snapshot)
    np.testing.assert_array_equal(possible, done)
    same(pair, made, raw, genes)
    cleaned, kept = host.clean(raw, genes)
    clean = device.clean(made)
    same(pair, clean, cleaned, kept)
    same(pair, made, raw, genes)  # what was given is as it was
    full, open_ = device.brought(np.ones_like(raw)), host.no_genes(count)
    np.testing.assert_array_equal(device.prove(full), host.prove(np.ones_like(raw), open_))
    same_genes(device.fetched(full)[1], open_)
    strength = rng.integers(0, 5, count)
    left = host.destroy(cleaned, kept, words, strength)
    ruined = device.destroy(clean, words, strength)
    same(pair, ruined, left, kept)
    again = host.decode(left, left, second, words, style, snapshot, kept)
    led, possible = device.decode(ruined, ruined, parents[1], words, style, snapshot)
    np.testing.assert_array_equal(possible, again[2])
    same(pair, led, again[0], again[1])
    check_children(pair, clean, cleaned, kept)
    return device


def check_children(pair: GeneralPair, clean: DeviceIndividuals, cleaned: Bools, kept: Genes) -> None:
    """Children by components keep the certificates of their first parents that stand, and find others."""
    host, device, count = pair.host, pair.device, len(cleaned)
    pairs = pair.rng.integers(0, count, (count, 2)).astype(np.int32)
    ways, words = np.arange(count, dtype=np.int32) % 3, pair.seeds(count)
    children, gains = pair.crossing.exchange(pack(cleaned), pairs, ways, words)
    made, gained = device.exchange(clean, pairs, ways, words)
    np.testing.assert_array_equal(gained, gains)
    genes = chosen(kept, pairs[:, 0])
    same(pair, made, unpack(children), genes)
    np.testing.assert_array_equal(device.prove(made), host.prove(unpack(children), genes))
    same(pair, made, unpack(children), genes)


def check_population(machine: Machine, name: str, seed: int, count: int = 5) -> GeneralCuda:
    """Costs, digests, distances, exchange, taking and joining of whole populations that share their certificates."""
    pair = general_pair(machine, name, seed)
    host, device, crossing, rng = pair.host, pair.device, pair.crossing, pair.rng
    nothing = np.tile(host.forced, (3, 1))
    raw, genes, _ = host.decode(nothing, nothing, nothing, pair.seeds(3), np.arange(3), 0)
    rows, flags = rng.integers(0, 3, count), pair.patterns(count)
    flags[-1] = raw[0]
    few = device.brought(raw, genes)
    there = device.brought(flags)
    there.genes, there.rows = few.genes, rows
    same(pair, there, flags, chosen(genes, rows))
    packed = pack(flags)
    np.testing.assert_array_equal(device.costs(there), host.costs(flags))
    np.testing.assert_array_equal(device.digests(there), crossing.digests(packed))
    np.testing.assert_array_equal(device.nearest(there, few), crossing.nearest(packed, pack(raw)))
    pairs = rng.integers(0, count, (count, 2)).astype(np.int32)
    ways, words = rng.integers(0, 3, count).astype(np.int32), pair.seeds(count)
    children, gains = crossing.exchange(packed, pairs, ways, words)
    made, gained = device.exchange(there, pairs, ways, words)
    np.testing.assert_array_equal(gained, gains)
    same(pair, made, unpack(children), chosen(genes, rows[pairs[:, 0]]))
    places = rng.integers(0, count, count)
    taken = there.take(places)
    same(pair, taken, flags[places], chosen(genes, rows[places]))
    single = made.take(places[:1])
    same(pair, single, unpack(children)[places[:1]], chosen(genes, rows[pairs[places[:1], 0]]))
    every = taken.joined([few, single])
    proofs = np.concatenate([rows[places], np.arange(3), rows[pairs[places[:1], 0]]])
    same(pair, every, np.concatenate([flags[places], raw, unpack(children)[places[:1]]]), chosen(genes, proofs))
    np.testing.assert_array_equal(every.unpacked(), device.flags(every))
    return device
