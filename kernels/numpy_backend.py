"""The NumPy back end: short and obviously right; what the other back ends are compared with."""

from __future__ import annotations

import itertools

import numpy as np

from .backend import Population, Union
from .host import rare_weight
from .layout import (
    INFINITE,
    MAX_BOX,
    AxisGrid,
    Bools,
    EquationLines,
    Equations,
    Floats,
    Frequencies,
    Int32,
    Int64,
    Patterns,
    Pool,
    Requirements,
    pack,
    unpack,
)


def dense(patterns: Population) -> Bools:
    """bool[P, n] of packed or unpacked patterns."""
    if isinstance(patterns, Patterns):
        return unpack(patterns)
    flat = np.asarray(patterns, np.bool_)
    return flat.reshape(len(flat), int(np.prod(flat.shape[1:])))


class NumpyBackend:
    """See `Backend`."""

    name = "numpy"

    def union(self, pool: Pool, chromosomes: Int32, weights: Int64, base: Bools, columns: int | None = None) -> Union:
        uses = np.zeros((len(chromosomes), len(base)), np.int32)
        for p, chromosome in enumerate(chromosomes):
            for k in chromosome[chromosome >= 0]:
                uses[p, pool.circuit(k)[0]] += 1
        suppressed = (uses > 0) | base
        return Union(pack(suppressed, columns), uses, (suppressed & ~base) @ np.asarray(weights, np.int64).ravel())

    def box_costs(
        self,
        pattern: Bools,
        grid: AxisGrid,
        up: Int64,
        down: Int64,
        requirements: Requirements,
        weights: Int64,
        orders: Int32,
    ) -> Int64:
        bounds, prices = (np.asarray(up).ravel(), np.asarray(down).ravel()), np.asarray(weights, np.int64).ravel()
        costs = np.zeros(len(orders), np.int64)
        for p, order in enumerate(orders):
            price = np.where(np.asarray(pattern).ravel(), 0, prices)
            for t in order[order >= 0]:
                box = list(
                    cheapest_box(
                        grid,
                        bounds,
                        price,
                        int(requirements.cell[t]),
                        int(requirements.direction[t]),
                        int(requirements.need[t]),
                    )
                )
                costs[p] += price[box[1:]].sum()
                if price[box[1:]].sum() > 0:
                    price[box] = 0
        return costs

    def unpick(
        self, patterns: Population, lines: EquationLines, up: Int64, down: Int64, sweeps: int = 1000
    ) -> tuple[Int64, Int64]:
        suppressed = dense(patterns)
        fall = np.where(suppressed, np.asarray(down, np.int64).ravel(), 0)
        rise = np.where(suppressed, np.asarray(up, np.int64).ravel(), 0)
        for _ in range(sweeps):
            new_fall, new_rise = fall.copy(), rise.copy()
            for p, line in itertools.product(range(len(fall)), range(lines.count)):
                part = slice(int(lines.start[line]), int(lines.start[line + 1]))
                tighten(lines.cell[part], lines.coef[part], fall[p], rise[p], new_fall[p], new_rise[p])
            if (new_fall == fall).all() and (new_rise == rise).all():
                break
            fall, rise = new_fall, new_rise
        return fall, rise

    def rare_weights(self, tables: Frequencies, table: Int32, rule: Int32) -> Int64:
        return np.array([rare_weight(tables, int(t), k) for t, k in zip(table, rule, strict=True)], np.int64)

    def first_order(self, equations: Equations, pull: Floats, lower: Floats, upper: Floats, iterations: int) -> Floats:
        matrix = np.zeros((len(equations.row_step), len(equations.column_step)))
        row = np.repeat(np.arange(len(matrix)), np.diff(equations.row_start))
        np.add.at(matrix, (row, equations.row_index), equations.row_value)
        z, ahead, y = np.zeros_like(pull), np.zeros_like(pull), np.zeros((len(matrix), pull.shape[1]))
        for _ in range(iterations):
            y += equations.row_step[:, None] * (matrix @ ahead)
            new = np.clip(z - equations.column_step[:, None] * (matrix.T @ y - pull), lower, upper)
            z, ahead = new, 2 * new - z
        return z


def tighten(cells: Int32, coef: Int64, fall: Int64, rise: Int64, new_fall: Int64, new_rise: Int64) -> None:
    """Bound every cell of one line by what the line's other cells can give back."""
    factors = np.abs(coef).tolist()
    falling, rising = np.where(coef > 0, fall[cells], rise[cells]), np.where(coef > 0, rise[cells], fall[cells])
    lower, upper = (
        [INFINITE if room >= INFINITE else room * factor for room, factor in zip(part.tolist(), factors, strict=True)]
        for part in (falling, rising)
    )
    for x, cell in enumerate(cells):
        factor = abs(int(coef[x]))
        falls, rises = (
            INFINITE if INFINITE in others else -(-sum(others) // factor)
            for others in ([*lower[:x], *lower[x + 1 :]], [*upper[:x], *upper[x + 1 :]])
        )
        if rise[cell] or fall[cell]:
            new_rise[cell] = min(new_rise[cell], falls if coef[x] > 0 else rises)
            new_fall[cell] = min(new_fall[cell], rises if coef[x] > 0 else falls)


def axis_options(grid: AxisGrid, axis: int, code: int) -> list[tuple[int, dict[int, int]]]:
    """The options through a code of one axis: a number that orders them, and the codes that move, its own too."""
    total = int(grid.total[axis])
    if total >= 0:
        others = [c for c in range(int(grid.size[axis])) if c != code]
        return [(c, {code: 1, c: 1 if total in (c, code) else -1}) for c in others]
    at = int(grid.base[axis]) + code
    found = []
    for option in range(int(grid.first[at]), int(grid.first[at + 1])):
        moved = slice(int(grid.start[option]), int(grid.start[option + 1]))
        signs = zip(grid.code[moved].tolist(), grid.sign[moved].tolist(), strict=True)
        found.append((option, {code: 1, **dict(signs)}))
    return found


def cheapest_box(
    grid: AxisGrid, bounds: tuple[Int64, Int64], price: Int64, own: int, direction: int, need: int
) -> dict[int, int]:
    """The cheapest box that moves cell `own` by direction * need, as cell -> movement, `own` first; {}: none.

    A cell with a negative price must not be used. Of equal boxes the first one stays, options by rising price; the last
    of three axes without sub-totals is gone through by code.
    """
    code = np.unravel_index(own, tuple(grid.size))

    def total(vectors: list[tuple[int, dict[int, int]]]) -> int:
        """Price of a product of (axis, signs) vectors, -1 when impossible."""
        cells = product(vectors)
        for cell, sign in cells.items():
            if bounds[0 if sign > 0 else 1][cell] < need or (price[cell] < 0 and cell != own):
                return -1
        return int(sum(price[cell] for cell in cells if cell != own))

    def product(vectors: list[tuple[int, dict[int, int]]]) -> dict[int, int]:
        cells = {own: direction}
        for d, signs in vectors:
            shift = [(int(c - code[d]) * int(grid.stride[d]), s) for c, s in signs.items()]
            cells = {cell + move: sign * s for move, s in shift for cell, sign in cells.items()}
        return cells

    options = []
    for d in range(grid.axes):
        listed = [(total([(d, signs)]), number, signs) for number, signs in axis_options(grid, d, int(code[d]))]
        by_code = grid.axes == 3 and d == 2 and grid.total[2] >= 0
        ordered = listed if by_code else sorted(listed, key=lambda option: option[:2])
        options.append([(d, signs) for cost, _, signs in ordered if cost >= 0])
    best, chosen = INFINITE, {}
    for vectors in itertools.product(*options):
        if np.prod([len(signs) for _, signs in vectors]) <= MAX_BOX:
            cost = total(list(vectors))
            if 0 <= cost < best:
                best, chosen = cost, product(list(vectors))
    return {cell: sign * need for cell, sign in chosen.items()}


def create() -> NumpyBackend:
    """The NumPy back end."""
    return NumpyBackend()
