"""What needs a suppressed cell is what an audit misses once that cell is published."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.context import Clock, Context
from gpuga.safety.audit import audit
from gpuga.safety.evidence import Evidence
from gpuga.safety.without import Known, Opposed, Pairs, Without, best_pairs
from gpuga.table.attacker_model import Asked, AttackerModel, as_judged
from gpuga.table.builders import table_from_array
from gpuga.table.table import Mask, Table
from tests.support.small_tables import random_pattern, random_table


def expected(table: Table, suppressed: Mask, cell: int, **asked: object) -> tuple[int, ...]:
    """The cells that two audits differ in."""
    without = suppressed.copy()
    without[cell] = False
    now, then = (audit(table, pattern, intervals=False, **asked) for pattern in (suppressed, without))  # type: ignore[arg-type]
    assert not now.undecided
    assert not then.undecided
    return tuple(c for c in then.unsafe if c not in now.unsafe)


def asker(table: Table, suppressed: Mask, *, known: bool, **asked: object) -> Without:
    judged, model = as_judged(table, Asked(**asked), units=True)  # type: ignore[arg-type]
    found = Known()
    if known:
        verdict = audit(table, suppressed, proofs=True, **asked)  # type: ignore[arg-type]
        found = Known(None if verdict.proof is None else verdict.proof.witnesses, verdict.changes)
    return Without(judged, suppressed, model, Context(), found)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("strict", "whole"), [(False, "no"), (True, "no"), (False, "yes")])
def test_what_is_exposed_is_what_two_audits_differ_in(known: bool, strict: bool, whole: str) -> None:
    rng = np.random.default_rng(7)
    asked = {"strict": strict, "whole": whole}
    answers = 0
    for _ in range(8):
        table = random_table(rng, (4, 3, 3), level=0.3)
        suppressed = random_pattern(rng, table, 0.7)
        without = asker(table, suppressed, known=known, **asked)
        for cell in np.flatnonzero(suppressed & ~table.primary)[:5].tolist():
            exposed, undecided = without.exposed(cell)
            assert exposed == expected(table, suppressed, cell, **asked)
            assert not undecided
            answers += len(exposed)
    assert answers > 0


def test_known_changes_spare_programs() -> None:
    rng = np.random.default_rng(2)
    table = random_table(rng, (6, 5, 4), level=0.1)
    suppressed = random_pattern(rng, table, 0.9)
    solves = []
    for known in (False, True):
        without = asker(table, suppressed, known=known)
        for cell in np.flatnonzero(suppressed & ~table.primary)[:12].tolist():
            without.exposed(cell)
        solves.append(without.solves)
    assert solves[1] < solves[0]


def test_after_the_time_cells_are_undecided_and_none_is_said_to_be_exposed() -> None:
    rng = np.random.default_rng(3)
    table = random_table(rng, (4, 4, 3), level=0.3)
    suppressed = random_pattern(rng, table, 0.8)
    without = asker(table, suppressed, known=False)
    without.context = Context(clock=Clock(1e-9))
    cells = np.flatnonzero(suppressed & ~table.primary).tolist()
    truth = {cell: expected(table, suppressed, cell) for cell in cells}
    for cell in cells:
        exposed, undecided = without.exposed(cell)
        assert set(exposed) <= set(truth[cell]) <= set(exposed) | set(undecided)


def test_the_best_pair_is_the_best_of_all_pairs() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        pull = rng.integers(1, 20, 9) * np.array([1, -1, 1, -1, 1, -1, -1, -1, 1])
        amount = rng.integers(-50, 50, (9, 6))
        i, j = best_pairs(pull.astype(float), amount.astype(float))
        up, down = np.flatnonzero(pull > 0), np.flatnonzero(pull < 0)
        for at in range(6):
            means = [
                (amount[a, at] * -pull[b] + amount[b, at] * pull[a]) / (pull[a] - pull[b]) for a in up for b in down
            ]
            found = (amount[i[at], at] * -pull[j[at]] + amount[j[at], at] * pull[i[at]]) / (pull[i[at]] - pull[j[at]])
            assert found == pytest.approx(max(means))


def test_means_are_rounded_to_what_is_reached_at_least() -> None:
    # 3 up and 2 down: two parts of the first and three of the second leave the cell still
    opposed = Opposed(np.array([3, -2]), np.array([1, 1]), np.array([[4, -4], [1, 0]]))
    first, second = np.array([0, 0]), np.array([1, 1])
    assert opposed.means(first, second, 1).tolist() == [11 // 5, -2]
    assert opposed.means(first, second, -1).tolist() == [-3, 1]


def test_changes_that_do_not_hold_are_not_paired() -> None:
    table = table_from_array([[50, 60], [70, 80]], sensitive=np.array([[True, False], [False, False]]))
    hidden = table.suppressible
    proof = audit(table, hidden, intervals=False, proofs=True).proof
    assert proof is not None
    evidence = Evidence(table, hidden, AttackerModel())
    assert Pairs(evidence, proof.witnesses).amount.shape[0] == len(proof.witnesses)
    broken = Evidence(table, np.zeros(len(table), bool), AttackerModel())
    assert Pairs(broken, proof.witnesses).amount.shape[0] == 0
