"""Bounds are kept exactly or refused; a bound that was dropped would make exposed cells look safe."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpuga
from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files.read import read_table, write_table
from gpuga.table import INFINITE
from gpuga.table.builders import link, table_from_frame

DATA = Path(__file__).parents[1] / "data"
JJ = "0\n3\n0 5 5 u 0 {ub} 1 1 0\n1 7 7 s {lb} 100 0 0 0\n2 12 12 s 0 100 0 0 0\n1\n0 3 : 2 (-1) 0 (1) 1 (1)\n"


def test_a_bound_that_does_not_fit_at_15_decimals_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["expose", str(DATA / "bound_at_15_decimals.csv")]) == 2
    said = capsys.readouterr().err
    assert "bound_at_15_decimals.csv, line 2, field ub: is too large a bound" in said
    assert "1153" not in said


def test_the_same_bound_at_3_decimals_exposes_the_cell() -> None:
    table = read_table(DATA / "bound_at_3_decimals.csv")
    assert table.ub[0] == 1_153_500
    assert not gpuga.audit(table, table.suppressible).safe


@pytest.mark.parametrize("none", ["inf", "+Infinity", "1e20", "1" + "0" * 20, "10000000000000000000"])
def test_no_bound_is_written_in_words_or_as_ten_to_the_twentieth(none: str, tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(JJ.format(ub=none, lb="-" + none.removeprefix("+")))
    table = read_table(tmp_path / "t.jj")
    assert (table.ub[0], table.lb[1]) == (INFINITE, -INFINITE)
    write_table(table, tmp_path / "again.jj")
    assert f"u 0 1{'0' * 20} 1" in (tmp_path / "again.jj").read_text()


@pytest.mark.parametrize("bound", [2**60, 2**62, 2**63 - 1, 10**19 - 1, "9e18", "1152921504606846976.0"])
def test_a_jj_bound_beyond_arithmetic_is_refused_with_its_line(bound: object, tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(JJ.format(ub=bound, lb=0))
    with pytest.raises(InputError, match=r"t\.jj, line 3, field ub: is too large a bound"):
        read_table(tmp_path / "t.jj")


def test_the_largest_bound_is_kept(tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(JJ.format(ub=2**60 - 1, lb=1 - 2**60))
    table = read_table(tmp_path / "t.jj")
    assert (int(table.ub[0]), int(table.lb[1])) == (2**60 - 1, 1 - 2**60)


def test_finer_units_never_wrap_a_bound_around() -> None:
    large = table_from_frame({"r": ["a", "b"], "value": [3, 4], "ub": [2**59, 9]})
    fine = table_from_frame({"r": ["a", "b"], "value": ["3.000", "4"], "lb": ["2.999", "0"]})
    with pytest.raises(InputError, match="too large for exact arithmetic in the finest unit"):
        link([large, fine])
