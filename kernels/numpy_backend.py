"""The NumPy back end: short and obviously right; what the other back ends are compared with."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .backend import Circuits, Population, Rectangles, Union
from .host import cell_order, rare_weight, word_seed
from .layout import (
    INFINITE,
    MAX_BOX,
    SAFE,
    UNDECIDED,
    UNSAFE,
    Bools,
    Equations,
    Floats,
    FlowTasks,
    Frequencies,
    Grid,
    Int32,
    Int64,
    Lines,
    Patterns,
    Plane,
    Pool,
    Tasks,
    Verdicts,
    marginal_cells,
    pack,
    unpack,
)
from .random import random_words


def dense(patterns: Population) -> Bools:
    """bool[P, n] of packed or unpacked patterns."""
    if isinstance(patterns, Patterns):
        return unpack(patterns)
    flat = np.asarray(patterns, np.bool_)
    return flat.reshape(len(flat), int(np.prod(flat.shape[1:])))


def planar(patterns: Population, plane: Plane) -> Bools:
    """bool[P, R, C] of packed or unpacked patterns."""
    flat = dense(patterns)
    return flat.reshape(len(flat), plane.rows, plane.columns)


def reached_by_steps(ahead: Bools, back: Bools, source: int) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Breadth-first distances int16[P, R], int16[P, C] from a node, -1 where it does not reach.

    `ahead` and `back` bool[P, R, C] say where one may go from row to column and from column to row.
    """
    patterns, rows, columns = ahead.shape
    of_row = np.full((patterns, rows), -1, np.int16)
    of_column = np.full((patterns, columns), -1, np.int16)
    (of_row if source < rows else of_column)[:, source if source < rows else source - rows] = 0
    for step in itertools.count():
        in_columns = np.einsum("pr,prc->pc", of_row == step, ahead) & (of_column < 0)
        in_rows = np.einsum("pc,prc->pr", of_column == step, back) & (of_row < 0)
        of_column[in_columns] = step + 1
        of_row[in_rows] = step + 1
        if not in_columns.any() and not in_rows.any():
            return of_row, of_column
    raise AssertionError("a breadth-first search ends")


def connected(ahead: Bools, back: Bools, source: int, sink: int) -> Bools:
    """bool[P]: does a way lead from source to sink?"""
    of_row, of_column = reached_by_steps(ahead, back, source)
    rows = ahead.shape[1]
    return (of_row[:, sink] if sink < rows else of_column[:, sink - rows]) >= 0


def shortest_way(ahead: Bools, back: Bools, source: int, sink: int) -> list[tuple[int, int, int]] | None:
    """The arcs (row, column, +1 forward or -1 reverse) of a shortest way in one pattern's network, or None."""
    rows = ahead.shape[0]
    of_row, of_column = reached_by_steps(ahead[None], back[None], source)
    steps = np.concatenate([of_row[0], of_column[0]])
    if steps[sink] < 0:
        return None
    way, v = [], sink
    while v != source:
        if v >= rows:
            u = int(np.flatnonzero(ahead[:, v - rows] & (steps[:rows] == steps[v] - 1))[0])
            way.append((u, v - rows, 1))
        else:
            u = rows + int(np.flatnonzero(back[v] & (steps[rows:] == steps[v] - 1))[0])
            way.append((v, u - rows, -1))
        v = u
    return way


def flow_covers(forward: Int64, reverse: Int64, source: int, sink: int, need: int) -> bool:
    """Do `need` units flow from source to sink?  Shortest augmenting paths (Edmonds and Karp) on int64[R, C]."""
    ahead, back = forward.copy(), reverse.copy()
    while need > 0:
        way = shortest_way(ahead > 0, back > 0, source, sink)
        if way is None:
            return False
        amount = min(need, *(int((ahead if sign > 0 else back)[i, j]) for i, j, sign in way))
        for i, j, sign in way:
            ahead[i, j] -= sign * amount
            back[i, j] += sign * amount
        need -= amount
    return True


def task_ends(flow: FlowTasks, t: int, rows: int) -> tuple[int, int]:
    """Source and sink of task t's counter-flow."""
    row, column = int(flow.row[t]), rows + int(flow.column[t])
    return (column, row) if flow.upward[t] else (row, column)


class NumpyBackend:
    """See `Backend`."""

    name = "numpy"

    def pack(self, suppressed: Bools, columns: int | None = None) -> Patterns:
        return pack(suppressed, columns)

    def unpack(self, patterns: Patterns) -> Bools:
        return unpack(patterns)

    def to_host(self, array: Any) -> NDArray[Any]:
        return np.asarray(array)

    def union(self, pool: Pool, chromosomes: Int32, weights: Int64, base: Bools, columns: int | None = None) -> Union:
        uses = np.zeros((len(chromosomes), len(base)), np.int32)
        for p, chromosome in enumerate(chromosomes):
            for k in chromosome[chromosome >= 0]:
                uses[p, pool.circuit(k)[0]] += 1
        suppressed = (uses > 0) | base
        return Union(pack(suppressed, columns), uses, (suppressed & ~base) @ np.asarray(weights, np.int64).ravel())

    def line_totals(self, patterns: Population, lines: Lines, values: Int64) -> tuple[Int32, Int64]:
        suppressed = dense(patterns)
        valued = np.where(suppressed, np.asarray(values, np.int64).ravel(), 0)
        counts = np.zeros((len(suppressed), lines.count), np.int32)
        sums = np.zeros((len(suppressed), lines.count), np.int64)
        for line in range(lines.count):
            cells = lines.cell[lines.start[line] : lines.start[line + 1]]
            counts[:, line] = suppressed[:, cells].sum(axis=1)
            sums[:, line] = valued[:, cells].sum(axis=1)
        return counts, sums

    def quick_unsafe(self, patterns: Population, lines: Lines, up: Int64, down: Int64, tasks: Tasks) -> Bools:
        suppressed, rise, fall = dense(patterns), np.asarray(up).ravel(), np.asarray(down).ravel()
        unsafe = np.zeros((len(suppressed), len(tasks)), np.bool_)
        for t, (cell, direction, need) in enumerate(zip(tasks.cell, tasks.direction, tasks.need, strict=True)):
            if need <= 0:
                continue
            unsafe[:, t] = ~suppressed[:, cell] | ((rise if direction > 0 else fall)[cell] < need)
            for line in range(lines.count):
                part = slice(int(lines.start[line]), int(lines.start[line + 1]))
                cells, coef = lines.cell[part], lines.coef[part]
                if cell not in cells:
                    continue
                own = coef[cells == cell][0]
                wanted = need * abs(own)
                able = np.where((coef > 0) == (direction * own > 0), fall[cells], rise[cells])
                room = np.minimum(able, wanted) * np.abs(coef) * (cells != cell)
                unsafe[:, t] |= (suppressed[:, cells] * room).sum(axis=1) < wanted
        return unsafe

    def circuits_whole(self, patterns: Population, pool: Pool, chromosomes: Int32) -> Bools:
        suppressed = dense(patterns)
        return np.array(
            [[k >= 0 and suppressed[p, pool.circuit(k)[0]].all() for k in row] for p, row in enumerate(chromosomes)],
            np.bool_,
        ).reshape(np.shape(chromosomes))

    def reachability(self, patterns: Population, plane: Plane, tasks: Tasks) -> Verdicts:
        suppressed = planar(patterns, plane)
        flow = FlowTasks.of(plane, tasks)
        verdicts = np.full((len(suppressed), len(tasks)), UNDECIDED, np.uint8)
        for t in range(len(tasks)):
            i, j, need = int(flow.row[t]), int(flow.column[t]), int(flow.need[t])
            others = suppressed.copy()
            others[:, i, j] = False
            hopeless = ~suppressed[:, i, j] | (flow.possible[t] == 0)
            ends = task_ends(flow, t, plane.rows)
            wide = connected(others & (plane.forward >= need), others & (plane.reverse >= need), *ends)
            some = connected(others & (plane.forward > 0), others & (plane.reverse > 0), *ends)
            verdicts[~some | hopeless, t] = UNSAFE
            verdicts[(wide & ~hopeless) | (need <= 0), t] = SAFE
        return verdicts

    def safe(
        self,
        patterns: Population,
        plane: Plane,
        tasks: Tasks,
        pool: Pool | None = None,
        chromosomes: Int32 | None = None,
    ) -> Bools:
        verdicts = self.reachability(patterns, plane, tasks)
        if pool is not None and chromosomes is not None:
            verdicts[self.circuits_whole(patterns, pool, chromosomes)] = SAFE
        suppressed = planar(patterns, plane)
        flow = FlowTasks.of(plane, tasks)
        for p, t in np.argwhere(verdicts == UNDECIDED):
            others = suppressed[p].copy()
            others[flow.row[t], flow.column[t]] = False
            ends = task_ends(flow, t, plane.rows)
            covered = flow_covers(plane.forward * others, plane.reverse * others, *ends, int(flow.need[t]))
            verdicts[p, t] = SAFE if covered else UNSAFE
        return np.equal(verdicts, SAFE)

    def remove_redundant(
        self, patterns: Population, plane: Plane, tasks: Tasks, weights: Int64, keep: Bools
    ) -> Patterns:
        suppressed = dense(patterns).copy()
        for p in range(len(suppressed)):
            before = self.safe(suppressed[p : p + 1], plane, tasks)
            for cell in cell_order(weights, keep):
                if suppressed[p, cell]:
                    suppressed[p, cell] = False
                    if (before & ~self.safe(suppressed[p : p + 1], plane, tasks)).any():
                        suppressed[p, cell] = True
        return pack(suppressed, plane.columns)

    def swap_gains(self, pool: Pool, chromosomes: Int32, uses: Any, weights: Int64, base: Bools, pairs: Int32) -> Int64:
        gains = np.empty((len(pairs), chromosomes.shape[1]), np.int64)
        for q, (taker, giver) in enumerate(pairs):
            before = (uses[taker] > 0) & ~base
            for t in range(chromosomes.shape[1]):
                after = uses[taker].copy()
                for k, sign in ((chromosomes[taker, t], -1), (chromosomes[giver, t], 1)):
                    if k >= 0:
                        after[pool.circuit(k)[0]] += sign
                changed = ((after > 0) & ~base).astype(np.int64) - before
                gains[q, t] = changed @ np.asarray(weights, np.int64).ravel()
        return gains

    def cheapest_rectangles(
        self, patterns: Population, plane: Plane, tasks: Tasks, weights: Int64, items: Int32
    ) -> Rectangles:
        suppressed = planar(patterns, plane)
        flow, prices = (
            FlowTasks.of(plane, tasks),
            np.asarray(weights, np.int64).reshape(plane.rows, plane.columns),
        )
        found = np.full((len(items), 3), (-1, -1, INFINITE), np.int64)
        for q, (p, t) in enumerate(items):
            i, j, need = flow.row[t], flow.column[t], flow.need[t]
            out, home = (plane.reverse, plane.forward) if flow.upward[t] else (plane.forward, plane.reverse)
            cost = np.where(suppressed[p], 0, prices)
            usable = (home >= need) & (cost >= 0)
            side = (out >= need) & (cost >= 0)
            usable &= side[:, j][:, None] & side[i][None, :]
            usable[i, :] = usable[:, j] = False
            total = np.where(usable, cost + cost[:, j][:, None] + cost[i][None, :], INFINITE)
            r, c = np.unravel_index(int(total.argmin()), total.shape)
            if flow.possible[t] and total[r, c] < INFINITE:
                found[q] = r, c, total[r, c]
        return Rectangles(found[:, 0].astype(np.int32), found[:, 1].astype(np.int32), found[:, 2].copy())

    def cheapest_paths(
        self, patterns: Population, plane: Plane, tasks: Tasks, weights: Int64, items: Int32
    ) -> Circuits:
        suppressed = planar(patterns, plane)
        flow = FlowTasks.of(plane, tasks)
        prices = np.asarray(weights, np.int64).reshape(plane.rows, plane.columns)
        circuits = [cheapest_circuit(suppressed[p], plane, prices, flow, int(t)) for p, t in items]
        return priced(circuits, dense(patterns), prices.ravel(), items)

    def cheapest_boxes(
        self,
        patterns: Population,
        grid: Grid,
        up: Int64,
        down: Int64,
        tasks: Tasks,
        weights: Int64,
        items: Int32,
        inside: bool = False,
    ) -> Circuits:
        suppressed, prices = dense(patterns), np.asarray(weights, np.int64).ravel()
        bounds = (np.asarray(up).ravel(), np.asarray(down).ravel())
        circuits = []
        for p, t in items:
            price = np.where(suppressed[p], 0, -1 if inside else prices)
            circuits.append(
                cheapest_box(grid, bounds, price, int(tasks.cell[t]), int(tasks.direction[t]), int(tasks.need[t]))
            )
        return priced(circuits, suppressed, prices, items)

    def box_costs(
        self, pattern: Bools, grid: Grid, up: Int64, down: Int64, tasks: Tasks, weights: Int64, orders: Int32
    ) -> Int64:
        bounds, prices = (np.asarray(up).ravel(), np.asarray(down).ravel()), np.asarray(weights, np.int64).ravel()
        costs = np.zeros(len(orders), np.int64)
        for p, order in enumerate(orders):
            price = np.where(np.asarray(pattern).ravel(), 0, prices)
            for t in order[order >= 0]:
                box = list(
                    cheapest_box(grid, bounds, price, int(tasks.cell[t]), int(tasks.direction[t]), int(tasks.need[t]))
                )
                costs[p] += price[box[1:]].sum()
                if price[box[1:]].sum() > 0:
                    price[box] = 0
        return costs

    def unpick(
        self, patterns: Population, lines: Lines, up: Int64, down: Int64, sweeps: int = 1000
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

    def random(self, seed: int, stream: int, start: int, count: int) -> NDArray[np.uint32]:
        return random_words(seed, stream, int(word_seed(start)), count)


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


def nearest_path(price: Int64, ahead: Bools, back: Bools, source: int, sink: int) -> list[int] | None:
    """Nodes from source to sink by dense Dijkstra; of equally near nodes the smaller number is settled first."""
    rows, columns = price.shape
    distance = np.full(rows + columns, INFINITE, np.int64)
    parent = np.full(rows + columns, -1)
    settled = np.zeros(rows + columns, np.bool_)
    distance[source] = 0
    while True:
        v = int(np.where(settled, INFINITE, distance).argmin())
        if settled[v] or distance[v] >= INFINITE:
            return None
        if v == sink:
            break
        settled[v] = True
        reach = np.full(rows + columns, INFINITE, np.int64)
        if v < rows:
            reach[rows:] = np.where(ahead[v], distance[v] + price[v], INFINITE)
        else:
            reach[:rows] = np.where(back[:, v - rows], distance[v] + price[:, v - rows], INFINITE)
        nearer = (reach < distance) & ~settled
        distance[nearer], parent[nearer] = reach[nearer], v
    way = [sink]
    while way[-1] != source:
        way.append(int(parent[way[-1]]))
    return way[::-1]


def cheapest_circuit(suppressed: Bools, plane: Plane, prices: Int64, flow: FlowTasks, t: int) -> dict[int, int]:
    """Cells and movements that cover task t by cheapest augmenting paths, the task's own cell first; {}: impossible."""
    rows, columns = suppressed.shape
    i0, j0, remaining = int(flow.row[t]), int(flow.column[t]), int(flow.need[t])
    source, sink = task_ends(flow, t, rows)
    moved = {(i0, j0): remaining if flow.upward[t] else -remaining}
    if not flow.possible[t] or remaining <= 0:
        return {}
    ahead, back = plane.forward.copy(), plane.reverse.copy()
    ahead[i0, j0] = back[i0, j0] = 0
    while remaining > 0:
        price = np.where(suppressed, 0, prices)
        usable = price >= 0
        for cell in moved:
            price[cell] = 0
        way = nearest_path(price, usable & (ahead >= remaining), usable & (back >= remaining), source, sink)
        way = way or nearest_path(price, usable & (ahead > 0), usable & (back > 0), source, sink)
        if way is None:
            return {}
        arcs = [(v, u - rows, 1) if v < rows else (u, v - rows, -1) for v, u in itertools.pairwise(way)][::-1]
        amount = min(remaining, *(int((ahead if sign > 0 else back)[i, j]) for i, j, sign in arcs))
        for i, j, sign in arcs:
            ahead[i, j] -= sign * amount
            back[i, j] += sign * amount
            moved[i, j] = moved.get((i, j), 0) + sign * amount
        remaining -= amount
    marginal = marginal_cells(rows, columns)
    return {i * columns + j: -d if marginal[i, j] else d for (i, j), d in moved.items() if d}


def axis_options(grid: Grid, axis: int, code: int) -> list[tuple[int, dict[int, int]]]:
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
    grid: Grid, bounds: tuple[Int64, Int64], price: Int64, own: int, direction: int, need: int
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


def priced(circuits: list[dict[int, int]], suppressed: Bools, prices: Int64, items: Int32) -> Circuits:
    """Circuits given as cell -> movement, with the price of the cells that each adds to its pattern."""
    found = np.array([bool(circuit) for circuit in circuits], np.bool_)
    cost = [
        sum(int(prices[c]) for c in circuit if not suppressed[p, c]) if circuit else INFINITE
        for circuit, (p, _) in zip(circuits, items, strict=True)
    ]
    pool = Pool.from_lists([(list(circuit), list(circuit.values())) for circuit in circuits])
    return Circuits(pool, found, np.array(cost, np.int64))


def create() -> NumpyBackend:
    """The NumPy back end."""
    return NumpyBackend()
