"""What the operations of every table have in common on a CUDA device: memory, launches, and what packed patterns need.

Populations are made of what the memory pool was given at the beginning, in sizes of powers of two, which it gives out
again and again. Where memory is gone all the same, the CPU goes on, with one warning.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .backend import warn
from .crossing import Crossing, Words
from .cuda_kernels import KERNELS
from .cuda_machine import Machine, to_host
from .layout import Int32, Int64, owned
from .logic.exchange import Chosen
from .logic.workers import Marks

MOST_WORKERS = 4096
"""Patterns that are worked on at a time: as many blocks as the largest devices hold."""

SHARE = 2
"""Scratch takes at most one part in so many of the free memory."""

RESERVED = 8
"""The memory pool keeps one part in so many of what is free for populations, from the beginning."""

OWN_BLOCK = frozenset({"decode", "clean", "destroy", "judge", "exchange"})
"""Kernels whose blocks own scratch: workers."""

Answer = TypeVar("Answer")
Scratch = TypeVar("Scratch")


class OnDevice:
    """Operations of one table on a device, as long as it has memory; `crossing` is the CPU's crossover.

    `words` is the shape of one pattern's bits, `columns` the cells of a row. Arrays have room for at least `least`
    patterns, and at most `reserve` bytes are kept for them. `_record` and `_joins` are the table and its lines as
    launches take them, `_marks` the room for exchanges.
    """

    device: Machine | None
    crossing: Crossing
    words: tuple[int, int]
    columns: int
    least, reserve = 64, 1 << 28
    workers = 0
    _record: Any = None
    _joins: Any = None
    _marks: Any = None
    _priced: tuple[Any, Int64, Words] | None = None

    # --- memory ------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Let go of all that is held on the device."""
        self._record = self._joins = self._marks = self._priced = None

    def _attempt(self, on_device: Callable[[Machine], Answer]) -> Answer | None:
        """Do something on the device; None where that is left, now or earlier, because its memory is gone."""
        if self.device is None:
            return None
        try:
            return on_device(self.device)
        except MemoryError:
            warn("device memory is too small for this table and population: the CPU goes on")
            self.device = None
            self._forget()
            return None

    def _scratch(self, device: Machine, each: int, make: Callable[[int], Scratch]) -> Scratch:
        """Scratch of as many workers as there is memory for, of `each` bytes, and room for their exchanges."""
        nodes, xp = self.crossing.nodes, device.xp
        self.workers = int(max(1, min(MOST_WORKERS, device.free() // SHARE // (each + 16 * nodes))))
        while True:
            try:
                made = make(self.workers)
                marks = Marks(xp.zeros((self.workers, 2, nodes), np.int32), xp.zeros((self.workers, nodes), np.int64))
                break
            except MemoryError:
                if self.workers == 1:
                    raise
                self.workers = (self.workers + 1) // 2
        self._marks = device.ready(marks)
        return made

    def _reserve(self, device: Machine) -> None:
        """What is given back at once stays in the memory pool, for populations."""
        with contextlib.suppress(MemoryError):
            device.xp.empty(min(self.reserve, device.free() // RESERVED), np.uint8)

    def _capacity(self, count: int) -> int:
        """The size in which an array for so many patterns is made."""
        return max(self.least, 1 << max(0, count - 1).bit_length())

    def _empty(self, device: Machine, shape: tuple[int, ...], kind: Any) -> Any:
        """An array whose memory fits others of about the same size later."""
        return device.xp.empty((self._capacity(shape[0]), *shape[1:]), kind)[: shape[0]]

    def _rows(self, device: Machine, count: int) -> Any:
        """Room for the bits of patterns."""
        return self._empty(device, (count, *self.words), np.uint64)

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

    def _uploaded(self, device: Machine, record: Any) -> Any:
        """A record with its arrays on the device."""
        return type(record)(*(device.xp.asarray(x) if isinstance(x, np.ndarray) else x for x in record))

    def _launch(self, device: Machine, name: str, count: int, *arguments: Any) -> None:
        """One launch for `count` patterns (or words): blocks are workers, or their threads take one each."""
        threads = KERNELS[name][2]
        device.launch(name, min(count, self.workers) if name in OWN_BLOCK else -(-count // threads), *arguments)

    # --- packed patterns ---------------------------------------------------------------------------------

    def _gathered(self, device: Machine, bits: Any, places: Int64) -> Any:
        """Some of the patterns, in that order; neighbours are not copied."""
        first, count = int(places[0]) if len(places) else 0, len(places)
        if np.array_equal(places, np.arange(first, first + count)):
            return bits[first : first + count]
        found, at = self._rows(device, count), self._brought(device, places, np.int32)
        self._launch(device, "gather", count * int(np.prod(self.words)), bits, at, found)
        return found

    def _price(self, device: Machine, bits: Any) -> tuple[Int64, Words]:
        """Costs and digests; whoever asks for the one asks for the other next."""
        if self._priced is None or self._priced[0] is not bits:
            count = len(bits)
            costs, digests = self._empty(device, (count,), np.int64), self._empty(device, (count,), np.uint64)
            self._launch(device, "price", count, self._record, bits, costs, digests)
            self._priced = (bits, to_host(costs), to_host(digests))
        return self._priced[1].copy(), self._priced[2].copy()

    def _exchange(self, device: Machine, bits: Any, pairs: Int32, ways: Int32, seeds: Words) -> tuple[Any, Int64]:
        """The bits of a child per pair, and what each gains."""
        children, gains = self._rows(device, len(pairs)), self._empty(device, (len(pairs),), np.int64)
        chosen = Chosen(
            self._brought(device, pairs, np.int32), self._brought(device, ways, np.int32),
            self._brought(device, seeds, np.uint64),
        )  # fmt: skip
        self._launch(
            device, "exchange", len(pairs), bits, self.columns, self._joins, self._marks, chosen, children, gains
        )
        return children, to_host(gains)

    def _nearest(self, device: Machine, bits: Any, others: Any) -> Int64:
        """In how many cells each pattern differs from the nearest other one that is not the same."""
        found = self._empty(device, (len(bits),), np.int64)
        self._launch(device, "nearest", len(bits), bits, others, found)
        return to_host(found)
