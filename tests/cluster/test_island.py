"""A leg of an island depends on nothing but its state and the letter it gets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuga.cluster import island
from gpuga.cluster.island import dismiss, leg, seed_of
from gpuga.cluster.islands import Islands
from gpuga.cluster.messages import Letter, unsqueezed
from gpuga.evolution.checkpoint import Arrays, packed, part, read
from gpuga.table.table import Table
from tests.cluster.conftest import Here, islands_of

Answer = tuple[dict[str, Any], Arrays]


def asked(islands: Islands, number: int, letter: Letter | None = None, **more: Any) -> Answer:
    figures, arrays = islands._order(number, 2, letter)
    return read(leg(packed(figures | more, arrays)))


def sent(islands: Islands, number: int, letter: Letter | None, state: Any, legs: int) -> Answer:
    figures, arrays = islands._order(number, 2, letter)
    arrays["table"] = np.frombuffer(islands.table, np.uint8)
    if state is not None:
        arrays["state"] = state
    return read(leg(packed(figures | {"legs": legs}, arrays)))


@pytest.mark.parametrize("kind", ["plane", "solid"])
@pytest.mark.parametrize("number", [0, 2])
def test_another_worker_goes_on_from_the_state_as_the_first_one_would(
    kind: str, number: int, request: pytest.FixtureRequest
) -> None:
    islands = islands_of(request.getfixturevalue(kind), Here(1))
    first = sent(islands, number, None, None, 0)
    neighbour = sent(islands, 1, None, None, 0)
    letter = Letter.of(part("letter", neighbour[1]), islands.problem.weight.size)
    stayed = asked(islands, number, letter, legs=1)
    assert stayed[0]["generation"] == 4
    dismiss(islands.name)  # as if it had died
    moved = sent(islands, number, letter, first[1]["state"], 1)
    assert moved[0] == stayed[0]
    before, after = (unsqueezed(one[1].pop("state")) for one in (stayed, moved))
    assert before[0] == after[0]
    for one, other in ((before[1], after[1]), (stayed[1], moved[1])):
        assert one.keys() == other.keys()
        assert all(np.array_equal(one[name], other[name]) for name in one)
    dismiss(islands.name)


def test_a_worker_asks_for_what_it_lacks(plane: Table) -> None:
    islands = islands_of(plane, Here(1))
    assert asked(islands, 1) == ({"wants": True}, {})
    sent(islands, 1, None, None, 0)
    assert not asked(islands, 2)[0].get("wants"), "the table is there, and a first leg needs no state"
    assert asked(islands, 1, legs=5) == ({"wants": True}, {})
    dismiss(islands.name)


def test_only_the_first_island_has_a_prover_and_all_have_streams_of_their_own(plane: Table) -> None:
    islands = islands_of(plane, Here(1))
    prices = ["letter_prices_lower" in sent(islands, number, None, None, 0)[1] for number in range(3)]
    assert prices == [True, False, False]
    seeds = [live.run.context.seed for live in island._WORKER.islands.values()]
    assert seeds[0] == 7
    assert len(set(seeds)) == 3
    dismiss(islands.name)
    assert len({seed_of(7, number) for number in range(100)}) == 100


def test_an_island_takes_over_patterns_bound_and_prices_that_it_is_told(plane: Table) -> None:
    islands = islands_of(plane, Here(1))
    letters = [sent(islands, number, None, None, 0)[1] for number in (0, 1)]
    told = Letter.of(part("letter", letters[0]), islands.problem.weight.size)
    asked(islands, 1, told, legs=1)
    run = island._WORKER.islands[islands.name, 1].run
    assert told.prices is not None
    assert run.lower == told.prices.lower
    assert (run.points[0][0] == told.prices.point).all()
    best = told.patterns[0].reshape(islands.problem.weight.shape)
    assert run.evolution.best.cost <= islands.problem.cost(best)
    dismiss(islands.name)


def test_an_island_without_time_says_that_it_has_nothing(plane: Table) -> None:
    islands = islands_of(plane, Here(1), seconds=0.0)
    answer = sent(islands, 0, None, None, 0)
    assert answer == ({"nothing": True}, {}) or answer[0]["why"] == "seconds"
    dismiss(islands.name)


def test_islands_of_a_client_that_died_are_given_up(plane: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    left = islands_of(plane, Here(1))
    sent(left, 0, None, None, 0)
    run = island._WORKER.islands[left.name, 0].run
    monkeypatch.setattr(island, "IDLE", -1.0)
    other = islands_of(plane, Here(1))
    sent(other, 1, None, None, 0)
    assert [name for name, _ in island._WORKER.islands] == [other.name]
    assert run.prover is not None
    assert run.prover.ended
    dismiss(other.name)
