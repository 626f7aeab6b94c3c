"""The CUDA kernels: which thread does which part of the logic.  The only file that imports numba's CUDA target.

A kernel loops over its items with the whole grid, so any grid size is right.  Kernels that need scratch take arrays
with one row per thread of the grid ("slot").  Under numba's simulator the same functions run on NumPy arrays.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda

from . import general as _general
from .compile_cache import made_from
from .logic import bits as _bits
from .logic import boxes as _boxes
from .logic import circuits as _circuits
from .logic import first_order as _first_order
from .logic import frequencies as _frequencies
from .logic import general_records as _general_records
from .logic import lines as _lines
from .logic import workers as _workers
from .logic.boxes import Boxed
from .logic.boxes import BoxScratch as BoxScratch
from .logic.exchange import Chosen, Joins
from .logic.records import Children, Needs, Prices, TableRecord
from .logic.workers import Marks, Room, Tables
from .probe import simulated

THREADS = 128

WARP = 32
"""Threads of a block that works on one pattern at a time."""


def _usable_in_kernels(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the logic as kernels call it: itself; in the simulator, with its wrapped arrays unwrapped."""
    if not simulated():
        return function
    from numba.cuda.simulator.cudadrv.devicearray import FakeWithinKernelCUDAArray

    def plain(value: Any) -> Any:
        if isinstance(value, FakeWithinKernelCUDAArray):
            return value._item._ary
        return type(value)(*map(plain, value)) if hasattr(value, "_fields") else value

    @functools.wraps(function)
    def unwrapped(*arguments: Any) -> Any:
        return function(*map(plain, arguments))

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
clean_at = _usable_in_kernels(_workers.clean_at)
cost_at = _usable_in_kernels(_workers.cost_at)
decode_at = _usable_in_kernels(_workers.decode_at)
destroy_at = _usable_in_kernels(_workers.destroy_at)
digest_at = _usable_in_kernels(_workers.digest_at)
exchange_at = _usable_in_kernels(_workers.exchange_at)
judge_at = _usable_in_kernels(_workers.judge_at)
look_up_at = _usable_in_kernels(_workers.look_up_at)
nearest_at = _usable_in_kernels(_workers.nearest_at)
one_at = _usable_in_kernels(_general.one_at)


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
    size, stride, total, base, first, start, code, sign, up, down, weights, pattern, own_cell, direction, need, orders,
    costs, hidden, price, option, place, moved, level, row, least,
):  # fmt: skip
    """One thread per order; each has a copy of the pattern, which grows."""
    slot = cuda.grid(1)
    p = slot
    while p < orders.shape[0]:
        for cell in range(pattern.shape[0]):
            hidden[slot, cell] = pattern[cell]
        boxed = Boxed(size, stride, total, base, first, start, code, sign, up, down, weights)
        scratch = BoxScratch(
            price[slot], option[slot], place[slot], moved[slot], level[slot], row[slot], least[slot]
        )  # fmt: skip
        costs[p] = price_in_order(boxed, scratch, hidden[slot], own_cell, direction, need, orders[p])
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


@cuda.jit(device=True)  # type: ignore[untyped-decorator]
def lay_out(start, forced, bits, p):  # type: ignore[no-untyped-def]
    """The threads of a block write what pattern p begins with, and wait for each other."""
    x = cuda.threadIdx.x
    while x < start.shape[1] * start.shape[2]:
        i = x // start.shape[2]
        w = x - i * start.shape[2]
        bits[p, i, w] = start[p, i, w] | forced[i, w]
        x += cuda.blockDim.x
    cuda.syncthreads()


def decode(tables, room, start, children, safe):  # type: ignore[no-untyped-def]
    """One block per child, a worker: its threads lay out what the child begins with, its first one decodes."""
    p = cuda.blockIdx.x
    while p < safe.shape[0]:
        lay_out(start, tables.table.forced, children.rows, p)
        if cuda.threadIdx.x == 0:
            decode_at(tables, room, children, safe, cuda.blockIdx.x, p)
        p += cuda.gridDim.x


def clean(tables, room, start, bits, seeds):  # type: ignore[no-untyped-def]
    """One block per pattern, as `decode`."""
    p = cuda.blockIdx.x
    while p < bits.shape[0]:
        lay_out(start, tables.table.forced, bits, p)
        if cuda.threadIdx.x == 0:
            clean_at(tables, room, bits, seeds, cuda.blockIdx.x, p)
        p += cuda.gridDim.x


def destroy(tables, room, start, bits, seeds, strength):  # type: ignore[no-untyped-def]
    """One block per pattern, as `decode`."""
    p = cuda.blockIdx.x
    while p < bits.shape[0]:
        lay_out(start, tables.table.forced, bits, p)
        if cuda.threadIdx.x == 0:
            destroy_at(tables, room, bits, seeds, strength, cuda.blockIdx.x, p)
        p += cuda.gridDim.x


def judge(tables, room, bits, safe):  # type: ignore[no-untyped-def]
    """One block per pattern: its threads look up what earlier patterns taught, its first one searches for the rest."""
    p = cuda.blockIdx.x
    while p < bits.shape[0]:
        t = cuda.threadIdx.x
        while t < tables.needs.cell.shape[0]:
            look_up_at(tables, room, bits, cuda.blockIdx.x, p, t)
            t += cuda.blockDim.x
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            judge_at(tables, room, bits, safe, cuda.blockIdx.x, p)
        cuda.syncthreads()
        p += cuda.gridDim.x


def exchange(bits, columns, joins, marks, chosen, children, gains):  # type: ignore[no-untyped-def]
    """One block per pair, of which one thread works."""
    if cuda.threadIdx.x == 0:
        q = cuda.blockIdx.x
        while q < gains.shape[0]:
            gains[q] = exchange_at(bits, columns, joins, marks, chosen, children, cuda.blockIdx.x, q)
            q += cuda.gridDim.x


def general(table, states, patterns, genes, jobs, work, done):  # type: ignore[no-untyped-def]
    """One block per individual of a general table, of which one thread works: all in one, as compiling takes long."""
    if cuda.threadIdx.x == 0:
        p = cuda.blockIdx.x
        while p < patterns.shape[0]:
            done[p] = one_at(table, states, patterns, genes, jobs, work, cuda.blockIdx.x, p)
            p += cuda.gridDim.x


def price(table, bits, costs, digests):  # type: ignore[no-untyped-def]
    """One thread per pattern: what it costs, and a number that tells it from others."""
    p = cuda.grid(1)
    while p < bits.shape[0]:
        costs[p] = cost_at(table, bits, p)
        digests[p] = digest_at(bits, p)
        p += cuda.gridsize(1)


def nearest(bits, others, found):  # type: ignore[no-untyped-def]
    """One thread per pattern."""
    p = cuda.grid(1)
    while p < bits.shape[0]:
        found[p] = nearest_at(bits, others, p)
        p += cuda.gridsize(1)


def gather(bits, places, taken):  # type: ignore[no-untyped-def]
    """One thread per word: some patterns, in the order of their places."""
    words = bits.shape[1] * bits.shape[2]
    x = cuda.grid(1)
    while x < places.shape[0] * words:
        p = x // words
        i = (x - p * words) // bits.shape[2]
        w = x - p * words - i * bits.shape[2]
        taken[p, i, w] = bits[places[p], i, w]
        x += cuda.gridsize(1)


@cuda.jit(device=True)  # type: ignore[untyped-decorator]
def copy_row(source, target, length):  # type: ignore[no-untyped-def]
    """The threads of a block copy the beginning of a vector."""
    x = cuda.threadIdx.x
    while x < length:
        target[x] = source[x]
        x += cuda.blockDim.x


def copy_individuals(bits, genes, rows, begin, made, copied):  # type: ignore[no-untyped-def]
    """One block per individual: its pattern, and the certificates of its row of the genes, from `begin` on."""
    p = cuda.blockIdx.x
    while p < rows.shape[0]:
        row = rows[p]
        at = begin + p
        count = genes.certificates[row]
        entries = genes.begin[row, count]
        for i in range(bits.shape[1]):
            copy_row(bits[p, i], made[at, i], bits.shape[2])
        copy_row(genes.proof[row], copied.proof[at], genes.proof.shape[1])
        copy_row(genes.begin[row], copied.begin[at], count + 1)
        copy_row(genes.cell[row], copied.cell[at], entries)
        copy_row(genes.amount[row], copied.amount[at], entries)
        if cuda.threadIdx.x == 0:
            copied.certificates[at] = count
        p += cuda.gridDim.x


# The records that kernels take, with the types of their fields.
RECORDS: dict[str, tuple[Any, str]] = {
    "table": (TableRecord, "l l l2 l1 b1 w2"),
    "needs": (Needs, "i1 i1 i1 l1 b1 i2 i1 i1"),
    "prices": (Prices, "l2 w2 i1 l2 i2"),
    "tables": (Tables, "table needs prices"),
    "room": (Room, "i3 l3 i3 l3 i3 l3 l3 w3 w3 w3 b2 b2 b2 i2 i3 l3 i4 i3"),
    "children": (Children, "w3 w3 w3 w1 i1 i1"),
    "joins": (Joins, "l1 i1 i1 l1 l"),
    "marks": (Marks, "i3 l2"),
    "chosen": (Chosen, "i2 i1 w1"),
    "axes": (_general_records.GeneralTable, "l1 l1 l1 l1 l1 l1 i1 c1 l1 l1 l1 b1 i1 i1 c1 l1 l1 i2 l1 i1 l1 i1 l1 b1"),
    "states": (
        _general_records.State,
        "b2 l2 l2 l2 b2 i2 i2 i2 i2 i2 i2 i2 l2 i2 i2 i2 l2 i2 l2 i3 i2 i2 l3 i2 c2 l3",
    ),
    "genes": (_general_records.Genes, "i2 i2 i2 l2 i1"),
    "jobs": (_general.Jobs, "w2 w2 w2 l2"),
}


def _types(letters: str) -> tuple[Any, ...]:
    """Argument types: b uint8, c int8, i int32, l int64, w uint64, d float64; a digit: arrays of it; else a record."""
    scalar = {
        "b": numba.uint8,
        "c": numba.int8,
        "i": numba.int32,
        "l": numba.int64,
        "w": numba.uint64,
        "d": numba.float64,
    }

    def one(word: str) -> Any:
        if word in RECORDS:
            record, fields = RECORDS[word]
            return numba.types.NamedTuple(_types(fields), record)
        kind, dimensions = scalar[word[0]], word[1:]
        return kind[(slice(None),) * (int(dimensions) - 1) + (slice(None, None, 1),)] if dimensions else kind

    return tuple(one(word) for word in letters.split())


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
    "decode": (decode, "tables room w3 children b1", WARP),
    "clean": (clean, "tables room w3 w3 w1", WARP),
    "destroy": (destroy, "tables room w3 w3 w1 i1", WARP),
    "judge": (judge, "tables room w3 b1", WARP),
    "exchange": (exchange, "w3 l joins marks chosen w3 l1", WARP),
    "general": (general, "axes states w2 genes jobs l b1", WARP),
    "price": (price, "table w3 l1 w1", THREADS),
    "nearest": (nearest, "w3 w3 l1", THREADS),
    "gather": (gather, "w3 i1 w3", THREADS),
    "copy_individuals": (copy_individuals, "w3 genes i1 l w3 genes", THREADS),
}


def argument_types(name: str) -> tuple[Any, ...]:
    """The numba types of a kernel's arguments."""
    return _types(KERNELS[name][1])


@functools.cache
def compiled(name: str) -> Any:
    """The kernel, compiled for the device on first launch, or found on disk."""
    function = KERNELS[name][0]
    kernel = cuda.jit(function)
    if not simulated():
        with contextlib.suppress(RuntimeError):  # no folder can be written: compiled anew by every process
            kernel._cache = kernel_cache(function)
    return kernel


def kernel_cache(function: Callable[..., None]) -> Any:
    """numba's cache of a kernel, which by itself would not notice that a function that it calls has changed."""
    from numba.cuda.dispatcher import CUDACache

    class KernelCache(CUDACache):  # type: ignore[misc]
        """A kernel is found again only if nothing that it was made from has changed."""

        def _index_key(self, signature: Any, codegen: Any) -> Any:
            return (*super()._index_key(signature, codegen), made_from(function))

    return KernelCache(function)


class Resources(NamedTuple):
    """What a compiled kernel takes of a device: registers per thread, shared bytes and blocks per multiprocessor."""

    registers: int
    shared: int
    blocks: int


def resources(name: str) -> Resources | None:
    """What the driver says of a kernel that this process has launched; None of others, and in the simulator."""
    variants = {} if simulated() else compiled(name).overloads
    for variant in variants.values():
        multiprocessors = cuda.get_current_device().MULTIPROCESSOR_COUNT
        blocks = variant.max_cooperative_grid_blocks(KERNELS[name][2]) // multiprocessors
        return Resources(variant.regs_per_thread, variant.shared_mem_per_block, blocks)
    return None


def select_device(number: int) -> None:
    """Let the calling thread launch on a device."""
    cuda.select_device(number)


OUT_OF_MEMORY = 2
"""What the driver calls a launch for which memory is lacking."""


def launch(name: str, blocks: int, *arguments: Any) -> None:
    """Run a kernel on `blocks` blocks of its usual size."""
    if blocks <= 0:
        return
    try:
        compiled(name)[blocks, KERNELS[name][2]](*(ready(argument) for argument in arguments))
    except Exception as fault:
        if getattr(fault, "code", None) == OUT_OF_MEMORY:
            raise MemoryError(f"no device memory is left to launch {name}") from fault
        raise


def ready(argument: Any) -> Any:
    """An argument as numba takes it: the arrays of records by numba's own name; done once where a record is kept."""
    if simulated():
        return argument
    if isinstance(argument, tuple):
        return type(argument)(*(ready(part) for part in argument))
    return cuda.as_cuda_array(argument, sync=False) if cuda.is_cuda_array(argument) else argument
