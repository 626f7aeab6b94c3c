"""The CPU back end: the logic compiled by numba, patterns (or words of 64 of them) spread over the threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import get_num_threads, prange, set_num_threads
from numpy.typing import NDArray

from .backend import Circuits, Population, Rectangles, Union
from .host import cell_order, circuits_of, in_histograms, line_orders, line_pushes, resident, word_seed
from .layout import (
    INFINITE,
    SAFE,
    UNDECIDED,
    UNSAFE,
    Bits,
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
    owned,
    pack,
    unpack,
)
from .logic.bits import FULL, ONE, ZERO, cell_bit, lowest, position
from .logic.boxes import Bytes, Signs, box_of, price_in_order
from .logic.circuits import is_whole, swap_gain, used_word, word_cost
from .logic.compile import device, parallel
from .logic.first_order import kept_within
from .logic.flow import covers, depends, ends, finer, keep_witness, lane_verdict, reach
from .logic.frequencies import recoded_bin
from .logic.levels import flood, open_arcs, task_bit
from .logic.lines import line_exposes, line_room, tightened
from .logic.network import (
    build_network,
    find_arc,
    sliced_word,
    suppressed_count,
    united_word,
)
from .logic.paths import cheapest_circuit, cheapest_rectangle
from .logic.philox import philox_word

# Elementary steps (cells, pairs, words) from which a second thread pays.
_WORTH_SHARING = 20_000


@parallel
def _union(
    start: Int64,
    cell: Int32,
    chromosomes: Int32,
    weights: Int64,
    base: Bits,
    columns: int,
    bits: Bits,
    uses: Int32,
    costs: Int64,
) -> None:
    for p in prange(chromosomes.shape[0]):
        for t in range(chromosomes.shape[1]):
            k = chromosomes[p, t]
            if k >= 0:
                for e in range(start[k], start[k + 1]):
                    uses[p, cell[e]] += 1
        cost = 0
        for i in range(base.shape[0]):
            for w in range(base.shape[1]):
                word = used_word(uses[p], base, columns, i, w)
                bits[p, i, w] = word
                cost += word_cost(word & ~base[i, w], columns, i, w, weights)
        costs[p] = cost


@parallel
def _line_totals(
    bits: Bits, columns: int, cell_start: Int64, cell_line: Int32, values: Int64, counts: Int32, sums: Int64
) -> None:
    for p in prange(bits.shape[0]):
        for i in range(bits.shape[1]):
            for w in range(bits.shape[2]):
                word = bits[p, i, w]
                while word != ZERO:
                    single = lowest(word)
                    word ^= single
                    c = i * columns + w * 64 + position(single)
                    for q in range(cell_start[c], cell_start[c + 1]):
                        counts[p, cell_line[q]] += 1
                        sums[p, cell_line[q]] += values[c]


@parallel
def _quick_unsafe(
    bits: Bits,
    columns: int,
    cell_start: Int64,
    cell_line: Int32,
    line_coef: Int64,
    lines: int,
    up: Int64,
    down: Int64,
    rise_of: Int64,
    fall_of: Int64,
    task_cell: Int32,
    direction: NDArray[np.int8],
    need: Int64,
    unsafe: Bools,
) -> None:
    for p in prange(bits.shape[0]):
        rises, falls = np.zeros(lines, np.int64), np.zeros(lines, np.int64)
        for i in range(bits.shape[1]):
            for w in range(bits.shape[2]):
                word = bits[p, i, w]
                while word != ZERO:
                    single = lowest(word)
                    word ^= single
                    c = i * columns + w * 64 + position(single)
                    for q in range(cell_start[c], cell_start[c + 1]):
                        rises[cell_line[q]] += rise_of[q]
                        falls[cell_line[q]] += fall_of[q]
        for t in range(task_cell.shape[0]):
            unsafe[p, t] = line_exposes(
                bits[p], columns, cell_start, cell_line, line_coef, up, down, rise_of, fall_of, rises, falls,
                task_cell[t], direction[t], need[t],
            )  # fmt: skip


@parallel
def _circuits_whole(bits: Bits, columns: int, start: Int64, cell: Int32, chromosomes: Int32, whole: Bools) -> None:
    for p in prange(bits.shape[0]):
        for t in range(chromosomes.shape[1]):
            whole[p, t] = is_whole(bits[p], columns, start, cell, chromosomes[p, t])


@device
def _network(rows: Bits, forward: Int64, reverse: Int64) -> tuple[int, Int32, Int32, Int32, Int64]:
    """The network of one pattern, in arrays of its own: arcs, node_start, target, twin, capacity."""
    room = 2 * suppressed_count(rows)
    node_start = np.empty(forward.shape[0] + forward.shape[1] + 1, np.int32)
    target, twin, capacity = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int64)
    arcs = build_network(rows, forward, reverse, node_start, target, twin, capacity)
    return arcs, node_start, target, twin, capacity


@device
def _screen(
    bits: Bits,
    first: int,
    last: int,
    forward: Int64,
    reverse: Int64,
    row: Int32,
    column: Int32,
    upward: NDArray[np.uint8],
    need: Int64,
    possible: NDArray[np.uint8],
    begin: int,
    end: int,
    verdicts: Verdicts,
) -> None:
    """Reachability of tasks begin..end in patterns first..last (at most 64), all patterns in one word."""
    height, words = bits.shape[1], bits.shape[2]
    nodes = height + forward.shape[1]
    united = np.empty((height, words), np.uint64)
    for i in range(height):
        for w in range(words):
            united[i, w] = united_word(bits, first, last, i, w)
    arcs, node_start, target, twin, capacity = _network(united, forward, reverse)
    lanes = np.empty(arcs, np.uint64)
    for e in range(arcs):
        lanes[e] = sliced_word(bits, first, last, target[twin[e]], target[e] - height)
    reached = np.empty(nodes, np.uint64)
    queue, queued = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    everyone = FULL if last - first == 64 else (ONE << np.uint64(last - first)) - ONE
    for t in range(begin, end):
        own = find_arc(node_start, target, row[t], height + column[t])
        through, any_path = ZERO, ZERO
        if need[t] <= 0:
            through = everyone
        elif own >= 0 and possible[t] != 0:
            source, sink = ends(row[t], column[t], upward[t], height)
            through = reach(
                node_start, target, twin, capacity, lanes, arcs, own, source, sink, need[t], lanes[own],
                reached, queue, queued,
            )  # fmt: skip
            any_path = reach(
                node_start, target, twin, capacity, lanes, arcs, own, source, sink, 1, lanes[own] & ~through, reached,
                queue, queued,
            )  # fmt: skip
        for p in range(first, last):
            verdicts[p, t] = lane_verdict(through, any_path, p - first)


@device
def _decide(
    rows: Bits,
    forward: Int64,
    reverse: Int64,
    row: Int32,
    column: Int32,
    upward: NDArray[np.uint8],
    need: Int64,
    possible: NDArray[np.uint8],
    verdicts: Verdicts,
) -> None:
    """Decide all tasks of one pattern (sorted by need): one flood for all, then maximum flow for what is left."""
    height, nodes, tasks = forward.shape[0], forward.shape[0] + forward.shape[1], row.shape[0]
    arcs, node_start, target, twin, capacity = _network(rows, forward, reverse)
    words = (tasks + 63) // 64
    own, opened = np.empty(tasks, np.int32), np.empty((2 * arcs, words), np.uint64)
    reached = np.zeros((nodes, words), np.uint64)
    parent, queue, mark = np.empty(nodes, np.int32), np.empty(nodes, np.int32), np.zeros(nodes, np.int32)
    for t in range(tasks):
        own[t] = find_arc(node_start, target, row[t], height + column[t])
        if need[t] <= 0:
            verdicts[t] = SAFE
        elif verdicts[t] == UNDECIDED:
            if own[t] < 0 or possible[t] == 0:
                verdicts[t] = UNSAFE
            else:
                source, sink = ends(row[t], column[t], upward[t], height)
                reached[source, t >> 6] |= ONE << np.uint64(t & 63)
    open_arcs(capacity, twin, arcs, need, own, opened)
    flood(node_start, target, opened, reached, queue, mark)
    for v in range(nodes):
        mark[v] = 0
    room, stamp = np.empty(2 * arcs, np.int64), np.zeros(1, np.int32)
    for t in range(tasks):
        if verdicts[t] != UNDECIDED:
            continue
        source, sink = ends(row[t], column[t], upward[t], height)
        safe = task_bit(reached, sink, t) or covers(
            node_start, target, twin, capacity, arcs, own[t], source, sink, need[t], finer(need[t]), room, parent,
            queue, mark, stamp,
        )  # fmt: skip
        verdicts[t] = SAFE if safe else UNSAFE


@parallel
def _safe(
    bits: Bits,
    forward: Int64,
    reverse: Int64,
    row: Int32,
    column: Int32,
    upward: NDArray[np.uint8],
    need: Int64,
    possible: NDArray[np.uint8],
    verdicts: Verdicts,
) -> None:
    for p in prange(bits.shape[0]):
        _decide(bits[p], forward, reverse, row, column, upward, need, possible, verdicts[p])


@parallel
def _reachability(
    bits: Bits,
    forward: Int64,
    reverse: Int64,
    row: Int32,
    column: Int32,
    upward: NDArray[np.uint8],
    need: Int64,
    possible: NDArray[np.uint8],
    chunks: int,
    verdicts: Verdicts,
) -> None:
    """A work item is a group of 64 patterns and one of `chunks` parts of the tasks."""
    patterns, tasks = verdicts.shape
    for item in prange((patterns + 63) // 64 * chunks):
        group, chunk = item // chunks, item % chunks
        begin, end = tasks * chunk // chunks, tasks * (chunk + 1) // chunks
        _screen(
            bits, group * 64, min(patterns, group * 64 + 64), forward, reverse, row, column, upward, need, possible,
            begin, end, verdicts,
        )  # fmt: skip


@parallel
def _remove_redundant(
    bits: Bits,
    forward: Int64,
    reverse: Int64,
    row: Int32,
    column: Int32,
    upward: NDArray[np.uint8],
    need: Int64,
    possible: NDArray[np.uint8],
    order: Int32,
) -> None:
    for p in prange(bits.shape[0]):
        _clean(bits[p], forward, reverse, row, column, upward, need, possible, order)


@device
def _clean(
    rows: Bits,
    forward: Int64,
    reverse: Int64,
    row: Int32,
    column: Int32,
    upward: NDArray[np.uint8],
    need: Int64,
    possible: NDArray[np.uint8],
    order: Int32,
) -> None:
    """Drop cells of one pattern in the given order; stored witnesses say which tasks depend on a cell."""
    height, width = forward.shape
    tasks = row.shape[0]
    arcs, node_start, target, twin, capacity = _network(rows, forward, reverse)
    room, parent = np.empty(2 * arcs, np.int64), np.empty(height + width, np.int32)
    queue, mark, stamp = np.empty_like(parent), np.zeros(height + width, np.int32), np.zeros(1, np.int32)
    witness = np.zeros((tasks, (arcs + 63) // 64), np.uint64)
    renewed, affected = np.empty_like(witness), np.empty(tasks, np.int32)
    for t in range(tasks):
        own = find_arc(node_start, target, row[t], height + column[t])
        source, sink = ends(row[t], column[t], upward[t], height)
        if own >= 0 and possible[t] != 0 and need[t] > 0 and covers(
            node_start, target, twin, capacity, arcs, own, source, sink, need[t], need[t], room, parent,
            queue, mark, stamp
        ):  # fmt: skip
            keep_witness(capacity, room, arcs, own, witness[t])
    for q in range(order.shape[0]):
        i, j = order[q] // width, order[q] % width
        e = find_arc(node_start, target, i, height + j)
        if e < 0:
            continue
        ahead, back = capacity[e], capacity[twin[e]]
        capacity[e], capacity[twin[e]] = 0, 0
        count, removable = 0, True
        for t in range(tasks):
            if not depends(witness[t], e):
                continue
            source, sink = ends(row[t], column[t], upward[t], height)
            own = find_arc(node_start, target, row[t], height + column[t])
            removable = own != e and covers(
                node_start, target, twin, capacity, arcs, own, source, sink, need[t], need[t], room, parent,
                queue, mark, stamp,
            )  # fmt: skip
            if not removable:
                break
            keep_witness(capacity, room, arcs, own, renewed[t])
            affected[count] = t
            count += 1
        if removable:
            for x in range(count):
                witness[affected[x]] = renewed[affected[x]]
            rows[i, j >> 6] &= ~(ONE << np.uint64(j & 63))
        else:
            capacity[e], capacity[twin[e]] = ahead, back


@parallel
def _swap_gains(
    start: Int64,
    cell: Int32,
    chromosomes: Int32,
    uses: Int32,
    weights: Int64,
    base: Bits,
    columns: int,
    pairs: Int32,
    gains: Int64,
) -> None:
    for q in prange(pairs.shape[0]):
        taker, giver = pairs[q, 0], pairs[q, 1]
        for t in range(chromosomes.shape[1]):
            gains[q, t] = swap_gain(
                start, cell, uses[taker], weights, base, columns, chromosomes[taker, t], chromosomes[giver, t]
            )


@parallel
def _rectangles(
    bits: Bits,
    forward: Int64,
    reverse: Int64,
    weights: Int64,
    row: Int32,
    column: Int32,
    upward: NDArray[np.uint8],
    need: Int64,
    possible: NDArray[np.uint8],
    items: Int32,
    corner_row: Int32,
    corner_column: Int32,
    cost: Int64,
) -> None:
    for q in prange(items.shape[0]):
        t = items[q, 1]
        if possible[t] == 0:
            corner_row[q], corner_column[q], cost[q] = -1, -1, INFINITE
        else:
            corner_row[q], corner_column[q], cost[q] = cheapest_rectangle(
                bits[items[q, 0]], forward, reverse, weights, row[t], column[t], upward[t], need[t]
            )


@parallel
def _paths(
    bits: Bits,
    forward: Int64,
    reverse: Int64,
    weights: Int64,
    row_order: Int32,
    column_order: Int32,
    row: Int32,
    column: Int32,
    upward: NDArray[np.uint8],
    need: Int64,
    possible: NDArray[np.uint8],
    items: Int32,
    length: Int64,
    cells: Int32,
    amounts: Int64,
) -> None:
    nodes = forward.shape[0] + forward.shape[1]
    for q in prange(items.shape[0]):
        t = items[q, 1]
        distance = np.empty(nodes, np.int64)
        parent, opened, place = (
            np.empty(nodes, np.int32),
            np.empty(nodes, np.int32),
            np.empty(nodes, np.int32),
        )
        length[q] = 0
        if possible[t] != 0 and need[t] > 0:
            length[q] = cheapest_circuit(
                bits[items[q, 0]], forward, reverse, weights, row_order, column_order, row[t], column[t],
                upward[t], need[t], cells[q], amounts[q], distance, parent, opened, place,
            )  # fmt: skip


@parallel
def _boxes(
    size: Int64, stride: Int64, total: Int64, base: Int64, first: Int64, start: Int64, code: Int32, sign: Signs,
    up: Int64, down: Int64, weights: Int64, hidden: Bytes, inside: int, task_cell: Int32, direction: Signs,
    need: Int64, items: Int32, options: int, rows: int, length: Int64, cells: Int32, amounts: Int64,
) -> None:  # fmt: skip
    axes = len(size)
    for q in prange(items.shape[0]):
        t = items[q, 1]
        moved = np.empty(cells.shape[1], np.int8)
        length[q] = box_of(
            size, stride, total, base, first, start, code, sign, up, down, weights, hidden[items[q, 0]], inside,
            task_cell[t], direction[t], need[t], np.empty(options, np.int64), np.empty(options, np.int32), cells[q],
            moved, np.empty((6, axes + 1), np.int64), np.empty((rows, size[axes - 1]), np.int64),
            np.empty(rows, np.int64),
        )  # fmt: skip
        for x in range(length[q]):
            amounts[q, x] = moved[x] * need[t]


@parallel
def _box_costs(
    size: Int64, stride: Int64, total: Int64, base: Int64, first: Int64, start: Int64, code: Int32, sign: Signs,
    up: Int64, down: Int64, weights: Int64, pattern: Bytes, task_cell: Int32, direction: Signs, need: Int64,
    orders: Int32, options: int, box: int, rows: int, costs: Int64,
) -> None:  # fmt: skip
    axes = len(size)
    for p in prange(orders.shape[0]):
        costs[p] = price_in_order(
            size, stride, total, base, first, start, code, sign, up, down, weights, pattern.copy(), task_cell,
            direction, need, orders[p], np.empty(options, np.int64), np.empty(options, np.int32),
            np.empty(box, np.int32), np.empty(box, np.int8), np.empty((6, axes + 1), np.int64),
            np.empty((rows, size[axes - 1]), np.int64), np.empty(rows, np.int64),
        )  # fmt: skip


@parallel
def _first_order(
    row_start: Int64, row_index: Int32, row_value: Floats, row_step: Floats, column_start: Int64, column_index: Int32,
    column_value: Floats, column_step: Floats, pull: Floats, lower: Floats, upper: Floats, iterations: int,
) -> Floats:  # fmt: skip
    # whole rows of a batch at once, so that the innermost loops run over neighbours
    columns, batch = pull.shape
    z, ahead = np.zeros((columns, batch)), np.zeros((columns, batch))
    y = np.zeros((len(row_step), batch))
    for _ in range(iterations):
        for r in prange(len(row_step)):
            total = np.zeros(batch)
            for e in range(row_start[r], row_start[r + 1]):
                for b in range(batch):
                    total[b] += row_value[e] * ahead[row_index[e], b]
            for b in range(batch):
                y[r, b] += row_step[r] * total[b]
        for j in prange(columns):
            total = np.zeros(batch)
            for e in range(column_start[j], column_start[j + 1]):
                for b in range(batch):
                    total[b] += column_value[e] * y[column_index[e], b]
            for b in range(batch):
                new = kept_within(z[j, b] - column_step[j] * (total[b] - pull[j, b]), lower[j, b], upper[j, b])
                ahead[j, b] = 2.0 * new - z[j, b]
                z[j, b] = new
    return z


@parallel
def _line_rooms(start: Int64, cell: Int32, coef: Int64, fall: Int64, rise: Int64, room: Int64) -> None:
    patterns, lines = room.shape[0], room.shape[1]
    for item in prange(patterns * lines):
        p, line = item // lines, item % lines
        falls, endless_falls, rises, endless_rises = line_room(start, cell, coef, fall[p], rise[p], line)
        room[p, line, 0], room[p, line, 1] = falls, endless_falls
        room[p, line, 2], room[p, line, 3] = rises, endless_rises


@parallel
def _tighten(
    bits: Bits,
    columns: int,
    cell_start: Int64,
    cell_line: Int32,
    line_coef: Int64,
    room: Int64,
    fall: Int64,
    rise: Int64,
) -> int:
    patterns, cells = fall.shape
    changed = 0
    for item in prange(patterns * cells):
        p, c = item // cells, item % cells
        if cell_bit(bits[p], columns, c):
            new_fall, new_rise = tightened(cell_start, cell_line, line_coef, room[p], fall[p, c], rise[p, c], c)
            if new_fall < fall[p, c] or new_rise < rise[p, c]:
                changed += 1
            fall[p, c], rise[p, c] = new_fall, new_rise
    return changed


@parallel
def _random(key: np.uint64, stream: np.uint64, start: np.uint64, words: NDArray[np.uint32]) -> None:
    for x in prange(words.shape[0]):
        words[x] = philox_word(key, start + np.uint64(x), stream)


@parallel
def _rare_weights(
    start: Int64, coordinate: Int32, count: Int64, weight: Int64, field: Int32, threshold: Int64, image_start: Int64,
    image_size: Int64, image: Int32, table: Int32, rule: Int32, bins: Int64, left: Int64,
) -> None:  # fmt: skip
    """One job per thread: fill the recoded histogram, then add up the weights of cells whose bin is still rare."""
    for job in prange(len(table)):
        t = table[job]
        histogram = np.zeros(bins[job], np.int64)
        for cell in range(start[t], start[t + 1]):
            at = recoded_bin(coordinate[cell], field[t], rule[job], image_start, image_size, image)
            histogram[at] += count[cell]
        total = 0
        for cell in range(start[t], start[t + 1]):
            if weight[cell] > 0:
                at = recoded_bin(coordinate[cell], field[t], rule[job], image_start, image_size, image)
                if histogram[at] < threshold[t]:
                    total += weight[cell]
        left[job] = total


@contextmanager
def _threads(work: int) -> Iterator[None]:
    """One thread for little work (waking others takes longer than doing it), else as many as numba may use."""
    allowed = get_num_threads()
    set_num_threads(allowed if work >= _WORTH_SHARING else 1)
    try:
        yield
    finally:
        set_num_threads(allowed)


class CpuBackend:
    """See `Backend`: everything in host memory, compiled, on all threads that numba may use."""

    name = "cpu"

    def pack(self, suppressed: Bools, columns: int | None = None) -> Patterns:
        return pack(suppressed, columns)

    def unpack(self, patterns: Patterns) -> Bools:
        return unpack(patterns)

    def to_host(self, array: Any) -> NDArray[Any]:
        return np.asarray(array)

    def union(self, pool: Pool, chromosomes: Int32, weights: Int64, base: Bools, columns: int | None = None) -> Union:
        ground = pack(base[None, :], columns)
        count = len(chromosomes)
        bits = np.empty((count, *ground.bits.shape[1:]), np.uint64)
        uses, costs = np.zeros((count, ground.cells), np.int32), np.empty(count, np.int64)
        with _threads(count * ground.cells):
            _union(
                pool.start, pool.cell, owned(chromosomes, np.int32), owned(weights, np.int64), ground.bits[0],
                ground.columns, bits, uses, costs,
            )  # fmt: skip
        return Union(Patterns(bits, ground.columns), uses, costs)

    def line_totals(self, patterns: Population, lines: Lines, values: Int64) -> tuple[Int32, Int64]:
        packed = resident(patterns)
        counts = np.zeros((packed.count, lines.count), np.int32)
        sums = np.zeros((packed.count, lines.count), np.int64)
        with _threads(packed.bits.size * 64):
            _line_totals(
                packed.bits,
                packed.columns,
                lines.cell_start,
                lines.line,
                owned(values, np.int64),
                counts,
                sums,
            )
        return counts, sums

    def quick_unsafe(self, patterns: Population, lines: Lines, up: Int64, down: Int64, tasks: Tasks) -> Bools:
        packed = resident(patterns)
        rise, fall = owned(up, np.int64).ravel(), owned(down, np.int64).ravel()
        unsafe = np.empty((packed.count, len(tasks)), np.bool_)
        with _threads(packed.bits.size * 64):
            _quick_unsafe(
                packed.bits, packed.columns, lines.cell_start, lines.line, lines.line_coef, lines.count, rise, fall,
                *line_pushes(lines, rise, fall, tasks), tasks.cell, tasks.direction, tasks.need, unsafe,
            )  # fmt: skip
        return unsafe

    def circuits_whole(self, patterns: Population, pool: Pool, chromosomes: Int32) -> Bools:
        packed = resident(patterns)
        whole = np.empty(chromosomes.shape, np.bool_)
        with _threads(whole.size * 8):
            _circuits_whole(packed.bits, packed.columns, pool.start, pool.cell, owned(chromosomes, np.int32), whole)
        return whole

    def reachability(self, patterns: Population, plane: Plane, tasks: Tasks) -> Verdicts:
        packed, flow = resident(patterns, plane.columns), FlowTasks.of(plane, tasks)
        verdicts = np.empty((packed.count, len(tasks)), np.uint8)
        # A few groups of 64 patterns would leave threads idle: then the tasks are split as well.
        chunks = max(1, min(len(tasks), 16 // max(1, (packed.count + 63) // 64)))
        with _threads(verdicts.size * (plane.rows + plane.columns)):
            _reachability(
                packed.bits, plane.forward, plane.reverse, flow.row, flow.column, flow.upward, flow.need,
                flow.possible, chunks, verdicts,
            )  # fmt: skip
        return verdicts

    def safe(
        self,
        patterns: Population,
        plane: Plane,
        tasks: Tasks,
        pool: Pool | None = None,
        chromosomes: Int32 | None = None,
    ) -> Bools:
        packed = resident(patterns, plane.columns)
        order = np.argsort(tasks.need, kind="stable")
        flow = FlowTasks.of(plane, tasks.take(order))
        verdicts = np.full((packed.count, len(tasks)), UNDECIDED, np.uint8)
        if pool is not None and chromosomes is not None:
            verdicts[self.circuits_whole(packed, pool, chromosomes)[:, order]] = SAFE
        with _threads(verdicts.size * (plane.rows + plane.columns)):
            _safe(
                packed.bits, plane.forward, plane.reverse, flow.row, flow.column, flow.upward, flow.need,
                flow.possible, verdicts,
            )  # fmt: skip
        safe = np.empty(verdicts.shape, np.bool_)
        safe[:, order] = verdicts == SAFE
        return safe

    def remove_redundant(
        self, patterns: Population, plane: Plane, tasks: Tasks, weights: Int64, keep: Bools
    ) -> Patterns:
        packed = resident(patterns, plane.columns)
        bits = packed.bits.copy()
        flow = FlowTasks.of(plane, tasks)
        with _threads(packed.count * len(tasks) * plane.cells):
            _remove_redundant(
                bits, plane.forward, plane.reverse, flow.row, flow.column, flow.upward, flow.need, flow.possible,
                cell_order(weights, keep),
            )  # fmt: skip
        return Patterns(bits, packed.columns)

    def swap_gains(self, pool: Pool, chromosomes: Int32, uses: Any, weights: Int64, base: Bools, pairs: Int32) -> Int64:
        ground = pack(base[None, :])
        gains = np.empty((len(pairs), chromosomes.shape[1]), np.int64)
        with _threads(gains.size * 16):
            _swap_gains(
                pool.start, pool.cell, owned(chromosomes, np.int32), owned(uses, np.int32), owned(weights,
                np.int64), ground.bits[0], ground.columns, owned(pairs, np.int32), gains,
            )  # fmt: skip
        return gains

    def cheapest_rectangles(
        self, patterns: Population, plane: Plane, tasks: Tasks, weights: Int64, items: Int32
    ) -> Rectangles:
        packed, flow = resident(patterns, plane.columns), FlowTasks.of(plane, tasks)
        row, column = np.empty(len(items), np.int32), np.empty(len(items), np.int32)
        cost = np.empty(len(items), np.int64)
        with _threads(len(items) * plane.cells):
            _rectangles(
                packed.bits, plane.forward, plane.reverse, owned(weights, np.int64).ravel(), flow.row,
                flow.column, flow.upward, flow.need, flow.possible, owned(items, np.int32), row, column, cost,
            )  # fmt: skip
        return Rectangles(row, column, cost)

    def cheapest_paths(
        self, patterns: Population, plane: Plane, tasks: Tasks, weights: Int64, items: Int32
    ) -> Circuits:
        packed, flow = resident(patterns, plane.columns), FlowTasks.of(plane, tasks)
        prices = owned(weights, np.int64).ravel()
        row_order, column_order = line_orders(prices, plane.rows, plane.columns)
        room = 2 * (plane.rows + plane.columns)
        length = np.empty(len(items), np.int64)
        cells, amounts = np.empty((len(items), room), np.int32), np.empty((len(items), room), np.int64)
        with _threads(len(items) * plane.cells):
            _paths(
                packed.bits, plane.forward, plane.reverse, prices, row_order, column_order, flow.row, flow.column,
                flow.upward, flow.need, flow.possible, owned(items, np.int32), length, cells, amounts,
            )  # fmt: skip
        return circuits_of(packed, items, prices, length, cells, amounts)

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
        packed, room = resident(patterns), grid.room()
        prices = owned(weights, np.int64).ravel()
        length = np.empty(len(items), np.int64)
        cells = np.empty((len(items), room.box), np.int32)
        amounts = np.empty((len(items), room.box), np.int64)
        with _threads(len(items) * 1000):
            _boxes(
                *grid.arrays, owned(up, np.int64).ravel(), owned(down, np.int64).ravel(), prices,
                unpack(packed).view(np.uint8), int(inside), tasks.cell, tasks.direction, tasks.need,
                owned(items, np.int32), room.options, room.rows, length, cells, amounts,
            )  # fmt: skip
        return circuits_of(packed, items, prices, length, cells, amounts)

    def box_costs(
        self, pattern: Bools, grid: Grid, up: Int64, down: Int64, tasks: Tasks, weights: Int64, orders: Int32
    ) -> Int64:
        room, costs = grid.room(), np.empty(len(orders), np.int64)
        with _threads(orders.size * 1000):
            _box_costs(
                *grid.arrays, owned(up, np.int64).ravel(), owned(down, np.int64).ravel(),
                owned(weights, np.int64).ravel(), owned(pattern, np.bool_).ravel().view(np.uint8), tasks.cell,
                tasks.direction, tasks.need, owned(orders, np.int32), *room, costs,
            )  # fmt: skip
        return costs

    def unpick(
        self, patterns: Population, lines: Lines, up: Int64, down: Int64, sweeps: int = 1000
    ) -> tuple[Int64, Int64]:
        packed = resident(patterns)
        suppressed = unpack(packed)
        fall = owned(np.where(suppressed, np.asarray(down).ravel(), 0), np.int64)
        rise = owned(np.where(suppressed, np.asarray(up).ravel(), 0), np.int64)
        room = np.empty((packed.count, lines.count, 4), np.int64)
        for _ in range(sweeps):
            with _threads(fall.size):
                _line_rooms(lines.start, lines.cell, lines.coef, fall, rise, room)
                changed = _tighten(
                    packed.bits,
                    packed.columns,
                    lines.cell_start,
                    lines.line,
                    lines.line_coef,
                    room,
                    fall,
                    rise,
                )
            if not changed:
                break
        return fall, rise

    def rare_weights(self, tables: Frequencies, table: Int32, rule: Int32) -> Int64:
        def by_bins(table: Int32, rule: Int32, bins: Int64) -> Int64:
            left = np.empty(len(table), np.int64)
            work = int(bins.sum() + (tables.start[table + 1] - tables.start[table]).sum())
            with _threads(work):
                _rare_weights(
                    tables.start, tables.coordinate, tables.count, tables.weight, tables.field, tables.threshold,
                    tables.image_start, tables.image_size, tables.image, table, rule, bins, left,
                )  # fmt: skip
            return left

        return in_histograms(tables, table, rule, by_bins)

    def first_order(self, equations: Equations, pull: Floats, lower: Floats, upper: Floats, iterations: int) -> Floats:
        asked, low, high = (owned(part, np.float64) for part in (pull, lower, upper))
        with _threads(len(equations.row_value) * pull.shape[1]):
            found: Floats = _first_order(
                equations.row_start, equations.row_index, equations.row_value, equations.row_step,
                equations.column_start, equations.column_index, equations.column_value, equations.column_step,
                asked, low, high, iterations,
            )  # fmt: skip
        return found

    def random(self, seed: int, stream: int, start: int, count: int) -> NDArray[np.uint32]:
        words = np.empty(count, np.uint32)
        with _threads(count * 10):
            _random(word_seed(seed), word_seed(stream), word_seed(start), words)
        return words


def create() -> CpuBackend:
    """The CPU back end."""
    return CpuBackend()
