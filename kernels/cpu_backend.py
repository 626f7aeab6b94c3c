"""The CPU back end: the logic compiled by numba, patterns (or words of 64 of them) spread over the threads."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, prange, set_num_threads

from .backend import Population, Union
from .host import in_histograms, resident
from .layout import (
    AxisGrid,
    Bits,
    Bools,
    BoxRoom,
    EquationLines,
    Equations,
    Floats,
    Frequencies,
    Int32,
    Int64,
    Patterns,
    Pool,
    Requirements,
    owned,
    pack,
    unpack,
)
from .logic.bits import cell_bit
from .logic.boxes import Boxed, BoxScratch, Bytes, Signs, price_in_order
from .logic.circuits import used_word, word_cost
from .logic.compile import parallel
from .logic.first_order import kept_within
from .logic.frequencies import recoded_bin
from .logic.lines import line_room, tightened

# Elementary steps (cells, pairs, words) from which a second thread pays.
_WORTH_SHARING = 20_000


class _Circuits(NamedTuple):
    """A pool: circuit k has the cells `cell[start[k]:start[k + 1]]`."""

    start: Int64
    cell: Int32


@parallel
def _union(
    pool: _Circuits, chromosomes: Int32, weights: Int64, base: Bits, columns: int, bits: Bits, uses: Int32, costs: Int64
) -> None:
    for p in prange(chromosomes.shape[0]):
        for t in range(chromosomes.shape[1]):
            k = chromosomes[p, t]
            if k >= 0:
                for e in range(pool.start[k], pool.start[k + 1]):
                    uses[p, pool.cell[e]] += 1
        cost = 0
        for i in range(base.shape[0]):
            for w in range(base.shape[1]):
                word = used_word(uses[p], base, columns, i, w)
                bits[p, i, w] = word
                cost += word_cost(word & ~base[i, w], columns, i, w, weights)
        costs[p] = cost


@parallel
def _box_costs(
    boxed: Boxed, pattern: Bytes, cell: Int32, direction: Signs, need: Int64, orders: Int32, room: BoxRoom, costs: Int64
) -> None:
    axes = len(boxed.size)
    for p in prange(orders.shape[0]):
        scratch = BoxScratch(
            np.empty(room.options, np.int64), np.empty(room.options, np.int32), np.empty(room.box, np.int32),
            np.empty(room.box, np.int8), np.empty((6, axes + 1), np.int64),
            np.empty((room.rows, boxed.size[axes - 1]), np.int64), np.empty(room.rows, np.int64),
        )  # fmt: skip
        costs[p] = price_in_order(boxed, scratch, pattern.copy(), cell, direction, need, orders[p])


@parallel
def _first_order(equations: tuple[Any, ...], pull: Floats, lower: Floats, upper: Floats, iterations: int) -> Floats:
    row_start, row_index, row_value, row_step, column_start, column_index, column_value, column_step = equations
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
def _rare_weights(tables: tuple[Any, ...], table: Int32, rule: Int32, bins: Int64, left: Int64) -> None:
    """One job per thread: fill the recoded histogram, then add up the weights of cells whose bin is still rare."""
    start, coordinate, count, weight, field, threshold, image_start, image_size, image = tables
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


def _arrays(record: Equations | Frequencies) -> tuple[Any, ...]:
    """The arrays of a record in their order, as compiled loops take them."""
    return tuple(getattr(record, field.name) for field in dataclasses.fields(record))


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

    def union(self, pool: Pool, chromosomes: Int32, weights: Int64, base: Bools, columns: int | None = None) -> Union:
        packed = pack(base[None, :], columns)
        count = len(chromosomes)
        bits = np.empty((count, *packed.bits.shape[1:]), np.uint64)
        uses, costs = np.zeros((count, packed.cells), np.int32), np.empty(count, np.int64)
        with _threads(count * packed.cells):
            _union(
                _Circuits(pool.start, pool.cell), owned(chromosomes, np.int32), owned(weights, np.int64),
                packed.bits[0], packed.columns, bits, uses, costs,
            )  # fmt: skip
        return Union(Patterns(bits, packed.columns), uses, costs)

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
        room, costs = grid.room(), np.empty(len(orders), np.int64)
        with _threads(orders.size * 1000):
            boxed = Boxed(*grid.arrays, *(owned(part, np.int64).ravel() for part in (up, down, weights)))
            hidden = owned(pattern, np.bool_).ravel().view(np.uint8)
            _box_costs(
                boxed,
                hidden,
                requirements.cell,
                requirements.direction,
                requirements.need,
                owned(orders, np.int32),
                room,
                costs,
            )
        return costs

    def unpick(
        self, patterns: Population, lines: EquationLines, up: Int64, down: Int64, sweeps: int = 1000
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
                _rare_weights(_arrays(tables), table, rule, bins, left)
            return left

        return in_histograms(tables, table, rule, by_bins)

    def first_order(self, equations: Equations, pull: Floats, lower: Floats, upper: Floats, iterations: int) -> Floats:
        asked, low, high = (owned(part, np.float64) for part in (pull, lower, upper))
        with _threads(len(equations.row_value) * pull.shape[1]):
            found: Floats = _first_order(_arrays(equations), asked, low, high, iterations)
        return found


def create() -> CpuBackend:
    """The CPU back end."""
    return CpuBackend()
