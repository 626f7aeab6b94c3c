"""Tables of cells and equations: what an equation may look like, and what is said of one that is none."""

from __future__ import annotations

import pytest

from gpuga.errors import InputError
from gpuga.files.jj import jj_indices, parse_jj
from gpuga.table import INFINITE

CELLS = "0\n4\n7 5 5 u 0 99 1 1 0\n3 7 7 s 0 99 0 0 0\n9 12 12 s 0 99 0 0 0\n1 0 0 s 0 99 0 0 0\n"
"""Cells in the lines 3 to 6; the number of equations is in line 7."""


def with_equations(*equations: str) -> str:
    return CELLS + f"{len(equations)}\n" + "".join(f"{equation}\n" for equation in equations)


@pytest.mark.parametrize(
    ("equation", "cells", "signs"),
    [
        ("0 3 : 9 (-1) 7 (1) 3 (1)", [2, 0, 1], [-1, 1, 1]),
        ("0 3 : 9 (-1) 7 (+1) 3 (01)", [2, 0, 1], [-1, 1, 1]),
        ("0 03 : 9 (-1) 7 (1) 3 (1)", [2, 0, 1], [-1, 1, 1]),
        ("0 3 9 -1 7 1 3 1", [2, 0, 1], [-1, 1, 1]),
        ("  0   3:9(-1)7(1)3(1)  ", [2, 0, 1], [-1, 1, 1]),
        ("0 1 : 1 (1)", [3], [1]),
        ("0 1 : 1 (0000000001000000)", [3], [10**6]),
        ("0 1 : 1 (-1000000)", [3], [-(10**6)]),
        ("-2 2 : 7 (1) 3 (-1)", [0, 1], [1, -1]),
        ("7 1 : 3 (1)", [1], [1]),
    ],
)
def test_an_equation_may_be_written_with_signs_zeros_and_spaces(
    equation: str, cells: list[int], signs: list[int]
) -> None:
    table = parse_jj(with_equations(equation), "t.jj")
    assert (table.lines.cell.tolist(), table.lines.coef.tolist()) == (cells, signs)
    assert table.lines.start.tolist() == [0, len(cells)]


@pytest.mark.parametrize(
    ("equation", "says", "field"),
    [
        ("0", "is not an equation", "equation"),
        ("0 0 :", "is not an equation", "equation"),
        ("0 00 :", "is not an equation", "equation"),
        ("0 x : 1 (1)", "is not an equation", "equation"),
        ("0 -1 : 1 (1)", "is not an equation", "equation"),
        ("0 2 : 1 (1)", "is not an equation", "equation"),
        ("0 1 : 1", "is not an equation", "equation"),
        ("0 1 : 1 (1) 3", "is not an equation", "equation"),
        ("0 1000000000001 : 1 (1)", "is not an equation", "equation"),
        ("", "is not an equation", "equation"),
        ("0 1 : 1 (1.0)", "a sign is not an integer", "sign"),
        ("0 1 : 1 (x)", "a sign is not an integer", "sign"),
        ("0 1 : 1 (0)", "a sign is 0", "sign"),
        ("0 1 : 1 (-00)", "a sign is 0", "sign"),
        ("0 1 : 1 (1000001)", "a sign is too large", "sign"),
        ("0 1 : 1 (-1000001)", "a sign is too large", "sign"),
        ("0 1 : 1 (99999999999999999999999999)", "a sign is too large", "sign"),
        ("0 2 : 1 (1) 1 (1)", "a cell occurs twice in the equation", "index"),
        ("0 1 : 8 (1)", "there is no cell 8", "index"),
        ("y 1 : 1 (1)", "is not a number", "rhs"),
    ],
)
def test_an_equation_that_is_none_is_refused_with_its_line(equation: str, says: str, field: str) -> None:
    good = "0 3 : 9 (-1) 7 (1) 3 (1)"
    for text, line in ((with_equations(equation, good), 8), (with_equations(good, good, equation), 10)):
        with pytest.raises(InputError, match=says) as fault:
            parse_jj(text, "t.jj")
        assert (fault.value.line, fault.value.field) == (line, field)


def test_the_same_cell_may_be_in_several_equations() -> None:
    good = "0 3 : 9 (-1) 7 (1) 3 (1)"
    assert len(parse_jj(with_equations(good, good), "t.jj").lines) == 2


def test_a_table_may_have_no_equations_and_blank_lines_at_its_end() -> None:
    assert len(parse_jj(with_equations(), "t.jj").lines) == 0
    assert len(parse_jj(with_equations() + "\n  \n\n", "t.jj").lines) == 0
    for text, line in ((with_equations() + "x\n", 8), (with_equations("0 1 : 1 (1)") + "\nx\n", 9)):
        with pytest.raises(InputError, match="there is more after the last equation") as fault:
            parse_jj(text, "t.jj")
        assert fault.value.line == line


def test_an_equation_that_does_not_add_up_is_named_by_its_number_and_line() -> None:
    good = "0 3 : 9 (-1) 7 (1) 3 (1)"
    for equations, number, line in (([good, "1 1 : 1 (1)"], 1, 9), (["1 1 : 1 (1)", good, "2 1 : 1 (1)"], 0, 8)):
        with pytest.raises(InputError, match=f"equation {number} does not add up") as fault:
            parse_jj(with_equations(*equations), "t.jj")
        assert fault.value.line == line


@pytest.mark.parametrize(
    ("levels", "whole"), [("1 1 0", True), ("1.5 1 0", False), ("1 1 0.5", False), ("2.0 1 0", True)]
)
def test_levels_are_whole_or_they_are_not(levels: str, whole: bool) -> None:
    table = parse_jj(with_equations().replace("u 0 99 1 1 0", f"u 0 99 {levels}"), "some/where.jj")
    assert table.whole_levels is whole
    assert table.name == "where"
    other = parse_jj(with_equations().replace("3 7 7 s 0 99 0 0 0", "3 7 7 s 0 99 0.5 0 0"), "t.jj")
    assert other.whole_levels
    assert other.levels.lower.tolist()[1] == 0  # levels of cells that are not sensitive do not count


def test_weights_and_bounds_are_taken_to_the_last_digit() -> None:
    text = (
        with_equations().replace("3 7 7 s 0 99", "3 7 2.25 s -0.5 inf").replace("9 12 12 s 0 99", "9 12 12 s -inf 1e19")
    )
    table = parse_jj(text, "t.jj")
    assert (table.scale, table.weight_scale) == (10, 100)
    assert table.weight.tolist() == [500, 225, 1200, 0]
    assert table.lb.tolist() == [0, -5, -INFINITE, 0]
    assert table.ub.tolist() == [990, INFINITE, INFINITE, 990]
    units = parse_jj(text, "t.jj", weights="value")
    assert (units.weight * table.scale).tolist() == (table.value * units.weight_scale).tolist()


def test_a_rule_in_percent_gives_levels_of_its_own_digits() -> None:
    text = with_equations().replace("u 0 99 1 1 0", "u 0 99 0 0 0")
    table = parse_jj(text, "t.jj", levels="12.5%")
    assert table.levels.upper[0] * 1000 == 625 * table.scale  # an eighth of five
    assert table.levels.lower.tolist() == table.levels.upper.tolist()
    assert table.levels.upper.tolist()[1:] == [0, 0, 0]
    assert table.value.tolist() == [v * table.scale for v in (5, 7, 12, 0)]


def test_the_first_word_of_each_line_is_the_cells_index() -> None:
    assert jj_indices(with_equations("0 1 : 1 (1)")) == ["7", "3", "9", "1"]


@pytest.mark.parametrize(
    ("old", "new", "says", "line", "field"),
    [
        ("9 12 12 s", "7 12 12 s", "the same cell occurs twice", 5, "index"),
        ("9 12 12 s", "-9 12 12 s", "is not an index", 5, "index"),
        ("9 12 12 s", "٣ 12 12 s", "is not an index", 5, "index"),
        ("9 12 12 s", "9 12 12 S", "unknown status 'S'", 5, "status"),
        ("9 12 12 s 0", "9 12 12 s 0 0", "has 10 fields, a cell has 9", 5, None),
        ("1 0 0 s 0 99 0 0 0", "1 0 0 s 0 99 0 0 0 0", "has 10 fields, a cell has 9", 6, None),
        ("1 0 0 s 0 99 0 0 0", "1 0 0 s 0 99 0 0", "has 8 fields, a cell has 9", 6, None),
        ("9 12 12 s 0 99 0 0 0", "9 12 12 s 0 99 -1 0 0", "is a negative level", 5, "lower"),
        ("9 12 12 s 0 99 0 0 0", "9 12 12 s 0 99 0 0 -1", "is a negative level", 5, "sliding"),
    ],
)
def test_a_cell_that_is_none_is_refused_with_its_line_and_field(
    old: str, new: str, says: str, line: int, field: str | None
) -> None:
    with pytest.raises(InputError, match=says) as fault:
        parse_jj(with_equations().replace(old, new), "t.jj")
    assert (fault.value.line, fault.value.field) == (line, field)
