"""Bounds are kept exactly or refused; a bound that was dropped would make exposed cells look safe."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpuga
from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files.read import read_table, write_table
from gpuga.table import INFINITE
from gpuga.table.builders import table_from_frame
from gpuga.table.links import link

DATA = Path(__file__).parents[1] / "data"
JJ = "0\n3\n0 5 5 u 0 {ub} 1 1 0\n1 7 7 s {lb} 100 0 0 0\n2 12 12 s 0 100 0 0 0\n1\n0 3 : 2 (-1) 0 (1) 1 (1)\n"


@pytest.mark.parametrize("decimals", [3, 15])
def test_a_bound_exposes_the_cell_with_many_decimals_as_with_few(decimals: int) -> None:
    table = read_table(DATA / f"bound_at_{decimals}_decimals.csv")
    assert table.ub[0] == 11535 * 10 ** (decimals - 1)
    assert not gpuga.audit(table, table.suppressible).safe


@pytest.mark.parametrize("bound", ["2000.5", "3000.5", "123456"])
def test_a_bound_that_does_not_fit_at_15_decimals_is_refused(
    bound: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text((DATA / "bound_at_15_decimals.csv").read_text().replace("1153.5", bound))
    assert run(["expose", str(tmp_path / "t.csv")]) == 2
    said = capsys.readouterr().err
    assert "t.csv, line 2, field ub: is too large a bound" in said
    assert bound not in said


@pytest.mark.parametrize("none", ["inf", "+Infinity", "1e20", "1" + "0" * 20, "10000000000000000000"])
def test_no_bound_is_written_in_words_or_as_ten_to_the_twentieth(none: str, tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(JJ.format(ub=none, lb="-" + none.removeprefix("+")))
    table = read_table(tmp_path / "t.jj")
    assert (table.ub[0], table.lb[1]) == (INFINITE, -INFINITE)
    write_table(table, tmp_path / "again.jj")
    assert f"u 0 1{'0' * 20} 1" in (tmp_path / "again.jj").read_text()


@pytest.mark.parametrize("bound", [2**60 + 5, 2**62, 2**63 - 1, 10**19 - 1, "9e18", "1152921504606846981.0"])
def test_a_jj_bound_beyond_arithmetic_is_refused_with_its_line(bound: object, tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(JJ.format(ub=bound, lb=0))
    with pytest.raises(InputError, match=r"t\.jj, line 3, field ub: is too large a bound"):
        read_table(tmp_path / "t.jj")


def test_the_farthest_bounds_are_kept(tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(JJ.format(ub=2**60 + 4, lb=8 - 2**60))
    table = read_table(tmp_path / "t.jj")
    assert (int(table.ub[0]), int(table.lb[1])) == (2**60 + 4, 8 - 2**60)
    assert (int(table.up[0]), int(table.down[1])) == (2**60 - 1, 2**60 - 1)
    (tmp_path / "t.jj").write_text(JJ.format(ub=9, lb=7 - 2**60))
    with pytest.raises(InputError, match=r"t\.jj, line 4, field lb: is too large a bound"):
        read_table(tmp_path / "t.jj")


def test_a_bound_at_large_values_is_judged(tmp_path: Path) -> None:
    cell = "500.000000000000001 1 {} 0 1400 0 {} 0"
    lines = ["0", "2", f"0 {cell.format('u', 1000)}", f"1 {cell.format('s', 0)}", "1", "0 2 : 0 (1) 1 (-1)"]
    (tmp_path / "t.jj").write_text("\n".join(lines) + "\n")
    table = read_table(tmp_path / "t.jj")
    verdict = gpuga.audit(table, table.suppressible, intervals=True)
    assert not verdict.safe
    assert (verdict.cells[0].min, verdict.cells[0].max) == (0, 1400)


def test_a_group_of_cells_with_far_bounds_is_bounded_by_them() -> None:
    frame = {
        "r": ["a", "b", "c", "d", "e", ""],
        "value": [1, 2, 3, 4, 5, 15],
        "status": ["u"] * 6,
        "lb": [1 - 2**59] * 5 + [0],
        "upper": [1, 1, 1, 1, 1, 2],
        "members": ["", "", "", "", "", "0 1 2 3 4"],
    }
    table = table_from_frame(frame)
    assert table.groups == 1
    assert table.lb[-1] == -INFINITE


def test_finer_units_never_wrap_a_bound_around() -> None:
    large = table_from_frame({"r": ["a", "b"], "value": [3, 4], "ub": [2**59, 9]})
    fine = table_from_frame({"r": ["a", "b"], "value": ["3.000", "4"], "lb": ["2.999", "0"]})
    with pytest.raises(InputError, match="too large for exact arithmetic in their smallest decimal unit"):
        link([large, fine])
