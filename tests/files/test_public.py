"""What is published shows which cells are suppressed, and nothing else about them."""

from __future__ import annotations

import csv
import io
import json
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files.public import FORMULA, _outward, check_public, note_order, public_content, safe_labels
from gpuga.files.read import read_source
from gpuga.safety.audit import audit

TABLE = """\
region,branch,value,status,lower,upper,lb,ub,weight,contributors,note,cell_number
a,x,20.50,u,5,5,0,99,7,2,secret,1
a,y,30,s,,,0,99,7,5,secret,2
b,x,40,s,,,0,99,7,6,secret,3
b,y,7,z,,,0,99,7,7,secret,4
a,Total,50.50,s,,,0,inf,7,9,secret,5
"""
PATTERN = "region,branch,suppression\na,x,primary\na,y,secondary\nb,x,secondary\nb,y,published\n"
BOX = "r,c,value,status\n{0},x,20,u\n{0},y,30,s\nb,x,40,s\nb,y,50,s\n"
ALL = "cell,suppression\n0,primary\n1,secondary\n2,secondary\n3,secondary\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(TABLE.replace("b,y,7,z", "b,y,70,s"))
    (tmp_path / "p.csv").write_text(PATTERN.replace("b,y,published", "b,y,secondary"))
    return path


def publish(table: Path, *more: str, out: str = "public.csv") -> int:
    ignored = ["--ignore", "note"] if "note" in table.read_text() else []
    words = [str(table), str(table.parent / "p.csv"), "--out", str(table.parent / out), "--quiet", *ignored]
    return run(["publish", *words, *more])


def test_only_dimensions_values_and_one_flag_leave_the_office(table: Path) -> None:
    assert publish(table) == 0
    text = (table.parent / "public.csv").read_text()
    given, added = text.splitlines()[:6], text.splitlines()[6:]
    assert given == ["region,branch,value,flag", "a,x,,c", "a,y,,c", "b,x,,c", "b,y,,c", "a,Total,50.5,"]
    assert sorted(added) == ["Total,Total,160.5,", "Total,x,60.5,", "Total,y,100,", "b,Total,110,"]


def test_the_flag_can_be_chosen(table: Path) -> None:
    assert publish(table, "--flag", "x") == 0
    rows = list(csv.DictReader((table.parent / "public.csv").open()))
    assert [row["flag"] for row in rows[:5]] == ["x", "x", "x", "x", ""]


@pytest.mark.parametrize("flag", ["", " ", "=1", "+", "a\nb", "x" * 21])
def test_flags_that_are_none_are_refused(table: Path, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert publish(table, "--flag", flag) == 2
    assert "--flag" in capsys.readouterr().err


def test_parquet_holds_the_same(table: Path) -> None:
    from decimal import Decimal

    parquet = pytest.importorskip("pyarrow.parquet")
    assert publish(table, out="public.parquet") == 0
    frame = parquet.read_table(table.parent / "public.parquet")
    assert frame.column_names == ["region", "branch", "value", "flag"]
    assert frame.column("value").to_pylist()[:5] == [None, None, None, None, Decimal("50.5")]
    assert frame.column("flag").to_pylist()[:5] == ["c", "c", "c", "c", None]


def test_a_table_of_cells_and_equations_is_published_by_index(tmp_path: Path) -> None:
    table = tmp_path / "t.jj"
    assert run(["generate", "class2", "--rows", "6", "--cols", "6", "--out", str(table), "--quiet"]) == 0
    pattern = tmp_path / "p.csv"
    assert run(["protect", str(table), "--method", "hypercube", "--out", str(pattern), "--quiet"]) == 0
    assert publish(table) == 0
    public = list(csv.DictReader((tmp_path / "public.csv").open()))
    hidden = {row["index"]: row["suppression"] != "published" for row in csv.DictReader(pattern.open())}
    assert list(public[0]) == ["index", "value", "flag"]
    assert [row["index"] for row in public] == list(hidden)
    assert all((row["value"] == "") == (row["flag"] == "c") == hidden[row["index"]] for row in public)


def test_a_cost_that_tells_a_sensitive_value_stays_in_the_office(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Path(__file__).parents[1] / "data" / "cost_tells_a_cell.csv"
    pattern, summary, public = tmp_path / "p.csv", tmp_path / "s.json", tmp_path / "public.csv"
    assert run(["protect", str(table), "--out", str(pattern), "--json", str(summary)]) == 0
    assert capsys.readouterr().out.startswith("CONFIDENTIAL")
    assert run(["publish", str(table), str(pattern), "--out", str(public)]) == 0
    said = capsys.readouterr().out.replace(str(tmp_path), "") + public.read_text()
    content = json.loads(summary.read_text())
    total = next(int(row["value"]) for row in csv.DictReader(public.open()) if row["r"] == row["c"] == "Total")
    assert total - content["cost"] == 13, "published total less cost is the sensitive value"
    assert content["audience"] == "office"
    assert str(content["cost"]) not in said
    assert "13," not in said


def test_an_unsafe_pattern_is_not_published(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (table.parent / "p.csv").write_text("region,branch,suppression\n")
    assert publish(table) == 1
    said = capsys.readouterr().err
    assert "not safe" in said
    assert "cell 0 (region=a, branch=x)" in said
    assert not (table.parent / "public.csv").exists()


def test_a_pattern_that_cannot_be_judged_in_time_is_not_published(tmp_path: Path) -> None:
    table = tmp_path / "t.jj"
    made = ["smith3d", "--shape", "6x5x4", "--sensitive", "0.2", "--zeros", "0.1", "--out", str(table), "--quiet"]
    assert run(["generate", *made]) == 0
    pattern = tmp_path / "p.csv"
    assert run(["protect", str(table), "--method", "hypercube", "--out", str(pattern), "--quiet"]) == 0
    assert publish(table, "--seconds", "1e-9") == 1
    assert not (tmp_path / "public.csv").exists()
    assert publish(table) == 0


@pytest.mark.parametrize("name", ["public.ods", "public", "public.txt", "p.csv", "t.csv"])
def test_names_of_other_kinds_and_of_inputs_are_refused(table: Path, name: str) -> None:
    before = table.read_text()
    assert publish(table, out=name) == 2
    assert table.read_text() == before


@pytest.mark.parametrize("label", ['=HYPERLINK("http://x")', "+1", "-1", "@x", "＝1"])
def test_no_label_is_a_formula_in_a_spreadsheet(label: str, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    quoted = '"' + label.replace('"', '""') + '"'
    table.write_text(BOX.format(quoted))
    (tmp_path / "p.csv").write_text(ALL)
    assert publish(table) == 0
    rows = list(csv.reader((tmp_path / "public.csv").open(encoding="utf-8", newline="")))
    assert rows[1][0] == f"'{label}"
    table.write_text(BOX.format(quoted).replace("r,c,", f"{quoted},c,"))
    assert publish(table) == 0
    assert (tmp_path / "public.csv").read_text(encoding="utf-8").startswith(("'", "\"'"))


def test_labels_that_an_apostrophe_would_make_equal_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text(BOX.format("=b").replace("\nb,", "\n'=b,"))
    (tmp_path / "p.csv").write_text(ALL)
    assert publish(table) == 2
    assert "apostrophe" in capsys.readouterr().err


def test_a_dimension_called_flag_leaves_no_room_for_the_flags(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(BOX.format("a").replace("r,c,", "flag,c,"))
    (tmp_path / "p.csv").write_text(ALL)
    assert publish(table) == 2
    source = read_source(table, dimensions=["flag"])
    for name in ("public.csv", "public.parquet"):
        with pytest.raises(
            InputError, match="the dimension flag has the name of a column of the public table"
        ) as fault:
            public_content(source, source.table.forced, name)
        assert fault.value.path == table


def test_a_group_is_not_published(tmp_path: Path) -> None:
    table, pattern = tmp_path / "t.csv", tmp_path / "p.csv"
    cells = "a,x,10,u,2,2,\na,y,12,u,2,2,\na,z,40,s,,,\nb,x,30,s,,,\nb,y,35,s,,,\nb,z,50,s,,,\n"
    table.write_text(f"r,c,value,status,lower,upper,members\n{cells},,22,u,5,5,0 1\n")
    assert run(["protect", str(table), "--method", "hypercube", "--out", str(pattern), "--quiet"]) == 0
    assert publish(table) == 0
    rows = list(csv.reader((tmp_path / "public.csv").open()))
    assert rows[0] == ["r", "c", "value", "flag"]
    assert len(rows) == 1 + 6 + 6
    assert all(row[0] and row[1] and (row[2] == "") == (row[3] == "c") for row in rows[1:])


def test_rows_that_are_sorted_by_value_are_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "t.csv"
    table.write_text(BOX.format("a"))
    (tmp_path / "p.csv").write_text(ALL)
    assert publish(table) == 0
    assert "sorted by value" in capsys.readouterr().err
    table.write_text(BOX.format("a").replace("b,y,50", "b,y,40"))
    assert publish(table) == 0
    assert "sorted by value" not in capsys.readouterr().err, "few values are often sorted by chance"
    table.write_text(BOX.format("a").replace("b,x,40", "b,x,10"))
    assert publish(table) == 0
    assert "sorted by value" not in capsys.readouterr().err


STARTS = st.sampled_from([*FORMULA, "'", '"', " ", "a"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(
        st.tuples(STARTS, st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)).map("".join),
        min_size=2,
        max_size=6,
        unique_by=lambda text: text.strip().lstrip("'"),
    ).filter(lambda names: not {name.strip() for name in names} & {"", "Total"})
)
def test_no_label_at_all_is_a_formula_and_none_is_lost(names: list[str], tmp_path: Path) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerows(
        [["label", "value"], *([name, 7**at] for at, name in enumerate(names))]
    )
    (tmp_path / "t.csv").write_bytes(out.getvalue().encode("utf-8"))
    source = read_source(tmp_path / "t.csv")
    content = public_content(source, source.table.forced, "public.csv")
    assert isinstance(content, str)
    rows = list(csv.reader(io.StringIO(content, newline="")))[1 : len(names) + 1]
    assert not any(row[0].startswith(FORMULA) for row in rows)
    assert all(row[0] in (name.strip(), f"'{name.strip()}") for row, name in zip(rows, names, strict=True))


def order_is_noted(values: list[int], hidden: int = 0) -> bool:
    table: Any = SimpleNamespace(value=np.array([*values, 99, 1, 50]), given=len(values))  # added totals do not count
    suppressed = np.arange(len(table.value)) == hidden
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        note_order(table, suppressed)
    return any("sorted by value" in str(one.message) for one in said)


def test_an_order_by_value_is_noted_whichever_way_it_runs() -> None:
    assert order_is_noted([1, 2, 3, 4])
    assert order_is_noted([4, 3, 2, 1])
    assert order_is_noted([1, 2, 2, 3, 4])
    assert order_is_noted([9, 7, 7, 5, 3])
    assert not order_is_noted([1, 2, 3])
    assert not order_is_noted([1, 2, 2, 3, 3])
    assert not order_is_noted([1, 2, 4, 3])
    assert not order_is_noted([2, 1, 3, 4])
    assert not order_is_noted([9, 10, 7, 5, 3])
    assert not order_is_noted([3, 5, 7, 6, 9])
    assert not order_is_noted([1, 2, 3, 4], hidden=-1)  # nothing is suppressed


@pytest.mark.parametrize(
    ("flag", "good"),
    [("c", True), ("x" * 20, True), ("x" * 21, False), (" ", False), ("", False), ("=c", False), ("c=", True),
     ("a b", True), ("c\n", False), ("@", False), ("'c", True)],
)  # fmt: skip
def test_a_flag_is_one_to_twenty_printable_characters_and_no_formula(flag: str, good: bool) -> None:
    if good:
        check_public("p.csv", flag)
        check_public("p.PARQUET", flag)
    else:
        with pytest.raises(InputError, match="is no flag") as fault:
            check_public("p.csv", flag)
        assert fault.value.field == "--flag"


@pytest.mark.parametrize(("name", "kind"), [("p.jj", r"\.jj"), ("p", "a file of no kind"), ("p.tsv", r"\.tsv")])
def test_public_tables_are_of_four_kinds(name: str, kind: str) -> None:
    with pytest.raises(InputError, match=rf"written as one of \.csv, \.xlsx, \.parquet, \.tab, not as {kind}"):
        check_public(name, "c")


def test_labels_are_made_safe_and_told_apart() -> None:
    path = Path("t.csv")
    assert safe_labels(["=a", "b", "'c"], path, "r") == ["'=a", "b", "'c"]
    assert safe_labels(("a", "a"), path, "r") == ["a", "a"]
    with pytest.raises(InputError, match="differ in nothing but an apostrophe") as fault:
        safe_labels(["=a", "'=a"], path, "r")
    assert (fault.value.path, fault.value.field) == (path, "r")


def attacked(public: Path, columns: tuple[str, str]) -> dict[tuple[str, ...], tuple[float, float]]:
    """What anybody can compute of the blanks of a two-way table with totals, from the public file and nothing else."""
    from scipy.optimize import linprog

    rows = list(csv.DictReader(public.open(encoding="utf-8", newline="")))
    place = {tuple(row[c] for c in columns): at for at, row in enumerate(rows)}
    equations = []
    for axis in (0, 1):
        for line in {key[1 - axis] for key in place}:
            signs = np.zeros(len(rows))
            for key, at in place.items():
                if key[1 - axis] == line:
                    signs[at] = -1 if key[axis] == "Total" else 1
            equations.append(signs)
    bounds = [(float(row["value"]),) * 2 if row["value"] else (0, None) for row in rows]
    found = {}
    for key, at in place.items():
        if not rows[at]["value"]:
            ends = []
            for sign in (1, -1):
                objective = np.zeros(len(rows))
                objective[at] = sign
                solved = linprog(objective, A_eq=np.array(equations), b_eq=np.zeros(len(equations)), bounds=bounds)
                ends.append(sign * solved.fun if solved.status == 0 else sign * -np.inf)
            found[key] = (ends[0], ends[1])
    return found


@pytest.fixture
def protected(tmp_path: Path) -> Path:
    """A table of 8 by 7 with a tenth of its cells sensitive, protected."""
    values = np.random.default_rng(3).integers(1, 400, (8, 7))
    lines = [f"r{i},c{j},{v},{'u' if (i * 7 + j) % 10 == 3 else 's'}" for (i, j), v in np.ndenumerate(values)]
    (tmp_path / "t.csv").write_text("\n".join(["r,c,value,status", *lines]) + "\n")
    words = [str(tmp_path / "t.csv"), "--method", "hypercube", "--out", str(tmp_path / "p.csv"), "--quiet"]
    assert run(["protect", *words]) == 0
    return tmp_path / "t.csv"


def test_an_attacker_with_the_public_file_stays_outside_every_level(protected: Path) -> None:
    assert publish(protected, "--intervals") == 0
    public = protected.parent / "public.csv"
    reach = attacked(public, ("r", "c"))
    table = read_source(protected).table
    assert table.grid is not None
    for cell in table.sensitive.tolist():
        key = tuple(d.codes[c] for d, c in zip(table.grid.dimensions, table.grid.coordinate[cell], strict=True))
        low, high = reach[key]
        value, lower, upper = (
            x / table.scale for x in (table.value[cell], table.levels.lower[cell], table.levels.upper[cell])
        )
        assert low <= value - lower + 1e-6
        assert high >= value + upper - 1e-6


def test_published_intervals_are_those_that_anybody_can_compute_and_no_narrower(protected: Path) -> None:
    assert publish(protected, "--intervals") == 0
    public = protected.parent / "public.csv"
    rows = list(csv.DictReader(public.open()))
    assert list(rows[0]) == ["r", "c", "value", "flag", "low", "high"]
    reach = attacked(public, ("r", "c"))
    for row in rows:
        if row["value"]:
            assert row["low"] == row["high"] == ""
        else:
            low, high = reach[row["r"], row["c"]]
            shown = float(row["low"]), float(row["high"] or "inf")
            assert low - 1 < shown[0] <= low + 1e-6
            assert high - 1e-6 <= shown[1] < high + 1 or shown[1] == high


def test_intervals_are_rounded_outwards_and_blank_without_limit() -> None:
    assert _outward((Fraction(1, 3), Fraction(2, 3)), 1) == ("0.3", "0.7")
    assert _outward((Fraction(-1, 3), Fraction(5)), 0) == ("-1", "5")
    assert _outward((None, None), 2) == ("", "")


def test_intervals_that_are_not_known_exactly_are_not_published(
    protected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsure(*asked: Any, **more: Any) -> Any:
        found = audit(*asked, **more)
        cells = (replace(found.cells[0], exact=not found.intervals), *found.cells[1:])
        return replace(found, cells=cells)

    monkeypatch.setattr("gpuga.safety.audit.audit", unsure)
    assert publish(protected, "--intervals") == 1
    assert not (protected.parent / "public.csv").exists()
    assert publish(protected) == 0


def sdmx(table: Path, *more: str) -> list[dict[str, str]]:
    assert publish(table, "--sdmx", *more) == 0
    return list(csv.DictReader((table.parent / "public.csv").open()))


def test_codes_of_the_data_exchange_are_added_on_request(table: Path) -> None:
    rows = sdmx(table)
    assert list(rows[0]) == ["region", "branch", "value", "flag", "OBS_STATUS", "CONF_STATUS"]
    assert [row["OBS_STATUS"] + row["CONF_STATUS"] for row in rows[:5]] == ["QC", "QD", "QD", "QD", "AF"]
    assert [row["CONF_STATUS"] for row in sdmx(table, "--primary-code", "O")[:2]] == ["O", "D"]


def test_a_single_code_does_not_tell_primaries_from_secondaries(table: Path) -> None:
    rows = sdmx(table, "--single-code")
    assert {row["CONF_STATUS"] for row in rows if row["flag"]} == {"C"}
    assert {row["CONF_STATUS"] for row in rows if not row["flag"]} == {"F"}


@pytest.mark.parametrize(
    "options", [["--single-code"], ["--primary-code", "A"], ["--sdmx", "--single-code", "--primary-code", "A"]]
)
def test_codes_that_contradict_each_other_are_refused(table: Path, options: list[str]) -> None:
    assert publish(table, *options) == 2


def test_a_workbook_holds_the_same_and_runs_nothing(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    table = tmp_path / "t.csv"
    table.write_text(BOX.format("=1+1"))
    (tmp_path / "p.csv").write_text(ALL)
    assert publish(table, out="public.xlsx") == 0
    rows = list(openpyxl.load_workbook(tmp_path / "public.xlsx").active.iter_rows())
    assert [cell.value for cell in rows[0]] == ["r", "c", "value", "flag"]
    assert [(cell.value, cell.data_type) for cell in rows[1]] == [("=1+1", "s"), ("x", "s"), (None, "n"), ("c", "s")]
    assert {cell.data_type for row in rows for cell in row} <= {"s", "n"}
    assert [row[2].value for row in rows[5:] if not row[3].value]


def public_text(folder: Path, values: tuple[int, ...], first: str) -> str:
    """A table by three dimensions, all inner cells suppressed, the first or the last of them sensitive."""
    folder.mkdir()
    cells = ["a,x,1", "a,x,2", "a,y,1", "a,y,2", "b,x,1", "b,x,2", "b,y,1", "b,y,2"]
    marks = ["u" if at == (0 if first == "first" else 7) else "s" for at in range(8)]
    rows = [f"{cell},{value},{mark}" for cell, value, mark in zip(cells, values, marks, strict=True)]
    (folder / "t.csv").write_text("\n".join(["r,c,d,value,status", *rows]) + "\n")
    (folder / "p.csv").write_text("cell,suppression\n" + "".join(f"{at},secondary\n" for at in range(8)))
    assert publish(folder / "t.csv", "--intervals", "--levels", "5%") == 0
    return (folder / "public.csv").read_text()


def test_tables_that_differ_in_suppressed_cells_only_are_published_alike(tmp_path: Path) -> None:
    some = public_text(tmp_path / "some", (90, 200, 300, 400, 500, 600, 700, 800), "first")
    others = public_text(tmp_path / "others", (101, 189, 289, 411, 489, 611, 711, 789), "last")
    assert some == others, "though the one is taken for a table of counts, whose sensitive cells are small"
