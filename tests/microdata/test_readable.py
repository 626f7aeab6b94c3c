"""Records are read as Europe writes them: encodings, separators, decimal commas, thousands, workbooks."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files.notation import Written
from gpuga.microdata import Layout, Tabulation, parse_rule, tabulate
from gpuga.microdata.readable import PIECE, readable_copy
from gpuga.microdata.records import Records

pytest.importorskip("duckdb")

HEADER = ["Straße", "firm", "turnover"]
VALUES = [1234.5, 20.25, 300, 4000000, 0.5, 7]


def text(separator: str = ",", decimal: str = ".", thousands: str = "") -> str:
    def number(value: float) -> str:
        return f"{value:,.2f}".replace(",", "T").replace(".", decimal).replace("T", thousands)

    rows = [[f"Süd{i % 2}", f"f{i}", number(value)] for i, value in enumerate(VALUES)]
    quoted = [[f'"{field}"' if separator in field else field for field in row] for row in [HEADER, *rows]]
    return "\n".join(separator.join(row) for row in quoted) + "\n"


def tabulated(path: Path, **written: str) -> Tabulation:
    return tabulate(path, Layout(("Straße",), "turnover"), [parse_rule("frequency:1")], written=Written(**written))


WAYS = [(e, s, d, t) for e, (s, d, t) in itertools.product(
    ("utf-8", "utf-8-sig", "cp1252", "utf-16"),
    ((",", ".", ""), (";", ",", "."), (";", ",", " "), ("\t", ",", "\u00a0"), (",", ",", "."), ("|", ".", "'")),
)]  # fmt: skip


@pytest.mark.filterwarnings("ignore:numbers are read with", "ignore:r.csv is")
@pytest.mark.parametrize(("encoding", "separator", "decimal", "thousands"), WAYS)
def test_the_same_records_make_the_same_table(
    encoding: str, separator: str, decimal: str, thousands: str, tmp_path: Path
) -> None:
    (tmp_path / "r.csv").write_bytes(text(separator, decimal, thousands).encode(encoding))
    table = tabulated(tmp_path / "r.csv")
    assert table.grid.dimensions[0].codes == ("Süd0", "Süd1", "Total")
    assert sorted(int(v) for v in table.value) == expected(table.scale)


def expected(scale: int) -> list[int]:
    even, odd = sum(VALUES[0::2]), sum(VALUES[1::2])
    return sorted(round(v * scale) for v in (even, odd, even + odd))


def test_what_is_unclear_is_asked_with_file_and_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.csv").write_text("region;turnover\na;1.234\nb;2.345\n")
    words = ["tabulate", str(tmp_path / "r.csv"), "--by", "region", "--value", "turnover", "--rule", "frequency:1"]
    words += ["--out", str(tmp_path / "t.csv")]
    assert run([*words, "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "r.csv" in said
    assert "--decimal point or --decimal comma" in said
    assert run([*words, "--quiet", "--decimal", "comma"]) == 0
    assert "a,1234," in (tmp_path / "t.csv").read_text()
    assert run([*words, "--quiet", "--decimal", "point"]) == 0
    assert "a,1.234," in (tmp_path / "t.csv").read_text()


def test_what_is_found_out_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.csv").write_bytes("region;turnover\nSüd;12,5\nNord;2,25\n".encode("cp1252"))
    words = ["tabulate", str(tmp_path / "r.csv"), "--by", "region", "--value", "turnover", "--rule", "frequency:1"]
    assert run([*words, "--out", str(tmp_path / "t.csv"), "--quiet"]) == 0
    notes = capsys.readouterr().err.splitlines()
    assert len(notes) == 2
    assert "Windows-1252" in notes[0]
    assert "decimal comma" in notes[1]


def test_a_number_in_another_notation_far_below_is_refused_with_its_line(tmp_path: Path) -> None:
    rows = "a;12,5\n" * 500
    (tmp_path / "r.csv").write_text(f"Straße;turnover\n{rows}a;12.5\n")
    with pytest.raises(InputError, match="another way"):
        tabulated(tmp_path / "r.csv")
    with pytest.raises(InputError, match="line 502, field turnover: is not a number with decimal comma"):
        tabulated(tmp_path / "r.csv", decimal="comma")


def test_pieces_are_cut_anywhere(tmp_path: Path) -> None:
    whole = "x,y\n" + "ä€\U0001f600," * (PIECE // 8) + "\n"
    for encoding in ("utf-16", "utf-8"):
        (tmp_path / "r.csv").write_bytes(whole.encode(encoding))
        copy = readable_copy(tmp_path / "r.csv", Written(encoding=encoding), tmp_path)
        assert copy.read_text(encoding="utf-8") == whole
        assert (copy == tmp_path / "r.csv") == (encoding == "utf-8")


def test_bytes_without_a_meaning_are_refused_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(b"a,b\n1,2\n\x81,3\n")
    with pytest.warns(UserWarning, match="Windows-1252"), pytest.raises(InputError, match="line 3: is not cp1252 text"):
        Records(tmp_path / "r.csv")


def test_a_sheet_of_records_is_tabulated(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (HEADER, *([f"Süd{i % 2}", f"f{i}", value] for i, value in enumerate(VALUES))):
        book.active.append(row)
    book.save(tmp_path / "r.xlsx")
    table = tabulated(tmp_path / "r.xlsx")
    assert sorted(int(v) for v in table.value) == expected(table.scale)


def test_the_summary_says_which_rule_fired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.csv").write_text("region,turnover\na,100\na,1\nb,5\nb,5\nb,5\nb,5\n")
    words = [str(tmp_path / "r.csv"), "--by", "region", "--value", "turnover", "--out", str(tmp_path / "t.csv")]
    rules = ["--rule", "frequency:3", "--rule", "p:10", "--rule", "nk:1,80"]
    assert run(["tabulate", *words, *rules]) == 0
    said = capsys.readouterr().out
    assert "primaries: 2 (66.7 % of the cells)" in said
    assert said.splitlines()[-3:] == [
        "rule frequency:3: 1 primaries",
        "rule p:10: 1 primaries",
        "rule nk:1,80: 2 primaries",
    ]
