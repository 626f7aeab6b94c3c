"""Projections onto the kernel of a matrix, many points at once.

Points of a first-order method keep their bounds and miss `A z = 0` a little; a projection mends that. It was nearly
all of the time when each point got its own conjugate gradients: here `A A'` is factorised once for all of them. Only
where its factors would be too large are conjugate gradients run, for all points side by side. Floats only: what comes
out is a proposal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
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
    """The vectors z with `A z = 0`: projections of many points, one factorisation."""

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
