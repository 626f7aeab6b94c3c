"""An attacker who knows that values are whole numbers learns nothing more from a pattern that is safe for him."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import gpuga
from gpuga.errors import InputError
from gpuga.table.attacker_model import in_whole_units
from gpuga.table.table import INFINITE, Levels, Lines, Table

DATA = Path(__file__).parent / "data"


def integer_interval(table: Table, suppressed: np.ndarray, cell: int) -> tuple[int, int]:
    """What an integer program narrows a cell of a table in whole units down to."""
    cells = np.flatnonzero(suppressed)
    matrix = np.zeros((len(table.lines), len(cells)))
    position = {int(c): i for i, c in enumerate(cells)}
    for line in range(len(table.lines)):
        for e in range(int(table.lines.start[line]), int(table.lines.start[line + 1])):
            if int(table.lines.cell[e]) in position:
                matrix[line, position[int(table.lines.cell[e])]] += table.lines.coef[e]
    room = Bounds(
        -np.where(table.down[cells] >= INFINITE, 10**6, table.down[cells]),
        np.where(table.up[cells] >= INFINITE, 10**6, table.up[cells]),
    )
    ends = []
    for sign in (1, -1):
        cost = np.zeros(len(cells))
        cost[position[cell]] = sign
        rows = LinearConstraint(matrix, 0, 0)
        found = milp(cost, constraints=rows, integrality=np.ones(len(cells)), bounds=room)
        assert found.success
        ends.append(int(table.value[cell]) + sign * round(found.fun))
    return ends[0], ends[1]


@pytest.mark.parametrize("method", ["exact", "circuits", "hypercube", "incremental"])
def test_counts_of_three_dimensions_are_kept_from_integer_programs(method: str) -> None:
    table = gpuga.read_table(DATA / "counts_4x4x4.csv")
    assert table.counts
    options = {"generations": 3} if method == "circuits" else {}
    found = gpuga.protect(table, method, options=options)
    assert found.audit.whole
    whole = in_whole_units(table, strict=False)
    for cell in table.sensitive.tolist():
        low, high = integer_interval(whole, found.suppressed, cell)
        assert low <= whole.value[cell] - whole.levels.lower[cell]
        assert high >= whole.value[cell] + whole.levels.upper[cell]
    linear = gpuga.protect(table, method, whole="no", options=options)
    assert linear.cost <= found.cost or method == "circuits"


def test_what_is_safe_for_linear_programs_may_give_every_count_away() -> None:
    table = gpuga.read_table(DATA / "counts_4x4x4.csv")
    found = gpuga.protect(table, "exact", whole="no")
    assert gpuga.audit(table, found.suppressed, whole="no", intervals=False).safe
    verdict = gpuga.audit(table, found.suppressed, whole="yes")
    assert not verdict.safe
    whole = in_whole_units(table, strict=False)
    for cell in verdict.cells:
        assert (cell.min, cell.max) == integer_interval(whole, found.suppressed, cell.cell)
    known = [cell.cell for cell in verdict.cells if cell.min == cell.max and cell.kind == "primary"]
    assert known == table.sensitive.tolist()


def test_an_optimum_against_whole_numbers_stays_proven() -> None:
    table = gpuga.read_table(DATA / "counts_4x4x4.csv")
    found = gpuga.protect(table, "exact")
    assert found.optimal
    assert found.cost > gpuga.protect(table, "exact", whole="no").cost


def test_two_way_tables_have_the_same_patterns_either_way() -> None:
    table = gpuga.read_table(DATA.parent.parent / "data" / "counts_two_way.csv")
    assert table.counts
    for method in ("shortest-path", "exact"):
        patterns = [gpuga.protect(table, method, whole=whole).suppressed for whole in ("yes", "no")]
        assert (patterns[0] == patterns[1]).all()


def test_whole_units_round_levels_up_and_bounds_inwards() -> None:
    table = gpuga.read_table(DATA / "counts_4x4x4.csv")
    whole = in_whole_units(table, strict=False)
    assert whole.scale == 1
    assert (whole.value * table.scale == table.value).all()
    assert (whole.levels.upper[table.sensitive] == 1).all()
    assert (in_whole_units(table, strict=True).levels.upper[table.sensitive] == 0).all()


def test_fractions_are_no_whole_numbers() -> None:
    table = gpuga.table_from_array(np.array([[1.5, 2.0], [3.0, 4.0]]), sensitive=np.array([[1, 0], [0, 0]], bool))
    assert not table.counts
    with pytest.raises(InputError, match="not a whole number"):
        gpuga.protect(table, whole="yes")
    with pytest.raises(InputError, match="not one of auto, yes, no"):
        gpuga.audit(table, table.suppressible, whole="maybe")


def test_a_whole_move_that_can_only_pass_the_level_counts() -> None:
    # 2 x = y: y moves by twos, so a level of 3 is shown by 4
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([2, -1]), np.zeros(1, np.int64))
    levels = Levels(np.array([0, 3]), np.array([0, 3]), np.zeros(2, np.int64))
    value, status = np.array([10, 20]), np.array([0, 1], np.uint8)
    table = Table.build(value, lines, status=status, levels=levels)
    assert gpuga.audit(table, np.ones(2, bool), whole="yes", intervals=False).safe
    assert gpuga.protect(table, "incremental", whole="yes").audit.safe
    narrow = Table.build(value, lines, status=status, ub=np.array([11, 30]), levels=levels)
    assert not gpuga.audit(narrow, np.ones(2, bool), whole="yes", intervals=False).safe


def test_whole_intervals_reach_their_ends_beside_the_largest_values() -> None:
    # 2 x = 3 y: x moves by threes and y by twos, up to a bound that neither divides
    value, room = np.array([3 * 10**14, 2 * 10**14]), 10**14 + 1
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([2, -3]), np.zeros(1, np.int64))
    levels = Levels(np.zeros(2, np.int64), np.array([0, 4]), np.zeros(2, np.int64))
    status = np.array([0, 1], np.uint8)
    table = Table.build(value, lines, status=status, lb=value - room, ub=value + room, levels=levels)
    verdict = gpuga.audit(table, np.ones(2, bool), whole="yes")
    steps = room // 3
    assert [(c.min, c.max) for c in verdict.cells] == [
        (value[0] - 3 * steps, value[0] + 3 * steps),
        (value[1] - 2 * steps, value[1] + 2 * steps),
    ]
    assert not any(c.exact for c in verdict.cells)  # floats cannot rule out the last two units


def test_what_a_whole_move_lacks_of_a_width_is_left_to_the_other_direction() -> None:
    """Cell 1 can rise by 748 and fall by 1,000, and has to move by more than 748 in all, both ways by something."""
    table = gpuga.read_table(DATA / "width_in_whole_numbers.jj")
    for intervals in (False, True):
        found = gpuga.audit(table, table.suppressible, strict=True, whole="yes", intervals=intervals)
        assert 1 not in found.unsafe


def test_whole_intervals_of_cells_without_limits_are_found_in_the_end() -> None:
    """The solver never ended where it was asked to count as far as 2^31."""
    table = gpuga.read_table(DATA / "whole_moves_without_limit.jj")
    found = gpuga.audit(table, table.suppressible, whole="yes")
    assert len(found.cells) == table.suppressible.sum()
