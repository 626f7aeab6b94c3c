"""A column that only looks like a reserved one is refused; taken for a dimension it would publish the primaries."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files.read import read_table
from gpuga.table.builders import table_from_array, table_from_frame

DATA = Path(__file__).parents[1] / "data"
TABLE = {"region": ["a", "a", "b", "b"], "size": ["1", "2", "1", "2"], "value": [5, 6, 7, 9], "status": list("usss")}


def refused(columns: dict[str, list[object]], **options: object) -> str:
    with pytest.raises(InputError) as fault:
        table_from_frame(columns, **options)  # type: ignore[arg-type]
    return str(fault.value)


def test_a_capitalised_status_is_refused_with_all_three_ways_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["protect", str(DATA / "status_capitalised.csv"), "--out", "/dev/null"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    for word in ("status_capitalised.csv, line 1, field Status", "rename", "--dimension Status", "--ignore Status"):
        assert word in said


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Status", "status"),
        ("STATUS", "status"),
        ("status_", "status"),
        ("flag", "status"),
        ("Flag", "status"),
        ("Statut", "status"),
        ("Kennzeichen", "status"),
        ("OBS_STATUS", "status"),
        ("conf_status", "status"),
        ("Vertraulich", "status"),
        ("Sensitive", "sensitive"),
        ("Sensibel", "sensitive"),
        ("Value", "value"),
        ("values", "value"),
        ("Weight", "weight"),
        ("weights", "weight"),
        ("LB", "lb"),
        ("Members", "members"),
        ("Contributor", "contributors"),
    ],
)
def test_other_spellings_and_usual_words_are_refused_whatever_they_hold(name: str, meant: str) -> None:
    said = refused(TABLE | {name: list("wxyz")})
    assert f"field {name}: column {name!r} looks like the reserved column {meant}" in said


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Wert", "value"),
        ("Valeur", "value"),
        ("Valor", "value"),
        ("Waarde", "value"),
        ("OBS_VALUE", "value"),
        ("Gewicht", "weight"),
        ("poids", "weight"),
        ("peso", "weight"),
        ("lowerlevel", "lower"),
        ("Upper Level", "upper"),
        ("lower_bound", "lb"),
        ("Obergrenze", "ub"),
        ("Anzahl", "contributors"),
        ("aantal", "contributors"),
        ("n", "contributors"),
        ("vaule", "value"),
        ("wieght", "weight"),
        ("contributers", None),
        ("contributrs", "contributors"),
    ],
)
def test_words_for_figures_are_refused_where_they_hold_numbers(name: str, meant: str | None) -> None:
    columns = TABLE | {name: ["1", "2.5", "", "1e3"]}
    if meant is None:
        with pytest.raises(InputError, match="is blank"):
            table_from_frame(columns)
    else:
        assert f"looks like the reserved column {meant}" in refused(columns)
    letters = {"region": ["a", "b"], name: ["x", "y"], "value": [1, 2]}
    assert table_from_frame(letters).grid is not None


def test_a_column_of_status_letters_is_refused_whatever_its_name() -> None:
    assert "looks like the reserved column status" in refused(TABLE | {"remark": ["s", "U", "", "z"]})
    assert "looks like the reserved column status" in refused(TABLE | {"remark": ["s", "s", "s", "s"]})
    assert table_from_frame(TABLE | {"sex": list("mfmf")}).grid is not None


def test_the_user_has_the_last_word() -> None:
    columns = {k: v for k, v in TABLE.items() if k != "region"} | {"Flag": ["a", "a", "b", "b"]}
    table = table_from_frame(columns, dimensions=["Flag"])
    assert table.grid is not None
    assert [d.name for d in table.grid.dimensions] == ["size", "Flag"]
    ignored = table_from_frame(TABLE | {"Flag": list("abcd")}, ignore=["Flag"])
    assert ignored.grid is not None
    assert [d.name for d in ignored.grid.dimensions] == ["region", "size"]
    assert table_from_array([[1, 2], [3, 5]], names=["Flag", "n"]).grid is not None


def test_a_numbering_can_be_made_a_dimension() -> None:
    table = table_from_frame({"id": ["a", "b"], "r": ["x", "y"], "value": [1, 2]}, dimensions=["id"])
    assert table.grid is not None
    assert [d.name for d in table.grid.dimensions] == ["id", "r"]


@pytest.mark.parametrize("option", ["ignore", "dimensions"])
@pytest.mark.parametrize("name", ["value", "status", "colour"])
def test_reserved_and_unknown_columns_cannot_be_named(option: str, name: str) -> None:
    said = refused(TABLE, **{option: [name]})
    assert "is reserved" in said if name != "colour" else "no column 'colour'" in said


def test_a_column_is_ignored_or_a_dimension_but_not_both() -> None:
    assert "ignored as well" in refused(TABLE, ignore=["size"], dimensions=["size"])


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"r": ["a", "b"], "Wert": [1, 2]}, "'Wert'"),
        ({"r": ["a", "b"], "VALUE": [1, 2]}, "'VALUE'"),
        ({"r": ["a", "b"], "turnover": ["1", "2.5"], "status": ["u", "s"]}, "'turnover'"),
        ({"year": ["2023", "2024"], "turnover": ["1", "2.5"]}, ""),
    ],
)
def test_where_value_is_missing_the_column_that_was_meant_is_named(
    columns: dict[str, list[object]], named: str
) -> None:
    said = refused(columns)
    assert "has no column value" in said
    assert (f"if column {named} holds the values, rename it" in said) == bool(named)


def test_the_file_names_line_and_field(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("r,value,status,Weights\na,1,u,2\nb,2,s,3\n")
    with pytest.raises(InputError, match=r"t\.csv, line 1, field Weights: column 'Weights' looks like"):
        read_table(tmp_path / "t.csv")
