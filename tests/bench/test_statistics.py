"""Statistics: known small cases."""

from __future__ import annotations

import numpy as np
import pytest

from bench.statistics import Summary, friedman, wilcoxon_p


def test_a_summary_holds_average_median_extremes_and_the_sample_deviation():
    found = Summary.of([1.0, 2.0, 6.0])
    assert (found.average, found.median, found.highest, found.lowest) == (3.0, 2.0, 6.0, 1.0)
    assert found.sd == pytest.approx(7**0.5)
    assert Summary.of([]) is None
    assert Summary.of([4.0]).sd is None


def test_friedmans_ranks_grow_with_the_values_and_ties_share_theirs():
    ranked = friedman(np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 3.0]]))
    assert ranked.ranks == (1.0, 2.25, 2.75)
    assert 0 < ranked.p < 1


def test_methods_that_never_differ_have_no_probability():
    assert friedman(np.ones((4, 3))).p is None
    assert wilcoxon_p(np.ones(5), np.ones(5)) is None


def test_a_method_that_always_wins_differs_significantly():
    values = np.arange(1.0, 13.0)
    assert wilcoxon_p(values, values - 0.5 * values) < 0.01
