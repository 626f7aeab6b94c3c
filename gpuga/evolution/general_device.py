"""The operations of a general problem as evolution uses them, on a CUDA device: individuals stay there."""

from __future__ import annotations

from typing import Any

from gpuga.context import Clock
from gpuga.evolution.general_kernels import Bools, Certified, GeneralKernels, Words, order_of
from gpuga.kernels.cuda_machine import Machine
from gpuga.kernels.general_cuda import DeviceIndividuals, GeneralCuda
from gpuga.kernels.logic.general_records import Genes
from gpuga.problem.general import GeneralProblem
from gpuga.table.table import Ints, Mask


class GeneralDeviceKernels(GeneralKernels):
    """As `GeneralKernels`, with which the CPU goes on where device memory is gone."""

    def __init__(self, problem: GeneralProblem, clock: Clock, machine: Machine) -> None:
        super().__init__(problem, clock)
        self.work = GeneralCuda(self.cpu, self.crossing, self.place, machine, clock.seconds is not None)

    @property
    def device(self) -> Machine | None:
        """The machine, as long as its memory suffices."""
        return self.work.device

    @property
    def threads(self) -> int:
        """How many children are made at once."""
        return super().threads if self.device is None else self.work.workers

    # --- individuals -------------------------------------------------------------------------------------

    def held(self, flags: Bools, genes: Genes | None = None) -> DeviceIndividuals:
        """Patterns with what proves them, on the device."""
        return self.work.brought(flags, genes)

    def here(self, patterns: DeviceIndividuals) -> Certified:
        """Such patterns in host memory."""
        return Certified(*self.work.fetched(patterns), self.place)

    def nothing(self, count: int) -> DeviceIndividuals:
        """Patterns of the forced cells alone."""
        return self.work.nothing(count)

    # --- operations --------------------------------------------------------------------------------------

    def decode(self, start: Any, first: Any, second: Any, seeds: Words, style: Any, snapshot: Any) -> tuple[Any, Mask]:
        """Patterns that prove every requirement from `start`; False where that is impossible."""
        with self.in_time():
            return self.work.decode(start, first, second, seeds, order_of(style), snapshot)

    def clean(self, patterns: Any, seeds: Words) -> Any:
        """The patterns without what is redundant, as far as certificates show it."""
        with self.in_time():
            return self.work.clean(patterns)

    def safe(self, patterns: Any) -> Mask:
        """Whether every requirement has a certificate inside the pattern; what is found is kept with it."""
        with self.in_time():
            return self.work.prove(patterns)

    def destroy(self, patterns: Any, seeds: Words, strength: Any) -> Any:
        """The patterns with some cells published."""
        return self.work.destroy(patterns, seeds, strength)

    def costs(self, patterns: Any) -> Ints:
        """What the secondary suppressions cost."""
        return self.work.costs(patterns)

    def exchange(self, patterns: Any, pairs: Any, ways: Any, seeds: Words) -> tuple[Any, Ints]:
        """Children by components of their parents' difference, and what they gain; certificates of the first parent."""
        return self.work.exchange(patterns, pairs, ways, seeds)

    def digests(self, patterns: Any) -> Words:
        """Equal for equal patterns."""
        return self.work.digests(patterns)

    def nearest(self, patterns: Any, others: Any) -> Ints:
        """In how many cells each pattern differs from the nearest other one."""
        return self.work.nearest(patterns, others)
