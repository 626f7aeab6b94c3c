"""Children that linear programs lead: safe with their proof, cheap, drawn from one stream, replaceable by name."""

from __future__ import annotations

import numpy as np

import gpuga
from gpuga.circuits.cover import Cover
from gpuga.context import Clock, Context
from gpuga.evolution.breeding import Breeder
from gpuga.evolution.general_kernels import GeneralKernels
from gpuga.evolution.population import Population
from gpuga.evolution.programs import Programs
from gpuga.evolution.run import prices_of
from gpuga.kernels.random import Stream
from gpuga.problem.general import GeneralProblem
from gpuga.safety.audit import audit
from gpuga.table.generate import smith3d

TABLE = smith3d((6, 5, 4), 0.08, 0.1, 3)
PROBLEM = GeneralProblem.of(TABLE)


def programs(without: tuple[str, ...] = ()) -> Programs:
    breeder = Breeder(GeneralKernels(PROBLEM, Clock()), Stream(2, 1), 8, frozenset(without))
    breeder.price([prices_of(PROBLEM.weight, np.zeros(len(TABLE)))], PROBLEM.candidate)
    return Programs(PROBLEM, breeder, Context())


def made(maker: Programs, count: int) -> Population:
    population = maker.newcomer()
    while len(population) < count:
        population = population.joined(maker.newcomer())
        population = population.take(population.distinct())
    return population


def check_proven(maker: Programs, child: Population) -> None:
    """The child is safe, and its certificates show that without a program of the audit."""
    assert len(child) == 1
    proof = maker.breeder.kernels.proof(child.patterns)
    checked = audit(TABLE, PROBLEM.pattern(child[0].suppressed & ~PROBLEM.forced), intervals=False, proof=proof)
    assert checked.safe
    assert checked.solves == 0


def test_every_kind_of_child_is_safe_and_brings_its_proof() -> None:
    maker = programs()
    population = made(maker, 2)
    for child in (population.take([0]), maker.crossed(population), maker.destroyed(population)):
        check_proven(maker, child)


def test_children_follow_the_point_of_the_relaxation_once_there_is_one() -> None:
    maker = programs()
    dear = maker.newcomer()[0].suppressed
    maker.point = dear.astype(np.float64)
    children = [maker.newcomer()[0].suppressed for _ in range(6)]
    assert any(not (child & ~dear).any() for child in children)


def test_programs_make_cheaper_children_than_boxes_do() -> None:
    maker = programs()
    assert made(maker, 3).best.cost < maker.breeder.newcomers(16).best.cost


def test_children_are_drawn_from_the_stream_alone() -> None:
    one, two = programs(), programs()
    assert (one.destroyed(made(one, 2)).digests == two.destroyed(made(two, 2)).digests).all()


def test_one_individual_has_no_child_by_crossover_and_ingredients_can_be_left_out() -> None:
    maker = programs()
    population = maker.newcomer()
    assert not len(maker.crossed(population.joined(population)))
    without = programs(("inherit", "destroy"))
    pair = made(without, 2)
    assert not len(without.crossed(pair))
    assert not len(without.destroyed(pair))


def test_programs_work_beside_the_back_end_until_they_had_their_share_of_the_time() -> None:
    maker = programs()
    pair = made(maker, 2)
    alone = programs()
    alone.breeder.stream.position = maker.breeder.stream.position
    assert len(maker.mutate(pair)) == len(alone.breeder.mutate(pair)) + 1
    assert len(maker.newcomers(3)) == 4
    assert not len(maker.newcomers(0))
    maker.context = Context(clock=Clock(1000.0))
    assert maker.breeder.elsewhere > 0
    maker.mate(pair.members)
    assert not maker.due
    assert len(maker.newcomers(3)) == 3
    maker.breeder.elsewhere = -1.0
    maker.mate(pair.members)
    assert maker.due


def test_circuits_of_a_pattern_become_its_certificates_as_far_as_there_is_room() -> None:
    cover = Cover(TABLE, PROBLEM.requirements, Context())
    cover.by_lp(range(len(PROBLEM.requirements)))
    proof, kernels = cover.proof(), GeneralKernels(PROBLEM, Clock())
    genes = kernels.cpu.genes_of(proof.start, kernels.place[proof.cell], proof.amount)
    assert (genes.proof[0] >= 0).all()
    for requirement in range(len(PROBLEM.requirements)):
        certificate = kernels.cpu.certificate(genes, 0, requirement)
        assert certificate is not None
        assert kernels.cpu.requirements.cell[requirement] in certificate[0]
    many = np.tile(proof.cell, 300), np.tile(proof.amount, 300)
    start = np.concatenate([[0], np.cumsum(np.tile(np.diff(proof.start), 300))])
    again = kernels.cpu.genes_of(start, kernels.place[many[0]], many[1])
    assert (again.proof == genes.proof).all()  # the shortest, and of equals the first


def test_a_users_operators_take_the_place_of_programs() -> None:
    asked = []

    def nobody(population: Population) -> Population:
        asked.append(len(population))
        return population.take([])

    options = {"generations": 3, "population": 4}
    found = gpuga.protect(TABLE, "circuits", options=options, operators={"mutate": nobody})
    assert found.audit.safe
    assert asked
