"""Whole generations of patterns of a two-way table on a CUDA device, bit for bit as `TwoWayCpu` and `Crossing` do it.

Patterns, table, prices and scratch stay on the device; seeds go there, verdicts, costs and digests come back. One block
works on one pattern at a time, so scratch is planned once for as many blocks as memory holds and a launch serves any
number of patterns. Populations are made of what the memory pool was given at the beginning, in sizes of powers of two,
which it gives out again and again. Where memory is gone all the same, the CPU goes on, with one warning.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .backend import warn
from .crossing import Crossing, Words
from .cuda_kernels import KERNELS
from .cuda_machine import Machine, this_machine, to_host
from .layout import Bools, Int32, Int64, Patterns, owned, pack, unpack, words_for
from .logic.exchange import Chosen
from .logic.records import Children, Needs, TableRecord
from .logic.supports import LONGEST_SUPPORT, SUPPORTS
from .logic.witnesses import LONGEST_FLOW
from .logic.workers import (
    CELLS_32,
    CELLS_64,
    HALVES_32,
    HALVES_64,
    NODES_32,
    NODES_64,
    PAIRS,
    Marks,
    Room,
    Tables,
)
from .two_way import Seeds, TwoWayCpu

MOST_WORKERS = 4096
"""Patterns that are worked on at a time: as many blocks as the largest devices hold."""

SHARE = 2
"""Scratch takes at most one part in so many of the free memory."""

RESERVE, RESERVED = 1 << 28, 8
"""Bytes that the memory pool keeps for populations from the beginning, at most one part in so many of what is free."""

SMALLEST = 64
"""Arrays have room for at least so many patterns."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class DevicePatterns(Patterns):
    """Patterns that stay on the device of their handle; in host memory once the handle works there."""

    work: TwoWayCuda

    def take(self, places: NDArray[np.integer]) -> Patterns:
        """Some of the patterns, in that order."""
        return self.work.taken(self, np.asarray(places, np.int64))

    def joined(self, others: Sequence[Patterns]) -> Patterns:
        """These patterns and others behind them."""
        return self.work.together([self, *others]) if others else self

    def unpacked(self) -> Bools:
        """The patterns as bool[P, n] in host memory."""
        return unpack(self.work.fetched(self))


def shapes_of(table: TableRecord, needs: Needs) -> list[tuple[tuple[int, ...], Any]]:
    """Shapes and types of one worker's part of `Room`."""
    cells, nodes, asked = table.rows * table.columns, table.rows + table.columns, len(needs.cell)
    words, listed = words_for(asked), max(cells, asked)
    return [
        ((NODES_32, nodes), np.int32),
        ((NODES_64, nodes), np.int64),
        ((HALVES_32, 2 * cells), np.int32),
        ((HALVES_64, 2 * cells), np.int64),
        ((CELLS_32, listed), np.int32),
        ((CELLS_64, listed), np.int64),
        ((PAIRS, 2), np.int64),
        ((2 * cells, words), np.uint64),
        ((nodes, words), np.uint64),
        ((cells, words), np.uint64),
        ((nodes,), np.uint8),
        ((asked,), np.uint8),
        ((cells,), np.uint8),
        ((asked,), np.int32),
        ((asked, LONGEST_FLOW), np.int32),
        ((asked, LONGEST_FLOW), np.int64),
        ((asked, SUPPORTS, 1 + LONGEST_SUPPORT), np.int32),
        ((2, asked), np.int32),
    ]


def capacity_for(count: int) -> int:
    """The size in which an array for so many patterns is made."""
    return max(SMALLEST, 1 << max(0, count - 1).bit_length())


class TwoWayCuda:
    """The operations of `host` and `crossing`, which serve one table on the CPU, on a device."""

    def __init__(self, host: TwoWayCpu, crossing: Crossing, machine: Machine | None = None) -> None:
        self.host, self.crossing = host, crossing
        self.table, self.needs = host.table, host.needs
        self.device: Machine | None = machine or this_machine()
        self._priced: tuple[Any, Int64, Words] | None = None
        self._nothing: Any = None
        self.threads = host.threads  # how many patterns are worked on at once
        self._attempt(self._settle_in)

    # --- memory ------------------------------------------------------------------------------------------

    def _settle_in(self, device: Machine) -> None:
        """Bring the table to the device and plan the scratch."""
        self._ground, self._needs = self._uploaded(device, self.table), self._uploaded(device, self.needs)
        self._joins = device.ready(self._uploaded(device, self.crossing.joins))
        self._bring_prices(device)
        self._plan(device)

    def _bring_prices(self, device: Machine) -> None:
        prices = self._uploaded(device, self.host.prices)
        self._tables = device.ready(Tables(self._ground, self._needs, prices))

    def _uploaded(self, device: Machine, record: Any) -> Any:
        """A record with its arrays on the device."""
        return type(record)(*(device.xp.asarray(x) if isinstance(x, np.ndarray) else x for x in record))

    def _plan(self, device: Machine) -> None:
        """Scratch for as many workers as there is memory for."""
        shapes = shapes_of(self.table, self.needs)
        nodes = self.crossing.nodes
        each = sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in shapes) + 16 * nodes
        workers = max(1, min(MOST_WORKERS, device.free() // SHARE // each))
        while True:
            try:
                room = Room(*(device.xp.zeros((workers, *shape), kind) for shape, kind in shapes))
                marks = Marks(
                    device.xp.zeros((workers, 2, nodes), np.int32), device.xp.zeros((workers, nodes), np.int64)
                )
                break
            except MemoryError:
                if workers == 1:
                    raise
                workers = (workers + 1) // 2
        self.workers = self.threads = workers
        self._room, self._marks = device.ready(room), device.ready(marks)
        with contextlib.suppress(MemoryError):  # what is given back at once stays in the pool, for populations
            device.xp.empty(min(RESERVE, device.free() // RESERVED), np.uint8)

    def _empty(self, device: Machine, shape: tuple[int, ...], kind: Any) -> Any:
        """An array whose memory fits others of about the same size later."""
        return device.xp.empty((capacity_for(shape[0]), *shape[1:]), kind)[: shape[0]]

    def _brought(self, device: Machine, values: Any, kind: Any) -> Any:
        """A host array on the device."""
        held = owned(values, kind)
        room = self._empty(device, held.shape, kind)
        if held.size == 0:
            return room
        if hasattr(room, "set"):
            room.set(held)
        else:
            room[...] = held
        return room

    def fetched(self, patterns: Patterns) -> Patterns:
        """Patterns in host memory."""
        return Patterns(np.ascontiguousarray(to_host(patterns.bits)), patterns.columns)

    def _bits(self, device: Machine, patterns: Patterns) -> Any:
        """The bits of patterns on the device."""
        if patterns.columns != self.table.columns or patterns.rows != self.table.rows:
            raise ValueError("patterns must have the rows and columns of the table")
        on_device = isinstance(patterns.bits, device.xp.ndarray)
        return patterns.bits if on_device else self._brought(device, patterns.bits, np.uint64)

    def _rows(self, device: Machine, count: int) -> Any:
        """Room for the bits of patterns."""
        return self._empty(device, (count, *self.table.forced.shape), np.uint64)

    def _held(self, bits: Any) -> DevicePatterns:
        return DevicePatterns(bits, self.table.columns, self)

    def _attempt(self, on_device: Callable[[Machine], Answer]) -> Answer | None:
        """Do something on the device; None where that is left, now or earlier, because its memory is gone."""
        if self.device is None:
            return None
        try:
            return on_device(self.device)
        except MemoryError:
            warn("device memory is too small for this table and population: the CPU goes on")
            self.threads = self.host.threads
            self.device = self._tables = self._room = self._marks = self._joins = None
            self._ground = self._needs = self._priced = self._nothing = None
            return None

    def _launch(self, device: Machine, name: str, count: int, *arguments: Any) -> None:
        """One launch for `count` patterns (or words): blocks are workers, or their threads take one each."""
        threads = KERNELS[name][2]
        device.launch(name, min(count, self.workers) if name in WORKERS else -(-count // threads), *arguments)

    # --- patterns ----------------------------------------------------------------------------------------

    def pack(self, suppressed: Bools) -> Patterns:
        """bool[P, n] as patterns on the device; forced cells are added."""
        bits = pack(suppressed, self.table.columns).bits | self.table.forced
        there = self._attempt(lambda device: self._brought(device, bits, np.uint64))
        return self._held(bits if there is None else there)

    def nothing(self, count: int) -> Patterns:
        """Patterns of the forced cells alone."""

        def forced(device: Machine) -> Any:
            if self._nothing is None or len(self._nothing) < count:
                self._nothing = self._rows(device, capacity_for(count))
                self._nothing[...] = self._ground.forced
            return self._nothing[:count]

        there = self._attempt(forced)
        return self._held(np.repeat(self.table.forced[None], count, axis=0) if there is None else there)

    def taken(self, patterns: Patterns, places: Int64) -> Patterns:
        """Some of the patterns, in that order; neighbours are not copied."""
        first, count = int(places[0]) if len(places) else 0, len(places)
        if np.array_equal(places, np.arange(first, first + count)):
            return self._held(patterns.bits[first : first + count])

        def gathered(device: Machine) -> Any:
            bits, found = self._bits(device, patterns), self._rows(device, count)
            at = self._brought(device, places, np.int32)
            self._launch(device, "gather", count * int(np.prod(found.shape[1:])), bits, at, found)
            return found

        there = self._attempt(gathered)
        return self._held(self.fetched(patterns).bits[places] if there is None else there)

    def together(self, every: Sequence[Patterns]) -> Patterns:
        """Patterns one behind the other."""

        def laid(device: Machine) -> Any:
            found, at = self._rows(device, sum(one.count for one in every)), 0
            for one in every:
                found[at : at + one.count] = self._bits(device, one)
                at += one.count
            return found

        there = self._attempt(laid)
        return self._held(np.concatenate([self.fetched(one).bits for one in every]) if there is None else there)

    # --- operations of `TwoWayCpu` -----------------------------------------------------------------------

    def set_prices(self, prices: Int64, core: Bools) -> None:
        """See `TwoWayCpu.set_prices`."""
        self.host.set_prices(prices, core)
        self._attempt(self._bring_prices)

    def decode(
        self, start: Patterns, first: Patterns, second: Patterns, seeds: Seeds, style: Int32, snapshot: Int32
    ) -> tuple[Patterns, Bools]:
        """See `TwoWayCpu.decode`."""

        def decoded(device: Machine) -> tuple[Patterns, Bools]:
            rows, safe = self._rows(device, start.count), self._empty(device, (start.count,), np.uint8)
            children = Children(
                rows, self._bits(device, first), self._bits(device, second), self._brought(device, seeds, np.uint64),
                self._brought(device, style, np.int32), self._brought(device, snapshot, np.int32),
            )  # fmt: skip
            begun = self._bits(device, start)
            self._launch(device, "decode", start.count, self._tables, self._room, begun, children, safe)
            return self._held(rows), to_host(safe).astype(np.bool_)

        there = self._attempt(decoded)
        if there is not None:
            return there
        begun, one, two = (self.fetched(part) for part in (start, first, second))
        made, covered = self.host.decode(begun, one, two, seeds, style, snapshot)
        return self._held(made.bits), covered

    def clean(self, patterns: Patterns, seeds: Seeds) -> Patterns:
        """See `TwoWayCpu.clean`."""

        def cleaned(device: Machine) -> Any:
            bits, given = self._rows(device, patterns.count), self._bits(device, patterns)
            chosen = self._brought(device, seeds, np.uint64)
            self._launch(device, "clean", patterns.count, self._tables, self._room, given, bits, chosen)
            return bits

        there = self._attempt(cleaned)
        return self._held(self.host.clean(self.fetched(patterns), seeds).bits if there is None else there)

    def safe(self, patterns: Patterns) -> Bools:
        """See `TwoWayCpu.safe`."""

        def judged(device: Machine) -> Bools:
            safe, bits = self._empty(device, (patterns.count,), np.uint8), self._bits(device, patterns)
            self._launch(device, "judge", patterns.count, self._tables, self._room, bits, safe)
            return to_host(safe).astype(np.bool_)

        there = self._attempt(judged)
        return self.host.safe(self.fetched(patterns)) if there is None else there

    def destroy(self, patterns: Patterns, seeds: Seeds, strength: Int32) -> Patterns:
        """See `TwoWayCpu.destroy`."""

        def destroyed(device: Machine) -> Any:
            bits, given = self._rows(device, patterns.count), self._bits(device, patterns)
            chosen, most = self._brought(device, seeds, np.uint64), self._brought(device, strength, np.int32)
            self._launch(device, "destroy", patterns.count, self._tables, self._room, given, bits, chosen, most)
            return bits

        there = self._attempt(destroyed)
        return self._held(self.host.destroy(self.fetched(patterns), seeds, strength).bits if there is None else there)

    def costs(self, patterns: Patterns) -> Int64:
        """See `TwoWayCpu.costs`."""
        there = self._attempt(lambda device: self._price(device, patterns)[0])
        return self.host.costs(self.fetched(patterns)) if there is None else there

    def _price(self, device: Machine, patterns: Patterns) -> tuple[Int64, Words]:
        """Costs and digests; whoever asks for the one asks for the other next."""
        if self._priced is None or self._priced[0] is not patterns.bits:
            bits, count = self._bits(device, patterns), patterns.count
            costs, digests = self._empty(device, (count,), np.int64), self._empty(device, (count,), np.uint64)
            self._launch(device, "price", count, self._tables.table, bits, costs, digests)
            self._priced = (patterns.bits, to_host(costs), to_host(digests))
        return self._priced[1].copy(), self._priced[2].copy()

    # --- operations of `Crossing` ------------------------------------------------------------------------

    def exchange(self, patterns: Patterns, pairs: Int32, ways: Int32, seeds: Words) -> tuple[Patterns, Int64]:
        """See `Crossing.exchange`."""

        def exchanged(device: Machine) -> tuple[Patterns, Int64]:
            count, bits = len(pairs), self._bits(device, patterns)
            children, gains = self._rows(device, count), self._empty(device, (count,), np.int64)
            chosen = Chosen(
                self._brought(device, pairs, np.int32), self._brought(device, ways, np.int32),
                self._brought(device, seeds, np.uint64),
            )  # fmt: skip
            columns = patterns.columns
            self._launch(device, "exchange", count, bits, columns, self._joins, self._marks, chosen, children, gains)
            return self._held(children), to_host(gains)

        there = self._attempt(exchanged)
        if there is not None:
            return there
        made, gains = self.crossing.exchange(self.fetched(patterns), pairs, ways, seeds)
        return self._held(made.bits), gains

    def digests(self, patterns: Patterns) -> Words:
        """See `Crossing.digests`."""
        there = self._attempt(lambda device: self._price(device, patterns)[1])
        return self.crossing.digests(self.fetched(patterns)) if there is None else there

    def nearest(self, patterns: Patterns, others: Patterns) -> Int64:
        """See `Crossing.nearest`."""

        def compared(device: Machine) -> Int64:
            found = self._empty(device, (patterns.count,), np.int64)
            bits, against = self._bits(device, patterns), self._bits(device, others)
            self._launch(device, "nearest", patterns.count, bits, against, found)
            return to_host(found)

        there = self._attempt(compared)
        return self.crossing.nearest(self.fetched(patterns), self.fetched(others)) if there is None else there


WORKERS = frozenset({"decode", "clean", "destroy", "judge", "exchange"})
"""Kernels whose blocks own scratch."""
