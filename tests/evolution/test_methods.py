"""Every evolutionary method returns safe patterns, by seed alone, and none is worse than what it starts from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gpuga
from gpuga.context import Clock
from gpuga.errors import Infeasible, InputError
from gpuga.parameters import INGREDIENTS, REPLACEMENTS, SELECTIONS
from gpuga.result import Protection
from gpuga.safety.audit import audit
from gpuga.table.generate import class2, herrington, smith3d
from gpuga.table.table import Table
from tests.planes import random_plane_table

SHORT = {"generations": 3, "population": 24}
PAPERS = ("heurgene", "gensup", "gapn")


def run(table: Table, method: str = "circuits", seed: int = 1, **options: object) -> Protection:
    return gpuga.protect(table, method, seed=seed, options=SHORT | options)


@pytest.mark.parametrize("method", ["circuits", *PAPERS])
def test_the_pattern_is_safe_without_repair(plane: Table, method: str) -> None:
    protection = run(plane, method)
    assert protection.audit.safe
    assert protection.repaired == 0


@pytest.mark.parametrize("method", ["circuits", *PAPERS])
def test_a_seed_decides_the_result_whatever_the_number_of_threads(plane: Table, method: str) -> None:
    import numba

    alone = numba.get_num_threads()
    first = run(plane, method)
    numba.set_num_threads(1)
    try:
        second = run(plane, method)
    finally:
        numba.set_num_threads(alone)
    assert np.array_equal(first.suppressed, second.suppressed)
    assert first.found.evaluations == second.found.evaluations


def test_back_ends_agree(plane: Table) -> None:
    patterns = [
        gpuga.protect(plane, "circuits", backend=backend, options=SHORT).suppressed for backend in ("cpu", "numpy")
    ]
    assert np.array_equal(*patterns)


def test_circuits_is_at_least_as_good_as_every_heuristic(plane: Table) -> None:
    cost = run(plane).cost
    assert cost <= min(gpuga.protect(plane, method).cost for method in ("hypercube", "shortest-path", "heurgene"))


def test_circuits_is_at_least_as_good_on_any_linear_table(solid: Table) -> None:
    protection = run(solid)
    assert protection.audit.safe
    assert protection.cost <= min(gpuga.protect(solid, m).cost for m in ("hypercube", "incremental"))


def test_small_tables_of_any_kind_are_bounded_while_they_evolve(solid: Table) -> None:
    protection = run(solid, generations=1)
    assert protection.bound is not None
    assert protection.bound.kind == "cutting planes"
    assert 0 < protection.bound.lower_bound <= protection.scaled_cost
    assert gpuga.protect(solid, "exact", seconds=4).scaled_cost >= protection.bound.lower_bound


def test_a_proof_ends_the_run_on_any_linear_table() -> None:
    table = smith3d((4, 4, 3), 0.1, 0.1, 2)
    protection = gpuga.protect(table, "circuits", seed=1)
    assert protection.found.details["stopped"] == "proof"
    assert protection.optimal
    assert protection.cost == gpuga.protect(table, "exact").cost


def test_a_proof_ends_the_run() -> None:
    protection = gpuga.protect(class2(12, 12, 5), "circuits", seed=1)
    assert protection.found.details["stopped"] == "proof"
    exact = gpuga.protect(class2(12, 12, 5), "exact")
    assert protection.cost == exact.cost


@pytest.mark.parametrize("bounded", [False, True])
def test_tables_with_bounds_gaps_and_sliding_levels_are_protected_without_repair(bounded: bool) -> None:
    protected = slid = 0
    for seed in range(40):
        table = random_plane_table(5, 6, seed, bounded=bounded, gaps=True, sliding=seed % 2 == 0, sensitive=0.12)
        try:
            protection = run(table)
        except Infeasible:
            continue
        assert protection.repaired == 0
        protected += protection.cost > 0
        slid += protection.cost > 0 and bool(table.levels.sliding.any())
        if protected >= 4 and slid >= 2:
            return
    pytest.fail(f"only {protected} tables could be protected, {slid} with sliding levels")


def test_a_table_that_needs_nothing_gets_nothing() -> None:
    table = herrington(6, 6, 0.0, 1)
    assert run(table).cost == 0


def test_the_clock_ends_a_run_with_a_safe_pattern(plane: Table) -> None:
    protection = gpuga.protect(plane, "circuits", clock=Clock(0.01))
    assert protection.repaired == 0


def test_an_interrupt_ends_a_run_with_a_safe_pattern(plane: Table) -> None:
    class Impatient(Clock):
        looks = 0

        def left(self) -> float:
            self.looks += 1
            if self.looks > 40:
                self.interrupt()
            return super().left()

    protection = gpuga.protect(plane, "circuits", clock=Impatient())
    assert protection.audit.safe
    assert protection.found.details["stopped"] in ("interrupt", "proof")


@pytest.mark.parametrize("method", ["circuits", "heurgene", "gensup", "gapn"])
def test_a_users_pattern_is_repaired_and_never_made_worse(plane: Table, method: str) -> None:
    best = gpuga.protect(plane, "exact").suppressed
    assert gpuga.protect(plane, method, start=[best], options=SHORT).scaled_cost <= plane.cost(best)
    unsafe = best.copy()
    unsafe[np.flatnonzero(best & ~plane.primary)[:2]] = False
    assert gpuga.protect(plane, method, start=[unsafe], options=SHORT).audit.safe


def test_a_users_pattern_joins_on_any_linear_table(solid: Table) -> None:
    start = gpuga.protect(solid, "incremental").suppressed
    assert gpuga.protect(solid, "circuits", start=[start], options=SHORT).scaled_cost <= solid.cost(start)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("replacement", REPLACEMENTS)
def test_herringtons_strategies_can_be_chosen(plane: Table, selection: str, replacement: str) -> None:
    assert run(plane, "heurgene", selection=selection, replacement=replacement).repaired == 0


@pytest.mark.parametrize("option", ["selection", "replacement"])
@pytest.mark.parametrize("method", ["circuits", "heurgene"])
def test_an_unknown_strategy_is_refused(plane: Table, option: str, method: str) -> None:
    with pytest.raises(InputError, match="unknown"):
        run(plane, method, **{option: "best-of-all"})


@pytest.mark.parametrize("ingredient", INGREDIENTS)
def test_every_ingredient_can_be_left_out(plane: Table, ingredient: str) -> None:
    assert run(plane, without=(ingredient,)).repaired == 0


def test_the_log_has_a_row_per_generation_and_no_values(plane: Table, tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    protection = run(plane, without=("prover",), log=str(log))
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["generation"] for row in rows] == list(range(1, protection.found.generations + 1))
    assert rows[-1]["best"] == protection.cost
    assert set(rows[0]) == {
        "audience", "generation", "best", "mean", "worst", "lower_bound", "gap", "evaluations",
        "evaluations_per_second", "diversity", "seconds", "children",
    }  # fmt: skip


def test_circuits_of_any_table_bring_their_proof_along() -> None:
    table = smith3d((8, 6, 5), 0.08, 0.1, 5)
    protection = gpuga.protect(table, "circuits", options={"generations": 3, "population": 8})
    proof = protection.found.proof
    assert proof is not None
    checked = audit(table, protection.suppressed, intervals=False, proof=proof)
    assert checked.safe
    assert checked.solves == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", [*PAPERS, "ordering-ga"])
def test_a_population_of_4096_takes_generations_in_reasonable_time(method: str) -> None:
    table = herrington(30, 30, 0.03, 1)
    found = gpuga.protect(table, method, seed=1, options={"population": 4096, "generations": 2}, seconds=300)
    assert found.audit.safe
    assert found.found.generations == 2


@pytest.mark.parametrize("unit", [10**8, 10**11])
def test_cells_of_any_weight_are_evolved(unit: int) -> None:
    values = np.random.default_rng(5).integers(1, 1000, (6, 6)) * unit
    sensitive = np.zeros((6, 6), bool)
    sensitive[[0, 2, 4], [1, 3, 5]] = True
    table = gpuga.table_from_array(values, sensitive=sensitive)
    found = gpuga.protect(table, "circuits", options={"generations": 2}, backend="cpu")
    assert found.audit.safe
