"""The worked example of Hurkens and Tiourine (1998), section 2: six records; unique means unsafe."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gpuga.kernels import get_backend
from gpuga.microdata.costs import Costs
from gpuga.microdata.cover import cheapest_covers, highs_cover
from gpuga.microdata.keys import make_keys
from gpuga.microdata.problem import Problem, local_suppression
from gpuga.microdata.recoding import field_rules
from gpuga.microdata.relaxed import FINENESS, Relaxed, frequency_tables, priced
from gpuga.microdata.search import SEARCHES, RecodingEvaluator
from gpuga.microdata.unsafe import key_bits, minucs, set_masks, unsafe_words
from tests.microdata.random_problems import true_cost

RECORDS = [(10, 100), (11, 101), (19, 100), (19, 100), (10, 109), (10, 109)]
FIRST, SECOND, BOTH = 0, 1, 2  # the keys: field 1, field 2, field 1 x field 2


def example(suppress=1, recode=((0, 10, 20), (0, 10, 20))) -> Problem:
    labels = [sorted({str(r[f]) for r in RECORDS}) for f in range(2)]
    codes = np.array([[labels[f].index(str(r[f])) for f in range(2)] for r in RECORDS], np.int32)
    rules = (
        tuple(field_rules("field 1", labels[0], "ranges:10-11;18-19|10-19")),
        tuple(field_rules("field 2", labels[1], "ranges:100-101;108-109|100-109")),
    )
    given = np.broadcast_to(np.asarray(suppress, np.int64), (6, 2)).copy()
    classes, record_class = np.unique(given, axis=0, return_inverse=True)
    costs = Costs(classes, record_class.reshape(-1), tuple(np.array(d) for d in recode), scale=1)
    return Problem(codes, make_keys(["field 1", "field 2"], 2, 2), rules, costs)


def unsafe(problem: Problem, recoding=(0, 0)):
    return unsafe_words(*problem.recoded(recoding), problem.keys)


def pairs(words, problem):
    return {(int(r) + 1, int(k)) for r, k in zip(*np.nonzero(key_bits(words, len(problem.keys))), strict=True)}


def test_table_1_the_minucs_are_10x100_in_record_1_and_11_and_101_in_record_2():
    problem = example()
    assert pairs(minucs(unsafe(problem), problem.keys), problem) == {(1, BOTH), (2, FIRST), (2, SECOND)}


def test_the_set_cover_model_has_three_rows():
    problem = example()
    words = minucs(unsafe(problem), problem.keys)
    start, _, masks = set_masks(words, problem.keys)
    rows = {r + 1: sorted(masks[start[r] : start[r + 1]].tolist()) for r in range(6) if start[r] < start[r + 1]}
    assert rows == {1: [0b11], 2: [0b01, 0b10]}  # x11 + x12 >= 1;  x21 >= 1, x22 >= 1


@pytest.mark.parametrize(
    ("costs", "cover_1", "optimum"),
    [((3, 5), 0b01, 3 + 8), ((5, 3), 0b10, 3 + 8), ((1, 9), 0b01, 1 + 10)],
)
def test_pure_suppression_is_optimal_for_given_costs(costs, cover_1, optimum):
    problem = example(costs)
    found = local_suppression(problem, *problem.recoded((0, 0)))
    by_record = dict(zip((found.families.record + 1).tolist(), found.covers[found.families.family], strict=True))
    assert by_record == {1: cover_1, 2: 0b11}
    assert found.cost == optimum


def test_highs_agrees_with_the_integer_search():
    masks, costs = np.array([0b01, 0b10], np.int64), np.array([4, 7], np.int64)
    covers, proven = cheapest_covers(np.array([0, 2]), masks, costs[None, :])
    assert (covers[0], proven[0]) == (0b11, True)
    assert highs_cover(masks, costs) == 0b11


PROTECTED = {  # matrix B of model (2): which unsafe combination each single recoding protects
    (1, 0): {(2, FIRST)}, (2, 0): {(1, BOTH), (2, FIRST)},
    (0, 1): {(2, SECOND)}, (0, 2): {(1, BOTH), (2, SECOND)},
}  # fmt: skip


@pytest.mark.parametrize("recoding", PROTECTED)
def test_a_single_recoding_protects_what_model_2_says(recoding):
    problem = example()
    before = pairs(minucs(unsafe(problem), problem.keys), problem)
    assert before - pairs(unsafe(problem, recoding), problem) == PROTECTED[recoding]


def test_y11_and_y21_together_protect_what_neither_does_alone():
    problem = example()
    for alone in ((1, 0), (0, 1)):
        assert (1, BOTH) in pairs(unsafe(problem, alone), problem)
    assert pairs(unsafe(problem, (1, 1)), problem) == set()


def test_the_batched_evaluation_sees_the_joint_effect():
    problem = example()
    tables = priced(problem, frequency_tables(problem), (0, 0))
    rules = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.int32)
    left = get_backend("cpu").rare_weights(tables, np.full(4, BOTH, np.int32), rules)
    assert left[0] == left[1] == left[2] == FINENESS  # record 1's pair: its cheapest field costs 1
    assert left[3] == 0


@pytest.mark.parametrize(
    ("suppress", "recode", "best", "optimum"),
    [
        (1, ((0, 10, 20), (0, 10, 20)), (0, 0), 3),  # recoding is dear: suppress three scores
        (9, ((0, 2, 7), (0, 2, 7)), (1, 1), 4),  # the joint effect: two cheap recodings, no suppression
        (
            9,
            ((0, 2, 3), (0, 50, 60)),
            (2, 0),
            3 + 9,
        ),  # field 2 stays: 10-19, and 101 is suppressed in record 2
    ],
)
def test_the_optimum_for_given_costs_is_found_by_every_search(suppress, recode, best, optimum):
    problem = example(suppress, recode)
    exhaustive = {k: true_cost(problem, k) for k in product(range(3), range(3))}
    assert (min(exhaustive.values()), exhaustive[best]) == (optimum, optimum)
    for search in SEARCHES.values():
        evaluator = RecodingEvaluator(problem)
        search(evaluator, np.random.default_rng(1))
        assert evaluator.best_cost >= optimum >= evaluator.bound().value
    assert evaluator.best == best


def test_weights_of_the_unchanged_file_bound_every_recoding_from_below():
    problem = example(9, ((0, 2, 7), (0, 2, 7)))
    relaxed = Relaxed(problem, priced(problem, frequency_tables(problem), (0, 0)))
    for recoding in product(range(3), range(3)):
        estimate = relaxed.estimates(np.array([recoding], np.int32))[0]
        assert estimate <= FINENESS * true_cost(problem, recoding)
