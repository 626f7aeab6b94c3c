"""The pieces of a first-order step, which the device runs one entry at a time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from gpuga.kernels.logic.first_order import kept_within, weighted_sum


def test_a_row_is_summed_with_its_weights_for_each_question() -> None:
    rng = np.random.default_rng(4)
    matrix = csr_array(np.where(rng.random((5, 6)) < 0.6, rng.normal(size=(5, 6)), 0.0))
    x = rng.normal(size=(6, 3))
    start, index = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    found = [[weighted_sum(start, index, matrix.data, x, row, b) for b in range(3)] for row in range(5)]
    np.testing.assert_allclose(found, matrix.toarray() @ x, rtol=1e-12, atol=1e-15)
    none = np.zeros(2, np.int64)
    assert weighted_sum(none, index[:0], matrix.data[:0], x, 0, 0) == 0.0


@pytest.mark.parametrize(
    ("new", "expected"), [(-3.0, -1.5), (-1.5, -1.5), (0.25, 0.25), (2.0, 2.0), (7.0, 2.0), (-np.inf, -1.5)]
)
def test_a_number_is_kept_between_its_bounds(new: float, expected: float) -> None:
    assert kept_within(new, -1.5, 2.0) == expected
