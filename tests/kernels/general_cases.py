"""A generation of a general table on a device: every operation must say exactly what the CPU says, bit for bit.

The same checks run in numba's simulator, on emitted PTX and, where there is one, on a real device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuga.kernels.cuda_machine import Machine
from gpuga.kernels.general import GeneralCpu
from gpuga.kernels.general_cuda import GeneralCuda
from gpuga.kernels.layout import Bools
from gpuga.kernels.logic.general_records import Genes
from gpuga.table.crossing import Axis

from .test_general import CUBE, arguments

TREE = Axis(7, ((4, (0, 1)), (5, (2, 3)), (6, (4, 5))))
"""Four codes in two groups below a total."""

TABLES = {"cube": CUBE, "hierarchy": [TREE, TREE], "plane without boxes": [Axis(4, ((3, (0, 1, 2)),))] * 2}


def same_genes(found: Genes, expected: Genes) -> None:
    """The same certificates; what lies behind the last one was never written."""
    np.testing.assert_array_equal(found.proof, expected.proof)
    np.testing.assert_array_equal(found.certificates, expected.certificates)
    for p, count in enumerate(expected.certificates.tolist()):
        np.testing.assert_array_equal(found.begin[p, : count + 1], expected.begin[p, : count + 1])
        entries = int(expected.begin[p, count]) if count else 0
        for name in ("cell", "amount"):
            np.testing.assert_array_equal(getattr(found, name)[p, :entries], getattr(expected, name)[p, :entries])


def same(found: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, Genes):
            same_genes(one, other)
        else:
            np.testing.assert_array_equal(one, other)


def patterns_of(engine: GeneralCpu, count: int, rng: np.random.Generator) -> Bools:
    return np.asarray((rng.random((count, engine.cells)) < 0.2) | engine.forced)


def check_general(machine: Machine, name: str, seed: int, count: int = 5) -> GeneralCuda:
    """Decode, clean, prove and destroy on one table, with pooled circuits that were found by another decoding."""
    rng = np.random.default_rng([seed, len(name)])
    given = arguments(TABLES[name], seed, grid="without" not in name)
    host, device = GeneralCpu(*given), GeneralCuda(*given, machine=machine)
    for engine in (host, device):
        engine.add_circuits([0, 4, 8], [0, 1, 4, 5, 0, 2, 4, 6], [1, -1, -1, 1, -2, 2, 2, -2])
    none: Bools = np.zeros((count, host.cells), bool)
    words, style = rng.integers(1, 2**63, count).astype(np.uint64), rng.integers(0, 3, count)
    prices = rng.integers(1, 99, host.cells)
    first, second = patterns_of(host, count, rng), patterns_of(host, count, rng)
    made = [one.decode(host.forced | none, first, second, words, style, prices) for one in (device, host)]
    same(*made)
    raw, genes, _ = made[1]
    cleaned = [one.clean(raw, genes) for one in (device, host)]
    same(*cleaned)
    full, open_ = np.ones_like(none), [host.no_genes(count), host.no_genes(count)]
    same(*((one.prove(full, kept), kept) for one, kept in zip((device, host), open_, strict=True)))
    strength = rng.integers(0, 5, count)
    same(*((one.destroy(cleaned[1][0], cleaned[1][1], words, strength),) for one in (device, host)))
    again = [one.decode(cleaned[1][0] & (words[:, None] % 2 == 0) | host.forced, first, second, words, style, prices,
                        cleaned[1][1]) for one in (device, host)]  # fmt: skip
    same(*again)
    return device
