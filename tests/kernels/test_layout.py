"""Where the bits lie, and what malformed tables are told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gpuga.kernels import Capacities, EquationLines, Pool, Requirements, pack, plane_lines, unpack
from gpuga.kernels.layout import AxisGrid, FlowRequirements
from gpuga.safety.box_options import options_of
from gpuga.table.crossing import Axis


@given(hnp.arrays(np.bool_, st.tuples(st.integers(0, 4), st.integers(1, 4), st.integers(1, 130))))
def test_packing_and_unpacking_gives_the_pattern_back(suppressed: np.ndarray) -> None:
    packed = pack(suppressed)
    assert packed.bits.shape == (*suppressed.shape[:2], (suppressed.shape[2] + 63) // 64)
    flat = suppressed.reshape(len(suppressed), suppressed.shape[1] * suppressed.shape[2])
    np.testing.assert_array_equal(unpack(packed), flat)


@pytest.mark.parametrize("columns", [1, 63, 64, 65, 128])
def test_bit_j_of_word_w_is_column_64_w_plus_j(columns: int) -> None:
    suppressed = np.zeros((1, 2, columns), np.bool_)
    suppressed[0, 1, columns - 1] = True
    word, bit = divmod(columns - 1, 64)
    expected = np.zeros((1, 2, (columns + 63) // 64), np.uint64)
    expected[0, 1, word] = np.uint64(1) << np.uint64(bit)
    np.testing.assert_array_equal(pack(suppressed).bits, expected)


def test_bits_past_the_last_column_are_zero() -> None:
    assert pack(np.ones((1, 3, 65), np.bool_)).bits[0, 0, 1] == 1


def test_cells_must_fill_the_rows() -> None:
    with pytest.raises(ValueError, match="do not fill rows"):
        pack(np.zeros((1, 7), np.bool_), columns=3)


def test_a_rise_is_forward_flow_except_on_margins() -> None:
    up, down = np.full((2, 2), 3), np.full((2, 2), 1)
    plane = Capacities.of(up, down)
    np.testing.assert_array_equal(plane.forward, [[3, 1], [1, 3]])
    np.testing.assert_array_equal(plane.reverse, [[1, 3], [3, 1]])


def test_a_requirement_beyond_the_cells_own_bound_is_impossible() -> None:
    plane = Capacities.of(np.full((2, 2), 3), np.full((2, 2), 1))
    flow = FlowRequirements.of(plane, Requirements.of([0, 0, 1, 1], [1, -1, 1, -1], [3, 2, 4, 1]))
    np.testing.assert_array_equal(flow.possible, [1, 0, 0, 1])
    np.testing.assert_array_equal(flow.upward, [1, 0, 0, 1])


def test_the_lines_of_a_plane_hold_for_every_additive_table() -> None:
    inner = np.arange(12).reshape(3, 4)
    table = np.zeros((4, 5), np.int64)
    table[:3, :4] = inner
    table[3, :4], table[:3, 4], table[3, 4] = inner.sum(0), inner.sum(1), inner.sum()
    lines = plane_lines(4, 5)
    for line in range(lines.count):
        part = slice(lines.start[line], lines.start[line + 1])
        assert lines.coef[part] @ table.ravel()[lines.cell[part]] == 0


def test_transposed_lines_say_the_same_as_lines() -> None:
    lines = EquationLines.of([0, 2, 5], [3, 1, 0, 1, 2], [1, -2, 3, 4, -5], cells=4)
    seen = {
        (int(lines.line[q]), cell, int(lines.line_coef[q]))
        for cell in range(4)
        for q in range(lines.cell_start[cell], lines.cell_start[cell + 1])
    }
    assert seen == {(0, 3, 1), (0, 1, -2), (1, 0, 3), (1, 1, 4), (1, 2, -5)}


def test_a_pool_gives_its_circuits_back() -> None:
    pool = Pool.of([0, 2, 2, 3], [3, 1, 5], [2, -2, 7])
    assert len(pool) == 3
    assert [part.tolist() for part in pool.circuit(0)] == [[3, 1], [2, -2]]
    assert [part.tolist() for part in pool.circuit(1)] == [[], []]


def test_a_grid_knows_the_room_that_a_search_needs() -> None:
    flat, deep = Axis(4, ((0, (1, 2, 3)),)), Axis(5, ((0, (1, 2)), (1, (3, 4))))
    grid = AxisGrid.of([options_of(deep), options_of(flat)])
    assert (grid.axes, grid.cells, grid.stride.tolist()) == (2, 20, [4, 1])
    # through the deep axis's root pass the ways of its leaves 2, 3 and 4; the longest have three codes
    assert grid.room() == (options_of(deep).most + 4, 3 * 2, 0)
    assert AxisGrid.of([options_of(deep), options_of(flat), options_of(flat)]).room().rows > 0
    with pytest.raises(ValueError, match="one axis"):
        AxisGrid.of([])


def test_requirements_are_vectors_of_one_length() -> None:
    with pytest.raises(ValueError, match="one length"):
        Requirements.of([1, 2], [1], [3])
