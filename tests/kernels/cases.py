"""One check per operation: a back end must say exactly what the NumPy oracle says.

Every check takes a back end and a random generator; the same checks run on the CPU, in numba's simulator, on emitted
PTX and, where there is one, on a real device.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuga.kernels import Backend, Equations, get_backend
from gpuga.kernels.backend import Circuits

from .instances import random_frequencies, random_grid, random_lines, random_plane, random_pool

ORACLE = get_backend("numpy")


def same_circuits(found: Circuits, expected: Circuits, ordered: bool) -> None:
    """The same verdicts, prices and circuits (in the same order of cells, where that is promised)."""
    np.testing.assert_array_equal(found.found, expected.found)
    np.testing.assert_array_equal(found.cost, expected.cost)
    for k in range(len(expected.pool)):
        pairs = [
            list(zip(*(part.tolist() for part in pool.circuit(k)), strict=True)) for pool in (found.pool, expected.pool)
        ]
        assert (pairs[0] == pairs[1]) if ordered else (sorted(pairs[0]) == sorted(pairs[1]))


def check_union(backend: Backend, rng: np.random.Generator) -> None:
    case, count = random_plane(rng), int(rng.integers(1, 8))
    pool = random_pool(rng, case.plane.cells, count)
    chromosomes = rng.integers(-1, count, (len(case.patterns), 5)).astype(np.int32)
    for columns in (None, case.columns):
        found = backend.union(pool, chromosomes, case.weights, case.primary, columns)
        expected = ORACLE.union(pool, chromosomes, case.weights, case.primary, columns)
        np.testing.assert_array_equal(backend.to_host(found.patterns.bits), expected.patterns.bits)
        np.testing.assert_array_equal(backend.to_host(found.uses), expected.uses)
        np.testing.assert_array_equal(found.costs, expected.costs)


def check_line_totals(backend: Backend, rng: np.random.Generator) -> None:
    case = random_plane(rng)
    lines = case.lines if rng.random() < 0.5 else random_lines(rng, case.plane.cells, 4)
    for patterns in (case.patterns, backend.pack(case.patterns, case.columns)):
        found = backend.line_totals(patterns, lines, case.weights)
        for part, expected in zip(found, ORACLE.line_totals(case.patterns, lines, case.weights), strict=True):
            np.testing.assert_array_equal(part, expected)


def check_quick_unsafe(backend: Backend, rng: np.random.Generator) -> None:
    case = random_plane(rng)
    lines = case.lines if rng.random() < 0.5 else random_lines(rng, case.plane.cells, 4)
    found = backend.quick_unsafe(case.patterns, lines, case.up, case.down, case.tasks)
    np.testing.assert_array_equal(found, ORACLE.quick_unsafe(case.patterns, lines, case.up, case.down, case.tasks))


def check_circuits_whole(backend: Backend, rng: np.random.Generator) -> None:
    case, count = random_plane(rng), int(rng.integers(1, 8))
    pool = random_pool(rng, case.plane.cells, count)
    chromosomes = rng.integers(-1, count, (len(case.patterns), 4)).astype(np.int32)
    found = backend.circuits_whole(backend.pack(case.patterns, case.columns), pool, chromosomes)
    np.testing.assert_array_equal(found, ORACLE.circuits_whole(case.patterns, pool, chromosomes))


def check_reachability(backend: Backend, rng: np.random.Generator) -> None:
    case = random_plane(rng, count=70 if rng.random() < 0.1 else None)
    found = backend.reachability(case.patterns, case.plane, case.tasks)
    np.testing.assert_array_equal(found, ORACLE.reachability(case.patterns, case.plane, case.tasks))


def check_safe(backend: Backend, rng: np.random.Generator) -> None:
    case = random_plane(rng, count=70 if rng.random() < 0.1 else None)
    expected = ORACLE.safe(case.patterns, case.plane, case.tasks)
    np.testing.assert_array_equal(backend.safe(case.patterns, case.plane, case.tasks), expected)
    pool = random_pool(rng, case.plane.cells, 3)
    chromosomes = rng.integers(-1, 3, expected.shape).astype(np.int32)
    np.testing.assert_array_equal(
        backend.safe(case.patterns, case.plane, case.tasks, pool, chromosomes),
        ORACLE.safe(case.patterns, case.plane, case.tasks, pool, chromosomes),
    )


def check_remove_redundant(backend: Backend, rng: np.random.Generator) -> None:
    shape = [(1, 4), (3, 3), (4, 5), (2, 33), (2, 65)][rng.choice(5, p=[0.1, 0.35, 0.35, 0.15, 0.05])]
    case = random_plane(rng, shape, count=3)
    keep = case.primary & (rng.random(case.plane.cells) < 0.9)
    found = backend.remove_redundant(case.patterns, case.plane, case.tasks, case.weights, keep)
    expected = ORACLE.remove_redundant(case.patterns, case.plane, case.tasks, case.weights, keep)
    np.testing.assert_array_equal(backend.unpack(found), ORACLE.unpack(expected))


def check_swap_gains(backend: Backend, rng: np.random.Generator) -> None:
    case, count = random_plane(rng), int(rng.integers(1, 8))
    pool = random_pool(rng, case.plane.cells, count)
    chromosomes = rng.integers(-1, count, (len(case.patterns), 5)).astype(np.int32)
    uses = ORACLE.union(pool, chromosomes, case.weights, case.primary).uses
    pairs = rng.integers(0, len(case.patterns), (6, 2)).astype(np.int32)
    arguments = (pool, chromosomes, uses, case.weights, case.primary, pairs)
    np.testing.assert_array_equal(backend.swap_gains(*arguments), ORACLE.swap_gains(*arguments))


def check_cheapest_rectangles(backend: Backend, rng: np.random.Generator) -> None:
    case = random_plane(rng)
    weights = np.where(rng.random(case.plane.cells) < 0.1, -1, case.weights)
    arguments = (case.patterns, case.plane, case.tasks, weights, case.items)
    found, expected = backend.cheapest_rectangles(*arguments), ORACLE.cheapest_rectangles(*arguments)
    for part in ("row", "column", "cost"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def check_cheapest_paths(backend: Backend, rng: np.random.Generator) -> None:
    case = random_plane(rng)
    weights = np.where(rng.random(case.plane.cells) < 0.1, -1, case.weights)
    arguments = (case.patterns, case.plane, case.tasks, weights, case.items)
    same_circuits(backend.cheapest_paths(*arguments), ORACLE.cheapest_paths(*arguments), ordered=True)


def check_cheapest_boxes(backend: Backend, rng: np.random.Generator) -> None:
    case = random_grid(rng)
    for inside in (False, True):
        arguments = (
            case.patterns,
            case.grid,
            case.up,
            case.down,
            case.tasks,
            case.weights,
            case.items,
            inside,
        )
        same_circuits(backend.cheapest_boxes(*arguments), ORACLE.cheapest_boxes(*arguments), ordered=False)


def check_box_costs(backend: Backend, rng: np.random.Generator) -> None:
    case = random_grid(rng)
    orders = np.stack([rng.permutation(len(case.tasks)) for _ in range(4)]).astype(np.int32)
    orders[rng.random(orders.shape) < 0.1] = -1
    arguments = (case.patterns[2], case.grid, case.up, case.down, case.tasks, case.weights, orders)
    np.testing.assert_array_equal(backend.box_costs(*arguments), ORACLE.box_costs(*arguments))


def check_unpick(backend: Backend, rng: np.random.Generator) -> None:
    case = random_plane(rng, ((4, 4), (2, 65), (1, 5), (5, 3))[rng.integers(4)])
    lines = case.lines if rng.random() < 0.5 else random_lines(rng, case.plane.cells, 4)
    for sweeps in (1, 1000):
        found = backend.unpick(case.patterns[:2], lines, case.up, case.down, sweeps)
        expected = ORACLE.unpick(case.patterns[:2], lines, case.up, case.down, sweeps)
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


def check_random(backend: Backend, rng: np.random.Generator) -> None:
    seed, stream, start = (int(x) for x in rng.integers(0, 2**62, 3))
    count = int(rng.integers(0, 300))
    np.testing.assert_array_equal(backend.random(seed, stream, start, count), ORACLE.random(seed, stream, start, count))


CASES: dict[str, Callable[[Backend, np.random.Generator], None]] = {
    name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")
}
