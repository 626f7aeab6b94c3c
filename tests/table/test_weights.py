"""Weights: what each kind makes of a value, and what it needs."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.table.undeclared import _listed
from gpuga.table.weights import LOG_SCALE, weigh

VALUES = np.array([0, 250, -1700])


def test_each_kind_weighs_in_its_own_way() -> None:
    weight, scale = weigh("value", VALUES, 10, None)
    assert (weight.tolist(), scale) == ([0, 250, 1700], 10)
    weight, scale = weigh("unit", VALUES, 10, None)
    assert (weight.tolist(), scale) == ([1, 1, 1], 1)
    weight, scale = weigh("count", VALUES, 10, np.array([4, 5, 6]))
    assert (weight.tolist(), scale) == ([4, 5, 6], 1)
    weight, scale = weigh("log", VALUES, 10, None)
    assert scale == LOG_SCALE
    assert (weight / scale).tolist() == pytest.approx([0.0, np.log(26), np.log(171)], abs=1 / LOG_SCALE)


def test_weights_by_count_need_every_count() -> None:
    counts = np.array([4, 5, 6])
    assert weigh("count", VALUES, 1, counts, np.ones(3, bool))[0].tolist() == [4, 5, 6]
    with pytest.raises(InputError, match="need a column contributors") as fault:
        weigh("count", VALUES, 1, None)
    assert fault.value.field == "contributors"
    with pytest.raises(InputError, match="is blank, but weights by count need it") as fault:
        weigh("count", VALUES, 1, counts, np.array([True, False, False]))
    assert (fault.value.field, fault.value.cell) == ("contributors", 1)


def test_other_weights_are_not_known() -> None:
    with pytest.raises(InputError, match="unknown weights 'gold'; choose one of") as fault:
        weigh("gold", VALUES, 1, None)
    assert fault.value.field == "--weights"


def test_a_list_names_a_few_and_counts_the_others() -> None:
    words = [f"'{letter}'" for letter in "abcdefghij"]
    assert _listed(words[:1]) == "'a'"
    assert _listed(words[:2]) == "'a' and 'b'"
    assert _listed(words[:4]) == "'a', 'b', 'c' and 'd'"
    assert _listed(words[:5]) == "'a', 'b', 'c' and 2 more"
    assert _listed(words) == "'a', 'b', 'c' and 7 more"
