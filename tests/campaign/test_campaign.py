"""The campaign itself: its judges are right on what can be counted by hand, and its parts run and remember."""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest

from tests.campaign import part_counts, part_fuzz, part_malformed, part_slow_tests, part_tables
from tests.campaign.judge import Judge, Reading, exposure, possible
from tests.campaign.optimum import Search
from tests.campaign.problem import Problem
from tests.campaign.simplex import Simplex, furthest_whole
from tests.campaign.state import Progress, State
from tests.campaign.tables import random_problem
from tests.campaign.tally import Tally

HERE = Path(__file__).parent


def plane(value: list[int], status: str, level: int, **more: object) -> Problem:
    """A 2 x 2 table with its marginals: a b ab / c d cd / ac bd abcd."""
    n = len(value)
    lines = [((0, 1), (1, 1), (2, -1)), ((3, 1), (4, 1), (5, -1)), ((6, 1), (7, 1), (8, -1))]
    lines += [tuple((c // 3 + 3 * (c % 3), k) for c, k in line) for line in lines]
    levels = tuple(level if s == "u" else 0 for s in status)
    nothing = (0,) * n
    return Problem(
        "2-way",
        tuple(value),
        status,
        nothing,
        (None,) * n,
        levels,
        levels,
        nothing,
        tuple(value),
        tuple((0, line) for line in lines),
        **more,  # type: ignore[arg-type]
    )


def test_the_judges_know_nothing_of_the_product() -> None:
    for name in ("problem", "simplex", "judge", "optimum", "tables", "tally"):
        tree = ast.parse((HERE / f"{name}.py").read_text())
        for node in ast.walk(tree):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(n.split(".")[0] in ("gpuga", "numpy", "scipy") for n in names), name


def test_a_rectangle_gives_its_corners_the_room_of_the_smallest() -> None:
    problem = plane([3, 7, 10, 5, 20, 25, 8, 27, 35], "usssssss" + "s", 2)
    judge = Judge(problem, {0, 1, 3, 4})
    assert judge.interval(0) == (Fraction(0), Fraction(8))  # 3 down by its own, up by 5 of the cell below
    assert judge.safe(0, Reading())
    assert not Judge(problem, {0, 1}).safe(0, Reading())


def test_the_simplex_agrees_with_all_whole_points_of_small_networks() -> None:
    rng = Random(5)
    for _ in range(60):
        n = rng.randint(2, 5)
        rows = [{j: rng.choice((-1, 1, 1, 2)) for j in rng.sample(range(n), rng.randint(1, n))} for _ in range(2)]
        low, high = [-rng.randint(0, 3) for _ in range(n)], [rng.randint(0, 3) for _ in range(n)]
        boxes = product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
        points = [p for p in boxes if all(sum(k * p[j] for j, k in row.items()) == 0 for row in rows)]
        for target in range(n):
            for sign in (1, -1):
                most = max(sign * p[target] for p in points)
                simplex = Simplex(rows, low, high)
                assert furthest_whole(simplex, target, sign)[0] == most
                relaxed = Simplex(rows, low, high).furthest(target, sign)
                assert relaxed is not None
                assert relaxed >= most


def test_a_vertex_in_thirds_is_kept_exactly() -> None:
    simplex = Simplex([{0: 3, 1: -1}], [0, 0], [None, 10])
    assert simplex.furthest(0, 1) == Fraction(10, 3)
    assert furthest_whole(Simplex([{0: 3, 1: -1}], [0, 0], [None, 10]), 0, 1)[0] == 3
    assert Simplex([{0: 3, 1: -1}], [0, 0], [None, None]).furthest(0, 1) is None


def test_whole_levels_are_met_by_whole_tables_only() -> None:
    """Three cells whose sum in pairs is known: moves are halves, so whole numbers are all given away."""
    pairs = ((0, 1), (1, 2), (0, 2))
    rows = tuple((2, ((a, 1), (b, 1))) for a, b in pairs)
    problem = Problem("", (1,) * 3, "uss", (0,) * 3, (None,) * 3, (0,) * 3, (0,) * 3, (0,) * 3, (1,) * 3, rows)
    assert not Judge(problem, {0, 1, 2}).moves(0)
    loose = Problem("", (1, 1), "us", (0, 0), (2, 2), (0, 0), (0, 0), (0, 0), (1, 1), ((3, ((0, 1), (1, 2))),))
    assert Judge(loose, {0, 1}).interval(0) == (0, 2)
    assert Judge(loose, {0, 1}, whole=True).interval(0) == (1, 1)


def test_the_optimum_of_a_rectangle_is_its_three_other_corners() -> None:
    problem = plane([3, 7, 10, 5, 20, 25, 8, 27, 35], "usssssss" + "s", 2)
    best = Search(problem, Reading()).cheaper_than(None)
    assert best == {0, 1, 3, 4}
    assert Search(problem, Reading()).cheaper_than(problem.cost(best)) is None
    assert possible(problem, Reading())
    assert exposure(problem, Reading())["initially_exposed"] == [0]


def test_the_same_number_gives_the_same_table_and_its_equations_hold() -> None:
    for index in range(200):
        problem = random_problem(Random(index))
        assert problem == random_problem(Random(index))
        assert all(sum(k * problem.value[c] for c, k in row) == rhs for rhs, row in problem.equations)


def test_counts_are_broken_where_an_integer_program_can_break_them() -> None:
    problem = plane([1, 1, 2, 1, 1, 2, 2, 2, 4], "usssssss" + "s", 1)
    assert part_counts.whole_freedom(problem, frozenset({0, 1, 3, 4}), 0)
    assert not part_counts.whole_freedom(problem, frozenset({0, 1}), 0)


def test_some_random_tables_are_judged_without_a_failure(tmp_path: Path) -> None:
    tally = Tally()
    for index in range(25):
        tally.add(part_tables.step(2, index, tmp_path))
    assert tally.counts["verdicts"] > 500
    assert not tally.failures, [f["what"] for f in tally.failures][:3]


def test_some_malformed_inputs_are_refused_with_a_sentence(tmp_path: Path) -> None:
    tally = Tally()
    for index in range(1, part_malformed.TARGET, 25):
        tally.add(part_malformed.step(1, index, tmp_path))
    assert tally.counts["exit 2 with one sentence"] >= 12
    assert not tally.failures, [f["what"] for f in tally.failures][:3]
    assert len(part_malformed.cases()) >= part_malformed.TARGET


@pytest.mark.parametrize("index", [0, 1, 3])
def test_mutated_files_do_not_crash_a_parser(index: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_fuzz, "INPUTS", 60)
    tally = part_fuzz.step(1, index, tmp_path)
    assert tally.counts["inputs"] == 60
    assert not tally.failures, [f["what"] for f in tally.failures][:3]


def test_a_campaign_goes_on_where_it_stopped(tmp_path: Path) -> None:
    state = State(tmp_path, "abc", 1)
    progress = state.load("tables")
    assert progress.next_steps(3, {0}) == [1, 2, 3]
    tally = Tally()
    tally.fail("crashes", "what", "command", {"table.jj": "0\n"})
    progress.done([0, 2], tally, 1.5)
    state.save("tables", progress)
    again = state.load("tables")
    assert (again.upto, again.beyond, again.steps) == (1, {2}, 2)
    assert again.next_steps(2, set()) == [1, 3]
    assert (state.folder / again.tally.failures[0]["folder"] / "table.jj").read_text() == "0\n"
    state.save("tables", again)
    assert len(list(state.failures.iterdir())) == 1
    assert Progress().steps == 0


def test_slow_tests_are_found_and_what_they_say_is_counted() -> None:
    names = [path.name for path in part_slow_tests.FILES]
    assert "test_planted_bugs.py" in names
    assert "test_repeatability.py" in names
    good = part_slow_tests.counted("7 passed, 2 skipped, 30 deselected in 5.0s", 0, "tests/test_x.py")
    assert (good.counts["passed"], good.counts["skipped"], good.failures) == (7, 2, [])
    bad = part_slow_tests.counted("E   assert 1 == 2\n1 failed, 3 passed in 5.0s", 1, "tests/test_x.py")
    assert [failure["kind"] for failure in bad.failures] == ["tests failed"]
    assert "1 failed" in bad.failures[0]["what"]


def test_a_file_of_slow_tests_runs_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_slow_tests, "ROOT", tmp_path)
    for code, kinds in (("True", []), ("False", ["tests failed"])):
        path = tmp_path / "test_one.py"
        path.write_text(f"import pytest\n\n@pytest.mark.slow\ndef test_it():\n    assert {code}\n")
        monkeypatch.setattr(part_slow_tests, "FILES", [path])
        assert [failure["kind"] for failure in part_slow_tests.step(1, 0, tmp_path).failures] == kinds
