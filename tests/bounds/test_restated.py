"""The cuts of a proof: every safe pattern satisfies them, and they prove what the program says."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import combinations, product

import numpy as np
import pytest

from gpuga import verify
from gpuga.bounds.exact import bound as bound_of
from gpuga.bounds.exact import lower_bound
from gpuga.bounds.restated import checked_table, restated_bound
from gpuga.context import Clock, Context
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Bound
from gpuga.safety.audit import judge
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.table import Mask, Table
from gpuga.table.two_way import two_way_table
from tests.support.small_tables import random_table


def patterns(table: Table, rng: np.random.Generator, count: int) -> list[Mask]:
    """Some patterns, from very sparse to everything."""
    shares = rng.random(count) ** 0.5
    return [table.suppressible, *(table.forced | (table.suppressible & (rng.random(len(table)) < s)) for s in shares)]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 2, 1)])
def test_safe_patterns_satisfy_the_cuts_of_any_multipliers(shape: tuple[int, ...], strict: bool) -> None:
    rng = np.random.default_rng([3, *shape])
    seen = 0
    for _ in range(6):
        table = random_table(rng, shape, largest=9, sensitive=0.25)
        safe = [p for p in patterns(table, rng, 60) if judge(table, p, AttackerModel(strict)).safe]
        cuts = verify.Cuts(checked_table(table), strict, whole=False)
        for cell, way, _ in product(table.sensitive.tolist(), ("up", "down"), range(6)):
            lines = sorted(rng.choice(len(table.lines), 2, replace=False).tolist())
            try:
                row, rhs = cuts.cut(["level", cell, way, lines, [1, int(rng.choice([-2, -1, 1, 3]))]])
            except verify.Refused:
                continue
            seen += 1
            assert all(sum(k for c, k in row.items() if pattern[c]) >= rhs for pattern in safe)
    assert seen > 10


def test_what_is_made_of_a_cut_holds_wherever_the_cut_does() -> None:
    rng = np.random.default_rng(1)
    points = list(product((0, 1), repeat=6))
    for _ in range(150):
        row = {c: int(rng.integers(1, 12)) for c in range(6)}
        other = {c: int(k) for c, k in enumerate(rng.integers(-1, 2, 6)) if k}
        rhs = int(rng.integers(1, 25))
        cover = {c for c in range(6) if rng.random() < 0.3}

        def holds(row: dict[int, int], rhs: int, x: tuple[int, ...]) -> bool:
            return sum(k * x[c] for c, k in row.items()) >= rhs

        made = [verify.small(row, rhs)]
        with suppress(verify.Refused):
            made.append(verify.half([(row, rhs), (other, 0)], sorted(cover)))
        with suppress(verify.Refused):
            made.append(verify.divided(row, rhs, int(rng.integers(1, 12)), cover))
        with suppress(verify.Refused):
            made.append(verify.covered(row, rhs, sorted(cover)))
        for x in points:
            if holds(row, rhs, x) and holds(other, 0, x):
                assert all(holds(*each, x) for each in made)


def test_a_cut_with_negative_numbers_is_not_rounded() -> None:
    """Capping a number by the right-hand side is right only where all numbers are positive."""
    table = random_table(np.random.default_rng(4), (3, 3), sensitive=0.1)
    cuts = verify.Cuts(checked_table(table), False, whole=False)
    line = next(at for at, (entries, _) in enumerate(cuts.table.lines) if {c for c, _ in entries} <= cuts.free)
    alone = ["alone", cuts.table.lines[line][0][0][0], [line], [1]]
    assert min(cuts.cut(alone)[0].values()) == -1
    for said in (["small", alone], ["one", alone], ["cover", [], alone], ["divide", 2, [], alone]):
        with pytest.raises(verify.Refused, match="asks for nothing"):
            cuts.cut(said)


def test_the_check_figure_tells_cuts_apart_that_end_in_the_same_inequality() -> None:
    """Halving hides small differences of what is halved; a changed number is noticed all the same."""
    rng = np.random.default_rng(5)
    table = random_table(rng, (4, 4), sensitive=0.2, largest=40)
    cuts = verify.Cuts(checked_table(table), False, whole=False)
    figures: dict[tuple[object, ...], dict[int, str]] = {}
    for cell, way, _ in product(table.sensitive.tolist(), ("up", "down"), range(40)):
        lines = sorted(rng.choice(len(table.lines), 2, replace=False).tolist())
        said = ["one", ["small", ["level", cell, way, lines, [1, int(rng.choice([-2, -1, 1, 2, 3]))]]]]
        with suppress(verify.Refused):
            row, rhs, figure = cuts.checked(said)
            same = figures.setdefault((rhs, *sorted(row.items())), {})
            assert same.setdefault(figure, repr(said[1][1][3:])) == repr(said[1][1][3:])
    assert any(len(same) > 1 for same in figures.values())


def test_rows_beyond_thirty_bits_are_rounded_to_their_weak_side() -> None:
    row = {0: 2**40 + 1, 1: 2**39 + 7, 2: 5}
    made, rhs = verify.small(row, 2**40 + 3)
    for x in product((0, 1), repeat=3):
        if sum(row[c] * x[c] for c in row) >= 2**40 + 3:
            assert sum(made[c] * x[c] for c in made) >= rhs
    assert rhs.bit_length() <= 30


@pytest.mark.parametrize("shape", [(6, 7), (3, 3, 3)])
@pytest.mark.parametrize("seed", [1, 4, 8])
def test_the_checker_follows_the_whole_bound_of_the_root(shape: tuple[int, ...], seed: int) -> None:
    table = random_table(np.random.default_rng(seed), shape, sensitive=0.1, largest=60)
    assert (two_way_table(table) is None) == (len(shape) == 3)
    bound = lower_bound(table, Context(clock=Clock(20.0)))
    proof = restated_bound(table, bound, AttackerModel())
    assert proof is not None
    assert proof.bound == bound.lower_bound


def general_bound(table: Table, context: Context) -> Bound:
    """The bound of a table, whatever its shape, by the attackers of general ones."""
    return bound_of(GeneralProblem.of(table), context)


@pytest.mark.parametrize("bounded_by", [lower_bound, general_bound])
def test_no_safe_pattern_costs_less_than_a_proof_says(bounded_by: Callable[[Table, Context], Bound]) -> None:
    rng = np.random.default_rng(11)
    seen = 0
    for _ in range(8):
        table = random_table(rng, (2, 2), largest=9, sensitive=0.25)
        if not len(table.sensitive) or not judge(table, table.suppressible, AttackerModel()).safe:
            continue
        proof = restated_bound(table, bounded_by(table, Context(clock=Clock(5.0))), AttackerModel())
        if proof is None:
            continue
        seen += 1
        free = np.flatnonzero(table.suppressible & ~table.forced)
        for count in range(len(free) + 1):
            for some in combinations(free.tolist(), count):
                pattern = table.forced.copy()
                pattern[list(some)] = True
                if table.cost(pattern) < proof.bound:
                    assert not judge(table, pattern, AttackerModel()).safe
    assert seen > 2
