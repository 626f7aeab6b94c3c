"""Batches of cuts: the cheapest ones first, and no more than are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gpuga.bounds.cut import Cut, first_of
from gpuga.bounds.separators.line_cuts import SparseCut
from tests.bounds.test_master import master_for


def cut(columns: list[int]) -> SparseCut:
    return SparseCut(np.array(columns), np.ones(len(columns), np.int64), 1)


def batches(asked: list[int]) -> Iterator[Sequence[Cut]]:
    for number, columns in enumerate(([], [[0, 1], [1, 2]], [[2, 3]], [[3, 4]])):
        asked.append(number)
        yield [cut(each) for each in columns]


def test_the_first_batch_that_is_not_empty_is_enough() -> None:
    asked: list[int] = []
    assert [one.key for one in first_of(batches(asked))] == [cut([0, 1]).key, cut([1, 2]).key]
    assert asked == [0, 1]
    assert first_of(iter([[], []])) == []


def test_batches_are_asked_for_until_there_are_no_longer_few() -> None:
    for few, looked_at, added in ((1, 2, 2), (3, 3, 3), (9, 4, 4)):
        asked: list[int] = []
        assert master_for(1).separate(batches(asked), few) == added
        assert len(asked) == looked_at
