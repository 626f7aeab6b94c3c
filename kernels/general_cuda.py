"""Whole generations of a general table on a CUDA device, bit for bit as `GeneralCpu` and `Crossing` do it.

Patterns, certificates, the table and its pooled circuits stay on the device; seeds go there, verdicts, costs and
digests come back. One block works on one individual at a time, with scratch that is planned once for as many blocks as
memory holds. Certificates take much more room than patterns: who takes some individuals of a population, or makes
children of them by exchange, notes whose certificates they have, and these are copied once, when an operation is to
change them. What concerns single circuits stays on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .crossing import Crossing, Words
from .cuda_machine import Machine, to_host
from .general import CLEAN, DECODE, PROVE, RUIN, GeneralCpu, Jobs, states_of, told
from .layout import Bools, Int32, Int64, Patterns, pack, unpack
from .logic.general_records import GeneralTable, Genes, State
from .logic.records import TableRecord
from .on_device import OnDevice


@dataclass(eq=False)
class DeviceIndividuals:
    """Patterns that stay on the device of their handle; in host memory once the handle works there.

    `bits` uint64[P, 1, W]; pattern p has the certificates of row `rows[p]` of `genes`, which others may share.
    """

    bits: Any
    genes: Genes
    rows: Int64
    work: GeneralCuda

    @property
    def count(self) -> int:
        """How many patterns."""
        return len(self.rows)

    def take(self, places: NDArray[np.integer]) -> DeviceIndividuals:
        """Some of the patterns, in that order."""
        return self.work.taken(self, np.asarray(places, np.int64))

    def joined(self, others: Sequence[DeviceIndividuals]) -> DeviceIndividuals:
        """These patterns and others behind them."""
        return self.work.together([self, *others]) if others else self

    def unpacked(self) -> Bools:
        """The patterns per cell of the table (bool[P, n])."""
        return self.work.flags(self)[:, self.work.place]


class GeneralCuda(OnDevice):
    """The operations of `host` and `crossing`, which serve one table on the CPU, on a device.

    `place` int64[n] leads from the table's cells to those of the patterns. Where time is `limited`, individuals are
    launched in batches of at most as many as there are workers: between them its end is seen, which a launch that is
    under way cannot see.
    """

    least, reserve = 1, 1 << 34  # certificates take much room

    def __init__(self, host: GeneralCpu, crossing: Crossing, place: Int64, machine: Machine, limited: bool) -> None:
        self.host, self.crossing, self.place, self.limited = host, crossing, place, limited
        self.columns, self.device = host.cells, machine
        self._forced = pack(host.forced[None]).bits
        self.words = self._forced.shape[1:]
        self._attempt(self._settle_in)

    # --- memory ------------------------------------------------------------------------------------------

    def _settle_in(self, device: Machine) -> None:
        """Bring the table to the device and plan the scratch."""
        none, host = np.zeros((1, 2), np.int64), self.host
        record = TableRecord(1, host.cells, none, host.table.weight, np.zeros(1, np.uint8), self._forced[0])
        self._record = device.ready(self._uploaded(device, record))
        self._joins = device.ready(self._uploaded(device, self.crossing.joins))
        self._open = self._uploaded(device, host.no_genes(1))
        self._held: tuple[GeneralTable, Any] | None = None
        self._prices: tuple[Int64, Any] | None = None
        self._nothing: Any = None
        self._halted = 0
        self._plan(device)
        self._reserve(device)

    def _plan(self, device: Machine) -> None:
        """Working memory for as many workers as there is room for."""
        one = states_of(self.host, 1)
        self._states: Any = None

        def make(workers: int) -> State:
            return State(*(device.xp.zeros((workers, *part.shape[1:]), part.dtype) for part in one))

        self._states = device.ready(self._scratch(device, sum(part.nbytes for part in one), make))
        self._longest = self.host.longest

    def _forget(self) -> None:
        """Let go of all that is held on the device."""
        super()._forget()
        self._open = self._held = self._prices = self._nothing = self._states = None

    def _table(self, device: Machine) -> Any:
        """The table on the device, brought there anew when the pool has grown; whether work is to end, as of now."""
        table = self.host.table
        if self._held is None or self._held[0] is not table:
            parts = GeneralTable(*(self._brought(device, part, part.dtype) for part in table))
            self._held, self._halt, self._halted = (table, device.ready(parts)), parts.halt, int(table.halt[0])
        if self._halted != int(table.halt[0]):
            self._halted = int(table.halt[0])
            self._halt[:1] = self._halted
        return self._held[1]

    def _priced_at(self, device: Machine) -> Any:
        """The prices on the device, brought there anew when others are set."""
        if self._prices is None or self._prices[0] is not self.host.prices:
            self._prices = self.host.prices, self._brought(device, self.host.prices, np.int64)
        return self._prices[1]

    def _room(self, device: Machine, count: int) -> Genes:
        """Room for the certificates of some individuals."""
        return Genes(*(self._empty(device, (count, *part.shape[1:]), part.dtype) for part in self._open))

    def _copied(self, device: Machine, every: Sequence[DeviceIndividuals]) -> DeviceIndividuals:
        """Individuals one behind the other, with certificates of their own."""
        count = sum(one.count for one in every)
        bits, genes, at = self._rows(device, count), self._room(device, count), 0
        for one in every:
            rows = self._brought(device, one.rows, np.int32)
            device.launch("copy_individuals", one.count, one.bits, one.genes, rows, at, bits, genes)
            at += one.count
        return self._own(bits, genes)

    def _own(self, bits: Any, genes: Genes) -> DeviceIndividuals:
        return DeviceIndividuals(bits, genes, np.arange(len(bits)), self)

    # --- individuals -------------------------------------------------------------------------------------

    def brought(self, flags: Bools, genes: Genes | None = None) -> DeviceIndividuals:
        """Patterns bool[P, n] with what proves them; None: nothing yet."""
        bits = pack(flags).bits

        def there(device: Machine) -> DeviceIndividuals:
            held = self._brought(device, bits, np.uint64)
            if genes is None:
                return DeviceIndividuals(held, self._open, np.zeros(len(bits), np.int64), self)
            return self._own(held, Genes(*(self._brought(device, part, part.dtype) for part in genes)))

        made = self._attempt(there)
        return self._here(flags, self.host.no_genes(len(flags)) if genes is None else genes) if made is None else made

    def nothing(self, count: int) -> DeviceIndividuals:
        """Patterns of the forced cells alone."""

        def forced(device: Machine) -> DeviceIndividuals:
            if self._nothing is None or len(self._nothing) < count:
                self._nothing = self._rows(device, self._capacity(count))
                self._nothing[...] = device.xp.asarray(self._forced)
            return DeviceIndividuals(self._nothing[:count], self._open, np.zeros(count, np.int64), self)

        there = self._attempt(forced)
        return self.brought(np.repeat(self.host.forced[None], count, 0)) if there is None else there

    def taken(self, individuals: DeviceIndividuals, places: Int64) -> DeviceIndividuals:
        """Some of the individuals, in that order. A single one is copied: it may outlive all others."""
        rows = individuals.rows[places]

        def gathered(device: Machine) -> DeviceIndividuals:
            bits = self._gathered(device, individuals.bits, places)
            found = DeviceIndividuals(bits, individuals.genes, rows, self)
            return self._copied(device, [found]) if len(rows) == 1 else found

        there = self._attempt(gathered)
        if there is not None:
            return there
        return DeviceIndividuals(to_host(individuals.bits)[places], individuals.genes, rows, self)

    def together(self, every: Sequence[DeviceIndividuals]) -> DeviceIndividuals:
        """Individuals one behind the other."""
        there = self._attempt(lambda device: self._copied(device, every))
        if there is not None:
            return there
        flags, genes = zip(*(self.fetched(one) for one in every), strict=True)
        parts = (np.concatenate([getattr(one, name) for one in genes]) for name in Genes._fields)
        return self._here(np.concatenate(flags), Genes(*parts))

    def flags(self, individuals: DeviceIndividuals) -> Bools:
        """The patterns in host memory (bool[P, n])."""
        return unpack(self._packed(individuals))

    def fetched(self, individuals: DeviceIndividuals) -> tuple[Bools, Genes]:
        """Patterns and what proves them in host memory; nothing but zeros lies behind the last certificate."""
        if len(individuals.rows) < len(individuals.genes.certificates):  # only what is wanted goes to the host
            individuals = self._attempt(lambda device: self._copied(device, [individuals])) or individuals
        proof, begin, cell, amount, count = (to_host(part)[individuals.rows] for part in individuals.genes)
        used = begin[np.arange(len(count)), count][:, None]
        begin[np.arange(begin.shape[1]) > count[:, None]] = 0
        for part in (cell, amount):
            part[np.arange(part.shape[1]) >= used] = 0
        return self.flags(individuals), Genes(proof, begin, cell, amount, count)

    def _packed(self, individuals: DeviceIndividuals) -> Patterns:
        """The patterns in host memory, packed."""
        return Patterns(np.ascontiguousarray(to_host(individuals.bits)), self.columns)

    def _here(self, flags: Bools, genes: Genes) -> DeviceIndividuals:
        """Individuals in host memory."""
        return self._own(pack(flags).bits, genes)

    # --- operations of `GeneralCpu` ----------------------------------------------------------------------

    def decode(
        self, start: DeviceIndividuals, first: DeviceIndividuals, second: DeviceIndividuals, seeds: ArrayLike,
        style: ArrayLike, snapshot: ArrayLike,
    ) -> tuple[DeviceIndividuals, Bools]:  # fmt: skip
        """See `GeneralCpu.decode`."""

        def decoded(device: Machine) -> tuple[DeviceIndividuals, Bools]:
            made = self._copied(device, [start])
            parents = (first.bits, second.bits)
            return made, self._run(device, DECODE, made, parents, told(start.count, seeds, style, snapshot))

        there = self._attempt(decoded)
        if there is not None:
            return there
        begun, genes = self.fetched(start)
        flags, genes, done = self.host.decode(
            begun, self.flags(first), self.flags(second), seeds, style, snapshot, genes
        )
        return self._here(flags, genes), done

    def clean(self, individuals: DeviceIndividuals) -> DeviceIndividuals:
        """See `GeneralCpu.clean`."""

        def cleaned(device: Machine) -> DeviceIndividuals:
            made = self._copied(device, [individuals])
            self._run(device, CLEAN, made)
            return made

        there = self._attempt(cleaned)
        return self._here(*self.host.clean(*self.fetched(individuals))) if there is None else there

    def prove(self, individuals: DeviceIndividuals) -> Bools:
        """See `GeneralCpu.prove`: certificates that are found are kept with the individuals."""

        def proven(device: Machine) -> Bools:
            made = self._copied(device, [individuals])
            done = self._run(device, PROVE, made)
            individuals.genes, individuals.rows = made.genes, made.rows
            return done

        there = self._attempt(proven)
        if there is not None:
            return there
        flags, genes = self.fetched(individuals)
        done = self.host.prove(flags, genes)
        individuals.genes, individuals.rows = genes, np.arange(len(flags))
        return done

    def destroy(self, individuals: DeviceIndividuals, seeds: ArrayLike, strength: ArrayLike) -> DeviceIndividuals:
        """See `GeneralCpu.destroy`."""

        def destroyed(device: Machine) -> DeviceIndividuals:
            made = self._copied(device, [individuals])
            self._run(device, RUIN, made, numbers=told(made.count, seeds, strength))
            return made

        there = self._attempt(destroyed)
        if there is not None:
            return there
        flags, genes = self.fetched(individuals)
        return self._here(self.host.destroy(flags, genes, seeds, strength), genes)

    def _run(
        self, device: Machine, work: int, made: DeviceIndividuals, parents: tuple[Any, Any] | None = None,
        numbers: Any = None,
    ) -> Bools:  # fmt: skip
        """Do what is asked with individuals, where they lie; without parents any will do, see `GeneralCpu`."""
        if self._longest < self.host.longest:
            self._plan(device)
        first, second = parents or (made.bits, made.bits)
        numbers = self._brought(device, told(made.count) if numbers is None else numbers, np.uint64)
        done, prices = self._empty(device, (made.count,), np.uint8), self._priced_at(device)
        size = self.workers if self.limited else max(1, made.count)
        for at in range(0, made.count, size):
            part = slice(at, min(at + size, made.count))
            jobs = Jobs(first[part, 0], second[part, 0], numbers[part], prices)
            genes: list[Any] = [one[part] for one in made.genes]
            given = (self._states, made.bits[part, 0], Genes(*genes), jobs, work, done[part])
            device.launch("general", min(part.stop - at, self.workers), self._table(device), *given)
        return to_host(done).astype(np.bool_)

    def costs(self, individuals: DeviceIndividuals) -> Int64:
        """See `GeneralCpu.costs`."""
        there = self._attempt(lambda device: self._price(device, individuals.bits)[0])
        return self.host.costs(self.flags(individuals)) if there is None else there

    # --- operations of `Crossing` ------------------------------------------------------------------------

    def exchange(
        self, individuals: DeviceIndividuals, pairs: Int32, ways: Int32, seeds: Words
    ) -> tuple[DeviceIndividuals, Int64]:
        """See `Crossing.exchange`; the certificates are those of the first parents."""
        there = self._attempt(lambda device: self._exchange(device, individuals.bits, pairs, ways, seeds))
        if there is None:
            made, gains = self.crossing.exchange(self._packed(individuals), pairs, ways, seeds)
            there = made.bits, gains
        return DeviceIndividuals(there[0], individuals.genes, individuals.rows[pairs[:, 0]], self), there[1]

    def digests(self, individuals: DeviceIndividuals) -> Words:
        """See `Crossing.digests`."""
        there = self._attempt(lambda device: self._price(device, individuals.bits)[1])
        return self.crossing.digests(self._packed(individuals)) if there is None else there

    def nearest(self, individuals: DeviceIndividuals, others: DeviceIndividuals) -> Int64:
        """See `Crossing.nearest`."""
        there = self._attempt(lambda device: self._nearest(device, individuals.bits, others.bits))
        return self.crossing.nearest(self._packed(individuals), self._packed(others)) if there is None else there
