"""The CUDA kernels: which thread does which part of the logic.  The only file that imports numba's CUDA target.

A kernel loops over its items with the whole grid, so any grid size is right.  Kernels that need scratch take arrays
with one row per thread of the grid ("slot").  Under numba's simulator the same functions run on NumPy arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import cuda

from .layout import INFINITE, UNDECIDED
from .logic import bits as _bits
from .logic import boxes as _boxes
from .logic import circuits as _circuits
from .logic import first_order as _first_order
from .logic import flow as _flow
from .logic import frequencies as _frequencies
from .logic import lines as _lines
from .logic import network as _network
from .logic import paths as _paths
from .logic import philox as _philox
from .probe import simulated

THREADS = 128


def _usable_in_kernels(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the logic as kernels call it: itself; in the simulator, with its wrapped arrays unwrapped."""
    if not simulated():
        return function
    from numba.cuda.simulator.cudadrv.devicearray import FakeWithinKernelCUDAArray

    @functools.wraps(function)
    def unwrapped(*arguments: Any) -> Any:
        return function(*(a._item._ary if isinstance(a, FakeWithinKernelCUDAArray) else a for a in arguments))

    return unwrapped


cell_bit = _usable_in_kernels(_bits.cell_bit)
lowest = _usable_in_kernels(_bits.lowest)
position = _usable_in_kernels(_bits.position)
box_of = _usable_in_kernels(_boxes.box_of)
price_in_order = _usable_in_kernels(_boxes.price_in_order)
used_word = _usable_in_kernels(_circuits.used_word)
word_cost = _usable_in_kernels(_circuits.word_cost)
is_whole = _usable_in_kernels(_circuits.is_whole)
swap_gain = _usable_in_kernels(_circuits.swap_gain)
kept_within = _usable_in_kernels(_first_order.kept_within)
weighted_sum = _usable_in_kernels(_first_order.weighted_sum)
covers = _usable_in_kernels(_flow.covers)
depends = _usable_in_kernels(_flow.depends)
ends = _usable_in_kernels(_flow.ends)
finer = _usable_in_kernels(_flow.finer)
keep_witness = _usable_in_kernels(_flow.keep_witness)
lane_verdict = _usable_in_kernels(_flow.lane_verdict)
reach = _usable_in_kernels(_flow.reach)
recoded_bin = _usable_in_kernels(_frequencies.recoded_bin)
line_exposes = _usable_in_kernels(_lines.line_exposes)
line_room = _usable_in_kernels(_lines.line_room)
tightened = _usable_in_kernels(_lines.tightened)
build_network = _usable_in_kernels(_network.build_network)
find_arc = _usable_in_kernels(_network.find_arc)
sliced_word = _usable_in_kernels(_network.sliced_word)
suppressed_count = _usable_in_kernels(_network.suppressed_count)
united_word = _usable_in_kernels(_network.united_word)
cheapest_circuit = _usable_in_kernels(_paths.cheapest_circuit)
cheapest_rectangle = _usable_in_kernels(_paths.cheapest_rectangle)
philox_word = _usable_in_kernels(_philox.philox_word)

ZERO, ONE, FULL = _bits.ZERO, _bits.ONE, _bits.FULL


def union(start, cell, chromosomes, weights, base, columns, bits, uses, costs):  # type: ignore[no-untyped-def]
    """One block per pattern: count uses, then write words and add up the cost."""
    total = cuda.shared.array(1, numba.int64)
    step = cuda.blockDim.x
    p = cuda.blockIdx.x
    while p < chromosomes.shape[0]:
        if cuda.threadIdx.x == 0:
            total[0] = 0
        t = cuda.threadIdx.x
        while t < chromosomes.shape[1]:
            k = chromosomes[p, t]
            if k >= 0:
                for e in range(start[k], start[k + 1]):
                    cuda.atomic.add(uses, (p, cell[e]), 1)
            t += step
        cuda.syncthreads()
        w = cuda.threadIdx.x
        while w < base.shape[0] * base.shape[1]:
            i = w // base.shape[1]
            x = w - i * base.shape[1]
            word = np.uint64(used_word(uses[p], base, columns, i, x))
            bits[p, i, x] = word
            cost = word_cost(word & ~base[i, x], columns, i, x, weights)
            if cost != 0:
                cuda.atomic.add(total, 0, cost)
            w += step
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            costs[p] = total[0]
        cuda.syncthreads()
        p += cuda.gridDim.x


def line_totals(bits, columns, cell_start, cell_line, values, counts, sums):  # type: ignore[no-untyped-def]
    """One thread per word of a pattern; counts and sums are added atomically."""
    words = bits.shape[1] * bits.shape[2]
    x = cuda.grid(1)
    while x < bits.shape[0] * words:
        p = x // words
        i = (x - p * words) // bits.shape[2]
        w = x - p * words - i * bits.shape[2]
        word = bits[p, i, w]
        while word != ZERO:
            single = np.uint64(lowest(word))
            word ^= single
            c = i * columns + w * 64 + position(single)
            for q in range(cell_start[c], cell_start[c + 1]):
                cuda.atomic.add(counts, (p, cell_line[q]), 1)
                cuda.atomic.add(sums, (p, cell_line[q]), values[c])
        x += cuda.gridsize(1)


def line_reach(bits, columns, cell_start, cell_line, rise_of, fall_of, rises, falls):  # type: ignore[no-untyped-def]
    """One thread per word of a pattern: how far the suppressed cells can push each line, added atomically."""
    words = bits.shape[1] * bits.shape[2]
    x = cuda.grid(1)
    while x < bits.shape[0] * words:
        p = x // words
        i = (x - p * words) // bits.shape[2]
        w = x - p * words - i * bits.shape[2]
        word = bits[p, i, w]
        while word != ZERO:
            single = np.uint64(lowest(word))
            word ^= single
            c = i * columns + w * 64 + position(single)
            for q in range(cell_start[c], cell_start[c + 1]):
                cuda.atomic.add(rises, (p, cell_line[q]), rise_of[q])
                cuda.atomic.add(falls, (p, cell_line[q]), fall_of[q])
        x += cuda.gridsize(1)


def quick_unsafe(  # type: ignore[no-untyped-def]
    bits, columns, cell_start, cell_line, line_coef, up, down, rise_of, fall_of, rises, falls, task_cell, direction,
    need, unsafe,
):  # fmt: skip
    """One thread per pattern and task."""
    tasks = task_cell.shape[0]
    x = cuda.grid(1)
    while x < bits.shape[0] * tasks:
        p = x // tasks
        t = x - p * tasks
        exposed = line_exposes(
            bits[p], columns, cell_start, cell_line, line_coef, up, down, rise_of, fall_of, rises[p], falls[p],
            task_cell[t], direction[t], need[t],
        )  # fmt: skip
        unsafe[p, t] = 1 if exposed else 0
        x += cuda.gridsize(1)


def circuits_whole(bits, columns, start, cell, chromosomes, whole):  # type: ignore[no-untyped-def]
    """One thread per pattern and task."""
    tasks = chromosomes.shape[1]
    x = cuda.grid(1)
    while x < bits.shape[0] * tasks:
        p = x // tasks
        t = x - p * tasks
        whole[p, t] = 1 if is_whole(bits[p], columns, start, cell, chromosomes[p, t]) else 0
        x += cuda.gridsize(1)


def count_suppressed(bits, counts):  # type: ignore[no-untyped-def]
    """One thread per pattern."""
    p = cuda.grid(1)
    while p < bits.shape[0]:
        counts[p] = suppressed_count(bits[p])
        p += cuda.gridsize(1)


def unite(bits, united):  # type: ignore[no-untyped-def]
    """One thread per word of a group of 64 patterns: the union of the group."""
    words = bits.shape[1] * bits.shape[2]
    x = cuda.grid(1)
    while x < united.shape[0] * words:
        g = x // words
        i = (x - g * words) // bits.shape[2]
        w = x - g * words - i * bits.shape[2]
        united[g, i, w] = united_word(bits, g * 64, min(bits.shape[0], g * 64 + 64), i, w)
        x += cuda.gridsize(1)


def build_networks(bits, forward, reverse, node_start, target, twin, capacity, arcs):  # type: ignore[no-untyped-def]
    """One thread per pattern (or group)."""
    p = cuda.grid(1)
    while p < bits.shape[0]:
        arcs[p] = build_network(bits[p], forward, reverse, node_start[p], target[p], twin[p], capacity[p])
        p += cuda.gridsize(1)


def slice_lanes(bits, rows, target, twin, arcs, lanes):  # type: ignore[no-untyped-def]
    """One thread per arc of a group's network: which of the group's 64 patterns hold it."""
    room = lanes.shape[1]
    x = cuda.grid(1)
    while x < lanes.shape[0] * room:
        g = x // room
        e = x - g * room
        if e < arcs[g]:
            last = min(bits.shape[0], g * 64 + 64)
            lanes[g, e] = sliced_word(bits, g * 64, last, target[g, twin[g, e]], target[g, e] - rows)
        x += cuda.gridsize(1)


def screen(  # type: ignore[no-untyped-def]
    patterns, rows, node_start, target, twin, capacity, arcs, lanes, row, column, upward, need, possible,
    reached, queue, queued, through, any_path,
):  # fmt: skip
    """One thread per group and task, 64 patterns in a word: who has a path of full capacity, who any path at all."""
    tasks = row.shape[0]
    slot = cuda.grid(1)
    x = slot
    while x < node_start.shape[0] * tasks:
        g = x // tasks
        t = x - g * tasks
        wide, some = ZERO, ZERO
        own = find_arc(node_start[g], target[g], row[t], rows + column[t])
        if need[t] <= 0:
            wide = FULL
        elif own >= 0 and possible[t] != 0:
            source, sink = ends(row[t], column[t], upward[t], rows)
            held = lanes[g, own]
            wide = np.uint64(
                reach(node_start[g], target[g], twin[g], capacity[g], lanes[g], arcs[g], own, source, sink, need[t],
                      held, reached[slot], queue[slot], queued[slot])
            )  # fmt: skip
            some = np.uint64(
                reach(node_start[g], target[g], twin[g], capacity[g], lanes[g], arcs[g], own, source, sink, 1,
                      held & ~wide, reached[slot], queue[slot], queued[slot])
            )  # fmt: skip
        through[g, t] = wide
        any_path[g, t] = some
        x += cuda.gridsize(1)


def spread_verdicts(through, any_path, verdicts):  # type: ignore[no-untyped-def]
    """One thread per pattern and task: from the words of 64 patterns to verdicts, where there is none yet."""
    tasks = verdicts.shape[1]
    x = cuda.grid(1)
    while x < verdicts.shape[0] * tasks:
        p = x // tasks
        t = x - p * tasks
        if verdicts[p, t] == UNDECIDED:
            verdicts[p, t] = lane_verdict(through[p // 64, t], any_path[p // 64, t], p % 64)
        x += cuda.gridsize(1)


def decide(  # type: ignore[no-untyped-def]
    items, tasks, rows, node_start, target, twin, capacity, arcs, row, column, upward, need,
    room, parent, queue, mark, stamp, verdicts,
):  # fmt: skip
    """One thread per undecided pattern and task (`items` holds pattern * tasks + task): maximum flow."""
    slot = cuda.grid(1)
    x = slot
    while x < items.shape[0]:
        p = items[x] // tasks
        t = items[x] - p * tasks
        own = find_arc(node_start[p], target[p], row[t], rows + column[t])
        source, sink = ends(row[t], column[t], upward[t], rows)
        covered = covers(
            node_start[p], target[p], twin[p], capacity[p], arcs[p], own, source, sink, need[t], finer(need[t]),
            room[slot], parent[slot], queue[slot], mark[slot], stamp[slot],
        )  # fmt: skip
        verdicts[p, t] = 1 if covered else 0
        x += cuda.gridsize(1)


def first_witnesses(  # type: ignore[no-untyped-def]
    rows, node_start, target, twin, capacity, arcs, row, column, upward, need, possible,
    room, parent, queue, mark, stamp, witness,
):  # fmt: skip
    """One thread per pattern and task: a flow that proves the task, as bits over arcs; all zero where there is none."""
    tasks = row.shape[0]
    slot = cuda.grid(1)
    x = slot
    while x < node_start.shape[0] * tasks:
        p = x // tasks
        t = x - p * tasks
        own = find_arc(node_start[p], target[p], row[t], rows + column[t])
        if own >= 0 and possible[t] != 0 and need[t] > 0:
            source, sink = ends(row[t], column[t], upward[t], rows)
            if covers(
                node_start[p], target[p], twin[p], capacity[p], arcs[p], own, source, sink, need[t], need[t],
                room[slot], parent[slot], queue[slot], mark[slot], stamp[slot],
            ):  # fmt: skip
                keep_witness(capacity[p], room[slot], arcs[p], own, witness[p, t])
        x += cuda.gridsize(1)


def remove_redundant(  # type: ignore[no-untyped-def]
    bits, columns, order, node_start, target, twin, capacity, arcs, row, column, upward, need,
    room, parent, queue, mark, stamp, witness, renewed, touched,
):  # fmt: skip
    """One block per pattern: cells in the given order, the tasks that depend on a cell shared out to the threads."""
    failed = cuda.shared.array(1, numba.int32)
    p = cuda.blockIdx.x
    rows = bits.shape[1]
    me = cuda.threadIdx.x
    slot = cuda.grid(1)
    for q in range(order.shape[0]):
        i = order[q] // columns
        j = order[q] - i * columns
        e = find_arc(node_start[p], target[p], i, rows + j)
        if e < 0:
            continue
        ahead, back = capacity[p, e], capacity[p, twin[p, e]]
        cuda.syncthreads()
        if me == 0:
            capacity[p, e] = 0
            capacity[p, twin[p, e]] = 0
            failed[0] = 0
        cuda.syncthreads()
        t = me
        while t < row.shape[0]:
            touched[p, t] = 0
            if depends(witness[p, t], e):
                own = find_arc(node_start[p], target[p], row[t], rows + column[t])
                source, sink = ends(row[t], column[t], upward[t], rows)
                if own != e and covers(
                    node_start[p], target[p], twin[p], capacity[p], arcs[p], own, source, sink, need[t], need[t],
                    room[slot], parent[slot], queue[slot], mark[slot], stamp[slot],
                ):  # fmt: skip
                    keep_witness(capacity[p], room[slot], arcs[p], own, renewed[p, t])
                    touched[p, t] = 1
                else:
                    failed[0] = 1
            t += cuda.blockDim.x
        cuda.syncthreads()
        if failed[0] == 0:
            t = me
            while t < row.shape[0]:
                if touched[p, t] != 0:
                    for w in range(witness.shape[2]):
                        witness[p, t, w] = renewed[p, t, w]
                t += cuda.blockDim.x
            if me == 0:
                bits[p, i, j >> 6] &= ~(ONE << np.uint64(j & 63))
        elif me == 0:
            capacity[p, e] = ahead
            capacity[p, twin[p, e]] = back
        cuda.syncthreads()


def swap_gains(start, cell, chromosomes, uses, weights, base, columns, pairs, gains):  # type: ignore[no-untyped-def]
    """One thread per pair of patterns and task."""
    tasks = chromosomes.shape[1]
    x = cuda.grid(1)
    while x < pairs.shape[0] * tasks:
        q = x // tasks
        t = x - q * tasks
        taker, giver = pairs[q, 0], pairs[q, 1]
        gains[q, t] = swap_gain(
            start, cell, uses[taker], weights, base, columns, chromosomes[taker, t], chromosomes[giver, t]
        )
        x += cuda.gridsize(1)


def rectangles(  # type: ignore[no-untyped-def]
    bits,
    forward,
    reverse,
    weights,
    row,
    column,
    upward,
    need,
    possible,
    items,
    corner_row,
    corner_column,
    cost,
):
    """One thread per item."""
    q = cuda.grid(1)
    while q < items.shape[0]:
        t = items[q, 1]
        corner_row[q] = -1
        corner_column[q] = -1
        cost[q] = INFINITE
        if possible[t] != 0:
            r, c, price = cheapest_rectangle(
                bits[items[q, 0]], forward, reverse, weights, row[t], column[t], upward[t], need[t]
            )
            corner_row[q] = r
            corner_column[q] = c
            cost[q] = price
        q += cuda.gridsize(1)


def paths(  # type: ignore[no-untyped-def]
    bits, forward, reverse, weights, row_order, column_order, row, column, upward, need, possible, items,
    length, cells, amounts, distance, parent, opened, place,
):  # fmt: skip
    """One thread per item."""
    slot = cuda.grid(1)
    q = slot
    while q < items.shape[0]:
        t = items[q, 1]
        length[q] = 0
        if possible[t] != 0 and need[t] > 0:
            length[q] = cheapest_circuit(
                bits[items[q, 0]], forward, reverse, weights, row_order, column_order, row[t], column[t],
                upward[t], need[t], cells[q], amounts[q], distance[slot], parent[slot], opened[slot], place[slot],
            )  # fmt: skip
        q += cuda.gridsize(1)


def boxes(  # type: ignore[no-untyped-def]
    size, stride, total, base, first, start, code, sign, up, down, weights, hidden, inside, task_cell, direction, need,
    items, length, cells, amounts, price, option, moved, level, row, least,
):  # fmt: skip
    """One thread per item."""
    slot = cuda.grid(1)
    q = slot
    while q < items.shape[0]:
        t = items[q, 1]
        length[q] = box_of(
            size, stride, total, base, first, start, code, sign, up, down, weights, hidden[items[q, 0]], inside,
            task_cell[t], direction[t], need[t], price[slot], option[slot], cells[q], moved[slot], level[slot],
            row[slot], least[slot],
        )  # fmt: skip
        for x in range(length[q]):
            amounts[q, x] = moved[slot, x] * need[t]
        q += cuda.gridsize(1)


def box_costs(  # type: ignore[no-untyped-def]
    size, stride, total, base, first, start, code, sign, up, down, weights, pattern, task_cell, direction, need, orders,
    costs, hidden, price, option, place, moved, level, row, least,
):  # fmt: skip
    """One thread per order; each has a copy of the pattern, which grows."""
    slot = cuda.grid(1)
    p = slot
    while p < orders.shape[0]:
        for cell in range(pattern.shape[0]):
            hidden[slot, cell] = pattern[cell]
        costs[p] = price_in_order(
            size, stride, total, base, first, start, code, sign, up, down, weights, hidden[slot], task_cell, direction,
            need, orders[p], price[slot], option[slot], place[slot], moved[slot], level[slot], row[slot], least[slot],
        )  # fmt: skip
        p += cuda.gridsize(1)


def dual_step(start, index, value, step, ahead, y):  # type: ignore[no-untyped-def]
    """One thread per row and problem."""
    batch = y.shape[1]
    x = cuda.grid(1)
    while x < y.shape[0] * batch:
        r = x // batch
        b = x - r * batch
        y[r, b] += step[r] * weighted_sum(start, index, value, ahead, r, b)
        x += cuda.gridsize(1)


def primal_step(start, index, value, step, pull, lower, upper, y, z, ahead):  # type: ignore[no-untyped-def]
    """One thread per column and problem."""
    batch = z.shape[1]
    x = cuda.grid(1)
    while x < z.shape[0] * batch:
        j = x // batch
        b = x - j * batch
        before = z[j, b]
        slope = weighted_sum(start, index, value, y, j, b) - pull[j, b]
        new = kept_within(before - step[j] * slope, lower[j, b], upper[j, b])
        ahead[j, b] = 2.0 * new - before
        z[j, b] = new
        x += cuda.gridsize(1)


def line_rooms(start, cell, coef, fall, rise, room):  # type: ignore[no-untyped-def]
    """One thread per pattern and line."""
    lines = room.shape[1]
    x = cuda.grid(1)
    while x < room.shape[0] * lines:
        p = x // lines
        line = x - p * lines
        falls, endless_falls, rises, endless_rises = line_room(start, cell, coef, fall[p], rise[p], line)
        room[p, line, 0] = falls
        room[p, line, 1] = endless_falls
        room[p, line, 2] = rises
        room[p, line, 3] = endless_rises
        x += cuda.gridsize(1)


def tighten(bits, columns, cell_start, cell_line, line_coef, room, fall, rise, changed):  # type: ignore[no-untyped-def]
    """One thread per pattern and cell; `changed` int32[1] counts the cells whose interval became narrower."""
    cells = fall.shape[1]
    x = cuda.grid(1)
    while x < fall.shape[0] * cells:
        p = x // cells
        c = x - p * cells
        if cell_bit(bits[p], columns, c):
            new_fall, new_rise = tightened(cell_start, cell_line, line_coef, room[p], fall[p, c], rise[p, c], c)
            if new_fall < fall[p, c] or new_rise < rise[p, c]:
                cuda.atomic.add(changed, 0, 1)
            fall[p, c] = new_fall
            rise[p, c] = new_rise
        x += cuda.gridsize(1)


def random(key, stream, start, words):  # type: ignore[no-untyped-def]
    """One thread per word."""
    x = cuda.grid(1)
    while x < words.shape[0]:
        words[x] = philox_word(key, start + np.uint64(x), stream)
        x += cuda.gridsize(1)


def rare_weights(  # type: ignore[no-untyped-def]
    start, coordinate, count, weight, field, threshold, image_start, image_size, image, table, rule, histogram, left,
):  # fmt: skip
    """One block per job: fill its recoded histogram, then add up the weights of cells whose bin is still rare."""
    job = cuda.blockIdx.x
    while job < table.shape[0]:
        t = table[job]
        cell = start[t] + cuda.threadIdx.x
        while cell < start[t + 1]:
            at = recoded_bin(coordinate[cell], field[t], rule[job], image_start, image_size, image)
            cuda.atomic.add(histogram, (job, at), count[cell])
            cell += cuda.blockDim.x
        cuda.syncthreads()
        cell = start[t] + cuda.threadIdx.x
        while cell < start[t + 1]:
            if weight[cell] > 0:
                at = recoded_bin(coordinate[cell], field[t], rule[job], image_start, image_size, image)
                if histogram[job, at] < threshold[t]:
                    cuda.atomic.add(left, job, weight[cell])
            cell += cuda.blockDim.x
        job += cuda.gridDim.x


def _types(letters: str) -> tuple[Any, ...]:
    """Argument types: b uint8, c int8, u uint32, i int32, l int64, w uint64, d float64; a digit: arrays of it."""
    scalar = {
        "b": numba.uint8,
        "c": numba.int8,
        "u": numba.uint32,
        "i": numba.int32,
        "l": numba.int64,
        "w": numba.uint64,
        "d": numba.float64,
    }
    words = letters.split()
    return tuple(
        scalar[x[0]][(slice(None),) * (int(x[1]) - 1) + (slice(None, None, 1),)] if x[1:] else scalar[x[0]]
        for x in words
    )


_NETWORK = "i2 i2 i2 l2 i1"
_FLOW_SCRATCH = "l2 i2 i2 i2 i2"
_GRID = "l1 l1 l1 l1 l1 l1 i1 c1"

# Every kernel with its argument types and its threads per block.
KERNELS: dict[str, tuple[Callable[..., None], str, int]] = {
    "union": (union, "l1 i1 i2 l1 w2 l w3 i2 l1", THREADS),
    "line_totals": (line_totals, "w3 l l1 i1 l1 i2 l2", THREADS),
    "line_reach": (line_reach, "w3 l l1 i1 l1 l1 l2 l2", THREADS),
    "quick_unsafe": (quick_unsafe, "w3 l l1 i1 l1 l1 l1 l1 l1 l2 l2 i1 c1 l1 b2", THREADS),
    "circuits_whole": (circuits_whole, "w3 l l1 i1 i2 b2", THREADS),
    "count_suppressed": (count_suppressed, "w3 i1", THREADS),
    "unite": (unite, "w3 w3", THREADS),
    "build_networks": (build_networks, f"w3 l2 l2 {_NETWORK}", THREADS),
    "slice_lanes": (slice_lanes, "w3 l i2 i2 i1 w2", THREADS),
    "screen": (screen, f"l l {_NETWORK} w2 i1 i1 b1 l1 b1 w2 i2 i2 w2 w2", THREADS),
    "spread_verdicts": (spread_verdicts, "w2 w2 b2", THREADS),
    "decide": (decide, f"l1 l l {_NETWORK} i1 i1 b1 l1 {_FLOW_SCRATCH} b2", THREADS),
    "first_witnesses": (first_witnesses, f"l {_NETWORK} i1 i1 b1 l1 b1 {_FLOW_SCRATCH} w3", THREADS),
    "remove_redundant": (
        remove_redundant,
        f"w3 l i1 {_NETWORK} i1 i1 b1 l1 {_FLOW_SCRATCH} w3 w3 i2",
        64,
    ),
    "swap_gains": (swap_gains, "l1 i1 i2 i2 l1 w2 l i2 l2", THREADS),
    "rectangles": (rectangles, "w3 l2 l2 l1 i1 i1 b1 l1 b1 i2 i1 i1 l1", THREADS),
    "paths": (paths, "w3 l2 l2 l1 i2 i2 i1 i1 b1 l1 b1 i2 l1 i2 l2 l2 i2 i2 i2", THREADS),
    "boxes": (boxes, f"{_GRID} l1 l1 l1 b2 l i1 c1 l1 i2 l1 i2 l2 l2 i2 c2 l3 l3 l2", THREADS),
    "box_costs": (box_costs, f"{_GRID} l1 l1 l1 b1 i1 c1 l1 i2 l1 b2 l2 i2 i2 c2 l3 l3 l2", 32),
    "dual_step": (dual_step, "l1 i1 d1 d1 d2 d2", THREADS),
    "primal_step": (primal_step, "l1 i1 d1 d1 d2 d2 d2 d2 d2 d2", THREADS),
    "line_rooms": (line_rooms, "l1 i1 l1 l2 l2 l3", THREADS),
    "tighten": (tighten, "w3 l l1 i1 l1 l3 l2 l2 i1", THREADS),
    "rare_weights": (rare_weights, "l1 i2 l1 l1 i2 l1 l2 l2 i1 i1 i2 l2 l1", THREADS),
    "random": (random, "w w w u1", THREADS),
}


def argument_types(name: str) -> tuple[Any, ...]:
    """The numba types of a kernel's arguments."""
    return _types(KERNELS[name][1])


@functools.cache
def compiled(name: str) -> Any:
    """The kernel, compiled for the device on first launch."""
    return cuda.jit(KERNELS[name][0])


def launch(name: str, blocks: int, *arguments: Any) -> None:
    """Run a kernel on `blocks` blocks of its usual size."""
    if blocks > 0:
        compiled(name)[blocks, KERNELS[name][2]](*arguments)
