"""The integer programs of Serpell et al., on their own example and against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga import protect
from gpuga.bounds.classical_ip import classical_ip, modified_ip
from gpuga.context import Context
from gpuga.errors import GpugaError, Infeasible, InputError
from gpuga.table import Levels, Table
from gpuga.table.generate import class2, smith3d
from gpuga.table.table import Lines
from tests.brute_force import cheapest_cost
from tests.planes import plane_lines, random_plane_table
from tests.safety.test_exposure import serpell_table


def test_the_published_example_has_the_published_counts_and_optimum():
    table = serpell_table()
    for run, variables, constraints in ((classical_ip, 833, 1824), (modified_ip, 343, 689)):
        found = run(table, Context())
        assert found.details["variables"] == variables
        assert found.details["constraints"] == constraints
        assert table.shown_cost(table.cost(found.suppressed)) == 118
        assert set(np.flatnonzero(found.suppressed & ~table.primary)) == {37, 38, 40}


@pytest.mark.parametrize("seed", range(12))
def test_the_classical_model_finds_the_cheapest_pattern(seed):
    table = random_plane_table(3, 2, seed, largest=12, bounded=seed % 2 == 0, sliding=seed % 3 == 0)
    least = cheapest_cost(table)
    if least is None:
        with pytest.raises(Infeasible):
            classical_ip(table, Context())
    else:
        assert table.cost(classical_ip(table, Context()).suppressed) == least


def test_three_dimensional_tables_are_protected_too():
    table = smith3d((4, 4, 4), 0.08, 0.1, 1)
    least = protect(table, "exact").cost
    found = protect(table, "classical-ip")
    assert (found.cost, found.repaired) == (least, 0)
    assert protect(table, "modified-ip").cost >= least


def test_large_tables_are_refused_with_their_number_of_variables():
    with pytest.raises(InputError, match="variables"):
        classical_ip(class2(100, 100, 1), Context())


def test_a_table_without_levels_needs_no_suppression():
    value = np.array([1, 2, 3, 4, 5, 9, 5, 7, 12])
    none = np.zeros(9, np.int64)
    table = Table.build(value, plane_lines(np.ones((3, 3), bool)), levels=Levels(none, none, none))
    assert not classical_ip(table, Context()).suppressed.any()


def test_a_limit_of_the_model_is_not_called_impossible():
    # the sensitive cell counts twenty times in its line: the other cell has to move twenty times as far
    none = np.zeros(2, np.int64)
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([20, -1]), np.array([0]))
    levels = Levels(none, np.array([1, 0]), none)
    table = Table.build(np.array([5, 100]), lines, status=np.array([1, 0], np.uint8), levels=levels)
    with pytest.raises(GpugaError, match="there may be a safe pattern") as raised:
        classical_ip(table, Context())
    assert not isinstance(raised.value, Infeasible)
    assert protect(table, "incremental").audit.safe
    kept = Table.build(np.array([5, 100]), lines, status=np.array([1, 2], np.uint8), levels=levels)
    with pytest.raises(Infeasible):
        classical_ip(kept, Context())
