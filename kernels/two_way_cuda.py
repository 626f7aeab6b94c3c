"""Whole generations of patterns of a two-way table on a CUDA device, bit for bit as `TwoWayCpu` and `Crossing` do it.

Patterns, table, prices and scratch stay on the device; seeds go there, verdicts, costs and digests come back. One block
works on one pattern at a time, so scratch is planned once for as many blocks as memory holds and a launch serves any
number of patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .crossing import Crossing, Words
from .cuda_machine import Machine, this_machine, to_host
from .layout import Bools, Int32, Int64, Patterns, pack, unpack, words_for
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
    Room,
    Tables,
)
from .on_device import OnDevice
from .two_way import Seeds, TwoWayCpu


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


class TwoWayCuda(OnDevice):
    """The operations of `host` and `crossing`, which serve one table on the CPU, on a device."""

    def __init__(self, host: TwoWayCpu, crossing: Crossing, machine: Machine | None = None) -> None:
        self.host, self.crossing = host, crossing
        self.table, self.needs = host.table, host.needs
        self.words, self.columns = self.table.forced.shape, self.table.columns
        self.device = machine or this_machine()
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
        self._record = self._tables.table

    def _plan(self, device: Machine) -> None:
        """Scratch for as many workers as there is memory for."""
        shapes = shapes_of(self.table, self.needs)

        def make(workers: int) -> Room:
            return Room(*(device.xp.zeros((workers, *shape), kind) for shape, kind in shapes))

        each = sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in shapes)
        self._room = device.ready(self._scratch(device, each, make))
        self.threads = self.workers
        self._reserve(device)

    def _forget(self) -> None:
        """Let go of all that is held on the device; the CPU's threads are those that count."""
        super()._forget()
        self.threads = self.host.threads
        self._tables = self._room = self._ground = self._needs = self._nothing = None

    def fetched(self, patterns: Patterns) -> Patterns:
        """Patterns in host memory."""
        return Patterns(np.ascontiguousarray(to_host(patterns.bits)), patterns.columns)

    def _bits(self, device: Machine, patterns: Patterns) -> Any:
        """The bits of patterns on the device."""
        if patterns.columns != self.table.columns or patterns.rows != self.table.rows:
            raise ValueError("patterns must have the rows and columns of the table")
        on_device = isinstance(patterns.bits, device.xp.ndarray)
        return patterns.bits if on_device else self._brought(device, patterns.bits, np.uint64)

    def _held(self, bits: Any) -> DevicePatterns:
        return DevicePatterns(bits, self.table.columns, self)

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
                self._nothing = self._rows(device, self._capacity(count))
                self._nothing[...] = self._ground.forced
            return self._nothing[:count]

        there = self._attempt(forced)
        return self._held(np.repeat(self.table.forced[None], count, axis=0) if there is None else there)

    def taken(self, patterns: Patterns, places: Int64) -> Patterns:
        """Some of the patterns, in that order; neighbours are not copied."""
        there = self._attempt(lambda device: self._gathered(device, self._bits(device, patterns), places))
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
        there = self._attempt(lambda device: self._price(device, self._bits(device, patterns))[0])
        return self.host.costs(self.fetched(patterns)) if there is None else there

    # --- operations of `Crossing` ------------------------------------------------------------------------

    def exchange(self, patterns: Patterns, pairs: Int32, ways: Int32, seeds: Words) -> tuple[Patterns, Int64]:
        """See `Crossing.exchange`."""

        there = self._attempt(lambda device: self._exchange(device, self._bits(device, patterns), pairs, ways, seeds))
        if there is not None:
            return self._held(there[0]), there[1]
        made, gains = self.crossing.exchange(self.fetched(patterns), pairs, ways, seeds)
        return self._held(made.bits), gains

    def digests(self, patterns: Patterns) -> Words:
        """See `Crossing.digests`."""
        there = self._attempt(lambda device: self._price(device, self._bits(device, patterns))[1])
        return self.crossing.digests(self.fetched(patterns)) if there is None else there

    def nearest(self, patterns: Patterns, others: Patterns) -> Int64:
        """See `Crossing.nearest`."""

        there = self._attempt(
            lambda device: self._nearest(device, self._bits(device, patterns), self._bits(device, others))
        )
        return self.crossing.nearest(self.fetched(patterns), self.fetched(others)) if there is None else there
