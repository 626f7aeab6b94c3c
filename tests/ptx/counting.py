"""A stand-in for CuPy that counts: allocations that its memory pool cannot serve, copies, and bytes each way.

As CuPy's pool does, it gives out the smallest spare chunk that is large enough, splits off what is too much, and joins
neighbours that are given back; sizes are rounded up to 512 bytes.
"""

from __future__ import annotations

import weakref
from collections import Counter
from typing import Any

import numpy as np

UNIT = 512


class Chunk:
    """A piece of an allocation, between its neighbours."""

    def __init__(self, size: int) -> None:
        self.size, self.spare = size, False
        self.before: Chunk | None = None
        self.after: Chunk | None = None


class Pool:
    """Memory that was allocated, in use or spare; `limit` is what may still be allocated."""

    def __init__(self) -> None:
        self.spare: list[Chunk] = []
        self.allocations = 0
        self.limit: int | None = None

    def take(self, size: int) -> Chunk:
        """A chunk of this size."""
        fitting = [chunk for chunk in self.spare if chunk.size >= size]
        if not fitting:
            return self._allocated(size)
        chunk = min(fitting, key=lambda one: one.size)
        self.spare.remove(chunk)
        chunk.spare = False
        if chunk.size > size:
            rest = Chunk(chunk.size - size)
            chunk.size, rest.before, rest.after = size, chunk, chunk.after
            if rest.after is not None:
                rest.after.before = rest
            chunk.after = rest
            self._put(rest)
        return chunk

    def give_back(self, chunk: Chunk) -> None:
        """A chunk is spare, and one with its spare neighbours."""
        if chunk.after is not None and chunk.after.spare:
            self._join(chunk, chunk.after)
        if chunk.before is not None and chunk.before.spare:
            before = chunk.before
            self.spare.remove(before)
            chunk.spare = True
            self.spare.append(chunk)
            self._join(before, chunk)
            chunk = before
        self._put(chunk)

    def _join(self, first: Chunk, second: Chunk) -> None:
        """Two neighbours become one; the second is spare, and is so no more."""
        self.spare.remove(second)
        first.size, first.after = first.size + second.size, second.after
        if first.after is not None:
            first.after.before = first

    def _put(self, chunk: Chunk) -> None:
        chunk.spare = True
        self.spare.append(chunk)

    def _allocated(self, size: int) -> Chunk:
        if self.limit is not None:
            if self.limit < size:
                raise MemoryError(f"{size} bytes")
            self.limit -= size
        self.allocations += 1
        return Chunk(size)


class Held(np.ndarray):
    """An array on the pretended device."""

    module: CountingArrays

    def __array_finalize__(self, source: Any) -> None:
        self.module = getattr(source, "module", None)  # type: ignore[assignment]

    def get(self) -> Any:
        """The array in host memory."""
        self.module.counts["bytes to host"] += self.nbytes
        return np.array(self)

    def set(self, values: Any) -> None:
        """Fill the array from host memory."""
        self.module.counts["bytes to device"] += self.nbytes
        np.copyto(self.view(np.ndarray), values)

    def __setitem__(self, at: Any, values: Any) -> None:
        self.module.counts["copies"] += 1
        super().__setitem__(at, values)


class CountingArrays:
    """The array module; `counts` says what happened since it was cleared."""

    ndarray = Held

    def __init__(self, limit: int | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self.pool = Pool()
        self.pool.limit = limit

    def zeros(self, shape: Any, kind: Any) -> Held:
        """An array of zeros."""
        memory = np.zeros(shape, kind)
        if memory.nbytes:
            before = self.pool.allocations
            chunk = self.pool.take(-(-memory.nbytes // UNIT) * UNIT)
            self.counts["allocations"] += self.pool.allocations - before
            weakref.finalize(memory, self.pool.give_back, chunk)
        held = memory.view(Held)
        held.module = self
        return held

    def empty(self, shape: Any, kind: Any) -> Held:
        """An array; what it holds is not zero, so that whoever believes that is found out."""
        made = self.zeros(shape, kind)
        made.view(np.ndarray).view(np.uint8)[...] = 0xA5
        return made

    def asarray(self, values: Any) -> Held:
        """A host array on the device."""
        made = self.zeros(values.shape, values.dtype)
        made.set(values)
        return made
