"""Witnesses as data: sparse deviations from a table, which `safety.witness` checks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.table.table import Ints


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Many sparse deviations: `amount / denominator` on the cells `cell[start[w]:start[w+1]]`.

    `start` int64[W+1], `cell` int32[nnz], `amount` int64[nnz], `denominator` int64[W] >= 1; Python integers
    (dtype object) where int64 is too narrow.
    """

    start: Ints
    cell: NDArray[np.int32]
    amount: Ints
    denominator: Ints

    def __len__(self) -> int:
        return len(self.denominator)

    def subset(self, which: NDArray[np.integer]) -> Witnesses:
        """Some of the witnesses, in the order given."""
        length = np.diff(self.start)[which]
        start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        entry = np.repeat(self.start[which] - start[:-1], length) + np.arange(int(start[-1]))
        return Witnesses(start, self.cell[entry], self.amount[entry], self.denominator[which])

    def one(self, w: int) -> tuple[NDArray[np.int32], Ints, int]:
        """Cells, amounts and denominator of one witness."""
        span = slice(int(self.start[w]), int(self.start[w + 1]))
        return self.cell[span], self.amount[span], int(self.denominator[w])
