"""What is read can be written and read again, without loss and without leaking suppressed figures."""

from __future__ import annotations

import csv
import io
import random
import stat
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuga.errors import InputError
from gpuga.files.atomic import write_whole
from gpuga.files.hrc import read_hierarchy, write_hierarchy
from gpuga.files.pattern import read_pattern
from gpuga.files.read import read_source, read_table, write_table
from gpuga.table import Status, Table
from gpuga.table.generate import class2, herrington, smith3d
from tests.support.patterns import write_pattern

CSPLIB = Path(__file__).parents[2].parent / "shared" / "data" / "csplib"
TURNOVER = (
    "region;activity;value;status;note\n"
    '"=1+1";"a ""quoted"" one";12.50;u;first\n'
    "=1+1;y;7;s;second\n"
    'süd;a ""quoted"" one;11.25;s;\n'
    "süd;y;13;s;\n"
).replace('a ""quoted"" one;11.25', '"a ""quoted"" one";11.25')


def same(one: Table, other: Table) -> bool:
    arrays = [
        (one.value * other.scale, other.value * one.scale),
        (one.weight * other.weight_scale, other.weight * one.weight_scale),
        (one.status, other.status),
        (one.lines.start, other.lines.start),
        (one.lines.cell, other.lines.cell),
        *zip(vars(one.levels).values(), vars(other.levels).values(), strict=True),
    ]
    return all(np.array_equal(a, b) for a, b in arrays)


@pytest.mark.parametrize("suffix", [".jj", ".csv", ".parquet", ".xlsx"])
@pytest.mark.parametrize(
    "table",
    [class2(7, 5, 3), herrington(6, 8, 0.1, 2), smith3d((5, 9, 4), 0.2, 0.1, 1)],
    ids=lambda t: t.name,
)
def test_a_written_table_reads_back_the_same(table: Table, suffix: str, tmp_path: Path) -> None:
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
    write_table(table, tmp_path / f"t{suffix}")
    assert same(table, read_table(tmp_path / f"t{suffix}"))


def test_a_hierarchical_table_reads_back_the_same(tmp_path: Path) -> None:
    table = smith3d((5, 16, 4), 0.2, 0.1, 1, hierarchical=2)
    assert table.grid is not None
    write_table(table, tmp_path / "t.csv")
    write_hierarchy(table.grid.dimensions[1], tmp_path / "c.hrc")
    again = read_table(tmp_path / "t.csv", hierarchies={"column": tmp_path / "c.hrc"})
    assert len(again.lines) == len(table.lines)
    assert np.array_equal(again.value, table.value)


@pytest.mark.parametrize("name", ["targus", "table7", "hie1372d", "hie1327d", "hier13", "ninenew", "osorio", "dale"])
def test_real_jj_instances_read_and_write_byte_for_byte(name: str, tmp_path: Path) -> None:
    """The instances of the field's library where it lies beside the clone, else tables written in the same way."""
    path = CSPLIB / f"{name}.jj"
    if not path.exists():
        path = tmp_path / "like-the-library.jj"
        path.write_text(like_the_library(random.Random(name)))
    write_table(read_table(path), tmp_path / "again.jj")
    assert (tmp_path / "again.jj").read_text() == path.read_text()


def like_the_library(drawn: random.Random) -> str:
    """Cells of three linked sums in the library's own spelling: decimals, all statuses, bounds, a sliding level."""
    parts = [drawn.randrange(1, 5000) for _ in range(6)]
    values = [*parts, sum(parts[:3]), sum(parts[3:]), sum(parts)]
    lines = ["0", str(len(values))]
    for cell, value in enumerate(values):
        status = drawn.choice("ssuzm")
        levels = [drawn.randrange(1, value // 2 + 2) if status == "u" else 0 for _ in range(3)]
        figures = [value, drawn.randrange(1, 100), status, 0, value + drawn.randrange(0, 900), *levels]
        lines.append(" ".join(map(str, [cell, *figures])))
    sums = ["6 (-1) 0 (1) 1 (1) 2 (1)", "7 (-1) 3 (1) 4 (1) 5 (1)", "8 (-1) 6 (1) 7 (1)"]
    lines += [str(len(sums)), *(f"0 {words.count('(')} : {words}" for words in sums)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_matter(line_end: str, mark: str, tmp_path: Path) -> None:
    text = (mark + "r,value\na,5\nb,6\n").replace("\n", line_end)
    (tmp_path / "t.csv").write_bytes(text.encode("utf-8"))
    assert read_table(tmp_path / "t.csv").value.tolist() == [5, 6, 11]


def test_a_pattern_keeps_rows_and_labels_and_hides_figures(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TURNOVER, encoding="utf-8")
    source = read_source(tmp_path / "t.csv", ignore=["note"])
    table = source.table
    suppressed = table.forced.copy()
    suppressed[3] = True
    write_pattern(source, suppressed, tmp_path / "p.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "p.csv").read_text()), delimiter=";"))
    assert rows[0] == ["region", "activity", "value", "status", "note", "suppression"]
    assert rows[1] == ["=1+1", 'a "quoted" one', "", "u", "", "primary"]
    assert rows[2] == ["=1+1", "y", "7", "s", "second", "published"]
    assert rows[4] == ["süd", "y", "", "s", "", "secondary"]
    assert [row[:2] for row in rows[5:]][-1] == ["Total", "Total"]
    assert len(rows) == 1 + len(table)
    assert np.array_equal(read_pattern(source, tmp_path / "p.csv"), suppressed)


def test_figures_that_give_a_value_away_are_hidden_too(tmp_path: Path) -> None:
    text = "r,value,weight,lower,upper,sliding,lb,ub,contributors,status\n"
    text += "a,50,51,52,53,54,40,60,57,u\nb,6,1,,,,,,9,s\n"
    (tmp_path / "t.csv").write_text(text)
    source = read_source(tmp_path / "t.csv")
    write_pattern(source, source.table.forced, tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text().splitlines()[1] == "a,,,,,,,,,u,primary"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_figure_of_a_suppressed_total_that_was_added_is_not_written(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("r,c,value,status\na,x,4321,u\na,y,5006,s\nb,x,11,s\nb,y,12,s\n")
    read = read_source(tmp_path / "t.csv")
    if suffix == ".parquet":
        write_table(read.table, tmp_path / "whole.parquet")
        shorter(tmp_path / "whole.parquet", tmp_path / "t.parquet", 4)
        read = read_source(tmp_path / "t.parquet")
    table = read.table
    suppressed = table.forced | (table.value == 9327 * table.scale)
    assert suppressed.sum() == 2
    write_pattern(read, suppressed, tmp_path / f"p{suffix}")
    shown = values_of(tmp_path / f"p{suffix}")
    assert "4321" not in shown
    assert "9327" not in shown
    assert "4332" in shown  # the other totals that were added are
    assert np.array_equal(read_pattern(read, tmp_path / f"p{suffix}"), suppressed)


def shorter(path: Path, out: Path, rows: int) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path).slice(0, rows), out)


def values_of(path: Path) -> list[str]:
    """The column `value` of a pattern, as texts."""
    if path.suffix == ".parquet":
        import pyarrow.parquet

        return [str(v) for v in pyarrow.parquet.read_table(path).column("value").to_pylist()]
    with open(path, newline="") as file:
        return [row["value"] for row in csv.DictReader(file)]


def test_ignored_columns_of_suppressed_cells_are_hidden_in_parquet_too(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    frame = pyarrow.table({"r": ["a", "b"], "value": [50, 6], "note": ["it is 50", "fine"], "status": ["u", "s"]})
    pyarrow.parquet.write_table(frame, tmp_path / "t.parquet")
    source = read_source(tmp_path / "t.parquet", ignore=["note"])
    write_pattern(source, source.table.forced, tmp_path / "p.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "p.parquet").column("note").to_pylist() == [None, "fine", None]


def test_a_jj_pattern_names_cells_by_their_index(tmp_path: Path) -> None:
    text = "0\n3\n7 5 5 u 0 100 1 1 0\n3 7 7 s 0 100 0 0 0\n9 12 12 s 0 100 0 0 0\n1\n0 3 : 9 (-1) 7 (1) 3 (1)\n"
    (tmp_path / "t.jj").write_text(text)
    source = read_source(tmp_path / "t.jj")
    suppressed = np.array([True, False, True])
    write_pattern(source, suppressed, tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text() == "index,suppression\n7,primary\n3,published\n9,secondary\n"
    assert np.array_equal(read_pattern(source, tmp_path / "p.csv"), suppressed)


def test_a_parquet_pattern_is_parquet_with_nulls(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    frame = pyarrow.table(
        {"r": ["a", "b"], "value": pyarrow.array([Decimal("1.50"), Decimal("2.25")]), "status": ["u", "s"]}
    )
    pyarrow.parquet.write_table(frame, tmp_path / "t.parquet")
    source = read_source(tmp_path / "t.parquet")
    assert (source.table.value // 100).tolist() == [150, 225, 375]
    write_pattern(source, source.table.forced, tmp_path / "p.parquet")
    pattern = pyarrow.parquet.read_table(tmp_path / "p.parquet").to_pydict()
    assert pattern["value"] == [None, Decimal("2.25"), Decimal("3.75")]
    assert pattern["r"] == ["a", "b", "Total"]
    assert pattern["suppression"] == ["primary", "published", "published"]
    assert read_pattern(source, tmp_path / "p.parquet").tolist() == [True, False, False]


def test_a_short_pattern_names_only_what_is_suppressed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("r,value,status\na,5,u\nb,6,s\nc,7,s\n")
    source = read_source(tmp_path / "t.csv")
    (tmp_path / "p.csv").write_text("index,suppression\n2,secondary\n")
    assert read_pattern(source, tmp_path / "p.csv").tolist() == [True, False, True, False]
    (tmp_path / "q.csv").write_text("r,suppression\nTotal,secondary\n")
    assert read_pattern(source, tmp_path / "q.csv").tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("r,value\na,5\n", "no column suppression"),
        ("r,suppression\na,hidden\n", "line 2"),
        ("r,suppression\nplanet,secondary\n", "not a cell of the table"),
        ("index,suppression\n99,secondary\n", "not a cell of the table"),
        ("r,suppression\na,primary\na,primary\n", "line 3"),
        ("suppression\nprimary\n", "1 rows"),
    ],
)
def test_a_pattern_of_another_table_is_refused(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("r,value,status\na,5,u\nb,6,s\nc,7,s\n")
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InputError, match=expected):
        read_pattern(read_source(tmp_path / "t.csv"), tmp_path / "p.csv")


def test_a_combination_of_codes_that_is_no_cell_is_not_taken_for_another(tmp_path: Path) -> None:
    """Both codes are known, and the table has no cell where they meet."""
    (tmp_path / "t.csv").write_text("r,c,value,status\na,x,5,u\na,y,7,s\nb,y,9,s\nc,x,2,s\n")
    source = read_source(tmp_path / "t.csv")
    grid = source.table.grid
    assert grid is not None
    cells = {tuple(row) for row in grid.coordinate.tolist()}
    missing = [(r, c) for r in range(grid.shape[0]) for c in range(grid.shape[1]) if (r, c) not in cells]
    assert len(missing) == 2
    for place in missing:
        codes = ",".join(d.codes[c] for d, c in zip(grid.dimensions, place, strict=True))
        (tmp_path / "p.csv").write_text(f"r,c,suppression\n{codes},secondary\n")
        with pytest.raises(InputError, match="line 2: is not a cell of the table"):
            read_pattern(source, tmp_path / "p.csv")


def test_a_hierarchy_reads_back_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.hrc").write_text("north\n@coast\n@@east\n@@west\n@hills\nsouth\n")
    tree = read_hierarchy(tmp_path / "a.hrc")
    assert tree.codes == ("north", "coast", "east", "west", "hills", "south")
    assert tree.parents == (None, "north", "coast", "coast", "north", None)


def test_a_hierarchy_may_be_indented_by_other_signs(tmp_path: Path) -> None:
    (tmp_path / "a.hrc").write_text("north\n coast\n  east\nsouth\n")
    assert read_hierarchy(tmp_path / "a.hrc").parents == (None, "north", "coast", None)


def test_writing_leaves_the_old_file_when_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.csv"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["p.csv"]


def test_a_replaced_file_keeps_its_rights_and_a_new_one_gets_the_usual(tmp_path: Path) -> None:
    old, new, usual = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "usual"
    old.write_text("old")
    old.chmod(0o640)
    usual.write_text("")
    for path in (old, new):
        write_whole(path, "text")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert stat.S_IMODE(new.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)


def test_writing_into_a_directory_or_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        write_whole(tmp_path, "x")
    with pytest.raises(InputError, match="folder does not exist"):
        write_whole(tmp_path / "no" / "x.csv", "x")


labels = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(
        labels.filter(lambda t: t.strip() not in ("", "Total")),
        min_size=2,
        max_size=6,
        unique_by=lambda t: t.strip(),
    ),
    data=st.data(),
)
def test_any_labels_survive_the_round_trip(names: list[str], data: st.DataObject, tmp_path: Path) -> None:
    values = data.draw(st.permutations([3 * 7**k for k in range(len(names))]))  # none is the sum of others
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["label", "value"])
    writer.writerows(zip(names, values, strict=True))
    (tmp_path / "t.csv").write_bytes(out.getvalue().encode("utf-8"))
    source = read_source(tmp_path / "t.csv")
    suppressed = np.zeros(len(source.table), bool)
    suppressed[0] = source.table.status[0] != Status.FROZEN
    write_pattern(source, suppressed, tmp_path / "p.csv")
    text = (tmp_path / "p.csv").read_bytes().decode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in rows[1 : len(names) + 1]] == names
    assert np.array_equal(read_pattern(source, tmp_path / "p.csv"), suppressed)
