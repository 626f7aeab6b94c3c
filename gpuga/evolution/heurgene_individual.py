"""What HeurGene evolves: per sensitive cell the list of places that protect it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.evolution.heurgene_loops import Circuits
from gpuga.evolution.individual import Cost
from gpuga.table.table import Ints, Mask


class HeurGeneIndividual:
    """Lists of protecting places per sensitive cell (int32[S, 32], sorted, -1 after the last) and other suppressions.

    `rest` holds the places of cells whose circuits are longer than 32: they are kept, and never change sides.
    `mutates_at` is the sensitive cell whose circuit mutation looks at, -1: any.
    """

    __slots__ = ("fitness", "lists", "mutates_at", "rest")

    def __init__(self, lists: NDArray[np.int32], rest: Ints) -> None:
        self.lists = np.array(lists, np.int32)
        self.rest = np.array(rest, np.int64)
        self.mutates_at = -1
        self.fitness = Cost()

    def __deepcopy__(self, memo: dict[int, Any]) -> HeurGeneIndividual:
        twin = HeurGeneIndividual(self.lists, self.rest)
        if self.fitness.valid:
            twin.fitness.values = self.fitness.values
        return twin

    @property
    def circuits(self) -> Circuits:
        """The same arrays for compiled loops, which change them in place."""
        return Circuits(self.lists, self.rest)

    def grid(self, shape: tuple[int, int]) -> Mask:
        """As a grid of secondary suppressions."""
        out = np.zeros(shape, bool)
        out.reshape(-1)[self.lists[self.lists >= 0]] = True
        out.reshape(-1)[self.rest] = True
        return out


def dissimilarity(one: HeurGeneIndividual, other: HeurGeneIndividual) -> int:
    """How many sensitive cells are protected by different circuits."""
    return int((one.lists != other.lists).any(axis=1).sum())
