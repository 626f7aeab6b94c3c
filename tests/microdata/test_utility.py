"""What recoding and suppression leave of a file's information."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.context import Context
from gpuga.microdata.protect import MicrodataParameters, protect_records
from gpuga.microdata.utility import bits, relation, utility
from tests.microdata.random_problems import random_problem


def test_an_unchanged_file_keeps_everything_and_an_emptied_one_nothing() -> None:
    problem = random_problem(3)
    same, empty = utility(problem, problem.codes), utility(problem, np.full_like(problem.codes, -1))
    assert (same["information_kept"], same["scores_suppressed"]) == (1, 0)
    assert (empty["information_kept"], empty["scores_suppressed"]) == (0, 1)
    assert [f["codes_after"] for f in empty["fields"]] == [0] * problem.fields


def test_four_equal_codes_are_two_bits_and_half_of_them_suppressed_one() -> None:
    codes = np.repeat(np.arange(4, dtype=np.int32), 8)
    assert bits(codes) == 2
    half = codes.copy()
    half[::2] = -1
    assert bits(half) == 1


def test_a_field_tells_all_about_its_copy_and_nothing_about_an_independent_one() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.integers(0, 4, (2, 4000)).astype(np.int32)
    assert relation(one, one) == pytest.approx(bits(one), abs=0.002)
    assert relation(one, other) < 0.002
    assert relation(one, np.full_like(one, -1)) == 0


def test_the_account_says_what_is_left() -> None:
    problem = random_problem(2)
    found = protect_records(problem, MicrodataParameters(problem.keys.fields), Context())
    told = found.account()["utility"]
    assert [f["suppressed"] for f in told["fields"]] == list(found.account()["suppressions"].values())
    assert 0 < told["information_kept"] <= 1
