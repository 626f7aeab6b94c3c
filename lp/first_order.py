"""Many tables at once by a first-order method: points of one kernel that move many cells each, batched.

`maximise c.z` subject to `A z = 0`, `lower <= z <= upper`, for many objectives and bounds side by side (columns of
`c`, `lower`, `upper`), by the primal-dual hybrid gradient method (Chambolle, Pock 2011) with diagonal steps (the same,
also 2011). Its points keep the bounds and miss `A z = 0` a little; a projection onto the kernel mends that. The
projection was nearly all of the time when each point got its own conjugate gradients: here `A A'` is factorised once
for all of them. Only where its factors would be too large are conjugate gradients run, for all points side by side.
Floats only: what comes out is a proposal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import splu

Floats = NDArray[np.float64]

REGULARISED = 1e-8
"""What is added to the diagonal of `A A'`, whose rows may depend on each other."""

REFINED = 3
"""Steps of the projection: each takes away what the regularisation left of the residual."""


MOST_ROWS = 12_000
"""With more rows than this `A A'` is not factorised: its factors grow with the square of the rows."""

STEPS, SMALL = 400, 1e-9
"""Conjugate gradients end after so many steps, or when every residual has shrunk by this factor."""


class Kernel:
    """The vectors z with `A z = 0`: projections and tables of many right-hand sides, one factorisation."""

    def __init__(self, matrix: csr_array) -> None:
        """`matrix` float64[rows, columns]; rows are scaled to length one."""
        length = np.sqrt(np.asarray((matrix * matrix).sum(axis=1)).ravel())
        scaled = csr_array(matrix.multiply(1.0 / np.maximum(length, 1e-300)[:, None]))
        self.rows: csr_array = scaled
        self.columns: csr_array = csr_array(scaled.T)
        self._factors: Any = None
        if scaled.shape[0] <= MOST_ROWS:
            square = (scaled @ self.columns + REGULARISED * eye_array(scaled.shape[0])).tocsc()
            self._factors = splu(square, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})

    def project(self, z: Floats) -> Floats:
        """The nearest points of the kernel (float64[columns, batch])."""
        if self._factors is None:
            return np.asarray(z - self.columns @ self._conjugate_gradients(self.rows @ z))
        for _ in range(REFINED):
            z = z - self.columns @ self._factors.solve(np.ascontiguousarray(self.rows @ z))
        return z

    def _conjugate_gradients(self, residual: Floats) -> Floats:
        """Solutions y of `A A' y = residual`, column by column side by side; rows have length one already."""
        y, direction = np.zeros_like(residual), residual.copy()
        size = (residual * residual).sum(axis=0)
        enough = np.maximum(size * SMALL**2, 1e-300)
        for _ in range(STEPS):
            if (size <= enough).all():
                break
            moved = self.rows @ (self.columns @ direction)
            step = size / np.maximum((direction * moved).sum(axis=0), 1e-300)
            y += step * direction
            residual = residual - step * moved
            before, size = size, (residual * residual).sum(axis=0)
            direction = residual + size / np.maximum(before, 1e-300) * direction
        return y

    def tables(self, c: Floats, lower: Floats, upper: Floats, iterations: int) -> Floats:
        """Points near the kernel, inside their bounds, with large `c.z` (float64[columns, batch])."""
        rows, columns = self.rows, self.columns
        step_row = 1.0 / np.maximum(np.asarray(abs(rows).sum(axis=1)).ravel(), 1e-6)
        step_column = 1.0 / np.maximum(np.asarray(abs(columns).sum(axis=1)).ravel(), 1e-6)
        made: Floats = _iterate(
            rows.indptr, rows.indices, rows.data, columns.indptr, columns.indices, columns.data, step_row, step_column,
            c, lower, upper, iterations,
        )  # fmt: skip
        return made


@njit(cache=True, nogil=True)
def _iterate(
    row_start: NDArray[np.int32],
    row_index: NDArray[np.int32],
    row_value: Floats,
    column_start: NDArray[np.int32],
    column_index: NDArray[np.int32],
    column_value: Floats,
    step_row: Floats,
    step_column: Floats,
    c: Floats,
    lower: Floats,
    upper: Floats,
    iterations: int,
) -> Floats:
    columns, batch = c.shape
    z, ahead = np.zeros((columns, batch)), np.zeros((columns, batch))
    y = np.zeros((len(step_row), batch))
    total = np.zeros(batch)
    for _ in range(iterations):
        for r in range(len(step_row)):
            total[:] = 0.0
            for e in range(row_start[r], row_start[r + 1]):
                for b in range(batch):
                    total[b] += row_value[e] * ahead[row_index[e], b]
            for b in range(batch):
                y[r, b] += step_row[r] * total[b]
        for j in range(columns):
            for b in range(batch):
                total[b] = -c[j, b]
            for e in range(column_start[j], column_start[j + 1]):
                for b in range(batch):
                    total[b] += column_value[e] * y[column_index[e], b]
            for b in range(batch):
                new = min(max(z[j, b] - step_column[j] * total[b], lower[j, b]), upper[j, b])
                ahead[j, b] = 2.0 * new - z[j, b]
                z[j, b] = new
    return z
