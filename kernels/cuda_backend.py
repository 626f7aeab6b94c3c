"""The CUDA back end: populations stay on the device, kernels do the logic, CuPy holds arrays, sorts and reduces.

Lines that touch device arrays are written against the array module `xp`: CuPy on a device, NumPy under numba's
simulator, where the very same lines run.  Work is cut into batches that fit into free memory; a batch that does not
fit after all is halved, and what does not fit at all goes to the CPU, with a warning.  Planes, lines, pools, grids
and requirements are copied to the device once and must not be changed afterwards.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import cuda_kernels as kernels
from .backend import Population, Union, warn
from .cpu_backend import CpuBackend
from .cuda_machine import this_machine, to_host
from .host import in_histograms
from .layout import (
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
    owned,
    pack,
    unpack,
)
from .probe import simulated

# Threads that own a row of scratch: enough to fill the largest devices, few enough to keep scratch small.
SLOTS = 64 * 1024


def _or_on_cpu(operation: Callable[..., Any]) -> Callable[..., Any]:
    """An operation that the CPU does, with a warning, when not even a batch of one fits into device memory."""

    @functools.wraps(operation)
    def careful(self: CudaBackend, *arguments: Any, **options: Any) -> Any:
        try:
            return operation(self, *arguments, **options)
        except MemoryError:
            warn(f"device memory is too small for {operation.__name__}: the CPU does this operation")
            on_host = [self._fetched(argument) for argument in arguments]
            return getattr(self._cpu, operation.__name__)(*on_host, **options)

    return careful


class CudaBackend:
    """See `Backend`.

    `xp` is the array module, `free` says how many bytes of device memory are free, `launch` runs a kernel by name on a
    number of blocks.
    """

    name = "cuda"

    def __init__(
        self,
        xp: Any,
        free: Callable[[], int],
        slots: int = SLOTS,
        launch: Callable[..., None] = kernels.launch,
    ) -> None:
        self.xp, self.free, self.slots, self.launch = xp, free, slots, launch
        self._copies: weakref.WeakKeyDictionary[Any, SimpleNamespace] = weakref.WeakKeyDictionary()
        self._cpu = CpuBackend()

    # -------------------------------------------------------------------------------------------------- memory

    def _fetched(self, argument: Any) -> Any:
        """An argument of an operation as the CPU back end takes it."""
        if isinstance(argument, Patterns):
            return Patterns(np.ascontiguousarray(to_host(argument.bits)), argument.columns)
        return argument.get() if hasattr(argument, "get") else argument

    def _on_device(self, record: Any) -> SimpleNamespace:
        """The arrays of a frozen record (plane, lines, pool, grid, requirements) on the device, copied once."""
        copy = self._copies.get(record)
        if copy is None:
            values = {field.name: self.xp.asarray(getattr(record, field.name)) for field in fields(record)}
            copy = self._copies[record] = SimpleNamespace(**values)
        return copy

    def _resident(self, patterns: Population, columns: int | None = None) -> Patterns:
        """Packed patterns on the device, in rows of `columns` cells where that is asked for."""
        if not isinstance(patterns, Patterns):
            return self._pack(patterns, columns)
        if columns is not None and columns != patterns.columns:
            return self._pack(self._unpack(patterns), columns)
        return Patterns(self._uploaded(patterns.bits), patterns.columns)

    def _uploaded(self, bits: Any) -> Any:
        """Packed patterns on the device if they fit; else as they are, and every batch copies its part."""
        try:
            return self.xp.asarray(bits)
        except MemoryError:
            return bits

    def _part(self, packed: Patterns, first: int, last: int) -> Patterns:
        """Patterns first..last on the device."""
        return Patterns(self.xp.asarray(packed.bits[first:last]), packed.columns)

    def _in_batches(self, count: int, bytes_each: int, on_device: Callable[[int, int], None]) -> None:
        """Work on items 0..count in batches that fit into free memory; halve them when they do not after all."""
        batch = max(1, min(count, int(self.free() // 2) // max(1, bytes_each)))
        first = 0
        while first < count:
            last = min(count, first + batch)
            try:
                on_device(first, last)
                first = last
            except MemoryError:
                if batch == 1:
                    raise
                batch = (batch + 1) // 2

    def _launch(self, name: str, items: int, *arguments: Any) -> None:
        """Run a kernel with one thread per item."""
        threads = kernels.KERNELS[name][2]
        self.launch(name, -(-items // threads), *arguments)

    def _slot_blocks(self, name: str, items: int) -> int:
        """Blocks for a kernel whose threads own scratch rows."""
        threads = kernels.KERNELS[name][2]
        return max(1, min(-(-items // threads), self.slots // threads))

    # ------------------------------------------------------------------------------------------------ patterns

    def _pack(self, suppressed: Bools, columns: int | None = None) -> Patterns:
        packed = pack(suppressed, columns)
        return Patterns(self._uploaded(packed.bits), packed.columns)

    def _unpack(self, patterns: Patterns) -> Bools:
        return unpack(Patterns(to_host(patterns.bits), patterns.columns))

    @_or_on_cpu
    def union(self, pool: Pool, chromosomes: Int32, weights: Int64, base: Bools, columns: int | None = None) -> Union:
        xp, circuits, packed = self.xp, self._on_device(pool), pack(base[None, :], columns)
        count = len(chromosomes)
        bits = xp.empty((count, *packed.bits.shape[1:]), np.uint64)
        uses, costs = xp.zeros((count, packed.cells), np.int32), xp.empty(count, np.int64)
        self.launch(
            "union", count, circuits.start, circuits.cell, xp.asarray(owned(chromosomes, np.int32)),
            xp.asarray(owned(weights, np.int64).ravel()), xp.asarray(packed.bits[0]), packed.columns, bits, uses, costs,
        )  # fmt: skip
        return Union(Patterns(bits, packed.columns), uses, to_host(costs))

    # --------------------------------------------------------------------------------------------------- lines

    @_or_on_cpu
    def unpick(
        self, patterns: Population, lines: EquationLines, up: Int64, down: Int64, sweeps: int = 1000
    ) -> tuple[Int64, Int64]:
        packed = self._resident(patterns)
        fall = np.empty((packed.count, lines.cells), np.int64)
        rise = np.empty_like(fall)

        def on_device(first: int, last: int) -> None:
            fall[first:last], rise[first:last] = self._unpick(packed, first, last, lines, up, down, sweeps)

        self._in_batches(packed.count, 17 * lines.cells + 32 * lines.count, on_device)
        return fall, rise

    def _unpick(
        self, packed: Patterns, first: int, last: int, lines: EquationLines, up: Int64, down: Int64, sweeps: int
    ) -> tuple[Int64, Int64]:
        xp, line, bits = self.xp, self._on_device(lines), self._part(packed, first, last).bits
        suppressed = xp.asarray(self._unpack(Patterns(bits, packed.columns)))
        fall = xp.ascontiguousarray(xp.where(suppressed, xp.asarray(owned(down, np.int64).ravel()), 0))
        rise = xp.ascontiguousarray(xp.where(suppressed, xp.asarray(owned(up, np.int64).ravel()), 0))
        room, changed = xp.empty((last - first, lines.count, 4), np.int64), xp.zeros(1, np.int32)
        for _ in range(sweeps):
            changed[0] = 0
            self._launch("line_rooms", room.size // 4, line.start, line.cell, line.coef, fall, rise, room)
            self._launch(
                "tighten", fall.size, bits, packed.columns, line.cell_start, line.line, line.line_coef, room, fall,
                rise, changed,
            )  # fmt: skip
            if int(changed[0]) == 0:
                break
        return to_host(fall), to_host(rise)

    # --------------------------------------------------------------------------------- cheapest ways to cover

    @_or_on_cpu
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
        asked, costs = self._on_device(requirements), np.empty(len(orders), np.int64)

        def on_device(first: int, last: int) -> None:
            xp, blocks = self.xp, self._slot_blocks("box_costs", last - first)
            found = xp.empty(last - first, np.int64)
            slots = blocks * kernels.KERNELS["box_costs"][2]
            self.launch(
                "box_costs", blocks, *self._priced_grid(grid, up, down, weights),
                xp.asarray(owned(pattern, np.bool_).ravel().view(np.uint8)), asked.cell, asked.direction, asked.need,
                xp.asarray(owned(orders[first:last], np.int32)), found, xp.empty((slots, grid.cells), np.uint8),
                *self._box_scratch("box_costs", blocks, grid),
            )  # fmt: skip
            costs[first:last] = to_host(found)

        self._in_batches(len(orders), grid.cells + _box_bytes(grid), on_device)
        return costs

    def _priced_grid(self, grid: AxisGrid, up: Int64, down: Int64, weights: Int64) -> list[Any]:
        """A grid with its cells' rooms and weights, as the kernels take them."""
        axes = self._on_device(grid)
        laid = [self.xp.asarray(owned(column, np.int64).ravel()) for column in (up, down, weights)]
        return [*(getattr(axes, field.name) for field in fields(grid)), *laid]

    def _box_scratch(self, name: str, blocks: int, grid: AxisGrid) -> list[Any]:
        """price, option, place, move, level, row, least of a search: one row per thread."""
        slots, room = blocks * kernels.KERNELS[name][2], grid.room()
        shapes: list[tuple[tuple[int, ...], Any]] = [
            ((room.options,), np.int64),
            ((room.options,), np.int32),
            ((room.box,), np.int32),
            ((room.box,), np.int8),
            ((6, grid.axes + 1), np.int64),
            ((room.rows, int(grid.size[-1])), np.int64),
            ((room.rows,), np.int64),
        ]
        return [self.xp.empty((slots, *shape), kind) for shape, kind in shapes]

    @_or_on_cpu
    def rare_weights(self, tables: Frequencies, table: Int32, rule: Int32) -> Int64:
        xp, cells = self.xp, self._on_device(tables)

        def by_bins(table: Int32, rule: Int32, bins: Int64) -> Int64:
            left = np.empty(len(table), np.int64)
            widest = int(bins.max())

            def on_device(first: int, last: int) -> None:
                histogram, found = xp.zeros((last - first, widest), np.int64), xp.zeros(last - first, np.int64)
                self.launch(
                    "rare_weights", last - first, cells.start, cells.coordinate, cells.count, cells.weight,
                    cells.field, cells.threshold, cells.image_start, cells.image_size, cells.image,
                    xp.asarray(table[first:last]), xp.asarray(rule[first:last]), histogram, found,
                )  # fmt: skip
                left[first:last] = to_host(found)

            self._in_batches(len(table), 8 * widest + 64, on_device)
            return left

        return in_histograms(tables, table, rule, by_bins)

    @_or_on_cpu
    def first_order(self, equations: Equations, pull: Floats, lower: Floats, upper: Floats, iterations: int) -> Floats:
        xp, matrix = self.xp, self._on_device(equations)
        asked = [xp.asarray(owned(part, np.float64)) for part in (pull, lower, upper)]
        z, ahead = xp.zeros(pull.shape, np.float64), xp.zeros(pull.shape, np.float64)
        y = xp.zeros((len(equations.row_step), pull.shape[1]), np.float64)
        for _ in range(iterations):
            self._launch(
                "dual_step", y.size, matrix.row_start, matrix.row_index, matrix.row_value, matrix.row_step, ahead, y
            )
            self._launch(
                "primal_step", z.size, matrix.column_start, matrix.column_index, matrix.column_value,
                matrix.column_step, *asked, y, z, ahead,
            )  # fmt: skip
        return to_host(z)


def _box_bytes(grid: AxisGrid) -> int:
    """About how much working memory one search for boxes takes."""
    room = grid.room()
    return 12 * room.options + 5 * room.box + 8 * room.rows * (int(grid.size[-1]) + 1) + 48 * (grid.axes + 1)


def create(device: int | None = None) -> CudaBackend:
    """The CUDA back end on a device (None: the current one), or on numba's simulator where that is switched on."""
    machine = this_machine(device)
    return CudaBackend(machine.xp, machine.free, slots=256 if simulated() else SLOTS)
