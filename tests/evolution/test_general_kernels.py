"""Individuals of general tables: which lines join cells, what proves a pattern, what is learnt from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import gpuga
from gpuga.circuits.cover import Cover
from gpuga.context import Clock, Context
from gpuga.evolution import general_kernels
from gpuga.evolution.breeding import Breeder
from gpuga.evolution.general_kernels import GeneralKernels, hubs_of
from gpuga.evolution.run import prices_of
from gpuga.kernels.layout import plane_lines
from gpuga.kernels.random import Stream
from gpuga.problem.general import GeneralProblem
from gpuga.safety.audit import audit
from gpuga.table.generate import smith3d

TABLE = smith3d((6, 5, 4), 0.08, 0.1, 3)


def bred(count: int) -> tuple[GeneralProblem, GeneralKernels, Breeder]:
    problem = GeneralProblem.of(TABLE)
    kernels = GeneralKernels(problem, Clock())
    breeder = Breeder(kernels, Stream(2, 1), count)
    breeder.price([prices_of(problem.weight, np.zeros(len(TABLE)))], problem.candidate)
    return problem, kernels, breeder


def test_the_totals_of_a_two_way_table_join_nothing() -> None:
    assert np.flatnonzero(hubs_of(plane_lines(4, 5))).tolist() == [3, 8]


def test_certificates_are_a_proof_that_the_audit_only_has_to_check() -> None:
    problem, kernels, breeder = bred(4)
    population = breeder.newcomers(4)
    for place in range(4):
        one = population.take([place])
        proof = kernels.proof(one.patterns)
        checked = audit(TABLE, problem.pattern(one[0].suppressed & ~problem.forced), intervals=False, proof=proof)
        assert checked.safe
        assert checked.solves == 0


def test_circuits_of_linear_programs_serve_where_boxes_do_not() -> None:
    problem, kernels, breeder = bred(2)
    cover = Cover(TABLE, problem.requirements, Context())
    cover.by_lp(range(len(problem.requirements)))
    cover.clean_up()
    assert kernels.learn(cover.proof()) > 0
    secondary = (cover.suppressed & ~problem.forced)[None]
    completed = breeder.newcomers(1, kernels.pack(secondary))
    assert completed.costs[0] <= problem.cost(secondary[0])
    assert gpuga.audit(TABLE, problem.pattern(completed[0].suppressed & ~problem.forced), intervals=False).safe


def test_patterns_and_pool_come_back_from_arrays() -> None:
    problem, kernels, breeder = bred(3)
    population = breeder.newcomers(3)
    again = kernels.of_arrays(kernels.arrays(population.patterns))
    assert np.array_equal(again.flags, population.patterns.flags)
    assert kernels.safe(again).all()
    other = GeneralKernels(problem, Clock())
    other.remember(kernels.memory())
    assert np.array_equal(other.cpu.table.pool_cell, kernels.cpu.table.pool_cell)


def test_boxes_that_lead_not_every_requirement_are_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of linked tables boxes may lead few: whoever finds circuits is then waited for, and begins with a pattern."""
    _, kernels, _ = bred(1)
    assert kernels.finds_circuits
    _, others, _ = bred(1)
    plain = others.decode
    monkeypatch.setattr(others, "decode", lambda *given: (plain(*given)[0], np.zeros(1, bool)))
    assert not others.finds_circuits
    _, large, _ = bred(1)
    monkeypatch.setattr(general_kernels, "MOST_TRIED", 1)
    monkeypatch.setattr(large, "decode", None)
    assert large.finds_circuits


def test_long_circuits_are_left_out_only_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that needs a long one could not be kept without it."""
    problem, kernels, _ = bred(1)
    cover = Cover(TABLE, problem.requirements, Context())
    cover.by_lp(range(len(problem.requirements)))
    monkeypatch.setattr(general_kernels, "LONGEST", 1)
    assert kernels.learn(cover.proof()) > 0
    monkeypatch.setattr(general_kernels, "MANY_ENTRIES", 1)
    _, others, _ = bred(1)
    assert others.learn(cover.proof()) == 0
