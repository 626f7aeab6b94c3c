"""Dear cells exchanged for cheaper ones: every requirement keeps a circuit inside the pattern."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.circuits import cover as module
from gpuga.circuits.cover import Cover
from gpuga.context import Clock, Context
from gpuga.problem.general import requirements_of
from gpuga.safety.audit import audit
from gpuga.table.generate import smith3d
from gpuga.table.table import Table


def boxed(table: Table, context: Context) -> Cover:
    """What boxes, then programs protect, cleaned up."""
    cover = Cover(table, requirements_of(table, False), context)
    order = range(len(cover.requirements))
    cover.by_boxes(order)
    cover.by_lp(order)
    cover.clean_up()
    return cover


@pytest.mark.parametrize("seed", [1, 2])
def test_exchanges_make_a_pattern_of_boxes_cheaper_and_leave_it_proven(seed: int) -> None:
    table = smith3d((7, 5, 4), 0.1, 0.1, seed)
    cover = boxed(table, Context())
    cost = table.cost(cover.suppressed)
    assert cover.exchange() > 0
    assert table.cost(cover.suppressed) < cost
    assert not cover.open()
    assert all(circuit is None or cover.suppressed[circuit[0]].all() for circuit in cover.circuit)
    assert audit(table, cover.suppressed, intervals=False).safe


def test_an_exchange_that_gains_nothing_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    table = smith3d((7, 5, 4), 0.1, 0.1, 1)
    cover = boxed(table, Context())
    pattern, circuits, users = cover.suppressed.copy(), list(cover.circuit), {c: set(u) for c, u in cover.users.items()}
    monkeypatch.setattr(cover, "_nearby", lambda requirement, without: None)
    assert cover.exchange() == 0
    assert (cover.suppressed == pattern).all()
    assert all(one is other for one, other in zip(cover.circuit, circuits, strict=True))
    assert {c: u for c, u in cover.users.items() if u} == {c: u for c, u in users.items() if u}


def test_exchanges_end_with_the_time_and_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    table = smith3d((7, 5, 4), 0.1, 0.1, 1)
    cover = boxed(table, Context())
    asked: list[int] = []
    monkeypatch.setattr(cover, "_do_without", lambda cell: bool(asked.append(cell)))
    monkeypatch.setattr(module, "MOST_EXCHANGED", 3)
    cover.exchange()
    weight = table.weight[asked]
    assert len(asked) == 3
    assert (np.diff(weight) <= 0).all()
    cover.context.clock = Clock(0.0)
    assert cover.exchange() == 0
    assert len(asked) == 3
