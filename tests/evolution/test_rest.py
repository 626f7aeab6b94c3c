"""Evolution rests while it brings nothing, and works again as soon as it does."""

from __future__ import annotations

import pytest

from gpuga.context import Clock
from gpuga.evolution import rest


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds: list[float] = []
    monkeypatch.setattr(rest.time, "sleep", seconds.append)
    return seconds


class Steps(Clock):
    """A clock that goes on by so many seconds whenever it is looked at."""

    def __init__(self, seconds: float, each: float) -> None:
        self.now, self.each = 0.0, each
        super().__init__(seconds)

    def spent(self) -> float:
        self.now += self.each
        return self.now


def test_a_rest_comes_after_generations_in_vain_and_ends_with_the_next_gain(slept: list[float]) -> None:
    rests = rest.Rests(Steps(1000.0, 0.1))
    rests.after(50, False)
    for _ in range(rest.PATIENT):
        rests.after(50, False)
    assert slept == []
    rests.after(50, False)
    assert slept == [pytest.approx(rest.RESTS * 0.1)]
    rests.after(49, False)
    rests.after(49, False)
    assert len(slept) == 1


def test_what_the_prover_found_is_no_gain_of_evolution(slept: list[float]) -> None:
    rests = rest.Rests(Steps(1000.0, 0.1))
    for cost in range(50, 50 - rest.PATIENT - 2, -1):
        rests.after(cost, True)
    assert len(slept) == 1


def test_no_rest_is_longer_than_the_time_that_is_left(slept: list[float]) -> None:
    rests = rest.Rests(Steps(1.0, 0.2))
    for _ in range(rest.PATIENT + 3):
        rests.after(50, False)
    assert slept == [0.0, 0.0]
