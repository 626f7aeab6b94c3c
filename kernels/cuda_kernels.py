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

from .logic import bits as _bits
from .logic import boxes as _boxes
from .logic import circuits as _circuits
from .logic import first_order as _first_order
from .logic import frequencies as _frequencies
from .logic import lines as _lines
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
price_in_order = _usable_in_kernels(_boxes.price_in_order)
used_word = _usable_in_kernels(_circuits.used_word)
word_cost = _usable_in_kernels(_circuits.word_cost)
kept_within = _usable_in_kernels(_first_order.kept_within)
weighted_sum = _usable_in_kernels(_first_order.weighted_sum)
recoded_bin = _usable_in_kernels(_frequencies.recoded_bin)
line_room = _usable_in_kernels(_lines.line_room)
tightened = _usable_in_kernels(_lines.tightened)


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


_GRID = "l1 l1 l1 l1 l1 l1 i1 c1"

# Every kernel with its argument types and its threads per block.
KERNELS: dict[str, tuple[Callable[..., None], str, int]] = {
    "union": (union, "l1 i1 i2 l1 w2 l w3 i2 l1", THREADS),
    "box_costs": (box_costs, f"{_GRID} l1 l1 l1 b1 i1 c1 l1 i2 l1 b2 l2 i2 i2 c2 l3 l3 l2", 32),
    "dual_step": (dual_step, "l1 i1 d1 d1 d2 d2", THREADS),
    "primal_step": (primal_step, "l1 i1 d1 d1 d2 d2 d2 d2 d2 d2", THREADS),
    "line_rooms": (line_rooms, "l1 i1 l1 l2 l2 l3", THREADS),
    "tighten": (tighten, "w3 l l1 i1 l1 l3 l2 l2 i1", THREADS),
    "rare_weights": (rare_weights, "l1 i2 l1 l1 i2 l1 l2 l2 i1 i1 i2 l2 l1", THREADS),
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
