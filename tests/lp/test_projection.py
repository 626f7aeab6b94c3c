"""Projections lie in the kernel, whichever way they are found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from gpuga.lp import projection
from gpuga.lp.projection import Kernel


def matrix() -> csr_array:
    """A random matrix of full row rank but for one row that repeats another."""
    rng = np.random.default_rng(3)
    dense = rng.integers(-1, 2, (8, 20)).astype(float)
    return csr_array(np.vstack([dense, dense[:1]]))


@pytest.mark.parametrize("rows", [0, 1_000])
def test_projections_lie_in_the_kernel_and_are_nearest(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "MOST_ROWS", rows)
    a = matrix()
    z = np.random.default_rng(4).normal(size=(20, 3))
    near = Kernel(a).project(z)
    assert np.abs(a @ near).max() < 1e-7
    dense = a.toarray()
    assert np.allclose(near, z - np.linalg.pinv(dense) @ (dense @ z), atol=1e-6)
