"""The CUDA back end: populations stay on the device, kernels do the logic, CuPy holds arrays, sorts and reduces.

Lines that touch device arrays are written against the array module `xp`: CuPy on a device, NumPy under numba's
simulator, where the very same lines run.  Work is cut into batches that fit into free memory; a batch that does not
fit after all is halved, and what does not fit at all goes to the CPU, with a warning.  Planes, lines, pools, grids
and tasks are copied to the device once and must not be changed afterwards.
"""

from __future__ import annotations

import functools
import importlib
import weakref
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import cuda_kernels as kernels
from .backend import Circuits, Population, Rectangles, Union, warn
from .cpu_backend import CpuBackend
from .host import cell_order, circuits_of, in_histograms, line_orders, line_pushes, word_seed
from .layout import (
    SAFE,
    UNDECIDED,
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
from .probe import simulated

# Threads that own a row of scratch: enough to fill the largest devices, few enough to keep scratch small.
SLOTS = 64 * 1024


@dataclass(frozen=True)
class Networks:
    """The networks of a batch of patterns, on the device; `widest` is the largest number of arcs."""

    node_start: Any
    target: Any
    twin: Any
    capacity: Any
    arcs: Any
    widest: int

    @property
    def arrays(self) -> tuple[Any, ...]:
        """As the kernels take them."""
        return self.node_start, self.target, self.twin, self.capacity, self.arcs


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

    def to_host(self, array: Any) -> NDArray[Any]:
        """A device array in host memory."""
        fetched: NDArray[Any] = array if isinstance(array, np.ndarray) else array.get()
        return fetched

    def _fetched(self, argument: Any) -> Any:
        """An argument of an operation as the CPU back end takes it."""
        if isinstance(argument, Patterns):
            return Patterns(np.ascontiguousarray(self.to_host(argument.bits)), argument.columns)
        return argument.get() if hasattr(argument, "get") else argument

    def _on_device(self, record: Any) -> SimpleNamespace:
        """The arrays of a frozen record (plane, lines, pool, grid, tasks) on the device, copied once."""
        copy = self._copies.get(record)
        if copy is None:
            values = {field.name: self.xp.asarray(getattr(record, field.name)) for field in fields(record)}
            copy = self._copies[record] = SimpleNamespace(**values)
        return copy

    def _resident(self, patterns: Population, columns: int | None = None) -> Patterns:
        """Packed patterns on the device, in rows of `columns` cells where that is asked for."""
        if not isinstance(patterns, Patterns):
            return self.pack(patterns, columns)
        if columns is not None and columns != patterns.columns:
            return self.pack(self.unpack(patterns), columns)
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

    def pack(self, suppressed: Bools, columns: int | None = None) -> Patterns:
        packed = pack(suppressed, columns)
        return Patterns(self._uploaded(packed.bits), packed.columns)

    def unpack(self, patterns: Patterns) -> Bools:
        return unpack(Patterns(self.to_host(patterns.bits), patterns.columns))

    @_or_on_cpu
    def union(self, pool: Pool, chromosomes: Int32, weights: Int64, base: Bools, columns: int | None = None) -> Union:
        xp, circuits, ground = self.xp, self._on_device(pool), pack(base[None, :], columns)
        count = len(chromosomes)
        bits = xp.empty((count, *ground.bits.shape[1:]), np.uint64)
        uses, costs = xp.zeros((count, ground.cells), np.int32), xp.empty(count, np.int64)
        self.launch(
            "union", count, circuits.start, circuits.cell, xp.asarray(owned(chromosomes, np.int32)),
            xp.asarray(owned(weights, np.int64).ravel()), xp.asarray(ground.bits[0]), ground.columns, bits, uses, costs,
        )  # fmt: skip
        return Union(Patterns(bits, ground.columns), uses, self.to_host(costs))

    # --------------------------------------------------------------------------------------------------- lines

    @_or_on_cpu
    def line_totals(self, patterns: Population, lines: Lines, values: Int64) -> tuple[Int32, Int64]:
        xp, packed, line = self.xp, self._resident(patterns), self._on_device(lines)
        worth = xp.asarray(owned(values, np.int64).ravel())
        counts = np.zeros((packed.count, lines.count), np.int32)
        sums = np.zeros((packed.count, lines.count), np.int64)

        def on_device(first: int, last: int) -> None:
            bits = self._part(packed, first, last).bits
            found = (
                xp.zeros((last - first, lines.count), np.int32),
                xp.zeros((last - first, lines.count), np.int64),
            )
            self._launch("line_totals", bits.size, bits, packed.columns, line.cell_start, line.line, worth, *found)
            counts[first:last], sums[first:last] = self.to_host(found[0]), self.to_host(found[1])

        self._in_batches(packed.count, 12 * lines.count, on_device)
        return counts, sums

    @_or_on_cpu
    def quick_unsafe(self, patterns: Population, lines: Lines, up: Int64, down: Int64, tasks: Tasks) -> Bools:
        xp, packed = self.xp, self._resident(patterns)
        line, task = self._on_device(lines), self._on_device(tasks)
        bounds = owned(up, np.int64).ravel(), owned(down, np.int64).ravel()
        rise, fall = (xp.asarray(bound) for bound in bounds)
        pushes = [xp.asarray(push) for push in line_pushes(lines, *bounds, tasks)]
        unsafe = np.empty((packed.count, len(tasks)), np.bool_)

        def on_device(first: int, last: int) -> None:
            bits = self._part(packed, first, last).bits
            found = xp.empty((last - first, len(tasks)), np.uint8)
            room = [xp.zeros((last - first, lines.count), np.int64) for _ in range(2)]
            self._launch("line_reach", bits.size, bits, packed.columns, line.cell_start, line.line, *pushes, *room)
            self._launch(
                "quick_unsafe", found.size, bits, packed.columns, line.cell_start, line.line, line.line_coef, rise,
                fall, *pushes, *room, task.cell, task.direction, task.need, found,
            )  # fmt: skip
            unsafe[first:last] = self.to_host(found)

        self._in_batches(packed.count, len(tasks) + 16 * lines.count, on_device)
        return unsafe

    @_or_on_cpu
    def unpick(
        self, patterns: Population, lines: Lines, up: Int64, down: Int64, sweeps: int = 1000
    ) -> tuple[Int64, Int64]:
        packed = self._resident(patterns)
        fall = np.empty((packed.count, lines.cells), np.int64)
        rise = np.empty_like(fall)

        def on_device(first: int, last: int) -> None:
            fall[first:last], rise[first:last] = self._unpick(packed, first, last, lines, up, down, sweeps)

        self._in_batches(packed.count, 17 * lines.cells + 32 * lines.count, on_device)
        return fall, rise

    def _unpick(
        self, packed: Patterns, first: int, last: int, lines: Lines, up: Int64, down: Int64, sweeps: int
    ) -> tuple[Int64, Int64]:
        xp, line, bits = self.xp, self._on_device(lines), self._part(packed, first, last).bits
        suppressed = xp.asarray(self.unpack(Patterns(bits, packed.columns)))
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
        return self.to_host(fall), self.to_host(rise)

    # ------------------------------------------------------------------------------------------------- circuits

    @_or_on_cpu
    def circuits_whole(self, patterns: Population, pool: Pool, chromosomes: Int32) -> Bools:
        packed = self._resident(patterns)
        whole = np.zeros((packed.count, chromosomes.shape[1]), np.bool_)

        def on_device(first: int, last: int) -> None:
            whole[first:last] = self.to_host(
                self._whole(self._part(packed, first, last), pool, chromosomes[first:last])
            )

        self._in_batches(packed.count, 5 * whole.shape[1], on_device)
        return whole

    def _whole(self, packed: Patterns, pool: Pool, chromosomes: Int32) -> Any:
        xp, circuits = self.xp, self._on_device(pool)
        whole = xp.zeros(np.shape(chromosomes), np.uint8)
        chosen = xp.asarray(owned(chromosomes, np.int32))
        self._launch(
            "circuits_whole",
            whole.size,
            packed.bits,
            packed.columns,
            circuits.start,
            circuits.cell,
            chosen,
            whole,
        )
        return whole

    @_or_on_cpu
    def swap_gains(self, pool: Pool, chromosomes: Int32, uses: Any, weights: Int64, base: Bools, pairs: Int32) -> Int64:
        xp, circuits, ground = self.xp, self._on_device(pool), pack(base[None, :])
        chosen, counts = xp.asarray(owned(chromosomes, np.int32)), xp.asarray(uses)
        prices, floor = xp.asarray(owned(weights, np.int64).ravel()), xp.asarray(ground.bits[0])
        gains = np.empty((len(pairs), chromosomes.shape[1]), np.int64)

        def on_device(first: int, last: int) -> None:
            found = xp.empty((last - first, chromosomes.shape[1]), np.int64)
            self._launch(
                "swap_gains", found.size, circuits.start, circuits.cell, chosen, counts, prices, floor, ground.columns,
                xp.asarray(owned(pairs[first:last], np.int32)), found,
            )  # fmt: skip
            gains[first:last] = self.to_host(found)

        self._in_batches(len(pairs), 8 * chromosomes.shape[1] + 8, on_device)
        return gains

    # ---------------------------------------------------------------------------------------------------- flows

    @_or_on_cpu
    def reachability(self, patterns: Population, plane: Plane, tasks: Tasks) -> Verdicts:
        return self._verdicts(patterns, plane, tasks, None, None, exact=False)

    @_or_on_cpu
    def safe(
        self,
        patterns: Population,
        plane: Plane,
        tasks: Tasks,
        pool: Pool | None = None,
        chromosomes: Int32 | None = None,
    ) -> Bools:
        return np.equal(self._verdicts(patterns, plane, tasks, pool, chromosomes, exact=True), SAFE)

    def _verdicts(
        self,
        patterns: Population,
        plane: Plane,
        tasks: Tasks,
        pool: Pool | None,
        chromosomes: Int32 | None,
        exact: bool,
    ) -> Verdicts:
        packed, flow = self._resident(patterns, plane.columns), FlowTasks.of(plane, tasks)
        verdicts = np.full((packed.count, len(tasks)), UNDECIDED, np.uint8)

        def on_device(first: int, last: int) -> None:
            part = self._part(packed, first, last)
            found = self.xp.full((last - first, len(tasks)), UNDECIDED, np.uint8)
            if pool is not None and chromosomes is not None:
                found[self._whole(part, pool, chromosomes[first:last]) != 0] = SAFE
            self._screen(part, plane, flow, found)
            if exact:
                self._decide(part, plane, flow, found)
            verdicts[first:last] = self.to_host(found)

        self._in_batches(packed.count, 3 * len(tasks) + 32 * plane.cells // 8, on_device)
        return verdicts

    def _networks(self, bits: Any, plane: Plane) -> Networks:
        """Build the networks of patterns (or of unions of patterns) on the device."""
        xp, count, network = self.xp, bits.shape[0], self._on_device(plane)
        suppressed = xp.zeros(count, np.int32)
        self._launch("count_suppressed", count, bits, suppressed)
        widest = max(1, int(suppressed.max())) if count else 1
        made = Networks(
            xp.empty((count, plane.rows + plane.columns + 1), np.int32),
            xp.empty((count, 2 * widest), np.int32),
            xp.empty((count, 2 * widest), np.int32),
            xp.empty((count, 2 * widest), np.int64),
            xp.empty(count, np.int32),
            widest,
        )
        self._launch("build_networks", count, bits, network.forward, network.reverse, *made.arrays)
        return made

    def _screen(self, part: Patterns, plane: Plane, flow: FlowTasks, verdicts: Any) -> None:
        """Bit-sliced reachability, 64 patterns to a word."""
        xp, task, tasks = self.xp, self._on_device(flow), len(flow.row)
        groups, nodes = (part.count + 63) // 64, plane.rows + plane.columns
        united = xp.empty((groups, *part.bits.shape[1:]), np.uint64)
        self._launch("unite", united.size, part.bits, united)
        network = self._networks(united, plane)
        lanes = xp.empty((groups, network.widest), np.uint64)
        self._launch(
            "slice_lanes",
            lanes.size,
            part.bits,
            plane.rows,
            network.target,
            network.twin,
            network.arcs,
            lanes,
        )
        blocks = self._slot_blocks("screen", groups * tasks)
        slots = blocks * kernels.KERNELS["screen"][2]
        through, any_path = xp.empty((groups, tasks), np.uint64), xp.empty((groups, tasks), np.uint64)
        self.launch(
            "screen", blocks, part.count, plane.rows, *network.arrays, lanes, task.row, task.column, task.upward,
            task.need, task.possible, xp.empty((slots, nodes), np.uint64), xp.empty((slots, nodes), np.int32),
            xp.empty((slots, nodes), np.int32), through, any_path,
        )  # fmt: skip
        self._launch("spread_verdicts", verdicts.size, through, any_path, verdicts)

    def _flow_scratch(self, slots: int, widest: int, nodes: int) -> tuple[Any, ...]:
        """room, parent, queue, mark, stamp: one row per thread."""
        xp = self.xp
        return (
            xp.empty((slots, 2 * widest), np.int64),
            xp.empty((slots, nodes), np.int32),
            xp.empty((slots, nodes), np.int32),
            xp.zeros((slots, nodes), np.int32),
            xp.zeros((slots, 1), np.int32),
        )

    def _decide(self, part: Patterns, plane: Plane, flow: FlowTasks, verdicts: Any) -> None:
        """Maximum flow for what the screen left undecided."""
        undecided = self.xp.flatnonzero(verdicts == UNDECIDED).astype(np.int64)
        if undecided.size == 0:
            return
        task, network = self._on_device(flow), self._networks(part.bits, plane)
        blocks = self._slot_blocks("decide", undecided.size)
        scratch = self._flow_scratch(blocks * kernels.KERNELS["decide"][2], network.widest, plane.rows + plane.columns)
        self.launch(
            "decide", blocks, undecided, len(flow.row), plane.rows, *network.arrays, task.row, task.column,
            task.upward, task.need, *scratch, verdicts,
        )  # fmt: skip

    @_or_on_cpu
    def remove_redundant(
        self, patterns: Population, plane: Plane, tasks: Tasks, weights: Int64, keep: Bools
    ) -> Patterns:
        packed, flow = self._resident(patterns, plane.columns), FlowTasks.of(plane, tasks)
        bits, order = packed.bits.copy(), cell_order(weights, keep)
        threads, nodes = kernels.KERNELS["remove_redundant"][2], plane.rows + plane.columns
        widest = self._most_suppressed(packed)

        def on_device(first: int, last: int) -> None:
            cleaned = self.xp.asarray(bits[first:last].copy())
            self._clean(cleaned, plane, flow, order)
            bits[first:last] = self.to_host(cleaned) if isinstance(bits, np.ndarray) else cleaned

        scratch = threads * (16 * widest + 12 * nodes) + len(tasks) * (widest // 4 + 16)
        self._in_batches(packed.count, scratch + 24 * widest, on_device)
        return Patterns(bits, packed.columns)

    def _most_suppressed(self, packed: Patterns) -> int:
        """The largest number of suppressed cells of a pattern."""
        largest = [1]

        def on_device(first: int, last: int) -> None:
            suppressed = self.xp.zeros(last - first, np.int32)
            self._launch("count_suppressed", last - first, self._part(packed, first, last).bits, suppressed)
            largest.append(int(suppressed.max()))

        self._in_batches(packed.count, 8 * packed.bits.shape[1] * packed.bits.shape[2] + 4, on_device)
        return max(largest)

    def _clean(self, bits: Any, plane: Plane, flow: FlowTasks, order: Int32) -> None:
        """Drop redundant cells of a batch of patterns, in place."""
        xp, count, tasks = self.xp, bits.shape[0], len(flow.row)
        task, network = self._on_device(flow), self._networks(bits, plane)
        words = (network.widest + 63) // 64
        witness = xp.zeros((count, tasks, words), np.uint64)
        threads = kernels.KERNELS["first_witnesses"][2]
        slots = max(threads, count * kernels.KERNELS["remove_redundant"][2])
        scratch = self._flow_scratch(slots, network.widest, plane.rows + plane.columns)
        blocks = min(self._slot_blocks("first_witnesses", count * tasks), slots // threads)
        self.launch(
            "first_witnesses", blocks, plane.rows, *network.arrays, task.row, task.column,
            task.upward, task.need, task.possible, *scratch, witness,
        )  # fmt: skip
        self.launch(
            "remove_redundant", count, bits, plane.columns, xp.asarray(order), *network.arrays, task.row, task.column,
            task.upward, task.need, *scratch, witness, xp.zeros_like(witness), xp.zeros((count, tasks), np.int32),
        )  # fmt: skip

    # --------------------------------------------------------------------------------- cheapest ways to cover

    @_or_on_cpu
    def cheapest_rectangles(
        self, patterns: Population, plane: Plane, tasks: Tasks, weights: Int64, items: Int32
    ) -> Rectangles:
        xp, packed, flow = self.xp, self._resident(patterns, plane.columns), FlowTasks.of(plane, tasks)
        network, task = self._on_device(plane), self._on_device(flow)
        worth = xp.asarray(owned(weights, np.int64).ravel())
        made: list[NDArray[Any]] = [np.empty(len(items), kind) for kind in (np.int32, np.int32, np.int64)]

        def on_device(first: int, last: int) -> None:
            found = [xp.empty(last - first, part.dtype) for part in made]
            self._launch(
                "rectangles", last - first, xp.asarray(packed.bits), network.forward, network.reverse, worth, task.row,
                task.column, task.upward, task.need, task.possible, xp.asarray(owned(items[first:last], np.int32)),
                *found,
            )  # fmt: skip
            for part, values in zip(made, found, strict=True):
                part[first:last] = self.to_host(values)

        self._in_batches(len(items), 24, on_device)
        return Rectangles(*made)

    @_or_on_cpu
    def cheapest_paths(
        self, patterns: Population, plane: Plane, tasks: Tasks, weights: Int64, items: Int32
    ) -> Circuits:
        xp, packed, flow = self.xp, self._resident(patterns, plane.columns), FlowTasks.of(plane, tasks)
        network, task, prices = (
            self._on_device(plane),
            self._on_device(flow),
            owned(weights, np.int64).ravel(),
        )
        worth = xp.asarray(prices)
        orders = [xp.asarray(order) for order in line_orders(prices, plane.rows, plane.columns)]
        nodes = plane.rows + plane.columns
        room = 2 * nodes
        length = np.zeros(len(items), np.int64)
        cells, amounts = np.zeros((len(items), room), np.int32), np.zeros((len(items), room), np.int64)

        def on_device(first: int, last: int) -> None:
            blocks = self._slot_blocks("paths", last - first)
            slots = blocks * kernels.KERNELS["paths"][2]
            found = (
                xp.empty(last - first, np.int64),
                xp.empty((last - first, room), np.int32),
                xp.empty((last - first, room), np.int64),
            )
            scratch = [xp.empty((slots, nodes), kind) for kind in (np.int64, np.int32, np.int32, np.int32)]
            self.launch(
                "paths", blocks, xp.asarray(packed.bits), network.forward, network.reverse, worth, *orders, task.row,
                task.column, task.upward, task.need, task.possible, xp.asarray(owned(items[first:last], np.int32)),
                *found, *scratch,
            )  # fmt: skip
            length[first:last], cells[first:last], amounts[first:last] = (self.to_host(part) for part in found)

        self._in_batches(len(items), 12 * room + 8 + 20 * nodes, on_device)
        return circuits_of(self._host(packed, 0, packed.count), items, prices, length, cells, amounts)

    @_or_on_cpu
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
        packed, room = self._resident(patterns), grid.room()
        on_host = self._host(packed, 0, packed.count)
        task, prices = self._on_device(tasks), owned(weights, np.int64).ravel()
        length = np.zeros(len(items), np.int64)
        cells, amounts = np.zeros((len(items), room.box), np.int32), np.zeros((len(items), room.box), np.int64)

        def on_device(first: int, last: int) -> None:
            xp, blocks = self.xp, self._slot_blocks("boxes", last - first)
            found = (
                xp.empty(last - first, np.int64),
                xp.empty((last - first, room.box), np.int32),
                xp.empty((last - first, room.box), np.int64),
            )
            price, option, _, moved, *rest = self._box_scratch("boxes", blocks, grid)
            self.launch(
                "boxes", blocks, *self._priced_grid(grid, up, down, prices), xp.asarray(unpack(on_host).view(np.uint8)),
                int(inside), task.cell, task.direction, task.need, xp.asarray(owned(items[first:last], np.int32)),
                *found, price, option, moved, *rest,
            )  # fmt: skip
            length[first:last], cells[first:last], amounts[first:last] = (self.to_host(part) for part in found)

        self._in_batches(len(items), 12 * room.box + _box_bytes(grid), on_device)
        return circuits_of(on_host, items, prices, length, cells, amounts)

    @_or_on_cpu
    def box_costs(
        self, pattern: Bools, grid: Grid, up: Int64, down: Int64, tasks: Tasks, weights: Int64, orders: Int32
    ) -> Int64:
        task, costs = self._on_device(tasks), np.empty(len(orders), np.int64)

        def on_device(first: int, last: int) -> None:
            xp, blocks = self.xp, self._slot_blocks("box_costs", last - first)
            found = xp.empty(last - first, np.int64)
            slots = blocks * kernels.KERNELS["box_costs"][2]
            self.launch(
                "box_costs", blocks, *self._priced_grid(grid, up, down, weights),
                xp.asarray(owned(pattern, np.bool_).ravel().view(np.uint8)), task.cell, task.direction, task.need,
                xp.asarray(owned(orders[first:last], np.int32)), found, xp.empty((slots, grid.cells), np.uint8),
                *self._box_scratch("box_costs", blocks, grid),
            )  # fmt: skip
            costs[first:last] = self.to_host(found)

        self._in_batches(len(orders), grid.cells + _box_bytes(grid), on_device)
        return costs

    def _priced_grid(self, grid: Grid, up: Int64, down: Int64, weights: Int64) -> list[Any]:
        """A grid with its cells' rooms and weights, as the kernels take them."""
        axes = self._on_device(grid)
        laid = [self.xp.asarray(owned(column, np.int64).ravel()) for column in (up, down, weights)]
        return [*(getattr(axes, field.name) for field in fields(grid)), *laid]

    def _box_scratch(self, name: str, blocks: int, grid: Grid) -> list[Any]:
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
                left[first:last] = self.to_host(found)

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
        return self.to_host(z)

    @_or_on_cpu
    def random(self, seed: int, stream: int, start: int, count: int) -> NDArray[np.uint32]:
        words = self.xp.empty(count, np.uint32)
        self._launch("random", count, word_seed(seed), word_seed(stream), word_seed(start), words)
        return self.to_host(words)

    def _host(self, packed: Patterns, first: int, last: int) -> Patterns:
        """Patterns first..last in host memory."""
        return Patterns(np.ascontiguousarray(self.to_host(packed.bits[first:last])), packed.columns)


def _box_bytes(grid: Grid) -> int:
    """About how much working memory one search for boxes takes."""
    room = grid.room()
    return 12 * room.options + 5 * room.box + 8 * room.rows * (int(grid.size[-1]) + 1) + 48 * (grid.axes + 1)


def create() -> CudaBackend:
    """The CUDA back end on the current device, or on numba's simulator where that is switched on."""
    if simulated():
        return CudaBackend(np, lambda: 2**30, slots=256)
    cupy = importlib.import_module("cupy")
    pool = cupy.get_default_memory_pool()
    return CudaBackend(cupy, lambda: int(cupy.cuda.Device().mem_info[0] + pool.free_bytes()))
