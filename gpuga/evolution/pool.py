"""The pool of certified circuits that chromosomes point into.

A circuit is kept as its support: the cells outside the forced ones that its kernel vector moves. Its amounts were
exact when it joined, and can be found again from the support; they are not kept, because a level gives
away a sensitive value and the pool goes into checkpoints. Cells are numbered anew in the order in which
they enter the pool, so that populations over huge tables stay narrow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.evolution.individual import Genes
from gpuga.kernels import layout
from gpuga.table.table import Ints, Mask

SPARE = 1024
"""Room for cells that enter later, so that arrays keep their width."""


class Supports(NamedTuple):
    """One support per task: task t's circuit uses the cells `cell[start[t]:start[t+1]]` (int64 each)."""

    start: Ints
    cell: Ints


class CircuitPool:
    """Circuits, each for one task; equal ones are kept once. `weight` int64[n] prices all cells of the table."""

    def __init__(self, tasks: int, weight: Ints) -> None:
        self.tasks, self.weight = tasks, weight
        self.column = np.full(len(weight), -1, np.int32)
        self.cells = np.zeros(0, np.int64)
        self.width = 0
        self._start, self._cell, self._task = [0], [np.zeros(0, np.int32)], np.zeros(0, np.int32)
        self._index: dict[bytes, int] = {}
        self._arrays: layout.Pool | None = None

    def __len__(self) -> int:
        return len(self._start) - 1

    def add(self, supports: Supports) -> Genes:
        """Let circuits join; returns the genes of the individual that consists of them (int32[T])."""
        self._number(supports.cell)
        size = np.diff(supports.start)
        task = np.repeat(np.arange(self.tasks), size)
        column = self.column[supports.cell]
        column = column[np.lexsort((column, task))]
        text, bounds = column.tobytes(), supports.start.tolist()
        genes = np.full(self.tasks, -1, np.int32)
        joined: list[int] = []
        for t in np.flatnonzero(size).tolist():
            key = t.to_bytes(4, "little") + text[4 * bounds[t] : 4 * bounds[t + 1]]
            known = self._index.get(key)
            if known is None:
                known = self._index[key] = len(self)
                self._start.append(self._start[-1] + bounds[t + 1] - bounds[t])
                self._cell.append(column[bounds[t] : bounds[t + 1]])
                joined.append(t)
            genes[t] = known
        if joined:
            self._task = np.concatenate([self._task, np.array(joined, np.int32)])
            self._arrays = None
        return genes

    def _number(self, cells: Ints) -> None:
        fresh = np.unique(cells[self.column[cells] < 0])
        self.column[fresh] = len(self.cells) + np.arange(len(fresh), dtype=np.int32)
        self.cells = np.concatenate([self.cells, fresh])
        if len(self.cells) > self.width:
            self.width = 2 * len(self.cells) + SPARE

    @property
    def task(self) -> NDArray[np.int32]:
        """The task of each circuit (int32[K])."""
        return self._task

    def arrays(self) -> layout.Pool:
        """The circuits for the kernels, over columns."""
        if self._arrays is None:
            cell = np.concatenate(self._cell)
            self._cell = [cell]
            self._arrays = layout.Pool.of(np.array(self._start), cell, np.zeros(len(cell), np.int64))
        return self._arrays

    def weights(self) -> Ints:
        """What each column costs (int64[width], 0 for spare ones)."""
        out = np.zeros(self.width, np.int64)
        out[: len(self.cells)] = self.weight[self.cells]
        return out

    def by_task(self) -> tuple[Ints, NDArray[np.int32]]:
        """The circuits of each task: `order[start[t]:start[t+1]]`."""
        start = np.concatenate([[0], np.cumsum(np.bincount(self._task, minlength=self.tasks))])
        return start, np.argsort(self._task, kind="stable").astype(np.int32)

    def union(self, genes: Genes) -> Mask:
        """The cells that an individual suppresses besides the forced ones (bool[n])."""
        supports = self.supports(genes)
        suppressed = np.zeros(len(self.weight), bool)
        suppressed[supports.cell] = True
        return suppressed

    def supports(self, genes: Genes) -> Supports:
        """The supports of an individual's circuits."""
        pool = self.arrays()
        size = np.where(genes >= 0, np.diff(pool.start, append=pool.start[-1:])[genes], 0)
        start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        first = np.where(genes >= 0, pool.start[genes], 0)
        at = np.repeat(first - start[:-1], size) + np.arange(start[-1])
        return Supports(start, self.cells[pool.cell[at]])

    def kept(self, used: NDArray[np.int32]) -> tuple[CircuitPool, NDArray[np.int32]]:
        """A pool of the used circuits alone, and the new index of every old one (-1: gone)."""
        chosen = np.unique(used[used >= 0])
        renamed = np.full(len(self) + 1, -1, np.int32)  # the last one is for gene -1
        renamed[chosen] = np.arange(len(chosen), dtype=np.int32)
        pool = self.arrays()
        size = np.diff(pool.start)[chosen]
        start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        at = np.repeat(pool.start[chosen] - start[:-1], size) + np.arange(start[-1])
        smaller = CircuitPool.of(
            self.tasks, self.weight, self.cells, self.width, start, pool.cell[at], self._task[chosen]
        )
        return smaller, renamed

    @classmethod
    def of(
        cls,
        tasks: int,
        weight: Ints,
        cells: Ints,
        width: int,
        start: Ints,
        cell: NDArray[np.int32],
        task: NDArray[np.int32],
    ) -> CircuitPool:
        """A pool from its arrays: the numbered cells, and circuits over columns."""
        pool = cls(tasks, weight)
        pool.cells, pool.width = cells.astype(np.int64), width
        pool.column[pool.cells] = np.arange(len(cells), dtype=np.int32)
        pool._start, pool._cell, pool._task = start.tolist(), [cell.astype(np.int32)], task.astype(np.int32)
        text = pool._cell[0].tobytes()
        for k, t in enumerate(pool._task.tolist()):
            key = t.to_bytes(4, "little") + text[4 * pool._start[k] : 4 * pool._start[k + 1]]
            pool._index[key] = k
        return pool
