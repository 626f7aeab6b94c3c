"""A pivot table is the long table that it stands for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files.notation import Written
from gpuga.files.read import read_table
from gpuga.files.wide import long_text

WIDE = "region;A;B;Total\nNord;1.234,5;20,5 u;1.255\nSüd;410;7z;417\nWest;;5;5\n"


def long(text: str, *dimensions: str) -> list[str]:
    return long_text(text, Path("t.csv"), Written(wide="nace"), dimensions).text.splitlines()


@pytest.mark.filterwarnings("ignore:numbers are read with")
def test_every_entry_is_a_cell_with_its_status_and_blanks_are_none() -> None:
    assert long(WIDE) == [
        "region,nace,value,status",
        "Nord,A,1234.5,", "Nord,B,20.5,u", "Nord,Total,1255,",
        "Süd,A,410,", "Süd,B,7,z", "Süd,Total,417,",
        "West,B,5,", "West,Total,5,",
    ]  # fmt: skip


def test_a_column_of_numbers_can_be_a_label() -> None:
    assert long("year,A\n2024,5\n", "year") == ["year,nace,value,status", "2024,A,5,"]
    with pytest.raises(InputError, match="is not a wide table"):
        long("year,A\n2024,5\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("r,A,value\nx,1,2\n", "no column value"),
        ("nace,A\nx,1\n", "name of another column"),
        ("r,A\nx,q\n", "not a wide"),
    ],
)
def test_what_is_no_pivot_table_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        long(text)


def test_a_pivot_table_is_protected_as_the_long_one_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide, pattern = tmp_path / "t.csv", tmp_path / "p.csv"
    wide.write_text("region;A;B;C\nNord;100;20,5 u;30\nSüd;410;70;41\nWest;31;59;5\n", encoding="cp1252")
    assert run(["protect", str(wide), "--out", str(pattern), "--method", "hypercube"]) == 2
    assert "--wide NAME" in capsys.readouterr().err
    words = ["--wide", "nace"]
    assert run(["protect", str(wide), "--out", str(pattern), "--method", "hypercube", *words]) == 0
    assert run(["audit", str(wide), str(pattern), *words]) == 0
    lines = pattern.read_text().splitlines()
    assert lines[0] == "region,nace,value,status,suppression"
    assert "Nord,B,,u,primary" in lines
    assert run(["publish", str(wide), str(pattern), "--out", str(tmp_path / "public.csv"), *words]) == 0


def test_faults_name_the_line_and_the_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("r,A,B,Total\nx,1,2,3\n\ny,4,5,10\n")
    with pytest.raises(InputError, match="does not add up") as fault:
        read_table(tmp_path / "t.csv", wide="c")
    assert (fault.value.line, fault.value.field) == (4, "Total")


VALUES = st.lists(st.lists(st.integers(0, 10**6), min_size=3, max_size=3), min_size=2, max_size=4)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=VALUES)
def test_wide_and_long_are_the_same_table(values: list[list[int]], tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(
        "r,A,B,C\n" + "".join(f"r{i},{','.join(map(str, row))}\n" for i, row in enumerate(values))
    )
    (tmp_path / "long.csv").write_text(
        "r,c,value\n"
        + "".join(f"r{i},{c},{v}\n" for i, row in enumerate(values) for c, v in zip("ABC", row, strict=True))
    )
    chance = {"coincidences": {"r": [f"r{i}" for i in range(len(values))], "c": ["A", "B", "C"]}}
    one = read_table(tmp_path / "wide.csv", wide="c", **chance)  # type: ignore[arg-type]
    other = read_table(tmp_path / "long.csv", **chance)  # type: ignore[arg-type]
    assert one.value.tolist() == other.value.tolist()
    assert one.status.tolist() == other.status.tolist()
