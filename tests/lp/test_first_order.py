"""Batched first-order tables: inside their bounds, and in the kernel after the projection, whichever way it is done."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from gpuga.lp import first_order
from gpuga.lp.first_order import Kernel


def matrix() -> csr_array:
    """A random matrix of full row rank but for one row that repeats another."""
    rng = np.random.default_rng(3)
    dense = rng.integers(-1, 2, (8, 20)).astype(float)
    return csr_array(np.vstack([dense, dense[:1]]))


@pytest.mark.parametrize("rows", [0, 1_000])
def test_projections_lie_in_the_kernel_and_are_nearest(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_order, "MOST_ROWS", rows)
    a = matrix()
    z = np.random.default_rng(4).normal(size=(20, 3))
    near = Kernel(a).project(z)
    assert np.abs(a @ near).max() < 1e-7
    dense = a.toarray()
    assert np.allclose(near, z - np.linalg.pinv(dense) @ (dense @ z), atol=1e-6)


def test_tables_keep_their_bounds_and_come_near_the_optimum() -> None:
    a = csr_array(np.array([[1.0, 1.0, -1.0]]))
    c = np.array([[1.0], [0.0], [0.0]])
    lower, upper = np.full((3, 1), -1.0), np.array([[5.0], [1.0], [2.0]])
    z = Kernel(a).tables(c, lower, upper, 2_000)
    assert (z >= lower).all()
    assert (z <= upper).all()
    assert z[0, 0] == pytest.approx(3.0, abs=0.05)
