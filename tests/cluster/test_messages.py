"""What is sent is what was meant, and tells no more than it must."""

from __future__ import annotations

import numpy as np

from gpuga.cluster.messages import (
    Letter,
    ProverMessage,
    digest,
    new_circuits,
    plain_circuits,
    squeezed,
    unsqueezed,
)
from gpuga.evolution.checkpoint import arrays_of
from gpuga.evolution.table_message import packed_table
from gpuga.table.table import Table


def test_what_is_sent_is_named_by_its_content(plane: Table, solid: Table) -> None:
    contents = [packed_table(one, {}, {}) for one in (plane, solid, plane)]
    names = [digest(content) for content in contents]
    assert names[0] == names[2] != names[1]


def test_a_letter_arrives_as_it_was() -> None:
    patterns = np.random.default_rng(1).random((3, 21)) < 0.3
    circuits = {"start": np.array([0, 2]), "cell": np.array([1, 5], np.int32), "sign": np.array([1, -1], np.int8)}
    point = np.linspace(0, 1, 21)
    letter = Letter(patterns, circuits, ProverMessage(17, point, point > 0.5))
    there = Letter.of(letter.arrays(), 21)
    assert (there.patterns == patterns).all()
    assert {name: array.tolist() for name, array in there.circuits.items()} == {
        "start": [0, 2], "cell": [1, 5], "sign": [1, -1]
    }  # fmt: skip
    assert there.prices is not None
    assert there.prices.lower == 17
    assert (there.prices.core == (point > 0.5)).all()
    assert np.abs(there.prices.point - point).max() <= 0.5 / 65535
    assert Letter.of(Letter(patterns).arrays(), 21).prices is None


def test_prices_are_the_same_after_being_passed_on() -> None:
    once = ProverMessage.of(ProverMessage(0, np.random.default_rng(2).random(50), np.ones(50, bool)).arrays())
    twice = ProverMessage.of(once.arrays())
    assert (once.point == twice.point).all()


def test_only_circuits_that_move_all_cells_alike_are_told_and_by_their_signs() -> None:
    memory = {
        "start": np.array([0, 4, 7, 11]),
        "cell": np.array([0, 1, 2, 3, 4, 5, 6, 0, 1, 8, 9]),
        "amount": np.array([150, -150, 150, -150, 157, -100, -57, 1, -1, -1, 1]),
    }
    told = plain_circuits(memory)
    assert told["start"].tolist() == [0, 4, 8]
    assert told["cell"].tolist() == [0, 1, 2, 3, 0, 1, 8, 9]
    assert told["sign"].tolist() == [1, -1, 1, -1, 1, -1, -1, 1]
    assert plain_circuits({}) == {}


def test_circuits_that_a_pool_holds_are_not_taken_twice_whichever_way_round() -> None:
    told = {
        "start": np.array([0, 4, 8]),
        "cell": np.array([0, 1, 2, 3, 4, 5, 6, 7], np.int32),
        "sign": np.array([1, -1, 1, -1, 1, -1, -1, 1], np.int8),
    }
    held = {"start": np.array([0, 4]), "cell": np.array([3, 2, 1, 0]), "amount": np.array([9, -9, 9, -9])}
    fresh = new_circuits(told, held)
    assert fresh["cell"].tolist() == [4, 5, 6, 7]
    assert fresh["amount"].tolist() == [1, -1, -1, 1]
    assert fresh["start"].tolist() == [0, 4]
    assert new_circuits({}, held) == {}
    assert new_circuits(told, {"start": told["start"], "cell": told["cell"], "amount": told["sign"]}) == {}


def test_a_state_is_the_same_after_squeezing(plane: Table) -> None:
    figures, arrays = unsqueezed(squeezed(({"generation": 4}, arrays_of(plane))))
    assert figures == {"generation": 4}
    assert all((array == arrays[name]).all() for name, array in arrays_of(plane).items())
