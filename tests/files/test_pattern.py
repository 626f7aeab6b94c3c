"""Patterns of Parquet tables, with added marginals, and cells that are matched however rows are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.files import parquet
from gpuga.files.pattern import (
    _by_labels,
    _cells_of_rows,
    pattern_content,
    read_earlier,
    read_pattern,
    suppression_words,
)
from gpuga.files.read import Source, read_source
from gpuga.table import Levels
from gpuga.table.groups import with_groups

pyarrow = pytest.importorskip("pyarrow")


def written(tmp_path: Path, **more: Any) -> Source:
    """A Parquet table of two cells whose total is added; labels are a dictionary, one comment is missing."""
    frame = pyarrow.table(
        {
            "r": pyarrow.array(["a", "b"]).dictionary_encode(),
            "value": [5, 6],
            "status": ["u", "s"],
            "comment": ["five", None],
            "suppression": ["x", "y"],
        }
    )
    (tmp_path / "t.parquet").write_bytes(parquet.arrow_bytes(frame))
    return read_source(tmp_path / "t.parquet", ignore=["comment"], **more)


def columns(content: Any) -> dict[str, list[Any]]:
    import pyarrow.parquet as files

    return files.read_table(pyarrow.BufferReader(content)).to_pydict()  # type: ignore[no-any-return]


def test_a_parquet_pattern_has_nulls_for_figures_and_a_row_for_the_added_total(tmp_path: Path) -> None:
    source = written(tmp_path)
    assert columns(pattern_content(source, np.array([True, False, False]), "p.parquet")) == {
        "r": ["a", "b", "Total"],
        "value": [None, 6, 11],
        "status": ["u", "s", None],
        "comment": [None, None, None],
        "suppression": ["primary", "published", "published"],
    }
    assert columns(pattern_content(source, np.array([True, True, True]), "p.PARQUET")) == {
        "r": ["a", "b", "Total"],
        "value": [None, None, None],
        "status": ["u", "s", None],
        "comment": [None, None, None],
        "suppression": ["primary", "secondary", "secondary"],
    }


def test_the_pattern_of_a_parquet_table_may_be_a_csv_file(tmp_path: Path) -> None:
    source = written(tmp_path)
    assert pattern_content(source, np.array([True, False, True]), "p.csv") == (
        "r,value,status,comment,suppression\na,,u,,primary\nb,6,s,,published\nTotal,,,,secondary\n"
    )
    assert pattern_content(source, np.array([True, False, False]), "p.csv") == (
        "r,value,status,comment,suppression\na,,u,,primary\nb,6,s,,published\nTotal,11,,,published\n"
    )


def test_a_parquet_pattern_without_added_rows_keeps_the_kinds_of_its_columns(tmp_path: Path) -> None:
    frame = pyarrow.table({"r": ["a", "b", "Total"], "value": pyarrow.array([5, 6, 11], pyarrow.int16())})
    (tmp_path / "t.parquet").write_bytes(parquet.arrow_bytes(frame))
    source = read_source(tmp_path / "t.parquet")
    content = pattern_content(source, np.array([True, False, False]), "p.parquet")
    import pyarrow.parquet as files

    made = files.read_table(pyarrow.BufferReader(content))
    assert [str(field.type) for field in made.schema] == ["string", "int16", "string"]
    assert made.to_pydict()["value"] == [None, 6, 11]


def test_a_parquet_pattern_reads_back_and_names_no_line_of_a_fault(tmp_path: Path) -> None:
    source = written(tmp_path)
    for hidden in ([True, False, False], [True, True, False], [True, False, True]):
        content = pattern_content(source, np.array(hidden), "p.parquet")
        assert isinstance(content, bytes)
        (tmp_path / "p.parquet").write_bytes(content)
        assert read_pattern(source, tmp_path / "p.parquet").tolist() == hidden
    bad = pyarrow.table({"r": ["a", None], "suppression": ["primary", "primary"]})
    (tmp_path / "bad.parquet").write_bytes(parquet.arrow_bytes(bad))
    with pytest.raises(InputError, match="is not a cell of the table") as fault:
        read_pattern(source, tmp_path / "bad.parquet")
    assert (fault.value.line, fault.value.path) == (None, tmp_path / "bad.parquet")


def two_way(tmp_path: Path) -> Source:
    (tmp_path / "t.csv").write_text("r,c,value\na,x,5\nb,y,6\na,y,7\nb,x,9\n")
    return read_source(tmp_path / "t.csv")


def test_codes_in_any_order_find_their_cells(tmp_path: Path) -> None:
    source = two_way(tmp_path)
    table = source.table
    assert table.grid is not None
    labels = [[table.grid.dimensions[axis].codes[code] for code in table.grid.coordinate[:, axis]] for axis in range(2)]
    rng = np.random.default_rng(1)
    for _ in range(5):
        order = rng.permutation(len(table))
        given = {"r": [labels[0][i] for i in order], "c": [f" {labels[1][i]} " for i in order]}
        assert _by_labels(table, given).tolist() == order.tolist()
    assert _by_labels(table, {"r": ["a", "q"], "c": ["x", "x"]}).tolist()[1] == -1
    assert _by_labels(table, {"r": ["a", "a"], "c": ["", "x"]}).tolist()[0] == -1


def test_rows_without_codes_or_index_must_be_all_that_were_given_or_all_there_are(tmp_path: Path) -> None:
    source = two_way(tmp_path)
    cells = len(source.table)
    assert source.table.given == 4 < cells
    for rows in (4, cells):
        assert _cells_of_rows(source, {"c": []}, rows).tolist() == list(range(rows))
    for rows in (0, 3, 5, cells - 1, cells + 1):
        with pytest.raises(InputError, match=f"has {rows} rows for a table of {cells} cells"):
            _cells_of_rows(source, {"c": []}, rows)


def test_groups_have_no_word(tmp_path: Path) -> None:
    table = two_way(tmp_path).table
    grouped = with_groups(table, [[0, 1], [2, 3]], Levels(*[np.ones(2, np.int64)] * 3))
    words = suppression_words(grouped, np.ones(len(grouped), bool))
    assert words == ["secondary"] * len(table)
    assert suppression_words(table, np.arange(len(table)) == 1)[:3] == ["published", "secondary", "published"]


def test_an_earlier_pattern_says_what_it_knows_and_how_much_of_it_is_gone(tmp_path: Path) -> None:
    source, path = two_way(tmp_path), tmp_path / "last.csv"
    path.write_text("r,c,suppression\na,x,primary\nq,x,secondary\nb,y,published\nq,y,published\n")
    earlier = read_earlier(source, path)
    assert earlier.unknown == 2
    table = source.table
    assert [table.label(c).partition(" (")[2] for c in np.flatnonzero(earlier.known)] == ["r=a, c=x)", "r=b, c=y)"]
    assert [table.label(c).partition(" (")[2] for c in np.flatnonzero(earlier.suppressed)] == ["r=a, c=x)"]
    path.write_text("r,c,suppression\nq,x,primary\nq,x,primary\na,x,primary\na,x,published\n")
    with pytest.raises(InputError, match="line 5: the same cell occurs twice"):
        read_earlier(source, path)


def test_the_pattern_of_another_table_is_called_so(tmp_path: Path) -> None:
    source = two_way(tmp_path)
    (tmp_path / "p.csv").write_text("region,activity,suppression\nn,x,primary\n")
    with pytest.raises(InputError, match=r"neither the table's dimensions \(r, c\) nor an index: is it the pattern"):
        read_pattern(source, tmp_path / "p.csv")
    (tmp_path / "p.csv").write_text("r,c,suppression\na,x,primary\nq,x,primary\n")
    with pytest.raises(InputError, match="line 3: is not a cell of the table: is it the pattern of another one"):
        read_pattern(source, tmp_path / "p.csv")
