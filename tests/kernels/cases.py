"""One check per operation: a back end must say exactly what the NumPy oracle says.

Every check takes a back end and a random generator; the same checks run on the CPU, in numba's simulator, on emitted
PTX and, where there is one, on a real device.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuga.kernels import Backend, Equations, get_backend

from .instances import random_frequencies, random_grid, random_lines, random_plane, random_pool

ORACLE = get_backend("numpy")


def check_union(backend: Backend, rng: np.random.Generator) -> None:
    case, count = random_plane(rng), int(rng.integers(1, 8))
    pool = random_pool(rng, case.plane.cells, count)
    chromosomes = rng.integers(-1, count, (len(case.patterns), 5)).astype(np.int32)
    for columns in (None, case.columns):
        found = backend.union(pool, chromosomes, case.weights, case.primary, columns)
        expected = ORACLE.union(pool, chromosomes, case.weights, case.primary, columns)
        for part, wanted in ((found.patterns.bits, expected.patterns.bits), (found.uses, expected.uses)):
            np.testing.assert_array_equal(part.get() if hasattr(part, "get") else part, wanted)
        np.testing.assert_array_equal(found.costs, expected.costs)


def check_box_costs(backend: Backend, rng: np.random.Generator) -> None:
    case = random_grid(rng)
    orders = np.stack([rng.permutation(len(case.requirements)) for _ in range(4)]).astype(np.int32)
    orders[rng.random(orders.shape) < 0.1] = -1
    arguments = (case.patterns[2], case.grid, case.up, case.down, case.requirements, case.weights, orders)
    np.testing.assert_array_equal(backend.box_costs(*arguments), ORACLE.box_costs(*arguments))


def check_unpick(backend: Backend, rng: np.random.Generator) -> None:
    case = random_plane(rng, ((4, 4), (2, 65), (1, 5), (5, 3))[rng.integers(4)])
    lines = case.lines if rng.random() < 0.5 else random_lines(rng, case.plane.cells, 4)
    for sweeps in (1, 1000):
        found = backend.unpick(case.patterns[1:3], lines, case.up, case.down, sweeps)
        expected = ORACLE.unpick(case.patterns[1:3], lines, case.up, case.down, sweeps)
        for part, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(part, wanted)


def check_rare_weights(backend: Backend, rng: np.random.Generator) -> None:
    tables = random_frequencies(rng)
    jobs = int(rng.integers(1, 9))
    table = rng.integers(0, len(tables.field), jobs).astype(np.int32)
    rule = rng.integers(0, tables.image_size.shape[1], (jobs, tables.field.shape[1])).astype(np.int32)
    arguments = (tables, table, rule)
    np.testing.assert_array_equal(backend.rare_weights(*arguments), ORACLE.rare_weights(*arguments))


def check_first_order(backend: Backend, rng: np.random.Generator) -> None:
    lines, batch = random_lines(rng, 9, 4), int(rng.integers(1, 5))
    equations = Equations.of(lines.start, lines.cell, lines.coef * rng.random(len(lines.coef)), 9)
    pull = rng.integers(-1, 2, (9, batch)).astype(np.float64)
    lower, upper = -rng.random((9, batch)), rng.random((9, batch))
    arguments = (equations, pull, lower, upper, 20)
    # the one operation in floats: sums may be rounded in another way
    np.testing.assert_allclose(backend.first_order(*arguments), ORACLE.first_order(*arguments), rtol=1e-9, atol=1e-12)


CASES: dict[str, Callable[[Backend, np.random.Generator], None]] = {
    name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")
}
