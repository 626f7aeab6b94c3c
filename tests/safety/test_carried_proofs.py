"""Proofs that a pattern carries are checked before they count."""

from __future__ import annotations

import numpy as np

from gpuga.circuits.cover import Cover
from gpuga.context import Context
from gpuga.problem.general import requirements_of
from gpuga.safety.audit import audit
from gpuga.table.witnesses import Witnesses
from tests.support.small_tables import random_pattern, random_table


def test_a_carried_proof_spares_the_attacker_all_questions() -> None:
    table = random_table(np.random.default_rng(3), (5, 4, 4), sensitive=0.1)
    cover = Cover(table, requirements_of(table, False), Context())
    cover.by_lp(range(len(cover.requirements)))
    verdict = audit(table, cover.suppressed, intervals=False, proof=cover.proof())
    assert verdict.safe
    assert verdict.solves == 0


def test_false_proofs_change_no_verdict() -> None:
    rng = np.random.default_rng(4)
    for _ in range(30):
        table = random_table(rng, (3, 3, 3))
        suppressed = random_pattern(rng, table, 0.3)
        hidden = np.flatnonzero(suppressed).astype(np.int32)
        lie = Witnesses(
            np.array([0, len(hidden)], np.int64), hidden, np.full(len(hidden), 50, np.int64), np.ones(1, np.int64)
        )
        plain = audit(table, suppressed, intervals=False)
        assert audit(table, suppressed, intervals=False, proof=lie).unsafe == plain.unsafe


def test_a_proof_for_another_pattern_does_not_count() -> None:
    table = random_table(np.random.default_rng(5), (5, 4, 4), sensitive=0.1)
    cover = Cover(table, requirements_of(table, False), Context())
    cover.by_lp(range(len(cover.requirements)))
    bare = audit(table, table.forced, intervals=False)
    assert not bare.safe
    assert audit(table, table.forced, intervals=False, proof=cover.proof()).unsafe == bare.unsafe


def test_an_empty_proof_changes_no_verdict() -> None:
    table = random_table(np.random.default_rng(6), (4, 4, 3), sensitive=0.1, bounded=True)
    nothing = Cover(table, requirements_of(table, False), Context()).proof()
    assert len(nothing) == 0
    plain = audit(table, table.forced, intervals=False)
    assert audit(table, table.forced, intervals=False, proof=nothing).unsafe == plain.unsafe
