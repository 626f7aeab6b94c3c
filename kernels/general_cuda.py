"""Evolution's operations on general tables on a CUDA device, bit for bit as `GeneralCpu` does them.

One block works on one individual at a time, with scratch that is planned once for as many blocks as memory holds. The
table and its pooled circuits stay on the device; patterns and certificates, which evolution keeps in host memory, go
there and come back with every call. Costs and what concerns single circuits stay on the CPU. Where memory is gone, the
CPU goes on, with one warning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .backend import warn
from .cuda_machine import Machine, to_host
from .general import GeneralCpu, Jobs
from .layout import Bools
from .logic.general_records import Bytes, GeneralTable, Genes, State
from .two_way_cuda import MOST_WORKERS, SHARE


class GeneralCuda(GeneralCpu):
    """The operations on one table, given as to `GeneralCpu`, on a machine with a device.

    Individuals are launched in batches of at most as many as there are workers: between them the end of a limited time
    is seen, which a launch that is under way cannot see.
    """

    def __init__(self, *table: Any, machine: Machine) -> None:
        super().__init__(*table)
        self.device: Machine | None = machine
        self.workers = 0
        self._scratch: Any = None
        self._held: tuple[GeneralTable, Any, Any] | None = None

    def _run(self, work: int, patterns: Bytes, genes: Genes, jobs: Jobs) -> Bools:
        done, at = np.zeros(len(patterns), np.bool_), 0
        while at < len(patterns) and self.device is not None:
            try:
                at += self._batch(self.device, work, part_of(patterns, genes, jobs, at), done[at:])
            except MemoryError:
                warn("device memory is too small for this table and population: the CPU goes on")
                self.device = self._scratch = self._held = self._states = None
        if at < len(patterns):
            done[at:] = super()._run(work, *part_of(patterns, genes, jobs, at))
        return done

    def _batch(self, device: Machine, work: int, individuals: tuple[Bytes, Genes, Jobs], done: Bools) -> int:
        """Do what is asked with as many individuals as there are workers; returns how many."""
        states = self._planned(device)
        patterns, genes, jobs = part_of(*individuals, 0, self.workers)
        table = self._ground(device)
        there = device.brought(patterns)
        kept = Genes(*(device.brought(part) for part in genes))
        asked = Jobs(*(device.brought(part) for part in jobs))
        verdicts = device.xp.zeros((len(patterns),), np.uint8)
        device.launch("general", len(patterns), table, states, there, kept, asked, work, verdicts)
        done[: len(patterns)] = to_host(verdicts) != 0
        patterns[...] = to_host(there)
        for name in Genes._fields:
            getattr(genes, name)[...] = to_host(getattr(kept, name))
        return len(patterns)

    def _ground(self, device: Machine) -> Any:
        """The table on the device, brought there anew when the pool has grown; whether work is to end, as of now."""
        if self._held is None or self._held[0] is not self.table:
            parts = [device.brought(part) for part in self.table]
            self._held = (self.table, parts[-1], device.ready(GeneralTable(*parts)))
        _, halt, there = self._held
        halt[:1] = int(self.table.halt[0])
        return there

    def _planned(self, device: Machine) -> Any:
        """Working memory for as many workers as there is room for; again when a longer circuit asks for more."""
        if self._states is None or self._scratch is None:
            self._scratch = None
            self._states = one = self._new_states(1)
            each = sum(part.nbytes for part in one)
            self.workers = int(max(1, min(MOST_WORKERS, device.free() // SHARE // each)))
            while self._scratch is None:
                try:
                    room = State(*(device.xp.zeros((self.workers, *part.shape[1:]), part.dtype) for part in one))
                    self._scratch = device.ready(room)
                except MemoryError:
                    if self.workers == 1:
                        raise
                    self.workers = (self.workers + 1) // 2
        return self._scratch


def part_of(
    patterns: Bytes, genes: Genes, jobs: Jobs, begin: int, count: int | None = None
) -> tuple[Bytes, Genes, Jobs]:
    """Some neighbouring individuals, where they lie."""
    span = slice(begin, None if count is None else begin + count)
    asked = Jobs(jobs.first[span], jobs.second[span], jobs.seeds[span], jobs.plan[span], jobs.prices)
    kept: list[Any] = [part[span] for part in genes]
    return patterns[span], Genes(*kept), asked
